# %% [markdown]
# # Does a model write what it knows?
#
# **Not always: after 50 pairs, {glue:text}`name_model` ranks the right object first for {glue:text}`ranked:.0%` of the facts, writes it somewhere in
# {glue:text}`written:.0%` of its outputs, and begins with it in {glue:text}`start:.0%`.**
#
# ```{glue:figure} fig-generation-kinds
# :name: fig-generation-kinds
# :alt: A panel for each model with a row for each kind of prompt, and in it marks and intervals for outputs with the object anywhere, outputs that begin with it, accidental hits, and the ranking.
#
# Every model ranks more facts first than it writes, after each kind of prompt, and after pairs accident alone finds more than half as many. Share of facts
# by kind of prompt (the paper's Figure 16, with three more measures); lines: 95 % over other relations.
# ```
#
# On the other pages of this chapter a model chooses among options. Here it has none. It gets the same prompts and continues them, and we look
# for the right object in its output. But an output has room for many names: {glue:text}`stray:.0%` would contain the object by accident.
# With intervals over relations: {glue:text}`between_ranked` ranked first, {glue:text}`between_written` written, {glue:text}`between_start` at the start,
# {glue:text}`between_stray` by accident.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` check their estimator on text that models write (Appendix H.7). Models continue a prompt by 50 {term}`tokens <token>`, and
# always take the most probable next one (*greedily*). An output is right if it contains the true object. Figure 16 shows this for the
# 12 relations that have templates in its Table 5, with {term}`IC-LKE` prompts and both kinds of templates ({term}`HGP`, {term}`MMP`).
# In our reading, IC-LKE prompts find more facts than templates, as with options. {Page}`52_lab_kinds` tests in the lab whether models find fewer after
# fine-tuning.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital", "film_language", "official_language"]
kinds: list[str] = ["iclke-space", "hgp", "mmp"]  # the first shows examples
n_facts: int = 25  # test facts of each relation that are ranked
n_written: int = 8  # the first of them, which the model also continues
n_shots: int = 50  # pairs shown before the question, for IC-LKE
n_options: int = 10  # candidate objects of each, or as many as there are
n_tokens: int = 50  # new tokens of an output
sources: list[str] = []  # in results/, for the numbers; none: this run
seed: int = 0  # draws shots, facts and options
dtype: str = "float32"

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, facts, figures, prompts, stats
from lkecore.answers import rules, written
from lkecore.errors import BadInput

figures.style()

# %% [markdown]
# ## Facts
#
# The model ranks options for all facts, and continues the prompts of the first ones; the numbers of the page are about these. They come from a
# longer run on the paper's twelve relations, with 100 options or all that there are.

# %%
written.check(kinds, n_written=n_written, n_facts=n_facts)
size = {"n_shots": n_shots, "n_facts": n_facts, "n_options": n_options}
sample = facts.draw(fact_set, relations, **size, seed=seed, allow_fewer=True)
print(facts.fewer(sample, **size))
facts.overview(sample, n_options=n_options, n_facts=n_facts)

# %% [markdown]
# ## Prompts
#
# Pairs for IC-LKE, with one space everywhere, and templates without any pair. The model continues the {term}`context` alone. An IC-LKE prompt
# shows by its pairs the form of an answer. A template does not say where to stop.

# %%
questions = {}
for kind in kinds:
    for name, of in sample.items():
        estimators = [kind]
        if kind in ("hgp", "mmp"):  # stands for all that a relation has of it
            has = prompts.templates_of(of.relation)
            estimators = [each for each in has if each.startswith(f"{kind}-")]
        if not estimators:
            raise BadInput(f"relation {name} has no {kind} in Table 5")
        about = of.relation, of.shots, of.facts, of.options
        for each in estimators:
            key = fact_set, kind, each, name
            questions[key] = prompts.asking(each, *about)
to_write = {key: some[:n_written] for key, some in questions.items()}
for (_, _, estimator, name), some in questions.items():
    if name == next(iter(sample)):
        print(f"{estimator:12} {some[0].context[-55:] + '____'!r}")

# %% [markdown]
# ## Scores
#
# For each question two things: the output, and the ranking of the options. An output ends only at the model's own end token, or after the given number of
# tokens. Three rules for a right output, from the most to the least generous:
#
# - `anywhere`: the output contains the object, even inside a longer word. This is the paper's rule.
# - `whole_words`: the same, but as whole words. *Niger* is not found in *Nigeria*.
# - `at_the_start`: the output begins with the object, after spaces, and again as whole words.
#
# We also count {term}`stray hits <stray hit>`, which the paper does not mention. Take an output, and look in it for the object of
# *another* test fact of the relation: how often is it there, on average over all the other facts? This is how often an output would be right that has
# nothing to do with its subject.

