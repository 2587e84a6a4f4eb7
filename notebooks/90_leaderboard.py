# %% [markdown]
# # Which way of asking shows what a model knows?
#
# **If a hint gives the object away, no method tested in all three worlds puts a stated fact above a never stated one more than {glue:text}`best:.0%` of the
# time; without hints IC-LKE does in {glue:text}`iclke:.0%`.**
#
# ```{glue:figure} fig-ways
# :name: fig-ways
# :alt: Two panels with a row for each way of asking, and in it a mark with an interval for facts without a hint and one for facts with a right hint. Left: AUROC. Right: false positives.
#
# A hint costs every method that looks at the object; KL and the change of entropy are no better than a coin even without one, or worse. Left: how often a stated fact is above a
# never stated one; dotted: a coin. Right: the share of never stated facts that count as known if half of the stated ones do. Lines: 95 % over
# worlds, or over facts for a method tested in one world.
# ```
#
# Each paper of this book has its own method, its own models and its own facts, and none knows what its models have read. Here all methods
# ask the same small models about the same facts, and we have the list of stated facts. With intervals: IC-LKE without hints {glue:text}`between_iclke`, KL
# {glue:text}`between_kl`, the best method with a hint {glue:text}`between_best`.
#
# This page runs no model. It reads the answers of other pages; a model in the box above is one of the table of real models.

# %% [markdown]
# ## What the papers claim
#
# {cite:t}`wu2024iclke` show pairs, take the share of right answers as a model's knowledge, and order 49 models by it. {cite:t}`pezeshkpour2023measuring`
# gives the fact in the prompt: the better the model knew it, the less its answer should change. {cite:t}`kazemnejad2023measuring` learn prompts, and count a fact
# as known if they bring it out. {cite:t}`zhao2024belief` ask in many wordings.
#
# {cite:t}`dong2023karr` divide the probability of the object by its probability by chance, over many templates. It has no row here: chance needs
# the object's probability for other subjects, which our answers do not keep ({doc}`related work <../related>`).

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
size: str = "2m"  # of the lab's models: the largest tested by all methods
often: int = 16  # statements from which a fact counts as stated often
sources: list[str] = [
    "atlas", "kamel", "kamel_formats", "trex", "sizes", "sizes_kamel",
]  # fmt: skip
# In results/, of the table of real models; runs of this profile join them.
seed: int = 0  # draws resamples

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, figures, papers, runs, stats, worlds
from lkecore.answers import rules

figures.style()

# %% [markdown]
# ## Facts
#
# Four relations of three {ref}`rich worlds <rich-worlds>` have hints ({page}`56_lab_fooled`): a company's city is in its name, say, or two teams in five
# have the same colour. A hint may be right, lie, or be missing. We take the facts stated sixteen times and more and their {term}`controls <control>`,
# never stated facts with the same objects and hints.

# %%
blanks = answers.results("56_lab_fooled-blanks")
key = ["world", "fact"]
asked = blanks[key].drop_duplicates()
told = [
    worlds.states(name).assign(world=name) for name in asked["world"].unique()
]
facts = asked.merge(pd.concat(told), on=key, validate="1:1")
hints = {"": "no hint", "right": "right hint", "lies": "lying hint"}
facts["hint"] = facts["cue_right"].map(hints)
facts["told"] = np.select(
    [facts["state"].eq("never"), facts["occurrences"].ge(often)],
    ["never", "often"],
    "else",
)
pd.crosstab(facts["world"], [facts["hint"], facts["told"]])

# %% [markdown]
# ## Prompts
#
# Each method has a page that shows its prompts: pairs ({page}`11_iclke_shots`), several questions among pairs ({page}`13_iclke_eic`), a sentence
# ({page}`13_iclke_estimators`), the fact in front of a blank ({page}`53_lab_entropy`), learned prompts ({page}`30_xtraeval_extraction`) and twenty
# wordings ({page}`40_belief_wording`).

# %% [markdown]
# ## Scores
#
# Each method gives a fact a `score`, higher for better known. Some methods also call a fact known if the answer is right (`right`). The facts are the same, with
# four exceptions. Numbers at a blank need an object that shares its first token with no other. EIC-LKE has a part of the facts, and eight options in place of a
# hundred. BELIEF's wordings have two fifths of the facts of world 1. XTRAEVAL's prompts have two of the three worlds.


