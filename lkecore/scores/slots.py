"""Slots: what a causal model says of options that stand inside long prompts (EIC-LKE).

Several facts are asked in one prompt, and each prompt holds one option of every fact. How the prompts
are made is told in :mod:`lkecore.sequences`. Subjects, objects and separators are tokenised apart and
their ids joined (IC-S2), so that an option's tokens are where their number says.
"""

import time
from collections.abc import Sequence

import numpy as np

from lkecore import progress
from lkecore.models import Model
from lkecore.rows import BadInput
from lkecore.scores.batches import check_kind
from lkecore.scores.chunks import Scored, tidy
from lkecore.scores.passes import bound_of
from lkecore.scores.tokens import Pieces, encode_pieces
from lkecore.scores.tree import scored_pieces
from lkecore.sequences import Slots


def slot_logprobs(
    model: Model,
    groups: Sequence[Slots],
    *,
    memory_gb: float | None = None,
    use_cache: bool = True,
) -> Scored:
    """Log-probability of every option in its slot, given all that stands before it (IC-S2, IC-E2).

    ``groups`` come from :func:`lkecore.sequences.slots`. The frame is that of
    :func:`lkecore.scores.tree.option_logprobs`, facts in the order in which they were given; its
    ``context`` is the subject alone, since the text before an option differs from option to option.
    A group is one entry of the cache. The prompts of a group are alike up to the first slot only:
    they cost about as many tokens as there are in all of them behind it.

    Raises :class:`BadInput` for a prompt beyond the model's window (it says how many slots fit), and
    as :func:`lkecore.scores.tree.piece_logprobs` does, before the model is loaded.
    """
    check_kind(model, "causal")
    memory_gb = bound_of(memory_gb)
    started = time.perf_counter()
    encoded = [
        encode_pieces(model.tokenizer, group.texts, add_bos=model.add_bos, separate=True)
        for group in groups
    ]
    for group, rows in zip(groups, encoded, strict=True):
        _check_window(model, group, rows)
    seconds = time.perf_counter() - started
    prompts = [prompt for group in groups for prompt in group.asked]
    values: list[float] = []
    n_tokens: list[int] = []
    tokens, cached = 0, 0
    with progress.bar(len(prompts), "fact") as bar:
        for group, rows in zip(groups, encoded, strict=True):
            started = time.perf_counter()
            found, n, from_cache = scored_pieces(
                model,
                rows,
                group.places,
                bar,
                len(group.asked),
                memory_gb=memory_gb,
                use_cache=use_cache,
            )
            seconds += 0.0 if from_cache else time.perf_counter() - started
            in_slots = found.reshape(len(rows), len(group.places))  # (prompt, slot)
            for j, (place, order) in enumerate(zip(group.places, group.orders, strict=True)):
                prompt_of = np.argsort(order)  # option -> the prompt that holds it
                values += in_slots[prompt_of, j].tolist()
                n_tokens += [rows[k].bounds[place + 1] - rows[k].bounds[place] for k in prompt_of]
            tokens += n
            cached += from_cache
    frame = tidy(prompts, n_tokens, values)
    return Scored(frame, seconds, tokens, 0, cached == len(groups))


def _check_window(model: Model, group: Slots, rows: Sequence[Pieces]) -> None:
    """Raise for slots beyond the window; what stands behind the last one is never forwarded."""
    window = model.context_length
    # The last token of a prompt is read, never forwarded.
    needed = [max(e.bounds[place + 1] for e in rows) - 1 for place in group.places]
    if window is None or needed[-1] <= window:
        return
    raise BadInput(
        f"EIC-LKE's prompts of relation {group.asked[0].relation} have up to {needed[-1]} tokens, "
        f"and the context of model {model.name} has {window}: {sum(n <= window for n in needed)} of "
        f"{len(needed)} slots fit; take fewer shots"
    )
