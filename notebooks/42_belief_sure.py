# %% [markdown]
# # Is it right as often as it is sure?
#
# **{glue:text}`name_shown`, {glue:text}`name_way`, is on average {glue:text}`sure:.0%` sure of what it says and right {glue:text}`right:.0%` of
# the time, while a model that fills blanks ({glue:text}`name_masked`) is {glue:text}`masked_sure:.0%` sure and right
# {glue:text}`masked_right:.0%` of the time.**
#
# ```{glue:figure} fig-sure-bins
# :name: fig-sure-bins
# :alt: A panel for each way of asking, with ten marks for each model at its mean confidence and its accuracy, and a grey diagonal.
#
# Above the grey line a model is more often right than it is sure, below it surer than right (the paper's Figures 1 and 5). A mark is a
# tenth of the prompts, from the least to the most sure.
# ```
#
# A model that is sure of what is wrong is worse than one that hesitates. At a mask, confidence is the probability of the likeliest token. A
# model that writes has no such place: we let it answer a hundred times, by chance, and count how often it says what it says first.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` (Sections 2.4, 3.3, 5.2 and 6.2): BERTs are much surer than right, Llama2 and Llama3 less sure than right, in all four
# kinds of examples ({page}`41_belief_contexts`), Phi3 surer; and the more tokens an answer has, the surer the model is.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]
fact_set: str = "lab:rich-1"
relations: list[str] = []  # none: all
wordings: str = ""  # table of templates; empty: the fact set's own, or ours
contexts: list[str] = ["none"]  # or zero-shot, 4-template: with a mask
n_facts: int = 3  # pairs of each relation, with one prompt each
n_samples: int = 100  # outputs of each, at temperature 1
sources: list[str] = []  # in results/, of the numbers; none: this run
masked: str = "belief_lab"  # of page 40's, for a model that fills blanks
seed: int = 0
dtype: str = "float32"

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
import seaborn as sns

from lkecore import answers, facts, figures, papers, stats
from lkecore.facts import wordings as words
from lkecore.facts.fact import text_digest
from lkecore.prompts.contexts import KEY, blank_prompts, of_sample
from lkecore.stats import match
from lkecore.stats import wordings as measures

figures.style()

# %% [markdown]
# ## Facts

# %%
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "least": 1}
n_test = max(400, n_facts)
sample = facts.draw(
    fact_set, relations, **size, n_test=n_test, seed=seed, apart=True
)
sample = words.pairs(words.onto(sample, wordings)[0])
true = {
    (name, fact.id): fact.true_names
    for name, of in sample.items()
    for fact in of.facts
}
print(f"{len(true)} pairs of {len(sample)} relations")

# %% [markdown]
# ## Prompts
#
# A hundred samples are dear, so each pair is asked with one template, drawn by chance, and behind each kind of examples with the same one. A
# model of the lab never saw a mask: it gets a sentence up to its blank (`none`), and ends with a full stop.

# %%
every = {}
for context in contexts:
    if context == "none":  # a sentence up to its blank, to be continued
        plain = blank_prompts(sample, closed=False)
        every |= {(context, r, 0, *k): some for (r, *k), some in plain.items()}
    else:
        every |= of_sample(sample, [context])[0]
its = pd.DataFrame(list(every), columns=KEY)  # the templates to choose of
its = its.groupby(["context", "relation"])["template"].unique()


def drawn(context: str, relation: str, fact: str) -> int:
    there = sorted(its[context, relation])
    return there[int(text_digest(seed, relation, fact)[:12], 16) % len(there)]


questions = {}
for key, some in every.items():
    kept = [q for q in some if drawn(*key[:2], q.fact) == key[3]]
    if kept and key[4] == 0:  # by the first name
        questions[key] = kept
first = next(iter(questions.values()))[0]
print(f"{sum(map(len, questions.values())):,} prompts, such as")
print(first.context + " ____")

# %% [markdown]
# ## Scores
#
# First greedily, then by chance from the whole vocabulary, at temperature 1. `confidence` is the share of the samples that are alike with the
# greedy output: one of both holds the other. `correct`: a true name is in the greedy output.


# %% covers=["BL-S6"]
def read(said: pd.DataFrame) -> pd.DataFrame:
    both = said[["relation", "fact", "text"]].to_numpy()
    right = [any(match.holds(t, n) for n in true[r, f]) for r, f, t in both]
    return said.assign(correct=right, one_word=said["text"].map(match.one_word))


