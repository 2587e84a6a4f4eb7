# %% [markdown]
# # Does a model write what it ranks first?
#
# {doc}`50_lab_truth` asks by options: the model ranks them, and never says a word by itself. Here the same models write.
# And we ask in long prompts, after tuning, and about facts that the text told wrongly or not at all.
#
# **What came out.** {glue:text}`writes` {glue:text}`wrong` {glue:text}`long` {glue:text}`tuning`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-lab-written
# :name: fig-lab-written
# :alt: Panels side by side, for facts told in lists, in both forms and in sentences, with full lines of ranking and dashed lines of writing over exposures.
#
# Ranking (full lines) and writing after the same prompt (dashed) over how often the text told a fact, by the form in
# which it was told, for the reference model. 0 exposures: never told, the same facts in each panel. Vertical lines: 95 %
# intervals (Wilson). Dotted: chance among the options.
# ```
#
# Afterwards you will be able to say
#
# - whether a model also writes what it ranks first,
# - what an estimator answers when the text was wrong, and what it answers when there is nothing to know,
# - what several questions in one prompt find of the same facts,
# - what tuning on other things leaves of them.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` compare ranking with writing on real models ({doc}`19_iclke_generation`), have an estimator with several
# questions in one prompt, EIC-LKE, and find that tuned models know less than their bases. Whether a model had read a fact they could
# not know. Here we can: the text is ours.

# %% [markdown]
# ## Parameters

# %% tags=["parameters"]
models: list[str] = ["lab:book-1/2m"]  # each names the world that it has read
estimators: list[str] = [
    "iclke-space",
    "iclke-colon",
    "template-1",
    "template-4",
    "template-5",
]
# Empty: all of the world.
relations: list[str] = ["author", "birth_year", "first_language", "residence"]
n_shots: int = 50  # pairs shown before the question, for IC-LKE
n_options: int = 100  # candidate objects; must be all of a relation
n_eic_shots: int = 30  # of the pairs, for EIC-LKE; half of them come first
n_every: int = 3  # pairs from one slot of EIC-LKE to the next
n_eic_facts: int = 10  # facts of each relation and form, for EIC-LKE
n_eic_options: int = 20  # candidate objects of these
written_after: list[str] = ["iclke-space", "template-1"]  # of the estimators
n_tokens: int = 14  # new tokens of what is written; more than an object has
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 6  # of its questions, for each estimator, are asked again
seed: int = 0  # draws shots, order of options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import pandas as pd
from matplotlib import pyplot as plt

from lkecore import answers, figures, prompts, runs
from lkecore.answers import lab, rules, told
from lkecore.metrics import planted

figures.style()

# %% [markdown]
# ## Facts
#
# The facts of {doc}`50_lab_truth`: *planted*, told as they are; *never* told, the {term}`controls <control>` of those; and *mislearned*,
# told often with a wrong object, always the same. Here is one of these. `object` is true in this world, `told` is what the text says.
# Below, `of_rule` is what the best {term}`rule <rule>` without a model gets of all that are asked.

# %%
drawn = {"n_options": n_options, "seed": seed}
samples = lab.samples(models, relations, n_shots=n_shots, **drawn)
asked = lab.asked_of(samples)
wrong = asked[asked["state"] == "mislearned"]
columns = ["relation", "subject", "object", "told", "sentences", "lists"]
print(wrong[columns].head(1).to_string(index=False))
print(rules.of_worlds(samples).round(3).to_string(index=False))

# %% [markdown]
# ## Prompts
#
# **Writing** asks without any options. After the prompts of `written_after` the model goes on *greedily*, always with the most probable
# token, for just enough tokens for an object.
#
# **EIC-LKE** has several questions between the pairs of one prompt ({doc}`13_iclke_eic`). It costs much, so it gets fewer facts, options
# and pairs: of each relation and form some facts that were told often, and their controls. Their options are the objects of these
# very facts: others are told less often, and a model that prefers what is frequent would be right by that alone. It ends its pairs
# with a comma, as in the paper, which no list of the text does.

