"""Means of all cells of a frame, drawn again together, and their intervals."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore.errors import BadInput, nearest

# Two rows are about the same fact only if all of these columns, as far as the frame has them, agree.
PLACES = ("fact_set", "world", "relation")
# Values of these columns are drawn as a whole and count alike. Another column in `over` is a unit that is
# drawn with its rows.
SLOTS = (*PLACES, "draw")
N_RESAMPLES = 10_000  # the ends then move by about 3 % of a standard error from seed to seed
ROUNDING = 1e-12  # two means of the same values may differ by it


def bootstrap(
    frame: pd.DataFrame,
    cells: Sequence[str] = (),
    *,
    over: Sequence[str] = ("fact",),
    value: str = "correct",
    statistic: Callable[[pd.DataFrame], float] | None = None,
    n: int = N_RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Means of ``value`` in each cell, drawn again ``n`` times: row 0 is the data, and a column is a cell.

    A cell is a combination of the columns ``cells`` ("all" without any). Its mean is one over the relations
    (and ``world``, ``fact_set``, and ``draw`` if ``over`` or ``cells`` has it), which count alike. Within one
    of these it is a mean over rows. ``over`` names the units that might have been others, the same for all
    cells:

    - "fact": facts, drawn within their relation;
    - "subject", "pair" or another column, instead of facts: drawn from the whole frame, with all their rows;
    - "draw", "relation", "world": drawn as a whole; a value that is drawn twice has its own facts each time.

    If one of these is in ``cells`` too, its columns are the first drawn value, the second and so on. Means
    and spreads over them are good; a single one has no meaning. A relation of which a resample has no row in
    a cell is left out of that mean; a cell without any is NaN there. If there is only one draw (relation,
    world), it cannot be drawn again, and all rows but the first are NaN.

    ``statistic`` replaces the mean of ``value``. It gets the rows of a cell, in which a unit that was drawn
    twice is there twice, and returns a number. The function decides how relations count. If relations, worlds
    or draws are drawn again, their column has the place, 0, 1 and so on, so that one drawn twice counts
    twice; they cannot be ``cells``. It takes about a millisecond a cell and the time of the function; with
    ``n`` 2,000 it is quick.

    BadInput: no rows, a missing column or key, a value that is missing or infinite, a relation with a single
    fact; a statistic that gives no number (it may give NaN).

    >>> frame = pd.DataFrame({"fact": [1, 2, 1, 2], "way": list("aabb"), "correct": [1, 0, 1, 1]})
    >>> drawn = bootstrap(frame, ["way"])
    >>> print(drawn.loc[0, "b"] - drawn.loc[0, "a"])
    0.5
    >>> drawn = bootstrap(frame, ["way"], statistic=lambda rows: rows["correct"].median(), n=100)
    >>> print(drawn.loc[0, "a"], drawn["a"].max())
    0.5 1.0
    """
    cells, over = list(cells), [over] if isinstance(over, str) else list(over)
    units = [name for name in over if name not in SLOTS]
    if len(units) > 1 or not over:
        raise BadInput(f"over is {over}; it needs something, and one unit besides {SLOTS} at most")
    places = [name for name in PLACES if name in frame]
    checked(frame, [*cells, *over, *places], *([] if statistic else [value]))
    if not places:
        frame, places = frame.assign(relation=""), ["relation"]
    if statistic:
        if both := [name for name in cells if name in over]:
            raise BadInput(f"{both[0]!r} is drawn again, and cannot be in cells with a statistic")
        return _of_rows(_rows_again(frame, over, units, places, n, seed), cells, statistic)
    slots = [*places, *(["draw"] if "draw" in [*over, *cells] else [])]
    keys = list(dict.fromkeys([*cells, *slots]))
    rng = np.random.default_rng(seed)
    column = frame.groupby(keys, sort=False).ngroup().to_numpy()
    columns = frame[keys].drop_duplicates().reset_index(drop=True)
    drawn = np.empty((n + 1, len(columns)))
    whole = {"": np.arange(len(frame))}
    strata = frame.groupby(places, sort=False).indices if units == ["fact"] else whole
    for place, rows in strata.items():
        some, where = np.unique(column[rows], return_inverse=True)
        whose = pd.factorize(frame[units[0]].iloc[rows])[0] if units else np.zeros_like(rows)
        size = whose.max() + 1
        if units:
            _several(place, units[0], size)
        values = frame[value].to_numpy(float)[rows]
        sums, counts = (
            np.bincount(whose * len(some) + where, weights, size * len(some)).reshape(size, -1)
            for weights in (values, None)
        )
        times = times_drawn(rng, n, size) if units else np.ones((1, 1))
        with np.errstate(invalid="ignore"):  # no row of a cell in a resample: NaN
            drawn[:, some] = (times @ sums) / (times @ counts)
    for slot in (name for name in slots if name in over):
        drawn, columns = _drawn_again(rng, drawn, columns, slot)
    return _over_slots(drawn, columns, cells)


