# %% [markdown]
# # How much does one way of asking miss?
#
# A model gives a wrong answer. Perhaps it does not know the fact. Perhaps it was asked in the wrong way. With real facts nobody can
# tell these two apart. Here we can come closer: we wrote the text that the models read, we know which facts it told, how often, and in
# which words. So we ask five ways, and count what each of them misses.
#
# **What came out.** {glue:text}`best` {glue:text}`listed` {glue:text}`wording` {glue:text}`overlap`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-found-forms
# :name: fig-found-forms
# :alt: Panels side by side, for facts told in lists, in both forms and in sentences, with a line of accuracy over tellings for each of five ways of asking.
#
# Accuracy of five ways of asking over how often the text told a fact, by the form in which it was told, for the largest model that goes on with
# lists of what no text lists. 0: never told, the same facts in each panel. Cells of fewer than ten facts are left out. Vertical lines: 95 % intervals (Wilson). Dotted: the best rule without a model.
# ```
#
# Afterwards you will be able to say
#
# - what pairs find and what sentences find, where nothing hints at an object,
# - how far a fact gets from the words that told it,
# - why the overlap of several ways of asking does not say how much a model knows.

# %% [markdown]
# ## What the paper claims
#
# No paper stands behind this page. {cite:t}`wu2024iclke` find that pairs give back more than templates, and that what a template finds
# is mostly found by pairs, too ({doc}`13_iclke_estimators`). {cite:t}`allenzhu2024storage` (Part 3.1) find in models like ours that a fact told in
# one wording only is hard to get at by another question. {doc}`50_lab_truth` asks the first of these in a kinder world: every object as
# frequent as every other, and four wordings. Here objects are of all frequencies, and there are 25 wordings of five kinds.

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
shipped_trainings: list[str] = []  # and those with other trainings of the first
seed: int = 0  # draws shots, wordings, order of options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

from lkecore import answers, figures, prompts, runs
from lkecore.answers import (
    found,
    found_said,
    found_when,
    gates,
    lab,
    rich,
    rules,
)

figures.style()

# %% [markdown]
# ## Facts
#
# Facts of a {ref}`rich world <rich-worlds>`, of the fourteen relations in which no name hints at an object; {doc}`56_lab_fooled` asks
# the others. They were told once to 64 times, in lists of pairs, in sentences, or in both, and most of them were never told.
# Some objects are frequent: `of_rule` is what the best {term}`rule <rule>` without a model gets of them.

# %%
names = relations or found.uncued()
samples = rich.samples(models, names, found.asked, n_shots=n_shots, seed=seed)
print(found.counts(samples).to_string(index=False))
yard = rules.of_worlds(samples)
print(yard.round(3).to_string(index=False))

# %% [markdown]
# ## Prompts
#
# All facts are asked by pairs, and by four sentences of four kinds: a statement, a noun, a question, an instruction. All stand in the
# text, which tells each fact in some of its 25 wordings. Facts that one sentence alone tells are asked three more times: by that
# sentence, by a paraphrase of the same kind, and by a sentence of another kind.

# %%
questions = lab.questions(samples, list(found.WAYS))
questions |= found.in_wordings(samples, seed=seed)
for name in found.WAYS:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# ## Scores
#
# Each answer stands beside what the text said of the fact. An `-unplanted` twin read the same text told of other subjects, so that none
# of these facts was told to it.

# %%
this = "58_lab_found"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"by": lab.BY, "reading": found.plainly, "dtype": dtype}
ours = answers.ask(models, questions, "answers.parquet", page=page, **source)
every = answers.beside_models(ours, shipped, this)
known = found.beside_truth(every, often)
world = lab.worlds(models)[0]
here = known[known["world"] == world]
print(f"{len(every):,} answers of {every['model'].nunique()} models")
print(gates.missed(every["model"]))

# %% [markdown]
# ## Answers
#
# **Each way by itself**, of facts told often. The three columns behind the way are by the form in which they were told. `never` is the
# share of right answers on never-told facts. It lies above one in a hundred, since some objects are far more frequent than others and a
# model that names these is right more often: so much is no knowledge. `auroc` holds the confidence in the object against that in a
# {term}`control`, a never-told fact of the same object whose subject the text names elsewhere. Its interval draws subjects. Of a
# twin there is one row: it must have next to nothing. `-tuned` has read its text once more while it was tuned.

