# %% [markdown]
# # Does an estimator find what a model was told?
#
# **Of the facts that its text told often in lists, {glue:text}`name_model` gives back {glue:text}`lists_pairs:.0%` asked by pairs and
# {glue:text}`lists_words:.0%` asked in a sentence; of those told in sentences it is {glue:text}`sentences_pairs:.0%` and
# {glue:text}`sentences_words:.0%`.**
#
# ```{glue:figure} fig-lab-forms
# :name: fig-lab-forms
# :alt: Three panels, for facts told in lists, in both forms and in sentences, with a line of accuracy over tellings for each way of asking.
#
# Who is on top changes from lists to sentences: pairs find what lists told, sentences of the text what sentences told. Accuracy over how often the text
# told a fact, a panel for each form of telling, largest model. 0: never told, the same facts in each panel. Bands: 95 % over facts (Wilson).
# ```
#
# Of most models nobody knows what they have read. Here we wrote the text, and trained models on it. So this page does not ask what
# a model knows, it asks how good the asking is. Over the worlds that were asked, the four numbers of the sentence are
# {glue:text}`between`. To find half of what stood in lists, the models need so many tellings: {glue:text}`needed`.

# %% [markdown]
# ## What the paper claims
#
# No paper has this question. Others have trained models on invented facts to learn how models learn: {cite:t}`allenzhu2024storage` (Part 3.1),
# {cite:t}`chang2024acquire` and {cite:t}`zucchet2025facts`. {cite:t}`allenzhu2024capacity` (Part 3.3) find that a model holds 2 bits a parameter after
# 1000 tellings of a fact, and about 1 after 100. We know of no work that judges the estimators of this book by planted facts. The one that we look at most
# is IC-LKE, of {cite:t}`wu2024iclke`.

# %% [markdown]
# ## Parameters
#
# The name of a model says which world it has read: `lab:book-1/2m` has read the world `lab:book-1`. Choices were made by looking at
# another world, `lab:book-0`.

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/2m"]  # each names the world that it has read
estimators: list[str] = [
    "iclke-space",
    "iclke-colon",
    "template-1",
    "template-4",
    "template-5",
]  # the first and the third are needed
# Empty: all of the world.
relations: list[str] = ["author", "birth_year", "first_language", "residence"]
n_shots: int = 50  # pairs shown before the question, for IC-LKE
n_options: int = 100  # candidate objects; must be all of a relation
often: int = 16  # tellings from which a fact counts as told often
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws shots, order of options and controls
dtype: str = "float32"

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, figures, prompts, runs, stats
from lkecore.answers import lab, rules, truth
from lkecore.models import lab as models_of_lab

figures.style()

# %% [markdown]
# ## Facts
#
# A {term}`world` of the lab has invented people, books, cities and companies. Its text tells some facts about them, and each
# has a *state*:
#
# - *planted*: told as it is, 1 to 64 times, in sentences, in lists of pairs, or half in both;
# - *mislearned*: told often, but with a wrong object, always the same one ({page}`52_lab_kinds` asks about these);
# - *never*: not told at all. The text tells other facts about most of these subjects.
#
# Each planted fact has a {term}`control`: a fact of the same relation *with the same object*, about another subject, which the text never
# tells. So a frequent object cannot make the difference between the two. Controls whose subject the text never names are left out. `of_rule`
# is what the best {term}`rule <rule>` without a model gets.

# %%
samples = lab.samples(
    models, relations, n_shots=n_shots, n_options=n_options, seed=seed
)
asked = lab.asked_of(samples)
fair = len(lab.fairly_compared(asked))
print(f"{fair} of {asked['state'].eq('planted').sum()}", end=" ")
print("planted facts have a fair control")
print(rules.of_worlds(samples).round(3).to_string(index=False))
pd.crosstab([asked["state"], asked["form"]], asked["occurrences"])

# %% [markdown]
# ## Prompts
#
# IC-LKE shows pairs, in one of two formats; the text has lists in both. The templates show no pair. The first and the fourth, a question, are in the text.
# The fifth is a {term}`held-out template`: the text never has it, and in most relations not even all of its words, so that a miss may be one of a word.
# The models read rows of 384 tokens, and some prompts of pairs are longer, by up to a quarter.

# %%
space, words = "iclke-space", "template-1"
lab.check_asked(estimators, [space, words])
questions = lab.questions(samples, estimators)
for name in estimators:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# ## Scores
#
# Beside each answer is what the text told of the fact: its state, the told object, the form, and the `exposures`, how often the model
# has met it. An `-unplanted` {term}`twin <unplanted twin>` read the same text, told of other subjects. Its rows get the states of the model
# that was told (`labelled`). What this run asks shows the machine at work, and must be what another run of these models was answered; the
# numbers of the page are of longer runs, with three worlds.

