"""Overlap of two models' right answers: by pencil, plain loops and scipy."""

import pandas as pd
import pytest
from helpers import answered
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from lkecore import intervals
from lkecore.answers import overlap
from lkecore.facts import world
from lkecore.intervals import Interval

PAIR = [("small", "large")]
# small is right in r 3 of 5 (large has 2 of these, and 3 in all), in s 2 of 4 (0, and 1), in t once.
SMALL = {"r": "11100", "s": "1100", "t": "100"}
LARGE = {"r": "11001", "s": "0010", "t": "111"}
FRAME = answered(
    {("small", r): v for r, v in SMALL.items()} | {("large", r): v for r, v in LARGE.items()},
    n_options=4,
)


def text(frame: pd.DataFrame) -> list:
    """The values of a frame, intervals by their ends and method."""
    return [
        [(v.text(9), v.method) if isinstance(v, Interval) else v for v in row]
        for row in frame.to_numpy().tolist()
    ]


def groups(*relations: str) -> tuple[list, list]:
    return tuple([[x == "1" for x in side[r]] for r in relations] for side in (SMALL, LARGE))


def test_rate_of_each_relation_by_loop():
    found = overlap.by_relations(FRAME, PAIR)
    wanted = []
    for name in "rst":
        two = list(zip(SMALL[name], LARGE[name], strict=True))
        right, both = sum(a == "1" for a, _ in two), two.count(("1", "1"))
        of_large = LARGE[name].count("1") / len(two)
        wanted.append(["small", "large", name, right, both, both / right, of_large])
    assert found.to_numpy().tolist() == wanted
    columns = "small large relation small_right both eta large_accuracy"
    assert list(found) == columns.split()


def test_no_rate_where_the_small_model_is_never_right():
    frame = answered({("small", "r"): "00", ("large", "r"): "01"}, n_options=2)
    [row] = overlap.by_relations(frame, PAIR).itertuples()
    assert pd.isna(row.eta) and (row.small_right, row.both, row.large_accuracy) == (0, 0, 0.5)


def test_rates_leave_out_relations_with_one_right_answer():
    [row] = overlap.rates(FRAME, PAIR, seed=7).itertuples()
    assert row.over_facts.estimate == row.over_relations.estimate == pytest.approx((2 / 3 + 0) / 2)
    shares = [[1, 1, 0], [0, 0]]  # of large, where small is right
    assert row.over_facts.text(9) == intervals.mean_over_facts(shares, seed=7).text(9)
    assert row.over_relations.text(9) == intervals.mean_over_relations(shares, within=(0, 1)).text(
        9
    )
    assert row.independent == pytest.approx((3 / 5 + 1 / 4) / 2)
    # a = (3/5 + 2/4) / 2 = 0.55; knows k with a = k + (1 - k) / 4: k = 0.4, by luck 0.15 of 0.55
    assert row.luck == pytest.approx(0.15 / 0.55)
    assert row.counted == 2


def test_rates_need_two_relations_and_one_number_of_options():
    one = FRAME[FRAME["relation"] != "s"]
    assert overlap.rates(one, PAIR, seed=0).empty
    mixed = FRAME.assign(n_options=FRAME["relation"].map({"r": 4, "s": 3, "t": 4}))
    for function in (overlap.rates, overlap.rates_without_luck):
        with pytest.raises(ValueError, match=r"relations have \[3, 4\] options"):
            function(mixed, PAIR, seed=0)
    with pytest.raises(ValueError, match=r"\[3, 4\] options; luck needs one number"):
        overlap.own_facts(mixed, PAIR)
    # A relation that does not count may have another number.
    other = FRAME.assign(n_options=FRAME["relation"].map({"r": 4, "s": 4, "t": 2}))
    assert text(overlap.rates(other, PAIR, seed=0)) == text(overlap.rates(FRAME, PAIR, seed=0))


