"""Estimates: the mean of a column by groups, or the difference of two, with its interval; and its words."""

from collections.abc import Sequence

import pandas as pd

from lkecore.errors import BadInput, nearest
from lkecore.stats.resample import PLACES, bootstrap, checked, interval


def estimate(
    frame: pd.DataFrame,
    by: Sequence[str] = (),
    *,
    value: str = "correct",
    over: str = "relation",
    bounds: tuple[float, float] | None = (0, 1),
    seed: int = 0,
) -> pd.DataFrame:
    """The mean of ``value`` for each group of ``by``, its 95 % interval, and ``n``, over how many.

    ``over`` says what might have been others:

    - "relation" or "world": each counts alike, and n is their number (Student's t, cut off at ``bounds``,
      which are None for what may be any number, such as a difference);
    - "fact" of these relations, "subject", or another column, and n is how many there are of these
      (:func:`~lkecore.stats.resample.bootstrap`);
    - "share": facts of one kind, of which ``value`` says which are right, a row a fact; n rows (Wilson).

    ``low`` and ``high`` are NaN where n is 1, but for a share. BadInput as there; a value outside
    of ``bounds``; a share of anything but 0 and 1.

    >>> frame = pd.DataFrame({"relation": list("aabb"), "correct": [1, 0, 1, 1]})
    >>> estimate(frame)
       estimate  low  high  n
    0      0.75  0.0   1.0  2
    """
    from scipy import stats  # takes half a second, which most commands need not wait
    from statsmodels.stats.proportion import proportion_confint

    keys, by = list(by), list(by) or ["all"]
    frame = frame if keys else frame.assign(all="")
    checked(frame, by if over == "share" else [*by, over], value)
    if over in ("relation", "world"):
        if bounds and not frame[value].between(*bounds).all():
            least, most = frame[value].min(), frame[value].max()
            raise BadInput(f"{value!r} lies in [{least}, {most}], outside of bounds={bounds}")
        means = frame.groupby(list(dict.fromkeys([*by, over])), sort=False)[value].mean()
        found = means.groupby(by, sort=False).agg(["mean", "sem", "size"])
        found.columns = ["estimate", "half", "n"]
        half = found["half"] * stats.t.ppf(0.975, found["n"] - 1)
        found["low"], found["high"] = found["estimate"] - half, found["estimate"] + half
        if bounds:
            found[["low", "high"]] = found[["low", "high"]].clip(*bounds)
    elif over == "share":
        if not frame[value].isin([0, 1]).all():
            raise BadInput(f"{value!r} is not 0 or 1 everywhere; a share is of rows that are right")
        found = frame.groupby(by, sort=False)[value].agg(["mean", "sum", "size"])
        found.columns = ["estimate", "right", "n"]
        ends = proportion_confint(found["right"], found["n"], method="wilson")
        found["low"], found["high"] = ends
    else:
        units = [*(place for place in PLACES if place in frame and over == "fact"), over]
        rows = {}
        for key, part in frame.groupby(by, sort=False):
            n = len(part[units].drop_duplicates())
            alone = {"estimate": part[value].mean()}
            rows[key] = alone if n == 1 else _again(part, over, value, seed)
            rows[key]["n"] = n
        found = pd.DataFrame.from_dict(
            rows, orient="index", columns=["estimate", "low", "high", "n"]
        )
        found.index = found.index.set_names(by)
    found = found[["estimate", "low", "high", "n"]].reset_index()
    return found if keys else found.drop(columns="all")


def _again(part: pd.DataFrame, over: str, value: str, seed: int) -> dict[str, float]:
    return interval(bootstrap(part, over=[over], value=value, seed=seed)).iloc[0].to_dict()


def minus(
    frame: pd.DataFrame,
    column: str,
    first: object,
    second: object,
    *,
    by: Sequence[str] = (),
    value: str = "correct",
) -> pd.DataFrame:
    """``gap``: the ``value`` of ``first`` minus that of ``second``, a row a fact that both were asked.

    Both are values of ``column``; where a fact has several rows, such as draws, their means are compared.
    Rows have the fact's ``relation`` and so on, its ``subject`` if the frame has it, and the columns ``by``,
    in each group of which the two are compared. BadInput: a missing value, neither or only one of the two in
    a group, or no fact that both were asked.

    >>> frame = pd.DataFrame({"fact": [1, 2, 1, 2], "way": list("aabb"), "correct": [1, 0, 1, 1]})
    >>> minus(frame, "way", "b", "a")["gap"].tolist()
    [0.0, 1.0]
    """
    index = [*by, *(k for k in (*PLACES, "subject") if k in frame and k not in by), "fact"]
    checked(frame, [*index, column], value)
    for name in (first, second):
        if not frame[column].eq(name).any():
            hint = nearest(str(name), map(str, frame[column].unique()))
            raise BadInput(f"no row has {name!r} in {column!r}; {hint}")
    means = frame.groupby([*index, column], sort=False)[value].mean()
    a, b = (means.xs(name, level=column) for name in (first, second))
    gap = (a - b).dropna().rename("gap").reset_index()
    if gap.empty:
        raise BadInput(f"no fact was asked with both {first!r} and {second!r} in {column!r}")
    if by:
        wanted, there = (f[list(by)].drop_duplicates() for f in (frame, gap))
        if len(there) < len(wanted):
            lost = pd.concat([there, wanted]).drop_duplicates(keep=False).iloc[0].to_dict()
            raise BadInput(f"{lost} has no fact that was asked with both {first!r} and {second!r}")
    return gap


def compare(
    frame: pd.DataFrame,
    column: str,
    first: object,
    second: object,
    *,
    by: Sequence[str] = (),
    value: str = "correct",
    over: str = "relation",
    seed: int = 0,
) -> pd.DataFrame:
    """The mean of ``first`` minus that of ``second`` on the facts that both were asked.

    As :func:`estimate` of what :func:`minus` gives; ``n`` says over how many.

    >>> frame = pd.DataFrame({"fact": [1, 2] * 4, "relation": list("rrrrssss")})
    >>> frame = frame.assign(way=list("aabb") * 2, correct=[0, 0, 1, 0, 0, 0, 1, 0])
    >>> said(compare(frame, "way", "b", "a"))
    '0.50 [0.50, 0.50]'
    """
    gap = minus(frame, column, first, second, by=by, value=value)
    return estimate(gap, by, value="gap", over=over, bounds=None, seed=seed)


def said(found: pd.Series | pd.DataFrame, digits: int = 2, *, percent: bool = False) -> str:
    """An estimate in a sentence: 0.39 [0.29, 0.48], or in percent 39 % [29, 48], with two digits less.

    ``found`` is one row with ``estimate``, ``low`` and ``high``; BadInput for more or less than one.

    >>> row = pd.Series({"estimate": 0.389, "low": -0.0001, "high": 0.48})
    >>> said(row), said(row, 3, percent=True)
    ('0.39 [0.00, 0.48]', '38.9 % [0.0, 48.0]')
    """
    if isinstance(found, pd.DataFrame):
        if len(found) != 1:
            raise BadInput(f"{len(found)} rows; a sentence has one estimate: choose a row")
        found = found.iloc[0]
    scale, digits = (100, max(0, digits - 2)) if percent else (1, digits)
    middle, low, high = (
        f"{round(found[name] * scale, digits) + 0.0:.{digits}f}"  # adding 0.0 turns -0.0 into 0.0
        for name in ("estimate", "low", "high")
    )
    middle += " %" if percent else ""
    return f"{middle} (no interval)" if "nan" in (low, high) else f"{middle} [{low}, {high}]"
