# %% [markdown]
# # Does a model know what its smaller, or its tuned, sibling knows?
#
# **As printed, the larger models of all six families are less likely to know a fact if the smaller one knows it; our larger
# models are likelier to: {glue:text}`name_large` has {glue:text}`rate` of what {glue:text}`name_small` has right, and
# {glue:text}`independent` of all that is asked.**
#
# ```{glue:figure} fig-size-eta
# :name: fig-size-eta
# :alt: Two panels of rows with marks between 0 and 1. Left, published and own pairs of a smaller and a larger model; right, pairs of a tuned model and its base. Each rate is joined to a tick for independent answers.
#
# In the six published families on the left each mark is below its tick, and in ours above it. Mark: of the facts that the
# smaller model has right (right panel: the tuned one), the share that the larger one (its base) has, too, mean over relations;
# lines: 95 % over other relations. Tick: what the rate would be if the two had nothing in common. Circles: the paper's Tables 1
# and 10, other models and other facts. Diamonds: this book.
# ```
#
# Does a larger model know what a smaller one knows, and more? Or does each know a part of its own? The {term}`subsumption rate`
# asks this fact by fact, here {glue:text}`between` (95 % over other relations). It says little without a yardstick: a model that
# has 84 % of all facts should have 84 % of *any* facts, those that another model knows among them, if the two have nothing in common.
#
# ```{glue:} carried
# ```

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` compare the smallest and the largest model of six families, and 14 fine-tuned models with their bases
# (Section 4.2.2, Tables 1 and 10, Figures 7, 13 and 15). In our words: a larger model of the same text knows more, but not all that
# a smaller one knows: of that it has 40 to 80 %. A tuned model knows less than its base, and of what it knows the base has 56 to
# 93 %.

# %% [markdown]
# ## Parameters
#
# A family goes from small to large, a tuned pair from base to tuned. The models should differ in this and in nothing else.

# %% tags=["parameters"]
models: list[str] = [
    "lab:book-1/0.15m",
    "lab:book-1/0.7m",
    "lab:book-1/2m",
    "lab:book-1/2m-tuned",
]
# Each from small to large; all must have read the same text.
families: list[list[str]] = [
    ["lab:book-1/0.15m", "lab:book-1/0.7m", "lab:book-1/2m"]
]
# Each a base and what was tuned from it.
tuned: list[list[str]] = [["lab:book-1/2m", "lab:book-1/2m-tuned"]]
fact_set: str = "lab:book-1"
# Empty: all of the fact set.
relations: list[str] = ["author", "birth_year", "first_language", "residence"]
# The page is about the first.
estimators: list[str] = ["iclke-space"]
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects of each fact
n_facts: int = 400  # test facts of each relation; of a lab world, all
n_eic_facts: int = 18  # of these, facts that eiclke asks
n_eic_shots: int = 32  # pairs in a prompt of eiclke; 100 in the paper
n_eic_first: int = 20  # its first question is behind this pair; 50
n_every: int = 2  # and then one after so many pairs; 5 in the paper
results: str = ""  # source in results/ of this run's answers; empty: it asks
n_again: int = 8  # of its questions, for each estimator, are asked again
sources: list[str] = []  # in results/, whose answers count, too
seed: int = 0
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, papers, prompts, runs, stats
from lkecore import models as lms
from lkecore.metrics.overlap import luck

figures.style()

# %% [markdown]
# ## Facts
#
# All models are asked the same facts, behind the same pairs and with the same options. Of a world of the lab all facts are
# asked: we wrote its text, and know which facts it tells.

# %%
lms.check_families(families + tuned, models, fact_set)
in_lab = fact_set.startswith("lab:")
sample = facts.draw(
    fact_set,
    relations,
    n_shots=prompts.pairs_shown(estimators, n_shots),
    n_facts=None if in_lab else n_facts,
    n_options=n_options,
    seed=seed,
)
print({name: len(drawn.facts) for name, drawn in sample.items()})

# %% [markdown]
# ## Prompts
#
# `iclke-space` is the paper's format. A `template` is a sentence; it shows no pair. {term}`EIC-LKE` has many questions in one
# long prompt.

# %%
short = [name for name in estimators if name != "eiclke"]
questions = prompts.of_sample(sample, short)
if "eiclke" in estimators:
    size = {"n_facts": n_eic_facts, "n_shots": n_eic_shots, "every": n_every}
    size |= {"first": n_eic_first, "seed": seed}
    questions |= prompts.slots_of_sample(sample, **size)
for name in short:
    print(f"{name:12}{prompts.example(name, sample)!r}")

# %% [markdown]
# ## Scores
#
# The numbers of this page come from longer runs: two real models on twelve relations of T-REx, and models of three worlds of the
# lab on eight relations each. Of what is asked here some is asked again, to see the machine at work.

# %%
this = "16_iclke_size"
how = {"results": results, "notebook": this, "n_again": n_again}
how |= {"dtype": dtype, "page": page}
ours = answers.ask(models, questions, "answers.parquet", **how)
found = [ours.assign(source="this run", draw=0)]
others = ["10_iclke_relations", "50_lab_truth", "17_iclke_tuned"]
for shipped in map(answers.results, others if sources else []):
    found.append(shipped[shipped["source"].isin(sources)])
found = pd.concat(found, ignore_index=True).query("not draw > 0")
found = found.fillna({"n_options": n_options})  # the lab's runs do not say it
key = ["source", "estimator", "relation", "fact", "n_options"]
names = {name: figures.called(name) for name in found["model"].unique()}
answers.columns(found[["model", *key, "correct"]])

# %% [markdown]
# ## Answers
#
# One frame is enough for both questions: a row for each fact that both models of a pair were asked. `few` says whether the
# smaller (or tuned) model is right, `many` whether the larger one (or the base) is. Where two sources asked the same pair in the
# same way, the one with more relations counts.

# %%
pairs = {(family[0], family[-1]): "size" for family in families}
pairs |= {(model, base): "tuned" for base, model in tuned}
pairs = {two: kind for two, kind in pairs.items() if set(two) <= set(names)}
assert pairs or len(models) == 1, "no pair of families or tuned was asked"
pairs = pairs or {(models[0], models[0]): "size"}  # one run of several
which = ["estimator", "kind", "small", "large"]
both = [(kind, *two) for two, kind in pairs.items()]
right = found[[*key, "model", "correct"]].astype({"correct": float})
few = right.rename(columns={"model": "small", "correct": "few"})
many = right.rename(columns={"model": "large", "correct": "many"})
both = pd.DataFrame(both, columns=which[1:]).merge(few).merge(many)
n = both.groupby([*which, "source"])["relation"].transform("nunique")
both = both[n == n.groupby([both[name] for name in which]).transform("max")]
both.tail()

# %% [markdown]
# **Change and rate** are means over these rows, in each relation, and then over relations, each counted alike:
#
# $$\text{change} = \overline{\text{many} - \text{few}}, \qquad
# \eta = \frac{|\text{both right}|}{|\text{few right}|}
# = \overline{\text{many}}\ \text{where few is right}$$
#
# (the change by tuning is tuned minus base). If the two were right independently of each other, $\eta$ would be the accuracy of
# the larger model, `many`. A relation in which the smaller model has fewer than two facts right has no rate.


# %% covers=["IC-E6"]
def rates(both: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    known = both[both["few"] == 1]
    times = known.groupby([*by, "relation"])["fact"].transform("size")
    means = both.groupby([*by, "relation"])[["few", "many", "chance"]].mean()
    means = means.groupby(by).mean().reset_index()
    return stats.estimate(known[times >= 2], by, value="many").merge(means)


by = [*which, "source"]
gap = (both["many"] - both["few"]) * both["kind"].map({"size": 1, "tuned": -1})
both = both.assign(change=gap, chance=1 / both["n_options"])
change = stats.estimate(both, by, value="change", bounds=None)
main = both[both["estimator"] == estimators[0]]
rate = rates(main, by)
table = rate.replace(names).assign(
    change=rate[by].merge(change).apply(stats.said, axis=1, percent=True),
    rate=rate.apply(stats.said, axis=1, percent=True),
    luck=[float(luck(a, c)) for a, c in rate[["few", "chance"]].to_numpy()],
)
runs.keep(change, "change.csv")
runs.keep(rate, "subsumption.csv")
table[["small", "large", "rate", "many", "luck", "few", "change"]].round(2)

# %% [markdown]
# `luck` is the share of the smaller model's right answers that blind guesses would give. For the smallest models of the lab it is
# about as large as what is missing: little of that need be knowledge. **Does the smaller model know anything that the larger one
# does not?** Of the facts that the larger one misses, `own` are right in the smaller one, and `guesses` would be by blind guesses.

# %%
missed = main[main["many"] == 0].replace(names).groupby(["small", "large"])
missed.agg(
    missed=("few", "size"), own=("few", "sum"), guesses=("chance", "sum")
)

# %% [markdown]
# Not all guesses are blind. A {term}`cue` gives a fact of T-REx away: subject and object share a word, or the pairs that are shown have no
# other option more often. Two models that follow the same cue share a fact without knowing it. Here is the rate on facts without a cue.

# %%
cues = answers.results("10_iclke_relations-cues")
plain = cues[~(cues["cue_word"] | cues["cue_frequent"])]
plain = main.merge(plain[["source", "relation", "fact"]])
rates(plain, which[2:]).replace(names).round(2) if len(plain) else None

# %% [markdown]
# **What tuning changes**, by way of asking. If a tuned model had only lost the habit of reading lists of pairs, a sentence
# (`template`) would show a smaller change. `eiclke` was asked little. Below it, folded, each relation of this run.

# %%
ways = change[change["kind"] == "tuned"]
ways = ways.assign(change=ways.apply(stats.said, axis=1))
ways.pivot(index="estimator", columns="small", values="change").fillna("")

# %% covers=["IC-F7", "IC-F13", "IC-F15"] tags=["hide-output"]
some = found[found["estimator"].isin([estimators[0], "eiclke"])]
some = some[some["relation"].isin(list(sample))]
some = some.pivot_table("correct", ["estimator", "model"], "relation").round(2)
some if "eiclke" in some.index else None

# %% [markdown]
# **What is printed.** All six rates of Table 1, and three of Table 10, are *below* the accuracy of the larger model: as if a model were
# less likely to know a fact because another one, of the same text, knows it. We see three ways out. A relation of which the smaller
# model knows nothing may have been counted as a rate of 0. Rates and accuracies may come from different runs (Table 7 has some
# of these accuracies again, up to 0.04 away). Or what is printed is the share of the *larger* model's facts that the smaller one has.
# Its yardstick is the accuracy of the smaller one, and all nineteen rates are above that (`turned`).

# %% covers=["IC-T1", "IC-T10"]
called = {"smallest_model": "small", "finetuned_model": "small"}
called |= {"largest_model": "large", "base_model": "large"}
called |= {"smallest_accuracy": "few", "finetuned_accuracy": "few"}
called |= {"largest_accuracy": "many", "base_accuracy": "many"}
size = papers.table("iclke_table1_subsumption").assign(kind="size")
tuning = papers.table("iclke_table10_finetuned_subsumption").assign(
    kind="tuned"
)
printed = [each.rename(columns=called) for each in (size, tuning)]
printed = pd.concat(printed)[["kind", "small", "large", "few", "many", "eta"]]
printed["below"] = printed["eta"] < printed["many"]
printed["turned"] = printed["eta"] > printed["few"]
printed.groupby("kind")[["below", "turned"]].agg(["sum", "size"])

# %% [markdown]
# ## Figure
#
# What to see in {numref}`fig-size-eta`: on which side of its tick a mark is. The ticks differ from pair to pair, so the places of
# marks alone say little.


# %% tags=["hide-input"]
mine = rate.replace(names).assign(eta=rate["estimate"], who="this book")
drawn = pd.concat([printed.assign(who="published"), mine])
drawn["at"] = drawn.groupby("kind").cumcount()
fig, axes = plt.subplots(1, 2, figsize=(10, 7), layout="constrained")
for ax, (kind, part) in zip(axes, drawn.groupby("kind"), strict=True):
    ax.hlines(part["at"], part["eta"], part["many"], color="0.8")
    ax.plot(part["many"], part["at"], "k|", ms=12, label="if independent")
    for who, mark in {"published": "C0o", "this book": "C1D"}.items():
        some = part[part["who"] == who]
        ax.hlines(some["at"], some["low"], some["high"], color=mark[:2])
        ax.plot(some["eta"], some["at"], mark, label=who)
    labels = part["small"] + "\nin " + part["large"]
    ax.set_yticks(part["at"], labels, fontsize=8)
    ax.set(xlim=(0, 1.02), ylim=(len(part), -1), xlabel=f"rate ({kind})")
marks = axes[0].get_legend_handles_labels()
fig.legend(*marks, loc="outside upper center", ncols=3)
figures.place(fig, "fig-size-eta", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** A printed rate is reproduced or differs only where a run asks the same two models the paper's facts, with as many pairs and
# options: `params/iclke_paper.yaml`. Its rows would be here.

# %%
hub = papers.table("iclke_table6_model_names").set_index("model")["hf_id"]
same = printed.replace({"small": hub, "large": hub}).merge(rate, on=which[2:])
same["inside"] = same["eta"].between(same["low"], same["high"])
same if len(same) else None

# %% [markdown]
# **Claims.** Those about size are decided on the pair of real models; those about tuning, of which no real pair was asked, on all worlds of
# the lab, one value a world. *Tuned in the lab* means: by our own recipe, on instructions about other words, which is likely to be harsher
# than the tuning of a chat model. It shows that the page can see a loss, and says nothing of chat models. What the lab
# says on size is one line above the table.


# %%
def decided(rows: pd.DataFrame, bounds: tuple | None = None) -> pd.DataFrame:
    if len(rows) > 1:
        rows = rows.rename(columns={"small": "world"})
        over = {"value": "estimate", "over": "world", "bounds": bounds}
        rows = stats.estimate(rows, ["estimator"], **over)
    rows = rows.dropna(subset=["low"])
    return rows if sources else rows.assign(decided_on="this run")


changed = rate[by].merge(change)
size, after = (rate["kind"] == kind for kind in ("size", "tuned"))
claims = {
    "IC-larger-more": decided(changed[size][:1]),
    "IC-subsumption": decided(rate[size][:1]),
    "IC-tuned-lower": decided(changed[after]),
    "IC-tuned-subsumption": decided(rate[after], (0, 1)),
}
for each in (decided(changed[size][1:]), decided(rate[size][1:], (0, 1))):
    print("other families:", *each.apply(stats.said, axis=1, percent=True))
judged = answers.verdicts({key: row for key, row in claims.items() if len(row)})
judged[["claim", "decided_on", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
lead, below = rate.iloc[0], printed.groupby("kind")["below"].sum()
assert (below["size"], below["tuned"], len(printed)) == (6, 3, 19), (
    "less likely"
)
assert printed["turned"].all(), "all nineteen are above"
assert (rate[size]["low"] > rate[size]["many"]).all(), "ours are likelier"
figures.findings(
    name_large=names[lead["large"]],
    name_small=names[lead["small"]],
    rate=f"{lead['estimate']:.0%}".replace("%", " %"),
    independent=f"{lead['many']:.0%}".replace("%", " %"),
    between=stats.said(lead, percent=True),
)
figures.note("carried", answers.carried(ours))

# %% [markdown]
# **Look at some of it.** Twenty questions, with the five options that the last model of the run finds likeliest and how much of its
# confidence each has.

# %% tags=["hide-output", "page-only"]
some = questions[estimators[0], next(iter(sample))]
None if page else answers.words(answers.likeliest(models[-1], some))

# %% [markdown]
# ## What you have seen
#
# - A rate means nothing without its yardstick, the accuracy of the larger model. The published rates are on the wrong side of it.
# - What is missing below 1 has four possible reasons: other knowledge, blind luck, a good guess, and a model that does not even agree
#   with itself.
# - Size and tuning are one question: which of two models has what the other one has?

# %%
lead = rate.iloc[0]
hits = found[found["correct"] & found["estimator"].eq(lead["estimator"])]
shares = []
for _, part in hits[hits["source"] == lead["source"]].groupby("relation"):
    small = set(part.loc[part["model"] == lead["small"], "fact"])
    large = set(part.loc[part["model"] == lead["large"], "fact"])
    shares += [len(small & large) / len(small)] if len(small) > 1 else []
assert abs(sum(shares) / len(shares) - lead["estimate"]) < 1e-9
asked = (
    found[["source", "estimator"]].eq(lead[["source", "estimator"]]).all(axis=1)
)
means = found[asked].pivot_table("correct", "relation", "model").mean()
gap = means[lead["large"]] - means[lead["small"]]
assert abs(gap - changed.iloc[0]["estimate"]) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-size-itself
# Which rate does a model have with itself, if it is asked a second time with a colon inside the pairs?
# ```

