"""Intervals and paired tests: by pencil, by scipy and statsmodels, by plain loops, by coverage.

The tolerance between two bootstraps is given in standard errors (SE) of the estimate. An end at 2.5
% has a Monte Carlo error of sqrt(0.025 * 0.975 / B) / 0.058 SE, 0.027 SE at B = 10,000 resamples
and 0.060 SE at B = 2,000. Five times the error of a difference of two such ends is allowed.
"""

import itertools

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from lkecore import intervals
from lkecore.intervals import relations
from lkecore.intervals.interval import Interval, proportion
from lkecore.intervals.paired import holm, mcnemar
from lkecore.intervals.relations import (
    mean_over_facts,
    mean_over_relations,
    paired_difference,
    std_over_relations,
)
from lkecore.intervals.statistic import statistic_over_facts

BOOTSTRAPS = [mean_over_facts, std_over_relations]


def uneven_groups(seed: int = 1) -> list[np.ndarray]:
    """Correctness of five relations with different accuracies and numbers of facts."""
    rng = np.random.default_rng(seed)
    sizes_and_accuracies = [(40, 0.9), (10, 0.2), (25, 0.5), (60, 0.4), (15, 0.7)]
    return [(rng.random(n) < p).astype(float) for n, p in sizes_and_accuracies]


def ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


# --- Interval


@pytest.mark.parametrize(
    ("low", "high", "sides"),
    [(0.1, 0.2, (1, -1)), (-0.2, -0.1, (-1, -1)), (-0.1, 0.6, (0, 0)), (0.6, 0.7, (1, 1))]
    + [(0.0, 0.5, (0, 0)), (-0.1, 0.0, (0, -1)), (0.5, 0.6, (1, 0))],  # an end is held
)
def test_the_side_of_a_value_on_which_an_interval_lies_by_hand(low, high, sides):
    found = Interval(low, low, high, 0.95, "by hand")
    assert (found.side(), found.side(0.5)) == sides


def test_text_rounds_and_shows_no_negative_zero():
    assert Interval(0.48, 0.4, 0.56, 0.95, "by hand").text() == "0.48 [0.40, 0.56]"
    assert Interval(-0.001, -0.004, 0.12, 0.95, "by hand").text() == "0.00 [0.00, 0.12]"
    assert Interval(0.48, 0.4, 0.56, 0.95, "by hand").text(1) == "0.5 [0.4, 0.6]"


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0.5, 0.6, 0.4, 0.95), "low <= high"),
        ((0.5, float("nan"), 0.6, 0.95), "low <= high"),
        ((float("nan"), 0.4, 0.6, 0.95), "low <= high"),
        ((0.5, 0.4, 0.6, 95), "level is 95"),
    ],
)
def test_an_interval_that_is_none_is_refused(numbers, message):
    with pytest.raises(ValueError, match=message):
        Interval(*numbers, "by hand")


# --- proportion


def test_wilson_by_hand():
    # z = 1.959964, z**2 = 3.841459; centre = (5/10 + z**2/20) / (1 + z**2/10) = 0.5
    # half width = z / 1.384146 * sqrt(0.025 + z**2/400) = 0.263406
    interval = proportion(5, 10)
    assert interval.estimate == 0.5
    assert ends(interval) == pytest.approx([0.236594, 0.763406], abs=1e-5)


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (3, 7), (150, 150), (37, 400)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_wilson_equals_statsmodels(successes, n, level):
    expected = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    assert ends(proportion(successes, n, level)) == pytest.approx(expected, abs=1e-12)


def test_all_right_answers_have_a_width_in_wilson_and_none_in_a_bootstrap():
    assert proportion(20, 20).low < 0.9
    assert ends(mean_over_facts([np.ones(20)], seed=0)) == [1.0, 1.0]


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_impossible_counts_are_refused(successes, n):
    with pytest.raises(ValueError, match=f"{successes} successes of {n}"):
        proportion(successes, n)


# --- bootstraps: estimates


