# %% [markdown]
# # Do models agree on which relations are well known?
#
# One model knows capitals and fails at film directors. Do other models, made by other people from other text, have the
# same strong and weak relations? If they do, the facts are easy or hard, and it is not the model that is odd.
#
# **What came out.** {glue:text}`highest` {glue:text}`others` {glue:text}`control` {glue:text}`shipped`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-agree-models
# :name: fig-agree-models
# :alt: Square heat map of correlations with a row and a column for each model and the value in each cell of up to 20 columns.
#
# Pearson's r of the accuracies of two models over relations (the paper's Figure 14), a map for this run and for each
# shipped one. Families stand side by side, and the models of a family by mean accuracy, tuned ones last. White: the
# model itself, or no spread over relations.
# ```
#
# Afterwards you will be able to say
#
# - how far the accuracies of two models rise and fall together over relations,
# - how much of this could be reached at all with so few facts, and how much comes from asking the same facts,
# - why a high correlation can be no agreement on relations, and a low one no disagreement.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` correlate the accuracies of each two models over 50 relations (Section 4.2.1, Figure 14), and
# take the mean over the pairs of each two families (Figure 6). In our words: models of different families agree on which
# relations are well known, with a correlation above 0.6. Models of one family agree, too.
#
# The paper has 400 facts of each relation. The default run of this page has few, and models of one world of the
# lab, whose text tells all relations alike. So it cannot test the claim, but it can test the *number*: what r comes out
# where there is nothing to agree on?

# %% [markdown]
# ## Parameters
#
# A model that stands in no family here has that of the paper's Table 6. Models of the lab that have read one world are
# one family. The {term}`unplanted twin` is another: it has read nothing of the facts that are asked. So it is a
# {term}`negative control`, which can agree with the others only on what makes an answer easy to guess. Any other model
# is a family of its own.

# %% tags=["parameters"]
models: list[str] = [
    "lab:book-1/0.15m",
    "lab:book-1/0.7m",
    "lab:book-1/2m",
    "lab:book-1/2m-tuned",
    "lab:book-1/0.7m-unplanted",
]
families: list[list[str]] = []  # empty: as in the paper's Table 6
family_names: list[str] = []  # one for each family
fact_set: str = "lab:book-1"
relations: list[str] = []  # empty: all of the fact set
estimators: list[str] = ["iclke-space", "iclke-colon"]  # main, second
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each estimator, are asked again
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
import numpy as np

from lkecore import answers, facts, figures, papers, prompts, runs
from lkecore.answers import agreement, rules
from lkecore.answers import agreement_checks as checks

figures.style()

# %% [markdown]
# ## Facts
#
# All models are asked the same facts with the same shots and options, and as many in each relation. A fine-tuned model
# stays in the family of its base. Its mark *(tuned)* gives it a mean of its own.

# %%
kin = agreement.kin(
    models, families, family_names, fact_set, shipped=shipped, page=page
)
sample = facts.draw(
    fact_set,
    relations,
    n_shots=prompts.pairs_shown(estimators, n_shots),
    n_facts=n_facts,
    n_options=n_options,
    seed=seed,
    apart=fact_set.startswith("lab:"),
)
more = {"n_splits": n_splits, "n_resamples": n_resamples}
agreement.check(sample, n_facts=n_facts, **more)
print(kin.loc[models, "side"].to_string())
print(f"{len(sample)} relations, {n_facts} facts each")

# %% [markdown]
# **How often are relations told?** Of a world of the lab we know it. For each relation we take the share of facts that
# the text tells 16 times or more: over `every` test fact, and over those that were drawn to be `asked`. Printed are the
# least and the largest share of a relation. If the two numbers of `every` are equal, no relation is told more. `asked`
# differs by lot.

# %%
often = agreement.told_often(sample, fact_set)
if len(often):
    print(often.drop(columns="relation").agg(["min", "max"]).round(2))

# %% [markdown]
# ## Prompts
#
# The page is about IC-LKE in the paper's format. The second estimator asks the same facts with the same shots: how well
# does one model agree with *itself*?

# %%
questions = prompts.of_sample(sample, estimators)
main = estimators[0]
for name in estimators:
    print(f"{name:12}{prompts.example(name, sample)!r}")

# %% [markdown]
# ## Scores
#
# Beside this run stand shipped ones, if any. They are **not this run**: other models, and other facts.

# %%
this = "15_iclke_agreement"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"dtype": dtype, "page": page}
ours = answers.ask(models, questions, "answers.parquet", **source)
of_two = ours[ours["estimator"].isin(estimators[:2])]
every = answers.beside(of_two, shipped, agreement.NOTEBOOK)
print(f"{len(ours):,} questions, {n_options} options each")
print(*answers.made_by(shipped, agreement.NOTEBOOK), sep="\n")

