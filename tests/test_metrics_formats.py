"""Formats: by hand, by all permutations, and against statsmodels."""

from itertools import permutations, product

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import cochrans_q

from lkecore.metrics import formats
from lkecore.stats.wordings import std_beyond_luck


def random_right(n_formats: int, n_facts: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    hard = rng.random(n_facts)
    return (rng.random((n_formats, n_facts)) < hard).astype(float)


def dealt_in_all_ways(right: np.ndarray) -> list[np.ndarray]:
    """Every way to deal out each fact's values to the formats; all are equally likely."""
    ways = [sorted(set(permutations(column))) for column in right.T]
    return [np.array(columns).T for columns in product(*ways)]


def test_spread_and_std_are_those_of_the_accuracies():
    right = [[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]]  # accuracies 0.75, 0.25, 0.5
    assert formats.spread(right) == 0.5
    assert formats.std(right) == 0.25


def test_spreads_if_alike_come_as_often_as_in_all_ways_to_deal():
    right = random_right(3, 4, seed=1)
    every = [formats.spread(way) for way in dealt_in_all_ways(right)]
    drawn = formats.spreads_if_alike(right, seed=0, n_draws=20_000)
    assert set(np.round(drawn, 9)) == set(np.round(every, 9))
    for size in set(every):
        # Four standard errors of a share from 20,000 draws.
        assert np.mean(np.isclose(drawn, size)) == pytest.approx(
            np.mean(np.isclose(every, size)), abs=0.015
        )


def test_means_over_draws_of_shots_are_dealt_out_as_right_and_wrong_answers_are():
    rng = np.random.default_rng(4)
    means = (rng.random((3, 3, 4)) < 0.5).mean(axis=0)  # (draw, format, fact): 0, a third, two, 1
    every = [formats.spread(way) for way in dealt_in_all_ways(means)]
    drawn = formats.spreads_if_alike(means, seed=0, n_draws=20_000)
    sizes = set(np.round(every, 9))
    assert set(np.round(drawn, 9)) == sizes
    for size in sizes:
        share = np.mean(np.isclose(every, size))
        assert np.mean(np.isclose(drawn, size)) == pytest.approx(share, abs=0.015)
    as_large = np.mean(np.array(every) >= formats.spread(means) - 1e-9)
    assert formats.alike_p(means, drawn) == pytest.approx(as_large, abs=0.015)
    luck = np.mean([formats.std(way) ** 2 for way in dealt_in_all_ways(means)])
    left = max(0.0, formats.std(means) ** 2 - luck) * 4 / 3
    assert std_beyond_luck(means) == pytest.approx(np.sqrt(left))


def test_the_draws_do_not_depend_on_how_many_are_made_at_once(monkeypatch):
    right = random_right(5, 12)
    at_once = formats.spreads_if_alike(right, seed=3, n_draws=100)
    monkeypatch.setattr(formats, "BLOCK", 100)
    assert formats.spreads_if_alike(right, seed=3, n_draws=100).tolist() == at_once.tolist()


def test_facts_on_which_all_formats_agree_only_dilute_the_spread():
    right = random_right(4, 10)
    padded = np.hstack([right, np.ones((4, 30))])
    few = formats.spreads_if_alike(right, seed=0, n_draws=500)
    many = formats.spreads_if_alike(padded, seed=0, n_draws=500)
    assert many.mean() == pytest.approx(few.mean() / 4, rel=0.1)


def test_the_luck_that_is_taken_off_is_the_mean_variance_over_all_ways_to_deal():
    right = random_right(3, 4, seed=2)
    luck = np.mean([formats.std(way) ** 2 for way in dealt_in_all_ways(right)])
    by_hand = max(0.0, formats.std(right) ** 2 - luck) * 4 / 3
    assert std_beyond_luck(right) == pytest.approx(by_hand**0.5)


def test_luck_is_in_the_same_relation_to_the_variance_as_in_cochrans_q():
    """Q is the variance over formats divided by that of luck, times the number of formats less 1."""
    right = random_right(6, 50, seed=4)
    right[0] = 1  # one format that does differ
    beyond = std_beyond_luck(right) ** 2 * 49 / 50
    variance = formats.std(right) ** 2
    q = cochrans_q(right.T).statistic
    assert variance / (variance - beyond) * 5 == pytest.approx(q)


def test_std_beyond_luck_finds_the_spread_that_was_put_in_where_std_errs_high():
    rng = np.random.default_rng(0)
    share = np.array([0.4, 0.5, 0.6, 0.7])
    tables = rng.random((2_000, 4, 30)) < share[:, None]
    squares = np.array([formats.std(t) ** 2 for t in tables])
    beyond = np.mean([std_beyond_luck(t) ** 2 for t in tables])
    truth = share.var(ddof=1)
    assert squares.mean() > 1.3 * truth
    assert beyond == pytest.approx(truth, rel=0.12)  # cut at 0, so a little high


def test_p_is_uniform_where_formats_are_alike():
    ps = []
    for seed in range(300):
        right = random_right(4, 30, seed)
        ps.append(formats.alike_p(right, formats.spreads_if_alike(right, seed=seed, n_draws=200)))
    assert np.mean(np.array(ps) <= 0.05) < 0.1  # 0.05 and three standard errors, and a little
    assert np.mean(ps) > 0.45  # ties make it larger, never smaller


def test_p_is_small_where_one_format_finds_all_and_one_nothing():
    right = np.vstack([np.ones(10), np.zeros(10)])
    assert formats.alike_p(right, formats.spreads_if_alike(right, seed=0)) < 0.01


def test_squares_of_the_effects_add_up_to_the_variance_of_the_table():
    table = np.random.default_rng(0).random((5, 4))
    assert (formats.effects(table) ** 2).sum() == pytest.approx(table.var())


def test_effects_by_hand():
    # Row means 0.5 and 0.25; column means 0.375 twice; left over: 0.25 up and down.
    found = formats.effects([[0.75, 0.25], [0.0, 0.5]])
    assert found.tolist() == [0.125, 0.0, 0.25]


def test_effects_if_alike_are_the_root_mean_square_over_all_ways_to_deal():
    right = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 0], [0, 1, 1], [0, 0, 0]])
    every = [formats.effects(way.mean(axis=1).reshape(3, 2)) for way in dealt_in_all_ways(right)]
    by_all = np.sqrt(np.mean(np.square(every), axis=0))
    assert formats.effects_if_alike(right, (3, 2)) == pytest.approx(by_all)


def test_effects_if_alike_need_the_shape_of_the_table():
    with pytest.raises(ValueError, match="6 formats are no table of 2 by 4"):
        formats.effects_if_alike(np.ones((6, 3)), (2, 4))


@pytest.mark.parametrize("right", [[1, 0], [[1, 0]], [[], []], [[1, np.nan], [0, 1]]])
def test_what_is_no_table_of_formats_and_facts_is_refused(right):
    for function in (formats.spread, formats.std, std_beyond_luck):
        with pytest.raises(ValueError):
            function(right)
    with pytest.raises(ValueError):
        formats.spreads_if_alike(right, seed=0)


def test_other_refusals_name_the_number():
    with pytest.raises(ValueError, match="1 fact"):
        std_beyond_luck([[1], [0]])
    with pytest.raises(ValueError, match="n_draws is 5"):
        formats.spreads_if_alike([[1], [0]], seed=0, n_draws=5)
    for table in ([[0.1, 0.2]], [0.1, 0.2], [[0.1, np.nan], [0.2, 0.3]]):
        with pytest.raises(ValueError, match="shape"):
            formats.effects(table)
