"""Figures: a tidy frame and an axes in, the axes out. Units on the axes, intervals drawn.

Captions are the notebook's. Colours are seaborn's "colorblind" palette, and no figure needs colour
alone to be read.
"""

from lkecore.figures.agreement import pair_scatters, square_maps
from lkecore.figures.base import ACCURACY, DARK, MARKERS, PALETTE, plain_ticks, style
from lkecore.figures.blanks import (
    move_lines,
    rank_panels,
)
from lkecore.figures.board import board_dots, board_matrices
from lkecore.figures.confidence import kept_lines, over_options, panels, reliability
from lkecore.figures.doses import dose_lines, dose_panels, size_summaries
from lkecore.figures.formats import interval_marks, interval_panels
from lkecore.figures.marks import marks
from lkecore.figures.models import (
    accuracy_scatter,
)
from lkecore.figures.names import called
from lkecore.figures.page import Note, findings, note, place
from lkecore.figures.relations import heat_map, threshold_curve
from lkecore.figures.told import told_lines, told_or_true
from lkecore.figures.tree import cost_lines, prefix_tree, tree_mask
from lkecore.figures.written import written_bars, written_by_model

__all__ = [
    "ACCURACY", "DARK", "MARKERS", "Note", "PALETTE",
    "accuracy_scatter", "board_dots", "board_matrices", "called",
    "cost_lines", "dose_lines", "dose_panels", "findings",
    "heat_map", "interval_marks", "interval_panels", "kept_lines", "marks", "move_lines", "note",
    "over_options", "pair_scatters", "panels", "place", "plain_ticks", "prefix_tree",
    "rank_panels", "reliability",
    "size_summaries", "square_maps", "style",
    "threshold_curve", "told_lines", "told_or_true", "tree_mask", "written_bars",
    "written_by_model",
]  # fmt: skip
