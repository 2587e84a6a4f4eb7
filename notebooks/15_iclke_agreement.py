# %% [markdown]
# # Do models agree on which relations are well known?
#
# One model knows capitals and fails at film directors. Is this its own taste, or do other models, made by other
# people from other text, have the same strong and weak relations? If they do, it is the facts that are easy or
# hard, and not the model that is odd. Afterwards you will be able to say
#
# - how far the accuracies of two models rise and fall together over relations,
# - how much of this could be reached at all with so few facts, and how much comes from asking the same facts,
# - why a high correlation can be no agreement on relations, and a low one no disagreement.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` correlate the accuracies of each two models over 50 relations (Section 4.2.1, Figure 14), and
# take the mean over the pairs of each two families (Figure 6). In our words:
#
# - models of different families agree on which relations are well known and which are not: the correlation is
#   above 0.6;
# - models of one family agree, too.
#
# Both figures print no numbers beside their colours in the text that we have, so nothing of theirs is drawn here. The
# caption of Figure 14 speaks of 49 models and its section (Appendix H.5) of the pre-trained ones, 35. We take all
# models that have run, and mark the fine-tuned ones. Figure 6 is about the 35. So the mean of a family is over its
# pre-trained models here, and its fine-tuned ones have a mean of their own.
#
# The paper's run has 400 facts of each relation. The default run of this page has few, and models of the lab. They
# are of one world. So they cannot test the claim. But they can test the *number*: of a world of the lab we know that
# its text tells all relations alike. What r comes out where there is nothing to agree on?
#
# In the list of the book's coverage: IC-E8, IC-F6 and IC-F14.

# %% [markdown]
# ## Parameters
#
# A family is a name, a colon and its models. In the paper the models of a family have mostly read the same text.
# By this rule the sizes of a lab model that have read one world are one family. The one that was tuned afterwards
# belongs to it, and stands apart in it. The {term}`unplanted twin` is the other. It has read nothing of the facts
# that are asked, so it is a {term}`negative control`: it can agree with the others only on what makes an answer
# easy to guess.
#
# A model that stands in no family here has that of the paper's Table 6, if it stands there, and else is a family
# of its own. `shipped` names longer runs whose answers ship with the book. They have other models on real facts.

# %% tags=["parameters"]
models: list[str] = [
    "lab:book-1/0.15m",
    "lab:book-1/0.7m",
    "lab:book-1/2m",
    "lab:book-1/2m-tuned",
    "lab:book-1/0.7m-unplanted",
]
families: list[str] = [
    "told: lab:book-1/0.15m, lab:book-1/0.7m, lab:book-1/2m, lab:book-1/2m-tuned",
    "never told: lab:book-1/0.7m-unplanted",
]  # name: models; empty: as in the paper's Table 6
fact_set: str = "lab:book-1"
relations: list[str] = []  # empty: all of the fact set
estimators: list[str] = ["iclke-space", "iclke-colon"]  # main, second
shipped: list[str] = []  # profiles under results/ with 10_iclke_relations
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects of each fact
n_facts: int = 16  # test facts of each relation, as many in all
n_splits: int = 60  # random halves of the facts, for the noise
n_resamples: int = 1_000  # draws behind each interval of a correlation
seed: int = 0  # draws shots, facts, options, halves and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from itertools import combinations, combinations_with_replacement

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import (
    catalogue,
    facts,
    figures,
    intervals,
    lab,
    paper,
    prompts,
    results,
    runs,
    world,
)
from lkecore.metrics import agreement, iclke
from lkecore.metrics.lab import told_levels
from lkecore.models import open_model
from lkecore.rows import BadInput
from lkecore.scores.tree import option_logprobs

figures.style()

# %% [markdown]
# ## Facts
#
# First the families are read. A run of a single model is a part of a page over several runs, and has nothing to
# compare. In all other cases every model of a family must be there.

# %%
kept = {name: results.read(name, "10_iclke_relations") for name in shipped}
members, untold = {}, set()
for each in families:
    title, colon, listed = each.partition(": ")
    names = listed.split(", ")
    if not colon or not all(names) or set(names) & set(members):
        raise BadInput(f"family {each!r}: 'name: model, model', each once")
    members |= dict.fromkeys(names, title)
