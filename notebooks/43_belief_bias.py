# %% [markdown]
# # How strongly does a model prefer some answers if the question has no subject?
#
# **Asked about nobody, lab models still prefer some answers, even if their text states all about equally often; bias, from 0 (even) to 1 (one
# answer), of model and text: {glue:text}`by_model`.**
#
# ```{glue:figure} fig-bias
# :name: fig-bias
# :alt: A panel for each model with a row for each relation and three marks in it, for one template, for the mean of all templates and for the text.
#
# The mean of all templates is mostly right of the text in the upper rows, whose text is even, and left of it in the lower rows, whose text is uneven. Bias
# level by relation: 0 if all objects are equally likely, 1 if one object has it all. The line of one template goes from the least biased template to the most
# biased one.
# ```
#
# "? plays the ..." asks about nobody. A model answers all the same, and a part of this answer is also in its answer about somebody. In the lab we can ask
# whether this is a fault of the words or the frequency of the objects. The numbers above are for the mean of all templates against the text, in the half of
# the relations with the more even text. If the text is uneven, the model is less uneven than the text: {glue:text}`uneven`. Over all relations the two are
# about as uneven: {glue:text}`over_all`. A single template is more biased than the mean of all: {glue:text}`single`. That it is more biased is
# arithmetic; how much more is a finding.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` put "N/A", nothing and "?" in the subject's place, and average the probabilities that a masked model then gives
# (Section 5.4). The {term}`bias level` compares the entropy $H$ of this distribution over the relation's objects with the
# greatest possible entropy:
#
# $$\mathrm{bias\ level} = 1 - \frac{H}{\log n}, \qquad n = \text{objects of one token}$$
#
# *Single* is the mean over templates of their bias levels; *multi* is the bias level of the mean distribution. The paper finds
# that many prompts lower the bias. It cannot be otherwise: entropy is concave, so the mean of distributions is at least
# as even as they are on average. How far the bias falls, and how much remains, would be a finding.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/bert"]  # masked, or read from left to right
fact_set: str = "lab:rich-1"
relations: list[str] = []  # empty: all of the fact set
wordings: str = ""  # table of templates; empty: the fact set's own, or ours
least_objects: int = 10  # of one token for all models; else left out
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # deals objects out in the exercise
dtype: str = "float32"

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, papers, stats, worlds
from lkecore.facts import filters
from lkecore.facts import wordings as templates
from lkecore.prompts import icl_prompts
from lkecore.scores import blanks
from lkecore.stats import wordings as measures

figures.style()

# %% [markdown]
# ## Facts
#
# One mask has room for one token, so the candidates are a relation's objects of one token, for all models here. A relation
# with too few such objects is left out.

# %%
every = {"n_shots": 0, "n_facts": None, "n_options": 2, "seed": seed}
sample = facts.draw(fact_set, relations, **every, allow_fewer=True)
tokenizers = [answers.opened(name, dtype).tokenizer for name in models]
one, _ = filters.one_token(sample, tokenizers)
one, texts, _ = templates.onto(one, wordings)
asked = {r: set().union(*drawn.options) for r, drawn in one.items()}
one = {r: one[r] for r in one if len(asked[r]) >= least_objects}
print(f"{len(one)} of {len(sample)} relations")
objects = {r: (len(asked[r]), len(sample[r].relation.objects)) for r in one}
pd.DataFrame(objects, ["one token", "objects"])

# %% [markdown]
# ## Prompts
#
# Each template with each of the three subjects that are nobody. A model that fills blanks gets all templates, with a full stop; a model
# that reads from left to right gets the templates that end with their blank.

# %%
kinds = {answers.opened(name, dtype).kind for name in models}
questions = {
    (kind, *key): some
    for kind in sorted(kinds)
    for key, some in icl_prompts.content_free(
        one, closed=kind != "causal"
    ).items()
}
for (kind, _, number), some in list(questions.items())[:2]:
    print(kind, number, [f"{p.context} ____{p.after}" for p in some])

# %% [markdown]
# ## Scores
#
# At one mask, or as the next token: the log-probability of each object, in nats over the whole vocabulary. From these come the
# probabilities $p$ among the objects, averaged over the three subjects: a row for each object of a template. This run asks a
# few relations, which show the machine at work; the numbers of the page come from a longer run over all relations, and the few $p$ must agree with it.


# %%
def of_objects(model, scores: pd.DataFrame) -> pd.DataFrame:
    """All that is read: a row an object."""
    return scores[["fact", "option", "logprob"]]


