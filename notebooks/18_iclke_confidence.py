# %% [markdown]
# # Is the model right when it is sure?
#
# A model that answers with {term}`IC-LKE` also says how sure it is. If it is right more often when it is sure, we can keep
# the sure answers alone. What is that worth, and what does it cost?
#
# **What came out.** {glue:text}`sure` {glue:text}`honest` {glue:text}`carry`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-confidence-above
# :name: fig-confidence-above
# :alt: Two panels over the threshold of confidence: accuracy of the answers above it with intervals, and the share of answers above it, a line for each model and estimator.
#
# Left: accuracy of the answers whose confidence is above K, over K (the paper's Figure 8). Right: the share of answers
# that is left. Vertical lines: 95 % Wilson intervals over facts. Pale: fewer than 20 answers.
# ```
#
# Afterwards you will be able to say
#
# - how accuracy rises when only answers above a threshold of confidence count, and how many answers that costs,
# - whether a confidence of 0.8 means that 8 of 10 answers are right,
# - how much the confidence depends on the number of options, and so on us,
# - how to choose a threshold without fooling yourself.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` measure Accuracy@K (Appendix D): the accuracy of those answers alone whose {term}`confidence` is
# above a threshold K. Figure 8 shows it over K for five models, on the birth years of Nobel laureates. The paper draws no
# conclusion from the curves in words. It says what they are for: the probability is a signal of how sure the model is
# (Section 3). We test what such a signal needs: among answers of higher confidence more are right.
#
# The paper's curves are about one relation, and ours about many together. The
# curves of Figure 8 are lost in our copy of the paper, and no number stands beside them. Its caption says that the data
# consist of "50 examples". We read this as 50 shots. It may also mean 50 test facts; that reading is below, too.
#
# By default this page asks the questions of {doc}`10_iclke_relations`.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all of the fact set
estimators: list[str] = ["iclke-space", "iclke-colon"]  # the paper's first
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects; fewer where a relation has fewer
cut_to: list[int] = [10, 20, 50]  # smaller numbers of options, of the same
thresholds: list[float] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
n_bins: int = 5  # groups of answers by confidence, of equal size
wanted: float = 0.6  # share right that we ask of kept answers, in Try it
n_pool: int = 100  # facts that pairs are drawn from, at most half of all
n_facts: int = 25  # test facts of each relation
n_choice: int = 4  # pool facts of each relation that are asked to choose by
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 15  # of its questions, for each estimator, are asked again
shipped: list[str] = []  # profiles in results/ with many relations (page 10)
shipped_one: list[str] = []  # those of page 11, behind the most shots
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from functools import partial

import pandas as pd
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, prompts, runs
from lkecore.answers import rules
from lkecore.answers import thresholds as sure_at
from lkecore.errors import BadInput

figures.style()

# %% [markdown]
# ## Facts
#
# For each relation we draw the shots, the test facts and their options. A few facts of the pool that are not shown make up
# the *choice* set, to choose a threshold by. No test fact is among them. A relation with fewer facts or objects than we ask
# for is asked with as many as it has, and is named here.

# %%
sure_at.check(cut_to, thresholds, n_options, n_bins)
drawn = {"n_shots": prompts.pairs_shown(estimators, n_shots), "seed": seed}
drawn |= {"n_pool": n_pool, "n_test": max(400, n_facts)}
drawn |= {"n_options": n_options, "take_fewer": True, "least": 1}
samples = {
    part: facts.draw(fact_set, relations, n_facts=n, part=part, **drawn)
    for part, n in (("choice", n_choice), ("test", n_facts))
}
sample = samples["test"]
about = facts.overview(sample, n_options=n_options, n_facts=n_facts)
whole = list(about.loc[about["n_options"] == n_options, "relation"])
if not whole:
    raise BadInput(f"no relation of {[*sample]} has {n_options} options")
fewer = about["relation"] + " (" + about["fewer"] + ")"
fewer = "; ".join(fewer[about["fewer"] != ""]) or "none"
print(f"{about['asked'].sum()} test facts; fewer than asked for: {fewer}")

# %% [markdown]
# ## Prompts
#
# `iclke-space` is the paper's format, with one space everywhere. `iclke-colon` marks the borders of a pair, which small
# models read more easily.