# %% [markdown]
# ## Answers
#
# `accuracy` is the mean over relations, with an interval over facts. `std` is the standard deviation of the accuracy
# over relations, and `noise` the part of it that the drawing of so few facts gives. Where the two are near each other,
# we do not see relations differ. Where the accuracy is not clearly above `chance`, a blind guess, relations may be *nothing
# but* noise. (A {term}`rule` is no yardstick of noise: relations differ for it, too.) `of_rule` is what the best one gets, and
# `no_cue` the accuracy where none has a {term}`cue`.
#
# **How much of a model's order is noise?** We cut the facts of each relation into two halves, by lot. A model whose
# relations really differ has the same order in both. From the correlation $h$ of the halves comes the
# {term}`reliability` with all facts, $2h / (1 + h)$: the share of the variance over relations that would come again with
# other facts. *None*: the halves do not agree. *No spread*: all relations have the same accuracy. *At chance*: a few
# lucky hits decide, so there is no number.
#
# `itself` is the correlation of a model's accuracies with its own by the second estimator. Its interval, and that of the
# reliability, draws relations again. An end at -1 or 1 says that in many draws a model had no spread.

# %%
first, second = agreement.tables(every, kin, main)
chance = (1 / every["n_options"]).groupby(every["source"]).mean()
known = agreement.known(first, kin, chance, seed=seed)
runs.keep(answers.bounds(known, "accuracy"), "accuracy-by-model.csv")
runs.keep(agreement.by_relation(first), "accuracy-by-relation.csv")
more["seed"] = seed
reliable = agreement.reliable(first, second, known, **more)
runs.keep(answers.bounds(reliable, "share"), "reliability.csv")
cues = rules.cues(sample, kept=not page)
cues = rules.beside(cues, shipped, agreement.NOTEBOOK)
shown = known.merge(reliable.drop(columns="share"))
shown = checks.with_no_cue(shown, first, cues, seed=seed)
shown = answers.texts(shown.drop(columns=["least", "most"]), 3)
answers.words(shown, digits=3, missing="")

# %% [markdown]
# **Pairs of models.** `r` is Pearson's correlation of the two models' accuracies over relations. Its interval draws
# relations again, each with the facts that were asked. Beside it stand two yardsticks.
#
# - `ceiling`, the square root of the product of the two reliabilities. If all that differs between two models
#   were noise, and each had facts of its own, r would be about this.
# - `other_facts`. Both models are asked the *same* facts, and a relation that got easy ones by lot looks well known to
#   both. So we correlate one model on one half of the facts with the other on the *other* half, and raise the result to
#   all facts.
#
# If `other_facts` is far below r, the two agree on facts, and not on relations. If it is near the ceiling, they
# agree on relations as well as one can see. If the ceiling is low, nobody can say.

# %% covers=["IC-E8"]
pairs = agreement.pairs(first, kin, known, **more)
runs.keep(agreement.said(pairs), "pairs.csv")
answers.words(agreement.said(pairs).drop(columns="estimate"))

# %% [markdown]
# **Pairs of families.** The mean of r over all pairs of a model of one family with a model of the other; in a
# family, over its pairs of two models. The interval draws the same relations for all pairs, and no models.

# %%
draws = {"seed": seed, "n_resamples": n_resamples}
by_family = agreement.families(first, kin, pairs, **draws)
runs.keep(answers.bounds(by_family, "r"), "families.csv")

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
has_r = pairs[pairs["r"].notna()]
height = has_r["r"].map(lambda r: r.estimate).sort_values(ascending=False)
top = has_r.loc[height.index].drop_duplicates("source").set_index("source")
highest, others = "No two models of this run can be compared.", "-"
if "this page" in top.index:
    row = top.loc["this page"]
    highest = f"{row['one']} and {row['other']} agree most: r is"
    highest += f" {row['r'].text()} over {len(sample)} relations."
    others = "One of the two may do no better than guess, so this may be luck."
    if row["other_facts"]:
        others = "On other facts of these relations it would be"
        others += f" {row['other_facts'].text()}."
control, untold = "-", has_r["kind"].str.startswith("negative control")
if untold.any():
    control = "With a model that was never told the facts, the highest r is"
    control += f" {height[untold].max():.2f}, by luck or easy guesses."
longer = [
    f"{row.one} and {row.other} {row.r.text()} on {source[9:]}"
    for source, row in top.drop(index="this page", errors="ignore").iterrows()
]
longer = f"Longer runs, on real facts: {'; '.join(longer)}." if longer else "-"
figures.findings(
    highest=highest, others=others, control=control, shipped=longer
)
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# {numref}`fig-agree-models`, at the top, has every pair. Look first at the row of the negative control, if there is
# one: how far from 0 does r get there by chance? Are the other cells clearly above that?

# %% covers=["IC-F14"] tags=["hide-input"]
marked = {m: m + " (tuned)" for m in kin.index[kin["tuned"]]}
maps = agreement.square(pairs, first, marked)
figures.place(figures.square_maps(maps), "fig-agree-models", maps)