here = set(models).union(*(frame["model"] for frame, _ in kept.values()))
absent = [name for name in members if name not in here]
if absent and (page or len(models) > 1):
    raise BadInput(f"families name {absent}; put them into models, too")
for name in models:
    if lab.is_name(name) and lab.parse(name).world != fact_set:
        raise BadInput(f"{name} has not read {fact_set}: ask it on its world")
    if lab.is_name(name) and lab.parse(name).variant == "unplanted":
        untold.add(name)

# %% [markdown]
# A fine-tuned model stays in the family of its base: the two are no two families that could agree. In the means it
# stands apart, as a family of its own with the mark *(tuned)*. A model of which nobody has listed what it is counts
# as pre-trained.

# %%
table6 = paper.table("iclke_table6_model_names").set_index("hf_id")["family"]
hub = {name: table6.get(name.partition("@")[0], name) for name in here}
for name in filter(lab.is_name, here):  # the text that it has read
    told = "never told" if name in untold else "told"
    hub[name] = f"{told}, {lab.parse(name).world}"
family = hub | members
tuned = {name for name in here if catalogue.is_tuned(name)}
mark = {name: " (tuned)" if name in tuned else "" for name in here}
side = {name: family[name] + mark[name] for name in here}  # for the means
for name in models:
    print(f"{name:28} {side[name]}")

# %% [markdown]
# All models are asked the same facts with the same shots and options, and as many in each relation. A relation
# with too few facts, or too few objects for the options, stops the page.

# %%
names = relations or list(facts.relations(fact_set))
if len(set(names)) < 3:
    raise BadInput(f"r over relations needs 3 or more, found {names}")
if n_facts < 4 or n_splits < 1 or n_resamples < 100:
    found = n_facts, n_splits, n_resamples
    raise BadInput(f"n_facts, n_splits, n_resamples {found}: least 4, 1, 100")
in_lab = world.is_spec(fact_set)
loaded = {name: facts.load(fact_set, name) for name in names}
parts = {name: facts.divide(loaded[name]) for name in names}
found = {name: len(test) for name, (_, test) in parts.items()}
least = min(found, key=found.get)
if found[least] < n_facts:
    raise BadInput(f"n_facts {n_facts}: {least} has {found[least]} to ask")
shots, asked, options = {}, {}, {}
for i, (name, (train, test)) in enumerate(parts.items()):
    shots[name] = facts.draw_shots(train, n_shots, seed)
    # A world has all relations in one order: one seed would draw the same kinds of facts in each.
    asked[name] = facts.draw_facts(test, n_facts, seed + i * in_lab)
    options[name] = facts.draw_options(
        asked[name], loaded[name].objects, n_options, seed
    )
chance = 1 / n_options
print(f"{len(names)} relations, {n_facts} facts each; guessing gets {chance}")

# %% [markdown]
# **How often are relations told?** Of a world of the lab we know it. The table has the share of facts that the
# text tells 16 times or more, in the relation where it is least and in the one where it is most: over all test
# facts, and over those that were drawn to be asked. If the row `all` has two equal numbers, no relation is better
# known than another by being told more. Then there is nothing about relations that two models could agree on, but
# what makes an object easy to learn. The row `asked` differs from relation to relation by lot. This noise is shared
# by all models, since they are asked the same facts. For other fact sets nobody knows the shares, and the table is
# empty.

# %%
states = world.states(fact_set) if in_lab else None
often = pd.DataFrame(columns=["relation", "all", "asked"]).set_index("relation")
if states is not None:
    states["often"] = told_levels(states) == "16 and more"
    states = states[states["relation"].isin(names)]
    drawn = {fact.id for name in names for fact in asked[name]}
    for column, which in {
        "all": states["split"] == "test",
        "asked": states["fact"].isin(drawn),
    }.items():
        often[column] = states[which].groupby("relation")["often"].mean()
often.agg(["min", "max"]).T.round(2).dropna()

# %% [markdown]
# ## Prompts
#
# IC-LKE in the paper's format has a space inside a pair and a space between pairs. The page is about the answers to
# this. The second format asks the same facts with the same shots: how well does one model agree with *itself*?

# %%
if not estimators:
    raise BadInput("estimators is empty: name one, such as iclke-space")
