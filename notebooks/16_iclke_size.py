# %% [markdown]
# # Does a larger model know what a smaller one knows?
#
# **In the paper's six families a larger model knows its smaller sibling's facts less often than chance predicts, in ours more often, such
# as {glue:text}`rate:.0%` against {glue:text}`independent:.0%` for {glue:text}`name_large`.**
#
# ```{glue:figure} fig-size-eta
# :name: fig-size-eta
# :alt: Two panels of rows with marks between 0 and 1. Left, published and own pairs of a smaller and a larger model; right, pairs of a tuned model and its base. Each rate is joined to a tick for independent answers.
#
# On the left, the mark is below its tick in the six published families, and above it in ours. Mark: the share of the smaller model's right answers
# (right panel: the tuned model's) that the larger one (its base) also has right, mean over relations;
# lines: 95 % over other relations. Tick: the rate if the two were right independently of each other. Circles: the
# paper's Tables 1 and 10, other models and other facts. Diamonds: this book.
# ```
#
# Does a larger model know everything that a smaller one knows, and more? Or does each know a part of its own? The {term}`subsumption rate`
# answers this fact by fact: {glue:text}`between` for {glue:text}`name_small` and its larger sibling (95 % over other relations). The rate needs a
# yardstick: a model that has most facts right has most of *any* facts right, also of those that another model knows, if the two are right
# independently of each other. Here the rate is above this yardstick by {glue:text}`above`, in percentage points. The published rates are
# below it, which is odd; *What is printed*, below, has a possible reason: the rates may have been turned round.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` compare the smallest and the largest model of six families, and 14 fine-tuned models with their bases
# (Section 4.2.2, Tables 1 and 10, Figures 7, 13 and 15; Table 10 leaves out Falcon's, so it prints 13 rates). In our words: a larger model with the
# same text knows more, but only 40 to 80 % of the facts that a smaller one knows. A tuned model knows less than its base, and the base has 56 to
# 93 % of its facts.

# %% [markdown]
# ## Parameters
#
# A family goes from small to large, a tuned pair from base to tuned. The models should differ in this and in nothing else.

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/0.15m", "lab:book-1/2m", "lab:book-1/2m-tuned"]
# Each from small to large; all must have read the same text.
families: list[list[str]] = [["lab:book-1/0.15m", "lab:book-1/2m"]]
# Each a base and what was tuned from it.
tuned: list[list[str]] = [["lab:book-1/2m", "lab:book-1/2m-tuned"]]
fact_set: str = "lab:book-1"
# Empty: all of the fact set.
relations: list[str] = ["author", "birth_year", "first_language", "residence"]
# The page is about the first one.
estimators: list[str] = ["iclke-space"]
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects of each fact
n_facts: int = 400  # test facts of each relation; of a lab world, all
n_eic_facts: int = 18  # as many of these for eiclke
n_eic_shots: int = 32  # pairs in a prompt of eiclke; paper: 100
n_eic_first: int = 20  # its first question comes after so many; 50
n_every: int = 2  # and then one after so many pairs; 5 in the paper
sources: list[str] = []  # in results/, for the numbers; none: this run
seed: int = 0
dtype: str = "float32"

# %% tags=["hide-input"]
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, papers, prompts, runs, stats
from lkecore import models as lms
from lkecore.answers import rules

figures.style()

# %% [markdown]
# ## Facts
#
# All models get the same facts, after the same pairs and with the same options. *The lab* is our own: small models that
# have read nothing but a text that we wrote about a made-up *world*. For a world we use all facts.

# %%
lms.check_families(families + tuned, models, fact_set)
numbers = {
    "n_facts": None if fact_set.startswith("lab:") else n_facts,
    "n_shots": prompts.pairs_shown(estimators, n_shots),
    "n_options": n_options,
}
sample = facts.draw(fact_set, relations, **numbers, seed=seed, allow_fewer=True)
print(facts.fewer(sample, **numbers))
print({name: len(drawn.facts) for name, drawn in sample.items()})

# %% [markdown]
# ## Prompts
#
# `iclke-space` is the paper's format. A `template` is a sentence, without any pair. {term}`EIC-LKE` has many questions in one
# long prompt.

# %%
short = [name for name in estimators if name != "eiclke"]
questions = prompts.of_sample(sample, short)
if "eiclke" in estimators:
    questions |= prompts.slots_of_sample(
        sample,
        n_facts=n_eic_facts,
        n_shots=n_eic_shots,
        first=n_eic_first,
        every=n_every,
        seed=seed,
    )
for name in short:
    print(f"{name:12}{prompts.example(name, sample)!r}")

