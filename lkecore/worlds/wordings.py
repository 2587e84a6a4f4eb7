"""Wordings: the relations of the rich worlds, and the templates in which a text tells them.

Every relation has five groups of five templates: a manual one, then its paraphrases. They are made of
phrases, written by hand for each relation, and of frames that all relations share. So each word of a
template stands in the text, and no template is part of another one.
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

from lkecore.errors import BadInput, nearest
from lkecore.storage import DATA
from lkecore.worlds.base import table

RELATIONS = DATA / "lab_rich_relations.tsv"
FRAMES = DATA / "lab_rich_frames.tsv"
TEMPLATES = 25  # of each relation
GROUP = 5  # of them belong together: one manual, four paraphrases
# Around an object in a text that is not finished yet; see `unmarked`.
OPEN, CLOSE = "\x02", "\x03"


@dataclass(frozen=True)
class About:
    """What the table says of a relation.

    ``subjects``, ``objects``: the kinds of their names. ``skew``: how objects are drawn: even, zipf,
    majority (one object has more than all others) or chain (as the ends of chains fall). ``lists``: how
    often its facts stand in lists (often, rarely, never). ``several``: some subjects have two true
    objects. ``cue``: what in a subject's name may hint at its object (surname, city, country), or
    majority. ``chain``: the relations that lead from the same subject to the same object, in order.
    """

    relation: str
    label: str
    kind: str
    subjects: str
    objects: str
    skew: str
    lists: str
    several: bool
    cue: str
    chain: tuple[str, ...]
    templates: tuple[str, ...]


class Draft(NamedTuple):  # a world has tens of thousands, and these are made quickly
    """A document before it is finished, with marks around its objects.

    ``kind``: paragraph, list, or the skill that it shows. ``facts``: the ids of the facts that it tells.
    ``names``: subjects and objects that it names, one for each mention, by their own name.
    """

    kind: str
    marked: str
    facts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def relations() -> tuple[str, ...]:
    """The names of the relations, sorted; every rich world has them all."""
    return tuple(sorted(row["relation"] for row in _table()))


@functools.cache
def about(relation: str) -> About:
    """What is known of a relation.

    Raises :class:`BadInput` for an unknown one, and for one whose phrases make fewer than
    ``TEMPLATES`` templates.
    """
    rows = {row["relation"]: row for row in _table()}
    if relation not in rows:
        raise BadInput(f"unknown relation {relation!r} in lab:rich; {nearest(relation, rows)}")
    row = rows[relation]
    return About(
        **{name: row[name] for name in ("relation", "label", "kind", "subjects", "objects")},
        **{name: row[name] for name in ("skew", "lists", "cue")},
        several=row["several"] == "yes",
        chain=tuple(row["chain"].split()),
        templates=templates(row),
    )


def templates(row: dict[str, str]) -> tuple[str, ...]:
    """The templates of a relation, from its phrases, in the order of the frames.

    A frame is left out where the relation lacks its phrase. Raises :class:`BadInput` where fewer than
    ``TEMPLATES`` are left.
    """
    found = [_filled(frame["frame"], row) for frame in table(FRAMES)]
    there = tuple(template for template in found if template)
    if len(there) < TEMPLATES:
        raise BadInput(
            f"{RELATIONS.name}: relation {row['relation']!r} has phrases for {len(there)} templates, "
            f"and a rich world needs {TEMPLATES}"
        )
    return there


def nobody(relation: str) -> str:
    """A subject of a relation without content, on which the text remarks and tells nothing.

    What an estimator says of it is what it says whoever is asked about: a level of bias.

    >>> nobody("residence")
    'this person'
    """
    return f"this {about(relation).subjects}"


@functools.cache
def groups() -> tuple[str, ...]:
    """The group of each template, in their order: statement, noun, object first and so on."""
    return tuple(frame["group"] for frame in table(FRAMES))


def fill(template: str, subject: str, object_: str) -> str:
    """A template with its subject and its object, which is marked, and a full stop."""
    return template.replace("[X]", subject).replace("[Y]", f"{OPEN}{object_}{CLOSE}") + "."


def unmarked(marked: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A text without marks, and where its objects stand: (first, behind) characters, in order.

    >>> unmarked("Tamo lives in \x02Kelmo\x03.")
    ('Tamo lives in Kelmo.', ((14, 19),))
    """
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    for i, piece in enumerate(marked.replace(CLOSE, OPEN).split(OPEN)):
        if i % 2:
            spans.append((length, length + len(piece)))
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces), tuple(spans)


@functools.cache
def _table() -> tuple[dict[str, str], ...]:
    return tuple(table(RELATIONS))


def _filled(frame: str, row: dict[str, str]) -> str:
    """A frame with a relation's phrases; "" if it lacks one."""
    for name, phrase in row.items():
        if f"{{{name}}}" in frame:
            if not phrase:
                return ""
            frame = frame.replace(f"{{{name}}}", phrase)
    return frame
