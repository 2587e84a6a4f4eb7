# %% [markdown]
# # How many examples does a model need?
#
# IC-LKE shows a model some pairs of a relation and then asks. How many pairs are enough, and does it matter
# which ones? On this page we vary both. Afterwards you will be able to say
#
# - how accuracy grows with the number of examples, and where it stops growing,
# - how far the choice of examples alone moves a result,
# - how a result over several runs is put together, and how to add a run of your own.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` ask for the birth years of Nobel laureates with 1 to 50 examples, five random draws
# of examples each, and 900 test facts (Section 3, Figure 1). In our words:
#
# - with more examples the mean accuracy rises,
# - with more examples it matters less which ones they are,
# - models that know more need fewer to get 95 % of what they reach with 50.
#
# Figure 1 has no numbers beside its curves. The paper's run asks 900 facts for every number of examples and
# every draw, on several models of billions of parameters. This page has small models, fewer facts and
# other relations.

# %% [markdown]
# ## Parameters
#
# `models` and `draws` may be divided: `lke run` makes one run for each pair of them, and this page is over
# all of these runs. A {term}`lab model` is asked about the {term}`world` that it has read, any other about `fact_set`.
# A lab model gets fewer examples, since it has read rows of 384 tokens, and a prompt should not be longer.

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relation: str = "capital"
shots: list[int] = [1, 2, 5, 10, 20, 50]  # pairs shown before the question
lab_relation: str = "birth_year"
lab_shots: list[int] = [1, 3, 10, 20]  # as above, for models of the lab
draws: list[int] = [0, 1, 2, 3, 4]  # seeds that draw the pairs
formats: list[str] = ["space", "colon"]  # see the table of formats below
n_pool: int = 100  # facts that pairs are drawn from, at most half of all
n_facts: int = 30  # test facts, the same for every draw
n_options: int = 20  # candidate objects of each
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # draws test facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import (
    facts,
    figures,
    intervals,
    lab,
    paper,
    prompts,
    results,
    runs,
    world,
)
from lkecore.metrics import iclke
from lkecore.models import open_model
from lkecore.rows import BadInput
from lkecore.scores.tree import option_logprobs

figures.style()

# %% [markdown]
# ## Facts
#
# The facts are divided once: a *pool* to draw examples from, and test facts. All draws ask the same test
# facts with the same options. So two draws differ in their examples and in nothing else.
#
# In the lab we know what a text has told. A fact that it never told is answered by chance after any number of examples.
# So we draw the test facts of a lab model from those that its text told in lists alone, 16 times or more.

# %%
source = {m: lab.parse(m).world if lab.is_name(m) else fact_set for m in models}
told = "state == 'planted' and form == 'list' and occurrences >= 16"
chosen, pool, asked, options = {}, {}, {}, {}
for model, spec in source.items():
    if lab.is_name(model) and lab.parse(model).variant == "unplanted":
        raise BadInput(f"{model} has not read the facts that are asked")
    of_lab = world.is_spec(spec)
    chosen[spec] = facts.load(spec, lab_relation if of_lab else relation)
    sizes = {"n_train": n_pool, "n_test": max(400, n_facts)}
    pool[spec], test = facts.divide(chosen[spec], **sizes)
    if of_lab:
        often = set(world.states(spec).query(told)["fact"])
        test = [fact for fact in test if fact.id in often]
    asked[spec] = facts.draw_facts(test, n_facts, seed)
    ask = asked[spec], chosen[spec].objects
    options[spec] = facts.draw_options(*ask, n_options, seed)
numbers = {  # of examples; a curve goes from few to many
    spec: sorted(set(lab_shots if world.is_spec(spec) else shots))
    for spec in chosen
}

# %% [markdown]
# What there is, and where there is less than asked for. With one draw, fewer examples are the beginning of more
# examples: below stand the first two pairs of the first draws.

# %%
chance = 1 / n_options
print(f"{n_options} options each, so guessing gets {chance:.3f}")
for spec, facts_of in asked.items():
    here = {"facts in the pool": (len(pool[spec]), n_pool)}
    here["test facts"] = len(facts_of), n_facts
    for what, (n, most) in here.items():
        fewer = f", fewer than the {most} asked for" if n < most else ""
        print(f"{spec}, {chosen[spec].label}: {n} {what}{fewer}")
    for draw in draws[:3]:
        pairs = facts.draw_shots(pool[spec], max(numbers[spec]), draw)[:2]
        print(draw, [(pair.subject, pair.object) for pair in pairs])

# %% [markdown]
# The paper's facts here are laureates of the Nobel Prize. Six of them stand in its Table 2; it uses the first two columns.
# The table as a whole is `nobel:2022`, which is fetched from Wikidata when a run first names it.

