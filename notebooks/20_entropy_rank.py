# %% [markdown]
# # Which measure survives a new wording of the question?
#
# **A new wording changes the order of facts by KL-divergence more than their order by rank: within relations, old and new order
# correlate at {glue:text}`by_model`.**
#
# ```{glue:figure} fig-rank
# :name: fig-rank
# :alt: Two panels with a dot for each fact, in one wording against another, with a dashed diagonal: the rank of its object, and the KL-divergence.
#
# On the left more dots are near the dashed line, on which both wordings agree, than on the right. Left: the rank of the object. Right: KL, how
# far the answer moves after a statement of the fact. A dot is a fact, asked of {glue:text}`name_model`.
# ```
#
# *The capital of Iceland is ____.* A model gives each of its tokens a probability at the blank. The oldest measure of knowledge is the place of the right
# token: first, third, or ten thousandth. The second paper of this book finds three faults in this {term}`rank`: it depends on the wording, it says yes or
# no, and very different answers can share it. So the paper states the fact in the prompt, and measures how far the answer moves.
#
# With intervals, within relations: {glue:text}`between`. Over all facts at once, whatever their relation, the correlations of {glue:text}`name_model`
# are {glue:text}`of_all`. But one relation of {glue:text}`n_relations` makes the smaller number: it is the cloud of dots on the left of the right panel, and
# without this relation, {glue:text}`one_relation`, KL has {glue:text}`without_it:.2f`.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` replaces the rank by the change of entropy and by {term}`KL-divergence`, between the answer by itself and the answer
# after a statement of the fact. Its first figure shows the faults of ranking on one fact, its second a case that entropy cannot see. Closed models name
# their likeliest tokens and no others. For these the paper computes both measures from the tokens that they name; it does not test how well that works.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = [
    "smollm2"  # names of `lke models`, folders, .gguf files or hub ids
]
fact_set: str = "atlas"  # the embedded facts, a folder or a file
relations: list[str] = [
    "capital", "country_of_city", "country_of_language",
    "official_language", "currency", "film_language",
]  # fmt: skip
wordings: list[str] = ["template-1", "template-2"]  # two of each relation
n_facts: int = 10  # facts asked in each relation
any_object: bool = False  # also objects whose first token others share
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws facts and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, papers, runs, stats
from lkecore.errors import BadInput
from lkecore.stats import shift

figures.style()

# %% [markdown]
# ## Facts
#
# Some facts of each relation. They need no options, since the whole vocabulary is read. But all numbers are of an object's *first token*, and this token
# identifies the object only if no other object of the relation begins with it. The page is about facts with such a first token.

# %%
if (n := len(set(wordings))) != 2:
    raise BadInput(f"{n} wordings are asked: this page compares two")
size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2}
sample = facts.draw(fact_set, relations, leave_out=True, seed=seed, **size)
for name, of in list(sample.items())[:4]:
    print(f"{name:20} {of.facts[-1].subject} | {of.facts[-1].object}")

# %% [markdown]
# ## Prompts
#
# Each fact is asked in two wordings, and twice in each: by itself, and after a statement of the fact, which is the filled template with a full stop.

# %% covers=["PZ-S2"]
questions = answers.at_blanks(models, sample, wordings, dtype=dtype)
for (_, wording, *_), some in list(questions.items())[
    len(sample) - 1 :: len(sample)
]:
    print(f"{wording}: {some[0].asked.context} ____")
    print(f"{'':{len(wording)}}  {some[0].told.context} ____")

# %% [markdown]
# ## Scores
#
# $P$ is the distribution at the blank by itself, $Q$ the one after the statement. In nats,
#
# - $H(P) = -\sum_k P_k \log P_k$ is the {term}`entropy`: how unsure the answer is, right or wrong (equation 1), and $H(P) - H(Q)$ its change,
# - $\mathrm{KL}(P\|Q) = \sum_k P_k \log (P_k / Q_k)$ is equation 3 (the paper prints a minus in front, but its values are positive).
#
# These never look at the object. Two others do: its rank, 1 plus the number of tokens above its first one, and its {term}`surprisal`.

