# %% [markdown]
# # Can telling stand for teaching?
#
# **On real facts, how far an answer of {glue:text}`name_model` moves when the fact is told says nothing of how far it moves when
# the fact is taught (a correlation of {glue:text}`alike:.2f`); and {glue:text}`first:.0%` of the objects come first when they were just told,
# {glue:text}`copied:.0%` also when they were told of somebody else.**
#
# ```{glue:figure} fig-taught
# :name: fig-taught
# :alt: Two panels of points, a point for each fact, of KL when taught over KL when told, both logarithmic, with a dashed diagonal: a real model, and a model of the lab.
#
# Points do not follow the diagonal, nor any other line. How far the answer moves when the fact is taught, over how far it moves when
# it is told; a point is a fact, both axes are logarithmic. Dashed: both the same.
# ```
#
# There are two ways to give a model a fact. One can *tell* it, in front of the question. Or one can *teach* it: train the model on
# this one fact, ask, and put all weights back. Telling takes a sentence; teaching a gradient and a copy of the model. The
# correlation has an interval of {glue:text}`between`.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` compares {term}`explicit <explicit instillation>` with implicit instillation on BERT and T5, with
# 100 facts of each of 41 relations (Section 5.2, Figures 3 and 4; the values of the marks are lost). It sees a strong correlation.
# Where the two differ, most objects are places or languages, it says; and so they are where a told fact is not repeated, about
# 80 % of the failures of two larger models (Section 5.3: the object is not among the five likeliest tokens behind the fact). But
# 22 of its 41 relations are about places and languages, so more than half of anything would be. How long and how fast it
# teaches it does not say.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]
fact_set: str = "lab:rich-1"  # a world that they have read, or real facts
relations: list[str] = ["residence", "instrument", "company_language"]
template: str = "template-1"  # of question, statement and lesson
templates: str = ""  # a table of templates, for relations without any
n_facts: int = 12  # facts asked in each relation
often: int = 16  # times at least that a world's text told them
n_taught: int = 2  # of these that are taught as well
optimizer: str = "sgd"  # sgd or adamw
rate: float = 0.003  # learning rate
at: list[int] = [1, 2, 5]  # steps after which the model is asked
steps: int = 5  # after which the page compares
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws facts, other subjects and objects, and resamples
dtype: str = "float32"  # half precision rounds a lesson away

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, prompts, runs, stats, worlds
from lkecore.answers import rich
from lkecore.errors import BadInput
from lkecore.prompts import given
from lkecore.tasks import instill

figures.style()

# %% [markdown]
# ## Facts
#
# What is asked here are a few facts of a {ref}`rich world <rich-worlds>`, to show the machine at work: facts that its text tells 16 times
# and more, and never-told controls. The numbers of the page come from longer runs: two real models on facts of 35 relations of
# T-REx, and models of three worlds.

# %%
among = None
if worlds.is_rich(fact_set):  # told often, and their controls
    states = worlds.states(fact_set)
    told = states["state"].eq("planted") & states["occurrences"].ge(often)
    some = rich.or_controls(states, told) & states["n_objects"].eq(1)
    among = set(states.loc[some & states["split"].eq("test"), "fact"])
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2}
drawn = {**size, "take_fewer": True, "leave_out": True, "seed": seed}
sample = facts.draw(fact_set, relations, among=among, **drawn)
left_out = {}
if templates:
    causal = answers.any_causal(models, dtype=dtype)
    sample, left_out = prompts.with_templates_of(
        sample, templates, causal=causal
    )
for name, why in left_out.items():
    print(f"{name}: left out, {why}")
print({name: len(of.facts) for name, of in sample.items()})

# %% [markdown]
# ## Prompts
#
# Every question is asked by itself and behind four statements. Only the first one tells the fact. `unrelated` is another fact
# of the relation, `copied` tells the same object of another subject, `false` another object of this one. The lesson is the question
# with its object in the blank, and only the tokens of the object are learned.

# %% covers=["PZ-S2"]
kinds = prompts.INSTILLATIONS
questions = answers.at_blanks(
    models, sample, [template], kinds, dtype=dtype, seed=seed
)
if at != sorted({*at}) or min(at, default=0) < 1 or steps not in at:
    raise BadInput(f"at {at}: must rise from 1 or more, and have steps {steps}")
if n_taught < 0:
    raise BadInput(f"n_taught {n_taught}: must be 0 or more")
