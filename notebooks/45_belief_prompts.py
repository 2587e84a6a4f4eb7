# %% [markdown]
# # What moves an answer more: another name or another template?
#
# **In the lab, where other names are unrelated words, two names of a subject get the same answer in {glue:text}`names:.0%` of cases, and two templates
# in {glue:text}`templates:.0%`.**
#
# ```{glue:figure} fig-prompts
# :name: fig-prompts
# :alt: One panel with rows for how often the text used the other name, and two marks with intervals in each, for names and for templates.
#
# The more often the text uses the other name, the more names agree; templates agree more than names in each row. How often
# two prompts about one pair get the same answer ({glue:text}`name_shown`), by the number of statements under the other name; lines: 95 % intervals over
# other pairs.
# ```
#
# A prompt is a sentence with a name in it. The sentence and the name can both be replaced. Which of the two matters more? Does it matter who wrote the
# sentences, and what is a good set of them? The lab reverses the paper's result, in which names agree more. For real names, which often share words,
# the question is open{glue:text}`real`.
#
# Names agree more when the text used both, in up to {glue:text}`often:.0%` of cases. Is that because such facts are stated more often at all? No: among facts
# stated {glue:text}`control_from` times or more, names agree in {glue:text}`control_rare` of cases if at most 4 statements use the other name, and in
# {glue:text}`control_often` if more do.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` build MyriadLAMA for the 41 relations of LAMA-UHN: five templates a relation by hand, each paraphrased 19 times
# by GPT-4, and other names from Wikidata (Section 4, appendix A). They say that their set is more diverse than others (Table 8) and
# nearly as good (Table 9), that templates move answers more than names (Table 12), and that generated templates are as good as
# manual templates, but agree most with the manual template that they paraphrase (Table 13).
#
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/2m"]  # that read from left to right
fact_set: str = "lab:rich-1"
relations: list[str] = []  # empty: all of the fact set
wordings: str = ""  # table of templates; empty: the fact set's own, or ours
n_facts: int = 6  # pairs of each relation, of subjects with another name
sources: list[str] = []  # in results/, of the numbers; none: this run
lab_sources: list[str] = []  # of 40_belief_wording: all pairs of two names
name_sources: list[str] = []  # of 41_belief_contexts, for the claim on names
seed: int = 0  # draws facts and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
from dataclasses import replace

import pandas as pd

from lkecore import answers, facts, figures, papers, stats, worlds
from lkecore.errors import BadInput
from lkecore.facts import filters
from lkecore.facts import wordings as words
from lkecore.facts.tables import fold
from lkecore.prompts import icl_prompts
from lkecore.scores import blanks
from lkecore.stats import wordings as measures

figures.style()

# %% [markdown]
# ## Facts
#
# Pairs whose subject has another name and whose object is one token. In a world of the lab the other name is an invented word. Nothing but the text connects
# it to the first name, and the text uses it in no more than a quarter of the statements of a fact, for many pairs in none.

# %% covers=["BL-D3", "BL-D4"]
every = {"n_shots": 0, "n_facts": None, "n_options": 2}
sample = facts.draw(fact_set, relations, **every, seed=seed, allow_fewer=True)
sample, texts, _ = words.onto(sample, wordings)
sample = words.pairs(words.named(sample, fact_set=fact_set))
tokenizers = [answers.opened(name, dtype).tokenizer for name in models]
one, _ = filters.one_token(sample, tokenizers)
named = {}
for relation, of in one.items():
    both = zip(of.facts, of.options, strict=True)
    both = [each for each in both if each[0].subject_aliases][:n_facts]
    if len(both) > 1:
        its, options = zip(*both, strict=True)
        named[relation] = replace(of, facts=its, options=options)
if not named:
    raise BadInput(f"{fact_set}: no subjects with other names, asked here")
words.counts(named, texts)

# %% [markdown]
# ## Prompts
#
# Each template that ends with its blank, with each name. One pair by both names, in two templates:

# %%
questions = icl_prompts.blank_prompts(named, closed=False)
first = next(iter(named))
for number in (0, 5):
    print([questions[first, number, name][0].context for name in (0, 1)])

