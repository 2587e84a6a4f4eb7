# %% [markdown]
# # Is a model right when it is sure?
#
# **It is right more often, but how often depends on the facts: when {glue:text}`name_model` is more than half sure, {glue:text}`sure_other:.0%` of its answers
# are right on {glue:text}`name_other` and {glue:text}`sure_main:.0%` on {glue:text}`name_main`.**
#
# ```{glue:figure} fig-confidence-above
# :name: fig-confidence-above
# :alt: A panel for each set of facts, and in it a curve for each model and format of the accuracy of the answers above a threshold, with a band.
#
# All curves rise at first, to heights far apart: a threshold keeps better answers, but how good they are depends on the facts. Accuracy of the answers
# whose confidence is above K, over K (the paper's Figure 8). Bands: 95 % Wilson over facts.
# ```
#
# A model that answers with {term}`IC-LKE` also says how sure it is: its {term}`confidence` is the probability of the likeliest option, divided by the
# probability of all options together, as in {eq}`eq-confidence`. If it is right more often when it is sure, we can keep only the sure answers.
# The sentence above is about the paper's format; the intervals over facts are {glue:text}`between_other_sure` and {glue:text}`between_main_sure`. Of *all* its
# answers {glue:text}`all_other:.0%` and {glue:text}`all_main:.0%` are right. In each set of facts, every model in both formats is right more often when it is
# more than half sure.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` measure Accuracy@K (Appendix D): the accuracy of only those answers whose confidence is above a threshold K.
# Figure 8 shows it over K for five models, on the birth years of Nobel laureates. The paper draws no conclusion in words, and prints no
# number. We test the condition for such a filter: among answers of higher confidence more are right. Its caption says that the data consist of
# "50 examples"; we read this as 50 pairs.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all of the fact set
estimators: list[str] = ["iclke-space", "iclke-colon"]  # the paper's first
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects; fewer if a relation has fewer
cut_to: list[int] = [10, 20, 50]  # smaller numbers of options, of the same
thresholds: list[float] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
wanted: float = 0.6  # share of kept answers to be right, in Try it
n_pool: int = 100  # facts that pairs are drawn from, at most half of all
n_facts: int = 25  # test facts of each relation
n_choice: int = 4  # pool facts of each relation, to choose by
sources: list[str] = []  # in results/, for the numbers; none: this run
seed: int = 0  # draws shots, facts and options
dtype: str = "float32"

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, facts, figures, prompts, stats
from lkecore.stats import choice

figures.style()

# %% [markdown]
# ## Facts
#
# For each relation we draw the pairs, the test facts and their options. A few facts of the pool that do not appear in the pairs make up the *choice*
# set, on which we choose a threshold. No test fact is among them. The answers of the figure come from {page}`10_iclke_relations`.

# %%
n_shots = prompts.pairs_shown(estimators, n_shots)
size = {"n_options": n_options, "n_shots": n_shots}
pool = {"n_pool": n_pool, "n_test": max(400, n_facts)}
drawn = {**size, **pool, "allow_fewer": True, "seed": seed}
samples = {
    part: facts.draw(fact_set, relations, n_facts=n, part=part, **drawn)
    for part, n in (("choice", n_choice), ("test", n_facts))
}
print(facts.fewer(samples["test"], **size, n_facts=n_facts))
facts.overview(samples["test"], n_options=n_options, n_facts=n_facts)

# %% [markdown]
# ## Prompts

# %%
questions = {
    (estimator, part, relation): made
    for part, some in samples.items()
    for (estimator, relation), made in prompts.of_sample(
        some, estimators
    ).items()
}
for name in estimators:
    print(f"{name:12}{prompts.example(name, samples['test'])!r}")

# %% [markdown]
# ## Scores
#
# Each fact is scored once, with all its options. Then the options are *cut*: of 100, keep the true one and the first 9 of the others, in the
# random order in which they were drawn. The probability of an option does not depend on the others; only the divisor, the sum over options,
# changes. So fewer options need no model.


