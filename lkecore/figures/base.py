"""The style that all figures share, and the checks of their frames."""

import sys
import warnings

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.scale import LogScale, SymmetricalLogScale, register_scale
from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, NullFormatter

from lkecore.answers.show import labelled, labels

PALETTE = "colorblind"
DARK = "#222222"
MOST_HUES = 9  # colours that readers can distinguish
MARKERS = "os^v"  # 4 markers over 9 colours: no two of 36 families look the same
ACCURACY = "accuracy (share of test facts)"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def style() -> None:
    """Set the book's style; call it once, at the top of a notebook.

    The background is white with a white grid (so that dark pages stay legible) and the palette colour-blind.
    Figures are SVG with letters as paths (the same on every machine), fixed ids and no date (the same bytes
    each time). Inside IPython it also makes SVG the inline format, and shows labels in frames.

    Names in figures and tables are text of other people: a $ in them begins no formula, in figures
    and in frames that a notebook shows. Powers on a logarithmic axis, which are formulas in matplotlib,
    become plain text.
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
            "text.parse_math": False,
        },
    )
    # About letters that the font lacks; :func:`lkecore.figures.glue_figure` finds another font, or a number.
    warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
    register_scale(_Log)
    register_scale(_SymmetricalLog)
    pd.set_option("display.html.use_mathjax", False)
    ipython = sys.modules.get("IPython")  # not imported means not running inside it
    if ipython is not None and ipython.get_ipython() is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None})
        if labels():
            as_html = ipython.get_ipython().display_formatter.formatters["text/html"]
            as_html.for_type(pd.DataFrame, lambda frame: labelled(frame)._repr_html_())


def nothing(fig: Figure) -> None:
    """Write into an empty figure that this run has nothing to show there."""
    fig.set_size_inches(5.5, 1)
    words = "there is nothing to show here in this run"
    fig.text(0.5, 0.5, words, ha="center", va="center")


def plain_ticks(axis: Axis) -> None:
    """Labels such as 0.1, 1,000 and 10⁶ at the powers of ten of a logarithmic axis, as plain text."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: _power(value)))
    axis.set_minor_formatter(NullFormatter())


class _Powers(LogFormatterSciNotation):
    """Labels at matplotlib's own places, as plain text."""

    def __call__(self, value: float, pos: int | None = None) -> str:
        return _power(value) if super().__call__(value, pos) else ""


class _Log(LogScale):
    def __init__(self, *args, **words) -> None:  # with an axis or not, by the version of matplotlib
        super().__init__(*args, **words)

    def set_default_locators_and_formatters(self, axis: Axis) -> None:
        super().set_default_locators_and_formatters(axis)
        axis.set_major_formatter(_Powers(self.base))
        axis.set_minor_formatter(_Powers(self.base, labelOnlyBase=self.subs is not None))


class _SymmetricalLog(SymmetricalLogScale):
    def __init__(self, *args, **words) -> None:
        super().__init__(*args, **words)

    def set_default_locators_and_formatters(self, axis: Axis) -> None:
        super().set_default_locators_and_formatters(axis)
        axis.set_major_formatter(_Powers(self.base))


def _power(value: float) -> str:
    exponent = round(np.log10(value)) if value > 0 else 0
    if -4 < exponent < 5 or not np.isclose(value, 10.0**exponent):
        return f"{value:,.10g}"
    return "10" + str(exponent).translate(RAISED)


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
