# %% [markdown]
# # Which model knows more?
#
# A leaderboard is quickly read: the best model stands on top. It is also quickly misread. Two models may have been
# asked other facts. Or they stand a hundredth apart, and other facts would have turned them round. This page has a
# board of all models whose answers it reads, made so that this cannot happen unseen. Afterwards you will be able to say
#
# - which models may be compared at all, and which may not,
# - of which neighbours the order is certain enough to bet on,
# - whether a model that stands below another one knows anything that the other does not.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` order 49 models by their mean accuracy over 50 relations of T-REx-MC (Section 4, Table 7). 35 of
# them are pre-trained, 14 fine-tuned; Table 6 says what the names mean. The best has 0.851, the last one 0.006, which
# is below chance. The paper prints the standard deviation over relations beside each mean. It prints no interval and
# no test of neighbours, and some of its neighbours stand less than 0.001 apart.
#
# The paper compares two models fact by fact, too (equation 7): the {term}`subsumption rate` is the share of the facts of
# one model that another one has, too. It does so for the smallest and largest model of a family, and for base and tuned
# models. On this page all models of a board are compared in this way.
#
# This page asks no model. It reads what the runs of other pages have kept, so that it costs seconds.
#
# In the list of the book's coverage: IC-T6 and IC-E6.

# %% [markdown]
# ## Parameters
#
# The book has answers that were made with more time than a book may take. They *ship* with the project, in the folder
# `results`. Such a profile can be named here; its answers then get boards of their own, marked as shipped. Opened in
# Jupyter, where there are no runs to read, the page shows all that ships. `lke run` adds the runs.

# %% tags=["parameters"]
shipped: list[str] = []  # profiles of results/; without lke run: all there are
estimators: list[str] = [
    "iclke-space",
    "iclke-colon",
    "iclke-newline",
    "iclke-arrow",
]  # ways to ask that get a board, in this order
n_smallest: int = 8  # of the paper's models, to stand beside ours
n_resamples: int = 10_000  # of each interval; 1_000 for 49 models
seed: int = 0  # draws the resamples
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from itertools import pairwise, product

import itables
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import figures, intervals, prompts, runs
from lkecore import papers as paper
from lkecore.answers import shipped as results
from lkecore.answers import words
from lkecore.errors import BadInput
from lkecore.metrics import overlap
from lkecore.models import catalogue, embedded, lab

figures.style()
itables.init_notebook_mode(all_interactive=False, connected=False)
itables.options.text_in_header_can_be_selected = False  # a click sorts

# %% [markdown]
# ## Facts
#
# First we collect the answers: a row for each model, way to ask and fact, with right or wrong, and the
# {term}`confidence` in the gold option. What was asked stands with them: the fact set, the number of shots, options and
# facts, the seed that drew them, and the precision of the weights (`dtype`). For shipped answers, a line says what made
# them. Other answers ship for a page of their own and are on no board: those on laureates (pages 11 and 12), on further worlds
# of the lab (16 and 51), and of other kinds of model (52).

# %%
settings = "fact_set n_shots most_options n_facts seed dtype".split()
# Answers have n_options of their own, which may be fewer than were asked for.
given_as = {name: name for name in settings} | {"most_options": "n_options"}
source = "10_iclke_relations"
kept = sorted(p.parent.name for p in results.FOLDER.glob(f"*/{source}.json"))
if page:
    parts = [runs.collect("answers.parquet", given_as)]
    parts = [part.assign(source="this run") for part in parts]
else:
    parts = []
for profile in shipped or ([] if page else kept):
    frame, about = results.read(profile, source)
    if not about["parameters"]:
        raise BadInput(f"{profile} does not say what was asked; make it again")
    given = {k: about["parameters"][name] for k, name in given_as.items()}
    parts.append(frame.assign(source=f"shipped: {profile}", **given))
    print(f"shipped {profile}: {results.line(about)}")
if not parts:
    raise BadInput("no answers: shipped names no profile, and no run is read")
