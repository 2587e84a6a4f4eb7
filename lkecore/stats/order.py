"""How often one of a pair is above the other, and how alike two columns are; as resamples."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore.errors import BadInput
from lkecore.stats.resample import N_RESAMPLES, PLACES, checked, times_drawn


def auroc(
    told: pd.Series | pd.DataFrame,
    control: pd.Series | pd.DataFrame,
    *,
    of: pd.Series | None = None,
    n: int = N_RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """How often a told fact is above a control, ties half, in [0, 1]: row 0 is the data, others resamples.

        AUROC = (1 / n**2) * sum over i and j of [told_i > control_j] + [told_i = control_j] / 2

    Row i of ``told`` and row i of ``control`` are a pair, which is drawn as a whole. ``of`` gives each
    pair's owner, such as its subject; then all pairs of an owner are drawn together. A column of both frames
    is an estimator, or anything else that the pairs were asked by. All columns have the same resamples, so
    that differences are columns minus columns. A series is one column, "auroc". Infinite values have their
    place in an order.

    BadInput: a missing value, columns or lengths that differ, fewer than 2 to draw.

    >>> drawn = auroc(pd.Series([0.9, 0.5]), pd.Series([0.5, 0.1]))
    >>> print(drawn.loc[0, "auroc"])  # (1 + 1 + 0.5 + 1) / 4
    0.875
    """
    told, control = (
        each.to_frame("auroc") if isinstance(each, pd.Series) else each for each in (told, control)
    )
    if len(told) != len(control) or list(told) != list(control):
        shapes = f"{told.shape} and {control.shape}"
        raise BadInput(f"told and control, {shapes}, need the same columns and as many rows")
    for each in (told, control):
        checked(each, [], *each, finite=False)
    if of is not None and (len(of) != len(told) or of.isna().any()):
        raise BadInput(f"{len(told)} pairs of {of.notna().sum()}; each pair needs one")
    whose = np.arange(len(told)) if of is None else pd.factorize(of)[0]
    found = {
        name: [
            np.einsum("ij,ij->i", times, below(times, told[name], control[name]))
            / times.sum(axis=1) ** 2
            for times in _blocks(whose, n, seed)
        ]
        for name in told
    }
    return pd.DataFrame({name: np.concatenate(parts) for name, parts in found.items()})


def relate(
    frame: pd.DataFrame,
    x: str,
    y: str | Sequence[str],
    *,
    over: str = "fact",
    ranks: bool = False,
    n: int = N_RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """The correlation of ``x`` with ``y`` over all rows, in [-1, 1]: row 0 is the data, others resamples.

    The frame has a column for each of ``y``, all with the same resamples. The correlation is Pearson's, or
    with ``ranks`` Spearman's, with ranks within each resample. ``over`` is the unit that is drawn, with all
    its rows, from the whole frame: "fact", or "relation". For a correlation of relations' means, take the
    means first, a row for each relation. NaN if all rows have one value.

    BadInput: a missing value, without ``ranks`` an infinite one, fewer than 2 to draw.

    >>> frame = pd.DataFrame({"fact": range(4), "a": [1, 2, 3, 4], "b": [1, 3, 2, 9]})
    >>> print(round(relate(frame, "a", "b", ranks=True).loc[0, "b"], 9))
    0.8
    """
    ys = [y] if isinstance(y, str) else list(y)
    units = [*(p for p in PLACES if p in frame and over == "fact"), over]
    checked(frame, units, x, *ys, finite=not ranks)
    whose = frame.groupby(units, sort=False).ngroup().to_numpy()
    columns = frame[[x, *ys]].astype(float)
    parts = []
    for times in _blocks(whose, n, seed):
        a, *others = (
            below(times, column, column) if ranks else column.to_numpy()[None] - column.mean()
            for _, column in columns.items()
        )
        parts.append(np.column_stack([_correlation(times, a, b) for b in others]))
    return pd.DataFrame(np.concatenate(parts), columns=ys)


def below(times: NDArray[np.float64], of: pd.Series, among: pd.Series) -> NDArray[np.float64]:
    """How many of ``among`` are below each of ``of`` in each resample, (resample, row), equal ones half."""
    order = np.argsort(among.to_numpy(float), kind="stable")
    counts = np.cumsum(np.pad(times[:, order], [(0, 0), (1, 0)]), axis=1)
    left, right = (
        np.searchsorted(among.to_numpy(float)[order], of.to_numpy(float), side)
        for side in ("left", "right")
    )
    return (counts[:, left] + counts[:, right]) / 2


def _correlation(
    times: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(resample,): Pearson's correlation of (resample or 1, row) values, each counted ``times``."""
    total = times.sum(axis=1)
    mean_a, mean_b, ab, aa, bb = (
        (times * each).sum(axis=1) / total for each in (a, b, a * b, a * a, b * b)
    )
    squares = aa - mean_a**2, bb - mean_b**2
    # If all rows of a resample have one value, the squares are rounding errors.
    flat = (squares[0] <= 1e-12 * aa) | (squares[1] <= 1e-12 * bb)
    scale = np.sqrt(np.where(flat, 1, squares[0] * squares[1]))
    return np.where(flat, np.nan, (ab - mean_a * mean_b) / scale)


def _blocks(whose: NDArray[np.int64], n: int, seed: int):
    """Yield how often each row is in each resample, some resamples at a time; the first is the data."""
    size = whose.max() + 1
    if size < 2:
        raise BadInput("there is one unit; it takes 2 or more to draw them again")
    times = times_drawn(np.random.default_rng(seed), n, size)
    step = max(1, 2**20 // len(whose))
    for start in range(0, n + 1, step):
        yield times[start : start + step][:, whose]
