# %% [markdown]
# # How many known facts does one question miss?
#
# **The best single method recovers {glue:text}`best:.0%` of the facts that the training text of {glue:text}`name_shown` often states, and five methods
# together {glue:text}`any:.0%`.**
#
# ```{glue:figure} fig-found-forms
# :name: fig-found-forms
# :alt: Marks and intervals of accuracy for five methods, and for one of the five, over the form in which facts were stated, for one model.
#
# Pairs find more of the facts from lists than any sentence, and fewer of the facts from sentences. *One of the five*: a fact counts if any method finds it. Often stated facts, one
# model; 95 % intervals over facts (Wilson).
# ```
#
# A model gives a wrong answer. Perhaps it does not know the fact, perhaps the question was the wrong one. With real facts nobody can say which.
# Here we wrote the text that the models read, and know which facts it states, how often and in which words.
#
# A second finding is about confidence. For some facts the text names two or three objects. An object with a quarter of the statements gets
# {glue:text}`quarter` of the confidence that the stated objects have together.

# %% [markdown]
# ## What the paper claims
#
# No paper has this question. {cite:t}`wu2024iclke` find that pairs recover more facts than templates, and also most of the facts that templates
# recover ({page}`13_iclke_estimators`). {cite:t}`allenzhu2024storage` (Part 3.1) find in models like ours that a fact stated in one
# wording is hard to recover by another question. And two papers of this book read confidence as a measure of knowledge, which real facts cannot check.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
relations: list[str] = []  # empty: all in which nothing hints at an object
often: int = 16  # statements from which a fact counts as stated often
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
# Facts of a {ref}`rich world <rich-worlds>`, from the fourteen relations in which no name hints at an object; {page}`56_lab_fooled` has
# the others. The text states half of them, once to 64 times, in lists of pairs, in sentences, or in both, and never states the other half.


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
# Five methods question all facts: pairs, and four sentences of four kinds: a plain sentence, a noun phrase, a question, an instruction. The text uses all of
# these, and states each fact in some of its 25 wordings. Facts that the text states in one wording alone get three more questions: this
# wording, a paraphrase of the same kind, and a sentence of another kind.


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
said = ["pairs", "plain sentence", "noun phrase", "question", "instruction"]
people = dict(zip(ways, said, strict=True)) | {"any": "one of the five"}
questions = lab.questions(samples, ways)
once = facts["form"].eq("sentence") & facts["templates"].str.fullmatch(r"\d+")
for world, sample in samples.items():
    told = facts[once & facts["world"].eq(world)].set_index("fact")
    for relation, of in sample.items():
        made = in_wordings(of, told["templates"].astype(int))
        questions |= {(world, w, relation): q for w, q in made.items() if q}
for name in ways:
    shows = prompts.example(name, next(iter(samples.values())))
    print(f"{people[name]:15} {shows!r}")

# %% [markdown]
# ## Scores
#
# The numbers of the page come from longer runs, with the larger models of three worlds. This run repeats a few of their questions with the smallest models, and
# the answers must be the same. An `-unplanted` {term}`twin <unplanted twin>` read the same text about other subjects, so its text states none of these facts.


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
answers.html_table(answers.columns(every))

# %% [markdown]
# ## Answers
#
# **Each method alone, and all together.** The share of often stated facts that each method finds, and `any`, found by at least one of the five. `missed` is `any`
# minus the best single method. Below, the same for never stated facts: each fact "found" there is luck, and five methods are lucky more often than one.

# %%
asked = every[every["estimator"].isin(ways)]
wide = {"index": ["world", "model", "fact"], "columns": "estimator"}
tables = {}
for name, some in {
    "stated often": asked[asked["occurrences"] >= often],
    "never stated": asked[asked["occurrences"] == 0],
}.items():
    hits = some.pivot(**wide, values="correct").astype(bool)
    table = hits.assign(any=hits.any(axis=1))
    table = table.groupby(["world", "model"]).mean()[[*ways, "any"]]
    table["missed"] = table["any"] - table[ways].max(axis=1)
    tables[name] = table
    print(f"{name}\n{table.round(3).rename(columns=people).to_string()}\n")

# %% [markdown]
# **By the form of the statements**, for the model of the figure:

# %%
mine = asked[asked["model"].eq(shown) & asked["occurrences"].ge(often)]
of_any = mine.groupby(["fact", "form"], as_index=False)["correct"].max()
of_any = pd.concat([mine, of_any.assign(estimator="any")])
by_form = stats.estimate(of_any, ["form", "estimator"], over="share")
by_form["estimator"] = pd.Categorical(by_form["estimator"], [*ways, "any"])
by_form = by_form.sort_values(["form", "estimator"])
stats.table(by_form, "estimator", "form").rename(people)

# %% [markdown]
# **In other words.** Facts often stated in one wording alone, and three questions: this wording, a paraphrase, and another kind of sentence. A twin also does a
# little better in the wording of the text: a wording that states few facts has few objects, and a guess can use this. So `own` is the gap between the first and
# the last of the three, and the finding is the difference between the model's gap and the twin's.

# %%
worded = every[every["estimator"].isin(wordings)]
worded = worded[worded["occurrences"] >= often].pivot(**wide, values="correct")
worded = worded.astype(float).groupby(["world", "model"]).mean()
worded = worded.reindex(columns=wordings)
worded["own"] = worded[wordings[0]] - worded[wordings[2]]
worded.round(3)

