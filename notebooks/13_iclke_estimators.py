# %% [markdown]
# # Is it better to show examples than to write a sentence?
#
# There are two ways to bring a model to name a capital. One writes a sentence, "The capital of France is", and lets
# the model end it. The other writes no sentence: it shows pairs, and then "France" alone. That is IC-LKE. Here both ways
# answer the same questions.
#
# **What came out.** {glue:text}`pairs` {glue:text}`sentences` {glue:text}`wording` {glue:text}`others`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-estimators-mean
# :name: fig-estimators-mean
# :alt: A panel for each model with a row for each kind of prompt: grey dots for single prompts, a dark mark with an interval for the mean.
#
# Accuracy by kind of prompt (the paper's Figure 3). Grey dots: one prompt of one relation. Dark mark: mean over
# relations, with a 95 % interval over facts. Thin line below: one standard deviation over relations and prompts to each
# side. Dotted: what the best rule without a model gets. "On" and a name: answers of a longer run, on other facts.
# ```
#
# Afterwards you will be able to say
#
# - which way finds more facts in this model, and how sure that is,
# - how much the answer hangs on one wording of a sentence,
# - why the best of three sentences looks better than it is.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` take 12 relations and four models of 7 to 12 billion parameters (Section 4.1, Figure 3; each
# relation in Appendix H.2, Figure 12). For each relation they have three sentences that people wrote
# ({term}`HGP`) and three that a program found in text ({term}`MMP`), from earlier work. (Its list of the twelve and
# its table of sentences differ in one relation. We go by the table.) In our words:
#
# - IC-LKE finds more facts than sentences of either kind;
# - over relations and sentences its accuracy varies less.
#
# The bars of both figures have no numbers, and the figures are lost in our copy of the paper. The paper's setting is
# 400 facts and 100 options for each relation, with 50 pairs. This page has a small model, fewer relations, and few facts
# and options. The figures have {term}`EIC-LKE`, too, which is {doc}`a page of its own <13_iclke_eic>`.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all that have templates of the paper
n_shots: int = 50  # pairs shown before the question
n_facts: int = 25  # test facts of each relation
n_options: int = 10  # candidate objects of each, or as many as there are
n_redraws: int = 0  # further draws of shots
words: bool = False  # ask pairs with a template's words inside, too
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 5  # of its questions, for each estimator, are asked again
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import numpy as np

from lkecore import answers, facts, figures, papers, prompts, runs
from lkecore.answers import rules, templates, uncued, wordings

figures.style()

# %% [markdown]
# ## Facts
#
# Only relations for which the paper prints templates can be asked here. A relation of ours has them if it means the
# same as one of the paper's. For each relation shots, facts and options are drawn once, and all ways of asking share
# them. Each needs the same number of facts, or some means would be steadier than others.

# %%
names = prompts.with_templates(fact_set, relations)
drawn = {"n_shots": n_shots, "n_options": n_options, "seed": seed}
drawn |= {"n_facts": n_facts, "take_fewer": True}
sample = facts.draw(fact_set, names, **drawn)
facts.check_facts(sample, n_facts)
seen = facts.overview(sample, n_options=n_options, n_facts=n_facts)
shown = [
    "relation",
    "facts",
    "objects",
    "to_ask",
    "asked",
    "n_options",
    "fewer",
]
print(seen[shown].to_string(index=False))

# %% [markdown]
# ## Prompts
#
# The templates are used as the paper prints them (Table 5), with all their faults. `[X]` is the place of the subject
# and `[Y]` that of the object. A template is asked without any example, so nothing but its words tells the
# model what is wanted. Below is the whole table. `asked here as` is the name of the relation on this page or in a longer run
# beside, and empty where nobody asks it. `note` says where the table has fewer than three of a kind, and where its words
# belong to another relation: those of *manufacturer* are about record labels.

