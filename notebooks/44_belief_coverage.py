# %% [markdown]
# # How much more do many prompts find, and how much of it is luck?
#
# **Asked with all its prompts, {glue:text}`name_first` gets {glue:text}`any_told:.0%` of the told facts right at least once, against
# {glue:text}`average_told:.0%` with one of them, and so it does {glue:text}`any_never:.0%` of the facts that no text ever told.**
#
# ```{glue:figure} fig-coverage-told
# :name: fig-coverage-told
# :alt: A panel for each model with four rows, average, majority, best template and any prompt, and in each a mark for told and for never told facts and one for luck.
#
# From one prompt to any prompt the marks move right, and so do the marks of luck and of facts that were never told. Lines: 95 % over other
# relations.
# ```
#
# If one prompt misses a fact, another may find it. But each further prompt is a further guess as well. In the lab we can count what is found
# without any telling. Of another model, {glue:text}`name_second`, the three numbers are {glue:text}`second_told:.0%`,
# {glue:text}`second_average:.0%` and {glue:text}`second_never:.0%`. A real one is on {page}`41_belief_contexts`.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` (Section 7) compare the accuracy of an average prompt, of the best template of each relation (*maximum*), and
# the share of pairs that any of about 260 prompts finds (*oracle*). In our words: a single prompt underestimates what a model knows, by
# half and more for BERTs. And models do not know the same: two of a kind share about two thirds of what they find, a BERT and a larger
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
# All that the run of {page}`40_belief_wording` asked: pairs whose object is one token. *Told* are those that the text always tells as they are,
# *never told* those that no text has; *all* has also those that it tells wrongly, or now this way, now another.

# %%
this = "40_belief_wording"
if answers.on_page() and not sources:
    found = answers.collect("answers.parquet")
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
answers.words(answers.columns(found))

# %% [markdown]
# ## Prompts
#
# Those of {page}`40_belief_wording`: each template of the relation by each name of the subject. A model that reads from left to right is asked
# with those that end with their blank. How many pairs, and prompts of each:

# %%
prompts = found[found["told"] == "all"].groupby(["model", "relation", "fact"])
prompts.size().groupby("model").agg(["count", "mean"]).round(1)

# %% [markdown]
# ## Scores
#
# `answer` is the likeliest token of the whole vocabulary. Nothing is asked here. Five ways to make one result of many prompts:
#
# - *average*: the mean accuracy of a prompt;
# - *majority*: the most frequent answer of all prompts is right (ours);
# - *best*: right with the relation's best template, by any name, chosen on half of the pairs and counted on the others (ours);
# - *maximum*: the same, chosen and counted on the same pairs (the paper's);
# - *any*: right with any prompt (the paper's oracle).
#
# **Luck.** The same answers, with the objects dealt to other subjects of the relation: what is right now is right by chance, since an object
# is frequent or the model says many different things. *Maximum* and *any* gain by that with each further prompt, whatever the model knows.


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
# Mean over relations, in percent; `luck` is the mean over the deals. What to see: how far *any* is above *maximum*, and how much of that is
# luck; and what is found of facts that were never told. There `luck` is less than what is found: a model guesses an object from the
# subject's kind and name, and dealing takes that away. So no deal shows all of the luck that the lab does.

# %% covers=["BL-M3", "BL-T7", "BL-T18"] shows=["run", "shipped"]
tidy = pd.concat(both, names=["model", "told"]).stack().rename("share")
tidy.index.names = [*tidy.index.names[:-1], "result"]
tidy = tidy.reset_index()
cells = ["model", "told", "result", "what"]
shares = stats.estimate(tidy, cells, value="share")
percent = 100 * shares.set_index(cells)["estimate"].unstack(["result", "what"])
percent[RESULTS].round(0).astype(int)

# %% [markdown]
# **Beyond luck.** For each relation: what any prompt finds more than the maximum of the same pairs, minus the same of the dealt objects.
#
# $$\text{beyond} = (\text{any} - \text{maximum}) - (\text{any} - \text{maximum})_\text{dealt}$$