# %%
def with_fewer(model, scores: pd.DataFrame) -> pd.DataFrame:
    """The answers among fewer options, the fewest first, and among all."""
    place = (~scores["gold"]).groupby(scores["fact"], sort=False).cumsum()
    most = int(place.max()) + 1
    parts = [
        choice.answers(scores[scores["gold"] | (place < n)]).assign(n_options=n)
        for n in [*sorted(n for n in cut_to if n < most), most]
    ]
    return pd.concat(parts, ignore_index=True)


this, by = "18_iclke_confidence", ["estimator", "part", "relation"]
ours = answers.ask(
    models,
    answers.sample(questions, sources, 2, by=by),
    "answers.parquet",
    by=by,
    reading=with_fewer,
    dtype=dtype,
)
asked, _ = answers.shown(this, ours, sources, dtype=dtype)
most = asked.groupby("relation")["n_options"].transform("max")
full = asked[asked["n_options"] == most]
every = full[full["part"] == "test"]
if sources:
    every = answers.results("10_iclke_relations").query("draw == 0")
    same = {"kamel_formats": "kamel"}  # the same facts in other formats
    every["source"] = every["source"].replace(same)
    every = every[every["source"].isin(sources)]
    every = every[every["estimator"].isin(estimators)]
answers.columns(every)

# %% [markdown]
# ## Answers
#
# For each K we keep the answers whose confidence is above it, and draw no mark for fewer than 20 answers. A threshold is worth
# nothing without its price, `kept`, the share of answers that remain: here at K = 0.5.

# %% covers=["IC-E5", "IC-E7"] shows=["run", "shipped"]
who = ["source", "model", "estimator"]
parts = {k: every[every["confidence"] > k] for k in thresholds}
curves = pd.concat(
    [
        stats.estimate(part, who, over="share").assign(K=k)
        for k, part in parts.items()
        if len(part)
    ]
)
curves = curves[curves["n"] >= min(20, curves["n"].max())]
half = every.assign(sure=every["confidence"] > 0.5)
each = half.groupby([*who, "sure"])["correct"].agg(["sum", "size"])
each = each.unstack("sure", fill_value=0).astype(int)
table = pd.DataFrame({"kept": each["size", True] / each["size"].sum(axis=1)})
table["right of kept"] = each["sum", True] / each["size", True]
table["right of all"] = each["sum"].sum(axis=1) / each["size"].sum(axis=1)
table["mean confidence"] = half.groupby(who)["confidence"].mean()
table.round(2).rename(figures.display_name)

# %% [markdown]
# The mean confidence is above the share of right answers everywhere: the models are overconfident. The *rise* is the accuracy of the sure
# answers minus that of all answers. It equals the difference between the sure answers and the rest, times the share of the rest, and has Newcombe's interval
# for such a difference.


# %%
from statsmodels.stats.proportion import confint_proportions_2indep


def rise(row: pd.Series) -> pd.Series:
    """Of one source, model and estimator; answers are counted in `row`."""
    sure, rest = ((row["sum", s], row["size", s]) for s in (True, False))
    if not (sure[1] and rest[1]):
        return pd.Series({"estimate": float("nan")})
    gap = sure[0] / sure[1] - rest[0] / rest[1]
    ends = confint_proportions_2indep(*sure, *rest, method="newcomb")
    share = rest[1] / (sure[1] + rest[1])
    low, high = (end * share for end in ends)
    return pd.Series({"estimate": gap * share, "low": low, "high": high})


rises = each.apply(rise, axis=1).dropna()
shown = rises.rename(figures.display_name)
if len(rises):
    shown["rise"] = shown.apply(stats.format_estimate, axis=1, percent=True)
shown

# %% [markdown]
# **Sure of the fact, or of the relation?** If a model is sure in easy relations and unsure in hard ones, a threshold keeps the easy
# relations, and accuracy rises although within each relation the confidence says nothing. `between`: the gain if each kept
# answer were as good as the average of its relation. `within`: by how much the kept answers are better than that. The two add up to the rise.

