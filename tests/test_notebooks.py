"""The rules that keep one notebook as easy to read as the next (see the book's page on forking)."""

import ast
from pathlib import Path

import jupytext
import pytest

from lkecore import grid

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
        declared = grid.declared_parameters(path)
        assert {"seed"} <= set(declared), path.stem
        for name, (annotation, default) in declared.items():
            assert grid.fits(default, annotation), (path.stem, name)


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


def test_notebooks_are_plain_percent_files_without_a_header():
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# %% [markdown]"), path.stem
        assert jupytext.writes(jupytext.reads(text, fmt="py:percent"), fmt="py:percent")
