"""Formats: how far does the accuracy move with the format of the question, and how much of it is luck?

``right`` and ``spoken`` are tables of :func:`lkecore.answers.separators.tables`. ``main`` names of each
model the group of facts that the verdicts are about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers import rules
from lkecore.answers.kept import keep
from lkecore.answers.separators import ALONE, DRAWN, LISTS, WORDS, Tables, called
from lkecore.answers.verdicts import over_alone
from lkecore.facts import Sample
from lkecore.facts.world import is_spec as is_world
from lkecore.intervals import Interval
from lkecore.metrics import formats

SPACE = (" ", " ")  # the paper's format
N_RESAMPLES = 2_000
PLACES = ("inside", "between", "only together")
Main = Mapping[str, str]


def main_groups(about: Mapping[str, str]) -> dict[str, str]:
    """{model: group}: facts told in lists for a model of the lab, else those drawn from all."""
    return {m: LISTS if is_world(fact_set) else DRAWN for m, fact_set in about.items()}


def bars(right: Tables, spoken: Tables, main: Main, kinds: Mapping[str, str]) -> pd.DataFrame:
    """The accuracy with the space and with each template, with shots and without (IC-S4, IC-F4).

    ``kinds`` of templates. Columns: ``model``, ``kind``, ``words`` ("space" or a template), ``shots``
    ("with shots" or "no shots"), ``accuracy`` (Interval, Wilson).
    """
    rows = []
    for model, group in main.items():
        rows.append((model, "no words", "space", "with shots", right[model, group].loc[SPACE]))
        own = spoken[model, group]
        for name in own.index.get_level_values("template").unique():
            for part, shots in ((WORDS, "with shots"), (ALONE, "no shots")):
                rows.append((model, kinds[name], name, shots, own.loc[name, part]))
    each = [(*row, v.dropna()) for *row, v in rows]  # not every relation has every template
    rows = [(*row, intervals.proportion(int(v.sum()), len(v))) for *row, v in each]
    return pd.DataFrame(rows, columns=["model", "kind", "words", "shots", "accuracy"])


def gains(right: Tables, spoken: Tables, main: Main, *, seed: int) -> pd.DataFrame:
    """The accuracy with words or another sign inside the pair minus that with the space, fact by fact.

    Columns: ``model``; ``between``: "words" (a template inside, a space between pairs), "space" (a
    sign, and a space between pairs) or "mean over all" (a sign, mean over all signs between pairs);
    ``inside``: template or sign; ``gain``: paired Interval over facts; ``over_relations``: the same over
    other relations, None of a single one; ``p``: of words, McNemar's exact test, corrected by Holm for all
    words of all models, else NaN. Where no fact changes sides the interval over facts is that of the
    largest share that may still do so (Wilson), either way: a bootstrap would have no width.
    """
    rows = []
    for model, group in main.items():
        table, own = right[model, group], spoken[model, group]
        space, by_sign = table.loc[SPACE], table.groupby(level=0, sort=False).mean()
        for name in own.index.get_level_values("template").unique():
            said = own.loc[name, WORDS][space.index].dropna()  # of relations that have it
            same = space[said.index]
            p = intervals.mcnemar(said == 1, same == 1)
            rows.append((model, "words", name, *_gain(said, same, seed), p))
        for sign in by_sign.index[1:]:
            only = _gain(table.loc[(sign, " ")], space, seed)
            every = _gain(by_sign.loc[sign], by_sign.loc[" "], seed)
            rows.append((model, "space", called(sign), *only, np.nan))
            rows.append((model, "mean over all", called(sign), *every, np.nan))
    columns = ["model", "between", "inside", "gain", "over_relations", "p"]
    found = pd.DataFrame(rows, columns=columns)
    of_words = found["between"] == "words"
    found.loc[of_words, "p"] = intervals.holm(found.loc[of_words, "p"].astype(float))
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
    accuracies; ``spread`` and ``std`` over formats, Intervals over facts; ``if_alike``, below which lie
    95 % of the spreads if formats were alike, and ``p`` of that (:mod:`lkecore.metrics.formats`; not
    corrected); ``beyond_luck``: what of ``std`` is left without luck.
    """
    again = {"seed": seed, "n_resamples": N_RESAMPLES}
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
                    "spread": intervals.statistic_over_facts(values, formats.spread, **again),
                    "if_alike": np.quantile(alike, 0.95),
                    "p": formats.alike_p(values, alike),
                    "std": intervals.statistic_over_facts(values, formats.std, **again),
                    "beyond_luck": formats.std_beyond_luck(values),
                }
            )
    return pd.DataFrame(rows)


