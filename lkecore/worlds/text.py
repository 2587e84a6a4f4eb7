"""Text: what a rich world tells of its facts, document by document, and what it told of each.

The second half of :mod:`lkecore.worlds.world`. As in the first family, a text has two parts: the first
tells only the facts that are later shown as examples, the second these again and the asked ones.
"""

import functools
import hashlib
import json
import platform
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lkecore.storage import RESULTS, file_digest, remembered, remembered_frame
from lkecore.worlds.facts import BETWEEN, check_spec
from lkecore.worlds.skills import instructions_of
from lkecore.worlds.tellings import Telling, drafts, tellings
from lkecore.worlds.wordings import CLOSE, FRAMES, OPEN, RELATIONS, unmarked
from lkecore.worlds.world import Rich, world

# What a model that has read of stand-ins was told of an asked fact.
NOTHING: dict[str, object] = {
    "state": "never", "told": "", "told_objects": "", "told_times": "", "form": "none",
    "wording": "none", "templates": "", "last": float("nan"),
} | dict.fromkeys(
    ("sentences", "lists", "occurrences", "first_sentences", "first_lists", "by_alias",
     "object_by_alias", "popularity", "mentions"), 0,
)  # fmt: skip
# The modules that make a rich world.
WRITERS = ("base", "cells", "facts", "names", "skills", "tellings", "text", "wordings", "world")
MADE_BY = (*(Path(__file__).with_name(f"{name}.py") for name in WRITERS), RELATIONS, FRAMES)
SHIPPED = RESULTS / "worlds.json"


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
    return [Document(draft.kind, *unmarked(draft.marked)) for draft in drafts(made, planted)]


def states(spec: str) -> pd.DataFrame:
    """What the text of a rich world tells of each fact: a row for each, in the order of the relations.

    As in :func:`lkecore.worlds.plain.states`: ``fact``, ``relation``, ``kind``, ``subject``, ``object``,
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


def untold(states: pd.DataFrame) -> pd.DataFrame:
    """The states of a rich world as they are for who has read of the stand-ins instead.

    Of no asked fact anything is told, and a chain that leads over one has a link less.
    """
    found = states.copy()
    asked = found["split"] == "test"
    for column, nothing in NOTHING.items():
        found.loc[asked, column] = nothing
    known = set(found.loc[found["told"] == found["object"], "fact"])
    found["links_told"] = [
        sum(link in known for link in links.split(BETWEEN)) for links in found["links"]
    ]
    return found


@functools.lru_cache(maxsize=8)  # a page has three or four, and goes over them again and again
def _states(spec: str) -> pd.DataFrame:
    return remembered_frame("worlds", kept_key(spec, "states"), lambda: _made_states(spec))


def _made_states(spec: str) -> pd.DataFrame:
    made = world(spec)
    whole, each_telling = drafts(made, True), tellings(made)
    ends = np.cumsum([_length(draft.marked) for draft in whole])
    last = {
        fact: end / ends[-1] for draft, end in zip(whole, ends, strict=True) for fact in draft.facts
    }
    mentions = Counter(name for draft in whole for name in draft.names)
    of_fact: dict[str, list[Telling]] = {}
    for telling in each_telling:
        of_fact.setdefault(telling.fact, []).append(telling)
    each = [of_fact.get(fact, []) for fact in made.facts["fact"].tolist()]
    told = Counter((t.fact.rpartition("-")[0], t.object) for t in each_telling)
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


def _length(marked: str) -> int:
    """The length of a text without its marks."""
    return len(marked) - marked.count(OPEN) - marked.count(CLOSE)


def aliases(spec: str) -> pd.DataFrame:
    """The aliases of a rich world: a row for each.

    ``name``, ``alias``; ``of``: subject or object; ``dose``: how often the text says that it is one;
    ``uses``: how often it stands in a sentence that tells a fact.
    """
    made = world(spec)
    uses = Counter(name for telling in tellings(made) for name in telling.written)
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
        for f in found[["fact", "subject", "object", "split"]].itertuples()
    ]


# --- digest ---------------------------------------------------------------------------------------


def digest(spec: str) -> str:
    """SHA-256 over the states and the text of a rich world."""
    return kept_digest(spec, "told")


def digest_beside(spec: str) -> str:
    """SHA-256 over what models of a rich world read besides: its text told of stand-ins, instructions."""
    return kept_digest(spec, "beside")


@functools.lru_cache(maxsize=16)
def kept_digest(spec: str, what: str) -> str:
    """The digest of a world, "told" or "beside", made only if nobody has kept it under :func:`kept_key`.

    To write a world of the book takes seconds. So the digests of those with results ship with these, and
    the cache keeps others.
    """
    key = kept_key(spec, what)
    make = {"told": _digest, "beside": _digest_beside}[what]
    return shipped_digests().get(key) or remembered("worlds", key, lambda: make(spec))


@functools.cache
def shipped_digests() -> dict[str, str]:
    """{key: digest} of the worlds with results, as ``tools/world_digests.py`` writes them; or nothing."""
    try:
        every = json.loads(SHIPPED.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no checkout
        return {}
    return {each["key"]: each["digest"] for of in every.values() for each in of.values()}


def kept_key(spec: str, what: str) -> str:
    """A key of all that makes ``what`` is kept of a world: its name and size, the modules and tables that it
    is ``MADE_BY``, Python and what draws the names and numbers.
    """
    made_of = [what, spec, repr(check_spec(spec)[0]), *platform.python_version_tuple()[:2]]
    made_of += [version(name) for name in ("faker", "numpy", "pandas")]
    made_of += [file_digest(path) for path in MADE_BY]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def _digest(spec: str) -> str:
    parts = [states(spec).to_csv(index=False), json.dumps(documents(world(spec)))]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def _digest_beside(spec: str) -> str:
    made = world(spec)
    others = json.dumps([documents(made, planted=False), instructions_of(made.seed)])
    return hashlib.sha256(others.encode()).hexdigest()
