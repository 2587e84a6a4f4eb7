# %% [markdown]
# # Do models agree on which relations are well known?
#
# **Yes: over relations the accuracies of {glue:text}`name_one` and {glue:text}`name_other` correlate at {glue:text}`same:.2f`, and at
# {glue:text}`others:.2f` if each model gets different facts of these relations.**
#
# ```{glue:figure} fig-agree-pairs
# :name: fig-agree-pairs
# :alt: A row for each pair of models with two marks and intervals, the correlation on the same facts and that on other facts of the same relations.
#
# For the two real models, on both sets of facts, the two marks are close together. For the pairs of the lab the mark for other facts is at
# {glue:text}`lab_least:.2f` to {glue:text}`lab_most:.2f`, with intervals that include 0. Pearson's r of two models' accuracies over relations,
# both on the same facts, or each on its own; lines: 95 % over other relations.
# ```
#
# One model knows capitals and fails at film directors. If other models have the same strong and weak relations, then some relations are easy and some
# are hard, and this model is nothing special. But a correlation on the same facts need not mean that: two lab models, whose text states all relations
# equally often, reach {glue:text}`lab_same:.2f`, but only {glue:text}`lab_others:.2f` on different facts. With intervals over relations:
# {glue:text}`between_same` and {glue:text}`between_others` for the real models, {glue:text}`between_lab` and {glue:text}`between_lab_others` in the lab.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` correlate the accuracies of every two models over 50 relations (Section 4.2.1, Figure 14), and take the mean over
# the pairs of every two families (Figure 6). In our words: models of different families agree on which relations are well known, with
# a correlation above 0.6. Models of one family also agree. The paper prints no single value.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = [
    "lab:book-1/0.7m",
    "lab:book-1/2m",
    "lab:book-1/0.7m-unplanted",
]
fact_set: str = "lab:book-1"
relations: list[str] = []  # empty: all of the fact set
estimators: list[str] = ["iclke-space"]
# In results/: those with real models, and last that of these models.
sources: list[str] = []
others: list[str] = []  # more models, on facts of the last of these
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects of each fact
n_facts: int = 16  # test facts of each relation, as many in all
n_splits: int = 60  # random halves of the facts
seed: int = 0  # draws shots, facts, options, halves and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
from itertools import combinations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, prompts, stats
from lkecore.models import families

figures.style()

# %% [markdown]
# ## Facts
#
# The text of a lab world states all relations equally often, so its models have nothing to agree on. What is r for them? The
# {term}`unplanted twin` has read nothing about these facts. It is a {term}`negative control`. All models get the same facts,
# and equally many in each relation. The answers of the real models come from {page}`10_iclke_relations`.

# %%
families.check_families([], models, fact_set)
numbers = {
    "n_shots": prompts.pairs_shown(estimators, n_shots),
    "n_facts": n_facts,
    "n_options": n_options,
}
lab = fact_set.startswith("lab:")
how = {"seed": seed, "own_seeds": lab, "allow_fewer": True, "min_relations": 2}
sample = facts.draw(fact_set, relations, **numbers, **how)
facts.check_facts(sample, n_facts, allow_fewer=True)
print(facts.fewer(sample, **numbers))
facts.overview(sample, n_options=n_options, n_facts=n_facts)

# %% [markdown]
# ## Prompts

# %%
questions = prompts.of_sample(sample, estimators)
print(repr(prompts.example(estimators[0], sample)))

# %% [markdown]
# ## Scores

# %%
this = "15_iclke_agreement"
asked = answers.sample(questions, sources, 6)
ours = answers.ask(models, asked, "answers.parquet", dtype=dtype)
every, here = answers.shown(this, ours, sources[-1:], dtype=dtype)
every = every[every["model"].isin(models)]
if sources:
    real = answers.results("10_iclke_relations").query("draw == 0")
    real = real[real["source"].isin([*sources, *others])]
    every = pd.concat([every, real])
every = every[every["estimator"] == estimators[0]]
answers.columns(every.dropna(axis=1, how="all"))

# %% [markdown]
# ## Answers
#
# The accuracy by relation is a row of numbers for each model, and r is Pearson's correlation of two such rows. But both models have
# the *same* questions, and a relation that got easy facts by chance looks well known to both. So we cut the facts of each relation
# into halves 1 and 2, at random, many times, and correlate one model on one half with the other on the *other* half. Halves are noisier
# than all facts. With $h_A$, how well the halves of model $A$ agree with each other,
#
# $$r_\text{other facts} = \frac{2 \cdot \frac{1}{2} \left[ r(A_1, B_2) + r(A_2, B_1) \right]}{\sqrt{(1 + h_A)(1 + h_B)}},
# \qquad h_A = r(A_1, A_2),$$
#
# means over the halvings. If this is far below r, the two models agree on facts and not on relations.


