# %% [markdown]
# # Which relations does a model know?
#
# A model may know capitals well and film directors not at all. So one number for "what it knows" hides most
# of the answer. On this page we measure one relation after the other with IC-LKE. Afterwards
# you will be able to say
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
# - models do better than guessing, which would give 0.01;
# - relations differ much: "publication date" comes near 1, "student of" stays near 0.1;
# - what stands between subject and object in the shots hardly matters (Section 4.1, Figure 4).
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
n_facts: int = 25  # test facts of each relation
formats: list[str] = []  # empty: all of those under Prompts
n_choice: int = 4  # training facts of each relation, to choose a format by
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib import pyplot as plt

from lkecore import (
    catalogue,
    facts,
    figures,
    intervals,
    paper,
    prompts,
    results,
    runs,
)
from lkecore.metrics import iclke
from lkecore.models import open_model
from lkecore.rows import BadInput
from lkecore.scores.tree import option_logprobs

figures.style()

# %% [markdown]
# ## Facts
#
# For every relation we draw, once, the shots, the facts to ask and their options. A relation with too few
# objects for the options asked for gets as many as it has, and is marked: guessing is easier there.
#
# Each relation has two sets of questions. The *choice* set comes from training facts that are not shown. It
# may be looked at as often as we like. The *test* set is asked only after that choice. With one format beside the
# paper's, or none, there is nothing to choose, and no choice set.

# %%
names = relations or list(facts.relations(fact_set))
if len(names) < 2:
    raise BadInput(f"this page compares relations, and {names} is one")
paper_format = "space, space"
others = [label for label in formats if label != paper_format]
sets = ("choice", "test") if not formats or len(others) > 1 else ("test",)
loaded, shots, asked, options = {}, {}, {}, {}
for name in names:
    loaded[name] = facts.load(fact_set, name)
    train, test = facts.divide(loaded[name])
    shots[name] = facts.draw_shots(train, n_shots, seed)
    shown = {shot.subject for shot in shots[name]}
    spare = [fact for fact in train if fact.subject not in shown]
    drawn = {"choice": (spare, n_choice), "test": (test, n_facts)}
    n = min(n_options, facts.max_options(loaded[name]))
    for part in sets:
        asked[part, name] = facts.draw_facts(*drawn[part], seed)
        options[part, name] = facts.draw_options(
            asked[part, name], loaded[name].objects, n, seed
        )
chance = pd.Series({name: 1 / len(options["test", name][0]) for name in names})

# %% [markdown]
# The table lists what there is. `codes` marks look-ups such as country codes. `dropped` counts rows that the
# source repeats. `to show` and `to ask` are the two parts that examples and test facts come from; `asked` of the
# second are taken. `large` marks the relations that pass the rule by which the paper made its T-REx-MC: more than 500
# facts and at least 100 objects. Of each it then shows up to 100 facts and asks 400. The last column says of what a
# relation has fewer than this run asks for; it is asked with as many as it has. Below the table stand the relations
# of the fact set that this run leaves out, if any.

# %% covers=["IC-D2", "IC-D3"] needs={"IC-D2": {"fact_set": "T-Rex-MC"}}
rows = []
for name in names:
    r, n = loaded[name], len(options["test", name][0])
    codes = "yes" if r.codes else ""
    large = "yes" if facts.passes_trex_mc(r) else ""
    n_asked = {part: len(asked[part, name]) for part in sets}
    sizes = (len(r.facts), r.repeated, len(r.objects))
    sizes += (*map(len, facts.divide(r)), n_asked["test"], n)
    fewer = ["options"] * (n < n_options)
    fewer += ["test facts"] * (n_asked["test"] < n_facts)
    fewer += ["choice facts"] * (n_asked.get("choice", n_choice) < n_choice)
    rows.append((name, r.kind, codes, *sizes, large, ", ".join(fewer)))
columns = "relation kind codes facts dropped objects show ask asked options"
columns = [*columns.split(), "large", "fewer than asked for"]
shown = pd.DataFrame(rows, columns=columns).set_index("relation")
display(shown.rename(columns={"show": "to show", "ask": "to ask"}))
print(
    "left out:",
    ", ".join(sorted(set(facts.relations(fact_set)) - set(names))) or "none",
)

# %% [markdown]
# Two facts of each of the first relations, with their first options, as in the paper's Table 4. The right object is among
# the options, at a place that is drawn.

# %% covers=["IC-T4"] needs={"IC-T4": {"fact_set": "T-Rex-MC"}}
rows = []
for name in names[:3]:
    pairs = zip(asked["test", name], options["test", name], strict=True)
    for fact, choice in list(pairs)[:2]:
        some = f"{', '.join(choice[:3])}, ... ({len(choice)})"
        rows.append((name, fact.subject, fact.object, some))
columns = ["relation", "subject", "object", "options"]
pd.DataFrame(rows, columns=columns).style.hide().set_table_attributes(
    'class="lke-text"'
)

# %% [markdown]
# ## Prompts
#
# The paper has one space inside a pair and one space between pairs. The model must find out by itself where a
# pair ends. Small models may need help there, so we try a few other formats. All that there are stand in this
# list; `formats` says which of them this run tries. The claims are about the paper's, the first. A run without it
# has no verdicts, and its figures show the other one.

# %% covers=["IC-S1", "IC-E1"]
separators = {
    paper_format: (" ", " "),
    "space, newline": (" ", "\n"),
    "colon, newline": (": ", "\n"),
    "arrow, newline": (" -> ", "\n"),
}
formats = formats or [*separators]
if not set(formats) <= set(separators):
    raise BadInput(f"formats {formats}: must be of {[*separators]}")
others = [label for label in formats if label != paper_format]
for label in formats:
    pair, shot = separators[label]
    example = prompts.many_shot(
        shots[names[0]][:2],
        asked["test", names[0]][:1],
        options["test", names[0]][:1],
        pair_separator=pair,
        shot_separator=shot,
    )[0]
    print(f"{label:18}{example.context + '____'!r}")

# %% [markdown]
# ## Scores
#
# First the choice. Every format is tried on the choice set, and the best one that is not the paper's is
# named. No test fact has been asked at this point. Without a choice set nothing is asked here. (With several models,
# each has a run of its own, and the page reads what the runs have kept.)

# %%
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}
rows = []
for model, lm in lms.items():
    for label, name in product(formats, names if "choice" in sets else []):
        pair, shot = separators[label]
        questions = prompts.many_shot(
            shots[name],
            asked["choice", name],
            options["choice", name],
            pair_separator=pair,
            shot_separator=shot,
        )
        found = iclke.to_arrays(option_logprobs(lm, questions).frame)
        share = iclke.accuracy(found.logprob, found.gold)
        rows.append((model, label, name, share))
columns = ["model", "format", "relation", "accuracy"]
if page:
    tried = runs.collect("choice.parquet")
else:
    tried = pd.DataFrame(rows, columns=columns)
    runs.keep(tried, "choice.parquet")

# %% [markdown]
# The accuracy of each format on the choice set, mean over relations. Few facts stand behind it. It is good
# enough to choose by, and not a result.

# %%
best = {model: others[0] for model in models if others}
if "choice" in sets:
    by = tried.groupby(["format", "model"], sort=False)["accuracy"]
    means = by.mean().unstack("model")
    best = {model: means.loc[others, model].idxmax() for model in models}
    display(means.round(3))
to_ask = {model: [paper_format] * (paper_format in formats) for model in models}
for model in models:
    to_ask[model] += [best[model]] if others else []
    print(f"{model}: we ask in the format", " and in ".join(to_ask[model]))

# %% [markdown]
# Now the test facts, in these two formats, or in one alone. This is the slow step. Shots, facts and options
# are the same in both, so that each answer has its pair.