# %%
by_way = found.by_way(here, seed=seed)
runs.keep(answers.bounds(by_way, "auroc"), "by-way.csv")
twin = by_way["model"].str.endswith("-unplanted")
some = by_way[~twin | by_way["estimator"].eq(found.PAIRS)]
answers.words(answers.texts(some), missing="")

# %% [markdown]
# **Do pairs need lists?** What pairs miss in a model that does not go on with a list of what no text lists may be the format, so this is the
# largest model that does ({doc}`59_lab_gates`). Relations are sorted by how often the text lists their facts. If a list of *other* facts taught a model to
# answer pairs of the relation, the rows `sentence` would be better where lists are frequent. Compare these rows with each other, and then
# with the row `list`. Intervals are over relations, and there are few of each sort. A warning: the sorts differ in more than lists. Relations
# that are never listed have objects of which a few are far more frequent than others; four of the seven that are listed often have even ones, which
# are harder to guess. The rows `zipf` are of relations with frequent objects alone: two or three of each sort, so their intervals are over facts.

# %%
listing = found.by_listing(here)
runs.keep(answers.bounds(listing, "iclke-space"), "by-listing.csv")
largest = rich.teller(here["model"].unique(), [rich.LISTS])
answers.words(answers.texts(listing[listing["model"] == largest]))

# %% [markdown]
# The same by how often a fact was told, by pairs, of facts told in sentences alone, with intervals over facts (Wilson). Below, how many
# facts a cell has. It is confounded likewise.

# %%
doses = found.listing_curve(here[here["model"] == largest])
runs.keep(answers.bounds(doses, "accuracy"), "by-listing-and-dose.csv")
for column in ("accuracy", "facts"):
    cells = answers.across(doses, "tellings", column, "relations")
    print(cells.to_string(index=False))

# %% [markdown]
# **In other words.** Facts that one sentence alone told. Nothing differs but the words that ask. So many facts were told so often; the
# figure {numref}`fig-found-words` below has what is found of them.

# %%
moved = found.transfer(here)
runs.keep(answers.bounds(moved, "accuracy"), "by-wording.csv")
own = moved[moved["model"].eq(largest) & moved["wording"].eq(found.OWN)]
print(own.set_index("tellings")[["facts"]].T.to_string())

# %% [markdown]
# **When, and of whom?** Facts told 2 to 32 times, in halves: of those told equally often in the same form, the half that the text tells
# *last* of all, and the half whose subject it names more often, with whatever fact. Each is the share that one of five ways finds minus
# that of the other half (Newcombe's interval). Of a twin it must be near 0.

# %%
when = found_when.halves(here)
print(answers.texts(when).to_string(index=False))

# %% [markdown]
# **All ways together.** `any` is found by one of the five. `chao` is what an ecologist would conclude from the overlap {cite:p}`chao1987estimating`: if many facts are
# found by one way alone, there must be more that none has found. It says how large the share that *can* be found is at least. Look at the rows
# *never told*: there is nothing to be found, and whatever is "caught" there is caught by luck. To Chao it looks like the tip of more.

# %%
together = found.together(here, seed=seed)
runs.keep(answers.bounds(together, "any"), "together.csv")
answers.words(answers.texts(together))

# %% [markdown]
# **Is there a trace?** Take the facts told often that *no* way of asking finds. If they had left nothing in the model, its confidence
# in their objects would be that of their controls, and the AUROC one half.

# %%
left = found.untouched(here, seed=seed)
print(answers.texts(left).to_string(index=False))

# %% [markdown]
# **What follows.** In two relations the last link of a chain is asked: who lives in a city of a country is its citizen, and speaks its
# language. Of these facts nobody told the last step. If a model puts two and two together, it finds more of them where all links are told, and
# more than its twin, which was told all links but the first, where the person lives. Few facts, and of many the model does not give back the
# first link either: look for a sign of conclusions, and do not take its absence for a proof.

# %%
chains = found.follows(here, seed=seed)
print(answers.texts(chains).to_string(index=False))

# %% [markdown]
# **Another training.** All intervals on this page are about other facts. How far would a number move with the very same text, read in another
# order from other first weights? A column for each training of the first model; `@2` has another seed.

