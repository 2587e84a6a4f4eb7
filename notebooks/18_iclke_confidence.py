# %% [markdown]
# # Is the model right when it is sure?
#
# Accuracy counts all answers alike. But a model that answers with {term}`IC-LKE` also says how sure it is. If it
# is right more often when it is sure, we can keep the sure answers and leave the others. On this page we look at
# what such a choice is worth. Afterwards you will be able to say
#
# - how accuracy rises when only answers above a threshold of confidence count, and how many answers that costs,
# - whether a confidence of 0.8 means that 8 of 10 answers are right,
# - how much the confidence depends on the number of options, and so on us,
# - how to choose a threshold without fooling yourself.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` measure what they call Accuracy@K (Appendix D): the accuracy of those answers alone whose
# {term}`confidence` is above a threshold K. Figure 8 shows it over K for five models, on the birth years of Nobel
# laureates. The paper draws no conclusion from the curves in words. It says what they are for: the probability is
# a signal of how sure the model is (Section 3). The claim that we test is what such a signal needs: among answers
# of higher confidence more are right.
#
# The paper's curves are about one relation. Ours are about many together, so that a threshold can also choose
# among relations. Under *Metrics* we take the two apart.
#
# The curves of Figure 8 are lost in our copy of the paper, and no number stands beside them. Nor do we know for
# certain how many facts it shows. The caption says that the data consist of "50 examples". We read this as 50
# shots, and the figure below shows this reading. It may also mean 50 test facts. That reading has a table under
# *Metrics*.
#
# The paper's run needs the scores of 100 options for each fact and model. This page needs none that
# {doc}`10_iclke_relations` does not need, too: it asks the same questions, so that the scores are in the cache.
#
# In the list of the book's coverage: IC-E5, IC-E7 and IC-F8.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all of the fact set
formats: list[str] = ["iclke-space", "iclke-colon"]  # the paper's comes first
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects; fewer where a relation has fewer
cut_to: list[int] = [10, 20, 50]  # smaller numbers of options, of the same
thresholds: list[float] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
n_bins: int = 5  # groups of answers by confidence, of equal size
wanted: float = 0.6  # share right that we ask of kept answers, in Try it
n_pool: int = 100  # facts that pairs are drawn from, at most half of all
n_facts: int = 25  # test facts of each relation
n_choice: int = 4  # pool facts of each relation that are asked to choose by
shipped: list[str] = []  # profiles in results/ with many relations (page 10)
shipped_one: list[str] = []  # those with one relation and many shots (page 11)
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from itertools import product

import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import display
from matplotlib import pyplot as plt
from statsmodels.stats.proportion import confint_proportions_2indep

from lkecore import (
    facts,
    figures,
    intervals,
    paper,
    prompts,
    results,
    runs,
)
from lkecore.metrics import iclke
from lkecore.models import open_model
from lkecore.rows import BadInput
from lkecore.scores.tree import option_logprobs

figures.style()

# %% [markdown]
# ## Facts
#
# For each relation we draw the shots, the test facts and their options. Besides, a few facts of the pool that are
# not shown make up the *choice* set. It is there to choose a threshold by. No test fact is among them.

# %%
if not all(2 <= n < n_options for n in cut_to):
    raise BadInput(f"cut_to {cut_to}: each must be from 2 to {n_options - 1}")
if not thresholds or not all(0 <= k < 1 for k in thresholds) or n_bins < 2:
    raise BadInput(
        f"thresholds {thresholds} must be in [0, 1), n_bins {n_bins} 2 or more"
    )
names = relations or list(facts.relations(fact_set))
loaded, shots, asked, options = {}, {}, {}, {}
for name in names:
    loaded[name] = facts.load(fact_set, name)
    sizes = {"n_train": n_pool, "n_test": max(400, n_facts)}
    train, test = facts.divide(loaded[name], **sizes)
    shots[name] = facts.draw_shots(train, n_shots, seed)
    shown = {shot.subject for shot in shots[name]}
    spare = [fact for fact in train if fact.subject not in shown]
    asked["choice", name] = facts.draw_facts(spare, n_choice, seed)
    asked["test", name] = facts.draw_facts(test, n_facts, seed)
    n = min(n_options, facts.max_options(loaded[name]))
    for part in ("choice", "test"):
        drawn = asked[part, name], loaded[name].objects, n, seed
        options[part, name] = facts.draw_options(*drawn)

