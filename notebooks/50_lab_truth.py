# %% [markdown]
# # Does an estimator find what a model was told?
#
# Of most models nobody knows what they have read. Here we wrote the text, and trained models on it. So this page does not
# ask what a model knows, it asks how good the asking is.
#
# **What came out.** {glue:text}`lists` {glue:text}`words` {glue:text}`sure` {glue:text}`nothing`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-lab-forms
# :name: fig-lab-forms
# :alt: Panels side by side, for facts told in lists, in both forms and in sentences, with a line of accuracy over exposures for each estimator.
#
# Accuracy of each estimator over how often the text told a fact, by the form in which it was told, for the reference
# model. 0 exposures: never told, the same facts in each panel. Vertical lines: 95 % intervals (Wilson). Dotted: chance
# among the options.
# ```
#
# Afterwards you will be able to say
#
# - which estimator finds facts that a text told in lists, and which finds those that it told in sentences,
# - how well the confidence tells a fact that was told from one that never was.
#
# {doc}`58_lab_found` asks the same in a less kind world.

# %% [markdown]
# ## What the paper claims
#
# No paper stands behind this page. Others have trained models on invented facts to learn how models learn:
# {cite:t}`allenzhu2024storage` (Part 3.1), {cite:t}`allenzhu2024capacity` (Part 3.3), {cite:t}`chang2024acquire` and
# {cite:t}`zucchet2025facts`. We know of no work that judges the estimators of this book by planted facts. The claims
# are ours. The estimator that we look at most is IC-LKE, of {cite:t}`wu2024iclke`.

# %% [markdown]
# ## Parameters
#
# The name of a model says which world it has read: `lab:book-1/2m` has read the world `lab:book-1`. Choices were made by
# looking at another world, `lab:book-0`.

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/2m"]  # each names the world that it has read
estimators: list[str] = [
    "iclke-space",
    "iclke-colon",
    "template-1",
    "template-4",
    "template-5",
]  # the first, the third and the last are needed
# Empty: all of the world.
relations: list[str] = ["author", "birth_year", "first_language", "residence"]
n_shots: int = 50  # pairs shown before the question, for IC-LKE
n_options: int = 100  # candidate objects; must be all of a relation
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each estimator, are asked again
seed: int = 0  # draws shots, order of options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import answers, figures, prompts, runs
from lkecore.answers import lab, rules, told, transfer

figures.style()

# %% [markdown]
# ## Facts
#
# A {term}`world` of the lab has invented people, books, cities and companies. Its text tells some facts about
# them. Some are kept for the shots. The others are asked, all of them, and each of those has a *state*:
#
# - *planted*: told as it is, 1 to 64 times, in sentences, in lists of pairs, or half in both;
# - *mislearned*: told often, but with a wrong object, always the same one ({doc}`55_lab_writing` asks about these);
# - *never*: not told at all. The text tells other facts about most of these subjects.
#
# The table counts them, by how often one reading of the text tells them. Along a curve, the facts change too. In the last line
# `of_rule` is what the best {term}`rule <rule>` without a model gets of all of them.

# %%
drawn = {"n_shots": n_shots, "n_options": n_options, "seed": seed}
samples = lab.samples(models, relations, **drawn)
asked = lab.asked_of(samples)
fair = lab.fairly_compared(asked)
print(f"{len(fair)} of {asked['state'].eq('planted').sum()}", end=" ")
print("planted facts have a fair control")
print(rules.of_worlds(samples).round(3).to_string(index=False))
counts = pd.crosstab([asked["state"], asked["form"]], asked["occurrences"])
answers.words(counts.rename_axis(columns=None).reset_index())

# %% [markdown]
# **Controls.** A model may be sure of an object because it was told the fact, or because the object comes up
# everywhere. To tell these apart, the world holds a matched {term}`control` for each planted fact: a fact of
# the same relation *with the same object*, about another subject, which the text never tells. What a model is surer of
# for the told subject is not due to a frequent object. What remains is the telling: of this pair, and of other facts that
# make the told subject the more familiar name.
#
# A confidence may rise with any name that is known. So wherever this page compares confidences, it leaves out the facts
# whose control is about a subject that the text never names.

