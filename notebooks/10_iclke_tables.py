# %% [markdown]
# # Which of the paper's relations are known here, too?
#
# The IC-LKE paper prints its answers as long tables: models by accuracy, and relations by accuracy. This page has them
# whole, with the means of this book beside them. It is a page to look things up in, and its tables are large. Are the
# relations that the paper's models know well known well here? And what happens to a mean when the relations stay and the
# facts change?
#
# **What came out.** {glue:text}`tables_shared` {glue:text}`tables_agree` {glue:text}`tables_apart`
#
# ```{glue:figure} fig-tables-relations
# :name: fig-tables-relations
# :alt: Panels, one for each set of facts, with a dot for each relation: our mean accuracy over the paper's mean accuracy, with vertical intervals and a dotted diagonal of equal accuracy.
#
# Accuracy of a relation here over that in the paper (Table 8, mean of 35 models), a panel for each set of facts, mean over
# the models that were asked it. Vertical lines: 95 % intervals over facts. Dotted: equal accuracy.
# ```
#
# Afterwards you will be able to say
#
# - which of the paper's 50 relations are asked in this book, and of which facts,
# - how far a published number of a relation lies from ours, and why the two are not the same number,
# - how much a mean over the same relations depends on the facts.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` list their 50 relations (Table 3), the mean accuracy of each of 49 models (Table 7), the mean
# accuracy of each relation over 35 models (Table 8), and the three best and three worst relations of each model (Table 9).
# Our copy of the paper has lost the rows of Table 9. The paper's models are large, and its facts come from T-REx.
#
# The claims themselves are tested on {doc}`10_iclke_relations`. This page asks no model. It reads what the runs of that
# page have kept, and the longer results that ship with the book, so that it costs seconds.

# %% [markdown]
# ## Parameters
#
# Opened in Jupyter, where there are no runs to read, the page shows the shipped results alone.

# %% tags=["parameters"]
shipped: list[str] = ["kamel", "trex"]  # profiles of results/ to set beside
estimator: str = "iclke-space"  # the way to ask; this one is the paper's
n_named: int = 4  # relations of each panel that are named
seed: int = 0  # draws the resamples
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import answers, figures, papers, runs
from lkecore.answers import paper_tables, rules
from lkecore.errors import BadInput

figures.style()

# %% [markdown]
# ## Facts
#
# A relation has the paper's name here where it means the same as one of the paper's. For facts with Wikidata properties
# we say which property that is; it is ours to say, since the paper prints names alone. The *facts* behind a name are
# others, unless the fact set is T-REx-MC.

# %%
this = "10_iclke_relations"
if page:
    ours = runs.collect("answers.parquet", ["fact_set"])
    of_runs = ours.groupby("fact_set")["relation"].unique()
    every = answers.beside(ours, shipped, this)
    cues = rules.beside(rules.of_runs(), shipped, this)
else:
    of_runs = pd.Series(dtype=object)
    every = answers.alone(shipped, this)
    cues = rules.beside(None, shipped, this)
names = paper_tables.paper_names(list(every["relation"].unique()))
for fact_set, relations in of_runs.items():
    names |= paper_tables.paper_names(list(relations), fact_set)
print(*answers.made_by(shipped, this), sep="\n")
lacking = rules.lacking(every, cues)
print("cues not known:", ", ".join(lacking) or "of no source")

# %% [markdown]
# ## Prompts
#
# One way of asking, so that only models and facts differ: one space inside a pair and one between pairs, as in the paper.

# %%
as_paper = every[every["estimator"] == estimator]
known = paper_tables.named_as_paper(as_paper, names)
if known.empty:
    raise BadInput(
        f"no answers with {estimator!r} about relations of the paper"
    )
print(f"{estimator}: {len(as_paper):,} answers, {len(known):,} of them")
print("about relations that the paper has, too")

# %% [markdown]
# ## Scores
#
# Nothing is scored here. Each answer is right or wrong, and a row of the frame says whose it is.

