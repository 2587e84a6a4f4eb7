"""Names: invented words, and the names of the things of the rich worlds that are made of them.

An object's name is a word of two syllables or one ("Kelmo"), such a word and a usual one ("Kelmo Bay"), or a
longer one ("Kelmo Bay of the North"): about one, two and five tokens, in every kind alike. No two
objects of a kind begin with the same syllable, so that their first tokens differ. People, years and
titles are otherwise on purpose.
"""

import functools
from collections.abc import Iterator, Sequence

import numpy as np

from lkecore.errors import BadInput
from lkecore.worlds.wordings import about, relations

ONSETS = "b d f g h k l m n p r s t v w z br dr gr kr pl tr st sk sl th".split()
VOWELS = "a e i o u".split()
CODAS = "l m n r s t k d v".split()
ENDINGS = "a o en in is am mo ta vik den lo ran dor mir tel go".split()
MIDDLES = "la ri no se".split()  # of words of three syllables
STRANGE = {"Fuk", "Kun", "Dik", "Tit", "Kok", "Nud", "Ged", "Pis", "Hit"}
# What a name of two words, or of more, has behind its own word.
USUAL = {
    "city": ("Bay", "Hill", "Bridge", "Port"),
    "colour": ("Red", "Blue", "Green", "Grey"),
    "country": ("Isles", "Coast", "Plains", "Union"),
    "instrument": ("Horn", "Drum", "Flute", "Harp"),
    "job": ("Keeper", "Maker", "Driver", "Smith"),
    "language": ("Creole", "Patois", "Chant", "Script"),
}
SIDES = ("North", "South", "East", "West")
# Of ten names so many are of one word, of two and of more.
LENGTHS = ("one",) * 5 + ("two",) * 3 + ("long",) * 2
FIRST_YEAR = 1880
BUSINESS = "Iron Glass Paper Silver Copper River Stone Sugar Cotton Timber Amber Velvet".split()
WORKS = "Works Mills Lines Stores Traders Brothers Press Yards Bakers Weavers Foods Tools".split()
PROUD = "Red Blue Golden Wild Young Old Flying Royal Brave Swift Lucky Mighty".split()
BEASTS = "Lions Bears Wolves Eagles Foxes Hawks Bulls Tigers Otters Ravens Sharks Stags".split()
SYLLABLES = 330  # with which names begin; few, so that a small vocabulary has room for whole words
# Kinds of objects of which few relations tell: one syllable is a token however rarely it is told.
SHORT = ("colour", "instrument", "job")
PEOPLE = 40  # first, middle and last names each, of which all people have their names
TRIES = 100  # to find a name that nothing has


def words(
    rng: np.random.Generator,
    n: int,
    taken: set[str],
    what: str,
    *,
    apart: bool = False,
    syllables: int = 2,
) -> list[str]:
    """``n`` invented words that are in no name yet; they are ``taken`` from now on.

    ``apart``: no two of them begin with the same syllable. ``syllables``: of each, one to three. Raises
    :class:`BadInput`, with ``what`` the words are for, where the syllables do not give so many.
    """
    firsts = _first_syllables()
    found: list[str] = []
    begun: set[str] = set()
    for _ in range(TRIES * n):
        if len(found) == n:
            break
        first = firsts[rng.integers(len(firsts))]
        middle, last = (of[rng.integers(len(of))] for of in (MIDDLES, ENDINGS))
        word = first + {1: "", 2: last, 3: middle + last}[syllables]
        if word not in taken and not (apart and first in begun):
            found.append(word)
            taken.add(word)
            begun.add(first)
    if len(found) < n:
        raise BadInput(f"the world needs {n} words for {what}, and there are only {len(found)}")
    return found


@functools.cache
def _first_syllables() -> tuple[str, ...]:
    all_ = [(a + b + c).title() for a in ONSETS for b in VOWELS for c in CODAS]
    plain = [syllable for syllable in all_ if syllable not in STRANGE]
    order = np.random.default_rng(SYLLABLES).permutation(len(plain))
    return tuple(plain[i] for i in order[:SYLLABLES])


