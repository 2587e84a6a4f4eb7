"""Log-probabilities of options inside long prompts, from a causal model (EIC-LKE).

One prompt asks several facts, and contains one option of every fact. :mod:`lkecore.prompts.eiclke`
explains how the prompts are made. Subjects and objects, each with the separator in front of it, are
tokenised apart and their ids joined (IC-S2). So the place of an option's tokens is known from the
lengths of the pieces.
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
    """The log-probability of every option in its slot, given all text before it (IC-S2, IC-E2).

    ``groups`` come from :func:`lkecore.prompts.eiclke.slots`. The frame is that of
    :func:`lkecore.scores.tree.option_logprobs`, facts in the order in which they were given. Its
    ``context`` is the subject alone, since the text before an option differs from option to option.
    A group is one entry of the cache. The prompts of a group are alike only up to the first slot: they
    cost about as many tokens as all of them have after it.

    Options with the same tokens are all asked, since each prompt contains one of every fact. They count
    as one, as anywhere. Raises :class:`BadInput`, before the model is loaded, as :func:`encode_slots` and
    :func:`lkecore.scores.tree.piece_logprobs` do, for an option with an unknown token, and for a fact whose
    options all have the same tokens.
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
            held = (rows[k] for k in np.argsort(order))  # option -> the prompt that contains it
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
        # Shots and subjects, which are not asked, are the same in all prompts of a group.
        unknown=sum(
            len(group.asked)
            for group, rows in zip(groups, encoded, strict=True)
            if with_unknown(model, [rows[0].ids])
        ),
        left_out=has_row.count(False),
    )


def encode_slots(model: Model, group: Slots) -> list[Pieces]:
    """The prompts of a group in tokens: each piece is tokenised by itself, and the ids are joined (IC-S2).

    Raises :class:`BadInput`, before the model is loaded, for slots beyond its window; the message says how
    many fit. Text after the last slot is never forwarded, and does not count.
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
