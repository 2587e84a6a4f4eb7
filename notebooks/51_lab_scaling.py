# %% [markdown]
# # How much does a model know for its size?
#
# A model that answers a fact wrongly may have read it too seldom, or may be too small to keep it. With a real
# model this is hard to tell: its text is seldom public, and too large to count in. A model of the lab has read a text that we wrote, fact
# by fact. So we can plant facts once, twice, up to 64 times, give the same text to models of different
# sizes, and see what each of them gives back. Afterwards you will be able to say
#
# - how often a text must tell a fact until a model of a given size answers it,
# - what a larger model makes better, and where it makes no difference,
# - how far such a curve moves when the world is another one, and which claims hold in each of three worlds.

# %% [markdown]
# ## What the paper claims
#
# There is no one paper behind this page. Two lines of work say what to expect.
#
# - {cite:t}`allenzhu2024capacity` train models on invented biographies until they hold no more. A fact that
#   was told 1000 times takes half a parameter for each of its bits: a model can hold 2 bits a parameter.
#   With 100 tellings it is about 1 bit. So what a model *can* hold grows with its size in proportion.
# - {cite:t}`chang2024acquire` put new facts into the text of large models while these are trained. Each
#   telling makes the fact a little more probable, and what was gained fades until the next one. So what a
#   model *does* hold grows with the number of tellings.
#
# Both look at the probability of the told words. We ask as the rest of this book asks: with an
# {term}`estimator` that knows nothing of the training. Our worlds are small. A table below says how full they make
# the models. So this page is about how *fast* models of different sizes learn, not about how much
# they can hold at most. The published models have up to billions of parameters and took many GPUs. Ours are
# trained in minutes on a laptop.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = [
    "lab:book-1/0.15m",
    "lab:book-1/0.7m",
    "lab:book-1/2m",
]  # of one world, which is also the fact set
estimators: list[str] = ["iclke-space", "template-1"]
relations: list[str] = [
    "author",
    "birth_year",
    "first_language",
    "residence",
]  # empty: all of the world
n_shots: int = 50  # pairs shown before the question, IC-LKE alone
n_options: int = 100  # candidate objects; must be all of a relation
often: int = 16  # exposures from which a fact counts as told often
shipped_worlds: list[str] = ["lab"]  # the profile of results/ with more worlds
seed: int = 0  # draws shots, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import display
from matplotlib import pyplot as plt
from statsmodels.stats.proportion import confint_proportions_2indep

from lkecore import facts, figures, intervals, prompts, runs
from lkecore import papers as paper
from lkecore.answers import shipped as results
from lkecore.answers import words
from lkecore.errors import BadInput
from lkecore.facts import world
from lkecore.metrics import dose
from lkecore.metrics import planted as lab_metrics
from lkecore.models import lab, open_model
from lkecore.scores.tree import option_logprobs

figures.style()

# %% [markdown]
# ## Facts
#
# All models of this page have read the same world. Its facts to show (the shots) and its facts to ask are
# set by the world itself. We ask all of them.

# %%
worlds = sorted({lab.parse(name).world for name in models})
if len(worlds) > 1:
    raise BadInput(f"the models are of {worlds}: compare those of one world")
[spec] = worlds
named = {name: lab.parse(name) for name in models}
for name, of in named.items():
    if of.variant or lab.RECIPES[of.model].kind != "causal":
        raise BadInput(f"{name}: causal models without a suffix only")
names = relations or list(facts.relations(spec))
loaded, shots, asked, options = {}, {}, {}, {}
for name in names:
    loaded[name] = facts.load(spec, name)
    train, asked[name] = facts.divide(loaded[name])
    shots[name] = facts.draw_shots(train, n_shots, seed)
    options[name] = facts.draw_options(
        asked[name], loaded[name].objects, n_options, seed
    )
chance = 1 / n_options

# %% [markdown]
# The table counts the facts that are asked, in all relations together. An {term}`exposure` is one telling of
# a fact in the text that the model reads; the models of this page read it once. Facts of one row differ in
# form, and in what comes with it: a sentence may stand twice in one paragraph, a pair stands once in a list. `never` are the facts that no line of the
# text tells. Nobody can know them, so they show what guessing gets.

# %%
every, about = results.read(
    *shipped_worlds, "50_lab_truth"
)  # shown further down
beside = *shipped_worlds, "55_lab_writing"
written, _ = results.read(*beside, apart="written")
of_eic, _ = results.read(*beside, apart="eic")
states = world.states(spec)
here = states[(states["split"] == "test") & states["relation"].isin(names)]
planted = here[here["state"] == "planted"]
if often not in set(planted["occurrences"]):
    raise BadInput(f"often is {often}: no fact is told just so often")
counts = planted.pivot_table(
    index="occurrences", columns="form", values="fact", aggfunc="count"
)
display(counts.rename_axis("told").fillna(0).astype(int))
here["state"].value_counts()

