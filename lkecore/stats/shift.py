"""The entropy of an answer, and how far the answer moves when the fact is stated (Pezeshkpour).

Distributions are log-probabilities in nats whose last axis is the token or option; 0 log 0 is 0.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def normalised(logprob: ArrayLike) -> NDArray[np.float64]:
    """Log-probabilities that sum to 1 over the last axis, such as those of a fact's options.

    >>> np.exp(normalised(np.log([0.3, 0.1]))).round(6).tolist()
    [0.75, 0.25]
    """
    from scipy.special import log_softmax  # takes half a second, which most commands need not wait

    return log_softmax(np.asarray(logprob, dtype=np.float64), axis=-1)


def entropy(logprob: ArrayLike) -> NDArray[np.float64]:
    """The uncertainty of an answer, whatever the answer is, in nats (PZ-E1, equation 1).

        H(P) = - sum over tokens k of P_k log P_k

    It is between 0, with all probability on one token, and the logarithm of the number of tokens. ``logprob``
    is (..., token) and must be normalised; ValueError if the probabilities do not sum to 1.

    >>> round(float(entropy(np.log([0.5, 0.25, 0.25]))), 4)  # one and a half times log 2
    1.0397
    """
    p = _checked(logprob)
    return _mean(p, -p)


def kl(before: ArrayLike, after: ArrayLike) -> NDArray[np.float64]:
    """How far an answer has moved, in nats: KL(P‖Q), P before and Q after (PZ-E3, equation 3).

        KL(P‖Q) = sum over tokens k of P_k log(P_k / Q_k)

    The paper prints a minus in front, but its values are 0 or more, as ours. The divergence is 0 if nothing
    moved, and infinite if Q has no probability at a token that P has. Both are (..., token). The other
    direction, KL(Q‖P), is ``kl(after, before)``. ValueError as in :func:`entropy`.

    >>> round(float(kl(np.log([0.5, 0.5]), np.log([0.9, 0.1]))), 4)  # half of log(5/9) + log 5
    0.5108
    """
    p, q = _checked(before), _checked(after)
    with np.errstate(invalid="ignore"):
        gaps = p - q
    return np.maximum(_mean(p, gaps), 0)  # rounding may bring 0 below 0


def _mean(logprob: NDArray, values: NDArray) -> NDArray[np.float64]:
    p = np.exp(logprob)
    return np.where(p > 0, p * np.where(p > 0, values, 0), 0).sum(axis=-1)


def _checked(logprob: ArrayLike) -> NDArray[np.float64]:
    found = np.asarray(logprob, dtype=np.float64)
    sums = np.exp(found).sum(axis=-1)
    if not np.allclose(sums, 1, rtol=0, atol=1e-4):  # the rounding of float32, or of five decimals
        wrong = np.ravel(sums)[np.argmax(np.abs(np.ravel(sums) - 1))]
        raise ValueError(f"probabilities sum to {wrong:.6g}; they must sum to 1 over the last axis")
    return found
