# %% [markdown]
# # Can one long prompt ask many questions?
#
# **{glue:text}`name_shown` finds {glue:text}`gain` percentage points more of these facts when many questions share one long prompt
# of pairs, but the comma between its pairs brings {glue:text}`comma` by itself, and once no shared beginning is read twice, the
# long prompts take {glue:text}`times` times as many tokens.**
#
# ```{glue:figure} fig-eic-mean
# :name: fig-eic-mean
# :alt: A panel for each model, a row for each way of asking, with a mark and an interval. The two rows with a comma have the same mark.
#
# Many in a prompt or one by one, the same pairs with the same comma find the same (the paper's Figure 3). Accuracy by way of
# asking, mean over relations; lines: 95 % over other relations. Dashed: the best rule without a model.
# ```
#
# IC-LKE shows 50 pairs for every question. EIC-LKE, the *efficient* one, puts ten questions into one prompt of 100 pairs, each
# with an option to try. The paper says that this saves passes through the model. Does it, and are the answers as good?
#
# ```{glue:} carried
# ```

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` compare {term}`EIC-LKE` with templates that people wrote ({term}`HGP`) or a program found in text
# ({term}`MMP`), for four models of 7 to 12 billion parameters (Section 4.1, Figure 3; each relation in Figure 12). In our words:
# EIC-LKE finds more facts than sentences of either kind; over relations and sentences its accuracy varies less; and it needs
# fewer passes through the model than IC-LKE. Their setting is 400 facts and 100 options for each relation, with 100 pairs and
# ten slots. The bars have no numbers.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital"]  # empty: all with templates of the paper
n_shots: int = 50  # pairs of IC-LKE; EIC-LKE's first slot is behind them
n_eic_shots: int = 100  # pairs of EIC-LKE, or as many as there are to show
n_every: int = 5  # pairs from one slot of EIC-LKE to the next
space_token: bool = False  # ask EIC-LKE once more, its spaces cut by themselves
n_options: int = 100  # candidate objects of each, or as many as there are
n_redraws: int = 0  # further draws of pairs
n_facts: int = 20  # test facts of each relation, or as many as there are
results: str = ""  # source in results/ of this run's answers; empty: it asks
n_again: int = 10  # of its questions, for each estimator, are asked again
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws pairs, facts, options, their order and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
from itertools import pairwise
from os.path import commonprefix

import pandas as pd

from lkecore import answers, facts, figures, papers, prompts, runs, stats
from lkecore.answers import rules
from lkecore.scores.expected import slot_tokens
from lkecore.scores.slots import encode_slots
from lkecore.scores.tree import encoded_prompts

figures.style()

# %% [markdown]
# ## Facts
#
# For each relation pairs, facts and options are drawn once, and all ways of asking share them. Only relations for which the
# paper prints templates can be asked. EIC-LKE is expensive, so this run asks few facts.

# %%
names = prompts.with_templates(fact_set, relations)
size = {"n_shots": n_shots, "n_options": n_options, "n_facts": n_facts}
size |= {"seed": seed, "take_fewer": True, "least": 1}
sample = facts.draw(fact_set, names, **size)
facts.check_facts(sample, n_facts, take_fewer=True)
facts.overview(sample, n_options=n_options, n_facts=n_facts)

# %% [markdown]
# ## Prompts
#
# After the first 50 pairs, and then after every five more, there is a question with one of its options behind it: a
# {term}`slot`. A prompt has ten of them, so the model reads it once and has met one option of ten facts; ten facts need as many
# prompts as there are options. The options of a fact go through the prompts in an order of their own, so nearly all that are in
# one prompt are wrong, and all later slots read them. Here is the middle of one prompt, with the options in brackets.

# %% covers=["IC-S2"]
long = {"n_shots": n_eic_shots, "first": n_shots, "every": n_every}
in_one = prompts.slots_of_sample(sample, **long, seed=seed)
print(prompts.example_of_slots(in_one["eiclke", names[0]][0]))

# %% [markdown]
# To tell what the other questions do, each fact is asked once more without them: `iclke-comma` has the comma of EIC-LKE between
# the pairs, and just as many pairs as there are before the fact's slot. `iclke-space` is the paper's IC-LKE, with a space there.

# %%
questions = prompts.beside_templates(sample, ["iclke-space"])
questions |= prompts.alone_of_sample(sample, **long, seed=seed) | in_one
if space_token:
    long_apart = long | {"seed": seed, "space_token": True}
    questions |= prompts.slots_of_sample(sample, **long_apart)

# %% [markdown]
# ## Scores
#
# The numbers of the page come from a longer run on twelve relations with 100 facts and 100 options each and three draws of pairs.
# Its facts are not ours to give away, so a fact there has a number in place of a name.

# %%
this = "13_iclke_eic"
how = {"results": results, "notebook": this, "n_again": n_again}
how |= {"dtype": dtype, "page": page}
asked = [answers.ask(models, questions, "answers.parquet", **how)]
if n_redraws:
    seeds = range(seed + 1, seed + 1 + n_redraws)
    again = prompts.redrawn(sample, ["iclke-space"], seeds)
    again |= prompts.redrawn_slots(sample, seeds, **long)
    how["by"] = "estimator", "relation", "draw"
    asked.append(answers.ask(models, again, "answers-draws.parquet", **how))
ours = pd.concat([f if "draw" in f else f.assign(draw=0) for f in asked])
cues = rules.cues(sample, kept=not page)
found, cues = (frame.assign(source="this run") for frame in (ours, cues))
if sources:
    found = answers.results(this).query("source in @sources")
    cues = answers.results(f"{this}-cues").query("source in @sources")
answers.columns(found)

# %% [markdown]
# ## What it costs
#
# Let $x_1, \dots, x_n$ be the strings that a way of asking needs, one
# for each option. Read in full, they cost the sum of their lengths. But a beginning that two of them share needs to be read
# only once, and the last token is never read, only predicted. Then the cost is the number of different beginnings:
#
# $$\text{in full} = \sum_i |x_i|, \qquad \text{once} = \Big|\bigcup_i \{\text{beginnings of } x_i \text{ without its last token}\}\Big|.$$
#
# In sorted order each string adds what the one before it does not begin with. EIC-LKE shares within the prompts of ten facts.


# %%
def once(texts: list[tuple[int, ...]]) -> int:
    texts = [(), *sorted(text[:-1] for text in texts)]
    return sum(len(b) - len(commonprefix([a, b])) for a, b in pairwise(texts))


def strings_of(name: str) -> dict[str, list[list]]:
    """The token ids of all strings, in groups that share beginnings."""
    one = encoded_prompts(lm, questions["iclke-space", name], False)
    many = [(g.places[-1], encode_slots(lm, g)) for g in in_one["eiclke", name]]
    return {
        "one by one": [[ids for e in one for ids in e.sequences]],
        "many in one": [
            [r.ids[: r.bounds[at + 1]] for r in rs] for at, rs in many
        ],
    }


counted = ["strings", "in full", "once"]
if page:
    costs = answers.collect("costs.parquet")
else:
    lm = answers.opened(models[0], dtype)
    rows = []
    for name in names:
        for way, groups in strings_of(name).items():
            sizes = [len(ids) for group in groups for ids in group]
            count = len(sizes), sum(sizes), sum(map(once, groups))
            rows.append((name, way, *count))
    costs = pd.DataFrame(rows, columns=["relation", "asked", *counted])
    answers.keep(costs, "costs.parquet")
tokens = costs.groupby("asked", sort=False)[counted].sum()
ratio = tokens.loc["many in one"] / tokens.loc["one by one"]
tokens

# %% [markdown]
# What to see: string by string EIC-LKE saves, since one string serves several facts. But the prompts of EIC-LKE are alike up to
# the first slot only, where each has another option, and so its other pairs are read again for every option. IC-LKE reads its
# pairs once, and then a few tokens for every option.

# %% [markdown]
# ## Answers
#
# A *kind* is a way of asking with all its draws, or all sentences of one origin. Its answer to a fact is the share of its prompts
# that get the fact right; its accuracy is the mean over relations, with a 95 % interval over other relations (Student's t).

# %%
MANY, COMMA = "many in one, comma", "one by one, comma"
SPACE, HUMAN, MINED = "one by one, space", "human sentences", "mined sentences"
kinds = {"eiclke": MANY, "iclke-comma": COMMA, "iclke-space": SPACE}
kinds |= {"hgp": HUMAN, "mmp": MINED}
kinds |= {prompts.SPACE_TOKEN: "many in one, space cut apart"}
origin = found["estimator"].str.replace(r"^(hgp|mmp)-\d$", r"\1", regex=True)
found = found.assign(kind=origin.map(kinds))
by, fact = ["model", "kind"], ["relation", "fact"]
shares = found.groupby([*by, *fact], sort=False)["correct"].mean().reset_index()
accuracy = stats.estimate(shares, by)
rank = dict(zip(kinds.values(), range(len(kinds)), strict=True))
accuracy = accuracy.sort_values(
    "kind", key=lambda k: k.map(rank), kind="stable"
)
accuracy.round(3)

# %% [markdown]
# **Against each other**, on the same facts. What to see: what the comma brings, and that nothing is left for the other questions.
# (In other relations the gain may be none; on other facts of these it is clear of 0.)

# %%
versus = [(MANY, SPACE), (COMMA, SPACE), (MANY, COMMA)]
versus += [(MANY, HUMAN), (MANY, MINED)]
gaps = {
    (a, b): stats.compare(shares, "kind", a, b, by=["model"]) for a, b in versus
}
gaps = pd.concat(gaps, names=["first", "minus", ""]).reset_index()
gaps = gaps.set_index(["model", "first", "minus"])
shown = found["model"].iloc[0]
gain, comma, rest = (gaps.loc[shown, a, b] for a, b in versus[:3])
gaps.apply(stats.said, axis=1).unstack("model")

# %% [markdown]
# Relation by relation, the accuracies in percent (the paper's Figure 12): where do many in one and one by one with a comma differ?

# %% covers=["IC-F12"] shows=["run", "shipped"]
called = {name: each.relation.paper_relation for name, each in sample.items()}
called |= papers.property_names()
of = shares.assign(relation=shares["relation"].map(called))
of = 100 * of.pivot_table("correct", "relation", by, sort=False)
answers.words(of.round(0).reset_index(), digits=0)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-eic-mean`, at the top, the first two rows differ by the other questions alone, the second and the third by the
# comma (and by the pairs after the first 50).

