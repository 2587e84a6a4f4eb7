# %% [markdown]
# # What does fine-tuning do to facts?
#
# A base model continues text. To make it follow instructions, people train it further, on questions and answers. Does
# it know its facts better or worse afterwards? And if it answers fewer: are the facts gone, or does it only no longer
# understand what a list of pairs asks for? Afterwards you will be able to say
#
# - how many facts a tuned model answers compared with its base, relation by relation,
# - whether the facts that it does answer are facts that its base answered, too,
# - whether another way of asking finds what the first one misses.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` compare 14 fine-tuned models with their bases (Section 4.2.2, Figures 7 and 15, Table 10). In our
# words:
#
# - in almost all cases the tuned model answers fewer facts rightly than its base;
# - most of what a tuned model knows, its base knows as well: the {term}`subsumption rate` lies between 0.56 and 0.93. So
#   tuning seems to add no knowledge;
# - EIC-LKE, which asks many facts in one long prompt, shows the same (Appendix H.6).
#
# Figures 7 and 15 have no numbers beside their bars. The caption of Table 10 calls the rates low, the text calls them
# high; we follow the text. The caption of Figure 15 names IC-LKE, the text EIC-LKE; we follow the text here, too.
#
# The paper's run has 50 relations, 400 test facts each, and models of 2 to 70 billion parameters. By default this
# page has one small model of the lab. It was tuned on instructions about other words: none of them tells a fact of its
# world.
#
# In the list of the book's coverage: IC-E6, IC-F7, IC-F13, IC-F15 and IC-T10.

# %% [markdown]
# ## Parameters
#
# A pair is written as `base -> tuned`. All models of the pairs stand in `models` as well; there, `lke run` may divide
# them into one run each. A base may have several tuned models. A pre-trained model of
# `models` that is in no pair stands in `alone`, too. It is asked the same, and shown in the figure of EIC-LKE only.
#
# `eiclke` costs far more than the others: each of its prompts is read anew from the first question on. So it
# asks fewer facts, with fewer shots. A model of the lab was trained on rows of 384 tokens, and a prompt should not be
# longer. Shots and slots were chosen for this on the development world.

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/2m", "lab:book-1/2m-tuned"]
pairs: list[str] = ["lab:book-1/2m -> lab:book-1/2m-tuned"]  # base -> tuned
alone: list[str] = []  # pre-trained ones of no pair, for Figure 13
fact_set: str = "lab:book-1"
relations: list[str] = [
    "author",
    "birth_year",
    "first_language",
    "residence",
]  # empty: all of the fact set
estimators: list[str] = [
    "iclke-space",
    "template-1",
    "eiclke",
]  # the page is about the first; the others ask in other ways
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects of each fact
n_facts: int = 400  # test facts of each relation; of a lab world, all
n_eic_facts: int = 18  # of these, facts that EIC-LKE asks
n_eic_shots: int = 32  # pairs in a prompt of EIC-LKE; 100 in the paper
n_eic_first: int = 20  # the first question stands behind this pair; 50
n_every: int = 2  # and then one after so many pairs; 5 in the paper
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib import pyplot as plt
from scipy.stats import binomtest

from lkecore import (
    catalogue,
    facts,
    figures,
    intervals,
    lab,
    paper,
    prompts,
    runs,
    world,
)
from lkecore.metrics import iclke
from lkecore.metrics.lab import LEVELS, told_levels
from lkecore.models import open_model
from lkecore.rows import BadInput
from lkecore.scores.slots import encode_slots, slot_logprobs
from lkecore.scores.tree import option_logprobs
from lkecore.sequences import slots

# %% [markdown]
# ## Facts
#
# First the pairs are read. A run of a single model is a part of a page over several runs, and has nothing to compare.

# %%
figures.style()
two = [tuple(pair.split(" -> ")) for pair in pairs]
if wrong := [p for p in two if len(p) != 2 or p[0] == p[1]]:
    raise BadInput(f"pair {wrong[0]}: write 'base -> tuned', two models")
