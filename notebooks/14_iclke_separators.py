# %% [markdown]
# # Do separators matter?
#
# **Yes: whatever is inside a pair, a space between pairs finds the fewest facts, and the best of nine formats finds
# {glue:text}`spread_least:.0f` to {glue:text}`spread_most:.0f` percentage points more of the same facts than the worst.**
#
# ```{glue:figure} fig-separators-formats
# :name: fig-separators-formats
# :alt: A panel for each model with marks of accuracy and intervals, the sign inside a pair along the axis, a colour for each sign between pairs, and a dotted line at the accuracy of the best rule without a model.
#
# The lowest mark over each sign is that of a space between pairs, the paper's. Accuracy by format on the same facts: the sign inside a pair along
# the axis, the sign between pairs by colour; lines: 95 % over other relations. Dotted: the best rule without a model.
# ```
#
# Anyone who writes a prompt must put something between subject and object, and between one pair and the next: a space, a colon, a new line.
# The two signs together are a {term}`format`. Luck alone would make the best of nine formats seem {glue:text}`luck:.0f` points better than
# the worst. One change is tested on more facts: with a colon and a new line instead of two spaces, accuracy rises in {glue:text}`all` pairs of a model
# and a set of facts. Gains range from {glue:text}`between_least` to {glue:text}`between_most`, with 95 % intervals over relations.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` put one space inside a pair and one space between pairs. Then they take one relation, the
# *original broadcaster* of a programme, and replace the space inside each of the 50 pairs by words: three
# templates that people wrote ({term}`HGP`) and three that were mined from text ({term}`MMP`). The space does as well as the words (Section
# 4.1, Figure 4, without numbers). The authors' public code has " : " inside pairs and ", " between, which this page does not test.
# On other tasks {cite:t}`sclar2024formatspread` find up to 76 points between formats of one prompt, and formats that are good for one model are not for another.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["official_language"]  # need the paper's templates
n_shots: int = 50  # pairs shown before the question
n_facts: int = 25  # test facts of each relation
n_options: int = 10  # objects to choose from, or as many as there are
n_redraws: int = 0  # further draws of pairs
pair_separators: list[str] = [" ", ": ", " -> "]  # inside a pair
shot_separators: list[str] = [" ", "\n", "; "]  # between pairs
sources: list[str] = []  # in results/, for the numbers; none: this run
gains: list[str] = []  # the same, for the gain of a colon and a new line
seed: int = 0  # draws pairs, facts, options and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
from itertools import product

import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, papers, prompts, stats
from lkecore.answers import rules

figures.style()

# %% [markdown]
# ## Facts
#
# Pairs, facts and options are drawn once, and are the same in all formats. This run has one relation; the numbers of the page come
# from a longer run on the paper's twelve.

# %%
numbers = {"n_shots": n_shots, "n_options": n_options, "n_facts": n_facts}
names = prompts.with_templates(fact_set, relations)
sample = facts.draw(fact_set, names, **numbers, seed=seed, allow_fewer=True)
facts.check_facts(sample, n_facts, allow_fewer=True)
print(facts.fewer(sample, **numbers))
facts.overview(sample, n_options=n_options, n_facts=n_facts)

# %% [markdown]
# ## Prompts
#
# Every sign inside a pair is combined with every sign between pairs. For *words*, each pair is a template of the paper for the relation, with a space
# between pairs. Each template also appears *alone*, without a pair.

# %%
signs = list(product(pair_separators, shot_separators))
words = prompts.HUMAN + prompts.MINED
seeds = range(seed, seed + 1 + n_redraws)
questions = {}
for draw, (name, d) in product(seeds, sample.items()):
    shots = (
        d.shots
        if draw == seed
        else facts.draw_shots(d.train, len(d.shots), draw)
    )
    for a, b in signs:
        questions[fact_set, name, "format", a, b, "", draw] = prompts.many_shot(
            shots, d.facts, d.options, pair_separator=a, shot_separator=b
        )
    for each in set(words) & set(prompts.templates_of(d.relation)):
        ways = {"words": f"iclke-{each}", "words alone": each}
        for part, way in ways.items():
            some = prompts.asking(way, d.relation, shots, d.facts, d.options)
            questions[fact_set, name, part, "", "", each, draw] = some
first = {key[:-1]: some for key, some in questions.items() if key[-1] == seed}
for a, b in signs:
    some = first[fact_set, name, "format", a, b, ""]
    print(repr(some[0].context[-60:]))

