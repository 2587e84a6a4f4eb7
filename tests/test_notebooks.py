"""The rules that keep one notebook as easy to read as the next (see the book's page on forking)."""

import ast
from pathlib import Path

import jupytext
import pytest
import yaml

from lkecore import fork, plan

TOP = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((TOP / "notebooks").glob("*.py"))
HEADINGS = [
    "What the paper claims", "Parameters", "Facts", "Prompts", "Scores", "Metrics", "Figures",
    "Paper and ours", "Try it", "Provenance",
]  # fmt: skip


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def cells(request):
    return jupytext.read(request.param, fmt="py:percent").cells


def code(cells):
    return [cell for cell in cells if cell.cell_type == "code"]


def test_the_ten_headings_stand_in_order(cells):
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    lines = prose.splitlines()
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == HEADINGS
    assert len([line for line in lines if line.startswith("# ")]) == 1


def test_the_page_opens_with_what_the_reader_will_be_able_to_say(cells):
    assert "you will be able to say" in cells[0].source


def test_parameters_are_annotated_literals_with_a_comment_unless_the_name_says_all():
    for path in NOTEBOOKS:
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


def test_every_figure_is_captioned_described_and_kept_as_csv(cells):
    drawn = [cell for cell in code(cells) if "plt.subplots" in cell.source]
    assert drawn
    for cell in drawn:
        about = cell.metadata["mystnb"]
        name = about["figure"]["name"]
        assert len(about["figure"]["caption"]) > 40 and len(about["image"]["alt"]) > 20
        assert f'"{name}.csv"' in cell.source, name


def test_prose_outweighs_bookkeeping_and_every_code_cell_has_a_text_near(cells):
    kinds = [cell.cell_type for cell in cells]
    assert "code code code" not in " ".join(kinds)
    words = sum(len(c.source.split()) for c in cells if c.cell_type == "markdown")
    assert words > 3 * sum(len(c.source.splitlines()) for c in code(cells))


def test_a_page_that_tests_claims_of_a_paper_keeps_its_verdicts():
    testing = [path for path in NOTEBOOKS if 'paper.claims("IC")' in path.read_text("utf-8")]
    assert len(testing) >= 10
    for path in testing:
        kept = 'runs.keep(paper.verdicts(kept), "verdicts.csv")'
        assert path.read_text("utf-8").count(kept) == 1, path.name


def test_notebooks_are_plain_percent_files_without_a_header():
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# %% [markdown]"), path.stem
        assert jupytext.writes(jupytext.reads(text, fmt="py:percent"), fmt="py:percent")


# --- pages over several runs

PAGED = [path for path in NOTEBOOKS if "page" in plan.declared_parameters(path)]
SCORERS = {"option_logprobs", "piece_logprobs", "slot_logprobs", "generate"}
COMPUTING = {"open_model", *SCORERS}  # what loads or asks a model


def rows_of(path: Path) -> list[dict]:
    """The rows of a notebook in all params files."""
    files = [yaml.safe_load(p.read_text("utf-8")) for p in sorted((TOP / "params").glob("*.yaml"))]
    return [row for file in files for row in file["runs"] if row["notebook"] == path.stem]


# Pages alone: wherever they stand, they read the runs of other notebooks and have none.
READING = [p for p in PAGED if (rows := rows_of(p)) and all("reads" in row for row in rows)]
ASKING = [path for path in PAGED if path not in READING]


def program(path: Path) -> ast.Module:
    cells = jupytext.read(path, fmt="py:percent").cells
    return ast.parse("\n\n".join(cell.source for cell in code(cells)))


def unguarded(module: ast.Module) -> list[str]:
    """Calls that ask a model and would be reached with page = True.

    Behind ``page`` is what stands in the else of ``if page`` or ``... if page else ...``, and in a
    loop over a name that is given, once, as ``{} if page else ...`` (or over its items).
    """
    given: dict[str, list[ast.expr]] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                given.setdefault(ast.unparse(target), []).append(node.value)
    empty = {name for name, values in given.items() if all(map(_empty_on_a_page, values))}
    found: list[str] = []
    _search(module, empty, found)
    return found


def _empty_on_a_page(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.IfExp)
        and ast.unparse(value.test) == "page"
        and ast.unparse(value.body) in ("{}", "[]")
    )