# %%
def halves(table: pd.DataFrame) -> np.ndarray:
    """Accuracies in random halves: (half, split, model, relation)."""
    rng, found = np.random.default_rng(seed), []
    for _, some in table.groupby("relation"):
        size, n = len(some) // 2, len(some)
        order = rng.permuted(np.tile(np.arange(n), (n_splits, 1)), axis=1)
        two = order[:, :size], order[:, size : 2 * size]
        found.append([some.to_numpy(float)[part].mean(axis=1) for part in two])
    return np.moveaxis(found, 0, -1)


def r(a: np.ndarray, b: np.ndarray) -> float:
    """Mean over splits of Pearson's r along the last axis; flat: 0."""
    a, b = (x - x.mean(axis=-1, keepdims=True) for x in (a, b))
    scale = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    return ((a * b).sum(axis=-1) / np.where(scale > 1e-9, scale, np.inf)).mean()


def on_other_facts(two: np.ndarray) -> float:
    """The formula above; (half, split, the two models, relation)."""
    (a1, b1), (a2, b2) = np.moveaxis(two, 2, 1)
    own = [max(0, r(a1, a2)), max(0, r(b1, b2))]
    both = r(a1, b2) + r(a2, b1)
    return float(np.clip(both / np.sqrt((1 + own[0]) * (1 + own[1])), -1, 1))


# %% [markdown]
# The intervals draw relations again, each with all its facts.

# %% covers=["IC-E8"] shows=["run", "shipped"] tags=["page-only"]
rows = []
for source in sources or [here]:
    part = every[every["source"] == source].astype({"correct": float})
    table = part.pivot_table("correct", ["relation", "fact"], "model")
    means = table.groupby("relation").mean().reset_index()
    half = halves(table)
    drawn = np.random.default_rng(seed).integers(
        0, half.shape[-1], (1000, half.shape[-1])
    )
    for i, j in combinations(range(half.shape[2]), 2):
        one, other = table.columns[[i, j]]
        two = half[:, :, [i, j]]
        on_same = stats.relate(means, one, other, over="relation", seed=seed)
        apart = [
            on_other_facts(two),
            *(on_other_facts(two[..., d]) for d in drawn),
        ]
        apart = pd.DataFrame({other: apart})
        for each, found in {
            "same facts": on_same,
            "other facts": apart,
        }.items():
            row = {"source": source, "one": one, "other": other, "asked": each}
            rows.append(row | stats.interval(found.fillna(0)).iloc[0].to_dict())
assert rows, "there is no pair: two models or more are needed"
pairs = pd.DataFrame(rows)
wide = stats.table(pairs, ["source", "one", "other"], "asked")
wide[["same facts", "other facts"]].rename(figures.display_name)

# %% [markdown]
# In the lab the intervals of the second column include 0: the models share the *facts* that the text states often. **More models.** On KAMEL's
# 49 relations there are also two models of a third family, with fewer facts:

# %% covers=["IC-F14"] shows=["run", "shipped"] tags=["page-only"]
among = [*sources[-2:-1], *others] if sources else [here]
table = every[every["source"].isin(among)].astype({"correct": float})
table = table.pivot_table("correct", "relation", "model").corr()
table.rename(index=figures.display_name, columns=figures.display_name).round(2)

# %% [markdown]
# And the mean of r over the pairs of two families, or inside one:

# %% covers=["IC-F6"] shows=["run", "shipped"] tags=["page-only"]
family = {
    name: name.partition("/")[0]
    if name.startswith("lab:")
    else name.rpartition("/")[2].partition("-")[0]
    for name in table
}
cells = [
    (*sorted([family[a], family[b]]), table.loc[a, b])
    for a, b in combinations(table, 2)
]
by_family = pd.DataFrame(cells, columns=["family", "with", "r"])
by_family.groupby(["family", "with"])["r"].agg(["mean", "size"]).round(2)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-agree-pairs`, at the top, compare the two marks of a row. {numref}`fig-agree-models` has the form of the paper's Figure 14.
#
# ```{glue:figure} fig-agree-models
# :name: fig-agree-models
# :alt: A square map with a row and a column for each model and the correlation in each cell.
#
# All cells are dark: every two of these models agree. Pearson's r of two models' accuracies over relations.
# ```

# %% tags=["hide-input", "page-only"]
marks = pairs.copy()
two = (
    marks["one"].map(figures.display_name),
    marks["other"].map(figures.display_name),
)
marks["pair"] = two[0] + "\n" + two[1]
real = marks["source"] != here
marks.loc[real, "pair"] += ", " + marks["source"][real].map(
    figures.display_name
)
marks["facts"] = marks["asked"]
grid = figures.marks(
    marks,
    x="pair",
    hue="facts",
    across=True,
    height=4,
    aspect=1.5,
    label="correlation over relations",
)
grid.axes.flat[0].axvline(0, color="grey", ls=":")
figures.glue_figure(grid.figure, "fig-agree-pairs", marks)

