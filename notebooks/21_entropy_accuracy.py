# %% [markdown]
# # Which measure shows how much of a fact was taught?
#
# **After a lesson, surprisal orders facts by how much of each was taught better than KL-divergence does, in every model:
# {glue:text}`surprisal:.0%` against {glue:text}`kl:.0%` of pairs for {glue:text}`name_model`, {glue:text}`lab_surprisal:.0%` against
# {glue:text}`lab_kl:.0%` for {glue:text}`name_lab`.**
#
# ```{glue:figure} fig-groups
# :name: fig-groups
# :alt: A row for each model with marks and intervals for four measures, the share of pairs in the right order, and a dotted line at one half.
#
# In each row surprisal is farthest to the right. The share of pairs of facts that a measure puts in the right order after the lessons, ties counted
# half. Lines: 95 % intervals over groups of facts, or over worlds of the lab. Dotted: no order at all.
# ```
#
# Teach a model that *Zara was born in the city of Oslo*. Teach it less about somebody else, *Remo in the city of Rome*, and less still about a third
# person, *Lena Bern*. A good measure of knowledge should put the three into this order. This is the second paper's own test, and the source of its main
# numbers. With intervals, {glue:text}`name_model`: surprisal {glue:text}`between_surprisal`, KL {glue:text}`between_kl`. {glue:text}`name_lab`:
# {glue:text}`between_lab_surprisal` and {glue:text}`between_lab_kl`.

# %% [markdown]
# ## What the paper claims
#
# In Section 5.1 {cite:t}`pezeshkpour2023measuring` takes facts that BERT and T5 do not know, puts them into groups of five, and takes away more and
# more words of their sentences. The models are fine-tuned on what is left, and asked with the whole sentences. The {term}`KL-divergence` is right in
# 74.5 % and 67.8 % of pairs, the change of entropy in 72.2 % and 66.4 %, the rank in 51.6 % and 30.9 % (its Table 1). A rank that is right in 31 % of
# pairs is worse than a coin, so ties must have counted as wrong. The paper does not say how long it teaches, or whether the prompt states the fact
# before the lesson or after it.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/0.7m"]  # of the lab, or of any kind
relations: list[str] = [
    "birthplace", "citizenship", "company_language", "mother_tongue",
]  # fmt: skip
# Their templates have three words or more beside subject and object.
fact_set: str = ""  # empty: the world of the lab that a model has read
templates: str = ""  # a table of templates, for a fact set without any
n_facts: int = 100  # facts of a relation of the fact set, at most
template: str = "template-1"
n_groups: int = 20  # groups of five facts in each relation, at most
badly: int = 10  # a fact whose object has a rank above this is not known
optimizer: str = "sgd"  # sgd or adamw
rate: float = 0.01  # learning rate
passes: int = 10  # over all that is taught of a relation
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws groups, the order of the lessons, and resamples
dtype: str = "float32"  # half precision rounds a lesson away

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from lkecore import answers, facts, figures, papers, prompts, stats
from lkecore.answers import first_tokens, rich
from lkecore.answers.questions import digests
from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn
from lkecore.models import Model
from lkecore.models import lab as models_of_lab
from lkecore.prompts.instilled import full
from lkecore.scores import blanks
from lkecore.tasks import instill

figures.style()

# %% [markdown]
# ## Facts
#
# Facts of a {ref}`rich world <rich-worlds>` of the lab that its text never states. Their object has a rank above ten, as in the paper, and shares its
# first token with no other object. With `fact_set` they are real facts: the two real models learn LAMA's, up to three groups of each of thirty relations.

# %%
left_out = {}
if fact_set:
    size = {"n_shots": 0, "n_facts": n_facts, "n_options": 2}
    some = {"allow_fewer": True, "leave_out": True, "seed": seed}
    drawn = facts.draw(fact_set, relations, **size, **some)
    if templates:
        causal = answers.any_causal(models, dtype=dtype)
        drawn, left_out = prompts.with_templates_of(
            drawn, templates, causal=causal
        )
    samples = {fact_set: drawn}