# %% [markdown]
# ## Scores
#
# `answer` is the likeliest token of the whole vocabulary, right if it is a true object; `logprob` is the log-probability of the true object, in nats.
# This run asks a few pairs; the numbers of the page are from a longer run on all pairs, and the few log-probabilities must agree with it.

# %%
true = {f.id: f.true_names for of in named.values() for f in of.facts}


def read(model, scores: pd.DataFrame) -> pd.DataFrame:
    gold = scores.loc[scores["gold"], ["fact", "answer", "logprob"]]
    said = gold[["fact", "answer"]].to_numpy()
    return gold.assign(correct=[fold(a) in true[f] for f, a in said])


by = ["relation", "template", "expression"]
asked = answers.ask(
    models,
    answers.sample(questions, sources, 20, by=by),
    "asked.parquet",
    by=by,
    score=blanks.tops,
    reading=read,
    dtype=dtype,
)
asked = asked[["model", *by, "fact", "answer", "logprob", "correct"]]
answers.save(asked, "answers.parquet")
found, _ = answers.shown("45_belief_prompts", asked, sources, dtype=dtype)
shown = found["model"].iloc[0]
answers.html_table(answers.columns(found))

# %% [markdown]
# ## Answers
#
# **Names or templates.** {term}`Consist` of a pair is the share of all two of its prompts that have the same answer. Here the two prompts differ
# in nothing but the name (*names*), or in nothing but the template (*templates*, by the first name). *Others* is how often the answers about two
# *different* subjects are the same in one template. Prompts that agree no more than that say nothing about the subject.


# %%
def consist_of(some: pd.DataFrame) -> pd.DataFrame:
    """How far answers agree, over names, over templates and over subjects."""
    first = some[some["expression"] == 0]
    pair, parts = ["relation", "fact"], {}
    parts["names"] = measures.consist(some, [*pair, "template"])
    parts["templates"] = measures.consist(first, pair)
    parts["others"] = measures.consist(first, ["relation", "template"])
    parts = {what: rows.reset_index() for what, rows in parts.items()}
    return pd.concat(parts, names=["varied", ""]).reset_index("varied")


def of_pairs(agree: pd.DataFrame) -> pd.DataFrame:
    """A row for each pair and what is varied: the mean."""
    pairs = agree.query("varied != 'others'")
    pairs = pairs.groupby(["varied", "relation", "fact"], sort=False)
    return pairs["consist"].mean().reset_index()


of_model = found[found["model"] == shown]
agree = consist_of(of_model)
agreed = stats.estimate(agree, ["varied"], value="consist")
pairs = of_pairs(agree)
versus = ["varied", "names", "templates"]
names_more = stats.compare(pairs, *versus, value="consist")
print("names minus templates", stats.format_estimate(names_more))
agreed.set_index("varied").apply(stats.format_estimate, axis=1)

# %% [markdown]
# The accuracy of the worse and the better name, and of the worst and the best template, mean over relations (the paper's other half of Table
# 12). Facts that no text states are included.

# %% covers=["BL-T12"] shows=["run", "shipped"]
worst = {}
for what in ("expression", "template"):
    mean = of_model.groupby(["relation", what])["correct"].mean()
    worst[what] = mean.groupby("relation").agg(["min", "max"]).mean()
called = {"expression": "name"}
pd.DataFrame(worst).T.round(3).rename(called)

# %% [markdown]
# **Why.** Pairs that the text states, by the number of statements under the other name. If there are none, two names agree hardly more often
# than two subjects.

# %%
world = shown.rpartition("/")[0]
if worlds.is_rich(world):
    told = worlds.states(world).query("occurrences > 0")
    told = pairs.merge(told[["relation", "fact", "by_alias"]])
    labels = ["never", "1 to 4 times", "5 to 8 times", "more often"]
    bins = pd.cut(told["by_alias"], [-1, 0, 4, 8, 100], labels=labels)
    told["said"] = bins.astype(str)
else:
    told = pairs.assign(by_alias=0, said="unknown")
