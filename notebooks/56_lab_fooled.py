# %% [markdown]
# # Who is fooled?
#
# *Kelmo Iron Lines* has its main office in Kelmo. You have never heard of this company, and neither has a model. Both of you
# may be right. Here we wrote the text that the models read, and planted such hints on purpose: on facts that the text tells,
# and on facts that it never tells. What an estimator finds of the second kind is no knowledge, whatever it looks like.
#
# **What came out.** {glue:text}`fooled` {glue:text}`twin` {glue:text}`lied` {glue:text}`most`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-fooled-cues
# :name: fig-fooled-cues
# :alt: A panel for each kind of hint, with marks and intervals for each model and for a rule, over facts without a cue, with a right cue and with a lying one.
#
# Facts that no text told: the share that is answered rightly in the paper's format, by what hints at the object and whether
# the hint is right. 95 % intervals over facts (Wilson; bootstrap for the rule). Dashed: chance.
# ```
#
# Afterwards you will be able to say
#
# - how often an estimator "finds" a fact that nobody told the model,
# - which estimators are fooled more, and whether telling a fact protects it from a lying name,
# - why an accuracy has to stand beside what a cue alone gets.

# %% [markdown]
# ## What the paper claims
#
# No paper stands behind this page. Three of the four papers of this book count right answers as knowledge. That names give objects away
# is known of LAMA, whose authors' successors took such facts out {cite:p}`poerner2020ebert`, and that models follow surface
# forms to plausible answers is shown by {cite:t}`cao2021educated`. Real facts cannot say how much of an accuracy that is,
# since nobody knows what a model has read. {doc}`18_iclke_stands` has the same question on them.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
estimators: list[str] = [
    "iclke-space",
    "iclke-colon",
    "template-1",
    "template-6",
]  # the first is needed
n_shots: int = 50  # pairs shown before the question, for IC-LKE
often: int = 16  # tellings of the facts that EIC-LKE and blanks ask
n_every: int = 3  # pairs from one slot of EIC-LKE to the next
n_eic_facts: int = 13  # facts of each relation and form, for EIC-LKE
n_eic_options: int = 8  # candidate objects of these
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each estimator, are asked again
shipped: list[str] = []  # profiles whose models stand beside these
seed: int = 0  # draws shots, order of options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from lkecore import answers, figures, prompts, runs
from lkecore.answers import blanks, fooled, gates, lab, moved, rich

figures.style()

# %% [markdown]
# ## Facts
#
# Four relations of a *rich* world carry hints. In three of them the subject's **name** has a word in common with an object: a
# person's surname, the city in a company's name, the country in a team's. Three names in five carry such a {term}`cue`, and one
# cue in three lies. In the fourth, one colour belongs to two teams in five: the *majority* is the cue. The text says no more of
# told facts than that, and the facts it never tells have the same objects and the same kinds of cues, pair by pair.

# %%
samples = rich.samples(
    models, list(fooled.RELATIONS), fooled.asked, n_shots=n_shots, seed=seed
)
asked = fooled.counts(samples)
print(asked.to_string(index=False))

# %% [markdown]
# ## Prompts
#
# Two estimators show pairs, in two formats that the text has lists in, and two are sentences that it has for other
# facts. The options are all objects of the relation.

# %%
first = "iclke-space"
lab.check_asked(estimators, [first])
questions = lab.questions(samples, estimators)
for name in estimators:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# **EIC-LKE** has several questions between the pairs of one prompt ({doc}`13_iclke_eic`). It is asked of some facts told often and of
# their controls, and IC-LKE of the same ones. The options are the objects of these facts: others are told less.

# %%
eic = {"n_every": n_every, "n_facts": n_eic_facts, "n_options": n_eic_options}
eic |= {"n_shots": n_shots, "often": often, "seed": seed}
grouped = lab.several_in_one(samples, **eic)
of_first = {key: asked for key, asked in questions.items() if key[1] == first}
same_facts = grouped | lab.among(of_first, grouped)
print(f"{sum(map(len, grouped.values()))} long prompts")

