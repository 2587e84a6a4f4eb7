"""Intervals over facts and over relations, of means, spreads, ratios and correlations."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lkecore.intervals.interval import (
    BLOCK,
    N_RESAMPLES,
    Interval,
    check_level,
    check_resamples,
    percentile,
)

SHARE = (0.0, 1.0)  # what no share can leave
FEW = 8  # different values, at most, of which it is drawn how often each comes up
LEAST = 1e-12  # a mean at or below this is no more than 0: what is left is rounding


def mean_over_facts(
    groups: Sequence[ArrayLike],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Mean over relations of the mean over facts, with an interval over facts.

    Question: what would the mean be with **other facts of these very relations**? The relations
    stay; facts are drawn again with replacement inside each (stratified percentile bootstrap).

        estimate = (1 / R) * sum over relations r of (mean of groups[r])

    Each relation counts the same however many facts it has, as in Table 7 of Wu et al. 2024
    (IC-LKE). `groups[r]` holds the values of relation r, axis (fact,): correctness (0 or 1),
    confidences or paired differences; the unit of the result is theirs. Weaknesses: too narrow with
    few facts a relation (by about sqrt(1 - 1/n)); width zero where the values of every relation are
    all equal, which is no certainty (see `proportion`); says nothing on other relations. ValueError
    for no relation, fewer than 2 facts in one, or a value that is not finite.

    >>> interval = mean_over_facts([[1, 1, 1, 0], [0, 0]], seed=0)
    >>> interval.estimate  # (3/4 + 0) / 2, not 3/6
    0.375
    """
    values = _checked_groups(groups, least=1)
    means = _resampled_means(
        values, np.random.default_rng(seed), n_resamples, redraw_relations=False
    )
    return percentile(_mean_of_means(values), means.mean(axis=1), level, "bootstrap over facts")


def mean_over_relations(
    groups: Sequence[ArrayLike],
    *,
    level: float = 0.95,
    within: tuple[float, float] | None = None,
) -> Interval:
    """Mean over relations of the mean over facts, with Student's t interval over relations.

    Question: what would the mean be with **other relations too**, of the kind these were chosen
    from?

        mean +- t * s / sqrt(R),   s the standard deviation of the R relations' means, t of R - 1

    Estimate, `groups` and unit as in `mean_over_facts`. What else makes the means of relations vary is
    in s: the choice of facts, and of shots, where each relation has its own. `within` are the ends
    that a truth cannot pass, such as 0 and 1 of a share. Weaknesses: means far from normal. In
    simulations (beta-distributed accuracies, 20,000 times, 25 and 100 facts of each), 95 % intervals
    held the truth in 93 to 95 % at an accuracy of 0.3 (standard deviation 0.15) with 3, 4, 8, 16 and 40
    relations; at 0.1 (0.08) in 89 to 92 % with up to 8, 93 and 94 % with 16 and 40; at 0.02 (0.02), next
    to the floor, in 69 to 90 % with up to 8 and 89 to 94 % beyond. And relations picked by hand
    are no random draw. ValueError for fewer than 2 relations, one without a fact, or a value that is not
    finite.

    >>> mean_over_relations([[1, 1], [0, 0], [1, 0]]).text()  # 0.5 +- 4.30 * 0.5 / sqrt(3)
    '0.50 [-0.74, 1.74]'
    """
    check_level(level)
    values = _checked_groups(groups, least=2, least_facts=1)
    means = np.array([group.mean() for group in values])
    from scipy import stats  # takes half a second, which most commands need not wait

    half = stats.t.ppf((1 + level) / 2, len(means) - 1) * stats.sem(means)
    low, high = means.mean() - half, means.mean() + half
    if within is not None:
        low, high = np.clip([low, high], *within)
    estimate = _mean_of_means(values)
    return Interval(estimate, float(low), float(high), level, "Student's t over relations")


