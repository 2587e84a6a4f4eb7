"""Align: rows of two frames that are about the same, side by side. All that compares answers begins here."""

from collections.abc import Sequence
from typing import Literal

import pandas as pd


def aligned(
    first: pd.DataFrame,
    second: pd.DataFrame,
    key: Sequence[str],
    *,
    how: Literal["outer", "left"] = "outer",
    numbered: bool = True,
) -> pd.DataFrame:
    """The rows of two frames that have the same values in the columns ``key``, and those without a partner.

    Columns: ``key``, as text (:func:`as_text`); those of ``first``; those of ``second`` that ``first`` has
    too as ``name|``; ``side``, "both", "left_only" or "right_only"; and ``nth``. Of rows that the key does
    not distinguish the first meets the first, the second the second, and ``nth`` counts them, from 0; unless
    ``numbered``, each row of ``first`` meets the first one of ``second``. With an empty key rows meet in
    their order. ``how`` is "outer", in the order of the keys, or "left": no rows of ``second`` alone, in the
    order of ``first``.

    >>> one, other = (pd.DataFrame({"fact": f, "correct": 1}) for f in ([1.0, 2.0], ["2", "3"]))
    >>> aligned(one, other, ["fact"])[["fact", "side"]].to_numpy().tolist()
    [['1', 'left_only'], ['2', 'both'], ['3', 'right_only']]
    """
    key, sides = list(key), []
    for frame in (first, second):
        frame = frame.assign(**{name: as_text(frame[name]) for name in key})
        nth = frame.groupby(key).cumcount() if key else range(len(frame))
        sides.append(frame.assign(nth=nth))
    if not numbered:
        sides = sides[0].assign(nth=0), sides[1][sides[1]["nth"] == 0]
    return sides[0].merge(sides[1], how, [*key, "nth"], suffixes=("", "|"), indicator="side")


def as_text(column: pd.Series) -> pd.Series:
    """A column of a key as text, in which 3, 3.0 and "3" are one, and a gap is empty."""
    texts = ["" if pd.isna(value) else str(value).removesuffix(".0") for value in column]
    return pd.Series(texts, column.index, dtype=object)