main, *again = estimators
questions = {
    (estimator, name): prompts.asking(
        estimator, loaded[name], shots[name], asked[name], options[name]
    )
    for estimator in estimators
    for name in names
}
for estimator in estimators:
    example = questions[estimator, names[0]][0]
    print(f"{estimator:12} ...{example.context[-48:] + ' ____'!r}")

# %% [markdown]
# ## Scores
#
# One block of questions for each model, relation and format. A run keeps one row for each answer: was it right,
# and how sure was the model?

# %%
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}
keys = ["model", "estimator", "relation"]
frames = {}
for model, lm in lms.items():
    for (estimator, name), asks in questions.items():
        frame = option_logprobs(lm, asks).frame
        frames[model, estimator, name] = iclke.answers(frame)
if page:
    answers = runs.collect("answers.parquet")
else:
    answers = pd.concat(frames, names=keys).reset_index(keys)
    runs.keep(answers, "answers.parquet")
print(f"{len(answers):,} questions, {n_options} options each")

# %% [markdown]
# Beside this run stand the shipped ones, if there are any. They are **not this run**: other models, and other
# facts. A line says what made each. `first` has the answers in the paper's format, a column for each model, and
# `second` those in the other format. Models are ordered by family, and in a family by mean accuracy.

# %%
of_two = answers[answers["estimator"].isin(estimators[:2])]
every = {"this run": of_two.rename(columns={"estimator": "format"})}
for name, (frame, about) in kept.items():
    every[name] = frame
    print(f"shipped, {results.line(about)}; {about['command']}")
ids = paper.table("iclke_table3_relations")[["relation", "wikidata_pid_added"]]
papers = {"this run": main} | dict.fromkeys(shipped, "space, space")
first, second, guess = {}, {}, {}
families_here = list(dict.fromkeys([*members.values(), *table6, *sorted(here)]))
for source, frame in every.items():
    of_paper = frame["format"] == papers[source]
    guess[source] = (1 / frame["options"]).mean()
    index = ["relation", "fact"]
    for target, part in ((first, frame[of_paper]), (second, frame[~of_paper])):
        wide = part.pivot(index=index, columns="model", values="right")
        if wide.isna().any(axis=None):
            raise BadInput(f"{source}: not all models were asked the same")
        target[source] = wide.astype(bool)
    mean = first[source].mean()
    place = {
        m: (families_here.index(family[m]), m in tuned, -mean[m])
        for m in mean.index
    }
    first[source] = first[source][sorted(mean.index, key=place.get)]

# %% [markdown]
# ## Metrics
#
# **Accuracy** of each model, mean over relations, with an interval over facts; the least and the largest accuracy
# of a relation; and the standard deviation over relations. `noise` is the part of it that the drawing of so few facts
# gives. Where the two standard deviations are near each other, we do not see relations differ. Where the interval of the accuracy holds chance, the model may have
# guessed everywhere, and its relations are *nothing but* noise.

# %%
accuracy, dull, rows = {}, {}, []
for source, right in first.items():
    by = right.groupby("relation", sort=False)
    accuracy[source] = by.mean()
    flat = np.ptp(accuracy[source].to_numpy(), axis=0) == 0
    dull[source] = set(right.columns[flat])
    for model in right:
        hits = [group.to_numpy() for _, group in by[model]]
        found = intervals.mean_over_facts(hits, seed=seed)
        each = accuracy[source][model]
        noise = np.sqrt((each * (1 - each) / (by.size() - 1)).mean())
        spread = each.min(), each.max(), each.std(), noise
        says = "above" if found.low > guess[source] else "not above: noise"
        rows.append(
            (source, family[model], model, found.text(3), *spread, says)
        )
columns = "source family model accuracy least most std noise chance".split()
known = pd.DataFrame(rows, columns=columns)
runs.keep(known, "accuracy-by-model.csv")
at = known["chance"] == "not above: noise"
noise_only = set(
    known.loc[at, ["source", "model"]].itertuples(index=False, name=None)
)
known.set_index(columns[:3]).round(3)

