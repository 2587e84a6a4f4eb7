# %% [markdown]
# # The scorer: every beginning is computed once
#
# Fifty examples, a subject, a hundred options: a hundred long texts for one fact, and they differ in their last
# word or two. On this page we look at how `lkecore` scores them without reading the examples a hundred times.
# Afterwards you will be able to say
#
# - how much of the work is repeated if every text goes through the model alone,
# - how a prefix tree, and an attention mask made from it, leave out all of the repetition,
# - how exact the result is, in `float32` and in `bfloat16`,
# - why more options need little time, and more facts not much.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` define what has to be computed, and this book computes just that: the log-probability
# of each option after the examples and the subject, as in {eq}`eq-logprob`. With 50 examples, 100 options,
# 400 facts and 50 relations that is two million texts for each model, most of them several hundred tokens
# long. The paper prints no times. For speed it has another estimator, {term}`EIC-LKE`, which needs fewer passes
# and gives other numbers. So there is no claim about speed to test here.
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
import json
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from time import perf_counter

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt

from lkecore import facts, figures, models, prompts, runs
from lkecore.answers import words
from lkecore.metrics import choice as iclke
from lkecore.scores.expected import expected_tokens
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import common_prefix, encode
from lkecore.scores.tree import option_logprobs, piece_logprobs
from lkecore.scores.trie import Tree

figures.style()

# %% [markdown]
# ## Facts
#
# One relation is enough, since every relation is scored for itself. The first facts of the largest number
# that is tried are the facts of all smaller numbers.

# %%
chosen = facts.load(fact_set, relation)
train, test = facts.divide(chosen)
among = [fact for fact in test if fact.subject not in pictured]
asked = facts.draw_facts(among, max(facts_tried), seed)
shown = facts.draw_shots(
    [fact for fact in train if fact.subject not in pictured], n_shots, seed
)
print(f"{chosen.label}: {len(shown)} pairs shown, {len(asked)} facts asked")

# %% [markdown]
# ## Prompts
#
# One block of questions for each size that is tried: for each number of facts, and for each number of
# options.

# %%
most = max(options_tried)
tried = [(n, most) for n in facts_tried] + [(n_facts, n) for n in options_tried]
blocks = {
    (n, k): prompts.many_shot(
        shown,
        asked[:n],
        facts.draw_options(asked[:n], chosen.objects, k, seed),
        pair_separator=pair_separator,
        shot_separator=shot_separator,
    )
    for n, k in dict.fromkeys(tried)
}
question = blocks[n_facts, most][0]
print("...", question.context[-60:])
print(question.continuations[:5], "...")

# %% [markdown]
# Each continuation makes a text of its own. The model reads *tokens*, so let us count them. `one by one` is
# what one {term}`forward pass` for each text computes. For `distinct` all texts go into a {term}`prefix tree`,
# in which each node stands for a beginning of a text, and what two texts share is there once. Counted are the
# nodes with something below them. A last token has nothing below: it is predicted, but nothing is predicted
# from it, so it need not be read.

# %%
lm = models.open_model(model)
encoded = {
    size: encode(lm.tokenizer, block, add_bos=lm.add_bos)
    for size, block in blocks.items()
}
rows = []
for (n, k), block in encoded.items():
    texts = [text for e in block for text in e.sequences]
    tree = Tree()
    for text in texts:
        tree.add(text)
    inner = sum(1 for below in tree.kids[1:] if below)
    rows.append((n, k, len(texts), sum(map(len, texts)), inner))
columns = ["facts", "options", "texts", "one by one", "distinct"]
counts = pd.DataFrame(rows, columns=columns)
counts["times"] = (counts["one by one"] / counts["distinct"]).round(1)
counts

# %% [markdown]
# What to see: the last column, which says how often the same thing would be computed. It can be larger than the
# number of options, because different facts share the examples, too. A causal model reads from left to right.
# What it computes at a token depends on the tokens before it and on nothing else. So what is computed once for
# a beginning holds for every text that begins in this way.

