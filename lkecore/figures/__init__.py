"""Figures: a tidy frame and an axes in, the axes out. Units on the axes, intervals drawn.

Captions are the notebook's. Colours are seaborn's "colorblind" palette, and no figure needs colour
alone to be read.
"""

from lkecore.figures.base import ACCURACY, DARK, MARKERS, PALETTE, style
from lkecore.figures.doses import dose_lines
from lkecore.figures.formats import interval_marks, separator_bars
from lkecore.figures.models import (
    OTHER_MODEL,
    accuracy_scatter,
    paired_bars,
    published_dots,
    subsumption_dots,
)
from lkecore.figures.relations import accuracy_bars, heat_map, shots_curve, threshold_curve
from lkecore.figures.sequence import change_by_distance, sequence_columns, sequence_panel
from lkecore.figures.tree import prefix_tree, tree_mask

__all__ = [
    "ACCURACY",
    "DARK",
    "MARKERS",
    "OTHER_MODEL",
    "PALETTE",
    "accuracy_bars",
    "accuracy_scatter",
    "change_by_distance",
    "dose_lines",
    "heat_map",
    "interval_marks",
    "paired_bars",
    "prefix_tree",
    "published_dots",
    "separator_bars",
    "sequence_columns",
    "sequence_panel",
    "shots_curve",
    "style",
    "subsumption_dots",
    "threshold_curve",
    "tree_mask",
]