# %%
questions = {
    (estimator, part, relation): made
    for part, some in samples.items()
    for (estimator, relation), made in prompts.of_sample(
        some, estimators
    ).items()
}
for name in estimators:
    print(f"{name:12}{prompts.example(name, sample)!r}")

# %% [markdown]
# ## Scores
#
# Each fact is asked once, with all its options. Then the options are *cut*: of 100, keep the gold one and the first 9 of the
# others, in the random order in which they were drawn. The probability of an option does not depend on the others. Only the
# sum changes by which it is divided. So no model is needed to ask with fewer options.
#
# Where `results` names a longer run of this page, its answers are these, and a sample is asked again. Other results
# may stand beside. Of those over one relation we take the first draw of the most shots.

# %%
this, of_one = "10_iclke_relations", "11_iclke_shots"
source = {"results": results, "notebook": "18_iclke_confidence"}
source |= {"n_again": n_again, "dtype": dtype, "page": page}
source |= {"by": ["estimator", "part", "relation"]}
source["reading"] = partial(sure_at.with_fewer, cut_to=cut_to)
asked = answers.ask(models, questions, "answers.parquet", **source)
full = sure_at.with_all(asked)
test = full[full["part"] == "test"].reset_index(drop=True)
every = answers.beside_single(
    test, shipped, this, shipped_one, of_one, carried=results
)
print(f"{len(test):,} test answers, and {len(every) - len(test):,} beside")
print(*answers.made_by(shipped, this), sep="\n")
print(*answers.made_by(shipped_one, of_one), sep="\n")

# %% [markdown]
# ## Answers
#
# The confidence is the share that the likeliest option has of the probability of all options, as in
# {eq}`eq-confidence`. First averages, each relation counted alike, with intervals over facts.
# `surplus` is the mean confidence minus the accuracy: above 0 the model is surer than it should be.
#
# **Sure of the fact, or of the relation?** Suppose that a model is sure in easy relations and unsure in hard ones. Then a
# threshold keeps the easy relations, and accuracy rises although within each relation the confidence says nothing. So the
# rise above K = 0.5 is divided in two. `between`: what we would gain if each of the `kept` answers were as good as the
# average of its relation. `within`: what the kept answers are better than that. The two add up to the rise. Where fewer
# than 30 answers are kept, both are empty.

# %% covers=["IC-E5"]
how = ["model", "estimator"]
asked_as = ["source", *how]
overall = sure_at.averages(test, how, seed=seed)
overall = overall.merge(sure_at.rises(test, how, 0.5, seed=seed), on=how)
runs.keep(answers.texts(overall, 3), "overall.csv")
answers.words(answers.texts(overall))

# %% [markdown]
# **Accuracy above a threshold.** For each K we keep the answers whose confidence is above it. Where none is left there
# is no accuracy, and it is not 0. The interval counts facts as independent draws, all relations together.

# %% covers=["IC-E7"]
curves = sure_at.above(every, asked_as, thresholds)
above = curves[curves["source"] == "this page"].drop(columns="source")
runs.keep(answers.bounds(above, "accuracy"), "accuracy-at.csv")
of_first = above["estimator"] == estimators[0]
print(answers.texts(above[of_first]).to_string(index=False))

# %% [markdown]
# **The other reading: 50 facts.** Here are 50 of the same answers alone, from each relation in turn. Look at what this costs:
# how wide the intervals are, and from which K on a handful of answers decides.

# %% covers=["IC-F8"]
fifty = sure_at.above(sure_at.in_turn(test, how, 50), how, thresholds)
runs.keep(answers.bounds(fifty, "accuracy"), "accuracy-at-of-50.csv")
print(answers.texts(fifty[of_first]).to_string(index=False))

# %% [markdown]
# **Reliability.** The answers are sorted by confidence and divided into groups of equal size. In each group we compare the
# mean confidence with the share that is right. If 0.8 meant "8 of 10", the two would agree in every group.
#
# **Fewer options.** The same questions with some of the options left out, in the relations that have all of them. No right
# answer can become wrong, so accuracy cannot fall. The confidence cannot fall either as long as the likeliest option is
# kept.