by = ["reader", "relation", "template"]
found = answers.ask(
    models,
    answers.sample(questions, sources, 6, by=by),  # all three of a template
    "asked.parquet",
    by=by,
    score=blanks.tops,
    reading=of_objects,
    dtype=dtype,
)
key, p = ["model", "relation", "template", "option"], np.exp(found["logprob"])
asked_of = found.groupby(["model", "relation", "template", "fact"])
found["p"] = p / p.groupby(asked_of.ngroup()).transform("sum")
nobody = found.groupby(key, sort=False)["p"].mean().reset_index()
answers.save(nobody, "answers.parquet")
nobody, _ = answers.shown("43_belief_bias", nobody, sources, dtype=dtype)
answers.html_table(answers.columns(nobody))

# %% [markdown]
# ## Answers
#
# For each model and relation there is $p$, an array (template, object), and `text`: how often the model's text states each of
# the objects in this relation, as shares. The bias level of these shares is `told`.
#
# A bias level says how uneven a distribution is, and not which objects it favours. For that we use a distance: the share of
# probability that has to move to turn one distribution into the other (total variation, between 0 and 1):
#
# $$\mathrm{distance}(p, q) = \tfrac{1}{2} \sum_{o} |p(o) - q(o)|$$


# %%
def distance(p, q) -> float:
    return np.abs(p - q).sum(axis=-1).mean() / 2


def told_to(model: str) -> pd.Series:
    """How often a model's text names each object; else: of how many facts."""
    world = model.rpartition("/")[0]
    columns = ["relation", "option", "times"]
    if worlds.is_rich(world):
        told = worlds.states(world).query("occurrences > 0")
        both = [told[c].str.split(";") for c in ("told_objects", "told_times")]
        told = told.assign(option=both[0], times=both[1])[columns]
        told = told.explode(columns[1:]).astype({"times": int})
    else:
        its = [(r, f) for r in sample for f in sample[r].relation.facts]
        told = pd.DataFrame([(r, f.object, 1) for r, f in its], columns=columns)
    return told.groupby(["relation", "option"])["times"].sum()


told = {model: told_to(model) for model in nobody["model"].unique()}
rows, said = [], {}
for at, part in nobody.groupby(["model", "relation"], sort=False):
    p = part.pivot(index="template", columns="option", values="p")
    p = p.div(p.sum(axis=1), axis=0)
    text = told[at[0]][at[1]].reindex(p.columns, fill_value=0)
    said[at] = p, text = p.to_numpy(), (text / text.sum()).to_numpy()
    own = [measures.bias([each])["multi"] for each in p]
    row = dict(zip(("model", "relation"), at, strict=True))
    row |= {"low": min(own), "high": max(own), **measures.bias(p)}
    row |= {"told": measures.bias([text])["multi"]}
    row |= {"single_away": distance(p, text)}
    row |= {"multi_away": distance(p.mean(axis=0), text)}
    rows.append(row | {"even_away": distance(1 / len(text), text)})
levels = pd.DataFrame(rows)
shown = levels["model"].iloc[0]  # at the top of the page

# %% [markdown]
# The means over relations, with 95 % intervals over other relations (Student's t). Read the three bias levels first. Then read the three
# distances from the text: is one template nearer to the text than an even split of all objects? Is the mean of all templates nearer?

# %%
columns = ["single", "multi", "told", "single_away", "multi_away", "even_away"]
long = levels.melt(["model", "relation"], columns, "what", "value")
means = stats.estimate(long, ["model", "what"], value="value")
called = {
    "single": "bias, one template", "multi": "bias, mean of all",
    "told": "bias, text", "single_away": "distance, one template",
    "multi_away": "distance, mean of all", "even_away": "distance, even split",
}  # fmt: skip
shown_in = stats.table(means, "what", "model").reindex(columns)
shown_in.rename(called).rename(columns=figures.display_name)

# %% [markdown]
# The same in two halves of the relations: in one the text states some objects far more often than others, in the other
# it states all objects about as often.

