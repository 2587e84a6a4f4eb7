"""Questions: one question for each relation, and statements that name its subject or its object first.

The XTRAEVAL paper asks for a document by a question without the object, and its documents are statements (its
section 2.2). It prints a few examples and no list. The table ``questions.tsv`` is ours: two statements in
either order for the embedded relations and for the 41 of T-REx. A rich world has those of its own text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lkecore.errors import BadInput
from lkecore.facts import tables
from lkecore.facts.fact import Relation
from lkecore.facts.tables import fold, text
from lkecore.facts.wordings import WORDLESS, plain, wordless
from lkecore.storage import DATA
from lkecore.worlds import wordings as rich_wordings

QUESTIONS = DATA / "questions.tsv"
COLUMNS = ("relation", "kind", "text")
KINDS = ("question", "statement", "statement-object-first")
ASKS = ("statement", "noun", "object first")  # the groups of a rich world that are statements


@dataclass(frozen=True)
class Wording:
    """The wordings of a relation: ``question`` has an [X], each of ``statements`` an [X] and a [Y]."""

    question: str
    statements: tuple[str, ...]


def of(relations: Iterable[Relation], path: str = "") -> dict[str, Wording]:
    """Wordings of relations, by name: those of the table ``path``, else of a rich world's text, else ours.

    A relation without a wording is left out. Raises :class:`BadInput` as :func:`read` does.
    """
    table = read(path)
    found = {}
    for relation in relations:
        name = relation.name
        in_rich = not path and name in rich_wordings.relations()
        if in_rich and relation.templates == rich_wordings.about(name).templates:
            found[name] = _rich(relation.templates)
        elif name in table:
            found[name] = table[name]
    return found


def single(wordings: Mapping[str, Wording], place: int) -> dict[str, Wording]:
    """The same wordings with one statement each: the one at ``place``, from 0.

    Where there are fewer statements, ``place`` counts on from the first again. With a negative ``place`` all
    statements stay.

    >>> one = single({"author": Wording("Who wrote [X]?", ("[Y] wrote [X].", "[X] is by [Y]."))}, 3)
    >>> one["author"].statements
    ('[X] is by [Y].',)
    """
    if place < 0:
        return dict(wordings)
    return {
        name: replace(own, statements=(own.statements[place % len(own.statements)],))
        for name, own in wordings.items()
    }


def read(path: str = "") -> dict[str, Wording]:
    """The wordings of a table, ours by default, by relation.

    The table has the columns ``relation``, ``kind`` (one of ``KINDS``) and ``text``. Raises :class:`BadInput`
    for

    - a file that does not exist, other columns, and another kind;
    - a question without [X] or with [Y];
    - a statement that does not have [X] and [Y] once each, in the order of its kind;
    - a wording without a word beside them;
    - a wording that is in the table twice, whatever the relation (two documents could not be distinguished);
    - a relation without exactly one question and at least one statement.
    """
    file = Path(path or QUESTIONS)
    if not file.is_file() or set(tables.header(file)) != set(COLUMNS):
        raise BadInput(f"{file}: a table with the columns {', '.join(COLUMNS)} is wanted")
    asked: dict[str, list[str]] = {}
    told: dict[str, list[str]] = {}
    first: dict[str, str] = {}
    for where, row in tables.read(file):
        relation, kind, words = (text(row, where, column) for column in COLUMNS)
        words = plain(words)
        if fault := _fault(kind, words):
            raise BadInput(f"{where}: {fault}")
        if (before := first.setdefault(fold(words), where)) != where:
            raise BadInput(f"{where}: {kind} {words!r} says again what {before} says")
        (asked if kind == "question" else told).setdefault(relation, []).append(words)
    for relation in {**asked, **told}:
        n, statements = len(asked.get(relation, ())), len(told.get(relation, ()))
        if n != 1 or not statements:
            raise BadInput(
                f"{file}: relation {relation} has {n} questions and {statements} statements; it needs one "
                "question and at least one statement"
            )
    return {name: Wording(asked[name][0], tuple(told[name])) for name in asked}


def _fault(kind: str, words: str) -> str:
    """What is wrong with a wording; "" if nothing is."""
    subject, object_ = words.count("[X]"), words.count("[Y]")
    if kind not in KINDS:
        return f"kind {kind!r} must be one of {', '.join(KINDS)}"
    if wordless(words):
        return f"{kind} {words!r} {WORDLESS}"
    if kind == "question":
        if object_:
            return f"question {words!r} has [Y] in it, and must not name what it asks for"
        return (
            "" if subject == 1 else f"question {words!r} has [X] {subject} times, and needs it once"
        )
    if (subject, object_) != (1, 1):
        return (
            f"{kind} {words!r} has [X] {subject} times and [Y] {object_} times, and needs each once"
        )
    if (words.index("[Y]") < words.index("[X]")) != (kind == KINDS[2]):
        return f"{kind} {words!r} names the {'object' if kind == KINDS[1] else 'subject'} first"
    return ""


def _rich(templates: tuple[str, ...]) -> Wording:
    """The wording of a rich world's relation: its question without "Question:", and all its statements."""
    by = list(zip(rich_wordings.groups(), templates, strict=True))
    [question, *_] = (t for group, t in by if group == "question" and t[:9] != "Question:")
    return Wording(question.partition("?")[0] + "?", tuple(t for group, t in by if group in ASKS))
