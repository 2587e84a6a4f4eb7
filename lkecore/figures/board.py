"""Models of a board beside each other: how right they are, and how much of it they share."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from lkecore.figures.base import DARK, check
from lkecore.figures.relations import heat_map

MANY = 8  # models of a board from which on names must be short


def board_dots(frame: pd.DataFrame, boards: pd.DataFrame) -> Figure:
    """A panel for each board, a row for each model: its accuracy with two intervals.

    `frame`: `board`, `model`, `accuracy`, `low` and `high` (over facts, thick), `wide_low` and `wide_high`
    (over relations, thin), in the order in which models stand. `boards`: `board`, `title`, `models`.
    ValueError for missing columns or values, and a model that stands twice on a board.
    """
    numbers = ["accuracy", "low", "high", "wide_low", "wide_high"]
    check(frame, ["board", "model", *numbers], unique=["board", "model"])
    heights = boards["models"] + 1
    size = 7.5, 0.6 + 0.34 * (heights + 0.6).sum()
    grid = {"squeeze": False, "sharex": True, "figsize": size, "layout": "constrained"}
    figure, axes = plt.subplots(len(boards), height_ratios=heights, **grid)
    for ax, of in zip(axes.flat, boards.itertuples(), strict=True):
        part = frame[frame["board"] == of.board]
        at = np.arange(len(part))
        ax.hlines(at, part["wide_low"], part["wide_high"], color="0.6", lw=1.5)
        ax.hlines(at, part["low"], part["high"], color="C0", lw=5, alpha=0.6)
        ax.plot(part["accuracy"], at, "o", color=DARK, ms=5)
        ax.set_yticks(at, part["model"])
        ax.set(xlim=(-0.01, 1.01), ylim=(len(part) - 0.4, -0.6))
        ax.set_title(of.title, loc="left", fontsize="medium")
        ax.grid(False, axis="y")
    axes[-1, 0].set_xlabel("accuracy, mean over relations")
    return figure


def board_matrices(frame: pd.DataFrame, boards: pd.DataFrame, table: pd.DataFrame) -> Figure:
    """A heat map for each board of two models or more that have a rate, or else for the first board.

    `frame`: `board`, `of` (rows), `in` (columns), `rate` and `distance`; a model with itself stays white.
    `boards`: as in :func:`board_dots`; `table`: `board`, `model` and `accuracy`, a number that stands below
    the name of a column. ValueError for missing columns, and a pair that stands twice.
    """
    check(frame, ["board", "of", "in", "distance"], unique=["board", "of", "in"])
    rated = frame.loc[(frame["distance"] > 0) & frame["rate"].notna(), "board"]
    several = list(dict.fromkeys(rated)) or [1]
    of_board = boards.set_index("board").loc[several]
    n = of_board["models"]
    size = 3.4 + 0.9 * min(n.max(), MANY), (1.6 + 0.55 * n.clip(upper=14)).sum()
    grid = {"squeeze": False, "figsize": size, "layout": "constrained"}
    figure, axes = plt.subplots(len(several), height_ratios=n.clip(upper=14) + 2, **grid)
    means = table.set_index(["board", "model"])["accuracy"]
    for ax, board in zip(axes.flat, several, strict=True):
        part = frame[frame["board"] == board]
        part = part.assign(rate=part["rate"].where(part["distance"] > 0))
        line, broken = ("\n", " ") if n[board] > MANY else ("/", "/\n")
        names = [f"{model}\n{means[board, model]:.2f}" for model in part["in"]]
        part = part.assign(**{"in": [name.replace(line, broken) for name in names]})
        look = {"index": "of", "columns": "in", "values": "rate"}
        heat_map(part, ax, **look, label="share", limits=(0, 1))
        ax.set_title(of_board.loc[board, "title"], loc="left", fontsize="medium")
    return figure
