"""Accuracy by what stands inside a pair and between pairs."""

from collections.abc import Mapping
from textwrap import fill

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lkecore.figures.base import ACCURACY, DARK, MARKERS, PALETTE, check, draw_intervals, nothing

WIDTH = 10  # letters of a line below a mark
BEHIND = ("white", "#f9ddd2", "#d6e5f5")  # of blocks of rows: none, reddish, bluish


def separator_bars(frame: pd.DataFrame, ax: Axes, *, of_rule: float) -> Axes:
    """Horizontal bars of accuracy by what stands between subject and object (IC-F4), with intervals.

    `frame`: one row per `words` and `shots` (a label such as "50 shots" or "none", the hue), with
    `kind`, `accuracy`, `low`, `high`, shares of test facts in 0 .. 1. Rows keep their order, first on
    top. A `kind` is a block of rows: the first has no background, the second a reddish, the third a
    bluish one, as in the paper's figure; its name stands to the right. `of_rule`, what the best rule
    without a model gets: a dashed line.
    ValueError for missing columns or values, a pair that occurs twice, a kind whose rows stand apart,
    or more than three kinds.
    """
    check(frame, ["words", "shots", "kind", "accuracy", "low", "high"], unique=["words", "shots"])
    rows = frame.drop_duplicates("words").reset_index(drop=True)
    kinds = rows["kind"].unique().tolist()
    if (rows["kind"] != rows["kind"].shift()).sum() > len(kinds) or len(kinds) > len(BEHIND):
        raise ValueError(
            f"kinds {kinds}: each needs one block of rows, and {len(BEHIND)} is the most"
        )
    order, hues = rows["words"].tolist(), frame["shots"].unique().tolist()
    for kind, colour in zip(kinds, BEHIND, strict=False):
        own = rows.index[rows["kind"] == kind]
        ax.axhspan(own[0] - 0.5, own[-1] + 0.5, color=colour, zorder=0, lw=0)
        at = {"ha": "left", "va": "center", "color": DARK, "size": "small"}
        ax.text(1.01, own.to_numpy().mean(), kind, transform=ax.get_yaxis_transform(), **at)
    look = {"order": order, "hue_order": hues, "width": 0.8, "errorbar": None}
    few = len(hues) < 3
    colours = ["0.35", "0.7"][: len(hues)] if few else sns.color_palette(PALETTE, len(hues))
    sns.barplot(
        frame, x="accuracy", y="words", hue="shots", orient="h", palette=colours, ax=ax, **look
    )
    offset = (frame["shots"].map(hues.index) - (len(hues) - 1) / 2) * 0.8 / len(hues)
    draw_intervals(ax, frame, frame["words"].map(order.index) + offset, DARK)
    ax.axvline(of_rule, color=DARK, ls="dashed", lw=1.5, label="best rule")
    ax.set(xlim=(0, 1), ylim=(len(order) - 0.5, -0.5), xlabel=ACCURACY, ylabel="")
    ax.grid(False, axis="y")
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(*ax.get_legend_handles_labels(), ncols=4, frameon=False, **place)
    return ax


def separator_panels(frame: pd.DataFrame, *, of_rule: Mapping[str, float]) -> Figure:
    """A panel of :func:`separator_bars` for each `model` of a frame, one below the other.

    `of_rule`: what the best rule without a model gets, by model.
    """
    models = frame["model"].unique()
    n_rows = [frame.loc[frame["model"] == model, "words"].nunique() for model in models]
    look = {"height_ratios": n_rows, "layout": "constrained", "squeeze": False}
    size = 7.5, 0.4 * sum(n_rows) + 1.2 * len(models)
    fig, axes = plt.subplots(len(models), 1, figsize=size, **look)
    for ax, model in zip(axes[:, 0], models, strict=True):
        separator_bars(frame[frame["model"] == model], ax, of_rule=of_rule[model])
        ax.set_xlabel(f"{ACCURACY}, {model}")
    return fig


def interval_marks(
    frame: pd.DataFrame, ax: Axes, *, x: str, hue: str, y: str, hue_order: list[str]
) -> Axes:
    """Marks with intervals above the values of `x`, a colour and a marker for each `hue`, side by side.

    `frame`: one row per `x` and `hue`, with `y`, `low`, `high`, in one unit; where it has a column
    `ringed` (bool), such marks have a ring. `x` keeps its order in the frame. `hue_order` names all
    hues, also those that this frame lacks: so several axes have the same colours. ValueError for
    missing columns or values, a pair that occurs twice, or a hue that is not in `hue_order`.
    """
    check(frame, [x, hue, y, "low", "high"], unique=[x, hue])
    if strange := sorted(set(frame[hue]) - set(hue_order)):
        raise ValueError(f"{hue} {strange} is not in hue_order {hue_order}")
    columns = frame[x].unique().tolist()
    present = [name for name in hue_order if name in set(frame[hue])]
    for place, name in enumerate(present):
        part, n = frame[frame[hue] == name], hue_order.index(name)
        at = part[x].map(columns.index) + 0.7 / len(present) * (place - (len(present) - 1) / 2)
        colour = sns.color_palette(PALETTE, 9)[n % 9]
        ax.vlines(at, part["low"], part["high"], color=colour, lw=1.2)
        ax.plot(at, part[y], MARKERS[n % len(MARKERS)], color=colour, ms=6, label=name)
        if "ringed" in part:
            ring = {"ms": 14, "mfc": "none", "mec": DARK, "mew": 1.5, "zorder": 4}
            ax.plot(at[part["ringed"]], part.loc[part["ringed"], y], "o", **ring)
    ax.set_xticks(range(len(columns)), columns)
    ax.set(xlim=(-0.5, len(columns) - 0.5))
    ax.grid(False, axis="x")
    return ax


