# %% [markdown]
# # How large are both gaps?
#
# **Of all facts {glue:text}`name_shown` knows and uses {glue:text}`usable` %, knows and doesn't use {glue:text}`second` %, and doesn't know
# {glue:text}`first` %.**
#
# ```{glue:figure} fig-gaps-models
# :name: fig-gaps-models
# :alt: A bar for each model, divided into facts that are known and used, known and not used, and not known.
#
# The dark part of a bar is what a user gets. Is it the first gap, not known, that keeps it short, or the second, known and not used? Facts that no text
# tells are among ours. On the right the paper's models, whose printed parts don't quite add up to 1.
# ```
#
# Of all facts a model knows some ({doc}`30_xtraeval_extraction`), and of these it uses some ({doc}`31_xtraeval_task`). What lies between all facts and the
# known ones is the first gap, what lies between these and the used ones the second. The three parts add up to all facts.
#
# ```{glue:} carried
# ```

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`kazemnejad2023measuring` (Section 5) find both gaps in models from 125 million to 13 billion parameters. In our words: the larger know more, so the
# first gap closes; the second stays. A model of 13 billion parameters uses as much as one of 125 million knows (Figures 1 and 7).

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = []  # of those that were asked; empty: all
ranker: str = "likelihood, one wording"  # the trained head; or value
of_facts: str = "lab:rich-2"  # the fact set that the answers are about
often: int = 16  # tellings from which a fact counts as told often
sources: list[str] = []  # in results/, of the numbers; none: a run of page 31
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lkecore import answers, figures, papers, runs, stats
from lkecore.facts import worlds
from lkecore.stats import gaps as measures

figures.style()

# %% [markdown]
# ## Facts
#
# Those that {doc}`31_xtraeval_task` asked. In a world of the lab no text tells some of them, and nobody could know these: the share is the first
# gap of a perfect reader.

# %%
this = "31_xtraeval_task"
if page and not sources:
    known, used = (
        answers.collect(f"answers{of}.parquet") for of in ("-known", "")
    )
else:
    source = (sources or ["xtraeval_lab"])[0]
    known, used = (
        answers.results(f"{this}{of}").query("source == @source")
        for of in ("-known", "")
    )
known = known[known["model"].isin(models or known["model"].unique())]
known = known.drop_duplicates(["model", "relation", "fact"])  # of each split
used = used[used["model"].isin(known["model"])]
used = used.query("ranker == @ranker and part == 'known' and not readable")
if worlds.is_rich(of_facts):
    told = worlds.states(of_facts).set_index("fact")
    never = known["fact"].map(told["state"]).eq("never").mean()
    print(f"{never:.0%} of the asked facts are in no text")
answers.columns(known)

# %% [markdown]
# ## Prompts
#
# Nothing is asked here.

# %% [markdown]
# ## Scores
#
# *Known*: by learned questions or by the best template. *Used*, of the known facts that were asked: the true statement above all with another tail (`tails`), or
# first of all documents (`top1`, the paper's).
#
# $$\text{usable} = \text{known} \times \text{used}, \quad \text{gap}_1 = 1 - \text{known}, \quad \text{gap}_2 = \text{known} \times (1 - \text{used})$$

# %%
by = ["model", "relation"]
share = known.groupby(by, sort=False)["known"].mean().to_frame()
each = used.groupby(by)[["tails", "top1"]].mean()
parts = {}
for way in each:
    both = share.join(each[way].rename("used"), how="inner")
    parts[way] = measures.gaps(both["known"], both["used"])
parts = pd.concat(parts, names=["used by"])
pd.testing.assert_series_equal(  # the parts are all facts
    parts[["usable", "gap_1", "gap_2"]].sum(axis=1),
    parts["usable"] * 0 + 1.0,
    check_names=False,
)
print(f"{parts['usable'].isna().sum()} relations without a used share")

# %% [markdown]
# ## Answers
#
# Means over relations, each counting alike, with intervals over other relations.

# %% covers=["XT-F1", "XT-F5", "XT-F7"] shows=["run", "shipped"]
long = parts.rename_axis(columns="part").stack().rename("share").reset_index()
table = stats.estimate(long, ["used by", "model", "part"], value="share")
said = table.assign(share=table.apply(stats.said, axis=1))
said.pivot(index=["used by", "model"], columns="part", values="share")

# %% [markdown]
# **Dose.** How often the text tells a fact decides whether it is known. Does it decide, too, whether a known fact is used?


# %%
def dose(frame: pd.DataFrame) -> pd.DataFrame:
    if not worlds.is_rich(of_facts):
        return frame.assign(told="all")
    its = told.loc[frame["fact"], ["state", "occurrences"]]
    n = np.where(its["occurrences"] >= often, f"{often} or more", "fewer")
    return frame.assign(told=np.where(its["state"] == "never", "never", n))


