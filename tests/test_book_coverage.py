"""Coverage: an id counts where its cell has an output and what it needs was asked."""

import functools
import re
from pathlib import Path

import helpers
import jupytext
import nbformat
import pandas as pd
import pytest
from own import PAGES, notebook

from lkecore import runs
from lkecore.book import build, coverage
from lkecore.book.coverage import Asked
from lkecore.errors import BadInput
from lkecore.runs import plan

TEXT = """# %% [markdown]
# Prose that names IC-S2.

# %% covers=["IC-F1", "IC-E3"] mystnb={"figure": {"name": "fig-a", "caption": "c"}}
draw()

# %% covers=["IC-T7"]
silent()

# %%
print(1)

# %% covers=["IC-T7", "IC-F1"]
table()
"""


@functools.cache
def sources():
    """{page of the book: (its source, its parameters)}"""
    found = {}
    for path in map(notebook, PAGES):
        declared = plan.declared_parameters(path).items()
        source = jupytext.read(path, fmt="py:percent")
        found[path.stem] = source, {name: value for name, (_, value) in declared}
    return found


ON = Asked(("toy", "other"), {})


def executed(source, silent=("silent()",)):
    """The same cells, each code cell with one output but for those that print nothing."""
    cells = []
    for cell in source.cells:
        if cell.cell_type == "code":
            said = [] if cell.source in silent else [nbformat.v4.new_output("stream", text="1")]
            cells.append(nbformat.v4.new_code_cell(cell.source, outputs=said))
    return nbformat.v4.new_notebook(cells=cells)


def rows(text: str) -> dict[str, list[str]]:
    """The cells of each row of the page's tables, by id."""
    split = [
        line.strip("| ").split(" | ") for line in text.splitlines() if re.search(">[A-Z]{2}-", line)
    ]
    return {re.sub("<.*?>", "", row[0]): row[1:] for row in split}


def test_an_id_counts_where_its_cell_has_an_output():
    source = jupytext.reads(TEXT, fmt="py:percent")
    found = coverage.of_page(source, executed(source), "11_x", ON)
    models = ("toy", "other")
    # Of an equation there is no small version.
    assert found == [
        ("IC-F1", "11_x", "fig-a", models, True),
        ("IC-E3", "11_x", "fig-a", models, False),
        ("IC-T7", "11_x", "", models, True),
        ("IC-F1", "11_x", "", models, True),
    ]
    silent = executed(source, ("silent()", "table()", "draw()"))
    assert coverage.of_page(source, silent, "11_x", ON) == []


def test_the_page_links_what_is_there_and_marks_what_is_not():
    source = jupytext.reads(TEXT, fmt="py:percent")
    found = coverage.of_page(source, executed(source), "11_x", Asked(("toy",), {}))
    runs = {"11_x": "11_x-page-0123", "12_y": "12_y-4567"}
    text = coverage.page(found, {"IC-E3": ["test_a.py", "test_b.py"]}, "trial", runs)
    n = len(coverage.asked())
    assert f"1 of {n} are covered as in the paper, and 2 by the same protocol, smaller" in text
    table = rows(text)
    assert sorted(table) == sorted(coverage.asked()["id"])
    assert table["IC-F1"][1:4] == ["smaller", "{numref}`fig-a`, {page}`11_x`", "toy"]
    assert table["IC-E3"][1:] == [
        "as in the paper",
        "{numref}`fig-a`",
        "toy",
        "`test_a.py`, `test_b.py`",
    ]
    missing = [each for each, row in table.items() if "lke-missing" in row[2]]
    assert len(missing) == n - 3 and not {"IC-F1", "IC-E3", "IC-T7"} & set(missing)


NEEDING = """# %% covers=["IC-F2", "IC-D1", "IC-F9"] needs={"IC-D1": NOBEL, "IC-F9": TWO}
draw()

# %% covers=["IC-F2", "IC-D1", "IC-F9"] needs={"IC-D1": NOBEL, "IC-F9": TWO} mystnb=FIGURE
draw_shipped()
""".replace("NOBEL", '{"fact_set": "nobel"}').replace("TWO", '{"models": 2, "n_pairs": 200}')
NEEDING = NEEDING.replace("FIGURE", '{"figure": {"name": "fig-a-shipped"}}')
RUN = {"fact_set": "atlas", "models": ["a", "b"], "n_pairs": 200}
NOBEL = {"fact_set": "nobel"}


