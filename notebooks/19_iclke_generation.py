# %% [markdown]
# # What does a model write?
#
# On the other pages of this part a model chooses among options. Here it has none. It gets the same prompts and goes on
# writing, and we look for the right object in what it wrote. Does it write what it ranks first?
#
# **What came out.** {glue:text}`written` {glue:text}`ranked` {glue:text}`tuned` {glue:text}`longer`
#
# ```{glue:} carried
# ```
#
# ```{glue:figure} fig-generation-bars
# :name: fig-generation-bars
# :alt: For each model a panel of horizontal bars for each kind of prompt: object anywhere in the output, output begins with the object, ranking right, with intervals and marks at the share of stray hits and at what a rule gets.
#
# Share of facts that are found in what the model wrote, by kind of prompt and rule, and accuracy of the ranking on the
# same facts (the paper's Figure 16). A panel for each model; "on" and a name: a longer run, on other facts. Lines: 95 %
# intervals over facts. White-rimmed marks: at the first bar stray hits, the share of outputs that hold the object of
# another fact; at the last what the best rule without a model gets.
# ```
#
# What to see: how far bars clear their white-rimmed marks; how much is left when the output must begin with the object;
# whether kinds come in the same order in writing and in ranking.
#
# Afterwards you will be able to say
#
# - how many facts come out when a model writes freely, after examples and after templates,
# - how much of this depends on what we count as a right answer, and how much is accident,
# - whether a model writes what it ranks first.

# %% [markdown]
# ## What the paper claims
#
# {cite:t}`wu2024iclke` check their estimator by what models write (Appendix H.7). Models continue a prompt by 50
# {term}`tokens <token>`, and always take the most probable next one (*greedily*). An output is right if the true
# object stands anywhere in it. Figure 16 shows this for the 12 relations that have templates in its Table 5, for
# pre-trained and for fine-tuned models, with {term}`IC-LKE` prompts and with both kinds of templates
# ({term}`HGP`, {term}`MMP`). We test two claims:
#
# - after IC-LKE prompts more facts are found than after templates,
# - after fine-tuning fewer are found, as with options.
#
# The paper says the second in words: Figure 16 shows "the same pattern" (Section 4.2.2). The first it says only
# of options (Figure 3). That it should hold of writing, too, is our reading.
#
# Writing is more expensive than ranking: each new token needs a {term}`forward pass` after the one before it. So by
# default few facts are asked.

# %% [markdown]
# ## Parameters
#
# A model of the lab is asked about the {term}`world` that it has read, any other about `fact_set`. So there are
# two lists of relations and of prompts. `hgp` and `mmp` stand for all templates of the paper that a relation has
# of this kind. The first of each list shows examples.

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital", "film_language", "official_language"]
kinds: list[str] = ["iclke-space", "hgp", "mmp"]
n_facts: int = 25  # test facts of each relation that are ranked
n_written: int = 8  # the first of them, which are continued too
lab_relations: list[str] = ["birth_year", "first_language", "residence"]
lab_kinds: list[str] = ["iclke-space", "template-1", "template-5"]
lab_facts: int = 40  # facts of each relation of the lab, all continued
lab_window: int = 384  # tokens of a row that the lab's models were trained on
n_shots: int = 50  # pairs shown before the question, for IC-LKE
n_redraws: int = 0  # further draws of shots
n_options: int = 10  # candidate objects of each, or as many as there are
n_tokens: int = 50  # new tokens of an output
results: str = ""  # profile in results/ that carries this page; empty: none
n_again: int = 4  # of its questions, for each estimator, are asked again
shipped: list[str] = []  # profiles in results/ to set beside
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import pandas as pd

from lkecore import answers, facts, figures, prompts, runs
from lkecore import models as lms
from lkecore.answers import outputs, rules, templates, uncued, written
from lkecore.facts.world import states
from lkecore.models import lab

figures.style()

# %% [markdown]
# ## Facts
#
# Of the lab we ask {term}`planted facts <planted fact>` that the text tells 16 times or more, be it in lists, in
# sentences or in both.
#
# All facts below are asked with options. The first of them are continued, too, and everything on this page is about these.