# %% [markdown]
# What there is of each. Where a relation has fewer facts or fewer objects than we ask for, it is marked.

# %%
rows = []
for name in names:
    choice, test = asked["choice", name], asked["test", name]
    n = len(options["test", name][0])
    less = {"options": n < n_options, "test facts": len(test) < n_facts}
    less["choice facts"] = len(choice) < n_choice
    fewer = ", ".join(what for what, is_less in less.items() if is_less)
    rows.append((name, len(choice), len(test), n, fewer))
columns = ["relation", "choice", "test", "options", "fewer than asked for"]
whole = {n for n in names if len(options["test", n][0]) == n_options}
if not whole:
    raise BadInput(f"no relation of {names} has {n_options} options")
pd.DataFrame(rows, columns=columns).set_index("relation")

# %% [markdown]
# ## Prompts
#
# The prompts are those of the page on relations. `iclke-space` is the paper's format, with one space everywhere.
# `iclke-colon` marks the borders of a pair, which small models read more easily.

# %%
questions = {
    (label, part, name): prompts.asking(
        label, loaded[name], shots[name], asked[part, name], drawn
    )
    for label, ((part, name), drawn) in product(formats, options.items())
}
for label in formats:
    example = questions[label, "test", names[0]][0].context
    print(f"{label:12} {'... ' + example[-60:] + '____'!r}")

# %% [markdown]
# ## Scores
#
# A block of questions for each model, format and relation. If the page on relations has run with the same
# numbers, every block comes from the cache.
#
# Then the options are *cut*. Take a fact with 100 options. Keep the gold one and the first 9 of the others, in
# the order in which they were drawn, which is random. What the model gave to these 10 is known already: the
# probability of an option does not depend on which others we have in mind. Only the sum changes by which it is
# divided. So no model is needed to ask with fewer options.

# %%
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}
keys = ["model", "format", "part", "relation", "cut"]
found = {}
for model, lm in lms.items():
    for key, made in questions.items():
        frame = option_logprobs(lm, made).frame
        others = (~frame["gold"]).groupby(frame["fact"], sort=False).cumsum()
        most = len(made[0].options)
        for n in sorted({*[n for n in cut_to if n < most], most}):
            cut = frame[frame["gold"] | (others < n)]
            found[model, *key, n] = iclke.answers(cut)

# %% [markdown]
# A run keeps one row for each question and number of options: was the answer right, and how sure was the model?
# Everything below needs no more than that.

# %%
if page:
    answers = runs.collect("answers.parquet")
else:
    answers = pd.concat(found, names=keys).reset_index(keys[:-1])
    runs.keep(answers, "answers.parquet")
of_most = answers.groupby("relation")["options"].transform("max")
full = answers[answers["options"] == of_most]
choice, test = (full[full["part"] == part] for part in ("choice", "test"))
print(f"{len(test):,} answers about test facts, {len(choice):,} to choose by")

# %% [markdown]
# Results of longer runs may stand beside these. They are **not this run**: other models may be among them, and other
# facts. The lines say what made them. Of the runs over one relation we take the first draw of the most shots. Two profiles
# that have a format each of the same facts are put together, under the name of the first.

# %%
found = {}
for name, source in (
    *product(shipped, ["10_iclke_relations"]),
    *product(shipped_one, ["11_iclke_shots"]),
):
    frame, about = results.read(name, source)
    if "n_shots" in frame:
        frame = frame[frame["n_shots"] == frame["n_shots"].max()]
        frame = frame[frame["draw"] == frame["draw"].min()]
        relation = about["parameters"]["relation"]
        frame, name = frame.assign(relation=relation), f"{name}, {relation}"
    found[name] = frame, about
    print(f"shipped, {results.line(about)}; {about['command']}")
longer = results.together(found)
whole_of = {"this run": test.reset_index(drop=True)} | longer
every = pd.concat(whole_of, names=["source", ""]).reset_index("source")

# %% [markdown]
# ## Metrics
#
# The confidence is the share that the likeliest option has of the probability of all options, as in
# {eq}`eq-confidence`. First the averages. `surplus` is the mean confidence minus the accuracy, for the same
# answers: above 0 the model is surer than it should be, below 0 less sure. Each relation counts alike, and the
# intervals are over facts of these very relations.

