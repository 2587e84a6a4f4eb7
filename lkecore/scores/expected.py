"""The cost of scoring in tokens, counted without weights, for forecasts."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import pandas as pd

from lkecore.models.model import Model
from lkecore.prompts.eiclke import Slots
from lkecore.prompts.instilled import Instilled
from lkecore.prompts.prompt import Prompt
from lkecore.scores import blanks, chunks, kinds, seq2seq, store
from lkecore.scores.batches import check_kind
from lkecore.scores.chunks import Scored
from lkecore.scores.slots import encode_slots
from lkecore.scores.tokens import encode_texts
from lkecore.scores.tree import encoded_prompts, tree_of
from lkecore.scores.trie import Tree


def expected_tokens(
    model: Model, prompts: Sequence[Prompt], *, separate: bool = False
) -> tuple[int, int]:
    """(tokens that the scorer of the model's kind would forward, those of them that the cache saves).

    For a causal model the packed way is counted, which most architectures take; ``separate`` applies to
    causal models only. No weights are loaded. Raises :class:`BadInput` as the scorer does.
    """
    settings = {"causal": {"separate": separate}, "masked": {}, "seq2seq": {"closed": False}}
    total, saved = 0, 0
    for chunk in chunks.by_relation(prompts):
        n = _forwarded(model, chunk, separate)
        total += n
        key = chunks.key_of(model, chunk, settings[model.kind])
        saved += n if store.read(key, chunks.KEPT) is not None else 0
    return total, saved


def _forwarded(model: Model, chunk: Sequence[Prompt], separate: bool) -> int:
    """The number of tokens of one relation's prompts; a shared beginning or string counts once."""
    if model.kind == "causal":
        tree, paths = tree_of(encoded_prompts(model, chunk, separate))
        return tree.sizes({tree.parent[node] for path in paths for node in path})[0]
    encoded = kinds.encode(model, chunk)
    if model.kind == "masked":
        return sum(map(len, {string for each in encoded for string in each.masked}))
    return sum(map(seq2seq.forwarded, encoded))


def beginning_tokens(model: Model, contexts: Sequence[str]) -> int:
    """The number of tokens in these contexts, forwarded before a model goes on.

    A shared beginning counts once.
    """
    tree = Tree()
    for row in encode_texts(model.tokenizer, contexts, front=model.front):
        tree.add(row)
    return len(tree.token) - 1


def slot_tokens(model: Model, groups: Sequence[Slots]) -> int:
    """The number of tokens that EIC-LKE's prompts would forward, counted as in :func:`expected_tokens`."""
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


def blank_tokens(model: Model, asked: Sequence[Instilled], *, top: int = 0) -> tuple[int, int]:
    """(tokens that the questions at blanks would forward, those of them that the cache saves).

    They are counted as in :func:`expected_tokens`, relation by relation, for
    :func:`lkecore.scores.blanks.shifts`.
    """
    total, saved = 0, 0
    for _, chunk in groupby(asked, key=lambda each: each.asked.relation):
        some = list(chunk)
        texts = [prompt for each in some for prompt in (each.asked, each.told)]
        n = _at_blanks(model, texts)
        total += n
        key = blanks.key_of(model, some, top)
        saved += n if store.read(key, blanks.NUMBERS) is not None else 0
    return total, saved


def top_tokens(model: Model, prompts: Sequence[Prompt]) -> tuple[int, int]:
    """(tokens that :func:`lkecore.scores.blanks.tops` would forward, 0): the cache is not looked at."""
    return _at_blanks(model, [blanks.gold_alone(prompt) for prompt in prompts]), 0


def _at_blanks(model: Model, prompts: Sequence[Prompt]) -> int:
    if model.kind != "causal":
        encoded = kinds.encode(model, prompts)
        if model.kind == "masked":
            return sum(len(e.masked[e.prompt.gold]) for e in encoded)
        return sum(
            len(e.source) + 2 for e in encoded
        )  # the decoder reads its start and the sentinel
    tree = Tree()
    rows = encode_texts(model.tokenizer, [p.context for p in prompts], front=model.front)
    return tree.sizes({tree.add(row) for row in rows})[0]


def equal_shifts(asked: Sequence[Instilled], top: int) -> pd.DataFrame:
    """A frame of the right shape in which nothing moves: for a forecast, not a result.

    Ranks are bad ones, so that a run that teaches unknown facts has something to teach.
    """
    found = blanks.tidy(asked, np.ones((len(asked), len(blanks.columns_of(top)))), top)
    return found.assign(rank=99.0, n_tokens=1, merged=False, shared=False)


def equal_tops(prompts: Sequence[Prompt]) -> pd.DataFrame:
    """A frame like that of :func:`lkecore.scores.blanks.tops` with empty answers: for a forecast."""
    relations = [p.relation for p in prompts for _ in p.options]
    return equal_scores(prompts).frame.assign(relation=relations, answer="", logprob_top=-1.0)


def equal_scores(prompts: Sequence[Prompt]) -> Scored:
    """A frame of the right shape in which every option is alike: for a forecast, not a result."""
    n = sum(len(p.options) for p in prompts)
    return Scored(chunks.tidy(prompts, [1] * n, [-1.0] * n), 0.0, 0, 0, True)
