# %% [markdown]
# # Can telling stand for teaching?
#
# There are two ways to give a model a fact. One can *tell* it, in front of the question. Or one can *teach* it: train the model on this
# one fact, ask, and put all weights back. Teaching takes a gradient and a copy of the model; telling takes a sentence. The second
# paper measures what a model knows by how far its answer moves, and wants to know whether telling is enough.
#
# **What came out.** {glue:text}`agree` {glue:text}`kinds` {glue:text}`finds`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-taught
# :name: fig-taught
# :alt: Two panels with a mark for each fact, by kind of its object. Left, KL when told against KL when taught, both logarithmic. Right, the change of entropy when told against that when taught. A dashed diagonal in both.
#
# Each mark is a fact. Left: how far the answer moves when it is told, and when it is taught. Right: how much surer the answer becomes.
# Dashed: both are the same. Filled marks are mismatches: a factor of more than two on the left, two signs on the right.
# ```
#
# Afterwards you will be able to say
#
# - what {term}`explicit <explicit instillation>` and implicit instillation are, and what each costs,
# - whether one can stand for the other, and whether that hangs on how long is taught,
# - which of them finds what a model was told before.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` compares both on BERT and T5, with 100 facts of each of 41 relations (Section 5.2, Figures 3 and 4;
# the values of the marks are lost). It sees a strong correlation, for T5 stronger than for BERT. Where the two differ, most objects are
# places or languages, it says, and concludes that such facts must be taught. But 22 of its 41 relations are about places and
# languages, so more than half of anything would be. It does not say how long, nor how fast, it teaches. And it gives no
# threshold for a mismatch: one KL has to be "significantly" higher or lower than the other. So we use two rules, and the numbers of both
# are parameters.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
relations: list[str] = [
    "residence", "birthplace", "instrument",
    "profession", "company_language", "second_language",
]  # fmt: skip
# Two of each kind; the first token of their objects says which one it is.
template: str = "template-1"  # of question, statement and lesson
optimizer: str = "sgd"  # sgd or adamw
rate: float = 0.003  # learning rate
steps: int = 5  # after which the page compares
at: list[int] = [1, 2, 5, 10, 20, 50]  # steps after which the model is asked
factor: float = 2.0  # two KLs are apart if one is so many times the other
least: float = 0.05  # nats that one of the two must have besides
small: float = 0.01  # nats below which a change of entropy has no sign
deviations: float = 2.0  # standard deviations off the line: the second rule
also: str = "adamw"  # teaches them a second time, for as many steps
also_rate: float = 0.0001  # learning rate of this one
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 2  # of its questions are asked and taught again
shipped: list[str] = []  # profiles whose models stand beside these
seed: int = 0  # draws options, shots and resamples
dtype: str = "float32"  # half precision rounds a lesson away
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import answers, figures, runs
from lkecore.answers import (
    firsts,
    gates,
    lab,
    moved,
    rich,
    taught,
    taught_said,
)

figures.style()

# %% [markdown]
# ## Facts
#
# Facts of a {ref}`rich world <rich-worlds>` that its text tells 16 times and more, and a never-told control of each.

# %%
how = {"n_shots": 1, "seed": seed, "leave_out": True}
samples = rich.samples(models, relations, taught.asked, **how)
questions = taught.questions(samples, models, template, dtype=dtype)
print(f"{sum(map(len, questions.values())):,} questions of all kinds of model")

# %% [markdown]
# ## Prompts
#
# Both begin with the same question. The statement is the filled template with its full stop. The lesson is the question with its object in
# the blank, and only the tokens of the object are learned: what stands before them is given, as when it is asked.

# %%
teach = {"at": at, "steps": steps, "dtype": dtype}
recipe = taught.recipe(models, optimizer, rate, **teach)
apart = {"factor": factor, "least": least, "small": small}
rule = taught.rule(**apart, deviations=deviations)
lessons = taught.lessons(questions, recipe, at=at, steps=steps)
some = next(iter(questions.values()))[0]
name = some.asked.options[some.asked.gold]
print(f"asked   {some.asked.context} ____")
print(f"told    {some.told.context} ____")
print(f"taught  {some.asked.context} [{name}], {optimizer} at {rate:g}")

# %% [markdown]
# ## Scores
#
# P is the distribution at the blank before, Q the one behind the statement, or after the lesson. Rate and steps of the lesson were chosen on the
# development world, of which no page reports: of each rate of plain gradient descent the fewest steps after which 95 % of the objects come first, and of
# these the one that moves other questions least ({doc}`log <../log>`, which has AdamW, too). The paper gives neither. So we go on for more steps, and look.