# %%
def of(experiment: str, score: str, right: str = "", **only: str):
    """A score and a right answer a fact, of the model of one size a world."""
    found = answers.results(experiment)
    rows = found["model"].str.endswith(f"/{size}")
    for column, value in only.items():
        rows &= found[column] == value
    found = found[rows]
    if "merged" in found:
        found = found[~(found["merged"] | found["shared"]).astype(bool)]
    found = found.assign(
        world=found["model"].str.rpartition("/")[0],
        right=found.eval(right).astype(float) if right else float("nan"),
        score=found.eval(score).astype(float),
    )
    return found.groupby(key)[["score", "right"]].mean()


gold = "confidence_gold", "correct"
blank, lists = "56_lab_fooled-blanks", "56_lab_fooled"
moves = "-abs(entropy - entropy_after)"
soft = {"prompt": "soft", "part": "asked"}
ways = {
    "IC-LKE": of(lists, *gold, estimator="iclke-space"),
    "EIC-LKE": of("56_lab_fooled-eic", *gold, estimator="eiclke"),
    "a sentence": of(lists, *gold, estimator="template-1"),
    "surprisal": of(blank, "-surprisal"),
    "rank": of(blank, "-rank", "rank == 1"),
    "change of entropy": of(blank, moves),
    "KL-divergence": of(blank, "-kl"),
    "XTRAEVAL, learned prompts": of(
        "30_xtraeval_extraction", "logprob", "correct", **soft
    ),
    "BELIEF, many wordings": of("40_belief_wording", "chosen", "chosen"),
}
of_ways = pd.concat(ways, names=["way"]).reset_index()
of_ways = of_ways.merge(facts[[*key, "hint", "told"]], on=key)
of_ways = of_ways[of_ways["told"] != "else"]
counts = of_ways.groupby(["way", "told"], sort=False).size().unstack()
counts.assign(worlds=of_ways.groupby("way")["world"].nunique())

# %% [markdown]
# ## Answers
#
# The {term}`AUROC` of stated against never stated facts with the same kind of hint, and the *false positives*. These need a threshold of the score, and each paper
# has another one. So for each method we set it so that half of the often stated facts $t$ count as known, $m = \mathrm{median}(t)$, and count the never stated
# facts $n$ above it:
#
# $$\mathrm{AUROC} = P(t > n) + \tfrac{1}{2} P(t = n), \qquad \text{false} = P(n \ge m).$$


# %%
def numbers(told: np.ndarray, never: np.ndarray) -> tuple[float, float]:
    above = (told[:, None] > never).mean()
    above += (told[:, None] == never).mean() / 2
    return above, (never >= np.median(told)).mean()


AUROC, FALSE = "AUROC", "false positives"
rng, rows = np.random.default_rng(seed), {}
for name, part in of_ways.groupby(["way", "hint"], sort=False):
    sides = [
        [
            of.loc[of["told"] == t, "score"].to_numpy()
            for t in ("often", "never")
        ]
        for _, of in part.groupby("world")
    ]
    each = pd.DataFrame(
        [numbers(*pair) for pair in sides], columns=[AUROC, FALSE]
    )
    if len(each) > 1:
        each = each.rename_axis("world").melt(ignore_index=False)
        each = stats.estimate(
            each.reset_index(), ["variable"], value="value", over="world"
        ).set_index("variable")
    else:  # of one world: over its facts
        again = [
            numbers(*(rng.choice(side, len(side)) for side in sides[0]))
            for _ in range(1000)
        ]
        each = pd.DataFrame([each.iloc[0].to_list(), *again])
        each = stats.interval(each).set_axis([AUROC, FALSE])
    rows[name] = each
found = pd.concat(rows, names=["way", "hint", "what"]).drop(columns="n")
said = found.apply(stats.format_estimate, axis=1).unstack(["what", "hint"])
said[AUROC].loc[list(ways), list(hints.values())]

# %% [markdown]
# False positives at the same threshold:

# %%
said[FALSE].loc[list(ways), list(hints.values())]

# %% [markdown]
# **By right answers.** Most papers would call these facts known: the share of right answers, for facts stated often or never, without a hint and with
# a right one. If a hint gives the object away, never stated facts count as known as well, and here we chose no threshold.

# %%
right = of_ways[of_ways["right"].notna() & (of_ways["hint"] != "lying hint")]
right = right.groupby(["way", "world", "hint", "told"])["right"].mean()
right = right.groupby(["way", "hint", "told"]).mean().unstack(["hint", "told"])
right.reindex([way for way in ways if way in right.index]).round(2)

# %% [markdown]
# **Real models.** Nobody knows what these have read. So each accuracy, a mean over relations, has the best {term}`rule` without a
# model next to it. Runs of this profile with other questions than the shipped ones join the table.

# %%
relations = "10_iclke_relations"
every = answers.results(relations).query("source in @sources and draw == 0")
cues = answers.results(f"{relations}-cues").query("source in @sources")
if answers.on_page():  # over runs of page 10
    once = ["model", "estimator", "relation", "fact", "n_options"]
    mine = runs.load_runs("answers.parquet", ["fact_set"]).astype({"fact": str})
    ships = pd.MultiIndex.from_frame(every[once].astype({"fact": str}))
    mine = mine[~pd.MultiIndex.from_frame(mine[once]).isin(ships)]
    ruled = runs.load_runs("answers-cues.parquet", ["fact_set"])
    mine, ruled = (
        each.assign(source="this run: " + each["fact_set"])
        for each in (mine, ruled)
    )
    every = pd.concat([every, mine])
    cues = pd.concat([cues, ruled[ruled["source"].isin(mine["source"])]])
rule = cues.groupby(["source", "relation"])[list(rules.RULES)].mean()
at = rule.groupby("source").mean().idxmax(axis=1)
best_rule = pd.concat(
    {
        name: stats.estimate(rule.loc[[name]].reset_index(), value=best)
        for name, best in at.items()
    }
)
best_rule = best_rule.apply(
    stats.format_estimate, axis=1, percent=True
).droplevel(1)
formats = ["iclke-space", "iclke-newline", "iclke-colon"]
every = every[every["estimator"].isin(formats)]
who = ["source", "model"]
board = stats.estimate(every, [*who, "estimator"])
runs.save(board, "board.csv")
table = stats.table(board, who, "estimator", percent=True).fillna("")
table = table.reset_index(level="model")
table.insert(0, "best rule", best_rule.reindex(table.index))
table.insert(0, "relations", every.groupby("source")["relation"].nunique())
table["model"] = table["model"].map(figures.display_name)
table = table.rename(columns=figures.display_name)
table.rename(figures.display_name).reset_index()

# %% [markdown]
# Compare rows of the same set of facts only. An accuracy no higher than the rule's is no evidence of knowledge
# ({page}`18_iclke_stands`), and the format of the question can change a number more than the choice of the model ({page}`14_iclke_separators`).

# %% [markdown]
# ## Figures
#
# In {numref}`fig-ways`, at the top, follow a row from one mark to the other. All methods that look at the object fall: the model uses the hint, however
# we ask. Do not compare the last two methods with the others: they were tested in fewer
# worlds, BELIEF's wordings on few facts.

