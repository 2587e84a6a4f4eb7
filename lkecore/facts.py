"""Facts: what we ask a language model about. First of the five steps, and the vocabulary of all.

A *fact* is a subject, a relation and an object that is true of them ("France", "capital",
"Paris"). A *relation* is a named set of facts. The *options* of a fact are the candidate objects
that a model has to choose from: the *gold* one, and *distractors* from other facts of the relation.
A *shot* is a fact that is shown to the model as an example.
"""

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lkecore import hubsets, nobel, world
from lkecore.cache import file_digest
from lkecore.rows import (
    SPLITS,
    BadInput,
    nearest,
    read,
    relations_in,
    rows_in,
    sources,
    text,
    texts,
)

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Fact:
    """One true (subject, relation, object).

    ``alternatives`` are the other objects that the data list as true of the same subject, and
    ``aliases`` other names of any of them: neither is ever drawn as a distractor from the objects of
    the relation. ``options`` is the multiple choice that the data themselves give with the fact,
    sorted, with its object; nothing is taken out of it.
    """

    id: str
    relation: str
    subject: str
    object: str
    alternatives: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    split: str = ""
    options: tuple[str, ...] = ()

    @property
    def true_names(self) -> frozenset[str]:
        """Every name of every true object, casefolded."""
        return frozenset(n.casefold() for n in (self.object, *self.alternatives, *self.aliases))


