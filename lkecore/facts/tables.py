"""Rows: read tables of facts from files, each row with its place, so that a bad one can be named.

Leftmost module: it knows files and errors, not what a fact is.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput

SPLITS = ("train", "dev", "test")
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet")
LISTS = ("obj_labels", "obj_aliases", "options")  # columns of several texts


def sources(spec: str) -> list[tuple[str, str, Path]]:
    """(relation name, split or "", file) of every file of a fact set."""
    if not spec:
        raise BadInput(
            "the fact set has no name: atlas, nobel, lab:WORLD, hub:org/name, a file or a folder"
        )
    path = Path(spec)
    if path.is_file():
        if path.suffix not in SUFFIXES:
            raise BadInput(
                f"fact set {spec}: {path.suffix or 'no suffix'} is not one of {SUFFIXES}"
            )
        return [(path.stem, "", path)]
    if not path.is_dir():
        raise BadInput(
            f"unknown fact set {spec!r}: neither atlas nor nobel, lab:WORLD, hub:org/name or an existing "
            "file or folder"
        )
    files = sorted(p for p in path.glob("*") if p.suffix in SUFFIXES and p.is_file())
    if any(p.stem in SPLITS for p in files):
        return [(path.resolve().name, p.stem, p) for p in files if p.stem in SPLITS]
    found = [
        (p.parent.name, p.stem, p)
        for p in sorted(path.glob("*/*"))
        if p.stem in SPLITS and p.suffix in SUFFIXES
    ]
    found = found or [(p.stem, "", p) for p in files]
    if not found:
        raise BadInput(f"fact set {spec}: no {', '.join(SUFFIXES)} file in it or in its folders")
    return found


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
    """(place, row, split or "") of every row of one relation of a file or a folder of facts.

    Raises :class:`BadInput` for a row without a split where others have one: it would be in no part.
    """
    rows = []
    many = _may_hold_many(spec)
    for stem, split, path in sources(spec):
        if not many and stem != relation:
            continue
        for where, row in read(path):
            if not many or relation_of(row, where, stem) == relation:
                row = with_lists(row, where, path)
                rows.append((where, row, split or str(row.get("split") or "")))
    without = [where for where, _, split in rows if not split]
    if without and any(split in SPLITS for *_, split in rows):
        raise BadInput(
            f"{without[0]}: other rows of relation {relation} have a split, this one has none"
        )
    return rows


def _may_hold_many(spec: str) -> bool:
    """One file may hold several relations (a ``relation`` column); files of a folder hold one."""
    return Path(spec).is_file()


def relation_of(row: dict[str, Any], where: str, stem: str) -> str:
    """What the row itself says, else the name that its file or folder gives."""
    return text(row, where, "relation") if row.get("relation") else stem


def read(path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("file, line n", row) for every row of a file.

    ``columns`` are the ones that are wanted. Only from Parquet are the others left out, which
    makes long texts that nobody asked for cost nothing; other files give them all the same.
    """
    if path.suffix == ".parquet":
        yield from _read_parquet(path, columns)
        return
    if path.suffix == ".jsonl":
        yield from _read_json_lines(path)
        return
    content = _decode(path)
    if path.suffix == ".json":
        yield from _read_json(path, content)
        return
    # The registered TSV format has no quoting, so a name such as "Weird Al" stays as it is.
    quoting = csv.QUOTE_NONE if path.suffix == ".tsv" else csv.QUOTE_MINIMAL
    delimiter = "\t" if path.suffix == ".tsv" else ","
    # Not str.splitlines, which also breaks at characters that belong to a name (U+2028, U+0085).
    lines = io.StringIO(content, newline="")
    table = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    header: list[str] = []
    begin = 1  # the line where a row begins: a quoted field may hold line breaks
    try:
        for row in table:
            where, begin = f"{path}, line {begin}", table.line_num + 1
            if header and row and len(row) != len(header):
                raise BadInput(f"{where}: {len(row)} fields where the header has {len(header)}")
            if header and row:
                yield where, dict(zip(header, row, strict=True))
            if not header and len(set(row)) < len(row):
                raise BadInput(f"{where}: the header names a column twice: {', '.join(row)}")
            header = header or row
    except csv.Error as error:
        raise BadInput(f"{path}, line {begin}: {error}") from error


