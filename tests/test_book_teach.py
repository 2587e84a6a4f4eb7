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


@pytest.mark.parametrize(("profile", "rows"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_params_file_of_a_lesson_is_one(tmp_path, profile, rows):
    (tmp_path / "notebooks").symlink_to(TOP / "notebooks")
    path = tmp_path / "params" / f"{profile}.yaml"
    path.parent.mkdir()
    path.write_text(f"profile: {profile}\n{rows}", encoding="utf-8")
    found = plan.read_plan(path)
    assert f"lke run params/{found.profile}.yaml" in TEXT
    assert all(f"{{page}}`{row.whole.notebook.stem}`" in TEXT for row in found.rows)


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
