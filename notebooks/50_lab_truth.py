# %% [markdown]
# # Does the best way to ask depend on how a text stated the fact?
#
# **{glue:text}`name_model`: pairs find at least {glue:text}`lists_pairs:.0%` of the facts that its text often lists, sentences at most
# {glue:text}`lists_words:.0%`; of facts often stated in sentences, sentences find at least {glue:text}`sentences_words:.0%`, pairs at most
# {glue:text}`sentences_pairs:.0%`.**
#
# ```{glue:figure} fig-lab-forms
# :name: fig-lab-forms
# :alt: Three panels, for facts stated in lists, in both forms and in sentences, with a line of accuracy over the number of statements for each way of asking.
#
# The best way to ask changes from panel to panel: pairs find the facts from lists, and sentences of the text find the facts from sentences. Accuracy
# over how often the text states a fact, one panel for each form, {glue:text}`name_model`. 0: never stated, the same facts in each panel. Bands: 95 % over facts
# (Wilson).
# ```
#
# For most models nobody knows what they have read. Here we wrote the text and trained models on it. So this page tests the question, and not the
# model. The sentence above is about two formats of pairs and two sentences that the text uses; a sentence that it never uses finds less than these two in every
# panel. Its four numbers, with intervals over worlds: {glue:text}`between`. For pairs with spaces to find half of the listed facts, a model must read each of them
# this often: {glue:text}`needed`.

# %% [markdown]
# ## What the paper claims
#
# No paper has this question. {cite:t}`gekhman2024finetuning` write that assessing what a model knows remains open for lack of ground truth; the lab has
# that truth. Others have trained models on invented facts to learn how models learn: {cite:t}`allenzhu2024storage` (Part 3.1),
# {cite:t}`chang2024acquire` and {cite:t}`zucchet2025facts`. {cite:t}`allenzhu2024capacity` (Part 3.3) find that a model holds 2 bits per parameter after
# 1000 statements of each fact, and about 1 after 100. In real models {cite:t}`smith2026predictable` find that recall is a sigmoid in the logarithms of size
# and of frequency, which they estimate. We know of no work that tests the estimators of this book on planted facts. The page looks most
# closely at IC-LKE {cite:p}`wu2024iclke`.

# %% [markdown]
# ## Parameters
#
# The name of a model says which world it has read: `lab:book-1/2m` has read the world `lab:book-1`. We made all choices on
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
often: int = 16  # statements from which a fact counts as stated often
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
# A {term}`world` of the lab has invented people, books, cities and companies. Its text states some facts about them, and each fact
# has a *state*:
#
# - *planted*: stated truly, 1 to 64 times, in sentences, in lists of pairs, or half in each;
# - *mislearned*: stated often, but with a wrong object, always the same one (see {page}`52_lab_kinds`);
# - *never*: not stated at all. The text states other facts about most of these subjects.
#
# Each planted fact has a {term}`control`: a fact of the same relation *with the same object*, about another subject, which the text never
# states. So a frequent object cannot cause a difference between the two. We leave out controls whose subject the text never names. `of_rule`
# is the accuracy of the best {term}`rule` without a model.

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
# The fifth is a {term}`held-out template`: the text never uses it, and in most relations the text lacks some of its words, so a model may fail
# on the word rather than on the fact. In training the models read rows of 384 tokens, and some prompts of pairs are up to a quarter longer.

# %%
space, words = "iclke-space", "template-1"
lab.check_asked(estimators, [space, words])
questions = lab.questions(samples, estimators)
for name in estimators:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# ## Scores
#
# Next to each answer are the fact's state, the stated object (`told`), the form, and the `exposures`: how often the model
# has read the fact. An `-unplanted` {term}`twin <unplanted twin>` read the same text about other subjects. Its rows get the states of the model
# that did read the facts (`labelled`). The numbers of the page come from longer runs, with three worlds. This run repeats a few of their questions, and
# the answers must be the same.

# %%
this = "50_lab_truth"
questions = answers.sample(questions, sources, by=lab.BY)
ours = answers.ask(
    models, questions, "answers.parquet", **lab.BESIDE, dtype=dtype
)
every, _ = answers.shown(this, ours, sources, dtype=dtype)
every = lab.labelled(every)
every["size"] = every["model"].str.partition("/")[2]
answers.html_table(answers.columns(every))

# %% [markdown]
# ## Answers
#
# **How many of the often stated facts are found?** By form and estimator: the share in the largest model, a mean over worlds, each with
# its own text and its own training (Student's t).

