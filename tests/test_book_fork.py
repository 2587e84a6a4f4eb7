"""A fork has labels of its own and leaves the rest alone; an export runs where nobody knows us."""

import os
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

from lkecore.book import fork
from lkecore.errors import BadInput
from lkecore.runs import plan

TOP = Path(__file__).resolve().parent.parent

NOTEBOOK = """\
# %% [markdown]
# # Heat
#
# See {numref}`fig-a-heat`, {numref}`the map <fig-a-heat-map>` and {eq}`eq-a`, not {eq}`eq-logprob`.
# (part-a)=
# ## Facts
# $$
# x
# $$ (eq-a)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-a-heat", "caption": "Heat."}}
runs.save(frame, "fig-a-heat.csv")  # fig-a-heat_2 and my-fig-a-heat are other words

# %% mystnb={"figure": {"name": "fig-a-heat-map", "caption": "Map."}}
runs.save(frame, "fig-a-heat-map.csv")
print("10_heat")

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-a
# Look at [](#part-a). With `- notebook: 10_heat`; 10_heat_more is another one.
# ```
# ````{solution} ex-a
# Yes.
# ````
# ## Provenance
# By 10_heat.
"""
# Written by hand.
FORKED = """\
# %% [markdown]
# # Heat (two words)
#
# See {numref}`fig-a-heat-two-words`, {numref}`the map <fig-a-heat-map-two-words>` and {eq}`eq-a-two-words`, not {eq}`eq-logprob`.
# (part-a-two-words)=
# ## Facts
# $$
# x
# $$ (eq-a-two-words)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-a-heat-two-words", "caption": "Heat."}}
runs.save(frame, "fig-a-heat-two-words.csv")  # fig-a-heat_2 and my-fig-a-heat are other words

# %% mystnb={"figure": {"name": "fig-a-heat-map-two-words", "caption": "Map."}}
runs.save(frame, "fig-a-heat-map-two-words.csv")
print("10_heat")

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-a-two-words
# Look at [](#part-a-two-words). With `- notebook: 19_two_words`; 10_heat_more is another one.
# ```
# ````{solution} ex-a-two-words
# Yes.
# ````
# ## Provenance
# By 10_heat.
"""  # noqa: E501
PARAMS = """\
profile: p  # a name
runs:
  # about heat
  - notebook: 10_heat  # the first
    parameters:
      # inside
      n: 1

      names:
      - a
# outside, yet inside the row
    each: [m]
  # about the next
  - notebook: other

  - {notebook: 10_heat, parameters: {n: 2}}"""
PARAMS_FORKED = """\
profile: p  # a name
runs:
  # about heat
  - notebook: 10_heat  # the first
    parameters:
      # inside
      n: 1

      names:
      - a
# outside, yet inside the row
    each: [m]
  - notebook: 19_two_words  # the first
    parameters:
      # inside
      n: 1

      names:
      - a
# outside, yet inside the row
    each: [m]
  # about the next
  - notebook: other

  - {notebook: 10_heat, parameters: {n: 2}}
  - {notebook: 19_two_words, parameters: {n: 2}}
"""
TOC = """\
# pages
format: jb-book
root: index
parts:
  - caption: Heat
    chapters:
      - file: notebooks/10_heat
        title: Heat
      # the last
      - file: notebooks/11_other
  - caption: Cold
    chapters:
      - file: notebooks/20_cold
"""
LINE = "      - file: notebooks/{}\n"
TWO, SMALL = ("19_two_words", "10_heat"), "notebooks/10_heat.py"


