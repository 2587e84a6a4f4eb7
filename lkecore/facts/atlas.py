"""Atlas: the embedded facts, from tables inside Python packages (``data/ATLAS.md`` has the sources)."""

import functools
from typing import Any

from lkecore.facts.tables import read
from lkecore.storage import DATA

FACTS, RELATIONS = DATA / "atlas.tsv", DATA / "atlas_relations.tsv"


def relations() -> tuple[str, ...]:
    """The names of the relations, sorted."""
    return tuple(_tables()[0])


@functools.cache  # it is part of the package: 8,943 rows, which a page reads relation by relation
def _tables() -> tuple[dict[str, dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """({relation: its row of ``RELATIONS``}, {relation: its facts}); nobody may change them."""
    of: dict[str, list[dict[str, Any]]] = {}
    for _, row in read(FACTS):
        of.setdefault(row["relation"], []).append(row)
    return {row["relation"]: row for _, row in read(RELATIONS)}, of


def rows(relation: str) -> list[tuple[str, dict[str, Any], str]]:
    """("atlas.tsv", row, "") of every row of a relation; an empty list if the relation is unknown."""
    return [(FACTS.name, dict(row), "") for row in _tables()[1].get(relation, [])]


def about(relation: str) -> dict[str, Any]:
    """The fields of :class:`~lkecore.facts.fact.Relation` in the table's row about a relation."""
    row = _tables()[0][relation]
    return {
        "label": row["label"],
        "kind": row["kind"],
        "codes": row["codes"] == "yes",
        "paper_relation": row["paper_relation"],
        "templates": tuple(row[f"template_{i}"] for i in range(1, 6)),
    }
