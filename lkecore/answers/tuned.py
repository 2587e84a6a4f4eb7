"""Tuned: what fine-tuning changed, from the answers of models before and after it.

Every function takes the frame of answers, a row a question, and pairs (base, tuned). A pair counts on
the facts that both were asked, and has no row where one of the two was not asked at all.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers.tables import accuracy, bounds, groups_of, paired, side_by_side
from lkecore.answers.tables import by_relation as values_by_relation
from lkecore.answers.verdicts import tested
from lkecore.facts.world import is_spec as is_world
from lkecore.facts.world import states
from lkecore.intervals import Interval
from lkecore.metrics.planted import LEVELS, told_levels
from lkecore.models.catalogue import is_tuned
from lkecore.models.lab import is_name

Pairs = Sequence[tuple[str, str]]
WHICH = ("base", "tuned")
TUNED = "IC-tuned-lower", "IC-tuned-subsumption", "IC-generation-tuned"  # claims on tuning


def changes(
    answers: pd.DataFrame, pairs: Pairs, *, by: Sequence[str] = (), seed: int
) -> pd.DataFrame:
    """What each pair answers, and how far the tuned model lies from its base, relations counted alike.

    Columns: ``by``; ``base``, ``tuned``; ``facts``, how many; ``accuracy_base`` and
    ``accuracy_tuned``, Intervals over facts, in [0, 1]; then those of
    :func:`lkecore.answers.tables.paired`: ``over_facts`` and ``over_relations``, tuned minus base in
    [-1, 1]; ``only_base`` and ``only_tuned``, facts that one alone has right; ``p`` of McNemar's exact
    test, corrected by Holm for all rows.
    """
    rows = []
    for key, part in groups_of(answers, by):
        for base, tuned, both in _both(part, pairs):
            groups = [values_by_relation(both, name) for name in (base, tuned)]
            means = [intervals.mean_over_facts(each, seed=seed) for each in groups]
            rows.append((*key, base, tuned, len(both), *means))
    key = [*by, *WHICH]
    means = pd.DataFrame(rows, columns=[*key, "facts", "accuracy_base", "accuracy_tuned"])
    gaps = paired(answers, "model", pairs, by=by, seed=seed).drop(columns="relations")
    names = {"first": "base", "second": "tuned"}
    names |= {f"only_{old}": f"only_{new}" for old, new in names.items()}
    return means.merge(gaps.rename(columns=names), on=key, validate="one_to_one")


def beside(changed: pd.DataFrame, rates: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """:func:`changes` by source and estimator with the rate and the new facts of each pair, if any.

    ``rates`` and ``own`` are of :func:`lkecore.answers.overlap.rates` and
    :func:`~lkecore.answers.overlap.own_facts`, with the tuned model as the small one. Columns of
    :func:`changes`, ``over_relations`` being called ``change``; ``rate``: which share of the tuned
    model's right answers the base has, too (over relations); ``independent`` and ``luck``, its
    yardsticks; ``missed``: facts that the base misses; ``new``: of these right in the tuned model;
    ``by_guessing``: how many guesses would get; ``p_new``: whether they are more than guesses.
    """
    names = {"small": "tuned", "large": "base"}
    key = ["source", "estimator", "base", "tuned"]
    rate = rates.rename(columns=names | {"over_relations": "rate"})
    new = own.rename(columns=names | {"small_right": "new", "p": "p_new"})
    table = changed.rename(columns={"over_relations": "change"})
    rate = rate[[*key, "rate", "independent", "luck"]]
    new = new[[*key, "missed", "new", "by_guessing", "p_new"]]
    return table.merge(rate, how="left", on=key).merge(new, how="left", on=key)


def subsumption(rates: pd.DataFrame, by_relations: pd.DataFrame) -> pd.DataFrame:
    """The rates as numbers, and how many right answers of the tuned model each rests on.

    ``rates`` and ``by_relations`` are of :func:`lkecore.answers.overlap.rates` and
    :func:`~lkecore.answers.overlap.by_relations`, with the tuned model as the small one. Columns of the
    first, its intervals over facts as ``eta``, ``low`` and ``high``; ``small_right``: right answers in the
    relations that count, those with two or more.
    """
    key = ["source", "estimator", "small", "large"]
    counted = by_relations[by_relations["small_right"] >= 2]
    right = counted.groupby(key)["small_right"].sum().reset_index()
    return bounds(rates, "over_facts", "eta").merge(right, on=key)


def claims(
    changed: pd.DataFrame, rates: pd.DataFrame
) -> dict[str, dict[tuple[str, ...], Interval]]:
    """The intervals over relations of both claims on tuning.

    They are what :func:`lkecore.answers.verdicts.judge` takes.

    ``changed`` of :func:`changes`, ``rates`` of :func:`lkecore.answers.overlap.rates` with the tuned
    model as the small one, both by source and estimator.
    """
    of_change, of_rate = ["source", "tuned", "estimator"], ["source", "small", "estimator"]
    return {
        "IC-tuned-lower": tested(changed, "over_relations", of_change),
        "IC-tuned-subsumption": tested(rates, "over_relations", of_rate),
    }


def in_lab(
    tested: Mapping[str, Mapping[tuple[str, ...], Interval]],
) -> dict[tuple[str, str, str], str]:
    """The marks of verdicts on models that we tuned: {(claim, source, models): mark}.

    Their tuning is a check that the page can see one, and no finding on the tuning of chat models.
    """
    return {
        (claim, source, model): "tuned in the lab"
        for claim in TUNED
        for source, model, *_ in tested.get(claim, {})
        if is_name(model)
    }


def figure_13(answers: pd.DataFrame, pairs: Pairs, called: Mapping[str, str]) -> pd.DataFrame:
    """The accuracy by EIC-LKE of each model that is not tuned, in the order of the paper's Figure 13.

    ``called``: the paper's name of each relation, by its name here. A row for each model and relation, with
    ``accuracy``, ``low`` and ``high`` (Wilson); no rows where EIC-LKE asked no such model. Tuned are the
    second ones of ``pairs`` and what the catalogue calls so.
    """
    after = {name for _, name in pairs} | {m for m in answers["model"].unique() if is_tuned(m)}
    asked = answers[(answers["estimator"] == "eiclke") & ~answers["model"].isin(after)]
    found = bounds(accuracy(asked, ["model", "relation"]), "accuracy")
    return papers.figure_13(found.drop(columns="confidence_gold", errors="ignore"), called)


def sentences(table: pd.DataFrame, traces: pd.DataFrame) -> dict[str, str]:
    """What came out for the first pair, in words: ``change``, ``others``, ``kept`` and ``gone``.

    ``table`` is of :func:`beside`, whose first row is the estimator that the page is about, and
    ``traces`` of :func:`lost`. A dash where there is nothing to say.
    """
    said = {"change": "No pair of models is compared in this run."}
    said |= dict.fromkeys(["others", "kept", "gone"], "-")
    if not len(table):
        return said
    row = table.iloc[0]
    pair = (table["base"] == row["base"]) & (table["tuned"] == row["tuned"])
    said["change"] = (
        f"{row['base']} answers {row['accuracy_base'].text()} of the questions rightly and "
        f"{row['tuned']} {row['accuracy_tuned'].text()}, a change of {row['change'].text()} "
        "(shares, 95 % intervals)."
    )
    others = table[pair].iloc[1:]
    if asked := [f"{each.change.text()} by {each.estimator}" for each in others.itertuples()]:
        said["others"] = f"Asked in other ways: {', '.join(asked)}."
    if pd.notna(row["independent"]):
        said["kept"] = (
            f"Of the facts that the tuned model has right, its base has {row['rate'].text()}, too; it "
            f"would be {row['independent']:.2f} if the two had nothing in common."
        )
    if pd.notna(row["new"]):
        new = (
            f"Of the {row['missed']:.0f} facts that the base misses the tuned model has "
            f"{row['new']:.0f} right, where guesses would give {row['by_guessing']:.1f}."
        )
        said["kept"] = f"{said['kept']} {new}" if said["kept"] != "-" else new
    same = (traces["base"] == row["base"]) & (traces["tuned"] == row["tuned"])
    found = traces[same & (traces["estimator"] != row["estimator"]) & (traces["lost"] > 0)]
    for each in found.head(1).itertuples():
        said["gone"] = (
            f"Of {each.lost} facts that it lost, {each.estimator} finds "
            f"{each.found_by_tuned.text()} in the tuned model and {each.found_by_base.text()} in "
            "its base."
        )
    return said


def halves(changed: pd.DataFrame) -> pd.DataFrame:
    """The accuracies of :func:`changes` by ``estimator``, as a figure of paired bars takes them.

    All bases first, then all tuned models: ``name`` (tuned model without its folder, and estimator),
    ``which`` ("base" or "tuned"), ``accuracy``, ``low``, ``high``.
    """
    rows = [
        (f"{row.tuned.rpartition('/')[2]}, {row.estimator}", which, *_ends(interval))
        for which in WHICH
        for row, interval in zip(changed.itertuples(), changed[f"accuracy_{which}"], strict=True)
    ]
    return pd.DataFrame(rows, columns=["name", "which", "accuracy", "low", "high"])


def by_relation(answers: pd.DataFrame, pairs: Pairs) -> pd.DataFrame:
    """The accuracy of both halves of each pair in each relation; ``answers`` are of one estimator.

    Columns: ``model`` (the tuned one), ``relation``, ``which`` ("base" or "tuned"), ``accuracy`` (an
    Interval, Wilson); ``p`` of McNemar's exact test between the two, and ``p_holm``, the same
    corrected by Holm for all pairs and relations.
    """
    rows, tests = [], []
    for base, tuned in pairs:
        for _, _, both in _both(answers, [(base, tuned)]):
            for name, part in both.groupby("relation", sort=False):
                tests.append(intervals.mcnemar(part[base].to_numpy(), part[tuned].to_numpy()))
                for which, model in zip(WHICH, (base, tuned), strict=True):
                    rows.append((tuned, name, which, _share(part[model]), tests[-1]))
    found = pd.DataFrame(rows, columns=["model", "relation", "which", "accuracy", "p"])
    return found.assign(p_holm=np.repeat(intervals.holm(tests), 2))


def lost(
    answers: pd.DataFrame, pairs: Pairs, estimator: str, world: str, *, seed: int
) -> pd.DataFrame:
    """Are the facts gone, or does the tuned model only not show them when ``estimator`` asks?

    A fact is lost if the base has it right by ``estimator`` and the tuned model has not. A row for each
    pair and each estimator that asked some of these: ``base``, ``tuned``, ``estimator``; ``lost``, how
    many of them it asked; ``found_by_tuned`` and ``found_by_base``, which share each has right by this
    estimator (Intervals, Wilson); ``gold_lost``, the tuned model's mean confidence in the gold option
    of the lost facts; ``gold_controls``, the same of facts with the same objects that no text told, if
    ``world`` is one of the lab (Intervals over facts; None for fewer than two facts). The estimator
    that chose the facts says nothing itself: there the tuned model has none, and the base all.
    """
    key = ["relation", "fact"]
    truth = states(world) if is_world(world) else pd.DataFrame(columns=[*key, "object", "state"])
    objects = truth.set_index(key)["object"].to_dict()
    never = [fact for fact, told in zip(objects, truth["state"] == "never", strict=True) if told]
    rows = []
    for base, tuned in pairs:
        for _, _, first in _both(answers[answers["estimator"] == estimator], [(base, tuned)]):
            gone = set(first[first[base] & ~first[tuned]].set_index(key).index)
            same = {(fact[0], objects.get(fact)) for fact in gone}
            controls = {fact for fact in never if (fact[0], objects[fact]) in same}
            controls &= set(first.set_index(key).index)
            for name, part in answers.groupby("estimator", sort=False):
                of_gone = part[pd.MultiIndex.from_frame(part[key]).isin(gone)]
                right = {
                    model: of_gone.loc[of_gone["model"] == model, "correct"]
                    for model in (base, tuned)
                }
                shares = [_share(right[model]) for model in (tuned, base)]
                own = part[part["model"] == tuned].set_index(key)["confidence_gold"]
                gold = [_mean(own[own.index.isin(some)], seed) for some in (gone, controls)]
                rows.append((base, tuned, name, len(right[tuned]), *shares, *gold))
    columns = ["found_by_tuned", "found_by_base", "gold_lost", "gold_controls"]
    return pd.DataFrame(rows, columns=[*WHICH, "estimator", "lost", *columns])


def by_told(answers: pd.DataFrame, pairs: Pairs, world: str) -> pd.DataFrame:
    """The accuracies of each pair by how often a world's text tells a fact; no rows for other facts.

    Columns: ``base``, ``tuned``, ``estimator``; ``told``, one of
    ``lkecore.metrics.planted.LEVELS``, in their order; ``facts``; ``accuracy_base`` and
    ``accuracy_tuned``, Intervals (Wilson, over all relations together).
    """
    columns = [*WHICH, "estimator", "told", "facts", "accuracy_base", "accuracy_tuned"]
    rows = []
    if is_world(world):
        truth = states(world)
        told = told_levels(truth).set_axis(truth["fact"])
        for (name,), part in groups_of(answers, ["estimator"]):
            for base, tuned, both in _both(part, pairs):
                level = both["fact"].map(told)
                for each in [each for each in LEVELS if each in set(level)]:
                    of = both[level == each]
                    rows.append(
                        (base, tuned, name, each, len(of), _share(of[base]), _share(of[tuned]))
                    )
    return pd.DataFrame(rows, columns=columns)


def _both(answers: pd.DataFrame, pairs: Pairs) -> list[tuple[str, str, pd.DataFrame]]:
    """(base, tuned, relation, fact and a bool column of each) of the pairs that are both there."""
    wide = side_by_side(answers, "model")
    return [
        (base, tuned, wide[[base, tuned]].dropna().astype(bool).reset_index())
        for base, tuned in pairs
        if base in wide and tuned in wide
    ]


def _share(right: pd.Series) -> Interval | None:
    return intervals.proportion(int(right.sum()), len(right)) if len(right) else None


def _mean(values: pd.Series, seed: int) -> Interval | None:
    return intervals.mean_over_facts([values], seed=seed) if len(values) > 1 else None


def _ends(interval: Interval) -> tuple[float, float, float]:
    return interval.estimate, interval.low, interval.high