# %% [markdown]
# ## Prompts
#
# IC-LKE shows pairs, in one of two formats. The text has lists in both. The templates show no
# pair. The first and the fourth, which is a question, stand in the text. The fifth is a {term}`held-out template`: the
# text never has it, and in most relations not even all of its words.
#
# The models were trained on rows of 384 tokens, and some prompts of IC-LKE are longer, by up to a quarter. A miss of
# IC-LKE there may be one of length.

# %%
space, seen, unseen = "iclke-space", "template-1", "template-5"
lab.check_asked(estimators, [space, seen, unseen])
questions = lab.questions(samples, estimators)
for name in estimators:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# ## Scores
#
# Beside each answer stands what the text told of the fact: its state, the told object, the form, and the `exposures`,
# how often this model has met it.
#
# An `-unplanted` model is a {term}`negative control`: it read the same text, but told of other subjects. Its rows get the
# states that its planted twin has (`labelled`). The *reference* is the largest model that read the true text.

# %%
this = "50_lab_truth"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= lab.BESIDE | {"dtype": dtype, "page": page}
ours = answers.ask(models, questions, "answers.parquet", **source)
every = lab.labelled(ours)
forms, reference = lab.forms_of(every), lab.reference(models)
print(f"{len(ours):,} questions, {n_options} options each")
print(f"reference: {reference}")

# %% [markdown]
# ## Answers
#
# Where one number must do, we put facts with 16 exposures and more together, and those with fewer. **Accuracy** by form
# and exposures is in {numref}`fig-lab-forms`.

# %%
curve = told.by_exposures(every)
runs.keep(curve, "accuracy-by-exposures.csv")
known = lab.known_of(every)
mine = known[known["model"] == reference]
share = answers.accuracy(mine, ["form", "estimator"])
share = share.set_index(["form", "estimator"])["accuracy"]

# %% [markdown]
# **AUROC** of the confidence in the gold option: how often a told fact has more of it than a control. One half
# means that the two cannot be told apart, 1 that every told fact lies above every control. No answer need be right. The
# intervals draw pairs of a fact and its control again. Where all told facts lie above all controls the interval has no
# width, which is no certainty. Inside a group each control is used once.
#
# The table has the paper's format for all models and the other estimators for the reference. The line above it counts
# the groups whose whole interval lies under one half. Chance brings one in forty.

# %%
pairs = lab.planted_pairs(every[every["state"] != "mislearned"])
aurocs = told.aurocs(pairs, seed=seed)
runs.keep(answers.bounds(aurocs, "auroc"), "auroc.csv")
summed = aurocs[aurocs["exposures"].isin(lab.TIMES)]
some = summed["estimator"].eq(space) | summed["model"].eq(reference)
index = ["model", "estimator", "exposures"]
shown = answers.texts(summed[some]).pivot(
    index=index, columns="form", values="auroc"
)
below = sum(found.high < 0.5 for found in summed["auroc"])
print(f"{below} of {len(summed)} groups lie below one half")
answers.words(shown[forms].rename_axis(columns=None).reset_index())

# %% [markdown]
# **Never told.** Each object is that of exactly one such fact, so a model that always names its favourite object gets
# exactly what chance gets. The models are pooled: each fact counts with its mean over them. `above` is the share of right
# answers minus the chance of a guess, with an interval over facts. {doc}`55_lab_writing` tests each model on its own.

# %%
never = every[every["state"] == "never"].assign(luck=1 / n_options)
above = told.above_luck(never, ["estimator"], seed=seed)
print(answers.texts(above, 3).to_string(index=False))

# %% [markdown]
# **Another wording.** Does a fact come out in other words than those that told it? The text has four templates of each
# relation, and tells some facts in one of them alone. The first two rows are the fair test: the *same* facts, asked in
# their wording, and in another one that the text has for other facts. Rows with *new words* are none: who was never
# taught a word must miss what is asked with it.

