"""Agreement: against scipy, by all halves, and on made-up models whose truth is known."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import pearsonr, sem

from lkecore.metrics import agreement

RNG = np.random.default_rng(0)


def made_up(n_relations, n_facts, *, of_relation, of_fact, alike, n_models=2, seed=0):
    """Values of two models: (model, fact) for each relation, with known shares of variance.

    `of_relation`: spread of the true means over relations; `of_fact`: spread of what a fact adds to all
    models alike; `alike`: correlation of the models' true means. Each value has noise 1 of its own.
    """
    rng = np.random.default_rng(seed)
    cov = np.full((n_models, n_models), alike) + np.eye(n_models) * (1 - alike)
    true = rng.multivariate_normal(np.zeros(n_models), cov, size=n_relations) * of_relation
    fact = rng.normal(size=(n_relations, 1, n_facts)) * of_fact
    return true[:, :, None] + fact + rng.normal(size=(n_relations, n_models, n_facts))


@pytest.mark.parametrize("size", [3, 16, 50])
def test_r_is_that_of_scipy(size):
    a, b = RNG.random((2, 7, size))
    assert agreement.correlation(a, b) == pytest.approx(pearsonr(a, b, axis=-1).statistic)


def test_r_by_hand():
    # Deviations -1, 0, 1 and -2, 1, 1: 3 / sqrt(2 * 6).
    assert float(agreement.correlation([1, 2, 3], [0, 3, 3])) == pytest.approx(3 / 12**0.5)


def test_r_is_not_defined_for_a_model_without_spread():
    found = agreement.correlation([[0.1, 0.1, 0.1], [0, 1, 2]], [[0, 1, 2], [0, 1, 2]])
    assert np.isnan(found[0]) and found[1] == 1
    assert np.isnan(agreement.correlation([0.1 + 0.2, 0.3, 0.3], [0, 1, 2]))  # rounding is none


def test_halves_are_halves_of_the_same_facts_for_all_models():
    n = 7
    bits = 2.0 ** np.arange(n)  # a sum of these says which facts are in it
    halves = agreement.half_accuracies([np.vstack([bits, bits])] * 3, seed=1, n_splits=200)
    assert halves.shape == (2, 200, 2, 3)
    np.testing.assert_array_equal(halves[:, :, 0], halves[:, :, 1])
    sums = np.rint(halves * (n // 2)).astype(int)
    allowed = {int(sum(bits[list(part)])) for part in combinations(range(n), n // 2)}
    assert set(sums.ravel()) == allowed  # all 35 come up in 1,200 draws
    assert not (sums[0] & sums[1]).any()


def test_each_relation_is_dealt_apart_and_the_seed_decides():
    groups = [np.arange(10.0)[None]] * 3
    one, two = (agreement.half_accuracies(groups, seed=seed) for seed in (0, 1))
    assert (one[0, :, 0, 0] != one[0, :, 0, 1]).any()
    assert (one != two).any()
    assert (one == agreement.half_accuracies(groups, seed=0)).all()


def test_reliability_by_hand():
    # r of (0, 1, 2) and (0, 2, 1) is 0.5, so 2 * 0.5 / 1.5.
    assert agreement.reliability([[[0, 1, 2]], [[0, 2, 1]]]) == pytest.approx(2 / 3)
    assert agreement.reliability([[[0, 1, 2]], [[2, 1, 0]]]) == 0.0
    assert agreement.reliability([[[1, 1, 1]], [[2, 1, 0]]]) == 0.0


def test_reliability_finds_the_share_of_the_variance_that_was_put_in():
    values = made_up(4_000, 10, of_relation=0.3, of_fact=0, alike=0)
    halves = agreement.half_accuracies(values, seed=0, n_splits=20)
    share = 0.3**2 / (0.3**2 + 1 / 10)
    assert agreement.reliability(halves[:, :, 0]) == pytest.approx(share, abs=0.03)


def test_reliability_on_all_halves_of_four_facts_is_that_of_the_three_ways_to_halve():
    right = np.array([[1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0]])
    # With one split for all relations, the mean over draws nears the mean over all ways.
    drawn = agreement.half_accuracies(right[:, None], seed=0, n_splits=20_000)[:, :, 0]
    ways = [(list(p), sorted({0, 1, 2, 3} - set(p))) for p in combinations(range(4), 2)]
    every = np.array(np.meshgrid(*[range(len(ways))] * 5)).reshape(5, -1).T
    table = np.array([[[row[part].mean() for part in way] for way in ways] for row in right])
    first, second = (table[np.arange(5), every, half] for half in (0, 1))
    h = pearsonr(first, second, axis=-1).statistic.mean()
    assert agreement.reliability(drawn) == pytest.approx(2 * h / (1 + h), abs=0.01)


def test_without_shared_facts_r_stays_below_the_ceiling_and_near_their_product():
    values = made_up(4_000, 10, of_relation=0.3, of_fact=0, alike=0.8)
    halves = agreement.half_accuracies(values, seed=0, n_splits=20)
    a, b = halves[:, :, 0], halves[:, :, 1]
    top = agreement.ceiling(a, b)
    r = agreement.correlation(*values.mean(axis=-1).T)
    assert r == pytest.approx(0.8 * top, abs=0.03)
    assert agreement.on_other_facts(a, b) == pytest.approx(r, abs=0.03)


def test_shared_facts_make_r_without_any_agreement_on_relations_and_other_facts_do_not():
    values = made_up(4_000, 10, of_relation=0, of_fact=2, alike=0)
    halves = agreement.half_accuracies(values, seed=0, n_splits=20)
    a, b = halves[:, :, 0], halves[:, :, 1]
    assert agreement.correlation(*values.mean(axis=-1).T) == pytest.approx(4 / 5, abs=0.02)
    assert abs(agreement.on_other_facts(a, b)) < 0.05
    assert agreement.reliability(a) < 0.05


def test_with_shared_facts_the_ceiling_does_not_bound_r_but_bounds_r_on_other_facts():
    values = made_up(4_000, 10, of_relation=0.4, of_fact=2, alike=0.9)
    halves = agreement.half_accuracies(values, seed=0, n_splits=20)
    a, b = halves[:, :, 0], halves[:, :, 1]
    share = 0.4**2 / (0.4**2 + (2**2 + 1) / 10)
    assert agreement.ceiling(a, b) == pytest.approx(share, abs=0.04)
    assert agreement.correlation(*values.mean(axis=-1).T) > share + 0.2
    assert agreement.on_other_facts(a, b) == pytest.approx(0.9 * share, abs=0.04)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 2], [1, 2], "3 relations"),
        ([1, 2, 3], [1, 2, 3, 4], r"\(3,\) and \(4,\)"),
        ([1, 2, np.nan], [1, 2, 3], "not finite"),
    ],
)
def test_what_has_no_r_is_refused(a, b, message):
    with pytest.raises(ValueError, match=message):
        agreement.correlation(a, b)


@pytest.mark.parametrize(
    ("groups", "n_splits", "message"),
    [
        ([], 5, "0 relations"),
        ([[[1, 0]]], 0, "0 splits"),
        ([[[1]]], 5, "2 facts"),
        ([[1, 0]], 5, "model, fact"),
        ([[[1, 0]], [[1, 0], [0, 1]]], 5, "shapes"),
        ([[[1, np.nan]]], 5, "not finite"),
    ],
)
def test_what_cannot_be_halved_is_refused(groups, n_splits, message):
    with pytest.raises(ValueError, match=message):
        agreement.half_accuracies(groups, seed=0, n_splits=n_splits)


def test_halves_of_other_shapes_are_refused():
    for halves in (np.zeros((2, 5)), np.zeros((3, 5, 4))):
        with pytest.raises(ValueError, match="half, split, relation"):
            agreement.reliability(halves)
    with pytest.raises(ValueError, match="half, split, relation"):
        agreement.on_other_facts(np.zeros((2, 5, 4)), np.zeros((2, 6, 4)))


# --- noise


def test_noise_is_scipys_standard_error_root_mean_square():
    groups = [RNG.random(n) < p for n, p in [(30, 0.2), (8, 0.5), (100, 0.9), (2, 0.5)]]
    expected = np.sqrt(np.mean([sem(group.astype(float)) ** 2 for group in groups]))
    assert agreement.noise(groups) == pytest.approx(expected, abs=1e-12)


def test_noise_squared_is_the_variance_of_an_accuracy_over_all_draws():
    n, p = 4, 0.3
    draws = np.array(list(product([0, 1], repeat=n)))
    weight = np.prod(np.where(draws, p, 1 - p), axis=1)
    mean = sum(w * agreement.noise([draw]) ** 2 for w, draw in zip(weight, draws, strict=True))
    assert mean == pytest.approx(p * (1 - p) / n, abs=1e-12)


def test_noise_of_answers_that_are_all_alike_is_zero():
    assert agreement.noise([[True, True], [False, False, False]]) == 0.0


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([], "2 facts or more"),
        ([[1, 0], [1]], r"\(1,\)"),
        ([[[1, 0]]], r"\(1, 2\)"),
        ([[0.5, 1]], "neither 0 nor 1"),
        ([[np.nan, 1]], "neither 0 nor 1"),
    ],
)
def test_what_has_no_noise_is_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        agreement.noise(groups)
