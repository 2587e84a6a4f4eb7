# %% [markdown]
# # How much of an accuracy is guessing?
#
# **A rule that has read nothing finds {glue:text}`rule:.0%` of the facts ({glue:text}`name_set`), and {glue:text}`name_model` {glue:text}`model:.0%`; of the
# facts whose object no cue gives away, the model finds {glue:text}`left:.0%`.**
#
# ```{glue:figure} fig-stands-rules
# :name: fig-stands-rules
# :alt: For each set of facts a row of marks with intervals: the best rule, and each model on all facts and on those without a cue.
#
# The rule is above both models on KAMEL, near them on T-REx, and below them on the atlas. Accuracy in the paper's format by set of facts: the best
# rule without a model, and each model on all facts and on those without a cue; lines: 95 % over other relations.
# ```
#
# A model that names the right object need not know the fact. To name a parent of *Jane Doe*, take the option that
# ends in *Doe*. If English was fifteen of the fifty languages shown, say English. An accuracy among options also depends on
# the wrong options, and on how long names are compared with short ones. So this page has three parts: what a rule can guess, what happens with other wrong
# options, and whether short names have an advantage. The shares above with 95 % intervals over relations:
# {glue:text}`between_model` for the model on all facts, {glue:text}`between_left` without cues.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` take the accuracy among 100 options as the share of facts that a model knows, and compare it with a
# blind guess, 0.01 (Section 4). The 99 wrong options are objects of other facts, drawn at random. The score of an option is the
# product of the probabilities of its tokens, not divided by their number (Section 2.2), and it should suit any topic and any
# tokenizer (Section 2.1). The paper varies none of this. {cite:t}`khodja2025distractors` compare the true object with wrong ones that the
# model itself finds likely, which we do not.

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
sources: list[str] = []  # in results/, for what a rule guesses; none: this run
choices: list[str] = []  # the same, for wrong options and length
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
# Pairs and test facts are drawn once. Then each fact gets its wrong options in four ways: `random`, as in the paper; or
# the names most like the right one in `frequency` (objects of nearly as many facts), in `length` (names of nearly as many
# characters), or in `use` (names with the same places elsewhere in the set of facts: *France* is a country of films, of cities
# and of companies). A {term}`cue` gives an object away: it shares a word with the subject, or no other option is more often the
# object of a shown pair.


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
sample = facts.draw(fact_set, relations, **size, seed=seed, allow_fewer=True)
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
# The prompts do not depend on the options: so the right object has the same log-probability in all four ways.

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
# The model reads each question once, and we rank its options by two scores: `sum` is the log-probability of the whole name, the paper's score, and
# `per token` divides it by the number of tokens. `place` orders the options by characters, from 0, the shortest, to 1. This run
# repeats a few questions of a longer run, and must get the same answers.
# The longer run has three more scores: `per character`, and two that subtract from the sum the score of the same name after a prompt
# with nothing, or *N/A*, instead of the subject ({term}`PMI`).


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
# **What a rule can guess.** Four rules without a model see the subject, the options and the pairs: the option that shares most words
# with the subject; the one that the pairs show most often; the first of these if a word is shared, otherwise the second (`rule-both`); and the
# shortest. If options tie, each gets an equal part of the guess, so a rule's accuracy is an expectation. `of_rule` is the accuracy of
# the best of the four, which we chose on these very facts; that favours the rule.