def test_own_facts_against_scipy():
    """large misses 2 + 3 + 0; small has 1 + 2 of them; the other way 1 + 1 + 2 of 2 + 2 + 2."""
    back = [*PAIR, PAIR[0][::-1]]
    found = overlap.own_facts(FRAME, back)
    counts = found[["missed", "small_right", "by_guessing"]].to_numpy().tolist()
    assert counts == [[5, 3, 1.2], [6, 4, 1.5]]
    low, high = proportion_confint(3, 5, method="wilson")
    share = found["share"].iloc[0]
    assert (share.estimate, share.low, share.high) == pytest.approx((0.6, low, high), abs=1e-9)
    p = [binomtest(k, n, 1 / 4, alternative="greater").pvalue for k, n in ((3, 5), (4, 6))]
    assert found["p"].tolist() == pytest.approx(multipletests(p, method="holm")[1])


def test_no_row_of_own_facts_where_the_large_model_misses_nothing():
    frame = answered({("small", "r"): "01", ("large", "r"): "11"}, n_options=2)
    none = overlap.own_facts(frame, PAIR)
    assert none.empty and "p" in none
    missed_one = answered({("small", "r"): "01", ("large", "r"): "01"}, n_options=2)
    assert overlap.own_facts(missed_one, PAIR)["p"].tolist() == [1.0]


def test_rates_without_luck_by_loop():
    [row] = overlap.rates_without_luck(FRAME, PAIR, seed=2).itertuples()
    known = both = 0.0
    for name in "rst":
        n = len(SMALL[name])
        for a, b in zip(SMALL[name], LARGE[name], strict=True):
            value = (1 if a == "1" else -1 / 3) / n / 3  # a mean over facts, then over relations
            known, both = known + value, both + value * (b == "1")
    assert row.knows.estimate == pytest.approx(known)
    assert row.without_luck.estimate == pytest.approx(both / known)
    a, b = groups("r", "s", "t")
    assert row.without_luck == intervals.rate_without_luck(a, b, 4, seed=2)
    assert row.knows == intervals.share_known(a, 4)


def test_rate_without_luck_of_a_model_that_guesses_is_none():
    cells = {(m, r): "1000" for m in ("small", "large") for r in "rs"}
    [row] = overlap.rates_without_luck(answered(cells, n_options=4), PAIR, seed=0).itertuples()
    assert row.without_luck is None and row.knows.estimate == pytest.approx(0)


@pytest.mark.parametrize(
    "function",
    [
        overlap.by_relations,
        overlap.own_facts,
        lambda *given, **by: overlap.rates(*given, seed=0, **by),
        lambda *given, **by: overlap.rates_without_luck(*given, seed=0, **by),
    ],
)
def test_only_facts_of_both_count_and_other_groups_do_not(function):
    alone = function(FRAME.assign(source="a"), PAIR, by=["source"])
    assert len(alone) and alone["source"].unique().tolist() == ["a"]
    more = answered({("small", "r"): "-----1", ("large", "u"): "11"}, n_options=4)
    others = answered({("x", "r"): "1", ("small", "s"): "0"}, n_options=9, source="b")
    apart = answered({("small", "r"): "1-", ("large", "r"): "-1"}, n_options=4, source="c")
    asked = pd.concat([others, FRAME.assign(source="a"), more.assign(source="a"), apart])
    pairs = [("small", "gone"), *PAIR]
    assert text(function(asked, pairs, by=["source"])) == text(alone)


# --- steadiness


def test_steadiness_by_pencil():
    """small has r-0 to r-2 right, is sure of the first two; large has r-0 and r-2, and r-0 surely.

    Asked again, small has r-0 and r-3 right.
    """
    names = ("estimator", "model", "relation")
    cells = {
        ("x", "small", "r"): "1110",
        ("x", "large", "r"): "1010",
        ("y", "small", "r"): "1001",
        ("y", "large", "r"): "0000",
        ("z", "small", "r"): "1111",
    }
    frame = answered(cells, names)
    sure = {"small": [0.9, 0.8, 0.5, 0.9], "large": [0.9, 0.1, 0.1, 0.1]}
    frame["confidence"] = [*sure["small"], *sure["large"], *[0.99] * 12]
    pairs = [*PAIR, ("small", "gone")]
    [row] = overlap.steadiness(frame, pairs, "x", ["y", "z"], sure=0.5).itertuples(index=False)
    assert row[:4] == ("small", "large", 3, 2)  # one at the bound is not above it
    assert [x.estimate for x in row[4:]] == pytest.approx([2 / 3, 1 / 2, 1 / 3])
    low, high = proportion_confint(2, 3, method="wilson")
    assert (row.of_all.low, row.of_all.high) == pytest.approx((low, high), abs=1e-9)
    [row] = overlap.steadiness(frame, PAIR, "x", [], sure=0.9).itertuples(index=False)
    assert (row.sure, row.of_the_sure, row.itself) == (0, None, None)
    # What only one was asked, or was asked once, is no answer of either kind.
    extra = answered({("x", "small", "s"): "11", ("y", "large", "s"): "11"}, names, confidence=1.0)
    more = answered({("y", "small", "u"): "1", ("x", "large", "u"): "1"}, names, confidence=1.0)
    whole = pd.concat([frame, extra, more])
    given = (PAIR, "x", ["y"])
    assert text(overlap.steadiness(whole, *given, sure=0.5)) == text(
        overlap.steadiness(frame, *given, sure=0.5)
    )


