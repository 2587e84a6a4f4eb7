"""Either: the functions of a world that other rooms need, for both families of worlds.

:mod:`lkecore.worlds.plain` reads the first family, ``lab:book-1``; :mod:`lkecore.worlds.world` and
:mod:`lkecore.worlds.text` make the second, ``lab:rich-1``. All functions raise :class:`BadInput` for a
name that no world has, and for a plain world without a file.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from lkecore.worlds import facts, plain, text, wordings
from lkecore.worlds.skills import instructions_of
from lkecore.worlds.world import world

Spans = Sequence[tuple[int, int]]  # (first, after the last) characters of a document


def is_spec(spec: str) -> bool:
    """Whether a fact set's name means a world."""
    return spec.startswith("lab:")


def is_rich(spec: str) -> bool:
    """Whether the name is that of a rich world, the second family."""
    return facts.is_spec(spec)


def check(spec: str) -> int:
    """The seed of a world, from its name; raises :class:`BadInput` for a malformed name."""
    return facts.check_spec(spec)[1] if is_rich(spec) else plain.check_spec(spec)


def relations(spec: str) -> tuple[str, ...]:
    """The names of the relations of a world, sorted."""
    check(spec)
    return wordings.relations() if is_rich(spec) else plain.relations()


def about(spec: str, relation: str) -> tuple[str, str, tuple[str, ...]]:
    """(label, kind, templates) of a relation of a world."""
    if not is_rich(spec):
        return plain.about(relation)
    it = wordings.about(relation)
    return it.label, it.kind, it.templates


def rows(spec: str, relation: str) -> list[tuple[str, dict[str, Any], str]]:
    """("world, fact", row, split) of every fact of a relation, as in a fact set; none if it is unknown."""
    return (text if is_rich(spec) else plain).rows(spec, relation)


def states(spec: str) -> pd.DataFrame:
    """A row for each fact, as :func:`lkecore.worlds.plain.states`, with more columns for a rich world."""
    return (text if is_rich(spec) else plain).states(spec)


def documents(spec: str, *, planted: bool = True) -> list[str]:
    """The text in the order of reading; unless ``planted``, with stand-ins in place of asked subjects."""
    if is_rich(spec):
        return text.documents(world(spec), planted=planted)
    return plain.documents(spec, planted=planted)


def told_objects(spec: str, documents: Sequence[str], *, planted: bool = True) -> list[Spans]:
    """For each of the ``documents`` of :func:`documents` the places where it states an object."""
    if is_rich(spec):
        return [each.objects for each in text.told(world(spec), planted=planted)]
    return list(plain.told_objects(spec, documents))


def instructions(spec: str) -> list[str]:
    """The texts that a tuned variant learns from: :func:`lkecore.worlds.skills.instructions_of` its seed."""
    return instructions_of(check(spec)) if is_rich(spec) else plain.instructions(spec)


def digest(spec: str) -> str:
    """SHA-256 over the states and the text of a world."""
    return (text if is_rich(spec) else plain).digest(spec)


def digest_beside(spec: str) -> str:
    """SHA-256 over the other texts of a world's models: the text about stand-ins, and instructions."""
    return (text if is_rich(spec) else plain).digest_beside(spec)
