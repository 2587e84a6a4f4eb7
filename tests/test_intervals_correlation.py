"""Correlations with intervals over facts: by scipy, one draw of facts after the other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lkecore import intervals


def by_scipy(x, y, *, ranks: bool) -> float:
    """The correlation by scipy; 0 where one side has a single value."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return 0.0
    return float((stats.spearmanr if ranks else stats.pearsonr)(x, y).statistic)


@pytest.mark.parametrize("ranks", [True, False])
@settings(max_examples=20)
@given(
    values=st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=2, max_size=10),
    seed=st.integers(0, 9),
)
def test_it_is_the_bootstrap_of_scipys_correlation(ranks, values, seed):
    x, y, *other = np.array(values, dtype=float).T * 0.1 + 0.3  # no whole numbers, which are exact
    draws = np.random.default_rng(seed).integers(len(x), size=(100, len(x)))
    for minus in (None, other):
        found = intervals.correlation_over_facts(
            x, y, ranks=ranks, minus=minus, seed=seed, n_resamples=100
        )

        def of(some, minus=minus) -> float:
            first = by_scipy(x[some], y[some], ranks=ranks)
            return first - by_scipy(*(e[some] for e in minus), ranks=ranks) if minus else first

        assert found.estimate == pytest.approx(of(np.arange(len(x))), abs=1e-9)
        ends = np.quantile([of(draw) for draw in draws], [0.025, 0.975])
        assert [found.low, found.high] == pytest.approx(ends, abs=1e-9)
        assert found.method == "bootstrap over facts"


@pytest.mark.parametrize("ranks", [True, False])
def test_all_conditions_of_a_fact_are_drawn_together(ranks):
    x, y = np.random.default_rng(5).integers(0, 6, size=(2, 3, 11)) * 0.1
    found = intervals.correlation_over_facts(x, y, ranks=ranks, seed=2, n_resamples=200)
    draws = np.random.default_rng(2).integers(11, size=(200, 11))
    by_draw = [by_scipy(x[:, some].ravel(), y[:, some].ravel(), ranks=ranks) for some in draws]
    assert found.estimate == pytest.approx(by_scipy(x.ravel(), y.ravel(), ranks=ranks))
    assert [found.low, found.high] == pytest.approx(np.quantile(by_draw, [0.025, 0.975]), abs=1e-9)


def test_more_facts_than_are_kept_from_call_to_call_are_drawn_alike(monkeypatch):
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    kept = intervals.correlation_over_facts(x, y, seed=3, n_resamples=200)
    monkeypatch.setattr(intervals.interval, "MOST_KEPT", 0)
    assert intervals.correlation_over_facts(x, y, seed=3, n_resamples=200) == kept


def test_of_ranks_only_orders_count():
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    how = {"seed": 1, "ranks": True}
    plain = intervals.correlation_over_facts(x, y, **how)
    far = x.copy()
    far[x.argmax()], far[x.argmin()] = np.inf, -np.inf
    assert intervals.correlation_over_facts(np.exp(x), y, **how) == plain
    assert intervals.correlation_over_facts(far, y, **how) == plain


@pytest.mark.parametrize("ranks", [True, False])
def test_what_is_turned_scaled_or_the_same(ranks):
    x, y = np.random.default_rng(0).normal(size=(2, 50)) + 100
    how = {"seed": 1, "ranks": ranks}
    plain = intervals.correlation_over_facts(x, y, **how)
    turned = intervals.correlation_over_facts(3 - 2 * x, y, **how)
    ends = (-plain.estimate, -plain.high, -plain.low)
    assert (turned.estimate, turned.low, turned.high) == pytest.approx(ends, abs=1e-9)
    same = intervals.correlation_over_facts(x, x, **how)
    assert (same.low, same.high) == pytest.approx((1, 1))
    none = intervals.correlation_over_facts(x, np.full(50, 0.1), **how)
    assert (none.estimate, none.low, none.high) == (0, 0, 0)
    nothing = intervals.correlation_over_facts(x, y, minus=(x, y), **how)
    assert (nothing.estimate, nothing.low, nothing.high) == (0, 0, 0)


@pytest.mark.parametrize(
    ("x", "y", "given", "words"),
    [
        ([1, 2], [1, 2, 3], {}, "x (2,), y (3,); both need the same (fact,), 2 or more"),
        ([1], [1], {}, "x (1,), y (1,); both need"),
        ([[[1, 2]]], [[[1, 2]]], {}, "x (1, 1, 2), y (1, 1, 2); both need"),
        ([1, np.nan], [1, 2], {"ranks": True}, "x or y holds NaN"),
        ([1, np.inf], [1, 2], {}, "an infinite value that has no correlation but of ranks"),
        ([1, 2], [1, 2], {"minus": ([1, 2, 3], [1, 2, 3])}, "2 facts minus 3; both need the same"),
    ],
)
def test_what_has_no_correlation_is_refused(x, y, given, words):
    with pytest.raises(ValueError) as caught:
        intervals.correlation_over_facts(x, y, seed=0, **given)
    assert words in str(caught.value)
