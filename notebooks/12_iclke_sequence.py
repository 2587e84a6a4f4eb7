# %% [markdown]
# # What do wrong examples do to their neighbours?
#
# A prompt of many pairs can be read at every pair: how probable was this object, after all that stood before
# it? So one long text shows how a model warms up. And it shows what happens when some pairs are not what they
# should be. Afterwards you will be able to say
#
# - how the probability of the right object grows along a sequence, and where it settles,
# - what pairs about invented subjects do to the pairs behind them, and what wrong pairs do,
# - why "nothing happened" means little where the model knew next to nothing.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` put 200 Nobel laureates and their birth years into one prompt (Section 3, Figure 2;
# Appendix E, Figures 9 to 11). Then they replace 40 of the 200 pairs, at random places or in one block. In our
# words:
#
# - from left to right, the right objects become more probable; then this settles, near 0.85 for Mistral-7B;
# - an *unknown* pair, of an invented name and a year, is improbable itself, and hardly disturbs its neighbours;
# - an *incorrect* pair, of a laureate and a wrong year, makes the right objects behind it less probable, most of
#   all in a block.
#
# The paper has four models of 7 to 12 billion parameters, and one sequence of each kind for each of them. It is
# cheap: five sequences of 200 pairs are about ten thousand tokens. What is dear is the size of the models.
#
# In the list of the book's coverage: IC-S5, IC-D1, IC-D5, IC-D6, IC-F2 and IC-F9 to IC-F11. The last three are the same
# figure for a second, a third and a fourth model, whichever these are. IC-S5 counts where a sequence has 200 pairs, and
# IC-D1 where the facts are of Nobel laureates. The paper's models are in `params/iclke_paper.yaml`.

# %% [markdown]
# ## Parameters
#
# Two settings stand side by side. A model such as `smollm2` is asked about `relation` of `fact_set`. A model of
# the lab is asked about its own world, and only about facts that the text told often: there we know
# that the model could know them. An `-unplanted` model has read the same text told of others. It is a
# {term}`negative control`: it knows none of these facts, and has nothing to lose. The names that end in `_lab` are
# for models of the lab. `shipped` names longer runs whose answers ship with the book, such as those of `params/kamel.yaml`:
# small models on the paper's own facts, in sequences as long as the paper's.

# %% tags=["parameters"]
models: list[str] = [
    "smollm2",
    "lab:book-1/2m",
    "lab:book-1/0.7m-unplanted",
]
fact_set: str = "atlas"
relation: str = "country_of_city"
invented: str = "place"  # kind of invented subject that fits the relation
n_pairs: int = 80  # of a sequence
n_draws: int = 4  # of pairs, their order and the replaced places
relation_lab: str = "birth_year"
invented_lab: str = "person"
n_pairs_lab: int = 50
n_draws_lab: int = 12
n_told_lab: int = 8  # least number of lists that told the fact
share_replaced: float = 0.2  # of the pairs of a sequence
n_first: int = 10  # pairs at the beginning, to see the rise
n_behind: int = 10  # pairs behind a block that count as its neighbours
formats: list[str] = ["space", "colon"]  # see the table of formats below
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # of the first draw, and of resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from itertools import product

import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib import pyplot as plt

from lkecore import (
    facts,
    figures,
    intervals,
    lab,
    paper,
    results,
    runs,
    sequences,
    world,
)
from lkecore.metrics import sequence
from lkecore.models import open_model
from lkecore.rows import BadInput
from lkecore.scores.tree import piece_logprobs

figures.style()

# %% [markdown]
# ## Facts
#
# The paper takes birth years, which a small model hardly knows. The relation here was chosen among those of the
# atlas, on other draws: one of which the default model knows something, with many facts.
#
# Of a world we take the {term}`planted facts <planted fact>` that stood in at least `n_told_lab` lists of the text.
# They are few, so that its draws share most of their facts. They differ in the order and in what is replaced.

# %%
setting, known = {}, {}
for model in models:
    if lab.is_name(model):
        spec = lab.parse(model).world
        whole = facts.load(spec, relation_lab)
        states = world.states(spec)
        told = (states["state"] == "planted") & (states["split"] == "test")
        told &= states["lists"] >= n_told_lab
        ids = set(states.loc[told, "fact"])
        known[model] = [fact for fact in whole.facts if fact.id in ids]
        counts = n_pairs_lab, n_draws_lab
        setting[model] = (spec, whole, invented_lab, *counts)
    else:
        whole = facts.load(fact_set, relation)
        known[model] = list(whole.facts)
        setting[model] = (fact_set, whole, invented, n_pairs, n_draws)
    spec, whole, _, n, draws = setting[model]
    print(
        f"{model}: {whole.label} of {spec}, {len(known[model])} facts,", end=" "
    )
    print(f"{draws} draws of {n} pairs")

