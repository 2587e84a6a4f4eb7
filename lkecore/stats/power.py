"""Power: which difference of two models a number of relations and facts can show, and how many it takes.

A fact f of relation r has the gap g = right by one - right by the other, in -1, 0, 1 (or between, of several
draws). What varies from relation to relation is apart from what varies from fact to fact,

    g = d + u_r + e_rf,    var(u) = between,    var(e) = within,

so that the mean over R relations of F facts each has the variance (between + within / F) / R. More facts make
the second part small, and nothing but more relations the first. A difference is shown with the chance
``power`` where it is as large as

    (t(1 - alpha / 2, R - 1) + t(power, R - 1)) * sqrt((between + within / F) / R).
"""

import math

import numpy as np
import pandas as pd

from lkecore.errors import BadInput
from lkecore.stats.resample import checked

ALPHA, POWER = 0.05, 0.8
N_CHECK = 2_000  # resamples of a check: its quantile then moves by 2 to 3 %
MOST = 20_000_000  # numbers in memory at a time


def parts(gap: pd.DataFrame) -> pd.Series:
    """``within`` and ``between`` by the method of moments, with ``estimate``, ``relations`` and ``facts``.

    ``gap`` has the columns relation and ``gap``, a row a fact, as :func:`lkecore.stats.estimate.minus`.
    ``within`` is the mean over relations of the variance of their gaps; ``between`` the variance of the
    relations' means, less what their facts add to it; below 0 it is 0, and ``moment`` has what came out.
    ``facts`` is the mean number of facts a relation, the harmonic one, as it is in the formula above.
    BadInput for one relation, for relations of one fact each, and where all gaps are the same.

    >>> frame = pd.DataFrame({"relation": list("aabb"), "gap": [1, 0, 0, 0]})
    >>> parts(frame)[["within", "between", "moment"]].tolist()  # var(.5, 0) = .125, less .25 / 2
    [0.25, 0.0, 0.0]
    """
    checked(gap, ["relation"], "gap")
    of = gap.groupby("relation", sort=False)["gap"]
    means, n, of_facts = of.mean(), of.size(), of.var(ddof=1)
    if len(means) < 2:
        raise BadInput(
            f"one relation, {means.index[0]}: what varies between relations needs 2 or more"
        )
    if of_facts.isna().all():
        raise BadInput(
            "every relation has one fact: what varies within them needs 2 facts in one or more"
        )
    if gap["gap"].nunique() == 1:
        raise BadInput(
            f"all {len(gap)} facts have the difference {gap['gap'].iloc[0]:g}: without any variance, nothing "
            "says what others might have"
        )
    within = of_facts.mean()
    moment = means.var(ddof=1) - (of_facts.fillna(within) / n).mean()
    found = {"estimate": means.mean(), "within": within, "between": max(moment, 0.0)}
    return pd.Series(found | {"moment": moment, "relations": len(n), "facts": 1 / (1 / n).mean()})


def least(variance: float, n: int, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The least difference that a mean of ``n`` values with this variance shows; NaN for one value.

    >>> print(round(least(0.04, 12), 4))
    0.1776
    """
    return _quantiles(n, alpha, power) * math.sqrt(variance / n) if n > 1 else float("nan")


def detectable(
    of: pd.Series, relations: int, facts: float, *, alpha: float = ALPHA, power: float = POWER
) -> float:
    """:func:`least` of a design: ``facts`` of each of ``relations``, with the variances of :func:`parts`."""
    return least(of["between"] + of["within"] / facts, relations, alpha=alpha, power=power)


def facts_needed(
    of: pd.Series, relations: int, detect: float, *, alpha: float = ALPHA, power: float = POWER
) -> int | None:
    """How many facts of each of ``relations`` show a difference of ``detect``; None: no number does."""
    if relations < 2:
        return None
    spare = relations * (detect / _quantiles(relations, alpha, power)) ** 2 - of["between"]
    return max(1, math.ceil(of["within"] / spare)) if spare > 0 else None


def relations_needed(
    of: pd.Series, facts: float, detect: float, *, alpha: float = ALPHA, power: float = POWER
) -> int:
    """The fewest relations of ``facts`` each that show ``detect``; with ``math.inf``, however many facts."""
    n = 2
    while detectable(of, n, facts, alpha=alpha, power=power) > detect:
        n += max(1, n // 500)  # to 0.2 % where there are many
    return n


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

    Each draw takes ``relations`` with what they differ by, and ``facts`` of each, all with replacement, and
    its t interval is wide as it is. The relations' own parts are made smaller, so that luck in the pilot's
    facts is not counted as a difference of relations. A gap of d is shown in ``power`` of the draws.
    """
    of, rng = parts(gap), np.random.default_rng(seed)
    groups = [part.to_numpy(float) for _, part in gap.groupby("relation", sort=False)["gap"]]
    means, sizes = np.array([part.mean() for part in groups]), np.array([*map(len, groups)])
    own = (means - means.mean()) * np.sqrt(of["between"] / (means.var(ddof=1) or 1))
    own *= np.sqrt(len(means) / (len(means) - 1))
    apart = np.zeros((len(groups), sizes.max()))
    for row, part in zip(apart, groups, strict=True):
        row[: len(part)] = (part - part.mean()) * np.sqrt(len(part) / max(1, len(part) - 1))
    n, short = N_CHECK, []
    for some in range(0, n, step := max(1, MOST // (relations * facts))):
        size = min(step, n - some)
        which = rng.integers(len(groups), size=(size, relations))
        places = (rng.random((size, relations, facts)) * sizes[which][..., None]).astype(int)
        each = own[which] + apart[which[..., None], places].mean(-1)
        half = _quantiles(relations, alpha, 0.5) * each.std(-1, ddof=1) / np.sqrt(relations)
        short.append(half - each.mean(-1))
    return float(np.quantile(np.concatenate(short), power))


def _quantiles(n: int, alpha: float, power: float) -> float:
    from scipy import stats  # takes half a second, which most commands need not wait

    return float(stats.t.ppf(1 - alpha / 2, n - 1) + stats.t.ppf(power, n - 1))
