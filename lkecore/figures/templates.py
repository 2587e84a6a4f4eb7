"""Accuracy by kind of prompt, a panel for each model; and questions by their slot in a long prompt."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lkecore.figures.base import DARK, PALETTE, check
from lkecore.figures.relations import accuracy_bars


def prompt_dots(
    dots: pd.DataFrame, means: pd.DataFrame, *, kinds: list[str], marks: Mapping[str, float]
) -> Figure:
    """Dots of single prompts by kind, with mean and spread of each kind; a panel for each model (IC-F3).

    `dots`: one row per `model`, `kind`, `relation` and `estimator`, with `accuracy`, a share in 0 .. 1.
    `means`: one row per `model` and `kind`, with `accuracy`, `low`, `high`, and `spread` (standard
    deviation, NaN where there is none). `kinds` from top to bottom; `marks`: a dotted line for each
    model, such as what guessing gets. Each mean is a diamond on its interval, below the dots of its
    kind, and under it a thin line from mean minus to mean plus spread. Two panels in a row. ValueError
    for missing columns or values, and a pair that occurs twice.
    """
    check(dots, ["model", "kind", "accuracy"], unique=["model", "kind", "relation", "estimator"])
    needed = ["model", "kind", "accuracy", "low", "high"]
    check(means, needed, unique=["model", "kind"], also=["spread"])
    models = list(dots["model"].unique())
    wide, high = min(2, len(models)), (len(models) + 1) // 2
    grid = {"sharey": True, "squeeze": False, "layout": "constrained"}
    figure, axes = plt.subplots(high, wide, figsize=(3 + 4 * wide, 3.8 * high), **grid)
    for ax in axes.flat[len(models) :]:
        ax.axis("off")
    for ax, model in zip(axes.flat, models, strict=False):
        look = {"color": "0.6", "jitter": False, "size": 7, "alpha": 0.7}
        part = dots[dots["model"] == model]
        sns.stripplot(part, x="accuracy", y="kind", order=kinds, ax=ax, **look)
        for row in means[means["model"] == model].itertuples():
            at = kinds.index(row.kind)
            if not np.isnan(row.spread):
                ends = row.accuracy - row.spread, row.accuracy + row.spread
                ax.hlines(at + 0.38, *ends, color=DARK, lw=1)
            ax.hlines(at + 0.25, row.low, row.high, color=DARK, lw=4)
            ax.plot(row.accuracy, at + 0.25, "D", color=DARK, ms=7)
        ax.axvline(marks[model], color=DARK, linestyle=":")
        ax.set(xlim=(-0.03, 1.03), title=model, xlabel="accuracy", ylabel="")
    return figure


def bars_by_model(frame: pd.DataFrame, *, hue: str, marks: Mapping[str, pd.Series]) -> Figure:
    """:func:`~lkecore.figures.relations.accuracy_bars`, a panel for each `model`, one legend above all.

    Two panels in a row, as high as the one with more relations needs. `frame`: that of `accuracy_bars`
    with a column `model`. `marks`: what the best rule without a model gets, by relation, for each model.
    """
    models, hues = list(frame["model"].unique()), list(frame[hue].unique())
    wide = min(2, len(models))
    sizes = [frame.loc[frame["model"] == model, "relation"].nunique() for model in models]
    tallest = [max(sizes[at : at + wide]) for at in range(0, len(models), wide)]
    inches = [1.2 + (1.1 if n < 6 else 0.6) * n for n in tallest]
    grid = {"squeeze": False, "layout": "constrained", "height_ratios": inches}
    size = 1 + 7 * wide, sum(inches)
    figure, axes = plt.subplots(len(inches), wide, figsize=size, **grid)
    named = {}
    for ax, model in zip(axes.flat, models, strict=False):
        look = {"chance": marks[model], "called": "best rule", "hue": hue, "hues": hues}
        accuracy_bars(frame[frame["model"] == model], ax, **look)
        ax.set_xlabel(f"{ax.get_xlabel()}, {model}")
        named |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
        ax.get_legend().remove()
    for ax in axes.flat[len(models) :]:
        ax.axis("off")
    figure.legend(named.values(), named, loc="outside upper center", ncols=3, frameon=False)
    return figure


def slot_marks(frame: pd.DataFrame, ax: Axes) -> Axes:
    """A mark for each fact over its slot in a long prompt, right and wrong ones apart, and a line of means.

    `frame`: one row per `relation` and `fact`, with `slot`, `gain` (difference in confidence) and `answer`
    ("right" or "wrong"). Zero is a dotted line. ValueError for missing columns or values, and a fact
    that occurs twice.
    """
    check(frame, ["slot", "gain", "answer"], unique=["relation", "fact"])
    sns.lineplot(frame, x="slot", y="gain", errorbar=None, color="0.6", ax=ax)
    order = ["right", "wrong"]
    look = {"hue_order": order, "style_order": order, "markers": {"right": "s", "wrong": "X"}}
    look["palette"] = dict(zip(order, sns.color_palette(PALETTE), strict=False))
    sns.scatterplot(frame, x="slot", y="gain", hue="answer", style="answer", s=60, ax=ax, **look)
    ax.axhline(0, color=DARK, linestyle=":")
    ax.set(xlabel="slot of EIC-LKE", ylabel="difference in confidence")
    ax.set_xticks(sorted(set(frame["slot"])))
    ax.legend(title="EIC-LKE's answer", loc="upper left", bbox_to_anchor=(1, 1))
    return ax
