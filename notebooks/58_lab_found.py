# %% [markdown]
# # How much does one way of asking miss, and how sure is sure?
#
# **Of the facts that its text told often, {glue:text}`name_shown` gives back {glue:text}`best:.0%` by the best single way of asking and
# {glue:text}`any:.0%` by one of five ways or another, and where the text tells two or three objects of a fact, one with a quarter of
# the tellings has {glue:text}`quarter` of the confidence in them.**
#
# ```{glue:figure} fig-found-forms
# :name: fig-found-forms
# :alt: Marks and intervals of accuracy for five ways of asking over the form in which facts were told, for one model.
#
# Pairs find what stood in lists, and sentences lose little of it; what stood in sentences pairs mostly miss. Facts told often, one
# model; 95 % intervals over facts (Wilson).
# ```
#
# A model gives a wrong answer. Perhaps it does not know the fact, perhaps it was asked in the wrong way. With real facts nobody can tell these
# two apart. Here we wrote the text that the models read, and know which facts it told, how often and in which words.

# %% [markdown]
# ## What the paper claims
#
# No paper stands behind this page. {cite:t}`wu2024iclke` find that pairs give back more than templates, and that what a template finds is mostly
# found by pairs, too ({page}`13_iclke_estimators`). {cite:t}`allenzhu2024storage` (Part 3.1) find in models like ours that a fact told in one
# wording is hard to get at by another question. And two papers of this book read confidence as a measure of knowledge, which real facts cannot check.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
relations: list[str] = []  # empty: all in which nothing hints at an object
often: int = 16  # tellings from which a fact counts as told often
n_shots: int = 50  # pairs shown before the question, for IC-LKE
sources: list[str] = []  # in results/, of the numbers; none: this run
shares: list[str] = []  # and of the answers about planted shares
shown: str = ""  # the model of sentence and figures; empty: the first
seed: int = 0  # draws shots, wordings, order of options and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, figures, prompts, stats
from lkecore.answers import lab, rich
from lkecore.facts.drawn import Drawn
from lkecore.stats import choice
from lkecore.worlds import wordings as of_world

figures.style()

# %% [markdown]
# ## Facts
#
# Facts of a {ref}`rich world <rich-worlds>`, of the fourteen relations in which no name hints at an object; {page}`56_lab_fooled` asks
# the others. They were told once to 64 times, in lists of pairs, in sentences, or in both, and half of them never.


# %%
def as_told(states: pd.DataFrame) -> pd.Series:
    """Facts without a cue that are told as they are, or never."""
    plain = states["state"].isin(["planted", "never"])
    return plain & states["relation"].isin(uncued)


about = {name: of_world.about(name) for name in of_world.relations()}
uncued = [name for name, of in about.items() if not of.cue]
names = relations or uncued
samples = rich.samples(models, names, as_told, n_shots=n_shots, seed=seed)
told = ["form", "occurrences", "templates"]
facts = rich.with_states(rich.asked_facts(samples), told)
pd.crosstab(facts["form"], facts["occurrences"])

# %% [markdown]
# ## Prompts
#
# All facts are asked by pairs, and by four sentences of four kinds: a statement, a noun, a question, an instruction. All stand in the
# text, which tells each fact in some of its 25 wordings. Facts that one sentence alone tells are asked three more times: by that
# sentence, by a paraphrase of the same kind, and by a sentence of another kind.


# %%
wordings = ["its own wording", "a paraphrase of it", "another kind of sentence"]
kinds = dict(enumerate(of_world.groups(), start=1))  # of template-1, ...
ends = [i for i, kind in kinds.items() if kind != "object first"]


def in_wordings(of: Drawn, told: pd.Series) -> dict[str, list[prompts.Prompt]]:
    """Questions about facts by the one template that tells them, and by two others."""
    made = {name: [] for name in wordings}
    has, rng = prompts.templates_of(of.relation), np.random.default_rng(seed)
    for fact, options in zip(of.facts, of.options, strict=True):
        own = told.get(fact.id)
        if own in ends:
            kin = [i for i in ends if kinds[i] == kinds[own]]
            near = rng.choice([i for i in kin if i != own])
            far = rng.choice([i for i in ends if i not in kin])
            for name, i in zip(wordings, (own, near, far), strict=True):
                some = prompts.template(has[f"template-{i}"], [fact], [options])
                made[name] += some
    return made


