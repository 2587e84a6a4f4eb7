# %% [markdown]
# # Who is fooled?
#
# **Of facts that no text told, {glue:text}`name_shown` gets {glue:text}`right:.0%` right where the name gives the object away and
# {glue:text}`none:.0%` where it does not, and where the name lies {glue:text}`lied:.0%` of its answers follow it.**
#
# ```{glue:figure} fig-fooled-cues
# :name: fig-fooled-cues
# :alt: Four panels by what hints at the object, with marks and intervals for three models and a rule over facts without a cue, with a right cue and with a lying one.
#
# Nobody told these facts, and where a cue is right they are "known". Share of right answers in the paper's format; 95 % intervals over facts
# (Wilson; none for the rule). Dashed: chance.
# ```
#
# *Kelmo Iron Lines* has its main office in Kelmo. You have never heard of this company, and neither has a model. Both of you may be right. Here
# we wrote the text that the models read, and planted such hints on purpose: on facts that it tells, and on facts that it never tells. What an
# estimator finds of the second kind is no knowledge, whatever it looks like. A rule without a model gets {glue:text}`rule:.0%` of the first. Of told
# facts with such a name the model gets {glue:text}`told`, and its twin, which read none of them, {glue:text}`twin`. Brackets for the numbers above:
# {glue:text}`between`.

# %% [markdown]
# ## What the paper claims
#
# No paper has this question. All four papers of this book count right answers as knowledge. That names give objects away is known of LAMA, whose authors'
# successors took such facts out {cite:p}`poerner2020ebert`, and that models follow surface forms to plausible answers is shown by
# {cite:t}`cao2021educated`. Real facts cannot say how much of an accuracy that is, since nobody knows what a model has read. {Page}`18_iclke_stands` has
# the same question on them.

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
often: int = 16  # tellings from which a fact counts as told often
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
# Four relations of a {ref}`rich world <rich-worlds>` carry hints. In three the subject's **name** has a word in common with an object: a person's
# surname, the city in a company's name, the country in a team's. Three names in five carry such a {term}`cue`, and one cue in three lies. In the
# fourth, one colour belongs to two teams in five: the *majority* is the cue. The text says no more of told facts than that, and the facts that it
# never tells have the same objects and the same kinds of cues, pair by pair.

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
# Two estimators show pairs, in two formats that the text has lists in, and two are sentences that it has for other facts. The options are all
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
# Beside each answer is whether it `follows`, that is, whether it is what the cue points to. An `-unplanted` {term}`twin <unplanted twin>` read
# the same text told of other subjects, so that to it *all* of these facts were never told. What this run asks are the smallest models whose weights
# ship; the numbers are of a longer run, with the larger models of three worlds.

