"""Send a whole prefix tree through a causal network, each node once.

Three ways give the same numbers.

*Packed.* The longest shared beginnings are the trunk: they go through the network as plain text
and stay in the key-value cache. Branches of the trunk go in packs, many side by side in one pass. A
mask lets each token see the trunk up to where its branch begins, its own ancestors, itself, and
nothing else.

    [ shots ............... ]                       trunk
                             [ France ]             one pack:   France  Par  Ber  Spain  Mad
                                       [ Par ]                  sees the shots and, above it, itself
                                       [ Ber ]
                             [ Spain ]
                                      [ Mad ]

*Expanded.* The trunk's cache is repeated over a batch, one row for each branch, without a special mask.

*Plain.* The strings go through one by one, without a cache.

The packed way is several times faster. ``attention_paths`` finds out which way a network takes.
"""

import copy
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Any

from lkecore.errors import BadInput
from lkecore.scores.passes import Memory, State, attempt, forward, tensor
from lkecore.scores.trie import Tree

# A function that is called with nodes and their logits (node, vocabulary).
Read = Callable[[list[int], Any], None]


def walk(
    network: Any,
    tree: Tree,
    reads: Collection[int],
    read: Read,
    *,
    way: str,
    memory: Memory,
) -> int:
    """Forward the nodes that ``reads`` need and no others; return the number of tokens, without padding.

    ``read`` gets every node of ``reads`` once, in several calls. ``way`` is ``plain``, ``expanded``,
    or how to pack (see :func:`lkecore.scores.passes.tree_mask`). Raises :class:`BadInput` if memory runs
    out even with one token at a time; the numbers that ``read`` got before stay right.
    """
    import torch

    with torch.inference_mode():
        walked = _Walk(network, tree, set(reads), read, way, memory)
        walked.all()
    return walked.forwarded


