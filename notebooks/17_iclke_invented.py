# %% [markdown]
# # Would an invented name get it as well?
#
# **Two small models find the country of {glue:text}`real` of great cities, of {glue:text}`sounding` of invented names that sound like them, and of
# {glue:text}`village` of villages that they can hardly have read about.**
#
# ```{glue:figure} fig-invented-names
# :name: fig-invented-names
# :alt: A row for each relation and a panel for each model, with marks with intervals for real subjects, invented names of two kinds and, in one row, villages.
#
# Where the marks of invented names reach those of real subjects, right answers are no knowledge of the subject. Share right by relation; lines:
# 95 % over other facts. The rule is the best without a model.
# ```
#
# A right answer may come from how a name sounds: *Ziajing* is in China, whether or not there is such a place. Our rules look for shared
# words and frequent objects, and do not hear this. So each fact gets {term}`decoys <decoy>`: invented subjects with its object and its
# options. A model does not know what it gets right of these. The shares above are of the same cities; with intervals over them:
# {glue:text}`between`.
#
# Villages do somewhat better than invented names that sound like cities: by {glue:text}`apart` percentage points. So even such a name may be a little
# too easy to beat. A list of facts that score above their decoys, with an error rate of one in ten, is empty for both models, though they have
# {glue:text}`right` facts right: too few of these are surer than all of their decoys.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` take the share of right answers as the part of the facts that a model knows, and compare it with a blind guess
# (Section 4). The paper asks about no invented subject.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["country_of_city"]
estimators: list[str] = ["iclke-colon"]
n_shots: int = 50
n_facts: int = 6  # of each relation
n_options: int = 100
per_fact: int = 3  # sounding names, and villages, of each fact
rate: float = 0.1  # of unknown facts, which a list of known ones may hold
n_draws: int = 200  # halves of the lab's facts that no text states
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0
dtype: str = "float32"

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, prompts, stats
from lkecore.answers import rich, rules
from lkecore.facts.decoys import beside
from lkecore.stats.listed import listed, lists

figures.style()

# %% [markdown]
# ## Facts
#
# Four kinds of decoys. A `sounding` name has letters, each after the two before it, as they follow one another in subjects with the same object, of
# which there must be four. `letters` learns from all subjects of the relation, and keeps every letter that hints at the object. `halves` joins the
# beginning of one name and the end of another with the same object. A `village` is a real place of 500 to 1,500 people. A fact has none if its
# whole name gives the object away, as in *Cuban Peso*.

# %%
size = {"n_shots": n_shots, "n_facts": n_facts, "n_options": n_options}
sample = facts.draw(fact_set, relations, **size, seed=seed, allow_fewer=True)
many = {"sounding": per_fact, "letters": 1, "halves": 1, "village": per_fact}
samples, subjects = beside(sample, many, seed)
shown = subjects[subjects["kind"] != "real"].copy()
shown["decoys"] = shown["subject"] + " (" + shown["object"] + ")"
shown = shown.groupby(["relation", "kind"])["decoys"]
answers.html_table(
    shown.agg(lambda some: ", ".join(some.head(10))).reset_index()
)

# %% [markdown]
# ## Prompts
#
# Facts and decoys are asked after the same pairs.

# %%
questions = {
    (kind, *key): some
    for kind, each in samples.items()
    for key, some in prompts.of_sample(each, estimators).items()
}
print(f"{sum(map(len, questions.values())):,} questions")

# %% [markdown]
# ## Scores
#
# `of` is the fact that a decoy was made for, `hint` what a subject's letters have of the object, and `rule` what the best of four rules without a model
# gets, over all that is asked.