def test_a_figure_of_shipped_results_counts_by_what_these_were_asked_and_names_their_models():
    source = jupytext.reads(NEEDING, fmt="py:percent")
    run = Asked(("a",), RUN | {"models": ["a"], "n_pairs": 80})
    old = Asked(("old",), {})  # the oldest results do not say what was asked
    few = Asked(("few",), RUN | {"models": ["few"]})
    many = Asked(("c", "d"), RUN | {"models": ["c", "d"]})
    found = coverage.of_page(source, executed(source), "12_x", run, [old, few, many])
    name = "fig-a-shipped"
    assert found == [
        ("IC-F2", "12_x", "", ("a",), True),
        ("IC-F2", "12_x", name, ("old", "few", "c", "d"), True),
        ("IC-F9", "12_x", name, ("c", "d"), True),
    ]
    assert [p.figure for p in coverage.of_page(source, executed(source), "12_x", run)] == [""]


@pytest.mark.parametrize(
    ("models", "change", "small"),
    [
        (("a", "b"), NOBEL, {"IC-F2": False, "IC-D1": False, "IC-F9": False}),
        (("toy", "lab:book-1/2m"), NOBEL, {"IC-F2": True, "IC-D1": False, "IC-F9": True}),
        (("a", "b"), {}, {"IC-F2": True, "IC-F9": True}),
        (("a", "b"), NOBEL | {"n_pairs": 199}, {"IC-F2": True, "IC-D1": False}),
    ],
)
def test_what_has_less_than_the_paper_is_a_small_version(models, change, small):
    """The paper's Figure 2 is one real model and 200 pairs of laureates, Figure 9 a second model."""
    source = jupytext.reads(NEEDING, fmt="py:percent")
    run = Asked(models, RUN | {"models": list(models)} | change)
    found = coverage.of_page(source, executed(source), "12_x", run)
    assert {place.id: place.small for place in found} == small


def test_what_ships_for_a_page_is_what_its_own_notebook_found_in_the_profiles_that_it_names(
    tmp_path,
):
    answers, models = pd.DataFrame({"correct": [True]}), {"c": "1" * 64, "d": "2" * 64}
    for profile, name, n in (("mine", "12_x", 200), ("mine", "10_x", 3), ("other", "12_x", 4)):
        given = {"models": models, "parameters": {"n_pairs": n}}
        helpers.ship(tmp_path, profile, name, answers, **given)
    of = [["mine"], ["mine", "other"], ["none"], []]
    jobs = [runs.Job(Path("notebooks/12_x.py"), {}, {"shipped": names}) for names in of]
    mine, other = (Asked(("c", "d"), {"n_pairs": n, "models": ["c", "d"]}) for n in (200, 4))
    assert [build._shipped(job, tmp_path) for job in jobs] == [[mine], [mine, other], [], []]
    assert build._shipped(runs.Job(Path("notebooks/12_x.py"), {}, {}), tmp_path) == []


@pytest.mark.parametrize(
    ("needs", "says"),
    [
        ('"IC-F2"] needs={"IC-F99": {"models": 2}}', "12_x covers 'IC-F99', unknown"),
        (
            '"IC-F2"] needs={"IC-F9": {"models": 2}}',
            "needs of IC-F9, which the cell does not cover",
        ),
        ('"IC-F2"] needs={"IC-F2": {"model": 2}}', "needs 'model', which is no parameter of it"),
    ],
)
def test_an_id_or_a_need_of_nothing_that_is_there_is_refused(needs, says):
    source = jupytext.reads(f"# %% covers=[{needs}\nx\n", fmt="py:percent")
    with pytest.raises(BadInput, match=says):
        coverage.of_page(source, executed(source), "12_x", Asked((), RUN))


def test_an_id_has_a_reason_where_no_notebook_covers_it_and_only_there():
    cells = [cell for source, _ in sources().values() for cell in source.cells]
    named = {each for cell in cells for each in cell.metadata.get("covers", [])}
    reasons = coverage.asked().set_index("id")["why_not"]
    assert set(reasons.index[reasons != ""]) == set(reasons.index) - named


def test_every_id_that_a_notebook_names_is_on_the_list_and_every_need_is_a_parameter():
    for name, (source, defaults) in sources().items():
        coverage.of_page(source, executed(source), name, Asked((), defaults))


def test_tests_are_found_by_the_ids_that_they_name(tmp_path):
    (tmp_path / "test_b.py").write_text('"""IC-E3 and IC-E3, XIC-E4, IC-E5x."""')
    (tmp_path / "test_a.py").write_text("# IC-E3\n")
    (tmp_path / "helpers.py").write_text("# IC-S1\n")
    found = coverage.in_tests(tmp_path)
    assert found["IC-E3"] == ["test_a.py", "test_b.py"] and "IC-S1" not in found
    assert coverage.in_tests(tmp_path / "nowhere") == {}
