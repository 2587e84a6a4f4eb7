"""Accuracy over how often a model was told a fact."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lkecore.figures.base import DARK, MARKERS, PALETTE, check


def dose_lines(
    frame: pd.DataFrame,
    ax: Axes,
    *,
    hue: str,
    unit: str,
    hue_order: list[str],
    chance: float,
    most: int,
) -> Axes:
    """Accuracy over exposures: a line with intervals for each `hue` and `unit`, chance dotted.

    `frame`: one row per `hue`, `unit` and `exposures`, with `accuracy`, `low`, `high`, shares of facts
    in 0 .. 1. Each `hue` has a colour and a marker, by its place in `hue_order`, which may name
    others, too: so several axes have the same ones. Lines of one hue and several units, such as
    worlds, look alike and have one entry in a legend. Exposures are drawn in doublings up to `most`.
    Facts with 0 exposures were never told: their marks stand apart, where one half would be.
    ValueError for missing columns or values, a row that occurs twice, a hue without a place among
    the first four of `hue_order`, or exposures above `most`.
    """
    keys = [hue, unit, "exposures"]
    check(frame, [*keys, "accuracy", "low", "high"], unique=keys)
    places = hue_order[: len(MARKERS)]
    if others := set(frame[hue]) - set(places):
        raise ValueError(f"{hue} {sorted(others)} has no place among {places}")
    if (largest := frame["exposures"].max()) > most:
        raise ValueError(f"exposures of {largest} stand above most, {most}")
    colours = sns.color_palette(PALETTE, len(places))
    for name, colour, marker in zip(places, colours, MARKERS, strict=False):
        look = {"color": colour, "marker": marker, "markersize": 5}
        label = name
        for _, part in frame[frame[hue] == name].sort_values("exposures").groupby(unit):
            told, never = part[part["exposures"] > 0], part[part["exposures"] == 0]
            ax.plot(told["exposures"], told["accuracy"], lw=1.2, label=label, **look)
            ax.plot([0.5] * len(never), never["accuracy"], ls="none", **look)
            at = part["exposures"].replace(0, 0.5)
            ax.vlines(at, part["low"], part["high"], color=colour, lw=1, alpha=0.6)
            label = None
    ax.axhline(chance, color=DARK, ls="dotted", lw=1.2)
    ax.set_xscale("log", base=2)
    doublings = [2**i for i in range(int(np.log2(most)) + 1)]
    ax.set_xticks([0.5, *doublings], ["0", *map(str, doublings)])
    ax.minorticks_off()
    ax.set(xlim=(0.4, 1.2 * most), ylim=(-0.02, 1.02), xlabel="exposures", ylabel="accuracy")
    return ax


def dose_panels(
    frame: pd.DataFrame,
    *,
    hue: str,
    unit: str,
    hue_order: list[str],
    rows: str,
    columns: str,
    panels: Sequence[str],
    chance: float,
) -> Figure:
    """:func:`dose_lines` in a grid: a row for each value of ``rows``, a column for each of ``panels``.

    `frame` as there, with the columns `rows` and `columns`, one of whose values each of `panels` is. The
    legend stands above. A panel without rows is empty, and a frame without rows an empty figure.
    ValueError as there.
    """
    if frame.empty:
        return plt.figure(figsize=(5.5, 1))
    names = list(frame[rows].unique())
    size = {"figsize": (10, 1 + 2.6 * len(names)), "layout": "constrained"}
    grid = {"sharex": True, "sharey": True, "squeeze": False}
    figure, axes = plt.subplots(len(names), len(panels), **size, **grid)
    look = {"hue": hue, "unit": unit, "hue_order": hue_order, "chance": chance}
    for (i, j), ax in np.ndenumerate(axes):
        part = frame[frame[rows].eq(names[i]) & frame[columns].eq(panels[j])]
        if len(part):
            dose_lines(part, ax, **look, most=frame["exposures"].max())
        ax.set_title(f"told in: {panels[j]}, asked by {names[i]}", fontsize="small")
        ax.label_outer()
    shown = max(
        (ax.get_legend_handles_labels() for ax in axes.flat), key=lambda found: len(found[1])
    )
    figure.legend(*shown, loc="outside upper center", ncols=3, frameon=False)
    return figure