def _search(node: ast.AST, empty: set[str], found: list[str]) -> None:
    skipped: list[ast.AST] = []
    if isinstance(node, ast.If | ast.IfExp) and ast.unparse(node.test) == "page":
        skipped = node.orelse if isinstance(node.orelse, list) else [node.orelse]
    elif isinstance(node, ast.For) and ast.unparse(node.iter).partition(".")[0] in empty:
        skipped = node.body
    elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in COMPUTING:
        found.append(ast.unparse(node))
    for child in ast.iter_child_nodes(node):
        if child not in skipped:
            _search(child, empty, found)


@pytest.mark.parametrize(
    ("source", "n"),
    [
        ("lm = open_model('toy')", 1),
        ("lm = tree.option_logprobs(lm, q)", 1),
        ("lm = None if page else open_model('toy')", 0),
        ("lm = open_model('toy') if page else None", 1),
        ("if page:\n    x = 1\nelse:\n    x = option_logprobs(lm, q)", 0),
        ("if page:\n    x = option_logprobs(lm, q)", 1),
        ("if other:\n    x = 1\nelse:\n    x = option_logprobs(lm, q)", 1),
        ("lms = {} if page else {1: 2}\nfor m in lms:\n    option_logprobs(m, q)", 0),
        ("lms = {} if page else {1: 2}\nfor _, m in lms.items():\n    option_logprobs(m, q)", 0),
        ("lms = {1: 2} if page else {}\nfor m in lms:\n    option_logprobs(m, q)", 1),
        ("lms = {1: 2}\nfor m in lms:\n    option_logprobs(m, q)", 1),
        ("lms = {} if page else {1: 2}\nlms = {3: 4}\nfor m in lms:\n    open_model(m)", 1),
    ],
)
def test_the_search_for_what_a_page_would_compute_finds_it(source, n):
    assert len(unguarded(ast.parse(source))) == n


def test_there_are_notebooks_with_pages():
    assert {"10_iclke_relations", "11_iclke_shots"} <= {path.stem for path in ASKING}
    assert "90_leaderboard" in {path.stem for path in READING}


@pytest.mark.parametrize("path", PAGED, ids=lambda path: path.stem)
def test_page_is_false_unless_lke_run_says_otherwise(path):
    assert plan.declared_parameters(path)["page"] == ("bool", False)


@pytest.mark.parametrize("path", ASKING, ids=lambda path: path.stem)
def test_a_page_asks_no_model(path):
    module = program(path)
    assert unguarded(module) == []
    asked = {n.id for n in ast.walk(module) if isinstance(n, ast.Name)} & COMPUTING
    why = "the notebook asks in another way, which the rule does not know"
    assert "open_model" in asked and asked & SCORERS, why


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


@pytest.mark.parametrize("path", ASKING, ids=lambda path: path.stem)
def test_a_page_reads_what_its_runs_have_kept(path):
    """Each ``if page`` that collects a file keeps the very same one, from the same name, else."""
    module = program(path)
    collected = [ast.unparse(n) for n in ast.walk(module) if _calls(n, "runs.collect")]
    paired = []
    for node in ast.walk(module):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "page":
            [read] = node.body
            assert isinstance(read, ast.Assign) and _calls(read.value, "runs.collect")
            name = ast.unparse(read.targets[0])
            kept = [
                [ast.unparse(argument) for argument in call.args]
                for part in node.orelse
                for call in ast.walk(part)
                if _calls(call, "runs.keep")
            ]
            assert [name, ast.unparse(read.value.args[0])] in kept, name
            paired.append(ast.unparse(read.value))
    assert paired == collected and len(set(paired)) == len(paired) > 0


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_without_the_parameter_page_collects_nothing(path):
    asks = any(_calls(node, "runs.collect") for node in ast.walk(program(path)))
    assert asks == (path in PAGED)


def test_a_notebook_whose_runs_are_divided_has_the_parameter_page():
    for path in sorted((TOP / "params").glob("*.yaml")):
        for row in yaml.safe_load(path.read_text(encoding="utf-8"))["runs"]:
            if row.get("each"):
                assert row["notebook"] in {p.stem for p in PAGED}, path.name


def test_no_label_of_a_figure_or_an_exercise_stands_twice_in_all_notebooks():
    where = [(label, path.stem) for path in NOTEBOOKS for label in fork.labels(path)]
    assert len(where) > 10
    labels = [label for label, _ in where]
    assert [pair for pair in where if labels.count(pair[0]) > 1] == []
