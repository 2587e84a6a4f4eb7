# %% [markdown]
# # Does an estimator find what a model was told?
#
# On all other pages we ask a model and cannot look into it. Of most models nobody outside
# knows what they have read. The text of a few is public, but it has trillions of words: one can search it for a
# string, but hardly count how often it tells a fact, in all its wordings. Here we can. We wrote the text, and
# trained the models on it. So this page turns the question round. It does not ask
# what the model knows. It asks how good the asking is. Afterwards you will be able to say
#
# - which estimator finds facts that a text told in lists, and which finds those that it told in sentences,
# - how well the confidence tells a fact that was told from one that never was,
# - what an estimator answers when the text was wrong, and what it answers when there is nothing to know,
# - whether a model also writes what it ranks first,
# - how much one single estimator misses.

# %% [markdown]
# ## What the paper claims
#
# No paper stands behind this page. Others have trained models on invented facts to learn how models learn:
# {cite:t}`allenzhu2024storage`, {cite:t}`allenzhu2024capacity`, {cite:t}`chang2024acquire` and
# {cite:t}`zucchet2025facts`. What they found is told under *Paper and ours*. We know of no work
# that judges the estimators of this book by planted facts. That is ours, and so are the claims that we test.
#
# The estimator that we look at most is IC-LKE, of {cite:t}`wu2024iclke`. The models are tiny, which is why
# they can be made here. One of them is trained in some minutes on one processor core, a large one longer than a small
# one. Asking it takes about one more.

# %% [markdown]
# ## Parameters
#
# The name of a model says which world it has read: `lab:book-1/2m` has read the world `lab:book-1`. The world
# `lab:book-0` is for development: choices were made by looking at it, and no result on the pages of experiments is
# from it.
#
# `relations` may be fewer than all. The facts of a relation are always asked all together. Each told fact is
# held against one that was never told, and that one must be asked too.

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/2m"]  # each names the world that it has read
estimators: list[str] = [
    "iclke-space",
    "iclke-colon",
    "template-1",
    "template-4",
    "template-5",
]  # see the tables of separators and templates below
relations: list[str] = [
    "author",
    "birth_year",
    "first_language",
    "residence",
]  # empty: all of the world
n_shots: int = 50  # pairs shown before the question, for IC-LKE
n_options: int = 100  # candidate objects; must be all of a relation
n_eic_shots: int = 30  # of the pairs, for EIC-LKE; half of them come first
n_every: int = 3  # pairs from one slot of EIC-LKE to the next
n_eic_facts: int = 10  # facts of each relation and form, for EIC-LKE
n_eic_options: int = 20  # candidate objects of these
written_after: list[str] = ["iclke-space", "template-1"]  # of the estimators
n_tokens: int = 14  # new tokens of what is written; more than an object has
seed: int = 0  # draws shots, order of options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from itertools import combinations, product

import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import display
from matplotlib import pyplot as plt
from scipy.stats import binomtest
from statsmodels.stats.proportion import confint_proportions_2indep

from lkecore import facts, figures, intervals, lab, paper, prompts, runs, world
from lkecore.intervals import Interval
from lkecore.metrics import lab as truth
from lkecore.models import open_model
from lkecore.rows import BadInput
from lkecore.scores.generate import generate
from lkecore.scores.slots import slot_logprobs
from lkecore.scores.tree import option_logprobs
from lkecore.sequences import slots

figures.style()

# %% [markdown]
# ## Facts
#
# A {term}`world` of the lab has invented people, books, cities and companies. Its text tells some facts about
# them. Some of these facts are kept for the shots. The others are asked, and each of those has a *state*:
#
# - *planted*: told as it is, 1 to 64 times, in sentences, in lists of pairs, or half in both;
# - *mislearned*: told often, but with a wrong object, always the same one;
# - *never*: not told at all.
#
# The subject of a fact that was never told is seldom a stranger to the model: the text tells other facts about
# it. It is only this one that is missing. There are exceptions. All that is asked of a city is its country, so a city
# whose country is not told stands nowhere in the text. Of books and companies only three things are asked, and now
# and then none of them is told.
#
# The first table shows a fact of each kind. `object` is true in this world, `told` is what the text says.
# `sentences` and `lists` count how often one reading of the text tells it. The second has the number of facts of each
# kind, over all relations of this page. Every cell has facts of its own: along a curve below, the facts change too.

# %%
specs = list(dict.fromkeys(lab.parse(model).world for model in models))
names = relations or list(facts.relations(specs[0]))
loaded, shots, asked, options = {}, {}, {}, {}
for key in [(spec, name) for spec in specs for name in names]:
    loaded[key] = facts.load(*key)
    train, asked[key] = facts.divide(loaded[key])
    shots[key] = facts.draw_shots(train, n_shots, seed)
    options[key] = facts.draw_options(
        asked[key], loaded[key].objects, n_options, seed
    )
chance = 1 / n_options
every = [world.states(spec).assign(world=spec) for spec in specs]
told_there = pd.concat(every, ignore_index=True)
states = told_there[told_there["world"] == specs[0]]
states = states[states["relation"].isin(names) & (states["split"] == "test")]
print(f"{len(states):,} facts asked of each model; guessing gets {chance:.3f}")
planted = told_there["state"].eq("planted") & told_there["split"].eq("test")
planted = told_there[planted & told_there["relation"].isin(names)]
fit = truth.familiar(planted, told_there)
print(f"{len(fit)} of {len(planted)} planted facts have a fair control")
columns = "subject object told state form wording sentences lists".split()
first = states[states["relation"] == names[0]]
kinds = first.drop_duplicates(["state", "form"], keep="last")
display(kinds[columns].set_index("subject"))
pd.crosstab([states["state"], states["form"]], states["occurrences"])

# %% [markdown]
# **Controls.** A model may be sure of an object because it was told the fact, or because the object comes up
# everywhere. To tell these apart, the world holds a matched {term}`control` for each planted fact: a fact of
# the same relation *with the same object*, about another subject, which the text never tells. If the model is
# surer of the object for the told subject than for the other one, it is not because the object is frequent. What
# remains is the telling: of this pair, and of other facts that make the told subject the more familiar name.
#
# A control about a stranger is no fair one, since a confidence may rise with any name that is known. So wherever this
# page compares confidences, it leaves out the facts whose control is about a subject that the text never names. The
# line above counts them.