# %% covers=["IC-D4", "IC-S3", "IC-T5"] shows=["run", "shipped"]
this = "13_iclke_estimators"
called = {name: each.relation.paper_relation for name, each in sample.items()}
elsewhere = templates.asked_beside(shipped, this)
table_5 = papers.table_5(called | elsewhere)
asked, beside = (len(set(each.values())) for each in (called, elsewhere))
n = table_5["relation"].nunique()
print(f"{asked} of {n} relations are asked here, {beside} beside")
answers.words(table_5)

# %% [markdown]
# IC-LKE in two formats: `iclke-space` is the paper's, with a space inside and between pairs. `iclke-colon` has a
# colon and a new line there, which small models read more easily. With `words`, pairs are asked once more with the words
# of each template in the place of the space ({doc}`14_iclke_separators`). Here is each way of asking for one fact, with two
# of the pairs.

# %%
by_pairs = ["iclke-space", "iclke-colon"]
questions = prompts.beside_templates(sample, by_pairs, words=words)
for estimator in [e for e, relation in questions if relation == names[0]]:
    print(f"{estimator:12} {prompts.example(estimator, sample)!r}")

# %% [markdown]
# ## Scores
#
# Where `results` names a longer run of this page, its answers are these, and a sample is asked again. Answers about other
# facts, which ship and cannot be asked again here, stand beside.

# %%
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"dtype": dtype, "page": page}
asked = questions, "answers.parquet"
ours = answers.ask(models, *asked, **source, keep_scores=True)
every = ours
if n_redraws:
    seeds = range(seed + 1, seed + 1 + n_redraws)
    redrawn = prompts.redrawn(sample, by_pairs, seeds, n_facts=n_facts)
    source["by"] = "estimator", "relation", "draw"
    draws = answers.ask(models, redrawn, "answers-draws.parquet", **source)
    every = templates.with_draws(ours, draws)
together = templates.beside(every, shipped, this)
print(f"{len(every):,} questions, and {len(together) - len(every):,} beside")
print(*answers.made_by(shipped, this), sep="\n")

# %% [markdown]
# ## Answers
#
# An answer is right when the gold option is the likeliest. The accuracy of a kind of template is the mean over its
# templates: for each fact we take the share of the templates that get it right, so that a kind with three templates
# counts no more than one with a single one.
#
# Here it is over all relations, each counted alike. `over_facts` asks what other facts of these relations would give, and
# `over_relations` what other relations would give as well. The second is the honest one for a sentence about the
# model, and with few relations it is rough. `spread` is the paper's measure of steadiness, as we read it: the standard
# deviation of the accuracy over relations and prompts. A *prompt* is one template of one relation; IC-LKE has one for each
# relation and draw of pairs. The interval of `spread` draws prompts again as if none had to do with another. `no_cue` is the
# accuracy over relations where no {term}`rule` has a {term}`cue`.

# %%
alone = templates.by_relation(together, seed=seed)
measured = answers.bounds(alone, "accuracy")
runs.keep(measured, "accuracy-by-relation.csv")
overall = templates.by_kind(together, seed=seed)
cues = rules.beside(rules.cues(sample, kept=not page), shipped, this)
of_rule = templates.of_rules(together, cues)
left = templates.with_no_cue(overall, together, cues, seed=seed)
kinds = [*by_pairs, templates.HUMAN_KIND, templates.MINED_KIND]
versus = [(a, b) for a in by_pairs for b in kinds[2:]]
versus += [(by_pairs[0], templates.WORDS_KIND)]
once = {"same_shots": [templates.WORDS_KIND], "seed": seed}
gaps = uncued.apart(together, cues, versus, **once)
answers.words(answers.texts(left))

# %% [markdown]
# **One sentence against another.** Each template beside IC-LKE in the paper's format, on the same facts. `gain` is
# the accuracy of IC-LKE minus that of the template, with a paired interval over facts. `p` is McNemar's exact test,
# Holm-corrected for all templates of a model; all three are about the first draw of pairs. What to see: how far the templates of one kind lie apart in one relation.
# All models are in `gain-by-template.csv`.

