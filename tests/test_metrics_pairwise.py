"""Pairwise accuracy, with ties, by pencil and by loops (PZ-M1)."""

import itertools

import numpy as np
import pytest

from lkecore.metrics.pairwise import pairwise


def test_ties_are_wrong_and_counted_apart():
    """Of the ten pairs of 1, 1, 2, 5, 4 eight are in order, one is tied and one is wrong."""
    found = pairwise([[1, 1, 2, 5, 4]])
    assert (found.right[0], found.tied[0]) == (0.8, 0.1)
    assert found.half[0] == pytest.approx(0.85)


def test_a_measure_that_knows_nothing_is_right_in_half_of_the_pairs_if_ties_count_half():
    """Ranks are whole numbers: with many ties fewer than half are right, which looks worse than a coin."""
    values = np.random.default_rng(0).integers(1, 4, (4000, 5))
    found = pairwise(values)
    assert found.half.mean() == pytest.approx(0.5, abs=0.01)
    assert found.right.mean() == pytest.approx(
        1 / 3, abs=0.01
    )  # of three ranks two are alike in a third


def test_it_is_the_count_of_a_loop():
    values = np.random.default_rng(1).normal(size=(30, 5)).round(1)
    found = pairwise(values)
    for row, right, tied in zip(values, found.right, found.tied, strict=True):
        pairs = list(itertools.combinations(row, 2))
        assert right == pytest.approx(np.mean([a < b for a, b in pairs]))
        assert tied == pytest.approx(np.mean([a == b for a, b in pairs]))


def test_what_has_no_order_is_refused():
    with pytest.raises(ValueError, match="they need .group, level., 2 or more"):
        pairwise([[1.0]])
    with pytest.raises(ValueError, match="NaN: a fact that was lost has no place in an order"):
        pairwise([[1.0, np.nan]])
