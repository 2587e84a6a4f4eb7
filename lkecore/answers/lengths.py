"""Lengths: does a name win because it is short? One question, read by several scores.

The model is asked once. What differs is what is made of the log-probabilities of the options, so each
answer has a row for each score, told by ``score``.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore.answers.door import Reading, scored
from lkecore.answers.shipped import called
from lkecore.answers.tables import bounds, over_other_relations, paired
from lkecore.metrics import choice, lengths
from lkecore.metrics.rules import characters
from lkecore.models.model import Model
from lkecore.prompts import Prompt

BY = ["source", "model", "estimator", "score"]
SUM, PER_TOKEN, PER_CHARACTER = "sum", "per token", "per character"
WITHOUT = "minus without subject"  # the sum minus that after a prompt without a subject


def reading(placeholders: Sequence[str] = ("",)) -> Reading:
    """What :func:`lkecore.answers.door.ask` reads in the scores: a row for each fact and score.

    Columns: ``fact``; ``score``: "sum", "per token", "per character", and one for each of
    ``placeholders``, what stands in the place of the subject in the prompt whose log-probability is taken
    off; ``correct``: whether the gold option has the highest score, ties to the first; ``gold_place`` and
    ``chosen_place``: where gold and chosen option stand among the options by characters, in (0, 1), 0 short;
    ``gold_tokens`` and ``chosen_tokens``: the same by the model's tokens; ``n_options``.
    """
    return functools.partial(_read, placeholders=tuple(placeholders))


def _read(lm: Model, frame: pd.DataFrame, *, placeholders: Sequence[str]) -> pd.DataFrame:
    return choice.by_size(frame, functools.partial(_read_of_size, lm, placeholders=placeholders))


def _read_of_size(lm: Model, frame: pd.DataFrame, *, placeholders: Sequence[str]) -> pd.DataFrame:
    options = choice.to_arrays(frame)
    shape = options.logprob.shape
    names = frame["option"].to_numpy().reshape(shape)
    n_tokens = frame["n_tokens"].to_numpy().reshape(shape)
    values = {
        SUM: options.logprob,
        PER_TOKEN: lengths.logprob_per_token(options.logprob, n_tokens),
        PER_CHARACTER: lengths.logprob_per_character(options.logprob, names.tolist()),
    }
    for placeholder in placeholders:
        without = _without_subject(lm, frame, placeholder).reshape(shape)
        values[name_of(placeholder)] = lengths.information(options.logprob, without)
    by_characters = lengths.places([characters(some) for some in names])
    by_tokens = lengths.places(n_tokens)
    every = np.arange(shape[0])
    parts = []
    for score, matrix in values.items():
        chosen = choice.predictions(matrix)
        part = {
            "fact": options.fact,
            "score": score,
            "correct": chosen == options.gold,
            "gold_place": by_characters[every, options.gold],
            "chosen_place": by_characters[every, chosen],
            "gold_tokens": by_tokens[every, options.gold],
            "chosen_tokens": by_tokens[every, chosen],
            "n_options": shape[1],
        }
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def name_of(placeholder: str) -> str:
    """The name of the score that takes off what an option has with this in the subject's place.

    >>> name_of(""), name_of("N/A")
    ('minus without subject', 'minus with N/A')
    """
    return f"minus with {placeholder}" if placeholder else WITHOUT


def _without_subject(lm: Model, frame: pd.DataFrame, placeholder: str) -> np.ndarray:
    """For each row of the scores the log-probability of its option with no subject, or another, asked.

    The prompts of a relation differ in their subject alone, so each distinct option is asked once.
    """
    bare = [
        without_subject(*texts, placeholder)
        for texts in frame[["context", "subject"]].itertuples(index=False)
    ]
    asked = frame.assign(bare=bare)
    found = {}
    for context, part in asked.groupby("bare", sort=False):
        some = part.drop_duplicates("option")
        prompt = Prompt(
            fact="no subject",
            relation="",
            subject=placeholder,
            context=context,
            options=tuple(some["option"]),
            continuations=tuple(some["continuation"]),
            gold=0,
        )
        rows = scored(lm, [prompt])
        # One whose tokens are those of another one here may be asked elsewhere: by itself.
        has_row = set(rows["option"])
        alone = [
            replace(prompt, options=(name,), continuations=(words,))
            for name, words in zip(prompt.options, prompt.continuations, strict=True)
            if name not in has_row
        ]
        rows = pd.concat([rows, *([scored(lm, alone)] if alone else [])])
        for option, logprob in rows[["option", "logprob"]].itertuples(index=False):
            found[context, option] = logprob
    return np.array([found[key] for key in zip(bare, frame["option"], strict=True)])


def without_subject(context: str, subject: str, placeholder: str) -> str:
    """The context with another text, or none, in the place of the subject that is asked about.

    The subject stands last. Where nothing takes its place and nothing stands behind it, the space before
    it goes, too: the option brings its own.

    >>> without_subject("Italy Rome France", "France", "")
    'Italy Rome'
    >>> without_subject("Italy: Rome\\nFrance:", "France", "N/A")
    'Italy: Rome\\nN/A:'
    """
    at = context.rindex(subject)
    before, behind = context[:at], context[at + len(subject) :]
    if not placeholder and not behind:
        before = before.removesuffix(" ")
    return f"{before}{placeholder}{behind}"


def accuracies(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Each score over all relations, and beside the sum on the same facts.

    A row for each ``source``, ``model``, ``estimator`` and ``score``. Columns: ``relations``; ``accuracy``,
    an Interval over relations; ``gain``: the accuracy minus that of the sum, paired, an Interval over
    relations (None for the sum itself); ``p``: McNemar's exact test, corrected for the scores of a row's
    model and estimator.
    """
    by = BY[:-1]
    found = over_other_relations(answers, BY)
    found = found.rename(columns={"over_relations": "accuracy"})
    pairs = [(SUM, name) for name in answers["score"].unique() if name != SUM]
    gains = paired(answers, "score", pairs, by=by, corrected=by, seed=seed)
    gains = gains.rename(columns={"second": "score", "over_relations": "gain"})
    return found.merge(gains[[*BY, "gain", "p"]], on=BY, how="left")


