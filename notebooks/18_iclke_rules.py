# %% [markdown]
# # How much of it is knowledge?
#
# A model that names the right object need not know the fact. Who reads *Jane Doe* and has to name a parent takes the option
# that ends in *Doe*. Who has seen English fifteen times among fifty languages says English. Such guesses need no model, and
# on some sets of facts they are often right. Here they stand beside the models.
#
# **What came out.** {glue:text}`rule` {glue:text}`left` {glue:text}`copying` {glue:text}`worst`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-rules-left
# :name: fig-rules-left
# :alt: For each set of facts a row of marks with intervals: the best rule, and each model over all facts and over those without a cue.
#
# Accuracy in the paper's format, by set of facts: the best rule without a model, and each model over all facts and over those
# that carry no cue. Means over relations with 95 % intervals over relations.
# ```
#
# Afterwards you will be able to say
#
# - what a rule that knows nothing gets of a set of facts, and in which relations,
# - how much of an accuracy is left where no rule helps,
# - why a format that raises the accuracy need not bring out knowledge.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` take the accuracy among 100 options as the part of the facts that a model knows, and hold it against
# a blind guess, 0.01 (Section 4). In their Table 8 some relations come near 1 on average over the models, from which they
# read that nearly every model knows them.
#
# Whether a guess by the words alone would do as well, the paper does not ask. Of the three others one does.
# LAMA's authors and others after them have asked it of templates: facts whose object stands in the name of the subject are
# taken out of LAMA-UHN {cite:p}`poerner2020ebert`, and the fourth paper of this book starts from what is left.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
shipped: list[str] = ["atlas", "kamel", "kamel_formats", "trex"]
one_model: str = "gemma3-270m"  # whose relations are shown one by one
training: str = "training"  # profile in results/ with rules that see more
n_models: int = 35  # behind a mean of the paper's Table 8
seed: int = 0  # draws resamples

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

from lkecore import answers, figures, papers, runs
from lkecore.answers import cued, rules, thresholds
from lkecore.answers.shipped import read

figures.style()

# %% [markdown]
# ## Facts
#
# Three sets of facts, asked in longer runs of {doc}`10_iclke_relations`: ours, the *atlas*; *KAMEL*, facts from all of Wikidata
# {cite:p}`kalo2022kamel`; and *T-REx*, facts that stand in Wikipedia's articles {cite:p}`elsahar2018trex`. A fact carries a
# {term}`cue` if its object shares a word with the subject, or is the most frequent object among the shots. The table counts
# them. Cues come from the facts and the shots alone, whatever a model answers.

# %%
this = "10_iclke_relations"
every = answers.alone(shipped, this)
cues = rules.beside(None, shipped, this)
cues = cues[cues["source"].isin(every["source"])]
sets = cues.groupby("source", sort=False)
counted = sets["relation"].nunique().to_frame("relations")
counted["facts"] = sets.size()
counted = counted.join(sets[["cue_word", "cue_frequent"]].mean().round(2))
print(counted.to_string())
lacking = rules.lacking(every, cues)
print("cues not known:", ", ".join(lacking) or "of no source")
print(*answers.made_by(shipped, this), sep="\n")

# %% [markdown]
# ## Prompts
#
# A rule has no prompt. It sees the subject, the options and the shown pairs, and gives each option its part of the guesses:
#
# - `rule-overlap`: the option that shares the largest part of its words with the subject. Words are runs of letters and
#   digits, upper and lower case alike. Of *Apple Watch*, *Apple* shares all its words, and *Apple Records* half of them;
# - `rule-frequent`: the option that is shown most often as an object;
# - `rule-both`: the first where a word is shared, else the second;
# - `rule-length`: the shortest option.
#
# Where a rule cannot tell options apart, they get equal parts. So what it gets is an expectation, and no lots are drawn. It
# also hangs on which 99 wrong options are offered, here by lot: {doc}`18_iclke_options` offers the same facts among others.

# %%
what = cues.groupby(["source", "relation"], sort=False)[list(rules.RULES)]
of_rules = what.mean().groupby("source", sort=False).mean()
print(of_rules.round(3).to_string())

# %% [markdown]
# ## Scores
#
# None are made here: the answers of the models are those of the longer runs, and a rule takes milliseconds.

# %% [markdown]
# ## Answers
#
# **Models and the best rule.** `above` is the accuracy minus that of the rule on the same facts, a mean over relations with its
# interval. The rule was chosen on these very facts, which is in its favour. `no cue` are the facts for which neither cue holds.
# There the rule is nearly always wrong, so hold that accuracy against a blind guess. It may be too low a number
# for what a model knows, which may know facts that carry a cue, too; or too high, since a name can tell of a country or of a
# language without sharing a word.

# %%
paper = "iclke-space"
how = ["source", "model", "estimator"]
compared = rules.above(every, cues, how, seed=seed)
runs.keep(answers.bounds(compared, "above"), "above-rules.csv")
shown = rules.wide(compared, how)
answers.words(answers.texts(shown))

# %% [markdown]
# **Are the well known relations those in which a rule does well?** `r` is the correlation over relations of the model's
# accuracy with that of the best rule. In the paper two families of models count as agreeing from 0.6 on
# ({doc}`15_iclke_agreement`). Look whether a rule that knows nothing does so, too.

# %%
r = cued.alike(every, cues, paper, seed=seed)
print(answers.texts(r).to_string(index=False))

# %% [markdown]
# **What else changes without cues?** Two other pages say that models agree on which relations are well known
# ({doc}`15_iclke_agreement`), and that sure answers are more often right ({doc}`18_iclke_confidence`). Here both are asked of all
# facts, and of those without a cue: `r` between the two models, and the `rise` of the accuracy of answers with a
# confidence above 0.5 over that of all.

# %%
both = cued.with_and_without(every, cues)
print(answers.texts(cued.two_models(both, paper, seed=seed)).to_string())
by = ["source", "model", "facts"]
sure = thresholds.at_one(both[both["estimator"] == paper], by, 0.5)
shown_sure = answers.texts(sure[[*by, "above", "all", "right", "rise"]])
print(shown_sure.sort_values(by[:2], kind="stable").to_string(index=False))

# %% [markdown]
# **What does a format teach?** A second format, with clearer borders between pairs, raised every accuracy
# ({doc}`10_iclke_relations`). Did it bring out knowledge, or did it show the model that names repeat? `shared` says whether the
# object shares a word with its subject. `before` is the paper's format, `after` the other one, over relations with ten
# such facts or more. If `gain` is larger where a word is shared, a part of it is copying.

# %%
gained = cued.copying(every, cues, paper, seed=seed)
runs.keep(answers.bounds(gained, "gain"), "gain-by-cue.csv")
answers.words(answers.texts(gained))

# %% [markdown]
# The relations in which this is clearest, each with its two kinds of facts:

# %%
called = papers.property_names()
clear = cued.copied(every, cues, paper).replace({"relation": called})
print(clear.to_string(index=False))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
worst = papers.table("iclke_table8_relations").set_index("relation")
worst = worst["average_accuracy"].to_frame("mean")
worst["least_of_worst"] = cued.least_of_worst(worst["mean"], n_models)
figures.findings(**cued.sentences(shown, gained, worst, paper))
figures.note("carried", "; ".join(answers.made_by(shipped, this)))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-rules-left`, at the top, look first at the rule and then at the models over all facts. Where these overlap, the
# accuracy says nothing of knowledge. Then look how far a model falls when facts with a cue are left out.

# %% tags=["hide-input"]
marks = cued.marks(every, cues, paper)
marks["source"] = marks["source"].str.removeprefix("shipped: ")
fig, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
look = {"x": "source", "hue": "who", "y": "accuracy"}
figures.interval_marks(marks, ax, **look, hue_order=list(marks["who"].unique()))
ax.set(ylim=(0, None), ylabel="accuracy (share of facts)")
ax.legend(loc="upper left", frameon=False, fontsize=8)
figures.place(fig, "fig-rules-left", marks)

# %% [markdown]
# {numref}`fig-rules-relations` has a point for each relation. Far below the diagonal are relations in which the rule is
# better than the model, far above those in which the model finds what no word gives away.
#
# ```{glue:figure} fig-rules-relations
# :name: fig-rules-relations
# :alt: A panel for each set of facts: the accuracy of a model over that of the best rule, a point with intervals for each relation.
#
# Accuracy of one model in the paper's format over that of the best rule, a point for each relation with 95 % intervals over
# facts. Dotted: equal. The relations farthest from the others are named.
# ```

