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
models: list[str] = ["lab:rich-1/0.7m"]  # of the lab, and real ones
least: int = 4  # statements of a fact, from which we ask about its subject
fact_set: str = "atlas"  # about its subjects real models write
n_subjects: int = 8  # of those that have so many relations:
n_relations: int = 4
n_tokens: int = 60  # of a paragraph, at most
template: str = "template-1"  # of the statement and of the question
sources: list[str] = []  # in results/, of the numbers; none: this run
shown: str = ""  # the model of the second table and the claims
seed: int = 0  # draws the order of options and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, papers, stats
from lkecore.answers import lab, rich
from lkecore.errors import BadInput
from lkecore.models.lab import is_name
from lkecore.prompts.prompt import Prompt
from lkecore.stats import match
from lkecore.worlds import states, wordings, written

figures.style()

# %% [markdown]
# ## Facts
#
# **Lab models.** We take the facts of a {ref}`rich world <rich-worlds>`. The model writes about each test subject that has at least one fact stated four times
# or more. We count all facts of these subjects, also those that the text never states.
#
# **Real models** write about subjects of the {term}`atlas` with four relations or more. Nearly all of these are countries. We don't count facts whose
# object is a code: a code of two letters means much else in a text.

# %%
labs = [name for name in models if is_name(name)]
subjects = {}  # of each world or fact set, by kind
for world in lab.worlds(labs):
    stated = states(world).query("split == 'test' and sentences >= @least")
    kinds = stated["relation"].map(lambda name: wordings.about(name).subjects)
    subjects[world] = stated.groupby(kinds)["subject"].unique()
loaded = {
    name: facts.load(fact_set, name) for name in facts.relations(fact_set)
}
listed = [
    (fact.id, name, fact.subject, fact.true_names, not fact.alternatives)
    for name, relation in loaded.items()
    for fact in relation.facts
]
named = ["fact", "relation", "subject", "names", "single"]
listed = pd.DataFrame(listed, columns=named)
n = listed.groupby("subject")["relation"].nunique()
if (n := n[n >= n_relations]).empty:
    raise BadInput(f"{fact_set}: no subject has {n_relations} relations")
if len(labs) < len(models):
    some = np.random.default_rng(seed).permutation(n.index)[:n_subjects]
    subjects[fact_set] = {"subject": some}
listed = listed[~listed["relation"].map(lambda name: loaded[name].codes)]
{key: {k: len(v) for k, v in its.items()} for key, its in subjects.items()}

# %% [markdown]
# ## Prompts
#
# A lab model follows no instructions. It continues after the name alone, as its training text does, and always takes the likeliest token. It stops when
# it begins another document (the token `<s>`), or after 60 tokens. A real model without training on instructions continues after the name, too. SmolLM2 is asked
# to *write a paragraph*, as in the paper, between the marks of the conversations that it was trained on.

# %%
marks = """<|im_start|>system
You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>
<|im_start|>user
Write a paragraph about {}.<|im_end|>
<|im_start|>assistant
"""
chat = ["smollm2", "HuggingFaceTB/SmolLM2-1.7B-Instruct"]  # in these marks
by = ["model", *lab.BY]
to_write = {}
for model in models:
    about = lab.worlds([model])[0] if model in labs else fact_set
    context = marks if model in chat else "{}"
    asked = {
        (model, about, "paragraph", kind): [
            Prompt(name, kind, name, context.format(name), (name,), ("",), 0)
            for name in names
        ]
        for kind, names in subjects[about].items()
    }
    to_write |= answers.sample(asked, sources, 10, by=by)
this = "24_entropy_written"
wrote = answers.write(
    models,
    to_write,
    "answers-written.parquet",
    by=by,
    max_new_tokens=n_tokens,
    stop="<s>",
    reading=lambda rows: rows.drop(columns=["subject", "object"]),
    dtype=dtype,
)
said = f"{this}-written"
how = {"columns": ["text"], "least": 0.9, "dtype": dtype}
texts, _ = answers.shown(said, wrote, sources, **how)
begin = texts["fact"].where(~texts["model"].isin(chat), "")
whole = texts.assign(text=begin + texts["text"])
answers.html_table(whole[["model", "text"]].groupby("model").head(1))