# %%
written.check(kinds, lab_kinds, n_written=n_written, n_facts=n_facts)
in_lab = {name: lab.is_name(name) for name in models}
about = {m: [lab.parse(m).world if in_lab[m] else fact_set] for m in models}
samples, first = {}, {}
for spec in dict.fromkeys(spec for [spec] in about.values()):
    of_lab = lab.is_name(spec)
    often = "state == 'planted' and occurrences >= 16"
    samples[spec] = facts.draw(
        spec,
        lab_relations if of_lab else relations,
        n_shots=n_shots,
        n_facts=lab_facts if of_lab else n_facts,
        n_options=n_options,
        seed=seed,
        among=set(states(spec).query(often)["fact"]) if of_lab else None,
        exactly=True,
        take_fewer=True,
    )
    first[spec] = lab_facts if of_lab else n_written

# %%
for spec, sample in samples.items():
    for name, drawn in sample.items():
        differ = len({fact.object for fact in drawn.facts[: first[spec]]})
        print(f"{spec}, {name}: {len(drawn.facts)} ranked", end=", ")
        print(f"{first[spec]} continued, which have {differ} objects")

# %% [markdown]
# ## Prompts
#
# The prompts are those of the other pages: pairs for IC-LKE, with one space everywhere, and templates without any
# example. Only the {term}`context` is used for writing. An IC-LKE prompt says with its examples in what form it
# wants an answer. A template says nothing on where to stop. With `n_redraws`, pairs are drawn again, and a fact counts
# with its mean over all draws.

# %%
seeds = range(seed + 1, seed + 1 + n_redraws)
questions = {
    (spec, *key): made
    for spec, sample in samples.items()
    for key, made in prompts.of_kinds(
        sample, lab_kinds if lab.is_name(spec) else kinds, draws=seeds
    ).items()
}
to_write = {key: made[: first[key[0]]] for key, made in questions.items()}
for (asked_of, _, estimator, name), made in questions.items():
    if name == next(iter(samples[asked_of])):
        print(f"{estimator:12} {made[0].context[-55:] + '____'!r}")

# %% [markdown]
# ## Scores
#
# For each question two things: the output, and the ranking of the options, as on the other pages. Nothing ends an output
# but the model's own end token, or the number of tokens. A prompt and its output together must not be longer than the
# model's window, or nothing is written. For models of the lab that is the length of their training rows.
#
# Three rules for a right output, from the most to the least generous:
#
# - `anywhere`: the object stands in the output, be it inside a longer word. This is the paper's rule.
# - `whole words`: the same, but the object must stand there by itself. *Niger* is not found in *Nigeria*.
# - `at the start`: the output begins with the object, after spaces, and again it must stand there by itself.
#
# Only the object that the options have counts, and no other name of it. Upper and lower case must agree.
#
# Besides we count {term}`stray hits <stray hit>`, of which the paper does not speak. Take an output, and look in
# it for the object of *another* asked fact of the relation. How often is it there, on average over all the other
# facts? So often would an output be right that has nothing to do with its subject. Stray hits are many where few
# objects are common, and where outputs list many of them.

# %% covers=["IC-S6"]
this = "19_iclke_generation"
by = ["fact_set", "kind", "estimator", "relation"]
how = {"dtype": dtype, "page": page, "by": by, "results": results}
how |= {"notebook": this, "n_again": n_again}
how |= {"only": about, "only_by": "fact_set"}
windows = {name: lab_window for name in models if in_lab[name]}
long = how | {"max_new_tokens": n_tokens, "windows": windows}
texts = answers.write(models, to_write, "answers-written.parquet", **long)
ranked = answers.ask(models, questions, "answers.parquet", **how)
ours = outputs.with_rankings(texts, ranked)
print(f"{len(ours):,} outputs, of up to {n_tokens} tokens, after prompts of")
print(f"{ours['prompt_tokens'].max()} at most; {len(ranked):,} rankings")
print(*answers.made_by(shipped, this), sep="\n")

# %% [markdown]
# Some of them: the outputs for the first fact of a relation, one of each kind of prompt, as the model wrote them. Look at
# what comes after the first few words. A model that has been shown pairs tends to write more pairs, with subjects of its
# own. The paper's rule searches these, too.

# %%
some = ours.drop_duplicates(["model", "kind"])
shown = some[["model", "estimator", "subject", "object"]]
answers.words(shown.assign(text=some["text"].map(repr).str[:200]))

