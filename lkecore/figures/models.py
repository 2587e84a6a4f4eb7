"""Models beside each other, and beside the published ones."""

from textwrap import fill

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from lkecore.figures.base import ACCURACY, DARK, MARKERS, PALETTE, check, draw_intervals

OTHER_MODEL = "this book, other data and other model"


def published_dots(
    frame: pd.DataFrame,
    ax: Axes,
    *,
    ours: pd.DataFrame | None = None,
    ours_label: str = OTHER_MODEL,
) -> Axes:
    """Published accuracies as dots, best on top, a thin line one standard deviation to each side.

    `frame`: columns `name`, `accuracy`, `std` (over relations; NaN: no line) and `family`, which
    gives colour and marker. `ours`: columns `name`, `accuracy`, `low`, `high`; drawn as dark
    diamonds with intervals below a line, never among the published, and named in the legend by
    `ours_label`. All are shares of test facts; accuracy plus std may pass 1. ValueError for missing
    columns or values, or a name that occurs twice.
    """
    check(frame, ["name", "accuracy", "family"], unique=["name"], also=["std"])
    published = frame.sort_values("accuracy", ascending=False, kind="stable").reset_index(drop=True)
    left = published["accuracy"] - published["std"]
    right = published["accuracy"] + published["std"]
    ax.hlines(
        published.index, left, right, "0.65", lw=1.2, label="± standard deviation over relations"
    )
    colours = sns.color_palette(PALETTE, 9)  # the tenth, sky blue, is too near the first
    for number, (family, part) in enumerate(published.groupby("family", sort=False)):
        colour, marker = colours[number % len(colours)], MARKERS[number % len(MARKERS)]
        dots = {"color": colour, "ms": 6, "mec": DARK, "mew": 0.5, "label": family}
        ax.plot(part["accuracy"], part.index, marker, **dots)
    names = published["name"].tolist()
    if ours is not None:
        check(ours, ["name", "accuracy", "low", "high"], unique=["name"])
        rows = len(names) + np.arange(len(ours))
        ax.axhline(len(names) - 0.5, color=DARK, lw=1)
        draw_intervals(ax, ours, rows, DARK)
        ax.plot(ours["accuracy"], rows, "D", color=DARK, ms=7, label=ours_label)
        names += ours["name"].tolist()
    ax.set_yticks(range(len(names)), names)
    ax.grid(False, axis="y")  # it would pass for a longer standard deviation
    for text in ax.get_yticklabels()[len(published) :]:
        text.set_fontweight("bold")
    ax.set(
        xlim=(min(0, left.min()) - 0.02, max(1, right.max()) + 0.02),
        ylim=(len(names) - 0.4, -0.6),  # first row on top
        xticks=np.linspace(0, 1, 6),
        xlabel=ACCURACY,
        ylabel="",
    )
    handles, labels = ax.get_legend_handles_labels()
    labels = [fill(label, 20) for label in labels]
    ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
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
