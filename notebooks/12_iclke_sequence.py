# %% [markdown]
# # What do wrong examples do to their neighbours?
#
# A prompt of many pairs can be read at every pair: how probable was this object, after all that stood before
# it? So one long text shows how a model warms up, and what happens when some pairs are not what they should be.
#
# **What came out.** {glue:text}`settles` {glue:text}`neighbours` {glue:text}`shipped` {glue:text}`little`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-sequence-reach
# :name: fig-sequence-reach
# :alt: Panels for each model and format of the change of probability over the distance behind a replaced pair, for unknown and incorrect pairs, with intervals around zero.
#
# Change of the probability of right pairs by their distance behind the last replaced pair, in all draws: with the
# replacement divided by without, minus 1. Left of the grey line: distributed; right of it: behind a block. Vertical lines:
# 95 % interval over pairs, or relations. Dotted: the margins of the claims. Level: mean probability of the neighbours without
# replacement. Arrows: beyond the axis.
# ```
#
# Afterwards you will be able to say
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
# The paper has four models of 7 to 12 billion parameters, and one sequence of each kind for each. Ours are small, their
# sequences often shorter.

# %% [markdown]
# ## Parameters
#
# A model such as `smollm2` is asked about `relations` of `fact_set`, a model of the lab about its own world, and
# only about facts that the text told often: those it could know. An `-unplanted` model has read
# the same text told of others. It is a {term}`negative control`: it knows none of these facts. The names that end in `_lab`
# are for models of the lab.

# %% tags=["parameters"]
models: list[str] = [
    "smollm2",
    "lab:book-1/2m",
    "lab:book-1/0.7m-unplanted",
]
fact_set: str = "atlas"
relations: list[str] = ["country_of_city"]  # each counts alike
invented: str = "word"  # kind of invented subject, see Prompts
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
estimators: list[str] = ["iclke-space", "iclke-colon"]  # see Prompts
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 1  # of its draws, for each estimator, are read again
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # of the first draw, and of resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

from lkecore import answers, figures, papers, runs
from lkecore.answers import sequence
from lkecore.facts import pool
from lkecore.models import lab
from lkecore.prompts import probes

figures.style()

# %% [markdown]
# ## Facts
#
# The paper takes birth years, which a small model hardly knows. The relation here was chosen on other draws: one with many
# facts, of which the default model knows something. Of a world we take the {term}`planted facts <planted fact>` that
# stood in at least `n_told_lab` lists of the text. They are few, so draws differ in the order and in what is replaced
# rather than in the facts.

# %%
own = lab.fact_sets(models, fact_set)
known = {
    model: {
        relation_lab: pool.known(spec, relation_lab, least_lists=n_told_lab)
    }
    if lab.is_name(model)
    else {name: pool.known(spec, name) for name in relations}
    for model, spec in own.items()
}
for model, of in known.items():
    for whole, some in of.values():
        print(f"{model}: {whole.label} of {own[model]}, {len(some)} facts")

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
# An invented subject must hint at no object, else its pair is wrong rather than unknown. A `word` is three syllables put
# together by chance. The paper's invented persons say nothing of a year; an invented American town would say much of
# its country.
#
# Two choices are ours. No two distributed places touch, and none is the last: each replaced
# pair has a right one directly behind it. And a block begins in the second half, where the pattern is clear.

# %% covers=["IC-D5", "IC-D6"]
how = {
    "share_replaced": share_replaced,
    "n_first": n_first,
    "n_behind": n_behind,
    "seed": seed,
}
in_lab = {"kind": invented_lab, "n_pairs": n_pairs_lab, "n_draws": n_draws_lab}
other = {"kind": invented, "n_pairs": n_pairs, "n_draws": n_draws}
made = {
    model: {
        name: probes.draw_probes(
            some, whole.facts, **how, **in_lab if lab.is_name(model) else other
        )
        for name, (whole, some) in of.items()
    }
    for model, of in known.items()
}
print(probes.replaced_pairs(made).to_string(index=False))

# %% [markdown]
# These are the first two places of a block. What tells unknown and incorrect pairs apart is the subject. Of the two formats, `iclke-space` is the paper's; `iclke-colon` marks where a pair ends.

# %%
five = next(iter(made[models[0]].values()))[seed]
for name in estimators:
    print(f"{name:13}{''.join(probes.pieces_of(name, five)[0][:6])!r}")

# %% [markdown]
# ## Scores
#
# A model reads a sequence once, and gives the probability of every object on its way, each after all that
# stands before it. It is the probability of the whole object, as in the paper's figures, and not
# shared among options, as {term}`confidence` is: there is no {term}`chance`, and a model that has no idea comes near zero.
#
# Shipped runs stand beside it, if any. They are **not this run**.

# %%
this = "12_iclke_sequence"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"dtype": dtype, "page": page}
ours = answers.ask_pairs(made, estimators, "answers.parquet", **source)
every = answers.beside(ours, shipped, this, join=False, carried=results)
longest = ours.groupby(["model", "estimator"], sort=False)["tokens"].max()
print(f"{len(ours):,} pairs; tokens of the longest sequence:")
print(longest.to_string())
print(*answers.made_by(shipped, this), sep="\n")

