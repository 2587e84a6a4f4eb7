# %% [markdown]
# # Is a model right as often as it is sure?
#
# **{glue:text}`name_way` {glue:text}`name_shown` is about as sure as it is right, with a mean confidence of {glue:text}`sure:.0%` and an accuracy of
# {glue:text}`right:.0%`, but {glue:text}`name_masked` is surer than right, {glue:text}`masked_sure:.0%` against {glue:text}`masked_right:.0%`.**
#
# ```{glue:figure} fig-sure-bins
# :name: fig-sure-bins
# :alt: A panel for each way of asking, with ten marks for each model at its mean confidence and its accuracy, and a grey diagonal.
#
# The marks of {glue:text}`name_shown` after four examples are near the grey line, on which a model is as sure as it is right; the marks of
# {glue:text}`name_masked` are below it: surer than right (the paper's Figures 1 and 5). A mark is a tenth of the prompts, from the least to the most sure.
# ```
#
# A model that is sure of a wrong answer is worse than a model that hesitates. At a mask, confidence is the probability of the likeliest token. A
# model that writes has no such place: we let it answer a hundred times, by chance, and count how often it repeats its first answer.
#
# These are few answers: {glue:text}`n` of {glue:text}`name_shown`, of which {glue:text}`n_right` are right. Confidence minus accuracy is
# {glue:text}`surplus`. A right answer has more confidence than a wrong one with an AUROC of {glue:text}`auroc` over facts. The lab's
# decoder in the last panel has {glue:text}`n_own` answers, too few to say on which side of the line it is.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` (Sections 2.4, 3.3, 5.2 and 6.2): in all four kinds of examples ({page}`41_belief_contexts`) BERTs are much surer than right,
# Llama2 and Llama3 less sure than right, and Phi3 surer; and the more tokens an answer has, the surer the model is. {cite:t}`kissling2026selfaware` find most
# of 16 models too sure, masked ones above all; the best calibrated confidence takes rephrasings into account.

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
from lkecore.prompts.icl_prompts import KEY, blank_prompts, of_sample
from lkecore.stats import match
from lkecore.stats import wordings as measures

figures.style()

# %% [markdown]
# ## Facts

