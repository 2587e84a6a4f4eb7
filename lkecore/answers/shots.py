"""Shots: how answers change with the number of shots, and with the choice of them.

All functions take the frame of answers with ``n_shots`` and ``draw``, the seed that drew the shots, and
group it by columns that you name. All draws of a group must have asked the same facts. A group may have been
asked about several relations, told by the column ``relation``: then each counts alike, and intervals are over
relations (:mod:`lkecore.answers.over`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore import intervals
from lkecore.answers import over
from lkecore.answers.shots_rules import ASKED, yardstick
from lkecore.answers.tables import bounds, groups_of
from lkecore.facts.drawn import Sample
from lkecore.metrics import curves


def by_draw(answers: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The accuracy of each draw: ``by``, ``n_shots``, ``draw``, ``accuracy`` in [0, 1].

    Of several relations it is their mean, which moves less from draw to draw than that of one.
    """
    key = [*by, "n_shots", "draw"]
    each = [*key, "relation"] if "relation" in answers else key
    means = answers.groupby(each, sort=False, dropna=False)["correct"].mean()
    return means.groupby(key, sort=False).mean().rename("accuracy").reset_index()


def over_draws(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """The mean accuracy over draws for each number of shots, rising, and how far draws lie apart.

    Columns: ``by``, ``n_shots``; ``accuracy``, the mean with an interval over other facts (bootstrap);
    ``std``, the standard deviation (n - 1) of the accuracy over draws, NaN for a single one. Of several
    relations the interval is over these, and ``std`` the mean of that within each.
    """
    rows = []
    for key, part in groups_of(answers, by):
        each = [right_by_n(its) for its in over.each_relation(part)]
        for n in each[0]:
            right = [tables[n] for tables in each]
            if len(right) > 1:
                mean = over.over_relations([of.mean() for of in right], intervals.SHARE)
            else:
                mean = intervals.mean_over_facts([right[0].mean(axis=0)], seed=seed)
            stds = [of.mean(axis=1).std(ddof=1) if len(of) > 1 else np.nan for of in right]
            rows.append((*key, n, mean, np.mean(stds)))
    return pd.DataFrame(rows, columns=[*by, "n_shots", "accuracy", "std"])


def needed(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """The least number of shots that gets 95 % of the accuracy with the most (IC-F1).

    Columns: ``by``; ``needed``, with an interval over facts, which can only name numbers that were
    tried; ``most``, the largest number tried; ``accuracy``, that with the most shots, with an interval
    over draws and facts; ``chance``, what guessing would get; ``at_chance`` (bool): the lower end of
    the accuracy is at chance or below, so there is nothing that examples could bring out. Of several
    relations ``needed`` is about their mean accuracy, and draws relations again.
    """
    rows = []
    for key, part in groups_of(answers, by):
        parts = over.each_relation(part)
        each = [right_by_n(its) for its in parts]
        numbers, most = list(each[0]), max(each[0])
        several = np.array([[tables[n].mean() for tables in each] for n in numbers])
        found = intervals.statistic_over_facts(
            several[:, None] if len(each) > 1 else list(each[0].values()),
            lambda many, n=numbers: curves.shots_needed(n, many.mean(axis=(2, 3))),
            seed=seed,
            vectorized=True,
        )
        if len(each) > 1:
            found = replace(found, method="bootstrap over relations")
        accuracy = over.draws_or_relations(
            [[tables[most]] for tables in each], over.mean_of, seed, intervals.SHARE
        )
        chance = np.mean([(1 / its["n_options"]).mean() for its in parts])
        rows.append((*key, found, most, accuracy, chance, bool(accuracy.low <= chance)))
    columns = ["needed", "most", "accuracy", "chance", "at_chance"]
    return pd.DataFrame(rows, columns=[*by, *columns])


def at_rule(needs: pd.DataFrame, above: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """:func:`needed`, where a model that is not clearly above the best rule is at chance, too.

    ``above`` is of :func:`lkecore.answers.shots_rules.above_rule`, by the same columns. Where results ship
    without rules, a blind guess is all there is to compare with.
    """
    gaps = needs[list(by)].merge(above, on=list(by), how="left", validate="1:1")["above"]
    low = [isinstance(gap, intervals.Interval) and gap.low <= 0 for gap in gaps]
    return needs.assign(at_chance=needs["at_chance"].to_numpy(bool) | np.array(low, dtype=bool))


def others(needs: pd.DataFrame, above: pd.DataFrame, by_n: pd.DataFrame, estimator: str) -> str:
    """A sentence on the shipped results in :func:`needed`, profile by profile; a dash if there are none.

    Behind each accuracy stands what the best rule gets, of ``above``, and what is right without a cue, of
    ``by_n``: :func:`~lkecore.answers.shots_rules.above_rule` and
    :func:`~lkecore.answers.shots_rules.with_no_cue` of the same answers. What ships without rules
    has neither.
    """
    on = ["source", "model", "estimator"]
    most = by_n.rename(columns={"n_shots": "most"})[[*on, "most", "no_cue"]]
    every = needs.merge(above[[*on, "of_rule"]], on=on, how="left")
    every = every.merge(most, on=[*on, "most"], how="left")
    mine = every[(every["source"] != "this page") & (every["estimator"] == estimator)]
    told = []
    for (source,), part in groups_of(mine, ["source"]):
        each = [
            f"{row.model} {row.accuracy.text()} after {row.most}{_noted(row)}"
            for row in part.itertuples()
        ]
        told.append(f"{source.removeprefix('shipped: ')}: {', '.join(each)}")
    return f"In longer runs, {'; '.join(told)}." if told else "-"


def _noted(row: Any) -> str:
    notes = [f"rule {row.of_rule:.2f}"] if pd.notna(row.of_rule) else []
    notes += (
        [f"without a cue {row.no_cue.text()}"] if isinstance(row.no_cue, intervals.Interval) else []
    )
    notes += ["may be guessing"] if row.at_chance else []
    return f" ({', '.join(notes)})" if notes else ""


def few_and_many(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """What the claims on shots say, as intervals over draws and facts, or over relations.

    Columns: ``by``; ``few`` and ``many``, the least and the largest number of shots; ``rises``
    (:func:`rise`) and ``steadies`` (:func:`steadying`), Intervals. ``steadies`` is None for a single
    draw. A group with one number of shots has no row.
    """
    rows = []
    for key, part in groups_of(answers, by):
        each = [right_by_n(its) for its in over.each_relation(part)]
        few, many = min(each[0]), max(each[0])
        if few == many:
            continue
        ends = [[tables[few], tables[many]] for tables in each]
        rises = over.draws_or_relations(ends, rise, seed)
        steadies = over.draws_or_relations(ends, steadying, seed) if len(ends[0][0]) > 1 else None
        rows.append((*key, few, many, rises, steadies))
    return pd.DataFrame(rows, columns=[*by, "few", "many", "rises", "steadies"])


def rise(ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean accuracy with many shots minus that with few, of each (few or many, draw, fact)."""
    few, many = np.moveaxis(ends.mean(axis=(2, 3)), 1, 0)
    return many - few


def steadying(ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much less the accuracies of draws lie apart with many shots than with few.

    The standard deviation (n - 1) over draws with few, minus that with many, of ``ends`` as in
    :func:`rise`: positive where with more shots it matters less which ones they are.
    """
    few, many = np.moveaxis(ends.mean(axis=3).std(axis=2, ddof=1), 1, 0)
    return few - many


def less_and_more(
    answers: pd.DataFrame, needs: pd.DataFrame, by: Sequence[str], *, seed: int
) -> pd.DataFrame:
    """Does the one of two models that knows less need more shots than the other? A row for each pair.

    ``by`` names ``model``; ``needs`` is of :func:`needed`. Two models that are alike in the other columns of
    ``by`` are a pair if both were asked the same facts with the same draws and numbers of shots. Columns:
    ``by`` without ``model``; ``models``, the name of the one that knows less first; ``more``, an Interval of
    :func:`more_needed` over draws and facts, the same ones for both, or the mean of those in each of several
    relations, over relations; ``at_chance`` (bool), of either.
    """
    alone = [name for name in by if name != "model"]
    low = set(needs.loc[needs["at_chance"], [*alone, "model"]].itertuples(index=False, name=None))
    rows = []
    for key, part in groups_of(answers, alone):
        of = {model: its for (model,), its in groups_of(part, ["model"])}
        asked = {
            name: set(
                its.reindex(columns=ASKED)
                .astype({"relation": str})
                .itertuples(index=False, name=None)
            )
            for name, its in of.items()
        }
        right = {n: [right_by_n(each) for each in over.each_relation(f)] for n, f in of.items()}
        for pair in combinations(of, 2):
            if asked[pair[0]] != asked[pair[1]]:
                continue
            numbers = list(right[pair[0]][0])
            both = [
                np.array([list(tables.values()) for tables in two])
                for two in zip(*(right[name] for name in pair), strict=True)
            ]
            if len(both) > 1:
                found = over.over_relations([more_needed(each, numbers) for each in both])
            else:
                found = intervals.statistic_over_facts(
                    both[0],
                    lambda v, n=numbers: more_needed(v, n),
                    seed=seed,
                    redraw=2,
                    n_resamples=2_000,
                )
            order = sorted(pair, key=lambda n: np.mean([t[numbers[-1]].mean() for t in right[n]]))
            at_chance = any((*key, name) in low for name in pair)
            rows.append((*key, ", ".join(order), found, at_chance))
    return pd.DataFrame(rows, columns=[*alone, "models", "more", "at_chance"])


def more_needed(right: NDArray[np.float64], n_shots: Sequence[int]) -> float:
    """Shots needed by the one of two models that knows less, minus those needed by the other.

    ``right`` is (model, n_shots, draw, fact), 1 where right. Less known is less right with the most shots,
    needed are :func:`lkecore.metrics.curves.shots_needed`. 0 where both know as much.
    """
    accuracy = right.mean(axis=(2, 3))
    one, other = accuracy[:, -1]
    if one == other:
        return 0.0
    first, second = (curves.shots_needed(n_shots, each) for each in accuracy)
    return float(first - second if one < other else second - first)


def marks(needs: pd.DataFrame, pairs: pd.DataFrame) -> dict[tuple[str, str, str, str], str]:
    """Which verdicts say nothing of their claim: {(claim, source, models, estimator): "at chance"}.

    ``needs`` is of :func:`needed`, ``pairs`` of :func:`less_and_more`, both by source and estimator.
    """
    low = needs[needs["at_chance"]].rename(columns={"model": "models"})
    parts = [low.assign(id=claim) for claim in ("IC-shots-rise", "IC-shots-steady")]
    parts.append(pairs[pairs["at_chance"].astype(bool)].assign(id="IC-less-needs-more"))
    parts += [part.assign(id=part["id"] + over.TWIN) for part in parts]
    key = ["id", "source", "models", "estimator"]
    every = pd.concat([part[key] for part in parts])
    return dict.fromkeys(every.itertuples(index=False, name=None), "at chance")


# --- the figure


def titles(
    answers: pd.DataFrame, samples: Mapping[str, Sample], own: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    """What the panel of each source and model is about: {(source, model): title}.

    ``samples`` are by fact set, ``own`` names that of each model of this page.
    """
    found = {}
    for (source, model), part in groups_of(answers, ["source", "model"]):
        n, here = len(over.each_relation(part)), source == "this page"
        [name, *_] = (
            [of.relation.label for of in samples[own[model]].values()] if here else [source]
        )
        found[source, model] = f"{model}, {name}" if n == 1 or not here else model
        if n > 1:
            found[source, model] += f"\nmean over {n} relations"
    return found


def points(means: pd.DataFrame, needs: pd.DataFrame, ruled: pd.DataFrame) -> pd.DataFrame:
    """What a figure draws: the numbers of :func:`over_draws`, each with what its group has in :func:`needed`.

    ``ruled`` as for :func:`lkecore.answers.shots_rules.yardstick`. Columns: the groups' own, ``n_shots``;
    ``accuracy``, ``low``, ``high``; ``std``; ``needed``, ``chance`` and ``at_chance``; ``rule`` and
    ``of_rule``, NaN where a source has no rules.
    """
    by = [name for name in needs if name in means and name != "accuracy"]
    of = bounds(needs.drop(columns="accuracy"), "needed")
    found = bounds(means, "accuracy").merge(of[[*by, "needed", "chance", "at_chance"]], on=by)
    return found.merge(yardstick(ruled), on=["source", "model", "n_shots"], how="left")


def right_by_n(part: pd.DataFrame) -> dict[int, NDArray[np.float64]]:
    """{n_shots, rising: (draw, fact), 1 where right} of one relation; draws and facts sorted."""
    wide = part.pivot(index=["n_shots", "draw"], columns="fact", values="correct")
    blocks = wide.groupby("n_shots")
    return {int(n): block.to_numpy(dtype=np.float64) for n, block in blocks}