# %%
space, long = "iclke-space", "eiclke"
lab.check_asked(estimators, [space, *written_after])
questions = lab.questions(samples, estimators)
eic = {"n_shots": n_eic_shots, "n_every": n_every, "n_facts": n_eic_facts}
grouped = lab.several_in_one(samples, **eic, n_options=n_eic_options, seed=seed)
n_slots = len(next(iter(grouped.values()))[0].places)
print(f"{n_slots} slots; guessing among fewer gets {1 / n_eic_options:.3f}")
for name in written_after:
    print(f"{name:12} {prompts.example(name, next(iter(samples.values())))!r}")

# %% [markdown]
# ## Scores
#
# Which answer does an output give? The object that it begins with, if it begins with one (`wrote`). This is stricter than the paper's
# rule, for which the true object may stand `anywhere` in the output. A model that goes on with the next pair names objects there that
# are no answer.

# %%
how = {"results": results, "notebook": "55_lab_writing", "n_again": n_again}
how |= {"dtype": dtype, "page": page}
by = lab.BESIDE | how
same = by | {"notebook": "50_lab_truth"}  # asks these questions, too
ranked = answers.ask(models, questions, "ranked.parquet", **same)
same_facts = grouped | lab.among(questions, grouped)
of_eic = answers.ask(models, same_facts, "answers-eic.parquet", **by)
to_write = {key: qs for key, qs in questions.items() if key[1] in written_after}
how["n_tokens"] = n_tokens
outputs = lab.write(models, to_write, "answers-written.parquet", **how)
reference = lab.reference(models)
print(f"reference: {reference}; what it writes about the first fact:")
one = outputs[outputs["model"] == reference].drop_duplicates("estimator")
print(one[["estimator", "object", "wrote", "text"]].to_string(index=False))

# %% [markdown]
# ## Answers
#
# **Ranking and writing**, after the same prompt, of facts with 16 exposures and more. `both` counts facts that are ranked rightly and
# written, and so on. `written_of_ranked` is the share of the rightly ranked facts that are written, too. `p` is McNemar's test,
# Holm-corrected. `an_object` is the share of outputs that begin with any object of the relation. `anywhere` is the paper's rule.
#
# Where `only_ranked` is large, the object was above all other options and still did not come out. If `an_object` is low there, the
# model wrote something that is no answer. If it is near 1, it wrote a wrong object: who writes settles each token before the next is
# looked at, and ranking compares whole names.

# %%
every = lab.labelled(pd.concat([ranked, outputs], ignore_index=True))
forms = lab.forms_of(every)
known = lab.known_of(every)
both = told.ranked_and_written(known, written_after)
runs.keep(answers.bounds(both, "written_of_ranked"), "ranked-and-written.csv")
of_it = answers.texts(both[both["model"] == reference])
answers.words(of_it.drop(columns="model"))

# %% [markdown]
# **Never told.** Is a right answer about a fact that was never told more frequent than a guess would be? Each object is that of exactly
# one such fact, so that a model that always names its favourite gets what chance gets. `luck` is one in the number of options for
# ranking; for writing it is this times the share of outputs that begin with any object. `above` pools the models: the share of right
# answers minus `luck`, with an interval over facts.

# %%
few = lab.labelled(of_eic)
never = pd.concat([every, few[few["estimator"] == long]], ignore_index=True)
never = never[never["state"] == "never"]
never["luck"] = (never["wrote"] != "") / n_options  # a ranking names one
never.loc[never["estimator"] == long, "luck"] = 1 / n_eic_options
above = told.above_luck(never, ["estimator"], seed=seed)
tests = told.never_told(never, ["model", "estimator"])
runs.keep(answers.bounds(tests, "accuracy"), "never-told.csv")
print(answers.texts(above, 3).to_string(index=False))
by_luck = (tests["p (Holm)"] >= 0.05).sum()
print(f"{by_luck} of {len(tests)} tests: not told from luck (p at least 0.05)")

