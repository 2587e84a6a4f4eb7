"""What estimators find of facts that a text told, and of facts that it told wrongly."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from numpy.typing import NDArray

from lkecore.answers.lab import WRITTEN
from lkecore.figures.base import DARK, PALETTE, check

SHAPES = "osD^vPX*"  # one for each colour that can be told from the others


def told_lines(
    frame: pd.DataFrame,
    axes: NDArray[Any],
    *,
    forms: Sequence[str],
    estimators: Sequence[str],
    rows: Sequence[str] = (),
    value: str = "accuracy",
    dotted: float,
    dashed: float | None = None,
    aside: float = 0.0,
) -> None:
    """A line for each estimator over exposures, with intervals; an axes for each form of telling.

    ``frame``: a row for each ``form``, ``estimator`` and ``exposures``, with ``value``, ``low`` and
    ``high``, of one model, or of several with ``rows``, the models in their order. ``axes`` have a row
    for each model and a column for each form. Exposures stand in even steps. The form "none", of facts
    that were never told, stands in all columns. The place of an estimator among ``estimators`` gives
    colour, marker and, in steps of ``aside``, a shift to the right; a dashed line with the same look is
    what is "written-" after its prompt. ``dotted`` and ``dashed`` are heights of lines across, such as
    chance. The legend stands above. ValueError for missing columns or values, a row that occurs twice,
    more estimators than markers, or one that has no place.
    """
    keys = [*(["model"] if rows else []), "form", "estimator", "exposures"]
    check(frame, [*keys, value, "low", "high"], unique=keys)
    if len(estimators) > len(SHAPES):
        raise ValueError(f"{len(estimators)} estimators; there are markers for {len(SHAPES)}")
    levels = sorted(set(frame["exposures"]))
    names = list(frame["estimator"].unique())
    if others := {name.removeprefix(WRITTEN) for name in names} - set(estimators):
        raise ValueError(f"estimators {sorted(others)} have no place among {list(estimators)}")
    for i, j in np.ndindex(axes.shape):
        ax = axes[i, j]
        of_row = frame[frame["model"] == rows[i]] if rows else frame
        here = of_row[of_row["form"].isin([forms[j], "none"])].sort_values("exposures")
        for name in names:
            n = list(estimators).index(name.removeprefix(WRITTEN))
            part = here[here["estimator"] == name]
            at = part["exposures"].map(levels.index) + (n - (len(estimators) - 1) / 2) * aside
            look = {"color": sns.color_palette(PALETTE)[n], "marker": SHAPES[n], "markersize": 5}
            style = "--" if name.startswith(WRITTEN) else "-"
            ax.plot(at, part[value], linestyle=style, lw=1.2, label=name, **look)
            ax.vlines(at, part["low"], part["high"], color=look["color"], alpha=0.5, lw=1)
        ax.axhline(dotted, color=DARK, linestyle="dotted", lw=1)
        if dashed is not None:
            ax.axhline(dashed, color=DARK, linestyle="dashed", lw=0.8)
        ax.set_xticks(range(len(levels)), levels)
        ax.set_title(f"{rows[i]}, told: {forms[j]}" if rows else f"told: {forms[j]}", fontsize=9)
    figure = axes[0, 0].figure
    figure.supxlabel("exposures", fontsize="medium")
    if rows:
        figure.supylabel(value, fontsize="medium")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=5, frameon=False)


def told_or_true(frame: pd.DataFrame, axes: Sequence[Axes], *, chance: float) -> None:
    """Bars of how many answers repeat what was told and how many are true; an axes for each model.

    ``frame``: a row for each ``model``, ``estimator`` and ``answer`` ("told" or "true"), with ``share``,
    ``low`` and ``high``. Axes that no model needs are left empty. ValueError for missing columns or
    values, a row that occurs twice, or fewer axes than models. Without rows nothing is drawn.
    """
    for ax in axes:
        ax.set_axis_off()
    if frame.empty:
        return
    keys = ["model", "estimator", "answer"]
    check(frame, [*keys, "share", "low", "high"], unique=keys)
    models = list(frame["model"].unique())
    if len(models) > len(axes):
        raise ValueError(f"{len(models)} models and {len(axes)} axes; each model needs one")
    names = list(frame["estimator"].unique())
    for ax, model in zip(axes, models, strict=False):
        ax.set_axis_on()
        for n, answer in enumerate(("told", "true")):
            part = frame[(frame["model"] == model) & (frame["answer"] == answer)]
            at = part["estimator"].map(names.index) + 0.4 * n - 0.2
            colour = sns.color_palette(PALETTE)[n]
            ax.barh(at, part["share"], height=0.38, color=colour, label=answer)
            ax.hlines(at, part["low"], part["high"], color=DARK, lw=1)
        ax.axvline(chance, color=DARK, linestyle="--", lw=1)
        ax.set_yticks(range(len(names)), names)
        ax.set(xlim=(0, 1), ylim=(len(names) - 0.4, -0.6), title=model, xlabel="share of facts")
    axes[0].legend(loc="lower right", title="answer")
