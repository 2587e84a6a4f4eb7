# %% [markdown]
# # What does an accuracy stand on?
#
# **Of the facts asked ({glue:text}`name_set`) a rule that has read nothing gets {glue:text}`rule:.0%` right, and
# {glue:text}`name_model` {glue:text}`model:.0%`; where no word gives the object away, the model finds {glue:text}`left:.0%`.**
#
# ```{glue:figure} fig-stands-rules
# :name: fig-stands-rules
# :alt: For each set of facts a row of marks with intervals: the best rule, and each model over all facts and over those without a cue.
#
# The rule is near the models, and on one set ahead of them. Accuracy in the paper's format by set of facts: the best rule without
# a model, and each model over all facts and over those that carry no cue; lines: 95 % over other relations.
# ```
#
# A model that names the right object need not know the fact. Who reads *Jane Doe* and has to name a parent takes the option that
# ends in *Doe*. Who has seen English fifteen times among fifty languages says English. And an accuracy among options depends on
# the wrong ones, and on how a long name is compared with a short one. Three questions: what can be guessed, what if the wrong
# options are others, and do short names have an advantage? The shares above with 95 % intervals over relations:
# {glue:text}`between_model` for the model, {glue:text}`between_left` without cues.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` take the accuracy among 100 options as the part of the facts that a model knows, and compare it with a
# blind guess, 0.01 (Section 4). The 99 wrong options are objects of other facts, drawn by lot. The score of an option is the
# product of the probabilities of its tokens, not divided by their number (Section 2.2), and it should serve any topic and any
# way of cutting text into tokens (Section 2.1). The paper varies none of this.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital", "country_of_city", "currency"]
offers: list[str] = ["random", "frequency", "length", "use"]  # see Facts
estimators: list[str] = ["iclke-space"]  # the paper's format; one
n_shots: int = 50  # pairs shown before the question
n_facts: int = 10  # test facts of each relation
n_options: int = 50  # candidate objects of each, or as many as there are
least: int = 5  # short objects of a relation, and long ones, to compare
sources: list[str] = []  # in results/, of what can be guessed; none: this run
choices: list[str] = []  # the same, of wrong options and of length
seed: int = 0  # draws shots, facts and options
dtype: str = "float32"

# %% tags=["hide-input"]
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, papers, prompts, stats
from lkecore.answers import rules
from lkecore.errors import BadInput
from lkecore.facts.fact import text_digest
from lkecore.facts.sample import distractors
from lkecore.facts.tables import composed, fold

figures.style()

# %% [markdown]
# ## Facts
#
# Shots and asked facts are drawn once. Then each fact gets its wrong options in four ways: `random`, by lot, as in the paper; or
# those most like the right one in `frequency` (objects of nearly as many facts), in `length` (names of nearly as many
# characters), or in `use` (names that have the same places elsewhere in the set of facts: *France* is a country of films, of cities
# and of companies). A {term}`cue` gives an object away: it shares a word with the subject, or no other option is more often the
# object of a shot.


# %%
places = {}  # of a name: the relations in which it stands, and the side
for relation in facts.relations(fact_set):
    for fact in facts.load(fact_set, relation).facts:
        for side, name in enumerate([fact.subject, fact.object]):
            places.setdefault(fold(name), set()).add((relation, side))


def offered(of: facts.Drawn, offer: str) -> facts.Drawn:
    """As many wrong options of each fact, those nearest its object; ties by lot."""
    if offer == "random":
        return of
    often = Counter(fold(fact.object) for fact in of.relation.facts)

    def apart(a: str, b: str) -> float:
        if offer == "length":
            return abs(len(composed(a)) - len(composed(b)))
        if offer == "frequency":
            return abs(often[fold(a)] - often[fold(b)])
        a, b = places[fold(a)], places[fold(b)]
        return 1 - len(a & b) / np.sqrt(len(a) * len(b))  # 1 - cosine

    made = []
    for fact, options in zip(of.facts, of.options, strict=True):
        pool = distractors(fact, of.relation.objects)
        lot = int(text_digest(offer, fact.relation, fact.id)[:16], 16)
        rng = np.random.default_rng([seed, lot])
        far = [apart(fact.object, name) for name in pool]
        order = np.lexsort([rng.random(len(pool)), far])[: len(options) - 1]
        names = [fact.object, *(pool[i] for i in order)]
        made.append(tuple(names[i] for i in rng.permutation(len(names))))
    return replace(of, options=tuple(made))


# %% covers=["IC-D3"]
ways = ["random", "frequency", "length", "use"]
if offers[:1] != ["random"] or sorted(offers) != sorted({*offers} & {*ways}):
    raise BadInput(f"offers {offers}: random first, then others of {ways}")