if not page:
    print("runs: none in Jupyter; lke run makes this page with them")

# %% [markdown]
# A run without one of the columns stops the page.

# %%
asks = ["source", *settings, "estimator"]
found = "model relation fact correct confidence_gold n_options".split()
answers = pd.concat(parts, ignore_index=True)
answers = answers.reindex(columns=[*asks, *found])
lacking = [c for c in [*asks, *found] if answers[c].isna().any()]
if lacking:
    raise BadInput(f"there are answers without {lacking[0]}")
answers["correct"] = answers["correct"].astype(bool)
counts = answers.groupby(["source", "fact_set", "estimator"], sort=False)
counts[["model", "relation"]].nunique().assign(questions=counts.size())

# %% [markdown]
# ## Prompts
#
# This page asks nothing itself. The table shows what the formats of IC-LKE put into a prompt, for pairs of *subject* and
# *object*. Other ways, such as sentences with a blank, have pages of their own and are named below the table. A board is
# about one way to ask: the same model may stand high on one board and low on the next.

# %%
example = {
    name: repr(f"subject{inside}object{between}subject{inside}object")
    for name, (inside, between) in prompts.SEPARATORS.items()
}
there = list(dict.fromkeys(answers["estimator"]))
if not set(there) & set(estimators):
    raise BadInput(f"estimators {estimators}: no answers; there are {there}")
without = [name for name in there if name not in estimators]
never = [name for name in estimators if name not in there]
print("answers without a board:", "; ".join(without) or "none")
print("nobody was asked in the way:", "; ".join(never) or "none")
pd.Series(example, name="two pairs").rename_axis("estimator").to_frame()

# %% [markdown]
# ## Scores
#
# The same question may have been asked on two pages. Then the model has given the same answer twice, from the cache,
# and it counts once. (A page that asks fewer facts of each relation has drawn them, and their options, anew. Its answers go
# to a board of their own.) Two runs may contradict each other, when one was made with another precision, say. Then this page
# cannot know which to believe, and stops.

# %%
answers = answers[answers["estimator"].isin(estimators)]
key = [*asks, "model", "relation", "fact"]
once = answers.drop_duplicates(key)
twice = answers.merge(once, on=key)
apart = twice["confidence_gold_x"] - twice["confidence_gold_y"]
differ = twice["correct_x"] != twice["correct_y"]
other = twice[differ | (apart.abs() > 1e-3)]
for row in other.head(1).itertuples():
    raise BadInput(
        f"{row.model} answers {row.fact} ({row.relation}, {row.estimator}) "
        f"in two ways; leave one of the runs out"
    )
print(f"{len(once):,} answers, {len(answers) - len(once):,} of them twice")

# %% [markdown]
# **What makes a board.** Two models may be ranked against each other if they were asked the *same facts* in the same way:
# the same fact set, estimator, number of shots and options, the same draw, and then exactly the same facts of the same
# relations. So a board is made of all models for which all this agrees. It has a number. `chance` is what blind guesses would
# get; relations with fewer options than were asked for are easier to guess. A board with one model
# ranks nothing, but the model's number is there.

# %%
facts = once["relation"] + "\n" + once["fact"].astype(str)
by = facts.groupby([once[c] for c in [*asks, "model"]], sort=False)
once = once.assign(asked=by.transform(lambda facts: hash(frozenset(facts))))
once = once.assign(guess=1 / once["n_options"])
by = once.groupby([*asks, "asked"], sort=False)
sizes = by.agg(
    models=("model", "nunique"),
    relations=("relation", "nunique"),
    questions=("fact", "size"),
    chance=("guess", "mean"),
).reset_index()
sizes["facts"] = sizes["questions"] // sizes["models"]
place = sizes["estimator"].map(estimators.index)
order = sizes.assign(alone=sizes["models"] == 1, place=place)
order = order.sort_values(["alone", "place"], kind="stable").index
boards = sizes.loc[order].drop(columns="questions").reset_index(drop=True)
boards.insert(0, "board", boards.index + 1)
boards["chance"] = boards["chance"].round(3)
once = once.merge(boards[["board", *asks, "asked"]], on=[*asks, "asked"])
boards = boards.rename(columns={"most_options": "n_options"})
boards = boards.drop(columns="asked").set_index("board")
runs.keep(boards.reset_index(), "boards.csv")
# How many were asked for in a relation; `facts` counts what there are in all.
shown = boards.drop(columns="n_facts")
shown.rename(columns=lambda name: name.removeprefix("n_"))

