"""Confidence over the share that an object has in what a text says of a fact."""

from collections.abc import Sequence

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from lkecore.figures.base import DARK, MARKERS, PALETTE, check

ASIDE = 0.008  # a line's step to the right, so that intervals do not hide each other


def share_lines(frame: pd.DataFrame, axes: Sequence[Axes]) -> None:
    """A line for each model over planted shares, with intervals; an axes for each ``what``.

    ``frame``: a row for each ``model``, ``what`` and ``planted``, with ``value``, ``low`` and ``high``, all
    shares in [0, 1]. The diagonal is dashed: value and planted share are the same. ValueError for missing
    columns or values, a row that occurs twice, or another number of axes than of ``what``.
    """
    check(
        frame,
        ["model", "what", "planted", "value", "low", "high"],
        unique=["model", "what", "planted"],
    )
    names, models = list(frame["what"].unique()), list(frame["model"].unique())
    if len(names) != len(axes):
        raise ValueError(f"{len(axes)} axes for {names}; each needs one")
    for ax, name in zip(axes, names, strict=True):
        ax.plot([0, 1], [0, 1], color=DARK, linestyle="dashed", lw=1)
        for i, model in enumerate(models):
            part = frame[(frame["what"] == name) & (frame["model"] == model)].sort_values("planted")
            at = part["planted"] + ASIDE * (i - (len(models) - 1) / 2)
            colour = sns.color_palette(PALETTE)[i % 9]
            ax.plot(
                at,
                part["value"],
                MARKERS[i % len(MARKERS)] + "-",
                color=colour,
                lw=1.2,
                label=model,
            )
            ax.vlines(at, part["low"], part["high"], color=colour, alpha=0.6, lw=1.2)
        ax.set(xlim=(0, 1.03), ylim=(0, 1.03), title=name, xlabel="planted share of the object")
    axes[0].set_ylabel("confidence")
    axes[0].legend(loc="upper left", frameon=False, fontsize=8)
