"""Overlap: which share of the facts that one model has right does another one have, too?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def subsumption(small: ArrayLike, large: ArrayLike) -> float:
    """Share of the facts that the smaller model answers rightly which the larger does, too.

        eta = |both right| / |smaller right|

    IC-E6, equation 7 of Wu et al. 2024, with the smaller or fine-tuned model first, the larger or
    base model second. Both are (fact,) bool over the same facts of one relation; the paper averages
    over relations. In [0, 1]; 1: all that the smaller knows the larger knows, too. NaN where the
    smaller knows nothing: such relations are left out of a mean and counted. Were the two right
    independently of each other, eta would be the accuracy of the larger one. So an eta below 1 shows
    other knowledge only where the answers of the smaller are no guesses. ValueError for dtypes other
    than bool, different lengths or no facts.

    >>> subsumption([True, True, True, False], [True, True, False, True])  # 2 of 3
    0.6666666666666666
    """
    small, large = np.asarray(small), np.asarray(large)
    if small.ndim != 1 or small.shape != large.shape or not len(small):
        raise ValueError(
            f"small {small.shape} and large {large.shape} must be lists of one length, 1 or more"
        )
    if small.dtype != bool or large.dtype != bool:
        raise ValueError(f"dtypes are {small.dtype} and {large.dtype}; correctness must be bool")
    return float(large[small].mean()) if small.any() else float("nan")


def luck(accuracy: ArrayLike, chance: float) -> NDArray[np.float64]:
    """Share of a model's right answers that blind guesses would give.

        luck = min(1, c (1 - a) / ((1 - c) a)),   a = accuracy, c = chance

    Were the model to guess blindly wherever it does not know, it would know a share k of the facts with
    a = k + (1 - k) c, and (1 - k) c of all facts would be right by luck. `accuracy` has any axes, and the
    result the same ones; `chance` is that of one guess, such as 1 / n_options. In [0, 1]: 0 where
    all is right, 1 where the accuracy is chance or less, NaN where nothing is right: there is nothing
    to take a share of. So much at most can a subsumption rate fall below 1 by luck, when the larger model
    has no fact right that the smaller one guesses. Weakness: guesses that are not blind, such as of
    a frequent object, are luckier than that. ValueError for an accuracy outside [0, 1] or a chance
    that is not between 0 and 1.

    >>> float(luck(0.75, 0.5))  # knows half of the facts, guesses the others: 0.25 of 0.75 are lucky
    0.3333333333333333
    """
    a = np.asarray(accuracy, dtype=np.float64)
    if not ((a >= 0) & (a <= 1)).all():
        raise ValueError(f"accuracy is {a.tolist()}; it must be in [0, 1]")
    if not 0 < chance < 1:
        raise ValueError(f"chance is {chance}; it must lie between 0 and 1")
    share = np.full(a.shape, np.nan)
    np.divide(chance * (1 - a), (1 - chance) * a, out=share, where=a > 0)
    return np.minimum(share, 1.0)