def preference(answers: pd.DataFrame) -> pd.DataFrame:
    """Which options win where the answer is wrong: short ones or long ones? Of any draw of the shots.

    A row for each ``source``, ``model``, ``estimator`` and ``score``. Columns: ``relations`` with a wrong
    answer; ``by_characters`` and ``by_tokens``: the mean place of the chosen option minus 0.5, in
    (-0.5, 0.5), Intervals over relations. Below 0: short ones win.
    """
    wrong = answers[~answers["correct"].astype(bool)]
    found = []
    for name, column in (("by_characters", "chosen_place"), ("by_tokens", "chosen_tokens")):
        moved = wrong.assign(place=wrong[column] - 0.5)
        table = over_other_relations(moved, BY, value="place", share=False)
        found.append(table.rename(columns={"over_relations": name}))
    return found[0].merge(found[1].drop(columns="relations"), on=BY)


def panels(table: pd.DataFrame, column: str, estimator: str) -> pd.DataFrame:
    """What a figure shows of a table above: one estimator, ``column`` as numbers, without "shipped"."""
    some = table[(table["estimator"] == estimator) & table[column].notna()]
    numbers = bounds(some, column, "estimate")
    numbers["source"] = numbers["source"].str.removeprefix("shipped: ")
    return numbers[["source", "model", "score", "estimate", "low", "high"]]


def sentences(
    found: pd.DataFrame, gaps: pd.DataFrame, chosen: pd.DataFrame, estimator: str
) -> dict[str, str]:
    """What came out, in words: ``short``, ``others``, ``accuracy`` and ``chosen``.

    The frames are of :func:`accuracies`, :func:`lkecore.answers.cued.by_length` and :func:`preference`.
    """
    mine = gaps[(gaps["estimator"] == estimator)].to_dict("records")
    of_sum = [
        f"{called(r['model'], r['source'])} {r['short_minus_long'].text()}"
        for r in mine
        if r["score"] == SUM
    ]
    short = "No relation has enough short and long names."
    if of_sum:
        short = "By the sum, the share that is found of facts with a short object, minus that of those with a"
        short += f" long one, is ({estimator}): {'; '.join(of_sum)}."
    sizes: dict[str, list[float]] = {}
    for row in mine:
        sizes.setdefault(row["score"], []).append(row["short_minus_long"].estimate)
    others = [f"{min(v):+.2f} to {max(v):+.2f} {k}" for k, v in sizes.items() if k != SUM]
    gains = found[(found["estimator"] == estimator) & found["gain"].notna()].to_dict("records")
    best = max(gains, key=lambda row: row["gain"].estimate, default=None)
    worst = min(gains, key=lambda row: row["gain"].estimate, default=None)
    accuracy = "No other score was read."
    if best is not None:
        of = [f"{row['score']}, {called(row['model'], row['source'])}" for row in (best, worst)]
        accuracy = (
            f"In this format the largest gain above the sum is {best['gain'].text()} ({of[0]}), the"
        )
        accuracy += f" largest loss {worst['gain'].text()} ({of[1]})."
    picked = chosen[(chosen["estimator"] == estimator) & (chosen["score"].isin([SUM, PER_TOKEN]))]
    spread: dict[str, list[float]] = {}
    for row in picked.to_dict("records"):
        if row["by_characters"]:
            spread.setdefault(row["score"], []).append(row["by_characters"].estimate + 0.5)
    told = [f"{min(v):.2f} to {max(v):.2f} by {k}" for k, v in spread.items()]
    return {
        "short": short,
        "others": f"By other scores the difference is {', '.join(others)}." if others else "-",
        "accuracy": accuracy,
        "chosen": f"A wrong choice stands at a place of {', '.join(told)}, where 0 is the shortest of the "
        "options, 1 the longest and 0.5 would be without a preference.",
    }