# %% tags=["hide-input"]
points = cued.by_relation(every, cues, one_model, paper, seed=seed)
points = points.replace({"relation": called})
fig = figures.pair_scatters(points)
figures.place(fig, "fig-rules-relations", points)

# %% [markdown]
# ## Paper and ours
#
# **Table 8.** It has the mean accuracy of each relation over models. From a mean alone follows how bad the worst model can be:
# if all others were right on every fact, the worst would have *n* times the mean minus *n* - 1. A mean near 1 leaves it
# little room. Among these models is one of 70 million parameters. So in the first relations of the table even this one
# is right on many facts, by knowledge or by a guess. The facts of T-REx-MC are on a hub ({ref}`hub-sets`) that could
# not be reached from here. Who can reach it learns which without any model, a relation at a time:
# `lke score --facts hub:QinyuanWu/T-Rex-MC --relation capital --estimator rule-both --out out/rule`. Beside the table's means
# stand the best rule and our model in the relation of the same name, on other facts. A star: KAMEL has years there, and the
# paper's set full dates.

# %%
beside = cued.beside_table_8(points, worst)
answers.words(beside.head(12), missing="", digits=2)

# %% [markdown]
# **The other papers' data.** The third paper reports that 0.344 to 0.472 of LAMA's T-REx facts can be extracted from four models
# after training on facts of the same relations. A rule may see these training facts, too. Of all test facts it gets the share
# `frequent` by the most frequent training object of each relation, and `both` where it takes a shared word first, each
# time choosing among *all* objects of the relation. The fourth paper shows four examples in a prompt. If they are drawn
# from the training facts, the object that is asked stands among them with the probability `shown`.

# %%
of_training, about = read(training, "18_iclke_rules")
totals = of_training.drop(columns="relation").sum()
shares = (totals.drop("facts") / totals["facts"]).round(3)
reported = papers.table("xtra_tableB5_iid")
told = reported["metric"] == "knowledge_extraction_accuracy"
print(f"{totals['facts']:,.0f} facts of {len(of_training)} relations")
print(shares.to_string())
print(reported[told].iloc[:, :3].to_string(index=False))
print(f"made by {about['command']}, lkecore at {about['commit']}")

# %% [markdown]
# **Claims.** The claim that a model lies above the best rule is tested on {doc}`10_iclke_relations`, beside the paper's own,
# that it lies above a blind guess. Nothing is judged twice.

# %% [markdown]
# ## What you have seen
#
# - An accuracy is no share of known facts: a rule without a model gets a good part of it, and in the
#   paper's format more than one of the models on one set.
# - Sets of facts differ by what can be guessed. So a gap between them says nothing of knowledge by itself.
# - A format can teach a model to copy. Where the object's name shares nothing with the subject's, it brings less.
# - Something is left: models find facts that carry neither cue, far more often than a blind guess.

# %%
paired = compared[compared["facts"] == "all"]
for row in paired.to_dict("records"):
    gap = row["accuracy"].estimate - row["of_rule"]
    assert abs(gap - row["above"].estimate) < 1e-9
assert (of_rules.max(axis=1) == of_rules["rule-both"]).all()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-rules-length
# Do short names have an advantage? Take the facts without a cue, and divide them by the place of the gold option among its
# options by length.
# ```

# %% [markdown]
# ````{solution-start} ex-rules-length
# :class: dropdown
# ````

# %%
asked = every[every["estimator"] == paper]
by_length = cued.by_length(asked, cues, ["source", "model"])
answers.words(answers.texts(by_length))

# %% [markdown]
# `short` minus `long` is the accuracy among the third with the shortest gold options minus that among the third with the
# longest, within relations. If its interval lies above 0, the sum of log-probabilities, which has a term for each token, may favour
# short names, or short names may be those that are better known. {doc}`18_iclke_length` tells these two apart.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-rules-own
# What does a rule get of *your* facts, before you have asked a model?
# ```
#
# ````{solution} ex-rules-own
# :class: dropdown
#
# ```python
# from lkecore import facts
# from lkecore.answers import rules
#
# drawn = {"n_shots": 50, "n_facts": 100, "n_options": 100, "seed": 0}
# sample = facts.draw("path/to/my/facts", take_fewer=True, **drawn)
# print(rules.by_relation(rules.cues(sample)))
# ```
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance()
