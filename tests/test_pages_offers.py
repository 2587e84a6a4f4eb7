"""Page 18_iclke_stands: other wrong options for the same facts; distances by brute force."""

import functools
from collections import Counter

import helpers
import pytest

from lkecore.errors import BadInput
from lkecore.facts import Fact, Relation, sets
from lkecore.facts.drawn import Drawn

PAGE = "18_iclke_stands"
FEW = {"relations": ["capital", "film_director", "country_of_city"], "n_facts": 30, "n_options": 40}


@pytest.fixture(scope="module")
def page():
    return helpers.page(PAGE, until="## Prompts", n_shots=20, seed=3, **FEW)


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
def test_no_object_that_is_left_out_is_nearer_than_one_that_is_offered(page, offer):
    for drawn in page["samples"][offer].values():
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


@pytest.mark.parametrize("offer", ["random", "frequency", "length", "use"])
def test_each_fact_has_its_gold_option_once_anywhere_and_no_other_true_object(page, offer):
    at = set()
    for name, drawn in page["samples"][offer].items():
        old = page["sample"][name]
        assert (drawn.shots, drawn.facts) == (old.shots, old.facts)
        for fact, options, before in zip(drawn.facts, drawn.options, old.options, strict=True):
            assert len(set(options)) == len(options) == len(before)
            true = [text for text in options if text.casefold() in fact.true_names]
            assert true == [fact.object]
            at.add(options.index(fact.object))
    assert len(at) > 20  # of 40 places, for 90 facts


def test_lists_of_offers_without_random_first_are_refused():
    for wrong in (["length", "random"], ["random", "length", "length"], [], ["random", "size"]):
        with pytest.raises(BadInput, match="random first, then others of"):
            helpers.page(PAGE, until="## Prompts", offers=wrong)


@pytest.mark.parametrize("gold", ["Z\u00fcrich", "Zu\u0308rich"])
def test_the_form_of_accents_makes_no_name_longer_or_more_frequent(page, gold):
    """Of six letters and of one fact as the gold one is, in whatever form: by hand."""
    near, far = "Ge\u0301ne\u0300ve", "Locarno"  # of six letters, in eight characters, and of seven
    objects = [gold, near, far, far, "Z\u00dcRICH"]
    lives = tuple(Fact(str(i), "city", f"x{i}", name) for i, name in enumerate(objects))
    drawn = Drawn(Relation("city", lives), (), lives[:1], ((gold, far),), (), ())
    [options] = page["offered"](drawn, "length").options
    assert sorted(options) == sorted([gold, near])
    [options] = page["offered"](drawn, "frequency").options
    assert sorted(options) == sorted([gold, far])  # two facts have either