# %% covers=["IC-E5"]
rows = []
for key, part in test.groupby(["model", "format"], sort=False):
    groups = [group for _, group in part.groupby("relation", sort=False)]
    right = [group["right"].astype(float) for group in groups]
    sure = [group["confidence"] for group in groups]
    row = [
        intervals.mean_over_facts(right, seed=seed).text(),
        intervals.mean_over_facts(sure, seed=seed).text(),
        intervals.paired_difference(sure, right, seed=seed).text(),
    ]
    rows.append((*key, len(part), *row))
columns = ["model", "format", "answers", "accuracy", "confidence", "surplus"]
pd.DataFrame(rows, columns=columns).set_index(["model", "format"])

# %% [markdown]
# **Accuracy above a threshold.** For each K we keep the answers whose confidence is above it. The table has the
# accuracy among them with a 95 % interval (Wilson), and behind it the number of answers that are left. Where none
# is left there is no accuracy: the field stays empty, and it is not 0. The interval counts facts as independent
# draws, all relations together.

# %% covers=["IC-E7"]
thresholds = sorted(set(thresholds))
rows, by = [], ["source", "model", "format"]
for key, part in every.groupby(by, sort=False):
    at = iclke.accuracy_at(part["confidence"], part["right"], thresholds)
    for each in at.itertuples(index=False):
        low, high, text = np.nan, np.nan, ""
        if each.n:
            bounds = intervals.proportion(int(each.right), int(each.n))
            low, high = bounds.low, bounds.high
            text = f"{bounds.text()} of {each.n}"
        rows.append((*key, *each, low, high, text))
columns = [*by, *at.columns, "low", "high", "text"]
curves = pd.DataFrame(rows, columns=columns)
above = curves[curves["source"] == "this run"].drop(columns="source")
runs.keep(above.drop(columns="text"), "accuracy-at.csv")
order = pd.MultiIndex.from_product([models, formats], names=["model", "format"])
above.pivot(index="threshold", columns=["model", "format"], values="text")[
    order
]

# %% [markdown]
# **Sure of the fact, or of the relation?** Suppose that a model is sure in easy relations and unsure in hard
# ones. Then a threshold keeps the easy relations, and accuracy rises although within each relation the confidence
# says nothing. So we divide the rise at K = 0.5 into two parts. `of relations`: what we would gain if each kept
# answer were as good as the average of its relation. `within`: what the kept answers are better than that. The
# two add up to the rise. With a single relation, all of it is within. A part has an interval where 30 answers or
# more are kept.

# %%
rows = []
for key, part in test.groupby(["model", "format"], sort=False):
    kept, right = part["confidence"] > 0.5, part["right"].astype(float)
    code = part["relation"].map(names.index)
    if kept.sum() < 30:
        rows.append((*key, kept.sum(), "too few", "too few"))
        continue
    parts = []
    for split in (
        lambda v, usual: usual[v[0] > 0].mean() - v[1].mean(),
        lambda v, usual: (v[1] - usual)[v[0] > 0].mean(),
    ):
        gain = intervals.statistic_over_facts(
            [kept, right, code],
            lambda v, split=split: split(
                v, pd.Series(v[1]).groupby(v[2]).transform("mean").to_numpy()
            ),
            seed=seed,
            n_resamples=1_000,
        )
        parts.append(gain.text())
    rows.append((*key, kept.sum(), *parts))
columns = ["model", "format", "kept", "of relations", "within"]
pd.DataFrame(rows, columns=columns).set_index(["model", "format"])

# %% [markdown]
# **Reliability.** Now the answers are sorted by confidence and divided into groups of equal size. In each group
# we compare the mean confidence with the share that is right. If 0.8 meant "8 of 10", the two would agree in
# every group. The last group has the answers that one would keep. (The paper calls Accuracy@K a calibrated measure.
# But that accuracy rises with K does not yet mean that 0.8 is 8 of 10.)

# %%
rows = []
for key, part in test.groupby(["model", "format"], sort=False):
    ordered = part.sort_values("confidence", kind="stable")
    if len(ordered) < 2 * n_bins:
        raise BadInput(f"{len(ordered)} answers are too few for {n_bins} bins")
    for number, at in enumerate(
        np.array_split(np.arange(len(ordered)), n_bins)
    ):
        group = ordered.iloc[at]
        share = intervals.proportion(int(group["right"].sum()), len(group))
        bounds = share.estimate, share.low, share.high, share.text()
        rows.append((*key, number + 1, len(group), *bounds))
        rows[-1] += (group["confidence"].mean(),)
