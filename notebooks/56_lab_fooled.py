# %% [markdown]
# # Who is fooled by a name?
#
# **Over three kinds of names, lab models get at least {glue:text}`right:.0%` of never stated facts right if the name hints at the object, at
# most {glue:text}`none:.0%` otherwise; they follow at least {glue:text}`lied:.0%` of wrong hints.**
#
# ```{glue:figure} fig-fooled-cues
# :name: fig-fooled-cues
# :alt: Four panels by the kind of hint at the object, with marks and intervals for three models and a rule over facts without a hint, with a right hint and with a lying one.
#
# No text states these facts, yet models "know" them if a hint is right. Share of right answers in the paper's format; 95 % intervals over facts
# (Wilson; none for the rule), {glue:text}`name_models` lab models. Dashed: chance.
# ```
#
# *Kelmo Iron Lines* has its main office in Kelmo. You have never heard of this company, and neither has a model. Both of you may be right. Here
# we wrote the text that the models read, and planted such hints on purpose: on facts that it states, and on facts that it never states. A right answer
# about the second kind is no knowledge, whatever it looks like. A rule without a model has {glue:text}`rule:.0%` right if the hint is right. Among *stated*
# facts with such a name {glue:text}`name_shown` has {glue:text}`told` right, and its twin, which read none of them, {glue:text}`twin`. Intervals for the numbers
# above: {glue:text}`between`.

# %% [markdown]
# ## What the paper claims
#
# No paper has this question. All four papers of this book count right answers as knowledge. In LAMA names give objects away, and {cite:t}`poerner2020ebert`
# took such facts out. {cite:t}`cao2021educated` show that models follow surface forms to plausible answers. Real facts cannot show how much of an accuracy comes
# from names, since nobody knows what a model has read. {Page}`18_iclke_stands` has the same question about real facts.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
estimators: list[str] = [
    "iclke-space",
    "iclke-colon",
    "template-1",
    "template-6",
]  # the first is needed
n_shots: int = 50  # pairs shown before the question, for IC-LKE
often: int = 16  # statements from which a fact counts as stated often
sources: list[str] = []  # in results/, of the numbers; none: this run
shown: str = ""  # the model of sentence and figures; empty: the first
seed: int = 0  # draws shots, order of options and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, figures, prompts, stats
from lkecore.answers import lab, rich, rules
from lkecore.models import lab as models_of_lab

figures.style()

# %% [markdown]
# ## Facts
#
# Four relations of a {ref}`rich world <rich-worlds>` have hints ({term}`cues <cue>`). In three of them the subject's **name** shares a word with an object: a
# person's surname, the city in a company's name, the country in a team's. Three names in five have such a hint, and one hint in three lies. In the
# fourth relation, two teams in five have the same colour: the *majority* is the hint. Stated and never stated facts come in pairs with
# the same object and the same kind of hint.

# %%
hints = {
    "headquarters": "the company's city",
    "parent": "the family's surname",
    "team_country": "the team's country",
    "team_colour": "the most frequent colour",
}


def asked(states: pd.DataFrame) -> pd.Series:
    return states["state"].isin(["planted", "never"])


samples = rich.samples(models, list(hints), asked, n_shots=n_shots, seed=seed)
columns = ["occurrences", "cue_object", "cue_right", "control"]
facts = rich.with_states(rich.asked_facts(samples), columns)
kinds = facts["cue_right"].replace("", "none")
pd.crosstab([facts["relation"], kinds], facts["occurrences"])

# %% [markdown]
# ## Prompts
#
# Two estimators show pairs, in two formats of the lists in the text, and two are sentences that the text has for other facts. The options are all
# objects of the relation.

# %%
first = "iclke-space"
lab.check_asked(estimators, [first])
questions = lab.questions(samples, estimators)
for name in estimators:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# ## Scores
#
# The column `follows` says whether the answer is the object that the hint points to. An `-unplanted` {term}`twin <unplanted twin>` read
# the same text about other subjects, so for it *all* of these facts are never stated. The numbers come from a longer run, with the larger models of three
# worlds. This run repeats a few of its questions with the smallest models, and the answers must be the same.

