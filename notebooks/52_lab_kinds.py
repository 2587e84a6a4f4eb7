# %% [markdown]
# # Three kinds of model
#
# A {term}`causal model` reads a text from left to right, and has to say at each place which word comes next. A
# {term}`masked model` sees the whole text with some words missing, and has to fill them in. An
# {term}`encoder-decoder model` sees such a text as well, and writes the missing words down. Real models of the three
# kinds have read different texts, so that nobody can say what makes them know different things. Here they have read
# the *same* text, which we wrote. Afterwards you will be able to say
#
# - what a model that fills in blanks has learned from a text, beside one that reads it from left to right,
# - how often the text must tell each of them a fact, and why their exposures are not counted alike,
# - whether each of them answers by luck alone where there is nothing to know,
# - what each of them says of facts that the text told wrongly.

# %% [markdown]
# ## What the paper claims
#
# No paper stands behind this page, and it tests no claim. Papers have put models of several kinds beside each other, all
# of them real ones: {cite:t}`zhao2024belief` ask masked and causal models, {cite:t}`pezeshkpour2023measuring`
# a masked and an encoder-decoder model. Their models differ in what they have read, in size and in kind, all at
# once.
#
# The models of this page are tiny. The masked one is a ModernBERT {cite:p}`warner2024modernbert`, the causal one a
# Llama, the third a T5Gemma. On one processor core the first is trained in a few minutes, and each of the others in some
# ten. Asking all three takes a few minutes more.

# %% [markdown]
# ## Parameters
#
# The name of a model says which world it has read. `shipped` names profiles whose longer runs of this page ship with the
# book.

# %% tags=["parameters"]
models: list[str] = [
    "lab:book-1/0.7m",
    "lab:book-1/bert",
    "lab:book-1/t5",
]  # each names the world that it has read
estimators: list[str] = ["template-1", "template-5"]  # templates alone
relations: list[str] = []  # empty: all of the world
n_options: int = 100  # candidate objects; must be all of a relation
often: int = 16  # tellings from which a fact counts as told often
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # draws the order of options, and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy.stats import binomtest

from lkecore import facts, figures, intervals, prompts, runs
from lkecore.answers import shipped as results
from lkecore.errors import BadInput
from lkecore.facts import world
from lkecore.metrics import dose
from lkecore.metrics import planted as truth
from lkecore.models import lab, open_model
from lkecore.scores import masked, seq2seq, tree
from lkecore.train.text import MARKED

figures.style()

# %% [markdown]
# ## Facts
#
# The facts are those of the page {doc}`50_lab_truth`: some *planted*, which means told as they are, some *mislearned*,
# told with a wrong object, and some *never* told. The table counts them. Its columns say how often one reading of the
# text tells them. We call this number the **tellings** of a fact. It is a property of the text, the same for
# all models.

# %%
for model in models:
    if lab.parse(model).variant:
        raise BadInput(f"{model}: models without a suffix only")
specs = list(dict.fromkeys(lab.parse(model).world for model in models))
names = relations or list(facts.relations(specs[0]))
loaded, asked, options = {}, {}, {}
for key in [(spec, name) for spec in specs for name in names]:
    loaded[key] = facts.load(*key)
    _, asked[key] = facts.divide(loaded[key])
    options[key] = facts.draw_options(
        asked[key], loaded[key].objects, n_options, seed
    )
states = world.states(specs[0])
states = states[states["relation"].isin(names) & (states["split"] == "test")]
if not (states["occurrences"][states["state"] == "planted"] >= often).any():
    raise BadInput(f"often is {often}: the text tells no fact so often")
pd.crosstab([states["state"], states["form"]], states["occurrences"])

# %% [markdown]
# ## Prompts
#
# All models are asked with templates, and with the same options. `template-1` is one of the four wordings of the text (a
# fact that is told in one wording alone may have another of these), `template-5` is
# {term}`held out <held-out template>`. IC-LKE is left out. It needs a row of pairs, and the two models that
# fill blanks have only read rows of 64 tokens.
#
# All templates end with the blank, so that a causal model can be asked. In the text a full stop stands behind it, as
# behind every sentence. The two others see this full stop, since they read what follows the blank as well. The causal
# model cannot see it.

# %%
if not set(estimators) <= set(prompts.TEMPLATES):
    raise BadInput(f"estimators {estimators}: of {list(prompts.TEMPLATES)}")