# %% [markdown]
# **Who stands on them.** The number of parameters is exact where the model lies on this machine, and else the nominal
# one of the catalogue; empty where neither knows. `tuned` says whether a model was fine-tuned after its pre-training,
# empty for one that the catalogue does not have.

# %%
known = catalogue.papers_models().set_index("hub_id")
rows = []
for model in dict.fromkeys(once["model"]):
    hub_id = model.partition("@")[0]
    if lab.is_name(model):
        kind = f"lab, {lab.parse(model).variant or 'base'}"
    elif model in embedded.CATALOGUE:
        kind = embedded.CATALOGUE[model]
    elif hub_id in known.index:
        base = known.loc[hub_id, "base_model"]
        kind = f"{known.loc[hub_id, 'family']}, " + (
            f"tuned from {base}" if base else "base"
        )
    else:
        kind = ""
    size = catalogue.n_parameters(model)
    tuned = {True: "yes", False: "no", None: ""}[catalogue.is_tuned(model)]
    rows.append((model, f"{size:,}" if size else "", tuned, kind))
columns = ["model", "parameters", "tuned", "what it is"]
who = pd.DataFrame(rows, columns=columns).set_index("model")
words(who, index=True)

# %% [markdown]
# ## Metrics
#
# **The boards.** A click on the head of a column sorts by it. Each model has
#
# - its *accuracy*, each relation counted alike, with an {term}`interval` over facts: what if other facts of these relations had
#   been asked?
# - the same *over relations*: what if other relations had been chosen, too? This is the honest interval for a sentence
#   such as "the model knows a third";
# - *std*, the standard deviation over relations, as in the paper's table;
# - the *gold confidence*, the mean confidence in the gold option, over facts.
#
# The boards have no numbers in front of the names. A rank says that one model is better than the next, and this is what
# we do not know yet. With few relations the intervals over relations can be too narrow
# ({ref}`by how much <few-relations>`). An interval without any width, of a model that has nothing right, is no certainty.

# %%
right, overall, rows = {}, {}, []
how = {"seed": seed, "n_resamples": n_resamples}
for (board, model), part in once.groupby(["board", "model"], sort=False):
    part = part.sort_values(["relation", "fact"])
    by = part.groupby("relation")
    hits = [g.to_numpy() for _, g in by["correct"]]
    trust = [g.to_numpy() for _, g in by["confidence_gold"]]
    first = intervals.mean_over_facts(hits, **how)
    second = intervals.mean_over_relations(hits, **how)
    std = intervals.std_over_relations(hits, **how)
    gold = intervals.mean_over_facts(trust, **how)
    right[board, model], overall[board, model] = hits, first
    bounds = first.estimate, first.low, first.high, second.low, second.high
    others = [each.text() for each in (second, std, gold)]
    texts = [first.text(3), *others]
    rows.append((board, model, *who.loc[model][:2], *bounds, *texts))
texts = ["accuracy", "over relations", "std", "gold confidence"]
bounds = "estimate low high wide_low wide_high".split()
columns = ["board", "model", "parameters", "tuned", *bounds, *texts]
table = pd.DataFrame(rows, columns=columns)
table = table.sort_values(["board", "estimate"], ascending=[True, False])
runs.keep(table, "leaderboard.csv")

# %% [markdown]
# Without JavaScript the same tables stand here, and cannot be sorted.

