# %% [markdown]
# # Which gap is larger: facts not known, or facts known and not used?
#
# **Measured by one learned question, lab models do not know {glue:text}`first_low:.0%` to {glue:text}`first_high:.0%` of the facts that their text states, and know
# but do not use only {glue:text}`second_low:.0%` to {glue:text}`second_high:.0%`.**
#
# ```{glue:figure} fig-gaps-models
# :name: fig-gaps-models
# :alt: A bar for each model, divided into facts that are known and used, known and not used, and not known.
#
# Our bars have a large light part, facts not known, and hardly any middle part, facts known and not used. The dark part is the facts known and used. In ours,
# a fact is known if one learned question gives it back. The *unplanted* twin read none of these facts: its dark part is luck. On the right are the paper's
# models, whose printed parts don't quite add up to 1.
# ```
#
# A model knows some of all facts ({page}`30_xtraeval_extraction`), and uses some of those ({page}`31_xtraeval_task`). The facts that it does not know are
# the first gap, the facts that it knows and does not use are the second. With the used facts they add up to all facts. The known facts were
# divided {glue:text}`divisions` into facts to train on and facts to ask.
#
# Two limits. {glue:text}`name_shown` knows and uses {glue:text}`usable:.0%` of the facts, and its twin, which read none of them, gets {glue:text}`twin` by
# luck. And how large the second gap is depends first on which facts are called known: in the models of `lab:rich-2`, by any way of asking it is more than
# twice as large as by one learned question.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`kazemnejad2023measuring` (Section 5) find both gaps in models from 125 million to 13 billion parameters. In our words: larger models know more, so
# the first gap closes; the second stays. A model of 13 billion parameters uses as many facts as a model of 125 million knows (Figures 1 and 7).
# Two later works define other gaps: {cite:t}`gekhman2025insideout` between hidden states and probabilities, {cite:t}`calderon2026shelves` between facts
# that a model completes in their context and facts that it recalls.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = []  # of those that were asked; empty: all
ranker: str = "likelihood, one wording"  # the trained head; or value
often: int = 16  # statements from which a fact counts as stated often
sources: list[str] = []  # in results/, of the numbers; none: a run of page 31

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lkecore import answers, figures, papers, stats
from lkecore.answers import rich
from lkecore.models import lab
from lkecore.stats import gaps as measures

figures.style()

# %% [markdown]
# ## Facts
#
# The facts of {page}`31_xtraeval_task`, without guesses, as on that page. The twin read the same text about other subjects, and is asked the facts that the
# text of its model states. The models of `lab:rich-2` were trained with guesses among their facts, their twin was not. No other model here has a twin.

# %%
this, its = "31_xtraeval_task", sources or ["xtraeval_lab"]
if answers.on_page() and not sources:
    every, used = (
        answers.load_runs(f"answers{of}.parquet") for of in ("-known", "")
    )
else:
    every, used = (
        answers.shown(f"{this}{of}", pd.DataFrame(), its)[0]
        for of in ("-known", "")
    )
of, by = ["model", "relation", "fact"], ["model", "relation"]
every = every[every["model"].isin(models or every["model"].unique())]
every = every.drop_duplicates(of, ignore_index=True)  # of each split
every["guess"] = answers.guesses(every)
known = every[~every["guess"]]
seeds = [name for name in known.dropna(axis=1) if name.startswith("soft_")]
known = known.astype(dict.fromkeys(seeds, bool))  # seeds that all sources have
used = used.query("ranker == @ranker and part == 'known' and not readable")
used = used.merge(known[[*of, *seeds, "known"]])  # no guess is asked
every.groupby(["model", "guess"], sort=False)["known"].agg(["sum", "size"])

# %% [markdown]
# ## Prompts
#
# This page asks nothing.

# %% [markdown]
# ## Scores
#
# *Known*: found by the learned question of one seed, as in the paper, counted for each seed, then averaged; found by the questions of all seeds; or found by
# any of them or the best template. *Used*, among the known facts that were asked: the true statement is above all with another tail (`tails`), or first of
# all documents (`top1`, the paper's measure). If none of a relation's known facts was asked, it has the mean share of the other relations.
#
# $$\text{usable} = \text{known} \times \text{used}, \quad \text{gap}_1 = 1 - \text{known}, \quad \text{gap}_2 = \text{known} \times (1 - \text{used})$$

# %%
ways = {"any seed or the best template": ["known"]}
if seeds:
    ways = {"one seed, mean of all": seeds, "all seeds": ["every"]} | ways
