# %% [markdown]
# # Does an answer move less where a fact is known?
#
# **Of two facts, one told often by the text and one never, KL-divergence takes the told one for the better known only {glue:text}`kl:.0%` of the time in
# {glue:text}`name_kind` models, and surprisal, for which nothing has to be told, {glue:text}`surprisal:.0%` of the time.**
#
# ```{glue:figure} fig-moved-auroc
# :name: fig-moved-auroc
# :alt: A row for each measure, and in it a mark with an interval for each kind of model, around a dotted line at one half.
#
# KL and the change of entropy lie left of the dotted line, where a measure is wrong more often than right; rank and surprisal lie right of it. AUROC of
# facts told often against their never-told controls; lines: 95 % over three worlds, each another text and training.
# ```
#
# Tell a model that Obama is married to Michelle, and ask whom he is married to. If the answer hardly moves, the fact was known; if it moves far, it was
# not. This is the second paper's idea of knowledge. Here we hold it against the truth: models of which we know what their text told them. With
# intervals: KL {glue:text}`between_kl`, surprisal {glue:text}`between_surprisal`.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` wants to replace the {term}`rank` of an object by how far the answer moves when the fact is told. It teaches BERT and T5 facts
# from which more and more words are taken away, and counts how often a measure puts two of them in the right order (its Table 1): KL does for 74.5 %
# and 67.8 % of pairs, the change of entropy for 72.2 % and 66.4 %, the rank for 51.6 % and 30.9 %. {Page}`21_entropy_accuracy` has that
# experiment. Of what BERT and T5 had *read*, nobody has the list.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
relations: list[str] = [
    "residence", "birthplace", "instrument", "profession",
    "company_language", "second_language", "author", "birth_year",
]  # fmt: skip
# No name of a subject hints at its object in these.
template: str = "template-1"  # of the statement and of the question
often: int = 16  # tellings from which a fact counts as told often
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws other subjects, order of options and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu

from lkecore import answers, figures, stats
from lkecore.answers import rich, truth

figures.style()

# %% [markdown]
# ## Facts
#
# From the lab's {ref}`rich worlds <rich-worlds>` we ask facts that the text tells 1 to 64 times, facts that it tells *wrongly*, and facts that it never
# tells. Each told fact has a {term}`control`: a never-told fact with the same object, or with one that is as frequent.


# %%
def asked(states: pd.DataFrame) -> pd.Series:
    """Facts told rightly, wrongly, or most often with two objects; controls."""
    times, state = states["occurrences"], states["state"]
    told = state.isin(["planted", "mislearned"])
    told &= times.isin([1, 4, 12, 16, 32, 48, 64])
    open_ = state.eq("uncertain")
    told |= open_ & times.eq(times[open_].max())
    return rich.or_controls(states, told)


samples = rich.samples(
    models, relations, asked, n_shots=0, seed=seed, leave_out=True
)
questions = {}
for world, sample in samples.items():
    made = answers.at_blanks(
        models,
        sample,
        [template],
        ["explicit", "copied"],
        dtype=dtype,
        seed=seed,
    )
    questions |= {(world, *key): some for key, some in made.items()}
print(f"{sum(map(len, questions.values())):,} questions at blanks")

# %% [markdown]
# ## Prompts
#
# Every question is asked twice: by itself, and behind a statement, which is the filled template with its full stop. In the second pair of lines the
# statement tells the same object of another subject. It says nothing about who is asked.

# %%
for kind in ("explicit", "copied"):
    some = next(q for key, q in questions.items() if kind in key)[0]
    print(
        f"{kind:9} {some.asked.context} ____\n{'':9} {some.told.context} ____"
    )

# %% [markdown]
# ## Scores
#
# $P$ is the distribution over all tokens at the blank before the statement, $Q$ the one behind it, and in nats
#
# $$H(P) = -\sum_k P_k \log P_k, \qquad H(P) - H(Q), \qquad \mathrm{KL}(P \| Q) = \sum_k P_k \log \frac{P_k}{Q_k}.$$
#
# The {term}`entropy` says how unsure the answer is, whatever it is. For its change and for the divergence (the paper's equations 2 and 3) the model has to be
# told the fact; for the {term}`rank` of the object's first token on $P$ and its {term}`surprisal`, $-\log P$, it has not. In all of them less means
# better known. They are read at one token, so an object counts if no other one of its relation begins with it.

