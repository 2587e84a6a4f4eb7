# %% [markdown]
# # How many examples does a model need?
#
# IC-LKE shows a model some pairs of a relation and then asks. How many pairs are enough, and does it matter which ones?
#
# **What came out.** {glue:text}`most` {glue:text}`enough` {glue:text}`luck` {glue:text}`shipped`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-shots-curve
# :name: fig-shots-curve
# :alt: A panel for each model with lines of accuracy over the number of examples on a logarithmic axis, one for each prompt format, with bands over draws of examples.
#
# Accuracy over the number of examples, a panel for each model (the paper's Figure 1). Lines: mean over draws of
# examples. Bands: one standard deviation over draws. Thin vertical lines: 95 % interval of the mean over facts. Dashed:
# the least number that gets 95 % of the accuracy with the most, unless that is at chance. Grey: the best rule without a
# model. Dotted: chance. Of several relations: their mean, bands of that mean, intervals over relations.
# ```
#
# Afterwards you will be able to say
#
# - how accuracy grows with the number of examples, and where it stops growing,
# - how far the choice of examples alone moves a result,
# - how a result over several runs is put together, and how to add a run of your own.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` ask for the birth years of Nobel laureates with 1 to 50 examples, five random draws
# of examples each, and 900 test facts (Section 3, Figure 1). In our words:
#
# - with more examples the mean accuracy rises,
# - with more examples it matters less which ones they are,
# - models that know more need fewer to get 95 % of what they reach with 50.
#
# Figure 1 has no numbers beside its curves. The paper's run asks 900 facts for every number of examples and
# every draw, on several models of billions of parameters. This page has small models, fewer facts and
# other relations.

# %% [markdown]
# ## Parameters
#
# `models` and `draws` may be divided: `lke run` makes one run for each pair of them, and this page is over
# all of these runs. A {term}`lab model` is asked about the {term}`world` that it has read, any other about `fact_set`,
# one relation of it or several.
# A lab model gets fewer examples, since it has read rows of 384 tokens, and a prompt should not be longer.

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital"]  # each counts alike
shots: list[int] = [1, 2, 5, 10, 20, 50]  # pairs shown before the question
lab_relation: str = "birth_year"
lab_shots: list[int] = [1, 3, 10, 20]  # as above, for models of the lab
draws: list[int] = [0, 1, 2, 3, 4]  # seeds that draw the pairs
estimators: list[str] = ["iclke-space", "iclke-colon"]  # see Prompts
n_pool: int = 100  # facts that pairs are drawn from, at most half of all
n_facts: int = 30  # test facts, the same for every draw
n_options: int = 20  # candidate objects of each
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 8  # of its questions, for each estimator, are asked again
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # draws test facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from lkecore import answers, figures, papers, prompts, runs
from lkecore.answers import over, rules, shots_rules
from lkecore.answers import shots as by_shots
from lkecore.facts import pool, world
from lkecore.models import lab

figures.style()

# %% [markdown]
# ## Facts
#
# The facts are divided once: a *pool* to draw examples from, and test facts. All draws ask the same test
# facts with the same options. So two draws differ in their examples and in nothing else.
#
# In the lab we know what a text has told. A fact that it never told is answered by chance after any number of examples.
# So we draw the test facts of a lab model from those that its text told in lists alone, 16 times or more.

# %%
own = lab.fact_sets(models, fact_set, unplanted=False)
how = {"n_pool": n_pool, "n_facts": n_facts}
in_lab = {name: world.is_spec(name) for name in own.values()}
rest = {**how, "n_options": n_options, "seed": seed, "least_lists": 16}
samples = {
    spec: {
        name: pool.draw(spec, name, **rest)
        for name in ([lab_relation] if of_lab else relations)
    }
    for spec, of_lab in in_lab.items()
}
numbers = {  # of examples; a curve goes from few to many
    name: sorted(set(lab_shots if of_lab else shots))
    for name, of_lab in in_lab.items()
}
print(pool.overview(samples, **how).to_string(index=False))

