# %% [markdown]
# # How much do strange examples disturb a model?
#
# **Invented pairs disturb it less in a clear format: after a block of them right objects lose {glue:text}`space_least:.0%` to
# {glue:text}`space_most:.0%` of their probability if spaces separate everything, {glue:text}`colon_least:.0%` to {glue:text}`colon_most:.0%` with
# colons and new lines.**
#
# ```{glue:figure} fig-sequence-neighbours
# :name: fig-sequence-neighbours
# :alt: Two panels, one for invented and one for wrong pairs, with marks and intervals below a line at 0 for each model and format: after a single replaced pair, and after a block of them.
#
# All marks are below 0: replaced pairs make the right pairs after them less probable, most of all after a block of
# {glue:text}`n_block:.0f`. Probability of
# the right objects with the replacement divided by that without, minus 1; lines: 95 % over other relations.
# ```
#
# A prompt of many pairs can be read at every pair: how probable was this object after all the text before it? So one long text
# shows what happens if some of its pairs are not what they should be. Colons and new lines save this much of the probability (in percentage points,
# intervals over relations): {glue:text}`saved`. After as many *wrong* pairs, with a real subject and a wrong object, the loss is
# {glue:text}`wrong_least:.0%` to {glue:text}`wrong_most:.0%`, and the format makes no clear difference.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` put 200 Nobel laureates and their birth years into one prompt (Section 3, Figure 2; Appendix E, Figures 9 to
# 11). Then they replace 40 of the 200 pairs, at random places or in one block. In our words:
#
# - from left to right, the right objects become more probable; then this settles, near 0.85 for Mistral-7B;
# - an *unknown* pair, of an invented name and a year, is improbable itself, and hardly disturbs its neighbours;
# - an *incorrect* pair, of a laureate and a wrong year, makes the right objects after it less probable, most of all in a block.
#
# The paper has four models of 7 to 12 billion parameters, and one sequence of each kind for each. Ours are small.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["country_of_city"]  # each counts alike
invented: str = "word"  # kind of invented subject, see Prompts
n_pairs: int = 80  # of a sequence
n_draws: int = 4  # of pairs, their order and the replaced places
share_replaced: float = 0.2  # of the pairs of a sequence
n_first: int = 10  # pairs at the beginning, to see the rise
n_behind: int = 10  # pairs after a block that count as its neighbours
estimators: list[str] = ["iclke-space", "iclke-colon"]  # see Prompts
sources: list[str] = []  # in results/, for the numbers; none: this run
seed: int = 0  # of the first draw
dtype: str = "float32"

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
import seaborn as sns

from lkecore import answers, facts, figures, prompts, stats
from lkecore.answers.questions import digests
from lkecore.errors import BadInput
from lkecore.scores import tree
from lkecore.stats import sequence

figures.style()

# %% [markdown]
# ## Facts
#
# The paper takes birth years, which a small model hardly knows. The numbers of this page are about eight relations that both models know,
# chosen on other facts. This run reads one relation again.

# %%
if sources:  # these have the numbers: one draw of one relation is read again
    relations, n_draws = relations[:1], 1
known = {name: facts.load(fact_set, name) for name in relations}
for whole in known.values():
    print(f"{whole.label} of {fact_set}: {len(whole.facts)} facts")

# %% [markdown]
# ## Prompts
#
# Each draw makes five sequences of the same pairs in the same order:
#
# - *clean*: all pairs are right;
# - *unknown*, *distributed* and in a *block*: some pairs get an invented subject, and the object of some fact of the relation, drawn at
#   random. The subject must hint at no object, so it is three random syllables: an invented American town would give away much about
#   its country;
# - *incorrect*, at the very same places: the subjects stay, and get a wrong object.
#
# Two choices are ours. No two distributed places touch, and none is the last, so each replaced pair has a right one directly after
# it. And a block begins in the second half, where the pattern is clear. Of the two formats, `iclke-space` is the paper's.

