# %% [markdown]
# # Which relations does a model know, and in which format?
#
# **A colon and a new line bring out {glue:text}`least` to {glue:text}`most` percentage points more facts than the paper's
# spaces, whichever model is asked about whichever set of facts; with the spaces {glue:text}`name_model` finds
# {glue:text}`known` of the facts ({glue:text}`name_set`), where a rule that knows nothing finds {glue:text}`guessed`.**
#
# ```{glue:figure} fig-iclke-relations
# :name: fig-iclke-relations
# :alt: A panel for each set of facts with marks and intervals of accuracy in two formats, a colour for each model, and a dotted line where the best rule without a model lies.
#
# In each panel the marks rise from left to right: the same facts, asked in another format. Accuracy, mean over relations, with
# a 95 % interval over other relations. Dotted: the best rule without a model.
# ```
#
# We ask with IC-LKE: 50 pairs of a relation, then a subject, and the model ranks up to 100 objects that may follow. A format is
# two signs: what is between subject and object, and what is between pairs. The gain is clear of 0 for {glue:text}`clear`
# pairs of a model and a set of facts. So a low accuracy in one format does not show that the facts are not there.
#
# ```{glue:} carried
# ```

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` ask 49 models about 50 relations of T-REx-MC, 400 facts each, in one format: a space inside a pair, a space
# between pairs (Section 4, Figure 5, Tables 7 and 8). In our words: models do better than a guess among 100; relations differ
# much, "publication date" comes near 1 and "student of" stays near 0.1. Their models have up to 70 billion parameters.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all of the fact set
# The paper's, and others of which the best is chosen.
estimators: list[str] = ["iclke-space", "iclke-newline", "iclke-colon"]
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects; fewer where a relation has fewer
n_facts: int = 25  # test facts of each relation
n_choice: int = 4  # training facts of each relation, to choose by
n_redraws: int = 1  # draws of other pairs
n_redraw_facts: int = 25  # test facts of each relation that these ask
results: str = ""  # source in results/ of this run's answers; empty: it asks
n_again: int = 15  # of its questions, for each estimator, are asked again
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

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
# For every relation the pairs, the facts to ask and their options are drawn once. A relation
# with too few objects gets as many options as it has: guessing is easier there.

# %% covers=["IC-D2", "IC-D3"] needs={"IC-D2": {"fact_set": "T-Rex-MC"}}
size = {"n_shots": prompts.pairs_shown(estimators, n_shots), "seed": seed}
size |= {"n_options": n_options, "take_fewer": True}
sample = facts.draw(fact_set, relations, n_facts=n_facts, **size)
answers.words(facts.overview(sample, n_options=n_options, n_facts=n_facts))

# %% [markdown]
# Two facts of each of the first relations, with their first options. The right object is among them, at a place that is drawn.

# %% covers=["IC-T4"] needs={"IC-T4": {"fact_set": "T-Rex-MC"}}
print(facts.examples(sample))

# %% [markdown]
# ## Prompts
#
# With a space for both signs the model must find out by itself where a pair ends. The other formats say so.

# %% covers=["IC-S1", "IC-E1"]
paper = "iclke-space"
others = [name for name in estimators if name != paper]
for name in estimators:
    print(f"{name:14}{prompts.example(name, sample)!r}")

# %% [markdown]
# ## Scores
#
# The format is chosen on training facts that are never shown and never asked again: the best that is not the paper's. Then the test
# facts are asked in both, with the same pairs and options; and some of them behind other pairs.

# %%
this, only = "10_iclke_relations", None
how = {"page": page, "dtype": dtype, "results": results, "notebook": this}
if len(others) > 1:
    spare = facts.draw(
        fact_set, relations, part="choice", n_facts=n_choice, **size
    )
    to_try = prompts.of_sample(spare, estimators), "answers-choice.parquet"
    tried = answers.ask(models, *to_try, n_again=n_again // 2, **how)
    tried = tried.groupby(["model", "estimator", "relation"])["correct"].mean()
    tried = tried.groupby(["model", "estimator"]).mean().unstack()
    best = tried[others].idxmax(axis=1)
    only = {m: [e for e in estimators if e in (paper, best[m])] for m in models}
    print(tried.round(2))

# %%
questions = prompts.of_sample(sample, estimators)
look = {"only": only, "n_again": n_again, "keep_scores": True}
ours = answers.ask(models, questions, "answers.parquet", **look, **how)
seeds = range(seed + 1, seed + 1 + n_redraws)
others = prompts.redrawn(sample, estimators, seeds, n_facts=n_redraw_facts)
how |= {"by": ["estimator", "relation", "draw"], "n_again": n_again // 3}
more = answers.ask(models, others, "answers-draws.parquet", only=only, **how)
every = pd.concat([ours.assign(draw=0), more]).assign(source="this run")
cues = rules.cues(sample, kept=not page).assign(source="this run")

# %% [markdown]
# The numbers of the page come from longer runs, on facts of our own, of KAMEL and of T-REx, with four models. KAMEL was asked in two
# runs, one for each format; they are one source here.

# %%
if sources:
    every = answers.results(this).query("source in @sources")
    cues = answers.results(f"{this}-cues").query("source in @sources")
fact = ["source", "relation", "fact"]
as_one = {"source": {"kamel_formats": "kamel"}}
cues = cues.replace(as_one).drop_duplicates(fact)
OLD, NEW = "spaces", "colon and new line"
every = every.replace(as_one)
every["format"] = every["estimator"].eq(paper).map({True: OLD, False: NEW})
found = every[every["draw"] == 0]
answers.columns(found)

# %% [markdown]
# ## Answers
#
# An answer is right when the gold option is the likeliest. Each relation counts alike; the interval says what other relations might
# have given. The *gain* is the difference between the formats on the same facts:
#
# $$\text{gain} = \frac{1}{R} \sum_{r} \frac{1}{|F_r|} \sum_{f \in F_r} (\text{right}_f^\text{colon} - \text{right}_f^\text{space}).$$

# %% covers=["IC-E3", "IC-E4", "IC-T7", "IC-D7"] needs={"IC-D7": {"models": 49}} shows=["run", "shipped"]
who = ["source", "model"]
accuracy = stats.estimate(found, [*who, "format"])
gain = stats.compare(found, "format", NEW, OLD, by=who)
both = pd.concat([accuracy, gain.assign(format="gain")])
runs.keep(both, "over-relations.csv")
both["said"] = both.apply(stats.said, axis=1)
both.pivot(index=who, columns="format", values="said")

# %% [markdown]
# **How much of it is knowledge?** Four {term}`rules <rule>` know nothing: they name the option that shares words with the subject, the
# object shown most often, the one or else the other, or the shortest. `rule` is the best of them in its set of facts, and `above` how far a
# model is above it, in the paper's format. A fact carries a {term}`cue` if its object shares a word with the subject or is the one
# shown most often; `no_cue` is the accuracy on the other facts, where a rule finds next to nothing.

# %%
names = list(rules.RULES)
right = cues.groupby(["source", "relation"])[names].mean()
best = right.groupby("source").mean().idxmax(axis=1)
rule = cues.melt(fact, names, "rule", "of_rule")
rule = rule[rule["rule"] == rule["source"].map(best)]
cues["cue"] = cues["cue_word"] | cues["cue_frequent"]
told = cues[[*fact, "cue"]].merge(rule, on=fact)
told = found.merge(told, on=fact, validate="m:1")
told["above"] = told["correct"] - told["of_rule"]
told = told[told["format"] == OLD]
plain = told[~told["cue"]]
several = plain.groupby([*who, "relation"])["fact"].transform("size") > 1
parts = {
    "rule": stats.estimate(told, who, value="of_rule"),
    "above": stats.estimate(told, who, value="above", bounds=None),
}
if several.any():
    parts["no_cue"] = stats.estimate(plain[several], who)
runs.keep(
    pd.concat(parts, names=["part"]).reset_index("part"), "above-rules.csv"
)
said = {k: f.set_index(who).apply(stats.said, axis=1) for k, f in parts.items()}
pd.DataFrame(said)

# %% [markdown]
# **Other pairs, the same accuracy, other facts.** Each draw of pairs is another prompt. `least` and `most` are the accuracies of the
# worst and the best draw; `in_all` is the share of facts that are right behind every draw, `in_any` behind one at least. An accuracy
# hardly moves, and yet a part of the facts that make it up is another one each time.

# %%
key = [*who, "format", "relation"]
draws = every.pivot_table("correct", [*key, "fact"], "draw").dropna()
each = draws.groupby(key).mean().groupby(key[:3]).mean()
found_in = draws.agg(["min", "max"], axis=1).groupby(key).mean()
found_in = found_in.groupby(key[:3]).mean()
ends = {"least": each.min(axis=1), "most": each.max(axis=1)}
ends |= {"in_all": found_in["min"], "in_any": found_in["max"]}
pd.DataFrame(ends).round(2)

# %% [markdown]
# **The same relations, other facts.** These are relations of the paper's Table 8 that both KAMEL and T-REx have: the paper's mean over
# 35 models, and ours in its format. "This model knows 30 % of the capitals" says little without the list that was asked.

# %%
known = papers.table("iclke_table3_relations")
known = known.set_index("wikidata_pid_added")["relation"].to_dict()
known |= {name: of.relation.paper_relation for name, of in sample.items()}
told["of_paper"] = told["relation"].map(known)
paper_has = papers.table("iclke_table8_relations").set_index("relation")
paper_has = paper_has["average_accuracy"]
same = told[told["of_paper"].isin(paper_has.index)]
if {"kamel", "trex"} <= set(sources):
    same = same[same["source"].isin(["kamel", "trex"])]
    n_sets = same.groupby("of_paper")["source"].transform("nunique")
    same = same[n_sets == 2]
shared = same["of_paper"].unique()
print(f"{len(shared)} relations; the paper: {paper_has[shared].mean():.2f}")
stats.estimate(same, who, over="fact").round(2) if len(same) else None

# %% [markdown]
# All fifty relations of the paper, with its accuracy and ours in its format; NaN where a set of facts does not have the relation.

# %% covers=["IC-T3", "IC-T8"] shows=["run", "shipped"] tags=["hide-output"]
table_8 = told.pivot_table("correct", "of_paper", who).round(2)
table_8.columns = [" ".join(column) for column in table_8]
paper_has.to_frame("the paper").join(table_8)

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
# Rows differ more than columns: which relation is asked matters more than who is asked, and how. Accuracy on one set of facts, the
# best known relation on top (the paper's Figure 5, with other models).
# ```