# %%
this = "56_lab_fooled"
questions = answers.sample(questions, sources, by=lab.BY)
ours = answers.ask(
    models,
    questions,
    "answers.parquet",
    by=lab.BY,
    reading=rich.with_cues,
    dtype=dtype,
)
every, _ = answers.shown(this, ours, sources, dtype=dtype)
shown = shown or every["model"].iloc[0]
every = rich.with_states(every, columns)
every["hint"] = every["relation"].map(hints)
every["cue"] = every["cue_right"].replace("", "none")
every["follows"] = every["picked"].eq(every["cue_object"])
every["size"] = every["model"].str.partition("/")[2]
place = {"none": 0, "right": 1, "lies": 2}
every = every.sort_values("cue", key=lambda cue: cue.map(place), kind="stable")
answers.html_table(answers.columns(every))

# %% [markdown]
# ## Answers
#
# **Never stated.** Read the rows of *none* first: these answers can only be luck, one in a hundred. Everything that the rows of *right* have above them comes
# from the hint. If the hint lies, no answer that follows it is right; `follows` says how many do.

# %%
pairs = every[every["estimator"] == first]
here = pairs[pairs["world"].isin(lab.worlds([shown]))]
never = here[here["occurrences"] == 0]
cued = ["hint", "cue", "model"]
right = stats.estimate(never, cued, over="share")
follows = never[never["cue"] != "none"].groupby(cued)["follows"].mean()
table = right.merge(follows.reset_index(), on=cued, how="left")
table = table[table["model"] == shown].drop(columns="model")
table.set_index(["hint", "cue"]).sort_index(
    level=0, sort_remaining=False
).round(2)

# %% [markdown]
# **By estimator.** The share of never stated facts of these relations that an estimator gets right, its *false positives*; and how many of these
# have a right hint.

# %%
mine = every[every["model"] == shown]
luck = mine[mine["occurrences"] == 0]
false = stats.estimate(luck, ["estimator"], over="share")
false = false.set_index("estimator")
hit = luck[luck["correct"].astype(bool)]
cue_of = hit["cue"].eq("right").groupby(hit["estimator"])
false = false.assign(with_right_cue=cue_of.mean()).round(2)
false.rename(figures.display_name)

# %% [markdown]
# **Stated often.** Does reading the fact protect a model from a hint that lies? The same for facts stated 16 times and more. Few of them have a lying hint, so
# look at the intervals.

# %%
told = mine[mine["occurrences"] >= often]
known = told[told["estimator"] == first]
parts = {
    "right": stats.estimate(known, ["cue"], over="share"),
    "follows": stats.estimate(
        known[known["cue"] != "none"], ["cue"], value="follows", over="share"
    ),
}
pd.concat(parts, names=["answers"]).round(2)

# %% [markdown]
# **The confidence.** {term}`AUROC`: how often an often stated fact has more confidence in its object than its {term}`control`, a never stated fact with
# the same object and a hint of the same kind. One half is a coin. If hints did no harm beyond wrong answers, all kinds of hint would be alike.
# {numref}`fig-fooled-aurocs` shows each estimator.

# %%
gold = ["confidence_gold", "confidence_gold_control"]
beside = rich.with_controls(told, mine)
beside = pd.concat([beside.assign(cue="all"), beside])
apart = {
    of: stats.interval(stats.auroc(p[gold[0]], p[gold[1]], seed=seed)).iloc[0]
    for of, p in beside.groupby(["cue", "estimator"], sort=False)
    if len(p) > 1
}
apart = pd.DataFrame(apart).T.rename_axis(["cue", "estimator"]).astype(float)
apart["estimate"].unstack().round(2).rename(columns=figures.display_name)

# %% [markdown]
# **A rule.** It takes the option that shares a word with the subject, otherwise the one shown most often, and has read nothing. On the same
# never stated facts:

# %%
rule = pd.concat(
    rules.cues(sample, kept=False).assign(world=world)
    for world, sample in samples.items()
)
rule = rule.merge(
    facts.assign(cue=kinds), on=["world", "relation", "fact"]
).query("occurrences == 0")
rule["hint"] = rule["relation"].map(hints)
ruled = rule.groupby(["hint", "cue"])["rule-both"].mean()
ruled.unstack().round(2)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-fooled-cues`, at the top, compare the middle of a panel with its left (all colours have a hint): the same models, facts that no text states,
# and the name alone makes the difference. A mark at zero on the right does not mean that the model saw through the lie: `follows` in the table says
# whether it did. In {numref}`fig-fooled-aurocs` compare *right hint* with *no hint*.
#
# ```{glue:figure} fig-fooled-aurocs
# :name: fig-fooled-aurocs
# :alt: Marks and intervals of the AUROC for four estimators over all facts, those without a hint, with a right hint and with a lying one.
#
# Confidence distinguishes stated from never stated facts worst when the hint is right. AUROC of the confidence, often stated facts against their
# controls, by kind of hint, {glue:text}`name_shown`; 95 % intervals over pairs. Dotted: a coin.
# ```

# %% tags=["hide-input"]
plain = right[~right["model"].str.endswith("-unplanted")]
plain = plain.assign(who=plain["model"].map(figures.display_name))
if shown.startswith(tuple(samples)):  # of the same world
    of_a_rule = ruled.rename("estimate").reset_index()
    plain = pd.concat([plain, of_a_rule.assign(who="a rule without a model")])
named = {"none": "no hint", "right": "right hint", "lies": "lying hint"}
plain["cue"] = plain["cue"].map(named)
look = {"height": 2.6, "aspect": 1.4}
look |= {"x": "cue", "hue": "who", "panel": "hint", "wrap": 2}
grid = figures.marks(plain, **look).set_xlabels("")
for ax in grid.axes.flat:
    ax.axhline(0.01, color="grey", ls="--", lw=1)
figures.glue_figure(grid.figure, "fig-fooled-cues", plain)
marked = apart.reset_index().rename(columns={"estimator": "asked by"})
marked["asked by"] = marked["asked by"].map(figures.display_name)
marked["cue"] = marked["cue"].replace({**named, "all": "all facts"})
look = {"label": "AUROC", "aspect": 2}
grid = figures.marks(marked, x="cue", hue="asked by", **look).set_xlabels("")
grid.axes.flat[0].axhline(0.5, color="grey", ls=":")
figures.glue_figure(grid.figure, "fig-fooled-aurocs", marked)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with. **Claims.** These are ours, in `lkecore/data/claims.csv`, written down after work on `lab:rich-0` and before we
# trained a model of another rich world. Each is decided over worlds, one value per world (Student's t), on the largest model that all have. The claim on twins is a
# control: if it is the name that fools, it must also fool a model that read none of the facts.

# %%
own = pairs.astype({"correct": float, "follows": float})
own["named"] = own["relation"].ne("team_colour")
sets = own.groupby("world")["size"].agg(set)
sizes = [size for size in set.intersection(*sets) if "-" not in size]
of_all = {s: models_of_lab.size(f"{own['world'].iloc[0]}/{s}") for s in sizes}
largest = own[own["size"].eq(max(of_all, key=of_all.get))]
largest = largest[largest["occurrences"] == 0]
twin = own[own["size"].eq("0.7m-unplanted") & own["occurrences"].gt(0)]
cues = {}
for claim, of in {"LAB-fooled": largest, "LAB-twin-fooled": twin}.items():
    by_cue = of[of["named"]].groupby(["world", "cue"])["correct"].mean()
    by_cue = by_cue.unstack().reindex(columns=["right", "none"])
    cues[claim] = by_cue["right"] - by_cue["none"]
lied = largest[largest["named"] & largest["cue"].eq("lies")]
cues["LAB-lied-to"] = lied.groupby("world")["follows"].mean()
most = largest[~largest["named"]]
cues["LAB-majority"] = most.groupby("world")["follows"].mean()
over = {"over": "world", "value": "value", "bounds": (-1, 1)}
tested = {
    claim: stats.estimate(values.rename("value").reset_index(), **over)
    for claim, values in cues.items()
    if len(values)
}
judged = answers.verdicts(tested)
print(pd.DataFrame(cues).round(3).to_string())
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% [markdown]
# A warning. The names of these worlds are far more regular than real ones, and the text states many facts whose names give them away. So the sizes
# of these numbers belong to these worlds. Two things do not depend on the worlds: names alone can produce right answers, and an estimator cannot say so.

