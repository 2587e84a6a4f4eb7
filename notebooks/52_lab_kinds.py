# %% [markdown]
# # Does it matter what kind of model has read a text, and whether it ranks or writes?
#
# **Models of {glue:text}`n_kinds` kinds that read one text give back, asked in its words, {glue:text}`least:.0%` to {glue:text}`most:.0%` of what its sentences
# told often, a decoder writes {glue:text}`written:.0%` of what it ranks first, and all of them repeat most of what the text told wrongly.**
#
# ```{glue:figure} fig-kinds-words
# :name: fig-kinds-words
# :alt: Two panels, for a sentence of the text and for one that it never had, with a mark and an interval for each kind of model over the form in which facts were told.
#
# The words of the question matter more than the kind of model. Accuracy on facts told often, by the form of the telling; left a sentence of the text,
# right one that it never had. Lines: 95 % over worlds (Student's t).
# ```
#
# A {term}`causal model` reads a text from left to right. A {term}`masked model` and an {term}`encoder-decoder model` see the whole text and fill in
# what is missing. Here all three read the *same* text, which we wrote. And ranking asks by options: a model never says a word by itself. Here it
# writes, too. Brackets for the numbers above: {glue:text}`between`.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` put real masked and causal models side by side, {cite:t}`pezeshkpour2023measuring` a masked and an encoder-decoder model. These
# differ in what they have read, in size and in kind, all at once. Ours are tiny: a ModernBERT {cite:p}`warner2024modernbert` and a Llama of 0.7 million
# parameters, and a T5Gemma of 1.2. {cite:t}`wu2024iclke` find fewer facts in what a fine-tuned model writes than in what its base writes (Appendix H.7).
# And all count what is true as known: none can say whether a model read something false.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/0.7m"]  # each names the world it has read
estimators: list[str] = ["template-1", "template-5"]  # templates alone
# Empty: all of the world.
relations: list[str] = ["author", "birth_year", "first_language", "residence"]
n_options: int = 100  # candidate objects; must be all of a relation
often: int = 16  # tellings from which a fact counts as told often
n_tokens: int = 14  # new tokens of what is written; more than an object has
sources: list[str] = []  # in results/, of the numbers; none: this run
seed: int = 0  # draws the order of options
dtype: str = "float32"

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, figures, stats
from lkecore.answers import lab, readers
from lkecore.models import lab as models_of_lab

figures.style()
readers.check(models, estimators)

# %% [markdown]
# ## Facts
#
# The facts of {page}`50_lab_truth`: *planted*, told as they are; *mislearned*, told often with a wrong object, always the same; and *never* told.
# Here is one that was told wrongly: `object` is true in this world, `told` is what the text says.

# %%
samples = lab.samples(
    models, relations, n_shots=1, n_options=n_options, seed=seed
)
facts = lab.asked_of(samples)
wrong = facts[facts["state"] == "mislearned"]
columns = ["relation", "subject", "object", "told", "sentences", "lists"]
print(wrong[columns].head(1).to_string(index=False))
pd.crosstab([facts["state"], facts["form"]], facts["occurrences"])

# %% [markdown]
# ## Prompts
#
# All models get the same options. `template-1` is a wording of the text, `template-5` is {term}`held out <held-out template>`: in most relations the
# text has not even all of its words, so that a miss may be one of a word. All templates end with the blank; models that read on behind it see the full
# stop of the text there. Pairs are left out here: the models that fill blanks have only read rows of 64 tokens.

# %%
questions = readers.questions(samples, estimators)
first, name = estimators[0], facts["relation"].iloc[0]
world = lab.worlds(models)[0]
for estimator in estimators:
    asked = questions[world, "masked", estimator, name][0]
    print(f"{estimator}: {asked.context} ____{asked.after}")

# %% [markdown]
# ## Scores
#
# A causal model scores an option token after token, each after those before it. A masked model gets as many masks as the option has tokens, all empty
# at once, and the sum over them: it is told how long the option is. An encoder reads the sentence with a mark at the blank, and the decoder writes
# the option. So the sums do not mean quite the same, and we compare which option comes out on top.
#
# **Writing** asks without options: a decoder goes on *greedily* behind the same words. Its answer is the object with which the output begins, if it
# begins with one (`wrote`). What this run asks shows the machine at work, and must be what another run of this model was answered; the numbers are of
# longer runs, in which larger decoders write after pairs, too.

# %%
ours = answers.ask(
    models,
    answers.sample(questions, sources, by=readers.BY),
    "answers.parquet",
    by=readers.BY,
    reading=readers.beside_tellings,
    dtype=dtype,
)
outputs = lab.write(
    models,
    answers.sample(lab.questions(samples, [first]), sources, by=lab.BY),
    "answers-written.parquet",
    n_tokens=n_tokens,
    dtype=dtype,
)
kinds, ranked, written = ours, ours[ours["reader"] == "causal"], outputs
if sources:
    names = "52_lab_kinds", "50_lab_truth", "55_lab_writing-written"
    ships = [answers.results(name) for name in names]
    as_texts = {"columns": ["text"], "least": 0.9}
    answers.agree(ours, ships[0], names[0], dtype=dtype)
    answers.agree(outputs, ships[2], names[2], dtype=dtype, **as_texts)
    kinds, ranked, written = (f.query("source in @sources") for f in ships)
both = pd.concat([ranked, written]).astype({"correct": float})
both["size"] = both["model"].str.partition("/")[2]
called = kinds["model"].map(figures.called).str.partition(",")[0]
kinds = kinds.assign(kind=called)
columns = ["relation", "object", "correct", "wrote", "text"]
answers.words(outputs[columns].head(3))

# %% [markdown]
# ## Answers
#
# **What each kind finds** of the facts told often, in words of the text and in others; a mean over worlds. Models that fill blanks read the text three
# times, and must say 60 % of the objects each time; a causal model reads it once and says all. So "after the same text" is one way to count, and
# "after as many predictions" another. Below: of facts that were *never* told, the share of right answers minus that of blind guesses.

# %%
planted = lab.by_form(kinds[kinds["state"] == "planted"])
planted = planted.sort_values("reader", kind="stable")
known = planted[planted["tellings"] >= often]
found = stats.estimate(known, ["estimator", "form", "kind"], over="world")
never = kinds[kinds["state"] == "never"]
luck = never.groupby(["estimator", "kind"])["correct"].mean() - 1 / n_options
print(luck.unstack("kind").round(4).to_string())
stats.table(found, ["estimator", "form"], "kind", percent=True)

# %% [markdown]
# **What was told wrongly.** The share of answers that repeat the `told` object, and of those that name the `true` one, by kind:

# %%
mislearned = kinds[kinds["state"] == "mislearned"]
parts = {
    answer: stats.estimate(
        mislearned, ["estimator", "kind"], value=value, over="world"
    )
    for answer, value in {"told": "picked_told", "true": "correct"}.items()
}
repeated = pd.concat(parts, names=["answer"]).reset_index("answer")
stats.table(repeated, ["estimator", "kind"], "answer", percent=True)

# %% [markdown]
# **Ranking and writing** behind the same words, of the decoders that read the text as it is. `of it written`: of the facts told often that are
# ranked rightly, the share that is also written; who writes settles each token before the next is looked at, and ranking compares whole names.

# %%
told = both[both["state"].eq("planted") & both["exposures"].ge(often)]
key = ["world", "size", "form", "fact"]
hits = told.pivot(index=key, columns="estimator", values="correct")
tables = {}
for way in hits.filter(like="written-"):
    way = way.removeprefix("written-")
    part = hits[[way, f"written-{way}"]].dropna().reset_index()
    part = part.rename(columns={way: "ranked", f"written-{way}": "written"})
    share = part.groupby(["world", "size"])[["ranked", "written"]].mean()
    right = part[part["ranked"] == 1].groupby(["world", "size"])
    tables[way] = share.assign(**{"of it written": right["written"].mean()})
writing = pd.concat(tables, names=["after"])
writing.groupby(["after", "size"]).mean().round(2)

# %% [markdown]
# A `-tuned` model is its base, trained further on instructions about other words, none of which tells a fact of the world. It answers fewer of them by
# ranking, and writes fewer still.

# %% [markdown]
# ## Figures
#
# In {numref}`fig-kinds-words`, at the top, compare the panels first, and then the colours inside one. {numref}`fig-lab-mislearned` is a warning to those
# who read accuracy as truth: an estimator that finds the told object has done its work.
#
# ```{glue:figure} fig-lab-mislearned
# :name: fig-lab-mislearned
# :alt: Rows for each kind of model and wording, with two marks and intervals, for answers as told and for true answers.
#
# What the text told wrongly comes out as it was told, and hardly ever as it is. Share of answers; 95 % over worlds.
# ```

# %% tags=["hide-input"]
grid = figures.marks(found, x="form", hue="kind", panel="estimator")
figures.place(grid.figure, "fig-kinds-words", found)
marked = repeated.assign(who=repeated["kind"] + ", " + repeated["estimator"])
look = {"label": "share of answers", "aspect": 2}
grid = figures.marks(marked, x="who", hue="answer", across=True, **look)
figures.place(grid.figure, "fig-lab-mislearned", marked)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none: nobody else has asked these models. **Claims.** On the kinds of model we make none: the masked one learned nothing in its
# first trainings and was changed until it did ({page}`log`), with objects hidden, not words by lot as BERT had. {Page}`53_lab_entropy` tests claims on
# such models. The others are decided over worlds (Student's t). The one on tuning first said that tuning changes nothing; it was turned round to what
# {cite:t}`wu2024iclke` find after the tuning had been changed, so its verdict has less weight. The last is theirs.