# %% covers=["PZ-E1", "PZ-S1"] shows=["run", "shipped"]
FEW = 5  # likeliest tokens of each side, as many as the paper gets
this = "20_entropy_rank"
ours = answers.ask_blanks(
    models,
    answers.sample(questions, sources, by=answers.READ_BY),
    "answers.parquet",
    by=answers.READ_BY,
    sample=sample,
    top=FEW,
    dtype=dtype,
)
found, _ = answers.shown(this, ours, sources, dtype=dtype)
found["change of entropy"] = found["entropy"] - found["entropy_after"]
found = found.rename(columns={"kl": "KL", "estimator": "wording"})
one = ["model", "relation", "fact"]
alike = found["shared"].astype(bool) | found["merged"].astype(bool)
alike = alike.groupby([found[name] for name in one]).transform("any")
rows = found if any_object else found[~alike]
print(f"{len(found):,} questions; {len(found) - len(rows):,} left out")
measures = ["rank", "surprisal", "entropy", "change of entropy", "KL"]
rows[measures].describe().loc[["min", "50%", "max"]].round(2)

# %% [markdown]
# **A case by hand.** This is the paper's Figure 2. A model gives Michelle 0.9 and Sasha 0.06. Its prompt then states another fact, and it gives Michelle
# 0.06 and Sasha 0.9. The answer has turned round, and its entropy has not changed at all. KL notices the change.

# %% covers=["PZ-F2", "PZ-E2", "PZ-E3"]
michelle, sasha = np.log([[0.9, 0.06, 0.04], [0.06, 0.9, 0.04]])
print(f"change of entropy {shift.entropy(michelle) - shift.entropy(sasha):.2f}")
print(f"KL {shift.kl(michelle, sasha):.2f} = 0.84 log 15")

# %% [markdown]
# ## Answers
#
# **The wording.** A measure of the fact should order facts alike in both wordings. `r` is Spearman's correlation between a measure in one wording and the
# same measure in the other, over all facts. But the facts are of several relations. A measure that knew nothing but the relation would do well, and a
# measure that a wording shifts for a whole relation would do badly. So `within` is the correlation of places *within* each relation.

# %%
if rows.empty:
    raise BadInput("no fact is left whose object has a first token of its own")
between, gaps, sides = {}, {}, {}
for model, part in rows.groupby("model", sort=False):
    wide = part.pivot(
        index=["relation", "fact"], columns="wording", values=measures
    )
    wide, drawn_r = wide.dropna(), {}
    for name in measures:
        a, b = wordings
        both = wide[name].reset_index()
        places = wide[name].groupby("relation").rank()
        places -= places.groupby("relation").transform("mean")
        r = stats.relate(both, a, b, ranks=True, seed=seed)
        within = stats.relate(places.reset_index(), a, b, seed=seed)
        drawn_r[name] = r[b]
        resampled = pd.DataFrame({"r": r[b], "within": within[b]})
        between[model, name] = stats.interval(resampled).set_axis(
            list(resampled)
        )
    of_rank = pd.DataFrame({"gap": drawn_r["KL"] - drawn_r["rank"]})
    gaps[model], sides[model] = stats.interval(of_rank).iloc[0], wide
between = pd.concat(between, names=["model", "measure", "of"]).sort_index()
runs.save(between.reset_index(), "between-wordings.csv")
table = between.apply(stats.format_estimate, axis=1).unstack("of")
table.rename(figures.display_name, level="model")

# %% [markdown]
# **The choice of relations.** One relation can decide `r`: below, `r` of KL and of the rank without one relation at a time, from the lowest to the highest.

# %%
rho = {}
for model, wide in sides.items():
    for left_out in ["none", *wide.index.unique("relation")]:
        kept = wide.drop(left_out, errors="ignore")
        both = {name: kept[name].rank().corr().iloc[0, 1] for name in measures}
        rho[figures.display_name(model), left_out] = both
rho = pd.DataFrame(rho).T.rename_axis(["model", "without"])
ends = rho.groupby("model", group_keys=False)["KL"]
rho.loc[[*ends.idxmin(), *ends.idxmax()], ["KL", "rank"]].round(2)

# %% [markdown]
# **The same rank.** The table has a row for each class of ranks; the first row is the right answers. The ranges go from the tenth to the ninetieth
# percentile. Two answers of one rank can be far apart in surprisal, in entropy, and in how far they move.

# %% covers=["PZ-F1"] shows=["run", "shipped"]
limits, names = [0, 1, 10, 100, np.inf], ["1", "2-10", "11-100", "more"]
classes = pd.cut(rows["rank"], limits, labels=names).astype(str)
once = rows.assign(ranks=classes).drop_duplicates([*one, "ranks"])
ends = once.groupby(["model", "ranks"], sort=False)[measures[1:]]
ends = ends.quantile([0.1, 0.9]).unstack().sort_index().round(1)
ends.rename(figures.display_name, level="model")

