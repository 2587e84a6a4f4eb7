# %% [markdown]
# # Does a judge of facts in texts have to read?
#
# **A judge that reads the text judges {glue:text}`judge:.0%` of pairs rightly, one that sees the fact alone {glue:text}`alone:.0%`; the first finds
# {glue:text}`found:.0%` of the facts that a model left out.**
#
# ```{glue:figure} fig-judge-classes
# :name: fig-judge-classes
# :alt: Two panels, pairs as the paper makes them and pairs of what a model wrote; in each a row for all pairs and for each class, and a mark for each judge.
#
# On the left the two trained judges are alike in every row, and a rule of two lines is right on about nine of ten pairs. On the right the same rule is right on
# less than a quarter: it never says that a fact didn't appear, and the trained judges hardly ever do. Lines: 95 % over subjects.
# ```
#
# To count hallucinations one often trains a classifier to read texts. It learns from pairs of a fact and a text that somebody made, so that their class is known:
# put another object into the fact, and the fact no longer fits the text. Here we can read every text exactly, so we can judge the judge. Ours is small, and its
# training is short; a larger one may learn to read.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` (Section 4.3 and Table 2) trains RoBERTa on pairs made in this way, and 90.4 % of its answers on held-out pairs are right.
# Three people also read paragraphs that models wrote, and say what became of some facts: the classifier agrees with them in 81 to 100 % of a class.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/bert"]  # the judges; each names its world
writer: str = "lab:rich-1/2m"  # the model that wrote the judged texts
ways: list[str] = ["judge", "fact alone"]  # also: lower rate
n_train: int = 5000  # pairs
n_test: int = 1000  # pairs, and as many that choose the best step
n_documents: int = 22000  # paragraphs of the world from which pairs are made
rate: float = 5e-4  # its highest learning rate
steps: int = 320
batch: int = 32
every: int = 40  # steps from one validation to the next
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws pairs, batches, heads and resamples
dtype: str = "float32"

# %% tags=["hide-input"]
import dataclasses
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from lkecore import answers, figures, papers, stats
from lkecore.answers import lab
from lkecore.errors import BadInput
from lkecore.train import cross_encoder
from lkecore.train.finetune import Recipe, finetune
from lkecore.worlds import states, text, wordings, written
from lkecore.worlds.world import world as made

figures.style()

# %% [markdown]
# ## Facts
#
# **Texts that a model wrote** are those of {page}`24_entropy_written`. We take every fact of their subjects that has one object. The templates of the world
# say what became of it: the text has its object (*appeared*), or only other objects (*hallucinated*), or none (*didn't appear*).

# %%
[world, *others] = lab.worlds([writer, *models])
if others:
    raise BadInput(f"models: {others[0]} is another world than the writer's")
right, wrong, unsaid = written.LABELS
classes = {"all": "all", unsaid: "didn't appear", right: right, wrong: wrong}
columns = ["relation", "subject", "object"]


def said_in(texts: list[str]) -> pd.DataFrame:
    said = written.read(world, texts).query("relation != ''")
    return said.assign(text=said["text"].map(dict(enumerate(texts))))


wrote = answers.results("24_entropy_written-written")
wrote = wrote[wrote["model"].eq(writer)].set_index("fact")["text"]
if wrote.empty:
    raise BadInput(f"writer {writer!r}: none of its texts ship")
wrote = wrote.index + wrote  # by subject
asked = states(world).query("split == 'test' and n_objects == 1")
asked = asked[asked["subject"].isin(wrote.index)][["fact", *columns]]
if sources:  # a few, to be read again
    asked = asked.sample(60, random_state=seed)
asked = asked.assign(text=asked["subject"].map(wrote), part="written")
of = ["text", "relation", "subject"]
said = said_in([*asked["text"].unique()]).groupby(of)["object"].agg(set)
said = asked[of].join(said.rename("said"), on=of)["said"]
asked["label"] = [
    unsaid if of is np.nan else right if name in of else wrong
    for name, of in zip(asked["object"], said, strict=True)
]
asked["label"].replace(classes).value_counts()