# %% [markdown]
# ## Prompts
#
# Two estimators are the default. `iclke-space` is IC-LKE in the paper's format: pairs, then the subject,
# spaces between all of them. `template-1` is a sentence with a blank, which also stands in the text. They ask
# the same facts with the same options. The page before this one compares five estimators. Here the question
# is what the models know, so tables are of `iclke-space` where they do not say otherwise.

# %%
main = "iclke-space"
if main not in estimators:
    raise BadInput(f"estimators {estimators}: the claims need {main}")
questions = {}
for estimator in estimators:
    for name in names:
        ask = shots[name], asked[name], options[name]
        asks = prompts.asking(estimator, loaded[name], *ask)
        questions[estimator, name] = asks
    example = questions[estimator, names[0]][0]
    print(f"{estimator:12} ...{example.context[-48:] + ' ____'!r}")

# %% [markdown]
# ## Scores
#
# Every model is asked every question. What the page before has asked already is taken from the cache. Beside
# each answer stands what the text told of the fact. That record is refused for a model which has read another
# world.

# %%
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}
keys = ["model", "world", "estimator"]
frames = {}
for model, lm in lms.items():
    truth = lab.told(lm.path, spec)
    for (estimator, name), asks in questions.items():
        frame = option_logprobs(lm, asks).frame
        found = lab_metrics.answers(frame, truth)
        frames[model, spec, estimator, name] = found

# %% [markdown]
# A run keeps one row for each answer, and how many parameters each model has. The single log-probabilities are
# not kept: they are hundreds of thousands, and the cache has them.
#
# From here on the models have short names, and stand in the order of their size. All have read equally many
# tokens, in the same order: the text is the same, and so is its cutting into tokens. Each size has the learning
# rates that suited it on the development world.

# %%
if page:
    answers = runs.collect("answers.parquet")
else:
    answers = pd.concat(frames, names=[*keys, ""]).reset_index(keys)
    answers = answers.reset_index(drop=True)
    runs.keep(answers, "answers.parquet")
if page:
    sizes = runs.collect("sizes.parquet")
else:
    records = [lab.record(lm.path) for lm in lms.values()]
    sizes = pd.DataFrame(records)[["name", "parameters", "tokens"]]
    runs.keep(sizes, "sizes.parquet")
print(f"{len(answers):,} questions asked")
sizes = sizes.sort_values("parameters")
sizes["size"] = sizes["name"].str.partition("/")[2]
by_size = sizes["size"].tolist()
answers["size"] = answers["model"].str.partition("/")[2]
sizes.set_index("size")

# %% [markdown]
# ## Metrics
#
# An answer is right when the true object is the likeliest option. We pool the facts of all relations, since
# each relation has equally many of every kind. The intervals are Wilson's, over facts. The row with 0
# exposures has the facts that were never told; they have no form, so they stand in all three columns.

# %%
dose_keys = ["size", "estimator", "form", "exposures"]
planted = answers[answers["state"] == "planted"]
forms = [f for f in ("list", "sentence", "both") if f in set(planted["form"])]
never = answers[answers["state"] == "never"]
none = [never.assign(form=form, exposures=0) for form in forms]
rows = []
for key, part in pd.concat([*none, planted]).groupby(dose_keys)["correct"]:
    cell = intervals.proportion(int(part.sum()), len(part))
    bounds = cell.estimate, cell.low, cell.high, cell.text()
    rows.append((*key, len(part), *bounds))
columns = [*dose_keys, "facts", "accuracy", "low", "high", "text"]
curve = pd.DataFrame(rows, columns=columns)
shown = curve[curve["estimator"] == main].pivot(
    index="exposures", columns=["form", "size"], values="text"
)
shown[[(form, size) for form in forms for size in by_size]].fillna("")

# %% [markdown]
# That is IC-LKE; the figure below has the templates too. How many exposures does a fact
# need? We read it off the curve: the number at which half of the facts are answered rightly, on a straight line
# between two doses (in doublings). The interval holds every number of exposures at which one half lies in the
# interval of the accuracy. Where the curve does not come to one half within the doses of the world, there is no
# such number, and the table says `>` and the largest dose.

# %%
rows = []
told = curve[curve["exposures"] > 0]
fewest = told["exposures"].min()
for key, part in told.groupby(dose_keys[:3]):
    ends = [
        dose.exposures_needed(part["exposures"], part[which])
        for which in ("accuracy", "high", "low")
    ]
    least, top = part["exposures"].min(), part["exposures"].max()
    texts = [
        f"> {top}"
        if end > top
        else f"≤ {least}"
        if end <= least
        else f"{end:.1f}"
        for end in ends
    ]
    rows.append((*key, *ends, f"{texts[0]} [{texts[1]}, {texts[2]}]"))