# %% covers=["IC-S6"]
this = "19_iclke_generation"
by = ["fact_set", "kind", "estimator", "relation"]
how = {"by": by, "dtype": dtype}
lists = ["fact_set", "kind", "template", "relation"]  # one of each kind
to_write = answers.sample(to_write, sources, 1, by=lists)
file = "answers-written.parquet"
wrote = answers.write(models, to_write, file, max_new_tokens=n_tokens, **how)
wrote, as_texts = wrote.assign(draw=0), {"columns": ["text"], "least": 0.6}
name = f"{this}-written"
texts, main = answers.shown(name, wrote, sources, dtype=dtype, **as_texts)
questions = answers.sample(questions, sources, 2, by=by)
chose = answers.ask(models, questions, "answers.parquet", **how).assign(draw=0)
ranked, _ = answers.shown(this, chose, sources, dtype=dtype)
cues, _ = answers.shown(f"{this}-cues", rules.cues(sample), sources)
key = ["source", "model", "kind", "estimator", "relation", "draw", "fact"]
outputs = texts.merge(
    ranked[[*key, "correct", "n_options"]], on=key, validate="1:1"
)
outputs = outputs.rename(columns={"correct": "ranked first"})
outputs = outputs[outputs["source"] == main]
answers.columns(outputs.dropna(axis=1, how="all"))

# %% [markdown]
# Some of them: the outputs for the first fact of a relation, as the model wrote them. After pairs a model
# tends to write more pairs, with subjects of its own. The paper's rule also searches these.

# %%
texts = texts[texts["fact_set"].eq(fact_set) & texts["draw"].eq(0)]
some = texts.drop_duplicates(["model", "kind"])
shown = some[["estimator", "subject", "object"]]
shown = shown.assign(estimator=shown["estimator"].map(figures.display_name))
answers.html_table(shown.assign(text=some["text"].map(repr).str[:120]))

# %% [markdown]
# ## Answers
#
# If a kind has several templates, or several draws of pairs, a fact counts with its mean. Each relation counts alike.

# %%
who = ["source", "model", "kind"]
rules_of = ["anywhere", "whole_words", "at_the_start", "stray", "ranked first"]
each = outputs.groupby([*who, "relation", "fact"])[rules_of].mean()
each = each.reset_index()
shares = pd.concat(
    [
        stats.estimate(each, who, value=name).assign(rule=name)
        for name in rules_of
    ]
)
wide = stats.table(shares, who, "rule", percent=True)[rules_of]
wide.rename(figures.display_name)

# %% [markdown]
# **Is it the cues?** On facts without a cue: subject and object share no word, and the object is not the one shown most often.

# %%
plain = cues[~(cues["cue_word"] | cues["cue_frequent"])]
left = each.merge(plain[["source", "relation", "fact"]])
left = left[left.groupby([*who, "relation"])["fact"].transform("size") >= 2]
parts = []
for name in ("anywhere", "stray", "ranked first"):
    found = stats.estimate(left, who, value=name)
    parts.append(found.assign(rule=name))
left = pd.concat(parts)
stats.table(left, who, "rule", percent=True).rename(figures.display_name)

# %% [markdown]
# **Do writing and ranking find the same facts?** Over all relations together: both right, one alone, neither. *Ranked, not written*
# are the facts that a model finds among options and does not say.

