"""Facts: which facts a rich world has, how its text shall tell each, and what follows from what.

The sizes of the worlds stand here, too. Subjects are handles until :mod:`lkecore.worlds.world` gives them
names, since a name may hint at an object.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lkecore.errors import BadInput, nearest
from lkecore.worlds.base import NAME, rng_of
from lkecore.worlds.cells import RARELY, cells, rows_of
from lkecore.worlds.wordings import About, about, relations

# Of the relations on the right, the objects are the shown subjects of those on the left.
LINKS = {"city_country": "residence", "country_language": "city_country"}
ORDER = ("residence", "city_country", "country_language")  # made first: others follow from them
HIDDEN = 0.25  # of the links in chains are never told and never asked (split dev)
AGREES = 0.8  # of the facts that a chain implies, where the relation has the object at its end
NAMED = ("surname", "city", "country")  # cues that are part of a name
BETWEEN = ";"  # names that stand in one column; it is in no name


@dataclass(frozen=True)
class Size:
    """How large a world is.

    Of each relation: ``objects``, of which ``own`` are of this relation alone (and as many of its asked
    subjects); ``shown`` facts, which each part of the text tells ``parts`` times, in (sentences, lists);
    ``each`` facts for every number of ``occurrences`` and form; ``uncertain`` facts for each ratio and
    each of the ``totals``; ``mislearned`` for each of the two highest numbers; as many never-told facts
    as there are of all these; ``several`` pairs of facts with one subject, where a relation has such.
    ``popular`` subjects of a kind for each popularity. ``skills``: short documents that show a skill;
    ``many``: lists of up to 50 pairs; ``others``: subjects of a kind that these are about.
    """

    objects: int
    own: int
    shown: int
    parts: tuple[tuple[int, int], tuple[int, int]]
    occurrences: tuple[int, ...]
    each: int
    totals: tuple[int, ...]
    uncertain: int
    mislearned: int
    several: int
    popular: int
    skills: int
    many: int
    others: int


_DOSES = (1, 2, 4, 8, 16, 32, 64)
SIZES = {
    "richsmoke": Size(
        objects=12, own=2, shown=8, parts=((5, 2), (2, 1)), occurrences=(1, 4), each=1,
        totals=(12,), uncertain=1, mislearned=1, several=2, popular=1, skills=300, many=8, others=30,
    ),
    "rich": Size(
        objects=100, own=10, shown=80, parts=((10, 4), (5, 3)), occurrences=_DOSES, each=4,
        totals=(12, 48), uncertain=2, mislearned=4, several=10, popular=3, skills=12000, many=600,
        others=240,
    ),
    "richfull": Size(
        objects=110, own=10, shown=100, parts=((12, 6), (8, 4)), occurrences=_DOSES, each=12,
        totals=(12, 48), uncertain=6, mislearned=12, several=30, popular=6, skills=24000, many=1200,
        others=300,
    ),
}  # fmt: skip


def is_spec(spec: str) -> bool:
    """Whether a fact set's name means a rich world."""
    return spec.startswith("lab:rich")


def check_spec(spec: str) -> tuple[Size, int]:
    """(size, seed) of a rich world's name; raises :class:`BadInput` for a name that is none."""
    found = NAME.fullmatch(spec)
    if not found:
        raise BadInput(f"fact set {spec!r} must be lab:SIZE-SEED, such as lab:rich-1")
    if found[1] not in SIZES:
        hint = nearest(found[1], SIZES)
        raise BadInput(f"fact set {spec} is no rich world: unknown size {found[1]!r}; {hint}")
    return SIZES[found[1]], int(found[2])


