# %% [markdown]
# # What do four examples change: knowledge, form or copying?
#
# **Behind four examples in the same words, {glue:text}`name_shown` finds {glue:text}`more` of the facts instead of
# {glue:text}`less`, and answers in one word {glue:text}`one_more` of the time instead of {glue:text}`one_less`.**
#
# ```{glue:figure} fig-contexts-marks
# :name: fig-contexts-marks
# :alt: A panel for each fact set with three rows, right answers, answers of one word and agreement, and in each a mark with an interval for each kind of examples.
#
# Examples first of all say in which form to answer: answers of one word move furthest. *Alike*: how often two wordings get the same
# answer. Lines: 95 % over other relations.
# ```
#
# A model that reads from left to right can't fill a blank in the middle of a sentence, so it is given a task: *predict the mask*. Four
# solved questions show in which form to answer. They also show which relation is meant, in which words, and sometimes the answer
# itself. Which of these helps? Whoever always says the most frequent object of a relation is right in {glue:text}`rule` of the cases.
#
# Of the {glue:text}`gained` points gained on another fact set, {glue:text}`name_other`, {glue:text}`form` come with examples of any
# relation, which show little but the form; {glue:text}`same_relation` more with those of the same relation; the same words move it by
# {glue:text}`same_words`; and {glue:text}`copied` are gained where an example shows the answer itself.
#
# ```{glue:} carried
# ```

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` put a question behind four kinds of examples (Sections 3 and 5.3, Table 4). In our words: with four examples
# models find more facts, and more so the more the examples are like the question; they also answer in one word far more often; and
# questions instead of masks, `qa`, change little once there are examples (Appendix D, Table 14).

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital", "official_language"]  # none: all
wordings: str = ""  # table of templates; empty: the fact set's own, or ours
templates: list[int] = []  # places of the templates, from 0; none: all
contexts: list[str] = ["zero-shot", "4-template"]  # or 4-random, 4-relation
draws: list[int] = [0, 1, 2]  # seeds that draw the examples
instructions: list[str] = ["mp"]  # fill the mask; "qa": answer the question
others: list[str] = []  # more relations whose facts 4-random may show
n_facts: int = 20  # pairs of each relation
named: bool = False  # pairs with several names, by each of them
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, papers, runs, stats
from lkecore.facts import wordings as words
from lkecore.facts.tables import fold
from lkecore.prompts import contexts as tasks
from lkecore.stats import match
from lkecore.stats import wordings as measures

figures.style()

# %% [markdown]
# ## Facts
#
# A *pair* is a relation and a subject; any of its true objects is right. Every pair is asked in every template.

# %%
of_test = max(400, n_facts)
size = {"n_shots": 0, "n_options": 2, "n_test": of_test, "seed": seed}
size["n_facts"] = of_test if named else n_facts
names = dict.fromkeys([*relations, *others])
sample = facts.draw(fact_set, [*names], **size)
sample, texts, _ = words.onto(sample, wordings)
sample = words.pairs(sample)
sample = words.named(sample, fact_set=fact_set) if named else sample
for name, of in sample.items():
    ask = not relations or name in relations  # others are there to be shown
    both = zip(of.facts, of.options, strict=True)
    both = [
        two for two in both if ask and (two[0].subject_aliases or not named)
    ]
    its, options = tuple(zip(*both[:n_facts], strict=True)) or ((), ())
    sample[name] = replace(of, facts=its, options=options)
asked = {name: of for name, of in sample.items() if of.facts}
if templates:
    texts = texts[texts["template"].isin(templates)]
words.counts(asked, texts)

# %% [markdown]
# ## Prompts
#
# The texts are those of the paper's appendix E, letter by letter: an instruction, solved questions, and one that is open behind `A:`.
# "4-random" shows facts of any relation, "4-relation" of the asked one, "4-template" of the asked one in the asked words. The examples
# are drawn once for a template, from facts that nobody asks. One pair, in all four ways, and as a question:

# %% covers=["BL-X0", "BL-S2", "BL-S3", "BL-S4"]
kinds = ["zero-shot", "4-random", "4-relation", "4-template"]
relation = next(iter(asked))
few, _ = tasks.of_sample(sample, kinds, templates=[0])
for context in kinds:
    print(context, few[context, relation, 0, 0, 0][0].context, sep="\n")
if texts.query("relation == @relation")["question"].any():
    only = {relation: sample[relation]}
    plain, _ = tasks.of_sample(only, ["zero-shot"], instruction="qa")
    print("qa", next(iter(plain.values()))[0].context, sep="\n")

# %%
questions, shown = {}, []
for instruction in instructions:
    made, beside = tasks.of_sample(
        sample,
        contexts,
        draws=draws,
        templates=templates or None if instruction == "mp" else None,
        instruction=instruction,
    )
    shown.append(beside.assign(instruction=instruction))
    questions |= {(instruction, *key): some for key, some in made.items()}
by = ["instruction", *tasks.KEY]
if templates:  # a question may be none of them
    at = by.index("template")
    questions = {k: some for k, some in questions.items() if k[at] in templates}
shown = pd.concat(shown, ignore_index=True)[[*by, "fact", "shown"]]
print(f"{sum(map(len, questions.values())):,} prompts")

# %% [markdown]
# ## Scores
#
# The model goes on greedily, to the end of the line or for ten tokens. An output is right if a true name is in it, word by word and in any
# inflection: "guitars" has *guitar*, "New" hasn't *New York*. `exact`: it is that name and nothing else. `shown`: the examples show it.

# %% covers=["BL-S5", "BL-M7"]
true = {
    (name, fact.id): fact.true_names
    for name, of in asked.items()
    for fact in of.facts
}


def read(said: pd.DataFrame) -> pd.DataFrame:
    both = said[["relation", "fact", "text"]].to_numpy()
    found = said.assign(one_word=said["text"].map(match.one_word))
    for name, rule in {"correct": match.holds, "exact": match.exact}.items():
        found[name] = [any(rule(t, n) for n in true[r, f]) for r, f, t in both]
    return found


this = "41_belief_contexts"
how = {"by": by, "dtype": dtype, "page": page, "reading": read}
how |= {"max_new_tokens": 10, "stop": "\n"}
said = answers.write(models, questions, "written.parquet", **how)
of_text = texts.rename(columns={"question": "is_question"})
of_text = of_text.drop(columns="text")
key = ["model", *by, "fact"]
said = said.merge(shown, on=[*by, "fact"], validate="m:1").merge(of_text)
measured = ["correct", "exact", "one_word", "shown", "manual", "is_question"]
ours = said[[*key, *measured]]
answers.words(said[["context", "subject", "text", "correct"]].head())

# %% [markdown]
# **Do they agree?** {term}`Consist` is the share of all two wordings of a pair whose outputs are alike: one holds the other. `inner` is that of two
# wordings of one group, which paraphrase each other, `inter` of two groups. `across`, our yardstick, is that of two *subjects* in one wording.

# %% covers=["BL-E1"]
one = ["model", "instruction", "context", "draw", "relation"]
compared = said.rename(columns={"text": "answer"})
like = {"same": match.alike}
by_first = compared[compared["expression"] == 0]
agree = measures.consist(by_first, [*one, "fact"], group="group", **like)
if named:
    names = measures.consist(compared, [*one, "fact", "template"], **like)
    agree["names"] = names["consist"].groupby([*one, "fact"]).mean()
across = measures.consist(by_first, [*one, "template"], **like)["consist"]
across = across.groupby(one).mean().rename("across").reset_index()
agree = agree.drop(columns="weight").reset_index().merge(across, on=one)
if not page:  # without any text, so that they may ship
    answers.keep(ours, "answers.parquet")
    answers.keep(agree, "answers-agree.parquet")
main = (sources or ["this run"])[0]
found, agreed = (frame.assign(source=main) for frame in (ours, agree))
if sources:
    found, agreed = (
        answers.results(name).query("source in @sources")
        for name in (this, f"{this}-agree")
    )
    ships = found[found["source"] == main]
    answers.agree(ours, ships, key, ["correct", "one_word"])
answers.words(answers.columns(found))

# %% [markdown]
# ## Answers
#
# A number for each relation, mean over its pairs, templates and draws of examples; then the mean over relations, with Student's t. `spread` is the
# standard deviation over a relation's templates, without what luck adds to it; `best` how far its best template is above the average one.
# `rule` needs no model: the share of a relation's facts that its most frequent object is true of.

# %% covers=["BL-T4"] shows=["run", "shipped"]
per = ["source", "model", "context", "relation"]
masks = found[found["instruction"] == "mp"]
asked_in = set(masks.loc[masks["source"] == main, "context"])
begin, *_, last = 2 * [name for name in kinds if name in asked_in]
each = masks.groupby(per, sort=False)[["correct", "exact", "one_word"]].mean()
at = masks.groupby([*per, "draw", "template"])["correct"].mean()
at = at.groupby([*per, "draw"]).agg(["max", "mean"])
each["best"] = (at["max"] - at["mean"]).groupby(per).mean()
some = agreed[agreed["instruction"] == "mp"].groupby(per)
each = each.join(some[["consist", "inner", "inter", "across"]].mean())
moves = {
    tuple(of): measures.spread(part)
    for of, part in masks.groupby([*per[:3], "draw"])
}
moves = pd.concat(moves, names=[*per[:3], "draw"]).groupby(per).mean()
each = each.join(moves)


def frequent(relation: str) -> float:
    its = facts.load(fact_set, relation).facts
    most = pd.Series([fact.object for fact in its]).mode()[0]
    return np.mean([fold(most) in fact.true_names for fact in its])


rule = {name: frequent(name) for name in each.loc[main].index.unique(-1)}
each["rule"] = each.index.get_level_values("relation").map(rule)
long = each.stack().dropna().rename("share").rename_axis([*per, "measure"])
long = long.reset_index()
means = stats.estimate(long, [*per[:3], "measure"], value="share")
table = means.assign(text=means.apply(stats.said, axis=1))
table.query("source == @main").pivot(
    index="measure", columns=["model", "context"], values="text"
)

# %% [markdown]
# **Where does it come from?** From one kind of examples to the next, one thing is added: the form of an answer, with "4-random"; which
# relation is meant; and its words. All these steps are taken on questions of which no example shows the answer. What questions with a
# shown answer gain more than these is put down to *copying* (the last row):
#
# $$\underbrace{a_\text{last} - a_\text{zero-shot}}_\text{all questions} = \sum \text{steps}_\text{not shown} + \text{copying}$$


# %%
def steps_of(part: pd.DataFrame) -> pd.DataFrame:
    order = [name for name in kinds if name in set(part["context"])]
    unit = ["model", "relation", "template", "expression", "fact", "draw"]
    none = part["context"] == "zero-shot"  # the same behind each draw
    again = part[none].drop(columns="draw")
    again = again.merge(part[["draw"]].drop_duplicates(), how="cross")
    part = pd.concat([again, part[~none]])
    right = part.pivot(index=unit, columns="context", values="correct")
    seen = part.groupby(unit)["shown"].any().reindex(right.index)
    right = right[order].astype(float)
    every = right.groupby(unit[:2]).mean()
    unseen = right[~seen].groupby(unit[:2]).mean()
    steps = unseen.diff(axis=1).iloc[:, 1:].add_prefix("to ")
    steps["copying"] = every[order[-1]] - every[order[0]] - steps.sum(axis=1)
    return steps.dropna()  # a relation all of whose answers are shown


steps = {source: steps_of(part) for source, part in masks.groupby("source")}
steps = pd.concat(steps, names=["source"]).rename_axis(columns="step")
gains = steps.stack().dropna().rename("gain").reset_index()
by_step = ["source", "model", "step"]
gain = stats.estimate(gains, by_step, value="gain", bounds=None)
in_words = gain.set_index(by_step).apply(stats.said, axis=1)
order = [*(f"to {name}" for name in kinds[1:]), "copying"]
in_words.unstack(by_step[:2]).reindex(order).dropna(how="all")

# %% [markdown]
# **Masks or questions?** The templates that are questions, put with a mask behind them (`mp`), and alone (`qa`), as far as both were asked.

# %% covers=["BL-T14"] shows=["run", "shipped"]
both = found[found["is_question"]].groupby([*per[:3], "instruction"])
both[["correct", "one_word"]].mean().unstack("instruction").round(3)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-contexts-marks`, at the top, compare two rows: where the form jumps, do right answers follow?

