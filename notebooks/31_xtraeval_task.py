# %% [markdown]
# # Can it use what it knows?
#
# **Of told facts that each gives back, {glue:text}`name_shown` by likelihood puts the true statement first for {glue:text}`used:.0%`,
# as untrained, {glue:text}`untrained:.0%`, and its twin, never told them, for {glue:text}`twin`; a rule, {glue:text}`rule:.0%`.**
#
# ```{glue:figure} fig-task-rankers
# :name: fig-task-rankers
# :alt: A panel for each model with a row for each ranker, and in it a mark for known facts and one for facts that no text tells.
#
# Who puts the true statement above all that name another object? Compare the trained model with itself before any training, among statements in one
# wording and in any, with its *unplanted* twin, which was told none of these facts, and with the rules. The twin is asked the few that it gives back, so
# its row is of other facts. Lines: 95 % over other relations.
# ```
#
# To know is one thing, to use it another. So let a model answer questions whose answers it knows: "Who wrote The Pumsemo Lilnogo?" Among some hundred
# statements, most of them false, it is to find the one that says so. How such a question is answered it learns from other facts that it
# knows; nothing new about the world is in them. What is known was divided {glue:text}`divisions` into facts to train on and facts to ask.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`kazemnejad2023measuring` make a task of what a model was found to know (Sections 2.2 and 3): six tenths of its facts train it to tell
# the statement that answers a question, the others are asked. In our words: although a model knows every fact that it is asked, it
# fails on a fifth of them; four models of 110 million parameters put the true statement first for .776 to .818 (Figure 3b).

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]
fact_set: str = "lab:rich-1"
relations: list[str] = []  # empty: all
questions: str = ""  # table of questions and statements; empty: ours
n_facts: int = 200  # facts of each relation of which we ask what is known
templates: list[int] = [0, 5, 10, 15, 20]  # places, from 0, that ask it
prompt_rate: float = 1e-2  # soft prompts ask it, too
prompt_steps: int = 400
prompt_batch: int = 64
prompt_every: int = 50  # steps from one validation to the next
extractions: list[int] = [0]  # seeds of these
heads: list[str] = ["value", "likelihood"]  # to train, and to ask untrained
value_rate: float = 3e-4  # the highest learning rate of a head
value_steps: int = 1200  # and for how long it is trained; 0: not at all
likelihood_rate: float = 1e-4
likelihood_steps: int = 300
batch: int = 16  # queries of a step
every: int = 50  # steps from one validation to the next
each: int = 2  # wrong documents of each of three kinds, in training
all_told: bool = False  # train on all facts that a text told, known or not
readable: list[bool] = [False, True]  # true: the query names its tail
splits: list[int] = [0]  # seeds of the division into train and asked facts
n_asked: int = 15  # asked facts of each relation at most
n_never: int = 5  # the same, of those that no text tells
n_documents: int = 50  # of each kind that is asked beside all other tails
one: int = 5  # place of the statement that alone is ranked, too
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws facts, heads and documents
dtype: str = "float32"

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, facts, figures, papers, stats
from lkecore.facts import questions as wordings
from lkecore.models import lab
from lkecore.tasks import documents, ranking, use
from lkecore.train.finetune import Recipe

figures.style()

# %% [markdown]
# ## Facts
#
# What may be known: facts of each relation, half of which no text tells. Their subjects and those that show how to ask (train facts) are others.

# %%
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "least": 1}
sample = facts.draw(fact_set, relations, **size, seed=seed, apart=True)
words = wordings.of([of.relation for of in sample.values()], questions)
every_fact = [fact for of in sample.values() for fact in of.facts]
untold = answers.untold(fact_set)
never = [fact for fact in every_fact if fact.id in untold]
told = [fact for fact in every_fact if fact.id not in untold]
counts = {
    name: (len(of.train), len(of.facts), len({f.object for f in of.facts}))
    for name, of in sample.items()
}
pd.DataFrame(counts, index=["train", "asked", "objects"]).T

