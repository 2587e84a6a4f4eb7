"""Formats: how far does a result move when only the format of the question changes?

`right` has the axes (format, fact): the same facts, asked once in each format, and 1 where the answer
was right; or asked in each behind the same few draws of shots, and the share of right answers. The best of
many formats lies above the worst even if formats do not matter at all, since each has its own luck with few
facts. So every spread here has a yardstick beside it: what it would be if the formats were alike.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

BLOCK = 2**22  # values permuted at once, about 100 MB; the numbers do not depend on it


def spread(right: ArrayLike) -> float:
    """Accuracy in the best format minus accuracy in the worst.

    In [0, 1], 0 where all formats come to the same. Errs high: with few facts the best format is
    best by luck too. Hold it against `spreads_if_alike`. ValueError for fewer than 2 formats, no
    facts or a value that is not finite.

    >>> spread([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 0]])  # 0.75 - 0.25
    0.5
    """
    means = _checked(right).mean(axis=1)
    return float(means.max() - means.min())


def std(right: ArrayLike) -> float:
    """Standard deviation (n - 1) over formats of the accuracy. Errs high and raises as `spread`.

    >>> std([[1, 1, 0, 0], [1, 1, 1, 1]])  # accuracies 0.5 and 1
    0.3535533905932738
    """
    return float(_checked(right).mean(axis=1).std(ddof=1))


def spreads_if_alike(right: ArrayLike, *, seed: int, n_draws: int = 2_000) -> NDArray[np.float64]:
    """`spread` if formats were alike: the values of each fact dealt out to the formats by chance.

    (draw,) spreads. Each fact keeps its values, so that hard facts stay hard; only which format got
    which is drawn, for every fact apart. `alike_p` makes a test of it. ValueError as `spread`, and
    for fewer than 100 draws.

    >>> float(spreads_if_alike([[1, 0, 0], [1, 0, 0]], seed=0).max())  # nothing to deal out
    0.0
    """
    table = _checked(right)
    if n_draws < 100:
        raise ValueError(f"n_draws is {n_draws}; at least 100 are needed")
    n_formats, n_facts = table.shape
    moves = table[:, np.ptp(table, axis=0) > 0]  # the others add the same to every format
    rng = np.random.default_rng(seed)
    found = np.zeros(n_draws)
    step = max(1, BLOCK // max(1, moves.size))
    for start in range(0, n_draws if moves.size else 0, step):
        dealt = np.broadcast_to(moves, (min(step, n_draws - start), *moves.shape))
        found[start : start + step] = np.ptp(rng.permuted(dealt, axis=1).sum(axis=2), axis=1)
    return found / n_facts


def alike_p(right: ArrayLike, alike: ArrayLike) -> float:
    """p of the test that no format matters, from `spreads_if_alike`; in (0, 1], small: they do.

        p = (1 + number of draws with a spread as large as the true one) / (1 + number of draws)

    >>> alike_p([[1, 1], [0, 0]], [0.0, 0.5, 1.0])
    0.5
    """
    draws = np.asarray(alike, dtype=np.float64)
    # A hair below, so that the rounding of a mean does not decide.
    return float((1 + (draws >= spread(right) - 1e-12).sum()) / (1 + len(draws)))


def effects(accuracy: ArrayLike) -> NDArray[np.float64]:
    """How much each of two separators moves the accuracy, and how much only both together.

    `accuracy` is a full table with the axes (pair separator, shot separator). The result holds three
    standard deviations (divided by their number, not by one less), in the unit of the accuracy: of
    the row means, of the column means, and of what is left when both are taken off. Their squares
    add up to the variance of the table. ValueError for a table that is not full or has a single row
    or column.

    >>> effects([[0.25, 0.75], [0.25, 0.75]]).tolist()  # the shot separator alone
    [0.0, 0.25, 0.0]
    """
    table = np.asarray(accuracy, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        raise ValueError(
            f"a table of shape {table.shape} needs 2 rows and 2 columns or more, and no gap"
        )
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    both = table - rows - columns + table.mean()
    return np.array([rows.std(), columns.std(), both.std()])


def effects_if_alike(right: ArrayLike, shape: tuple[int, int]) -> NDArray[np.float64]:
    """`effects` if formats were alike: the square root of the mean square, over all ways to deal.

    `right` has the axes (format, fact), its formats in the order of a table of `shape` (pair
    separator, shot separator), row by row. As in `spreads_if_alike` the values of each fact are
    dealt out to the formats by chance; what that does to a mean square has a closed form, so that
    nothing is drawn. Effects far above these are more than luck. ValueError as `spread`, and for
    another number of formats.

    >>> effects_if_alike([[1, 0], [1, 0], [1, 0], [1, 0]], (2, 2)).tolist()
    [0.0, 0.0, 0.0]
    """
    table = _checked(right)
    rows, columns = shape
    if rows * columns != len(table):
        raise ValueError(f"{len(table)} formats are no table of {rows} by {columns}")
    luck = table.var(axis=0, ddof=1).mean() / table.shape[1]
    # Dealt by chance, all directions among the formats have the same variance: count them.
    directions = np.array([rows - 1, columns - 1, (rows - 1) * (columns - 1)])
    return np.sqrt(luck * directions / len(table))


def _checked(right: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(right, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise ValueError(
            f"right has the shape {table.shape}; it needs (format, fact), 2 formats or more"
        )
    if not np.isfinite(table).all():
        raise ValueError("right holds a value that is not finite")
    return table