else:
    samples = rich.samples(
        models,
        relations,
        lambda states: states["state"].eq("never"),
        n_shots=1,
        seed=seed,
        leave_out=True,
    )
left_out = first_tokens.without(relations, samples) | left_out


def own_words(text: str) -> list[str]:
    """The words of a template beside its subject and object."""
    return [w for w in text.split() if "[X]" not in w and "[Y]" not in w]


def template_of(of: Drawn) -> str:
    return prompts.templates_of(of.relation).get(template, "")


for world, sample in samples.items():
    n = {name: len(own_words(template_of(of))) for name, of in sample.items()}
    short = "has {} words beside subject and object, and 3 are needed"
    left_out |= {name: short.format(n[name]) for name in n if n[name] < 3}
    samples[world] = {name: sample[name] for name in n if n[name] >= 3}
    for name, of in samples[world].items():
        example = of.facts[0].subject
        print(f"{name:17} {len(of.facts)} facts, such as {example}")
for name, why in left_out.items():
    print(f"{name}: left out, {why}")
sample = next(iter(samples.values()))
if not sample:
    raise BadInput(f"nothing is asked: {next(iter(left_out.values()))}")

# %% [markdown]
# ## Prompts
#
# A group has five facts. The first is taught with all its words, the next three with fewer and fewer, and the fifth is not taught. Words are
# removed from the left.


# %% covers=["PZ-D5"]
SHARES = (0, 1 / 3, 2 / 3, 1)  # of the words, that are taken away


def shortened(text: str, share: float) -> str:
    """A template without a share of its words, from the left."""
    words, own = text.split(), own_words(text)
    for word in own[: int(share * len(own) + 0.5)]:
        words.remove(word)
    return " ".join(words)


whole = template_of(next(iter(sample.values())))
for share in SHARES:
    print(f"without {share:4.0%} of its words: {shortened(whole, share)}")
print("not taught")

# %% [markdown]
# ## Scores
#
# All groups of a relation are taught together, word by word of their objects. Then every fact is asked with its whole sentence, by itself and after a
# statement of the fact. Then the weights are put back. Rate and passes were chosen on other facts. In the lab they are the fewest passes after which nine
# in ten of the fully taught objects come first. {term}`KL back <KL-divergence>` runs in the opposite direction.


# %%
KEPT = ["entropy", "entropy_after", "kl", "kl_back", "rank", "surprisal"]


