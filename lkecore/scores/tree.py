"""Scores of many strings by a causal model, with no shared beginning computed twice.

All strings of a relation begin with the same shots, all strings of a fact with its subject, and many
options share their first tokens. So all strings become one prefix tree (``trie``). Each node of it
goes through the model once (``walk``), in the fastest way that is exact for the model
(``attention_paths``). An option's last token is read from the logits before it and never forwarded.
So an option of one token costs nothing at all.

    [ shots ............... ]                        once for each relation
                             [ France ]              once for each fact
                                       [ Par ]       inner nodes: the tokens before a last token
                                       [ Ber ][ l ]

The module has log-probabilities of options and of pieces, and whole distributions.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores import chunks, store
from lkecore.scores.attention_paths import way
from lkecore.scores.batches import check_kind, record, token_logprobs
from lkecore.scores.chunks import Scored
from lkecore.scores.passes import Memory, bound_of, memory_of
from lkecore.scores.tokens import (
    Encoded,
    Pieces,
    check_pieces,
    encode,
    encode_pieces,
    encode_texts,
)
from lkecore.scores.trie import Tree
from lkecore.scores.walk import walk


def option_logprobs(
    model: Model,
    prompts: Sequence[Prompt],
    *,
    separate: bool = False,
    memory_gb: float | None = None,
    use_cache: bool = True,
) -> Scored:
    """The log-probability of every option of every prompt (IC-E2), each exactly as in ``plain``.

    ``separate`` tokenises context and continuation apart. ``memory_gb`` bounds the working memory in
    GiB, weights not counted (None: 1 on the CPU, half of the free memory on a GPU). The work is cut to
    fit, and cut further if a device still runs out. ``use_cache`` reads and keeps results under the
    user's cache folder, keyed by texts, model, dtype, the tokens in front and the scorer's code.

    Raises :class:`BadInput` as :func:`lkecore.scores.tokens.encode` does and for a bound that is no
    positive number, before the model is loaded; for a bound that not even one token fits into; and
    for logits that are not numbers (naming model, dtype and position).
    """
    check_kind(model, "causal")
    memory_gb = bound_of(memory_gb)

    def compute(network: Any, chunk: Sequence[Encoded], bar: tqdm) -> tuple[list[float], int]:
        tree, paths = tree_of(chunk)
        logprob, tokens = _edges(model, network, tree, paths, memory_gb, bar, len(chunk))
        return [sum(logprob[node] for node in path) for path in paths], tokens

    return chunks.score(
        model,
        prompts,
        {"separate": separate},
        lambda missing: encoded_prompts(model, missing, separate),
        compute,
        use_cache=use_cache,
        memory_gb=memory_gb,
    )


def encoded_prompts(model: Model, prompts: Sequence[Prompt], separate: bool) -> list[Encoded]:
    return encode(
        model.tokenizer,
        prompts,
        front=model.front,
        context_length=model.context_length,
        separate=separate,
        name=model.name,
    )


def piece_logprobs(
    model: Model,
    sequences: Sequence[Sequence[str]],
    *,
    separate: bool = False,
    memory_gb: float | None = None,
    use_cache: bool = True,
) -> pd.DataFrame:
    """The log-probability of every piece of long sequences, given all pieces before it: a row for each piece.

    - ``sequence`` and ``piece``: numbers from 0; ``text``;
    - ``logprob``: the sum over its tokens, in nats. For a first piece it is NaN if there are no tokens in
      front (``Model.front``), since nothing comes before it: not zero, but not known;
    - ``n_tokens``: the number of its tokens.

    One pass answers all positions of a sequence (the probe of many pairs, IC-S5); a beginning that several
    sequences share is computed once. ``separate`` tokenises each piece apart. One call is one cache entry.

    Raises :class:`BadInput` for a piece with an unknown token, and as
    :func:`lkecore.scores.tokens.encode_pieces` and :func:`option_logprobs` do.
    """
    check_kind(model, "causal")
    memory_gb = bound_of(memory_gb)
    encoded = encode_pieces(
        model.tokenizer,
        sequences,
        front=model.front,
        context_length=model.context_length,
        separate=separate,
    )
    check_pieces(model.tokenizer, sequences, encoded, model.name)
    with progress.bar(len(encoded), "sequence") as bar:
        values, _, _ = scored_pieces(
            model, encoded, None, bar, len(encoded), memory_gb=memory_gb, use_cache=use_cache
        )
    rows = [
        (i, j, text, end - begin)
        for i, (e, pieces) in enumerate(zip(encoded, sequences, strict=True))
        for j, (text, (begin, end)) in enumerate(zip(pieces, pairwise(e.bounds), strict=True))
    ]
    frame = pd.DataFrame(rows, columns=["sequence", "piece", "text", "n_tokens"])
    frame.insert(3, "logprob", values)
    return frame


def scored_pieces(
    model: Model,
    encoded: Sequence[Pieces],
    wanted: Sequence[int] | None,
    bar: tqdm,
    units: int,
    *,
    memory_gb: float | None,
    use_cache: bool,
) -> tuple[np.ndarray, int, bool]:
    """(log-probabilities, tokens forwarded, whether they were kept) of the pieces of sequences.

    ``wanted`` are the numbers of the pieces to score, the same in each sequence (None: all). The
    log-probabilities come sequence by sequence, as one array, which is one entry of the cache. ``bar``
    moves by ``units`` in all.
    """
    asked = [[e.ids, e.bounds] for e in encoded]
    key = store.chunk_key(model, "tree", ["pieces", wanted and list(wanted), asked])
    kept = store.read(key, ["logprob"]) if use_cache else None
    from_cache, tokens = kept is not None, 0
    if kept is None:
        network, tree = model.network, Tree()
        paths = []
        for e in encoded:
            path, cuts = tree.path(tree.add(e.ids)), list(pairwise(e.bounds))
            cuts = cuts if wanted is None else [cuts[i] for i in wanted]
            # Without tokens in front nothing comes before the first token.
            paths += [path[begin:end] if begin else [] for begin, end in cuts]
        logprob, tokens = _edges(model, network, tree, paths, memory_gb, bar, units)
        found = [sum(logprob[node] for node in path) if path else np.nan for path in paths]
        kept = pd.DataFrame({"logprob": np.array(found, dtype=np.float64)})
        if use_cache:
            store.write(key, kept)
    else:
        bar.update(units)
    rows = [e.ids for e in encoded]
    record(model, rows, tokens, memory_gb=memory_gb, from_cache=from_cache)
    return kept["logprob"].to_numpy(), tokens, from_cache


def distributions(
    model: Model,
    groups: Sequence[Sequence[str]],
    reduce: Callable[[Any, int], Any],
    *,
    memory_gb: float | None = None,
) -> np.ndarray:
    """The distribution of the next token after each context, reduced to a few numbers, (group, k), float64.

    A group is one context (for its entropy, PZ-E1) or several that are compared (two for a KL
    divergence, PZ-E3). ``reduce`` gets the log-probabilities of one group over the whole vocabulary, a
    float32 tensor (context, vocabulary) on the model's device, in nats, and the group's number, from 0.
    It returns a tensor of k numbers. No more than a block of groups is in memory at a time.

    Raises :class:`BadInput` as :func:`lkecore.scores.tokens.encode_texts` and
    :func:`option_logprobs` do.
    """
    import torch

    check_kind(model, "causal")
    memory_gb = bound_of(memory_gb)
    if not all(groups) or any(isinstance(group, str) for group in groups):
        raise BadInput("each group must be a list of one context or more")
    rows_of = iter(_whole(model, [text for group in groups for text in group]))
    encoded = [[next(rows_of) for _ in group] for group in groups]
    network = model.network
    memory = memory_of(network, memory_gb)
    chosen = way(network, max((len(row) for rows in encoded for row in rows), default=0))
    # A quarter of the memory is for the rows that wait for the others of their group.
    held = max(1, memory.bytes // (4 * memory.logits))
    memory.bytes -= memory.bytes // 4
    results, block, tokens = [], [], 0

    def finish() -> None:
        nonlocal tokens
        found, n = _reduced(model, network, block, len(results), reduce, chosen, memory)
        results.extend(found)
        tokens += n
        bar.update(len(block))
        block.clear()

    with progress.bar(len(groups), "prompt") as bar:
        for rows in encoded:
            if block and sum(map(len, block)) + len(rows) > held:
                finish()
            block.append(rows)
        if block:
            finish()
    record(model, [row for rows in encoded for row in rows], tokens, memory_gb=memory_gb)
    return torch.stack(results).numpy() if results else np.empty((0, 0))


def _whole(model: Model, texts: Sequence[str]) -> list[tuple[int, ...]]:
    return encode_texts(
        model.tokenizer, texts, front=model.front, context_length=model.context_length
    )


def _reduced(
    model: Model,
    network: Any,
    block: Sequence[Sequence[tuple[int, ...]]],
    first: int,
    reduce: Callable[[Any, int], Any],
    chosen: str,
    memory: Memory,
) -> tuple[list[Any], int]:
    import torch

    tree = Tree()
    ends = [[tree.add(row) for row in rows] for rows in block]
    rows_at: dict[int, Any] = {}

    def read(nodes: list[int], logits: Any) -> None:
        for node, row in zip(nodes, logits, strict=True):
            rows_at[node] = row.float().log_softmax(-1)
            if not math.isfinite(rows_at[node].max().item()):
                raise not_finite(model, tree.depth[node])

    reads = {node for group in ends for node in group}
    tokens = walk(network, tree, reads, read, way=chosen, memory=memory)
    with torch.inference_mode():
        groups = (torch.stack([rows_at[node] for node in group]) for group in ends)
        numbers = [reduce(rows, first + i) for i, rows in enumerate(groups)]
        return [n.cpu().double().reshape(-1) for n in numbers], tokens


def tree_of(chunk: Sequence[Encoded]) -> tuple[Tree, list[list[int]]]:
    """All strings as one tree, and the nodes of each option's own tokens."""
    tree, paths = Tree(), []
    for e in chunk:
        stem = tree.add(e.stem)
        for tail, start in zip(e.tails, e.starts, strict=True):
            own = tree.path(tree.add(tail, after=stem), above=stem)
            paths.append(own[start - len(e.stem) :])
    return tree, paths


