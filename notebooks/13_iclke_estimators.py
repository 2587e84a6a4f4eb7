# %% [markdown]
# # Is it better to show examples than to write a sentence?
#
# **Shown example pairs, {glue:text}`name_shown` finds {glue:text}`lead:.0f` percentage points more of the facts than when it
# completes sentences that a program found in text, but only {glue:text}`bare:.0f` more of the facts without an obvious cue.**
#
# ```{glue:figure} fig-estimators-mean
# :name: fig-estimators-mean
# :alt: A panel for each model, a row for each kind of prompt, with a mark and an interval for all facts and a lower one for facts without a cue.
#
# The marks of facts without a cue are lower, and closer to each other (the paper's Figure 3). Accuracy by kind of prompt,
# mean over relations; lines: 95 % over other relations. Dashed: what the best rule without a model gets of all facts.
# ```
#
# There are two ways to bring a model to name a capital. One writes a sentence, "The capital of France is", and lets the
# model end it. The other writes no sentence: it shows pairs, and then "France" alone. That is IC-LKE. Here both ways answer
# the same questions.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` take 12 relations and four models of 7 to 12 billion parameters (Section 4.1, Figure 3; each
# relation in Figure 12). For each relation they have three sentences that people wrote ({term}`HGP`) and three that a program
# found in text ({term}`MMP`). In our words: IC-LKE finds more facts than sentences of either kind, and over relations and
# sentences its accuracy varies less. Their setting is 400 facts and 100 options for each relation, with 50 pairs. The bars
# have no numbers. EIC-LKE, which is in the figures as well, has {doc}`a page of its own <13_iclke_eic>`.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = []  # empty: all that have templates of the paper
n_shots: int = 50  # pairs shown before the question
n_facts: int = 25  # test facts of each relation
n_options: int = 100  # candidate objects of each, or as many as there are
n_redraws: int = 0  # further draws of pairs
words: bool = False  # ask pairs with a template's words inside as well
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws pairs, facts, options and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, facts, figures, papers, prompts, stats
from lkecore.answers import rules

figures.style()

# %% [markdown]
# ## Facts
#
# Only relations for which the paper prints templates can be asked. For each of them pairs, facts and options are drawn
# once, and all ways of asking share them.

# %%
names = prompts.with_templates(fact_set, relations)
numbers = {"n_shots": n_shots, "n_options": n_options, "n_facts": n_facts}
sample = facts.draw(fact_set, names, **numbers, seed=seed, take_fewer=True)
facts.check_facts(sample, n_facts, take_fewer=True)
print(facts.fewer(sample, **numbers))
facts.overview(sample, n_options=n_options, n_facts=n_facts)

# %% [markdown]
# ## Prompts
#
# The templates are used as the paper prints them (Table 5), with all their faults. A template is asked without any example,
# so nothing but its words tells the model what is wanted. IC-LKE comes in two formats: `iclke-space` is the paper's, with a
# space inside and between pairs; `iclke-colon` has a colon and a new line there, which small models read more easily. Here
# is each way of asking for one fact, with two of the pairs.

# %%
by_pairs = ["iclke-space", "iclke-colon"]
questions = prompts.beside_templates(sample, by_pairs, words=words)
for estimator in [e for e, relation in questions if relation == names[0]]:
    print(f"{estimator:12} {prompts.example(estimator, sample)!r}")

# %% [markdown]
# ## Scores
#
# What this run asks is a small sample that shows the machine at work. The numbers of the page come from a longer run on the
# paper's twelve relations, with 100 facts and 100 options each and three draws of pairs. Its facts are not ours to give
# away, so a fact there has a number in place of a name.

# %%
this = "13_iclke_estimators"
asked = answers.sample(questions, sources, 1)
ours = answers.ask(models, asked, "answers.parquet", dtype=dtype)
ours = ours.assign(draw=0)
if n_redraws:
    by_draw = ["estimator", "relation", "draw"]
    seeds = range(seed + 1, seed + 1 + n_redraws)
    again = prompts.redrawn(sample, by_pairs, seeds, n_facts=n_facts)
    again = answers.sample(again, sources, 1, by=by_draw)
    more = answers.ask(
        models, again, "answers-draws.parquet", by=by_draw, dtype=dtype
    )
    ours = pd.concat([ours, more])
found, main = answers.shown(this, ours, sources, dtype=dtype)
cues, _ = answers.shown(f"{this}-cues", rules.cues(sample), sources)
answers.columns(found)

# %% [markdown]
# Twenty facts of this run with a colon: is the gold object the likeliest, and which five options are?

# %% tags=["hide-output", "page-only"]
some = questions["iclke-colon", names[0]]
answers.words(answers.likeliest(models[0], some, dtype=dtype))

# %% [markdown]
# The paper's Table 5. `asked here as` is the name of the relation in the answers, and `note` says where there are fewer than
# three of a kind, or words that belong to another relation: those of *manufacturer* are about record labels.

# %% covers=["IC-D4", "IC-S3", "IC-T5"] shows=["run", "shipped"] tags=["hide-output"]
label_of = {name: of.relation.paper_relation for name, of in sample.items()}
label_of |= papers.property_names()
asked_here = found["relation"].unique()
answers.words(papers.table_5({r: label_of.get(r, r) for r in asked_here}))

# %% [markdown]
# ## Answers
#
# A *kind* of prompt is one format of pairs with all its draws, or all sentences of one origin. Its answer to a fact is the
# share of its prompts that get the fact right, so that a kind with three sentences counts no more than one with a single one.
# (`words in pairs` are pairs with the words of a sentence inside, in place of the space.)
#
# Some facts can be had without knowing them: the object shares a word with the subject (`cue_word`), or no other option is
# shown more often in the pairs of the first draw (`cue_frequent`). Either is a {term}`cue`. So everything is computed twice, of
# all facts and of those without a cue. `stats.estimate` takes the mean in each relation, then over relations, with a 95 %
# interval over other relations (Student's t).

# %%
SPACE, HUMAN, MINED = "pairs, space", "human sentences", "mined sentences"
WORDS = "words in pairs"
kinds = {"iclke-space": SPACE, "iclke-colon": "pairs, colon"}
kinds |= {"hgp": HUMAN, "mmp": MINED, "iclke-hgp": WORDS, "iclke-mmp": WORDS}
origin = found["estimator"].str.replace(r"-\d$", "", regex=True)
found = found.assign(kind=origin.map(kinds))
cues["cue"] = cues["cue_word"] | cues["cue_frequent"]
on_main = found[found["source"] == main]
main_cues = cues[cues["source"] == main]
whom, fact = ["source", "model"], ["relation", "fact"]
by = [*whom, "kind"]
key = [*by, *fact]


def shares_of(some: pd.DataFrame) -> pd.DataFrame:
    """A row a fact and kind: the share of its prompts that are right."""
    return some.groupby(key, sort=False, as_index=False)["correct"].mean()


cue = cues[["source", *fact, "cue"]]
shares = shares_of(found).merge(cue, how="left", validate="m:1")
assert shares["cue"].notna().all(), "the cues of each fact are known"
# Facts without a cue, in relations that have two or more of them.
bare = rules.enough(shares[~shares["cue"]], by=["source", "relation"])
parts = {"all facts": shares, "without a cue": bare}
parts = pd.concat(parts, names=["facts"]).reset_index("facts")
accuracy = stats.estimate(parts, [*by, "facts"])
print(f"{100 * main_cues['cue'].mean():.0f} % of the facts have a cue")
stats.table(accuracy, by, "facts")

# %% [markdown]
# **The lead**: the accuracy of pairs in the paper's format minus that of sentences, on the same facts. The interval says what
# other relations might give. What to see: each lead is smaller where there is no cue. That of the sentence at the top is
# then one whose interval includes 0.

# %%
leads = {
    minus: stats.compare(parts, "kind", SPACE, minus, by=[*whom, "facts"])
    for minus in (HUMAN, MINED)
}
leads = pd.concat(leads, names=["minus", ""]).reset_index("minus")
leads = leads.set_index([*whom, "minus", "facts"]).sort_index()
shown = on_main["model"].iloc[0]
lead_all = leads.loc[main, shown, MINED, "all facts"]
lead_no_cue = leads.loc[main, shown, MINED, "without a cue"]
leads.apply(stats.said, axis=1).unstack()

# %% [markdown]
# In the next table read a row from left to right: in which relations do sentences find more than pairs? It has the accuracies
# in percent (the paper's Figure 12).

# %% covers=["IC-F12"] shows=["run", "shipped"]
named = shares.replace({"relation": label_of})
percent = 100 * named.pivot_table("correct", "relation", by, sort=False)
answers.words(percent.round(0).reset_index(), digits=0)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-estimators-mean`, at the top, compare the two marks of each row, and then the first two rows: the same pairs
# with a colon and a new line.

# %% covers=["IC-F3"] shows=["run", "shipped"] tags=["hide-input"]
rule = rules.by_relation(main_cues)  # the best one over all relations
rule = rule.set_index("relation")["of_rule"]
accuracy["panel"] = accuracy["model"].map(figures.called)
accuracy["panel"] += "\n" + accuracy["source"].map(figures.called)
grid = figures.marks(
    accuracy,
    x="kind",
    hue="facts",
    panel="panel",
    across=True,
    wrap=2,
    height=2.4,
    aspect=1.6,
)
for ax in grid.axes.flat:
    ax.axvline(rule.mean(), color="black", ls="--")
figures.place(grid.figure, "fig-estimators-mean", accuracy)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None: Figures 3 and 12 print no values. **Claims** are decided in the paper's format by one model, that which beats
# the best rule in the most relations of the first source; where these are at most half, it is at chance. Steadiness at the mean
# is ours. Words in pairs were asked behind the first draw, and are compared on it.

# %%
by_space = on_main.query("kind == @SPACE")
by_space = by_space.pivot_table("correct", "relation", "model")
beaten = by_space.gt(rule, axis=0).sum()
judged = beaten.idxmax()
at_chance = ": at chance" if beaten[judged] <= len(rule) / 2 else ""
print(f"{judged} beats the rule in {beaten[judged]} of {len(rule)}{at_chance}")
mine = on_main[on_main["model"] == judged]

# %% [markdown]
# **Steadiness.** If $a$ are the accuracies of a kind, one for each relation and sentence, or for each relation behind one draw of
# pairs, then `spread` is their standard deviation (divided by $n - 1$). But accuracies near 0 cannot spread far: a sentence
# that finds nothing is steady. So `spread_at_mean` is a share of about the largest spread that the mean allows. Printed is
# the mean over draws; for the interval relations are drawn again, ten thousand times, and the facts in each.
#
# $$\mathrm{spread} = \text{std}(a), \qquad \mathrm{spread\_at\_mean} = \frac{\text{std}(a)}{\sqrt{\bar a\,(1 - \bar a)}}$$

# %%
two = mine[mine["kind"].isin([SPACE, HUMAN])]
cells = ["kind", "estimator", "draw", "relation"]
drawn = stats.bootstrap(two, cells, over=["relation", "fact"], seed=seed)
# Rows are resamples, the first the data; turned round, rows are the cells.
a = drawn.T.groupby(["kind", "draw"])
spread = a.std()
spread_at_mean = spread / (a.mean() * (1 - a.mean())) ** 0.5
spread = spread.groupby("kind").mean().T  # mean over draws
spread_at_mean = spread_at_mean.groupby("kind").mean().T
print("spread", spread.loc[0].round(3).to_dict())
print("spread_at_mean", spread_at_mean.loc[0].round(3).to_dict())

# %%
lead = leads.loc[main, judged].xs("all facts", level="facts")
tested = {"IC-above-human": lead.loc[[HUMAN]]}
tested["IC-above-mined"] = lead.loc[[MINED]]
if len(rule) > 1:  # one relation has no spread
    gap = spread_at_mean[HUMAN] - spread_at_mean[SPACE]
    tested["IC-steadier"] = stats.interval(spread[HUMAN] - spread[SPACE])
    tested["IC-steadier-at-mean"] = stats.interval(gap)
if WORDS in set(mine["kind"]):
    once = shares_of(mine[mine["draw"] == 0])
    tested["IC-separator"] = stats.compare(once, "kind", WORDS, SPACE)
tested = {claim: row.assign(model=judged) for claim, row in tested.items()}
verdicts = answers.verdicts(tested)
verdicts[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% [markdown]
# Where a claim fails or stays open there are three places to look. *The format*: the same pairs find more with a colon. *The
# words*: some templates of Table 5 do not ask for the relation at all, and a mean over three has the bad one in it at full
# weight. *The relations*: templates name the relation, IC-LKE does not.

# %% tags=["hide-input", "page-only"]
each = leads["estimate"].unstack("facts")
means = shares.pivot_table("correct", whom, "kind")
means = means.reindex(columns=["pairs, colon", SPACE])
smaller = each["all facts"] > each["without a cue"]
half = lead_all["estimate"] / 2
holds = {
    "pairs find more than mined sentences": lead_all["low"] > 0,
    "includes 0; more": lead_no_cue["low"] < 0 < lead_no_cue["estimate"],
    "but only so many": lead_no_cue["estimate"] < half,
    "each lead is smaller": smaller.all(),
    "more with a colon": (means["pairs, colon"] > means[SPACE]).all(),
}
figures.sentence(holds)
figures.findings(
    name_shown=figures.called(shown),
    lead=100 * lead_all["estimate"],
    bare=100 * lead_no_cue["estimate"],
)

# %% [markdown]
# ## What you have seen
#
# - Most of what pairs find more than mined sentences has a cue. Pairs show which objects are frequent, a sentence shows none.
# - The format of the pairs matters as much as their use.
# - An accuracy says little before one knows what a rule without a model gets.
#
# The lead once more, in plain pandas:

# %%
one = on_main.query("model == @shown").pivot_table("correct", fact, "kind")
by_hand = (one[SPACE] - one[MINED]).groupby("relation").mean().mean()
assert abs(by_hand - lead_all["estimate"]) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-estimators-best
# Somebody tries the three human sentences of each relation on some facts, keeps the best, and reports its accuracy on these
# facts. How much too high is that? Choose on every other fact, and report on the rest.
# ```

