# %% [markdown]
# # Does an answer move less where a fact is known?
#
# Tell a model that Obama is married to Michelle, and ask whom he is married to. If the answer hardly moves, it was known
# before; if it moves far, it was not. This is the second paper's idea of knowledge, and it asks for no list of options. The paper measures
# the movement by {term}`entropy` and by {term}`KL-divergence`. Here we hold both against the truth: small models, of which we know what
# their text told them.
#
# **What came out.** {glue:text}`finds` {glue:text}`turn` {glue:text}`adds` {glue:text}`wrong`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-moved-curve
# :name: fig-moved-curve
# :alt: A line for each model of the KL-divergence over the probability that the object's first token had before anything was told, with vertical intervals.
#
# How far the answer moves when the fact is told, over how probable its object was before. Each mark is the mean of the facts in
# a bin. Vertical lines: 95 % intervals over facts. A measure of ignorance would fall from the left to the right.
# ```
#
# Afterwards you will be able to say
#
# - what entropy and KL-divergence of an answer are, and what both leave out,
# - why an answer can move far *because* a fact is known,
# - what a control tells: the same object, told of another subject.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` compares three measures of how well a fact is known: the rank of the object, the change of entropy,
# and the KL-divergence. It fine-tunes BERT and T5 on facts from which it takes away more and more words, and counts how often a measure puts
# two such facts in the right order (its Table 1). The rank is right in 51.6 % and 30.9 % of pairs, the change of entropy in 72.2 % and
# 66.4 %, the divergence in 74.5 % and 67.8 %. Where the fact stands in the prompt, the paper calls it {term}`explicit instillation`; where the model is
# fine-tuned on it, implicit. This page is about the first. BERT and T5 would run on a laptop, only slower than on
# a GPU. What nobody can get is the truth about what they know.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
relations: list[str] = [
    "residence", "birthplace", "instrument", "profession",
    "company_language", "second_language", "author", "birth_year",
]  # fmt: skip
# No name of a subject hints at its object in these.
template: str = "template-1"  # of the statement and of the question
often: int = 16  # tellings from which a fact counts as told often
n_shots: int = 50  # pairs shown before the question, for IC-LKE
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each way of asking, are asked again
shipped: list[str] = []  # profiles whose models stand beside these
seed: int = 0  # draws shots, other subjects, order of options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

from lkecore import answers, figures, runs
from lkecore.answers import (
    firsts,
    gates,
    lab,
    moved,
    moved_said,
    rich,
)

figures.style()

# %% [markdown]
# ## Facts
#
# From the lab's {ref}`rich world <rich-worlds>` we ask facts that the text tells 1 to 64 times, facts that it tells *wrongly*, facts of
# which it says two things, and facts that it never tells. Each told fact has a control: a never-told fact with the same object, or
# with one that is as frequent. Whatever a measure says of a control is not knowledge.

# %%
chosen = {"n_shots": n_shots, "seed": seed, "leave_out": True}
samples = rich.samples(models, relations, moved.asked, **chosen)
questions = moved.questions(samples, models, template, dtype=dtype, seed=seed)
print(f"{sum(map(len, questions.values())):,} questions at blanks")

# %% [markdown]
# ## Prompts
#
# Every question is asked twice: by itself, and behind a statement. The statement is the filled template with its full stop; then
# comes the same template with its blank. In the second pair of lines the statement tells the same object of another
# subject. It says nothing about who is asked. So an answer that moves as far behind it does not move by the fact.

# %%
first = next(iter(samples))
for kind in ("explicit", "copied"):
    some = next(q for key, q in questions.items() if kind in key)[0]
    print(
        f"{kind:9} {some.asked.context} ____\n{'':9} {some.told.context} ____"
    )

# %% [markdown]
# ## Scores
#
# P is the distribution over all tokens at the blank before the statement, and Q behind it. From one pass over both we read
#
# - the entropy $H(P) = -\sum_k P_k \log P_k$: how unsure the answer is, whatever it is (equation 1),
# - its change $H(P) - H(Q)$ (equation 2); a fact is taken for known if it is near 0, so we order facts by its size (`signed change`: with
#   its sign),
# - the divergence $\mathrm{KL}(P\|Q) = \sum_k P_k \log (P_k / Q_k)$ (equation 3; the paper prints a minus, but all its values are
#   positive), and `KL back`, $\mathrm{KL}(Q\|P)$,
# - the {term}`rank` of the object's first token on P, and its {term}`surprisal`, $-\log P$. These need no telling.
#
# All are in nats, and for all of them less means better known. They are read at one token, the first. Those *of options* are the
# same over the whole names of all options, whose probabilities are made to sum to 1. `confidence` in the true object and IC-LKE stand beside them.