def test_each_relation_counts_the_same_however_many_facts_it_has():
    groups = [[1, 1, 1, 0], [0, 0]]  # accuracies 0.75 and 0
    assert mean_over_facts(groups, seed=0).estimate == 0.375
    assert mean_over_relations(groups).estimate == 0.375
    # deviations from 0.375 are 0.375 twice: sqrt(2 * 0.140625 / 1)
    assert std_over_relations(groups, seed=0).estimate == pytest.approx(0.53033, abs=1e-5)


@pytest.mark.parametrize("function", BOOTSTRAPS)
def test_values_that_are_all_equal_have_no_width(function):
    interval = function([[0.5, 0.5], [0.5, 0.5, 0.5]], seed=3)
    assert ends(interval) == [interval.estimate] * 2


# --- bootstraps: ends


def test_one_relation_equals_scipys_percentile_bootstrap():
    values = uneven_groups()[0]
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(9)
    )
    tolerance = 5 * np.sqrt(2) * 0.027 * theirs.standard_error
    ours = ends(mean_over_facts([values], seed=4))
    assert ours == pytest.approx(list(theirs.confidence_interval), abs=tolerance)


def test_relations_whose_facts_are_all_equal_leave_scipys_bootstrap_of_relations():
    means = np.array([0.1, 0.4, 0.35, 0.8, 0.6, 0.95])
    groups = [np.full(3, mean) for mean in means]
    theirs = stats.bootstrap(
        (means,),
        lambda x, axis: np.std(x, axis=axis, ddof=1),
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(9),
    )
    tolerance = 5 * np.sqrt(2) * 0.027 * theirs.standard_error
    expected = list(theirs.confidence_interval)
    assert ends(std_over_relations(groups, seed=4)) == pytest.approx(expected, abs=tolerance)
    assert ends(mean_over_facts(groups, seed=4)) == pytest.approx([means.mean()] * 2)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_mean_over_relations_has_scipys_t_interval_of_their_means(level):
    groups = uneven_groups()
    means = [np.mean(group) for group in groups]
    theirs = stats.ttest_1samp(means, 0).confidence_interval(level)
    found = mean_over_relations(groups, level=level)
    assert ends(found) == pytest.approx([theirs.low, theirs.high], abs=1e-12)
    assert (found.level, found.method) == (level, "Student's t over relations")
    # By hand: 0.2 and 0.4, so s = 0.1414, and t with one degree of freedom is 12.706.
    two = mean_over_relations([[0.1, 0.3], [0.4, 0.4]])
    assert ends(two) == pytest.approx([0.3 - 12.7062 * 0.1, 0.3 + 12.7062 * 0.1], abs=1e-4)
    assert ends(mean_over_relations([[0.1, 0.3], [0.4, 0.4]], within=(0, 1))) == [0, 1]
    assert ends(mean_over_relations([[0.5, 0.5], [0, 1, 0.5]])) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        ([[1.0, 0.0]], {}, "1 relations given; this interval needs at least 2"),
        ([[], [1.0, 0.0]], {}, r"relation 0 has values of shape \(0,\)"),
        ([[1.0, 0.0], [1.0, np.nan]], {}, "relation 1 holds a value that is not finite"),
        ([[1.0, 0.0], [1.0, 0.0]], {"level": 95}, "level is 95"),
    ],
)
def test_a_mean_over_relations_refuses_what_breaks_a_rule(groups, options, message):
    with pytest.raises(ValueError, match=message):
        mean_over_relations(groups, **options)


def test_two_stages_equal_a_plain_loop():
    groups, rng = uneven_groups(), np.random.default_rng(11)
    stds = []
    for _ in range(2_000):
        drawn = [groups[r] for r in rng.integers(len(groups), size=len(groups))]
        relation_means = [rng.choice(facts, size=len(facts)).mean() for facts in drawn]
        stds.append(np.std(relation_means, ddof=1))
    tolerance = 5 * np.hypot(0.027, 0.060) * np.std(stds)
    expected = np.quantile(stds, [0.025, 0.975])
    assert ends(std_over_relations(groups, seed=5)) == pytest.approx(expected, abs=tolerance)


