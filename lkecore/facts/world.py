"""World: invented facts, and a text of which we know how often and how it tells each of them.

Nobody can count how often a real model has read a fact. A model of the lab has read one text, and this module
writes it: people, cities, companies and books that do not exist, facts about them, and for every
fact its **state**: how often the text tells it, in sentences, in lists or in both, in one wording or
in several; or never; or wrongly. What an estimator says of the model can then be held against what
the model was told.

A world has a name of size and seed, ``lab:book-1``, and its facts, states and text are a function of
that name. The text has two parts. The first tells only the facts that are later shown as examples:
from it a model learns to read. The second tells the facts that are asked. Without the first part, a
model of this size would spend most of the tellings on learning what a sentence is.
"""

import functools
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lkecore.errors import BadInput, nearest
from lkecore.facts.tables import read
from lkecore.facts.world_names import names_of
from lkecore.storage import DATA

NAME = re.compile(r"lab:([a-z]+)-(0|[1-9][0-9]{0,8})")
RELATIONS = DATA / "lab_relations.tsv"
TEMPLATES = 6  # of each relation
SEEN = 4  # of them stand in the text, the fourth as a question; the others are held out
FORMS = ("sentence", "list", "both")


@dataclass(frozen=True)
class Size:
    """How large a world is, for each relation.

    ``objects``: as many facts are shown (the train split), one for each object; ``shown`` says how
    often the first and the second part of the text tell them, in either form. Of those that are
    asked (the test split), ``each`` for every number of ``occurrences`` and form, ``mislearned``
    for each of the two highest numbers, and ``objects`` that are never told, one for each object.
    """

    objects: int
    shown: tuple[int, int]
    occurrences: tuple[int, ...]
    each: int
    mislearned: int


SIZES = {
    "smoke": Size(objects=20, shown=(8, 4), occurrences=(4, 16), each=2, mislearned=2),
    "book": Size(
        objects=100, shown=(16, 8), occurrences=(1, 2, 4, 8, 16, 32, 64), each=8, mislearned=10
    ),
    "full": Size(
        objects=120, shown=(16, 8), occurrences=(1, 2, 4, 8, 16, 32, 64), each=25, mislearned=30
    ),
}


@dataclass(frozen=True, eq=False)
class World:
    """A world: its ``states`` (see :func:`states`) and its text.

    ``stand_ins`` gives each asked subject another name of its kind, which nothing else has.
    """

    name: str
    seed: int
    states: pd.DataFrame
    stand_ins: dict[str, str]


# --- facts and states -----------------------------------------------------------------------------


def is_spec(spec: str) -> bool:
    """Whether a fact set's name means a world."""
    return spec.startswith("lab:")


def check_spec(spec: str) -> tuple[Size, int]:
    """(size, seed) of a world's name; raises :class:`BadInput` for a name that is none."""
    found = NAME.fullmatch(spec)
    if not found:
        raise BadInput(f"fact set {spec!r} must be lab:SIZE-SEED, such as lab:book-1")
    if found[1] not in SIZES:
        raise BadInput(f"fact set {spec}: unknown size {found[1]!r}; {nearest(found[1], SIZES)}")
    return SIZES[found[1]], int(found[2])


def relations() -> tuple[str, ...]:
    """The names of the relations, sorted; every world has them all."""
    return tuple(_about())


def about(relation: str) -> tuple[str, str, tuple[str, ...]]:
    """(label, kind, templates) of a relation; the first ``SEEN`` templates stand in the text."""
    row = _about()[relation]
    templates = tuple(row[f"template_{i + 1}"] for i in range(TEMPLATES))
    return row["label"], row["kind"], templates


def rows(spec: str, relation: str) -> list[tuple[str, dict[str, str], str]]:
    """("world, fact", {id, subject, object}, split) of every fact of a relation; none if unknown."""
    table = world(spec).states
    found = table[table["relation"] == relation]
    return [
        (f"{spec}, {f.fact}", {"id": f.fact, "subject": f.subject, "object": f.object}, f.split)
        for f in found[["fact", "subject", "object", "split"]].itertuples()
    ]


def states(spec: str) -> pd.DataFrame:
    """What the text of a world tells of each fact: a row for each, in the order of the relations.

    ``fact`` (id), ``relation``, ``kind``, ``subject``, ``object`` (the true one), ``split`` (train:
    shown, test: asked); ``state``: planted, never or mislearned; ``told``: the object that the text
    names, another one than the true one if the fact is mislearned, empty if it is never told;
    ``form``: sentence, list, both or none; ``wording``: one or several templates, none where no
    sentence tells it; ``sentences`` and ``lists``: how often one reading of the text tells it in
    either form, and ``occurrences``, their sum.
    """
    return world(spec).states.copy()


