"""Written: the outputs that models write, and what is counted in them.

:func:`write` is for outputs what :func:`lkecore.answers.asking.ask` is for choices among options. A run
writes and keeps outputs, and a page reads what its runs have kept. Both get the same frame, a row for each
question.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore.answers.asking import Questions, opened, questions_of
from lkecore.answers.kept import load_runs, on_page, save
from lkecore.answers.questions import named
from lkecore.errors import BadInput
from lkecore.facts.tables import composed
from lkecore.models.model import Model
from lkecore.scores.generate import generate
from lkecore.scores.tokens import encode_texts
from lkecore.stats import match

FACT = ["model", "kind", "relation", "fact"]
# Columns of each output; after them comes "confidence", if there are samples.
SAID = ["text", "logprob", "n_tokens"]
# Takes all outputs, a row for each; returns the same rows with more columns.
Reading = Callable[[pd.DataFrame], pd.DataFrame]


def check(kinds: Sequence[str], *, n_written: int, n_facts: int) -> None:
    """Refuse a request that a page on writing cannot make, before any model is loaded.

    Raises :class:`BadInput` where the first of ``kinds`` shows no examples, and where ``n_written``, the
    number of facts to continue, is less than 2 or more than ``n_facts``.
    """
    if not kinds or not kinds[0].startswith("iclke-"):
        raise BadInput(f"kinds {list(kinds)}: must begin with iclke-")
    if not 2 <= n_written <= n_facts:
        raise BadInput(f"n_written {n_written}: must be from 2 to {n_facts}")


def check_length(lm: Model, names: Iterable[str], n_tokens: int, *, what: str) -> None:
    """Raise :class:`BadInput` for ``n_tokens`` new tokens that would cut off one of ``names``.

    One token more than a name has shows whether it ends there. ``what`` is a noun for the message, such as
    "an object".
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
    only: Mapping[str, Sequence[str]] | None = None,
    only_by: str = "estimator",
    by: Sequence[str] = ("estimator", "relation"),
    n_samples: int = 0,
    seed: int = 0,
    same: Callable[[str, str], bool] = match.alike,
    reading: Reading | None = None,
) -> pd.DataFrame:
    """The greedy output of every model after every question: a row for each, in the order of the questions.

    Only the context of a prompt is used. ``models``, ``questions``, ``only``, ``only_by`` and ``by`` (which
    must have "relation") are as for :func:`lkecore.answers.asking.ask`. An output ends with the model's end
    token, with ``stop`` if there is one, or after ``max_new_tokens``. ``windows`` has the number of tokens
    that prompt and output of a model may have together, where it is not the model's own window.

    Columns:

    - ``model``, then the names in ``by``;
    - ``fact``, ``subject``, ``object``;
    - ``text``: the output;
    - ``logprob`` (nats) and ``n_tokens`` of the output, as in :func:`lkecore.scores.generate.generate`
      (missing in results that have none);
    - ``prompt_tokens``: the number of tokens of the longest prompt under the same key;
    - ``anywhere`` (bool): the object is in the output, also inside a longer word (the paper's rule, IC-S6);
    - ``whole_words`` (bool): the object is in the output as whole words;
    - ``at_the_start`` (bool): the output begins with the object, after blanks and as whole words;
    - ``stray``, in [0, 1]: the share of the other facts under this key whose object is in the output (NaN for
      a single fact). It estimates how often an output would be right that is unrelated to its subject;
    - ``question``: a digest of what was asked.

    A ``reading`` of your own gets all rows at once; its columns replace the four from ``anywhere`` to
    ``stray``.

    With ``n_samples``, so many outputs are drawn besides, at temperature 1 and by ``seed``. Then
    ``confidence``, in [0, 1], is the share of them that are the ``same`` as the greedy output (BL-S6). The
    samples of each prompt are kept at once, so that a run which continues after a stop draws none again.

    The outputs are kept as ``file`` (``.parquet``). On a page over runs no model writes, as in ``ask``.
    Raises :class:`BadInput`, before any weights are loaded, for a model that is not causal, and for a prompt
    that leaves no room for the output; and as ``ask`` and :func:`lkecore.scores.generate.generate` do.
    """
    if on_page():
        return load_runs(file)
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
    columns = ["model", *(each for each in by if each != "model")]

    # Prompts of a relation begin with the same text and are continued together, whatever the estimator.
    place = columns.index("relation")
    said: dict[tuple, pd.DataFrame] = {}
    for name, relation in dict.fromkeys((key[0], key[place]) for key in asked):
        together = [key for key in asked if (key[0], key[place]) == (name, relation)]
        contexts = [prompt.context for key in together for prompt in asked[key]]
        how = {"max_new_tokens": max_new_tokens, "stop": stop}
        made = generate(opened(name, dtype), contexts, **how)[SAID]
        if n_samples:
            more = generate(opened(name, dtype), contexts, n_samples=n_samples, seed=seed, **how)
            made["confidence"] = _shares(made["text"], more["text"], n_samples, same)
        at = 0
        for key in together:
            said[key] = made.iloc[at : (at := at + len(asked[key]))].reset_index(drop=True)
    frames = []
    for key, some in asked.items():
        about = {
            "fact": [prompt.fact for prompt in some],
            "subject": [prompt.subject for prompt in some],
            "object": [prompt.options[prompt.gold] for prompt in some],
        }
        names = dict(zip(columns, key, strict=True))
        frame = pd.DataFrame(names | about).join(said[key]).assign(prompt_tokens=longest[key])
        if reading is None:
            frame = frame.assign(**_found(frame["text"], frame["object"]))
        frames.append(frame)
    found = pd.concat(frames, ignore_index=True)
    digests = [digest for some in asked.values() for digest in named(some)["question"]]
    if reading is not None:
        found = reading(found)
    found = found.assign(question=digests)
    save(found, file)
    return found


def _shares(
    greedy: Sequence[str], samples: Sequence[str], n: int, same: Callable[[str, str], bool]
) -> list[float]:
    """For each greedy output the share of its ``n`` samples that are the ``same``."""
    found, drawn = [], iter(samples)
    for text in greedy:
        counts = Counter(next(drawn) for _ in range(n))
        found.append(sum(k for said, k in counts.items() if same(text, said)) / n)
    return found


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
    """For each output whether its object is found, by each rule of `write`, and stray hits."""
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