this = "42_belief_sure"
said = answers.write(
    models,
    questions,
    "written.parquet",
    max_new_tokens=10,
    stop="." if contexts == ["none"] else "\n",
    n_samples=n_samples,
    seed=seed,
    same=match.alike,
    by=KEY,
    reading=read,
    dtype=dtype,
)
key = ["model", *KEY, "fact"]
measured = ["correct", "confidence", "logprob", "n_tokens", "one_word"]
ours = said[[*key, *measured]]  # without any text, so that it may ship
answers.keep(ours, "answers.parquet")
ships = answers.results(this).query("source in @sources")
bert = answers.results("40_belief_wording").query("source == @masked")
bert = bert[bert["model"].str.endswith("bert")].dropna(subset="correct")
mine, masks = ours.assign(source="this run"), bert.assign(context="one mask")
found = pd.concat([mine, ships, masks], ignore_index=True)
found["correct"] = found["correct"].astype(bool)
main = sources[0] if sources else "this run"
answers.words(said[["subject", "text", "correct", "confidence"]].head())

# %% tags=["hide-output"]
answers.words(answers.columns(found))

# %% [markdown]
# ## Answers
#
# The prompts are put in order of their confidence and divided into ten groups of one size; then
#
# $$\text{Overconf} = \frac{1}{10} \sum_{i=1}^{10} \left(\text{confidence}_i - \text{accuracy}_i\right).$$
#
# Where ten divides the number of prompts, that is mean confidence minus mean accuracy (else the surest groups have one more): above 0 the model is surer
# than right. Groups that are too sure and groups that are not sure enough cancel, so `gap`, ours, is the mean of the absolute differences. `auroc` says whether a right answer has more confidence than a wrong
# one: 1 always, 0.5 as by chance (rank sums). `surplus` is confidence minus accuracy, mean over relations, with an interval for others.

# %% covers=["BL-E2"]
unit = ["source", "model", "context"]
rows, tenths = {}, {}
for of, part in found.groupby(unit, sort=False):
    sure, right = part["confidence"], part["correct"]
    row = {"prompts": len(part), "right": right.mean(), "sure": sure.mean()}
    if len(part) >= 10:
        row |= measures.overconf(sure, right).to_dict()
        tenths[of] = measures.calibration(sure, right)
    if right.nunique() == 2:
        above = sure.rank()[right].mean() - (right.sum() + 1) / 2
        row["auroc"] = above / (~right).sum()
    rows[of] = row
table = pd.DataFrame(rows).T.rename_axis(unit)
surplus = found.assign(surplus=found["confidence"] - found["correct"])
surplus = stats.estimate(surplus, unit, value="surplus", bounds=None)
text = surplus.set_index(unit).apply(stats.said, axis=1)
table.round(3).astype({"prompts": int}).assign(surplus=text)

# %% [markdown]
# **Is there an answer at all?** An output whose first token is its end is empty: it is wrong, and like no sample, by definition. How many are, and how sure
# and right the others are:

# %%
written = found.dropna(subset="n_tokens")
written = written.assign(empty=written["n_tokens"] == 1)
empty = stats.estimate(written, unit, value="empty").set_index(unit)
others = written[~written["empty"]].groupby(unit, sort=False)
others = others.agg(right=("correct", "mean"), sure=("confidence", "mean"))
others.round(3).assign(empty=empty.apply(stats.said, axis=1))

# %% [markdown]
# **How long is the answer?** Here confidence is the exact probability of the whole output, its end included, and outputs are divided by
# how many tokens they have, a full stop being one. A long output is improbable by its length alone, right or wrong.

# %% covers=["BL-X2"]
spoken = found[found["logprob"].notna() & found["n_tokens"].between(2, 6)]
spoken = spoken.assign(p=np.exp(spoken["logprob"].clip(upper=0)))
spoken["tokens"] = spoken["n_tokens"].astype(int) - 1  # and its end
mean = {"n": ("p", "size"), "probability": ("p", "mean")}
by_length = spoken.groupby([*unit, "tokens"])
by_length = by_length.agg(**mean, right=("correct", "mean"))
by_length["overconf"] = by_length["probability"] - by_length["right"]
gaps = spoken.assign(gap=spoken["p"] - spoken["correct"])
gaps = gaps.drop(columns="relation")  # most have a few facts of one length
if len(gaps):
    how = {"value": "gap", "over": "fact", "bounds": None, "seed": seed}
    at = stats.estimate(gaps, [*unit, "tokens"], **how)
    at = at.set_index([*unit, "tokens"])
    by_length = by_length.join(at[["low", "high"]])
