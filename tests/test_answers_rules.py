"""Answers without a model: cues recounted from the facts, tables by pencil, results that ship."""

import functools
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from lkecore import answers, facts
from lkecore.answers import rules, shipped
from lkecore.errors import BadInput
from lkecore.facts import Fact
from lkecore.metrics.rules import RULES

NOTEBOOK = "10_iclke_relations"
DRAWN = {"n_shots": 50, "n_options": 100, "n_facts": 100, "take_fewer": True, "seed": 0}


@pytest.fixture(scope="module")
def sample():
    return facts.draw("atlas", **DRAWN)


@pytest.fixture(scope="module")
def found(sample):
    return rules.cues(sample, kept=False)


def test_cues_of_the_atlas_are_those_of_a_recount_in_plain_python(sample, found):
    by_fact = found.set_index(["relation", "fact"])
    seen = {"cue_word": 0, "cue_frequent": 0}
    for name, drawn in sample.items():
        shown = [shot.object for shot in drawn.shots]
        for fact, options in zip(drawn.facts, drawn.options, strict=True):
            row = by_fact.loc[name, fact.id]
            words = [
                {w.casefold() for w in re.split(r"\W+", t) if w}
                for t in (fact.subject, fact.object)
            ]
            often = [shown.count(option) for option in options]
            mine = shown.count(fact.object)
            assert row["cue_word"] == bool(words[0] & words[1])
            assert row["cue_frequent"] == (mine > 0 and mine == max(often))
            assert row["rule-frequent"] == (mine == max(often)) / often.count(max(often))
            assert row["n_options"] == len(options)
            lengths = sorted(map(len, options))
            first = 1 + lengths.index(len(fact.object))
            assert row["length_rank"] == first + (lengths.count(len(fact.object)) - 1) / 2
            for cue in seen:
                seen[cue] += row[cue]
    assert len(found) == 1410 and min(seen.values()) > 5


def test_overlap_and_length_get_what_a_recount_of_the_whole_atlas_gives_them(sample, found):
    """Words by character, without a regular expression; parts as exact fractions; ties counted."""

    @functools.cache
    def words_of(text):
        apart = "".join(c if c.isalnum() or c == "_" else " " for c in text.casefold())
        return frozenset(apart.split())

    kinds = {rule: set() for rule in ("rule-overlap", "rule-length")}
    ruled = found.set_index(["relation", "fact"])[[*kinds]].to_dict()
    for name, drawn in sample.items():
        for fact, options in zip(drawn.facts, drawn.options, strict=True):
            own = words_of(fact.subject)
            marks = {
                "rule-overlap": [
                    Fraction(len(both), len(words_of(o))) if (both := own & words_of(o)) else 0
                    for o in options
                ],
                "rule-length": [-sum(1 for _ in option) for option in options],
            }
            gold = [option == fact.object for option in options]
            for rule, each in marks.items():
                first = max(each)
                share = Fraction(each[gold.index(True)] == first, each.count(first))
                assert abs(ruled[rule][name, fact.id] - share) < 1e-12
                kinds[rule].add(share)
    # Right, wrong, and lots drawn between some: a rule that did always the same would be seen.
    assert all({0, 1} < seen and len(seen) > 4 for seen in kinds.values())


def test_what_a_rule_gets_is_what_a_guess_by_it_gets_in_the_long_run(sample, found):
    """Brute force: every rule written down once more, guessing by lot 2,000 times."""
    rng = np.random.default_rng(0)
    for name in ("capital", "film_language"):
        drawn = sample[name]
        shown = [shot.object for shot in drawn.shots]
        some = list(zip(drawn.facts, drawn.options, strict=True))[:25]
        right = 0
        for fact, options in some:
            own = set(re.findall(r"\w+", fact.subject.casefold()))
            parts = [set(re.findall(r"\w+", o.casefold())) for o in options]
            marks = [len(each & own) / len(each) for each in parts]
            marks = marks if any(marks) else [shown.count(option) for option in options]
            best = [o for o, mark in zip(options, marks, strict=True) if mark == max(marks)]
            right += np.mean(rng.choice(best, 2000) == fact.object)
        asked = [fact.id for fact, _ in some]
        expected = found[(found["relation"] == name) & found["fact"].isin(asked)]["rule-both"]
        assert right / len(some) == pytest.approx(expected.mean(), abs=0.02)


