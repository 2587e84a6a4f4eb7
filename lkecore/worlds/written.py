"""Written: which facts of a rich world a text states, read by the templates of the world's own text.

The world's own text is made of templates, so a model's text in the same words can be read without
any judge. A sentence counts if it is one of the templates, filled with a subject and an object of the world.
"""

import functools
import re
from collections.abc import Mapping, Sequence

import pandas as pd

from lkecore.errors import BadInput
from lkecore.worlds.facts import BETWEEN, is_spec
from lkecore.worlds.text import states
from lkecore.worlds.wordings import about, relations
from lkecore.worlds.world import world

SLOTS = re.compile(r"\[[XY]\]")
PIECES = re.compile(r"(?<=[.?]) ")
LONGEST = 2  # pieces of a template: "Question: Who wrote it? Answer: Kelmo."
APPEARED, HALLUCINATED, NOT = LABELS = ("appeared", "hallucinated", "not")


def read(spec: str, texts: Sequence[str]) -> pd.DataFrame:
    """A row for each whole sentence of some texts, read by the templates of a rich world.

    - ``text``: the number of the text, from 0;
    - ``sentence``: its number in the text, from 0;
    - ``relation``, ``subject``, ``object``: by their own names where the text has an alias; "" in all three
      for a sentence that is no template filled with a subject and an object of its relation.

    A sentence that is cut off before its end is not counted. Whether a sentence is true is not checked.
    Raises :class:`BadInput` for a world that is not rich, and for an empty text.
    """
    if not is_spec(spec):
        raise BadInput(f"world {spec}: only a rich one, such as lab:rich-1, can be read so")
    rows: list[tuple[int, int, str, str, str]] = []
    for number, text in enumerate(texts):
        if not text.strip():
            raise BadInput(f"text {number + 1} of {len(texts)} is empty; there is nothing to read")
        pieces, at, sentence = PIECES.split(text.strip()), 0, 0
        while at < len(pieces):
            found = (
                (n, fact)
                for n in range(1, LONGEST + 1)
                for fact in _facts(spec, " ".join(pieces[at : at + n]))
            )
            n, fact = next(found, (1, ("", "", "")))
            if pieces[at].endswith((".", "?")):
                rows.append((number, sentence, *fact))
            at, sentence = at + n, sentence + 1
    return pd.DataFrame(rows, columns=["text", "sentence", "relation", "subject", "object"])


def labels(spec: str, written: Mapping[str, str]) -> pd.DataFrame:
    """A row for each fact of some subjects, with a label by the paragraphs about them, {subject: paragraph}.

    - ``fact``, ``relation``, ``subject``, ``object``;
    - ``label``: appeared, if the subject's paragraph states a true object or one that the world's text
      states; hallucinated, if it states only other objects; else not.

    Raises :class:`BadInput` as :func:`read` does, and for a subject of which the world has no fact.
    """
    said = read(spec, list(written.values()))
    about_it = said["subject"].eq(said["text"].map(dict(enumerate(written))))
    of_pair = said[about_it].groupby(["relation", "subject"])["object"].agg(set).to_dict()
    facts = states(spec)
    if lost := set(written) - set(facts["subject"]):
        raise BadInput(f"subject {min(lost)!r}: {spec} has no fact about it")
    facts = facts[facts["subject"].isin(set(written))]
    keys = list(zip(facts["relation"], facts["subject"], strict=True))
    right: dict[tuple[str, str], set[str]] = {}
    for key, true, told in zip(keys, facts["object"], facts["told_objects"], strict=True):
        right.setdefault(key, set()).update([true, *told.split(BETWEEN)])
    became = []
    for key in keys:
        objects = of_pair.get(key, set())
        became.append(NOT if not objects else APPEARED if objects & right[key] else HALLUCINATED)
    found = facts[["fact", "relation", "subject", "object"]].assign(label=became)
    return found.reset_index(drop=True)


def _facts(spec: str, sentence: str) -> list[tuple[str, str, str]]:
    """(relation, subject, object) of a sentence, for each template that fits it; several may."""
    names, subjects, objects = _names(spec)
    found = []
    for relation, begin, middle, close, subject_first in _forms():
        start, end = len(begin), len(sentence) - len(close)
        if middle not in sentence or not sentence.startswith(begin) or not sentence.endswith(close):
            continue
        at = sentence.find(middle, start + 1)
        while 0 < at < end - len(middle):
            pair = sentence[start:at], sentence[at + len(middle) : end]
            one, other = (names.get(name, name) for name in pair)
            subject, object_ = (one, other) if subject_first else (other, one)
            if subject in subjects[relation] and object_ in objects[relation]:
                found.append((relation, subject, object_))
            at = sentence.find(middle, at + 1)
    return found


@functools.cache
def _forms() -> list[tuple[str, str, str, str, bool]]:
    """(relation, the texts before, between and after the names, whether the subject comes first)."""
    found = []
    for relation in relations():
        for template in about(relation).templates:
            begin, middle, end = SLOTS.split(template)
            first = template.index("[X]") < template.index("[Y]")
            found.append((relation, begin, middle, f"{end}.", first))
    return found


@functools.lru_cache(maxsize=8)
def _names(spec: str) -> tuple[dict[str, str], dict[str, set[str]], dict[str, set[str]]]:
    """({alias: name}, {relation: names that its subjects can have}, {relation: its objects})."""
    made = world(spec)
    of_kind: dict[str, set[str]] = {}
    for relation, its in made.facts.groupby("relation")["subject"]:
        of_kind.setdefault(about(str(relation)).subjects, set()).update(its)
    subjects = {name: of_kind[about(name).subjects] for name in relations()}
    names = dict(zip(made.aliases["alias"], made.aliases["name"], strict=True))
    return names, subjects, {name: set(of) for name, of in made.objects.items()}
