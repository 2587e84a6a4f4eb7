# %% [markdown]
# # What does this model know?
#
# **Of {glue:text}`asked` {glue:text}`name_model` finds {glue:text}`best:.0%` in the better of two formats, and the best rule without a model finds
# {glue:text}`rule:.0%`.**
#
# ```{glue:figure} fig-report-relations
# :name: fig-report-relations
# :alt: A row for each relation, and in it a mark for each format and one for the best rule without a model.
#
# A mark to the right of the rule's shows that the model has more than the words give away. Lines: 95 %, other facts of the relation.
# ```
#
# This is the page that `lke report MODEL` makes, of any model and any facts: accuracy by relation in two formats, how sure the model is
# when it is right, how much other wordings change, and its answers when it is wrong. The better format and the best rule are chosen on other facts
# than those that are counted.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]  # one, or a second one to compare it with
fact_set: str = "atlas"  # or a folder, or a table: lke report MODEL --facts
relations: list[str] = []  # empty: all
estimators: list[str] = ["iclke-space", "iclke-colon"]  # formats of pairs
n_wordings: int = 3  # templates of each relation, where it has some
n_shots: int = 20  # pairs shown
n_options: int = 100  # at most
n_facts: int = 100  # of each relation, at most
n_choice: int = 20  # other facts of each, to choose the format and the rule by
n_wrong: int = 5  # of each relation, that are shown with their options
seed: int = 0
dtype: str = "float32"

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, facts, figures, prompts, stats
from lkecore.answers import paired, rules

figures.style()

# %% [markdown]
# ## Facts
#
# Of each relation the pairs to show, the facts to ask and their options are drawn once, so that all ways of asking get the same.

# %%
size = {"n_shots": n_shots, "n_options": n_options, "n_facts": n_facts}
how = {"allow_fewer": True, "seed": seed}
sample = facts.draw(fact_set, relations, **size, **how)
spare = {**size, "n_facts": n_choice, "part": "choice"}
spare = facts.draw(fact_set, relations, **spare, **how, leave_out=True)
print(facts.fewer(sample, **size))
answers.html_table(facts.overview(sample, n_options=n_options, n_facts=n_facts))

# %% [markdown]
# ## Prompts
#
# Pairs in two formats, and templates that end with the object, where a relation has some.

# %%
questions = {}
for name, drawn in sample.items():
    words = drawn.relation.templates
    ends = [i for i, t in enumerate(words) if t.rstrip(" .").endswith("[Y]")]
    plain = [f"template-{i + 1}" for i in ends[:n_wordings]]
    questions |= prompts.of_sample({name: drawn}, [*estimators, *plain])
for name in estimators:
    print(f"{name:14}{prompts.example(name, sample)!r}")

# %% [markdown]
# ## Scores
#
# An answer is right if the gold option is the likeliest. Confidence is the option's share of the probability of all options.

# %%
model, *other = models
tried = prompts.of_sample(spare, estimators)
tried = answers.ask([model], tried, "answers-choice.parquet", dtype=dtype)
tried = tried.pivot_table("correct", "relation", "estimator")[estimators]
best = tried.mean().idxmax()
best_rule = rules.best(rules.cues(spare, kept=False))
every = answers.ask(models, questions, "answers.parquet", dtype=dtype)
found = every[every["model"] == model]
cues = rules.cues(sample)
answers.columns(found)

# %% [markdown]
# ## Answers
#
# Means over relations, with intervals over other relations, or over facts if there are fewer than five relations. Rules know nothing: they name an
# object that shares words with the subject, or the one that was shown most often, or the shortest.

# %%
pairs = found[found["estimator"].isin(estimators)]
table = stats.estimate(pairs, ["estimator"])
rule = cues[["relation", "fact"]].assign(correct=cues[best_rule])
rule["estimator"] = best_rule
table = pd.concat([table, stats.estimate(rule, ["estimator"])])
table["accuracy"] = table.apply(stats.format_estimate, axis=1)
table["chosen"] = table["estimator"].isin([best, best_rule])
table["estimator"] = table["estimator"].map(figures.display_name)
table[["estimator", "accuracy", "chosen"]]

# %% [markdown]
# **By relation.**