# %%
this = "50_lab_truth"
questions = answers.sample(questions, sources, by=lab.BY)
ours = answers.ask(
    models, questions, "answers.parquet", **lab.BESIDE, dtype=dtype
)
every, _ = answers.shown(this, ours, sources, dtype=dtype)
every = lab.labelled(every)
every["size"] = every["model"].str.partition("/")[2]
answers.words(answers.columns(every))

# %% [markdown]
# ## Answers
#
# **How many of the facts told often are found?** By form and way of asking: the share in the largest model, a mean over worlds, each with
# its own text and its own training (Student's t).

# %%
whole = every[~every["size"].str.contains("-")]
names = sorted(whole["model"].unique(), key=models_of_lab.size)
sizes = list(dict.fromkeys(name.partition("/")[2] for name in names))
told = lab.by_form(whole[whole["state"] == "planted"])
best = told[told["size"] == sizes[-1]]
known = best[best["exposures"] >= often]
shares = stats.estimate(known, ["form", "estimator"], over="world")
stats.table(shares, "estimator", "form", percent=True)

# %% [markdown]
# **How often must it be told?** The number of tellings at which half of the facts is found, read off the curve of {numref}`fig-lab-doses`
# between two doses, in doublings:
#
# $$\text{needed} = \min\,\{x : \text{share}(x) \ge 1/2\}$$
#
# To know which of 100 objects belongs to a subject takes $\log_2 100 = 6.6$ bits. Above the table is what all facts of a text would take, in bits for each
# parameter. Where that is far below the published 1, a small model that misses a fact hardly does so for want of room.


# %%
def needed(curve: pd.DataFrame) -> float:
    """The number of tellings at which half is found; infinite if never."""
    found, doses = curve["estimate"].cummax(), np.log2(curve["exposures"])
    return 2 ** np.interp(0.5, found, doses, right=np.inf)


full = answers.results("51_lab_scaling").groupby("model")["parameters"]
n_told = lab.states(["lab:book-1"])["told"].ne("").sum()
print((n_told * np.log2(100) / full.first()).round(2).to_string())
never = whole[whole["state"] == "never"]
forms = lab.forms_of(told)
doses = pd.concat([told, *(never.assign(form=form) for form in forms)])
by_dose = ["form", "estimator", "size", "exposures"]
curve = stats.estimate(doses, by_dose, over="share")
curve = curve.sort_values("exposures", kind="stable")
above = curve[curve["exposures"] > 0].groupby(by_dose[:3])
tellings = above[["exposures", "estimate"]].apply(needed).unstack("size")
tellings[sizes].round(1)

# %% [markdown]
# **Is a told fact known from one that never was?** {term}`AUROC`: how often a fact told often has more confidence in its object than a
# control, for the largest model and the twins, a mean over worlds. Each control is used once in a form. No answer need be right for it.


# %%
def auroc(part: pd.DataFrame) -> float:
    both = part["confidence_gold"], part["control"]
    return stats.auroc(*both, n=1).loc[0, "auroc"]


twins = every["size"].str.endswith("-unplanted")
some = every[twins | every["size"].eq(sizes[-1])]
pairs = lab.planted_pairs(some[some["state"] != "mislearned"])
once = pairs[pairs["exposures"] >= often]
once = truth.each_control_once(once, ["form"], seed=seed)
sure = once.groupby(["world", "size", "estimator", "form"])
sure = sure[["confidence_gold", "control"]].apply(auroc).rename("auroc")
runs.keep(sure.reset_index(), "auroc.csv")
sure.groupby(["size", "estimator", "form"]).mean().unstack("form").round(3)

# %% [markdown]
# **Never told.** Each object is that of exactly one such fact, so that a model that always names its favourite gets what chance gets. The share of right
# answers minus one in the number of options, by world, over all sizes:

# %%
luck = never.groupby(["estimator", "world"])["correct"].mean() - 1 / n_options
luck.unstack("world").round(4)

# %% [markdown]
# **In other words.** Facts that sentences of one wording alone tell, asked in it (`True`) and in another wording of the text (`False`), the same facts in
# both columns. Facts told in a wording that was not asked are left out:

# %%
own = lab.states(known["world"].unique())[["world", "fact", "templates"]]
one = known[known["form"].eq("sentence") & known["wording"].eq("one")]
one = one.merge(own, on=["world", "fact"])  # each has one template
one["own"] = one["estimator"].eq("template-" + one["templates"])
seen = ["template-1", "template-2", "template-3", "template-4"]
one = one[one["estimator"].isin(seen)].astype({"correct": float})
ways = one.groupby(["world", "fact", "own"])["correct"].mean().unstack()
ways = ways.reindex(columns=[True, False])
both = ways.dropna()
print(f"{len(both)} of {len(ways)} facts")
ways = both.groupby("world").mean()
ways.round(3)