# %% tags=["hide-input", "page-only"]
fig, ax = plt.subplots(figsize=(5.5, 4))
named = table.rename(index=figures.display_name, columns=figures.display_name)
look = {"annot": True, "fmt": ".2f", "vmin": -1, "vmax": 1, "cmap": "vlag"}
sns.heatmap(named, ax=ax, **look, cbar_kws={"label": "r over relations"})
ax.set(xlabel="", ylabel="")
figures.glue_figure(fig, "fig-agree-models", table.reset_index())

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper prints only "> 0.6". **Claim.** The mean of r over the pairs of two families. It is decided on the source with the most
# relations that two real models of two families know.

# %% tags=["page-only"]
first = (sources or [here])[0]
at_first = pairs[(pairs["source"] == first) & (pairs["asked"] == "same facts")]
best = at_first.loc[at_first["estimate"].idxmax()]
model = f"{best['one']}, {best['other']}"
own = {} if sources else {"decided_on": fact_set, "model": model}
row = best[["estimate", "low", "high"]].to_frame().T.assign(**own)
judged = answers.verdicts({"IC-families-mean": row})
two = judged["model"].str.split(", ")
judged["model"] = two.map(
    lambda names: " and ".join(map(figures.display_name, names))
)
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
key = ["source", "one", "other"]
found = pairs.set_index([*key, "asked"]).sort_index()
main = found.loc[tuple(best[key])]
run = pairs[(pairs["source"] == here) & (pairs["asked"] == "same facts")]
top = found.loc[tuple(run.loc[run["estimate"].idxmax(), key])]
both = pairs["asked"].eq("other facts") & pairs["source"].eq(here)
real = pairs[pairs["source"] != here]
close = real.pivot(index=key, columns="asked", values="estimate")
holds = {
    "real models correlate on all sets, also on other facts": len(real) > 0
    and (real["low"] > 0.6).all(),
    "two marks close together": (close.max(axis=1) - close.min(axis=1)).max()
    < 0.1,
    "lab intervals include 0": (pairs["low"][both] < 0).all(),
    "lab models reach it on the same facts": top.loc["same facts", "low"] > 0.6,
    "every two of these models agree": table.min(axis=None) > 0.6,
}
figures.sentence(holds if sources else {})
figures.glue_values(
    name_one=figures.display_name(best["one"]),
    name_other=figures.display_name(best["other"]),
    same=main.loc["same facts", "estimate"],
    others=main.loc["other facts", "estimate"],
    lab_least=pairs["estimate"][both].min(),
    lab_most=pairs["estimate"][both].max(),
    lab_same=top.loc["same facts", "estimate"],
    lab_others=top.loc["other facts", "estimate"],
    between_same=stats.format_estimate(main.loc["same facts"]),
    between_others=stats.format_estimate(main.loc["other facts"]),
    between_lab=stats.format_estimate(top.loc["same facts"]),
    between_lab_others=stats.format_estimate(top.loc["other facts"]),
)

# %% [markdown]
# ## What you have seen
#
# - A correlation over relations mixes three things: relations that are easy for all, facts that are easy for all, and chance. Halves of the facts
#   separate them.
# - Two models with the same few questions agree even if no relation is better known than another.
# - Real models agree on relations: that is not luck in the draw of facts.
#
# **Counted again**, in plain Python: r of the first pair.

# %% tags=["page-only"]
hits: dict[str, dict[str, list[bool]]] = {}
for row in every[every["source"] == first].itertuples():
    hits.setdefault(row.relation, {}).setdefault(row.model, []).append(
        bool(row.correct)
    )
share = {
    name: np.array([np.mean(of[name]) for of in hits.values()])
    for name in (best["one"], best["other"])
}
a, b = (values - values.mean() for values in share.values())
size = ((a**2).sum() * (b**2).sum()) ** 0.5
again = (a * b).sum() / size if size else 0.0  # flat
assert abs(again - best["estimate"]) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-agree-one
# How much depends on one single relation? Leave out each in turn, and take the lowest and the highest r.
# ```

# %% [markdown]
# ````{solution-start} ex-agree-one
# :class: dropdown
# ````

# %% tags=["page-only"]
two = pd.DataFrame(share)
left = [two.drop(index=i).corr().iloc[0, 1] for i in two.index]
print(f"{min(left):.2f} to {max(left):.2f}")

# %% [markdown]
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-agree-own
# Do models of your own agree? The test needs many relations, enough facts in each, and models above chance. Put this into
# `params/mine.yaml`, then call `lke run params/mine.yaml`.
# ```
#
# ````{solution} ex-agree-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 15_iclke_agreement
#     each: [models]
#     parameters:
#       models: [smollm2, gemma3-270m]
#       fact_set: atlas
#       relations: [airport_code, capital, city_of_airport, country_of_city, film_director]
#       n_facts: 60
# ```
# ````