# %% [markdown]
# **How much of a model's order is noise?** The paper does not ask this. We cut the facts of each relation into
# two halves, by lot, and take the accuracies in each. A model whose relations really differ has the same order in
# both. From the correlation $h$ of the halves comes the {term}`reliability` with all facts, $2h / (1 + h)$: the
# share of the variance over relations that would come again with other facts. `itself` is the correlation of one
# model's accuracies with its own in the second format, on the same facts.
#
# *None* says that the halves do not agree: there is no number then, only the upper end of the interval. That
# interval draws relations again, and so does that of `itself`. *No spread* means that all relations
# have the same accuracy. Then there is no correlation at all. A model *at chance* gets no number: a handful of
# hits by luck make its halves agree or not.
#
# An end of an interval at -1 or 1 says that in many draws a model had no spread.

# %%
halves, groups, rows = {}, {}, []
for source, right in first.items():
    by = right.groupby("relation", sort=False)
    groups[source] = [group.to_numpy(dtype=float).T for _, group in by]
    halves[source] = agreement.half_accuracies(
        groups[source], seed=seed, n_splits=n_splits
    )
    for i, model in enumerate(right):
        text, bounds = "at chance", [np.nan] * 3
        if (source, model) not in noise_only:
            found = intervals.statistic_over_facts(
                halves[source][:, :, i],  # the last axis has relations
                agreement.reliability,
                seed=seed,
                n_resamples=n_resamples,
            )
            bounds = found.estimate, found.low, found.high
            text = (
                found.text() if bounds[0] > 0 else f"none, to {bounds[2]:.2f}"
            )
        text = "no spread" if model in dull[source] else text
        rows.append((source, family[model], model, text, *bounds))
columns = "source family model reliability estimate low high".split()
reliable = pd.DataFrame(rows, columns=columns)

# %%
rows = []
for source, model in zip(reliable["source"], reliable["model"], strict=True):
    text = "not asked"
    if model in second[source]:
        both = [first[source][model], second[source][model]]
        by = pd.concat(both, axis=1).groupby("relation", sort=False)
        twice = [group.to_numpy(dtype=float).T for _, group in by]
        means = np.array([group.mean(axis=1) for group in twice])
        text = "no spread"
        if (np.ptp(means, axis=0) > 0).all():
            text = intervals.correlation_over_relations(
                twice, seed=seed, n_resamples=n_resamples
            ).text()
    rows.append(text)
reliable["itself"] = rows
runs.keep(reliable, "reliability.csv")
reliable.set_index(columns[:3])[["reliability", "itself"]]

# %% [markdown]
# **Pairs of models.** `r` is Pearson's correlation of the two models' accuracies over relations. Its interval draws
# relations again, each with the facts that were asked. Beside it stand two yardsticks.
#
# - `ceiling`, the square root of the product of the two reliabilities. If all that differs between two models
#   were noise, and each had facts of its own, r would be about this. *None* means that one of them has no
#   reliability.
# - `other facts`. Both models are asked the *same* facts, and some facts are easy for all. A relation that
#   got easy ones by lot looks well known to both. So we correlate one model on one half of the facts with the
#   other on the *other* half, and raise the result to all facts. Here no fact counts twice.
#
# If `other facts` is far below r, the two agree on facts, and not on relations. If it is near the ceiling, they
# agree on relations as well as one can see. If the ceiling is low, nobody can say.

# %%
more = {"seed": seed, "n_resamples": n_resamples}
rs, pairs = {}, []
for source, right in first.items():
    for i, j in combinations(range(right.shape[1]), 2):
        a, b = right.columns[[i, j]]
        kind = "one family" if family[a] == family[b] else "two families"
        if {a, b} & untold and kind == "two families":
            kind = "negative control"
        kind += ", tuned" if {a, b} & tuned else ""
        pairs.append((source, a, b, kind, [i, j]))
        if not {a, b} & dull[source]:
            rs[source, a, b] = intervals.correlation_over_relations(
                [group[[i, j]] for group in groups[source]], **more
            )

