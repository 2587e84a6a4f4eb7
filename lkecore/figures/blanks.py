"""What stands at a blank: how far it moves, and what a rank leaves open."""

from collections.abc import Sequence

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from lkecore.figures.base import DARK, MARKERS, PALETTE, check, plain_ticks


def move_lines(frame: pd.DataFrame, ax: Axes) -> Axes:
    """KL over the probability that the object had before, on a logarithmic axis: a line a model.

    ``frame``: a row for each ``model`` and ``probability``, with ``KL``, ``low`` and ``high`` in nats.
    ValueError for missing columns or values, or a pair that occurs twice.
    """
    check(frame, ["model", "probability", "KL", "low", "high"], unique=["model", "probability"])
    models = list(frame["model"].unique())
    for i, model in enumerate(models):
        part = frame[frame["model"] == model].sort_values("probability")
        at = part["probability"] * (1 + 0.06 * (i - (len(models) - 1) / 2))  # side by side
        colour, mark = sns.color_palette(PALETTE)[i % 9], MARKERS[i % len(MARKERS)]
        ax.plot(at, part["KL"], f"{mark}-", color=colour, lw=1.5, label=model)
        ax.vlines(at, part["low"], part["high"], color=colour, lw=1.2, alpha=0.7)
    ax.set(
        xscale="log", xlabel="probability of the object's first token before", ylabel="KL (nats)"
    )
    plain_ticks(ax.xaxis)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize="small")
    return ax


def rank_panels(frame: pd.DataFrame, wordings: pd.DataFrame, axes: Sequence[Axes]) -> None:
    """Left: the rank of an object in two wordings. Right: KL over the rank. Both axes of ranks logarithmic.

    ``wordings``: a row for each fact, with its rank in the first and in the second wording as ``first`` and
    ``second``; on the dashed diagonal both are the same. ``frame``: a row for each fact and ``wording``, with
    ``rank`` and ``KL`` in nats. ValueError for missing columns or values.
    """
    check(wordings, ["fact", "first", "second"], unique=["fact"])
    check(frame, ["fact", "wording", "rank", "KL"], unique=["fact", "wording"])
    colours = sns.color_palette(PALETTE)
    left, right = axes
    top = 1.6 * max(wordings["first"].max(), wordings["second"].max())
    left.plot([0.8, top], [0.8, top], color=DARK, ls="dashed", lw=1)
    left.plot(wordings["first"], wordings["second"], "o", color=colours[0], ms=5, alpha=0.6)
    left.set(xlabel="rank of the object in the first wording", ylabel="rank in the second one")
    left.set(xscale="log", yscale="log", xlim=(0.8, top), ylim=(0.8, top))
    for i, (name, part) in enumerate(frame.groupby("wording", sort=False)):
        style = {"color": colours[i % 9], "ms": 5, "alpha": 0.6}
        right.plot(part["rank"], part["KL"], MARKERS[i % len(MARKERS)], label=name, **style)
    right.set(xscale="log", xlabel="rank of the object", ylabel="KL (nats)", ylim=(0, None))
    right.legend(frameon=False, fontsize="small")
    plain_ticks(left.yaxis)
    for ax in axes:
        plain_ticks(ax.xaxis)
