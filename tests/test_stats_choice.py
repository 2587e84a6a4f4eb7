"""Accuracy and confidence of IC-LKE: by pencil, by brute force, by what must not change them."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lkecore import papers
from lkecore.stats import choice
from lkecore.stats.coverage import subsumption

# Three facts, four options, chosen by hand: right, wrong, right.
LOGPROB = np.log([[0.1, 0.6, 0.1, 0.2], [0.5, 0.3, 0.1, 0.1], [0.02, 0.01, 0.03, 0.04]])
GOLD = np.array([1, 1, 3])


def tidy(logprob=LOGPROB, gold=GOLD) -> pd.DataFrame:
    """The scorer's frame of these arrays, with a column that the metrics do not need."""
    return pd.DataFrame(
        [
            {
                "fact": f"fact {i}",
                "option": f"option {j}",
                "gold": j == gold[i],
                "logprob": logprob[i, j],
                "n_tokens": 1,
            }
            for i in range(len(logprob))
            for j in range(logprob.shape[1])
        ]
    )


def matrices(min_facts: int = 1):
    """Matrices (fact, option) of whole nats from -60 to 0, so that adding constants is exact."""
    shape = st.tuples(st.integers(min_facts, 6), st.integers(1, 8))
    return shape.flatmap(lambda s: arrays(np.float64, s, elements=st.integers(-60, 0).map(float)))


# --- from the frame to arrays


def test_the_frame_becomes_arrays_in_the_order_of_its_rows():
    options = choice.to_arrays(tidy())
    assert options.fact.tolist() == ["fact 0", "fact 1", "fact 2"]
    assert options.logprob.dtype == np.float64
    np.testing.assert_array_equal(options.logprob, LOGPROB)
    assert options.gold.tolist() == GOLD.tolist()


def changed(row: int, column: str, value) -> pd.DataFrame:
    frame = tidy().astype({"gold": object})
    frame.loc[row, column] = value
    return frame


def test_facts_may_have_different_numbers_of_options():
    """By hand: odds of 1 to 3, of 1 to 1 to 2, and of 3 to 1, in the order of the frame."""
    rows = [("a", [1, 3], 1), ("b", [1, 1, 2], 0), ("c", [3, 1], 0), ("d", [5, 2, 3], 0)]
    frame = pd.DataFrame(
        [
            {"fact": fact, "option": str(i), "gold": i == gold, "logprob": math.log(odds / 100)}
            for fact, all_odds, gold in rows
            for i, odds in enumerate(all_odds)
        ]
    )
    found = choice.answers(frame)
    assert found["fact"].tolist() == ["a", "b", "c", "d"]
    assert found["n_options"].tolist() == [2, 3, 2, 3]
    assert found["correct"].tolist() == [True, False, True, True]
    assert found["confidence"].tolist() == pytest.approx([3 / 4, 2 / 4, 3 / 4, 5 / 10])
    assert found["confidence_gold"].tolist() == pytest.approx([3 / 4, 1 / 4, 3 / 4, 5 / 10])
    pieces = [choice.answers(part) for _, part in frame.groupby("fact")]
    pd.testing.assert_frame_equal(found, pd.concat(pieces, ignore_index=True))


# --- predictions (IC-E3) and accuracy (IC-E4)


def test_a_tie_goes_to_the_first_option():
    logprob = np.array([[-2.0, -1.0, -1.0]])
    assert choice.predictions(logprob).tolist() == [1]
    assert choice.correct(logprob, np.array([1])).tolist() == [True]
    assert choice.correct(logprob, np.array([2])).tolist() == [False]


@given(matrices(), st.randoms(use_true_random=False))
def test_accuracy_equals_a_loop_over_facts_and_options(logprob, random):
    gold = np.array([random.randrange(logprob.shape[1]) for _ in logprob])
    right = 0
    for row, gold_index in zip(logprob.tolist(), gold.tolist(), strict=True):
        best = 0
        for option, value in enumerate(row):
            if value > row[best]:
                best = option
        right += best == gold_index
    assert choice.accuracy(logprob, gold) == right / len(logprob)


