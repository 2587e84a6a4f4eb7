# %% [markdown]
# # Does an answer change less if the model knows the fact?
#
# **Shown a fact that a text states often and one that it never states, KL-divergence picks the stated one at most {glue:text}`kl:.0%` of the time,
# surprisal at least {glue:text}`surprisal:.0%`, in {glue:text}`name_kinds` lab models.**
#
# ```{glue:figure} fig-moved-auroc
# :name: fig-moved-auroc
# :alt: A row for each measure, and in it a mark with an interval for each kind of model, around a dotted line at one half.
#
# KL and the change of entropy are left of the dotted line, where a coin would be; rank and surprisal are right of it. AUROC of
# often stated facts against their never stated controls; lines: 95 % over three worlds, each with another text and training.
# ```
#
# Give a model the sentence that Obama is married to Michelle, and ask whom he is married to. If the answer hardly changes, the model knew the fact; if it
# changes much, it did not. This is the second paper's idea of knowledge. Surprisal needs no such sentence: it looks at the probability of *Michelle* alone.
# Here we test both on models whose text we know. For the largest, {glue:text}`name_kind`, KL picks the stated fact {glue:text}`between_kl` of the time,
# surprisal {glue:text}`between_surprisal`; for the others the interval of KL includes one half.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` proposes to replace the {term}`rank` of an object by the change of the answer when the prompt gives the fact. The paper
# teaches BERT and T5 facts from which more and more words are taken away, and counts how often a measure puts two facts in the right order (its Table 1): KL
# 74.5 % and 67.8 % of the time, the change of entropy 72.2 % and 66.4 %, the rank 51.6 % and 30.9 %. {Page}`21_entropy_accuracy` has that
# experiment. Nobody has a list of the facts that BERT and T5 had *read*.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # each names the world it has read
relations: list[str] = [
    "residence", "birthplace", "instrument", "profession",
    "company_language", "second_language", "author", "birth_year",
]  # fmt: skip
# No name of a subject hints at its object in these.
template: str = "template-1"  # of the sentence and of the question
often: int = 16  # statements from which a fact counts as stated often
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
# From the lab's {ref}`rich worlds <rich-worlds>` we take facts that the text states 1 to 64 times, facts that it states *wrongly*, and facts that it never
# states. Each stated fact has a {term}`control`: a never stated fact with the same object, or with one that is as frequent.


# %%
def asked(states: pd.DataFrame) -> pd.Series:
    """Facts stated rightly, wrongly, or most often with two objects; controls."""
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
# The model answers every question twice: alone, and after a sentence that gives the fact (the filled template with its full stop). In the second pair of lines
# the sentence is about another subject, with the same object. It says nothing about the subject of the question.

# %%
for kind in ("explicit", "copied"):
    some = next(q for key, q in questions.items() if kind in key)[0]
    print(
        f"{kind:9} {some.asked.context} ____\n{'':9} {some.told.context} ____"
    )

# %% [markdown]
# ## Scores
#
# $P$ is the distribution over all tokens at the blank without the sentence, $Q$ the one after it, and in nats
#
# $$H(P) = -\sum_k P_k \log P_k, \qquad H(P) - H(Q), \qquad \mathrm{KL}(P \| Q) = \sum_k P_k \log \frac{P_k}{Q_k}.$$
#
# The {term}`entropy` says how unsure the answer is, whatever it is. Its change and the divergence (the paper's equations 2 and 3) need the fact in the
# prompt. The {term}`rank` of the object's first token on $P$ and its {term}`surprisal`, $-\log P$, do not. For all of them less means
# better known. They are read at one token, so a fact counts only if no other object of its relation begins with the same token.

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
people = {"m": "M", "bert": "BERT", "t5": "T5", "-": ", "}
facts["kind"] = "lab " + facts["size"].replace(people, regex=True)
facts = facts.sort_values(key)
print(f"{len(first):,} of {rows['instillation'].eq('explicit').sum():,} facts")

# %% [markdown]
# **Which measure finds the stated facts?** The {term}`AUROC` is how often an often stated fact looks better known than its control; ties count half. One half is
# a coin; below that a measure runs backwards. Each world has one value, and the interval is over worlds. An unplanted {term}`twin <unplanted twin>` read the
# same text about other subjects: it has to be near one half.

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
# **Before and after.** Means by how often the text states a fact. Look at $H(Q)$, the entropy *after* the sentence: it is lower for an often stated fact
# than for one never stated, since memory and sentence agree. So the distance from $P$ to $Q$ gets longer with knowledge, not shorter.

# %%
large = "2m" if "2m" in set(facts["size"]) else facts["size"].iloc[0]
mine = facts[facts["size"] == large]
lead = mine["kind"].iloc[0]
level = truth.told_levels(mine).where(mine["state"] != "uncertain", "with two")
by_level = mine.groupby(level.rename("stated"))[list(own)[1:]].mean()
by_level = by_level.reindex([*truth.LEVELS, "with two"]).dropna(how="all")
by_level.set_axis(["H(P)", "H(Q)", "KL"], axis=1).round(2)

