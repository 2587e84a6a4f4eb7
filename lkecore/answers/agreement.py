"""Agreement: do models do well in the same relations? From answers to correlations and yardsticks.

:func:`tables` turns answers into one table for each source: a row for each relation and fact, in their
order, and a column for each model, right or wrong. All else takes these tables.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, combinations_with_replacement

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore import intervals, papers
from lkecore.answers import shipped as results
from lkecore.errors import BadInput
from lkecore.facts import Sample
from lkecore.facts.world import is_spec as is_world
from lkecore.facts.world import states
from lkecore.metrics import agreement, planted
from lkecore.models import catalogue, lab

NOTEBOOK = "10_iclke_relations"  # whose shipped answers stand beside those of a run
PAPER = "iclke-space"  # the paper's way of asking
Tables = Mapping[str, pd.DataFrame]


def kin(
    models: Sequence[str],
    families: Sequence[Sequence[str]],
    names: Sequence[str],
    fact_set: str,
    *,
    shipped: Sequence[str] = (),
    page: bool,
) -> pd.DataFrame:
    """Who belongs together: a row for each model of the run and of the ``shipped`` profiles.

    ``names[i]`` is the name of ``families[i]``. A model in none of them has the family of the paper's
    Table 6; a model of the lab that of its text ("told" or "never told", and the world); any other is
    a family of its own. Columns: ``family``; ``tuned`` (bool): listed as fine-tuned; ``untold`` (bool):
    a model of the lab that never read the facts; ``side``: the family, and "(tuned)" behind it;
    ``place``: of the family, among all. The index is ``model``.

    Raises :class:`BadInput` for families and names that do not fit, a model named twice, one that is
    not there (but for the run of a single model, a part of a page), and a model of the lab that has
    read another world than ``fact_set``.
    """
    members = {
        model: name for name, family in zip(names, families, strict=False) for model in family
    }
    listed = [model for family in families for model in family]
    if len(families) != len(names) or len(set(names)) < len(names) or not all(families):
        raise BadInput(
            f"family_names {list(names)}: must be one for each of {len(families)} families"
        )
    if twice := [model for model in listed if listed.count(model) > 1]:
        raise BadInput(f"families name {twice[0]} twice: a model is of one family")
    beside = {m for name in shipped for m in results.read(name, NOTEBOOK)[0]["model"]}
    here = list(dict.fromkeys([*models, *sorted(beside)]))
    absent = [model for model in members if model not in here]
    if absent and (page or len(models) > 1):
        raise BadInput(f"families name {absent}; put them into models, too")
    for model in filter(lab.is_name, models):
        if lab.parse(model).world != fact_set:
            raise BadInput(f"{model} has not read {fact_set}: ask it on its world")
    table6 = papers.table("iclke_table6_model_names").set_index("hf_id")["family"]
    untold = {m for m in filter(lab.is_name, here) if lab.parse(m).variant == "unplanted"}
    family = {m: table6.get(m.partition("@")[0], m) for m in here}
    for model in filter(lab.is_name, here):
        told = "never told" if model in untold else "told"
        family[model] = f"{told}, {lab.parse(model).world}"
    family |= members
    order = list(
        dict.fromkeys(
            [
                *names,
                *table6,
                *sorted(family.values(), key=lambda f: (f.startswith("never told"), f)),
            ]
        )
    )
    tuned = {m: bool(catalogue.is_tuned(m)) for m in here}
    rows = [(m, family[m], tuned[m], m in untold, family[m] + " (tuned)" * tuned[m]) for m in here]
    found = pd.DataFrame(rows, columns=["model", "family", "tuned", "untold", "side"])
    return found.assign(place=found["family"].map(order.index)).set_index("model")


def check(sample: Sample, *, n_facts: int, n_splits: int, n_resamples: int) -> None:
    """Raise :class:`BadInput` where a sample is too small for r over relations, or draws are too few.

    r needs 3 relations, and halves of the facts need 4 of each; as many are asked of all relations.
    """
    if len(sample) < 3:
        raise BadInput(f"r over relations needs 3 or more, found {list(sample)}")
    if n_facts < 4 or n_splits < 1 or n_resamples < 100:
        found = n_facts, n_splits, n_resamples
        raise BadInput(f"n_facts, n_splits, n_resamples {found}: least 4, 1, 100")
    least = min(sample, key=lambda name: len(sample[name].facts))
    if (n := len(sample[least].facts)) < n_facts:
        raise BadInput(f"n_facts {n_facts}: {least} has {n} to ask")


def told_often(sample: Sample, fact_set: str) -> pd.DataFrame:
    """Of a world of the lab: which share of a relation's facts its text tells 16 times or more.

    Columns: ``relation``; ``every``, over all of its test facts; ``asked``, over those that are asked.
    No rows for other fact sets, of which nobody knows it.
    """
    rows = []
    if is_world(fact_set):
        truth = states(fact_set)
        often = (planted.told_levels(truth) == "16 and more").set_axis(truth["fact"])
        for name, drawn in sample.items():
            shares = [often[[f.id for f in some]].mean() for some in (drawn.test, drawn.facts)]
            rows.append((name, *shares))
    return pd.DataFrame(rows, columns=["relation", "every", "asked"])


def tables(
    answers: pd.DataFrame, kin: pd.DataFrame, main: str
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """{source: right or wrong by relation and fact, a column a model}, asked in one way and another.

    The first has the answers to ``main`` in "this page", and to the paper's estimator in shipped runs;
    the second those to the next estimator that a model was asked with. Rows are sorted by relation and
    fact; models of the first by family, then those not tuned, then by accuracy. Raises
    :class:`BadInput` where not all models of a source were asked the same.
    """
    first, second = {}, {}
    for source, part in answers.groupby("source", sort=False):
        of_main = part["estimator"] == (main if source == "this page" else PAPER)
        others = part[~of_main]
        chosen = others.groupby("model", sort=False)["estimator"].transform("first")
        others = others[others["estimator"] == chosen]
        for target, some in ((first, part[of_main]), (second, others)):
            wide = some.pivot(index=["relation", "fact"], columns="model", values="correct")
            if wide.isna().any(axis=None):
                raise BadInput(f"{source}: not all models were asked the same")
            target[source] = wide.astype(bool)
        mean = first[source].mean()
        about = kin.loc[mean.index].assign(worse=-mean)
        order = about.sort_values(["place", "tuned", "worse"], kind="stable").index
        first[source] = first[source][order.tolist()]
    return first, second


def by_relation(right: Tables) -> pd.DataFrame:
    """The accuracy of each model in each relation, tidy: source, relation, model, accuracy."""
    tidy = pd.concat({source: means_of(table).stack() for source, table in right.items()})
    return tidy.rename_axis(["source", "relation", "model"]).reset_index(name="accuracy")


def known(
    right: Tables, kin: pd.DataFrame, chance: Mapping[str, float], *, seed: int
) -> pd.DataFrame:
    """How well each model knows the relations, and how much they differ for it.

    ``chance`` is the accuracy of a blind guess, by source. Columns: ``source``, ``family``, ``model``;
    ``accuracy``, the mean over relations, an Interval over facts; ``least``, ``most`` and ``std`` of the
    accuracies of relations; ``noise``, the part of ``std`` that so few facts give by themselves
    (:func:`lkecore.metrics.agreement.noise`); ``chance``: "above", or "not above: noise" where the
    interval does not lie above a guess, so that all that differs may be luck.
    """
    rows = []
    for source, table in right.items():
        means, groups = means_of(table), stacked(table)
        for i, model in enumerate(table):
            hits = [group[i] for group in groups]
            found = intervals.mean_over_facts(hits, seed=seed)
            of = means[model]
            says = "above" if found.low > chance[source] else "not above: noise"
            spread = of.min(), of.max(), of.std(), agreement.noise(hits)
            rows.append((source, kin["family"][model], model, found, *spread, says))
    columns = ["source", "family", "model", "accuracy", "least", "most", "std", "noise", "chance"]
    return pd.DataFrame(rows, columns=columns)


def reliable(
    right: Tables,
    again: Tables,
    known: pd.DataFrame,
    *,
    seed: int,
    n_splits: int,
    n_resamples: int,
) -> pd.DataFrame:
    """How much of a model's order of relations would come again, with other facts or asked otherwise.

    ``known`` is of :func:`known`. Columns: ``source``, ``family``, ``model``; ``share``, the reliability
    (:func:`lkecore.metrics.agreement.reliability`) as an Interval over relations, None for a model at
    chance; ``reliability``, the same in words: "at chance", "no spread" or "none, to ..." where there
    is no number; ``itself``, in words: r of its accuracies with those of the same facts in ``again``.
    """
    more = {"seed": seed, "n_resamples": n_resamples}
    rows = []
    for source, table in right.items():
        halves = agreement.half_accuracies(stacked(table), seed=seed, n_splits=n_splits)
        for i, model in enumerate(table):
            share, said = None, "at chance"
            if (source, model) not in _at_chance(known):
                share = intervals.statistic_over_facts(
                    halves[:, :, i],
                    agreement.reliability,
                    **more,  # the last axis has relations
                )
                said = share.text() if share.estimate > 0 else f"none, to {share.high:.2f}"
            said = "no spread" if model in _flat(table) else said
            itself = "not asked"
            if model in again[source]:
                twice = pd.concat([table[model], again[source][model]], axis=1)
                itself = _r_text(stacked(twice), **more)
            rows.append((source, model, share, said, itself))
    found = pd.DataFrame(rows, columns=["source", "model", "share", "reliability", "itself"])
    return known[["source", "family", "model"]].merge(found, on=["source", "model"])


def pairs(
    right: Tables,
    kin: pd.DataFrame,
    known: pd.DataFrame,
    *,
    seed: int,
    n_splits: int,
    n_resamples: int,
) -> pd.DataFrame:
    """Pearson's r of every two models' accuracies over relations (IC-E8), with two yardsticks.

    Columns: ``source``, ``one``, ``other``; ``kind``: "one family", "two families" or "negative
    control" (of two families, and one was never told the facts), and ", tuned" behind it where one is;
    ``r``, ``ceiling`` and ``other_facts`` (:mod:`lkecore.metrics.agreement`), Intervals over relations or
    None; ``why``: "no spread" where there is none of the three, "at chance" where there is only r.
    """
    more = {"seed": seed, "n_resamples": n_resamples}
    rows = []
    for source, table in right.items():
        groups, flat = stacked(table), _flat(table)
        halves = agreement.half_accuracies(groups, seed=seed, n_splits=n_splits)
        for i, j in combinations(range(table.shape[1]), 2):
            two = [table.columns[i], table.columns[j]]
            r, why, limits = None, "no spread", [None, None]
            if not set(two) & flat:
                r = intervals.correlation_over_relations([g[[i, j]] for g in groups], **more)
                why = "at chance"
                if not {(source, model) for model in two} & _at_chance(known):
                    why, both = "", halves[:, :, [i, j]].transpose(2, 0, 1, 3)
                    limits = [
                        intervals.statistic_over_facts(both, lambda v, of=of: of(*v), **more)
                        for of in (agreement.ceiling, agreement.on_other_facts)
                    ]
            rows.append((source, *two, _kind(kin.loc[two]), r, *limits, why))
    columns = ["source", "one", "other", "kind", "r", "ceiling", "other_facts", "why"]
    return pd.DataFrame(rows, columns=columns)


def said(pairs: pd.DataFrame) -> pd.DataFrame:
    """:func:`pairs` for a page and a file: ``estimate``, the number r, and the three Intervals in words.

    A ceiling of 0 is "none": one of the two models has no reliability.
    """
    shown = pairs[["source", "one", "other", "kind"]].copy()
    shown["estimate"] = [r.estimate if r else np.nan for r in pairs["r"]]
    for name in ("r", "ceiling", "other_facts"):
        found = zip(pairs[name], pairs["why"], strict=True)
        shown[name] = [x.text() if x else why for x, why in found]
    found = zip(pairs["ceiling"], shown["ceiling"], strict=True)
    shown["ceiling"] = ["none" if x and x.estimate == 0 else text for x, text in found]
    return shown


def families(
    right: Tables, kin: pd.DataFrame, pairs: pd.DataFrame, *, seed: int, n_resamples: int
) -> pd.DataFrame:
    """The mean of r over the pairs of two families, or inside one; tuned models stand apart (IC-F6).

    Columns: ``source``, ``one``, ``other`` (``side`` of ``kin``), ``r`` (Interval: the same relations for
    all pairs), ``counted``: pairs with an r, their ``models`` and ``kind``. Families without one have no row.
    """
    rows = []
    for source, table in right.items():
        has_r = pairs[(pairs["source"] == source) & pairs["r"].notna()]
        of = [(row.one, row.other) for row in has_r.itertuples()]
        side, at = kin["side"], table.columns.get_loc
        for two in combinations_with_replacement(dict.fromkeys(side[table.columns]), 2):
            own = [pair for pair in of if sorted(side[m] for m in pair) == sorted(two)]
            if own:
                places = [(at(a), at(b)) for a, b in own]
                found = intervals.correlation_over_relations(
                    stacked(table), pairs=places, seed=seed, n_resamples=n_resamples
                )
                models = ", ".join(dict.fromkeys(model for pair in own for model in pair))
                rows.append((source, *two, found, len(own), models, _kind(kin.loc[[*own[0]]])))
    return pd.DataFrame(rows, columns=["source", "one", "other", "r", "counted", "models", "kind"])


def square(
    frame: pd.DataFrame, names: Mapping[str, Sequence[str]], called: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Every two names of a source in both orders, as a square map takes them; NaN where there is no r.

    ``frame``: ``source``, ``one``, ``other`` in any order, ``r`` (Interval or None). ``names``: of each
    source, in the order in which they are drawn, each once; ``called`` are other names to show.
    """
    found = {}
    for row in frame.itertuples():
        found[row.source, row.one, row.other] = found[row.source, row.other, row.one] = row.r
    called, rows = called or {}, []
    for source, own in names.items():
        for a in own:
            for b in own:
                r = found.get((source, a, b))
                rows.append(
                    (source, called.get(a, a), called.get(b, b), r.estimate if r else np.nan)
                )
    return pd.DataFrame(rows, columns=["source", "one", "other", "r"])


