"""The page for teachers: its files run, its questions have answers, and what it names is there."""

import ast
import re
from pathlib import Path

import pytest
from own import PAGES, notebook

from lkecore import runs
from lkecore.runs import plan

TOP = Path(__file__).resolve().parent.parent
TEXT = (TOP / "book" / "teach.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\nprofile: (\w+)\n(.*?)^```", TEXT, re.M | re.S)
NOTEBOOKS = {name: notebook(name).read_text("utf-8") for name in PAGES}


@pytest.mark.parametrize(("profile", "rows"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_params_file_of_a_lesson_is_one(tmp_path, profile, rows):
    (tmp_path / "notebooks").symlink_to(TOP / "notebooks")
    path = tmp_path / "params" / f"{profile}.yaml"
    path.parent.mkdir()
    path.write_text(f"profile: {profile}\n{rows}", encoding="utf-8")
    found = plan.read_plan(path)
    assert f"lke run params/{found.profile}.yaml" in TEXT
    assert all(f"{{page}}`{row.whole.notebook.stem}`" in TEXT for row in found.rows)


def test_there_are_four_lessons_each_with_a_file_and_a_fork():
    assert [name for name, _ in BLOCKS] == ["lesson1", "lesson2", "lesson3", "lesson4"]
    forks = re.findall(r"^\$ lke new (\S+) --from (\S+)$", TEXT, re.M)
    assert len(forks) == len(re.findall(r"^## Lesson", TEXT, re.M)) == 4
    for name, source in forks:
        assert source in NOTEBOOKS and name not in NOTEBOOKS
        assert re.fullmatch(r"\d\d(_[a-z0-9]+)+", name) and name[0] == source[0]


def test_timetables_fill_ninety_minutes():
    tables = re.findall(r"\| minutes \| what \|\n\|---\|---\|\n((?:\|.*\n)+)", TEXT)
    assert len(tables) == 4
    for table in tables:
        ends = [tuple(map(int, pair)) for pair in re.findall(r"^\| (\d+)–(\d+) \|", table, re.M)]
        assert len(ends) == table.count("\n") and ends[0][0] == 0 and ends[-1][1] == 90
        assert all(a[1] == b[0] for a, b in zip(ends, ends[1:], strict=False))


def test_every_question_has_one_folded_solution_and_a_label_of_its_own():
    asked = re.findall(r"^```\{exercise\}\n:label: (\S+)$", TEXT, re.M)
    solved = re.findall(r"^````\{solution\} (\S+)\n:class: dropdown$", TEXT, re.M)
    assert asked == solved and len(set(asked)) == len(asked) == 24
    elsewhere = [p.read_text("utf-8") for p in (TOP / "book").glob("*.md") if p.name != "teach.md"]
    assert not [
        name for name in asked for text in [*elsewhere, *NOTEBOOKS.values()] if name in text
    ]


def test_files_and_columns_that_a_solution_names_are_those_of_a_page():
    solutions = "".join(re.findall(r"^````\{solution\}.*?^````", TEXT, re.M | re.S))
    files = re.findall(r"`([\w-]+)\.csv`", solutions)
    assert len(files) > 4
    assert not [name for name in files if not any(name in text for text in NOTEBOOKS.values())]


def test_no_solution_has_a_result_typed_in():
    solutions = re.findall(r"^````\{solution\}.*?^````", TEXT, re.M | re.S)
    without = [re.sub(r"\{found\}`[^`]+`", "", text) for text in solutions]
    assert not [found for text in without for found in re.findall(r"\d[.,]\d|\d+ ?%", text)]


def handed_over(page):
    """The names of a page's findings, as its code has them."""
    calls = [
        node
        for cell in runs.read_notebook(notebook(page)).cells
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "figures.glue_values"
    ]
    return {keyword.arg for call in calls for keyword in call.keywords}


def test_every_number_of_an_answer_is_handed_over_by_its_page():
    asked = re.findall(r"\{found\}`(\w+)/(\w+)(?::[^`]+)?`", TEXT)
    assert len(asked) == TEXT.count("{found}") > 25
    for page, name in asked:
        assert page in PAGES
        names = handed_over(page)
        assert name in names or None in names, f"{page} has no {name}"  # None: **what it composes
