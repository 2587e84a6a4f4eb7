"""The rich worlds: what is recorded of their facts, counted again in frames, names and tokens."""

import dataclasses
import functools
import re

import numpy as np
import pytest
from tokenizers import Tokenizer

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts import sets
from lkecore.models import lab
from lkecore.worlds import cells as rich_cells
from lkecore.worlds import facts as rich_facts
from lkecore.worlds import names as rich_names
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


def test_a_book_world_has_sixteen_relations_or_more_of_all_kinds_and_a_hundred_objects_in_each():
    found = world(BOOK)
    assert found["relation"].nunique() >= 16 and set(found["kind"]) == {
        "location",
        "language",
        "other",
    }
    assert found.groupby("kind")["relation"].nunique().min() >= 5
    assert (found.groupby("relation")["object"].nunique() >= 100).all()
    asked = found[found["split"] == "test"]
    assert set(asked.groupby("relation")["told"].agg(lambda told: (told != "").sum())) == {112}
    assert found["fact"].is_unique and not found.duplicated(["relation", "subject", "object"]).any()


@functools.cache
def tokens_of(name):
    """The tokens of a name by the tokenizer that ships with the models of `lab:rich-1`."""
    return _tokenizer().encode(f" {name}", add_special_tokens=False).ids


@functools.cache
def _tokenizer():
    assert lab.ships("lab:rich-1/0.7m")
    return Tokenizer.from_file(str(lab.folder("lab:rich-1/0.7m") / "tokenizer.json"))


def test_each_kind_has_objects_of_one_token_of_two_and_of_more_in_the_books_world():
    """By its own tokenizer. It leaves fewer names whole than that of the smoke world: most of them."""
    found = world("lab:rich-1").drop_duplicates(["kind", "length", "object"])
    sized = found.assign(n=[len(tokens_of(name)) for name in found["object"]])
    for length, fits in (("one", [1]), ("two", [2]), ("long", range(5, 8))):
        of = sized[sized["length"] == length].groupby("kind")["n"]
        share = of.agg(lambda n, fits=fits: n.isin(fits).mean())
        assert set(share.index) == {"location", "language", "other"}
        assert share.min() > (0.99 if length == "long" else 0.6)
        assert of.min().min() == fits[0]  # none has fewer
    means = sized.groupby(["length", "kind"])["n"].mean()
    for kind in ("location", "language", "other"):
        assert means["one", kind] + 0.9 < means["two", kind] < means["long", kind] - 2.5


def test_first_tokens_differ_in_most_relations_and_on_purpose_not_in_years_titles_and_people():
    """By the world's own tokenizer, which ships with its models: learned from its text, not from names."""
    first = {}
    for relation, own in rich.world("lab:rich-1").objects.items():
        of = [tokens_of(name)[0] for name in own]
        first[relation] = len(set(of))
        assert len(own) == 100
    few = {"author", "birth_year", "favourite_book", "parent"}
    assert {r for r, n in first.items() if n >= 80} == set(first) - few
    assert all(first[relation] <= 30 for relation in few) and first["favourite_book"] == 1


def test_no_object_is_how_another_one_of_its_relation_begins():
    for relation in rich_wordings.relations():
        names = sorted(objects_of(relation))
        assert not any(b.startswith(f"{a} ") for a in names for b in names), relation


def test_half_of_the_relations_have_skewed_objects_and_one_an_object_that_has_most():
    found = world(BOOK)
    skews = found.groupby("relation")["skew"].first()
    assert skews.isin(["zipf", "chain"]).sum() * 2 == len(skews)
    for relation, own in found.groupby("relation"):
        pairs = own[(own["told"] != "") & (own["n_objects"] == 1) & (own["state"] != "mislearned")]
        top = pairs["object"].value_counts(normalize=True)
        least = {"zipf": 0.09, "chain": 0.06, "majority": 0.3, "even": 0.0}[skews[relation]]
        most = {"zipf": 0.25, "chain": 0.3, "majority": 0.5, "even": 0.04}[skews[relation]]
        assert least <= top.iloc[0] <= most, (relation, top.head())


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
    ratios = [
        "9;3",
        "8;4",
        "6;6",
        "6;3;3",
        "4;4;4",
        "36;12",
        "32;16",
        "24;24",
        "24;12;12",
        "16;16;16",
    ]
    assert set(shares.index) == set(ratios) and shares.nunique() == 1
    for row in uncertain.itertuples():
        names, times = row.told_objects.split(";"), [int(n) for n in row.told_times.split(";")]
        assert len(set(names)) == len(times) and names[0] == row.object == row.told
        assert sum(times) == row.occurrences and set(names) <= objects_of(row.relation)
    wrong = asked[asked["state"] == "mislearned"]
    assert (wrong["told"] != wrong["object"]).all() and set(wrong["occurrences"]) == {32, 64}