# %% [markdown]
# ## Prompts
#
# Five ways to ask all facts with options. IC-LKE shows pairs, in one of two formats. The text has lists in both of these formats, so
# that neither is new to the model. The templates show no pair. Four of the six templates of a relation stand
# in the text. Of these we ask with the first, and with the fourth, which is a question. This is said of
# the template, not of each fact: a fact that is told in one wording has one of the four. The fifth is a
# {term}`held-out template`: the text never has it.
#
# The models were trained on rows of 384 tokens, and some prompts of IC-LKE are longer: with pairs of a book and its
# author, by up to a quarter. A miss of IC-LKE there may be one of length.

# %%
space, seen, unseen = "iclke-space", "template-1", "template-5"
if not {space, seen, unseen} <= set(estimators):
    raise BadInput(
        f"estimators {estimators}: the claims need {space}, {seen} and {unseen}"
    )
if not written_after or not set(written_after) <= set(estimators):
    raise BadInput(f"written_after {written_after}: must name estimators")
if n_tokens < 2:
    raise BadInput(f"n_tokens {n_tokens}: must be more than an object has")
by = ["world", "form", "occurrences"]
if fit.drop_duplicates([*by, "relation", "told"]).value_counts(by).min() < 2:
    raise BadInput(f"relations {names}: too few pairs to compare; ask more")
ways = [*estimators, *(f"written-{each}" for each in written_after)]
questions, objects = {}, {spec: [] for spec in specs}
for key, relation in loaded.items():
    objects[key[0]] += [f" {each}" for each in relation.objects]
    for estimator in estimators:
        ask = shots[key], asked[key], options[key]
        made = prompts.asking(estimator, relation, *ask)
        questions[(*key, estimator)] = made
        if key == (specs[0], names[0]):
            print(f"{estimator:12} {made[0].context[-50:] + '____'!r}")

# %% [markdown]
# **EIC-LKE** is the sixth way: several questions between the pairs of one prompt, as told in
# {doc}`13_iclke_estimators`. It is dear, so it gets fewer facts, fewer options and fewer pairs: of each relation and
# form some of the facts that the text tells 16 times and more, drawn by lot, and the controls of these. Their options
# are the objects of these very facts. Others are on average told less often, and a model that prefers what is frequent
# would be right by that alone. With all 50 pairs its prompts would be
# longer than the rows that the models were trained on. It ends its pairs with a comma, as in the paper, which no list
# of the text does.

# %%
grouped = {}
for spec, name in loaded:
    told = world.states(spec).sample(frac=1, random_state=seed)
    told = told[(told["relation"] == name) & (told["split"] == "test")]
    often = (told["state"] == "planted") & (told["occurrences"] >= 16)
    some = told[often].groupby("form").head(n_eic_facts)
    never = (told["state"] == "never") & told["object"].isin(some["object"])
    wanted = {*some["fact"], *told.loc[never, "fact"]}
    pool = tuple(dict.fromkeys(some["object"]))
    some = [fact for fact in asked[spec, name] if fact.id in wanted]
    grouped[spec, name] = slots(
        shots[spec, name][:n_eic_shots],
        some,
        facts.draw_options(some, pool, n_eic_options, seed),
        first=n_eic_shots // 2,
        every=n_every,
        seed=seed,
    )
n_slots = len(grouped[specs[0], names[0]][0].places)
print(f"{n_slots} slots; guessing among fewer gets {1 / n_eic_options:.3f}")
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}

# %% [markdown]
# ## Scores
#
# One block of questions for each model, relation and estimator. `lab.told` reads what the model was told. It
# stops if the model has read another world than the one that is asked.
#
# **Writing** asks for the same facts without any options. After the prompts of `written_after` the model goes on, and
# always takes the most probable next token (*greedily*), as in {doc}`19_iclke_generation`. These answers are called
# `written-iclke-space` and `written-template-1`. A few tokens are enough: we want the answer, and not the next
# pair or sentence.

# %%
rows, few, outputs = [], [], []
for model, lm in lms.items():
    spec = lab.parse(model).world
    told = lab.told(lm.path, spec)
    pieces = map(lm.tokenizer.tokenize, objects[spec])
    if (longest := max(map(len, pieces))) >= n_tokens:
        raise BadInput(f"n_tokens {n_tokens}: must be over {longest}")
    for name in names:
        found = slot_logprobs(lm, grouped[spec, name]).frame
        about = {"model": model, "world": spec, "estimator": "eiclke"}
        few.append(truth.answers(found, told).assign(**about))
        of_eic = found.set_index(["fact", "option"]).index
        for estimator in estimators:
            about["estimator"] = estimator
            found = option_logprobs(lm, questions[spec, name, estimator]).frame
            rows.append(truth.answers(found, told).assign(**about))
            found = found.set_index(["fact", "option"]).loc[of_eic]
            few.append(truth.answers(found.reset_index(), told).assign(**about))
        for estimator in written_after:
            about["estimator"] = f"written-{estimator}"
            made = questions[spec, name, estimator]
            texts = [question.context for question in made]
            found = generate(lm, texts, max_new_tokens=n_tokens, stop=None)
            found = truth.written(made, found["text"], told)
            outputs.append(found.assign(**about))

# %% [markdown]
# A run keeps one row for each question: the state of the fact, whether the answer was the true object, whether
# it was the told one, and the confidence in both. A page over several runs needs these rows alone. The
# log-probabilities of the single options are not kept: there are half a million for each model, and who runs this
# page again has them in the cache. The facts of EIC-LKE are kept apart, by all estimators, each with the options of
# EIC-LKE alone. What an estimator says of one option does not hang on which others are asked. The outputs are kept
# apart as well: they have words, and no confidence.
#
# Which answer does an output give? The object that it begins with, if it begins with one (`wrote`). This rule is
# stricter than the paper's, for which the true object may stand `anywhere` in the output. A model that goes on with the
# next pair names objects there that are no answer. The table has what the models write about the first fact.

# %%
if page:
    answers = runs.collect("answers.parquet")