# %%
of_relation = half.groupby([*who, "relation"])["correct"].transform("mean")
kept = half.assign(average=of_relation)[half["sure"]]
kept = kept.groupby(who)[["correct", "average"]].mean()
gain = pd.DataFrame({"between": kept["average"] - table["right of all"]})
gain["within"] = kept["correct"] - kept["average"]
gain.dropna().astype(float).round(3).rename(figures.display_name)

# %% [markdown]
# **Does a confidence of 0.8 mean 8 right answers of 10?** We sort the answers of each model by confidence and cut them into five groups of equal size.

# %%
rank = every.groupby(who)["confidence"].rank(method="first", pct=True)
fifth = (rank * 5 - 1e-9).astype(int) + 1
bins = every.assign(fifth=fifth).astype({"correct": float})
bins = bins.groupby([*who, "fifth"])[["confidence", "correct"]].mean()
bins = bins.unstack("fifth").round(2).rename(columns={"correct": "right"})
bins.rename(figures.display_name)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-confidence-above`, at the top, fix one K and compare the panels: answers with a confidence above K are mostly right in one set of facts
# and mostly wrong in another, so no threshold carries over. {numref}`fig-confidence-options` is a warning. Nothing about the
# model changes from left to right, only our list of options.
#
# ```{glue:figure} fig-confidence-options
# :name: fig-confidence-options
# :alt: A panel for each format with a falling curve of accuracy and one of confidence over the number of options.
#
# Confidence falls with the number of options, and so does accuracy, but not together. Mean accuracy and confidence on the same questions of
# one model with some of the options left out. Bands: 95 % over facts.
# ```

# %% covers=["IC-F8"] shows=["run", "shipped"] tags=["hide-input"]
lines = curves.copy()
form = lines["estimator"].map(figures.display_name).str.removeprefix("pairs, ")
lines["asked"] = lines["model"].map(figures.display_name) + ", " + form
order = [s for s in sources if s not in same] or ["this run"]
lines = lines.sort_values(
    "source", key=lambda s: s.map(order.index), kind="stable"
)
lines["set"] = lines["source"].map(figures.display_name)
look = {"curve": True, "label": "accuracy above K"}
grid = figures.marks(lines, x="K", hue="asked", panel="set", **look)
figures.glue_figure(grid.figure, "fig-confidence-above", lines)

# %% tags=["hide-input"]
cuts = asked[(asked["part"] == "test") & (most == most.max())]
cuts = cuts[cuts["model"] == cuts["model"].iloc[0]]
per = ["estimator", "n_options"]
values = {
    name: stats.estimate(cuts, per, value=column, over="fact", seed=seed)
    for name, column in {
        "share right": "correct",
        "mean confidence": "confidence",
    }.items()
}
options = pd.concat(values, names=["of"]).reset_index("of")
options["estimator"] = options["estimator"].map(figures.display_name)
options["number of options"] = options["n_options"]
look = {"curve": True, "label": "accuracy, confidence"}
grid = figures.marks(
    options, x="number of options", hue="of", panel="estimator", **look
)
figures.glue_figure(grid.figure, "fig-confidence-options", options)

# %% [markdown]
# ## Paper and ours
#
# **Claim.** The rise above K = 0.5 is greater than 0, in the paper's format, on the set of facts with the most relations above the best rule.
# Even if it holds, the confidence is not the probability of being right. It depends on the list of options: 0.9 means that the other objects *in
# the list* look bad to the model.

# %%
main = order[0]
right = table["right of all"].xs(main, level="source")
right = right.xs(estimators[0], level="estimator")
model = right.idxmax()
own = {} if sources else {"decided_on": fact_set, "model": model}
at = (main, model, estimators[0])
judged = pd.DataFrame()
if at in rises.index:
    row = rises.loc[[at]].assign(n=each.loc[at]["size"].sum(), **own)
    judged = answers.verdicts({"IC-sure-is-right": row})
    judged["model"] = judged["model"].map(figures.display_name)
    judged = judged[["claim", "model", "estimate", "low", "high", "verdict"]]
judged