# %%
this = "17_iclke_invented"
by = ["kind", "estimator", "relation"]
ours = answers.ask(
    models,
    answers.sample(questions, sources, by=by),
    "answers.parquet",
    by=by,
    dtype=dtype,
)
ruled = pd.concat(
    rules.cues(each, kept=False).assign(kind=kind)
    for kind, each in samples.items()
)
of_subjects = ["kind", "relation", "fact", "of", "hint", "others"]
ruled = ruled.merge(subjects[of_subjects], on=of_subjects[:3])
answers.save(ruled, "answers-rules.parquet")
every, main = answers.shown(this, ours, sources, dtype=dtype)
ruled, _ = answers.shown(f"{this}-rules", ruled, sources)
at = ["source", "kind", "relation", "fact"]
ruled = ruled.drop_duplicates(at)  # each model's run kept them
ruled["rule"] = ruled[rules.best(ruled)]
its = ruled[[*at, *of_subjects[3:], "rule"]]
every = every.merge(its, on=at, validate="m:1")
every["correct"] = every["correct"].astype(bool)
answers.html_table(answers.columns(every))

# %% [markdown]
# ## Answers
#
# **What decoys get right**, by relation, with intervals over facts, whose decoys are drawn together.

# %%
own = every[every["estimator"] == estimators[0]]
found = stats.estimate(own, ["model", "relation", "kind"], over="of")
stats.table(found, ["model", "relation"], "kind", percent=True)

# %% [markdown]
# **The same facts.** Of those cities of which there are both, invented names that sound alike and villages: what is right, mean over a fact's decoys, and the
# differences.

# %%
city = own[own["relation"] == "country_of_city"]
means = city.groupby(["model", "of", "kind"])["correct"].mean().unstack("kind")
means = means.reindex(
    columns=["real", "sounding", "letters", "village"]
).dropna()
means["village - sounding"] = means["village"] - means["sounding"]
means["village - letters"] = means["village"] - means["letters"]
means = means.rename_axis(columns="what").stack().rename("value").reset_index()
means = means.assign(relation="country_of_city")
alike = pd.DataFrame(columns=["model", "what", "estimate", "low", "high"])
if len(means):  # there are villages of cities alone
    how = {"value": "value", "over": "of", "bounds": None}
    alike = stats.estimate(means, ["model", "what"], **how)
stats.table(alike, "what", "model", percent=True) if len(alike) else "none"

# %% [markdown]
# **A list with an error rate.** The score of a fact or a decoy is its confidence in the object if that is its answer, else -1. A fact's $p$ is the share of
# decoys of its {term}`stratum`, with itself, that score as high; by Benjamini and Hochberg's step all these become $q$, the rate at which the fact is listed:
#
# $$p_i = \frac{1 + |\{j : s_j \ge s_i\}|}{1 + m}, \qquad q_{(k)} = \min_{l \ge k} \frac{n \, p_{(l)}}{l}.$$
#
# If decoys score as *unknown* facts do, at most the share $q$ of a list is unknown, as a mean over draws of decoys {cite:p}`bates2023outliers`. So we say *listed*,
# not *certified*. Do they score so? Where we know the truth, in the lab, we can look.
#
# **The lab.** Of the facts that no text states one half, drawn again and again, are the decoys, the other half are unknown facts among those that are stated. A
# stratum has what the name hints at in common, or, in `no hint`, all decoys are names without a hint, as a careless list would have them.

# %%
lab = answers.results("56_lab_fooled").query("estimator == 'iclke-space'")
lab = rich.with_states(lab, ["occurrences", "cue_right", "state"])
lab = lab[lab["state"].isin(["planted", "never"])]
lab = lab.assign(
    hint=lab["cue_right"].replace("", "none"), size=lab["model"].str[11:]
)
lab = lab[lab["size"].isin(["2m", "0.7m-unplanted"])]
of_list = ["world", "size", "hint", "estimator", "state"]
lab = lab[[*of_list, "correct", "confidence_gold"]].astype({"correct": bool})
rng, rates, rows = np.random.default_rng(seed), [0.05, 0.1, 0.2], []
for (world, its), part in lab.groupby(["world", "size"]):
    never = part["state"].eq("never").to_numpy()
    for _ in range(n_draws):
        half = never & (rng.random(len(part)) < 0.5)
        asked, decoy = part[~half], part[half]
        bare = decoy[decoy["hint"] == "none"]
        for how, some, of in (
            ("same hint", decoy, ["hint"]),
            ("no hint", bare, ["estimator"]),
        ):
            q = listed(asked, some, 0.5, by=of)["q"]
            false = asked["state"].eq("never") | its.endswith("unplanted")
            for rate_ in rates:
                taken = q <= rate_
                share = false[taken].mean() if taken.any() else 0.0
                row = (world, its, how, rate_, share, taken.sum())
                rows.append((*row, taken[~false].mean()))