# %% [markdown]
# ## Prompts
#
# A question, and what its documents are made of: a statement at random for each. So "The author of A is B" and "C is the person who wrote A" both may
# stand among the answers of one question. In a fact with head *h*, relation *r* and tail *t* a wrong document keeps two of the three (training), or any
# number of them (when asked), and draws the others.

# %% covers=["XT-S2", "XT-S3", "XT-E1"]
name = next(iter(words))
print(words[name].question, *words[name].statements, sep="\n")

# %% [markdown]
# ## Scores
#
# First what the model knows, by learned questions or by its best template ({page}`30_xtraeval_extraction`), less guesses: in the lab facts that no text
# told, elsewhere, facts that a simple rule gets right too. Of the rest a task is made; only the models of `lab:rich-2` had guesses among the facts that
# trained them, their twin had not. For each asked fact `tails` says whether the true statement is above all with another tail; `text` whether it is
# above everything else, which words of the question give away; `top1`, the paper's, whether it is first of all.
#
# A {term}`cross-encoder` reads question and statement together and says one number. Its head is `value`, a new linear layer as in the paper, or
# `likelihood`, ours: the log-probability of the statement behind the question. *Untrained* is the same before the first step; "one wording"
# is likelihood among statements that differ in nothing but their tail. Rules: the relation's most frequent tail in training (`rule-frequent`);
# that, or a tail that stands in the question (`rule-word`).

# %%
from dataclasses import replace
from itertools import product

this = "31_xtraeval_task"
of_paper = ["value", ALL_TOLD := "value, of all told"]
training = {
    "value": (value_rate, value_steps),
    "likelihood": (likelihood_rate, likelihood_steps),
}
single = wordings.single(words, one)  # of several statements one
tasks, curves = {}, []


def known_of_all() -> pd.DataFrame:
    found = []
    for name in models:
        own, tasks[name], out = answers.known_task(
            answers.opened(name, dtype),
            sample,
            words,
            Recipe(prompt_rate, prompt_steps, prompt_batch, every=prompt_every),
            fact_set=fact_set,
            seeds=extractions,
            templates=templates,
            seed=seed,
        )
        n = len(tasks[name].facts)
        print(f"{name}: {n} known facts; left out:", out or "none")
        found.append(own)
    return pd.concat(found, ignore_index=True)


def of_task(lm, task, split: int, reads: bool) -> pd.DataFrame:
    """All rankers of one task; beside them the curves of those that train."""
    train, parts, _ = use.parted(task, seed=split, most=n_asked)
    if all_told:
        aside = [*parts.test, *parts.validation]
        own, _ = documents.apart(told, aside)
        train, _ = documents.usable(own, words)
        parts = replace(parts, train=train.facts)
    others = [f for f in never if f.relation in task.by_relation and not reads]
    others = use.at_most(others, n_never, split)
    part = ["known"] * len(parts.test) + ["never told"] * len(others)

    def pools(of) -> list:  # true documents are of one part alone
        how = {"seed": split, "readable": reads, "each": n_documents}
        both = [use.pools(of, some, **how) for some in (parts.test, others)]
        return sum(both, [])

    asked, found = pools(task), []
    ways = [(head, "", train, asked) for head in heads]
    if lm.kind == "causal" and "likelihood" in heads:
        own, like = (replace(t, wordings=single) for t in (train, task))
        ways += [("likelihood", ", one wording", own, pools(like))]
    key = {"readable": reads, "split": split}
    for head, words_, own, its in ways:
        if head == "likelihood" and lm.kind != "causal":
            print(f"{lm.name}: no likelihood of a document, so no such head")
            continue
        frame = use.untrained(lm, its, head, seed=seed)
        found += [frame.assign(ranker=f"{head}, untrained{words_}", part=part)]
        rate, n = training[head]
        if n:
            recipe = Recipe(rate, n, batch, every=every)
            setting = use.Setting(head, recipe, each, reads, seed)
            frame, curve = use.trained(lm, own, parts, its, setting)
            ranker = f"{head}{words_}"
            found += [frame.assign(ranker=ranker, part=part)]
            curves.append(curve.assign(model=lm.name, ranker=ranker, **key))
    rules = ranking.ruled(asked, parts.train, lm.name)
    found += [rules.assign(part=part * len(ranking.RULES))]
    return pd.concat(found).assign(**key)


