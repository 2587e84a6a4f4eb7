"""Sets: fact sets by name, wherever their facts come from.

``SOURCES`` lists the sources: a new source is a module that reads it and an entry here.
"""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lkecore import worlds
from lkecore.errors import BadInput, nearest
from lkecore.facts import (
    alike,
    atlas,
    bear,
    folders,
    hubsets,
    nobel,
)
from lkecore.facts.fact import Relation, from_rows, text_digest
from lkecore.facts.tables import SPLITS, composed, read
from lkecore.progress import tell_once
from lkecore.storage import DATA, file_digest

Row = tuple[str, dict[str, Any], str]  # (place, row, split or ""), as `from_rows` reads it


# --- the names of fact sets -----------------------------------------------------------------------


def relations(spec: str) -> tuple[str, ...]:
    """The names of the relations of a fact set, sorted. ``spec`` as in :func:`load`."""
    return _source_of(spec).relations(spec)


def is_ready(spec: str) -> bool:
    """Whether a fact set is on this machine already; uses no network."""
    return _source_of(spec).is_ready(spec)


def is_remote(spec: str) -> bool:
    """Whether a fact set comes from a network, unless it :func:`is_ready`."""
    return _source_of(spec).remote


def is_ours(spec: str) -> bool:
    """Whether the facts are part of this project, so that they may be given away with results."""
    return _source_of(spec).ours


def content_digest(spec: str) -> str:
    """SHA-256 over the files of a fact set and the meaning of their names; ``spec`` as in :func:`load`."""
    return _source_of(spec).digest(spec)


def unread(spec: str) -> tuple[str, ...]:
    """The files of a fact set that are no facts, by their paths in it: notes, tables without facts.

    They are those of a folder, or of a data set of the hub as far as it is on this machine. No table with
    facts is among them: it is read, or :func:`load` refuses the fact set.
    """
    return _source_of(spec).unread(spec)


def load(spec: str, relation: str) -> Relation:
    """One relation of a fact set.

    ``spec`` is one of these names:

    - ``atlas``: the embedded facts;
    - ``lab:book-1``: an invented world, of size and seed (:mod:`lkecore.worlds.plain`);
    - ``lab:rich-1``: one whose facts are skewed, hinted at, chained and uncertain
      (:mod:`lkecore.worlds.world`);
    - ``nobel``: laureates, from Wikidata; ``nobel:2022``: the same as of that year;
    - ``hub:org/name[/path][@revision]``: a data set of the Hugging Face hub; the paths of its files to read
      begin with ``path``;

    or a path:

    - a folder with a folder for each relation, which has any of ``train``, ``dev``, ``test`` as
      ``.jsonl``, ``.csv``, ``.tsv``, ``.json`` or ``.parquet`` (LAMA style), or one such relation folder;
      ``validation`` and other words for a split (:func:`lkecore.facts.folders.split_of`) mean the same,
      and all but ``.parquet`` may be packed (``.jsonl.gz``);
    - a folder with one file for each relation, also beside folders of relations;
    - one file, with a ``relation`` column or with one relation, named after the file;
    - a table of laureates with the columns of ``nobel``; ``:2022`` after its path is that year.

    Columns: ``subject`` or ``sub_label``, ``object`` or ``obj_label``; optional ``id`` or ``uuid``,
    ``split``, ``relation``, ``obj_labels`` (all true objects), ``obj_aliases`` and ``options`` (a multiple
    choice; it may lack the object). A cell of a ``.csv`` or ``.tsv`` file has such a list as JSON.

    Rows that repeat a (subject, object) pair are dropped and counted. Where several splits have a pair, the
    test split keeps it, so that no test fact is ever shown as a shot. Several objects of one subject are all
    true. Names are equal where only the form of their accents or characters that nobody sees differ
    (:func:`lkecore.facts.tables.composed`), objects also where only letter case does
    (:func:`lkecore.facts.tables.fold`). A line reports characters that nobody sees.

    A data set of the hub may have the columns of T-REx-MC, T-REx, LAMA or MyriadLAMA instead; the relation
    gets the templates in it. A relation with the name that the IC-LKE paper gives to one of its own, or with
    its Wikidata id, is taken for that one (``paper_relation``).

    Raises :class:`BadInput` for an unknown fact set or relation, one that cannot be fetched, a malformed line
    (file and line number), a file without a row, a row without a split where others of the relation have one
    (it would be in no part), a file with facts in a place where none are read, one that cannot be read, text
    that is not UTF-8, and one fact id with two contents.
    """
    return (_load_once if is_ours(spec) else _load)(spec, composed(relation))


