"""Layouts: find our columns in the tables of other people's fact sets.

The columns of a table decide what it means, not the name of its repository, so that a copy loads like the
original. A table without a subject and an object is skipped: many repositories have statistics as well.
"""

import ast
import functools
import hashlib
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput
from lkecore.facts import bear
from lkecore.facts.folders import SPLIT_WORDS, split_of
from lkecore.facts.tables import (
    LISTS,
    check,
    composed,
    has_facts,
    header,
    kind_of,
    read,
    relation_of,
    stem_of,
    text,
    with_lists,
)
from lkecore.storage import file_digest


@dataclass(frozen=True, eq=False)  # equal only to itself, so that it can be a key
class Layout:
    """The columns of a kind of table. ``many``: a fact has a row for each sentence or template."""

    columns: dict[str, str]  # our column -> theirs
    many: bool = True

    @functools.cached_property
    def kept(self) -> list[str]:
        """Our columns of values that belong to a fact; the others belong to its relation."""
        return [c for c in self.columns if c not in ("relation", "template", "manual", "label")]


TREX_MC = Layout(  # QinyuanWu/T-Rex-MC
    {"relation": "Relation Name", "subject": "Subject", "object": "Object",
     "options": "Multiple Choices"}, many=False,
)  # fmt: skip
MYRIAD_LAMA = Layout(  # iszhaoxin/MyriadLAMA: all true objects of a subject in one list
    {"relation": "rel_uri", "subject": "sub_ent", "object": "obj_ents", "id": "uuid",
     "obj_aliases": "obj_aliases", "template": "template", "manual": "is_manual"},
)  # fmt: skip
TREX = Layout({"relation": "relation", "subject": "head", "object": "tail"})  # relbert/t_rex
LAMA = Layout(  # facebook/lama, its part trex; LAMA-UHN
    {"relation": "predicate_id", "subject": "sub_label", "object": "obj_label", "id": "uuid",
     "obj_labels": "obj_labels", "obj_aliases": "obj_aliases", "template": "template",
     "label": "label"},
)  # fmt: skip
GOOGLE_RE = Layout(  # facebook/lama, its part google_re, where aliases are no list
    {"relation": "pred", "subject": "sub_label", "object": "obj_label", "id": "uuid",
     "template": "template"},
)  # fmt: skip
OURS = (
    "relation", "subject", "sub_label", "object", "obj_label", "id", "uuid", "split",
    "obj_labels", "obj_aliases", "options",
)  # fmt: skip
PLAIN = Layout({name: name for name in OURS}, many=False)  # a table may have any of them


@dataclass(frozen=True)
class Table:
    """A file with facts: where it is, and what its path in the repository says of its rows."""

    path: Path
    name: str  # its path in the repository
    relation: str  # for rows that name no relation
    split: str  # "" where the path names none
    layout: Layout


@dataclass
class Found:
    """The rows of a fact set about one relation, and its templates and label."""

    rows: list[tuple[Table, str, tuple[Any, ...]]] = field(default_factory=list)
    repeated: int = 0  # rows that repeat another row of the same split
    templates: dict[str, bool] = field(default_factory=dict)  # -> whether a person wrote it
    label: str = ""


def tables_in(snapshot: Path, start: str, repository: str) -> tuple[Table, ...]:
    """The files with facts whose path begins with ``start``, by path."""
    found = []
    for path, name in _files_in(snapshot, start):
        if kind_of(path) and (layout := _layout(path)):
            found.append(Table(path, name, *_place(name, repository), layout))
    return tuple(found)


def unread_in(snapshot: Path, start: str) -> tuple[str, ...]:
    """The paths of the other files whose paths begin with ``start``: those without facts."""
    files = _files_in(snapshot, start)
    others = ((path, name) for path, name in files if not (kind_of(path) and _layout(path)))
    return tuple(name for path, name in others if path.name != bear.BESIDE)


def _files_in(snapshot: Path, start: str) -> list[tuple[Path, str]]:
    found = [(p, p.relative_to(snapshot).as_posix()) for p in sorted(snapshot.rglob("*"))]
    found = [(path, name) for path, name in found if name.startswith(start) and not path.is_dir()]
    for path, _ in found:
        if kind_of(path):
            check(path)
    return found


