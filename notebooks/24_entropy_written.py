# %% [markdown]
# # Do models write what they know?
#
# **What models of the lab write wrongly they knew less than what they write rightly: in {glue:text}`surprisal_least:.0%` to {glue:text}`surprisal_most:.0%` of
# pairs by the object's surprisal, in {glue:text}`kl_least:.0%` to {glue:text}`kl_most:.0%` by KL-divergence.**
#
# ```{glue:figure} fig-written-auroc
# :name: fig-written-auroc
# :alt: Three panels, one for each pair of classes; in each a row for every measure, and a mark with an interval for each model.
#
# How often a fact of the first class looks less known than one of the second, ties half; lines: 95 % over subjects. Surprisal lies right of the dotted line
# in the first two panels. By KL, which lies left of it in the last two, unsaid facts look known best.
# ```
#
# Let a model write about somebody. Some facts it writes, some it leaves out, some it gets wrong. If a measure of knowledge is good for something, it
# should tell beforehand which: then one would know which facts to put into the prompt. Here the models have read a world of ours, so that every
# sentence that they write can be checked.

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
from lkecore.answers import lab, rich
from lkecore.errors import BadInput
from lkecore.prompts.prompt import Prompt
from lkecore.worlds import states, wordings, written

figures.style()

# %% [markdown]
# ## Facts
#
# Those of a {ref}`rich world <rich-worlds>`. We ask about each subject of which at least one fact is told in four sentences or more, and count all of its facts,
# also those that the text never tells.

# %%
to_write = {}
for world in lab.worlds(models):
    told = states(world).query("split == 'test' and sentences >= @least")
    kinds = told["relation"].map(lambda name: wordings.about(name).subjects)
    for kind, some in told.groupby(kinds):
        to_write[world, "paragraph", kind] = [
            Prompt(name, kind, name, name, (name,), ("",), 0)
            for name in some["subject"].unique()
        ]
{" ".join(key): len(some) for key, some in to_write.items()}

# %% [markdown]
# ## Prompts
#
# A model of the lab follows no instructions. It goes on from the name alone, as its own text does, greedily, until it begins another document (the token
# `<s>`) or has written 60 tokens.

# %%
this = "24_entropy_written"
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
said = f"{this}-written"
how = {"columns": ["text"], "least": 0.9, "dtype": dtype}
texts, _ = answers.shown(said, wrote, sources, **how)
whole = texts.assign(text=texts["fact"] + texts["text"])
answers.words(whole[["model", "text"]].groupby("model").head(1))

# %% [markdown]
# ## Scores
#
# **What became of each fact.** The world's text is made of templates, 25 for each relation, and so is what a model writes after it. A sentence is read if it
# is one of them, filled with a subject and an object that the world has. A fact *appeared* if its subject's paragraph says its true object, or the one that
# the text told; it is *hallucinated* if the paragraph says only other objects of the relation; all others did *not* appear. No classifier is needed.

# %%
became = {
    key: written.labels(
        key[1], dict(zip(some["fact"], some["text"], strict=True))
    )
    for key, some in whole.groupby(["model", "world"], sort=False)
}
became = pd.concat(became, names=["model", "world"]).reset_index([0, 1])
right, wrong, unsaid = written.LABELS
became.groupby(["model", "label"]).size().unstack("label")

# %% [markdown]
# **How well each was known.** Measured at the blank, before and behind the statement of the fact, as on {page}`53_lab_entropy`: KL-divergence, the change of
# {term}`entropy`, and, for which nothing has to be told, {term}`rank` and {term}`surprisal` of the object's first token. In all of them more is less
# known. Facts with several true objects are left out, and objects that begin as another one of the relation does.

# %% covers=["PZ-D3"] shows=["run", "shipped"]
subjects = {p.subject for some in to_write.values() for p in some}
its = {"n_shots": 0, "seed": seed, "leave_out": True}
sample = rich.samples(models, [], lambda s: s["subject"].isin(subjects), **its)
questions = {}
for world, its in sample.items():
    at = [models, its, [template], ["explicit"]]
    made = answers.at_blanks(*at, dtype=dtype, seed=seed)
    questions |= {(world, *key): some for key, some in made.items()}
by = ["world", *answers.READ_BY]
ours = answers.ask_blanks(
    models,
    answers.sample(questions, sources, 20, by=by),
    "answers.parquet",
    by=by,
    only=["kl", "entropy", "entropy_after", "rank", "surprisal"],
    dtype=dtype,
)
rows, _ = answers.shown(this, ours, sources, dtype=dtype)
rows = rows[~(rows["shared"].astype(bool) | rows["merged"].astype(bool))]
rows = rows.assign(change=rows["entropy"] - rows["entropy_after"])
measures = ["surprisal", "rank", "entropy", "change", "kl"]
of = ["model", "world", "relation", "fact"]
facts = rows.merge(became[[*of, "subject", "label"]], on=of)
labels = facts.groupby("model")["label"].nunique()
if (few := labels[labels < len(written.LABELS)].index).any():
    raise BadInput(f"{few[0]}: a class has no fact to compare with others")

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
stats.table(means, ["model", "measure"], "label")[[right, wrong, unsaid]]

