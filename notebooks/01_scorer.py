# %% [markdown]
# # How can a thousand texts be scored without reading each of them whole?
#
# **Ten questions with a hundred options take {glue:text}`plain:,.0f` tokens text by text, and {glue:text}`ours:,.0f` if the model reads shared parts once; the
# log-probabilities differ by at most {glue:text}`exact` nats.**
#
# ```{glue:figure} fig-scorer-growth
# :name: fig-scorer-growth
# :alt: Four panels with logarithmic axes. In each, a line for the tree runs far below a line for one pass per text.
#
# The lower line stays far below the other. Tokens that go through the model, and seconds, over the number of facts (left, with all options) and of
# options (right). The tree is measured. One by one: tokens counted, seconds extrapolated from the few texts that were timed here.
# ```
#
# Fifty examples, a subject, a hundred options: these make a hundred long texts for one fact, which differ in their last word or two. A causal model reads from
# left to right. Its result at a token depends on the tokens before it and on nothing else. So a result for a beginning holds for
# every text that begins in this way. The difference in nats is measured on the few texts that were also scored one by one.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` define the number, and this book computes just that: the log-probability
# of each option after the examples and the subject, as in {eq}`eq-logprob`. With 50 examples, 100 options,
# 400 facts and 50 relations that is two million texts for each model. The paper prints no times. For speed it has another
# estimator, {term}`EIC-LKE`, which gives other numbers. So there is no claim about speed to test here.
#
# We test a promise of our own: the fast scorer gives the numbers of the slow definition, one
# forward pass for each text, to within $10^{-4}$ nats in `float32`.

# %% [markdown]
# ## Parameters

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
pictured: list[str] = ["Cape Town", "Daegu"]  # subjects of the small tree
pictured_options: list[str] = [
    "South Africa",
    "South Korea",
    "United Kingdom",
]
seed: int = 0  # draws shots, facts and options

# %% tags=["hide-input"]
from dataclasses import replace
from time import perf_counter

import numpy as np
import pandas as pd
import seaborn as sns

from lkecore import answers, facts, figures, models, prompts, runs
from lkecore.answers.show import benchmark
from lkecore.errors import BadInput
from lkecore.scores.expected import expected_tokens
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import encode
from lkecore.scores.tree import option_logprobs, tree_of

figures.style()

# %% [markdown]
# ## Facts
#
# One relation is enough, since every relation is scored alone. A smaller set of facts is the beginning of a larger one.

# %%
chosen = facts.load(fact_set, relation)
train, test = facts.divide(chosen)
among = [fact for fact in test if fact.subject not in pictured]
if max(facts_tried) > len(among):  # as many as there are
    facts_tried = sorted({min(n, len(among)) for n in facts_tried})
    n_facts, n_plain = (min(n, len(among)) for n in (n_facts, n_plain))
for name, n in {"n_facts": n_facts, "n_plain": n_plain}.items():
    if not 1 <= n <= max(facts_tried):
        raise BadInput(f"{name} {n}: must be 1 to {max(facts_tried)}")
asked = facts.draw_facts(among, max(facts_tried), seed)
pairs = [fact for fact in train if fact.subject not in pictured]
shown = facts.draw_shots(pairs, n_shots, seed, allow_fewer=True)
there = facts.max_options(chosen)
options_tried = sorted({min(n, there) for n in options_tried})
print(f"{chosen.label}: {len(shown)} pairs shown, {len(asked)} facts asked")

# %% [markdown]
# ## Prompts
#
# A block of questions for each number of facts, and for each number of options.

# %%
most = max(options_tried)
how = dict(pair_separator=pair_separator, shot_separator=shot_separator)
blocks = {}
for n, k in [(n, most) for n in facts_tried] + [
    (n_facts, k) for k in options_tried
]:
    options = facts.draw_options(asked[:n], chosen.objects, k, seed)
    blocks[n, k] = prompts.many_shot(shown, asked[:n], options, **how)
