# %% [markdown]
# # Can a model use the facts that it knows?
#
# **Among statements in one wording that differ only in their object, lab models put the true one first for {glue:text}`low:.0%` to
# {glue:text}`high:.0%` of known facts, trained or not; a rule for {glue:text}`rule:.0%` at most.**
#
# ```{glue:figure} fig-task-rankers
# :name: fig-task-rankers
# :alt: A panel for each model with a row for each way of ranking statements, and in it a mark for facts it knows and one for facts that no text states.
#
# In each panel the first two rows agree: with one wording, training does not change which object comes first. With any wording it helps. A mark is the share of facts whose true
# statement ranks above all that name another object; lines: 95 % intervals over other relations. The *unplanted* twin read none of these facts, so its
# panel is about the few that it gives back by luck.
# ```
#
# Knowing a fact and using it are two things. So let a model answer questions whose answers it knows: "Who wrote The Pumsemo Lilnogo?" Among some hundred
# statements, most of them false, it has to find the true one. It learns to answer such questions from other facts that it
# knows; they contain nothing new about the world. The known facts were divided {glue:text}`divisions` into facts to train on and facts to ask.
#
# Three limits. In the paper's setting statements are worded differently, and there training raises the share from {glue:text}`mixed_before:.0%` to
# {glue:text}`mixed:.0%` ({glue:text}`name_shown`). Among *all* statements in one wording, also about other subjects and relations, the true one comes first
# for {glue:text}`first_before:.0%` before training and {glue:text}`first:.0%` after it: training helps to find what a question is about. And the twin, which read none of these facts, ranks the true statement first for
# {glue:text}`twin` of the facts that it gives back by luck: a second question mostly repeats the first.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`kazemnejad2023measuring` make a task of the facts that a model knows (Sections 2.2 and 3): six tenths of them train it to find
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
# Facts of each relation that may be known; half of them are in no text. The facts that show how to ask (train facts) are about other subjects.

# %%
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "min_relations": 1}
sample = facts.draw(fact_set, relations, **size, seed=seed, own_seeds=True)
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
# A question, and the statements of which its documents are made, each with a statement drawn at random. So "The author of A is B" and "C is the person who
# wrote A" may both be among the answers of one question. For a fact with head *h*, relation *r* and tail *t*, a wrong document keeps two of the three in
# training, and any number of them when it is asked, and draws the others.

# %% covers=["XT-S2", "XT-S3", "XT-E1"]
name = next(iter(words))
print(words[name].question, *words[name].statements, sep="\n")

# %% [markdown]
# ## Scores
#
# First, the facts that the model knows, by learned questions or by its best template ({page}`30_xtraeval_extraction`), without guesses. In the lab a guess
# is a fact that no text states, elsewhere a fact that a simple rule also gets right. The rest makes the task. Only the models of `lab:rich-2` had guesses
# among the facts that trained them; their twin had none. For each asked fact `tails` says whether the true statement is above all with another tail;
# `text` whether it is above all others, which the words of the question give away; `top1`, the paper's measure, whether it is first of all.
#
# A {term}`cross-encoder` reads question and statement together and gives one number. Its head is `value`, a new linear layer as in the paper, or
# `likelihood`, ours: the log-probability of the statement after the question. *Untrained* is the same before the first step; "one wording"
# is likelihood among statements that differ in nothing but their tail. Two rules: the relation's most frequent tail in training (`rule-frequent`);
# a tail that is part of the question, else the most frequent (`rule-word`).

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
    train, parts, _ = use.split_task(task, seed=split, most=n_asked)
    if all_told:
        aside = [*parts.test, *parts.validation]
        own, _ = documents.without_asked(told, aside)
        train, _ = documents.answerable(own, words)
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
    answers.save(pd.concat(curves), "answers-curve.parquet")
answers.columns(found)

# %% [markdown]
# ## Answers
#
# The share of facts whose true statement comes first among the statements with other tails, in each relation first, then over relations. *Never stated* is
# all facts that no text states. Some of them the model gives back, and some it doesn't; both kinds were asked apart, and each counts by its number. If a
# relation lacks a kind, the mean of the others fills in, so these intervals are too narrow, the twin's above all.

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
WAYS = {
    "likelihood, one wording": "trained, one wording",
    "likelihood, untrained, one wording": "untrained, one wording",
    "likelihood": "trained, any wording",
    "likelihood, untrained": "untrained, any wording",
    "value": "paper's head, trained",
    ALL_TOLD: "paper's head, trained on all stated",
    "value, untrained": "paper's head, untrained",
    "rule-word": "rule: shared word, else frequent",
    "rule-frequent": "rule: most frequent object",
    "rule-overlap": "rule: most shared words",
    "rule-read": "rule: names and relation alone",
}
called = WAYS | {"known": "it knows", "never told": "never stated"}
shown = stats.table(table, ["model", "ranker"], ["readable", "part"])
shown.rename(index=figures.display_name, level="model").rename(called).rename(
    columns=called
)

# %% [markdown]
# **How many** facts and relations does each row have? A twin, which read none of these facts, gives back a part of what its model "knows", by luck. A model
# that gives an object back once mostly names it again, lucky or not: a high share alone shows no use of knowledge.

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
    n = own.isin(luck).sum()
    print(
        f"{figures.display_name(twin)} also has {n} of {len(own)} stated facts"
    )
    print(both.agg(["mean", "size"]).round(3))
rows = rows.groupby(["model", "guess", "known"])[["fact", "relation"]].nunique()
rows.rename(figures.display_name, level="model")

# %% [markdown]
# **Text.** The words of the question show whether a statement is about the right head and relation. `text` is whether the true statement is above all
# statements with another head, another relation or neither. `top1`, the paper's number, is both at once.

# %%
known = share.query("part == 'known' and readable == @plainly")
means = known.groupby(["model", "ranker"], sort=False)[["text", "top1"]].mean()
means.rename(figures.display_name, level="model").rename(WAYS).round(3)

# %% [markdown]
# **Has it learned to read?** The paper's head, `value`, has to pass a gate. It is trained the same way on questions that say their own answer ("Who wrote
# The Pumsemo Lilnogo? Sosin Mimdor."), and must reach a top-1 of .90 there, with a lower end above .85. If it does not ({page}`log`), its misses say
# nothing about knowledge. The sentence at the top is about `likelihood` in any case.

# %%
gate = share.query("readable and part == 'known' and ranker in @of_paper")
if len(gate):
    gate = stats.estimate(gate, ["model", "ranker"], value="top1")
passed = gate.query("estimate >= 0.9 and low > 0.85") if len(gate) else gate
gate.round(3) if len(gate) else None

# %% [markdown]
# **A real model**, if there is one (else no table follows), was asked in our templates, without training. Nobody knows what its text states, so facts that
# `rule-word` has right without statements (`by_rule`) are left out of the facts that it gives back (`given_back`). Among statements the rule may still be
# right.

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
# {numref}`fig-task-rankers`, at the top. Finding a fact that no text states takes no knowledge: its object is frequent, or a name gives it away.

# %% tags=["hide-input"]
rows = table[(table["readable"] == plainly) & (table["ranker"] != "rule-read")]
rows = rows.sort_values(
    "ranker", key=lambda names: names.map([*WAYS].index), kind="stable"
)
shown = rows.assign(panel=rows["model"].map(figures.display_name))

shown = shown.replace({"ranker": called, "part": called})
shown = shown.rename(columns={"part": "facts"})
look = {"x": "ranker", "hue": "facts", "panel": "panel", "across": True}
label = "share of facts (true statement first)"
grid = figures.marks(shown, **look, label=label, wrap=1, aspect=1.8)
figures.glue_figure(grid.figure, "fig-task-rankers", shown)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None is comparable: models, facts and statements differ, and the paper's are top-1 among all documents. Printed, with the standard
# deviation over 27 runs (Table B.5):

# %% covers=["XT-TB5"] shows=["run", "shipped"]
papers.table("xtra_tableB5_iid").query("metric == 'downstream_accuracy'")

# %% [markdown]
# **Claims.** The first is the paper's, on its head. The others are about likelihood; they were defined anew after `lab:rich-2` had been seen, so
# `lab:rich-3` decides. Differences are between results on the same facts.

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
# **How ours differs.** The paper trains its linear head for 20 epochs at 1e-5, with four wrong documents of each kind, and repeats everything with 27
# seeds. The longer run trains `likelihood` for 300 steps, with two of each kind. The paper's questions and statements are not printed (Q1); ours are
# the world's, or a table of two and two. All other known tails of a relation are among the documents (Q2), and never one that is true (Q3).

# %% tags=["hide-input", "page-only"]
own = known[known["model"] == name].groupby("ranker")["tails"].mean()
main, before = "value", "value, untrained"  # if asked alone
main, before = (like, plain) if like in own else (main, before)
n = told.query("model == @name and ranker == @main")["split"].nunique()
of_twin = known.query("model == @twin and ranker == @main")["tails"].mean()
each = known.pivot_table("tails", "model", "ranker")
each = each.drop(twin, errors="ignore")  # what it gives back it does not know
both, rule = each[[main, before]], each["rule-word"]
first = known.pivot_table("top1", "model", "ranker").loc[each.index]
mixed = each.reindex(columns=["likelihood", "likelihood, untrained"])
holds = {
    "lab models": all(map(lab.is_name, each.index)),
    "one wording": main == like,
    "trained or not": both.diff(axis=1).abs().max(axis=None) < 0.05,
    "find what a question is about": (first[main] > first[before] + 0.1).all(),
    "with any wording it helps": mixed.diff(axis=1).max(axis=None) < -0.2,
    "a second question repeats the first": abs(own[main] - of_twin) < 0.1,
    "a rule": (rule < both.min(axis=1) - 0.1).all(),
}
figures.sentence(holds if sources else {})  # of a few facts they may not hold
its = "readable == @plainly and model == @name and ranker == @main"
row = table.query(f"part == 'known' and {its}").iloc[0]
by_hand = told.query(its)
by_hand = by_hand.groupby("relation")["tails"].mean().mean()
assert abs(by_hand - row["estimate"]) < 1e-9, "the headline, again"
figures.glue_values(
    name_shown=figures.display_name(name),
    twin=f"{of_twin:.0%}".replace("nan%", "–"),
    divisions="once" if n == 1 else f"{n} times",
    effect=f"{stats.format_estimate(row, percent=True)} used",
    asked=f"{figures.display_name(name)}, stated facts that it knows",
    low=both.min(axis=None),
    high=both.max(axis=None),
    rule=rule.max(),
    first=first.loc[name, main],
    first_before=first.loc[name, before],
    mixed=mixed.loc[name].iloc[0],
    mixed_before=mixed.loc[name].iloc[1],
)

# %% [markdown]
# ## What you have seen
#
# - A task can be made of facts that a model knows. If no guess is among them, a wrong answer is no lack of knowledge; a right one may be repeated luck.
# - A rule without a model explains a part of such a task's score. Look at the part above it.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-task-chance
# With 24 other tails, a ranker that knows nothing puts the true one first in one of 25 cases. Why is that not the number to compare with?
# ```
#
# ````{solution} ex-task-chance
# :class: dropdown
#
# Tails are not equally frequent, and some are part of the question. `rule-frequent` and `rule-word` need no model, and the table above shows how much
# they find. A model that was trained on other facts of the relation has also seen which tails are frequent.
# ````
