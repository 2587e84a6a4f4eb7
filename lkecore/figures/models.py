"""Models beside each other."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from lkecore.figures.base import ACCURACY, DARK, MARKERS, PALETTE, check, draw_intervals


def subsumption_dots(frame: pd.DataFrame, ax: Axes) -> Axes:
    """Subsumption rates, first row on top, each beside what independent answers would give.

    `frame`: one row each with `name`, `eta`, `low` and `high` (NaN: without an interval),
    `independent` (the accuracy of the larger or base model: eta of two models that are right
    independently of each other), all shares in 0 .. 1, and `ours` (bool): dark diamonds and bold
    names, beside the circles of published ones. ValueError for missing columns or values, or a name
    that occurs twice.
    """
    check(frame, ["name", "eta", "independent", "ours"], unique=["name"], also=["low", "high"])
    rows = np.arange(len(frame))
    ours = frame["ours"].to_numpy(dtype=bool)
    ax.hlines(rows, frame["eta"], frame["independent"], color="0.75", lw=1)
    tick = {"color": DARK, "ms": 12, "mew": 2}
    ax.plot(frame["independent"], rows, "|", **tick, label="if independent")
    circle = {"color": sns.color_palette(PALETTE)[0], "ms": 7, "mec": DARK, "mew": 0.5}
    for which, marker, look, label in (
        (~ours, "o", circle, "published, other models"),
        (ours, "D", {"color": DARK, "ms": 7}, "this book"),
    ):
        if which.any():
            ax.plot(frame["eta"][which], rows[which], marker, **look, label=label)
    bounded = frame["low"].notna().to_numpy()
    draw_intervals(ax, frame[bounded], rows[bounded], DARK)
    ax.set_yticks(rows, frame["name"])
    for text, dark in zip(ax.get_yticklabels(), ours, strict=True):
        text.set_fontweight("bold" if dark else "normal")
    ax.grid(False, axis="y")
    ax.set(xlim=(-0.02, 1.02), ylim=(len(frame) - 0.4, -0.6), ylabel="")
    ax.set_xlabel("subsumption rate (share of facts)")
    ax.tick_params(axis="y", labelsize=9)
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False, fontsize=9)
    return ax


def paired_bars(frame: pd.DataFrame, ax: Axes, *, pair: str = "model") -> Axes:
    """Horizontal bars of accuracy in pairs, the second of each pair lighter, in the frame's order.

    `frame`: one row per name and half of the pair with `name`, `pair` (two values, the first of
    them dark), `accuracy`, `low` and `high` (NaN: without an interval), shares in 0 .. 1. ValueError
    for missing columns or values, other than two halves, or a half that occurs twice.
    """
    check(frame, ["name", pair, "accuracy"], unique=["name", pair], also=["low", "high"])
    names, halves = frame["name"].unique().tolist(), frame[pair].unique().tolist()
    if len(halves) != 2:
        raise ValueError(f"{pair} has the values {halves}; a pair has two")
    dark = sns.color_palette(PALETTE)[0]
    light = tuple(1 - (1 - part) * 0.4 for part in dark)
    where = {"x": "accuracy", "y": "name", "order": names, "orient": "h", "width": 0.8}
    look = {"hue": pair, "hue_order": halves, "palette": [dark, light], "saturation": 1}
    sns.barplot(frame, **where, **look, errorbar=None, edgecolor=DARK, linewidth=0.5, ax=ax)
    bounded = frame[frame["low"].notna()]
    # seaborn splits a name's width 0.8 between the two halves, the first on top.
    rows = [
        names.index(name) + (halves.index(half) - 0.5) * 0.4
        for name, half in zip(bounded["name"], bounded[pair], strict=True)
    ]
    draw_intervals(ax, bounded, rows, DARK)
    ax.set(xlim=(0, 1), xlabel=ACCURACY, ylabel="")
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2}
    ax.legend(frameon=False, **place)
    return ax


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


def size_lines(
    ours: pd.DataFrame,
    published: pd.DataFrame,
    axes: Sequence[Axes],
    *,
    families: Sequence[Sequence[str]],
    chance: float,
) -> None:
    """Accuracy over the number of parameters: our families on the left, published ones on the right.

    `ours`: `model`, `parameters`, `accuracy`, `low`, `high`; `families` name its models from small to
    large. `published`: Table 1 of the IC-LKE paper, of which only both ends of each line are models.
    `chance`: a dashed line on the left. ValueError for missing columns or values.
    """
    check(ours, ["model", "parameters", "accuracy", "low", "high"], unique=["model"])
    for n, family in enumerate(families):
        part = ours[ours["model"].isin(family)].sort_values("parameters")
        at, colour = part["parameters"], f"C{n}"
        label = f"{family[0]} to {family[-1]}"
        axes[0].plot(at, part["accuracy"], f"{MARKERS[n % 4]}-", color=colour, label=label)
        axes[0].vlines(at, part["low"], part["high"], color=colour)
    axes[0].axhline(chance, color=DARK, linestyle="--", label="chance")
    unit = {"B": 1e9, "m": 1e6}
    for n, row in enumerate(published.itertuples()):
        sizes = [float(t[:-1]) * unit[t[-1]] for t in (row.smallest_params, row.largest_params)]
        ends = row.smallest_accuracy, row.largest_accuracy
        axes[1].plot(sizes, ends, marker="osD^vP"[n], ls=":", label=row.family)
    for ax, title in zip(axes, ("this page", "published, other models"), strict=True):
        ax.set(xscale="log", ylim=(0, 1), xlabel="parameters", title=title)
        ax.legend(frameon=False, fontsize=8, loc="upper left")
    axes[0].set_ylabel("accuracy, mean over relations")
    axes[0].set_xticks(ours["parameters"], [f"{n / 1e6:.2g} M" for n in ours["parameters"]])
    axes[0].minorticks_off()
