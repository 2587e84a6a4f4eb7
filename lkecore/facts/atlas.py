"""Atlas: the embedded facts, from tables inside Python packages (``data/ATLAS.md`` has the sources)."""

from typing import Any

from lkecore.facts.tables import read
from lkecore.storage import DATA

FACTS, RELATIONS = DATA / "atlas.tsv", DATA / "atlas_relations.tsv"


def relations() -> tuple[str, ...]:
    """The names of the relations, sorted."""
    return tuple(row["relation"] for _, row in read(RELATIONS))


def rows(relation: str) -> list[tuple[str, dict[str, Any], str]]:
    """("atlas.tsv", row, "") of every row of a relation; empty if it is unknown."""
    return [(FACTS.name, row, "") for _, row in read(FACTS) if row["relation"] == relation]


def about(relation: str) -> dict[str, Any]:
    """What its table says of a relation, as fields of :class:`~lkecore.facts.fact.Relation`."""
    [row] = [row for _, row in read(RELATIONS) if row["relation"] == relation]
    return {
        "label": row["label"],
        "kind": row["kind"],
        "codes": row["codes"] == "yes",
        "paper_relation": row["paper_relation"],
        "templates": tuple(row[f"template_{i}"] for i in range(1, 6)),
    }