# %% [markdown]
# ## Scores
#
# The numbers of this page come from longer runs: two real models on relations of T-REx and of KAMEL, and models of three worlds of
# the lab on eight relations each. This run repeats a sample of the questions, to check the stored answers.

# %%
asked = answers.sample(questions, sources, 8)
ours = answers.ask(models, asked, "answers.parquet", dtype=dtype)
found, _ = answers.shown("16_iclke_size", ours, sources, dtype=dtype)
found = found[found["estimator"].isin(estimators)]
if sources:
    others = ["10_iclke_relations", "50_lab_truth", "17_iclke_tuned"]
    found = [found, *map(answers.results, others)]
    found = pd.concat(found, ignore_index=True)
    # The first draw of examples; most runs have no other and don't say so.
    found = found[found["source"].isin(sources) & ~found["draw"].gt(0)]
found = found.fillna({"n_options": n_options})  # the lab's runs do not say it
key = ["source", "estimator", "relation", "fact", "n_options"]
names = {name: figures.display_name(name) for name in found["model"].unique()}
answers.columns(found[["model", *key, "correct"]])

# %% [markdown]
# ## Answers
#
# One frame is enough for both questions. It has a row for each fact that both models of a pair were tested on, and says whether the smaller (or
# tuned) one, `small`, and the larger one (or the base), `large`, is right. If several sources have the same two models with the
# same prompts, we take the source with most relations, then the one with most facts, then the last by name.

# %% tags=["page-only"]
pairs = [("size", family[0], family[-1]) for family in families]
pairs += [("tuned", model, base) for base, model in tuned]
pairs = [pair for pair in pairs if {*pair[1:]} <= names.keys()]
assert pairs, "of no family and no tuned model both were asked"
which = ["estimator", "kind", "small", "large"]
by = [*which, "source"]
right = found.drop_duplicates([*key, "model"])  # pages share a source
right = right[[*key, "model", "correct"]].astype({"correct": float})
small = right.rename(columns={"model": "small", "correct": "small_right"})
large = right.rename(columns={"model": "large", "correct": "large_right"})
both = pd.DataFrame(pairs, columns=which[1:]).merge(small, on="small")
both = both.merge(large, on=["large", *key])
most = both.groupby(by)["relation"].agg(["nunique", "size"]).reset_index()
most = most.sort_values(["nunique", "size", "source"]).groupby(which).tail(1)
both = both.merge(most[by], on=by)

# %% [markdown]
# **Change and rate** are means over these rows in each relation, and then over relations, each counted alike; the interval is
# Student's t over relations (`stats.estimate`). The change is larger minus smaller, or tuned minus base, over all relations. The rate,
#
# $$\eta = \frac{|\text{both right}|}{|\text{small right}|}
# = \overline{\text{large right}}\ \text{if small is right,}$$
#
# needs a relation in which the smaller model has two facts right or more. If the two were right independently of each other, $\eta$
# would be the accuracy of the larger model. So `above` is $\eta$ minus this accuracy, in the same relations.


# %% covers=["IC-E6"] tags=["page-only"]
shares = ["small_right", "large_right", "chance"]


def each_rate(both: pd.DataFrame) -> pd.DataFrame:
    known = both.assign(eta=both["large_right"].where(both["small_right"] == 1))
    rows = known.groupby([*by, "relation"], sort=False)
    rows = rows[["eta", *shares]].mean()[rows["eta"].count() >= 2].reset_index()
    return rows.assign(above=rows["eta"] - rows["large_right"])


def percent(rows: pd.DataFrame) -> list[str]:
    return [
        stats.format_estimate(row, percent=True) for _, row in rows.iterrows()
    ]


gap = both["large_right"] - both["small_right"]
gap = gap.where(both["kind"] == "size", -gap)
both = both.assign(change=gap, chance=1 / both["n_options"])
change = stats.estimate(both, by, value="change", bounds=None)
main = both[both["estimator"] == estimators[0]]
each = each_rate(main)
means = each.groupby(by)[shares].mean().reset_index()
rate = stats.estimate(each, by, value="eta").merge(means, on=by)
above = stats.estimate(each, by, value="above", bounds=None)
changed = rate[by].merge(change, on=by)
wrong = 1 / rate["small_right"] - 1  # for each right answer
luck = 100 * (wrong * rate["chance"] / (1 - rate["chance"])).clip(upper=1)
table = rate[["small", "large"]].replace(names)
table = table.assign(rate=percent(rate), above=percent(above))
table = table.assign(luck=luck.map("{:.0f} %".format))
runs.save(change, "change.csv")
runs.save(rate.merge(above, on=by, suffixes=("", "_above")), "subsumption.csv")
table.assign(change=percent(changed))

