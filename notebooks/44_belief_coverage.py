# %% [markdown]
# # How much more do many prompts find, and how much of it is luck?
#
# **All prompts together find {glue:text}`told_low:.0%` to {glue:text}`told_high:.0%` of the facts that a text states, but also
# {glue:text}`never_low:.0%` to {glue:text}`never_high:.0%` of the facts that it never states.**
#
# ```{glue:figure} fig-coverage-told
# :name: fig-coverage-told
# :alt: A panel for each model with four rows, one prompt, a majority, the best template and any prompt, and in each a mark for stated and for never stated facts and one for luck.
#
# From one prompt to any prompt the marks of stated facts move right, and so do the marks of luck and of facts that were never stated. Lines: 95 %
# intervals over other relations.
# ```
#
# If one prompt misses a fact, another may find it. But each further prompt is also a further guess. In the lab we can count the facts that a model finds
# and never read. One prompt finds on average {glue:text}`average` of the stated facts. {Page}`41_belief_contexts` has a real model.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` (Section 7) compare the accuracy of an average prompt, the accuracy of the best template of each relation (*maximum*), and
# the share of pairs that any of about 260 prompts finds (*oracle*). In our words: a single prompt underestimates a model's knowledge, by
# half and more for BERTs. And models know different facts: two models of one kind share about two thirds of the facts that they find, a BERT and a larger
# language model less than half (Figure 2).

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = []  # of those that were asked; empty: all
of_facts: str = "lab:rich-1"  # the fact set that the answers are about
sources: list[str] = []  # in results/, of the numbers; none: a run of page 40
n_deals: int = 100  # times objects are dealt to other subjects
seed: int = 0  # draws the deals

# %% tags=["hide-input"]
from collections import Counter
from itertools import product

import pandas as pd

from lkecore import answers, facts, figures, papers, stats
from lkecore.facts import wordings as words
from lkecore.facts.tables import fold
from lkecore.stats import coverage

figures.style()

# %% [markdown]
# ## Facts
#
# All pairs that the run of {page}`40_belief_wording` asked and whose object is one token. *Stated* (`told` in the data) are pairs that the text always
# states truly, *never stated* are pairs in no text; *all* also has pairs that it states wrongly, or in several ways.

# %%
this = "40_belief_wording"
if answers.on_page() and not sources:
    found = answers.load_runs("answers.parquet")
else:
    its = sources[:1] or ["belief_lab"]
    found, _ = answers.shown(this, pd.DataFrame(), its)
found = found.dropna(subset="correct").astype({"correct": bool})
found = found[found["model"].isin(models or found["model"].unique())]
whole = {"n_shots": 0, "n_facts": None, "n_options": 2, "seed": 0}
sample = facts.draw(of_facts, [], **whole, leave_out=True)
sample = words.named(sample, fact_set=of_facts)
true = {
    (name, fact.id): fact.true_names
    for name, of in sample.items()
    for fact in of.facts
}
found["told"] = found["state"].map({"planted": "told", "never": "never told"})
parts = [found.assign(told="all"), found.dropna(subset="told")]
found = pd.concat(parts, ignore_index=True)
unit = ["model", "told", "relation"]
several = found.groupby(unit)["fact"].transform("nunique") > 1
found = found[several]  # objects are dealt to another pair
answers.html_table(answers.columns(found))

# %% [markdown]
# ## Prompts
#
# The prompts of {page}`40_belief_wording`: each template of the relation with each name of the subject. A model that reads from left to right gets
# the templates that end with their blank. How many pairs, and prompts of each:

# %%
prompts = found[found["told"] == "all"].groupby(["model", "relation", "fact"])
prompts = prompts.size().groupby("model").agg(["count", "mean"]).round(1)
prompts.rename(figures.display_name)

# %% [markdown]
# ## Scores
#
# `answer` is the likeliest token of the whole vocabulary. This page asks nothing. Five ways to make one result of many prompts:
#
# - *average*: the mean accuracy of a prompt;
# - *majority*: the most frequent answer of all prompts is right (ours);
# - *best*: right with the relation's best template, by any name, chosen on half of the pairs and counted on the others (ours);
# - *maximum*: the same, chosen and counted on the same pairs (the paper's);
# - *any*: right with any prompt (the paper's oracle).
#
# **Luck.** The same answers, with the objects dealt to other subjects of the relation. An answer that is right now is right by chance, since an object
# is frequent or the model says many different things. *Maximum* and *any* gain from luck with each further prompt, whatever the model knows.


# %%
def majority(part: pd.DataFrame) -> pd.DataFrame:
    """A row a pair: its most frequent answer, of equals the first."""
    by_pair = part.groupby(["relation", "fact"], sort=False)["answer"]
    votes = by_pair.agg(lambda said: Counter(said).most_common(1)[0][0])
    votes = votes.reset_index().assign(template=0)
    said = votes[["relation", "fact", "answer"]].to_numpy()
    return votes.assign(correct=[a in true[r, f] for r, f, a in said])