@dataclass(frozen=True)
class Relation:
    """A relation with its facts, in the order of the source.

    ``repeated`` counts the rows of the source that said again what another row had said.
    ``kind`` is location, language or other ("" where the source does not say), ``codes`` marks
    code look-ups, ``paper_relation`` is the relation of the IC-LKE paper with the same meaning.
    """

    name: str
    facts: tuple[Fact, ...]
    repeated: int = 0
    label: str = ""
    kind: str = ""
    codes: bool = False
    paper_relation: str = ""
    templates: tuple[str, ...] = ()

    @property
    def objects(self) -> tuple[str, ...]:
        """The distinct objects, sorted; spellings that differ only in case count once."""
        first: dict[str, str] = {}
        for name in sorted({fact.object for fact in self.facts}):
            first.setdefault(name.casefold(), name)
        return tuple(first.values())

    @property
    def digest(self) -> str:
        """SHA-256 over every fact: two relations with one digest hold the same data."""
        rows = sorted(
            [f.id, f.subject, f.object, sorted(f.alternatives), sorted(f.aliases), f.split]
            + ([list(f.options)] if f.options else [])  # most have none, and digests are stored
            for f in self.facts
        )
        text = json.dumps([self.name, rows], ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


# --- load -----------------------------------------------------------------------------------------


def relations(spec: str) -> tuple[str, ...]:
    """The names of the relations of a fact set, sorted. ``spec`` as in :func:`load`."""
    if spec == "atlas":
        return tuple(row["relation"] for row in _atlas_rows("atlas_relations.tsv"))
    if nobel.is_spec(spec):
        return nobel.relations(spec)
    if world.is_spec(spec):
        world.check_spec(spec)
        return world.relations()
    if nobel.table_of(spec):
        return nobel.relations()
    return hubsets.relations(spec) if spec.startswith("hub:") else relations_in(spec)


def is_ready(spec: str) -> bool:
    """Whether a fact set is on this machine already; asks no network."""
    if nobel.is_spec(spec):
        return nobel.is_ready()
    if spec.startswith("hub:"):
        return hubsets.is_ready(spec)
    made_here = spec == "atlas" or world.is_spec(spec)
    return made_here or bool(spec and (Path(spec).exists() or nobel.table_of(spec)))


def content_digest(spec: str) -> str:
    """SHA-256 over the files of a fact set and what their names say; ``spec`` as in :func:`load`."""
    if nobel.is_spec(spec):
        return nobel.content_digest()
    if spec.startswith("hub:"):
        return hubsets.content_digest(spec)
    if world.is_spec(spec):
        return world.digest(spec)
    if laureates := nobel.table_of(spec):
        spec = str(laureates[0])  # the year stands in the name, which is a parameter
    files = (
        [(name, "", DATA / name) for name in ("atlas.tsv", "atlas_relations.tsv")]
        if spec == "atlas"
        else sources(spec)
    )
    rows = [(name, split, file_digest(path)) for name, split, path in files]
    return _digest(*(part for row in rows for part in row))


def load(spec: str, relation: str) -> Relation:
    """Load one relation of a fact set.

    ``spec`` is ``atlas`` (the embedded facts), ``lab:book-1`` (an invented world, of size and seed;
    :mod:`lkecore.world`), ``nobel`` (laureates, from Wikidata) or
    ``nobel:2022`` (as they stood in a year), ``hub:org/name[/path][@revision]`` (a data set of the
    Hugging Face hub, of which ``path`` begins the paths of the files to read), or a path:

    - a folder with a folder for each relation, holding any of ``train``, ``dev``, ``test`` as
      ``.jsonl``, ``.csv``, ``.tsv`` or ``.parquet`` (LAMA style), or one such relation folder;
    - a folder with one file for each relation;
    - one file, with a ``relation`` column or with one relation, named after the file;
    - a table of laureates with the columns of ``nobel``; ``:2022`` behind its path is that year.

    Columns: ``subject`` or ``sub_label``, ``object`` or ``obj_label``; optional ``id`` or ``uuid``,
    ``split``, ``relation``, ``obj_labels`` (all true objects), ``obj_aliases`` and ``options`` (a
    multiple choice; the object may be left out of it). Rows that repeat a (subject, object) pair
    are dropped and counted; where a pair stands in several splits, the test split keeps it, so that
    no test fact is ever shown as a shot. Several objects of one subject are all true.

    A data set of the hub may have the columns of T-REx-MC, T-REx, LAMA or MyriadLAMA instead, and
    gives the relation the templates that stand in it. A relation with the name that the IC-LKE paper
    gives to one of its own, or with its Wikidata id, is taken for that one (``paper_relation``).

    Raises :class:`BadInput` for an unknown fact set or relation, one that cannot be fetched, a
    malformed line (file and line number), text that is not UTF-8, and one fact id with two
    contents.
    """
    if spec == "atlas":
        return _load_atlas(relation)
    rows = _rows(spec, relation)
    if not rows:
        known = relations(spec)
        if relation in known:
            raise BadInput(f"relation {relation!r} in {spec}: no rows in it")
        raise BadInput(f"unknown relation {relation!r} in {spec}; {nearest(relation, known)}")
    loaded = _relation(relation, rows)
    if world.is_spec(spec):
        label, kind, templates = world.about(relation)
        return replace(loaded, label=label, kind=kind, templates=templates)
    label, templates = hubsets.about(spec, relation) if spec.startswith("hub:") else ("", ())
    of_paper = _paper_relations().get(relation) or _paper_relations().get(label) or ""
    return replace(
        loaded, label=label or of_paper or relation, templates=templates, paper_relation=of_paper
    )


@functools.cache
def _paper_relations() -> dict[str, str]:
    """The paper's name of a relation (its Table 3), by that name and by its Wikidata id."""
    rows = [row for _, row in read(DATA / "papers" / "iclke_table3_relations.csv")]
    return {
        row[key]: row["relation"]
        for row in rows
        for key in ("relation", "wikidata_pid_added")
        if row[key]
    }


def _rows(spec: str, relation: str) -> list[tuple[str, dict[str, Any], str]]:
    """(place, row, split or "") of every row of a relation; empty where it is unknown."""
    if spec.startswith("hub:"):
        return hubsets.rows(spec, relation)
    if world.is_spec(spec):
        return world.rows(spec, relation)
    if nobel.is_spec(spec):
        rows = nobel.rows(spec)
    elif laureates := nobel.table_of(spec):
        rows = nobel.rows_of(*laureates)
    else:
        return rows_in(spec, relation)
    return [(where, row, "") for where, row in rows if row["relation"] == relation]


def _load_atlas(relation: str) -> Relation:
    about = {row["relation"]: row for row in _atlas_rows("atlas_relations.tsv")}
    if relation not in about:
        raise BadInput(f"unknown relation {relation!r} in atlas; {nearest(relation, about)}")
    rows = [("atlas.tsv", r, "") for r in _atlas_rows("atlas.tsv") if r["relation"] == relation]
    row = about[relation]
    return replace(
        _relation(relation, rows),
        label=row["label"],
        kind=row["kind"],
        codes=row["codes"] == "yes",
        paper_relation=row["paper_relation"],
        templates=tuple(row[f"template_{i}"] for i in range(1, 6)),
    )


def _atlas_rows(name: str) -> list[dict[str, Any]]:
    return [row for _, row in read(DATA / name)]


def _relation(name: str, rows: Sequence[tuple[str, dict[str, Any], str]]) -> Relation:
    """Validate rows, drop repetitions, give every fact the other true objects of its subject."""
    content: dict[str, tuple[str, str]] = {}
    found: dict[tuple[str, str], tuple[str, str, list[str]]] = {}  # pair -> (id, split, options)
    objects: dict[str, dict[str, None]] = {}  # of each subject, in order
    aliases: dict[str, dict[str, None]] = {}
    repeated = 0
    for where, row, split in rows:
        if split and split not in SPLITS:
            raise BadInput(f"{where}: split must be one of {SPLITS}, found {split!r}")
        pair = (
            text(row, where, "subject", "sub_label"),
            text(row, where, "object", "obj_label"),
        )
        given = "id" if "id" in row else "uuid"
        key = text(row, where, given) if given in row else _digest(name, *pair)[:16]
        if content.setdefault(key, pair) != pair:
            raise BadInput(f"{where}: fact id {key!r} stands for both {content[key]} and {pair}")
        subject, object_ = pair
        names = objects.setdefault(subject, {})
        names.update(dict.fromkeys([object_, *texts(row, where, "obj_labels")]))
        aliases.setdefault(subject, {}).update(dict.fromkeys(texts(row, where, "obj_aliases")))
        choice = sorted({*texts(row, where, "options"), object_} if row.get("options") else ())
        if pair in found:  # of two ids or choices, the same one in any order of rows
            repeated += 1
            key = min(key, found[pair][0])
            both = (split, choice), found[pair][1:]
            split, choice = max(both, key=lambda each: (("", *SPLITS).index(each[0]), each[1]))
        found[pair] = (key, split, choice)
    facts = tuple(
        Fact(
            id=key,
            relation=name,
            subject=subject,
            object=object_,
            alternatives=tuple(n for n in objects[subject] if n != object_),
            aliases=tuple(aliases[subject]),
            split=split,
            options=tuple(choice),
        )
        for (subject, object_), (key, split, choice) in found.items()
    )
    return Relation(name=name, facts=facts, repeated=repeated, label=name)


def _digest(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()


# --- split, draw ----------------------------------------------------------------------------------


def passes_trex_mc(relation: Relation) -> bool:
    """T-REx-MC's filter (IC-D2): more than 500 facts and at least 100 distinct objects."""
    return len(relation.facts) > 500 and len(relation.objects) >= 100


def divide(
    relation: Relation, test: str = "test", *, n_train: int = 100, n_test: int = 400, seed: int = 0
) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """Divide a relation into facts to show (train) and facts to ask (test).

    Where the data come with splits, ``test`` names the one to ask, and shots come from the train
    split (or, when train itself is asked, from dev, else test). Where they come without, this is
    T-REx-MC's split (IC-D2) of any fact set: ``n_train`` facts, at most half, and up to ``n_test``
    others, in an order that depends on ``seed``, subjects and fact ids alone. All facts of a
    subject stay on one side, so no subject is both shown and asked.

    Raises :class:`BadInput` when the asked split is unknown or empty.
    """
    if test not in SPLITS:
        raise BadInput(f"unknown split {test!r}: must be one of {SPLITS}")
    facts = sorted(relation.facts, key=lambda fact: fact.id)  # whatever the order of the rows
    present = {fact.split for fact in facts}
    if len(present) > 1:
        if test not in present:
            raise BadInput(f"relation {relation.name}: no split {test!r}, only {sorted(present)}")
        shown = next(s for s in ("train", "dev", "test", "") if s in present and s != test)
        asked = tuple(f for f in facts if f.split == test)
        subjects = {f.subject for f in asked}
        train = tuple(f for f in facts if f.split == shown and f.subject not in subjects)
        return train, asked
    if test == "dev" and test not in present:
        raise BadInput(f"relation {relation.name}: no split 'dev', since the facts have no splits")
    subjects = sorted({f.subject for f in facts}, key=lambda s: _digest(seed, s))
    by_subject: dict[str, list[Fact]] = {}
    for fact in facts:
        by_subject.setdefault(fact.subject, []).append(fact)
    ordered = [fact for subject in subjects for fact in by_subject[subject]]
    cut = min(n_train, len(ordered) // 2)
    while 0 < cut < len(ordered) and ordered[cut].subject == ordered[cut - 1].subject:
        cut += 1
    train, asked = tuple(ordered[:cut]), tuple(ordered[cut : cut + n_test])
    if test == "train":
        train, asked = asked, train
    if not asked:
        raise BadInput(f"relation {relation.name}: too few subjects to show some and ask others")
    return train, asked


def draw_shots(train: Sequence[Fact], n_shots: int, seed: int) -> tuple[Fact, ...]:
    """Draw ``n_shots`` facts with distinct subjects, in random order (IC-Q2: once per relation).

    With one seed, fewer shots are the beginning of more shots: curves over n compare like with
    like. Raises :class:`BadInput` when there are too few subjects.
    """
    if n_shots < 0:
        raise BadInput(f"shots must be 0 or more, found {n_shots}")
    shots: dict[str, Fact] = {}
    for i in np.random.default_rng(seed).permutation(len(train)):
        shots.setdefault(train[i].subject, train[i])
    if len(shots) < n_shots:
        where = f"relation {train[0].relation}" if train else "the relation"
        raise BadInput(f"{n_shots} shots asked for, but {where} has {len(shots)} subjects to show")
    return tuple(shots.values())[:n_shots]


def draw_facts(facts: Sequence[Fact], limit: int | None, seed: int) -> tuple[Fact, ...]:
    """A random sample of at most ``limit`` facts (all of them if None), in random order."""
    if limit is not None and limit < 1:
        raise BadInput(f"limit must be 1 or more facts, found {limit}")
    if not facts:
        raise BadInput("no facts are left to draw from; show fewer")
    order = np.random.default_rng(seed).permutation(len(facts))
    return tuple(facts[i] for i in order[:limit])


def max_options(relation: Relation) -> int:
    """The largest number of options that every fact of the relation can have."""
    objects = relation.objects
    return min(1 + len(_distractors(fact, objects)) for fact in relation.facts)


def draw_options(
    facts: Sequence[Fact], objects: Sequence[str], n_options: int, seed: int
) -> list[tuple[str, ...]]:
    """Draw the options of each fact (IC-D3): its gold object and ``n_options - 1`` distractors.

    Distractors are distinct objects of the same relation (``objects``), never another true object
    of the subject nor an alias (IC-Q4). Where the data give a fact a multiple choice of its own,
    they come from that one alone, as it stands: the paper's choices stay the paper's. The options
    of a fact depend on the seed and its id only, not on which other facts are asked. Their order
    is random, so that a tie, which goes to the first, does not favour the gold one (IC-Q11).

    Raises :class:`BadInput` when a fact has too few possible distractors.
    """
    if n_options < 2:
        raise BadInput(f"options must be 2 or more, found {n_options}")
    drawn = []
    for fact in facts:
        pool = _distractors(fact, objects)
        if len(pool) < n_options - 1:
            has = (
                f"the data give {fact.subject!r} of relation {fact.relation} only {len(pool)} others"
                if fact.options
                else f"relation {fact.relation} has only {len(pool)} objects that are not true of "
                f"{fact.subject!r}"
            )
            most = f"(most possible: {len(pool) + 1})"
            raise BadInput(f"{n_options} options asked for, but {has} {most}")
        rng = np.random.default_rng([seed, int(_digest(fact.relation, fact.id)[:16], 16)])
        distractors = [pool[i] for i in rng.choice(len(pool), n_options - 1, replace=False)]
        options = [fact.object, *distractors]
        drawn.append(tuple(options[i] for i in rng.permutation(n_options)))
    return drawn


def _distractors(fact: Fact, objects: Sequence[str]) -> list[str]:
    if fact.options:
        return [name for name in fact.options if name != fact.object]
    names = fact.true_names
    return [name for name in objects if name.casefold() not in names]