# %% [markdown]
# ## Scores
#
# One block of questions for each format and wording; words alone do not depend on the pairs, so they are scored once. The facts of
# the longer run are not ours to give away, so a fact there has a number instead of a name.

# %%
this = "14_iclke_separators"
by = ["fact_set", "relation", "part", "pair_separator"]
by += ["shot_separator", "template"]
asked = answers.sample(first, sources, 1, by=by)
ours = answers.ask(models, asked, "answers.parquet", by=by, dtype=dtype)
ours = ours.assign(draw=0)
if n_redraws and not sources:
    others = {
        key: some
        for key, some in questions.items()
        if key[-1] != seed and "words alone" not in key
    }
    by_draw = [*by, "draw"]
    more = answers.ask(
        models, others, "answers-draws.parquet", by=by_draw, dtype=dtype
    )
    ours = pd.concat([ours, more])
found, main = answers.shown(this, ours, sources, dtype=dtype)
cues, _ = answers.shown(f"{this}-cues", rules.cues(sample), sources)
answers.columns(found)

# %% [markdown]
# ## Answers
#
# **Formats.** The mean in each relation, over facts and draws of pairs, and then over relations, each alike. With each sign inside a
# pair, a space between pairs is worst.

# %%
who, form = ["source", "model"], ["inside", "between"]
called = {" ": "space", "\n": "new line"}
for name, column in zip(
    form, ["pair_separator", "shot_separator"], strict=True
):
    found[name] = found[column].replace(called).str.strip()
formats = found[found["part"] == "format"]
accuracy = stats.estimate(formats, [*who, *form])
four = cues.groupby(["source", "relation"])[list(rules.RULES)].mean()
rule = four.groupby("source").mean().max(axis=1)  # the best of the four
stats.table(accuracy, [*who, "between"], "inside").rename(figures.display_name)

# %% [markdown]
# With few facts each format has its own luck, and the best of many is above the worst even if formats do not matter. How large would
# this *spread* be then? We deal the answers to each fact out to the formats by chance, and take the spread that 95 % of 1,000 deals
# stay below. And which place matters more? Let $a_{ij}$ be the accuracy with sign $i$ inside a pair and sign $j$ between pairs. Then
#
# $$\text{inside} = \mathrm{sd}_i \Big(\frac{1}{J} \sum_j a_{ij}\Big), \qquad \text{between} = \mathrm{sd}_j \Big(\frac{1}{I} \sum_i a_{ij}\Big).$$


# %%
def by_luck(hits: pd.DataFrame) -> float:
    """The spread that 95 % of deals stay below; a row a fact."""
    rng, values = np.random.default_rng(seed), hits.to_numpy(float)
    deals = (rng.permuted(values, axis=1).mean(axis=0) for _ in range(1000))
    return float(np.quantile([np.ptp(deal) for deal in deals], 0.95))


rows, luck = {}, {}
for name, part in formats.groupby(who):
    over = ["relation", "fact"] if part["relation"].nunique() > 1 else ["fact"]
    a = stats.bootstrap(part, form, over=over, seed=seed)
    sds = {each: a.T.groupby(each).mean().std(ddof=0) for each in form}
    spread = a.max(axis=1) - a.min(axis=1)
    rows[name] = stats.interval(pd.DataFrame({"spread": spread, **sds}))
    rows[name] = rows[name].set_axis(["spread", *form])
    luck[name] = by_luck(
        part.pivot_table("correct", ["relation", "fact"], form)
    )
effects = pd.concat(rows, names=[*who, "of"])
table = stats.table(effects.reset_index(), who, "of", 3)
table = table[["spread", *form]].assign(luck=pd.Series(luck)).round(3)
table.rename(figures.display_name)

# %% [markdown]
# Both places matter, and each moves the accuracy by more than luck. Now the gain of a colon and a new line over the spaces, in all models and sets with
# both formats ({page}`10_iclke_relations` has the accuracies):

# %%
OLD, NEW = signs[0], (pair_separators[1], shot_separators[1])
mine = list(
    zip(formats["pair_separator"], formats["shot_separator"], strict=True)
)
two = formats.assign(format=pd.Series(mine, index=formats.index))
two["format"] = two["format"].map({OLD: "old", NEW: "new"})
if gains:
    two = answers.results("10_iclke_relations").query("source in @gains")
    two = two[two["draw"] == 0].replace({"source": {"kamel_formats": "kamel"}})
    is_old = {"iclke-space": "old", "iclke-colon": "new"}
    two["format"] = two["estimator"].map(is_old)