# %%
this = "22_entropy_instilled"
source = {"results": results, "notebook": this, "dtype": dtype, "page": page}
source |= {"n_again": n_again}
told = answers.ask_blanks(
    models,
    questions,
    "answers.parquet",
    by=["world", "reader", "estimator", "instillation", "relation"],
    **source,
)
learned = answers.ask_taught(
    models,
    lessons,
    "answers-taught.parquet",
    recipe,
    at=at,
    by=taught.LESSON,
    **source,
)
every = moved.beside(told, learned, shipped, this, "taught")
rows = taught.mismatches(taught.together(*every), **rule)
here = rows[rows["world"].eq(lab.worlds(models)[0])]
now = taught_said.chosen(here, next(iter(lessons))[3], steps)
print(*answers.made_by(shipped, this), answers.infinite(*every), sep="\n")
print(gates.missed(rows["model"]))

# %% [markdown]
# ## Answers
#
# **How long.** A row for each number of steps. `learned` is the share of objects that come first afterwards; it need not rise, since a
# step can be too large. `lost` counts facts whose lesson gave no number. `r` is Spearman's correlation of told with taught, for KL and for the change of entropy. The next three
# columns are shares of facts that differ: KL by more than a factor of two (`KL apart`), KL by more than two standard deviations off the line
# that fits the logarithms of taught on told KL (`off the line`), and the change of entropy in its sign. `finds` is the {term}`AUROC` of a small
# taught KL for what the text told. The first rule hangs on how long is taught, since taught KL grows and told KL does not. The second moves with
# the cloud of facts, and says little in another way: of any cloud about one fact in twenty lies that far out, whether the two agree or not.

# %% covers=["PZ-F4"] needs={"PZ-F4": {"models": 2}} shows=["run", "shipped"]
steps_of = taught.by_steps(here, seed=seed)
runs.keep(answers.bounds(steps_of, "r of KL"), "by-steps.csv")
of_these = rich.without_twins(steps_of).drop(columns="lesson")
print(*taught.named_lost(here), sep="\n")
answers.words(answers.texts(of_these), missing="")

# %% [markdown]
# **Left out.** Facts by kind: `all`, those whose object has `one token`, as the paper's, and those whose first token no other object of the world
# shares, which are `alone` and which this page is about. Below, the chosen row again, of objects of one token.

# %%
of_world = every[0][every[0]["world"].eq(lab.worlds(models)[0])]
asked_of = rich.with_states(rich.without_twins(of_world), ["kind"])
asked_of = asked_of.assign(set=firsts.sets(asked_of))
print(moved.left_out(asked_of).to_string(index=False))
print(*firsts.absent(here, relations), sep="\n")
one_token = asked_of[asked_of["n_tokens"].eq(1)].drop(columns="kind")
single = taught.mismatches(taught.together(one_token, every[1]), **rule)
single = taught.by_steps(single[single["steps"].eq(steps)], seed=seed)
single = answers.texts(single)
print(single[["model", "facts", "r of KL", "KL apart"]].to_string(index=False))

# %% [markdown]
# **Another optimizer.** The first step of AdamW moves every weight by the rate, however small its gradient. Plain descent moves most what is most
# wrong. The paper does not say by which it teaches. So here are the same facts by both, after the chosen steps: does `r`, how well telling agrees
# with teaching, hang on it? And `finds`? The rate of AdamW, too, was chosen on the development world.

# %%
once = {"at": [steps], "dtype": dtype}
other = taught.recipe(models, also, also_rate, steps=steps, **once)
by_other = answers.ask_taught(
    models,
    taught.lessons(questions, other, at=[steps], steps=steps),
    "answers-also.parquet",
    other,
    at=[steps],
    by=taught.LESSON,
    **source,
)
of_other = answers.beside_models(by_other, shipped, this, apart="also")
of_other = taught.together(every[0], of_other)
of_other = taught.mismatches(of_other, **rule)

# %% tags=["hide-input"]
both_ways = rows[rows["steps"].eq(steps)]
both_ways = pd.concat([both_ways, of_other], ignore_index=True)
by_lesson = taught.by_steps(both_ways, seed=seed)
runs.keep(answers.bounds(by_lesson, "r of KL"), "by-lesson.csv")
told_apart = rich.without_twins(by_lesson)[
    ["model", "lesson", "r of KL", "finds"]
]
print(answers.texts(told_apart).to_string(index=False))

# %% [markdown]
# **Which kinds.** The paper's count, with what it lacks: how many facts of each kind were asked at all. Hold `of KL apart`, the share of a
# kind in all mismatches, against `all`, its share in all facts. Kinds were told alike here, so a difference is not knowledge: it is names and
# their frequencies.

# %%
kinds = taught.by_kind(rich.without_twins(now))
runs.keep(answers.bounds(kinds, "KL apart"), "by-kind.csv")
answers.words(answers.texts(kinds))

# %% [markdown]
# **Which finds the truth?** For each way of measuring the AUROC of a small value, facts told often against their controls. Surprisal and rank
# need neither statement nor lesson. A twin was told none of these facts, and must be at 0.5.