recipe, lesson = (
    instill.Recipe(at[-1], rate, optimizer),
    f"{optimizer} {rate:g}",
)
for name in models if n_taught else ():  # before the first is asked
    instill.check(answers.opened(name, dtype), recipe)
lessons = {
    (reader, name, lesson, relation): [each.asked for each in some[:n_taught]]
    for (reader, name, kind, relation), some in questions.items()
    if kind == "explicit"
}
for (_, _, kind, _), some in list(questions.items())[:: len(sample)]:
    print(f"{kind:9} {some[0].told.context} ____")

# %% [markdown]
# ## Scores
#
# $P$ is the distribution over all tokens at the blank before, $Q$ the one behind a statement or after the lesson, and `kl` is
# $\mathrm{KL}(P \| Q)$ in nats. Only the first token of an object is read, so an object counts if no other one of its relation
# begins with it. Rates and steps were chosen on other facts ({doc}`log <../log>`).

# %%
said = answers.ask_blanks(
    models,
    answers.sample(questions, sources, by=answers.READ_BY),
    "answers.parquet",
    by=answers.READ_BY,
    sample=sample,
    dtype=dtype,
).assign(source="this run")
learned = said.iloc[:0].assign(lesson=lesson, steps=steps)
if n_taught:
    by = ["reader", "estimator", "lesson", "relation"]
    learned = answers.ask_taught(
        models,
        answers.sample(lessons, sources, by=by),
        "answers-taught.parquet",
        recipe,
        at=at,
        by=by,
        dtype=dtype,
    ).assign(source="this run")
told, statements = said[said["instillation"] == "explicit"], said
if sources:
    this = "22_entropy_instilled"
    ships = answers.results(this).query("instillation == 'explicit'")
    # The two options of a question, which none of these reads, are others there.
    apart = ["question", "source"]
    told, learned = (f.drop(columns=apart) for f in (told, learned))
    answers.agree(told, ships, this, dtype=dtype)
    names = f"{this}-taught", f"{this}-also", "23_entropy_kinds-taught"
    lessons_of = pd.concat([answers.results(name) for name in names])
    read = ["entropy", "first_after"]
    answers.agree(
        learned, lessons_of, names[0], dtype=dtype, columns=read, least=0.9
    )
    ships = ships[ships["estimator"] == template]
    told = pd.concat([ships, answers.results("23_entropy_kinds-told")])
    statements, learned = answers.results("23_entropy_kinds"), lessons_of
told, statements, learned = (
    each[each["source"].isin(sources or ["this run"])].astype({"fact": str})
    for each in (told, statements, learned)
)
answers.columns(statements)

# %% [markdown]
# ## Answers
#
# **Do the two agree?** For each model and lesson Spearman's correlation over facts, after the steps that were chosen (5 in the lab, 10 on
# T-REx), $r$ of told and taught KL, with what other facts might have given. `factor` is the share of facts whose two KLs
# differ by more than a factor of two.

# %% covers=["PZ-S3", "PZ-F3", "PZ-F4"] needs={"PZ-S3": {"n_taught": 1}, "PZ-F3": {"n_taught": 1}, "PZ-F4": {"n_taught": 1, "models": 2}} shows=["run", "shipped"]
chosen = learned["source"].map({"entropy_trex": 10}).fillna(steps)
taught_to = learned[(learned["steps"] == chosen) & learned["kl"].notna()]
key = ["source", "model", "relation", "fact"]
own = ~(told["shared"].astype(bool) | told["merged"].astype(bool))
told = told.loc[own, [*key, "kl", "surprisal"]].rename(columns={"kl": "told"})
both = taught_to[[*key, "lesson", "kl"]].rename(columns={"kl": "taught"})
both = both.merge(told, on=key, validate="m:1")
both = both.sort_values(["relation", "fact"])
far = both[["told", "taught"]].max(axis=1)
both["apart"] = (far > 2 * both[["told", "taught"]].min(axis=1)) & (far > 0.05)


def alike(part: pd.DataFrame) -> pd.Series:
    r = stats.relate(part, "told", "taught", ranks=True, seed=seed)
    return stats.interval(r).iloc[0]


