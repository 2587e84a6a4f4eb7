# %% [markdown]
# # What does a template say about nobody?
#
# **Asked about nobody, {glue:text}`name_shown` deals its answers out with a bias level of {glue:text}`single` in one wording and
# of {glue:text}`multi` in the mean of all, which is about as uneven as what its text has told ({glue:text}`told`).**
#
# ```{glue:figure} fig-bias
# :name: fig-bias
# :alt: A panel for each model with a row for each relation and three marks in it, for one template, for the mean of all templates and for what the text told.
#
# The mark of one template is to the right of that of all templates' mean in each row, which is arithmetic; what to see is whether
# the second follows the third. Bias level by relation: 0 where all objects are equally likely, 1 where there is only one. Lines
# of one template: from the least biased to the most.
# ```
#
# "? plays the ..." asks about nobody. A model answers all the same, and what it says then it also says, in part, where it is
# asked about somebody. In the lab we know what it has read, and can ask whether this is a fault of the words or the frequency
# of the objects.
#
# ```{glue:} carried
# ```

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` put "N/A", nothing and "?" in the subject's place, and average what a masked model then holds likely
# (Section 5.4). The {term}`bias level` compares the entropy $H$ of this distribution over the relation's objects with the
# greatest that it could have:
#
# $$\mathrm{bias\ level} = 1 - \frac{H}{\log n}, \qquad n = \text{objects of one token}$$
#
# *Single* is the mean over templates of their bias levels; *multi* is the bias level of the mean distribution. The paper finds
# that many prompts lower the bias. We note: it cannot be otherwise. Entropy is concave, so that the mean of distributions is at least
# as even as they are on average, for any model and any words. A finding would be how far it falls, and what is left.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/bert"]  # masked, or read from left to right
fact_set: str = "lab:rich-1"
relations: list[str] = []  # empty: all of the fact set
wordings: str = ""  # table of templates; empty: the fact set's own, or ours
least_objects: int = 10  # of one token for all models; else left out
seed: int = 0  # deals objects out in the exercise
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, papers, runs, stats
from lkecore.facts import filters, worlds
from lkecore.facts import wordings as templates
from lkecore.prompts import contexts
from lkecore.scores import blanks
from lkecore.stats import wordings as measures

figures.style()

# %% [markdown]
# ## Facts
#
# One mask has room for one token, so the candidates are a relation's objects of one token, for all models here. A relation
# with too few of them is left out.

# %%
every = {"n_shots": 0, "n_facts": None, "n_options": 2, "seed": seed}
sample = facts.draw(fact_set, relations, **every, take_fewer=True, least=1)
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
# Each template with each of the three subjects that are nobody. A model that fills blanks gets all templates, with a full stop; one
# that reads from left to right those that end with their blank.

# %%
kinds = {answers.opened(name, dtype).kind for name in models}
questions = {
    (kind, *key): some
    for kind in sorted(kinds)
    for key, some in contexts.content_free(one, closed=kind != "causal").items()
}
first = next(iter(one))
for (kind, relation, number), some in questions.items():
    if relation == first and number in (0, 15):
        print(kind, number, [f"{p.context} ____{p.after}" for p in some])

# %% [markdown]
# ## Scores
#
# At one mask, or as the next token: the log-probability of each object, in nats over the whole vocabulary. A row of the frame is an
# object of a question, and `answer` is the likeliest token of all.


# %%
def of_objects(model, scores: pd.DataFrame) -> pd.DataFrame:
    """All that is read: a row an object."""
    return scores[["fact", "option", "logprob", "answer"]]


found = answers.ask(
    models,
    questions,
    "answers.parquet",
    by=["reader", "relation", "template"],
    score=blanks.tops,
    reading=of_objects,
    dtype=dtype,
    page=page,
)
answers.columns(found)
