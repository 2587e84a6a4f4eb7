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
# Kinds of nodes of a prefix tree: legend, fill, outline. Line style as well as colour tells them apart.
NODES = {
    "context": ("many tokens", "0.85", "solid"),
    "forwarded": ("goes through the model", "#cfe3f2", "solid"),
    "read": ("only read", "white", "dashed"),
}


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


def prefix_tree(frame: pd.DataFrame, ax: Axes) -> Axes:
    """A prefix tree from left to right, a box for each node, in the order of the frame from the top.

    `frame`: one row per node, parents before children, with `node`, `parent` (the root's is not
    among the nodes), `label`, `kind` (`context`, `forwarded` or `read`) and `logprob`, which stands
    below the label (nats, of this token after all to its left; NaN: none is asked). ValueError for
    missing columns, a node that occurs twice, no node or several without a parent, or another kind.
    """
    _check_tree(frame)
    ends = frame.loc[~frame["node"].isin(frame["parent"]), "node"].tolist()
    kids = frame.groupby("parent", sort=False)["node"].agg(list)
    order = _depth_first(frame["node"].iloc[0], kids)
    leaves = [node for node in order if node in set(ends)]
    row = {node: float(i) for i, node in enumerate(leaves)}
    for node in reversed(order):  # children before parents
        if node not in row:
            row[node] = (row[kids[node][0]] + row[kids[node][-1]]) / 2
    column: dict[object, int] = {}
    for node, parent in zip(frame["node"], frame["parent"], strict=True):
        column[node] = column[parent] + 1 if parent in column else 0
    for each in frame.itertuples():
        x, y = column[each.node], row[each.node]
        if each.parent in column:
            ax.plot([column[each.parent], x], [row[each.parent], y], color="0.5", lw=1, zorder=1)
        _, fill_colour, outline = NODES[each.kind]
        # Rounded first and 0 added, so that no box says -0.00.
        value = "" if pd.isna(each.logprob) else f"\n{round(each.logprob, 2) + 0:.2f}"
        box = {"boxstyle": "round,pad=0.3", "fc": fill_colour, "ec": DARK, "ls": outline}
        look = {"ha": "center", "va": "center", "size": 9, "color": DARK, "bbox": box}
        ax.text(x, y, each.label + value, zorder=2, **look)
    for kind in [kind for kind in NODES if kind in set(frame["kind"])]:
        label, fill_colour, outline = NODES[kind]
        ax.fill([], [], fc=fill_colour, ec=DARK, ls=outline, label=label)
    ax.set(xlim=(-0.5, max(column.values()) + 0.5), ylim=(len(leaves) - 0.4, -0.6))
    ax.axis("off")
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "ncols": 3}
    # A legend wider than the axes would press the tree together.
    ax.legend(frameon=False, fontsize=9, **place)
    return ax


def tree_mask(frame: pd.DataFrame, ax: Axes) -> Axes:
    """Who sees whom when a prefix tree goes through a model in one pass: a grid of nodes.

    `frame` as in :func:`prefix_tree`. A row for each `forwarded` node, a column for each node that is
    not `read`; a cell is filled where the row's node sees the column's: its ancestors and itself.
    """
    _check_tree(frame)
    held = frame[frame["kind"] != "read"]
    asking = held[held["kind"] == "forwarded"]
    above = dict(zip(frame["node"], frame["parent"], strict=True))
    sees = np.zeros((len(asking), len(held)))
    at = {node: i for i, node in enumerate(held["node"])}
    for i, node in enumerate(asking["node"]):
        while node in above:
            sees[i, at[node]] = 1
            node = above[node]
    sns.heatmap(
        sees,
        ax=ax,
        cmap=["white", sns.color_palette(PALETTE)[0]],
        vmin=0,
        vmax=1,
        cbar=False,
        square=True,
        linewidths=0.5,
        linecolor="0.7",
        xticklabels=held["label"].tolist(),
        yticklabels=asking["label"].tolist(),
    )
    ax.tick_params(axis="x", rotation=90, labelsize=9, labeltop=True, labelbottom=False)
    ax.tick_params(axis="y", rotation=0, labelsize=9)
    ax.xaxis.set_label_position("top")
    ax.set(xlabel="what it sees", ylabel="token that goes through the model")
    return ax


def _depth_first(root, kids: pd.Series) -> list:
    order, stack = [], [root]
    while stack:
        order.append(stack.pop())
        stack += kids.get(order[-1], [])[::-1]
    return order


def _check_tree(frame: pd.DataFrame) -> None:
    _check(frame, ["node", "parent", "label", "kind"], unique=["node"], also=["logprob"])
    before: set = set()
    roots = []
    for node, parent in zip(frame["node"], frame["parent"], strict=True):
        if parent not in before:
            roots.append(node)
        before.add(node)
    if len(roots) != 1:
        raise ValueError(f"nodes {roots} have no parent before them; a tree has one such node")
    if strange := sorted(set(frame["kind"]) - set(NODES)):
        raise ValueError(f"kinds {strange}: there are {list(NODES)}")
    read = frame.loc[frame["kind"] == "read", "node"]
    if inner := sorted(set(read) & set(frame["parent"])):
        raise ValueError(f"nodes {inner} are only read, but others hang on them")


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
