# %% [markdown]
# # How many facts does a model know?
#
# **It depends on the format: with a colon and a new line instead of the paper's spaces, every model gives {glue:text}`least:.0f` to
# {glue:text}`most:.0f` percentage points more right answers, in every set of facts.**
#
# ```{glue:figure} fig-iclke-relations
# :name: fig-iclke-relations
# :alt: A panel for each set of facts with marks and intervals of accuracy in two formats, a colour for each model, and a dotted line at the accuracy of the best rule without a model.
#
# In each panel the marks rise from left to right: the same facts in another format. Lines: 95 % over other relations. Dotted: the best rule
# without a model.
# ```
#
# We use IC-LKE: the prompt shows 50 pairs of a relation and then a subject, and the model ranks up to 100 objects that may follow. A format is
# two signs: one between subject and object, and one between pairs. For {glue:text}`clear` combinations of a model and a
# set of facts the interval of the gain excludes 0. So a low accuracy in one format does not show that a model lacks the facts. And not
# all of an accuracy is knowledge: with spaces {glue:text}`name_model` finds {glue:text}`known:.0%` of the facts ({glue:text}`name_set`), and the best rule
# without a model {glue:text}`guessed:.0%`.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` test 49 models on 50 relations of T-REx-MC, with 400 facts each, in one format: a space inside each pair and a space between
# pairs (Section 4, Figure 5, Tables 7 and 8). In our words: models do better than a guess among 100 options; relations differ much, from "publication
# date", near 1, to "student of", near 0.1. Their models have up to 70 billion parameters. In its published version (WSDM 2025) the estimator is
# called ZP-LKE. The authors' public code has " : " inside a pair and ", " between pairs; its one stored sample (Llama2-7B, ten facts) has 0.30.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all of the fact set
# The paper's format, and others; the best of the others is chosen.
estimators: list[str] = ["iclke-space", "iclke-newline", "iclke-colon"]
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects; fewer if a relation has fewer
n_facts: int = 25  # test facts of each relation
n_choice: int = 4  # training facts of each relation, to choose by
n_redraws: int = 1  # draws of other pairs
n_redraw_facts: int = 25  # test facts of each relation for these draws
sources: list[str] = []  # in results/, for the numbers; none: this run
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
# For every relation the pairs, the test facts and their options are drawn once. A relation
# with too few objects gets as many options as it has: guessing is easier there.

# %% covers=["IC-D2", "IC-D3"] needs={"IC-D2": {"fact_set": "T-Rex-MC"}}
n_shots = prompts.pairs_shown(estimators, n_shots)
size = {"n_options": n_options, "n_shots": n_shots}
drawn = {**size, "allow_fewer": True, "seed": seed}
sample = facts.draw(fact_set, relations, n_facts=n_facts, **drawn)
print(facts.fewer(sample, **size, n_facts=n_facts))
answers.html_table(facts.overview(sample, n_options=n_options, n_facts=n_facts))

# %% [markdown]
# Two facts of each of the first relations, with their first options. The right object is one of the options, at a random place.

# %% covers=["IC-T4"] needs={"IC-T4": {"fact_set": "T-Rex-MC"}}
print(facts.examples(sample))

# %% [markdown]
# ## Prompts
#
# If both signs are spaces, the model must find out by itself where a pair ends. The other formats mark it.

# %% covers=["IC-S1", "IC-E1"]
paper = "iclke-space"
others = [name for name in estimators if name != paper]
for name in estimators:
    print(f"{name:14}{prompts.example(name, sample)!r}")

# %% [markdown]
# ## Scores
#
# For each model we choose the best of the other formats, on training facts that appear neither among the pairs nor among the test facts. Then
# the model answers the test facts in this format and in the paper's, with the same pairs and options, and some of them after other pairs.

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
# With `sources` the numbers of the page come from longer runs, on our own facts, on KAMEL and on T-REx, and with more models. `ours` then
# repeats a few of their questions and must give the same answers. Without `sources` all numbers are from this run. The two formats of KAMEL come from
# two runs. They are one source here, since they share facts and pairs.

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
# An answer is right if the gold option is the likeliest. `stats.estimate` takes the mean in each relation, then over relations, so
# that each counts alike. Its 95 % interval, by Student's t, says how much the mean would vary with other relations. The *gain* is the difference
# between the formats on the same facts:
#
# $$\text{gain} = \frac{1}{R} \sum_{r} \frac{1}{|F_r|} \sum_{f \in F_r} (\text{right}_f^\text{colon} - \text{right}_f^\text{space}).$$

# %% covers=["IC-E3", "IC-E4", "IC-T7", "IC-D7"] needs={"IC-D7": {"models": 49}} shows=["run", "shipped"]
who = ["source", "model"]
accuracy = stats.estimate(found, [*who, "format"])
gain = stats.compare(found, "format", NEW, OLD, by=who)
both = pd.concat([accuracy, gain.assign(format="gain")])
runs.save(both, "over-relations.csv")
stats.table(both, who, "format").rename(figures.display_name)