# %%
small = ".dt-container {font-size: 0.74rem}"
titles = {}
for board, of in boards.iterrows():
    mark = f", {of['source']}" if of["source"] != "this run" else ""
    titles[board] = f"Board {board}: {of['fact_set']}, {of['estimator']}{mark}"
    titles[board] += f", {of['facts']:,} facts"
    itables.show(
        table[table["board"] == board][["model", *columns[2:4], *texts]],
        caption=f"{titles[board]} ({of['relations']} relations)",
        table_id=f"board-{board}",
        style="caption-side:top;margin:0",
        css=small,
        showIndex=False,
        paging=False,
        layout=dict.fromkeys(["topEnd", "bottomStart"]),
    )

# %% [markdown]
# **Neighbours.** The intervals of two models on a board overlap easily, and this says little: both were asked the same
# facts, and a fact that is hard for one is hard for the other. So we take the difference fact by fact. `difference` is the accuracy
# of the upper model minus that of the lower one, paired, over facts; `over relations` the same if other relations had
# been chosen, too. `only` counts the facts that one of the two has right and the other has not. `p` is McNemar's
# exact test, Holm-corrected for the neighbours of this board. It counts every fact alike, where the difference counts every
# relation alike.

# %%
rows = []
for board, part in table.groupby("board"):
    two = list(pairwise(part["model"]))
    joined = [[np.concatenate(right[board, m]) for m in pair] for pair in two]
    tests = intervals.holm([intervals.mcnemar(a, b) for a, b in joined])
    for (upper, lower), (a, b), p in zip(two, joined, tests, strict=True):
        hits = right[board, upper], right[board, lower]
        gain = intervals.paired_difference(*hits, **how)
        apart = [s.astype(float) - t for s, t in zip(*hits, strict=True)]
        wide = intervals.mean_over_relations(apart, **how)
        unsure = gain.low <= 0 <= gain.high or p >= 0.05
        bounds = gain.estimate, gain.low, gain.high, wide.low
        only = (a & ~b).sum(), (b & ~a).sum(), len(a), p
        texts = gain.text(3), wide.text(3), "none" if unsure else "upper first"
        rows.append((board, upper, lower, *bounds, *only, *texts))
columns = "board upper lower estimate low high wide_low upper_only lower_only"
columns = [*columns.split(), "facts", "p"]
columns += ["difference", "over relations", "order"]
neighbours = pd.DataFrame(rows, columns=columns)
runs.keep(neighbours, "neighbours.csv")

# %% [markdown]
# Where the interval over facts holds 0, or `p` is 0.05 or more, the two neighbours have *no order*. They stand one above the
# other because they must stand somewhere. Mind one thing: the order was found on the same facts that test it. So the
# difference is never negative, and among many models of equal knowledge some neighbours will look further apart than they are.

# %%
shown = neighbours.drop(columns=columns[3:7])
shown["p"] = [f"{p:.2g}" for p in shown["p"]]
none = (neighbours["order"] == "none").sum()
print(f"{none} of {len(neighbours)} pairs of neighbours have no order")
shown.set_index(["board", "upper", "lower"])[
    ["difference", "order", "p", *columns[7:10], "over relations"]
]

# %% [markdown]
# **Who knows what the other does not?** For each ordered pair of models: of the facts that the model of the row has right,
# which share has the model of the column, too? The rate is taken in each relation, and then averaged. A relation of which
# the row's model has fewer than two facts right is left out, since its rate says nothing. A model without two such
# relations has no rate.
#
# Beside the rate stands `independent`, the accuracy of the column's model in the same relations. It would be the rate of
# two models whose knowledge has nothing to do with each other. A rate far above it says that the two know the same
# facts. A rate near it says that they share no more than chance gives. And a rate near 1 in both directions is one and
# the same knowledge. Right answers may be lucky guesses, so a rate below 1 alone is no proof of knowledge of its own.