# %% covers=["IC-F3"] shows=["run", "shipped"] tags=["hide-input"]
rule = cues.groupby("relation")[list(rules.RULES)].mean()
best = rule.mean().idxmax()
marked = accuracy.assign(panel=accuracy["model"].map(figures.called))
look = {"panel": "panel", "across": True, "aspect": 1.4}
grid = figures.marks(marked, x="kind", **look)
for ax in grid.axes.flat:
    ax.axvline(rule[best].mean(), color="black", ls="--")
figures.place(grid.figure, "fig-eic-mean", marked)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None: Figures 3 and 12 print no values. **Claims** are decided by one model, that which beats the best rule in the
# most relations. Steadiness is the standard deviation of the accuracy over relations and human sentences minus that of EIC-LKE
# over relations, mean over its draws; relations are drawn again, ten thousand times, and the facts in each.

# %%
by_many = found[found["kind"] == MANY]
by_many = by_many.pivot_table("correct", "relation", "model")
beaten = by_many.gt(rule[best], axis=0).sum()
judged = beaten.idxmax()
print(f"{judged} beats the rule in {beaten[judged]} of {len(rule)} relations")
drawn = found[found["model"].eq(judged) & found["kind"].isin([MANY, HUMAN])]
cells, over = ["kind", "estimator", "draw", "relation"], ["relation", "fact"]
drawn = stats.bootstrap(drawn, cells, over=over, seed=seed)
spread = drawn[MANY].T.groupby("draw").std().mean()
steadier = stats.interval(drawn[HUMAN].std(axis=1) - spread)
gap = gaps.loc[judged].loc[MANY].assign(model=judged)
tested = {
    "IC-eic-above-human": gap.loc[HUMAN],
    "IC-eic-above-mined": gap.loc[MINED],
}
if len(rule) > 1:  # one relation has no spread
    tested["IC-eic-steadier"] = steadier.assign(model=judged)
