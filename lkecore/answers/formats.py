"""Formats: how far does the accuracy move with the format of the question, and how much of it is luck?

``right`` and ``spoken`` are tables of :func:`lkecore.answers.separators.tables`. ``main`` names of each
model the group of facts that the verdicts are about; intervals are over what
:mod:`lkecore.answers.formats_over` says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers import formats_over as over
from lkecore.answers import rules
from lkecore.answers.formats_over import SPACE
from lkecore.answers.kept import keep
from lkecore.answers.separators import ALONE, DRAWN, LISTS, WORDS, Tables, called
from lkecore.answers.templates import with_source
from lkecore.answers.verdicts import over_alone
from lkecore.facts import Sample
from lkecore.facts.world import is_spec as is_world
from lkecore.intervals import Interval
from lkecore.metrics import formats
from lkecore.stats.wordings import std_beyond_luck

PLACES = ("inside", "between", "only together")
INSIDE, BETWEEN = "IC-separator", "IC-separator-between"  # claims, by what is changed
Main = Mapping[str, str]


def main_groups(about: Mapping[str, str]) -> dict[str, str]:
    """{model: group}: facts told in lists for a model of the lab, else those drawn from all."""
    return {m: LISTS if is_world(fact_set) else DRAWN for m, fact_set in about.items()}


def bars(
    right: Tables, spoken: Tables, main: Main, kinds: Mapping[str, str], *, seed: int
) -> pd.DataFrame:
    """The accuracy with the space and with words, with shots and without (IC-S4, IC-F4).

    ``kinds`` of templates. Columns: ``model``, ``kind``, ``words`` ("space", or a template, or of several
    relations a kind of them), ``shots`` ("with shots" or "no shots"), ``accuracy`` (Interval).
    """
    rows = []
    for model, group in main.items():
        rows.append((model, "no words", "space", "with shots", right[model, group].loc[SPACE]))
        for part, shots in ((WORDS, "with shots"), (ALONE, "no shots")):
            said = over.with_words(spoken[model, group], part, kinds, group)
            rows += [(model, kinds.get(name, name), name, shots, v) for name, v in said.items()]
    rows = [(*row, over.mean(v, main[row[0]], seed=seed)) for *row, v in rows]
    return pd.DataFrame(rows, columns=["model", "kind", "words", "shots", "accuracy"])


def gains(
    right: Tables,
    spoken: Tables,
    main: Main,
    kinds: Mapping[str, str],
    *,
    first: tuple[Tables, Tables] | None = None,
    seed: int,
) -> pd.DataFrame:
    """The accuracy with words or another sign minus that with the space in its place, fact by fact.

    Columns: ``model``; ``id`` of the claim: ``INSIDE`` or ``BETWEEN``, by the place that is changed;
    ``between``: "words" (words inside, a space between pairs), "space", "mean over all" (signs between
    pairs), or the sign that is put there; ``inside``: template (of several relations a kind of them, of
    ``kinds``), sign, "space" or "mean over all"; ``gain``: paired Interval over facts; ``over_relations``:
    the same over other relations, None of a single one; ``p``: of templates, McNemar's exact test, corrected
    by Holm for all of them and all models, else NaN. It counts right and wrong answers: where tables are
    means over draws of shots, those in ``first``, the same two tables of the first draw. Where no fact
    changes sides the interval over facts is that of the largest share that may still do so (Wilson),
    either way: a bootstrap would have no width.
    """
    every, rows = "mean over all", []
    for model, group in main.items():
        table = right[model, group]
        space = table.loc[SPACE]
        ones, once = (each[model, group] for each in first or (right, spoken))
        said_once = over.with_words(once, WORDS, kinds, group)
        for name, said in over.with_words(spoken[model, group], WORDS, kinds, group).items():
            same, p = space[said.index], np.nan
            if name in kinds:
                one = said_once[name]
                p = intervals.mcnemar(one == 1, ones.loc[SPACE][one.index] == 1)
            rows.append((model, INSIDE, "words", name, *_gain(said, same, seed), p))
        inside, between = (table.groupby(level=i, sort=False).mean() for i in (0, 1))
        for sign in inside.index[1:]:
            only = _gain(table.loc[(sign, " ")], space, seed)
            mean = _gain(inside.loc[sign], inside.loc[" "], seed)
            rows.append((model, INSIDE, "space", called(sign), *only, np.nan))
            rows.append((model, INSIDE, every, called(sign), *mean, np.nan))
        for sign in between.index[1:]:
            only = _gain(table.loc[(" ", sign)], space, seed)
            mean = _gain(between.loc[sign], between.loc[" "], seed)
            rows.append((model, BETWEEN, called(sign), "space", *only, np.nan))
            rows.append((model, BETWEEN, called(sign), every, *mean, np.nan))
    columns = ["model", "id", "between", "inside", "gain", "over_relations", "p"]
    found = pd.DataFrame(rows, columns=columns)
    tested = found["p"].notna()
    found.loc[tested, "p"] = intervals.holm(found.loc[tested, "p"].astype(float))
    return found


def _gain(a: pd.Series, b: pd.Series, seed: int) -> tuple[Interval, Interval | None]:
    sides = [[v for _, v in x.groupby(level="relation")] for x in (a, b)]
    gain = intervals.paired_difference(*sides, seed=seed)
    if np.array_equal(a, b):
        most = intervals.proportion(0, len(a)).high
        gain = replace(gain, low=-most, high=most, method="Wilson")
    gaps = [v for _, v in (a.astype(float) - b).groupby(level="relation")]
    return gain, intervals.mean_over_relations(gaps) if len(gaps) > 1 else None


def spreads(right: Tables, main: Main, *, seed: int) -> pd.DataFrame:
    """Best format minus worst, beside what it would be if formats were alike.

    A row for each model and group over "all" relations, and for each relation of the main group.
    Columns: ``model``, ``group``, ``relation``, ``facts``; ``paper``, ``lowest``, ``highest``:
    accuracies; ``spread`` and ``std`` over formats, Intervals; ``if_alike``, below which lie
    95 % of the spreads if formats were alike, and ``p`` of that (:mod:`lkecore.metrics.formats`; not
    corrected); ``beyond_luck``: what of ``std`` is left without luck.
    """
    rows = []
    for (model, group), table in right.items():
        parts = {"all": table}
        if group == main[model]:
            parts |= {name: part.T for name, part in table.T.groupby(level="relation")}
        for name, part in parts.items():
            values = part.to_numpy()
            means, alike = values.mean(axis=1), formats.spreads_if_alike(values, seed=seed)
            rows.append(
                {
                    "model": model,
                    "group": group,
                    "relation": name,
                    "facts": values.shape[1],
                    "paper": means[0],
                    "lowest": means.min(),
                    "highest": means.max(),
                    "spread": over.statistic(part, formats.spread, main[model], seed=seed),
                    "if_alike": np.quantile(alike, 0.95),
                    "p": formats.alike_p(values, alike),
                    "std": over.statistic(part, formats.std, main[model], seed=seed),
                    "beyond_luck": std_beyond_luck(values),
                }
            )
    return pd.DataFrame(rows)


def effects(right: Tables, main: Main, *, seed: int) -> pd.DataFrame:
    """How much each of the two places moves the accuracy (:func:`lkecore.metrics.formats.effects`).

    Columns: ``model``, ``place`` (of ``PLACES``), ``effect`` (Interval), ``alike``: about
    what it would be if formats were alike.
    """
    rows = []
    for model, group in main.items():
        table = right[model, group]
        shape = tuple(table.index.get_level_values(i).nunique() for i in (0, 1))
        luck = formats.effects_if_alike(table.to_numpy(), shape)
        for i, (place, alike) in enumerate(zip(PLACES, luck, strict=True)):
            found = over.statistic(
                table,
                lambda v, i=i, shape=shape: formats.effects(v.mean(axis=1).reshape(shape))[i],
                group,
                seed=seed,
            )
            rows.append((model, place, found, alike))
    return pd.DataFrame(rows, columns=["model", "place", "effect", "alike"])


def cells(
    right: Tables, main: Main, about: Mapping[str, str], kinds: pd.DataFrame, *, seed: int
) -> pd.DataFrame:
    """The accuracy of every model in every format; ``kinds`` of :func:`lkecore.answers.separators.formats`.

    Columns: ``model``, ``inside``, ``between`` (names of signs), ``accuracy`` (Interval), ``kind``
    and ``ringed``: the text of the model has lists in this format.
    """
    rows = []
    for model, group in main.items():
        own = kinds[kinds["fact_set"] == about[model]]
        kind = own.set_index(["pair_separator", "shot_separator"])["kind"]
        for way, values in right[model, group].iterrows():
            share = over.mean(values, group, seed=seed)
            ringed = kind[way] == "in the text"
            rows.append((model, *map(called, way), share, kind[way], ringed))
    columns = ["model", "inside", "between", "accuracy", "kind", "ringed"]
    return pd.DataFrame(rows, columns=columns)


def by_kind(
    right: Tables, main: Main, about: Mapping[str, str], kinds: pd.DataFrame, *, seed: int
) -> pd.DataFrame:
    """The mean over the formats of a kind: ``model``, ``kind``, ``formats``, ``accuracy`` (Interval)."""
    rows = []
    for model, group in main.items():
        own = kinds.loc[kinds["fact_set"] == about[model], "kind"].to_numpy()
        for kind in dict.fromkeys(own):
            table = right[model, group][own == kind]
            found = over.statistic(table, lambda v: v.mean(), group, seed=seed)
            rows.append((model, kind, len(table), found))
    return pd.DataFrame(rows, columns=["model", "kind", "formats", "accuracy"])


def at_chance(right: Tables, main: Main, of_rule: Mapping[str, float], *, seed: int) -> list[str]:
    """Models whose accuracy with the space is not clearly above the best rule without one (95 %).

    ``of_rule``: what that gets, by model, in [0, 1], as in :func:`lkecore.answers.formats_over.with_rules`.
    """
    space = {m: right[m, group].loc[SPACE] for m, group in main.items()}
    found = {m: over.mean(hits, main[m], seed=seed) for m, hits in space.items()}
    return rules.not_above(found, of_rule)


def judged(gains: pd.DataFrame, main: Main, at_chance: Sequence[str]) -> pd.DataFrame:
    """The verdicts on ``INSIDE`` and ``BETWEEN``, a row for each of :func:`gains`, kept as ``verdicts.csv``.

    They are claims that two things are equal, judged over relations. Marked are models at chance, for which
    all formats come to the same, words for facts that a text told in lists, and models that were asked
    one relation, judged over its facts. As in the paper are words. Adds the columns ``ours`` and
    ``verdict``.
    """
    claims = papers.claims("IC").set_index("id").loc[gains["id"]]
    each = gains["over_relations"].combine_first(gains["gain"])
    pairs = [*zip(each, claims.to_dict("records"), strict=True)]
    found = gains.assign(
        ours=[gain.text() for gain in each],
        verdict=[papers.claim_verdict(*pair) for pair in pairs],
    )
    marks = []
    for row, pair in zip(found.itertuples(), pairs, strict=True):
        told = row.between == "words" and main[row.model] == LISTS
        said = "words for facts told in lists" if told else over_alone(*pair)
        marks.append("at chance" if row.model in at_chance else said)
    kept = with_source(found.drop(columns=["gain", "over_relations"]))
    kept = kept.rename(columns={"model": "models"})
    for end in ("estimate", "low", "high"):
        kept[end] = [getattr(gain, end) for gain in each]
    kept["interval"] = [gain.method for gain in each]
    kept = kept.assign(
        estimator=gains["inside"] + "; between pairs: " + gains["between"],
        as_paper=gains["between"] == "words",
        mark=marks,
    )
    keep(papers.verdicts(kept), "verdicts.csv")
    return found


def verdict_table(judged: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """:func:`judged` of some models: a row for each ``between`` and ``inside``, a column for each model."""
    rows = ["between", "inside"]
    own = judged[judged["model"].isin(models)]
    cells = own.assign(cell=own["ours"] + ": " + own["verdict"])
    wide = cells.pivot(index=rows, columns="model", values="cell")
    order = pd.MultiIndex.from_frame(own[rows].drop_duplicates())
    return wide.loc[order, list(models)].fillna("").rename_axis(columns=None).reset_index()


def holds_from(
    judged: pd.DataFrame, chains: Sequence[Sequence[str]], at_chance: Sequence[str]
) -> pd.DataFrame:
    """From which model of a family on ``INSIDE`` holds for all of one row of its table.

    Columns: ``family``, ``between``, ``holds_from`` (the first model from which on every verdict is
    "holds"; models at chance do not count), ``verdicts`` (how many of each).
    """
    rows = []
    for chain in chains:
        part = judged[judged["model"].isin(chain) & (judged["id"] == INSIDE)]
        for which, own in part.groupby("between", sort=False):
            holds = own["verdict"].eq("holds").groupby(own["model"]).all()
            holds &= ~holds.index.isin(list(at_chance))
            last = next(groupby(holds.loc[list(chain)].iloc[::-1].items(), lambda item: item[1]))
            since = [model for model, _ in last[1]][-1] if last[0] else "none of them"
            counts = ", ".join(f"{v} {n}" for v, n in own["verdict"].value_counts().items())
            rows.append((", ".join(chain), which, since, counts))
    return pd.DataFrame(rows, columns=["family", "between", "holds_from", "verdicts"])


def lead_of_best(right: Tables, main: Main, *, seed: int) -> pd.DataFrame:
    """The lead of the best format over the paper's, on the half of the facts that chose it, and the other.

    Columns: ``model``, ``inside``, ``between``, ``lead_where_chosen``, ``lead_elsewhere``.
    """
    rows = []
    for model, group in main.items():
        table = right[model, group]
        half = np.random.default_rng(seed).permutation(table.shape[1]) % 2 == 0
        parts = table.loc[:, half], table.loc[:, ~half]
        best = parts[0].mean(axis=1).idxmax()
        leads = [(part.loc[best] - part.loc[SPACE]).mean() for part in parts]
        rows.append((model, *map(called, best), *leads))
    columns = ["model", "inside", "between", "lead_where_chosen", "lead_elsewhere"]
    return pd.DataFrame(rows, columns=columns)


def words_by_group(right: Tables, spoken: Tables, kinds: Mapping[str, str]) -> pd.DataFrame:
    """The accuracy with the ``space`` and, by ``kinds``, the mean with words, for every group of facts."""
    rows = []
    for (model, group), own in spoken.items():
        said = own.xs(WORDS, level="part").mean(axis=1)
        means = said.groupby(said.index.map(kinds)).mean()
        space = right[model, group].loc[SPACE].mean()
        rows.append({"model": model, "group": group, "space": space, **means})
    return pd.DataFrame(rows)


def beside_table_8(
    right: Tables,
    main: Main,
    samples: Mapping[str, Sample],
    about: Mapping[str, str],
    *,
    seed: int,
) -> pd.DataFrame:
    """The accuracy with the space beside the paper's Table 8 (35 models), of relations that both have.

    Columns: ``relation`` (the paper's name, with a star where it has full dates; of a model that was asked
    about several real ones, how many, and means over them), ``published``, ``model``, ``accuracy``
    (Interval). The paper's own relation, original broadcaster, comes first, without a model of ours.
    Relations of a fact set that is none of ``samples`` are properties of Wikidata.
    """
    published = papers.table("iclke_table8_relations").set_index("relation")["average_accuracy"]
    names = papers.property_names()
    rows = [("original broadcaster", published["original broadcaster"], "", None)]
    for model, group in main.items():
        hits, sample = right[model, group].loc[SPACE], samples.get(about[model])
        each = {
            name: sample[name].relation.paper_relation if sample else names.get(name, "")
            for name in hits.index.unique("relation")
        }
        both = {name: of for name, of in each.items() if of in published.index}
        hits = hits[hits.index.get_level_values("relation").isin(both)]
        if over.several(hits.to_frame().T, group):
            of_paper = published[list(both.values())].mean()
            rows.append(
                (f"mean of {len(both)}", of_paper, model, over.mean(hits, group, seed=seed))
            )
            continue
        for name, own in hits.groupby(level="relation"):
            share = over.mean(own, group, seed=seed)
            rows.append((papers.starred(both[name]), published[both[name]], model, share))
    return pd.DataFrame(rows, columns=["relation", "published", "model", "accuracy"])