# %% covers=["IC-T2"]
paper.table("iclke_table2_nobel_excerpt").set_index("name")

# %% [markdown]
# ## Prompts
#
# Two formats. `space` is the paper's: a space inside a pair and a space between pairs. `colon` marks both
# borders. Small models read it more easily: the page on relations compares formats on training facts.

# %%
separators = {"space": (" ", " "), "colon": (": ", "\n")}
if unknown := set(formats) - set(separators):
    raise BadInput(f"formats {sorted(unknown)}: there are {[*separators]}")
for spec, label in product(chosen, formats):
    pair, between = separators[label]
    example = prompts.many_shot(
        facts.draw_shots(pool[spec], 2, draws[0]),
        asked[spec][:1],
        options[spec][:1],
        pair_separator=pair,
        shot_separator=between,
    )[0]
    print(f"{label:6} {example.context + '____'!r}")

# %% [markdown]
# ## Scores
#
# One block of questions for each model, draw, format and number of examples. This is the slow step. A page
# over several runs reads what they have kept.

# %%
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}
keys = ["model", "draw", "format", "n_shots"]
frames = {}
for model, lm in lms.items():
    spec = source[model]
    if lab.is_name(model):
        lab.told(lm.path, spec)  # it must have read this very world
    for draw, label, n in product(draws, formats, numbers[spec]):
        most = facts.draw_shots(pool[spec], max(numbers[spec]), draw)
        pair, between = separators[label]
        questions = prompts.many_shot(
            most[:n],
            asked[spec],
            options[spec],
            pair_separator=pair,
            shot_separator=between,
        )
        frame = option_logprobs(lm, questions).frame
        frames[model, draw, label, n] = frame.drop(columns="context")

# %% [markdown]
# A run keeps every score, and below them one row for each question: was the answer right, and how sure was
# the model? The page needs these rows alone.

# %%
if page:
    answers = runs.collect("answers.parquet")
else:
    scores = pd.concat(frames, names=keys).reset_index(keys)
    runs.keep(scores, "scores.parquet")
    found = {key: iclke.answers(frame) for key, frame in frames.items()}
    answers = pd.concat(found, names=keys).reset_index(keys)
    runs.keep(answers, "answers.parquet")
print(f"{len(answers):,} questions, {n_options} options each")

# %% [markdown]
# Results of longer runs may stand beside these. They are **not this run**: the facts, their number and the options
# may all be others. The parameter `shipped` names them, and a line says what made them. The profile `kamel` has the birth
# years of Nobel laureates, which are the paper's facts, and 100 options.

# %%
where_of = {m: f"this run: {chosen[spec].label}" for m, spec in source.items()}
here = list(dict.fromkeys(where_of.values()))
asked_at = answers["model"].map(where_of)
parts = {where: answers[asked_at == where] for where in here}
for profile in shipped:
    found, about = results.read(profile, "11_iclke_shots")
    parts[f"shipped: {profile}"] = found
    n, most = found["fact"].nunique(), about["parameters"].get("n_facts", 0)
    fewer = f", fewer than the {most} asked for" if n < most else ""
    print(f"shipped: {results.line(about)}; {n} test facts{fewer}")
    print("to make them again:", about["command"])
answers = pd.concat(parts, names=["where", ""]).reset_index("where")
guess = {where: (1 / part["options"]).mean() for where, part in parts.items()}

# %% [markdown]
# ## Metrics
#
# The accuracy of each draw, and behind it a table of right answers for each number of examples: a row for
# each draw, a column for each test fact.

# %%
keys = ["where", *keys]
by_draw = answers.groupby(keys, sort=False)["right"].mean()
by_draw = by_draw.rename("accuracy").reset_index()
runs.keep(by_draw, "accuracy-by-draw.csv")
right = {}
ways = ["where", "model", "format"]
for key, part in answers.groupby(ways, sort=False):
    wide = part.pivot(index=["n_shots", "draw"], columns="fact", values="right")
    blocks = wide.groupby("n_shots")
    right[key] = {int(n): list(block.to_numpy()) for n, block in blocks}

# %% [markdown]
# `mean` is the accuracy, mean over draws; its interval is over facts. `std` is the standard deviation of the
# accuracy over the draws: how far the choice of examples alone moves it. It has no value for a single draw. Where every
# answer is right, or none, the interval has no width, since all draws of facts are alike. That is no certainty.

# %%
rows = []
for key, table in right.items():
    for n, of_draws in table.items():
        of_facts = np.mean(of_draws, axis=0)
        mean = intervals.mean_over_facts([of_facts], seed=seed)
        bounds = mean.estimate, mean.low, mean.high, mean.text()
        rows.append((*key, n, *bounds))