def test_facts_of_several_relations_equal_a_plain_loop():
    groups, rng = uneven_groups(), np.random.default_rng(12)
    means = [
        np.mean([rng.choice(facts, size=len(facts)).mean() for facts in groups])
        for _ in range(2_000)
    ]
    tolerance = 5 * np.hypot(0.027, 0.060) * np.std(means)
    expected = np.quantile(means, [0.025, 0.975])
    assert ends(mean_over_facts(groups, seed=5)) == pytest.approx(expected, abs=tolerance)


def test_intervals_cover_the_truth_of_the_question_that_they_answer():
    """200 experiments: 30 relations with accuracies of mean 0.5, 20 facts in each.

    The standard error of a share of 0.95 in 200 is 0.015; the limits leave three of them, and room
    for what the docstrings admit (facts: a little narrow; two stages: wide).
    """
    rng = np.random.default_rng(2)
    n_experiments, same, other, mistaken = 200, 0, 0, 0
    for seed in range(n_experiments):
        accuracies = rng.beta(2, 2, size=30)
        groups = [rng.random(20) < p for p in accuracies]
        over_facts = mean_over_facts(groups, seed=seed, n_resamples=500)
        over_relations = mean_over_relations(groups)
        same += over_facts.low <= accuracies.mean() <= over_facts.high
        other += over_relations.low <= 0.5 <= over_relations.high
        mistaken += over_facts.low <= 0.5 <= over_facts.high
    assert 0.89 <= same / n_experiments <= 0.985
    assert 0.90 <= other / n_experiments
    # and an interval over facts is no answer to the question on other relations
    assert mistaken / n_experiments < 0.8


@pytest.mark.parametrize("n_facts", [25, 100])
@pytest.mark.parametrize(
    ("ab", "n", "least", "most"),
    [
        ((2.5, 5.8333), 4, 0.91, 0.965),
        ((1.307, 11.76), 4, 0.86, 0.94),
        ((0.96, 47.04), 8, 0.82, 0.92),
    ],
)
def test_an_interval_over_relations_holds_the_truth_as_often_as_the_book_says(
    n_facts, ab, n, least, most
):
    """Means 0.3, 0.1 and 0.02 of a beta distribution: 94, 90 and 86 to 89 %; standard errors up to 0.012."""
    rng = np.random.default_rng(7)
    truth, held = ab[0] / sum(ab), 0
    for _ in range(800):
        groups = [rng.random(n_facts) < p for p in rng.beta(*ab, n)]
        found = mean_over_relations(groups)
        held += found.low <= truth <= found.high
    assert least <= held / 800 <= most