# %%
def told(name: str, own: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Answers, with the cues and the best rule's share of each fact."""
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
table = stats.table(guessed, who, "what", percent=True)
table.loc[sources or ["this run"]].rename(figures.display_name)

# %% [markdown]
# Without a cue the rule is nearly always wrong, so compare that column with a blind guess. It may be too low as a measure of knowledge,
# since a model may also know facts with a cue; or too high, since a name can suggest a country without sharing a word.
#
# **Other wrong options.** The accuracy with each choice of options minus that with random ones, on the same facts after the same pairs; and the
# accuracy of the best rule. No choice takes the rule's share away.

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
people = (100 * ruled).round(0).rename(figures.display_name)
print(people.rename(columns="rule, {}".format).to_string())
people = moved.assign(
    moved=moved.apply(stats.format_estimate, axis=1, percent=True)
)
people.assign(**people[who].map(figures.display_name))

# %% [markdown]
# **Short and long objects.** The accuracy on objects in the first third of their options by characters minus that on objects
# in the last third, on facts without a cue, in relations with enough of both. A difference has two possible reasons: the score may
# favour short names, or facts with short names may be better known. So `wrong` looks at wrong answers alone: the place of the
# chosen option minus one half, which does not depend on knowledge of the fact. Below 0, short options win.

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
wins = missed.assign(wrong=missed.apply(stats.format_estimate, axis=1))
both = wins[[*score, "wrong"]]
if len(gap):
    gap["gap"] = gap.apply(stats.format_estimate, axis=1, percent=True)
    both = gap[[*score, "gap"]].merge(both, on=score)
both.assign(**both[who].map(figures.display_name))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-stands-rules`, at the top, look first at the rule and then at the models on all facts. If these overlap, the accuracy
# says nothing about knowledge. {numref}`fig-stands-moved` shows that other options move an accuracy little, and that by the sum
# short names lead in one set of facts and not in the other.
#
# ```{glue:figure} fig-stands-moved
# :name: fig-stands-moved
# :alt: Rows of marks with intervals around a line at zero: three choices of wrong options against random ones, then short minus long objects by each score, for each model and set of facts.
#
# Above: accuracy among options that are like the right one minus that among random ones. Below: accuracy on short objects minus that on long ones,
# by each score. Lines: 95 % over other relations.
# ```

# %% tags=["hide-input"]
rule = guessed[guessed["what"] == "best rule"].drop_duplicates("source")
marks = pd.concat([rule, guessed[guessed["what"] != "best rule"]])
name = marks["model"].map(figures.display_name) + ", " + marks["what"]
marks["who"] = name.where(marks["what"] != "best rule", "best rule")
marks["set"] = marks["source"].map(figures.display_name)
grid = figures.marks(marks, x="set", hue="who", height=4, aspect=1.8)
figures.glue_figure(grid.figure, "fig-stands-rules", marks)

# %% tags=["hide-input"]
marks = moved.assign(what="alike in " + moved["what"])
if len(gap):
    marks = pd.concat([marks, gap.assign(what="short, " + gap["score"])])
name = marks["model"].map(figures.display_name)
marks["who"] = name + "\n" + marks["source"].map(figures.display_name)
look = {"label": "difference in accuracy", "height": 4.5, "aspect": 1.3}
grid = figures.marks(marks, x="what", hue="who", across=True, **look)
grid.axes.flat[0].axvline(0, color="grey", ls=":")
figures.glue_figure(grid.figure, "fig-stands-moved", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper has none with other options or other scores. **Claims**, both ours, on the set of facts with most relations and the model
# that knows more of them. {Page}`10_iclke_relations` tests whether a model is above the best rule.

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
judged["model"] = judged["model"].map(figures.display_name)
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
    by_set = guessed[guessed["what"] != "no cue"].groupby(["source", "what"])
    by_set = by_set["estimate"].agg(["min", "max"]).unstack("what")
    above = by_set["min"]["best rule"] > by_set["max"]["all facts"]
    below = by_set["max"]["best rule"] < by_set["min"]["all facts"]
    near = by_set["max"]["all facts"] - by_set["max"]["best rule"]
    fair = gap[gap["score"] == "sum"].groupby("source")["low"].max()
    lean = missed["estimate"][missed["score"] == "sum"]
    holds |= {
        "above on KAMEL, below on the atlas": above.get("kamel", False)
        and below.get("atlas", False),
        "near on T-REx": 0 < near.get("trex", 1) < 0.1,
        "the model above the rule": top["estimate"]["all facts"]
        > top["estimate"]["best rule"],
        "in one set and not in the other": sorted(fair > 0) == [False, True],
        "wrong answers lean to short options as well": (lean < 0).all(),
    }
figures.sentence(holds if sources and choices else {})
figures.glue_values(
    name_model=figures.display_name(model),
    name_set=figures.display_name(first_set),
    rule=top.loc["best rule", "estimate"],
    model=top.loc["all facts", "estimate"],
    left=top.loc["no cue", "estimate"],
    between_model=stats.format_estimate(top.loc["all facts"], percent=True),
    between_left=stats.format_estimate(top.loc["no cue"], percent=True),
    effect=stats.format_estimate(top.loc["all facts"], percent=True),
    asked=f"{figures.display_name(model)}, {figures.display_name(first_set)}",
)

# %% [markdown]
# ## What you have seen
#
# - An accuracy is not the share of known facts: a rule that has read nothing gets a good part of it. A rule's accuracy differs between sets of facts, so a
#   gap between two sets says nothing about knowledge by itself.
# - Something remains: models find facts without a cue, far more often than a blind guess.
# - An accuracy among a hundred options belongs to these options. Options with the same use as the right one lower it, by a few points.
# - By the sum, wrong answers also lean to short options, so the score itself explains part of the lead of short names. Division by the number of
#   tokens may give the advantage to long names.
#
# **Counted again**, in plain Python: the main model's accuracy on facts without a cue.

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
# In which relations is the main model least above the rule, and in which most?
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
# How much of *your* facts can a rule guess, and does a larger model lose less among options that are like the right one? Put this into
# `params/mine.yaml`, and run `lke run params/mine.yaml`. With `sources: []` and `choices: []` the numbers of the page are from
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
