"""Intervals of what a smaller model knows, and of what a larger one has of it, without luck."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from lkecore.intervals.interval import N_RESAMPLES, Interval
from lkecore.intervals.relations import mean_over_relations, ratio_over_relations
from lkecore.metrics.overlap import without_luck


def rate_without_luck(
    small_groups: Sequence[ArrayLike],
    large_groups: Sequence[ArrayLike],
    n_options: int,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
) -> Interval | None:
    """The subsumption rate without the smaller model's lucky guesses, over relations.

    Question: which share of the facts that the smaller model *knows* does the larger one have right,
    with **other relations too**? Lucky guesses are taken off fact by fact, then resampled as in
    `ratio_over_relations`.

        estimate = sum over r of mean both[r] / sum over r of mean known[r],
        both[r], known[r] = metrics.overlap.without_luck(small_groups[r], large_groups[r], n_options)

    Both groups hold bool, (fact,) for each relation, the same facts. In [0, 1]; 1: all that the
    smaller one knows the larger one has, too. Relations of which the smaller one knows more count
    more. None where it is right no more often than a guess: then it knows nothing to take a share
    of. Weaknesses as in `ratio_over_relations` and `without_luck`; ValueError as there, and for
    other numbers of relations.

    >>> small = [[True, True, True, False], [True, False]]
    >>> large = [[True, True, False, False], [True, True]]
    >>> # known 2.5 of 4 and 0.5 of 2, both 2 of 4 and 0.5 of 2: (0.5 + 0.25) / (0.625 + 0.25)
    >>> round(rate_without_luck(small, large, 3, seed=0).estimate, 6)
    0.857143
    """
    if len(small_groups) != len(large_groups):
        raise ValueError(
            f"{len(small_groups)} and {len(large_groups)} relations; both models need the same ones"
        )
    pairs = [without_luck(a, b, n_options) for a, b in zip(small_groups, large_groups, strict=True)]
    both, known = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return ratio_over_relations(both, known, seed=seed, n_resamples=n_resamples, level=level)


def share_known(
    groups: Sequence[ArrayLike],
    n_options: int,
    *,
    level: float = 0.95,
) -> Interval:
    """Share of the facts that a model knows and does not just guess, over relations.

    Question and method as in `mean_over_relations`.

        estimate = mean over r of (a_r - (1 - a_r) / (n_options - 1)),   a_r = accuracy of relation r

    `groups` holds bool, (fact,) for each relation. At most 1; 0 in expectation for a model that guesses
    blindly, so it may be below 0. Weaknesses and errors as in `mean_over_relations` and
    `metrics.overlap.without_luck`.

    >>> share_known([[True, True, True, False], [True, False]], 3).estimate
    0.4375
    """
    known = [without_luck(group, group, n_options)[1] for group in groups]
    return mean_over_relations(known, level=level)
