"""Other wrong options for the same facts: distances by brute force, and what must not change."""

import functools
from collections import Counter

import pytest

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts import Fact, Relation, offers, sets
from lkecore.facts.drawn import Drawn

DRAWN = {"n_shots": 20, "n_facts": 30, "n_options": 40, "seed": 3}
NAMES = ["capital", "city_of_airport", "film_director", "country_of_city"]


@pytest.fixture(scope="module")
def sample():
    return facts.draw("atlas", NAMES, **DRAWN)


@pytest.fixture(scope="module")
def uses():
    return offers.uses_of("atlas")


@functools.cache
def all_names():
    """(relation, side, name) of every name in the facts."""
    every = [(r, fact) for r in sets.relations("atlas") for fact in sets.load("atlas", r).facts]
    subjects = [(relation, 0, fact.subject.casefold()) for relation, fact in every]
    return [*subjects, *((relation, 1, fact.object.casefold()) for relation, fact in every)]


def apart_by_hand(offer, drawn, gold, name):
    """How far a name is from the gold one, written down once more, from the facts alone."""
    if offer == "length":
        return abs(len(name) - len(gold))
    if offer == "frequency":
        often = Counter(fact.object.casefold() for fact in drawn.relation.facts)
        return abs(often[name.casefold()] - often[gold.casefold()])
    a, b = (
        {(relation, side) for relation, side, other in all_names() if other == text.casefold()}
        for text in (gold, name)
    )
    return 1 - len(a & b) / (len(a) * len(b)) ** 0.5


@pytest.mark.parametrize("offer", ["frequency", "length", "use"])
def test_no_object_that_is_left_out_is_nearer_than_one_that_is_offered(sample, uses, offer):
    for drawn in offers.offered(sample, offer, uses=uses, seed=0).values():
        fact, options = drawn.facts[0], drawn.options[0]
        others = [name for name in options if name != fact.object]
        left = [
            name
            for name in drawn.relation.objects
            if name not in options and name.casefold() not in fact.true_names
        ]
        far = max(apart_by_hand(offer, drawn, fact.object, name) for name in others)
        near = min(apart_by_hand(offer, drawn, fact.object, name) for name in left[:40])
        assert far <= near + 1e-12


@pytest.mark.parametrize("offer", offers.OFFERS)
def test_each_fact_has_its_gold_option_once_and_no_other_true_object(sample, uses, offer):
    made = offers.offered(sample, offer, uses=uses, seed=0)
    for name, drawn in made.items():
        old = sample[name]
        assert (drawn.shots, drawn.facts) == (old.shots, old.facts)
        for fact, options, before in zip(drawn.facts, drawn.options, old.options, strict=True):
            assert len(set(options)) == len(options) == len(before)
            true = [text for text in options if text.casefold() in fact.true_names]
            assert true == [fact.object]


def test_options_depend_on_the_seed_and_the_fact_and_not_on_which_others_are_asked(sample, uses):
    fewer = facts.draw("atlas", NAMES, **DRAWN | {"n_facts": 5})
    for offer in ("frequency", "length", "use"):
        all_ = offers.offered(sample, offer, uses=uses, seed=0)
        some = offers.offered(fewer, offer, uses=uses, seed=0)
        other = offers.offered(sample, offer, uses=uses, seed=1)
        for name in NAMES:
            of = dict(zip(all_[name].facts, all_[name].options, strict=True))
            pairs = zip(some[name].facts, some[name].options, strict=True)
            assert all(of[fact] == options for fact, options in pairs)
        assert any(all_[name].options != other[name].options for name in NAMES)


def test_the_gold_option_stands_anywhere_in_the_order(sample, uses):
    for offer in ("frequency", "length", "use"):
        made = offers.offered(sample, offer, uses=uses, seed=0)
        pairs = [(f, o) for d in made.values() for f, o in zip(d.facts, d.options, strict=True)]
        at = [options.index(fact.object) for fact, options in pairs]
        assert len(set(at)) > 20  # of 40 places, for 120 facts


def test_a_relation_with_no_more_objects_than_options_offers_them_all():
    rows = tuple(Fact(str(i), "r", f"s{i}", "xyz"[i % 3] * (1 + i % 3)) for i in range(9))
    relation = Relation("r", rows)
    options = (("x", "yy", "zzz"),)
    drawn = Drawn(relation, (), rows[:1], options, (), rows)
    for offer in ("frequency", "length"):
        [[made]] = [d.options for d in offers.offered({"r": drawn}, offer, seed=0).values()]
        assert sorted(made) == ["x", "yy", "zzz"]


def test_unknown_offers_and_lists_without_random_first_are_refused(sample):
    with pytest.raises(BadInput, match="unknown offer 'lenght'.*length"):
        offers.offered(sample, "lenght", seed=0)
    with pytest.raises(BadInput, match="unknown offer 'size'"):
        offers.check(["random", "size"])
    for wrong in (["length", "random"], ["random", "length", "length"], []):
        with pytest.raises(BadInput, match="random first, and each once"):
            offers.check(wrong)
    with pytest.raises(ValueError, match="needs the uses"):
        offers.offered(sample, "use", seed=0)


@pytest.mark.parametrize("gold", ["Z\u00fcrich", "Zu\u0308rich"])
def test_the_form_of_accents_makes_no_name_longer_or_more_frequent(gold):
    """Of six letters and of one fact as the gold one is, in whatever form: by hand."""
    near, far = "Ge\u0301ne\u0300ve", "Locarno"  # of six letters, in eight characters, and of seven
    objects = [gold, near, far, far, "Z\u00dcRICH"]
    lives = tuple(Fact(str(i), "city", f"x{i}", name) for i, name in enumerate(objects))
    drawn = Drawn(Relation("city", lives), (), lives[:1], ((gold, far),), (), ())
    [options] = offers.offered({"city": drawn}, "length", seed=0)["city"].options
    assert sorted(options) == sorted([gold, near])
    [options] = offers.offered({"city": drawn}, "frequency", seed=0)["city"].options
    assert sorted(options) == sorted([gold, far])  # two facts have either