# %%
keys = ["model", "format", "relation"]
frames = {}
for model, lm in lms.items():
    for label in to_ask[model]:
        pair, shot = separators[label]
        for name in names:
            questions = prompts.many_shot(
                shots[name],
                asked["test", name],
                options["test", name],
                pair_separator=pair,
                shot_separator=shot,
            )
            frame = option_logprobs(lm, questions).frame
            frames[model, label, name] = frame.drop(columns="context")

# %% [markdown]
# A run keeps every score, and below them one row for each question: was the answer right, and how sure was
# the model? A page over several runs needs these rows alone.
#
# Results of longer runs may stand beside these. They are **not this run**: other models may be among them, and
# other facts. The parameter `shipped` names them, and a line says what made them. Two profiles that have a format each of the
# same facts are put together, under the name of the first.

# %%
if page:
    answers = runs.collect("answers.parquet")
else:
    scores = pd.concat(frames, names=keys).reset_index(keys)
    runs.keep(scores, "scores.parquet")
    found = {key: iclke.answers(frame) for key, frame in frames.items()}
    answers = pd.concat(found, names=keys).reset_index(keys)
    runs.keep(answers, "answers.parquet")
print(f"{len(answers):,} questions asked")
longer, wanted = {}, {"this run": {"n_options": n_options, "n_facts": n_facts}}
read = {name: results.read(name, "10_iclke_relations") for name in shipped}
for _, about in read.values():
    print("shipped:", results.line(about))
    print("to make them again:", about["command"])
for name, frame in results.together(read).items():
    longer[f"shipped: {name}"] = frame
    wanted[f"shipped: {name}"] = read[name][1]["parameters"]

# %% [markdown]
# ## Metrics
#
# An answer is right when the gold option is the likeliest. For each relation we take the accuracy with a 95 %
# interval (Wilson), and the mean confidence in the gold option. And we note which relations have fewer options or
# fewer test facts than were asked for, here and in the shipped results.

# %%
right, sure, rows = {}, {}, []
for key, part in answers.groupby(keys, sort=False):
    right[key] = part["right"].to_numpy()
    sure[key] = part["gold_confidence"].to_numpy()
    interval = intervals.proportion(int(right[key].sum()), len(right[key]))
    bounds = interval.estimate, interval.low, interval.high, interval.text()
    rows.append((*key, *bounds, sure[key].mean()))
columns = [*keys, "accuracy", "low", "high", "text", "gold_confidence"]
measured = pd.DataFrame(rows, columns=columns)
few = {}
for where, whole in ({"this run": answers} | longer).items():
    by = whole.groupby("relation", sort=False)
    has = pd.DataFrame({"n_options": by["options"].first()})
    has["n_facts"] = by["fact"].nunique()
    # The oldest results do not say what was asked for: then the most that any relation has.
    most = {key: wanted[where].get(key, has[key].max()) for key in has}
    few[where] = has[(has < pd.Series(most)).any(axis=1)]
    for name, (n, n_asked) in few[where].iterrows():
        print(f"fewer in {where}, {name}: {n} options, {n_asked} test facts")

# %% [markdown]
# Two yardsticks stand beside the model. `chance` is a blind guess. `frequent` guesses the option that is most
# often an object among the shots, and draws lots between equals. So much can be had from the prompt alone,
# without knowing the fact that is asked. It is computed over all test facts of the relation. Where every
# object is true of one subject only, it can lie below chance: the object of a shot is never the answer.

# %% covers=["IC-E3", "IC-E4"]
frequent = {}
for name, relation in loaded.items():
    _, test = facts.divide(relation)
    n = len(options["test", name][0])
    counts = Counter(shot.object for shot in shots[name])
    hits = []
    drawn = facts.draw_options(test, relation.objects, n, seed)
    for fact, choice in zip(test, drawn, strict=True):
        top = max(counts[option] for option in choice)
        hits.append(
            (counts[fact.object] == top)
            / [counts[o] for o in choice].count(top)
        )
    frequent[name] = np.mean(hits)