columns = [*dose_keys[:3], "needed", "low", "high", "text"]
needed = pd.DataFrame(rows, columns=columns)
runs.keep(needed.drop(columns="text"), "exposures-needed.csv")
shown = needed.pivot(index="size", columns=["estimator", "form"], values="text")
shown.loc[by_size, [(e, f) for e in estimators for f in forms]]

# %% [markdown]
# What does size alone add? All models were asked the same facts, so each fact is its
# own comparison. The table goes from each size to the next. A cell has the accuracy of the larger model minus that of
# the smaller, with a paired interval over facts (with eight facts of each relation about 6 % too narrow). The last
# column pools the facts that were told often.

# %%
small, large = by_size[0], by_size[-1]
in_lists = planted[planted["form"] == "list"]
each_dose = planted.assign(dose=planted["exposures"].astype(str))
told_often = planted[planted["exposures"] >= often]
told_often = told_often.assign(dose=f"{often} and more")
index = ["estimator", "form", "dose", "relation", "fact"]
wide = pd.concat([each_dose, told_often])
wide = wide.pivot(index=index, columns="size", values="correct")
rows = []
for key, part in wide.groupby(index[:3]):
    for less, more in zip(by_size, by_size[1:], strict=False):
        groups = [group for _, group in part.groupby("relation")]
        groups = [[group[size] for group in groups] for size in (more, less)]
        gain = intervals.paired_difference(*groups, seed=seed)
        only = part[more] & ~part[less], part[less] & ~part[more]
        p = intervals.mcnemar(part[more], part[less])
        bounds = gain.estimate, gain.low, gain.high, gain.text()
        rows.append((*key, less, more, *bounds, *(o.sum() for o in only), p))
columns = [*index[:3], "smaller", "larger", "gain", "low", "high", "text"]
columns += ["larger_only", "smaller_only", "p"]
gained = pd.DataFrame(rows, columns=columns)
runs.keep(gained.drop(columns="text"), "gain-by-size.csv")

# %% [markdown]
# With one model there is no step, and the tables are empty. The second table has the last column once more. Two of its
# columns count the facts that only one of the two models answers rightly. `p` is McNemar's exact test, corrected by
# Holm for all rows of the table (in the kept file it is not corrected). The last column says which of the two finds more
# where `p` is below 0.05. The line below the table counts how often it is which.

# %%
by = [*index[:2], "smaller", "larger"]
shown = gained.pivot(index=by, columns="dose", values="text")
doses = [str(n) for n in sorted(planted["exposures"].unique())]
display(shown.reindex(columns=[*doses, f"{often} and more"]).fillna(""))
steps = gained[gained["dose"] == f"{often} and more"].set_index(by)
steps = steps[["text", "larger_only", "smaller_only", "p"]]
steps["p"] = intervals.holm(steps["p"])
clear = steps["p"] < 0.05
up = steps["larger_only"] > steps["smaller_only"]
steps["finds more"] = np.where(up, "the larger", "the smaller")
steps.loc[~clear, "finds more"] = "not clear"
steps["p"] = steps["p"].map("{:.2g}".format)
display(steps.rename(columns={"text": "gain"}))
print(
    f"Of {len(steps)} steps to a larger model, it finds more in "
    f"{(clear & up).sum()} and less in {(clear & ~up).sum()}; "
    f"in {(~clear).sum()} there is no clear difference."
)

# %% [markdown]
# A larger model cannot gain where there is nothing to gain. So look for the dose with the largest gain. Well
# below it neither model has had enough tellings. If the gain falls again above it, the smaller model catches up; if
# not, it levels off lower.
#
# How full are the models? To know which of 100 objects belongs to a subject is worth $\log_2 100 = 6.6$ bits.
# The first column of bits counts every fact that the whole text tells, the shown ones too, as if a model knew
# them all. The second counts the planted facts that are asked here, the third those of them that IC-LKE finds.
# All are divided by the number of parameters.

# %%
bits = np.log2(states.groupby("relation")["object"].nunique())
all_told = bits[states.loc[states["told"] != "", "relation"]].sum()
part = planted[planted["estimator"] == main]
part = part.assign(bits=part["relation"].map(bits))
by = part.groupby("size")["bits"].sum()
found = part[part["correct"]].groupby("size")["bits"].sum()
filled = sizes.set_index("size")[["parameters"]]
filled["all told"] = all_told / filled["parameters"]
filled["asked"] = by / filled["parameters"]
filled["found"] = found.reindex(filled.index).fillna(0) / filled["parameters"]
filled.round(4)