# %% [markdown]
# A model of the lab has never seen what lies beyond 384 tokens.
#
# ## Answers
#
# First the clean sequences, stretch by stretch, mean over draws. Keep these *levels* in mind: where there is no
# probability, none can be lost.

# %%
each = ["source", "model", "estimator"]
levels = sequence.levels(every, each, n_first=n_first)
runs.keep(levels, "levels.csv")
published = papers.table("intext_numbers").set_index("quantity")["value"]
settled = float(published["fig2_stable_mean_probability_mistral_7b"])
print(f"the paper's Mistral-7B settles at {settled}")
answers.words(answers.texts(levels), digits=2)

# %% [markdown]
# **Now the neighbours.** Each is right in all sequences of a draw, at the same place, so it is compared
# with itself: its probability `with` the replacement and `without`. Neighbours of distributed places are the pairs
# directly behind; those of a block are the first `n_behind` behind it.
#
# `change` is the ratio of these two means, minus 1. For the intervals the draws are drawn again, and within each draw
# its own places. With few draws that differ much the interval is too narrow. Hence the lowest
# and the highest change of a single draw (`least`, `most`). The draws of a world share their facts: there, an interval
# speaks of other orders and places. Of several relations `change` is the mean of theirs, its interval is over relations,
# and `least` and `most` are of one relation.
#
# `share` is about the replaced pairs themselves: the probability of what stands there, divided by that of the right
# objects. An object that many facts of the relation have is likely whatever the subject.

# %%
changes = sequence.changes(every, each, n_behind=n_behind, seed=seed)
runs.keep(answers.bounds(changes, "change", "estimate"), "changes.csv")
gone = sequence.replaced(every, each, seed=seed)
which = [*each, "kind", "arrangement"]
table = changes.merge(gone[[*which, "share"]], on=which)
answers.words(answers.texts(table), digits=2)

# %% [markdown]
# **How far does a disturbance reach?** {numref}`fig-sequence-reach` has the same change at each distance behind the last
# replaced pair. Behind a block, five distances are put together. Intervals over pairs, as if each had a text of its own, are
# rough.

# %%
reach = sequence.reach(every, each, n_behind=n_behind, seed=seed)
bars = answers.bounds(reach, "change")
bars = bars.assign(model=sequence.named(bars))
tests = sequence.tests(
    every, each, n_first=n_first, n_behind=n_behind, seed=seed
)
tests = sequence.every_test(tests, changes, gone)

# %% [markdown]
# The sentences at the top are made of these tables; no number is typed.

# %% tags=["hide-input"]
best = levels.loc[levels[levels["source"] == "this page"]["last"].idxmax()]
rises = f"Along a sequence of right pairs, {best['model']} comes from a"
rises += f" probability of {best[f'first {n_first}']:.2f} for the right object"
rises += f" to {best['last']:.2f} in its last quarter ({best['estimator']})."
near = sequence.behind_block(changes, best[each].to_dict())
shipping = sequence.longer_run(levels, changes, each)
who, empty = sequence.named(levels), levels["last"] < settled / 10
in_all = empty.groupby(who).transform("all")
way = (" by " + levels["estimator"]).mask(in_all, "")
low = "All models that were asked have something to lose."
if empty.any():
    said = ", ".join(dict.fromkeys((who + way)[empty]))
    low = f"Nearly nothing can be lost where the level is low: {said}."
figures.findings(settles=rises, neighbours=near, shipped=shipping, little=low)
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-sequence-reach`, at the top, see whether the marks lie below the line at 0, those of
# incorrect pairs lower than those of unknown ones, and whether they come back with distance.
# The level stands in the title: ratios of small numbers move far.

# %% tags=["hide-input"]
panels = changes.assign(model=sequence.named(changes))
figures.place(figures.reach_panels(bars, panels), "fig-sequence-reach", bars)

# %% [markdown]
# {numref}`fig-sequence-panels` is the paper's Figures 2 and 9 to 11: the first draw in the first format. Go down a column
# of five panels. Do the crosses lie at the bottom? Have the diamonds, the neighbours, moved down from the dots that stand
# there in the first row? Do not compare the dashed lines from row to row: each is a mean over other places.
#
# ```{glue:figure} fig-sequence-panels
# :name: fig-sequence-panels
# :alt: Five scatter plots of probability over position for each model, two models side by side, with crosses for replaced pairs, diamonds for their neighbours and dots for the rest.
#
# Probability of the object at each place of one sequence. Rows, five for each model: all right, unknown pairs
# distributed and in a block, incorrect pairs distributed and in a block. Crosses: replaced pairs. Diamonds: right pairs that count as their neighbours. Dots: the other right pairs;
# dashed: their mean. Star: the same pair in all panels of a model.
# ```

