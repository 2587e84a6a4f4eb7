"""All strings of a job as one prefix tree of tokens.

    (nothing) ─ It ─ aly ─ Rome ─ France ─ Par ─ is          Node 0 is the empty prefix. Every other
                              │        └── Ly ── on          node is one token after its parent.
                              └── Spain ── Mad ─ rid         A shared beginning is there once.

The model's output after a prefix is *read* at that prefix's node. To read a node, that node and all
nodes above it must go through the model, and nothing else. An option's last token is read at its
parent, and never goes through.
"""

from collections.abc import Collection, Iterable


class Tree:
    """A prefix tree; nodes are numbers, parents before children.

    ``token[i]``, ``parent[i]``, ``depth[i]`` (tokens from the start, itself included) and
    ``kids[i]`` (token → node) belong to node i.
    """

    def __init__(self) -> None:
        self.token, self.parent, self.depth = [-1], [-1], [0]
        self.kids: list[dict[int, int]] = [{}]

    def add(self, ids: Iterable[int], after: int = 0) -> int:
        """The node at the end of ``ids``, which begin below the node ``after``; new nodes are added."""
        node = after
        for token in ids:
            below = self.kids[node]
            if token not in below:
                below[token] = len(self.token)
                self.token.append(token)
                self.parent.append(node)
                self.depth.append(self.depth[node] + 1)
                self.kids.append({})
            node = below[token]
        return node

    def path(self, node: int, above: int = 0) -> list[int]:
        """The nodes from below ``above`` down to ``node``; ``above`` must be an ancestor of it."""
        nodes = []
        while node != above:
            nodes.append(node)
            node = self.parent[node]
        return nodes[::-1]

    def sizes(self, reads: Collection[int]) -> list[int]:
        """The number of nodes in each subtree that must go through the model before ``reads`` can be read.

        The subtree's own node counts, but not node 0, which has no token to forward. So ``sizes[0]`` is the
        number of tokens that a job costs at least.
        """
        sizes = [0] * len(self.token)
        for node in reads:
            sizes[node] = 1
        for node in range(len(sizes) - 1, 0, -1):
            if sizes[node]:
                parent = self.parent[node]
                if parent and not sizes[parent]:
                    sizes[parent] = 1
        for node in range(len(sizes) - 1, 0, -1):
            sizes[self.parent[node]] += sizes[node]
        sizes[0] -= 0 in reads
        return sizes
