# %% [markdown]
# # Does a model write the facts that it knows?
#
# **Surprisal distinguishes the facts that a lab model writes wrongly from those that it writes rightly in {glue:text}`surprisal_least:.0%` to
# {glue:text}`surprisal_most:.0%` of pairs, KL-divergence in {glue:text}`kl_least:.0%` to {glue:text}`kl_most:.0%`.**
#
# ```{glue:figure} fig-written-auroc
# :name: fig-written-auroc
# :alt: Three panels, one for each pair of classes; in each a row for every measure, and a mark with an interval for each model.
#
# By surprisal, hallucinated facts and facts that didn't appear look less known than facts that appeared. By KL, facts that didn't appear look known best; within
# a relation this nearly goes away. A mark is the share of pairs in which the fact of the class named first looks less known; ties count half. Lines: 95 % over
# subjects. Dotted: a coin.
# ```
#
# Let a model write about somebody. It writes some facts, leaves some out, and gets some wrong. A useful measure of knowledge would say beforehand which
# facts these are, and we would know which facts to give in the prompt. Here the models have read a world of ours, so we can check every sentence that
# they write.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` (Section 5.3, Tables 3 and 4) lets InstructGPT and FLAN-T5 write a paragraph about each of 500 entities. A trained
# classifier sorts 5,175 facts into those that appeared, those that didn't appear, and those that were hallucinated. The paper compares the means of KL and
# of the change of entropy in each relation, without intervals. It says that models know appeared facts better than hallucinated ones, except for places
# and languages, and that they know facts that didn't appear "significantly" less than both.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
least: int = 4  # statements of a fact, from which we ask about its subject
n_tokens: int = 60  # of a paragraph, at most
template: str = "template-1"  # of the statement and of the question
sources: list[str] = []  # in results/, of the numbers; none: this run
shown: str = ""  # the model of the second table and the claims
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
# We take the facts of a {ref}`rich world <rich-worlds>`. The model writes about each test subject that has at least one fact stated four times or more. We
# count all facts of these subjects, also those that the text never states.

# %%
to_write = {}
for world in lab.worlds(models):
    stated = states(world).query("split == 'test' and sentences >= @least")
    kinds = stated["relation"].map(lambda name: wordings.about(name).subjects)
    for kind, some in stated.groupby(kinds):
        to_write[world, "paragraph", kind] = [
            Prompt(name, kind, name, name, (name,), ("",), 0)
            for name in some["subject"].unique()
        ]
{" ".join(key): len(some) for key, some in to_write.items()}

# %% [markdown]
# ## Prompts
#
# A lab model follows no instructions. It continues after the name alone, as its training text does, and always takes the likeliest token. It stops when
# it begins another document (the token `<s>`), or after 60 tokens.

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
answers.html_table(whole[["model", "text"]].groupby("model").head(1))

# %% [markdown]
# ## Scores
#
# **What became of each fact.** The world's text is made of templates, 25 for each relation, and a lab model writes in the same templates. We read a sentence
# if it is one of them, filled with a subject and an object of the world. A fact *appeared* if the paragraph of its subject has its true object, or the
# object that the text states. It is *hallucinated* if the paragraph has only other objects of the relation. All other facts *didn't appear*. So we need no
# classifier.

# %%
became = {
    key: written.labels(
        key[1], dict(zip(some["fact"], some["text"], strict=True))
    )
    for key, some in whole.groupby(["model", "world"], sort=False)
}
became = pd.concat(became, names=["model", "world"]).reset_index([0, 1])
right, wrong, unsaid = classes = ["appeared", "hallucinated", "didn't appear"]
became["label"] = became["label"].replace(written.NOT, unsaid)
counts = became.groupby(["model", "label"]).size().unstack("label")
counts.reindex(columns=classes).rename(figures.display_name)