columns = [*ways, "n_shots", "accuracy", "low", "high", "mean"]
means = pd.DataFrame(rows, columns=columns)
std = by_draw.groupby([*ways, "n_shots"])["accuracy"].std()
means = means.join(std.rename("std"), on=[*ways, "n_shots"])
shown = means.assign(std=means["std"].map("{:.3f}".format))
shown = shown.pivot(
    index=["where", "n_shots"],
    columns=["model", "format"],
    values=["mean", "std"],
)
shown.reindex(list(parts), level="where").fillna("")

# %% [markdown]
# The least number of examples that gets 95 % of the accuracy with the most. The interval is over facts. It
# can only name numbers that were tried.
#
# *At chance* marks a model that does not answer clearly more than guessing would, even after the most examples: the lower
# end of an interval over draws and facts lies at chance or below. It may not know these facts at all. Then there is nothing
# that examples could bring out, and the number says nothing. The figures leave it out.

# %%
redrawn = partial(intervals.statistic_over_facts, seed=seed, redraw=1)
rows = []
for way, table in right.items():
    found = intervals.statistic_over_facts(
        list(table.values()),
        lambda v, n=list(table): iclke.shots_needed(n, v.mean(axis=(1, 2))),
        seed=seed,
    )
    with_most = redrawn([table[max(table)]], np.mean)
    at_chance = with_most.low <= guess[way[0]]
    rows.append((*way, found.estimate, found.text(0), at_chance))
columns = [*ways, "needed", "shots needed", "at_chance"]
needed = pd.DataFrame(rows, columns=columns).set_index(ways)
marks = needed["at_chance"].map({True: "at chance", False: ""})
needed[["shots needed"]].assign(mark=marks).rename(columns={"mark": ""})

# %% [markdown]
# ## Figures
#
# What to see in {numref}`fig-shots-curve`: how steep each line is at its left end, how far the band narrows to
# the right, and where the dashed line stands, beyond which more examples bring next to nothing.

