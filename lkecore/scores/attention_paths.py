"""Find the fastest way to send a tree of strings through a network, with the same numbers as ``plain``.

A model's name decides nothing. At first use a small tree of random tokens goes through the network in
each way, the fastest first. The results are compared with one plain forward pass per string. So three
kinds of architecture are found out: one that takes no tree mask, one that ignores it without a word
(ALiBi), and one that has no key-value cache at all (Mamba). Each is reported in one line and gets the
next way.
"""

import math
import weakref
from typing import Any

import numpy as np

from lkecore.errors import BadInput
from lkecore.models.loading import check_alike
from lkecore.progress import tell
from lkecore.scores.passes import COLUMNS, MOST, Memory, attempt, out_of_memory, tensor, window_of
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import Encoded
from lkecore.scores.trie import Tree
from lkecore.scores.walk import walk

# The way found for each network. The inner key says what is longer than the network's window: nothing
# (0), strings (1), or only a trunk together with the branches that are packed beside it (2).
FOUND: weakref.WeakKeyDictionary[Any, dict[int, str]] = weakref.WeakKeyDictionary()
PROBE = 32  # tokens of a probe that does not have to fill a window


def way(network: Any, longest: int) -> str:
    """The fastest way of ``walk`` that gives plain's numbers, for strings of up to ``longest`` tokens.

    A window matters only to strings that do not fit into it. In that case the probe is longer, too. But a
    network may count its window in columns of the cache and not in positions (GPT-Neo). Such a window
    matters as soon as a trunk and the branches packed beside it do not fit.

    Raises :class:`BadInput` for a network that looks at later tokens, which is no causal model. Raises it
    also for one that reads long strings differently from their first token on (longrope, dynamic NTK), and
    if memory runs out.
    """
    kind = type(network).__name__
    check_alike(network, longest)
    window = window_of(network)
    longer = 0
    if window is not None:
        longer = 1 if longest > window or window < PROBE else 2 if longest + COLUMNS > window else 0
    found = FOUND.setdefault(network, {})
    if longer not in found:
        aside = window if longer == 2 else 0
        which = attempt(_find, network, window if longer == 1 else None, aside)
        if which is None:
            raise BadInput(f"out of memory while {kind} is tried out; free some")
        found[longer] = which
    return found[longer]


def _find(network: Any, window: int | None, aside: int) -> str:
    import torch

    vocabulary = network.config.get_text_config().vocab_size
    length = PROBE if window is None else window + PROBE
    ids = tuple(np.random.default_rng(0).integers(vocabulary, size=length).tolist())
    # The probe is a trunk with a branch half-way, and a bush at its end, where columns of the cache are
    # far from positions.
    stem, trunk, a, b, c = ids[:-27], ids[-27:-12], ids[-12:-8], ids[-8:-4], ids[-4:]
    bush = (a[:2] + c, a[:2] + b[2:], b[:1] + c, c[:1] + a, a, b, c)
    if window is not None:
        bush = bush[:3]  # long strings cost more, and are rare
    tails = (b + c, *(trunk + tail for tail in bush))
    starts = (len(stem), *[len(stem + trunk)] * len(bush))
    wanted = option_logprobs_plain(network, Encoded(None, stem, tails, starts, merged=0))

    def off(name: str, beside: int = 0) -> float:
        """The mean distance of a way's numbers to plain's, in nats; infinite if the way fails.

        The same pack has branches of ``beside`` tokens in all between the stem and the rest.
        """
        tree = Tree()
        top = tree.add(stem)
        others = [
            tree.add((ids * beside)[i : i + beside // 4 + 1], top)
            for i in range(4 if beside else 0)
        ]
        ends = [tree.add(tail, after=top) for tail in tails]
        found = {}

        def read(nodes: list[int], logits: Any) -> None:
            for node, row in zip(nodes, logits.float().log_softmax(-1), strict=True):
                found.update({kid: row[token].item() for token, kid in tree.kids[node].items()})

        most = 2**30 if beside else 24 if window is None else MOST
        memory = Memory(2**62, 0, 0, 0, 0, 0, most=most)
        paths = [tree.path(end, above=top) for end in ends]
        reads = {*others, *(tree.parent[node] for path in paths for node in path)}
        try:
            walk(network, tree, reads, read, way=name, memory=memory)
        except Exception as error:  # every architecture refuses a mask or a cache in its own way
            if out_of_memory(error) or isinstance(error, BadInput):
                raise
            return math.inf
        sums = [
            sum(found[node] for node in path[start - len(stem) :])
            for path, start in zip(paths, starts, strict=True)
        ]
        return float(np.abs(wanted - sums).mean())

    # In float32 the ways differ by rounding. In half precision they differ by its coarser rounding, up
    # to a nat for very improbable names. The expanded way uses only the network's own cache, so its
    # distance measures this rounding.
    exact = network.dtype == torch.float32
    expanded = math.inf if exact else off("expanded")
    tolerance = 1e-3 if exact else min(max(3 * expanded, 0.1), 1.0)
    kind = type(network).__name__
    for name in ("packed",) if window is None else ("windows", "window"):
        if off(name) < tolerance and (not aside or off(name, aside) < tolerance):
            return name
    if (off("expanded") if exact else expanded) < (1e-3 if exact else 1.0):
        tell(f"{kind} takes no tree mask: scoring by expanded cache, slower")
        return "expanded"
    with torch.inference_mode():
        short, long = (
            network(input_ids=tensor([row], network), use_cache=False).logits for row in (stem, ids)
        )
    if (short - long[:, : len(stem)]).float().abs().mean() > tolerance:
        raise BadInput(f"{kind} looks at tokens that come later: it is no causal model")
    tell(f"{kind} shares no cache: scoring string by string, much slower")
    return "plain"
