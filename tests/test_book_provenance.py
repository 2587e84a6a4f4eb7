"""Below a page stands what made its numbers: of longer runs, what was asked again, and of its own runs."""

import helpers
import nbformat
import pandas as pd
import pytest

from lkecore.answers import results
from lkecore.book import provenance
from lkecore.errors import BadInput

MANIFEST = {
    "parameters": {"sources": ["long", "old"], "models": ["a|b"], "n": 3},
    "models": {"a|b": "c" * 64}, "dtype": "float32", "prefixes": {"a|b": ["<s>"]}, "torch": "2.0",
    "numpy": "1",
}  # fmt: skip


@pytest.fixture
def section(tmp_path, monkeypatch):
    """The section of a page whose code names one experiment of three, with what it kept."""
    monkeypatch.setitem(results.__globals__, "FOLDER", tmp_path)
    rows = pd.DataFrame({"fact": ["f"]})
    about = {
        "seconds": 600.0,
        "device": "Card A",
        "commit": "abc",
        "started": "2026-11-02T00:00:00",
    }
    for source, name in (("long", "10_mine"), ("other", "10_mine"), ("old", "11_not")):
        command = f"lke run sources/{source}.yaml, then lke results it"
        helpers.ship(tmp_path, source, name, rows, models={"m": "1"}, command=command, **about)

    def section(code='answers.results("10_mine-cues")', behind=None, **kept):
        for name, frame in kept.items():
            pd.DataFrame(frame).to_csv(tmp_path / f"again-{name}.csv", index=False)
        source = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
        return provenance.section(source, MANIFEST, behind or {}, tmp_path)

    return section


def test_sources_that_the_code_and_the_parameters_name_have_a_row_and_no_others(section):
    text = section()
    [row] = [line for line in text.splitlines() if line.startswith("| long")]
    assert (
        row
        == "| long, 10&#95;mine | 2026-11-02 | 10 min | Card A | `abc` | `lke run sources/long.yaml` |"
    )
    assert "| other" not in text and "| old" not in text
    assert "longer runs" not in section(code="print(1)")


def test_the_models_and_versions_of_all_runs_are_named_and_names_of_others_are_text(section):
    text = section()
    assert (
        "| model a&#124;b | digest `cccccccccccc`, float32, &#60;s&#62; in front of a text |"
        in text
    )
    two = {f"run-{n}": MANIFEST | {"torch": n} for n in ("2.0", "1.0")}
    assert "| torch | 2.0, 1.0 |" in section(behind=two) and "| numpy | 1 |" in section(behind=two)


def test_what_was_asked_again_is_counted_over_all_files(section):
    one = {"model": ["m", "n"], "asked": [3, 2], "same": [3, 2], "nats": [1e-5, float("nan")]}
    said = "6 answers of longer runs were asked for again for this page, and all agree (largest "
    two = {"model": ["m"], "asked": [1], "same": [1], "nats": [7e-5]}
    assert f"{said}difference 7e-05 nats)." in section(one=one, two=two)
    assert "; 1 came out otherwise" in section(two={**two, "same": [0]})
    with pytest.raises(BadInput, match="again-.* are not what a page keeps"):
        section(two={"model": ["m"]})


def test_a_page_of_its_own_answers_says_so(section):
    assert "All answers were asked for this page." in section(code="print(1)")
