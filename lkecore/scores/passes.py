"""One forward pass of a causal network, and how much of it fits into memory."""

import math
import os
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lkecore.errors import BadInput
from lkecore.scores.trie import Tree

# The most tokens of one pass, however much memory there is. Longer passes gain nothing on a CPU:
# branches that share a pass do not see each other, so that ever more of the attention is masked out.
# A small network's matrices of 512 rows leave a GPU idle: 2,048 took half the time.
MOST = 512
MOST_ON_GPU = 2048
COLUMNS = 2048  # the most columns of a cache that outputs or branches share side by side
# Names that configs give to the number of last tokens that attention sees.
WINDOWS = ("sliding_window", "window_size", "attention_window_size", "attention_chunk_size")


def tensor(rows: Any, network: Any) -> Any:
    import torch

    return torch.tensor(rows, device=network.device)


def forward(
    network: Any,
    rows: Sequence[Sequence[int]],
    past: Any,
    keep: Sequence[int],
    *,
    mask: Any = None,
    positions: Sequence[int] | None = None,
) -> Any:
    """The logits at the places ``keep`` of each row, shape (row, place, vocabulary), in the network's dtype.

    ``past`` is the key-value cache of the text before; the rows are appended to it. Without ``mask`` and
    ``positions`` the rows are plain text from left to right.
    """
    given = {} if mask is None else {"attention_mask": mask}
    if positions is not None:
        given["position_ids"] = tensor([positions], network)
    return network(
        input_ids=tensor(rows, network),
        past_key_values=past,
        use_cache=True,
        logits_to_keep=tensor(keep, network) if len(keep) else 1,
        **given,
    ).logits[:, : len(keep)]


def out_of_memory(error: Exception) -> bool:
    """Whether an error says that the device has no more memory."""
    from accelerate.utils.memory import should_reduce_batch_size

    return isinstance(error, RuntimeError) and should_reduce_batch_size(error)


def attempt(pass_: Callable[..., Any], *given: Any) -> Any:
    """The result of the pass, or None if memory ran out."""
    from accelerate.utils.memory import clear_device_cache

    try:
        return pass_(*given)
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
    clear_device_cache()  # only here, since the error keeps the pass's tensors alive
    return None


def window_of(network: Any) -> int | None:
    """The smallest number of tokens that a layer of the network sees; None if all layers see all."""
    config = network.config.get_text_config()
    found = [getattr(config, name, None) for name in WINDOWS]
    return min((n for n in found if isinstance(n, int)), default=None)


def tree_mask(sees: np.ndarray, positions: np.ndarray, way: str, network: Any) -> Any:
    """An attention mask from ``sees`` (token, token before it or itself): which tokens a token sees.

    ``positions`` are those of all columns. The way ``packed`` gives every layer the same mask. ``window``
    cuts it to the network's window in all layers, ``windows`` only in the layers that have one. The mask
    is added to the attention scores and not Boolean: all of transformers' attentions understand only that.
    """
    import torch

    def added(seen: np.ndarray) -> Any:  # made on the device: one byte a cell goes there
        mask = torch.zeros(1, 1, *seen.shape, dtype=network.dtype, device=network.device)
        unseen = torch.from_numpy(~seen).to(network.device)
        return mask.masked_fill_(unseen, torch.finfo(network.dtype).min)

    if way == "packed":
        return added(sees)
    near = sees & (positions[-len(sees) :, None] - positions[None] < window_of(network))
    if way == "window":
        return added(near)
    return {"full_attention": added(sees), "sliding_attention": added(near)}


class State:
    """A key-value cache, and the meaning of its columns.

    The first columns are plain text, the *trunk*; branches side by side may follow it. ``positions`` has
    one entry for each column. ``seen`` has, for nodes of branches, the columns that the node's children may
    look at: the trunk up to where the branch begins, the node's ancestors and the node.
    """

    def __init__(self, network: Any) -> None:
        from transformers import DynamicCache

        self.network = network
        # Without a config every layer keeps all positions: a model with sliding windows still
        # masks by position, and the cache can be cut back.
        self.past = DynamicCache()
        self.positions: list[int] = []
        self.seen: dict[int, np.ndarray] = {}

    def text(self, tokens: Sequence[int], keep: Sequence[int]) -> Any:
        """Append plain text, and return the logits (place, vocabulary) at the places ``keep``."""
        logits = forward(self.network, [tokens], self.past, keep)[0]
        self.positions += range(len(self.positions), len(self.positions) + len(tokens))
        return logits

    def pack(self, tree: Tree, nodes: Sequence[int], keep: Sequence[int], way: str) -> Any:
        """Append nodes side by side in one pass, parents before children.

        Returns the logits at the places ``keep``.
        """
        held, depth = len(self.positions), tree.depth
        sees = np.zeros((len(nodes), held + len(nodes)), dtype=bool)
        seen = {}
        for i, node in enumerate(nodes):
            above = tree.parent[node]
            before = seen.get(above, self.seen.get(above))
            if before is None:
                before = np.arange(depth[above])
            seen[node] = np.append(before, held + i)
            sees[i, seen[node]] = True
        positions = [depth[node] - 1 for node in nodes]
        columns = np.array([*self.positions, *positions])
        logits = forward(
            self.network,
            [[tree.token[node] for node in nodes]],
            self.past,
            keep,
            mask=tree_mask(sees, columns, way, self.network),
            positions=positions,
        )[0]
        self.seen.update(seen)
        self.positions += positions
        return logits

    def cut(self, length: int) -> None:
        """Forget all columns after the first ``length``.

        It works layer by layer: a pass that ran out of memory half-way has left layers of unequal length.
        """
        for layer in self.past.layers:
            if (extra := layer.get_seq_length() - length) > 0:
                layer.crop(-extra)
        del self.positions[length:]
        self.seen = {node: columns for node, columns in self.seen.items() if columns[-1] < length}