ways = ["iclke-space", "template-1", "template-6", "template-16", "template-21"]
questions = lab.questions(samples, ways)
once = facts["form"].eq("sentence") & facts["templates"].str.fullmatch(r"\d+")
for world, sample in samples.items():
    told = facts[once & facts["world"].eq(world)].set_index("fact")
    for relation, of in sample.items():
        made = in_wordings(of, told["templates"].astype(int))
        questions |= {(world, w, relation): q for w, q in made.items() if q}
for name in ways:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# ## Scores
#
# What this run asks are the smallest models whose weights ship. The numbers of the page are of longer runs, with the larger models of three
# worlds. An `-unplanted` {term}`twin <unplanted twin>` read the same text told of other subjects, so none of these facts was told to it.


# %%
def read(lm, scores: pd.DataFrame) -> pd.DataFrame:
    return choice.answers(scores)[["fact", "correct", "confidence_gold"]]


this = "58_lab_found"
questions = answers.sample(questions, sources, by=lab.BY)
ours = answers.ask(
    models,
    questions,
    "answers.parquet",
    by=lab.BY,
    reading=read,
    dtype=dtype,
)
every, _ = answers.shown(this, ours, sources, dtype=dtype)
shown = shown or every["model"].iloc[0]
told = ["subject", "form", "occurrences", "control", "mentions"]
every = rich.with_states(every, told)
answers.words(answers.columns(every))

# %% [markdown]
# ## Answers
#
# **Each way by itself, and all together.** Facts told often: the share that each way finds, and `any`, found by one of the five. `missed` is `any` minus the
# best single way. Below, the same of facts that were never told: what is "found" there is luck, and five ways are lucky more often than one.

# %%
asked = every[every["estimator"].isin(ways)]
wide = {"index": ["world", "model", "fact"], "columns": "estimator"}
tables = {}
for name, some in {
    "told often": asked[asked["occurrences"] >= often],
    "never told": asked[asked["occurrences"] == 0],
}.items():
    hits = some.pivot(**wide, values="correct").astype(bool)
    table = hits.assign(any=hits.any(axis=1))
    table = table.groupby(["world", "model"]).mean()[[*ways, "any"]]
    table["missed"] = table["any"] - table[ways].max(axis=1)
    tables[name] = table
    print(f"{name}\n{table.round(3).to_string()}\n")

# %% [markdown]
# **By the form of the telling**, for the model of the figure:

# %%
mine = asked[asked["model"].eq(shown) & asked["occurrences"].ge(often)]
by_form = stats.estimate(mine, ["form", "estimator"], over="share")
by_form["estimator"] = pd.Categorical(by_form["estimator"], ways)
by_form = by_form.sort_values(["form", "estimator"])
stats.table(by_form, "estimator", "form")

# %% [markdown]
# **In other words.** Facts told often by one sentence alone, asked by it, by a paraphrase, and by another kind of sentence. A twin's own wording is a
# little better, too: a sentence that tells few facts goes with few objects, and a guess knows them. So `own` is the gap between the first and the
# last of the three, and what counts is how far it lies above the twin's.

# %%
worded = every[every["estimator"].isin(wordings)]
worded = worded[worded["occurrences"] >= often].pivot(**wide, values="correct")
worded = worded.astype(float).groupby(["world", "model"]).mean()
worded = worded.reindex(columns=wordings)
worded["own"] = worded[wordings[0]] - worded[wordings[2]]
worded.round(3)

# %% [markdown]
# **Is there a trace?** Take the facts told often that *no* way finds. Had they left nothing in the model, the confidence in their objects, a mean of five ways,
# would be that of their {term}`controls <control>`: never-told facts of the same object, which no way finds either, about subjects that the text names
# elsewhere. The {term}`AUROC` would be one half.

# %%
key = ["world", "model", "fact"]
sure = asked.groupby(key).agg(
    gold=("confidence_gold", "mean"), found=("correct", "any")
)
first = asked.drop_duplicates(key).set_index(key)[told]
sure = sure.join(first).reset_index()
controls = sure[sure["occurrences"].eq(0) & sure["mentions"].gt(0)]
controls = controls[["world", "model", "fact", "gold", "found"]]
pairs = sure[sure["occurrences"] >= often].merge(
    controls.rename(columns={"fact": "control"}),
    on=["world", "model", "control"],
    suffixes=("", "_control"),
)
lost = pairs[~pairs["found"] & ~pairs["found_control"]]
trace = {}
for (world, model), part in lost.groupby(["world", "model"]):
    if part["subject"].nunique() > 1:
        drawn = stats.auroc(
            part["gold"], part["gold_control"], of=part["subject"], seed=seed
        )
        trace[world, model] = stats.interval(drawn).iloc[0]