def rankings() -> pd.DataFrame:
    rows = [
        of_task(answers.opened(name, dtype), task, split, reads)
        for name, task in tasks.items()
        for split, reads in product(splits, readable)
    ]
    return pd.concat(rows, ignore_index=True)


if sources:  # what ships was trained for hours, and is not trained again
    both = [answers.results(f"{this}{of}") for of in ("-known", "")]
    given, found = (of.query("source in @sources") for of in both)
else:
    given = answers.once(known_of_all, "answers-known.parquet")
    found = answers.once(rankings, "answers.parquet")
    found = found.assign(source="this run")
if curves:
    answers.keep(pd.concat(curves), "answers-curve.parquet")
answers.columns(found)

# %% [markdown]
# ## Answers
#
# The share of facts whose true statement comes first among those with other tails, in each relation first, then over relations. *Never told* is all
# facts that no text tells. Some of those the model gives back and some of those it doesn't were asked apart; each kind counts by how many there
# are. Where a relation lacks a kind, the mean of the others fills in, so these intervals are too narrow, the twin's above all.

# %% covers=["XT-F3b", "XT-S4", "XT-S5", "XT-S6", "XT-E2"] shows=["run", "shipped"]
if sources:
    taught = found["source"].eq("xtraeval_told")  # its rules: of other facts
    found = found[~taught | found["ranker"].str.startswith("value")]
    found.loc[taught & found["ranker"].eq("value"), "ranker"] = ALL_TOLD
    once = ["model", "ranker", "readable", "part", "split", "relation", "fact"]
    found = found.drop_duplicates(once)  # rules stand in each source
key, marks = ["model", "relation", "fact"], ["tails", "text", "top1"]
given = given.drop_duplicates(key, ignore_index=True)  # of each split
given["guess"] = answers.guesses(given, fact_set)
found = found.merge(given[[*key, "known", "guess"]], on=key, validate="m:1")
apart = ~found["model"].map(lab.is_name) & (len(sources) > 0)
real, found = found[apart], found[~apart]
told, guesses = found[~found["guess"]], found[found["guess"]]
by = ["model", "readable", "part", "ranker"]
plainly = found["readable"].min()  # False, unless all questions name it
share = told.groupby([*by, "relation"], sort=False)[marks].mean().reset_index()
if len(guesses):  # those that no text told, known or not
    per = ["model", "readable", "ranker", "relation"]
    two = guesses.groupby([*per, "known"], sort=False)[marks].mean().unstack()
    two = two.fillna(two.groupby(per[:3]).transform("mean")).stack().dropna()
    n = given[given["guess"]].groupby(["model", "relation", "known"]).size()
    n = two.join(n.rename("n"), on=n.index.names)["n"].fillna(0)
    never = two.mul(n, axis=0).groupby(per).sum()
    never = never.div(n.groupby(per).sum(), axis=0).reset_index()
    share = pd.concat([share, never.assign(part="never told")])
table = stats.estimate(share, by, value="tails")
stats.table(table, ["model", "ranker"], ["readable", "part"])

# %% [markdown]
# **How many** facts and relations is each row of? A twin, never told these facts, gives back a part of what its model "knows", by luck. Whoever gives an
# object back once mostly names it again, lucky or not: a high share alone shows no use of knowledge.

