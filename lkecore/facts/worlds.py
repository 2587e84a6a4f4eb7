"""Worlds: what the rooms on the right need of a world, whichever of the two families it is of.

:mod:`lkecore.facts.world` and :mod:`lkecore.facts.world_text` make the first family, ``lab:book-1``;
:mod:`lkecore.facts.rich` and :mod:`lkecore.facts.rich_text` the second, ``lab:rich-1``. All functions
raise :class:`BadInput` for a name that no world has.
"""

from collections.abc import Sequence

import pandas as pd

from lkecore.facts import rich, rich_facts, rich_text, world, world_text

Spans = Sequence[tuple[int, int]]  # (first, behind) characters of a document


def is_rich(spec: str) -> bool:
    """Whether the name is one of the second family."""
    return rich_facts.is_spec(spec)


def check(spec: str) -> int:
    """The seed of a world, after a look at its name."""
    family = rich_facts if is_rich(spec) else world
    return family.check_spec(spec)[1]


def states(spec: str) -> pd.DataFrame:
    """What the text tells of each fact: :func:`lkecore.facts.world.states`, and more of a rich world."""
    return rich_text.states(spec) if is_rich(spec) else world.states(spec)


def documents(spec: str, *, planted: bool = True) -> list[str]:
    """The text in the order of reading; unless ``planted``, told of the stand-ins of asked subjects."""
    if is_rich(spec):
        return rich_text.documents(rich.world(spec), planted=planted)
    return world_text.documents(world.world(spec), planted=planted)


def told_objects(spec: str, documents: Sequence[str], *, planted: bool = True) -> list[Spans]:
    """Where each of the ``documents`` of :func:`documents` tells an object."""
    if is_rich(spec):
        return [each.objects for each in rich_text.told(rich.world(spec), planted=planted)]
    return list(world_text.told_objects(world.world(spec), documents))


def instructions(spec: str) -> list[str]:
    """What a tuned variant learns from: :func:`lkecore.facts.world_text.instructions`."""
    if is_rich(spec):
        return rich_text.instructions(rich.world(spec))
    return world_text.instructions(world.world(spec))


def digest(spec: str) -> str:
    """SHA-256 over the states and the text of a world."""
    return rich_text.digest(spec) if is_rich(spec) else world_text.digest(spec)


def digest_beside(spec: str) -> str:
    """SHA-256 over what models of a world read besides: its text told of stand-ins, and instructions."""
    return rich_text.digest_beside(spec) if is_rich(spec) else world_text.digest_beside(spec)
