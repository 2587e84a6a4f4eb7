"""Given: templates of a file, and kinds of LAMA's relations, for fact sets that have neither (PZ-D1)."""

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
    """(the sample, its relations with the templates of a file; why each of the others is left out).

    ``path`` is a table with the columns ``relation``, ``template`` and, if several sets of templates
    stand in it, ``source``. Of each relation the rows of ``source`` count, in their order. A full stop at
    the end is taken off, with the space before it. Left out are relations without a template, and, if a
    ``causal`` model is to be asked, those whose first one goes on behind its blank, where it does not look.
    The kind of a relation is that of LAMA's (location, language or other), unless the fact set says it.
    Raises :class:`BadInput` for a file that is not there or lacks a column, and where no relation is left.

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
    """:func:`kinds`, with those of the relations of a sample whose fact set says them."""
    return kinds() | {name: own for name, of in sample.items() if (own := of.relation.kind)}