# %% covers=["IC-E6"]
rows = []
for board, part in table.groupby("board"):
    names = list(part["model"])
    for (i, of), (j, at) in product(enumerate(names), repeat=2):
        pairs = zip(right[board, of], right[board, at], strict=True)
        counted = [(a, b) for a, b in pairs if a.sum() >= 2]
        rates = [overlap.subsumption(a, b) for a, b in counted]
        bounds = [np.nan] * 4
        if len(rates) >= 2:
            both = intervals.mean_over_facts([b[a] for a, b in counted], **how)
            alone = np.mean([b.mean() for _, b in counted])
            bounds = np.mean(rates), both.low, both.high, alone
        left_out = len(right[board, of]) - len(counted)
        rows.append((board, of, at, *bounds, left_out, abs(i - j)))
columns = "board of in rate low high independent left_out distance".split()
matrix = pd.DataFrame(rows, columns=columns)
runs.keep(matrix, "subsumption.csv")
near = matrix[matrix["distance"] == 1].drop(columns="distance")
near.set_index(columns[:3]).round(2)

# %% [markdown]
# These are the neighbours in both directions; the kept file and the second figure have all pairs. `low` and `high` are
# the interval over facts. It draws again from the facts that the row's model has right.

# %% [markdown]
# ## Figures
#
# {numref}`fig-board-dots` shows the boards at a glance. Look first how long the thin lines are: so little does one number say
# of other relations. Do not judge an order by whether two lines overlap. The table of neighbours does that, fact by fact.
# Compare dots within a panel, never from panel to panel: the facts are others.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-board-dots", "caption": "Accuracy of each model, mean over relations, a panel for each board. Thick lines: 95 % intervals over facts; thin lines: over relations, too. Models of different panels were asked different facts, or in different ways."}, "image": {"alt": "Panels with a row for each model: a dot for its accuracy with a thick short and a thin longer interval, the most accurate model on top."}}
heights = boards["models"] + 1
fig, axes = plt.subplots(
    len(boards),
    squeeze=False,
    sharex=True,
    figsize=(7.5, 0.6 + 0.34 * (heights + 0.6).sum()),
    height_ratios=heights,
    layout="constrained",
)
for ax, (board, part) in zip(axes.flat, table.groupby("board"), strict=True):
    at = np.arange(len(part))
    ax.hlines(at, part["wide_low"], part["wide_high"], color="0.6", lw=1.5)
    ax.hlines(at, part["low"], part["high"], color="C0", lw=5, alpha=0.6)
    ax.plot(part["estimate"], at, "o", color=figures.DARK, ms=5)
    ax.set_yticks(at, part["model"])
    ax.set(xlim=(-0.01, 1.01), ylim=(len(part) - 0.4, -0.6))
    ax.set_title(titles[board], loc="left", fontsize="medium")
    ax.grid(False, axis="y")
axes[-1, 0].set_xlabel("accuracy, mean over relations")
runs.keep(table, "fig-board-dots.csv")

# %% [markdown]
# {numref}`fig-board-matrix` has the rates of all pairs. Read it by rows: how much of what this model has right do the others
# have? In the column of a good model the rates are high for everyone, so compare each with the number below the
# column's name, the accuracy of that model. Uneven rates on the two sides of the diagonal alone say only that one model
# has more right. One model holds most of what another knows where the rate is near 1 *and* far above the accuracy of the
# column. White cells have no rate, and those of a model with itself are left white.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-board-matrix", "caption": "Of the facts that the model of the row has right, the share that the model of the column has right, too: mean over relations, a panel for each board with two models or more that have a rate (else the first board). Below the names of the columns: accuracy, which is the share if the two were independent."}, "image": {"alt": "Heat maps with a row and a column for each model of a board, each cell coloured and marked with the subsumption rate."}}
rated = matrix.loc[(matrix["distance"] > 0) & matrix["rate"].notna(), "board"]
several = list(dict.fromkeys(rated)) or [1]
n = boards.loc[several, "models"]
fig, axes = plt.subplots(
    len(several),
    squeeze=False,
    figsize=(
        3.4 + 0.9 * min(n.max(), 8),
        (1.6 + 0.55 * n.clip(upper=14)).sum(),
    ),
    height_ratios=n.clip(upper=14) + 2,
    layout="constrained",
)
accuracies = table.set_index(["board", "model"])["estimate"]
for ax, board in zip(axes.flat, several, strict=True):
    part = matrix[matrix["board"] == board]
    part = part.assign(rate=part["rate"].where(part["distance"] > 0))
    many = boards.loc[board, "models"] > 8
    names = [f"{m}\n{accuracies[board, m]:.2f}" for m in part["in"]]
    names = [n.replace(*(("\n", " ") if many else ("/", "/\n"))) for n in names]
    look = {"index": "of", "columns": "in", "values": "rate"}
    part = part.assign(**{"in": names})
    figures.heat_map(part, ax, **look, label="share", limits=(0, 1))
    ax.set_title(titles[board], loc="left", fontsize="medium")
