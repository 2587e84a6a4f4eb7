# %% [markdown]
# # Quick start: does a model know one fact?
#
# **Shown some capitals, {glue:text}`name_model` gives {glue:text}`name_found` as the capital of {glue:text}`name_subject`, with a confidence
# of {glue:text}`sure:.0%`; over other countries it is right {glue:text}`right:.0%` of the time, a rule without a model {glue:text}`rule:.0%`.**
#
# ```{glue:figure} fig-quickstart
# :name: fig-quickstart
# :alt: Horizontal bars, one for each option, of the model's normalised confidence, with a dashed line at an even spread.
#
# The model hesitates between several capitals. Confidence in each option of one fact. The gold option, which is the true one, has its own colour. The dashed
# line is an even spread.
# ```
#
# A model that knows the fact well puts nearly all of its confidence on one bar. A model that has no idea gives each bar about the same, which is the dashed line.
# This page asks about one fact and computes every number twice, once by hand with PyTorch and once with `lkecore`. Then it asks about more facts, since one
# answer is not yet a measurement.

# %% [markdown]
# ## What the paper claims
#
# The method is IC-LKE, *in-context latent knowledge estimation* {cite}`wu2024iclke`. Its claim: a model that
# is shown pairs of subjects and objects of one relation, and nothing else, works out the relation by itself.
# If it then finds the right object likelier than all other options, it knows the fact.
#
# The paper shows 50 pairs and ranks 100 options. This page uses fewer, so that everything fits on a screen. It
# takes seconds on a laptop.

# %% [markdown]
# ## Parameters
#
# All choices of the page are in one cell. The defaults are for the small model that comes with the book.

# %% tags=["parameters"]
model: str = (
    "smollm2"  # a name of `lke models`, a folder, a .gguf file or a hub id
)
fact_set: str = "atlas"  # the embedded facts, a folder or a file
relation: str = "capital"
subject: str = "Angola"  # of the one fact
n_shots: int = 8  # pairs shown before the question
n_options: int = 5  # candidate objects, the gold one included
n_facts: int = 40  # facts in the last part
pair_separator: str = " "  # between subject and object
shot_separator: str = "\n"  # between pairs; the paper has a space here too
seed: int = 0  # draws shots, options and facts

# %% tags=["hide-input"]
from collections import Counter
from math import exp

import numpy as np
import pandas as pd
import seaborn as sns
import torch
from matplotlib import pyplot as plt

from lkecore import facts, figures, models, prompts, runs, stats
from lkecore.scores.tokens import common_prefix
from lkecore.scores.tree import option_logprobs
from lkecore.stats import choice as iclke
from lkecore.stats import rules

figures.style()

# %% [markdown]
# ## Facts
#
# A *fact* is a subject, a relation and an object. The relation's facts are divided: some may be shown to the
# model (train), the others are for questions (test). No subject is on both sides.

# %%
chosen = facts.load(fact_set, relation)
train, test = facts.divide(chosen)
[fact] = facts.of_subjects(chosen, [subject])
print(f"{len(chosen.facts)} facts with {len(chosen.objects)} different objects")
print(f"{len(train)} may be shown, {len(test)} asked")
print(f"We ask: {chosen.label}, {fact.subject!r}. True: {fact.object!r}")

# %% [markdown]
# The model chooses among *options*: the gold object and distractors from other facts of the same relation.
# They are in random order.

# %%
spare = [f for f in train if f.subject != subject]
shown = facts.draw_shots(spare, n_shots, seed, allow_fewer=True)
n_options = min(n_options, facts.max_options(chosen))
options = facts.draw_options([fact], chosen.objects, n_options, seed)[0]
print(options)

# %% [markdown]
# ## Prompts
#
# The prompt is the shown pairs, then the subject. There is no question in it and no instruction. The model is
# left to find out what the pairs have in common.
#
# Each option is a possible *continuation* of this text. A space belongs to the continuation, because the
# tokenizer has words with the space in front.

# %%
separators = dict(pair_separator=pair_separator, shot_separator=shot_separator)
[prompt] = prompts.many_shot(shown, [fact], [options], **separators)
print(prompt.context)
print(prompt.continuations)