def teach(lm: Model, asked: list[prompts.Instilled], of: Drawn) -> pd.DataFrame:
    """A row for each fact of a relation's groups, before and after."""
    before = blanks.shifts(lm, asked)
    shared = first_tokens.shares_first_token(
        lm, [each.asked for each in asked], of
    )
    unknown = before["rank"].gt(badly) & ~before["merged"].astype(bool)
    places = np.flatnonzero(unknown & ~np.array(shared))
    places = np.random.default_rng(seed).permutation(places)
    places = places[: 5 * min(n_groups, len(places) // 5)]
    if not len(places):
        return pd.DataFrame()
    lessons = []
    for level, share in enumerate(SHARES):
        words = shortened(template_of(of), share)
        words = words if lm.kind == "causal" else full(words)
        own = [(of.facts[i], of.options[i]) for i in places[level::5]]
        lessons += prompts.template(words, *zip(*own, strict=True))
    some = [asked[i] for i in places]
    after = instill.shifts_all(lm, lessons, some, recipe, seed=seed)
    nth = np.arange(len(places))
    about = {"group": nth // 5, "level": nth % 5}
    about |= {"fact": [each.fact for each in some]}
    sides = {"before": before.iloc[places], "after": after}
    parts = [
        side[KEPT].assign(**about, when=when) for when, side in sides.items()
    ]
    [question] = digests([each.told.context for each in asked])
    return pd.concat(parts, ignore_index=True).assign(question=question)


def teach_all() -> pd.DataFrame:
    lms = {name: answers.opened(name, dtype) for name in models}
    for lm in lms.values():
        instill.check(lm, recipe)
    parts = {}
    for name, lm in lms.items():
        world = fact_set or models_of_lab.parse(name).world
        questions = prompts.instilled_of_sample(
            to_teach[world], [template], closed=lm.kind != "causal"
        )
        for (_, _, relation), asked in questions.items():
            of = to_teach[world][relation]
            parts[name, world, lesson, relation] = teach(lm, asked, of)
    parts = {key: rows for key, rows in parts.items() if len(rows)}
    if not parts:
        raise BadInput(f"no five facts of a relation have a rank above {badly}")
    names = ["model", "world", "lesson", "relation"]
    return (
        pd.concat(parts, names=names).reset_index(names).reset_index(drop=True)
    )


this = "21_entropy_accuracy"
recipe = instill.Recipe(passes, rate, optimizer)
lesson = f"{optimizer} {rate:g}, {passes} passes"
to_teach = samples
if sources:  # one relation is taught again
    to_teach = {world: dict([*of.items()][:1]) for world, of in samples.items()}
ours = answers.once(teach_all, "answers.parquet")
for name in sorted(set(next(iter(to_teach.values()))) - set(ours["relation"])):
    print(f"{name}: left out, too few unknown facts")
rows, _ = answers.shown(
    this, ours, sources, dtype=dtype, columns=["entropy"], least=0.9
)
answers.columns(rows)

# %% [markdown]
# ## Answers
#
# Let $v_i$ be the value of a measure for fact $i$ of a group, the most taught first. The share of a group's ten pairs in the right order is
#
# $$\frac{1}{10} \sum_{i < j} \left( [v_i < v_j] + \tfrac{1}{2} [v_i = v_j] \right).$$
#
# One half is no order. The paper does not say whether the change of entropy orders facts by its size or with its sign. By its size, the fact whose
# answer moves least is the best known; with its sign, the one that leaves the answer less sure than before.

# %%
from itertools import combinations

signed = rows["entropy"] - rows["entropy_after"]
rows = rows.assign(change=signed.abs(), signed=signed)
names = {
    "rank": "rank", "surprisal": "surprisal", "entropy": "entropy",
    "change": "change of entropy", "signed": "signed change",
    "kl": "KL", "kl_back": "KL back",
}  # fmt: skip
group = ["source", "model", "when", "world", "relation", "group"]


def in_order(measure: str, tie: float) -> pd.Series:
    """The formula above for each group; a tie counts `tie`."""
    v = rows.pivot(index=group, columns="level", values=measure)
    pairs = list(combinations(sorted(v), 2))
    right = sum((v[i] < v[j]) + tie * (v[i] == v[j]) for i, j in pairs)
    return right / len(pairs)


orders = pd.concat(
    {name: in_order(each, 0.5) for each, name in names.items()},
    names=["measure"],
)
orders = orders.rename("right").reset_index()
strict = pd.concat(
    {name: in_order(each, 0.0) for each, name in names.items()},
    names=["measure"],
).rename("right")

# %% [markdown]
# Real models have an interval over groups (bootstrap). In the lab each size was asked in three worlds, each with its own text and training, so the
# interval is over worlds.

# %% covers=["PZ-M1", "PZ-T1", "PZ-D1"] needs={"PZ-D1": {"templates": "trex_templates"}} shows=["run", "shipped"]
lab = orders["model"].str.startswith("lab:")
orders["kind"] = orders["model"].map(figures.display_name)
size = orders["model"].str.partition("/")[2].str.replace("m", "M")
orders.loc[lab, "kind"] = "lab " + size[lab].replace(
    {"bert": "BERT", "t5": "T5"}
)
by = ["kind", "when", "measure"]
# All groups of a model are one list, whatever their relation.
listed = orders.assign(fact=orders.groupby(by).cumcount(), relation="all")
alone = orders.groupby("kind")["world"].transform("nunique") < 2
parts = [stats.estimate(listed[alone], by, value="right", over="fact")]
worlds = orders[~alone].groupby([*by, "world"])["right"].mean().reset_index()
if len(worlds):
    parts.append(stats.estimate(worlds, by, value="right", over="world"))
found = pd.concat(parts).reset_index(drop=True)
after = found[found["when"] == "after"]
stats.table(after, "measure", "kind").loc[names.values()]

# %% [markdown]
# **As the paper counts**, in our reading: a tie is wrong. The last two columns are its Table 1. A rank then does worse than KL in models that put
# several objects of a group first.

# %%
table = papers.table("pez_table1_metric_accuracy")
table = table.pivot(index="metric", columns="model", values="accuracy_pct")
named = {"ranking": "rank", "entropy": "change of entropy"}
table = table.rename(index=named | {"kl_divergence": "KL"}) / 100
taught = strict.reset_index().query("when == 'after'")
kinds = orders.drop_duplicates("model").set_index("model")["kind"]
taught["kind"] = taught["model"].map(kinds)
own = taught.groupby(["measure", "kind"])["right"].mean().unstack()
own.loc[names.values()].join(table).round(2)

# %% [markdown]
# **Was it learned?** The share of objects that come first after the lessons, by how much of the sentence was taught. If it is low even in the first
# column, the lesson was too short, and there is less to put in order. Beside it are the medians of KL before and after, in nats: a lesson can make a
# model deaf to its prompt.

# %%
rows["kind"] = rows["model"].map(kinds)
first = rows[rows["when"] == "after"].assign(first=lambda f: f["rank"] == 1)
first = first.pivot_table("first", "kind", "level")
moves = rows.groupby(["kind", "when"])["kl"].median().unstack()
first.join(moves.add_prefix("KL ")).round(2)

# %% [markdown]
# ## Figures
#
# In {numref}`fig-groups`, at the top, compare surprisal with KL in each row, and both with the rank.

# %% tags=["hide-input"]
shown = ["surprisal", "rank", "KL", "change of entropy"]
marks = after[after["measure"].isin(shown)].copy()
marks = marks.sort_values(
    "measure", key=lambda s: s.map(shown.index), kind="stable"
)
look = {"label": "pairs in the right order", "height": 4, "aspect": 1.4}
grid = figures.marks(marks, x="kind", hue="measure", across=True, **look)
grid.axes.flat[0].axvline(0.5, color="grey", ls=":")
figures.glue_figure(grid.figure, "fig-groups", marks)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** The paper's Table 1 is shown with ours above. Models, facts and lessons differ, so no number can be reproduced. **Claims.** The paper's
# claims are tested on a real model, over groups, and we check that nothing is in order before the lessons. Our claims on the lab are tested over worlds.


# %%
def tested(kind: str, over: str) -> dict[str, pd.DataFrame]:
    """KL minus one half and minus other measures, one row each."""
    some = listed[listed["kind"] == kind]
    keys = ["when", "world", "relation", "group", "fact"]
    some = some.assign(fact=some.groupby(["when", "measure"]).cumcount())
    wide = some.pivot(index=keys, columns="measure", values="right")
    at = wide.xs("after", level="when")
    gaps = {
        "finds": at["KL"] - 0.5,
        "rank": at["KL"] - at["rank"],
        "entropy": at["KL"] - at["change of entropy"],
        "surprisal": at["KL"] - at["surprisal"],
        "before": wide.xs("before", level="when")["KL"] - 0.5,
    }
    made = {}
    for name, gap in gaps.items():
        frame = gap.rename("gap").reset_index().assign(relation="all")
        if over == "world":
            frame = frame.groupby("world")["gap"].mean().reset_index()
        made[name] = stats.estimate(frame, value="gap", over=over, bounds=None)
    return made


claims = {}
real = [kind for kind in kinds.unique() if not kind.startswith("lab ")]
surer = after[after["measure"] == "surprisal"].set_index("kind")["estimate"]
model = surer[real].idxmax() if real else kinds.iloc[0]
decided = papers.claims("PZ").set_index("id").loc["PZ-groups-finds", "model"]
judged_kind = kinds.get(decided, model)  # the model that the claim names
if real:
    rows_of = tested(judged_kind, "fact")
    claims |= {f"PZ-groups-{k}": v for k, v in rows_of.items()}
lab_kind = "lab 2M" if "lab 2M" in set(kinds) else kinds.iloc[-1]
if lab_kind.startswith("lab "):
    rows_of = tested(lab_kind, "world")
    for name in ("finds", "rank", "surprisal"):
        claims[f"LAB-groups-{name}"] = rows_of[name]
own = {} if sources else {"decided_on": "this run", "model": ", ".join(models)}
judged = answers.verdicts({k: v.assign(**own) for k, v in claims.items()})
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
at = after.set_index(["kind", "measure"])
said = at.apply(stats.format_estimate, axis=1, percent=True)
wide = after.pivot(index="kind", columns="measure", values="estimate")
ends = after.pivot(index="kind", columns="measure", values=["low", "high"])
apart = ends["low", "surprisal"] > ends["high", "KL"]
holds = {
    "farthest right": (wide["surprisal"] >= wide.max(axis=1)).all(),
    "better than KL-divergence does, in every model": apart.all(),
}
figures.sentence(holds if sources else {})
figures.glue_values(
    name_model=model,
    name_lab=lab_kind,
    surprisal=at.loc[(model, "surprisal"), "estimate"],
    kl=at.loc[(model, "KL"), "estimate"],
    lab_surprisal=at.loc[(lab_kind, "surprisal"), "estimate"],
    lab_kl=at.loc[(lab_kind, "KL"), "estimate"],
    between_surprisal=said[model, "surprisal"],
    between_kl=said[model, "KL"],
    between_lab_surprisal=said[lab_kind, "surprisal"],
    between_lab_kl=said[lab_kind, "KL"],
)

# %% [markdown]
# A warning. A fact that was taught last and on purpose is known in another way than a fact that was read once among many things. {Page}`53_lab_entropy`
# compares the same measures with what the training text states, and there KL runs backwards.
#
# ## What you have seen
#
# - After a good lesson, a statement of the fact moves the answer less. So KL measures knowledge of facts that were just taught. For real facts it
#   hardly does, but only half of the fully taught objects come first there, so the lesson may be the reason.
# - The surprisal of the object, which needs no statement, is the better measure in all models.
# - How bad a rank looks depends on how ties are counted. With ties counted half, it does no worse than KL.
# - A measure that passes a test on drilled facts may fail on facts that were read.
#
# **Counted again**, in plain Python: KL of the first sentence.

# %%
values: dict[tuple, dict[int, float]] = {}
for row in rows.itertuples():
    if (row.kind, row.when) == (model, "after"):
        of = values.setdefault((row.world, row.relation, row.group), {})
        of[row.level] = row.kl
right = [
    of[i] < of[j] for of in values.values() for i, j in combinations(of, 2)
]
ties = [
    of[i] == of[j] for of in values.values() for i, j in combinations(of, 2)
]
share = (sum(right) + sum(ties) / 2) / len(right)
again = after.set_index(["kind", "measure"]).loc[(model, "KL"), "estimate"]
assert real == [] or abs(share - again) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-groups-neighbours
# Pairs of neighbours are harder than the first against the last. How often is the surprisal of a fully taught fact smaller than the surprisal of a fact
# taught with fewer words? Count level by level.
# ```

# %% [markdown]
# ````{solution-start} ex-groups-neighbours
# :class: dropdown
# ````

# %%
wide = rows[rows["when"] == "after"].pivot(
    index=["kind", "world", "relation", "group"],
    columns="level",
    values="surprisal",
)
wide[sorted(wide)[1:]].gt(wide[0], axis=0).groupby("kind").mean().round(2)

# %% [markdown]
# After a lesson that worked, the more was taught, the less surprising is the object. Try fewer passes: set `passes` in a params file of your own, and
# see which measure notices first.
#
# ````{solution-end}
# ````