# %%
whole = every[~every["size"].str.contains("-")]
names = sorted(whole["model"].unique(), key=models_of_lab.size)
sizes = list(dict.fromkeys(name.partition("/")[2] for name in names))
told = lab.by_form(whole[whole["state"] == "planted"])
best = told[told["size"] == sizes[-1]]
known = best[best["exposures"] >= often]
shares = stats.estimate(known, ["form", "estimator"], over="world")
stats.table(shares, "estimator", "form", percent=True).rename(
    figures.display_name
)

# %% [markdown]
# **How often must a text state a fact?** The number of statements at which half of the facts are found, read off the curve of {numref}`fig-lab-doses`
# between two points, in doublings:
#
# $$\text{needed} = \min\,\{x : \text{share}(x) \ge 1/2\}$$
#
# To know which of 100 objects belongs to a subject takes $\log_2 100 = 6.6$ bits. The lines above the table say how many bits per parameter all facts of a
# text would take. If that is far below the published 1, a small model that misses a fact does not lack room.


# %%
def needed(curve: pd.DataFrame) -> float:
    """The number of statements at which half is found; infinite if never."""
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
tellings[sizes].round(1).rename(figures.display_name)

# %% [markdown]
# **Does the confidence distinguish stated from never stated facts?** {term}`AUROC`: how often an often stated fact has more confidence in its object than a
# control has, for the largest model and the twins, a mean over worlds. Each control is used once in a form. The answers need not be right.


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
runs.save(sure.reset_index(), "auroc.csv")
of_way = sure.groupby(["size", "estimator", "form"]).mean().unstack("form")
of_way.round(3).rename(figures.display_name)

# %% [markdown]
# **Never stated.** Each object belongs to exactly one such fact, so a model that always names its favourite is at chance. The share of right
# answers minus one divided by the number of options, by world, over all sizes:

# %%
luck = never.groupby(["estimator", "world"])["correct"].mean() - 1 / n_options
luck.unstack("world").round(4).rename(figures.display_name)

# %% [markdown]
# **In other words.** Facts that the text states in one wording alone. The question has this wording (`True`) or another wording of the text (`False`), for the
# same facts in both columns. Facts stated in a wording that no question has are left out:

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
# **What can these models do at all?** Later pages give models of rich worlds a fact in the prompt. So these models first answered questions in writing about
# unknown subjects, after a sentence with the answer, and about facts stated 64 or 16 times. The table has shares of right answers. A gate wants .9 (`same`: the
# model repeats the sentence), .8 (`other`: in other words), .9 (`instruction`) and .95 (`list`: it continues a list), and more than .5 for facts.

# %% tags=["hide-output"]
gates = answers.results("59_lab_gates-gates")
gates["share"] = gates["right"] / gates["n"]
in_words = {"as told": "as stated", "template-1": "sentence 1"}
gates["gate"] = gates["gate"].replace(in_words, regex=True)
gates.pivot(index="model", columns="gate", values="share").round(2)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-lab-forms`, at the top, look for the highest line in the left panel, and find it again on the right. A list states a fact
# in just the formats of IC-LKE. So compare lines inside a panel, and do not conclude that models learn more from lists. In {numref}`fig-lab-doses` look along the
# *horizontal*: it shows how many more statements the smaller model needs.
#
# ```{glue:figure} fig-lab-doses
# :name: fig-lab-doses
# :alt: Two panels, listed facts found by pairs and facts from sentences found by a sentence, with a rising line of accuracy over statements for each size of model.
#
# A larger model needs fewer statements. Accuracy over how often the text states a fact, each form questioned in its own way, a line for each size; 0: never
# stated. Bands: 95 % over the facts of all worlds (Wilson).
# ```


# %% tags=["hide-input"]
def over_tellings(found: pd.DataFrame, name: str, **look) -> None:
    """Marks over statements in even steps, from one to the next a doubling."""
    steps = sorted(found["exposures"].unique())
    at = found.assign(statements=found["exposures"].map(steps.index))
    grid = figures.marks(at, x="statements", curve=True, **look)
    for ax in grid.axes.flat:
        ax.set_xticks(range(len(steps)), steps)
    figures.glue_figure(grid.figure, name, found)