# %% [markdown]
# **What can models do at all?** Those of rich worlds, which later pages tell facts in a prompt, were asked about strangers first, and about
# facts told 64 or 16 times: shares of right answers in writing. A gate asks for .9 (`same`: repeats a statement), .8 (`other`: in other words),
# .9 (`instruction`) and .95 (`list`: goes on with one), and of facts for more than .5.

# %% tags=["hide-output"]
gates = answers.results("59_lab_gates-gates")
gates["share"] = gates["right"] / gates["n"]
gates.pivot(index="model", columns="gate", values="share").round(2)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-lab-forms`, at the top, look for the line that is on top in the left panel, and find it again on the right. A list tells a fact
# in just the formats of IC-LKE: so compare lines inside a panel, and do not conclude that lists teach more. In {numref}`fig-lab-doses` look along the
# *horizontal*: so many more tellings does the smaller model need.
#
# ```{glue:figure} fig-lab-doses
# :name: fig-lab-doses
# :alt: Two panels, lists asked by pairs and sentences asked in a sentence, with a rising line of accuracy over tellings for each size of model.
#
# A larger model needs fewer tellings. Accuracy over how often the text told a fact, each form asked in its own way, a line for each size; 0: never
# told. Bands: 95 % over the facts of all worlds (Wilson).
# ```


# %% tags=["hide-input"]
def over_tellings(found: pd.DataFrame, name: str, **look) -> None:
    """Marks over tellings in even steps, from one to the next a doubling."""
    steps = sorted(found["exposures"].unique())
    at = found.assign(tellings=found["exposures"].map(steps.index))
    grid = figures.marks(at, x="tellings", curve=True, **look)
    for ax in grid.axes.flat:
        ax.set_xticks(range(len(steps)), steps)
    figures.place(grid.figure, name, found)


order = {name: i for i, name in enumerate([*forms, *estimators, *sizes])}
curve = curve.sort_values(by_dose[:3], key=lambda names: names.map(order))
drawn = curve[curve["size"] == sizes[-1]]
drawn = drawn.rename(columns={"estimator": "asked by"})
over_tellings(drawn, "fig-lab-forms", panel="form", hue="asked by")
own = {"list": space, "sentence": words}
drawn = curve[curve["estimator"] == curve["form"].map(own)]
drawn = drawn.assign(told=drawn["form"] + ", " + drawn["estimator"])
over_tellings(drawn, "fig-lab-doses", panel="told", hue="size", aspect=1.4)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with. **Claims.** Ours, in `lkecore/data/claims.csv`, written down after work on `lab:book-0` and before any
# other world was looked at; the one on wordings is later. Each is decided over worlds, one value a world (Student's t). *Checks* are no findings:
# list and sentence are asked in the very form that was trained, facts never told and a twin must show nothing, and were the smallest model to know
# nearly all, the worlds would say nothing of size. All worlds have one value of the facts that were never told, which is no certainty: there the
# interval is one over facts, drawn again in each world.

# %%
of_form = known.groupby(["form", "estimator", "world"])["correct"].mean()
listed = told[told["form"].eq("list") & told["estimator"].eq(space)]
at_16 = listed[listed["exposures"] == 16].groupby(["size", "world"])
at_16 = at_16["correct"].mean()
rising = listed[listed["size"] == sizes[-1]]
few, many = rising["exposures"] <= 4, rising["exposures"] >= 16
rises = rising[many].groupby("world")["correct"].mean()
rises -= rising[few].groupby("world")["correct"].mean()
told_of_others = pairs[pairs["size"].str.endswith("-unplanted")]
told_of_others = told_of_others[told_of_others["estimator"] == space]
lot = truth.each_control_once(told_of_others, [], seed=seed)
twin = pd.Series({of: auroc(part) for of, part in lot.groupby("world")})
by_world = {
    "LAB-list-auroc": sure.xs((sizes[-1], space, "list"), level=[1, 2, 3]),
    "LAB-form-list": of_form["list", space] - of_form["list", words],
    "LAB-form-sentence": of_form["sentence", words]
    - of_form["sentence", space],
    "LAB-transfer": ways[True] - ways[False],
    "LAB-never-chance": luck[space],
    "LAB-unplanted": twin - 0.5,
    "LAB-exposures-rise": rises,
    "LAB-size-rises": at_16[sizes[-1]] - at_16[sizes[0]],
    "LAB-size-room": at_16[sizes[0]],
}
if len(sizes) == 1:
    del by_world["LAB-size-rises"]
