"""What happens along one sequence of pairs."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lkecore.figures.base import DARK, PALETTE, check, nothing

# Role of a pair in a sequence: legend, marker, place in the palette, size.
ROLES = {
    "right": ("other right", "o", 0, 5),
    "behind": ("right, behind replaced", "D", 2, 6),
    "replaced": ("replaced", "x", 3, 5),
}
ONE = ["model", "kind", "arrangement"]  # what tells one sequence from another


def sequence_panel(frame: pd.DataFrame, ax: Axes, *, star: int | None = None) -> Axes:
    """Probability of the object at each position of one sequence, by the role of the pair.

    `frame`: one row per position with `position`, `probability` (0 .. 1) and `role`: `right`,
    `behind` (a right pair that counts as a neighbour of replaced ones) or `replaced`. Colour and
    marker tell roles apart; the dashed line is the mean of the `right` ones. `star`: a position that
    gets a star on top of its mark. ValueError for missing columns or values, a position that occurs
    twice, another role, or a star where there is no position.
    """
    check(frame, ["position", "probability", "role"], unique=["position"])
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


def sequence_columns(frame: pd.DataFrame, fig: Figure) -> None:
    """Five :func:`sequence_panel` for each model, one below the other; two models side by side.

    `frame`: as there, with `model`, and `kind` and `arrangement` that tell its sequences apart, in the
    order of the panels; `state` is `right` or `replaced`. The star is the first position behind the
    replaced block that is right in all five. `fig` gets its size here. ValueError as there, and for a
    model without five sequences. Without models it says that there is nothing to show.
    """
    if frame.empty:
        return nothing(fig)
    check(frame, ["model", "kind", "arrangement", "position", "state"], unique=[*ONE, "position"])
    models = frame["model"].unique().tolist()
    n_bands = -(-len(models) // 2)
    fig.set_layout_engine("constrained")
    fig.set_size_inches(5 if len(models) == 1 else 9, 0.6 + 8.4 * n_bands)
    bands = fig.subfigures(n_bands, min(2, len(models)), squeeze=False).flat
    for band, model in zip(bands, models, strict=False):
        axes = band.subplots(5, sharex=True, sharey=True)
        five = frame[frame["model"] == model]
        gone = five.loc[five["state"] == "replaced", ["arrangement", "position"]]
        last = gone.loc[gone["arrangement"] == "block", "position"].max()
        right = set(five["position"]) - set(gone["position"])
        star = min(position for position in right if position > last)
        panels = five.groupby(["kind", "arrangement"], sort=False)
        for ax, ((kind, where), part) in zip(axes, panels, strict=True):
            sequence_panel(part, ax, star=star)
            name = kind if kind == "clean" else f"{kind}, {where}"
            ax.set_title(f"{model}: {name}", fontsize="medium", loc="left")
            ax.set(xlabel="", ylabel="P(object)")
        ax.set_xlabel("position in the sequence")
    handles = axes[1].get_legend_handles_labels()
    fig.legend(*handles, loc="outside upper center", ncols=3, frameon=False)


def reach_panels(reach: pd.DataFrame, changes: pd.DataFrame) -> Figure:
    """A :func:`change_by_distance` for each model (a row) and estimator (a column).

    `reach` is what is drawn: as there, with `model` and `estimator`. `changes` says which panels there
    are, and the level in their titles: `model`, `estimator`, `pairs` and `without`, the mean probability
    of these pairs without replacement. Without any `reach` the figure says that there is nothing to
    show. ValueError as there.
    """
    if reach.empty:
        nothing(fig := plt.figure())
        return fig
    models, labels = (list(dict.fromkeys(changes[name])) for name in ("model", "estimator"))
    ticks = list(dict.fromkeys(reach["at"]))
    ticks.sort(key=lambda at: (at.startswith("block"), len(at), at))
    size = 1 + 4.5 * len(labels), 0.8 + 2.5 * len(models)
    grid = dict(squeeze=False, sharex=True, sharey=True, layout="constrained")
    fig, axes = plt.subplots(len(models), len(labels), figsize=size, **grid)
    for (model, label), part in reach.groupby(["model", "estimator"], sort=False):
        ax = axes[models.index(model), labels.index(label)]
        change_by_distance(part, ax, ticks=ticks)
        handles = ax.get_legend_handles_labels()
        of = changes[(changes["model"] == model) & (changes["estimator"] == label)]
        level = (of["without"] * of["pairs"]).sum() / of["pairs"].sum()
        ax.set_title(f"{model}, {label}: level {level:.2f}", fontsize="medium")
        ax.set(xlabel="", ylabel="change" if label == labels[0] else "")
    for ax in axes[-1]:
        ax.set_xlabel("distance behind the last replaced pair")
    fig.legend(*handles, loc="outside upper center", ncols=4, frameon=False)
    return fig


def change_by_distance(
    frame: pd.DataFrame, ax: Axes, *, ticks: list[str], limits: tuple[float, float] = (-0.6, 0.6)
) -> Axes:
    """Change of right pairs by their distance behind a replaced one: marks with intervals.

    `frame`: one row per place and kind with `at` (one of `ticks`, the names along the axis; those
    that begin with "block" stand apart), `kind`, `change` (ratio minus 1), `low` and `high`. What
    lies outside of `limits` is drawn at the edge as an arrow. Dotted: a tenth to either side.
    ValueError for missing columns or values, a row that occurs twice, or a place not in `ticks`.
    """
    check(frame, ["at", "kind", "change", "low", "high"], unique=["at", "kind"])
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
