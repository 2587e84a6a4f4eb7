"""Tables: read tables of facts from files, each row with its place, so that an error can name the row.

This module imports the least of all: it knows files and errors, not facts.
"""

import csv
import functools
import gzip
import io
import json
import os
import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from lkecore.errors import BadInput, first_line
from lkecore.facts.json_text import parsed
from lkecore.storage import POINTER, is_pointer

SPLITS = ("train", "dev", "test")
NO_NAME = re.compile("[\0\ud800-\udfff]")
# Characters that nobody sees in a name: where a word may break, marks of a file's beginning and of direction.
# The joiners U+200C and U+200D are not among them: they make other letters and other pictures.
UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet", ".json")
QUOTED = re.compile(r'"(?:[^"]*"")+[^"]*"')
LISTS = ("obj_labels", "obj_aliases", "options")  # columns of several texts


def kind_of(path: Path) -> str:
    """The one of ``SUFFIXES`` that decides how a file is read, "" for none; ignores letter case and ``.gz``.

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


def check(path: Path) -> None:
    """Raise :class:`BadInput` for a path that is named as a table and cannot be read as one.

    These are a link to nowhere, a folder, a pipe or a device (which might never end), a pointer of Git LFS,
    and a file whose name is not UTF-8. Only the name and the first bytes are read.
    """
    if any("\udc80" <= c <= "\udcff" for c in str(path)):  # Python's form of such bytes
        raise BadInput(f"{path}: the name of the file is not UTF-8; give it another one")
    if not path.exists():
        raise BadInput(f"{path}: a link that leads nowhere, to {os.readlink(path)}")
    if not path.is_file():
        what = (
            "a folder" if path.is_dir() else "neither a file nor a folder, but a pipe or a device"
        )
        raise BadInput(f"{path}: {what}, and is named as a table of facts")
    if is_pointer(path):
        raise BadInput(f"{path}: {POINTER}")


def has_facts(path: Path) -> bool:
    """Whether a table has a column for subjects and one for objects; in JSON lines any row may have them."""
    tables = (row for _, row in read(path)) if kind_of(path) == ".jsonl" else [header(path)]
    return any(
        not {"subject", "sub_label"}.isdisjoint(columns)
        and not {"object", "obj_label"}.isdisjoint(columns)
        for columns in tables
    )


def relation_of(row: dict[str, Any], where: str, stem: str) -> str:
    """The relation that the row itself names, else the name from its file or folder."""
    return composed(text(row, where, "relation")) if row.get("relation") else stem


def read(path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("file, line n", row) for every row of a file.

    ``columns`` are the ones that are wanted. Parquet files are read without the other columns, so that long
    texts that nobody needs cost nothing; other files give all columns.
    """
    kind = kind_of(path)
    if kind == ".parquet":
        yield from _read_parquet(path, columns)
        return
    if kind == ".jsonl":
        yield from _read_json_lines(path)
        return
    if kind == ".json":
        yield from _read_json(path, _decode(path))
        return

    def bare(cells: list[str]) -> list[str]:  # the same as in a file that begins with a mark
        return sorted(fold(cell).strip('" ') for cell in cells)

    rows = _cells(path)
    _, header = next(rows, ("", []))
    for where, row in rows:
        if len(row) != len(header):
            raise BadInput(f"{where}: {len(row)} fields where the header has {len(header)}")
        if bare(row) == bare(header):
            raise BadInput(f"{where}: the header again; these may be two tables in one file")
        yield where, dict(zip(header, row, strict=True))


def _cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    """("file, line n", cells) of the header and of every row of a ``.csv`` or ``.tsv`` file."""
    content, delimiter = _decode(path), "\t" if kind_of(path) == ".tsv" else ","
    # The registered TSV format has no quoting, so a name such as "Weird Al" stays as it is. But a file that
    # quotes the names of columns quotes all cells.
    plain = delimiter == "\t" and content[:1] != '"'
    quoting = csv.QUOTE_NONE if plain else csv.QUOTE_MINIMAL
    # Not str.splitlines, which also breaks at characters that belong to a name (U+2028, U+0085).
    lines = io.StringIO(content, newline="")
    table = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    begin, first = 1, True  # the line where a row begins: a quoted field may contain line breaks
    try:
        for row in table:
            where, begin = f"{path}, line {begin}", table.line_num + 1
            if first and len(set(row)) < len(row):
                raise BadInput(f"{where}: the header names a column twice: {', '.join(row)}")
            if row:
                yield where, list(map(_unquoted, row)) if plain else row
                first = False
    except csv.Error as error:
        raise BadInput(f"{path}, line {begin}: {error}") from error


def _unquoted(cell: str) -> str:
    """A cell of a ``.tsv`` file, without the quotes that pandas and spreadsheets put around quotes.

    They write a cell that contains a quote in quotes, and double each quote in it. Any other cell stays as it
    is. No cell continues in the next line, as a quoted one of a ``.csv`` file may.

    >>> [_unquoted(cell) for cell in ('"Song ""0\"""', '"Weird Al" Yankovic', '"Heroes"', '12" mix')]
    ['Song "0"', '"Weird Al" Yankovic', '"Heroes"', '12" mix']
    """
    return cell[1:-1].replace('""', '"') if QUOTED.fullmatch(cell) else cell


