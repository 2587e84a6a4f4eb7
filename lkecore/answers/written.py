"""Written: the door for what models write, and what is counted in their outputs.

:func:`write` is to outputs what :func:`lkecore.answers.door.ask` is to choices among options: a run
writes and keeps, a page reads what its runs have kept, and both get the same frame, a row a question.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lkecore.answers import check as checking
from lkecore.answers.check import Asked, Key, Unit
from lkecore.answers.door import Questions, opened, questions_of
from lkecore.answers.kept import collect, keep
from lkecore.errors import BadInput
from lkecore.facts.tables import composed
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores.generate import generate
from lkecore.scores.tokens import encode_texts
from lkecore.stats import match

FACT = ["model", "kind", "relation", "fact"]
# Of each output; behind them "confidence", if there are samples.
SAID = ["text", "logprob", "n_tokens"]
MOST_SAMPLES = 0.05  # by which a share of samples may differ when it is drawn again
# All outputs, a row each: the same, with more columns.
Reading = Callable[[pd.DataFrame], pd.DataFrame]


def check(kinds: Sequence[str], *, n_written: int, n_facts: int) -> None:
    """Refuse what a page on writing cannot ask, before any model is loaded.

    Raises :class:`BadInput` where the first of ``kinds`` shows no examples, and for ``n_written`` facts to
    continue that are fewer than 2 or more than the ``n_facts``.
    """
    if not kinds or not kinds[0].startswith("iclke-"):
        raise BadInput(f"kinds {list(kinds)}: must begin with iclke-")
    if not 2 <= n_written <= n_facts:
        raise BadInput(f"n_written {n_written}: must be from 2 to {n_facts}")


def check_length(lm: Model, names: Iterable[str], n_tokens: int, *, what: str) -> None:
    """Raise :class:`BadInput` for ``n_tokens`` new tokens that would cut off one of ``names``.

    One more than a name has shows whether it ends there. ``what`` they are called, as in "an object".
    """
    longest = max(len(lm.tokenizer.tokenize(f" {name}")) for name in names)
    if n_tokens <= longest:
        raise BadInput(f"n_tokens {n_tokens}: must be more than {what} has, over {longest}")


def write(
    models: Sequence[str],
    questions: Questions,
    file: str,
    *,
    max_new_tokens: int,
    stop: str | None = None,
    windows: Mapping[str, int] | None = None,
    dtype: str = "float32",
    page: bool = False,
    only: Mapping[str, Sequence[str]] | None = None,
    only_by: str = "estimator",
    by: Sequence[str] = ("estimator", "relation"),
    n_samples: int = 0,
    seed: int = 0,
    same: Callable[[str, str], bool] = match.alike,
    reading: Reading | None = None,
    results: str = "",
    notebook: str = "",
    n_again: int = 5,
) -> pd.DataFrame:
    """Let every model go on after every question, greedily: a row for each, in the order of the questions.

    Of the prompts only the context is used. ``models``, ``questions``, ``only``, ``only_by`` and ``by`` (with
    a "relation" in it) are as for :func:`lkecore.answers.door.ask`. An output ends with the model's
    end token, with ``stop`` if there is one, or after ``max_new_tokens``. ``windows`` has the
    tokens that prompt and output of a model may have together, where these are not its own window.

    Columns: ``model``; those of ``by``; ``fact``, ``subject``, ``object``; ``text``, the output;
    ``logprob`` (nats) and ``n_tokens`` of it, as :func:`lkecore.scores.generate.generate` has them (missing
    in results that have none); ``prompt_tokens``, those of the longest prompt under the same key; and
    whether the object stands in the output (bool): ``anywhere``, also in a longer word (the paper's rule,
    IC-S6); ``whole_words``; ``at_the_start``, after blanks and as whole words; at last ``stray`` in
    [0, 1]: in which share of the other facts under this key the output holds *their* object, which is how
    often an output would be right that has nothing to do with its subject (NaN for a single fact). With
    a ``reading`` of your own, which gets all rows at once, its columns stand in the place of these four.

    With ``n_samples``, so many outputs are drawn besides, at temperature 1 and by ``seed``, and
    ``confidence`` in [0, 1] is the share of them that say the ``same`` as the greedy output (BL-S6). The
    samples are kept prompt by prompt, so that who goes on after a stop draws none again.

    They are kept as ``file`` (``.parquet``). With ``page``, nothing is written: what the runs behind the
    page have kept is returned. ``results``, ``notebook`` and ``n_again`` are as for ``ask``; of the outputs
    that are written again one in ten may differ (:func:`carry_texts`). Raises
    :class:`BadInput`, before any weights are loaded, for a model that is not causal, and for a prompt
    that leaves no room for the output; and as ``ask`` and :func:`lkecore.scores.generate.generate` do.
    """
    if page:
        return checking.on_page(collect(file), file, results, notebook)
    asked = {
        (name, *k): qs
        for name in models
        for k, qs in questions_of(questions, name, only, by, only_by)
    }
    if not asked:
        raise BadInput("nothing is asked: there are no models or no questions")
    longest = {
        key: _longest(key, some, max_new_tokens, (windows or {}).get(key[0]), dtype)
        for key, some in asked.items()
    }
    columns = ["model", *by]

    def outputs(some: Mapping[tuple, Sequence[Prompt]]) -> dict[tuple, pd.DataFrame]:
        # Prompts of a relation begin alike and go on side by side, whatever the estimator.
        place = columns.index("relation")
        said: dict[tuple, pd.DataFrame] = {}
        for name, relation in dict.fromkeys((key[0], key[place]) for key in some):
            together = [key for key in some if (key[0], key[place]) == (name, relation)]
            contexts = [prompt.context for key in together for prompt in some[key]]
            how = {"max_new_tokens": max_new_tokens, "stop": stop}
            made = generate(opened(name, dtype), contexts, **how)[SAID]
            if n_samples:
                more = generate(
                    opened(name, dtype), contexts, n_samples=n_samples, seed=seed, **how
                )
                made["confidence"] = _shares(made["text"], more["text"], n_samples, same)
            at = 0
            for key in together:
                said[key] = made.iloc[at : (at := at + len(some[key]))].reset_index(drop=True)
        return said

    attrs: dict[str, str] = {}
    if results:
        lms = {name: opened(name, dtype) for name in models}
        carried = {"results": results, "notebook": notebook, "n_again": n_again}
        said, attrs = carry_texts(asked, columns, lms, file, **carried, write=outputs)
    else:
        said = outputs(asked)
    frames = []
    for key, some in asked.items():
        about = {
            "fact": [prompt.fact for prompt in some],
            "subject": [prompt.subject for prompt in some],
            "object": [prompt.options[prompt.gold] for prompt in some],
        }
        named = dict(zip(columns, key, strict=True))
        frame = pd.DataFrame(named | about).join(said[key]).assign(prompt_tokens=longest[key])
        if reading is None:
            frame = frame.assign(**_found(frame["text"], frame["object"]))
        frames.append(frame)
    found = pd.concat(frames, ignore_index=True)
    if reading is not None:
        found = reading(found)
    found.attrs |= attrs
    keep(found, file)
    keep(checking.questions(asked, columns), f"{checking.beside(file, checking.CHECK)}.parquet")
    return found


def _shares(
    greedy: Sequence[str], samples: Sequence[str], n: int, same: Callable[[str, str], bool]
) -> list[float]:
    """Of each greedy output the share of its ``n`` samples that say the same."""
    found, drawn = [], iter(samples)
    for text in greedy:
        counts = Counter(next(drawn) for _ in range(n))
        found.append(sum(k for said, k in counts.items() if same(text, said)) / n)
    return found


def carry_texts(
    asked: Asked,
    columns: Sequence[str],
    lms: Mapping[str, Model],
    file: str,
    *,
    write: Callable[[Mapping[Key, list[Unit]]], Mapping[Key, pd.DataFrame]],
    **results: Any,
) -> tuple[dict[Key, pd.DataFrame], dict[str, str]]:
    """(what models wrote, under the keys of ``asked``; the ``attrs`` of a frame of it), if they agree.

    Frames have the columns ``SAID``, and ``confidence`` if it ships. ``write`` lets models write some of it
    again. One in ten of these outputs may differ: greedy writing parts for good where two tokens were
    equally likely, and that depends on the last digit. What is said of an output is not taken from what
    ships: whoever calls reads the texts anew.
    """

    def rescore(some: Mapping[Key, list[Unit]], there: pd.DataFrame) -> pd.DataFrame:
        return _texts_apart(some, write(some), there, columns)

    found = checking.carry(asked, columns, lms, file, **results, rescore=rescore, most_off=0.1)
    names = [*SAID, *(["confidence"] if "confidence" in found else [])]
    texts, at = found.reindex(columns=names).assign(text=found["text"].astype(str)), 0
    said = {}
    for key, some in asked.items():
        said[key] = texts.iloc[at : (at := at + len(some))].reset_index(drop=True)
    return said, found.attrs


def _texts_apart(
    asked: Asked,
    said: Mapping[Key, pd.DataFrame],
    there: pd.DataFrame,
    columns: Sequence[str],
) -> pd.DataFrame:
    """Whether outputs that were written again are those that ship, to the letter: a row for each.

    ``said`` has those of now, under the keys of ``asked`` and in their order; ``there`` has ``columns``,
    ``fact`` and ``text``. Columns as of :func:`lkecore.answers.check.differences`, but ``nats`` are missing.
    Of samples one in twenty may say something else: each is drawn along a path of many near choices.
    """
    then = there.set_index([*columns, "fact"])
    rows = []
    for key, some in asked.items():
        for each, now in zip(some, said[key].to_dict("records"), strict=True):
            kept = then.loc[(*key, each.fact)]
            same = now["text"] == str(kept["text"])
            if "confidence" in now:
                same &= abs(now["confidence"] - kept.get("confidence", np.nan)) <= MOST_SAMPLES
            rows.append((key[0], ", ".join(map(str, key[1:])), each.fact, np.nan, bool(same)))
    return pd.DataFrame(rows, columns=["model", "where", "fact", "nats", "same"])


def _longest(key: tuple, some: Sequence, n_new: int, window: int | None, dtype: str) -> int:
    """The tokens of the longest prompt; refuses one that leaves no room for ``n_new`` tokens."""
    model, *names = key
    lm = opened(model, dtype)
    if lm.kind != "causal":
        raise BadInput(f"model {model} is {lm.kind}, and only a causal model goes on writing")
    ids = encode_texts(lm.tokenizer, [prompt.context for prompt in some], front=lm.front)
    n, window = max(map(len, ids)), window or lm.context_length
    if window and n + n_new > window:
        raise BadInput(
            f"{model}, {', '.join(map(str, names))}: {n} tokens and {n_new} new ones are more than "
            f"{window}; show fewer pairs"
        )
    return n


def _found(texts: Sequence[str], objects: Sequence[str]) -> dict[str, list]:
    """What `write` says of each output: by each rule whether its object is found, and stray hits."""
    pairs = list(zip(texts, objects, strict=True))
    # As match.contains has it, which looks at each name for faults, too: below it does so once for each.
    names = list(map(composed, objects))
    hits = np.array([[name in composed(text) for name in names] for text in texts], float)
    others = hits.sum(axis=1) - np.diag(hits)
    return {
        "anywhere": [match.contains(text, [name]) for text, name in pairs],
        "whole_words": [match.contains(text, [name], whole_words=True) for text, name in pairs],
        "at_the_start": [match.begins_with(text, name) for text, name in pairs],
        "stray": list(others / (len(pairs) - 1)) if len(pairs) > 1 else [np.nan] * len(pairs),
    }
