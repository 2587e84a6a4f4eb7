# %% [markdown]
# # Do models write what they know?
#
# **{glue:text}`name_shown` knew what it writes wrongly less than what it writes rightly: in {glue:text}`surprisal:.0%` of pairs by the surprisal of the
# object, in {glue:text}`kl:.0%` by KL-divergence.**
#
# ```{glue:figure} fig-written-auroc
# :name: fig-written-auroc
# :alt: Three panels, one for each pair of classes; in each a row for every measure, and a mark with an interval for each model.
#
# What appears is known best by surprisal and rank, which lie right of the dotted line in the first two panels. By KL, unsaid facts look known best: it lies
# left of the line in the last two. How often a fact of the first class looks less known than one of the second, ties half; lines: 95 % over subjects.
# ```
#
# Let a model write about somebody. Some facts it writes, some it leaves out, some it gets wrong. If a measure of knowledge is good for something, it
# should tell beforehand which: then one would know which facts to put into the prompt. Here the models have read a world of ours, so that every
# sentence that they write can be checked. Intervals of the two numbers: {glue:text}`between_surprisal` and {glue:text}`between_kl`.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` (Section 5.3, Tables 3 and 4) lets InstructGPT and FLAN-T5 write a paragraph about each of 500 entities, and a trained
# classifier sort 5,175 facts into those that appeared, did not appear, or were hallucinated. Means of KL and of the change of entropy are compared
# in each relation. But for places and languages, models are said to know appeared facts better than hallucinated ones, and to know facts
# that did not appear "significantly" less than both. No mean has an interval.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
least: int = 4  # sentences of one fact, from which we ask about its subject
n_tokens: int = 60  # of a paragraph, at most
template: str = "template-1"  # of the statement and of the question
sources: list[str] = []  # in results/, of the numbers; none: this run
shown: str = ""  # the model of sentence and tables; empty: the first
seed: int = 0  # draws the order of options and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, figures, papers, stats
from lkecore.answers import lab, moved, rich
from lkecore.errors import BadInput
from lkecore.facts import rich_text, rich_written
from lkecore.facts.rich_wordings import about, relations
from lkecore.prompts.prompt import Prompt

figures.style()

# %% [markdown]
# ## Facts
#
# Those of a {ref}`rich world <rich-worlds>`. We ask about each subject of which at least one fact is told in four sentences or more, and count all of its facts,
# also those that the text never tells.

# %%
kinds = {name: about(name).subjects for name in relations()}
subjects = {}
for world in lab.worlds(models):
    states = rich_text.states(world).query("split == 'test'")
    told = states[states["sentences"] >= least]
    for kind, some in told.groupby(told["relation"].map(kinds)):
        subjects[world, "paragraph", kind] = list(some["subject"].unique())
{" ".join(key): len(names) for key, names in subjects.items()}

# %% [markdown]
# ## Prompts
#
# A model of the lab follows no instructions. It goes on from the name alone, as its own text does, greedily, until it begins another document (the token
# `<s>`) or has written 60 tokens.

# %%
to_write = {
    key: [Prompt(name, key[2], name, name, (name,), ("",), 0) for name in names]
    for key, names in subjects.items()
}
wrote = answers.write(
    models,
    answers.sample(to_write, sources, 40, by=lab.BY),
    "answers-written.parquet",
    by=lab.BY,
    only={name: lab.worlds([name]) for name in models},
    only_by="world",
    max_new_tokens=n_tokens,
    stop="<s>",
    reading=lambda rows: rows.drop(columns=["subject", "object"]),
    dtype=dtype,
)
this = "24_entropy_written"
texts, _ = answers.shown(
    f"{this}-written", wrote, sources, columns=["text"], least=0.9, dtype=dtype
)
shown = shown or texts["model"].iloc[0]
some = texts[texts["model"].eq(shown)].head(4)
answers.words((some["fact"] + some["text"]).to_frame("paragraph"))

# %% [markdown]
# ## Scores
#
# **What became of each fact.** The world's text is made of templates, 25 for each relation, and so is what a model writes after it. A sentence is read if it
# is one of them, filled with a subject and an object that the world has. A fact *appeared* if its subject's paragraph says its true object, or the one that
# the text told; it is *hallucinated* if the paragraph says only other objects of the relation; all others did *not* appear. No classifier is needed.

# %%
parts = {}
for (model, world), part in texts.groupby(["model", "world"], sort=False):
    whole = part.set_index("fact")["text"]
    whole = (whole.index + whole).to_dict()
    parts[model, world] = rich_written.labels(world, whole)
became = pd.concat(parts, names=["model", "world"])
became = became.reset_index(["model", "world"]).reset_index(drop=True)
of = ["model", "world", "relation", "fact"]
counts = pd.crosstab(became["model"], became["label"])
if lost := {*rich_written.LABELS} - {*counts}:
    raise BadInput(f"no fact is {min(lost)}: there are no pairs to compare")