def with_lists(
    row: dict[str, Any], where: str, path: Path, columns: Sequence[str] = LISTS
) -> dict[str, Any]:
    """The row with its lists, which are JSON in cells of a ``.csv`` or ``.tsv`` file; an empty cell is None.

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
    """The columns of a table: those in its header, else those of the first row."""
    if kind_of(path) in (".csv", ".tsv"):
        return next((tuple(row) for _, row in _cells(path)), ())
    if kind_of(path) != ".parquet":
        return next((tuple(row) for _, row in read(path)), ())
    with _parquet(path) as file:
        return tuple(file.schema_arrow.names)


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    """A Parquet file, open; a fault in it is reported in one line."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path, page_checksum_verification=True) as file:
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise ValueError(f"it names a column twice: {', '.join(names)}")
            yield file
    except (OSError, ValueError, ArrowException) as error:
        raise BadInput(f"{path}: not a readable Parquet file ({first_line(error)})") from error


def _read_parquet(
    path: Path, columns: Sequence[str] | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    # Not through pandas, which would turn a missing text into the number NaN.
    n = 0
    with _parquet(path) as file:
        wanted = columns and [c for c in file.schema_arrow.names if c in columns]
        for batch in file.iter_batches(columns=wanted):
            for row in batch.to_pylist():
                n += 1
                yield f"{path}, row {n}", row


def _read_json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a row for each line, one at a time: such files can be larger than the memory."""
    try:
        with _opened(path) as file:
            for n, data in enumerate(file, start=1):
                line = _text_of(data.removesuffix(b"\n"), path, n)
                if line.strip():
                    yield f"{path}, line {n}", _json_object(line, path, n)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from error


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if _is_packed(path) else path.open("rb")


def _unreadable(path: Path, error: Exception) -> BadInput:
    return BadInput(f"{path}: cannot be read ({getattr(error, 'strerror', '') or error})")


def _read_json(path: Path, content: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a ``.json`` file: a list of objects, or (often on the hub) an object on each line."""
    try:
        found = parsed(content, path)
    except json.JSONDecodeError:
        yield from _read_json_lines(path)
        return
    rows = found if isinstance(found, list) else [found]
    if not any(isinstance(row, dict) for row in rows):
        return  # a list of names, say, is no broken table but no table at all
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
    """The text of UTF-8 bytes that begin at ``line`` of a file; a byte order mark may only begin the file."""
    try:
        return data.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        bad = error.object  # without the byte order mark, as error.start counts
        line += bad.count(b"\n", 0, error.start)
        raise BadInput(f"{path}, line {line}: not UTF-8 (byte 0x{bad[error.start]:02x})") from error


def _json_object(line: str, path: Path, n: int) -> dict[str, Any]:
    try:
        row = parsed(line, path, n)
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}, line {n}: not JSON ({error.msg})") from error
    if not isinstance(row, dict):
        raise BadInput(f"{path}, line {n}: expected a JSON object, found {line[:40]!r}")
    return row


def fold(name: str) -> str:
    """The part of a name that equal names share: :func:`composed`, without letter case.

    Letter case alone may distinguish two names, as in Co (cobalt) and CO (carbon monoxide): they are one name
    here.

    >>> fold("ZU\u0308RICH") == fold("z\u00fcrich"), fold("Co") == fold("CO"), fold("Ur") == fold("\u00dcr")
    (True, True, False)
    """
    if name.isascii():
        return name.lower()
    # Decomposed first, as in Unicode (D145): the result of casefold must not depend on the form.
    folded = unicodedata.normalize("NFD", UNSEEN.sub("", name)).casefold()
    return unicodedata.normalize("NFC", folded)


@functools.lru_cache(maxsize=100_000)  # an object is an option of many facts
def word_set(text: str) -> frozenset[str]:
    r"""The words of a text: runs of ``\w``, without letter case and the form of accents.

    >>> sorted(word_set("St. Mary's, Straße 3"))
    ['3', 'mary', 's', 'st', 'strasse']
    """
    return frozenset(re.findall(r"\w+", fold(text)))


def composed(text: str) -> str:
    """A text as it looks: for comparing it, counting its characters or finding a name in it.

    It has one form of accents (NFC: "Zürich" has ü as one character, or as u and a mark after it, and looks
    the same), and no ``UNSEEN``. A model is never asked with this text, but with the text as it was given.

    >>> composed("Zu\u0308\u200brich\u200e") == "Z\u00fcrich"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", UNSEEN.sub("", text))


def text(row: dict[str, Any], where: str, *columns: str) -> str:
    """The text in the first of ``columns`` that the row has; whole numbers (years) become text."""
    for column in columns:
        if column in row:
            value = row[column]
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if not isinstance(value, str) or not composed(value).strip():
                listed = isinstance(value, list) and column in ("object", "obj_label")
                hint = "; all true objects, as a list, are for the column obj_labels" * listed
                raise BadInput(f"{where}: {column} must be a non-empty text, found {value!r}{hint}")
            if found := NO_NAME.search(value):
                what = "a null character" if found[0] == "\0" else "half a character"
                raise BadInput(f"{where}: {column} holds {what}, found {value!r}")
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
