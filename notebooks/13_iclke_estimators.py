# %% [markdown]
# # Is it better to show examples than to write a sentence?
#
# **On facts without an obvious cue, pairs in the paper's format have no clear lead over sentences for any of the models: differences are
# {glue:text}`least:.0f` to {glue:text}`most:.0f` percentage points, and each interval includes 0.**
#
# ```{glue:figure} fig-estimators-mean
# :name: fig-estimators-mean
# :alt: A panel for each model, a row for each kind of prompt, with a mark and an interval for all facts and a lower one for facts without a cue.
#
# The marks of facts without a cue are lower, and there the first row has no clear lead over the two rows of sentences (the paper's Figure 3).
# Accuracy by kind of prompt, mean over relations; lines: 95 % over other relations. Dashed: the best rule without a model, on all facts.
# ```
#
# There are two ways to make a model name a capital. One writes a sentence, "The capital of France is", and the
# model ends it. The other writes no sentence: it shows pairs, and then "France" alone. This second way is IC-LKE. Here both ways get
# the same questions. Of all facts, pairs find {glue:text}`lead_least:.0f` to {glue:text}`lead_most:.0f` percentage points more, and the interval excludes 0
# in {glue:text}`clear` comparisons. With colons and new lines, pairs find more than with spaces in every model, with and without a cue.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` take 12 relations and four models of 7 to 12 billion parameters (Section 4.1, Figure 3; each
# relation in Figure 12). For each relation they have three sentences that people wrote ({term}`HGP`) and three that a program
# found in text ({term}`MMP`). In our words: IC-LKE finds more facts than sentences of either kind, and its accuracy varies less over
# relations and sentences. Their setting is 400 facts and 100 options for each relation, with 50 pairs. The bars
# have no numbers. EIC-LKE, which is also in the figures, is on {page}`13_iclke_eic`.

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
words: bool = False  # also use pairs with a template's words inside
sources: list[str] = []  # in results/, for the numbers; none: this run
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
# Only relations with templates in the paper can be tested. For each of them pairs, facts and options are drawn
# once, and all prompts share them.

# %%
names = prompts.with_templates(fact_set, relations)
numbers = {"n_shots": n_shots, "n_options": n_options, "n_facts": n_facts}
sample = facts.draw(fact_set, names, **numbers, seed=seed, allow_fewer=True)
facts.check_facts(sample, n_facts, allow_fewer=True)
print(facts.fewer(sample, **numbers))
facts.overview(sample, n_options=n_options, n_facts=n_facts)

# %% [markdown]
# ## Prompts
#
# We use the templates as the paper prints them (Table 5), with all their faults. A template comes without any pair,
# so only its words say what is wanted. IC-LKE comes in two formats: `iclke-space` is the paper's, with a
# space inside and between pairs; `iclke-colon` has a colon and a new line there, which small models read more easily. Here
# is each prompt for one fact, with two of the pairs.

# %%
by_pairs = ["iclke-space", "iclke-colon"]
questions = prompts.beside_templates(sample, by_pairs, words=words)
for estimator in [e for e, relation in questions if relation == names[0]]:
    print(f"{estimator:12} {prompts.example(estimator, sample)!r}")

# %% [markdown]
# ## Scores
#
# This run repeats a small sample of the questions. The numbers of the page come from a longer run on the
# paper's twelve relations, with 100 facts and 100 options each and three draws of pairs. Its facts are not ours to give
# away, so a fact there has a number instead of a name.

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
answers.html_table(answers.likeliest(models[0], some, dtype=dtype))

# %% [markdown]
# The paper's Table 5. `asked here as` is the name of the relation in the answers. `note` says if there are fewer than
# three of a kind, or if the words belong to another relation: those of *manufacturer* are about record labels.

# %% covers=["IC-D4", "IC-S3", "IC-T5"] shows=["run", "shipped"] tags=["hide-output"]
label_of = {name: of.relation.paper_relation for name, of in sample.items()}
label_of |= papers.property_names()
asked_here = found["relation"].unique()
answers.html_table(papers.table_5({r: label_of.get(r, r) for r in asked_here}))

# %% [markdown]
# ## Answers
#
# A *kind* of prompt is one format of pairs with all its draws, or all sentences of one origin. Its answer to a fact is the
# share of its prompts that get the fact right, so a kind with three sentences counts no more than one with a single sentence.
# (`words in pairs` are pairs with the words of a sentence inside, instead of the space.)
#
# Some facts can be guessed without knowledge: the object shares a word with the subject (`cue_word`), or the pairs of the first draw
# show no other option more often (`cue_frequent`). Either is a {term}`cue`. So we compute everything twice, for
# all facts and for those without a cue. `stats.estimate` takes the mean in each relation, then over relations, with a 95 %
# interval over other relations (Student's t).

# %%
SPACE, COLON = "pairs, spaces", "pairs, colons"
HUMAN, MINED = "human sentences", "mined sentences"
WORDS = "words in pairs"
kinds = {"iclke-space": SPACE, "iclke-colon": COLON}
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
stats.table(accuracy, by, "facts").rename(figures.display_name)

# %% [markdown]
# **The lead**: the accuracy of pairs in the paper's format minus that of sentences, on the same facts. The interval says how
# much it would vary with other relations. Each lead is smaller on facts without a cue, and there each interval includes 0.

