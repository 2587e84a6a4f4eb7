"""The page of all claims: by hand, row by row."""

import pandas as pd
import pytest

from lkecore import answers, papers
from lkecore.book import verdicts
from lkecore.errors import BadInput

OURS, VERDICT, PAGE = 2, 3, 4  # columns of the table
DIFFERS = "undecided: differs from 0, not shown to exceed the margin"


def kept(folder, rows):
    """A page's folder with a verdicts.csv of these rows."""
    folder.mkdir()
    frame = papers.verdicts(pd.DataFrame(rows, columns=papers.VERDICTS))
    frame.to_csv(folder / "verdicts.csv", index=False)
    return verdicts.read(folder)


def row(verdict, models="smollm2", source="this page", as_paper=True, mark="", key="IC-shots-rise"):
    return key, models, source, "iclke-space", as_paper, "0.12 [0.05, 0.19]", verdict, mark


def decided(folder, monkeypatch, tested):
    """A page that decides each claim once: what it says of these."""
    folder.mkdir()
    monkeypatch.setenv("LKE_RUN", str(folder))
    answers.verdicts({key: pd.Series(numbers) for key, numbers in tested.items()})
    return verdicts.read(folder)


def cells(text, claim):
    """The rows of the tables that are about a claim."""
    said = papers.claims("").set_index("id").loc[claim, "claim"]
    found = [line for line in text.splitlines() if line.startswith((f"| {said} |", f"| {said} *("))]
    return [line.strip("| ").split(" | ") for line in found]


def test_a_claim_that_a_page_decides_once_has_its_estimate_and_others_are_counted(
    tmp_path, monkeypatch
):
    """The old page's verdicts on it are not counted; all of them stand in the table beside the page."""
    new = decided(
        tmp_path / "a", monkeypatch,
        {
            "IC-separator": {"estimate": 0.03, "low": 0.01, "high": 0.0604, "n": 12},
            "IC-above-human": {"estimate": -0.0001, "low": -0.3, "high": 0.1, "model": "a|b"},
            "LAB-fooled": {"estimate": 0.66, "low": 0.57, "high": 0.74, "n": 3},
        },
    )  # fmt: skip
    old = kept(tmp_path / "b", [row("fails", key="IC-separator"), row("holds"), row("holds", "m")])
    text = verdicts.page({"13_x": new, "14_y": old}, "trial")
    [one] = cells(text, "IC-separator")
    assert one[1:] == ["within 0.05 of 0", "0.030 [0.010, 0.060]", DIFFERS, "{doc}`notebooks/13_x`"]
    [human] = cells(text, "IC-above-human")
    assert human[OURS] == "0.000 [-0.300, 0.100]"
    [rise] = cells(text, "IC-shots-rise")
    assert rise[OURS:] == ["–", "holds 2", "{doc}`notebooks/14_y`"]
    assert "\ntrial ran;" in text
    [nothing] = cells(text, "IC-shots-steady")
    assert nothing[VERDICT:] == ["–", "not tested"]
    every = verdicts.every({"13_x": new, "14_y": old})
    assert sorted(zip(every["id"], every["page"], every["verdict"], strict=True)) == [
        ("IC-above-human", "13_x", human[VERDICT]), ("IC-separator", "13_x", DIFFERS),
        ("IC-separator", "14_y", "fails"), ("IC-shots-rise", "14_y", "holds"),
        ("IC-shots-rise", "14_y", "holds"), ("LAB-fooled", "13_x", "holds"),
    ]  # fmt: skip
    about = every.set_index(["id", "page"]).loc[("IC-separator", "13_x")]
    claims = papers.claims("").set_index("id")
    assert list(about[[*papers.DECIDED]]) == list(claims.loc["IC-separator", [*papers.DECIDED]])
    assert len(verdicts.every({})) == 0


def test_two_pages_may_decide_a_claim_as_a_fork_does(tmp_path, monkeypatch):
    tested = {"IC-separator": {"estimate": 0.0, "low": -0.01, "high": 0.01}}
    one = decided(tmp_path / "a", monkeypatch, tested)
    text = verdicts.page({"13_x": one, "my_fork": one.assign(model="toy")}, "trial")
    assert [line[PAGE] for line in cells(text, "IC-separator")] == [
        "{doc}`notebooks/13_x`", "{doc}`notebooks/my_fork`",
    ]  # fmt: skip
    assert "The model `toy` is random" in text