def with_rules(
    spreads: pd.DataFrame, cues: pd.DataFrame, groups: pd.DataFrame, about: Main
) -> pd.DataFrame:
    """:func:`spreads` with ``rule`` behind ``paper``: what the best rule without a model gets, in [0, 1].

    It is the best one over the facts of the group, each relation counted alike. ``cues`` of
    :func:`lkecore.answers.rules.of_sets`, ``groups`` of :func:`lkecore.answers.separators.draw`.
    """
    asked = groups.merge(cues, on=["fact_set", "relation", "fact"], validate="m:1")
    of = {
        key: rules.by_relation(part)["of_rule"].mean()
        for key, part in asked.groupby(["fact_set", "group"], sort=False)
    }
    found = spreads.copy()
    places = zip(found["model"].map(about), found["group"], strict=True)
    found.insert(found.columns.get_loc("paper") + 1, "rule", [of[place] for place in places])
    return found


def effects(right: Tables, main: Main, *, seed: int) -> pd.DataFrame:
    """How much each of the two places moves the accuracy (:func:`lkecore.metrics.formats.effects`).

    Columns: ``model``, ``place`` (of ``PLACES``), ``effect`` (Interval over facts), ``alike``: about
    what it would be if formats were alike.
    """
    rows = []
    for model, group in main.items():
        table = right[model, group]
        shape = tuple(table.index.get_level_values(i).nunique() for i in (0, 1))
        luck = formats.effects_if_alike(table.to_numpy(), shape)
        for i, (place, alike) in enumerate(zip(PLACES, luck, strict=True)):
            found = intervals.statistic_over_facts(
                table.to_numpy(),
                lambda v, i=i, shape=shape: formats.effects(v.mean(axis=1).reshape(shape))[i],
                seed=seed,
                n_resamples=N_RESAMPLES,
            )
            rows.append((model, place, found, alike))
    return pd.DataFrame(rows, columns=["model", "place", "effect", "alike"])


def cells(right: Tables, main: Main, about: Mapping[str, str], kinds: pd.DataFrame) -> pd.DataFrame:
    """The accuracy of every model in every format; ``kinds`` of :func:`lkecore.answers.separators.formats`.

    Columns: ``model``, ``inside``, ``between`` (names of signs), ``accuracy`` (Interval, Wilson), ``kind``
    and ``ringed``: the text of the model has lists in this format.
    """
    rows = []
    for model, group in main.items():
        own = kinds[kinds["fact_set"] == about[model]]
        kind = own.set_index(["pair_separator", "shot_separator"])["kind"]
        for way, values in right[model, group].iterrows():
            share = intervals.proportion(int(values.sum()), len(values))
            ringed = kind[way] == "in the text"
            rows.append((model, *map(called, way), share, kind[way], ringed))
    columns = ["model", "inside", "between", "accuracy", "kind", "ringed"]
    return pd.DataFrame(rows, columns=columns)


def by_kind(
    right: Tables, main: Main, about: Mapping[str, str], kinds: pd.DataFrame, *, seed: int
) -> pd.DataFrame:
    """The mean over the formats of a kind: ``model``, ``kind``, ``formats``, ``accuracy`` (over facts)."""
    rows = []
    for model, group in main.items():
        own = kinds.loc[kinds["fact_set"] == about[model], "kind"].to_numpy()
        for kind in dict.fromkeys(own):
            values = right[model, group].to_numpy()[own == kind]
            found = intervals.statistic_over_facts(
                values, lambda v: v.mean(), seed=seed, n_resamples=N_RESAMPLES
            )
            rows.append((model, kind, len(values), found))
    return pd.DataFrame(rows, columns=["model", "kind", "formats", "accuracy"])


