# %% [markdown]
# # Does a larger model know all that a smaller one knows?
#
# A larger model usually answers more facts rightly. But two models can each know half of the facts, and not the same
# half. So we look at single facts: of those that the smaller model has right, which share does the larger one have?
#
# **What came out.** {glue:text}`more` {glue:text}`rate` {glue:text}`luck`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-size-eta
# :name: fig-size-eta
# :alt: Horizontal rows of marks between 0 and 1: published subsumption rates of six families as circles and ours as diamonds with intervals, each beside a tick for independent answers.
#
# Subsumption rate of the smallest by the largest model, mean over relations. Circles: published (Table 1), other
# models. Diamonds: this book, the run and the shipped worlds of the lab, with 95 % intervals over facts. Ticks: the
# rate of two models that are right independently, which is the accuracy of the larger.
# ```
#
# A mark to the *right* of its tick says: facts that the smaller model knows are facts that the larger one is likelier to
# know. That is what shared text should do. A mark to the left says the opposite. Afterwards you will be able to say
#
# - how much more a larger model of the same family answers,
# - which share of the smaller one's facts the larger one has, too, and what this share would be by chance,
# - whether facts that only the smaller one has are knowledge or luck.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` compare the smallest and the largest model of six families (Section 4.2.2, Table 1). The
# models of a family have read the same text. In our words:
#
# - in general the larger model answers more facts rightly (OPT is named as an exception);
# - it does not answer all of those that the smaller one does. The {term}`subsumption rate` lies between 0.40 and
#   0.80, mean over relations.
#
# The paper calls these rates low, and concludes that models of different sizes keep different facts.
#
# Its run has 50 relations with 400 test facts each and models of up to 70 billion parameters. By default this page has a
# family of the lab, of which we know what the paper could not know: whether the text told a fact at all.

# %% [markdown]
# ## Parameters
#
# A family is a list from small to large. Its models should differ in size and in nothing else. All models of the families
# stand in `models` as well; there, `lke run` may divide them into one run each.

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/0.15m", "lab:book-1/0.7m", "lab:book-1/2m"]
families: list[list[str]] = [
    ["lab:book-1/0.15m", "lab:book-1/0.7m", "lab:book-1/2m"]
]  # each from small to large; all must have read the same text
fact_set: str = "lab:book-1"
# Empty: all of the fact set.
relations: list[str] = ["author", "birth_year", "first_language", "residence"]
# The page is about the first; the second asks the same once more.
estimators: list[str] = ["iclke-space", "iclke-colon"]
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects of each fact
n_facts: int = 400  # test facts of each relation; of a lab world, all
sure: float = 0.5  # confidence above which an answer counts as sure
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 8  # of its questions, for each estimator, are asked again
shipped: list[str] = []  # profiles in results/ that asked worlds of the lab
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, papers, prompts, runs
from lkecore import models as lms
from lkecore.answers import overlap, rules
from lkecore.metrics.overlap import luck as luck_of

figures.style()

# %% [markdown]
# ## Facts
#
# All models are asked the same facts with the same shots and options. A relation with too few objects for the
# options stops the page. Of a world of the lab all facts are asked. `of_rule` is what the best {term}`rule` without a model gets.

# %%
lms.check_families(families, models, fact_set, page=page)
pairs = lms.pairs_of(families, models)
in_lab = fact_set.startswith("lab:")
sample = facts.draw(
    fact_set,
    relations,
    n_shots=prompts.pairs_shown(estimators, n_shots),
    n_facts=None if in_lab else n_facts,
    n_options=n_options,
    seed=seed,
)
chance = 1 / n_options
print(f"{len(sample)} relations")
print(rules.of_worlds({fact_set: sample}).round(3).to_string(index=False))

# %% [markdown]
# ## Prompts
#
# The page is about the answers to the first estimator, IC-LKE in the paper's format. The second asks the same facts with
# the same shots. It shows how steady one and the same model is.

# %%
questions = prompts.of_sample(sample, estimators)
main, *again = estimators
for name in estimators:
    print(f"{name:12}{prompts.example(name, sample)!r}")

