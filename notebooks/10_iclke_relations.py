# %% [markdown]
# # Which relations does a model know, and in which format?
#
# **With a colon and a line break in place of the paper's spaces, every model gets {glue:text}`least:.0f` to {glue:text}`most:.0f`
# percentage points more facts right, in every set of facts; with the spaces {glue:text}`name_model` finds {glue:text}`known:.0%` of
# the facts ({glue:text}`name_set`), and the best rule without a model finds {glue:text}`guessed:.0%`.**
#
# ```{glue:figure} fig-iclke-relations
# :name: fig-iclke-relations
# :alt: A panel for each set of facts with marks and intervals of accuracy in two formats, a colour for each model, and a dotted line where the best rule without a model lies.
#
# In each panel the marks rise from left to right: the same facts in another format. Lines: 95 % over other relations. Dotted: the best rule.
# ```
#
# We ask with IC-LKE: 50 examples of a relation, then a subject, and the model ranks up to 100 objects that may follow. A format is
# two signs: what is between subject and object, and what is between examples. For {glue:text}`clear` combinations of a model and a
# set of facts the interval of the gain leaves out 0. So a low accuracy in one format does not show that the facts are not there.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` ask 49 models about 50 relations of T-REx-MC, 400 facts each, in one format: a space inside an example, a space between
# examples (Section 4, Figure 5, Tables 7 and 8). In our words: models do better than a guess among 100; relations differ much, "publication
# date" comes near 1 and "student of" stays near 0.1. Their models have up to 70 billion parameters. The estimator is called ZP-LKE where it was
# published (WSDM 2025). The authors' public code has " : " inside an example and ", " between; its one kept sample (Llama2-7B, ten facts) has .30.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all of the fact set
# The paper's, and others of which the best is chosen.
estimators: list[str] = ["iclke-space", "iclke-newline", "iclke-colon"]
n_shots: int = 50  # examples shown before the question
n_options: int = 100  # candidate objects; fewer where a relation has fewer
n_facts: int = 25  # test facts of each relation
n_choice: int = 4  # training facts of each relation, to choose by
n_redraws: int = 1  # draws of other examples
n_redraw_facts: int = 25  # test facts of each relation that these ask
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0
dtype: str = "float32"

# %% tags=["hide-input"]
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, papers, prompts, runs, stats
from lkecore.answers import rules

figures.style()

# %% [markdown]
# ## Facts
#
# For every relation the examples, the facts to ask and their options are drawn once. A relation
# with too few objects gets as many options as it has: guessing is easier there.

# %% covers=["IC-D2", "IC-D3"] needs={"IC-D2": {"fact_set": "T-Rex-MC"}}
n_shots = prompts.pairs_shown(estimators, n_shots)
size = {"n_options": n_options, "n_shots": n_shots}
drawn = {**size, "take_fewer": True, "seed": seed}
sample = facts.draw(fact_set, relations, n_facts=n_facts, **drawn)
print(facts.fewer(sample, **size, n_facts=n_facts))
answers.words(facts.overview(sample, n_options=n_options, n_facts=n_facts))

# %% [markdown]
# Two facts of each of the first relations, with their first options. The right object is among them, at a place that is drawn.

# %% covers=["IC-T4"] needs={"IC-T4": {"fact_set": "T-Rex-MC"}}
print(facts.examples(sample))

# %% [markdown]
# ## Prompts
#
# With a space for both signs the model must find out by itself where an example ends. The other formats say so.

# %% covers=["IC-S1", "IC-E1"]
paper = "iclke-space"
others = [name for name in estimators if name != paper]
for name in estimators:
    print(f"{name:14}{prompts.example(name, sample)!r}")

# %% [markdown]
# ## Scores
#
# For each model the best format but the paper's is chosen, on training facts that are not shown there and never asked again. Then the test
# facts are asked in both, with the same examples and options; and some of them behind other examples.

# %%
this = "10_iclke_relations"
formats_of_model = None  # all
if len(others) > 1:
    spare = facts.draw(
        fact_set, relations, part="choice", n_facts=n_choice, **drawn
    )
    spare = answers.sample(prompts.of_sample(spare, estimators), sources)
    tried = answers.ask(models, spare, "answers-choice.parquet", dtype=dtype)
    tried, _ = answers.shown(f"{this}-choice", tried, sources[:1], dtype=dtype)
    tried = tried.groupby(["model", "estimator", "relation"])["correct"].mean()
    tried = tried.groupby(["model", "estimator"]).mean().unstack()
    best = tried.reindex(columns=others).idxmax(axis=1)
    formats_of_model = {
        m: [e for e in estimators if e in (paper, best[m])]
        for m in models
        if m in best
    }
    print(tried.round(2))