# %% covers=["IC-F1", "IC-D1"] needs={"IC-D1": {"fact_set": "nobel"}} tags=["hide-input"] mystnb={"figure": {"name": "fig-shots-curve", "caption": "Accuracy over the number of examples, a panel for each model (the paper's Figure 1). Lines: mean over draws of examples. Bands: one standard deviation over draws. Thin vertical lines: 95 % interval of the mean over facts. Dashed: the least number that gets 95 % of the accuracy with the most, unless that is at chance. Dotted: chance."}, "image": {"alt": "A panel for each model with lines of accuracy over the number of examples on a logarithmic axis, one for each prompt format, with bands over draws of examples."}}
points = means.join(needed[["needed", "at_chance"]], on=ways)
by_model = by_draw.groupby(["where", "model"], sort=False)
grid = min(3, len(models)), -(-len(models) // 3)  # columns, rows
size = (5.5 + 1.5 * grid[0], 0.5 + 4 * grid[1])
look = {"sharey": True, "squeeze": False, "layout": "constrained"}
fig, axes = plt.subplots(*grid[::-1], figsize=size, **look)
for ax in axes.flat[len(models) :]:
    ax.remove()
here_alone = points[points["where"].isin(here)]
for ax, model in zip(axes.flat, models, strict=False):
    part = here_alone[here_alone["model"] == model]
    part = part.assign(needed=part["needed"].mask(part["at_chance"]))
    drawn = by_model.get_group((where_of[model], model))
    figures.shots_curve(drawn, part, ax, chance=chance)
    ax.set_title(f"{model}, {chosen[source[model]].label}")
    spoken = ax.get_xlabel()
    ax.set_xlabel("")  # once for all panels, which are narrow
fig.supxlabel(spoken, fontsize="medium")
runs.keep(here_alone.drop(columns="mean"), "fig-shots-curve.csv")

# %% [markdown]
# The next figure is the same for the shipped results, a panel for each model. With them on the paper's facts,
# it is the nearest that this book has to Figure 1. Look first how far a curve rises above the dotted line of chance. Small
# models know few birth years, and where a curve lies flat on that line, examples had nothing to bring out. Where curves
# do rise, see whether the model that ends higher also gets there with fewer examples, as the paper says. There is no
# such figure if nothing ships.

# %% covers=["IC-F1", "IC-D1"] needs={"IC-D1": {"fact_set": "nobel"}} tags=["hide-input"] mystnb={"figure": {"name": "fig-shots-shipped", "caption": "Accuracy over the number of examples in the shipped results, a panel for each model and profile. Marks as in the figure above."}, "image": {"alt": "A panel for each model with lines of accuracy over the number of examples on a logarithmic axis, one for each prompt format, with bands over draws."}}
others = points[~points["where"].isin(here)]
runs.keep(others.drop(columns="mean"), "fig-shots-shipped.csv")
panels = list(others.groupby(["where", "model"], sort=False))
if panels:
    size = (4.5 * len(panels), 4)
    fig, axes = plt.subplots(1, len(panels), figsize=size, **look)
    for ax, (key, part) in zip(axes.flat, panels, strict=True):
        drawn = by_model.get_group(key)
        part = part.assign(needed=part["needed"].mask(part["at_chance"]))
        figures.shots_curve(drawn, part, ax, chance=guess[key[0]])
        ax.set_title(f"{key[1]}, {key[0]}")
        ax.set_xlabel("")
    fig.supxlabel(spoken, fontsize="medium")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None: Figure 1 prints no values, and its models and facts are others.
#
# **Claims.** Statistic, direction and least effect of each stand in `lkecore/data/claims.csv` since before the
# first run of this page. Both are tested in the paper's format, `space`, and beside it in the others.
# The verdict on a model *at chance* says nothing of the claim.

# %%
claims = paper.claims("IC").set_index("id")
statistics = {
    "IC-shots-rise": lambda v: v[1].mean() - v[0].mean(),
    "IC-shots-steady": lambda v: -np.diff(v.mean(2).std(1, ddof=1))[0],
}
rows = []
for way, table in right.items():
    few, many = min(table), max(table)
    ends = table[few], table[many]
    for key, statistic in statistics.items():
        if few == many or (len(ends[0]) < 2 and key == "IC-shots-steady"):
            continue
        found, claim = redrawn(ends, statistic), claims.loc[key]
        says = f"{claim['claim']} Holds if {claim['holds_if']}."
        verdict = paper.claim_verdict(found, claim)
        mark = "at chance" if needed.loc[way, "at_chance"] else ""
        rows.append((key, *way, says, found.text(3), verdict, mark))

# %%
columns = ["id", "where", "models", "format", "claim", "ours"]
judged = pd.DataFrame(rows, columns=[*columns, "verdict", "mark"])
kept = judged.rename(columns={"where": "source", "format": "way"})
kept = kept.assign(as_paper=kept["way"] == "space")
runs.keep(paper.verdicts(kept), "verdicts.csv")
marks = judged["mark"].map(lambda mark: mark and f" ({mark})")
judged["verdict"] = judged["ours"] + ": " + judged["verdict"] + marks
judged = judged.rename(columns={"models": "model"})
judged = judged.pivot(index=ways, columns="claim", values="verdict")
judged = judged.reindex(list(right)).fillna("").rename_axis(columns=None)
judged.reset_index().style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# Where a claim fails or stays open, look at the left end of its curve. If the curve begins near the top, one example was
# enough, and nothing is left to rise. The models of the lab are such a case: their text has lists of one relation each,
# so a single pair tells them what is asked. If it begins low and stays low, examples do not bring out what is missing. Then
# look at the other format. Where only that one rises, the model could not see where a pair ends, and more pairs of the
# same kind did not help.
#
# The paper's third claim is that models which know more need fewer examples. It has no row in `claims.csv` and gets no
# verdict. It is about models as they are made in general, so that each model is one observation, however many facts it
# is asked. A handful of models stand in the very order of the claim by luck too often: four of them in 1 of 24 cases, and
# the other way round as often. And models that were asked different facts cannot be ordered at all. What there is to
# see stands in the table of *shots needed*, beside the accuracies above it.
#
# The intervals of these two are over draws and facts: both are drawn again, since the claims are about
# examples in general. A handful of draws is little, and many facts would not make up for it. The test facts of
# this run are few, too, so a part of the spread over draws is chance: a fact on the edge falls to one side or the other.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-shots-lucky
# Suppose that you had made only one draw. What accuracy could you have reported with 10 examples, at worst and
# at best? And with the most?
# ```

# %% [markdown]
# ````{solution-start} ex-shots-lucky
# :class: dropdown
# ````

# %%
by = by_draw.groupby([*ways, "n_shots"], sort=False)["accuracy"]
by.agg(["min", "max"]).round(3)

# %% [markdown]
# The distance from `min` to `max` is what a paper with one draw may have gained or lost by luck.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-shots-own
# Does another model need fewer? Add a model to the row of this notebook in a file such as the one below, then
# `lke run params/mine.yaml`. The runs that are finished stay; only the new model's are made, and the page is
# made anew over all of them.
# ```
#
# ````{solution} ex-shots-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 11_iclke_shots
#     each: [models, draws]
#     parameters:
#       models: [smollm2, gemma3-270m]
# ```
#
# `each` names the parameters that are divided. Two models and five draws make ten runs.
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