# %% [markdown]
# ## Scores
#
# First the measurement. The scorer keeps what it has computed, and a time that came from the disk would mean
# nothing. So `use_cache=False`. A first small block does not count: it loads the weights, and finds out
# whether this architecture takes the mask that is explained below.

# %%
option_logprobs(lm, blocks[min(facts_tried), most][:1], use_cache=False)
scored = {
    size: option_logprobs(lm, block, use_cache=False)
    for size, block in blocks.items()
}
half = models.open_model(model, dtype="bfloat16")
questions = blocks[n_facts, most]
in_half = option_logprobs(half, questions, use_cache=False)
runs.keep(scored[n_facts, most].frame, "scores.parquet")
counts["ours"] = [result.tokens_forwarded for result in scored.values()]
counts["ours, seconds"] = [result.seconds for result in scored.values()]
counts[["facts", "options", "distinct", "ours", "ours, seconds"]].round(2)

# %% [markdown]
# What to see: `ours`, the tokens that went through the model, is `distinct`, or next to it.
#
# The definition is slow, so only a few texts go through the model one by one: one text of each of the first
# facts. Their time, divided by their tokens, is the measure for the texts that we do not wait for.

# %%
few = [
    replace(e, tails=e.tails[:1], starts=e.starts[:1])
    for e in encoded[max(facts_tried), most][:n_plain]
]
option_logprobs_plain(lm.network, few[0])  # warms up
start = perf_counter()
plain = np.concatenate([option_logprobs_plain(lm.network, e) for e in few])
seconds = perf_counter() - start
per_token = seconds / sum(len(e.sequences[0]) for e in few)
counts["one by one, seconds"] = counts["one by one"] * per_token
print(f"{len(plain)} texts one by one: {seconds:.1f} s")
counts[["facts", "options", "ours, seconds", "one by one, seconds"]].round(1)

# %% [markdown]
# The last column is *extrapolated*: nobody has waited so long.
#
# **How it is done.** Take two facts with four options each. `Tree` holds all their tokens, and what two texts
# share is there once. `reads` are the nodes at which a prediction is asked, each the node before a scored
# token. `sizes` counts below each node what has to go through the model for them.

# %%
by_subject = {fact.subject: fact for fact in chosen.facts}
small = prompts.many_shot(
    shown,
    [by_subject[subject] for subject in pictured],
    [pictured_options] * len(pictured),
    pair_separator=pair_separator,
    shot_separator=shot_separator,
)
pieces = encode(lm.tokenizer, small, add_bos=lm.add_bos)
tree, paths = Tree(), []
for e in pieces:
    for text, first in zip(e.sequences, e.starts, strict=True):
        paths.append(tree.path(tree.add(text))[first:])
reads = {tree.parent[node] for path in paths for node in path}
sizes = tree.sizes(reads)
print(f"{len(tree.token) - 1} nodes, {sizes[0]} go through the model")

# %% [markdown]
# Now the log-probability of each single token. `piece_logprobs` gives that of every piece of a text, after all
# that stands before it. We cut each text into its context and the tokens of its option. Their sum must be the
# log-probability of the option.

# %%
texts = [
    (t, n) for e in pieces for t, n in zip(e.sequences, e.starts, strict=True)
]
upto = [
    [lm.tokenizer.decode(text[:n]) for n in range(first, len(text) + 1)]
    for text, first in texts
]
spelled = [[b[len(a) :] for a, b in pairwise(row)] for row in upto]
contexts = [prompt.context for prompt in small for _ in prompt.options]
cut = [[c, *tokens] for c, tokens in zip(contexts, spelled, strict=True)]
piecewise = piece_logprobs(lm, cut)
piecewise = piecewise[piecewise["piece"] > 0]
nodes = [node for path in paths for node in path]
of_node = dict(zip(nodes, piecewise["logprob"], strict=True))
sums = piecewise.groupby("sequence")["logprob"].sum()
whole = option_logprobs(lm, small).frame["logprob"]
assert np.allclose(sums, whole, atol=1e-3)

