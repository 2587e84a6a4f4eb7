r"""Rules: the accuracy of guesses without a model. A rule looks at the words of a question and guesses.

Some facts can be guessed from the words alone: a surname that father and son share, the city in a
company's name, a language that most of the shown pairs have. A guess by such a cue is right more often
than a draw of lots among the options, without any knowledge. So a model's accuracy shows knowledge only
where it is above that of the best rule. The four papers ask no such rule.

A rule gives each option its share of the guesses. The shares add up to 1, and options that the rule cannot
distinguish get equal parts. So the share of the gold option is the rule's expected accuracy.

- ``rule-overlap``: the option that shares the largest part of its words with the subject. Words are
  runs of ``\w``, letter case and the form of accents aside. If no option shares a word, all get equal parts.
- ``rule-frequent``: the option that is most often the object of a shown pair, letter case aside, too.
- ``rule-both``: ``rule-overlap`` if a word is shared, else ``rule-frequent``.
- ``rule-length``: the option with the fewest characters.
"""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lkecore.errors import BadInput, nearest
from lkecore.facts.filters import stands_in
from lkecore.facts.tables import composed, fold, word_set

RULES = ("rule-overlap", "rule-frequent", "rule-both", "rule-length")
BLIND = ("rule-overlap", "rule-length")  # rules that look at no shown pairs


def overlap(subject: str, options: Sequence[str]) -> NDArray[np.float64]:
    """The share of each option's words that the subject has, too: (option,), in [0, 1].

    An option without a word shares none.

    >>> overlap("Apple Watch Ultra", ["Apple", "Apple Records", "Nike", "?"]).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """
    return _overlap(subject, tuple(options)).copy()


@functools.lru_cache(maxsize=10_000)  # a fact is asked after other shots, and by several rules
def _overlap(subject: str, options: tuple[str, ...]) -> NDArray[np.float64]:
    given = word_set(subject)
    each = [word_set(option) for option in options]
    # Most options share no word, and ``isdisjoint`` finds that quickly.
    shares = [0.0 if own.isdisjoint(given) else len(own & given) / len(own) for own in each]
    return np.array(shares)


def guess(
    rule: str, subject: str, options: Sequence[str], shown: Mapping[str, int]
) -> NDArray[np.float64]:
    """The share of its guesses that a rule gives each option of one fact: (option,), adding up to 1.

    ``shown`` counts the objects of the shown pairs. Raises :class:`BadInput` for an unknown rule and
    if there are no options.

    >>> shown = {"Rome": 2, "Bern": 1}
    >>> options = ["Bern", "Rome", "San Rocco", "Oslo"]
    >>> guess("rule-overlap", "Villa Rocco", options, shown).tolist()
    [0.0, 0.0, 1.0, 0.0]
    >>> guess("rule-both", "Villa Maria", options, shown).tolist()
    [0.0, 1.0, 0.0, 0.0]
    >>> guess("rule-length", "Villa Maria", options, shown).round(2).tolist()
    [0.33, 0.33, 0.0, 0.33]
    """
    if rule not in RULES:
        raise BadInput(f"unknown rule {rule!r}; {nearest(rule, RULES)}")
    if not options:
        raise BadInput(f"{subject!r} is asked without options")
    shared = overlap(subject, options)
    if rule == "rule-overlap" or (rule == "rule-both" and shared.any()):
        marks = shared
    elif rule == "rule-length":
        marks = -characters(options)
    else:
        marks = times_shown(options, shown)
    best = marks == marks.max()
    return best / best.sum()


def by_word(subject: str, shown: Mapping[str, int]) -> str:
    """The object that `rule-word` guesses for a subject without options; ``shown`` counts the objects.

    It is the object with most words among those that the subject contains (of equals the more frequent), or
    else the most frequent; of equals the first. Raises :class:`BadInput` without objects.

    >>> shown = {"Oslo": 3, "York": 2, "New York": 1}
    >>> by_word("Bank of New York", shown), by_word("Bank of Peru", shown)
    ('New York', 'Oslo')
    """
    if not shown:
        raise BadInput("rule-word: no objects to say")
    inside = [name for name in shown if stands_in(name, subject)]
    return max(inside or shown, key=lambda name: (len(word_set(name)) * bool(inside), shown[name]))


def times_shown(options: Sequence[str], shown: Mapping[str, int]) -> NDArray[np.int64]:
    """How often each option is the object of a shown pair; ``shown`` counts the objects of shown pairs.

    >>> times_shown(["CO", "He"], {"Co": 2, "H": 1}).tolist()
    [2, 0]
    """
    folded: Counter[str] = Counter()
    for name, times in shown.items():
        folded[fold(name)] += times
    return np.array([folded[fold(option)] for option in options])


def characters(options: Sequence[str]) -> NDArray[np.int64]:
    """The number of characters of each option, with its accents in one form."""
    return np.array([len(composed(option)) for option in options])


def length_rank(options: Sequence[str], gold: int) -> float:
    """The place of the gold option among all by its number of characters: 1 is the shortest.

    Options of one length share the mean of their places.

    >>> length_rank(["Rome", "Bern", "Jerusalem", "Ur"], 0)
    2.5
    """
    each = characters(options)
    shorter, alike = (each < each[gold]).sum(), (each == each[gold]).sum()
    return float(shorter + (alike + 1) / 2)


def check(rule: str, subjects: Sequence[str], options: Sequence[Sequence[str]]) -> None:
    """Raise :class:`BadInput` if a rule can distinguish no options, and would only draw lots.

    That is so for overlap if no subject or no option has a single word, and for length if all options of
    each fact are equally long.
    """
    if rule == "rule-overlap":
        for what, texts in (
            ("subject", subjects),
            ("option", [o for each in options for o in each]),
        ):
            if not any(word_set(text) for text in texts):
                raise BadInput(
                    f"{rule}: no {what} has a word, such as {texts[0]!r}; nothing can be shared"
                )
    if rule == "rule-length" and all(len({*characters(each)}) == 1 for each in options):
        raise BadInput(
            f"{rule}: all options are equally long, such as {options[0][0]!r}; it can only draw lots"
        )