# %% tags=["hide-input"]
shown = accuracy.assign(
    model=accuracy["model"].map(figures.called),
    facts=accuracy["source"].map(figures.called),
)
look = {"x": "format", "hue": "model", "panel": "facts"}
grid = figures.marks(shown, **look, wrap=2, height=2.7, aspect=1.3)
height = told.groupby(["source", "relation"])["of_rule"].mean()
height = height.groupby("source").mean()
for source, y in height.items():
    ax = grid.axes_dict[figures.called(source)]
    ax.axhline(y, color="black", ls=":")
figures.place(grid.figure, "fig-iclke-relations", shown)

# %% covers=["IC-F5"] needs={"IC-F5": {"models": 2}} shows=["run", "shipped"] tags=["hide-input"]
source = "trex" if "trex" in sources else found["source"].iloc[0]
heat = found[found["source"] == source]
heat = heat.pivot_table("correct", "relation", ["model", "format"])
heat = heat.reindex(columns=[OLD, NEW], level="format")
heat.columns = [f"{figures.called(m)}\n{way}" for m, way in heat]
heat.insert(0, "best rule,\nno model", right.loc[source, best[source]])
heat = heat.rename(index=papers.property_names())
heat = heat.loc[heat.mean(axis=1).sort_values(ascending=False).index]
fig, ax = plt.subplots(figsize=(7, 2 + 0.2 * len(heat)), layout="constrained")
look = {"cmap": "Blues", "cbar_kws": {"label": "accuracy"}}
sns.heatmap(heat, ax=ax, vmin=0, vmax=1, **look)
ax.set(xlabel="", ylabel="", title=figures.called(source))
figures.place(fig, "fig-iclke-heat", heat.reset_index())

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None can be *reproduced*: the models are others, and so are the facts. **Claims** are decided in the paper's format, on the
# model and the set of facts with the most relations in which the model is above the best rule there (`lkecore/data/claims.csv`).