# %%
paper, colon = by_pairs
gains = wordings.against(ours, sample, paper, seed=seed)
runs.keep(answers.bounds(gains, "gain"), "gain-by-template.csv")
first = answers.texts(gains[gains["model"] == models[0]])
shown = ["relation", "template", "accuracy", "gain", "p"]
print(first[shown].to_string(index=False))

# %% [markdown]
# What this page says at its top is put together from these tables.

# %% tags=["hide-input"]
top = overall[overall["model"] == models[0]].set_index("kind")
by_name = top["over_relations"].map(lambda found: found.text())
pairs = f"From pairs, {models[0]} finds {by_name[paper]} of the facts in the"
pairs += f" paper's format and {by_name[colon]} with a colon and new lines"
pairs += f" (mean over {len(names)} relations and its 95 % interval)."
sentences = "From sentences that people wrote it finds"
sentences += f" {by_name[templates.HUMAN_KIND]}, from sentences mined from text"
sentences += f" {by_name[templates.MINED_KIND]}."
most = wordings.widest(ours[ours["model"] == models[0]])
most = most.sort_values("kind").head(1).to_dict("records")
wording = "No relation has two sentences of a kind here."
for row in most:
    wording = f"The wording matters: of the {row['kind']} sentences for"
    wording += f" {row['relation']}, {row['best']} finds"
    wording += f" {row['accuracy_best']:.2f}, {row['worst']}"
    wording += f" {row['accuracy_worst']:.2f}."
others = templates.others(overall, {paper: "from pairs"}, of_rule)
others = uncued.told(others, gaps, gaps[gaps["first"] == paper])
said = {"pairs": pairs, "sentences": sentences, "wording": wording}
figures.findings(**said, others=others)
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# What to see in {numref}`fig-estimators-mean`, at the top: where the dark marks stand, and how far the grey dots of one
# row lie apart, each a prompt of a relation. If the dots of templates spread wider than those of IC-LKE, the
# words matter, or the relations differ more for templates.

# %% covers=["IC-F3"] shows=["run", "shipped"] tags=["hide-input"]
dots = templates.by_prompt(together)
means = answers.bounds(overall, "over_facts", "accuracy")
means["spread"] = answers.bounds(overall, "spread")["spread"]
kinds += [templates.WORDS_KIND] * (templates.WORDS_KIND in set(dots["kind"]))
marks = {model: each.mean() for model, each in of_rule.items()}
fig = figures.prompt_dots(dots, means, kinds=kinds, marks=marks)
figures.place(fig, "fig-estimators-mean", dots)

# %% [markdown]
# In {numref}`fig-estimators-relations` look for relations where the order of the bars is not that of the mean, and for
# bars that end before the dashes.
#
# ```{glue:figure} fig-estimators-relations
# :name: fig-estimators-relations
# :alt: For each model a panel of horizontal bars of accuracy for each relation, one bar for each kind of prompt, with intervals and dashes at what a rule gets.
#
# Accuracy by relation and kind of prompt, a panel for each model (the paper's Figure 12). Templates: mean over the
# templates of a kind. Lines: 95 % intervals over facts; where every fact has the same share, the line has no length, and
# that is no certainty. Dashed: the best rule without a model. The table of templates says what P31 and the like mean.
# ```

# %% covers=["IC-F12"] shows=["run", "shipped"] tags=["hide-input"]
fig = figures.bars_by_model(measured, hue="kind", marks=of_rule)
figures.place(fig, "fig-estimators-relations", measured)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Figures 3 and 12 print none. What the paper prints about these
# relations are the accuracies by IC-LKE, mean over models (Table 8; the text says all 49, but the values fit the 35
# pre-trained ones). They stand beside ours: other models, other facts, and 100 options where the page may have fewer.
# The four models of Figure 3 have 0.63 to 0.79 by IC-LKE over 50 relations (Table 7).

# %%
of_page = alone["model"].isin(models) & alone["kind"].isin(by_pairs)
beside = answers.texts(alone[of_page])
beside["asked"] = beside["model"] + ", " + beside["kind"]
beside = beside.pivot(index="relation", columns="asked", values="accuracy")
beside = papers.table_8_beside(beside.loc[names].reset_index(), called)
answers.words(beside, digits={"paper": "{:.3f}"}, missing="")