gain = stats.compare(
    two.dropna(subset="format"), "format", "new", "old", by=who
)
most = gain.loc[gain["estimate"].idxmax()]
shown = gain.assign(
    gain=gain.apply(stats.format_estimate, axis=1, percent=True)
)
shown[who] = shown[who].map(figures.display_name)
shown

# %% [markdown]
# **Words.** In the paper's Figure 4 the space does as well as words that name the relation. A fact counts with its mean over the templates of a
# kind. `minus space`: the accuracy with words in the pairs minus that with the space, on the same facts.

# %% covers=["IC-S4", "IC-F4"] shows=["run", "shipped"]
kind = {"hgp": "human words", "mmp": "mined words", "": "space"}
is_space = found["pair_separator"].eq(" ") & found["shot_separator"].eq(" ")
spoken = found[is_space | (found["part"] != "format")]
kinds = spoken["template"].str.partition("-")[0].map(kind)
spoken = spoken.assign(kind=kinds, shown="pairs shown")
spoken.loc[spoken["part"] == "words alone", "shown"] = "none"
by_words = stats.estimate(spoken, [*who, "kind", "shown"])
shown = spoken[spoken["shown"] == "pairs shown"]
parts = {
    each: stats.compare(shown, "kind", each, "space", by=who)
    for each in ("human words", "mined words")
    if each in set(shown["kind"])
}
apart = pd.concat(parts, names=["kind"]).reset_index("kind")
apart["minus space"] = apart.apply(stats.format_estimate, axis=1)
apart.assign(model=apart["model"].map(figures.display_name))

# %% [markdown]
# **Has the model read such lists?** The text of a lab world has lists in two formats: a space in both places, or a colon inside and a
# line for each pair. So we know what a {term}`lab model` has read. On facts that only lists state, 16 times or more:

# %%
from lkecore.worlds import plain

told = pd.DataFrame()
if sources:
    spec = "lab:book-1"
    told = answers.results(this).query("fact_set == @spec and part == 'format'")
    truth = plain.states(spec).query("state == 'planted' and form == 'list'")
    often = truth.loc[truth["occurrences"] >= 16, "fact"]
    told = told[told["fact"].isin(often)].copy()
    known = told["pair_separator"].isin([inside for inside, _ in plain.LISTS])
    words_of = {True: "sign known", False: "new sign inside"}
    told["format"] = known.map(words_of)
    for a, b in plain.LISTS:
        same = told["pair_separator"].eq(a) & told["shot_separator"].eq(b)
        told.loc[same, "format"] = "its text has such"
    told = told.pivot_table("correct", "model", "format").astype(float)
in_words = {"its text has such": "format in its text"}
told.rename(index=figures.display_name, columns=in_words).round(2)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-separators-formats`, at the top, compare the colours: a space between pairs is lowest over each sign.
# {numref}`fig-separators-words` has the form of the paper's Figure 4: words alone, without a pair, are lower.
#
# ```{glue:figure} fig-separators-words
# :name: fig-separators-words
# :alt: For each model rows for the space, for words written by people and for words mined from text, with a mark and an interval with pairs and a lower one without.
#
# Words without pairs are lower than the space with pairs. Accuracy by what is inside a pair, and of the words alone; lines: 95 % over other
# relations.
# ```

# %% tags=["hide-input"]
marks = accuracy.sort_values(
    "inside", key=lambda s: s.ne("space"), kind="stable"
)
marks["who"] = marks["model"].map(figures.display_name)
marks["between"] = marks["between"].replace("space", "space (the paper's)")
marks["between pairs"] = marks["between"]
grid = figures.marks(marks, x="inside", hue="between pairs", panel="who")
grid.set_axis_labels("between subject and object", figures.ACCURACY)
for ax in grid.axes.flat:
    ax.axhline(rule[marks["source"].iloc[0]], color="grey", ls=":")
figures.glue_figure(grid.figure, "fig-separators-formats", marks)

