# %% [markdown]
# # Which model knows more?
#
# A leaderboard is quickly read, and quickly misread. Two models may have been asked other facts. Or they stand a
# hundredth apart, and other facts would have turned them round. Here neither can happen unseen.
#
# **What came out.** {glue:text}`first` {glue:text}`sure` {glue:text}`boards`
#
# ```{glue:figure} fig-board-dots
# :name: fig-board-dots
# :alt: Panels with a row for each model: a dot for its accuracy with a thick short and a thin longer interval, the most accurate model on top.
#
# Accuracy of each model, mean over relations, a panel for each board. Thick lines: 95 % intervals over facts; thin lines:
# over relations, too. Models of different panels were asked different facts, or in different ways.
# ```
#
# Afterwards you will be able to say
#
# - which models may be compared at all, and of which neighbours the order is certain enough to bet on,
# - whether a model that stands below another one knows anything that the other does not.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` order 49 models by their mean accuracy over 50 relations of T-REx-MC (Section 4, Table 7). The best has 0.851, the last one 0.006, which
# is below chance. The paper prints the standard deviation over relations beside each mean. It prints no interval and
# no test of neighbours, and some of its neighbours stand less than 0.001 apart.
#
# The paper compares two models of a family fact by fact, too (equation 7): the {term}`subsumption rate` is the share of
# the facts of one model that another one has, too. Here all models of a board are compared so.
#
# This page asks no model. It reads what runs of other pages have kept.

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
import numpy as np
import pandas as pd

from lkecore import answers, figures, papers, prompts, runs
from lkecore.answers import board, rules

figures.style()

# %% [markdown]
# ## Facts
#
# First we collect the answers: a row for each model, way to ask and fact. What was asked stands with them: the fact set,
# the number of shots, options and facts, the seed that drew them, and the precision of the weights (`dtype`). For shipped
# answers, a line says what made them. Other answers ship for a page of their own and are on no board.

# %%
ours, named = None, shipped or board.all_shipped()
if page:
    ours = runs.collect("answers.parquet", board.GIVEN_AS)
    named = shipped
every, lines = board.collected(ours, named)
print("\n".join(lines))
if not page:
    print("runs: none in Jupyter; lke run makes this page with them")
counts = every.groupby(["source", "fact_set", "estimator"], sort=False)
asked = counts[["model", "relation"]].nunique()
print(asked.assign(questions=counts.size()).to_string())

# %% [markdown]
# ## Prompts
#
# Below stands what the formats of IC-LKE put around *subject* and *object*. Other ways, such as sentences with a blank, have pages of their own.

# %%
for name, (inside, between) in prompts.SEPARATORS.items():
    pair = f"subject{inside}object"
    print(f"{name:14} {pair + between + pair!r}")
there = list(dict.fromkeys(every["estimator"]))
without = [name for name in there if name not in estimators]
never = [name for name in estimators if name not in there]
print("answers without a board:", "; ".join(without) or "none")
print("nobody was asked in the way:", "; ".join(never) or "none")

# %% [markdown]
# ## Scores
#
# The same question may have been asked on two pages. Then the model has given the same answer twice, from the cache,
# and it counts once. Two runs may contradict each other, when one was made with another precision, say. Then this page
# cannot know which to believe, and stops.
#
# **What makes a board.** Two models may be ranked against each other if they were asked the *same facts* in the same way:
# the same fact set, estimator, number of shots and options, the same draw, and then exactly the same facts of the same
# relations. So a board is made of all models for which all this agrees. `chance` is what blind guesses
# would get. A board with one model ranks nothing, but the model's number is there.

# %%
once = board.once(every, estimators)
of_boards, boards = board.boards_of(once, estimators)
runs.keep(boards.drop(columns="title"), "boards.csv")
print(f"{len(once):,} answers, each once")
shown = ["board", "source", "fact_set", "estimator", "n_shots", "n_options"]
shown += ["models", "relations", "facts", "chance"]
answers.words(boards[shown])

# %% [markdown]
# **Who stands on them.** The number of parameters is exact where the model lies on this machine, and else the nominal one
# of the catalogue. What neither knows is empty.

# %%
who = board.about(list(dict.fromkeys(of_boards["model"])))
print(who.to_string(index=False))

