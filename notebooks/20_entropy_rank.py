# %% [markdown]
# # What does a rank not tell?
#
# *The capital of Iceland is ____.* A model gives each of its tokens a probability at the blank. The oldest measure of knowledge
# looks where the right one stands: first, third, or ten thousandth. The second paper of this book finds three faults in such a
# {term}`rank`. It hangs on the wording. It says yes or no. And it is the same for answers that are not alike. The paper tells the
# model the fact instead, and measures how far the answer moves.
#
# **What came out.** {glue:text}`wording` {glue:text}`alike` {glue:text}`top`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-rank
# :name: fig-rank
# :alt: Left, a dot for each fact: the rank of its object in one wording against that in another, both logarithmic, with a dashed diagonal. Right, the KL-divergence over the rank, with a mark for each wording.
#
# Left: the rank of the same object in two wordings of the same question; on the dashed line both are the same. Right: how far the
# answer moves when the fact is told, over the rank that its object had before.
# ```
#
# Afterwards you will be able to say
#
# - what rank, entropy and {term}`KL-divergence` at a blank are, and which of them look at the object,
# - how much each hangs on the wording, and how much of that is the relation and not the fact,
# - what the few tokens that a closed model names can say of all others.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` replaces the rank by the change of entropy and by KL-divergence, between the answer by itself and
# the answer behind the fact. Its first figure shows the faults of ranking on one fact, its second a case that entropy cannot see; neither
# has numbers that could be compared. Of closed models, which name no more than their likeliest tokens, it takes both from these. How well
# that works it does not test. The paper asks BERT, T5, InstructGPT and FLAN-T5 XL about 41 relations of T-REx, which needs a GPU or a
# server. Here they are small models.

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
ks: list[int] = [1, 5, 20]  # likeliest tokens of each side; paper: 5
among: str = "alone"  # whose objects count: alone, one token or all; see Facts
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 4  # questions of each wording that are asked again then
shipped: list[str] = []  # profiles whose models stand beside these
seed: int = 0  # draws facts and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, papers, runs
from lkecore.answers import firsts, moved, ranks
from lkecore.metrics import shift

figures.style()

# %% [markdown]
# ## Facts
#
# Some facts of each relation, of which the last one shows what is asked. No options are needed: the whole vocabulary is. But all
# numbers are of an object's *first token*, which says which object it is only if no other object of the relation begins with it. These
# facts are `alone`, and the page is about them. The paper's objects have one token: `one token`.

# %%
drawn = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "seed": seed}
sample = facts.draw(fact_set, relations, leave_out=True, **drawn)
for name, of in sample.items():
    print(f"{name:20} {of.facts[-1].subject} | {of.facts[-1].object}")

# %% [markdown]
# ## Prompts
#
# Each fact is asked in two wordings, and in each twice: by itself, and behind the fact, which is the filled template with a full stop.

# %% covers=["PZ-S2"]
ranks.check(models, wordings, ks, dtype=dtype)
firsts.check_set(among)
questions = answers.at_blanks(models, sample, wordings, dtype=dtype)
for (_, wording, *_), some in list(questions.items())[:: len(sample)]:
    print(f"{wording}: {some[0].asked.context} ____")
    print(f"{'':{len(wording)}}  {some[0].told.context} ____")

# %% [markdown]
# ## Scores
#
# P is the distribution at the blank before the fact is told, Q behind it. One pass gives both over the whole vocabulary, and from
# them, in nats,
#
# - $H(P) = -\sum_k P_k \log P_k$, the {term}`entropy`: how unsure the answer is, right or wrong (equation 1),
# - $H(P) - H(Q)$, its change (equation 2),
# - $\mathrm{KL}(P\|Q) = \sum_k P_k \log (P_k / Q_k)$ (equation 3; the paper prints a minus in front, but its values are positive).
#
# These never look at the object (a masked model is shown as many masks as it has tokens, though). Two do: its {term}`rank`, 1 plus the number of tokens above its first one, and its {term}`surprisal`.
#
# Where `results` names a longer run of this page, its answers are these, and a sample is asked again. Other models that it has stand beside.

# %% covers=["PZ-E1", "PZ-S1"]
this = "20_entropy_rank"
source = {"results": results, "notebook": this, "dtype": dtype, "page": page}
source |= {"n_again": n_again, "by": answers.READ_BY, "sample": sample}
ours = answers.ask_blanks(
    models, questions, "answers.parquet", top=max(ks), **source
)
found = answers.beside_models(ours, shipped, this)
every = ranks.by_wording(ranks.with_kinds(found, sample))
rows = moved.of_set(every, among)
print(*answers.made_by(shipped, this), answers.infinite(found), sep="\n")
print(f"{len(every):,} questions; {len(every) - len(rows):,} left out")
print(rows[ranks.METRICS].describe().loc[["min", "50%", "max"]].round(2))

# %% [markdown]
# **A case by hand.** This is the paper's Figure 2. A model gives Michelle 0.9 and Sasha 0.06; it is told another fact, and gives Michelle 0.06
# and Sasha 0.9. The answer has turned round, and its entropy has not changed at all. KL sees it.

# %% covers=["PZ-F2", "PZ-E2", "PZ-E3"]
michelle, sasha = np.log([[0.9, 0.06, 0.04], [0.06, 0.9, 0.04]])
print(f"change of entropy {shift.entropy(michelle) - shift.entropy(sasha):.2f}")
print(f"KL {shift.kl(michelle, sasha):.2f} = 0.84 log 15")

