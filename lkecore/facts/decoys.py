"""Decoys: questions about nobody, with the object and the options of a fact. No answer to them is knowledge.

A decoy must look like a fact that the model does not know. So its name must sound like the names of subjects
with the same object, or keep what hints at the object. Otherwise it is too easy to beat.
"""

import functools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore.errors import BadInput, nearest
from lkecore.facts.drawn import Drawn
from lkecore.facts.fact import Fact, Relation
from lkecore.facts.tables import fold, read, word_set
from lkecore.storage import DATA

KINDS = ("sounding", "letters", "halves", "village")
FEWEST = 4  # other subjects of an object from which the sound of a name can be learned
RUN = 5  # letters in a row that a name may not share with a subject
TRIES = 300


def decoys(drawn: Drawn, kind: str, per_fact: int, seed: int) -> tuple[Drawn, dict[str, str]]:
    """(the drawn relation, with decoys in place of its facts; {fact id: why it has no decoy}).

    ``kind`` decides how the subject is invented:

    - "sounding": letters, each drawn given the two before it, learned from subjects with the same object, in
      the length of one of them and without any run of five letters of a subject;
    - "letters": the same, learned from all subjects of the relation. Every letter that hints at the object is
      kept (shared words, runs of three letters, a shared first letter, the letters of a code);
    - "halves": the beginning of one name and the end of another with the same object, and no whole word of a
      subject;
    - "village": a real place of 500 to 1,500 people in the country that is the object.

    Words of many subjects ("Airport") stay, and no decoy has the name of a subject or an object. The id of a
    decoy is its fact's, ``~``, the kind and a number below ``per_fact``; its options are its fact's. The
    result depends on ``seed``, the kind and the fact alone.

    Raises :class:`BadInput` for an unknown kind, ``per_fact`` below 1 and a relation of subjects without
    letters.
    """
    if kind not in KINDS:
        raise BadInput(f"kind {kind!r}: must be {', '.join(KINDS)}; {nearest(kind, KINDS)}")
    if per_fact < 1:
        raise BadInput(f"per_fact {per_fact}: must be 1 or more")
    relation = drawn.relation
    if not any(c.isalpha() for fact in relation.facts for c in fact.subject):
        raise BadInput(f"relation {relation.name}: no subject has a letter to make a name of")
    taken = {fold(f.subject) for f in relation.facts} | {fold(f.object) for f in relation.facts}
    make = {"sounding": _sounding, "letters": _lettered, "halves": _halves, "village": _village}
    made, options, why = [], [], {}
    for fact, offered in zip(drawn.facts, drawn.options, strict=True):
        rng = np.random.default_rng([seed, *f"{kind} {fact.id}".encode()])
        maker = make[kind](fact, relation)
        names: list[str] = []
        if not isinstance(maker, str):
            for _ in range(TRIES):
                name = maker(rng)
                if name and fold(name) not in taken and len(name) > 2:
                    taken.add(fold(name))
                    names.append(name)
                if len(names) == per_fact:
                    break
        if not names:
            why[fact.id] = maker if isinstance(maker, str) else "no new name was found"
        for i, name in enumerate(names):
            made.append(Fact(f"{fact.id}~{kind}-{i}", relation.name, name, fact.object))
            options.append(offered)
    return replace(drawn, facts=tuple(made), options=tuple(options)), why


def beside(
    sample: Mapping[str, Drawn], many: Mapping[str, int], seed: int
) -> tuple[dict[str, dict[str, Drawn]], pd.DataFrame]:
    """({"real" or a kind: {relation: what is drawn}}, a frame with a row for each fact and decoy).

    ``many`` maps a kind to its number of decoys for each fact. Columns:

    - ``kind``, ``relation``, ``fact``, ``subject``, ``object``;
    - ``of``: the fact that a decoy was made for; of a fact, the fact itself;
    - ``hint``: what the subject shares with the object (:func:`hint`);
    - ``others``: how many other subjects have the object of this fact.
    """
    drawn = {"real": dict(sample)}
    for kind, n in many.items():
        made = {name: decoys(of, kind, n, seed)[0] for name, of in sample.items()}
        drawn[kind] = {name: of for name, of in made.items() if of.facts}
    rows = [
        (kind, name, f.id, f.subject, f.object, f.id.partition("~")[0], hint(f, of.relation))
        for kind, each in drawn.items()
        for name, of in each.items()
        for f in of.facts
    ]
    names = ["kind", "relation", "fact", "subject", "object", "of", "hint"]
    found = pd.DataFrame(rows, columns=names)
    subjects = {
        name: Counter(o for _, o in {(f.subject, f.object) for f in of.relation.facts})
        for name, of in sample.items()
    }
    pairs = zip(found["relation"], found["object"], strict=True)
    return drawn, found.assign(others=[subjects[name][o] - 1 for name, o in pairs])


