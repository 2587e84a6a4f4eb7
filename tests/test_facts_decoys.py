"""Invented subjects: what they share with names of a relation, by letters, and what is refused."""

import csv
from dataclasses import replace

import pytest

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts.decoys import KINDS, beside, decoys, hint
from lkecore.storage import DATA

SIZE = {"n_shots": 10, "n_facts": 15, "n_options": 20}


@pytest.fixture(scope="module")
def drawn():
    names = ["country_of_city", "currency", "element_symbol", "capital"]
    return facts.draw("atlas", names, **SIZE, seed=0, allow_fewer=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_decoy_has_the_object_and_the_options_of_its_fact_and_no_name_of_the_relation(
    drawn, kind
):
    for of in drawn.values():
        made, why = decoys(of, kind, 2, 3)
        own = {f.id: (f.object, options) for f, options in zip(of.facts, of.options, strict=True)}
        names = {n.lower() for f in of.relation.facts for n in (f.subject, f.object)}
        for f, options in zip(made.facts, made.options, strict=True):
            assert own[f.id.split("~")[0]] == (f.object, options) and f.subject.lower() not in names
        subjects = [f.subject.lower() for f in made.facts]
        assert len(set(subjects)) == len(subjects)
        assert {f.id.split("~")[0] for f in made.facts} == set(own) - set(why)
    of = drawn["country_of_city"]
    made = decoys(of, kind, 2, 3)[0]
    assert made == decoys(of, kind, 2, 3)[0]
    assert kind == "village" or made != decoys(of, kind, 2, 4)[0]


def test_a_name_that_sounds_alike_has_no_run_of_five_letters_of_a_subject(drawn):
    of = drawn["country_of_city"]
    made, _ = decoys(of, "sounding", 3, 0)
    every = [f.subject.lower() for f in of.relation.facts]
    lengths = {(len(name), name.count(" ")) for name in every}
    assert len(made.facts) > 20
    for f in made.facts:
        name = f.subject.lower()
        runs = {name[i : i + 5] for i in range(len(name) - 4) if name[i : i + 5].isalpha()}
        assert not [run for run in runs for real in every if run in real], f.subject
        assert (len(name), name.count(" ")) in lengths
        assert hint(f, of.relation) in ("none", "code")


def test_a_name_of_letters_keeps_what_hints_at_the_object(drawn):
    of = drawn["element_symbol"]
    made, _ = decoys(of, "letters", 1, 0)
    real = {f.id: f.subject for f in of.facts}
    assert len(made.facts) > 8
    for f in made.facts:
        old, new, at = real[f.id.split("~")[0]].lower(), f.subject.lower(), 0
        assert len(old) == len(new) and old != new
        for (
            letter
        ) in f.object.lower():  # the letters of the symbol, in their order, where they were
            if (i := old.find(letter, at)) >= 0:
                assert new[i] == letter, (old, new, f.object)
                at = i + 1


def test_where_the_whole_name_is_the_hint_there_is_no_decoy(drawn):
    of = drawn["currency"]
    cuba = next(f for f in of.relation.facts if f.subject == "Cuba")
    one = replace(of, facts=(cuba,), options=(of.options[0],))
    for kind in ("sounding", "letters", "halves"):
        made, why = decoys(one, kind, 1, 0)
        assert not made.facts and set(why) == {cuba.id}


def test_a_village_is_a_place_of_the_table_in_the_country_of_the_object(drawn):
    with (DATA / "villages.tsv").open(encoding="utf-8", newline="") as file:
        places = {(row["place"], row["country"]) for row in csv.DictReader(file, delimiter="\t")}
    made, why = decoys(drawn["country_of_city"], "village", 2, 0)
    assert made.facts and {(f.subject, f.object) for f in made.facts} <= places
    assert len(places) == 400
    assert all("no village" in reason for reason in why.values())


def test_a_hint_is_a_word_a_run_of_letters_or_a_code(drawn):
    cities, currency = drawn["country_of_city"].relation, drawn["currency"].relation
    some = cities.facts[0]
    cases = {
        ("Mexico City", "Mexico"): "word",
        ("Indianapolis", "India"): "run",
        ("Lyon", "France"): "none",
    }
    for (subject, object_), kind in cases.items():
        assert hint(replace(some, subject=subject, object=object_), cities) == kind
    cuba = next(f for f in currency.facts if f.subject == "Cuba")
    assert hint(cuba, currency) == "run"


def test_refused_in_one_line(drawn):
    of = drawn["capital"]
    with pytest.raises(
        BadInput, match="kind 'sound': must be sounding, letters.*; nearest: sounding"
    ):
        decoys(of, "sound", 1, 0)
    with pytest.raises(BadInput, match="per_fact 0: must be 1 or more"):
        decoys(of, "letters", 0, 0)
    numbers = tuple(replace(f, subject=str(i)) for i, f in enumerate(of.relation.facts))
    with pytest.raises(BadInput, match="relation capital: no subject has a letter"):
        decoys(replace(of, relation=replace(of.relation, facts=numbers)), "letters", 1, 0)


def test_facts_and_decoys_are_in_one_table_each_with_its_fact(drawn):
    made, rows = beside(drawn, {"sounding": 1, "village": 2}, 0)
    assert list(made) == ["real", "sounding", "village"] and made["real"] == dict(drawn)
    n = {kind: sum(len(of.facts) for of in each.values()) for kind, each in made.items()}
    assert rows["kind"].value_counts().to_dict() == n
    real = rows[rows["kind"] == "real"].set_index("fact")
    assert (real["of"] == real.index).all()
    assert (rows["object"] == rows["of"].map(real["object"])).all()
    city = drawn["country_of_city"].relation.facts
    for row in rows[rows["relation"] == "country_of_city"].itertuples():
        same = {f.subject for f in city if f.object == row.object}
        assert row.others == len(same) - 1