columns = "model format group answers accuracy low high right confidence"
bins = pd.DataFrame(rows, columns=columns.split())
index = ["model", "format", "group"]
bins.set_index(index)[["answers", "confidence", "right"]].round(2)

# %% [markdown]
# **Fewer options.** The same test facts and the same shots, with some of the options left out. For this we take
# the relations that have all options. `confidence` is the mean over the answers, `accuracy` the share that is
# right. With fewer options no right answer can become wrong, so accuracy cannot fall. The confidence of an answer
# cannot fall either as long as the likeliest option is kept, since fewer share the whole.

# %%
cuts = answers[(answers["part"] == "test") & answers["relation"].isin(whole)]
rows = []
for key, part in cuts.groupby(["model", "format", "options"], sort=False):
    groups = [group for _, group in part.groupby("relation", sort=False)]
    for what in ("right", "confidence"):
        values = [group[what].astype(float) for group in groups]
        mean = intervals.mean_over_facts(values, seed=seed)
        name = "accuracy" if what == "right" else what
        bounds = mean.estimate, mean.low, mean.high, mean.text()
        rows.append((*key, name, *bounds, len(part)))
columns = "model format options value mean low high text answers".split()
by_options = pd.DataFrame(rows, columns=columns)
print(f"{len(whole)} of {len(names)} relations have {n_options} options")
by_options.pivot(
    index="options", columns=["model", "format", "value"], values="text"
)

# %% [markdown]
# **The other reading: 50 facts.** Figure 8 may also mean that each model was asked 50 test facts. So here are 50 of ours
# alone, or all if there are no more: from each relation in turn the next fact of its random draw. The answers are the
# same as above. Only most of them are left out. Look at what this costs: how wide the intervals are, and from which K on
# a handful of answers decides.

# %% covers=["IC-F8"]
rows = []
for key, part in test.groupby(["model", "format"], sort=False):
    turn = part.groupby("relation").cumcount()
    fifty = part.iloc[np.argsort(turn, kind="stable")[:50]]
    at = iclke.accuracy_at(fifty["confidence"], fifty["right"], thresholds)
    for each in at.itertuples(index=False):
        text = "no answer left"
        if each.n:
            share = intervals.proportion(int(each.right), int(each.n))
            text = f"{share.text()} of {each.n}"
        rows.append((*key, each.threshold, text))
columns = ["model", "format", "threshold", "text"]
of_fifty = pd.DataFrame(rows, columns=columns)
runs.keep(of_fifty, "accuracy-at-of-50.csv")
of_fifty = of_fifty.pivot(index="threshold", columns=["model", "format"])
of_fifty["text"][order]

# %% [markdown]
# **Other facts.** The same in the shipped results, if there are any, for one threshold: how many answers lie above 0.5,
# how sure the model is of these on average, and how many of them are right. `all` is the accuracy of all answers. Compare
# rows of one model in one format: it has the same weights in all of them, and only the facts differ. (The profile `kamel`
# asks about the birth years of laureates of the Nobel Prize as well. They stand in rows of their own.)

# %%
rows = []
for key, part in every.groupby(by, sort=False):
    sure = part[part["confidence"] > 0.5]
    right = int(part["right"].sum())
    whole_share = intervals.proportion(right, len(part)).text()
    row = (*key, len(part), whole_share, len(sure), "", "")
    if len(sure):
        share = intervals.proportion(int(sure["right"].sum()), len(sure))
        mean = f"{sure['confidence'].mean():.2f}"
        row = (*row[:-2], mean, share.text())
    rows.append(row)
columns = [*by, "answers", "all", "above 0.5", "confidence", "right"]
shown = pd.DataFrame(rows, columns=columns).style.hide()
shown.set_table_attributes('class="lke-text"')

# %% [markdown]
# ## Figures
#
# {numref}`fig-confidence-above` is the paper's Figure 8, with what its text leaves out: the price. What to see:
# does the line on the left rise all the way, or does it level off? Then go down to the same K on the right, and
# read how many answers are left. Pale marks stand for fewer than 20 answers. A pale mark at the top edge is no
# success: look at its interval.

