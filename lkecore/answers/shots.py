"""Shots: how answers change with the number of shots, and with the choice of them.

All functions take the frame of answers with ``n_shots`` and ``draw``, the seed that drew the shots, and
group it by columns that you name. All draws of a group must have asked the same facts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lkecore import intervals
from lkecore.answers import rules
from lkecore.answers.kept import keep
from lkecore.answers.tables import bounds, groups_of
from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn
from lkecore.facts.sample import draw_shots
from lkecore.metrics import curves
from lkecore.metrics.rules import RULES

ASKED = ["n_shots", "draw", "fact"]  # what tells the questions of a group apart


def by_draw(answers: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The accuracy of each draw: ``by``, ``n_shots``, ``draw``, ``accuracy`` in [0, 1]."""
    groups = answers.groupby([*by, "n_shots", "draw"], sort=False)["correct"]
    return groups.mean().rename("accuracy").reset_index()


def over_draws(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """The mean accuracy over draws for each number of shots, rising, and how far draws lie apart.

    Columns: ``by``, ``n_shots``; ``accuracy``, the mean with an interval over other facts (bootstrap);
    ``std``, the standard deviation (n - 1) of the accuracy over draws, NaN for a single one.
    """
    rows = []
    for key, part in groups_of(answers, by):
        for n, right in right_by_n(part).items():
            mean = intervals.mean_over_facts([right.mean(axis=0)], seed=seed)
            std = right.mean(axis=1).std(ddof=1) if len(right) > 1 else np.nan
            rows.append((*key, n, mean, std))
    return pd.DataFrame(rows, columns=[*by, "n_shots", "accuracy", "std"])


def needed(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """The least number of shots that gets 95 % of the accuracy with the most (IC-F1).

    Columns: ``by``; ``needed``, with an interval over facts, which can only name numbers that were
    tried; ``most``, the largest number tried; ``accuracy``, that with the most shots, with an interval
    over draws and facts; ``chance``, what guessing would get; ``at_chance`` (bool): the lower end of
    the accuracy is at chance or below, so there is nothing that examples could bring out.
    """
    rows = []
    for key, part in groups_of(answers, by):
        tables = right_by_n(part)
        found = intervals.statistic_over_facts(
            list(tables.values()),
            lambda v, n=list(tables): curves.shots_needed(n, v.mean(axis=(1, 2))),
            seed=seed,
        )
        most = max(tables)
        accuracy = _over_draws([tables[most]], _mean, seed)
        chance = (1 / part["n_options"]).mean()
        rows.append((*key, found, most, accuracy, chance, bool(accuracy.low <= chance)))
    columns = ["needed", "most", "accuracy", "chance", "at_chance"]
    return pd.DataFrame(rows, columns=[*by, *columns])


def at_rule(needs: pd.DataFrame, above: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """:func:`needed`, where a model that is not clearly above the best rule is at chance, too.

    ``above`` is of :func:`above_rule`, by the same columns. Where results ship without rules, a blind guess
    is all there is to compare with.
    """
    gaps = needs[list(by)].merge(above, on=list(by), how="left", validate="1:1")["above"]
    low = [isinstance(gap, intervals.Interval) and gap.low <= 0 for gap in gaps]
    return needs.assign(at_chance=needs["at_chance"].to_numpy(bool) | np.array(low, dtype=bool))


def others(needs: pd.DataFrame, estimator: str) -> str:
    """A sentence on the shipped results in :func:`needed`, profile by profile; a dash if there are none."""
    mine = needs[(needs["source"] != "this page") & (needs["estimator"] == estimator)]
    told = []
    for (source,), part in groups_of(mine, ["source"]):
        each = [
            f"{row.model} {row.accuracy.text()} after {row.most}"
            + " (which may be guessing)" * row.at_chance
            for row in part.itertuples()
        ]
        told.append(f"{source.removeprefix('shipped: ')}: {', '.join(each)}")
    return f"In longer runs, {'; '.join(told)}." if told else "-"


def few_and_many(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """What the claims on shots say, as intervals over draws and facts.

    Columns: ``by``; ``few`` and ``many``, the least and the largest number of shots; ``rises``
    (:func:`rise`) and ``steadies`` (:func:`steadying`), Intervals. ``steadies`` is None for a single
    draw. A group with one number of shots has no row.
    """
    rows = []
    for key, part in groups_of(answers, by):
        tables = right_by_n(part)
        few, many = min(tables), max(tables)
        if few == many:
            continue
        ends = [tables[few], tables[many]]
        rises = _over_draws(ends, rise, seed)
        steadies = _over_draws(ends, steadying, seed) if len(ends[0]) > 1 else None
        rows.append((*key, few, many, rises, steadies))
    return pd.DataFrame(rows, columns=[*by, "few", "many", "rises", "steadies"])


def _over_draws(
    values: ArrayLike, statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]], seed: int
) -> intervals.Interval:
    """``values`` are (condition, draw, fact): draws are drawn again, and facts, the same for all."""
    how = {"seed": seed, "redraw": 1, "vectorized": True}
    return intervals.statistic_over_facts(values, statistic, **how)


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values.mean(axis=(1, 2, 3))


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
    :func:`more_needed` over draws and facts, the same ones for both; ``at_chance`` (bool), of either.
    """
    alone = [name for name in by if name != "model"]
    low = set(needs.loc[needs["at_chance"], [*alone, "model"]].itertuples(index=False, name=None))
    rows = []
    for key, part in groups_of(answers, alone):
        of = {model: its for (model,), its in groups_of(part, ["model"])}
        asked = {
            name: set(its[ASKED].itertuples(index=False, name=None)) for name, its in of.items()
        }
        right = {name: right_by_n(its) for name, its in of.items()}
        for pair in combinations(of, 2):
            if asked[pair[0]] != asked[pair[1]]:
                continue
            numbers = list(right[pair[0]])
            found = intervals.statistic_over_facts(
                [list(right[name].values()) for name in pair],
                lambda v, n=numbers: more_needed(v, n),
                seed=seed,
                redraw=2,
                n_resamples=2_000,
            )
            order = sorted(pair, key=lambda name: right[name][numbers[-1]].mean())
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
    key = ["id", "source", "models", "estimator"]
    every = pd.concat([part[key] for part in parts])
    return dict.fromkeys(every.itertuples(index=False, name=None), "at chance")


# --- rules without a model, asked the same


def of_rules(
    drawn: Mapping[str, Drawn],
    own: Mapping[str, str],
    draws: Sequence[int],
    numbers: Mapping[str, Sequence[int]],
    *,
    kept: bool = True,
) -> pd.DataFrame:
    """What each rule without a model gets of the questions of :func:`lkecore.prompts.draws.of_draws`.

    ``own`` names the fact set of each model, ``drawn`` and ``numbers`` (of shots) are by fact set. A row for
    each question, the same for models of one fact set. Columns: ``model``, ``draw``, ``n_shots``,
    ``fact``; and a column for each rule, its expected accuracy in [0, 1]. Kept as ``answers-rules.parquet``
    unless ``kept`` is false. Raises :class:`BadInput` for more shots than a pool has.
    """
    parts = {}
    for spec, of in drawn.items():
        for draw in draws:
            most = draw_shots(of.train, max(numbers[spec]), draw)
            for n in numbers[spec]:
                asked = {of.relation.name: replace(of, shots=most[:n])}
                parts[spec, draw, n] = rules.cues(asked, kept=False)[["fact", *RULES]]
    by_set = pd.concat(parts, names=["fact_set", "draw", "n_shots"]).reset_index([0, 1, 2])
    found = pd.concat(
        [by_set[by_set["fact_set"] == spec].assign(model=model) for model, spec in own.items()],
        ignore_index=True,
    )[["model", "draw", "n_shots", "fact", *RULES]]
    if kept:
        keep(found, "answers-rules.parquet")
    return found


def yardstick(ruled: pd.DataFrame) -> pd.DataFrame:
    """The best rule of each source and model, and what it gets with each number of shots.

    ``ruled`` is of :func:`of_rules`, with a ``source``. Best is the rule that is right most often over all
    numbers of shots. Columns: ``source``, ``model``, ``n_shots``; ``rule``, its name; ``of_rule``, its
    expected accuracy in [0, 1], the mean over draws and facts.
    """
    parts = []
    for (source, model), part in groups_of(ruled, ["source", "model"]):
        rule = str(part[list(RULES)].mean().idxmax())
        means = part.groupby("n_shots")[rule].mean().rename("of_rule").reset_index()
        parts.append(means.assign(source=source, model=model, rule=rule))
    columns = ["source", "model", "n_shots", "rule", "of_rule"]
    return pd.concat(parts, ignore_index=True)[columns]


def above_rule(
    answers: pd.DataFrame, ruled: pd.DataFrame, by: Sequence[str], *, seed: int
) -> pd.DataFrame:
    """How far models lie above the best rule with the most shots, on the same questions.

    ``ruled`` as for :func:`yardstick`; ``by`` names ``source`` and ``model``. Columns: ``by``; ``rule``,
    ``of_rule``, as there; ``above``, the accuracy minus that of the rule, an Interval over draws and facts.
    A source without rules has no name, NaN and None.
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
        its = ruled[(ruled["source"] == of["source"]) & (ruled["model"] == of["model"])]
        its = its.astype({"fact": str}).rename(columns={yard.rule: "guess"})
        both = mine.astype({"fact": str}).merge(its[[*ASKED, "guess"]], on=ASKED, validate="1:1")
        if len(both) < len(mine):
            raise BadInput(
                f"{of['source']}: {len(mine) - len(both)} answers have no rule beside them"
            )
        both["above"] = both["correct"].astype(float) - both["guess"]
        table = both.pivot(index="draw", columns="fact", values="above").to_numpy()
        found = _over_draws([table], _mean, seed)
        rows.append((*key, yard.rule, yard.of_rule, found))
    return pd.DataFrame(rows, columns=[*by, "rule", "of_rule", "above"])


# --- the figure


def points(means: pd.DataFrame, needs: pd.DataFrame, ruled: pd.DataFrame) -> pd.DataFrame:
    """What a figure draws: the numbers of :func:`over_draws`, each with what its group has in :func:`needed`.

    ``ruled`` as for :func:`yardstick`. Columns: the groups' own, ``n_shots``; ``accuracy``, ``low``,
    ``high``; ``std``; ``needed``, ``chance`` and ``at_chance``; ``rule`` and ``of_rule``, NaN where a source
    has no rules.
    """
    by = [name for name in needs if name in means and name != "accuracy"]
    of = bounds(needs.drop(columns="accuracy"), "needed")
    found = bounds(means, "accuracy").merge(of[[*by, "needed", "chance", "at_chance"]], on=by)
    return found.merge(yardstick(ruled), on=["source", "model", "n_shots"], how="left")


def right_by_n(part: pd.DataFrame) -> dict[int, NDArray[np.float64]]:
    """{n_shots, rising: (draw, fact), 1 where right} of one group; draws and facts sorted."""
    wide = part.pivot(index=["n_shots", "draw"], columns="fact", values="correct")
    blocks = wide.groupby("n_shots")
    return {int(n): block.to_numpy(dtype=np.float64) for n, block in blocks}