# %% [markdown]
# ## Scores
#
# **What became of each fact.** The world's text is made of templates, 25 for each relation, and a lab model writes in the same templates. We read a sentence
# if it is one of them, filled with a subject and an object of the world. A fact *appeared* if the paragraph of its subject has its true object, or the
# object that the text states. It is *hallucinated* if the paragraph has only other objects of the relation. All other facts *didn't appear*. So we need no
# classifier.
#
# Real models write in words of their own. There a fact *appeared* if a name of a true object is in the paragraph, as whole words in any inflection, and is
# *hallucinated* if only names of other objects of the relation are. The subject's own name does not count, and true objects of its other relations are no
# hallucination. Such labels cannot see what a sentence says: the capital of a neighbour counts as hallucinated, *Spanish* food as the Spanish language,
# and *U.S. dollar* is not found as US Dollar. No person has checked them.


# %%
right, wrong, unsaid = classes = ["appeared", "hallucinated", "didn't appear"]
own = listed.groupby("subject")["names"].agg(lambda its: set().union(*its))


def by_names(text: str, names: set[str], others: set[str]) -> str:
    def found(some: set[str]) -> bool:
        return any(match.holds(text, name) for name in some)

    return right if found(names) else wrong if found(others) else unsaid


def labels(model: str, world: str, texts: dict[str, str]) -> pd.DataFrame:
    if is_name(model):
        return written.labels(world, texts).replace(written.NOT, unsaid)
    some = listed[listed["subject"].isin([*texts])]
    label = [
        by_names(
            texts[subject].replace(subject, "_"),
            names,
            {*loaded[relation].spellings} - own[subject],
        )
        for relation, subject, names in some[named[1:4]].to_numpy()
    ]
    return some.assign(label=label)


# %%
keys = ["model", "world"]
became = {
    key: labels(*key, dict(some.set_index("fact")["text"]))
    for key, some in whole.groupby(keys, sort=False)
}
became = pd.concat(became, names=keys).reset_index(keys)
counts = became.groupby(["model", "label"]).size().unstack("label")
counts.reindex(columns=classes).astype("Int64").rename(figures.display_name)

# %% [markdown]
# **How well the model knew each fact.** We measure at the blank, before and after a statement of the fact, as on {page}`53_lab_entropy`: KL-divergence and the
# change of {term}`entropy`. The {term}`rank` and {term}`surprisal` of the object's first token, and the entropy itself, need no statement. For all of them more
# is less known. We leave out facts with several true objects, and objects that share their first token with another object of the relation.

# %% covers=["PZ-D3"] shows=["run", "shipped"]
asked = {p.subject for some in to_write.values() for p in some}
its = {"n_shots": 0, "seed": seed, "leave_out": True}
samples = rich.samples(labs, [], lambda s: s["subject"].isin(asked), **its)
if fact_set in subjects:
    among = {*listed[listed["subject"].isin(asked) & listed["single"]]["fact"]}
    its |= {"n_facts": None, "n_options": 2, "n_pool": 0, "n_test": 10**6}
    drawn = facts.draw(
        fact_set, [*listed["relation"].unique()], among=among, **its
    )
    for name, some in drawn.items():
        every = some.facts, some.relation.objects, None, seed
        drawn[name] = replace(some, options=(*facts.draw_options(*every),))
    samples[fact_set] = drawn
by = ["world", *answers.READ_BY]
questions = {}
for world, its in samples.items():
    at = [models, its, [template], ["explicit"]]
    made = answers.at_blanks(*at, dtype=dtype, seed=seed)
    made = {(world, *key): some for key, some in made.items()}
    questions |= answers.sample(made, sources, 20, by=by)
