"""The scorer's prefix tree, the mask in which each token sees its ancestors, and what they save."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from lkecore.figures.base import DARK, PALETTE, check, plain_ticks

# Kinds of nodes of a prefix tree: legend, fill, outline. Line style as well as colour tells them apart.
NODES = {
    "context": ("many tokens", "0.85", "solid"),
    "forwarded": ("goes through the model", "#cfe3f2", "solid"),
    "read": ("only read", "white", "dashed"),
}


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


def cost_lines(costs: pd.DataFrame, axes: np.ndarray, *, facts: int, options: int) -> np.ndarray:
    """Tokens (above) and seconds (below) over the number of facts (left) and of options (right).

    `costs`: one row per `method`, `facts` and `options`, with `tokens` and `seconds`. The left panels have
    the rows with `options` options, the right ones those with `facts` facts; all axes are
    logarithmic. The legend is the figure's. `axes` has shape (2, 2).
    """
    check(
        costs,
        ["method", "facts", "options", "tokens", "seconds"],
        unique=["method", "facts", "options"],
    )
    fixed = {
        "facts": costs[costs["options"] == options],
        "options": costs[costs["facts"] == facts],
    }
    for row, unit in zip(axes, ["tokens", "seconds"], strict=True):
        for ax, (name, points) in zip(row, fixed.items(), strict=True):
            look = {"hue": "method", "style": "method", "markers": True}
            sns.lineplot(points, x=name, y=unit, ax=ax, **look)
            ax.set(xscale="log", yscale="log")
            ticks = sorted(set(points[name]))
            ax.set_xticks(ticks, ticks)
            ax.minorticks_off()
            plain_ticks(ax.yaxis)
            handles, labels = ax.get_legend_handles_labels()
            ax.get_legend().remove()
    figure = axes[0, 0].figure
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    return axes


def _depth_first(root, kids: pd.Series) -> list:
    order, stack = [], [root]
    while stack:
        order.append(stack.pop())
        stack += kids.get(order[-1], [])[::-1]
    return order


def _check_tree(frame: pd.DataFrame) -> None:
    check(frame, ["node", "parent", "label", "kind"], unique=["node"], also=["logprob"])
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
