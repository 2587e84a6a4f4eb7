"""Passes: the options of one fact through the model, over a cache that holds what is shared.

Three ways give the same numbers. *Packed*: subject and inner nodes go through the model in a single
forward pass; a mask lets each node see the shots, the subject and its own ancestors only.
*Expanded*: the cache is repeated over a batch, a row for each longest inner path, without any
special mask. *Plain*: string by string. Packed is several times faster; a model that takes no such
mask or ignores it without a word (ALiBi), or has no key-value cache at all (Mamba), is found out by
a comparison with plain forwards at first use, and gets the next.
"""

import copy
import weakref
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lkecore.progress import tell
from lkecore.rows import BadInput
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import Encoded

Path = tuple[int, ...]  # the tokens from the end of the stem to a node of the prefix tree


def tensor(rows: Any, network: Any):
    import torch

    return torch.tensor(rows, device=network.device)


def tree_of(tails: Sequence[Path]) -> dict[Path, list[int]]:
    """Each inner node of the prefix tree (the root is ()), with the tokens that follow it."""
    children: dict[Path, dict[int, None]] = {}
    for tail in tails:
        for n, token in enumerate(tail):
            children.setdefault(tail[:n], {})[token] = None
    return {path: list(tokens) for path, tokens in children.items()}


def edges(logits: Any, paths: Sequence[Path], children: dict[Path, list[int]]) -> dict:
    """Log-probability of every child of ``paths``, whose logits are the rows of ``logits``."""
    row = [i for i, path in enumerate(paths) for _ in children[path]]
    token = [t for path in paths for t in children[path]]
    logits = logits.float()
    # Rounding may lift a probability of 1 a little above it; log-probabilities never are positive.
    values = (logits[row, token] - logits.logsumexp(-1)[row]).clamp(max=0).tolist()
    ends = [(*path, t) for path in paths for t in children[path]]
    return dict(zip(ends, values, strict=True))


def packed(
    network: Any, own: Path, tails: Sequence[Path], past: Any
) -> tuple[dict[Path, float], int]:
    """(log-probability of each tree node given its ancestors, tokens forwarded), in one pass.

    ``past`` holds the shots, ``own`` is the rest of the stem; the caller cuts ``past`` back.
    """
    import torch

    children = tree_of(tails)
    paths = sorted(children, key=len)  # the root first, parents before children
    inner = paths[1:]
    at = {path: len(own) + i for i, path in enumerate(inner)}
    shared, n = past.get_seq_length(), len(own) + len(inner)
    sees = torch.zeros(n, n, dtype=torch.bool)
    sees[: len(own), : len(own)] = torch.ones(len(own), len(own)).tril().bool()
    sees[len(own) :, : len(own)] = True
    for path, i in at.items():
        sees[i, [at[path[:k]] for k in range(1, len(path) + 1)]] = True
    mask = torch.zeros(1, 1, n, shared + n, dtype=network.dtype)
    mask[..., shared:].masked_fill_(~sees, torch.finfo(network.dtype).min)
    depth = [*range(len(own)), *(len(own) + len(path) - 1 for path in inner)]
    logits = network(
        input_ids=tensor([[*own, *(path[-1] for path in inner)]], network),
        attention_mask=mask.to(network.device),
        position_ids=tensor([[shared + d for d in depth]], network),
        past_key_values=past,
        logits_to_keep=tensor([len(own) - 1, *at.values()], network),
    ).logits[0]
    return edges(logits, paths, children), n


