# %% [markdown]
# # What does fine-tuning do to facts?
#
# A base model continues text. To make it follow instructions, people train it further, on questions and answers. Does
# it know its facts better or worse afterwards? And if it answers fewer: are the facts gone, or does it only no longer
# understand what a list of pairs asks for?
#
# **What came out.** {glue:text}`change` {glue:text}`others` {glue:text}`kept` {glue:text}`gone`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-tuned-bars
# :name: fig-tuned-bars
# :alt: Two panels with pairs of horizontal bars, dark for base and light for tuned models: this run on the left, thirteen published pairs on the right.
#
# Accuracy of base (dark) and tuned models (light), mean over relations. Left: this run, by pair and estimator, with 95 %
# intervals over facts; EIC-LKE has fewer facts. Right: published (Table 10, IC-LKE), other models and other facts.
# ```
#
# Compare the *steps* from dark to light, not the heights. Afterwards you will be able to say
#
# - how many facts a tuned model answers compared with its base, relation by relation,
# - whether the facts that it does answer are facts that its base answered, too,
# - whether another way of asking finds what the first one misses.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` compare 14 fine-tuned models with their bases (Section 4.2.2, Figures 7 and 15, Table 10). In our
# words:
#
# - in almost all cases the tuned model answers fewer facts rightly than its base;
# - most of what a tuned model knows, its base knows as well: the {term}`subsumption rate` lies between 0.56 and 0.93. So
#   tuning seems to add no knowledge;
# - EIC-LKE, which asks many facts in one long prompt, shows the same (Appendix H.6).
#
# The caption of Table 10 calls the rates low, and that of Figure 15 names IC-LKE. The text calls them high, and names
# EIC-LKE; we follow the text.
#
# The paper's run has 50 relations, 400 test facts each, and models of 2 to 70 billion parameters. By default this page has
# one small model of the lab, tuned on instructions of which none tells a fact of its world.

# %% [markdown]
# ## Parameters
#
# A pair is a list of two, the base and the tuned model. All of them stand in `models` as well; there, `lke run` may divide
# them into one run each. A pre-trained model of no pair stands in `alone`, too: it is in the figure of EIC-LKE only.
#
# The page is about the first of `estimators`. `eiclke` costs far more, so it asks fewer facts, with fewer shots: a model of
# the lab was trained on rows of 384 tokens. Shots and slots were chosen for this on the development world.

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/2m", "lab:book-1/2m-tuned"]
# Each of a base and its tuned model.
pairs: list[list[str]] = [["lab:book-1/2m", "lab:book-1/2m-tuned"]]
alone: list[str] = []  # pre-trained ones of no pair, for Figure 13
fact_set: str = "lab:book-1"
# Empty: all of the fact set.
relations: list[str] = ["author", "birth_year", "first_language", "residence"]
estimators: list[str] = ["iclke-space", "template-1", "eiclke"]
n_shots: int = 50  # pairs shown before the question
n_options: int = 100  # candidate objects of each fact
n_facts: int = 400  # test facts of each relation; of a lab world, all
n_eic_facts: int = 18  # of these, facts that EIC-LKE asks
n_eic_shots: int = 32  # pairs in a prompt of EIC-LKE; 100 in the paper
n_eic_first: int = 20  # the first question stands behind this pair; 50
n_every: int = 2  # and then one after so many pairs; 5 in the paper
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each estimator, are asked again
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, papers, prompts, runs
from lkecore import models as lms
from lkecore.answers import overlap, rules, tuned
from lkecore.errors import BadInput

figures.style()

# %% [markdown]
# ## Facts
#
# Base and tuned are asked the same facts with the same shots and options. A relation with too few objects for the
# options stops the page. One with fewer test facts than `n_facts` is named. Of a world of the lab all facts are asked.

# %%
two = lms.check_tuned(pairs, alone, models, fact_set, page=page)
main, *others = estimators or [""]
if main not in prompts.SEPARATORS:
    raise BadInput(f"estimators {estimators}: the first must be iclke-space")
in_lab = fact_set.startswith("lab:")
sample = facts.draw(
    fact_set,
    relations,
    n_facts=None if in_lab else n_facts,
    n_shots=n_shots,
    n_options=n_options,
    seed=seed,
)
n_asked = {name: len(drawn.facts) for name, drawn in sample.items()}
fewer = [name for name, n in n_asked.items() if n < n_facts and not in_lab]
print(f"fewer than {n_facts} facts: {', '.join(fewer) or 'no relation'}")
print(f"{sum(n_asked.values()):,} facts; guessing gets {1 / n_options:.3f}")
of_rule = rules.of_worlds({fact_set: sample})["of_rule"].item()
print(f"the best rule without a model gets {of_rule:.3f}")

# %% [markdown]
# ## Prompts
#
# `iclke-space` is the paper's format. `template-1` is a sentence with a blank. It shows no pair, and in the lab it stands
# in the text. So a model that has lost the habit of reading pairs, and nothing else, should still answer it.
#
# {term}`EIC-LKE` puts questions between the pairs of one long prompt, each with one of its options behind it, mostly a wrong
# one. All that stands before an option is its context, the wrong answers to earlier questions, too.

# %%
short = [name for name in estimators if name != "eiclke"]
questions = prompts.of_sample(sample, short)
if "eiclke" in estimators:
    questions |= prompts.slots_of_sample(
        sample,
        n_facts=n_eic_facts,
        n_shots=n_eic_shots,
        first=n_eic_first,
        every=n_every,
        seed=seed,
    )

# %%
for name in short:
    print(f"{name:12} {prompts.example(name, sample)!r}")
if "eiclke" in estimators:
    long = questions["eiclke", next(iter(sample))][0]
    print(f"eiclke       ...{''.join(long.texts[0])[-50:]!r}")
    n_pairs = {name: len(drawn.train) for name, drawn in sample.items()}
    few = {name: n for name, n in n_pairs.items() if n < n_eic_shots}
    print(f"fewer than {n_eic_shots} pairs for it: {few or 'no relation'}")

# %% [markdown]
# ## Scores
#
# Each question has one row: was the answer right, how sure was the model, and how much of its confidence lay on the gold
# option?

# %%
this = "17_iclke_tuned"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"dtype": dtype, "page": page}
ours = answers.ask(models, questions, "answers.parquet", **source)
in_order = ours.sort_values(["relation", "fact"]).assign(source="this page")
print(f"{len(ours):,} questions, {n_options} options each")

# %% [markdown]
# ## Answers
#
# **Base and tuned** on the same facts, each relation counted alike. `change` is the accuracy of the tuned model minus that
# of its base, with an interval over other facts *and* other relations. `p` is McNemar's exact test over all facts,
# corrected by Holm for the rows. Where the two never differ, an interval has no width. That is no certainty.
#
# **The subsumption rate** is in `rate`: of the facts that the tuned model answers rightly, the share that its base answers,
# too, as on {doc}`the page on size <16_iclke_size>`. Relations in which the tuned model has fewer than two facts right are
# left out. `independent` is the accuracy of the base, the rate that would come out if the two were right independently of
# each other.
#
# `new` counts the facts that the base misses and the tuned model has right, beside the number that guesses would
# give. Only if there are more of them than that (`p_new`, exact binomial test, one-sided, corrected by Holm) can one say
# that the tuned model answers something that its base could not.

# %%
by = {"by": ["source", "estimator"]}
changed = tuned.changes(in_order, two, **by, seed=seed)
runs.keep(answers.texts(changed, 3), "change.csv")
turned = [(after, base) for base, after in two]
alike = overlap.by_relations(in_order, turned, **by)
rates = overlap.rates(in_order, turned, **by, seed=seed)
numbers = tuned.subsumption(rates, alike)
runs.keep(numbers, "subsumption.csv")
new = overlap.own_facts(in_order, turned, **by)
runs.keep(answers.texts(new, 3), "new-facts.csv")

# %% covers=["IC-E6", "IC-T10"]
table = tuned.beside(changed, rates, new)
shown = ["tuned", "estimator", "facts", "change", "p", "rate", "independent"]
shown += ["new", "by_guessing", "p_new"]
answers.words(answers.texts(table[shown]), digits=2, missing="")

# %% [markdown]
# **The format or the fact?** Take the facts that the base has right in the paper's format and the tuned model has not.
# Has the tuned model lost them, or does it only not show them in this way? `found` is the share of these lost facts that
# it has right when asked in another way. Beside it stands the same share for the base. Were only the format lost, the two
# would be alike. The first row says nothing: this way of asking chose the facts.
#
# `gold` is the mean confidence of the tuned model in the gold option of the lost facts. In the lab it can be held
# against their {term}`controls <control>`: facts with the same objects, about other subjects, which no text told. If
# it lies clearly above, a trace of the facts is left, though it no longer wins.

# %%
traces = tuned.lost(ours, two, main, fact_set, seed=seed)
runs.keep(answers.texts(traces, 3), "lost-facts.csv")
shown = answers.texts(traces.drop(columns="base"), 3)
print(shown.to_string(index=False))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
figures.findings(**tuned.sentences(table, traces))
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# {numref}`fig-tuned-relations` is the paper's Figure 7 for the first pair. Look whether the lighter bar is shorter
# everywhere, and whether any intervals of a pair lie apart.
#
# ```{glue:figure} fig-tuned-relations
# :name: fig-tuned-relations
# :alt: Pairs of horizontal bars of accuracy, a dark one for the base and a light one for the tuned model, for each relation.
#
# Accuracy of a base model (dark) and of the model tuned from it (light) by relation, IC-LKE in the first format, for the
# first pair of the run. Lines: 95 % Wilson intervals.
# ```

# %% covers=["IC-F7", "IC-F15"] tags=["hide-input"]
mine = tuned.halves(changed)
panels = {"this page": mine, "published, other models": papers.table_10_bars()}
fig, axes = plt.subplots(1, 2, figsize=(11, 5.5), layout="constrained")
for ax, (title, bars) in zip(axes, panels.items(), strict=True):
    if len(bars):
        figures.paired_bars(bars, ax, pair="which")
    ax.set_xlabel(f"accuracy, {title}")
figures.place(fig, "fig-tuned-bars", mine)

# %% covers=["IC-F7"] tags=["hide-input"]
singly = tuned.by_relation(in_order[in_order["estimator"] == main], two)
singly = answers.bounds(singly, "accuracy")
runs.keep(singly, "accuracy-by-relation.csv")
halves = singly[singly["model"].isin(singly["model"].head(1))]
halves = halves.rename(columns={"relation": "name"})
size = (7, 1.5 + 0.5 * len(sample))
fig, each = plt.subplots(figsize=size, layout="constrained")
if len(halves):
    figures.paired_bars(halves, each, pair="which")
    each.set_xlabel(f"{figures.ACCURACY}, {two[0][1]}")
figures.place(fig, "fig-tuned-relations", halves)

# %% [markdown]
# In {numref}`fig-tuned-eta` a mark to the right of its tick says that the two share more facts than two models would that
# know nothing of each other. Marks to the left would be odd.
#
# ```{glue:figure} fig-tuned-eta
# :name: fig-tuned-eta
# :alt: Horizontal rows of marks between 0 and 1: thirteen published subsumption rates as circles and ours as diamonds with intervals, each beside a tick for independent answers.
#
# Subsumption rate of the tuned model by its base, mean over relations. Circles: published (Table 10), other models.
# Diamonds: this run, with 95 % intervals over facts. Ticks: the rate of two models that are right independently, which is
# the accuracy of the base.
# ```

# %% tags=["hide-input"]
labels = numbers["small"] + ", " + numbers["estimator"]
drawn = papers.table_10_beside(numbers.assign(name=labels))
tall = 1 + 0.34 * len(drawn)
dots, rows = plt.subplots(figsize=(8.5, tall), layout="constrained")
figures.subsumption_dots(drawn, rows)
figures.place(dots, "fig-tuned-eta", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Ours stands beside a printed rate only where this run asked just these two models. The verdict is
# *reproduced* or *differs* where facts, shots and options are the paper's as well, and else *not comparable*.

# %%
same_data = fact_set.startswith("hub:QinyuanWu/T-Rex-MC") and not relations
protocol = (n_shots, n_options, n_facts, main) == (50, 100, 400, "iclke-space")
compared = papers.table_10_verdicts(
    rates[rates["estimator"] == main],
    same_data=same_data,
    same_protocol=protocol,
)
verdicts = compared["verdict"].value_counts()
print("Table 10:", *(f"{n} rows: {name}" for name, n in verdicts.items()))

# %% [markdown]
# An exercise shows all of Table 10, and beside it what Table 7 prints for the same models, from another run of the paper.
# Table 7 has one tuned model more: Falcon-7B-instruct with 0.006, where guessing gives 0.01. This looks like a run that
# failed, and Table 10 leaves it out. Most published rates lie above the accuracy of the base, as they should for models that
# know the same things. Some lie below; {doc}`16_iclke_size` tries explanations for the same riddle in Table 1.
#
# **Claims.** Statistic, direction and least effect of each stand in `lkecore/data/claims.csv` since before the first
# run of this page. They are tested in the paper's format, and beside it in the other ways of asking, with intervals over
# other relations (Student's t). With four relations these are wide ({ref}`how good they are <few-relations>`).

# %%
tested = tuned.claims(changed, rates)
own = {"marks": tuned.in_lab(tested)}
judged = answers.judge(tested, estimator=main, as_paper=True, **own)
answers.words(judged.drop(columns=["id", "source"]))

# %% [markdown]
# A way of asking without a row for the second claim has fewer than two relations in which the tuned model is right at least
# twice.
#
# If the accuracy falls in one way of asking only, it was the format. If it falls in *all*, lists of pairs are not to
# blame. But the facts need not be gone. All these ways are text to go on with, and none is an instruction, as the tuning
# had them: what comes out only after an instruction is missed by all. The tuning of a lab model is likely to be harsher,
# too, than that of a chat model.

# %% [markdown]
# ## What you have seen
#
# - Tuning changes what a model answers. How much depends on the way of asking, so one format alone proves no loss.
# - A high subsumption rate says that little is new. It does not say that much is left: the change says that.
# - A fact that no way of asking brings out may still leave a trace, a confidence above that of its controls.

# %%
by_hand = in_order.groupby(["estimator", "relation", "model"])["correct"].mean()
by_hand = by_hand.unstack("relation").mean(axis=1)
for step in changed.itertuples():
    gap = by_hand[step.estimator, step.tuned]
    gap -= by_hand[step.estimator, step.base]
    assert abs(gap - step.over_relations.estimate) < 1e-9
assert alike["eta"].dropna().between(0, 1).all()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-tuned-told
# Which facts are lost, those that the text told often or those that it told seldom? (Only the lab can say.)
# ```

# %% [markdown]
# ````{solution-start} ex-tuned-told
# :class: dropdown
# ````

# %%
told = tuned.by_told(in_order, two, fact_set)
runs.keep(answers.texts(told), "accuracy-by-told.csv")
answers.words(answers.texts(told.drop(columns="base")))

# %% [markdown]
# Facts told often are where there is something to lose. The row of facts never told shows what guessing gives.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-tuned-printed
# Do the paper's own two tables agree about the same models?
# ```

# %% [markdown]
# ````{solution-start} ex-tuned-printed
# :class: dropdown
# ````

# %%
answers.words(compared, digits=3)

# %% [markdown]
# Not to the last digit: they lie up to 0.042 apart, and so one more model is higher after tuning in Table 7 than in Table 10.
# Table 10 calls the tuned models of Llama-2 FT-1 and FT-2 the other way round than Table 6. The names here are those of Table
# 6, and `note` says where this reading rests on the values.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-tuned-eic
# The paper's Figure 13 has EIC-LKE for each relation and each model that is not tuned. What does it look like here?
# ```

# %% [markdown]
# ````{solution-start} ex-tuned-eic
# :class: dropdown
# ````

# %% covers=["IC-F13"] needs={"IC-F13": {"alone": 1}} tags=["hide-input"]
called = {name: each.relation.paper_relation for name, each in sample.items()}
eic = tuned.figure_13(ours, two, called)
n_columns, n_rows = eic["relation"].nunique(), eic["model"].nunique()
wide = 3 + (0.9 if n_columns <= 20 else 0.22) * n_columns
size = (wide, 1.9 + 0.3 * n_rows)
heat, cells = plt.subplots(figsize=size, layout="constrained")
if len(eic):
    look = {"index": "model", "columns": "relation", "values": "accuracy"}
    figures.heat_map(eic, cells, **look, label="accuracy", limits=(0, 1))
figures.place(heat, "fig-tuned-eic", eic)

# %% [markdown]
# ```{glue:figure} fig-tuned-eic
# :name: fig-tuned-eic
# :alt: Heat map of accuracy by EIC-LKE with a row for each model and a column for each relation.
#
# Accuracy by EIC-LKE, by pre-trained model and relation (the paper's Figure 13). Empty if EIC-LKE was not asked.
# ```
#
# Families stand in the order of their model nearest 7 billion parameters, and relations as in Table 8. With few facts in a
# cell (`n_eic_facts`) only large differences of colour mean anything.
#
# ````{solution-end}
# ````
#
# To compare another pair, put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml`. With facts
# of the embedded atlas, set `fact_set: atlas` and name relations with enough objects for the options.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 17_iclke_tuned
#     parameters:
#       models: ["lab:book-1/0.7m", "lab:book-1/0.7m-tuned"]
#       pairs: [["lab:book-1/0.7m", "lab:book-1/0.7m-tuned"]]
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