verdicts = answers.verdicts(tested)
verdicts[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% [markdown]
# That it needs fewer passes is so for a scorer that reads every string in full, and not for one that reads shared beginnings
# once.

# %% tags=["hide-input", "page-only"]
mine = shares[shares["model"] == shown]
of_facts = stats.compare(mine, "kind", MANY, SPACE, over="fact").iloc[0]
assert of_facts["low"] > 0, "more of these facts"
assert comma["estimate"] > 0.9 * gain["estimate"], "the comma, by itself"
assert rest["low"] < 0 < rest["high"], "nothing is left for the questions"
assert ratio["in full"] < 1 < ratio["once"], "saves in full, costs once"
figures.findings(
    name_shown=figures.called(shown),
    gain=f"{100 * gain['estimate']:.0f}",
    comma=f"{100 * comma['estimate']:.0f}",
    times=f"{ratio['once']:.0f}",
)
figures.note("carried", answers.carried(*asked))

# %% [markdown]
# ## What you have seen
#
# - Whether EIC-LKE is efficient depends on the scorer: it saves if every string is read in full, and costs if shared beginnings are
#   read once, since IC-LKE has much more to share.
# - A comma is part of the way of asking: EIC-LKE has to be compared with an IC-LKE that has a comma.
# - Wrong options in other slots are context for a question, and here they hardly matter.
#
# The tokens once more, by the tree in which the scorer has its strings, and the gain in plain pandas:

# %%
one = found[found["model"] == shown].pivot_table("correct", fact, "kind")
by_hand = (one[MANY] - one[SPACE]).groupby("relation").mean().mean()
assert abs(by_hand - gain["estimate"]) < 1e-9
if not page:
    of_tree = sum(slot_tokens(lm, in_one["eiclke", name]) for name in names)
    assert of_tree == tokens.loc["many in one", "once"]

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-eic-sure
# Nearly all options in the other slots are wrong. Do they make the model less sure of the right object? Compare
# `confidence_gold` of `eiclke` and `iclke-comma`, which the first draw has.
# ```

# %% [markdown]
# ````{solution-start} ex-eic-sure
# :class: dropdown
# ````

# %%
first = found[found["draw"] == 0]
sure = {"by": ["model"], "value": "confidence_gold"}
stats.compare(first, "kind", MANY, COMMA, **sure)

# %% [markdown]
# ````{solution-end}
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