# %% [markdown]
# {cite:t}`allenzhu2024capacity` find about 1 bit a parameter after 100 exposures and 2 after 1000, in models that are
# told far more than they can hold. Compare that with the column `all told`: as long as it is far below 1, no model
# of this page is short of room for these facts. Told often enough, even the smallest could hold them by that
# law. So where a small model fails here, room is not the likely reason. That it learns less from each telling would
# explain it; this page does not test that. Our sum is no measurement of capacity, and it is
# rough: it counts which of the objects it is, and leaves out what it takes to know the names themselves, the
# grammar and the format of lists.
#
# Now the question of luck. Another world has other names and another text, and its models begin from other
# random weights. One world cannot say how much this moves the numbers. So results from a longer run ship with
# the book, of several worlds, with all that the longer run asked there. They are **not made by this run**; the
# lines below say what made them. (If one says that these worlds are of another size, they have more or fewer facts and
# options as well: then no difference below is one of luck alone.)

# %%
told_there = [world.states(of).assign(world=of) for of in about["worlds"]]
told_there = pd.concat(told_there, ignore_index=True)
named = {name: lab.parse(name) for name in every["model"].unique()}
decoders = [
    name
    for name, n in named.items()
    if not n.variant and lab.RECIPES[n.model].kind == "causal"
]
there = every[every["model"].isin(decoders)]
shipped = there[(there["state"] == "planted") & (there["form"] == "list")]
shipped = shipped[shipped["estimator"] == main]
# Other worlds alone, and the relations of this run: else it is no comparison.
same = shipped[shipped["relation"].isin(names) & (shipped["world"] != spec)]
print("shipped:", results.line(about))
print("to make them again:", about["command"])
of_size = {of.rpartition("-")[0] for of in (spec, *about["worlds"])}
if len(of_size) > 1:
    print("the worlds differ in size:", ", ".join(sorted(of_size)))

# %% [markdown]
# First the requirement that the page before this one puts to IC-LKE: its confidence must tell facts that were told
# often in lists from facts that were never told, with an {term}`AUROC` of at least 0.95. Here it is tested in every
# world of the shipped results, with all relations there. Each control is used once. The claim is about the largest
# size.
#
# Controls about a subject that the text never names are left out, as on that page. Among them are all of the relation
# `country`: a city whose country is not told stands nowhere else. The last two columns count all controls, to show
# what this changes.

# %%
pairs = lab_metrics.controls(there[there["state"].isin(["planted", "never"])])
pairs = pairs[(pairs["estimator"] == main) & (pairs["form"] == "list")]
pairs = pairs[pairs["exposures"] >= 16]
fit = lab_metrics.familiar(pairs, told_there)
claim = paper.claims("LAB").set_index("id").loc["LAB-list-auroc"]
aurocs, rest = {}, []
for which, some in (("fit", fit), ("all", pairs)):
    some = lab_metrics.each_control_once(some, [], seed=seed)
    for model, part in some.groupby("model"):
        both = part["confidence_gold"], part["control"]
        auroc = intervals.auroc_over_pairs(*both, seed=seed, n_resamples=1_000)
        aurocs[model, which] = len(part), auroc
rows = []
for model in sorted({model for model, _ in aurocs}):
    (n, auroc), (n_all, of_all) = aurocs[model, "fit"], aurocs[model, "all"]
    verdict = paper.claim_verdict(auroc, claim)
    texts = auroc.text(3), verdict, n_all, of_all.text(3)
    rows.append((*model.split("/"), n, *texts))
columns = ["world", "size", "pairs", "AUROC", "above 0.95", "all", "AUROC, all"]
pd.DataFrame(rows, columns=columns).set_index(columns[:2])

# %% [markdown]
# One row for each size, one column for each world, IC-LKE and facts told in lists: this run's world, and the
# shipped ones that it does not have, with the same relations. `often` is the accuracy of
# facts that were told often, `needed` the exposures at which half are found. Each world is one trial. A few
# worlds are too few for an interval over worlds, so we show them all.

# %%
own = in_lists[in_lists["estimator"] == main]
rows = []
for source, frame in (("this run", own), ("shipped: lab", same)):
    for (of, model), part in frame.groupby(["world", "model"]):
        curve_of = part.groupby("exposures")["correct"].mean()
        half = dose.exposures_needed(curve_of.index, curve_of)
        share = part.loc[part["exposures"] >= often, "correct"]
        cell = intervals.proportion(int(share.sum()), len(share))
        bounds = cell.estimate, cell.low, cell.high
        last = curve_of.index.max()
        rows.append((source, of, model, len(share), *bounds, half, last))
columns = "source world model facts often low high needed most".split()
by_world = pd.DataFrame(rows, columns=columns)
by_world["size"] = by_world["model"].str.partition("/")[2]
order = by_world.drop_duplicates("size").set_index("size")["model"]
order = order.map(lab.size).sort_values().index.tolist()
shown = by_world.pivot(
    index="size", columns=["source", "world"], values=["often", "needed"]
)
shown.loc[order].round(2)

