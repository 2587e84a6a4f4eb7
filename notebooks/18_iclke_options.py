# %% [markdown]
# # Does it matter which wrong options there are?
#
# A question with a hundred options has ninety-nine wrong ones. They are usually drawn by lot. Then most are easy to rule out:
# rare where the right one is frequent, long where it is short, a village where it is a state. Here the same facts are asked
# among wrong options that are more like the right one.
#
# **What came out.** {glue:text}`lot` {glue:text}`moved` {glue:text}`ruled` {glue:text}`left`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-options-marks
# :name: fig-options-marks
# :alt: A panel for each set of facts: the accuracy of each model and of the best rule with four choices of wrong options, with intervals.
#
# Accuracy in the paper's format by the choice of the wrong options, on the same facts behind the same pairs, and what the
# best rule without a model gets in that choice: means over relations with 95 % intervals over relations.
# ```
#
# Afterwards you will be able to say
#
# - how far an accuracy hangs on which wrong options are offered,
# - which choice takes away what a rule without a model lives on,
# - what "among a hundred options" leaves open.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` give each fact 99 wrong options: objects of other facts of the relation, each once, none of them
# true of the subject (Section 4). They say no more of the choice, and do not vary it. That it hardly matters is our
# wording of what every accuracy among options takes for granted, and the claim below is called ours.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = [  # with many more objects than options
    "capital",
    "city_of_airport",
    "country_of_city",
    "country_of_language",
    "currency",
    "film_director",
    "native_name",
]
offers: list[str] = ["random", "frequency", "length", "use"]  # see Facts
estimators: list[str] = ["iclke-space"]  # the paper's format first
n_shots: int = 50  # pairs shown before the question
n_facts: int = 25  # test facts of each relation
n_options: int = 50  # candidate objects of each, or as many as there are
n_redraws: int = 0  # further draws of shots
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 4  # of its questions, for each offer, are asked again
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from lkecore import answers, facts, figures, papers, prompts, runs
from lkecore.answers import offers as by_offer
from lkecore.answers import rules
from lkecore.facts import offers as choices

figures.style()

# %% [markdown]
# ## Facts
#
# Shots and asked facts are drawn once. Then each fact gets its wrong options, `n_options` less one (longer runs: 99, where
# there are as many), in several ways:
#
# - `random`: by lot from all objects of the relation, as in the paper;
# - `frequency`: the objects of nearly as many facts as the right one;
# - `length`: names of nearly as many characters;
# - `use`: names that stand in the same places elsewhere in the set of facts. *France* is a country of films, of cities and
#   of companies; so are other countries, and few cities are.
#
# The table has the share of the wrong options that a choice shares with the random one. Where it is near 1, the relation
# has hardly more objects than options, and there was nothing to choose.

# %% covers=["IC-D3"]
choices.check(offers)
drawn = {"n_shots": prompts.pairs_shown(estimators, n_shots)}
drawn |= {"n_facts": n_facts, "n_options": n_options}
sample = facts.draw(fact_set, relations, take_fewer=True, seed=seed, **drawn)
facts.check_facts(sample, 2)
places = choices.uses_of(fact_set)
samples = {
    name: choices.offered(sample, name, uses=places, seed=seed)
    for name in offers
}
print(by_offer.shared(samples).round(2).to_string(index=False))

# %% [markdown]
# The first fact of the first relation, with some of its wrong options in each choice:

# %%
for name, each in samples.items():
    one = next(iter(each.values()))
    others = [text for text in one.options[0] if text != one.facts[0].object]
    print(
        f"{name:10} {one.facts[0].object}, among {', '.join(others[:4])}"[:79]
    )

# %% [markdown]
# ## Prompts
#
# The prompts are the same in every choice; only what is offered behind them differs. So the model reads each subject behind
# the same pairs, and it is the same log-probability that the right object gets.

# %%
questions = by_offer.questions(samples, estimators)
print(f"{sum(map(len, questions.values())):,} questions")

# %% [markdown]
# ## Scores
#
# Where `results` names a longer run of this page, its answers are these, and a sample is asked again. With `n_redraws`, all of
# it is asked behind other shots, too: the same facts among the same options. Answers about other
# facts, which ship and cannot be asked again here, stand beside.