def _load(spec: str, relation: str) -> Relation:
    source = _source_of(spec)
    rows = source.rows(spec, relation)
    if not rows:
        known = source.relations(spec)
        if relation in known:
            raise BadInput(f"relation {relation!r} in {spec}: no rows in it")
        raise BadInput(f"unknown relation {relation!r} in {spec}; {nearest(relation, known)}")
    without = [where for where, _, split in rows if not split]
    if without and any(split in SPLITS for *_, split in rows):
        raise BadInput(
            f"{without[0]}: other rows of relation {relation} have a split, this one has none"
        )
    loaded = from_rows(relation, rows)
    for line in alike.taken(loaded):
        tell_once(line)
    about = source.about(spec, relation)
    about = about | {"repeated": loaded.repeated + about.get("repeated", 0)}
    if "paper_relation" not in about:
        about = about | _of_paper(relation, about.get("label", ""))
    return replace(loaded, **about)


# Our facts do not change while a process runs, and a page draws from the same ones many times.
_load_once = functools.lru_cache(maxsize=200)(_load)


def _of_paper(relation: str, label: str) -> dict[str, str]:
    """The paper's relation of this name, or else of this label; it is also the label of one without."""
    found = _paper_relations().get(relation) or _paper_relations().get(label) or ""
    return {"label": label or found or relation, "paper_relation": found}


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


# --- where facts come from ------------------------------------------------------------------------


def _nothing(spec: str, relation: str) -> dict[str, Any]:
    return {}


def _none(spec: str) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class Source:
    """A source of facts. All functions take the name of a fact set (and of a relation).

    - ``is_spec``: whether the name means facts of this source; it may look at files, and uses no network;
    - ``relations``, ``is_ready``, ``digest``, ``unread``: as :func:`relations`, :func:`is_ready`,
      :func:`content_digest` and :func:`unread`;
    - ``rows``: the rows of a relation; none of an unknown one;
    - ``about``: the fields of :class:`~lkecore.facts.fact.Relation` that the source knows, of a relation that
      has rows: any of ``label``, ``kind``, ``codes``, ``templates`` and ``paper_relation``, and how many rows
      were ``repeated`` or ``left_out`` in the source. Without ``paper_relation``, the paper's Table 3
      decides;
    - ``remote``: whether its facts come from a network; ``ours``: whether they are part of this project.
    """

    is_spec: Callable[[str], bool]
    relations: Callable[[str], tuple[str, ...]]
    rows: Callable[[str, str], list[Row]]
    is_ready: Callable[[str], bool]
    digest: Callable[[str], str]
    about: Callable[[str, str], dict[str, Any]] = _nothing
    unread: Callable[[str], tuple[str, ...]] = _none
    remote: bool = False
    ours: bool = False


def _about_world(spec: str, relation: str) -> dict[str, Any]:
    label, kind, templates = worlds.about(spec, relation)
    # The facts are invented, even if the paper has a relation of this name.
    return {"label": label, "kind": kind, "templates": templates, "paper_relation": ""}


def _about_hub(spec: str, relation: str) -> dict[str, Any]:
    names = "label", "templates", "manual", "repeated"
    return dict(zip(names, hubsets.about(spec, relation), strict=True))


