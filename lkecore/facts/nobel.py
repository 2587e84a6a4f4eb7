"""Nobel: facts about the laureates, the first data set of the IC-LKE paper, from Wikidata.

``tools/laureates.py`` fetches the table into the cache, ``nobel/laureates.tsv``, and documents its columns.
A table of the same columns from elsewhere is read the same way.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput
from lkecore.facts.tables import fold, read, text
from lkecore.storage import cache_folder, file_digest

COLUMNS = (
    "id", "name", "birth_year", "birth_date", "award_years", "categories", "gender",
    "birth_country", "birth_city",
)  # fmt: skip
# Without birth_date: a date that is not known to the day would not be a true object.
COLUMN_OF = {
    "award_year": "award_years",
    "birth_city": "birth_city",
    "birth_country": "birth_country",
    "birth_year": "birth_year",
    "category": "categories",
    "gender": "gender",
}

# --- facts ----------------------------------------------------------------------------------------


def relations(spec: str = "nobel") -> tuple[str, ...]:
    """The names of the relations, sorted; :class:`BadInput` for a malformed year, or without the table."""
    last_year(spec)
    path()
    return tuple(COLUMN_OF)


def is_spec(spec: str) -> bool:
    """Whether a fact set's name means these facts: ``nobel``, or ``nobel:2022`` for those of that year."""
    return spec == "nobel" or spec.startswith("nobel:")


def rows(spec: str = "nobel") -> list[tuple[str, dict[str, str]]]:
    """:func:`rows_of` of the table in the cache."""
    return rows_of(path(), last_year(spec))


def last_year(spec: str) -> int | None:
    """The year in ``nobel:YEAR``; None for ``nobel``."""
    _, _, year = spec.partition(":")
    if spec != "nobel" and not is_year(year):
        raise BadInput(f"fact set {spec!r} must be nobel or nobel:YEAR, such as nobel:2022")
    return int(year) if year else None


def table_of(spec: str) -> tuple[Path, int | None] | None:
    """(file, last year or None) if a fact set is a table of laureates; None if it is something else.

    ``:YEAR`` after the path means the facts as they were in that year, as in ``nobel:2022``.
    :class:`BadInput` for anything else after the path of such a table.
    """
    if is_laureate_table(Path(spec)):
        return Path(spec), None
    path, _, year = spec.rpartition(":")
    if not path or not is_laureate_table(Path(path)):
        return None
    if not is_year(year):
        raise BadInput(f"fact set {spec!r}: behind the table must stand a year, such as :2022")
    return Path(path), int(year)


def rows_of(table: Path, last_year: int | None = None) -> list[tuple[str, dict[str, str]]]:
    """("file, line n", {id, relation, subject, object}) for every fact of a table of laureates.

    A laureate with several prizes or birth places has a row for each distinct year, category or place: all
    are true. An empty value of the table gives no row. ``last_year`` gives the facts as they were then:
    without later prizes, and without laureates of later years (the paper's year is 2022). It is an argument,
    so that one table serves any year.

    Raises :class:`BadInput` for a row that breaks the rules of the table, with its line: a repeated id, a
    name of two laureates, a malformed year, or a number of prizes that differs from that of years.
    """
    found: list[tuple[str, dict[str, str]]] = []
    lines: dict[tuple[str, str], str] = {}
    for where, row in read(table):
        key, name = text(row, where, "id"), text(row, where, "name")
        for kind, value in (("id", key), ("name", fold(name))):
            if (kind, value) in lines:
                raise BadInput(
                    f"{where}: the {kind} {row[kind]!r} stands in {lines[kind, value]} too; "
                    "it must stand for one laureate"
                )
            lines[kind, value] = where
        prizes = _prizes(row, where)
        kept = [prize for prize in prizes if last_year is None or int(prize[0]) <= last_year]
        if not kept:
            continue
        values = {column: _parts(row, where, column) for column in COLUMN_OF.values()}
        values["award_years"], values["categories"] = map(list, zip(*kept, strict=True))
        for relation, column in COLUMN_OF.items():
            for value in dict.fromkeys(values[column]):
                fact = {"id": f"{key}-{relation}-{value}", "relation": relation}
                found.append((where, {**fact, "subject": name, "object": value}))
    return found


def _prizes(row: Mapping[str, Any], where: str) -> list[tuple[str, str]]:
    """(year, category) of each prize of a row."""
    years, categories = (_parts(row, where, column) for column in ("award_years", "categories"))
    if not years or len(years) != len(categories):
        raise BadInput(f"{where}: {len(years)} award_years for {len(categories)} categories")
    return list(zip(years, categories, strict=True))


def _parts(row: Mapping[str, Any], where: str, column: str) -> list[str]:
    """The values of a field, an empty list if it has none; years are checked."""
    if not row[column].strip():
        return []
    parts = [" ".join(part.split()) for part in row[column].split(";")]
    if not all(parts):
        raise BadInput(f"{where}: {column} has an empty value in {row[column]!r}")
    for part in parts:
        if column in ("birth_year", "award_years") and not is_year(part):
            raise BadInput(f"{where}: {column} must be years (YYYY), found {part!r}")
    return parts


def is_laureate_table(table: Path) -> bool:
    """Whether a file is a ``.tsv`` with exactly the columns of the table of laureates."""
    if table.suffix != ".tsv" or not table.is_file():
        return False
    try:
        with open(table, encoding="utf-8-sig", errors="replace") as file:
            header = file.readline(1000)
    except OSError:  # the reader of the table reports what is wrong with it
        return False
    return tuple(header.rstrip("\n").split("\t")) == COLUMNS


# --- the table in the cache -----------------------------------------------------------------------


def content_digest() -> str:
    """SHA-256 of the table in the cache."""
    return file_digest(path())


def is_ready() -> bool:
    """Whether the table is in the cache, with the columns of today."""
    return is_laureate_table(table_path())


def path() -> Path:
    """The table of laureates in the cache; without it, :class:`BadInput` says how to make it."""
    table = table_path()
    if not is_laureate_table(table):
        raise BadInput(
            f"nobel: no table of laureates at {table}; python tools/laureates.py makes it"
        )
    return table


def table_path() -> Path:
    """The path of the table of laureates."""
    return cache_folder() / "nobel" / "laureates.tsv"


def is_year(value: str) -> bool:
    """Whether a text is a year YYYY from 1000 to 2999."""
    return re.fullmatch(r"[12][0-9]{3}", value) is not None
