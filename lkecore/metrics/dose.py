"""Dose and response: how often must a text tell a fact until a model gives it back?

The dose is the number of exposures, the response the share of facts that are answered rightly. It
rises from chance, for facts that were never told, to some ceiling, which need not be 1.
"""

import numpy as np
from numpy.typing import ArrayLike


def exposures_needed(exposures: ArrayLike, accuracy: ArrayLike, share: float = 0.5) -> float:
    """The number of exposures at which `share` of the facts are answered rightly.

        needed = least x with curve(x) >= share

    `exposures` rise strictly from 1 or more, `accuracy` in [0, 1] belongs to them; both (dose,),
    with equally many facts behind each. The curve runs through the accuracies, straight lines over
    log2(exposures). Where the accuracy falls from one dose to the next, it is levelled first by
    least squares (isotonic regression), since being told more often makes no fact forgotten. The
    result lies between two doses, in exposures. It is infinite where the curve never gets there:
    more than the largest dose are needed. Where the smallest dose is enough, it is that dose, and
    means "so many or fewer". Lower is better.

    For an interval give the ends of the accuracies' intervals: the upper ends lead to its low end,
    the lower ends to its high one. It then holds every dose at which `share` lies in the interval
    of the accuracy, whatever the shape of a curve that rises.

    Raises ValueError for doses that do not rise or are below 1, accuracies outside [0, 1] or
    missing, other shapes, none, or a share outside (0, 1].

    >>> exposures_needed([1, 4, 16], [0.0, 0.25, 0.75])  # half-way from 4 to 16, in doublings
    8.0
    >>> exposures_needed([1, 4, 16], [0.0, 0.1, 0.3])
    inf
    """
    doses = np.asarray(exposures, dtype=np.float64)
    found = np.asarray(accuracy, dtype=np.float64)
    if doses.ndim != 1 or doses.shape != found.shape or not len(doses):
        raise ValueError(
            f"exposures {doses.shape} and accuracy {found.shape} must be lists of one length"
        )
    if not (np.isfinite(doses).all() and doses[0] >= 1 and (np.diff(doses) > 0).all()):
        raise ValueError(f"exposures must rise from 1 or more, found {doses.tolist()}")
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"accuracy must be in [0, 1], found {found.tolist()}")
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, found {share}")
    from scipy.optimize import isotonic_regression  # takes half a second, as in planted.py

    curve = isotonic_regression(found).x
    reached = curve >= share - 1e-12  # a hair, so that the rounding of a mean does not decide
    if not reached.any():
        return float("inf")
    at = int(reached.argmax())
    if at == 0:
        return float(doses[0])
    part = min(1.0, (share - curve[at - 1]) / (curve[at] - curve[at - 1]))
    low, high = np.log2(doses[[at - 1, at]])
    return float(2 ** (low + part * (high - low)))