# %% [markdown]
# **How much of it is knowledge?** Four {term}`rules <rule>` know nothing. They choose the option that shares words with the subject;
# the object that the pairs show most often; the first of these two or, failing that, the second; or the shortest option. The best rule in each set of facts:

# %%
of_rules = cues.groupby(["source", "relation"])[list(rules.RULES)].mean()
of_set = of_rules.groupby("source").mean()
best_rule = of_set.idxmax(axis=1)
best_rule.map(figures.display_name).rename(figures.display_name).to_frame(
    "best rule"
)

# %% [markdown]
# A fact has a {term}`cue` if its object shares a word with the subject or is the one that the pairs show most often. We add to each answer in the
# paper's format whether the fact has a cue, and the accuracy of the best rule on it.

# %%
cues["cue"] = cues["cue_word"] | cues["cue_frequent"]
for name, best in best_rule.items():
    cues.loc[cues["source"] == name, "rule_correct"] = cues[best]
cue = cues[[*fact, "cue", "rule_correct"]]
paper_format = found[found["format"] == OLD].merge(cue, on=fact, validate="m:1")

# %% [markdown]
# `rule` is the accuracy of the rule, and `above` the model's accuracy minus that. `no_cue` is the model's accuracy on facts without
# a cue, of which a rule finds next to nothing; it leaves out relations with only one such fact.

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
runs.save(parts, "above-rules.csv")
stats.table(parts, who, "part").rename(figures.display_name)

# %% [markdown]
# **Other pairs, other facts.** Each draw of pairs makes another prompt. `min` and `max` are the accuracies of the worst and the
# best draw; `in_all` is the share of facts that are right in every draw, `in_any` in at least one. The gap between
# `in_all` and `in_any` depends on the pairs shown, and an accuracy hides it. `facts` were questioned in every draw: a row with few says little.

# %%
cell = [*who, "format"]
behind = every.pivot_table("correct", [*cell, "relation", "fact"], "draw")
behind = behind[behind.count(axis=1) > 1]
each = behind.groupby([*cell, "relation"]).mean().groupby(cell).mean()
draws = each.agg(["min", "max"], axis=1)
each = behind.agg(["min", "max"], axis=1).groupby([*cell, "relation"]).mean()
draws[["in_all", "in_any"]] = each.groupby(cell).mean()
draws["facts"] = behind.groupby(cell).size()
draws.round(2).rename(figures.display_name)

# %% [markdown]
# All relations of the paper's Table 8: the mean over its 35 models, and our accuracies in its format. NaN: a set of facts lacks
# the relation.

# %% covers=["IC-T3", "IC-T8"] shows=["run", "shipped"] tags=["hide-output"]
names = papers.table("iclke_table3_relations")
names = names.set_index("wikidata_pid_added")["relation"].to_dict()
names |= {name: of.relation.paper_relation for name, of in sample.items()}
paper_format["of_paper"] = paper_format["relation"].map(names)
ours_8 = paper_format.pivot_table("correct", "of_paper", who)
sets = [*ours_8.columns]
ours_8.columns = [" ".join(column) for column in ours_8]
table_8 = papers.table("iclke_table8_relations").set_index("relation")
table_8 = table_8[["average_accuracy"]].join(ours_8)
people = {
    " ".join(pair): ", ".join(map(figures.display_name, pair)) for pair in sets
}
table_8.round(2).rename(columns=people)

# %% [markdown]
# **The same relations, other facts.** The mean over the relations that both KAMEL and T-REx have; each relation counts alike. "This
# model knows 30 % of the capitals" says little without the list of capitals.

# %%
same = table_8.filter(regex="^(average_accuracy|kamel |trex )").dropna()
same.agg(["mean", "count"]).T.round(2).rename(people)

# %% [markdown]
# ## Figures
#
# {numref}`fig-iclke-relations`, at the top, draws the first table. {numref}`fig-iclke-heat` shows one set of facts, relation by relation. If the
# first column is dark, a rule also finds the objects. If only the others are dark, models know something.
#
# ```{glue:figure} fig-iclke-heat
# :name: fig-iclke-heat
# :alt: Tall heat map of accuracy with a row for each relation and a column for the best rule and for each model and format.
#
# Rows differ more than columns: the relation matters more than the model and the format. Accuracy on one set of facts, with
# the best known relation on top (the paper's Figure 5, with other models).
# ```

# %% tags=["hide-input"]
shown = accuracy.assign(facts=accuracy["source"].map(figures.display_name))
shown["model"] = shown["model"].map(figures.display_name)
look = {"x": "format", "hue": "model", "panel": "facts"}
look["label"] = "accuracy"
grid = figures.marks(shown, **look, wrap=2, height=2.7, aspect=1.3)
if len(grid.axes) > 2 and len(grid.axes) % 2:  # the last place is empty
    legend = grid.figure.legends[0]
    legend.set_loc("center")
    legend.set_bbox_to_anchor((0.75, 0.2), grid.figure.transFigure)