# %% [markdown]
# ## Answers
#
# **The boards.** A click on the head of a column sorts by it. Each model has
#
# - its *accuracy*, each relation counted alike, with an {term}`interval` over facts: what if other facts of these
#   relations had been asked?
# - the same *over relations*: what if other relations had been chosen, too? This is the honest interval for a sentence
#   such as "the model knows a third". One without width says that all relations came out alike, not that others would;
# - *std*, the standard deviation over relations, as in the paper's table; its interval errs high, so with few relations it can lie
#   above the estimate;
# - the *gold confidence*, the mean confidence in the gold option, over facts;
# - *no cue*, the accuracy where no rule has a {term}`cue`, over relations.
#
# The boards have no ranks: that one model is better than the next is what we do not know yet. With few relations the
# intervals over relations are wide ({ref}`how good they are <few-relations>`). *No model* is a {term}`rule`, where the facts
# are known: what lies below one shows no knowledge.

# %%
how = {"seed": seed, "n_resamples": n_resamples}
cues = rules.beside(None, board.all_shipped(), board.PAGE)
cues = rules.of_boards(of_boards, cues)
ruled = rules.on_boards(cues)
ranked = board.standings(pd.concat([of_boards, ruled]), **how)
table = ranked[ranked["model"].isin(of_boards["model"])]
listed = board.with_no_cue(ranked, of_boards, cues, seed=seed)
kept = board.numbers(listed, "accuracy")
runs.keep(kept.merge(who, on="model", how="left"), "leaderboard.csv")
texts = answers.texts(listed, 3)
texts = texts.merge(who.drop(columns="what_it_is"), how="left").fillna("")
for of in boards.itertuples():
    mine = texts[texts["board"] == of.board].drop(columns="board")
    title = f"{of.title} ({of.relations} relations)"
    answers.sortable(mine, title, f"board-{of.board}")

# %% [markdown]
# **Neighbours.** The intervals of two models on a board overlap easily, and this says little: both were asked the same
# facts, and a fact that is hard for one is hard for the other. So we take the difference fact by fact. `difference` is
# the accuracy of the upper model minus that of the lower one, paired, over facts; `over_relations` the same if other
# relations had been chosen, too. `upper_only` counts the facts that the upper model alone has right. `p` is McNemar's
# exact test, Holm-corrected for the neighbours of this board. It counts every fact alike, where the difference counts
# every relation alike.
#
# Where the interval over facts holds 0, or `p` is 0.05 or more, the two neighbours have *no order*. Mind one thing:
# the order was found on the same facts that test it. So the difference is never negative, and among many models of equal
# knowledge some neighbours will look further apart than they are.

# %%
two = board.neighbours(of_boards, table, **how)
runs.keep(board.numbers(two, "difference"), "neighbours.csv")
none = (two["order"] == "none").sum()
print(f"{none} of {len(two)} pairs of neighbours have no order")
answers.words(answers.texts(two, 3))

# %% [markdown]
# **Who knows what the other does not?** For each ordered pair of models: of the facts that the model of the row has right,
# which share has the model of the column, too? The rate is taken in each relation, and then averaged. A relation of which
# the row's model has fewer than two facts right is left out, since its rate says nothing. A model without two such
# relations has no rate.
#
# Were the knowledge of two models unrelated, the rate would be the accuracy of the column's model. A rate far above it
# says that the two know the same facts, and near 1 in both directions that it is one and the same knowledge. Right
# answers may be lucky guesses, so a rate below 1 alone is no proof of knowledge of its own.

# %% covers=["IC-E6"]
matrix = board.shares(of_boards, table, **how)
runs.keep(matrix, "subsumption.csv")
print(f"{matrix['rate'].notna().sum()} of {len(matrix)} pairs have a rate")

# %% tags=["hide-input"]
figures.findings(**board.sentences(boards, table, two))
gaps = [found.estimate for found in two["difference"]]
assert all(gap >= 0 for gap in gaps), "the upper of two neighbours is below"
itself = matrix.loc[matrix["distance"] == 0, "rate"].dropna()
assert np.allclose(itself, 1)

# %% [markdown]
# ## Figures
#
# {numref}`fig-board-dots`, at the top, shows the boards at a glance. Look first how long the thin lines are: so little
# does one number say of other relations. Do not judge an order by whether two lines overlap. The table of neighbours does
# that, fact by fact. Compare dots within a panel, never from panel to panel: the facts are others.

# %% tags=["hide-input"]
who_knows = rules.with_best(kept)
fig = figures.board_dots(who_knows, boards)
figures.place(fig, "fig-board-dots", who_knows)