# %% [markdown]
# `luck` is the share of the smaller model's right answers that blind guesses would give. For the smallest models of the lab it is
# about as large as the share that the larger model lacks: little of that share need be knowledge.

# %% [markdown]
# Not all guesses are blind. A {term}`cue` gives a fact away: subject and object share a word, or the pairs
# show no other option more often. Two models that follow the same cue share a fact without knowing it. On facts
# without a cue, `above` is this large (the lab's longer runs record no cues); for the real models it is still above 0.

# %% tags=["page-only"]
cues = rules.cues(sample, kept=False).assign(source="this run")
if sources:
    cues = answers.results("10_iclke_relations-cues")
plain = cues[~(cues["cue_word"] | cues["cue_frequent"])]
plain = plain[["source", "relation", "fact"]].drop_duplicates()
plain = each_rate(main.merge(plain, on=["source", "relation", "fact"]))
if len(plain):
    plain = stats.estimate(plain, by, value="above", bounds=None)
    print(*plain["small"].map(names) + ": " + percent(plain), sep="\n")

# %% [markdown]
# **What tuning changes**, by type of prompt. If a tuned model had only lost the habit of reading lists of pairs, a sentence
# would show a smaller change. EIC-LKE has few facts of one world. Below, folded: the accuracy of each model
# of this run in each relation.

# %% tags=["page-only"]
ways = change[change["kind"] == "tuned"]
ways = ways.assign(change=percent(ways), small=ways["small"].map(names))
ways = ways.pivot(index="estimator", columns="small", values="change")
ways.fillna("").rename(figures.display_name)

# %% covers=["IC-F7", "IC-F13", "IC-F15"] tags=["hide-output"]
mine = found[found["model"].isin(models) & found["relation"].isin(sample)]
mine = mine.pivot_table("correct", ["estimator", "model"], "relation")
mine.round(2).rename(figures.display_name)

# %% [markdown]
# **What is printed.** All six rates of Table 1, and three of Table 10, are *below* the accuracy of the larger model: as if a model were
# less likely to know a fact because another model with the same text knows it. We see three possible reasons. A relation in which the smaller
# model knows nothing may have been counted as a rate of 0. Rates and accuracies may come from different runs (Table 7 has some
# of these accuracies again, up to 0.04 away). Or the printed rate is the share of the *larger* model's facts that the smaller one has.
# The yardstick of that share is the accuracy of the smaller model, and all nineteen rates are above it (`turned`).

# %% covers=["IC-T1", "IC-T10"]
columns = {"smallest|finetuned": "small", "largest|base": "large"}
columns |= {"_model": "", "_accuracy": "_right"}
size = papers.table("iclke_table1_subsumption").assign(kind="size")
tuning = papers.table("iclke_table10_finetuned_subsumption")
printed = [size, tuning.assign(kind="tuned")]
for one in printed:
    one.columns = one.columns.to_series().replace(columns, regex=True)
printed = pd.concat(printed)
printed["below"] = printed["eta"] < printed["large_right"]
printed["turned"] = printed["eta"] > printed["small_right"]
printed.groupby("kind")[["below", "turned"]].agg(["sum", "size"])

# %% [markdown]
# ## Figure
#
# In {numref}`fig-size-eta`, look at the side of the tick on which a mark is. The ticks differ from pair to pair, so the places of
# marks alone say little.


# %% tags=["hide-input", "page-only"]
own = rate.replace(names).assign(eta=rate["estimate"], who="this book")
drawn = pd.concat([printed.assign(who="published"), own])
drawn["at"] = drawn.groupby("kind").cumcount()
KINDS = {"size": "rate, smaller in larger", "tuned": "rate, tuned in base"}
fig, axes = plt.subplots(1, 2, figsize=(10, 8), layout="constrained")
for ax, (kind, part) in zip(axes, drawn.groupby("kind"), strict=True):
    at, tick = part["at"], part["large_right"]
    ax.hlines(at, part["eta"], tick, color="0.8")
    ax.plot(tick, at, "k|", ms=12, label="if independent")
    for who, mark in {"published": "C0o", "this book": "C1D"}.items():
        some = part[part["who"] == who]
        ax.hlines(some["at"], some["low"], some["high"], color=mark[:2])
        ax.plot(some["eta"], some["at"], mark, label=who)
    ax.set_yticks(at, part["small"] + "\nin " + part["large"], fontsize=9)
    ax.set(xlim=(0, 1.02), ylim=(len(part), -1), xlabel=KINDS[kind])