by = ["source", "model", "lesson"]
many = both.groupby(by)["fact"].transform("size") > 2
groups = both[many].groupby(by, sort=False)
each = {name: alike(part) for name, part in groups}
r = table = pd.DataFrame(columns=["estimate", "low", "high"])
if each:
    r = pd.concat(each, names=by).unstack().reindex(columns=r.columns)
    r = r.loc[list(each)]
    table = r.assign(r=r.apply(stats.said, axis=1), facts=groups.size())
    apart = groups["apart"].mean().mul(100).round()
    table["factor"] = apart.map("{:.0f} %".format)
    table = table[["facts", "r", "factor"]].rename(figures.called, level=1)
runs.keep(r.reset_index(), "alike.csv")
table

# %% [markdown]
# **Which finds what a text told?** In the lab each fact that was told 16 times and more has a control, of the same kind and never told. The
# AUROC says how often the KL of a told fact is below that of a control: 1 where it always is, 0.5 where it says nothing. The
# *surprisal* of the object, before anything is told or taught, needs neither.


# %%
def found(part: pd.DataFrame) -> pd.DataFrame:
    """Resamples of the AUROCs, of a frame with one model and lesson."""
    columns = ["told", "taught", "surprisal"]
    left = part[part["state"] == "planted"]
    right = part.set_index("fact")[columns].reindex(left["control"])
    there = right.notna().all(axis=1).to_numpy()
    left, right = left[there], right[there]
    pairs = -left[columns], -right[columns].set_axis(left.index)
    return stats.auroc(*pairs, of=left["subject"], seed=seed)


both["world"] = both["model"].str.extract("^(lab:[^/]+)/", expand=False)
finds = pd.DataFrame()
if told_in := list(both["world"].dropna().unique()):
    states = [worlds.states(name).assign(world=name) for name in told_in]
    states = pd.concat(states)
    states = states[["world", "fact", "state", "control", "subject"]]
    of_text = both.merge(states, on=["world", "fact"], validate="m:1")
    enough = of_text["state"].eq("planted").groupby([of_text[k] for k in by])
    of_text = of_text[enough.transform("sum") > 1].groupby(by)
    finds = {name: stats.interval(found(part)) for name, part in of_text}
    names = ["told", "taught", "surprisal"]
    finds = {k: f.set_axis(names) for k, f in finds.items()}
    finds = pd.concat(finds, names=[*by, "by"])
    table = finds.apply(stats.said, axis=1).unstack("by")[names]
    table = table.rename(index=figures.called, level=1).droplevel("source")
table

# %% [markdown]
# By plain descent a taught fact of the largest decoders moves less where the text told it; by AdamW it moves *further* there, in
# all worlds and kinds. Surprisal finds more than any KL. The twins, which were told none of these facts, are at 0.5.
#
# **Where telling fails, and what it copies.** How often the true object comes first behind each statement. Behind `copied` it was told of
# somebody else: whoever names it then repeats a word, not a fact.

# %% covers=["PZ-X1", "PZ-D1", "PZ-D2"] needs={"PZ-D1": {"templates": "trex_templates"}, "PZ-D2": {"fact_set": "trex"}} shows=["run", "shipped"]
own = ~(statements["shared"].astype(bool) | statements["merged"].astype(bool))
asked = statements[own].assign(first=statements["rank_after"] == 1)
asked["failed"] = asked["rank_after"] > 5
asked["kind"] = asked["relation"].map(given.kinds_of(sample)).fillna("other")
who = ["source", "model"]
first = stats.estimate(
    asked, [*who, "instillation"], value="first", over="share"
)
of_kind = asked[asked["instillation"] == "explicit"]
of_kind = of_kind.groupby([*who, "kind"])["failed"].agg(["mean", "sum", "size"])
of_kind.rename(index=figures.called, level=1).round(3).droplevel("source")

# %% [markdown]
# Failures are few. Whether they are mostly about places and languages has to be asked with the share of these among all facts beside
# it; and since kinds are of relations, relations are drawn again, not facts.


# %%
def places(rows: pd.DataFrame, some: str) -> pd.Series:
    """The share of places and languages among some facts minus that of all."""
    place = rows["kind"].isin(["location", "language"])
    n = pd.DataFrame({"place": place, "some": rows[some].astype(bool), "n": 1})
    n["both"] = n["place"] & n["some"]
    n = n.astype(int).groupby(rows["relation"]).sum()
    times = np.random.default_rng(seed).multinomial(
        len(n), np.full(len(n), 1 / len(n)), 10_000
    )
    w = pd.DataFrame(np.vstack([np.ones(len(n)), times]) @ n, columns=n.columns)
    share = w["both"] / w["some"].where(w["some"] > 0) - w["place"] / w["n"]
    return stats.interval(share.dropna().to_frame("places")).iloc[0]