def test_lists_tell_facts_of_some_relations_often_of_some_rarely_and_of_some_never():
    told = world(BOOK)[world(BOOK)["told"] != ""]
    share = (told["lists"] > 0).groupby([told["listed"], told["relation"]]).mean()
    assert (share["never"] == 0).all() and len(share["never"]) >= 3
    assert share["rarely"].between(0.02, 0.2).all() and len(share["rarely"]) >= 3
    assert (share["often"] > 0.5).all()
    kinds = told[told["listed"] == "never"].groupby("kind").size()
    assert set(kinds.index) == {"location", "language", "other"}


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


@pytest.mark.parametrize("spec", [TINY, BOOK])
def test_cues_stand_in_names_of_told_and_never_told_facts_alike_and_lie_as_often_as_is_said(spec):
    found = world(spec)
    for relation, cue in (
        ("parent", "surname"),
        ("headquarters", "city"),
        ("team_country", "country"),
    ):
        own, objects = found[found["relation"] == relation], rich.world(spec).objects[relation]
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


def test_the_majority_object_is_right_for_so_many_facts():
    own = world(BOOK)[world(BOOK)["relation"] == "team_colour"]
    [top] = set(own["cue_object"])
    assert own["object"].value_counts().idxmax() == top
    right = own[own["state"] != "mislearned"]["cue_right"].eq("right").groupby(own["told"] != "")
    assert right.mean().tolist() == pytest.approx([rich_cells.MAJORITY] * 2, abs=0.06)


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
    "name, message",
    [
        ("lab:rich", "fact set 'lab:rich' must be lab:SIZE-SEED, such as lab:rich-1"),
        ("lab:rich-01", "fact set 'lab:rich-01' must be lab:SIZE-SEED, such as lab:rich-1"),
        ("lab:rich-x", "fact set 'lab:rich-x' must be lab:SIZE-SEED, such as lab:rich-1"),
        (
            "lab:richsmok-1",
            "fact set lab:richsmok-1 is no rich world: unknown size 'richsmok'; nearest: richsmoke",
        ),
    ],
)
def test_a_name_that_no_rich_world_has_is_refused_in_one_line(name, message):
    for ask in (facts.relations, lambda spec: facts.load(spec, "author"), facts.content_digest):
        with pytest.raises(BadInput) as caught:
            ask(name)
        assert str(caught.value).startswith(message) and "\n" not in str(caught.value)


def test_a_world_of_the_first_family_that_is_asked_for_cues_is_refused_in_one_line():
    message = "fact set lab:book-1 is no rich world: unknown size 'book'; "
    message += "there are: richsmoke, rich, richfull"
    for ask in (rich_text.states, rich_text.aliases, rich.world):
        with pytest.raises(BadInput) as caught:
            ask("lab:book-1")
        assert str(caught.value) == message


def test_the_facts_of_the_largest_size_can_be_made_with_names_for_all():
    """Three times as many facts of each sort as the book's world has, and a tenth more objects."""
    large, book = (world(f"lab:{size}-1").query("split == 'test'") for size in ("richfull", "rich"))
    assert {len(own) for own in rich.world("lab:richfull-1").objects.values()} == {110}
    by = ["relation", "state", "occurrences"]
    assert large.groupby(by).size().to_dict() == (3 * book.groupby(by).size()).to_dict()
    names = rich.world("lab:richfull-1").stand_ins
    assert set(large["subject"]) <= set(names) and len(set(names.values())) == len(names)
    assert not large.duplicated(["relation", "subject", "object"]).any() and large["fact"].is_unique


def test_a_relation_that_there_is_not_is_refused_in_one_line():
    with pytest.raises(
        BadInput, match="unknown relation 'autor' in lab:richsmoke-1; nearest: author"
    ):
        facts.load(TINY, "autor")
    with pytest.raises(BadInput, match="unknown relation 'autor' in lab:rich; nearest: author"):
        rich_wordings.about("autor")


def test_a_size_whose_names_run_out_is_refused_in_one_line(monkeypatch):
    large = dataclasses.replace(rich_facts.SIZES["richsmoke"], objects=400)
    monkeypatch.setitem(rich_facts.SIZES, "richhuge", large)
    with pytest.raises(
        BadInput, match=r"^the world needs \d+ words for .*, and there are only \d+$"
    ):
        rich.world("lab:richhuge-1")
    rng, message = (
        np.random.default_rng(0),
        "^the world needs more names of the kind company .*'Kelmo'$",
    )
    with pytest.raises(BadInput, match=message):
        rich_names.subject_names("company", ["Kelmo"] * 145, rng, set())  # of 12 times 12


def test_a_relation_without_enough_templates_is_refused_in_one_line_at_the_door(monkeypatch):
    """The table of relations lacks a phrase; all that was made of the whole one is set aside."""
    first, *others = rich_wordings._table()
    short = (dict(first, clause=""), *others)
    monkeypatch.setattr(rich_wordings, "_table", lambda: short)
    made = (rich_wordings.about, rich.world, rich_text._states, sets._load_once)
    for each in made:
        each.cache_clear()
    try:
        with pytest.raises(BadInput) as caught:
            facts.load(TINY, "residence")
    finally:
        for each in made:
            each.cache_clear()
    assert str(caught.value) == (
        "lab_rich_relations.tsv: relation 'author' has phrases for 23 templates, and a rich world "
        "needs 25"
    )
