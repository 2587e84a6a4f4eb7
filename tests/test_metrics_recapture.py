"""Chao's bound; the oracle is counted by hand, or by loops, or a number of animals that is known."""

import numpy as np
import pytest

from lkecore.metrics.recapture import chao


def by_loops(table):
    m, times = len(table), [sum(column) for column in zip(*table, strict=True)]
    seen, once, twice = sum(t > 0 for t in times), times.count(1), times.count(2)
    return seen + (m - 1) / m * once * (once - 1) / (2 * (twice + 1))


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_that_of_loops_for_each_table(seed):
    rng = np.random.default_rng(seed)
    tables = (rng.random((7, 4, 30)) < 0.3).astype(int)
    assert chao(tables).tolist() == pytest.approx([by_loops(t.tolist()) for t in tables])
    assert (chao(tables) >= tables.any(axis=1).sum(axis=1)).all()


def test_facts_that_all_find_leave_none_unseen_and_no_fact_is_none():
    assert chao(np.ones((3, 5))) == 5
    assert chao(np.zeros((3, 5))) == 0
    assert chao([[1, 0, 0], [0, 1, 0]]) == 2 + 1 / 2 * 2 / 2  # none found twice


def test_of_facts_that_are_all_as_easy_the_bound_is_near_their_number():
    """The case in which the bound is reached: 400 facts, each found by each of five with chance 0.4."""
    caught = np.random.default_rng(0).random((50, 5, 400)) < 0.4
    assert caught.any(axis=1).sum(axis=1).mean() < 375
    assert chao(caught).mean() == pytest.approx(400, abs=6)


@pytest.mark.parametrize(
    ("caught", "message"),
    [
        ([1, 0], "has the shape"),
        ([[1, 0]], "2 estimators"),
        (np.ones((2, 0)), "a fact or more"),
        ([[1, 0.5], [0, 1]], "neither 0 nor 1"),
        ([[1, np.nan], [0, 1]], "neither 0 nor 1"),
    ],
)
def test_what_is_no_table_of_finds_is_refused(caught, message):
    with pytest.raises(ValueError, match=message):
        chao(caught)
