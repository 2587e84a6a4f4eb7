# %% [markdown]
# # How far do the words of a question move its answer?
#
# **Words alone move every model's accuracy: chosen on half of the facts and counted on the others, a relation's best wording finds {glue:text}`best:.0%` and
# its worst {glue:text}`worst:.0%` ({glue:text}`name_shown`), or {glue:text}`best_other:.0%` and {glue:text}`worst_other:.0%` ({glue:text}`name_other`).**
#
# ```{glue:figure} fig-wording-templates
# :name: fig-wording-templates
# :alt: A panel for each model with a row for each relation, and in it a dot for each template at its accuracy.
#
# The dots of a row spread widely, because of the wording and because of luck. A dot is a template: the share of the relation's pairs that it finds.
# ```
#
# Somebody chose the words of every question, and other words mean the same. Here each fact is asked in many wordings, by each name of its subject. Two
# wordings get the same answer in this share of cases: {glue:text}`agree`. The facts are of the lab: a subject's names are unrelated words, and half of the
# facts are in no text. {Page}`41_belief_contexts` asks a real model.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` ask 24,643 pairs of subject and relation with 100 templates a relation and all names of a subject. In our words
# (Sections 2 and 5): two wordings have very different accuracies (Table 3); answers to different prompts of a pair seldom agree;
# larger models (Table 5) and models with more carefully chosen text (Table 6) depend less on the words. The numbers that we print are
# the draft's; the published *What Matters in Memorizing and Recalling Facts?* has others.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/2m", "lab:rich-1/bert"]
fact_set: str = "lab:rich-1"
relations: list[str] = []  # empty: all
wordings: str = ""  # table of templates; empty: the fact set's own, or ours
templates: list[int] = []  # places of the templates, from 0; empty: all
n_facts: int = 80  # pairs of each relation, or as many as there are
choose: bool = True  # also ask which of the relation's objects is likeliest
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws pairs, and prompts for them
dtype: str = "float32"

# %% tags=["hide-input"]
from dataclasses import replace

import numpy as np
import pandas as pd
import seaborn as sns

from lkecore import answers, facts, figures, papers, stats, worlds
from lkecore.facts import filters
from lkecore.facts import wordings as words
from lkecore.facts.tables import fold
from lkecore.prompts import icl_prompts
from lkecore.scores import blanks
from lkecore.stats import wordings as measures

figures.style()

# %% [markdown]
# ## Facts
#
# A *pair* is a subject and a relation, and any of its true objects is right. The paper reads one token at the blank; `long` counts the
# pairs with a longer object, which are left out there.

# %%
for name in relations:
    facts.load(fact_set, name)  # refuses one that is not there
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "seed": seed}
# Of all relations: the pairs of one are the same, whatever else is asked.
drawn = facts.draw(fact_set, [], **size, own_seeds=True, leave_out=True)
some = {name: drawn[name] for name in relations or drawn}
sample, texts, _ = words.onto(some, wordings)
sample = words.pairs(words.named(sample, fact_set=fact_set))
lms = [answers.opened(name, dtype) for name in models]
one, long = filters.one_token(sample, [lm.tokenizer for lm in lms])
long = pd.Series(long | {"all": sum(long.values())}, name="long")
if templates:
    texts = texts[texts["template"].isin(templates)]
words.counts(sample, texts).join(long, on="relation").round(2)

# %% [markdown]
# ## Prompts
#
# A *prompt* is a pair, a template and a name of the subject. A model that fills blanks reads a whole sentence with one mask; a model that
# reads from left to right only gets templates that end with their blank.

# %%
every = {
    name: replace(of, options=(of.relation.objects,) * len(of.facts))
    for name, of in sample.items()
}


def asked_of(these: dict) -> dict[tuple, list]:
    found = {}
    for kind in sorted({lm.kind for lm in lms}):
        blank = icl_prompts.blank_prompts(
            these, templates=templates or None, closed=kind != "causal"
        )
        found |= {(kind, *key): prompts for key, prompts in blank.items()}
    return found


for its in list(asked_of(one).values())[:3]:
    print(f"{its[0].context} ____{its[0].after}")

# %% [markdown]
# ## Scores
#
# **One token**, the paper's way: `answer` is the likeliest token of the whole vocabulary, `confidence` its probability. **Objects**, our way:
# `picked` is the relation's object with the largest mean log-probability a token, so all pairs can be asked, and `chosen`
# says whether it is true.

