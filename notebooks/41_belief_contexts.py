# %% [markdown]
# # What do four examples change: knowledge, form or copying?
#
# **If the question doesn't contain the answer, {glue:text}`name_shown` finds {glue:text}`more:.0%` of T-REx's facts after four examples
# in the same words and almost none without examples; a rule without a model finds {glue:text}`rule:.0%`.**
#
# ```{glue:figure} fig-contexts-marks
# :name: fig-contexts-marks
# :alt: A panel for each fact set with three rows, right answers, answers of one word and agreement, and in each a mark with an interval for each kind of examples; among the right answers one more, of a rule.
#
# Four examples of any kind move all three rows to the right, form most of all. Facts whose question doesn't contain their answer. *Alike*: how often two
# wordings get the same answer. Lines: 95 % intervals over other relations.
# ```
#
# A model that reads from left to right can't fill a blank in the middle of a sentence, so it gets a task: *predict the mask*. Four solved questions
# show the form of an answer, the relation, the words, and sometimes the answer itself. Which of these helps? On the atlas, unlike T-REx, the model
# finds more than the rule.
#
# Some questions contain their answer: "Parliament of Norway". The paper's facts are LAMA-UHN, which has no such questions. In T-REx they are
# {glue:text}`echoes:.0%` of the asked facts, and {glue:text}`echoed:.0%` of the facts that the model finds without examples. Over all facts four examples
# bring {glue:text}`gained:.0f` points:
# - {glue:text}`form:.0f` with examples of any relation, which show little but the form;
# - {glue:text}`same_relation:.0f` more with examples of the same relation;
# - {glue:text}`same_words:.0f` with the same words;
# - {glue:text}`copied:.0f` for questions whose answer an example shows; of this, {glue:text}`easier:.0f` already with examples of any relation, so such
#   questions are easier.
#
# ## What the paper claims
#
# {cite:t}`zhao2024belief` put a question after four kinds of examples (Sections 3 and 5.3, Table 4). In our words: with four examples models find more
# facts, and the more the examples are like the question, the more they find; they also answer in one word far more often; and questions instead of masks,
# `qa`, change little once there are examples (Appendix D, Table 14).
#
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
redrawn: list[str] = []  # in results/: the first, after other examples
seed: int = 0
dtype: str = "float32"

# %% tags=["hide-input"]
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, papers, stats
from lkecore.answers import rules
from lkecore.facts import wordings as words
from lkecore.prompts.icl_prompts import KEY, of_sample
from lkecore.stats import coverage, match
from lkecore.stats import wordings as measures

figures.style()

# %% [markdown]
# ## Facts
#
# A *pair* is a relation and a subject; any of its true objects is right. Every pair is asked in every template.

# %%
n_test = max(400, n_facts)
size = {"n_shots": 0, "n_options": 2, "n_test": n_test, "seed": seed}
n_drawn = n_test if named else n_facts  # of these the ones with several names
drawn_relations = [*dict.fromkeys([*relations, *others])]
sample = facts.draw(fact_set, drawn_relations, **size, n_facts=n_drawn)
sample, texts, _ = words.onto(sample, wordings)
sample = words.pairs(sample)
sample = words.named(sample, fact_set=fact_set) if named else sample
for name, of in sample.items():  # some are there to be shown alone
    both = zip(of.facts, of.options, strict=True)
    both = [two for two in both if two[0].subject_aliases or not named]
    both = both[: n_facts if name in (relations or sample) else 0]
    its, options = tuple(zip(*both, strict=True)) or ((), ())
    sample[name] = replace(of, facts=its, options=options)
asked = {name: of for name, of in sample.items() if of.facts}
texts = texts[texts["template"].isin(templates or texts["template"])]
words.counts(asked, texts)

# %% [markdown]
# ## Prompts
#
# The texts are the paper's (appendix E), letter by letter: an instruction, solved questions, and an open question that ends with `A:`.
# "4-random" shows facts of any relation, "4-relation" facts of the asked relation, "4-template" facts of the asked relation in the asked words. The examples
# are drawn once for a template, from facts that are never asked. One pair, in all four ways, and as a question:

# %% covers=["BL-X0", "BL-S2", "BL-S3", "BL-S4"]
kinds = ["zero-shot", "4-random", "4-relation", "4-template"]
relation = next(iter(asked))
few, _ = of_sample(sample, kinds, templates=[0])
for context in kinds:
    print(context, few[context, relation, 0, 0, 0][0].context, sep="\n")
