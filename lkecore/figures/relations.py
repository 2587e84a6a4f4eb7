"""Accuracy by relation, by number of examples, by threshold."""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from lkecore.figures.base import check


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
    name; rows and columns keep the frame's order, or that of their categories. `label` names value and
    unit at the colour bar, or above a map of up to 3 rows, which has none; `limits` fixes the colours'
    range (default: the data's). Two decimals in each cell up to 20 columns. A pair that is not in the
    frame, or NaN, stays white. ValueError for a missing column or a pair that occurs twice.
    """
    check(frame, [index, columns], unique=[index, columns], also=[values])
    plain = frame.astype({index: object, columns: object})
    table = plain.pivot(index=index, columns=columns, values=values)
    table = table.loc[_order(frame[index]), _order(frame[columns])]
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
    ax.grid(visible=False)  # its lines would be seen through white cells
    if not bar:
        ax.set_title(label, loc="left", fontsize="medium")
    rotation = 90 if small else 45 if table.shape[1] > 4 else 0
    ax.tick_params(axis="x", rotation=rotation, labelsize=7 if small else 10)
    ax.tick_params(axis="y", rotation=0, labelsize=7 if small else 10)
    if rotation == 45:
        for text in ax.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")
    return ax


def _order(column: pd.Series) -> list:
    categories = isinstance(column.dtype, pd.CategoricalDtype)
    return list(column.cat.categories if categories else column.unique())