# %%
questions = prompts.of_sample(sample, estimators)  # all; with sources a few
few = answers.sample(questions, sources)
first = answers.ask(
    models,
    few,
    "answers.parquet",
    only=formats_of_model,
    keep_scores=True,
    dtype=dtype,
)
seeds = range(seed + 1, seed + 1 + n_redraws)
by = ["estimator", "relation", "draw"]
redrawn = prompts.redrawn(sample, estimators, seeds, n_facts=n_redraw_facts)
more = answers.ask(
    models,
    answers.sample(redrawn, sources, by=by),
    "answers-draws.parquet",
    only=formats_of_model,
    by=by,
    dtype=dtype,
)
ours = pd.concat([first.assign(draw=0), more])

# %% [markdown]
# With `sources` the numbers of the page come from longer runs, on facts of our own, of KAMEL and of T-REx, and with more models; `ours` are
# then a few of the same questions, and must have the same answers. Without `sources` all numbers are those of this run. KAMEL was asked
# in two runs, one for each format; they are one source here, since they have the same facts and examples.

# %%
every, main = answers.shown(this, ours, sources, dtype=dtype)
cues, _ = answers.shown(f"{this}-cues", rules.cues(sample), sources)
as_one = {"source": {"kamel_formats": "kamel"}}
every, cues = every.replace(as_one), cues.replace(as_one).drop_duplicates()
fact = ["source", "relation", "fact"]
assert not cues.duplicated(fact).any(), "the runs of a source differ"
OLD, NEW = "spaces", "best other format"
if set(every["estimator"]) - {paper} == {"iclke-colon"}:
    NEW = "colon and new line"
every["format"] = every["estimator"].eq(paper).map({True: OLD, False: NEW})
found = every[every["draw"] == 0]
answers.columns(found)

# %% [markdown]
# ## Answers
#
# An answer is right when the gold option is the likeliest. `stats.estimate` takes the mean in each relation, then over relations, so
# that each counts alike; its 95 % interval, by Student's t, says what other relations might have given. The *gain* is the difference
# between the formats on the same facts:
#
# $$\text{gain} = \frac{1}{R} \sum_{r} \frac{1}{|F_r|} \sum_{f \in F_r} (\text{right}_f^\text{colon} - \text{right}_f^\text{space}).$$

# %% covers=["IC-E3", "IC-E4", "IC-T7", "IC-D7"] needs={"IC-D7": {"models": 49}} shows=["run", "shipped"]
who = ["source", "model"]
accuracy = stats.estimate(found, [*who, "format"])
gain = stats.compare(found, "format", NEW, OLD, by=who)
both = pd.concat([accuracy, gain.assign(format="gain")])
runs.keep(both, "over-relations.csv")
stats.table(both, who, "format")

# %% [markdown]
# **How much of it is knowledge?** Four {term}`rules <rule>` know nothing: they name the option that shares words with the subject;
# the object shown most often; the first or, failing that, the second; or the shortest. The best of them in each set of facts:

# %%
of_rules = cues.groupby(["source", "relation"])[list(rules.RULES)].mean()
of_set = of_rules.groupby("source").mean()
best_rule = of_set.idxmax(axis=1)
print(best_rule.to_string())

# %% [markdown]
# A fact carries a {term}`cue` if its object shares a word with the subject or is the one shown most often. Each answer in the paper's
# format gets what that rule has on the same fact, and whether there is a cue.

# %%
cues["cue"] = cues["cue_word"] | cues["cue_frequent"]
for name, best in best_rule.items():
    cues.loc[cues["source"] == name, "rule_correct"] = cues[best]
cue = cues[[*fact, "cue", "rule_correct"]]
paper_format = found[found["format"] == OLD].merge(cue, on=fact, validate="m:1")

# %% [markdown]
# `rule` is the accuracy of the rule and `above` how far the model is above it. `no_cue` is the model's accuracy on the facts without
# a cue, where a rule finds next to nothing; a relation with only one such fact is left out there.

# %%
paper_format["above"] = paper_format.eval("correct - rule_correct")
plain = paper_format[~paper_format["cue"]]
plain = plain.groupby([*who, "relation"]).filter(lambda of: len(of) > 1)
parts = {
    "rule": stats.estimate(paper_format, who, value="rule_correct"),
    "above": stats.estimate(paper_format, who, value="above", bounds=None),
}
if len(plain):
    parts["no_cue"] = stats.estimate(plain, who)
parts = pd.concat(parts, names=["part"]).reset_index("part")
runs.keep(parts, "above-rules.csv")
stats.table(parts, who, "part")

