"""Answers above a threshold. Oracles: counts done by hand, scipy's Wilson interval, plain Python."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from lkecore import answers, facts
from lkecore.answers import thresholds
from lkecore.errors import BadInput


def answered(relation: str, *pairs: tuple[float, int], model: str = "m") -> pd.DataFrame:
    """A row for each (confidence, right) of a relation."""
    rows = [(model, relation, str(i), sure, bool(right)) for i, (sure, right) in enumerate(pairs)]
    return pd.DataFrame(rows, columns=["model", "relation", "fact", "confidence", "correct"])


@pytest.fixture
def some():
    """Two relations of one model: 8 answers, 4 above 0.5, 3 of them right; 4 right in all."""
    return pd.concat(
        [
            answered("easy", (0.9, 1), (0.8, 1), (0.7, 0), (0.2, 1)),
            answered("hard", (0.6, 1), (0.4, 0), (0.3, 0), (0.1, 0)),
        ],
        ignore_index=True,
    )


def wilson(k: int, n: int) -> tuple[float, float]:
    interval = binomtest(k, n).proportion_ci(0.95, method="wilson")
    return interval.low, interval.high


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (([1], [0.5], 10, 2), "cut_to"),
        (([10], [0.5], 10, 2), "cut_to"),
        (([5], [], 10, 2), "thresholds"),
        (([5], [1.0], 10, 2), "thresholds"),
        (([5], [0.5], 10, 1), "n_bins"),
    ],
)
def test_numbers_that_make_no_sense_are_named(given, word):
    with pytest.raises(BadInput, match=word):
        thresholds.check(*given)
    assert thresholds.check([2, 9], [0.0, 0.9], 10, 2) is None


def test_fewer_options_keep_the_gold_one_and_the_first_others():
    """The oracle is the softmax of what is left, by hand."""
    odds = {"x": [1, 5, 2, 8], "y": [4, 1, 1, 2]}  # gold stands third of x, first of y
    rows = [
        (fact, f"{fact}{i}", i == (2 if fact == "x" else 0), math.log(w) - 3)
        for fact, ws in odds.items()
        for i, w in enumerate(ws)
    ]
    scores = pd.DataFrame(rows, columns=["fact", "option", "gold", "logprob"])
    found = thresholds.with_fewer(None, scores, cut_to=[3, 2, 9])
    assert found["n_options"].tolist() == [2, 2, 3, 3, 4, 4]
    gold = found["confidence_gold"].tolist()
    assert gold == pytest.approx([2 / 3, 4 / 5, 2 / 8, 4 / 6, 2 / 16, 4 / 8])
    assert found["correct"].tolist() == [True, True, False, True, False, True]
    whole = thresholds.with_all(found.assign(relation="r"))
    assert whole["n_options"].tolist() == [4, 4]
    # One of the options of y was left out by the scorer: it stays in the block of all.
    found = thresholds.with_fewer(None, scores[scores["option"] != "y3"], cut_to=[3])
    assert found["n_options"].tolist() == [3, 3, 4, 4]
    gold = found["confidence_gold"].tolist()
    assert gold == pytest.approx([2 / 8, 4 / 6, 2 / 16, 4 / 6])
    assert thresholds.with_all(found.assign(relation="r"))["fact"].tolist() == ["x", "y"]


def test_averages_count_relations_alike_and_the_surplus_is_a_difference(some):
    extra = answered("hard", *[(0.5, 1)] * 4).assign(fact=list("4567"))
    [row] = thresholds.averages(pd.concat([some, extra]), ["model"], seed=0).itertuples()
    # easy: 3 of 4, confidence 0.65; hard: 5 of 8, confidence (0.6 + 0.4 + 0.3 + 0.1 + 4 / 2) / 8
    assert row.n == 12 and row.accuracy.estimate == pytest.approx((3 / 4 + 5 / 8) / 2)
    assert row.confidence.estimate == pytest.approx((0.65 + 3.4 / 8) / 2)
    assert row.surplus.estimate == pytest.approx((0.65 - 3 / 4 + 3.4 / 8 - 5 / 8) / 2)
    assert row.surplus.low <= row.surplus.estimate <= row.surplus.high


def test_accuracy_above_each_threshold_has_its_count_and_wilsons_interval(some):
    found = thresholds.above(some, ["model"], [0.5, 0.0, 0.95])
    assert found["threshold"].tolist() == [0.0, 0.5, 0.95]
    assert found["n"].tolist() == [8, 4, 0] and found["right"].tolist() == [4, 3, 0]
    assert found["kept"].tolist() == [1.0, 0.5, 0.0] and set(found["model"]) == {"m"}
    half = found["accuracy"][1]
    assert (half.low, half.high) == pytest.approx(wilson(3, 4)) and half.estimate == 0.75
    assert found["accuracy"][2] is None
    assert np.isnan(answers.bounds(found, "accuracy")["low"][2])


def test_what_one_threshold_does_is_counted_by_hand(some):
    [row] = thresholds.at_one(some, ["model"], 0.5).itertuples()
    assert (row.above, row.all.estimate, row.right.estimate) == (4, 0.5, 0.75)
    assert row.sureness == pytest.approx((0.9 + 0.8 + 0.7 + 0.6) / 4)
    assert row.rise.estimate == pytest.approx(0.25)
    # easy: 2 of 3 above, 1 of 1 below; hard: 1 of 1 above, 0 of 3 below
    assert row.relations == "1 of 2"
    # Newcombe's method 10, from scipy's Wilson intervals of 3 of 4 and 1 of 4; half of all are the rest.
    (l1, u1), (l2, u2) = wilson(3, 4), wilson(1, 4)
    low = 0.5 - math.hypot(0.75 - l1, u2 - 0.25)
    high = 0.5 + math.hypot(u1 - 0.75, 0.25 - l2)
    assert (row.rise.low, row.rise.high) == pytest.approx((low / 2, high / 2))


def test_without_answers_on_one_side_there_is_no_rise(some):
    [row] = thresholds.at_one(some, ["model"], 0.95).itertuples()
    assert row.rise is None and row.right is None and row.above == 0 and row.relations == ""
    [row] = thresholds.at_one(some, ["model"], 0.0).itertuples()
    assert row.rise is None and row.right.estimate == 0.5


def test_the_parts_of_a_rise_add_up_to_it_and_few_kept_answers_have_none(some):
    many = pd.concat([some] * 8, ignore_index=True)  # 32 kept answers
    [row] = thresholds.rises(many, ["model"], 0.5, seed=0).itertuples()
    # kept: 3 of easy (accuracy 3/4), 1 of hard (1/4), against 1/2 of all
    assert row.kept == 32
    assert row.between.estimate == pytest.approx((3 * 0.75 + 0.25) / 4 - 0.5)
    # easy: 2 right of 3, each usually 3/4; hard: 1 right of 1, usually 1/4
    assert row.within.estimate == pytest.approx((2 - 9 / 4 + 1 - 1 / 4) / 4)
    assert row.between.estimate + row.within.estimate == pytest.approx(0.75 - 0.5)
    assert row.within.low <= row.within.estimate <= row.within.high
    [row] = thresholds.rises(some, ["model"], 0.5, seed=0).itertuples()
    assert row.kept == 4 and row.between is None and row.within is None


def test_bins_are_of_equal_size_and_rise_in_confidence(some):
    found = thresholds.bins(some, ["model"], 4)
    assert found["group"].tolist() == [1, 2, 3, 4] and found["n"].tolist() == [2] * 4
    assert [i.estimate for i in found["accuracy"]] == [0.5, 0.0, 0.5, 1.0]
    assert found["confidence"].tolist() == pytest.approx([0.15, 0.35, 0.65, 0.85])
    assert all(a < b for a, b in pairwise(found["confidence"]))
    with pytest.raises(BadInput, match="8 answers are too few for 5 bins"):
        thresholds.bins(some, ["model"], 5)


def test_in_turn_takes_one_fact_of_each_relation_after_the_other(some):
    found = thresholds.in_turn(some, ["model"], 3)
    assert list(zip(found["relation"], found["fact"], strict=True)) == [
        ("easy", "0"),
        ("hard", "0"),
        ("easy", "1"),
    ]
    assert len(thresholds.in_turn(some, ["model"], 50)) == 8


def test_a_threshold_is_chosen_on_some_facts_and_counted_on_others(some):
    to_choose = answered("easy", *[(0.65, 1)] * 5, *[(0.45, 0)] * 5)
    [row] = thresholds.chosen(to_choose, some, ["model"], [0.4, 0.5, 0.6, 0.7], 0.6).itertuples()
    # above 0.4: 5 of 10; above 0.5 and 0.6: 5 of 5, and the least counts; above 0.7: none
    assert (row.threshold, row.promised, row.n, row.kept) == (0.5, 1.0, 4, 0.5)
    assert (row.right.low, row.right.high) == pytest.approx(wilson(3, 4))
    few = to_choose[1:]  # 4 sure answers are too few
    [row] = thresholds.chosen(few, some, ["model"], [0.5], 0.6).itertuples()
    assert np.isnan(row.threshold) and row.n == 0 and row.right is None


def test_a_threshold_is_carried_to_each_relation_from_the_others(some):
    third = answered("other", *[(0.85, 1)] * 5)
    found = thresholds.carried(pd.concat([some, third], ignore_index=True), [0.5, 0.75], 0.85)
    assert found["relation"].tolist() == ["easy", "hard", "other"]
    # without easy: hard's one and other's five, all right above 0.5
    assert found["threshold"].tolist()[:2] == [0.5, 0.5]
    # without hard: 7 of 8; of hard itself one answer is above
    assert found["promised"][1] == pytest.approx(7 / 8) and found["n"].tolist()[:2] == [3, 1]
    assert np.isnan(found["threshold"][2])  # 4 sure answers of the two others
    assert thresholds.carried(third, [0.5], 0.5).empty


def test_shipped_answers_about_one_relation_are_the_first_draw_of_the_most_shots():
    """The oracle is the shipped file, read by pandas: it leaves out a confidence that is the gold one."""
    frame = answers.results("11_iclke_shots").query("source == 'kamel'")
    most = frame[frame["n_shots"] == frame["n_shots"].max()]
    wanted = most[most["draw"] == most["draw"].min()]
    wanted = wanted["confidence"].fillna(wanted["confidence_gold"])
    ours = answered("capital", (0.5, 1))
    found = answers.beside_single(ours, [], "10_iclke_relations", ["kamel"], "11_iclke_shots")
    assert found["source"].tolist()[0] == "this page"
    rest = found[1:]
    assert set(rest["source"]) == {"shipped: kamel, birth_year"}
    assert rest["confidence"].tolist() == wanted.tolist() and len(rest) > 100
    assert set(rest["relation"]) == {"birth_year"}


def test_a_pool_of_its_own_size_can_be_drawn_from_and_one_relation_suffices_if_asked_for():
    given = {"n_shots": 3, "n_facts": 2, "n_options": 5, "seed": 0}
    sample = facts.draw("atlas", ["capital"], least=1, n_pool=7, n_test=9, **given)
    assert len(sample["capital"].train) == 7 and len(sample["capital"].test) == 9
    with pytest.raises(BadInput, match="2 or more"):
        facts.draw("atlas", ["capital"], **given)
    spare = facts.draw("atlas", ["capital"], least=1, n_pool=7, part="choice", **given)["capital"]
    shown = {fact.subject for fact in spare.shots}
    assert not shown & {fact.subject for fact in spare.facts} and set(spare.facts) < set(
        spare.train
    )
