"""Claims that are judged in several worlds: each statistic beside the bound that it must pass."""

from textwrap import fill

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from lkecore.figures.base import DARK, MARKERS, MOST_HUES, PALETTE, check

FILLED = {"holds": True, "undecided": False, "fails": False}


def claim_marks(frame: pd.DataFrame, ax: Axes, *, width: int = 52) -> Axes:
    """A row for each claim, a mark with its interval for each world, and the side on which it holds.

    `frame`: a row for each `claim` and `world` with `estimate`, `low`, `high`, `verdict`, `direction` and
    `least_effect`, in the unit of the claim. Worlds have colours and markers: filled where the claim holds,
    open where it is undecided, crossed out where it fails. A grey band covers the values for which a claim
    does not hold: those up to its least effect ("greater"), from it on ("less"), or beyond it on both
    sides ("equal"). Names of claims are broken into lines of `width` letters. ValueError for missing
    columns or values, a pair that occurs twice, or more worlds than colours.
    """
    needed = ["claim", "world", "estimate", "low", "high", "verdict", "direction", "least_effect"]
    check(frame, needed, unique=["claim", "world"])
    claims, worlds = frame["claim"].unique().tolist(), sorted(frame["world"].unique())
    if len(worlds) > MOST_HUES:
        raise ValueError(f"{len(worlds)} worlds; there are colours for {MOST_HUES}")
    left, right = min(0.0, frame["low"].min()) - 0.05, max(1.0, frame["high"].max()) + 0.05
    for at, claim in enumerate(claims):
        first = frame[frame["claim"] == claim].iloc[0]
        for start, end in _outside(first["direction"], first["least_effect"], left, right):
            ax.fill_betweenx([at - 0.42, at + 0.42], start, end, color="0.9", lw=0, zorder=0)
    for n, world in enumerate(worlds):
        part = frame[frame["world"] == world]
        at = part["claim"].map(claims.index) + 0.22 * (n - (len(worlds) - 1) / 2)
        colour = sns.color_palette(PALETTE, 9)[n]
        ax.hlines(at, part["low"], part["high"], color=colour, lw=1.8)
        for verdict, is_filled in FILLED.items():
            these = part["verdict"] == verdict
            look = {"color": colour, "mfc": colour if is_filled else "white", "ms": 7, "ls": "none"}
            ax.plot(part.loc[these, "estimate"], at[these], MARKERS[n], **look)
            if verdict == "fails":
                ax.plot(part.loc[these, "estimate"], at[these], "x", color=DARK, ms=7, ls="none")
    ax.set_yticks(range(len(claims)), [fill(claim, width) for claim in claims], fontsize="small")
    ax.set(xlim=(left, right), ylim=(len(claims) - 0.45, -0.55), xlabel="statistic of the claim")
    ax.grid(False, axis="y")
    marks = [
        Line2D([], [], color=colour, marker=MARKERS[n], label=world)
        for n, (world, colour) in enumerate(zip(worlds, sns.color_palette(PALETTE), strict=False))
    ]
    ax.figure.legend(handles=marks, loc="outside upper center", ncols=4, frameon=False)
    return ax


def _outside(direction: str, effect: float, left: float, right: float) -> list[tuple[float, float]]:
    """Where, from `left` to `right`, a claim does not hold."""
    bounds = {"greater": (effect, np.inf), "less": (-np.inf, effect), "equal": (-effect, effect)}
    low, high = bounds[direction]
    return [each for each in ((left, low), (high, right)) if each[0] < each[1]]