# %% [markdown]
# What to see in {numref}`fig-scorer-tree`: the examples are there once, in the box on the left. The subjects
# hang on it, and the options on the subjects. Options that begin alike share their first token. A dashed box
# never goes through the model: its number is read off at the box to its left. So an option of a single token
# costs nothing at all.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-scorer-tree", "caption": "The prefix tree of two facts with four options each. The box on the left stands for all tokens that both facts share. Below each token that is scored stands its log-probability in nats, given all to its left; along a path they add up to the log-probability of the option. The sign ␣ is a space: it belongs to the token."}, "image": {"alt": "A tree from left to right: a box for the examples, then the tokens of two subjects, then the tokens of four options after each. Last tokens have dashed outlines."}}
shared = common_prefix([text for e in pieces for text in e.sequences])
drawn = [n for n in range(1, len(tree.token)) if tree.depth[n] >= shared]
so_far = {
    n: lm.tokenizer.decode([tree.token[m] for m in tree.path(n)])
    for n in {*drawn, *(tree.parent[n] for n in drawn)}
}
spoken = [so_far[n][len(so_far[tree.parent[n]]) :] for n in drawn]
frame = pd.DataFrame(
    {
        "node": drawn,
        "parent": [tree.parent[n] for n in drawn],
        "label": [t.replace(" ", "␣").replace("\n", "↵") for t in spoken],
        "kind": ["forwarded" if sizes[n] else "read" for n in drawn],
        "logprob": [of_node.get(n, np.nan) for n in drawn],
    }
)
frame.loc[0, ["label", "kind"]] = f"{n_shots} pairs\n{shared} tokens", "context"
fig, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
figures.prefix_tree(frame, ax)
runs.keep(frame, "fig-scorer-tree.csv")

# %% [markdown]
# All solid boxes can go through the model *side by side*, in one {term}`pack`, although they belong to
# different texts. Two things keep the texts apart. Each token is told its position, which is its distance from
# the left in the tree. And an {term}`attention mask` says which tokens it may look at: those on its way back to
# the root, and itself. In {numref}`fig-scorer-mask` look at a token of the second subject. It sees the examples
# and its own ancestors, and nothing of the first subject. So it computes what it would have computed alone.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-scorer-mask", "caption": "The attention mask of the same tree. A row for each token that goes through the model, in the order of the tree; a filled cell is a token that it sees. The first column stands for all tokens of the examples. Tokens that are only read are not there."}, "image": {"alt": "A grid of tokens against tokens in which each row is filled at the examples, at the token's ancestors and at the token itself, and empty elsewhere."}}
fig, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
figures.tree_mask(frame, ax)
runs.keep(frame, "fig-scorer-mask.csv")

# %% [markdown]
# A large tree goes through in several such packs. The examples then stay in the {term}`key-value cache`,
# where every pack finds them. Not every architecture takes such a mask. The scorer tries it out on a
# small random tree when a model is first used, and takes a slower way where the numbers are not right. If that
# happens, it says so in one line.

# %% [markdown]
# ## Metrics
#
# Two comparisons. In `float32` the tree against the definition: the same sums in another order, so nothing but
# rounding may differ. And `bfloat16` against `float32`, both with the tree. Differences are in
# {term}`nats <nat>`.

# %% covers=["IC-E2", "IC-S7"]
wide = {size: iclke.to_arrays(scored[size].frame).logprob for size in scored}
exact, ours = wide[n_facts, most], wide[max(facts_tried), most]
rough = iclke.to_arrays(in_half.frame).logprob
gaps = {
    "float32: tree against one by one": np.abs(ours[:n_plain, 0] - plain),
    "bfloat16 against float32": np.abs(rough - exact),
}
changed = (iclke.predictions(rough) != iclke.predictions(exact)).sum()
print(f"another prediction in bfloat16: {changed} of {n_facts} facts")
rows = [
    (name, gap.size, f"{gap.max():.1e}", f"{gap.mean():.1e}")
    for name, gap in gaps.items()
]
columns = ["", "texts", "largest difference", "mean difference"]
pd.DataFrame(rows, columns=columns).set_index("")

