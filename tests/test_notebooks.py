"""The rules of the book's own pages: five, and the older ones of pages that are not yet converted.

A fork in notebooks/ is on no list (tests/own.py): its author is free.
"""

import ast
import csv
import functools
import re
from collections import Counter
from pathlib import Path

import jupytext
import pytest
import yaml
from own import OLD, PAGES, notebook, profiles

from lkecore import runs
from lkecore.book import fork
from lkecore.runs import plan

TOP = Path(__file__).resolve().parent.parent
NOTEBOOKS = [notebook(name) for name in PAGES]
# What `lke new` begins with is held to the rules, too.
NEW = [fork.TEMPLATE, *(path for path in NOTEBOOKS if path.stem not in OLD)]
HEADINGS = [
    "What the paper claims", "Parameters", "Facts", "Prompts", "Scores", "Answers", "Figures",
    "Paper and ours", "What you have seen", "Try it", "Provenance",
]  # fmt: skip
MOST_CODE, MOST_WORDS = 150, 1800  # lines of code, words of prose
MOST_SHOWN = 6  # figures and tables


def test_a_page_that_is_gone_leads_on_to_one_that_is_there():
    with (TOP / "book" / "moved.csv").open(encoding="utf-8", newline="") as file:
        moved = {row["old"]: row["new"] for row in csv.DictReader(file)}
    assert not set(moved) & set(PAGES) and set(moved.values()) <= set(PAGES)


def code(cells):
    return [cell for cell in cells if cell.cell_type == "code"]


# --- the five rules


@pytest.fixture(params=NEW, ids=lambda path: path.stem)
def page(request):
    return runs.read_notebook(request.param).cells


def opening(cells) -> list[str]:
    """The paragraphs of the first text of a page: its title, then its one sentence."""
    return cells[0].source.split("\n\n")


def test_the_title_is_a_question(page):
    assert re.fullmatch(r"# .+\?", opening(page)[0])


def test_the_page_opens_with_one_bold_sentence_that_has_one_to_four_numbers_of_its_run(page):
    said = " ".join(opening(page)[1].split())
    assert re.fullmatch(r"\*\*[^*]+[.!?]\*\*", said), said
    assert not re.search(r"[.!?] ", said), f"more than one sentence: {said}"
    glued = re.findall(r"\{glue:text\}`(\w+)`", said)
    assert 1 <= len([name for name in glued if not name.startswith("name_")]) <= 4  # names are free


def test_the_page_checks_itself(page):
    nodes = [node for cell in code(page) for node in ast.walk(ast.parse(cell.source))]
    assert any(isinstance(node, ast.Assert) for node in nodes)


@pytest.mark.parametrize("path", NEW, ids=lambda path: path.stem)
def test_the_page_has_a_cell_of_parameters(path):
    assert plan.declared_parameters(path)


def test_the_page_says_what_made_its_numbers(page):
    assert any(re.search("^## Provenance$", cell.source, re.M) for cell in page)


# --- pages that are not yet converted


@pytest.fixture(params=OLD)
def cells(request):
    return runs.read_notebook(notebook(request.param)).cells


def test_headings_stand_in_order(cells):
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    lines = prose.splitlines()
    found = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert found == HEADINGS
    assert len([line for line in lines if line.startswith("# ")]) == 1


def test_the_page_opens_with_what_the_reader_will_be_able_to_say(cells):
    assert "you will be able to say" in cells[0].source


def test_parameters_are_annotated_literals_with_a_comment_unless_the_name_says_all():
    for path in map(notebook, OLD):
        declared = plan.declared_parameters(path)
        assert {"seed"} <= set(declared), path.stem
        for name, (annotation, default) in declared.items():
            assert plan.fits(default, annotation), (path.stem, name)


def test_code_is_short_and_defines_nothing(cells):
    assert len(code(cells)) <= 27
    for cell in code(cells):
        assert len(cell.source.splitlines()) <= 25, cell.source
        kinds = {type(node) for node in ast.walk(ast.parse(cell.source))}
        assert not kinds & {ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef}, cell.source


# A figure in the prose: its name, its label, what it shows for those who cannot see it, its caption.
GLUED = r"```{glue:figure} (\S+)\n:name: (\S+)\n:alt: (.+?)\n\n(.+?)\n```"