# %% covers=["PZ-E2", "PZ-E3", "PZ-S2"] shows=["run", "shipped"]
this = "53_lab_entropy"
of_question = ["world", *answers.READ_BY]
ours = answers.ask_blanks(
    models,
    answers.sample(questions, sources, by=of_question),
    "answers.parquet",
    by=of_question,
    whole=True,
    dtype=dtype,
)
rows, _ = answers.shown(this, ours, sources, dtype=dtype)
answers.columns(rows)

# %% [markdown]
# ## Answers
#
# All measures of a fact in one row, turned so that more is better known.

# %%
key = ["model", "world", "relation", "fact"]
alone = rows[~(rows["shared"].astype(bool) | rows["merged"].astype(bool))]
told_by = {name: p.set_index(key) for name, p in alone.groupby("instillation")}
first = told_by["explicit"]
signed = first["entropy"] - first["entropy_after"]
known = {
    "surprisal": -first["surprisal"],
    "rank": -first["rank"],
    "entropy": -first["entropy"],
    "KL": -first["kl"],
    "KL back": -first["kl_back"],
    "change of entropy": -signed.abs(),
    "KL, other subject": -told_by["copied"]["kl"],
}
measures = list(known)
own = first[["surprisal", "entropy", "entropy_after", "kl"]].add_prefix("own_")
facts = pd.DataFrame(known).join(own).reset_index()
facts = rich.with_states(facts, ["subject", "state", "occurrences", "control"])
facts["size"] = facts["model"].str.partition("/")[2]
people = {"m": "M", "bert": "BERT", "t5": "T5"}
facts["kind"] = "lab " + facts["size"].replace(people, regex=True)
facts = facts.sort_values(key)
print(f"{len(first):,} of {rows['instillation'].eq('explicit').sum():,} facts")

# %% [markdown]
# **Who finds what was told?** The {term}`AUROC` is how often a fact told often looks better known than its control, ties counted half. One half is no telling
# apart; below that a measure runs backwards. Each world has one value, and the interval is over worlds. An `-unplanted` {term}`twin <unplanted twin>` read the
# same text told of other subjects: it has to be near one half.

# %%
often_told = facts["state"].eq("planted") & facts["occurrences"].ge(often)
of = ["model", "world", "relation"]
never = facts[[*of, "fact", *measures]].rename(columns={"fact": "control"})
both = facts[often_told].merge(
    never, on=[*of, "control"], suffixes=("", "_never")
)


def auroc(part: pd.DataFrame) -> pd.Series:
    never = part[[f"{name}_never" for name in measures]]
    never = never.set_axis(measures, axis=1)
    return stats.auroc(part[measures], never, n=1).iloc[0]


by = ["kind", "size", "world"]
each = both.groupby(by, sort=False)[both.columns].apply(auroc)
found = each.rename_axis(columns="measure").stack().rename("auroc")
aurocs = stats.estimate(
    found.reset_index(), ["kind", "measure"], value="auroc", over="world"
)
stats.table(aurocs, "measure", "kind").loc[measures]

# %% [markdown]
# **Before and after.** Means by how often the text tells a fact. Look at $H(Q)$, the entropy *behind* the statement: a fact that was told often leaves the answer
# more sure than one that was never told, since memory and statement agree. So the way from $P$ to $Q$ gets longer with knowledge, not shorter.

# %%
large = "2m" if "2m" in set(facts["size"]) else facts["size"].iloc[0]
mine = facts[facts["size"] == large]
lead = mine["kind"].iloc[0]
level = truth.told_levels(mine).where(mine["state"] != "uncertain", "with two")
by_level = mine.groupby(level.rename("told"))[list(own)[1:]].mean()
by_level = by_level.reindex([*truth.LEVELS, "with two"]).dropna(how="all")
by_level.set_axis(["H(P)", "H(Q)", "KL"], axis=1).round(2)

# %% [markdown]
# **Told wrongly.** How often a fact that the text tells wrongly looks *less* known than one that it tells rightly as often, in the same world.
# A model that was told another object is as sure as any, and only a measure that looks at the object can see that it errs.


# %%
def wrongly(part: pd.DataFrame) -> pd.Series:
    wrong = part[part["state"] == "mislearned"]
    right = part[part["state"] == "planted"]
    right = right[right["occurrences"].isin(wrong["occurrences"])]
    few = wrong.empty or right.empty
    n_pairs = len(right) * len(wrong)
    less = {
        m: mannwhitneyu(right[m], wrong[m]).statistic / n_pairs
        for m in measures
        if not few
    }
    return pd.Series(less, measures, float)