# %% [markdown]
# ## Prompts
#
# Each draw makes five sequences of the same pairs in the same order:
#
# - *clean*: all pairs are right;
# - *unknown*, *distributed* and in a *block*: some pairs (`share_replaced`) get an invented subject, and the object
#   of some fact of the relation, drawn at random;
# - *incorrect*, at the very same places: the subjects stay, and get an object that is not true of them.
#
# Two choices are ours. No two distributed places touch, and the last place is never one of them: so each replaced
# pair has a right one directly behind it, and there are as many neighbours as replaced pairs. The paper's
# random places may touch. And a block begins in the second half, where the pattern is clear to the model.

# %% covers=["IC-D5", "IC-D6"]
made = {}
for model, (_, whole, kind, n, draws) in setting.items():
    if n_first > n // 2:
        raise BadInput(f"n_first is {n_first}: at most half of {n} pairs")
    n_replaced = round(share_replaced * n)
    for draw in range(seed, seed + draws):
        pairs = facts.draw_shots(known[model], n, draw)
        made[model, draw] = sequences.probes(
            pairs, whole.facts, n_replaced, kind, n_behind=n_behind, seed=draw
        )
rows = []
for model in models:
    clean, _, unknown, _, wrong = made[model, seed]
    for i in unknown.replaced[:2]:
        at = [clean.pairs[i], unknown.pairs[i], wrong.pairs[i]]
        rows.append((model, i + 1, *(f"{p.subject} {p.object}" for p in at)))
columns = ["model", "position", "clean", "unknown", "incorrect"]
pd.DataFrame(rows, columns=columns).set_index(columns[:2])

# %% [markdown]
# The table shows the first two places of a block. What tells unknown and incorrect pairs apart is the subject: is it
# one that the model may know? They are not alike in all else. Their objects are drawn apart from each other, and
# invented names sound American, wherever the true ones are from.
#
# Two formats. `space` is the paper's. `colon` marks where a pair ends. Here are the first pairs of a sequence:

# %%
separators = {"space": (" ", " "), "colon": (": ", "\n")}
if unknown := set(formats) - set(separators):
    raise BadInput(f"formats {unknown}: there are {list(separators)}")
texts = {}
for key, five in made.items():
    for label in formats:
        inside, between = separators[label]
        texts[(*key, label)] = [
            sequences.pair_pieces(
                probe.pairs, pair_separator=inside, shot_separator=between
            )
            for probe in five
        ]
for label in formats:
    print(f"{label:6} {''.join(texts[models[0], seed, label][0][:6])!r}")

# %% [markdown]
# ## Scores
#
# A model reads a sequence once, and gives the probability of every object on its way, each after all that
# stands before it. The five sequences of a draw go in together: what they share at their beginning is computed
# once.

# %%
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}
frames = {}
for model, lm in lms.items():
    for key, five in made.items():
        for label in formats if key[0] == model else []:
            pieces = piece_logprobs(lm, texts[(*key, label)])
            frames[(*key, label)] = sequence.answers(five, pieces)

# %% [markdown]
# A run keeps a row for each pair of each sequence: was it replaced, how far does it stand behind a replaced
# one, and how probable was its object? `probability` is of the whole object, as in the paper's figures. It is not
# shared among options, as {term}`confidence` is. So there is no {term}`chance` to compare it with, and a model that
# has no idea comes near zero.

# %%
if page:
    answers = runs.collect("answers.parquet")
else:
    keys = ["model", "draw", "format"]
    answers = pd.concat(frames, names=keys).reset_index(keys)
    runs.keep(answers, "answers.parquet")
print(f"{len(answers):,} pairs; tokens of the longest sequence:")
answers.groupby(["model", "format"], sort=False)["tokens"].max().to_frame()

# %% [markdown]
# The models of the lab have learned from rows of 384 tokens. What lies beyond, they have never seen.
#
# Beside this run stand the shipped ones, if there are any. They are **not this run**: other models or other facts, and
# longer sequences. A line says what made each. From here on their models stand beside those of this run, with the name of
# the profile behind their own.