# %%
bins = answers.bounds(sure_at.bins(test, how, n_bins), "accuracy")
cuts = asked[(asked["part"] == "test") & asked["relation"].isin(whole)]
cuts = sure_at.averages(cuts, [*how, "n_options"], seed=seed)
values = {
    v: answers.bounds(cuts, v, "mean") for v in ("accuracy", "confidence")
}
by_options = pd.concat(values, names=["value", ""]).reset_index("value")
print(f"{len(whole)} of {len(sample)} relations have {n_options} options")

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
at_half = sure_at.at_one(every, asked_as, 0.5)
one, texts = at_half.iloc[0], answers.texts(at_half)
longer = (texts["source"] != "this page") & (texts["right"] != "")
longer = texts[longer & (texts["estimator"] == estimators[0])]
where = longer["source"].str.removeprefix("shipped: ")
each = longer["right"] + " (" + longer["model"] + ", " + where + ")"
sure = (
    f"{one['model']} is right in {one['all'].text()} of all questions, and in "
)
sure += f"{texts['right'][0] or 'none'} of the {one['above']} with a confidence above 0.5."
figures.findings(
    sure=sure,
    honest=f"Its mean confidence minus its accuracy is {overall['surplus'][0].text()}.",
    carry=f"Above the same 0.5, answers of longer runs are right in {', '.join(each)}."
    if len(each)
    else "No other results stand beside these.",
)
figures.note("carried", answers.carried(asked))

# %% [markdown]
# ## Figures
#
# {numref}`fig-confidence-above`, at the top, is the paper's Figure 8, with what its text leaves out: the price. Does the
# line on the left rise all the way, or does it level off? Then go down to the same K on the right, and read how many answers
# are left. A pale mark at the top edge is no success.

# %% covers=["IC-F8"] tags=["hide-input"]
lines = answers.bounds(curves, "accuracy")
lines["asked"] = lines["model"] + ", " + lines["estimator"]
mine = lines[lines["source"] == "this page"].drop(columns="source")
fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
figures.threshold_curve(mine, axes[0], hue="asked")
figures.kept_lines(mine, axes[1], hue="asked")
figures.place(fig, "fig-confidence-above", mine)

# %% [markdown]
# {numref}`fig-confidence-shipped` has the left panel for each set of facts, this run first. On the birth years of
# laureates it is the paper's own relation, asked of smaller models. Go straight up from one K through the panels. If a model
# that is surer than K is right in most cases here and in few there, no threshold can be carried over.
#
# ```{glue:figure} fig-confidence-shipped
# :name: fig-confidence-shipped
# :alt: Panels over the threshold of confidence, one for each set of facts, with lines of the accuracy of the answers above it for each model and estimator.
#
# Accuracy above K over K, as in the left panel above: a panel for each set of facts, a line for each model and estimator.
# ```

# %% tags=["hide-input"]
names = {"hue": "asked", "hue_order": lines["asked"].unique().tolist()}
curve = partial(figures.threshold_curve, **names)
panels = figures.panels(lines, "source", curve)
figures.place(panels, "fig-confidence-shipped", lines)

# %% [markdown]
# In {numref}`fig-confidence-bins` the diagonal is where a model would lie that is as often right as it is sure. Look for two
# different things: whether the marks *rise*, which is all that a threshold needs, and whether they lie *on* the diagonal,
# which is needed to take the number at its word.
#
# ```{glue:figure} fig-confidence-bins
# :name: fig-confidence-bins
# :alt: For each model a panel with the share of right answers over the mean confidence in groups of answers, a line for each estimator, and a dashed diagonal.
#
# Share of right answers over mean confidence, in groups of equal size, a panel for each model. Vertical lines: 95 % Wilson
# intervals over facts. Dashed: as often right as sure.
# ```

# %% tags=["hide-input"]
groups = figures.panels(bins, "model", figures.reliability)
figures.place(groups, "fig-confidence-bins", bins)

# %% [markdown]
# {numref}`fig-confidence-options` is a warning. Nothing about the model changes from left to right, only our list of
# options. Where the two lines do not fall together, a threshold chosen with one number of options means something else with
# another.
#
# ```{glue:figure} fig-confidence-options
# :name: fig-confidence-options
# :alt: For each estimator a panel with a line of accuracy and a line of mean confidence over the number of options, on a logarithmic axis, with intervals.
#
# Accuracy and mean confidence over the number of options, for the first model of the page, a panel for each estimator.
# Vertical lines: 95 % intervals over facts.
# ```

