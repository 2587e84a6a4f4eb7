"""Wordings: templates of a relation in groups, and other names of its subjects and objects, for any fact set.

A template expresses a relation once, "The capital of [X] is [Y]". The templates of a *group* express it in
one way: a manual one, and its paraphrases. With the *expressions* of a subject, its own name and its other
names, they make the prompts of a pair (relation, subject).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lkecore import worlds
from lkecore.errors import BadInput, nearest
from lkecore.facts import atlas, tables
from lkecore.facts.drawn import Drawn, Sample
from lkecore.facts.fact import Fact, Relation
from lkecore.facts.tables import composed, fold, text
from lkecore.storage import DATA
from lkecore.worlds import wordings as rich_wordings
from lkecore.worlds import world as rich

Others = dict[str, tuple[str, ...]]  # name -> its other names
WORDINGS, NAMES = DATA / "wordings.tsv", DATA / "names.tsv"
COLUMNS = ["relation", "group", "template", "manual", "question", "made"]
FRAME = ["relation", "template", "group", "manual", "question", "text"]
NAMED = ["kind", "name", "other"]
WORDLESS = "has no word beside [X] and [Y], and says nothing of its relation"
KINDS = {  # our relations: the kind of their subjects and of their objects, for other names in NAMES
    "atomic_number": ("element", ""),
    "capital": ("country", ""),
    "country_code": ("country", ""),
    "country_of_city": ("", "country"),
    "country_of_language": ("language", "country"),
    "currency": ("country", ""),
    "element_symbol": ("element", ""),
    "film_language": ("", "language"),
    "language_code": ("language", ""),
    "native_name": ("language", ""),
    "official_language": ("country", "language"),
}


# --- templates ------------------------------------------------------------------------------------


def read(path: str = "") -> pd.DataFrame:
    """The templates of a table, ours by default: a row for each, relations and groups in their order.

    The table has the columns ``relation``; ``group``, any name; ``template``, with one [X] and one [Y];
    ``manual`` and ``question``, yes or no; ``made``, how it came about. Columns of the frame: ``relation``;
    ``template``, its place in the relation, from 0; ``group``, from 0; ``manual`` (such a template comes
    first in its group); ``question``; ``text``, without a full stop at the end.

    Raises :class:`BadInput` for a file that does not exist, a column that is unknown or lacking, a template
    without [X] or [Y], with two of them or no word beside them, a duplicate
    (:func:`lkecore.facts.tables.fold`), and a group with none or several manual templates.
    """
    rows: list[dict[str, Any]] = []
    first: dict[tuple[str, ...], str] = {}
    groups: dict[str, dict[str, int]] = {}
    manual: Counter[tuple[str, str]] = Counter()
    for where, row in _rows(Path(path or WORDINGS), COLUMNS):
        relation, group = text(row, where, "relation"), text(row, where, "group")
        words = plain(text(row, where, "template"))
        if fault := _fault(words):
            raise BadInput(f"{where}: {fault}")
        if (relation, fold(words)) in first:
            raise BadInput(
                f"{where}: template {words!r} says again what {first[relation, fold(words)]} says"
            )
        first[relation, fold(words)] = where
        first.setdefault((relation, group, "group"), where)
        numbers = groups.setdefault(relation, {})
        number = numbers.setdefault(group, len(numbers))
        flags = {name: _yes(row, where, name) for name in ("manual", "question")}
        manual[relation, group] += flags["manual"]
        rows.append({"relation": relation, "group": number, **flags, "text": words})
    for (relation, group), n in manual.items():
        if n != 1:
            raise BadInput(
                f"{first[relation, group, 'group']}: group {group!r} of relation {relation} has {n} manual "
                "templates, and needs one, which the others paraphrase"
            )
    if not rows:
        raise BadInput(f"{path}: no template in it")
    order = list(groups)
    rows.sort(key=lambda row: (order.index(row["relation"]), row["group"], not row["manual"]))
    frame = pd.DataFrame(rows)
    return frame.assign(template=frame.groupby("relation").cumcount())[FRAME]


def onto(sample: Sample, path: str = "") -> tuple[Sample, pd.DataFrame, dict[str, str]]:
    """(the sample with templates on its relations, their frame as of :func:`read`, {relation left out: why}).

    With ``path``, templates are those of that table, by the names of the relations. Without ``path``, a
    relation keeps the templates that come with it; our table replaces the five of the atlas, and serves
    relations without any, by name. Templates of a rich world have their groups; others that come with a
    relation have none (-1), and are manual where the fact set says so.

    Raises :class:`BadInput` where no relation is left, and as :func:`read`.
    """
    table = dict(list(read(path).groupby("relation", sort=False)))
    kept: dict[str, Drawn] = {}
    frames, out = [], {}
    for name, drawn in sample.items():
        own = _brought(drawn.relation) if not path else None
        found = table.get(name) if own is None else own
        if found is None:
            out[name] = f"no template in {path or WORDINGS.name}"
        elif faults := [fault for words in found["text"] if (fault := _fault(words))]:
            out[name] = faults[0]
        else:
            words, manual = tuple(found["text"]), tuple(found["manual"].tolist())
            relation = replace(drawn.relation, templates=words, manual=manual)
            kept[name] = replace(drawn, relation=relation)
            frames.append(found)
    if not kept:
        raise BadInput(f"wordings {path or WORDINGS.name}: none for {', '.join(sample)}")
    return kept, pd.concat(frames, ignore_index=True), out


def _brought(relation: Relation) -> pd.DataFrame | None:
    """The templates that a fact set gives a relation; None without any, and for the five of the atlas."""
    name, words = relation.name, relation.templates
    if not words or (name in atlas.relations() and words == atlas.about(name)["templates"]):
        return None
    groups, manual = [-1] * len(words), relation.manual or (False,) * len(words)
    if name in rich_wordings.relations() and words == rich_wordings.about(name).templates:
        names = rich_wordings.groups()
        groups = [list(dict.fromkeys(names)).index(each) for each in names]
        manual = tuple(each not in names[:i] for i, each in enumerate(names))
    found = {"relation": name, "template": range(len(words)), "group": groups, "manual": manual}
    plainly = [plain(each) for each in words]
    return pd.DataFrame(found | {"question": ["?" in each for each in words], "text": plainly})


def plain(words: str) -> str:
    """A template without the full stop at its end, and the space before that.

    >>> plain("[X] lies in [Y] .")
    '[X] lies in [Y]'
    """
    return words.strip().removesuffix(".").rstrip()


def wordless(words: str) -> bool:
    r"""Whether a wording has no word beside its places, so that it expresses no relation.

    >>> wordless("[X], [Y]"), wordless("[X] is [Y]")
    (True, False)
    """
    return not re.search(r"\w", words.replace("[X]", "").replace("[Y]", ""))


# --- names ----------------------------------------------------------------------------------------


def named(sample: Sample, path: str = "", *, fact_set: str = "") -> Sample:
    """The sample with other names on all its facts: ``subject_aliases`` and ``object_aliases``.

    With ``path``, names come from that table: ``kind`` (country, language, element, or the name of a
    relation, for its subjects), ``name`` as the facts have it, ``other``. Without ``path`` they are those of
    the rich world ``fact_set``, or else ours, for relations named as the atlas's. A subject gets no name that
    contains a name of a true object, or is contained in one, as whole words: Czech Republic where the
    language is asked, US where the US Dollar is (the atlas's own rule for its names).

    Raises :class:`BadInput` for a table of names as :func:`read`, for a name of two things of one kind, and
    for one of another subject or object of the relation.
    """
    world = not path and worlds.is_rich(fact_set)
    others = {} if world else _others(Path(path or NAMES))
    if world:
        rows = rich.world(fact_set).aliases
        others[""] = {
            name: (alias,) for name, alias in zip(rows["name"], rows["alias"], strict=True)
        }
    found = {}
    for name, drawn in sample.items():
        kinds = ("", "") if world else KINDS.get(name, (name, "-"))
        of_subjects, of_objects = (others.get(kind, {}) for kind in kinds)
        _check_apart(name, [fact.subject for fact in drawn.relation.facts], of_subjects)
        _check_apart(name, [fact.object for fact in drawn.relation.facts], of_objects)

        parts = {
            part: _with(getattr(drawn, part), of_subjects, of_objects)
            for part in ("shots", "facts", "train", "test")
        }
        all_facts = _with(drawn.relation.facts, of_subjects, of_objects)
        found[name] = replace(drawn, relation=replace(drawn.relation, facts=all_facts), **parts)
    return found


def _with(facts: Sequence[Fact], of_subjects: Others, of_objects: Others) -> tuple[Fact, ...]:
    return tuple(
        replace(
            fact,
            subject_aliases=tuple(
                other
                for other in of_subjects.get(composed(fact.subject), ())
                if not _tells(other, fact.true_names)
            ),
            object_aliases=of_objects.get(composed(fact.object), ()),
        )
        for fact in facts
    )


def _tells(other: str, true_names: Iterable[str]) -> bool:
    """Whether a name contains the words of a true name, or a true name its words, accents aside."""
    forms = [unicodedata.normalize("NFKD", f" {name} ").casefold() for name in (other, *true_names)]
    words = [re.sub(r"\W+", " ", re.sub(r"[\u0300-\u036f]", "", form)) for form in forms]
    return any(words[0] in each or each in words[0] for each in words[1:])


def _others(path: Path) -> dict[str, Others]:
    """{kind: {name: its other names}} of a table."""
    found: dict[str, Others] = {}
    rows = []
    for where, row in _rows(path, NAMED):
        kind, name, other = (text(row, where, column) for column in NAMED)
        rows.append((where, composed(kind), composed(name), unicodedata.normalize("NFC", other)))
    whose = {(kind, fold(name)): name for _, kind, name, _ in rows}
    for where, kind, name, other in rows:
        if (kind, fold(other)) in whose:
            raise BadInput(
                f"{where}: {other!r} is another name of {name!r}, and already names "
                f"{whose[kind, fold(other)]!r}; a name of two things of one kind tells neither"
            )
        whose[kind, fold(other)] = name
        of_kind = found.setdefault(kind, {})
        of_kind[name] = (*of_kind.get(name, ()), other)
    return found


def _check_apart(relation: str, names: Sequence[str], others: Others) -> None:
    there = {fold(name): name for name in names}
    for name in sorted({*map(composed, names)} & {*others}):
        for other in others[name]:
            if fold(other) in there:
                raise BadInput(
                    f"relation {relation}: {other!r}, another name of {name!r}, is also the name of "
                    f"{there[fold(other)]!r}, and would ask of both"
                )


# --- counts ---------------------------------------------------------------------------------------


def pairs(sample: Sample) -> Sample:
    """The sample with one asked fact for each subject, the first: its other objects are right as well."""
    found = {}
    for name, drawn in sample.items():
        first = {fact.subject: i for i, fact in reversed(list(enumerate(drawn.facts)))}
        kept = sorted(first.values())
        facts, options = (tuple(each[i] for i in kept) for each in (drawn.facts, drawn.options))
        found[name] = replace(drawn, facts=facts, options=options)
    return found


def counts(sample: Sample, frame: pd.DataFrame) -> pd.DataFrame:
    """The number of questions: a row for each relation, and one for "all".

    ``pairs``: subjects asked; ``templates``; ``expressions``: mean number of names of a subject; ``prompts``:
    each subject by each of its names in each template; ``prompts_a_pair``: their mean number for a subject.
    """
    templates = frame.groupby("relation").size()
    rows = []
    for name, drawn in pairs(sample).items():
        n = sum(len(fact.expressions) for fact in drawn.facts)
        rows.append((name, len(drawn.facts), templates[name], n, n * templates[name]))
    found = pd.DataFrame(rows, columns=["relation", "pairs", "templates", "expressions", "prompts"])
    found.loc[len(found)] = ["all", *found.drop(columns="relation").sum()]
    each = found["expressions"] / found["pairs"], found["prompts"] / found["pairs"]
    return found.assign(expressions=each[0], prompts_a_pair=each[1])


# --- tables ---------------------------------------------------------------------------------------


def _rows(path: Path, columns: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """The rows of a table that has these columns and no others ("made" may be lacking)."""
    if not path.is_file():
        raise BadInput(f"{path}: no such file; a table of {', '.join(columns)} is wanted")
    for name in tables.header(path):
        if name not in columns:
            raise BadInput(f"{path}, line 1: unknown column {name!r}; {nearest(name, columns)}")
    return list(tables.read(path))


def _yes(row: dict[str, Any], where: str, column: str) -> bool:
    value = text(row, where, column)
    if value not in ("yes", "no"):
        raise BadInput(f"{where}: {column} must be yes or no, found {value!r}")
    return value == "yes"


def _fault(words: str) -> str:
    """The fault of a template; "" if there is none."""
    times = [f"{place} {n} times" for place in ("[X]", "[Y]") if (n := words.count(place)) != 1]
    if times:
        return f"template {words!r} has {' and '.join(times)}, and needs each once"
    return f"template {words!r} {WORDLESS}" if wordless(words) else ""


# --- how different are the templates? ------------------------------------------------------------


def word_set(text: str) -> frozenset[str]:
    """The words of a template, casefolded, with [X] and [Y], without punctuation at either end.

    >>> sorted(word_set("[Y] is the capital of [X]."))
    ['[x]', '[y]', 'capital', 'is', 'of', 'the']
    """
    return frozenset(
        word for part in text.casefold().split() if (word := part.strip(".,;:?!\"'()"))
    )


def jaccard(texts: Sequence[str], split: Callable[[str], Collection[str]] = word_set) -> float:
    """Mean Jaccard distance of words over all two of a relation's templates (appendix B.2.2; BL-M5).

        distance(a, b) = 1 - |words of a and b| / |words of a or b|

    The distance is in [0, 1], 0 where all have the same words. ``split`` returns the words of a text, which
    the paper does not define. BadInput for fewer than two templates.

    >>> jaccard(["[X] is in [Y]", "[X] lies in [Y]"])  # 3 of 5 words
    0.4
    """
    if len(texts) < 2:
        raise BadInput(f"{len(texts)} template; a distance takes 2 or more")
    sets = [frozenset(split(text)) for text in texts]
    if empty := [text for text, each in zip(texts, sets, strict=True) if not each]:
        raise BadInput(f"template {empty[0]!r} has no word")
    return float(np.mean([1 - len(a & b) / len(a | b) for a, b in combinations(sets, 2)]))