# %%
asked = {
    model: f"{whole.label}, {spec}"
    for model, (spec, whole, *_) in setting.items()
}
parts = [answers]
for name in shipped:
    frame, about = results.read(name, "12_iclke_sequence")
    given = about["parameters"]
    print(f"shipped, {results.line(about)}; {about['command']}")
    for model in frame["model"].unique():
        of = given["relation"], given["fact_set"]
        if lab.is_name(model):
            of = given["relation_lab"], lab.parse(model).world
        asked[f"{model} ({name})"] = ", ".join(of)
    parts.append(frame.assign(model=frame["model"] + f" ({name})"))
answers = pd.concat(parts, ignore_index=True)
of_others = [model for model in asked if model not in models]
print("models beside this run:", ", ".join(of_others) or "none")

# %% [markdown]
# ## Metrics
#
# First the clean sequences, stretch by stretch, mean over draws. This is also the table of *levels*. Keep
# it in mind for all that follows: where there is no probability, none can be lost.

# %%
clean, changed = {}, {}
rows = []
for key, part in answers.groupby(["model", "format"], sort=False):
    right = part[part["kind"] == "clean"]
    wide = right.pivot(index="draw", columns="position", values="probability")
    clean[key] = wide.to_numpy()
    changed[key] = sequence.beside_clean(part)
    n, q = clean[key].shape[1], clean[key].shape[1] // 4
    ends = [(0, n_first), *((n - i * q, n - i * q + q) for i in (4, 3, 2, 1))]
    means = [clean[key][:, a:b].mean() for a, b in ends]
    rows.append((*key, len(wide), n, *means, (clean[key] > 0.5).mean()))
columns = ["model", "format", "draws", "pairs", f"first {n_first}"]
columns += ["1st quarter", "2nd", "3rd", "last", "share above 0.5"]
levels = pd.DataFrame(rows, columns=columns)
runs.keep(levels, "levels.csv")
levels.set_index(columns[:2]).round(3)

# %% [markdown]
# Now the neighbours. Each of them is right in all sequences of a draw, at the same place, so it is compared
# with itself: its probability `with` the replacement and `without`. Neighbours of distributed places are the pairs
# directly behind; those of a block are the first `n_behind` pairs behind it. So the two differ in more than their
# shape. A neighbour of a block has all the replaced pairs before it, and stands late in the sequence. One of
# distributed pairs has half of them before it, on average, and stands anywhere.
#
# `change` is the ratio of these two means, minus 1. For the intervals the draws are drawn again, and within each draw
# its own places. They can err in both directions. Where single pairs differ most they are somewhat too wide, because
# the spread of pairs is a part of the spread of draws as well. Where whole draws differ most, a handful of them is few,
# and the interval too narrow. Hence the last two columns: the lowest and the highest change of a single draw. And the
# draws of a world share their facts: there, an interval speaks of other orders and places, not of other facts.

# %%
behind = {"distributed": [1], "block": list(range(1, n_behind + 1))}
cases = list(product(changed, ("unknown", "incorrect"), behind.items()))
again = dict(seed=seed, redraw=1, nested=True, n_resamples=2_000)
near, own, moved, rows = {}, {}, {}, []
for key, kind, (where, within) in cases:
    at = (*key, kind, where)
    near[at] = sequence.paired(changed[key], kind, where, within)
    own[at] = sequence.paired(changed[key], kind, where, [0])
    found = intervals.statistic_over_facts(near[at], sequence.change, **again)
    moved[at] = found
    draws = near[at].swapaxes(0, 1)[:, :, None]
    single = [sequence.change(draw) for draw in draws]
    means = near[at][1].mean(), near[at][0].mean()
    bounds = found.estimate, found.low, found.high, found.text()
    ends = min(single), max(single)
    rows.append((*at, near[at][0].size, *means, *bounds, *ends))
columns = ["model", "format", "kind", "where", "pairs", "without", "with"]
columns += ["estimate", "low", "high", "change", "least", "most"]
changes = pd.DataFrame(rows, columns=columns)
runs.keep(changes.drop(columns="change"), "changes.csv")
shown = changes.drop(columns=["estimate", "low", "high"])
shown.set_index(columns[:4]).round(2)