# %% covers=["IC-S5", "IC-D1", "IC-F2", "IC-F9", "IC-F10", "IC-F11"] needs={"IC-S5": {"n_pairs": 200}, "IC-D1": {"fact_set": "nobel"}, "IC-F9": {"models": 2}, "IC-F10": {"models": 3}, "IC-F11": {"models": 4}} tags=["hide-input"]
one = sequence.roles(every, n_behind=n_behind)
here = one["source"] == "this page"
one = one.assign(model=sequence.named(one))
fig = plt.figure()
figures.sequence_columns(one[here], fig)
figures.place(fig, "fig-sequence-panels", one[here])

# %% [markdown]
# {numref}`fig-sequence-shipped` is the same for shipped results: `kamel` has the paper's facts, birth years of
# laureates, `known` eight relations that both models know. Both have 200 pairs.
#
# ```{glue:figure} fig-sequence-shipped
# :name: fig-sequence-shipped
# :alt: Five scatter plots of probability over position for each shipped model, with crosses for replaced pairs, diamonds for their neighbours and dots for the rest.
#
# The same for the shipped results; of several relations, the mean at each place.
# ```

# %% covers=["IC-S5", "IC-D1", "IC-F2", "IC-F9", "IC-F10", "IC-F11"] needs={"IC-S5": {"n_pairs": 200}, "IC-D1": {"fact_set": "nobel"}, "IC-F9": {"models": 2}, "IC-F10": {"models": 3}, "IC-F11": {"models": 4}} tags=["hide-input"]
beside = plt.figure()
figures.sequence_columns(one[~here], beside)
figures.place(beside, "fig-sequence-shipped", one[~here])

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The data of the paper's figures are lost in our copy, so they are not drawn here.
#
# **Claims.** What each means in numbers stands in `lkecore/data/claims.csv` since before the first run of this page; those
# over several relations, since answers about one at a time were known. The paper gives no margins. Ours are: a change of
# less than a tenth is *hardly any*, of more than a tenth *lower*. One interval in twenty misses by chance.
#
# *Little to lose* marks a verdict where the level is below a tenth of the paper's: the mean of the clean sequences over
# their last quarter for "rises", over their second half for "settles", and else that of the right pairs without
# replacement. Nothing can disturb a line along the bottom. Of several relations, verdicts are over relations.

# %%
tested, marks = sequence.judged_by(tests, little=settled / 10)
judged = answers.judge_ways(
    tested,
    as_paper=[way for way in tested if way.startswith("iclke-space")],
    marks=marks,
)
runs.keep(answers.bounds(tests, "found", "estimate"), "tested.csv")
answers.words(sequence.verdicts_by_model(judged))

# %% [markdown]
# Intervals: `verdicts.csv` and `tested.csv`.
#
# **Holds, but why?** "Unknown pairs hardly disturb" can hold in two ways: a model may be robust, or have nothing to lose. A
# ratio cannot tell these apart, so set the verdict beside the column `without` above.
#
# **Where to look for reasons.** If the claim on incorrect pairs fails at a level well above zero, it is not for want
# of knowledge. One reason may be size: to doubt a list, a model must hold what it knows against what
# stands there, and the paper's models are larger. Another is what a model has read. The text of a world repeats each fact
# as it is, so a model of the lab never learned that a list can be doubted.
#
# If unknown pairs disturb *more* than incorrect ones, compare the two formats. In `iclke-space`
# nothing marks where a pair ends, and a row of strange words may cost the model the pattern itself. If `iclke-colon` takes
# the disturbance away, it was a matter of the pattern, not of knowledge.

# %% [markdown]
# ## What you have seen
#
# - A long sequence warms a model up within a few pairs, and one reading gives an answer at each of them.
# - What a replaced pair does is seen only beside the same pairs without it, not from place to place.
# - "Hardly any change" means something only where there was a probability to lose.

# %%
clean = every[every["kind"] == "clean"].groupby(each)["probability"].mean()
quarters = ["1st quarter", "2nd", "3rd", "last"]
means = levels[levels["pairs"] % 4 == 0].set_index(each)[quarters]
assert (means.mean(axis=1) - clean).abs().max() < 1e-9
ratio = changes["with"] / changes["without"] - 1
estimates = changes["change"].map(lambda found: found.estimate)
single = changes["change"].map(papers.over_of) != "relations"
assert (ratio - estimates)[single].abs().lt(1e-9).all()
assert (changes["least"] < estimates + 1e-9).all()
assert (changes["most"] > estimates - 1e-9).all()

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
sure = sequence.of_the_sure(
    every, each, n_behind=n_behind, least=0.5, seed=seed
)
answers.words(answers.texts(sure))

# %% [markdown]
# Pairs chosen because they were high can hardly rise, so that even an idle replacement lowers them a little. But unknown
# and incorrect pairs are treated alike, and may be compared. (Intervals over pairs; of several
# relations, over these.)
#
# ````{solution-end}
# ````

# %% [markdown]
# To ask another model, or about other facts, put this into `params/mine.yaml`, then call
# `lke run params/mine.yaml`. Invented subjects are a word, person, company or title, the last three
# where such a name hints at no object.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 12_iclke_sequence
#     parameters:
#       models: [gemma3-270m]
#       fact_set: atlas
#       relations: [film_year]
#       invented: title
#       n_pairs: 200
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