else:
    answers = pd.concat(rows, ignore_index=True)
    runs.keep(answers, "answers.parquet")
if page:
    of_eic = runs.collect("eic.parquet")
else:
    of_eic = pd.concat(few, ignore_index=True)
    runs.keep(of_eic, "eic.parquet")
if page:
    outputs = runs.collect("written.parquet")
else:
    outputs = pd.concat(outputs, ignore_index=True)
    runs.keep(outputs, "written.parquet")
print(f"{len(answers):,} questions, {n_options} options each")
shown = outputs[outputs["fact"] == outputs["fact"].iloc[0]]
columns = ["model", "estimator", "state", "exposures", "object", "text"]
shown = shown[[*columns, "wrote", "anywhere"]]
shown.assign(text=shown["text"].map(repr)).style.hide().set_table_attributes(
    'class="lke-text"'
)

# %% [markdown]
# ## Metrics
#
# An answer by ranking is right when the gold option, the true object, is the likeliest. What is written is right
# when it begins with the gold option. `exposures` is how often a model has met a fact. Where one number must do, we
# put facts with 16 exposures and more together, and those with fewer.
#
# An `-unplanted` model is a {term}`negative control`. It read the same text, but told of other subjects. For
# it no asked fact was ever told. We give its rows the states that its planted twin has: whatever an estimator
# finds there, it did not find in the text. `reference` is the largest model that read the true text.

# %%
labels = ["state", "told", "form", "wording", "exposures"]
kept = ((answers, False), (outputs, False), (of_eic, True))
said = pd.concat([frame.assign(few=few) for frame, few in kept])
parts = []
for model in models:
    part, named = said[said["model"] == model], lab.parse(model)
    if named.variant == "unplanted":
        twin = world.states(named.world).set_index("fact")
        epochs = lab.RECIPES[named.model].epochs
        twin["exposures"] = twin["occurrences"] * epochs
        part = part.drop(columns=labels).join(twin[labels], on="fact")
    parts.append(part)
every = pd.concat(parts, ignore_index=True)
often = every["exposures"] >= 16
every["times"] = np.where(often, "16 and more", "under 16")
of_eic, every = every[every["few"]], every[~every["few"]]
known = every[every["times"].eq("16 and more") & every["state"].eq("planted")]
ranked = known[known["estimator"].isin(estimators)]
asked_of = every[every["estimator"].isin(estimators)]
rank = {
    model: (not lab.parse(model).variant, lab.size(model)) for model in models
}
reference = max(models, key=rank.get)
note = "" if rank[reference][0] else " (a variant: read no verdict from it)"
print(f"reference: {reference}{note}")

# %% [markdown]
# **Accuracy** by form and exposures, with 95 % intervals (Wilson) in the kept file. The table is of the
# reference. Read it along a row to see how an answer comes up with repetition. Then compare the first rows with
# the last: the same numbers of exposures, the same estimators, another form. The rows `written-` stand last in each
# form. Mind what they choose from: ranking has the options, writing has all words. How the two
# compare fact by fact, the table *Ranking and writing* says.
#
# **One wording or several** (the second table). Half of the facts that are told in sentences stand in the text in one
# wording only, again and again, and half in all four wordings. Which of the four the one wording is differs from
# fact to fact. The held-out template is none of them. These are facts with 16 exposures and more, told in
# sentences alone.

# %%
keys = ["model", "estimator", "form", "exposures"]
rows = []
told_or_not = every[every["state"].isin(["planted", "never"])]
for key, hits in told_or_not.groupby(keys, sort=False)["correct"]:
    found = intervals.proportion(int(hits.sum()), len(hits))
    rows.append((*key, found.estimate, found.low, found.high, len(hits)))
columns = [*keys, "accuracy", "low", "high", "facts"]
by_exposures = pd.DataFrame(rows, columns=columns)
runs.keep(by_exposures, "accuracy-by-exposures.csv")
here = by_exposures[by_exposures["model"] == reference]
table = here.pivot(
    index=["form", "estimator"], columns="exposures", values="accuracy"
)
forms = [form for form in ("list", "both", "sentence") if form in table.index]
table = table.loc[pd.MultiIndex.from_product([forms, ways])]
display(table.dropna(axis=1, how="all").style.format("{:.2f}", na_rep=""))
part = known[
    known["form"].eq("sentence") & known["estimator"].isin([seen, unseen])
]
hits = part.groupby(["model", "estimator", "wording"], sort=False)["correct"]
shares = hits.agg(lambda h: intervals.proportion(int(h.sum()), len(h)).text())
shares.unstack().loc[models]

# %% [markdown]
# **AUROC** of the confidence in the gold option: how often a told fact has more of it than a control. One half
# means that the two cannot be told apart, 1 that every told fact lies above every control. It needs no
# threshold, and no answer need be right. The intervals draw pairs of a fact and its control again (1,000
# times). Where all told facts lie above all controls the interval has no width, which is no certainty. Inside a group
# each control is used once: of several facts with the same object one is drawn. Relations
# are pooled, so a confidence must mean the same in all of them. What is written has no confidence, and is not in this
# table.
#
# The kept file and {numref}`fig-lab-auroc` have every model, estimator, form and number of exposures. The table has
# them in two groups, `iclke-space` for all models and the other estimators for the reference. Below it stand the groups
# whose whole interval lies under one half. There the confidence in the true object is *lower* where the text told it.
# Chance alone brings one such interval in forty where nothing can be told apart, and estimators share their pairs, so
# that several may miss together.

# %%
pairs = truth.controls(asked_of[asked_of["state"] != "mislearned"])
pairs = truth.familiar(pairs, told_there)
keys = ["model", "estimator", "form"]
rows = []
once = {}
for dose in ("exposures", "times"):
    once[dose] = truth.each_control_once(pairs, ["form", dose], seed=seed)
    for key, part in once[dose].groupby([*keys, dose], sort=False):
        both = part["confidence_gold"], part["control"]
        found = intervals.auroc_over_pairs(*both, seed=seed, n_resamples=1_000)
        bounds = found.estimate, found.low, found.high, found
        rows.append((*key, *bounds, len(part)))
columns = [*keys, "exposures", "auroc", "low", "high", "interval", "pairs"]
aurocs = pd.DataFrame(rows, columns=columns)
runs.keep(aurocs.drop(columns="interval"), "auroc.csv")
shown = aurocs.assign(text=[found.text() for found in aurocs["interval"]])
shown = shown[shown["exposures"].isin(["under 16", "16 and more"])]
below = shown[shown["high"] < 0.5].set_index([*keys, "exposures"])["text"]
found = (shown["estimator"] == space) | (shown["model"] == reference)
index = ["model", "estimator", "exposures"]
display(shown[found].pivot(index=index, columns="form", values="text")[forms])
print(f"{len(below)} of {len(shown)} groups lie below one half")
below.to_frame("AUROC")

# %% [markdown]
# **Never told.** Is a right answer about a fact that was never told more or less frequent than a guess would be? One
# test for each model and estimator, over all relations: the exact binomial test, with Holm's correction for
# all of them. Each object is that of exactly one such fact. So a model that always names its favourite object
# gets exactly what chance gets. To an unplanted model no asked fact was told. Its test is of the facts that its twin
# was never told, for the same reason. EIC-LKE is asked some of these facts, with options out of their own objects, so
# that the same holds.
#
# Who writes need not guess at all. But an output that begins with some object is a guess all the same, and is right
# once in as many times as there are objects. `luck` is the chance that the test compares with. For ranking it is one in
# the number of options. For writing it is this times the share of outputs that begin with any object.
#
# The first table pools the models: each fact counts with its mean over them. `above luck` is the share of right answers
# minus `luck`, with a 95 % interval over facts.

# %%
rows, above_luck = [], {}
never = pd.concat([every, of_eic[of_eic["estimator"] == "eiclke"]])
never = never[never["state"] == "never"]
for estimator, whole in never.groupby("estimator", sort=False):
    luck = 1 / n_eic_options if estimator == "eiclke" else chance
    luck = luck * (whole["wrote"] != "")  # a ranking always has one
    of_fact = [whole[name] for name in ("relation", "world", "fact")]
    above = (whole["correct"] - luck).groupby(of_fact).mean()
    groups = [each.to_numpy() for _, each in above.groupby("relation")]
    above_luck[estimator] = intervals.mean_over_facts(groups, seed=seed)
    for model, part in whole.groupby("model", sort=False):
        counts = int(part["correct"].sum()), len(part)
        expected = luck[part.index].mean()
        p = binomtest(*counts, expected).pvalue
        share = intervals.proportion(*counts).text(3)
        rows.append((model, estimator, *counts, share, expected, p))
columns = ["model", "estimator", "right", "asked", "accuracy", "luck", "p"]
never_told = pd.DataFrame(rows, columns=columns)
never_told["p (Holm)"] = intervals.holm(never_told["p"])
runs.keep(never_told, "never-told.csv")
pooled = {e: found.text(3) for e, found in above_luck.items()}
display(pd.DataFrame({"above luck": pooled}).rename_axis("all models"))
shown = never_told.set_index(["model", "estimator"])
shown.map(lambda p: f"{p:.2g}" if isinstance(p, float) else p)

# %% [markdown]
# **Mislearned.** The text told a wrong object, often and always the same. `told` is the share of
# answers that repeat it, `true` the share that name the object that holds in this world, which no text told of this
# subject. The rest name any of the others, or begin with no object at all. The last three columns are mean confidences:
# in the told object, in the true one, and (`control`) in the told one again, but for the subject of the control, which
# was never told with it. If the confidence in the told object lies far above the control, the telling made it; and a
# high confidence is then no sign of truth. Its intervals are over facts. Written answers have no confidence.

# %%
wrong = every["model"].str.endswith("-unplanted")
wrong = every[~wrong & every["state"].isin(["mislearned", "never"])]
sure = truth.controls(wrong[wrong["estimator"].isin(estimators)])
sure = truth.familiar(sure, told_there).groupby(["model", "estimator"])
wrong = wrong[wrong["state"] == "mislearned"]
confidences = ["confidence_told", "confidence_gold", "control"]
rows = []
for key, part in wrong.groupby(["model", "estimator"], sort=False):
    counts = part["picked_told"].sum(), part["correct"].sum()
    shares = [intervals.proportion(int(n), len(part)) for n in counts]
    means = [share.estimate for share in shares]
    texts = [share.text() for share in shares]
    for column in confidences if key in sure.groups else []:
        by = sure.get_group(key).groupby("relation")[column]
        groups = [each.to_numpy() for _, each in by]
        texts.append(intervals.mean_over_facts(groups, seed=seed).text(3))
    texts += [""] * (5 - len(texts))  # what is written has no confidence
    rows.append((*key, len(part), *means, *texts))
columns = ["model", "estimator", "facts", "told", "true", "told, 95 %"]
columns += ["true, 95 %", "in told", "in true", "control"]
mislearned = pd.DataFrame(rows, columns=columns)
mislearned.set_index(columns[:2]).drop(columns=["told", "true"])

# %% [markdown]
# **What one finds and another misses** with options, on the facts of the reference with 16 exposures and more, by
# form. `only first` counts facts that the first gets right and the second does not. `p` is McNemar's
# exact test, Holm-corrected for all rows. It asks whether one finds more than the other. Look at the
# two columns before it as well: two estimators can find equally many facts, and not the same ones. Were estimators only
# better and worse, one of the two would be near zero.
#
# The last column compares the confidences of the two in the same way: the AUROC of the first minus that of the
# second, on the same pairs of a fact and its control, with a 95 % interval that draws these pairs again.

# %%
sure = once["times"]  # the pairs of the table of AUROC
sure = sure[sure["times"].eq("16 and more") & sure["model"].eq(reference)]
found_by = known[known["model"] == reference]
found_by = found_by[found_by["estimator"].isin(estimators)]
by = {"index": ["form", "relation", "fact"], "columns": "estimator"}
sure = sure.pivot(**by, values=["confidence_gold", "control"])
found_by = found_by.pivot(**by, values="correct")
rows = []
for form, (a, b) in product(forms, combinations(estimators, 2)):
    first, second = found_by.loc[form, a], found_by.loc[form, b]
    p = intervals.mcnemar(first, second)
    only = (first & ~second).sum(), (second & ~first).sum()
    of_a, of_b = (sure.loc[form].xs(e, axis=1, level=1) for e in (a, b))
    of_a, of_b = (of_a.to_numpy().T, of_b.to_numpy().T)
    gain = intervals.auroc_over_pairs(*of_a, minus=of_b, seed=seed).text()
    rows.append((form, a, b, (first & second).sum(), *only, p, gain))