def _several(place: object, unit: str, size: int) -> None:
    if size < 2:
        of = " ".join(map(str, np.atleast_1d(place)))
        raise BadInput(f"{of or 'the frame'} has one {unit}; to draw again takes 2 or more")


def _of_rows(
    again: Iterator[pd.DataFrame], cells: list[str], statistic: Callable[[pd.DataFrame], float]
) -> pd.DataFrame:
    """A statistic of the rows of each cell in each resample; NaN if a resample has no row of the cell."""
    found = []
    for some in again:
        parts = some.groupby(cells, sort=False) if cells else [("all", some)]
        try:
            found.append({key: float(statistic(part)) for key, part in parts if len(part)})
        except TypeError as error:
            raise BadInput(f"the statistic gives no number: {error}") from None
    names = list(found[0])
    drawn = pd.DataFrame([[row.get(name, np.nan) for name in names] for row in found])
    several = len(cells) > 1
    names = names if several or not cells else [key for (key,) in names]
    index = pd.MultiIndex.from_tuples(names, names=cells) if several else pd.Index(names)
    return drawn.set_axis(index if several else index.rename(cells[0] if cells else None), axis=1)


def _rows_again(
    frame: pd.DataFrame, over: list[str], units: list[str], places: list[str], n: int, seed: int
) -> Iterator[pd.DataFrame]:
    """Yield the frame, then ``n`` resamples of its rows; columns that are drawn as a whole have the place."""
    yield frame
    rng, none = np.random.default_rng(seed), np.zeros(len(frame), int)
    codes = {slot: pd.factorize(frame[slot])[0] for slot in (*places, "draw") if slot in over}
    of_fact = units == ["fact"]  # a fact belongs to its place, another unit to the whole frame
    place = frame.groupby(places, sort=False).ngroup().to_numpy() if of_fact else none
    whose = none.copy()
    for name, rows in (
        frame.groupby(places, sort=False).indices.items() if of_fact else [("", none.argsort())]
    ):
        if units:
            whose[rows] = pd.factorize(frame[units[0]].iloc[rows])[0]
            _several(name, units[0], whose[rows].max() + 1)
    sizes = np.zeros(place.max() + 1, int)
    np.maximum.at(sizes, place, whose + 1)
    for _ in range(n):
        rows, copy, at = np.arange(len(frame)), none, {}
        for slot, code in codes.items():
            size = code.max() + 1
            which = [np.flatnonzero(code[rows] == k) for k in rng.integers(size, size=size)]
            these, label = np.concatenate(which), np.repeat(np.arange(size), [*map(len, which)])
            rows, copy = rows[these], copy[these] * size + (label if slot in PLACES else 0)
            at = {name: of[these] for name, of in at.items()} | {slot: label}
        if any(code.max() < 1 for code in codes.values()):
            rows = rows[:0]  # there is one only, which cannot be drawn again
        elif units:
            _, first, of = np.unique(
                copy * len(sizes) + place[rows], return_index=True, return_inverse=True
            )
            many = sizes[place[rows][first]]
            times = [np.bincount(rng.integers(k, size=k), minlength=k) for k in many]
            begins = np.cumsum([0, *many[:-1]])
            often = np.concatenate(times)[begins[of] + whose[rows]]
            rows, at = np.repeat(rows, often), {k: np.repeat(v, often) for k, v in at.items()}
        yield frame.take(rows).assign(**{k: v[: len(rows)] for k, v in at.items()})


def _drawn_again(
    rng: np.random.Generator, drawn: NDArray[np.float64], columns: pd.DataFrame, slot: str
) -> tuple[NDArray[np.float64], pd.DataFrame]:
    """Draw the values of a slot again, the same ones in all other cells; then all cells have all values."""
    n, (at, names) = len(drawn) - 1, pd.factorize(columns[slot])
    rest = [name for name in columns if name != slot]
    of = columns.groupby(rest, sort=False).ngroup().to_numpy() if rest else np.zeros(len(at), int)
    source = np.full((of.max() + 1, len(names)), len(at))  # the last column: there is none
    source[of, at] = np.arange(len(at))
    drawn = np.column_stack([drawn, np.full(n + 1, np.nan)])
    again = np.full((n + 1, *source.shape), np.nan)
    again[0] = drawn[0, source]
    if len(names) > 1:
        which = rng.integers(len(names), size=(n, len(names)))
        row = 1 + np.arange(n)[:, None]
        if slot in PLACES:  # a relation that is drawn twice must not have the same facts twice
            row = 1 + (row + rng.permutation(n)[np.arange(len(names)) % n]) % n
        for i, of_cell in enumerate(source):
            again[1:, i] = drawn[row, of_cell[which]]
    first = columns.loc[np.unique(of, return_index=True)[1], rest]
    product = first.loc[first.index.repeat(len(names))].reset_index(drop=True)
    product[slot] = np.tile(np.asarray(names, object), len(source))
    return again.reshape(n + 1, -1), product[list(columns)]