marks = axes[0].get_legend_handles_labels()
fig.legend(*marks, loc="outside upper center", ncols=3)
figures.glue_figure(fig, "fig-size-eta", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Claims.** Claims about size are decided on the first family, two real models. Claims about tuning are decided
# on all worlds of the lab, one value per world, since no real pair was tested. *Tuned in the lab* means: by our own recipe, on instructions about other
# words, which is probably harsher than the tuning of a chat model. It shows that the page can see a loss, and says nothing about chat models. The
# lab's results on size are in the table of rates.


# %% tags=["page-only"]
def decided(rows: pd.DataFrame) -> pd.DataFrame:
    on = {"decided_on": ", ".join({*rows["source"]})}
    on["model"] = ", ".join([*rows["small"], *rows["large"]])
    if len(rows) > 1:
        rows = rows.rename(columns={"small": "world", "estimate": "of"})
        rows = stats.estimate(rows, value="of", over="world", bounds=None)
    shipped = on["decided_on"] in ("sizes_kamel", "lab")  # as the claims say
    return rows if shipped else rows.assign(**on)


kind, *pair = pairs[0]  # the example in the sentence at the top
leads = rate[which[1:]].eq(pd.Series(pairs[0], which[1:])).all(axis=1)
first, after = leads & (kind == "size"), rate["kind"] == "tuned"
claims = {
    "IC-larger-more": decided(changed[first]),
    "IC-subsumption": decided(rate[first]),
    "IC-tuned-lower": decided(changed[after]),
    "IC-tuned-subsumption": decided(rate[after]),
}
judged = answers.verdicts({key: row for key, row in claims.items() if len(row)})
judged[["claim", "decided_on", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
lead = rate[leads].squeeze()
below = printed.groupby("kind")["below"].agg(["sum", "size"]).to_numpy()
no_cue = plain[plain["source"] == "sizes_kamel"]  # the real models
holds = {
    "in all six families fewer": below.tolist() == [[6, 6], [3, 13]],
    "all nineteen are above": printed["turned"].all(),
    "in all of ours more": (above[rate["kind"] == "size"]["low"] > 0).all(),
    "still above 0": not len(no_cue) or (no_cue["low"] > 0).all(),
}
figures.sentence(holds)
figures.glue_values(
    name_large=names[pair[1]],
    name_small=names[pair[0]],
    rate=lead["estimate"],
    independent=lead["large_right"],
    between=stats.format_estimate(lead, percent=True),
    above=stats.format_estimate(above[leads], percent=True),
)

# %% [markdown]
# **Look at some answers.** Twenty questions, with the five options that the last model of the run finds likeliest, and the
# confidence in each.

# %% tags=["hide-output", "page-only"]
some = questions[estimators[0], next(iter(sample))]
answers.html_table(answers.likeliest(models[-1], some, dtype=dtype))

# %% [markdown]
# ## What you have seen
#
# - A rate means nothing without its yardstick, the accuracy of the larger model. The published rates are on the wrong side of it.
# - A rate below 1 has four possible reasons: other knowledge, blind luck, a good guess, and a model that does not even agree
#   with itself.
# - Size and tuning are one question: which of two models has the other's facts?

# %% [markdown]
# **Counted again**, with sets of facts instead of the frame: how far the rate of the first pair of models is above its yardstick.

# %% tags=["page-only"]
asked = found[found["source"].eq(lead["source"]) & found["model"].isin(pair)]
asked = asked[asked["estimator"].eq(estimators[0])]
counted = []
for _, part in asked.groupby("relation"):
    hits = part[part["correct"].eq(True)]
    small, large = (set(hits[hits["model"] == name]["fact"]) for name in pair)
    if len(small) > 1:
        rest = len(large) / part["fact"].nunique()
        counted.append(len(small & large) / len(small) - rest)
said = above[leads]["estimate"].item()
assert abs(sum(counted) / len(counted) - said) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-size-itself
# Which rate does a model have with itself, if its second prompt has a colon inside the pairs? (In percent.)
# ```

# %% [markdown]
# ````{solution-start} ex-size-itself
# :class: dropdown
# ````

# %% tags=["page-only"]
key = ["source", "model", "relation", "fact"]
twice = found.pivot_table("correct", key, "estimator")
if "iclke-colon" in twice:
    again = twice[twice[estimators[0]] == 1].dropna(subset=["iclke-colon"])
    again = again.groupby(["model", "relation"])["iclke-colon"].mean()
    again = again.groupby("model").mean().mul(100).round()
    print(again.rename(figures.display_name).to_string())

# %% [markdown]
# With two prompts a model does not have all of its own facts again. So a rate below 1 between two models need not be other knowledge.
#
# ````{solution-end}
# ````
#
# To compare models of your own, put this into `params/mine.yaml`, then run `python tools/plain_worlds.py lab:book-2`, which makes the text for their
# training, and `lke run params/mine.yaml`. With `sources: []` the numbers of the page are from your run.
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