# %% [markdown]
# **Mislearned.** `told` is the share of answers that repeat the wrong object, `true` the share that name the object that holds in this
# world. The last three columns are mean confidences: in the told object, in the true one, and (`control`) in the told one for the
# subject of the control. If the first lies far above the last, the telling made it; and a high confidence is then no sign of truth.

# %%
readers = every[~every["model"].str.endswith("-unplanted")]
wrongly = readers[readers["state"] == "mislearned"]
some = readers["state"].isin(["mislearned", "never"])
some &= readers["estimator"].isin(estimators)
sure = lab.planted_pairs(readers[some])
misled = told.mislearned(wrongly, sure, seed=seed)
shown = answers.texts(misled, 3)
runs.keep(shown, "mislearned.csv")
of_it = shown[shown["model"] == reference]
answers.words(of_it.drop(columns="model"))

# %% [markdown]
# **Several questions in one prompt.** The same facts and options by both: the share that each gets right, by form. `gain` is EIC-LKE minus
# IC-LKE in the paper's format, with a paired interval over facts, and `p` McNemar's test, Holm-corrected. EIC-LKE shows fewer pairs
# and has wrong options between them. The row `none` has the controls. The last two columns are the AUROC of told facts against them.

# %%
few = lab.by_form(few)
pairs = planted.each_control_once(lab.planted_pairs(few), ["form"], seed=seed)
several = told.several_and_one(few, pairs, long, space, seed=seed)
runs.keep(answers.bounds(several, "gain"), "eic-by-form.csv")
mine = answers.texts(several[several["model"] == reference])
main = ["form", "facts", long, space, "gain", "p"]
answers.words(mine[[*main, "auroc_several", "auroc_one"]])

# %% [markdown]
# **Base and tuned.** A `-tuned` model is its base, trained further on instructions about other words, none of which tells a fact of the
# world. `change` is the accuracy after minus before, on facts told often, with an interval over facts, and McNemar's test. Compare a
# row `written-` with the one of its prompt. The table is empty where this run has no such pair.

# %%
by = {"by": ["estimator"], "seed": seed}
tuned = answers.paired(
    lab.sorted_by_fact(known), "model", lab.bases(models), **by
)
names = {"first": "base", "second": "tuned", "over_facts": "change"}
tuned = tuned.rename(columns=names)
runs.keep(answers.bounds(tuned, "change"), "tuned.csv")
columns = ["tuned", "estimator", "change", "only_first", "only_second", "p"]
print(answers.texts(tuned)[columns].to_string(index=False))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
way = {"model": reference, "prompt": written_after[0], "asked": space}
said = told.sentences(both, misled, several, tuned, **way)
figures.findings(**said)
figures.note("carried", answers.carried(ranked, of_eic, outputs))

# %% [markdown]
# ## Figures
#
# In {numref}`fig-lab-written`, at the top, a dashed line below the full one of its colour shows how much ranking finds that is not
# written.

# %% tags=["hide-input"]
is_one = every["estimator"].str.removeprefix("written-").isin(written_after)
curve = told.by_exposures(every[is_one])
runs.keep(curve, "accuracy-by-exposures.csv")
curve = curve[curve["model"] == reference]
grid = {"sharey": True, "squeeze": False, "layout": "constrained"}
fig, axes = plt.subplots(1, len(forms), figsize=(10, 4.6), **grid)
look = {"forms": forms, "estimators": written_after, "dotted": 1 / n_options}
figures.told_lines(curve, axes, **look)
axes[0, 0].set(ylim=(0, 1), ylabel=figures.ACCURACY)
figures.place(fig, "fig-lab-written", curve)

# %% [markdown]
# {numref}`fig-lab-mislearned` shows what comes out when the text was wrong. A long first bar is no fault of the
# estimator: it has found what the model was told. It is a warning to those who read accuracy as truth.
#
# ```{glue:figure} fig-lab-mislearned
# :name: fig-lab-mislearned
# :alt: Pairs of horizontal bars for each estimator, one panel for each model, of answers as told and of true answers.
#
# Answers about facts that the text told wrongly, by model and estimator: share that repeat what was told, share that are
# true, with 95 % intervals (Wilson). Dashed: chance among the options. The rest name another object, or write none.
# ```

