"""Lengths: ways to turn the log-probability of a name into a score that may be less about its length.

The sum over an option's tokens has a term for each token, so that a long name starts with a handicap. Others
divide by the number of tokens or characters, or take off what the name has without the question.

A matrix has the axes (fact, option), in nats; see :mod:`lkecore.metrics.choice`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from lkecore.metrics.rules import characters


def logprob_per_token(logprob: ArrayLike, n_tokens: ArrayLike) -> NDArray[np.float64]:
    """The mean log-probability of an option's tokens: (fact, option), nats a token, at most 0.

    ``n_tokens`` has the same axes, each 1 or more, else ValueError.

    >>> logprob_per_token([[-2.0, -3.0]], [[1, 3]]).tolist()
    [[-2.0, -1.0]]
    """
    return _per(logprob, n_tokens, "n_tokens")


def logprob_per_character(logprob: ArrayLike, options: Sequence[Sequence[str]]) -> NDArray:
    """The log-probability divided by the option's number of characters: nats a character, at most 0.

    >>> logprob_per_character([[-2.0, -3.0]], [["Ur", "Oslo"]]).tolist()
    [[-1.0, -0.75]]
    """
    return _per(logprob, [characters(names) for names in options], "characters")


def information(logprob: ArrayLike, logprob_without: ArrayLike) -> NDArray[np.float64]:
    """Pointwise mutual information of option and subject: (fact, option), nats, of any sign.

        log P(option | shots, subject) - log P(option | shots, no subject)

    ``logprob_without``, of the same axes, is the log-probability after a prompt without the subject: what a
    name has whoever is asked about. Higher: the subject makes the option likelier.

    >>> information([[-2.0, -3.0]], [[-1.0, -5.0]]).tolist()
    [[-1.0, 2.0]]
    """
    a, b = np.asarray(logprob, dtype=float), np.asarray(logprob_without, dtype=float)
    if a.shape != b.shape:
        raise ValueError(f"logprob has shape {a.shape} and logprob_without {b.shape}")
    return a - b


def places(lengths: ArrayLike) -> NDArray[np.float64]:
    """The place of each option among its options by length, in (0, 1): small is short, 0.5 the middle.

    ``lengths`` is (fact, option). Options of one length share the mean of their places.

    >>> places([[4, 4, 9, 2]]).tolist()
    [[0.5, 0.5, 0.875, 0.125]]
    """
    ranks = rankdata(np.asarray(lengths), method="average", axis=1)
    return (ranks - 0.5) / ranks.shape[1]


def _per(logprob: ArrayLike, lengths: ArrayLike, what: str) -> NDArray[np.float64]:
    values, by = np.asarray(logprob, dtype=float), np.asarray(lengths)
    if values.shape != by.shape:
        raise ValueError(f"logprob has shape {values.shape} and {what} {by.shape}")
    if (by < 1).any():
        raise ValueError(f"{what} of an option: {by.min()}, and it must be 1 or more")
    return values / by