# %%
in_sentences = mine[mine["form"] == "sentence"]
by_words = transfer.shares(in_sentences)
runs.keep(answers.bounds(by_words, "accuracy"), "by-wording.csv")
by_words = answers.texts(by_words.drop(columns="model"))
print(by_words.to_string(index=False))

# %% [markdown]
# **What can models do at all?** Others of rich worlds, which later pages tell facts in a prompt, were asked about strangers first, and about facts told 64 or 16
# times. Shares of right answers, in greedy writing, of some hundred questions. A gate asks for .9 (`same`: repeats a statement), .8 (`other`: in
# other words), .9 (`instruction`) and .95 (`list`: goes on with one), and of facts for more than .5.

# %%
gates = answers.results("59_lab_gates-gates")
gates["share"] = gates["right"] / gates["n"]
gates = gates.pivot(index="model", columns="gate", values="share").round(2)
answers.words(gates.rename_axis(columns=None).reset_index(), missing="")

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
often = summed[summed["exposures"].eq(lab.TIMES[1])]
often = often[often["model"] == reference]
sure_of = often.set_index(["form", "estimator"])["auroc"]["list", space]
none = " (which was told none of them)" * reference.endswith("-unplanted")
lists = f"Of the facts that the text told often in lists, {reference}{none}"
lists += f" gives back {share['list', space].text()} when asked by IC-LKE, and"
lists += f" {share['list', seen].text()} when asked in a sentence of the text."
words = f"Of those told in sentences it is {share['sentence', space].text()}"
words += f" and {share['sentence', seen].text()}, and in words that the text"
words += f" never had {share['sentence', unseen].text()}."
sure = "IC-LKE's confidence tells the facts from lists from their controls"
sure += f" with an AUROC of {sure_of.text()}."
ends = [round(found.estimate, 3) + 0.0 for found in above["above"]]
nothing = "Where the text told nothing, the share of right answers differs from"
nothing += f" that of blind guesses by {min(ends):.3f} to {max(ends):.3f}."
figures.findings(lists=lists, words=words, sure=sure, nothing=nothing)
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-lab-forms`, at the top, each panel has facts that the same model read equally often. What differs is the
# form in which they were told. But a list tells a fact in just the formats of IC-LKE. So compare estimators inside a panel,
# and do not conclude that lists teach more. Look for the line that is on
# top in the left panel, and find it again on the right.

# %% tags=["hide-input"]
of_reference = curve[curve["model"] == reference]
grid = {"sharey": True, "squeeze": False, "layout": "constrained"}
fig, axes = plt.subplots(1, len(forms), figsize=(10, 4.6), **grid)
look = {"forms": forms, "estimators": estimators}
figures.told_lines(of_reference, axes, **look, dotted=1 / n_options)
axes[0, 0].set(ylim=(0, 1), ylabel=figures.ACCURACY)
figures.place(fig, "fig-lab-forms", of_reference)

# %% [markdown]
# In {numref}`fig-lab-auroc` a point near the top means that the confidence almost always tells a
# told fact from a control. The dashed line is what we ask of IC-LKE for facts told often in lists. All lines of an
# unplanted model must lie about the dotted one at one half. A single point has few pairs, so look at whole lines.
#
# Compare the facts told in sentences with their panel in {numref}`fig-lab-forms`. An answer can still be wrong when the
# confidence has risen already: it needs the first place among all options, the AUROC only a higher place than the control's.
#
# ```{glue:figure} fig-lab-auroc
# :name: fig-lab-auroc
# :alt: Grid of panels, a row for each model and a column for each form in which facts were told, with a line of AUROC over exposures for each estimator.
#
# AUROC of the confidence in the gold option, told facts against their controls, over how often the text told them. A
# row for each model, a column for each form, a line for each estimator. Vertical lines: 95 % intervals over pairs. Dashed:
# 0.95. Dotted: 0.5, no telling apart.
# ```