# %%
share = pairs.pivot_table("correct", "relation", "estimator")
of_rule = rule.groupby("relation")["correct"].mean()
by_relation = share.join(of_rule.rename(best_rule))
by_relation = by_relation.sort_values(estimators[-1], ascending=False)
by_relation.rename(columns=figures.display_name).round(2)

# %% [markdown]
# **Is it right when it is sure?** All answers in the better format, from the least sure to the surest, in equal parts: `confidence` is the mean of
# its answers, `accuracy` the share that is right.

# %%
own = pairs[pairs["estimator"] == best]
parts = own["confidence"].rank(method="first")
parts = pd.qcut(parts, min(5, len(own)), labels=False) + 1
curve = own.assign(part=parts).groupby("part")
curve.agg(
    confidence=("confidence", "mean"), accuracy=("correct", "mean")
).round(2)

# %% [markdown]
# **How much do words change?** The best and the worst template of each relation, and pairs, for comparison.

# %%
wordings = found[~found["estimator"].isin(estimators)]
spread = wordings.pivot_table("correct", "relation", "estimator")
if len(spread):
    ends = {"best": spread.max(axis=1), "worst": spread.min(axis=1)}
    spread = pd.DataFrame(ends).join(share[best].rename("pairs"))
spread.round(2) if len(spread) else "no relation has templates"

# %% [markdown]
# **What does it answer when it is wrong?** Some facts of each relation that it misses in the better format, with its likeliest options: the facts
# whose true object it finds least likely.

# %%
missed = own[~own["correct"]].sort_values("confidence_gold")
missed = missed.groupby("relation").head(n_wrong)


def shown():
    """Of each relation the options of what it misses."""
    parts = {}
    for name, of in missed.groupby("relation"):
        some = [q for q in questions[best, name] if q.fact in {*of["fact"]}]
        parts[name] = answers.likeliest(model, some, best=3, dtype=dtype)
    whole = pd.concat(parts or {"": pd.DataFrame()}, names=["relation"])
    return whole.reset_index("relation")


said = answers.once(shown, "wrong.parquet")
answers.html_table(said) if len(missed) else "nothing is missed"

# %% [markdown]
# **Beside another model.** The same facts in the same format, if there is one to compare it with: accuracy of both, their difference with its interval, and the least difference that these facts
# could have shown.

# %%
beside = "there is no other model"
if other:
    two = every[every["estimator"] == best]
    two = [two[two["model"] == name] for name in (model, *other)]
    beside = paired.table([(*two, *map(figures.display_name, models))])
    print(beside.loc[0, "in_words"])
    beside = beside.drop(columns="in_words").T.rename(columns={0: ""})
    beside = answers.html_table(beside.rename_axis("of both").reset_index())
beside

# %% [markdown]
# ## Figure
#
# {numref}`fig-report-relations`, at the top.

# %% tags=["hide-input"]
rows = stats.estimate(pairs, ["relation", "estimator"], over="share")
of_rule = of_rule.rename("estimate").reset_index()
rows = pd.concat([rows, of_rule.assign(estimator=best_rule)])
rows["estimator"] = rows["estimator"].map(figures.display_name)
order = by_relation[best].sort_values(ascending=False).index
rows = rows.set_index("relation").loc[order].reset_index()
grid = figures.marks(
    rows,
    x="relation",
    hue="estimator",
    across=True,
    height=0.6 + 0.45 * len(order),
    aspect=8 / (0.6 + 0.45 * len(order)),
)
figures.glue_figure(grid.figure, "fig-report-relations", rows)

# %% tags=["hide-input", "page-only"]
by_hand = own.groupby("relation")["correct"].mean().mean()
assert abs(by_hand - share[best].mean()) < 1e-9, "the headline, again"
figures.sentence({"the better of two formats": len(estimators) == 2})
figures.glue_values(
    name_model=figures.display_name(model),
    asked=f"{len(own):,} facts",
    best=share[best].mean(),
    rule=of_rule["estimate"].mean(),
)

# %% [markdown]
# ## What this does not say
#
# A missed fact may be known, if the question was a bad one; a found fact may be a guess. An interval shows what other
# relations, or other facts of this one, might have given.