# %% [markdown]
# **Stated wrongly.** How often a fact that the text states wrongly looks *less* known than one that it states rightly and as often, in the same world.
# A model that read a wrong object is as sure as any, and only a measure that looks at the object can see the error.


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
# In {numref}`fig-moved-auroc`, at the top, compare the rows: in every model, surprisal and rank find most. They look at the object and need no fact in the prompt.
# {numref}`fig-moved-curve` says why KL fails. On the left are objects that the model had nearly ruled out: it does not quite believe the sentence, and the answer
# changes little. In the middle it believes the sentence, and the answer changes much. On the right it gave this answer before, and nothing is left to change.
# So one value of KL can mean two things.
#
# ```{glue:figure} fig-moved-curve
# :name: fig-moved-curve
# :alt: A line with a band for each kind of model, of the KL-divergence over the probability that the object had before, higher in the middle than on the left.
#
# KL rises before it falls: the change of the answer when the prompt gives the fact, over the probability of the object's first token before. Means of the facts
# in a bin; bands: 95 % over facts. A measure of ignorance would fall from left to right.
# ```

# %% tags=["hide-input"]
marks = aurocs[~aurocs["kind"].str.endswith("unplanted")]
marks = marks.sort_values("measure", key=lambda m: m.map(measures.index))
look = {"label": "AUROC", "height": 4.4, "aspect": 1.4}
grid = figures.marks(marks, x="measure", hue="kind", across=True, **look)
grid.axes.flat[0].axvline(0.5, color="grey", ls=":")
figures.glue_figure(grid.figure, "fig-moved-auroc", marks)

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
figures.glue_figure(grid.figure, "fig-moved-curve", curve)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper's Table 1 is about other models, and orders facts by the number of words of a sentence that were taught. **Claims** are all ours, written
# down before these models answered (except the one on another subject; its row says what we knew). They are decided over worlds: on the largest decoder that
# all three worlds have, on the mean of BERT and T5, and on twins (BERT and T5 have twins in one world only, so there over its subjects). Some of these models
# often do not repeat a fact that the prompt gives ({page}`50_lab_truth`), and we chose how often BERT reads after a look at its results. So the change of their
# answers says less.


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
    of_kl = marks[marks["measure"] == "KL"]
    unclear = of_kl[(of_kl["low"] < 0.5) & (of_kl["high"] > 0.5)]
    two = wide[["surprisal", "rank"]].min(axis=1)
    others = wide.drop(columns=["surprisal", "rank"]).max(axis=1)
    behind = by_level["own_entropy_after"]
    humps = curve.sort_values("probability").groupby("kind")["estimate"]
    holds = {
        "wrong more often than right, the largest": at.loc["KL", "high"] < 0.5,
        "left of the dotted line": left < 0.5,
        "right of it": two.min() > 0.6,
        "the others include one half": set(unclear["kind"])
        == set(wide.index) - {lead},
        "surprisal and rank find most": (two > others).all(),
        "lower for an often stated fact": behind["16 and more"]
        < behind["never"],
        "before it falls": all(
            hump.max() > hump.iloc[[0, -1]].max() for _, hump in humps
        ),
    }
figures.sentence(holds)
figures.glue_values(
    name_kind=lead,
    name_kinds=str(marks["kind"].nunique()),
    kl=marks.loc[marks["measure"] == "KL", "estimate"].max(),
    surprisal=marks.loc[marks["measure"] == "surprisal", "estimate"].min(),
    between_kl=stats.format_estimate(at.loc["KL"], percent=True),
    between_surprisal=stats.format_estimate(at.loc["surprisal"], percent=True),
    effect=f"{lead}: KL {stats.format_estimate(at.loc['KL'], percent=True)}, "
    f"surprisal {stats.format_estimate(at.loc['surprisal'], percent=True)}",
    asked=f"{', '.join(marks['kind'].unique())}; "
    f"{facts['world'].nunique()} worlds",
)

# %% [markdown]
# A warning. These models are small and unsure: their never stated facts are on the left of {numref}`fig-moved-curve`, and many known facts near
# the top. A model that is sure of its facts has most of them on the right, where KL falls; on facts that were taught just before, KL is on
# the right side of one half ({page}`21_entropy_accuracy`). The lesson for other models: before you order facts by KL, find out on
# which side of the hill they are.
#
# ## What you have seen
#
# - An answer changes little for two reasons: the model knows it already, or does not believe the prompt. KL cannot distinguish them.
# - Compare a measure that needs the fact in the prompt with one that does not. Surprisal needs half of the computing, and finds far more.
# - Entropy never looks at the object. Wrongly learned facts look as well known as others, and by the change of entropy even better.
# - The same sentence about another subject changes the answer as well. Copying is not knowing.
#
# **Counted again**, in plain Python: KL of the largest model.

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
# Among the stated facts, does a measure follow *how* often the text states them? Take Spearman's correlation with the number of statements, first over all
# of these facts, then over the often stated ones.
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
# Compare the signs of KL and surprisal. Surprisal also distinguishes 16 statements from 64.
#
# ````{solution-end}
# ````
#
# The same on another model: `lke run sources/entropy_lab.yaml`, with its name under `models`.