asked["sure"] = asked["rank"] <= 5
lead = asked.groupby("model")["sure"].mean().idxmax()  # knows most of them
mine = asked[asked["model"] == lead]
wide = mine.assign(fact=mine["relation"] + "/" + mine["fact"])
wide = wide.pivot(index="fact", columns="instillation", values="first")
wide = wide.dropna().astype(float).reset_index()
wide["gap"] = wide["explicit"] - wide["copied"]
gap = stats.estimate(wide, value="gap", over="fact", bounds=None, seed=seed)
mine = mine[mine["instillation"] == "explicit"]
both["kind"] = both["relation"].map(given.kinds_of(sample)).fillna("other")
real = both[both["world"].isna()]
apart = real.groupby("model")["apart"].mean()
apart = list(apart[apart.between(0, 1, inclusive="neither")].index)[-1:]
gap

# %% [markdown]
# ## Figures
#
# In {numref}`fig-taught`, at the top, look for a line: there is none. In {numref}`fig-taught-statements` compare `explicit` with
# `copied`: what is between them is what the model has understood of *whom* it was told.
#
# ```{glue:figure} fig-taught-statements
# :name: fig-taught-statements
# :alt: For each of four statements the share of facts whose true object comes first behind it, a mark with an interval for each model.
#
# `copied` comes near to `explicit`. How often the true object comes first behind each kind of statement; lines: 95 % over facts.
# ```

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

panels = [(lead, real[real["model"] == lead])]
if told_in:
    world = both[both["world"] == told_in[0]]
    large = "2m" if world["model"].str.endswith("/2m").any() else ""
    large = f"{told_in[0]}/{large}" if large else world["model"].iloc[0]
    panels += [(large, world[world["model"] == large])]
panels = [(name, part) for name, part in panels if len(part)]
size = {"figsize": (5 * len(panels), 4.4), "layout": "constrained"}
fig, axes = plt.subplots(1, max(1, len(panels)), squeeze=False, **size)
points = []
for ax, (name, part) in zip(axes[0], panels, strict=False):
    part = part[part["lesson"].str.startswith(optimizer)]
    ax.loglog(part["told"], part["taught"], ".", alpha=0.6)
    ends = part[["told", "taught"]].min().min(), part["told"].max()
    ax.loglog(ends, ends, color=figures.DARK, ls="--", lw=1)
    ax.set(title=figures.called(name), xlabel="KL when told (nats)")
    ax.set_ylabel("KL when taught (nats)")
    points.append(part[[*by, "relation", "fact", "told", "taught"]])
figures.place(fig, "fig-taught", pd.concat(points) if points else first)

