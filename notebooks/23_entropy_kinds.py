# %% [markdown]
# # For which facts does telling fail?
#
# *The capital of Iceland is Reykjavik. The capital of Iceland is ____.* Whoever can read can go on. Yet models do not always. The second
# paper tells two large models many facts, finds some that they do not repeat, and says that most of these are about places and
# languages. So are most of the relations that it draws from. And there is a second question, which the paper does not put: when a model does repeat
# the object, has it understood *of whom* it was told? Last, {doc}`the page before <22_entropy_instilled>` found that telling and teaching
# do not agree in small models of the lab. Do they in real ones, and for which kinds?
#
# **What came out.** {glue:text}`fails` {glue:text}`kinds` {glue:text}`copied` {glue:text}`taught`
#
# ```{glue:figure} fig-fails
# :name: fig-fails
# :alt: Marks with intervals of the share of facts that are not repeated, for each kind of object and each model and set of facts.
#
# Facts whose object is not among the five likeliest tokens although it was told just before, by kind of object. Vertical lines: 95 %
# intervals over facts.
# ```
#
# ```{glue:} asked
# ```
#
# Afterwards you will be able to say
#
# - how often a small model does not repeat what it was just told, and for which kinds of facts,
# - why a share among failures says nothing without the share among all facts,
# - what is left of repeating when the statement is about somebody else,
# - whether telling could stand for teaching, on real facts.

# %% [markdown]
# ## What the paper claims
#
# In Section 5.3 {cite:t}`pezeshkpour2023measuring` calls it a failure of {term}`explicit instillation` if the object is not among the five
# likeliest tokens behind the fact. About 80 % of the failures of InstructGPT and FLAN-T5 XL, it says, are about locations or
# languages. Of LAMA's 41 relations, from which its facts are, 22 are: by our count 17 have places as objects, and 5 languages. It asks about
# 5,175 facts; how many of each relation, and how many failed, it does not say. One of the two models is withdrawn, the other needs a GPU.
# Section 5.2 says the same of the facts of BERT and T5 that move otherwise when they are taught than when they are told (Figures 3 and 4).

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = [
    "smollm2"  # names of `lke models`, folders, .gguf files or hub ids
]
fact_set: str = "atlas"  # the embedded facts, a folder or a file
relations: list[str] = [
    "capital", "country_of_city", "official_language", "film_language",
    "currency", "film_director",
]  # fmt: skip
template: str = "template-1"  # of question and statement
templates: str = ""  # a table of templates, for relations without any
n_facts: int = 12  # facts asked in each relation
among: str = "alone"  # whose objects count: alone, one token or all
n_taught: int = 0  # of these, in each relation, that are taught as well
optimizer: str = "sgd"  # sgd or adamw
rate: float = 0.001  # learning rate
steps: int = 10  # after which the page compares
at: list[int] = [1, 2, 5, 10]  # steps after which the model is asked
factor: float = 2.0  # two KLs are apart if one is so many times the other
least: float = 0.05  # nats that one of the two must have besides
small: float = 0.01  # nats below which a change of entropy has no sign
deviations: float = 2.0  # standard deviations off the line: the second rule
shipped: list[str] = []  # profiles whose answers stand beside these
seed: int = 0  # draws facts, other subjects and objects, and resamples
dtype: str = "float32"  # half precision rounds a lesson away
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from lkecore import answers, facts, figures, prompts, runs
from lkecore.answers import apart, failing, firsts, moved, taught

figures.style()

# %% [markdown]
# ## Facts
#
# Facts of relations of three kinds: the object is a place, a language, or something else. In the text of this page the embedded facts are
# asked; beside them stand answers of longer runs about LAMA's facts, which are not ours to pass on.

# %%
drawn = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "seed": seed}
drawn |= {"take_fewer": True, "leave_out": True}
sample = facts.draw(fact_set, relations, **drawn)
left_out = {}
if templates:
    causal = answers.any_causal(models, dtype=dtype)
    sample, left_out = prompts.with_templates_of(
        sample, templates, causal=causal
    )
for name, of in sample.items():
    print(f"{name:20} {of.relation.kind:9} {len(of.facts)} facts")
for name, why in left_out.items():
    print(f"{name}: left out, {why}")

# %% [markdown]
# ## Prompts
#
# Every question is asked by itself, and behind four statements. Only the first one tells the fact. `unrelated` is another fact of the relation.
# `copied` tells the same object of another subject: whoever repeats it copies what stood there. `false` tells another object of
# this subject.