# --- confidence (IC-E5)


def test_confidence_by_hand():
    # 0.02 + 0.01 + 0.03 + 0.04 = 0.1, so the third row is a fifth, a tenth, three and four tenths
    expected = [[0.1, 0.6, 0.1, 0.2], [0.5, 0.3, 0.1, 0.1], [0.2, 0.1, 0.3, 0.4]]
    np.testing.assert_allclose(choice.confidence(LOGPROB), expected, rtol=1e-12)


def test_confidence_works_far_below_what_float64_can_hold():
    # exp(-5000) is 0 in float64; the difference of 1 nat is e to 1 all the same
    result = choice.confidence(np.array([[-5000.0, -5001.0]]))
    np.testing.assert_allclose(result, [[math.e / (1 + math.e), 1 / (1 + math.e)]], rtol=1e-12)


@given(matrices(), st.integers(-1000, 1000))
def test_adding_a_constant_keeps_confidence_and_prediction(logprob, constant):
    np.testing.assert_array_equal(choice.confidence(logprob + constant), choice.confidence(logprob))
    np.testing.assert_array_equal(
        choice.predictions(logprob + constant), choice.predictions(logprob)
    )


@given(matrices(min_facts=0))
def test_confidence_sums_to_one_and_has_the_same_prediction(logprob):
    result = choice.confidence(logprob)
    assert result.shape == logprob.shape
    # float64 sums of at most 8 terms
    np.testing.assert_allclose(result.sum(axis=1), np.ones(len(logprob)), rtol=1e-14)
    np.testing.assert_array_equal(choice.predictions(result), choice.predictions(logprob))


# --- answers


def test_answers_by_hand_are_one_row_for_each_fact():
    found = choice.answers(tidy())
    columns = ["fact", "correct", "confidence", "confidence_gold", "n_options"]
    assert found.columns.tolist() == columns
    assert found["fact"].tolist() == ["fact 0", "fact 1", "fact 2"]
    assert found["n_options"].tolist() == [tidy().groupby("fact").size().iloc[0]] * 3
    assert found["correct"].tolist() == [True, False, True] and found["correct"].dtype == bool
    np.testing.assert_allclose(found["confidence"], [0.6, 0.5, 0.4], rtol=1e-12)
    np.testing.assert_allclose(found["confidence_gold"], [0.6, 0.3, 0.4], rtol=1e-12)


@given(matrices(), st.randoms(use_true_random=False))
def test_the_answer_is_right_exactly_where_gold_is_the_prediction(logprob, random):
    gold = np.array([random.randrange(logprob.shape[1]) for _ in logprob])
    found = choice.answers(tidy(logprob, gold))
    assert found["correct"].mean() == choice.accuracy(logprob, gold)
    assert (found["confidence_gold"] <= found["confidence"]).all()
    same = found["confidence_gold"] == found["confidence"]
    assert (same | ~found["correct"]).all()  # a tie may be as sure and yet not right
    assert ((0 < found["confidence"]) & (found["confidence"] <= 1)).all()


# --- what one model knows of what another knows (IC-E6, IC-T1)

BOOLS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12)


def test_subsumption_by_hand_is_two_of_three_and_not_two_of_four():
    small = [True, True, True, False, False, False]
    large = [True, True, False, True, True, False]
    assert subsumption(small, large) == 2 / 3
    assert subsumption(large, small) == 2 / 4


def test_of_a_model_that_knows_nothing_nothing_is_known_about_its_share():
    assert math.isnan(subsumption([False, False], [True, False]))
    assert subsumption([True, False], [False, False]) == 0


