"""An author's sentence gives way on a reader's run, and stops the book's own build."""

import inprocess
import nbformat
import pandas as pd
import projects
import pytest
import yaml

from lkecore.book import build, sentence
from lkecore.errors import BadInput
from lkecore.runs import plan

OTHER = "This page was written about other runs"
DOES_NOT = f"{OTHER}; of this one the sentence or a caption does not hold: "


def keep(folder, holds):
    folder.mkdir(exist_ok=True)
    frame = pd.DataFrame({"words": [*holds], "holds": [*holds.values()]})
    frame.to_csv(folder / "sentence.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("holds", "failing", "said"),
    [
        (None, None, ""),
        ({"more": True, "NA": True}, None, ""),
        ({"more": True, "a, b": False, "NA": False}, ["a, b", "NA"], f"{DOES_NOT}a, b; NA."),
        ({"more": None}, ["more"], f"{DOES_NOT}more."),
        ({}, [], f"{OTHER}."),
    ],
)
def test_words_that_do_not_hold_are_those_that_the_run_has_kept(tmp_path, holds, failing, said):
    if holds is not None:
        keep(tmp_path, holds)
    assert sentence.failing(tmp_path) == failing and sentence.instead(tmp_path) == said


@pytest.mark.parametrize("text", ["", "words\nmore\n"])
def test_a_damaged_file_of_words_is_named(tmp_path, text):
    (tmp_path / "sentence.csv").write_text(text)
    with pytest.raises(BadInput, match=r"sentence\.csv: not a table of words and holds"):
        sentence.failing(tmp_path)


@pytest.mark.parametrize(
    ("first", "after"),
    [
        ("# A?\n\n**It {glue:text}`n`\nfinds.**", "# A?\n\nSAID"),
        ("# A?\n\nIt **finds.**", "# A?\n\nIt **finds.**\n\nSAID"),
        ("# A?\n\n**It** finds **more.**", "# A?\n\n**It** finds **more.**\n\nSAID"),
    ],
)
def test_the_first_bold_paragraph_below_the_title_gives_way_and_no_other(tmp_path, first, after):
    cells = [nbformat.v4.new_code_cell("1"), nbformat.v4.new_markdown_cell(first)]
    source = nbformat.v4.new_notebook(cells=cells)
    sentence.give_way(source, keep(tmp_path, {"a*b": True, "more": True}))
    assert [cell.source for cell in source.cells] == ["1", first]
    sentence.give_way(source, keep(tmp_path, {"a*b": False}))
    said = f"**{DOES_NOT}a&#42;b.**"
    assert [cell.source for cell in source.cells] == ["1", after.replace("SAID", said)]


PAGE = """# %% [markdown]
# # Does it find more?
#
# **It finds {glue:text}`few`,
# which is more.**
#
# Prose, **bold**.

# %% tags=["parameters"]
model: str = ""
models: list[str] = []
fact_set: str = "atlas"
sources: list[str] = []
n: int = 1

# %%
from lkecore import figures

figures.glue_values(few=str(n))
figures.sentence({"more <b>": n > 1, "few": n < 9})
"""


@pytest.mark.parametrize(
    ("parameters", "book", "own"),
    [
        ({}, None, True),
        ({"n": 0}, None, True),  # the same facts and models, in another number
        ({"model": "toy"}, None, False),
        ({"models": ["toy"], "n": 0}, {"models": ["toy"]}, True),
        ({"models": ["toy"]}, {"models": ["toy"], "sources": ["trex"]}, False),
        ({}, {"models": ["toy"]}, True),  # its defaults still are
    ],
)
def test_the_books_own_runs_are_those_of_the_defaults_and_of_its_params_file(
    tmp_path, parameters, book, own
):
    pages = {"10_a": PAGE, "11_b": PAGE, "12_c": PAGE}
    project = projects.make(tmp_path, pages, **dict.fromkeys(pages, {"parameters": parameters}))
    if book is not None:
        rows = [{"notebook": "10_a", "parameters": book}, {"notebook": "11_b", "parameters": book}]
        content = {"profile": "book", "runs": rows}
        (project / "params" / "book.yaml").write_text(yaml.safe_dump(content))
    whole = projects.plan(project)
    kept = [{"more": False, "few": True}, {"less": False, "few": False}, {"more": True}]
    found = [
        (row.whole, keep(tmp_path / row.whole.notebook.stem, holds))
        for row, holds in zip(whole.rows, kept, strict=True)
    ]
    if own:
        with pytest.raises(BadInput, match=r"10_a: more \| 11_b: less; few\. Mend"):
            sentence.refuse_own(whole, found)
    else:
        sentence.refuse_own(whole, found)


def test_a_readers_page_is_made_with_another_sentence_and_the_books_own_is_refused(tmp_path):
    project = projects.make(tmp_path, {"10_a": PAGE}, **{"10_a": {"parameters": {"model": "toy"}}})
    own = plan.of_defaults(project, project / "notebooks" / "10_a.py")
    for whole in (projects.plan(project), own):
        assert inprocess.execute(whole, project / "runs").failed == {}
    [path] = build.collect_pages(projects.plan(project), project / "runs")
    first = nbformat.read(path, as_version=4).cells[0].source
    assert first == f"# Does it find more?\n\n**{DOES_NOT}more &#60;b&#62;.**\n\nProse, **bold**."
    beside = [file.name for file in (path.parent / "10_a").glob("*.csv")]
    assert beside == ["findings.csv"]  # what holds is said on the page
    with pytest.raises(BadInput, match="10_a: more <b>"):
        build.collect_pages(own, project / "runs")
    assert path.exists()  # the book before is still there