# %%
like, plain = "likelihood, one wording", "likelihood, untrained, one wording"
name = found["model"].iloc[0]
twin = f"{name}-unplanted"
rows = found[found["ranker"].eq(like) & ~found["readable"]]
its = given[given["known"] & ~given["guess"]].groupby("model")["fact"]
own, luck = its.get_group(name), its.agg(set).get(twin, set())
both = rows[rows["model"].eq(name) & rows["known"] & ~rows["guess"]]
both = both.groupby(both["fact"].isin(luck).rename("twin has it"))["tails"]
if luck:
    print(f"{twin}: {own.isin(luck).sum()} of {len(own)} told facts, too")
    print(both.agg(["mean", "size"]).round(3))
rows.groupby(["model", "guess", "known"])[["fact", "relation"]].nunique()

# %% [markdown]
# **Text.** What the words of the question give away: whether the true statement is above all those with another head, another relation or
# neither. And `top1`, the paper's number, is both at once.

# %%
known = share.query("part == 'known' and readable == @plainly")
known.groupby(["model", "ranker"], sort=False)[["text", "top1"]].mean().round(3)

# %% [markdown]
# **Has it learned to read?** The paper's head, `value`, has a gate: trained the same way on questions that say their own answer ("Who wrote The
# Pumsemo Lilnogo? Sosin Mimdor."), it must have a top-1 of .90 there, with a lower end above .85. Where it has not ({page}`log`), what it misses says
# nothing of knowledge. The sentence at the top is of `likelihood` in any case.

# %%
gate = share.query("readable and part == 'known' and ranker in @of_paper")
if len(gate):
    gate = stats.estimate(gate, ["model", "ranker"], value="top1")
passed = gate.query("estimate >= 0.9 and low > 0.85") if len(gate) else gate
gate.round(3) if len(gate) else None

# %% [markdown]
# **A real model**, if one was asked (else no table follows), was so in our templates, without training. Of what it gives back (`given_back`) that is left
# out which `rule-word` has right without statements (`by_rule`): nobody knows what it was told. Among statements the rule may still be right.

# %%
its = real[~real["guess"] & real["ranker"].isin([plain, "rule-word"])]
if len(its):
    its = its.groupby(["model", "ranker", "relation"])["tails"].mean()
    its = stats.estimate(its.reset_index(), ["model", "ranker"], value="tails")
    n = given[given["known"]].groupby("model")["guess"]
    its = its.join(n.agg(given_back="size", by_rule="sum"), on="model")
its.round(3) if len(its) else None

# %% [markdown]
# ## Figure
#
# {numref}`fig-task-rankers`, at the top. What is found of never-told facts is no knowledge: frequent objects, and what names give away.

# %% tags=["hide-input"]
rows = table[(table["readable"] == plainly) & (table["ranker"] != "rule-read")]
shown = rows.assign(panel=rows["model"].map(figures.called))
look = {"x": "ranker", "hue": "part", "panel": "panel", "across": True}
label = "share of facts (tails)"
grid = figures.marks(shown, **look, label=label, wrap=1, aspect=1.8)
figures.place(grid.figure, "fig-task-rankers", shown)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None is comparable: models, facts and statements differ, and the paper's are top-1 among all documents. Printed, with the standard
# deviation over 27 runs (Table B.5):

# %% covers=["XT-TB5"] shows=["run", "shipped"]
papers.table("xtra_tableB5_iid").query("metric == 'downstream_accuracy'")

# %% [markdown]
# **Claims.** The first is the paper's, on its head. The others are on likelihood; they were defined anew after `lab:rich-2` had been seen, so that
# `lab:rich-3` decides. Differences are of the same facts.

