"""Given: templates from a file, and kinds of LAMA's relations, for fact sets that have neither (PZ-D1)."""

import functools
from dataclasses import replace
from pathlib import Path

from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.facts.tables import read
from lkecore.storage import DATA

STOP = "."


def with_templates_of(
    sample: Sample, path: str, *, source: str = "lama", causal: bool = True
) -> tuple[Sample, dict[str, str]]:
    """(the sample's relations that have templates in a file, with these; {relation left out: why}).

    ``path`` is a table with the columns ``relation``, ``template`` and, if it has several sets of templates,
    ``source``. For each relation the rows of ``source`` count, in their order. A full stop at the end is
    removed, with the space before it. Some relations are left out: those without a template and, if a
    ``causal`` model is to be asked, those whose first template continues after its blank, which such a model
    does not read. The kind of a relation is that of LAMA's (location, language or other), unless the fact set
    states one. Raises :class:`BadInput` for a file that does not exist or lacks a column, and where no
    relation is left.

    >>> plain("[X] works in the field of [Y] .")
    '[X] works in the field of [Y]'
    """
    file = Path(path)
    if not file.is_file():
        raise BadInput(f"templates {path}: no such file")
    found: dict[str, list[str]] = {}
    for where, row in read(file):
        if lacking := [name for name in ("relation", "template") if not row.get(name)]:
            raise BadInput(f"{where}: no {lacking[0]}; a table of templates needs both")
        if row.get("source", source) == source:
            found.setdefault(row["relation"], []).append(plain(row["template"]))
    kept, out = {}, {}
    for name, drawn in sample.items():
        own = found.get(name, [])
        if not own:
            out[name] = "no template"
        elif causal and not own[0].endswith("[Y]"):
            out[name] = f"{own[0]!r} goes on behind its blank"
        else:
            kind = drawn.relation.kind or kinds().get(name, "")
            relation = replace(drawn.relation, templates=tuple(own), kind=kind)
            kept[name] = replace(drawn, relation=relation)
    if not kept:
        raise BadInput(
            f"templates {path}: none of {source} for {', '.join(sample)}{causal * ' that ends with [Y]'}"
        )
    return kept, out


def plain(words: str) -> str:
    """A template without the full stop at its end."""
    words = words.strip()
    return words.removesuffix(STOP).rstrip()


@functools.cache
def kinds() -> dict[str, str]:
    """The kind of the objects of LAMA's 41 relations, by Wikidata property: 22 are places or languages."""
    return {row["property"]: row["kind"] for _, row in read(DATA / "lama_kinds.csv")}


def kinds_of(sample: Sample) -> dict[str, str]:
    """:func:`kinds`, with the kinds that the fact set states for relations of a sample."""
    return kinds() | {name: own for name, of in sample.items() if (own := of.relation.kind)}