# %% [markdown]
# **How well the model knew each fact.** We measure at the blank, before and after a statement of the fact, as on {page}`53_lab_entropy`: KL-divergence and the
# change of {term}`entropy`. The {term}`rank` and {term}`surprisal` of the object's first token, and the entropy itself, need no statement. For all of them more
# is less known. We leave out facts with several true objects, and objects that share their first token with another object of the relation.

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
rows["change of entropy"] = rows["entropy"] - rows["entropy_after"]
rows = rows.rename(columns={"kl": "KL"})
measures = ["surprisal", "rank", "entropy", "change of entropy", "KL"]
of = ["model", "world", "relation", "fact"]
facts = rows.merge(became[[*of, "subject", "label"]], on=of)
labels = facts.groupby("model")["label"].nunique()
if (few := labels[labels < len(classes)].index).any():
    raise BadInput(f"{few[0]}: a class has no fact to compare with others")

# %% [markdown]
# ## Answers
#
# **Means**, with 95 % intervals over subjects. Look at KL: facts that didn't appear have the *lowest* mean, as if the model knew them best. But here facts of all
# relations are together, and the paper compares within a relation.

# %% covers=["PZ-T3", "PZ-T4"] shows=["run", "shipped"]
ids = ["model", "label", "subject"]
long = facts.melt(ids, ["KL", "change of entropy", "surprisal"], "measure")
how = {"value": "value", "over": "subject", "bounds": None, "seed": seed}
means = stats.estimate(long, ["model", "measure", "label"], **how)
table = stats.table(means, ["model", "measure"], "label")[classes]
table.rename(figures.display_name, level=0)

# %% [markdown]
# KL of one model by relation: means, and numbers of facts. A cell without facts is blank.

# %%
shown = shown or facts["model"].iloc[0]
mine = facts[facts["model"].eq(shown)]
how = {"index": "relation", "columns": "label", "values": "KL"}
cells = mine.pivot_table(**how, aggfunc=["mean", "size"])
cells = cells.rename(figures.display_name).rename_axis(
    columns=[None, figures.display_name(shown)]
)
cells.round(2).astype(object).fillna("").rename(columns={"size": "facts"})

# %% [markdown]
# **Pairs.** Means hide how much two classes overlap. So we take each pair of a fact of one class and a fact of another class, and count how often the first
# looks less known; ties count half (the {term}`AUROC`). One half is a coin. For the intervals we draw subjects again, with all their facts.
#
# {numref}`fig-written-auroc`, at the top, has all pairs. This table has only pairs of two facts of one relation. Surprisal finds what it finds among all pairs.
# KL hardly distinguishes facts that didn't appear from the others: they looked known best because models leave out most in relations whose KL is low.


# %%
def less_known(
    some: pd.DataFrame,
    measure: str,
    first: list[str],
    second: list[str],
    within: bool = False,
) -> pd.DataFrame:
    a, b = (some["label"].isin(each).to_numpy() for each in (first, second))
    values = some[measure].to_numpy()
    wins = (np.sign(np.subtract.outer(values[a], values[b])) + 1) / 2
    code = pd.factorize(some["relation"])[0]
    same = np.equal.outer(code[a], code[b]) | (not within)
    whose, names = pd.factorize(some["subject"])
    share = np.full(len(names), 1 / len(names))
    times = np.random.default_rng(seed).multinomial(len(names), share, 2000)
    times = np.vstack([np.ones(len(names)), times])[:, whose]  # row 0: data
    won, n = (
        (times[:, a] @ each * times[:, b]).sum(axis=1)
        for each in (wins * same, same)
    )
    return stats.interval(pd.Series(won / n)).assign(n=len(names))


pairs = [(wrong, right), (unsaid, right), (unsaid, wrong)]
found = {
    (
        within,
        " or ".join(pair),
        figures.display_name(model),
        measure,
    ): less_known(part, measure, *([name] for name in pair), within)
    for within in (False, True)
    for pair in pairs
    for model, part in facts.groupby("model", sort=False)
    for measure in measures
}
names = ["within", "pair", "model", "measure"]
found = pd.concat(found, names=names).reset_index(names)
aurocs, inside = found[~found["within"]], found[found["within"]]
stats.table(inside, ["pair", "measure"], "model")

# %% [markdown]
# ## Figure
#
# In {numref}`fig-written-auroc` compare surprisal and KL. A caution: a fact appears because the model found its object likely, and surprisal says how likely
# the object is in another sentence. So the two are close relatives. But surprisal needs no statement of the fact, and KL does.