def stacked(table: pd.DataFrame) -> list[NDArray[np.float64]]:
    """Right (1) or wrong (0) of a table, an array (model, fact) for each relation, in its order."""
    by = table.groupby("relation", sort=False)
    return [group.to_numpy(dtype=float).T for _, group in by]


def means_of(table: pd.DataFrame) -> pd.DataFrame:
    """The accuracy by relation, a column a model."""
    return table.groupby("relation", sort=False).mean()


def _flat(table: pd.DataFrame) -> set[str]:
    """Models with the same accuracy in all relations."""
    return set(table.columns[np.ptp(means_of(table).to_numpy(), axis=0) == 0])


def _at_chance(known: pd.DataFrame) -> set[tuple[str, str]]:
    noise = known[known["chance"] != "above"]
    return set(zip(noise["source"], noise["model"], strict=True))


def _kind(two: pd.DataFrame) -> str:
    kind = "one family" if two["family"].nunique() == 1 else "two families"
    if kind == "two families" and two["untold"].any():
        kind = "negative control"
    return kind + ", tuned" * bool(two["tuned"].any())


def _r_text(groups: Sequence[NDArray[np.float64]], **more: int) -> str:
    means = np.array([group.mean(axis=1) for group in groups])
    if (np.ptp(means, axis=0) == 0).any():
        return "no spread"
    return intervals.correlation_over_relations(groups, **more).text()