runs.keep(matrix, "fig-board-matrix.csv")

# %% [markdown]
# ## Paper and ours
#
# **The published 49**, from Table 7. They are *published numbers* of the paper's own facts, T-REx-MC, and not ours. So they
# have a table of their own and no place on our boards. Parameters are in billions, from Table 6. `std` is over relations;
# there is no interval. The last model lies below chance, which looks like a failed run more than like a model that knows nothing.

# %%
table6 = paper.table("iclke_table6_model_names")
table7 = paper.table("iclke_table7_models")
published = table7.merge(table6[["model", "params_b", "hf_id"]], on="model")
published.insert(0, "source", "published")
columns = ["source", "table7_name", "family", "is_finetuned", "params_b"]
columns += ["average_accuracy", "std"]
itables.show(
    published[columns].rename(columns={"table7_name": "model"}),
    caption="Published: the paper's models on T-REx-MC, not ours (Table 7)",
    table_id="published",
    style="caption-side:top;margin:0",
    css=f"{small} #published_wrapper {{max-height: 30em; overflow-y: auto}}",
    showIndex=False,
    paging=False,
    layout=dict.fromkeys(["topEnd", "bottomStart"]),
)
gaps = -table7["average_accuracy"].diff().dropna()
print(f"{(gaps < 0.001).sum()} of {len(gaps)} neighbours are under 0.001 apart")

# %% [markdown]
# What the names mean (Table 6). `hf_id` is the repository that we read each of them as, with a note where the paper's
# link cannot be what it says.

# %% covers=["IC-T6"] tags=["hide-output"]
columns = ["original_name", "model", "base_model", "hf_id", "note"]
table6[columns].fillna("").set_index("original_name")

# %% [markdown]
# **Numbers side by side.** The paper's smallest models and all of ours on boards in its own format, ordered by size. The first
# column says whose number it is. An interval is over facts; the published ones have none. A verdict, *reproduced* or *differs*,
# is possible only for a model of the paper that was asked the paper's facts in its way: 50 relations of T-REx-MC with
# 400 facts, 50 shots and 100 options. All else is *not comparable*, however near the numbers lie. A small model may look better
# than a larger one here because its relations are easier.

# %%
least = published.sort_values("params_b", kind="stable").head(n_smallest)
rows = [
    ("published", r.table7_name, "T-REx-MC", r.params_b, f"{accuracy:.3f}", "")
    for r, accuracy in zip(
        least.itertuples(), least["average_accuracy"], strict=True
    )
]
twins = published.set_index("hf_id")["average_accuracy"]
for (board, model), interval in overall.items():
    of = boards.loc[board]
    if of["estimator"] != "iclke-space":
        continue
    asked = of["n_shots"], of["n_options"], of["relations"], of["facts"]
    twin = model.partition("@")[0]
    verdict = paper.number_verdict(
        interval,
        twins.get(twin, 0.0),  # no number decides where the model is another
        same_model=twin in twins.index,
        same_data=of["fact_set"].startswith("hub:QinyuanWu/T-Rex-MC"),
        same_protocol=asked == (50, 100, 50, 20_000),
    )
    size = pd.to_numeric(who.loc[model, "parameters"].replace(",", "")) / 1e9
    texts = of["fact_set"], size, interval.text(3), verdict
    rows.append((f"ours, {of['source']}", model, *texts))

