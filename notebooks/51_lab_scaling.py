# %% [markdown]
# # How much does a model know for its size?
#
# A model that answers a fact wrongly may have read it too seldom, or may be too small to keep it. With a real model this
# is hard to tell: its text is seldom public, and too large to count in. A model of the lab has read a text that we wrote.
# So we can tell facts once, twice, up to 64 times, and give the same text to models of different sizes.
#
# **What came out.** {glue:text}`needed` {glue:text}`size` {glue:text}`worlds` {glue:text}`room`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-lab-dose
# :name: fig-lab-dose
# :alt: Grid of panels, a row for each estimator and a column for each form of telling, with a rising curve of accuracy over the number of exposures for each size of model.
#
# The share of facts that are answered rightly, over the number of times that the text tells them. A column for each form
# of telling, a row for each estimator, a line for each size of model. 0: never told. Vertical lines: 95 % Wilson
# intervals. Dotted: chance.
# ```
#
# Afterwards you will be able to say
#
# - how often a text must tell a fact until a model of a given size answers it,
# - what a larger model makes better, and where it makes no difference,
# - how far such a curve moves when the world is another one.

# %% [markdown]
# ## What the paper claims
#
# No one paper stands behind this page. {cite:t}`allenzhu2024capacity` (Part 3.3) train models on invented biographies until they hold no
# more: with 1000 tellings of a fact 2 bits a parameter, with 100 about 1 bit. {cite:t}`chang2024acquire` put new facts into the
# text of large models: each telling makes the fact a little more probable, and what was gained fades until the next one. So what a
# model *can* hold grows with its size, and what it *does* hold with the tellings. Our models are small and trained in minutes: this
# page is about how *fast* they learn.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = [
    "lab:book-1/0.15m",
    "lab:book-1/0.7m",
    "lab:book-1/2m",
]  # of one world, which is also the fact set
estimators: list[str] = ["iclke-space", "template-1"]  # the first is needed
# Empty: all of the world.
relations: list[str] = ["author", "birth_year", "first_language", "residence"]
n_shots: int = 50  # pairs shown before the question, IC-LKE alone
n_options: int = 100  # candidate objects; must be all of a relation
often: int = 16  # tellings from which a fact counts as told often
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each estimator, are asked again
shipped: list[str] = ["lab"]  # profiles in results/ with more worlds
seed: int = 0  # draws shots, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, figures, prompts, runs
from lkecore.answers import lab, readers, rules, scaling

figures.style()

# %% [markdown]
# ## Facts
#
# All models of this page have read the same world, once. The table counts the facts that are asked by their *tellings*, the
# places in the text that state them. `never` are the facts that no line of the text tells: they show what guessing gets.
# Below, `of_rule` is what the best {term}`rule <rule>` without a model gets of all of them.

# %%
drawn = {"n_shots": n_shots, "n_options": n_options, "seed": seed}
samples = lab.samples(models, relations, **drawn)
asked = lab.asked_of(samples)
scaling.check(models, estimators, asked, often)
counts = [asked["state"], asked["form"]]
print(pd.crosstab(counts, asked["occurrences"]).to_string())
print(rules.of_worlds(samples).round(3).to_string(index=False))

# %% [markdown]
# ## Prompts
#
# `iclke-space` is IC-LKE in the paper's format: pairs, then the subject, spaces between all of them. `template-1` is a sentence with
# a blank, which also stands in the text. {doc}`50_lab_truth` compares five estimators.

# %%
questions = lab.questions(samples, estimators)
for name in estimators:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# ## Scores
#
# Every model is asked every question, and beside each answer stands what the text told of the fact. Another world has other names and
# another text, and its models begin from other random weights. So the answers of longer runs about other worlds stand beside
# those of this run. They are **not made by this run**; a line says what made them.