# %% tags=["hide-input"]
marks = by_words.sort_values("kind", key=lambda s: s.ne("space"), kind="stable")
marks["who"] = marks["model"].map(figures.display_name)
grid = figures.marks(marks, x="kind", hue="shown", panel="who", across=True)
figures.glue_figure(grid.figure, "fig-separators-words", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There is none to reproduce. **Claims.** The paper's claim on words is decided on {page}`13_iclke_estimators`. The claim that the sign
# between *pairs* does not matter is ours: accuracy with another sign between pairs minus that with the space, mean over the
# other signs, with a space inside. A wide interval does not show that two things are equal: the claim holds if the whole interval is
# within 5 points. It is decided on the model that knows more of these relations in the paper's format.

# %%
one = formats[(formats["source"] == main) & (formats["inside"] == "space")]
space = one[one["between"] == "space"].groupby("model")["correct"].mean()
model = space.idxmax()
one = one[one["model"] == model]
one = one.assign(sign=one["between"].where(one["between"] == "space", "others"))
between = stats.compare(one, "sign", "others", "space", by=["model"])
on = {} if sources else {"decided_on": fact_set}
judged = answers.verdicts({"IC-separator-between": between.assign(**on)})
judged["model"] = judged["model"].map(figures.display_name)
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
holds = {}
if sources:
    lowest = accuracy.pivot(
        index=[*who, "inside"], columns="between", values="estimate"
    )
    moves = effects["estimate"].unstack("of")
    alone = by_words.query("shown == 'none'").groupby("model")["estimate"].max()
    space = by_words.query("kind == 'space'").set_index("model")["estimate"]
    at = told.reindex(["lab:book-1/2m"]).iloc[0]
    read, new = at.get("its text has such", 0), at.get("new sign inside", 1)
    holds = {
        "accuracy rises": (gain["low"] > 0).all(),
        "nine formats": len(signs) == 9,
        "a space is worst": (lowest.idxmin(axis=1) == "space").all(),
        "between moves it more": (moves["between"] > moves["inside"]).all(),
        "more than luck": (moves["spread"] > 4 * pd.Series(luck)).all(),
        "words without pairs are lower": alone.lt(space).all(),
        "had read": read > 2 * new,
    }
figures.sentence(holds)
least = gain.loc[gain["estimate"].idxmin()]
spread = effects.xs("spread", level="of").sort_values("estimate")
figures.glue_values(
    spread_least=100 * spread["estimate"].min(),
    spread_most=100 * spread["estimate"].max(),
    all=f"{(gain['estimate'] > 0).sum()} of {len(gain)}",
    luck=100 * max(luck.values()),
    between_least=stats.format_estimate(least, percent=True),
    between_most=stats.format_estimate(most, percent=True),
    effect=f"{stats.format_estimate(spread.iloc[0], percent=True)} points at least",
    asked=f"{len(spread)} models, {figures.display_name(main)}",
)

# %% [markdown]
# **Look at some answers.** Twenty questions of this run, in the last format, and the options that the model finds likeliest.

# %% tags=["hide-output", "page-only"]
some = first[fact_set, names[0], "format", *signs[-1], ""]
answers.html_table(answers.likeliest(models[0], some, dtype=dtype))

# %% [markdown]
# ## What you have seen
#
# - A format is a part of the question. An accuracy without its format says little; compare two models in the same one.
# - The sign between pairs moves more than the sign inside: a model has to see where a pair ends.
# - A spread over formats looks large. How far it is above luck is the number that counts.
# - How well a model reads a sign depends on its training text.
#
# **Counted again**, in plain Python: the largest gain.

# %%
hits: dict[str, dict[str, list[bool]]] = {}
rows_of = two[(two[who] == most[who]).all(axis=1)].dropna(subset="format")
for row in rows_of.itertuples():
    of = hits.setdefault(row.relation, {"old": [], "new": []})
    of[row.format].append(bool(row.correct))
each = [np.mean(of["new"]) - np.mean(of["old"]) for of in hits.values()]
assert abs(sum(each) / len(each) - most["estimate"]) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-separators-relations
# In which relations does the format matter most? Does one of nine formats win in all?
# ```

# %% [markdown]
# ````{solution-start} ex-separators-relations
# :class: dropdown
# ````

# %%
each = formats[formats["model"] == model].astype({"correct": float})
each = each.pivot_table("correct", "relation", form)
best = each.idxmax(axis=1).map(" and ".join)
moved = each.max(axis=1) - each.min(axis=1)
found_in = pd.DataFrame({"moved": moved, "best": best}).sort_values("moved")
found_in.rename(papers.property_names()).round(2)

# %% [markdown]
# A format that is best in one relation is not best in the next. So if you choose a format on the facts that you report, part of its lead is luck.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-separators-own
# Does a larger model care less? Put this into `params/mine.yaml`, and run `lke run params/mine.yaml`. With `sources: []` and
# `gains: []` the numbers of the page are from your run. The relations must be among the twelve of the paper's Table 5.
# ```
#
# ````{solution} ex-separators-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 14_iclke_separators
#     each: [models]
#     parameters:
#       models: [smollm2, /path/to/a/larger/model]
#       relations: [capital, official_language]
#       n_facts: 100
#       n_options: 20
# ```
# ````