# %%
true = {fact.id: fact.true_names for of in sample.values() for fact in of.facts}


def right(said: pd.DataFrame) -> list[bool]:
    return [fold(name) in true[fact] for fact, name in said.to_numpy()]


def token(lm, scores: pd.DataFrame) -> pd.DataFrame:
    said = scores.drop_duplicates("fact")
    sure = np.exp(said["logprob_top"].clip(upper=0))
    said = said[["fact", "answer"]]
    return said.assign(correct=right(said), confidence=sure)


def of_objects(lm, scores: pd.DataFrame) -> pd.DataFrame:
    mean = scores["logprob"] / scores["n_tokens"]
    best = mean.groupby(scores["fact"], sort=False).idxmax()
    said = scores.loc[best, ["fact", "option"]]
    said = said.rename(columns={"option": "picked"})
    return said.assign(chosen=right(said))


this = "40_belief_wording"
by = ["reader", "relation", "template", "expression"]
key = ["model", "relation", "template", "expression", "fact"]
questions = answers.sample(asked_of(one), sources, 20, by=by)
how = {"by": by, "dtype": dtype}
tops = {"score": blanks.tops, "reading": token}
ours = answers.ask(models, questions, "tokens.parquet", **tops, **how)
ours = ours[[*key, "answer", "correct", "confidence"]]
if choose:
    pairs = asked_of(every)
    if sources:  # the same prompts
        these = {(*k, q.fact) for k, some in questions.items() for q in some}
        pairs = {
            k: [q for q in pairs[k] if (*k, q.fact) in these] for k in questions
        }
    own = {"reading": of_objects, **how}
    picked = answers.ask(models, pairs, "objects.parquet", **own)
    picked = picked[[*key, "picked", "chosen"]]
    ours = picked.merge(ours, how="left", on=key)
    ours["correct"] = ours["correct"].astype("boolean")
if worlds.is_rich(fact_set):  # what the text tells
    state = worlds.states(fact_set).set_index("fact")["state"]
    ours["state"] = ours["fact"].map(state)
answers.save(ours, "answers.parquet")  # one frame ships
found, _ = answers.shown(this, ours, sources[:1], dtype=dtype)
answers.html_table(answers.columns(found))

# %% [markdown]
# ## Answers
#
# **One draw of words.** 50,000 times the paper draws a template a relation (see *Slips*) and a name a pair; $V$ is the accuracy over pairs.
#
# $$V_k = \frac{1}{|T|} \sum_{t \in T} \text{right}(t, \text{template}_k, \text{name}_k)$$
#
# Its mean is `acc1`; `range` and `stdev` say how far it moves, and `alone` is the stdev if each pair drew its own template. The
# stdev falls with the number of relations. `spread` does not: it is the deviation over a relation's templates without luck, mean over relations.
#
# **Agreement.** {term}`Consist` is the share of all two prompts $i < j$ of a pair whose answers are the same, mean over pairs; `others` is the same
# share for prompts about two *different* subjects.

# %% covers=["BL-S1", "BL-M1", "BL-M2", "BL-E1"] shows=["run", "shipped"]
ways = {"one token": found.dropna(subset="correct")}
if "picked" in found:
    names = {"chosen": "correct", "picked": "answer"}
    its = found.drop(columns=["correct", "answer"])
    ways["objects"] = its.rename(columns=names)
said = pd.concat(ways, names=["way", ""]).reset_index("way")
said["correct"] = said["correct"].astype(bool)
pairs = said.groupby(["model", "way", "relation"])["fact"].transform("nunique")
said = said[pairs > 1]  # a single pair has no spread
rows, spread, ends = {}, {}, {}
for of, part in said.groupby(["model", "way"], sort=False):
    v = measures.fluctuation(part, seed=seed)
    alone = measures.fluctuation(part, unit="independent", seed=seed)
    spread[of] = measures.spread(part)
    ends[of] = measures.crossed(part, seed=seed)
    consist = measures.consist(part)["consist"]
    others = measures.consist(part, ["relation"], group="fact")["inter"]
    moves = [v.mean(), np.ptp(v), v.std(), alone.std(), spread[of].mean()]
    rows[of] = [len(consist), *moves, consist.mean(), others.mean()]
columns = ["pairs", "acc1", "range", "stdev", "alone", "spread"]
table = pd.DataFrame(rows, [*columns, "consist", "others"]).T
shown_in = table.rename_axis(["model", "way"]).astype({"pairs": int}).round(3)
shown_in.rename(figures.display_name, level="model")