# %% [markdown]
# ## Answers
#
# Where a kind has several templates, a fact counts with its mean over them. Each relation counts alike. The
# intervals are over facts of these very relations (bootstrap). Where all outputs are wrong, or all are right, an
# interval has no width; that is no certainty. The stray hits of an output depend on which other facts are asked, too.
# Their intervals leave this out.
#
# `above stray` is `anywhere` minus `stray`: what the subject has to do with it. `ranking` is the accuracy with
# options, on the same facts, and `rule` what the best {term}`rule` without a model gets. *No cue*: on facts without a
# {term}`cue`.

# %%
cues = rules.of_sets(samples, kept=not page)
every = outputs.beside(ours, shipped, this)
every = outputs.with_rules(every, cues, shipped, this)
every["above_stray"] = every["anywhere"] - every["stray"]
measures = ["anywhere", "whole_words", "at_the_start", "stray"]
measures += ["above_stray", "ranking", "rule"]
each = written.by_fact(every, measures)
shares = written.shares(each, measures, seed=seed)
two = ["anywhere", "ranking"]
plain = written.by_fact(uncued.without(every), two)
left = written.shares(plain, two, seed=seed)
left["measure"] += ", no cue"
shares = pd.concat([shares, left], ignore_index=True)
numbers = answers.bounds(shares, "share")
runs.keep(numbers, "shares.csv")
of_relation = each.groupby(["model", "kind", "relation"], sort=False)
means = of_relation[["anywhere", "stray", "ranking", "rule"]].mean()
means.insert(0, "facts", of_relation.size())
runs.keep(means.reset_index(), "shares-by-relation.csv")
table = answers.texts(shares).pivot(
    index=["model", "kind"], columns="measure", values="share"
)
rows = means.index.droplevel("relation").unique()
answers.words(table.loc[rows, shares["measure"].unique()].reset_index())

# %% [markdown]
# **Writing and ranking.** Do they agree, fact by fact? `kappa` is Cohen's: 1 if the two always agree, 0 if they
# agree as often as two would that have nothing to do with each other, with an approximate 95 % interval. It has no
# value where one of the two is always right or always wrong. All relations are counted together. So a part of the
# agreement may only say that both find the same relations easy. Ranking is the easier task: it has only the
# options to choose from.
#
# `starting` is the share of the `right` outputs that begins with the object. An object that comes later may still be an
# answer, as in *"the city of Paris"*. After pairs it may as well be an answer to a question that the model has asked
# itself. Here we take the first prompt of each kind, so that each fact counts once.

# %%
agreement = outputs.agreement(written.once(every))
runs.keep(answers.texts(agreement), "agreement.csv")
answers.words(answers.texts(agreement))

# %% [markdown]
# ## Figures
#
# {numref}`fig-generation-bars`, at the top, is the paper's Figure 16 for the models of this page, with the ranking and the
# stray hits beside it.

# %% covers=["IC-F16"] shows=["run", "shipped"] tags=["hide-input"]
bars = {"bars": ["anywhere", "at the start", "ranking"]}
bars |= {"marks": {"anywhere": "stray", "ranking": "rule"}}
fig = figures.written_by_model(numbers, **bars)
figures.place(fig, "fig-generation-bars", numbers)

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None. The values behind Figure 16 are lost in our copy, and no text or table repeats them.
#
# **Claims.** Statistic, direction and least effect stand in `lkecore/data/claims.csv` since before the first run
# of this page. The first is about the templates that people wrote (`hgp`), so it needs a model that is asked with
# them. The second needs a fine-tuned model and its base in the same run: in the lab's names, `-tuned` and the
# name without it.
#
# The verdict is by the interval over relations, which is wide for two or three of them. Beside it stand the one over
# facts of these very relations, and `no_cue`: looked at when all verdicts were known, it changes none. A line names the claims that these models cannot test.

# %%
ic = outputs.first_kinds(every)
sides = outputs.sides(ic, lms.bases_of(models))
gaps = {}
for claim, of in sides.items():
    both = (written.differences(a, of, seed=seed) for a in (each, plain))
    gaps[claim] = uncued.beside(*both)