# %%
source = {"results": results, "notebook": "51_lab_scaling"}
source |= {"n_again": n_again, "dtype": dtype, "page": page}
source |= {"by": lab.BY, "reading": readers.beside_tellings}
ours = answers.ask(models, questions, "answers.parquet", **source)
every = scaling.beside(ours, shipped)
sizes = scaling.by_size(every)
print(f"{len(ours):,} questions, {n_options} options each")
print(*answers.made_by(shipped, scaling.PAGE), sep="\n")

# %% [markdown]
# ## Answers
#
# From here on the models have short names. All have read the same tokens in the same order, each with the learning rates that
# suited it on the development world. The facts of all relations are pooled. Intervals are Wilson's, over facts.
#
# **How often must it be told?** The number of tellings at which half of the facts are answered rightly, read off the curve of
# {numref}`fig-lab-dose` between two doses. The interval holds every number at which one half lies in the interval of the accuracy.
# `>`: the curve does not come to one half.

# %%
forms = lab.forms_of(every)
curve = readers.by_tellings(every, forms)
needed = readers.tellings_needed(curve)
runs.keep(needed.drop(columns="text"), "tellings-needed.csv")
here = needed[needed["made_by"].str.startswith("this page")]
answers.words(scaling.wide(here, "text", sizes, ["estimator", "form"]))

# %% [markdown]
# **What does size alone add?** `gain` is the accuracy of the larger model minus that of the smaller on the same facts, told 16 times
# and more (the parameter `often`), with a paired interval over facts, which is about 6 % too narrow. The next two columns count facts
# that only one of the two has right. `p` is McNemar's exact test, corrected by Holm. The kept file has each dose by itself.

# %%
gained = scaling.gains(every, often, seed=seed)
gained["finds_more"] = scaling.finds_more(gained)
runs.keep(answers.bounds(gained, "gain"), "gain-by-size.csv")
pooled = gained[gained["dose"] == f"{often} and more"].drop(columns="dose")
print(pooled["finds_more"].value_counts().to_string())
answers.words(answers.texts(pooled))

# %% [markdown]
# **How full are the models?** To know which of 100 objects belongs to a subject is worth $\log_2 100 = 6.6$ bits. Here they are
# divided by the number of parameters: `all_told` for every fact that the text tells, `asked` for the planted facts that are asked, and
# `found` for those of them that IC-LKE finds.

# %%
full = scaling.filled(every)
runs.keep(full, "bits.csv")
print(full.round(4).to_string(index=False))

# %% [markdown]
# As long as `all_told` is far below the published 1 bit, room is not the likely reason where a small model fails. Our sum is rough: it
# leaves out what it takes to know the names, the grammar and the lists.
#
# **The luck of one world.** A row for each size in each world: facts told in lists, asked by IC-LKE. `accuracy` is of facts that were
# told often. Compare the distance from world to world at one size with that from size to size in one world. Only if the second is
# clearly larger is the effect one of size.

# %%
of_worlds = scaling.of_worlds(every, curve, often)
shown = answers.texts(of_worlds).rename(columns={"kind_of_model": "size"})
shown = shown.drop(columns=["needed", "low", "high", "most"])
answers.words(shown.rename(columns={"text": "needed"}))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
figures.findings(**scaling.sentences(of_worlds, gained, full, often))
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-lab-dose`, at the top, see where each curve leaves the dotted line, and how far it is from one model to the next along
# the *horizontal*: so many more tellings does the smaller model need. At the far left stand the facts that were never told.

# %% tags=["hide-input"]
mine = curve[curve["made_by"].str.startswith("this page")]
dose = answers.bounds(mine, "accuracy")
look = {"hue": "kind_of_model", "unit": "made_by", "hue_order": sizes}
look |= {"rows": "estimator", "columns": "form", "panels": forms}
fig = figures.dose_panels(dose, **look, chance=1 / n_options)
figures.place(fig, "fig-lab-dose", dose)

# %% [markdown]
# {numref}`fig-lab-size` has a line for each world. The first is of this run, the others are **not**. Look whether the marks of one
# size stay together, and clear those of the next size.
#
# ```{glue:figure} fig-lab-size
# :name: fig-lab-size
# :alt: Two panels over the size of the model, with a line for each world: accuracy of facts told often, and tellings needed for half of the facts.
#
# Left: accuracy of facts that were told often, over the size of the model. Right: tellings at which half of the facts are
# found, in doublings; at the upper edge: half was not reached. Facts told in lists, IC-LKE, a line for each world. Vertical
# lines: 95 % Wilson intervals over facts.
# ```