# %% [markdown]
# What to see: is the largest difference in `float32` below the promised $10^{-4}$ nats, and how many times
# larger is it in `bfloat16`? Such a number has fewer than three significant digits, so tenths of a nat are no
# surprise. That is not the tree's doing: the table under *Paper and ours* has one by one in `bfloat16`, too.
# Whether a prediction changes depends on how near the second best option is. So a small difference between two
# models in `bfloat16` may be rounding. Where this book says nothing else, it computes in `float32`, and each
# manifest names the number format.

# %% [markdown]
# The tokens and seconds of both methods, one below the other, for the figure:

# %%
names = {"ours": "the tree", "one by one": "one by one (seconds extrapolated)"}
growth = pd.concat(
    counts.assign(
        method=names[t], tokens=counts[t], seconds=counts[f"{t}, seconds"]
    )
    for t in names
)[["method", "facts", "options", "tokens", "seconds"]]
fixed = {
    "facts": growth["options"] == most,
    "options": growth["facts"] == n_facts,
}

# %% [markdown]
# ## Figures
#
# What to see in {numref}`fig-scorer-growth`: both axes are logarithmic, so that what grows in proportion is a
# straight diagonal. One by one, everything does. The tree's line is flat at first, where the examples are
# most of the work, and they are computed once in any case. To the right it rises with the facts, each of which
# brings tokens of its own. The more options there are, the more of them begin like another one.
#
# Tokens are counted and exact. Seconds were measured once, on whatever machine made this page, and other
# programs may have been at work there. Read them to a factor of two.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-scorer-growth", "caption": "Tokens that go through the model, and seconds, over the number of facts (left, with all options) and over the number of options (right). The tree: measured. One by one: tokens counted, seconds extrapolated from the few texts that were timed on this page."}, "image": {"alt": "Four panels with logarithmic axes. In each, a line for the tree runs far below a line for one pass per text."}}
fig, axes = plt.subplots(
    2, 2, figsize=(7, 6), sharex="col", sharey="row", layout="constrained"
)
for i, unit in enumerate(["tokens", "seconds"]):
    for ax, name in zip(axes[i], fixed, strict=True):
        points = growth[fixed[name]]
        look = dict(hue="method", style="method", markers=True)
        sns.lineplot(points, x=name, y=unit, ax=ax, **look)
        ax.set(xscale="log", yscale="log")
        ax.set_xticks(sorted(set(points[name])), sorted(set(points[name])))
        ax.minorticks_off()
        figures.plain_ticks(ax.yaxis)
        handles, labels = ax.get_legend_handles_labels()
        ax.get_legend().remove()
fig.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
runs.keep(growth, "fig-scorer-growth.csv")

# %% [markdown]
# ## Paper and ours
#
# The paper prints no times, so none stand here. What we can compare is other software. That takes long, and an
# environment with other packages. So the table below is **not measured by this page**. The command `make bench`
# measured it once and wrote it down, with the machine and the date. The commit and the versions say of which
# state of the software it speaks.

# %%
path = files("lkecore") / "data" / "benchmark.json"
bench = json.loads(path.read_text(encoding="utf-8"))
meta, work, table = bench["meta"], bench["meta"]["work"], bench["methods"]
peers = {k: v for row in table for k, v in row.get("versions", {}).items()}
others = max(load for row in table for load in row["other_programs_cores"])
about = {
    "model": f"{meta['model']} on {meta.get('gpu', meta['device'])}",
    "work": f"{work['strings']:,} texts of {', '.join(work['relations'])} "
    f"({work['facts']}), {work['shots']} examples",
    "machine": f"{meta['cpu']}, {meta['cores']} cores, {meta['threads']} threads",
    "meanwhile": f"other programs used up to {others:.1f} cores",
    "rounds": f"{meta['rounds']}, of which the table has medians",
    "date": meta["date"][:10],
    "commit": meta["versions"]["commit"],
    "versions": ", ".join(
        f"{k} {v}"
        for k, v in (meta["versions"] | peers).items()
        if k not in ("commit", "source")
    ),
    "command": meta["command"],
}
words(pd.DataFrame(about.items(), columns=["what", "which"]))