@functools.lru_cache(maxsize=1000)  # files in a snapshot never change: the commit is in their path
def _layout(path: Path) -> Layout | None:
    columns = set(header(path))
    for layout in (TREX_MC, MYRIAD_LAMA, TREX, LAMA, GOOGLE_RE):
        if {layout.columns[ours] for ours in ("relation", "subject", "object")} <= columns:
            return layout
    return PLAIN if has_facts(path) else None


def _place(name: str, repository: str) -> tuple[str, str]:
    """(relation, split) from a path, read from its end.

    >>> _place("data/train-00000-of-00001.parquet", "org/set")
    ('set', 'train')
    >>> _place("P36/partial-validation/0000.parquet", "org/set")
    ('P36', 'dev')
    """
    words = "|".join(SPLIT_WORDS)
    ending = re.compile(rf"(^|[-._])(partial[-._])?({words})([-._]\d+)?([-._]of[-._]\d+)?$")
    relation = split = ""
    for part in reversed(Path(name).with_name(stem_of(Path(name))).parts):
        match = ending.search(part.lower())
        if match:
            split = split or SPLIT_WORDS[match[3]]
            part = part[: match.start()]
        if not part.isdecimal() and part not in ("", "data", "default"):
            relation = relation or part
    return relation or repository.partition("/")[2], split


# A set may have a million rows. They are read once, not again for each of fifty relations.
@functools.lru_cache(maxsize=2)
def read_all(tables: tuple[Table, ...]) -> dict[str, Found]:
    """All rows by relation, each in as little memory as possible."""
    found: dict[str, Found] = {}
    seen: set[tuple[str, str, str]] = set()
    for table in tables:
        columns = table.layout.columns
        kept = [columns[ours] for ours in table.layout.kept]
        for where, row in read(table.path, tuple(columns.values())):
            if table.layout is PLAIN:
                name = relation_of(row, where, composed(table.relation))
            else:
                name = composed(text(row, where, columns["relation"]))
            cells = tuple(_short(row.get(column)) for column in kept)
            relation = found.setdefault(name, Found())
            _note(relation, row, where, columns)
            if table.layout.many:
                key = (name, table.split, repr(cells))
                if key in seen:
                    relation.repeated += 1
                    continue
                seen.add(key)
            relation.rows.append((table, where.removeprefix(str(table.path)), cells))
    return found


def _note(relation: Found, row: dict[str, Any], where: str, columns: dict[str, str]) -> None:
    """Keep a row's label (LAMA's) and template in its relation."""
    if "label" in columns and row.get("label") and not relation.label:
        relation.label = text(row, where, "label")
    if "template" in columns and row.get("template"):
        template = text(row, where, "template")
        if template not in relation.templates:
            relation.templates[template] = str(row.get("is_manual")).lower() in ("true", "1")


def _short(value: Any) -> Any:
    return sys.intern(value) if type(value) is str else value  # the same names occur many times


def as_row(table: Table, place: str, cells: tuple[Any, ...]) -> tuple[str, dict[str, Any], str]:
    """(place, row in our columns, split or "") of a row of :func:`read_all`."""
    where = f"{table.path}{place}"
    # Without None: a table has only some of the names that it could use for a column.
    row = {
        name: cell for name, cell in zip(table.layout.kept, cells, strict=True) if cell is not None
    }
    if isinstance(row.get("object"), list):
        row["obj_labels"] = row["object"]
        row["object"] = row["object"][0] if row["object"] else None  # None: refused, with its place
    row = with_lists(row, where, table.path, [name for name in LISTS if name != "options"])
    if isinstance(row.get("options"), str):
        row["options"] = _choices(row["options"], where)
    return where, row, table.split or split_of(str(row.get("split") or ""))


def _choices(value: str, where: str) -> list[Any] | None:
    """The options in T-REx-MC's text, which is a Python list; None for an empty one."""
    if not value.strip():
        return None
    try:
        choices = ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        choices = None
    # Python joins texts without a comma between them into one, so a list of one text is refused.
    if not isinstance(choices, list) or len(choices) < 2:
        raise BadInput(f"{where}: options must be a list of texts, found {value[:60]!r}")
    return choices


@functools.lru_cache(maxsize=8)
def digest_of(tables: tuple[Table, ...]) -> str:
    """SHA-256 over the paths and contents of the files."""
    digest = hashlib.sha256()
    for table in tables:
        digest.update(f"{table.name} {file_digest(table.path)}\n".encode())
    for file in sorted({file for table in tables if (file := bear.beside(table.path))}):
        digest.update(f"{file.name} {file_digest(file)}\n".encode())
    return digest.hexdigest()
