# %% [markdown]
# # Is a question fooled less than a list?
#
# A name that gives its object away fools pairs and sentences: {doc}`56_lab_fooled` counts how often. Perhaps it is the form that
# does it, since a pair says hardly more than the name. Here the same facts are asked by a question and by an instruction, and the model
# writes what it likes. All ways stand beside each other, those of the other page too, and how far an answer moves when the fact is told
# or taught.
#
# **What came out.** {glue:text}`luck` {glue:text}`apart` {glue:text}`written` {glue:text}`twin`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-ways-auroc
# :name: fig-ways-auroc
# :alt: A panel for each model with a row for each way of asking and three marks with intervals in it, for facts without a cue, with a right cue and with a lying one.
#
# How often a fact told 16 times and more lies above its never-told control of the same object and the same kind of cue (AUROC), by the
# way of asking. 95 % intervals over pairs, each of another subject. Dashed: no telling apart.
# ```
#
# Afterwards you will be able to say
#
# - whether a question or an instruction is fooled less by a name than pairs are,
# - what is lost if a model writes, and only right or wrong is counted,
# - which ways of asking tell a fact that was told from one that a name gave away.

# %% [markdown]
# ## What the paper claims
#
# No paper stands behind this page. {cite:t}`wu2024iclke` show pairs, so that a model need not understand an instruction, and hold them
# against templates and written answers. Which of them a name fools most nobody can say on real facts, where nobody knows what was read.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
estimators: list[str] = ["template-16", "template-21"]  # asked with options
written: str = "template-16"  # of these, after which the models write
often: int = 16  # tellings of the facts that are asked
n_tokens: int = 9  # new tokens of an output; more than an object has
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each way, are asked again
shipped: list[str] = []  # profiles whose models stand beside these
shipped_fooled: list[str] = []  # profiles with 56_lab_fooled's ways of asking
shipped_taught: list[str] = []  # profiles with page 22 on these facts
seed: int = 0  # draws the order of options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from lkecore import answers, figures, prompts, runs
from lkecore.answers import fooled, fooled_ways, gates, lab, rich

figures.style()

# %% [markdown]
# ## Facts
#
# Of the four relations of {doc}`56_lab_fooled` in which something hints at the object: a surname, a city or a country in the subject's
# name, or one colour that two teams in five have. Here are all facts that the text tells often, and of each one its {term}`control`: a fact
# that it never tells, with the same object and the same kind of {term}`cue`. So any two ways of asking can be held against each other on
# the same pairs.

# %%
samples = rich.samples(
    models,
    list(fooled.RELATIONS),
    lambda states: fooled.told_or_control(states, often=often),
    n_shots=0,
    seed=seed,
)
print(fooled.counts(samples).to_string(index=False))

# %% [markdown]
# ## Prompts
#
# The text tells facts in 25 wordings of five kinds. Two are asked: the first question and the first instruction. The options are all
# objects of the relation. The text has such questions and instructions about other subjects, too, some thousand times.

# %%
questions, after = fooled_ways.questions(samples, estimators, written)
for name in estimators:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# ## Scores
#
# Once more behind the question, a model writes: the most probable token each time, up to a full stop. Nobody shows it the options. An
# answer is right if it begins with the object. So what is written has an outcome and no {term}`confidence`.

# %%
this = "56_lab_ways"
gates.check(models, after, n_tokens=n_tokens, dtype=dtype)
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"by": lab.BY, "dtype": dtype, "page": page}
read = {"reading": fooled_ways.plainly}
ranked = answers.ask(models, questions, "answers.parquet", **read, **source)
source |= {"only": gates.own_world(models), "only_by": "world"}
long = {"max_new_tokens": n_tokens, "stop": "."}
texts = answers.write(
    models, after, "answers-written.parquet", **long, **source
)
every = answers.beside_models(ranked, shipped, this)
outputs = answers.beside_models(texts, shipped, this, apart="written")
world = lab.worlds(models)[0]
every, outputs = (f[f["world"] == world] for f in (every, outputs))
print(f"{len(every):,} answers and {len(outputs):,} outputs")

# %% [markdown]
# ## Answers
#
# **Right answers.** Read the rows *never told* first. Without a cue an answer can only be luck, one in a hundred; with a right cue the
# name or the frequent colour does it, whatever the words of the question. The lines above the table say how often an answer follows a cue that lies. Ways of the other
# page are there, too, of the same facts. That page counts all never-told facts, and sets colours apart; here stand controls alone, and
# colours among them. So shares by one way are others here than there.

# %%
said = fooled_ways.as_answers(outputs, after)
ours = fooled_ways.both(every, said)
chosen = fooled_ways.chosen(ours, shipped_fooled)
cued = fooled.by_cue(chosen, ["told", "model", "estimator"])
runs.keep(answers.bounds(cued, "right"), "right-by-cue.csv")
lying = cued[cued["cue"] == fooled.LIES]
rows = ["told", "model", "n"]
print(answers.across(lying, rows, "follows", "estimator").to_string())
rows = ["told", "model", "cue", "n"]
answers.words(answers.across(cued, rows, "right", "estimator"))