# %%
tested = outputs.for_claims(gaps, ic)
own = {"marks": outputs.in_lab(tested), "as_paper": True}
own["no_cue"] = outputs.for_claims(gaps, ic, "no_cue")
judged = answers.judge(tested, estimator="iclke-space", **own)
gap = pd.concat(gaps, names=["id", ""]).reset_index("id")
gap = templates.with_source(gap)[["id", "source", "model", "of", "over_facts"]]
gap = gap.rename(columns={"model": "models"})
compared = judged.merge(gap, on=["id", "models", "source"])
runs.keep(answers.texts(compared, 3), "differences.csv")
untested = [claim for claim, found in tested.items() if not found]
print("not tested here:", ", ".join(untested) or "none")
shown = ["claim", "of", "ours", "holds_if", "verdict", "mark", "over_facts"]
shown += ["no_cue", "without_cues"]
answers.words(answers.texts(compared[shown], 3))

# %% [markdown]
# What this page says at its top is put together from these tables. No number in it is typed.

# %% tags=["hide-input"]
said = outputs.sentences(shares, gaps["IC-generation-tuned"])
ways = gaps["IC-generation-above"]
longer = uncued.told(outputs.longer(shares), ways, ways)
figures.findings(**said, longer=longer)
figures.note("carried", answers.carried(texts, ranked))

# %% [markdown]
# Where a claim fails, begin with the outputs above, and with two rows of the first table. If IC-LKE lies below
# templates `anywhere` but not `at the start`, the templates have gained by writing more text that is about the
# subject. If it lies below in both, look at `ranking`: does it rank more rightly than it writes? Then the format
# may be at fault. With one space between everything, a small model may not see where an answer is due, and write
# another subject instead.
#
# Where the second claim holds, read what the tuned model writes. If that is an instruction or a reply to one,
# tuning has first of all changed what the model goes on with. It need not have taken the facts away: `ranking`
# shows how many are still there when only the options are compared. And a model that is tuned for instructions, as our
# default is, expects a question and gets a list.

# %% [markdown]
# ## What you have seen
#
# - What counts as a right output decides much: 50 tokens have room for many objects.
# - Stray hits measure this, and the paper has no such number. A rule that any list of capitals passes does not measure
#   knowledge about one country.
# - A fact that is ranked first need not be written. That the model does not say it is no proof that it is not there.

# %%
assert not (every["at_the_start"] & ~every["whole_words"]).any()
assert not (every["whole_words"] & ~every["anywhere"]).any()
by_hand = means["anywhere"].groupby(["model", "kind"]).mean()
for row in shares[shares["measure"] == "anywhere"].itertuples():
    assert abs(by_hand[row.model, row.kind] - row.share.estimate) < 1e-9

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-generation-length
# The paper looks at 50 tokens. What if it had looked at fewer? Count an output as right only if the object stands
# in its first 1, 3, 5, 10 or 20 words.
# ```

# %% [markdown]
# ````{solution-start} ex-generation-length
# :class: dropdown
# ````

# %%
answers.words(written.by_length(ours, [1, 3, 5, 10, 20, 50]), digits=2)

# %% [markdown]
# If a row rises at once and then stays level, the model answers first and talks later. If it goes on
# rising, ask what is being found: the answer, or one of many names. (These are means over outputs, not relations.)
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-generation-only-ranked
# Take facts that the model ranks rightly and does not write, after IC-LKE prompts. What does it write instead? Is
# it a wrong answer, or no answer?
# ```

# %% [markdown]
# ````{solution-start} ex-generation-only-ranked
# :class: dropdown
# ````

# %%
single = written.once(ours)
quiet = single["kind"].str.startswith("iclke-") & ~single["anywhere"]
quiet = single[quiet & single["ranking"]].head(6)
quiet = quiet[["model", "subject", "object", "text"]]
answers.words(quiet.assign(text=quiet["text"].str[:60]))

# %% [markdown]
# An object of the same kind, in the place of the answer, is a wrong answer. The name of a subject, or a text
# about something else, is none: the model has not been *asked* in a way that it understood. Options hide this.
#
# ````{solution-end}
# ````
#
# To see what another model writes, put this into a file such as `params/mine.yaml`, then run `lke run params/mine.yaml`.
# For facts of your own, name them as `fact_set`, and put `template-1` in the place of `hgp` if the paper has no templates
# for your relations.
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 19_iclke_generation
#     each: [models]
#     parameters:
#       models: [smollm2, gemma3-270m]
#       relations: [capital, official_language]
#       n_written: 25
# ```

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*models, dtype=dtype)