def counted(part: pd.DataFrame) -> pd.DataFrame:
    """A row a relation: the results, found and by luck."""
    both = []
    for some in (part, majority(part)):
        luck = coverage.dealt(some, true, n=n_deals, seed=seed)
        luck = luck.groupby("relation").mean()
        rows = {"found": coverage.coverage(some), "luck": luck}
        both.append(pd.concat(rows, names=["what"]))
    these = both[0].rename(columns={"best": "maximum", "crossed": "best"})
    return these.assign(majority=both[1]["average"])[RESULTS]


RESULTS = ["average", "majority", "best", "maximum", "any"]
found["answer"] = found["answer"].map(fold)
by = found.groupby(["model", "told"], sort=False)
both = {key: counted(part) for key, part in by}

# %% [markdown]
# ## Answers
#
# Mean over relations, in percent; `luck` is the mean over the deals. See how far *any* is above *maximum*, and how much of that difference is
# luck. Then see the facts that were never stated. There the model finds more than `luck`: it guesses an object from the
# subject's kind and name, and dealing takes that away. So the deals show only a part of the luck that the lab shows.

# %% covers=["BL-M3", "BL-T7", "BL-T18"] shows=["run", "shipped"]
tidy = pd.concat(both, names=["model", "told"]).stack().rename("share")
tidy.index.names = [*tidy.index.names[:-1], "result"]
tidy = tidy.reset_index()
cells = ["model", "told", "result", "what"]
shares = stats.estimate(tidy, cells, value="share")
percent = 100 * shares.set_index(cells)["estimate"].unstack(["result", "what"])
called = {"told": "stated", "never told": "never stated"}
percent = percent[RESULTS].round(0).astype(int).rename(called, level="told")
percent = percent.rename(figures.display_name, level="model")
percent.rename_axis(index={"told": "facts"})

# %% [markdown]
# **Beyond luck.** For each relation: how much more any prompt finds than the maximum of the same pairs, minus the same difference for the dealt objects.
#
# $$\text{beyond} = (\text{any} - \text{maximum}) - (\text{any} - \text{maximum})_\text{dealt}$$

# %%
wide = tidy.pivot(index=unit, columns=["what", "result"], values="share")
by_result = wide.swaplevel(axis=1)
more = by_result["any"] - by_result["maximum"]
beyond = (more["found"] - more["luck"]).rename("gap").reset_index()
beyond = stats.estimate(beyond, ["model", "told"], value="gap", bounds=None)
shown_in = stats.table(beyond, "model", "told").rename(figures.display_name)
shown_in.rename(columns=called).rename_axis(columns="facts")

# %% [markdown]
# **Do two models find the same?** The {term}`sharing rate` is the share of one model's finds that another model also finds (Figure 2). It is counted for
# each fact in each template, and for facts found with any prompt. Read a row from left to right; only prompts that both models were asked count.
#
# $$\text{sharing}(A, B) = \frac{|C_A \cap C_B|}{|C_A|}$$

# %% covers=["BL-M4", "BL-F2"] shows=["run", "shipped"]
key = ["relation", "fact", "template", "expression"]
of_model = dict(list(found[found["told"] == "all"].groupby("model")))
rows = []
for a, b in product(of_model, repeat=2):
    common = of_model[a].merge(of_model[b][key], on=key)[key]
    ours, theirs = (of_model[name].merge(common, on=key) for name in (a, b))
    rate = coverage.sharing(ours, theirs)
    rows.append((figures.display_name(a), figures.display_name(b), *rate))
