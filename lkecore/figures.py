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
BEHIND = ("white", "#f9ddd2", "#d6e5f5")  # of blocks of rows: none, reddish, bluish
OTHER_MODEL = "this book, other data and other model"
# Kinds of nodes of a prefix tree: legend, fill, outline. Line style as well as colour tells them apart.
NODES = {
    "context": ("many tokens", "0.85", "solid"),
    "forwarded": ("goes through the model", "#cfe3f2", "solid"),
    "read": ("only read", "white", "dashed"),
}
# Role of a pair in a sequence: legend, marker, place in the palette, size.
ROLES = {
    "right": ("other right", "o", 0, 5),
    "behind": ("right, behind replaced", "D", 2, 6),
    "replaced": ("replaced", "x", 3, 5),
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


def threshold_curve(frame: pd.DataFrame, ax: Axes, *, hue: str = "format", few: int = 20) -> Axes:
    """Accuracy of the answers above a threshold of confidence, over the threshold, with intervals.

    `frame`: one row per threshold and hue, in rising order, with `threshold`, `hue`, `n` (answers
    above it), `accuracy`, `low` and `high`. Marks of fewer than `few` answers are pale and joined by
    a thin line; where there is no answer there is no mark. ValueError for missing columns, a pair
    that occurs twice, or an accuracy without an interval.
    """
    _check(frame, ["threshold", hue, "n"], unique=["threshold", hue], also=["accuracy"])
    drawn = frame[frame["n"] > 0]
    if len(drawn):
        _check(drawn, ["accuracy", "low", "high"], unique=["threshold", hue])
    hues = frame[hue].unique().tolist()
    for number, label in enumerate(hues):
        part = drawn[drawn[hue] == label]
        colour = sns.color_palette(PALETTE, len(hues))[number]
        ax.plot(part["threshold"], part["accuracy"], color=colour, lw=0.8, alpha=0.5)
        many = part["n"] >= few
        for which, alpha in ((part[~many], 0.3), (part[many], 1.0)):
            look = {"color": colour, "alpha": alpha}
            ax.vlines(which["threshold"], which["low"], which["high"], lw=1.2, **look)
            # The full marks come last, even if there are none, so that each line has its name once.
            name = label if alpha == 1 else None
            marks = f"{MARKERS[number % len(MARKERS)]}-"
            ax.plot(which["threshold"], which["accuracy"], marks, lw=2 * alpha, label=name, **look)
    ax.set(xlim=(-0.03, 1.03), ylim=(0, 1.02))
    ax.set(xlabel="threshold K of the confidence", ylabel="share right of answers above K")
    ax.legend(frameon=False)
    return ax


def subsumption_dots(frame: pd.DataFrame, ax: Axes) -> Axes:
    """Subsumption rates, first row on top, each beside what independent answers would give.

    `frame`: one row each with `name`, `eta`, `low` and `high` (NaN: without an interval),
    `independent` (the accuracy of the larger or base model: eta of two models that are right
    independently of each other), all shares in 0 .. 1, and `ours` (bool): dark diamonds and bold
    names, beside the circles of published ones. ValueError for missing columns or values, or a name
    that occurs twice.
    """
    _check(frame, ["name", "eta", "independent", "ours"], unique=["name"], also=["low", "high"])
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
    _intervals(ax, frame[bounded], rows[bounded], DARK)
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
    _check(frame, ["name", pair, "accuracy"], unique=["name", pair], also=["low", "high"])
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
    _intervals(ax, bounded, rows, DARK)
    ax.set(xlim=(0, 1), xlabel=ACCURACY, ylabel="")
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2}
    ax.legend(frameon=False, **place)
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


def separator_bars(frame: pd.DataFrame, ax: Axes, *, chance: float) -> Axes:
    """Horizontal bars of accuracy by what stands between subject and object (IC-F4), with intervals.

    `frame`: one row per `words` and `shots` (a label such as "50 shots" or "none", the hue), with
    `kind`, `accuracy`, `low`, `high`, shares of test facts in 0 .. 1. Rows keep their order, first on
    top. A `kind` is a block of rows: the first has no background, the second a reddish, the third a
    bluish one, as in the paper's figure; its name stands to the right. `chance`: a dashed line.
    ValueError for missing columns or values, a pair that occurs twice, a kind whose rows stand apart,
    or more than three kinds.
    """
    _check(frame, ["words", "shots", "kind", "accuracy", "low", "high"], unique=["words", "shots"])
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
    _intervals(ax, frame, frame["words"].map(order.index) + offset, DARK)
    ax.axvline(chance, color=DARK, ls="dashed", lw=1.5, label="chance")
    ax.set(xlim=(0, 1), ylim=(len(order) - 0.5, -0.5), xlabel=ACCURACY, ylabel="")
    ax.grid(False, axis="y")
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(*ax.get_legend_handles_labels(), ncols=4, frameon=False, **place)
    return ax


