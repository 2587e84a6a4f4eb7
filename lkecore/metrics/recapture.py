"""Recapture: how many facts there are to be found, from how often the same ones are found again.

Ecologists catch animals, let them go, and catch again: many old acquaintances mean that few are left unseen.
Here an estimator is a catch, and a fact that it answers rightly is caught.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def chao(caught: ArrayLike) -> NDArray[np.float64]:
    """Chao's lower bound on the number of facts that can be found at all, those included that nobody found.

        S + (m - 1) / m * q1 (q1 - 1) / (2 (q2 + 1))

    S facts are found by any of m estimators, q1 by just one and q2 by two (Chao 1987, bias-corrected, for
    what is found or not). ``caught``: (..., estimator, fact), 0 or 1. A number of facts, at least S, for
    each entry of the leading axes. It is a bound if all that is caught is there: what is caught by luck
    counts as much. ValueError for fewer than 2 estimators, no fact, or other
    values.

    >>> float(chao([[1, 1, 0, 0], [1, 0, 1, 0]]))  # S 3, q1 2, q2 1: 3 + 1/2 * 2 / 4
    3.25
    """
    table = np.asarray(caught, dtype=np.float64)
    if table.ndim < 2 or table.shape[-2] < 2 or not table.shape[-1]:
        raise ValueError(
            f"caught has the shape {table.shape}; it needs (..., estimator, fact), with 2 estimators "
            "and a fact or more"
        )
    if not np.isin(table, (0, 1)).all():
        raise ValueError("caught holds a value that is neither 0 nor 1")
    return chao_of_counts(*(each.sum(axis=-1) for each in caught_times(table)), table.shape[-2])


def caught_times(caught: ArrayLike) -> tuple[NDArray[np.bool_], ...]:
    """Which facts any estimator finds, just one, and two; ``caught`` is (..., estimator, fact), 0 or 1."""
    times = np.asarray(caught).sum(axis=-2)
    return times >= 1, times == 1, times == 2


def chao_of_counts(
    found: ArrayLike, once: ArrayLike, twice: ArrayLike, m: int
) -> NDArray[np.float64]:
    """:func:`chao` from how many facts any of ``m`` estimators finds, just one, and two."""
    one, two = np.asarray(once, dtype=np.float64), np.asarray(twice, dtype=np.float64)
    return found + (m - 1) / m * one * (one - 1) / (2 * (two + 1))