shared = pd.DataFrame(rows, columns=["of", "found by", "template", "fact"])
shared = shared.set_index(["of", "found by"]).rename_axis(columns="counted")
shared.stack().unstack("found by").round(2)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-coverage-told`, at the top, follow the marks of *stated* down a panel, then the marks of *never stated*, then the luck.

# %% tags=["hide-input"]
its = "told == 'told' or told == 'never told' and what == 'found'"
shown_in = shares.query(f"({its}) and result != 'maximum'")
shown_in = shown_in.assign(
    panel=shown_in["model"].map(figures.display_name),
    facts=shown_in["told"]
    .map(called)
    .where(shown_in["what"] == "found", "stated, by luck"),
)
order = shown_in["result"].map(RESULTS.index)
shown_in = shown_in.assign(order=order).sort_values(["panel", "order"])
ways = {
    "average": "one prompt", "majority": "majority",
    "best": "best template", "any": "any prompt",
}  # fmt: skip
shown_in["result"] = shown_in["result"].map(ways)
look = {"x": "result", "hue": "facts", "panel": "panel", "across": True}
size = {"wrap": 3, "height": 2.6, "aspect": 1.1}
grid = figures.marks(shown_in, **look, **size, label="share of pairs")
figures.glue_figure(grid.figure, "fig-coverage-told", shown_in)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Tables 7 and 18, in percent; models and facts differ, so none is comparable. The last column is the gain of any prompt over the best template,
# with luck in it. Section 7 says in its text: BERTs share 69.07 % of their finds, large language models 67.58 %, a BERT and a large model 47.10 %.

# %% covers=["BL-T7", "BL-T18"] shows=["run", "shipped"] tags=["hide-output"]
every = papers.table("belief_table18_coverage_all")
index = ["model", "setting"]
printed = every.pivot(index=index, columns="quantity", values="value")
of_7 = papers.table("belief_table7_coverage").merge(
    every, on=[*index, "quantity"]
)
assert (of_7["value_x"] == of_7["value_y"]).all(), "Table 7 is part of 18"
printed = 100 * printed[["average", "maximum", "oracle"]]
printed.assign(more=printed["oracle"] - printed["maximum"]).round(2)

# %% [markdown]
# **Slips.** The paper does not say which units it counts for sharing. We infer that the oracle counts pairs, and any true object. F.4 means Table 18.
#
# **Claims**, on `lab:rich-1` alone. The first is about all pairs, as in the paper; the second is ours.

# %%
shown = "lab:rich-1/2m"
shown = shown if shown in of_model else next(iter(of_model))
mine = beyond.query("model == @shown and told == 'all'")
never = "told == 'never told' and result == 'any' and what == 'found'"
never = shares.query(f"model == @shown and {never}")
judged = {"BL-any-above-best": mine, "BL-any-never-told": never}
judged = {claim: row for claim, row in judged.items() if len(row)}
verdicts = answers.verdicts(judged)
columns = ["claim", "model", "estimate", "low", "high", "verdict"]
answers.html_table(verdicts[columns])

# %% tags=["hide-input", "page-only"]
at = shares.query("what == 'found'").set_index(["model", "told", "result"])
at = at["estimate"].unstack(["told", "result"])
lucky = shares.query("what == 'luck' and told == 'told'")
lucky = lucky.set_index(["model", "result"])["estimate"].unstack()
any_, average = at.xs("any", axis=1, level=1), at.xs("average", axis=1, level=1)
figures.sentence(
    {
        "stated facts move right": (any_["told"] > average["told"]).all(),
        "so do the marks of luck": (lucky["any"] > lucky["average"]).all(),
        "but also": (any_["never told"] > average["never told"]).all(),
    }
)
figures.glue_values(
    told_low=any_["told"].min(),
    told_high=any_["told"].max(),
    never_low=any_["never told"].min(),
    never_high=any_["never told"].max(),
    average=", ".join(
        f"{share:.0%} ({figures.display_name(name)})"
        for name, share in average["told"].items()
    ),
)

# %% [markdown]
# ## What you have seen
#
# - The share that any prompt finds is no measure of knowledge: it includes facts that no text states.
# - Luck must be counted with the same answers. It grows with each prompt, and it grows more for a model that changes its answer often.
# - A majority of the prompts can be found without knowing the truth; the best template and any prompt cannot.
#
# The paper's oracle once more, by sets:

# %%
part = found.query("model == @shown and told == 'all'")
for name, its in part.groupby("relation"):
    got, asked = set(its.loc[its["correct"], "fact"]), set(its["fact"])
    kept = wide.loc[(shown, "all", name), ("found", "any")]
    assert abs(len(got) / len(asked) - kept) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-coverage-few
# How many prompts are enough to be fooled? Compute *any* for stated and for never stated facts with the first 1, 2, 4, 8 and 16 templates.
# ```

# %% [markdown]
# ````{solution-start} ex-coverage-few
# :class: dropdown
# ````

# %%
mine = found.query("model == @shown and told != 'all'")
for n in (1, 2, 4, 8, 16):
    few = mine[mine["template"].rank(method="dense") <= n]
    any_of = few.groupby(["told", "relation", "fact"])["correct"].any()
    means = any_of.groupby(["told", "relation"]).mean().groupby("told").mean()
    print(n, (100 * means).round(0).astype(int).to_dict())

# %% [markdown]
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-coverage-twin
# A twin of a model read the same text without the planted facts. What should *any* be for the facts that its model's text states? Look it up above.
# ```
#
# ````{solution} ex-coverage-twin
# :class: dropdown
# The same as for never stated facts, up to chance: the twin read neither. In a run that asked no twin, add
# `lab:rich-1/0.7m-unplanted` to the models of {page}`40_belief_wording`.
# ````