def interval_marks(
    frame: pd.DataFrame, ax: Axes, *, x: str, hue: str, y: str, hue_order: list[str]
) -> Axes:
    """Marks with intervals above the values of `x`, a colour and a marker for each `hue`, side by side.

    `frame`: one row per `x` and `hue`, with `y`, `low`, `high`, in one unit; where it has a column
    `ringed` (bool), such marks have a ring. `x` keeps its order in the frame. `hue_order` names all
    hues, also those that this frame lacks: so several axes have the same colours. ValueError for
    missing columns or values, a pair that occurs twice, or a hue that is not in `hue_order`.
    """
    _check(frame, [x, hue, y, "low", "high"], unique=[x, hue])
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


def sequence_panel(frame: pd.DataFrame, ax: Axes, *, star: int | None = None) -> Axes:
    """Probability of the object at each position of one sequence, by the role of the pair.

    `frame`: one row per position with `position`, `probability` (0 .. 1) and `role`: `right`,
    `behind` (a right pair that counts as a neighbour of replaced ones) or `replaced`. Colour and
    marker tell roles apart; the dashed line is the mean of the `right` ones. `star`: a position that
    gets a star on top of its mark. ValueError for missing columns or values, a position that occurs
    twice, another role, or a star where there is no position.
    """
    _check(frame, ["position", "probability", "role"], unique=["position"])
    if strange := sorted(set(frame["role"]) - set(ROLES)):
        raise ValueError(f"roles {strange}: there are {list(ROLES)}")
    if star is not None and star not in set(frame["position"]):
        raise ValueError(f"star {star}: the sequence has no such position")
    colours = sns.color_palette(PALETTE)
    for role, (label, marker, number, size) in ROLES.items():
        part = frame[frame["role"] == role]
        look = {"color": colours[number], "ms": size, "ls": "none", "mew": 1.4, "label": label}
        # A rim on crosses would be their colour.
        look |= {} if marker == "x" else {"mec": "white", "mew": 0.4}
        ax.plot(part["position"], part["probability"], marker, **look)
    mean = frame.loc[frame["role"] == "right", "probability"].mean()
    ax.axhline(mean, color=DARK, ls="dashed", lw=1.2, label="mean of other right")
    if star is not None:
        at = frame.loc[frame["position"] == star, "probability"]
        look = {"color": "#ffd92f", "mec": DARK, "ms": 13, "mew": 1, "ls": "none"}
        ax.plot([star], at, "*", label="same pair in all", zorder=5, **look)
    ax.set(
        ylim=(-0.04, 1.04), xlabel="position in the sequence", ylabel="probability of the object"
    )
    return ax


def change_by_distance(
    frame: pd.DataFrame, ax: Axes, *, ticks: list[str], limits: tuple[float, float] = (-0.6, 0.6)
) -> Axes:
    """Change of right pairs by their distance behind a replaced one: marks with intervals.

    `frame`: one row per place and kind with `at` (one of `ticks`, the names along the axis; those
    that begin with "block" stand apart), `kind`, `change` (ratio minus 1), `low` and `high`. What
    lies outside of `limits` is drawn at the edge as an arrow. Dotted: a tenth to either side.
    ValueError for missing columns or values, a row that occurs twice, or a place not in `ticks`.
    """
    _check(frame, ["at", "kind", "change", "low", "high"], unique=["at", "kind"])
    if strange := sorted(set(frame["at"]) - set(ticks)):
        raise ValueError(f"places {strange}: the axis has {ticks}")
    in_block = np.array([name.startswith("block") for name in ticks])
    # Names of blocks are longer, and get more room.
    where = dict(zip(ticks, np.cumsum(1 + 0.6 * in_block), strict=True))
    kinds = frame["kind"].unique().tolist()
    bottom, top = limits
    for number, kind in enumerate(kinds):
        part = frame[frame["kind"] == kind]
        x = part["at"].map(where) + (number - (len(kinds) - 1) / 2) * 0.3
        colour = sns.color_palette(PALETTE)[number]
        ax.vlines(x, part["low"].clip(*limits), part["high"].clip(*limits), color=colour, lw=1.5)
        for sign, inside in (
            ("v", part["change"] < bottom),
            ("^", part["change"] > top),
            ("os"[number % 2], part["change"].between(*limits)),
        ):
            label = kind if sign in "os" else None
            y = part.loc[inside, "change"].clip(*limits)
            ax.plot(x[inside], y, sign, color=colour, ms=6, label=label)
    ax.axhline(0, color=DARK, lw=1)
    for edge in (-0.1, 0.1):
        ax.axhline(edge, color=DARK, ls="dotted", lw=1)
    if in_block.any() and not in_block.all():
        ax.axvline(where[ticks[int(in_block.argmax())]] - 0.8, color="0.6", lw=1)
    names = [name.replace("block ", "block\n") for name in ticks]
    ax.set_xticks([where[name] for name in ticks], names, fontsize=9)
    ax.grid(False, axis="x")
    ax.set(ylim=(bottom * 1.05, top * 1.05), ylabel="change (ratio minus 1)")
    return ax
