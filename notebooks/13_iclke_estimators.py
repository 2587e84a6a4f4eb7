# %% [markdown]
# # Is it better to show examples than to write a sentence?
#
# **{glue:text}`name_shown` finds {glue:text}`lead` percentage points more of the facts from pairs of examples than from sentences
# that a program found in text, but only {glue:text}`bare` more of those facts that nothing in the prompt gives away.**
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
#
# ```{glue:} carried
# ```

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
results: str = ""  # source in results/ of this run's answers; empty: it asks
n_again: int = 4  # of its questions, for each estimator, are asked again
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws pairs, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, papers, prompts, runs, stats
from lkecore.answers import rules

figures.style()

# %% [markdown]
# ## Facts
#
# Only relations for which the paper prints templates can be asked. For each of them pairs, facts and options are drawn
# once, and all ways of asking share them.

# %%
names = prompts.with_templates(fact_set, relations)
size = {"n_shots": n_shots, "n_options": n_options, "n_facts": n_facts}
sample = facts.draw(fact_set, names, **size, seed=seed, take_fewer=True)
facts.check_facts(sample, n_facts)
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
how = {"results": results, "notebook": this, "n_again": n_again}
how |= {"dtype": dtype, "page": page}
asked = [answers.ask(models, questions, "answers.parquet", **how)]
if n_redraws:
    seeds = range(seed + 1, seed + 1 + n_redraws)
    again = prompts.redrawn(sample, by_pairs, seeds, n_facts=n_facts)
    how["by"] = "estimator", "relation", "draw"
    asked.append(answers.ask(models, again, "answers-draws.parquet", **how))
ours = pd.concat([f if "draw" in f else f.assign(draw=0) for f in asked])
cues = rules.cues(sample, kept=not page)
found, cues = (frame.assign(source="this run") for frame in (ours, cues))
if sources:
    found = answers.results(this).query("source in @sources")
    found = found.fillna({"draw": 0})  # a source with one draw does not say it
    cues = answers.results(f"{this}-cues").query("source in @sources")
main = sources[0] if sources else "this run"  # others are shown, and no more
answers.columns(found)

# %% [markdown]
# Twenty facts that this run asked with a colon: is the gold object the likeliest, and which five options are?

# %% tags=["hide-output", "page-only"]
some = questions["iclke-colon", names[0]]
None if page else answers.words(answers.likeliest(models[0], some, dtype=dtype))

# %% [markdown]
# The paper's Table 5. `asked here as` is the name of the relation in the answers, and `note` says where there are fewer than
# three of a kind, or words that belong to another relation: those of *manufacturer* are about record labels.

# %% covers=["IC-D4", "IC-S3", "IC-T5"] shows=["run", "shipped"] tags=["hide-output"]
called = {name: each.relation.paper_relation for name, each in sample.items()}
called |= papers.property_names()
answers.words(
    papers.table_5({r: called[r] for r in found["relation"].unique()})
)

# %% [markdown]
# ## Answers
#
# A *kind* of prompt is one format of pairs with all its draws, or all sentences of one origin. Its answer to a fact is the
# share of its prompts that get the fact right, so that a kind with three sentences counts no more than one with a single one.
# (`words in pairs` are pairs with the words of a sentence inside, in place of the space.)
#
# Some facts can be had without knowing them: the object shares a word with the subject (`cue_word`), or no other option is
# shown more often in the pairs (`cue_frequent`). Both are a {term}`cue`. So everything is computed twice, of all facts and of
# those without a cue, in relations that have two or more of these.

# %%
SPACE, HUMAN, MINED = "pairs, space", "human sentences", "mined sentences"
WORDS = "words in pairs"
kinds = {"iclke-space": SPACE, "iclke-colon": "pairs, colon"}
kinds |= {"hgp": HUMAN, "mmp": MINED, "iclke-hgp": WORDS, "iclke-mmp": WORDS}
origin = found["estimator"].str.replace(r"-\d$", "", regex=True)
found = found.assign(kind=origin.map(kinds))
cues["cue"] = cues["cue_word"] | cues["cue_frequent"]
fact, by = ["source", "relation", "fact"], ["model", "kind"]