# %%
asked = known.groupby("source", sort=False)
counts = asked[["model", "relation"]].nunique().assign(answers=asked.size())
answers.words(counts.reset_index())

# %% [markdown]
# ## Answers
#
# **Table 3**, the 50 relations. `property` is empty where no property of Wikidata fits. `templates` says whether the
# paper's Table 5 has templates for it. `asked here` names the sets of answers that have it. A click on the head of a
# column sorts by it, in all tables of this page.

# %% covers=["IC-T3"]
means = paper_tables.means_of_models(known, seed=seed, cues=cues)
table_3 = paper_tables.table_3(means)
runs.keep(table_3, "table-3.csv")
answers.sortable(table_3, "Table 3 and who asked here", "table-3")

# %% [markdown]
# **Table 7**, all 49 models as published, and below them ours over *all* the relations that they were asked. `low` and
# `high` are the interval over relations; the paper prints none. `std` is over relations. `no_cue` is the accuracy where no
# {term}`rule` has a {term}`cue`.

# %% covers=["IC-T7"]
table_7 = paper_tables.table_7(as_paper, seed=seed, cues=cues)
runs.keep(table_7, "table-7.csv")
shown = table_7.round(3).astype(object).fillna("")
answers.sortable(shown, "Table 7, and ours below it", "table-7")

# %% [markdown]
# **Table 8**, all relations as published, and beside them the mean over our models with an interval over facts. The
# models are these very ones: what is drawn again are the facts. Empty: not asked. A star under `dates`: the paper's
# objects are full dates, and ours are years, so these two numbers are not about the same question. *No cue* is the mean
# over facts without a {term}`cue`, and of how many. What to see: how far an accuracy falls where no word gives the object
# away, and whether two sets of facts then lie nearer to each other.

# %% covers=["IC-T8"]
table_8 = paper_tables.table_8(means)
runs.keep(table_8, "table-8.csv")
answers.sortable(table_8, "Table 8, and ours beside it", "table-8")

# %% [markdown]
# **Table 9** for our models: the three best and the three worst relations of each, fewer where there are not six. With
# few facts each, neighbours in this order may well change places. The intervals above say how easily. *No cue*: the same over the
# facts without a {term}`cue`. What to see: which relations were best only because a rule can guess their objects, too.

# %% covers=["IC-T9"]
names_of = papers.property_names()
table_9 = paper_tables.table_9(every, names=names_of, cues=cues)
runs.keep(table_9, "table-9.csv")
answers.words(table_9)

# %% [markdown]
# **The same relations, other facts.** Where two sources have some relations of the paper in common, the table has the
# mean over these relations for each model, with an interval over facts, and above them the paper's mean over the same
# relations; behind the models of a set the best {term}`rule` without a model. `no_cue` is over facts without a cue, `chance`
# what guessing would get. A relation may have fewer options in one set than in another, so compare each row with its own
# chance. (With one source, or nothing in common, the table is empty.)

# %%
longer = known[known["source"] != "this page"]
shared, same = paper_tables.same_relations(longer, seed=seed, cues=cues)
runs.keep(same, "same-relations.csv")
print(f"{len(shared)} relations:", *shared, sep="\n- ")
answers.words(same, digits=2)

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
r = paper_tables.agreement(means, seed=seed)
where = r["source"].str.removeprefix("shipped: ")
said = f"{known['relation'].nunique()} of the paper's 50 relations are asked"
said += " here, of one set of facts or another."
agree = "Too few relations are asked to compare them with the paper's."
if len(r):
    each = r["r"].map(lambda found: found.text())
    each += " (" + where + ", " + r["of"] + ")"
    agree = "Over relations, our means and the paper's correlate with r ="
    agree += f" {', '.join(each)}."