def test_as_answers_they_have_the_columns_of_a_model_and_the_tables_take_them(found):
    ruled = rules.as_answers(found)
    assert len(ruled) == 4 * len(found) and set(ruled["model"]) == {rules.NO_MODEL}
    table = answers.over_relations(ruled, ["model", "estimator"], seed=0).set_index("estimator")
    for rule, row in table.iterrows():
        expected = found.groupby("relation")[rule].mean().mean()
        assert row["over_relations"].estimate == pytest.approx(expected)
    assert rules.best(found) == "rule-both"


def test_of_the_atlas_the_shipped_cues_are_those_of_its_facts(found):
    its, _ = shipped.read("atlas", NOTEBOOK, apart="cues")
    both = found.merge(its, on=["relation", "fact"], suffixes=("", "_then"), validate="1:1")
    assert len(both) == len(found) == len(its)
    for column in its.columns.drop(["relation", "fact"]):
        assert np.allclose(
            both[column].astype(float), both[f"{column}_then"].astype(float), atol=1e-4
        )


@pytest.mark.parametrize(("profile", "n", "expected"), [("kamel", 49, 0.146), ("trex", 40, 0.335)])
def test_of_facts_that_are_not_here_the_shipped_cues_are_about_those_that_were_asked(
    profile, n, expected
):
    """The numbers are those of a review that computed the rule apart from this code."""
    its, _ = shipped.read(profile, NOTEBOOK, apart="cues")
    asked, _ = shipped.read(profile, NOTEBOOK)
    assert its["relation"].nunique() == n
    assert its.groupby("relation")["rule-both"].mean().mean() == pytest.approx(expected, abs=5e-4)
    key = ["relation", "fact"]
    once = asked.drop_duplicates(key)[[*key, "n_options"]]
    assert len(once.merge(its, on=[*key, "n_options"], validate="1:1")) == len(its) == len(once)


def test_a_profile_without_cues_is_named_and_left_out(found):
    beside = rules.beside(found, ["lab", "atlas"], NOTEBOOK)
    assert list(beside["source"].unique()) == ["this page", "shipped: atlas"]


# Two relations of four facts, by pencil. The rule is right where the gold option shares a word.
CUES = pd.DataFrame(
    {
        "relation": ["p"] * 4 + ["q"] * 4,
        "fact": [*"1234", *"1234"],
        "cue_word": [True, True, False, False, True, False, False, False],
        "cue_frequent": [False] * 8,
        "n_options": 10,
        "rule-overlap": [1, 1, 0, 0, 0.5, 0, 0, 0],
        "rule-frequent": 0.0,
        "rule-both": [1, 1, 0, 0, 1, 0, 0, 0],
        "rule-length": 0.1,
        "source": "this page",
    }
)
RIGHT = [1, 0, 1, 1, 1, 1, 0, 0]  # p: 3 of 4, of those without a cue 2 of 2; q: 2 of 4, 1 of 3
OURS = CUES[["relation", "fact", "source"]].assign(model="m", correct=np.array(RIGHT, dtype=bool))


def test_above_is_the_accuracy_minus_that_of_the_best_rule_with_and_without_cues():
    table = rules.above(OURS, CUES, ["source", "model"], seed=0).set_index("facts")
    every, without = table.loc["all"], table.loc["no cue"]
    assert every["rule"] == without["rule"] == "rule-both"
    assert every["accuracy"].estimate == pytest.approx((3 / 4 + 2 / 4) / 2)
    assert every["of_rule"] == pytest.approx((2 / 4 + 1 / 4) / 2)
    assert every["above"].estimate == pytest.approx(5 / 8 - 3 / 8)
    assert without["accuracy"].estimate == pytest.approx((1 + 1 / 3) / 2)
    assert (without["n"], without["share"], without["relations"]) == (5, 5 / 8, 2)
    # q has one fact with a cue, too few for an interval: p alone, over its facts.
    cue = table.loc["cue"]
    assert (cue["relations"], cue["n"], cue["of_rule"]) == (1, 2, 1)
    assert cue["accuracy"].estimate == 0.5 and "over facts" in cue["accuracy"].method
    assert "relations" in every["above"].method
    [row] = rules.wide(table.reset_index(), ["source", "model"]).to_dict("records")
    assert row["no_cue"] == 5 / 8 and row["accuracy_no_cue"] == without["accuracy"]
    assert row["above"] == every["above"]


