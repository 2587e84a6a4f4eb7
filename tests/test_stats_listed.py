"""Lists with an error rate: the false share over draws, q-values by statsmodels, ties, refusals."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from lkecore.errors import BadInput
from lkecore.stats.listed import NOT_LISTED, UNCHECKED, listed, lists, p_values, q_values


def frame(scores, right=True, **columns):
    columns = {"relation": "r"} | columns
    return pd.DataFrame({"confidence_gold": scores, "correct": right, **columns})


@pytest.mark.parametrize(("unknown", "decoys"), [(40, 60), (100, 15)])
def test_the_mean_false_share_is_at_most_the_rate_times_the_share_unknown(unknown, decoys):
    """100 facts of two strata, whose unknown facts score as its decoys do; 500 draws."""
    rng, q, n = np.random.default_rng(0), 0.2, 100
    of = np.arange(n) % 2
    shares = []
    for _ in range(500):
        score = rng.random(n) + of  # decoys of one stratum are far above those of the other
        score[unknown:] += 0.9
        beside = np.arange(decoys) % 2
        facts = pd.DataFrame({"score": score, "relation": of})
        p = p_values(
            facts,
            pd.DataFrame({"score": rng.random(decoys) + beside, "relation": beside}),
            ["relation"],
        )
        taken = q_values(p) <= q
        shares.append(taken[:unknown].sum() / max(1, taken.sum()))
    error = np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) <= q * unknown / n + 3 * error
    if unknown < n:  # and the rate is used: a list that is always empty would pass as well
        assert np.mean(shares) > q * unknown / n / 2


def test_q_values_are_those_of_statsmodels_and_do_not_fall():
    p = np.random.default_rng(1).integers(1, 30, 200) / 30
    ours = q_values(p)
    assert ours == pytest.approx(multipletests(p, method="fdr_bh")[1])
    assert (np.diff(ours[np.argsort(p)]) >= 0).all()


def test_a_tie_counts_against_the_fact_and_a_wrong_answer_is_never_listed():
    facts = frame([0.9, 0.9, 0.95], [True, False, True])
    found = listed(facts, frame([0.9] + [0.1] * 18), 0.1)
    assert found["p"].tolist() == [2 / 20, 1.0, 1 / 20]
    assert listed(facts, frame([0.1] * 59), 0.1)["listed"].tolist() == [True, False, True]
    assert listed(facts, frame([0.99] * 59, False), 0.1)["p"].tolist() == [1 / 60, 1.0, 1 / 60]


def test_a_stratum_without_decoys_has_no_list():
    facts = frame([0.9, 0.9], relation=["a", "b"])
    found = listed(facts, frame([0.1] * 99, relation="a"), 0.1)
    assert found["p"].tolist() == [0.01, 1.0] and found["listed"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: listed(frame([0.5]), frame([0.1]), 1.0), "q 1.0: must be above 0 and below 1"),
        (lambda: listed(frame([0.5]), frame([]), 0.1), "there are no decoys"),
        (lambda: listed(frame([np.nan]), frame([0.1]), 0.1), "1 of 1 scores of facts are NaN"),
        (lambda: listed(frame([0.5]), frame([0.1, float("nan")]), 0.1), "1 of 2 scores of decoys"),
        (lambda: q_values(np.array([0.0, 0.5])), "p-value 0.0: must be above 0"),
    ],
)
def test_refused_in_one_line(call, says):
    with pytest.raises(BadInput, match=says):
        call()


def answers_of(kind, n, *, right, relation="r", hint="none", others=3):
    """``n`` answers with falling confidence, of which the first ``right`` are right."""
    return pd.DataFrame(
        {
            "kind": kind, "relation": relation, "fact": [f"{relation}-{kind}-{i}" for i in range(n)],
            "hint": hint, "others": others, "correct": [i < right for i in range(n)],
            "confidence_gold": np.linspace(0.9, 0.1, n),
        }
    )  # fmt: skip


def test_a_relation_is_listed_by_decoys_that_pass_the_rule_and_else_says_why():
    """In "r" 20 of 40 facts are above all 60 decoys; every other relation misses one point of the rule."""
    good = [answers_of("real", 40, right=20), answers_of("sounding", 60, right=0)]
    parts = [*good, answers_of("halves", 30, right=0)]
    for name, change in {
        "few": [answers_of("real", 39, right=20), good[1], parts[2]],
        "alike": [good[0], answers_of("letters", 60, right=0), parts[2]],
        "higher": [*good, answers_of("halves", 30, right=30)],
        "unchecked": good,
        "alone": [answers_of("real", 40, right=20, others=0), answers_of("letters", 60, right=0)],
    }.items():
        parts += [part.assign(relation=name, fact=name + part["fact"]) for part in change]
    parts.append(answers_of("real", 3, right=3, relation="hinted", hint="word"))
    facts, found = lists(pd.concat(parts, ignore_index=True), 0.1)
    found = found.set_index("relation")
    assert found["why"].to_dict() == {
        "r": "", "few": NOT_LISTED[0], "alike": NOT_LISTED[1], "higher": NOT_LISTED[2],
        "unchecked": UNCHECKED, "alone": UNCHECKED,
    }  # fmt: skip
    assert found["listed"].to_dict() == {
        "r": 20, "few": 0, "alike": 0, "higher": 0, "unchecked": 20, "alone": 20,
    }  # fmt: skip
    assert found.loc["r", ["facts", "right", "decoys", "others"]].tolist() == [40, 20, 60, 30]
    assert len(facts) == 39 + 5 * 40 + 3 and facts["listed"].sum() == 60
    hinted = facts[facts["relation"] == "hinted"]
    assert not hinted["listed"].any() and set(hinted["why"]) == {"its name hints at the object"}