if wrong := [name for name in alone if catalogue.is_tuned(name)]:
    raise BadInput(f"alone names {wrong[0]}, which is tuned: put it into pairs")
members = dict.fromkeys([*(name for pair in two for name in pair), *alone])
if strange := [name for name in models if name not in members]:
    raise BadInput(f"models {strange}: in no pair of {pairs}, and not in alone")
absent = [name for name in members if name not in models]
if absent and (page or len(models) > 1):
    raise BadInput(f"pairs or alone name {absent}; put them into models, too")
for name in models:
    if lab.is_name(name) and lab.parse(name).world != fact_set:
        raise BadInput(f"{name} has not read {fact_set}: ask it on its world")
two = [pair for pair in two if set(pair) <= set(models)]
main, *others = estimators or [""]
if main not in prompts.SEPARATORS:
    raise BadInput(f"estimators {estimators}: the first must be iclke-space")

# %% [markdown]
# Base and tuned are asked the same facts with the same shots and options. A relation with too few objects for the
# options stops the page. One with fewer test facts than `n_facts` is named.

# %%
names = relations or list(facts.relations(fact_set))
if len(names) < 2:
    raise BadInput(f"this page averages over relations, and {names} is one")
in_lab = world.is_spec(fact_set)
loaded, trains, asked, options = {}, {}, {}, {}
for name in names:
    loaded[name] = facts.load(fact_set, name)
    trains[name], test = facts.divide(loaded[name])
    asked[name] = test if in_lab else facts.draw_facts(test, n_facts, seed)
    options[name] = facts.draw_options(
        asked[name], loaded[name].objects, n_options, seed
    )
chance = 1 / n_options
fewer = [n for n in names if len(asked[n]) < n_facts and not in_lab]
print(f"fewer than {n_facts} facts: {', '.join(fewer) or 'no relation'}")
print(f"{sum(map(len, asked.values())):,} facts in {len(names)} relations")
print(f"guessing gets {chance:.3f}")

# %% [markdown]
# Of a world of the lab we know what the text tells: *planted* facts 1 to 64 times, *mislearned* ones with a wrong
# object, others *never*. For other fact sets nobody knows, and the table is empty.

# %%
columns = ["fact", "state", "form", "occurrences"]
truth = world.states(fact_set)[columns] if in_lab else None
truth = pd.DataFrame(columns=columns) if truth is None else truth
truth["told"] = told_levels(truth)
told = truth.set_index("fact")["told"]
objects = {(n, f.id): f.object for n in names for f in asked[n]}
of_asked = truth["fact"].isin({f.id for n in names for f in asked[n]})
counts = pd.crosstab(truth.loc[of_asked, "form"], truth.loc[of_asked, "told"])
counts.reindex(columns=LEVELS, fill_value=0)

# %% [markdown]
# ## Prompts
#
# `iclke-space` is the paper's format. `template-1` is a sentence with a blank. It shows no pair, and in the lab it stands
# in the text. So a model that has lost the habit of reading pairs, and nothing else, should still answer it.
#
# {term}`EIC-LKE` puts questions between the pairs of one long prompt: behind the first few shots, and then again and again
# behind a few more. In each of the prompts each question has one of its options behind it, mostly a wrong one. All that
# stands before an option is its context, the wrong answers to earlier questions, too. Its pairs are all that are kept for
# showing, so a subject with two true objects may come twice. A relation with fewer of them has fewer questions in a
# prompt, and a line says so.

# %%
questions, long_prompts = {}, {}
for name in names:
    shots = facts.draw_shots(trains[name], n_shots, seed)
    for estimator in [e for e in estimators if e != "eiclke"]:
        ask = loaded[name], shots, asked[name], options[name]
        questions[estimator, name] = prompts.asking(estimator, *ask)
    if "eiclke" in estimators:
        some = asked[name][:n_eic_facts]
        if in_lab:  # there they stand in the order of their numbers
            some = facts.draw_facts(asked[name], n_eic_facts, seed)
        choice = dict(zip(asked[name], options[name], strict=True))
        long_prompts[name] = slots(
            facts.draw_facts(trains[name], n_eic_shots, seed),
            some,
            [choice[fact] for fact in some],
            first=n_eic_first,
            every=n_every,
            seed=seed,
        )