# %% [markdown]
# ## Scores
#
# Beside this run may stand shipped results of several worlds of the lab. They are **not this run**. Each world is another
# text and another training of each model: if a number holds in all of them, it is not the luck of one.

# %%
this = "16_iclke_size"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"dtype": dtype, "page": page}
ours = answers.ask(models, questions, "answers.parquet", **source)
in_order = ours.sort_values(["relation", "fact"])
first = in_order[in_order["estimator"] == main]
every = answers.beside_worlds(first, shipped, main, without=fact_set)
worlds = every.loc[every["source"] != "this page", "world"].unique()
of_worlds = [(f"{name}/0.15m", f"{name}/2m") for name in worlds]
ends = [(family[0], family[-1]) for family in families] + of_worlds
pairs += of_worlds
print(f"{len(ours):,} questions, {n_options} options each")
print(*answers.made_by(shipped, "50_lab_truth"), sep="\n")

# %% tags=["hide-input"]
if page:
    sizes = answers.collect("sizes.parquet")
else:
    counts = [lms.n_parameters(name) for name in models]
    sizes = pd.DataFrame({"model": models, "parameters": counts})
    answers.keep(sizes, "sizes.parquet")

# %% [markdown]
# ## Answers
#
# **The larger minus the smaller**, on the same facts, each relation counted alike. `over_facts` asks what would be with
# other facts of these relations, `over_relations` with other relations, too. `only_first` counts facts that only the
# smaller one has right. `p` is McNemar's exact test over all facts, corrected by Holm for the rows.

# %%
gained = answers.paired(every, "model", pairs, by=["source"], seed=seed)
gained = gained.rename(columns={"first": "small", "second": "large"})
runs.keep(answers.texts(gained, 3), "gain.csv")
answers.words(answers.texts(gained.drop(columns="relations"), 3))

# %% [markdown]
# **The subsumption rate.** Of the facts that the smaller model answers rightly, which share does the larger one
# answer, too?
#
# $$\eta = \frac{|\text{both right}|}{|\text{smaller right}|}$$
#
# It is taken in each relation, and then averaged over relations. In a relation of which the smaller model knows
# nothing it is not defined; the paper does not say what it does there. We leave such a relation out, and one with a
# single fact, too, which has no interval. `counted` says how many are left.
#
# A rate below 1 does not yet mean that the smaller model *knows* something else. So three yardsticks stand beside it.
# `independent` is the accuracy of the larger model: the rate that would come out if what one knows had
# nothing to do with what the other knows. `luck` is the share of the smaller one's right answers that blind guesses
# would give, if what it does not know it guesses. `without_luck` is the rate with these guesses taken off, as tests
# with several choices are marked; *nothing* is left where it is empty. `p` asks, of the facts that the larger model
# misses, whether the smaller one is right oftener than a guess (exact, one-sided, corrected by Holm): then it
# knows some of them, or it has a good guess, such as a frequent object.

# %% covers=["IC-E6", "IC-T1"]
by = {"by": ["source"]}
alone = overlap.by_relations(every, pairs, **by)
runs.keep(alone, "eta-by-relation.csv")
rates = overlap.rates(every, pairs, **by, seed=seed)
numbers = answers.bounds(rates, "over_facts", "eta")
runs.keep(numbers, "subsumption.csv")
own = overlap.own_facts(every, pairs, **by)
runs.keep(answers.texts(own, 3), "right-where-larger-misses.csv")
left = overlap.rates_without_luck(every, pairs, **by, seed=seed)
runs.keep(answers.bounds(left, "without_luck"), "without-luck.csv")
which = ["source", "small", "large"]
table = rates.merge(left.drop(columns="knows"), on=which, how="left")
table = table.merge(own[[*which, "p"]], on=which, how="left")
answers.words(answers.texts(table))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
ended = [f"{small}, {large}" for small, large in ends]
gained["model"] = gained["small"] + ", " + gained["large"]
rates["model"] = rates["small"] + ", " + rates["large"]
lead = table[rates["model"].isin(ended)].head(1).to_dict("records")
more = rate = luck = "No pair of models is compared in this run."
for gain in gained.head(1).to_dict("records"):
    more = (
        f"{gain['large']} answers {gain['over_relations'].text()} more of the"
    )
    more += f" questions than {gain['small']} (and its 95 % interval)."
