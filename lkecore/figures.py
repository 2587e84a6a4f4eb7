"""Figures: a tidy frame and an axes in, the axes out. Units on the axes, intervals drawn.

Captions are the notebook's. Colours are seaborn's "colorblind" palette, and no figure needs colour
alone to be read.
"""

import sys
from textwrap import fill

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

PALETTE = "colorblind"
DARK = "#222222"
MARKERS = "os^v"  # 4 markers over 9 colours: no two of 36 families look the same
ACCURACY = "accuracy (share of test facts)"
OTHER_MODEL = "this book, other data and other model"


def style() -> None:
    """Set the book's look; call it once, at the top of a notebook.

    White grid and white background (so that dark pages stay legible), colour-blind palette, SVG
    with letters as paths (the same on every machine), fixed ids and no date (the same bytes each
    time). Inside IPython it also makes SVG the inline format.
    """
    sns.set_theme(
        style="whitegrid",
        palette=PALETTE,
        rc={
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
            "axes.facecolor": "white",
            "svg.fonttype": "path",
            "svg.hashsalt": "lkecore",
        },
    )
    ipython = sys.modules.get("IPython")  # not imported means not running inside it
    if ipython is not None and ipython.get_ipython() is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None})


def accuracy_bars(
    frame: pd.DataFrame, ax: Axes, *, chance: float | pd.Series | None, hue: str = "format"
) -> Axes:
    """Horizontal bars of accuracy by relation, best (mean over hues) on top, with intervals.

    `frame`: one row per relation and hue with columns `relation`, `hue`, `accuracy`, `low`, `high`,
    all shares of test facts in 0 .. 1. `chance`: the share that guessing gets, as one number (a
    dashed line), as a Series indexed by relation where options differ in number (a dashed tick
    each), or None. Hues keep their order in the frame; equal relations too. ValueError for missing
    columns or values, a pair that occurs twice, or a relation without chance.
    """
    _check(frame, ["relation", hue, "accuracy", "low", "high"], unique=["relation", hue])
    means = frame.groupby("relation", sort=False)["accuracy"].mean()
    relations = means.sort_values(ascending=False, kind="stable").index.tolist()
    hues = frame[hue].unique().tolist()
    sns.barplot(
        frame,
        x="accuracy",
        y="relation",
        hue=hue,
        order=relations,
        hue_order=hues,
        orient="h",
        width=0.8,
        errorbar=None,  # the frame brings its own intervals
        palette=sns.color_palette(PALETTE, len(hues)),
        ax=ax,
    )
    # seaborn splits a relation's width 0.8 evenly among the hues, first hue on top.
    row = frame["relation"].map(relations.index)
    offset = (frame[hue].map(hues.index) - (len(hues) - 1) / 2) * 0.8 / len(hues)
    _intervals(ax, frame, row + offset, DARK)
    # The white rim keeps the dashes legible on a dark bar.
    dashes = {"color": DARK, "ls": "dashed", "lw": 1.5, "label": "chance", "zorder": 4}
    dashes["path_effects"] = [withStroke(linewidth=3, foreground="white")]
    if isinstance(chance, pd.Series):
        missing = [name for name in relations if name not in chance.index or pd.isna(chance[name])]
        if missing:
            raise ValueError(f"chance lacks the relations {missing}; give one number for each")
        rows = np.arange(len(relations))
        at = chance[relations].to_numpy(dtype=float)
        ax.vlines(at, rows - 0.45, rows + 0.45, **dashes)
    elif chance is not None:
        ax.axvline(float(chance), **dashes)
    ax.set(xlim=(0, 1), xlabel=ACCURACY, ylabel="")
    # Over the axes: inside it would hide bars. Taken anew, because seaborn's own lacks chance.
    handles, labels = ax.get_legend_handles_labels()
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(handles, labels, ncols=4, frameon=False, **place)
    return ax


def heat_map(
    frame: pd.DataFrame,
    ax: Axes,
    *,
    index: str,
    columns: str,
    values: str,
    label: str,
    limits: tuple[float, float] | None = None,
) -> Axes:
    """A coloured table of one value for each pair, such as accuracy by model and relation.

    `frame`: tidy, one row per pair, with the columns that `index` (rows), `columns` and `values`
    name; rows and columns keep the frame's order. `label` names value and unit at the colour bar,
    or above a map of up to 3 rows, which has none; `limits` fixes the colours' range (default: the
    data's). Two decimals in each cell up to 20 columns. A pair that is not in the frame, or NaN,
    stays white. ValueError for a missing column or a pair that occurs twice.
    """
    _check(frame, [index, columns], unique=[index, columns], also=[values])
    table = frame.pivot(index=index, columns=columns, values=values)
    table = table.loc[frame[index].unique(), frame[columns].unique()]
    low, high = limits or (None, None)
    small, annotated = max(table.shape) > 20, table.shape[1] <= 20
    bar = len(table) > 3 or not annotated  # beside 3 rows it is too short for its label
    sns.heatmap(
        table,
        ax=ax,
        cmap="viridis",  # even for colour-blind readers and in grey; text turns black or white
        vmin=low,
        vmax=high,
        annot=annotated,
        fmt=".2f",
        annot_kws={"size": 7 if small else 9},
        linewidths=0 if small else 0.5,
        cbar=bar,
        cbar_kws={"label": label},
        xticklabels=True,
        yticklabels=True,
    )
    ax.set(xlabel="", ylabel="")
    if not bar:
        ax.set_title(label, loc="left", fontsize="medium")
    rotation = 90 if small else 45 if table.shape[1] > 4 else 0
    ax.tick_params(axis="x", rotation=rotation, labelsize=7 if small else 10)
    ax.tick_params(axis="y", rotation=0, labelsize=7 if small else 10)
    if rotation == 45:
        for text in ax.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")
    return ax