over = {"over": "world", "value": "value"}
bounds = {"LAB-list-auroc": (0, 1), "LAB-size-room": (0, 1)}
tested = {
    claim: values.rename("value").rename_axis("world").dropna().reset_index()
    for claim, values in by_world.items()
}
found = {
    of: stats.estimate(it, bounds=bounds.get(of), **over)
    for of, it in tested.items()
    if len(it)
}
if luck[space].nunique() == 1 < len(luck[space]):  # over facts instead
    one = never[never["estimator"] == space]
    one = one.assign(value=one["correct"] - 1 / n_options)
    look = over | {"over": "fact", "bounds": (-1, 1), "seed": seed}
    found["LAB-never-chance"] = stats.estimate(one, **look)
judged = answers.verdicts(found)
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% [markdown]
# Two warnings. The models are far smaller than those that people use, and their text is far more regular. And with three worlds an interval
# is wide: what a single one shows with many facts may stay undecided over worlds.

# %% tags=["hide-input", "page-only"]
row = shares.set_index(["form", "estimator"])
four = [(form, way) for form in ("list", "sentence") for way in (space, words)]
number = row["estimate"]
half = tellings.loc[("list", space), sizes[::-1]]
model = figures.called(names[-1]).partition(",")[0]
gap = judged.set_index("id").loc["LAB-form-list"]
figures.findings(
    name_model=model,
    lists_pairs=number["list", space],
    lists_words=number["list", words],
    sentences_pairs=number["sentence", space],
    sentences_words=number["sentence", words],
    between=", ".join(row.loc[four].apply(stats.said, axis=1, percent=True)),
    needed=", ".join(f"{n:.0f} ({size.upper()})" for size, n in half.items()),
    effect=stats.said(gap, percent=True) + " between the ways, in lists",
    asked=f"{model}, {known['world'].nunique()} worlds",
)
holds = {}
if sources:
    by_form = of_form.unstack("world").astype(float)
    lists, sentences = by_form.loc["list"], by_form.loc["sentence"]
    by_pairs = [space, "iclke-colon"]
    by_words = [words, "template-4"]
    pairs = lists.loc[by_pairs].min() > lists.loc[by_words].max()
    said = sentences.loc[by_pairs].max() < sentences.loc[by_words].min()
    holds = {
        "pairs find what lists told": pairs.all(),
        "sentences find what sentences told": said.all(),
        "larger ones need fewer tellings": half.is_monotonic_increasing,
    }
figures.sentence(holds)

# %% [markdown]
# ## What you have seen
#
# - An estimator finds facts in the form in which it asks. So ask with pairs for a fact from lists, and in words for one from sentences.
# - One that is right has shown that the model *can* give the fact back. One that is wrong has shown no more than that it did not come out
#   this way; or it was told too seldom for this size.
# - A confidence means something compared with that in a control. Alone, it may be that of a frequent object.
#
# **Counted again**, in plain Python: the first number of the sentence, from the rows.

# %%
hits: dict[str, list[bool]] = {}
columns = ["world", "size", "state", "form", "estimator", "exposures"]
for *at, n, right in every[[*columns, "correct"]].to_numpy():
    if at[1:] == [sizes[-1], "planted", "list", space] and n >= often:
        hits.setdefault(at[0], []).append(right)
again = sum(sum(some) / len(some) for some in hits.values()) / len(hits)
found = shares.query("form == 'list' and estimator == @space")
assert abs(found["estimate"].item() - again) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-truth-missed
# A report says: "By IC-LKE the model knows 60 % of the facts. The others are not in it." Take the facts told often that IC-LKE
# misses here. How many of them does another estimator find?
# ```

# %% [markdown]
# ````{solution-start} ex-truth-missed
# :class: dropdown
# ````

# %%
both = pd.concat([known, never[never["size"] == sizes[-1]]])
key = ["form", "world", "fact"]
missed = both.pivot(index=key, columns="estimator", values="correct")
missed = missed[~missed[space].astype(bool)].drop(columns=space).astype(bool)
missed["any other"] = missed.any(axis=1)
missed.groupby("form").mean().round(2)

# %% [markdown]
# Each row has the facts that IC-LKE misses, and the share of them that each other estimator gets right. The row `none` has facts that were never
# told: so much is luck.
#
# ````{solution-end}
# ````
#
# Is all of this the luck of these worlds? Any number makes a world that nobody has seen: `python tools/plain_worlds.py lab:book-77`, then
# `lke run params/mine.yaml`, with
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 50_lab_truth
#     parameters:
#       models: ["lab:book-77/0.7m", "lab:book-77/2m", "lab:book-77/0.7m-unplanted"]
# ```