def test_an_answer_about_a_fact_without_cues_is_refused():
    with pytest.raises(BadInput, match="^this page: 1 answers are about facts without cues$"):
        rules.above(OURS, CUES[1:], ["source", "model"], seed=0)


def test_yardsticks_by_relation():
    found = rules.by_relation(CUES).set_index("relation")
    assert found["chance"].tolist() == [0.1, 0.1]
    assert found["of_rule"].to_dict() == {"p": 0.5, "q": 0.25}
    assert set(found["rule"]) == {"rule-both"}


def test_of_a_world_the_best_rule_stands_beside_a_blind_guess(sample):
    """By pencil: in r one subject of two has a word of its object; in s the object is what is shown."""
    any_relation = next(iter(sample.values()))
    asked = [Fact(f, "r", who, "Ada Bo") for f, who in (("f", "Bo Ek"), ("g", "Fi"))]
    two = {"facts": tuple(asked), "options": (("Ada Bo", "Cy Du"),) * 2}
    r = replace(any_relation, shots=(Fact("h", "r", "Gu", "Cy Du"),), **two)
    one = {"facts": (asked[1],), "options": (("Ada Bo", "Cy Du"),)}
    s = replace(any_relation, shots=(Fact("h", "s", "Gu", "Ada Bo"),), **one)
    table = rules.of_worlds({"w": {"r": r, "s": s}, "v": {"s": s}})
    assert table["world"].tolist() == ["w", "v"] and table["facts"].tolist() == [3, 1]
    # w: by words (1 + 1/2) / 2 and 1/2, by what is shown 0 and 1, by both (1 + 0) / 2 and 1
    assert table["rule"].tolist() == ["rule-both", "rule-frequent"]
    assert table["of_rule"].tolist() == [0.75, 1] and table["chance"].tolist() == [0.5, 0.5]


def test_on_a_board_the_rules_stand_as_more_models_where_its_facts_are_known():
    """Two boards: one of this run, whose facts have ids, and one of results whose facts have numbers."""
    mine = OURS.assign(board=1, source="this page")
    far = OURS.assign(board=2, source="shipped: far", fact=[1, 2, 3, 4] * 2)
    other = OURS.assign(board=3, source="shipped: other", fact=[1, 2, 3, 4] * 2)
    found = pd.concat(
        [
            CUES.assign(source="shipped: atlas"),
            CUES.assign(source="shipped: far", fact=[1, 2, 3, 4] * 2),
        ]
    )
    cues = rules.of_boards(pd.concat([mine, far, other]), found)
    ruled = rules.on_boards(cues)
    # Of other facts under the same numbers nothing is known: the third board has no rule.
    assert ruled.groupby("board").size().to_dict() == {1: 4 * 8, 2: 4 * 8}
    assert set(ruled["model"]) == {f"no model, {rule}" for rule in RULES}
    both = ruled[ruled["model"] == "no model, rule-both"]
    assert both["correct"].tolist() == [1, 1, 0, 0, 1, 0, 0, 0] * 2
    assert rules.on_boards(rules.of_boards(mine, CUES[1:].assign(source="shipped: atlas"))).empty
    names = [(board, name) for board in (1, 2) for name in ("m", "no model, b", "no model, a")]
    shown = rules.with_best(pd.DataFrame(names, columns=["board", "model"]))
    assert shown["model"].tolist() == ["m", "no model, b"] * 2


def test_a_table_gets_what_rules_and_facts_without_cues_have_and_nothing_where_cues_lack():
    """Two of m's facts in each relation carry no cue (see above); of x no cues are there."""
    mine, far = OURS.assign(source="this page"), OURS.assign(source="shipped: x")
    found = CUES.assign(source="this page")
    table = pd.DataFrame({"source": ["shipped: x", "this page"], "model": "m", "n": [1, 2]})
    by = ["source", "model"]
    both = rules.with_no_cue(table, pd.concat([mine, far]), found, by, seed=0)
    assert both["n"].tolist() == [1, 2] and both["no_cue"][0] is None
    assert np.isnan(both["of_rule"][0])
    plain = CUES[~CUES["cue_word"] & ~CUES["cue_frequent"]]
    hits = OURS.merge(plain[["relation", "fact"]], on=["relation", "fact"])
    each = hits.groupby("relation")["correct"].agg(["mean", "size"])
    assert both["no_cue"][1].estimate == each.loc[each["size"] >= 2, "mean"].mean()
    assert both["of_rule"][1] == CUES.groupby("relation")["rule-both"].mean().mean()
