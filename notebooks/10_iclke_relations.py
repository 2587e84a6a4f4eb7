# %% [markdown]
# # Which relations does a model know?
#
# A model may know capitals well and film directors not at all. So we ask it about one relation after the other, with
# IC-LKE: 50 pairs of the relation, then a subject, and the model ranks the objects that may follow.
#
# **What came out.** {glue:text}`known` {glue:text}`ends` {glue:text}`second` {glue:text}`shipped`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-iclke-relations
# :name: fig-iclke-relations
# :alt: Horizontal bars of accuracy for each relation and each estimator, with intervals and a mark at what a rule gets.
#
# Accuracy by relation and estimator, for the first model of the run, the best known relation on top. Lines are 95 %
# Wilson intervals. Dashed: what the best rule without a model gets. A star: fewer options or test facts than asked for.
# ```
#
# Afterwards you will be able to say
#
# - how well the model knows each relation, and how sure that number is,
# - how much the answer depends on two small signs in the prompt, the separators,
# - what may be compared with the paper's tables, and what may not.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` ask 49 models about 50 relations of T-REx-MC, 400 test facts each, with 50 shots and
# 100 options (Section 4, Figure 5, Tables 7 and 8). In our words:
#
# - models do better than guessing, which would give 0.01;
# - relations differ much: "publication date" comes near 1, "student of" stays near 0.1;
# - what stands between subject and object in the shots hardly matters (Section 4.1, Figure 4).
#
# The paper's run needs about 50 × 400 × 100 option scores for each model, on GPUs for the large ones. Ours has small
# models, other facts, and fewer of them.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all of the fact set
# The paper's comes first; of the others the best is chosen.
estimators: list[str] = ["iclke-space", "iclke-newline", "iclke-colon"]
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects; fewer where a relation has fewer
n_facts: int = 25  # test facts of each relation
n_choice: int = 4  # training facts of each relation, to choose by
n_redraws: int = 1  # draws of other shots, to see how much they move it
n_redraw_facts: int = 25  # test facts of each relation that these ask
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 15  # of its questions, for each estimator, are asked again
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, papers, prompts, runs
from lkecore.answers import known, rules

figures.style()

# %% [markdown]
# ## Facts
#
# For every relation we draw, once, the shots, the facts to ask and their options. A relation with too few
# objects for the options asked for gets as many as it has, and the last column says so: guessing is easier there.
# `to_ask` are the facts that test facts come from. `large` marks the relations that pass the rule by which the paper
# made its T-REx-MC: more than 500 facts and at least 100 objects.

# %% covers=["IC-D2", "IC-D3"] needs={"IC-D2": {"fact_set": "T-Rex-MC"}}
drawn = {"n_shots": prompts.pairs_shown(estimators, n_shots), "seed": seed}
drawn |= {"n_options": n_options, "n_facts": n_facts, "take_fewer": True}
sample = facts.draw(fact_set, relations, **drawn)
answers.words(facts.overview(sample, n_options=n_options, n_facts=n_facts))

# %% [markdown]
# Two facts of each of the first relations, with their first options, as in the paper's Table 4. The right object is
# among the options, at a place that is drawn.

# %% covers=["IC-T4"] needs={"IC-T4": {"fact_set": "T-Rex-MC"}}
print(facts.examples(sample))

# %% [markdown]
# ## Prompts
#
# The paper has one space inside a pair and one space between pairs: `iclke-space`. The model must find out by itself
# where a pair ends. Small models may need help there, so we try a few other separators. The claims are about the
# paper's.

# %% covers=["IC-S1", "IC-E1"]
paper = "iclke-space"
others = [name for name in estimators if name != paper]
for name in estimators:
    print(f"{name:14}{prompts.example(name, sample)!r}")

# %% [markdown]
# ## Scores
#
# First the choice: every estimator is tried on training facts that are not shown. The best one that is not the paper's
# is named. No test fact has been asked at this point, and few facts stand behind it: enough to choose by, and not a
# result. With one estimator beside the paper's there is nothing to choose.

