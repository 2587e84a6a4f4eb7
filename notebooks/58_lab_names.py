# %% [markdown]
# # Does a second name, or a second answer, hide what a model knows?
#
# We ask under one name and wait for one answer. But a person may have two names, and speak two languages. A model that
# answers with the other language is right, and counts as wrong. One that has read of a person under another name may
# not know whom we mean. Here we know: we wrote the text.
#
# **What came out.** {glue:text}`several` {glue:text}`subjects` {glue:text}`objects`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-names-doses
# :name: fig-names-doses
# :alt: Panels for models and their twins, each with two marks and intervals, for the name and for the alias of a subject, over how often the text says that the alias is one.
#
# Share of facts found by the name and by the alias of their subject, over how often the text says that it is an alias. Facts that
# sentences told often, some of them under the alias, asked by a sentence that told them. 95 % intervals over subjects.
# ```
#
# Afterwards you will be able to say
#
# - how many "wrong" answers are another right one, and what an estimator can do about it,
# - whether a fact told under one name answers under another,
# - whether the probabilities of an object's two names should be added up.

# %% [markdown]
# ## What the paper claims
#
# No paper stands behind this page. {cite:t}`wu2024iclke` ask for one object among {term}`distractors <distractor>`, each under one name. Whether
# one of these may be true, too, they do not say. On our other pages none is. Here both rules are tried.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
relations: list[str] = []  # empty: all in which nothing hints at an object
often: int = 16  # tellings from which a fact counts as told often
n_shots: int = 50  # pairs shown before the question, for IC-LKE
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each way, are asked again
shipped: list[str] = []  # profiles whose models stand beside these
seed: int = 0  # draws shots, order of options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from lkecore import answers, figures, runs
from lkecore.answers import gates, lab, names, names_found, names_said

figures.style()

# %% [markdown]
# ## Facts
#
# Facts of {ref}`rich worlds <rich-worlds>`, of relations in which no name hints at an object. In three of them some subjects
# have two true objects, each told as any fact is. Of all subjects and objects one in seven has an alias. The text says so once,
# four or sixteen times ("Some people call Kelmo by the name Tarvik"), its dose. A quarter of the sentences about such a subject call it by
# the alias, another quarter call such an object so. Lists never do.

# %%
draw = {"n_shots": n_shots, "often": often, "seed": seed}
samples = names.samples(models, relations, **draw)
print(names.counts(samples).to_string())

# %% [markdown]
# ## Prompts
#
# Each fact is asked by pairs, and by the first sentence that told it and ends with its object. Where a subject has an alias, both are
# asked once more under this. The options are all objects of the relation, with both names of those that have two.

# %%
questions = names.questions(samples)
firsts = {key[1]: some[0] for key, some in reversed(questions.items())}
for way in reversed(firsts):
    print(f"{way:20} {firsts[way].context[-50:]!r}")

# %% [markdown]
# ## Scores
#
# One answer is read in four ways: among main names, with other true objects left out, with the object's alias in place of its name, and
# with the probabilities of both names added up for every object.

# %%
this = "58_lab_names"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"by": lab.BY, "reading": names.read, "dtype": dtype}
ours = answers.ask(models, questions, "answers.parquet", page=page, **source)
every = answers.beside_models(ours, shipped, this)
known = names.beside_truth(every)
print(f"{len(every):,} answers of {every['model'].nunique()} models")
print(gates.missed(every["model"]))

# %% [markdown]
# ## Answers
#
# Models of one size stand together, whichever world they have read; intervals draw subjects. `-unplanted` twins were told none of these facts.
# The last row is the best rule without a model: name the object that the text tells most often in the relation.
#
# **Two true objects.** `one`: the object that we ask for is the likeliest of all. `left_out`: it is, when the other true object is no option.
# `either`: a true one is the likeliest. `hidden` is `left_out` minus `one`; it cannot be negative, so hold it against a
# twin's. `of_wrong`: the share of the answers other than the object that are the other true one. These are few facts; read the intervals.