questions = blocks[n_facts, most]
print("...", questions[0].context[-60:])
print(questions[0].continuations[:5], "...")

# %% [markdown]
# **The tree.** The model reads *tokens*. All texts of a block go into a {term}`prefix tree`, in which a node is a beginning of a text, and a beginning that two
# texts share is there once. Here are two facts with a few options. Three things are there once: the pairs, each subject, and the first token of options that
# begin alike. ␣ is a space: it belongs to the token. A token in brackets
# never goes through the model: its number is read at the token above it. So an option of one token costs nothing.

# %%
lm = models.open_model(model)
few = [pictured_options] * len(pictured)
small = prompts.many_shot(
    shown, facts.of_subjects(chosen, pictured), few, **how
)
encoded = encode(lm.tokenizer, small, front=lm.front)
tree, paths = tree_of(encoded)


def lines(node: int) -> list[int]:
    below = tree.kids[node].values()
    return [node, *(each for kid in below for each in lines(kid))]


node = 0
while len(tree.kids[node]) == 1:  # what all texts begin with
    [node] = tree.kids[node].values()
shared = tree.depth[node]
print(f"{n_shots} pairs: {shared} tokens")
drawn = [each for each in lines(node) if each != node]
for each in drawn:
    text = lm.tokenizer.decode([tree.token[each]]).replace(" ", "␣")
    text = text if tree.kids[each] else f"[{text}]"
    print("   " * (tree.depth[each] - shared), text)

# %% [markdown]
# **The mask.** All tokens without brackets go through the model *side by side*, in one {term}`pack`, although they belong to different texts. Two things
# keep the texts apart. Each token gets its position: how many tokens are before it in its own text. And an {term}`attention mask` says which tokens it may
# look at: those on its way back to the root, and itself. A row is a token; `x` marks the tokens that it sees, besides all the pairs. A token of the second subject
# sees nothing of the first one, so its result is the same as if it were alone.

# %%
inner = [each for each in drawn if tree.kids[each]]
sees = [["x" if j in tree.path(i) else "" for j in inner] for i in inner]
mask = pd.DataFrame(sees, columns=range(1, len(inner) + 1)).replace("", "·")
mask.insert(
    0, "token", lm.tokenizer.batch_decode([[tree.token[i]] for i in inner])
)
answers.html_table(mask)

# %% [markdown]
# A large tree goes through in several packs. The pairs then stay in the {term}`key-value cache`, and every pack uses them. Not every architecture accepts
# such a mask. The scorer tries it out on a small random tree at first use. If the numbers are wrong, it takes a slower way and says so in one line.

# %% [markdown]
# ## Scores
#
# A time that came from the disk would mean nothing, so `use_cache=False`. A first small block does not count: it loads the weights and tries the mask.
#
# The columns count tokens. `one by one`: with one {term}`forward pass` for each text. `distinct`: nodes of the tree with something below them, the smallest possible
# number. `ours`: tokens that went through the model. The definition is slow, so only a few texts go through the model one by one, the first option of each of the
# first facts; from their seconds per token we extrapolate to all texts.

# %%
option_logprobs(lm, blocks[min(facts_tried), most][:1], use_cache=False)
scored, rows = {}, []
for (n, k), block in blocks.items():
    scored[n, k] = option_logprobs(lm, block, use_cache=False)
    encoded = encode(lm.tokenizer, block, front=lm.front)
    tree, _ = tree_of(encoded)
    plain = sum(len(text) for e in encoded for text in e.sequences)
    distinct = sum(1 for below in tree.kids[1:] if below)
    done = scored[n, k]
    rows.append([n, k, plain, distinct, done.tokens_forwarded, done.seconds])
runs.save(scored[n_facts, most].frame, "scores.parquet")

encoded = encode(lm.tokenizer, blocks[max(facts_tried), most], front=lm.front)
timed = [
    replace(e, tails=e.tails[:1], starts=e.starts[:1])
    for e in encoded[:n_plain]
]
option_logprobs_plain(lm.network, timed[0])  # does not count either
start = perf_counter()
by_hand = np.concatenate([option_logprobs_plain(lm.network, e) for e in timed])
per_token = (perf_counter() - start) / sum(len(e.sequences[0]) for e in timed)

