"""Taught: explicit beside implicit instillation of the same facts, and beside what a rich world's text told.

Explicit: the fact stands in front of the question. Implicit: the model is fine-tuned on it and set back
(:mod:`lkecore.tasks.instill`). The paper asks whether the first can stand for the second.
"""

from collections.abc import Sequence

import pandas as pd

from lkecore.answers import door, rich
from lkecore.answers.lab import OFTEN
from lkecore.answers.moved import FACT
from lkecore.errors import BadInput
from lkecore.tasks import instill
from lkecore.tasks.instill import Recipe


def asked(states: pd.DataFrame) -> pd.Series:
    """Which facts the page asks, of :func:`lkecore.worlds.either.states`.

    Those told rightly ``OFTEN`` times and more, and as many that are never told, their controls.
    """
    told = states["state"].eq("planted") & states["occurrences"].ge(OFTEN)
    if not told.any():  # a world for tests tells less often
        told = states["state"].eq("planted") & states["occurrences"].ge(4)
    return rich.or_controls(states, told)


def recipe(
    models: Sequence[str],
    optimizer: str,
    rate: float,
    *,
    at: Sequence[int],
    steps: int,
    dtype: str = "float32",
    n: int = 1,
) -> Recipe:
    """How facts are taught: for as many steps as the last of those ``at`` which the model is asked.

    Raises :class:`BadInput`, before a model is asked, for ``at`` that does not rise from 1 or more, for
    ``steps``, after which a page compares, that are not among them, and for a recipe or a model with which
    nothing can be taught, where ``n`` facts are to be; and for ``n`` below 0.
    """
    if n < 0:
        raise BadInput(f"n_taught {n}: must be 0 or more facts of each relation")
    if not at or [*at] != sorted(set(at)) or at[0] < 1:
        raise BadInput(f"at {[*at]}: must be numbers of steps that rise from 1 or more")
    found = Recipe(at[-1], rate, optimizer)
    lesson(found, at=at, steps=steps)
    for name in models if n else ():
        instill.check(door.opened(name, dtype), found)
    return found


def lesson(recipe: Recipe, *, at: Sequence[int], steps: int) -> str:
    """What a way of teaching is called, without its steps: ``sgd 0.003``.

    Raises :class:`BadInput` if ``steps``, after which a page compares, are not among those ``at`` which
    the model is asked.
    """
    if steps not in at:
        raise BadInput(f"steps {steps}: the model is asked after {', '.join(map(str, at))} of them")
    return f"{recipe.optimizer} {recipe.rate:g}"


def together(told: pd.DataFrame, taught: pd.DataFrame) -> pd.DataFrame:
    """Both instillations of each fact side by side: a row for each model, fact, lesson and number of steps.

    ``told`` is of :func:`lkecore.answers.blanks.ask_blanks`, ``taught`` of
    :func:`~lkecore.answers.blanks.ask_taught`. Columns: ``FACT``, ``lesson``, ``steps``; ``told_kl`` and
    ``taught_kl`` in nats, ``told_change`` and ``taught_change``, H(P) - H(Q) in nats, signed; ``surprisal``
    (nats) and ``rank`` before; ``learned`` (bool): the object's first token comes first after the lesson;
    ``lost`` (bool): a step gave no number; ``source`` of ``told``; and of the text ``subject``, ``state``,
    ``occurrences``, ``control``, ``kind``. Facts whose object shares its first token with another one, or
    merges with the words before it, are left out. Sorted by relation and fact, since bootstraps draw by
    place.
    """
    alone = told[~told["shared"].astype(bool) & ~told["merged"].astype(bool)]
    found = both_ways(alone, taught, FACT)
    found = rich.with_states(found, ["subject", "state", "occurrences", "control", "kind"])
    return found.sort_values(["relation", "fact", "steps"], kind="stable", ignore_index=True)


def both_ways(told: pd.DataFrame, taught: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """What telling and teaching do to the same facts, as in :func:`together`, without the text's states.

    ``by``: the columns that name a fact of a model in both. A fact that one of the two lacks is left out.
    """
    explicit = told[[*by, "source", "kl", "surprisal", "rank"]].rename(columns={"kl": "told_kl"})
    explicit = explicit.assign(told_change=told["entropy"] - told["entropy_after"])
    implicit = taught[[*by, "lesson", "steps"]].assign(
        taught_kl=taught["kl"],
        taught_change=taught["entropy"] - taught["entropy_after"],
        learned=taught["rank_after"].eq(1),
        lost=taught["kl"].isna(),
    )
    return implicit.merge(explicit, on=list(by), validate="m:1")