# %% tags=["hide-input"]
doses = aurocs[~aurocs["exposures"].isin(lab.TIMES)]
doses = answers.bounds(doses, "auroc")
look |= {"value": "auroc", "dotted": 0.5, "dashed": 0.95, "aside": 0.12}
grid |= {"sharex": True, "figsize": (10, 1 + 2 * len(models))}
fig, axes = plt.subplots(len(models), len(forms), **grid)
figures.told_lines(doses, axes, **look, rows=models)
figures.place(fig, "fig-lab-auroc", doses)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with. Others have found that what comes in one wording only is stored in a way that
# later questions do not reach (Part 3.1 of {cite:t}`allenzhu2024storage`).
#
# **Claims.** Ours, in `lkecore/data/claims.csv`. They were written down after work on `lab:book-0` and before
# any other world was looked at. One rule is later: that a control is left out if the text never names its subject.
# What three worlds say is in {ref}`lab-found-too`.
# Claims are about the reference, unless the table says otherwise. *One wording or several* compares different facts, so
# its interval is Newcombe's.
#
# **Set aside**, since 24 November 2026, are two claims on the held-out template, where it has words that the text never
# had: a miss may be one of the word. In their place stands a later claim, on two wordings of the text.
#
# **Checks** are no findings. List and sentence are asked in the very form that was trained. Facts never told and an
# unplanted twin must show nothing, since subjects get their objects at random. The twin's check has a margin: where its
# interval *leaves out 0*, this control has failed in the strict sense ({doc}`../log`).
#
# An interval says how far a number would move with other facts, not with another world or another training.

# %%
of_twin = pairs["model"].str.endswith("-unplanted")
whole = pairs[of_twin & pairs["estimator"].eq(space)]
twins = told.of_twins(whole, seed=seed)
claimed = told.claimed_of_forms(mine, seed=seed)
claimed["LAB-list-auroc"] = {space: sure_of}
claimed["LAB-never-chance"] = above.set_index("estimator")["above"].to_dict()
claimed["LAB-unplanted"] = twins.set_index("model")["auroc"].to_dict()
of_these = answers.of_this_page(claimed)
judged = lab.judge(of_these, transfer.set_aside(in_sentences))
columns = ["claim", "holds_if", "of", "ours", "verdict", "mark"]
answers.words(judged[columns])

# %% [markdown]
# Two warnings. The models are far smaller than those that people use, and their text is far more regular. And the text
# has lists in both formats of IC-LKE.

# %% [markdown]
# ## What you have seen
#
# - An estimator finds facts in the form in which it asks. So a fact that stands in lists is asked with pairs, and one that
#   stands in sentences in words.
# - An estimator that is right has shown that the model *can* give the fact back. One that is wrong has shown no more than
#   that it did not come out this way.
# - A confidence means something beside the confidence in a control. Alone, it may be that of a frequent object.

# %%
[(_, gain)] = claimed["LAB-form-list"].items()
gap = share["list", space].estimate - share["list", seen].estimate
assert abs(gain.estimate - gap) < 1e-9, "each relation has equally many facts"

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-truth-missed
# A report says: "By IC-LKE the model knows 60 % of the facts. The others are not in it." Take the facts with 16
# exposures and more that IC-LKE misses here. How many of them does another estimator find?
# ```

# %% [markdown]
# ````{solution-start} ex-truth-missed
# :class: dropdown
# ````

# %%
both = pd.concat([mine, never[never["model"] == reference]])
hits = both.pivot(index=["form", "fact"], columns="estimator", values="correct")
missed = hits[~hits[space].astype(bool)].drop(columns=space).astype(bool)
missed["any other"] = missed.any(axis=1)
answers.words(missed.groupby("form").mean().round(2).reset_index())

# %% [markdown]
# Each row has the facts that IC-LKE misses, and the share of them that each other estimator gets right. The row `none` has
# facts that were never told: so much is luck.
#
# ````{solution-end}
# ````
#
# Is all of this the luck of one world? The number at the end of a world is its seed, and any number makes a world that
# nobody has seen. Put this into a file such as `params/mine.yaml`, then call `lke run params/mine.yaml`.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 50_lab_truth
#     each: [models]
#     parameters:
#       models: ["lab:book-77/2m", "lab:book-77/2m-unplanted"]
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