# %% [markdown]
# ## Scores
#
# First by hand. A model reads *tokens*. We turn context and option into tokens together. The option's tokens
# begin where the two lists part.

# %%
lm = models.open_model(model)
first = list(lm.front)  # what the tokenizer puts before every text
texts = [prompt.context, prompt.context + prompt.continuations[prompt.gold]]
context_ids, gold_ids = (
    first + ids
    for ids in lm.tokenizer(texts, add_special_tokens=False)["input_ids"]
)
start = common_prefix([context_ids, gold_ids])
print(f"{start} tokens of context, then the gold option:")
print([lm.tokenizer.decode([i]) for i in gold_ids[start:]])

# %% [markdown]
# One forward pass gives, at every position, a number for each token of the vocabulary: the *logits*.
# `log_softmax` turns them into log-probabilities of the next token. The row *before* a token predicts it.
# That is why the index below is shifted by one.

# %%
with torch.inference_mode():
    logits = lm.network(
        torch.tensor([gold_ids], device=lm.network.device)
    ).logits[0]
steps = logits.float().log_softmax(-1).cpu()
rows = []
for position in range(start, len(gold_ids)):
    value = steps[position - 1, gold_ids[position]].item()
    rows.append((lm.tokenizer.decode([gold_ids[position]]), value, exp(value)))
by_hand = pd.DataFrame(
    rows, columns=["token", "log-probability (nats)", "probability"]
)
by_hand.round(3)

# %% [markdown]
# Look at a name of several tokens: the first one decides most. Once it is there, the rest of the name
# is often nearly certain, though not always.
#
# The log-probability of the option is the *sum* over its tokens ({eq}`eq-logprob`). It is not divided by
# their number. Now `lkecore` does the same for every option.

# %%
scored = option_logprobs(lm, [prompt])
scores = scored.frame
scores[["option", "gold", "n_tokens", "logprob"]].round(3)

# %% [markdown]
# Both ways must agree. The difference is rounding.

# %%
total = by_hand["log-probability (nats)"].sum()
library = scores.loc[scores["gold"], "logprob"].item()
assert abs(total - library) < 1e-4, (total, library)
print(f"by hand {total:.5f}, by lkecore {library:.5f} nats")

# %% [markdown]
# ## Answers
#
# The *prediction* is the likeliest option. The *confidence* is an option's share of the probability that all
# options hold together ({eq}`eq-confidence`). By hand, with the exponential, and by `lkecore`:

# %%
arrays = iclke.to_arrays(scores)
share = np.exp(arrays.logprob[0]) / np.exp(arrays.logprob[0]).sum()
confidence = iclke.confidence(arrays.logprob)[0]
assert np.allclose(share, confidence)
predicted = options[iclke.predictions(arrays.logprob)[0]]
verdict = "right" if predicted == fact.object else "wrong"
print(f"prediction: {predicted} ({verdict})")

# %% [markdown]
# One fact says little: with few options a guess is often right. So we ask about more facts of the relation in the
# same way, and count. That is *accuracy*. The bracket is a 95 % interval: other facts of the same relation could well
# have given any accuracy in it. Next to it is a {term}`rule` without a model: it names the option that shares a word with the
# subject (Mexico, Mexico City), otherwise the object that is shown most often. Its accuracy needs no knowledge.

# %%
asked = facts.draw_facts(
    [f for f in test if f.subject != subject], n_facts, seed
)
drawn = facts.draw_options(asked, chosen.objects, n_options, seed)
questions = prompts.many_shot(shown, asked, drawn, **separators)
more = option_logprobs(lm, questions)
runs.save(more.frame, "scores.parquet")
many = iclke.to_arrays(more.frame)
right = iclke.correct(many.logprob, many.gold)
accuracy = stats.estimate(pd.DataFrame({"correct": right}), over="share")
chance, often = 1 / n_options, Counter(pair.object for pair in shown)
by_rule = [
    rules.guess("rule-both", fact.subject, offered, often)[questions[i].gold]
    for i, (fact, offered) in enumerate(zip(asked, drawn, strict=True))
]
print(
    f"{right.sum()} of {len(right)} right: accuracy {stats.format_estimate(accuracy.iloc[0])}",
    end="",
)
print(f", chance {chance:.2f}, rule {np.mean(by_rule):.2f}")