@dataclass
class Memory:
    """The bounds of one pass, so that working memory stays under ``bytes``.

    Sizes are measured on the network, in bytes:

    - ``kv``: one token in the cache;
    - ``layer_kv``: one token in one layer of the cache, which is copied when it grows;
    - ``hidden``: one token on its way through a layer;
    - ``logits``: one row of logits;
    - ``seen``: one cell of the attention mask.
    """

    bytes: int
    kv: int
    layer_kv: int
    hidden: int
    logits: int
    seen: int
    most: int = MOST
    given: int = 0  # the bytes that the caller allowed; ``bytes`` may be a part of them

    def tokens(self, depth: int) -> int:
        """The number of tokens of one pass, if the cache has up to ``depth`` tokens."""
        n = self.most
        while n > 1 and self.needed(n, depth) > self.bytes:
            n -= max(1, n // 16)
        if (least := self.needed(n, depth)) > self.bytes:
            given = self.given or self.bytes
            # A hundredth is added, since the number is printed with three digits.
            enough = 1.01 * least * given / max(1, self.bytes)
            raise BadInput(
                f"memory_gb {given / 2**30:.3g} is too little: strings of {depth} tokens need "
                f"{enough / 2**30:.3g}"
            )
        return n

    def halve(self, tried: int) -> None:
        """Halve the tokens of a pass from now on, after ``tried`` tokens were too many."""
        self.most = tried // 2
        if not self.most:
            raise BadInput(
                "out of memory, even with one token at a time; free some, or take a smaller model or "
                "dtype"
            )

    def needed(self, tokens: int, depth: int) -> int:
        """The bytes of one pass over a cache of ``depth`` tokens."""
        columns = depth + tokens
        cache = self.kv * columns + self.layer_kv * columns
        return cache + tokens * (self.hidden + self.logits + self.seen * columns)

    def rows(self, depth: int, width: int) -> int:
        """The number of rows of ``width`` tokens in one batch, each with its own copy of the cache."""
        n = max(1, self.tokens(depth) // width)
        while n > 1 and n * self.needed(width, depth) > self.bytes:
            n -= 1
        return n


def bound_of(memory_gb: float | None) -> float | None:
    """The bound of working memory in GiB that a call asks for, or ``LKE_MEMORY_GB``, or None.

    No network is needed, so that a bad bound is refused early: raises :class:`BadInput` for a value that
    is no positive number.
    """
    name = "memory_gb"
    if memory_gb is None and (said := os.environ.get("LKE_MEMORY_GB")):
        name = "LKE_MEMORY_GB"
        try:
            memory_gb = float(said)
        except ValueError:
            raise BadInput(f"LKE_MEMORY_GB is {said!r}, but must be a number (GiB)") from None
    if memory_gb is not None and not 0 < memory_gb < math.inf:
        raise BadInput(f"{name} is {memory_gb}, but must be a number above 0")
    return memory_gb


def memory_of(network: Any, memory_gb: float | None) -> Memory:
    """The memory that a network's passes may use; ``memory_gb`` is as :func:`bound_of` returns it.

    None means 1 GiB on the CPU and half of the free memory on a GPU. The weights do not count, nor does
    the memory that libraries take once when a model is first used.
    """
    import torch

    if memory_gb is None:
        memory_gb = 1.0
        if network.device.type == "cuda":
            device = network.device
            # Memory that PyTorch keeps for later counts as free, or else each call would find less.
            kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
            memory_gb = (torch.cuda.mem_get_info(device)[0] + kept) / 2**31
    if network not in SIZES:
        sizes = attempt(_sizes, network)
        if sizes is None:
            raise BadInput(
                "out of memory with two tokens; free some, or take a smaller model or dtype"
            )
        SIZES[network] = sizes
    bound = int(memory_gb * 2**30)
    most = MOST_ON_GPU if network.device.type == "cuda" else MOST
    return Memory(bound, **SIZES[network], most=most, given=bound)


SIZES: weakref.WeakKeyDictionary[Any, dict[str, int]] = weakref.WeakKeyDictionary()


def _sizes(network: Any) -> dict[str, int]:
    """The sizes of :class:`Memory`, measured on the network."""
    import torch
    from transformers import DynamicCache

    past = DynamicCache()
    with torch.inference_mode():
        try:
            network(input_ids=tensor([[0, 0]], network), past_key_values=past)
            layers = [(x.keys.nbytes + x.values.nbytes) // 2 for x in past.layers]
        except Exception as error:  # a network without such a cache keeps nothing between passes
            if out_of_memory(error):
                raise
            layers = []
    size = network.dtype.itemsize
    vocabulary, width = network.get_input_embeddings().weight.shape
    matrices = [m.weight for m in network.modules() if getattr(m, "weight", None) is not None]
    sides = [n for w in matrices if w.dim() == 2 for n in w.shape if n != vocabulary]
    widest = max(sides, default=width)
    config = network.config.get_text_config()
    heads = getattr(config, "num_attention_heads", 1)
    copies = 2 if getattr(config, "final_logit_softcapping", None) else 1
    eager = network.config._attn_implementation == "eager"
    return dict(
        kv=sum(layers),
        # A layer's cache is copied when it grows; grouped heads are repeated for its time.
        layer_kv=max(layers, default=0) + 2 * size * width,
        hidden=size * (10 * width + 5 * widest),
        logits=copies * vocabulary * max(size, 4),
        seen=size + (heads * (size + 4) if eager else 4),
    )
