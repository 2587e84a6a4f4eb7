"""Draws: one question behind several draws of shots, and what a fact counts with.

The first draw stands by itself, those behind other shots in a frame of their own, which has a column ``draw``
(:mod:`lkecore.prompts.draws`).
"""

from collections.abc import Sequence

import pandas as pd

from lkecore.answers.tables import FIRST, groups_of


def mean_of_draws(first: pd.DataFrame, others: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The answers of the first draw, in which ``correct`` is the mean over all draws, in [0, 1].

    So an accuracy and a difference hang less on one draw. An interval over relations has the luck of draws
    in it; one over facts has not, since the draws stay. ``others`` are answers
    behind other shots to the same questions, told apart by ``by``, ``relation`` and ``fact``; what ``first``
    does not ask is left out. Columns: those of ``first``, which are of its draw but for ``correct``;
    ``first_draw`` (bool), what ``correct`` was, for tests that count right answers; ``draws``, how many stand
    behind the row. Where nobody asked again, ``correct`` stays as it is. ValueError for a question that a
    draw asks twice, and for a group of ``by`` of which not every fact has as many draws.
    """
    asked = list(dict.fromkeys([*by, "relation", "fact"]))
    found = first.assign(**{FIRST: first["correct"].astype(bool), "draws": 1})
    if others.empty:
        return found
    if first.duplicated(asked).any() or others.duplicated([*asked, "draw"]).any():
        raise ValueError("a question is asked twice behind the same shots")
    both = pd.concat([first[asked], others[asked]], ignore_index=True)
    both["correct"] = [*first["correct"].astype(float), *others["correct"].astype(float)]
    every = both.groupby(asked, sort=False, dropna=False)["correct"]
    n = len(first)
    found["correct"] = every.transform("mean").to_numpy()[:n]
    found["draws"] = every.transform("size").to_numpy()[:n]
    for key, part in groups_of(found, by):
        if part["draws"].nunique() > 1:
            raise ValueError(
                f"{', '.join(map(str, key))}: not every fact has as many draws of shots"
            )
    return found
