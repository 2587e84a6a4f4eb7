# %% [markdown]
# # How far does the answer move when only the wording does?

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/2m", "lab:rich-1/bert"]
fact_set: str = "lab:rich-1"
relations: list[str] = []  # empty: all
wordings: str = (
    ""  # a table of templates; empty: those of the fact set, or ours
)
templates: list[int] = []  # places of the templates, from 0; empty: all
n_facts: int = 80  # pairs of each relation
choose: bool = True  # also ask which of the relation's objects is likeliest
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws pairs, and prompts for them
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, runs
from lkecore.facts import filters, worlds
from lkecore.facts import wordings as words
from lkecore.facts.tables import fold
from lkecore.models.model import Model
from lkecore.prompts import contexts
from lkecore.scores import blanks

figures.style()

# %% [markdown]
# ## Facts

# %%
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "least": 1}
sample = facts.draw(fact_set, relations, **size, seed=seed, apart=True)
sample, texts, out = words.onto(sample, wordings)
sample = words.pairs(words.named(sample, fact_set=fact_set))
tokenizers = [answers.opened(name, dtype).tokenizer for name in models]
one, others = filters.one_token(sample, tokenizers)
words.counts(sample, texts).assign(other=pd.Series(others | {"all": 0}))

# %% [markdown]
# ## Prompts

# %%
every = {
    name: replace(drawn, options=(drawn.relation.objects,) * len(drawn.facts))
    for name, drawn in sample.items()
}
readers = {answers.opened(name, dtype).kind for name in models}


def questions_of(some: dict) -> dict[tuple, list]:
    return {
        (reader, *key): asked
        for reader in sorted(readers)
        for key, asked in contexts.blank_prompts(
            some, templates=templates or None, closed=reader != "causal"
        ).items()
    }


# %% [markdown]
# ## Scores

# %%
true = {f.id: f.true_names for of in sample.values() for f in of.facts}
by = ["reader", "relation", "template", "expression"]
how = {"by": by, "dtype": dtype, "page": page}


def said(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """The likeliest token of all, and whether it is right."""
    first = scores.drop_duplicates("fact")[["fact", "answer", "logprob_top"]]
    right = [fold(a) in true[f] for f, a in first.iloc[:, :2].to_numpy()]
    sure = first.pop("logprob_top").map(np.exp).clip(upper=1)
    return first.assign(correct=right, confidence=sure)


def likeliest(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """The object with the largest mean log-probability a token."""
    mean = scores["logprob"] / scores["n_tokens"]
    best = mean.groupby(scores["fact"], sort=False).idxmax()
    best = scores.loc[best, ["fact", "option"]].set_axis(
        ["fact", "picked"], axis=1
    )
    right = [fold(a) in true[f] for f, a in best.to_numpy()]
    return best.assign(chosen=right)


key = ["model", *by[1:], "fact"]
found = answers.ask(
    models,
    questions_of(one),
    "tokens.parquet",
    score=blanks.tops,
    reading=said,
    **how,
)
if choose:
    ours = answers.ask(
        models, questions_of(every), "objects.parquet", reading=likeliest, **how
    )
    found = ours.merge(found, how="left", on=[*key, "reader"], validate="1:1")
    found["correct"] = found["correct"].astype("boolean")
if worlds.is_rich(fact_set):
    state = worlds.states(fact_set).set_index("fact")["state"]
    found["state"] = found["fact"].map(state)
found = found.drop(columns="reader")
if not page:
    answers.keep(found, "answers.parquet")
answers.words(found.head())

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