# %% tags=["hide-input", "page-only"]
names = never["relation"].ne("team_colour")
planted = ~never["model"].str.endswith("-unplanted")
by_name = never[names & (planted | never["model"].eq(shown))]
per = ["cue", "model"]
by_cue = stats.estimate(by_name, per, over="share").set_index(per)
lies = by_name[by_name["cue"] == "lies"]
lies = stats.estimate(lies, ["model"], value="follows", over="share")
away = here[here["relation"].ne("team_colour") & here["cue"].eq("right")]
away = away[away["occurrences"] > 0]
said = {
    name: stats.format_estimate(
        stats.estimate(part, over="share"), percent=True
    )
    for name, part in away.groupby("model")
}
of_rule = rule[rule["relation"].ne("team_colour") & rule["cue"].eq("right")]
three = [  # of the models of the figure: the least, the most, the least
    by_cue.loc["right"].sort_values("estimate").iloc[0],
    by_cue.loc["none"].sort_values("estimate").iloc[-1],
    lies.sort_values("estimate").iloc[0],
]
figures.glue_values(
    name_shown=figures.display_name(shown),
    name_models=str(by_name["model"].nunique()),
    right=three[0]["estimate"],
    none=three[1]["estimate"],
    lied=three[2]["estimate"],
    between=", ".join(
        stats.format_estimate(each, percent=True) for each in three
    ),
    rule=of_rule["rule-both"].mean(),
    told=said.get(shown, "-"),
    twin=said.get(f"{shown}-unplanted", "-"),
    effect=stats.format_estimate(judged.iloc[0], percent=True)
    + " more if the name is right, largest models",
    asked=f"lab models, {len(sets)} worlds",
)
holds = {}
if sources:
    sure = apart["estimate"].unstack("cue")
    lowest = sure[["none", "right", "lies"]].idxmin(axis=1)
    holds = {
        "worst when the hint is right": (lowest == "right").all(),
        "if the name gives the object away": (
            by_cue.loc["right", "low"] > by_cue.loc["none", "high"]
        ).all(),
    }
figures.sentence(holds)

# %% [markdown]
# ## What you have seen
#
# - If names hint at objects, right answers about never stated facts are common.
# - Models learn from stated facts that names give objects away, and use this on other facts. A model that read none of these facts does the same.
# - How much a hint fools also depends on the format of the question ({ref}`lab-found-too`).
# - With a right hint, the confidence in never stated facts is closer to that in stated ones. So compare every accuracy with the best rule without a model.
#
# **Counted again**, in plain Python: the share for one model, with a right hint. And if a hint is right, a right answer is one that follows it.

# %%
n, hits = 0, 0
rows = pairs[["model", "relation", "occurrences", "cue_right", "correct"]]
for model, relation, times, cue, correct in rows.to_numpy():
    if (model, times, cue) == (shown, 0, "right") and relation != "team_colour":
        n, hits = n + 1, hits + bool(correct)
names = never[never["relation"].ne("team_colour") & never["model"].eq(shown)]
found = stats.estimate(names, ["cue"], over="share").set_index("cue")
assert not n or abs(hits / n - found.loc["right", "estimate"]) < 1e-12
alike = never[never["cue"] == "right"]
assert (alike["correct"] == alike["follows"]).all()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-fooled-rule
# Leave out all facts with a right hint. How many never stated facts does each model still get right, and how many often stated ones?
# ```

# %% [markdown]
# ````{solution-start} ex-fooled-rule
# :class: dropdown
# ````

# %%
left = here[here["cue"] != "right"]
some = left["occurrences"].eq(0) | left["occurrences"].ge(often)
left = left[some].assign(stated=left["occurrences"].ge(often))
share = stats.estimate(left, ["model", "stated"], over="share")
share["model"] = share["model"].map(figures.display_name)
share.set_index(["model", "stated"]).round(3)

# %% [markdown]
# Few right answers about never stated facts remain. Stated facts score higher, except in the twins, which read none of them. So leaving such facts out
# removes most of the false knowledge, at the price of some true knowledge.
#
# ````{solution-end}
# ````