def interval_panels(
    frame: pd.DataFrame,
    *,
    panel: str,
    x: str,
    hue: str,
    y: str,
    label: str,
    line: float | None = None,
    width: float = 4.0,
) -> Figure:
    """A panel of :func:`interval_marks` for each value of `panel`, side by side on one scale.

    `label`: of the vertical axis. `line`: a dashed line across all panels. `width`: inches of a panel.
    Colours are the same in all. Values of `x` of several words stand in several lines, so that neighbours do
    not run into each other. Without rows there is a figure that says so. ValueError as there.
    """
    if frame.empty:
        nothing(fig := plt.figure())
        return fig
    check(frame, [panel, x, hue, y, "low", "high"], unique=[panel, x, hue])
    names, order = frame[panel].unique(), frame[hue].unique().tolist()
    size = {"figsize": (2 + width * len(names), 4.2), "layout": "constrained"}
    fig, axes = plt.subplots(1, len(names), sharey=True, squeeze=False, **size)
    marks = {}
    for ax, name in zip(axes[0], names, strict=True):
        interval_marks(frame[frame[panel] == name], ax, x=x, hue=hue, y=y, hue_order=order)
        ax.set_xticks(ax.get_xticks(), [fill(t.get_text(), WIDTH) for t in ax.get_xticklabels()])
        if line is not None:
            ax.axhline(line, color=DARK, ls="dashed", lw=1)
        ax.set_title(name, fontsize="medium")
        marks |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    axes[0, 0].set_ylabel(label)
    look = {"loc": "outside upper center", "ncols": min(4, len(marks)), "frameon": False}
    fig.legend(marks.values(), marks, **look)  # a wider one would make the figure small
    return fig


def format_panels(frame: pd.DataFrame, *, of_rule: Mapping[str, float]) -> Figure:
    """A panel for each model: accuracy by the sign inside a pair, and by the sign between pairs.

    `frame`: one row per `model`, `inside` and `between` with `accuracy`, `low`, `high` and `ringed`, as
    :func:`interval_marks` takes them. `of_rule`, what the best rule without a model gets: a dashed line.
    """
    models = frame["model"].unique()
    n = (len(models) + 1) // 2
    look = {"x": "inside", "hue": "between", "y": "accuracy"}
    look["hue_order"] = frame["between"].unique().tolist()
    fig, axes = plt.subplots(n, 2, figsize=(10, 3 * n), layout="constrained", squeeze=False)
    marks = {}
    for ax, model in zip(axes.flat, models, strict=False):
        interval_marks(frame[frame["model"] == model], ax, **look)
        ax.axhline(of_rule[model], color=DARK, ls="dashed", lw=1)
        ax.set(title=model, ylim=(0, 1.05), xlabel="inside a pair", ylabel="accuracy")
        marks |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    for ax in axes.flat[len(models) :]:
        ax.axis("off")
    fig.legend(marks.values(), marks, title="between pairs", loc="outside right")
    return fig


def format_sizes(spreads: pd.DataFrame, gains: pd.DataFrame, *, margin: float) -> Figure:
    """By model: on the left the spread over formats, on the right the gain of each sign over the space.

    `spreads`: one row per `model` and `group` with `spread`, `low`, `high` and `if_alike`, of which the
    largest of a model is a grey bar. `gains`: one row per `model` and `inside` with `gain`, `low`,
    `high`; `margin`: the half width of a grey band around 0.
    """
    fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    alike = spreads.groupby("model", sort=False)["if_alike"].max()
    axes[0].bar(range(len(alike)), alike, color="0.88", label="if alike")
    order = sorted(spreads["group"].unique())
    interval_marks(spreads, axes[0], x="model", hue="group", y="spread", hue_order=order)
    axes[0].set(ylabel="spread over formats (share of facts)", ylim=(0, 1))
    axes[1].axhspan(-margin, margin, color="0.88", label=f"within {margin}")
    order = gains["inside"].unique().tolist()
    interval_marks(gains, axes[1], x="model", hue="inside", y="gain", hue_order=order)
    axes[1].set(ylabel="accuracy minus that with the space")
    for ax in axes:
        names = [text.get_text().replace(" on ", "\non ") for text in ax.get_xticklabels()]
        ax.set_xticks(ax.get_xticks(), names, rotation=45, ha="right", rotation_mode="anchor")
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 5}
        ax.legend(frameon=False, columnspacing=1, handletextpad=0.3, **place)
    return fig
