"""The questions of one relation are a chunk: they are scored together and kept together.

All scorers call :func:`score`. It looks into the cache, tokenises and computes what is missing there,
refuses NaN and infinity, keeps the new numbers, and makes the tidy frame.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from lkecore import progress
from lkecore.errors import BadInput, visible
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores import store
from lkecore.scores.batches import SCORERS, tell_unknown
from lkecore.scores.tokens import alike, place

# The columns that are kept of a chunk, with a row for each option of each prompt. ``merged`` and
# ``unknown`` are counts of the whole chunk, the same in every row. ``alike`` is the result of
# :func:`lkecore.scores.tokens.alike`.
KEPT = ("logprob", "n_tokens", "merged", "unknown", "alike")


@dataclass(frozen=True)
class Scored:
    """Scores and their cost.

    ``frame`` has one row for each fact and option, facts and options in the order of the prompts:

    - ``fact``, ``subject``, ``context``, ``continuation``, ``option``, ``gold``;
    - ``logprob``: the sum over the option's tokens, in nats, float64;
    - ``n_tokens``: the number of the option's tokens.

    ``seconds`` cover tokenising and scoring, not loading; ``tokens_forwarded`` count no padding. Both are 0
    where the numbers came from the cache. ``merged`` counts the options whose tokens merge with those of
    the text beside them. ``unknown`` counts the prompts whose text has a token that the model does not
    know; an option with one is refused.

    Options of a fact that the tokenizer gives the same tokens count as one: the gold option if it is among
    them, else the first. The others have no row, and ``left_out`` counts them.
    """

    frame: pd.DataFrame
    seconds: float
    tokens_forwarded: int
    merged: int
    cached: bool
    unknown: int = 0
    left_out: int = 0


def score(
    model: Model,
    prompts: Sequence[Prompt],
    settings: dict[str, bool],
    encode: Callable[[Sequence[Prompt]], Sequence[Any]],
    compute: Callable[[Any, Sequence[Any], tqdm], tuple[Sequence[float], int]],
    *,
    use_cache: bool,
    memory_gb: float | None = None,
) -> Scored:
    """Log-probabilities of all options of all prompts, relation by relation.

    - ``settings``: those of this kind of scorer that change its answers.
    - ``encode``: tokenises prompts. It returns one object for each, with ``prompt``, ``merged`` and
      ``unknown``, and for each option one of ``n_tokens`` and one of ``strings``. Options that are alike
      have equal strings.
    - ``compute``: takes the network, the encoded prompts of one relation, and a progress bar to update by
      one a fact. It returns the log-probabilities in order and the number of tokens forwarded.
    - ``memory_gb``: the bound of ``compute``'s memory, for the manifest.

    Every prompt that is not kept is tokenised first, so that bad input stops before the model is loaded. A
    kept chunk passed ``encode`` when it was made, and is not encoded again. A finished chunk is kept at
    once, so that an interruption costs one relation at most.
    """
    chunks = by_relation(prompts)
    keys = [key_of(model, chunk, settings) if use_cache else "" for chunk in chunks]
    all_kept = [store.read(key, KEPT) if use_cache else None for key in keys]
    pairs = zip(chunks, all_kept, strict=True)
    missing = [prompt for chunk, kept in pairs if kept is None for prompt in chunk]
    seconds, encoded = 0.0, iter(())
    if missing:
        started = time.perf_counter()
        encoded = iter(encode(missing))
        seconds = time.perf_counter() - started
    values: list[float] = []
    n_tokens: list[int] = []
    has_row: list[bool] = []
    tokens, merged, unknown, cached = 0, 0, 0, 0
    with progress.bar(len(prompts), "fact") as bar:
        for chunk, key, kept in zip(chunks, keys, all_kept, strict=True):
            relation = chunk[0].relation
            bar.set_description(visible(relation))
            rows = [next(encoded) for _ in chunk] if kept is None else []
            if kept is None and use_cache:  # by now another run may have kept it
                kept = store.read(key, KEPT)
            from_cache = kept is not None
            forwarded = 0
            if kept is None:
                network = model.network  # loads now, if it has not been: not in the seconds
                started = time.perf_counter()
                found, forwarded = compute(network, rows, bar)
                logprob = np.array(found, dtype=np.float64)
                seconds += time.perf_counter() - started
                if not np.isfinite(logprob).all():  # half precision overflows to NaN or infinity
                    asked = [(prompt, name) for prompt in chunk for name in prompt.options]
                    prompt, option = asked[int(np.flatnonzero(~np.isfinite(logprob))[0])]
                    raise BadInput(
                        f"model {model.name} in {model.dtype} gives NaN or infinity in relation "
                        f"{relation}, {place(prompt)}, option {option!r}; try float32"
                    )
                own = [n for e in rows for n in e.n_tokens]
                of_all = sum(e.merged for e in rows), sum(e.unknown for e in rows)
                columns = (logprob, own, *of_all, [i for e in rows for i in alike(e.strings)])
                kept = pd.DataFrame(dict(zip(KEPT, columns, strict=True)))
                if use_cache:
                    store.write(key, kept)
            else:
                bar.update(len(chunk))
            rows_of_chunk = differing(chunk, kept["alike"].tolist())
            progress.record(
                model=model.name,
                prefix=model.prefix,
                relation=relation,
                facts=len(chunk),
                options_left_out=rows_of_chunk.count(False),
                tokens_forwarded=forwarded,
                from_cache=from_cache,
                memory_gb=memory_gb,
                unknown=int(kept["unknown"].iloc[0]),
            )
            tokens += forwarded
            cached += from_cache
            values += kept["logprob"].tolist()
            n_tokens += kept["n_tokens"].tolist()
            has_row += rows_of_chunk
            merged += int(kept["merged"].iloc[0])
            unknown += int(kept["unknown"].iloc[0])
    tell_unknown(model, unknown, len(prompts))
    frame = tidy(prompts, n_tokens, values)
    return Scored(
        frame=without_alike(model, frame, has_row),
        seconds=seconds,
        tokens_forwarded=tokens,
        merged=merged,
        cached=cached == len(chunks),
        unknown=unknown,
        left_out=has_row.count(False),
    )


def by_relation(prompts: Sequence[Prompt]) -> list[list[Prompt]]:
    """The chunks of prompts: consecutive prompts of one relation."""
    return [list(group) for _, group in groupby(prompts, key=lambda prompt: prompt.relation)]


def key_of(model: Model, chunk: Sequence[Prompt], settings: dict[str, bool]) -> str:
    """The key of a chunk: the texts that the model is asked, and the settings.

    Fact, subject, names of options and the place of the gold option are not part of the key.
    """
    asked = [[p.context, p.continuations, p.after] for p in chunk]
    return store.chunk_key(model, SCORERS[model.kind], ["options", model.kind, settings, asked])


def tidy(
    prompts: Sequence[Prompt], n_tokens: Sequence[int], logprob: Sequence[float]
) -> pd.DataFrame:
    """The frame of :class:`Scored`, from one number for each option of each prompt."""
    rows = [
        (p.fact, p.subject, p.context, continuation, option, i == p.gold)
        for p in prompts
        for i, (continuation, option) in enumerate(zip(p.continuations, p.options, strict=True))
    ]
    columns = ["fact", "subject", "context", "continuation", "option", "gold"]
    return pd.DataFrame(rows, columns=columns).assign(logprob=logprob, n_tokens=n_tokens)


def differing(prompts: Sequence[Prompt], same: Sequence[int]) -> list[bool]:
    """Whether each option of each prompt has a row: among options alike only the gold one has, or the first.

    ``same`` is the result of :func:`lkecore.scores.tokens.alike` for the options of all prompts, one prompt
    after the other.
    """
    found: list[bool] = []
    for p in prompts:
        own = same[len(found) : len(found) + len(p.options)]
        gold = own[p.gold]
        found += [i == p.gold or (i == first != gold) for i, first in enumerate(own)]
    return found


def without_alike(model: Model, frame: pd.DataFrame, has_row: Sequence[bool]) -> pd.DataFrame:
    """The rows that :func:`differing` keeps. One line reports how many rows are left out."""
    if all(has_row):
        return frame
    others = frame[~np.array(has_row)]
    one = others.iloc[0]
    progress.tell(
        f"model {model.name}: options with the same tokens as another one of their fact are left out, "
        f"{len(others)} of {len(frame)}, such as {one['option']!r} of fact {one['fact']}"
    )
    return frame[has_row].reset_index(drop=True)
