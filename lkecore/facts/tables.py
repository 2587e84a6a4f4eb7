"""Rows: read tables of facts from files, each row with its place, so that a bad one can be named.

Leftmost module: it knows files and errors, not what a fact is.
"""

import csv
import functools
import gzip
import io
import json
import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from lkecore.errors import BadInput

SPLITS = ("train", "dev", "test")
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet", ".json")
LISTS = ("obj_labels", "obj_aliases", "options")  # columns of several texts


def kind_of(path: Path) -> str:
    """Which of ``SUFFIXES`` says how a file is read, "" for none: letter case and ``.gz`` aside.

    >>> kind_of(Path("P36.JSONL")), kind_of(Path("P36.csv.gz")), kind_of(Path("P36.parquet.gz"))
    ('.jsonl', '.csv', '')
    """
    packed = _is_packed(path)
    kind = Path(path.stem if packed else path.name).suffix.lower()
    return kind if kind in SUFFIXES and not (packed and kind == ".parquet") else ""


def stem_of(path: Path) -> str:
    """The name of a file without its suffix, and without ``.gz``."""
    return Path(path.stem).stem if _is_packed(path) else path.stem


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def has_facts(path: Path) -> bool:
    """Whether a table has a column for subjects and one for objects."""
    columns = set(header(path))
    return bool(columns & {"subject", "sub_label"} and columns & {"object", "obj_label"})


def relation_of(row: dict[str, Any], where: str, stem: str) -> str:
    """What the row itself says, else the name that its file or folder gives."""
    return composed(text(row, where, "relation")) if row.get("relation") else stem


def read(path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("file, line n", row) for every row of a file.

    ``columns`` are the ones that are wanted. Only from Parquet are the others left out, which
    makes long texts that nobody asked for cost nothing; other files give them all the same.
    """
    kind = kind_of(path)
    if kind == ".parquet":
        yield from _read_parquet(path, columns)
        return
    if kind == ".jsonl":
        yield from _read_json_lines(path)
        return
    content = _decode(path)
    if kind == ".json":
        yield from _read_json(path, content)
        return
    # The registered TSV format has no quoting, so a name such as "Weird Al" stays as it is.
    quoting = csv.QUOTE_NONE if kind == ".tsv" else csv.QUOTE_MINIMAL
    delimiter = "\t" if kind == ".tsv" else ","
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
    if kind_of(path) not in (".csv", ".tsv"):
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
    if kind_of(path) != ".parquet":
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
        with ParquetFile(path, page_checksum_verification=True) as file:
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
        with _opened(path) as file:
            for n, data in enumerate(file, start=1):
                line = _text_of(data.removesuffix(b"\n"), path, n)
                if line.strip():
                    yield f"{path}, line {n}", _json_object(line, f"{path}, line {n}")
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from error


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if _is_packed(path) else path.open("rb")


def _unreadable(path: Path, error: Exception) -> BadInput:
    return BadInput(f"{path}: cannot be read ({getattr(error, 'strerror', '') or error})")


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
        with _opened(path) as file:
            data = file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from error
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


def fold(name: str) -> str:
    """What two names must share to be one: letter case and the form of accents aside (NFC, casefolded).

    "Zürich" has ü as one character or as u with a mark behind it, and looks the same. Letters may tell
    two names apart by case alone, as in Co (cobalt) and CO (carbon monoxide): they are one name here.

    >>> fold("ZU\u0308RICH") == fold("z\u00fcrich"), fold("Co") == fold("CO"), fold("Ur") == fold("\u00dcr")
    (True, True, False)
    """
    if name.isascii():
        return name.lower()
    # Decomposed first, as Unicode has it (D145): what casefold does must not depend on the form.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


@functools.lru_cache(maxsize=100_000)  # an object is an option of many facts
def words(text: str) -> frozenset[str]:
    r"""The words of a text: runs of ``\w``, letter case and the form of accents aside.

    >>> sorted(words("St. Mary's, Straße 3"))
    ['3', 'mary', 's', 'st', 'strasse']
    """
    return frozenset(re.findall(r"\w+", fold(text)))


def composed(text: str) -> str:
    """A text in one form of accents (NFC), for counting its characters or looking for a name in it.

    >>> len("u\u0308"), len(composed("u\u0308"))
    (2, 1)
    """
    return unicodedata.normalize("NFC", text)


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