# %% [markdown]
# {numref}`fig-agree-families` has the means by family. A mean of several pairs looks steadier than one pair. But all pairs
# are about the same few relations.
#
# ```{glue:figure} fig-agree-families
# :name: fig-agree-families
# :alt: Square heat map of mean correlations with a row and a column for each family and the value in each cell of up to 20 columns.
#
# Mean of r over the pairs of models of two families (the paper's Figure 6). Fine-tuned models stand apart, marked (tuned):
# they have no counterpart in the paper. On the diagonal: pairs inside a family. White: no pair.
# ```

# %% covers=["IC-F6"] tags=["hide-input"]
sides = {s: kin.loc[list(t), "side"].unique() for s, t in first.items()}
of_sides = agreement.square(by_family, sides)
figures.place(figures.square_maps(of_sides), "fig-agree-families", of_sides)

# %% [markdown]
# {numref}`fig-agree-scatter` shows the points behind single numbers. Look at the lengths of the lines first. Where they
# are as long as the cloud is wide, there is no order of relations to agree on. Then look whether one single point makes
# the slope.
#
# ```{glue:figure} fig-agree-scatter
# :name: fig-agree-scatter
# :alt: Scatter plots of the accuracy of one model over that of another, with lines for intervals, a dotted diagonal and a few named relations.
#
# Accuracy of two models, a point for each relation, with 95 % Wilson intervals. A panel for each kind of pair, with the
# pair of its kind whose weaker model is best. Dotted: equal accuracy. Named: the four relations in which the difference
# of the two lies farthest from its mean.
# ```

# %% tags=["hide-input"]
points = checks.points(first, pairs, papers.property_names())
figures.place(figures.pair_scatters(points), "fig-agree-scatter", points)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None to compare with: the paper says "> 0.6" and prints no single value.
#
# **Claims.** Statistic, direction and least effect stand in `lkecore/data/claims.csv`. The paper's claim is about the
# mean of r over the pairs of two families (a row since 24 November 2026). That *any* two models lie above the bound is
# our reading, from before the first run of this page.
#
# Rows with a *negative control* test the number, and not the paper: the claim should *not* hold there. Those with a
# *tuned* model do not count as the paper's way.

# %%
judged = checks.judged(pairs, by_family, main)
real = pairs.loc[pairs["kind"].str.startswith("two families"), "source"]
for source in [source for source in first if source not in set(real)]:
    print(f"{source}: no pair of two real families, so it stays undecided")
answers.words(judged.drop(columns="id"))

# %% [markdown]
# If a row of two real families does not hold, look at the *ceiling* of the pair, the number of relations and the
# accuracy: a model near chance has no order to show. If a row *holds*, `other_facts` should be high.
#
# **The paper's own noise** can be judged from its Table 7. With 400 facts a relation, the variance of an accuracy
# by the draw of the facts is at most $a(1-a)/400$ on average, for a mean accuracy $a$. What it leaves of the printed
# variance over relations is the reliability, at the least.
#
# **The relations of the paper.** A shipped run can be held against the paper's Table 8, the mean accuracy of 35 models by
# relation. Facts and models are others, so a low r does not contradict the paper. If it is near 0 while two of our
# models agree, they agree on which of *these facts* are easy. *Without dates*: the paper has full ones.

# %%
table7 = checks.of_table_7()
print(f"Table 7: {len(table7)} models, lowest first; median", end=" ")
print(f"{table7['reliability'].median():.3f}")
print(table7.head(3).round(3).to_string(index=False))
with_paper = checks.with_table_8(first, **draws)
runs.keep(answers.bounds(with_paper, "r"), "with-table-8.csv")
if len(with_paper):
    print("\nr with Table 8")
    print(answers.texts(with_paper, 2).to_string(index=False))

# %% [markdown]
# ## What you have seen
#
# - A correlation over relations mixes relations that are easy for all, facts that are easy for all, and noise. Halves of
#   the facts tell them apart.
# - Two models that were asked the same few facts agree even where no relation is better known than another.
# - How high the ceiling is hangs on the number of facts, and on how far relations differ; r can
#   pass it on shared facts.

# %%
for pair in has_r.itertuples():
    two = first[pair.source].groupby("relation")[[pair.one, pair.other]].mean()
    by_hand = np.corrcoef(two.to_numpy().T)[0, 1]
    assert abs(by_hand - pair.r.estimate) < 1e-9
assert by_family["counted"].sum() == len(has_r)

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
answers.words(checks.without_one(first, pairs), digits=2)

# %% [markdown]
# Where the last two columns lie far apart, r reports one relation.
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
needed = checks.facts_needed(first, reliable)
whole = dict.fromkeys(["needed", "low", "high"], "{:.0f}")
answers.words(needed, digits=whole)

# %% [markdown]
# With $n$ facts the noise has $(1-\rho)/\rho$ times the variance of the true differences, and it shrinks as
# $1/n$. A ceiling of 0.6 leaves it 0.4 / 0.6. *inf* says that no number of facts would help,
# or that these data do not rule it out. In the lab that is as it should be where all relations are told alike.
#
# ````{solution-end}
# ````
#
# Do models of your own agree? To see an r above 0.6 you need many relations, enough facts in each, and models above
# chance. Put this into a file such as `params/mine.yaml`, then call `lke run params/mine.yaml`:
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

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