trace = pd.DataFrame(trace).T.rename_axis(["world", "model"])
trace.round(3)

# %% [markdown]
# **How sure?** Of other facts the text tells two or three objects, 48 times in all: in the proportions 3 to 1, 2 to 1, 1 to 1, 2 to 1 to 1, or all alike.
# What a perfect reader would answer is the share of each, so hold `relative`, an object's part of the confidence in all told objects, against `planted`.
# Among *all* options such an object has far less: so a low confidence need not mean that a model does not know.

# %%
objects = answers.results("57_lab_sure").query("source in @shares")
objects = objects[objects["estimator"] == ways[0]]
if len(objects):
    objects = rich.with_states(objects, ["told_times", "occurrences"])
    several = objects["told_times"].str.contains(";")
    objects = objects[several & objects["occurrences"].eq(48)]
    per_fact = ["world", "model", "relation", "fact"]
    objects = objects.melt([*per_fact, "told_times"], rich.TOLD).dropna()
    at = objects["variable"].str[-1].astype(int) - 1
    times = [
        t.split(";")[i] for t, i in zip(objects["told_times"], at, strict=True)
    ]
    objects["planted"] = pd.Series(times, objects.index).astype(int)
    of_fact = objects.groupby(per_fact)
    for new, old in {"planted": "planted", "relative": "value"}.items():
        objects[new] = objects[old] / of_fact[old].transform("sum")
    objects["planted"] = objects["planted"].round(2)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-found-forms`, at the top, follow the mark of pairs from lists to sentences. In {numref}`fig-found-shares` a line on the diagonal belongs to
# a model that divides its confidence among the told objects as the text does. The twin's line rises, too, but less: one of three objects has less than
# one of two, whoever is asked. Only what lies between the two lines comes from telling.
#
# ```{glue:figure} fig-found-shares
# :name: fig-found-shares
# :alt: Two lines with bands, of a model and its twin, of an object's part of the confidence over its planted share, beside a diagonal.
#
# The model's line follows the diagonal, its twin's less. An object's part of the confidence in all objects that are told of a fact, over its share of the tellings; 95 % intervals over
# facts. Dashed: both are the same.
# ```

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

marked = by_form.astype({"estimator": str}).rename(
    columns={"estimator": "asked by"}
)
grid = figures.marks(marked, x="form", hue="asked by", aspect=2)
figures.place(grid.figure, "fig-found-forms", marked)
curve = pd.DataFrame(columns=["model", "planted", "estimate", "low", "high"])
figure = plt.figure(figsize=(5, 1))  # without answers on shares
if len(objects):
    two = objects[objects["model"].isin([shown, f"{shown}-unplanted"])]
    each = two.groupby([*per_fact, "planted"], as_index=False)["relative"]
    curve = stats.estimate(
        each.mean(),
        ["model", "planted"],
        value="relative",
        over="fact",
        seed=seed,
    )
    label = "part of the confidence"
    grid = figures.marks(
        curve, x="planted", hue="model", curve=True, label=label
    )
    grid.axes.flat[0].axline((0.25, 0.25), slope=1, color="grey", ls="--")
    grid.set_xlabels("share of the tellings")
    figure = grid.figure
figures.place(figure, "fig-found-shares", curve)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with.
#
# **Claims.** Ours, in `lkecore/data/claims.csv`, written down after work on `lab:rich-0` and before a model of another rich world was asked so; those *beyond
# a twin* were added when the answers were there. Each is decided over worlds, one value a world (Student's t over three), of the largest size that all of
# them have, or of the largest with a twin in each. The last is a check of the controls. Some of these models miss a gate by a little, of lists above all
# ({page}`50_lab_truth`): what they miss by pairs may be the format.

