"""Thresholds: what it is worth to keep only the answers that a model is surer of than K.

All take the frame of answers, a row a question with ``confidence``, and group it by columns that you
name; groups, relations and facts keep their order. An Interval is None where nothing is left.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers.tables import by_relation, groups_of
from lkecore.errors import BadInput
from lkecore.intervals import Interval
from lkecore.metrics import choice
from lkecore.metrics.curves import accuracy_at, rise_between, rise_within
from lkecore.models.model import Model

N_RESAMPLES = 1_000  # of a rise: each asks all answers for the means of their relations
LEAST = 30  # kept answers behind an interval of a rise
LEAST_GOOD = 5  # answers behind a threshold that may be chosen


def check(cut_to: Sequence[int], thresholds: Sequence[float], n_options: int, n_bins: int) -> None:
    """Raise :class:`BadInput` for numbers of options, thresholds or bins that make no sense together."""
    if not all(2 <= n < n_options for n in cut_to):
        raise BadInput(f"cut_to {list(cut_to)}: each must be from 2 to {n_options - 1}")
    if not thresholds or not all(0 <= k < 1 for k in thresholds):
        raise BadInput(f"thresholds {list(thresholds)}: must be 1 or more, each in [0, 1)")
    if n_bins < 2:
        raise BadInput(f"n_bins {n_bins}: must be 2 or more")


def with_fewer(lm: Model, scores: pd.DataFrame, *, cut_to: Sequence[int]) -> pd.DataFrame:
    """The answers with some of the options left out, and with all: a reading of scores for ``ask``.

    Of n options stay the gold one and the first n - 1 others. The log-probability of an option does
    not depend on the others, so nothing is asked again. A block of rows for each of ``cut_to`` that
    is less than all there are, the fewest first, and then one for all; ``n_options`` tells them apart. It
    is that of the block, also for a fact of which the scorer has left out an option.
    """
    others = (~scores["gold"]).groupby(scores["fact"], sort=False).cumsum()
    most = int(others.max()) + 1
    cuts = [*sorted({n for n in cut_to if n < most}), most]
    parts = [
        choice.answers(scores[scores["gold"] | (others < n)]).assign(n_options=n) for n in cuts
    ]
    return pd.concat(parts, ignore_index=True)


def with_all(answers: pd.DataFrame) -> pd.DataFrame:
    """Of the answers of :func:`with_fewer`, those with all options that their relation has."""
    most = answers.groupby("relation")["n_options"].transform("max")
    return answers[answers["n_options"] == most]


def averages(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """How right and how sure, each relation counted alike, as Intervals over facts.

    Columns: ``by``; ``n``, answers; ``accuracy``; ``confidence``, the mean; ``surplus``: the mean
    confidence minus the accuracy, above 0 where the model is surer than it should be.
    """
    rows = []
    for key, part in groups_of(answers, by):
        right = by_relation(part.astype({"correct": float}), "correct")
        sure = by_relation(part, "confidence")
        found = [intervals.mean_over_facts(values, seed=seed) for values in (right, sure)]
        found.append(intervals.paired_difference(sure, right, seed=seed))
        rows.append((*key, len(part), *found))
    return pd.DataFrame(rows, columns=[*by, "n", "accuracy", "confidence", "surplus"])


def above(answers: pd.DataFrame, by: Sequence[str], thresholds: Sequence[float]) -> pd.DataFrame:
    """Accuracy@K (IC-E7): the accuracy of the answers above each threshold, in rising order.

    Columns: ``by``; ``threshold``; ``n``, the answers above it; ``right``, how many of them are;
    ``kept``, ``n`` as a share; ``accuracy``: an Interval (Wilson, all relations together).
    """
    parts = []
    for key, part in groups_of(answers, by):
        at = accuracy_at(part["confidence"], part["correct"], sorted(set(thresholds)))
        at["accuracy"] = _shares(at["right"], at["n"])
        for place, (name, value) in enumerate(zip(by, key, strict=True)):
            at.insert(place, name, value)
        parts.append(at)
    return pd.concat(parts, ignore_index=True)


def at_one(answers: pd.DataFrame, by: Sequence[str], threshold: float) -> pd.DataFrame:
    """What one threshold does: the rise of the accuracy, and how sure and right the sure answers are.

    Columns: ``by``; ``all``, the accuracy of all answers, and ``right``, that of those above the
    threshold (Intervals, Wilson); ``above``, how many these are; ``sureness``, their mean confidence;
    ``rise``: ``right`` minus ``all`` (an Interval, Newcombe's; None unless there are answers on both
    sides); ``relations``: "k of n", in how many relations with answers on both sides the sure ones are
    right more often.
    """
    rows = []
    for key, part in groups_of(answers, by):
        sure, right = part["confidence"] > threshold, part["correct"].astype(bool)
        n, k, n_rest = int(sure.sum()), int(right[sure].sum()), int((~sure).sum())
        k_rest = int(right[~sure].sum())
        both = right.groupby([part["relation"], sure]).mean().unstack().dropna()
        wins = f"{(both[True] > both[False]).sum()} of {len(both)}" if n and n_rest else ""
        row = {
            "all": intervals.proportion(k + k_rest, len(part)),
            "above": n,
            "sureness": part.loc[sure, "confidence"].mean(),
            "right": intervals.proportion(k, n) if n else None,
            "rise": intervals.part_above_whole(k, n, k_rest, n_rest) if n and n_rest else None,
            "relations": wins,
        }
        rows.append({**dict(zip(by, key, strict=True)), **row})
    return pd.DataFrame(rows)


def rises(answers: pd.DataFrame, by: Sequence[str], threshold: float, *, seed: int) -> pd.DataFrame:
    """The rise of the accuracy above a threshold in two parts, each an Interval over facts.

    Columns: ``by``; ``kept``, answers above the threshold; ``between``: what would be gained if each
    were as good as the average of its relation; ``within``: what they are better than that. The two
    add up to the rise; with a single relation all of it is within. Below 30 kept answers both are
    None. See :mod:`lkecore.metrics.curves`.
    """
    rows = []
    for key, part in groups_of(answers, by):
        kept = part["confidence"] > threshold
        codes = pd.factorize(part["relation"])[0]
        parts: list[Interval | None] = [None, None]
        if kept.sum() >= LEAST:
            values = [kept, part["correct"], codes]
            more = {"seed": seed, "n_resamples": N_RESAMPLES}
            parts = [
                intervals.statistic_over_facts(values, lambda v, of=of: of(*v), **more)
                for of in (rise_between, rise_within)
            ]
        rows.append((*key, int(kept.sum()), *parts))
    return pd.DataFrame(rows, columns=[*by, "kept", "between", "within"])


def bins(answers: pd.DataFrame, by: Sequence[str], n_bins: int) -> pd.DataFrame:
    """Is 0.8 as much as 8 of 10? Answers sorted by confidence, in ``n_bins`` groups of equal size.

    Columns: ``by``; ``group``, from 1, the least sure first; ``n``; ``accuracy``, an Interval (Wilson);
    ``confidence``, the mean. Raises :class:`BadInput` for fewer than 2 answers a group.
    """
    rows = []
    for key, part in groups_of(answers, by):
        if len(part) < 2 * n_bins:
            raise BadInput(f"{len(part)} answers are too few for {n_bins} bins")
        ordered = part.sort_values("confidence", kind="stable")
        for number, at in enumerate(np.array_split(np.arange(len(ordered)), n_bins)):
            group = ordered.iloc[at]
            share = intervals.proportion(int(group["correct"].sum()), len(group))
            rows.append((*key, number + 1, len(group), share, group["confidence"].mean()))
    return pd.DataFrame(rows, columns=[*by, "group", "n", "accuracy", "confidence"])


def in_turn(answers: pd.DataFrame, by: Sequence[str], n: int) -> pd.DataFrame:
    """The first ``n`` answers of each group (all, if there are no more), one of each relation in turn."""
    parts = []
    for _, part in groups_of(answers, by):
        turn = part.groupby("relation").cumcount()
        parts.append(part.iloc[np.argsort(turn.to_numpy(), kind="stable")[:n]])
    return pd.concat(parts, ignore_index=True)


def chosen(
    choice_answers: pd.DataFrame,
    test_answers: pd.DataFrame,
    by: Sequence[str],
    thresholds: Sequence[float],
    wanted: float,
) -> pd.DataFrame:
    """The least threshold that keeps enough right answers, chosen on some facts and tried on others.

    Of each group: the least threshold above which the share ``wanted`` or more of at least 5 answers in
    ``choice_answers`` is right, or none. Columns: ``by``; ``threshold`` (NaN: none); ``promised``, that
    share; ``n``, the test answers above it, and ``kept``, their share; ``right``: an Interval (Wilson),
    None where nothing is kept.
    """
    tests = dict(groups_of(test_answers, by))
    rows = []
    for key, part in groups_of(choice_answers, by):
        at = accuracy_at(part["confidence"], part["correct"], sorted(set(thresholds)))
        good = at[(at["accuracy"] >= wanted) & (at["n"] >= LEAST_GOOD)]
        test, least = tests[key], np.nan if good.empty else good["threshold"].iloc[0]
        promised = np.nan if good.empty else good["accuracy"].iloc[0]
        sure = test[test["confidence"] > least]  # nothing is above NaN
        share = intervals.proportion(int(sure["correct"].sum()), len(sure)) if len(sure) else None
        rows.append((*key, least, promised, len(sure), len(sure) / len(test), share))
    columns = ["threshold", "promised", "n", "kept", "right"]
    return pd.DataFrame(rows, columns=[*by, *columns])


def carried(answers: pd.DataFrame, thresholds: Sequence[float], wanted: float) -> pd.DataFrame:
    """Can a threshold be carried over? Chosen on all relations but one, and tried on that one.

    ``answers`` are those of one model in one way. As :func:`chosen`, a row for each relation that is
    left out; no rows with a single relation.
    """
    parts = []
    for name in answers["relation"].unique() if answers["relation"].nunique() > 1 else ():
        left_out = answers["relation"] == name
        split = answers[~left_out], answers[left_out]
        parts.append(chosen(*split, [], thresholds, wanted).assign(relation=name))
    columns = ["relation", "threshold", "promised", "n", "kept", "right"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _shares(right: pd.Series, n: pd.Series) -> list[Interval | None]:
    counts = zip(right, n, strict=True)
    return [intervals.proportion(int(k), int(of)) if of else None for k, of in counts]
