"""Interval: an estimate with its bounds, and the simplest one, of a share."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

N_RESAMPLES = 10_000  # the ends then move by about 3 % of a standard error from seed to seed

# Values drawn at once: about 2 MB with their indices, which stay in a core's own cache, where they are drawn
# and summed up to twice as fast as from memory. The numbers do not depend on it.
BLOCK = 2**17

MOST_KEPT = 5_000_000  # counts that are kept from one call to the next, 20 MB


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval: low, high, level (0.95 for 95 %), and the method's name."""

    estimate: float
    low: float
    high: float
    level: float
    method: str

    def __post_init__(self) -> None:
        check_level(self.level)
        # Written so that a NaN fails too. A percentile interval may well leave out its estimate.
        if not (self.low <= self.high and np.isfinite(self.estimate)):
            raise ValueError(
                f"interval {self.estimate} [{self.low}, {self.high}] needs numbers with low <= high"
            )

    def text(self, digits: int = 2) -> str:
        """The interval as text with `digits` decimals.

        >>> Interval(0.481, 0.4, 0.5613, 0.95, "Wilson").text()
        '0.48 [0.40, 0.56]'
        """
        # Adding 0.0 turns the -0.0 that rounding can leave into 0.0.
        estimate, low, high = (
            f"{round(x, digits) + 0.0:.{digits}f}" for x in (self.estimate, self.low, self.high)
        )
        return f"{estimate} [{low}, {high}]"

    def side(self, value: float = 0.0) -> int:
        """1 if the interval lies above a value, -1 below it; 0 if it holds it, at an end or between.

        >>> found = Interval(0.2, 0.1, 0.3, 0.95, "by hand")
        >>> found.side(), found.side(0.3), found.side(0.4)
        (1, 0, -1)
        """
        return int(self.low > value) - int(self.high < value)


def proportion(successes: int, n: int, level: float = 0.95) -> Interval:
    """Wilson interval of a share, such as one relation's accuracy.

    Question: what would the share be over all facts of this kind, of which `n` were drawn and
    `successes` came out right? In [0, 1]. Wilson rather than a bootstrap, because resampling
    all-right answers gives all-right answers: a width of zero. Weakness: facts count as
    independent. ValueError unless 0 <= successes <= n and n >= 1.

    By hand, with all 4 of 4 right and z = 1.959964: low = 1 / (1 + z**2 / 4) = 0.5101, high = 1.

    >>> proportion(4, 4).text(4)
    '1.0000 [0.5101, 1.0000]'
    """
    check_level(level)
    if not 0 <= successes <= n or n < 1:
        raise ValueError(
            f"{successes} successes of {n}; the rule is 0 <= successes <= n and n >= 1"
        )
    from scipy.stats import binomtest  # takes half a second, which most commands need not wait

    interval = binomtest(int(successes), int(n)).proportion_ci(level, method="wilson")
    return Interval(successes / n, float(interval.low), float(interval.high), level, "Wilson")


def percentile(estimate: float, resampled: NDArray, level: float, method: str) -> Interval:
    check_level(level)
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high), level, method)


def times_drawn(
    n: int, n_resamples: int, seed: int, dtype: type[np.floating] = np.float64
) -> Iterator[NDArray[np.floating]]:
    """How often each of ``n`` facts is in each resample, (resample, fact), some resamples at a time."""
    of = _kept_times if n * n_resamples <= MOST_KEPT else _times
    for times in of(n, n_resamples, seed):
        yield times.astype(dtype)


@functools.lru_cache(maxsize=4)  # a page asks one set of facts by one measure after the other
def _kept_times(n: int, n_resamples: int, seed: int) -> list[NDArray[np.float32]]:
    return list(_times(n, n_resamples, seed))


def _times(n: int, n_resamples: int, seed: int) -> Iterator[NDArray[np.float32]]:
    drawn = np.random.default_rng(seed).integers(n, size=(n_resamples, n))
    step = max(1, BLOCK // n)
    for start in range(0, n_resamples, step):
        some = drawn[start : start + step]
        places = some + n * np.arange(len(some))[:, None]
        counts = np.bincount(places.ravel(), minlength=some.size)
        yield counts.reshape(some.shape).astype(np.float32)


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must lie between 0 and 1, such as 0.95")


def check_resamples(n_resamples: int) -> None:
    if n_resamples < 100:
        raise ValueError(
            f"n_resamples is {n_resamples}; at least 100 are needed for an interval's ends"
        )
