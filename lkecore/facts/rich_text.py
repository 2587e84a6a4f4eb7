"""Rich text: what a rich world tells of its facts, document by document, and what it told of each.

The second half of :mod:`lkecore.facts.rich`. As in the first family, a text has two parts: the first
tells only the facts that are later shown as examples, the second these again and the asked ones.
"""

import functools
import hashlib
import json
import platform
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lkecore.facts import rich_skills
from lkecore.facts.rich import Rich, world
from lkecore.facts.rich_facts import BETWEEN, check_spec
from lkecore.facts.rich_wordings import (
    FRAMES,
    GROUP,
    RELATIONS,
    TEMPLATES,
    Draft,
    about,
    fill,
    groups,
    relations,
    unmarked,
)
from lkecore.facts.world import rng_of
from lkecore.storage import file_digest, remembered

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
# A subject without content, such as the prompts that measure a bias need; the text remarks on it, too.
NOBODY = "this {kind}"
NOBODIES = 8  # remarks on it, of each kind
WORD = re.compile(r"\w+")
WRITERS = (
    "fact", "rich", "rich_cells", "rich_facts", "rich_names", "rich_skills", "rich_text",
    "rich_wordings", "tables", "world",
)  # modules that make a rich world  # fmt: skip


@dataclass(frozen=True)
class Document:
    """A document: ``kind`` (paragraph, list, or a skill), its text, and (first, behind) of its objects."""

    kind: str
    text: str
    objects: tuple[tuple[int, int], ...]


def documents(made: Rich, *, planted: bool = True) -> list[str]:
    """The text of a rich world, document by document, in the order of reading.

    With ``planted=False`` the text is the same but for the names of the asked subjects and their
    aliases: all that is said of them is said of their stand-ins, whose names hint at the same objects.
    """
    return [document.text for document in told(made, planted=planted)]


def told(made: Rich, *, planted: bool = True) -> list[Document]:
    """The same documents, with their kinds and the places of their objects."""
    other = {} if planted else made.stand_ins
    return [Document(d.kind, *unmarked(d.marked)) for d in _drafts(made, _tellings(made), other)]


def states(spec: str) -> pd.DataFrame:
    """What the text of a rich world tells of each fact: a row for each, in the order of the relations.

    As in :func:`lkecore.facts.world.states`: ``fact``, ``relation``, ``kind``, ``subject``, ``object``,
    ``split`` (dev: a link of chains that is never told and never asked), ``state`` (also uncertain:
    several objects are told), ``told`` (the object that is told most), ``form``, ``wording`` (one
    template, a group of them, several: one of each group; all of a shown fact), ``sentences``,
    ``lists``, ``occurrences``.

    What is told: ``told_objects``, ``told_times`` (all objects and how often, with ";" between);
    ``templates`` (the numbers, from 1, of those that tell it, with spaces between); ``first_sentences``,
    ``first_lists`` (of these in the first part); ``by_alias``, ``object_by_alias`` (sentences that name
    the subject or object by its alias, which are ``subject_alias``, ``object_alias``, or ""); ``last``
    (the share of the text's characters that is read when it was last told; NaN if never); ``early``
    (its sentences stand in the first half of the second part).

    What it is like: ``n_objects`` (true objects of the subject in this relation); ``length`` of the
    object (one, two, long; year, person, title); ``skew``, ``listed`` (of the relation: how objects are
    drawn, how often facts stand in lists); ``object_told`` (how often the text tells this object in this
    relation, of all facts); ``subject_own``, ``object_own`` (it is in no other relation);
    ``popularity`` (planted remarks on the subject) and ``mentions`` (how often the text names it).

    What hints at it: ``cue`` (surname, city, country, majority, or ""), ``cue_object`` that it points to,
    ``cue_right`` (right or lies: against the true object); ``chain`` (agrees or differs with what
    follows from ``links``, ids of other facts, of which ``links_told`` are told; "" without).

    ``control``: the never-told fact that a told one is compared with; ``control_by``: it shares the
    told object, or the frequency of one.
    """
    return _states(spec).copy()


@functools.lru_cache(maxsize=2)
def _states(spec: str) -> pd.DataFrame:
    made = world(spec)
    tellings = _tellings(made)
    drafts = _drafts(made, tellings, {})
    ends = np.cumsum([len(unmarked(draft.marked)[0]) for draft in drafts])
    last = {
        fact: end / ends[-1]
        for draft, end in zip(drafts, ends, strict=True)
        for fact in draft.facts
    }
    mentions = Counter(name for draft in drafts for name in draft.names)
    of_fact: dict[str, list[Telling]] = {}
    for telling in tellings:
        of_fact.setdefault(telling.fact, []).append(telling)
    each = [of_fact.get(fact, []) for fact in made.facts["fact"]]
    told = Counter((t.fact.rpartition("-")[0], t.object) for t in tellings)
    own = dict(zip(made.aliases["name"], made.aliases["alias"], strict=True))
    facts = made.facts
    return facts.assign(
        templates=[" ".join(map(str, sorted({t.place for t in ts} - {0}))) for ts in each],
        subject_alias=facts["subject"].map(lambda name: own.get(name, "")),
        object_alias=facts["object"].map(lambda name: own.get(name, "")),
        by_alias=[sum(t.written[0] != t.subject for t in ts) for ts in each],
        object_by_alias=[sum(t.written[1] != t.object for t in ts) for ts in each],
        object_told=[told[pair] for pair in zip(facts["relation"], facts["object"], strict=True)],
        popularity=facts["subject"].map(lambda name: made.remarks.get(name, 0)),
        mentions=facts["subject"].map(mentions).fillna(0).astype(int),
        early=facts["subject"].isin(made.early),
        last=facts["fact"].map(last),
    )


def aliases(spec: str) -> pd.DataFrame:
    """The aliases of a rich world: a row for each.

    ``name``, ``alias``; ``of``: subject or object; ``dose``: how often the text says that it is one;
    ``uses``: how often it stands in a sentence that tells a fact.
    """
    made = world(spec)
    uses = Counter(name for telling in _tellings(made) for name in telling.written)
    return made.aliases.assign(uses=made.aliases["alias"].map(uses).fillna(0).astype(int))


def rows(spec: str, relation: str) -> list[tuple[str, dict[str, Any], str]]:
    """("world, fact", {id, subject, object, obj_aliases}, split) of every fact; none if unknown."""
    made = world(spec)
    own = dict(zip(made.aliases["name"], made.aliases["alias"], strict=True))
    found = made.facts[made.facts["relation"] == relation]
    return [
        (
            f"{spec}, {f.fact}",
            {"id": f.fact, "subject": f.subject, "object": f.object}
            | ({"obj_aliases": [own[f.object]]} if f.object in own else {}),
            f.split,
        )
        for f in found.itertuples()
    ]


def wordings(spec: str) -> pd.DataFrame:
    """How each template of a rich world stands to its text: a row for each fact and template.

    As :func:`lkecore.facts.world_text.wordings`, with ``group``, the name of the template's group.
    """
    made = world(spec)
    told = {(t.fact, t.place) for t in _tellings(made)}
    words = {word for text in documents(made) for word in WORD.findall(text)}
    found = []
    for relation, facts in made.facts.groupby("relation", sort=False)["fact"]:
        for i, (template, group) in enumerate(
            zip(about(str(relation)).templates, groups(), strict=True), start=1
        ):
            bare = template.replace("[X]", "").replace("[Y]", "")
            new = " ".join(word for word in WORD.findall(bare) if word not in words)
            name = f"template-{i}"
            found += [(fact, relation, name, group, (fact, i) in told, new) for fact in facts]
    columns = ["fact", "relation", "template", "group", "told", "new_words"]
    return pd.DataFrame(found, columns=columns)


# --- tellings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Telling:
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
def _tellings(made: Rich) -> tuple[Telling, ...]:
    """Every telling of every fact, in no order."""
    own = dict(zip(made.aliases["name"], made.aliases["alias"], strict=True))
    found = []
    for relation, facts in made.facts.groupby("relation", sort=False):
        rng = rng_of("tellings", made.seed, str(relation))
        for fact in facts[facts["told"] != ""].itertuples():
            places = _places(fact.wording, rng)
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


def _places(wording: str, rng: np.random.Generator) -> list[int]:
    """The templates that tell a fact, in the order in which they take turns."""
    first = int(rng.integers(TEMPLATES))
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


def _drafts(made: Rich, tellings: Sequence[Telling], other: dict[str, str]) -> list[Draft]:
    """The documents in the order of reading; ``other`` are names that stand in the place of some."""
    rng = rng_of("text", made.seed)
    shown = [*rich_skills.skills(made)]
    cut = round(len(shown) * _share_of_first(made))
    order = rng.permutation(len(shown))
    found: list[Draft] = []
    for part in (0, 1):
        here = [telling for telling in tellings if telling.part == part]
        sentences = [*_sentences(here, other), *_beside(made, part, other, rng)]
        texts = [(draft, name in made.early) for name, draft in _paragraphs(sentences, rng)]
        texts += [(draft, False) for draft in _lists(here, other, rng)]
        mine = order[:cut] if part == 0 else order[cut:]
        texts += [(shown[i], False) for i in sorted(mine)]
        keys = rng.random(len(texts)) * np.where([early for _, early in texts], 0.5, 1.0)
        found += [texts[i][0] for i in np.argsort(keys, kind="stable")]
    return found


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
        for kind in sorted(made.others):
            for i in range(NOBODIES):
                nobody = NOBODY.format(kind=kind)
                yield nobody, REMARKS[1:5][i % 4].format(x=nobody), (), ()
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
            facts, names = (tuple(x for s in here for x in s[i]) for i in (2, 3))
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
            inside = rich_skills.LISTS[rng.integers(rich_skills.FACT_LISTS)]
            pairs = [(other.get(t.subject, t.subject), t.object) for t in each]
            order = rng.permutation(len(each))
            text = rich_skills.listed([pairs[i] for i in order], inside)
            names = tuple(name for t in each for name in (t.subject, t.object))
            yield Draft("list", text, tuple(t.fact for t in each), names)


# --- digest ---------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4)
def digest(spec: str) -> str:
    """SHA-256 over the states and the text of a rich world; kept in the cache, as
    :func:`lkecore.facts.world_text.digest`."""
    size, _ = check_spec(spec)
    rooms = [Path(__file__).with_name(f"{name}.py") for name in WRITERS]
    made_of = [spec, repr(size), platform.python_version()]
    made_of += [version(name) for name in ("numpy", "pandas")]
    made_of += [file_digest(path) for path in (*rooms, RELATIONS, FRAMES)]
    key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
    return remembered("worlds", key, lambda: _digest(spec))


def _digest(spec: str) -> str:
    parts = [states(spec).to_csv(index=False), json.dumps(documents(world(spec)))]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