def std_over_relations(
    groups: Sequence[ArrayLike],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Standard deviation over relations of the mean over facts: how much relations differ.

    Question: how far apart would **other relations too** lie? Two stages: relations are drawn with
    replacement, then facts with replacement inside each drawn relation (percentile bootstrap).

        estimate = sqrt( sum over r of (m_r - mean m)**2 / (R - 1) ),   m_r = mean of groups[r]

    The `std` column of Table 7 of Wu et al. 2024 (IC-Q12: read as over relations; whether it
    divides by R or R - 1 is not said). At least 0, in the unit of the values; no direction is
    better. Weaknesses: the noise of few facts adds to the spread of relations, so it errs high
    (0.200 becomes 0.202 with 400 facts a relation, 0.204 with 150, at accuracies near one half);
    drawing a relation twice pulls the other way, so with few relations the interval lies low (in
    simulations, 95 % intervals held the truth in 91 % with 12 relations of 150 facts, 93 % with
    30). ValueError for fewer than 2 relations, and as in `mean_over_facts`.

    >>> std_over_relations([[0, 0], [1, 1], [0, 1]], seed=0).estimate  # means 0, 1, 0.5
    0.5
    """
    values = _checked_groups(groups, least=2)
    means = _resampled_means(
        values, np.random.default_rng(seed), n_resamples, redraw_relations=True
    )
    estimate = float(np.std([group.mean() for group in values], ddof=1))
    return percentile(
        estimate, means.std(axis=1, ddof=1), level, "bootstrap over relations and facts"
    )


def paired_difference(
    a_groups: Sequence[ArrayLike],
    b_groups: Sequence[ArrayLike],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Mean of a minus b over the same facts, with an interval over facts.

    Question: how would two conditions (models, formats) differ on **other facts of these very
    relations**? `a_groups[r][i]` and `b_groups[r][i]` are the same fact; their difference is taken
    first, so what a fact's difficulty adds to both cancels. Positive where a is larger. Then as in
    `mean_over_facts`, weaknesses and errors included; ValueError too where lengths do not match.

    >>> paired_difference([[1, 1, 1, 0]], [[1, 0, 0, 0]], seed=0).estimate  # (0 + 1 + 1 + 0) / 4
    0.5
    """
    a, b = _checked_groups(a_groups, least=1), _checked_groups(b_groups, least=1)
    lengths = [len(group) for group in a], [len(group) for group in b]
    if lengths[0] != lengths[1]:
        raise ValueError(
            f"facts a relation are {lengths[0]} and {lengths[1]}; pairs need the same facts"
        )
    differences = [x - y for x, y in zip(a, b, strict=True)]
    return mean_over_facts(differences, seed=seed, n_resamples=n_resamples, level=level)


def _resampled_means(
    values: list[NDArray[np.float64]],
    rng: np.random.Generator,
    n_resamples: int,
    *,
    redraw_relations: bool,
) -> NDArray[np.float64]:
    """Means of resampled facts, (resample, slot, ...): a slot holds its own relation or a drawn one.

    ``values[r]`` is (fact, ...): a number of each fact, or several that are drawn together. A relation
    that is drawn into several slots gets its own draw of facts in each.
    """
    check_resamples(n_resamples)
    if not redraw_relations:
        return np.stack([_draws(facts, n_resamples, rng) for facts in values], axis=1)
    relation = rng.integers(len(values), size=(n_resamples, len(values)))
    means = np.empty((*relation.shape, *values[0].shape[1:]))
    for index, facts in enumerate(values):
        slots = relation == index
        means[slots] = _draws(facts, int(slots.sum()), rng)
    return means


def _draws(
    facts: NDArray[np.float64], n_draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(draw, ...) means of len(facts) values drawn with replacement.

    Where facts have few different values, such as right and wrong, it is enough to draw how often each of
    these comes up, which is a multinomial number: the same distribution, many times faster. Else facts
    are drawn one by one, in blocks to bound memory.
    """
    n = len(facts)
    different, times = np.unique(facts, axis=0, return_counts=True)
    if len(different) <= FEW:
        return rng.multinomial(n, times / n, size=n_draws) @ different / n
    step = max(1, BLOCK // n)
    means = np.empty((n_draws, *facts.shape[1:]))
    for start in range(0, n_draws, step):
        size = (min(step, n_draws - start), n)
        means[start : start + size[0]] = facts[rng.integers(n, size=size)].mean(axis=1)
    return means


def _mean_of_means(values: list[NDArray[np.float64]]) -> float:
    return float(np.mean([group.mean() for group in values]))


def _checked_groups(
    groups: Sequence[ArrayLike], *, least: int, least_facts: int = 2
) -> list[NDArray[np.float64]]:
    values = [np.asarray(group, dtype=np.float64) for group in groups]
    if len(values) < least:
        raise ValueError(f"{len(values)} relations given; this interval needs at least {least}")
    for index, group in enumerate(values):
        if group.ndim != 1 or len(group) < least_facts:
            raise ValueError(
                f"relation {index} has values of shape {group.shape}; it needs {least_facts} facts or more"
            )
        if not np.isfinite(group).all():
            raise ValueError(
                f"relation {index} holds a value that is not finite; drop and count it first"
            )
    return values