# %%
of_model = told.groupby([*who, "relation"])["correct"].mean().unstack("model")
beats = of_model.gt(right.max(axis=1), axis=0).groupby("source").sum().stack()
source, model = beats.idxmax()
beats.unstack()

# %% [markdown]
# How much relations differ is the standard deviation over them; relations and their facts are drawn again. That a model is above the
# best rule is *our* claim, written down when the answers were there: the paper asks for more than a guess, and a rule gets that, too.

# %%
one = told[(told["source"] == source) & (told["model"] == model)]
one = one.assign(guessed=one["correct"] - 1 / one["n_options"])
over = {"over": ["relation", "fact"], "seed": seed}
drawn = stats.bootstrap(one, ["relation"], **over)
tested = {
    "IC-above-chance": stats.estimate(one, value="guessed", bounds=None),
    "IC-above-rules": stats.estimate(one, value="above", bounds=None),
    "IC-relations-differ": stats.interval(drawn.std(axis=1)),
}
on = {} if sources else {"decided_on": source, "model": model}
verdicts = answers.verdicts({k: f.assign(**on) for k, f in tested.items()})
answers.words(verdicts)

# %% [markdown]
# The other pairs of a model and a set of facts, on the claim that a model is above the best rule: `above` in the second table. Where it
# isn't, the claim on relations says little: a model that knows little of each cannot differ much between them.