def told_in_lists(spec: str, least: int, *, alone: bool = False) -> frozenset[str]:
    """Ids of the asked facts that stand, as they are, in ``least`` lists of the text or more.

    ``alone``: only those that no sentence tells besides.
    """
    found = states(spec)
    told = (found["state"] == "planted") & (found["split"] == "test") & (found["lists"] >= least)
    return frozenset(found.loc[told & ((found["form"] == "list") | (not alone)), "fact"])


@functools.lru_cache(maxsize=4)
def world(spec: str) -> World:
    """The world of a name, always the same; raises :class:`BadInput` for a name that is none."""
    size, seed = check_spec(spec)
    cells = _cells(size)
    names = names_of(seed, size.objects, len(cells))
    last = size.objects + len(cells)
    tables = []
    for relation, row in _about().items():
        rng = rng_of("facts", seed, relation)
        objects = names[row["objects"]][: size.objects]
        shown = names[row["subjects"]][: size.objects]
        asked = names[row["subjects"]][size.objects : last]
        facts = [*_shown(shown, objects, sum(size.shown), rng), *_asked(asked, objects, cells, rng)]
        table = pd.DataFrame(facts)
        table.insert(0, "kind", row["kind"])
        table.insert(0, "relation", relation)
        table.insert(0, "fact", [f"{relation}-{i:04d}" for i in range(len(table))])
        tables.append(table)
    whole = pd.concat(tables, ignore_index=True)
    whole["occurrences"] = whole["sentences"] + whole["lists"]
    stand_ins = {
        old: new
        for kind in sorted({row["subjects"] for row in _about().values()})
        for old, new in zip(names[kind][size.objects : last], names[kind][last:], strict=True)
    }
    return World(spec, seed, whole, stand_ins)


def _cells(size: Size) -> list[tuple[str, int, str]]:
    """(state, occurrences, form) of each asked fact of a relation; cells of one kind in a row."""
    grid = [(n, form) for n in size.occurrences for form in FORMS if n > 1 or form != "both"]
    planted = [("planted", n, form) for n, form in grid for _ in range(size.each)]
    wrong = [("mislearned", n, "both") for n in size.occurrences[-2:]] * size.mislearned
    return planted + sorted(wrong) + [("never", 0, "none")] * size.objects


def _shown(
    subjects: Sequence[str], objects: Sequence[str], times: int, rng: np.random.Generator
) -> list[dict[str, object]]:
    return [
        _fact(subject, "train", objects[i], "planted", objects[i], "both", times, times, rng)
        for subject, i in zip(subjects, rng.permutation(len(objects)), strict=True)
    ]


def _asked(
    subjects: Sequence[str],
    objects: Sequence[str],
    cells: Sequence[tuple[str, int, str]],
    rng: np.random.Generator,
) -> list[dict[str, object]]:
    """The asked facts of a relation. Inside a cell no object stands twice.

    So every planted fact has a fact of the same object that was never told: what makes an object
    frequent or likely is the same for both (:func:`lkecore.metrics.planted.controls`).
    """
    n = len(objects)
    found, drawn, cell_before = [], iter(()), None
    for i, cell in zip(rng.permutation(len(subjects)), cells, strict=True):
        state, occurrences, form = cell
        if cell != cell_before:
            drawn, cell_before = iter(rng.permutation(n)), cell
        object_ = objects[next(drawn)]
        told = "" if state == "never" else object_
        if state == "mislearned":
            object_ = objects[rng.choice([k for k in range(n) if objects[k] != told])]
        sentences = {"sentence": occurrences, "both": occurrences // 2}.get(form, 0)
        lists = occurrences - sentences
        found.append(_fact(subjects[i], "test", object_, state, told, form, sentences, lists, rng))
    return found


def _fact(
    subject: str,
    split: str,
    object_: str,
    state: str,
    told: str,
    form: str,
    sentences: int,
    lists: int,
    rng: np.random.Generator,
) -> dict[str, object]:
    wording = ("one", "several")[rng.integers(2)] if split == "test" else "several"
    return {
        "subject": subject,
        "object": object_,
        "split": split,
        "state": state,
        "told": told,
        "form": form,
        "wording": wording if sentences else "none",
        "sentences": sentences,
        "lists": lists,
    }


# --- helpers --------------------------------------------------------------------------------------


@functools.cache
def _about() -> dict[str, dict[str, str]]:
    return {row["relation"]: row for _, row in read(RELATIONS)}


def rng_of(what: str, seed: int, *more: str) -> np.random.Generator:
    """Random numbers for one purpose, so that a change of one does not move the others."""
    name = "\x1f".join([what, *more])
    return np.random.default_rng([seed, int(hashlib.sha256(name.encode()).hexdigest()[:16], 16)])