# %% [markdown]
# **At a blank.** {term}`Surprisal`, rank, entropy and KL of {doc}`53_lab_entropy` are numbers at the blank of a sentence, with and without
# the statement in front. They are asked of the facts told often and of their controls.

# %%
some = rich.samples(
    models,
    list(fooled.RELATIONS),
    lambda states: fooled.told_or_control(states, often=often),
    n_shots=n_shots,
    seed=seed,
)
look = {"behind": ["explicit"], "dtype": dtype, "seed": seed}
at_blanks = moved.questions(some, models, "template-1", **look)
print(f"{sum(map(len, at_blanks.values()))} blanks")

# %% [markdown]
# ## Scores
#
# Beside each answer stands whether it is what the cue points to (`follows`). An `-unplanted` twin read the same text told of
# other subjects, so that to it *all* of these facts were never told. A rule without a model, `rule-both`, takes the option that
# shares a word with the subject, else the one that is shown most often.

# %%
this = "56_lab_fooled"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"dtype": dtype, "page": page}
by = {"by": lab.BY, "reading": rich.beside_hints}
ours = answers.ask(models, questions, "answers.parquet", **source, **by)
asked_so = models, same_facts, "answers-eic.parquet"
of_eic = answers.ask(*asked_so, by=lab.BY, **source)
asked_so = models, at_blanks, "answers-blanks.parquet"
by = {"by": moved.KEY, "only": blanks.TOLD}
told = answers.ask_blanks(*asked_so, **by, **source)
every = answers.beside_models(ours, shipped, this)
hinted = fooled.hinted(every)
rule = fooled.of_rules(samples)
print(f"{len(every):,} answers of {hinted['model'].nunique()} models")
print(gates.missed(every["model"]))

# %% [markdown]
# ## Answers
#
# **Never told.** The share of right answers. Read the rows of *no cue* first: there an answer can only be luck, one in a hundred. All
# that the rows of *right cue* have above them is the name's doing. Where the cue lies no answer that follows it is right. The lines
# above the table say how many do.

# %%
of_pairs = hinted[hinted["estimator"] == first]
world = lab.worlds(models)[0]
here = of_pairs[of_pairs["world"] == world]
never = here[here["told"] == fooled.NEVER]
cued = fooled.by_cue(never, ["hint", "model"])
runs.keep(answers.bounds(cued, "right"), "never-told-by-cue.csv")
lying = cued[cued["cue"] == fooled.LIES]
print(answers.across(lying, ["hint", "n"], "follows").to_string(index=False))
answers.words(answers.across(cued, ["hint", "cue", "n"], "right"))

# %% [markdown]
# **By estimator.** `false` is the share of all never-told facts of these relations that an estimator gets right, its *false
# positives*, and `with_right_cue` says how many of these had a cue that told them. The estimators saw the same facts.

# %%
of_world = hinted[hinted["world"] == world]
luck = fooled.known_by_luck(of_world, ["model", "estimator"])
print(answers.texts(luck).to_string(index=False))

# %% [markdown]
# **Told often.** Does a telling protect from a name that lies? The same for facts that the text tells 16 times and more. Few
# of them carry a lying cue, so look at the intervals.

# %%
known = here[here["told"] == fooled.TOLD]
cued = fooled.by_cue(known, ["hint", "model"])
lying = cued[cued["cue"] == fooled.LIES]
print(answers.across(lying, ["hint", "n"], "follows").to_string(index=False))
answers.words(answers.across(cued, ["hint", "cue", "n"], "right"))

# %% [markdown]
# **The confidence.** {term}`AUROC` asks how often a fact told 16 times and more has a higher confidence in its object than its
# {term}`control`, a never-told fact of the same object and with a cue of the same kind. One half is no telling apart. If cues did
# no harm beyond wrong answers, the rows of a model would be alike. A column has one estimator; all saw the same pairs. Questions
# are fooled more than pairs ({ref}`lab-found-too`).

# %%
apart = fooled.aurocs(of_world, ["model", "estimator"], seed=seed)
runs.keep(answers.bounds(apart, "auroc"), "auroc-by-cue.csv")
kinds = ["model", "cue", "pairs"]
answers.words(answers.across(apart, kinds, "auroc", "estimator"))