# %% [markdown]
# **Other examples, other facts.** Each draw of examples is another prompt. `min` and `max` are the accuracies of the worst and the
# best draw; `in_all` is the share of facts that are right behind every draw, `in_any` behind one at least. What is between
# them changes with the draw, and two accuracies do not show it. `facts` were asked behind every draw: where they are few, the rest says little.

# %%
cell = [*who, "format"]
behind = every.pivot_table("correct", [*cell, "relation", "fact"], "draw")
behind = behind[behind.count(axis=1) > 1]
each = behind.groupby([*cell, "relation"]).mean().groupby(cell).mean()
draws = each.agg(["min", "max"], axis=1)
each = behind.agg(["min", "max"], axis=1).groupby([*cell, "relation"]).mean()
draws[["in_all", "in_any"]] = each.groupby(cell).mean()
draws["facts"] = behind.groupby(cell).size()
draws.round(2)

# %% [markdown]
# All relations of the paper's Table 8, with the mean over its 35 models and ours in its format; NaN where a set of facts does not
# have the relation.

# %% covers=["IC-T3", "IC-T8"] shows=["run", "shipped"] tags=["hide-output"]
names = papers.table("iclke_table3_relations")
names = names.set_index("wikidata_pid_added")["relation"].to_dict()
names |= {name: of.relation.paper_relation for name, of in sample.items()}
paper_format["of_paper"] = paper_format["relation"].map(names)
ours_8 = paper_format.pivot_table("correct", "of_paper", who)
ours_8.columns = [" ".join(column) for column in ours_8]
table_8 = papers.table("iclke_table8_relations").set_index("relation")
table_8 = table_8[["average_accuracy"]].join(ours_8)
table_8.round(2)

# %% [markdown]
# **The same relations, other facts.** The mean over those of them that both KAMEL and T-REx have; each relation weighs alike. "This
# model knows 30 % of the capitals" says little without the list that was asked.

# %%
same = table_8.filter(regex="^(average_accuracy|kamel |trex )").dropna()
same.agg(["mean", "count"]).T.round(2)

# %% [markdown]
# ## Figures
#
# {numref}`fig-iclke-relations`, at the top, draws the first table. {numref}`fig-iclke-heat` is one set of facts, relation by relation. Where the
# first column is dark, a rule finds the objects, too; where the others are dark and it is not, models know something.
#
# ```{glue:figure} fig-iclke-heat
# :name: fig-iclke-heat
# :alt: Tall heat map of accuracy with a row for each relation and a column for the best rule and for each model and format.
#
# Rows differ more than columns: which relation is asked matters more than who is asked, and how. Accuracy on one set of facts; on top
# the relation that the models know best (the paper's Figure 5, with other models).
# ```

# %% tags=["hide-input"]
shown = accuracy.assign(facts=accuracy["source"].map(figures.called))
shown["model"] = shown["model"].map(figures.called)
look = {"x": "format", "hue": "model", "panel": "facts"}
grid = figures.marks(shown, **look, wrap=2, height=2.7, aspect=1.3)
for name, y in of_set.max(axis=1).items():
    grid.axes_dict[figures.called(name)].axhline(y, color="black", ls=":")
figures.place(grid.figure, "fig-iclke-relations", shown)

# %% covers=["IC-F5"] needs={"IC-F5": {"models": 2}} shows=["run", "shipped"] tags=["hide-input"]
asked = "trex" if "trex" in sources else found["source"].iloc[0]
heat = found[found["source"] == asked]
heat = heat.pivot_table("correct", "relation", ["model", "format"])
heat = heat.reindex(columns=[OLD, NEW], level="format")
heat.columns = [f"{figures.called(m)}\n{way}" for m, way in heat]
heat = heat.loc[heat.mean(axis=1).sort_values(ascending=False).index]
rows, columns = (heat.mean(axis=axis).std() for axis in (1, 0))
heat.insert(0, "best rule,\nno model", of_rules.loc[asked][best_rule[asked]])
heat = heat.rename(index=papers.property_names())
fig, ax = plt.subplots(figsize=(7, 2 + 0.2 * len(heat)), layout="constrained")
bar = {"label": "accuracy"}
sns.heatmap(heat, ax=ax, vmin=0, vmax=1, cmap="Blues", cbar_kws=bar)
ax.set(xlabel="", ylabel="", title=figures.called(asked))
figures.place(fig, "fig-iclke-heat", heat.reset_index())

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None can be *reproduced*: the models are others, and so are the facts. **Claims** are decided in the paper's format, on the
# model and the set of facts with the most relations in which the model is above the best rule of that relation
# (`lkecore/data/claims.csv`; `above`, in the second table, takes one rule for the whole set).

# %%
margin = paper_format.groupby([*who, "relation"])["correct"].mean()
margin = margin.unstack("model").sub(of_rules.max(axis=1), axis=0).stack()
beats = (margin.dropna() > 0).groupby(who).sum()
source, model = beats.idxmax()
beats.unstack()