def _laureates(rows: Iterable[tuple[str, dict[str, str]]], relation: str) -> list[Row]:
    return [(where, row, "") for where, row in rows if row["relation"] == relation]


def _about_laureates(table: Path, rows: list[Row]) -> dict[str, Any]:
    """``left_out``: how many laureates have no row in this relation, since the table has no value (yet)."""
    told = {where for where, *_ in rows}
    return {"left_out": sum(where not in told for where, _ in read(table))}


def _about_folder(spec: str, relation: str) -> dict[str, Any]:
    told = [
        bear.about(path)["templates"] for name, _, path in folders.sources(spec) if name == relation
    ]
    return {"templates": told[0]} if told and told[0] else {}


def _folder_digest(spec: str) -> str:
    tables = folders.sources(spec)
    beside = sorted({file for *_, path in tables if (file := bear.beside(path))})
    return _digest([*tables, *((file.name, "", file) for file in beside)])


def _table_of(spec: str) -> tuple[Path, int | None]:
    found = nobel.table_of(spec)
    assert found  # ``is_spec`` of the source has made sure of it
    return found


def _digest(files: Iterable[tuple[str, str, Path]]) -> str:
    """SHA-256 over (relation or file, split, contents) of files."""
    rows = [(name, split, file_digest(path)) for name, split, path in files]
    return text_digest(*(part for row in rows for part in row))


SOURCES: tuple[Source, ...] = (
    Source(  # the atlas
        is_spec=lambda spec: spec == "atlas",
        relations=lambda spec: atlas.relations(),
        rows=lambda spec, relation: atlas.rows(relation),
        about=lambda spec, relation: atlas.about(relation),
        is_ready=lambda spec: True,
        digest=lambda spec: _digest((p.name, "", p) for p in (atlas.FACTS, atlas.RELATIONS)),
        ours=True,
    ),
    Source(  # worlds of the lab
        is_spec=worlds.is_spec,
        relations=worlds.relations,
        rows=worlds.rows,
        about=_about_world,
        is_ready=lambda spec: True,
        digest=worlds.digest,
        ours=True,
    ),
    Source(  # laureates, a table in the cache
        is_spec=nobel.is_spec,
        relations=nobel.relations,
        rows=lambda spec, relation: _laureates(nobel.rows(spec), relation),
        about=lambda spec, relation: _about_laureates(
            nobel.path(), _laureates(nobel.rows(spec), relation)
        ),
        is_ready=lambda spec: nobel.is_ready(),
        digest=lambda spec: nobel.content_digest(),
    ),
    Source(  # data sets of the hub
        is_spec=lambda spec: spec.startswith("hub:"),
        relations=hubsets.relations,
        rows=hubsets.rows,
        about=_about_hub,
        unread=hubsets.unread,
        is_ready=hubsets.is_ready,
        digest=hubsets.content_digest,
        remote=True,
    ),
    Source(  # a table of laureates
        is_spec=lambda spec: nobel.table_of(spec) is not None,
        relations=lambda spec: tuple(nobel.COLUMN_OF),
        rows=lambda spec, relation: _laureates(nobel.rows_of(*_table_of(spec)), relation),
        about=lambda spec, relation: _about_laureates(
            _table_of(spec)[0], _laureates(nobel.rows_of(*_table_of(spec)), relation)
        ),
        is_ready=lambda spec: True,
        # Of the file alone: the year is in the name, which is a parameter.
        digest=lambda spec: _digest(folders.sources(str(_table_of(spec)[0]))),
    ),
    Source(  # files and folders: last, since it takes every name, and refuses those that are none
        is_spec=lambda spec: True,
        relations=folders.relations_in,
        rows=folders.rows_in,
        about=_about_folder,
        unread=folders.unread,
        is_ready=lambda spec: bool(spec and Path(spec).exists()),
        digest=_folder_digest,
    ),
)


def _source_of(spec: str) -> Source:
    """The first source whose ``is_spec`` accepts the name."""
    return next(source for source in SOURCES if source.is_spec(spec))