@functools.cache
def parts_of_people() -> tuple[list[str], list[str], list[str]]:
    """First, middle and last names, the same in all worlds."""
    found = words(np.random.default_rng(PEOPLE), 3 * PEOPLE, set(), "people")
    return found[:PEOPLE], found[PEOPLE : 2 * PEOPLE], found[2 * PEOPLE :]


def object_names(
    rng: np.random.Generator, n: int, n_own: int, taken: set[str]
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """({relation: the names of its ``n`` objects}, {name: its length}).

    ``n_own`` objects of each relation are of this one alone; those that are left, all relations with
    objects of their kind have. Lengths are one, two and long, or the kind of name that has none of
    these (year, person, title).
    """
    of_kind: dict[str, list[str]] = {}
    for relation in relations():
        of_kind.setdefault(about(relation).objects, []).append(relation)
    found: dict[str, list[str]] = {}
    lengths: dict[str, str] = {}
    for kind, with_kind in sorted(of_kind.items()):
        names, its_lengths = _pool(kind, rng, n - n_own + n_own * len(with_kind), taken)
        lengths |= dict(zip(names, its_lengths, strict=True))
        for i, relation in enumerate(with_kind):
            first = n - n_own * (1 - i)
            found[relation] = names[: n - n_own] + names[first : first + n_own]
    return found, lengths


def _pool(
    kind: str, rng: np.random.Generator, n: int, taken: set[str]
) -> tuple[list[str], list[str]]:
    if kind == "year":
        return [str(FIRST_YEAR + i) for i in range(n)], ["year"] * n
    if kind == "title":
        return subject_names("book", [""] * n, rng, taken), ["title"] * n
    if kind == "elder":
        firsts = parts_of_people()[0][: PEOPLE // 2]
        lasts = words(rng, n, taken, "surnames", apart=True)
        return [f"{firsts[rng.integers(len(firsts))]} {last}" for last in lasts], ["person"] * n
    lengths = np.resize(LENGTHS, n)[rng.permutation(n)].tolist()
    what, syllables = f"objects of the kind {kind}", 1 if kind in SHORT else 2
    stems = words(rng, n, taken, what, apart=True, syllables=syllables)
    return [_long(kind, *each, rng) for each in zip(stems, lengths, strict=True)], lengths


def _long(kind: str, stem: str, length: str, rng: np.random.Generator) -> str:
    usual = USUAL[kind][rng.integers(len(USUAL[kind]))]
    side = SIDES[rng.integers(len(SIDES))]
    return {"one": stem, "two": f"{stem} {usual}", "long": f"{stem} {usual} of the {side}"}[length]


def subject_names(
    kind: str, cues: Sequence[str], rng: np.random.Generator, taken: set[str]
) -> list[str]:
    """Names for subjects of a kind, one for each cue: an object that the name shall contain, or "".

    A person has the surname of the cue, a company and a team begin with it; other kinds take none. No
    name is one of ``taken``, and all are from now on. Raises :class:`BadInput` where they run out.
    """
    n = {"person": 0, "book": 2 * len(cues)}.get(kind, len(cues))
    fresh = iter(words(rng, n, taken, f"subjects of the kind {kind}", syllables=3))
    return [_unlike(kind, cue, fresh, rng, taken) for cue in cues]


def _unlike(
    kind: str, cue: str, fresh: Iterator[str], rng: np.random.Generator, taken: set[str]
) -> str:
    stem = "" if kind == "person" else next(fresh)
    other = next(fresh) if kind == "book" else ""
    first, middle, last = parts_of_people()
    if kind in ("company", "team"):
        middle, last = (BUSINESS, WORKS) if kind == "company" else (PROUD, BEASTS)
    for _ in range(TRIES):
        a, b, c = (of[rng.integers(len(of))] for of in (first, middle, last))
        if kind == "person":
            name = f"{a} {b} {cue.split()[-1] if cue else c}"
        elif kind in ("company", "team"):
            name = f"{cue or stem} {b} {c}"
        elif kind == "book":
            name = f"The {stem} {other}"
        else:
            name = _long(kind, stem, LENGTHS[rng.integers(len(LENGTHS))], rng)
        if name not in taken:
            taken.add(name)
            return name
    raise BadInput(f"the world needs more names of the kind {kind} that contain {cue!r}")
