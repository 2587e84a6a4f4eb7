"""Verdicts: one a claim, by pencil; then those of pages that judge a claim under every source and model."""

import math

import pandas as pd
import pytest

from lkecore import answers, papers
from lkecore.errors import BadInput

DIFFERS = "undecided: differs from 0, not shown to exceed the margin"


def row(low, high, **more):
    return pd.Series({"estimate": (low + high) / 2, "low": low, "high": high, **more})


@pytest.mark.parametrize(
    ("claim", "low", "high", "verdict"),
    [
        ("IC-relations-differ", 0.1666, 0.3, "holds"),  # greater than 0.1665
        ("IC-relations-differ", 0.1665, 0.3, "undecided"),  # a border decides nothing
        ("IC-relations-differ", 0.1, 0.1665, "undecided"),
        ("IC-relations-differ", 0.1, 0.1664, "fails"),
        ("IC-incorrect-drop-relations", -0.3, -0.11, "holds"),  # less than -0.1
        ("IC-incorrect-drop-relations", -0.3, -0.1, "undecided"),
        ("IC-incorrect-drop-relations", -0.09, 0.3, "fails"),
        ("IC-separator", 0.01, 0.04, "holds"),  # differs from 0, and by too little to matter
        ("IC-separator", -0.06, 0.04, "undecided"),
        ("IC-separator", 0.0, 0.06, "undecided"),  # 0 is an end: it is not left out
        ("IC-separator", -0.06, -0.01, DIFFERS),
        ("IC-separator", 0.051, 0.06, "fails"),
        ("IC-separator", -0.06, -0.051, "fails"),
    ],
)
def test_a_claim_has_one_verdict_by_its_bound(claim, low, high, verdict):
    assert answers.verdicts({claim: row(low, high)})["verdict"].tolist() == [verdict]


def test_a_line_says_what_is_claimed_on_which_answers_and_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    frame = pd.DataFrame([row(0.5, 0.7, n=12, relation="x")])
    found = answers.verdicts({"IC-subsumption": frame, "IC-shots-rise": row(-1, 1, model="toy")})
    claims = papers.claims("IC").set_index("id")
    first, second = found.to_dict("records")
    said = claims.loc["IC-subsumption", ["claim", "holds_if", *papers.DECIDED]].to_dict()
    numbers = {"estimate": pytest.approx(0.6), "low": 0.5, "high": 0.7, "n": 12}
    assert first == {"id": "IC-subsumption", **said, **numbers, "verdict": "holds"}
    # What was asked comes before what the claim is decided on.
    assert second["model"] == "toy" and pd.isna(second["n"])
    assert second["decided_on"] == claims.loc["IC-shots-rise", "decided_on"]
    kept = pd.read_csv(tmp_path / "verdicts.csv", keep_default_na=False)
    assert list(kept) == papers.ONE_EACH and kept["verdict"].tolist() == ["holds", "undecided"]
    assert kept["n"].tolist() == ["12", ""]
    assert list(answers.verdicts({})) == papers.ONE_EACH
    alone = row(0.5, 0.7).replace([0.5, 0.7], math.nan)  # one relation has no interval
    [verdict] = answers.verdicts({"IC-shots-rise": alone})["verdict"]
    assert verdict == "undecided: there is one, and no interval"
    of_facts = pd.concat(
        [row(0.5, 0.7), pd.Series({"over": "fact"})]
    )  # says nothing of other relations
    [verdict] = answers.verdicts({"IC-shots-rise": of_facts})["verdict"]
    assert verdict == "undecided: fewer than five relations; the interval is over facts"


def test_a_reason_not_to_judge_comes_before_the_bound():
    """Numbers that would hold stay, and decide nothing; a reason of one's own is refused."""
    unlearned = "not tested: the paper's head did not learn the task here"
    changed = "undecided: definition changed after the answers"
    for reason, verdict in ((unlearned, unlearned), (changed, changed), ("", "holds")):
        [found] = answers.verdicts({"XT-tails-below": row(0.7, 0.8, untested=reason)}).itertuples()
        assert (found.verdict, found.low) == (verdict, 0.7)
    with pytest.raises(BadInput, match="XT-tails-below: 'too few' is no reason"):
        answers.verdicts({"XT-tails-below": row(0.7, 0.8, untested="too few")})


def test_what_is_no_estimate_is_named():
    with pytest.raises(KeyError, match="no claim 'IC-shots-ris'; nearest: IC-shots-rise"):
        answers.verdicts({"IC-shots-ris": row(0, 1)})
    for bad in (row(0, math.nan), row(1, 0)):
        with pytest.raises(BadInput, match="IC-shots-rise: .*finite numbers with low <= high"):
            answers.verdicts({"IC-shots-rise": bad})
    with pytest.raises(BadInput, match="IC-shots-rise: 2 estimates"):
        answers.verdicts({"IC-shots-rise": pd.DataFrame([row(0, 1)] * 2)})