# %% [markdown]
# And the replaced pairs themselves. `right` is the mean probability of the right objects at these places,
# `replaced` that of the objects that stand there instead, `share` the one divided by the other. It need not be
# near zero. An object that many facts of the relation have is likely whatever the subject.

# %%
rows = []
shares = {}
for at, values in own.items():
    shares[at] = intervals.statistic_over_facts(values, sequence.ratio, **again)
    means = values[1].mean(), values[0].mean()
    rows.append((*at, values[0].size, *means, shares[at].text()))
columns = ["model", "format", "kind", "where", "pairs", "right", "replaced"]
columns += ["share"]
pd.DataFrame(rows, columns=columns).set_index(columns[:4]).round(3)

# %% [markdown]
# How far does a disturbance reach? The same change at each distance behind the last replaced pair. In the
# distributed sequences a pair at distance 3 may also stand behind others, a little further back. Behind a block there
# is one pair at each distance for each draw. That is too few, so five distances are put together. The intervals are
# over the pairs of all draws, as if each stood in a text of its own, so take them as rough. Cells of fewer than ten
# pairs are left out.

# %%
rows = []
for key, beside in changed.items():
    near_ones = beside[beside["distance"].between(1, n_behind)]
    apart = near_ones["distance"].astype(int)
    of_block = near_ones["arrangement"] == "block"
    low = (apart - 1) // 5 * 5 + 1
    high = np.minimum(low + 4, n_behind)
    name = "block " + low.astype(str) + "–" + high.astype(str)
    near_ones = near_ones.assign(at=apart.astype(str).mask(of_block, name))
    for (kind, at), part in near_ones.groupby(["kind", "at"], sort=False):
        if len(part) < 10:
            continue
        both = part[["probability", "clean"]].to_numpy().T
        found = intervals.statistic_over_facts(
            both, sequence.change, seed=seed, n_resamples=1_000
        )
        bounds = found.estimate, found.low, found.high
        rows.append((*key, kind, at, len(part), *bounds))
columns = "model format kind at pairs change low high".split()
reach = pd.DataFrame(rows, columns=columns)

# %% [markdown]
# ## Figures
#
# One sequence of each model for a figure, the first draw in the first format. Each pair has a role in it: replaced, a
# right pair behind a replaced one, or another right one.

# %%
way = ["draw", "format"]
first = answers.groupby("model")[way].transform("first")
drawn = answers[(answers[way] == first).all(axis=1)]
reach_of = drawn["arrangement"].map({"distributed": 1, "block": n_behind})
beside = drawn["distance"] <= reach_of
drawn = drawn.assign(role=np.where(beside, "behind", "right"))
drawn["role"] = drawn["role"].mask(drawn["state"] == "replaced", "replaced")

# %% [markdown]
# {numref}`fig-sequence-panels` is the paper's Figure 2, and its Figures 9 to 11, which show the same for three more
# models. Go down a column of five panels. The pairs are the same in all
# rows. What to see: do the crosses lie at the
# bottom, those of unknown pairs (second and third row) as well as those of incorrect ones? Have the diamonds, the
# neighbours, moved down from the dots that stand there in the first row? The star marks one pair that is right in
# all five. Do not compare the dashed lines from row to row: each is a mean over other places.

# %% covers=["IC-S5", "IC-D1", "IC-F2", "IC-F9", "IC-F10", "IC-F11"] needs={"IC-S5": {"n_pairs": 200}, "IC-D1": {"fact_set": "nobel"}, "IC-F9": {"models": 2}, "IC-F10": {"models": 3}, "IC-F11": {"models": 4}} tags=["hide-input"] mystnb={"figure": {"name": "fig-sequence-panels", "caption": "Probability of the object at each place of one sequence (as the paper's Figures 2 and 9 to 11, with other models and facts). Rows, five for each model: all right, unknown pairs distributed and in a block, incorrect pairs distributed and in a block. Crosses: replaced pairs. Diamonds: right pairs that count as their neighbours. Dots: the other right pairs; dashed: their mean. Star: the same pair in all panels of a model."}, "image": {"alt": "Five scatter plots of probability over position for each model, two models side by side, with crosses for replaced pairs, diamonds for their neighbours and dots for the rest."}}
figures.sequence_columns(drawn[drawn["model"].isin(models)], plt.figure())
runs.keep(drawn[drawn["model"].isin(models)], "fig-sequence-panels.csv")