# %% covers=["IC-F8"] tags=["hide-input"] mystnb={"figure": {"name": "fig-confidence-above", "caption": "Left: accuracy of the answers whose confidence is above K, over K (the paper's Figure 8). Right: the share of answers that is left. Vertical lines: 95 % Wilson intervals over facts. Pale: fewer than 20 answers."}, "image": {"alt": "Two panels over the threshold of confidence: accuracy of the answers above it with intervals, and the share of answers above it, a line for each model and format."}}
label = above["format"]
if len(models) > 1:
    label = above["model"] + ", " + above["format"]
drawn = above.assign(asked=label)
size = {"figsize": (10, 4.4), "sharex": True, "layout": "constrained"}
fig, axes = plt.subplots(1, 2, **size)
figures.threshold_curve(drawn, axes[0], hue="asked")
colours = sns.color_palette(figures.PALETTE, drawn["asked"].nunique())
for number, (_, part) in enumerate(drawn.groupby("asked", sort=False)):
    marks = f"{figures.MARKERS[number % len(figures.MARKERS)]}-"
    at = part["threshold"], part["kept"]
    axes[1].plot(*at, marks, color=colours[number], lw=2)
axes[1].set(ylim=(0, 1.02), xlabel=axes[0].get_xlabel())
axes[1].set_ylabel("share of all answers that is above K")
runs.keep(drawn.drop(columns="text"), "fig-confidence-above.csv")

# %% [markdown]
# {numref}`fig-confidence-shipped` has the left panel for the shipped results. On the birth years of laureates it is the
# paper's own relation, asked of smaller models. What to see: a line that rises says that sure answers are better than
# others. But go straight up from one K through the panels. If a model that is surer than K is right in most cases on one
# set of facts, and in few on another, no threshold can be carried over between them.

# %% covers=["IC-F8"] tags=["hide-input"] mystnb={"figure": {"name": "fig-confidence-shipped", "caption": "Accuracy of the answers whose confidence is above K, over K, in the shipped results: a panel for each set of facts, a line for each model and format. Vertical lines: 95 % Wilson intervals over facts. Pale: fewer than 20 answers."}, "image": {"alt": "Panels over the threshold of confidence, one for each set of facts, with lines of the accuracy of the answers above it for each model and format."}}
if longer:
    size = {"figsize": (10, 4.4), "sharey": True, "squeeze": False}
    fig, axes = plt.subplots(1, len(longer), layout="constrained", **size)
    drawn = curves[curves["source"] != "this run"].drop(columns="text")
    drawn["asked"] = drawn["model"] + ", " + drawn["format"]
    lines = {"hue": "asked", "hue_order": drawn["asked"].unique().tolist()}
    for ax, source in zip(axes[0], longer, strict=True):
        part = drawn[drawn["source"] == source]
        figures.threshold_curve(part, ax, **lines)
        ax.set_title(source, fontsize="medium")
    for ax in axes[0][1:]:
        ax.set_ylabel("")
    runs.keep(drawn, "fig-confidence-shipped.csv")

# %% [markdown]
# In {numref}`fig-confidence-bins` the diagonal is where a model would lie that is as often right as it is sure.
# Below the diagonal it is surer than it should be. Look for two different things: whether the marks *rise*, which
# is all that a threshold needs, and whether they lie *on* the diagonal, which is needed to take the number at its
# word.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-confidence-bins", "caption": "Share of right answers over mean confidence, in groups of equal size by confidence, a panel for each model. Vertical lines: 95 % Wilson intervals over facts. Dashed: as often right as sure."}, "image": {"alt": "For each model a panel with the share of right answers over the mean confidence in groups of answers, a line for each format, and a dashed diagonal."}}
grid = {"sharex": True, "sharey": True, "squeeze": False}
grid |= {"figsize": (1.5 + 3.6 * len(models), 4.4), "layout": "constrained"}
fig, axes = plt.subplots(1, len(models), **grid)
for ax, model in zip(axes[0], models, strict=True):
    for number, name in enumerate(formats):
        part = bins[(bins["model"] == model) & (bins["format"] == name)]
        color = sns.color_palette(figures.PALETTE)[number]
        at = part["confidence"]
        ax.vlines(at, part["low"], part["high"], color=color, lw=1.2)
        marks = f"{figures.MARKERS[number]}-"
        ax.plot(at, part["accuracy"], marks, color=color, label=name)
    ax.axline((0, 0), slope=1, color=figures.DARK, ls="--", lw=1)
    ax.set(xlim=(0, 1), ylim=(0, 1), title=model, xlabel="mean confidence")
