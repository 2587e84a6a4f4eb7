"""Confidence: what a threshold costs, whether a confidence is honest, and what it depends on."""

from collections.abc import Callable, Sequence

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lkecore.figures.base import DARK, MARKERS, PALETTE, check


def kept_lines(frame: pd.DataFrame, ax: Axes, *, hue: str = "estimator") -> Axes:
    """The share of all answers above a threshold of confidence, over the threshold, a line a hue.

    `frame`: one row per threshold and hue, in rising order, with `threshold`, `hue` and `kept`.
    Colours and marks are those of :func:`lkecore.figures.relations.threshold_curve`. ValueError for missing
    columns or values, or a pair that occurs twice.
    """
    check(frame, ["threshold", hue, "kept"], unique=["threshold", hue])
    _lines(frame, ax, x="threshold", y="kept", hue=hue, bars=False, lw=2)
    ax.set(xlim=(-0.03, 1.03), ylim=(0, 1.02), xlabel="threshold K of the confidence")
    ax.set_ylabel("share of all answers that is above K")
    return ax


def reliability(frame: pd.DataFrame, ax: Axes, *, hue: str = "estimator") -> Axes:
    """The share of right answers over the mean confidence, in groups of answers, a line a hue.

    `frame`: one row per group and hue, in rising order, with `group`, `hue`, `confidence` and
    `accuracy` with `low` and `high`. The dashed diagonal is as often right as sure. ValueError as above.
    """
    check(
        frame,
        ["group", hue, "confidence", "accuracy", "low", "high"],
        unique=["group", hue],
    )
    _lines(frame, ax, x="confidence", y="accuracy", hue=hue)
    ax.axline((0, 0), slope=1, color=DARK, ls="--", lw=1)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="mean confidence", ylabel="share of right answers")
    return ax


def over_options(frame: pd.DataFrame, ax: Axes, *, hue: str = "value") -> Axes:
    """Means over the number of options, on a logarithmic axis, a line a hue, with intervals.

    `frame`: one row per number of options and hue, in rising order, with `n_options`, `hue`, `mean`,
    `low` and `high`, all in 0 .. 1. ValueError as above.
    """
    check(frame, ["n_options", hue, "mean", "low", "high"], unique=["n_options", hue])
    _lines(frame, ax, x="n_options", y="mean", hue=hue)
    numbers = sorted(set(frame["n_options"]))
    ax.set_xscale("log")
    ax.set_xticks(numbers, [str(n) for n in numbers])
    ax.minorticks_off()
    ax.set(ylim=(0, 1), xlabel="options", ylabel="mean over test facts")
    return ax


def panels(frame: pd.DataFrame, column: str, draw: Callable[[pd.DataFrame, Axes], Axes]) -> Figure:
    """A row of panels with one scale, for each value of a column: what `draw` makes of its rows.

    `draw` is a function of this room, with what else it takes given to it already. Panels keep the
    frame's order and have the value as title; each has its own legend, in small letters.
    """
    values = list(frame[column].unique())
    fig, axes = plt.subplots(
        1,
        len(values),
        figsize=(1 + 3.4 * max(2, len(values)), 4.4),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, value in zip(axes[0], values, strict=True):
        draw(frame[frame[column] == value], ax)
        ax.set_title(value, fontsize="medium")
        ax.legend(fontsize=7, frameon=False)
    for ax in axes[0][1:]:
        ax.set_ylabel("")
    return fig


def _lines(
    frame: pd.DataFrame,
    ax: Axes,
    *,
    x: str,
    y: str,
    hue: str,
    bars: bool = True,
    lw: float = 1.5,
) -> None:
    hues: Sequence[str] = frame[hue].unique().tolist()
    colours = sns.color_palette(PALETTE, len(hues))
    for number, label in enumerate(hues):
        part = frame[frame[hue] == label]
        if bars:
            ax.vlines(part[x], part["low"], part["high"], color=colours[number], lw=1.2)
        marks = f"{MARKERS[number % len(MARKERS)]}-"
        ax.plot(part[x], part[y], marks, color=colours[number], lw=lw, label=label)
