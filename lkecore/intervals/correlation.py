"""Correlation of two numbers of each fact, with an interval over facts."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lkecore.intervals.interval import (
    N_RESAMPLES,
    Interval,
    check_resamples,
    percentile,
    times_drawn,
)


def correlation_over_facts(
    x: ArrayLike,
    y: ArrayLike,
    *,
    seed: int,
    ranks: bool = False,
    minus: tuple[ArrayLike, ArrayLike] | None = None,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Pearson's correlation of two numbers of each fact, or with ``ranks`` Spearman's, in [-1, 1].

    Question: how alike would the two be with **other facts**? Facts are drawn again with replacement
    (percentile bootstrap); Spearman's ranks are those within each draw. ``x`` and ``y`` are (fact,), or
    (condition, fact): the correlation is then over all of these, and a fact is drawn with all its conditions.
    With ``minus``, two other numbers of the same facts, the result is the first correlation minus theirs.
    It is :func:`lkecore.intervals.statistic.statistic_over_facts` of a correlation, drawn alike, but all
    resamples are worked out at once from how often they hold each fact. 0 where all facts have one value.
    ValueError for shapes that differ, fewer than 2 facts, NaN, and without ``ranks`` infinite values.

    >>> correlation_over_facts([1, 2, 3, 4], [1, 3, 2, 9], ranks=True, seed=0).estimate
    0.8
    """
    check_resamples(n_resamples)
    sides = [(x, y)] if minus is None else [(x, y), minus]
    pairs = [_checked(*side, ranks=ranks) for side in sides]
    n = np.shape(x)[-1]
    if np.shape(sides[-1][0])[-1] != n:
        raise ValueError(f"{n} facts minus {np.shape(sides[-1][0])[-1]}; both need the same facts")

    def correlations(times: NDArray[np.float64]) -> NDArray[np.float64]:
        of = _of_ranks if ranks else _of_values
        conditions = [len(pair[0]) // n for pair in pairs]
        drawn = [times if c == 1 else np.tile(times, c) for c in conditions]  # a copy, where due
        found = [of(each, *pair) for each, pair in zip(drawn, pairs, strict=True)]
        return found[0] if minus is None else found[0] - found[1]

    resampled = [correlations(times) for times in times_drawn(n, n_resamples, seed)]
    estimate = float(correlations(np.ones((1, n)))[0])
    return percentile(estimate, np.concatenate(resampled), level, "bootstrap over facts")


def _checked(x: ArrayLike, y: ArrayLike, *, ranks: bool) -> list[NDArray]:
    """Both numbers of each fact, one condition behind the other: centred, or with ``ranks`` their places.

    These are among the different values.
    """
    both = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    shapes = [each.shape for each in both]
    if shapes[0] != shapes[1] or both[0].ndim not in (1, 2) or shapes[0][-1] < 2:
        raise ValueError(f"x {shapes[0]}, y {shapes[1]}; both need the same (fact,), 2 or more")
    if np.isnan(both).any() or (not ranks and np.isinf(both).any()):
        raise ValueError(
            "x or y holds NaN, or an infinite value that has no correlation but of ranks"
        )
    flat = [each.ravel() for each in both]
    if ranks:
        return [np.unique(each, return_inverse=True)[1] for each in flat]
    return [each - each.mean() for each in flat]


def _of_values(
    times: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(resample,) Pearson's correlations, from sums of products."""
    n = len(a)
    one, other, both, first, second = (times @ np.stack([a, b, a * b, a * a, b * b], axis=1)).T
    squares = first - one**2 / n, second - other**2 / n
    # Where all facts of a draw have one value, what is left is a rounding.
    flat = (squares[0] <= 1e-12 * first) | (squares[1] <= 1e-12 * second)
    gap = np.where(flat, 0, both - one * other / n)
    return gap / np.sqrt(np.where(flat, 1, squares[0] * squares[1]))


def _of_ranks(
    times: NDArray[np.float64], a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(resample,) Spearman's correlations; ``a`` and ``b`` are places among the different values."""
    x, y = (_mean_places(times, each) - (len(a) + 1) / 2 for each in (a, b))  # their means are 0
    spread = np.sqrt(_sums(times, x, x) * _sums(times, y, y))
    return _sums(times, x, y) / np.maximum(spread, 1e-300)


def _sums(
    times: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.einsum("ij,ij,ij->i", times, a, b)


def _mean_places(times: NDArray[np.float64], value: NDArray[np.int64]) -> NDArray[np.float64]:
    """The place of each fact among those of a resample, (resample, fact); equal values share their mean."""
    order = np.argsort(value, kind="stable")
    first = np.flatnonzero(np.diff(value[order], prepend=-1))
    of_value = np.add.reduceat(times[:, order], first, axis=1)
    return (np.cumsum(of_value, axis=1) - (of_value - 1) / 2)[:, value]