by_dose = {
    "known": dose(known).groupby(["model", "told"])["known"],
    "used": dose(used).groupby(["model", "told"])["tails"],
}
both = {what: of.agg(["mean", "size"]) for what, of in by_dose.items()}
pd.concat(both, axis=1).round(3)

# %% [markdown]
# ## Figure
#
# {numref}`fig-gaps-models`, at the top.

# %% tags=["hide-input"]
order = ["usable", "gap_2", "gap_1"]
ours = table[table["used by"] == "tails"].pivot_table(
    "estimate", "model", "part", sort=False
)[order]
printed = papers.table("xtra_tableB11_scaling_gaps")
printed["model"] = printed["family"] + " " + printed["params"]
theirs = printed.pivot_table("mean", "model", "quantity", sort=False)[order]
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, frame, title in [
    (axes[0], ours.rename(index=figures.called), "ours"),
    (axes[1], theirs, "printed"),
]:
    left = np.zeros(len(frame))
    for part, shade in zip(order, ["0.25", "0.6", "0.85"], strict=True):
        ax.barh(frame.index, frame[part], left=left, color=shade, label=part)
        left += frame[part].to_numpy()
    ax.set(title=title, xlabel="share of facts", xlim=(0, 1))
    ax.set_ylim(max(len(ours), len(theirs)) - 0.5, -0.5)  # equal bars
axes[0].legend(
    ["known and used", "known, not used", "not known"], loc="lower right"
)
shown = pd.concat([ours, theirs], keys=["ours", "printed"]).reset_index(
    names=["of", "model"]
)
figures.place(figure, "fig-gaps-models", shown)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Not comparable: models, facts and what counts as used differ. Printed in Table B.11 and, by the formula above, from the accuracies of Table B.10: the printed
# second gap is 14 to 19 % smaller (Q7). OPT of 125 million stands in two tables with two numbers (Q8).

# %% covers=["XT-TB8", "XT-TB10", "XT-TB11", "XT-TA4"] shows=["run", "shipped"]
scaling = papers.table("xtra_tableB10_scaling")
scaling = scaling.pivot_table(
    "mean", ["family", "params"], "metric", sort=False
)
wide = printed.pivot_table("mean", ["family", "params"], "quantity", sort=False)
known_, used_ = (
    scaling[f"{of}_accuracy"] for of in ("knowledge_extraction", "downstream")
)
minutes = papers.table("xtra_tableA4_compute").pivot_table(
    "minutes_per_run", ["family", "params"], "stage", sort=False
)
wide.assign(by_formula=known_ * (1 - used_)).join(minutes).round(3)

# %%
papers.table("xtra_tableB8_gaps").pivot(
    index="model", columns="quantity", values="mean"
)

# %% [markdown]
# **Claims**, decided on `lab:rich-2`, in one world: the larger model minus the smaller, in each relation.

# %%
large, small = "lab:rich-2/2m", "lab:rich-2/0.7m"
tested = {}
soft = 1 - known.groupby(by)["soft"].mean()  # as in the paper
for claim, part in {
    "XT-first-gap-smaller": soft,
    "XT-second-gap-same": parts.loc["tails", "gap_2"],
}.items():
    if {large, small} <= {*part.index.get_level_values("model")}:
        gap = (part[large] - part[small]).dropna().rename("gap")
        tested[claim] = stats.estimate(
            gap.reset_index(), value="gap", bounds=None
        )
verdicts = answers.verdicts(tested)
verdicts[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
main = ours.iloc[0]
figures.sentence({"Of all facts": np.isclose(main.sum(), 1)})
row = table.query("`used by` == 'tails' and part == 'usable'").iloc[0]
assert row["model"] == ours.index[0], "the first model's"
figures.findings(
    name_shown=figures.called(ours.index[0]),
    effect=f"{stats.said(row, percent=True)} known and used",
    asked=figures.called(ours.index[0]),
    usable=f"{100 * main['usable']:.0f}",
    second=f"{100 * main['gap_2']:.0f}",
    first=f"{100 * main['gap_1']:.0f}",
)
note = f"{len(known):,} facts, {len(used):,} rankings"
figures.note("carried", f"{note} of a longer run." if sources else f"{note}.")

# %% [markdown]
# ## What you have seen
#
# - Two shares, known and used, make three parts of all facts; a gap is large or small of these.
# - Which gap is larger depends on what counts as known, and on what counts as used: look at both.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-gaps-known
# Were only facts that soft prompts find known, as in the paper, how would the first gap change, and by how much?
# ```

# %% [markdown]
# ````{solution-start} ex-gaps-known
# :class: dropdown
# ````

# %%
ways = known.groupby(by)[["soft", "template", "known"]].mean()
1 - ways.groupby("model").mean().round(3)

# %% [markdown]
# ````{solution-end}
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance()