def test_page_opens_with_what_came_out(cells):
    first = cells[0].source
    assert "**What came out.**" in first and "```{glue:figure}" in first
    told = re.findall(r"{glue:text}`(\w+)`", first)
    assert 2 <= len(told) <= 4
    [call] = [n for c in code(cells) for n in calls(c.source, "figures.findings")]
    names = {keyword.arg for keyword in call.keywords}
    assert None in names or names == set(told)  # a name without a text fails the build of the book


def test_page_is_short(cells):
    prose = " ".join(cell.source for cell in cells if cell.cell_type == "markdown")
    lines = [line for cell in code(cells) for line in cell.source.splitlines() if line.strip()]
    assert (len(lines) <= MOST_CODE, len(prose.split()) <= MOST_WORDS) == (True, True)


def test_no_line_of_prose_is_taken_for_a_comment(cells):
    prose = [cell.source for cell in cells if cell.cell_type == "markdown"]
    # MyST leaves out a line that begins with this sign, as "60\n% of the objects" once did.
    assert [line for each in prose for line in each.splitlines() if line.startswith("%")] == []


def test_no_name_is_bound_in_three_cells(cells):
    bound = Counter(name for cell in code(cells) for name in bindings(ast.parse(cell.source)))
    assert [name for name, n in bound.items() if n > 2] == []


def bindings(module: ast.Module) -> set[str]:
    """The names that a cell binds, but for those inside comprehensions, which end with them."""
    inner = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    inside = {
        id(name)
        for node in ast.walk(module)
        if isinstance(node, inner)
        for part in node.generators
        for name in ast.walk(part.target)
    }
    names = [n for n in ast.walk(module) if isinstance(n, ast.Name) and id(n) not in inside]
    return {n.id for n in names if isinstance(n.ctx, ast.Store)}


def test_tables_stand_at_the_end_of_their_cells_or_nobody_would_see_them(cells):
    for cell in code(cells):
        body = ast.parse(cell.source).body
        for statement in body[:-1]:
            assert not calls(ast.unparse(statement), "answers.words"), cell.source
        if body and calls(ast.unparse(body[-1]), "answers.words"):
            assert isinstance(body[-1], ast.Expr), cell.source


def test_page_shows_few_figures_and_tables(cells):
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    before_exercises = code(cells[: [c.source.startswith("## Try it") for c in cells].index(True)])
    tables = [n for c in before_exercises for n in calls(c.source, "answers.words")]
    assert len(tables) + prose.count("```{glue:figure}") <= MOST_SHOWN


def test_page_checks_its_arithmetic(cells):
    nodes = [node for cell in code(cells) for node in ast.walk(ast.parse(cell.source))]
    assert any(isinstance(node, ast.Assert) for node in nodes)


def test_page_names_no_id_of_the_checklist(cells):
    for cell in cells:
        assert not re.search(r"\b(IC|PZ|XT|BL)-[A-Z]\d", cell.source), cell.source


def test_every_placed_figure_has_a_caption_a_description_and_its_data(cells):
    placed = {n.args[1].value for c in code(cells) for n in calls(c.source, "figures.place")}
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    shown = re.findall(GLUED, prose, re.DOTALL)
    assert {name for name, *_ in shown} == placed and len(shown) == len(placed)
    for name, label, alt, caption in shown:
        assert name == label and len(alt) > 20 and len(caption) > 40


def calls(source: str, name: str) -> list[ast.Call]:
    nodes = ast.walk(ast.parse(source))
    return [n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == name]


def test_every_figure_is_handed_to_a_place_in_the_prose(cells):
    for cell in [cell for cell in code(cells) if "plt.subplots" in cell.source]:
        assert "figures.place(" in cell.source, cell.source


def test_prose_outweighs_bookkeeping_and_every_code_cell_has_a_text_near(cells):
    kinds = [cell.cell_type for cell in cells]
    assert "code code code" not in " ".join(kinds)
    words = sum(len(c.source.split()) for c in cells if c.cell_type == "markdown")
    assert words > 3 * sum(len(c.source.splitlines()) for c in code(cells))