questions = {}
for (spec, name), relation in loaded.items():
    ask = asked[spec, name], options[spec, name]
    for estimator in estimators:
        words = relation.templates[prompts.TEMPLATES[estimator]]
        read_on = prompts.template(f"{words}.", *ask)
        questions[spec, name, estimator] = {
            "causal": prompts.template(words, *ask),
            "masked": read_on,
            "seq2seq": read_on,
        }
        if (spec, name) == (specs[0], names[0]):
            print(f"{estimator}: {read_on[0].context} ____{read_on[0].after}")

# %% [markdown]
# ## Scores
#
# Each kind has a way of its own to score an option of several tokens.
#
# - **Causal**: the first token after the context, the second after the first, and so on.
# - **Masked**: as many masks as the option has tokens, all empty at once, and the sum over them. So this model is told
#   how long the option is, and is asked for each token without the others.
# - **Encoder-decoder**: the encoder reads the sentence with a mark at the blank. The decoder then writes the option,
#   token after token, as a causal model does.
#
# So the sums do not mean quite the same. What we compare first is which option comes out on top.
#
# `alike` is the share of the options that have as many tokens as the one on top, `alike_true` the share that have as many
# as the true one. We need them below.

# %%
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}
scorers = {"causal": tree, "masked": masked, "seq2seq": seq2seq}
kept = []
for model, lm in lms.items():
    spec = lab.parse(model).world
    told = lab.told(lm.path, spec).set_index("fact", drop=False)
    about = {"model": model, "world": spec, "reader": lm.kind}
    about["parameters"] = lab.record(lm.path)["parameters"]
    option_logprobs = scorers[lm.kind].option_logprobs
    for name in names:
        for estimator in estimators:
            asks = questions[spec, name, estimator][lm.kind]
            frame = option_logprobs(lm, asks).frame
            found = truth.answers(frame, told).assign(**about)
            by = frame.groupby(["fact", "n_tokens"])["option"]
            frame["alike"] = by.transform("size") / n_options
            on_top = frame.loc[frame.groupby("fact")["logprob"].idxmax()]
            true = frame[frame["gold"]]
            for which, rows in (("alike", on_top), ("alike_true", true)):
                rows = rows.set_index("fact")["alike"]
                found[which] = found["fact"].map(rows)
            found["tellings"] = found["fact"].map(told["occurrences"])
            found["epochs"] = found["fact"].map(told["epochs"])
            kept.append(found.assign(estimator=estimator))

# %% [markdown]
# A run keeps one row for each question.

# %%
if page:
    answers = runs.collect("answers.parquet")
else:
    answers = pd.concat(kept, ignore_index=True)
    runs.keep(answers, "answers.parquet")
print(f"{len(answers):,} questions, {n_options} options each")

# %% [markdown]
# Where the parameter `shipped` names longer runs, their answers stand beside those of this run from here on. They are
# **not made by this run**; a line says what made them.

# %%
parts = {"this run": answers.assign(luck=1 / n_options)}
for profile in shipped:
    found, about = results.read(profile, "52_lab_kinds")
    found["luck"] = 1 / about["parameters"]["n_options"]
    parts[f"shipped: {profile}"] = found
    print("shipped:", results.line(about))
    print("to make them again:", about["command"])
said = pd.concat(parts, names=["source", ""]).reset_index("source")
said["made by"] = said["source"] + ", " + said["world"]
short = said["model"].str.partition("/")[2]
said["kind of model"] = said["reader"].replace("seq2seq", "encoder-decoder")
said["kind of model"] += " (" + short + ")"
readers = sorted(said["kind of model"].unique())
every = [world.states(w).assign(world=w) for w in said["world"].unique()]
told_there = pd.concat(every, ignore_index=True)
forms = [f for f in ("sentence", "both", "list") if f in set(said["form"])]

# %% [markdown]
# ## Metrics
#
# **Who has read what.** Look at the parameters first: the models are not of one size, since an encoder-decoder model is two
# networks. All have read the same text. But the models that fill blanks have read it three times, so that one telling
# makes three {term}`exposures <exposure>` for them. And an exposure is not the same, either.
# The causal model has to say the object each time. The others are made to fill in 60 % of the objects, drawn anew in each
# reading; the rest they only see. `to be said` counts how often a model had to say the object for one telling, on
# average.