known, used = (f.assign(every=f[seeds].all(axis=1)) for f in (known, used))
parts, gone = {}, {}
for way, column in [(way, name) for way, of_ in ways.items() for name in of_]:
    share = known.groupby(by, sort=False)[column].mean()
    each = used[used[column]].groupby(by)[["tails", "top1"]].mean()
    each = each.reindex(share.index)
    lost = each["tails"].isna() & share.gt(0)
    gone[way, column] = lost.groupby("model", sort=False).sum()
    filled = each.fillna(each.groupby("model").transform("mean")).fillna(0)
    for mark in each:
        found = measures.gaps(share, filled[mark]).assign(used=each[mark])
        parts[way, mark, column] = found
keys = ["known by", "used by", "model"]
parts = pd.concat(parts, names=[*keys[:2], "seed"])
parts = parts.groupby([*keys, "relation"], sort=False).mean()  # over seeds
print("relations of which no known fact was asked:")
pd.concat(gone, names=["known by", "seed"]).unstack()

# %% [markdown]
# ## Answers
#
# Means over relations. The second gap depends first on which facts are called known: compare the rows of one model. A twin's row is the result of luck in
# the same formula.

# %% covers=["XT-F1", "XT-F5", "XT-F7", "XT-E4"] shows=["run", "shipped"]
long = parts.rename_axis(columns="part").stack().dropna().rename("share")
table = stats.estimate(long.reset_index(), [*keys, "part"], value="share")
columns = ["identifiable", "used", "usable", "gap_2", "gap_1"]
said = stats.table(table, keys, "part", digits=3)[columns]
columns = {"identifiable": "known", "gap_2": "gap 2", "gap_1": "gap 1"}
said.rename(columns=columns).rename(figures.display_name, level="model")

# %% [markdown]
# **Dose.** How often the text states a fact decides whether it is known (by any way). Half of the stated facts are stated fewer than 16 times, and few of
# these are known. Does the number also decide whether a fact is used? Facts that are never stated are guessed, as a twin guesses.

# %%
dosed = every.merge(used.groupby(of, as_index=False)["tails"].mean(), "left")
dosed["told"] = "nobody knows how often"
if all(map(lab.is_name, every["model"])):
    dosed["world"] = dosed["model"].str.partition("/")[0]
    dosed = rich.with_states(dosed, ["state", "occurrences"])
    many = np.where(dosed["occurrences"] >= often, f"{often} or more", "fewer")
    twin = dosed["model"].str.endswith("-unplanted")
    many = np.where(twin, "to its model", many)
    dosed["told"] = np.where(dosed["guess"], "never", many)
dosed = dosed.groupby(["model", "told"], sort=False)[["known", "tails"]]
dosed = dosed.agg(["mean", "count"]).round(3)
dosed = dosed.rename(figures.display_name, level="model")
dosed.rename(columns={"tails": "used"}).rename_axis(["model", "stated"])

# %% [markdown]
# ## Figure
#
# {numref}`fig-gaps-models`, at the top.

# %% tags=["hide-input"]
order = ["usable", "gap_2", "gap_1"]
main = table[table["known by"].eq([*ways][0]) & table["used by"].eq("tails")]
ours = main.pivot_table("estimate", "model", "part", sort=False)[order]
printed = papers.table("xtra_tableB11_scaling_gaps")
printed["model"] = printed["family"] + " " + printed["params"]
theirs = printed.pivot_table("mean", "model", "quantity", sort=False)[order]
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
both = [ours.rename(index=figures.display_name), theirs]
for ax, frame, title in zip(axes, both, ["ours", "printed"], strict=True):
    left = np.zeros(len(frame))
    for part, shade in zip(order, ["0.25", "0.6", "0.85"], strict=True):
        ax.barh(frame.index, frame[part], left=left, color=shade, label=part)
        left += frame[part].to_numpy()
    ax.set(title=title, xlabel="share of facts", xlim=(0, 1))
    ax.set_ylim(max(len(ours), len(theirs)) - 0.5, -0.5)  # equal bars
names = ["known and used", "known, not used", "not known"]
axes[0].legend(names, loc="lower right")
shown = pd.concat({"ours": ours, "printed": theirs}, names=["of", "model"])
figures.glue_figure(figure, "fig-gaps-models", shown.reset_index())

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Not comparable: models, facts and the meaning of *used* differ. Below are Table B.11 and, by the formula above, the second gap from the
# accuracies of Table B.10: the printed gap is 14 to 19 % smaller (Q7). OPT of 125 million has two numbers in two tables (Q8).

