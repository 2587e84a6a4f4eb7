# %% [markdown]
# # How sure is sure?
#
# A confidence of 0.6 should mean something. But what should it have been? Of a real fact nobody can say, since nobody has
# counted what a model has read of it. Here we have. Our text says of some people that they live in one city, 48 times. Of
# others it says one city 36 times and another one 12 times. Who reads that and nothing else should be sure of the first, and three
# quarters sure of the second.
#
# **What came out.** {glue:text}`divided` {glue:text}`twin` {glue:text}`level` {glue:text}`open`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-sure-shares
# :name: fig-sure-shares
# :alt: Two panels with a line for each model over the planted share of an object, one of its confidence among all options, one of its part of the confidence in the told ones, each beside a diagonal.
#
# Confidence in an object over its share in what the text says of the fact, facts told 48 times, in the paper's format. Left: its
# part of the confidence in all objects that are told of the fact. Right: among all options. Vertical lines: 95 % intervals over
# facts. Dashed: confidence and share are the same.
# ```
#
# Afterwards you will be able to say
#
# - whether a model keeps the shares in which a text tells different things of one fact,
# - what a confidence says and what it does not, where the truth is known,
# - whether a model is less sure of what the text leaves open, and of what it never tells.

# %% [markdown]
# ## What the paper claims
#
# No paper stands behind this page. {cite:t}`wu2024iclke` normalise over the options and find that answers with more confidence are
# more often right ({doc}`18_iclke_confidence`). Two other papers of this book take entropy, and the overconfidence of answers,
# as measures of knowledge. Whether any of these numbers follows what the model was told, real facts cannot say.
# {cite:t}`kandpal2023longtail` count how many documents name subject and object of a fact, and find that those told more often
# are answered better. Which other objects the documents tell, they do not count.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
# The first is needed.
estimators: list[str] = ["iclke-space", "template-1", "template-6"]
relations: list[str] = []  # empty: all of the world
often: int = 48  # tellings of the facts that most tables are about
n_shots: int = 50  # pairs shown before the question, for IC-LKE
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each estimator, are asked again
shipped: list[str] = []  # profiles whose models stand beside these
seed: int = 0  # draws shots, order of options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

from lkecore import answers, figures, prompts, runs
from lkecore.answers import gates, lab, rich, rules, sure

figures.style()

# %% [markdown]
# ## Facts
#
# A *rich* world has facts with {term}`planted shares <planted share>`: its text tells two or three objects of them, in
# the proportions 3 to 1, 2 to 1, 1 to 1, 2 to 1 to 1, or all three alike; 12 or 48 times in all, in sentences or in lists. Beside
# them stand facts that it tells with one object as often, and never-told facts of the same objects, their controls. Below, `of_rule`
# is what the best {term}`rule <rule>` without a model gets of them: some names hint at objects, and some objects are frequent.

# %%
chosen = {"n_shots": n_shots, "seed": seed}
samples = rich.samples(models, relations, sure.asked, **chosen)
print(sure.counts(samples).to_string())
print(rules.of_worlds(samples).round(3).to_string(index=False))

# %% [markdown]
# ## Prompts
#
# The first estimator shows pairs, the others are sentences that the text has for other facts. The text lists the facts of some
# relations often, of some never. Where a model misses our gate for going on with lists of the latter, what the first estimator misses there
# may be the format. Such a model is out of the claims below ({doc}`59_lab_gates`).

# %%
first = "iclke-space"
lab.check_asked(estimators, [first])
questions = lab.questions(samples, estimators)
for name in estimators:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# ## Scores
#
# The confidences of the options of a question add up to 1. Beside each answer stand those of all objects that the text tells of
# the fact, and the {term}`entropy` of all options: 0 for one who is sure, and the logarithm of their number for one who has no idea.

# %%
this = "57_lab_sure"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"by": lab.BY, "reading": rich.beside_hints, "dtype": dtype}
ours = answers.ask(models, questions, "answers.parquet", page=page, **source)
every = answers.beside_models(ours, shipped, this)
every = sure.beside_shares(every)
world = lab.worlds(models)[0]
here = every[every["world"].eq(world) & every["told"].isin([often, 0])]
print(f"{len(every):,} answers of {every['model'].nunique()} models")
print(gates.missed(every["model"]))

# %% [markdown]
# ## Answers
#
# **Shares.** A row for each planted share. `relative` is the part that the object has of the confidence in all objects that are
# told of the fact: it asks whether the model knows *which of them* is told more. `confidence` is among all options, as everywhere in
# this book: it asks, too, how much goes to objects that nobody told. Hold both against `planted`.

