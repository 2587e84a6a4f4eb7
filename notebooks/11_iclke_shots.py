# %% [markdown]
# # How many examples does a model need?
#
# **Shown one example, {glue:text}`name_less` finds {glue:text}`share_less:.0%` as many facts as with fifty, and
# {glue:text}`name_more` {glue:text}`share_more:.0%`; the other forty-nine add {glue:text}`gain_less:.0f` and {glue:text}`gain_more:.0f`
# percentage points.**
#
# ```{glue:figure} fig-shots-curve
# :name: fig-shots-curve
# :alt: Two panels with lines of accuracy over the number of pairs on a logarithmic axis, with bands, and grey dashes for a rule without a model.
#
# The curves begin high and rise slowly (the paper's Figure 1). Left: each model, mean over relations, in the paper's format;
# band: 95 % over other relations; grey dashes: the best rule without a model. Right: one relation, the one that this run asks about, in two
# formats; band: 95 % over other draws of pairs and other facts. The models that the sentence does not name were asked about fewer facts.
# ```
#
# IC-LKE shows a model some pairs of a relation, and then a subject alone. What are the pairs for? If they taught the facts, more of them would
# help for long. If they only show the relation and the form of an answer, a few are enough. With 95 % intervals the shares are
# {glue:text}`between_less` and {glue:text}`between_more`, the gains {glue:text}`rise_less` and {glue:text}`rise_more`.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` test birth years of Nobel laureates with 1 to 50 pairs, five random draws of pairs each,
# and 900 test facts (Section 3, Figure 1). In our words: with more pairs the mean accuracy rises; with more pairs the
# choice of pairs matters less; and models that know more need fewer pairs to reach 95 % of their accuracy with 50.
# Figure 1 prints no numbers, and its models have billions of parameters. Six of the paper's facts:

# %% covers=["IC-T2"]
from lkecore import papers

papers.table("iclke_table2_nobel_excerpt")

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital"]
shots: list[int] = [1, 2, 5, 10, 20, 50]  # pairs shown before the question
draws: list[int] = [0, 1, 2, 3, 4]  # seeds that draw the pairs
estimators: list[str] = ["iclke-space", "iclke-colon"]  # see Prompts
n_pool: int = 100  # facts that pairs are drawn from
n_facts: int = 20  # test facts, the same for every draw
n_options: int = 100  # candidate objects of each
sources: list[str] = []  # in results/, for the numbers; none: this run
seed: int = 0
dtype: str = "float32"

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, prompts, stats
from lkecore.answers import rules

figures.style()

# %% [markdown]
# ## Facts
#
# We divide the facts once: a *pool* to draw pairs from, and test facts. All draws have the same test facts with the
# same options, so two draws differ in their pairs and in nothing else.


# %%
def pool_of(name: str) -> facts.Drawn:
    """Facts to draw examples from, as `train`, and some others to ask."""
    of = facts.load(fact_set, name)
    train, test = facts.divide(of, n_train=n_pool, n_test=max(400, n_facts))
    asked = facts.draw_facts(test, n_facts, seed)
    n = min(n_options, facts.max_options(of))
    options = facts.draw_options(asked, of.objects, n, seed)
    return facts.Drawn(of, (), asked, tuple(options), train, test)


sample = {name: pool_of(name) for name in relations}
for name, of in sample.items():
    among = f"{len(of.facts)} to ask, among {len(of.options[0])}"
    print(f"{name}: {len(of.train)} to show, {among}")
there = min(len({f.subject for f in of.train}) for of in sample.values())
shots = sorted({min(n, there) for n in shots})  # as many as there are

# %% [markdown]
# ## Prompts
#
# `iclke-space` is the paper's format: a space inside a pair and a space between pairs. `iclke-colon` marks both borders, which
# small models read more easily. Within one draw, a shorter list of pairs is the beginning of a longer one.

# %%
questions = {
    (name, *key): some
    for name, of in sample.items()
    for key, some in prompts.of_draws(of, estimators, draws, shots).items()
}
for estimator in estimators:
    first = questions[relations[0], draws[0], estimator, min(shots)][0]
    print(f"{estimator:12} {first.context + '____'!r}")

# %% [markdown]
# ## Scores
#
# One block of questions for each draw, format and number of pairs. The numbers of this page come from a longer run, on
# relations that both models know (we chose them on training facts). This run repeats a few questions, in one relation.

# %%
this = "11_iclke_shots"
by = ["relation", "draw", "estimator", "n_shots"]
ours = answers.ask(
    models,
    answers.sample(questions, sources, by=by),
    "answers.parquet",
    by=by,
    keep_scores=True,
    dtype=dtype,
)
every, main = answers.shown(this, ours, sources, dtype=dtype)
by_rule = rules.behind_draws(sample, draws, shots)
by_rule, _ = answers.shown(f"{this}-rules", by_rule, sources)