# %% [markdown]
# The next figure is the same for the shipped results. Those of `params/kamel.yaml` have the paper's kind of facts, birth
# years of Nobel laureates, and its numbers: 40 of 200 pairs are replaced. Their models are small. There is no such figure
# if nothing ships.

# %% covers=["IC-S5", "IC-D1", "IC-F2", "IC-F9", "IC-F10", "IC-F11"] needs={"IC-S5": {"n_pairs": 200}, "IC-D1": {"fact_set": "nobel"}, "IC-F9": {"models": 2}, "IC-F10": {"models": 3}, "IC-F11": {"models": 4}} tags=["hide-input"] mystnb={"figure": {"name": "fig-sequence-shipped", "caption": "Probability of the object at each place of one sequence in the shipped results. Panels and marks as in the figure above."}, "image": {"alt": "Five scatter plots of probability over position for each shipped model, with crosses for replaced pairs, diamonds for their neighbours and dots for the rest."}}
if of_others:
    beside = drawn[drawn["model"].isin(of_others)]
    figures.sequence_columns(beside, plt.figure())
    runs.keep(beside, "fig-sequence-shipped.csv")

# %% [markdown]
# The eye sees single pairs there, and most of them were uncertain anyway. {numref}`fig-sequence-reach` has all
# draws, and each pair beside itself. What to see: whether the marks lie below the line at 0, whether those of
# incorrect pairs lie lower than those of unknown ones, and whether the marks come back to the line with distance.
# Then look at the level in the title. Of a small level little can be lost, and a ratio of small numbers moves far.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-sequence-reach", "caption": "Change of the probability of right pairs by their distance behind the last replaced pair, in all draws: with the replacement divided by without, minus 1. Left of the grey line: distributed; right of it: behind a block. Vertical lines: 95 % interval over pairs. Dotted: the margins of the claims. Level: mean probability of the neighbours without replacement. Arrows: beyond the axis."}, "image": {"alt": "Panels for each model and format of the change of probability over the distance behind a replaced pair, for unknown and incorrect pairs, with intervals around zero."}}
grid = dict(squeeze=False, sharex=True, sharey=True, layout="constrained")
labels = list(dict.fromkeys(answers["format"]))
size = 1 + 4.5 * len(labels), 0.8 + 2.5 * len(asked)
fig, axes = plt.subplots(len(asked), len(labels), figsize=size, **grid)
ticks = list(dict.fromkeys(reach["at"]))
ticks.sort(key=lambda at: (at.startswith("block"), len(at), at))
lines = [], []
for (model, label), part in reach.groupby(["model", "format"], sort=False):
    ax = axes[list(asked).index(model), labels.index(label)]
    figures.change_by_distance(part, ax, ticks=ticks)
    lines = ax.get_legend_handles_labels()
    of = changes[(changes["model"] == model) & (changes["format"] == label)]
    level = (of["without"] * of["pairs"]).sum() / of["pairs"].sum()
    ax.set_title(f"{model}, {label}: level {level:.2f}", fontsize="medium")
    ax.set(xlabel="", ylabel="change" if label == labels[0] else "")
for ax in axes[-1]:
    ax.set_xlabel("distance behind the last replaced pair")
fig.legend(*lines, loc="outside upper center", ncols=4, frameon=False)
runs.keep(reach, "fig-sequence-reach.csv")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The text has one, the level at which Mistral-7B settles. The data of Figures 2 and 9 to 11 are lost
# in our copy of the paper, so they are not drawn here. Ours are means over the last quarter of the clean
# sequences, on other models and other facts: nothing here can be reproduced or differ. They only say how
# much there is to lose.

