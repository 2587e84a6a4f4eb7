# %% [markdown]
# # Which relations does a model know?
#
# A model does not know "facts". It knows capitals better than film directors, or the other way round. On this
# page we measure one relation after the other with IC-LKE. Afterwards you will be able to say
#
# - how well the model knows each relation, and how sure that number is,
# - how much the answer depends on two small signs in the prompt, the separators,
# - what may be compared with the paper's tables, and what may not.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` ask 49 models about 50 relations of T-REx-MC, 400 test facts each, with 50 shots and
# 100 options (Section 4, Figure 5, Tables 7 and 8). In our words:
#
# - models do far better than guessing, which would give 0.01;
# - relations differ much: dates and languages come near 1, "student of" stays near 0.1;
# - which separator stands in the shots hardly matters (Section 4.1, Figure 4).
#
# The paper's run needs about 50 × 400 × 100 option scores for each model, on GPUs for the large ones. This
# page takes minutes on a laptop: it has a small model, other facts, and fewer of them.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all of the fact set
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects; fewer where a relation has fewer
n_facts: int = 30  # test facts of each relation
n_choice: int = 6  # training facts of each relation, to choose the second format
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
from collections import Counter

import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from matplotlib import pyplot as plt

from lkecore import facts, figures, intervals, paper, prompts, runs
from lkecore.metrics import iclke
from lkecore.models import open_model
from lkecore.scores.tree import option_logprobs

figures.style()

# %% [markdown]
# ## Facts
#
# For every relation we draw, once, the shots, the facts to ask and their options. A relation with too few
# objects for the options asked for gets as many as it has, and is marked: guessing is easier there.
#
# Each relation has two sets of questions. The *choice* set comes from training facts that are not shown. It
# may be looked at as often as we like. The *test* set is asked once.

# %%
names = relations or list(facts.relations(fact_set))
loaded, shots, asked, options = {}, {}, {}, {}
for name in names:
    loaded[name] = facts.load(fact_set, name)
    train, test = facts.divide(loaded[name])
    shots[name] = facts.draw_shots(train, n_shots, seed)
    shown = {shot.subject for shot in shots[name]}
    spare = [fact for fact in train if fact.subject not in shown]
    asked["choice", name] = facts.draw_facts(spare, n_choice, seed)
    asked["test", name] = facts.draw_facts(test, n_facts, seed)
    n = min(n_options, facts.max_options(loaded[name]))
    for part in ("choice", "test"):
        options[part, name] = facts.draw_options(asked[part, name], loaded[name].objects, n, seed)
chance = pd.Series({name: 1 / len(options["test", name][0]) for name in names})

# %% [markdown]
# The table lists what there is. `codes` marks look-ups such as country codes. `dropped` counts rows that the
# source repeats. Below it stand the relations of the fact set that are left out here, if any.

# %%
rows = []
for name in names:
    r, n = loaded[name], len(options["test", name][0])
    small = "yes" if n < n_options else ""
    row = (name, r.kind, "yes" if r.codes else "", len(r.facts), len(r.objects), r.repeated)
    rows.append((*row, len(asked["test", name]), n, small))
columns = ["relation", "kind", "codes", "facts", "objects", "dropped", "asked", "options", "fewer"]
display(pd.DataFrame(rows, columns=columns))
print("left out:", ", ".join(sorted(set(facts.relations(fact_set)) - set(names))) or "none")

# %% [markdown]
# ## Prompts
#
# The paper has one space inside a pair and one space between pairs. The model must find out by itself where a
# pair ends. Small models may need help there, so we try a few other formats. All that we try are in this
# list; the first is the paper's.

# %%
formats = {
    "space, space": (" ", " "),  # the paper's
    "space, newline": (" ", "\n"),
    "colon, newline": (": ", "\n"),
    "arrow, newline": (" -> ", "\n"),
    "comma, semicolon": (", ", "; "),
}
for label, (pair, shot) in formats.items():
    example = prompts.many_shot(
        shots[names[0]][:2],
        asked["choice", names[0]][:1],
        options["choice", names[0]][:1],
        pair_separator=pair,
        shot_separator=shot,
    )[0]
    print(f"{label:18}{example.context + '____'!r}")

