# %% [markdown]
# # How are a million texts scored without reading them all?
#
# Fifty examples, a subject, a hundred options: a hundred long texts for one fact, and they differ in their last
# word or two. On this page we look at how `lkecore` scores them without reading the examples a hundred times.
#
# **What came out.** {glue:text}`saved` {glue:text}`exact` {glue:text}`rough`
#
# ```{glue:figure} fig-scorer-growth
# :name: fig-scorer-growth
# :alt: Four panels with logarithmic axes. In each, a line for the tree runs far below a line for one pass per text.
#
# Tokens that go through the model, and seconds, over the number of facts (left, with all options) and over the number
# of options (right). The tree: measured. One by one: tokens counted, seconds extrapolated from the few texts that were
# timed on this page.
# ```
#
# Afterwards you will be able to say
#
# - how a prefix tree, and an attention mask made from it, leave out all repeated work,
# - how exact the result is, in `float32` and in `bfloat16`,
# - why more options need little time, and more facts not much.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` define what has to be computed, and this book computes just that: the log-probability
# of each option after the examples and the subject, as in {eq}`eq-logprob`. With 50 examples, 100 options,
# 400 facts and 50 relations that is two million texts for each model. The paper prints no times. For speed it has another
# estimator, {term}`EIC-LKE`, which gives other numbers. So there is no claim about speed to test here.
#
# What we do test is a promise of our own: the fast scorer gives the numbers of the slow definition, one
# forward pass for each text, to within $10^{-4}$ nats in `float32`.

# %% [markdown]
# ## Parameters
#
# `pictured` and `pictured_options` are for the drawings. Everything else is about the measurements.

# %% tags=["parameters"]
model: str = "smollm2"
fact_set: str = "atlas"
relation: str = "country_of_city"
n_shots: int = 50  # pairs shown before the question
facts_tried: list[int] = [2, 5, 10, 20]  # with all options
options_tried: list[int] = [10, 25, 50, 100]  # with n_facts facts
n_facts: int = 10  # at most the largest of facts_tried
n_plain: int = 6  # texts that go through the model one by one
pair_separator: str = " "
shot_separator: str = "\n"
pictured: list[str] = ["Cape Town", "Daegu"]  # subjects in the drawings
pictured_options: list[str] = [
    "Italy",
    "South Africa",
    "South Korea",
    "United Kingdom",
]  # their objects among them
seed: int = 0  # draws shots, facts and options

# %% tags=["hide-input"]
import numpy as np
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, models, prompts, runs
from lkecore.answers import beginnings
from lkecore.metrics import choice as iclke
from lkecore.scores.expected import expected_tokens
from lkecore.scores.tokens import encode
from lkecore.scores.tree import option_logprobs

figures.style()

# %% [markdown]
# ## Facts
#
# One relation is enough, since every relation is scored for itself. Fewer facts are the first of more facts.

# %%
chosen = facts.load(fact_set, relation)
in_drawing = facts.of_subjects(chosen, pictured)
train, test = facts.divide(chosen)
among = [fact for fact in test if fact.subject not in pictured]
limits = {"n_facts": n_facts, "n_plain": n_plain, "has": len(among)}
beginnings.check(facts_tried, options_tried, **limits)
asked = facts.draw_facts(among, max(facts_tried), seed)
shown = facts.draw_shots(
    [fact for fact in train if fact.subject not in pictured], n_shots, seed
)
print(f"{chosen.label}: {len(shown)} pairs shown, {len(asked)} facts asked")

# %% [markdown]
# ## Prompts
#
# One block of questions for each number of facts, and for each number of options. A small one is for the drawings.

# %%
how = dict(pair_separator=pair_separator, shot_separator=shot_separator)
blocks = {}
for n, k in beginnings.sizes(facts_tried, options_tried, n_facts):
    options = facts.draw_options(asked[:n], chosen.objects, k, seed)
    blocks[n, k] = prompts.many_shot(shown, asked[:n], options, **how)
