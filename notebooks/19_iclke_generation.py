# %% [markdown]
# # What does a model write?
#
# All other pages of this part let a model choose among options. Here it has none. It gets the same prompts and
# goes on writing, and we look for the right object in what it wrote. Afterwards you will be able to say
#
# - how many facts come out when a model writes freely, after examples and after templates,
# - how much of this depends on what we count as a right answer,
# - how often a right object would be found by accident,
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
# of options (Figure 3). That it should hold of writing, too, is our reading of what the figure is for.
#
# Figure 16 has no numbers beside its bars, and the bars are lost in our copy. Writing is dearer than ranking:
# each new token needs a {term}`forward pass` after the one before it. This page asks a small model about few
# facts, and two models of the lab about some more.
#
# In the list of the book's coverage: IC-S6, IC-F16.

# %% [markdown]
# ## Parameters
#
# A model of the lab is asked about the {term}`world` that it has read, any other about `fact_set`. So there are
# two lists of relations and of prompts. `hgp` and `mmp` stand for all templates of the paper that a relation has
# of this kind.

# %% tags=["parameters"]
models: list[str] = ["smollm2"]
fact_set: str = "atlas"
relations: list[str] = ["capital", "film_language", "official_language"]
kinds: list[str] = ["iclke-space", "hgp", "mmp"]  # the first shows examples
n_facts: int = 25  # test facts of each relation that are ranked
n_written: int = 8  # the first of them, which are continued too
lab_relations: list[str] = ["birth_year", "first_language", "residence"]
lab_kinds: list[str] = ["iclke-space", "template-1", "template-5"]
lab_facts: int = 40  # facts of each relation of the lab, all continued
lab_window: int = 384  # tokens of a row that the lab's models were trained on
n_shots: int = 50  # pairs shown before the question, for IC-LKE
n_options: int = 10  # candidate objects of each, for the ranking
n_tokens: int = 50  # new tokens of an output
seed: int = 0  # draws shots, facts, options and resamples
dtype: str = "float32"
page: bool = False  # set by lke run: read the runs, compute nothing

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from statsmodels.stats.inter_rater import cohens_kappa

from lkecore import facts, figures, intervals, lab, paper, prompts, runs, world
from lkecore.metrics import iclke, match
from lkecore.models import open_model
from lkecore.rows import BadInput
from lkecore.scores.generate import generate
from lkecore.scores.tokens import encode_texts
from lkecore.scores.tree import option_logprobs

figures.style()

# %% [markdown]
# ## Facts
#
# Of the lab we ask {term}`planted facts <planted fact>` that the text tells 16 times or more, be it in lists, in
# sentences or in both. Of facts that it tells wrongly or not at all, a model could write the truth only by luck.

# %%
if not (kinds[0] + lab_kinds[0]).startswith("iclke-"):
    raise BadInput(f"{kinds[0]} and {lab_kinds[0]}: must begin with iclke-")
if not 2 <= n_written <= n_facts:
    raise BadInput(f"n_written {n_written}: must be from 2 to {n_facts}")
specs = {m: lab.parse(m).world if lab.is_name(m) else fact_set for m in models}
loaded, shots, asked, options, written = {}, {}, {}, {}, {}
for spec in dict.fromkeys(specs.values()):
    of_lab = world.is_spec(spec)
    n = lab_facts if of_lab else n_facts
    for name in lab_relations if of_lab else relations:
        key = spec, name
        loaded[key] = facts.load(*key)
        train, test = facts.divide(loaded[key])
        if of_lab:
            told = world.states(spec).query("state == 'planted'")
            often = set(told.loc[told["occurrences"] >= 16, "fact"])
            test = [fact for fact in test if fact.id in often]
        if len(test) < n:
            raise BadInput(f"{spec}, {name}: {len(test)} facts, needs {n}")
        shots[key] = facts.draw_shots(train, n_shots, seed)
        asked[key] = facts.draw_facts(test, n, seed)
        drawn = asked[key], loaded[key].objects, n_options, seed
        options[key] = facts.draw_options(*drawn)
        written[key] = asked[key][: n if of_lab else n_written]

# %% [markdown]
# `ranked` facts are asked with options. The first of them are `continued`, too, and everything below is about
# these. `objects` counts how many different objects they have. Where it is small, a model that always writes the
# most frequent one will often be right.

# %%
rows = [
    (*key, len(asked[key]), len(some), len({fact.object for fact in some}))
    for key, some in written.items()
]
columns = ["fact set", "relation", "ranked", "continued", "objects"]
pd.DataFrame(rows, columns=columns).set_index(columns[:2])

