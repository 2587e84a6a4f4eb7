"""Models beside each other."""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from lkecore.figures.base import DARK, PALETTE, check


def accuracy_scatter(frame: pd.DataFrame, ax: Axes, *, x: str, y: str, names: int = 4) -> Axes:
    """Accuracy of model `y` over that of model `x`, a point with two intervals for each relation.

    `frame`: one row per relation and model with `relation`, `model`, `accuracy`, `low`, `high`,
    shares in 0 .. 1; other models are left out. The dotted diagonal is equal accuracy. The `names`
    relations in which the difference of the two lies farthest from its mean are named. ValueError for
    missing columns or values, a row that occurs twice, or a relation that one of the two lacks.
    """
    part = frame[frame["model"].isin([x, y])] if "model" in frame else frame
    check(part, ["relation", "model", "accuracy", "low", "high"], unique=["relation", "model"])
    table = part.pivot(index="relation", columns="model", values=["accuracy", "low", "high"])
    if table.isna().any(axis=None) or len(part["model"].unique()) < 2:
        raise ValueError(f"each relation needs a row of {x!r} and one of {y!r}")
    at, up = table["accuracy"][x], table["accuracy"][y]
    thin = {"color": "0.6", "lw": 1, "zorder": 1}
    ax.hlines(up, table["low"][x], table["high"][x], **thin)
    ax.vlines(at, table["low"][y], table["high"][y], **thin)
    ax.plot([0, 1], [0, 1], ":", color=DARK, lw=1, zorder=2)
    ax.plot(at, up, "o", color=sns.color_palette(PALETTE)[0], mec=DARK, mew=0.5, ms=6)
    difference = up - at
    far = (difference - difference.mean()).abs().sort_values(ascending=False, kind="stable")
    for name in far.index[:names]:
        where = {"xytext": (4, 4), "textcoords": "offset points", "fontsize": 8}
        ax.annotate(name, (at[name], up[name]), **where)
    end = min(1.02, float(table[["low", "high"]].max(axis=None)) + 0.03)
    ax.set(xlim=(-0.02, end), ylim=(-0.02, end), aspect="equal")
    ax.set_xlabel(f"accuracy of {x}", fontsize=9)
    ax.set_ylabel(f"accuracy of {y}", fontsize=9)
    return ax