@pytest.mark.parametrize("function", BOOTSTRAPS)
def test_a_higher_level_gives_a_wider_interval(function):
    narrow, wide = (function(uneven_groups(), seed=0, level=level) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert (narrow.level, wide.level) == (0.8, 0.99)


# --- bootstraps: seeds and memory


@pytest.mark.parametrize("function", BOOTSTRAPS)
def test_the_same_seed_gives_the_same_interval_and_another_nearly_so(function):
    groups = uneven_groups()
    first, again, other = (function(groups, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert ends(first) != ends(other)
    # the width is about 3.9 SE; the ends may differ by 5 * sqrt(2) * 0.027 SE, a twentieth of it
    assert ends(first) == pytest.approx(ends(other), abs=0.05 * (first.high - first.low))


@pytest.mark.parametrize("function", BOOTSTRAPS)
def test_drawing_in_small_blocks_changes_no_number(function, monkeypatch):
    whole = function(uneven_groups(), seed=1, n_resamples=300)
    monkeypatch.setattr(relations, "BLOCK", 7)  # fewer values than any relation has
    assert function(uneven_groups(), seed=1, n_resamples=300) == whole


# --- bootstraps: wrong input


@pytest.mark.parametrize("function", BOOTSTRAPS)
@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        ([], {}, "0 relations given"),
        ([[1.0], [1.0, 0.0]], {}, r"relation 0 has values of shape \(1,\)"),
        ([[1.0, 0.0], [[1.0, 0.0]]], {}, r"relation 1 has values of shape \(1, 2\)"),
        ([[1.0, 0.0], [1.0, np.nan]], {}, "relation 1 holds a value that is not finite"),
        ([[1.0, 0.0], [1.0, 0.0]], {"level": 95}, "level is 95"),
        ([[1.0, 0.0], [1.0, 0.0]], {"n_resamples": 10}, "n_resamples is 10"),
    ],
)
def test_groups_that_break_a_rule_are_refused(function, groups, options, message):
    with pytest.raises(ValueError, match=message):
        function(groups, seed=0, **options)


@pytest.mark.parametrize("function", [std_over_relations])
def test_one_relation_tells_nothing_of_others(function):
    with pytest.raises(ValueError, match="1 relations given; this interval needs at least 2"):
        function([[1.0, 0.0]], seed=0)


# --- paired comparisons


def test_the_paired_difference_is_the_mean_of_differences():
    a, b = [[1, 1, 0, 1], [1, 0]], [[1, 0, 0, 0], [0, 1]]
    # differences 0 1 0 1 and 1 -1: means 0.5 and 0
    interval = paired_difference(a, b, seed=0)
    assert interval.estimate == 0.25
    assert interval == mean_over_facts([[0, 1, 0, 1], [1, -1]], seed=0)


def test_pairing_removes_what_both_share():
    a = uneven_groups()
    assert ends(paired_difference(a, a, seed=0)) == [0.0, 0.0]
    assert paired_difference([x + 0.1 for x in a], a, seed=0).text() == "0.10 [0.10, 0.10]"


def test_pairs_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"facts a relation are \[2, 3\] and \[3, 2\]"):
        paired_difference([[1, 0], [1, 0, 1]], [[1, 0, 1], [1, 0]], seed=0)
    with pytest.raises(ValueError, match="pairs need the same facts"):
        paired_difference([[1, 0]], [[1, 0], [1, 0]], seed=0)


def correctness(only_a: int, only_b: int, both: int = 3, neither: int = 2):
    a = [True] * only_a + [False] * only_b + [True] * both + [False] * neither
    b = [False] * only_a + [True] * only_b + [True] * both + [False] * neither
    return np.array(a), np.array(b)


@pytest.mark.parametrize(
    ("only_a", "only_b", "expected"),
    [
        (0, 0, 1.0),  # they never disagree
        (1, 0, 1.0),  # 2 * 1/2
        (6, 0, 2 / 64),
        (4, 1, 2 * (5 + 1) / 32),  # C(5,4) + C(5,5) of 2**5, twice
        (2, 2, 1.0),
    ],
)
def test_mcnemar_by_hand(only_a, only_b, expected):
    a, b = correctness(only_a, only_b)
    assert mcnemar(a, b) == pytest.approx(expected, rel=1e-12)
    assert mcnemar(b, a) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("only_a", "only_b"), [(3, 9), (20, 7), (1, 14)])
def test_mcnemar_equals_statsmodels(only_a, only_b):
    theirs = statsmodels_mcnemar([[3, only_a], [only_b, 2]], exact=True).pvalue
    assert mcnemar(*correctness(only_a, only_b)) == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 0], [1, 0], "dtypes are int64 and int64"),
        ([True, False], [True], r"shapes are \(2,\) and \(1,\)"),
        (np.array([], dtype=bool), np.array([], dtype=bool), "1 fact or more"),
    ],
)
def test_mcnemar_refuses_what_is_not_paired_correctness(a, b, message):
    with pytest.raises(ValueError, match=message):
        mcnemar(np.array(a), np.array(b))


def test_holm_by_hand():
    # sorted 0.01 0.02 0.03 0.5, times 4 3 2 1: 0.04 0.06 0.06 0.5, never falling
    assert holm([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.6]) == pytest.approx([1.0, 1.0])
    assert holm([0.04]) == pytest.approx([0.04])
    assert holm([]).shape == (0,)