axes[0][0].set_ylabel("share of right answers")
handles = axes[0][0].get_legend_handles_labels()
fig.legend(*handles, loc="outside upper center", ncols=3, frameon=False)
runs.keep(bins.drop(columns="right"), "fig-confidence-bins.csv")

# %% [markdown]
# {numref}`fig-confidence-options` is a warning. Nothing about the model changes from left to right, only our list
# of options. What to see: how far each line falls, and whether they fall together. Where they do not, a threshold
# chosen with one number of options means something else with another.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-confidence-options", "caption": "Accuracy and mean confidence over the number of options, on the same questions, for the first model of the page. A panel for each format. Vertical lines: 95 % intervals over facts."}, "image": {"alt": "For each format a panel with a line of accuracy and a line of mean confidence over the number of options, on a logarithmic axis, with intervals."}}
drawn = by_options[by_options["model"] == models[0]]
grid = {"sharex": True, "sharey": True, "squeeze": False}
size = (1.5 + 3.6 * len(formats), 4)
fig, axes = plt.subplots(
    1, len(formats), figsize=size, layout="constrained", **grid
)
for ax, name in zip(axes[0], formats, strict=True):
    for number, value in enumerate(("accuracy", "confidence")):
        part = drawn[(drawn["format"] == name) & (drawn["value"] == value)]
        color = sns.color_palette(figures.PALETTE)[number]
        ax.vlines(part["options"], part["low"], part["high"], color=color)
        marks = f"{figures.MARKERS[number]}-"
        ax.plot(part["options"], part["mean"], marks, color=color, label=value)
    ax.set_xscale("log")
    ax.set_xticks([*cut_to, n_options], [*cut_to, n_options])
    ax.minorticks_off()
    ax.set(ylim=(0, 1), title=name, xlabel="options")
axes[0][0].set_ylabel("mean over test facts")
axes[0][0].legend(frameon=False)
runs.keep(drawn.drop(columns="text"), "fig-confidence-options.csv")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None. The curves of Figure 8 are lost in our copy, the paper prints no number of Accuracy@K, and
# its models and facts are others. So there is nothing to put beside {numref}`fig-confidence-above`.
#
# **Claim.** Statistic, direction and least effect stand in `lkecore/data/claims.csv` since before the first run
# of this page. The threshold 0.5 stands there, too. It was not chosen by looking at a curve. The claim is tested
# in the paper's format and beside it in the others.
#
# The interval takes a small step. The accuracy of all answers is a mixture of that above 0.5 and that of the
# rest. So the rise is the difference between those two, times the share of the rest. The two groups have no fact
# in common, and Newcombe's interval is made for such a difference. It takes the share as given and the facts as
# independent. That is fair for other facts of these relations, and narrow for other relations. `relations` counts
# in how many of them the sure answers are right more often than the rest, of those that have both.

# %%
claim = paper.claims("IC").set_index("id").loc["IC-sure-is-right"]
rows = []
for key, part in every.groupby(by, sort=False):
    sure = part["confidence"] > 0.5
    hits, n_rest = part.loc[sure, "right"], int((~sure).sum())
    rest = part.loc[~sure, "right"]
    shares = part.groupby(["relation", sure])["right"].mean().unstack()
    both = shares.dropna()
    ours, wins, verdict = "", "", "none: no answers on one side of 0.5"
    if len(hits) and n_rest:
        wins = f"{(both[True] > both[False]).sum()} of {len(both)}"
        counts = hits.sum(), len(hits), rest.sum(), n_rest
        ends = confint_proportions_2indep(*counts, method="newcomb")
        share = n_rest / len(part)
        rise = hits.mean() - part["right"].mean()
        bounds = rise, *(share * end for end in ends), 0.95, "Newcombe"
        interval = intervals.Interval(*bounds)
        ours, verdict = interval.text(3), paper.claim_verdict(interval, claim)
    rows.append((*key, claim["claim"], ours, len(hits), wins, verdict))