# %% [markdown]
# ## Prompts
#
# The prompts are those of the other pages: pairs for IC-LKE, with one space everywhere, and templates without any
# example. Only the {term}`context` is used for writing. An IC-LKE prompt says with its examples in what form it
# wants an answer. A template says nothing on where to stop.

# %%
questions = {}
for (spec, name), relation in loaded.items():
    key = spec, name
    have = prompts.templates_of(relation)
    for kind in lab_kinds if world.is_spec(spec) else kinds:
        found = [n for n in have if n == kind or n.startswith(f"{kind}-")]
        if kind in ("hgp", "mmp") and not found:
            raise BadInput(f"{name} of {spec} has no {kind} in Table 5")
        for prompt in found or [kind]:
            ask = shots[key], asked[key], options[key]
            made = prompts.asking(prompt, relation, *ask)
            questions[*key, kind, prompt] = made
            if name == (relations, lab_relations)[world.is_spec(spec)][0]:
                print(f"{prompt:12} {made[0].context[-55:] + '____'!r}")

# %% [markdown]
# Does everything fit? A prompt and its output together must not be longer than the model's window. Models of the
# lab could read more than the 384 tokens of their training rows, but they have never met a longer text. So for
# them we stop at that length. Relations whose 50 pairs are longer than this are not in the list.

# %%
lms = {} if page else {name: open_model(name, dtype=dtype) for name in models}
length = {}
for model, lm in lms.items():
    window = lab_window if lab.is_name(model) else lm.context_length
    for key, made in questions.items():
        if key[0] != specs[model]:
            continue
        texts = [each.context for each in made]
        ids = encode_texts(lm.tokenizer, texts, add_bos=lm.add_bos)
        length[model, *key] = longest = max(map(len, ids))
        if window and longest + n_tokens > window:
            raise BadInput(
                f"{model}, {key[1]}, {key[3]}: {longest} tokens and {n_tokens} "
                f"new ones are more than {window}; show fewer pairs"
            )

# %% [markdown]
# ## Scores
#
# For each question two things: the ranking of the options, as on the other pages, and the output. All prompts of
# a relation go on side by side, so that a step of writing is one pass for all of them. Nothing ends an output but
# the model's own end token, or the number of tokens.

# %%
rows = []
for model, lm in lms.items():
    mine = {k: made for k, made in questions.items() if k[0] == specs[model]}
    for name in dict.fromkeys(name for _, name, *_ in mine):
        n = len(written[specs[model], name])
        here = {k: made for k, made in mine.items() if k[1] == name}
        texts = [q.context for made in here.values() for q in made[:n]]
        outputs = generate(lm, texts, max_new_tokens=n_tokens, stop=None)
        outputs = outputs["text"].tolist()
        for i, (key, made) in enumerate(here.items()):
            ranked = iclke.answers(option_logprobs(lm, made).frame)[:n]
            about = dict(
                zip(["relation", "kind", "prompt"], key[1:], strict=True)
            )
            about["subject"] = [q.subject for q in made[:n]]
            about["object"] = [q.options[q.gold] for q in made[:n]]
            about["text"] = outputs[i * n : (i + 1) * n]
            about["prompt_tokens"] = length[model, *key]
            ranked = ranked.rename(columns={"right": "ranking"})
            rows.append(ranked.assign(model=model, **about))

# %% [markdown]
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

# %%
for part in rows:  # the outputs about one relation after one prompt
    pairs = list(zip(part["text"], part["object"], strict=True))
    part["anywhere"] = [match.contains(text, [o]) for text, o in pairs]
    part["whole words"] = [
        match.contains(text, [o], whole_words=True) for text, o in pairs
    ]
    part["at the start"] = [match.begins_with(text, o) for text, o in pairs]
    part["stray"] = [
        np.mean([match.contains(text, [o]) for o in part["object"].drop(row)])
        for row, text in part["text"].items()
    ]

# %% [markdown]
# A run keeps one row for each question: the output, whether it is right by each rule, and whether the ranking was
# right. `prompt_tokens` is the longest prompt among those of its kind.

# %%
if page:
    answers = runs.collect("answers.parquet")
else:
    answers = pd.concat(rows, ignore_index=True)
    runs.keep(answers, "answers.parquet")
print(f"{len(answers):,} outputs, of up to {n_tokens} tokens")
by = answers.groupby(["model", "kind"], sort=False)
by.agg(outputs=("text", "size"), longest_prompt=("prompt_tokens", "max"))