# %% tags=["hide-input"]
first = by_options[by_options["model"] == models[0]]
options = figures.panels(first, "estimator", figures.over_options)
figures.place(options, "fig-confidence-options", first)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None. The curves of Figure 8 are lost in our copy, the paper prints no number of Accuracy@K, and
# its models and facts are others.
#
# **Claim.** Statistic, direction, least effect and the threshold 0.5 stand in `lkecore/data/claims.csv` since before the
# first run of this page. The claim is tested in the paper's way of asking and beside it in the others.
#
# `rise` is the accuracy `right` of the answers above 0.5 minus that of all, and the claim holds if it is greater than 0. It
# is the difference between these answers and the rest, times the share of the rest, with Newcombe's interval for such a
# difference. Facts count as independent, which is narrow for other relations. `relations` counts in how many of them the
# sure answers are right more often. `above` is how many these are, and `sureness` their mean confidence. Beside `all`, each
# relation counted alike: `of_rule`, what the best {term}`rule` gets, and `no_cue`, the accuracy where none has a {term}`cue`.

# %%
tested = {
    estimator: {"IC-sure-is-right": answers.tested(part, "rise")}
    for estimator, part in at_half.groupby("estimator", sort=False)
}
as_paper = [estimators[0], "iclke-space"]
judged = answers.judge_ways(tested, as_paper=as_paper)
judged = judged.rename(columns={"models": "model"})[[*asked_as, "verdict"]]
table = at_half.merge(judged, on=asked_as, how="left")
cues = rules.beside(rules.cues(sample, kept=not page), shipped, this)
table = rules.with_no_cue(table, every, cues, asked_as, seed=seed)
runs.keep(answers.texts(table, 3), "above-half.csv")
answers.words(answers.texts(table.fillna({"verdict": "none"})), missing="")

# %% [markdown]
# A rise can be small for two reasons: the confidence says little, or nearly all answers are wrong.
#
# Even where the claim holds, it does not say that the confidence is the probability of being
# right, nor that a wrong answer is always unsure. And it is about one list of options. A confidence of 0.9 means that the
# other objects *in the list* look bad to the model. The true object may be one of them only because we have put it there.

# %% [markdown]
# ## What you have seen
#
# - A threshold can be worth a lot, and it always has a price: the share of answers that is left.
# - A confidence that tells right from wrong need not be the probability of being right.
# - Part of a rise may come from easy relations. A threshold need not hold on other facts.

# %%
keys = every.assign(sure=every["confidence"] > 0.5)
by_hand = keys.groupby([*asked_as, "sure"])["correct"].mean().unstack()
share = keys.groupby(asked_as)["sure"].mean()
for row in at_half[at_half["rise"].notna()].itertuples():
    key = (row.source, row.model, row.estimator)
    gap = by_hand.loc[key, True] - by_hand.loc[key, False]
    assert abs(row.rise.estimate - gap * (1 - share[key])) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-confidence-choose
# You want to keep only answers of which at least 60 % are right (`wanted`). Choose the threshold on the choice set. How
# many of the kept *test* answers are right?
# ```

# %% [markdown]
# ````{solution-start} ex-confidence-choose
# :class: dropdown
# ````

# %%
choice = full[full["part"] == "choice"]
chosen = sure_at.chosen(choice, test, how, thresholds, wanted)
answers.words(answers.texts(chosen), missing="none")

# %% [markdown]
# `threshold` is the least one at which so many of at least 5 choice answers are right. `promised` is the accuracy that it
# has there, `right` the one that counts. The first is often the higher one: we have taken a threshold that looked good, and
# looking good is partly luck. This is why one chooses on other facts than one reports on.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-confidence-carry
# Can a threshold be carried over to other *relations*? Choose it on the test facts of all relations but one, and apply it
# to that one.
# ```

# %% [markdown]
# ````{solution-start} ex-confidence-carry
# :class: dropdown
# ````

# %%
last = test[(test[how] == [models[0], estimators[-1]]).all(axis=1)]
carried = sure_at.carried(last, thresholds, wanted)
print(f"{models[0]}, {estimators[-1]}")
answers.words(answers.texts(carried), missing="none")

# %% [markdown]
# Where an interval lies wholly below `wanted`, the model is sure and wrong, and the threshold cannot be carried over. An
# interval that reaches `wanted` is no proof that it can.
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

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