# %% [markdown]
# The last column says what there is less of than asked for. The paper's facts here are laureates of the Nobel Prize.
# Six of them stand in its Table 2; it uses the first two columns. The table as a whole is `nobel:2022`, which is fetched
# from Wikidata when a run first names it.

# %% covers=["IC-T2"]
answers.words(papers.table("iclke_table2_nobel_excerpt"))

# %% [markdown]
# ## Prompts
#
# Two formats. `iclke-space` is the paper's: a space inside a pair and a space between pairs. `iclke-colon` marks both
# borders. Small models read it more easily: the page on {doc}`relations <10_iclke_relations>` compares formats on training
# facts. Below stands the first question behind the first pairs of some draws. Of one draw, fewer examples are the
# beginning of more examples.

# %%
for spec, of in samples.items():
    first = next(iter(of.values()))
    few = prompts.of_draws(first, estimators, draws[:3], numbers[spec][:1])
    for (draw, name, n), some in few.items():
        print(f"draw {draw}, {n} shown, {name}: {some[0].context + '____'!r}")

# %% [markdown]
# ## Scores
#
# One block of questions for each model, draw, format and number of examples. This is the slow step. A page
# over several runs reads what they have kept: one row for each question, with whether the answer was right and how sure
# the model was. Where `results` names a longer run of this page, its answers are these, and a sample is asked again.

# %%
questions = {
    (model, name, *key): some
    for model, spec in ({} if page else own).items()
    for name, of in samples[spec].items()
    for key, some in prompts.of_draws(
        of, estimators, draws, numbers[spec]
    ).items()
}
this = "11_iclke_shots"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"dtype": dtype, "page": page, "keep_scores": True}
source["by"] = ["model", "relation", "draw", "estimator", "n_shots"]
ours = answers.ask(models, questions, "answers.parquet", **source)

# %% [markdown]
# Results of longer runs may stand beside these. They are **not this run**: facts, their number and options may be
# others. The parameter `shipped` names them, and a line says what made them. The profile `kamel` has the birth years of
# Nobel laureates, which are the paper's facts, and `known` eight relations that both models know and that were chosen on
# training facts. Both have 100 options.

# %%
every = answers.beside(ours, shipped, this, join=False, carried=results)
print(f"{len(ours):,} questions here, {len(every) - len(ours):,} shipped")
print(*answers.made_by(shipped, this), sep="\n")
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Answers
#
# `accuracy` is the mean over draws, and its interval is over facts. `std` is the standard deviation of the accuracy over
# the draws: how far the choice of examples alone moves it. It has no value for a single draw. Where every answer is right,
# or none, the interval has no width, since all draws of facts are alike. That is no certainty. Of several relations both
# are means, and the interval is over relations.
#
# `no_cue` is the accuracy where no {term}`rule` has a {term}`cue`, to be held against a blind guess, and `left` the share of such
# questions. Which object is shown most often depends on the pairs, so they are others for each number.

# %%
each = ["source", "model", "estimator"]
of_draws = by_shots.by_draw(every, each)
runs.keep(of_draws, "accuracy-by-draw.csv")
ruled = shots_rules.of_rules(samples, own, draws, numbers, kept=not page)
ruled = rules.beside(ruled, shipped, this, apart="rules")
means = by_shots.over_draws(every, each, seed=seed)
by_n = shots_rules.with_no_cue(means, every, ruled, each, seed=seed)
runs.keep(answers.texts(by_n, 3), "accuracy-no-cue.csv")
wide = answers.texts(by_n).pivot(
    index=["source", "model", "n_shots", "left"], columns="estimator"
)
wide.columns = [f"{what}, {name}" for what, name in wide.columns]
unknown = rules.lacking(every, ruled.dropna(subset=rules.CUES))
print("cues not known:", ", ".join(unknown) or "of no source")
answers.words(wide.reset_index(), digits=2, missing="")