# %%
for (estimator, name), made in questions.items():
    if name == names[0]:
        print(f"{estimator:12} ...{made[0].context[-48:] + ' ____'!r}")
for name, groups in long_prompts.items():
    if name == names[0]:
        print(f"eiclke       {''.join(groups[0].texts[0])[-60:]!r}")
    if len(trains[name]) < n_eic_shots:
        print(f"fewer pairs for eiclke, {name}: {len(trains[name])}")

# %% [markdown]
# ## Scores
#
# First the length of the long prompts. One that goes beyond a model's window stops the run here, before any model is
# loaded and before hours of other questions. It counts up to the last question: no model reads what stands behind.

# %%
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}
for lm in lms.values():
    for groups in long_prompts.values():
        for group in groups:
            encode_slots(lm, group)

# %% [markdown]
# What other pages have asked already comes from the cache. A run keeps one row for each answer: was it right, how sure
# was the model, and how much of its confidence lay on the gold option?

# %%
keys = ["model", "estimator", "relation"]
frames = {}
for model, lm in lms.items():
    for (estimator, name), asks in questions.items():
        frame = option_logprobs(lm, asks).frame
        frames[model, estimator, name] = iclke.answers(frame)
    for name, groups in long_prompts.items():
        frame = slot_logprobs(lm, groups).frame
        frames[model, "eiclke", name] = iclke.answers(frame)

# %%
if page:
    answers = runs.collect("answers.parquet")
else:
    answers = pd.concat(frames, names=keys).reset_index(keys)
    runs.keep(answers, "answers.parquet")
counts = answers.groupby(["model", "estimator"], sort=False).size()
counts.unstack("estimator").reindex(columns=estimators)

# %% [markdown]
# ## Metrics
#
# **Base and tuned** on the same facts, each relation counted alike. The first interval of `change` asks what would be
# with other facts of these relations, the second with other relations, too. `only` counts facts that only one of the two
# answers rightly. `p` is McNemar's exact test over all facts, Holm-corrected for the rows. The rows of one pair are on
# different numbers of facts: mind `facts`. Where the two never differ, the interval has no width. That is no certainty.

# %%
index = ["relation", "fact"]
by_way = {
    estimator: part.pivot(index=index, columns="model", values="right")
    for estimator, part in answers.groupby("estimator")
}
rows, changes, of_each = [], {}, {}
for base, tuned in two:
    for estimator in estimators:
        parts = [g for _, g in by_way[estimator].groupby("relation")]
        b, t = ([g[m].to_numpy() for g in parts] for m in (base, tuned))
        of_each[tuned, base, estimator] = t, b
        over = intervals.paired_difference(t, b, seed=seed)
        change = [x.astype(float) - y for x, y in zip(t, b, strict=True)]
        wide = intervals.mean_over_relations(change, seed=seed)
        changes[tuned, base, estimator] = wide
        means = (np.mean([g.mean() for g in each]) for each in (b, t))
        x, y = np.concatenate(b), np.concatenate(t)
        only = len(x), (x & ~y).sum(), (y & ~x).sum(), intervals.mcnemar(x, y)
        texts = over.text(3), wide.text(3)
        rows.append((tuned, estimator, *means, *texts, *only))

# %%
columns = "model estimator base tuned change over_relations"
columns = [*columns.split(), "facts", "base_only", "tuned_only", "p"]
changed = pd.DataFrame(rows, columns=columns)
changed["p"] = [f"{p:.2g}" for p in intervals.holm(changed["p"])]
runs.keep(changed, "change.csv")
changed.round(3).set_index(columns[:2])

# %% [markdown]
# **Relation by relation**, in the paper's format. Is the change one of all relations, or of a few? The intervals of
# the two accuracies are Wilson's; `p` is McNemar's exact test, Holm-corrected for all rows.