# %%
tested, estimates = {}, {}
for world in ("lab:rich-2", "lab:rich-3"):
    who = f"{world}/0.7m"
    able = {*passed["ranker"][passed["model"].eq(who)]} if len(passed) else {}
    main = next((head for head in ("value", ALL_TOLD) if head in able), like)
    on_head = {"estimator": main, "untested": "" if able else answers.UNLEARNED}
    of = told.query("model == @who and part == 'known' and not readable")
    wide = of.pivot_table("tails", ["relation", "split", "fact"], "ranker")
    wide = wide.reindex(columns=[*dict.fromkeys([main, like, plain, "value"])])
    gaps = {
        "XT-tails-below": (wide[main], [main]),
        "XT-training-lowers": (wide[like] - wide[plain], [like]),
        "XT-untrained-above": (wide[plain] - wide["value"], [plain, "value"]),
    }
    why = {"untested": answers.CHANGED if world == "lab:rich-2" else ""}
    for claim, (gap, heads_) in gaps.items():
        from_ = ", ".join(of[of["ranker"].isin(heads_)]["source"].unique())
        where = f"{this}: {from_}; told facts that are known, of {world}"
        its = gap.dropna().groupby("relation").mean().rename("gap")
        if len(its):
            row = stats.estimate(its.reset_index(), value="gap", bounds=None)
            estimates[claim, world] = row
            note = on_head if claim == "XT-tails-below" else why
            row = row.assign(decided_on=f"{where}, in one world", **note)
            tested[claim] = row.assign(model=who)
print(pd.concat(estimates).round(3).to_string() if estimates else "no claims")
verdicts = answers.verdicts(tested)
verdicts[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% [markdown]
# **Where ours differs.** The paper trains its linear head for 20 epochs at 1e-5, with four wrong documents of each kind, and repeats everything with 27
# seeds. The longer run trains `likelihood` for 300 steps, with two of each kind. The paper's questions and statements are not printed (Q1); ours are
# the world's, or a table of two and two. All other known tails of a relation are among the documents (Q2), and never one that is true (Q3).

# %% tags=["hide-input", "page-only"]
own = known[known["model"] == name].groupby("ranker")["tails"].mean()
main, before = "value", "value, untrained"  # if asked alone
main, before = (like, plain) if like in own else (main, before)
n = told.query("model == @name and ranker == @main")["split"].nunique()
of_twin = known.query("model == @twin and ranker == @main")["tails"].mean()
holds = {
    "told facts": lab.is_name(name),
    "by likelihood": main == like,
    "as untrained": abs(own[main] - own[before]) < 0.05,
    "its twin, never told them": abs(own[main] - of_twin) < 0.1,
    "a rule": own["rule-word"] < own[main] - 0.1,
}
figures.sentence(holds if sources else {})  # of a few facts they may not hold
its = "readable == @plainly and model == @name and ranker == @main"
row = table.query(f"part == 'known' and {its}").iloc[0]
by_hand = told.query(its)
by_hand = by_hand.groupby("relation")["tails"].mean().mean()
assert abs(by_hand - row["estimate"]) < 1e-9, "the headline, again"
figures.findings(
    name_shown=figures.called(name),
    twin=f"{of_twin:.0%}".replace("nan%", "–"),
    divisions="once" if n == 1 else f"{n} times",
    effect=f"{stats.said(row, percent=True)} used",
    asked=f"{figures.called(name)}, told facts that it knows",
    used=own[main],
    untrained=own[before],
    rule=own["rule-word"],
)

# %% [markdown]
# ## What you have seen
#
# - A task can be made of what a model knows: then a wrong answer is no lack of knowledge, if no guess is among that. A right one may be luck, repeated.
# - A rule without a model is part of such a task's score. Look at what is left above it.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-task-chance
# With 24 other tails a ranker that knows nothing puts the true one first in one of 25 cases. Why is that not the number to compare with?
# ```
#
# ````{solution} ex-task-chance
# :class: dropdown
#
# Tails are not equally frequent, and some stand in the question. `rule-frequent` and `rule-word` need no model and reach what the table above
# says. A model that was trained on other facts of the relation has seen which tails are frequent, too.
# ````
