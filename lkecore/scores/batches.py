"""Batches: what the scorers of masked and encoder-decoder models share.

A batch is made of rows of one length, so that no token is padding, and is halved where memory runs
out. Reading what came out is the same everywhere: log-softmax in float32, sums in float64.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from lkecore import progress
from lkecore.models import Model
from lkecore.prompts import Prompt
from lkecore.rows import BadInput, first_line
from lkecore.scores.tokens import place

Row, Result = TypeVar("Row"), TypeVar("Result")
Ids = tuple[int, ...]
SCORERS = {"causal": "tree", "masked": "masked", "seq2seq": "seq2seq"}  # modules of lkecore.scores


def check_kind(model: Model, kind: str) -> None:
    """Raise :class:`BadInput` for a model of another kind, with the module that can ask it."""
    if model.kind != kind:
        raise BadInput(
            f"model {model.name} is {model.kind}, not {kind}: "
            f"ask it with lkecore.scores.{SCORERS[model.kind]}"
        )


def check_options(
    tokenizer: Any, prompt: Prompt, own: Sequence[Sequence[int]], whole: Sequence[Sequence[int]]
) -> None:
    """Raise :class:`BadInput` for options that cannot be told apart or from something else.

    ``own`` are the tokens of each option, ``whole`` those of each string. Refused are an option
    without tokens, one with an unknown token (which stands for any other word as well), and two
    with equal strings.
    """
    for option, ids in zip(prompt.options, own, strict=True):
        if not ids:
            raise BadInput(f"{place(prompt)}: option {option!r} has no token of its own")
        if tokenizer.unk_token_id in ids:
            raise BadInput(
                f"{place(prompt)}: option {option!r} has a token that the model does not know, "
                "so that it would stand for other words too"
            )
    if len(set(whole)) < len(whole):
        twin = next(o for i, o in enumerate(prompt.options) if whole[i] in whole[:i])
        raise BadInput(f"{place(prompt)}: option {twin!r} has the same tokens as another option")


def in_batches(
    rows: Sequence[Row],
    batch_rows: int,
    forward: Callable[[list[Row]], Result],
    alike: Callable[[Row], Any],
) -> Iterator[tuple[list[Row], Result]]:
    """Yield (batch, ``forward(batch)``) until all ``rows`` are done, in an order of its own.

    Rows share a batch where ``alike`` gives the same, such as their length. ``batch_rows`` is the
    most that go together; it halves when the device has no more memory, and one row that does not
    fit raises :class:`BadInput`.
    """
    from accelerate.utils.memory import should_reduce_batch_size

    for _, group in groupby(sorted(rows, key=alike), key=alike):
        left = list(group)
        while left:
            batch = left[:batch_rows]
            try:
                result = forward(batch)
            except RuntimeError as error:
                if not should_reduce_batch_size(error):
                    raise
                if len(batch) == 1:
                    raise BadInput(
                        f"out of memory with a single row ({first_line(error)}); take bfloat16, a "
                        "smaller model or a larger device"
                    ) from error
                batch_rows = len(batch) // 2
                continue
            yield batch, result
            left = left[len(batch) :]


def token_logprobs(logits: Any, rows: Sequence[int], tokens: Sequence[int]) -> np.ndarray:
    """Log-probability of ``tokens[i]`` by ``logits[rows[i]]``, in nats, float64."""
    logits = logits.float()
    # Rounding may lift a probability of 1 a little above it; log-probabilities never are positive.
    values = (logits[rows, tokens] - logits.logsumexp(-1)[rows]).clamp(max=0)
    return values.double().cpu().numpy()


def reduced(
    model: Model,
    groups: Sequence[tuple[Ids, ...]],
    forward: Callable[[Any, list[Ids]], Any],
    reduce: Callable[[Any], Any],
    batch_rows: int,
) -> np.ndarray:
    """``reduce`` of the distributions at the blanks of each group of rows, (group, k), float64.

    ``forward`` takes the network and rows of one length and returns the logits at their blanks,
    (row, vocabulary). Whole distributions exist for one batch at a time, on the device.
    """
    import torch

    network = model.network

    def work(batch: list[tuple[int, tuple[Ids, ...]]]) -> np.ndarray:
        columns = zip(*(group for _, group in batch), strict=True)
        logits = torch.stack([forward(network, list(rows)).float() for rows in columns], dim=1)
        logprobs = logits.log_softmax(-1)
        if logprobs.isnan().any():  # half precision overflows
            raise BadInput(f"model {model.name} in {model.dtype} gives NaN; try float32")
        return torch.stack([reduce(group) for group in logprobs]).double().cpu().numpy()

    def lengths(item: tuple[int, tuple[Ids, ...]]) -> Ids:
        return tuple(len(row) for row in item[1])

    found: dict[int, np.ndarray] = {}
    with progress.bar(len(groups), "prompt") as bar, torch.inference_mode():
        for batch, values in in_batches(list(enumerate(groups)), batch_rows, work, lengths):
            found |= {i: value for (i, _), value in zip(batch, values, strict=True)}
            bar.update(len(batch))
    return np.array([found[i] for i in range(len(groups))])