# %%
ways = taught.aurocs(now, seed=seed)
runs.keep(answers.bounds(ways, "finds"), "by-way.csv")
answers.words(answers.across(ways, "way", "finds"))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
lesson = now["lesson"].iloc[0]
said = taught_said.sentences(now, steps_of, factor=factor, seed=seed)
said["finds"] += taught_said.by_another(by_lesson, now, also)
figures.findings(**said)
figures.note("carried", answers.carried(told, learned, by_other))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-taught`, at the top, look at the left panel. If telling could stand for teaching the marks would lie along a line. Then look to
# the right. Marks in the upper left or the lower right quarter are facts that make the answer surer one way and less sure the other.

# %% tags=["hide-input"] covers=["PZ-S3", "PZ-F3"]
first = rich.teller(now["model"].unique())
marks = taught_said.scattered(now[now["model"] == first])
fig, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
figures.instilled_scatter(marks, axes)
figures.place(fig, "fig-taught", marks)

# %% [markdown]
# {numref}`fig-taught-steps` has the same numbers over the steps. The taught KL grows with each step, without end, so that the share of
# facts that differ hangs on when one stops. See whether the other two lines do.
#
# ```{glue:figure} fig-taught-steps
# :name: fig-taught-steps
# :alt: Three panels over the number of steps, with a line for each model: the correlation of told and taught KL, the share of facts that differ, and the AUROC of taught KL.
#
# What hangs on how long is taught. Left: the correlation of told with taught KL. Middle: the share of facts whose two KLs differ by more
# than a factor of two. Right: how well a small taught KL finds what the text told. Vertical lines: 95 % intervals.
# ```

# %% tags=["hide-input"]
size = {"figsize": (11, 4.4), "layout": "constrained"}
fig, axes = plt.subplots(1, 3, **size)
lines = taught_said.drawn_steps(steps_of)
figures.step_lines(lines, axes)
figures.place(fig, "fig-taught-steps", lines)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The values of the paper's Figures 3 and 4 are lost, and it prints no correlation. There is nothing to compare with.
#
# **Claims.** In `lkecore/data/claims.csv`, written down before a reported model was taught. Each world is judged by itself. Two
# kinds of verdict bear a mark. How often `lab:rich-1/bert` reads was chosen after a look at it. And a model that misses the gate of
# repeating ({doc}`50_lab_truth`) is out where a claim rests on what the prompt tells; beside a decoder stands the largest one that passes.

# %%
now_all = taught_said.chosen(rows, lesson, steps)
claimed = taught_said.claimed(now_all, seed=seed)
if also == "adamw":
    claimed |= taught_said.claimed(of_other, seed=seed, behind="-adamw")
aside = rich.marks(claimed)
judged = lab.judge(claimed, aside, estimator=template)
columns = ["claim", "holds_if", "source", "of", "ours", "verdict", "mark"]
answers.words(judged[columns])

# %% [markdown]
# A warning. Small models that are unsure of what they know are taught easily: see in the first table how many objects come first after a single
# step. Large models may differ, and so may other recipes. Where the paper sees a strong correlation we see none by plain descent in decoders, or its
# reverse, and a weak one in models of the kinds of BERT and T5; it is reversed in the `t5` of the third world, which hardly repeats what it is told
# ({doc}`53_lab_entropy`). By AdamW it is weak or none in decoders and `bert`, and none or reversed in `t5`. The paper's models are far larger, and how they were taught it does not say. Real models stand on {doc}`the next page <23_entropy_kinds>`. And the
# interval of the claim about places is over facts of these six relations; what other relations would say it does not know.

# %% [markdown]
# ## What you have seen
#
# - Telling and teaching are not two ways to the same number. However long was taught, the KL of a fact by one said little or nothing of
#   its KL by the other.
# - What a lesson says hangs on the optimizer. Taught by AdamW these models move *further* where their text told the fact, in all worlds and kinds,
#   as decoders do when they are told it. By plain descent some move less there.
# - Whether a mismatch is about places has to be asked with the share of places among all facts beside it.
# - Whether teaching finds more of what a model was told than telling does hangs on the number of steps. The surprisal of the object needs
#   neither, and finds more than both after the steps that were chosen.

# %%
assert (learned["kl"].dropna() >= -1e-6).all()
assert told["kl"].notna().all()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-taught-learned
# Which facts are learned more slowly? Compare the share that comes first after the lesson, between facts that the text told and
# facts that it never told.
# ```

# %% [markdown]
# ````{solution-start} ex-taught-learned
# :class: dropdown
# ````

# %%
by = ["model", "state", "steps"]
taught_at_all = here[~here["lost"]].groupby(by)["learned"]
print(taught_at_all.mean().unstack().round(2).to_string())

# %% [markdown]
# If known facts come first sooner, the speed of learning is a measure of knowledge as well, and one that looks at the object.
#
# ````{solution-end}
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