if texts.query("relation == @relation")["question"].any():
    only = {relation: sample[relation]}
    plain, _ = of_sample(only, ["zero-shot"], instruction="qa")
    print("qa", next(iter(plain.values()))[0].context, sep="\n")
questions, shown = {}, []
for instruction in instructions:
    places = (instruction == "mp" and templates) or None
    put = {"draws": draws, "instruction": instruction, "templates": places}
    made, beside = of_sample(sample, contexts, **put)
    shown.append(beside.assign(instruction=instruction))
    questions |= {(instruction, *key): some for key, some in made.items()}
by = ["instruction", *KEY]
at, only = by.index("template"), {*texts["template"]}  # a question may be none
questions = {k: some for k, some in questions.items() if k[at] in only}
shown = pd.concat(shown, ignore_index=True)[[*by, "fact", "shown"]]

# %% [markdown]
# ## Scores
#
# The model goes on greedily, to the end of the line or for ten tokens. An output is right if it contains a true name, word by word and in any
# inflection: "guitars" contains *guitar*, "New" does not contain *New York*. `exact`: it is that name and nothing else. `shown`: the examples show it.
# Some outputs are empty, which is wrong; {page}`42_belief_sure` counts them.

# %% covers=["BL-S5", "BL-M7"]
true = {(r, f.id): f.true_names for r, of in asked.items() for f in of.facts}


def read(said: pd.DataFrame) -> pd.DataFrame:
    both = said[["relation", "fact", "text"]].to_numpy()
    found = said.assign(one_word=said["text"].map(match.one_word))
    for name, rule in {"correct": match.holds, "exact": match.exact}.items():
        found[name] = [any(rule(t, n) for n in true[r, f]) for r, f, t in both]
    return found


this = "41_belief_contexts"
said = answers.write(
    models,
    answers.sample(questions, sources, 10, by=by),
    "written.parquet",
    max_new_tokens=10,
    stop="\n",
    by=by,
    reading=read,
    dtype=dtype,
)
of_text = texts.drop(columns="text").rename(columns={"question": "is_question"})
key = ["model", *by, "fact"]
said = said.merge(shown, on=[*by, "fact"], validate="m:1").merge(of_text)
measured = ["correct", "exact", "one_word", "shown", "manual", "is_question"]
ours = said[[*key, *measured]]  # without any text, so that it may ship
answers.save(ours, "answers.parquet")
answers.html_table(said[["context", "subject", "text", "correct"]].head())

# %% [markdown]
# **Do they agree?** {term}`Consist` is the share of all two wordings of a pair whose outputs are alike: one contains the other. `inner` is the share for two
# wordings of one group, which paraphrase each other, `inter` for wordings of two groups. `across`, our yardstick, is the share for two *subjects* in one
# wording.

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
answers.save(agree, "answers-agree.parquet")
these = sources and [*sources, *redrawn]
same = {"columns": ["correct", "one_word"], "least": 0.9}
found, main = answers.shown(this, ours, these, dtype=dtype, **same)
of_run = pd.DataFrame() if sources else agree  # few of a pair are asked again
agreed, _ = answers.shown(f"{this}-agree", of_run, sources)
cues = rules.without_options(asked)
cues, _ = answers.shown(f"{this}-cues", cues, sources)
answers.html_table(answers.columns(found))

# %% [markdown]
# ## Answers
#
# A number for each relation, mean over its pairs, templates and draws of examples; then the mean over relations, with Student's t. `spread` is the standard
# deviation over a relation's templates, without the part of luck; `best` the accuracy with its best template, chosen on half of the pairs and
# counted on the others. Examples are drawn for each template, so both also contain the luck of the draw. *None in it*: the subject's name contains no true
# object's name. `rule` (`rule-word` on other pages) names the object with most words in the subject's name, else the most frequent object of the facts to
# show; `frequent` always names the most frequent one.

# %% covers=["BL-T4"] shows=["run", "shipped"]
per, one_fact = ["source", "model", "context"], ["source", "relation", "fact"]
masks, some = (of[of["instruction"] == "mp"] for of in (found, agreed))
anew = masks[masks["source"].isin(redrawn)]
masks = masks.merge(cues, on=one_fact)
asked_in = set(masks.loc[masks["source"] == main, "context"])
begin, *_, last = 2 * [name for name in kinds if name in asked_in]
first = masks.loc[masks["source"] == main, "model"].iloc[0]
without = ["rule", "frequent"]  # in cues: without a model
ruled = cues.melt([*one_fact, "echo"], without, "context", "correct")
ruled = ruled.merge(masks[["source", "model"]].drop_duplicates())
rows = pd.concat([masks, ruled, some.merge(cues, on=one_fact)])
measured = "correct exact one_word consist inner inter across".split()
rows = rows.astype({"echo": bool} | dict.fromkeys(measured, float))
every, moves = [*per, "relation"], {}
for of, part in masks.groupby([*per, "draw"]):
    moves[of] = measures.crossed(part)[["best"]].join(measures.spread(part))