# %% [markdown]
# Some of them. These are the outputs for the first fact of a relation, one of each
# kind of prompt, as the model wrote them. Look at what comes after the first few words. A model that has been
# shown pairs tends to write more pairs, with subjects of its own. The paper's rule searches these, too.

# %%
first = answers.drop_duplicates(["model", "kind"])
some = first[["model", "prompt", "subject", "object", "text"]].copy()
some["text"] = some["text"].map(repr).str[:200]
some.style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# ## Metrics
#
# Where a kind has several templates, a fact counts with its mean over them. Each relation counts alike. The
# intervals are over facts of these very relations (bootstrap). With so few facts they are wide, and if anything
# too narrow. Where all outputs are wrong, or all are right, an interval has no width. That is no certainty. The
# stray hits of an output depend on which other facts are asked, too. Their intervals leave this out.
#
# `above stray` is `anywhere` minus `stray`: what the subject has to do with it. `ranking` is the accuracy with
# options, on the same facts.

# %% covers=["IC-S6"]
answers["above stray"] = answers["anywhere"] - answers["stray"]
measures = ["anywhere", "whole words", "at the start", "stray"]
measures += ["above stray", "ranking"]
index = ["model", "kind", "relation", "fact"]
by_fact = answers.groupby(index, sort=False)[measures].mean()
rows = []
for key, part in by_fact.groupby(["model", "kind"], sort=False):
    groups = [group for _, group in part.groupby("relation", sort=False)]
    for measure in measures:
        values = [group[measure] for group in groups]
        found = intervals.mean_over_facts(values, seed=seed)
        bounds = found.estimate, found.low, found.high, found.text()
        rows.append((*key, measure, *bounds, len(part)))
columns = ["model", "kind", "measure", "share", "low", "high", "text", "facts"]
shares = pd.DataFrame(rows, columns=columns)
runs.keep(shares.drop(columns="text"), "shares.csv")
index = pd.MultiIndex.from_frame(shares[["model", "kind"]]).unique()
shares.pivot(index=["model", "kind"], columns="measure", values="text").loc[
    index, measures
]

# %% [markdown]
# The same by relation, by the paper's rule, with the number of facts. A few facts are no ground for a sentence on
# one relation. The table is there to show whether one relation makes up the mean.

# %%
columns = ["model", "kind", "relation"]
groups = by_fact.groupby(columns, sort=False)
table = groups[["anywhere", "stray", "ranking"]].mean()
table.insert(0, "facts", groups.size())
runs.keep(table.reset_index(), "shares-by-relation.csv")
table.round(2)

# %% [markdown]
# **Where does the object stand?** Of the outputs that the paper's rule counts as right, the share that begins
# with the object, and the share that has it only later. An object that comes later may still be an answer, as in
# *"the city of Paris"*. After pairs it may as well be an answer to a question that the model has asked itself.
# Here and in the next table we take the first prompt of each kind, so that each fact counts once. Three outputs
# about one fact are no three facts, and the intervals would be too narrow.

# %%
rows = []
first = answers.groupby(["model", "relation", "kind"])["prompt"]
once = answers[answers["prompt"] == first.transform("first")]
for key, part in once.groupby(["model", "kind"], sort=False):
    right = part[part["anywhere"]]
    if len(right):
        n = int(right["at the start"].sum())
        start = intervals.proportion(n, len(right)).text()
        later = intervals.proportion(len(right) - n, len(right)).text()
    else:
        start = later = "none is right"
    rows.append((*key, len(part), len(right), start, later))
columns = ["model", "kind", "outputs", "right", "at the start", "only later"]
pd.DataFrame(rows, columns=columns).set_index(["model", "kind"])

# %% [markdown]
# **Writing and ranking.** Do they agree, fact by fact? `kappa` is Cohen's: 1 if the two always agree, 0 if they
# agree as often as two would that have nothing to do with each other, with an approximate 95 % interval. It has no
# value where one of the two is always right or always wrong. All relations are counted together. So a part of the
# agreement may only say that both find the same relations easy. Ranking is the easier task: it has only the
# options to choose from.

# %%
rows = []
for key, part in once.groupby(["model", "kind"], sort=False):
    both = part["anywhere"], part["ranking"]
    table = np.array(
        [
            [((both[0] == a) & (both[1] == b)).sum() for b in (True, False)]
            for a in (True, False)
        ]
    )
    kappa = "no value"
    if table.sum(axis=0).all() and table.sum(axis=1).all():
        found = cohens_kappa(table)
        bounds = found.kappa, found.kappa_low, found.kappa_upp
        kappa = intervals.Interval(*bounds, 0.95, "Cohen's kappa").text()
    rows.append((*key, *table.ravel(), kappa))
columns = "model,kind,both,only written,only ranked,neither,kappa".split(",")
agreement = pd.DataFrame(rows, columns=columns)
runs.keep(agreement, "agreement.csv")
agreement.set_index(["model", "kind"])

# %% [markdown]
# ## Figures
#
# {numref}`fig-generation-bars` is the paper's Figure 16, for the models of this page, with the ranking and the
# stray hits beside it. What to see: how far the first bar clears its white-rimmed mark; how much is left when the
# output must begin with the object; and whether the kinds of prompts come in the same order in writing and in
# ranking.

# %% covers=["IC-F16"] tags=["hide-input"] mystnb={"figure": {"name": "fig-generation-bars", "caption": "Share of facts that are found in what the model wrote, by kind of prompt and rule, and accuracy of the ranking on the same facts (the paper's Figure 16). A panel for each model. Lines: 95 % intervals over facts. White-rimmed marks: stray hits, the share of outputs that hold the object of another fact."}, "image": {"alt": "For each model a panel of horizontal bars for each kind of prompt: object anywhere in the output, output begins with the object, ranking right, with intervals and a mark at the share of stray hits."}}
bars = ["anywhere", "at the start", "ranking"]
drawn = shares[shares["measure"].isin(bars)]
size = {"figsize": (8, 1 + 2.2 * len(models)), "layout": "constrained"}
fig, axes = plt.subplots(len(models), 1, sharex=True, squeeze=False, **size)
for ax, model in zip(axes[:, 0], models, strict=True):
    part = drawn[drawn["model"] == model]
    rows = part["kind"].unique().tolist()
    look = {"palette": sns.color_palette(figures.PALETTE, 3), "errorbar": None}
    look |= {"y": "kind", "x": "share", "hue_order": bars, "order": rows}
    sns.barplot(part, hue="measure", legend=model == models[0], **look, ax=ax)
    at = (
        part["kind"].map(rows.index) + part["measure"].map(bars.index) * 0.8 / 3
    )
    ends = part["low"], part["high"]
    ax.hlines(at - 0.8 / 3, *ends, color=figures.DARK, lw=1.5)
    lies = shares[(shares["measure"] == "stray") & (shares["model"] == model)]
    place = lies["kind"].map(rows.index)
    for color, lw in (("white", 5), (figures.DARK, 2)):
        mark = {"color": color, "lw": lw}
        ax.vlines(lies["share"], place - 0.4, place - 0.13, **mark)
    ax.set(xlim=(0, 1), title=model, ylabel="", xlabel="share of facts")
names = axes[0][0].get_legend_handles_labels()
axes[0][0].get_legend().remove()
fig.legend(*names, loc="outside upper center", ncols=3, frameon=False)
runs.keep(shares.drop(columns="text"), "fig-generation-bars.csv")

# %% [markdown]
# ## Paper and ours
#
# **Numbers.** None. The values behind Figure 16 are lost in our copy of the paper, and no text or table repeats
# them. Its models and facts are others, too.
#
# **Claims.** Statistic, direction and least effect stand in `lkecore/data/claims.csv` since before the first run
# of this page. The first is about the templates that people wrote (`hgp`), so it needs a model that is asked with
# them. The second needs a fine-tuned model and its base in the same run: in the lab's names, `-tuned` and the
# name without it.
#
# The verdict is by the interval over facts of these relations. Beside it stands the one over relations, too. Of
# two or three relations it can say little: read it as a warning.

# %%
table6 = paper.table("iclke_table6_model_names").set_index("model")
hub = table6["hf_id"]
bases = {
    hub[row.Index]: hub[row.base_model]
    for row in table6[table6["is_finetuned"] == "yes"].itertuples()
}
for model in filter(lab.is_name, models):
    if lab.parse(model).variant == "tuned":
        bases[model] = lab.parse(model).base
holds = {
    key: [group.to_numpy() for _, group in part.groupby("relation", sort=False)]
    for key, part in by_fact["anywhere"].groupby(["model", "kind"], sort=False)
}
tested = []
for model in models:
    ic = (lab_kinds if lab.is_name(model) else kinds)[0]
    if (model, "hgp") in holds:
        pair = holds[model, ic], holds[model, "hgp"]
        said = "IC-generation-above", model, f"{model}, {ic} - hgp"
        tested.append((*said, *pair))
    if bases.get(model) in models:
        pair = holds[model, ic], holds[bases[model], ic]
        said = "IC-generation-tuned", model, f"{model} - its base"
        tested.append((*said, *pair))