# %%
several = names_found.by_several(known, often, seed=seed)
runs.keep(answers.bounds(several, "hidden"), "several-objects.csv")
answers.words(answers.texts(several), missing="")

# %% [markdown]
# Which is named, where the text tells one more often? `more` is the share of those told more.

# %%
more = names_found.more_told(known, seed=seed)
print(answers.texts(more).to_string(index=False))

# %% [markdown]
# **Two names of a subject.** Sentences told the fact under both names, or lists (and few sentences) under the name alone. `missed` is
# found by the alias and not by the name. A second question is a second chance to be lucky, so hold it against the twin.

# %%
subjects = names_found.by_subject_alias(known, often, seed=seed)
runs.keep(answers.bounds(subjects, "gap"), "subject-aliases.csv")
answers.words(answers.texts(subjects), missing="")

# %% [markdown]
# **Two names of an object.** `summed` gives each object the probability of all its names; `gain` is what that adds to `name`. An object
# without alias can only lose by it. `alias_part` is the alias' part of that probability. An interval of `gain` without width
# says that no answer changed, not that none could.

# %%
objects = names_found.by_object_alias(known, often, seed=seed)
runs.keep(answers.bounds(objects, "gain"), "object-aliases.csv")
twin = objects["model"].str.endswith("-unplanted")
some = objects[~twin | objects["way"].eq(names.TOLD)]
answers.words(answers.texts(some), missing="")

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
said = names_said.sentences(known, several, subjects, objects, often)
figures.findings(**said)
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-names-doses`, compare the two marks, then follow the alias from left to right. If saying whose alias it
# is carried facts over, it would rise. The twin's marks show luck.

# %% tags=["hide-input"]
drawn = names_said.doses(known, often, seed=seed)
look = {"panel": "panel", "x": "dose", "hue": "asked by", "y": "found"}
fig = figures.interval_panels(drawn, **look, label=figures.ACCURACY)
figures.place(fig, "fig-names-doses", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with.
#
# **Claims.** Ours, in `lkecore/data/claims.csv`, written down after work on `lab:rich-0` and before a model of another rich world was asked so.
# A claim on something that no answer of a size showed is not judged, since a bootstrap has no width there. That was decided when the answers
# were there, of `2m` in one world: it set aside two verdicts from 17 facts, of which one would have held. In three worlds it sets aside none.

# %%
claimed = names_said.claimed(known, often, seed=seed)
judged = lab.judge(claimed, estimator="as told, or by pairs")
answers.words(judged[["claim", "holds_if", "source", "of", "ours", "verdict"]])

# %% [markdown]
# A warning. These models are small, and a world has some twenty facts with two true objects told often, and a dozen told under one name
# alone. Larger models may carry a fact from one name to another.

# %% [markdown]
# ## What you have seen
#
# - An answer that counts as wrong may be the other true one. It is named where it was told more often. Leave other true objects out, or
#   count any as right, and say which.
# - A fact is found best under the name that told it. We see no sign that saying whose alias a name is carries facts over to it, however often
#   the text says it.
# - So who asks by the main name misses little. What the alias adds, it adds for a twin, too.
# - Adding up the names of an object brings no clear gain. What it seems to bring to the smallest models, it brings to their twins, too.

# %%
own = known[known["n_objects"].eq(1)]
assert not own["other"].any() and own["left_out"].eq(own["correct"]).all()
assert not (known["other"] & known["correct"]).any()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-names-less
# All tables are about facts told often. What if *every* told object counts, however seldom it was told?
# ```

# %% [markdown]
# ````{solution-start} ex-names-less
# :class: dropdown
# ````

# %%
seldom = names_found.by_several(known, 1, seed=seed)
answers.words(answers.texts(seldom), missing="")

# %% [markdown]
# The object told less is found less, and `either` and `one` lie further apart.
#
# ````{solution-end}
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