# %% [markdown]
# How much relations differ is the standard deviation of their accuracies, which is compared with 0.1665, the smallest of the paper's
# Table 7; relations and their facts are drawn again. That a model is above the best rule is *our* claim, written down when the answers
# were there: the paper asks for more than a guess, and a rule gets that, too.

# %%
one = paper_format.query("source == @source and model == @model")
one = one.assign(above_chance=one["correct"] - 1 / one["n_options"])
over = ["relation", "fact"]
resampled = stats.bootstrap(one, ["relation"], over=over, seed=seed)
tested = {
    "IC-above-chance": stats.estimate(one, value="above_chance", bounds=None),
    "IC-above-rules": stats.estimate(one, value="above", bounds=None),
}
if one["relation"].nunique() > 1:  # one relation has no spread
    tested["IC-relations-differ"] = stats.interval(resampled.std(axis=1))
on = {} if sources else {"decided_on": source, "model": model}
verdicts = answers.verdicts({k: f.assign(**on) for k, f in tested.items()})
answers.words(verdicts)

# %% [markdown]
# For other models and sets see `above`. Where it isn't above 0, the claim on relations says little: a model that knows little of each
# cannot differ much between them.

# %% tags=["hide-input", "page-only"]
old = accuracy[accuracy["format"] == OLD].set_index(who)["estimate"]
model = models[0] if (main, models[0]) in old else old[main].index[0]
holds = {
    "every model and set": len(gain) == len(found[who].drop_duplicates()),
    "more facts right": (gain["estimate"] > 0).all(),
    "a colon, a new line": set(found["estimator"]) == {paper, "iclke-colon"},
    "rows differ more than columns": rows > columns,
}
figures.sentence(holds)
figures.findings(
    least=100 * gain["estimate"].min(),
    most=100 * gain["estimate"].max(),
    known=old[main, model],
    guessed=of_set.loc[main].max(),
    name_model=figures.called(model),
    name_set=figures.called(main if sources else fact_set),
    clear=f"{(gain['low'] > 0).sum()} of {len(gain)}",
)

# %% [markdown]
# **Look at some of it.** Questions of this run, in the last of its formats (with a colon), and the options that the model finds
# likeliest, with how much of its confidence each has.

# %% tags=["hide-output", "page-only"]
some = questions[estimators[-1], [*sample][0]]
answers.words(answers.likeliest(models[0], some, dtype=dtype))

# %% [markdown]
# Where our numbers are far from the paper's, there are several reasons, and none is small. SmolLM2 is tuned for instructions, stored in
# 4 bits here, and fifty times smaller than a model of 7 billion parameters. The facts matter as much: T-REx has facts from the first lines of
# Wikipedia's articles, with short and frequent objects {cite:p}`elsahar2018trex,petroni2019lama`; KAMEL takes them from all of
# Wikidata, with objects of any length {cite:p}`kalo2022kamel`. {Page}`18_iclke_stands` says how much of each can be guessed, and
# {page}`14_iclke_separators` which of the two signs does it.

# %% [markdown]
# ## What you have seen
#
# - The same facts, asked in another format, give another accuracy. A low number may be the fault of the question.
# - One number for a model hides most of the answer: relations are far apart, and a mean over them depends on which were asked.
# - Part of an accuracy needs no knowledge: a shared word or a frequent object is a good guess.
#
# The gain once more, fact by fact.

# %%
keys = [*who, "relation", "fact"]
wide = found.pivot_table("correct", keys, "format")
by_hand = (wide[NEW] - wide[OLD]).groupby(keys[:3]).mean().groupby(who).mean()
assert (by_hand - gain.set_index(who)["estimate"]).abs().max() < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-iclke-frequent
# Which three relations does each model know best, and which three worst? In which of the best would you have guessed as well?
# ```

# %% [markdown]
# ````{solution-start} ex-iclke-frequent
# :class: dropdown
# ````

# %% covers=["IC-T9"] shows=["run", "shipped"]
known = paper_format.groupby([*who, "relation"])
known = known[["correct", "rule_correct"]].mean().sort_values("correct")
known = known.rename(index=papers.property_names()).groupby(who)
three = pd.concat([known.tail(3), known.head(3)])
three.sort_index(level=who, sort_remaining=False).round(2)

# %% [markdown]
# Where `rule_correct` is near `correct`, the model may only have copied a word, or seen which objects are common.
#
# ````{solution-end}
# ````
#
# To run this page on another model, or on facts of your own, put this into `params/mine.yaml`, then run
# `lke run params/mine.yaml`. Without `sources` the numbers of the page are those of your run.
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
