# %% [markdown]
# # How many relations does it take to tell two models apart?
#
# **With fewer than {glue:text}`need:.0f` relations, no number of facts shows a difference of {glue:text}`points:.0f` points between two small models:
# {glue:text}`below` of the drawn designs of this book have fewer, and no paper's.**
#
# ```{glue:figure} fig-power
# :name: fig-power
# :alt: Curves that fall steeply and then run level, relations across and facts of a relation up, with a dot for each design of this book and of four papers.
#
# A design to the right of a curve can show the difference of that curve, in 80 % of all cases. Each curve rises steeply on its left: with
# so few relations, more facts do not help. Logarithmic axes; variances of {glue:text}`name_pilot`.
# ```
#
# Two models answer questions about the same facts. How large must their difference be before we notice it? The numbers of
# {term}`relations <relation>` and facts decide that before the first answer.
#
# This page runs no model. It reads the answers of other pages.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
sources: list[str] = ["trex", "atlas", "kamel", "kamel_formats", "sizes", "sizes_kamel"]  # fmt: skip
# In results/; the variances of the figure are those of the first.
estimator: str = "iclke-space"  # of the figure
detect: float = 0.05  # the difference to be shown, a share of the facts
n_draws: int = 500  # designs that are drawn from the lab's answers
seed: int = 0

# %% tags=["hide-input"]
from itertools import product

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy.stats import t

from lkecore import answers, figures, stats
from lkecore.stats import power

figures.style()

# %% [markdown]
# ## Facts
#
# Pairs of models with the same questions on {page}`10_iclke_relations`. The *gap* of a fact is 1 if only the first of them is right, -1 if only the
# second is, and 0 otherwise.

# %%
ships = answers.results("10_iclke_relations").query("draw == 0")
ships = ships[ships["source"].isin(sources)]
cell = ["source", "estimator"]
ships["side"] = ships.groupby("source")["model"].rank("dense").astype(int)
index = [*cell, "relation", "fact"]
wide = ships.pivot(index=index, columns="side", values="correct").astype(float)
wide["gap"] = wide[1] - wide[2]
gaps = {key: of.reset_index() for key, of in wide.groupby(cell, sort=False)}
main = gaps[sources[0], estimator]
main.head(3)

# %% [markdown]
# ## Prompts
#
# The prompts are those of {page}`10_iclke_relations`.

# %% [markdown]
# ## Scores
#
# The page computes no scores. A gap is a sum of three parts: $g_{rf} = d + u_r + e_{rf}$, the difference $d$, a part $u_r$ of relation $r$, and a part $e_{rf}$ of fact $f$.
# The variances of $u$ and $e$ are `between` and `within`. A mean over $R$ relations of $F$ facts has the standard error
#
# $$\text{se} = \sqrt{\frac{1}{R} \left(\text{between} + \frac{\text{within}}{F}\right)}.$$
#
# A difference is shown in 80 % of all cases if it is as large as $(t_{0.975} + t_{0.8})$ standard errors, with $R - 1$ degrees of freedom.

# %%
parts = pd.DataFrame({key: power.parts(gap) for key, gap in gaps.items()}).T
parts = parts.rename_axis(cell)
parts["least"] = [
    power.detectable(of, int(of["relations"]), of["facts"])
    for _, of in parts.iterrows()
]
parts["needed"] = [
    power.relations_needed(of, np.inf, detect) for _, of in parts.iterrows()
]
parts.round(4)

# %% [markdown]
# `least` is the smallest difference that these relations and facts show; `needed` is the number of relations for a difference of `detect` if each has
# any number of facts.

# %% [markdown]
# ## Answers
#
# **What more facts bring.** The least difference, in points, for numbers of relations (rows) and of facts of each (columns): with 1,000 facts it is less than a
# fifth smaller than with 100.

# %%
of = parts.loc[(sources[0], estimator)]
counts = [5, 12, 24, 40, 80]
table = {
    f: [100 * power.detectable(of, r, f) for r in counts]
    for f in [5, 12, 25, 50, 100, 400, 1000]
}
table = pd.DataFrame(table, index=counts)
table.rename_axis("relations").rename_axis(columns="facts").round(1)

# %% [markdown]
# **What pairing saves.** Both models have the same facts of the same relations. The standard error of their difference, as a share of the error with
# other relations, or other facts, for each model:


# %%
def share(part: pd.DataFrame) -> float:
    """The error of a paired difference, as a share of that of an unpaired one."""
    return part["gap"].std() / np.sqrt(part[[1, 2]].var().sum())


means = wide.groupby([*cell, "relation"]).mean()
saved = {"relations": means.groupby(cell).apply(share)}
saved["facts"] = wide.groupby(cell).apply(share)
saved = pd.DataFrame(saved)
saved.round(2)

# %% [markdown]
# Intervals over relations gain most: a relation that is hard for one model is hard for the other, and less than two thirds of the error remains. Over
# other facts more than a half remains, since two answers about one fact have less in common than two means.
#
# **Is it true?** In the {ref}`lab's rich worlds <rich-worlds>` two sizes of a model have answers about all facts of three worlds, so we know their difference over
# all relations. We draw designs from these answers: relations, and facts of each. `shown` is how often they show the difference, `planned` how often they should,
# and `covered` how often the 95 % interval contains the true difference.


# %%
def planned(d: float, se: float, n: int) -> float:
    """How often a difference d is shown by n relations."""
    return t.cdf(d / se - t.ppf(0.975, n - 1), n - 1)


