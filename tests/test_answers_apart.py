"""Telling beside teaching on real facts (PZ-D2, PZ-F3, PZ-F4); the oracles are counts by hand and scipy."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from lkecore import answers, facts
from lkecore.answers import apart, shipped, taught
from lkecore.errors import BadInput
from lkecore.tasks.instill import Recipe

RELATIONS = ["capital", "official_language", "currency"]
KIND = {"capital": "location", "official_language": "language", "currency": "other"}
RECIPE = Recipe(2, 0.05)


def marked(rows):
    return taught.mismatches(rows, factor=2.0, least=0.05, small=0.01, deviations=2.0)


@pytest.fixture(scope="module")
def sample():
    return facts.draw("atlas", RELATIONS, n_shots=1, n_facts=5, n_options=2, seed=0)


@pytest.fixture(scope="module")
def both(sample):
    questions = answers.at_blanks(["toy"], sample, ["template-1"], ["explicit", "false"])
    told, learned = apart.ask(["toy"], questions, RECIPE, n=3, at=[1, 2], steps=2)
    return told.assign(shared=False), learned  # it reads letters, with which many objects begin


@pytest.fixture
def rows(both, sample):
    return marked(apart.beside(*both, sample, [], "23_x"))


def test_the_first_facts_of_each_relation_are_told_and_taught(both, sample):
    told, learned = both
    first = {fact.id for of in sample.values() for fact in of.facts[:3]}
    assert set(told["fact"]) == set(learned["fact"]) == first
    assert len(told) == 9 and told["instillation"].eq("explicit").all()
    assert learned.groupby("steps").size().to_dict() == {1: 9, 2: 9}
    # The same blank, without anything before it.
    wide = (
        told.set_index("fact")["entropy"],
        learned[learned["steps"] == 1].set_index("fact")["entropy"],
    )
    assert wide[0].to_dict() == pytest.approx(wide[1].to_dict(), abs=1e-4)


def test_both_ways_stand_side_by_side_with_the_kind_of_the_relation(rows, both):
    told, learned = both
    assert len(rows) == 18 and rows["source"].eq("this page").all()
    assert rows["kind"].tolist() == rows["relation"].map(KIND).tolist()
    last = rows[rows["steps"] == 2].set_index("fact")
    assert last["told_kl"].to_dict() == told.set_index("fact")["kl"].to_dict()
    assert (
        last["taught_kl"].to_dict()
        == learned[learned["steps"] == 2].set_index("fact")["kl"].to_dict()
    )


def test_a_fact_whose_object_merges_is_left_out(both, sample):
    told, learned = both
    lost = told["fact"].iloc[4]
    found = apart.beside(told.assign(merged=told["fact"].eq(lost)), learned, sample, [], "23_x")
    assert len(found) == 16 and lost not in set(found["fact"])
    found = apart.beside(told.assign(shared=told["fact"].eq(lost)), learned, sample, [], "23_x")
    assert len(found) == 16 and lost not in set(found["fact"])
    single = told.assign(n_tokens=np.where(told["fact"] == lost, 1, 2))
    found = apart.beside(single, learned, sample, [], "23_x", among="one token")
    assert set(found["fact"]) == {lost}


def test_what_is_told_is_compared_with_all_objects_of_the_relation(sample):
    questions = answers.at_blanks(["toy"], sample, ["template-1"])
    told, _ = apart.ask(["toy"], questions, RECIPE, n=3, at=[2], steps=2, sample=sample)
    assert told["shared"].mean() > 0.8  # letters, of some hundred names


def test_within_relations_counts_places_there_alone(rows):
    some = rows[rows["steps"] == 2].copy()
    # One relation has large values of both, which says nothing about its facts: there they go apart.
    some["told_kl"] = some["relation"].map(
        {"capital": 9.0, "official_language": 5.0, "currency": 1.0}
    )
    some["taught_kl"] = some["told_kl"]
    place = some.groupby("relation").cumcount()
    some["told_kl"] += 0.1 * place
    some["taught_kl"] -= 0.1 * place
    table = apart.by_steps(some, seed=0).iloc[0]
    rho = scipy.stats.spearmanr(some["told_kl"], some["taught_kl"]).statistic
    assert rho > 0.7 and table["r of KL"].estimate == pytest.approx(rho)
    assert table["within"].estimate == pytest.approx(-1) and table["facts"] == 9


def test_claims_and_words_name_who_was_taught(rows):
    once = rows[rows["steps"] == 2]
    found = apart.claimed(once, seed=0)
    rho = scipy.stats.spearmanr(once["told_kl"], once["taught_kl"]).statistic
    assert found["PZ-taught-alike"]["this page", "toy"].estimate == pytest.approx(rho)
    assert "PZ-taught-places" not in found  # of nine facts at most
    many = pd.concat([once.assign(fact=once["fact"] + str(i)) for i in range(4)])
    many["told_kl"] = np.where(many["kind"] == "other", 9.0, many["taught_kl"])
    places = apart.claimed(marked(many), seed=0)["PZ-taught-places"]["this page", "toy"]
    assert places.estimate == pytest.approx(0 - 2 / 3)  # none of those that differ, of two thirds
    assert places.method == "bootstrap over relations"
    assert "toy " in apart.sentence(once, seed=0)
    added = apart.beside_surprisal(once, seed=0).iloc[0]
    for name in ("told", "taught"):
        r = scipy.stats.spearmanr(once[f"{name}_kl"], once["surprisal"]).statistic
        assert added[name].estimate == pytest.approx(r)
        assert added[name].text() in apart.sentence(once, seed=0)
    assert added[["model", "facts"]].tolist() == ["toy", 9]
    lost = once.assign(
        lost=[True] + [False] * 8, taught_kl=once["taught_kl"].where(once.index != once.index[0])
    )
    assert apart.beside_surprisal(lost, seed=0)["facts"].tolist() == [8]
    counts = apart.by_kind(once).set_index("kind")["facts"].to_dict()
    assert counts == {"location": 3, "language": 3, "other": 3}


def test_without_lessons_nothing_is_asked_and_nothing_is_said(sample, monkeypatch):
    monkeypatch.setattr(apart, "ask_blanks", lambda *_, **__: pytest.fail("a model was asked"))
    none = apart.ask(["toy"], {}, RECIPE, n=0, at=[1, 2], steps=2)
    found = marked(apart.beside(*none, sample, [], "23_x"))
    assert found.empty and apart.by_steps(found, seed=0).empty and apart.by_kind(found).empty
    assert apart.beside_surprisal(found, seed=0).empty
    assert apart.claimed(found, seed=0) == {} and "Too few" in apart.sentence(found, seed=0)


def test_what_ships_stands_below_by_its_source(both, sample, monkeypatch):
    told, learned = both
    frames = {"told": told, "taught": learned}
    about = {"long": {"parameters": {"n_taught": 3}}, "told": {"parameters": {}}}
    monkeypatch.setattr(
        shipped, "read", lambda name, notebook, apart="": (frames.get(apart), about[name])
    )
    found = apart.beside(told, learned, sample, ["told", "long"], "23_x")
    assert found["source"].value_counts().to_dict() == {"this page": 18, "shipped: long": 18}
    assert set(apart.by_steps(marked(found), seed=0)["model"]) == {"toy", "toy on long"}


def test_what_is_wrong_is_said_before_a_model_is_asked(monkeypatch):
    monkeypatch.setattr(apart, "ask_blanks", lambda *_, **__: pytest.fail("a model was asked"))
    with pytest.raises(BadInput, match="n_taught -1: must be 0 or more"):
        apart.ask(["toy"], {}, RECIPE, n=-1, at=[1, 2], steps=2)
    with pytest.raises(BadInput, match="steps 5: the model is asked after 1, 2 of them"):
        apart.ask(["toy"], {}, RECIPE, n=1, at=[1, 2], steps=5)
