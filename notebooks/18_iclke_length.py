# %% [markdown]
# # Do short names have an advantage?
#
# The log-probability of a name is a sum with a term for each token. So a long name starts with a handicap, and a model that
# knows a fact may still pick a shorter option. Other scores divide by the length, or take off what a name has whoever is
# asked about. Here the same answers are read by all of them.
#
# **What came out.** {glue:text}`short` {glue:text}`others` {glue:text}`accuracy` {glue:text}`chosen`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-length-gap
# :name: fig-length-gap
# :alt: A panel for each set of facts: by score, the accuracy on facts with a short object minus that on facts with a long one, for each model, with intervals and a dashed line at zero.
#
# In the paper's format, by score: the accuracy where the object is among the shortest third of its options minus that where
# it is among the longest, on facts without a cue. Means over relations with 95 % intervals over relations.
# ```
#
# Afterwards you will be able to say
#
# - how much more often a short object is found than a long one,
# - what dividing by the length does to that, and to the accuracy,
# - why a difference between short and long objects need not be the score's fault.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` want an estimator that works for any topic and any way of cutting text into tokens (Section 2.1). Theirs
# takes the product of the probabilities of an object's tokens, and does not divide by their number (Section 2.2). Whether
# long objects lose by that, the paper does not ask. The claim below is our reading of its first principle.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = [  # names of several lengths; no codes, no years
    "capital",
    "city_of_airport",
    "country_of_city",
    "country_of_language",
    "currency",
    "film_director",
    "native_name",
]
estimators: list[str] = ["iclke-space", "iclke-colon"]  # the paper's first
placeholders: list[str] = ["", "N/A"]  # in the place of the subject
n_shots: int = 50  # pairs shown before the question
n_facts: int = 25  # test facts of each relation
n_options: int = 50  # candidate objects of each, or as many as there are
n_redraws: int = 0  # further draws of shots
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each estimator, are asked again
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import numpy as np

from lkecore import answers, facts, figures, papers, prompts, runs
from lkecore.answers import cued, lengths, rules

figures.style()

# %% [markdown]
# ## Facts
#
# Facts, shots and options are drawn as on {doc}`18_iclke_options`, with `n_options` options by lot
# (longer runs: 100, where there are as many). Below are the lengths of the objects of
# each relation in characters: the shortest, the median and the longest.

# %%
drawn = {"n_shots": prompts.pairs_shown(estimators, n_shots)}
drawn |= {"n_facts": n_facts, "n_options": n_options}
sample = facts.draw(fact_set, relations, take_fewer=True, seed=seed, **drawn)
facts.check_facts(sample, 2)
for name, each in sample.items():
    sizes = [len(text) for text in each.relation.objects]
    three = np.quantile(sizes, [0, 0.5, 1]).astype(int)
    print(
        f"{name:22}{len(each.facts):4} facts", "{:3} {:3} {:3}".format(*three)
    )

# %% [markdown]
# ## Prompts
#
# The paper's format and the one with a colon and new lines. Two of the scores need one more prompt for each relation, in which
# nobody is asked about: the same pairs, and then nothing, or `N/A`, in the place of the subject. It ends like this:

# %%
questions = prompts.of_sample(sample, estimators)
for (estimator, name), some in questions.items():
    if name == next(iter(sample)):
        one = some[0].context, some[0].subject
        for text in placeholders:
            bare = lengths.without_subject(*one, text)
            print(f"{estimator:12} {lengths.name_of(text):22} {bare[-30:]!r}")

# %% [markdown]
# ## Scores
#
# Each question is asked once, and read by each score. With `n_redraws`, it is asked behind other shots, too.
#
# - `sum`: the log-probability of the whole name, the paper's;
# - `per token` and `per character`: the sum, divided by the number of them;
# - `minus without subject`, `minus with N/A`: the sum minus what the name has in the prompt without a subject
#   ({term}`PMI`). A name that is likely whoever is asked about gains nothing by that.