def test_an_estimate_of_one_relation_has_a_row_without_an_interval(tmp_path, monkeypatch):
    one = {"estimate": 0.5, "low": float("nan"), "high": float("nan"), "n": 1}
    new = decided(tmp_path / "a", monkeypatch, {"IC-separator": one})
    [found] = cells(verdicts.page({"my_fork": new}, "trial"), "IC-separator")
    assert found[OURS] == "0.500 (no interval)"
    assert found[VERDICT] == "undecided: there is one, and no interval"


def test_only_verdicts_in_the_papers_way_that_no_mark_sets_aside_are_counted(tmp_path):
    rows = [row("holds"), row("undecided", "a"), row("undecided", "b")]
    rows += [row("holds", mark="at chance"), row("fails", mark="over facts alone, not draws")]
    rows += [row("fails", as_paper=False), row("fails", key="IC-separator", mark="at chance")]
    text = verdicts.page({"11_x": kept(tmp_path / "a", rows)}, "trial")
    assert [line[VERDICT] for line in cells(text, "IC-shots-rise")] == ["holds 1, undecided 2"]
    assert [line[VERDICT] for line in cells(text, "IC-separator")] == ["–"]


def test_findings_and_checks_of_the_lab_have_a_table_each(tmp_path):
    rows = [row("holds", key=key) for key in ("LAB-transfer", "LAB-form-list", "IC-shots-rise")]
    text = verdicts.page({"50_x": kept(tmp_path / "a", rows)}, "trial")
    first, _, lab = text.partition("## The lab's own claims")
    found, _, checks = lab.partition("### The lab: checks")
    for claim in papers.claims("LAB").itertuples():
        assert (f"| {claim.claim} |" in found) == (claim.whose != "check")
        assert (f"| {claim.claim} |" in checks) == (claim.whose == "check")
        assert claim.claim not in first
    assert "| – | holds 1 | {doc}`notebooks/50_x` |" in found and "| holds 1 |" in checks


def test_two_pages_are_put_together_and_a_random_model_is_named(tmp_path):
    one = kept(tmp_path / "a", [row("holds", "toy")])
    two = kept(tmp_path / "b", [row("holds"), row("fails", key="IC-separator")])
    empty = kept(tmp_path / "c", [])
    text = verdicts.page({"11_x": one, "12_y": empty, "14_z": two}, "trial")
    [found] = cells(text, "IC-shots-rise")
    assert found[VERDICT] == "holds 2"
    assert found[PAGE] == "{doc}`notebooks/11_x`, {doc}`notebooks/14_z`"
    assert "The model `toy` is random" in text
    assert "toy" not in verdicts.page({"14_z": two}, "trial")
    assert "toy" not in verdicts.page({}, "trial")


def test_a_page_without_claims_has_no_file_and_a_damaged_one_is_named(tmp_path):
    assert verdicts.read(tmp_path) is None
    good = pd.DataFrame([row("holds")], columns=papers.VERDICTS)
    for damaged, says in (
        (good.drop(columns="mark"), "mark"),
        (good.assign(id="IC-nothing"), "IC-nothing"),
        (good.assign(verdict="perhaps"), "perhaps"),
        (good.assign(models=""), "no model"),
        (good.assign(as_paper="perhaps"), "perhaps"),
    ):
        with pytest.raises(ValueError, match=says):
            papers.verdicts(damaged)
        damaged.to_csv(tmp_path / "verdicts.csv", index=False)
        with pytest.raises(BadInput, match=f"verdicts.csv.*{says}"):
            verdicts.read(tmp_path)
    new = pd.DataFrame(
        [("IC-separator", "", "", "", "", "", 0, 0, 0, 1, "holds")], columns=papers.ONE_EACH
    )
    for damaged, says in (
        (new.drop(columns="high"), "columns must be"),
        (new.assign(id="IC-nothing"), "IC-nothing"),
        (new.assign(verdict="perhaps"), "perhaps"),
        (new.assign(low="few"), "few"),
    ):
        damaged.to_csv(tmp_path / "verdicts.csv", index=False)
        with pytest.raises(BadInput, match=f"verdicts.csv.*{says}"):
            verdicts.read(tmp_path)
    (tmp_path / "verdicts.csv").write_text("")
    with pytest.raises(BadInput, match="verdicts.csv"):
        verdicts.read(tmp_path)


def test_more_columns_stay_behind_those_of_all_pages():
    frame = pd.DataFrame([row("holds")], columns=papers.VERDICTS)
    frame.insert(0, "level", 0.5)
    assert list(papers.verdicts(frame)) == [*papers.VERDICTS, "level"]