# %% [markdown]
# `inf` means that half was not reached. Compare two distances: from world to world in one row, and from row to
# row in one world. Only if the second is clearly larger is the effect one of size. A part of the first is the
# facts' own chance, since each world has other ones.
#
# Do the kinds of relations differ? This needs more relations than the run above may have, so the table is of the
# **shipped** results, all worlds together: facts that were told often, in lists. The interval is about other facts
# of these relations, for these very models. Two or three relations of a kind are too few for an interval over
# relations, so each stands by itself: if they differ as much inside a kind as between kinds, the kind explains
# nothing. No name of the lab was known to a
# model beforehand, be it of a city or of a language. So only small things can make a difference here: how many
# tokens the names have, how much else is told of the same subject, how the sentences are worded. What kinds of
# real relations differ in is more than that.

# %%
strong = shipped[shipped["exposures"] >= often]
strong = strong.assign(size=strong["model"].str.partition("/")[2])
rows = []
for key, part in strong.groupby(["size", "kind"]):
    groups = [group["correct"] for _, group in part.groupby("relation")]
    over_facts = intervals.mean_over_facts(groups, seed=seed).text()
    each = part.groupby("relation")["correct"].mean()
    wider = ", ".join(f"{name} {share:.2f}" for name, share in each.items())
    rows.append((*key, len(groups), len(part), over_facts, wider))
columns = "size kind relations facts over_facts each_relation".split()
by_kind = pd.DataFrame(rows, columns=columns).set_index("size")
by_kind.loc[[size for size in order if size in by_kind.index]]

# %% [markdown]
# ## Figures
#
# What to see in {numref}`fig-lab-dose`: where each curve leaves the dotted line, how steep it is, and how far it
# is from one model to the next along the *horizontal*. So many more tellings does the smaller model need. At
# the far left stand the facts that were never told.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-lab-dose", "caption": "Dose and response: the share of facts that are answered rightly, over the number of times that the text tells them. A column for each form of telling, a row for each estimator, a line for each size of model. 0: never told. Vertical lines: 95 % Wilson intervals. Dotted: chance. Dashed: one half."}, "image": {"alt": "Panels of rising curves of accuracy over the number of exposures on a logarithmic axis, one curve for each size of model."}}
grid = dict(sharex=True, sharey=True, squeeze=False, layout="constrained")
grid["figsize"] = 2 + 2.4 * len(forms), 1 + 2.2 * len(estimators)
fig, axes = plt.subplots(len(estimators), len(forms), **grid)
at = dict(x="at", y="accuracy", hue="size", style="size")
look = dict(hue_order=by_size, style_order=by_size, markers=True, dashes=False)
colours = dict(zip(by_size, sns.color_palette(n_colors=9), strict=False))
curve["at"] = curve["exposures"].replace(0, fewest / 2)
for (estimator, form), part in curve.groupby(["estimator", "form"]):
    ax = axes[estimators.index(estimator), forms.index(form)]
    for is_told, some in part.groupby(part["exposures"] > 0):
        look["legend"] = ax is axes[0, 0] and is_told
        sns.lineplot(some, ax=ax, palette=colours, **at, **look)
    ends = part["low"], part["high"]
    ax.vlines(part["at"], *ends, color=part["size"].map(colours), lw=1)
    ax.axhline(chance, color=figures.DARK, ls="dotted", lw=1.2)
    ax.axhline(0.5, color=figures.DARK, ls="dashed", lw=0.8)
    ax.set_xscale("log", base=2)
    ticks = curve.drop_duplicates("at")
    ax.set_xticks(ticks["at"], ticks["exposures"])
    ax.set(xlabel="exposures", ylabel=f"accuracy, {estimator}", ylim=(0, 1.02))
    ax.set_title(f"form: {form}", fontsize="medium")
names_and_lines = axes[0, 0].get_legend_handles_labels()
axes[0, 0].get_legend().remove()
fig.legend(*names_and_lines, loc="outside upper center", ncols=6)
runs.keep(curve.drop(columns=["text", "at"]), "fig-lab-dose.csv")