told = told.sort_values("by_alias", kind="stable")
told["pair"] = told.pop("relation") + told["fact"].astype(str)  # all alike
how = {"value": "consist", "over": "pair", "seed": seed}
dose = stats.estimate(told, ["said", "varied"], **how)
shown_in = stats.table(dose, "said", "varied").loc[dose["said"].unique()]
shown_in.rename_axis("under the other name")

# %% [markdown]
# **A control.** The text uses the other name more often for facts that it states more often at all, and templates also agree more on these. So compare
# facts that are stated equally often: those with {glue:text}`control_from` statements or more, by the number of statements under the other name.

# %%
MANY, rare = 32, pd.DataFrame(columns=["said", "varied"])
if worlds.is_rich(world):
    total = worlds.states(world)
    total.index = total["relation"] + total["fact"].astype(str)
    same = told[told["pair"].map(total["occurrences"]) >= MANY]
    few = same["by_alias"] <= 4
    same = same.assign(said=few.map({True: "4 or fewer", False: "more"}))
    rare = stats.estimate(same, [*rare], **how) if len(same) else rare
stats.table(rare, "said", "varied") if len(rare) else None

# %% [markdown]
# ## Figure
#
# In {numref}`fig-prompts`, at the top, go down the marks of names: they move right as the text uses the other name more.

# %% tags=["hide-input"]
look = {"x": "under the other name", "hue": "two", "across": True}
label = "share of two prompts with the same answer"
marks = dose.rename(columns={"said": look["x"], "varied": "two"})
grid = figures.marks(marks, **look, label=label, height=2.6, aspect=2)
figures.glue_figure(grid.figure, "fig-prompts", dose)

# %% [markdown]
# **Is the other name ever better?** The paper counts how often an added name does better than the original (Table 10). For subjects:
# how often is the true object likelier after the other name? Half would be no difference.

# %% covers=["BL-T10"] shows=["run", "shipped"]
by_name = of_model.pivot_table(
    "logprob", ["relation", "fact", "template"], "expression"
)
better = (by_name[1] > by_name[0]).groupby("relation").mean().mean()
print(f"ours, subjects, {figures.display_name(shown)}: {better:.2f}")
printed = papers.table("belief_table10_extended_entities")
printed.pivot_table("rate_extended_ranked_higher", "model", "entity_kind")

# %% [markdown]
# **Written or paraphrased.** Templates are in groups: one that was written first, and its paraphrases. Do answers agree more within a
# group (*inner*) than between groups (*inter*)? And what is the mean {term}`rank`, by accuracy, of the templates written first (the middle would be
# no difference)? {Page}`41_belief_contexts` asks both of a real model.

# %% covers=["BL-T13"] shows=["run", "shipped"]
groups = texts[["relation", "template", "group", "manual"]]
grouped = of_model[of_model["expression"] == 0].merge(groups)
inner = measures.consist(grouped, group="group")[["inner", "inter"]]
here = inner.groupby("relation").mean().mean()
ranks = measures.ranks(grouped).reset_index().merge(groups)
here["rank"] = ranks.loc[ranks["manual"], "rank"].mean()
here["middle"] = (ranks.groupby("relation").size().mean() + 1) / 2
here.round(3)

# %% [markdown]
# ## What is a good set?
#
# **Many and diverse** (the paper's Table 8). *Lexicon* is the mean Jaccard distance of the words of all two templates of a relation. We have not computed
# trees and sentence embeddings.

# %% covers=["BL-T8"]
diverse = papers.table("belief_table8_prompt_diversity")
diverse = diverse.pivot(index="dataset", columns="quantity", values="value")
sets = {"ours, atlas": words.read(), f"ours, {fact_set}": texts}
for name, of in sets.items():
    each = of.groupby("relation")["text"].apply(list).map(words.jaccard)
    diverse.loc[name, "lexicon_jaccard_distance"] = each.mean()
asked_all = words.counts(sample, texts).set_index("relation").loc["all"]
per_pair = "prompts_per_subject_relation_pair"
diverse.loc[f"ours, {fact_set}", per_pair] = asked_all["prompts_a_pair"]
diverse.round(3)

# %% [markdown]
# The sizes (Table 1), ours in the last column: 263.47 prompts a pair are 6,492,800 by 24,643. With 100 templates that is 2.63 names a
# subject; B.1 says 2.47. One mean is over pairs, the other over subjects.