# %% [markdown]
# A relation's worst and best template, chosen on half of the pairs and counted on the others, in 100 halvings; mean over relations, 95 % intervals.
# `min` and `max` are chosen and counted on the same pairs. They are further apart, mostly by luck.

# %%
at = said.groupby(["way", "model", "relation", "template", "fact"])
at = at["correct"].mean().groupby(level=[0, 1, 2, 3]).mean()
same = at.groupby(level=[0, 1, 2]).agg(["min", "max"])
ends = pd.concat(ends, names=["model", "way"]).join(same).reset_index()
key = ["way", "model", "which"]
ends = ends.melt([*key[:2], "relation"], var_name="which", value_name="share")
shares = stats.estimate(ends, key, value="share").set_index(key).sort_index()
columns = ["worst", "average", "best", "min", "max"]
shown_in = stats.table(shares.reset_index(), key[:2], "which")[columns]
shown_in.rename(figures.display_name, level="model")

# %% [markdown]
# ## Figure
#
# In {numref}`fig-wording-templates`, read a row: the dot on the right and the dot on the left are the same question in different words.

# %% tags=["hide-input"]
dots = at["one token"].reset_index(name="accuracy")
dots["asked"] = dots["model"].map(figures.display_name)
grid = sns.FacetGrid(dots, col="asked", col_wrap=3, height=4, aspect=0.8)
order = sorted(dots["relation"].unique())
grid.map_dataframe(
    sns.stripplot, x="accuracy", y="relation", order=order, alpha=0.6
)
grid.set(xlim=(-0.02, None)).set_titles("{col_name}")
grid.set_axis_labels("share of pairs found", "")
figures.glue_figure(grid.figure, "fig-wording-templates", dots)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Models and facts differ, so no number is comparable with ours. Tables 16 (all templates) and 17 (manual ones) repeat Tables
# 3, 5 and 6, in which some ten cells differ a little. The last column is the printed stdev over the most that it could be if each pair drew
# its own template, $\sqrt{a (1 - a) / 24643}$. It is far above 1, except after four examples in the same words, so templates were shared. Below is Table 11.

# %% covers=["BL-T3", "BL-T5", "BL-T6", "BL-T16", "BL-T17"] shows=["run", "shipped"] tags=["hide-output"]
full = {
    "all": papers.table("belief_table16_full_scale"),
    "manual": papers.table("belief_table17_partial_scale"),
}
full = pd.concat(full, names=["templates", ""]).reset_index("templates")
index = ["templates", "model", "setting"]
printed = full.pivot(index=index, columns="metric", values="value")
a = printed["average_acc1"]
most = np.sqrt(a * (1 - a) / 24643)
printed["stdev / alone"] = printed["fluctuation_stdev"] / most
printed.drop(columns="runtime_hours").round(4)

# %% covers=["BL-T11"]
least = papers.table("belief_table11_template_accuracy")
least.pivot(index=["model", "dataset"], columns="statistic", values="acc1")

# %% [markdown]
# {numref}`fig-wording-sizes` shows Table 17, as the paper's Figure 6: five manual templates, without examples and after four examples in the same template.
#
# ```{glue:figure} fig-wording-sizes
# :name: fig-wording-sizes
# :alt: Three panels, accuracy, stdev and Consist, with a row for each of eight models from small to large and a mark for each of two settings.
#
# With four examples, larger models are more often right and move less; without examples, they are not steadier. Printed numbers alone.
# ```

# %% covers=["BL-F6"] tags=["hide-input"]
sizes = ["Phi3-mini", "Phi3-small", "Llama2-7B", "Llama3-8B"]
sizes += ["Llama2-13B", "Phi3-medium", "Llama2-70B", "Llama3-70B"]
columns = ["average_acc1", "fluctuation_stdev", "consist"]
marks = printed.loc["manual", columns].stack().rename("estimate")
marks = marks.reset_index().set_index("model").loc[sizes].reset_index()
called = {
    "average_acc1": "accuracy (Acc@1)", "consist": "agreement (Consist)",
    "fluctuation_stdev": "standard deviation", "zero-shot": "no examples",
    "4-template": "four examples",
}  # fmt: skip
marks = marks.replace({"metric": called, "setting": called})
grid = sns.FacetGrid(marks, col="metric", sharex=False, height=3)
look = {"hue": "setting", "palette": "colorblind", "jitter": False, "size": 7}
grid.map_dataframe(sns.stripplot, x="estimate", y="model", **look)
grid.set_titles("{col_name}").set_axis_labels("", "").add_legend()
figures.glue_figure(grid.figure, "fig-wording-sizes", marks)

