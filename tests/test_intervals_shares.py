"""Shares against guesses, against each other and without luck: published values, all cases, pencil."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from lkecore import intervals

COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def ends(interval: intervals.Interval) -> list[float]:
    return [interval.low, interval.high]


# --- guess_p


@pytest.mark.parametrize(("right", "n", "k"), [(0, 3, 2), (2, 4, 3), (4, 4, 3), (3, 5, 4)])
def test_guess_p_counts_all_ways_to_guess(right, n, k):
    ways = list(itertools.product(range(k), repeat=n))  # 0 is the right option
    as_many = sum(way.count(0) >= right for way in ways)
    assert intervals.guess_p(right, n, 1 / k) == pytest.approx(as_many / len(ways), abs=1e-12)


@pytest.mark.parametrize(("right", "n", "chance"), [(3, 40, 0.05), (0, 9, 0.3), (17, 60, 0.2)])
def test_two_sided_guess_p_sums_what_is_no_likelier(right, n, chance):
    likely = binom.pmf(np.arange(n + 1), n, chance)
    expected = likely[likely <= likely[right] * (1 + 1e-9)].sum()
    assert intervals.guess_p(right, n, chance, two_sided=True) == pytest.approx(expected, abs=1e-12)


def test_guess_p_at_its_borders():
    assert intervals.guess_p(0, 0, 0.1) == 1.0  # nothing was asked
    assert intervals.guess_p(0, 5, 0.1) == 1.0
    assert intervals.guess_p(0, 5, 0.0) == 1.0
    assert intervals.guess_p(1, 5, 0.0) == 0.0


@pytest.mark.parametrize(
    ("right", "n", "chance", "message"),
    [
        (6, 5, 0.1, "6 right of 5"),
        (-1, 5, 0.1, "-1 right of 5"),
        (1, 0, 0.1, "1 right of 0"),
        (1, 5, 1.5, "chance is 1.5"),
        (1, 5, float("nan"), "chance is nan"),
    ],
)
def test_guess_p_refuses_impossible_numbers(right, n, chance, message):
    with pytest.raises(ValueError, match=message):
        intervals.guess_p(right, n, chance)


# --- difference_of_proportions


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [  # Newcombe 1998, Table II, method 10
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((6, 7, 2, 7), 0.0582, 0.8062),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 20), -0.1611, 0.2775),
        ((0, 10, 0, 10), -0.2775, 0.2775),
        ((10, 10, 0, 20), 0.6791, 1.0),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ],
)
def test_difference_has_the_ends_that_newcombe_printed(counts, low, high):
    found = intervals.difference_of_proportions(*counts)
    assert ends(found) == pytest.approx([low, high], abs=5.1e-5)
    assert found.estimate == counts[0] / counts[1] - counts[2] / counts[3]


@settings(deadline=None)  # no test asserts seconds
@given(COUNTS, COUNTS, st.sampled_from([0.5, 0.95, 0.99]))
def test_difference_is_made_of_wilsons_intervals(one, two, level):
    found = intervals.difference_of_proportions(*one, *two, level)
    a, b = intervals.proportion(*one, level), intervals.proportion(*two, level)
    d = a.estimate - b.estimate
    low = d - np.hypot(a.estimate - a.low, b.high - b.estimate)
    high = d + np.hypot(a.high - a.estimate, b.estimate - b.low)
    assert [found.estimate, *ends(found)] == pytest.approx([d, low, high], abs=1e-9)
    assert -1 <= found.low <= found.high <= 1 and found.level == level
    back = intervals.difference_of_proportions(*two, *one, level)
    assert [-back.high, -back.low] == pytest.approx(ends(found), abs=1e-12)


@pytest.mark.parametrize("counts", [(6, 5, 1, 5), (1, 5, -1, 5), (0, 0, 1, 5)])
def test_difference_refuses_impossible_counts(counts):
    for function in (intervals.difference_of_proportions,):
        with pytest.raises(ValueError, match="0 <= k <= n and n >= 1"):
            function(*counts)
        with pytest.raises(ValueError, match="level is 95"):
            function(1, 2, 1, 2, 95)


def test_intervals_are_imported_without_statsmodels():
    code = "import sys, lkecore.intervals; sys.exit('statsmodels' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# --- difference_over_relations