# --- by_told


def told_by_hand(row) -> str:
    if row.state == "mislearned":
        return "wrongly"
    bounds = [(0, "never"), (4, "1 to 4"), (15, "5 to 15")]
    return next((name for most, name in bounds if row.occurrences <= most), "16 and more")


def test_rate_by_how_often_a_fact_is_told():
    """small has every second fact right, large every third, counted over the asked facts of a world."""
    truth = world.states("lab:smoke-1")
    truth = truth[(truth["split"] == "test") & truth["relation"].isin(["author", "colour"])]
    rows, counts = [], {}
    for i, row in enumerate(truth.itertuples()):
        a, b = i % 2 == 0, i % 3 == 0
        for model, right in (("small", a), ("large", b)):
            rows.append((model, row.relation, row.fact, right))
        n = counts.setdefault(told_by_hand(row), [0, 0, 0, 0])
        for place, more in enumerate((1, a, b, a and b)):
            n[place] += more
    frame = pd.DataFrame(rows, columns=["model", "relation", "fact", "correct"])
    found = overlap.by_told(frame.assign(n_options=4), PAIR, "lab:smoke-1").set_index("told")
    assert found.index.tolist() == [
        "never",
        "1 to 4",
        "16 and more",
        "wrongly",
    ]  # smoke tells 4 or 16
    for level, (n, a, b, both) in counts.items():
        row = found.loc[level]
        assert row[["facts", "small_right"]].tolist() == [n, a]
        assert row[["accuracy_small", "accuracy_large"]].tolist() == pytest.approx([a / n, b / n])
        low, high = proportion_confint(both, a, method="wilson")
        assert (row.eta.estimate, row.eta.low, row.eta.high) == pytest.approx(
            (both / a, low, high), abs=1e-9
        )
    wrong = frame.assign(correct=False, n_options=4)
    assert overlap.by_told(wrong, PAIR, "lab:smoke-1")["eta"].tolist() == [None] * 4


def test_facts_that_are_no_world_are_told_nowhere():
    none = overlap.by_told(FRAME, PAIR, "atlas")
    assert none.empty and list(none)[2:4] == ["told", "facts"]


# --- read_as

LESS = pd.Series({"direction": "less", "least_effect": 0.9}, name="IC-subsumption")


def between(low: float, high: float) -> Interval:
    return Interval((low + high) / 2, low, high, 0.95, "by hand")


@pytest.mark.parametrize(
    ("rate", "left", "mark"),
    [
        ((0.4, 0.6), (0.5, 0.8), None),  # holds by both
        ((0.4, 0.6), (0.85, 0.95), "undecided without luck"),
        ((0.4, 0.6), (0.95, 0.99), "fails without luck"),
        ((0.4, 0.6), (0.5, 1.0), "may be luck"),
        ((0.4, 0.6), None, "may be luck"),
        ((0.8, 0.95), (0.5, 1.0), None),  # does not hold by the rate itself
        ((0.95, 0.99), None, None),
    ],
)
def test_reading_of_a_rate_that_luck_can_explain(rate, left, mark):
    tested = {("this page", "small, large"): between(*rate)}
    rows = [("this page", "small", "large", left and between(*left))]
    rows += [("shipped: x", "small", "large", between(0.1, 0.2))]
    frame = pd.DataFrame(rows, columns=["source", "small", "large", "without_luck"])
    wanted = {("IC-subsumption", "this page", "small, large"): mark} if mark else {}
    assert overlap.read_as(tested, frame, LESS) == wanted
