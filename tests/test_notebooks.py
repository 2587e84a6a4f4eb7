"""The rules of the book's own pages.

A fork in notebooks/ is on no list (tests/own.py): its author is free.
"""

import ast
import csv
import re
from pathlib import Path

import pytest
from own import PAGES, notebook

from lkecore import runs
from lkecore.book import fork

TOP = Path(__file__).resolve().parent.parent
NOTEBOOKS = [notebook(name) for name in PAGES]
# What `lke new` begins with is held to the rules, too.
HELD = [fork.TEMPLATE, *NOTEBOOKS]


def test_a_page_that_is_gone_leads_on_to_one_that_is_there():
    with (TOP / "book" / "moved.csv").open(encoding="utf-8", newline="") as file:
        moved = {row["old"]: row["new"] for row in csv.DictReader(file)}
    assert not set(moved) & set(PAGES) and set(moved.values()) <= set(PAGES)


def code(cells):
    return [cell for cell in cells if cell.cell_type == "code"]


# --- the six rules


@pytest.fixture(scope="module", params=HELD, ids=lambda path: path.stem)
def page(request):
    return runs.read_notebook(request.param).cells


def opening(cells) -> list[str]:
    """The paragraphs of the first text of a page: its title, then its one sentence."""
    return cells[0].source.split("\n\n")


def test_the_page_opens_with_one_bold_sentence_that_has_one_to_four_numbers_of_its_run(page):
    said = " ".join(opening(page)[1].split())
    assert re.fullmatch(r"\*\*[^*]+[.!?]\*\*", said), said
    assert not re.search(r"[.!?] ", said), f"more than one sentence: {said}"
    glued = re.findall(r"\{glue:text\}`(\w+)(?::[^`]+)?`", said)
    assert 1 <= len([name for name in glued if not name.startswith("name_")]) <= 4  # names are free


def test_the_page_says_once_which_of_its_words_hold_in_a_run(page):
    assert sum(len(calls(cell.source, "figures.sentence")) for cell in code(page)) == 1


# A figure in the prose: its name, its label, what it shows for those who cannot see it, its caption.
GLUED = r"```{glue:figure} (\S+)\n:name: (\S+)\n:alt: (.+?)\n\n(.+?)\n```"


def calls(source: str, name: str) -> list[ast.Call]:
    nodes = ast.walk(ast.parse(source))
    return [n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == name]


def test_every_placed_figure_has_a_caption_a_description_and_its_data(page):
    placed = [n.args[1] for c in code(page) for n in calls(c.source, "figures.glue_figure")]
    prose = "\n".join(cell.source for cell in page if cell.cell_type == "markdown")
    shown = re.findall(GLUED, prose, re.DOTALL)
    names = [name for name, *_ in shown]
    assert len(set(names)) == len(names) > 0
    assert {n.value for n in placed if isinstance(n, ast.Constant)} <= set(names)
    for name, label, alt, caption in shown:
        assert name == label and len(alt) > 20 and len(caption) > 40


def test_no_line_of_prose_is_taken_for_a_comment(page):
    prose = [cell.source for cell in page if cell.cell_type == "markdown"]
    # MyST leaves out a line that begins with this sign, as "60\n% of the objects" once did.
    assert [line for each in prose for line in each.splitlines() if line.startswith("%")] == []


def test_no_label_of_a_figure_or_an_exercise_stands_twice_in_all_notebooks():
    where = [(label, path.stem) for path in NOTEBOOKS for label in fork.labels(path)]
    assert len(where) > 10
    labels = [label for label, _ in where]
    assert [pair for pair in where if labels.count(pair[0]) > 1] == []


def test_no_cell_uses_a_name_that_only_a_readers_cell_makes(page):
    """A run of a part of a grid leaves out the cells that are for readers alone, and no other."""
    made: set[str] = set()
    only: set[str] = set()
    for cell in code(page):
        names = [n for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.Name)]
        own = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        own |= {n.arg for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.arg)}
        if "page-only" in cell.metadata.get("tags", []):
            only |= own - made
        else:
            lost = {n.id for n in names if isinstance(n.ctx, ast.Load)} & only - own
            assert not lost, f"{lost} in: {cell.source[:80]}"
            made |= own
            only -= own