# %% [markdown]
# **The likeliest tokens alone.** A closed model may name its five likeliest tokens, and no more. Then the paper takes all tokens of both lists, and one
# more token that stands for all others. It divides the missing probability of a side evenly among the tokens that this side does not name.


# %%
def from_few(row: dict, k: int = FEW) -> float:
    """KL in nats of the paper's approximation."""
    sides = [
        {row[f"token{s}_{i}"]: row[f"logprob{s}_{i}"] for i in range(1, k + 1)}
        for s in ("", "_after")
    ]
    tokens, logs = sides[0] | sides[1], []
    for side in sides:
        left = max(1 - np.exp([*side.values()]).sum(), 1e-12)
        left = np.log(left / (len(tokens) - len(side) + 1))
        logs.append([*(side.get(token, left) for token in tokens), left])
    p, q = np.array(logs)
    return float((np.exp(p) * (p - q)).sum())


# %% covers=["PZ-S4"] shows=["run", "shipped"]
few = [from_few(row) for row in rows.to_dict("records")]
rows = rows.assign(few=few)
tops, table = {}, {}
for model, part in rows.groupby("model", sort=False):
    r = stats.relate(part, "KL", "few", ranks=True, seed=seed)
    tops[model] = stats.interval(r).iloc[0]
    some = part[np.isfinite(part["KL"])]
    means = some[["KL", "few"]].mean().round(2)
    table[figures.display_name(model)] = [
        *means,
        stats.format_estimate(tops[model]),
    ]
