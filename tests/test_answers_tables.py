"""Tables of answers: by pencil, plain loops, scipy and statsmodels."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from helpers import answered
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from lkecore import answers, intervals
from lkecore.answers import tables
from lkecore.errors import BadInput
from lkecore.intervals import Interval

# Two models, two relations of other sizes; small: 3 of 4 and 0 of 2, large: 2 of 4 and 1 of 2.
TWO = answered(
    {
        ("small", "r"): "1110",
        ("small", "s"): "00",
        ("large", "r"): "1001",
        ("large", "s"): "01",
    }
)


def same(found: Interval, wanted: Interval) -> bool:
    return found.text(9) == wanted.text(9) and found.method == wanted.method


# --- accuracy


def test_accuracy_is_the_share_with_wilsons_interval():
    frame = TWO.assign(confidence_gold=np.linspace(0, 1, len(TWO)))
    found = answers.accuracy(frame, ["model", "relation"])
    assert found[["model", "relation", "n"]].to_numpy().tolist() == [
        ["small", "r", 4], ["small", "s", 2], ["large", "r", 4], ["large", "s", 2]
    ]  # fmt: skip
    for row, right in zip(found.itertuples(), (3, 0, 2, 1), strict=True):
        low, high = proportion_confint(right, row.n, method="wilson")
        assert row.accuracy.estimate == right / row.n
        assert (row.accuracy.low, row.accuracy.high) == pytest.approx((low, high), abs=1e-9)
    # Twelve steps of 1/11: the first four are 0, 1, 2, 3.
    assert found["confidence_gold"].iloc[0] == pytest.approx(6 / 44)


def test_accuracy_without_confidences_or_answers():
    assert list(answers.accuracy(TWO, ["model"])) == ["model", "n", "accuracy"]
    none = answers.accuracy(TWO[:0], ["model"])
    assert list(none) == ["model", "n", "accuracy"] and none.empty


def test_groups_keep_order_and_a_missing_value_is_a_group():
    frame = pd.concat([TWO.assign(world=np.nan), TWO.assign(world="w")])
    found = answers.accuracy(frame, ["world"])
    assert found["n"].tolist() == [12, 12] and found["world"].isna().tolist() == [True, False]


@pytest.mark.parametrize(
    "call",
    [
        lambda: answers.accuracy(TWO, ["estimator"]),
        lambda: answers.over_relations(TWO, ["estimator"], seed=0),
        lambda: answers.paired(TWO, "model", [("small", "large")], by=["estimator"], seed=0),
    ],
)
def test_frame_without_a_grouping_column(call):
    with pytest.raises(BadInput) as caught:
        call()
    line = "the answers have no column 'estimator'; they have model, relation, fact, correct"
    assert str(caught.value) == line


# --- over_relations


def test_over_relations_counts_each_relation_alike():
    found = answers.over_relations(TWO, ["model"], seed=5).set_index("model")
    for name, groups in {"small": [[1, 1, 1, 0], [0, 0]], "large": [[1, 0, 0, 1], [0, 1]]}.items():
        row = found.loc[name]
        means = [sum(group) / len(group) for group in groups]
        assert row["relations"] == 2
        assert row["over_facts"].estimate == pytest.approx(sum(means) / 2)
        assert row["spread"].estimate == pytest.approx(abs(means[0] - means[1]) / 2**0.5)
        assert same(row["over_facts"], intervals.mean_over_facts(groups, seed=5))
        assert same(row["over_relations"], intervals.mean_over_relations(groups, within=(0, 1)))
        assert same(row["spread"], intervals.std_over_relations(groups, seed=5))


def test_over_relations_of_another_value_and_of_one_relation():
    frame = TWO[TWO["relation"] == "r"].assign(confidence=[0.5, 0.25, 0.5, 0.75] * 2)
    found = answers.over_relations(frame, ["model"], value="confidence", seed=0)
    assert [x.estimate for x in found["over_facts"]] == [0.5, 0.5]
    assert found["relations"].tolist() == [1, 1]
    assert found["over_relations"].tolist() == found["spread"].tolist() == [None, None]
    with pytest.raises(ValueError, match="2"):  # a relation of a single fact
        answers.over_relations(frame.iloc[:1], ["model"], seed=0)


# --- paired

PAIR = [("small", "large")]


def test_paired_by_pencil():
    """In r 0.5 - 0.75, in s 0.5 - 0; only small: r-1, r-2; only large: r-3, s-1."""
    [row] = answers.paired(TWO, "model", PAIR, seed=3).itertuples()
    assert (row.first, row.second, row.relations) == ("small", "large", 2)
    assert row.over_facts.estimate == row.over_relations.estimate == pytest.approx(0.125)
    assert (row.only_first, row.only_second, row.p) == (2, 2, 1.0)
    gaps = [[0, -1, -1, 1], [0, 1]]
    assert same(row.over_relations, intervals.mean_over_relations(gaps))
    b, a = [[1, 0, 0, 1], [0, 1]], [[1, 1, 1, 0], [0, 0]]
    assert same(row.over_facts, intervals.paired_difference(b, a, seed=3))


def test_paired_swapped_changes_its_sign():
    there = answers.paired(TWO, "model", PAIR, seed=3).iloc[0]
    back = answers.paired(TWO, "model", [PAIR[0][::-1]], seed=3).iloc[0]
    for name in ("over_facts", "over_relations"):
        one, other = there[name], back[name]
        assert (one.estimate, one.low, one.high) == pytest.approx(
            (-other.estimate, -other.high, -other.low), abs=1e-9
        )
    frame = answered({("small", "r"): "11110", ("large", "r"): "10001"})
    counts = [answers.paired(frame, "model", [p], seed=0).iloc[0] for p in (*PAIR, PAIR[0][::-1])]
    assert [(c["only_first"], c["only_second"]) for c in counts] == [(3, 1), (1, 3)]
    assert counts[0]["p"] == counts[1]["p"] == pytest.approx(2 * (1 + 4) / 2**4)


def test_paired_takes_only_facts_that_both_were_asked():
    """small is asked r-0 alone, large r-4 alone and all of t: none of it counts."""
    frame = answered(
        {
            ("small", "r"): "1110-",
            ("small", "s"): "001",
            ("large", "t"): "11",
            ("large", "s"): "011",
            ("large", "r"): "-0011",
        }
    )
    [row] = answers.paired(frame, "model", PAIR, seed=0).itertuples()
    asked_by_both = answered(
        {
            ("small", "r"): "-110-", ("small", "s"): "001",
            ("large", "r"): "-001-", ("large", "s"): "011",
        }
    )  # fmt: skip
    [again] = answers.paired(asked_by_both, "model", PAIR, seed=0).itertuples()
    assert row[:4] == again[:4] and row.p == again.p
    assert same(row.over_facts, again.over_facts)
    assert row.over_facts.estimate == pytest.approx((-1 / 3 + 1 / 3) / 2)
    assert (row.relations, row.only_first, row.only_second) == (2, 2, 2)


def test_paired_is_blind_to_other_groups_and_their_order():
    others = answered({("x", "r"): "0101", ("large", "u"): "01", ("y", "r"): "1"})
    group = TWO.assign(source="one")
    first = pd.concat([others.assign(source="two"), group])
    mixed = pd.concat([group, others[::-1].assign(source="two")])
    alone, a, b = (
        answers.paired(f, "model", PAIR, by=["source"], seed=1) for f in (group, first, mixed)
    )
    for found in (a, b):
        assert answers.texts(found, 9).equals(answers.texts(alone, 9))


def test_paired_has_rows_only_for_pairs_that_stand_in_a_group_with_a_fact_of_both():
    pairs = [("small", "gone"), ("gone", "small"), ("small", "large")]
    assert len(answers.paired(TWO, "model", pairs, seed=0)) == 1
    apart = answered({("small", "r"): "11--", ("large", "r"): "--11"})
    for by, corrected in (([], []), (["relation"], ["relation"])):
        none = answers.paired(apart, "model", PAIR, by=by, corrected=corrected, seed=0)
        assert none.empty and list(none)[-3:] == ["only_first", "only_second", "p"]


def test_paired_of_one_relation_has_no_interval_over_relations():
    [row] = answers.paired(TWO[TWO["relation"] == "r"], "model", PAIR, seed=0).itertuples()
    assert row.over_relations is None and row.over_facts.estimate == -0.25


def test_p_is_corrected_within_the_rows_that_are_named():
    ones = {"a": "1" * 10, "b": "1" * 2 + "0" * 8, "c": "1" * 4 + "0" * 6}
    cells = {(w, m, "r"): v for w in "xy" for m, v in ones.items() if (w, m) != ("y", "c")}
    frame = answered(cells, ("world", "model", "relation"))
    pairs = [("b", "a"), ("c", "a")]
    raw = {"b": binomtest(0, 8).pvalue, "c": binomtest(0, 6).pvalue}
    found = answers.paired(frame, "model", pairs, by=["world"], seed=0)
    assert found["first"].tolist() == ["b", "c", "b"]
    whole = multipletests([raw["b"], raw["c"], raw["b"]], method="holm")[1]
    assert found["p"].tolist() == pytest.approx(whole)
    found = answers.paired(frame, "model", pairs, by=["world"], corrected=["world"], seed=0)
    of_x = multipletests([raw["b"], raw["c"]], method="holm")[1]
    assert found["p"].tolist() == pytest.approx([*of_x, raw["b"]])
    with pytest.raises(BadInput, match="corrected by 'model', which is no column here"):
        answers.paired(frame, "model", pairs, by=["world"], corrected=["model"], seed=0)


@pytest.mark.parametrize("correct", [True, False])  # the same answer again, or another one
def test_fact_asked_twice_is_refused(correct):
    again = TWO.iloc[:1].assign(correct=correct)
    with pytest.raises(ValueError, match=r"\['r', 'r-0', 'small'\] is asked twice"):
        answers.paired(pd.concat([TWO, again]), "model", PAIR, seed=0)


def test_facts_side_by_side_keep_the_order_of_the_frame():
    """A bootstrap draws by place: neither the names of facts nor those of relations may decide it."""
    mixed = TWO.iloc[[5, 3, 0, 8, 1, 4, 2, 11, 6, 7, 9, 10]]
    wide = tables.side_by_side(mixed, "model")
    assert wide.index.tolist() == list(
        dict.fromkeys(zip(mixed["relation"], mixed["fact"], strict=True))
    )
    for row in TWO.itertuples():
        assert wide.loc[(row.relation, row.fact), row.model] == row.correct


# --- texts, bounds

HALF = Interval(0.5, 0.25, 0.8, 0.95, "by hand")


def test_texts_are_for_a_page():
    frame = pd.DataFrame(
        {"x": [HALF, None], "p": [0.01234, 1.0], "share": [0.126, 0.0], "n": [3, 4], "m": ["a", ""]}
    )
    before = frame.copy()
    rows = [["0.50 [0.25, 0.80]", "0.012", 0.13, 3, "a"], ["", "1", 0.0, 4, ""]]
    assert answers.texts(frame).to_numpy().tolist() == rows
    assert answers.texts(frame, 1)["share"].tolist() == [0.1, 0.0]
    assert frame.equals(before)


def test_bounds_are_for_a_file():
    frame = pd.DataFrame({"m": ["a", "b"], "x": [HALF, None], "y": [HALF, HALF], "n": [1, 2]})
    found = answers.bounds(frame, "x")
    assert list(found) == ["m", "x", "low", "high", "n"]
    assert found.iloc[0].tolist() == ["a", 0.5, 0.25, 0.8, 1]
    assert found.loc[1, ["x", "low", "high"]].isna().all() and found["n"].tolist() == [1, 2]
    assert list(answers.bounds(frame, "y", "eta")) == ["m", "eta", "low", "high", "n"]


def test_mcnemar_of_the_pairs_by_counting():
    """The p of `paired` is the share of all tosses that are at least as uneven."""
    frame = answered({("small", "r"): "1000001", ("large", "r"): "0111110"})
    p = answers.paired(frame, "model", PAIR, seed=0)["p"].iloc[0]  # 2 against 5
    assert p == pytest.approx(2 * sum(comb(7, k) for k in range(3)) / 2**7)


def test_one_column_stands_side_by_side_by_model_in_the_order_of_the_frame():
    frame = pd.DataFrame(
        {
            "model": ["m", "m", "l"],
            "metric": ["rank", "KL", "KL"],
            "half": [intervals.proportion(1, 2), None, intervals.proportion(2, 2)],
            "other": 1.0,
        }
    )
    found = tables.across(frame, "metric", "half")
    assert list(found) == ["metric", "m", "l"]
    half, one = (intervals.proportion(n, 2).text() for n in (1, 2))
    rows = [["rank", half, ""], ["KL", "", one]]
    assert found.to_numpy().tolist() == rows


def test_several_columns_can_name_a_row():
    rows = [("b", 2, "x", 0.5), ("b", 2, "y", 0.25), ("a", 1, "x", 0.75)]
    frame = pd.DataFrame(rows, columns=["model", "pairs", "way", "share"])
    found = tables.across(frame, ["model", "pairs"], "share", "way")
    assert found.to_dict("list") == {
        "model": ["b", "a"], "pairs": [2, 1], "x": [0.5, 0.75], "y": [0.25, ""],
    }  # fmt: skip
    none = frame[:0].astype({"share": object})
    assert tables.across(none, ["model", "pairs"], "share", "way").empty