# %%
of_first = here[here["estimator"] == first]
objects = sure.by_object(of_first)
lines = sure.curve(objects, ["model"], seed=seed)
runs.keep(answers.bounds(lines, "relative"), "relative-by-share.csv")
answers.words(answers.texts(lines))

# %% [markdown]
# **By estimator.** `first` is how often, of two objects told 3 to 1 or 2 to 1, the one told more has more confidence; one half is
# no telling apart. `r` is the correlation of planted with relative shares, over all facts with several objects. Read it beside that of
# the `-unplanted` twin, which read the same text told of other subjects. A part of `r` is there for anybody: one of three objects has
# less than one of two, and some objects are more frequent than others.

# %%
by_way = sure.by_way(here, seed=seed)
runs.keep(answers.bounds(by_way, "r"), "shares-by-estimator.csv")
answers.words(answers.texts(by_way))

# %% [markdown]
# **Open questions.** Is a model less sure where the text says several things? A row for each proportion, with the entropy that the
# text itself has (`planted_entropy`, in nats) and that of the model's options. `among` is the confidence in all told objects
# together, and `confidence` here that in the answer, whatever it is; above it was that in the told object. The last row of a model has facts that no text told. A twin was told none of them.

# %%
by_ratio = sure.by_ratio(of_first, ["model"], seed=seed)
runs.keep(answers.bounds(by_ratio, "entropy"), "entropy-by-ratio.csv")
answers.words(answers.texts(by_ratio), missing="")

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
of_all = every[every["estimator"] == first]
claimed = sure.claimed(of_all, often=often, seed=seed)
figures.findings(**sure.sentences(of_first, seed=seed))
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-sure-shares`, at the top, look at the left panel first. A line on the diagonal belongs to a model that divides
# its confidence among the told objects as the text does. Then look to the right: the same objects, among all options. The gap below
# the diagonal is what the model gives to objects that the text never tells of this fact. A twin's line on the left rises, too, but
# less: only what lies between the two lines comes from telling.

# %% tags=["hide-input"]
size = {"figsize": (10, 4.6), "sharex": True, "sharey": True}
fig, axes = plt.subplots(1, 2, layout="constrained", **size)
drawn = sure.drawn(lines)
figures.share_lines(drawn, axes)
figures.place(fig, "fig-sure-shares", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with.
#
# **Claims.** Ours, in `lkecore/data/claims.csv`, written down after work on `lab:rich-0` and before a model of another rich
# world was trained; those that are *beyond its twin* were added when the answers were there. Each world is judged by itself. A verdict
# with a mark says nothing of its claim; beside it stands the largest model that passes the gate, where there is one.

# %%
judged = lab.judge(claimed, rich.marks(claimed))
columns = ["claim", "holds_if", "source", "of", "ours", "verdict", "mark"]
answers.words(judged[columns])

# %% [markdown]
# A warning. These models are small and read their text a few times. What a confidence leaves to untold objects shrinks with
# size and reading, so its level is no constant of nature. That a level says little by itself, and shares say more, is what the page is
# about.

# %% [markdown]
# ## What you have seen
#
# - The confidence of an object *among those that compete* follows the text's shares, more than in a model that was told nothing. Its
#   level among all options rises with them, too, but lies far below.
# - A correlation with the truth can be there without any telling. Without the twin we would have taken all of it for reading.
# - So a low confidence need not mean that a model does not know: most of it may lie with options that nobody told.
# - A model is less sure where the text says nothing. Whether it is less sure, too, where the text says two things is left open by
#   these few facts. One number could not tell the two cases apart.

# %%
sums = objects.groupby(["model", "fact"])["relative"].sum()
assert (sums - 1).abs().max() < 1e-6
assert (of_first["entropy"] >= -1e-9).all()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-sure-twelve
# All tables are about facts told 48 times. Does a model keep the shares of what it is told twelve times in all?
# ```

# %% [markdown]
# ````{solution-start} ex-sure-twelve
# :class: dropdown
# ````

# %%
few = of_all[of_all["world"].eq(world) & of_all["told"].ne(often)]
of_few = sure.curve(sure.by_object(few), ["model"], seed=seed)
answers.words(answers.texts(of_few))

# %% [markdown]
# Compare `relative` with `planted` here, and with the table above. A line that is flatter is one that keeps less of the shares.
#
# ````{solution-end}
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