# %%
claims = paper.claims("IC").set_index("id")
rows = []
for key, model, of, a, b in tested:
    claim = claims.loc[key]
    ours = intervals.paired_difference(a, b, seed=seed)
    others = "one relation"
    if len(a) > 1:
        gaps = [x - y for x, y in zip(a, b, strict=True)]
        others = intervals.mean_over_relations(gaps, seed=seed).text(3)
    verdict = paper.claim_verdict(ours, claim)
    says = claim["claim"], of, ours.text(3), claim["holds_if"], verdict, others
    rows.append((key, model, *says))

# %% [markdown]
# `of` says whose outputs are compared. The line above the table names the claims that these models cannot test.

# %%
columns = ["id", "models", "claim", "of", "ours", "holds if", "verdict"]
judged = pd.DataFrame(rows, columns=[*columns, "over relations"])
kept = judged.rename(columns={"of": "way"}).assign(source="this run")
kept = kept.assign(as_paper=True, mark="")
runs.keep(paper.verdicts(kept), "verdicts.csv")
shown = judged.drop(columns=["id", "models"])
missing = set(claims.index[claims.index.str.contains("generation")])
print(
    "not tested here:",
    *(sorted(missing - {row[0] for row in tested}) or ["none"]),
)
shown.style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# Where a claim fails, begin with the outputs above, and with two rows of the first table. If IC-LKE lies below
# templates `anywhere` but not `at the start`, the templates have gained by writing more text that is about the
# subject. If it lies below in both, look at `ranking`: does it rank more rightly than it writes? Then the format
# may be at fault. With one space between everything, a small model may not see where an answer is due, and write
# another subject instead.
#
# Where the second claim holds, read what the tuned model writes. If that is an instruction or a reply to one,
# tuning has first of all changed what the model goes on with. It need not have taken the facts away: `ranking`
# shows how many are still there when only the options are compared.
#
# And mind what kind of model it is. One that is tuned for instructions, as our default is, expects a question and
# gets a list. The paper counts such models apart from the pre-trained ones.
#
# And a word on the rule itself. An output of 50 tokens has room for many objects. The more it lists, the more
# often it is right. Stray hits measure this, and the paper has no such number. A rule that any list of capitals
# passes does not measure knowledge about one country.

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
share = {}
for n in (1, 3, 5, 10, 20, 50):
    cut = answers["text"].str.split().str[:n].str.join(" ")
    found = [
        match.contains(f" {text}", [" ".join(o.split())])
        for text, o in zip(cut, answers["object"], strict=True)
    ]
    named = answers.assign(found=found).groupby(["model", "kind"], sort=False)
    share[n] = named["found"].mean()
pd.DataFrame(share).rename_axis(columns="words").round(2)

# %% [markdown]
# Go along a row. If it rises at once and then stays level, the model answers first and talks later. If it goes on
# rising, ask what is being found: the answer, or one of many names. (These are means over outputs, so the last
# column can differ a little from the table above, where each relation counts alike.)
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
pairs_shown = once["kind"].str.startswith("iclke-")
quiet = once[pairs_shown & once["ranking"] & ~once["anywhere"]]
quiet = quiet[["model", "subject", "object", "text"]].head(6)
quiet = quiet.assign(text=quiet["text"].str[:60])
quiet.style.hide().set_table_attributes('class="lke-text"')

# %% [markdown]
# An object of the same kind, in the place of the answer, is a wrong answer. The name of a subject, or a text
# about something else, is none: then the model has not been *asked* in a way that it understood. Options hide
# this difference. (An empty table: there is no such fact in this run.)
#
# ````{solution-end}
# ````
#
# ```{exercise}
# :label: ex-generation-own
# What does another model write? Put this into a file such as `params/mine.yaml`, then run `lke run
# params/mine.yaml`.
# ```
#
# ````{solution} ex-generation-own
# :class: dropdown
#
# ```yaml
# profile: mine
# runs:
#   - notebook: 19_iclke_generation
#     each: [models]
#     parameters:
#       models: [smollm2, gemma3-270m]
#       relations: [capital]
#       n_written: 25
# ```
#
# For facts of your own, name them as `fact_set`, and put `template-1` in the place of `hgp` if the paper has no
# templates for your relations.
# ````

# %% [markdown]
# ## Provenance

# %%
runs.provenance(*lms.values())
