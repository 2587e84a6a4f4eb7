"""Fact and relation: what we ask a language model about, and the vocabulary of all other modules.

A *fact* is a subject, a relation and an object that is true of them ("France", "capital",
"Paris"). A *relation* is a named set of facts. The *options* of a fact are the candidate objects
that a model has to choose from: the *gold* one, and *distractors* from other facts of the relation.
A *shot* is a fact that is shown to the model as an example.
"""

import hashlib
import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lkecore.errors import BadInput
from lkecore.facts.tables import SPLITS, UNSEEN, composed, fold, text, texts


@dataclass(frozen=True)
class Fact:
    """One true (subject, relation, object).

    - ``alternatives``: the other objects that the data list as true of the same subject;
    - ``aliases``: other names of any true object. Neither aliases nor alternatives are ever drawn as
      distractors from the objects of the relation;
    - ``options``: the multiple choice that the data themselves give with the fact, sorted, with its object;
      it is used whole;
    - ``subject_aliases``, ``object_aliases``: other names of the subject, and of ``object`` alone
      (:func:`lkecore.facts.wordings.named`).
    """

    id: str
    relation: str
    subject: str
    object: str
    alternatives: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    split: str = ""
    options: tuple[str, ...] = ()
    subject_aliases: tuple[str, ...] = ()
    object_aliases: tuple[str, ...] = ()

    @property
    def true_names(self) -> frozenset[str]:
        """Every name of every true object, in the form of :func:`lkecore.facts.tables.fold`."""
        names = self.object, *self.alternatives, *self.aliases, *self.object_aliases
        return frozenset(map(fold, names))

    @property
    def expressions(self) -> tuple[str, ...]:
        """The names of the subject, its own name first."""
        return (self.subject, *self.subject_aliases)


