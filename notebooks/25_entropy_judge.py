# %% [markdown]
# # Does a judge of facts in texts have to read?
#
# **A judge that reads the text has {glue:text}`judge:.0%` of the pairs right that it is trained for, one that sees the fact alone {glue:text}`alone:.0%`; of
# facts that a model did not write it finds {glue:text}`found:.0%`.**
#
# ```{glue:figure} fig-judge-classes
# :name: fig-judge-classes
# :alt: Two panels, pairs as the paper prints them and pairs of what a model wrote; in each a row for all pairs and for each class, and a mark for each judge.
#
# On the left both trained judges are alike in every row, and a rule of two lines has nearly all pairs right. On the right the same rule has less than a
# quarter: it never says of a fact that it was not written, and a judge that learned from such pairs hardly does. Lines: 95 % over subjects.
# ```
#
# Who counts hallucinations often lets a classifier read the texts. It is trained on pairs of a fact and a text whose class is known since somebody made
# the pair: put another object into the fact, and it does not fit the text. Here every text can be read exactly, so that the judge can be judged.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`pezeshkpour2023measuring` (Section 4.3 and Table 2) fine-tune RoBERTa on pairs made so, and find 90.4 % of held-out pairs right. Of paragraphs
# that models write, three people say of some facts what became of them: the classifier agrees in 86 to 100 % for all three classes.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:rich-1/bert"]  # the judges; each names its world
writer: str = "lab:rich-1/2m"  # who wrote what is judged
ways: list[str] = ["judge", "fact alone"]  # also: lower rate, longer
n_train: int = 5000  # pairs
n_test: int = 1000  # pairs, and as many to choose the best step by
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
# **Texts that a model wrote**, those of {page}`24_entropy_written`, and every fact of their subjects that has one object. What became of it is read by the
# templates of the world: its object is said (*appeared*), only others are (*hallucinated*), or none is (*not*).

# %%
[world, *others] = lab.worlds([writer, *models])
if others:
    raise BadInput(f"models: {others[0]} is another world than the writer's")
right, wrong, unsaid = written.LABELS
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
asked["label"].value_counts()

# %% [markdown]
# **Pairs as printed**, from paragraphs of the world's own text: a fact that the paragraph says; the same with an object of the subject's other facts, which
# *didn't appear*; and the same with another object of the relation, which appeared *incorrectly*. The judge learns from subjects on which the model did not write.


