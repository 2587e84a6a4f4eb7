"""Spearman's correlation with an interval over facts: by scipy, one draw of facts after the other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lkecore import intervals


def rho(x, y) -> float:
    """Spearman's correlation by scipy; 0 where one side has a single value."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return 0.0
    return float(stats.spearmanr(x, y).statistic)


@settings(max_examples=20)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=2, max_size=10), st.integers(0, 9))
def test_it_is_the_bootstrap_of_scipys_correlation(values, seed):
    x, y, *other = np.array(values, dtype=float).T
    draws = np.random.default_rng(seed).integers(len(x), size=(100, len(x)))
    for minus in (None, other):
        found = intervals.rank_correlation_over_facts(x, y, minus=minus, seed=seed, n_resamples=100)

        def of(some, minus=minus) -> float:
            both = rho(x[some], y[some])
            return both - rho(*(each[some] for each in minus)) if minus else both

        assert found.estimate == pytest.approx(of(np.arange(len(x))), abs=1e-12)
        ends = np.quantile([of(draw) for draw in draws], [0.025, 0.975])
        assert [found.low, found.high] == pytest.approx(ends, abs=1e-12)
        assert found.method == "bootstrap over facts"


def test_only_orders_count_and_one_value_has_none():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 50))
    plain = intervals.rank_correlation_over_facts(x, y, seed=1)
    far = x.copy()
    far[x.argmax()], far[x.argmin()] = np.inf, -np.inf
    assert intervals.rank_correlation_over_facts(np.exp(x), y, seed=1) == plain
    assert intervals.rank_correlation_over_facts(far, y, seed=1) == plain
    turned = intervals.rank_correlation_over_facts(-x, y, seed=1)
    assert (turned.estimate, turned.low) == pytest.approx((-plain.estimate, -plain.high), abs=1e-12)
    same = intervals.rank_correlation_over_facts(x, x, seed=1)
    assert (same.low, same.high) == pytest.approx((1, 1))
    none = intervals.rank_correlation_over_facts(x, np.ones(50), seed=1)
    assert (none.estimate, none.low, none.high) == (0, 0, 0)
    nothing = intervals.rank_correlation_over_facts(x, y, minus=(x, y), seed=1)
    assert (nothing.estimate, nothing.low, nothing.high) == (0, 0, 0)


@pytest.mark.parametrize(
    ("x", "y", "minus", "words"),
    [
        ([1, 2], [1, 2, 3], None, "x (2,) and y (3,); both need the same (fact,), 2 or more"),
        ([1], [1], None, "x (1,) and y (1,); both need"),
        ([[1, 2]], [[1, 2]], None, "x (1, 2) and y (1, 2); both need"),
        ([1, np.nan], [1, 2], None, "x or y holds NaN, which has no place in an order"),
        ([1, 2], [1, 2], ([1, 2, 3], [1, 2, 3]), "2 facts minus 3; both need the same facts"),
    ],
)
def test_what_has_no_correlation_is_refused(x, y, minus, words):
    with pytest.raises(ValueError) as caught:
        intervals.rank_correlation_over_facts(x, y, minus=minus, seed=0)
    assert words in str(caught.value)