# %% [markdown]
# **Pairs as the paper makes them** come from paragraphs of the world's own text. A pair has a fact that the paragraph states (*appeared*), or the same with an
# object of another fact about the subject (*didn't appear*), or the same with another object of the relation (*hallucinated*; the paper says "appeared
# incorrectly"). The judge learns from subjects on which the model did not write.


# %%
def as_printed() -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    texts = [d.text for d in text.told(made(world)) if d.kind == "paragraph"]
    texts = [texts[i] for i in draw.permutation(len(texts))[:n_documents]]
    rows = said_in(texts).drop_duplicates(["text", *columns])
    rows["label"] = draw.choice(written.LABELS, len(rows))
    own = states(world).groupby("subject")["object"].agg(set)
    other = {wrong: (made(world).objects, "relation"), unsaid: (own, "subject")}
    for label, (names, by) in other.items():
        some = rows["label"] == label
        rows.loc[some, "object"] = [
            draw.choice(sorted({*names[key]} - {name}) or [""])
            for key, name in rows.loc[some, [by, "object"]].to_numpy()
        ]
    # A subject of one fact has no other.
    rows = rows[rows["object"] != ""].copy()
    learned = rows["subject"][~rows["subject"].isin(wrote.index)].unique()
    valid = rows["subject"].isin(learned[: len(learned) // 6])
    part = np.where(valid, "valid", "train")
    part = np.where(rows["subject"].isin(learned), part, "printed")
    sizes = {"train": n_train, "valid": n_test, "printed": n_test}
    for name, n in sizes.items():
        if (there := (part == name).sum()) < n:
            raise BadInput(f"{there} pairs to {name}, and {n} are asked for")
    rows["part"] = part
    rows = pd.concat(rows[part == key].head(n) for key, n in sizes.items())
    return rows.assign(fact=[f"pair-{i}" for i in range(len(rows))])


# %% [markdown]
# ## Prompts
#
# A judge reads the fact as a sentence, then the text.


# %%
def question(row: pd.Series) -> str:
    template = wordings.about(row["relation"]).templates[0]
    filled = template.replace("[X]", row["subject"])
    return filled.replace("[Y]", row["object"]) + "."


few = asked.head(3).assign(fact=asked.apply(question, axis=1))
answers.html_table(few[["fact", "text", "label"]].replace(classes))

# %% [markdown]
# ## Scores
#
# **Two rules** learn nothing. *Two lines*: if the text has the object, the fact appeared; if it does not, and the object is one of the relation, the fact is
# hallucinated; else it didn't appear. *Never reads*: the fact appeared if the object is one of the relation; else it didn't appear.


# %%
def ruled(pairs: pd.DataFrame) -> dict[str, np.ndarray]:
    aliases, objects = made(world).aliases, made(world).objects
    alias = dict(zip(aliases["name"], aliases["alias"], strict=True))
    of = pairs[["relation", "object", "text"]].to_numpy()
    there = [
        name in text or alias.get(name, name) in text for _, name, text in of
    ]
    fits = [name in objects[relation] for relation, name, _ in of]
    return {
        "two lines": np.where(there, right, np.where(fits, wrong, unsaid)),
        "never reads": np.where(fits, right, unsaid),
    }


# %% [markdown]
# **The judge** is a lab model with three new outputs at the first token (of a decoder, at the last token). Cross-entropy trains all of it, and other pairs choose
# the best step. A second judge sees the fact alone, before a full stop. A third one trains at a third of the rate.


# %%
def judged(name: str, way: str, pairs: pd.DataFrame) -> pd.DataFrame:
    own = rate / 3 if way == "lower rate" else rate
    recipe = Recipe(rate=own, steps=steps, batch=batch, every=every)
    lm = answers.opened(name, dtype)
    encoder = cross_encoder.fresh(lm, "value", seed)
    torch.manual_seed(seed)
    head = torch.nn.Linear(encoder.head.in_features, 3)
    # What reads one output of a row gets all three of them.
    head = torch.nn.Sequential(head, torch.nn.Unflatten(1, (1, 3)))
    encoder = dataclasses.replace(encoder, head=head)
    texts = ["."] * len(pairs) if way == "fact alone" else pairs["text"]
    its = zip(pairs.apply(question, axis=1), texts, strict=True)
    rows = cross_encoder.encode(lm, [(fact, [text]) for fact, text in its])
    label = torch.tensor(pairs["label"].map(written.LABELS.index).to_numpy())
    at = pairs.groupby("part").indices

    def outputs(some: np.ndarray) -> torch.Tensor:
        return cross_encoder.similarities(encoder, [rows[i] for i in some])

    def loss(step: int) -> torch.Tensor:
        draw = np.random.default_rng([seed, step])
        some = draw.choice(at["train"], batch, replace=False)
        return torch.nn.functional.cross_entropy(outputs(some), label[some])

    def validate() -> float:
        right = outputs(at["valid"]).argmax(1) == label[at["valid"]]
        return right.float().mean().item()

    with tempfile.TemporaryDirectory() as folder:
        its = {"validate": validate, "what": f"{name}, {way}"}
        curve = finetune(
            encoder.parameters(), loss, recipe, Path(folder), **its
        )
    print(name, way, curve.validation)
    some = np.concatenate([at["printed"], at["written"]])
    with torch.no_grad():
        shares = outputs(some).softmax(1).numpy()
    says = np.array(written.LABELS)[shares.argmax(1)]
    its = {"says": says, "confidence": shares.max(1), "best": curve.best}
    return pairs.iloc[some].assign(model=name, estimator=way, **its)


def all_judges() -> pd.DataFrame:
    pairs = pd.concat([as_printed(), asked], ignore_index=True)
    own = pairs[pairs["part"].isin(["printed", "written"])]
    found = []
    for name in models:
        for rule, says in ruled(own).items():
            found.append(own.assign(says=says, model=name, estimator=rule))
        found += [judged(name, way, pairs) for way in ways]
    found = pd.concat(found, ignore_index=True).assign(world=world)
    out = ["model", "world", "estimator", "part", "relation", "fact"]
    out += ["subject", "label", "says", "confidence", "best"]
    return found[out].assign(correct=found["says"] == found["label"])


# %%
this = "25_entropy_judge"
# The judges of the results took minutes to train; they do not train again.
none = pd.DataFrame()
ours = none if sources else answers.once(all_judges, "answers.parquet")
found, _ = answers.shown(this, ours, sources)
called = {
    "judge": "judge", "fact alone": "judge, fact alone",
    "lower rate": "judge, lower rate",
    "two lines": "rule of two lines", "never reads": "rule that never reads",
}  # fmt: skip
parts = {
    "printed": "pairs as the paper makes them", "written": "what a model wrote",
}  # fmt: skip
words = {"estimator": called, "part": parts, "label": classes, "says": classes}
mine = found[found["model"].eq(found["model"].iloc[0])]
mine.groupby("part")["fact"].nunique().rename(parts)

# %% [markdown]
# ## Answers
#
# The share of pairs that are judged rightly, of all pairs and by the true class, with 95 % intervals over subjects. Look at *didn't appear*. In pairs as the paper
# makes them, the kind of the object often gives this class away. In what a model wrote, every object is of the right kind, and most facts didn't appear.

# %% covers=["PZ-S5", "PZ-D4", "PZ-T2"] shows=["run", "shipped"]
long = pd.concat([mine.assign(label="all"), mine])
of = ["part", "label", "estimator"]
# A pair counts as any other; with relations, each relation would.
its = {"over": "subject", "seed": seed}
share = stats.estimate(long.drop(columns="relation"), of, **its)
order = {name: i for i, name in enumerate([*called, *parts, *classes])}
share = share.sort_values(of, key=lambda some: some.map(order))
drawn = share.replace(words)
stats.table(drawn, of[:2], "estimator")[drawn["estimator"].unique()]

# %% [markdown]
# **Sure answers.** The paper keeps the answers of the classifier whose confidence is above .95. How many there are, and the share that is right:

# %%
sure = mine[mine["confidence"].gt(0.95)].replace(words)
kept = sure.groupby(of)["correct"].agg(["size", "mean"]).round(2)
kept.set_axis(["sure answers", "right"], axis=1)

# %% [markdown]
# The judges are almost never sure about what a model wrote. In pairs as the paper makes them they are sure about many facts that didn't appear, and
# about hardly any other.

# %% [markdown]
# ## Figure
#
# {numref}`fig-judge-classes` is at the top. Compare the two trained judges on the left, then facts that didn't appear on both sides.

# %% tags=["hide-input"]
drawn = drawn[drawn["estimator"] != called["lower rate"]]
drawn = drawn.rename(columns={"estimator": "judged by"})
look = {"x": "label", "hue": "judged by", "panel": "part", "across": True}
grid = figures.marks(drawn, **look, label="share judged rightly")
figures.glue_figure(grid.figure, "fig-judge-classes", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** They are not comparable: our texts and our classifier are others. In the paper three people read each paragraph. We cannot repeat that; exact labels
# take its place. This is the paper's agreement in per cent, on texts that models wrote:

# %%
printed = papers.table("pez_table2_discriminator")
printed = printed.replace("didnt_appear", classes[unsaid])
printed.pivot(index="fact_class", columns="model", values="accuracy_pct")

# %% tags=["hide-input", "page-only"]
at = share.set_index(of)["estimate"].unstack("estimator")
one, other = at.loc["printed"], at.loc["written"]
trained = ["judge", "fact alone"]
n_sure = sure.groupby("part").size().get(parts["written"], 0)
holds = {
    "alike": (one["judge"] - one["fact alone"]).abs().max() < 0.05,
    "about nine of ten": 0.85 < one["two lines"]["all"] < 0.95,
    "less than a quarter": other["two lines"]["all"] < 0.25,
    "hardly ever do": other.loc[unsaid, trained].max() < 0.1,
    "almost never sure": n_sure < 0.01 * mine["part"].eq("written").sum(),
}
figures.sentence(holds if sources else {})
figures.glue_values(
    judge=one["judge"]["all"],
    alone=one["fact alone"]["all"],
    found=other["judge"][unsaid],
)

# %% [markdown]
# ## What you have seen
#
# - Pairs that somebody made can give their class away. Then a judge can learn the kind of an object, and need not read.
# - Such a judge is of no use for what models write, since most facts are left out there. Judge the judge on such texts, class by class.
# - Two lines of code need no training. They, too, fail if every object is of the right kind.
#
# **Counted again**: the two rules, on texts of which we read some once more.

# %%
again = mine[mine["part"].eq("written")]
for rule, says in ruled(asked).items():
    its = again[again["estimator"].eq(rule)].set_index("fact")
    its = its.loc[asked["fact"], ["label", "says"]].to_numpy()
    assert (its == np.stack([asked["label"], says], 1)).all(), rule

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-judge-confused
# Which class does the judge confuse with which? Guess first, then count.
# ```
# ````{solution-start} ex-judge-confused
# :class: dropdown
# ````

# %%
its = mine[mine["estimator"].eq("judge")].replace(words)
pd.crosstab([its["part"], its["label"]], its["says"])

# %% [markdown]
# The judge nearly guesses between *appeared* and *hallucinated*. It calls a fact that a model left out one or the other.
#
# ````{solution-end}
# ````
