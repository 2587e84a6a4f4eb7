"""Intervals of any statistic over facts, of a share over relations, and of the AUROC over pairs."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lkecore.intervals.interval import (
    BLOCK,
    N_RESAMPLES,
    Interval,
    check_level,
    check_resamples,
    percentile,
    times_drawn,
)


def statistic_over_facts(
    values: ArrayLike,
    statistic: Callable[[NDArray[np.float64]], ArrayLike],
    *,
    seed: int,
    redraw: int | None = None,
    nested: bool = False,
    vectorized: bool = False,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Any statistic of several conditions on the same facts, with an interval over facts.

    Question: what would the statistic be on **other facts of this relation**? `values` has the axes
    (condition, ..., fact), such as correctness by draw of shots and fact; whole facts are drawn
    again with replacement, so that what belongs to one fact stays together (percentile
    bootstrap). With `redraw`, an axis of conditions, the question is about **other draws of shots
    too**: the draws along that axis are drawn again as well, the same ones for all other
    conditions. With `nested`, too, each of these draws has facts of its own: within each draw that is
    drawn, its facts are drawn again, apart from those of the others. `statistic` takes such an array
    and returns one number, whose unit the result has. With `vectorized` it takes many of them, with
    one more axis in front, and returns the number of each: far faster, and the same intervals.
    Weaknesses: without `redraw` five draws of shots are these five, and for their spread the
    interval is far too narrow; with it, five are few, and a spread of a sample drawn again errs
    low; the spread itself errs high by the noise of few facts; a statistic that jumps, such as a
    least number, has an interval that jumps. ValueError for fewer than 2 facts, a value that is not
    finite, an axis to redraw that there is not, or `nested` without one.

    >>> right = [[1, 1, 0, 0], [1, 1, 1, 0]]
    >>> statistic_over_facts(right, lambda v: v.mean(axis=-1).std(ddof=1), seed=0).estimate
    0.1767766952966369
    """
    check_level(level)
    check_resamples(n_resamples)
    table = np.asarray(values, dtype=np.float64)
    if table.ndim < 2 or table.shape[-1] < 2:
        raise ValueError(
            f"values have the shape {table.shape}; the last axis needs 2 facts or more"
        )
    if not np.isfinite(table).all():
        raise ValueError("values hold one that is not finite")
    if redraw is not None and not 0 <= redraw < table.ndim - 1:
        raise ValueError(f"redraw is {redraw}; the conditions have the axes 0 to {table.ndim - 2}")
    if nested and redraw is None:
        raise ValueError(
            "nested says that each draw has its own facts; redraw must name their axis"
        )
    each = statistic if vectorized else lambda many: [statistic(one) for one in many]
    step = max(1, BLOCK // table.size)
    resampled: list[NDArray[np.float64]] = []
    for draws, facts in _drawn(table.shape, n_resamples, seed, redraw, nested, step):
        if draws is None:
            again = np.moveaxis(table.take(facts, axis=-1), -2, 0)
        else:
            by_draw = np.moveaxis(table, redraw, -2)[..., draws, facts]
            again = np.moveaxis(np.moveaxis(by_draw, -3, 0), -2, redraw + 1)
        resampled.append(np.asarray(each(np.ascontiguousarray(again)), dtype=np.float64))
    estimate = statistic(table[None])[0] if vectorized else statistic(table)
    method = "bootstrap over facts" if redraw is None else "bootstrap over draws and facts"
    method += " within them" if nested else ""
    return percentile(float(estimate), np.concatenate(resampled), level, method)


def _drawn(
    shape: tuple[int, ...],
    n_resamples: int,
    seed: int,
    redraw: int | None,
    nested: bool,
    step: int,
) -> Iterator[tuple[NDArray[np.int64] | None, NDArray[np.int64]]]:
    """What resamples draw, ``step`` of them at a time: indices of draws, and of facts.

    Without ``redraw`` there are no draws, and the facts are (resample, fact), else both fit
    (resample, draw, fact). The numbers do not depend on ``step``.
    """
    rng = np.random.default_rng(seed)
    n = shape[-1]
    facts = rng.integers(n, size=(n_resamples, n))
    for start in range(0, n_resamples, step):
        here = facts[start : start + step]
        if redraw is None:
            yield None, here
            continue
        size = shape[redraw]
        if not nested:
            yield rng.integers(size, size=(len(here), size, 1)), here[:, None]
            continue
        draws = np.empty((len(here), size, 1), dtype=np.int64)
        own = np.empty((len(here), size, n), dtype=np.int64)
        for i in range(len(here)):  # one resample after the other
            draws[i, :, 0] = rng.integers(size, size=size)
            own[i] = rng.integers(n, size=(size, n))
        yield draws, own


def auroc_over_pairs(
    told: ArrayLike,
    control: ArrayLike,
    *,
    seed: int,
    minus: tuple[ArrayLike, ArrayLike] | None = None,
    of: ArrayLike | None = None,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """AUROC of told facts against their controls, with an interval over pairs.

    Question: what would the AUROC be with **other pairs** of a fact and its control? Pairs are drawn
    again with replacement, a fact and its control together (percentile bootstrap). With ``of``, (pair,),
    whose pair it is, such as its subject: with **other subjects**? All pairs of a subject are drawn together.

        AUROC = (1 / n**2) * sum over i and j of [told_i > control_j] + [told_i = control_j] / 2

    ``told`` and ``control`` are (pair,), such as confidences. With ``minus``, the (told, control) of
    the same pairs by another estimator, the result is the difference of the two AUROCs: positive
    where the first one is larger. It is :func:`statistic_over_facts` of
    :func:`lkecore.metrics.planted.auroc`, drawn alike, but all resamples are one product of matrices.
    Weakness: the width is zero where every told fact lies above every control, which is no
    certainty. An infinite value has its place in an order. ValueError for shapes that differ, fewer than 2
    pairs (or subjects), or NaN.

    >>> auroc_over_pairs([0.9, 0.5], [0.5, 0.1], seed=0).estimate  # (1 + 1 + 0.5 + 1) / 4
    0.875
    """
    check_resamples(n_resamples)
    above = _told_above(told, control)
    if minus is not None:
        other = _told_above(*minus)
        if other.shape != above.shape:
            raise ValueError(f"{len(above)} pairs minus {len(other)}; both need the same pairs")
        above = above - other
    whose = (
        np.arange(len(above)) if of is None else np.unique(np.asarray(of), return_inverse=True)[1]
    )
    if whose.shape != above.shape[:1] or (n := whose.max() + 1) < 2:
        raise ValueError(f"{len(above)} pairs of {np.shape(of)}; each needs one, 2 or more in all")
    # Sums of halves, which single precision holds to the last digit for two thousand pairs.
    exact = np.float32 if len(above) <= 2000 else np.float64
    above = above.astype(exact)
    resampled = []
    for counts in times_drawn(n, n_resamples, seed, exact):
        times = counts[:, whose]
        sums = np.einsum("ij,ij->i", times @ above, times)
        resampled.append(sums.astype(np.float64) / times.sum(axis=1, dtype=np.float64) ** 2)
    method = "bootstrap over pairs" if of is None else "bootstrap over subjects"
    estimate = float(above.mean(dtype=np.float64))
    return percentile(estimate, np.concatenate(resampled), level, method)


def _told_above(told: ArrayLike, control: ArrayLike) -> NDArray[np.float64]:
    """(pair, pair): 1 where the told fact of the row lies above the control of the column."""
    a, b = np.asarray(told, dtype=np.float64), np.asarray(control, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2:
        raise ValueError(
            f"told {a.shape} and control {b.shape}; both need the same (pair,), 2 or more"
        )
    if np.isnan(a).any() or np.isnan(b).any():
        raise ValueError("told or control holds NaN, which has no place in an order")
    return (a[:, None] > b) + 0.5 * (a[:, None] == b)