# %% [markdown]
# Read {numref}`fig-board-matrix` by rows: how much of what this model has right do the others
# have? In the column of a good model the rates are high for everyone, so compare each with the number below the
# column's name. Uneven rates on the two sides of the diagonal say only that one model has more right. White cells have
# no rate, and those of a model with itself are left white.
#
# ```{glue:figure} fig-board-matrix
# :name: fig-board-matrix
# :alt: Heat maps with a row and a column for each model of a board, each cell coloured and marked with the subsumption rate.
#
# Of the facts that the model of the row has right, the share that the model of the column has right, too: mean over
# relations, a panel for each board with two models or more that have a rate (else the first board). Below the names of the
# columns: accuracy, which is the share if the two were independent.
# ```

# %% tags=["hide-input"]
fig = figures.board_matrices(matrix, boards, kept)
figures.place(fig, "fig-board-matrix", matrix)

# %% [markdown]
# ## Paper and ours
#
# **The published 49**, from Table 7. They are *published numbers* of the paper's own facts, T-REx-MC, and not ours. So
# they have a table of their own and no place on our boards. `std` is over relations; there is no interval.

# %%
published = board.published()
columns = ["table7_name", "base_model", "params_b", "average_accuracy"]
columns += ["std", "hf_id"]
title = "Published: the paper's models on T-REx-MC, not ours (Tables 6, 7)"
answers.sortable(published[columns].fillna(""), title, "published")
falls = -published["average_accuracy"].diff().dropna()
print(
    f"{(falls < 0.001).sum()} of {len(falls)} neighbours are under 0.001 apart"
)

# %% [markdown]
# What the names mean (Table 6). `note` says where the paper's link cannot be what it says.

# %% covers=["IC-T6"] tags=["hide-output"]
meaning = papers.table("iclke_table6_model_names").fillna("")
answers.words(
    meaning[["original_name", "model", "base_model", "hf_id", "note"]]
)

# %% [markdown]
# **Numbers side by side.** The paper's smallest models and all of ours on boards in its own format, ordered by size. The
# first column says whose number it is. An interval is over facts; the published ones have none. A verdict, *reproduced*
# or *differs*, is possible only for a model of the paper that was asked the paper's facts in its way. All else is *not
# comparable*, however near the numbers lie.

# %%
beside = board.beside_published(table, boards, who, n_smallest=n_smallest)
runs.keep(beside, "beside-published.csv")
sizes = [f"{n:.2g}" if n > 0 else "" for n in beside["billions"]]
answers.words(beside.assign(billions=sizes))

# %% [markdown]
# **Claims.** None of the paper's claims is about models that have little in common. Families and
# fine-tuning are on {doc}`16_iclke_size`. So there is no verdict on a claim here.

# %% [markdown]
# ## What you have seen
#
# - Models of one board may be compared, with the paired difference. So may one model on two boards that differ in the way
#   to ask alone. Two models of two boards may not, nor one of ours with a published one, unless its verdict says so.
# - Two neighbours whose intervals overlap can still have an order. One that stands lower may know facts that the upper
#   one does not.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-board-bet
# On the order of which neighbours would you bet if other facts of the same relations were asked? And if other relations
# were chosen, too?
# ```

# %% [markdown]
# ````{solution-start} ex-board-bet
# :class: dropdown
# ````

# %%
sure = two["order"] == "upper first"
wide = np.array([found.low > 0 for found in two["over_relations"]], bool)
bets = two[["board", "upper", "lower"]].assign(
    other_facts=np.where(sure, "bet", "no"),
    other_relations=np.where(sure & wide, "bet", "no"),
)
answers.words(bets)

# %% [markdown]
# A bet on other facts asks for both: an interval above 0, and a `p` that is still small after the correction. A bet on
# other relations asks for the wider interval, too. Where the table is empty, no board has two models yet.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-board-more-facts
# The interval of two neighbours holds 0. How many facts would you have to ask, so that the interval of a difference as
# large as the one seen would just leave out 0? The width of an interval shrinks with the square root of the number of
# facts.
# ```

# %% [markdown]
# ````{solution-start} ex-board-more-facts
# :class: dropdown
# ````

# %%
answers.words(board.facts_needed(two))

# %% [markdown]
# Where `needed` is missing, the two have the same accuracy. Take the other numbers as rough.
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
# All models get the same facts, so they stand on one board.
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance()
