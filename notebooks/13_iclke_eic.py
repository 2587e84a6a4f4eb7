# %% [markdown]
# # Can one long prompt ask many questions?
#
# IC-LKE shows 50 pairs for every question. EIC-LKE, the *efficient* one, puts ten questions into one long prompt of pairs,
# each with an answer to try. Does that save work, and are the answers as good?
#
# **What came out.** {glue:text}`cost` {glue:text}`right` {glue:text}`others` {glue:text}`longer`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-eic-mean
# :name: fig-eic-mean
# :alt: A panel for each model with a row for each way of asking: grey dots for single prompts, a dark mark with an interval for the mean.
#
# Accuracy by way of asking, on the same facts, a panel for each model (the paper's Figure 3). `eiclke`: many questions in
# a prompt. `iclke-comma`: the same prompts without the other questions. Grey dots: one prompt of one relation. Dark mark:
# mean over relations, with a 95 % interval over facts. Thin line below: one standard deviation to each side. Dotted: the
# best rule without a model. "On" and a name: a longer run, on other facts.
# ```
#
# Afterwards you will be able to say
#
# - what the "efficient" form of IC-LKE costs, and when it is the cheaper one,
# - whether it finds as many facts as IC-LKE, and why it may find more,
# - what the other questions in a prompt do to an answer.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` put {term}`EIC-LKE` beside IC-LKE and beside templates that people wrote ({term}`HGP`) or a program
# found in text ({term}`MMP`), for four models of 7 to 12 billion parameters (Section 4.1, Figure 3; each relation in
# Figure 12). In our words:
#
# - EIC-LKE finds more facts than sentences of either kind;
# - over relations and sentences its accuracy varies less;
# - it needs fewer passes through the model than IC-LKE.
#
# The bars have no numbers, and the figures are lost in our copy of the paper. Its setting is 400 facts and 100 options
# for each relation, with 100 pairs and ten slots. How many tokens that takes is counted below. The page
# {doc}`13_iclke_estimators` has IC-LKE and templates on more facts.

# %% [markdown]
# ## Parameters
#
# EIC-LKE is expensive, so few facts are asked, the same in all ways.

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital"]  # empty: all with templates of the paper
n_shots: int = 50  # pairs of IC-LKE; EIC-LKE's first slot stands behind them
n_eic_shots: int = 100  # pairs of EIC-LKE, or as many as there are to show
n_every: int = 5  # pairs from one slot of EIC-LKE to the next
space_token: bool = False  # ask EIC-LKE once more, its spaces cut by themselves
n_options: int = 10  # candidate objects of each, or as many as there are
n_redraws: int = 0  # further draws of shots
n_facts: int = 20  # test facts of each relation, or as many as there are
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 10  # of its questions, for each estimator, are asked again
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # draws shots, facts, options, their order and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, prompts, runs
from lkecore.answers import costs, rules, slots, templates, uncued

figures.style()

# %% [markdown]
# ## Facts
#
# For each relation shots, facts and options are drawn once, and all ways of asking share them. Only relations for which
# the paper prints templates can be asked. `fewer` says where a relation has fewer options or facts than are asked for.

# %%
names = prompts.with_templates(fact_set, relations)
drawn = {"n_shots": n_shots, "n_options": n_options, "seed": seed}
drawn |= {"n_facts": n_facts, "take_fewer": True}
sample = facts.draw(fact_set, names, least=1, **drawn)
facts.check_facts(sample, n_facts, take_fewer=True)
seen = facts.overview(sample, n_options=n_options, n_facts=n_facts)
print(seen.to_string(index=False))

# %% [markdown]
# ## Prompts
#
# All pairs stand in one prompt: first those of IC-LKE, then all others that are kept for showing. (A subject with two true
# objects may come twice here.)
# After the first 50, and then after every five more, stands a question with one of its options behind it: a {term}`slot`.
# The model reads the prompt once and has met one option of ten facts. So ten facts need as many prompts as there are
# options. In each prompt every slot has another option, in an order that is shuffled by fact (the paper's text can be
# read in two ways; this is its example). Nearly all of these options are wrong, and what stands in one slot is read by
# all that come later. Here is the middle of one prompt, with the options in brackets. With fewer
# pairs than `n_eic_shots` a prompt has fewer slots.

# %% covers=["IC-S2"]
long = {"n_shots": n_eic_shots, "first": n_shots, "every": n_every}
in_one = prompts.slots_of_sample(sample, **long, seed=seed)
print(prompts.example_of_slots(in_one["eiclke", names[0]][0]))
for (_, name), groups in in_one.items():
    n = sum(len(group.texts) for group in groups)
    print(f"{name}: {n} prompts, {len(groups[0].places)} slots in each", end="")
    print(f", {min(n_eic_shots, len(sample[name].train))} pairs")