class _Walk:
    """One walk; the cache in ``state`` contains the path to the present node."""

    def __init__(self, network, tree, reads, read, way, memory) -> None:
        self.network, self.tree, self.reads, self.read = network, tree, reads, read
        self.way, self.memory = way, memory
        self.sizes = tree.sizes(reads)
        self.deepest = max((tree.depth[node] for node in reads), default=0)
        self.in_rows = self._row_tokens() if way == "expanded" else []
        self.state = State(network)
        self.forwarded = 0

    def inner(self, node: int) -> list[int]:
        """The children that must go through the network."""
        return [kid for kid in self.tree.kids[node].values() if self.sizes[kid]]

    def _row_tokens(self) -> list[int]:
        """The number of tokens of each subtree if every branch were a row of its own."""
        leaves, tokens = [0] * len(self.sizes), [0] * len(self.sizes)
        for node in range(len(self.sizes) - 1, 0, -1):
            if self.sizes[node]:
                leaves[node] = leaves[node] or 1
                tokens[node] += leaves[node]
                leaves[self.tree.parent[node]] += leaves[node]
                tokens[self.tree.parent[node]] += tokens[node]
        return tokens

    def all(self) -> None:
        """Walk the whole tree."""
        if self.way == "plain":
            return self.plain()
        left = [0]
        while left:
            left += self.follow(left.pop())

    def follow(self, first: int) -> list[int]:
        """Walk from ``first`` down; the cache contains the nodes above it, and perhaps more.

        Returns the branches that are too long for one pass, from the trunk's beginning to its end.
        """
        self.state.cut(max(self.tree.depth[first] - 1, 0))
        trunk = [first]
        while goes_on := self.next_of_trunk(trunk[-1]):
            trunk.append(goes_on)
        self.causal([node for node in trunk if node])
        end, members = self.tree.depth[trunk[-1]], set(trunk)
        waiting = deque(kid for node in trunk for kid in self.inner(node) if kid not in members)
        longer = []
        while waiting:
            group = self.take(waiting)
            if not group:
                longer.append(waiting.popleft())
                continue
            if not self.tried(self.batch if self.way == "expanded" else self.pack, group):
                waiting.extendleft(reversed(group))
            self.state.cut(end)
        return longer

    def next_of_trunk(self, node: int) -> int | None:
        """The child with which the trunk goes on, or None."""
        kids = self.inner(node)
        if self.way == "expanded":  # rows can begin nowhere but at its end
            return kids[0] if len(kids) == 1 else None
        heaviest = max(kids, key=self.sizes.__getitem__, default=None)
        too_long = heaviest is not None and self.sizes[heaviest] > self.at_once()
        return heaviest if too_long else None

    def at_once(self) -> int:
        return self.memory.tokens(self.deepest)

    def take(self, waiting: deque[int]) -> list[int]:
        """The next branches that go together, taken from the left; none if the first is too long."""
        group: list[int] = []
        if self.way == "expanded":
            # A subtree whose branches part late would repeat what they share; it is followed instead.
            while waiting and self.in_rows[waiting[0]] <= min(
                2 * self.sizes[waiting[0]], self.at_once()
            ):
                group.append(waiting.popleft())
            return group
        at_once, total = self.at_once(), 0
        left = sum(n for n in map(self.sizes.__getitem__, waiting) if n <= at_once)
        share = left / -(-left // at_once) if left else 0  # passes of about equal length
        while waiting and total < share and total + self.sizes[waiting[0]] <= at_once:
            total += self.sizes[waiting[0]]
            group.append(waiting.popleft())
        return group

    def tried(self, pass_: Callable[..., bool], *given: Any) -> bool:
        """Whether the pass succeeded; if memory ran out, the next passes will be half as long."""
        if attempt(pass_, *given):
            return True
        self.memory.halve(self.at_once())
        return False

    def causal(self, nodes: list[int]) -> None:
        """Forward a path as plain text."""
        done = 0
        while done < len(nodes):
            piece = nodes[done : done + self.at_once()]
            if self.tried(self.text, piece):
                done += len(piece)
            else:
                self.state.cut(self.tree.depth[nodes[done]] - 1)

    def text(self, nodes: list[int]) -> bool:
        keep = [i for i, node in enumerate(nodes) if node in self.reads]
        logits = self.state.text([self.tree.token[node] for node in nodes], keep)
        self.forwarded += len(nodes)
        self.tell([nodes[i] for i in keep], logits)
        return True

    def tell(self, nodes: list[int], logits: Any) -> None:
        if nodes:
            self.read(nodes, logits)
            self.reads.difference_update(nodes)

    def below(self, roots: Iterable[int]) -> list[int]:
        """All nodes of the subtrees that go through the network, parents before children."""
        nodes, stack = [], list(roots)[::-1]
        while stack:
            nodes.append(stack.pop())
            stack += self.inner(nodes[-1])[::-1]
        return nodes

    def pack(self, group: list[int]) -> bool:
        """Forward branches side by side in one pass."""
        nodes = self.below(group)
        keep = [i for i, node in enumerate(nodes) if node in self.reads]
        logits = self.state.pack(self.tree, nodes, keep, self.way)
        self.forwarded += len(nodes)
        self.tell([nodes[i] for i in keep], logits)
        return True

    def batch(self, group: list[int]) -> bool:
        """Forward branches as rows over the repeated cache; a node that rows share is read once."""
        above = self.tree.parent[group[0]]
        ends = [node for node in self.below(group) if not self.inner(node)]
        paths = [self.tree.path(end, above) for end in ends]
        # Paths that were read before memory ran out are left out.
        paths = [path for path in paths if not self.reads.isdisjoint(path)]
        held, done = len(self.state.positions), 0
        while done < len(paths):
            width = max(map(len, paths[done:]))
            rows = paths[done : done + self.memory.rows(held, width)]
            self.rows(rows)
            done += len(rows)
        return True

    def rows(self, paths: list[list[int]]) -> None:
        width = max(map(len, paths))
        wide = copy.deepcopy(self.state.past)
        wide.batch_repeat_interleave(len(paths))
        # Padding on the right comes after all nodes that are read: a causal model does not see it.
        tokens = [[self.tree.token[n] for n in p] + [0] * (width - len(p)) for p in paths]
        logits = forward(self.network, tokens, wide, range(width))
        for i, path in enumerate(paths):
            keep = [k for k, node in enumerate(path) if node in self.reads]
            self.tell([path[k] for k in keep], logits[i, keep])
        self.forwarded += sum(map(len, paths))

    def plain(self) -> None:
        """Forward string by string; a string that begins another is read along with it.

        No further bound applies here: a string goes through whole.
        """
        self.memory.tokens(self.deepest)  # raises if the memory is too little
        for end in [node for node in self.below([0]) if node and not self.inner(node)]:
            path = self.tree.path(end)
            if not attempt(self.string, path):
                raise BadInput(
                    f"out of memory, even with a single string of {len(path)} tokens; free some, or "
                    "take a smaller model or dtype"
                )

    def string(self, path: list[int]) -> bool:
        tokens = [self.tree.token[node] for node in path]
        logits = self.network(input_ids=tensor([tokens], self.network), use_cache=False).logits[0]
        keep = [k for k, node in enumerate(path) if node in self.reads]
        self.tell([path[k] for k in keep], logits[keep])
        self.forwarded += len(path)
        return True