# %% [markdown]
# The first source has the numbers, in the paper's format. The figure also shows the other sources, and on its right the relation of this run.

# %%
here = every[every["relation"].isin(relations)]
paper = every[every["estimator"] == estimators[0]]
found = paper[paper["source"] == main]
others = paper[paper["source"].ne(main) & ~paper.index.isin(here.index)]
answers.html_table(found.head())

# %% tags=["hide-output"]
answers.html_table(answers.columns(found))

# %% [markdown]
# ## Answers
#
# **How far does it rise?** `stats.estimate` takes the accuracy in each relation, mean over draws and facts, and then the mean over
# relations, each counted alike, with Student's t: how much the mean would vary with other relations. The last column is the accuracy of
# the best of four rules without a model, on the same questions after the same pairs. It also rises, since more pairs show
# which objects are frequent.

# %%
curve = stats.estimate(found, ["model", "n_shots"])
rule = by_rule[by_rule["source"] == main].groupby(["n_shots", "relation"])
rule = rule[list(rules.RULES)].mean().groupby("n_shots").mean()
rule = rule[rule.mean().idxmax()]  # the best of the four
table = stats.table(curve, "n_shots", "model")
table = table.rename(columns=figures.display_name)
table.assign(**{figures.display_name(rule.name): rule.round(2)})

# %% [markdown]
# Two numbers describe a curve: the *rise*, from the fewest pairs to the most, on the same facts; and the *share* of the final accuracy that
# the fewest pairs already reach. If $a_n$ is the accuracy after $n$ pairs,
#
# $$\text{rise} = a_{50} - a_1, \qquad \text{share} = \frac{a_1}{a_{50}}.$$
#
# The rise is a difference in each relation. The share is a ratio of two means, so we draw relations and their facts again ten
# thousand times, and take the ratio in each resample: `a` below has a row for each resample, and its first row is the data.

# %%
few, many = min(found["n_shots"]), max(found["n_shots"])
key = ["model", "relation", "draw", "n_shots"]
of_draw = found.groupby(key)["correct"].mean().unstack("n_shots")
of_draw["rise"] = of_draw[many] - of_draw[few]
rise = stats.estimate(
    of_draw.reset_index(), ["model"], value="rise", bounds=None
)
share = {}
for model, part in found.groupby("model"):
    a = stats.bootstrap(part, ["n_shots"], over=["relation", "fact"], seed=seed)
    share[model] = stats.interval(a[few] / a[many]).iloc[0]
share = pd.DataFrame(share).T
both = rise.merge(
    share, left_on="model", right_index=True, suffixes=("", ", share")
)
both.assign(model=both["model"].map(figures.display_name))

# %% [markdown]
# **Does it matter which ones?** The standard deviation of the accuracy over draws of pairs, in each relation, says how far the
# choice of pairs alone moves a result. `steadier` is this deviation with the fewest pairs minus that with the most.

# %%
spread = of_draw[[few, many]].groupby(["model", "relation"]).std()
spread["steadier"] = spread[few] - spread[many]
several = found["draw"].nunique() > 1  # one draw has no spread
if several:
    spread_of = spread.reset_index()
    steadier = stats.estimate(
        spread_of, ["model"], value="steadier", bounds=None
    )
spread.groupby("model").mean().round(3).rename(figures.display_name)

# %% [markdown]
# **How many are needed?** The least number of pairs that reaches 95 % of the accuracy with the most, in each relation. It can only be a number
# that was tried.


# %%
def needed(a: pd.DataFrame) -> pd.Series:
    enough = a.ge(0.95 * a[many] - 1e-12, axis=0)  # a rounding does not decide
    return enough.idxmax(axis=1)  # the first that is true


