"""The opening of the book: written out by hand, for folders of findings made by hand."""

import html
import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from own import PAGES

from lkecore.book import home
from lkecore.errors import BadInput

TOP = Path(__file__).resolve().parent.parent
WAYS, RULES, LAB = "90_leaderboard", "18_iclke_stands", "50_lab_truth"
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="3"/></svg>\n'
SHOWN = "application/papermill.record/image/svg+xml"


def page(folder, findings, figure=None, first="# A title"):
    """The folder of a finished page: its findings (name, text), and a figure in its notebook."""
    folder.mkdir()
    if findings is not None:
        frame = pd.DataFrame(findings, columns=["name", "text"])
        frame.to_csv(folder / "findings.csv", index=False)
    cell = nbformat.v4.new_code_cell("draw()")
    if figure:
        cell.outputs = [nbformat.v4.new_output("stream", text="drawn")]
        for name, drawing in (("fig-other", "<svg/>"), (figure, DRAWING)):
            about = {"scrapbook": {"name": name}}
            glued = nbformat.v4.new_output("display_data", {SHOWN: drawing}, metadata=about)
            cell.outputs.append(glued)
    cells = [nbformat.v4.new_markdown_cell(first), cell]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "notebook.ipynb")
    return folder


def opening(book, pages):
    home.write(book, pages)
    return (book / "findings.md").read_text(encoding="utf-8")


def test_opening_is_that_written_by_hand(tmp_path):
    known = [
        ("few", "0.23"),
        ("name_model", "smollm2"),
        ("effect", "+0.2 [0.1, 0.3]"),
        ("asked", "a|b"),
    ]
    said = "# A title?\n\n**{glue:text}`name_model` finds\n{glue:text}`few` of them.**\n\nMore, **bold**."
    ways = page(tmp_path / "a", None, "fig-ways")
    rules = page(tmp_path / "b", known, first=said)
    lab = page(tmp_path / "c", [("rule", "It has 0.73, too."), ("more", "Nor this.")])
    pages = {
        LAB: (lab, ["lab:book-1/2m"]),
        RULES: (rules, ["x"]),
        WAYS: (ways, ["smollm2"]),
    }
    assert opening(tmp_path, pages) == (
        "## What we found\n"
        "\n"
        ":::{figure} notebooks/90_leaderboard/fig-ways.svg\n"
        ":name: fig-home\n"
        f":alt: {home.ALT}\n\n"
        f"{home.CAPTION}\n"
        ":::\n"
        "\n"
        "Each finding comes from a page of this book; the link shows how it was measured. In brackets\n"
        "are 95 % {term}`intervals <interval>`. The models are small: read {ref}`what that means\n"
        "<before-you-quote>` before you quote a number. A *lab* model is one that we trained on a text\n"
        "about an invented {term}`world`; a fact is *stated* if this text says it.\n"
        "\n"
        "- {doc}`notebooks/18_iclke_stands` ({page}`18_iclke_stands`): smollm2 finds 0.23 of them. "
        "*(+0.2 &#91;0.1, 0.3&#93;; a&#124;b)*\n"
        "- {doc}`notebooks/50_lab_truth` ({page}`50_lab_truth`): It has 0.73, too.\n"
    )
    copied = tmp_path / "notebooks" / WAYS / "fig-ways.svg"
    assert copied.read_text(encoding="utf-8") == DRAWING


def test_a_sentence_that_gave_way_is_quoted_as_what_took_its_place(tmp_path):
    known = [("few", "0.23"), ("effect", "+0.2"), ("asked", "somebody")]
    kept = page(tmp_path / "a", known, first="# A title?\n\n**It finds {glue:text}`few`.**")
    (kept / "sentence.csv").write_text("words,holds\nmore|less,False\nfew,True\n")
    assert (
        ": This page was written about other runs; of this one the sentence or a caption does not "
        "hold: more&#124;less. *(somebody)*"
    ) in opening(tmp_path, {RULES: (kept, ["smollm2"])})


def test_a_number_that_a_sentence_needs_and_nobody_handed_over_is_named(tmp_path):
    bold = "# A title?\n\n**It finds {glue:text}`few` of {glue:text}`all`.**"
    kept = page(tmp_path / "a", [("few", "3")], first=bold)
    with pytest.raises(BadInput, match="a: its sentence needs 'all', which it does not hand over$"):
        opening(tmp_path, {RULES: (kept, ["smollm2"])})


@pytest.mark.parametrize(
    ("models", "named"),
    [
        (["toy"], "`toy`"),
        (["smollm2", "lab:book-1/2m", "toys"], None),
    ],
)
def test_rehearsal_says_that_its_numbers_mean_nothing(tmp_path, models, named):
    kept = page(tmp_path / "a", [("known", "It finds 0.11.")])
    text = opening(tmp_path, {RULES: (kept, models)})
    assert ("{admonition} These numbers mean nothing" in text) is (named is not None)
    if named:
        assert f"models for tests ({named})" in text


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script> finds 0.2",
        "a\n\n# A title\n\n- a list",
        "`code` {doc}`secret` $x$ **bold** [a](http://b.example) ![i](x.png)",
        ":::{raw} html\n<b>x</b>\n:::",
        "{{ variable }} | ^ ~ \\ &amp; \u2028 \x07",
        "100",
    ],
)
def test_text_of_a_page_is_shown_as_it_stands(tmp_path, hostile):
    kept = page(tmp_path / "a", [("known", hostile)])
    lines = opening(tmp_path, {RULES: (kept, ["smollm2"])}).splitlines()
    begins = "- {doc}`notebooks/18_iclke_stands` ({page}`18_iclke_stands`): "
    assert lines[-1].startswith(begins)  # nothing of the text has a line of its own
    quoted = lines[-1].removeprefix(begins)
    markdown = MarkdownIt("commonmark", {"html": True})
    wanted = " ".join(hostile.replace("\x07", " ").split())
    assert html.unescape(markdown.render(quoted)) == f"<p>{wanted}</p>\n"
    assert not set("<>`{}[]$|*\\") & set(quoted) and ":::" not in quoted


@pytest.mark.parametrize("text", ["name,sentence\na,b\n", ""])
def test_damaged_file_of_findings_is_named(tmp_path, text):
    (tmp_path / "findings.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"findings\.csv: not a table of name and text"):
        home.read(tmp_path)


def test_the_figure_of_the_first_page_is_placed_on_its_page():
    of_page = (TOP / "notebooks" / f"{home.FIGURE[0]}.py").read_text(encoding="utf-8")
    assert re.search(rf'figures\.glue_figure\([\w.]+, "{home.FIGURE[1]}"', of_page)
    assert set(home.QUOTED) <= set(PAGES)
