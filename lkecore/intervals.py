"""Intervals and paired tests: how far would a number move, had facts or relations been others?

An interval answers one question, and each function says which:

    proportion            other facts of this kind; counts of right answers in one relation
    mean_over_facts       other facts of these very relations
    mean_over_relations   other relations too
    std_over_relations    the same, for how much relations differ
    ratio_over_relations  the same, for the ratio of two means, a share of a share
    correlation_over_relations   the same, for whether models do well in the same relations
    paired_difference     other facts of these very relations, two conditions on the same facts
    statistic_over_facts  other facts of one relation, any statistic of conditions on the same facts
    auroc_over_pairs      other pairs of a told fact and its control, or the same for a difference

Values come as `groups`: a sequence with one array per relation, each with axis (fact,).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

from lkecore.metrics.agreement import correlation

N_RESAMPLES = 10_000  # the ends then move by about 3 % of a standard error from seed to seed
BLOCK = (
    2**20
)  # values drawn at once, about 16 MB with their indices; the numbers do not depend on it


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval: low, high, level (0.95 for 95 %), and the method's name."""

    estimate: float
    low: float
    high: float
    level: float
    method: str

    def __post_init__(self) -> None:
        _check_level(self.level)
        # Written so that a NaN fails too. A percentile interval may well leave out its estimate.
        if not (self.low <= self.high and np.isfinite(self.estimate)):
            raise ValueError(
                f"interval {self.estimate} [{self.low}, {self.high}] needs numbers with low <= high"
            )

    def text(self, digits: int = 2) -> str:
        """The interval as text with `digits` decimals.

        >>> Interval(0.481, 0.4, 0.5613, 0.95, "Wilson").text()
        '0.48 [0.40, 0.56]'
        """
        # Adding 0.0 turns the -0.0 that rounding can leave into 0.0.
        estimate, low, high = (
            f"{round(x, digits) + 0.0:.{digits}f}" for x in (self.estimate, self.low, self.high)
        )
        return f"{estimate} [{low}, {high}]"


def proportion(successes: int, n: int, level: float = 0.95) -> Interval:
    """Wilson interval of a share, such as one relation's accuracy.

    Question: what would the share be over all facts of this kind, of which `n` were drawn and
    `successes` came out right? In [0, 1]. Wilson rather than a bootstrap, because resampling
    all-right answers gives all-right answers: a width of zero. Weakness: facts count as
    independent. ValueError unless 0 <= successes <= n and n >= 1.

    By hand, with all 4 of 4 right and z = 1.959964: low = 1 / (1 + z**2 / 4) = 0.5101, high = 1.

    >>> proportion(4, 4).text(4)
    '1.0000 [0.5101, 1.0000]'
    """
    _check_level(level)
    if not 0 <= successes <= n or n < 1:
        raise ValueError(
            f"{successes} successes of {n}; the rule is 0 <= successes <= n and n >= 1"
        )
    interval = binomtest(int(successes), int(n)).proportion_ci(level, method="wilson")
    return Interval(successes / n, float(interval.low), float(interval.high), level, "Wilson")


