"""Shift: entropy and KL (PZ-E1, PZ-E2, PZ-E3, PZ-F2)."""

import math

import numpy as np
import pytest
import scipy.stats
from scipy.special import softmax

from lkecore.stats import shift

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


def test_a_published_mean_is_more_than_five_tokens_a_side_can_say():
    """Table 4's largest value is above log 11, the most that ten tokens and the rest can have."""
    from lkecore import papers

    table = papers.table("pez_table4_entropy_by_relation")
    largest = table.loc[table["entropy"].idxmax()]
    assert largest["model"] == "FLAN-T5" and largest["entropy"] == pytest.approx(3.823)
    assert largest["entropy"] > math.log(11) and largest["entropy"] > math.log2(11)