names = ["world", "size", "decoys", "q", "false", "listed", "found"]
rows = pd.DataFrame(rows, columns=names)
kept = rows.groupby(["size", "decoys", "q", "world"])
kept = kept[["false", "listed", "found"]].mean()
kept.groupby(["size", "decoys", "q"]).agg(["mean", "max"]).round(3)

# %% [markdown]
# With the same hint the false share stays below $q$ in every world, and of twins, which read none of these facts, next to nothing is listed. With decoys that lack
# the hint a quarter of the list is false.
#
# **The list.** Strata are relations, and only facts whose name has no word or run of letters of the object. A relation is listed only if (1) it has 40 facts and 40
# decoys, (2) its decoys sound alike, or each of its objects has one subject and at most 5 % of the decoys are right, and (3) names made in another way, by halves
# and villages, get $p \le q$ in at most $q + 2 \sqrt{q (1 - q) / n}$ of cases.

# %%
each = {}
if own["kind"].isin(["sounding", "letters"]).any():
    each = {model: lists(of, rate) for model, of in own.groupby("model")}
real = own[own["kind"] == "real"].assign(p=np.nan, q=np.nan, listed=False)
known = pd.concat([of for of, _ in each.values()] or [real])
by_relation = {
    model: of.set_index("relation") for model, (_, of) in each.items()
}
pd.concat(by_relation).round(2) if each else "no fact has a decoy"

# %% [markdown]
# **Villages as unknown facts.** If decoys are as hard to guess as villages, a tenth of the villages has a $p$ of at most a tenth. By which decoys is that so? Share of
# villages, intervals over cities:

# %%
nulls = []
for kind in ["sounding", "letters"]:
    for _, its in city.groupby("model"):
        villages = its[its["kind"] == "village"]
        some = its[its["kind"] == kind]
        if len(villages) and len(some):
            p = listed(villages, some, rate)["p"]
            nulls.append(villages.assign(decoys=kind, value=p.le(rate)))
if nulls:
    how = {"value": "value", "over": "of"}
    nulls = stats.estimate(pd.concat(nulls), ["model", "decoys"], **how)
    nulls = stats.table(nulls, "model", "decoys", percent=True)
nulls if len(nulls) else "there are no villages"

# %% [markdown]
# **Why is the list empty?** A stratum of $m$ decoys gives no $p$ below $1 / (1 + m)$. `least` is the smallest $p$ of a model's facts, `have` the number of facts
# with it, and `need` the number that would have to have it for a list at this rate.

# %%
smallest = known.groupby("model")["p"].agg(least="min", facts="count")
smallest["have"] = known.groupby("model")["p"].agg(
    lambda p: (p == p.min()).sum()
)
smallest["need"] = np.ceil(smallest["least"] * smallest["facts"] / rate)
smallest.round(3)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-invented-names`, at the top, compare the mark of real subjects with those of the names that sound alike. In
# {numref}`fig-invented-rate` follow the line of decoys with the same hint: it stays below the diagonal.
#
# ```{glue:figure} fig-invented-rate
# :name: fig-invented-rate
# :alt: Two panels, a lab model and its twin, with the share of never stated facts in the list over the rate that was asked for, for decoys with the same hint and without, and a grey diagonal.
#
# A list holds as many unknown facts as it promises if decoys hint as facts do, and far more if they do not. Mean of three worlds; lines: least and
# largest world; grey: the rate itself.
# ```

# %% tags=["hide-input"]
marks = found[found["kind"] != "halves"].copy()
marks["asked"] = marks["kind"].map(
    {"real": "real subjects", "village": "villages"}
)
marks["asked"] = marks["asked"].fillna("names by " + marks["kind"])
best = own[own["kind"] == "real"].groupby(["model", "relation"])["rule"].mean()
best = best.rename("estimate").reset_index()
marks = pd.concat([marks, best.assign(asked="a rule without a model")])
marks["panel"] = marks["model"].map(figures.display_name)
marks["relation"] = marks["relation"].str.replace("_", " ")
look = {"x": "relation", "hue": "asked", "panel": "panel", "across": True}
grid = figures.marks(marks, **look, height=5)
figures.glue_figure(grid.figure, "fig-invented-names", marks)