def with_lists(
    row: dict[str, Any], where: str, path: Path, columns: Sequence[str] = LISTS
) -> dict[str, Any]:
    """The row with its lists, which cells of a ``.csv`` or ``.tsv`` file hold as JSON; an empty cell is none.

    Rows of other files stay as they are. Raises :class:`BadInput` for a cell that is no list in JSON.
    """
    if path.suffix not in (".csv", ".tsv"):
        return row
    return row | {name: _list_in(row[name], where, name) for name in columns if name in row}


def _list_in(cell: str, where: str, column: str) -> list[Any] | None:
    if not cell.strip():
        return None
    try:
        found = json.loads(cell)
    except (RecursionError, ValueError):
        found = None
    if not isinstance(found, list):
        rule = 'a list of texts, in a table written as JSON, such as ["Nairobi", "NBO"]'
        raise BadInput(f"{where}: {column} must be {rule}; found {cell[:60]!r}")
    return found


def header(path: Path) -> tuple[str, ...]:
    """The columns of a table: those of the Parquet schema, else those of the first row."""
    if path.suffix != ".parquet":
        return next((tuple(row) for _, row in read(path)), ())
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            return tuple(file.schema_arrow.names)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: not a readable Parquet file ({error})") from error


def _read_parquet(
    path: Path, columns: Sequence[str] | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    # Not through pandas, which would turn a missing text into the number NaN.
    from pyarrow.parquet import ParquetFile

    n = 0
    try:
        with ParquetFile(path) as file:
            wanted = columns and [c for c in file.schema_arrow.names if c in columns]
            for batch in file.iter_batches(columns=wanted):
                for row in batch.to_pylist():
                    n += 1
                    yield f"{path}, row {n}", row
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: not a readable Parquet file ({error})") from error


def _read_json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """A line at a time: such files can be larger than the memory."""
    try:
        with path.open("rb") as file:
            for n, data in enumerate(file, start=1):
                line = _text_of(data.removesuffix(b"\n"), path, n)
                if line.strip():
                    yield f"{path}, line {n}", _json_object(line, f"{path}, line {n}")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error


def _read_json(path: Path, content: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A ``.json`` file of rows is a list of objects, or (as often on the hub) an object a line."""
    try:
        found = json.loads(content)
    except json.JSONDecodeError:
        yield from _read_json_lines(path)
        return
    except (RecursionError, ValueError) as error:
        raise BadInput(f"{path}: JSON beyond what can be read ({error})") from error
    rows = found if isinstance(found, list) else [found]
    if not any(isinstance(row, dict) for row in rows):
        return  # a list of names, say, is not a broken table but none
    for n, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise BadInput(f"{path}, row {n}: expected a JSON object, found {str(row)[:40]!r}")
        yield f"{path}, row {n}", row


def _decode(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    return _text_of(data, path, 1)


def _text_of(data: bytes, path: Path, line: int) -> str:
    """UTF-8 bytes that begin at ``line`` of a file; a byte order mark may only begin the file."""
    try:
        return data.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        bad = error.object  # without the byte order mark, as error.start counts
        line += bad.count(b"\n", 0, error.start)
        raise BadInput(f"{path}, line {line}: not UTF-8 (byte 0x{bad[error.start]:02x})") from error


def _json_object(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(f"{where}: not JSON ({error.msg})") from error
    except (RecursionError, ValueError) as error:  # nested too deep, or a number without end
        raise BadInput(f"{where}: JSON beyond what can be read ({error})") from error
    if not isinstance(row, dict):
        raise BadInput(f"{where}: expected a JSON object, found {line[:40]!r}")
    return row


def text(row: dict[str, Any], where: str, *columns: str) -> str:
    """The text in the first of ``columns`` that the row has; whole numbers (years) become text."""
    for column in columns:
        if column in row:
            value = row[column]
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if not isinstance(value, str) or not value.strip():
                raise BadInput(f"{where}: {column} must be a non-empty text, found {value!r}")
            if not value.isascii() and HALF_CHARACTER.search(value):
                raise BadInput(f"{where}: {column} holds half a character, found {value!r}")
            return " ".join(value.split())
    there = ", ".join(map(repr, row)) or "none"
    there = there if len(there) <= 100 else f"{there[:100]}..."
    raise BadInput(f"{where}: no column {' or '.join(columns)}, found {there}")


def texts(row: dict[str, Any], where: str, column: str) -> list[str]:
    """All texts in a list column, flattened (KAMEL's aliases are a list for each object)."""
    value = row.get(column)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadInput(f"{where}: {column} must be a list of texts, found {value!r}")
    flat: list[str] = []
    for item in value:
        flat += item if isinstance(item, list) else [item]
    return [text({column: item}, where, column) for item in flat]