# %% tags=["hide-input"]
titles = {"correct": "right", "one_word": "one word", "consist": "alike"}
drawn = means.assign(panel=means["measure"].map(titles)).dropna(subset="panel")
drawn["asked"] = drawn["source"].map(figures.called).str.split(",").str[0]
if drawn["model"].nunique() > 1:
    drawn["asked"] = drawn["model"].map(figures.called) + ", " + drawn["asked"]
drawn["rank"] = drawn["context"].map(kinds.index)
drawn["second"] = drawn["source"] != main
drawn = drawn.sort_values(["second", "rank"], kind="stable")
look = {"x": "panel", "hue": "context", "panel": "asked", "across": True}
grid = figures.marks(drawn, **look, label="share", height=2.8, aspect=1.2)
figures.place(grid.figure, "fig-contexts-marks", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Models and facts differ, so no number is comparable. As printed, Table 4 and Table 14:

# %% tags=["hide-output"]
four = papers.table("belief_table4_instruction_following")
four.pivot(index=["metric", "setting"], columns="model", values="value")

# %% tags=["hide-output"]
printed = papers.table("belief_table14_qa_vs_mp")
columns = ["metric", "instruction_style"]
printed.pivot(index="icl_setting", columns=columns, values="value")

# %% [markdown]
# **Slips.** Section D.2 says that questions do better without examples; Table 14 has .4534 for them and .5066 for masks, and only the rate of one word
# is higher. It cites Table 4 where it means Table 14. Four one-word rates of Llama2-7B differ from Table 16's. Examples E.3 and E.4 ask about
# another subject than E.1 and E.2.
#
# **Claims** are about differences, relation by relation. Without examples next to nothing is found here, and what is 0 can't move with
# the words: whether examples make an accuracy steadier says little of this model.


# %%
def change(of: pd.Series) -> pd.DataFrame:
    gap = of.rename("gap").reset_index()
    got = stats.estimate(gap, value="gap", bounds=None)
    return got.assign(decided_on=main)


claims = {}
there = each.loc[main].index.unique("model")
first = next((name for name in models if name in there), there[0])
its = each.loc[main, first]
if {"zero-shot", "4-template"} <= asked_in:
    gaps = its.xs("4-template") - its.xs("zero-shot")
    claims["BL-template-above"] = change(gaps["correct"])
    claims["BL-one-word"] = change(gaps["one_word"])
    claims["BL-template-steadier"] = change(gaps["spread"])
    claims["BL-template-gap"] = change(gaps["best"])
zero = masks.query("model == @first and context == 'zero-shot'")
zero = zero[zero["source"] == main]
if len(zero):
    inner = its.xs("zero-shot")
    inner = (inner["inner"] - inner["inter"]).dropna()
    if len(inner):  # templates of two groups
        claims["BL-inner-above-inter"] = change(inner)
    ranks = measures.ranks(zero).reset_index()
    written = zero[["relation", "template", "manual"]].drop_duplicates()
    ranks = ranks.merge(written).query("manual")
    middle = (zero["template"].nunique() + 1) / 2
    ranks = ranks.groupby("relation")["rank"].mean() - middle
    claims["BL-rank-written"] = change(ranks)
for source in sources[1:]:  # of T-REx
    its = steps.loc[source]
    if "to 4-relation" in its and first in its.index:
        of = change(its.loc[first, "to 4-relation"])
        claims["BL-relation-unshown"] = of.assign(decided_on=source)
judged = answers.verdicts(claims)
columns = ["claim", "model", "estimate", "low", "high", "verdict"]
answers.words(judged[columns])

# %% tags=["hide-input", "page-only"]
other = (sources or [main])[-1]
at = means.query("source == @main and model == @first")
at = at.set_index(["measure", "context"])["estimate"]
of_steps = gain.query("model == @first").pivot(
    index="step", columns="source", values="estimate"
)
points = of_steps[other].reindex(order)
both = ("correct", "one_word")
gap = at.get(("one_word", "4-random"), np.nan) - at["one_word", last]
holds = {
    "in the same words": last == "4-template",
    "instead of fewer": all(at[of, last] > at[of, begin] for of in both),
    "next to nothing": at["correct", begin] < 0.05,
    "help most": (of_steps.idxmax() == "to 4-random").all(),
    "of any relation as of the same": abs(gap) < 0.05,
}  # of a few questions they need not hold
figures.sentence(holds if sources else {})
percent = {
    "more": at["correct", last],
    "less": at["correct", "zero-shot"],
    "one_more": at["one_word", last],
    "one_less": at["one_word", "zero-shot"],
    "rule": at["rule", last],
}
parts = ["form", "same_relation", "same_words", "copied"]
best = means.query("source == @main and model == @first")
[best] = best.query("measure == 'correct' and context == @last").iloc
figures.findings(
    name_shown=figures.called(first),
    effect=stats.said(best, percent=True),
    asked=f"{figures.called(first)}, {figures.called(main)}",
    **{name: f"{100 * share:.0f} %" for name, share in percent.items()},
    name_other=figures.called(other).split(",")[0],
    gained=f"{100 * points.sum():.0f}",
    **{n: f"{100 * gain:.0f}" for n, gain in zip(parts, points, strict=True)},
)
longer = f" The numbers are of {len(found):,} that ship: {', '.join(sources)}."
figures.note("carried", answers.carried(said) + longer * bool(sources))

# %% [markdown]
# ## What you have seen
#
# - Without examples much of what is measured is whether the model understands the task.
# - Examples that show nothing but the form help most: of any relation as of the same, they bring answers of one word. What those of
#   the same relation add is in part copied, which the paper doesn't tell apart.
# - Agreement has a yardstick: a model that says the same to everybody agrees with itself.
#
# The Consist of one pair once more, from its definition:

# %%
of_pair = compared.groupby([*one, "fact"])["answer"]
pair, outputs = next(iter(of_pair))
two = [(a, b) for i, a in enumerate(outputs) for b in outputs.iloc[:i]]
like = [match.holds(a, b) or match.holds(b, a) for a, b in two]
kept = agree.set_index([*one, "fact"])["consist"].loc[pair]
assert np.isclose(np.mean(like), kept, equal_nan=True)

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-contexts-exact
# A stricter reader accepts an output only if it is a true name and nothing else. How much of the gain is left, and why does it grow?
# ```

# %% [markdown]
# ````{solution-start} ex-contexts-exact
# :class: dropdown
# ````

# %%
wide = each.loc[main, ["correct", "exact"]].groupby(["model", "context"]).mean()
wide.round(3)

# %% [markdown]
# Without examples hardly any output is only a name: "the city of Paris" is right, and not exact. So the gain is larger by what examples
# change in the form alone.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-contexts-known
# Do examples bring out facts that no wording without examples finds, or those that some wording had found already?
# ```

# %% [markdown]
# ````{solution-start} ex-contexts-known
# :class: dropdown
# ````

# %%
unit = ["model", "relation", "fact", "context"]
of_pair = masks[masks["source"] == main].groupby(unit)["correct"]
wide = of_pair.mean().unstack("context")
wide["gain"] = wide[last] - wide[begin]
wide["found before"] = wide[begin] > 0
wide.groupby(["model", "found before"])["gain"].agg(["sum", "size"]).round(2)

# %% [markdown]
# `sum` is the gain of all pairs of a kind together, `size` how many there are.
#
# ````{solution-end}
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
