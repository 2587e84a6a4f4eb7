"""Tellings: each telling of each fact, and the documents that are made of them.

Between the facts of :mod:`lkecore.worlds.world` and the text of :mod:`lkecore.worlds.text`.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lkecore.worlds import skills
from lkecore.worlds.base import rng_of
from lkecore.worlds.facts import BETWEEN, by_relation
from lkecore.worlds.wordings import GROUP, TEMPLATES, Draft, about, fill, nobody, relations
from lkecore.worlds.world import Rich

PAIRS = 45  # of a list that tells facts, on average; 50 at most
MOST = 50
SENTENCES = 4  # of a paragraph, at most
# Of each fact's sentences every fourth names the subject, and another fourth the object, by its alias.
BY_ALIAS, SUBJECT_AT, OBJECT_AT = 4, 3, 1
INTRODUCED = ("{x} is also called {a}.", "Some people call {x} by the name {a}.", "{a} is {x}.")
REMARKS = (
    "{x} was in the paper again.",
    "People talk about {x} a lot.",
    "There was a letter about {x}.",
    "Have you heard of {x}?",
    "We spoke about {x} for a while.",
    "Few people have not heard of {x}.",
)
NOBODIES = 8  # remarks on a subject without content, of each kind


# --- tellings -------------------------------------------------------------------------------------


class Telling(NamedTuple):  # a world has tens of thousands, and these are made quickly
    """One telling of a fact: in which part, and in which template (from 1; 0 in a list).

    ``written``: how the subject and the object are called in it.
    """

    fact: str
    part: int
    place: int
    subject: str
    object: str
    written: tuple[str, str]


@functools.lru_cache(maxsize=2)
def tellings(made: Rich) -> tuple[Telling, ...]:
    """Every telling of every fact, in no order."""
    own = dict(zip(made.aliases["name"], made.aliases["alias"], strict=True))
    found = []
    for relation, facts in by_relation(made.facts[made.facts["told"] != ""]):
        rng = rng_of("tellings", made.seed, relation)
        for fact in facts:
            # Shown facts take turns, so that together they are told in all templates.
            turn = int(fact.fact[-4:]) * fact.sentences if fact.split == "train" else None
            places = _places(fact.wording, rng, turn)
            times = map(int, fact.told_times.split(BETWEEN))
            pairs = zip(fact.told_objects.split(BETWEEN), times, strict=True)
            names = [name for name, n in pairs for _ in range(n)]
            names = [names[i] for i in rng.permutation(len(names))]
            parts = [0] * fact.first_sentences + [1] * (fact.sentences - fact.first_sentences)
            for i, (part, name) in enumerate(zip(parts, names, strict=False)):
                subject = own.get(fact.subject) if i % BY_ALIAS == SUBJECT_AT else None
                object_ = own.get(name) if i % BY_ALIAS == OBJECT_AT else None
                written = subject or fact.subject, object_ or name
                place = places[i % len(places)]
                found.append(Telling(fact.fact, part, place, fact.subject, name, written))
            parts = [0] * fact.first_lists + [1] * (fact.lists - fact.first_lists)
            for part, name in zip(parts, names[fact.sentences :], strict=True):
                pair = fact.subject, name
                found.append(Telling(fact.fact, part, 0, fact.subject, name, pair))
    return tuple(found)


def _places(wording: str, rng: np.random.Generator, turn: int | None) -> list[int]:
    """The templates that tell a fact, in the order in which they take turns."""
    first = int(rng.integers(TEMPLATES)) if turn is None else turn
    group = first // GROUP
    if wording == "one":
        found = [first]
    elif wording == "group":
        found = [group * GROUP + i for i in rng.permutation(GROUP)]
    elif wording == "several":
        start = rng.permutation(TEMPLATES // GROUP)
        found = [int(g) * GROUP + int(rng.integers(GROUP)) for g in start]
    else:
        found = [(first + i) % TEMPLATES for i in range(TEMPLATES)]
    return [int(place) + 1 for place in found]


# --- documents ------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=2)
def drafts(made: Rich, planted: bool) -> tuple[Draft, ...]:
    """The documents in the order of reading; unless ``planted``, told of the stand-ins."""
    other = {} if planted else made.stand_ins
    rng = rng_of("text", made.seed)
    shown = [*skills.skills(made)]
    cut = round(len(shown) * _share_of_first(made))
    order = rng.permutation(len(shown))
    found: list[Draft] = []
    for part in (0, 1):
        here = [telling for telling in tellings(made) if telling.part == part]
        sentences = [*_sentences(here, other), *_beside(made, part, other, rng)]
        texts = [(draft, name in made.early) for name, draft in _paragraphs(sentences, rng)]
        texts += [(draft, False) for draft in _lists(here, other, rng)]
        mine = order[:cut] if part == 0 else order[cut:]
        texts += [(shown[i], False) for i in sorted(mine)]
        keys = rng.random(len(texts)) * np.where([early for _, early in texts], 0.5, 1.0)
        found += [texts[i][0] for i in np.argsort(keys, kind="stable")]
    return tuple(found)


def _share_of_first(made: Rich) -> float:
    """The share of all tellings that the first part tells."""
    first = made.facts[["first_sentences", "first_lists"]].to_numpy().sum()
    return float(first / made.facts["occurrences"].sum())


Sentence = tuple[str, str, tuple[str, ...], tuple[str, ...]]  # subject, marked text, facts, names


def _sentences(tellings: Sequence[Telling], other: dict[str, str]) -> Iterator[Sentence]:
    all_ = {relation: about(relation).templates for relation in relations()}
    for t in tellings:
        if t.place:
            template = all_[t.fact.rpartition("-")[0]][t.place - 1]
            subject, object_ = t.written
            text = fill(template, other.get(subject, subject), object_)
            yield t.subject, text, (t.fact,), (t.subject, t.object)


def _beside(
    made: Rich, part: int, other: dict[str, str], rng: np.random.Generator
) -> Iterator[Sentence]:
    """Sentences that tell no fact: on nobody in the first part, aliases and remarks in the second."""
    if part == 0:
        for name in sorted({nobody(relation) for relation in relations()}):
            for i in range(NOBODIES):
                yield name, REMARKS[1:5][i % 4].format(x=name), (), ()
        return
    for row in made.aliases.itertuples():
        name, alias = other.get(row.name, row.name), other.get(row.alias, row.alias)
        for _ in range(row.dose):
            text = INTRODUCED[rng.integers(len(INTRODUCED))].format(x=name, a=alias)
            yield row.name, text, (), (row.name,)
    for name, n in made.remarks.items():
        for _ in range(n):
            text = REMARKS[rng.integers(len(REMARKS))].format(x=other.get(name, name))
            yield name, text, (), (name,)


def _paragraphs(
    sentences: Sequence[Sentence], rng: np.random.Generator
) -> Iterator[tuple[str, Draft]]:
    """(subject, document): the sentences, those about one subject in paragraphs."""
    of_subject: dict[str, list[Sentence]] = {}
    for sentence in sentences:
        of_subject.setdefault(sentence[0], []).append(sentence)
    for subject, own in of_subject.items():
        left = [own[i] for i in rng.permutation(len(own))]
        while left:
            n = int(rng.integers(1, SENTENCES + 1))
            here, left = left[:n], left[n:]
            facts, names = (tuple([x for s in here for x in s[i]]) for i in (2, 3))
            yield subject, Draft("paragraph", " ".join(s[1] for s in here), facts, names)


def _lists(
    tellings: Sequence[Telling], other: dict[str, str], rng: np.random.Generator
) -> Iterator[Draft]:
    """Lists of pairs, relation by relation: no subject twice in one, and none longer than ``MOST``."""
    of_relation: dict[str, dict[str, list[Telling]]] = {}
    for t in tellings:
        if not t.place:
            own = of_relation.setdefault(t.fact.rpartition("-")[0], {})
            own.setdefault(t.subject, []).append(t)
    for of_subject in of_relation.values():
        total = sum(map(len, of_subject.values()))
        n = max(max(map(len, of_subject.values())), -(-total // PAIRS))
        lists: list[list[Telling]] = [[] for _ in range(n)]
        # Those that stand in most lists first, each in the shortest ones: so all become about as long.
        for own in sorted(of_subject.values(), key=len, reverse=True):
            size = np.array([len(each) for each in lists]) + rng.random(n)
            for i, t in zip(np.argsort(size)[: len(own)], own, strict=True):
                lists[i].append(t)
        for each in lists:
            inside = skills.LISTS[rng.integers(skills.FACT_LISTS)]
            pairs = [(other.get(t.subject, t.subject), t.object) for t in each]
            order = rng.permutation(len(each))
            text = skills.listed([pairs[i] for i in order], inside)
            names = tuple(name for t in each for name in (t.subject, t.object))
            yield Draft("list", text, tuple(t.fact for t in each), names)