moves = pd.concat(moves, names=[*per, "draw"]).groupby(every).mean()
each = rows.groupby(every, sort=False)[measured].mean().join(moves)
none = rows[~rows["echo"]].groupby(every, sort=False)[measured].mean()
each = pd.concat({"all": each, "none in it": none}, names=["facts"])
each = each.rename_axis(columns="measure").sort_index()
cells = ["facts", *per, "measure"]
means = each.stack().dropna().rename("share").reset_index()
means = stats.estimate(means, cells, value="share")
table = stats.table(means, ["facts", "source", "measure"], per[1:])
means = means.set_index(cells)
order = [*kinds, *without]
table = table.rename({"spread": "spread (and draw)", "best": "best (and draw)"})
table.xs(main, level="source").reindex(columns=order, level="context")

# %% [markdown]
# First, the share of right prompts if the subject's name contains a true object (True) and if it contains none (False). Then how many facts the False part
# has (in the paper 27,106 of LAMA's 34,039; it also leaves out people whose names hint at a country, which it asks a model). Then the last kind of
# examples minus each rule. `above`: in how many relations the model beats both rules; the fact set with most such relations decides the claims.

# %%
mine = rows[(rows["source"] == main) & (rows["model"] == first)]
in_it = mine.groupby(["echo", "context"])["correct"].mean().unstack()
print(in_it.reindex(columns=order).round(3))
of_set = cues.drop_duplicates(["source", "relation"]).groupby("source")
print(of_set[["to_ask", "no_echo"]].sum())
wide = each["correct"].xs(first, level="model").unstack("context")
more = wide[without].rsub(wide[last], axis=0).rename_axis(columns="minus")
above = (more.min(axis=1) > 0).groupby(["facts", "source"]).sum()
more, cells = more.stack().rename("gap"), ["facts", "source", "minus"]
more = stats.estimate(more.reset_index(), cells, value="gap", bounds=None)
stats.table(more, cells[:2], "minus").assign(above=above)

# %% [markdown]
# **How far the accuracy moves, and how much many templates find.** Range and standard deviation of the accuracy if each relation gets a template by chance,
# 50,000 times ({page}`40_belief_wording`); the average, the best template (`maximum`, on the pairs that choose it) and any template (`oracle`); and the
# share of the finds (a fact in a template) that the last kind of examples also finds ({page}`44_belief_coverage`). One draw.

# %% covers=["BL-M2", "BL-M3", "BL-M4", "BL-T3", "BL-T7", "BL-T18", "BL-F2"] shows=["run", "shipped"]
one_draw = masks[masks["draw"] == masks["draw"].min()]
one_draw, moved = dict(list(one_draw.groupby(per, sort=False))), {}
for of, part in one_draw.items():
    v, its = measures.fluctuation(part), coverage.coverage(part)
    its = np.average(its.iloc[:, 1:], axis=0, weights=its["pairs"])
    top = one_draw.get((*of[:2], last), part)
    moved[of] = [np.ptp(v), v.std(), *its, coverage.sharing(part, top).iloc[0]]
columns = ["range", "stdev", "average", "maximum", "best elsewhere", "oracle"]
pd.DataFrame(moved, [*columns, "found again"]).T.rename_axis(per).round(3)

# %% [markdown]
# **Which part of the examples helps?** Each kind of examples adds one thing to the kind before: the form of an answer, with "4-random"; the
# relation; and its words. These steps are measured on questions whose answer no example shows. Questions with a
# shown answer gain more; the difference counts as *copying* (the last row), so a column sums to the gain of all questions.


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
    more = (every - unseen).diff(axis=1).iloc[:, 1:]
    steps["copying"] = more.sum(axis=1)
    off = steps.sum(axis=1, skipna=False) - every.diff(axis=1).sum(axis=1)
    assert off.dropna().abs().lt(1e-9).all()
    return steps.assign(easier=more.get("4-random", 0.0))  # few are shown yet