# %%
rows = []
for base, tuned in two:
    for name, part in by_way[main].groupby("relation"):
        b, t = part[base].to_numpy(), part[tuned].to_numpy()
        p = intervals.mcnemar(b, t)
        for which, hits in (("base", b), ("tuned", t)):
            found = intervals.proportion(int(hits.sum()), len(hits))
            bounds = found.estimate, found.low, found.high, found.text()
            rows.append((tuned, name, which, *bounds, p))
columns = ["model", "relation", "which", "accuracy", "low", "high", "text", "p"]
by_relation = pd.DataFrame(rows, columns=columns)
runs.keep(by_relation, "accuracy-by-relation.csv")
shown = by_relation.pivot(index=columns[:2], columns="which", values="text")
p = by_relation.drop_duplicates(columns[:2]).set_index(columns[:2])["p"]
shown["p"] = pd.Series(intervals.holm(p), index=p.index).map("{:.2g}".format)
shown

# %% [markdown]
# **The subsumption rate**: of the facts that the tuned model answers rightly, the share that its base answers, too, as on
# the page before this one ({doc}`16_iclke_size`). Relations in which the tuned model has fewer than two facts right are left
# out; `counted` says how many remain. `independent` is the accuracy of the base, the rate that would come out if the
# two were right independently of each other. `luck` is the share of the tuned one's right answers that blind guesses
# would give.
#
# `new` counts the facts that the base misses and the tuned model has right, beside the number that guesses would
# give. `p` asks whether there are more of them than that (exact binomial test, one-sided, Holm-corrected).
# Only if there are can one say that the tuned model answers something that its base could not.

# %%
rows, etas, new = [], {}, []
for (tuned, base, estimator), (t, b) in of_each.items():
    x, y = np.concatenate(t), np.concatenate(b)
    missed, n_new = int((~y).sum()), int((x & ~y).sum())
    p = binomtest(n_new, max(missed, 1), chance, alternative="greater").pvalue
    guessed = round(missed * chance, 1)
    new.append((tuned, estimator, missed, n_new, guessed, p))
    which = [(u, v) for u, v in zip(t, b, strict=True) if u.sum() >= 2]
    if len(which) < 2:
        continue
    shares = [v[u] for u, v in which]
    found = intervals.mean_over_facts(shares, seed=seed)
    wide = intervals.mean_over_relations(shares, seed=seed)
    etas[tuned, base, estimator] = wide
    alike = np.mean([v.mean() for _, v in which])
    a = np.mean([u.mean() for u, _ in which])
    luck = min(1, chance * (1 - a) / ((1 - chance) * a))
    bounds = found.estimate, found.low, found.high, found.text(), wide.text()
    right = sum(u.sum() for u, _ in which)
    rows.append((tuned, estimator, *bounds, alike, luck, right, len(which)))

# %% covers=["IC-E6", "IC-T10"]
columns = "model estimator eta low high over_facts over_relations independent"
columns = [*columns.split(), "luck", "tuned_right", "counted"]
rates = pd.DataFrame(rows, columns=columns)
runs.keep(rates, "subsumption.csv")
shown = rates.drop(columns=["eta", "low", "high"])
display(shown.set_index(columns[:2]).round(3))
columns = ["model", "estimator", "base_misses", "new", "by_guessing", "p"]
news = pd.DataFrame(new, columns=columns)
news["p"] = [f"{p:.2g}" for p in intervals.holm(news["p"])]
runs.keep(news, "new-facts.csv")
news.set_index(columns[:2])

# %% [markdown]
# **The format or the fact?** Take the facts that the base has right in the paper's format and the tuned model has not.
# Has the tuned model lost them, or does it only not show them in this way? `found` is the share of these lost facts that
# it has right when asked in another way, with Wilson's interval. Beside it stands the same share for the base. Were
# only the format lost, the two would be alike. The first way is the one that chose these facts, so its row says
# nothing: there the tuned model has none of them and the base has all.
#
# `gold` is the mean confidence of the tuned model in the gold option of the lost facts. In the lab it can be held
# against their {term}`controls <control>`: facts with the same objects, about other subjects, which no text told. If
# it lies clearly above, a trace of the facts is left, though it no longer wins.