# %%
def as_printed() -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    told = [d.text for d in text.told(made(world)) if d.kind == "paragraph"]
    told = [told[i] for i in draw.permutation(len(told))[:n_documents]]
    rows = said_in(told).drop_duplicates(["text", *columns])
    rows["label"] = draw.choice(written.LABELS, len(rows))
    own = states(world).groupby("subject")["object"].agg(set)
    other = {wrong: (made(world).objects, "relation"), unsaid: (own, "subject")}
    for label, (names, by) in other.items():
        some = rows["label"] == label
        rows.loc[some, "object"] = [
            draw.choice(sorted({*names[key]} - {name}) or [""])
            for key, name in rows.loc[some, [by, "object"]].itertuples(
                index=False
            )
        ]
    rows = rows[rows["object"] != ""]  # a subject of one fact has no other
    learned = rows["subject"][~rows["subject"].isin(wrote.index)].unique()
    valid = rows["subject"].isin(learned[: len(learned) // 6])
    part = np.where(valid, "valid", "train")
    part = np.where(rows["subject"].isin(learned), part, "printed")
    sizes = {"train": n_train, "valid": n_test, "printed": n_test}
    for name, n in sizes.items():
        if (there := (part == name).sum()) < n:
            raise BadInput(f"{there} pairs to {name}, and {n} are asked for")
    rows = pd.concat(
        [
            rows[part == name].head(n).assign(part=name)
            for name, n in sizes.items()
        ]
    )
    return rows.assign(fact=[f"pair-{i}" for i in range(len(rows))])


# %% [markdown]
# ## Prompts
#
# A judge gets the fact as a sentence, and the text.


# %%
def question(row: pd.Series) -> str:
    template = wordings.about(row["relation"]).templates[0]
    filled = template.replace("[X]", row["subject"])
    return filled.replace("[Y]", row["object"]) + "."


answers.words(
    asked.head(3).assign(fact=asked.apply(question, axis=1))[
        ["fact", "text", "label"]
    ]
)

# %% [markdown]
# ## Scores
#
# **Two rules.** *Two lines*: if the object stands in the text, the fact appeared; if it does not and is one of the relation, it appeared incorrectly; else it
# didn't appear. *Never reads*: an object of the relation appeared, any other didn't.


# %%
def ruled(pairs: pd.DataFrame) -> dict[str, np.ndarray]:
    aliases, objects = made(world).aliases, made(world).objects
    alias = dict(zip(aliases["name"], aliases["alias"], strict=True))
    of = pairs[["relation", "object", "text"]].to_numpy()
    stands = [
        name in text or alias.get(name, name) in text for _, name, text in of
    ]
    fits = [name in objects[relation] for relation, name, _ in of]
    return {
        "two lines": np.where(stands, right, np.where(fits, wrong, unsaid)),
        "never reads": np.where(fits, right, unsaid),
    }


# %% [markdown]
# **The judge** is a model of the lab with three new outputs at the first token (of a decoder at the last), all of it fine-tuned by cross-entropy; the step is
# chosen by other pairs. Another one sees the fact alone, in front of a full stop. A lower rate and twice as many steps are tried once.


# %%
def judged(name: str, way: str, pairs: pd.DataFrame) -> pd.DataFrame:
    other = {"lower rate": {"rate": rate / 3}, "longer": {"steps": 2 * steps}}
    its = {"rate": rate, "steps": steps, "batch": batch, "every": every}
    recipe = Recipe(**its | other.get(way, {}))
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
    at = pairs.groupby("part").groups
    at = {part: np.array(rows) for part, rows in at.items()}

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
        once = answers.opened(name, dtype).kind != "masked"  # tried once
        found += [
            judged(name, way, pairs) for way in ways[: 1 if once else None]
        ]
    found = pd.concat(found, ignore_index=True).assign(world=world)
    out = ["model", "world", "estimator", "part", "relation", "fact"]
    out += ["subject", "label", "says", "confidence", "best"]
    return found[out].assign(correct=found["says"] == found["label"])


# %%
this = "25_entropy_judge"
# What ships was trained for a quarter of an hour, and is not trained again.
none = pd.DataFrame()
ours = none if sources else answers.once(all_judges, "answers.parquet")
found, _ = answers.shown(this, ours, sources)
main = found["model"].iloc[0]
found.groupby(["model", "estimator"], sort=False)["correct"].size()

# %% [markdown]
# ## Answers
#
# Right answers, of all pairs and by the true class, with 95 % intervals over subjects. *Not* is the class to look at. Among pairs as printed
# it is given away by the kind of the object; of what a model left out the object is of the right kind, and most facts are left out.

# %% covers=["PZ-S5", "PZ-D4", "PZ-T2"] shows=["run", "shipped"]
long = pd.concat([found.assign(label="all"), found])
of = ["part", "label", "estimator"]
how = {"over": "subject", "seed": seed}
share = stats.estimate(long[long["model"].eq(main)], of, **how)
share = share.set_index(of).loc[["printed", "written"]].reset_index()
stats.table(share, of[:2], "estimator")

# %% [markdown]
# **When it is sure.** The paper keeps what the classifier says with a confidence above .95. What is left, and how much of it is right:

# %%
sure = found[found["model"].eq(main) & found["confidence"].gt(0.95)]
by = ["estimator", "part", "label"]
kept = sure.groupby(by)["correct"].agg(["size", "mean"])
kept.unstack("label").round(2).astype(object).fillna("")

# %% [markdown]
# **Would another training do?** All that was tried, of pairs as printed:

# %%
tried = long[long["part"].eq("printed")]
tried = tried.pivot_table("correct", ["model", "estimator"], "label")
tried[["all", *written.LABELS]].round(3)

# %% [markdown]
# ## Figure
#
# {numref}`fig-judge-classes`, at the top. Compare the two trained judges on the left, then the row of facts that were not said on both sides.

# %% tags=["hide-input"]
called = {"printed": "pairs as printed", "written": "what a model wrote"}
said = {right: "appeared", unsaid: "didn't appear", wrong: "incorrectly"}
shown = ["judge", "fact alone", "two lines", "never reads"]
drawn = share[share["estimator"].isin(shown)].replace(
    {"part": called, "label": said}
)
order = {name: i for i, name in enumerate([*shown, "all", *said.values()])}
drawn = drawn.sort_values(["label", "estimator"], key=lambda of: of.map(order))
drawn = drawn.sort_values("part", kind="stable")
look = {"x": "label", "hue": "estimator", "panel": "part", "across": True}
grid = figures.marks(drawn, **look, label="share that is right")
figures.place(grid.figure, "fig-judge-classes", drawn)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** Not comparable: other texts and another classifier, and in the paper people say what is true, three of each paragraph. That we cannot do again;
# exact labels are in their place. Printed, of texts that models wrote:

# %%
printed = papers.table("pez_table2_discriminator")
printed.pivot(index="fact_class", columns="model", values="accuracy_pct")

# %% tags=["hide-input", "page-only"]
at = share.set_index(of)["estimate"].unstack("estimator")
one, other = at.loc["printed"], at.loc["written"]
holds = {
    "alike": (one["judge"] - one["fact alone"]).abs().max() < 0.05,
    "nearly all": one["two lines"]["all"] > 0.85,
    "less than a quarter": other["two lines"]["all"] < 0.25,
    "hardly does": other["judge"][unsaid] < 0.1,
}
figures.sentence(holds if sources else {})
figures.findings(
    judge=one["judge"]["all"],
    alone=one["fact alone"]["all"],
    found=other["judge"][unsaid],
)

# %% [markdown]
# ## What you have seen
#
# - Pairs that somebody made can give their class away: a judge learns the kind of an object, and need not read.
# - What was learned so doesn't carry over to what models write, where most facts are left out. Judge the judge on such texts, class by class.
#
# The two rules again, on texts of which some are read anew:

# %%
again = found[found["model"].eq(main) & found["part"].eq("written")]
for rule, says in ruled(asked).items():
    its = again[again["estimator"].eq(rule)].set_index("fact")
    its = its.loc[asked["fact"], ["label", "says"]].to_numpy()
    assert (its == np.stack([asked["label"], says], 1)).all(), rule

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-judge-confused
# Which class does the judge say in the place of another? Guess first, then count.
# ```
# ````{solution-start} ex-judge-confused
# :class: dropdown
# ````

# %%
mine = found[found["model"].eq(main) & found["estimator"].eq("judge")]
pd.crosstab([mine["part"], mine["label"]], mine["says"])

# %% [markdown]
# Whether a fact appeared or another object did is nearly a guess. What a model did not write is called either.
#
# ````{solution-end}
# ````