# %% covers=["IC-E8"]
rows = []
for source, a, b, kind, two in pairs:
    texts, r = ["no spread"] * 3, np.nan
    if (source, a, b) in rs:
        r = rs[source, a, b].estimate
        texts = [rs[source, a, b].text(), "at chance", "at chance"]
        if not {(source, a), (source, b)} & noise_only:
            both = halves[source][:, :, two].transpose(2, 0, 1, 3)
            top, other = (
                intervals.statistic_over_facts(
                    both, lambda v, of=of: of(*v), **more
                )
                for of in (agreement.ceiling, agreement.on_other_facts)
            )
            texts[1] = top.text() if top.estimate > 0 else "none"
            texts[2] = other.text()
    rows.append((source, a, b, kind, r, *texts))
columns = "source one other kind estimate r ceiling other_facts".split()
paired = pd.DataFrame(rows, columns=columns)
shown = paired.drop(columns="estimate")
shown = shown.rename(columns={"other_facts": "other facts"})
shown.style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# The pair with the highest r among models above chance, and what is left of it on other facts:

# %%
runs.keep(paired, "pairs.csv")
tidy = pd.concat({s: a.stack() for s, a in accuracy.items()}).reset_index()
tidy.columns = ["source", "relation", "model", "accuracy"]
runs.keep(tidy, "accuracy-by-relation.csv")
bounded = paired[paired["other_facts"].str.endswith("]")]
for source, part in bounded.groupby("source", sort=False):
    top = part.loc[part["estimate"].idxmax()]
    print(f"{source}, {top['one']} and {top['other']}:")
    print(f"    r {top['r']}, on other facts {top['other_facts']}")

# %% [markdown]
# **Pairs of families.** The mean of r over all pairs of a model of one family with a model of the other; in a
# family, over its pairs of two models. Tuned models have means of their own. A pair without an r is left out, and
# `counted` says how many are left. The interval draws the same relations for all pairs. It does not draw models:
# it is about these.

# %%
rows = []
for source, right in first.items():
    titles = list(dict.fromkeys(side[m] for m in right))
    at = {m: i for i, m in enumerate(right)}
    for two in combinations_with_replacement(titles, 2):
        of = [key[1:] for key in rs if key[0] == source]
        of = [p for p in of if sorted(side[m] for m in p) == sorted(two)]
        if not of:
            continue
        which = [(at[a], at[b]) for a, b in of]
        found = intervals.correlation_over_relations(
            groups[source], pairs=which, seed=seed, n_resamples=n_resamples
        )
        bounds = found.estimate, found.low, found.high, found.text(), len(of)
        rows.append((source, *two, *bounds))
columns = "source one other r low high text counted".split()
by_family = pd.DataFrame(rows, columns=columns)
runs.keep(by_family, "families.csv")
shown = by_family.set_index(columns[:3])[["text", "counted"]]
shown.rename(columns={"text": "mean r"})

# %% [markdown]
# ## Figures
#
# {numref}`fig-agree-models` is the paper's Figure 14 for the models of this page. Look first at the row of the
# negative control, if there is one: how far from 0 does r get there by chance? Then ask whether the other cells of
# its panel are clearly above that. Fine-tuned models are marked; all others are pre-trained. The diagonal is left
# white. A model agrees with itself perfectly on the same answers, which says nothing.

# %% covers=["IC-F14"] tags=["hide-input"] mystnb={"figure": {"name": "fig-agree-models", "caption": "Pearson's r of the accuracies of two models over relations (the paper's Figure 14), a panel for this run and for each shipped one. Families stand side by side, and the models of a family by mean accuracy, tuned ones last. Marked (tuned): fine-tuned models; all others are pre-trained. White: the model itself, or no spread over relations. No number of the paper is drawn: its text has none."}, "image": {"alt": "Square heat map of correlations with a row and a column for each model and the value in each cell of up to 20 columns."}}
cells = paired[["source", "one", "other", "estimate"]]
turned = cells.rename(columns={"one": "other", "other": "one"})
alone = [(s, m, m, np.nan) for s, right in first.items() for m in right]
alone = pd.DataFrame(alone, columns=cells.columns)
square = pd.concat([alone, cells, turned], ignore_index=True)
square["estimate"] = square["estimate"].astype(float)
for column in ("one", "other"):
    square[column] += square[column].map(mark)