# %% [markdown]
# ````{solution-start} ex-size-itself
# :class: dropdown
# ````

# %%
twice = found.pivot_table(
    "correct", ["source", "model", "relation", "fact"], "estimator"
)
if "iclke-colon" in twice:
    again = twice[twice[estimators[0]] == 1]["iclke-colon"].dropna()
    again = again.groupby(["model", "relation"]).mean()
    print(again.groupby("model").mean().round(2).to_string())

# %% [markdown]
# A model asked in two ways does not have all of its own facts again. So a rate below 1 between two models need not be other knowledge.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-size-told
# Are the facts that only the smaller model has facts that the text told often? (Of a world of the lab we know.)
# ```

# %% [markdown]
# ````{solution-start} ex-size-told
# :class: dropdown
# ````

# %%
told = found.reindex(columns=[*key, "model", "state", "exposures"])
told = told[told["state"].notna() & (told["state"] != "mislearned")]
told = main.merge(told.rename(columns={"model": "large"}))
told = told[(told["few"] == 1) & (told["kind"] == "size")]
told["times"] = pd.cut(told["exposures"], [-1, 0, 4, 15, 64])
told.groupby("times", observed=True)["many"].agg(["mean", "size"]).round(2)

# %% [markdown]
# `times` is how often the text told a fact, `size` how many of these the smaller models have right, and `mean` the share of them that the
# larger ones have, too. Of facts that no text told, both know nothing: what the smaller one has there is luck, and pulls the rate down.
#
# ````{solution-end}
# ````
#
# To compare models of your own, put this into `params/mine.yaml`, then run `lke run params/mine.yaml`. With `sources: []` the numbers of
# the page are those of your run.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 16_iclke_size
#     parameters:
#       models: ["lab:book-2/0.15m", "lab:book-2/2m"]
#       families: [["lab:book-2/0.15m", "lab:book-2/2m"]]
#       tuned: []
#       fact_set: lab:book-2
#       sources: []
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