# %%
rows = []
for base, tuned in two:
    first = by_way[main]
    lost = first.index[first[base] & ~first[tuned]]
    same = {(name, objects[name, fact]) for name, fact in lost}
    never = [key for key in first.index if told.get(key[1]) == "never"]
    controls = [key for key in never if (key[0], objects[key]) in same]
    for estimator in estimators:
        hits = by_way[estimator]
        some = hits[hits.index.isin(lost)]
        counts = [int(some[m].sum()) for m in (tuned, base)]
        n = len(some)
        shares = [
            intervals.proportion(k, n).text() if n else "" for k in counts
        ]
        of = (answers["model"] == tuned) & (answers["estimator"] == estimator)
        gold = answers[of].set_index(index)["gold_confidence"]
        for which in (lost, controls):
            values = gold[gold.index.isin(which)] if len(which) else []
            if len(values) < 2:
                shares.append("")
                continue
            found = intervals.mean_over_facts([values], seed=seed)
            shares.append(found.text(3))
        rows.append((tuned, estimator, n, *shares))

# %%
columns = ["model", "estimator", "lost", "found by tuned", "found by base"]
columns += ["gold, lost facts", "gold, controls"]
traces = pd.DataFrame(rows, columns=columns)
runs.keep(traces, "lost-facts.csv")
traces.set_index(columns[:2])

# %% [markdown]
# **By what the text told.** Accuracy of base and tuned by how often the text told the fact, in each way of asking. Only the lab
# can show this. Facts told often are where there is something to lose. The row of facts never told shows what guessing
# gives.

# %%
rows = []
for base, tuned in two:
    for estimator in estimators:
        hits = by_way[estimator].join(told, on="fact")
        for level, part in hits.groupby("told"):
            n = len(part)
            both = [
                intervals.proportion(int(part[m].sum()), n)
                for m in (base, tuned)
            ]
            texts = [found.text() for found in both]
            rows.append((tuned, estimator, level, n, *texts))
columns = ["model", "estimator", "told", "facts", "base", "tuned"]
by_told = pd.DataFrame(rows, columns=columns)
runs.keep(by_told, "accuracy-by-told.csv")
by_told["told"] = pd.Categorical(by_told["told"], LEVELS)
by_told.sort_values(columns[:3]).set_index(columns[:3])

# %% [markdown]
# ## Figures
#
# {numref}`fig-tuned-relations` is the paper's Figure 7 for the first pair. The lighter bar is the tuned model. Look whether
# it is shorter everywhere, and whether any intervals of a pair lie apart.

# %% covers=["IC-F7"] tags=["hide-input"] mystnb={"figure": {"name": "fig-tuned-relations", "caption": "Accuracy of a base model (dark) and of the model tuned from it (light) by relation, IC-LKE in the first format, for the first pair of the run. Lines: 95 % Wilson intervals."}, "image": {"alt": "Pairs of horizontal bars of accuracy, a dark one for the base and a light one for the tuned model, for each relation."}}
of_first = by_relation["model"] == (two[0][1] if two else "")
first = by_relation[of_first].rename(columns={"relation": "name"})
size = (7, 1.5 + 0.5 * len(names))
fig, ax = plt.subplots(figsize=size, layout="constrained")
if len(first):
    figures.paired_bars(first, ax, pair="which")
    ax.set_xlabel(f"{figures.ACCURACY}, {two[0][1]}")
runs.keep(first, "fig-tuned-relations.csv")

# %% [markdown]
# {numref}`fig-tuned-bars` has on the left all pairs and all ways of asking, mean over relations: the paper's Figures 7 and
# 15 in one. On the right stands what the paper printed, with other models and other facts. Compare the *steps* from dark to
# light, not the heights.