# %%
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "min_relations": 1}
n_test = max(400, n_facts)
sample = facts.draw(
    fact_set, relations, **size, n_test=n_test, seed=seed, own_seeds=True
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
# A hundred samples take long, so each pair is asked with one template, drawn by chance, and with the same one after each kind of examples. A
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
# First greedily, then by chance from the whole vocabulary, at temperature 1. `confidence` is the share of the samples that are like the
# greedy output: one of the two contains the other. `correct`: a true name is in the greedy output.


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
answers.save(ours, "answers.parquet")
ships = answers.results(this).query("source in @sources")
bert = answers.results("40_belief_wording").query("source == @masked")
bert = bert[bert["model"].str.endswith("bert")].dropna(subset="correct")
mine, masks = ours.assign(source="this run"), bert.assign(context="one mask")
found = pd.concat([mine, ships, masks], ignore_index=True)
found["correct"] = found["correct"].astype(bool)
main = sources[0] if sources else "this run"
answers.html_table(said[["subject", "text", "correct", "confidence"]].head())

# %% tags=["hide-output"]
answers.html_table(answers.columns(found))

# %% [markdown]
# ## Answers
#
# The prompts are put in order of their confidence and divided into ten groups of equal size; then
#
# $$\text{Overconf} = \frac{1}{10} \sum_{i=1}^{10} \left(\text{confidence}_i - \text{accuracy}_i\right).$$
#
# If ten divides the number of prompts, Overconf is mean confidence minus mean accuracy (else the surest groups have one more). Above 0 the model is surer
# than right. Groups that are too sure and groups that are not sure enough cancel, so `gap`, ours, is the mean of the absolute differences. `auroc` says
# how often a right answer has more confidence than a wrong one: 1 always, 0.5 as by chance (rank sums). `surplus` is confidence minus accuracy, mean over
# relations, with an interval over other relations.


# %% covers=["BL-E2"]
def auroc(sure: pd.Series, right: pd.Series) -> float:
    above = sure.rank()[right].mean() - (right.sum() + 1) / 2
    return above / (~right).sum()


unit = ["source", "model", "context"]
rows, tenths = {}, {}
for of, part in found.groupby(unit, sort=False):
    sure, right = part["confidence"], part["correct"]
    row = {"prompts": len(part), "right": right.mean(), "sure": sure.mean()}
    if len(part) >= 10:
        row |= measures.overconf(sure, right).to_dict()
        tenths[of] = measures.calibration(sure, right)
    if right.nunique() == 2:
        row["auroc"] = auroc(sure, right)
    rows[of] = row
table = pd.DataFrame(rows).T.rename_axis(unit)
surplus = found.assign(surplus=found["confidence"] - found["correct"])
surplus = stats.estimate(surplus, unit, value="surplus", bounds=None)
text = surplus.set_index(unit).apply(stats.format_estimate, axis=1)
shown_in = table.round(3).astype({"prompts": int}).assign(surplus=text)
shown_in.rename(figures.display_name, level="model").droplevel("source")

# %% [markdown]
# **Is there an answer at all?** An output whose first token is its end is empty: by definition it is wrong, and like no sample. The table has the share of
# empty outputs, and how sure and right the others are:

# %%
written = found.dropna(subset="n_tokens")
written = written.assign(empty=written["n_tokens"] == 1)
empty = stats.estimate(written, unit, value="empty").set_index(unit)
others = written[~written["empty"]].groupby(unit, sort=False)
others = others.agg(right=("correct", "mean"), sure=("confidence", "mean"))
others = others.round(3).assign(
    empty=empty.apply(stats.format_estimate, axis=1)
)
others.rename(figures.display_name, level="model").droplevel("source")

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
by_length.round(3).rename(figures.display_name, level="model").droplevel(
    "source"
)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-sure-bins`, at the top, follow one colour from left to right: does it rise with the grey line? Then surer answers are more often right.

# %% covers=["BL-F1", "BL-F5"] tags=["hide-input"]
dots = pd.concat(tenths, names=unit).reset_index()
dots["asked"] = dots["model"].map(figures.display_name)
panels = {
    "4-template": "after four examples", "zero-shot": "no examples",
    "one mask": "filling one mask", "none": "continuing a sentence",
}  # fmt: skip
dots["way"] = dots["context"].replace(panels)
order = [name for name in panels.values() if name in set(dots["way"])]
look = {"hue": "asked", "palette": "colorblind", "height": 2.8}
grid = sns.FacetGrid(dots, col="way", col_wrap=2, col_order=order, **look)
grid.map_dataframe(sns.scatterplot, x="confidence", y="accuracy", s=40)
for ax in grid.axes.flat:
    ax.plot([0, 1], [0, 1], color="grey", ls="--", zorder=0)
grid.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), xticks=[0, 0.25, 0.5, 0.75, 1])
grid.set(xticklabels=["0", "", "0.5", "", "1"]).set_titles("{col_name}")
grid.set_axis_labels("mean confidence", "accuracy").add_legend(title="")
grid.figure.subplots_adjust(wspace=0.15, hspace=0.2)
figures.glue_figure(grid.figure, "fig-sure-bins", dots)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Models and facts differ, so no number is comparable with ours. Table 16 has Overconf of the models of Figures 1 and 5, whose curves
# have no numbers. For answers of 1 to 5 tokens, Llama3-8B after four examples in the same words has -.1030, -.0906, -.0297, -.0546 and .0573
# (Section 6.2): longer answers are surer *compared with how often they are right*.

# %% tags=["hide-output"]
printed = papers.table("belief_table16_full_scale")
printed = printed[printed["metric"].isin(["overconf", "average_acc1"])]
printed.pivot(index=["model", "setting"], columns="metric", values="value")

# %% [markdown]
# **Slips.** Equation 2 weighs a group by its size over the number of groups, which would grow with the data; the mean is meant. Overconf of Llama2 and
# Llama3 without examples differs most between Table 3 and Table 16; we take Table 16. The paper says which samples count as the same, and not how they are
# drawn: our reading is at temperature 1, with no part of the vocabulary left out.
#
# **Claims.** One, decided on the answers of {page}`40_belief_wording`, relation by relation: that a masked model is surer than right. Half of these
# facts are in no text; the first line has the other half.

# %%
over = {
    name: measures.overconf(part["confidence"], part["correct"])["overconf"]
    for name, part in bert.groupby("relation")
    if len(part) >= 10
}
over = pd.Series(over, name="gap").rename_axis("relation").reset_index()
over = stats.estimate(over, value="gap", bounds=None)
told = bert.loc[bert["state"] == "planted", ["confidence", "correct"]]
print("stated facts: sure {:.2f}, right {:.2f}".format(*told.mean()))
verdicts = answers.verdicts({"BL-masked-overconfident": over})
columns = ["claim", "model", "estimate", "low", "high", "verdict"]
answers.html_table(verdicts[columns])

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
        "about as sure as it is right": abs(of["sure"] - of["right"]) < 0.03,
        "surer than right": over["low"].iloc[0] > 0,
        "nearly always": of["auroc"] > 0.9,
        "the shortest less": at["high"].iloc[0] < 0,
        "the next two not shown": (at["low"].iloc[1:3] < 0).all(),
        "of the longest none is right": at["right"].iloc[-1] == 0,
        "about half is empty": 0.4 < empty["estimate"].max() < 0.6,
    }
figures.sentence(holds)
alone = found[(found[unit] == [main, shown, way]).all(axis=1)]
rng = np.random.default_rng(seed)
again = [
    alone.sample(frac=1, replace=True, random_state=rng, ignore_index=True)
    for _ in range(1000)
]
again = [auroc(each["confidence"], each["correct"]) for each in again]
low, high = pd.Series(again).quantile([0.025, 0.975])
area = {"estimate": of["auroc"], "low": low, "high": high}
area = stats.format_estimate(pd.Series(area))
row = surplus[(surplus[unit] == [main, shown, way]).all(axis=1)]
ways = {"4-template": "After four examples", "none": "Up to its blank,"}
figures.glue_values(
    name_shown=figures.display_name(shown),
    effect=f"right answers are the surer ones: AUROC {area}",
    asked=f"{figures.display_name(shown)}, {figures.display_name(main)}",
    name_way=ways.get(way, f"With {way},"),
    n=len(alone),
    n_right=int(alone["correct"].sum()),
    n_own=len(mine),
    surplus=stats.format_estimate(row, percent=True),
    auroc=area,
    sure=of["sure"],
    right=of["right"],
    name_masked=figures.display_name(bert["model"].iloc[0]),
    masked_sure=of_bert["sure"],
    masked_right=of_bert["right"],
)

# %% [markdown]
# ## What you have seen
#
# - After four examples the real model is about as often right as it is sure, and a right answer nearly always has more confidence
#   than a wrong one (`auroc`). Without examples about half of its outputs are empty, and the others are neither sure nor right.
# - Its shortest answers are less sure than right. In the paper longer answers are surer; the next two lengths don't show that, and none of the longest
#   is right.
# - The masked model is surer than right in each of ten groups, as the paper's models are, also on facts that its text states.
# - Overconf near 0 may be two mistakes that cancel: `gap` shows them.
#
# Overconf once more: if ten divides the number of prompts, it is one subtraction.

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
# You let the model answer only the half of the questions of which it is surest. How often is it right in this half, and how often in the other half?
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
