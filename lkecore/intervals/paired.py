"""Tests and differences of two shares, on the same facts or on others, and what several tests cost."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lkecore.intervals.interval import Interval, check_level


def mcnemar(a: ArrayLike, b: ArrayLike) -> float:
    """Exact two-sided p of McNemar's test: are a and b right on equally many of the same facts?

    `a` and `b` are (fact,) bool, matched. Only facts that one has right and the other wrong count:
    with n10 and n01 of them, p = P(a fair coin, tossed n10 + n01 times, is at least as uneven). In
    (0, 1], small p = they differ; 1 where they never disagree. Weakness: a p is no size (see
    `paired_difference`), and facts count as independent. ValueError for dtypes other than bool,
    different shapes or no facts.

    >>> a = np.array([True] * 5 + [False, True])
    >>> b = np.array([False] * 5 + [False, True])
    >>> mcnemar(a, b)  # 5 against 0: 2 / 2**5
    0.0625
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != bool or b.dtype != bool:
        raise ValueError(f"dtypes are {a.dtype} and {b.dtype}; correctness must be bool")
    if a.ndim != 1 or a.shape != b.shape or not len(a):
        raise ValueError(
            f"shapes are {a.shape} and {b.shape}; both need the same (fact,), 1 fact or more"
        )
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    if only_a + only_b == 0:
        return 1.0
    from scipy.stats import binomtest  # takes half a second, which most commands need not wait

    return float(binomtest(only_a, only_a + only_b, 0.5).pvalue)


def guess_p(right: int, n: int, chance: float, *, two_sided: bool = False) -> float:
    """Exact p of the binomial test: are `right` of `n` answers more than blind guesses would give?

        p = P(X >= right),   X = right ones among n guesses, each right with the probability chance

    With `two_sided`, more or fewer: p is the probability of all numbers that are no more likely than
    `right`. In (0, 1], or 0 where the chance rules out what was found; small p = not by blind
    guesses; 1 where nothing was asked. Weaknesses: answers count as independent of each other, and
    guesses that are not blind, such as of a frequent object, give small p, too. ValueError unless
    0 <= right <= n and chance is in [0, 1].

    >>> guess_p(2, 3, 0.5)  # (3 + 1) / 2**3
    0.5
    """
    if not 0 <= right <= n:
        raise ValueError(f"{right} right of {n}; the rule is 0 <= right <= n")
    if not 0 <= chance <= 1:
        raise ValueError(f"chance is {chance}; it must be in [0, 1]")
    if n == 0:
        return 1.0
    alternative = "two-sided" if two_sided else "greater"
    from scipy.stats import binomtest

    return float(binomtest(int(right), int(n), chance, alternative=alternative).pvalue)


def difference_of_proportions(k1: int, n1: int, k2: int, n2: int, level: float = 0.95) -> Interval:
    """Difference of two shares of different facts, with Newcombe's interval.

    Question: how would k1 of n1 and k2 of n2 differ with **other facts of these two kinds**? Facts that
    were asked under both conditions are pairs: see `paired_difference`.

        estimate = p1 - p2,   p = k / n
        low  = estimate - sqrt((p1 - l1)**2 + (u2 - p2)**2)
        high = estimate + sqrt((u1 - p1)**2 + (p2 - l2)**2),   [l, u] = Wilson's interval of p

    Newcombe 1998 ("Interval estimation for the difference between independent proportions"), method
    10. In [-1, 1], positive where the first share is larger. It has a width even where all
    is right. Weakness: facts count as independent, so it is narrow for other relations. ValueError
    unless 0 <= k <= n and n >= 1 for both.

    >>> difference_of_proportions(56, 70, 48, 80).text(4)  # the paper's first example
    '0.2000 [0.0524, 0.3339]'
    """
    # Imported late: it takes a second that most users of this module need not wait.
    from statsmodels.stats.proportion import confint_proportions_2indep

    check_level(level)
    for k, n in ((k1, n1), (k2, n2)):
        if not 0 <= k <= n or n < 1:
            raise ValueError(f"{k} of {n}; the rule is 0 <= k <= n and n >= 1")
    alpha = round(1 - level, 12)  # 1 - 0.95 is not quite 0.05
    ends = confint_proportions_2indep(k1, n1, k2, n2, method="newcomb", alpha=alpha)
    low, high = np.clip(ends, -1.0, 1.0)  # rounding can leave 1.0000000000000002
    return Interval(float(k1 / n1 - k2 / n2), float(low), float(high), level, "Newcombe")


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """p values adjusted by Holm's method for having made several tests, in the given order.

    Sorted p_(1) <= ... <= p_(m) become max over j <= i of min(1, (m - j + 1) * p_(j)): below 0.05
    in any means that the chance of even one false alarm is below 0.05. In [0, 1], axis (test,).
    Ties stay ties; none in, none out. ValueError for a value that is NaN or outside [0, 1].

    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()  # 3 * 0.01, then 2 * 0.03 for both
    [0.03, 0.06, 0.06]
    """
    p_values = np.asarray(p_values, dtype=np.float64)
    if p_values.ndim != 1 or not ((p_values >= 0) & (p_values <= 1)).all():
        raise ValueError(
            f"p values are {p_values.tolist()}; they must be a list of numbers in [0, 1]"
        )
    # Not by statsmodels, which collects the garbage of the whole process each time: 30 ms and more.
    order = np.argsort(p_values)
    raised = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted
