"""Functions that the scorers share, above all those of masked and encoder-decoder models.

A batch consists of rows of one length, so that no token is padding. It is halved if memory runs out.
All scorers read the output alike: log-softmax in float32, sums in float64.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from lkecore import progress
from lkecore.errors import BadInput, first_line
from lkecore.models.model import Model
from lkecore.scores.passes import out_of_memory
from lkecore.scores.tokens import Ids, ids_of, unknown_id

Row, Result = TypeVar("Row"), TypeVar("Result")
SCORERS = {"causal": "tree", "masked": "masked", "seq2seq": "seq2seq"}  # modules of lkecore.scores


def check_kind(model: Model, kind: str) -> None:
    """Raise :class:`BadInput` for a model of another kind; the message names the module that can ask it."""
    if model.kind != kind:
        raise BadInput(
            f"model {model.name} is {model.kind}, not {kind}: "
            f"ask it with lkecore.scores.{SCORERS[model.kind]}"
        )


def check_batch_rows(batch_rows: int) -> None:
    """Raise :class:`BadInput` for batches without rows."""
    if batch_rows < 1:
        raise BadInput(f"batch_rows is {batch_rows}, but must be 1 or more")


def with_unknown(model: Model, rows: Sequence[Ids]) -> int:
    """The number of texts, given in tokens, that contain the unknown token; tokens in front do not count."""
    unknown, n = unknown_id(model.tokenizer), len(model.front)  # some models put it in front
    return sum(unknown in row[n:] for row in rows)


def tell_unknown(model: Model, n: int, of: int) -> None:
    """Report how many of the texts that a model is asked have a token that it does not know, if any."""
    if n:
        progress.tell(
            f"{model.name} does not know all of {n} of {of} texts that it is asked: the unknown token "
            "takes the place of the rest"
        )


def record(
    model: Model,
    rows: Sequence[Ids],
    tokens_forwarded: int,
    *,
    memory_gb: float | None = None,
    from_cache: bool = False,
) -> None:
    """Enter texts that were asked, in tokens, into the run's ledger; report how many have unknown tokens."""
    unknown = with_unknown(model, rows)
    tell_unknown(model, unknown, len(rows))
    progress.record(
        model=model.name,
        prefix=model.prefix,
        tokens_forwarded=tokens_forwarded,
        from_cache=from_cache,
        memory_gb=memory_gb,
        unknown=unknown,
    )


def afters_of(tokenizer: Any, afters: Sequence[str]) -> dict[str, Ids]:
    """The tokens of each text where it follows a word.

    At the beginning of a text many tokenizers put a space in front. A full stop after a name has none.
    """
    distinct = sorted(set(afters))
    probe, *behind = ids_of(tokenizer, ["a", *("a" + after for after in distinct)])
    found = {}
    for after, alone, ids in zip(distinct, ids_of(tokenizer, distinct), behind, strict=True):
        found[after] = ids[len(probe) :] if ids[: len(probe)] == probe else alone
    return found


def in_batches(
    rows: Sequence[Row],
    batch_rows: int,
    forward: Callable[[list[Row]], Result],
    alike: Callable[[Row], Any],
) -> Iterator[tuple[list[Row], Result]]:
    """Yield (batch, ``forward(batch)``) until all ``rows`` are done, ordered by ``alike``.

    Rows share a batch if ``alike`` gives the same for them, such as their length. ``batch_rows`` is the
    largest number of rows in a batch; it halves when the device has no more memory. Raises
    :class:`BadInput` for one row that does not fit.
    """
    for _, group in groupby(sorted(rows, key=alike), key=alike):
        left = list(group)
        while left:
            batch = left[:batch_rows]
            try:
                result = forward(batch)
            except RuntimeError as error:
                if not out_of_memory(error):
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
    """The log-probability of ``tokens[i]`` by ``logits[rows[i]]``, in nats, float64."""
    import torch

    # Float32, and few rows at a time: no second copy of all logits.
    norm = torch.cat([part.float().logsumexp(-1) for part in logits.split(8)])
    # Rounding may lift a probability of 1 a little above it; log-probabilities never are positive.
    values = (logits[rows, tokens].float() - norm[rows]).clamp(max=0)
    return values.cpu().double().numpy()


def reduced(
    model: Model,
    groups: Sequence[tuple[Ids, ...]],
    forward: Callable[[Any, list[Ids]], Any],
    reduce: Callable[[Any, int], Any],
    batch_rows: int,
    beside: int = 0,
) -> np.ndarray:
    """``reduce`` of the distributions at the blanks of each group of rows, shape (group, k), float64.

    ``forward`` takes the network and rows of one length. It returns the logits at their blanks, shape
    (row, vocabulary). ``reduce`` gets the log-probabilities of a group, and the group's number. Whole
    distributions exist for one batch at a time, on the device. ``beside`` is the number of tokens that
    are forwarded with each row and are not part of it.

    Raises :class:`BadInput` for an empty group, before the model is loaded, and for NaN.
    """
    import torch

    if not all(groups):
        raise BadInput("each group must be a list of one text or more")
    network = model.network

    def work(batch: list[tuple[int, tuple[Ids, ...]]]) -> np.ndarray:
        columns = zip(*(group for _, group in batch), strict=True)
        logits = torch.stack([forward(network, list(rows)).float() for rows in columns], dim=1)
        logprobs = logits.log_softmax(-1)
        if logprobs.isnan().any():  # half precision overflows
            raise BadInput(f"model {model.name} in {model.dtype} gives NaN; try float32")
        numbers = zip((number for number, _ in batch), logprobs, strict=True)
        found = [reduce(group, number).reshape(-1) for number, group in numbers]
        return torch.stack(found).cpu().double().numpy()

    def lengths(item: tuple[int, tuple[Ids, ...]]) -> Ids:
        return tuple(len(row) for row in item[1])

    found: dict[int, np.ndarray] = {}
    with progress.bar(len(groups), "prompt") as bar, torch.inference_mode():
        for batch, values in in_batches(list(enumerate(groups)), batch_rows, work, lengths):
            found |= {i: value for (i, _), value in zip(batch, values, strict=True)}
            bar.update(len(batch))
    texts = [row for group in groups for row in group]
    record(model, texts, sum(len(row) + beside for row in texts))
    return np.array([found[i] for i in range(len(groups))])