# %% [markdown]
# **Slips.** Equation 1 sums $i \neq j$ over the number of unordered pairs; $i < j$ is meant. Table 17's Consist of Phi3-medium (.6167) and of
# Llama2-70B (.0359), without examples, look misprinted. The mean in Table 11 (.1453 for wwm; Table 3 has .1364) is over
# prompts, in Table 3 over pairs. Section 6.1 says that wwm beats large in all metrics; its Consist is lower. The paper doesn't say how the words of a
# draw are shared.
#
# **Claims.** One is decided here, on `lab:rich-1` alone: of two models that read the same text, the larger one is steadier.

# %%
spread = pd.DataFrame(spread).rename_axis(columns=["model", "way"])
of_one = spread.xs("one token", axis=1, level="way").dropna()
small, large = "lab:rich-1/0.7m", "lab:rich-1/2m"
judged = {}
if {small, large} <= {*of_one}:
    gap = (of_one[large] - of_one[small]).rename("gap").reset_index()
    gap = stats.estimate(gap, value="gap", bounds=None)
    judged["BL-larger-steadier"] = gap
of_ends = shares.loc["one token", "estimate"].unstack()
shown = large if large in of_ends.index else models[0]
of_shown, its = table.loc[shown, "one token"], of_ends.loc[shown]
verdicts = answers.verdicts(judged)
columns = ["claim", "model", "estimate", "low", "high", "verdict"]
answers.html_table(verdicts[columns])

# %% tags=["hide-input", "page-only"]
gap = ends.query("way == 'one token'")
gap = gap.pivot(index=["model", "relation"], columns="which", values="share")
gap = (gap["best"] - gap["worst"]).rename("gap").reset_index()
gap = stats.estimate(gap, ["model"], value="gap", bounds=None)
other = gap.set_index("model")["estimate"].idxmax()
holds = {
    "of every model": (gap["low"] > 0).all(),
    "or even": other != shown,
}
figures.sentence(holds if sources else {})
agree = table.xs("one token", level=1)["consist"]
figures.glue_values(
    name_shown=figures.display_name(shown),
    best=its["best"],
    worst=its["worst"],
    name_other=figures.display_name(other),
    best_other=of_ends.loc[other, "best"],
    worst_other=of_ends.loc[other, "worst"],
    agree=", ".join(
        f"{share:.0%} ({figures.display_name(name)})"
        for name, share in agree.items()
    ),
)

# %% [markdown]
# ## What you have seen
#
# - An accuracy belongs to a model *and* a wording. A report of the best wording on the facts that chose it also reports luck.
# - The paper's stdev is small because many relations are averaged. Within a relation, words move the accuracy much more: compare `spread`.
#
# Acc@1 and one Consist once more, from their definitions:

# %%
part = said.query("way == 'one token' and model == @shown")
by_pair = part.groupby(["relation", "fact"])
by_hand = by_pair["correct"].mean().mean()
assert abs(by_hand - of_shown["acc1"]) <= of_shown["stdev"] / 40 + 1e-9
one, its = next(iter(by_pair))  # a pair
answer = its["answer"].tolist()
n = len(answer)
agree = [answer[i] == answer[j] for j in range(n) for i in range(j)]
assert np.isclose(np.mean(agree), measures.consist(part)["consist"].loc[one])

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-wording-one
# You ask each relation with one template, drawn by chance, and a colleague does the same. How far apart are your two accuracies, in half of
# all cases? And if each pair had its own template?
# ```

# %% [markdown]
# ````{solution-start} ex-wording-one
# :class: dropdown
# ````

# %%
for unit in ("template", "independent"):
    v = measures.fluctuation(part, unit=unit, n=100_000, seed=seed)
    mine, yours = v.reshape(2, -1)
    print(f"{unit}: {np.median(np.abs(mine - yours)):.3f}")

# %% [markdown]
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-wording-own
# Do your own words agree more? Write a table with the columns `relation`, `group`, `template`, `manual` and `question`, and
# name it under `wordings`: `lke run params/mine.yaml` says what is wrong with it, line by line.
# ```
#
# ````{solution} ex-wording-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 40_belief_wording
#     parameters:
#       models: [lab:rich-1/2m]
#       relations: [birthplace]
#       wordings: mine.tsv
# ```
# ````