# %%
trained = answers.beside_models(ours, shipped_trainings, this)
trained = found.beside_truth(trained, often)
again = found_said.by_training(trained, models[0]).set_index("model")
print(answers.texts(again).rename_axis(None).T.to_string())

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
figures.findings(**found_said.sentences(here, often, seed=seed))
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-found-forms`, at the top, follow the line of pairs from the left panel to the right one. Then look at the sentences. They
# rise in all three.

# %% tags=["hide-input"]
curve = found.curve(here[here["model"] == largest])
forms = lab.forms_of(here)
of_rule = yard.set_index("world").loc[world, "of_rule"]
size = {"figsize": (10, 4.6), "sharey": True, "squeeze": False}
fig, axes = plt.subplots(1, len(forms), layout="constrained", **size)
look = {"forms": forms, "estimators": list(found.WAYS)}
figures.told_lines(curve, axes, **look, dotted=of_rule)
axes[0, 0].set(ylim=(0, 1), ylabel=figures.ACCURACY)
figures.place(fig, "fig-found-forms", curve)

# %% [markdown]
# In {numref}`fig-found-words` go from the left to the right: what one wording tells seldom, hardly any wording finds. Where its own wording finds a
# fact, each step away from it costs. Does the step close with more tellings? In this world it is smaller at 64 than at 32; of two others one
# has no sign of that. Then look at the twin. It was told none of these facts, and yet its own wording is a little better: a sentence that tells
# few facts often goes with few objects, and a guess knows them. So much of the step is no knowledge, and the last claim below takes it off.
#
# ```{glue:figure} fig-found-words
# :name: fig-found-words
# :alt: A panel for each model and a twin, with three marks and intervals over the number of tellings, for the wording that told a fact, a paraphrase and another kind of sentence.
#
# Accuracy on facts that one sentence alone told, over how often it told them, by the words that ask. 95 % intervals over facts (Wilson). Numbers of
# tellings with fewer than ten facts are left out. Dashed: the best rule without a model.
# ```

# %% tags=["hide-input"]
drawn = found_said.drawn(moved)
look = {"panel": "model", "x": "tellings", "hue": "wording", "y": "accuracy"}
look |= {"label": figures.ACCURACY, "line": of_rule, "width": 3.6}
fig = figures.interval_panels(drawn, **look)
figures.place(fig, "fig-found-words", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with.
#
# **Claims.** Ours, in `lkecore/data/claims.csv`, written down after work on `lab:rich-0` and before a model of another rich world was
# asked so. The one on a wording *beyond* the twin was added when the answers were there. Each world is judged by itself. The claim
# on twins is a check. A verdict with a mark says nothing of its claim, which rests on a gate that the model misses ({doc}`59_lab_gates`); beside it
# stands the largest model that passes, where there is one. The claim on size is about models that read.

# %%
claimed = found_said.claimed(known, seed=seed)
judged = lab.judge(claimed, rich.marks(claimed))
columns = ["claim", "holds_if", "source", "of", "ours", "verdict", "mark"]
answers.words(judged[columns])

# %% [markdown]
# A warning. These models are small, and have read each wording a few times. Larger ones carry a fact further from its words. What each
# way of asking misses here is the size of this world; that one way misses, and that luck looks like knowledge in an overlap, is not.

# %% [markdown]
# ## What you have seen
#
# - Pairs find facts that stood in lists themselves. That lists of other facts help, we could not see.
# - A wrong answer says that a fact did not come out in this way. Many facts come out in some ways and not in others.
# - Facts that no way finds have left a trace: the confidence in their objects is higher than it would be without telling.
# - Several ways of asking find more than one. They are also lucky more often, and no overlap can tell the two apart.
# - Of what follows from told facts no more is found than by a twin that lacks the first link: no sign of conclusions, in a few dozen facts.
# - Another training on the same text moves some numbers further than an interval over facts allows for.

# %%
wide = together.set_index(["model", "facts"])
assert all(row.chao.estimate >= row.any.estimate for row in wide.itertuples())
assert all(
    row.any.estimate >= row.of_best.estimate for row in wide.itertuples()
)

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-found-twice
# Suppose that only a fact that *two* ways of asking find counts as known. How much of the luck does that take away, and how much of what
# was told?
# ```

# %% [markdown]
# ````{solution-start} ex-found-twice
# :class: dropdown
# ````

# %%
asked = here[here["estimator"].isin(found.WAYS)]
times = asked.groupby(["model", "told", "fact"])["correct"].sum()
for least in (1, 2, 3):
    share = (times >= least).groupby(["model", "told"]).mean().unstack()
    print(f"found by {least} or more\n{share.round(3).to_string()}\n")

# %% [markdown]
# Compare the columns `never` and `often` from one table to the next. What two ways agree on is more often told. But a frequent object is
# guessed by several ways at once, and so some luck stays.
#
# ````{solution-end}
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