# %% covers=["BL-T1"] tags=["hide-output"]
sizes = papers.table("belief_table1_dataset_statistics")
sizes = sizes.pivot(index="quantity", columns="dataset", values="value")
ours = {"relational_templates": asked_all["templates"]}
ours |= {"subject_relation_pairs": asked_all["pairs"]}
sizes["ours"] = pd.Series(ours | {"prompts": asked_all["prompts"]})
sizes.astype("Int64")

# %% [markdown]
# **Good** (Table 9 and, as definitions, Figures 3 and 4). One person gave each template four scores of 0 or 1. Is it fluent? Is everything that
# fits the template true of the relation (`template_in_relation`)? Does everything that is true of the relation fit the template
# (`relation_in_template`)? Does some of it fit (`overlap`, so 1 if one of the two before is)? These make the five parts of Figure 3. Figure 4 counts
# the sums, 0 to 4, of 200 templates a set, without numbers.

# %%
printed = papers.table("belief_table9_template_quality")
printed.pivot(index="dataset", columns="quantity", values="value")

# %% [markdown]
# Nobody has rated our templates yet. Here is an empty sheet, without the groups and in a random order, as in the paper, and the function that reads it.

# %%
SCORES = ["fluent", "template_in_relation", "relation_in_template", "overlap"]


def sheet(templates: pd.DataFrame) -> pd.DataFrame:
    mixed = templates[["relation", "text"]].sample(frac=1, random_state=seed)
    return mixed.assign(**dict.fromkeys(SCORES, ""))


def rated(sheet: pd.DataFrame) -> pd.Series:
    marks = sheet[SCORES].astype(int)
    assert marks.isin([0, 1]).all().all(), "each score is 0 or 1"
    within = marks[SCORES[1:3]].max(axis=1)
    assert (marks["overlap"] >= within).all(), "what lies within overlaps"
    return marks.sum(axis=1)


sheet(words.read()).to_csv(index=False).splitlines()[:4]

# %% [markdown]
# The models and their training texts (Table 15, which includes Table 2), printed only.

# %% tags=["hide-output"]
papers.table("belief_table15_pretraining").drop(columns="note")

# %% [markdown]
# ## Paper and ours
#
# The printed numbers are for three BERTs on real facts, ours for a small model on invented facts: only the signs are comparable. In the paper names
# agree more, in the lab templates agree more, since its names are unrelated words. The paper's ranks are among 100 templates, ours among the templates that
# end with their blank. **Slips.** "13.7 times larger than LPAQA" must be PARAREL; in B.2.2, item 2 repeats the definition of item 3;
# Property:P9138 is P138; the ALBERT called large is xxlarge; the beginning of appendix A.1 is cut.

# %% covers=["BL-T12", "BL-T13"] shows=["run", "shipped"]
table12 = papers.table("belief_table12_subject_vs_relation")
table12 = table12.query("quantity == 'consist'")
table12 = table12.pivot(index="model", columns="varied", values="value")
table13 = papers.table("belief_table13_manual_vs_generated")
table13 = table13.pivot(index="model", columns="quantity", values="value")
beside = table12.join(table13)
mean_of = agreed.set_index("varied")["estimate"]
ours = [mean_of["templates"], mean_of["names"], here["rank"]]
beside.loc[shown] = [*ours, here["inner"], here["inter"]]
beside.round(3).rename(figures.display_name)

# %% [markdown]
# **Claims.** That names agree more is tested on real names: pairs of the atlas by all names of their subject, in six templates of five groups, after four
# examples in the same words ({page}`41_belief_contexts`). It stays undecided: the examples are drawn once for each template, so two names share their examples
# and two templates do not. The first line is for the lab, and counts every pair that has two names.

# %%
tested, said = {}, "-"
if lab_sources:
    longer = answers.results("40_belief_wording")
    longer = longer.query("source in @lab_sources and model == @shown")
    longer = longer.dropna(subset="answer").astype({"correct": bool})
    two = longer[longer["expression"] > 0][["relation", "fact"]]
    its = of_pairs(consist_of(longer.merge(two.drop_duplicates())))
    row = stats.compare(its, *versus, value="consist")
    print("in the lab:", stats.format_estimate(row))