# %% covers=["IC-E2"]
this = "18_iclke_length"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"dtype": dtype, "page": page}
source["reading"] = lengths.reading(placeholders)
ours = answers.ask(models, questions, "answers.parquet", **source)
more = None
if n_redraws:
    seeds = range(seed + 1, seed + 1 + n_redraws)
    redrawn = prompts.redrawn(sample, estimators, seeds)
    source |= {"by": ["estimator", "relation", "draw"]}
    source |= {"n_again": -(-n_again // 3)}
    more = answers.ask(models, redrawn, "answers-draws.parquet", **source)
first = answers.beside(ours, shipped, this, join=False, carried=results)
more = answers.beside_kept(more, shipped, this, apart="draws")
every = answers.mean_of_draws(first, more, lengths.BY)
cues = rules.cues(sample, kept=not page)
found = rules.beside(cues, shipped, this)
print(f"{len(ours):,} answers here, {len(every) - len(ours):,} shipped")
draws = every.groupby("source", sort=False)["draws"].max()
print(draws.rename("draws of shots behind each").to_string())
print(*answers.made_by(shipped, this), sep="\n")
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Answers
#
# **Over all facts.** `gain` is the accuracy of a score minus that of the sum, on the same facts, with its interval over
# relations. `p` is McNemar's exact test on the first draw of shots, corrected by Holm for the scores of a model and format.
# Everywhere else a fact counts with its mean over all draws. Where there are several, the intervals have the luck of the draw in
# them.

# %%
table = lengths.accuracies(every, seed=seed)
runs.keep(answers.bounds(table, "accuracy"), "accuracy-by-score.csv")
answers.words(answers.texts(table), missing="")

# %% [markdown]
# **Short and long objects.** A fact is short if its gold option stands in the first third of its options by characters, long if
# it stands in the last. Facts that carry a {term}`cue` are left out ({doc}`18_iclke_rules`), and relations with fewer than
# five of either; `middle` is what lies between. `short_minus_long` is the mean over relations, with its interval.

# %%
gaps = cued.by_length(every, found, lengths.BY)
runs.keep(answers.bounds(gaps, "short_minus_long"), "short-minus-long.csv")
answers.words(answers.texts(gaps))

# %% [markdown]
# A difference here has two possible reasons. The score may favour short names. Or things with short names are better known:
# they are named more often, and have short names because of it. The next table tells the two apart.
#
# **Which options win that should not?** It takes the wrong answers of all draws alone, and looks at the place of the chosen option
# among all by length, minus one half. Below 0, short options win. What the model knows of the fact has no part in this.

# %%
in_all = answers.all_draws(first, more, lengths.BY)
chosen = lengths.preference(in_all)
runs.keep(answers.bounds(chosen, "by_characters"), "chosen-places.csv")
answers.words(answers.texts(chosen))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
paper = estimators[0]
figures.findings(**lengths.sentences(table, gaps, chosen, paper))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-length-gap`, at the top, a mark above the line says that short objects are found more often. Compare the scores
# of one model: a score that turns the difference round favours long names.

# %% tags=["hide-input"]
look = {"panel": "source", "x": "score", "hue": "model", "y": "estimate"}
points = lengths.panels(gaps, "short_minus_long", paper)
label = "short minus long (share of facts)"
fig = figures.interval_panels(points, **look, label=label, line=0)
figures.place(fig, "fig-length-gap", points)

# %% [markdown]
# {numref}`fig-length-chosen` shows what wins where the answer is wrong. Marks at the line have no preference. A score may
# lie at the line and still be the worse one: look back at the accuracies.
#
# ```{glue:figure} fig-length-chosen
# :name: fig-length-chosen
# :alt: A panel for each set of facts: by score, the mean place by length of wrongly chosen options minus one half, for each model, with intervals and a dashed line at zero.
#
# In the paper's format, by score: the place of a wrongly chosen option among its options by characters, from -0.5 (the
# shortest) to 0.5 (the longest). Means over relations with 95 % intervals over relations.
# ```

# %% tags=["hide-input"]
points = lengths.panels(chosen, "by_characters", paper)
label = "place of a wrong choice, minus 0.5"
fig = figures.interval_panels(points, **look, label=label, line=0)
figures.place(fig, "fig-length-chosen", points)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper has no accuracy by length, and none by another score.
#
# **Claim.** Statistic and least effect stand in `lkecore/data/claims.csv`. A look at the sum had been taken before it was written
# down, at none of the other scores. The paper's own way is the sum in its format; all others stand beside it.

# %%
ways = gaps.assign(way=gaps["estimator"] + ", " + gaps["score"])
tested = {
    way: {"IC-length-fair": answers.tested(part, "short_minus_long")}
    for way, part in ways.groupby("way", sort=False)
}
judged = answers.judge_ways(tested, as_paper=[f"{paper}, {lengths.SUM}"])
claim = papers.claims("IC").set_index("id").loc["IC-length-fair"]
print(f"holds if {claim['holds_if']}: {claim['statistic']}")
answers.words(judged[["source", "models", "estimator", "ours", "verdict"]])

# %% [markdown]
# Where the claim fails for the sum and short options win among the wrong answers, too, the score has its part in it. Where it
# fails and wrong answers show no preference, short objects are better known.

# %% [markdown]
# ## What you have seen
#
# - One reading of a model gives several accuracies, and the score decides which.
# - To divide by the length is no cure by itself: it may hand the advantage to long names.
# - Whether short objects are favoured or better known can be told apart: look at the wrong answers.

# %%
right = every.groupby([*lengths.BY, "relation"])["correct"].mean()
by_hand = right.groupby(lengths.BY).mean()
for row in table.to_dict("records"):
    key = tuple(row[name] for name in lengths.BY)
    assert abs(row["accuracy"].estimate - by_hand[key]) < 1e-9
assert every[["gold_place", "chosen_place"]].stack().between(0, 1).all()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-length-tokens
# Characters are ours, tokens are the model's. In which relations do the two orders of the options differ most?
# ```

# %% [markdown]
# ````{solution-start} ex-length-tokens
# :class: dropdown
# ````

# %%
both = ours[ours["score"] == lengths.SUM]
each = both.groupby(["model", "relation"], sort=False)
r = each[["gold_place", "gold_tokens"]].corr(method="spearman")
r = r["gold_tokens"].xs("gold_place", level=-1).rename("rank correlation")
print(r.sort_values().round(2).to_string())

# %% [markdown]
# Where it is low, a short name may have many tokens: it is rare, or of another language. The sum counts tokens, so there it
# punishes what is rare rather than what is long.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-length-model
# Does the advantage shrink with the size of the model? Ask a larger one.
# ```
#
# ````{solution} ex-length-model
# :class: dropdown
#
# Put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml`.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 18_iclke_length
#     each: [models]
#     parameters:
#       models: [smollm2, /path/to/a/larger/model]
#       n_facts: 100
# ```
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