few = [pictured_options] * len(pictured)
small = prompts.many_shot(shown, in_drawing, few, **how)
most = max(options_tried)
questions = blocks[n_facts, most]
print("...", questions[0].context[-60:])
print(questions[0].continuations[:5], "...")

# %% [markdown]
# Each continuation makes a text of its own. The model reads *tokens*, so they can be counted before anything is
# computed. `one by one` is what one {term}`forward pass` for each text computes. For `distinct` all texts go into a
# {term}`prefix tree`, in which each node stands for a beginning of a text, and what two texts share is there once.
# Counted are the nodes with something below them: nothing is predicted from a last token, so it need not be read.

# %%
lm = models.open_model(model)
encoded = {
    size: encode(lm.tokenizer, block, front=lm.front)
    for size, block in blocks.items()
}
counts = beginnings.counts(encoded)

# %% [markdown]
# ## Scores
#
# Now the measurement. A time that came from the disk would mean nothing, so `use_cache=False`. A first small block does
# not count: it loads the weights, and finds out whether this architecture takes the mask that is explained below.
#
# The definition is slow, so only a few texts go through the model one by one: one of each of the first
# facts. Their time, divided by their tokens, is the measure for the texts that we do not wait for.

# %%
option_logprobs(lm, blocks[min(facts_tried), most][:1], use_cache=False)
scored = {
    size: option_logprobs(lm, block, use_cache=False)
    for size, block in blocks.items()
}
half = models.open_model(model, dtype="bfloat16")
in_half = option_logprobs(half, questions, use_cache=False)
runs.keep(scored[n_facts, most].frame, "scores.parquet")
timed = encoded[max(facts_tried), most][:n_plain]
plain, per_token = beginnings.one_by_one(lm, timed)
costs = beginnings.with_costs(counts, scored, per_token)
answers.words(costs, digits=1)

# %% [markdown]
# What to see: `times`, how often the same thing would be computed. It can be larger than the number of
# options, because different facts share the examples, too. A causal model reads from left to right. What it computes
# at a token depends on the tokens before it and on nothing else. So what is computed once for a beginning holds for
# every text that begins in this way. `ours`, the tokens that went through the model, is `distinct`, or next to it. The
# last column is *extrapolated*: nobody has waited so long.
#
# **How it is done.** Take two facts with four options each, and the log-probability of each single token, given all that
# stands before it. Those of one option must add up to the log-probability of the option.

# %%
tokens = beginnings.token_logprobs(lm, small)
sums = tokens.groupby(["subject", "option"], sort=False)["logprob"].sum()
whole = option_logprobs(lm, small).frame["logprob"]
assert np.allclose(sums, whole, atol=1e-3)

# %% [markdown]
# What to see in {numref}`fig-scorer-tree`: the examples are there once, in the box on the left. The subjects
# hang on it, and the options on the subjects. Options that begin alike share their first token. A dashed box
# never goes through the model: its number is read at the box to its left. So an option of one token costs nothing.
#
# ```{glue:figure} fig-scorer-tree
# :name: fig-scorer-tree
# :alt: A tree from left to right: a box for the examples, then the tokens of two subjects, then the tokens of four options after each. Last tokens have dashed outlines.
#
# The prefix tree of two facts with four options each. The box on the left stands for all tokens that both facts share.
# Below each scored token stands its log-probability in nats; along a path they add up to that of the option. The sign ␣
# is a space: it belongs to the token.
# ```

# %% tags=["hide-input"]
shared = f"{n_shots} pairs"
nodes = beginnings.tree_nodes(lm, small, tokens, context=shared)
fig, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
figures.prefix_tree(nodes, ax)
figures.place(fig, "fig-scorer-tree", nodes)