# %% [markdown]
# To tell what these other questions do, each fact is asked once more without them. `iclke-comma` is IC-LKE with the
# comma of EIC-LKE between pairs, and with just as many pairs as stand before the fact's slot. Then there are IC-LKE in
# the paper's format, and the templates. With `n_redraws`, pairs are drawn again.

# %%
questions = prompts.beside_templates(sample, ["iclke-space"])
questions |= prompts.alone_of_sample(sample, **long, seed=seed)
questions |= in_one
if space_token:
    apart = {"seed": seed, "space_token": True}
    questions |= prompts.slots_of_sample(sample, **long, **apart)
print(*dict.fromkeys(estimator for estimator, _ in questions), sep=", ")

# %% [markdown]
# ## Scores
#
# In an IC-LKE prompt, context and option are cut into tokens together, and the option's tokens are those after the
# context's ({term}`border rule`). In EIC-LKE each piece is cut by itself, and the counts of tokens say where an option
# stands. The paper tells of a separate space token between names (Appendix C.2). We cut the space with the object; the
# other reading, with `space_token`, is to cut it by itself, behind the first pairs alone. A prompt that is longer than a model's window is refused. It
# counts up to the last slot, since no model reads what stands behind.
#
# Answers of a longer run that `results` names are these, and a sample is asked again.

# %%
how = {"dtype": dtype, "page": page}
this = "13_iclke_eic"
source = how | {"results": results, "notebook": this, "n_again": n_again}
asked = questions, "answers.parquet"
ours = every = answers.ask(models, *asked, **source, keep_scores=True)
if n_redraws:
    seeds = range(seed + 1, seed + 1 + n_redraws)
    redrawn = prompts.redrawn(sample, ["iclke-space"], seeds)
    redrawn |= prompts.redrawn_slots(sample, seeds, **long)
    source["by"] = "estimator", "relation", "draw"
    draws = answers.ask(models, redrawn, "answers-draws.parquet", **source)
    every = templates.with_draws(ours, draws)
offered = ours.groupby("relation", sort=False)["n_options"].first()
together = templates.beside(every, shipped, this)
print(f"{len(every):,} questions; options of each:", *set(offered))
print(f"{len(together) - len(every):,} answers beside")
print(*answers.made_by(shipped, this), sep="\n")

# %% [markdown]
# What does it cost? Most answers may come from the cache. So tokens are counted, and the
# facts of EIC-LKE's first prompts are asked once more without the cache, in both ways, and this is timed.
#
# Is a slot what it should be: the log-probability of an option after all that stands before it? For the first
# and the last slot of one prompt this is computed again, by one plain {term}`forward pass` over the text.
# `apart` is the larger difference in nats. It may be as large as the rounding of the number format.

# %%
spent = costs.measure(models, questions, "costs.parquet", **how)
print(spent.groupby("model", sort=False)["apart"].first().to_string())

# %% [markdown]
# ## Answers
#
# **What EIC-LKE costs, and what it brings.** The paper calls EIC-LKE efficient because many facts share a string.
# `strings` are the prompts, each with one option. `one_by_one` is what they have in tokens: the cost if every string goes
# through the model alone, in full. `ours` counts the tokens that our scorer needs, which computes no shared beginning
# twice ({doc}`01_scorer`). It computes the pairs of IC-LKE once for all strings; but the prompts of EIC-LKE are alike up to
# the first slot only. `accuracy` has Wilson's interval. `timed_tokens` and `seconds` are those of the first `timed_facts`
# of the first relation. Compare the two rows with each other, not with another model's.

# %%
key = ["model", "relation", "estimator"]
right = answers.accuracy(ours, key)[[*key, "accuracy"]]
cost = spent.merge(right, on=key)
runs.keep(answers.bounds(cost, "accuracy"), "cost.csv")
cost["accuracy"] = answers.texts(cost)["accuracy"]
cost = cost.drop(columns=["groups", "shared", "apart"])
counted = cost.columns[3:].drop("accuracy")
digits = dict.fromkeys(counted, "{:,.0f}") | {"seconds": "{:.1f}"}
answers.words(cost, digits=digits, missing="")

# %% [markdown]
# What would the paper's setting take, 400 facts and 100 options of such a relation? Here is how many times as many tokens
# EIC-LKE would take there: below 1 it saves, above 1 it costs more. This is worked out from the lengths here,
# not run; `cost-at-scale.csv` has the tokens. `ours` is too high for IC-LKE: each subject counts once for every option.

# %%
scale = costs.at_scale(spent)
runs.keep(scale, "cost-at-scale.csv")
ratios = ["model", "relation", "times_one_by_one", "times_ours"]
print(scale[ratios].round(2).to_string(index=False))

# %% [markdown]
# **Kind against kind**: the accuracy of EIC-LKE minus that of the others, on the same facts. A fact counts with its mean
# over all draws of shots; costs, slots, `p` and its two counts are about the first draw. Below the table, EIC-LKE against
# IC-LKE in each relation: `only_first` counts facts that only IC-LKE gets right, `only_second` those of EIC-LKE, and `p` is
# McNemar's exact test, Holm-corrected for all rows. Then the accuracies. `no_cue`, here and in the table: on facts
# without a {term}`cue`.

# %%
paper = "iclke-space"
kinds = [paper, "iclke-comma", templates.HUMAN_KIND, templates.MINED_KIND]
versus = [("eiclke", kind) for kind in [*kinds, prompts.SPACE_TOKEN]]
once = {"same_shots": [prompts.SPACE_TOKEN], "seed": seed}
in_order = ours.sort_values(["relation", "fact"], kind="stable")
by = {"by": ["model", "relation"], "seed": seed}
each = answers.paired(in_order, "estimator", [(paper, "eiclke")], **by)
shown = ["model", "relation", "over_facts", "only_first", "only_second", "p"]
print(answers.texts(each)[shown].to_string(index=False))
cues = rules.beside(rules.cues(sample, kept=not page), shipped, this)
of_rule = templates.of_rules(together, cues)
gaps = uncued.apart(together, cues, versus, **once)
overall = templates.by_kind(together, seed=seed)
left = templates.with_no_cue(overall, together, cues, seed=seed)
shown = ["model", "kind", "facts", "over_facts", "over_relations", "no_cue"]
print(answers.texts(left[shown]).to_string(index=False))
answers.words(answers.texts(gaps), missing="")

# %% [markdown]
# **What stands in the slots.** `eiclke` and `iclke-comma` are the accuracies by slot, on the same facts. `gain` is the
# confidence in the gold option in EIC-LKE minus that in IC-LKE, after the same pairs: above 0, the other questions
# have helped, below 0 they have harmed. Before the first slot stands no other question. There the two prompts are the
# same, so that only cutting into tokens can part them. Below the slots stand their two halves, and all of them. Few
# facts stand in a slot, and a slot with one fact is left out.

# %%
in_slots = slots.in_slots(ours, in_one)
by_slot = slots.by_slot(in_slots, seed=seed)
print(answers.texts(by_slot, 3).to_string(index=False))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
tokens = spent[spent["model"] == models[0]]
tokens = tokens.groupby("estimator")[["one_by_one", "ours"]].sum()
ic, eic = tokens.loc[paper], tokens.loc["eiclke"]
cheap = f"String by string, IC-LKE reads {ic['one_by_one']:,} tokens and"
cheap += f" EIC-LKE {eic['one_by_one']:,}; with each shared beginning computed"
cheap += f" once, IC-LKE reads {ic['ours']:,} and EIC-LKE {eic['ours']:,}."
gap = gaps[gaps["model"] == models[0]].set_index("second")["over_facts"]
more = f"EIC-LKE minus IC-LKE is {gap[paper].text()} of the questions (of"
more += f" {models[0]}, 95 % interval over facts). Against the same prompts"
more += f" without the other questions it is {gap['iclke-comma'].text()}."
every = by_slot[(by_slot["slot"] == "all") & (by_slot["model"] == models[0])]
change = "The other questions change the confidence in the right object by"
change += f" {every['gain'].iloc[0].text(3)}."
ways = {"eiclke": "by EIC-LKE", kinds[1]: "one by one", paper: "by IC-LKE"}
beside = templates.others(overall, ways, of_rule)
beside = uncued.told(beside, gaps, gaps[gaps["second"] == kinds[2]])
figures.findings(cost=cheap, right=more, others=change, longer=beside)
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-eic-mean`, at the top, compare `eiclke` with `iclke-comma`, which differ by the other questions alone, and
# then both with `iclke-space`. {numref}`fig-eic-kinds` has the same by relation: where does the order turn round?
#
# ```{glue:figure} fig-eic-kinds
# :name: fig-eic-kinds
# :alt: For each model a panel of horizontal bars of accuracy for each relation, one bar for each way of asking, with intervals and dashes at what a rule gets.
#
# Accuracy by relation and way of asking, a panel for each model. Templates: mean over the templates of a kind. Lines:
# 95 % intervals over facts. Dashed: the best rule without a model.
# ```

# %% covers=["IC-F3"] shows=["run", "shipped"] tags=["hide-input"]
dots = templates.by_prompt(together)
means = answers.bounds(overall, "over_facts", "accuracy")
means["spread"] = answers.bounds(overall, "spread")["spread"]
kinds += [prompts.SPACE_TOKEN] * (prompts.SPACE_TOKEN in set(dots["kind"]))
look = {"kinds": ["eiclke", *kinds]}
look["marks"] = {model: each.mean() for model, each in of_rule.items()}
mean_dots = figures.prompt_dots(dots, means, **look)
figures.place(mean_dots, "fig-eic-mean", dots)

# %% covers=["IC-F12"] shows=["run", "shipped"] tags=["hide-input"]
alone = templates.by_relation(together, seed=seed)
measured = answers.bounds(alone, "accuracy")
runs.keep(measured, "accuracy-by-relation.csv")
fig = figures.bars_by_model(measured, hue="kind", marks=of_rule)
figures.place(fig, "fig-eic-kinds", measured)

# %% [markdown]
# {numref}`fig-eic-slots` shows each fact of EIC-LKE in its slot. A mark at 0 is as sure as without the other questions.
# If these do harm, the marks sink below it from the second slot on.
#
# ```{glue:figure} fig-eic-slots
# :name: fig-eic-slots
# :alt: Marks for each fact over the number of the slot, squares for right answers and crosses for wrong ones, and a line through their means.
#
# Confidence in the gold option in EIC-LKE minus that in IC-LKE after the same pairs, without the other questions, by slot,
# for the first model of the page. A mark for each fact; line: mean of the slot.
# ```

# %% tags=["hide-input"]
marks = in_slots[in_slots["model"] == models[0]]
marks = marks.assign(answer=np.where(marks["eiclke"], "right", "wrong"))
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
figures.slot_marks(marks, ax)
figures.place(fig, "fig-eic-slots", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Figures 3 and 12 print none, so there is nothing to compare.
#
# **Claims.** Statistic, direction and least effect stand in `lkecore/data/claims.csv`. The interval is over relations where
# there are two or more, and else over the facts of the one relation: such a verdict is about this relation only.
# `no_cue` was looked at when all verdicts were known, and changes none; `without_cues` has what it would say.
# Steadiness is the mean over draws. `at_mean` compares it at each one's mean ({doc}`13_iclke_estimators`).

# %%
steady = templates.steadier(together, ["eiclke"], seed=seed)
print(answers.texts(steady).to_string(index=False))
tested = templates.for_claims(uncued.judged_by(gaps), steady, "eiclke")
own = {"as_paper": True, "no_cue": uncued.for_claims(gaps, "eiclke")}
judged = answers.judge(tested, estimator="eiclke", **own)
answers.words(judged.drop(columns=["id", "mark", "interval"]))

# %% [markdown]
# Where EIC-LKE and IC-LKE differ, look at *the comma* that ends each pair. What is left of the difference
# against `iclke-comma` is the work of the other questions, and of cutting into tokens piece by piece. The rest is that of
# the comma, and of the pairs that come after the first 50.
#
# Where it does not find more than sentences, look at the words of the sentences ({doc}`13_iclke_estimators`), and at the
# size of the model: one that does not see where a pair ends has trouble with every prompt of pairs.

# %% [markdown]
# ## What you have seen
#
# - EIC-LKE saves much if every string goes through the model in full. If shared beginnings are computed once, IC-LKE has
#   much more to share.
# - A comma is part of the estimator: to compare EIC-LKE with IC-LKE one needs an IC-LKE with a comma.
# - Wrong options in other slots are context for a question. How much they matter can be measured, fact by fact.

# %%
of_eic = spent[spent["estimator"] == "eiclke"]
each = of_eic["groups"] * of_eic["relation"].map(offered)
assert (of_eic["strings"] == each).all()
assert (spent["ours"] <= spent["one_by_one"]).all()
mean = measured.groupby(["model", "kind"])["accuracy"].mean().unstack()
found = gaps[gaps["second"] == paper].set_index("model")["over_facts"]
found = found[list(models)]
expected = (mean["eiclke"] - mean[paper])[found.index]
assert np.allclose([gain.estimate for gain in found], expected)

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-eic-options
# Is there a number of options with which EIC-LKE takes fewer tokens than IC-LKE, if shared beginnings are computed once?
# ```

# %% [markdown]
# ````{solution-start} ex-eic-options
# :class: dropdown
# ````

# %%
tried = {n: costs.at_scale(spent, to_options=n) for n in (2, 10, 100)}
table = pd.concat(tried, names=["options"]).reset_index("options")
answers.words(table[["options", *ratios]], digits=2)

# %% [markdown]
# `times_ours` answers it. Each prompt of EIC-LKE is a text of its own behind its first slot, so the pairs there are read
# again for every option. IC-LKE reads its pairs once, and then a few tokens for every option. `times_one_by_one` does not
# depend on the number: both ways need one string for every option, EIC-LKE for several facts at once.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-eic-models
# Do models of the paper's size find more facts by EIC-LKE than by sentences? Ask another model, about all relations.
# ```
#
# ````{solution} ex-eic-models
# :class: dropdown
#
# Put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml`.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 13_iclke_eic
#     parameters:
#       models: [/path/to/a/model]
#       relations: []
#       n_facts: 100
# ```
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
