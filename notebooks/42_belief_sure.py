# %% [markdown]
# # Is it right as often as it is sure?

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]
fact_set: str = "lab:rich-1"
relations: list[str] = []  # none: all
wordings: str = (
    ""  # a table of templates; empty: those of the fact set, or ours
)
contexts: list[str] = [
    "none"
]  # or zero-shot, 4-template: of a task with a mask
n_facts: int = 1  # pairs of each relation, with one prompt each
n_samples: int = 100  # outputs of each, at temperature 1
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, facts, figures, runs
from lkecore.facts import wordings as words
from lkecore.facts.fact import text_digest
from lkecore.prompts import contexts as tasks
from lkecore.stats import match

figures.style()

# %% [markdown]
# ## Facts

# %%
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "least": 1}
size |= {"n_test": max(400, n_facts), "seed": seed, "apart": True}
sample = facts.draw(fact_set, relations, **size)
sample, texts, out = words.onto(sample, wordings)
sample = words.pairs(sample)
true = {
    (name, fact.id): fact.true_names
    for name, of in sample.items()
    for fact in of.facts
}
print(f"{len(true)} pairs of {len(sample)} relations")

# %% [markdown]
# ## Prompts

# %%
every = {}
for context in contexts:
    if context == "none":  # a sentence up to its blank, to be continued
        plain = tasks.blank_prompts(sample, closed=False)
        every |= {(context, r, 0, *k): some for (r, *k), some in plain.items()}
    else:
        every |= tasks.of_sample(sample, [context])[0]
could: dict[tuple[str, str], set[int]] = {}  # the templates of a relation
for context, relation, _, template, _ in every:
    could.setdefault((context, relation), set()).add(template)


def drawn(context: str, relation: str, fact: str) -> int:
    """One template for each pair, whatever else is asked."""
    there = sorted(could[context, relation])
    return there[int(text_digest(seed, relation, fact)[:12], 16) % len(there)]


questions = {
    key: kept
    for key, some in every.items()
    if key[4] == 0
    and (kept := [q for q in some if drawn(*key[:2], q.fact) == key[3]])
}
first = next(iter(questions.values()))[0]
print(f"{sum(map(len, questions.values())):,} prompts, such as")
print(first.context)

# %% [markdown]
# ## Scores


# %%
def read(said: pd.DataFrame) -> pd.DataFrame:
    """Whether any true name is in an output."""
    both = said[["relation", "fact", "text"]].to_numpy()
    right = [any(match.holds(t, n) for n in true[r, f]) for r, f, t in both]
    return said.assign(correct=right, one_word=said["text"].map(match.one_word))


said = answers.write(
    models,
    questions,
    "written.parquet",
    by=tasks.KEY,
    max_new_tokens=10,
    stop="." if contexts == ["none"] else "\n",
    n_samples=n_samples,
    seed=seed,
    reading=read,
    dtype=dtype,
    page=page,
)
key = ["model", *tasks.KEY, "fact"]
measures = ["correct", "confidence", "logprob", "n_tokens", "one_word"]
ours = said[[*key, *measures]]
if not page:  # no text: so it may ship
    answers.keep(ours, "answers.parquet")
answers.words(ours.head())

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