def expanded(
    network: Any, own: Path, tails: Sequence[Path], past: Any, batch_rows: int
) -> tuple[dict[Path, float], int]:
    """As :func:`packed`, by a batch over the repeated cache; right for any causal model."""
    from accelerate.utils.memory import should_reduce_batch_size

    children = tree_of(tails)
    logits = network(input_ids=tensor([own], network), past_key_values=past, logits_to_keep=1)
    nodes = edges(logits.logits[0], [()], children)
    inner = sorted(path for path in children if path)
    # In dictionary order a path stands right before what it begins: keep the longest of a chain.
    rows = [r for r, after in pairwise([*inner, ()]) if after[: len(r)] != r]

    def forward(batch: Sequence[Path]) -> None:
        width = max(map(len, batch))
        wide = copy.deepcopy(past)
        wide.batch_repeat_interleave(len(batch))
        # Padding on the right comes after all that is read: in a causal model without effect.
        tokens = tensor([row + (0,) * (width - len(row)) for row in batch], network)
        logits = network(input_ids=tokens, past_key_values=wide).logits
        for row, row_logits in zip(batch, logits, strict=True):
            paths = [row[:k] for k in range(1, len(row) + 1)]
            nodes.update(edges(row_logits[: len(row)], paths, children))

    # By hand: find_executable_batch_size collects garbage at every call, which takes longer here
    # than a small model's forward pass.
    done = 0
    while done < len(rows):
        try:
            forward(rows[done : done + batch_rows])
            done += batch_rows
        except RuntimeError as error:
            if batch_rows == 1 or not should_reduce_batch_size(error):
                raise
            batch_rows //= 2
    return nodes, len(own) + sum(map(len, rows))


WAYS_FOUND: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
# What configs call attention that sees the last so many tokens only.
WINDOWS = ("sliding_window", "window_size", "attention_window_size", "attention_chunk_size")


def way(network: Any) -> str:
    """The fastest way that gives plain's numbers on this network, found out at its first use.

    The probe is a small tree of random tokens, since the options of a relation may all have one
    token, and would then test no mask. It is too short to notice windows: they are never packed.
    """
    import torch
    from transformers import DynamicCache

    if network in WAYS_FOUND:
        return WAYS_FOUND[network]
    config = network.config.get_text_config()
    ids = tuple(np.random.default_rng(0).integers(config.vocab_size, size=32).tolist())
    stem, a, b, c = ids[:20], ids[20:24], ids[24:28], ids[28:]
    tails = [a, b, a[:3], a[:2] + c, a[:2] + b[2:], c[:1]]
    probe = Encoded(None, tuple(stem + t for t in tails), (len(stem),) * len(tails), merged=0)
    wanted = option_logprobs_plain(network, probe)
    # Float32 differs by rounding; half precision by up to half a nat (design: bfloat16).
    tolerance = 1e-3 if network.dtype == torch.float32 else 0.5

    def agrees(name: str) -> bool:
        try:
            with torch.inference_mode():
                past = DynamicCache()
                network(input_ids=tensor([stem[:10]], network), past_key_values=past)
                args = (network, stem[10:], tails, past)
                nodes, _ = packed(*args) if name == "packed" else expanded(*args, batch_rows=8)
        except Exception:  # every architecture refuses a mask or a cache in its own way
            return False
        found = [sum(nodes[t[: i + 1]] for i in range(len(t))) for t in tails]
        return float(np.abs(wanted - found).mean()) < tolerance

    kind = type(network).__name__
    windows = any(getattr(config, name, None) for name in WINDOWS)
    if not windows and agrees("packed"):
        WAYS_FOUND[network] = "packed"
    elif agrees("expanded"):
        tell(f"{kind} takes no tree mask: scoring by expanded cache, slower")
        WAYS_FOUND[network] = "expanded"
    else:
        with torch.inference_mode():
            short, long = (
                network(input_ids=tensor([row], network), use_cache=False).logits
                for row in (stem, ids)
            )
        if (short - long[:, : len(stem)]).float().abs().mean() > tolerance:
            raise BadInput(f"{kind} looks at tokens that come later: it is no causal model")
        tell(f"{kind} shares no cache: scoring string by string, much slower")
        WAYS_FOUND[network] = "plain"
    return WAYS_FOUND[network]