columns = ["exact KL", "from five", "r"]
pd.DataFrame.from_dict(table, "index", columns=columns)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-rank`, at the top, many dots are far from the dashed line even on the left: an object that is second in one wording can be far
# down in the other. On the right, pick any KL in one wording, and see how much it varies in the other wording.

# %% tags=["hide-input"]
from matplotlib import pyplot as plt

right = rows[rows["rank"] == 1].drop_duplicates(one)
lead = right.groupby("model").size().idxmax() if len(right) else ""
decided = papers.claims("PZ").set_index("id").loc["PZ-wording", "model"]
model = decided if decided in sides else lead or next(iter(sides))
wide = sides[model].swaplevel(axis=1)
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, name, unit in zip(axes, ["rank", "KL"], ["", " (nats)"], strict=True):
    a, b = (wide[each][name] for each in wordings)
    ax.loglog(a, b, ".", alpha=0.6)
    ends = [max(1e-3, min(a.min(), b.min())), max(a.max(), b.max())]
    ax.loglog(ends, ends, color=figures.DARK, ls="--", lw=1)
    ax.set(xlabel=f"{name} in one wording{unit}")
    ax.set_ylabel(f"{name} in the other wording{unit}")
    for axis in (ax.xaxis, ax.yaxis):
        figures.plain_ticks(axis)
points = rows[rows["model"] == model][[*one, "wording", *measures]]
figures.glue_figure(fig, "fig-rank", points)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None of the paper's own numbers can be compared here, since they are of other models. But one of its means shows what was *not* done. Five
# tokens on each side make at most eleven, so no entropy can be above log 11. The mean of FLAN-T5 XL is above it, in nats and in bits:

# %%
table = papers.table("pez_table4_entropy_by_relation")
largest = table.loc[table["entropy"].idxmax(), ["model", "relation", "entropy"]]
assert largest["entropy"] > np.log2(11) > np.log(11)
print(*largest, f"log 11 = {np.log(11):.2f} nats = {np.log2(11):.2f} bits")

# %% [markdown]
# So FLAN-T5 was not read from five tokens. **Claims.** The paper's objections to ranking can be tested on any model. One says that facts of one rank are
# known unequally well. The 90th minus the 10th percentile of KL decides it, among facts whose object is first, each counted once.

# %%
kl = right.loc[(right["model"] == model) & np.isfinite(right["KL"]), "KL"]
claims = {"PZ-wording": gaps[model], "PZ-top": tops[model]}
if len(kl) >= 5:
    rng = np.random.default_rng(seed)
    again = np.vstack([kl, rng.choice(kl, (10_000, len(kl)))])
    spread = np.quantile(again, 0.9, axis=1) - np.quantile(again, 0.1, axis=1)
    spread = stats.interval(pd.DataFrame({"spread": spread}))
    claims["PZ-alike"] = spread.iloc[0]
on = {} if sources else {"decided_on": fact_set, "model": model}
claims = {k: pd.Series(v.to_dict() | on) for k, v in claims.items()}
judged = answers.verdicts(claims)
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
within = between.xs("within", level="of")
steady = within.unstack("measure")
text = within.apply(stats.format_estimate, axis=1).unstack("measure")
of_all = between.xs((model, "r"), level=["model", "of"])
short = rows.groupby("model")[["few", "KL"]].mean()
all_kl, r_all = rho.loc[figures.display_name(model), "KL"], of_all["estimate"]
holds = {
    "more than their order by rank": (
        (steady["high", "KL"] < steady["low", "rank"]).all()
        and all(gap["high"] < 0 for gap in gaps.values())
    ),
    "one relation makes the smaller number": all_kl.max() > 2 * r_all["KL"],
    "otherwise": all(top["high"] < 0.9 for top in tops.values()),
    "less than half": (short["few"] < short["KL"] / 2).all(),
}
figures.sentence(holds if sources else {})
kl = all_kl.drop("none").fillna(-1)  # a single relation leaves none
each = steady["estimate"].rename(index=figures.display_name)
called_text = text.rename(index=figures.display_name)
figures.glue_values(
    name_model=figures.display_name(model),
    n_relations=len(kl),
    one_relation=kl.idxmax(),
    without_it=kl.max(),
    by_model=" and ".join(
        f"{r['KL']:.2f} against {r['rank']:.2f} ({name})"
        for name, r in each.iterrows()
    ),
    between="; ".join(
        f"{name}, KL {r['KL']}, rank {r['rank']}"
        for name, r in called_text.iterrows()
    ),
    of_all=" for KL and ".join(
        stats.format_estimate(of_all.loc[name]) for name in ("KL", "rank")
    )
    + " for the rank",
)

# %% [markdown]
# A warning. None of this says which measure is right about a fact. To know that, one has to know the model's training text: {page}`53_lab_entropy`.
#
# ## What you have seen
#
# - A rank depends on the wording. KL depends on it more, in both models.
# - A correlation over several relations can depend on one of them. Leave each out once.
# - The same rank can mean a sure answer and an unsure one.
# - Entropy says how open an answer is, and nothing about whether it is right.
# - A KL from five tokens is less than half the exact KL, on average, and it orders facts differently.
#
# **Counted again** with scipy: the correlation of the ranks. And by hand a KL from two tokens a side: before, *a* has 0.5 and *b* 0.3; after, *c* has 0.8
# and *a* 0.1. Before, 0.2 is missing and goes to *c* and the rest. After, 0.1 is missing and goes to *b* and the rest.

# %%
from scipy.stats import spearmanr

a, b = (wide[name]["rank"] for name in wordings)
of_rank = between.loc[(model, "rank", "r"), "estimate"]
assert abs(spearmanr(a, b).statistic - of_rank) < 1e-9
assert (rows["KL"] >= 0).all() and (rows["rank"] >= 1).all()
hand = {
    "token_1": "a", "logprob_1": np.log(0.5),
    "token_2": "b", "logprob_2": np.log(0.3),
    "token_after_1": "c", "logprob_after_1": np.log(0.8),
    "token_after_2": "a", "logprob_after_2": np.log(0.1),
}  # fmt: skip
p, q = np.array([0.5, 0.3, 0.1, 0.1]), np.array([0.1, 0.05, 0.8, 0.05])
assert abs(from_few(hand, 2) - (p * np.log(p / q)).sum()) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-rank-entropy
# Is a model surer when it is right? Compare the entropy of the answers whose object has the first rank with the entropy of all others.
# ```

# %% [markdown]
# ````{solution-start} ex-rank-entropy
# :class: dropdown
# ````

# %%
is_first = rows["rank"].eq(1).map({True: "first rank", False: "others"})
rows.groupby(is_first)["entropy"].describe().round(2)

# %% [markdown]
# Compare the two medians, under `50%`, and the spread between the quartiles. A model can be unsure and right, and sure and wrong.
#
# ````{solution-end}
# ````
#
# To ask another model, put its name under `models` of this notebook in a params file, and start `lke run` with that file.