# %%
this = "53_lab_entropy"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"dtype": dtype, "page": page}
at_blanks = answers.ask_blanks(
    models, questions, "answers.parquet", by=moved.KEY, whole=True, **source
)
shown = moved.many_shot(samples, models, dtype=dtype)
iclke = answers.ask(
    models, shown, "answers-shown.parquet", by=moved.SHOWN, **source
)
blanks, pairs = moved.beside(at_blanks, iclke, shipped, this, "shown")
every = moved.known(blanks, pairs, often=often)
here = every[every["world"].eq(lab.worlds(models)[0])]
print(*answers.made_by(shipped, this), answers.infinite(blanks), sep="\n")
print(gates.missed(every["model"]))

# %% [markdown]
# ## Answers
#
# **Left out.** The first token of an object says which object it is only if no other object of the relation begins with it.
# Authors share their first names, and years their first digits. So the page is about the facts under `alone`. The paper's objects
# have one token: `one token`.

# %%
mine = here[here["model"].eq(models[0])]
print(moved.left_out(mine).to_string(index=False))
print(*firsts.absent(moved.of_set(mine), relations), sep="\n")

# %% [markdown]
# **Who finds what was told?** The {term}`AUROC` is the chance that a fact told often (as `often` says) looks better known than a never-told
# control; 0.5 is no telling apart, and below that a measure is wrong more often than right. `bert` is a masked model and `t5` an
# encoder-decoder, as the paper's are. A twin, `-unplanted`, read the same text told of other subjects: it should be at 0.5. Of so
# many intervals of twins some leave that out, by chance or by what the subjects are like: the lines above the table say which. So a
# difference from 0.5 of that size says nothing of any model.

# %%
found = moved.aurocs(here, seed=seed)
runs.keep(answers.bounds(found.dropna(subset="alone"), "alone"), "aurocs.csv")
print(moved_said.off_half(found))
answers.words(answers.across(found, "metric", "alone"))

# %% [markdown]
# **With other controls and objects, and beside the paper.** Of one model. Some controls are strangers: the text says nothing at all of their
# subjects, so that a measure could find the name and not the fact. `familiar` leaves their pairs out; compare it with `alone`.
# `KL minus it` compares KL with each other measure on the same facts. The last two columns are the paper's Table 1: other models, other
# facts, and the share of pairs in the right order.

# %%
best = rich.teller(here["model"].unique())
own = found[found["model"].eq(best)].drop(columns="model")
of_best = moved.pairs(moved.of_set(here[here["model"].eq(best)]))
familiar = of_best["mentions_control"].gt(0).sum()
print(f"{best}: {len(of_best)} pairs, {familiar} with a familiar control")
answers.words(answers.texts(own), missing="")

# %% [markdown]
# **Before and after.** Means by how often the text tells a fact; `rank` is a median. Look at `entropy` and `after` first. A fact that was told often
# leaves the answer more sure *behind* the statement than one that was never told: memory and statement agree. So in decoders the
# way from P to Q gets longer with knowledge, not shorter, until the answer is sure before. `repeated` says how often the object comes first behind the
# statement. What was told wrongly resists it.

# %%
levels = moved.by_level(rich.without_twins(here), seed=seed)
runs.keep(answers.bounds(levels, "KL"), "by-level.csv")
answers.words(answers.texts(levels))

# %% [markdown]
# **How often?** So far a fact was told often, or never. Among told facts, 1 to 64 times, this is Spearman's correlation of a measure with how
# often. All are turned so that more is better known: a useful one is above 0. See which sign the two have that move.