# %%
this = "56_lab_fooled"
questions = answers.sample(questions, sources, by=lab.BY)
ours = answers.ask(
    models,
    questions,
    "answers.parquet",
    by=lab.BY,
    reading=rich.beside_hints,
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
answers.words(answers.columns(every))

# %% [markdown]
# ## Answers
#
# **Never told.** Read the rows of *none* first: there an answer can only be luck, one in a hundred. All that the rows of *right* have above them is
# the name's doing. Where the cue lies no answer that follows it is right; `follows` says how many do.

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
# **By estimator.** The share of all never-told facts of these relations that an estimator gets right, its *false positives*; and of these
# the share with a right cue.

# %%
mine = every[every["model"] == shown]
luck = mine[mine["occurrences"] == 0]
false = stats.estimate(luck, ["estimator"], over="share")
false = false.set_index("estimator")
hit = luck[luck["correct"].astype(bool)]
cue_of = hit["cue"].eq("right").groupby(hit["estimator"])
false.assign(with_right_cue=cue_of.mean()).round(2)

# %% [markdown]
# **Told often.** Does a telling protect from a cue that lies? The same for facts told 16 times and more. Few of them carry a lying cue, so look at the
# intervals.

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
# **The confidence.** {term}`AUROC`: how often a fact told often has more confidence in its object than its {term}`control`, a never-told fact of
# the same object and with a cue of the same kind. One half is no telling apart. If cues did no harm beyond wrong answers, all kinds would be alike.
# {numref}`fig-fooled-aurocs` has them for each estimator.

# %%
gold = ["confidence_gold", "confidence_gold_control"]
beside = rich.beside_controls(told, mine)
beside = pd.concat([beside.assign(cue="all"), beside])
apart = {
    of: stats.interval(stats.auroc(p[gold[0]], p[gold[1]], seed=seed)).iloc[0]
    for of, p in beside.groupby(["cue", "estimator"], sort=False)
    if len(p) > 1
}
apart = pd.DataFrame(apart).T.rename_axis(["cue", "estimator"]).astype(float)
apart["estimate"].unstack().round(2)

# %% [markdown]
# **A rule.** What takes the option that shares a word with the subject, else the one that is shown most often, has read nothing. On the same
# never-told facts:

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
# In {numref}`fig-fooled-cues`, at the top, compare the middle of a panel with its left (all colours have a cue): the same models, facts that nobody told,
# and the name alone makes the difference. A mark at zero on the right does not mean that the model saw through the lie: `follows` in the table says
# whether it did. In {numref}`fig-fooled-aurocs` compare *right* with *none*.
#
# ```{glue:figure} fig-fooled-aurocs
# :name: fig-fooled-aurocs
# :alt: Marks and intervals of the AUROC for four estimators over all facts, those without a cue, with a right cue and with a lying one.
#
# Where a cue is right, the confidence tells told from never told least. AUROC of the confidence, facts told often against their controls, by kind
# of cue; 95 % intervals over pairs. Dotted: no telling apart.
# ```

# %% tags=["hide-input"]
plain = right[~right["model"].str.endswith("-unplanted")]
plain = plain.assign(who=plain["model"].map(figures.called))
if shown.startswith(tuple(samples)):  # of the same world
    plain = pd.concat(
        [plain, ruled.rename("estimate").reset_index().assign(who="a rule")]
    )
look = {"height": 2.6, "aspect": 1.4}
grid = figures.marks(plain, x="cue", hue="who", panel="hint", wrap=2, **look)
for ax in grid.axes.flat:
    ax.axhline(0.01, color="grey", ls="--", lw=1)
figures.place(grid.figure, "fig-fooled-cues", plain)
marked = apart.reset_index().rename(columns={"estimator": "asked by"})
look = {"label": "AUROC", "aspect": 2}
grid = figures.marks(marked, x="cue", hue="asked by", **look)
grid.axes.flat[0].axhline(0.5, color="grey", ls=":")
figures.place(grid.figure, "fig-fooled-aurocs", marked)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with. **Claims.** Ours, in `lkecore/data/claims.csv`, written down after work on `lab:rich-0` and before a
# model of another rich world was trained. Each is decided over worlds, one value a world (Student's t), of the largest model that all have. That on twins is a
# control: a model that was told none of the facts must be fooled, too, if the name is what does it.

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
# A warning. The names of these worlds are far more regular than real ones, and the text tells many facts whose names give them away. So the sizes
# of these numbers are those of these worlds. That a right answer without any telling can come out in this way, and that the estimator cannot say so,
# does not depend on it.

# %% tags=["hide-input", "page-only"]
names = never["relation"].ne("team_colour")
mine_never = never[names & never["model"].eq(shown)]
by_cue = stats.estimate(mine_never, ["cue"], over="share").set_index("cue")
lies = mine_never[mine_never["cue"] == "lies"]
lies = stats.estimate(lies, value="follows", over="share").iloc[0]
away = here[here["relation"].ne("team_colour") & here["cue"].eq("right")]
away = away[away["occurrences"] > 0]
said = {
    name: stats.said(stats.estimate(part, over="share"), percent=True)
    for name, part in away.groupby("model")
}
of_rule = rule[rule["relation"].ne("team_colour") & rule["cue"].eq("right")]
three = by_cue.loc["right"], by_cue.loc["none"], lies
figures.findings(
    name_shown=figures.called(shown),
    right=three[0]["estimate"],
    none=three[1]["estimate"],
    lied=three[2]["estimate"],
    between=", ".join(stats.said(each, percent=True) for each in three),
    rule=of_rule["rule-both"].mean(),
    told=said.get(shown, "-"),
    twin=said.get(f"{shown}-unplanted", "-"),
    effect=stats.said(judged.iloc[0], percent=True) + " more with a right cue",
    asked=f"the largest models of {len(sets)} worlds",
)
holds = {}
if sources:
    sure = apart["estimate"].unstack("cue")
    lowest = sure[["none", "right", "lies"]].idxmin(axis=1)
    holds = {
        "tells told from never told least": (lowest == "right").all(),
        "the name": by_cue.loc["right", "low"] > by_cue.loc["none", "high"],
    }
figures.sentence(holds)

# %% [markdown]
# ## What you have seen
#
# - A right answer about a fact that was never told is no rare luck where names hint at objects.
# - Models learn from told facts that names give objects away, and use it on others. A model that was told none of them does so, too.
# - How much a hint fools depends on the format of the question, too ({ref}`lab-found-too`).
# - With a right cue, the confidence in what was never told lies nearer to that in what was told. So hold every accuracy against the best rule
#   without a model.
#
# **Counted again**, in plain Python: the first number of the sentence. And where a cue is right, to be right is to follow it.

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
# Leave out all facts with a right cue. How many never-told facts does each model still get right, and how many of those told often?
# ```

# %% [markdown]
# ````{solution-start} ex-fooled-rule
# :class: dropdown
# ````

# %%
left = here[here["cue"] != "right"]
some = left["occurrences"].eq(0) | left["occurrences"].ge(often)
left = left[some].assign(told=left["occurrences"].ge(often))
share = stats.estimate(left, ["model", "told"], over="share")
share.set_index(["model", "told"]).round(3)

# %% [markdown]
# What is left of the never-told facts is little, and told facts are above it, but for twins, which were told none. So who leaves such facts out takes away
# most of what is no knowledge, at the price of some that is.
#
# ````{solution-end}
# ````