# %% [markdown]
# ## Answers
#
# **The wording.** If a measure is about the fact, it should order facts alike in both wordings. `r` is Spearman's correlation of
# a measure with itself in other words, and `KL minus it` compares KL with each. But the facts are of several relations, and a measure that
# only knew the relation would do well. `within` is the correlation of places *within* each relation. There, what relations have in common with
# themselves is gone.

# %%
between = ranks.between(rows, seed=seed)
runs.keep(answers.bounds(between, "r"), "between-wordings.csv")
answers.words(answers.texts(between), missing="")

# %% [markdown]
# **Left out.** Questions by kind of object: `all`, those of objects of `one token`, and those that are `alone`. Below, the correlation `r` again
# with each set of facts.

# %%
print(moved.left_out(every).to_string(index=False))
print(*firsts.absent(rows, relations or [*sample]), sep="\n")
of_sets = answers.texts(ranks.by_set(every, seed=seed))
print(of_sets.drop(columns="source").to_string(index=False))

# %% [markdown]
# **The same rank.** A row for each class of ranks; the first has the answers that are right. The ranges go from the tenth to the ninetieth
# percentile. Two answers of one rank can be worlds apart in surprisal, in entropy, and in how far they move.

# %% covers=["PZ-F1"]
classes = ranks.by_class(rows, seed=seed)
answers.words(answers.texts(classes), missing="")

# %% [markdown]
# **The likeliest tokens alone.** A closed model may name its k likeliest tokens, and no more. Then the paper takes all tokens of both lists and one
# for all others, and divides what is missing on a side evenly among those that this side does not name. `from k` is the mean KL of that,
# `exact` the one over all tokens. `at least` is ours: what both lists name, and all else in one lump. No KL with these lists can be smaller.
# `above` is the share of facts whose `from k` is above `exact`.

# %% covers=["PZ-S4"]
tops = ranks.by_top(rows, seed=seed, ks=ks)
runs.keep(answers.bounds(tops, "r"), "by-top.csv")
answers.words(answers.texts(tops))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
figures.findings(**ranks.sentences(rows, between, tops))
figures.note("carried", answers.carried(ours))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-rank`, at the top, look how far the dots on the left lie from the dashed line: an object that is second in
# one wording can be far down in the other. On the right, pick any rank and see how much KL varies there. Then look along the whole axis.
# A better rank means a shorter way on the average, but a bad one may mean either.

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
mine = rows[rows["model"] == rows["model"].iloc[0]]
figures.rank_panels(mine, ranks.in_both(mine), axes)
figures.place(fig, "fig-rank", mine[["fact", "wording", *ranks.METRICS]])

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Of the paper's own numbers none can be compared here: they are of other models. But one of its means tells what was *not*
# done. The paper prints no number of tokens. With five on each side there are at most eleven to divide an entropy among, so none
# can be above log 11.

# %%
table = papers.table("pez_table4_entropy_by_relation")
largest = table.loc[table["entropy"].idxmax()]
answers.words(
    pd.DataFrame(
        {
            "model": [largest["model"]],
            "relation": [largest["relation"]],
            "mean change of entropy (paper)": [largest["entropy"]],
            "log 11 (nats)": [np.log(11)],
            "log 11 (bits)": [np.log2(11)],
        }
    )
)

# %% [markdown]
# So FLAN-T5 was not read from five tokens, in whatever unit.
#
# **Claims.** What the paper holds against ranking can be tested on any model (`lkecore/data/claims.csv`).

# %%
judged = answers.judge(
    ranks.claimed(rows, between, tops, seed=seed),
    estimator=", ".join(wordings),
    marks=ranks.marks(between),
    as_paper=True,
    paper="PZ",
    digits=2,
)
columns = ["claim", "holds_if", "source", "models", "ours", "verdict", "mark"]
answers.words(judged[columns])

# %% [markdown]
# A warning. Small models were asked. And none of this says which measure is right about a fact. For that one has
# to know what the model was told: {doc}`53_lab_entropy`.

# %% [markdown]
# ## What you have seen
#
# - A rank hangs on the wording. So do entropy and KL, and which of them does so most is a question to models, not to taste.
# - The same rank can stand for a sure answer and for an unsure one.
# - Entropy says how open an answer is, and nothing about whether it is right.
# - From five tokens a KL can be read that has little to do with the exact one. A bound says so; an approximation does not.

# %%
assert (rows["KL"] >= 0).all() and (rows["rank"] >= 1).all()
assert (tops["at least"] <= tops["exact"] + 1e-6).all()

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-rank-entropy
# Is a model surer where it is right? Compare the entropy of the answers whose object has the first rank with all others.
# ```

# %% [markdown]
# ````{solution-start} ex-rank-entropy
# :class: dropdown
# ````

# %%
right = rows["rank"].eq(1).map({True: "first rank", False: "others"})
print(rows.groupby(right)["entropy"].describe().round(2).to_string())

# %% [markdown]
# Compare the two medians, under `50%`, and the spread between the quartiles. A model can be unsure and right, and sure and wrong.
#
# ````{solution-end}
# ````
#
# The same for another model: put its name under `models` of this notebook in a params file, and `lke run` that.

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
