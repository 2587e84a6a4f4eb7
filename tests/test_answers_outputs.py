"""Outputs beside longer runs: merged by hand, with rules counted by hand."""

import pandas as pd
import pytest

from lkecore.answers import outputs, rules, written
from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn
from lkecore.facts.fact import Fact, Relation
from lkecore.intervals import Interval

FOUND = {"anywhere": True, "whole_words": True, "at_the_start": False, "stray": 0.25}
LIKE = {"fact_set": "s", "kind": "iclke-space", "estimator": "iclke-space", "relation": "r"}


def made(facts, model="m", **columns):
    rows = [{"model": model, **LIKE, "fact": fact, **FOUND, **columns} for fact in facts]
    return pd.DataFrame(rows)


def ranked(facts, right, model="m"):
    rows = [
        {"model": model, **LIKE, "fact": f, "correct": c} for f, c in zip(facts, right, strict=True)
    ]
    return pd.DataFrame(rows)


def cues(facts, both):
    """``rule-both`` is right as often as it says, and no other rule ever."""
    none = {name: 0.0 for name in rules.RULES}
    rows = [{"fact_set": "s", "relation": "r", "fact": f, "cue_word": b == 1, "cue_frequent": False}
            | none | {"rule-both": b} for f, b in zip(facts, both, strict=True)]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def longer_run(monkeypatch):
    """A longer run that ships two facts by number, without texts."""
    shipped = {
        "written": made([1, 2]),
        "": ranked([2, 1], [True, False]),
        "cues": cues([1, 2], [1.0, 0.5]),
    }
    monkeypatch.setattr(outputs, "read", lambda name, page, apart="": (shipped[apart], {}))
    return shipped


def test_an_output_gets_the_ranking_of_its_own_question():
    both = outputs.with_rankings(made(["a", "b"]), ranked(["b", "c", "a"], [True, True, False]))
    assert both["ranking"].tolist() == [False, True]
    assert both["fact"].tolist() == ["a", "b"]


def test_longer_runs_stand_below_with_what_was_found_in_them_alone(longer_run):
    ours = outputs.with_rankings(made(["a"], text="x"), ranked(["a"], [True]))
    both = outputs.beside(ours, ["far"], "19_page")
    assert both["model"].tolist() == ["m", "m on far", "m on far"]
    assert both["fact"].tolist() == ["a", "1", "2"]
    assert both["ranking"].tolist() == [True, False, True]
    assert both["text"].isna().tolist() == [False, True, True]
    every = outputs.with_rules(both, cues(["a", "z"], [0.75, 1.0]), ["far"], "19_page")
    assert every["rule"].tolist() == [0.75, 1.0, 0.5]
    assert every["cue"].tolist() == [False, True, False]
    assert outputs.first_kinds(every) == {"m": "iclke-space", "m on far": "iclke-space"}


def test_facts_by_number_of_which_some_were_only_ranked_are_refused(longer_run):
    longer_run[""] = ranked([1, 2, 3], [True, False, True])
    ours = outputs.with_rankings(made(["a"]), ranked(["a"], [True]))
    line = "results far: 3 rankings and 2 outputs; facts that ship by number must all be written"
    with pytest.raises(BadInput, match=line):
        outputs.beside(ours, ["far"], "19_page")


def test_a_sentence_tells_what_longer_runs_found(longer_run):
    ours = outputs.with_rankings(made(["a", "b"], text="x"), ranked(["a", "b"], [True] * 2))
    every = outputs.beside(ours, ["far"], "19_page")
    every = outputs.with_rules(every, cues(["a", "b"], [0.0, 0.0]), ["far"], "19_page")
    measures = ["anywhere", "stray", "ranking", "rule"]
    each = written.by_fact(every, measures)
    said = outputs.longer(written.shares(each, measures, seed=0))
    assert said.startswith("In longer runs the right object is written by m on far in 1.00 [")
    assert said.endswith("] after iclke-space, 0.25 by accident.")
    alone = each[each["model"] == "m"]
    assert outputs.longer(written.shares(alone, measures, seed=0)) == "-"


def test_sides_of_the_claims():
    found = outputs.sides({"a": "k", "a-tuned": "k", "a on far": "k"}, {"a-tuned": "a"})
    above = [((name, "k"), (name, "hgp")) for name in ("a", "a-tuned", "a on far")]
    assert found["IC-generation-above"] == above
    assert found["IC-generation-tuned"] == [(("a-tuned", "k"), ("a", "k"))]


def test_intervals_go_to_their_claims_under_the_kind_that_shows_examples():
    one, other, third = (Interval(0.1, 0.0, x, 0.95, "by hand") for x in (0.2, 0.3, 0.4))
    rows = [("m on far", one, None), ("n", None, third)]
    gaps = {
        "a": pd.DataFrame(rows, columns=["model", "over_relations", "no_cue"]),
        "b": pd.DataFrame([("n", other, None)], columns=["model", "over_relations", "no_cue"]),
    }
    first = {"m on far": "iclke-space", "n": "iclke-colon"}
    far, here = ("shipped: far", "m", "iclke-space"), ("this page", "n", "iclke-colon")
    assert outputs.for_claims(gaps, first) == {"a": {far: one}, "b": {here: other}}
    assert outputs.for_claims(gaps, first, "no_cue") == {"a": {here: third}, "b": {}}


def test_cues_of_several_fact_sets_say_whose_they_are():
    def sample(subject):
        fact = Fact(subject, "r", subject, "red")
        relation = Relation("r", (fact,))
        return {"r": Drawn(relation, (), (fact,), (("red", "blue"),), (), (fact,))}

    found = rules.of_sets({"one": sample("a red thing"), "two": sample("b")}, kept=False)
    assert found[["fact_set", "fact", "cue_word"]].to_numpy().tolist() == [
        ["one", "a red thing", True],
        ["two", "b", False],
    ]


def test_verdicts_on_models_that_we_tuned_are_marked_and_others_are_not():
    one = Interval(-0.2, -0.3, -0.1, 0.95, "pencil over relations")
    models = "lab:book-1/2m-tuned", "org/chat"
    of = {("run", model, way): one for model in models for way in ("iclke-space", "other")}
    marks = outputs.in_lab({"IC-generation-tuned": of, "IC-generation-above": of})
    assert marks == {("IC-generation-tuned", "run", "lab:book-1/2m-tuned"): "tuned in the lab"}