counts[[*rich_written.LABELS]]

# %% [markdown]
# **How well each was known.** Measured at the blank, before and behind the statement of the fact, as on {page}`53_lab_entropy`: KL-divergence, the change of
# {term}`entropy`, and, for which nothing has to be told, {term}`rank` and {term}`surprisal` of the object's first token. In all of them more is less
# known. Facts with several true objects are left out, and objects that begin as another one of the relation does.

# %% covers=["PZ-D3"] shows=["run", "shipped"]
every = {name for names in subjects.values() for name in names}
its = {"n_shots": 0, "seed": seed, "leave_out": True}
samples = rich.samples(models, [], lambda s: s["subject"].isin(every), **its)
its = {"behind": ["explicit"], "dtype": dtype, "seed": seed}
questions = moved.questions(samples, models, template, **its)
ours = answers.ask_blanks(
    models,
    answers.sample(questions, sources, 20, by=moved.KEY),
    "answers.parquet",
    by=moved.KEY,
    only=["kl", "entropy", "entropy_after", "rank", "surprisal"],
    dtype=dtype,
)
rows, _ = answers.shown(this, ours, sources, dtype=dtype)
rows = rows[~(rows["shared"].astype(bool) | rows["merged"].astype(bool))]
rows = rows.assign(change=rows["entropy"] - rows["entropy_after"])
measures = ["surprisal", "rank", "entropy", "change", "kl"]
facts = rows.merge(became[[*of, "subject", "label"]], on=of)
facts[[*of, "label", *measures]].head()

# %% [markdown]
# ## Answers
#
# **Means**, as in the paper's tables, but with 95 % intervals over subjects. Look at KL: facts that a model leaves out have the *lowest*, as if they were known best.
# {page}`53_lab_entropy` says why: an answer moves little where a fact is known, and also where a model that knows nothing of it hardly believes what it is told.

# %% covers=["PZ-T3", "PZ-T4"] shows=["run", "shipped"]
ids = ["model", "label", "subject"]
long = facts.melt(ids, ["kl", "change", "surprisal"], "measure")
how = {"value": "value", "over": "subject", "bounds": None, "seed": seed}
means = stats.estimate(long, ["model", "measure", "label"], **how)
stats.table(means, ["model", "measure"], "label")[[*rich_written.LABELS]]

# %% [markdown]
# By relation, KL of one model; a cell without a fact is blank.

# %%
mine = facts[facts["model"].eq(shown)]
how = {"index": "relation", "columns": "label", "values": "kl"}
cells = mine.pivot_table(**how, aggfunc=["mean", "size"])
cells.round(2).astype(object).fillna("")

# %% [markdown]
# **Pairs.** Means hide how much two classes overlap. So take each pair of a fact of one class and a fact of the other, and count how often the first
# looks less known, ties half (the {term}`AUROC`). One half is no telling apart. Subjects are drawn again, with all their facts, for the intervals.


# %%
def less_known(some: pd.DataFrame, measure: str, first: list, second: list):
    a, b = (some[some["label"].isin(each)] for each in (first, second))
    wins = np.sign(np.subtract.outer(a[measure].values, b[measure].values))
    names = some["subject"].unique()
    at, to = (pd.Categorical(x["subject"], names).codes for x in (a, b))
    hits = np.zeros((len(names), len(names)))  # pairs won, by their subjects
    np.add.at(hits, (at[:, None], to), (wins + 1) / 2)
    many = [np.bincount(each, minlength=len(names)) for each in (at, to)]
    share = np.full(len(names), 1 / len(names))
    draw = np.random.default_rng(seed).multinomial
    times = draw(len(names), share, size=2000)
    times = np.vstack([np.ones(len(names)), times])  # the data in row 0
    won = (times @ hits * times).sum(axis=1)
    drawn = pd.Series(won / (times @ many[0]) / (times @ many[1]))
    return stats.interval(drawn).assign(n=len(names))


right, wrong, unsaid = ([name] for name in rich_written.LABELS)
pairs = {
    "hallucinated, appeared": (wrong, right),
    "not said, appeared": (unsaid, right),
    "not said, hallucinated": (unsaid, wrong),
}
found = {
    (name, model, measure): less_known(part, measure, *two)
    for name, two in pairs.items()
    for model, part in facts.groupby("model", sort=False)
    for measure in measures
}
names = ["pair", "model", "measure"]
aurocs = pd.concat(found, names=names).reset_index(names)
stats.table(aurocs, names[::2], "model")

