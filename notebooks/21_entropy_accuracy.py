# %% [markdown]
# # Which measure orders facts by how much of them was taught?
#
# Teach a model that *Zara was born in the city of Oslo*. Teach it of somebody else only *Remo in the city of Rome*, and of a third *Lena Bern*. It has
# then been told less and less. If a measure of knowledge is any good, it should put the three into this order. This is the second
# paper's own test of its measures, and the source of its main numbers.
#
# **What came out.** {glue:text}`orders` {glue:text}`others` {glue:text}`before`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-groups
# :name: fig-groups
# :alt: Two panels, before and after the lessons, with a mark and an interval for each of seven measures and each model: the share of pairs in the right order, and a dashed line at one half.
#
# The share of pairs of facts that a measure puts in the right order, ties counted half, before anything is taught and after. Vertical
# lines: 95 % intervals over groups. Dashed: no order at all.
# ```
#
# Afterwards you will be able to say
#
# - how the paper tests measures of knowledge without knowing what a model knows,
# - what a rank loses when ties count as wrong, and that this is a choice,
# - how the same measure can pass one test and fail another.

# %% [markdown]
# ## What the paper claims
#
# In Section 5.1 {cite:t}`pezeshkpour2023measuring` takes facts that BERT and T5 do not know, puts them into groups of five, and takes away more and
# more words of their sentences. The models are fine-tuned on what is left, and asked with the whole sentences. The KL-divergence is right
# in 74.5 % and 67.8 % of pairs, the change of entropy in 72.2 % and 66.4 %, the rank in 51.6 % and 30.9 % (its Table 1). A rank that is right in 31 % of
# pairs is worse than a coin: so ties must have counted as wrong. How long is taught, how badly a fact must be known, and whether the model is told the
# fact before or after, it does not say. Its gain over the rank has three sizes: over 35 % in the abstract, around 30 % in the introduction, more than
# 20 % and 35 % in this section. Only the last are those of its table: 22.9 points with BERT and 36.9 with T5.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # of the lab, or of any kind
relations: list[str] = [
    "birthplace", "citizenship", "company_language", "mother_tongue",
]  # fmt: skip
# Their templates have three words or more beside subject and object.
fact_set: str = ""  # empty: the world of the lab that a model has read
templates: str = ""  # a table of templates, for a fact set without any
n_facts: int = 100  # facts of a relation of the fact set, at most
template: str = "template-1"
n_groups: int = 20  # groups of five facts in each relation, at most
badly: int = 10  # a fact whose object has a rank above this is not known
optimizer: str = "sgd"  # sgd or adamw
rate: float = 0.01  # learning rate
passes: int = 10  # over all that is taught of a relation
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 1  # relations that are taught and asked again
shipped: list[str] = []  # profiles whose models stand beside these
seed: int = 0  # draws groups, the order of the lessons, and resamples
dtype: str = "float32"  # half precision rounds a lesson away
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from lkecore import answers, figures, prompts, runs
from lkecore.answers import (
    firsts,
    gates,
    groups,
    groups_said,
    lab,
    moved,
    rich,
)
from lkecore.prompts.shortened import LEVELS, shortened
from lkecore.tasks.instill import Recipe

figures.style()

# %% [markdown]
# ## Facts
#
# Never-told facts of a {ref}`rich world <rich-worlds>` of the lab. Of these, only facts count whose object has a rank above ten, as with the paper's, and
# whose first token is that of no other object. With `fact_set` they are real facts, and any model can be taught
# them: those of two real models, *on groups_trex*, are LAMA's, up to three groups of each of thirty relations.

# %%
about = {"fact_set": fact_set, "templates": templates, "n_facts": n_facts}
samples, left_out = groups.samples_of(
    models, relations, template, **about, seed=seed
)
sample = next(iter(samples.values()))
for name, of in sample.items():
    print(f"{name:17} {len(of.facts)} facts, such as {of.facts[0].subject}")
for name, why in left_out.items():
    print(f"{name}: left out, {why}")

# %% [markdown]
# ## Prompts
#
# A group has five facts. The first is taught with all words, the next ones with fewer, from the left, and the fifth not at all.

# %% covers=["PZ-D5"]
whole = prompts.templates_of(next(iter(sample.values())).relation)[template]
for share in LEVELS:
    print(f"without {share:4.0%} of its words: {shortened(whole, share)}")
print("not taught")

# %% [markdown]
# ## Scores
#
# Of each relation all groups are taught together, word by word of their objects, and then every fact is asked with its whole sentence, by itself and
# behind the fact. Then the weights are put back. Rate and passes were chosen on the development world: the fewest passes after which nine in ten
# objects that were taught with all words come first ({doc}`log <../log>`), ten for decoders and twenty for `bert` and `t5`.
# Those of real models were chosen on the embedded facts. {term}`KL back <KL-divergence>` runs the other way.

# Below, the facts that there are by kind: `all`, those whose object has `one token`, as the paper's, and those of which groups are made, whose first
# token no other object shares: `alone`.

# %%
there = firsts.of_samples(models, samples, template, dtype=dtype)
print(moved.left_out(there).to_string(index=False))

# %%
this = "21_entropy_accuracy"
recipe = Recipe(passes, rate, optimizer)
how = {"n_groups": n_groups, "badly": badly, "dtype": dtype, "page": page}
how |= {"seed": seed, "results": results, "notebook": this, "n_again": n_again}
ours = answers.ask_groups(
    models, samples, template, recipe, "answers.parquet", **how
)
for name, why in groups_said.left_out(sample, ours).items():
    print(f"{name}: left out, {why}")