# %%
columns = [*by, "claim", "ours", "above", "relations", "verdict"]
judged = pd.DataFrame(rows, columns=columns)
kept = judged[judged["ours"] != ""].rename(columns={"model": "models"})
kept = kept.rename(columns={"format": "way"}).assign(id=claim.name, mark="")
spaces = formats[0], "space, space", "space"  # here, and on pages 10 and 11
kept = kept.assign(as_paper=kept["way"].isin(spaces))
runs.keep(paper.verdicts(kept), "verdicts.csv")
judged["claim"] = judged["claim"].mask(judged["claim"].duplicated(), "")
judged.style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# `ours` is the rise, and the claim holds if it is greater than 0. `above` counts the answers above 0.5. A rise can be
# small for two reasons: the confidence says little, or there is little to choose from, because nearly all answers are
# wrong. The table *Other facts* tells the two apart: where few answers are right at all, look how sure the model is of
# the wrong ones.
#
# Even where the claim holds, mind what it does not say. It does not say that the confidence is the probability of
# being right: see {numref}`fig-confidence-bins`. It does not say that a wrong answer is always unsure. And it is
# about one list of options. A confidence of 0.9 means that the other objects *in the list* look bad to the model.
# The true object may be one of them only because we have put it there: in this game the right answer is always
# among the options.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-confidence-choose
# You want to keep only answers of which at least 60 % are right (`wanted`). Choose the threshold on the choice
# set. How many of the kept *test* answers are right?
# ```

# %% [markdown]
# ````{solution-start} ex-confidence-choose
# :class: dropdown
# ````

# %%
rows = []
for key, part in choice.groupby(["model", "format"], sort=False):
    at = iclke.accuracy_at(part["confidence"], part["right"], thresholds)
    good = at[(at["accuracy"] >= wanted) & (at["n"] >= 5)]
    if good.empty:
        rows.append((*key, "none", "", "", ""))
        continue
    threshold = good["threshold"].min()
    kept = above.set_index(["model", "format", "threshold"]).loc[
        *key, threshold
    ]
    share, text = f"{kept['kept']:.2f}", kept["text"]
    promised = good.loc[good["threshold"].idxmin(), "accuracy"]
    rows.append((*key, threshold, f"{promised:.2f}", text, share))
columns = "model format threshold choice test kept".split()
pd.DataFrame(rows, columns=columns).set_index(["model", "format"])

# %% [markdown]
# `threshold` is the least one at which so many of at least 5 choice answers are right; `none`: there is none.
# `choice` is the accuracy that it has there, `test` the one that counts. The first is often the higher one: of
# several thresholds we have taken one that looked good, and looking good is partly luck. This is why one chooses
# on other facts than one reports on. And the choice set is small: a threshold from a few dozen answers may well
# be off.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-confidence-carry
# Can a threshold be carried over to *relations* that nobody has looked at? Choose as before, on the test facts of
# all relations but one, and apply the threshold to that one.
# ```

# %% [markdown]
# ````{solution-start} ex-confidence-carry
# :class: dropdown
# ````

# %%
rows = []
last = formats[-1]
one = test[(test["model"] == models[0]) & (test["format"] == last)]
for name in names if len(names) > 1 else []:
    seen, new = one[one["relation"] != name], one[one["relation"] == name]
    at = iclke.accuracy_at(seen["confidence"], seen["right"], thresholds)
    good = at[(at["accuracy"] >= wanted) & (at["n"] >= 5)]["threshold"]
    kept = new[new["confidence"] > (good.min() if len(good) else 1)]
    text = "no answer kept"
    if len(kept):
        hits = int(kept["right"].sum())
        text = intervals.proportion(hits, len(kept)).text()
    rows.append((name, good.min(), f"{len(kept)} of {len(new)}", text))
columns = ["relation left out", "threshold", "kept", "right"]
display(pd.DataFrame(rows, columns=columns).set_index("relation left out"))
print(f"{models[0]}, {last}")

# %% [markdown]
# Look for relations whose interval lies wholly below `wanted`: there the model is sure and wrong, and the threshold
# cannot be carried over. An interval that reaches `wanted` is no proof that it can. Few answers are kept in each
# relation, so the intervals are wide. (`NaN`: no threshold was good enough on the other relations.)
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-confidence-own
# Is another model as honest about itself? Put this into a file such as `params/mine.yaml`, then run `lke run
# params/mine.yaml`. With `each`, every model has a run of its own, and the page is over all of them.
# ```
#
# ````{solution} ex-confidence-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 18_iclke_confidence
#     each: [models]
#     parameters:
#       models: [smollm2, gemma3-270m]
#       fact_set: /path/to/facts
#       n_facts: 200
# ```
#
# Without the line `fact_set`, the facts of this book are asked.
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
