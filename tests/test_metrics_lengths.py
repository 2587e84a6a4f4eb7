"""Scores that may be less about length: by pencil, and by what must hold for any numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lkecore.metrics import lengths

LOGPROB = np.array([[-6.0, -4.0, -9.0], [-2.0, -2.0, -1.0]])
N_TOKENS = np.array([[3, 1, 9], [1, 2, 1]])
OPTIONS = [["Kinshasa", "Lima", "Ulan Bator!!"], ["ab", "abcd", "a"]]


def test_scores_by_pencil():
    assert lengths.logprob_per_token(LOGPROB, N_TOKENS).tolist() == [[-2, -4, -1], [-2, -1, -1]]
    by_character = [[-0.75, -1, -0.75], [-1, -0.5, -1]]
    assert lengths.logprob_per_character(LOGPROB, OPTIONS).tolist() == by_character
    without = LOGPROB - [[1.0, 2.0, -3.0], [0.0, 0.5, 0.0]]
    assert lengths.information(LOGPROB, without).tolist() == [[1, 2, -3], [0, 0.5, 0]]


@given(st.integers(1, 9), st.lists(st.floats(-50, 0), min_size=2, max_size=6))
def test_options_of_one_length_keep_their_order(n, values):
    """All scores agree with the sum where there is nothing for length to do."""
    row = np.array([values])
    same = np.full_like(row, n, dtype=int)
    names = [["x" * n] * len(values)]
    for found in (
        lengths.logprob_per_token(row, same),
        lengths.logprob_per_character(row, names),
        lengths.information(row, np.full_like(row, -3.0)),
    ):
        order = np.argsort(row[0], kind="stable")
        assert (np.diff(found[0][order]) >= -1e-12).all()


@given(st.lists(st.integers(1, 30), min_size=2, max_size=20))
def test_places_are_a_share_of_the_shorter_ones(sizes):
    [found] = lengths.places([sizes])
    for size, place in zip(sizes, found, strict=True):
        shorter, alike = sum(s < size for s in sizes), sizes.count(size)
        assert place == pytest.approx((shorter + alike / 2) / len(sizes))
    assert np.mean(found) == pytest.approx(0.5)


def test_shapes_and_lengths_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="shape"):
        lengths.logprob_per_token(LOGPROB, N_TOKENS[:1])
    with pytest.raises(ValueError, match="n_tokens of an option: 0"):
        lengths.logprob_per_token(LOGPROB, N_TOKENS * 0)
    with pytest.raises(ValueError, match="shape"):
        lengths.information(LOGPROB, LOGPROB[:, :2])
