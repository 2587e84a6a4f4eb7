"""Agreement of models about relations: square maps of r, and the points behind single numbers."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from lkecore.figures.models import accuracy_scatter
from lkecore.figures.relations import heat_map

CELLS = 14  # of more rows than these, each becomes lower


def square_maps(frame: pd.DataFrame) -> Figure:
    """A square map of r for each source, one below the other, with colours from -1 to 1.

    `frame`: source, one, other, r (NaN: white), every two names of a source in both orders, as
    :func:`lkecore.answers.agreement.square` gives them. ValueError for missing columns, no rows or a
    pair that occurs twice.
    """
    sources = frame["source"].unique()
    n = [frame.loc[frame["source"] == source, "one"].nunique() for source in sources]
    fig, axes = plt.subplots(
        len(sources),
        figsize=(8, sum(2.3 + 0.45 * min(each, CELLS) for each in n)),
        height_ratios=[2 + min(each, CELLS) for each in n],
        layout="constrained",
        squeeze=False,
    )
    look = {"index": "one", "columns": "other", "values": "r", "label": "r over relations"}
    for ax, source in zip(axes.flat, sources, strict=True):
        heat_map(frame[frame["source"] == source], ax, **look, limits=(-1, 1))
        ax.set_xlabel(source)
    return fig


def pair_scatters(frame: pd.DataFrame) -> Figure:
    """A panel for each pair of models: the accuracy of one over that of the other, a point a relation.

    `frame`: as :func:`lkecore.figures.models.accuracy_scatter`, and `source` and `kind`, which name the
    panel. Without rows there is one empty panel.
    """
    panels = list(frame.groupby(["source", "kind"], sort=False))
    look = {"figsize": (9, 4), "layout": "constrained", "squeeze": False}
    fig, axes = plt.subplots(1, max(1, len(panels)), **look)
    for ax, ((source, kind), part) in zip(axes.flat, panels, strict=False):
        one, other = part["model"].unique()
        accuracy_scatter(part, ax, x=one, y=other)
        ax.set_title(f"{source}: {kind}", fontsize=9)
    if not panels:
        axes[0, 0].set(title="no pair of models", xticks=[], yticks=[])
    return fig