# %%
wide = tidy.pivot(index=unit, columns=["what", "result"], values="share")
by_result = wide.swaplevel(axis=1)
more = by_result["any"] - by_result["maximum"]
beyond = (more["found"] - more["luck"]).rename("gap").reset_index()
beyond = stats.estimate(beyond, ["model", "told"], value="gap", bounds=None)
stats.table(beyond, "model", "told")

# %% [markdown]
# **Do two models find the same?** The {term}`sharing rate` is the part of what one finds that another finds, too (Figure 2): of each fact in each
# template, and of facts found with any prompt. A row is read from left to right; only prompts that both were asked count.
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
    rows.append((figures.called(a), figures.called(b), *rate))
shared = pd.DataFrame(rows, columns=["of", "found by", "template", "fact"])
shared = shared.set_index(["of", "found by"]).rename_axis(columns="counted")
shared.stack().unstack("found by").round(2)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-coverage-told`, at the top, follow the marks of *told* down a panel, then those of *never told*, then the luck.

# %% tags=["hide-input"]
its = "told == 'told' or told == 'never told' and what == 'found'"
shown_in = shares.query(f"({its}) and result != 'maximum'")
shown_in = shown_in.assign(
    panel=shown_in["model"].map(figures.called),
    facts=shown_in["told"].where(shown_in["what"] == "found", "told, by luck"),
)
order = shown_in["result"].map(RESULTS.index)
shown_in = shown_in.assign(order=order).sort_values(["panel", "order"])
look = {"x": "result", "hue": "facts", "panel": "panel", "across": True}
size = {"wrap": 2, "height": 2.4, "aspect": 1.5}
grid = figures.marks(shown_in, **look, **size, label="share of pairs")
figures.place(grid.figure, "fig-coverage-told", shown_in)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Tables 7 and 18, in percent; models and facts differ, so none is comparable. The last column is what any prompt adds to the best template, with
# luck in it. Text of Section 7: BERTs share 69.07 % of what they find, large language models 67.58 %, one of each 47.10 %.

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
# **Slips.** What is counted for sharing is left open. That the oracle counts pairs, and any true object, is inferred. F.4 means Table 18.
#
# **Claims**, on `lab:rich-1` alone. The first is about all pairs, as the paper's are; the second is ours.

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
answers.words(verdicts[columns])

# %% tags=["hide-input", "page-only"]
first = next((name for name in of_model if "bert" in name), shown)
at = shares.query("what == 'found'").set_index(["model", "told", "result"])
at = at["estimate"]
any_, average = at.xs("any", level="result"), at.xs("average", level="result")
figures.sentence({"at least once, against one": (any_ >= average).all()})
figures.findings(
    name_first=figures.called(first),
    any_told=any_[first, "told"],
    average_told=average[first, "told"],
    any_never=any_[first, "never told"],
    name_second=figures.called(shown),
    second_told=any_[shown, "told"],
    second_average=average[shown, "told"],
    second_never=any_[shown, "never told"],
)

# %% [markdown]
# ## What you have seen
#
# - What any prompt finds is no measure of knowledge: it finds facts that no text told.
# - Luck must be counted with the same answers. It grows with each prompt, and it grows more where a model changes its answer often.
# - A majority of the prompts needs no truth to be chosen by; the best template and any prompt do.
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
# How many prompts are enough to be fooled? Compute *any* of told and of never told facts for the first 1, 2, 4, 8 and 16 templates.
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
# A twin of a model read the same text without the planted facts. What should *any* of its told facts be? Look it up above.
# ```
#
# ````{solution} ex-coverage-twin
# :class: dropdown
# As much as that of its never told facts, since it was told neither; what differs is chance. In a run that asked no twin, add
# `lab:rich-1/0.7m-unplanted` to the models of {page}`40_belief_wording`.
# ````