# %%
this = "18_iclke_options"
source = {"results": results, "notebook": this, "n_again": n_again}
source |= {"dtype": dtype, "page": page, "by": by_offer.BY}
ours = answers.ask(models, questions, "answers.parquet", **source)
more = None
if n_redraws:
    seeds = range(seed + 1, seed + 1 + n_redraws)
    redrawn = by_offer.redrawn(samples, estimators, seeds)
    source |= {"by": [*by_offer.BY, "draw"], "n_again": -(-n_again // 3)}
    more = answers.ask(models, redrawn, "answers-draws.parquet", **source)
every = answers.beside(ours, shipped, this, join=False, carried=results)
more = answers.beside_kept(more, shipped, this, apart="draws")
key = ["source", "model", "estimator", "offer"]
every = answers.mean_of_draws(every, more, key)
cues = by_offer.cues(samples, kept=not page)
found = rules.beside(cues, shipped, this)
print(f"{len(ours):,} questions here, {len(every) - len(ours):,} shipped")
draws = every.groupby("source", sort=False)["draws"].max()
print(draws.rename("draws of shots behind each").to_string())
print(*answers.made_by(shipped, this), sep="\n")
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Answers
#
# **The rules first.** What does each rule without a model get ({doc}`18_iclke_rules`)? `rule-frequent` and the cues look at the
# shots, and are those of the first draw. A choice by frequency should leave
# `rule-frequent` little to choose by: see how little it takes from it. One by length leaves `rule-length` next to nothing.

# %%
of_rules = by_offer.of_rules(found)
answers.words(of_rules, digits=2)

# %% [markdown]
# **The models.** `above` is the accuracy minus that of the best rule in this choice, on the same facts, with its interval over
# relations. `rule` says which one is best there. `no_cue` is the share of facts without a {term}`cue`, and `accuracy_no_cue` what the model
# gets of these. A fact counts with its mean over all draws of shots. Where there are several, the intervals have the luck
# of the draw in them.

# %%
compared = by_offer.beside_rules(every, found, key, seed=seed)
whole = compared[compared["facts"] == "all"]
runs.keep(answers.bounds(whole, "above"), "above-rules.csv")
answers.words(answers.texts(rules.wide(compared, key)))

# %% [markdown]
# **Against options by lot**, fact by fact. `over_relations` is the accuracy in this choice minus that with random
# options, with its interval. `only_first` counts facts that are right among random options alone, `only_second` those
# that are right in this choice alone. `p` is McNemar's exact test, corrected by Holm for the choices of a model. Both
# counts and `p` are about the first draw of shots.

# %%
gaps = by_offer.against_random(every, seed=seed)
runs.keep(answers.bounds(gaps, "over_relations"), "gaps.csv")
shown = ["source", "model", "estimator", "second"]
shown += ["over_relations", "only_first", "only_second", "p"]
answers.words(answers.texts(gaps)[shown])

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
paper = estimators[0]
figures.findings(**by_offer.sentences(whole, gaps, paper))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-options-marks`, at the top, see first whether the marks of a model stand at one height. Then look at those of
# the best rule. Where the rule falls more than the model, the choice took away what can be guessed, and what is left says
# more of the model.

# %% tags=["hide-input"]
marks = by_offer.marks(whole, found, paper)
look = {"panel": "source", "x": "offer", "hue": "who", "y": "accuracy"}
fig = figures.interval_panels(marks, **look, label=figures.ACCURACY)
figures.place(fig, "fig-options-marks", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper has no accuracy with other wrong options.
#
# **Claim.** Statistic and least effect stand in `lkecore/data/claims.csv`, written down before the first answer among other
# options than random ones was there. It is tested for each choice by itself: does the accuracy stay within the margin of
# that with options by lot?

# %%
tested = by_offer.for_claims(gaps, offers)
as_paper = [way for way in tested if way.startswith(f"{paper},")]
judged = answers.judge_ways(tested, as_paper=as_paper)
claim = papers.claims("IC").set_index("id").loc["IC-options-alike"]
print(f"holds if {claim['holds_if']}: {claim['statistic']}")
answers.words(judged[["source", "models", "estimator", "ours", "verdict"]])

# %% [markdown]
# Where the claim fails, look at the two counts of the last table. If facts fall in one direction alone, options that are like the
# right one take its place: the model knew what *kind* of thing to name, and not which. If many go either way, the choice
# has its own luck, and an accuracy among options holds for its options alone.

# %% [markdown]
# ## What you have seen
#
# - An accuracy among a hundred options is one for these options. Others, on the very same facts, give another number.
# - How hard wrong options are can be set. A choice that left rules nothing would be a better test of
#   knowledge than one by lot; none of these does.
# - A hundred options that all could be right are still a list: what a model would say without one is another question.

# %%
by_hand = every.groupby([*key, "relation"], sort=False)["correct"].mean()
by_hand = by_hand.groupby(key, sort=False).mean()
for row in whole.to_dict("records"):
    mine = by_hand[tuple(row[name] for name in key)]
    assert abs(row["accuracy"].estimate - mine) < 1e-9
best = of_rules.set_index(["source", "offer"])[list(rules.RULES)].max(axis=1)
for row in whole.to_dict("records"):
    assert abs(row["of_rule"] - best[row["source"], row["offer"]]) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-options-each
# In which relation does the choice matter most?
# ```

# %% [markdown]
# ````{solution-start} ex-options-each
# :class: dropdown
# ````

# %%
mine = every[every["source"] == "this page"]
each = mine.groupby(["model", "relation", "offer"], sort=False)["correct"]
wide = each.mean().unstack("offer")[offers]
wide["most"] = wide.max(axis=1) - wide.min(axis=1)
print(wide.sort_values("most", ascending=False).round(2).to_string())

# %% [markdown]
# Few facts stand behind each number, so the largest difference of a list is partly luck. Look for a relation in which several
# choices lie on one side.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-options-model
# Does a larger model lose less when the wrong options are like the right one?
# ```
#
# ````{solution} ex-options-model
# :class: dropdown
#
# Put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml`.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 18_iclke_options
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