def shares_of(some: pd.DataFrame) -> pd.DataFrame:
    """A row a fact and kind: the share of its prompts that are right."""
    each = some.groupby([*by, *fact], sort=False)["correct"].mean()
    return each.reset_index().merge(cues[[*fact, "cue"]], "left", fact)


shares = shares_of(found)
bare = rules.enough(shares[~shares["cue"]], by=["source", "relation"])
parts = {"all facts": shares, "without a cue": bare}
accuracy = {name: stats.estimate(part, by) for name, part in parts.items()}
accuracy = pd.concat(accuracy, names=["facts", ""]).reset_index("facts")
said = accuracy.assign(accuracy=accuracy.apply(stats.said, axis=1))
of_main = cues[cues["source"] == main]
print(f"{of_main['cue'].mean():.0%} of the facts have a cue")
said.pivot(index=by, columns="facts", values="accuracy")

# %% [markdown]
# **The lead**: the accuracy of pairs in the paper's format minus that of sentences, on the same facts. The interval says what
# other relations might give (Student's t). What to see: each lead is smaller where there is no cue.

# %%
leads = {
    (name, second): stats.compare(part, "kind", SPACE, second, by=["model"])
    for name, part in parts.items()
    for second in (HUMAN, MINED)
}
leads = pd.concat(leads, names=["facts", "minus", ""]).reset_index()
leads = leads.set_index(["model", "minus", "facts"])
shown = found.loc[found["source"] == main, "model"].iloc[0]
first, left = (leads.loc[shown, MINED, name] for name in parts)
leads.apply(stats.said, axis=1).unstack()

# %% [markdown]
# In the next table read a row from left to right: in which relations do sentences find more than pairs? It has the accuracies
# in percent (the paper's Figure 12).

# %% covers=["IC-F12"] shows=["run", "shipped"]
of = shares.assign(relation=shares["relation"].map(called))
of = 100 * of.pivot_table("correct", "relation", by, sort=False)
answers.words(of.round(0).reset_index(), digits=0)

# %% [markdown]
# **Steadiness.** If $a$ are the accuracies of a kind, one for each relation and sentence, or for each relation behind one draw of
# pairs, then $s$ is their spread. But accuracies near 0 cannot spread far: a sentence that finds nothing is steady. So $t$
# is the spread as a share of the largest that the mean allows.
#
# $$s(a) = \text{std}(a), \qquad t(a) = \frac{\text{std}(a)}{\sqrt{\bar a\,(1 - \bar a)}}$$


# %%
def s(a: pd.DataFrame) -> pd.Series:
    return a.std(axis=1)


def t(a: pd.DataFrame) -> pd.Series:
    return s(a) / np.sqrt(a.mean(axis=1) * (1 - a.mean(axis=1)))


def steadier(drawn: pd.DataFrame, spread) -> pd.DataFrame:
    """The spread of human sentences minus that of pairs, mean over draws."""
    draws = [spread(part.T) for _, part in drawn[SPACE].T.groupby("draw")]
    return stats.interval(spread(drawn[HUMAN]) - sum(draws) / len(draws))


# %% [markdown]
# ## Figure
#
# In {numref}`fig-estimators-mean`, at the top, compare the two marks of each row, and then the first two rows: the same pairs
# with a colon and a new line.

# %% covers=["IC-F3"] shows=["run", "shipped"] tags=["hide-input"]
rule = of_main.groupby("relation")[list(rules.RULES)].mean().mean()
marked = accuracy.assign(panel=accuracy["model"].map(figures.called))
look = {"panel": "panel", "across": True, "aspect": 1.4}
grid = figures.marks(marked, x="kind", hue="facts", **look)
for ax in grid.axes.flat:
    ax.axvline(rule.max(), color="black", ls="--")