def mean_over_facts(
    groups: Sequence[ArrayLike],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Mean over relations of the mean over facts, with an interval over facts.

    Question: what would the mean be with **other facts of these very relations**? The relations
    stay; facts are drawn again with replacement inside each (stratified percentile bootstrap).

        estimate = (1 / R) * sum over relations r of (mean of groups[r])

    Each relation counts the same however many facts it has, as in Table 7 of Wu et al. 2024
    (IC-LKE). `groups[r]` holds the values of relation r, axis (fact,): correctness (0 or 1),
    confidences or paired differences; the unit of the result is theirs. Weaknesses: too narrow with
    few facts a relation (by about sqrt(1 - 1/n)); width zero where the values of every relation are
    all equal, which is no certainty (see `proportion`); says nothing on other relations. ValueError
    for no relation, fewer than 2 facts in one, or a value that is not finite.

    >>> interval = mean_over_facts([[1, 1, 1, 0], [0, 0]], seed=0)
    >>> interval.estimate  # (3/4 + 0) / 2, not 3/6
    0.375
    """
    values = _checked_groups(groups, least=1)
    means = _resampled_means(
        values, np.random.default_rng(seed), n_resamples, redraw_relations=False
    )
    return _percentile(_mean_of_means(values), means.mean(axis=1), level, "bootstrap over facts")


def mean_over_relations(
    groups: Sequence[ArrayLike],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Mean over relations of the mean over facts, with an interval over relations and facts.

    Question: what would the mean be with **other relations too**, of the kind these were chosen
    from? Two stages: relations are drawn with replacement, then facts with replacement inside each
    drawn relation (percentile bootstrap). Estimate, `groups` and unit as in `mean_over_facts`.
    Weaknesses: the percentile is too narrow with few relations, and two stages err wide, because
    relation means already carry the noise of their facts. In simulations (beta-distributed accuracies
    of mean 0.3), 95 % intervals held the truth in 98 % and more if all relations were alike; if they
    differed (standard deviation 0.15), with 25 and 100 facts of each, in 87 and 79 % with 3 relations,
    90 and 85 % with 4, 95 and 91 % with 8, 95 % with 16. And relations picked by hand are no random
    draw. ValueError for fewer than 2 relations, and as in `mean_over_facts`.

    >>> mean_over_relations([[1, 1], [1, 1]], seed=0).text()  # nothing varies, so no width
    '1.00 [1.00, 1.00]'
    """
    values = _checked_groups(groups, least=2)
    means = _resampled_means(
        values, np.random.default_rng(seed), n_resamples, redraw_relations=True
    )
    return _percentile(
        _mean_of_means(values), means.mean(axis=1), level, "bootstrap over relations and facts"
    )


def std_over_relations(
    groups: Sequence[ArrayLike],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Standard deviation over relations of the mean over facts: how much relations differ.

    Question: how far apart would **other relations too** lie? Resampled as in
    `mean_over_relations`.

        estimate = sqrt( sum over r of (m_r - mean m)**2 / (R - 1) ),   m_r = mean of groups[r]

    The `std` column of Table 7 of Wu et al. 2024 (IC-Q12: read as over relations; whether it
    divides by R or R - 1 is not said). At least 0, in the unit of the values; no direction is
    better. Weaknesses: the noise of few facts adds to the spread of relations, so it errs high
    (0.200 becomes 0.202 with 400 facts a relation, 0.204 with 150, at accuracies near one half);
    drawing a relation twice pulls the other way, so with few relations the interval lies low (in
    simulations, 95 % intervals held the truth in 91 % with 12 relations of 150 facts, 93 % with
    30). Errors as in `mean_over_relations`.

    >>> std_over_relations([[0, 0], [1, 1], [0, 1]], seed=0).estimate  # means 0, 1, 0.5
    0.5
    """
    values = _checked_groups(groups, least=2)
    means = _resampled_means(
        values, np.random.default_rng(seed), n_resamples, redraw_relations=True
    )
    estimate = float(np.std([group.mean() for group in values], ddof=1))
    return _percentile(
        estimate, means.std(axis=1, ddof=1), level, "bootstrap over relations and facts"
    )


def ratio_over_relations(
    tops: Sequence[ArrayLike],
    bottoms: Sequence[ArrayLike],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval | None:
    """Ratio of two means over relations of the same facts, a share in [0, 1].

    Question: what would the share be with **other relations too**? Resampled as in
    `mean_over_relations`, the two values of a fact together; each mean as there.

        estimate = (mean over r of mean tops[r]) / (mean over r of mean bottoms[r])

    Relations of which `bottoms` has more count more. Values may be negative, as in
    `metrics.iclke.without_luck`; what passes 0 or 1 is cut off there. A resample whose lower mean is
    not above 0 says nothing: it counts as 0 for the lower end and as 1 for the upper. None if that
    is so of the data themselves: there is nothing to take a share of. Weaknesses and errors as in
    `mean_over_relations`; ValueError too where lengths do not match.

    >>> ratio_over_relations([[1, 0], [0, 0]], [[1, 1], [1, 0]], seed=0).estimate  # 0.25 / 0.75
    0.3333333333333333
    """
    values = _checked_groups(tops, least=2), _checked_groups(bottoms, least=2)
    lengths = [[len(group) for group in groups] for groups in values]
    if lengths[0] != lengths[1]:
        raise ValueError(
            f"facts a relation are {lengths[0]} and {lengths[1]}; a ratio needs the same facts"
        )
    top, bottom = map(_mean_of_means, values)
    if bottom <= 0:
        return None
    # One seed for both, so that both draw the same relations and facts.
    above, below = (
        _resampled_means(each, np.random.default_rng(seed), n_resamples, redraw_relations=True)
        for each in values
    )
    above, below = above.mean(axis=1), below.mean(axis=1)
    drawn = np.full(n_resamples, np.nan)
    np.divide(above, below, out=drawn, where=below > 0)
    _check_level(level)
    low, high = (
        np.quantile(np.clip(np.nan_to_num(drawn, nan=worst), 0, 1), end)
        for worst, end in ((0.0, (1 - level) / 2), (1.0, (1 + level) / 2))
    )
    share = float(np.clip(top / bottom, 0, 1))
    return Interval(share, float(low), float(high), level, "bootstrap over relations and facts")


def correlation_over_relations(
    groups: Sequence[ArrayLike],
    *,
    seed: int,
    pairs: Sequence[tuple[int, int]] = ((0, 1),),
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Pearson's r of two models' means over relations, with an interval over relations.

    Question: would they agree as much on **other relations too**, asked as many facts? Relations are
    drawn again, each with the facts that were asked: to draw these again as well would add noise
    to accuracies that are noisy already, and every r would come out too low. `groups[r]` holds the
    values of relation r, (model, fact); `pairs` names the models, by place, whose r is taken. With
    several pairs it is their mean, as for two families (IC-E8). In [-1, 1]. A resample in which a
    model has no spread says nothing of r: it counts as -1 for the lower end and as 1 for the upper.
    Weaknesses: the interval is a little too narrow and lies a little high (in simulations, 95 %
    intervals held the truth in 90 to 92 % with 12 or 16 relations and in 93 to 95 % with 50, and
    those that missed it lay mostly above); and relations picked by hand are no random draw.
    ValueError for fewer than 3 relations, groups of other shapes, a value that is not finite, no
    pairs or one out of range, or a model with the same mean in all relations.

    >>> right = [[[1, 1, 0, 0], [1, 0, 0, 0]], [[1, 1, 1, 1], [1, 1, 0, 0]], [[0] * 4, [0] * 4]]
    >>> correlation_over_relations(right, seed=0).estimate  # 0.5, 1, 0 and 0.25, 0.5, 0
    1.0
    """
    _check_resamples(n_resamples)
    _check_level(level)
    values = [np.asarray(group, dtype=np.float64) for group in groups]
    shapes = [v.shape for v in values]
    if any(v.ndim != 2 or len(v) != len(values[0]) or v.shape[1] < 2 for v in values):
        raise ValueError(f"shapes are {shapes}; each needs (model, fact) and 2 facts or more")
    if len(values) < 3:
        raise ValueError(f"r over relations needs 3 relations or more, found {len(values)}")
    if not pairs or any(not 0 <= place < len(values[0]) for pair in pairs for place in pair):
        raise ValueError(
            f"pairs {list(pairs)}: places of two of the {len(values[0])} models, or more"
        )
    means = np.stack([group.mean(axis=1) for group in values], axis=-1)
    estimate = float(np.mean([correlation(means[a], means[b]) for a, b in pairs]))
    if np.isnan(estimate):
        raise ValueError("a model has the same mean in all relations; r is not defined for it")
    rng = np.random.default_rng(seed)
    again = means[:, rng.integers(len(values), size=(n_resamples, len(values)))]
    drawn = np.mean([correlation(again[a], again[b]) for a, b in pairs], axis=0)
    ends = (1 - level) / 2, (1 + level) / 2
    low, high = (
        np.quantile(np.nan_to_num(drawn, nan=worst), end)
        for worst, end in zip((-1.0, 1.0), ends, strict=True)
    )
    return Interval(estimate, float(low), float(high), level, "bootstrap over relations")


def paired_difference(
    a_groups: Sequence[ArrayLike],
    b_groups: Sequence[ArrayLike],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Mean of a minus b over the same facts, with an interval over facts.

    Question: how would two conditions (models, formats) differ on **other facts of these very
    relations**? `a_groups[r][i]` and `b_groups[r][i]` are the same fact; their difference is taken
    first, so what a fact's difficulty adds to both cancels. Positive where a is larger. Then as in
    `mean_over_facts`, weaknesses and errors included; ValueError too where lengths do not match.

    >>> paired_difference([[1, 1, 1, 0]], [[1, 0, 0, 0]], seed=0).estimate  # (0 + 1 + 1 + 0) / 4
    0.5
    """
    a, b = _checked_groups(a_groups, least=1), _checked_groups(b_groups, least=1)
    lengths = [len(group) for group in a], [len(group) for group in b]
    if lengths[0] != lengths[1]:
        raise ValueError(
            f"facts a relation are {lengths[0]} and {lengths[1]}; pairs need the same facts"
        )
    differences = [x - y for x, y in zip(a, b, strict=True)]
    return mean_over_facts(differences, seed=seed, n_resamples=n_resamples, level=level)


def statistic_over_facts(
    values: ArrayLike,
    statistic: Callable[[NDArray[np.float64]], float],
    *,
    seed: int,
    redraw: int | None = None,
    nested: bool = False,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Any statistic of several conditions on the same facts, with an interval over facts.

    Question: what would the statistic be on **other facts of this relation**? `values` has the axes
    (condition, ..., fact), such as correctness by draw of shots and fact; whole facts are drawn
    again with replacement, so that what belongs to one fact stays together (percentile
    bootstrap). With `redraw`, an axis of conditions, the question is about **other draws of shots
    too**: the draws along that axis are drawn again as well, the same ones for all other
    conditions. With `nested`, too, each of these draws has facts of its own: within each draw that is
    drawn, its facts are drawn again, apart from those of the others. `statistic` takes such an array
    and returns one number, whose unit the result has.
    Weaknesses: without `redraw` five draws of shots are these five, and for their spread the
    interval is far too narrow; with it, five are few, and a spread of a sample drawn again errs
    low; the spread itself errs high by the noise of few facts; a statistic that jumps, such as a
    least number, has an interval that jumps. ValueError for fewer than 2 facts, a value that is not
    finite, an axis to redraw that there is not, or `nested` without one.

    >>> right = [[1, 1, 0, 0], [1, 1, 1, 0]]
    >>> statistic_over_facts(right, lambda v: v.mean(axis=-1).std(ddof=1), seed=0).estimate
    0.1767766952966369
    """
    _check_level(level)
    _check_resamples(n_resamples)
    table = np.asarray(values, dtype=np.float64)
    if table.ndim < 2 or table.shape[-1] < 2:
        raise ValueError(
            f"values have the shape {table.shape}; the last axis needs 2 facts or more"
        )
    if not np.isfinite(table).all():
        raise ValueError("values hold one that is not finite")
    if redraw is not None and not 0 <= redraw < table.ndim - 1:
        raise ValueError(f"redraw is {redraw}; the conditions have the axes 0 to {table.ndim - 2}")
    if nested and redraw is None:
        raise ValueError(
            "nested says that each draw has its own facts; redraw must name their axis"
        )
    rng = np.random.default_rng(seed)
    n = table.shape[-1]
    resampled = np.empty(n_resamples)
    for i, facts in enumerate(rng.integers(n, size=(n_resamples, n))):
        if nested:
            size = table.shape[redraw]
            draws = rng.integers(size, size=size)
            own = rng.integers(n, size=(size, n))
            by_draw = np.moveaxis(table, redraw, -2)[..., draws[:, None], own]
            again = np.moveaxis(by_draw, -2, redraw)
        else:
            again = table[..., facts]
            if redraw is not None:
                size = table.shape[redraw]
                again = np.take(again, rng.integers(size, size=size), axis=redraw)
        resampled[i] = statistic(again)
    method = "bootstrap over facts" if redraw is None else "bootstrap over draws and facts"
    method += " within them" if nested else ""
    return _percentile(float(statistic(table)), resampled, level, method)


def auroc_over_pairs(
    told: ArrayLike,
    control: ArrayLike,
    *,
    seed: int,
    minus: tuple[ArrayLike, ArrayLike] | None = None,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """AUROC of told facts against their controls, with an interval over pairs.

    Question: what would the AUROC be with **other pairs** of a fact and its control? Pairs are drawn
    again with replacement, a fact and its control together (percentile bootstrap).

        AUROC = (1 / n**2) * sum over i and j of [told_i > control_j] + [told_i = control_j] / 2

    ``told`` and ``control`` are (pair,), such as confidences. With ``minus``, the (told, control) of
    the same pairs by another estimator, the result is the difference of the two AUROCs: positive
    where the first one is larger. It is :func:`statistic_over_facts` of
    :func:`lkecore.metrics.lab.auroc`, drawn alike, but all resamples are one product of matrices.
    Weakness: the width is zero where every told fact lies above every control, which is no
    certainty. ValueError for shapes that differ, fewer than 2 pairs, or a value that is not finite.

    >>> auroc_over_pairs([0.9, 0.5], [0.5, 0.1], seed=0).estimate  # (1 + 1 + 0.5 + 1) / 4
    0.875
    """
    _check_resamples(n_resamples)
    above = _told_above(told, control)
    if minus is not None:
        other = _told_above(*minus)
        if other.shape != above.shape:
            raise ValueError(f"{len(above)} pairs minus {len(other)}; both need the same pairs")
        above = above - other
    n = len(above)
    drawn = np.random.default_rng(seed).integers(n, size=(n_resamples, n))
    resampled = np.empty(n_resamples)
    step = max(1, BLOCK // n)
    for start in range(0, n_resamples, step):
        some = drawn[start : start + step]
        places = some + n * np.arange(len(some))[:, None]
        times = np.bincount(places.ravel(), minlength=some.size).reshape(some.shape)
        resampled[start : start + step] = ((times @ above) * times).sum(axis=1) / n**2
    return _percentile(float(above.mean()), resampled, level, "bootstrap over pairs")


def _told_above(told: ArrayLike, control: ArrayLike) -> NDArray[np.float64]:
    """(pair, pair): 1 where the told fact of the row lies above the control of the column."""
    a, b = np.asarray(told, dtype=np.float64), np.asarray(control, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2:
        raise ValueError(
            f"told {a.shape} and control {b.shape}; both need the same (pair,), 2 or more"
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("told or control holds a value that is not finite")
    return (a[:, None] > b) + 0.5 * (a[:, None] == b)


def mcnemar(a: ArrayLike, b: ArrayLike) -> float:
    """Exact two-sided p of McNemar's test: are a and b right on equally many of the same facts?

    `a` and `b` are (fact,) bool, matched. Only facts that one has right and the other wrong count:
    with n10 and n01 of them, p = P(a fair coin, tossed n10 + n01 times, is at least as uneven). In
    (0, 1], small p = they differ; 1 where they never disagree. Weakness: a p is no size (see
    `paired_difference`), and facts count as independent. ValueError for dtypes other than bool,
    different shapes or no facts.

    >>> a = np.array([True] * 5 + [False, True])
    >>> b = np.array([False] * 5 + [False, True])
    >>> mcnemar(a, b)  # 5 against 0: 2 / 2**5
    0.0625
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != bool or b.dtype != bool:
        raise ValueError(f"dtypes are {a.dtype} and {b.dtype}; correctness must be bool")
    if a.ndim != 1 or a.shape != b.shape or not len(a):
        raise ValueError(
            f"shapes are {a.shape} and {b.shape}; both need the same (fact,), 1 fact or more"
        )
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    if only_a + only_b == 0:
        return 1.0
    return float(binomtest(only_a, only_a + only_b, 0.5).pvalue)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """p values adjusted by Holm's method for having made several tests, in the given order.

    Sorted p_(1) <= ... <= p_(m) become max over j <= i of min(1, (m - j + 1) * p_(j)): below 0.05
    in any means that the chance of even one false alarm is below 0.05. In [0, 1], axis (test,).
    Ties stay ties; none in, none out. ValueError for a value that is NaN or outside [0, 1].

    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()  # 3 * 0.01, then 2 * 0.03 for both
    [0.03, 0.06, 0.06]
    """
    # Imported late: it takes a second that most users of this module need not wait.
    from statsmodels.stats.multitest import multipletests

    p_values = np.asarray(p_values, dtype=np.float64)
    if p_values.ndim != 1 or not ((p_values >= 0) & (p_values <= 1)).all():
        raise ValueError(
            f"p values are {p_values.tolist()}; they must be a list of numbers in [0, 1]"
        )
    return multipletests(p_values, method="holm")[1] if len(p_values) else p_values


def _resampled_means(
    values: list[NDArray[np.float64]],
    rng: np.random.Generator,
    n_resamples: int,
    *,
    redraw_relations: bool,
) -> NDArray[np.float64]:
    """Means of resampled facts, (resample, slot): a slot holds its own relation or a drawn one.

    A relation that is drawn into several slots gets its own draw of facts in each.
    """
    _check_resamples(n_resamples)
    shape = (n_resamples, len(values))
    relation = rng.integers(len(values), size=shape) if redraw_relations else np.arange(len(values))
    relation = np.broadcast_to(relation, shape)
    means = np.empty(shape)
    for index, facts in enumerate(values):
        slots = relation == index
        means[slots] = _draws(facts, int(slots.sum()), rng)
    return means


def _draws(
    facts: NDArray[np.float64], n_draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(draw,) means of len(facts) values drawn with replacement, in blocks to bound memory."""
    step = max(1, BLOCK // len(facts))
    means = np.empty(n_draws)
    for start in range(0, n_draws, step):
        size = (min(step, n_draws - start), len(facts))
        means[start : start + size[0]] = facts[rng.integers(len(facts), size=size)].mean(axis=1)
    return means


def _percentile(estimate: float, resampled: NDArray, level: float, method: str) -> Interval:
    _check_level(level)
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high), level, method)


def _mean_of_means(values: list[NDArray[np.float64]]) -> float:
    return float(np.mean([group.mean() for group in values]))


def _checked_groups(groups: Sequence[ArrayLike], *, least: int) -> list[NDArray[np.float64]]:
    values = [np.asarray(group, dtype=np.float64) for group in groups]
    if len(values) < least:
        raise ValueError(f"{len(values)} relations given; this interval needs at least {least}")
    for index, group in enumerate(values):
        if group.ndim != 1 or len(group) < 2:
            raise ValueError(
                f"relation {index} has values of shape {group.shape}; it needs 2 facts or more"
            )
        if not np.isfinite(group).all():
            raise ValueError(
                f"relation {index} holds a value that is not finite; drop and count it first"
            )
    return values


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must lie between 0 and 1, such as 0.95")


def _check_resamples(n_resamples: int) -> None:
    if n_resamples < 100:
        raise ValueError(
            f"n_resamples is {n_resamples}; at least 100 are needed for an interval's ends"
        )