# %% tags=["hide-input"]
of_worlds = kept.groupby(["size", "decoys", "q"])["false"]
lines = of_worlds.agg(estimate="mean", low="min", high="max").reset_index()
grid = figures.marks(
    lines, x="q", hue="decoys", panel="size", curve=True, label="false share"
)
for ax in grid.axes.flat:
    ax.plot(rates, rates, color="grey", ls="--", zorder=0)
figures.glue_figure(grid.figure, "fig-invented-rate", lines)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper asks no invented subject. **Claims**, both ours and written down before Gemma was asked, on its answers.

# %%
other = models[-1] if not sources else "gemma3-270m"
gaps = alike[alike["model"] == other].set_index("what")
tested = {
    "IC-villages-as-sounding": "village - sounding",
    "IC-letters-below-villages": "village - letters",
}
tested = {k: gaps.loc[v] for k, v in tested.items() if v in gaps.index}
if not sources:
    tested = {k: v.to_frame().T.assign(model=other) for k, v in tested.items()}
judged = answers.verdicts(tested)
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
each = {
    kind: alike[alike["what"] == kind].set_index("model")
    for kind in ("real", "sounding", "village", "village - sounding")
}
gap = each.pop("village - sounding")
mean = kept.groupby(["size", "decoys", "q"])["false"].max()
holds = {}
if sources:
    holds = {
        "two models": len(gap) == 2,
        "below great cities": (
            each["real"]["low"] > each["sounding"]["high"]
        ).all(),
        "villages do better": (gap["estimate"] > 0).all(),
        "empty for both models": not known["listed"].any(),
        "below the rate in every world": all(
            mean["2m", "same hint", rate_] <= rate_ for rate_ in rates
        ),
        "a quarter": mean["2m", "no hint", 0.1] > 0.25,
    }
figures.sentence(holds)


def both(frame: pd.DataFrame) -> str:
    """The shares of the models, as the sentence has them."""
    return " and ".join(f"{x:.0%}" for x in frame["estimate"])


figures.glue_values(
    **{kind: both(part) for kind, part in each.items()},
    between="; ".join(
        f"{figures.display_name(model)} "
        + ", ".join(
            stats.format_estimate(part.loc[model], percent=True)
            for part in each.values()
        )
        for model in gap.index
    ),
    right=" and ".join(
        f"{n:,}" for n in known.groupby("model")["correct"].sum()
    ),
    apart=" and ".join(
        stats.format_estimate(row, percent=True).replace(" %", "")
        for _, row in gap.iterrows()
    ),
)

# %% [markdown]
# ## What you have seen
#
# - A right answer may be about a name and not about the subject. Invented names with the same sound show how much of an accuracy that is.
# - Decoys are only as good as their likeness: names of all letters of a relation are far easier to beat than real villages are.
# - With decoys that are like unknown facts, a list of facts has an error rate that one can choose. Where nobody can check that they are, it is a list,
#   and no certificate.
#
# One share again, by a plain mean over facts of the means of their decoys:

# %%
row = found.iloc[0]
its = own[own["model"].eq(row["model"]) & own["kind"].eq(row["kind"])]
its = its[its["relation"] == row["relation"]].groupby("of")["correct"].mean()
assert abs(sum(its) / len(its) - row["estimate"]) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-invented-shares
# A model finds 70 % of real subjects and 40 % of decoys that sound alike. If what it does not know it guesses as it guesses decoys, how many of the
# real subjects does it know?
# ```
# ````{solution} ex-invented-shares
# :class: dropdown
# Half: with a share $k$ known, $k + (1 - k) \cdot 0.4 = 0.7$.
# ````
#
# On the facts of the lab, where the truth is known, or on a table of your own:
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 17_iclke_invented
#     parameters:
#       models: [smollm2]
#       fact_set: my.csv
#       relations: []
#       n_facts: 60
# ```