# %%
numbers = paper.table("intext_numbers").set_index("quantity")
published = float(
    numbers.loc["fig2_stable_mean_probability_mistral_7b", "value"]
)
of_paper = ("paper, Mistral-7B", "birth years of laureates", "space", published)
rows = [of_paper]
for (model, label), values in clean.items():
    quarter = values[:, -(values.shape[1] // 4) :].mean()
    rows.append((model, asked[model], label, quarter))
columns = ["model", "facts", "format", "level at the end"]
pd.DataFrame(rows, columns=columns).style.hide().format(
    precision=2
).set_table_attributes('class="lke-text"')

# %% [markdown]
# **Claims.** Statistic, direction and least effect of each stand in `lkecore/data/claims.csv` since before the
# first run of this page. The paper looks at scatter plots and gives no margins. Ours are: a change of less than a
# tenth is *hardly any*, and of more than a tenth is *lower*. All intervals draw draws and places again. So many
# intervals of 95 % stand here that one or two may miss by chance alone.
#
# *Little to lose* marks a verdict where the level is below a tenth of the paper's. The level is the mean of the clean
# sequences over their last quarter for "rises", over their second half for "settles", and else that of the right pairs
# without replacement. A line along the bottom is level, no neighbour can disturb it, and where right objects are as
# improbable as invented ones, that these are not much less probable is no news. So such a verdict says nothing of the
# claim.

# %%
tested, level = {}, {}
disturbed = {"unknown": "IC-unknown-calm", "incorrect": "IC-incorrect-drop"}
for key, values in clean.items():
    steps = {
        ("IC-sequence-rise", ""): sequence.rise(values, n_first),
        ("IC-sequence-settles", ""): sequence.settling(values),
        ("IC-incorrect-block", "block – distributed"): sequence.contrast(
            near[(*key, "incorrect", "block")],
            near[(*key, "incorrect", "distributed")],
        ),
    }
    for of, both in steps.items():
        tested[(*of, *key)] = intervals.statistic_over_facts(
            both, sequence.difference, **again
        )
    for where, kind in product(behind, disturbed):
        at, claim = (*key, kind, where), (disturbed[kind], where, *key)
        tested[claim], level[claim] = moved[at], near[at][1].mean()
    for where in behind:
        claim, at = (
            ("IC-unknown-near-zero", where, *key),
            (*key, "unknown", where),
        )
        tested[claim], level[claim] = shares[at], own[at][1].mean()

# %%
claims = paper.claims("IC").set_index("id")
for key, values in clean.items():
    quarter = values.shape[1] // 4
    level["IC-sequence-rise", "", *key] = values[:, -quarter:].mean()
    level["IC-sequence-settles", "", *key] = values[:, -2 * quarter :].mean()
    least = min(level["IC-incorrect-drop", where, *key] for where in behind)
    level["IC-incorrect-block", "block – distributed", *key] = least
rows = []
for (key, where, model, label), found in tested.items():
    claim = claims.loc[key]
    verdict = paper.claim_verdict(found, claim)
    at = level.get((key, where, model, label), np.nan)
    mark = "little to lose" if at < published / 10 else ""
    says = claim["claim"], where, claim["holds_if"], found.text(3)
    rows.append((key, model, label, *says, verdict, at, mark))
columns = "id model format claim where holds_if ours verdict level mark".split()

# %% [markdown]
# The verdicts are kept, for the page {doc}`../verdicts`, which has those of all pages.

# %%
verdicts = pd.DataFrame(rows, columns=columns)
rank = verdicts["id"].map(claims.index.get_loc)
verdicts = verdicts.iloc[rank.argsort(kind="stable")]  # in the claims' order
far = verdicts["model"].isin(of_others)
kept = verdicts.assign(source=far.map({True: "shipped", False: "this run"}))
behind_it = kept["where"].map(lambda where: where and f", {where}")
kept = kept.assign(way=kept["format"] + behind_it)
kept = kept.assign(as_paper=kept["format"] == "space")
kept = kept.rename(columns={"model": "models"})
runs.keep(paper.verdicts(kept), "verdicts.csv")
verdicts["mark"] = verdicts["mark"].map(lambda mark: mark and f" ({mark})")

# %% [markdown]
# One table for the models of this run, and another one for shipped models.

# %%
index = ["id", "claim", "holds_if", "where", "format"]
cells = verdicts["ours"] + ": " + verdicts["verdict"] + verdicts["mark"]
cells = verdicts.assign(cell=cells)
for columns in filter(None, (models, of_others)):
    part = cells[cells["model"].isin(columns)]
    table = part.pivot(index=index, columns="model", values="cell")[columns]
    order = pd.MultiIndex.from_frame(part[index].drop_duplicates())
    table = table.loc[order].rename_axis(columns=None).reset_index()
    table = table.drop(columns="id").rename(columns={"holds_if": "holds if"})
    table["claim"] = table["claim"].mask(table["claim"].duplicated(), "")
    look = table.fillna("").style.hide()
    display(look.set_table_attributes('class="lke-text"'))

# %% [markdown]
# **Holds, but why?** The sentence "unknown pairs hardly disturb" can hold in two ways. A model may be robust.
# Or it may have had nothing to lose. A ratio cannot tell these apart, so the next table sets the verdicts on both
# disturbances beside the level.

# %%
named = {claim: kind for kind, claim in disturbed.items()}
both = verdicts[verdicts["id"].isin(named)]
both = both.assign(kind=both["id"].map(named))
both["level"] = both["level"].map("{:.2f}".format) + both["mark"]
index = ["model", "format", "where", "level"]
table = both.pivot(index=index, columns="kind", values="verdict")
table = table.rename_axis(columns=None).loc[list(asked)].reset_index()
table.style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# Look at the rows of an `-unplanted` model, if there is one. It knows none of these facts, so whatever verdict
# stands there was given for nothing. The same verdict at a high level says something.

# %% [markdown]
# **Where to look for reasons.** If the claim on incorrect pairs fails at a level well above zero, it is not for want
# of knowledge. One reason may be size. To doubt a list because some of it is wrong, a model must hold what it
# knows of those earlier subjects against what stands there. The paper's models may do that: they are fifty times as
# large as the default model of this book, and more. Another reason is what a model has read. The text of a world
# repeats each fact as it is,
# and even its wrong facts are wrong in the same way everywhere. So a model of the lab had no reason to learn that a
# list can be doubted. The first exercise looks for a third reason, among the pairs that the model is sure of.
#
# If unknown pairs disturb *more* than incorrect ones, against the paper, compare the two formats. In `space` nothing
# marks where a pair ends. A row of strange names may then cost the model the pattern itself. If `colon` takes
# the disturbance away, it was a matter of the pattern rather than of knowledge.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-sequence-known
# The mean over all neighbours may hide what happens to those that the model knows. Look only at pairs with a
# probability of at least one half without replacement. Do they lose more?
# ```

# %% [markdown]
# ````{solution-start} ex-sequence-known
# :class: dropdown
# ````

# %%
rows = []
for key, beside in changed.items():
    reach_of = beside["arrangement"].map({"distributed": 1, "block": n_behind})
    next_to = (beside["distance"] >= 1) & (beside["distance"] <= reach_of)
    sure = beside[next_to & (beside["clean"] >= 0.5)]
    for at, part in sure.groupby(["kind", "arrangement"], sort=False):
        both = part[["probability", "clean"]].to_numpy().T
        text = "one pair alone"
        if len(part) > 1:
            text = intervals.statistic_over_facts(
                both, sequence.change, seed=seed, n_resamples=1_000
            ).text()
        rows.append((*key, *at, len(part), text))
columns = ["model", "format", "kind", "where", "pairs", "change"]
pd.DataFrame(rows, columns=columns).set_index(columns[:4])

# %% [markdown]
# Read this with care. Pairs were chosen because they were high without replacement. Chosen like this,
# they can hardly rise, so that even an idle replacement lowers them a little. But unknown and incorrect pairs
# are treated alike, so the two may be compared with each other. (Intervals over pairs. A model without such pairs is
# missing.)
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-sequence-used
# Does a model get used to a block? If it learned from the block itself that anything goes, the replaced objects would
# become more probable towards its end. Compare the two halves of the blocks.
# ```

# %% [markdown]
# ````{solution-start} ex-sequence-used
# :class: dropdown
# ````

# %%
inside = answers[(answers["arrangement"] == "block")]
inside = inside[inside["state"] == "replaced"]
by = ["model", "format", "kind"]
nth = inside.groupby([*by, "draw"])["position"].rank(method="first")
half = nth > inside.groupby([*by, "draw"])["position"].transform("size") / 2
halves = inside.assign(half=np.where(half, "second half", "first half"))
mean = halves.groupby([*by, "half"], sort=False)["logprob"].mean()
mean.unstack("half").round(2)

# %% [markdown]
# These are mean logprobs in nats, since means of tiny probabilities would hang on one or two pairs. A second half
# that is higher by one nat would mean that the wrong objects have become 2.7 times as probable. The objects of the
# two halves are others, so small differences are chance.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-sequence-own
# Put another model on this page, or other facts.
# ```
#
# ````{solution} ex-sequence-own
# :class: dropdown
#
# Put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml`. Choose the kind of
# invented subjects that fits the relation: person, place, company or title.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 12_iclke_sequence
#     parameters:
#       models: [gemma3-270m]
#       fact_set: atlas
#       relation: film_year
#       invented: title
#       n_pairs: 200
# ```
#
# The paper's own models and facts are in `params/iclke_paper.yaml`.
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