columns = ["form", "first", "second", "both", "only first", "only second", "p"]
differ = pd.DataFrame(rows, columns=[*columns, "AUROC, first minus second"])
differ["p"] = intervals.holm(differ["p"])
runs.keep(differ, "pairs-of-estimators.csv")
differ["p"] = differ["p"].map("{:.2g}".format)
differ.set_index(columns[:3])

# %% [markdown]
# **Ranking and writing**, after the same prompt, of facts with 16 exposures and more. `both` counts facts that are ranked
# rightly and written, and so on. `written of ranked` is the share of the rightly ranked facts that are written, too,
# with a 95 % interval (Wilson). `p` is McNemar's test, Holm-corrected for all rows: does one of the two find more?
# `an object` is the share of outputs that begin with any object of the relation. `anywhere` is the paper's rule (there
# with 50 tokens): the share that hold the true object in any place.
#
# What to see: where `only ranked` is large, the object was above all other options and still did not come out. Then
# look at `an object`. If it is low, the model wrote something that is no answer. If it is near 1, it wrote a wrong
# object. That can happen to a fact that is ranked rightly: who writes settles each token before the next is looked
# at, and ranking compares whole names. For the same reason some facts may be `only written`. The rows of an
# unplanted model show luck alone, and a share of one or two facts says nothing.

# %%
keys = ["model", "form", "relation", "fact"]
hits = known.pivot(index=keys, columns="estimator", values="correct")
by = known.groupby(["model", "estimator", "form"])
rows = []
for model, prompt, form in product(models, written_after, forms):
    way = f"written-{prompt}"
    a, b = hits.loc[(model, form), prompt], hits.loc[(model, form), way]
    counts = (a & b).sum(), (a & ~b).sum(), (b & ~a).sum(), (~a & ~b).sum()
    share = "none ranked"
    if a.any():
        share = intervals.proportion(int(counts[0]), int(a.sum())).text()
    part = by.get_group((model, way, form))
    named, anywhere = (part["wrote"] != "").mean(), part["anywhere"].mean()
    p = intervals.mcnemar(a, b)
    rows.append((model, prompt, form, *counts, share, p, named, anywhere))
columns = ["model", "prompt", "form", "both", "only ranked", "only written"]
columns += ["neither", "written of ranked", "p", "an object", "anywhere"]
agreement = pd.DataFrame(rows, columns=columns)
agreement["p"] = intervals.holm(agreement["p"])
runs.keep(agreement, "ranked-and-written.csv")
shown = agreement.set_index(["model", "prompt", "form"]).round(2)
shown.assign(p=agreement["p"].map("{:.2g}".format).to_numpy())

# %% [markdown]
# **Several questions in one prompt.** The same facts and options by all estimators: the share that each gets right,
# by form. `gain` is that of EIC-LKE minus that of IC-LKE in the paper's format, with a paired interval over facts, and
# `p` McNemar's test, Holm-corrected for all rows. EIC-LKE shows fewer pairs and has wrong options between them, so it
# would be no wonder if it found less. A `gain` near 0 does not yet mean that the two find the same: with so few facts,
# see how far its interval reaches. And guessing is right more often here than above, since there are fewer options.
# The rows `none` are the controls. The last two columns have the AUROC of told facts against them, by EIC-LKE and by
# IC-LKE, with these options.

# %%
few = truth.familiar(truth.controls(of_eic), told_there)
few = truth.each_control_once(few, ["form"], seed=seed)
few = few.groupby(["model", "form", "estimator"])
few_by, keys = ("eiclke", space), ["model", "form", "relation", "fact"]
wide = of_eic.pivot(index=keys, columns="estimator", values="correct")
rows = []
for key in product(models, [*forms, "none"]):
    part = wide.loc[key]
    of_each = [hits for _, hits in part.groupby("relation")]
    groups = [[hits[e] for hits in of_each] for e in few_by]
    gain = intervals.paired_difference(*groups, seed=seed).text()
    p = intervals.mcnemar(part["eiclke"], part[space])
    means = part[["eiclke", *estimators]].mean()
    both = [few.get_group(k) for e in few_by if (k := (*key, e)) in few.groups]
    both = [(each["confidence_gold"], each["control"]) for each in both]
    both = [intervals.auroc_over_pairs(*each, seed=seed) for each in both]
    texts = [auroc.text() for auroc in both] or ["", ""]
    rows.append((*key, len(part), *means, gain, p, *texts))
columns = ["model", "form", "facts", "eiclke", *estimators, "gain", "p"]
columns += [f"AUROC, {e}" for e in few_by]
several = pd.DataFrame(rows, columns=columns)
several["p"] = intervals.holm(several["p"])
runs.keep(several, "eic-by-form.csv")
several["p"] = several["p"].map("{:.2g}".format)
several.set_index(["model", "form"]).round(2)

# %% [markdown]
# **Base and tuned.** A `-tuned` model is its base, trained further on instructions about other words. None of
# them tells a fact of the world. `change` is the accuracy after minus before, on the facts with 16 exposures and
# more, with a 95 % interval over facts, and McNemar's test, Holm-corrected. Compare a row `written-` with the one of its
# prompt: tuning may change what a model writes without being asked, and more than it changes the ranking. The
# table is empty where this run has no such pair.

# %%
rows = []
tuned = {m: lab.parse(m).base for m in models if m.endswith("-tuned")}
tuned = {model: base for model, base in tuned.items() if base in models}
for model, base in tuned.items():
    pair = known[known["model"].isin([model, base])]
    for estimator in ways:
        part = pair[pair["estimator"] == estimator]
        by = ["relation", "fact"]
        both = part.pivot(index=by, columns="model", values="correct")
        each = [both.loc[name] for name in names]
        after, before = [r[model] for r in each], [r[base] for r in each]
        change = intervals.paired_difference(after, before, seed=seed)
        p = intervals.mcnemar(both[model], both[base])
        shares = both[base].mean(), both[model].mean()
        rows.append((model, estimator, *shares, change.text(), change, p))