# %%
leads = {
    minus: stats.compare(parts, "kind", SPACE, minus, by=[*whom, "facts"])
    for minus in (HUMAN, MINED)
}
leads = pd.concat(leads, names=["minus", ""]).reset_index("minus")
leads = leads.set_index([*whom, "minus", "facts"]).sort_index()
shown = on_main["model"].iloc[0]
lead_all = leads.loc[main, shown, MINED, "all facts"]
leads.apply(stats.format_estimate, axis=1).unstack().rename(
    figures.display_name
)

# %% [markdown]
# Read a row of the next table from left to right: in which relations do sentences find more than pairs? The accuracies
# are in percent (the paper's Figure 12).

# %% covers=["IC-F12"] shows=["run", "shipped"]
named = shares.replace({"relation": label_of})
percent = 100 * named.pivot_table("correct", "relation", by, sort=False)
percent = percent.round(0).reset_index().rename(columns=figures.display_name)
answers.html_table(percent, digits=0)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-estimators-mean`, at the top, compare the two marks of each row, and then the first two rows: the same pairs
# with a colon and a new line.

# %% covers=["IC-F3"] shows=["run", "shipped"] tags=["hide-input"]
rule = rules.by_relation(main_cues)  # the best one over all relations
rule = rule.set_index("relation")["of_rule"]
accuracy["panel"] = accuracy["model"].map(figures.display_name)
accuracy["panel"] += "\n" + accuracy["source"].map(figures.display_name)
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
figures.glue_figure(grid.figure, "fig-estimators-mean", accuracy)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None: Figures 3 and 12 print no values. **Claims** are decided in the paper's format by one model, the one that beats
# the best rule in the most relations of the first source; if it beats the rule in at most half of them, it is at chance. Steadiness at the mean
# is ours. Words in pairs come only after the pairs of the first draw, and are compared on it.

# %%
by_space = on_main.query("kind == @SPACE")
by_space = by_space.pivot_table("correct", "relation", "model")
beaten = by_space.gt(rule, axis=0).sum()
judged = beaten.idxmax()
at_chance = ": at chance" if beaten[judged] <= len(rule) / 2 else ""
name = figures.display_name(judged)
print(f"{name} beats the rule in {beaten[judged]} of {len(rule)}{at_chance}")
mine = on_main[on_main["model"] == judged]

# %% [markdown]
# **Steadiness.** Let $a$ be the accuracies of a kind, one for each relation and sentence, or for each relation after one draw of
# pairs. Then `spread` is their standard deviation (divided by $n - 1$). But accuracies near 0 cannot spread far: a sentence
# that finds nothing is steady. So `spread_at_mean` is roughly the share of the largest spread that the mean allows. The numbers are
# means over draws; for the interval relations are drawn again, ten thousand times, and the facts in each.
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
verdicts["model"] = verdicts["model"].map(figures.display_name)
verdicts[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% [markdown]
# If a claim fails or is undecided, there are three places to look. *The format*: the same pairs find more with colons. *The
# words*: some templates of Table 5 do not name the relation at all, and the mean over three counts the bad one fully.
# *The relations*: templates name the relation, IC-LKE does not.

# %% tags=["hide-input", "page-only"]
each = leads["estimate"].unstack("facts")
of_all = leads.xs("all facts", level="facts")
no_cue = leads.xs("without a cue", level="facts")
means = accuracy.pivot(
    index=[*whom, "facts"], columns="kind", values="estimate"
).reindex(columns=[COLON, SPACE])
holds = {
    "no clear lead for any model": (no_cue["low"] < 0).all(),
    "each interval includes 0": (no_cue["high"] > 0).all(),
    "of all facts, more": (of_all["estimate"] > 0).all(),
    "each lead is smaller": (each["all facts"] > each["without a cue"]).all(),
    "more with colons": (means[COLON] > means[SPACE]).all(),
}
figures.sentence(holds)
figures.glue_values(
    least=100 * no_cue["estimate"].min(),
    most=100 * no_cue["estimate"].max(),
    lead_least=100 * of_all["estimate"].min(),
    lead_most=100 * of_all["estimate"].max(),
    clear=f"{(of_all['low'] > 0).sum()} of {len(of_all)}",
)

# %% [markdown]
# ## What you have seen
#
# - Pairs lead over sentences mostly on facts with a cue. Pairs show which objects are frequent; a sentence shows none.
# - The format of the pairs matters as much as the choice between pairs and sentences.
# - An accuracy says little before one knows the accuracy of the best rule without a model.
#
# The lead of the first model over mined sentences once more, in plain pandas:

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
# facts. By how much is that too high? Choose on every other fact, and report on the rest.
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
# The choice may look better than it is, above all if the sentences are nearly alike. IC-LKE needs no such choice, but the choice
# between two *formats* of it is one as well.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-estimators-own
# Can you write a better sentence? Try one of your own, on facts that this page does not use.
# ```
#
# ````{solution} ex-estimators-own
# :class: dropdown
#
# ```python
# few = {"n_shots": 50, "n_facts": 20, "n_options": 100, "seed": 1}
# its = facts.draw("atlas", ["capital"], part="choice", min_relations=1, **few)["capital"]
# words = "Q: What is the capital of [X]? A: [Y]"
# asked = {("mine", "capital"): prompts.template(words, its.facts, its.options)}
# print(answers.ask(["smollm2"], asked, "mine.parquet")["correct"].mean())
# ```
#
# With `shots=` the same sentence appears with pairs: see {page}`14_iclke_separators`.
# ````