by_length.round(3)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-sure-bins`, at the top, follow one colour from left to right: does it rise with the grey line, that is, are surer answers more
# often right?

# %% covers=["BL-F1", "BL-F5"] tags=["hide-input"]
dots = pd.concat(tenths, names=unit).reset_index()
dots["asked"] = dots["model"].map(figures.called)
look = {"hue": "asked", "palette": "colorblind", "height": 2.6}
grid = sns.FacetGrid(dots, col="context", col_wrap=2, **look)
grid.map_dataframe(sns.lineplot, x="confidence", y="accuracy", marker="o")
for ax in grid.axes.flat:
    ax.plot([0, 1], [0, 1], color="grey", ls="--", zorder=0)
grid.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=[0, 0.5, 1])
grid.set_titles("{col_name}")
grid.set_axis_labels("mean confidence", "accuracy").add_legend(title="")
figures.place(grid.figure, "fig-sure-bins", dots)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Models and facts differ, so no number is comparable with ours. Table 16 has Overconf of the models of Figures 1 and 5, whose curves
# have no numbers. By 1 to 5 tokens Llama3-8B, behind four examples in the same words, has -.1030, -.0906, -.0297, -.0546 and .0573
# (Section 6.2): longer answers are surer *compared with how often they are right*.

# %% tags=["hide-output"]
printed = papers.table("belief_table16_full_scale")
printed = printed[printed["metric"].isin(["overconf", "average_acc1"])]
printed.pivot(index=["model", "setting"], columns="metric", values="value")

# %% [markdown]
# **Slips.** Equation 2 weighs a group by its size over the number of groups, which would grow with the data; the mean is meant. Overconf of Llama2 and
# Llama3 without examples differs most between Table 3 and Table 16, which we take. Which samples count as the same is said, how they are drawn is
# not: at temperature 1, with no part of the vocabulary left out, is our reading.
#
# **Claims.** One, decided on the answers of {page}`40_belief_wording`, relation by relation: that a masked model is surer than right. Half of
# those facts no text told; the first line has those that it told.

# %%
over = {
    name: measures.overconf(part["confidence"], part["correct"])["overconf"]
    for name, part in bert.groupby("relation")
    if len(part) >= 10
}
over = pd.Series(over, name="gap").rename_axis("relation").reset_index()
over = stats.estimate(over, value="gap", bounds=None)
told = bert.loc[bert["state"] == "planted", ["confidence", "correct"]]
print("told: sure {:.2f}, right {:.2f}".format(*told.mean()))
verdicts = answers.verdicts({"BL-masked-overconfident": over})
columns = ["claim", "model", "estimate", "low", "high", "verdict"]
answers.words(verdicts[columns])

# %% tags=["hide-input", "page-only"]
its = table.loc[main]
shown, way = max(its.index, key=lambda at: at[1] == "4-template")
of, of_bert = its.loc[(shown, way)], table.loc[masked].iloc[-1]
every = tenths[masked, bert["model"].iloc[0], "one mask"]
holds = {}
if sources:  # of a few questions these need not hold
    at = by_length.loc[(main, shown, way)]
    holds = {
        "in each of ten": (every["confidence"] > every["accuracy"]).all(),
        "also on told": told["confidence"].mean() > told["correct"].mean(),
        "about as often": abs(of["sure"] - of["right"]) < 0.03,
        "nearly always": of["auroc"] > 0.9,
        "the shortest less": at["high"].iloc[0] < 0,
        "the next two not shown": (at["low"].iloc[1:3] < 0).all(),
        "of the longest none is right": at["right"].iloc[-1] == 0,
        "about half is empty": 0.4 < empty["estimate"].max() < 0.6,
    }
figures.sentence(holds)
ways = {"4-template": "behind four examples", "none": "alone"}
figures.findings(
    name_shown=figures.called(shown),
    effect=f"right answers are the surer ones: AUROC {of['auroc']:.2f}",
    asked=f"{figures.called(shown)}, {figures.called(main)}",
    name_way=ways.get(way, way),
    sure=of["sure"],
    right=of["right"],
    name_masked=figures.called(bert["model"].iloc[0]),
    masked_sure=of_bert["sure"],
    masked_right=of_bert["right"],
)

# %% [markdown]
# ## What you have seen
#
# - Behind four examples the real model is about as often right as it is sure, and a right answer has nearly always more confidence
#   than a wrong one (`auroc`). Without examples about half of its outputs are empty, and the others are neither sure nor right.
# - Its shortest answers are less sure than right. That longer ones are surer, as in the paper, the next two lengths don't show; of the longest none is right.
# - The masked model is surer than right in each of ten groups, as the paper's are, also on facts that its text tells.
# - Overconf near 0 may be two mistakes that cancel: `gap` sees them.
#
# Overconf once more: where ten divides the number of prompts, it is one subtraction.

# %%
part = ours.iloc[: len(ours) // 10 * 10]
if len(part):
    sure, right = part["confidence"], part["correct"]
    by_hand = sure.mean() - right.mean()
    assert np.isclose(by_hand, measures.overconf(sure, right)["overconf"])

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-sure-half
# You let the model answer only where it is surest, in half of the cases. How often is it right there, and how often in the other half?
# ```

# %% [markdown]
# ````{solution-start} ex-sure-half
# :class: dropdown
# ````

# %%
place = found.groupby(unit)["confidence"].rank(pct=True, method="first")
half = found.assign(half=np.where(place > 0.5, "surer", "less sure"))
half.groupby([*unit, "half"])["correct"].mean().unstack().round(3)

# %% [markdown]
# ````{solution-end}
# ````
