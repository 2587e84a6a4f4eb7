"""Questions: digests that distinguish questions, and a sample of questions to ask again."""

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

# A unit is asked at once: a question, all questions of the same long prompts, or sequences in pieces.
Unit = Prompt | Slots | Sequence[Sequence[str]]
Key = tuple[Any, ...]  # the subject of a list of questions, a value for each of the names in ``by``
Asked = Mapping[Key, Sequence[Unit]]
Lists = TypeVar("Lists", bound=Mapping[Any, Sequence[Any]])
# Parts of a key that distinguish lists of questions; other parts, such as estimator, are ways of asking.
LISTS = {
    "world", "fact_set", "relation", "part", "draw", "n_shots", "template", "expression",
}  # fmt: skip


def prompts_of(unit: Unit) -> Sequence[Any]:
    """The questions of a unit: one, or all that share the same long prompts."""
    return unit.asked if isinstance(unit, Slots) else [unit]


def digests(unit: Unit) -> Sequence[str]:
    """For each question of a unit twelve digits, which depend on the unit's words and its place there."""
    return _kept_digests(unit) if isinstance(unit, Prompt | Slots) else _digests(unit)


def _digests(unit: Unit) -> tuple[str, ...]:
    text = json.dumps(unit, default=vars)
    n = len(prompts_of(unit))
    return tuple(hashlib.sha256(f"{text}{i}".encode()).hexdigest()[:12] for i in range(n))


# A page looks at the same questions several times, and for every model, with hundreds of options each.
_kept_digests = functools.lru_cache(maxsize=10_000)(_digests)


def named(units: Sequence[Unit]) -> pd.DataFrame:
    """A row for each question of some units, in their order: ``fact`` (None if it has none) and ``question``.

    ``question`` is the digest of the question (:func:`digests`).
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

    ``by`` names the parts of the keys of ``questions``, as for :func:`lkecore.answers.asking.ask`. The parts
    that ``LISTS`` names, such as relation or world, distinguish lists of questions; all other parts are ways
    of asking. About ``n`` questions of each way of asking are drawn from two of its lists, and keep their
    order. The seed is the digest of the scorers' code and of the keys. So a new scorer is asked new
    questions, and while the code stays the same, kept scores of the same questions serve again.

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