# %%
columns = ["kind of model", "parameters", "epochs", "reader"]
who = said[columns].drop_duplicates("kind of model").set_index(columns[0])
who = who.loc[readers].rename(columns={"epochs": "exposures a telling"})
share = np.where(who["reader"] == "causal", 1, MARKED)
who["to be said"] = who["exposures a telling"] * share
who.drop(columns="reader")

# %% [markdown]
# **Accuracy** by form and tellings, with 95 % intervals (Wilson). Forms are what the text has: sentences, lists of pairs,
# or half in both. The facts of a column are the same for all models, and so is what the text tells about
# them. The facts that were never told (0) have no form, so they stand in all three.

# %%
keys = ["made by", "estimator", "form", "kind of model", "tellings"]
planted = said[said["state"] == "planted"]
never = said[said["state"] == "never"]
rows = []
whole = pd.concat([planted, *(never.assign(form=form) for form in forms)])
for key, part in whole.groupby(keys, sort=False):
    found = intervals.proportion(int(part["correct"].sum()), len(part))
    bounds = found.estimate, found.low, found.high, found.text()
    exposures = key[-1] * part["epochs"].iloc[0]
    rows.append((*key, exposures, len(part), *bounds))
columns = [*keys, "exposures", "facts", "accuracy", "low", "high", "text"]
curve = pd.DataFrame(rows, columns=columns)
runs.keep(curve.drop(columns="text"), "accuracy-by-tellings.csv")
curve["is run"] = curve["made by"].str.startswith("this run")
here = curve[curve["is run"]]
here.pivot(index=keys[:4], columns="tellings", values="text").fillna("")

# %% [markdown]
# **How often must it be told?** The number of tellings at which half of the facts are answered rightly, read off the
# curve as on {doc}`51_lab_scaling`. In brackets stand the tellings at which the upper and the lower ends of
# the accuracies' intervals reach one half. `>` means that one half is not reached with the most tellings that the world
# has.

# %%
rows = []
for key, part in curve[curve["tellings"] > 0].groupby(keys[:4], sort=False):
    part = part.sort_values("tellings")
    ends = [
        dose.exposures_needed(part["tellings"], part[which])
        for which in ("accuracy", "high", "low")
    ]
    least, top = part["tellings"].iloc[[0, -1]]
    texts = [f"> {top}" if end > top else f"{end:.1f}" for end in ends]
    few = [end <= least for end in ends]
    texts = [f"≤ {least}" if f else t for f, t in zip(few, texts, strict=True)]
    rows.append((*key, *ends, f"{texts[0]} [{texts[1]}, {texts[2]}]"))
columns = [*keys[:4], "needed", "low", "high", "text"]
needed = pd.DataFrame(rows, columns=columns)
runs.keep(needed.drop(columns="text"), "tellings-needed.csv")
by = ["made by", "estimator", "kind of model"]
needed.pivot(index=by, columns="form", values="text")[forms]

# %% [markdown]
# **Never told.** Is a right answer about a fact that was never told more or less frequent than a guess would be? The
# exact binomial test for each model and template, Holm-corrected for all rows. Each object is that of exactly one such
# fact, so that a model that always names its favourite gets what chance gets.
#
# The last two columns look at something else that could go wrong: at **names of rare lengths**. A masked model is given
# as many masks as the option has tokens, so it need not find out how long the answer is. A name that shares its length
# with few others then has little to compete with. `alike` is the share of the options that have as many tokens as the
# answer, mean over these same facts. `rarer` is by how much this is smaller than for the true objects, with a 95 % interval
# over facts. A model that guesses evenly among all options has a zero there. Above zero it prefers names of rare
# lengths, and below zero names of common ones. Where a model answers many facts with a few favourites, the interval is too
# narrow.

# %%
by = ["made by", "kind of model", "estimator"]
rows = []
for key, part in never.groupby(by):
    counts = (int(part["correct"].sum()), len(part))
    luck = part["luck"].iloc[0]
    p = binomtest(*counts, luck).pvalue
    text = intervals.proportion(*counts).text(3)
    groups = [group for _, group in part.groupby("relation")]
    both = ("alike_true", "alike")
    groups = [[group[name] for group in groups] for name in both]
    rarer = intervals.paired_difference(*groups, seed=seed).text(3)
    rows.append((*key, *counts, text, luck, p, part["alike"].mean(), rarer))