# %% [markdown]
# **Claims.** Statistic, direction and least effect stand in `lkecore/data/claims.csv` since before the first run of this
# page. They are tested in the paper's format, `iclke-space`, and beside it in the other: differences of accuracies on
# the same facts, over relations. Steadiness is the standard deviation over relations and human templates,
# minus that of IC-LKE over relations, mean over its draws of pairs; relations and facts are drawn again. But an accuracy
# near 0 cannot vary much, and a sentence that finds nothing is steady. So steadiness is judged once more, as a claim of
# ours, written down when the answers were there: each standard deviation as a share of the largest that its mean allows, the
# square root of mean times (1 - mean). `no_cue` is the same difference on facts without a {term}`cue`. It was looked at when
# all verdicts were known, and changes none; `without_cues` has what it would say. *At chance*, of the claim on separators
# alone: with the space not clearly above the best rule.

# %%
steady = templates.steadier(together, by_pairs, seed=seed)
tested = {key: templates.for_claims(gaps, steady, key) for key in by_pairs}
bare = {key: uncued.for_claims(gaps, key) for key in by_pairs}
own = {"no_cue": bare, "marks": templates.at_chance(overall, of_rule)}
judged = answers.judge_ways(tested, as_paper=[paper], **own)
answers.words(judged.drop(columns=["id", "interval"]))

# %% [markdown]
# Where a claim fails or stays open, look here for the reason.
#
# - *The format.* Compare the rows of the two formats of IC-LKE. If only the colon beats the templates, the model has
#   trouble to see where a pair ends, and that is no lack of knowledge.
# - *The words.* Compare the templates of one relation in the table of gains. A mean over three has a bad one in it at
#   full weight. Some templates of Table 5 do not ask for the relation at all.
# - *The relations.* Templates name the relation, IC-LKE does not. A few relations are not the paper's twelve.
# - *The number of relations.* With three, an interval over relations is wide, whatever the number of facts.
#
# And the claim on steadiness mixes two things: relations differ, and wordings differ. Only the first can make IC-LKE vary.

# %% [markdown]
# ## What you have seen
#
# - Whether pairs or sentences find more depends on the format of the pairs and on the words of the sentence.
# - Sentences of one kind differ among each other, and some do not ask for the relation that they are meant for.

# %%
key = ["model", "relation"]
by_template = gains.set_index(key)
of_pairs = dots[dots["estimator"] == paper].set_index(key)["accuracy"]
gap = of_pairs.reindex(by_template.index) - by_template["accuracy"]
found = [gain.estimate for gain in by_template["gain"]]
assert np.allclose(gap, found)
mean = measured.groupby(["model", "kind"], sort=False)["accuracy"].mean()
told = means.set_index(["model", "kind"])["accuracy"]
assert np.allclose(mean, told[mean.index])

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
# the half that was not looked at, `as_chosen` that on the half that chose.

# %%
answers.words(wordings.optimism(ours, seed=seed), digits=3)

# %% [markdown]
# `too_high` is the optimism with half of the facts. It is larger with fewer facts and nearer templates, and about 0
# where one is best by far. IC-LKE needs no such choice, but the choice
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
# from lkecore import answers, facts, prompts
#
# few = {"n_shots": 50, "n_facts": 20, "n_options": 10, "seed": 1}
# sample = facts.draw("atlas", ["capital"], part="choice", least=1, **few)
# capital = sample["capital"]
# words = "Q: What is the capital of [X]? A: [Y]"
# asked = {("mine", "capital"): prompts.template(words, capital.facts, capital.options)}
# print(answers.ask(["smollm2"], asked, "mine.parquet")["correct"].mean())
# ```
#
# With `shots=` the same sentence is shown with examples: see {doc}`the page on separators <14_iclke_separators>`.
# ````
#
# ```{exercise}
# :label: ex-estimators-other
# Do the models of the paper's size behave as the paper says? Ask another model.
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
#       n_facts: 100
# ```
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