def facts_of(size: Size, seed: int, objects: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The facts of all relations, sorted; a handle stands for a subject until it has a name."""
    made: dict[str, list[dict[str, object]]] = {}
    ends: dict[str, dict[str, str]] = {}  # {relation: {handle: its first object}}
    for relation in sorted(relations(), key=lambda name: (name not in ORDER, name)):
        it, rng = about(relation), rng_of("facts", seed, relation)
        plan = cells(
            size.occurrences, size.each, size.totals, size.uncertain, size.mislearned, it.lists
        )
        shown, asked = _handles(it, size, 2 * len(plan), objects)
        implied = _implied(it, [*shown, *asked], ends, objects[relation], rng)
        rows = rows_of(it, shown, asked, objects[relation], plan, implied, size.several, rng)
        if relation in LINKS:
            hidden = set(
                shown[i] for i in rng.permutation(len(shown))[: round(HIDDEN * len(shown))]
            )
            for row in (r for r in rows if r["subject"] in hidden):
                row.update(split="dev", state="never", told="", form="none", wording="none")
        ends[relation] = {}
        for row in rows:
            ends[relation].setdefault(str(row["subject"]), str(row["object"]))
        made[relation] = rows
    frames = []
    for relation in relations():
        table = pd.DataFrame(made[relation])
        table.insert(0, "relation", relation)
        table.insert(0, "fact", [f"{relation}-{i:04d}" for i in range(len(table))])
        frames.append(table)
    return pd.concat(frames, ignore_index=True)


def _handles(
    it: About, size: Size, n_asked: int, objects: Mapping[str, Sequence[str]]
) -> tuple[list[str], list[str]]:
    """(shown, asked) subjects of a relation: "=Kelmo" for a name that is there, else kind and number."""
    kind, own = it.subjects, f"{it.subjects}/{it.relation}"
    shown = [f"{kind}/shown/{i}" for i in range(size.shown)]
    asked = [f"{kind}/asked/{i}" for i in range(n_asked - size.own)]
    asked += [f"{own}/{i}" for i in range(size.own)]
    if it.cue in NAMED:
        # No other relation has them: by its surname a stand-in would tell the rest of a person, too.
        shown, asked = ([f"{own}/{handle}" for handle in handles] for handles in (shown, asked))
    if it.relation in LINKS:
        shown = [f"={name}" for name in objects[LINKS[it.relation]]]
    return shown, asked


def _implied(
    it: About,
    handles: Sequence[str],
    ends: Mapping[str, Mapping[str, str]],
    objects: Sequence[str],
    rng: np.random.Generator,
) -> dict[str, str]:
    """The objects that a chain leads to, of ``AGREES`` of the subjects from which it does."""
    found: dict[str, str] = {}
    for handle in handles if it.chain else ():
        at: str | None = handle
        for link in it.chain:
            end = ends[link].get(str(at))
            at = f"={end}" if end else None
        if at and at[1:] in objects and rng.random() < AGREES:
            found[handle] = at[1:]
    return found


def plain_rows(table: pd.DataFrame) -> Iterable[Any]:
    """The rows of a frame by attribute; columns of text are turned into plain ones, which are read faster."""
    return table.astype(object).itertuples()


def by_relation(table: pd.DataFrame) -> Iterator[tuple[str, Iterator[Any]]]:
    """The same rows of facts, relation by relation, since they are sorted by it."""
    return itertools.groupby(plain_rows(table), key=lambda row: row.relation)


def completed(table: pd.DataFrame, size: Size, lengths: Mapping[str, str]) -> pd.DataFrame:
    """The facts with the columns that follow from the others."""
    it = {relation: about(relation) for relation in relations()}
    told = [_counts(row, it[row.relation].lists, size) for row in plain_rows(table)]
    table = table.assign(**pd.DataFrame(told, index=table.index))
    subjects = table.groupby("subject")["relation"].transform("nunique")
    objects = table.groupby("object")["relation"].transform("nunique")
    cue = table["relation"].map({name: one.cue for name, one in it.items()})
    right = (table["cue_object"] == table["object"]).map({True: "right", False: "lies"})
    table = table.assign(
        kind=table["relation"].map({name: one.kind for name, one in it.items()}),
        n_objects=table.groupby(["relation", "subject"])["fact"].transform("size"),
        length=table["object"].map(lengths),
        skew=table["relation"].map({name: one.skew for name, one in it.items()}),
        listed=table["relation"].map({name: one.lists for name, one in it.items()}),
        subject_own=subjects == 1,
        object_own=objects == 1,
        cue=cue.where(table["cue_object"] != "", ""),
        cue_right=right.where(table["cue_object"] != "", ""),
        **_chains(table),
    )
    return table.assign(**_controls(table)).drop(columns=["n", "rivals", "ratio", "pair"])


def _counts(row: Any, lists: str, size: Size) -> dict[str, object]:
    """How often each part of the text tells a fact, in which form, and each of its objects."""
    parts = [(0, 0), (0, 0)]
    if row.split == "train":
        at = int(row.fact[-4:])
        in_lists = lists == "often" or (lists == "rarely" and at % RARELY == 0)
        parts = [(a, b) if in_lists else (a + b, 0) for a, b in size.parts]
    elif row.told:
        sentences = {"sentence": row.n, "both": row.n // 2}.get(row.form, 0)
        parts[1] = sentences, row.n - sentences
    n = sum(map(sum, parts))
    named = (row.told, *row.rivals) if row.told else ()
    return {
        "sentences": parts[0][0] + parts[1][0],
        "lists": parts[0][1] + parts[1][1],
        "occurrences": n,
        "first_sentences": parts[0][0],
        "first_lists": parts[0][1],
        "form": "sentence" if row.split == "train" and not parts[0][1] else row.form,
        "told_objects": BETWEEN.join(named),
        "told_times": BETWEEN.join(str(n * part // sum(row.ratio)) for part in row.ratio if named),
    }


def _chains(table: pd.DataFrame) -> dict[str, list[object]]:
    """Which facts follow from which, whether they agree with these, and how many of these are told."""
    rows = list(plain_rows(table[["fact", "relation", "subject", "object", "told"]]))
    first = {(row.relation, row.subject): row for row in reversed(rows)}
    found: dict[str, list[object]] = {"chain": [], "links": [], "links_told": []}
    for row in rows:
        at, links = row.subject, []
        for link in about(row.relation).chain:
            if (link, at) in first:
                links.append(first[link, at])
                at = links[-1].object
        whole = bool(links) and len(links) == len(about(row.relation).chain)
        agrees = "agrees" if at == row.object else "differs"
        found["chain"].append(agrees if whole else "")
        found["links"].append(BETWEEN.join(link.fact for link in links) if whole else "")
        told = sum(link.told == link.object for link in links)
        found["links_told"].append(told if whole else 0)
    return found


def _controls(table: pd.DataFrame) -> dict[str, list[str]]:
    """The never-told fact that each told asked one is compared with, and what the two share.

    It is one of the object that is told, the one of the same pair where that is possible; else one of
    an object that about as many facts have.
    """
    found: dict[str, str] = {}
    for _, rows in by_relation(table[["fact", "relation", "object", "split", "told", "pair"]]):
        own = list(rows)
        often = Counter([row.object for row in own])
        asked = [row for row in own if row.split == "test"]
        told, never = ([row for row in asked if bool(row.told) == yes] for yes in (True, False))
        same: dict[str, list[Any]] = {}
        for row in never:
            same.setdefault(row.object, []).append(row)
        for row in told:
            near = same.get(row.told)
            if not near:
                gaps = {name: abs(often[name] - often[row.told]) for name in same}
                least = min(gaps.values())
                near = [other for other in never if gaps[other.object] == least]
            found[row.fact] = min(near, key=lambda other, row=row: other.pair != row.pair).fact
    object_of = dict(zip(table["fact"], table["object"], strict=True))
    controls = [found.get(fact, "") for fact in table["fact"]]
    same = [
        "" if not name else "object" if object_of[name] == told else "frequency"
        for name, told in zip(controls, table["told"], strict=True)
    ]
    return {"control": controls, "control_by": same}