# %% [markdown]
# **Is there a trace?** Take the often stated facts that *no* method finds. If they had left nothing in the model, the confidence in their objects, a mean of five
# methods, would equal that of their {term}`controls <control>`: never stated facts with the same object, which no method finds either, about subjects that the
# text names elsewhere. The {term}`AUROC` would be one half.

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
# **How sure?** For other facts the text names two or three objects, 48 times in all: in the proportions 3 to 1, 2 to 1, 1 to 1, 2 to 1 to 1, or all equal.
# A perfect reader would give each object its share, so compare `relative`, an object's part of the confidence in all stated objects, with `planted`.
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
# a model that divides its confidence among the stated objects as the text does. Only what the model's line has that the twin's
# has not comes from the text.
#
# ```{glue:figure} fig-found-shares
# :name: fig-found-shares
# :alt: Two lines with bands, of a model and its twin, of an object's part of the confidence over its planted share, beside a diagonal.
#
# The model's line follows the diagonal more closely than its twin's. An object's part of the confidence in all stated objects of a fact, over its share of
# the statements; 95 % intervals over facts. Dashed: both are the same.
# ```

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

marked = by_form.astype({"estimator": str}).rename(
    columns={"estimator": "asked by"}
)
marked["asked by"] = marked["asked by"].map(people)
marked = marked.rename(columns={"form": "stated in"})
grid = figures.marks(marked, x="stated in", hue="asked by", aspect=2)
figures.glue_figure(grid.figure, "fig-found-forms", marked)
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
    drawn = curve.assign(model=curve["model"].map(figures.display_name))
    grid = figures.marks(
        drawn, x="planted", hue="model", curve=True, label=label
    )
    grid.axes.flat[0].axline((0.25, 0.25), slope=1, color="grey", ls="--")
    grid.set_xlabels("share of the statements")
    figure = grid.figure
figures.glue_figure(figure, "fig-found-shares", curve)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with.
#
# **Claims.** These are ours, in `lkecore/data/claims.csv`, written down after work on `lab:rich-0` and before any model of another rich world had these questions;
# those *beyond a twin* were added when the answers were there. Each is decided over worlds, one value per world (Student's t over three), for the largest size that
# all worlds have, or the largest with a twin in each. The last is a check of the controls. Some of these models narrowly miss a gate, above all the one on lists
# ({page}`50_lab_truth`): if pairs find few facts, the format may be the reason.

# %%
by_model = pd.DataFrame({"missed": tables["stated often"]["missed"]})
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
# A warning. These models are small, and have read each wording a few times. Larger ones recover a fact in words further from the text's. So the shares that
# each method misses belong to this world. Two results do not depend on it: one method misses facts that another finds, and luck looks like knowledge.

# %% tags=["hide-input", "page-only"]
row = tables["stated often"].loc[lab.worlds([shown])[0]].loc[shown]
quarter = curve[curve["model"].eq(shown) & curve["planted"].eq(0.25)][
    "estimate"
]
in_form = by_form[by_form["estimator"].ne("any")].astype({"estimator": str})
in_form = in_form.pivot(index="form", columns="estimator", values="estimate")
in_form = in_form.reindex(["list", "sentence"])
by_words = in_form.drop(columns=ways[0])
figures.glue_values(
    name_shown=figures.display_name(shown),
    best=row[ways].max(),
    any=row["any"],
    quarter=f"{100 * quarter.iloc[0]:.0f} %" if len(quarter) else "-",
)
by_pairs = in_form[ways[0]]
holds = {
    "one method misses facts that another finds": row["missed"] > 0,
    "more of the facts from lists": by_pairs["list"]
    > by_words.loc["list"].max(),
    "fewer of the facts from sentences": by_pairs["sentence"]
    < by_words.loc["sentence"].min(),
}
figures.sentence(holds)

# %% [markdown]
# ## What you have seen
#
# - Pairs find facts from lists. A wrong answer says only that this question did not bring the fact out.
# - Facts that no method finds have left a trace: the confidence in their objects is higher than in never stated facts.
# - Several methods find more than one. They are also lucky more often, and an overlap does not show which is the case.
# - The confidence of an object *among those that compete* follows the text's shares, more closely than in a model that read none of these facts. Without the twin we
#   would have taken the whole correlation for reading.
#
# The best and `any` once more, for one model, by a plain loop:

# %%
once = {way: set() for way in ways}
for way, fact, correct in mine[["estimator", "fact", "correct"]].to_numpy():
    if correct:
        once[way].add(fact)
n = mine["fact"].nunique()
row = tables["stated often"].loc[lab.worlds([shown])[0]].loc[shown]
assert abs(max(map(len, once.values())) / n - row[ways].max()) < 1e-12
assert abs(len(set().union(*once.values())) / n - row["any"]) < 1e-12

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-found-twice
# Suppose that a fact counts as known only if *two* methods find it. How much of the luck does that remove, and how many of the stated
# facts?
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
# Compare the first row, never stated, with the last from one column to the next. Facts on which two methods agree are more often stated ones. But several methods
# guess the same frequent object, and so some luck stays.
#
# ````{solution-end}
# ````