n_models = [right.shape[1] for right in first.values()]
fig, axes = plt.subplots(
    len(first),
    figsize=(8, sum(2.3 + 0.45 * min(n, 14) for n in n_models)),
    height_ratios=[2 + min(n, 14) for n in n_models],
    layout="constrained",
    squeeze=False,
)
names_of = {"index": "one", "columns": "other", "values": "estimate"}
look = {"label": "r over relations", "limits": (-1, 1)}
for ax, source in zip(axes.flat, first, strict=True):
    part = square[square["source"] == source]
    figures.heat_map(part, ax, **names_of, **look)
    ax.grid(False)
    ax.set_xlabel(source)
runs.keep(square, "fig-agree-models.csv")

# %% [markdown]
# {numref}`fig-agree-families` has the means by family, the paper's Figure 6. There, the families are said to agree
# with more than 0.6. The rows marked *(tuned)* have no counterpart there. A mean of several pairs looks steadier
# than one pair. Mind that all pairs are about the same few relations.

# %% covers=["IC-F6"] tags=["hide-input"] mystnb={"figure": {"name": "fig-agree-families", "caption": "Mean of r over the pairs of pre-trained models of two families (the paper's Figure 6); the fine-tuned models of a family stand apart, marked (tuned). Cells on the diagonal: pairs inside a family; white where a family has no pair. No number of the paper is drawn: its text has none."}, "image": {"alt": "Square heat map of mean correlations with a row and a column for each family and the value in each cell of up to 20 columns."}}
cells = by_family[["source", "one", "other", "r"]]
turned = cells.rename(columns={"one": "other", "other": "one"})
alone = [(s, side[m], side[m], np.nan) for s, r in first.items() for m in r]
alone = pd.DataFrame(alone, columns=cells.columns)
square = pd.concat([cells, turned, alone]).astype({"r": float})
place = alone["one"].unique().tolist().index
square = square.drop_duplicates(["source", "one", "other"])  # the first counts
square = square.sort_values(["one", "other"], key=lambda v: v.map(place))
n_families = [right.columns.map(side).nunique() for right in first.values()]
fig, axes = plt.subplots(
    len(first),
    figsize=(6, sum(1.6 + 0.5 * n for n in n_families)),
    height_ratios=[2 + n for n in n_families],
    layout="constrained",
    squeeze=False,
)
for ax, source in zip(axes.flat, first, strict=True):
    part = square[square["source"] == source]
    figures.heat_map(part, ax, **(names_of | {"values": "r"}), **look)
    ax.grid(False)
    ax.set_xlabel(source)
runs.keep(square, "fig-agree-families.csv")

# %% [markdown]
# {numref}`fig-agree-scatter` shows the points behind single numbers: one pair of each kind, that whose weaker
# model knows most. Look at the lengths of the lines before you look at the slope of the cloud. Where they are as
# long as the cloud is wide, there is no order of relations to agree on. Then look whether one single point makes
# the slope.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-agree-scatter", "caption": "Accuracy of two models, a point for each relation, with 95 % Wilson intervals. A panel for each kind of pair, with the pair of its kind whose weaker model is best. Dotted: equal accuracy. Named: the four relations in which the difference of the two lies farthest from its mean. With few facts many points coincide."}, "image": {"alt": "Scatter plots of the accuracy of one model over that of another, with lines for intervals, a dotted diagonal and a few named relations."}}
weaker = [
    accuracy[p.source][[p.one, p.other]].mean().min()
    for p in paired.itertuples()
]
best = paired.assign(weaker=weaker).sort_values("weaker")
best = best.groupby(best["kind"].str.removesuffix(", tuned")).tail(1)
look = {"figsize": (9, 4), "layout": "constrained", "squeeze": False}
fig, axes = plt.subplots(1, max(1, len(best)), **look)
parts, printed = [], paper.property_names()
for ax, row in zip(axes.flat, best.itertuples(), strict=False):
    right = first[row.source][[row.one, row.other]]
    counts = right.groupby("relation").agg(["sum", "size"]).stack(level=0)
    counts = counts.rename_axis(["relation", "model"]).reset_index()
    bounds = [
        intervals.proportion(n, of) for n, of in counts[["sum", "size"]].values
    ]
    for column in ("estimate", "low", "high"):
        counts[column] = [getattr(each, column) for each in bounds]
    part = counts.rename(columns={"estimate": "accuracy"})
    part["relation"] = part["relation"].replace(printed)
    figures.accuracy_scatter(part, ax, x=row.one, y=row.other)
    ax.set_title(f"{row.source}: {row.kind}", fontsize=9)
    parts.append(part.assign(source=row.source, kind=row.kind))