apart = "No two sets of facts here have relations of the paper in common."
if shared:
    where = same["facts"].str.removeprefix("shipped: ")
    each = same["accuracy"] + " (" + same["model"] + ", " + where + ")"
    apart = f"Over the same {len(shared)} relations, the accuracy is"
    apart += f" {', '.join(each)}."
    left = same[same["no_cue"] != ""].assign(where=where)
    each = left["no_cue"] + " (" + left["model"] + ", " + left["where"] + ")"
    apart += f" Without cues: {', '.join(each) or 'not known'}."
figures.findings(tables_shared=said, tables_agree=agree, tables_apart=apart)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-tables-relations`, at the top, a dot below the diagonal is a relation that the paper's models know better
# than ours. Nearly all will be: most of its models are ten to five hundred times as large. Look instead whether the dots
# *rise* from left to right, and whether the same relation stands at the same height in two panels. A star behind a name:
# full dates in the paper, years here.

# %% tags=["hide-input"]
drawn = paper_tables.against_table_8(means)
panels = list(means["source"].unique())
size = (1 + 4.2 * max(1, len(panels)), 4.6)
fig, axes = plt.subplots(
    1, max(1, len(panels)), figsize=size, squeeze=False, layout="constrained"
)
for ax, source in zip(axes[0], panels, strict=False):
    part = drawn[drawn["source"] == source]
    figures.accuracy_scatter(part, ax, x="the paper", y="ours", names=n_named)
    ax.set_title(source, fontsize="medium")
figures.place(fig, "fig-tables-relations", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** No number of ours is one of the paper's. The models are others, and so are the facts, unless a run has asked
# T-REx-MC. So nothing here can be *reproduced* or *differ*, however near two numbers lie.
#
# **Facts.** In the table of the same relations the models are the same, and so is the way of asking. If the rows still
# lie far apart, look at the rule first, which says how much of the gap can be guessed ({doc}`18_iclke_rules`), and then at
# `no_cue`, where no rule helps. T-REx has facts that stand in the first lines of
# Wikipedia's articles, and the version that we ask has objects with short and frequent names
# {cite:p}`elsahar2018trex,petroni2019lama`. KAMEL takes its facts from all of Wikidata, with objects of any length
# {cite:p}`kalo2022kamel`, and there a long name competes with short ones. So "this model knows 30 % of the capitals"
# says little without the list of places that was asked.

# %% [markdown]
# ## What you have seen
#
# - A published number of a relation is about certain models *and* certain facts. The name of the relation is the least
#   part of it.
# - Relations that are easy in one set of facts need not be easy in another, for a rule without a model as for a model.
# - A mean over relations can be compared only where the relations are the same, and then with its own chance.

# %%
assert len(table_3) == 50 and set(table_3["relation"]) == set(
    table_8["relation"]
)
one = known[known["source"].isin(known["source"].iloc[:1])]
by_hand = one.groupby(["model", "relation"])["correct"].mean()
by_hand = by_hand.groupby("relation").mean()
for row in means[means["source"].isin(one["source"])].itertuples():
    assert abs(by_hand[row.relation] - row.accuracy.estimate) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-tables-easier
# Are there relations that our small models know better than the mean of the paper's 35? What is special about them?
# ```

# %% [markdown]
# ````{solution-start} ex-tables-easier
# :class: dropdown
# ````

# %%
wide = drawn.pivot(
    index=["source", "relation"], columns="model", values=["accuracy", "low"]
)
better = wide[wide["low"]["ours"] > wide["accuracy"]["the paper"]]
answers.words(better["accuracy"].reset_index().round(2))

# %% [markdown]
# Look at the objects of such a relation, if there is one: few of them, or one that is right for most subjects, make a
# relation easy. Then a good guess is enough. How good it is {doc}`18_iclke_rules` draws, relation by relation; the column
# `of_rule` on {doc}`10_iclke_relations` is the mean over them.
#
# ````{solution-end}
# ````
#
# To set results of your own beside the paper's, run {doc}`10_iclke_relations` and this page in one file:
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 10_iclke_relations
#     parameters:
#       models: [org/name]
#       fact_set: /path/to/facts
#   - notebook: 10_iclke_tables
#     reads: [10_iclke_relations]
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance()