columns = [*by, "right", "asked", "accuracy", "luck", "p", "alike", "rarer"]
never_told = pd.DataFrame(rows, columns=columns)
never_told["p (Holm)"] = intervals.holm(never_told["p"])
runs.keep(never_told, "never-told.csv")
shown = never_told.drop(columns="p").set_index(by)
shown.map(lambda p: f"{p:.2g}" if isinstance(p, float) else p)

# %% [markdown]
# **AUROC** of the confidence in the true object: how often a fact that was told has more of it than its {term}`control`,
# a fact with the same object that was never told. These are facts told 16 times and more (the parameter `often`). One half
# means that the two cannot be told apart. Controls about a subject that the text never names are left out, and each
# control is used once. The 95 % intervals draw pairs again (1,000 times). A confidence is over the options alone and
# needs no threshold here, so that the scores of the three kinds can be compared in this way although they are made
# differently.

# %%
pairs = []
for _, part in said.groupby("made by", sort=False):
    part = truth.controls(part[part["state"] != "mislearned"])
    part = truth.familiar(part[part["tellings"] >= often], told_there)
    pairs.append(truth.each_control_once(part, ["form"], seed=seed))
sure, rows = {}, []
for key, part in pd.concat(pairs).groupby(keys[:4], sort=False):
    part = part.sort_values(["relation", "fact"])
    sure[key] = part["confidence_gold"], part["control"]
    found = intervals.auroc_over_pairs(*sure[key], seed=seed, n_resamples=1_000)
    bounds = found.estimate, found.low, found.high, found.text()
    rows.append((*key, len(part), *bounds))
columns = [*keys[:4], "pairs", "auroc", "low", "high", "text"]
aurocs = pd.DataFrame(rows, columns=columns)
runs.keep(aurocs.drop(columns="text"), "auroc.csv")
by = ["made by", "estimator", "kind of model"]
aurocs.pivot(index=by, columns="form", values="text")[forms]

# %% [markdown]
# **One against the other, on the same facts**, those told 16 times and more. The text has told them equally often to
# both; the exposures differ by a factor of three where one of the two is causal. The rows `accuracy` have the accuracy of
# the first minus that of the second, with a paired 95 % interval over facts. A star stands where McNemar's exact test,
# Holm-corrected for all pairs and ways of asking in one world, has p below 0.05. The rows `AUROC` have the AUROC of the first
# minus that of the second, on the same pairs of a fact and its control; they have no test. The kept file has all p, and counts
# the facts that only one of the two gets right. The table is empty where there is one model only.
#
# Beware of reading "kind" into a difference. The models differ in size, in how often they have read the text and in what
# they were made to predict, all of it chosen so that each of them learns something. So a difference is one between these
# trainings. Nor do the intervals know how another training of the same model would come out: look whether the worlds
# agree, where there are several.

# %%
rows = []
told_often = planted[planted["tellings"] >= often]
for key, part in told_often.groupby(keys[:3], sort=False):
    wide = {"index": ["relation", "fact"], "columns": "kind of model"}
    hits = part.pivot(**wide, values="correct")
    known = [name for name in readers if name in hits]
    for a, b in combinations(known, 2):
        groups = [group for _, group in hits.groupby("relation")]
        groups = [[group[name] for group in groups] for name in (a, b)]
        found = intervals.paired_difference(*groups, seed=seed)
        bounds = found.estimate, found.low, found.high, found.text()
        only = (hits[a] & ~hits[b]).sum(), (hits[b] & ~hits[a]).sum()
        p = intervals.mcnemar(hits[a], hits[b])
        one, other = sure[(*key, a)], sure[(*key, b)]
        gain = intervals.auroc_over_pairs(*one, minus=other, seed=seed).text()
        rows.append((*key, a, b, len(hits), *bounds, *only, p, gain))
columns = [*keys[:3], "first", "second", "facts", "estimate", "low", "high"]
columns += ["accuracy", "only first", "only second", "p", "AUROC"]
differ = pd.DataFrame(rows, columns=columns)
differ["p"] = differ.groupby("made by")["p"].transform(intervals.holm)
runs.keep(differ.drop(columns="accuracy"), "kind-against-kind.csv")

# %%
differ["accuracy"] += np.where(differ["p"] < 0.05, " *", "")
by = [*keys[1:3], "first", "second", "difference of"]
both = {"var_name": by[-1], "value_vars": ["accuracy", "AUROC"]}
tall = differ.melt(id_vars=["made by", *by[:-1]], **both)
tall.pivot(index=by, columns="made by", values="value").fillna("")

