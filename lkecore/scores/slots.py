"""Slots: what a causal model says of options that stand inside long prompts (EIC-LKE).

Several facts are asked in one prompt, and each prompt holds one option of every fact. How the prompts
are made is told in :mod:`lkecore.prompts.eiclke`. Subjects and objects, each with the separator in
front of it, are tokenised apart and their ids joined (IC-S2), so that an option's tokens are where
their number says.
"""

import time
from collections.abc import Sequence

import numpy as np

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.models.model import Model
from lkecore.prompts.eiclke import Slots
from lkecore.scores.batches import check_kind, with_unknown
from lkecore.scores.chunks import Scored, differing, tidy, without_alike
from lkecore.scores.passes import bound_of
from lkecore.scores.tokens import (
    Pieces,
    alike,
    check_known,
    check_options,
    encode_pieces,
    unknown_id,
)
from lkecore.scores.tree import scored_pieces


def slot_logprobs(
    model: Model,
    groups: Sequence[Slots],
    *,
    memory_gb: float | None = None,
    use_cache: bool = True,
) -> Scored:
    """Log-probability of every option in its slot, given all that stands before it (IC-S2, IC-E2).

    ``groups`` come from :func:`lkecore.prompts.eiclke.slots`. The frame is that of
    :func:`lkecore.scores.tree.option_logprobs`, facts in the order in which they were given; its
    ``context`` is the subject alone, since the text before an option differs from option to option.
    A group is one entry of the cache. The prompts of a group are alike up to the first slot only:
    they cost about as many tokens as there are in all of them behind it.

    Options with the same tokens are all asked, since each prompt holds one of every fact, and count as
    one as anywhere. Raises :class:`BadInput` as :func:`encode_slots`, for an option with an unknown
    token, for a fact whose options all have the same tokens, and as
    :func:`lkecore.scores.tree.piece_logprobs` does, before the model is loaded.
    """
    check_kind(model, "causal")
    memory_gb = bound_of(memory_gb)
    started = time.perf_counter()
    encoded = [encode_slots(model, group) for group in groups]
    unknown = unknown_id(model.tokenizer)
    strings: list[tuple[int, ...]] = []  # the tokens of every option of every fact
    same: list[int] = []
    for group, rows in zip(groups, encoded, strict=True):
        for prompt, place, order in zip(group.asked, group.places, group.orders, strict=True):
            held = (rows[k] for k in np.argsort(order))  # option -> the prompt that holds it
            own = [e.ids[e.bounds[place] : e.bounds[place + 1]] for e in held]
            check_options(prompt, [len(ids) for ids in own], own)
            check_known(unknown, prompt, own, model.name)
            strings += own
            same += alike(own)
    seconds = time.perf_counter() - started
    prompts = [prompt for group in groups for prompt in group.asked]
    values: list[float] = []
    tokens, cached = 0, 0
    with progress.bar(len(prompts), "fact") as bar:
        for group, rows in zip(groups, encoded, strict=True):
            started, loading = time.perf_counter(), model.load_seconds
            found, n, from_cache = scored_pieces(
                model,
                rows,
                group.places,
                bar,
                len(group.asked),
                memory_gb=memory_gb,
                use_cache=use_cache,
            )
            seconds += time.perf_counter() - started - (model.load_seconds - loading)
            in_slots = found.reshape(len(rows), len(group.places))  # (prompt, slot)
            for j, order in enumerate(group.orders):
                values += in_slots[np.argsort(order), j].tolist()
            tokens += n
            cached += from_cache
    has_row = differing(prompts, same)
    frame = tidy(prompts, [len(ids) for ids in strings], values)
    return Scored(
        frame=without_alike(model, frame, has_row),
        seconds=0.0 if cached == len(groups) else seconds,
        tokens_forwarded=tokens,
        merged=0,
        cached=cached == len(groups),
        # What is not asked, shots and subjects, is the same in all prompts of a group.
        unknown=sum(
            len(group.asked)
            for group, rows in zip(groups, encoded, strict=True)
            if with_unknown(model, [rows[0].ids])
        ),
        left_out=has_row.count(False),
    )


def encode_slots(model: Model, group: Slots) -> list[Pieces]:
    """The prompts of a group in tokens: each piece cut by itself, and the ids joined (IC-S2).

    Raises :class:`BadInput`, before the model is loaded, for slots beyond its window; it says how many
    fit. What stands behind the last slot is never forwarded, and does not count.
    """
    rows = encode_pieces(model.tokenizer, group.texts, front=model.front, separate=True)
    window = model.context_length
    # The last token of a prompt is read, never forwarded.
    needed = [max(e.bounds[place + 1] for e in rows) - 1 for place in group.places]
    if window is not None and needed[-1] > window:
        raise BadInput(
            f"EIC-LKE's prompts of relation {group.asked[0].relation} have up to {needed[-1]} tokens, "
            f"and the context of model {model.name} has {window}: "
            f"{sum(n <= window for n in needed)} of {len(needed)} slots fit; take fewer shots"
        )
    return rows