# %% [markdown]
# The same for numbers at a blank, turned so that more is better known. They are read at the first token of an object, so facts whose
# object shares its first token are left out.

# %%
told = answers.beside_models(told, shipped, this, apart="blanks")
told = fooled.of_blanks(told[told["world"] == world])
moves = fooled.aurocs(told, ["model", "estimator"], seed=seed)
runs.keep(answers.bounds(moves, "auroc"), "auroc-at-blanks.csv")
print(answers.across(moves, kinds, "auroc", "estimator").to_string(index=False))

# %% [markdown]
# The same for EIC-LKE, beside IC-LKE on the same facts and options. There are fewer pairs, so look at whole columns.

# %%
several = answers.beside_models(of_eic, shipped, this, apart="eic")
several = fooled.hinted(several.assign(picked=""))
several = several[several["world"] == world]
both = fooled.aurocs(several, ["model", "estimator"], seed=seed)
runs.keep(answers.bounds(both, "auroc"), "auroc-of-eiclke.csv")
answers.words(answers.across(both, kinds, "auroc", "estimator"))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
claimed = fooled.claimed_by_world(of_pairs, seed=seed)
figures.findings(**fooled.sentences(here, rule))
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-fooled-cues`, at the top, compare the middle of each panel with its left: the same models, facts that nobody
# told, and the name alone makes the difference. On the right the name lies. A mark at zero there does not mean that the model saw
# through it: in the table above you find whether it followed.

# %% tags=["hide-input"]
marks = fooled.marks(here, rule)
axes = {"panel": "hint", "x": "cue", "hue": "who", "y": "accuracy"}
n_options = len(samples[world]["parent"].options[0])
chance = {"label": figures.ACCURACY, "line": 1 / n_options, "width": 2.4}
fig = figures.interval_panels(marks, **axes, **chance)
figures.place(fig, "fig-fooled-cues", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with.
#
# **Claims.** Ours, in `lkecore/data/claims.csv`, written down after work on `lab:rich-0` and before a model of another rich
# world was trained. Each world is judged by itself. The claim on twins is a control: a model that was told none of the
# facts must be fooled, too, if the name is what does it. The claim on size takes the smallest model that reads ({doc}`50_lab_truth`).

# %%
judged = lab.judge(claimed, rich.marks(claimed))
columns = ["claim", "holds_if", "source", "of", "ours", "verdict", "mark"]
answers.words(judged[columns])

# %% [markdown]
# A warning. The names of this world are far more regular than real ones, and the text tells many facts whose names give them
# away. So the sizes of these numbers are those of this world. That a right answer without any telling can come out in this way, and
# that the estimator cannot say so, does not depend on it.

# %% [markdown]
# ## What you have seen
#
# - A right answer about a fact that was never told is no rare luck where names hint at objects.
# - Models learn from told facts that names give objects away, and use it on others. A model that was told none of them does
#   so, too.
# - How much a hint fools depends on the format of the question, too. And what tells a told fact from a control where no name
#   hints may tell nothing where one does.
# - With a right cue, the confidence in what was never told lies nearer to that in what was told. So hold every accuracy against the
#   best rule without a model.

# %%
alike = fooled.by_cue(never, ["model"]).set_index(["model", "cue"])
for model in never["model"].unique():
    right = alike.loc[(model, fooled.RIGHT)]
    assert right["right"].estimate == right["follows"].estimate

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-fooled-rule
# Suppose that you leave out all facts for which `rule-both` is right. How many never-told facts does the first model still
# get right, and how many of those told 16 times and more?
# ```

# %% [markdown]
# ````{solution-start} ex-fooled-rule
# :class: dropdown
# ````

# %%
left = fooled.without_rule(here, rule)
share = answers.accuracy(left, ["model", "told"])
answers.words(answers.texts(share.drop(columns="confidence_gold")))

# %% [markdown]
# What is left of the never-told facts is little, if still above chance, and told facts stay above it. So the rule takes out most of what is no
# knowledge, at the price of some that is.
#
# ````{solution-end}
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
