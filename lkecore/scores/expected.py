"""Expected: what scoring would cost, counted without weights, for forecasts."""

from collections.abc import Sequence

from lkecore.models.model import Model
from lkecore.prompts.eiclke import Slots
from lkecore.prompts.prompt import Prompt
from lkecore.scores import chunks, store
from lkecore.scores.batches import check_kind
from lkecore.scores.chunks import Scored
from lkecore.scores.slots import encode_slots
from lkecore.scores.tree import encoded_prompts, tree_of
from lkecore.scores.trie import Tree


def expected_tokens(
    model: Model, prompts: Sequence[Prompt], *, separate: bool = False
) -> tuple[int, int]:
    """(tokens that the scorer would forward, those of them that the cache saves).

    Counted in the packed way, which most architectures take; loads no weights.
    """
    check_kind(model, "causal")
    total, saved = 0, 0
    encoded = iter(encoded_prompts(model, prompts, separate))
    for chunk in chunks.by_relation(prompts):
        tree, paths = tree_of([next(encoded) for _ in chunk])
        n = tree.sizes({tree.parent[node] for path in paths for node in path})[0]
        total += n
        key = chunks.key_of(model, chunk, {"separate": separate})
        saved += n if store.read(key, chunks.KEPT) is not None else 0
    return total, saved


def slot_tokens(model: Model, groups: Sequence[Slots]) -> int:
    """Tokens that EIC-LKE's prompts would forward, counted as :func:`expected_tokens` does."""
    check_kind(model, "causal")
    total = 0
    for group in groups:
        tree, read = Tree(), set()
        for pieces in encode_slots(model, group):
            path = tree.path(tree.add(pieces.ids))
            own = [path[pieces.bounds[i] : pieces.bounds[i + 1]] for i in group.places]
            read |= {tree.parent[node] for nodes in own for node in nodes}
        total += tree.sizes(read)[0]
    return total


def equal_scores(prompts: Sequence[Prompt]) -> Scored:
    """A frame of the right shape in which every option is alike: for a forecast, not a result."""
    n = sum(len(p.options) for p in prompts)
    return Scored(chunks.tidy(prompts, [1] * n, [-1.0] * n), 0.0, 0, 0, True)