drawn = pd.concat(parts) if parts else pd.DataFrame(columns=["relation"])
runs.keep(drawn, "fig-agree-scatter.csv")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None to compare with: the paper says "> 0.6" and prints no single value. That bound stands as
# *holds if* in the table below.
#
# **Claims.** Statistic, direction and least effect stand in `lkecore/data/claims.csv` since before the first run
# of this page. The statistic is r of two models, as the paper takes it, so no noise is taken off. A row for each
# pair of models of two families. The number of pairs is printed below it; the verdicts are not corrected for it,
# since each is read off its own interval. Of many pairs some may come out wrong by luck.
#
# *Negative control* marks pairs of which one model was never told the facts. These rows test the number, and not
# the paper: the claim should *not* hold there. *Tuned* marks pairs with a fine-tuned model, which Figure 6 leaves out:
# {doc}`../verdicts` lists them, and does not count them as the paper's way.
#
# A source without a pair of two real families cannot judge the claim, and a line says so. The models of one world are one
# family and its controls. So it takes real models on real facts, such as those of a shipped run.

# %%
claim = paper.claims("IC").set_index("id").loc["IC-families-agree"]
of_two = paired[~paired["kind"].str.startswith("one family")]
rows = []
for p in of_two.itertuples():
    if (p.source, p.one, p.other) in rs:
        interval = rs[p.source, p.one, p.other]
        verdict = paper.claim_verdict(interval, claim)
        two = f"{p.one}, {p.other}", p.source, p.kind
        rows.append((*two, interval.text(), claim["holds_if"], verdict))
print(claim["claim"])
print(f"{len(of_two)} pairs of models of two families, {len(rows)} with an r")
real = of_two[~of_two["kind"].str.startswith("negative control")]
for source in [s for s in first if s not in set(real["source"])]:
    print(f"{source}: no pair of two real families, so it stays undecided")
columns = ["models", "source", "kind", "ours", "holds if", "verdict"]
judged = pd.DataFrame(rows, columns=columns)
control = judged["kind"].str.startswith("negative control")
marks = control.map({True: "negative control", False: ""})
tuned_one = judged["kind"].str.endswith("tuned")
kept = judged.assign(id=claim.name, way=judged["kind"], as_paper=~tuned_one)
kept = kept.assign(mark=marks)
runs.keep(paper.verdicts(kept), "verdicts.csv")
judged.style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# If a row of two real families fails or stays undecided, look at three numbers before you doubt the claim. One is
# the *ceiling* of the pair: if it is below 0.6, an r above 0.6 must come from the shared facts or from luck. One is the
# number of relations. With 16 of them the interval is long. And one is the
# accuracy: a model near chance has no order to show. If a row *holds*, look at `other facts`: it should be high
# as well. Else the two agree on facts, and not on relations.
#
# **The paper's own noise** can be judged from its Table 7. With 400 facts a relation, the variance of an accuracy
# by the draw of the facts is at most $a(1-a)/400$ on average, for a mean accuracy $a$. Divided by the printed
# variance over relations it is the share of noise. The rest is the reliability, at the least. The table has the
# three models with the lowest. If nearly all of the 35 lie near 1, the draw of facts did not shape the paper's
# Figure 14, in either direction.

# %%
table7 = paper.table("iclke_table7_models")
table7 = table7[table7["is_finetuned"] == "no"]
a, variance = table7["average_accuracy"], table7["std"] ** 2
table7 = table7.assign(reliability=1 - a * (1 - a) / 400 / variance)
lowest = table7.sort_values("reliability").set_index("model").head(3)
print(f"median of {len(table7)} models: {table7['reliability'].median():.3f}")
lowest[["average_accuracy", "std", "reliability"]].round(3)

# %% [markdown]
# **The relations of the paper.** Where a shipped run has relations of Wikidata, each of its models can be held
# against the paper's Table 8, the mean accuracy of 35 models by relation. The facts behind a relation are others,
# and so are the models. So an r near 1 is not to be expected, and a low one does not contradict the paper. A high
# one says that the relation itself is easy or hard. If it is near 0 while two of our models agree with each other, they
# agree on which of *these facts* are easy, which need not be the paper's order of relations. The table is empty without a shipped run, and where fewer
# than three relations are in both.