erred = facts.groupby(by, sort=False)[facts.columns].apply(wrongly)
erred.groupby("kind", sort=False).mean().T.round(2)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-moved-auroc`, at the top, compare the rows: what looks at the object and needs no telling finds most, in all kinds of model.
# {numref}`fig-moved-curve` says why. On the left are objects that the model had nearly ruled out: it does not quite believe the statement, and the answer
# moves little. In the middle it takes the statement over, and moves far. On the right it said so before, and there is nowhere to go. One value of KL can
# mean any of two things.
#
# ```{glue:figure} fig-moved-curve
# :name: fig-moved-curve
# :alt: A line with a band for each kind of model, of the KL-divergence over the probability that the object had before, higher in the middle than on the left.
#
# KL rises before it falls: how far the answer moves when the fact is told, over how probable the object's first token was before. Means of the facts
# in a bin; bands: 95 % over facts. A measure of ignorance would fall from left to right.
# ```

# %% tags=["hide-input"]
marks = aurocs[~aurocs["kind"].str.endswith("unplanted")]
marks = marks.sort_values("measure", key=lambda m: m.map(measures.index))
look = {"label": "AUROC", "height": 4.4, "aspect": 1.4}
grid = figures.marks(marks, x="measure", hue="kind", across=True, **look)
grid.axes.flat[0].axvline(0.5, color="grey", ls=":")
figures.place(grid.figure, "fig-moved-auroc", marks)

# %% tags=["hide-input"]
bins = [0, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0]
facts["log"] = -facts["own_surprisal"]
facts["bin"] = pd.cut(np.exp(facts["log"]), bins, labels=False)
some = facts[facts["bin"].notna() & np.isfinite(facts["own_kl"])]
some = some[~some["kind"].str.endswith("unplanted")]
middle = np.exp(some.groupby("bin")["log"].mean()).round(4)
some = some.assign(probability=some["bin"].map(middle), relation="all")
many = some.groupby(["kind", "bin"])["fact"].transform("size") >= 20
some = some[many | ~many.any()].assign(fact=some["world"] + some["fact"])
per = ["kind", "probability"]
curve = stats.estimate(some, per, value="own_kl", over="fact", seed=seed)
look = {"label": "KL (nats)", "height": 3.6, "aspect": 1.5}
grid = figures.marks(curve, x="probability", hue="kind", curve=True, **look)
grid.set(xscale="log", xlabel="probability of the object's first token before")
figures.plain_ticks(grid.axes.flat[0].xaxis)
figures.place(grid.figure, "fig-moved-curve", curve)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper's Table 1 is of other models, and orders facts by how many words of a sentence were taught. **Claims**, all ours and written down
# before these models were asked (but for the one on another subject, whose row says what was known), are decided over worlds: on the largest decoder that
# all three have, on the mean of BERT and T5, and on twins (those of BERT and T5 are of one world, so over its subjects). Some of these models often do not
# repeat what a statement tells ({page}`50_lab_truth`), and how often BERT reads was chosen after a look at it, so that what telling moves in them says
# less.


# %%
def over_worlds(values: pd.Series, *sizes: str) -> pd.DataFrame:
    """One value a world, the mean over the sizes."""
    some = values.rename("value").reset_index()
    some = some[some["size"].isin(sizes)].groupby("world")["value"].mean()
    rows = some.reset_index()
    return stats.estimate(rows, value="value", over="world", bounds=None)


kl = each["KL"]
tested = {
    "finds": kl,
    "rank": kl - each["rank"],
    "surprisal": kl - each["surprisal"],
}
tested_of_large = tested | {
    "entropy": kl - each["change of entropy"],
    "copied": kl - each["KL, other subject"],
    "mislearned": erred["KL"].dropna(),
    "mistaken": erred["change of entropy"].dropna() - 0.5,
}
claims = {
    f"LAB-moved-{name}": over_worlds(values, large)
    for name, values in tested_of_large.items()
    if len(values)
}
if sources:
    claims["LAB-moved-twin"] = over_worlds(kl - 0.5, "0.7m-unplanted")
    for name, values in tested.items():
        its = over_worlds(values, "bert", "t5")
        claims[f"LAB-moved-{name}-blanks"] = its
    twins = both[both["size"].isin(["bert-unplanted", "t5-unplanted"])]
    names = {"KL": "told", "KL_never": "never"}
    twins = twins.pivot(
        index=["relation", "fact", "subject"],
        columns="size",
        values=list(names),
    )
    who = twins.index.to_frame()["subject"]
    drawn = stats.auroc(twins["KL"], twins["KL_never"], of=who, seed=seed)
    drawn = drawn.mean(axis=1).sub(0.5).to_frame("twins")
    claims["LAB-moved-twin-blanks"] = stats.interval(drawn)