def _over_slots(
    drawn: NDArray[np.float64], columns: pd.DataFrame, cells: list[str]
) -> pd.DataFrame:
    """The means over all columns of a cell, which count alike."""
    if not cells:
        cells, columns = [None], pd.DataFrame({None: ["all"] * drawn.shape[1]})
    of = columns.groupby(cells, sort=False).ngroup().to_numpy()
    known = ~np.isnan(drawn)
    member = np.equal.outer(of, np.arange(of.max() + 1)).astype(float)
    with np.errstate(invalid="ignore"):
        means = (np.where(known, drawn, 0) @ member) / (known @ member)
    names = columns[cells].drop_duplicates()
    index = pd.MultiIndex.from_frame(names) if len(cells) > 1 else pd.Index(names[cells[0]])
    return pd.DataFrame(means, columns=index)


def interval(drawn: pd.DataFrame | pd.Series, level: float = 0.95) -> pd.DataFrame:
    """Estimates and intervals from resamples, a row for each column of ``drawn``.

    - the names of the columns, if they have some;
    - ``estimate``: row 0;
    - ``low`` and ``high``: percentiles of the other rows.

    A resample that is NaN says nothing: it counts as lowest for the low end and as highest for the high one.
    If an end is such a resample, the end is NaN: not known. Both ends are NaN if all resamples equal the
    data: a few answers that agree do not make other answers certain
    (:func:`~lkecore.stats.estimate.estimate` has exact ends for their mean).

    >>> print(interval(pd.Series([2.0, 1.0, 2.0, 3.0]), level=0.5).to_string(index=False))
     estimate  low  high
          2.0  1.5   2.5
    """
    if not 0 < level < 1:
        raise BadInput(f"level is {level}; it must lie between 0 and 1, such as 0.95")
    drawn = drawn.to_frame() if isinstance(drawn, pd.Series) else drawn
    values = drawn.to_numpy(float)
    if len(values) < 2:
        raise BadInput("there are no resamples: row 0 is the data, and the others are draws")
    lost = np.isnan(values[1:])
    with np.errstate(invalid="ignore"):
        low, high = (
            np.quantile(np.where(lost, worst, values[1:]), end, axis=0)
            for worst, end in ((-np.inf, (1 - level) / 2), (np.inf, (1 + level) / 2))
        )
    with np.errstate(invalid="ignore"):
        agree = (np.abs(values - values[0]) <= ROUNDING * np.maximum(1, np.abs(values[0]))).all(0)
    known = np.isfinite([low, high]) & ~np.isnan(values[0]) & ~agree
    low, high = np.where(known, [low, high], np.nan)
    found = pd.DataFrame({"estimate": values[0], "low": low, "high": high}, index=drawn.columns)
    return found.reset_index() if drawn.columns.names[0] else found.reset_index(drop=True)


def times_drawn(rng: np.random.Generator, n: int, size: int) -> NDArray[np.float64]:
    """How often each of ``size`` units is in each resample, (1 + n, size); row 0, the data, has each once."""
    places = rng.integers(size, size=(n, size)) + size * np.arange(n)[:, None]
    times = np.ones((n + 1, size))
    times[1:] = np.bincount(places.ravel(), minlength=n * size).reshape(n, size)
    return times


def checked(frame: pd.DataFrame, keys: Sequence[str], *values: str, finite: bool = True) -> None:
    """BadInput unless a frame has rows, keys in all of them, and numbers in the columns ``values``."""
    for name in [*keys, *values]:
        if name not in frame:
            hint = nearest(str(name), map(str, frame.columns))
            raise BadInput(f"the frame has no column {name!r}; {hint}")
    if frame.empty:
        raise BadInput("the frame has no rows: there is nothing to estimate")
    for name in keys:
        if n := frame[name].isna().sum():
            raise BadInput(f"{n} of {len(frame)} rows have no {name!r}; each needs one")
    for name in values:
        try:
            numbers = frame[name].to_numpy(float)
        except (TypeError, ValueError):
            raise BadInput(f"column {name!r} is {frame[name].dtype}; numbers are needed") from None
        if n := (~np.isfinite(numbers) if finite else np.isnan(numbers)).sum():
            kind = "missing or infinite" if finite else "missing"
            rule = "leave such rows out, and say how many"
            raise BadInput(f"{n} of {len(frame)} values of {name!r} are {kind}; {rule}")
