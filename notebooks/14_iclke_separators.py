# %% [markdown]
# # Does it matter what stands between the words?
#
# Who writes a prompt has to put something between subject and object, and between one pair and the next: a space, a
# colon, a new line. Here the same facts are asked again and again, with other signs.
#
# **What came out.** {glue:text}`words` {glue:text}`spread` {glue:text}`place` {glue:text}`read`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-separators-size
# :name: fig-separators-size
# :alt: Two panels over the models: marks of the spread over formats with grey bars of luck, and marks of the gain of each sign against the space with a band around zero.
#
# By model; "on" and a name: a longer run on several real relations. Left: the accuracy in the best format minus that in
# the worst (errs high). Grey: below it lie 95 % of the spreads if formats are alike, for the group where it is larger.
# Right: the accuracy with a sign inside the pair minus that with the space, mean over the signs between pairs. Lines: 95 %
# intervals, of longer runs over relations. The band is the margin of the claim.
# ```
#
# Afterwards you will be able to say
#
# - whether words that name the relation do better than a single space,
# - how far the accuracy moves from format to format, and how much of that is luck,
# - which of the two separators matters more, and whether a model reads a format better if its text had it.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` put one space inside a pair and one space between pairs. Then they take one relation, the
# *original broadcaster* of a programme, and put words in the place of the space inside each of the 50 pairs: three
# templates that people wrote ({term}`HGP`) and three that were mined from text ({term}`MMP`). The space does as well as
# the words (Section 4.1, Figure 4).
#
# It has no numbers and names no model. This page changes both {term}`separators <separator>`. It asks several real
# relations, and models whose text we know.

# %% [markdown]
# ## Parameters
#
# Models of the lab are asked about the world that they have read, all others about `fact_set`. Those of the lab get fewer
# shots: they have read rows of 384 tokens.

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/2m", "smollm2"]
families: list[list[str]] = []  # small to large: from which size on?
fact_set: str = "atlas"  # for models that are not of the lab
relations: list[str] = ["official_language"]  # need the paper's templates
n_shots: int = 50  # pairs shown before the question
n_facts: int = 25  # test facts of each relation
n_options: int = 10  # objects to choose from, or as many as there are
n_redraws: int = 0  # further draws of shots, for real facts
pair_separators: list[str] = [" ", ": ", " -> "]  # inside a pair
shot_separators: list[str] = [" ", "\n", "; "]  # between pairs
lab_relations: list[str] = [
    "author", "birth_year", "first_language", "residence",
]  # fmt: skip
n_lab_shots: int = 12  # so that all formats fit into 384 tokens
n_lab_facts: int = 16  # drawn from all that can be asked; see Facts
lab_pair_separators: list[str] = [" ", ": ", " = ", " -> ", ", "]
lab_shot_separators: list[str] = [" ", "\n", ", ", "; "]
results: str = ""  # profile in results/ that carries this page; empty: none
shipped: list[str] = []  # profiles of other real facts, to set beside
n_again: int = 4  # of its questions, for each format, are asked again
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, figures, intervals, papers, runs
from lkecore.answers import (
    formats,
    formats_over,
    formats_said,
    rules,
    separators,
)

figures.style()

# %% [markdown]
# ## Facts
#
# A fact that was never told is answered by chance in every format. So of a world of the lab there are two groups, and a
# fact can be in both: *told in lists*, facts that the text told in lists alone, 16 times and more; and *drawn*, a random
# draw from all facts that can be asked, as for a real model.

# %%
about = separators.fact_sets(models, fact_set)
chains = separators.chains(families, about, page=page)
samples, groups = separators.draw_all(
    about,
    outside=(relations, n_shots, n_facts),
    in_lab=(lab_relations, n_lab_shots, n_lab_facts),
    n_options=n_options,
    seed=seed,
)
print(groups.groupby(["fact_set", "group"], sort=False).size().to_string())

# %% [markdown]
# ## Prompts
#
# **Formats.** Every sign inside a pair is crossed with every sign between pairs. The first of each is the paper's space. A
# {term}`lab model` has read lists in two formats: a space in both places, or a colon inside and a line for each pair.
#
# **Words.** Instead of a sign, a whole template stands in each pair, with a space between pairs: for real facts those
# that the paper prints for the relation, up to six, in the lab six of its own, two of which do not stand in its text. Each is
# asked again *without* any shot, to see what the words do alone.

# %%
signs = separators.signs_of(
    samples,
    outside=(pair_separators, shot_separators),
    in_lab=(lab_pair_separators, lab_shot_separators),
)
questions = separators.questions(samples, signs)
print(separators.examples(questions).to_string(index=False))

# %% [markdown]
# ## Scores
#
# Relations, signs and templates were set before any accuracy was seen. The number of options was set for the lab by a
# look at the development world, `lab:book-0`, and for the real model by what it costs.

# %%
how = {"dtype": dtype, "page": page}
lengths = separators.lengths(models, questions, "lengths.parquet", **how)
this = "14_iclke_separators"
source = how | {"results": results, "notebook": this, "n_again": n_again}
source["by"] = separators.BY
source["only"] = {model: [name] for model, name in about.items()}
source["only_by"] = "fact_set"
ours = answers.ask(models, questions, "answers.parquet", **source)
seeds = range(seed + 1, seed + 1 + n_redraws)
redrawn = separators.redrawn(samples, signs, seeds)
draws = ours.iloc[:0].assign(draw=seed)  # none of a world of the lab
if redrawn:
    source["by"] = *separators.BY, "draw"
    real = [m for m, name in about.items() if name == fact_set]
    draws = answers.ask(real, redrawn, "answers-draws.parquet", **source)
elif n_redraws:
    answers.keep(draws, "answers-draws.parquet")
figures.note("carried", answers.carried(ours))
print(f"{len(ours):,} questions; tokens of the first fact's context:")
print(lengths.to_string(index=False))
print(*answers.made_by(shipped, this), sep="\n")

# %% [markdown]
# ## Answers
#
# For models of the lab the verdicts are about facts told in lists. Longer runs, beside, have intervals over relations.
#
# **Words.** `gain` is the accuracy with a template in each pair minus that with the space on the same facts. Where no fact at
# all changes sides, its interval has the largest share of facts that may still do so (Wilson). `p` is McNemar's exact
# test of the first draw of shots, corrected by Holm. Everywhere else a fact counts with its mean over draws (below: how
# many). Of several relations it counts with its mean over a kind of templates.

# %% covers=["IC-S4"]
kinds = separators.kinds_of_templates()
own = groups, separators.formats(signs), rules.of_sets(samples, kept=not page)
asked = separators.beside(ours, draws, *own, shipped, this)
every, groups, kind_of, cues = asked
about = dict(zip(every["model"], every["fact_set"], strict=True))
right, spoken = separators.tables(*asked[:3])
first = separators.tables(*asked[:3], "first_draw")
main = formats.main_groups(about)
bars = formats.bars(right, spoken, main, kinds, seed=seed)
bars = answers.bounds(bars, "accuracy")
runs.keep(bars, "accuracy-by-words.csv")
by_words = right, spoken, main, kinds
gains = formats.gains(*by_words, first=first, seed=seed)
runs.keep(answers.texts(answers.bounds(gains, "gain")), "gains.csv")
of_words = gains[gains["between"] == "words"].drop(columns=["id", "between"])
print(answers.texts(of_words).to_string(index=False))
behind = every.groupby("model", sort=False)["draws"].max()
print(behind.rename("draws of shots").to_string())

# %% [markdown]
# **Formats.** How far does the accuracy move from the worst format to the best? That is the `spread`. With few facts each
# format has its own luck, and the best of many lies above the worst even if formats do not matter. So the spread is too
# large, and so is its interval.
#
# How large would it be *if formats were alike*? We deal the right and wrong answers of each fact out to the formats by
# chance. `if_alike` is the spread that 95 % of 2,000 deals stay below. `p` is the share of
# deals with as large a spread as the true one, corrected by Holm. `paper` is the accuracy in the paper's own format, `rule` what the best {term}`rule` without a model gets, and `no_cue` the accuracy in
# that format on facts without a {term}`cue`.
# `std` is the standard deviation over formats, and `beyond_luck` what is left of it without the part of luck.
# The first table has the spread inside a relation, and in how many relations formats differ by more than luck.

# %%
spreads = formats.spreads(right, main, seed=seed)
estimates = spreads.assign(std=[each.estimate for each in spreads["std"]])
estimates = answers.bounds(estimates, "spread")
runs.keep(estimates, "spreads.csv")
whole = spreads[spreads["relation"] == "all"].drop(columns="relation")
whole = whole.assign(p=intervals.holm(whole["p"]))
whole = formats_over.with_rules(whole, cues, groups, about)
bare = formats_over.no_cue(right, cues, about)
whole = whole.merge(bare, on=["model", "group"])
of_main = whole[whole["group"] == whole["model"].map(main)].set_index("model")
inside = answers.texts(formats_over.by_relation(spreads))
print(inside.round(2).to_string(index=False))
answers.words(
    answers.texts(whole.drop(columns=["lowest", "highest"])), digits=2
)

# %% [markdown]
# **Which of the two places?** Take the table of accuracies with a row for each sign inside a pair and a column for each
# sign between pairs. `inside` is the standard deviation of its row means, `between` that of its column means, and
# `only together` of what is left when both are taken off. The three squares add up to the variance of the whole table.
# The intervals err high, too. `alike` is about what there would be if formats were alike.

# %%
effects = formats.effects(right, main, seed=seed)
runs.keep(answers.bounds(effects, "effect"), "effects.csv")
print(answers.texts(effects).round(2).to_string(index=False))

# %% [markdown]
# **Has the model read such lists?** A format is *in the text* if the text of the world has such lists.
# Else its signs may all be *known*, but from another place; or one of them is *new*: the text does not have it at all,
# inside the pair or else between pairs alone. Means are over the formats of each kind.

# %%
by_kind = formats.by_kind(right, main, about, kind_of, seed=seed)
print(answers.texts(by_kind).to_string(index=False))

# %% [markdown]
# What this page says at its top is put together from these tables.

# %% tags=["hide-input"]
said = formats_said.sentences(gains, of_main, effects, by_kind, models)
figures.findings(**said)

# %% [markdown]
# ## Figures
#
# {numref}`fig-separators-words` has the form of the paper's Figure 4. Are the dark bars alike? What a pale bar has,
# the words alone can do, and what ends before the dashes, a {term}`rule`.
#
# ```{glue:figure} fig-separators-words
# :name: fig-separators-words
# :alt: Horizontal bars of accuracy for the space and for words, with shots and without, a panel for each model, on coloured backgrounds for the kinds of words.
#
# Accuracy by what stands inside a pair, for the last model of the page and for longer runs (mean over relations and over the
# templates of a kind). Dark: with shots. Pale: the words alone. Backgrounds as in the paper, for the two kinds of templates.
# Lines: 95 % intervals. Dashed: the best rule without a model.
# ```

# %% covers=["IC-F4"] shows=["run", "shipped"] tags=["hide-input"]
longer = [model for model in about if model not in models]
part = bars[bars["model"].isin([*longer, models[-1]])]
panels = figures.separator_panels(part, of_rule=of_main["rule"])
figures.place(panels, "fig-separators-words", part)

# %% [markdown]
# {numref}`fig-separators-formats` has every format of every model. Where the marks above one sign lie together, the sign
# between pairs does not matter. Where the groups lie at equal heights, that inside a pair does not.
#
# ```{glue:figure} fig-separators-formats
# :name: fig-separators-formats
# :alt: A panel for each model with marks of accuracy for every pair of separators, some of them ringed.
#
# Accuracy by format: the sign inside a pair along the axis, the sign between pairs by colour and marker. Ringed: the text
# of the model has lists in this format. Models of the lab: facts told in lists, 16 times or more. Lines: 95 %
# intervals. Dashed: the best rule without a model.
# ```

# %% tags=["hide-input"]
cells = formats.cells(right, main, about, kind_of, seed=seed)
cells = answers.bounds(cells, "accuracy")
fig = figures.format_panels(cells, of_rule=of_main["rule"])
figures.place(fig, "fig-separators-formats", cells)

# %% [markdown]
# {numref}`fig-separators-size`, at the top, sets both against the size of the model. Does a spread stand clear above its
# grey bar? Which signs enter the band around zero, and from which model on?

# %% tags=["hide-input"]
mean = gains[gains["between"] == "mean over all"]
mean = mean.assign(gain=mean["over_relations"].combine_first(mean["gain"]))
mean = answers.bounds(mean.drop(columns=["p", "over_relations"]), "gain")
over_all = estimates[estimates["relation"] == "all"]
claims = papers.claims("IC").set_index("id").loc[gains["id"].unique()]
margin = float(claims["least_effect"].iloc[0])
sizes = figures.format_sizes(over_all, mean, margin=margin)
figures.place(sizes, "fig-separators-size", pd.concat([over_all, mean]))

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There is none to reproduce. For orientation, the mean accuracy of the paper's 35 pre-trained models with
# the space (Table 8): other models, other facts, 100 options. Of several relations both are means.

# %%
beside = formats.beside_table_8(right, main, samples, about, seed=seed)
print(answers.texts(beside).to_string(index=False))

# %% [markdown]
# **The claims.** That two things are *equal* is not supported by a wide interval. Statistic and margin stand in
# `lkecore/data/claims.csv`: accuracy with one separator minus accuracy with the space on the same facts, over relations. Of a
# single relation it is over its facts, and set aside. What stands inside a pair is asked in three ways: words, as in the
# paper; signs, and a space between pairs; and signs, mean over all signs between pairs. What stands *between* pairs is a claim
# of ours. Of a model that is no better than the best rule, "holds" says nothing: such models are named first. Then
# come longer runs.

# %%
at_chance = formats.at_chance(right, main, of_main["rule"], seed=seed)
print("With the space not clearly above a rule:", *at_chance or ["none"])
judged = formats.judged(gains, main, at_chance)
print(*(claims["claim"] + " Holds if " + claims["holds_if"]), sep="\n")
answers.words(formats.verdict_table(judged, longer or models[-1:]))

# %% [markdown]
# The models of this page:

# %%
answers.words(formats.verdict_table(judged, models))

# %% [markdown]
# From which size on? For each family, the first model from which on *every* verdict of a row is "holds".

# %%
from_size = formats.holds_from(judged, chains, at_chance)
print(from_size.to_string(index=False) if len(chains) else "no family")

# %% [markdown]
# Where a claim fails, look first at what the model has read. If accuracy falls from *in the text* to *new inside*, a
# likely reason is that the model has no use for a sign that it has never read. It is no proof: signs differ in length.
#
# Words are a case of their own in the lab: a sentence asks for facts that were told in lists. {doc}`../verdicts`
# sets them aside.
#
# Where the verdict is *undecided*, and the interval wider than the band, there are too few facts or relations. The intervals cover
# other shots ({doc}`11_iclke_shots`) where several draws stand behind a number, and no other training.

# %% [markdown]
# ## What you have seen
#
# - A spread over formats looks large. What counts is how far it stands above luck.
# - That two formats are equal is a claim, too. It needs enough facts for a narrow interval, and a model above chance.
# - What a model makes of a sign depends on its text.

# %%
assert gains["gain"].map(lambda g: g.low <= g.estimate <= g.high).all()
squares = answers.bounds(effects, "effect")
squares = squares["effect"].pow(2).groupby(squares["model"]).sum()
for name, group in main.items():
    by_hand = right[name, group].mean(axis=1).var(ddof=0)
    assert abs(by_hand - squares[name]) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-separators-best
# You take the best of all formats. How much of its lead over the paper's format is left when other facts are asked?
# Choose on one half of the facts, and report on the other.
# ```

# %% [markdown]
# ````{solution-start} ex-separators-best
# :class: dropdown
# ````

# %%
answers.words(formats.lead_of_best(right, main, seed=seed), digits=2)

# %% [markdown]
# The first lead is never below zero, since the paper's is among them. The second is the honest one.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-separators-words
# Would words inside the pairs look better on facts that were not told in lists alone?
# ```

# %% [markdown]
# ````{solution-start} ex-separators-words
# :class: dropdown
# ````

# %%
by_group = formats.words_by_group(right, spoken, kinds)
answers.words(by_group, digits=2, missing="")

# %% [markdown]
# Compare `space` with the templates in each row. If the words lose less in the group *drawn*, the form in which
# a fact was told decides which format finds it.
#
# ````{solution-end}
# ````
#
# To ask a larger model, put this into a file such as `params/mine.yaml`, then call `lke run params/mine.yaml`. The
# relations must be among the twelve of the paper's Table 5, which have templates.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 14_iclke_separators
#     each: [models]
#     parameters:
#       models: [smollm2, gemma3-270m]
#       relations: [capital, official_language]
#       n_facts: 100
#       n_options: 20
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