on = {} if sources else {"decided_on": "this run", "model": ", ".join(models)}
judged = answers.verdicts({k: v.assign(**on) for k, v in claims.items()})
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
at = aurocs[aurocs["kind"] == lead].set_index("measure")
holds = {}
if sources:
    wide = marks.pivot(index="kind", columns="measure", values="estimate")
    left = wide[["KL", "change of entropy"]].max(axis=None)
    two = wide[["surprisal", "rank"]].min(axis=1)
    others = wide.drop(columns=["surprisal", "rank"]).max(axis=1)
    behind = by_level["own_entropy_after"]
    humps = curve.sort_values("probability").groupby("kind")["estimate"]
    holds = {
        "wrong more often than right": at.loc["KL", "high"] < 0.5,
        "lie left of the dotted line": left < 0.5,
        "right of it": two.min() > 0.6,
        "finds most": (two > others).all(),
        "leaves it more sure": behind["16 and more"] < behind["never"],
        "before it falls": all(
            hump.max() > hump.iloc[[0, -1]].max() for _, hump in humps
        ),
    }
figures.sentence(holds)
figures.findings(
    name_kind=lead,
    kl=at.loc["KL", "estimate"],
    surprisal=at.loc["surprisal", "estimate"],
    between_kl=stats.said(at.loc["KL"], percent=True),
    between_surprisal=stats.said(at.loc["surprisal"], percent=True),
    effect=f"KL {stats.said(at.loc['KL'])}, "
    f"surprisal {stats.said(at.loc['surprisal'])}",
    asked=f"{lead}, {facts['world'].nunique()} worlds",
)

# %% [markdown]
# A warning. These models are small and unsure: what they were never told lies on the left of {numref}`fig-moved-curve`, and much of what they know near
# the top. For a model that is sure of what it knows, most known facts lie on the right, where KL falls; on facts that were drilled just before, KL is on
# the right side of one half ({page}`21_entropy_accuracy`). What carries over is the question: before KL orders the facts of a model, one has to know on
# which side of the hill they lie.
#
# ## What you have seen
#
# - An answer moves little for two reasons: it is known already, or the statement is not believed. KL cannot tell which.
# - What a measure finds with the statement has to be compared with what it finds without. Surprisal needs half of the computing, and finds far more.
# - Entropy never looks at the object. Facts that were learned wrongly are as well known to it as others, and by its change even better.
# - The same statement about another subject moves the answer as well. Copying is not knowing.
#
# **Counted again**, in plain Python: KL of the first sentence.

# %%
again = {}
for world, part in both[both["size"] == large].groupby("world"):
    told = part["KL"].tolist()
    never = part["KL_never"].tolist()
    wins = sum((a > b) + (a == b) / 2 for a in told for b in never)
    again[world] = wins / len(told) / len(never)
mean = sum(again.values()) / len(again)
row = aurocs[(aurocs["kind"] == lead) & (aurocs["measure"] == "KL")]
assert abs(mean - row["estimate"].item()) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-moved-tellings
# Among the facts that were told at all, does a measure follow *how* often? Take Spearman's correlation with the number of tellings, first of all
# of these facts, then of those that were told often.
# ```

# %% [markdown]
# ````{solution-start} ex-moved-tellings
# :class: dropdown
# ````

# %%
right = facts[(facts["state"] == "planted") & (facts["size"] == large)]
tables = {"all": right, "often": right[right["occurrences"] >= often]}
r = {
    name: part[measures].rank().corrwith(part["occurrences"].rank())
    for name, part in tables.items()
}
pd.DataFrame(r).round(2)

# %% [markdown]
# Compare the signs of KL and surprisal. Surprisal tells 16 tellings from 64, too.
#
# ````{solution-end}
# ````
#
# The same on another model: `lke run sources/entropy_lab.yaml`, with its name under `models`.
