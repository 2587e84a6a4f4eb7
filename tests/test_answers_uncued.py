"""Differences on facts without a cue: by loops in plain Python, and scipy's t interval."""

import random
from statistics import mean

import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from lkecore import answers
from lkecore.answers import rules, uncued, written
from lkecore.errors import BadInput
from lkecore.intervals import Interval

SPACE = "iclke-space"
SIZES = {"P1": 9, "P2": 7, "P3": 8, "P4": 6, "P5": 5}
ESTIMATORS = [SPACE, "hgp-1", "hgp-2"]
CUED = {  # facts by number, by which of the two cues; P4 is left with one fact, P5 with two
    "P1": ({0, 3}, {3, 4}), "P2": (set(), {6}), "P3": ({1}, set()), "P4": ({0, 1, 2}, {3, 4}),
    "P5": ({0}, {1, 2}),
}  # fmt: skip
LUCK = random.Random(11)
RIGHT = {
    (model, relation, estimator, i): LUCK.random() < 0.5
    for model in ("m", "m on far")
    for relation, n in SIZES.items()
    for estimator in ESTIMATORS
    for i in range(n)
}


@pytest.fixture
def rows():
    found = [(*key[:3], f"{key[1]}-{key[3]}", hit) for key, hit in RIGHT.items()]
    return pd.DataFrame(found, columns=["model", "relation", "estimator", "fact", "correct"])


def cues(source="shipped: far"):
    none = dict.fromkeys(rules.RULES, 0.0)
    return pd.DataFrame(
        {"source": source, "relation": relation, "fact": f"{relation}-{i}", "cue_word": i in words,
         "cue_frequent": i in often, **none}
        for relation, (words, often) in CUED.items()
        for i in range(SIZES[relation])
    )  # fmt: skip


def by_hand(model, bare):
    """(mean, low, high, relations): pairs minus sentences over relations, from the table of right answers."""
    gaps = []
    for relation, n in SIZES.items():
        facts = [i for i in range(n) if not (bare and i in CUED[relation][0] | CUED[relation][1])]
        each = []
        for i in facts:
            pairs, one, two = (RIGHT[model, relation, e, i] for e in ESTIMATORS)
            each.append(pairs - (one + two) / 2)
        if len(each) > 1:
            gaps.append(mean(each))
    low, high = ttest_1samp(gaps, 0).confidence_interval(0.95)
    return mean(gaps), low, high, len(gaps)


def same(interval, expected):
    return (interval.estimate, interval.low, interval.high) == pytest.approx(expected[:3])


def test_a_fact_that_its_source_has_no_cues_of_is_refused(rows):
    with pytest.raises(BadInput, match="3 answers are about facts without cues"):
        uncued.without(rows, cues()[1:])  # one fact, asked in three ways


def test_rows_that_know_their_cues_need_no_frame_of_them(rows):
    numbers = rows["fact"].str[3:].astype(int)
    either = {name: words | often for name, (words, often) in CUED.items()}
    cue = [i in either[name] for name, i in zip(rows["relation"], numbers, strict=True)]
    left = uncued.without(rows.assign(cue=cue))
    expected = {  # the facts without a cue, of relations with two
        f"{name}-{i}" for name, n in SIZES.items() if n - len(either[name]) > 1
        for i in range(n) if i not in either[name]
    }  # fmt: skip
    assert set(left["fact"]) == expected and len(left) == 2 * 3 * len(expected)


def test_what_is_written_is_compared_by_its_own_function(rows):
    """The shares of `written.differences`, without cues, against the same loops."""
    asked = rows.assign(kind=["hgp" if e != SPACE else e for e in rows["estimator"]])
    asked = asked.assign(anywhere=asked["correct"].astype(float), source="shipped: far")
    asked = rules.with_cues(asked, cues())
    sides = [((m, SPACE), (m, "hgp")) for m in ("m", "m on far")]
    every, left = (
        written.differences(written.by_fact(some, ["anywhere"]), sides, seed=0)
        for some in (asked, uncued.without(asked))
    )
    for row in uncued.beside(every, left).to_dict("records"):
        assert same(row["over_relations"], by_hand(row["model"], False))
        assert same(row["no_cue"], by_hand(row["model"], True))


