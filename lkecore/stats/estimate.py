"""The mean of a column by groups, or the difference of two, with its interval, also as text."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lkecore.errors import BadInput, nearest
from lkecore.stats.resample import PLACES, ROUNDING, bootstrap, checked, interval

FEWEST = 5  # relations: Student's t of fewer is so wide that it says nothing: [0, 1] for most shares of two
COLUMNS = ["estimate", "low", "high", "n"]
IN_WORDS = "estimate, in words"  # a temporary column, while a table is made


def estimate(
    frame: pd.DataFrame,
    by: Sequence[str] = (),
    *,
    value: str = "correct",
    over: str = "relation",
    bounds: tuple[float, float] | None = (0, 1),
    seed: int = 0,
) -> pd.DataFrame:
    """The mean of ``value`` and its 95 % interval, a row for each group of ``by``.

    - ``by``: the columns of the group, if there are any;
    - ``estimate``: the mean; ``low`` and ``high``: the ends of the interval;
    - ``n``: the number of units;
    - ``over``: the unit of the interval, only if some group has fewer than five relations.

    ``over`` names the units that might have been others:

    - "relation" or "world": each counts alike, and n is their number (Student's t, cut off at ``bounds``,
      which are None for a value that may be any number). A group of fewer than five relations gets the
      interval over its facts, and n is their number. The column ``over`` then says for each group which it
      is. Worlds are few on purpose, and stay the unit;
    - "fact" of these relations, "subject", or another column: n is the number of different ones
      (:func:`~lkecore.stats.resample.bootstrap`);
    - "share": facts of one kind, a row for each; ``value`` says which are right, and n is the number of rows
      (Wilson).

    If all n have one value c, neither t nor bootstrap has a width, and 0 is no width for a few that agree.
    The ends are then those of Clopper and Pearson for a share of 0 or 1, here for any c in bounds (a, b),

        [c - u (c - a), c + u (b - c)],   u = 1 - 0.025**(1 / n):

    if more than a share u had another value, one of them would be among the n in 97.5 % of all cases. With
    facts, n is that of the smallest relation, times the number of relations if these agree, too.

    ``low`` and ``high`` are NaN in three cases: if n is 1, but for a share; if all agree and ``bounds`` are
    None; and for fewer than five relations of a frame without the column "fact", or if one has a single fact.
    BadInput as in ``bootstrap``; a value outside ``bounds``; a share of anything but 0 and 1.

    >>> frame = pd.DataFrame({"relation": list("aabb"), "fact": range(4), "correct": [1, 0, 1, 1]})
    >>> estimate(frame)
       estimate  low  high  n  over
    0      0.75  0.5   1.0  4  fact
    """
    from scipy import stats  # takes half a second, which most commands need not wait
    from statsmodels.stats.proportion import proportion_confint

    keys, by = list(by), list(by) or ["all"]
    frame = frame if keys else frame.assign(all="")
    checked(frame, by if over == "share" else [*by, over], value)
    groups = frame.groupby(by, sort=False)
    if over in ("relation", "world"):
        if bounds and not frame[value].between(bounds[0] - ROUNDING, bounds[1] + ROUNDING).all():
            least, most = frame[value].min(), frame[value].max()
            raise BadInput(f"{value!r} lies in [{least}, {most}], outside of bounds={bounds}")
        means = frame.groupby(list(dict.fromkeys([*by, over])), sort=False)[value].mean()
        found = means.groupby(by, sort=False).agg(["mean", "sem", "size"])
        found.columns = ["estimate", "half", "n"]
        half = found["half"] * stats.t.ppf(0.975, found["n"] - 1)
        found["low"], found["high"] = found["estimate"] - half, found["estimate"] + half
        for key in found.index[half <= ROUNDING]:
            ends = _where_all_agree(*found.loc[key, ["estimate", "n"]], bounds)
            found.loc[key, ["low", "high"]] = ends
        if bounds:
            found[["low", "high"]] = found[["low", "high"]].clip(*bounds)
        few = (found["n"] < FEWEST) & (over == "relation")
        if "fact" not in frame:
            found.loc[few, ["low", "high"]], few = np.nan, few & False
        for key, part in groups if few.any() else []:
            at = key if len(by) > 1 else key[0]
            if few[at]:
                found.loc[at, ["low", "high", "n"]] = _over_facts(part, value, bounds, seed)
        if few.any():
            found["over"] = np.where(few, "fact", over)
    elif over == "share":
        if not frame[value].isin([0, 1]).all():
            raise BadInput(f"{value!r} is not 0 or 1 everywhere; a share is of rows that are right")
        found = groups[value].agg(["mean", "sum", "size"])
        found.columns = ["estimate", "right", "n"]
        ends = proportion_confint(found["right"], found["n"], method="wilson")
        found["low"], found["high"] = ends
    else:
        rows = {key: _again(part, over, value, bounds, seed) for key, part in groups}
        found = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
        found.index = found.index.set_names(by)
    found = found[[*COLUMNS, *(["over"] if "over" in found else [])]].reset_index()
    return found if keys else found.drop(columns="all")


def _over_facts(
    part: pd.DataFrame, value: str, bounds: tuple[float, float] | None, seed: int
) -> list[float]:
    """``low``, ``high`` and ``n`` over the facts of these relations, which count alike."""
    # Two worlds or sets may have facts of the same name, and one relation contains both here.
    facts = part.groupby([*(p for p in PLACES if p in part), "fact"], sort=False).ngroup()
    part = part[["relation", value]].assign(fact=facts)
    of = part.groupby("relation")["fact"].nunique()
    if of.min() < 2:
        return [np.nan, np.nan, of.sum()]
    found = _again(part, "fact", value, bounds, seed)
    return [found["low"], found["high"], found["n"]]


def _again(
    part: pd.DataFrame, over: str, value: str, bounds: tuple[float, float] | None, seed: int
) -> dict[str, float]:
    places = [place for place in PLACES if place in part and over == "fact"]
    means = part.groupby([*places, over], sort=False)[value].mean()
    if len(means) == 1:
        return {"estimate": part[value].mean(), "n": 1}
    found = interval(bootstrap(part, over=[over], value=value, seed=seed)).iloc[0].to_dict()
    if np.isnan(found["low"]):  # within each relation all agree
        sizes = means.groupby(places).size() if places else pd.Series([len(means)])
        n = sizes.min() * (len(sizes) if np.ptp(means) <= ROUNDING else 1)
        found["low"], found["high"] = _where_all_agree(found["estimate"], n, bounds)
    return found | {"n": len(means)}


def _where_all_agree(
    value: float, n: int, bounds: tuple[float, float] | None
) -> tuple[float, float]:
    if not bounds or not bounds[0] <= value <= bounds[1]:
        return np.nan, np.nan
    others = 1 - 0.025 ** (1 / n)
    return value - others * (value - bounds[0]), value + others * (bounds[1] - value)


def minus(
    frame: pd.DataFrame,
    column: str,
    first: object,
    second: object,
    *,
    by: Sequence[str] = (),
    value: str = "correct",
) -> pd.DataFrame:
    """``gap``: the ``value`` of ``first`` minus that of ``second``, a row for each fact that both were asked.

    Both are values of ``column``. If a fact has several rows, such as draws, their means are compared. Rows
    also have the fact's ``relation`` and so on, its ``subject`` if the frame has it, and the columns ``by``,
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

    It is :func:`estimate` of the frame of :func:`minus`; ``n`` is the number of units. Of values in [0, 1] a
    difference has the bounds (-1, 1). Take 40 facts of one relation, each as right the one way as the other.
    They have 0 [-0.09, 0.09]: if more than 9 % of all facts differed, one would be expected among the 40.

    >>> frame = pd.DataFrame({"fact": [1, 2] * 4, "relation": list("rrrrssss")})
    >>> frame = frame.assign(way=list("aabb") * 2, correct=[0, 0, 1, 0, 0, 0, 1, 0])
    >>> format_estimate(compare(frame, "way", "b", "a"))
    '0.50 [0.00, 1.00] over facts'
    """
    gap = minus(frame, column, first, second, by=by, value=value)
    bounds = (-1, 1) if frame[value].between(0, 1).all() else None
    return estimate(gap, by, value="gap", over=over, bounds=bounds, seed=seed)


def format_estimate(
    found: pd.Series | pd.DataFrame, digits: int = 2, *, percent: bool = False
) -> str:
    """An estimate in a sentence: 0.39 [0.29, 0.48], or in percent 39 % [29, 48], with two digits less.

    ``found`` is one row with ``estimate``, ``low`` and ``high``; BadInput for more or less than one. If
    :func:`estimate` took facts instead of fewer than five relations: 0.39 [0.29, 0.48] over facts.

    >>> row = pd.Series({"estimate": 0.389, "low": -0.0001, "high": 0.48})
    >>> format_estimate(row), format_estimate(row, 3, percent=True)
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
    if "nan" in (low, high):
        return f"{middle} (no interval)"
    return f"{middle} [{low}, {high}]" + (" over facts" if found.get("over") == "fact" else "")


def table(
    found: pd.DataFrame,
    index: str | Sequence[str],
    columns: str | Sequence[str],
    digits: int = 2,
    *,
    percent: bool = False,
) -> pd.DataFrame:
    """Estimates as a table of texts (:func:`format_estimate`).

    It has a row for each value of ``index`` and a column for each value of ``columns``.

    >>> row = {"model": "a", "format": "colon", "estimate": 0.389, "low": 0.3, "high": 0.48}
    >>> table(pd.DataFrame([row]), "model", "format").loc["a", "colon"]
    '0.39 [0.30, 0.48]'
    """
    texts = [format_estimate(row, digits, percent=percent) for _, row in found.iterrows()]
    shown = found.assign(**{IN_WORDS: texts})  # the index may well be called "said"
    names = [each if isinstance(each, str) else list(each) for each in (index, columns)]
    return shown.pivot(index=names[0], columns=names[1], values=IN_WORDS)