for name, y in of_set.max(axis=1).items():
    grid.axes_dict[figures.display_name(name)].axhline(y, color="black", ls=":")
figures.glue_figure(grid.figure, "fig-iclke-relations", shown)

# %% covers=["IC-F5"] needs={"IC-F5": {"models": 2}} shows=["run", "shipped"] tags=["hide-input"]
asked = "trex" if "trex" in sources else found["source"].iloc[0]
heat = found[found["source"] == asked]
heat = heat.pivot_table("correct", "relation", ["model", "format"])
heat = heat.reindex(columns=[OLD, NEW], level="format")
heat.columns = [f"{figures.display_name(m)}\n{way}" for m, way in heat]
heat = heat.loc[heat.mean(axis=1).sort_values(ascending=False).index]
rows, columns = (heat.mean(axis=axis).std() for axis in (1, 0))
heat.insert(0, "best rule,\nno model", of_rules.loc[asked][best_rule[asked]])
heat = heat.rename(index=papers.property_names())
fig, ax = plt.subplots(figsize=(7, 2 + 0.2 * len(heat)), layout="constrained")
bar = {"label": "accuracy"}
sns.heatmap(heat, ax=ax, vmin=0, vmax=1, cmap="Blues", cbar_kws=bar)
ax.set(xlabel="", ylabel="", title=figures.display_name(asked))
figures.glue_figure(fig, "fig-iclke-heat", heat.reset_index())

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None can be *reproduced*: models and facts are not the paper's. **Claims** are decided in the paper's format, on one model and one set
# of facts: those with the most relations in which the model is above the best rule for the relation
# (`lkecore/data/claims.csv`; `above`, in the second table, takes one rule for the whole set).

# %%
margin = paper_format.groupby([*who, "relation"])["correct"].mean()
margin = margin.unstack("model").sub(of_rules.max(axis=1), axis=0).stack()
beats = (margin.dropna() > 0).groupby(who).sum()
source, model = beats.idxmax()
beats.unstack().rename(figures.display_name).rename(
    columns=figures.display_name
)

# %% [markdown]
# How much relations differ is the standard deviation of their accuracies. We compare it with 0.1665, the smallest in the paper's
# Table 7; relations and their facts are drawn again. The claim that a model is above the best rule is *ours*, and we wrote it down after we had seen the
# answers: the paper asks for more than a guess, and a rule also achieves that.

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
answers.html_table(verdicts)

# %% [markdown]
# For other models and sets see `above`. If it is not above 0, the claim on relations says little: a model that knows little in every relation
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
figures.glue_values(
    least=100 * gain["estimate"].min(),
    most=100 * gain["estimate"].max(),
    known=old[main, model],
    guessed=of_set.loc[main].max(),
    name_model=figures.display_name(model),
    name_set=figures.display_name(main if sources else fact_set),
    clear=f"{(gain['low'] > 0).sum()} of {len(gain)}",
)

# %% [markdown]
# **Look at some answers.** Questions of this run, in the last of its formats (with a colon), and the options that the model finds
# likeliest, with the confidence in each.

# %% tags=["hide-output", "page-only"]
some = questions[estimators[-1], [*sample][0]]
answers.html_table(answers.likeliest(models[0], some, dtype=dtype))

# %% [markdown]
# Our numbers are often far from the paper's, for several reasons, none of them small. SmolLM2 is tuned for instructions, stored in
# 4 bits here, and fifty times smaller than a model of 7 billion parameters. The facts matter as much: T-REx takes its facts from the first lines of
# Wikipedia's articles, with short and frequent objects {cite:p}`elsahar2018trex,petroni2019lama`; KAMEL takes its facts from all of
# Wikidata, with objects of any length {cite:p}`kalo2022kamel`. {Page}`18_iclke_stands` says how much of each can be guessed, and
# {page}`14_iclke_separators` which of the two signs matters more.

# %% [markdown]
# ## What you have seen
#
# - The same facts in another format give another accuracy. A low number may be the fault of the prompt.
# - One number for a model hides most of the answer: relations are far apart, and a mean depends on the choice of relations.
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
# Which three relations does each model know best, and which three worst? In which of the best could you have guessed the answers?
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
three = three.sort_index(level=who, sort_remaining=False).round(2)
three.rename(figures.display_name)

# %% [markdown]
# If `rule_correct` is near `correct`, the model may only have copied a word, or may have seen which objects are common.
#
# ````{solution-end}
# ````
#
# To run this page on another model, or on your own facts, put this into `params/mine.yaml`, then run
# `lke run params/mine.yaml`. Without `sources` the numbers of the page are from your run.
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
