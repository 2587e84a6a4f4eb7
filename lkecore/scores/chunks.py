"""Chunks: the questions of one relation, scored together, kept together.

All scorers go through :func:`score`: it looks into the cache, computes what is not there, refuses
numbers that are none, keeps the rest, and makes the tidy frame.
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
from lkecore.models import Model
from lkecore.prompts import Prompt
from lkecore.rows import BadInput
from lkecore.scores import cache as store
from lkecore.scores.tokens import place


@dataclass(frozen=True)
class Scored:
    """Scores and what they cost.

    ``frame`` has one row for each fact and option, facts and options in the order of the prompts:
    fact, subject, context, continuation, option, gold, ``logprob`` (sum over the option's tokens,
    nats, float64) and ``n_tokens``. ``seconds`` cover tokenising and scoring, not loading;
    ``tokens_forwarded`` count no padding and are 0 where the numbers came from the cache.
    """

    frame: pd.DataFrame
    seconds: float
    tokens_forwarded: int
    merged: int
    cached: bool


def score(
    model: Model,
    encode: Callable[[], Sequence[Any]],
    compute: Callable[[Any, Sequence[Any], tqdm], tuple[Sequence[float], int]],
    *,
    use_cache: bool,
    memory_gb: float | None = None,
) -> Scored:
    """Log-probabilities of all options of all prompts, relation by relation.

    ``encode`` tokenises: it returns one object for each prompt, with ``prompt``, ``n_tokens`` (one
    for each option), ``merged`` and ``key()`` (integers that say what is asked). ``compute`` takes
    the network, the encoded prompts of one relation and a progress bar to update by one a fact, and
    returns the log-probabilities in order and the tokens forwarded; ``memory_gb`` is what it was
    bounded by, for the manifest. What is finished is kept at once, so that an interruption costs
    one relation at most.
    """
    started = time.perf_counter()
    encoded = encode()
    seconds = time.perf_counter() - started
    values: list[float] = []
    tokens, chunks, cached = 0, 0, 0
    with progress.bar(len(encoded), "fact") as bar:
        for relation, group in groupby(encoded, key=lambda e: e.prompt.relation):
            chunk = list(group)
            bar.set_description(relation)
            key = store.chunk_key(chunk, model)
            kept = store.read(key) if use_cache else None
            from_cache = kept is not None
            forwarded = 0
            if kept is None:
                network = model.network  # loads now, if it has not been: not in the seconds
                started = time.perf_counter()
                found, forwarded = compute(network, chunk, bar)
                kept = np.array(found, dtype=np.float64)
                seconds += time.perf_counter() - started
                if not np.isfinite(kept).all():  # half precision overflows to NaN or infinity
                    asked = [(e.prompt, name) for e in chunk for name in e.prompt.options]
                    prompt, option = asked[int(np.flatnonzero(~np.isfinite(kept))[0])]
                    raise BadInput(
                        f"model {model.name} in {model.dtype} gives NaN or infinity in relation "
                        f"{relation}, {place(prompt)}, option {option!r}; try float32"
                    )
                if use_cache:
                    store.write(key, kept)
            else:
                bar.update(len(chunk))
            progress.record(
                model=model.name,
                relation=relation,
                facts=len(chunk),
                tokens_forwarded=forwarded,
                from_cache=from_cache,
                memory_gb=memory_gb,
            )
            tokens += forwarded
            chunks += 1
            cached += from_cache
            values += kept.tolist()
    return Scored(
        frame=tidy([e.prompt for e in encoded], [n for e in encoded for n in e.n_tokens], values),
        seconds=seconds,
        tokens_forwarded=tokens,
        merged=sum(e.merged for e in encoded),
        cached=cached == chunks,
    )


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
