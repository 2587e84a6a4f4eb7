"""The difference of two models that a number of relations and facts can show, and how many it takes.

A fact f of relation r has the gap g = right by one - right by the other, in -1, 0, 1 (or between, of several
draws). The part that varies from relation to relation is separate from the part that varies from fact to
fact,

    g = d + u_r + e_rf,    var(u) = between,    var(e) = within,

so that the mean over R relations of F facts each has the variance (between + within / F) / R. More facts
reduce the second part; only more relations reduce the first. A difference is shown with the chance
``power`` if it is as large as

    (t(1 - alpha / 2, R - 1) + t(power, R - 1)) * sqrt((between + within / F) / R).
"""

import itertools
import math

import numpy as np
import pandas as pd

from lkecore.errors import BadInput
from lkecore.stats.resample import checked

ALPHA, POWER = 0.05, 0.8
N_CHECK = 2_000  # resamples of a check: its quantile then moves by 2 to 3 %


def parts(gap: pd.DataFrame) -> pd.Series:
    """The variances ``within`` and ``between``, by the method of moments, and the design of ``gap``.

    ``gap`` has the columns relation and ``gap``, a row for each fact, as :func:`lkecore.stats.estimate.minus`
    returns it. The series has these entries:

    - ``estimate``: the mean over relations of their mean gaps;
    - ``within``: the mean over relations of the variance of their gaps;
    - ``between``: ``moment``, or 0 if that is below 0;
    - ``moment``: the variance of the relations' means, less the part that their facts add to it;
    - ``relations``: their number;
    - ``facts``: the harmonic mean of the numbers of facts, as in the formula above.

    BadInput for one relation, for relations of one fact each, and if all gaps are the same.

    >>> frame = pd.DataFrame({"relation": list("aabb"), "gap": [1, 0, 0, 0]})
    >>> parts(frame)[["within", "between", "moment"]].tolist()  # var(.5, 0) = .125, less .25 / 2
    [0.25, 0.0, 0.0]
    """
    checked(gap, ["relation"], "gap")
    of = gap.groupby("relation", sort=False)["gap"]
    means, n, of_facts = of.mean(), of.size(), of.var()
    if len(n) < 2 or n.max() < 2:
        raise BadInput(
            f"relations: {len(n)}, facts of each: {n.max()} at most; the variances between and within "
            "relations need 2 of both or more"
        )
    if gap["gap"].nunique() == 1:
        raise BadInput(
            f"all {len(gap)} facts have the difference {gap['gap'].iloc[0]:g}: without any variance, nothing "
            "says what others might have"
        )
    within = of_facts.mean()
    moment = means.var() - (of_facts.fillna(within) / n).mean()
    found = {"estimate": means.mean(), "within": within, "between": max(moment, 0.0)}
    return pd.Series(found | {"moment": moment, "relations": len(n), "facts": 1 / (1 / n).mean()})


def least(variance: float, n: int, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The smallest difference that a mean of ``n`` values with this variance shows; NaN for one value.

    >>> print(round(least(0.04, 12), 4))
    0.1776
    """
    return _quantiles(n, alpha, power) * math.sqrt(variance / n) if n > 1 else math.nan


def detectable(of: pd.Series, relations: int, facts: float, **how: float) -> float:
    """:func:`least` of a design: ``facts`` of each of ``relations``, with the variances of :func:`parts`."""
    return least(of["between"] + of["within"] / facts, relations, **how)


def facts_needed(
    of: pd.Series, relations: int, detect: float, *, alpha: float = ALPHA, power: float = POWER
) -> int | None:
    """The number of facts of each of ``relations`` that shows a difference of ``detect``; None: none does."""
    spare = relations * (detect / _quantiles(relations, alpha, power)) ** 2 - of["between"]
    return max(1, math.ceil(of["within"] / spare)) if spare > 0 else None


def relations_needed(of: pd.Series, facts: float, detect: float, **how: float) -> int:
    """The fewest relations of ``facts`` each that show ``detect``; ``facts`` may be ``math.inf``."""
    return next(n for n in itertools.count(2) if detectable(of, n, facts, **how) <= detect)


def resampled(
    gap: pd.DataFrame,
    relations: int,
    facts: int,
    *,
    alpha: float = ALPHA,
    power: float = POWER,
    seed: int = 0,
) -> float:
    """:func:`detectable` without the assumption of a normal distribution: designs are drawn from ``gap``.

    Each draw takes ``relations`` with their deviations from the mean, and ``facts`` of each, all with
    replacement, and has its own t interval. The variances are those of :func:`parts`, so that luck in the
    pilot's facts does not count as a difference of relations. A gap of d is shown in ``power`` of the draws.
    """
    of, rng = parts(gap), np.random.default_rng(seed)
    groups = [part for _, part in gap.groupby("relation", sort=False)["gap"]]
    own = np.array([part.mean() for part in groups])
    own = (own - own.mean()) * math.sqrt(of["between"] / (own.var() or 1))
    which = rng.integers(len(own), size=(N_CHECK, relations))
    drawn = own[which]
    for r, part in enumerate(groups):
        at, n = which == r, len(part)
        values, times = np.unique(part - part.mean(), return_counts=True)
        means = rng.multinomial(facts, times / n, at.sum()) @ values / facts
        drawn[at] += means * math.sqrt(n / max(1, n - 1))
    half = _quantiles(relations, alpha, 0.5) * drawn.std(axis=1, ddof=1) / math.sqrt(relations)
    return float(np.quantile(half - drawn.mean(axis=1), power))


def _quantiles(n: int, alpha: float, power: float) -> float:
    from scipy import stats  # takes half a second, which most commands need not wait

    return float(stats.t.ppf(1 - alpha / 2, n - 1) + stats.t.ppf(power, n - 1))