def at_chance(right: Tables, main: Main, of_rule: Mapping[str, float]) -> list[str]:
    """Models whose accuracy with the space is not clearly above the best rule without one (Wilson, 95 %).

    ``of_rule``: what that gets, by model, in [0, 1], as in :func:`with_rules`.
    """
    found = {m: right[m, group].loc[SPACE] for m, group in main.items()}
    low = {m: intervals.proportion(int(v.sum()), len(v)).low for m, v in found.items()}
    return [m for m in found if low[m] <= of_rule[m]]


def judged(gains: pd.DataFrame, main: Main, at_chance: Sequence[str]) -> pd.DataFrame:
    """The verdicts on IC-separator, a row for each of :func:`gains`, kept as ``verdicts.csv``.

    It is a claim that two things are equal, judged over relations. Marked are models at chance, for which
    all formats come to the same, words for facts that a text told in lists, and models that were asked
    one relation, judged over its facts. As in the paper are words. Adds the columns ``ours`` and
    ``verdict``.
    """
    claim = papers.claims("IC").set_index("id").loc["IC-separator"]
    over = gains["over_relations"].combine_first(gains["gain"])
    found = gains.assign(
        ours=[gain.text() for gain in over],
        verdict=[papers.claim_verdict(gain, claim) for gain in over],
    )
    marks = []
    for row, gain in zip(found.itertuples(), over, strict=True):
        told = row.between == "words" and main[row.model] == LISTS
        said = "words for facts told in lists" if told else over_alone(gain, claim)
        marks.append("at chance" if row.model in at_chance else said)
    kept = found.drop(columns=["gain", "over_relations"]).rename(columns={"model": "models"})
    for end in ("estimate", "low", "high"):
        kept[end] = [getattr(gain, end) for gain in over]
    kept["interval"] = [gain.method for gain in over]
    kept = kept.assign(
        id=claim.name,
        source="this page",
        estimator=gains["inside"] + "; between pairs: " + gains["between"],
        as_paper=gains["between"] == "words",
        mark=marks,
    )
    keep(papers.verdicts(kept), "verdicts.csv")
    return found


def verdict_table(judged: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """:func:`judged` for a page: a row for each ``between`` and ``inside``, a column for each model."""
    rows = ["between", "inside"]
    cells = judged.assign(cell=judged["ours"] + ": " + judged["verdict"])
    wide = cells.pivot(index=rows, columns="model", values="cell")
    order = pd.MultiIndex.from_frame(judged[rows].drop_duplicates())
    return wide.loc[order, list(models)].fillna("").rename_axis(columns=None).reset_index()


def holds_from(
    judged: pd.DataFrame, chains: Sequence[Sequence[str]], at_chance: Sequence[str]
) -> pd.DataFrame:
    """From which model of a family on the claim holds for all of one row of its table.

    Columns: ``family``, ``between``, ``holds_from`` (the first model from which on every verdict is
    "holds"; models at chance do not count), ``verdicts`` (how many of each).
    """
    rows = []
    for chain in chains:
        part = judged[judged["model"].isin(chain)]
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
    right: Tables, main: Main, samples: Mapping[str, Sample], about: Mapping[str, str]
) -> pd.DataFrame:
    """The accuracy with the space beside the paper's Table 8 (35 models), of relations that both have.

    Columns: ``relation`` (the paper's name, with a star where it has full dates), ``published``,
    ``model``, ``accuracy`` (Interval, Wilson).
    The paper's own relation, original broadcaster, comes first, without a model of ours.
    """
    published = papers.table("iclke_table8_relations").set_index("relation")["average_accuracy"]
    rows = [("original broadcaster", published["original broadcaster"], "", None)]
    for model, group in main.items():
        for name, hits in right[model, group].loc[SPACE].groupby(level="relation"):
            if of_paper := samples[about[model]][name].relation.paper_relation:
                share = intervals.proportion(int(hits.sum()), len(hits))
                called = papers.starred(of_paper)
                rows.append((called, published[of_paper], model, share))
    return pd.DataFrame(rows, columns=["relation", "published", "model", "accuracy"])