ours = answers.ask_blanks(
    models,
    questions,
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
keys = ["model", "world", "relation", "fact"]
measured = rows.merge(became[[*keys, "subject", "label"]], on=keys)
shown = shown or measured["model"].iloc[0]

# %% [markdown]
# ## Answers
#
# **Means**, with 95 % intervals over subjects. Look at KL of lab models: facts that didn't appear have the *lowest* mean, as if the model knew them best. But here facts of all
# relations are together, and the paper compares within a relation.

# %% covers=["PZ-T3", "PZ-T4"] shows=["run", "shipped"]
ids = ["model", "label", "subject"]
long = measured.melt(ids, ["KL", "change of entropy", "surprisal"], "measure")
how = {"value": "value", "over": "subject", "bounds": None, "seed": seed}
means = stats.estimate(long, ["model", "measure", "label"], **how)
table = stats.table(means, ["model", "measure"], "label")
table.reindex(columns=classes).rename(figures.display_name, level=0)

# %% [markdown]
# KL of one model by relation: means, and numbers of facts. A cell without facts is blank.

# %%
mine = measured[measured["model"].eq(shown)]
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
    of = np.eye(len(names))[whose]  # (fact, subject)
    share = np.full(len(names), 1 / len(names))
    times = np.random.default_rng(seed).multinomial(len(names), share, 2000)
    times = np.vstack([np.ones(len(names)), times])  # row 0: data
    pairs_won = of[a].T @ (wins * same) @ of[b]  # (subject, subject)
    won, n = (
        (times @ each * times).sum(axis=1)
        for each in (pairs_won, of[a].T @ same @ of[b])
    )
    with np.errstate(invalid="ignore"):  # no such pair
        return stats.interval(pd.Series(won / n)).assign(n=len(names))


pairs = [(wrong, right), (unsaid, right), (unsaid, wrong)]
found = {
    (within, " or ".join(pair), model, measure): less_known(
        part, measure, *([name] for name in pair), within
    )
    for within in (False, True)
    for pair in pairs
    for model, part in measured.groupby("model", sort=False)
    for measure in measures
}
names = ["within", "pair", "model", "measure"]
found = pd.concat(found, names=names).reset_index(names)
table = found[found["within"]]
table = stats.table(table, ["pair", "model"], "measure")[measures]
table.rename(figures.display_name, level=1)

# %% [markdown]
# ## Real models
#
# What became of the facts of each relation:

# %%
real = became[~became["model"].map(is_name)]
cells = real.groupby(["model", "relation", "label"]).size().unstack()
cells = cells.reindex(columns=classes).astype("Int64").astype(object).fillna("")
cells.rename(figures.display_name, level=0)

# %% [markdown]
# SmolLM2 names few objects in 60 tokens. So few of its facts appeared, and very few are hallucinated. Nearly all of these are languages, and there the name
# often belongs to something else: *the Czech Republic* names no language. By surprisal and KL, pairs with a hallucinated fact show nothing, since their
# intervals contain one half. One thing is shown: within a relation, facts that didn't appear look less known by surprisal than facts that appeared. By KL
# this is not shown.

# %% [markdown]
# ## Figure
#
# In {numref}`fig-written-auroc` compare surprisal and KL. A caution: a fact appears because the model found its object likely, and surprisal says how likely
# the object is in another sentence. So the two are close relatives. But surprisal needs no statement of the fact, and KL does.

# %% tags=["hide-input"]
main = found[found["model"].map(is_name) == is_name(shown)]
main = main.assign(model=main["model"].map(figures.display_name))
aurocs = main[~main["within"]]
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
    tested[key] = row.assign(**on, **(row[ends] - 0.5)).dropna()
tested = {key: row for key, row in tested.items() if len(row)}
verdicts = answers.verdicts(tested)
verdicts[["claim", "model", *ends, "verdict"]].round(3)

# %% tags=["hide-input", "page-only"]
names = ["model", "pair", "measure"]
at, own = (
    some.set_index(names)["estimate"].unstack(names[1:])
    for some in (aurocs, main[main["within"]])
)
first, second, third = (at[" or ".join(pair)] for pair in pairs)
s, kl = first["surprisal"], first["KL"]
own = own.xs("KL", axis=1, level="measure").drop(columns=" or ".join(pairs[0]))
low = means[means["measure"].eq("KL")].pivot(index="model", columns="label")
low = low["estimate"].rename(figures.display_name).loc[at.index]
theirs = found[found["within"] & ~found["model"].map(is_name)]
theirs = theirs[theirs["measure"].isin(["surprisal", "KL"])]
shows = theirs[theirs["low"].gt(0.5) | theirs["high"].lt(0.5)]
invented = real.loc[real["label"].eq(wrong), "relation"]
holds = {
    "One thing is shown": shows[names[1:]].to_numpy().tolist()
    == [[" or ".join(pairs[1]), "surprisal"]],
    "Nearly all of these": invented.eq("official_language").mean() > 0.8,
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
assert not won or abs(won / len(one) / len(other) - own) < 1e-9

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
often = became[became["model"].map(is_name)].assign(occurrences=np.nan)
if len(often):
    often = rich.with_states(often.drop(columns="occurrences"), ["occurrences"])
often = often.groupby(["model", "label"])["occurrences"].describe().round(1)
often.rename(figures.display_name, level=0)

# %% [markdown]
# Most of the appeared facts are stated often. The two other classes differ less. A quarter of the facts that didn't appear are stated 16 times or
# more, so a model also leaves out what its text often states.
#
# ````{solution-end}
# ````