# %% [markdown]
# ## Figure
#
# In {numref}`fig-written-auroc`, at the top, compare surprisal and KL. A caution: a fact appears since the model found its object likely, and surprisal says how likely it
# is in another sentence. So the two are close relatives, and a measure that has to be told the fact first is not needed to tell them apart.

# %% tags=["hide-input"]
people = {"change": "change of entropy", "kl": "KL"}
drawn = aurocs.assign(model=aurocs["model"].map(figures.called))
drawn["measure"] = drawn["measure"].replace(people)
look = {"label": "share of pairs", "height": 3.4, "aspect": 0.9, "across": True}
grid = figures.marks(drawn, x="measure", hue="model", panel="pair", **look)
for ax in grid.axes.flat:
    ax.axvline(0.5, color="grey", ls=":")
figures.place(grid.figure, "fig-written-auroc", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Not comparable: other models and facts, and there a classifier says what appeared. Printed means of KL over the relations that have all three
# classes:

# %%
printed = papers.table("pez_table3_kl_by_relation")
printed = printed.pivot(
    index=["model", "relation"], columns="fact_class", values="kl"
)
printed.dropna().groupby("model").agg(["mean", "size"]).round(2)

# %% [markdown]
# **Claims**, in `lkecore/data/claims.csv`, written down after a trial on world 1 and before a model of world 3 had written a word. They are decided on the
# larger model of world 3, over subjects.

# %%
decides = "lab:rich-3/2m"
chosen = decides if decides in set(facts["model"]) else shown
part = facts[facts["model"].eq(chosen)]
tested = {
    "PZ-hallucinated-kl": less_known(part, "kl", wrong, right),
    "PZ-hallucinated-surprisal": less_known(part, "surprisal", wrong, right),
    "PZ-unsaid-kl": less_known(part, "kl", unsaid, wrong + right),
}
on = {} if chosen == decides else {"decided_on": "this run", "model": chosen}
ends = ["estimate", "low", "high"]
for key, row in tested.items():
    tested[key] = row.assign(**on, **(row[ends] - 0.5))
verdicts = answers.verdicts(tested)
verdicts[["claim", "model", *ends, "verdict"]]

# %% tags=["hide-input", "page-only"]
at = aurocs.set_index(names)["estimate"].unstack("measure")
up, _, last = pairs
first = at.xs(up)
kl = means.query("measure == 'kl'").pivot(
    index="model", columns="label", values="estimate"
)
holds = {
    "knew what it writes wrongly less": first["surprisal"].gt(0.5).all(),
    "by KL-divergence": first["surprisal"].gt(first["kl"]).all(),
    "the *lowest*": kl.idxmin(axis=1).eq("not").all(),
    "right of the dotted line in the first two": at.drop(last, level="pair")[
        ["surprisal", "rank"]
    ]
    .gt(0.5)
    .all(axis=None),
    "left of the line in the last two": at["kl"]
    .drop(up, level="pair")
    .lt(0.5)
    .all(),
}
figures.sentence(holds if sources else {})
own = aurocs[aurocs["model"].eq(shown) & aurocs["pair"].eq(up)]
own = {row["measure"]: row for _, row in own.iterrows()}
figures.findings(
    name_shown=figures.called(shown),
    surprisal=own["surprisal"]["estimate"],
    kl=own["kl"]["estimate"],
    between_surprisal=stats.said(own["surprisal"], percent=True),
    between_kl=stats.said(own["kl"], percent=True),
    effect=f"surprisal {stats.said(own['surprisal'])}, KL {stats.said(own['kl'])}",
    asked=f"{figures.called(shown)}, facts about subjects that it wrote on",
)

# %% [markdown]
# ## What you have seen
#
# - What a model gets wrong it knew less, by the surprisal of the object. KL-divergence, which needs the fact to be told, hardly sees it.
# - What is left out is not what is known least: by KL it looks known best.
#
# One number again, by a plain loop over pairs:

# %%
lists = {key: p["surprisal"].tolist() for key, p in mine.groupby("label")}
one, other = lists.get("hallucinated", []), lists.get("appeared", [])
won = sum((a > b) + (a == b) / 2 for a in one for b in other)
if one and other:
    again = aurocs[aurocs["model"].eq(shown)].set_index(names[::2])
    again = again.loc[("hallucinated, appeared", "surprisal"), "estimate"]
    assert abs(won / len(one) / len(other) - again) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-written-told
# Does a model leave out what it was told seldom? Compare how often the text tells facts of each class.
# ```
# ````{solution-start} ex-written-told
# :class: dropdown
# ````

# %%
often = rich.with_states(became, ["occurrences"])
often.groupby(["model", "label"])["occurrences"].describe().round(1)

# %% [markdown]
# What appears was told often, as a rule. But compare the two other classes: seldom told is no reason to be silent.
#
# ````{solution-end}
# ````