# %% tags=["hide-input"]
holds = {
    "gives it as the capital": predicted == fact.object and verdict == "right",
    "more than a rule": right.mean() > np.mean(by_rule),
    "hesitates": np.sort(confidence)[-2] > 0.1,
}
figures.sentence(holds)
figures.glue_values(
    name_model=figures.display_name(lm.name),
    name_found=predicted,
    name_subject=fact.subject,
    sure=confidence.max(),
    right=right.mean(),
    rule=np.mean(by_rule),
)

# %% [markdown]
# ## Figures
#
# {numref}`fig-quickstart`, at the top, shows the confidence in each option. Look at two things: is the longest
# bar the gold one, and how far does it reach beyond the dashed line? A prediction can be right by a hair.

# %% tags=["hide-input"]
kinds = np.where(scores["gold"], "gold", "distractor")
bars = scores.assign(confidence=confidence, true=kinds)
fig, ax = plt.subplots(figsize=(6, 0.5 + 0.4 * n_options), layout="constrained")
colours = dict(hue="true", hue_order=["gold", "distractor"])
sns.barplot(bars, x="confidence", y="option", ax=ax, **colours)
ax.axvline(chance, color="0.2", ls="dashed", label="even spread")
ax.set(xlabel="confidence (share of the options' probability)", ylabel="")
ax.set(xlim=(0, 1))
ax.legend(title=None)
columns = ["option", "true", "n_tokens", "logprob", "confidence"]
figures.glue_figure(fig, "fig-quickstart", bars[columns])

# %% [markdown]
# ## Paper and ours
#
# The paper's numbers are for 100 options, 50 shots and thousands of facts. So this page shows none of them, and
# tests no claim. {Page}`10_iclke_relations` asks as the paper does and compares its numbers with ours.

# %% [markdown]
# ## What you have seen
#
# - Pairs alone are a question to a model that continues text. The probabilities of the options are its answer.
# - A log-probability is a sum over tokens, and every one of them comes from one forward pass.
# - One right answer may be a guess. Only many facts, a rule without a model and an interval make a measurement.

# %% [markdown]
# ## Try it
#
# ```{exercise}
# :label: ex-quickstart-length
# Why is the log-probability of an option not divided by its number of tokens? Think of the two options
# "Paris" (one token) and "Reykjavik" (several).
# ```
#
# ````{solution} ex-quickstart-length
# :class: dropdown
# The product of the steps *is* the probability of the whole option. Dividing the logarithm by the length
# would compare probabilities per token instead. After a first rare token, the others of a long name are
# often nearly certain. So a long name would get a bonus for being long, whatever the question.
# ````
#
# ```{exercise}
# :label: ex-quickstart-shots
# Does the model need the shots? Ask the same facts with no shot at all.
# ```

# %% [markdown]
# ````{solution-start} ex-quickstart-shots
# :class: dropdown
# ````

# %%
bare = prompts.many_shot([], asked, drawn, pair_separator=pair_separator)
few = iclke.to_arrays(option_logprobs(lm, bare).frame)
alone = iclke.correct(few.logprob, few.gold)
without = stats.estimate(pd.DataFrame({"correct": alone}), over="share")
print(
    f"no shots: {stats.format_estimate(without.iloc[0])}, {n_shots} shots: {stats.format_estimate(accuracy.iloc[0])}"
)

# %% [markdown]
# Both numbers are for the same facts and options. If the second is higher, the pairs showed the model which
# relation is meant. The model may know the fact in both cases.
#
# ````{solution-end}
# ````

# %% [markdown]
# One command asks another model about another relation:
#
# ```
# lke score --model PATH_OR_NAME --relation currency --shots 8 --options 5 --shot-separator '\n' --out out
# ```