# %% covers=["IC-F7", "IC-F15"] tags=["hide-input"] mystnb={"figure": {"name": "fig-tuned-bars", "caption": "Accuracy of base (dark) and tuned models (light), mean over relations. Left: this run, by pair and estimator, with 95 % intervals over facts; EIC-LKE has fewer facts. Right: published (Table 10, IC-LKE), other models and other facts."}, "image": {"alt": "Two panels with pairs of horizontal bars, dark for base and light for tuned models: this run on the left, thirteen published pairs on the right."}}
rows = []
for (tuned, _, estimator), both in of_each.items():
    for which, parts in zip(("tuned", "base"), both, strict=True):
        found = intervals.mean_over_facts(parts, seed=seed)
        name = f"{tuned.rpartition('/')[2]}, {estimator}"
        rows.append((name, which, found.estimate, found.low, found.high))
columns = ["name", "which", "accuracy", "low", "high"]
ours = pd.DataFrame(rows, columns=columns).sort_values("which", kind="stable")
table10 = paper.table("iclke_table10_finetuned_subsumption")
parts = {"base": "base_accuracy", "tuned": "finetuned_accuracy"}
tall = [
    table10[["finetuned_model", column]].set_axis(["name", "accuracy"], axis=1)
    for column in parts.values()
]
tall = pd.concat(tall, keys=parts, names=["which", ""]).reset_index("which")
fig, axes = plt.subplots(1, 2, figsize=(11, 5.5), layout="constrained")
titles = {"this run": ours, "published, other models": tall}
for ax, (title, bars) in zip(axes, titles.items(), strict=True):
    if len(bars):
        bars = bars.assign(low=bars.get("low"), high=bars.get("high"))
        figures.paired_bars(bars, ax, pair="which")
    ax.set_xlabel(f"accuracy, {title}")
runs.keep(ours, "fig-tuned-bars.csv")

# %% [markdown]
# The next figure is the paper's Figure 13: EIC-LKE for each relation and each model that is not tuned. The paper shows
# its 34 pre-trained models there; GPT-NeoX is missing, since it cannot read so long a prompt. Families stand in the
# order of their model nearest 7 billion parameters, the models of a family by their mean, and relations as in the
# paper's Table 8. With few facts in a cell (`n_eic_facts`) only large differences of colour mean anything. There is no
# such figure if EIC-LKE was not asked.

# %% covers=["IC-F13"] needs={"IC-F13": {"alone": 1}} tags=["hide-input"] mystnb={"figure": {"name": "fig-tuned-eic", "caption": "Accuracy by EIC-LKE, by pre-trained model and relation (the paper's Figure 13). Families, models and relations in the order of the paper's Figure 5."}, "image": {"alt": "Heat map of accuracy by EIC-LKE with a row for each model and a column for each relation."}}
of_eic = answers[answers["estimator"] == "eiclke"]
after = {name for name in models if catalogue.is_tuned(name)}
after |= {tuned for _, tuned in two}
of_eic = of_eic[~of_eic["model"].isin(after)]
eic = of_eic.groupby(["model", "relation"], sort=False)["right"]
eic = eic.agg(["mean", "sum", "size"]).reset_index()
ends = zip(eic["sum"], eic["size"], strict=True)
ends = [intervals.proportion(int(k), int(n)) for k, n in ends]
eic = eic.rename(columns={"mean": "accuracy", "size": "facts"})
eic["low"], eic["high"] = [i.low for i in ends], [i.high for i in ends]
if len(eic):
    called = {name: loaded[name].paper_relation for name in names}
    order = pd.MultiIndex.from_product(paper.figure_5_order(eic, called))
    eic = eic.set_index(["model", "relation"]).loc[order].reset_index()
    wide, high = eic["relation"].nunique(), eic["model"].nunique()
    size = 3 + (0.9 if wide <= 20 else 0.22) * wide, 1.9 + 0.3 * high
    fig, ax = plt.subplots(figsize=size, layout="constrained")
    axes = {"index": "model", "columns": "relation", "values": "accuracy"}
    figures.heat_map(eic, ax, **axes, label="accuracy", limits=(0, 1))