# %% [markdown]
# Here they stand, the smallest model first, with the number of parameters in billions.

# %%
columns = "source model facts billions accuracy verdict".split()
beside = pd.DataFrame(rows, columns=columns).sort_values("billions")
runs.keep(beside, "beside-published.csv")
beside["billions"] = [f"{n:.2g}" if n > 0 else "" for n in beside["billions"]]
words(beside)

# %% [markdown]
# **Claims.** None of the claims in `lkecore/data/claims.csv` is about a board of models that have little in common. That
# larger models know more, and not all that smaller ones know, is a claim about families, and
# {doc}`16_iclke_size` tests it. What fine-tuning changes is the subject of {doc}`17_iclke_tuned`. So there is no verdict on a
# claim here.
#
# What may be compared, in short: models of one board with each other, with the paired difference. One model on two
# boards that differ in the way to ask alone, which tells what it does. Never two models of two boards, and
# never one of ours with a published one, unless its verdict above says so.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-board-bet
# On the order of which neighbours would you bet if other facts of the same relations were asked? And if other relations were
# chosen, too?
# ```

# %% [markdown]
# ````{solution-start} ex-board-bet
# :class: dropdown
# ````

# %%
bets = neighbours[["board", "upper", "lower"]].copy()
sure = neighbours["order"] == "upper first"
bets["other facts"] = np.where(sure, "bet", "no")
sure &= neighbours["wide_low"] > 0
bets["other relations"] = np.where(sure, "bet", "no")
bets.set_index(["board", "upper", "lower"])

# %% [markdown]
# A bet on other facts asks for both: an interval above 0, and a `p` that is still small after the correction for all
# neighbours of the board. A bet on other relations asks for the wider interval, too. Where the table is empty, no board has
# two models yet.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-board-more-facts
# The interval of two neighbours holds 0. How many facts would you have to ask, so that the interval of a difference as
# large as the one seen would just leave out 0? The width of an interval shrinks with the square root of the number of facts.
# ```

# %% [markdown]
# ````{solution-start} ex-board-more-facts
# :class: dropdown
# ````

# %%
open_pairs = neighbours[neighbours["low"] <= 0]  # a difference is never below 0
half = (open_pairs["high"] - open_pairs["low"]) / 2
times = (half / open_pairs["estimate"].where(lambda v: v > 0)) ** 2
needed = open_pairs[["board", "upper", "lower", "facts"]].assign(
    needed=(times * open_pairs["facts"]).round(-1)
)
needed.set_index(["board", "upper", "lower"])

# %% [markdown]
# Where `needed` is missing, the two have the same accuracy, and no number of facts would do. Take the other numbers as rough:
# the difference that was seen is itself uncertain. To ask more relations helps as well, and then the order says something about
# more than these relations.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-board-own
# Put a model of your own on a board, beside the model of this book.
# ```
#
# ````{solution} ex-board-own
# :class: dropdown
#
# Put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml` and `lke book params/mine.yaml`. With `each`,
# every model has a run of its own. With `reads`, this page has no run, and reads theirs:
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 10_iclke_relations
#     each: [models]
#     parameters:
#       models: [smollm2, /path/to/a/model, org/name]
#       relations: [capital, country_of_city, film_language]
#       n_facts: 100
#   - notebook: 90_leaderboard
#     reads: [10_iclke_relations]
# ```
#
# All models get the same facts, so they stand on one board. The page also reads `15_iclke_agreement`, `16_iclke_size` and
# `17_iclke_tuned`, if they have runs in the same file.
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance()
