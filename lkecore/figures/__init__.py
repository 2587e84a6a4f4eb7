"""Figures: a tidy frame and an axes in, the axes out. Units on the axes, intervals drawn.

Captions are the notebook's. Colours are seaborn's "colorblind" palette, and no figure needs colour
alone to be read.
"""

from lkecore.figures.base import ACCURACY, DARK, MARKERS, PALETTE, plain_ticks, style
from lkecore.figures.marks import marks
from lkecore.figures.names import display_name
from lkecore.figures.page import glue_figure, glue_values, sentence

__all__ = [
    "ACCURACY", "DARK", "MARKERS", "PALETTE",
    "display_name", "glue_values", "marks",
    "glue_figure", "plain_ticks", "sentence", "style",
]  # fmt: skip