# %% tags=["hide-input", "page-only"]
other = (order[min(1, len(order) - 1)], *at[1:])
sure = curves[curves["K"] == 0.5].set_index(who)
nothing = pd.Series({"estimate": 0.0, "low": 0.0, "high": 1.0})
at_half = {
    key: sure.loc[key] if key in sure.index else nothing for key in (at, other)
}
early = curves[curves["K"].isin([0, 0.3])].set_index([*who, "K"])
early = early["estimate"].unstack("K").reindex(columns=[0, 0.3])
ends = at_half[other]["low"] - at_half[at]["high"]
surer = table["mean confidence"] > table["right of all"]
holds = {
    "more often, every model, set and format": (rises["low"] > 0).all(),
    "all curves rise at first": (early[0.3] > early[0]).all(),
    "overconfident": surer.all(),
    "far apart": ends > 0.2,
}
figures.sentence(holds if sources else {})
figures.glue_values(
    name_model=figures.display_name(model),
    name_main=figures.display_name(main).partition(",")[0],
    name_other=figures.display_name(other[0]).partition(",")[0],
    sure_main=at_half[at]["estimate"],
    sure_other=at_half[other]["estimate"],
    all_main=table.loc[at, "right of all"],
    all_other=table.loc[other, "right of all"],
    between_main_sure=stats.format_estimate(at_half[at], percent=True),
    between_other_sure=stats.format_estimate(at_half[other], percent=True),
)

# %% [markdown]
# **Look at some answers.** Twenty questions of this run, and the options that the model finds likeliest.

# %% tags=["hide-output", "page-only"]
some = next(made for (_, part, _), made in questions.items() if part == "test")
answers.html_table(answers.likeliest(models[0], some, dtype=dtype))

# %% [markdown]
# ## What you have seen
#
# - A threshold can be worth a lot, and it always has a price: the share of answers that remain.
# - A confidence that distinguishes right from wrong need not be the probability of being right.
# - Part of a rise comes from easy relations. A threshold need not hold on other facts, nor with another list of options.
#
# **Counted again**, in plain Python: the rise of the claim.

# %%
tally = {True: [0, 0], False: [0, 0]}
for row in every.itertuples():
    if (row.source, row.model, row.estimator) == at:
        of = tally[row.confidence > 0.5]
        of[0], of[1] = of[0] + bool(row.correct), of[1] + 1
if all(n for _, n in tally.values()):
    hits, n = (sum(of) for of in zip(*tally.values(), strict=True))
    again = tally[True][0] / tally[True][1] - hits / n
    assert abs(again - rises.loc[at, "estimate"]) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-confidence-choose
# You want to keep only answers of which at least 60 % are right (`wanted`). Choose the threshold on the choice set, as the least one at
# which this share of at least 5 answers is right. How many of the kept *test* answers are right?
# ```

# %% [markdown]
# ````{solution-start} ex-confidence-choose
# :class: dropdown
# ````

# %%
rows = []
for (name, estimator), mine in full.groupby(["model", "estimator"]):
    for k in thresholds:
        good = mine[mine["confidence"] > k].groupby("part")["correct"]
        good = good.agg(["mean", "size"])
        if "choice" in good.index and good.loc["choice", "size"] >= 5:
            if good.loc["choice", "mean"] >= wanted:
                rows.append((name, estimator, k, *good["mean"]))
                break
names = ["model", "estimator", "K", "promised", "right"]
chosen = pd.DataFrame(rows, columns=names).round(2)
chosen.replace(
    {name: figures.display_name(name) for name in (*models, *estimators)}
)

# %% [markdown]
# The share `promised` on the choice set is often higher than the share `right` on the test set: we chose a threshold that looked good, and
# looking good is partly luck. This is why we choose on one set of facts and report on another.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-confidence-own
# Is another model as honest about itself? Put this into `params/mine.yaml`, then run `lke run params/mine.yaml`.
# ```
#
# ````{solution} ex-confidence-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 18_iclke_confidence
#     each: [models]
#     parameters:
#       models: [smollm2, gemma3-270m]
#       fact_set: /path/to/facts
#       n_facts: 200
# ```
# ````
