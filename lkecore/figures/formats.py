"""Marks with intervals, in panels on one scale."""

from textwrap import fill

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lkecore.figures.base import DARK, MARKERS, PALETTE, check, nothing

WIDTH = 10  # letters of a line below a mark


def interval_marks(
    frame: pd.DataFrame, ax: Axes, *, x: str, hue: str, y: str, hue_order: list[str]
) -> Axes:
    """Marks with intervals above the values of `x`, a colour and a marker for each `hue`, side by side.

    `frame`: one row per `x` and `hue`, with `y`, `low`, `high`, in one unit; where it has a column
    `ringed` (bool), such marks have a ring. `x` keeps its order in the frame. `hue_order` names all
    hues, also those that this frame lacks: so several axes have the same colours. ValueError for
    missing columns or values, a pair that occurs twice, or a hue that is not in `hue_order`.
    """
    check(frame, [x, hue, y, "low", "high"], unique=[x, hue])
    if strange := sorted(set(frame[hue]) - set(hue_order)):
        raise ValueError(f"{hue} {strange} is not in hue_order {hue_order}")
    columns = frame[x].unique().tolist()
    present = [name for name in hue_order if name in set(frame[hue])]
    for place, name in enumerate(present):
        part, n = frame[frame[hue] == name], hue_order.index(name)
        at = part[x].map(columns.index) + 0.7 / len(present) * (place - (len(present) - 1) / 2)
        colour = sns.color_palette(PALETTE, 9)[n % 9]
        ax.vlines(at, part["low"], part["high"], color=colour, lw=1.2)
        ax.plot(at, part[y], MARKERS[n % len(MARKERS)], color=colour, ms=6, label=name)
        if "ringed" in part:
            ring = {"ms": 14, "mfc": "none", "mec": DARK, "mew": 1.5, "zorder": 4}
            ax.plot(at[part["ringed"]], part.loc[part["ringed"], y], "o", **ring)
    ax.set_xticks(range(len(columns)), columns)
    ax.set(xlim=(-0.5, len(columns) - 0.5))
    ax.grid(False, axis="x")
    return ax


def interval_panels(
    frame: pd.DataFrame,
    *,
    panel: str,
    x: str,
    hue: str,
    y: str,
    label: str,
    line: float | None = None,
    width: float = 4.0,
) -> Figure:
    """A panel of :func:`interval_marks` for each value of `panel`, side by side on one scale.

    `label`: of the vertical axis. `line`: a dashed line across all panels. `width`: inches of a panel.
    Colours are the same in all. Values of `x` of several words stand in several lines, so that neighbours do
    not run into each other. Without rows there is a figure that says so. ValueError as there.
    """
    if frame.empty:
        nothing(fig := plt.figure())
        return fig
    check(frame, [panel, x, hue, y, "low", "high"], unique=[panel, x, hue])
    names, order = frame[panel].unique(), frame[hue].unique().tolist()
    size = {"figsize": (2 + width * len(names), 4.2), "layout": "constrained"}
    fig, axes = plt.subplots(1, len(names), sharey=True, squeeze=False, **size)
    marks = {}
    for ax, name in zip(axes[0], names, strict=True):
        interval_marks(frame[frame[panel] == name], ax, x=x, hue=hue, y=y, hue_order=order)
        ax.set_xticks(ax.get_xticks(), [fill(t.get_text(), WIDTH) for t in ax.get_xticklabels()])
        if line is not None:
            ax.axhline(line, color=DARK, ls="dashed", lw=1)
        ax.set_title(name, fontsize="medium")
        marks |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    axes[0, 0].set_ylabel(label)
    look = {"loc": "outside upper center", "ncols": min(4, len(marks)), "frameon": False}
    fig.legend(marks.values(), marks, **look)  # a wider one would make the figure small
    return fig
