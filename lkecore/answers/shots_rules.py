"""Shots, rules: what rules without a model get of the questions of :mod:`lkecore.answers.shots`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore import intervals
from lkecore.answers import over, rules
from lkecore.answers.kept import keep
from lkecore.answers.tables import groups_of
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.facts.sample import draw_shots
from lkecore.intervals import Interval
from lkecore.metrics.rules import RULES

ASKED = ["relation", "n_shots", "draw", "fact"]  # what tells the questions of a group apart


def of_rules(
    samples: Mapping[str, Sample],
    own: Mapping[str, str],
    draws: Sequence[int],
    numbers: Mapping[str, Sequence[int]],
    *,
    kept: bool = True,
) -> pd.DataFrame:
    """What each rule without a model gets of the questions of :func:`lkecore.prompts.draws.of_draws`.

    ``own`` names the fact set of each model, ``samples`` and ``numbers`` (of shots) are by fact set. A row
    for each question, the same for models of one fact set. Columns: ``model``, ``relation``, ``draw``,
    ``n_shots``, ``fact``; ``cue_word`` and ``cue_frequent`` of :func:`lkecore.answers.rules.cues`, the second
    by these very shots; and a column for each rule, its expected accuracy in [0, 1]. Kept as
    ``answers-rules.parquet`` unless ``kept`` is false. Raises :class:`BadInput` for more shots than a pool
    has.
    """
    parts = {}
    for spec, sample in samples.items():
        for (name, of), draw in product(sample.items(), draws):
            most = draw_shots(of.train, max(numbers[spec]), draw)
            for n in numbers[spec]:
                asked = {name: replace(of, shots=most[:n])}
                found = rules.cues(asked, kept=False)[["fact", *rules.CUES, *RULES]]
                parts[spec, name, draw, n] = found
    levels = ["fact_set", "relation", "draw", "n_shots"]
    by_set = pd.concat(parts, names=levels).reset_index(levels)
    found = pd.concat(
        [by_set[by_set["fact_set"] == spec].assign(model=model) for model, spec in own.items()],
        ignore_index=True,
    )[["model", "relation", "draw", "n_shots", "fact", *rules.CUES, *RULES]]
    if kept:
        keep(found, "answers-rules.parquet")
    return found


def yardstick(ruled: pd.DataFrame) -> pd.DataFrame:
    """The best rule of each source and model, and what it gets with each number of shots.

    ``ruled`` is of :func:`of_rules`, with a ``source``. Best is the rule that is right most often over all
    numbers of shots. Columns: ``source``, ``model``, ``n_shots``; ``rule``, its name; ``of_rule``, its
    expected accuracy in [0, 1], the mean over draws and facts. Each relation counts alike.
    """
    parts = []
    for (source, model), part in groups_of(ruled, ["source", "model"]):
        each = over.each_relation(part)
        rule = str(_mean_of([its[list(RULES)].mean() for its in each]).idxmax())
        means = _mean_of([its.groupby("n_shots")[rule].mean() for its in each])
        means = means.rename("of_rule").reset_index()
        parts.append(means.assign(source=source, model=model, rule=rule))
    columns = ["source", "model", "n_shots", "rule", "of_rule"]
    return pd.concat(parts, ignore_index=True)[columns]


def _mean_of(each: Sequence[pd.Series]) -> pd.Series:
    return pd.concat(each, axis=1).mean(axis=1)


def above_rule(
    answers: pd.DataFrame, ruled: pd.DataFrame, by: Sequence[str], *, seed: int
) -> pd.DataFrame:
    """How far models lie above the best rule with the most shots, on the same questions.

    ``ruled`` as for :func:`yardstick`; ``by`` names ``source`` and ``model``. Columns: ``by``; ``rule``,
    ``of_rule``, as there; ``above``, the accuracy minus that of the rule, an Interval over draws and facts,
    or over relations. A source without rules has no name, NaN and None.
    """
    yards = {(row.source, row.model, row.n_shots): row for row in yardstick(ruled).itertuples()}
    rows = []
    for key, part in groups_of(answers, by):
        of = dict(zip(by, key, strict=True))
        mine = part[part["n_shots"] == part["n_shots"].max()]
        yard = yards.get((of["source"], of["model"], mine["n_shots"].iloc[0]))
        if yard is None:
            rows.append((*key, "", np.nan, None))
            continue
        both = _beside(mine, ruled)
        both["above"] = both["correct"].astype(float) - both[yard.rule]
        tables = [
            [one.pivot(index="draw", columns="fact", values="above").to_numpy()]
            for one in over.each_relation(both)
        ]
        found = over.draws_or_relations(tables, over.mean_of, seed)
        rows.append((*key, yard.rule, yard.of_rule, found))
    return pd.DataFrame(rows, columns=[*by, "rule", "of_rule", "above"])


def with_no_cue(
    table: pd.DataFrame,
    answers: pd.DataFrame,
    ruled: pd.DataFrame,
    by: Sequence[str],
    *,
    seed: int,
) -> pd.DataFrame:
    """A table with a row for each group of ``by`` and ``n_shots``, and at its end the accuracy without cues.

    Whether a fact carries a cue hangs on its shots, so it is asked of each question: the same fact may have
    one behind two shots and none behind five, or with another draw. ``ruled`` is of :func:`of_rules`, with a
    ``source``; ``by`` names ``source`` and ``model``. Columns: ``left``, the share of the questions without a
    cue, in [0, 1]; ``no_cue``, the accuracy on these, an Interval over facts, or over relations. Questions
    count alike, of several relations each of these; one with fewer than two such facts is left out. NaN and
    None where the cues are not there, None where all relations are left out. Raises :class:`BadInput` for an
    answer whose question is not there.
    """
    told = ruled.dropna(subset=rules.CUES)  # results may ship from before rules had these columns
    known = set(told[["source", "model"]].itertuples(index=False, name=None))
    rows = []
    for key, part in groups_of(answers, by):
        of = dict(zip(by, key, strict=True))
        if (of["source"], of["model"]) not in known:
            continue
        both = _beside(part, told)
        both["cue"] = both[rules.CUES].astype(bool).any(axis=1)
        for n, its in both.groupby("n_shots"):
            rows.append((*key, n, 1 - its["cue"].mean(), _accuracy(its[~its["cue"]], seed)))
    found = pd.DataFrame(rows, columns=[*by, "n_shots", "left", "no_cue"])
    wide = table.merge(found, on=[*by, "n_shots"], how="left", validate="1:1")
    return wide.assign(no_cue=wide["no_cue"].astype(object).where(wide["no_cue"].notna(), None))


def _accuracy(some: pd.DataFrame, seed: int) -> Interval | None:
    """The share of right answers, where facts may have more questions or fewer; None for a single fact."""
    counts = [
        its.groupby("fact")["correct"].agg(["sum", "count"]).to_numpy(dtype=np.float64).T
        for its in over.each_relation(some)
    ]
    counts = [of_facts for of_facts in counts if of_facts.shape[1] > 1]
    if len(counts) > 1:
        return over.over_relations([float(_share(each)) for each in counts], intervals.SHARE)
    if not counts:
        return None
    return intervals.statistic_over_facts(counts[0], _share, seed=seed, vectorized=True)


def _share(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of arrays (..., right or asked, fact): the share of all questions that are right."""
    sums = counts.sum(axis=-1)
    return sums[..., 0] / sums[..., 1]


def _beside(mine: pd.DataFrame, ruled: pd.DataFrame) -> pd.DataFrame:
    """Answers of one source and model, each with what rules get of its question, or BadInput."""
    source, model = mine[["source", "model"]].iloc[0]
    its = ruled[(ruled["source"] == source) & (ruled["model"] == model)].astype({"fact": str})
    on = [name for name in ASKED if name in mine and name in its]
    told = its[[*on, *(name for name in its if name not in mine)]]
    both = mine.astype({"fact": str}).merge(told, on=on, validate="1:1")
    if len(both) < len(mine):
        raise BadInput(f"{source}: {len(mine) - len(both)} answers have no rule beside them")
    return both
