"""Answers without a model: cues recounted from the facts, tables by pencil, results that ship."""

import json
import re
from dataclasses import replace

import helpers
import numpy as np
import pandas as pd
import pytest

from lkecore import facts
from lkecore.answers import rules
from lkecore.facts import Fact
from lkecore.facts.drawn import Drawn
from lkecore.facts.fact import Relation

NOTEBOOK = "10_iclke_relations"
DRAWN = {"n_shots": 50, "n_options": 100, "n_facts": 100, "allow_fewer": True, "seed": 0}


@pytest.fixture(scope="module")
def sample():
    return facts.draw("atlas", **DRAWN)


@pytest.fixture(scope="module")
def found(sample):
    return rules.cues(sample, kept=False)


def test_cues_of_the_atlas_are_those_of_a_recount_in_plain_python(sample, found):
    by_fact = found.set_index(["relation", "fact"])
    seen = {"cue_word": 0, "cue_frequent": 0}
    kinds = {"rule-overlap": set(), "rule-length": set()}
    for name, drawn in sample.items():
        shown = [shot.object for shot in drawn.shots]
        for fact, options in zip(drawn.facts, drawn.options, strict=True):
            row = by_fact.loc[name, fact.id]
            words = {t: {*re.findall(r"\w+", t.casefold())} for t in (fact.subject, *options)}
            own = words[fact.subject]
            often = [shown.count(option) for option in options]
            mine = shown.count(fact.object)
            assert row["cue_word"] == bool(own & words[fact.object])
            assert row["cue_frequent"] == (mine > 0 and mine == max(often))
            assert row["rule-frequent"] == (mine == max(often)) / often.count(max(often))
            assert row["n_options"] == len(options)
            marks = {
                "rule-overlap": [len(own & words[o]) / max(1, len(words[o])) for o in options],
                "rule-length": [-len(option) for option in options],
            }
            gold = options.index(fact.object)
            for rule, each in marks.items():
                share = (each[gold] == max(each)) / each.count(max(each))
                assert row[rule] == pytest.approx(share)
                kinds[rule].add(share)
            lengths = sorted(map(len, options))
            first = 1 + lengths.index(len(fact.object))
            assert row["length_rank"] == first + (lengths.count(len(fact.object)) - 1) / 2
            for cue in seen:
                seen[cue] += row[cue]
    assert len(found) == 1410 and min(seen.values()) > 5
    # Right, wrong, and lots drawn between some: a rule that did always the same would be seen.
    assert all({0, 1} < shares and len(shares) > 4 for shares in kinds.values())


def test_of_the_atlas_the_shipped_cues_are_those_of_its_facts(found):
    its, _ = helpers.shipped("atlas", NOTEBOOK, apart="cues")
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
    its, _ = helpers.shipped(profile, NOTEBOOK, apart="cues")
    asked, _ = helpers.shipped(profile, NOTEBOOK)
    assert its["relation"].nunique() == n
    assert its.groupby("relation")["rule-both"].mean().mean() == pytest.approx(expected, abs=5e-4)
    key = ["relation", "fact"]
    once = asked.drop_duplicates(key)[[*key, "n_options"]]
    assert len(once.merge(its, on=[*key, "n_options"], validate="1:1")) == len(its) == len(once)


def test_relations_with_two_facts_are_enough_and_one_fact_that_is_asked_twice_is_one():
    frame = pd.DataFrame({"relation": list("aabbcde"), "fact": [1, 2, 3, 3, 4, 5, 5]})
    assert rules.enough(frame)["relation"].tolist() == ["a", "a"]
    frame["source"] = list("xyxxxxx")  # a fact of a relation in either source
    assert rules.enough(frame, by=["source", "relation"]).empty
    assert len(rules.enough(frame, least=1)) == len(frame)


def test_an_object_is_no_frequent_one_where_none_of_the_options_is_shown():
    shots, asked = ((Fact(x, "r", x, y),) for x, y in (("a", "Rome"), ("b", "Oslo")))
    options = (("Bern", "Oslo"),)
    drawn = Drawn(Relation("r", (*shots, *asked)), shots, asked, options, shots, asked)
    [row] = rules.cues({"r": drawn}, kept=False).to_dict("records")
    assert not row["cue_frequent"] and row["rule-frequent"] == 0.5


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


def test_by_word_says_of_each_row_whether_the_rule_has_it_right_by_train_facts(tmp_path):
    """By pencil: of the shown cities Ur is the most frequent; who has one in its name gives that."""
    train = [("a", "Ur"), ("b", "Ur"), ("c", "Oslo"), ("d", "New Oslo"), ("e", "Rome")]
    right = [("f", "UR"), ("Oslo Bay", "Oslo"), ("Bank of new oslo", "New Oslo")]
    wrong = [("g", "Rome"), ("x Rome", "Ur"), ("Bank of New Oslo", "Oslo")]
    (tmp_path / "seat").mkdir()
    for split, pairs in (("train", train), ("test", right + wrong)):
        said = [json.dumps({"subject": a, "object": b}) for a, b in pairs]
        (tmp_path / "seat" / f"{split}.jsonl").write_text("\n".join(said))
    size = {"n_shots": 0, "n_facts": 50, "n_options": 2, "min_relations": 1, "seed": 0}
    own = facts.draw(str(tmp_path), [], own_seeds=True, **size)
    asked = own["seat"].facts[::-1]
    found = pd.DataFrame([("seat", fact.id) for fact in asked], columns=["relation", "fact"])
    wanted = [(fact.subject, fact.object) in right for fact in asked]
    assert rules.by_word(own, found) == wanted and sorted(wanted) == [False] * 3 + [True] * 3
    assert rules.by_word(own, found[2:4]) == wanted[2:4]
    assert rules.without_options(own, kept=False)["rule"].tolist() == wanted[::-1]