def test_holm_equals_a_plain_loop():
    p_values = np.random.default_rng(0).random(12) ** 3
    largest, expected = 0.0, {}
    for rank, index in enumerate(np.argsort(p_values)):
        largest = max(largest, min(1.0, (12 - rank) * p_values[index]))
        expected[index] = largest
    assert holm(p_values) == pytest.approx([expected[i] for i in range(12)])


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_that_of_statsmodels_with_ties_too(seed):
    p_values = np.round(np.random.default_rng(seed).random(2 + 10 * seed) ** 4, 3)
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1], abs=1e-15)


@pytest.mark.parametrize("p_values", [[0.1, 1.2], [-0.1], [float("nan")], [[0.1]]])
def test_holm_refuses_what_is_no_p_value(p_values):
    with pytest.raises(ValueError, match=r"numbers in \[0, 1\]"):
        holm(p_values)


# --- any statistic over facts

# Four facts under two conditions and two draws each, values with no ties: (condition, draw, fact).
TABLE = np.array(
    [
        [[0.10, 0.90, 0.35, 0.62], [0.22, 0.71, 0.48, 0.05]],
        [[0.81, 0.30, 0.55, 0.97], [0.44, 0.12, 0.93, 0.68]],
    ]
)
STATISTICS = {
    "mean": lambda v: v.mean(),
    "difference of conditions": lambda v: v[1].mean() - v[0].mean(),
    "ratio of conditions": lambda v: v[0].mean() / v[1].mean(),
    "spread of draws, first condition minus second": lambda v: (
        v[0].mean(axis=1).std(ddof=1) - v[1].mean(axis=1).std(ddof=1)
    ),
    "least of the conditions": lambda v: float(v.mean(axis=(1, 2)).argmin()),  # it jumps
}


@pytest.mark.parametrize(("n_facts", "level"), [(3, 0.5), (4, 0.95)])
@pytest.mark.parametrize("name", STATISTICS)
def test_statistic_over_facts_has_the_quantiles_of_all_resamples_that_there_are(
    name, n_facts, level
):
    """All n**n resamples are equally likely, so that the exact distribution can be written down.

    The share of 10,000 draws below a quantile q has a standard error of sqrt(q * (1 - q) / 10,000);
    the end must lie between the exact quantiles of q minus and plus five of them.
    """
    table, statistic = TABLE[..., :n_facts], STATISTICS[name]
    every = itertools.product(range(n_facts), repeat=n_facts)
    exact = np.array([statistic(table[..., list(facts)]) for facts in every])
    assert len(exact) == n_facts**n_facts
    found = statistic_over_facts(table, statistic, seed=7, level=level)
    assert (found.estimate, found.level) == (statistic(table), level)
    for q, end in [((1 - level) / 2, found.low), ((1 + level) / 2, found.high)]:
        off = 5 * np.sqrt(q * (1 - q) / 10_000)
        # A statistic is summed in another order: 1e-12 is rounding.
        assert np.quantile(exact, q - off, method="inverted_cdf") - 1e-12 <= end
        assert end <= np.quantile(exact, q + off, method="inverted_cdf") + 1e-12


def test_statistic_over_facts_agrees_with_the_functions_for_a_mean_and_a_difference():
    a, b = np.random.default_rng(3).normal(size=(2, 30))
    pairs = [
        (mean_over_facts([a], seed=4), statistic_over_facts([a], np.mean, seed=5), a),
        (
            paired_difference([a], [b], seed=4),
            statistic_over_facts([a, b], lambda v: v[0].mean() - v[1].mean(), seed=5),
            a - b,
        ),
    ]
    for theirs, ours, values in pairs:
        assert ours.estimate == pytest.approx(theirs.estimate, abs=1e-12)
        # The bootstrap's standard error of a mean divides by n, not n - 1.
        tolerance = 5 * np.sqrt(2) * 0.027 * values.std() / np.sqrt(len(values))
        assert ends(ours) == pytest.approx(ends(theirs), abs=tolerance)