# %% [markdown]
# ## Scores
#
# First the choice. Every format is tried on the choice set, and the best one that is not the paper's is
# named. No test fact has been asked at this point.

# %%
lms = {name: open_model(name, dtype=dtype) for name in models}
rows = []
for model, lm in lms.items():
    for label, (pair, shot) in formats.items():
        for name in names:
            questions = prompts.many_shot(
                shots[name],
                asked["choice", name],
                options["choice", name],
                pair_separator=pair,
                shot_separator=shot,
            )
            arrays = iclke.to_arrays(option_logprobs(lm, questions).frame)
            rows.append((model, label, name, iclke.accuracy(arrays.logprob, arrays.gold)))
tried = pd.DataFrame(rows, columns=["model", "format", "relation", "accuracy"])
means = tried.groupby(["model", "format"], sort=False)["accuracy"].mean().unstack("model")
paper_format, *others = formats
best = {model: means.loc[others, model].idxmax() for model in models}
means.round(3)

# %%
Markdown(
    "".join(
        f"- **{model}**: beside the paper's format we ask with *{best[model]}*.\n"
        for model in models
    )
)

# %% [markdown]
# Now the test facts, in these two formats. This is the slow step. Shots, facts and options are the same in
# both, so that each answer has its pair.

# %%
frames = []
for model, lm in lms.items():
    for label in (paper_format, best[model]):
        pair, shot = formats[label]
        for name in names:
            questions = prompts.many_shot(
                shots[name],
                asked["test", name],
                options["test", name],
                pair_separator=pair,
                shot_separator=shot,
            )
            frame = option_logprobs(lm, questions).frame
            frames.append(frame.assign(model=model, format=label, relation=name))
scores = pd.concat(frames, ignore_index=True)
runs.keep(scores.drop(columns="context"), "scores.parquet")
print(f"{len(scores):,} options scored")

# %% [markdown]
# ## Metrics
#
# An answer is right when the gold option is the likeliest. For each relation we show accuracy with a 95 %
# interval (Wilson), and the mean confidence in the gold option.
#
# Two yardsticks stand beside it. `chance` is a blind guess. `frequent` guesses the option that is the object
# of most training facts: what one can know about a relation without knowing a single fact.

# %%
right, rows = {}, []
for (model, label, name), part in scores.groupby(["model", "format", "relation"], sort=False):
    arrays = iclke.to_arrays(part)
    right[model, label, name] = iclke.correct(arrays.logprob, arrays.gold)
    interval = intervals.proportion(int(right[model, label, name].sum()), len(arrays.fact))
    sure = iclke.confidence(arrays.logprob)[np.arange(len(arrays.fact)), arrays.gold].mean()
    rows.append((model, label, name, interval.estimate, interval.low, interval.high, sure))
columns = ["model", "format", "relation", "accuracy", "low", "high", "gold_confidence"]
results = pd.DataFrame(rows, columns=columns)

# %%
frequent = {}
for name in names:
    counts = Counter(fact.object for fact in facts.divide(loaded[name])[0])
    guesses = [max(o, key=lambda option: counts[option]) for o in options["test", name]]
    hits = [g == f.object for g, f in zip(guesses, asked["test", name], strict=True)]
    frequent[name] = np.mean(hits)
table = results.assign(
    chance=results["relation"].map(chance), frequent=results["relation"].map(frequent)
)
runs.keep(table, "accuracy-by-relation.csv")
table.round(3)

# %% [markdown]
# Over all relations, each counted alike. The first interval answers: what if *other facts of these relations*
# had been asked? The second: what if *other relations* had been chosen, too? The second is wider, and it is
# the honest one for a sentence about the model.

# %%
rows = []
for model in models:
    for label in (paper_format, best[model]):
        groups = [right[model, label, name] for name in names]
        over_facts = intervals.mean_over_facts(groups, seed=seed)
        over_relations = intervals.mean_over_relations(groups, seed=seed)
        spread = intervals.std_over_relations(groups, seed=seed)
        rows.append((model, label, over_facts, over_relations, spread))