# %% [markdown]
# {numref}`fig-lab-size` sets size against both summaries, for facts told in lists. Dark marks are this run. The
# other colour is **not this run**: it is the shipped result, one mark for each world. Look whether the marks of one
# size stay together, and clear those of the next size.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-lab-size", "caption": "Left: accuracy of facts that were told often, over the size of the model. Right: exposures at which half of the facts are found, in doublings; at the upper edge: half was not reached. Facts told in lists, IC-LKE. Dark: this run. Pink: shipped results of a longer run, one line for each world. Vertical lines: 95 % Wilson intervals over facts."}, "image": {"alt": "Two panels over the size of the model: accuracy of facts told often, and exposures needed for half of the facts, with marks for this run and for each world of the shipped results."}}
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
top = 2 * by_world["most"].max()
by_world["half"] = by_world["needed"].clip(upper=top)
by_world["made by"] = by_world["source"] + ", " + by_world["world"]
rank = {name: i for i, name in enumerate(by_world["made by"].unique())}
aside = 0.12 * by_world["made by"].map(rank) - 0.06 * (len(rank) - 1)
by_world["at"] = by_world["size"].map(order.index) + aside
pink = sns.color_palette()[4]
colours = {n: pink if "shipped" in n else figures.DARK for n in rank}
look = dict(x="at", hue="made by", style="made by", palette=colours)
look |= dict(markers=True, dashes=False, markersize=8, data=by_world)
sns.lineplot(y="often", ax=axes[0], **look)
sns.lineplot(y="half", ax=axes[1], legend=False, **look)
ends = by_world["low"], by_world["high"]
axes[0].vlines(by_world["at"], *ends, color=by_world["made by"].map(colours))
axes[0].set(ylim=(0, 1), ylabel=f"accuracy, told {often} times or more")
axes[1].set_yscale("log", base=2)
ticks = [2**i for i in range(int(np.log2(top)))]
axes[1].set_yticks([*ticks, top], [*ticks, "more"])
axes[1].set(ylim=(0.8, 1.1 * top), ylabel="exposures needed for one half")
for ax in axes:
    ax.set_xticks(range(len(order)), order)
    ax.set_xlabel("size of the model (parameters)")
runs.keep(by_world.drop(columns=["at", "half"]), "fig-lab-size.csv")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None can be reproduced: the published models, texts and measures are others. The table of bits
# above puts the published law beside ours, and says what is compared with what.
#
# **Claims.** All are our own, three of this page and then those of the page before. Statistic, direction and
# least effect of each were written down in `lkecore/data/claims.csv` before anybody looked at the worlds that
# this book reports, all but the one on tuning (see below). One rule is later, too: that a control is
# left out if the text never names its subject. So the claims on AUROC stand here with all controls as well.
# Worlds with the seed 0 were for trying things out, and nothing here comes from one of them. The three are about IC-LKE in the paper's format and facts
# that were told in lists. The first compares facts that are not the same, so its interval is Newcombe's for two
# shares. The second compares two models on the same facts. The last is no finding but a check of the worlds: were
# it to fail, they would be too easy to say anything about size.

# %%
tested, many, few = [], 16, 4  # as in claims.csv, whatever `often` is
parts = own.assign(source="this run"), same.assign(source="shipped: lab")
both = pd.concat(parts)
both["size"] = both["model"].str.partition("/")[2]
both["made by"] = both["source"] + ", " + both["world"]
for made_by, whole in both.groupby("made by", sort=False):
    for size, part in whole.groupby("size"):
        high, low = part["exposures"] >= many, part["exposures"] <= few
        a, b = part.loc[high, "correct"], part.loc[low, "correct"]
        counts = a.sum(), len(a), b.sum(), len(b)
        ends = confint_proportions_2indep(*counts, method="newcomb")
        rise = a.mean() - b.mean(), *ends, 0.95, "Newcombe"
        found = intervals.Interval(*rise)
        tested.append(("LAB-exposures-rise", size, made_by, found))
    part = whole[whole["exposures"] == many]
    wide = part.pivot(index=index[3:], columns="size", values="correct")
    ranked = [name for name in order if name in wide]
    least, most = ranked[0], ranked[-1]
    room = intervals.proportion(int(wide[least].sum()), len(wide))
    tested.append(("LAB-size-room", least, made_by, room))
    pairs = [group for _, group in wide.groupby("relation")]
    gain = [group[most] for group in pairs], [group[least] for group in pairs]
    gain = intervals.paired_difference(*gain, seed=seed)
    if least != most:
        tested.append(("LAB-size-rises", f"{most} - {least}", made_by, gain))

# %% [markdown]
# The verdicts, on this run's world and, in columns of their own, on those of the shipped results:

# %%
claims = paper.claims("LAB").set_index("id")
rows = []
for key, size, made_by, found in tested:
    claim = claims.loc[key]
    verdict = f"{found.text()}: {paper.claim_verdict(found, claim)}"
    rows.append((claim["claim"], claim["holds_if"], size, made_by, verdict))
columns = ["claim", "holds if", "model", "made by", "verdict"]
table = pd.DataFrame(rows, columns=columns).pivot(
    index=columns[:3], columns="made by", values="verdict"
)
table = table[list(dict.fromkeys(row[2] for row in tested))].fillna("")
words(table.rename_axis(columns=None).reset_index())

