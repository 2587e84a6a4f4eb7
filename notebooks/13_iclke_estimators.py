# %% [markdown]
# # Is it better to show examples than to write a sentence?
#
# There are two ways to bring a model to name a capital. One writes a sentence, "The capital of France is", and lets
# the model end it. The other writes no sentence. It shows pairs, and then "France" alone. That is IC-LKE. On this
# page both ways, and a third that puts many questions into one prompt, answer the same questions.
# Afterwards you will be able to say
#
# - which way finds more facts in this model, and how sure that is,
# - how much the answer hangs on one wording of a sentence,
# - what the "efficient" form of IC-LKE costs, and what it does to the answers,
# - why the best of three sentences looks better than it is.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` take 12 relations and four models of 7 to 12 billion parameters (Section 4.1, Figure 3; each
# relation in Appendix H.2, Figure 12). For each relation they have three sentences that people wrote
# ({term}`HGP`) and three that a program found in text ({term}`MMP`), from earlier work. (Its list of the twelve and
# its table of sentences differ in one relation. We go by the table.) In our words:
#
# - IC-LKE finds more facts than sentences of either kind, and so does {term}`EIC-LKE`;
# - over relations and sentences the accuracy of these two varies less.
#
# The bars of both figures have no numbers, and the figures are lost in our copy of the paper. The paper's setting is
# 400 facts and 100 options for each relation, with 50 pairs shown to IC-LKE and 100 to EIC-LKE. How many tokens that
# takes is counted below. This page has a small model, three relations, and few facts and options.
#
# In the list of the book's coverage: IC-S2, IC-S3, IC-D4, IC-T5, IC-F3 and IC-F12.

# %% [markdown]
# ## Parameters
#
# EIC-LKE is dear, so it may be asked about some relations and some facts only. Whatever is compared with it is then
# compared on these facts alone.

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all that have templates of the paper
eic_relations: list[str] = ["capital"]  # of these; empty: all of them
n_shots: int = 50  # pairs shown before the question; EIC-LKE's first slot
n_eic_shots: int = 100  # pairs of EIC-LKE, or as many as there are to show
n_every: int = 5  # pairs from one slot of EIC-LKE to the next
n_facts: int = 25  # test facts of each relation
n_eic_facts: int = 20  # the first of them, for EIC-LKE
n_options: int = 10  # candidate objects of each
seed: int = 0  # draws shots, facts, options, their order and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import display
from matplotlib import pyplot as plt

from lkecore import facts, figures, intervals, paper, prompts, runs, sequences
from lkecore.metrics import iclke
from lkecore.models import open_model
from lkecore.rows import BadInput
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.slots import encode_slots, slot_logprobs
from lkecore.scores.tokens import Encoded, common_prefix, encode
from lkecore.scores.tree import expected_tokens, option_logprobs
from lkecore.scores.trie import Tree

figures.style()

# %% [markdown]
# ## Facts
#
# Only relations for which the paper prints templates can be asked here. A relation of ours has them if it means the
# same as one of the paper's.

# %%
every = {n: facts.load(fact_set, n) for n in facts.relations(fact_set)}
having = [n for n, r in every.items() if "hgp-1" in prompts.templates_of(r)]
without = [name for name in relations if name not in having]
if without or not having:
    raise BadInput(
        f"{', '.join(without) or 'relations'} of {fact_set}: no templates in the "
        f"paper's Table 5; these have some: {', '.join(having) or 'none'}"
    )
names = relations or having
with_eic = eic_relations or names
if missing := [name for name in with_eic if name not in names]:
    raise BadInput(f"eic_relations: {missing[0]!r} is not among {names}")
if len(names) < 2 or not 2 <= n_eic_facts <= n_facts:
    raise BadInput(
        f"{len(names)} relations and {n_eic_facts} of {n_facts} facts for "
        "EIC-LKE: this page needs 2 relations or more and 2 facts to n_facts"
    )
chance = 1 / n_options

# %% [markdown]
# For each relation shots, facts and options are drawn once. All ways of asking share them. EIC-LKE shows the pairs of
# IC-LKE first and then all others that are kept for showing. (A subject with two true objects comes once in
# IC-LKE's pairs. EIC-LKE shows all training facts, as in the paper, so it may come twice there.)

# %%
shots, eic_shots, asked, options, rows = {}, {}, {}, {}, []
for name in names:
    relation = every[name]
    train, test = facts.divide(relation)
    if len(test) < n_facts:
        raise BadInput(f"n_facts {n_facts}: {name} has {len(test)} to ask")
    shots[name] = facts.draw_shots(train, n_shots, seed)
    eic_shots[name] = facts.draw_facts(train, n_eic_shots, seed)
    asked[name] = facts.draw_facts(test, n_facts, seed)
    options[name] = facts.draw_options(
        asked[name], relation.objects, n_options, seed
    )
    n_eic = len(eic_shots[name]) if name in with_eic else 0
    sizes = len(relation.facts), len(relation.objects), n_shots, n_eic
    rows.append((name, relation.paper_relation, *sizes, n_facts))
columns = "relation,the paper's name,facts,objects,shots,EIC shots,asked"
pd.DataFrame(rows, columns=columns.split(",")).set_index("relation")

# %% [markdown]
# ## Prompts
#
# The templates are used as the paper prints them (Table 5), with all their faults. `[X]` is the place of the subject
# and `[Y]` that of the object. A template is asked without any example, so here nothing but its words tells the
# model what is wanted. Below is the whole table of the paper, with all of its 12 relations. `asked here as` is the
# name of the relation on this page, and empty where this page does not ask it: those rows are printed and no more.
# `note` says where the table has fewer than three of a kind, and where its words belong to another relation:
# those of *manufacturer* are about record labels.

# %% covers=["IC-D4", "IC-S3", "IC-T5"]
called = pd.Series({name: every[name].paper_relation for name in names})
here = called.index.to_series().groupby(called).agg(", ".join)
whole = paper.table("iclke_table5_templates").fillna({"note": ""})
whole["template"] += " [Y]"
whole["template"] = whole["template"].str.replace("{subject}", "[X]")
whole["name"] = whole["kind"].str.lower() + "-" + whole["index"].astype(str)
whole.insert(0, "asked here as", whole["relation"].map(here).fillna(""))
of_page = prompts.HUMAN + prompts.MINED
rows = [
    (name, key, words)
    for name in names
    for key, words in prompts.templates_of(every[name]).items()
    if key in of_page
]
templates = pd.DataFrame(rows, columns=["relation", "template", "words"])
print(f"{len(here)} of {whole['relation'].nunique()} relations are asked here")
first = whole.sort_values("asked here as", key=lambda v: v == "", kind="stable")
first[
    ["relation", "asked here as", "name", "template", "note"]
].style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# IC-LKE in two formats: `iclke-space` is the paper's, with a space inside and between pairs. `iclke-colon` has a
# colon and a new line there, which small models read more easily.

# %%
questions = {}
for name in names:
    ask = shots[name], asked[name], options[name]
    own = templates.loc[templates["relation"] == name, "template"]
    for key in ("iclke-space", "iclke-colon", *own):
        questions[name, key] = prompts.asking(key, every[name], *ask)
for (name, key), made in questions.items():
    if name == with_eic[0]:
        print(f"{key:12} {made[0].context[-55:] + '____'!r}")

# %% [markdown]
# **EIC-LKE.** All pairs stand in one prompt. After the first 50, and then after every five more, stands a question
# with one of its options behind it: a *slot*. The model reads the prompt once and has met one option of ten facts.
# So ten facts need as many prompts as there are options. In each prompt every slot has another option, in an
# order that is shuffled by fact (the paper's text can be read in two ways; this is its example). Nearly all of
# these options are wrong, and what stands in one slot is read by all that come later. Here is the middle of one
# prompt, with the options in brackets.
#
# A relation that has fewer pairs to show than `n_eic_shots` has fewer slots in a prompt. Then a line below says so.
#
# To tell what these other questions do, each fact is asked once more without them. `iclke-comma` is IC-LKE with the
# comma of EIC-LKE between pairs, and with just as many pairs as stand before the fact's slot.

# %% covers=["IC-S2"]
how, n = {"first": n_shots, "every": n_every, "seed": seed}, n_eic_facts
groups = {
    name: sequences.slots(
        eic_shots[name], asked[name][:n], options[name][:n], **how
    )
    for name in with_eic
}
group = groups[with_eic[0]][0]
marked = [
    f" [{text.strip()}]" if i in group.places else text
    for i, text in enumerate(group.texts[0])
]
print("...", *marked[group.places[0] - 5 :][:35], "...", sep="")
for name in with_eic:
    made, n_slots = [], len(groups[name][0].places)
    if (n := len(eic_shots[name])) < n_eic_shots:
        few = [len(range(n_shots, end, n_every)) for end in (n, n_eic_shots)]
        print(f"{name}: {n} EIC shots, not {n_eic_shots}:", end=" ")
        print(f"{few[0]} slots in a prompt, not {few[1]}")
    for i, one in enumerate(asked[name][:n_eic_facts]):
        before = eic_shots[name][: n_shots + n_every * (i % n_slots)]
        ask = before, [one], options[name][i : i + 1]
        made += prompts.many_shot(*ask, shot_separator=", ")
    questions[name, "iclke-comma"] = made

# %% [markdown]
# ## Scores
#
# First we count, and compute nothing. `strings` are the prompts, each with one option. `one by one` is what they
# have in tokens: the cost if every string goes through the model alone, in full. `ours` counts the tokens that our
# scorer needs, which computes no shared beginning twice ({doc}`01_scorer`).
#
# In an IC-LKE prompt, context and option are cut into tokens together, and the option's tokens are those after the
# context's ({term}`border rule`). In EIC-LKE each piece is cut by itself, and the counts of tokens say where an
# option stands. EIC-LKE's prompts are the longest. One that is longer than a model's window is refused here, before
# any model is loaded. It counts up to the last slot, since no model reads what stands behind. All counts are on the facts
# of EIC-LKE.

# %%
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}
cut_up = {}  # EIC-LKE's prompts in tokens
for model, lm in lms.items():
    for name in with_eic:
        for i, group in enumerate(groups[name]):
            cut_up[model, name, i] = encode_slots(lm, group)

# %%
rows = []
for model, lm in lms.items():
    how = {"add_bos": lm.add_bos, "context_length": lm.context_length}
    for name in with_eic:
        made = questions[name, "iclke-space"][:n_eic_facts]
        found = encode(lm.tokenizer, made, **how)
        sizes = [len(e.stem) + len(tail) for e in found for tail in e.tails]
        counts = len(sizes), sum(sizes), expected_tokens(lm, made)[0]
        same = common_prefix([e.stem for e in found])
        rows.append((model, name, "iclke-space", len(made), *counts, 1, same))
        sizes, ours = [], 0
        for i, group in enumerate(groups[name]):
            tree, last = Tree(), group.places[-1] + 1
            texts = [e.ids[: e.bounds[last]] for e in cut_up[model, name, i]]
            sizes += [tree.depth[tree.add(ids)] for ids in texts]
            ours += sum(1 for below in tree.kids[1:] if below)
        counts = len(made), len(sizes), sum(sizes), ours, len(groups[name])
        rows.append((model, name, "eiclke", *counts, common_prefix(texts)))

# %% [markdown]
# Now the questions themselves. This is the slow step.
#
# Most answers may come from the cache, which says nothing on what they cost. So the facts of EIC-LKE's first prompts
# are asked once more without it, in both ways, and this is timed. A short question goes first: loading the model
# and trying out how to ask it are then in neither time.

# %%
frames, took = {}, {}
for model, lm in lms.items():
    for (name, key), made in questions.items():
        frame = option_logprobs(lm, made).frame
        frames[model, name, key] = frame.drop(columns="context")
    for name in with_eic:
        frame = slot_logprobs(lm, groups[name]).frame
        frames[model, name, "eiclke"] = frame.drop(columns="context")
    name, n = with_eic[0], len(groups[with_eic[0]][0].asked)
    option_logprobs(lm, questions[name, "hgp-1"][:1], use_cache=False)
    again = {
        "iclke-space": option_logprobs(
            lm, questions[name, "iclke-space"][:n], use_cache=False
        ),
        "eiclke": slot_logprobs(lm, groups[name][:1], use_cache=False),
    }
    for key, scored in again.items():
        took[model, name, key] = n, scored.tokens_forwarded, scored.seconds

# %% [markdown]
# Is a slot what it should be: the log-probability of an option after all that stands before it? For the first
# and the last slot of one prompt this is computed again, by one plain {term}`forward pass` over the text.
# `apart` is the larger difference in nats. It may be as large as the rounding of the number format.

# %%
apart = {}
for model, lm in lms.items():
    group, row = groups[with_eic[0]][0], cut_up[model, with_eic[0], 0][0]
    values = frames[model, with_eic[0], "eiclke"].set_index(["fact", "option"])
    gaps = []
    for slot in (0, len(group.places) - 1):
        prompt, order = group.asked[slot], group.orders[slot]
        start, end = row.bounds[group.places[slot] :][:2]
        alone = Encoded(prompt, (), (row.ids[:end],), (start,), 0)
        plain = option_logprobs_plain(lm.network, alone)[0]
        key = prompt.fact, prompt.options[order[0]]
        gaps.append(abs(plain - values.loc[key, "logprob"]))
    apart[model] = max(gaps)

# %% [markdown]
# A run keeps every score, the counts, and one row for each question. A page over several runs reads the last two.

# %%
columns = (
    "model relation estimator facts strings one_by_one ours groups shared"
).split()
keys, timed = columns[:3], ["timed_facts", "timed_tokens", "seconds"]
if page:
    costs = runs.collect("costs.parquet")
else:
    costs = pd.DataFrame(rows, columns=columns).set_index(keys)
    costs = costs.join(pd.DataFrame(took, index=timed).T.rename_axis(keys))
    costs["apart"] = costs.index.get_level_values("model").map(apart)
    costs = costs.reset_index()
    runs.keep(costs, "costs.parquet")
if page:
    answers = runs.collect("answers.parquet")
else:
    scores = pd.concat(frames, names=keys).reset_index(keys)
    runs.keep(scores, "scores.parquet")
    found = {key: iclke.answers(frame) for key, frame in frames.items()}
    answers = pd.concat(found, names=keys).reset_index(keys)
    runs.keep(answers, "answers.parquet")
print(f"{len(answers):,} questions, {n_options} options each")
costs.groupby("model", sort=False)["apart"].first().map("{:.1e}".format)

# %% [markdown]
# ## Metrics
#
# An answer is right when the gold option is the likeliest. The accuracy of a kind of template is the mean over its
# templates. So for each fact we take the share of the templates that get it right. Here is the accuracy by relation,
# the mean over its facts, with a 95 % interval over facts. `EIC-LKE` is empty where it was not asked. The last column
# is a guess. Where every fact has the same share the interval has no width; that is no certainty, only few facts.

# %%
kind_of = {"iclke-space": "IC-LKE", "iclke-colon": "IC-LKE, colon"}
kind_of |= {"eiclke": "EIC-LKE", "iclke-comma": "IC-LKE, comma"}
kind_of |= dict.fromkeys(prompts.HUMAN, "human (HGP)")
kind_of |= dict.fromkeys(prompts.MINED, "mined (MMP)")
kinds = ["IC-LKE", "IC-LKE, colon", "EIC-LKE", "human (HGP)", "mined (MMP)"]
answers["kind"] = answers["estimator"].map(kind_of)
by = answers.groupby(["model", "relation", "fact", "kind"], sort=False)
share = by["right"].mean().unstack("kind")
rows = []
for (model, name), part in share.groupby(["model", "relation"], sort=False):
    for kind in kinds:
        values = part[kind].dropna()  # EIC-LKE: asked of some facts only
        if len(values):
            i = intervals.mean_over_facts([values], seed=seed)
            bounds = i.estimate, i.low, i.high, len(values), i.text()
            rows.append((model, name, kind, *bounds))
columns = "model relation kind accuracy low high facts text".split()
table = pd.DataFrame(rows, columns=columns)
runs.keep(table.drop(columns="text"), "accuracy-by-relation.csv")
shown = table.pivot(index=["model", "relation"], columns="kind", values="text")
order = pd.MultiIndex.from_product([models, names])
shown.loc[order, kinds].fillna("").assign(chance=f"{chance:.2f}")

# %% [markdown]
# Over all relations, each counted alike. `over facts` asks what other facts of these relations would give, and
# `over relations` what other relations would give as well. The second is the honest one for a sentence about the
# model, and with few relations it is rough. `std` is the paper's measure of steadiness, as we read it: the standard
# deviation of the accuracy over relations and prompts. A *prompt* is one template of one relation; IC-LKE has one prompt for
# each relation. Its interval draws prompts again as if none had to do with another. EIC-LKE stands for its
# own relations and facts, so compare it with the others further below, not here.

# %%
rows = []
for model in models:
    for kind in kinds:
        part = answers[(answers["model"] == model) & (answers["kind"] == kind)]
        each = part.groupby(["relation", "estimator"], sort=False)["right"]
        by_prompt = [hits.to_numpy(dtype=float) for _, hits in each]
        of = share.loc[model, kind].dropna().groupby("relation", sort=False)
        groups_of = [values.to_numpy() for _, values in of]
        found = [intervals.mean_over_facts(groups_of, seed=seed), None, None]
        if len(groups_of) > 1:
            found[1] = intervals.mean_over_relations(groups_of, seed=seed)
            found[2] = intervals.std_over_relations(by_prompt, seed=seed)
        sizes = len(groups_of), len(by_prompt), sum(map(len, groups_of))
        rows.append((model, kind, *sizes, *found))
columns = "model kind relations prompts facts".split()
columns += ["over facts", "over relations", "std"]
overall = pd.DataFrame(rows, columns=columns).set_index(["model", "kind"])
text = overall[columns[5:]].map(lambda i: i.text() if i else "one relation")
overall[columns[2:5]].join(text)

# %% [markdown]
# **One sentence against another.** Each template beside IC-LKE in the paper's format, on the same facts. `gain` is
# the accuracy of IC-LKE minus that of the template, with a paired interval over facts. The next two columns count the
# facts that only one of them gets right. `p` is McNemar's exact test, Holm-corrected for all templates of a model.
# What to see: how far the templates of one kind lie apart in one relation. They are all meant to ask for the
# same thing.

# %%
rows = []
for model in models:
    part = answers[answers["model"] == model]
    right = part.set_index(["relation", "estimator"])["right"]
    for row in templates.itertuples():
        ic = right.loc[row.relation, "iclke-space"].to_numpy()
        other = right.loc[row.relation, row.template].to_numpy()
        gain = intervals.paired_difference([ic], [other], seed=seed)
        bounds = gain.estimate, gain.low, gain.high, gain.text()
        only = (ic & ~other).sum(), (other & ~ic).sum()
        p = intervals.mcnemar(ic, other)
        rows.append((model, *row[1:4], other.mean(), *bounds, *only, p))
columns = "model relation template words accuracy gain low high text".split()
columns += ["IC only", "template only", "p"]
pairs = pd.DataFrame(rows, columns=columns)
pairs["p"] = pairs.groupby("model")["p"].transform(intervals.holm)
runs.keep(pairs.drop(columns="text"), "gain-by-template.csv")
shown = pairs.assign(gain=pairs["text"]).drop(columns=["low", "high", "text"])
shown = shown.drop(columns=["words"]).set_index(columns[:3])
shown.assign(p=shown["p"].map("{:.2g}".format)).round(2)

# %% [markdown]
# **What EIC-LKE costs, and what it brings.** Here are IC-LKE in the paper's format and EIC-LKE, on the same facts. The
# paper calls EIC-LKE efficient because many facts share a string: look at `strings` and `one by one`. Our scorer
# computes the pairs of IC-LKE once for all strings. But the prompts of EIC-LKE are alike up to the first slot only:
# look at `ours`. `accuracy` has Wilson's interval. `timed tokens` and `seconds` are those of the first `timed facts`,
# asked without the cache. They were timed once, for the first relation of EIC-LKE only. Another time on
# the same computer they may differ by a tenth or more. Compare the two rows with each other, not with another model's.

# %%
in_eic = [(n, fact.id) for n in with_eic for fact in asked[n][:n_eic_facts]]
cost = costs.set_index(keys)
same = answers.set_index(["relation", "fact"]).index.isin(in_eic)
same = answers[same].groupby(keys)["right"]
n_right, n_asked = same.sum().loc[cost.index], same.size().loc[cost.index]
cost["accuracy"] = [
    intervals.proportion(int(k), int(n)).text()
    for k, n in zip(n_right, n_asked, strict=True)
]
runs.keep(cost.reset_index(), "cost.csv")
shown = ["facts", "strings", "one_by_one", "ours", "accuracy", *timed]
shown = cost[shown].rename(columns=lambda name: name.replace("_", " "))
digits = {"accuracy": "{}", "seconds": "{:.1f}"}
digits |= {"timed facts": "{:.0f}", "timed tokens": "{:,.0f}"}
shown.style.format(digits, thousands=",", na_rep="")

# %% [markdown]
# `gain` is the accuracy of EIC-LKE minus that of IC-LKE on these facts, with a paired interval over facts. The next
# columns count the facts that only one of them gets right. `p` is McNemar's exact test, Holm-corrected for all rows.
#
# What would the paper's setting take, 400 facts and 100 options of such a relation? The last four columns are worked
# out from the lengths here, not run, in *millions* of tokens: one string after the other, and with our scorer.
# `ours` is too high for IC-LKE there: each subject is counted once for every option. The small table says how many
# times as many tokens EIC-LKE would take there. Below 1 it saves, above 1 it is the dearer one.

# %%
n_groups = cost["groups"] * 400 / cost["facts"]
n_groups[n_groups.index.get_level_values("estimator") == "iclke-space"] = 1
as_many = 400 / cost["facts"] * 100 / n_options  # strings there for one here
own = (cost["ours"] - cost["groups"] * cost["shared"]) * as_many
full = cost["one_by_one"] * as_many, n_groups * cost["shared"] + own
full = pd.concat(full, axis=1, keys=["one by one", "ours"]) / 1e6
full = full.unstack("estimator")
full.columns = [f"{kind_of[key]}, {way}" for way, key in full]
rows = {}
for (model, name), _ in cost.groupby(keys[:2], sort=False):
    of = answers[(answers["model"] == model) & (answers["relation"] == name)]
    right = of.pivot(index="fact", columns="estimator", values="right")
    ic, eic = right[["iclke-space", "eiclke"]].dropna().to_numpy(bool).T
    gain = intervals.paired_difference([eic], [ic], seed=seed).text()
    only = (eic & ~ic).sum(), (ic & ~eic).sum(), intervals.mcnemar(ic, eic)
    rows[model, name] = gain, *only
paired = pd.DataFrame(rows, index=["gain", "EIC only", "IC only", "p"]).T
paired = paired.rename_axis(keys[:2])
paired["p"] = [f"{p:.2g}" for p in intervals.holm(paired["p"].astype(float))]
display(paired.join(full.round(2)))
sums = full.groupby(level="model").sum().loc[models]
for way in ("one by one", "ours"):
    sums[way] = sums[f"EIC-LKE, {way}"] / sums[f"IC-LKE, {way}"]
sums[["one by one", "ours"]].round(2)
# %% [markdown]
# **What stands in the slots.** `EIC-LKE` and `IC-LKE, comma` are the accuracies by slot, on the same facts. `gain` is the
# confidence in the gold option in EIC-LKE minus that in IC-LKE, after the same pairs: above 0, the other questions
# have helped, below 0 they have harmed. Before the first slot stands no other question. There the two prompts are the
# same, so that only cutting into tokens can part them. Below the slots stand their two halves, and all of them. Few
# facts stand in a slot, and an interval from two facts is no more than the two. A slot with one fact is left out.

# %%
slot_of = {
    (name, prompt.fact): slot
    for name in with_eic
    for group in groups[name]
    for slot, prompt in enumerate(group.asked, 1)
}
part = answers[answers["estimator"].isin(["iclke-comma", "eiclke"])]
both = part.set_index(["model", "relation", "fact", "kind"])
both = both[["right", "gold_confidence"]].unstack("kind")
in_slots, sure = both["right"].astype(bool), both["gold_confidence"]
in_slots["gain"] = sure["EIC-LKE"] - sure["IC-LKE, comma"]
in_slots = in_slots.reset_index()
where = zip(in_slots["relation"], in_slots["fact"], strict=True)
in_slots["slot"] = [slot_of[key] for key in where]
columns, rows = ["EIC-LKE", "IC-LKE, comma", "gain"], []
for model, of in in_slots.groupby("model", sort=False):
    late = of["slot"] > in_slots["slot"].max() / 2
    some = {"first half": of[~late], "second half": of[late], "all": of}
    for label, part in (dict(list(of.groupby("slot"))) | some).items():
        if len(part) > 1:
            gain = intervals.mean_over_facts([part["gain"]], seed=seed)
            means = part[columns[:2]].mean()
            rows.append((model, label, len(part), *means, gain.text(3)))
columns = ["model", "slot", "facts", *columns]
pd.DataFrame(rows, columns=columns).set_index(columns[:2]).round(2)

# %% [markdown]
# **Kind against kind.** Differences on the same facts. EIC-LKE is compared on its own relations and facts. `facts` is
# how many facts stand behind a row. An interval from 0.00 to 0.00 means that both are right on the same facts here.
# On other facts they may differ. These are the statistics of the claims below.

# %%
rows, tested = [], []
versus = {
    ("IC-LKE", "human (HGP)"): "IC-above-human",
    ("IC-LKE, colon", "human (HGP)"): "IC-above-human",
    ("IC-LKE", "mined (MMP)"): "IC-above-mined",
    ("IC-LKE, colon", "mined (MMP)"): "IC-above-mined",
    ("EIC-LKE", "human (HGP)"): "IC-eic-above-human",
    ("EIC-LKE", "IC-LKE"): "",
    ("EIC-LKE", "IC-LKE, comma"): "",
}
for model in models:
    for (a, b), claim in versus.items():
        both = share.loc[model][[a, b]].dropna()  # those that both were asked
        gaps = (both[a] - both[b]).groupby("relation", sort=False)
        gaps = [values.to_numpy() for _, values in gaps]
        found = intervals.mean_over_facts(gaps, seed=seed)
        texts = [found.text(), "one relation"]
        if len(gaps) > 1:
            found = intervals.mean_over_relations(gaps, seed=seed)
            texts[1] = found.text()
        rows.append((model, f"{a} minus {b}", len(both), *texts))
        tested.append((model, claim, f"{a} minus {b}", len(gaps), found))
columns = ["model", "difference", "facts", "over facts", "over relations"]
pd.DataFrame(rows, columns=columns).set_index(columns[:2])

# %% [markdown]
# **Steadiness**, the paper's other measure: the standard deviation of the accuracy over relations and human
# templates, minus that of IC-LKE over relations. Its interval draws relations again, and within each its facts, the
# same for all prompts. EIC-LKE is not held to this here: its few facts would make it look less steady than it is.

# %%
for model in models:
    part = answers[answers["model"] == model].set_index("relation")
    for key in ("iclke-space", "iclke-colon"):
        by = [part[part["estimator"] == e] for e in (key, *prompts.HUMAN)]
        right = [[each.loc[n, "right"] for n in names] for each in by]
        found = intervals.statistic_over_facts(
            right,  # (prompt, relation, fact)
            lambda v: v[1:].mean(2).std(ddof=1) - v[0].mean(1).std(ddof=1),
            seed=seed,
            redraw=1,
            nested=True,
        )
        of = f"std of human (HGP) minus {kind_of[key]}"
        tested.append((model, "IC-steadier", of, len(names), found))
        print(f"{model}: {of}: {found.text(3)}")

# %% [markdown]
# ## Figures
#
# What to see in {numref}`fig-estimators-mean`: where the dark marks stand, and how far the grey dots of one row
# lie apart. Each dot is one prompt of one relation. If the dots of templates spread wider than those of IC-LKE, the
# words matter, or the relations differ more for templates.

# %% covers=["IC-F3"] tags=["hide-input"] mystnb={"figure": {"name": "fig-estimators-mean", "caption": "Accuracy by kind of prompt (the paper's Figure 3). Grey dots: one prompt of one relation. Dark mark: mean over relations, with a 95 % interval over facts. Thin line below: one standard deviation over relations and prompts to each side. Dotted: chance. EIC-LKE: its own relations and facts only."}, "image": {"alt": "A panel for each model with a row for each kind of prompt: grey dots for single prompts, a dark mark with an interval for the mean."}}
each = answers[answers["kind"].isin(kinds)].groupby(
    ["model", "kind", "relation", "estimator"], sort=False
)["right"]
each = each.mean().rename("accuracy").reset_index()
grid = {"sharey": True, "squeeze": False, "layout": "constrained"}
size = (3 + 4 * len(models), 3.8)
fig, axes = plt.subplots(1, len(models), figsize=size, **grid)
for ax, model in zip(axes[0], models, strict=True):
    dots = each[each["model"] == model]
    where = {"x": "accuracy", "y": "kind", "order": kinds, "ax": ax}
    sns.stripplot(dots, **where, color="0.6", jitter=False, size=7, alpha=0.7)
    for at, kind in enumerate(kinds):
        row = overall.loc[(model, kind)]
        mean = row["over facts"]
        if row["std"]:  # one relation has none
            std = row["std"].estimate
            ends = mean.estimate - std, mean.estimate + std
            ax.hlines(at + 0.38, *ends, color=figures.DARK, lw=1)
        ax.hlines(at + 0.25, mean.low, mean.high, color=figures.DARK, lw=4)
        ax.plot(mean.estimate, at + 0.25, "D", color=figures.DARK, ms=7)
    ax.axvline(chance, color=figures.DARK, linestyle=":")
    ax.set(xlim=(-0.03, 1.03), title=model, xlabel="accuracy", ylabel="")
runs.keep(each, "fig-estimators-mean.csv")

# %% [markdown]
# In {numref}`fig-estimators-relations` look for relations where the order of the bars is another than in the mean.
# A kind of prompt that is best on average need not be best for a relation.

# %% covers=["IC-F12"] tags=["hide-input"] mystnb={"figure": {"name": "fig-estimators-relations", "caption": "Accuracy by relation and kind of prompt, a panel for each model (the paper's Figure 12). Templates: mean over the templates of a kind. Lines: 95 % intervals over facts. Dashed: chance."}, "image": {"alt": "For each model a panel of horizontal bars of accuracy for each relation, one bar for each kind of prompt, with intervals and a line at chance."}}
figure_data = table.drop(columns="text")
wide, high = min(2, len(models)), (len(models) + 1) // 2
size = 1 + 7 * wide, (1.2 + 1.1 * len(names)) * high
grid = {"squeeze": False, "layout": "constrained"}
fig, axes = plt.subplots(high, wide, figsize=size, **grid)
for ax in axes.flat[len(models) :]:
    ax.axis("off")
for ax, model in zip(axes.flat, models, strict=False):
    part = figure_data[figure_data["model"] == model]
    figures.accuracy_bars(part, ax, chance=chance, hue="kind")
    ax.set_xlabel(f"{ax.get_xlabel()}, {model}")
    marks = ax.get_legend_handles_labels()
    ax.get_legend().remove()
fig.legend(*marks, loc="outside upper center", ncols=3, frameon=False)
runs.keep(figure_data, "fig-estimators-relations.csv")

# %% [markdown]
# {numref}`fig-eic-slots` shows each fact of EIC-LKE in its slot. A mark at 0 is as sure as without the other questions.
# If these do harm, the marks sink below it from the second slot on.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-eic-slots", "caption": "Confidence in the gold option in EIC-LKE minus that in IC-LKE after the same pairs, without the other questions, by slot, for the first model of the page. A mark for each fact; line: mean of the slot."}, "image": {"alt": "Marks for each fact over the number of the slot, squares for right answers and crosses for wrong ones, and a line through their means."}}
drawn = in_slots[in_slots["model"] == models[0]]
drawn = drawn.assign(
    answer=drawn["EIC-LKE"].map({True: "right", False: "wrong"})
)
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
sns.lineplot(drawn, x="slot", y="gain", errorbar=None, color="0.6", ax=ax)
look = {
    "hue": "answer",
    "style": "answer",
    "markers": {"right": "s", "wrong": "X"},
}
look["hue_order"] = look["style_order"] = ["right", "wrong"]
look["palette"] = dict(
    zip(["right", "wrong"], sns.color_palette(), strict=False)
)
sns.scatterplot(drawn, x="slot", y="gain", s=60, ax=ax, **look)
ax.axhline(0, color=figures.DARK, linestyle=":")
ax.set(xlabel="slot of EIC-LKE", ylabel="difference in confidence")
ax.set_xticks(sorted(set(drawn["slot"])))
ax.legend(title="EIC-LKE's answer", loc="upper left", bbox_to_anchor=(1, 1))
runs.keep(drawn, "fig-eic-slots.csv")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Figures 3 and 12 print none, so there is nothing to compare for templates and EIC-LKE. What the paper
# prints about these relations are the accuracies by IC-LKE, mean over models (Table 8; the text says all 49, but the
# values fit the 35 pre-trained ones). They stand beside ours: other models, other facts, and 100 options where the
# page may have fewer. Then the four models of Figure 3, with their means by IC-LKE over 50 relations (Table 7).

# %%
table8 = paper.table("iclke_table8_relations").set_index("relation")
table8 = table8["average_accuracy"]
ours = table[table["kind"].isin(kinds[:2])].set_index("relation")
beside = ours.pivot(columns=["model", "kind"], values="text").loc[names]
beside.columns = [", ".join(pair) for pair in beside.columns]
called = [every[name].paper_relation for name in names]
published = table8.reindex(called).round(3).to_numpy()
beside.insert(0, "35 models (published)", published)
display(beside.rename_axis("relation"))
table7 = paper.table("iclke_table7_models").set_index("model")
four = ["Mistral-7B", "Llama-7B", "Falcon-7B", "Pythia-12B"]
table7.loc[four, ["average_accuracy", "std"]]

# %% [markdown]
# **Claims.** Statistic, direction and least effect stand in `lkecore/data/claims.csv` since before the first run of this
# page. They are tested in the paper's format, `IC-LKE`, and beside it in the other. The interval is over relations
# where there are two or more, and else over the facts of the one relation: such a verdict is about this relation
# only. For steadiness, relations and facts are drawn again.

# %%
claims = paper.claims("IC").set_index("id")
rows = []
for model, key, of, n, found in tested:
    if not key:
        continue  # a difference that no claim is about
    claim = claims.loc[key]
    verdict = paper.claim_verdict(found, claim)
    over = f"{n} relations" if n > 1 else "facts of 1 relation"
    says = claim["claim"], of, found.text(3), over, claim["holds_if"]
    rows.append((key, model, *says, verdict))
columns = ["id", "models", "claim", "of", "ours", "over", "holds if"]
judged = pd.DataFrame(rows, columns=[*columns, "verdict"])
other = judged["of"].str.contains("colon", regex=False)  # the other format
kept = judged.rename(columns={"of": "way"}).assign(as_paper=~other)
kept = kept.assign(source="this run", mark="")
runs.keep(paper.verdicts(kept), "verdicts.csv")
shown = judged.drop(columns="id").rename(columns={"models": "model"})
shown.style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# Where a claim fails or stays open, look here for the reason.
#
# - *The format.* Compare the rows of the two formats of IC-LKE. If only the colon beats the templates, the model has
#   trouble to see where a pair ends, and that is no lack of knowledge.
# - *The words.* Compare the templates of one relation in the table of gains. A mean over three has a bad one in it at
#   full weight. Some templates of Table 5 do not ask for the relation at all.
# - *The relations.* Templates name the relation, IC-LKE does not. The paper's twelve relations are not these.
# - *The comma.* EIC-LKE ends each pair with a comma. Compare its rows against `IC-LKE` and against `IC-LKE, comma`. What
#   is left in the second is the work of the other questions, and of cutting into tokens piece by piece. The rest is
#   that of the comma, and of the pairs that come after the first 50.
# - *The number of things drawn.* With three relations an interval over relations is little more than the range of
#   three numbers, and too narrow for that. With fewer than ten, read "holds" as "holds for these". In the steadiness,
#   a draw that takes one relation three times leaves it no spread, so that its interval is wide whatever is true.
#
# And what the claim on steadiness mixes: relations differ, and wordings differ. IC-LKE has one prompt for a relation,
# so that only the first can make it vary.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-estimators-best
# Somebody tries the three human templates of each relation on the test facts, keeps the best, and reports its
# accuracy on those facts. How much too high is it?
# ```

# %% [markdown]
# ````{solution-start} ex-estimators-best
# :class: dropdown
# ````
#
# Choose on one half of the facts and report on the other. The halves are drawn 1,000 times. `honest` is the accuracy on
# the half that was not looked at, `as chosen` that on the half that chose.

# %%
rng, rows = np.random.default_rng(seed), []
for (model, name), part in answers.groupby(["model", "relation"], sort=False):
    human = part[part["estimator"].isin(prompts.HUMAN)]
    right = human.pivot(index="estimator", columns="fact", values="right")
    right = right.to_numpy(dtype=float)
    found = []
    for _ in range(1_000):
        order = rng.permutation(right.shape[1])
        one, other = np.array_split(order, 2)
        best = right[:, one].mean(axis=1).argmax()
        found.append((right[best, one].mean(), right[best, other].mean()))
    means = right.mean(axis=1)
    rows.append((model, name, means.mean(), means.max(), *np.mean(found, 0)))
columns = ["model", "relation", "mean of three", "best", "as chosen", "honest"]
best = pd.DataFrame(rows, columns=columns).set_index(columns[:2])
best["too high"] = best["as chosen"] - best["honest"]
best.round(3)

# %% [markdown]
# `too high` is the optimism with half of the facts. It is the larger the fewer the facts, and the nearer the three
# templates are to each other. It is about 0 where one is best by far. IC-LKE needs no such choice, but the choice
# between two *formats* of it is one as well.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-estimators-own
# Can you write a better sentence? Try one of your own on training facts, before you look at the test facts.
# ```
#
# ````{solution} ex-estimators-own
# :class: dropdown
#
# ```python
# from lkecore import facts, prompts
# from lkecore.metrics import iclke
# from lkecore.models import open_model
# from lkecore.scores.tree import option_logprobs
#
# relation = facts.load("atlas", "capital")
# train, test = facts.divide(relation)
# some = facts.draw_facts(train, 20, seed=1)
# options = facts.draw_options(some, relation.objects, 10, seed=1)
# words = "Q: What is the capital of [X]? A: [Y]"
# asked = prompts.template(words, some, options)
# frame = option_logprobs(open_model("smollm2"), asked).frame
# print(iclke.answers(frame)["right"].mean())
# ```
#
# With `shots=` the same sentence is shown with examples: see the page on separators.
# ````
#
# ```{exercise}
# :label: ex-estimators-other
# Do the models of the paper's size behave as the paper says? Ask another model, and EIC-LKE about all relations.
# ```
#
# ````{solution} ex-estimators-other
# :class: dropdown
#
# Put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml`. Facts of your own work
# if their relations are named as in the paper's Table 3, or by the number that Wikidata gives them.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 13_iclke_estimators
#     parameters:
#       models: [/path/to/a/model]
#       eic_relations: []
#       n_facts: 100
#       n_eic_facts: 100
# ```
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