lab = answers.results("58_lab_found").query("estimator == @estimator")
lab["size"] = lab["model"].str.partition("/")[2]
lab = lab[lab["source"].eq("lab_found") & lab["size"].isin(["0.7m", "2m"])]
lab["relation"] = lab["world"] + " " + lab["relation"]
lab = stats.minus(lab.drop(columns="world"), "size", "2m", "0.7m")
known = power.parts(lab)
true = known["estimate"]
each = [g["gap"].to_numpy() for _, g in lab.groupby("relation")]
rng, rows = np.random.default_rng(seed), []
for n, f in product([10, 20, 40], [10, 40]):
    drawn = [
        [rng.choice(each[r], f).mean() for r in rng.integers(len(each), size=n)]
        for _ in range(n_draws)
    ]
    drawn = pd.DataFrame(drawn).T
    half = t.ppf(0.975, n - 1) * drawn.sem()
    se = np.sqrt((known["between"] + known["within"] / f) / n)
    shown = (drawn.mean() > half).mean()
    covered = (abs(drawn.mean() - true) < half).mean()
    rows.append((n, f, planned(true, se, n), shown, covered))
columns = ["relations", "facts", "planned", "shown", "covered"]
validity = pd.DataFrame(rows, columns=columns)
validity.round(2)

# %% [markdown]
# The plan and the draws differ by {glue:text}`worst:.0%` of the draws at most, with ten relations, and the interval contains the true difference in
# {glue:text}`covered`.
#
# ## Figure
#
# {numref}`fig-power`, at the top. A paper's design is the relations and facts that it names, its largest.

# %% tags=["hide-input"]
own = parts.groupby("source", sort=False)[["relations", "facts"]].first()
own = own.rename(figures.display_name).assign(of="this book")
own = own.drop_duplicates(["relations", "facts"])
theirs = ["Wu et al.", "Pezeshkpour", "Kazemnejad et al.", "Zhao et al."]
names, sizes = own.columns[:2], [(50, 400), (41, 100), (40, 850), (41, 601)]
theirs = pd.DataFrame(sizes, theirs, names).assign(of="a paper")
dots = pd.concat([own, theirs]).rename_axis("design").reset_index()
curves = [
    (points, r, power.facts_needed(of, r, points))
    for points, r in product((0.03, detect, 0.1), range(5, 101))
]
curves = pd.DataFrame(curves, columns=["points", *names]).dropna()
fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for points, line in curves.groupby("points"):
    ax.plot(*line[names].T.values, label=f"{100 * points:.0f} points")
for (side, part), sign in zip(dots.groupby("of"), "so", strict=True):
    ax.plot(*part[names].T.values, sign, color="black", label=side)
for _, dot in dots.iterrows():
    place = {"xytext": (0, 6 if dot["of"] == "a paper" else -11), "size": 7}
    place["ha"] = "right" if dot["relations"] <= 40 else "left"
    place["textcoords"] = "offset points"
    ax.annotate(dot["design"], dot[names], **place)
ax.set(xscale="log", yscale="log", xlabel="relations", ylim=(2, 2000))
ax.set(ylabel="facts of each relation")
ax.set_xticks(ticks := [5, 10, 20, 50, 100], ticks)
ax.legend(loc="lower left")
figures.glue_figure(fig, "fig-power", pd.concat([dots, curves]))

# %% tags=["hide-input", "page-only"]
need = int(parts["needed"][sources[0], estimator])
below = own["relations"] < need
holds = {
    "no number of facts": power.facts_needed(of, need - 1, detect) is None,
    "and no paper's": (theirs["relations"] >= need).all(),
    "less than a fifth": table[1000].div(table[100]).gt(0.8).all(),
    "small models": sources[0] == "trex",
    "less than two thirds": saved["relations"].lt(2 / 3).all(),
    "more than a half": saved["facts"].gt(0.5).all(),
    "three times as many": parts["needed"]["sizes", estimator] > 3 * need,
}
figures.sentence(holds)
figures.glue_values(
    need=need,
    points=100 * detect,
    below=f"{below.sum()} of {len(own)}",
    name_pilot=f"two small models on {figures.display_name(sources[0])}",
    worst=(validity["shown"] - validity["planned"]).abs().max(),
    covered=f"{validity['covered'].min():.0%} to {validity['covered'].max():.0%}",
    effect=f"{need} relations for {100 * detect:.0f} points",
    asked=figures.display_name(sources[0]),
)

# %% [markdown]
# A plan is as good as its pilot. Relations of another set, or two models that are less alike, vary more: two sizes of a coder, in the rows `sizes` of the
# first table, need more than three times as many relations.
#
# ## What you have seen
#
# - More relations help more than more facts of each.
# - Asking both models the same facts saves a part of the error, and costs nothing.
# - "Undecided" often says something about the design and not about the models. `lke power` says so before a run, `lke compare` after it.
#
# **Counted again**, without the package: the relations that the figure's difference takes.

# %%
by_hand = main.groupby("relation")["gap"]
between = by_hand.mean().var() - (by_hand.var() / by_hand.size()).mean()
n = 2
while (t.ppf(0.975, n - 1) + t.ppf(0.8, n - 1)) * (between / n) ** 0.5 > detect:
    n += 1
assert n == parts["needed"][sources[0], estimator]

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-power-budget
# You can ask 1,000 questions. Which of 10 relations with 100 facts, 40 with 25 and 100 with 10 shows the smallest difference, and which one is it?
# ```

# %% [markdown]
# ````{solution-start} ex-power-budget
# :class: dropdown
# ````

# %%
for r, f in [(10, 100), (40, 25), (100, 10)]:
    print(r, f, f"{100 * power.detectable(of, r, f):.1f} points")

# %% [markdown]
# Each has 1,000 facts, and the more relations they are from, the more they say. Asking fewer facts of a relation costs little more in time, but for its examples: they are
# read once a relation.
#
# ````{solution-end}
# ````