accuracy = of_draw.drop(columns="rise").groupby(["model", "relation"]).mean()
needs = needed(accuracy).unstack("model")
labels = papers.property_names()
needs.rename(labels).rename(columns=figures.display_name)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-shots-curve`, look at how high each line begins, how little it rises after that, and how far it is above
# the grey dashes. Right: compare the two formats after a single pair.

# %% covers=["IC-F1"] tags=["hide-input"]
left = [curve]
if len(others):
    left.append(stats.estimate(others, ["model", "n_shots"]))
left = pd.concat(left)
left = left.assign(asked=left["model"].map(figures.display_name))
lines = [left.assign(panel=figures.display_name(main))]
for (model, format_), part in here.groupby(["model", "estimator"], sort=False):
    a = stats.bootstrap(part, ["n_shots"], over=["draw", "fact"], seed=seed)
    name = f"{figures.display_name(model)}, {figures.display_name(format_)}"
    right = stats.interval(a).assign(asked=name, panel=", ".join(relations))
    lines.append(right)
lines = pd.concat(lines, ignore_index=True)
grid = figures.marks(lines, x="n_shots", hue="asked", panel="panel", curve=True)
grid.set(xscale="log", xticks=shots, xticklabels=shots)
grid.axes.flat[0].plot(rule.index, rule, color="grey", ls="--")
grid.set_axis_labels("pairs shown before the question", figures.ACCURACY)
figures.glue_figure(grid.figure, "fig-shots-curve", lines)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None: Figure 1 prints no values. **Claims** are decided in the paper's format, for the model that knows most of these
# relations; a claim holds if the whole interval over relations is above 0. The third compares two models, relation by relation:
# how many more pairs does the model need that knows less in this relation?

# %%
end = accuracy[many].unstack("model")
less, *_, more = [*end.mean().sort_values().index, end.mean().idxmax()]
claims = {"IC-shots-rise-relations": rise[rise["model"] == more]}
if several:
    steady = steadier[steadier["model"] == more]
    claims["IC-shots-steady-relations"] = steady
if less != more:
    knows_less = np.sign(end[more] - end[less])  # -1 where `more` does
    gap = ((needs[less] - needs[more]) * knows_less).rename("gap")
    gap = stats.estimate(gap.reset_index(), value="gap", bounds=None)
    claims["IC-less-needs-more-relations"] = gap
judged = answers.verdicts(claims)
judged["model"] = judged["model"].map(figures.display_name)
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
gain = rise.set_index("model")
holds = {
    "the other examples add something": (gain["low"] > 0).all(),
    "one example does more than the others": (share["low"] > 0.5).all(),
    "one, fifty, the other forty-nine": (few, many) == (1, 50),
    "the rule rises as well": rule.iloc[-1] >= rule.iloc[0],
}
figures.sentence(holds)
figures.glue_values(
    name_less=figures.display_name(less),
    name_more=figures.display_name(more),
    share_less=share.loc[less, "estimate"],
    share_more=share.loc[more, "estimate"],
    gain_less=100 * gain.loc[less, "estimate"],
    gain_more=100 * gain.loc[more, "estimate"],
    between_less=stats.format_estimate(share.loc[less], percent=True),
    between_more=stats.format_estimate(share.loc[more], percent=True),
    rise_less=stats.format_estimate(gain.loc[less], percent=True),
    rise_more=stats.format_estimate(gain.loc[more], percent=True),
)

# %% [markdown]
# **Look at some answers.** Twenty questions of this run in the last format, with the five options that the model finds
# likeliest, and the confidence in each. Are the wrong answers near the right ones?

# %% tags=["hide-output", "page-only"]
some = questions[relations[0], draws[0], estimators[-1], max(shots)]
answers.html_table(answers.likeliest(models[0], some, dtype=dtype))

# %% [markdown]
# ## What you have seen
#
# - The first pair does most of the work: it shows the relation and the form of an answer. So pairs call up knowledge more than they
#   teach it.
# - A part of the rise needs no knowledge: the rule's accuracy also rises.
# - With few pairs a single draw may be lucky. A result from one draw is one of several possible results.
#
# The share once more, in plain pandas:

# %%
by_hand = found[found["model"] == less].groupby(["relation", "n_shots"])
by_hand = by_hand["correct"].mean().groupby("n_shots").mean()
ratio, told = by_hand.iloc[0] / by_hand.iloc[-1], share.loc[less, "estimate"]
assert np.isclose(ratio, told, rtol=0, atol=1e-9, equal_nan=True)

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-shots-lucky
# Suppose that you had made only one draw. Which accuracy could you have reported with 10 pairs, at worst and at best?
# ```

# %% [markdown]
# ````{solution-start} ex-shots-lucky
# :class: dropdown
# ````

# %%
each = here.groupby(["model", "estimator", "n_shots", "draw"])["correct"].mean()
answers.save(each.reset_index(name="accuracy"), "accuracy-by-draw.csv")
each = each.groupby(["model", "estimator", "n_shots"]).agg(["min", "max"])
each.round(3).rename(figures.display_name, level="model")

# %% [markdown]
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-shots-own
# Does another model need fewer? Put this into `params/mine.yaml`, and run `lke run params/mine.yaml`. With `sources: []` the numbers
# of the page are from your run.
# ```
#
# ````{solution} ex-shots-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 11_iclke_shots
#     each: [models, draws]
#     parameters:
#       models: [smollm2, gemma3-270m]
#       relations: [capital, country_of_city, currency]
#       sources: []
# ```
#
# `each` names the parameters that are divided: two models and five draws make ten runs.
# ````
