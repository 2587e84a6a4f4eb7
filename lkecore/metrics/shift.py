"""Shift: entropy of an answer, and how far it moves when the fact is told (Pezeshkpour).

Distributions are log-probabilities in nats whose last axis is the token or option; 0 log 0 is 0.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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
    """How unsure an answer is, whatever it is, in nats (PZ-E1, equation 1).

        H(P) = - sum over tokens k of P_k log P_k

    From 0, all on one token, to the logarithm of their number. ``logprob`` is (..., token) and must be
    normalised; ValueError where it sums to another number than 1.

    >>> round(float(entropy(np.log([0.5, 0.25, 0.25]))), 4)  # one and a half times log 2
    1.0397
    """
    p = _checked(logprob)
    return _mean(p, -p)


def kl(before: ArrayLike, after: ArrayLike) -> NDArray[np.float64]:
    """How far an answer has moved, in nats: KL(P‖Q), P before and Q after (PZ-E3, equation 3).

        KL(P‖Q) = sum over tokens k of P_k log(P_k / Q_k)

    The paper prints a minus in front, but its values are 0 or more, as ours. 0 if nothing moved;
    infinite where Q has no probability at a token that P has. Both are (..., token). The other
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
    if not np.allclose(sums, 1, rtol=0, atol=1e-4):  # of float32, or five decimals
        wrong = np.ravel(sums)[np.argmax(np.abs(np.ravel(sums) - 1))]
        raise ValueError(f"probabilities sum to {wrong:.6g}; they must sum to 1 over the last axis")
    return found


ROUNDING = 1e-6  # by so much a sum of float32 probabilities may be off
TINY = 1e-12  # the least that a side leaves to the tokens that it does not name: no KL is infinite


class TopK(NamedTuple):
    """What two lists of likeliest tokens say, in nats."""

    entropy: float
    entropy_after: float
    kl: float
    least_kl: float  # no exact KL(P‖Q) with these lists is smaller


def top_k(before: Mapping[object, float], after: Mapping[object, float]) -> TopK:
    """Entropy and KL of a model that says no more than its likeliest tokens (PZ-S4).

    ``before`` and ``after`` have the log-probabilities (nats) of the k likeliest tokens of each side. Both
    are taken as distributions over V' = all tokens of either list, and one token for all others. What is
    missing to 1 on a side goes in equal parts to the tokens of V' that this side does not name, the one for
    all others among them. This is an approximation, which may lie on either side of the truth. So there is
    ``least_kl``, ours: the KL of the tokens that both lists name, all the rest of each side in one lump.
    Lumping never raises a KL, so the exact one is at least as large. With k = vocabulary all are exact.

    ValueError for an empty list, a positive log-probability, and a list that sums to more than 1.

    >>> found = top_k({"a": np.log(0.6), "b": np.log(0.2)}, {"a": np.log(0.6), "c": np.log(0.3)})
    >>> # P is 0.6, 0.2, 0.1 (c) and 0.1 (others), Q is 0.6, 0.05 (b), 0.3 and 0.05 (others):
    >>> round(found.kl, 4)  # 0.2 log 4 + 0.1 log(1/3) + 0.1 log 2
    0.2367
    >>> found.least_kl  # a has 0.6 on both sides, and all the rest 0.4
    0.0
    """
    sides = [_listed(before), _listed(after)]
    tokens = [*before, *(token for token in after if token not in before)]
    spread = []
    for side, missing in sides:
        lacking = [token for token in tokens if token not in side]
        part = max(missing, TINY) / (len(lacking) + 1)
        spread.append([*(side.get(token, part) for token in tokens), part])
    shared = [token for token in before if token in after]
    lumps = []
    # A lump of Q that is too small by a rounding would make the bound too large, and one too large does not.
    for (side, _), more in zip(sides, (0.0, ROUNDING), strict=True):
        named = [side[token] for token in shared]
        lumps.append([*named, _missing(named) + more])
    with np.errstate(divide="ignore"):
        p, q = np.log(spread)
        p_lump, q_lump = np.log(lumps)
    values = entropy(p), entropy(q), kl(p, q), kl(p_lump, q_lump)
    return TopK(*(float(value) for value in values))


def _listed(logprobs: Mapping[object, float]) -> tuple[dict[object, float], float]:
    """(probabilities of a list, what is missing to 1)."""
    found = {token: float(np.exp(value)) for token, value in logprobs.items()}
    total = sum(found.values())
    if not found or max(logprobs.values()) > 0 or total > 1 + 1e-4:
        raise ValueError(f"a list of {len(found)} tokens sums to {total:.6g}; it must be 1 or less")
    return found, _missing(list(found.values()))


def _missing(some: Sequence[float]) -> float:
    """What some probabilities lack to 1, 0 at least."""
    return max(0.0, 1 - sum(some))