# %% [markdown]
# All solid boxes can go through the model *side by side*, in one {term}`pack`, although they belong to
# different texts. Two things keep the texts apart. Each token is told its position: its distance from
# the left. And an {term}`attention mask` says which tokens it may look at: those on its way back to
# the root, and itself. In {numref}`fig-scorer-mask` look at a token of the second subject. It sees the examples
# and its own ancestors, and nothing of the first subject. So it computes what it would have computed alone.
#
# ```{glue:figure} fig-scorer-mask
# :name: fig-scorer-mask
# :alt: A grid of tokens against tokens in which each row is filled at the examples, at the token's ancestors and at the token itself, and empty elsewhere.
#
# The attention mask of the same tree. A row for each token that goes through the model; a filled cell is a token that it
# sees. The first column stands for all tokens of the examples.
# ```

# %% tags=["hide-input"]
fig, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
figures.tree_mask(nodes, ax)
figures.place(fig, "fig-scorer-mask", nodes)

# %% [markdown]
# A large tree goes through in several packs. The examples then stay in the {term}`key-value cache`,
# where every pack finds them. Not every architecture takes such a mask. The scorer tries it out on a
# small random tree at first use. Where the numbers are not right, it takes a slower way and says so in one line.

# %% [markdown]
# ## Answers
#
# Two comparisons. In `float32` the tree against the definition: the same sums in another order, so nothing but
# rounding may differ. And `bfloat16` against `float32`, both with the tree. Differences are in
# {term}`nats <nat>`.

# %% covers=["IC-E2", "IC-S7"]
wide = {size: iclke.to_arrays(scored[size].frame).logprob for size in scored}
exactly, ours = wide[n_facts, most], wide[max(facts_tried), most]
roughly = iclke.to_arrays(in_half.frame).logprob
gaps = beginnings.differences(
    {
        "float32: tree against one by one": (ours[: len(plain), 0], plain),
        "bfloat16 against float32": (roughly, exactly),
    }
)
changed = iclke.predictions(roughly) != iclke.predictions(exactly)
assert gaps["largest"].iloc[0] < 1e-3  # ten times what is promised
assert (costs["distinct"] < costs["one by one"]).all()
answers.words(gaps, digits={"largest": "{:.1e}", "mean": "{:.1e}"})

# %% [markdown]
# What to see: is the largest difference in `float32` below the promised $10^{-4}$ nats, and how many times
# larger is it in `bfloat16`? Such a number has fewer than three significant digits, so tenths of a nat are no
# surprise. That is not the tree's doing: the table under *Paper and ours* has one by one in `bfloat16`, too.
# A small difference between two models in `bfloat16` may be rounding. Where this book says nothing else, it computes
# in `float32`, and each manifest names the number format.

# %% tags=["hide-input"]
lead = costs[(costs["facts"] == n_facts) & (costs["options"] == most)].iloc[0]
saved = f"For {n_facts} facts with {most} options, one pass for each text reads"
saved += f" {lead['one by one']:,.0f} tokens, and the tree {lead['ours']:,.0f}."
exact = "In float32 the two ways differ by"
exact += f" {gaps['largest'].iloc[0]:.0e} nats at most."
rough = f"In bfloat16 a log-probability moves by up to {gaps['largest'].iloc[1]:.1g}"
rough += f" nats, and {changed.sum()} of {n_facts} predictions change."
figures.findings(saved=saved, exact=exact, rough=rough)

# %% [markdown]
# ## Figures
#
# What to see in {numref}`fig-scorer-growth`, at the top: both axes are logarithmic, so that what grows in proportion is
# a straight diagonal. One by one, everything does. The tree's line is flat at first, where the examples are
# most of the work. To the right it rises with the facts, each of which brings tokens of its own. The more options there
# are, the more of them begin alike. Tokens are exact. Seconds were measured once, on whatever machine made
# this page: read them to a factor of two.

# %% tags=["hide-input"]
names = {"ours": "the tree", "one by one": "one by one (seconds extrapolated)"}
growth = beginnings.by_method(costs, names)
look = dict(figsize=(7, 6), sharex="col", sharey="row", layout="constrained")
panels, axes = plt.subplots(2, 2, **look)
figures.cost_lines(growth, axes, facts=n_facts, options=most)
figures.place(panels, "fig-scorer-growth", growth)