# %% [markdown]
# **How many are needed?** `needed` is the least number of examples that gets 95 % of the accuracy with the most. Its
# interval is over facts, and it can only name numbers that were tried. `accuracy` is that with the most, here with an
# interval over draws and facts.
#
# **How much of it is knowledge?** Rules see the same examples, and may guess the object that most of them have. `of_rule`
# is what the best rule gets with the most examples, `above` how far the model lies above it, with an interval over draws
# and facts. Both are empty for results without rules.
#
# *At chance* marks a model whose interval reaches down to a guess even after the most examples: to what the best rule gets, or
# a blind guess where there are no rules. It may not know these facts at all. Then the number says nothing of what examples
# bring out. The figures leave it out.

# %%
needs = by_shots.needed(every, each, seed=seed)
above = shots_rules.above_rule(every, ruled, each, seed=seed)
needs = by_shots.at_rule(needs, above, each)
whole = [found.text(0) for found in needs["needed"]]
marks = needs["at_chance"].map({True: "at chance", False: ""})
shown = needs.assign(needed=whole, at_chance=marks).merge(above, on=each)
runs.keep(answers.texts(shown, 3), "shots-needed.csv")
shown = answers.texts(shown.rename(columns={"at_chance": ""}))
answers.words(shown.drop(columns=["most", "rule"]), digits=2, missing="")

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
top = needs.iloc[0]
mine = by_n[(by_n[each] == top[each]).all(axis=1)]
first, last = mine.iloc[0], mine.iloc[-1]
apart = mine.sort_values("std", ascending=False).iloc[0]
same = (of_draws[each] == top[each]).all(axis=1)
at_n = of_draws[same & (of_draws["n_shots"] == apart["n_shots"])]["accuracy"]
most = f"After {top['most']} examples, {top['model']} finds the right object"
most += f" in {top['accuracy'].text()} of the questions, after"
most += (
    f" {first['n_shots']} in {first['accuracy'].estimate:.2f}; the best rule"
)
most += f" without a model in {above['of_rule'].iloc[0]:.2f}, a blind guess in"
most += f" {top['chance']:.2f} ({top['estimator']})."
if last["no_cue"] is not None:
    most += f" Without a cue, it is right in {last['no_cue'].text()}."
enough = f"For 95 % of that it needs {top['needed'].text(0)} examples."
if top["at_chance"]:
    enough = "That may be guessing, so examples had nothing to bring out."
luck = "Only one draw of examples was made."
if len(at_n) > 1:
    luck = f"With {apart['n_shots']} shown, one draw of examples is right in"
    luck += f" {at_n.min():.2f} and another in {at_n.max():.2f} of the facts."
beside = by_shots.others(needs, above, by_n, top["estimator"])
figures.findings(most=most, enough=enough, luck=luck, shipped=beside)

# %% [markdown]
# ## Figures
#
# What to see in {numref}`fig-shots-curve`, at the top: how steep each line is at its left end, how far it rises above the
# grey one, how far the band narrows to the right, and where the dashed line stands, beyond which more examples bring next
# to nothing.

# %% covers=["IC-F1", "IC-D1"] needs={"IC-D1": {"fact_set": "nobel"}} tags=["hide-input"]
points = by_shots.points(means, needs, ruled)
here = points["source"] == "this page"
titles = by_shots.titles(every, samples, own)
fig = figures.shots_panels(of_draws, points[here], titles=titles)
figures.place(fig, "fig-shots-curve", points[here])

# %% [markdown]
# {numref}`fig-shots-shipped` is the same for the shipped results, if there are any. With them on the paper's facts, it is
# the nearest that this book has to Figure 1. Look first how far a curve rises above the dotted line of chance. Small
# models know few birth years, and where a curve lies flat on it, examples had nothing to bring out. Where curves
# do rise, see whether the model that ends higher also gets there with fewer examples, as the paper says.
#
# ```{glue:figure} fig-shots-shipped
# :name: fig-shots-shipped
# :alt: A panel for each model with lines of accuracy over the number of examples on a logarithmic axis, one for each prompt format, with bands over draws.
#
# Accuracy over the number of examples in the shipped results, a panel for each model and profile. Marks as in the figure
# at the top.
# ```