# %% covers=["XT-TB8", "XT-TB10", "XT-TB11", "XT-TA4"] shows=["run", "shipped"]
size, scaling = ["family", "params"], papers.table("xtra_tableB10_scaling")
scaling = scaling.pivot_table("mean", size, "metric", sort=False)
wide = printed.pivot_table("mean", size, "quantity", sort=False)
known_ = scaling["knowledge_extraction_accuracy"]
used_ = scaling["downstream_accuracy"]
minutes = papers.table("xtra_tableA4_compute")
minutes = minutes.pivot_table("minutes_per_run", size, "stage", sort=False)
wide.assign(by_formula=known_ * (1 - used_)).join(minutes).round(3)

# %%
papers.table("xtra_tableB8_gaps").pivot_table("mean", "model", "quantity")

# %% [markdown]
# **Claims**, the larger model minus the smaller, in each relation, by one seed. Both were defined anew after `lab:rich-2` had been seen, so
# `lab:rich-3` decides. That an equal share is used is the paper's claim about its own head, and ours about this one.

# %%
per = parts.xs([*ways][0]).xs("tails").unstack("model")
asked = {"XT-first-gap-smaller": "gap_1", "XT-used-same": "used"}
tested, gaps = {}, {}
for world in ("lab:rich-2", "lab:rich-3"):
    large, small = two = [f"{world}/2m", f"{world}/0.7m"]
    for claim, part in asked.items() if {*two} <= {*known["model"]} else ():
        gap = (per[part][large] - per[part][small]).dropna().rename("gap")
        gap = stats.estimate(gap.reset_index(), value="gap", bounds=None)
        gaps[claim, world] = gap
        row = gap.assign(model=", ".join(two))
        if world == "lab:rich-2":
            where = "34_xtraeval_gaps: xtraeval_lab; told facts of lab:rich-2"
            row = row.assign(untested=answers.CHANGED, decided_on=where)
        tested[claim] = row
print(pd.concat(gaps).round(3).to_string() if gaps else "one model")
verdicts = answers.verdicts(tested)
verdicts[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
name, twin = ours.index[0], f"{ours.index[0]}-unplanted"
gap = parts["gap_2"].xs("tails", level="used by").unstack("known by")
gap = gap.groupby("model").mean().filter(regex="^lab:rich-2/[^-]*$", axis=0)
one, of_any = gap[[*ways][0]], gap[[*ways][-1]]
of_lab = ours[[lab.is_name(model) for model in ours.index]]
of_lab = of_lab[~of_lab.index.str.endswith("-unplanted")]
holds = {
    "By one learned question": [*ways][0].startswith("one seed"),
    "lab models": len(of_lab) == (~ours.index.str.endswith("-unplanted")).sum(),
    "only": (of_lab["gap_1"] > 10 * of_lab["gap_2"]).all(),
    "more than twice as large": of_any.gt(2 * one).all(),
    "twin, which read none of them": twin in ours.index,
}
figures.sentence(holds if sources else {})
row = main.query("model == @name and part == 'usable'").iloc[0]
assert np.isclose(ours.loc[name].sum(), 1), "the parts are all facts"
n = used.loc[used["model"] == name, "split"].nunique()
figures.glue_values(
    name_shown=figures.display_name(name),
    effect=f"{stats.format_estimate(row, percent=True)} known and used",
    asked=f"{figures.display_name(name)}, stated facts",
    first_low=of_lab["gap_1"].min(),
    first_high=of_lab["gap_1"].max(),
    second_low=of_lab["gap_2"].min(),
    second_high=of_lab["gap_2"].max(),
    usable=ours["usable"][name],
    twin=f"{ours['usable'][twin]:.0%}" if twin in ours.index else "–",
    divisions="once" if n == 1 else f"{n} times",
)

# %% [markdown]
# ## What you have seen
#
# - Two shares, known and used, make three parts of all facts. How large a gap is depends first on which facts are called known.
# - A fact that was never stated cannot be known: a twin shows how much of a number is luck.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-gaps-known
# A model gives back half of the facts that its text states, and uses nine tenths of these; its twin gives back a fifth, and uses nine tenths of these. How
# much of the dark part is luck?
# ```
# ````{solution} ex-gaps-known
# :class: dropdown
# The dark parts are .45 and .18, so at most two fifths of the model's part is luck. It may be less, since the model need not guess what it has read.
# ````
