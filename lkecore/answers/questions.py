"""Questions: what tells one question from another, and a few of many to ask again."""

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from lkecore.prompts.eiclke import Slots
from lkecore.prompts.prompt import Prompt
from lkecore.scores import store

# What is asked at once: a question, all questions of the same long prompts, or some sequences in pieces.
Unit = Prompt | Slots | Sequence[Sequence[str]]
Key = tuple[Any, ...]  # what a list of questions is about, a value for each of the names in ``by``
Asked = Mapping[Key, Sequence[Unit]]
Lists = TypeVar("Lists", bound=Mapping[Any, Sequence[Any]])
# Parts of a key that tell lists of questions apart; all others, such as estimator, are ways of asking.
LISTS = {
    "world", "fact_set", "relation", "part", "draw", "n_shots", "template", "expression",
}  # fmt: skip


def prompts_of(unit: Unit) -> Sequence[Any]:
    """The questions that are asked at once: one, or all that share the same long prompts."""
    return unit.asked if isinstance(unit, Slots) else [unit]


def digests(unit: Unit) -> Sequence[str]:
    """For each question of a unit twelve digits that change with any word of what is asked, or its place."""
    return _kept_digests(unit) if isinstance(unit, Prompt | Slots) else _digests(unit)


def _digests(unit: Unit) -> tuple[str, ...]:
    text = json.dumps(unit, default=vars)
    n = len(prompts_of(unit))
    return tuple(hashlib.sha256(f"{text}{i}".encode()).hexdigest()[:12] for i in range(n))


# A page looks several times, and for every model, at the same questions, with hundreds of options each.
_kept_digests = functools.lru_cache(maxsize=10_000)(_digests)


def named(units: Sequence[Unit]) -> pd.DataFrame:
    """A row for each question of some units, in their order: ``fact`` (None if it has none), ``question``.

    ``question`` is its digest (:func:`digests`).
    """
    rows = [
        (getattr(prompt, "fact", None), digest)
        for unit in units
        for prompt, digest in zip(prompts_of(unit), digests(unit), strict=True)
    ]
    return pd.DataFrame(rows, columns=["fact", "question"])


def sample(
    questions: Lists,
    sources: Sequence[str],
    n: int = 4,
    *,
    by: Sequence[str] = ("estimator", "relation"),
) -> Lists:
    """All questions, or, where the numbers of a page come from ``sources``, a few of them to ask again.

    ``by`` names the parts of the keys of ``questions``, as for :func:`lkecore.answers.asking.ask`. About
    ``n`` questions of each way of asking are drawn, from two of its lists, in their order: relations, worlds
    and whatever else ``LISTS`` names make the lists, and all other parts of a key are ways of asking. The
    digest of the scorers' code and of the keys is the seed, so that a new scorer is asked new questions, and
    the scores of the same questions are kept while it stays.

    >>> questions = {("template-1", "capital"): ["a", "b"], ("template-2", "capital"): ["c", "d"]}
    >>> {key: len(some) for key, some in sample(questions, ["atlas"], 1).items()}
    {('template-1', 'capital'): 1, ('template-2', 'capital'): 1}
    >>> sample(questions, []) == questions
    True
    """
    if not sources:
        return questions
    text = json.dumps(
        [store.program(), [[key, len(units)] for key, units in questions.items()]], default=str
    )
    rng = np.random.default_rng(list(hashlib.sha256(text.encode()).digest()))
    ways = [i for i, name in enumerate(by) if name not in LISTS]
    of_way: dict[Key, list[Key]] = {}
    for key in questions:
        of_way.setdefault(tuple(key[i] for i in ways), []).append(key)
    drawn: dict[Key, list[Any]] = {}
    for keys in of_way.values():
        two = [keys[i] for i in sorted(rng.permutation(len(keys))[: min(2, n)])]
        for key in two:
            units, wanted, some = questions[key], -(-n // len(two)), []
            for i in rng.permutation(len(units)):
                if sum(len(prompts_of(units[j])) for j in some) >= wanted:
                    break
                some.append(i)
            drawn[key] = [units[i] for i in sorted(some)]
    return {key: drawn[key] for key in questions if key in drawn}  # type: ignore[return-value]