# %% [markdown]
# ## Paper and ours
#
# What can be compared is other software. The table below is **not measured by this page**: the command `make bench`
# measured it once, and wrote down the machine, the date and the versions.

# %%
bench = beginnings.benchmark()
for what, which in beginnings.about_benchmark(bench).items():
    print(f"{what:11}{which}")

# %% [markdown]
# The methods:
#
# - **ours**: the tree of this page.
# - **one by one**: one forward pass for each text, the definition.
# - **expanded cache**: the examples go into the key-value cache once for each relation, the subject once for
#   each fact. Then the cache is repeated, a row for each option. So one writes it by hand with `transformers`.
# - **lm-evaluation-harness** (its class `HFLM`): texts go through the model whole, in batches. Those that differ in
#   nothing but their last token share a row.
# - **minicons**: each text goes through the model whole, in batches.
#
# The {term}`floor` is a time that no exact method can beat on this machine. Every distinct beginning needs one
# multiplication and one addition for each weight of the model's matrices, and its output layer wherever a
# prediction is read. The machine's speed at this was measured with the product of two large matrices.

# %%
answers.words(beginnings.benchmark_table(bench))

# %% [markdown]
# `~` marks what is extrapolated from a part of the work, by its tokens. `tokens` include padding where a method pads.
# `× ours` and `× floor` are times the seconds of ours, and of the floor, in the same dtype. The largest difference is in
# nats: in `float32` to one by one, in `bfloat16` to the same method in `float32`. If a method is off by more than
# $10^{-4}$ nats in `float32`, `make bench` writes no file, since it would compare the times of different things.
#
# What to see: the seconds go with the tokens first of all. But many small passes also take longer than few
# large ones with as many tokens. No method reaches the floor, because attention, normalisation and
# all else between the matrix products are not in it.

# %% [markdown]
# ## What you have seen
#
# - What a causal model computes for a beginning holds for all texts that begin so. It need not be computed twice.
# - The tree changes the numbers by rounding alone. The number format changes more.
# - Options of a fact share almost everything; facts share the examples.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-scorer-pencil
# With pencil: the context has $c$ tokens, and there are two options, `A B C` and `A B D`, of three tokens each.
# How many tokens go through the model one by one, and how many with the tree?
# ```
#
# ````{solution} ex-scorer-pencil
# :class: dropdown
# One by one $2(c + 3)$: two whole texts. With the tree $c + 2$: the context, `A` and `B`, once each. `C` and
# `D` are both read at `B`. For a long context that is half. With a hundred options it is a hundredth.
# ````
#
# ```{exercise}
# :label: ex-scorer-shots
# IC-LKE draws the examples once for each relation. Suppose that every fact got its own draw. What would the
# tree save then? Guess, then count.
# ```

# %% [markdown]
# ````{solution-start} ex-scorer-shots
# :class: dropdown
# ````

# %%
redrawn = []
for number, question in enumerate(questions):
    own = facts.draw_shots(train, n_shots, seed + 1 + number)
    fact, options = [asked[number]], [question.options]
    redrawn += prompts.many_shot(own, fact, options, **how)
print(f"own examples: {expected_tokens(lm, redrawn)[0]:,} tokens")
print(f"the same examples: {lead['ours']:,.0f}", end="; ")
print(f"one by one: {lead['one by one']:,.0f}")

# %% [markdown]
# Each fact brings its own examples. Its options still share them, and that is most of the gain. This is why a curve over five draws of examples, as in
# [](11_iclke_shots.ipynb), costs five times as much as one draw.
#
# ````{solution-end}
# ````

# %% [markdown]
# To see this page for another model, give it a row of its own in a file such as `params/mine.yaml`, and call
# `lke run params/mine.yaml`:
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 01_scorer
#     parameters:
#       model: path/to/folder
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(lm)
