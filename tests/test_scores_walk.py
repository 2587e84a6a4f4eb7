"""The bound on memory, and the walk of a tree through a network, directly."""

import functools

import helpers
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lkecore.errors import BadInput
from lkecore.scores.passes import Memory, attempt, bound_of, memory_of
from lkecore.scores.trie import Tree
from lkecore.scores.walk import walk

NATS = 1e-4  # float32, the same sums in another order
STRINGS = st.lists(
    st.lists(st.integers(1, 3), min_size=1, max_size=7).map(tuple), min_size=1, max_size=12
)


def tree_of(strings) -> tuple[Tree, list[int]]:
    tree = Tree()
    return tree, [tree.add(string) for string in strings]


def string_of(tree: Tree, node: int) -> tuple[int, ...]:
    return tuple(tree.token[n] for n in tree.path(node))


def prefixes(strings) -> set[tuple[int, ...]]:
    """All beginnings of the strings, and the strings, but not the empty one."""
    return {string[:n] for string in strings for n in range(1, len(string) + 1)}


# --- the bound

SIZES = st.tuples(*(st.integers(0, 1000) for _ in range(5)))


@given(SIZES, st.integers(0, 10**7), st.integers(0, 300), st.integers(1, 600))
def test_a_pass_never_needs_more_than_the_bound_and_a_looser_bound_never_gives_less(
    sizes, bytes_, depth, most
):
    memory, looser = (Memory(n, *sizes, most=most) for n in (bytes_, 2 * bytes_ + 1))
    if memory.needed(1, depth) > bytes_:
        with pytest.raises(BadInput, match="is too little: strings of"):
            memory.tokens(depth)
        return
    n = memory.tokens(depth)
    assert 1 <= n <= most and memory.needed(n, depth) <= bytes_
    assert looser.tokens(depth) >= n
    assert memory.needed(n + 1, depth) >= memory.needed(n, depth)
    for width in (1, 3, n):
        rows = memory.rows(depth, width)
        assert rows == 1 or rows * memory.needed(width, depth) <= bytes_
        assert rows == 1 or rows * width <= most


def test_the_bound_comes_from_the_argument_then_from_the_environment(monkeypatch):
    monkeypatch.delenv("LKE_MEMORY_GB", raising=False)
    assert bound_of(None) is None and memory_of(network(), None).bytes == 2**30  # on a CPU
    monkeypatch.setenv("LKE_MEMORY_GB", "0.25")
    assert bound_of(None) == 0.25 and bound_of(0.5) == 0.5
    assert memory_of(network(), 0.25).bytes == 2**28
    for said, message in (("much", "is 'much'"), ("-1", "is -1.0, but")):
        monkeypatch.setenv("LKE_MEMORY_GB", said)
        with pytest.raises(BadInput, match=f"^LKE_MEMORY_GB {message}"):
            bound_of(None)


def test_an_attempt_gives_none_for_a_lack_of_memory():
    def fail(message):
        raise RuntimeError(message)

    assert attempt(int, "3") == 3
    assert attempt(fail, "CUDA out of memory. Tried to allocate 2 GiB") is None
    said = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
    assert attempt(fail, said) is None


# --- the walk

WAYS = {  # each way, by a class that takes it
    "packed": "Llama",
    "windows": "Gemma3 with a window",
    "window": "Mistral with a window",
    "expanded": "BLOOM",
    "plain": "Mamba",
}
network = functools.cache(helpers.network)


def boundless(most: int) -> Memory:
    return Memory(2**62, 0, 0, 0, 0, 0, most=most)


def walked(net, way, strings, reads, most=512):
    """({string: its logits}, tokens forwarded) of a walk; each node may be read once only."""
    tree, _ = tree_of(strings)
    nodes = {string_of(tree, node): node for node in range(1, len(tree.token))}
    found = {}

    def read(these, logits):
        assert len(these) == len(logits)
        for i, node in enumerate(these):
            assert node not in found
            found[node] = logits[i].clone()

    wanted = {nodes[string] for string in reads}
    tokens = walk(net, tree, wanted, read, way=way, memory=boundless(most))
    assert set(found) == wanted
    return {string_of(tree, node): found[node].numpy() for node in found}, tokens


@functools.cache
def plain_logits(kind: str, string: tuple[int, ...]) -> np.ndarray:
    import torch

    with torch.inference_mode():
        return network(kind)(torch.tensor([string])).logits[0, -1].numpy()


@pytest.mark.parametrize("way", WAYS)
@given(strings=STRINGS, most=st.integers(1, 10), data=st.data())
@settings(max_examples=20)
def test_each_node_is_read_once_and_only_what_the_reads_need_is_forwarded(way, strings, most, data):
    kind = WAYS[way]
    everything = sorted(prefixes(strings))
    reads = data.draw(st.sets(st.sampled_from(everything), min_size=1))
    found, tokens = walked(network(kind), way, strings, reads, most)
    for string, logits in found.items():
        np.testing.assert_allclose(logits, plain_logits(kind, string), rtol=0, atol=NATS)
    needed = prefixes(reads)
    ends = [s for s in needed if not any(s == other[:-1] for other in needed)]
    if way == "plain":
        assert tokens == sum(map(len, ends))
    elif way == "expanded":
        assert len(needed) <= tokens <= sum(map(len, ends))
    else:
        assert tokens == len(needed)


@pytest.mark.parametrize(
    ("way", "layer"), [("packed", 0), ("packed", 1), ("windows", 1), ("window", 1), ("expanded", 1)]
)
def test_a_pass_that_ends_half_way_leaves_no_trace(way, layer):
    """The cache of the first layers has grown when the last layer finds no memory."""
    kind = WAYS[way]
    net = helpers.network(kind)
    name = "transformer.h" if kind == "BLOOM" else "model.layers"
    calls = []

    def every_third(*_):
        calls.append(1)
        if len(calls) % 3 == 1:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")

    net.get_submodule(f"{name}.{layer}").register_forward_pre_hook(every_third)
    rng = np.random.default_rng(0)
    stem = tuple(rng.integers(1, 80, size=30).tolist())
    strings = [stem[:n] + tuple(rng.integers(1, 80, 4).tolist()) for n in (5, 12, 12, 30, 30, 30)]
    # Halved at each third pass: 2**20 is enough until the tree is done.
    found, tokens = walked(net, way, strings, prefixes(strings), most=2**20)
    assert len(calls) > 1
    for string, logits in found.items():
        np.testing.assert_allclose(logits, plain_logits(kind, string), rtol=0, atol=NATS)
    if way != "expanded":
        assert tokens == len(prefixes(strings))


@pytest.mark.parametrize("way", WAYS)
def test_memory_that_runs_out_while_a_result_is_read_costs_no_result(way):
    kind, calls = WAYS[way], []
    tree, ends = tree_of([(1, 2, 3, 4), (1, 2, 5, 6), (1, 7, 8), (1, 7, 9, 9), (1, 7, 9, 5)])
    reads, found = {*ends, tree.add([1, 2])}, {}

    def read(nodes, logits):
        calls.append(1)
        if len(calls) == 2 and way != "plain":
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        found.update(zip(nodes, logits, strict=True))

    walk(network(kind), tree, reads, read, way=way, memory=boundless(4))
    assert set(found) == reads and len(calls) > 2
    for node, logits in found.items():
        wanted = plain_logits(kind, string_of(tree, node))
        np.testing.assert_allclose(logits.numpy(), wanted, rtol=0, atol=NATS)