def test_statistic_over_facts_keeps_together_what_belongs_to_one_fact():
    columns = {tuple(TABLE[..., fact].ravel()) for fact in range(4)}
    seen = []

    def statistic(v):
        seen.append(v.copy())
        return v.mean()

    statistic_over_facts(TABLE, statistic, seed=0, n_resamples=200)
    assert all(v.shape == TABLE.shape for v in seen)
    assert {tuple(v[..., fact].ravel()) for v in seen for fact in range(4)} == columns
    assert any(len({tuple(v[..., fact].ravel()) for fact in range(4)}) < 4 for v in seen)


def test_statistic_over_facts_has_no_width_for_what_two_equal_rows_differ_by():
    row = uneven_groups()[0]
    interval = statistic_over_facts([row, row], lambda v: v[0].mean() - v[1].mean(), seed=0)
    assert (interval.estimate, *ends(interval)) == (0.0, 0.0, 0.0)
    # Each row alone has a width, which the pairing takes away.
    alone = statistic_over_facts([row, row], lambda v: v[0].mean(), seed=0)
    assert alone.high - alone.low > 0.05


def test_statistic_over_facts_takes_answers_that_are_all_wrong_without_a_word():
    wrong = np.zeros((2, 3, 5), dtype=bool)
    assert statistic_over_facts(wrong, np.mean, seed=0).text() == "0.00 [0.00, 0.00]"


def test_statistic_over_facts_takes_a_statistic_of_whole_numbers():
    found = statistic_over_facts([[1, 0, 1, 1]], lambda v: int(v.sum()), seed=0)
    assert found.estimate == 3 and found.low < 3 < found.high


@pytest.mark.parametrize(
    ("redraw", "nested"), [(None, False), (0, False), (1, False), (0, True), (1, True)]
)
def test_a_statistic_of_many_resamples_at_once_has_the_intervals_of_one_at_a_time(
    monkeypatch, redraw, nested
):
    values = np.random.default_rng(0).random((2, 3, 5))
    how = {"seed": 1, "redraw": redraw, "nested": nested, "n_resamples": 500}
    one = statistic_over_facts(values, lambda v: v[1].max() - v[0].mean(), **how)
    # In blocks of 7, the last of them not full, as well as in one.
    for block in (7 * values.size, 10**6):
        monkeypatch.setattr(intervals.statistic, "BLOCK", block)
        many = statistic_over_facts(
            values,
            lambda v: v[:, 1].max(axis=(1, 2)) - v[:, 0].mean(axis=(1, 2)),
            vectorized=True,
            **how,
        )
        assert (many.estimate, many.low, many.high) == pytest.approx(
            (one.estimate, one.low, one.high)
        )
        assert many.method == one.method


def test_statistic_over_facts_gives_the_same_for_a_seed_and_another_for_another():
    values = np.random.default_rng(0).normal(size=(2, 20))
    first, again, other = (
        statistic_over_facts(values, np.mean, seed=seed, n_resamples=500) for seed in (1, 1, 2)
    )
    assert first == again and ends(first) != ends(other)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1.0, 0.0, 1.0], {}, r"shape \(3,\); the last axis needs 2 facts or more"),
        ([[1.0], [0.0]], {}, r"shape \(2, 1\); the last axis needs 2 facts or more"),
        ([[1.0, np.nan]], {}, "not finite"),
        ([[1.0, np.inf]], {}, "not finite"),
        ([[1.0, 0.0]], {"level": 95}, "level is 95"),
        ([[1.0, 0.0]], {"n_resamples": 99}, "n_resamples is 99; at least 100"),
    ],
)
def test_statistic_over_facts_refuses_values_that_break_a_rule(values, options, message):
    with pytest.raises(ValueError, match=message):
        statistic_over_facts(values, np.mean, seed=0, **options)