# %% covers=["IC-F1", "IC-D1"] needs={"IC-D1": {"fact_set": "nobel"}} tags=["hide-input"]
fig = figures.shots_panels(of_draws, points[~here], titles=titles)
figures.place(fig, "fig-shots-shipped", points[~here])

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None: Figure 1 prints no values, and its models and facts are others.
#
# **Claims.** Statistic, direction and least effect of each stand in `lkecore/data/claims.csv`; the first two since before
# the first run of this page. All are tested in the paper's format, `iclke-space`, and beside it in the others. They hold if
# the whole interval lies above 0. The verdict on a model *at chance* says nothing of the claim.
#
# The third is about two models that were asked the same facts behind the same examples. Its statistic is the number that
# the one needs which knows less, minus the number that the other needs. Which one that is, each resample says anew.

# %%
ends = by_shots.few_and_many(every, each, seed=seed)
pairs = by_shots.less_and_more(every, needs, each, seed=seed)
tested = {
    estimator: over.by_claim(
        {
            "IC-shots-rise": answers.tested(part, "rises"),
            "IC-shots-steady": answers.tested(part, "steadies"),
            "IC-less-needs-more": answers.tested(
                pairs[pairs["estimator"] == estimator],
                "more",
                ["source", "models"],
            ),
        }
    )
    for estimator, part in ends.groupby("estimator", sort=False)
}
said = by_shots.marks(needs, pairs)
judged = answers.judge_ways(tested, as_paper=["iclke-space"], marks=said)
answers.words(answers.verdict_table(over.side_by_side(judged)))

# %% [markdown]
# Where a claim fails or stays open, look at the left end of its curve. If the curve begins near the top, one example was
# enough, and nothing is left to rise. The models of the lab are such a case: their text has lists of one relation each,
# so a single pair tells them what is asked. If it begins low and stays low, examples do not bring out what is missing. Then
# look at the other format. Where only that one rises, the model could not see where a pair ends, and more pairs of the
# same kind did not help.
#
# The third claim is about models in general, and there each pair is one observation, however many facts it is asked. So
# its verdict is about this pair of models and no other. Two of a kind stand in the order of the claim by luck every
# second time. And a curve near the bottom wavers more, so that it may reach its mark early by luck.
#
# The intervals are over draws and facts: both are drawn again, since the claims are about
# examples in general. A handful of draws is little, and many facts would not make up for it. The test facts are
# few, too, so a part of the spread over draws is chance.
# Of several relations they are over relations, and a statistic is the mean of theirs: the third is not the difference of two
# numbers in the table above.

# %% [markdown]
# ## What you have seen
#
# - How many examples are enough depends on the model and on the format: to some models a single one is as good as many.
# - The choice of examples alone moves an accuracy. A result of one draw is one of several that might have been reported.
# - A curve that stays at chance says nothing of examples: what a model does not know, none of them can bring out.

# %%
single = every.fillna({"relation": ""}).groupby([*each, "n_shots", "relation"])
by_hand = single["correct"].mean().groupby([*each, "n_shots"]).mean()
found = points.set_index([*each, "n_shots"])["accuracy"]
assert (by_hand - found).abs().max() < 1e-9
few_of = points[points["n_shots"] < points["needed"]]
last = points.groupby(each)["accuracy"].last().rename("last")
assert (few_of.join(last, on=each).eval("accuracy / last") < 0.95).all()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-shots-lucky
# Suppose that you had made only one draw. What accuracy could you have reported with 10 examples, at worst and
# at best? And with the most?
# ```

# %% [markdown]
# ````{solution-start} ex-shots-lucky
# :class: dropdown
# ````

# %%
luckiest = of_draws.groupby([*each, "n_shots"], sort=False)["accuracy"]
answers.words(luckiest.agg(["min", "max"]).reset_index(), digits=3)

# %% [markdown]
# The distance from `min` to `max` is what a paper with one draw may have gained or lost by luck.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-shots-own
# Does another model need fewer? Add a model to the row of this notebook in a file such as the one below, then
# `lke run params/mine.yaml`. The runs that are finished stay; only the new model's are made, and the page is
# made again over all of them.
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
# ```
#
# `each` names the parameters that are divided. Two models and five draws make ten runs.
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
