"""Stats: a frame of answers goes in, numbers with intervals come out. Resample once, and go on in pandas.

Functions return frames with ``estimate``, ``low`` and ``high``, or resamples, from which ``interval`` makes
such frames. Sums, differences, ratios, spreads and minima of resamples are plain pandas before that step.
Selections from a column are plain pandas after it. A missing value is refused by name, and never left out
silently. An end of an interval that is not known is NaN.

:mod:`~lkecore.stats.choice`, :mod:`~lkecore.stats.rules`, :mod:`~lkecore.stats.sequence` and
:mod:`~lkecore.stats.shift` make the numbers of one question: pure functions on arrays, whose axes are fact,
option and token, in this order.
"""

from lkecore.stats.estimate import compare, estimate, format_estimate, minus, table
from lkecore.stats.order import auroc, relate
from lkecore.stats.resample import bootstrap, interval

__all__ = [
    "auroc", "bootstrap", "compare", "estimate", "interval", "minus", "relate", "format_estimate", "table",
]  # fmt: skip