def _edges(
    model: Model,
    network: Any,
    tree: Tree,
    paths: Sequence[Sequence[int]],
    memory_gb: float | None,
    bar: tqdm,
    units: int,
) -> tuple[dict[int, float], int]:
    """(log-probability of every node on the paths given those above it, tokens forwarded).

    ``bar`` moves by ``units`` in all.
    """
    kids: dict[int, list[int]] = {}
    for node in {node for path in paths for node in path}:
        kids.setdefault(tree.parent[node], []).append(node)
    logprob: dict[int, float] = {}
    done = 0

    def read(nodes: list[int], logits: Any) -> None:
        nonlocal done
        ends = [kid for node in nodes for kid in kids[node]]
        row = [i for i, node in enumerate(nodes) for _ in kids[node]]
        values = token_logprobs(logits, row, [tree.token[kid] for kid in ends]).tolist()
        for kid, value in zip(ends, values, strict=True):
            if not math.isfinite(value):
                raise not_finite(model, tree.depth[kid] - 1)
        logprob.update(zip(ends, values, strict=True))
        before, done = done, done + len(nodes)
        bar.update(units * done // len(kids) - units * before // len(kids))

    memory = memory_of(network, memory_gb)
    chosen = way(network, max(map(tree.depth.__getitem__, kids), default=0))
    tokens = walk(network, tree, kids, read, way=chosen, memory=memory)
    return logprob, tokens


def not_finite(model: Model, position: int) -> BadInput:
    """The error for NaN or infinity, such as half precision gives; ``position`` is the token's number."""
    return BadInput(
        f"model {model.name} in {model.dtype} gives NaN or infinity at token {position} of a "
        "string; try float32"
    )