rows = groups_said.beside(ours, shipped, this)
others = ~rows["source"].eq("this page") & ~rows["model"].str.startswith("lab:")
here = rows[rows["world"].eq(next(iter(samples))) | others]
here = groups_said.named(here)
print(*answers.made_by(shipped, this), answers.infinite(rows), sep="\n")
print(gates.missed(rows["model"]))

# %% [markdown]
# ## Answers
#
# **The order.** The share of pairs in the right order, a tie counting one half, so that one half is no order, whatever the measure. `bert` is a
# masked model and `t5` an encoder-decoder, as the paper's are. The paper does not say whether the change of entropy orders facts by its
# size or with its sign. By its size, the fact whose answer moves least is the best known; with its sign (`signed change`), the one that
# leaves the answer less sure than before. See how much hangs on that.

# %% covers=["PZ-M1", "PZ-T1", "PZ-D1"] needs={"PZ-D1": {"templates": "trex_templates"}} shows=["run", "shipped"]
orders = groups.orders(here, seed=seed)
runs.keep(answers.bounds(orders, "half"), "orders.csv")
after = orders[orders["when"] == "after"]
answers.words(answers.across(after, "metric", "half"))

# %% [markdown]
# **As the paper counts.** The same with a tie being wrong, as we read it. The last two columns are its Table 1.

# %%
right = answers.across(after, "metric", "right")
answers.words(right.join(groups.published(), on="metric"), digits=2, missing="")

# %% [markdown]
# **By how much was taught.** The mean KL after the lessons, in nats, by what was left of the sentence. The fully taught fact should be at one end of each
# column, and the one that was not taught at the other. Look where two neighbours change places.

# %%
levels = groups.by_level(here, seed=seed)
runs.keep(answers.bounds(levels, "KL"), "by-level.csv")
answers.words(answers.across(levels, "words", "KL"))

# %% [markdown]
# **Was it learned?** The share of objects that come first after the lessons. Where it is low even in the first row, the lesson was too short for
# this model, and there is less to put in order.

# %%
answers.words(answers.across(levels, "words", "first"))

# %% [markdown]
# **Does telling still move anything?** Medians of KL over all facts of a model, in nats. A lesson can make a model deaf to what it is told:
# then KL is near nothing for facts of all levels, and cannot order them.

# %%
print(groups_said.telling(here).round(3).to_string(index=False))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
figures.findings(**groups_said.sentences(orders))
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-groups`, at the top, all marks of the left panel should lie on the dashed line: the groups were drawn by lot. On the right, compare KL with
# surprisal, and both with the rank. Here ties count one half.

# %% tags=["hide-input"]
marks = groups_said.drawn(orders)
scale = {"panel": "when", "x": "metric", "hue": "model", "y": "half"}
scale |= {"label": "pairs in the right order", "line": 0.5, "width": 4.8}
fig = figures.interval_panels(marks, **scale)
figures.place(fig, "fig-groups", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper's Table 1 stands beside ours above, with ties as wrong, as we read it. Models, facts and lessons are others: no number can be
# reproduced.
#
# **Claims.** In `lkecore/data/claims.csv`, written down before a reported model was taught. Each world is judged by itself. Two
# kinds of verdict bear a mark. How often `lab:rich-1/bert` reads was chosen after a look at it. And a model that misses the gate of
# repeating ({doc}`50_lab_truth`) is out where a claim rests on what the prompt tells; beside a decoder stands the largest one that passes.

# %%
claimed = groups_said.claimed(rows, seed=seed)
aside = rich.marks(claimed)
judged = lab.judge(claimed, aside, estimator=template)
columns = ["claim", "holds_if", "source", "of", "ours", "verdict", "mark"]
answers.words(judged[columns])

# %% [markdown]
# A warning. What is taught last and on purpose is known in another way than what was read once among many things. Compare
# {doc}`53_lab_entropy`: there the same measures are held against what the models were told in their text, and KL runs backwards.

# %% [markdown]
# ## What you have seen
#
# - Where invented facts have just been taught well, an answer moves less when they are told. There KL is a measure of knowledge, and a
#   better one than the change of entropy, as in the paper, in all three kinds of model.
# - With real facts it hardly is, but there only half of the fully taught objects come first, so it may be the lesson. In one real model KL orders few more pairs than a coin, and no more than the change of entropy. The other
#   one is hardly moved by anything after the same lessons, and KL is a coin.
# - With its sign the change of entropy orders no more pairs than by its size, in most models fewer. Which of the two the paper means it does
#   not say.
# - The surprisal of the object, without telling, is the better measure in all of them.
# - How bad a rank looks hangs on what is done with ties. Counted half, it does no worse than KL. Counted as wrong, it falls behind KL in
#   some models, where several objects of a group come first. So it may have been in the paper.
# - A test that a measure passes on facts that were drilled says little about facts that were read.

# %%
sizes = ours.groupby(["model", "relation", "group", "when"]).size()
assert (sizes == groups.SIZE).all()
assert (ours["kl"] >= 0).all()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-groups-neighbours
# Pairs of neighbours are harder than the first against the last. Compare the surprisals of facts that were taught with all words with
# those that were taught with two thirds, and with those that were not taught: how often is the first smaller?
# ```

# %% [markdown]
# ````{solution-start} ex-groups-neighbours
# :class: dropdown
# ````

# %%
wide = here[here["when"] == "after"].pivot(
    index=["model", "relation", "group"], columns="level", values="surprisal"
)
for level in range(1, groups.SIZE):
    less = (wide[0] < wide[level]).groupby("model").mean().round(2)
    print(f"level 0 below level {level}: {less.to_dict()}")

# %% [markdown]
# A lesson that worked leaves the object less surprising the more of it was taught.
#
# ````{solution-end}
# ````
#
# The same with fewer passes: set `passes` in a params file of your own, and see which measure notices first.

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
