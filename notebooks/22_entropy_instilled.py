# %% [markdown]
# # Does stating a fact in the prompt do what training on it does?
#
# **An answer that moves far when the prompt states the fact need not move far when the model is trained on it: correlations are
# {glue:text}`real` in real models, {glue:text}`low:.2f` to {glue:text}`high:.2f` in the lab.**
#
# ```{glue:figure} fig-taught
# :name: fig-taught
# :alt: A panel for each of two real models and a model of the lab, with a point for each fact, at its place by how far a statement moves the answer and its place by how far training does.
#
# In no panel do the points follow a line. A point is a fact. Left to right: its place among all facts by how far the answer moves after a statement, from the
# least to the most. Bottom to top: its place by how far the answer moves after training on the fact.
# ```
#
# There are two ways to give a model a fact. One can *state* it, in front of the question. Or one can *teach* it: train the model on
# this one fact, ask, and put all weights back. A statement takes a sentence; a lesson takes a gradient and a copy of the model. With intervals:
# {glue:text}`between`.
#
# Much of what a statement moves is copied. After a statement of the fact the right object comes first for {glue:text}`first:.0%` of the facts
# ({glue:text}`name_model`), and still for {glue:text}`copied:.0%` if the statement is about somebody else.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` compares {term}`explicit <explicit instillation>` with implicit instillation on BERT and T5, with
# 100 facts of each of 41 relations (Section 5.2, Figures 3 and 4; the values of the marks are lost). It sees a strong correlation.
# If the two differ, it says, most objects are places or languages. It says the same of facts that a model does not repeat: their object is not among the
# five likeliest tokens after the statement, and about 80 % of these failures of two larger models are places and languages (Section 5.3). But 22 of its 41
# relations are about places and languages, so more than half of any facts would be. The paper does not say how long and how fast it teaches.

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
# This run asks a few facts of a {ref}`rich world <rich-worlds>`, to show the machine at work: facts that its text states 16 times
# or more, and controls that it never states. The numbers of the page come from longer runs: two real models on facts of 35 relations of
# T-REx, and models of three worlds.

# %%
among = None
if worlds.is_rich(fact_set):  # told often, and their controls
    states = worlds.states(fact_set)
    told = states["state"].eq("planted") & states["occurrences"].ge(often)
    some = rich.or_controls(states, told) & states["n_objects"].eq(1)
    among = set(states.loc[some & states["split"].eq("test"), "fact"])
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2}
drawn = {**size, "allow_fewer": True, "leave_out": True, "seed": seed}
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
# Every question is asked by itself and after each of four statements. Only the first, `explicit`, states the fact. `unrelated` states another fact
# of the relation, `copied` states the same object of another subject, and `false` states another object of this subject. The lesson is the question
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
# $P$ is the distribution over all tokens at the blank by itself, $Q$ the distribution after a statement or after the lesson, and `kl` is
# $\mathrm{KL}(P \| Q)$ in nats. Only the first token of an object is read, so an object counts if no other object of its relation
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
# **Do the two agree?** For each model and lesson, $r$ is Spearman's correlation over facts between the KL after a statement and the KL after the chosen
# number of steps (5 in the lab, 10 on T-REx), with an interval over other facts. `factor` is the share of facts whose two KLs
# differ by more than a factor of two. A lesson on T-REx is strong: for nine in ten facts it moves the answer of {glue:text}`name_model` by more than
# {glue:text}`strong:.0f` nats, so little difference is left between facts. The other models learn more gently, and their correlations are between.

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
    table = r.assign(
        r=r.apply(stats.format_estimate, axis=1), facts=groups.size()
    )
    apart = groups["apart"].mean().mul(100).round()
    table["factor"] = apart.map("{:.0f} %".format)
    table = table[["facts", "r", "factor"]].rename(
        figures.display_name, level=1
    )
runs.save(r.reset_index(), "alike.csv")
table

# %% [markdown]
# **Which finds the facts of a text?** In the lab each fact that the text states 16 times or more has a control of the same kind that it never states. The
# AUROC says how often the KL of a stated fact is below the KL of its control: 1 if it always is, 0.5 if KL says nothing. The third column is the
# *surprisal* of the object, which needs neither a statement nor a lesson.


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
    table = finds.apply(stats.format_estimate, axis=1).unstack("by")[names]
    table = table.rename(index=figures.display_name, level=1).droplevel(
        "source"
    )
    table.columns = ["KL after statement", "KL after lesson", "surprisal"]
table

# %% [markdown]
# In the largest decoders, a lesson by plain descent moves an answer less if the text states the fact. A lesson by AdamW moves it *further* then, in
# all worlds and kinds. Surprisal finds more than any KL. The twins, whose text states none of these facts, are at 0.5.
#
# **When does a statement fail, and what is copied?** How often the model does not repeat the true object after a statement of the fact: the object is not
# among the five likeliest tokens.

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
of_kind.rename(index=figures.display_name, level=1).round(3).droplevel("source")