# %%
best = {model: others[0] for model in models if others}
this = "10_iclke_relations"
source = {"results": results, "notebook": this, "dtype": dtype, "page": page}
if len(others) > 1:
    drawn |= {"part": "choice", "n_facts": n_choice}
    spare = facts.draw(fact_set, relations, **drawn)
    to_try = prompts.of_sample(spare, estimators), "answers-choice.parquet"
    tried = answers.ask(models, *to_try, **source, n_again=-(-n_again // 3))
    best = answers.best(tried, others)
    for model, name in best.items():
        print(f"{model}: of {', '.join(others)}, {name} did best")

# %% [markdown]
# Now the test facts, in the paper's way and in the chosen one. Shots, facts and options are the same in both, so that
# each answer has its pair. Where `results` names a longer run, the answers are those that it has kept, if models and
# questions are the same to the letter; a sample is asked again, and the page stops if one differs. Other results that
# ship stand beside, of other models and other facts.

# %%
to_ask = {
    m: [e for e in estimators if e in (paper, best.get(m))] for m in models
}
source |= {"only": to_ask, "n_again": n_again}
asked = prompts.of_sample(sample, estimators), "answers.parquet"
ours = answers.ask(models, *asked, **source, keep_scores=True)
every = answers.beside(ours, shipped, this, carried=results)
wanted = {"n_options": n_options, "n_facts": n_facts}
few = answers.fewer(every, answers.asked_for(shipped, this, **wanted))
print(f"{len(ours):,} answers, and {len(every) - len(ours):,} beside")
print(*answers.made_by(shipped, this), sep="\n")

# %% [markdown]
# `n_redraw_facts` of the facts of each relation, with their options, behind other shots: each draw of them is another prompt.
# The first is that of the answers above. Where the draws of one estimator lie as far apart as two estimators do, one draw
# cannot tell these two apart. `in_all` and `in_any` are the shares of facts that are right in every draw, and in one at least: an accuracy may
# stand still while other facts make it up.

# %%
seeds = range(seed + 1, seed + 1 + n_redraws)
redrawn = prompts.redrawn(sample, estimators, seeds, n_facts=n_redraw_facts)
rest = {"by": ("estimator", "relation", "draw"), "n_again": n_again // 3}
to_try = redrawn, "answers-draws.parquet"
more = answers.ask(models, *to_try, **source | rest)
more = answers.beside_kept(more, shipped, this, apart="draws", join=True)
draws = answers.over_draws(every, more, ["source", "model", "estimator"])
print(draws.round(3).to_string(index=False))

# %% [markdown]
# ## Answers
#
# An answer is right when the gold option is the likeliest. Each relation counts alike. The interval of `accuracy` asks
# what would be if *other relations* had been chosen, too: it is the honest one for a sentence about the model. `spread`
# is the standard deviation over relations. `fewer` counts relations with fewer options or test facts than asked for: they
# are part of these means, and with fewer options a guess is right more often.
#
# `gain` is the accuracy of an estimator minus that of the paper's, on the same facts, and `p` McNemar's exact test of it,
# corrected by Holm for the rows.

# %% covers=["IC-E3", "IC-E4", "IC-T7", "IC-D7"] needs={"IC-D7": {"models": 49}}
how = ["source", "model", "estimator"]
overall = answers.over_relations(every, how, seed=seed)
sure = answers.over_relations(every, how, value="confidence_gold", seed=seed)
overall["confidence_gold"] = sure["over_facts"]
overall["fewer"] = overall["source"].map(few).map(len)
pairs = [(paper, name) for name in every["estimator"].unique()]
pairs = [pair for pair in pairs if pair[0] != pair[1]]
by = {"by": how[:2], "seed": seed}
gained = answers.paired(every, "estimator", pairs, **by)
gained = gained.rename(
    columns={"second": "estimator", "over_relations": "gain"}
)
table = overall.merge(gained[[*how, "gain", "p"]], on=how, how="left")
runs.keep(answers.texts(table, 3), "over-relations.csv")
table = table.rename(columns={"over_relations": "accuracy"})
table = table.drop(columns=["over_facts", "confidence_gold", "relations"])
answers.words(answers.texts(table))

# %% [markdown]
# **How much of it is knowledge?** Some facts can be had from the words alone, by {term}`rules <rule>` that know nothing:
# name the option that shares the largest part of its words with the subject; name the object that is most often shown; or
# the first where a word is shared, and else the second. `of_rule` is what the best of them gets, and `above` how far the
# model lies above it, with an interval over relations. A fact carries a {term}`cue` if its object shares a word with the subject
# or is the most frequent among the shots. `no_cue` is the share of facts without one; among these a rule finds nothing, and
# `accuracy_no_cue` has to be held against a blind guess. {doc}`18_iclke_rules` says more.

# %%
cues = rules.cues(sample, kept=not page)
cues = rules.beside(cues, shipped, this)
compared = rules.above(every, cues, how, seed=seed)
runs.keep(answers.bounds(compared, "above"), "above-rules.csv")
shown = rules.wide(compared, how).drop(columns="accuracy")
print(answers.texts(shown).to_string(index=False))
lacking = rules.lacking(every, cues)
print("shipped without cues:", ", ".join(lacking) or "none")

# %% [markdown]
# **One relation after the other**, beside the rule that does best over all of them. The tables are among the files at the
# end of the page; a figure shows the first.

# %%
single = answers.accuracy(ours, [*how[1:], "relation"])
mine = cues[cues["source"] == "this page"]
single = single.merge(rules.by_relation(mine), on="relation")
measured = answers.bounds(single, "accuracy").drop(columns="n")
runs.keep(measured, "accuracy-by-relation.csv")
by |= {"by": ["model", "relation"], "corrected": ["model"]}
gains = answers.paired(ours, "estimator", pairs, **by)
gains = answers.bounds(gains, "over_facts", "gain")
runs.keep(gains, "gain-by-relation.csv")

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
named = papers.property_names()
ends = answers.best_and_worst(ours, how[1:], names=named).iloc[0]
said = overall, shown, draws, gained, ends, paper
figures.findings(**known.sentences(*said))
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# What to see in {numref}`fig-iclke-relations`, at the top: which bars clear their dashed mark, the best rule in that
# relation; how long the intervals are; and whether two estimators tell the same story about one relation.

# %% tags=["hide-input"]
star = {name: f"{name} *" for name in few["this page"]}
bars = measured[measured["model"] == models[0]].replace({"relation": star})
mark = bars.drop_duplicates("relation").set_index("relation")["of_rule"]
size = (7, 1 + 0.45 * len(sample))
fig, ax = plt.subplots(figsize=size, layout="constrained")
look = {"hue": "estimator", "called": "best rule"}
figures.accuracy_bars(bars, ax, chance=mark, **look)
ax.set_xlabel(f"{ax.get_xlabel()}, {models[0]}")
figures.place(fig, "fig-iclke-relations", bars)

# %% [markdown]
# {numref}`fig-iclke-heat` is the paper's Figure 5 with everything that was asked here and in the shipped runs: a row for
# each relation, in the order of the paper's Table 8, and below those the relations that the paper does not have. In the
# paper they become harder from top to bottom. Look whether they do so here; for rows in which the models differ; for
# columns of one model that differ by the estimator alone; and for relations that are dark in one set of facts and light
# in the other. White cells were not asked.
#
# ```{glue:figure} fig-iclke-heat
# :name: fig-iclke-heat
# :alt: Tall heat map of accuracy with a row for each relation and a column for each source, model and estimator.
#
# Accuracy by relation, model and estimator, of this run and of the shipped results (the paper's Figure 5 with other
# models and facts, and its order). A star: fewer options or test facts than asked for.
# ```

# %% covers=["IC-F5"] needs={"IC-F5": {"models": 2}} shows=["run", "shipped"] tags=["hide-input"]
same = {n: d.relation.paper_relation for n, d in sample.items()}
same = {name: of_paper for name, of_paper in same.items() if of_paper}
heat = papers.figure_5(every, few, same)
size = (7, 2 + 0.2 * heat["relation"].nunique())
fig, ax = plt.subplots(figsize=size, layout="constrained")
look = {"index": "relation", "columns": "asked", "values": "accuracy"}
figures.heat_map(heat, ax, **look, label="accuracy", limits=(0, 1))
figures.place(fig, "fig-iclke-heat", heat)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper has no numbers for these models, and its facts are not ours. So nothing here can be
# *reproduced* or *differ*. {numref}`fig-iclke-published` puts the published accuracies of the 35 pre-trained
# models (Table 7) above ours, for orientation only. The paper's tables, relation by relation, stand beside ours on
# {doc}`a page of their own <10_iclke_tables>`.
#
# ```{glue:figure} fig-iclke-published
# :name: fig-iclke-published
# :alt: Dots of published accuracies of 35 models by family, and below a line ours with intervals.
#
# Published accuracy over 50 relations of T-REx-MC (Table 7, pre-trained models), and ours over the relations of this
# page: other models, other facts. Grey lines: standard deviation over relations. Ours: interval over relations; in
# brackets the set of shipped results.
# ```

# %% tags=["hide-input"]
dots = answers.bounds(overall, "over_relations", "accuracy")
mark = dots["source"].map(lambda s: "" if s == "this page" else f" ({s[9:]})")
dots["name"] = dots["model"] + ", " + dots["estimator"] + mark
dots = dots[["name", "accuracy", "low", "high"]]
canvas, axes = plt.subplots(figsize=(9, 9), layout="constrained")
figures.published_dots(papers.table_7("no"), axes, ours=dots)
figures.place(canvas, "fig-iclke-published", dots)

# %% [markdown]
# **Claims.** A claim can be tested on any model. Statistic, direction and least effect stand in
# `lkecore/data/claims.csv`. A claim holds if its whole interval does; an interval that lies on both sides leaves it
# undecided. All are tested in the paper's own way of asking, with intervals over relations. That a model lies above the best
# rule is *our* claim, written down when the answers were there already: the paper asks for more than a blind guess, and
# that a rule gets as well.

# %%
as_paper = every[every["estimator"] == paper]
above = as_paper.assign(above=as_paper["correct"] - 1 / as_paper["n_options"])
gap = {"value": "above", "share": False}
above = answers.over_other_relations(above, how, **gap)
spread = overall[overall["estimator"] == paper]
whole = compared[compared["facts"] == "all"]
whole = whole[whole["estimator"] == paper]
tested = {
    "IC-above-chance": answers.tested(above, "over_relations"),
    "IC-above-rules": answers.tested(whole, "above"),
    "IC-relations-differ": answers.tested(spread, "spread"),
}
aside = {"marks": rules.at_chance(whole, "IC-relations-differ")}
judged = answers.judge(tested, estimator=paper, as_paper=True, **aside)
answers.words(judged.drop(columns="id"))

# %% [markdown]
# The last claim needs room. A model that knows little of every relation cannot differ much between them: where the mean
# is near 0, so is the standard deviation. So a model that is not clearly above the best rule is *at chance*, and its verdict says
# nothing of this claim. That rule came when the verdicts were there ({doc}`../log`).
#
# The paper's claim on *separators* gets its verdicts on {doc}`14_iclke_separators`. Our other estimators may also change what
# stands *between* pairs, which tells a model where a pair ends. The gain says something else: how much small models seem to
# know depends on the format of the shots. A low number in one format is no proof that the fact is not there.
#
# Where our numbers lie far from the paper's, there are several reasons, and none of them is small. The
# default model is fifty times smaller than one of 7 billion parameters, stored in 4 bits, and tuned for
# instructions. And we ask few facts of each relation: a part of the spread over relations is noise. The largest reason may
# be the facts: T-REx has facts that stand in the first lines of Wikipedia's articles, with short and frequent
# objects {cite:p}`elsahar2018trex,petroni2019lama`. KAMEL takes its facts from all of Wikidata, with objects of any
# length {cite:p}`kalo2022kamel`, and there a long name competes with short ones. The rule, too, gets more on
# T-REx, so that a part of the gap is what can be guessed. Without cues a smaller one is left.

# %% [markdown]
# ## What you have seen
#
# - One number for a model hides most of the answer: relations lie far apart, and a mean over them depends on which
#   were asked.
# - The same facts, asked with other separators, give another accuracy. A low number may be the fault of the question.
# - Part of an accuracy needs no knowledge at all: a shared word or a frequent object is a good guess. The rules say how good.

# %%
assert overall["over_facts"].map(lambda i: i.low <= i.estimate <= i.high).all()
by_hand = ours.groupby([*how[1:], "relation"])["correct"].mean()
by_hand = by_hand.groupby(how[1:]).mean()
means = overall[overall["source"] == "this page"].set_index(how[1:])
for key, interval in means["over_relations"].items():
    assert abs(by_hand[key] - interval.estimate) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-iclke-frequent
# In which relations does the model beat the best rule? Where it does not, has it shown that it knows a fact?
# ```

# %% [markdown]
# ````{solution-start} ex-iclke-frequent
# :class: dropdown
# ````

# %%
beats = measured["low"] > measured[["chance", "of_rule"]].max(axis=1)
answers.words(measured[beats].round(2))

# %% [markdown]
# These are the relations whose whole interval lies above the rule and a blind guess. Elsewhere the model may only have
# copied a word, or seen which objects are common.
#
# ````{solution-end}
# ````
#
# To run this page on another model, or on facts of your own, put this into a file such as
# `params/mine.yaml`, then run `lke run params/mine.yaml`:
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 10_iclke_relations
#     parameters:
#       models: [/path/to/a/model, org/name]
#       fact_set: /path/to/facts
#       n_facts: 200
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