# %% [markdown]
# **The claims of the page before this one**, on every world of the shipped results. That page judges them on the worlds
# of its run. Here they are judged on each world by itself, with all relations that were asked there, about its largest
# base model unless the claim says otherwise. Facts that were never told are pooled over the base models of a world, and
# in the last column over all worlds. The claims on an unplanted twin and on tuning are judged where such models ship. The
# one on tuning is later than the others. It was turned round after a look at the tuned model of world 1, when no tuned
# model of worlds 2 and 3 had been trained ({doc}`../log`). So it is a prediction for these two, and none for world 1.

# %%
both = {
    "LAB-form-list": (main, "template-1", "list"),
    "LAB-form-sentence": ("template-1", main, "sentence"),
    "LAB-held-out": ("template-1", "template-5", "sentence"),
}
for of, whole in there.groupby("world"):
    best = max(set(whole["model"]), key=lab.size)
    for which, size in (("fit", main), ("all", f"{main}, all controls")):
        rest.append(("LAB-list-auroc", size, of, aurocs[best, which][1]))
    mine = whole[(whole["model"] == best) & (whole["exposures"] >= 16)]
    mine = mine.sort_values("fact").groupby(["state", "estimator", "form"])
    for key, (a, b, form) in both.items():
        groups = (mine.get_group(("planted", e, form)) for e in (a, b))
        groups = [g.groupby("relation")["correct"] for g in groups]
        groups = [[hits for _, hits in g] for g in groups]
        gain = intervals.paired_difference(*groups, seed=seed)
        rest.append((key, f"{a} minus {b}", of, gain))
    part = mine.get_group(("planted", "template-5", "sentence"))
    right = part.groupby("wording")["correct"].agg(["sum", "count", "mean"])
    one, several = right.loc["one"], right.loc["several"]
    counts = [int(n) for w in (several, one) for n in w[["sum", "count"]]]
    ends = confint_proportions_2indep(*counts, method="newcomb")
    gain = several["mean"] - one["mean"], *ends, 0.95, "Newcombe"
    gain = intervals.Interval(*gain)
    rest.append(("LAB-several-wordings", "template-5", of, gain))

# %% [markdown]
# Two claims are about facts that were told wrongly or not at all. To guess is right once in as many times as there are
# objects. EIC-LKE has fewer options, and what is written is a guess only if it begins with an object at all.

# %%
said = [every, written, of_eic[of_eic["estimator"] == "eiclke"]]
never = pd.concat(said, ignore_index=True)
never = never[never["state"].eq("never") & never["model"].isin(decoders)]
of = ["world", "relation"]
n_objects = told_there.groupby(of)["object"].nunique().rename("choices")
never = never.join(n_objects, on=of)
few = never["estimator"] == "eiclke"
never.loc[few, "choices"] = about["parameters"]["n_eic_options"]
luck = (never["wrote"] != "") / never["choices"]  # a ranking always names one
never["above"] = never["correct"] - luck
by = ["estimator", *of, "fact"]
never = never.groupby(by, sort=False)["above"].mean().reset_index()
for e, whole in never.groupby("estimator"):
    for of, part in [("all worlds", whole), *whole.groupby("world")]:
        means = part.groupby(["world", "relation"])["above"]
        means = [hits for _, hits in means]
        above = intervals.mean_over_facts(means, seed=seed)
        rest.append(("LAB-never-chance", f"{e}, base models", of, above))
wrong = there[there["state"].eq("mislearned") & there["estimator"].eq(main)]
for of, part in wrong.groupby("world"):
    part = part[part["model"] == max(set(part["model"]), key=lab.size)]
    gap = part["picked_told"].astype(float) - part["correct"]
    gap = [each for _, each in gap.groupby(part["relation"])]
    gap = intervals.mean_over_facts(gap, seed=seed)
    rest.append(("LAB-mislearned", main, of, gap))

# %% [markdown]
# The check on the twins: their rows get the states that the other models of their world have. And the claim on tuning,
# where a tuned model ships beside its base.

# %%
twins = every[every["model"].str.endswith("-unplanted")]
for model, part in twins[twins["estimator"] == main].groupby("model"):
    labels = ["state", "told", "form"]
    truths = told_there.set_index(["world", "fact"])[labels]
    part = part.drop(columns=labels).join(truths, on=["world", "fact"])
    part = lab_metrics.controls(part[part["state"] != "mislearned"])
    fit = lab_metrics.familiar(part, told_there)
    size = model.partition("/")[2]
    for which, some in ((size, fit), (f"{size}, all controls", part)):
        some = lab_metrics.each_control_once(some, [], seed=seed)
        both = some["confidence_gold"], some["control"]
        even = np.zeros((2, len(some)))  # all equal: an AUROC of 0.5
        off = intervals.auroc_over_pairs(*both, minus=even, seed=seed)
        rest.append(("LAB-unplanted", which, named[model].world, off))
