"""Align: rows of two frames about the same question, side by side. Every comparison of answers uses it."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd


def aligned(
    first: pd.DataFrame,
    second: pd.DataFrame,
    key: Sequence[str],
    *,
    how: Literal["outer", "left"] = "outer",
    numbered: bool = True,
) -> pd.DataFrame:
    """The rows of two frames with the same values in the columns ``key``, and the rows without a partner.

    Columns:

    - ``key``: as text (:func:`as_text`);
    - the columns of ``first``;
    - ``name|``: each column ``name`` of ``second`` that ``first`` has too;
    - ``side``: "both", "left_only" or "right_only";
    - ``nth``: the number of the row among those with the same key, from 0; always 0 unless ``numbered``.

    The first row with a key in ``first`` meets the first one in ``second``, the second the second, and so on.
    Unless ``numbered``, each row of ``first`` meets the first row of ``second`` with its key. With an empty
    key rows meet in their order. With ``how`` "outer" the result is in the order of the keys. With "left" it
    leaves out rows that only ``second`` has, and keeps the order of ``first``.

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
    """A column of a key as text, in which 3, 3.0 and "3" are equal and a missing value is ""."""
    codes, values = pd.factorize(column, use_na_sentinel=False)  # most values are there many times
    texts = ["" if pd.isna(value) else str(value).removesuffix(".0") for value in values]
    return pd.Series(np.array(texts, dtype=object)[codes], column.index, dtype=object)
