"""Sequences: long prompts that are read at many places.

IC-LKE asks one question at the end of its prompt. Here a prompt has many pairs, and a model that
reads it once has answered at each of them: how probable was this object, after all the text before it?
EIC-LKE puts questions between the shots.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lkecore.errors import BadInput, nearest
from lkecore.facts.fact import Fact
from lkecore.facts.tables import fold
from lkecore.prompts.prompt import check_between, many_shot

# --- one long sequence of pairs, with replacements (IC-S5) ------------------------------------------

KINDS = ("word", "person", "company", "title")  # of invented names
# The letters of a word, in turn. Without l, n, r, s and t, which most words of Europe's languages have.
FIRST, VOWELS, CLOSING = "bdgkmpvz", "aeiou", "bdfgmpvz"
WORD = tuple(tuple(some) for some in (FIRST, VOWELS, CLOSING, *(FIRST, VOWELS) * 2, CLOSING))
PLACES = ("distributed", "block")  # where pairs are replaced


@dataclass(frozen=True)
class Probe:
    """One long sequence of pairs.

    - ``kind``: clean, unknown or incorrect;
    - ``arrangement`` of the replaced pairs: none, distributed or block;
    - ``pairs``: all pairs, with the replacements in place;
    - ``replaced``: the places (from 0) of the pairs that are not right.
    """

    kind: str
    arrangement: str
    pairs: tuple[Fact, ...]
    replaced: tuple[int, ...] = ()


def probes(
    pairs: Sequence[Fact],
    relation: Sequence[Fact],
    n_replaced: int,
    invented_kind: str,
    *,
    n_behind: int = 10,
    seed: int = 0,
) -> list[Probe]:
    """The five sequences of the paper's Figure 2, in its order (IC-F2a to IC-F2e).

    The first has right pairs alone; the next two have unknown pairs, distributed and in a block; the last two
    have incorrect pairs at the same places. So a pair that is right in all of them has one place.
    ``relation`` has the facts from which other objects are drawn; ``n_behind`` as in :func:`places`. Raises
    :class:`BadInput` as :func:`places`, :func:`unknown_pairs` and :func:`incorrect_pairs` do.
    """
    pairs = tuple(pairs)
    at = {how: places(len(pairs), n_replaced, how, n_behind=n_behind, seed=seed) for how in PLACES}
    made = [Probe("clean", "none", pairs)]
    for kind in ("unknown", "incorrect"):
        for how, where in at.items():
            old = [pairs[i] for i in where]
            new = (
                unknown_pairs(old, relation, invented_kind, seed=seed)
                if kind == "unknown"
                else incorrect_pairs(old, relation, seed=seed)
            )
            put = dict(zip(where, new, strict=True))
            whole = tuple(put.get(i, pair) for i, pair in enumerate(pairs))
            made.append(Probe(kind, how, whole, where))
    return made


def places(
    n: int, n_replaced: int, arrangement: str, *, n_behind: int = 10, seed: int = 0
) -> tuple[int, ...]:
    """The places of the pairs, of ``n``, that are replaced: from 0, rising.

    - ``distributed``: at random, but no two side by side and never the last, so that a right pair directly
      follows each. The paper's random places may touch.
    - ``block``: one run. It begins in the second half, when the pattern is clear to the model, and at least
      ``n_behind`` right pairs follow it.

    The draw is even over all choices that obey the rule. Raises :class:`BadInput` for another arrangement and
    where no choice obeys.

    >>> places(10, 3, "distributed", seed=1)
    (2, 4, 7)
    >>> places(40, 5, "block", seed=1)
    (23, 24, 25, 26, 27)
    """
    if arrangement not in PLACES:
        raise BadInput(f"unknown arrangement {arrangement!r}; {nearest(arrangement, PLACES)}")
    if n_replaced < 1 or n_behind < 1:
        raise BadInput(
            f"n_replaced is {n_replaced} and n_behind {n_behind}; both must be 1 or more"
        )
    rng = np.random.default_rng([seed, PLACES.index(arrangement)])
    if arrangement == "distributed":
        if 2 * n_replaced > n:
            raise BadInput(
                f"{n_replaced} of {n} pairs cannot each have a right one behind it; "
                f"{n // 2} is the most"
            )
        # Any k of n - k, moved apart by one more each: none touch, and the last stays free.
        drawn = np.sort(rng.choice(n - n_replaced, n_replaced, replace=False))
        return tuple(int(i) for i in drawn + np.arange(n_replaced))
    last = n - n_replaced - n_behind
    if last < n // 2:
        raise BadInput(
            f"a block of {n_replaced} and {n_behind} pairs behind it need more room than the second "
            f"half of {n} pairs"
        )
    start = int(rng.integers(n // 2, last + 1))
    return tuple(range(start, start + n_replaced))


def invented(kind: str, n: int, taken: Iterable[str], seed: int) -> tuple[str, ...]:
    """``n`` names that are made up (IC-D5): all different and none of them ``taken``, letter case aside.

    ``kind`` is one of ``KINDS``. A ``word`` has three syllables put together by chance, so that it hints at
    no language or country, and fits every relation. It does not begin with a name that is taken, nor such a
    name with it. The other kinds sound American, as Faker makes them: they are unknown only where a name says
    nothing of the object, as with people and their birth years. A name of any kind may by chance be the name
    of something that the facts do not have. Raises :class:`BadInput` for another kind, and where there are
    fewer names.

    >>> invented("word", 3, [], seed=0)
    ('Kugdukog', 'Boddopuv', 'Mozpamef')
    """
    if kind not in KINDS:
        raise BadInput(f"unknown kind of invented names {kind!r}; {nearest(kind, KINDS)}")
    make = _maker(kind, seed)
    known = set(map(fold, taken))
    begun = {name[:i] for name in known for i in range(len(name) + 1)} if kind == "word" else set()
    found: dict[str, str] = {}
    for _ in range(100 * n):
        if len(found) == n:
            break
        name = make()
        low = fold(name)
        beginnings = (low[:i] for i in range(len(low) + 1))
        near = kind == "word" and (low in begun or not known.isdisjoint(beginnings))
        if not near and low not in known and low not in found:
            found[low] = name
    if len(found) < n:
        raise BadInput(f"{n} invented names of kind {kind} asked for, and there are {len(found)}")
    return tuple(found.values())


def _maker(kind: str, seed: int) -> Callable[[], str]:
    """A function that makes the next name of a kind."""
    if kind == "word":
        rng = np.random.default_rng([seed, 4])
        return lambda: "".join(rng.choice(some) for some in WORD).capitalize()
    from faker import Faker  # takes a tenth of a second, which most commands need not wait

    fake = Faker("en_US")
    fake.seed_instance(seed)
    return {
        "person": lambda: f"{fake.first_name()} {fake.last_name()}",
        "company": fake.company,
        "title": lambda: (
            f"The {fake.word(part_of_speech='adjective').title()} "
            f"{fake.word(part_of_speech='noun').title()}"
        ),
    }[kind]


def unknown_pairs(
    pairs: Sequence[Fact], relation: Sequence[Fact], kind: str, *, seed: int = 0
) -> tuple[Fact, ...]:
    """For each pair one about a subject that does not exist (IC-D5).

    Its object is that of a fact of the relation, drawn at random: a frequent object occurs as often as among
    right pairs. No invented name is a subject or an object of the relation. Raises :class:`BadInput` as
    :func:`invented`.
    """
    taken = {name for fact in relation for name in (fact.subject, fact.object)}
    names = invented(kind, len(pairs), taken, seed)
    rng = np.random.default_rng([seed, 2])
    return tuple(
        Fact(
            f"unknown-{pair.id}", pair.relation, name, relation[rng.integers(len(relation))].object
        )
        for pair, name in zip(pairs, names, strict=True)
    )


def incorrect_pairs(
    pairs: Sequence[Fact], relation: Sequence[Fact], *, seed: int = 0
) -> tuple[Fact, ...]:
    """For each pair its subject with a wrong object (IC-D6): that of another fact of the relation.

    The wrong object is no name of any true object of the subject. Raises :class:`BadInput` where the relation
    has no other object.
    """
    rng = np.random.default_rng([seed, 3])
    objects = [(fact.object, fold(fact.object)) for fact in relation]
    made = []
    for pair in pairs:
        right = pair.true_names
        wrong = [name for name, folded in objects if folded not in right]
        if not wrong:
            raise BadInput(f"relation {pair.relation} has no wrong object for {pair.subject!r}")
        object_ = wrong[rng.integers(len(wrong))]
        made.append(Fact(f"incorrect-{pair.id}", pair.relation, pair.subject, object_))
    return tuple(made)


def pair_pieces(
    pairs: Sequence[Fact], *, pair_separator: str = " ", shot_separator: str = " "
) -> tuple[str, ...]:
    r"""A sequence in pieces, a subject and an object in turn: joined, the text of many shots.

    The separator between pairs belongs to the subject that follows, and the space before an object to the
    object, as in :func:`lkecore.prompts.prompt.many_shot`. Raises :class:`BadInput` for empty separators.

    >>> born = [Fact("1", "born", "Feynman", "1918"), Fact("2", "born", "Curie", "1867")]
    >>> pair_pieces(born, pair_separator=": ", shot_separator="\n")
    ('Feynman:', ' 1918', '\nCurie:', ' 1867')
    """
    check_between(shot_separator)
    objects = [(pair.object,) for pair in pairs]
    asked = many_shot((), pairs, objects, pair_separator=pair_separator)
    return tuple(
        piece
        for i, each in enumerate(asked)
        for piece in ((shot_separator if i else "") + each.context, each.continuations[0])
    )
