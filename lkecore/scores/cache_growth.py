"""Prompts and the tokens said after them, in a key-value cache that grows step by step."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from lkecore.scores.passes import COLUMNS, Memory, State, attempt, forward, tensor
from lkecore.scores.tokens import common_prefix
from lkecore.scores.trie import Tree


class Growth:
    """A cache that grows with the outputs of several prompts, step by step.

    In the packed way all outputs share one cache, side by side. In the expanded way the outputs of one
    prompt are rows over its repeated cache. In the plain way every output goes through the network whole,
    at every step.
    """

    def __init__(self, network: Any, chosen: str, memory: Memory, longest: int) -> None:
        self.network, self.way, self.memory, self.longest = network, chosen, memory, longest
        self.state, self.trunk = State(network), []
        self.wide, self.row = None, {}
        self.forwarded = 0
        # A quarter of the memory is for rows of logits that wait until a token is chosen from them.
        # Half of the rest is for the cache, and half for passes over it.
        quarter = memory.bytes // 4
        memory.bytes -= quarter
        memory.tokens(longest)  # raises if the memory is too little
        self.rows_kept = max(1, quarter // memory.logits)
        kept = memory.bytes // 2 // max(1, memory.kv + memory.layer_kv)
        while kept > longest and memory.needed(1, kept) > memory.bytes:
            kept -= max(1, kept // 16)
        self.columns = max(longest, kept)

    def most_outputs(self, length: int, max_new_tokens: int) -> int:
        """The number of outputs of a prompt of this length that may grow together, sharing nothing."""
        most = self.rows_kept
        if self.way == "expanded":
            most = min(most, self.memory.rows(self.longest, 1))
        elif self.way != "plain":
            most = min(most, (min(COLUMNS, self.columns) - length) // max_new_tokens)
        return max(1, most)

    def begin(self, tree: Tree, ends: Sequence[int]) -> dict[int, Any]:
        """Forward prompts, and return the logits at their ends.

        The cache keeps the beginning that these prompts share with those forwarded before.
        """
        if self.way == "plain":
            return self.whole(tree, ends)
        trunk = []
        while len(kids := tree.kids[trunk[-1] if trunk else 0]) == 1:
            trunk += kids.values()
        first = min([*(tree.depth[node] for node in ends), len(trunk)])
        ids = [tree.token[node] for node in trunk]
        kept = min(common_prefix([ids, self.trunk]), max(first - 1, 0))
        self.state.cut(kept)
        self.trunk = ids
        logits = self.pieces(tree, trunk[kept:], ends, self.text)
        if self.way == "expanded":
            self.wide, self.row = copy.deepcopy(self.state.past), {trunk[-1]: 0}
            return logits
        members = set(trunk)
        below = [n for n in range(1, len(tree.token)) if n not in members]
        return logits | self.pieces(tree, below, ends, self.pack)

    def step(self, tree: Tree, nodes: Sequence[int]) -> dict[int, Any]:
        """Forward nodes whose parents are in the cache, and return the logits at each of them."""
        if self.way == "plain":
            return self.whole(tree, nodes)
        if self.way == "expanded":
            return self.rows(tree, nodes)
        return self.pieces(tree, nodes, nodes, self.pack)

    def pieces(
        self, tree: Tree, nodes: Sequence[int], ends: Sequence[int], run: Callable[..., Any]
    ) -> dict[int, Any]:
        found, done, wanted = {}, 0, set(ends)
        while done < len(nodes):
            held = len(self.state.positions)
            piece = nodes[done : done + self.memory.tokens(max(held, self.longest))]
            keep = [i for i, node in enumerate(piece) if node in wanted]
            logits = attempt(run, tree, piece, keep)
            if logits is None:
                self.state.cut(held)
                self.memory.halve(len(piece))
                continue
            found |= {piece[i]: row for i, row in zip(keep, logits, strict=True)}
            done += len(piece)
            self.forwarded += len(piece)
        return found

    def text(self, tree: Tree, nodes: Sequence[int], keep: Sequence[int]) -> Any:
        return self.state.text([tree.token[node] for node in nodes], keep)

    def pack(self, tree: Tree, nodes: Sequence[int], keep: Sequence[int]) -> Any:
        return self.state.pack(tree, nodes, keep, self.way)

    def rows(self, tree: Tree, nodes: Sequence[int]) -> dict[int, Any]:
        places = [self.row[tree.parent[node]] for node in nodes]
        self.wide.batch_select_indices(tensor(places, self.network))
        logits = forward(self.network, [[tree.token[node]] for node in nodes], self.wide, [0])
        self.row = {node: i for i, node in enumerate(nodes)}
        self.forwarded += len(nodes)
        return dict(zip(nodes, logits[:, 0], strict=True))

    def whole(self, tree: Tree, nodes: Sequence[int]) -> dict[int, Any]:
        found = {}
        for node in nodes:
            ids = [tree.token[n] for n in tree.path(node)]
            output = self.network(input_ids=tensor([ids], self.network), use_cache=False)
            found[node] = output.logits[0, -1]
            self.forwarded += len(ids)
        return found