# %% [markdown]
# Failures are few. Are they mostly about places and languages? Their share has to be compared with the share of places and languages among all facts.
# Kinds belong to relations, so relations are drawn again, not facts.


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
# In {numref}`fig-taught`, at the top, look for a line: there is none. In {numref}`fig-taught-statements` compare the first kind of statement with the
# third: the difference is what the model has understood about *whom* the statement is about.
#
# ```{glue:figure} fig-taught-statements
# :name: fig-taught-statements
# :alt: For each of four statements the share of facts whose true object comes first after it, a mark with an interval for each model.
#
# After a statement about somebody else the true object comes first more than half as often as after the fact itself. How often the true object comes first
# after each kind of statement; lines: 95 % intervals over facts.
# ```

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

panels = [
    (name, real[real["model"] == name]) for name in real["model"].unique()
]
if told_in:
    world = both[both["world"] == told_in[0]]
    large = "2m" if world["model"].str.endswith("/2m").any() else ""
    large = f"{told_in[0]}/{large}" if large else world["model"].iloc[0]
    panels += [(large, world[world["model"] == large])]
panels = [(name, part) for name, part in panels if len(part)]
n = max(1, len(panels))
size = {"figsize": (3.6 * n, 3.8), "layout": "constrained", "sharey": True}
fig, axes = plt.subplots(1, n, squeeze=False, **size)
points = []
for ax, (name, part) in zip(axes[0], panels, strict=False):
    part = part[part["lesson"].str.startswith(optimizer)]
    place = part[["told", "taught"]].rank(pct=True)
    ax.plot(place["told"], place["taught"], ".", alpha=0.6)
    ax.set(
        title=figures.display_name(name), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1]
    )
    points.append(part[[*by, "relation", "fact", "told", "taught"]])
fig.supxlabel(
    "place among facts, by KL after a statement (0: least)", fontsize=12
)
axes[0][0].set_ylabel("place, by KL after training")
figures.glue_figure(fig, "fig-taught", pd.concat(points) if points else first)

# %% tags=["hide-input"]
order = {kind: i for i, kind in enumerate(prompts.INSTILLATIONS)}
marks = first.sort_values("instillation", key=lambda k: k.map(order))
marks["model asked"] = marks["model"].map(figures.display_name)
statement = {
    "explicit": "the fact", "unrelated": "another fact",
    "copied": "its object, another subject",
    "false": "its subject, another object",
}  # fmt: skip
marks["statement"] = marks["instillation"].map(statement)
label = "true object first (share of facts)"
look = {"hue": "model asked", "label": label, "across": True}
look |= {"height": 2.6, "aspect": 1.8}
grid = figures.marks(marks, x="statement", **look)
figures.glue_figure(grid.figure, "fig-taught-statements", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper prints no correlation. Its 80 % of failures are of other models and of facts that we cannot draw again. **Claims** on real facts are
# decided on the model that knows more of them (on the other model if all facts of the first differ). Claims on the lab are decided on the largest decoder
# that all three worlds have, and on BERT and T5, one value a world. The 2M decoders often do not repeat the object of a statement
# ({page}`50_lab_truth`), so a statement says less about them.


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
    share = first.pivot(index="model", columns="instillation")["estimate"]
    holds = {
        "says little": r[["low", "high"]].abs().max(axis=None) < 0.5,
        "more than half as often": (
            (share["copied"] > 0.5 * share["explicit"]).all()
        ),
        "it moves further then": (by_adamw["high"] < 0.5).all(),
        "finds more": (best["surprisal"] == best.max(axis=1)).all(),
    }
figures.sentence(holds)
in_lab = np.array([name.startswith("lab:") for _, name, _ in r.index], bool)
of_real, of_lab = r[~in_lab], r.loc[in_lab, "estimate"]
names = [figures.display_name(name) for _, name, _ in of_real.index]
texts = [stats.format_estimate(row) for _, row in of_real.iterrows()]
figures.glue_values(
    name_model=figures.display_name(lead),
    real=" and ".join(f"{x:.2f}" for x in of_real["estimate"]) or "–",
    low=of_lab.min(),
    high=of_lab.max(),
    between="; ".join(f"{n}, {t}" for n, t in zip(names, texts, strict=True)),
    effect=f"correlation {' and '.join(texts)}",
    asked=" and ".join(names),
    strong=real.loc[real["model"] == lead, "taught"].quantile(0.1),
    first=alone["explicit"],
    copied=alone["copied"],
)

# %% [markdown]
# ## What you have seen
#
# - A statement in the prompt and training on the fact do not give the same number. How far one moves an answer says little about how far the other does.
# - The result of a lesson depends on the optimizer, which we choose.
# - A part of what a statement moves is copying. A measure of this movement also measures copying.
# - A share among failures has to be shown beside the share among all.
#
# **Counted again** with scipy: one of the correlations at the top of the page.

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
# If one relation of a kind fails and the others do not, the kind is not the reason.
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
