"""Intervals and paired tests: how far would a number move, had facts or relations been others?

An interval answers one question, and each function says which:

    proportion            other facts of this kind; counts of right answers in one relation
    mean_over_facts       other facts of these very relations
    mean_over_relations   other relations too
    difference_over_relations   the same, for relations of two kinds
    std_over_relations    the same, for how much relations differ
    ratio_over_relations  the same, for the ratio of two means, a share of a share
    correlation_over_relations   the same, for whether models do well in the same relations
    paired_difference     other facts of these very relations, two conditions on the same facts
    difference_of_proportions    other facts of two kinds, each asked once
    part_above_whole      the same, for a part against the whole that it belongs to
    share_above_whole     the same, from the facts themselves
    share_above_whole_over_relations   other relations too, of what all facts of a relation share
    statistic_over_facts  other facts of one relation, any statistic of conditions on the same facts
    statistic_over_subjects   other subjects, a statistic of sums over their facts
    correlation_over_facts   other facts, for whether two numbers go together, or order them alike
    auroc_over_pairs      other pairs of a told fact and its control, or the same for a difference

Values come as `groups`: a sequence with one array per relation, each with axis (fact,).
"""

from lkecore.intervals.correlation import correlation_over_facts
from lkecore.intervals.interval import N_RESAMPLES, Interval, minus, proportion
from lkecore.intervals.paired import (
    difference_of_proportions,
    guess_p,
    holm,
    mcnemar,
    part_above_whole,
    share_above_whole,
)
from lkecore.intervals.relations import (
    SHARE,
    correlation_over_relations,
    difference_over_relations,
    mean_over_facts,
    mean_over_relations,
    paired_difference,
    ratio_over_relations,
    std_over_relations,
)
from lkecore.intervals.statistic import (
    auroc_over_pairs,
    share_above_whole_over_relations,
    statistic_over_facts,
    statistic_over_subjects,
)

__all__ = [
    "N_RESAMPLES", "SHARE", "Interval", "auroc_over_pairs", "correlation_over_facts",
    "correlation_over_relations", "difference_of_proportions", "difference_over_relations", "guess_p",
    "holm", "mcnemar", "mean_over_facts", "mean_over_relations", "minus", "paired_difference",
    "part_above_whole", "proportion", "ratio_over_relations", "share_above_whole",
    "share_above_whole_over_relations", "statistic_over_facts", "statistic_over_subjects",
    "std_over_relations",
]  # fmt: skip