def shots_curve(
    draws: pd.DataFrame, means: pd.DataFrame, ax: Axes, *, chance: float, hue: str = "format"
) -> Axes:
    """Accuracy over the number of shots: a line with a band for the draws, lines for the facts.

    `draws`: one row per draw of shots, number of shots and hue, with `n_shots`, `hue`, `accuracy`;
    the band is one standard deviation (n - 1) over draws. `means`: one row per number of shots and
    hue with `n_shots`, `hue`, `low`, `high`, the ends of an interval of the mean, and `needed`,
    where a dashed vertical line goes for each hue. `chance`: a dotted line. The axis of shots is
    logarithmic. ValueError for missing columns or values, or a row that occurs twice.
    """
    _check(draws, ["n_shots", hue, "draw", "accuracy"], unique=["n_shots", hue, "draw"])
    _check(means, ["n_shots", hue, "low", "high", "needed"], unique=["n_shots", hue])
    hues = list(dict.fromkeys(draws[hue]))
    if set(hues) != set(means[hue]):
        raise ValueError(f"draws are of {hues}, means of {sorted(set(means[hue]))}; need the same")
    colours = dict(zip(hues, sns.color_palette(PALETTE, len(hues)), strict=True))
    styles = dict(x="n_shots", y="accuracy", hue=hue, style=hue, palette=colours)
    sns.lineplot(
        draws, ax=ax, errorbar="sd", markers=list(MARKERS[: len(hues)]), dashes=False, **styles
    )
    for label, part in means.groupby(hue, sort=False):
        ax.vlines(part["n_shots"], part["low"], part["high"], color=colours[label], linewidth=1)
        ax.axvline(part["needed"].iloc[0], color=colours[label], linestyle="--", linewidth=1.2)
    ax.axhline(chance, color=DARK, linestyle=":", linewidth=1.2)
    ax.text(1, chance, "chance", transform=ax.get_yaxis_transform(), ha="right", va="bottom")
    shots = sorted(set(draws["n_shots"]))
    if shots[0] > 0:
        ax.set_xscale("log", base=2)
    else:  # a logarithm would drop the point without a word
        ax.set_xscale("symlog", base=2, linthresh=1)
    ax.set_xticks(shots, [str(n) for n in shots])
    ax.minorticks_off()
    ax.set(xlabel="shots (pairs shown before the question)", ylabel=ACCURACY, ylim=(0, 1))
    return ax


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
    _check(frame, ["name", "accuracy", "family"], unique=["name"], also=["std"])
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
        _check(ours, ["name", "accuracy", "low", "high"], unique=["name"])
        rows = len(names) + np.arange(len(ours))
        ax.axhline(len(names) - 0.5, color=DARK, lw=1)
        _intervals(ax, ours, rows, DARK)
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


def _intervals(ax: Axes, frame: pd.DataFrame, rows, colour: str) -> None:
    """Error bars from low to high, centred on their middle: matplotlib takes no negative arm."""
    middle, half = (frame["low"] + frame["high"]) / 2, (frame["high"] - frame["low"]) / 2
    ax.errorbar(
        middle, rows, xerr=half, fmt="none", ecolor=colour, elinewidth=1.5, capsize=2, zorder=5
    )


def _check(
    frame: pd.DataFrame, needed: list[str], *, unique: list[str], also: list[str] = ()
) -> None:
    missing = [name for name in [*needed, *also] if name not in frame.columns]
    if missing:
        raise ValueError(f"the frame lacks the columns {missing}; it needs {[*needed, *also]}")
    if frame.empty:
        raise ValueError("the frame has no rows: there is nothing to draw")
    for name in needed:
        if frame[name].isna().any():
            raise ValueError(f"column {name!r} has a missing value; drop and count such rows first")
    if {"low", "high"} <= set(needed) and (frame["low"] > frame["high"]).any():
        raise ValueError("a row has low above high; an interval needs low <= high")
    twice = frame.duplicated(unique)
    if twice.any():
        where = frame.loc[twice, unique].iloc[0].to_dict()
        raise ValueError(f"{where} occurs twice; each needs one row")