# %% covers=["IC-D5", "IC-D6"]
there = min(len({f.subject for f in of.facts}) for of in known.values())
if there < n_pairs:  # shorter sequences, in proportion
    n_first = max(1, n_first * there // n_pairs)
    n_behind = max(1, n_behind * there // n_pairs)
    n_pairs = there
    print(f"As many as there are: {there} pairs, {n_behind} after a block")
if n_draws < 1 or n_first > n_pairs // 2:
    raise BadInput(
        f"n_draws {n_draws}, n_first {n_first}: 1 or more, and half of the pairs at most"
    )
if unknown := set(estimators) - set(prompts.SEPARATORS):
    raise BadInput(f"estimators {sorted(unknown)}: these write no sequence")


def pieces_of(
    estimator: str, five: list[prompts.Probe]
) -> list[tuple[str, ...]]:
    """Sequences in the format of an estimator, a subject and an object in turn."""
    inside, between = prompts.SEPARATORS[estimator]
    how = {"pair_separator": inside, "shot_separator": between}
    return [prompts.pair_pieces(probe.pairs, **how) for probe in five]


made = {}
for name, whole in known.items():
    for draw in range(seed, seed + n_draws):
        made[name, draw] = prompts.probes(
            facts.draw_shots(whole.facts, n_pairs, draw),
            whole.facts,
            round(share_replaced * n_pairs),
            invented,
            n_behind=n_behind,
            seed=draw,
        )
five = next(iter(made.values()))
for each in five[1:]:
    at = each.replaced[0]
    print(f"{each.kind:10}{each.arrangement:12}pair {at + 1:3}: ", end="")
    print(each.pairs[at].subject, each.pairs[at].object, sep=", ")
for name in estimators:
    print(f"{name}: {''.join(pieces_of(name, five)[0][:6])!r}")

# %% [markdown]
# ## Scores
#
# A model reads a sequence once, and gives the probability of every whole object on its way, each after all the text before it. Unlike
# {term}`confidence`, this probability is not shared among options: there is no {term}`chance`, and a model that has no idea comes near zero. `state`
# says whether a pair is right or replaced, and `distance` how many pairs it comes after the last replaced one.


# %%
def read() -> pd.DataFrame:
    """A row for each pair of each sequence that a model has read."""
    parts = {}
    for model in models:
        lm = answers.opened(model, dtype)
        for (name, draw), five in made.items():
            for estimator in estimators:
                pieces = pieces_of(estimator, five)
                pairs = sequence.answers(five, tree.piece_logprobs(lm, pieces))
                [question] = digests(pieces)
                pairs = pairs.assign(question=question)
                parts[model, name, draw, estimator] = pairs
    key = ["model", "relation", "draw", "estimator"]
    return pd.concat(parts, names=key).reset_index(key).reset_index(drop=True)


this = "12_iclke_sequence"
ours = answers.once(read, "answers.parquet")
every, first = answers.shown(this, ours, sources, dtype=dtype)
every["relation"] = every["relation"].fillna("one relation")
every["probability"] = np.exp(every["logprob"])
answers.columns(every.drop(columns=["subject", "object", "state"]))

# %% [markdown]
# ## Answers
#
# First the clean sequences, mean over draws and then over relations. Keep these *levels* in mind: a model that gives no probability
# can lose none.

# %%
who = ["source", "model", "estimator"]
clean = every[every["kind"] == "clean"]
n = clean.groupby([*who, "relation"])["position"].transform("max")
before_last = (n - clean["position"]) // (n // 4)  # whole quarters of pairs
stretches = {
    "first": clean["position"] <= n_first,
    "third quarter": before_last == 1,
    "last quarter": before_last == 0,
}
levels = pd.DataFrame(
    {
        name: clean[of].groupby([*who, "relation"])["probability"].mean()
        for name, of in stretches.items()
    }
)
levels.groupby(who).mean().round(3).rename(figures.display_name)

# %% [markdown]
# **Now the neighbours**: the pair directly after each distributed place, and the first `n_behind` pairs after a block. Each is right in
# all sequences of a draw, at the same place, so we compare it with itself. Let $p_i$ be the probability of neighbour $i$ without the
# replacement, and $q_i$ with it, in all draws of a relation. Then
#
# $$\text{change} = \frac{\sum_i q_i}{\sum_i p_i} - 1,$$
#
# mean over relations. In a ratio of sums, pairs that the model knows count more than pairs to which it gives nearly no probability.


# %%
def change(pairs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """A row a relation: the share of probability that is gained or lost."""
    by = [*who, "kind", *by, "relation"]
    sums = pairs.groupby(by)[["probability", "without"]].sum()
    moved = sums["probability"] / sums["without"] - 1
    return moved.rename("change").reset_index()


place = [*who, "relation", "draw", "position"]
without = clean.set_index(place)["probability"].rename("without")
replaced = every[every["kind"] != "clean"].join(without, on=place)
reach = replaced["arrangement"].map({"block": n_behind, "distributed": 1})
neighbours = replaced[replaced["distance"].between(1, reach)]
moved = change(neighbours, ["arrangement"])
found = stats.estimate(
    moved, [*who, "kind", "arrangement"], value="change", bounds=None
)
wide = stats.table(found, who, ["kind", "arrangement"], percent=True)
wide.rename(figures.display_name)

# %% [markdown]
# Two differences after a block, in each relation: `saved`, the change with colons minus that with spaces; and `wrong_worse`, the change after invented
# pairs minus that after wrong ones.

# %%
at_block = moved[moved["arrangement"] == "block"].drop(columns="arrangement")
by = ["source", "model", "relation"]


def differ(column: str, first: str, minus: str, of: str) -> pd.DataFrame:
    rest = [*by, "kind" if column == "estimator" else "estimator"]
    two = at_block.pivot(index=rest, columns=column, values="change")
    gap = (two[first] - two[minus]).rename(of).reset_index()
    rest.remove("relation")
    return stats.estimate(gap, rest, value=of, bounds=None)


saved = differ("estimator", estimators[-1], estimators[0], "saved")
wrong_worse = differ("kind", "unknown", "incorrect", "wrong_worse")
for of, each in {"saved": saved, "wrong_worse": wrong_worse}.items():
    each = each.assign(
        **{of: each.apply(stats.format_estimate, axis=1, percent=True)}
    )
    each = each.drop(columns=["estimate", "low", "high", "n"])
    print(each.map(figures.display_name).to_string(index=False), end="\n\n")

# %% [markdown]
# Spaces do not mark where a pair ends, and a row of strange words may cost a model the pattern itself. Colons and new lines save a part of this loss.
# So check the format before you read a disturbance as knowledge. Wrong pairs are a different matter: the format makes no clear difference there.
# In the paper's figures invented pairs hardly disturb a model, and wrong pairs do. Here invented pairs never disturb clearly less than wrong ones, and in
# one case, one model with spaces, clearly more. How long does the harm last? After a block, by distance in pairs:

# %%
block = neighbours[neighbours["arrangement"] == "block"]
far = np.where(block["distance"] <= n_behind / 2, "nearer half", "farther half")
by_distance = change(block.assign(behind=far), ["behind"])
by_distance = by_distance.groupby([*who, "kind", "behind"])["change"].mean()
by_distance.unstack().round(2).rename(figures.display_name)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-sequence-neighbours`, at the top, compare the formats in the left panel and then in the right. {numref}`fig-sequence-panels`
# has the form of the paper's Figures 2 and 9 to 11. On the paper's own facts, birth years of laureates, our models
# have nothing to lose.
#
# ```{glue:figure} fig-sequence-panels
# :name: fig-sequence-panels
# :alt: Five rows of small panels, a column for each model and set of facts, with the probability of the object at each place of a sequence; crosses for replaced pairs, squares for their neighbours, dots for the rest.
#
# Replaced pairs are at the bottom, and after a block the right ones have to climb back. Probability of the object at each place of one draw in
# the clearest format, mean over relations. Rows: all right; unknown and incorrect pairs, distributed and in a block.
# ```

# %% tags=["hide-input"]
marks = found[found["source"] == first].copy()
marks["replaced by"] = marks["kind"] + " pairs"
places = {"distributed": "after one", "block": f"{n_behind} after a block"}
marks["where"] = marks["arrangement"].map(places)
form = marks["estimator"].map(figures.display_name).str.removeprefix("pairs, ")
marks["asked"] = marks["model"].map(figures.display_name) + ", " + form
marks = marks.sort_values(["kind", "arrangement"], ascending=False)
look = {"x": "where", "hue": "asked", "panel": "replaced by"}
grid = figures.marks(marks, **look, label="change of probability", height=3.6)
for ax in grid.axes.flat:
    ax.axhline(0, color="grey", ls=":")
figures.glue_figure(grid.figure, "fig-sequence-neighbours", marks)

# %% covers=["IC-S5", "IC-D1", "IC-F2", "IC-F9", "IC-F10", "IC-F11"] needs={"IC-S5": {"n_pairs": 200}, "IC-D1": {"fact_set": "nobel"}, "IC-F9": {"models": 2}, "IC-F10": {"models": 3}, "IC-F11": {"models": 4}} shows=["run", "shipped"] tags=["hide-input"]
one = every[every["estimator"] == estimators[-1]]
one = one[one["draw"] == seed].copy()
near = one["distance"].between(1, one["arrangement"].eq("block") * 9 + 1)
one["pair"] = np.where(one["state"] == "replaced", "replaced", "other right")
one.loc[near, "pair"] = "right, after replaced"
one["sequence"] = (one["kind"] + ", " + one["arrangement"]).str.replace(
    ", none", ""
)
named = {each: figures.display_name(each) for each in one["source"].unique()}
named |= {"kamel": "birth years of laureates"} if sources else {}
one["set"] = pd.Categorical(one["source"].map(named), named.values())
one = one.sort_values("set", ascending=False, kind="stable")
one["of"] = (
    one["model"].map(figures.display_name) + "\n" + one["set"].astype(str)
)
at = ["of", "sequence", "position", "pair"]
dots = one.groupby(at, sort=False)["probability"].mean().reset_index()
look = {"x": "position", "y": "probability", "hue": "pair", "style": "pair"}
shape = {"replaced": "X", "right, after replaced": "s", "other right": "o"}
grid = sns.relplot(
    dots,
    **look,
    row="sequence",
    col="of",
    markers=shape,
    height=1.6,
    aspect=1.6,
)
grid.set_titles("{col_name}\n{row_name}", size=8)
for ax in grid.axes.flat:  # thousands of marks: as a picture
    for each in ax.collections:
        each.set_rasterized(True)
figures.glue_figure(grid.figure, "fig-sequence-panels", dots)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper's figures have no tables to reproduce. **Claims**, over relations, on the model whose level is highest in the paper's
# format. A change of less than a tenth is *hardly any*, of more than a tenth *lower*; block and distributed places count alike. The level is
# {glue:text}`level:.0%` there: little can be lost, and a verdict on a ratio of small numbers says less than it seems to.
# The third claim is about the probability of the object in a replaced place, divided by that of the right object there.

# %%
in_paper = levels.xs(estimators[0], level="estimator").xs(first)
model = in_paper["last quarter"].groupby("model").mean().idxmax()
at_paper = {"source": first, "model": model, "estimator": estimators[0]}


def mine(frame: pd.DataFrame, **of: str) -> pd.DataFrame:
    """The rows of this model in the paper's format, mean by relation."""
    at = pd.Series({**at_paper, **of})
    some = frame[(frame[list(at.index)] == at).all(axis=1)]
    return some.groupby("relation").mean(numeric_only=True).reset_index()


gone = change(replaced[replaced["state"] == "replaced"], ["arrangement"])
level = mine(levels.reset_index())
wide = moved.pivot(
    index=[*who, "kind", "relation"], columns="arrangement", values="change"
)
apart = (wide["block"] - wide["distributed"]).rename("change").reset_index()
tested = {
    "sequence-rise": level["last quarter"] - level["first"],
    "sequence-settles": level["last quarter"] - level["third quarter"],
    "unknown-near-zero": mine(gone, kind="unknown")["change"] + 1,
    "unknown-calm": mine(moved, kind="unknown")["change"],
    "incorrect-drop": mine(moved, kind="incorrect")["change"],
    "incorrect-block": mine(apart, kind="incorrect")["change"],
}
own = {} if sources else {"decided_on": fact_set, "model": model}
claims = {}
for name, values in tested.items():
    row = pd.DataFrame({"relation": level["relation"], "value": values})
    row = stats.estimate(row, value="value", bounds=None)
    claims[f"IC-{name}-relations"] = row.assign(**own)
judged = answers.verdicts(claims)
judged["model"] = judged["model"].map(figures.display_name)
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
here = found[found["source"] == first]
lost = here[here["arrangement"] == "block"]
lost = -lost.pivot_table("estimate", ["kind", "estimator"], "model")
by_space = lost.loc[("unknown", estimators[0])]
by_colon = lost.loc[("unknown", estimators[-1])]
of_first = saved[saved["source"] == first].set_index("kind")
unknown, incorrect = (of_first.loc[[kind]] for kind in ("unknown", "incorrect"))
holds = {}
if sources:
    worst = here.pivot_table("estimate", [*who, "kind"], "arrangement")
    ends = here[here["kind"].eq("unknown") & here["arrangement"].eq("block")]
    worse = wrong_worse[wrong_worse["source"] == first]
    clear = worse[worse["low"].gt(0) | worse["high"].lt(0)]
    nobel = levels.query("source == 'kamel'").groupby(["model", "estimator"])
    holds = {
        "every model loses after invented pairs": (ends["high"] < 0).all(),
        "less in a clear format, every model": (unknown["low"] > 0).all(),
        "wrong pairs: no clear difference": (incorrect["low"] < 0).all()
        and (incorrect["high"] > 0).all(),
        "clear for one model with spaces": len(clear) == 1
        and clear["estimator"].item() == estimators[0]
        and clear["high"].item() < 0,
        "all marks are below 0": (here["estimate"] < 0).all(),
        "most after a block": worst["block"].lt(worst["distributed"]).all(),
        "laureates: nothing to lose": nobel.mean().max(axis=None) < 0.03,
    }
figures.sentence(holds)
strange = every.query(
    "source == @first and kind == 'unknown' and arrangement == 'block' and state == 'replaced'"
)
figures.glue_values(
    n_block=len(strange) / len(strange.drop_duplicates(place[:5])),
    space_least=by_space.min(),
    space_most=by_space.max(),
    colon_least=by_colon.min(),
    colon_most=by_colon.max(),
    wrong_least=lost.loc["incorrect"].min(axis=None),
    wrong_most=lost.loc["incorrect"].max(axis=None),
    saved="; ".join(
        f"{figures.display_name(row['model'])} "
        + stats.format_estimate(row, percent=True).replace(" %", "")
        for _, row in unknown.iterrows()
    ),
    level=in_paper.loc[model]["last quarter"].mean(),
)

# %% [markdown]
# ## What you have seen
#
# - One reading of a long text gives an answer at each of its pairs. To see the effect of a replaced pair, read the same pairs
#   without it; a comparison of places does not show it.
# - A block disturbs more than scattered pairs do, and the harm is still there ten pairs later.
# - How much harm strange pairs do depends on the format: they disturb the pattern before they touch knowledge.
# - "Hardly any change" means something only if there was a probability to lose.
#
# **Counted again**, in plain Python: the change after wrong blocks, in the last format.

# %%
sums: dict[str, list[float]] = {}
at_colon = at_paper | {"estimator": estimators[-1], "kind": "incorrect"}
at_colon["arrangement"] = "block"
rows_of = neighbours[
    (neighbours[list(at_colon)] == pd.Series(at_colon)).all(axis=1)
]
for row in rows_of.itertuples():
    of = sums.setdefault(row.relation, [0.0, 0.0])
    of[0], of[1] = of[0] + row.probability, of[1] + row.without
each = [q / p - 1 for q, p in sums.values()]
again = found[(found[list(at_colon)] == pd.Series(at_colon)).all(axis=1)]
assert abs(sum(each) / len(each) - again["estimate"].item()) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-sequence-known
# The sum over all neighbours may hide what happens to those that the model knows. Look only at pairs with a probability of at least one
# half without replacement. Do they lose more?
# ```

# %% [markdown]
# ````{solution-start} ex-sequence-known
# :class: dropdown
# ````

# %%
sure = change(neighbours[neighbours["without"] >= 0.5], ["arrangement"])
sure = sure.groupby([*who, "kind", "arrangement"])["change"].mean()
sure.unstack().round(2).rename(figures.display_name)

# %% [markdown]
# We chose these pairs because their probability was high, so it can hardly rise, and even an idle replacement lowers it a little. But this is the
# same for unknown and incorrect pairs, so the two may be compared.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-sequence-own
# Does a larger model doubt wrong pairs more? Put this into `params/mine.yaml`, and run `lke run params/mine.yaml`. Invented subjects
# are a word, person, company or title; use the last three only if such a name hints at no object.
# ```
#
# ````{solution} ex-sequence-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 12_iclke_sequence
#     parameters:
#       models: [/path/to/a/larger/model]
#       relations: [country_of_city, film_year]
#       n_pairs: 200
# ```
# ````