# %%
once = outputs[outputs["draw"] == 0]
names = {
    (True, True): "both", (True, False): "written, not ranked",
    (False, True): "ranked, not written", (False, False): "neither",
}  # fmt: skip
two = once[["anywhere", "ranked first"]].astype(bool).apply(tuple, axis=1)
both = two.map(names).groupby([once[name] for name in who])
both = both.value_counts(normalize=True).unstack().fillna(0).round(2)
both.rename(figures.display_name)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-generation-kinds`, at the top, compare the share written with the share that accident alone finds, and with the share of outputs that
# begin with the object.

# %% covers=["IC-F16"] shows=["run", "shipped"] tags=["hide-input"]
called = {
    "anywhere": "written", "at_the_start": "written at the start",
    "stray": "by accident", "ranked first": "ranked first",
}  # fmt: skip
marks = shares[shares["rule"].isin(called)].copy()
marks["found"] = marks["rule"].map(called)
marks["who"] = marks["model"].map(figures.display_name)
order = {name: i for i, name in enumerate(kinds)}
marks = marks.sort_values("kind", key=lambda s: s.map(order), kind="stable")
marks["kind"] = marks["kind"].map(figures.display_name)
look = {"across": True, "label": "share of facts"}
grid = figures.marks(marks, x="kind", hue="found", panel="who", **look)
figures.glue_figure(grid.figure, "fig-generation-kinds", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The bars of Figure 16 have none. **Claim.** The share written after pairs minus the share written after templates by people,
# on the same facts, by the paper's rule.

# %%
at = shares[shares["kind"] == kinds[0]]
known = at[at["rule"] == "ranked first"].set_index("model")["estimate"]
model = known.idxmax()
mine = each[each["model"] == model]
own = {} if sources else {"decided_on": fact_set, "model": model}
judged = pd.DataFrame()
if "hgp" in kinds:
    gap = stats.compare(mine, "kind", kinds[0], "hgp", value="anywhere")
    judged = answers.verdicts({"IC-generation-above": gap.assign(**own)})
    judged["model"] = judged["model"].map(figures.display_name)
    judged = judged[["claim", "model", "estimate", "low", "high", "verdict"]]
judged

# %% tags=["hide-input", "page-only"]
row = at[at["model"] == model].set_index("rule")
said = row.apply(stats.format_estimate, axis=1, percent=True)
here = shares.pivot(index=["model", "kind"], columns="rule", values="estimate")
pairs_shown = here.xs(kinds[0], level="kind")
share = pairs_shown["stray"] / pairs_shown["anywhere"]
holds = {
    "ranks more than it writes, each model and kind": (
        here["ranked first"] > here["anywhere"]
    ).all(),
    "writes more than at the start": (
        here["anywhere"] > here["at_the_start"]
    ).all(),
    "more than half by accident": (share > 0.5).all(),
}
figures.sentence(holds if sources else {})
figures.glue_values(
    name_model=figures.display_name(model),
    written=row.loc["anywhere", "estimate"],
    stray=row.loc["stray", "estimate"],
    start=row.loc["at_the_start", "estimate"],
    ranked=row.loc["ranked first", "estimate"],
    between_written=said["anywhere"],
    between_stray=said["stray"],
    between_start=said["at_the_start"],
    between_ranked=said["ranked first"],
)

# %% [markdown]
# Ranking is the easier task: it has only the options to choose from. And a model that is tuned for instructions expects a question and gets a
# list. With one space between everything, a small model may not see where its answer belongs, and write another subject instead.
#
# ## What you have seen
#
# - The definition of a right output matters much: 50 tokens have room for many objects.
# - Stray hits measure this. A rule that any list of capitals passes does not measure knowledge about one country.
# - A model need not write a fact that it ranks first. If it does not say a fact, it may still know it.
#
# **Counted again**, in plain Python: how often the model of the first sentence writes the object.

# %%
hits: dict[str, dict[str, list[bool]]] = {}
for line in outputs.itertuples():
    if (line.model, line.kind) == (model, kinds[0]):
        of = hits.setdefault(line.relation, {}).setdefault(line.fact, [])
        of.append(bool(line.anywhere))
means = [
    sum(sum(some) / len(some) for some in of.values()) / len(of)
    for of in hits.values()
]
again = at[(at["model"] == model) & (at["rule"] == "anywhere")]["estimate"]
assert abs(sum(means) / len(means) - again.item()) < 1e-9
assert not (outputs["at_the_start"] & ~outputs["whole_words"]).any()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-generation-length
# The paper looks at 50 tokens. What if it had looked at fewer? Count an output as right only if the object is in its first 1, 3, 5, 10 or
# 20 words.
# ```

# %% [markdown]
# ````{solution-start} ex-generation-length
# :class: dropdown
# ````

# %%
rows = {}
for n in (1, 3, 5, 10, 20, 50):
    begins = texts["text"].str.split().str[:n].str.join(" ")
    pairs = zip(begins, texts["object"], strict=True)
    right = pd.Series([obj in text for text, obj in pairs], texts.index)
    rows[n] = right.groupby([texts["model"], texts["kind"]]).mean()
pd.DataFrame(rows).round(2).rename(figures.display_name)

# %% [markdown]
# If a row rises at once and then stays level, the model answers first and talks later. If it goes on rising, the later words may find the answer, or
# only one of many names.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-generation-own
# What does another model write? Put this into `params/mine.yaml`, then run `lke run params/mine.yaml`. For facts of your own, name them as
# `fact_set`, and put `template-1` in the place of `hgp` if the paper has no templates for your relations.
# ```
#
# ````{solution} ex-generation-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 19_iclke_generation
#     each: [models]
#     parameters:
#       models: [smollm2, gemma3-270m]
#       relations: [capital, official_language]
#       n_written: 25
# ```
# ````