columns = ["model", "format", "over_facts", "over_relations", "std_over_relations"]
overall = pd.DataFrame(rows, columns=columns).set_index(["model", "format"])
overall.map(lambda interval: interval.text(3))

# %% [markdown]
# The two formats on the same facts: the difference of accuracies (second format minus the paper's), relation
# by relation. `p` is McNemar's exact test, corrected by Holm for the number of relations.

# %%
rows, gains = [], {}
for model in models:
    pairs = [(right[model, best[model], n], right[model, paper_format, n]) for n in names]
    gains[model] = [a.astype(float) - b for a, b in pairs]
    p = intervals.holm([intervals.mcnemar(a, b) for a, b in pairs])
    for name, (a, b), p_holm in zip(names, pairs, p, strict=True):
        rows.append((model, name, a.mean() - b.mean(), (a & ~b).sum(), (b & ~a).sum(), p_holm))
columns = ["model", "relation", "difference", "only second right", "only paper's right", "p (Holm)"]
pd.DataFrame(rows, columns=columns).round(3)

# %% [markdown]
# ## Figures
#
# What to see in {numref}`fig-iclke-relations`: which bars clear their dashed mark, the chance of that
# relation; how long the intervals are; and whether the two formats tell the same story about one relation.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-iclke-relations", "caption": "Accuracy by relation in the paper's format and in the one chosen on training facts (IC-LKE). Lines are 95 % Wilson intervals; the dashed mark is chance."}, "image": {"alt": "Horizontal bars of accuracy for each relation, two formats each, with intervals and a mark at chance."}}
figure_data = results[results["model"] == models[0]]
fig, ax = plt.subplots(figsize=(7, 1 + 0.45 * len(names)), layout="constrained")
figures.accuracy_bars(figure_data, ax, chance=chance)
runs.keep(figure_data, "fig-iclke-relations.csv")

# %% [markdown]
# {numref}`fig-iclke-heat` is the paper's Figure 5 for the models that have run here: a row for each model and
# format, a column for each relation, best-known relations on the left.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-iclke-heat", "caption": "Accuracy by model, format and relation (the paper's Figure 5). Relations are ordered by their mean."}, "image": {"alt": "Heat map of accuracy with a row for each model and format and a column for each relation."}}
order = results.groupby("relation")["accuracy"].mean().sort_values(ascending=False).index
heat = results.assign(row=results["model"] + ", " + results["format"])
heat = heat.set_index("relation").loc[order].reset_index()
fig, ax = plt.subplots(figsize=(9, 1.9 + 0.4 * heat["row"].nunique()), layout="constrained")
figures.heat_map(
    heat, ax, index="row", columns="relation", values="accuracy", label="accuracy", limits=(0, 1)
)
runs.keep(heat[["row", "relation", "accuracy", "low", "high"]], "fig-iclke-heat.csv")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper has no numbers for this model, and its facts are not ours. So nothing here can be
# *reproduced* or *differ*. {numref}`fig-iclke-published` puts the published accuracies of the 35 pre-trained
# models (Table 7) above ours, for orientation only.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-iclke-published", "caption": "Published accuracy over 50 relations of T-REx-MC (Table 7, pre-trained models), and ours over the relations of this page: other model, other facts. Grey lines: standard deviation over relations. Ours: interval over relations."}, "image": {"alt": "Dots of published accuracies of 35 models by family, and below a line our model's accuracy in two formats with intervals."}}
table7 = paper.table("iclke_table7_models")
published = table7[table7["is_finetuned"] == "no"].rename(
    columns={"model": "name", "average_accuracy": "accuracy"}
)
ours = [
    (f"{model}, {label}", i.estimate, i.low, i.high)
    for (model, label), i in overall["over_relations"].items()
]
ours = pd.DataFrame(ours, columns=["name", "accuracy", "low", "high"])
fig, ax = plt.subplots(figsize=(8, 9), layout="constrained")
figures.published_dots(published, ax, ours=ours)
runs.keep(ours, "fig-iclke-published.csv")

# %% [markdown]
# Relation by relation (Table 8, mean over the 35 models), for the relations of ours that mean the same as one
# of the paper's. The facts behind a name are not the same: ours come from tables of countries and of film
# festivals, the paper's from Wikipedia.