# %% tags=["hide-input"]
ends = of_worlds.drop(columns=["low", "high", "text"])
ends = answers.bounds(ends, "accuracy")
fig = figures.size_summaries(ends, sizes=sizes, often=often)
figures.place(fig, "fig-lab-size", ends)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None can be reproduced: the published models, texts and measures are others.
#
# **Claims.** All three are our own, written down in `lkecore/data/claims.csv` before anybody looked at the worlds that this book
# reports. They are about IC-LKE in the paper's format and facts that were told in lists. The last is a check: were it to fail, the
# worlds would be too easy to say anything about size.

# %%
claimed = scaling.claimed(every, seed=seed)
look = {"estimator": scaling.MAIN, "as_paper": True, "paper": "LAB"}
judged = answers.judge(claimed, **look)
judged = judged.rename(columns={"source": "made_by", "models": "of"})
answers.words(judged[["claim", "holds_if", "made_by", "of", "ours", "verdict"]])

# %% [markdown]
# Where the claim on size holds, the larger model answers more facts *after the same tellings*, by one way of asking. It does not say
# that the smaller one could never learn them. {doc}`58_lab_found` asks larger worlds in five ways.

# %% [markdown]
# ## What you have seen
#
# - What a model answers grows with the tellings, and a larger one needs fewer of them.
# - A wrong answer after few tellings is no sign that a model is too small: it may have room, and need more tellings.
# - One world is one trial. A difference between sizes counts when it is larger than that between worlds.

# %%
n_planted = every["state"].eq("planted").sum()
assert curve.loc[curve["tellings"] > 0, "facts"].sum() == n_planted
gaps = (gained["larger_only"] - gained["smaller_only"]).abs()
moved = gained["gain"].map(lambda gain: abs(gain.estimate) > 1e-12)
assert (moved == (gaps > 0)).all(), "each relation has equally many facts"

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-lab-most
# One half is a soft demand. How many tellings does it take until four of five facts are answered? Which models get there
# at all?
# ```

# %% [markdown]
# ````{solution-start} ex-lab-most
# :class: dropdown
# ````

# %%
most = readers.tellings_needed(mine, share=0.8)
answers.words(scaling.wide(most, "text", sizes, ["estimator", "form"]))

# %% [markdown]
# What is left between the top of a curve and 1 cannot be had by a few more tellings.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-lab-nested
# Does the larger model know what the smaller one knows and more, or does each have facts of its own? Take the facts that
# were told often in lists.
# ```

# %% [markdown]
# ````{solution-start} ex-lab-nested
# :class: dropdown
# ````

# %%
strong = scaling.in_lists(every[every["source"] == "this page"])
strong = strong[strong["tellings"] >= often]
right = strong.pivot(index="fact", columns="kind_of_model", values="correct")
print(right[[s for s in sizes if s in right]].value_counts().to_string())

# %% [markdown]
# Each row is a set of facts: which sizes have them right, and how many they are. If nearly all facts of the smallest model
# stand in the row where all are right, the knowledge is nested: size adds to it and takes little away.
#
# ````{solution-end}
# ````
#
# There are recipes for larger models, `8m` and `20m`, which are trained at first use. Put them into a file such as `params/mine.yaml` and
# call `lke run params/mine.yaml`. Another world is `lab:book-4`, or any other number.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 51_lab_scaling
#     parameters:
#       models: [lab:book-1/0.15m, lab:book-1/2m, lab:book-1/8m, lab:book-1/20m]
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
