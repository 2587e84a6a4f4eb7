"""Rows: read tables of facts from files, each row with its place, so that a bad one can be named.

Leftmost module: it knows files and errors, not what a fact is.
"""

import csv
import difflib
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

SPLITS = ("train", "dev", "test")
SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet")


class BadInput(ValueError):
    """What the user gave cannot be used. The message is one line: the value, and the rule."""


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint for a mistyped name: the closest of ``names``, or the first few of them.

    >>> nearest("capitol", ["capital", "currency"])
    'nearest: capital'
    """
    names = list(names)
    close = difflib.get_close_matches(name, names, n=3)
    if close:
        return "nearest: " + ", ".join(close)
    return "there are: " + ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


def sources(spec: str) -> list[tuple[str, str, Path]]:
    """(relation name, split or "", file) of every file of a fact set."""
    if not spec:
        raise BadInput("the fact set has no name: atlas, a file or a folder")
    path = Path(spec)
    if path.is_file():
        if path.suffix not in SUFFIXES:
            raise BadInput(
                f"fact set {spec}: {path.suffix or 'no suffix'} is not one of {SUFFIXES}"
            )
        return [(path.stem, "", path)]
    if not path.is_dir():
        raise BadInput(f"unknown fact set {spec!r}: neither atlas nor an existing file or folder")
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


def read(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("file, line n", row) for every row of a file."""
    if path.suffix == ".parquet":
        # Not through pandas, which would turn a missing text into the number NaN.
        from pyarrow.parquet import ParquetFile

        try:
            with ParquetFile(path) as file:
                rows = file.read().to_pylist()
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: not a readable Parquet file ({error})") from error
        for n, row in enumerate(rows, start=1):
            yield f"{path}, row {n}", row
        return
    content = _decode(path)
    if path.suffix == ".jsonl":
        for n, line in enumerate(content.split("\n"), start=1):
            if line.strip():
                yield f"{path}, line {n}", _json_object(line, f"{path}, line {n}")
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


def _decode(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        data = error.object  # without the byte order mark, as error.start counts
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(
            f"{path}, line {line}: not UTF-8 (byte 0x{data[error.start]:02x})"
        ) from error


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
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise BadInput(f"{where}: {column} holds half a character, found {value!r}")
            return " ".join(value.split())
    raise BadInput(f"{where}: no column {' or '.join(columns)}")


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