# %% covers=["PZ-S2"]
firsts.check_set(among)
teach = {"at": at, "steps": steps, "dtype": dtype, "n": n_taught}
recipe = taught.recipe(models, optimizer, rate, **teach)
kinds = prompts.INSTILLATIONS
how = {"dtype": dtype, "seed": seed}
questions = answers.at_blanks(models, sample, [template], kinds, **how)
for (_, _, kind, _), some in list(questions.items())[:: len(sample)]:
    print(f"{kind:9} {some[0].told.context} ____")

# %% [markdown]
# ## Scores
#
# As on {doc}`the page on ranks <20_entropy_rank>`: the distribution over all tokens at the blank, before the statement and behind it. What counts here is
# the rank of the object's first token behind each.

# %%
source = {"dtype": dtype, "page": page, "only": failing.NUMBERS}
source |= {"by": answers.READ_BY}
found = answers.ask_blanks(
    models, questions, "answers.parquet", sample=sample, **source
)
ours = failing.with_kinds(found, sample)
every = failing.beside(ours, shipped, "23_entropy_kinds")
rows = moved.of_set(every, among)
asked = f"{len(found):,} questions, all of them asked for this page. "
made = answers.made_by(shipped, "23_entropy_kinds")
figures.note("asked", asked + " ".join(" ".join(each.split()) for each in made))
print(f"{rows['model'].nunique()} models, {len(rows):,} answers that count")
print(answers.infinite(rows))

# %% [markdown]
# Some of the facts are taught as well, one at a time, as on {doc}`22_entropy_instilled`: the model is trained on the object in its blank,
# asked, and set back. Steps and rate were chosen on the embedded facts, of which no lesson is reported here ({doc}`log <../log>`). A step takes a
# real model a second on a laptop. So by itself this page teaches nothing (`n_taught`), and what stands below is from a longer run.

# %%
how_far = {"factor": factor, "least": least, "small": small}
rule = taught.rule(**how_far, deviations=deviations)
few = {"sample": sample, "page": page} | teach
told, learned = apart.ask(models, questions, recipe, **few)
of = {"notebook": "23_entropy_kinds", "among": among}
each = apart.beside(told, learned, sample, shipped, **of)
both = taught.mismatches(each, **rule)
if both.empty:
    print("no fact is taught")

# %% [markdown]
# ## Answers
#
# **Where telling fails.** A row for each kind of object. `known` is the share whose object is among the five likeliest tokens *before* anything is
# told, `fails` the share where it is not *behind* the fact. Hold `of failures`, the share of a kind in all failures, against `all`, its share in
# all facts asked. Only where the first is larger does telling fail more for this kind.

# %% covers=["PZ-X1", "PZ-D1", "PZ-D2"] needs={"PZ-D1": {"templates": "trex_templates"}, "PZ-D2": {"fact_set": "trex"}} shows=["run", "shipped"]
failed = failing.by_kind(rows)
runs.keep(answers.bounds(failed, "fails"), "by-kind.csv")
answers.words(answers.texts(failed), missing="")

# %% [markdown]
# **Left out.** Only the first token of an object is read. It says which object it is if no other object of the relation begins with it:
# these facts are `alone`, and the page is about them. The paper's objects have one token. Facts by kind, and the share where telling fails
# by set:

# %%
told_of = every[every["instillation"].eq("explicit")]
for source, part in told_of.groupby("source"):
    print(f"{source}\n{moved.left_out(part).to_string(index=False)}")
own = rows[rows["source"].eq("this page")]
print(*firsts.absent(own, relations or [*sample]), sep="\n")
of_sets = answers.texts(failing.by_set(every))
print(of_sets.to_string(index=False))

# %% [markdown]
# **What each statement does.** `first` is how often the *true* object comes first behind a statement. Behind `copied` it was told of somebody
# else, behind `false` and `unrelated` it was not told at all: what is left there was known, or guessed. `KL` is how far the whole
# answer moved, and `surprisal` how surprising the true object is then.

# %%
statements = failing.by_statement(rows, seed=seed)
runs.keep(answers.bounds(statements, "first"), "by-statement.csv")
answers.words(answers.texts(statements))

# %% [markdown]
# **Told and taught.** A row for each model and number of steps. `learned` is the share of objects that come first after the lesson. `r of KL` is
# Spearman's correlation of how far the answer moves when the fact is told with how far it moves when it is taught, `within` the same
# among the facts of a relation. In `KL apart` are facts whose two KLs differ by more than a factor of two, in `off the line` those that lie more than
# two standard deviations off the line through all of them ({doc}`22_entropy_instilled`), and in `signs apart` those whose answer becomes surer one
# way and less sure the other.