known = every[every["state"].eq("planted") & every["estimator"].eq(main)]
known = known[known["exposures"] >= 16].pivot(
    index=["relation", "world", "fact"], columns="model", values="correct"
)
for model in [name for name, n in named.items() if n.variant == "tuned"]:
    both = known[[model, named[model].base]].dropna().astype(float)
    both = [part.to_numpy().T for _, part in both.groupby("relation")]
    change = intervals.paired_difference(*zip(*both, strict=True), seed=seed)
    size = model.partition("/")[2]
    rest.append(("LAB-tuned", size, named[model].world, change))

# %% [markdown]
# A claim that holds in one world and not in another is one whose size is near its least effect, or moves with the
# world. The lines above the table count the verdicts, each world for itself. Two claims are checks and no findings,
# counted apart: that facts never told are answered as by chance, and that a twin that was told nothing shows nothing.
# What is judged with all controls beside is not counted again. With so many intervals at 95 % some are wrong.

# %%
rows = []
for key, size, of, interval in rest:
    claim = claims.loc[key]
    verdict = paper.claim_verdict(interval, claim)
    bounds = interval.estimate, interval.low, interval.high, verdict
    says = key, claim["claim"], claim["holds_if"], size, of
    rows.append((*says, *bounds, f"{interval.text(3)}: {verdict}"))
columns = ["id", "claim", "holds if", "of", "world"]
judged = [*columns, "estimate", "low", "high", "verdict", "text"]
judged = pd.DataFrame(rows, columns=judged)
runs.keep(judged.drop(columns="text"), "claims-by-world.csv")
once = judged[~judged["of"].str.endswith("all controls")]
once = once[once["world"] != "all worlds"]
is_check = once["id"].isin(["LAB-never-chance", "LAB-unplanted"])
for which, part in (("findings", once[~is_check]), ("checks", once[is_check])):
    counts = part["verdict"].value_counts().items()
    print(f"{which}:", ", ".join(f"{n} {verdict}" for verdict, n in counts))
worlds = [*sorted(set(judged["world"]) - {"all worlds"}), "all worlds"]
table = judged.pivot(index=columns[1:4], columns="world", values="text")
table = table.reindex(judged[columns[1:4]].drop_duplicates())[worlds]
table = table.fillna("").rename_axis(columns=None).reset_index()
table.loc[table.duplicated(columns[1:3]), columns[1:3]] = ""
words(table)

# %% [markdown]
# Where the claim on size holds, mind what it says: the larger model answers more facts *after the same
# tellings*. It does not say that the smaller one could never learn them: the table of bits says that there is
# room. The curves say how many more tellings it takes.
#
# And a warning about "knows". The claims are about one way of asking, and about facts that were told in the form
# that this way of asking likes. {numref}`fig-lab-dose` shows the other forms. Compare two panels of one column: the
# model is the same and so are the facts, only the question is another.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-lab-most
# One half is a soft demand. How many exposures does it take until four of five facts are answered? Which
# models get there at all?
# ```

# %% [markdown]
# ````{solution-start} ex-lab-most
# :class: dropdown
# ````

# %%
told = curve[(curve["exposures"] > 0) & (curve["form"] == "list")]
four_of_five = {
    key: dose.exposures_needed(part["exposures"], part["accuracy"], 0.8)
    for key, part in told.groupby(["estimator", "size"])
}
shown = pd.Series(four_of_five).rename_axis(["estimator", "size"])
shown.unstack("estimator").loc[by_size].round(1)

# %% [markdown]
# `inf` stands where the curve never gets there. What is left between the top of a curve and 1 cannot be
# had by a few more tellings: compare how flat the curve is at its right end.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-lab-nested
# Does the larger model know what the smaller one knows and more, or does each have facts of its own? Take the
# facts that were told often in lists.
# ```

# %% [markdown]
# ````{solution-start} ex-lab-nested
# :class: dropdown
# ````

# %%
asked_so = own[own["exposures"] >= often]
both = asked_so.pivot(index="fact", columns="size", values="correct")
pd.crosstab(
    both[small].rename(f"{small} right"), both[large].rename(f"{large} right")
)

# %% [markdown]
# Look at the row of facts that the smaller model has right. If nearly all of them stand under `True`, the
# knowledge is nested: size adds to it and takes little away. (With one model in the run, the table compares it
# with itself.)
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-lab-larger
# Where does it end? There are recipes for larger models, `8m` and `20m`. Put them into a file such as the one
# below and call `lke run params/mine.yaml`. They are trained at first use: about a quarter of an hour of one core for the
# first, and a good while longer for the second.
# ```
#
# ````{solution} ex-lab-larger
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 51_lab_scaling
#     parameters:
#       models: [lab:book-1/0.15m, lab:book-1/2m, lab:book-1/8m, lab:book-1/20m]
# ```
#
# Another world is `lab:book-4`, or any other number. Numbers from several worlds say more than numbers from one.
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
