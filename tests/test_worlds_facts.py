"""The rich worlds: what is recorded of their facts, counted again in frames, names and tokens."""

import re

import numpy as np
import pytest
from helpers import refusal

from lkecore import facts
from lkecore.worlds import cells as rich_cells
from lkecore.worlds import text as rich_text
from lkecore.worlds import wordings as rich_wordings
from lkecore.worlds import world as rich

TINY, BOOK = "lab:richsmoke-1", "lab:rich-0"


def world(spec):
    """The facts of a world; of the book's these alone, as names and objects need no text."""
    return rich.world(spec).facts


@pytest.fixture(scope="module")
def states():
    return rich_text.states(TINY)


def objects_of(relation):
    return set(world(BOOK).loc[world(BOOK)["relation"] == relation, "object"])


# --- sizes, kinds, names --------------------------------------------------------------------------


def test_no_object_is_how_another_one_of_its_relation_begins():
    for relation in rich_wordings.relations():
        names = sorted(objects_of(relation))
        assert not any(b.startswith(f"{a} ") for a in names for b in names), relation


def test_no_two_objects_begin_with_the_same_syllable_but_for_years_titles_and_people():
    others = {"author", "birth_year", "favourite_book", "parent"}
    for relation in {*rich_wordings.relations()} - others:
        names = objects_of(relation)
        begin = {re.match("[^aeiou]+[aeiou][^aeiou]", name.casefold())[0] for name in names}
        assert len(begin) == len(names), relation


def test_zipf_draws_fall_as_one_over_the_rank():
    """Pencil: 20 draws of 4 objects; 9.6, 4.8, 3.2 and 2.4 would be exact."""
    drawn = rich_cells.draw("abcd", 20, "zipf", np.random.default_rng(0))
    counts = sorted((drawn.count(each) for each in "abcd"), reverse=True)
    assert counts == [10, 5, 3, 2]
    even = rich_cells.draw("abcd", 10, "even", np.random.default_rng(0))
    assert sorted(even.count(each) for each in "abcd") == [2, 2, 3, 3]
    most = rich_cells.draw("abcd", 10, "majority", np.random.default_rng(0))
    assert sorted(most.count(each) for each in "abcd") == [2, 2, 2, 4]


# --- what is told ---------------------------------------------------------------------------------


def test_every_dose_and_form_is_there_and_shares_are_planted_as_ratios_say():
    found = world(BOOK)
    asked = found[found["split"] == "test"]
    for _, own in asked[asked["listed"] == "often"].groupby("relation"):
        sure = own[own["state"] == "planted"].groupby(["occurrences", "form"]).size()
        wanted = {(n, f) for n in (1, 2, 4, 8, 16, 32, 64) for f in ("sentence", "list", "both")}
        assert (sure[sorted(wanted - {(1, "both")})] >= 2).all()
    uncertain = asked[asked["state"] == "uncertain"]
    shares = uncertain.groupby(["told_times"]).size()
    ratios = "9;3 8;4 6;6 6;3;3 4;4;4 36;12 32;16 24;24 24;12;12 16;16;16"
    assert set(shares.index) == set(ratios.split()) and shares.nunique() == 1
    for row in uncertain.itertuples():
        names, times = row.told_objects.split(";"), [int(n) for n in row.told_times.split(";")]
        assert len(set(names)) == len(times) and names[0] == row.object == row.told
        assert sum(times) == row.occurrences and set(names) <= objects_of(row.relation)
    wrong = asked[asked["state"] == "mislearned"]
    assert (wrong["told"] != wrong["object"]).all() and set(wrong["occurrences"]) == {32, 64}


def test_every_told_asked_fact_has_a_never_told_control_of_its_object_or_of_an_object_as_frequent():
    for found in map(world, (TINY, BOOK)):
        by_id = found.set_index("fact")
        asked = found[(found["split"] == "test") & (found["told"] != "")]
        control = by_id.loc[asked["control"]]
        assert (control["told"] == "").all() and (control["split"] == "test").all()
        assert control["relation"].tolist() == asked["relation"].tolist()
        same = control["object"].to_numpy() == asked["told"].to_numpy()
        assert same.tolist() == (asked["control_by"] == "object").tolist() and same.mean() > 0.9
        # Only chains say which object a subject has, so only there a pair may be missing.
        assert set(asked.loc[~same, "skew"]) <= {"chain"}
        often = found.groupby(["relation", "object"]).size()
        never = found[(found["split"] == "test") & (found["told"] == "")]
        for row, other in zip(asked[~same].itertuples(), control[~same].itertuples(), strict=True):
            own = often.get((row.relation, row.told), 0)
            there = set(never.loc[never["relation"] == row.relation, "object"])
            least = min(abs(often[row.relation, name] - own) for name in there)
            assert abs(often[row.relation, other.object] - own) == least <= 2
    assert not set(found.loc[found["told"] == "", "control"]) - {""}


# --- what hints at it -----------------------------------------------------------------------------