# %% [markdown]
# ````{solution-start} ex-estimators-best
# :class: dropdown
# ````

# %%
human = on_main.query("model == @shown and kind == @HUMAN")
half = human.groupby(["relation", "estimator"]).cumcount() % 2
human = human.assign(half=half.map({0: "chosen on", 1: "other half"}))
means = human.pivot_table("correct", ["relation", "estimator"], "half")
best_sentence = means["chosen on"].groupby("relation").idxmax()
means.loc[best_sentence].mean().round(3)

# %% [markdown]
# The choice may look better than it is, above all where sentences are nearly alike. IC-LKE needs no such choice, but the choice
# between two *formats* of it is one as well.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-estimators-own
# Can you write a better sentence? Try one of your own, on facts that this page does not ask.
# ```
#
# ````{solution} ex-estimators-own
# :class: dropdown
#
# ```python
# few = {"n_shots": 50, "n_facts": 20, "n_options": 100, "seed": 1}
# its = facts.draw("atlas", ["capital"], part="choice", least=1, **few)["capital"]
# words = "Q: What is the capital of [X]? A: [Y]"
# asked = {("mine", "capital"): prompts.template(words, its.facts, its.options)}
# print(answers.ask(["smollm2"], asked, "mine.parquet")["correct"].mean())
# ```
#
# With `shots=` the same sentence is shown with examples: see {doc}`the page on separators <14_iclke_separators>`.
# ````