# %%
table8 = paper.table("iclke_table8_relations").set_index("relation")["average_accuracy"]
wide = results.assign(
    accuracy=[
        intervals.Interval(r.accuracy, r.low, r.high, 0.95, "Wilson").text()
        for r in results.itertuples()
    ]
).pivot(index="relation", columns=["model", "format"], values="accuracy")
same = {name: loaded[name].paper_relation for name in names if loaded[name].paper_relation}
beside = pd.DataFrame({"paper's name": same, "published (35 models)": pd.Series(same).map(table8)})
beside.round(3).join(wide.loc[list(same)].set_axis([" / ".join(c) for c in wide.columns], axis=1))

# %% [markdown]
# **Claims.** A claim can be tested on any model. Statistic, direction and least effect of each were written
# down in `lkecore/data/claims.csv` before the first run of this page. A claim holds if its whole interval
# does; an interval that lies on both sides leaves it undecided.

# %%
claims = paper.claims("IC").set_index("id")
rows = []
for model in models:
    base = [right[model, paper_format, name] - chance[name] for name in names]
    tested = {
        "IC-above-chance": intervals.mean_over_relations(base, seed=seed),
        "IC-relations-differ": overall.loc[(model, paper_format), "std_over_relations"],
        "IC-separator": intervals.mean_over_relations(gains[model], seed=seed),
    }
    for key, interval in tested.items():
        claim = claims.loc[key]
        verdict = paper.claim_verdict(interval, claim["direction"], claim["least_effect"])
        limit = f"{claim['direction']} {claim['least_effect']}"
        rows.append((model, claim["claim"], claim["statistic"], interval.text(3), limit, verdict))
columns = ["model", "claim", "statistic", "ours", "holds if", "verdict"]
pd.DataFrame(rows, columns=columns).style.hide().set_properties(**{"text-align": "left"})

# %% [markdown]
# How to read the third line. The paper varied what stands *inside* a pair, on one relation and on models of
# 7 to 12 billion parameters. Our second format also changes what stands *between* pairs, which tells a model
# where a pair ends, and our default model is fifty times smaller. If the claim fails here, that does not
# refute the paper. It says that the claim must not be taken over to small models without a test.
#
# Other reasons for differences, none of them small: the default model is 4-bit and tuned for instructions;
# code look-ups such as airport codes are harder than most of the paper's relations; and with few facts a
# relation the intervals are wide.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-iclke-frequent
# In which relations does the model beat `frequent`? Where it does not, has it shown that it knows a fact?
# ```

# %% [markdown]
# ````{solution-start} ex-iclke-frequent
# :class: dropdown
# ````

# %%
beats = table[table["low"] > table["frequent"]]
beats.pivot_table(index="relation", columns=["model", "format"], values="accuracy").round(2)

# %% [markdown]
# These are the relations whose whole interval lies above the yardstick. Elsewhere the model may only have
# learned which objects are common, from its training or from the 50 shots.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-iclke-unsure
# Is the model surer when it is right? Compare its confidence in its prediction for right and wrong answers.
# ```

# %% [markdown]
# ````{solution-start} ex-iclke-unsure
# :class: dropdown
# ````

# %%
rows = []
for (model, label, name), part in scores.groupby(["model", "format", "relation"], sort=False):
    arrays = iclke.to_arrays(part)
    top = iclke.confidence(arrays.logprob).max(axis=1)
    rows += [(model, label, *pair) for pair in zip(right[model, label, name], top, strict=True)]
sure = pd.DataFrame(rows, columns=["model", "format", "right", "confidence"])
sure.groupby(["model", "format", "right"], sort=False)["confidence"].agg(["count", "mean"]).round(3)

# %% [markdown]
# If the two means lie far apart, confidence is of use: one may act on sure answers only. The chapters on
# overconfidence will take this up.
#
# ````{solution-end}
# ````
#
# To run this page on another model, or on facts of your own, put this into a file such as
# `params/mine.yaml`, then run `lke run params/mine.yaml`:
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 10_iclke_relations
#     parameters:
#       models: [/path/to/a/model, org/name]
#       fact_set: /path/to/facts
#       n_facts: 200
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