@given(BOOLS)
def test_subsumption_equals_a_count_over_sets(pairs):
    small = {i for i, (s, _) in enumerate(pairs) if s}
    large = {i for i, (_, t) in enumerate(pairs) if t}
    found = subsumption(*map(list, zip(*pairs, strict=True)))
    if small:
        assert found == pytest.approx(float(Fraction(len(small & large), len(small))), abs=1e-15)
        assert subsumption([i in small for i in range(len(pairs))], [True] * len(pairs)) == 1
    else:
        assert math.isnan(found)


@pytest.mark.parametrize(
    "row", list(papers.table("iclke_table1_subsumption").itertuples()), ids=lambda row: row.family
)
def test_the_rates_of_table_1_can_be_had_from_the_accuracies_beside_them(row):
    """Facts made to the printed shares give the printed rate, and bounds that hold for any facts."""
    n = 1000
    a, b, eta = row.smallest_accuracy, row.largest_accuracy, row.eta
    both = round(eta * a * n)
    small = np.arange(n) < round(a * n)
    large = (np.arange(n) < both) | (np.arange(n) >= n - (round(b * n) - both))
    assert small.mean() == pytest.approx(a) and large.mean() == pytest.approx(b)
    assert subsumption(small, large) == pytest.approx(eta, abs=0.5 / (a * n))
    assert (a + b - 1) / a <= eta <= min(1, b / a)  # as few and as many in both as there can be


# --- refusals

UNEVEN = pd.DataFrame(
    {"fact": list("aabbb"), "option": list("xyxyz"), "gold": [True, False] * 2 + [False]}
)
UNEVEN = UNEVEN.assign(logprob=-1.0)
NO_MATRIX = np.array([[-1.0, -2.0], [-np.inf, -1.0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: choice.to_arrays(tidy().drop(columns="gold")), r"lacks the columns \['gold'\]"),
        (lambda: choice.to_arrays(tidy().iloc[:0]), "no rows"),
        (lambda: choice.to_arrays(changed(0, "fact", None)), "no fact id"),
        (lambda: choice.to_arrays(tidy().drop(index=5)), "'fact 1' has 3 options but fact 'fact 0' has 4"),
        (lambda: choice.to_arrays(tidy().iloc[[0, 1, 4, 5, 6, 7, 2, 3]]), "'fact 0' is in two"),
        (lambda: choice.to_arrays(changed(1, "option", "option 0")), "has the option 'option 0' twice"),
        (lambda: choice.to_arrays(changed(1, "gold", False)), "fact 'fact 0' has 0 gold options"),
        (lambda: choice.to_arrays(changed(0, "gold", "yes")), "True or False"),
        (lambda: choice.to_arrays(changed(6, "logprob", 0.25)), "fact 'fact 1' has the logprob 0.25"),
        (lambda: choice.answers(changed(6, "logprob", math.nan)), "fact 'fact 1' has the logprob nan"),
        (lambda: choice.answers(UNEVEN.assign(fact=list("ababb"))), "separate blocks|gold options"),
        (lambda: choice.answers(UNEVEN.assign(gold=[True, True, False, False, True])), "2 gold options"),
        (lambda: choice.predictions(np.zeros((3, 0))), r"shape \(3, 0\)"),
        (lambda: choice.confidence(NO_MATRIX), r"\(fact, option\) \(1, 0\) is -inf"),
        (lambda: choice.accuracy(np.empty((0, 4)), np.empty(0, dtype=int)), "accuracy of 0 facts"),
        (lambda: choice.accuracy(LOGPROB, np.array([1, 1])), r"3 facts need shape \(3,\)"),
        (lambda: choice.accuracy(LOGPROB, np.array([1.0, 1.0, 3.0])), "dtype float64"),
        (lambda: choice.accuracy(LOGPROB, np.array([-1, 1, 1])), "indices go from 0 to 3"),
        (lambda: subsumption([True], [True, False]), r"small \(1,\) and large \(2,\)"),
        (lambda: subsumption([], []), "1 or more"),
        (lambda: subsumption([1, 0], [True, False]), "dtypes are int64 and bool"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_with_the_value_and_the_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()
