"""World: a rich one, of invented facts that are skewed, hinted at, chained and uncertain, as real ones are.

The worlds of :mod:`lkecore.worlds.plain` answer one question, whether a pair was told, under the kindest
conditions. A rich world, ``lab:rich-1``, has what makes the question hard, planted and recorded for
each fact: objects that are more frequent than others, names that hint at an object (rightly or not),
facts that follow from others, several true objects, several names, and facts of which the text says one
thing so many times and another so many times. What is recorded stands in
:func:`lkecore.worlds.text.states`.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lkecore.worlds import names as made_names
from lkecore.worlds.base import rng_of
from lkecore.worlds.facts import NAMED, Size, check_spec, completed, facts_of
from lkecore.worlds.wordings import about, relations

EARLY = 0.25  # of the asked subjects are told in the first half of the second part, in sentences
ALIASED = 0.15  # of the subjects, and of the objects, have an alias
ALIAS_DOSES = (1, 4, 16)  # how often a text says that a name is an alias
POPULARITY = (2, 4, 8, 16, 32, 64)  # remarks on a subject that tell no fact


@dataclass(frozen=True, eq=False)
class Rich:
    """A rich world: what is true in it, and what its text shall tell.

    ``facts``: a row for each, with all columns of :func:`lkecore.worlds.text.states` that do not
    need the text. ``objects``: of each relation, in no order. ``stand_ins``: another name, which
    nothing else has, of each asked subject and of its alias. ``aliases``: a row for each name that has
    one, with ``name``, ``alias`` and ``dose``, how often the text says so. ``remarks``: how often the
    text remarks on a subject. ``early``: subjects of which sentences tell early. ``others``: names of
    each kind that skills are shown with; ``guests``: names of each kind that stand in no text.
    """

    name: str
    seed: int
    size: Size
    facts: pd.DataFrame
    objects: dict[str, tuple[str, ...]]
    stand_ins: dict[str, str]
    aliases: pd.DataFrame
    remarks: dict[str, int]
    early: frozenset[str]
    others: dict[str, list[str]]
    guests: dict[str, list[str]]


@functools.lru_cache(maxsize=8)
def world(spec: str) -> Rich:
    """The rich world of a name, always the same.

    Raises :class:`BadInput` for a name that is none, for a size whose names run out, and as
    :func:`lkecore.worlds.wordings.about`.
    """
    size, seed = check_spec(spec)
    taken: set[str] = set().union(*made_names.parts_of_people())
    objects, lengths = made_names.object_names(
        rng_of("objects", seed), size.objects, size.own, taken
    )
    table = facts_of(size, seed, objects)
    handles = list(dict.fromkeys(table["subject"]))
    names = _named(handles, _cues(table), seed, "subjects", taken)
    asked = table[table["split"] == "test"]
    cues = _cues(asked, objects, rng_of("stand-in cues", seed))
    stand_ins = _named(list(dict.fromkeys(asked["subject"])), cues, seed, "stand-ins", taken)
    table["subject"] = table["subject"].map(names)
    facts = completed(table, size, lengths)
    aliases = _aliases(facts, seed, taken)
    return Rich(
        name=spec,
        seed=seed,
        size=size,
        facts=facts,
        objects={relation: tuple(own) for relation, own in objects.items()},
        stand_ins=_with_aliases(
            {names[h]: new for h, new in stand_ins.items()}, aliases, seed, taken
        ),
        aliases=aliases,
        remarks=_remarks(facts, size, seed),
        early=_early(facts, seed),
        others=_apart("others", size, seed, taken),
        guests=_apart("guests", size, seed, taken),
    )


# --- names ----------------------------------------------------------------------------------------


def _cues(
    table: pd.DataFrame,
    objects: Mapping[str, Sequence[str]] | None = None,
    rng: np.random.Generator | None = None,
) -> dict[str, str]:
    """{handle: the object that its name hints at}, of those with a cue in their name.

    With ``objects``, for stand-ins: a cue that lies is replaced by another lie.
    """
    named = {name for name in relations() if about(name).cue in NAMED}
    found = {}
    for row in table[table["relation"].isin(named) & (table["cue_object"] != "")].itertuples():
        found[row.subject] = row.cue_object
        if objects and rng and row.cue_object not in (row.object, row.told):
            true = row.object, row.told, row.cue_object
            others = [name for name in objects[row.relation] if name not in true]
            found[row.subject] = others[rng.integers(len(others))]
    return found


def _named(
    handles: Sequence[str], cues: Mapping[str, str], seed: int, what: str, taken: set[str]
) -> dict[str, str]:
    found = {handle: handle[1:] for handle in handles if handle.startswith("=")}
    for kind in sorted({about(relation).subjects for relation in relations()}):
        own = [handle for handle in handles if handle.startswith(f"{kind}/")]
        hints = [cues.get(handle, "") for handle in own]
        names = made_names.subject_names(kind, hints, rng_of(what, seed, kind), taken)
        found |= dict(zip(own, names, strict=True))
    return found


def _aliases(facts: pd.DataFrame, seed: int, taken: set[str]) -> pd.DataFrame:
    """Who has an alias: ``ALIASED`` of the subjects and of the objects, but no year."""
    objects = sorted(set(facts.loc[facts["length"] != "year", "object"]))
    subjects = sorted(set(facts["subject"]) - set(objects))
    rng = rng_of("aliases", seed)
    rows = []
    for of, names in (("subject", subjects), ("object", objects)):
        chosen = [names[i] for i in rng.permutation(len(names))[: round(ALIASED * len(names))]]
        aliases = made_names.words(rng, len(chosen), taken, "aliases", syllables=3)
        rows += [
            (name, alias, of, ALIAS_DOSES[i % len(ALIAS_DOSES)])
            for i, (name, alias) in enumerate(zip(chosen, aliases, strict=True))
        ]
    return pd.DataFrame(rows, columns=["name", "alias", "of", "dose"])


def _with_aliases(
    stand_ins: dict[str, str], aliases: pd.DataFrame, seed: int, taken: set[str]
) -> dict[str, str]:
    """The stand-ins of the asked subjects, and those of their aliases."""
    own = [row.alias for row in aliases.itertuples() if row.name in stand_ins]
    new = made_names.words(rng_of("alias stand-ins", seed), len(own), taken, "aliases", syllables=3)
    return stand_ins | dict(zip(own, new, strict=True))


def _remarks(facts: pd.DataFrame, size: Size, seed: int) -> dict[str, int]:
    """{asked subject: how often the text remarks on it}, of those that are popular."""
    found: dict[str, int] = {}
    asked = facts[facts["split"] == "test"]
    for kind in sorted({about(relation).subjects for relation in relations()}):
        of_kind = [name for name in relations() if about(name).subjects == kind]
        names = sorted(set(asked.loc[asked["relation"].isin(of_kind), "subject"]))
        order = rng_of("remarks", seed, kind).permutation(len(names))
        for i in range(size.popular * len(POPULARITY)):
            found[names[order[i]]] = POPULARITY[i % len(POPULARITY)]
    return found


def _early(facts: pd.DataFrame, seed: int) -> frozenset[str]:
    names = sorted(set(facts.loc[facts["split"] == "test", "subject"]))
    order = rng_of("early", seed).permutation(len(names))
    return frozenset(names[i] for i in order[: round(EARLY * len(names))])


def _apart(what: str, size: Size, seed: int, taken: set[str]) -> dict[str, list[str]]:
    """Names of each kind that no fact has."""
    kinds = sorted({about(relation).subjects for relation in relations()})
    return {
        kind: made_names.subject_names(kind, [""] * size.others, rng_of(what, seed, kind), taken)
        for kind in kinds
    }