real = answers.results("41_belief_contexts-agree")
real = real[real["source"].isin(name_sources)]
real = real.rename(columns={"consist": "templates"})
if len(real):
    its = real.melt(["relation", "fact"], versus[1:], *versus[:1], "consist")
    means = its.groupby(["varied", "relation"])["consist"].mean()
    print(means.groupby("varied").mean().round(2).to_dict(), len(real), "pairs")
    row = stats.compare(its.dropna(), *versus, value="consist")
    row = row.assign(untested=answers.ONE_DRAW, model=real["model"].iloc[0])
    tested["BL-names-agree"] = row
    said = f": names minus templates {stats.format_estimate(row)}"
verdicts = answers.verdicts(tested)
columns = ["claim", "model", "estimate", "low", "high", "verdict"]
answers.html_table(verdicts[columns])

# %% tags=["hide-input", "page-only"]
often = dose.query("varied == 'names'").set_index("said")["estimate"]
paper = table12["subject"] > table12["relation"]
each = dose.pivot(index="said", columns="varied", values="estimate")
two = rare[rare["varied"] == "names"]
two = [two[two["said"] == of] for of in ("4 or fewer", "more")]
known = all(map(len, two))  # facts that are stated equally often
holds = {
    "in the lab": (names_more["high"] < 0).all(),
    "in the paper, names agree more": paper.all(),
    "the more often, the more": often.is_monotonic_increasing,
    "in each row": (each["templates"] > each["names"]).all(),
    "up to": often.get("more often", 0) > 2 * often.get("never", 0),
    "hardly more often": often.get("never", 1) < mean_of["others"] + 0.05,
    "no: among facts stated equally often": (
        known and two[0]["high"].item() < two[1]["low"].item()
    ),
}
figures.sentence(holds)
figures.glue_values(
    name_shown=figures.display_name(shown),
    templates=mean_of["templates"],
    names=mean_of["names"],
    often=often.iloc[-1],
    real=said,
    control_from=MANY,
    control_rare=stats.format_estimate(two[0], percent=True) if known else "–",
    control_often=stats.format_estimate(two[1], percent=True) if known else "–",
)

# %% [markdown]
# ## What you have seen
#
# - Whether names or templates move answers more depends on the training text. A name that the text seldom used asks about
#   somebody whom the model hardly knows.
# - Paraphrases agree with their own group more than with others, so 25 templates in 5 groups are fewer than 25 opinions.
# - The words of a set of prompts can be compared without a model. Only a person can say whether the prompts are *right*.
#
# Consist over all templates of a relation is a mean of the two: weight times inner, and the rest inter. With 5 groups of 20 the weight
# is .1919, with 4 groups .2405. The printed numbers show which it was:

# %%
its = beside.drop(index=shown)
within, between = its["consist_inner_group"], its["consist_inter_group"]
weight = (its["relation"] - between) / (within - between)
four, five = (n * 190 / (20 * n * (20 * n - 1) / 2) for n in (4, 5))
assert (weight - four).abs().max() < 0.004 < 0.04 < (weight - five).abs().min()
weight.round(3)

# %% [markdown]
# So Tables 12 and 13 fit four groups and not five; perhaps the questions were left out.
#
# ## Try it
#
# ```{exercise}
# :label: ex-prompts-few
# How many templates does one need? How far is Consist over one group of five from Consist over all templates? And Consist over one template of each group?
# ```

# %% [markdown]
# ````{solution-start} ex-prompts-few
# :class: dropdown
# ````

# %%
place = grouped.groupby(["relation", "group"])["template"].rank("dense")
for what, of in {"one group": grouped["group"], "one of each": place}.items():
    few = [
        measures.consist(some)["consist"].mean()
        for _, some in grouped.groupby(of)
    ]
    print(f"{what}: {min(few):.3f} to {max(few):.3f}")
print(f"all templates: {measures.consist(grouped)['consist'].mean():.3f}")

# %% [markdown]
# The templates of one group agree more than all templates: they are paraphrases, and hide how far the wording moves answers.
#
# ````{solution-end}
# ````