runs.keep(eic.drop(columns="sum"), "fig-tuned-eic.csv")

# %% [markdown]
# In {numref}`fig-tuned-eta` a mark to the right of its tick says that the tuned model is right on the facts that its base
# had right, more than two models would be that know nothing of each other. Marks to the left would be odd.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tuned-eta", "caption": "Subsumption rate of the tuned model by its base, mean over relations. Circles: published (Table 10), other models. Diamonds: this run, with 95 % intervals over facts. Ticks: the rate of two models that are right independently, which is the accuracy of the base."}, "image": {"alt": "Horizontal rows of marks between 0 and 1: thirteen published subsumption rates as circles and ours as diamonds with intervals, each beside a tick for independent answers."}}
published = pd.DataFrame(
    {
        "name": table10["finetuned_model"] + " in " + table10["base_model"],
        "eta": table10["eta"],
        "independent": table10["base_accuracy"],
        "ours": False,
    }
)
labels = rates["model"] + ", " + rates["estimator"]
own = rates.assign(name=labels, ours=True)
columns = ["name", "eta", "low", "high", "independent", "ours"]
drawn = [published.reindex(columns=columns), own[columns]]
drawn = pd.concat([part for part in drawn if len(part)], ignore_index=True)
drawn["ours"] = drawn["ours"].astype(bool)
fig, ax = plt.subplots(
    figsize=(8.5, 1 + 0.34 * len(drawn)), layout="constrained"
)
figures.subsumption_dots(drawn, ax)
runs.keep(drawn, "fig-tuned-eta.csv")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Table 10, and beside it what Table 7 prints for the same models. The two come from different runs of the
# paper, up to 0.042 apart. Table 10 calls the tuned models of Llama-2 FT-1 and FT-2 the other way round than Table 6. The
# names here are those of Table 6, and `note` says where this reading rests on the values. A row has a rate of ours only where
# this run asked just these two models.

# %%
hub = paper.table("iclke_table6_model_names").set_index("model")["hf_id"]
table7 = paper.table("iclke_table7_models").set_index("model")
same_data = fact_set.startswith("hub:QinyuanWu/T-Rex-MC") and not relations
same = (n_shots, n_options, n_facts, main) == (50, 100, 400, "iclke-space")
ours = rates[rates["estimator"] == main].set_index("model")
rows = []
for row in table10.itertuples():
    base, tuned = hub[row.base_model], hub[row.finetuned_model]
    text, verdict = "", "other models"
    if (base, tuned) in two and tuned in ours.index:
        each = ours.loc[tuned]
        bounds = each["eta"], each["low"], each["high"], 0.95, "over facts"
        found = intervals.Interval(*bounds)
        given = {"same_data": same_data, "same_protocol": same}
        verdict = paper.number_verdict(found, row.eta, same_model=True, **given)
        text = found.text(3)
    printed = row.base_accuracy, row.finetuned_accuracy
    again = table7.loc[[row.base_model, row.finetuned_model]]
    again = again["average_accuracy"].round(3)
    rows.append((row.finetuned_model, *printed, row.eta, *again, text, verdict))
columns = "tuned base_10 tuned_10 eta base_7 tuned_7 ours verdict"
beside = pd.DataFrame(rows, columns=columns.split())

# %%
beside["note"] = table10["note"].fillna("").to_numpy()
higher = {
    "Table 10": beside["tuned_10"] > beside["base_10"],
    "Table 7": beside["tuned_7"] > beside["base_7"],
}
for where, which in higher.items():
    found = ", ".join(beside.loc[which, "tuned"]) or "none"
    print(f"higher after tuning, {where}: {found}")
below = (beside["eta"] < beside["base_10"]).sum()
print(f"rates below the accuracy of the base: {below} of {len(beside)}")
beside.style.hide().format(precision=3).set_table_attributes('class="lke-text"')