# %% tags=["hide-input"]
order = {kind: i for i, kind in enumerate(prompts.INSTILLATIONS)}
marks = first.sort_values("instillation", key=lambda k: k.map(order))
marks["who"] = marks["model"].map(figures.called)
label = "true object first (share of facts)"
grid = figures.marks(
    marks, x="instillation", hue="who", aspect=1.6, label=label
)
figures.place(grid.figure, "fig-taught-statements", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper prints no correlation. Its 80 % of failures are of other models and of facts that we cannot draw again. **Claims** on real facts are
# decided on the model that knows more of them (on the other one where all its facts differ); those of the lab on the largest decoder
# that all three worlds have, and on BERT and T5, one value a world. The 2M decoders often do not repeat what a statement tells
# ({page}`50_lab_truth`), so that what telling moves in them says less.


# %%
def of_worlds(rows: pd.DataFrame, sizes: list[str], optimizer: str) -> dict:
    """An estimate over worlds, of one value a world: the mean over models."""
    rows = rows.reset_index()
    rows[["world", "size"]] = rows["model"].str.split("/", expand=True)
    rows = rows[rows["size"].isin(sizes)]
    rows = rows[rows["lesson"].str.startswith(optimizer)]
    rows = rows.groupby("world")["estimate"].mean().reset_index()
    return stats.estimate(rows, value="estimate", over="world", bounds=None)


claims = {"PZ-fails-copied": gap}
if mine["failed"].sum() >= 10 and mine["relation"].nunique() > 1:
    claims["PZ-fails-places"] = places(mine, "failed")
if any(model == lead for _, model, _ in each):
    claims["PZ-taught-alike"] = r.xs(lead, level="model").iloc[0]
if apart:
    some = real[real["model"] == apart[0]]
    claims["PZ-taught-places"] = places(some, "apart")
if not sources:
    on = {"decided_on": fact_set, "model": lead}
    claims = {k: pd.Series(row.squeeze()) for k, row in claims.items()}
    claims = {k: pd.concat([row, pd.Series(on)]) for k, row in claims.items()}
else:
    auroc = finds.xs("taught", level="by")
    less = auroc - finds.xs("surprisal", level="by")
    twin = auroc - 0.5
    claims |= {
        "LAB-taught-alike": of_worlds(r, ["2m"], "sgd"),
        "LAB-taught-alike-adamw": of_worlds(r, ["2m"], "adamw"),
        "LAB-taught-alike-blanks": of_worlds(r, ["bert", "t5"], "sgd"),
        "LAB-taught-finds": of_worlds(auroc, ["2m"], "sgd"),
        "LAB-taught-finds-adamw": of_worlds(auroc, ["2m"], "adamw"),
        "LAB-taught-surprisal": of_worlds(less, ["2m"], "sgd"),
        "LAB-taught-twin": of_worlds(twin, ["0.7m-unplanted"], "sgd"),
    }
judged = answers.verdicts(claims)
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
alone = first.set_index(["model", "instillation"])["estimate"].loc[lead]
unknown = pd.Series(index=["estimate", "low", "high"], dtype=float)
between = claims.get("PZ-taught-alike", unknown)
holds = {}
if sources:
    by_adamw = auroc[auroc.index.get_level_values("lesson").str.match("adamw")]
    model = by_adamw.index.get_level_values("model")
    by_adamw = by_adamw[~model.str.endswith("unplanted")]
    best = finds["estimate"].unstack("by")
    best = best[~best.index.get_level_values(1).str.endswith("unplanted")]
    of_lab = r["estimate"].index.get_level_values(0) == "entropy_lab"
    copied = alone["copied"] > 0.5 * alone["explicit"]
    holds = {
        "says nothing of how far": between["low"] < 0 < between["high"],
        "also when they were told of somebody else": copied,
        "nor any other line": r["estimate"][of_lab].max() < 0.5,
        "it moves further there": (by_adamw["high"] < 0.5).all(),
        "finds more": (best["surprisal"] == best.max(axis=1)).all(),
    }
figures.sentence(holds)
figures.findings(
    name_model=figures.called(lead),
    alike=between["estimate"],
    between=stats.said(between),
    effect=f"correlation {stats.said(between)}",
    asked=figures.called(lead),
    first=alone["explicit"],
    copied=alone["copied"],
)

# %% [markdown]
# ## What you have seen
#
# - Telling and teaching are not two ways to the same number: how far a fact moves by one says little or nothing of how far it moves by the
#   other.
# - What a lesson says depends on the optimizer, and so on us.
# - A part of what moves an answer behind a statement is copying, and a measure that is made of this movement measures copying, too.
# - A share among failures has to be shown with the share among all.
#
# **Counted again** with scipy: the correlation at the top of the page.

# %%
from scipy.stats import spearmanr

if "PZ-taught-alike" in claims:
    part = real[real["model"] == lead]
    again = spearmanr(part["told"], part["taught"]).statistic
    assert abs(again - claims["PZ-taught-alike"]["estimate"]) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-taught-relation
# Is it the kind, or single relations? List the relations with the largest share of facts that are not repeated.
# ```

# %% [markdown]
# ````{solution-start} ex-taught-relation
# :class: dropdown
# ````

# %%
worst = mine.groupby(["kind", "relation"])["failed"].agg(["mean", "size"])
worst.sort_values("mean", ascending=False).head(8).round(2)

# %% [markdown]
# Where one relation of a kind fails and its others do not, the kind is not the reason.
#
# ````{solution-end}
# ````
#
# On real facts, with a model of your own (`n_taught: 0` teaches nothing; a step takes a real model a second on a laptop):
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 22_entropy_instilled
#     parameters:
#       models: [smollm2]
#       fact_set: atlas
#       relations: [capital, currency, film_language]
#       rate: 0.001
#       sources: []
# ```
