"""Folders: which files of a folder are the facts of which relation, and of which split."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput
from lkecore.facts import bear
from lkecore.facts.tables import (
    SPLITS,
    SUFFIXES,
    check,
    composed,
    has_facts,
    header,
    kind_of,
    read,
    relation_of,
    stem_of,
    with_lists,
)

SPLIT_WORDS = {  # words for splits elsewhere, in names of files and in a column
    "train": "train", "training": "train",
    "dev": "dev", "valid": "dev", "val": "dev", "validation": "dev",
    "eval": "dev", "evaluation": "dev",
    "test": "test", "testing": "test",
}  # fmt: skip


def sources(spec: str) -> list[tuple[str, str, Path]]:
    """(relation name, split or "", file) of every file of a fact set.

    Every file with facts is read. Raises :class:`BadInput` where a folder has a file with facts that is
    neither a relation nor a split of one, and for a name that is no fact set. :func:`unread` returns the
    other files.
    """
    if not spec:
        raise BadInput(
            "the fact set has no name: atlas, nobel, lab:WORLD, hub:org/name, a file or a folder"
        )
    path = Path(spec)
    if os.path.lexists(path) and not path.is_dir():
        if path.exists() and not kind_of(path):
            raise BadInput(
                f"fact set {spec}: {path.suffix or 'no suffix'} is not one of {SUFFIXES}"
            )
        check(path)
        return [(composed(stem_of(path)), "", path)]
    if not path.is_dir():
        raise BadInput(
            f"unknown fact set {spec!r}: neither atlas nor nobel, lab:WORLD, hub:org/name or an existing "
            "file or folder"
        )
    every = _files_in(path)
    splits = {p: SPLIT_WORDS.get(stem_of(p).lower(), "") for p in every}
    tables = [p for p in every if kind_of(p) != ".json" or splits[p] or has_facts(p)]
    depth = {p: len(p.relative_to(path).parts) for p in tables}
    whole = [p for p in tables if depth[p] == 1 and splits[p]]  # the folder is one relation
    folders = [p for p in tables if depth[p] == 2 and splits[p]]
    # A table without facts may be there, such as names of the relations. A misspelled header
    # makes no such table: a file with one must not make its relation disappear.
    files = [p for p in tables if depth[p] == 1 and not splits[p]]
    files = [p for p in files if has_facts(p) or not (whole or folders or _has_none(p))]
    lost = [p for p in tables if depth[p] > 1 and p not in folders and has_facts(p)]
    if lost:
        raise BadInput(
            f"fact set {spec}: facts where none are read, {_names(lost, path)}; in the folder of a "
            f"relation, files are named {', '.join(SPLITS)}"
        )
    if whole and (files or folders):
        raise BadInput(
            f"fact set {spec}: {_names(whole, path)} would make one relation of this folder, which has "
            f"other relations: {_names(files + folders, path)}"
        )
    found = [(composed(path.resolve().name), splits[p], p) for p in whole]
    found += [(composed(p.parent.name), splits[p], p) for p in folders]
    found += [(composed(stem_of(p)), "", p) for p in files]
    if not found:
        raise BadInput(f"fact set {spec}: no {', '.join(SUFFIXES)} file in it or in its folders")
    return found


def unread(spec: str) -> tuple[str, ...]:
    """The files of a folder that are no facts, by their path: notes, tables without facts, other formats.

    Hidden files, whose names begin with a dot, are not among them. Where the fact set is one file, there are
    none.
    """
    path = Path(spec)
    if path.is_file():
        return ()
    read_ones = {p for *_, p in sources(spec)}
    others = [
        p for p in _files_in(path, every=True) if p not in read_ones and p.name != bear.BESIDE
    ]
    return tuple(p.relative_to(path).as_posix() for p in others)


def relations_in(spec: str) -> tuple[str, ...]:
    """The names of the relations of a file or a folder of facts, sorted."""
    if not _may_hold_many(spec):
        return tuple(sorted({stem for stem, _, _ in sources(spec)}))
    [(stem, _, path)] = sources(spec)
    names = {relation_of(row, where, stem) for where, row in read(path)}
    if not names:
        raise BadInput(f"fact set {spec}: no rows in it")
    return tuple(sorted(names))


def rows_in(spec: str, relation: str) -> list[tuple[str, dict[str, Any], str]]:
    """(place, row, split or "") of every row of one relation of a file or a folder of facts."""
    rows: list[tuple[str, dict[str, Any], str]] = []
    empty = []
    many = _may_hold_many(spec)
    for stem, split, path in sources(spec):
        if not many and stem != relation:
            continue
        before = len(rows)
        for where, row in read(path):
            if not many or relation_of(row, where, stem) == relation:
                row = bear.in_space(path, where, with_lists(row, where, path))
                rows.append((where, row, split or split_of(str(row.get("split") or ""))))
        if not many and len(rows) == before:
            empty.append(path)
    if rows and empty:  # a split has no rows, say: shots would come from another one
        raise BadInput(f"{empty[0]}: no rows in it")
    return rows


def _may_hold_many(spec: str) -> bool:
    """Whether a fact set is one file, which may have several relations (a ``relation`` column).

    Each file of a folder has one relation.
    """
    return Path(spec).is_file()


def split_of(word: str) -> str:
    """Our name of a split; a word that means none is returned unchanged, and its reader refuses it.

    >>> split_of("Validation"), split_of("held out")
    ('dev', 'held out')
    """
    return SPLIT_WORDS.get(word.lower(), word)


def _files_in(folder: Path, *, every: bool = False) -> list[Path]:
    """The tables in a folder and below, or, with ``every``, all files; a relation's folder may be a link.

    Raises :class:`BadInput` for a table that cannot be read as one (:func:`lkecore.facts.tables.check`), a
    link to nowhere that may have led to a relation's folder, and a folder that may not be read.
    """
    found = sorted(_below(folder))
    for path in found:
        if kind_of(path) or (not path.suffix and not path.exists()):
            check(path)
    return [path for path in found if every or kind_of(path)]


def _below(folder: Path, depth: int = 1) -> Iterator[Path]:
    """The paths in a folder and below that are no folders, or that are named as a table.

    Links to folders, below a relation's, are among them and are not followed.
    """
    try:
        inside = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read ({error.strerror})") from error
    for path in inside:
        is_read = path.is_dir() and (depth == 1 or not path.is_symlink())
        if kind_of(path) or not is_read:
            yield path
        if is_read:
            yield from _below(path, depth + 1)


def _has_none(path: Path) -> bool:
    """Whether a table names columns, none of which might be a subject or an object in other words."""
    columns = header(path)
    return bool(columns) and not any(re.search("sub|obj", name.casefold()) for name in columns)


def _names(paths: Sequence[Path], folder: Path) -> str:
    return ", ".join(p.relative_to(folder).as_posix() for p in paths)