@pytest.fixture
def small(tmp_path):
    """A project by hand, as small as it can be."""
    files = {
        "notebooks/10_heat.py": NOTEBOOK,
        "notebooks/20_cold.py": "# %% [markdown]\n# # Cold\n# (part-cold)=\n",
        "params/smoke.yaml": PARAMS,
        "params/book.yaml": PARAMS,
        "book/_toc.yml": TOC,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    return tmp_path


def content(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def text(project, name):
    return (project / name).read_bytes().decode()


def test_labels_are_renamed_as_whole_words_where_they_are_defined_and_used(small):
    written = fork.new(small, "19_two_words", "10_heat")
    assert text(small, "notebooks/19_two_words.py") == FORKED
    assert text(small, "notebooks/10_heat.py") == NOTEBOOK
    assert {p.relative_to(small).as_posix() for p in written} == {
        "notebooks/19_two_words.py", "params/smoke.yaml", "params/book.yaml", "book/_toc.yml",
    }  # fmt: skip


def test_every_row_of_the_source_is_copied_below_it_with_the_comments_inside(small):
    fork.new(small, "19_two_words", "10_heat")
    for profile in fork.PROFILES:
        assert text(small, f"params/{profile}.yaml") == PARAMS_FORKED
    below = "        title: Heat\n"
    assert text(small, "book/_toc.yml") == TOC.replace(below, below + LINE.format("19_two_words"))


def test_the_line_of_a_fork_for_another_chapter_stands_at_the_end_of_that_chapter(small):
    fork.new(small, "21_two_words", "10_heat")
    assert text(small, "book/_toc.yml") == TOC + LINE.format("21_two_words")


def test_ends_of_lines_stay_as_they_are(small):
    for path in content(small):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    fork.new(small, "19_two_words", "10_heat")
    for name, expected in {
        "notebooks/19_two_words.py": FORKED, "params/book.yaml": PARAMS_FORKED,
    }.items():  # fmt: skip
        assert text(small, name) == expected.replace("\n", "\r\n")
    assert text(small, "book/_toc.yml").replace("\r\n", "").isprintable()


def test_a_page_that_is_nowhere_else_is_forked_as_one_file(small):
    (small / "notebooks/18_alone.py").write_text(NOTEBOOK)
    before = content(small)
    written = fork.new(small, "19_two_words", "18_alone")
    assert [path.name for path in written] == ["19_two_words.py"]
    assert "# # Heat (two words)" in text(small, "notebooks/19_two_words.py")
    assert {p: t for p, t in content(small).items() if p not in written} == before


def test_without_a_source_there_is_one_short_page_that_keeps_the_rules(small):
    before = content(small)
    written = fork.new(small, "19_two_words")
    assert content(small) == before | {written[0]: written[0].read_bytes()} and len(written) == 1
    page = text(small, "notebooks/19_two_words.py")
    assert page == fork.TEMPLATE.read_text("utf-8").replace(
        "fig-accuracy", "fig-accuracy-two-words"
    )
    code = [c.source for c in jupytext.reads(page, fmt="py:percent").cells if c.cell_type == "code"]
    assert sum(len(source.splitlines()) for source in code) <= 60
    assert plan.declared_parameters(written[0])
    for rule in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *rule, "--config", TOP / "notebooks/ruff.toml"]
        assert subprocess.run([*ruff, written[0]], cwd=TOP, capture_output=True).returncode == 0
    with pytest.raises(BadInput, match="taken"):
        fork.new(small, "19_two_words")


@pytest.mark.parametrize(
    ("given", "file", "text", "message"),
    [
        (("../19_a", "10_heat"), "x", "", "must be two digits and lower-case words"),
        (("١٩_a", "10_heat"), "x", "", "must be two digits and lower-case words"),
        (("19_two_words", "10_haet"), "x", "", "unknown notebook '10_haet'; nearest: 10_heat"),
        (("91_two_words", "10_heat"), "x", "", "no chapter 9; there are: 1, 2"),
        (TWO, "params/book.yaml", "profile: p\nruns: [{notebook: 10_heat}]\n", "lines of its own"),
        (TWO, "params/book.yaml", PARAMS.replace("other", TWO[0]), f"a row of '{TWO[0]}' already"),
        (TWO, "book/_toc.yml", TOC.replace("root: index\n", ""), "not a table of contents"),
        (TWO, SMALL, NOTEBOOK.replace("part-a", "frame"), "label 'frame' must have a hyphen"),
        (
            TWO,
            "book/page.md",
            "(part-a-two-words)=\n# Page\n",
            "page.md has part-a-two-words already",
        ),
        (TWO, SMALL, NOTEBOOK.replace("# # Heat", "# Heat"), "no title"),
    ],
)
def test_what_cannot_be_forked_is_refused_in_one_line_and_nothing_is_written(
    small, given, file, text, message
):
    path = small / file
    path.write_text(text)
    before = content(small)
    with pytest.raises(BadInput, match=message) as caught:
        fork.new(small, *given)
    assert len(str(caught.value).splitlines()) == 1
    assert content(small) == before


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", [0, 3])
def test_files_that_were_written_are_put_back_if_one_fails(small, monkeypatch, step, error):
    before, real, calls = content(small), os.replace, []

    def failing(part, path):
        calls.append(path)
        if len(calls) == step + 1:
            raise error
        real(part, path)

    monkeypatch.setattr(fork.os, "replace", failing)
    with pytest.raises(BadInput if isinstance(error, OSError) else KeyboardInterrupt):
        fork.new(small, "19_two_words", "10_heat")
    assert content(small) == before and len(calls) == step + 1


def test_a_read_only_file_stays_as_it_is(small, monkeypatch):
    before = content(small)
    # An administrator may write everywhere, so the answer of the system is acted here.
    monkeypatch.setattr(fork.os, "access", lambda path, mode: path.name != "book.yaml")
    with pytest.raises(BadInput, match=r"book.yaml: not written \(read-only\)"):
        fork.new(small, "19_two_words", "10_heat")
    assert content(small) == before


def test_lke_new_finds_the_project_above_and_prints_what_it_wrote(small, lke, monkeypatch):
    (small / "book/notebooks").mkdir()  # pages lie here, not sources
    monkeypatch.chdir(small / "book")
    code, out, err = lke("new", "19_two_words", "--from", "10_heat")
    assert (code, err) == (0, "")
    assert [line.split()[1] for line in out.splitlines() if line.startswith("wrote ")] == [
        "notebooks/19_two_words.py", "params/smoke.yaml", "params/book.yaml", "book/_toc.yml",
    ]  # fmt: skip
    assert out.splitlines()[-1] == "  lke page 19_two_words --open"
    monkeypatch.chdir(small.parent)
    code, _, err = lke("new", "18_three_words", "--from", "10_heat")
    assert code == 2 and "no folder notebooks/" in err and len(err.splitlines()) == 1
    assert lke("new", "18_three_words", "--from", "10_heat", "--project", small)[0] == 0


def test_an_export_runs_where_nobody_knows_the_project(tmp_path, monkeypatch, capsys):
    """Its cells one after the other, as any program for notebooks executes them, in an empty folder."""
    export = fork.export(TOP / "notebooks" / "00_quickstart.py", tmp_path / "plain.ipynb")
    monkeypatch.delenv("LKE_RUN", raising=False)
    monkeypatch.setenv("MPLBACKEND", "agg")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    names: dict = {"__name__": "__main__"}
    for cell in nbformat.read(export, as_version=4).cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= {"model": "toy", "n_facts": 3}
    assert "of 3 right: accuracy" in capsys.readouterr().out
    assert not list(Path().iterdir())


def test_lke_ipynb_takes_a_name_or_a_file_and_replaces_another_file_only_by_force(
    small, lke, monkeypatch
):
    monkeypatch.chdir(small / "notebooks")
    assert lke("ipynb", "10_heat") == (0, "10_heat.ipynb\n", "")
    first = Path("10_heat.ipynb").read_bytes()
    assert lke("ipynb", "10_heat.py", "--out", "10_heat.ipynb")[0] == 0  # the same: nothing to lose
    Path("10_heat.ipynb").write_text("my results")
    code, out, err = lke("ipynb", "10_heat")
    assert (code, out) == (2, "") and "--force" in err and len(err.splitlines()) == 1
    assert Path("10_heat.ipynb").read_text() == "my results"
    assert lke("ipynb", "10_heat", "--force")[0] == 0
    assert Path("10_heat.ipynb").read_bytes() == first
