"""What models wrote beside what they ranked."""

from collections.abc import Mapping, Sequence

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lkecore.figures.base import DARK, PALETTE, check

WIDTH = 0.8  # of the bars of one kind together


def written_bars(
    frame: pd.DataFrame, ax: Axes, *, bars: Sequence[str], marks: Mapping[str, str]
) -> Axes:
    """Horizontal bars of some measures for each kind of prompt, and white-rimmed marks of others.

    `frame`: one row for each `kind` and `measure` with `share`, `low` and `high`, in 0 .. 1, first kind
    on top; `bars` are the measures drawn as bars with intervals, `marks` says which other measure is
    marked at which of the bars. ValueError for missing columns or values, or a row that occurs twice.
    """
    check(frame, ["kind", "measure", "share", "low", "high"], unique=["kind", "measure"])
    part = frame[frame["measure"].isin(list(bars))]
    kinds, each = part["kind"].unique().tolist(), WIDTH / len(bars)
    where = {"x": "share", "y": "kind", "order": kinds, "orient": "h", "width": WIDTH}
    look = {"hue": "measure", "hue_order": list(bars), "errorbar": None}
    look |= {"palette": sns.color_palette(PALETTE, len(bars))}
    sns.barplot(part, **where, **look, ax=ax)
    top = -WIDTH / 2 + each / 2  # of a kind's place, the middle of its first bar
    rows = part["kind"].map(kinds.index) + part["measure"].map(list(bars).index) * each + top
    ax.hlines(rows, part["low"], part["high"], color=DARK, lw=1.5)
    for bar, mark in marks.items():
        marked = frame[frame["measure"] == mark]
        start = marked["kind"].map(kinds.index) - WIDTH / 2 + list(bars).index(bar) * each
        for color, lw in (("white", 5), (DARK, 2)):
            ax.vlines(marked["share"], start, start + each, color=color, lw=lw)
    ax.set(xlim=(0, 1), xlabel="share of facts", ylabel="")
    return ax


def written_by_model(
    frame: pd.DataFrame, *, bars: Sequence[str], marks: Mapping[str, str]
) -> Figure:
    """:func:`written_bars`, a panel for each `model`, one below the other, one legend above all.

    `frame`: that of :func:`written_bars` with a column `model`.
    """
    models = frame["model"].unique()
    size = {"figsize": (8, 1 + 2.2 * len(models)), "layout": "constrained"}
    figure, axes = plt.subplots(len(models), 1, sharex=True, squeeze=False, **size)
    for ax, model in zip(axes[:, 0], models, strict=True):
        written_bars(frame[frame["model"] == model], ax, bars=bars, marks=marks)
        ax.set(title=model, xlabel="share of facts")
        named = ax.get_legend_handles_labels()
        ax.get_legend().remove()
    figure.legend(*named, loc="outside upper center", ncols=len(bars), frameon=False)
    return figure