# %% tags=["hide-input"]
look = {"label": "share of pairs", "height": 3.4, "aspect": 0.9}
look |= {"x": "measure", "hue": "model", "panel": "pair", "across": True}
grid = figures.marks(aurocs, **look)
for ax in grid.axes.flat:
    ax.axvline(0.5, color="grey", ls=":")
figures.glue_figure(grid.figure, "fig-written-auroc", aurocs)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** They are not comparable: the paper has other models and facts, and a classifier says what appeared. These are the paper's means of KL
# over the relations that have all three classes:

# %%
printed = papers.table("pez_table3_kl_by_relation")
rows = ["model", "relation"]
printed = printed.pivot(index=rows, columns="fact_class", values="kl")
printed = printed.dropna().rename(columns={"didnt_appear": unsaid})
printed.groupby("model").mean().round(2)[classes]

# %% [markdown]
# **Claims** are in `lkecore/data/claims.csv`. We wrote them down after a trial on world 1, before a model of world 3 had written a word. They are decided on
# the larger model of world 3, over subjects. They count all pairs, also pairs of two relations.

# %%
decides = "lab:rich-3/2m"
on = {"decided_on": "this run", "model": shown} if shown != decides else {}
tested = {
    "PZ-hallucinated-kl": ("KL", [wrong], [right]),
    "PZ-hallucinated-surprisal": ("surprisal", [wrong], [right]),
    "PZ-unsaid-kl": ("KL", [unsaid], [wrong, right]),
}
ends = ["estimate", "low", "high"]
for key, (measure, one, other) in tested.items():
    row = less_known(mine, measure, one, other)
    tested[key] = row.assign(**on, **(row[ends] - 0.5))
verdicts = answers.verdicts(tested)
verdicts[["claim", "model", *ends, "verdict"]].round(3)

# %% tags=["hide-input", "page-only"]
names = ["model", "pair", "measure"]
at, own = (
    some.set_index(names)["estimate"].unstack(names[1:])
    for some in (aurocs, inside)
)
first, second, third = (at[" or ".join(pair)] for pair in pairs)
s, kl = first["surprisal"], first["KL"]
own = own.xs("KL", axis=1, level="measure").drop(columns=" or ".join(pairs[0]))
low = means[means["measure"].eq("KL")].pivot(index="model", columns="label")
low = low["estimate"]
holds = {
    "Surprisal distinguishes": s.min() > max(0.5, kl.max()),
    "look less known": second["surprisal"].gt(0.5).all(),
    "look known best": max(second["KL"].max(), third["KL"].max()) < 0.5,
    "nearly goes away": (own - 0.5).abs().max(axis=None) < 0.08,
    "the *lowest*": low[unsaid].eq(low.min(axis=1)).all(),
}
figures.sentence(holds if sources else {})
figures.glue_values(
    surprisal_least=s.min(),
    surprisal_most=s.max(),
    kl_least=kl.min(),
    kl_most=kl.max(),
)

# %% [markdown]
# ## What you have seen
#
# - By the surprisal of the object, a model knows less of what it writes wrongly than of what it writes rightly. KL-divergence, which needs a statement of the
#   fact, hardly distinguishes the two.
# - By surprisal, facts that a model leaves out are between the two. By KL they look known best, but hardly so within a relation. Compare facts of one relation,
#   or say that you don't.
#
# **Counted again** by a plain loop over pairs: one of the numbers.

# %%
one, other = (mine.query("label == @x")["surprisal"] for x in (wrong, right))
won = sum((a > b) + (a == b) / 2 for a in one for b in other)
own = less_known(mine, "surprisal", [wrong], [right])["estimate"][0]
assert abs(won / len(one) / len(other) - own) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-written-stated
# Does a model leave out what its text seldom states? Compare how often the text states facts of each class.
# ```
# ````{solution-start} ex-written-stated
# :class: dropdown
# ````

# %%
often = rich.with_states(became, ["occurrences"])
often = often.groupby(["model", "label"])["occurrences"].describe().round(1)
often.rename(figures.display_name, level=0)

# %% [markdown]
# Most of the appeared facts are stated often. The two other classes differ less. A quarter of the facts that didn't appear are stated 16 times or
# more, so a model also leaves out what its text often states.
#
# ````{solution-end}
# ````