# %%
doses = moved_said.follows_tellings(here, seed=seed)
runs.keep(answers.bounds(doses, "r"), "tellings.csv")
print(answers.across(doses, "metric", "r").T.to_string(header=False))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
claimed = moved_said.claimed(every, seed=seed)
less = moved.wrongly(here, seed=seed)
curve = moved.over_probability(rich.without_twins(here), seed=seed)
figures.findings(**moved_said.sentences(here, found, less, curve))
figures.note("carried", answers.carried(at_blanks, iclke))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-moved-curve`, at the top, follow a line from left to right. On the left stand objects that the model
# had nearly ruled out; it does not quite believe the statement, and the answer moves little. In the middle it
# takes the statement over, and moves far. On the right it said so before, and there is nowhere to go. One value of KL
# can mean any of two things.

# %% tags=["hide-input"] covers=["PZ-E2", "PZ-E3", "PZ-S2"]
fig, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
marks = moved_said.drawn_curve(curve)
figures.move_lines(marks, ax)
figures.place(fig, "fig-moved-curve", marks)

# %% [markdown]
# In {numref}`fig-moved-auroc` each measure has a mark for each model. On the left, told facts against controls. On the right,
# facts that the text tells *wrongly* against those that it tells rightly as often: there, above the dashed line means that a
# measure takes the wrong ones for less known. This is the paper's Figure 2 in the wild. A model that was told another object
# is as sure as any, and only a measure that looks at the object can see that it errs.
#
# ```{glue:figure} fig-moved-auroc
# :name: fig-moved-auroc
# :alt: Two panels with marks and intervals for seven measures and each model. Left: AUROC of told against never-told facts. Right: of wrongly against rightly told ones.
#
# AUROC of each measure. Left: facts told often against their never-told controls. Right: facts told wrongly against facts told
# rightly as often. Vertical lines: 95 % intervals. Dashed: no telling apart.
# ```

# %% tags=["hide-input"]
drawn = moved_said.drawn(found, less)
five = ["rank", "surprisal", "entropy", "change of entropy", "signed change"]
drawn = drawn[drawn["metric"].isin([*five, "KL", "KL back"])]
scale = {"y": "auroc", "label": "AUROC", "line": 0.5, "width": 5}
fig = figures.interval_panels(
    drawn, panel="what", x="metric", hue="model", **scale
)
figures.place(fig, "fig-moved-auroc", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper's Table 1 stands beside ours above. Its models, facts and question are others: it orders facts by how many words
# of a sentence were taught, we by whether they were told at all.
#
# **Claims.** In `lkecore/data/claims.csv`, written down before these models were asked, but for the one on another subject, whose row
# says what was known. Each world is judged by itself. Two
# kinds of verdict bear a mark. How often `lab:rich-1/bert` reads was chosen after a look at it. And a model that misses the gate of
# repeating ({doc}`50_lab_truth`) is out where a claim rests on what the prompt tells; beside a decoder stands the largest one that passes.

# %%
aside = rich.marks(claimed)
judged = lab.judge(claimed, aside, estimator=template)
columns = ["claim", "holds_if", "source", "of", "ours", "verdict", "mark"]
answers.words(judged[columns])

# %% [markdown]
# **Who repeats?** The gate asks it of strangers. Of all facts here that were never told, subjects of other told facts among them, so often does
# the object come first behind the statement:

# %%
repeating = moved_said.repeating(rich.without_twins(every))
print(answers.texts(repeating).to_string(index=False))

# %% [markdown]
# Two warnings. These models are small and unsure: the object of a fact that they were told often is far from certain, and the marks of the first figure
# lie mostly in its left half. For a model that is sure of what it knows, most known facts lie on the right of the first figure, where KL falls. And they copy what
# they read less surely than large models do, so the left of the figure may be flatter elsewhere. What carries over is the
# question: before KL orders the facts of a model, one has to know on which side of the hill they lie.

# %% [markdown]
# ## What you have seen
#
# - An answer moves little for two reasons: it is known already, or the statement is not believed. KL cannot tell which.
# - What a measure finds with the statement has to be compared with what it finds without. Here {term}`surprisal`, which needs no
#   statement and half of the computing, finds far more: in decoders, and in the paper's two kinds of model.
# - Entropy never looks at the object. Of facts that were learned wrongly it says that they are better known than those learned
#   rightly; so the claim that it takes both alike fails.
# - The same statement about another subject moves the answer as well. Copying is not knowing.

# %%
for column in ("kl", "kl_back", "options_kl", "options_kl_back"):
    assert (at_blanks[column] >= 0).all()
sides = at_blanks.groupby(["model", "fact"])["entropy"]
assert (sides.max() - sides.min()).max() < 1e-3  # P is before the statement

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-moved-tellings
# The correlation with how often a fact was told takes all facts from one telling to 64. Does a measure still follow *how* often among
# facts that were told often, or has it seen all that it can see?
# ```

# %% [markdown]
# ````{solution-start} ex-moved-tellings
# :class: dropdown
# ````

# %%
among_often = moved_said.follows_tellings(here[here["often"]], seed=seed)
print(answers.across(among_often, "metric", "r").T.to_string(header=False))

# %% [markdown]
# Compare with the table above. What is left of the rank and the surprisal tells 16 tellings from 64.
#
# ````{solution-end}
# ````
#
# The same on another model: `lke run sources/entropy_lab.yaml`, with its name under `models`.

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