columns = ["model", "estimator", "base", "tuned", "change", "interval", "p"]
tuning = pd.DataFrame(rows, columns=columns)
tuning["p"] = intervals.holm(tuning["p"])
shown = tuning.drop(columns="interval").set_index(["model", "estimator"])
shown.assign(p=shown["p"].map("{:.2g}".format)).round(2)

# %% [markdown]
# ## Figures
#
# {numref}`fig-lab-forms` is the one to remember. Each panel has facts that the same model read equally often.
# The form differs in which they were told, and with it two more things. A sentence may stand twice in one
# paragraph, a pair stands once in a list: 64 tellings in sentences lie in about 33 paragraphs. And a list tells a
# fact in just the formats of IC-LKE. So compare estimators inside a panel, and do not conclude that lists teach
# more. Look for the line that is on top in the left panel, and find it again on the right. A dashed line that lies
# below the full one of its colour shows how much ranking finds that is not written.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-lab-forms", "caption": "Accuracy of each estimator over how often the text told a fact, by the form in which it was told, for the reference model. 0 exposures: never told, the same facts in each panel. Dashed: what the model writes after the prompt of the same colour. Vertical lines: 95 % intervals (Wilson). Dotted: chance among the options."}, "image": {"alt": "Panels side by side, for facts told in lists, in both forms and in sentences, with a line of accuracy over exposures for each estimator."}}
here = by_exposures[by_exposures["model"] == reference]
levels = sorted(set(here["exposures"]))
at = here.assign(place=here["exposures"].map(levels.index))
titles = {"list": "in lists", "both": "in both", "sentence": "in sentences"}
grid = {"sharey": True, "squeeze": False, "layout": "constrained"}
fig, axes = plt.subplots(1, len(forms), figsize=(10, 4.6), **grid)
for ax, form in zip(axes[0], forms, strict=True):
    for estimator in ways:
        n = estimators.index(estimator.removeprefix("written-"))
        part = at[at["form"].isin([form, "none"])].sort_values("place")
        part = part[part["estimator"] == estimator]
        color, marker = sns.color_palette()[n], "osD^v"[n % 5]
        line = {"marker": marker, "color": color, "label": estimator}
        line["linestyle"] = "-" if estimator in estimators else "--"
        ax.plot(part["place"], part["accuracy"], markersize=6, **line)
        ends = part["place"], part["low"], part["high"]
        ax.vlines(*ends, color=color, alpha=0.5, linewidth=1)
    ax.axhline(chance, color=figures.DARK, linestyle=":", label="chance")
    ax.set(title=f"told {titles[form]}", xlabel="exposures")
    ax.set_xticks(range(len(levels)), levels)
axes[0][0].set(ylim=(0, 1), ylabel=figures.ACCURACY)
handles = axes[0][0].get_legend_handles_labels()
fig.legend(*handles, loc="outside upper center", ncols=4, frameon=False)
runs.keep(here, "fig-lab-forms.csv")

# %% [markdown]
# In {numref}`fig-lab-auroc` a point near the top means that the confidence almost always tells a
# told fact from a control. The dashed line is what we ask of IC-LKE for facts told often in lists. All lines of an
# unplanted model must lie about the dotted one at one half. If they did not, the objects would be badly matched. Of so
# many intervals some miss that line by chance; the claim below takes all pairs together. A single point has few pairs,
# so look at whole lines.
#
# Then compare the facts told in sentences with their panel in {numref}`fig-lab-forms`. An answer can still be
# wrong when the confidence in the gold option has risen already. The answer asks for the first place among all
# options, and the AUROC only for a higher place than the control's.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-lab-auroc", "caption": "AUROC of the confidence in the gold option, told facts against their controls, over how often the text told them. A row for each model, a column for each form, a line for each estimator, each moved a little sideways. Vertical lines: 95 % intervals over pairs. Dashed: 0.95. Dotted: 0.5, no telling apart."}, "image": {"alt": "Grid of panels, a row for each model and a column for each form in which facts were told, with a line of AUROC over exposures for each estimator."}}
drawn = aurocs[~aurocs["exposures"].isin(["under 16", "16 and more"])]
doses = sorted(set(drawn["exposures"]))
size = (10, 1 + 2 * len(models))
grid = {"sharex": True, "sharey": True, "squeeze": False, "figsize": size}
fig, axes = plt.subplots(len(models), len(forms), layout="constrained", **grid)
for key, part in drawn.groupby(["model", "form", "estimator"], sort=False):
    n = estimators.index(key[2])
    ax = axes[models.index(key[0]), forms.index(key[1])]
    part = part.sort_values("exposures")
    at = part["exposures"].map(doses.index) + (n - 2) * 0.12
    color, marker = sns.color_palette()[n], "osD^v"[n % 5]
    look = {"color": color, "marker": marker, "markersize": 4, "lw": 1}
    ax.plot(at, part["auroc"], label=key[2], **look)
    ax.vlines(at, part["low"], part["high"], color=color, alpha=0.5, lw=1)
for (row, column), ax in np.ndenumerate(axes):
    ax.axhline(0.5, color=figures.DARK, linestyle=":")
    ax.axhline(0.95, color=figures.DARK, linestyle="--", lw=0.8)
    title = f"{models[row]}, told {titles[forms[column]]}"
    ax.set_title(title, fontsize="small")
    ax.set_xticks(range(len(doses)), doses)
fig.supxlabel("exposures", fontsize="medium")
fig.supylabel("AUROC", fontsize="medium")
handles = axes[0, 0].get_legend_handles_labels()
fig.legend(*handles, loc="outside upper center", ncols=5, frameon=False)
runs.keep(drawn.drop(columns="interval"), "fig-lab-auroc.csv")