# %% tags=["hide-input", "page-only"]
top = accuracy[accuracy["format"] == OLD].iloc[0]
assert (gain["estimate"] > 0).all(), "a colon and a new line bring out more"
assert set(found["estimator"]) == {paper, "iclke-colon"}, "a colon, a new line"
rows, columns = (heat.mean(axis=axis).std() for axis in (1, 0))
assert rows > columns, "rows differ more than columns"
figures.findings(
    least=f"{100 * gain['estimate'].min():.0f}",
    most=f"{100 * gain['estimate'].max():.0f}",
    known=f"{top['estimate']:.0%}",
    guessed=f"{height[top['source']]:.0%}",
    name_model=figures.called(top["model"]),
    name_set=figures.called(top["source"] if sources else fact_set),
    clear=f"{(gain['low'] > 0).sum()} of {len(gain)}",
)
figures.note("carried", answers.carried(ours))

# %% [markdown]
# **Look at some of it.** Twenty questions of this run, with the five options that the model finds likeliest, and how much of its
# confidence each has.

# %% tags=["hide-output", "page-only"]
some = questions[estimators[-1], [*sample][0]]
None if page else answers.words(answers.likeliest(models[0], some))

# %% [markdown]
# Where our numbers are far from the paper's, there are several reasons, and none is small. SmolLM2 is fifty times smaller than a model
# of 7 billion parameters, stored in 4 bits, and tuned for instructions. The facts matter as much: T-REx has facts from the first lines of
# Wikipedia's articles, with short and frequent objects {cite:p}`elsahar2018trex,petroni2019lama`; KAMEL takes them from all of
# Wikidata, with objects of any length {cite:p}`kalo2022kamel`. {doc}`18_iclke_rules` says how much of each can be guessed, and
# {doc}`14_iclke_separators` which of the two signs does it.

# %% [markdown]
# ## What you have seen
#
# - The same facts, asked in another format, give another accuracy. A low number may be the fault of the question.
# - One number for a model hides most of the answer: relations are far apart, and a mean over them depends on which were asked.
# - Part of an accuracy needs no knowledge: a shared word or a frequent object is a good guess.
#
# The gain once more, by counting the facts that are right in one format alone.

# %%
wide = found.pivot(
    index=[*key[:2], *key[3:], "fact"], columns="format", values="correct"
)
only = (wide[NEW] & ~wide[OLD]).astype(int) - (wide[OLD] & ~wide[NEW])
by_hand = only.groupby([*who, "relation"]).mean().groupby(who).mean()
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
each = told.groupby([*who, "relation"])[["correct", "of_rule"]].mean()
each = each.rename(index=papers.property_names()).sort_values("correct")
three = [each.groupby(who).tail(3), each.groupby(who).head(3)]
pd.concat(three).sort_index(level=who, sort_remaining=False).round(2)

# %% [markdown]
# Where `of_rule` is near `correct`, the model may only have copied a word, or seen which objects are common.
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

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