@dataclass(frozen=True)
class Relation:
    """A relation with its facts, in the order of the source.

    - ``repeated``: the number of rows of the source that repeat another row;
    - ``left_out``: the number of rows without a fact, or whose fact a filter left out
      (:mod:`lkecore.facts.filters`);
    - ``kind``: location, language or other ("" where the source does not say);
    - ``codes``: whether the relation is a code look-up;
    - ``paper_relation``: the relation of the IC-LKE paper with the same meaning;
    - ``manual``: for each template whether a person wrote it; () where the source does not say;
    - ``subject_forms``: for each subject that rows write in several ways, these ways; the first is asked;
    - ``object_forms``: forms of objects that no fact has, since the same fact has another form.
    """

    name: str
    facts: tuple[Fact, ...]
    repeated: int = 0
    left_out: int = 0
    label: str = ""
    kind: str = ""
    codes: bool = False
    paper_relation: str = ""
    templates: tuple[str, ...] = ()
    manual: tuple[bool, ...] = ()
    subject_forms: tuple[tuple[str, ...], ...] = ()
    object_forms: tuple[str, ...] = ()

    def __hash__(
        self,
    ) -> int:  # caches call it for each word, and over all facts it takes milliseconds
        return hash((self.name, len(self.facts)))

    @property
    def objects(self) -> tuple[str, ...]:
        """The distinct objects, sorted; of equal ones (:func:`lkecore.facts.tables.fold`) the first.

        So Co (cobalt) and CO (carbon monoxide) are one object here, which is shown as CO.
        """
        return tuple(forms[0] for forms in self.spellings.values())

    @property
    def spellings(self) -> dict[str, tuple[str, ...]]:
        """The forms in which the source writes each object, by :func:`lkecore.facts.tables.fold`.

        They are sorted. Forms with a character that nobody sees come after the others, and ``object_forms``
        last.
        """
        found: dict[str, list[str]] = {}
        for name in sorted({fact.object for fact in self.facts}):
            found.setdefault(fold(name), []).append(name)
        others: dict[str, list[str]] = {}
        for name in self.object_forms:
            others.setdefault(fold(name), []).append(name)
        return {
            key: (*sorted(forms, key=_has_unseen), *others.get(key, ()))
            for key, forms in found.items()
        }

    @property
    def read(self) -> int:
        """The number of rows of the source: facts, repeated ones, and those left out."""
        return len(self.facts) + self.repeated + self.left_out

    @property
    def digest(self) -> str:
        """SHA-256 over every fact: two relations with one digest have the same data."""
        rows = sorted(
            [f.id, f.subject, f.object, sorted(f.alternatives), sorted(f.aliases), f.split]
            + ([list(f.options)] if f.options else [])  # most have none, and digests are stored
            + ([{"names": [f.subject_aliases, f.object_aliases]}] if _named(f) else [])
            for f in self.facts
        )
        text = json.dumps([self.name, rows], ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _has_unseen(name: str) -> bool:
    return bool(UNSEEN.search(name))


def _named(fact: Fact) -> bool:
    return bool(fact.subject_aliases or fact.object_aliases)


def from_rows(name: str, rows: Sequence[tuple[str, dict[str, Any], str]]) -> Relation:
    """The relation of some rows, checked: without repetitions, and with the other true objects of each fact.

    Names are unified, so that all other code may compare subjects as they are:

    - a name whose accents have several forms is written as in the first row that has it;
    - a subject that some rows write with characters that nobody sees is written as in the first row without;
    - subjects that differ in letter case stay separate (``Rose`` is a name, ``rose`` a flower);
    - objects of one subject that are equal by :func:`lkecore.facts.tables.fold` are one, in the first form.

    The id of a fact depends on the texts of its own row. :class:`BadInput` names the row that breaks a rule.
    """
    content: dict[str, tuple[str, str]] = {}
    found: dict[tuple[str, str], tuple[str, str, list[str]]] = {}  # pair -> (id, split, options)
    objects: dict[str, dict[str, str]] = {}  # subject -> {folded object: object}, in order
    aliases: dict[str, dict[str, None]] = {}
    forms: dict[str, str] = {}  # a name in NFC -> its first form
    subjects: dict[str, dict[str, None]] = {}  # composed subject -> its forms, in order
    given_objects: dict[str, None] = {}
    repeated = 0

    def formed(names: Sequence[str]) -> list[str]:
        return [forms.setdefault(_nfc(name), name) for name in names]

    for where, row, split in rows:
        if split and split not in SPLITS:
            raise BadInput(f"{where}: split must be one of {SPLITS}, found {split!r}")
        subject, object_ = formed(
            [text(row, where, "subject", "sub_label"), text(row, where, "object", "obj_label")]
        )
        given = "id" if "id" in row else "uuid"
        if given in row:
            key = text(row, where, given)
        else:
            key = text_digest(name, _nfc(subject), _nfc(object_))[:16]
        subjects.setdefault(composed(subject), {}).setdefault(subject)
        subject = composed(subject)
        given_objects.setdefault(object_)
        of_subject = objects.setdefault(subject, {})
        for each in [object_, *formed(texts(row, where, "obj_labels"))]:
            of_subject.setdefault(fold(each), each)
        pair = subject, of_subject[fold(object_)]
        if content.setdefault(key, pair) != pair:
            raise BadInput(f"{where}: fact id {key!r} stands for both {content[key]} and {pair}")
        aliases.setdefault(subject, {}).update(
            dict.fromkeys(formed(texts(row, where, "obj_aliases")))
        )
        named = {}
        if row.get("options"):
            named = {composed(object_): pair[1]}
            for each in formed(texts(row, where, "options")):
                named.setdefault(composed(each), each)
        choice = sorted(named.values())
        if pair in found:  # of two ids or choices, the same one in any order of rows
            repeated += 1
            key = min(key, found[pair][0])
            both = (split, choice), found[pair][1:]
            split, choice = max(both, key=lambda each: (("", *SPLITS).index(each[0]), each[1]))
        found[pair] = (key, split, choice)
    written = {subject: sorted(each, key=_has_unseen) for subject, each in subjects.items()}
    facts = tuple(
        Fact(
            id=key,
            relation=name,
            subject=written[subject][0],
            object=object_,
            alternatives=tuple(n for n in objects[subject].values() if n != object_),
            aliases=tuple(aliases[subject]),
            split=split,
            options=tuple(choice),
        )
        for (subject, object_), (key, split, choice) in found.items()
    )
    several = tuple(tuple(each) for each in written.values() if len(each) > 1)
    return Relation(
        name,
        facts,
        repeated=repeated,
        label=name,
        subject_forms=several,
        object_forms=tuple(sorted({*given_objects} - {fact.object for fact in facts})),
    )


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def text_digest(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()