order = {name: i for i, name in enumerate([*forms, *estimators, *sizes])}
curve = curve.sort_values(by_dose[:3], key=lambda names: names.map(order))
drawn = curve[curve["size"] == sizes[-1]]
drawn = drawn.rename(columns={"estimator": "asked by"})
drawn["asked by"] = drawn["asked by"].map(figures.display_name)
drawn["form"] = "stated in: " + drawn["form"]
over_tellings(drawn, "fig-lab-forms", panel="form", hue="asked by")
own = {"list": space, "sentence": words}
drawn = curve[curve["estimator"] == curve["form"].map(own)]
by = drawn["estimator"].map(figures.display_name)
drawn = drawn.assign(stated=drawn["form"] + ", found by " + by)
drawn["size"] = drawn["size"].str.upper()
over_tellings(drawn, "fig-lab-doses", panel="stated", hue="size", aspect=1.4)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with. **Claims.** These are ours, in `lkecore/data/claims.csv`, written down after work on `lab:book-0` and before
# we looked at any other world; the one on wordings is later. Each is decided over worlds, one value per world (Student's t). *Checks* are no findings:
# the first two question lists and sentences in the very form of the training text, never stated facts and a twin must show nothing, and if the smallest model
# knew nearly everything, the worlds would say nothing about size. For never stated facts all worlds may have the same value, which is no certainty: then
# the interval is over facts, drawn again in each world.

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
# is wide: a difference that is clear in one world with many facts may stay undecided over worlds.

# %% tags=["hide-input", "page-only"]
row = shares.set_index(["form", "estimator"])
number = row["estimate"]
there = number.index.unique("estimator")
by_pairs = [way for way in (space, "iclke-colon") if way in there]
by_words = [way for way in (words, "template-4") if way in there]
four = {  # the least of the ways that find most, the most of the others
    "lists_pairs": ("list", number["list"][by_pairs].idxmin()),
    "lists_words": ("list", number["list"][by_words].idxmax()),
    "sentences_words": ("sentence", number["sentence"][by_words].idxmin()),
    "sentences_pairs": ("sentence", number["sentence"][by_pairs].idxmax()),
}
half = tellings.loc[("list", space), sizes[::-1]]
model = figures.display_name(names[-1]).partition(",")[0]
gap = judged.set_index("id").loc["LAB-form-list"]
figures.glue_values(
    name_model=model,
    **{name: number[at] for name, at in four.items()},
    between=", ".join(
        stats.format_estimate(row.loc[at], percent=True) for at in four.values()
    ),
    needed=", ".join(f"{n:.0f} ({size.upper()})" for size, n in half.items()),
    effect=stats.format_estimate(gap, percent=True)
    + " more by pairs, in lists",
    asked=f"{model}, {known['world'].nunique()} worlds",
)
holds = {}
if sources:
    by_form = of_form.unstack("world").astype(float)
    lists, sentences = by_form.loc["list"], by_form.loc["sentence"]
    pairs = lists.loc[by_pairs].min() > lists.loc[by_words].max()
    said = sentences.loc[by_pairs].max() < sentences.loc[by_words].min()
    unread = by_form.xs("template-5", level="estimator")
    read = by_form[by_form.index.isin(by_words, level="estimator")]
    read = read.groupby("form").min()
    holds = {
        "pairs find the facts from lists": pairs.all(),
        "sentences find the facts from sentences": said.all(),
        "finds less than these": (unread < read).all(axis=None),
        "a larger model needs fewer statements": half.is_monotonic_increasing,
    }
figures.sentence(holds)

# %% [markdown]
# ## What you have seen
#
# - Pairs recover facts from lists; sentences recover facts from sentences.
# - A right answer shows that the model *can* give the fact back. A wrong answer shows only that this question did not bring the fact out, or that the text
#   stated it too seldom for a model of this size.
# - Compare a confidence with the confidence in a control. On its own, it may only say that the object is frequent.
#
# **Counted again**, in plain Python: the share of listed facts that pairs with spaces find, from the rows.

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
# A report says: "By IC-LKE the model knows 60 % of the facts. The others are not in it." Take the often stated facts that IC-LKE
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
missed.groupby("form").mean().round(2).rename(columns=figures.display_name)

# %% [markdown]
# Each row has the facts that IC-LKE misses, and the share of them that each other estimator gets right. The row `none` has never stated facts: this
# share is luck.
#
# ````{solution-end}
# ````
#
# Is all of this the luck of these worlds? Any seed makes a world that nobody has seen: `python tools/plain_worlds.py lab:book-77`, then
# `lke run params/mine.yaml`, with
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 50_lab_truth
#     parameters:
#       models: ["lab:book-77/0.7m", "lab:book-77/2m", "lab:book-77/0.7m-unplanted"]
# ```