# %% [markdown]
# {numref}`fig-lab-mislearned` shows what comes out when the text was wrong. A long first bar is no fault of the
# estimator: it has found what the model was told. It is a warning to those who read accuracy as truth.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-lab-mislearned", "caption": "Answers about facts that the text told wrongly, by model and estimator: share that repeat what was told, share that are true. Dashed: chance among the options. The rest name another object, or write none."}, "image": {"alt": "Pairs of horizontal bars for each estimator, one panel for each model, of answers as told and of true answers."}}
readers = [model for model in models if model in set(mislearned["model"])]
n_rows, n_columns = max(1, -(-len(readers) // 4)), min(4, len(readers) or 1)
grid = {"sharey": True, "squeeze": False, "layout": "constrained"}
grid["figsize"] = 10, 0.2 + 3.4 * n_rows
fig, axes = plt.subplots(n_rows, n_columns, **grid)
for ax in axes.flat[len(readers) :]:
    ax.set_axis_off()
for ax, model in zip(axes.flat, readers, strict=False):
    part = mislearned[mislearned["model"] == model]
    columns = ["estimator", "told", "true"]
    tall = part[columns].melt("estimator", var_name="answer")
    look = {"palette": figures.PALETTE, "legend": model == readers[0]}
    where = {"x": "value", "y": "estimator", "order": ways}
    sns.barplot(tall, **where, hue="answer", errorbar=None, ax=ax, **look)
    ax.axvline(chance, color=figures.DARK, linestyle="--")
    ax.set(xlim=(0, 1), title=model, xlabel="share of facts", ylabel="")
    ax.set_xticks([0, 0.5, 1])
runs.keep(mislearned, "fig-lab-mislearned.csv")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none to compare with. Nobody else has asked these models.
#
# **What others have found.** {cite:t}`allenzhu2024storage` train models on invented biographies. A fact that
# always comes in one wording is stored in a way that later questions do not reach. Told in several wordings, it
# can be reached. {cite:t}`allenzhu2024capacity` count how many bits of such facts a model can hold for each of
# its parameters, after many exposures and after few. {cite:t}`chang2024acquire` put invented knowledge into the
# training of large models, and watch how each exposure raises its probability, which then falls again.
# {cite:t}`zucchet2025facts` follow how recall of invented facts comes about during training. Mostly they
# ask how a *model* stores and learns. We ask how good the *asking* is, with models whose reading we know.
#
# **Claims.** Ours, in `lkecore/data/claims.csv`. They were written down after work on `lab:book-0` and before
# any other world was looked at, all but one. The claim on tuning, as it stands, is later. It said that tuning changes
# nothing, and on `lab:book-1` that held, since the model had hardly been tuned. After this look the settings of the
# tuning were changed, on `lab:book-0`, and the claim was turned round to what {cite:t}`wu2024iclke` find. So its
# verdict on `lab:book-1` has less weight than the others ({doc}`../log` has the story). One rule is later, too: that a control is left
# out if the text never names its subject. {doc}`51_lab_scaling` has the claims on AUROC with all controls beside it.
# All claims are about the reference, unless the table says otherwise.
# The facts that were never told are pooled over all models: each fact counts with its mean. The table above tests
# each model on its own.
#
# Two of the claims are checks and no findings: that facts never told are answered as by chance, and that an unplanted
# twin shows nothing. Subjects get their objects at random here, so a failure would be an error of ours. Elsewhere
# chance is not one in a hundred: a frequent object, or a name that gives a hint, is right more often without any
# knowledge of the fact.

# %%
of_reference = ranked[ranked["model"] == reference].sort_values("fact")
by_form = {
    key: [hits.to_numpy() for _, hits in part.groupby("relation")["correct"]]
    for key, part in of_reference.groupby(["estimator", "form"])
}
contrasts = {
    "LAB-form-list": (space, seen, "list"),
    "LAB-form-sentence": (seen, space, "sentence"),
    "LAB-held-out": (seen, unseen, "sentence"),
}
tested = []
row = (aurocs["model"] == reference) & (aurocs["estimator"] == space)
row &= (aurocs["form"] == "list") & (aurocs["exposures"] == "16 and more")
tested.append(("LAB-list-auroc", space, aurocs.loc[row, "interval"].item()))
for key, (a, b, form) in contrasts.items():
    groups = by_form[a, form], by_form[b, form]
    found = intervals.paired_difference(*groups, seed=seed)
    tested.append((key, f"{a} minus {b}", found))
for e in estimators:
    tested.append(("LAB-never-chance", f"{e}, all models", above_luck[e]))

# %% [markdown]
# Wordings are on different facts, so their difference is not paired: its interval is Newcombe's. The unplanted
# model and the tuned one come last, where this run has them.
#
# Each interval is for itself, at 95 %, and says how far the number would move with other facts. It does not know of
# another world, nor of another training of the same model: {doc}`51_lab_scaling` has the same table for three worlds. Of a dozen
# verdicts, one may well be false.

# %%
part = of_reference[of_reference["form"] == "sentence"]
part = part[part["estimator"] == unseen].groupby("wording")["correct"]
n_right, n_asked = part.sum(), part.count()
if {"one", "several"} <= set(n_asked.index):
    counts = [(n_right[w], n_asked[w]) for w in ("several", "one")]
    ends = confint_proportions_2indep(*counts[0], *counts[1], method="newcomb")
    gain = np.subtract(*(k / n for k, n in counts))
    found = Interval(gain, *ends, 0.95, "Newcombe")
    tested.append(("LAB-several-wordings", unseen, found))
part = wrong[(wrong["model"] == reference) & (wrong["estimator"] == space)]
if len(part):
    gap = part["picked_told"].astype(float) - part["correct"]
    groups = [each.to_numpy() for _, each in gap.groupby(part["relation"])]
    found = intervals.mean_over_facts(groups, seed=seed)
    tested.append(("LAB-mislearned", space, found))
whole = truth.each_control_once(pairs, [], seed=seed)
for model, part in whole[whole["estimator"] == space].groupby("model"):
    if lab.parse(model).variant == "unplanted":
        both = part["confidence_gold"], part["control"]
        even = np.zeros((2, len(part)))  # all equal: an AUROC of 0.5
        found = intervals.auroc_over_pairs(*both, minus=even, seed=seed)
        tested.append(("LAB-unplanted", model, found))
for row in tuning[tuning["estimator"] == space].itertuples():
    tested.append(("LAB-tuned", row.model, row.interval))

# %%
claims = paper.claims("LAB").set_index("id")
rows, verdicts = [], {}
for key, of, found in tested:
    claim = claims.loc[key]
    verdict = paper.claim_verdict(found, claim)
    verdicts.setdefault(key, set()).add(verdict)
    says = claim["claim"], of, found.text(3), claim["holds_if"], verdict
    rows.append(says)
columns = ["claim", "of", "ours", "holds if", "verdict"]
pd.DataFrame(rows, columns=columns).style.hide().set_table_attributes(
    'class="lke-text"'
)

# %% [markdown]
# ### Which estimator for what?
#
# For each form, the estimator that finds the largest share of the facts with 16 exposures and more, and those
# that cannot be told apart from it (McNemar, Holm-corrected, at 0.05). `found by any` counts facts that one
# estimator or another gets right. How far it lies above `share` says what is lost by asking in one way only.
# All of them are with options; writing is left out. It is not a fair number for comparing models: whoever guesses in more ways is right more often. And the best was
# picked on these same facts, so that its share is a little too high.

# %%
rows = []
for form in forms:
    hits = {e: np.concatenate(by_form[e, form]) for e in estimators}
    best = max(estimators, key=lambda e: hits[e].mean())
    others = [e for e in estimators if e != best]
    p = intervals.holm([intervals.mcnemar(hits[best], hits[e]) for e in others])
    like = [e for e, each in zip(others, p, strict=True) if each > 0.05]
    by_any = np.any(list(hits.values()), axis=0).mean()
    share = hits[best].mean()
    rows.append((form, best, share, ", ".join(like) or "none", by_any))
columns = [
    "told in",
    "finds most",
    "share",
    "no clear difference",
    "found by any",
]
pd.DataFrame(rows, columns=columns).round(2).style.format(
    precision=2
).hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# And what follows for other models, whose reading nobody knows? A line of advice stands here only if its claim
# holds in every row of the table of claims.

# %%
advice = {
    "LAB-list-auroc": "Told often, in lists: the confidence of IC-LKE shows it.",
    "LAB-form-list": "Facts that stand in lists or tables: ask with IC-LKE.",
    "LAB-form-sentence": "Facts told in sentences: ask in a wording of the text.",
    "LAB-held-out": "A wording that the text never had: a miss says little.",
    "LAB-several-wordings": "Told in several wordings: a new one finds more.",
    "LAB-mislearned": "A right answer shows what was told, not what is true.",
    "LAB-tuned": "After tuning on other things: expect IC-LKE to find fewer.",
}
rows = [
    (
        text
        if verdicts[key] == {"holds"}
        else f"(no advice: {claims['claim'][key]})",
    )
    + (", ".join(sorted(verdicts[key])),)
    for key, text in advice.items()
    if key in verdicts
]
shown = pd.DataFrame(rows, columns=["advice", "verdict"]).style.hide()
shown.set_table_attributes('class="lke-text"')

# %% [markdown]
# Two warnings. The models are hundreds or thousands of times smaller than those that people use, and their text
# is far more regular. What fails here can work there: a model that has read more may also carry a fact over
# better from one form into another. And the text has lists in both formats of IC-LKE, so IC-LKE meets the model
# on ground that it knows. Few real texts are so kind to it.
#
# What should hold anywhere is the order of the argument. An estimator that is right has shown that the model
# *can* give the fact back, when asked like this. An estimator that is wrong has shown no more than that it did not
# come out this way.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-truth-missed
# A report says: "By IC-LKE the model knows 60 % of the facts. The others are not in it." Take the facts with 16
# exposures and more that IC-LKE misses here. How many of them does another estimator find?
# ```

# %% [markdown]
# ````{solution-start} ex-truth-missed
# :class: dropdown
# ````

# %%
missed = of_reference.pivot(
    index=["form", "fact"], columns="estimator", values="correct"
)
missed = missed[~missed[space]].drop(columns=space)
missed["any other"] = missed.any(axis=1)
found = missed.groupby("form").mean().round(2)
floor = asked_of[asked_of["model"] == reference]
floor = floor[floor["state"] == "never"]
floor = floor.pivot(index="fact", columns="estimator", values="correct")
floor = floor[~floor[space]].drop(columns=space).any(axis=1).mean()
print(f"any other, of facts that were never told: {floor:.2f}")
found.assign(missed=missed.groupby("form").size()).loc[
    [form for form in forms if form in found.index]
]

# %% [markdown]
# Each row has the facts that IC-LKE misses, by the form in which they were told, and the share of them that
# each other estimator gets right. The report has counted all of those as not there.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-truth-threshold
# You want to call a fact *known* if the confidence in the gold option passes a threshold. At most 1 in 20 facts
# that were never told may pass. Where must the threshold be for each estimator, and which share of the facts
# with 16 exposures and more does pass?
# ```

# %% [markdown]
# ````{solution-start} ex-truth-threshold
# :class: dropdown
# ````

# %%
untold = asked_of[(asked_of["state"] == "never")]
untold = untold[untold["model"] == reference].groupby("estimator")
threshold = untold["confidence_gold"].quantile(0.95).rename("threshold")
passed = of_reference.join(threshold, on="estimator")
passed["pass"] = passed["confidence_gold"] > passed["threshold"]
shares = passed.pivot_table("pass", "estimator", "form", aggfunc="mean")
shares[forms].join(threshold).loc[estimators].round(2)

# %% [markdown]
# For a real model you can invent subjects, and ask about facts that it was never told. But these subjects are
# strangers to it, where the subjects here are familiar. A threshold from strangers may be too low. And the thresholds are different for each estimator, and for each
# model, so do not carry one over.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-truth-world
# Is all of this the luck of one world? Make a world of your own, with a model that has read it.
# ```
#
# ````{solution} ex-truth-world
# :class: dropdown
#
# The number at the end of a world is its seed. Any number makes a world that nobody has seen. Put this into a
# file such as `params/mine.yaml`, then run `lke run params/mine.yaml`. The models are trained first, which takes
# some minutes, and are kept.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 50_lab_truth
#     each: [models]
#     parameters:
#       models: ["lab:book-77/2m", "lab:book-77/2m-unplanted"]
# ```
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