names = ["facts", "options", "one by one", "distinct", "ours", "ours, seconds"]
costs = pd.DataFrame(rows, columns=names)
costs["one by one, seconds"] = costs["one by one"] * per_token
costs["times"] = costs["one by one"] / costs["ours"]
answers.html_table(costs, digits=1)

# %% [markdown]
# Look at `times`, how often one by one would compute the same thing. It can be larger than the number of options, because different facts also share the pairs.

# %% [markdown]
# ## Answers
#
# Two comparisons. In `float32` the tree against the definition: the same sums in another order, so nothing but rounding may differ. And `bfloat16` against
# `float32`, both with the tree. Differences are in {term}`nats <nat>`.

# %% covers=["IC-E2", "IC-S7"]
half = models.open_model(model, dtype="bfloat16")
rough = option_logprobs(half, questions, use_cache=False).frame
exact = scored[n_facts, most].frame
ours = scored[max(facts_tried), most].frame
first = ours.groupby("fact", sort=False)["logprob"].first()[:n_plain]
gaps = {
    "float32: tree against one by one": first.to_numpy() - by_hand,
    "bfloat16 against float32": rough["logprob"] - exact["logprob"],
}
table = pd.DataFrame(
    [
        [len(gap), np.abs(gap).max(), np.abs(gap).mean()]
        for gap in gaps.values()
    ],
    index=list(gaps),
    columns=["texts", "largest", "mean"],
)
best = [
    frame.loc[frame.groupby("fact")["logprob"].idxmax(), "option"].to_numpy()
    for frame in (rough, exact)
]
print((best[0] != best[1]).sum(), "of", n_facts, "answers change in bfloat16")
table

# %% [markdown]
# Is the largest difference in `float32` below the promised $10^{-4}$ nats, and how many times larger is it in `bfloat16`? A `bfloat16` number has
# fewer than three significant digits, so tenths of a nat are no surprise. The tree is not the reason: the table under *Paper and ours* also has one by one in
# `bfloat16`. Unless it says otherwise, this book computes in `float32`, and each manifest names the number format.