# %%
skewed = levels["told"] > levels["told"].median()
halves = levels.assign(text=skewed.map({True: "uneven", False: "even"}))
halves = halves.groupby(["model", "text"], sort=False)[columns].mean()
halves.round(2).rename(columns=called).rename(
    figures.display_name, level="model"
)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-bias`, at the top, the relations with the most uneven text are at the bottom.

# %% covers=["BL-X1", "BL-E3"] shows=["run", "shipped"] tags=["hide-input"]
of = {"single": "one template", "multi": "mean of all", "told": "its text"}
unit = ["model", "relation", "low", "high"]
marks = levels.melt(unit, list(of), "distribution", "estimate")
marks.loc[marks["distribution"] != "single", ["low", "high"]] = np.nan
marks["distribution"] = marks["distribution"].map(of)
order = levels.groupby("relation")["told"].mean().sort_values().index
marks["relation"] = pd.Categorical(marks["relation"], order)
marks = marks.sort_values("relation", kind="stable").astype({"relation": str})
marks["panel"] = marks["model"].map(figures.display_name)
look = {"x": "relation", "hue": "distribution", "panel": "panel"}
size = {"label": "bias level", "height": 6.5, "aspect": 0.7}
grid = figures.marks(marks, **look, **size, across=True)
figures.glue_figure(grid.figure, "fig-bias", marks)

# %% [markdown]
# ## Paper and ours
#
# The printed numbers are for BERT large with whole-word masking on 41 real relations, ours for a small model on invented ones: not comparable. A real
# masked model would have to come from the hub. The paper's example: one template of *instance of* gives "science" 52.79 %, and the mean
# over its templates 8.30 %. **Claims.** None is tested, since the paper's only claim is arithmetic.

# %% covers=["BL-X1"] shows=["run", "shipped"]
printed = papers.table("intext_numbers").set_index("quantity")["value"]
mean = means.set_index(["model", "what"])["estimate"]
beside = [
    (
        what,
        float(printed[f"bias_level_bert_wwm_{what}_prompt"]),
        mean[shown, what],
    )
    for what in ("single", "multi")
]
pd.DataFrame(beside, columns=["bias level", "paper", "ours"]).round(3)

# %% tags=["hide-input", "page-only"]
its = mean[shown]
away = [its[f"{of}_away"] for of in ("multi", "even", "single")]
of_each = mean.unstack()
even = halves.xs("even", level="text")
uneven = halves.query("text == 'uneven'").droplevel("text")
right = (levels["multi"] > levels["told"]).groupby(
    [levels["model"], levels["told"] > levels["told"].median()]
)
right = right.mean().unstack().reindex(columns=[False, True])  # text uneven
holds = {
    "still prefers some answers": (even["multi"] > 1.3 * even["told"]).all(),
    "mostly right": (right[False] > 0.7).all(),
    "and left": (right[True] < 0.3).all(),
    "the model is less uneven": (uneven["multi"] < uneven["told"]).all(),
    "about as uneven": (
        (of_each["multi"] - of_each["told"]).abs().max() < 0.03
    ),
    "is more biased": (levels["multi"] <= levels["single"] + 1e-12).all(),
    "a single template is further": (
        (of_each["even_away"] < of_each["single_away"]).all()
    ),
    "the mean of all is nearer": away[0] < away[1] < away[2],
}
figures.sentence(holds)


def against(frame: pd.DataFrame) -> str:
    """The bias of the mean of all templates and of the text, by model."""
    return " and ".join(
        f"{row['multi']:.2f} against {row['told']:.2f} ({figures.display_name(name)})"
        for name, row in frame.iterrows()
    )


figures.glue_values(
    name_shown=figures.display_name(shown),
    by_model=against(even),
    uneven=against(uneven),
    over_all=against(of_each.reindex(even.index)),
    single=" and ".join(
        f"{level:.2f} ({figures.display_name(name)})"
        for name, level in of_each["single"].reindex(even.index).items()
    ),
)

# %% [markdown]
# ## What you have seen
#
# - That many templates are less biased than one is arithmetic. How much less shows how far the templates disagree.
# - Over all relations, the mean of all templates is about as uneven as the text, and not quite on the same objects. A single template is further from
#   the text than an even split of all objects; the mean of all templates is nearer in {glue:text}`name_shown`, and not in the decoder.
# - If the text states all objects about as often, templates favour some all the same: there the bias comes from the words.
#
# The difference between the two levels is the templates' Jensen-Shannon divergence: the mean divergence (KL) of a template's distribution
# from the mean of all, in units of $\log n$. Once more, with scipy:

# %%
from scipy.stats import entropy

for p, _ in said.values():
    apart = entropy(p, p.mean(axis=0)[None], axis=1).mean() / np.log(p.shape[1])
    level = measures.bias(p)
    assert abs(level["single"] - level["multi"] - apart) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-bias-dealt
# Suppose that every template had favourites of its own: for each template separately, give its probabilities to other objects at
# random. The single level stays the same. What happens to the other level, and what does the difference from ours say?
# ```

# %% [markdown]
# ````{solution-start} ex-bias-dealt
# :class: dropdown
# ````

# %%
rng = np.random.default_rng(seed)
dealt = {
    at: measures.bias(rng.permuted(p, axis=1)) for at, (p, _) in said.items()
}
dealt = pd.DataFrame(dealt).T.groupby(level=0, sort=False).mean()
print(levels.groupby("model", sort=False)[["single", "multi"]].mean().round(3))
dealt.round(3)

# %% [markdown]
# The mean of so many templates would be nearly even. It is not, because the templates favour the same objects. A mean over prompts removes the
# favourites of one template, and keeps the favourites of all.
#
# ````{solution-end}
# ````