n_shots = prompts.pairs_shown(estimators, n_shots)
size = {"n_shots": n_shots, "n_facts": n_facts, "n_options": n_options}
sample = facts.draw(fact_set, relations, **size, seed=seed, take_fewer=True)
print(facts.fewer(sample, **size))
samples = {
    offer: {name: offered(of, offer) for name, of in sample.items()}
    for offer in offers
}
cues = pd.concat(
    rules.cues(each, kept=False).assign(offer=name)
    for name, each in samples.items()
)
for name, each in samples.items():
    one = next(iter(each.values()))
    print(f"{name:10}{one.facts[0].object}:", *one.options[0][:4], sep="  ")

# %% [markdown]
# ## Prompts
#
# The prompts are the same whatever is offered behind them: so the right object has the same log-probability in all four.

# %%
questions = {
    (offer, *key): some
    for offer, each in samples.items()
    for key, some in prompts.of_sample(each, estimators).items()
}
print(f"{sum(map(len, questions.values())):,} questions")

# %% [markdown]
# ## Scores
#
# Each question is asked once, and read by two scores: `sum` is the log-probability of the whole name, the paper's, and `per token` is
# that divided by the number of tokens. `place` is where an option is among the options by characters, from 0, the shortest, to 1. What
# is asked here shows the machine at work, and must be what the longer run was answered.
# That run was read by three scores more: `per character`, and the sum minus what a name has whoever is asked about ({term}`PMI`), in a
# prompt with nothing, or *N/A*, in the place of the subject.


# %%
def read(model, scores: pd.DataFrame) -> pd.DataFrame:
    size = scores["option"].str.normalize("NFC").str.len()
    size = size.groupby(scores["fact"])
    place = (size.rank() - 0.5) / size.transform("size")
    value, parts = scores["logprob"], []
    for score, of in {"sum": 1, "per token": scores["n_tokens"]}.items():
        best = (value / of).groupby(scores["fact"], sort=False).idxmax()
        part = scores.loc[best, ["fact", "gold"]].assign(score=score)
        parts.append(part.assign(chosen_place=place[best]))
    return pd.concat(parts).rename(columns={"gold": "correct"})


by = ["offer", "estimator", "relation"]
ours = answers.ask(
    models,
    answers.sample(questions, choices, 2, by=by),
    "answers.parquet",
    by=by,
    reading=read,
    dtype=dtype,
)
by_sum = ours[ours["score"] == "sum"]
plainly = ours[ours["offer"] == "random"]
same = ["correct", "logprob_gold"]
if choices:
    both = {"18_iclke_options": by_sum, "18_iclke_length": plainly}
    for name, some in both.items():
        ships = answers.results(name).query("source in @choices")
        answers.agree(some, ships, name, dtype=dtype, columns=same)
answers.columns(ours)

# %% [markdown]
# ## Answers
#
# **What can be guessed.** Four rules without a model see the subject, the options and the shots: the option that shares most words
# with the subject; the one that is shown most often; the first where a word is shared, else the second (`rule-both`); and the
# shortest. Where options tie, each gets an equal part of the guess, so what a rule gets is an expectation. `of_rule` is of the
# best of the four, which was chosen on these very facts; that is in its favour.


