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


def instilled_scatter(frame: pd.DataFrame, axes: Sequence[Axes]) -> None:
    """A fact told against the same fact taught, by kind of object: KL, logarithmic, and change of entropy.

    ``frame``: a row for each fact, with ``kind``, ``told_kl`` and ``taught_kl``, ``told_change`` and
    ``taught_change`` in nats, ``kl_apart`` and ``signs_apart`` (bool): these are filled, the others
    hollow. On the dashed diagonal both are the same; on the right the dotted lines are at no change.
    ValueError for missing columns or values.
    """
    columns = ["told_kl", "taught_kl", "told_change", "taught_change", "kl_apart", "signs_apart"]
    check(
        frame, ["model", "relation", "fact", "kind", *columns], unique=["model", "relation", "fact"]
    )
    colours = sns.color_palette(PALETTE)
    for i, (kind, part) in enumerate(frame.groupby("kind", sort=True)):
        for ax, name, apart in zip(axes, ("kl", "change"), columns[4:], strict=True):
            for filled, some in part.groupby(part[apart].astype(bool)):
                ax.plot(
                    some[f"told_{name}"],
                    some[f"taught_{name}"],
                    MARKERS[i % len(MARKERS)],
                    color=colours[i % 9],
                    mfc=colours[i % 9] if filled else "none",
                    ms=4.5,
                    alpha=0.7,
                    label=kind,
                )
    for ax, name, words in zip(axes, ("kl", "change"), ("KL", "change of entropy"), strict=True):
        ends = frame[[f"told_{name}", f"taught_{name}"]]
        low, high = ends.min().min(), ends.max().max()
        ax.plot([low, high], [low, high], color=DARK, ls="dashed", lw=1)
        ax.set(xlabel=f"{words} when told (nats)", ylabel=f"{words} when taught (nats)")
    axes[0].set(xscale="log", yscale="log")
    plain_ticks(axes[0].xaxis)
    plain_ticks(axes[0].yaxis)
    for line in (axes[1].axhline, axes[1].axvline):
        line(0, color=DARK, ls="dotted", lw=1)
    marks = dict(zip(*axes[0].get_legend_handles_labels()[::-1], strict=True))
    axes[0].legend(marks.values(), marks, frameon=False, fontsize="small")


def step_lines(frame: pd.DataFrame, axes: Sequence[Axes]) -> None:
    """A line for each model over the number of steps, logarithmic, with intervals: an axes for each ``what``.

    ``frame``: a row for each ``model``, ``steps`` and ``what``, with ``value``, ``low`` and ``high``.
    ValueError for missing columns or values, a row that occurs twice, or another number of axes than of
    ``what``.
    """
    check(
        frame,
        ["model", "steps", "what", "value", "low", "high"],
        unique=["model", "steps", "what"],
    )
    names, models = list(frame["what"].unique()), list(frame["model"].unique())
    if len(names) != len(axes):
        raise ValueError(f"{len(axes)} axes for {names}; each needs one")
    for ax, name in zip(axes, names, strict=True):
        for i, model in enumerate(models):
            part = frame[(frame["what"] == name) & (frame["model"] == model)].sort_values("steps")
            at = part["steps"] * (1 + 0.04 * (i - (len(models) - 1) / 2))  # side by side
            colour, mark = sns.color_palette(PALETTE)[i % 9], MARKERS[i % len(MARKERS)]
            ax.plot(at, part["value"], f"{mark}-", color=colour, lw=1.4, label=model)
            ax.vlines(at, part["low"], part["high"], color=colour, lw=1.2, alpha=0.7)
        ax.set(xscale="log", xlabel="steps", title=name)
        plain_ticks(ax.xaxis)
    fig = axes[-1].figure
    columns = {"ncols": min(3, len(models)), "frameon": False, "fontsize": "small"}
    fig.legend(*axes[-1].get_legend_handles_labels(), loc="outside upper center", **columns)