# %% [markdown]
# Table 7 has one tuned model more: Falcon-7B-instruct with 0.006, where guessing gives 0.01 and its base 0.702. This looks
# like a run that failed, and not like a finding. Table 10 leaves the model out.
#
# Most published rates lie above the accuracy of the base, as they should for models that know the same things.
# Where one lies below, the formula and the printed accuracies do not fit well together. The page before this one tries
# some explanations for the same riddle in Table 1.
#
# **Claims.** Statistic, direction and least effect of each stand in `lkecore/data/claims.csv` since before the first
# run of this page. They are tested in the paper's format, and beside it in the other ways of asking. The intervals are over
# relations and facts. With four relations they can be too narrow ({ref}`by how much <few-relations>`), and EIC-LKE has few facts.

# %%
claims = paper.claims("IC").set_index("id")
tested = {"IC-tuned-lower": changes, "IC-tuned-subsumption": etas}
rows = []
for key, by_pair in tested.items():
    claim = claims.loc[key]
    for (tuned, _, estimator), interval in by_pair.items():
        verdict = paper.claim_verdict(interval, claim)
        says = key, claim["claim"], tuned, estimator
        rows.append((*says, interval.text(3), claim["holds_if"], verdict))
columns = ["id", "claim", "models", "estimator", "ours", "holds if"]
judged = pd.DataFrame(rows, columns=[*columns, "verdict"])
kept = judged.rename(columns={"estimator": "way"})
kept = kept.assign(source="this run", as_paper=kept["way"] == main, mark="")
runs.keep(paper.verdicts(kept), "verdicts.csv")
shown = judged.drop(columns="id").rename(columns={"models": "model"})
shown.style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# A way of asking without a row for the second claim has fewer than two relations in which the tuned model is right at least
# twice.
#
# What may be learned from a lab model? Its tuning is likely to be harsher than that of a chat model: ten rounds of instructions that
# have nothing to do with its world, and no text of the world in between. A network that is trained on one thing alone
# forgets others. If the accuracy falls in one way of asking only, it was the format. If it falls in *all*, lists of pairs are
# not to blame. But the facts need not be gone. All these ways are text to go on with, and none is an instruction, as
# the tuning had them: what comes out only after an instruction is missed by all. The table of lost facts helps to tell.
# It is about one training in one world, and a chat model of billions of parameters may lose less.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-tuned-order
# Is the tuned model less sure as well? Compare the confidence in the prediction, and that in the gold option, before and
# after tuning.
# ```

# %% [markdown]
# ````{solution-start} ex-tuned-order
# :class: dropdown
# ````

# %%
by = answers.groupby(["model", "estimator"], sort=False)
by[["confidence", "gold_confidence"]].mean().round(3)

# %% [markdown]
# A lower confidence with a lower accuracy is honest: the model does not claim what it has lost. A confidence that stays high while
# the accuracy falls is the worse case.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-tuned-gone
# A report says: "The tuned model answers half as many facts, and its rate is high, so it knows a part of what the base
# knows and nothing new." Which table would you ask for before you believe the second half?
# ```
#
# ````{solution} ex-tuned-gone
# :class: dropdown
#
# The table of `new` facts. A rate below 1 leaves a rest, and the rest is either new knowledge or guesses. Only the
# number that guesses would give tells the two apart. The first half of the sentence needs the other ways of asking: it may
# be true of one format only.
# ````
#
# ```{exercise}
# :label: ex-tuned-own
# Compare another pair: smaller models of the lab, which are tuned at first use, or two of the hub.
# ```
#
# ````{solution} ex-tuned-own
# :class: dropdown
#
# Put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml`. With facts of the embedded atlas,
# set `fact_set: atlas` and name relations with enough objects for the options.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 17_iclke_tuned
#     parameters:
#       models: ["lab:book-1/0.7m", "lab:book-1/0.7m-tuned"]
#       pairs: ["lab:book-1/0.7m -> lab:book-1/0.7m-tuned"]
# ```
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