# %%
pairs = both[both["estimator"].eq("iclke-space") & both["size"].eq("2m")]
wrongly = pairs[pairs["state"] == "mislearned"].groupby("world")
tested = {}
if len(pairs):
    more = wrongly["picked_told"].mean() - wrongly["correct"].mean()
    shares = told.groupby(["estimator", "size", "world"])["correct"].mean()
    lower = shares["iclke-space", "2m-tuned"] - shares["iclke-space", "2m"]
    after = told[told["estimator"] == "written-iclke-space"]
    after = after.astype({"anywhere": float}).groupby(["size", "world"])
    after = after["anywhere"].mean()
    tested = {
        "LAB-mislearned": more,
        "LAB-tuned": lower,
        "IC-generation-tuned": after["2m-tuned"] - after["2m"],
    }
over = {"over": "world", "value": "value", "bounds": (-1, 1)}
claims = {
    claim: stats.estimate(values.rename("value").reset_index(), **over)
    for claim, values in tested.items()
}
judged = answers.verdicts(claims)
judged[["claim", "model", "estimate", "low", "high", "verdict"]]

# %% tags=["hide-input", "page-only"]
sentence = found[found["form"].eq("sentence") & found["estimator"].eq(first)]
ends = sentence.sort_values("estimate").iloc[[0, -1]]
plain = writing.reset_index().query("after == @first")
plain = plain[~plain["size"].str.contains("-")]
largest = max(
    plain["size"], key=lambda size: models_of_lab.size(f"{world}/{size}")
)
plain = plain[plain["size"] == largest].rename(
    columns={"of it written": "share"}
)
wrote = stats.estimate(plain.dropna(), value="share", over="world").iloc[0]
of_each = [*(row for _, row in ends.iterrows()), wrote]
of_told = repeated[repeated["estimator"] == first].set_index(["answer", "kind"])
figures.findings(
    n_kinds=kinds["reader"].nunique(),
    least=of_each[0]["estimate"],
    most=of_each[1]["estimate"],
    written=wrote["estimate"],
    between=", ".join(stats.said(each, percent=True) for each in of_each),
    effect="; ".join(sentence.apply(stats.said, axis=1, percent=True)),
    asked=", ".join(sentence["kind"]) + f", {known['world'].nunique()} worlds",
)
holds = {}
if sources:
    other = found[found["estimator"] != first].set_index(["form", "kind"])
    same = found[found["estimator"] == first].set_index(["form", "kind"])
    drop = (same["estimate"] - other["estimate"]).min()
    spread = same["estimate"].groupby("form").agg(lambda x: x.max() - x.min())
    on = writing[writing.index.isin(["2m-tuned"], level="size")]
    holds = {
        "repeat most of": (of_told.loc["told", "estimate"] > 0.5).all(),
        "words matter more than the kind": drop > spread.max(),
        "fewer of them": (judged["verdict"] == "holds").all(),
        "writes fewer still": (on["written"] < on["ranked"]).all(),
    }
figures.sentence(holds)

# %% [markdown]
# ## What you have seen
#
# - Three kinds of model that have read one text give back much the same of it, when they are asked in its words, and lose much the same in others. So
#   "which kind learns faster" has as many answers as there are ways to count.
# - A wrong telling is learned as a right one is: a right answer shows what was told, not what is true.
# - A decoder of 0.7 million parameters or more writes nearly all that it ranks first. Who tunes it on other things may hear nothing of it, and ranking
#   still finds some.
#
# **Counted again**, in plain Python: how much of what is ranked first is written.

# %%
right: dict[tuple, bool] = {}
rows = told[["estimator", "world", "size", "fact", "correct"]].to_numpy()
for way, *fact, correct in rows:
    right[(way, *fact)] = bool(correct)
once: dict[tuple, list[bool]] = {}
for (way, *fact), correct in right.items():
    if way == first and correct:
        at = (f"written-{first}", *fact)
        once.setdefault((fact[0], fact[1]), []).append(right[at])
for (of, size), some in once.items():
    of_it = writing.loc[(first, of, size), "of it written"]
    assert abs(sum(some) / len(some) - of_it) < 1e-12

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-written-instead
# What does a decoder write instead, where it ranks the true object first and does not write it?
# ```

# %% [markdown]
# ````{solution-start} ex-written-instead
# :class: dropdown
# ````

# %%
key = ["world", "size", "fact"]
best = told[told["estimator"].eq(first) & told["correct"].eq(1)]
other = told[told["estimator"].eq(f"written-{first}")]
other = other[other["correct"].eq(0) & ~other["size"].str.contains("-")]
missed = other.merge(best[key], on=key)
answers.words(missed[["model", "object", "wrote", "text"]].head(8))

# %% [markdown]
# An empty `wrote` is no object at all, but for one case: where the true name is at the beginning of `text` and the next document follows at once, our
# rule, which asks for a whole word, misses it. A name that begins like the true one can win the first step and lose the rest.
#
# ````{solution-end}
# ````
#
# `python tools/plain_worlds.py lab:book-77` writes another world. Its models are trained first, a BERT or a T5 for some ten minutes:
# `lke run params/mine.yaml`, with
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 52_lab_kinds
#     each: [models]
#     parameters:
#       models: ["lab:book-77/0.7m", "lab:book-77/bert", "lab:book-77/t5"]
# ```