def test_a_page_that_tests_claims_of_a_paper_keeps_its_verdicts():
    asked = "answers.judge(", "answers.judge_ways("
    old = map(notebook, OLD)
    testing = [p for p in old if any(word in p.read_text("utf-8") for word in asked)]
    for path in testing:
        text = path.read_text("utf-8")
        found = calls(text, "answers.judge") + calls(text, "answers.judge_ways")
        assert len(found) == 1, path.name


def test_notebooks_are_plain_percent_files_without_a_header():
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# %% [markdown]"), path.stem
        assert jupytext.writes(jupytext.reads(text, fmt="py:percent"), fmt="py:percent")


# --- pages over several runs

PAGED = [path for path in map(notebook, OLD) if "page" in plan.declared_parameters(path)]
SCORERS = {"option_logprobs", "piece_logprobs", "slot_logprobs", "generate", "shifts"}
COMPUTING = {"open_model", *SCORERS}  # what loads or asks a model


@functools.cache  # every worker of the tests asks for them, once for each notebook
def all_rows() -> list[dict]:
    files = [yaml.safe_load(path.read_text("utf-8")) for path in profiles()]
    return [row for file in files for row in file["runs"]]


def rows_of(path: Path) -> list[dict]:
    """The rows of a notebook in all params files."""
    return [row for row in all_rows() if row["notebook"] == path.stem]


# Pages alone: wherever they stand, they read the runs of other notebooks and have none.
READING = [p for p in PAGED if (rows := rows_of(p)) and all("reads" in row for row in rows)]
ASKING = [path for path in PAGED if path not in READING]


def program(path: Path) -> ast.Module:
    cells = runs.read_notebook(path).cells
    return ast.parse("\n\n".join(cell.source for cell in code(cells)))


@pytest.mark.parametrize("path", PAGED, ids=lambda path: path.stem)
def test_page_is_false_unless_lke_run_says_otherwise(path):
    assert plan.declared_parameters(path)["page"] == ("bool", False)


# What a page asks beside the door: outputs are written.
BESIDE = {
    "55_lab_writing": {"generate", "open_model"},
}


@pytest.mark.parametrize("path", ASKING, ids=lambda path: path.stem)
def test_page_asks_models_through_the_door_alone(path):
    source = "\n\n".join(c.source for c in code(jupytext.read(path, fmt="py:percent").cells))
    doors = (
        "answers.ask",
        "answers.write",
        "answers.ask_pairs",
        "answers.ask_blanks",
        "answers.ask_groups",
        "answers.ask_taught",
    )
    asked = [call for door in doors for call in calls(source, door)]
    for call in asked:
        given = {keyword.arg for keyword in call.keywords}
        assert "page" in given or None in given and '"page": page' in source, ast.unparse(call)
    names = {n.id for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name)}
    assert asked and not names & COMPUTING - BESIDE.get(path.stem, set())


@pytest.mark.parametrize("path", READING, ids=lambda path: path.stem)
def test_a_page_over_the_runs_of_others_has_no_word_of_a_model_and_collects_on_a_page_alone(path):
    module = program(path)
    words = {n.id for n in ast.walk(module) if isinstance(n, ast.Name)}
    words |= {n.attr for n in ast.walk(module) if isinstance(n, ast.Attribute)}
    words |= {n.name for n in ast.walk(module) if isinstance(n, ast.alias)}
    assert not words & COMPUTING
    guarded = [
        call
        for node in ast.walk(module)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "page"
        for part in node.body
        for call in ast.walk(part)
        if _calls(call, "runs.collect")
    ]
    collected = [node for node in ast.walk(module) if _calls(node, "runs.collect")]
    assert collected and set(collected) == set(guarded)


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == name


@pytest.mark.parametrize("path", list(map(notebook, OLD)), ids=lambda path: path.stem)
def test_a_notebook_without_the_parameter_page_collects_nothing(path):
    module = program(path)
    asks = any(_calls(node, "runs.collect") for node in ast.walk(module))
    door = re.search(r"page=page|.page.: page", path.read_text("utf-8")) is not None
    assert (asks or door) == (path in PAGED)


def test_no_label_of_a_figure_or_an_exercise_stands_twice_in_all_notebooks():
    where = [(label, path.stem) for path in NOTEBOOKS for label in fork.labels(path)]
    assert len(where) > 10
    labels = [label for label, _ in where]
    assert [pair for pair in where if labels.count(pair[0]) > 1] == []