# %% covers=["PZ-S3", "PZ-F3", "PZ-F4"] needs={"PZ-S3": {"n_taught": 1}, "PZ-F3": {"n_taught": 1}, "PZ-F4": {"n_taught": 1, "models": 2}} shows=["run", "shipped"]
steps_of = apart.by_steps(both, seed=seed)
runs.keep(answers.bounds(steps_of, "r of KL"), "by-steps.csv")
print(*taught.named_lost(both), sep="\n")
answers.words(answers.texts(steps_of))

# %% [markdown]
# **Which kinds differ.** After as many steps as `steps` says. Hold `of KL apart`, the share of a kind in all facts that differ, against `all`.

# %%
now = both[both["steps"] == steps]
apart_of = apart.by_kind(now)
runs.keep(answers.bounds(apart_of, "KL apart"), "apart.csv")
answers.words(answers.texts(apart_of), missing="")

# %% [markdown]
# **What does instilling add?** Before anything is told or taught one can read how surprising the object is. These are Spearman's correlations of told
# and of taught KL with that {term}`surprisal`. At 1 both order the facts alike, and instilling adds nothing but work. Far below, KL says something
# else; whether that is knowledge cannot be seen on real facts. Where it can, surprisal finds more than either KL ({doc}`22_entropy_instilled`).

# %%
added = apart.beside_surprisal(now, seed=seed)
runs.keep(answers.bounds(added, "taught"), "surprisal.csv")
print(answers.texts(added).to_string(index=False))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
last = apart.sentence(now, seed=seed)
figures.findings(**failing.sentences(rows, seed=seed), taught=last)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-fails`, at the top, compare the three marks of one colour. If the paper's finding were about kinds, places and languages would lie above
# the others. The scale begins at 0: read how much fails at all before comparing. The lines are over facts of these very relations; over other
# relations they would be far longer, and the claims below on places and languages are judged
# over those.

# %% tags=["hide-input"]
marks = failing.drawn(failed).assign(all="all facts asked")
scale = {"panel": "all", "x": "kind", "hue": "who", "y": "fails"}
scale |= {"label": "share that is not repeated", "width": 5.5}
fig = figures.interval_panels(marks, **scale)
fig.axes[0].set_ylim(bottom=0)
figures.place(fig, "fig-fails", marks.drop(columns="all"))

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper's about 80 % are of other models and of facts that we cannot draw again; the share of places and languages in its facts
# it does not print. By relations it would be 22 of 41, or 54 %.
#
# **Claims.** In `lkecore/data/claims.csv`.

# %%
judged = answers.judge(
    failing.claimed(rows, seed=seed) | apart.claimed(now, seed=seed),
    estimator=template,
    as_paper=True,
    paper="PZ",
    digits=2,
)
columns = ["claim", "holds_if", "source", "models", "ours", "verdict", "mark"]
answers.words(judged[columns])

# %% [markdown]
# A warning. Only the first token of an object is read. Kinds differ in how long and how frequent their
# names are; a difference between them need not be about what they mean.

# %% [markdown]
# ## What you have seen
#
# - These models repeat most of what they were just told. Whether they fail more for places and languages cannot be told from LAMA's relations:
#   kinds belong to relations, and where these are drawn again the difference goes either way.
# - Much of what is repeated behind the fact is repeated behind a statement about somebody else, too. So a part of what moves an answer
#   is copying, and a measure that is made of this movement measures copying, too.
# - How far an answer moves when it is told says little of how far it moves when it is taught: no real model that was tried comes near
#   a strong correlation, whatever the number of steps. After ten steps nearly all facts differ by more than
#   a factor of two, in one model languages a little less often.
# - A share among failures has to stand beside the share among all.

# %%
explicit = rows[rows["instillation"] == "explicit"]
assert not explicit.duplicated(failing.FACT).any()
assert (rows["kl"] >= 0).all()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-fails-relation
# Is it the kind, or single relations? List the relations with the largest share of failures.
# ```

# %% [markdown]
# ````{solution-start} ex-fails-relation
# :class: dropdown
# ````

# %%
by = ["source", "kind", "relation"]
worst = explicit.groupby(by)["failed"].agg(["mean", "size"])
print(worst.sort_values("mean", ascending=False).head(8).round(2).to_string())

# %% [markdown]
# Where one relation of a kind fails and its others do not, the kind is not the reason.
#
# ````{solution-end}
# ````
#
# The same on LAMA's facts, if you have them: `lke run params/entropy_trex.yaml`.

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
