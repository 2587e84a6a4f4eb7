# %% [markdown]
# # What do four examples change: knowledge, form or copying?

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital", "official_language"]  # none: all
wordings: str = (
    ""  # a table of templates; empty: those of the fact set, or ours
)
templates: list[int] = []  # places of the templates, from 0; none: all
contexts: list[str] = ["zero-shot", "4-template"]  # or 4-random, 4-relation
draws: list[int] = [0, 1, 2]  # seeds that draw the examples
instructions: list[str] = [
    "mp"
]  # "mp": fill the mask; "qa": answer the question
others: list[str] = []  # more relations whose facts 4-random may show
n_facts: int = 20  # pairs of each relation
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from dataclasses import replace

import pandas as pd

from lkecore import answers, facts, figures, runs
from lkecore.facts import wordings as words
from lkecore.prompts import contexts as tasks
from lkecore.stats import match
from lkecore.stats import wordings as metrics

figures.style()

# %% [markdown]
# ## Facts

# %%
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "least": 1}
size |= {"n_test": max(400, n_facts), "seed": seed}
names = dict.fromkeys([*relations, *others])
sample, texts, out = words.onto(
    facts.draw(fact_set, [*names], **size), wordings
)
sample = words.pairs(sample)
for name in set(sample) - {*relations} if relations else ():  # to show alone
    sample[name] = replace(sample[name], facts=(), options=())
asked = {name: of for name, of in sample.items() if of.facts}
words.counts(asked, texts)

# %% [markdown]
# ## Prompts

# %%
questions, shown = {}, []
is_question = texts[texts["question"]].set_index(["relation", "template"]).index
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
if templates:  # a question may be none of them
    at = ["instruction", *tasks.KEY].index("template")
    questions = {k: some for k, some in questions.items() if k[at] in templates}
by = ["instruction", *tasks.KEY]
shown = pd.concat(shown, ignore_index=True)[[*by, "fact", "shown"]]
print(
    f"{sum(map(len, questions.values())):,} prompts, under {len(questions):,} keys"
)

# %% [markdown]
# ## Scores

# %%
true = {
    (name, fact.id): fact.true_names
    for name, of in asked.items()
    for fact in of.facts
}


def read(said: pd.DataFrame) -> pd.DataFrame:
    """Whether any true name is in an output, or all of it; and its form."""
    both = said[["relation", "fact", "text"]].to_numpy()
    of = [(text, true[relation, fact]) for relation, fact, text in both]
    return said.assign(
        correct=[
            any(match.holds(text, n) for n in names) for text, names in of
        ],
        exact=[any(match.exact(text, n) for n in names) for text, names in of],
        one_word=said["text"].map(match.one_word),
    )


said = answers.write(
    models,
    questions,
    "written.parquet",
    by=by,
    max_new_tokens=10,
    stop="\n",
    reading=read,
    dtype=dtype,
    page=page,
)
said = said.merge(shown, on=[*by, "fact"], how="left", validate="m:1")
key = ["model", *by, "fact"]
found = said[[*key, "correct", "exact", "one_word", "shown"]]

# %% [markdown]
# Do the outputs on one pair agree, whatever the template? `alike`: one holds the other.

# %%
groups = texts[["relation", "template", "group"]]
compared = said.rename(columns={"text": "answer"}).merge(groups)
one = ["model", "instruction", "context", "draw", "relation"]
agree = metrics.consist(
    compared, [*one, "fact"], group="group", same=match.alike
).reset_index()
across = metrics.consist(compared, [*one, "template"], same=match.alike)
across = across["consist"].groupby(one).mean().rename("across").reset_index()
agree = agree.merge(across, on=one).drop(columns="weight")
if not page:  # no text: so it may ship
    answers.keep(found, "answers.parquet")
    answers.keep(agree, "answers-agree.parquet")
answers.words(found.head())

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
