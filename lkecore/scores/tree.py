"""Tree: option log-probabilities where no shared beginning is computed twice.

All strings of a relation begin with the same shots, and all strings of a fact with its subject. So
the shots are forwarded once for a relation, into the key-value cache, and the subject once for a
fact. The options of a fact part ways after it, token by token: a prefix tree. An option's last
token is read from the logits before it and never forwarded, so that an option of one token costs
nothing at all.

    [ shots ............... ]                        once for each relation
                             [ France ]              once for each fact
                                       [ Par ]       inner nodes: what lies before a last token
                                       [ Ber ][ l ]

How the options of one fact go through the model is in ``passes``.
"""

import time
from collections.abc import Sequence
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
from lkecore.scores.passes import expanded, packed, tensor, tree_of, way
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import Encoded, common_prefix, encode


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


def option_logprobs(
    model: Model,
    prompts: Sequence[Prompt],
    *,
    batch_rows: int = 64,
    use_cache: bool = True,
) -> Scored:
    """Log-probability of every option of every prompt (IC-E2), each exactly as in ``plain``.

    ``batch_rows`` bounds how many option rows the expanded way forwards at a time; on a device
    that runs out of memory it halves by itself. ``use_cache`` reads and keeps results under the
    user's cache folder, keyed by token ids, model, dtype, BOS policy and the scorer's source.

    Raises :class:`BadInput` as :func:`lkecore.scores.tokens.encode` does, before the model is
    loaded, and for logits that are not numbers (naming the model, dtype and relation).
    """
    started = time.perf_counter()
    encoded = encode(
        model.tokenizer, prompts, add_bos=model.add_bos, context_length=model.context_length
    )
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
            if kept is None:
                network = model.network  # loads now, if it has not been: not in the seconds
                started = time.perf_counter()
                kept, forwarded = _relation_logprobs(network, chunk, batch_rows, bar)
                seconds += time.perf_counter() - started
                tokens += forwarded
                if not np.isfinite(kept).all():  # half precision overflows to NaN or infinity
                    raise BadInput(
                        f"model {model.name} in {model.dtype} gives NaN or infinity in relation "
                        f"{relation}; try float32"
                    )
                if use_cache:
                    store.write(key, kept)
            else:
                cached += 1
                forwarded = 0
                bar.update(len(chunk))
            progress.record(
                model=model.name,
                relation=relation,
                facts=len(chunk),
                tokens_forwarded=forwarded,
                from_cache=from_cache,
                batch_rows=batch_rows,
            )
            chunks += 1
            values += kept.tolist()
    return Scored(
        frame=_tidy(encoded, values),
        seconds=seconds,
        tokens_forwarded=tokens,
        merged=sum(e.merged for e in encoded),
        cached=cached == chunks,
    )


def equal_scores(prompts: Sequence[Prompt]) -> Scored:
    """A frame of the right shape in which every option is alike: for a forecast, not a result."""
    alike = [Encoded(p, ((0,),) * len(p.options), (0,) * len(p.options), merged=0) for p in prompts]
    return Scored(_tidy(alike, [-1.0] * sum(len(p.options) for p in prompts)), 0.0, 0, 0, True)


def _tidy(encoded: Sequence[Encoded], logprob: Sequence[float]) -> pd.DataFrame:
    rows = [
        (p.fact, p.subject, p.context, p.continuations[i], option, i == p.gold, len(ids) - start)
        for e in encoded
        for p in [e.prompt]
        for i, (option, ids, start) in enumerate(zip(p.options, e.sequences, e.starts, strict=True))
    ]
    columns = ["fact", "subject", "context", "continuation", "option", "gold", "n_tokens"]
    frame = pd.DataFrame(rows, columns=columns)
    frame.insert(6, "logprob", logprob)
    return frame


def _relation_logprobs(
    network: Any, encoded: Sequence[Encoded], batch_rows: int, bar: tqdm
) -> tuple[np.ndarray, int]:
    """(log-probabilities of all options of all facts of one relation, tokens forwarded)."""
    import torch
    from transformers import DynamicCache

    chosen = way(network)
    if chosen == "plain":
        values = []
        for e in encoded:
            values += option_logprobs_plain(network, e).tolist()
            bar.update()
        return np.array(values), sum(len(ids) for e in encoded for ids in e.sequences)
    stems, shared = _stems(encoded)
    values, forwarded = [], shared
    with torch.inference_mode():
        # Without a config every layer keeps all positions: a model with sliding windows still
        # masks by position, and the cache can be cut back after each fact.
        past = DynamicCache()
        if shared:
            shots = tensor([stems[0][:shared]], network)
            network(input_ids=shots, past_key_values=past, logits_to_keep=1)
        for e, stem in zip(encoded, stems, strict=True):
            tails = [ids[len(stem) :] for ids in e.sequences]
            if chosen == "packed":
                nodes, n = packed(network, stem[shared:], tails, past)
            else:
                nodes, n = expanded(network, stem[shared:], tails, past, batch_rows)
            past.crop(shared - past.get_seq_length())  # a negative count: how many to forget
            values += [
                sum(nodes[tail[: i + 1]] for i in range(start - len(stem), len(tail)))
                for tail, start in zip(tails, e.starts, strict=True)
            ]
            forwarded += n
            bar.update()
    return np.array(values), forwarded


def _stems(encoded: Sequence[Encoded]) -> tuple[list[tuple[int, ...]], int]:
    """The stem of each fact, where its options part, and how many tokens all of them share.

    Nothing in a stem is scored, everything is shared. What the stems of all facts share is the
    shots. At least one token is left to each stem, since its logits are read.
    """
    stems = [
        e.sequences[0][
            : min(common_prefix(e.sequences), *e.starts, *(len(s) - 1 for s in e.sequences))
        ]
        for e in encoded
    ]
    return stems, min(common_prefix(stems), min(map(len, stems)) - 1)


def expected_tokens(model: Model, prompts: Sequence[Prompt]) -> tuple[int, int]:
    """(tokens that :func:`option_logprobs` would forward, those of them that the cache saves).

    Counted in the packed way, which most architectures take; loads no weights.
    """
    encoded = encode(
        model.tokenizer, prompts, add_bos=model.add_bos, context_length=model.context_length
    )
    total, saved = 0, 0
    for _, group in groupby(encoded, key=lambda e: e.prompt.relation):
        chunk = list(group)
        stems, shared = _stems(chunk)
        n = shared
        for e, stem in zip(chunk, stems, strict=True):
            inner = tree_of([ids[len(stem) :] for ids in e.sequences])
            n += len(stem) - shared + len(inner) - 1  # the root is the stem's last token
        total += n
        saved += n if store.read(store.chunk_key(chunk, model)) is not None else 0
    return total, saved