# %% [markdown]
# **Mislearned.** The text told a wrong object, often and always the same one. `told` is the share of answers that
# repeat it, `true` the share that name the object that holds in this world, which no text tells of this subject. The last
# three columns are mean confidences, with 95 % intervals over facts: in the told object, in the true one, and in the told
# one again, but for the subject of the control, which was never told with it. A confidence in the told object
# that lies far above the control's was made by the telling. Whoever looks at the confidence alone would call this
# knowledge.
#
# Confidences of a masked model are made of sums that are no probabilities of the whole name. Compare them inside a row,
# and not from one kind of model to another.

# %%
by = ["made by", "kind of model", "estimator"]
wrong = said[said["state"].isin(["mislearned", "never"])]
sure_of = [truth.controls(part) for _, part in wrong.groupby("made by")]
sure_of = truth.familiar(pd.concat(sure_of), told_there).groupby(by)
wrong = wrong[wrong["state"] == "mislearned"]
rows = []
for key, part in wrong.groupby(by):
    counts = part["picked_told"].sum(), part["correct"].sum()
    texts = [intervals.proportion(int(n), len(part)).text() for n in counts]
    of_each = sure_of.get_group(key).groupby("relation")
    for column in ("confidence_told", "confidence_gold", "control"):
        groups = [group.to_numpy() for _, group in of_each[column]]
        texts.append(intervals.mean_over_facts(groups, seed=seed).text(3))
    rows.append((*key, len(part), *texts))
columns = [*by, "facts", "told", "true", "in told", "in true", "control"]
mislearned = pd.DataFrame(rows, columns=columns)
runs.keep(mislearned, "mislearned.csv")
mislearned.set_index(by)

# %% [markdown]
# ## Figures
#
# {numref}`fig-kinds-dose` has accuracy over *exposures*, so that the marks of the models that read the text three times
# stand further to the right. The marks of all lines of a panel are the same numbers of tellings: the first of each line
# are the facts told least, the last those told most. Two questions can be put to it. *Is one kind ahead after the same text?* Compare the last marks of the lines,
# the ones before them, and so on. *Is one kind ahead after the same exposures?* Compare the lines at one place of the
# axis. The answers need not be the same. Then compare the two rows: what a model gives back in the words that it read,
# and what in others.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-kinds-dose", "caption": "Accuracy over the number of exposures, for each kind of model. Columns: the form in which the text tells the facts. Rows: the template that asks. Marks at 0: never told, the same facts in each column. Vertical lines: 95 % intervals (Wilson). Dotted: chance. Where a page has several worlds, each has a line of its own."}, "image": {"alt": "Grid of panels, a column for each form in which facts were told and a row for each template, with a line of accuracy over exposures for each kind of model."}}
here = curve[curve["is run"]].drop(columns=["text", "is run"])
grid = {"figsize": (10, 1 + 2.6 * len(estimators)), "layout": "constrained"}
grid |= {"sharex": True, "sharey": True, "squeeze": False}
fig, axes = plt.subplots(len(estimators), len(forms), **grid)
look = {"hue": "kind of model", "unit": "made by", "hue_order": readers}
look |= {"chance": 1 / n_options, "most": here["exposures"].max()}
for row, estimator in enumerate(estimators):
    for column, form in enumerate(forms):
        ax = axes[row, column]
        part = here[here["estimator"].eq(estimator) & here["form"].eq(form)]
        figures.dose_lines(part, ax, **look)
        ax.set_title(f"told in: {form}, asked by {estimator}", fontsize="small")
        ax.label_outer()
handles = axes[0, 0].get_legend_handles_labels()
fig.legend(*handles, loc="outside upper center", ncols=3, frameon=False)
runs.keep(here, "fig-kinds-dose.csv")