def hint(fact: Fact, relation: Relation) -> str:
    """What a subject shares with its object: "word", "run" of three letters, "code" (letters), or "none"."""
    if word_set(fact.subject) & word_set(fact.object):
        return "word"
    if _runs(fold(fact.subject), fold(fact.object), 3):
        return "run"
    return "code" if relation.codes and _hinting(fact, relation) else "none"


def _runs(a: str, b: str, least: int) -> set[int]:
    """Places in ``a`` of runs of ``least`` letters or more that ``b`` has too."""
    return {
        place
        for i in range(len(a) - least + 1)
        if a[i : i + least].isalpha() and a[i : i + least] in b
        for place in range(i, i + least)
    }


def _hinting(fact: Fact, relation: Relation) -> set[int]:
    """Places of the letters of a subject that hint at its object."""
    name, object_ = fact.subject.lower(), fold(fact.object)
    name = fold(fact.subject) if len(fold(fact.subject)) == len(fact.subject) else name
    places = _runs(name, object_, 3) | ({0} if name[:1] == object_[:1] else set())
    for match in re.finditer(r"\w+", name):
        if fold(match.group()) in word_set(fact.object):
            places |= set(range(*match.span()))
    if relation.codes:
        at = 0
        for letter in object_:
            if (i := name.find(letter, at)) >= 0:
                places.add(i)
                at = i + 1
    return places


@functools.lru_cache(maxsize=64)
def _common(relation: Relation) -> frozenset[str]:
    """Words for a kind of thing: those in a twentieth of the subjects, and in at least three."""
    subjects = {f.subject for f in relation.facts}
    times = Counter(word for name in subjects for word in set(name.lower().split()))
    return frozenset(w for w, n in times.items() if n >= max(3, len(subjects) / 20))


def _others(fact: Fact, relation: Relation) -> tuple[str, ...]:
    its = {f.subject for f in relation.facts if f.object == fact.object}
    return tuple(sorted(its - {fact.subject}))


@functools.lru_cache(maxsize=8)
def _alphabet(relation: Relation) -> str:
    found = {c for f in relation.facts for c in f.subject.lower() if c.isalpha()}
    return "".join(sorted(found))


@functools.lru_cache(maxsize=256)
def _chances(relation: Relation, names: tuple[str, ...]) -> NDArray[np.float64]:
    """The probability of a letter given the two before it, as [before, last, next]; index 0 is no letter.

    It is estimated from the words of ``names``. The estimate from the whole relation is its prior, which
    weighs more where there are few words.
    """
    alphabet = _alphabet(relation)
    place = {c: i + 1 for i, c in enumerate(alphabet)}
    n = len(alphabet) + 1
    one, two, three = np.full(n, 0.01), np.zeros((n, n)), np.zeros((n, n, n))
    for word in (w for name in names for w in name.lower().split() if w not in _common(relation)):
        ids = [0, 0, *(place.get(c, 0) for c in word), 0]
        for a, b, c in zip(ids, ids[1:], ids[2:], strict=False):
            one[c] += 1
            two[b, c] += 1
            three[a, b, c] += 1
    every = tuple(sorted({f.subject for f in relation.facts}))
    if names == every:
        beneath = np.broadcast_to(2 * one / one.sum(), (n, n))
    else:
        beneath = 3 * _chances(relation, every).mean(axis=0)
    two = (two + beneath) / (two + beneath).sum(axis=-1, keepdims=True)
    return (three + two) / (three + two).sum(axis=-1, keepdims=True)


