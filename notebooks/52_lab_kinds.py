# %% [markdown]
# # Does the kind of model matter?
#
# **The words of a question matter more than the kind of model: of facts often stated in sentences, {glue:text}`name_kinds` kinds find
# {glue:text}`least:.0%` to {glue:text}`most:.0%` if it uses the text's words, {glue:text}`other_least:.0%` to {glue:text}`other_most:.0%` otherwise.**
#
# ```{glue:figure} fig-kinds-words
# :name: fig-kinds-words
# :alt: Two panels, for a question in words of the text and for one in other words, with a mark and an interval for each kind of model over the form in which the text states facts.
#
# Change the words of the question, and every kind of model loses more than the kinds differ. Accuracy on often stated facts, by the form of the
# statements; left the question is a sentence of the text, right one that the text never uses. Lines: 95 % over worlds (Student's t).
# ```
#
# A {term}`causal model` reads a text from left to right. A {term}`masked model` and an {term}`encoder-decoder model` see the whole text and fill in
# the missing part. Here all three read the *same* text, which we wrote. Intervals for the numbers above: {glue:text}`between`.
#
# Two more findings. All three kinds repeat most facts that the text states wrongly. And the largest decoder writes {glue:text}`written` of the
# objects that it ranks first, if nobody offers it options; smaller and tuned ones write less (see *Ranking and writing*).

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`zhao2024belief` compare real masked and causal models, {cite:t}`pezeshkpour2023measuring` a masked and an encoder-decoder model. These
# differ in text, size and kind, all at once. Ours are tiny: a ModernBERT {cite:p}`warner2024modernbert` and a Llama of 0.7 million
# parameters, and a T5Gemma of 1.2 million. {cite:t}`wu2024iclke` find fewer facts in the outputs of a fine-tuned model than in those of its base (Appendix H.7).
# All papers count true answers as known: none can say whether a model read something false.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/0.7m"]  # each names the world it has read
estimators: list[str] = ["template-1", "template-5"]  # templates alone
# Empty: all of the world.
relations: list[str] = ["author", "birth_year", "first_language", "residence"]
n_options: int = 100  # candidate objects; must be all of a relation
often: int = 16  # statements from which a fact counts as stated often
n_tokens: int = 14  # new tokens of an output; more than an object has
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
# The facts of {page}`50_lab_truth`: *planted* (stated truly), *mislearned* (stated often, always with the same wrong object) and *never* (not stated).
# Here is a mislearned one: `object` is true in this world, `told` is the object in the text.

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
# text lacks some of its words, so a model may fail on the word rather than on the fact. All templates end with the blank; models that also read the text
# after the blank see the full stop there. Pairs are left out: the models that fill blanks have only read rows of 64 tokens.

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
# at once, and its score is the sum over them: so the masks show it how long the option is. An encoder reads the sentence with a mark at the blank, and the
# decoder writes the option. The three sums do not mean quite the same, so we compare only which option has the highest.
#
# **Writing** needs no options: a decoder continues the same words *greedily*. Its answer is the object with which the output begins, if there is
# one (`wrote`). The numbers come from longer runs, in which larger decoders also write after pairs. This run repeats a few of their questions, and the answers
# must be the same.

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
called = kinds["model"].map(figures.display_name).str.partition(",")[0]
kinds = kinds.assign(kind=called)
columns = ["relation", "object", "correct", "wrote", "text"]
answers.html_table(outputs[columns].head(3))

# %% [markdown]
# ## Answers
#
# **How much does each kind find** of the often stated facts, in words of the text and in others? A mean over worlds. Models that fill blanks read the text three
# times, and predict 60 % of the objects each time; a causal model reads it once and predicts all. So "after the same text" is one way to count, and
# "after as many predictions" another. Above the table: for *never* stated facts, the share of right answers minus that of blind guesses.

# %%
planted = lab.by_form(kinds[kinds["state"] == "planted"])
planted = planted.sort_values("reader", kind="stable")
known = planted[planted["tellings"] >= often]
found = stats.estimate(known, ["estimator", "form", "kind"], over="world")
never = kinds[kinds["state"] == "never"]
luck = never.groupby(["estimator", "kind"])["correct"].mean() - 1 / n_options
print(luck.unstack("kind").round(4).to_string())
in_words = {"template-1": "words of the text", "template-5": "other words"}
shown = stats.table(found, ["estimator", "form"], "kind", percent=True)
shown.rename(in_words)

# %% [markdown]
# **Wrong statements.** The share of answers that repeat the object of the text (`as stated`), and of those that name the `true` one, by kind:

# %%
mislearned = kinds[kinds["state"] == "mislearned"]
parts = {
    answer: stats.estimate(
        mislearned, ["estimator", "kind"], value=value, over="world"
    )
    for answer, value in {"as stated": "picked_told", "true": "correct"}.items()
}
repeated = pd.concat(parts, names=["answer"]).reset_index("answer")
repeats = stats.table(repeated, ["estimator", "kind"], "answer", percent=True)
repeats.rename(in_words)

# %% [markdown]
# **Ranking and writing** after the same words, for the decoders that read the text as it is. `of it written`: the share of the rightly ranked facts
# that the model also writes. Writing fixes each token before it looks at the next; ranking compares whole names.

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
mean = writing.groupby(["after", "size"]).mean().round(2)
mean.rename(figures.display_name)

# %% [markdown]
# A `-tuned` model is its base, trained further on instructions about other words. None of these instructions states a fact of the world. The tuned model
# recovers fewer facts by ranking, and writes fewer still.

# %% [markdown]
# ## Figures
#
# In {numref}`fig-kinds-words`, at the top, compare the panels first, and then the colours inside one. {numref}`fig-lab-mislearned` is a warning to everyone
# who reads accuracy as truth: an estimator that finds the stated object has done its work.
#
# ```{glue:figure} fig-lab-mislearned
# :name: fig-lab-mislearned
# :alt: Rows for each kind of model and wording, with two marks and intervals, for answers as stated in the text and for true answers.
#
# Models repeat the wrong object of the text, and hardly ever name the true one. Share of answers about wrongly stated facts; 95 % over worlds.
# ```

# %% tags=["hide-input"]
drawn = found.assign(question=found["estimator"].replace(in_words))
drawn = drawn.rename(columns={"form": "stated in"})
look = {"x": "stated in", "hue": "kind", "panel": "question"}
grid = figures.marks(drawn, **look)
figures.glue_figure(grid.figure, "fig-kinds-words", drawn)
question = repeated["estimator"].replace(in_words)
marked = repeated.assign(who=repeated["kind"] + ", " + question)
look = {"label": "share of answers", "aspect": 2}
grid = figures.marks(marked, x="who", hue="answer", across=True, **look)
figures.glue_figure(grid.figure, "fig-lab-mislearned", marked)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** There are none: nobody else has these models. **Claims.** We make none on the kinds of model: the masked one learned nothing in its
# first trainings, and we changed its training until it did ({page}`log`): objects are hidden, not random words as for BERT. {Page}`53_lab_entropy` tests claims on
# such models. The claims below are decided over worlds (Student's t). The one on tuning first said that tuning changes nothing. After the tuning had changed, we
# reversed it to the finding of {cite:t}`wu2024iclke`, so its verdict has less weight. The last claim is theirs.

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
unread = found[found["form"].eq("sentence") & found["estimator"].ne(first)]
unread = unread.sort_values("estimate") if len(unread) else ends
unread = unread.iloc[[0, -1]]
of_each = [row for part in (ends, unread) for _, row in part.iterrows()]
of_told = repeated[repeated["estimator"] == first].set_index(["answer", "kind"])
figures.glue_values(
    name_kinds=str(kinds["reader"].nunique()),
    least=of_each[0]["estimate"],
    most=of_each[1]["estimate"],
    other_least=of_each[-2]["estimate"],
    other_most=of_each[-1]["estimate"],
    written=stats.format_estimate(wrote, percent=True),
    between=", ".join(
        stats.format_estimate(each, percent=True) for each in of_each
    ),
    effect="; ".join(
        sentence.apply(stats.format_estimate, axis=1, percent=True)
    ),
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
        "repeat most": (of_told.loc["as stated", "estimate"] > 0.5).all(),
        "words matter more than the kind": drop > spread.max(),
        "hardly ever the true one": (
            repeated.loc[repeated["answer"] == "true", "estimate"] < 0.05
        ).all(),
        "fewer facts": (judged["verdict"] == "holds").all(),
        "writes fewer still": (on["written"] < on["ranked"]).all(),
    }
figures.sentence(holds)

# %% [markdown]
# ## What you have seen
#
# - Three kinds of model that have read one text recover about the same share of its facts in its words, and lose about the same in other words. So
#   "which kind learns faster" has as many answers as there are ways to count.
# - A model learns a wrong statement just as a right one. A right answer shows that the text stated it, not that it is true.
# - A decoder of 0.7 million parameters or more writes nearly everything that it ranks first. A model tuned on other things writes almost none of it, and
#   ranking still finds some.
#
# **Counted again**, in plain Python: the share of the facts ranked first that the model writes.

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
# If a decoder ranks the true object first and does not write it, what does it write instead?
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
answers.html_table(missed[["model", "object", "wrote", "text"]].head(8))

# %% [markdown]
# An empty `wrote` is no object at all, with one exception: if the true name is at the beginning of `text` and the next document follows at once, our
# rule, which wants a whole word, misses it. A name that begins like the true one can win the first step and lose the rest.
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
