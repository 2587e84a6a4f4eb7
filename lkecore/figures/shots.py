"""Curves over the number of shots, a panel for each model."""

from collections.abc import Mapping

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from lkecore.figures.base import nothing
from lkecore.figures.relations import shots_curve

ACROSS = 3  # panels side by side


def shots_panels(
    draws: pd.DataFrame, points: pd.DataFrame, *, titles: Mapping[tuple[str, str], str]
) -> Figure:
    """A :func:`lkecore.figures.relations.shots_curve` for each source and model, three side by side.

    ``draws`` and ``points`` as :func:`lkecore.answers.shots.by_draw` and
    :func:`lkecore.answers.shots.points` give them by source, model and estimator; a panel for each
    (source, model) of ``points``, in its order, with its own line of chance. The dashed line is left
    out where a model is at chance. ``titles`` name panels; others have model and source. Without
    points there is a figure that says so. ValueError as there.
    """
    panels = list(points.groupby(["source", "model"], sort=False))
    if not panels:
        nothing(fig := plt.figure())
        return fig
    across, down = min(ACROSS, len(panels)), -(-len(panels) // ACROSS)
    look = {"sharey": True, "squeeze": False, "layout": "constrained"}
    fig, axes = plt.subplots(down, across, figsize=(5.5 + 1.5 * across, 0.5 + 4 * down), **look)
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    for ax, (key, part) in zip(axes.flat, panels, strict=False):
        drawn = draws[(draws["source"] == key[0]) & (draws["model"] == key[1])]
        part = part.assign(needed=part["needed"].mask(part["at_chance"].astype(bool)))
        shots_curve(drawn, part, ax, chance=part["chance"].iloc[0])
        ax.set_title(titles.get(key, f"{key[1]}, {key[0]}"), fontsize="medium")
        spoken = ax.get_xlabel()
        ax.set_xlabel("")  # once for all panels, which are narrow
    fig.supxlabel(spoken, fontsize="medium")
    return fig
