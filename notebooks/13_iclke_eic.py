# %% [markdown]
# # Can one long prompt ask many questions?
#
# **Yes, but it finds no more facts than asking one by one: with the same pairs and the same commas, the two ways agree within
# {glue:text}`apart:.0f` percentage points for every model.**
#
# ```{glue:figure} fig-eic-mean
# :name: fig-eic-mean
# :alt: A panel for each model, a row for each way of asking, with a mark and an interval. The two rows with a comma have nearly the same mark.
#
# The first two rows agree: many questions in one prompt, or one by one with the same pairs and commas (the paper's Figure 3). Accuracy by
# type of prompt, mean over relations; lines: 95 % over other relations. Dashed: the best rule without a model.
# ```
#
# IC-LKE shows 50 pairs for every question. EIC-LKE, the *efficient* one, puts ten questions into one prompt of 100 pairs, each
# with an option to try. The paper says that this saves passes through the model. Compared with IC-LKE in the paper's format, which has
# spaces, {glue:text}`name_shown` finds {glue:text}`gain:.0f` percentage points more with the long prompts, but {glue:text}`comma:.0f` more one by one with
# commas. In our scorer, which reads shared beginnings once, the long prompts cost {glue:text}`times:.0f` times the tokens. (Tokens
# are from this run's sample, accuracies from a longer run, with more relations and options.)

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` compare {term}`EIC-LKE` with templates that people wrote ({term}`HGP`) or that a program found in text
# ({term}`MMP`), for four models of 7 to 12 billion parameters (Section 4.1, Figure 3; each relation in Figure 12). In our words:
# EIC-LKE finds more facts than sentences of either kind; its accuracy varies less over relations and sentences; and it needs
# fewer passes through the model than IC-LKE. Their setting is 400 facts and 100 options for each relation, with 100 pairs and
# ten slots. The bars have no numbers.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital"]  # empty: all with templates of the paper
n_shots: int = 50  # pairs of IC-LKE; EIC-LKE's first slot comes after them
n_eic_shots: int = 100  # pairs of EIC-LKE, or as many as there are
n_every: int = 5  # pairs from one slot of EIC-LKE to the next
space_token: bool = (
    False  # ask EIC-LKE once more, a space in pairs its own token
)
n_options: int = 100  # candidate objects of each, or as many as there are
n_redraws: int = 0  # further draws of pairs
n_facts: int = 20  # test facts of each relation, or as many as there are
sources: list[str] = []  # in results/, for the numbers; none: this run
seed: int = 0  # draws pairs, facts, options, their order and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
import textwrap

import pandas as pd

from lkecore import answers, facts, figures, papers, prompts, stats
from lkecore.answers import rules

figures.style()

# %% [markdown]
# ## Facts
#
# For each relation pairs, facts and options are drawn once, and all prompts share them. Only relations with templates in the paper
# can be tested. EIC-LKE is expensive, so this run has few facts.

# %%
names = prompts.with_templates(fact_set, relations)
numbers = {"n_shots": n_shots, "n_options": n_options, "n_facts": n_facts}
sample = facts.draw(fact_set, names, **numbers, seed=seed, allow_fewer=True)
print(facts.fewer(sample, **numbers))
facts.check_facts(sample, n_facts, allow_fewer=True)
facts.overview(sample, n_options=n_options, n_facts=n_facts)

# %% [markdown]
# ## Prompts
#
# After the first 50 pairs, and then after every five more, there is a question followed by one of its options: a
# {term}`slot`. A prompt has ten slots, so the model reads it once and has met one option of ten facts; ten facts need as many
# prompts as there are options. The options of a fact go through the prompts in an order of their own. So nearly all options in
# one prompt are wrong, and all later slots read them. Here is the middle of one prompt, with the options in brackets.

# %% covers=["IC-S2"]
first = min(n_shots, *(len(of.train) - 1 for of in sample.values()))
long = {"n_shots": n_eic_shots, "first": first, "every": n_every}
in_one = prompts.slots_of_sample(sample, **long, seed=seed)
middle = prompts.example_of_slots(in_one["eiclke", names[0]][0])
print(textwrap.fill(middle, 90))

# %% [markdown]
# To isolate the effect of the other questions, each fact also has a prompt without them: `iclke-comma` has the comma of EIC-LKE between
# pairs, and as many pairs as there are before the fact's slot. `iclke-space` is the paper's IC-LKE, with a space there
# and 50 pairs. We also use the paper's templates, and with `space_token` another reading of the long prompts.

# %%
questions = prompts.beside_templates(sample, ["iclke-space"])
questions |= prompts.alone_of_sample(sample, **long, seed=seed) | in_one
if space_token:
    apart = {"seed": seed, "space_token": True}
    questions |= prompts.slots_of_sample(sample, **long, **apart)

# %% [markdown]
# ## Scores
#
# The numbers of the page come from a longer run on twelve relations with 100 facts and 100 options each and three draws of pairs.
# Its facts are not ours to give away, so a fact there has a number instead of a name.

# %%
this = "13_iclke_eic"
asked = questions
if sources:  # the last group is small, and all else takes minutes
    fewest = min(names, key=lambda name: len(sample[name].options[0]))
    asked = {k: some[-1:] for k, some in questions.items() if k[1] == fewest}
ours = answers.ask(models, asked, "answers.parquet", dtype=dtype)
ours = ours.assign(draw=0)
if n_redraws and not sources:
    by_draw = ["estimator", "relation", "draw"]
    seeds = range(seed + 1, seed + 1 + n_redraws)
    again = prompts.redrawn(sample, ["iclke-space"], seeds)
    again |= prompts.redrawn_slots(sample, seeds, **long)
    more = answers.ask(
        models, again, "answers-draws.parquet", by=by_draw, dtype=dtype
    )
    ours = pd.concat([ours, more])
found, main = answers.shown(this, ours, sources, dtype=dtype)
cues, _ = answers.shown(f"{this}-cues", rules.cues(sample), sources)
answers.columns(found)

# %% [markdown]
# ## What it costs
#
# Let $x_1, \dots, x_n$ be the strings that a type of prompt needs, one
# for each option. Read in full, they cost the sum of their lengths. But a beginning that two of them share needs to be read
# only once, and the last token is never read, only predicted. Then the cost is the number of different beginnings:
#
# $$\text{in full} = \sum_i |x_i|, \qquad \text{once} = \Big|\bigcup_i \{\text{beginnings of } x_i \text{ without its last token}\}\Big|.$$
#
# Our scorer shares beginnings among the strings that it reads together: one by one all questions of a relation, in EIC-LKE the prompts of ten facts. (All
# tens begin with the same pairs. Read together as well, they would cost somewhat less.)


# %%
from lkecore.scores.slots import encode_slots
from lkecore.scores.tree import encoded_prompts


def once(texts: list[tuple[int, ...]]) -> int:
    texts = {text[:-1] for text in texts}
    return len({x[:n] for x in texts for n in range(1, len(x) + 1)})


def strings_of(lm, name: str):
    """The token ids of all strings, in groups that the scorer reads together."""
    alone = encoded_prompts(lm, questions["iclke-space", name], separate=False)
    yield "one by one", [ids for each in alone for ids in each.sequences]
    for group in in_one["eiclke", name]:
        last = group.places[-1]  # the last slot: nothing after it is read
        rows = encode_slots(lm, group)
        yield "many in one", [row.ids[: row.bounds[last + 1]] for row in rows]


def count_tokens() -> pd.DataFrame:
    lm = answers.opened(models[0], dtype)
    rows = [
        (way, len(texts), sum(map(len, texts)), once(texts))
        for name in names
        for way, texts in strings_of(lm, name)
    ]
    return pd.DataFrame(rows, columns=["asked", "strings", "in full", "once"])


costs = answers.once(count_tokens, "costs.parquet")
tokens = costs.groupby("asked", sort=False).sum()
ratio = tokens.loc["many in one"] / tokens.loc["one by one"]
tokens

# %% [markdown]
# String by string EIC-LKE saves, since one string serves several facts. But the prompts of EIC-LKE are alike only up to
# the first slot, which has another option in each prompt, so the later pairs are read again for every option. IC-LKE reads its
# pairs once, and then a few tokens for every option.

# %% [markdown]
# ## Answers
#
# A *kind* is one type of prompt with all its draws, or all sentences of one origin. Its answer to a fact is the share of its prompts
# that get the fact right. `stats.estimate` takes the mean in each relation, then over relations, with a 95 % interval over other
# relations (Student's t). The first three kinds have the same draws.

# %%
MANY, COMMA = "many in one, comma", "one by one, comma"
SPACE, HUMAN, MINED = "one by one, space", "human sentences", "mined sentences"
kinds = {"eiclke": MANY, "iclke-comma": COMMA, "iclke-space": SPACE}
kinds |= {"hgp": HUMAN, "mmp": MINED}
kinds |= {prompts.SPACE_TOKEN: "many in one, space cut apart"}
origin = found["estimator"].str.replace(r"^(hgp|mmp)-\d$", r"\1", regex=True)
found = found.assign(kind=origin.map(kinds))
by = ["source", "model"]
key = [*by, "kind", "relation", "fact"]
shares = found.groupby(key, sort=False, as_index=False)["correct"].mean()
draws = found.groupby([*by, "kind"])["draw"].nunique().unstack()
assert draws[[MANY, COMMA, SPACE]].nunique(axis=1).eq(1).all(), "same draws"
accuracy = stats.estimate(shares, [*by, "kind"])
order = pd.Categorical(accuracy["kind"], kinds.values(), ordered=True)
accuracy = accuracy.assign(kind=order).sort_values("kind", kind="stable")
accuracy.round(3).assign(model=accuracy["model"].map(figures.display_name))

# %% [markdown]
# **Against each other**, on the same facts. Comma and further pairs bring a gain; the other questions add nearly nothing:
# their interval includes 0. (In other relations the gain may be none; on other facts of these relations its interval excludes 0.)

# %%
versus = [(MANY, SPACE), (COMMA, SPACE), (MANY, COMMA)]
versus += [(MANY, HUMAN), (MANY, MINED)]
gaps = pd.concat(
    stats.compare(shares, "kind", a, b, by=by).assign(first=a, minus=b)
    for a, b in versus
)
gaps = gaps.set_index([*by, "first", "minus"]).sort_index()
on_main = found[found["source"] == main]
shown = on_main["model"].iloc[0]
gain = gaps.loc[main, shown, MANY, SPACE]
comma = gaps.loc[main, shown, COMMA, SPACE]
wide = stats.table(gaps.reset_index(), ["first", "minus"], by)
wide.rename(columns=figures.display_name)

# %% [markdown]
# Relation by relation, the accuracies in percent (the paper's Figure 12). In which relations do the two kinds with a comma differ?

# %% covers=["IC-F12"] shows=["run", "shipped"]
label_of = {name: of.relation.paper_relation for name, of in sample.items()}
label_of |= papers.property_names()
named = shares.replace({"relation": label_of})
percent = 100 * named.pivot_table("correct", "relation", key[:3], sort=False)
percent = percent.round(0).reset_index().rename(columns=figures.display_name)
answers.html_table(percent, digits=0)

# %% [markdown]
# ## Figure
#
# In {numref}`fig-eic-mean`, at the top, the first two rows differ only in the other questions, the second and the third in the
# comma (and in the pairs after the first 50).

# %% covers=["IC-F3"] shows=["run", "shipped"] tags=["hide-input"]
rule = rules.by_relation(cues[cues["source"] == main])  # the best of all
rule = rule.set_index("relation")["of_rule"]
accuracy["panel"] = accuracy["model"].map(figures.display_name)
accuracy["panel"] += "\n" + accuracy["source"].map(figures.display_name)
grid = figures.marks(accuracy, x="kind", panel="panel", across=True, aspect=1.4)
for ax in grid.axes.flat:
    ax.axvline(rule.mean(), color="black", ls="--")
figures.glue_figure(grid.figure, "fig-eic-mean", accuracy)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None: Figures 3 and 12 print no values. **Claims** are decided by one model, the one that beats the best rule in the
# most relations; the second paragraph at the top is about the model that this page tests anew. Steadiness is the standard deviation of the
# accuracy (divided by $n - 1$) over relations and human sentences minus that of EIC-LKE over relations, mean over its draws;
# relations are drawn again, ten thousand times, and the facts in each.

# %%
by_many = on_main.query("kind == @MANY")
by_many = by_many.pivot_table("correct", "relation", "model")
beaten = by_many.gt(rule, axis=0).sum()
judged = beaten.idxmax()
name = figures.display_name(judged)
print(f"{name} beats the rule in {beaten[judged]} of {len(rule)} relations")
two = on_main.query("model == @judged and kind in [@MANY, @HUMAN]")
cells = ["kind", "estimator", "draw", "relation"]
drawn = stats.bootstrap(two, cells, over=["relation", "fact"], seed=seed)
# Rows are resamples, the first the data; turned round, rows are the cells.
spread = drawn.T.groupby(["kind", "draw"]).std().groupby("kind").mean().T
gap = gaps.loc[main, judged, MANY]
tested = {"IC-eic-above-human": gap.loc[[HUMAN]]}
tested["IC-eic-above-mined"] = gap.loc[[MINED]]
if len(rule) > 1:  # one relation has no spread
    tested["IC-eic-steadier"] = stats.interval(spread[HUMAN] - spread[MANY])
tested = {claim: row.assign(model=judged) for claim, row in tested.items()}
verdicts = answers.verdicts(tested)
verdicts["model"] = verdicts["model"].map(figures.display_name)
verdicts[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% [markdown]
# EIC-LKE needs fewer passes if we count strings. If we count tokens, it saves for a scorer that reads every string in full, and
# not for one that reads shared beginnings once.

# %% tags=["hide-input", "page-only"]
mine = shares.query("source == @main and model == @shown")
of_facts = stats.compare(mine, "kind", MANY, SPACE, over="fact").iloc[0]
others = gaps.loc[main].xs((MANY, COMMA), level=("first", "minus"))
apart = 100 * others[["low", "high"]].abs().max(axis=None)
holds = {
    "every model: within a few percentage points": apart < 2.5,
    "more of these facts": of_facts["low"] > 0,
    "already, one by one": comma["estimate"] > 0.9 * gain["estimate"],
    "the interval includes 0": (others["low"] < 0).all()
    and (others["high"] > 0).all(),
    "fewer passes": ratio["strings"] < 1,
    "saves in full, costs once": ratio["in full"] < 1 < ratio["once"],
}
figures.sentence(holds)
figures.glue_values(
    name_shown=figures.display_name(shown),
    apart=apart,
    gain=100 * gain["estimate"],
    comma=100 * comma["estimate"],
    times=ratio["once"],
)

# %% [markdown]
# ## What you have seen
#
# - Whether EIC-LKE is efficient depends on the scorer: it saves if every string is read in full, and costs if shared beginnings are
#   read once, since IC-LKE has much more to share.
# - The comma is part of the prompt: compare EIC-LKE with an IC-LKE that has a comma.
# - Wrong options in other slots are context for a question, and here they hardly matter.
#
# The tokens once more, by the tree in which the scorer has its strings:

# %%
from lkecore.scores.expected import slot_tokens


def count_by_tree() -> pd.DataFrame:
    lm = answers.opened(models[0], dtype)
    of = [slot_tokens(lm, in_one["eiclke", name]) for name in names]
    return pd.DataFrame({"tokens": of})


of_tree = answers.once(count_by_tree, "costs-by-tree.parquet")
assert of_tree["tokens"].sum() == tokens.loc["many in one", "once"]

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-eic-sure
# Nearly all options in the other slots are wrong. Do they lower the model's confidence in the right object? Compare
# `confidence_gold` of `eiclke` and `iclke-comma` in the first draw.
# ```

# %% [markdown]
# ````{solution-start} ex-eic-sure
# :class: dropdown
# ````

# %%
draw_0 = found[found["draw"] == 0]
lower = stats.compare(
    draw_0, "kind", MANY, COMMA, by=by, value="confidence_gold"
)
lower.assign(model=lower["model"].map(figures.display_name))

# %% [markdown]
# ````{solution-end}
# ````