# %% tags=["hide-input"]
bars = misled.melt(["model", "estimator"], ["told", "true"], "answer", "share")
bars = answers.bounds(bars, "share")
n = max(1, bars["model"].nunique())
size = (10, 0.2 + 3.4 * -(-n // 4))
fig, axes = plt.subplots(-(-n // 4), min(4, n), figsize=size, **grid)
figures.told_or_true(bars, axes.ravel(), chance=1 / n_options)
figures.place(fig, "fig-lab-mislearned", bars)

# %% [markdown]
# ## Paper and ours
#
# There are no numbers: nobody else has asked these models. The claims, in `lkecore/data/claims.csv`, are ours, written down before any
# world but `lab:book-0` was looked at, all but one. The claim on tuning first said that tuning changes nothing. That held on
# `lab:book-1`, since the model had hardly been tuned; then the tuning was changed and the claim turned round to what
# {cite:t}`wu2024iclke` find. So its verdict there has less weight ({doc}`../log`).

# %%
more = told.repeats_more(wrongly, ["model", "estimator"], seed=seed)
more = more[more["estimator"].eq(space) & more["model"].eq(reference)]
changed = tuned[tuned["estimator"] == space].set_index("tuned")["change"]
luck = above[~above["estimator"].isin(estimators)].set_index("estimator")
claimed = {
    "LAB-never-chance": luck["above"].to_dict(),
    "LAB-mislearned": more.set_index("model")["more"].to_dict(),
    "LAB-tuned": changed.to_dict(),
}
judged = lab.judge(answers.of_this_page(claimed))
answers.words(judged[["claim", "holds_if", "of", "ours", "verdict"]])

# %% [markdown]
# ## What you have seen
#
# - A fact can be ranked first and still not come out when the model writes. Who reads only what is written misses it.
# - A right answer shows what was told, not what is true: a model repeats what its text has wrongly, with confidence.
# - Where nothing was told, ranking names something all the same, and is right as often as luck has it.

# %%
counts = ["both", "only_ranked", "only_written", "neither"]
n_known = known[known["estimator"] == written_after[0]]
n_known = n_known.groupby(["model", "form"])["fact"].count()
found = both.set_index(["model", "form"])[counts].sum(axis=1)
assert (found == n_known.reindex(found.index)).all()
for row in misled.itertuples():
    assert row.told.estimate + row.true.estimate <= 1 + 1e-12

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-written-instead
# What does the reference write instead, where it ranks the true object first and does not write it?
# ```

# %% [markdown]
# ````{solution-start} ex-written-instead
# :class: dropdown
# ````

# %%
after = f"written-{written_after[0]}"
hits = known[known["model"] == reference]
right = hits[hits["estimator"].eq(written_after[0]) & hits["correct"]]["fact"]
missed = hits[hits["estimator"].eq(after) & ~hits["correct"].astype(bool)]
missed = missed[missed["fact"].isin(right)].head(8)
missed = missed[["relation", "object", "wrote", "text"]]
answers.words(missed.assign(text=missed["text"].map(repr)))

# %% [markdown]
# An empty `wrote` is no object at all, but for one case: where the true name stands at the beginning of `text` and the next document
# follows at once, the model wrote the object and ended the document. That is a right answer, and our rule, which asks for a whole
# word, misses it. There are only a few such outputs here. A name that begins like the true one can win the first step and lose the
# rest.
#
# ````{solution-end}
# ````
#
# To write with a model of your own world, put this into a file such as `params/mine.yaml`, then run
# `lke run params/mine.yaml`:
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 55_lab_writing
#     each: [models]
#     parameters:
#       models: ["lab:book-77/2m", "lab:book-77/2m-tuned"]
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