# %% tags=["hide-input"]
lead = costs[(costs["facts"] == n_facts) & (costs["options"] == most)].iloc[0]
largest = table["largest"].iloc[0]
assert largest < 1e-3  # ten times what is promised
holds = {
    "if shared parts are read once": lead["ours"] < lead["one by one"],
    "ten questions, a hundred options": (n_facts, most) == (10, 100),
}
figures.sentence(holds)
figures.glue_values(
    plain=lead["one by one"],
    ours=lead["ours"],
    exact=np.format_float_positional(largest, precision=1, fractional=False),
)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-scorer-growth`, at the top, both axes are logarithmic, so proportional growth is a straight diagonal. One by one, both costs grow like this.
# The tree's line is flat at first: the pairs are most of the work. To the right it rises with the facts, each of which brings tokens of its own. The
# more options there are, the more of them begin alike. Tokens are exact. Seconds were measured once, on the machine that made this page: read them to a
# factor of two.

# %% tags=["hide-input"]
called = {"ours": "the tree", "one by one": "one by one (seconds extrapolated)"}
growth = pd.concat(
    costs.assign(
        method=called[k], tokens=costs[k], seconds=costs[f"{k}, seconds"]
    )
    for k in called
)
over = {
    "facts": growth[growth["options"] == most],
    "options": growth[growth["facts"] == n_facts],
}
long = pd.concat(
    part.assign(over=what, at=part[what]) for what, part in over.items()
).melt(["method", "over", "at"], ["tokens", "seconds"], "unit", "much")
grid = sns.relplot(
    long, x="at", y="much", row="unit", col="over", hue="method",
    style="method", markers=True, kind="line", height=2.6,
    facet_kws={"sharex": "col", "sharey": "row"},
)  # fmt: skip
grid.set(xscale="log", yscale="log").set_titles("")
for (unit, what), ax in grid.axes_dict.items():
    ticks = sorted(set(over[what][what]))
    ax.set_xticks(ticks, ticks)
    ax.minorticks_off()
    ax.set(xlabel=what, ylabel=unit)
look = {"ncols": 2, "title": "", "bbox_to_anchor": (0.5, 1.05)}
sns.move_legend(grid, "upper center", **look)
figures.glue_figure(grid.figure, "fig-scorer-growth", growth)

# %% [markdown]
# ## Paper and ours
#
# We compare with other software. The table below is **not measured by this page**: the command `make bench`
# measured it once, and wrote down the machine, the date and the versions.

# %%
bench = benchmark()
meta, work = bench["meta"], bench["meta"]["work"]
print(f"{meta['model']} on {meta['cpu']}, {meta['threads']} threads")
print(f"{work['strings']:,} texts of {work['facts']}, {work['shots']} pairs")
print(f"{meta['date'][:10]}, commit {meta['versions']['commit']}")
print(meta["command"])

# %% [markdown]
# The methods:
#
# - **ours**: the tree of this page.
# - **one by one**: one forward pass for each text, the definition.
# - **expanded cache**: the examples go into the key-value cache once for each relation, the subject once for
#   each fact. Then the cache is repeated, a row for each option. This is the usual code by hand with `transformers`.
# - **lm-evaluation-harness** (its class `HFLM`): texts go through the model whole, in batches. Texts that differ only in
#   their last token share a row.
# - **minicons**: each text goes through the model whole, in batches.
#
# The {term}`floor` is a time that no exact method can beat on this machine. Every distinct beginning needs one
# multiplication and one addition for each weight of the model's matrices, and the output layer for every
# prediction that is read. The machine's speed at this was measured with the product of two large matrices.

# %%
rows = [
    {
        "method": row["method"],
        "dtype": row["dtype"],
        "seconds": f"{sign}{row['total_seconds']:,.1f}",
        "tokens": f"{sign}{row['total_tokens']:,}",
        "× ours": f"{row['times_slower']:,.1f}",
        "× floor": f"{row['times_floor']:,.1f}",
        "largest difference": row.get("max_difference", np.nan),
    }
    for row in bench["methods"]
    for sign in ["~" if row["factor"] > 1 else ""]
]
look = {"largest difference": "{:.0e}"}
answers.html_table(pd.DataFrame(rows), digits=look, missing="")

# %% [markdown]
# `~` marks an extrapolation from a part of the work, by its tokens. `tokens` include padding.
# `× ours` and `× floor` are times the seconds of ours, and of the floor, in the same dtype. The largest difference is in
# nats: in `float32` to one by one, in `bfloat16` to the same method in `float32`. If a method is off by more than
# $10^{-4}$ nats in `float32`, `make bench` writes no file, since it would compare the times of different things.
#
# The seconds depend mostly on the tokens. But many small passes also take longer than few
# large ones with as many tokens. No method reaches the floor, because the floor leaves out attention, normalisation and
# everything else between the matrix products.

# %% [markdown]
# ## What you have seen
#
# - The result of a causal model for a beginning holds for all texts with this beginning. It need not be computed twice.
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
    own = facts.draw_shots(train, len(shown), seed + 1 + number)
    fact, options = [asked[number]], [question.options]
    redrawn += prompts.many_shot(own, fact, options, **how)
print(f"own examples: {expected_tokens(lm, redrawn)[0]:,} tokens")
print(f"the same examples: {lead['ours']:,.0f}", end="; ")
print(f"one by one: {lead['one by one']:,.0f}")

# %% [markdown]
# Each fact brings its own examples. Its options still share them, and that is most of the gain. This is why a curve over five draws of examples, as on
# {page}`11_iclke_shots`, costs five times as much as one draw.
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