steps = {source: steps_of(part) for source, part in masks.groupby("source")}
steps = pd.concat(steps, names=["source"]).rename_axis(columns="step").dropna()
easier = steps.pop("easier").groupby(["source", "model"]).mean()
gain = steps.stack().dropna().rename("gain").reset_index()
by_step = ["source", "model", "step"]
gain = stats.estimate(gain, by_step, value="gain", bounds=None)
added = [*(f"to {name}" for name in kinds[1:]), "copying"]
stats.table(gain, "step", by_step[:2]).reindex(added)

# %% [markdown]
# **Masks or questions?** The templates that are questions, with a mask after them (`mp`), and alone (`qa`), as far as both were asked.

# %% covers=["BL-T14"] shows=["run", "shipped"]
both = found.query("is_question and source not in @redrawn")
both.pivot_table(["correct", "one_word"], per, "instruction").round(3)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-contexts-marks`, at the top, compare two rows: when the form jumps, do right answers follow?

# %% tags=["hide-input"]
titles = {"correct": "right", "one_word": "one word", "consist": "alike"}
drawn = means.loc["none in it"].reset_index()
drawn = drawn.assign(panel=drawn["measure"].map(titles)).dropna(subset="panel")
drawn["asked"] = drawn["model"].map(figures.display_name) + ", "
drawn["asked"] += (
    drawn["source"].map(figures.display_name).str.split(",").str[0]
)
rank = {name: i for i, name in enumerate([main, *titles, *order])}.get
by_rank = ["source", "measure", "context"]
drawn = drawn.sort_values(by_rank, key=lambda column: column.map(rank))
ways = {
    "zero-shot": "none", "4-random": "any relation",
    "4-relation": "same relation", "4-template": "same words",
    "rule": "rule, no model", "frequent": "most frequent object",
}  # fmt: skip
drawn["examples shown"] = drawn["context"].replace(ways)
look = {"x": "panel", "hue": "examples shown", "panel": "asked", "across": True}
grid = figures.marks(drawn, **look, label="share", height=2.8, aspect=1.2)
figures.glue_figure(grid.figure, "fig-contexts-marks", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Models and facts differ, so no number is comparable. As printed, Table 4; slips are listed in the chapter.

# %% tags=["hide-output"]
four = papers.table("belief_table4_instruction_following")
four.pivot(index=["metric", "setting"], columns="model", values="value")

# %% [markdown]
# **Claims** are about differences, relation by relation, over all facts; the last column has the other fact set. Each template has four examples
# of its own, and most of the variance over templates beyond luck comes from the draw of these examples{glue:text}`of_draw`. So two claims, on spread and on
# the best template, take three draws. `BL-inner-above-inter` is decided without examples; there two empty outputs don't count as alike.

# %%
behind = pd.concat([masks[masks["source"] == main], anew])
behind = behind.query("model == @first and context == '4-template'")
n_draws, split = behind["draw"].nunique(), {}
for name, part in behind.groupby("relation") if n_draws > 1 else ():
    right = part.pivot_table("correct", ["draw", "template"], "fact")
    right = right.to_numpy(float).reshape(n_draws, -1, right.shape[1])
    draw = measures.beyond_luck(right.swapaxes(0, 1)).mean()
    alone = measures.beyond_luck(right.mean(axis=0)) - draw / n_draws
    split[name] = [measures.beyond_luck(right).mean(), draw, alone]
split = pd.DataFrame(split, ["both", "draw", "words"]).T.rename_axis("relation")
print(f"{n_draws} draws: {split.mean().round(4).to_dict()}")


def tested(source: str) -> dict[str, pd.DataFrame]:
    its = each.loc["all", source, first]
    its = {k: its.query("context == @k").droplevel("context") for k in kinds}
    more = its["4-template"] - its["zero-shot"]
    found = {
        "BL-template-above": more["correct"],
        "BL-one-word": more["one_word"],
        "BL-template-steadier": more["spread"],
        "BL-template-gap": more["best"] - more["correct"],
        "BL-inner-above-inter": its["zero-shot"].eval("inner - inter"),
    }
    one = ["BL-template-steadier", "BL-template-gap"]  # if of one draw
    if source == main and n_draws > 2:
        one, alone = [], split["words"].clip(0) ** 0.5
        found["BL-template-steadier"] = alone - its["zero-shot"]["spread"]
        of_all = behind.assign(expression=behind["draw"])  # its mean counts
        gap = measures.crossed(of_all).eval("best - average")
        found["BL-template-gap"] = gap - its["zero-shot"].eval("best - correct")
    zero = masks[(masks[per] == [source, first, "zero-shot"]).all(axis=1)]
    if len(zero):
        manual = zero.groupby(["relation", "template"])["manual"].first()
        ranks = measures.ranks(zero)[manual].groupby("relation").mean()
        found["BL-rank-written"] = ranks - (zero["template"].nunique() + 1) / 2
    if "to 4-relation" in steps and (source, first) in steps.index:
        found["BL-relation-unshown"] = steps.loc[source, first]["to 4-relation"]
    made = {}
    for claim, gap in found.items():  # none where a kind was not asked
        if len(gap := gap.dropna().rename("gap").reset_index()):
            row = stats.estimate(gap, value="gap", bounds=None)
            if source not in decided_on[claim]:
                row["decided_on"] = source
            made[claim] = row.assign(untested=answers.ONE_DRAW * (claim in one))
    return made


decided_on = papers.claims("BL").set_index("id")["decided_on"]
tests = {source: tested(source) for source in masks["source"].unique()}
claims, other = {}, {}
for claim in dict.fromkeys(claim for made in tests.values() for claim in made):
    its = [source for source in tests if claim in tests[source]]
    its.sort(key=lambda source: source not in decided_on[claim])
    claims[claim], *rest = (tests[source][claim] for source in its)
    other[claim] = ", ".join(stats.format_estimate(row.iloc[0]) for row in rest)
judged = answers.verdicts(claims).assign(other=list(other.values()))
columns = ["claim", "model", "estimate", "low", "high", "verdict", "other"]
answers.html_table(judged[columns])

# %% tags=["hide-input", "page-only"]
ends = wide.loc["none in it"].groupby("source").mean()
gain = gain.set_index(by_step)["estimate"].sort_index()
at, points = ends.loc[main], gain.loc[main, first].reindex(added)
found_in = masks.query("source == @main and context == @begin and correct")
low = more[more["facts"] == "none in it"].groupby("source")["low"].min()
beats = low[main] < 0 < low.drop(main).min()
whole, drew, *_ = split.mean() if n_draws > 1 else [0, 0]
moves_of = means.loc["none in it", "estimate"].unstack("context")
moves_of = moves_of[moves_of.index.isin(titles, level="measure")]
moves_of = moves_of.reindex(columns=kinds).dropna(axis=1)
moves_of = moves_of.sub(moves_of[begin], axis=0)
most = moves_of[last].groupby("source").idxmax().str[-1]
holds = {
    "move all three rows to the right": (
        (moves_of.drop(columns=begin) > 0).all(axis=None)
    ),
    "form most of all": most.eq("one_word").all(),
    "in the same words": last == "4-template",
    "almost none": at[begin] < 0.01,
    "finds more than without": (ends[last] > ends[begin]).all(),
    "nearly all is in the question": found_in["echo"].mean() > 0.9,
    "beats both rules on the atlas alone": beats,
    "mostly the form": points.idxmax() == "to 4-random",
    "these questions are easier": easier[main, first] > 0,
    "most is the draw": n_draws < 2 or drew > whole / 2,
}  # of a few questions they need not hold
figures.sentence(holds if sources else {})
echo = cues.loc[cues["source"] == main, "echo"].mean()
parts = ["form", "same_relation", "same_words", "copied"]
best = means.loc["none in it", main, first, last, "correct"]
gone = f"{(split.iloc[:, 2:] <= 0).to_numpy().sum()} of {len(split)} relations"
of_draw = f" ({drew:.4f} of {whole:.4f}, and all in {gone})"
figures.glue_values(
    of_draw=of_draw if n_draws > 1 else "-",
    name_shown=figures.display_name(first),
    effect=stats.format_estimate(best, percent=True),
    asked=f"{figures.display_name(first)}, {figures.display_name(main)}",
    more=at[last],
    rule=at[without].max(),
    echoes=echo,
    echoed=found_in["echo"].mean(),
    **dict(zip(parts, 100 * points, strict=True)),
    gained=100 * points.sum(),
    easier=100 * easier[main, first],
)

# %% [markdown]
# ## What you have seen
#
# - Without examples we mostly measure whether the model understands the task: nearly all answers that it finds are in the question.
# - Examples that show the form alone help most. A part of what other examples add is copied, which the paper doesn't distinguish.
# - After four examples the model isn't shown to find more of T-REx than a rule without a model; on the atlas it finds more.
#
# ## Try it
#
# ```{exercise}
# :label: ex-contexts-known
# In half of T-REx's relations four examples don't beat both rules. Does the model know nothing of these?
# ```
# ````{solution} ex-contexts-known
# :class: dropdown
# That does not follow: it may have other facts right than the rules. Count its right answers among the facts that `rule-word`, in `cues`, has wrong.
# ````
