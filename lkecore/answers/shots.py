"""Shots: how answers change with the number of shots, and with the choice of them.

All functions take the frame of answers with ``n_shots`` and ``draw``, the seed that drew the shots, and
group it by columns that you name. All draws of a group must have asked the same facts.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore import intervals
from lkecore.answers.tables import bounds, groups_of
from lkecore.metrics import curves


def by_draw(answers: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The accuracy of each draw: ``by``, ``n_shots``, ``draw``, ``accuracy`` in [0, 1]."""
    groups = answers.groupby([*by, "n_shots", "draw"], sort=False)["correct"]
    return groups.mean().rename("accuracy").reset_index()


def over_draws(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """The mean accuracy over draws for each number of shots, rising, and how far draws lie apart.

    Columns: ``by``, ``n_shots``; ``accuracy``, the mean with an interval over other facts (bootstrap);
    ``std``, the standard deviation (n - 1) of the accuracy over draws, NaN for a single one.
    """
    rows = []
    for key, part in groups_of(answers, by):
        for n, right in right_by_n(part).items():
            mean = intervals.mean_over_facts([right.mean(axis=0)], seed=seed)
            std = right.mean(axis=1).std(ddof=1) if len(right) > 1 else np.nan
            rows.append((*key, n, mean, std))
    return pd.DataFrame(rows, columns=[*by, "n_shots", "accuracy", "std"])


def needed(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """The least number of shots that gets 95 % of the accuracy with the most (IC-F1).

    Columns: ``by``; ``needed``, with an interval over facts, which can only name numbers that were
    tried; ``most``, the largest number tried; ``accuracy``, that with the most shots, with an interval
    over draws and facts; ``chance``, what guessing would get; ``at_chance`` (bool): the lower end of
    the accuracy is at chance or below, so there is nothing that examples could bring out.
    """
    rows = []
    for key, part in groups_of(answers, by):
        tables = right_by_n(part)
        found = intervals.statistic_over_facts(
            list(tables.values()),
            lambda v, n=list(tables): curves.shots_needed(n, v.mean(axis=(1, 2))),
            seed=seed,
        )
        most = max(tables)
        accuracy = intervals.statistic_over_facts([tables[most]], np.mean, seed=seed, redraw=1)
        chance = (1 / part["n_options"]).mean()
        rows.append((*key, found, most, accuracy, chance, bool(accuracy.low <= chance)))
    columns = ["needed", "most", "accuracy", "chance", "at_chance"]
    return pd.DataFrame(rows, columns=[*by, *columns])


def few_and_many(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """What the claims on shots say, as intervals over draws and facts.

    Columns: ``by``; ``few`` and ``many``, the least and the largest number of shots; ``rises``
    (:func:`rise`) and ``steadies`` (:func:`steadying`), Intervals. ``steadies`` is None for a single
    draw. A group with one number of shots has no row.
    """
    rows = []
    for key, part in groups_of(answers, by):
        tables = right_by_n(part)
        few, many = min(tables), max(tables)
        if few == many:
            continue
        ends = [tables[few], tables[many]]
        how = {"seed": seed, "redraw": 1}
        rises = intervals.statistic_over_facts(ends, rise, **how)
        several = len(ends[0]) > 1
        steadies = intervals.statistic_over_facts(ends, steadying, **how) if several else None
        rows.append((*key, few, many, rises, steadies))
    return pd.DataFrame(rows, columns=[*by, "few", "many", "rises", "steadies"])


def rise(ends: NDArray[np.float64]) -> float:
    """The mean accuracy with many shots minus that with few: (few or many, draw, fact)."""
    return float(ends[1].mean() - ends[0].mean())


def steadying(ends: NDArray[np.float64]) -> float:
    """How much less the accuracies of draws lie apart with many shots than with few.

    The standard deviation (n - 1) over draws with few, minus that with many, of ``ends`` as in
    :func:`rise`: positive where with more shots it matters less which ones they are.
    """
    few, many = ends.mean(axis=2).std(axis=1, ddof=1)
    return float(few - many)


def points(means: pd.DataFrame, needs: pd.DataFrame) -> pd.DataFrame:
    """What a figure draws: the numbers of :func:`over_draws`, each with what its group has in :func:`needed`.

    Columns: the groups' own, ``n_shots``; ``accuracy``, ``low``, ``high``; ``std``; ``needed``,
    ``chance`` and ``at_chance``.
    """
    by = [name for name in needs if name in means and name != "accuracy"]
    of = bounds(needs.drop(columns="accuracy"), "needed")
    return bounds(means, "accuracy").merge(of[[*by, "needed", "chance", "at_chance"]], on=by)


def right_by_n(part: pd.DataFrame) -> dict[int, NDArray[np.float64]]:
    """{n_shots, rising: (draw, fact), 1 where right} of one group; draws and facts sorted."""
    wide = part.pivot(index=["n_shots", "draw"], columns="fact", values="correct")
    blocks = wide.groupby("n_shots")
    return {int(n): block.to_numpy(dtype=np.float64) for n, block in blocks}