figures.place(grid.figure, "fig-estimators-mean", marked)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None: Figures 3 and 12 print no values. **Claims** are decided in the paper's format by one model, that which beats
# the best rule in the most relations; where these are at most half, it is at chance. The two last claims are on steadiness at
# the mean, which is ours, and on the words in pairs; these were asked behind the first draw, and are compared on it.

# %%
by_space = found[(found["kind"] == SPACE) & (found["source"] == main)]
by_space = by_space.pivot_table("correct", "relation", "model")
yard = of_main.groupby("relation")[rule.idxmax()].mean()
beaten = by_space.gt(yard, axis=0).sum()
judged = beaten.idxmax()
print(f"{judged} beats the rule in {beaten[judged]} of {len(yard)} relations")
mine = found[found["model"] == judged]
cells, over = ["kind", "estimator", "draw", "relation"], ["relation", "fact"]
drawn = mine[mine["kind"].isin([SPACE, HUMAN])]
drawn = stats.bootstrap(drawn, cells, over=over, seed=seed)
lead = leads.loc[judged].xs("all facts", level="facts").assign(model=judged)
tested = {
    "IC-above-human": lead.loc[HUMAN],
    "IC-above-mined": lead.loc[MINED],
    "IC-steadier": steadier(drawn, s).assign(model=judged),
    "IC-steadier-at-mean": steadier(drawn, t).assign(model=judged),
}
if WORDS in set(mine["kind"]):
    once = shares_of(mine[mine["draw"] == 0])
    gap = stats.compare(once, "kind", WORDS, SPACE, by=["model"])
    tested["IC-separator"] = gap
verdicts = answers.verdicts(tested)
verdicts[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% [markdown]
# Where a claim fails or stays open there are three places to look. *The format*: the same pairs find more with a colon. *The
# words*: some templates of Table 5 do not ask for the relation at all, and a mean over three has the bad one in it at full
# weight. *The relations*: templates name the relation, IC-LKE does not.

# %% tags=["hide-input", "page-only"]
assert first["low"] > 0, "pairs find more than mined sentences"
assert left["estimate"] < first["estimate"] / 2, "but only so many more"
both = leads["estimate"].unstack("facts")
assert (both["all facts"] > both["without a cue"]).all(), "each lead is smaller"
means = shares.pivot_table("correct", "model", "kind")
more = means["pairs, colon"] > means[SPACE]
assert more.all(), "the same pairs find more with a colon"
figures.findings(
    name_shown=figures.called(shown),
    lead=f"{100 * first['estimate']:.0f}",
    bare=f"{100 * left['estimate']:.0f}",
)
figures.note("carried", answers.carried(*asked))

# %% [markdown]
# ## What you have seen
#
# - Most of what pairs find more than mined sentences has a cue. Pairs show which objects are frequent, a sentence shows none.
# - The format of the pairs matters as much as their use.
# - An accuracy says little before one knows what a rule without a model gets.
#
# The lead once more, in plain pandas:

# %%
one = found[found["model"] == shown].pivot_table("correct", fact, "kind")
by_hand = (one[SPACE] - one[MINED]).groupby("relation").mean().mean()
assert abs(by_hand - first["estimate"]) < 1e-9

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
human = found[found["model"].eq(shown) & found["kind"].eq(HUMAN)]
half = human.groupby(["relation", "estimator"]).cumcount() % 2
means = human.groupby(["relation", "estimator", half])["correct"].mean()
means = means.unstack()
best = means.loc[means[0].groupby("relation").idxmax()].mean()
print(f"chosen on {best[0]:.3f}, on the other half {best[1]:.3f}")

# %% [markdown]
# The choice looks better than it is most where sentences are nearly alike. IC-LKE needs no such choice, but the choice between
# two *formats* of it is one as well.
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

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
