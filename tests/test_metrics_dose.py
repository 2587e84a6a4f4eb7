"""Exposures needed: by hand, against a grid search, and against curves whose answer is known."""

import math

import numpy as np
import pytest

from lkecore import intervals
from lkecore.metrics import dose

DOSES = [1, 2, 4, 8, 16, 32, 64]


@pytest.mark.parametrize(
    ("exposures", "accuracy", "share", "by_hand"),
    [
        ([1, 2, 4], [0.0, 0.5, 1.0], 0.5, 2),  # just at a dose
        ([1, 2, 4], [0.0, 0.4, 0.6], 0.5, 2**1.5),  # half-way in doublings, not 3
        ([1, 4], [0.0, 1.0], 0.25, 2**0.5),
        ([4, 16], [0.2, 0.8], 0.5, 8),
        ([1, 2, 4], [0.6, 0.7, 0.8], 0.5, 1),  # the smallest dose is enough
        ([1, 2, 4], [0.1, 0.2, 0.3], 0.5, math.inf),
        ([16], [0.7], 0.5, 16),
        ([16], [0.3], 0.5, math.inf),
        ([1, 2, 4], [0.0, 0.5, 0.5], 0.5, 2),  # a level part counts from where it begins
        ([1, 2], [0.0, 1.0], 1.0, 2),
        # 0.8 and 0.4 are levelled to 0.6: one cell's luck does not set the answer to 2 or less.
        ([1, 2, 4, 8], [0.0, 0.8, 0.4, 1.0], 0.5, 2 ** (0.5 / 0.6)),
        # three cells that fall, levelled to 0.3: the half lies between 4 and 8, 2/7 of a doubling
        ([1, 2, 4, 8], [0.6, 0.3, 0.0, 1.0], 0.5, 2 ** (2 + 2 / 7)),
    ],
)
def test_the_exposures_needed_are_those_by_hand(exposures, accuracy, share, by_hand):
    found = dose.exposures_needed(exposures, accuracy, share)
    assert found == pytest.approx(by_hand, rel=1e-9)


def test_the_exposures_needed_are_where_a_search_over_a_fine_grid_finds_them():
    rng = np.random.default_rng(0)
    fine = np.linspace(0, 6, 60_001)  # log2 of 1 to 64
    for _ in range(50):
        accuracy = np.sort(rng.uniform(size=len(DOSES)))
        reached = np.interp(fine, np.log2(DOSES), accuracy) >= 0.5
        found = dose.exposures_needed(DOSES, accuracy)
        if reached.any():
            assert np.log2(found) == pytest.approx(fine[reached.argmax()], abs=2e-4)
        else:
            assert found == math.inf


def test_better_answers_never_need_more_exposures_and_a_higher_share_never_fewer():
    rng = np.random.default_rng(1)
    for _ in range(200):
        low = rng.uniform(size=len(DOSES))
        high = low + rng.uniform(size=len(DOSES)) * (1 - low)
        assert dose.exposures_needed(DOSES, high) <= dose.exposures_needed(DOSES, low)
        assert dose.exposures_needed(DOSES, low, 0.4) <= dose.exposures_needed(DOSES, low, 0.6)


def test_the_interval_from_the_ends_of_accuracies_holds_the_truth_as_often_as_it_says():
    """Answers drawn from a curve whose exposures needed are known; 128 facts a dose."""
    rng, held = np.random.default_rng(2), []
    n, needed, times = 128, 11.0, 400
    rate = 0.95 / (1 + np.exp(-1.3 * (np.log2(DOSES) - np.log2(needed)) - math.log(0.5 / 0.45)))
    # by construction 0.95 / (1 + 0.45 / 0.5) = 0.5 at the needed exposures
    for _ in range(times):
        cells = [intervals.proportion(k, n) for k in rng.binomial(n, rate)]
        low = dose.exposures_needed(DOSES, [c.high for c in cells])
        high = dose.exposures_needed(DOSES, [c.low for c in cells])
        held.append(low <= needed <= high)
    # three standard errors of 400 draws below 0.95; above it an interval is merely wide
    assert np.mean(held) > 0.95 - 3 * math.sqrt(0.95 * 0.05 / times)


@pytest.mark.parametrize(
    ("exposures", "accuracy", "share", "says"),
    [
        ([], [], 0.5, "lists of one length"),
        ([1, 2], [0.1], 0.5, "lists of one length"),
        ([2, 1], [0.1, 0.2], 0.5, "rise from 1 or more, found"),
        ([0, 1], [0.1, 0.2], 0.5, "rise from 1 or more"),
        ([1, math.inf], [0.1, 0.2], 0.5, "rise from 1 or more"),
        ([1, 2], [0.1, 1.2], 0.5, r"in \[0, 1\]"),
        ([1, 2], [0.1, math.nan], 0.5, r"in \[0, 1\]"),
        ([1, 2], [0.1, 0.2], 0.0, "share must be above 0"),
    ],
)
def test_what_is_no_curve_is_refused(exposures, accuracy, share, says):
    with pytest.raises(ValueError, match=says):
        dose.exposures_needed(exposures, accuracy, share)