for row in lead:
    rate = f"Of the facts that {row['small']} has right, {row['large']} has"
    rate += f" {row['over_relations'].text()}, too; independent of each other,"
    rate += f" they would share {row['independent']:.2f}."
    left_over = row["without_luck"] and row["without_luck"].text()
    luck = "With lucky guesses taken off, the share is"
    luck += f" {left_over or 'not defined: nothing is left'}."
figures.findings(more=more, rate=rate, luck=luck)
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# {numref}`fig-size-eta`, at the top, has the rates. {numref}`fig-size-accuracy` has size along the bottom, in powers of
# ten. Look how steep the lines are, and whether the intervals of one model leave out the mark of the next. The right
# panel has the paper's families: only the two ends of each line are models, and what lies between is not known from
# Table 1. Heights must not be compared from panel to panel. Other models are asked other facts there.
#
# ```{glue:figure} fig-size-accuracy
# :name: fig-size-accuracy
# :alt: Two panels with lines of accuracy over the number of parameters on a logarithmic axis, this run on the left and six published families on the right.
#
# Accuracy over the number of parameters. Left: the models of this run, mean over relations, with 95 % intervals over
# facts; dashed: chance. Right: smallest and largest model of six families as published (Table 1), other models and other
# facts.
# ```

# %% tags=["hide-input"]
table1 = papers.table("iclke_table1_subsumption")
accuracy = answers.over_relations(first, ["model"], seed=seed)
accuracy = answers.bounds(accuracy, "over_facts", "accuracy")
accuracy = accuracy.merge(sizes, on="model")
fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
look = {"families": families, "chance": chance}
figures.size_lines(accuracy, table1, axes, **look)
figures.place(fig, "fig-size-accuracy", accuracy)