# %% [markdown]
# By relation, KL of one model: means, and of how many facts. A cell without a fact is blank.

# %%
shown = shown or facts["model"].iloc[0]
mine = facts[facts["model"].eq(shown)]
how = {"index": "relation", "columns": "label", "values": "kl"}
cells = mine.pivot_table(**how, aggfunc=["mean", "size"])
cells.round(2).astype(object).fillna("")

# %% [markdown]
# **Pairs.** Means hide how much two classes overlap. So take each pair of a fact of one class and a fact of the other, and count how often the first
# looks less known, ties half (the {term}`AUROC`). One half is no telling apart. Subjects are drawn again, with all their facts, for the intervals.


# %%
def less_known(some: pd.DataFrame, measure: str, first: list, second: list):
    a, b = (some["label"].isin(each).to_numpy() for each in (first, second))
    values = some[measure].to_numpy()
    wins = (np.sign(np.subtract.outer(values[a], values[b])) + 1) / 2
    whose, names = pd.factorize(some["subject"])
    share = np.full(len(names), 1 / len(names))
    times = np.random.default_rng(seed).multinomial(len(names), share, 2000)
    times = np.vstack([np.ones(len(names)), times])[:, whose]  # row 0: data
    won = (times[:, a] @ wins * times[:, b]).sum(axis=1)
    all_pairs = times[:, a].sum(axis=1) * times[:, b].sum(axis=1)
    return stats.interval(pd.Series(won / all_pairs)).assign(n=len(names))


pairs = [(wrong, right), (unsaid, right), (unsaid, wrong)]
found = {
    (f"{one}, {other}", model, measure): less_known(
        part, measure, [one], [other]
    )
    for one, other in pairs
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
look = {"label": "share of pairs", "height": 3.4, "aspect": 0.9}
look |= {"x": "measure", "hue": "model", "panel": "pair", "across": True}
grid = figures.marks(drawn, **look)
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
rows = ["model", "relation"]
printed = printed.pivot(index=rows, columns="fact_class", values="kl")
printed.dropna().groupby("model").agg(["mean", "size"]).round(2)

# %% [markdown]
# **Claims**, in `lkecore/data/claims.csv`, written down after a trial on world 1 and before a model of world 3 had written a word. They are decided on the
# larger model of world 3, over subjects.

# %%
decides = "lab:rich-3/2m"
on = {"decided_on": "this run", "model": shown} if shown != decides else {}
tested = {
    "PZ-hallucinated-kl": ("kl", [wrong], [right]),
    "PZ-hallucinated-surprisal": ("surprisal", [wrong], [right]),
    "PZ-unsaid-kl": ("kl", [unsaid], [wrong, right]),
}
ends = ["estimate", "low", "high"]
for key, (measure, one, other) in tested.items():
    row = less_known(mine, measure, one, other)
    tested[key] = row.assign(**on, **(row[ends] - 0.5))
verdicts = answers.verdicts(tested)
verdicts[["claim", "model", *ends, "verdict"]]

# %% tags=["hide-input", "page-only"]
at = aurocs.set_index(names)["estimate"].unstack(["pair", "measure"])
first, second, third = (at[f"{one}, {other}"] for one, other in pairs)
s, kl = first["surprisal"], first["kl"]
holds = {
    "knew less": s.gt(0.5).all(),
    "by KL-divergence": s.gt(kl).all(),
    "right of the dotted line": second["surprisal"].gt(0.5).all(),
    "left of it": max(second["kl"].max(), third["kl"].max()) < 0.5,
}
figures.sentence(holds if sources else {})
figures.findings(
    surprisal_least=s.min(),
    surprisal_most=s.max(),
    kl_least=kl.min(),
    kl_most=kl.max(),
)

# %% [markdown]
# ## What you have seen
#
# - What a model gets wrong it knew less, by the surprisal of the object. KL-divergence, which needs the fact to be told, hardly sees it.
# - What is left out is not what is known least: by KL it looks known best.
#
# One number again, by a plain loop over pairs:

# %%
one, other = (mine.query("label == @x")["surprisal"] for x in (wrong, right))
won = sum((a > b) + (a == b) / 2 for a in one for b in other)
own = less_known(mine, "surprisal", [wrong], [right])["estimate"][0]
assert abs(won / len(one) / len(other) - own) < 1e-9

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
