"""The page of all claims: by hand, row by row."""

import pandas as pd
import pytest

from lkecore import answers, papers
from lkecore.book import verdicts
from lkecore.errors import BadInput

OURS, VERDICT, PAGE = 2, 3, 5  # columns of the table
DIFFERS = "undecided: differs from 0, not shown to exceed the margin"


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


def test_a_claim_has_its_estimate_and_its_verdict_on_a_line(tmp_path, monkeypatch):
    """All of them stand in the table beside the page, too."""
    new = decided(
        tmp_path / "a", monkeypatch,
        {
            "IC-separator": {"estimate": 0.03, "low": 0.01, "high": 0.0604, "n": 12},
            "IC-above-human": {"estimate": -0.0001, "low": -0.3, "high": 0.1, "model": "a|b"},
            "LAB-fooled": {"estimate": 0.66, "low": 0.57, "high": 0.74, "n": 3},
        },
    )  # fmt: skip
    text = verdicts.page({"13_x": new}, "trial")
    [one] = cells(text, "IC-separator")
    assert one[1:] == ["within 0.05 of 0", "0.030 [0.010, 0.060]", DIFFERS, "0.035", "{page}`13_x`"]
    [human] = cells(text, "IC-above-human")
    assert human[OURS] == "0.000 [-0.300, 0.100]"
    assert "\ntrial ran;" in text
    [nothing] = cells(text, "IC-shots-steady")
    assert nothing[VERDICT:] == ["–", "", "not tested"]
    every = verdicts.every({"13_x": new})
    assert sorted(zip(every["id"], every["page"], every["verdict"], strict=True)) == [
        ("IC-above-human", "13_x", human[VERDICT]), ("IC-separator", "13_x", DIFFERS),
        ("LAB-fooled", "13_x", "holds"),
    ]  # fmt: skip
    # Half of the interval is 2.201 standard errors, by t of 11; to show takes 2.201 + 0.876 of them.
    least = every.set_index("id")["could_show"]
    assert least["IC-separator"] == pytest.approx(0.0252 * (2.201 + 0.876) / 2.201, rel=1e-3)
    assert least["LAB-fooled"] == ""
    about = every.set_index(["id", "page"]).loc[("IC-separator", "13_x")]
    claims = papers.claims("").set_index("id")
    assert list(about[[*papers.DECIDED]]) == list(claims.loc["IC-separator", [*papers.DECIDED]])
    assert len(verdicts.every({})) == 0


def test_two_pages_may_decide_a_claim_as_a_fork_does(tmp_path, monkeypatch):
    tested = {"IC-separator": {"estimate": 0.0, "low": -0.01, "high": 0.01}}
    one = decided(tmp_path / "a", monkeypatch, tested)
    text = verdicts.page({"13_x": one, "my_fork": one.assign(model="toy")}, "trial")
    assert [line[PAGE] for line in cells(text, "IC-separator")] == [
        "{page}`13_x`", "{page}`my_fork`",
    ]  # fmt: skip
    assert "The model `toy` is random" in text


def test_an_estimate_of_one_relation_has_a_row_without_an_interval(tmp_path, monkeypatch):
    one = {"estimate": 0.5, "low": float("nan"), "high": float("nan"), "n": 1}
    new = decided(tmp_path / "a", monkeypatch, {"IC-separator": one})
    [found] = cells(verdicts.page({"my_fork": new}, "trial"), "IC-separator")
    assert found[OURS] == "0.500 (no interval)"
    assert found[VERDICT] == "undecided: there is one, and no interval"


def test_a_page_without_claims_has_no_file_and_a_damaged_one_is_named(tmp_path):
    assert verdicts.read(tmp_path) is None
    new = pd.DataFrame(
        [("IC-separator", "", "", "", "", "", 0, 0, 0, 1, "holds")], columns=papers.ONE_EACH
    )
    for damaged, says in (
        (new.drop(columns="high"), "columns must be"),
        (new.assign(low="few"), "few"),
    ):
        damaged.to_csv(tmp_path / "verdicts.csv", index=False)
        with pytest.raises(BadInput, match=f"verdicts.csv.*{says}"):
            verdicts.read(tmp_path)
    (tmp_path / "verdicts.csv").write_text("")
    with pytest.raises(BadInput, match="verdicts.csv"):
        verdicts.read(tmp_path)


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ("IC-families-mean", verdicts.OTHER),  # correlations
        ("LAB-groups-finds", pytest.approx(0.1 * (1.96 + 0.8416) / 1.96, rel=1e-3)),  # a bootstrap
    ],
)
def test_what_an_undecided_claim_could_have_shown(claim, says):
    row = {"verdict": "undecided", "low": -0.1, "high": 0.1, "n": 12}
    assert verdicts.could_show(row, papers.claims("").set_index("id").loc[claim]) == says