# %%
def told(name: str, own: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Answers with what is known of their facts without a model."""
    found = pd.concat([own, answers.results(name)])
    known = pd.concat([cues, answers.results(f"{name}-cues")])
    lacking = {"source": "this run", "offer": "random", "draw": 0}
    found, known = (each.fillna(lacking) for each in (found, known))
    found, known = (
        each[each["source"].isin(on or ["this run"])] for each in (found, known)
    )
    four, of = list(rules.RULES), ["source", "offer"]
    means = known.groupby([*of, "relation"])[four].mean()
    best = means.groupby(of).mean().idxmax(axis=1).rename("rule")
    known = known.merge(best, on=of)
    at = known["rule"].map(four.index)
    known["of_rule"] = known[four].to_numpy()[np.arange(len(known)), at]
    known["cue"] = known["cue_word"] | known["cue_frequent"]
    known["place"] = (known["length_rank"] - 0.5) / known["n_options"]
    asked = [*of, "relation", "fact"]
    known = known[[*asked, "rule", "of_rule", "cue", "place"]]
    found = found[found["estimator"] == estimators[0]]
    return found.merge(known, on=asked, validate="m:1")


who = ["source", "model"]
lot = told("10_iclke_relations", by_sum, sources)
lot = lot[(lot["offer"] == "random") & (lot["draw"] == 0)]
plain = lot[~lot["cue"]]
enough = plain.groupby([*who, "relation"])["fact"].transform("size") >= 2
parts = {
    "best rule": stats.estimate(lot, who, value="of_rule"),
    "all facts": stats.estimate(lot, who),
    "no cue": stats.estimate(plain[enough], who),
}
guessed = pd.concat(parts, names=["what"]).reset_index("what")
stats.table(guessed, who, "what", percent=True).loc[sources or ["this run"]]

# %% [markdown]
# Without a cue the rule is nearly always wrong, so compare that column with a blind guess. It may be too low for what a model
# knows, which may know facts that carry a cue as well; or too high, since a name can tell of a country without sharing a word.
#
# **Other wrong options.** The accuracy in each choice minus that by lot, on the same facts behind the same shots; and what the best
# rule gets there. None of the choices takes the rule's share away.

# %%
chosen = told("18_iclke_options", by_sum, choices)
means = chosen.groupby([*who, "relation", "offer"])[["correct", "of_rule"]]
means = means.mean().unstack("offer")
moved = means["correct"].sub(means["correct", "random"], axis=0)
moved = moved.drop(columns="random").rename_axis(columns="what")
alike = moved.mean(axis=1).rename("moved").reset_index()
moved = moved.stack().rename("moved").reset_index()
moved = stats.estimate(moved, [*who, "what"], value="moved", bounds=None)
ruled = means["of_rule"].groupby(who).mean()
print((100 * ruled).round(0).rename(columns="rule, {}".format).to_string())
moved.assign(moved=moved.apply(stats.said, axis=1, percent=True))

# %% [markdown]
# **Short and long objects.** The accuracy where the object is in the first third of its options by characters minus that where it is
# in the last, on facts without a cue, in relations with enough of both. A difference has two possible reasons: the score may
# favour short names, or things with short names may be better known. So `wrong` looks at wrong answers alone: the place of the
# chosen option minus one half, in which what the model knows of the fact has no part. Below 0, short options win.

# %%
sized = told("18_iclke_length", plainly, choices)
score = [*who, "score"]
third = np.select([sized["place"] <= 1 / 3, sized["place"] >= 2 / 3], [1, 3], 2)
some = sized.assign(third=third)[~sized["cue"]]
some = some.groupby([*score, "relation", "third"])
gap = some["correct"].mean().unstack("third").reindex(columns=[1, 2, 3])
n = some["fact"].nunique().unstack("third").reindex(columns=[1, 2, 3])
gap = (gap[1] - gap[3])[n[[1, 3]].min(axis=1, skipna=False) >= least]
gap = gap.rename("gap").reset_index()
if len(gap):
    gap = stats.estimate(gap, score, value="gap", bounds=None)
missed = sized[~sized["correct"].astype(bool)]
missed = missed.assign(wrong=missed["chosen_place"] - 0.5)
missed = stats.estimate(missed, score, value="wrong", bounds=(-0.5, 0.5))
wins = missed.assign(wrong=missed.apply(stats.said, axis=1))
both = wins[[*score, "wrong"]]
if len(gap):
    gap["gap"] = gap.apply(stats.said, axis=1, percent=True)
    both = gap[[*score, "gap"]].merge(both, on=score)
both

# %% [markdown]
# ## Figures
#
# In {numref}`fig-stands-rules`, at the top, look first at the rule and then at the models over all facts; where these overlap, the accuracy
# says nothing of knowledge. In {numref}`fig-stands-moved` see that other options move an accuracy little, and that by the sum
# short names lead in one set of facts and not in the other.
#
# ```{glue:figure} fig-stands-moved
# :name: fig-stands-moved
# :alt: Rows of marks with intervals around a line at zero: three choices of wrong options against options by lot, then short minus long objects by each score, for each model and set of facts.
#
# Above: accuracy among options that are like the right one minus that by lot. Below: accuracy on short objects minus that on long ones,
# by each score. Lines: 95 % over other relations.
# ```

# %% tags=["hide-input"]
rule = guessed[guessed["what"] == "best rule"].drop_duplicates("source")
marks = pd.concat([rule, guessed[guessed["what"] != "best rule"]])
name = marks["model"].map(figures.called) + ", " + marks["what"]
marks["who"] = name.where(marks["what"] != "best rule", "best rule")
marks["set"] = marks["source"].map(figures.called)
grid = figures.marks(marks, x="set", hue="who", height=4, aspect=1.8)
figures.place(grid.figure, "fig-stands-rules", marks)

# %% tags=["hide-input"]
marks = moved.assign(what="alike in " + moved["what"])
if len(gap):
    marks = pd.concat([marks, gap.assign(what="short, " + gap["score"])])
name = marks["model"].map(figures.called)
marks["who"] = name + "\n" + marks["source"].map(figures.called)
look = {"label": "difference in accuracy", "height": 4.5, "aspect": 1.3}
grid = figures.marks(marks, x="what", hue="who", across=True, **look)
grid.axes.flat[0].axvline(0, color="grey", ls=":")
figures.place(grid.figure, "fig-stands-moved", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper has none with other options or other scores. **Claims**, both ours, on the set of facts with most relations and the model
# that knows more of it. That a model is above the best rule is tested on {page}`10_iclke_relations`.

# %%
first_set, main = (of[0] if of else "this run" for of in (sources, choices))
by_lot = chosen[(chosen["source"] == main) & (chosen["offer"] == "random")]
model = by_lot.groupby("model")["correct"].mean().idxmax()
own = {} if choices else {"decided_on": main, "model": model}
first = alike[(alike["source"] == main) & (alike["model"] == model)]
first = stats.estimate(first, value="moved", bounds=None)
claims = {"IC-options-alike": first.assign(**own)}
if len(gap):
    fair = gap[(gap[score] == [main, model, "sum"]).all(axis=1)]
    claims |= {"IC-length-fair": fair.drop(columns="model").assign(**own)}
judged = answers.verdicts(claims)
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
top = guessed[guessed["source"].eq(first_set) & guessed["model"].eq(model)]
top = top.set_index("what")
by_rule = ruled.sub(ruled["random"], axis=0)
holds = {
    "move an accuracy little": moved["estimate"].abs().max() < 0.1,
    "lower it": (moved["estimate"][moved["what"] == "use"] < 0).all(),
    "none takes the share away": by_rule.abs().max(axis=None) < 0.05,
}
if choices:
    kamel = guessed[guessed["source"] == "kamel"].groupby("what")["estimate"]
    least, most = kamel.min().get("best rule"), kamel.max().get("all facts")
    fair = gap[gap["score"] == "sum"].groupby("source")["low"].max()
    lean = missed["estimate"][missed["score"] == "sum"]
    holds |= {
        "on one set ahead of them": "kamel" in sources and least > most,
        "in one set and not in the other": sorted(fair > 0) == [False, True],
        "wrong answers lean to short options as well": (lean < 0).all(),
    }
figures.sentence(holds if sources and choices else {})
figures.findings(
    name_model=figures.called(model),
    name_set=figures.called(first_set),
    rule=top.loc["best rule", "estimate"],
    model=top.loc["all facts", "estimate"],
    left=top.loc["no cue", "estimate"],
    between_model=stats.said(top.loc["all facts"], percent=True),
    between_left=stats.said(top.loc["no cue"], percent=True),
    effect=stats.said(top.loc["all facts"], percent=True),
    asked=f"{figures.called(model)}, {figures.called(first_set)}",
)

# %% [markdown]
# ## What you have seen
#
# - An accuracy is no share of known facts: a rule that has read nothing gets a good part of it. Sets of facts differ by what can be guessed, so a
#   gap between them says nothing of knowledge by itself.
# - Something is left: models find facts that carry no cue, far more often than a blind guess.
# - An accuracy among a hundred options is one for these options. Options that are used as the right one is lower it, by a few points.
# - By the sum, wrong answers lean to short options as well, so the score has its part in what short names gain. To divide by the number of
#   tokens may hand the advantage to long names.
#
# **Counted again**, in plain Python: what the main model finds where no word gives the object away.

# %%
hits: dict[str, list[bool]] = {}
mine = plain[(plain["source"] == first_set)]
for row in mine[mine["model"] == model].itertuples():
    hits.setdefault(row.relation, []).append(bool(row.correct))
each = [sum(some) / len(some) for some in hits.values() if len(some) > 1]
again = guessed.query("what == 'no cue' and model == @model")
again = again.set_index("source")["estimate"][first_set]
assert abs(sum(each) / len(each) - again) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-stands-relations
# In which relations does the main model find least beyond the rule, and in which most?
# ```

# %% [markdown]
# ````{solution-start} ex-stands-relations
# :class: dropdown
# ````

# %%
mine = lot[(lot["source"] == first_set) & (lot["model"] == model)]
mine = mine.groupby("relation")[["correct", "of_rule"]].mean().astype(float)
mine["above"] = mine["correct"] - mine["of_rule"]
mine = mine.sort_values("above")
mine = mine.rename(index=papers.property_names()).round(2)
mine.iloc[[*range(3), *range(-3, 0)]] if len(mine) > 6 else mine

# %% [markdown]
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-stands-own
# What can be guessed of *your* facts, and does a larger model lose less among options that are like the right one? Put this into
# `params/mine.yaml`, and run `lke run params/mine.yaml`. With `sources: []` and `choices: []` the numbers of the page are those of
# your run.
# ```
#
# ````{solution} ex-stands-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 18_iclke_stands
#     each: [models]
#     parameters:
#       models: [smollm2, /path/to/a/larger/model]
#       fact_set: path/to/my/facts
#       relations: []
#       n_facts: 100
#       sources: []
#       choices: []
# ```
# ````