def test_an_axis_of_draws_is_drawn_again_beside_the_facts():
    """All resamples of 2 draws and 2 facts by hand: 4 pairs of draws times 4 pairs of facts."""
    table = np.array([[1.0, 0.0], [0.0, 0.0]])  # (draw, fact)
    means = [
        np.mean([table[d, f] for d in draws for f in facts])
        for draws in itertools.product(range(2), repeat=2)
        for facts in itertools.product(range(2), repeat=2)
    ]
    found = intervals.statistic_over_facts(
        table, lambda v: v.mean(), seed=0, redraw=0, level=0.5, n_resamples=20_000
    )
    # Of the 16 means 7 are 0, 4 are 1/4, 4 are 1/2 and 1 is 1: the quarters lie inside their steps.
    assert sorted(means) == [0] * 7 + [0.25] * 4 + [0.5] * 4 + [1.0]
    assert (found.estimate, found.low, found.high) == (0.25, 0.0, 0.5)
    assert found.method == "bootstrap over draws and facts"


def test_draws_that_differ_widen_the_interval_only_if_they_are_drawn_again():
    """Facts that all agree leave no doubt about these draws, and much about others."""
    table = np.repeat([[0.0], [1.0], [0.0], [1.0]], 10, axis=1)
    fixed, again = (
        intervals.statistic_over_facts(table, lambda v: v.mean(), seed=0, redraw=redraw)
        for redraw in (None, 0)
    )
    assert fixed.low == fixed.high == 0.5
    # Binomial of 4 with one half: 0 of 4 and 4 of 4 have 1/16 each, more than 2.5 %.
    assert (again.low, again.high) == (0.0, 1.0)


@pytest.mark.parametrize("redraw", [-1, 1, 2])
def test_an_axis_to_redraw_must_be_one_of_the_conditions(redraw):
    with pytest.raises(
        ValueError, match=f"redraw is {redraw}; the conditions have the axes 0 to 0"
    ):
        intervals.statistic_over_facts([[0, 1], [1, 0]], np.mean, seed=0, redraw=redraw)


# --- draws with facts of their own


def resampled(table, **given) -> np.ndarray:
    """What the statistic was on each resample: the mean of all values."""
    seen = []
    intervals.statistic_over_facts(
        table, lambda v: seen.append(v.mean()) or v.mean(), seed=0, n_resamples=20_000, **given
    )
    return np.array(seen[1:] if len(seen) > 20_000 else seen)


def test_nested_draws_vary_as_two_stages_do():
    """Of the mean of D draws with n facts each: (variance of their means + mean variance / n) / D."""
    table = np.random.default_rng(3).normal(size=(4, 9)) + np.array([0, 1, 0, -2])[:, None]
    two_stages = (table.mean(1).var() + table.var(1).mean() / 9) / 4
    assert resampled(table, redraw=0, nested=True).var() == pytest.approx(two_stages, rel=0.05)


def test_facts_that_all_draws_share_average_out_only_where_they_are_nested():
    facts_ = np.random.default_rng(4).normal(size=9)
    table = np.stack([facts_] * 4)  # draws do not differ at all
    shared, own = resampled(table, redraw=0).var(), resampled(table, redraw=0, nested=True).var()
    assert shared == pytest.approx(facts_.var() / 9, rel=0.05)
    assert own == pytest.approx(facts_.var() / 9 / 4, rel=0.05)


def test_nested_keeps_the_conditions_of_one_fact_together_and_facts_in_their_draws():
    draw, fact = np.meshgrid(np.arange(3), np.arange(5), indexing="ij")
    label = 10.0 * draw + fact
    table = np.stack([label, label + 100])  # two conditions; axes (condition, draw, fact)

    def check(values):
        assert values.shape == table.shape
        np.testing.assert_array_equal(values[1] - values[0], 100)
        for row in values[0]:
            assert len(set(row // 10)) == 1 and set(row % 10) <= set(range(5))
        return values.mean()

    found = intervals.statistic_over_facts(
        table, check, seed=0, redraw=1, nested=True, n_resamples=200
    )
    assert found.method == "bootstrap over draws and facts within them"


def test_nested_needs_the_axis_of_the_draws():
    with pytest.raises(ValueError, match="redraw must name their axis"):
        intervals.statistic_over_facts([[0, 1], [1, 0]], np.mean, seed=0, nested=True)


# --- ratio_over_relations