# %% tags=["hide-input"]
drawn = papers.table_1_beside(numbers[rates["model"].isin(ended)])
size = (8.5, 1 + 0.38 * len(drawn))
fig, ax = plt.subplots(figsize=size, layout="constrained")
figures.subsumption_dots(drawn, ax)
figures.place(fig, "fig-size-eta", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Table 1 with what this run has of it. A row has a number of ours only where this run asked just these two
# models. The verdict is *reproduced* or *differs* where facts, shots and options are the paper's as well, and else *not
# comparable*. The shots are always another draw than the paper's, which is not known.

# %%
same_data = fact_set.startswith("hub:QinyuanWu/T-Rex-MC") and not relations
protocol = (n_shots, n_options, n_facts, main) == (50, 100, 400, "iclke-space")
here = rates[rates["source"] == "this page"]
compared = papers.table_1_verdicts(
    here, same_data=same_data, same_protocol=protocol
)
answers.words(compared)

# %% [markdown]
# The published numbers hold a riddle. All six rates lie *below* the accuracy of the larger model, as
# {numref}`fig-size-eta` shows. Taken as the formula has it, the larger models would be *less* likely to know a fact if the
# smaller one knows it. That would be strange for models of one text. We see three ways out. A relation of which the
# smaller model knows nothing may have been counted as a rate of 0. The rates may come from another run than the
# accuracies (Table 7 has some of these again, up to 0.035 away). Or the printed rate may be the share of the *larger*
# one's facts that the smaller one has; an exercise tries this.
#
# **Claims.** Statistic, direction and least effect of each stand in `lkecore/data/claims.csv` since before the first
# run of this page. They are about the smallest and the largest model of a family, with intervals over relations. With
# four relations such an interval is wide: see {ref}`how often it holds the truth <few-relations>`.
#
# The claim about what a larger model *knows* is tested by a rate of what the smaller one *answers*, and luck alone can make
# it hold. The statistic was fixed before the runs and stays. `mark` says where the rate without luck gives another reading
# of a *holds*: *may be luck* where that rate may be 1, since then nothing need be missing that the smaller model knows.

# %%
of_gain = gained[gained["model"].isin(ended)]
of_rate = rates[rates["model"].isin(ended)]
tested = {
    "IC-larger-more": answers.tested(of_gain, "over_relations"),
    "IC-subsumption": answers.tested(of_rate, "over_relations"),
}
claim = papers.claims("IC").set_index("id").loc["IC-subsumption"]
marks = overlap.read_as(tested["IC-subsumption"], left, claim)
judged = answers.judge(tested, estimator=main, as_paper=True, marks=marks)
answers.words(judged.drop(columns="id"))

# %% [markdown]
# *May be luck* does not say that it was luck. It says that this run cannot tell. And only blind luck is taken off: a
# model that always names a frequent object is luckier than that. A family without a row has fewer than two relations in
# which the smaller model is right at least twice.

# %% [markdown]
# ## What you have seen
#
# - A larger model of the same text answers more. That says nothing yet about which facts.
# - A subsumption rate below 1 has four possible reasons: other knowledge, blind luck, a good guess, and a model that
#   does not even agree with itself. Each has a yardstick.

# %%
assert alone["eta"].dropna().between(0, 1).all()
assert (alone["both"] <= alone["small_right"]).all()
if len(numbers):
    mean = alone[alone["small_right"] >= 2].groupby(which)["eta"].mean()
    found = numbers.set_index(which)["eta"]
    assert (mean.reindex(found.index) - found).abs().max() < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-size-luck
# How much of 1 minus the rate could be blind luck, in our rows and in Table 1? Suppose that the larger model never has
# a fact right that the smaller one guesses.
# ```

# %% [markdown]
# ````{solution-start} ex-size-luck
# :class: dropdown
# ````

# %%
lucky = table1.rename(columns={"family": "of", "smallest_accuracy": "right"})
lucky["by luck"] = luck_of(lucky["right"], 0.01)
lucky["lost"] = 1 - lucky["eta"]
answers.words(lucky[["of", "by luck", "lost"]].round(3))

# %% [markdown]
# In the paper's rows luck is a few hundredths at most: with 100 options, a blind guess is seldom right, and the models
# know much. What is lost there must have other reasons, such as guesses that are not blind. Our rows stand above.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-size-other-share
# Suppose that the printed rate of Table 1 is the share of the larger one's facts that the smaller one has. What is
# the rate by the formula then? Does it lie above the accuracy of the larger model?
# ```

# %% [markdown]
# ````{solution-start} ex-size-other-share
# :class: dropdown
# ````

# %%
turned = table1[["family", "eta", "largest_accuracy"]].copy()
ratio = table1["largest_accuracy"] / table1["smallest_accuracy"]
turned["by the formula"] = (table1["eta"] * ratio).round(3)
answers.words(turned)

# %% [markdown]
# The facts that both have are then $\eta$ times those of the larger one; divided by those of the smaller one, they give
# the last column (near and not exact, since the paper averages over relations). All six come to lie above the
# accuracy of the larger model, where one expects them. That proves nothing. It shows that the printed numbers alone do
# not tell how much larger models forget.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-size-told
# Of the facts that only the smaller model has right, are the sure answers about facts that the text told often? And
# would the same model have them right again, asked in another way? (Of a world of the lab we know what was told.)
# ```

# %% [markdown]
# ````{solution-start} ex-size-told
# :class: dropdown
# ````

# %%
steady = overlap.steadiness(in_order, pairs, main, again[:1], sure=sure)
runs.keep(steady, "sure-and-again.csv")
told = overlap.by_told(first, ends, fact_set)
runs.keep(told, "subsumption-by-told.csv")
answers.words(answers.texts(told, 3))

# %% [markdown]
# Of facts that no text told, both models know nothing: a rate there comes from guesses. If the rate is much higher for
# facts that were told often, the guesses pull the mean down. The file `sure-and-again.csv` has the second part: where two
# models agree more than one model agrees with itself, they differ no more than two ways of asking.
#
# ````{solution-end}
# ````
#
# To compare models of your own, or the lab's other worlds, put this into a file such as `params/mine.yaml`, then run
# `lke run params/mine.yaml`. All that may change between the models of a family is their size.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 16_iclke_size
#     parameters:
#       models: ["lab:book-2/0.15m", "lab:book-2/2m"]
#       families: [["lab:book-2/0.15m", "lab:book-2/2m"]]
#       fact_set: lab:book-2
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