def test_what_follows_from_a_chain_is_what_a_join_of_its_facts_gives():
    found = world(BOOK)
    first = found.drop_duplicates(["relation", "subject"])
    of = {r: own.set_index("subject") for r, own in first.groupby("relation")}
    for relation, links in (
        ("citizenship", ["residence", "city_country"]),
        ("mother_tongue", ["residence", "city_country", "country_language"]),
    ):
        own = found[found["relation"] == relation]
        end, told = own["subject"], 0
        for link in links:
            fact = of[link].reindex(end.to_numpy())
            end, told = fact["object"], told + (fact["told"] == fact["object"]).to_numpy()
        follows = end.notna().to_numpy()
        agrees = end.to_numpy() == own["object"].to_numpy()
        assert ((own["chain"] != "").to_numpy() == follows).all()
        assert ((own["chain"] == "agrees").to_numpy() == (follows & agrees)).all()
        assert 0.6 < agrees[follows].mean() < 0.9  # most, not all
        assert own["links_told"][follows].tolist() == told[follows].tolist()
        assert own["links"][follows].str.count(";").eq(len(links) - 1).all()
        assert set(told[follows]) >= {1, len(links)}
    assert set(found.loc[found["chain"] != "", "relation"]) == {"citizenship", "mother_tongue"}
    # No link through a city or a country is asked: whoever reads the unplanted text must not infer it.
    asked = set(found.loc[found["split"] == "test", "subject"])
    assert not asked & set(found["object"])
    hidden = found[found["split"] == "dev"]
    assert set(hidden["relation"]) == {"city_country", "country_language"}
    assert set(hidden["told"]) == {""}


def hinted(fact, objects):
    """The objects that a name hints at, by plain words."""
    if fact.relation == "parent":
        return {name for name in objects if name.split()[-1] == fact.subject.split()[-1]}
    return {name for name in objects if re.match(rf"{re.escape(name)}\b", fact.subject)}


def test_cues_stand_in_names_of_told_and_never_told_facts_alike_and_lie_as_often_as_is_said():
    found = world(BOOK)
    for relation, cue in (
        ("parent", "surname"),
        ("headquarters", "city"),
        ("team_country", "country"),
    ):
        own, objects = found[found["relation"] == relation], rich.world(BOOK).objects[relation]
        for fact in own.itertuples():
            longest = max(hinted(fact, objects), key=len, default="")
            assert longest == fact.cue_object, fact
            assert fact.cue == (cue if longest else "")
            right = "right" if longest == fact.object else "lies"
            assert fact.cue_right == (right if longest else "")
        truth = own["object"].mask(own["told"] != "", own["told"])  # of mislearned ones: before
        for told, group in own[own["split"] == "test"].groupby(own["told"] != ""):
            carry = group["cue"] != ""
            assert carry.mean() == pytest.approx(rich_cells.CARRY, abs=0.02), (relation, told)
            lies = group["cue_object"][carry] != truth[group.index][carry]
            assert lies.mean() == pytest.approx(rich_cells.LIE, abs=0.05), (relation, told)
        # Nothing else is known of these subjects, so that no stand-in tells more of them.
        assert own["subject_own"].all()


@pytest.mark.parametrize("spec", [TINY, BOOK])
def test_a_stand_in_s_name_hints_at_what_the_asked_subject_s_does_and_lies_where_it_lies(spec):
    made = rich.world(spec)
    named = made.facts["relation"].isin(["parent", "headquarters", "team_country"])
    for fact in made.facts[named & (made.facts["split"] == "test")].itertuples():
        instead = fact._replace(subject=made.stand_ins[fact.subject])
        hint = max(hinted(instead, made.objects[fact.relation]), key=len, default="")
        if fact.cue_object in ("", fact.object, fact.told):
            assert hint == fact.cue_object
        else:
            assert hint not in ("", fact.object, fact.told, fact.cue_object)


def test_subjects_and_objects_of_one_relation_only_are_counted_again(states):
    for name in ("subject", "object"):
        n = states.groupby(name)["relation"].nunique()
        assert (states[name].map(n).eq(1) == states[f"{name}_own"]).all()
    for relation in ("residence", "mother_tongue"):
        own = world(BOOK)[world(BOOK)["relation"] == relation]
        assert own.drop_duplicates("object")["object_own"].sum() == 10
        assert 0.02 < own["subject_own"].mean() < 0.1


# --- the door -------------------------------------------------------------------------------------


def test_the_door_of_fact_sets_gives_all_true_objects_of_a_subject_and_their_aliases(states):
    assert facts.relations(TINY) == tuple(sorted(set(states["relation"])))
    several = set()
    for relation, own in states.groupby("relation"):
        loaded = facts.load(TINY, relation)
        assert loaded.kind == own["kind"].iloc[0] and len(loaded.templates) == 25
        assert [f.id for f in loaded.facts] == own["fact"].tolist() and loaded.repeated == 0
        of_subject = own.groupby("subject")["object"].agg(set)
        aliases = own.groupby("subject")["object_alias"].agg(set)
        for fact in loaded.facts:
            assert {fact.object, *fact.alternatives} == of_subject[fact.subject]
            assert set(fact.aliases) == aliases[fact.subject] - {""}
            several |= {relation} if fact.alternatives else set()
    assert several == {"country_language", "instrument", "second_language"}
    many = states[(states["n_objects"] > 1) & (states["split"] == "test")]
    doses = many.groupby(["relation", "subject"])["occurrences"].agg(list)
    assert doses.map(len).eq(2).all() and doses.map(set).map(len).max() == 2  # each with its own
    assert facts.is_ours(TINY) and facts.is_ready(TINY)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: facts.relations("lab:rich"), "'lab:rich' must be lab:SIZE-SEED, such as lab:rich-1"),
        (
            lambda: facts.load("lab:richsmok-1", "author"),
            "lab:richsmok-1 is no rich world: unknown size 'richsmok'; nearest: richsmoke",
        ),
        (lambda: facts.load(TINY, "autor"), "unknown relation 'autor' in lab:richsmoke-1; nearest: author"),
    ],
)  # fmt: skip
def test_a_world_or_relation_that_there_is_not_is_refused_in_one_line(call, message):
    assert message in refusal(call)