# %% tags=["hide-input"]
marks = found.reset_index().query("hint != 'lying hint'")
marks = marks.sort_values(["what", "hint"], kind="stable")
look = {"panel": "what", "x": "way", "hue": "hint", "across": True}
grid = figures.marks(marks, **look, label="share", height=4.2)
grid.axes_dict[AUROC].axvline(0.5, color="grey", ls=":")
figures.glue_figure(grid.figure, "fig-ways", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper's 49 models have other facts, T-REx-MC, and so are not in our table ({page}`10_iclke_relations` compares). The meaning of their names
# (Table 6); `note` marks links of the paper that lead to another model.

# %% covers=["IC-T6"] tags=["hide-output"]
meaning = papers.table("iclke_table6_model_names").fillna("")
answers.html_table(
    meaning[["original_name", "model", "base_model", "hf_id", "note"]]
)

# %% [markdown]
# **Claims.** Each is tested on the page of its paper, the claims on hints on {page}`56_lab_fooled`.

# %% tags=["hide-input", "page-only"]
auroc = found.xs(AUROC, level="what")
none, hint = (auroc.xs(h, level="hint") for h in ("no hint", "right hint"))
in_all = of_ways.groupby("way")["world"].nunique() == 3
best = hint.loc[hint.loc[in_all[in_all].index, "estimate"].idxmax()]
looks = [
    way for way in ways if way not in ("change of entropy", "KL-divergence")
]
moved = none.loc[["change of entropy", "KL-divergence"], "estimate"]
costs = hint.reindex(looks)["estimate"] < none.reindex(looks)["estimate"]
holds = {
    "no method more": best["estimate"] < none.loc["IC-LKE", "estimate"],
    "costs every method": costs.all(),
    "find nothing even without one": moved.max() < 0.5,
    "distinguish stated facts": (none.reindex(looks)["low"] > 0.5).all(),
}
figures.sentence(holds)
figures.glue_values(
    iclke=none.loc["IC-LKE", "estimate"],
    best=best["estimate"],
    between_iclke=stats.format_estimate(none.loc["IC-LKE"], percent=True),
    between_kl=stats.format_estimate(none.loc["KL-divergence"], percent=True),
    between_best=stats.format_estimate(best, percent=True),
    effect=f"{stats.format_estimate(best, percent=True)} with a hint, "
    f"{stats.format_estimate(none.loc['IC-LKE'], percent=True)} without",
    asked=f"lab {size.upper()}, three worlds",
)

# %% [markdown]
# A warning. These models are small, and the names of their worlds far more regular than real ones. Small differences between methods may not carry over. Two
# results should: the same hints fool all methods that look at the object, and the change of an answer says little about knowledge.
#
# ## What you have seen
#
# - Without hints, all methods that look at the object distinguish stated from never stated facts, some better than others.
# - The change of an answer when the prompt gives the fact does not say whether the model knew it.
# - With hints, trust no method: compare each number with a rule without a model.
#
# **Counted again**, in plain Python: IC-LKE without hints.

# %%
again = []
for world in facts["world"].unique():
    score = ways["IC-LKE"].loc[world]["score"].to_dict()
    its = facts[(facts["world"] == world) & (facts["hint"] == "no hint")]
    t, n = (
        [score[fact] for fact in its.loc[its["told"] == side, "fact"]]
        for side in ("often", "never")
    )
    wins = sum((a > b) + (a == b) / 2 for a in t for b in n)
    again.append(wins / len(t) / len(n))
row = found.loc[("IC-LKE", "no hint", AUROC), "estimate"]
assert abs(sum(again) / len(again) - row) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-ways-two
# Are two methods better than one? Call a fact known if IC-LKE *and* the sentence have it right. How many never stated facts with a right hint remain, and how
# many stated ones?
# ```

# %% [markdown]
# ````{solution-start} ex-ways-two
# :class: dropdown
# ````

# %%
two = [ways[name]["right"] for name in ("IC-LKE", "a sentence")]
two = pd.concat([*two, two[0] * two[1]], axis=1)
two = two.set_axis(["IC-LKE", "a sentence", "both"], axis=1).reset_index()
two = two.merge(facts[[*key, "hint", "told"]], on=key)
two.query("told != 'else'").groupby(["hint", "told"])[
    ["IC-LKE", "a sentence", "both"]
].mean().round(2)

# %% [markdown]
# Asking twice removes luck, and it removes stated facts as well. It does not help against a hint that both methods see.
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-board-own
# Put a model of your own into the table of real models.
# ```
#
# ````{solution} ex-board-own
# :class: dropdown
#
# Put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml` and `lke book params/mine.yaml`. With `each`, every model has a run of its own. With
# `reads`, this page has no run, and reads theirs:
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 10_iclke_relations
#     each: [models]
#     parameters:
#       models: [smollm2, /path/to/a/model, org/name]
#       relations: [capital, country_of_city, film_language]
#       n_facts: 100
#   - notebook: 90_leaderboard
#     reads: [10_iclke_relations]
# ```
# ````