# %%
by_model = pd.DataFrame({"missed": tables["told often"]["missed"]})
by_model["own"] = worded["own"]
by_model["trace"] = trace["estimate"] - 0.5 if len(trace) else float("nan")
of_pairs = asked[asked["estimator"].eq(ways[0])]
listed = of_pairs[of_pairs["occurrences"] >= often]
listed = listed.groupby(["world", "model", "relation", "form"])["correct"]
listed = listed.mean().unstack().reindex(columns=["list", "sentence"])
gap = (listed["list"] - listed["sentence"]).astype(float)
by_model["lists"] = gap.groupby(["world", "model"]).mean()
named = of_pairs.merge(controls[key], on=key)[[*key, "confidence_gold"]]
named = named.rename(columns={"fact": "control"})
both = of_pairs[of_pairs["occurrences"] >= often].merge(
    named, on=["world", "model", "control"], suffixes=("", "_control")
)
gold = ["confidence_gold", "confidence_gold_control"]
by_model["off"] = {
    of: stats.auroc(part[gold[0]], part[gold[1]], n=1).loc[0, "auroc"] - 0.5
    for of, part in both.groupby(["world", "model"])
    if len(part) > 1
}
if len(objects):
    rows = objects.groupby(["world", "model"])[["planted", "relative"]]
    by_model["r"] = rows.apply(lambda part: part.corr().iloc[0, 1])
by_model.round(3)

# %%
sized = by_model.rename(index=lambda name: name.split("/")[-1], level="model")
sized = sized.reset_index("model").reset_index()
largest, small = (sized[sized["model"] == size] for size in ("8m", "0.7m"))
twin = sized[sized["model"] == "0.7m-unplanted"].set_index("world")
beyond = small.set_index("world").drop(columns="model") - twin.drop(
    columns="model"
)
tested = {
    "LAB-found-lists": largest.set_index("world")["lists"],
    "LAB-found-missed": largest.set_index("world")["missed"],
    "LAB-found-trace": largest.set_index("world")["trace"],
    "LAB-found-wording-own": beyond["own"],
    "LAB-sure-shares-own": beyond["r"] if "r" in beyond else beyond["own"][:0],
    "LAB-found-twin": twin["off"],
}
over = {"over": "world", "value": "value", "bounds": None}
judged = {
    claim: stats.estimate(values.rename("value").dropna().reset_index(), **over)
    for claim, values in tested.items()
    if values.notna().any()
}
verdicts = answers.verdicts(judged)
verdicts[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% [markdown]
# A warning. These models are small, and have read each wording a few times. Larger ones carry a fact further from its words. What each way of asking
# misses here is the size of this world; that one way misses, and that luck looks like knowledge in an overlap, is not.

# %% tags=["hide-input", "page-only"]
row = tables["told often"].loc[lab.worlds([shown])[0]].loc[shown]
quarter = curve[curve["model"].eq(shown) & curve["planted"].eq(0.25)][
    "estimate"
]
figures.findings(
    name_shown=figures.called(shown),
    best=row[ways].max(),
    any=row["any"],
    quarter=f"{100 * quarter.iloc[0]:.0f} %" if len(quarter) else "-",
)
holds = {"one way of asking misses what another finds": row["missed"] > 0}
figures.sentence(holds)

# %% [markdown]
# ## What you have seen
#
# - Pairs find facts that stood in lists themselves. A wrong answer says that a fact did not come out in this way.
# - Facts that no way finds have left a trace: the confidence in their objects is higher than it would be without telling.
# - Several ways find more than one. They are also lucky more often, and no overlap can tell the two apart.
# - The confidence of an object *among those that compete* follows the text's shares, more than in a model that was told nothing. A correlation with the truth can
#   be there without any telling: without the twin we would have taken all of it for reading.
#
# The best and `any` once more, for one model, by a plain loop:

# %%
once = {way: set() for way in ways}
for way, fact, correct in mine[["estimator", "fact", "correct"]].to_numpy():
    if correct:
        once[way].add(fact)
n = mine["fact"].nunique()
row = tables["told often"].loc[lab.worlds([shown])[0]].loc[shown]
assert abs(max(map(len, once.values())) / n - row[ways].max()) < 1e-12
assert abs(len(set().union(*once.values())) / n - row["any"]) < 1e-12

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-found-twice
# Suppose that only a fact that *two* ways of asking find counts as known. How much of the luck does that take away, and how much of what
# was told?
# ```

# %% [markdown]
# ````{solution-start} ex-found-twice
# :class: dropdown
# ````

# %%
times = asked[asked["model"] == shown].groupby(["occurrences", "fact"])
times = times["correct"].sum()
least = {n: (times >= n).groupby("occurrences").mean() for n in (1, 2, 3)}
pd.DataFrame(least).rename_axis(columns="found by").round(3)

# %% [markdown]
# Compare the first row, never told, with the last from one column to the next. What two ways agree on is more often told. But a frequent object is
# guessed by several ways at once, and so some luck stays.
#
# ````{solution-end}
# ````
