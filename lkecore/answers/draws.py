"""Draws: one question behind several draws of shots. How far they lie apart, and what a fact counts with.

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


def all_draws(first: pd.DataFrame, others: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The answers of the first draw, and below them those behind other shots in the same groups of ``by``."""
    if others.empty:
        return first
    return pd.concat([first, _of_groups(first, others, by)], ignore_index=True)


def over_draws(first: pd.DataFrame, others: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """How far the accuracy moves with the draw of the shots, the column ``draw``, in each group of ``by``.

    ``others`` are answers behind other shots about some of the facts that ``first`` asks; of ``first``,
    which is a draw by itself, these facts alone are counted, of ``others`` the groups that ``first`` has.
    Columns: ``by``; ``facts`` of each draw; ``draws``, how many; ``least`` and ``most``: the lowest and the
    highest accuracy of a draw; ``in_all`` and ``in_any``: the share of facts that are right in every draw,
    and in one at least. Each relation counts alike, all in [0, 1].
    """
    asked = [*by, "relation", "fact"]
    others = _of_groups(first, others, by)
    same = first.merge(others[asked].drop_duplicates(), on=asked)
    # What ships has seeds of its own: one of its other draws may have the seed of this page's first.
    every = pd.concat([same.assign(draw="first"), others], ignore_index=True)
    of_facts = every.groupby(asked, sort=False)["correct"].agg(["min", "max"]).astype(float)
    of_facts = of_facts.groupby([*by, "relation"], sort=False).mean()
    of_facts = of_facts.groupby(list(by), sort=False).mean()
    means = every.groupby([*by, "draw", "relation"], sort=False)["correct"].mean()
    means = means.groupby([*by, "draw"], sort=False).mean().groupby(list(by), sort=False)
    found = means.agg(["size", "min", "max"])
    found = found.rename(columns={"size": "draws", "min": "least", "max": "most"})
    found.insert(0, "facts", same.groupby(list(by), sort=False).size())
    return found.assign(in_all=of_facts["min"], in_any=of_facts["max"]).reset_index()


def _of_groups(first: pd.DataFrame, others: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The rows of ``others`` in the groups of ``by`` that ``first`` has."""
    return others.merge(first[[*by]].drop_duplicates(), on=list(by))
