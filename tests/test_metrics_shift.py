"""Shift: entropy, KL and what the likeliest tokens alone can say (PZ-E1, PZ-E2, PZ-E3, PZ-S4, PZ-F2)."""

import math

import numpy as np
import pytest
import scipy.stats
from scipy.special import softmax

from lkecore.metrics import shift

# The paper's Figure 2: the object of one subject before and after it is told another wife.
MICHELLE = np.array([0.9, 0.06, 0.03, 0.01])
SASHA = np.array([0.06, 0.9, 0.03, 0.01])


def drawn(n: int, *, rows: int = 20, seed: int = 0, sharp: float = 2.0) -> np.ndarray:
    return softmax(np.random.default_rng(seed).normal(0, sharp, (rows, n)), axis=-1)


def test_the_same_shares_in_another_order_have_no_change_of_entropy_and_a_divergence():
    """PZ-F2."""
    before, after = np.log(MICHELLE), np.log(SASHA)
    assert shift.entropy(before) - shift.entropy(after) == pytest.approx(0)
    assert float(shift.kl(before, after)) == pytest.approx(0.84 * math.log(15))
    assert float(shift.kl(after, before)) == pytest.approx(0.84 * math.log(15))


@pytest.mark.parametrize("sharp", [0.1, 2, 8])
def test_entropy_and_divergence_are_those_of_scipy(sharp):
    p, q = drawn(50, seed=1, sharp=sharp), drawn(50, seed=2, sharp=sharp)
    assert np.allclose(shift.entropy(np.log(p)), scipy.stats.entropy(p, axis=-1), atol=1e-6)
    wanted = scipy.stats.entropy(p, q, axis=-1)
    assert np.allclose(shift.kl(np.log(p), np.log(q)), wanted, atol=1e-6)
    assert (shift.kl(np.log(p), np.log(q)) >= 0).all()
    assert shift.kl(np.log(p), np.log(p)).max() == 0


def test_nothing_counts_nothing_and_the_impossible_is_infinite():
    with np.errstate(divide="ignore"):
        sure, even, other = np.log([1.0, 0.0]), np.log([0.5, 0.5]), np.log([0.0, 1.0])
    assert shift.entropy(sure) == 0
    assert float(shift.entropy(even)) == pytest.approx(math.log(2))
    assert float(shift.kl(sure, even)) == pytest.approx(math.log(2))
    assert math.isinf(shift.kl(even, sure)) and math.isinf(shift.kl(sure, other))
    assert shift.kl(sure, sure) == 0


def test_what_does_not_sum_to_one_is_refused():
    with pytest.raises(ValueError, match="probabilities sum to 0.9; they must sum to 1"):
        shift.entropy(np.log([0.5, 0.4]))
    with pytest.raises(ValueError, match="sum to 1.5"):
        shift.kl(np.log([[0.5, 0.5]]), np.log([[0.5, 1.0]]))
    assert np.exp(shift.normalised([-700.0, -701.0])).sum() == pytest.approx(1)


# --- the likeliest tokens alone


def listed(p: np.ndarray, k: int) -> dict[int, float]:
    best = np.argsort(-p, kind="stable")[:k]
    return {int(i): float(np.log(p[i])) for i in best}


def test_five_tokens_by_hand():
    """PZ-S4: k = 2 of five tokens; V' = a, b, c and the rest."""
    before, after = np.array([0.5, 0.3, 0.1, 0.06, 0.04]), np.array([0.1, 0.02, 0.8, 0.05, 0.03])
    found = shift.top_k(listed(before, 2), listed(after, 2))
    p = np.array([0.5, 0.3, 0.1, 0.1])  # 0.2 is missing, for c and the rest
    q = np.array([0.1, 0.05, 0.8, 0.05])  # 0.1 is missing, for b and the rest
    assert found.entropy == pytest.approx(scipy.stats.entropy(p))
    assert found.entropy_after == pytest.approx(scipy.stats.entropy(q))
    assert found.kl == pytest.approx(scipy.stats.entropy(p, q))
    # Both name a alone: 0.5 against the other half, and 0.1 against 0.9.
    assert found.least_kl == pytest.approx(scipy.stats.entropy([0.5, 0.5], [0.1, 0.9]), abs=2e-6)


def test_with_all_tokens_everything_is_exact():
    for p, q in zip(drawn(9, seed=3), drawn(9, seed=4), strict=True):
        found = shift.top_k(listed(p, 9), listed(q, 9))
        exact = scipy.stats.entropy(p, q)
        assert found.kl == pytest.approx(exact)
        assert found.least_kl == pytest.approx(exact, abs=2e-6)
        assert found.entropy == pytest.approx(scipy.stats.entropy(p))


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_bound_is_never_above_the_truth(k):
    pairs = list(zip(drawn(40, rows=200, seed=5), drawn(40, rows=200, seed=6), strict=True))
    found = [shift.top_k(listed(p, k), listed(q, k)) for p, q in pairs]
    exact = np.array([scipy.stats.entropy(p, q) for p, q in pairs])
    assert (np.array([f.least_kl for f in found]) <= exact + 1e-12).all()


def test_the_bound_holds_where_the_named_tokens_leave_next_to_nothing():
    p = np.array([0.6, 0.2, 0.001, 0.199])
    q = np.array([1 - 3e-7, 1e-7, 1e-7, 1e-7])
    found = shift.top_k(listed(p, 1), listed(q, 1))
    assert found.least_kl <= scipy.stats.entropy(p, q) and np.isfinite([*found]).all()
    # 0.4 of P lies on what Q has next to nothing for: far from nothing, too.
    assert found.least_kl > 0.4 * np.log(0.4 / 1e-5)


def test_the_approximation_may_be_above_the_truth():
    """Nearly nothing moves, but each side names another one of two likely tokens."""
    p, q = np.array([0.30, 0.29, 0.41]), np.array([0.29, 0.30, 0.41])
    found = shift.top_k({"a": np.log(0.30)}, {"b": np.log(0.30)})
    assert found.kl == pytest.approx(scipy.stats.entropy([0.30, 0.35, 0.35], [0.35, 0.30, 0.35]))
    assert found.kl > 10 * scipy.stats.entropy(p, q) and found.least_kl == 0


def test_a_list_that_cannot_be_one_of_probabilities_is_refused():
    for wrong, total in (({}, "0"), ({"a": 0.1}, "1.10517"), ({"a": -0.1, "b": -0.1}, "1.80967")):
        with pytest.raises(ValueError, match=f"a list of {len(wrong)} tokens sums to {total}"):
            shift.top_k(wrong, {"a": -1.0})


def test_a_published_mean_is_more_than_five_tokens_a_side_can_say():
    """Table 4's largest value is above log 11, the most that ten tokens and the rest can have."""
    from lkecore import papers

    table = papers.table("pez_table4_entropy_by_relation")
    largest = table.loc[table["entropy"].idxmax()]
    assert largest["model"] == "FLAN-T5" and largest["entropy"] == pytest.approx(3.823)
    assert largest["entropy"] > math.log(11) and largest["entropy"] > math.log2(11)