# %% [markdown]
# **Told or not?** Accuracy cannot say what was told. Does the confidence? The {term}`AUROC` asks how often a fact told often has more of
# it than its control; one half is no telling apart. What is written counts as 1 where it is right and 0 elsewhere, with ties for one half: what
# the outcome alone tells. EIC-LKE (`eiclke`) asks other facts among fewer options, and the numbers at a blank ({term}`surprisal`,
# {term}`rank`, entropy, KL) leave out those whose object shares its first token, as all parents do: compare their rows with each other.
# *Told*: the fact stands in front of the question. *Taught*: the model is trained on it first, as on {doc}`22_entropy_instilled`, by plain
# descent (`sgd`) or by AdamW. A masked model can be asked at a blank alone.

# %%
others = fooled_ways.otherwise(ours, shipped_fooled, shipped_taught)
apart = fooled_ways.aurocs(chosen, others, seed=seed)
print(*answers.made_by(shipped_taught, fooled_ways.INSTILLED), sep="\n")
print(gates.missed(apart["model"]))
runs.keep(answers.bounds(apart, "auroc"), "auroc-by-way.csv")
answers.words(answers.across(apart, ["model", "estimator"], "auroc", "cue"))

# %% [markdown]
# **Against pairs.** The same pairs of facts by each way, minus what `than` finds of them: above 0, this way tells told from
# never told better. An interval that holds 0 says that the two are not told apart by so many pairs. The twin was told nothing: what it
# gains or loses is luck, or what the subjects of told facts have beside their telling.

# %%
than = fooled_ways.reference(chosen)
gains = fooled_ways.beyond(chosen, than, seed=seed)
runs.keep(answers.bounds(gains, "gain"), "gain-by-way.csv")
print(f"than {than}")
kinds = ["model", "cue", "pairs"]
answers.words(answers.across(gains, kinds, "gain", "estimator"))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
said_of = fooled_ways.sentences(chosen, apart, written)
said_of["written"] += fooled_ways.by_moves(apart)
figures.findings(**said_of)
figures.note("carried", answers.carried(ranked, texts))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-ways-auroc`, at the top, go down one panel and look at one colour. Rows that lie under each other say that the words
# of the question make no difference. Then compare the colours of a row: how far the mark with a right cue lies left of the one without
# is what the name takes away. Rows at the bottom whose marks lie left of the dashed line take what was told for *less* known.

# %% tags=["hide-input"]
marks = fooled_ways.marks(apart)
fig = figures.way_rows(marks, line=0.5)
figures.place(fig, "fig-ways-auroc", marks)

# %% [markdown]
# ## Paper and ours
#
# There is no published number. And there is no claim to judge: what pairs and sentences do with a cue was known from
# {doc}`56_lab_fooled` when these questions were asked, so that a least effect would have been set with its answer in view.
#
# A warning. These are a few dozen pairs of one world, and one wording of each kind. Two of the models are twins of one size.
# A way that looks like another one here may differ from it by as much as the intervals are wide. A model that misses the gate of repeating
# ({doc}`59_lab_gates`; printed above) takes up less of what it is told. And the steps and the rates of the lessons are those of
# {doc}`22_entropy_instilled`: other ones may find more, or less.

# %% [markdown]
# ## What you have seen
#
# - Where a name or a frequent colour gives the object away, a question and an instruction are answered rightly without any telling, as pairs are.
# - Confidence tells told from never told where no name hints. Where one hints rightly, all ways tell it less well, and the smaller model least.
# - Of what is written only right or wrong is known. That tells least where it would be needed most: both are right.
# - A name that lies does less harm: the control follows the lie, and so does the told fact, but less.
# - How far an answer moves when the fact is told, by entropy or by KL, finds what the text told in no case here: in models that read it, it
#   is on the wrong side, or level.
# - Teaching it mends little of that. By plain descent KL finds a little in the largest model, and far less than confidence does. By AdamW
#   it is on the wrong side but where a cue is right, furthest in the largest model: what the text told moves *further*. With a right cue
#   told and taught are level, or a little above.
# - The surprisal of a masked model loses less by a right cue than those of decoders do, and finds less than that of the largest without one.

# %%
sides = chosen.assign(never=chosen["told"].eq(fooled.NEVER))
sides = sides.groupby(["model", "estimator", "never"])["fact"].nunique()
assert sides.nunique() == 1  # each told fact has a control of its own

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-ways-same
# Does a model write what it ranks first, when it is asked the same question? And where it was told nothing and nothing hints?
# ```

# %% [markdown]
# ````{solution-start} ex-ways-same
# :class: dropdown
# ````

# %%
same = fooled_ways.same(chosen, written)
answers.words(answers.across(same, ["told", "cue", "n"], "same"))

# %% [markdown]
# It mostly does, told or not, with a hint or without one. So what it writes says what it ranks first, and no more: how far the first lies
# above the others is what an outcome leaves out, and that tells a name from a telling.
#
# ````{solution-end}
# ````
#
# The same in other words: `lke run params/lab_ways.yaml`, with other templates under `estimators`.

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