yardsticks = pd.DataFrame({"chance": chance, "frequent": frequent})
table = measured.join(yardsticks, on="relation")
runs.keep(table.drop(columns="text"), "accuracy-by-relation.csv")
shown = table.pivot(
    index="relation", columns=["model", "format"], values="text"
)
shown = shown.set_axis([" / ".join(pair) for pair in shown.columns], axis=1)
shown.join(yardsticks.round(2)).loc[names]

# %% [markdown]
# Over all relations, each counted alike. The first column answers: what if *other facts of these relations*
# had been asked? The second: what if *other relations* had been chosen, too? Its interval is wider, and it is
# the honest one for a sentence about the model. The third says how much relations differ. Then comes the
# mean confidence in the gold option, with an interval over facts. `fewer` counts the relations that have fewer options
# or fewer test facts than were asked for. They are part of these means, and with fewer options a guess is right more
# often. In the figures they have a star.

# %% covers=["IC-T7", "IC-D7"] needs={"IC-D7": {"models": 49}}
rows, above = [], {}
for where, whole in ({"this run": answers} | longer).items():
    for key, part in whole.groupby(["model", "format"], sort=False):
        parts = [g for _, g in part.groupby("relation", sort=False)]
        hits = [g["right"].to_numpy() for g in parts]
        trust = [g["gold_confidence"].to_numpy() for g in parts]
        over_chance = [g["right"] - 1 / g["options"] for g in parts]
        above[where, *key] = over_chance
        found = (
            intervals.mean_over_facts(hits, seed=seed),
            intervals.mean_over_relations(hits, seed=seed),
            intervals.std_over_relations(hits, seed=seed),
            intervals.mean_over_facts(trust, seed=seed),
        )
        rows.append((where, *key, *found))
columns = ["where", "model", "format", "over facts", "over relations"]
overall = pd.DataFrame(rows, columns=[*columns, "std", "gold confidence"])
overall = overall.set_index(columns[:3])
fewer = [f"{len(few[way[0]])} of {len(above[way])}" for way in overall.index]
overall.map(lambda interval: interval.text()).assign(fewer=fewer)

# %% [markdown]
# The three best and the three worst relations of each model, as in the paper's Table 9 (its text has lost the
# table), and fewer where there are not six. Below this run stand the shipped results, with all their relations. With few facts
# each, neighbours in this order may well change places: the intervals above say how easily.

