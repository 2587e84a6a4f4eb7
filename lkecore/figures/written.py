"""What models wrote beside what they ranked."""

from collections.abc import Sequence

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from lkecore.figures.base import DARK, PALETTE, check

WIDTH = 0.8  # of the bars of one kind together


def written_bars(frame: pd.DataFrame, ax: Axes, *, bars: Sequence[str], mark: str) -> Axes:
    """Horizontal bars of some measures for each kind of prompt, and a white-rimmed mark of one more.

    `frame`: one row for each `kind` and `measure` with `share`, `low` and `high`, in 0 .. 1, first kind
    on top; `bars` are the measures drawn as bars with intervals, `mark` the one that is marked at the
    first bar. ValueError for missing columns or values, or a row that occurs twice.
    """
    check(frame, ["kind", "measure", "share", "low", "high"], unique=["kind", "measure"])
    part = frame[frame["measure"].isin(list(bars))]
    kinds, each = part["kind"].unique().tolist(), WIDTH / len(bars)
    where = {"x": "share", "y": "kind", "order": kinds, "orient": "h", "width": WIDTH}
    look = {"hue": "measure", "hue_order": list(bars), "errorbar": None}
    look |= {"palette": sns.color_palette(PALETTE, len(bars))}
    sns.barplot(part, **where, **look, ax=ax)
    top = -WIDTH / 2 + each / 2  # of a kind's place, the middle of its first bar
    rows = part["kind"].map(kinds.index) + part["measure"].map(list(bars).index) * each + top
    ax.hlines(rows, part["low"], part["high"], color=DARK, lw=1.5)
    marked = frame[frame["measure"] == mark]
    place = marked["kind"].map(kinds.index)
    for color, lw in (("white", 5), (DARK, 2)):
        ax.vlines(marked["share"], place - WIDTH / 2, place - WIDTH / 2 + each, color=color, lw=lw)
    ax.set(xlim=(0, 1), xlabel="share of facts", ylabel="")
    return ax