def _word(
    chances: NDArray[np.float64], alphabet: str, word: str, kept: set[int], rng: np.random.Generator
) -> str:
    """A word of the same length, drawn given the letters that are kept, and that the word ends there."""
    ids = [alphabet.find(c.lower()) + 1 for c in word]
    fixed = [i in kept or not number for i, number in enumerate(ids)]
    after = [chances[:, :, 0]]  # probability of the rest, given the last two letters
    for number, stays in zip(reversed(ids), reversed(fixed), strict=True):
        may = np.zeros(len(chances))
        may[number if stays else slice(1, None)] = 1
        after.insert(0, np.einsum("abc,bc->ab", chances, may * after[0]))
    before = last = 0
    letters = []
    for i, c in enumerate(word):
        number = ids[i]
        if not fixed[i]:
            weights = chances[before, last] * after[i + 1][last]
            weights[0] = 0
            number = int(rng.choice(len(weights), p=weights / weights.sum()))
            c = alphabet[number - 1].upper() if c.isupper() else alphabet[number - 1]
        letters.append(c)
        before, last = last, number
    return "".join(letters)


def _name(
    like: str, kept: set[int], names: tuple[str, ...], relation: Relation, rng: np.random.Generator
) -> str:
    """A name with words as long as those of ``like``; letters at ``kept`` and common words stay."""
    chances, found, at = _chances(relation, names), "", 0
    for piece in re.split(r"(\s+)", like):
        if piece.strip() and piece.lower() not in _common(relation):
            here = {place - at for place in kept}
            found += _word(chances, _alphabet(relation), piece, here, rng)
        else:
            found += piece
        at += len(piece)
    return found


def _sounding(fact: Fact, relation: Relation):
    others = _others(fact, relation)
    if hint(fact, relation) in ("word", "run"):
        return "its name hints at the object"
    if len(others) < FEWEST:
        return f"fewer than {FEWEST} other subjects have its object"

    def make(rng: np.random.Generator) -> str | None:
        name = _name(others[rng.integers(len(others))], set(), others, relation, rng)
        hints = hint(replace(fact, subject=name), relation) in ("word", "run")
        return None if hints or _runs_of_any(name, relation) else name

    return make


def _runs_of_any(name: str, relation: Relation) -> bool:
    """Whether a word of a name has a run of letters of a subject: five, or, in a short word, all but one."""
    every = _every(relation)
    for word in (fold(w) for w in name.split() if w.lower() not in _common(relation)):
        size = min(RUN, max(3, len(word) - 1))
        if any(word[i : i + size] in every for i in range(len(word) - size + 1)):
            return True
    return False


@functools.lru_cache(maxsize=8)
def _every(relation: Relation) -> str:
    return "\n".join(sorted({fold(f.subject) for f in relation.facts}))


def _lettered(fact: Fact, relation: Relation):
    kept, every = _hinting(fact, relation), tuple(sorted({f.subject for f in relation.facts}))
    free = [
        i
        for match in re.finditer(r"\S+", fact.subject)
        if match.group().lower() not in _common(relation)
        for i in range(*match.span())
        if fact.subject[i].isalpha() and i not in kept
    ]
    if len(free) < 2:
        return "its whole name hints at the object"
    return lambda rng: _name(fact.subject, kept, every, relation, rng)


def _halves(fact: Fact, relation: Relation):
    others = _others(fact, relation)
    if hint(fact, relation) in ("word", "run"):
        return "its name hints at the object"
    parts = [w for name in others for w in name.split() if w.lower() not in _common(relation)]
    parts = [w for w in parts if len(w) > 3 and w.isalpha()]
    if len(others) < FEWEST or len(parts) < 2:
        return f"fewer than {FEWEST} other subjects have its object"
    words = word_set(_every(relation))

    def make(rng: np.random.Generator) -> str | None:
        first, last = (parts[i] for i in rng.integers(len(parts), size=2))
        name = first[: (len(first) + 1) // 2] + last[len(last) // 2 :].lower()
        hints = hint(replace(fact, subject=name), relation) in ("word", "run")
        return None if hints or fold(name) in words else name

    return make


@functools.cache
def _villages() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for _, row in read(DATA / "villages.tsv"):
        found.setdefault(row["country"], []).append(row["place"])
    return found


def _village(fact: Fact, relation: Relation):
    places = _villages().get(fact.object, [])
    if not places:
        return "no village of its country is at hand"
    return lambda rng: places[rng.integers(len(places))]