# %% covers=["IC-T9"]
rows, names_of = [], paper.property_names()
for where, whole in ({"this run": answers} | longer).items():
    means = whole.groupby(keys, sort=False)["right"].mean()
    for key, part in means.groupby(keys[:2], sort=False):
        by = part.droplevel(keys[:2])
        by = by.sort_values(ascending=False, kind="stable")
        said = [f"{names_of.get(name, name)} {a:.2f}" for name, a in by.items()]
        n = min(3, len(said) // 2)
        ends = ", ".join(said[:n]), ", ".join(said[::-1][:n])
        rows.append((where, *key, *ends))
columns = ["where", *keys[:2], "best", "worst"]
pd.DataFrame(rows, columns=columns).style.hide().set_table_attributes(
    'class="lke-text"'
)

# %% [markdown]
# The two formats on the same facts, relation by relation. `gain` is the accuracy in the second format minus
# that in the paper's, with a paired 95 % interval (bootstrap over facts). The next two columns count the facts
# that only one of them gets right. Where both are 0 the interval has no width; that is no certainty. `p` is
# McNemar's exact test, corrected by Holm for the number of relations. (With one format alone, there is no row.)

# %%
rows, versus = [], []
in_both = [model for model in models if len(to_ask[model]) == 2]
for model in in_both:
    second = [right[model, best[model], name] for name in names]
    first = [right[model, paper_format, name] for name in names]
    pairs = list(zip(second, first, strict=True))
    versus.append((f"this run: {model}, {best[model]}", second, first))
    p = intervals.holm([intervals.mcnemar(s, f) for s, f in pairs])
    for name, (s, f), p_holm in zip(names, pairs, p, strict=True):
        gain = intervals.paired_difference([s], [f], seed=seed)
        bounds = gain.estimate, gain.low, gain.high, gain.text()
        rows.append(
            (model, name, *bounds, (s & ~f).sum(), (f & ~s).sum(), p_holm)
        )
columns = "model relation gain low high text second_only paper_only p".split()
differences = pd.DataFrame(rows, columns=columns)
runs.keep(differences.drop(columns="text"), "gain-by-relation.csv")
columns = ["model", "relation", "text", "second_only", "paper_only", "p"]
named = differences[columns].rename(columns={"text": "gain"})
named.set_index(["model", "relation"]).round(3)

# %% [markdown]
# And over all relations. Below this run stand the shipped results.

# %%
for where, frame in longer.items():
    by = frame.set_index(["relation", "fact", "model", "format"])
    wide = by["right"].unstack([2, 3])
    for way in [w for w in wide if w[1] != paper_format]:
        if (plain := (way[0], paper_format)) in wide:
            both = wide[[way, plain]].dropna().groupby("relation")
            of = [group.to_numpy(float).T for _, group in both]
            said = f"{where}: {', '.join(way)}"
            versus.append((said, *zip(*of, strict=True)))
rows = []
for said, *both in versus:
    over_facts = intervals.paired_difference(*both, seed=seed).text()
    gaps = [a.astype(float) - b for a, b in zip(*both, strict=True)]
    other = intervals.mean_over_relations(gaps, seed=seed).text()
    rows.append((said, len(gaps), over_facts, other))
columns = ["second format", "relations", "over facts", "over relations"]
pd.DataFrame(rows, columns=columns).set_index("second format")

# %% [markdown]
# ## Figures
#
# What to see in {numref}`fig-iclke-relations`: which bars clear their dashed mark, the chance of that
# relation; how long the intervals are; and whether the formats, if there are two, tell the same story about one
# relation.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-iclke-relations", "caption": "Accuracy by relation and format (IC-LKE), for the first model of the run. Lines are 95 % Wilson intervals; the dashed mark is chance. A star: fewer options or test facts than asked for."}, "image": {"alt": "Horizontal bars of accuracy for each relation and format, with intervals and a mark at chance."}}
star = {name: f"{name} *" for name in few["this run"].index}
figure_data = measured[measured["model"] == models[0]].replace(
    {"relation": star}
)
fig, ax = plt.subplots(figsize=(7, 1 + 0.45 * len(names)), layout="constrained")
figures.accuracy_bars(figure_data, ax, chance=chance.rename(star))
ax.set_xlabel(f"{ax.get_xlabel()}, {models[0]}")
runs.keep(figure_data, "fig-iclke-relations.csv")

# %% [markdown]
# {numref}`fig-iclke-heat` is the paper's Figure 5 for the models that have run here, in the paper's order. The family
# of models comes first whose member nearest 7 billion parameters is the best, and within a family the best model. A
# model of no family that the paper has stands alone. Relations come by the paper's Table 8, behind them those that it
# does not have. With more than ten models, those that were fine-tuned are left out, as in the paper (unless all were), and
# so is the second format.

# %% covers=["IC-F5"] needs={"IC-F5": {"models": 2}} tags=["hide-input"] mystnb={"figure": {"name": "fig-iclke-heat", "caption": "Accuracy by model, format and relation (the paper's Figure 5, and its order). A star: fewer options or test facts than asked for."}, "image": {"alt": "Heat map of accuracy with a row for each model and format and a column for each relation."}}
ids = paper.table("iclke_table3_relations").dropna(subset="wikidata_pid_added")
ids = ids.set_index("wikidata_pid_added")["relation"].to_dict()
called = {n: r.paper_relation for n, r in loaded.items() if r.paper_relation}
untuned = [m for m in models if not catalogue.is_tuned(m)]
heat, row = measured, measured["model"] + ", " + measured["format"]
main = heat.drop_duplicates(["model", "relation"])  # the first format
if len(models) > 10:
    main = main[main["model"].isin(untuned or models)]
    heat, row = main, main["model"]
orders = paper.figure_5_order(main, called)
place = {name: i for order in orders for i, name in enumerate(order)}
heat = heat.assign(row=row).sort_values(
    ["model", "relation"], key=lambda column: column.map(place), kind="stable"
)
heat = heat.replace({"relation": star})
n_rows = heat["row"].nunique()
size = (9, 1.9 + (0.4 if n_rows <= 20 else 0.2) * n_rows)
fig, ax = plt.subplots(figsize=size, layout="constrained")
look = {"index": "row", "columns": "relation", "values": "accuracy"}
figures.heat_map(heat, ax, **look, label="accuracy", limits=(0, 1))
runs.keep(
    heat[["row", "relation", "accuracy", "low", "high"]], "fig-iclke-heat.csv"
)

# %% [markdown]
# The next figure is the same for the shipped results, if there are any, with a row for each relation. With the
# profile `kamel` it is the nearest that this book has to the paper's Figure 5: real models, real facts, about as
# many relations. The profile `trex` has other facts, some of them of the same relations. White cells were not asked.
# The paper's relations come first, in the order of Table 8: in the paper they become harder from top to bottom. Look
# whether they do so here. Look for rows in which the models differ from each other, for columns of one model that differ
# by the format alone, and for relations that are dark in one set of facts and light in the other.

# %% covers=["IC-F5"] needs={"IC-F5": {"models": 2}} tags=["hide-input"] mystnb={"figure": {"name": "fig-iclke-shipped", "caption": "Accuracy by relation, model and format in the shipped results (the paper's Figure 5 with other models and facts, and its order). A star: fewer options or test facts than asked for."}, "image": {"alt": "Tall heat map of accuracy with a row for each relation and a column for each model and format, the value in each cell."}}
if longer:
    tall = pd.concat(longer, names=["where", ""]).reset_index("where")
    way = ["where", "model", "format", "relation"]
    tall = tall.groupby(way, sort=False)["right"].mean()
    tall = tall.reset_index(name="accuracy")
    tall["asked"] = tall["model"] + "\n" + tall["format"]
    if len(longer) > 1:
        tall["asked"] += "\n" + tall["where"]
    place = {}
    for _, part in tall.groupby("where", sort=False):
        part = part.drop_duplicates(["model", "relation"])  # the first format
        for name in sum(paper.figure_5_order(part, ids), []):
            place.setdefault(name, len(place))
    order = {"key": lambda column: column.map(place), "kind": "stable"}
    tall = tall.sort_values(["relation", "model"], **order)
    stars = {name for where in longer for name in few[where].index}
    starred = {n: names_of.get(n, n) + " *" * (n in stars) for n in place}
    tall["relation"] = tall["relation"].replace(starred)
    size = (7, 2 + 0.2 * tall["relation"].nunique())
    fig, ax = plt.subplots(figsize=size, layout="constrained")
    look |= {"index": "relation", "columns": "asked"}
    figures.heat_map(tall, ax, **look, label="accuracy", limits=(0, 1))
    runs.keep(tall, "fig-iclke-shipped.csv")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper has no numbers for this model, and its facts are not ours. So nothing here can be
# *reproduced* or *differ*. {numref}`fig-iclke-published` puts the published accuracies of the 35 pre-trained
# models (Table 7) above ours, for orientation only. The paper's 14 fine-tuned models are in a table further
# down. Our default model is fine-tuned too.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-iclke-published", "caption": "Published accuracy over 50 relations of T-REx-MC (Table 7, pre-trained models), and ours over the relations of this page: other model, other facts. Grey lines: standard deviation over relations. Ours: interval over relations; in brackets the set of shipped results."}, "image": {"alt": "Dots of published accuracies of 35 models by family, and below a line our model's accuracy in two formats with intervals."}}
table7 = paper.table("iclke_table7_models")
published = table7[table7["is_finetuned"] == "no"].rename(
    columns={"model": "name", "average_accuracy": "accuracy"}
)
mark = {"this run": ""} | {w: f" ({w.split()[-1]})" for w in longer}
ours = [
    (f"{model}, {label}{mark[where]}", i.estimate, i.low, i.high)
    for (where, model, label), i in overall["over relations"].items()
]
ours = pd.DataFrame(ours, columns=["name", "accuracy", "low", "high"])
fig, ax = plt.subplots(figsize=(9, 9), layout="constrained")
figures.published_dots(published, ax, ours=ours)
runs.keep(ours, "fig-iclke-published.csv")

# %% [markdown]
# Relation by relation (Table 8, mean over the 35 models), for the relations of ours that mean the same as one
# of the paper's. The facts behind a name are not the same: ours come from tables of countries and of film
# festivals, the paper's from Wikipedia. With several models on this page, a column has their mean in the paper's
# format. Its interval is over facts, and the models are these very ones.

# %% covers=["IC-T8"]
table8 = paper.table("iclke_table8_relations")
published = table8.set_index("relation")["average_accuracy"].round(3)
beside = pd.DataFrame({"paper's name": called}).join(shown)
beside.insert(1, "35 models", beside["paper's name"].map(published))
means = {}
for where, whole in ({"this run": answers} | longer).items():
    asks = whole[whole["format"] == paper_format]
    label = f"{where}: mean of {asks['model'].nunique()} models"
    by = asks.groupby(["relation", "fact"])["right"].mean()
    for name, of_facts in by.groupby("relation"):
        mean = intervals.mean_over_facts([of_facts], seed=seed)
        means[label, name] = mean.text()
means = pd.Series(means).unstack(0) if means else pd.DataFrame()
for label in means if len(models) > 1 else ():
    if label.startswith("this run"):
        beside.insert(2, label, means[label])
beside.set_index("paper's name")

# %% [markdown]
# **The same relations, other facts.** Where two sets of facts have shipped, both have some relations of the paper. The
# table has the mean over these relations for each model in the paper's format, with an interval over facts, and
# above them the paper's mean over the same relations. `guessing` is what chance would give. A relation of T-REx may
# have fewer options than it has in KAMEL, so compare each row with its own guess. (With one set of facts, or none, the
# table is empty.)

# %%
in_all = [set(whole["relation"]) for whole in longer.values()]
in_all = set.intersection(set(ids), *in_all) if len(longer) > 1 else set()
of_all = table8[table8["relation"].isin([ids[name] for name in in_all])]
of_all = "paper", "35 models", f"{of_all['average_accuracy'].mean():.2f}", 0.01
rows = [of_all] if in_all else []
for where, whole in longer.items():
    asks = whole[whole["format"].eq(paper_format)]
    asks = asks[asks["relation"].isin(in_all)]
    for model, part in asks.groupby("model", sort=False):
        by = part.groupby("relation")
        mean = intervals.mean_over_facts([g for _, g in by["right"]], seed=seed)
        guessing = (1 / by["options"].first()).mean()
        rows.append((where, model, mean.text(), guessing))
if in_all:
    shared = sorted(ids[name] for name in in_all)
    print(f"{len(in_all)} relations:", *shared, sep="\n- ")
columns = ["facts", "model", "accuracy", "guessing"]
pd.DataFrame(rows, columns=columns).round(2).set_index(columns[:2])

# %% [markdown]
# The whole of Table 7. Below it the whole of Table 8, with the Wikidata property that we take each relation of the
# paper's Table 3 to be. It is empty where none fits. Shipped results stand beside it, if there are any: the mean over
# their models, again in the paper's format and with an interval over facts.

# %% covers=["IC-T3"] tags=["hide-output"]
columns = ["model", "family", "is_finetuned", "average_accuracy", "std"]
display(table7[columns].set_index("model"))
table3 = paper.table("iclke_table3_relations").set_index("relation")
every = table8.set_index("relation")[["average_accuracy"]].round(3)
every = every.join(table3[["wikidata_pid_added"]])
of_shipped = [label for label in means if label.startswith("shipped")]
every.join(means[of_shipped].rename(ids)).fillna("")

# %% [markdown]
# **Claims.** A claim can be tested on any model. Statistic, direction and least effect of each were written
# down in `lkecore/data/claims.csv` before the first run of this page. A claim holds if its whole interval
# does; an interval that lies on both sides leaves it undecided. Both are tested in the paper's own format,
# with intervals over relations.

# %%
claims = paper.claims("IC").set_index("id")
rows = []
for way, over_chance in above.items():
    if way[2] != paper_format:
        continue
    mean = intervals.mean_over_relations(over_chance, seed=seed)
    std = overall.loc[way, "std"]
    tested = {"IC-above-chance": mean, "IC-relations-differ": std}
    for key, interval in tested.items():
        claim = claims.loc[key]
        verdict = paper.claim_verdict(interval, claim)
        says = claim["holds_if"], *way[:2], interval.text(3), verdict
        rows.append((key, claim["claim"], *says))
rows.sort(key=lambda row: [*claims.index].index(row[0]))
columns = ["id", "claim", "holds if", "where", "models", "ours", "verdict"]
judged = pd.DataFrame(rows, columns=columns)
kept = judged.rename(columns={"where": "source"}).assign(mark="")
kept = kept.assign(way=paper_format, as_paper=True)
runs.keep(paper.verdicts(kept), "verdicts.csv")
shown = judged.drop(columns="id").rename(columns={"models": "model"})
shown["claim"] = shown["claim"].mask(shown["claim"].duplicated(), "")
shown.style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# The second claim needs room. A model that knows little of every relation cannot differ much between them: where the mean
# is near 0, so is the standard deviation. If the claim fails there, the facts were too hard to test it on.
#
# The paper's claim on *separators* gets no verdict here. The paper changes what stands inside a pair, on one
# relation and on models of 7 to 12 billion parameters. Our second format may also change what stands
# *between* pairs, which tells a model where a pair ends. The gain above says something else, and it is of use
# to everybody who measures small models: how much they seem to know depends on the format of the shots. A
# low number in one format is no proof that the fact is not there.
#
# Where our numbers lie far from the paper's, there are several reasons, and none of them is small. The
# default model is fifty times smaller than one of 7 billion parameters, stored in 4 bits, and tuned for
# instructions. Some relations of ours, such as the symbol of an element, are none of the paper's. And we ask few facts of
# each relation: the intervals are wide, and a part of the spread over relations is noise.
#
# The largest reason may be the facts. In the table of the same relations the models are the same, and so is the way of
# asking. If the rows still lie far apart, it is because some facts are better known than others. T-REx has facts that
# stand in the first lines of Wikipedia's articles, and the version that we ask has objects with short and frequent names
# {cite:p}`elsahar2018trex,petroni2019lama`. KAMEL takes its facts from all of Wikidata, with objects of any length
# {cite:p}`kalo2022kamel`, and there a long name competes with short ones. So "this model knows 30 % of the capitals"
# says little without the list of places that was asked.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-iclke-frequent
# In which relations does the model beat both yardsticks? Where it does not, has it shown that it knows a fact?
# ```

# %% [markdown]
# ````{solution-start} ex-iclke-frequent
# :class: dropdown
# ````

# %%
beats = table[table["low"] > table[["chance", "frequent"]].max(axis=1)]
beats.set_index(["model", "format", "relation"])[
    ["text", "chance", "frequent"]
].round(2)

# %% [markdown]
# These are the relations whose whole interval lies above both. Elsewhere the model may only have seen which
# objects are common, or have guessed.
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
by = answers.groupby(["model", "format", "right"], sort=False)["confidence"]
by.agg(["count", "mean"]).round(3)

# %% [markdown]
# If the two means lie far apart, confidence is of use: one may act on sure answers only. The page on
# {doc}`confidence <18_iclke_confidence>` goes on from here.
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