# %% [markdown]
# The methods:
#
# - **ours**: the tree of this page.
# - **one by one**: one forward pass for each text, the definition.
# - **expanded cache**: the examples go into the key-value cache once for each relation, the subject once for
#   each fact. Then the cache is repeated, a row for each option. So one writes it by hand with `transformers`.
# - **lm-evaluation-harness**: a widely used library for benchmarks, through its class `HFLM`. Texts
#   that differ in nothing but their last token share a row. Every row goes through the model whole, in batches.
# - **minicons**: a library for the probabilities of words in their context. Each text goes through the model
#   whole, in batches.
#
# The {term}`floor` is a time that no exact method can beat on this machine. Every distinct beginning needs one
# multiplication and one addition for each weight of the model's matrices, and its output layer wherever a
# prediction is read. How many of these the machine does in a second was measured with the product of two large
# matrices.

# %%
rows = []
for row in table:
    sign = "~" if row["factor"] > 1 else ""
    gap = row.get("max_difference")
    rows.append(
        {
            "method": row["method"],
            "dtype": row["dtype"],
            "seconds": f"{sign}{row['total_seconds']:,.1f}",
            "tokens": f"{sign}{row['total_tokens']:,}",
            "× ours": f"{row['times_slower']:,.1f}",
            "× floor": f"{row['times_floor']:,.1f}",
            "largest difference": "" if gap is None else f"{gap:.0e}",
        }
    )
pd.DataFrame(rows).set_index("method")

# %% [markdown]
# `~` marks what is extrapolated: the method scored a part of the work, and its time was multiplied by the
# tokens of the whole over those of the part. `tokens` include padding where a method pads. `× ours` and
# `× floor` are times the seconds of ours, and of the floor, in the same dtype. The largest difference is in nats:
# in `float32` to one by one, in `bfloat16` to the same method in `float32`. If a method is off by more than
# $10^{-4}$ nats in `float32`, `make bench` writes no file, since it would compare the times of different
# things.
#
# What to see: the seconds go with the tokens first of all. But many small passes also take longer than few
# large ones with as many tokens. No method reaches the floor, because attention, normalisation and
# everything else between the matrix products are not in it.

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
redrawn = [
    prompts.many_shot(
        facts.draw_shots(train, n_shots, seed + 1 + number),
        [asked[number]],
        [question.options],
        pair_separator=pair_separator,
        shot_separator=shot_separator,
    )[0]
    for number, question in enumerate(questions)
]
alone = counts.set_index(["facts", "options"]).loc[(n_facts, most)]
print(f"own examples: {expected_tokens(lm, redrawn)[0]:,} tokens")
print(
    f"the same examples: {alone['ours']:,.0f}; one by one: {alone['one by one']:,.0f}"
)

# %% [markdown]
# Facts share nothing any more, except by accident, and each brings its own examples. The options of one fact
# still share its context, and that is most of the gain. This is why a curve over five draws of examples, as in
# [](11_iclke_shots.ipynb), costs five times as much as one draw.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-scorer-shape
# Few facts with many options, or many facts with few options: which is cheaper, if the number of texts is the
# same?
# ```

# %% [markdown]
# ````{solution-start} ex-scorer-shape
# :class: dropdown
# ````

# %%
texts = counts["texts"].min() * 2
for n in sorted({min(facts_tried), max(facts_tried)}):
    k = min(texts // n, facts.max_options(chosen))
    block = prompts.many_shot(
        shown,
        asked[:n],
        facts.draw_options(asked[:n], chosen.objects, k, seed),
        pair_separator=pair_separator,
        shot_separator=shot_separator,
    )
    print(f"{n} facts, {k} options: {expected_tokens(lm, block)[0]:,} tokens")

# %% [markdown]
# Each fact brings the tokens of its subject, and the first tokens of its options are computed anew, since they
# stand after another subject. Many options for one fact share all that. For the measurement it is the other way
# round: more facts make the interval narrower, more options do not.
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
