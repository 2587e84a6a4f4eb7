"""What all figures share: their look, and the checks of their frames."""

import sys

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

PALETTE = "colorblind"
DARK = "#222222"
MARKERS = "os^v"  # 4 markers over 9 colours: no two of 36 families look the same
ACCURACY = "accuracy (share of test facts)"


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


def draw_intervals(ax: Axes, frame: pd.DataFrame, rows, colour: str) -> None:
    """Error bars from low to high, centred on their middle: matplotlib takes no negative arm."""
    middle, half = (frame["low"] + frame["high"]) / 2, (frame["high"] - frame["low"]) / 2
    ax.errorbar(
        middle, rows, xerr=half, fmt="none", ecolor=colour, elinewidth=1.5, capsize=2, zorder=5
    )


def check(
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