# %%
table8 = paper.table("iclke_table8_relations").merge(ids, on="relation")
published = table8.dropna(subset="wikidata_pid_added")
published = published.set_index("wikidata_pid_added")["average_accuracy"]
rows = []
for source in shipped:
    by = first[source].groupby("relation", sort=False)
    parts = {name: group for name, group in by if name in published}
    for model in first[source]:
        both = [
            np.stack([group[model], np.full(len(group), published[name])])
            for name, group in parts.items()
        ]
        ours = [pair[0].mean() for pair in both]
        if len(both) < 3 or np.ptp(ours) == 0:
            continue
        found = intervals.correlation_over_relations(
            both, seed=seed, n_resamples=n_resamples
        )
        rows.append((source, model, len(both), np.mean(ours), found.text()))
columns = ["source", "model", "relations in both", "our mean", "r with Table 8"]
with_paper = pd.DataFrame(rows, columns=columns).set_index(columns[:2])
runs.keep(with_paper.reset_index(), "with-table-8.csv")
with_paper.round(3)

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-agree-one
# How much hangs on one single relation? Leave out each in turn, and take the lowest and the highest r.
# ```

# %% [markdown]
# ````{solution-start} ex-agree-one
# :class: dropdown
# ````

# %%
rows = []
for source, a, b in rs:
    table = accuracy[source][[a, b]]
    without = {}
    for name in table.index:
        rest = table.drop(name).to_numpy().T
        if len(rest[0]) > 2 and (np.ptp(rest, axis=1) > 0).all():
            without[name] = float(agreement.correlation(*rest))
    ends = pd.Series(without, dtype=float).agg(["min", "max"])
    rows.append((source, a, b, rs[source, a, b].estimate, *ends))
columns = ["source", "one", "other", "r", "lowest", "highest"]
pd.DataFrame(rows, columns=columns).set_index(columns[:3]).round(2)

# %% [markdown]
# Where the last two columns lie far apart, r is the report of one relation. With 50 relations, as in the paper,
# one has far less weight, unless it lies far from all others.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-agree-needed
# Two models with reliability $\rho$ each have the ceiling $\rho$. Suppose that relations do differ as much as
# they seem to. How many facts of each relation would lift the ceiling to 0.6?
# ```

# %% [markdown]
# ````{solution-start} ex-agree-needed
# :class: dropdown
# ````

# %%
rows = []
for row in reliable.dropna(subset="estimate").itertuples():
    n = first[row.source].groupby("relation").size().mean()
    shares = np.array([row.estimate, row.high, row.low])
    with np.errstate(divide="ignore"):
        needed = n * 0.6 * (1 - shares) / (0.4 * shares)
    texts = [f"{x:.0f}" if np.isfinite(x) else "no end" for x in needed]
    rows.append((row.source, row.model, round(n), *texts))
columns = ["source", "model", "facts asked", "facts needed", "low", "high"]
pd.DataFrame(rows, columns=columns).set_index(columns[:2])

# %% [markdown]
# With $n$ facts the noise has $(1-\rho)/\rho$ times the variance of the true differences, and it shrinks as
# $1/n$. A ceiling of 0.6 leaves it 0.4 / 0.6. *No end* under `facts needed` says that the halves do
# not agree, so that there is no best guess. Under `high` it says that these data do not rule out that no number of
# facts would help. In the lab that is as it should be where all relations are told alike.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-agree-own
# Do models of your own agree? What do you need so that an r above 0.6 can be seen at all?
# ```
#
# ````{solution} ex-agree-own
# :class: dropdown
#
# You need many relations, since r is about these; enough facts in each, for a ceiling well above 0.6; and models
# that are above chance. Put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml`:
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 15_iclke_agreement
#     each: [models]
#     parameters:
#       models: [smollm2, gemma3-270m]
#       families: []
#       fact_set: atlas
#       relations: [airport_code, capital, city_of_airport, country_of_city, film_director]
#       n_facts: 60
# ```
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
