# %% [markdown]
# # Can it use what it knows?
#
# Draft.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]
fact_set: str = "lab:rich-1"
relations: list[str] = []  # empty: all
questions: str = ""  # table of questions and statements; empty: ours
templates: list[int] = [0, 5, 10, 15, 20]  # places, from 0, to find what is known
n_facts: int = 200  # facts of each relation that are asked for what is known
prompt_rate: float = 1e-2  # of learning soft prompts
prompt_steps: int = 400
prompt_batch: int = 64
extractions: list[int] = [0]  # seeds of these
heads: list[str] = ["likelihood"]  # also: value
rates: list[float] = [1e-4]  # learning rates at their highest
steps: int = 400  # of training, each of so many queries:
batch: int = 16
every: int = 50  # steps from one validation to the next
each: int = 2  # wrong documents of each of three kinds, in training
readable: list[bool] = [False]  # true: the query names its tail
splits: list[int] = [0]  # seeds of the division into train and asked facts
n_asked: int = 15  # asked facts of each relation, of known and of never told
plain: int = 5  # place of the statement that stands for all, untrained
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws facts, heads and documents
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from dataclasses import replace
from itertools import product

import pandas as pd

from lkecore import answers, facts, figures, papers, runs, stats
from lkecore.facts import questions as wordings
from lkecore.facts import worlds
from lkecore.tasks import documents, extraction, ranking, use
from lkecore.train.finetune import Recipe

figures.style()

# %% [markdown]
# ## Facts

# %%
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "least": 1}
sample = facts.draw(fact_set, relations, **size, seed=seed, apart=True)
asked = {name: of.facts for name, of in sample.items()}
shown = {name: of.train for name, of in sample.items()}
extraction.check_apart(shown, asked)
train, valid = extraction.divided(shown, seed=seed)
words = wordings.of([of.relation for of in sample.values()], questions)
own = {
    f"template-{i + 1}": {
        name: of.relation.templates[i] for name, of in sample.items()
    }
    for i in templates
    if all(
        len(of.relation.templates) > i
        and of.relation.templates[i].rstrip(".").endswith("[Y]")
        for of in sample.values()
    )
}
never = set()
if worlds.is_rich(fact_set):
    states = worlds.states(fact_set)
    never = {*states.loc[states["state"] == "never", "fact"]}

# %% [markdown]
# ## Prompts

# %%
one = next(iter(words.values()))
print(one.question, *one.statements, sep="\n")

# %% [markdown]
# ## Scores

# %%
this = "31_xtraeval_task"
how = Recipe(prompt_rate, prompt_steps, prompt_batch)
knows, ranks, curves = [], [], []
for name in models if not page else []:
    lm = answers.opened(name, dtype)
    soft = [
        extraction.learn(lm, train, valid, how, seed=number)
        for number in extractions
    ]
    known = extraction.known(lm, soft, own, train, asked)
    knows.append(known)
    pairs = known.loc[known["known"], ["relation", "fact"]]
    pairs = {*map(tuple, pairs.to_numpy())}
    whole = [(fact, name) for name, some in asked.items() for fact in some]
    those = [fact for fact, name in whole if (name, fact.id) in pairs]
    task, out = documents.usable(those, words)
    print(name, len(those), "known facts; left out:", out or "none")
    unknown = [f for f, _ in whole if f.id in never and f not in those]
    unknown = [f for f in unknown if f.relation in task.by_relation]
    for split in splits:
        own_task, parts, _ = use.parted(task, seed=split, most=n_asked)
        some = pd.Series([fact.relation for fact in unknown], dtype=str)
        few = some.groupby(some).head(n_asked).index
        of = {"known": parts.test, "never": [unknown[i] for i in few]}
        rows = []
        for reads in readable:
            tasks = {}
            for part, which in of.items() if not reads else [("known", parts.test)]:
                tasks[part] = use.pools(
                    task, which, seed=split, readable=reads
                )
            every_pool = [pool for some in tasks.values() for pool in some]
            part = [part for part, some in tasks.items() for _ in some]
            for head, rate in product(heads, rates):
                recipe = Recipe(rate, steps, batch, every=every)
                setting = use.Setting(head, recipe, each, reads, seed)
                found, curve = use.trained(
                    lm, own_task, parts, every_pool, setting
                )
                key = {"rate": rate, "readable": reads, "split": split}
                rows.append(found.assign(part=part, **key))
                curves.append(curve.assign(model=name, ranker=head, **key))
            key["rate"] = 0.0
            if not reads:
                only = {
                    r: replace(w, statements=(w.statements[min(plain, len(w.statements) - 1)],))
                    for r, w in words.items()
                }
                same = replace(task, wordings=only)
                same = [
                    pool
                    for which in of.values()
                    for pool in use.pools(same, which, seed=split)
                ]
                for head in heads:
                    found = use.untrained(lm, every_pool, head, seed=seed)
                    rows.append(found.assign(part=part, **key))
                if lm.kind == "causal":
                    found = use.untrained(lm, same, "likelihood")
                    found["ranker"] += ", one wording"
                    rows.append(found.assign(part=part, **key))
            by_rule = [
                ranking.rules(query, own, parts.train)
                for query, own in every_pool
            ]
            for rule in ranking.RULES:
                found = ranking.ranked(
                    every_pool,
                    [of_query[rule] for of_query in by_rule],
                    model=name,
                    ranker=rule,
                )
                rows.append(found.assign(part=part, **key))
        ranks += rows
file = "answers.parquet"
if page:
    ours, known, curve = map(
        answers.collect,
        (file, "answers-known.parquet", "answers-curve.parquet"),
    )
else:
    ours = pd.concat(ranks, ignore_index=True)
    known = pd.concat(knows, ignore_index=True)
    curve = pd.concat(curves, ignore_index=True)
answers.keep(ours, file)
answers.keep(known, "answers-known.parquet")
answers.keep(curve, "answers-curve.parquet")

# %% [markdown]
# ## Answers

# %%
ours.groupby(["model", "readable", "part", "ranker", "rate"])[["top1", "tails", "text", "last_loss"]].mean().round(3)

# %%
curve.pivot_table("top1", "step", ["model", "ranker", "rate", "readable"]).round(3)