def test_of_a_single_relation_the_interval_is_over_its_facts():
    rows = [("m", "a", None, between(0.1, 0.3)), ("m", "b", between(0.2, 0.4), between(0, 0.1))]
    found = pd.DataFrame(rows, columns=["model", "of", "over_relations", "over_facts"])
    beside = uncued.beside(found, found[::-1])
    assert beside["no_cue"].tolist() == [rows[0][3], rows[1][2]]
    assert uncued.judged_by(found)["over_relations"].tolist() == [rows[0][3], rows[1][2]]
    assert uncued.beside(found, found[:1])["no_cue"].tolist() == [rows[0][3], None]


def between(low, high, by="by hand over relations"):
    return Interval((low + high) / 2, low, high, 0.95, by)


def test_a_sentence_counts_by_pencil():
    rows = [
        ("m", "a", between(0.1, 0.3), between(0.02, 0.1)),  # clear, and still so
        ("m on far", "b", between(-0.1, 0.3), between(0.2, 0.4)),  # was not clear
        ("m on far", "c", between(0.2, 0.4), between(-0.1, 0.3)),  # no longer
        ("m on far", "d", between(-0.4, -0.2), between(0.1, 0.3)),  # on the other side
        ("n", "e", between(0.2, 0.4), None),  # nobody knows
        ("n", "f", between(-0.2, 0.4), between(-0.3, 0.2)),  # never
    ]
    gaps = pd.DataFrame(rows, columns=["model", "first", "over_relations", "no_cue"])
    gaps = gaps.assign(second="z", over_facts=None)
    assert uncued.told("Before.", gaps, gaps) == (
        "Before. Differences between ways that are clear of 0 over relations: 3 on all facts, of these"
        " 1 without a cue, too; without one alone: 1. For example, c minus z of m on far is"
        " 0.30 [0.20, 0.40] on all, and 0.10 [-0.10, 0.30] without a cue."
    )
    only = gaps[gaps["first"] == "b"]
    assert uncued.told("-", only, only) == (
        "Differences between ways that are clear of 0 over relations: 0 on all facts, of these"
        " 0 without a cue, too; without one alone: 1."
    )
    alone = gaps[:1].assign(over_relations=None, over_facts=[between(0.5, 0.7)], of="x less y")
    said = "For example, x less y is 0.60 [0.50, 0.70] on all, and 0.06 [0.02, 0.10] without a cue."
    assert uncued.told("-", gaps, alone).endswith(said)


def test_verdicts_without_cues_stand_beside_and_change_none(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    m, n = ("shipped: far", "m"), ("shipped: far", "n")
    tested = {
        "IC-above-human": {m: between(0.1, 0.3), n: between(-0.1, 0.3)},
        "IC-above-mined": {m: between(0.1, 0.3)},
    }
    bare = {"IC-above-human": {m: between(-0.1, 0.1), n: between(-0.3, -0.1)}}
    bare["IC-above-mined"] = {m: None}
    expected = [
        ("IC-above-human", "m", "holds", "0.000 [-0.100, 0.100]", "undecided"),
        ("IC-above-human", "n", "undecided", "-0.200 [-0.300, -0.100]", "fails"),
        ("IC-above-mined", "m", "holds", "", ""),
    ]
    shown = ["id", "models", "verdict", "no_cue", "without_cues"]
    ways = {
        claim: {(*key, SPACE): found for key, found in of.items()} for claim, of in tested.items()
    }
    of_ways = {claim: {(*key, SPACE): x for key, x in of.items()} for claim, of in bare.items()}
    once = answers.judge(tested, estimator=SPACE, as_paper=True, no_cue=bare)
    by_key = answers.judge(ways, estimator=SPACE, as_paper=True, no_cue=of_ways)
    by_way = answers.judge_ways({SPACE: tested}, as_paper=[SPACE], no_cue={SPACE: bare})
    for judged in (once, by_key, by_way):
        assert [*judged[shown].itertuples(index=False, name=None)] == expected
    kept = pd.read_csv(tmp_path / "verdicts.csv", keep_default_na=False)
    assert [*kept[shown].itertuples(index=False, name=None)] == expected
    plain = answers.judge(tested, estimator=SPACE, as_paper=True)
    assert "no_cue" not in plain and plain["verdict"].tolist() == once["verdict"].tolist()
