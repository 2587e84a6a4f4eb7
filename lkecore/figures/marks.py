"""Marks: estimates with their intervals, whatever they are about; in panels, or as curves with bands."""

import pandas as pd
import seaborn as sns

from lkecore.figures.base import ACCURACY, DARK, MARKERS, MOST_HUES, PALETTE, check


def marks(
    found: pd.DataFrame,
    *,
    x: str,
    hue: str | None = None,
    panel: str | None = None,
    curve: bool = False,
    across: bool = False,
    label: str = ACCURACY,
    wrap: int | None = None,
    height: float = 3.2,
    aspect: float = 1.1,
) -> sns.FacetGrid:
    """Draw ``estimate`` with the interval from ``low`` to ``high`` over ``x``, a mark for each row.

    - ``hue``: a colour and a marker for each value; ``panel``: a panel for each value, ``wrap`` of them side
      by side. All are in the order of the frame, and one legend, outside, serves all.
    - ``across``: the categories are rows, the first on top, which gives long names room. Otherwise marks over
      categories are side by side.
    - ``curve``: ``x`` has numbers, and estimates are lines with bands.
    - ``label``: what was estimated, with its unit.
    - ``height``, ``aspect``: a panel is ``height`` inches high and ``aspect`` times as wide.

    A row without an interval is a mark alone. The grid has ``axes``, by panel in ``axes_dict``, and
    ``figure``. ValueError for a column or an estimate that is missing, and for two rows for one mark.
    """
    split = [name for name in dict.fromkeys([x, hue, panel]) if name]
    check(found, [*split, "estimate"], unique=split, also=["low", "high"])
    if curve and across:
        raise ValueError("a curve goes over numbers from left to right; across is for categories")
    grid = sns.FacetGrid(found, col=panel, col_wrap=wrap, height=height, aspect=aspect)
    xs, hues = list(found[x].unique()), list(found[hue].unique()) if hue else [None]
    beside = [] if hue == x else hues  # where hue is x itself, marks are not shifted
    colours = sns.color_palette(PALETTE, MOST_HUES)
    handles = {}
    for key, ax in (grid.axes_dict or {None: grid.axes.flat[0]}).items():
        of = found if panel is None else found[found[panel] == key]
        for i, name in enumerate(hues):
            part = of if hue is None else of[of[hue] == name]
            look = {"color": colours[i % MOST_HUES] if hue else DARK}
            if curve:
                part = part.sort_values(x)
                at = part[x]
                ax.fill_between(at, part["low"], part["high"], alpha=0.2, lw=0, **look)
            else:
                n = len(beside)
                shift = (beside.index(name) - (n - 1) / 2) * 0.7 / n if beside else 0
                at = part[x].astype(object).map(xs.index).astype(float) + shift
                (ax.hlines if across else ax.vlines)(at, part["low"], part["high"], **look)
            points = (part["estimate"], at) if across else (at, part["estimate"])
            line = "-" if curve else ""
            drawn = ax.plot(*points, MARKERS[i % len(MARKERS)] + line, ms=5, zorder=3, **look)
            handles[name] = drawn[0]
        if curve:
            ax.set_xticks(sorted(xs), sorted(xs))
        elif across:
            ax.set_yticks(range(len(xs)), xs)
            ax.set_ylim(len(xs) - 0.5, -0.5)
        else:
            ax.set_xticks(range(len(xs)), xs)
            ax.set_xlim(-0.5, len(xs) - 0.5)
    grid.set_axis_labels(*((label, "") if across else (x, label)))
    if panel:
        grid.set_titles("{col_name}")
    if len(beside) > 1:
        where = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
        grid.figure.legend(handles.values(), handles, title=hue, frameon=False, **where)
    return grid
