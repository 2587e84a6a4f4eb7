"""Accuracy over how often a model was told a fact."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lkecore.figures.base import DARK, MARKERS, MOST_HUES, PALETTE, check


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
    the first nine of `hue_order`, or exposures above `most`.
    """
    keys = [hue, unit, "exposures"]
    check(frame, [*keys, "accuracy", "low", "high"], unique=keys)
    places = hue_order[:MOST_HUES]
    if others := set(frame[hue]) - set(places):
        raise ValueError(f"{hue} {sorted(others)} has no place among {places}")
    if (largest := frame["exposures"].max()) > most:
        raise ValueError(f"exposures of {largest} stand above most, {most}")
    colours = sns.color_palette(PALETTE, len(places))
    for name, colour, marker in zip(places, colours, cycle(MARKERS), strict=False):
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


def size_summaries(frame: pd.DataFrame, *, sizes: Sequence[str], often: int) -> Figure:
    """Two panels over the size of a model: what it finds of facts told often, and tellings until one half.

    `frame`: a row for each `made_by` and `kind_of_model`, one of `sizes`, with `accuracy`, `low` and `high`
    (shares of facts), `needed` (tellings; infinite where one half is not reached, drawn at the upper edge)
    and `most` of the world. Each `made_by` has a colour and a marker. ValueError for missing columns
    or values, a row that occurs twice, a size without a place, or more `made_by` than colours.
    """
    keys = ["made_by", "kind_of_model"]
    check(frame, [*keys, "accuracy", "low", "high", "needed", "most"], unique=keys)
    names = frame["made_by"].unique()
    if others := set(frame["kind_of_model"]) - set(sizes):
        raise ValueError(f"sizes {sorted(others)} have no place among {list(sizes)}")
    if len(names) > MOST_HUES:
        raise ValueError(f"{len(names)} worlds; there are colours for {MOST_HUES}")
    top = 2 * frame["most"].max()
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    for n, name in enumerate(names):
        part = frame[frame["made_by"] == name]
        at = part["kind_of_model"].map(list(sizes).index) + 0.1 * (n - (len(names) - 1) / 2)
        order = at.sort_values().index
        at, part = at[order], part.loc[order]
        look = {
            "color": sns.color_palette(PALETTE, 9)[n % 9],
            "marker": MARKERS[n],
            "ms": 6,
            "lw": 1.2,
        }
        axes[0].plot(at, part["accuracy"], label=name, **look)
        axes[0].vlines(at, part["low"], part["high"], color=look["color"], lw=1)
        axes[1].plot(at, part["needed"].clip(upper=top), **look)
    axes[0].set(ylim=(0, 1), ylabel=f"accuracy, told {often} times or more")
    axes[1].set_yscale("log", base=2)
    ticks = [2**i for i in range(int(np.log2(top)))]
    axes[1].set_yticks([*ticks, top], [*map(str, ticks), "more"])
    axes[1].minorticks_off()
    axes[1].set(ylim=(0.8, 1.1 * top), ylabel="tellings needed for one half")
    for ax in axes:
        ax.set_xticks(range(len(sizes)), sizes)
        ax.set(xlim=(-0.5, len(sizes) - 0.5), xlabel="size of the model (parameters)")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False
    )
    return figure
