"""Intervals and paired tests: how far would a number move, had facts or relations been others?

An interval answers one question, and each function says which:

    proportion            other facts of this kind; counts of right answers in one relation
    mean_over_facts       other facts of these very relations
    mean_over_relations   other relations too
    std_over_relations    the same, for how much relations differ
    paired_difference     other facts of these very relations, two conditions on the same facts
    difference_of_proportions    other facts of two kinds, each asked once
    statistic_over_facts  other facts of one relation, any statistic of conditions on the same facts
    auroc_over_pairs      other pairs of a told fact and its control, or the same for a difference

Values come as `groups`: a sequence with one array per relation, each with axis (fact,).
"""

from lkecore.intervals.interval import N_RESAMPLES, Interval, proportion
from lkecore.intervals.paired import (
    difference_of_proportions,
    guess_p,
    holm,
    mcnemar,
)
from lkecore.intervals.relations import (
    SHARE,
    mean_over_facts,
    mean_over_relations,
    paired_difference,
    std_over_relations,
)
from lkecore.intervals.statistic import (
    auroc_over_pairs,
    statistic_over_facts,
)

__all__ = [
    "N_RESAMPLES", "SHARE", "Interval", "auroc_over_pairs",
    "difference_of_proportions", "guess_p",
    "holm", "mcnemar", "mean_over_facts", "mean_over_relations", "paired_difference",
    "proportion",
    "statistic_over_facts", "std_over_relations",
]  # fmt: skip