# %% [markdown]
# The next figure is the same for the shipped results, with a line for each world. What to see: whether the lines of one
# colour stay together, and apart from the others. There is no such figure if nothing ships.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-kinds-shipped", "caption": "The same as the figure above for the shipped results, with a line for each world: its models were trained from other random weights on another text. Colours, marks, rows and columns as there."}, "image": {"alt": "Grid of panels, a column for each form in which facts were told and a row for each template, with lines of accuracy over exposures in a colour for each kind of model and several lines of each colour."}}
longer = curve[~curve["is run"]].drop(columns=["text", "is run"])
runs.keep(longer, "fig-kinds-shipped.csv")
if shipped:
    ways = longer["estimator"].unique().tolist()
    grid["figsize"] = (10, 1 + 2.6 * len(ways))
    fig, axes = plt.subplots(len(ways), len(forms), **grid)
    luck = said.loc[said["source"] != "this run", "luck"].min()
    look |= {"chance": luck, "most": longer["exposures"].max()}
    for row, estimator in enumerate(ways):
        for column, form in enumerate(forms):
            ax = axes[row, column]
            part = longer[longer["estimator"].eq(estimator)]
            figures.dose_lines(part[part["form"].eq(form)], ax, **look)
            name = f"told in: {form}, asked by {estimator}"
            ax.set_title(name, fontsize="small")
            ax.label_outer()
    handles = axes[0, 0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside upper center", ncols=3, frameon=False)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with. Nobody else has asked these models.
#
# **Claims.** This page tests none. A claim counts here if it was written down before the numbers were looked at, and
# these models were looked at first: the masked one learned nothing in its first trainings, and was changed until it did
# ({doc}`../log`). The changes were made on `lab:book-0`, but its numbers on `lab:book-1` were read as well. So what
# you see in the tables is a description. If you have a guess, write it down, and test it on a world of your own: the last
# exercise says how.
#
# **What others have found.** {cite:t}`zhao2024belief` put masked models of the kind of BERT beside causal ones that are
# many times larger. {cite:t}`pezeshkpour2023measuring` tells BERT and T5 a fact, and looks how much this changes in them. In
# both, the kinds come with their own texts and sizes, so that the question of this page cannot be put to them.
#
# **What the training asks for.** A causal model has to say every word of the text, so also every object, from what
# stands before it. A model that fills blanks has to say only what is hidden. BERT and T5 had words hidden by lot, about one in
# seven. The lab's models have objects hidden. With words hidden by lot, the lab's masked model learned to read, and kept
# little of what it had read ({doc}`../log`). So nothing on this page says what a model learns that is trained just as
# BERT was.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-kinds-count
# The table of tellings needed puts all models behind the same text. Count anew: after how many exposures is half of
# the facts found, and how often has each model had to say the object until then?
# ```

# %% [markdown]
# ````{solution-start} ex-kinds-count
# :class: dropdown
# ````

# %%
counted = needed.join(who, on="kind of model")
counted["exposures"] = counted["needed"] * counted["exposures a telling"]
counted["said"] = counted["needed"] * counted["to be said"]
by = keys[:4]
counted.set_index(by)[["needed", "exposures", "said"]].round(1)

# %% [markdown]
# `inf` stands where one half was not reached. A model can need the fewest tellings and not the fewest exposures. Which
# count is the fair one depends on the question. For the text it is `needed`. For the work of training it is
# `exposures`, since each reading costs time. And for what can be learned from one prediction it is `said`.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-kinds-same
# Do the models find the same facts? Take those that were told often, asked by a template of the text. Count the facts
# that all of them find, that some find and that none finds.
# ```

# %% [markdown]
# ````{solution-start} ex-kinds-same
# :class: dropdown
# ````

# %%
part = told_often[told_often["estimator"] == estimators[0]]
by = ["made by", "form", "fact"]
hits = part.groupby(by)["correct"].agg(["sum", "count"])
hits["found by"] = hits["sum"].astype(str) + " of " + hits["count"].astype(str)
counts = hits.groupby(["made by", "form"])["found by"].value_counts()
counts.unstack("found by").fillna(0).astype(int)

# %% [markdown]
# Had the models nothing in common, the facts that all find would be few: multiply the accuracies to see how few. Facts
# that none finds say something about the text, such as one telling cut in two by the end of a row. Facts that only some
# find say something about the models, or about luck.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-kinds-world
# Which kind do you expect ahead in another world, with which template, and by how much? Write it down, then look.
# ```
#
# ````{solution} ex-kinds-world
# :class: dropdown
#
# Put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml`. The models are trained first,
# which takes the better part of an hour, and are kept. Any number behind the last dash of the world makes another one.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 52_lab_kinds
#     each: [models]
#     parameters:
#       models: ["lab:book-77/0.7m", "lab:book-77/bert", "lab:book-77/t5"]
# ```
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
