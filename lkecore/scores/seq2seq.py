"""Log-probabilities from encoder-decoder models that learned to fill blanks, such as T5.

The encoder reads the text with a sentinel in place of the option. The decoder writes the sentinel
and then the text of the blank:

    encoder    [It][aly][ has][ the][ capital][<extra_id_0>][.][</s>]
    decoder    [start][<extra_id_0>][ Ro][me]

The score is the sum of the log-probabilities of the option's tokens, each after those before it. An
option need not end there: " Ro" scores the names that begin with it as well. ``closed`` asks for
the end too, which T5 writes as the next sentinel, ``<extra_id_1>``.

The encoder runs once for each fact. An option goes through the decoder without its last token, which
is read and never forwarded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from tqdm import tqdm

from lkecore.errors import BadInput
from lkecore.models.model import Model, template
from lkecore.prompts.prompt import Prompt
from lkecore.scores import chunks
from lkecore.scores.batches import (
    afters_of,
    check_batch_rows,
    check_kind,
    in_batches,
    reduced,
    token_logprobs,
)
from lkecore.scores.passes import tensor
from lkecore.scores.tokens import (
    Ids,
    check_known,
    check_options,
    check_window,
    common_prefix,
    ids_of,
    place,
    unknown_id,
)

SENTINEL, CLOSING = "<extra_id_0>", "<extra_id_1>"


@dataclass(frozen=True)
class Encoded:
    """A prompt in token ids: what the encoder reads, and what the decoder writes for each option."""

    prompt: Prompt
    source: Ids  # with sentinel and special tokens
    sentinel: int
    options: tuple[Ids, ...]
    closing: Ids  # the tokens asked after each option: none, or the sentinel that ends it
    merged: int = 0  # a sentinel separates context and option, so that no token can merge
    unknown: bool = False  # the source has a token that the model does not know

    @property
    def strings(self) -> tuple[Ids, ...]:
        """The token ids that distinguish the options."""
        return self.options

    @property
    def n_tokens(self) -> list[int]:
        """The number of tokens of each option, without its end."""
        return [len(option) for option in self.options]


def option_logprobs(
    model: Model,
    prompts: Sequence[Prompt],
    *,
    batch_rows: int = 64,
    use_cache: bool = True,
    closed: bool = False,
) -> chunks.Scored:
    """The log-probability of every option of every prompt, at the blank, in nats.

    There is no length normalisation. ``closed`` adds the log-probability that the blank ends after the
    option; ``n_tokens`` stays the option's own. ``batch_rows`` bounds how many rows go through encoder
    or decoder together, and is halved automatically if memory runs out. ``use_cache`` reads and keeps
    results.

    Raises :class:`BadInput`, before the model is loaded, for a model that is no encoder-decoder and
    as :func:`encode` does; after that for NaN or infinity and for a row that does not fit into memory.
    """
    check_kind(model, "seq2seq")
    check_batch_rows(batch_rows)
    return chunks.score(
        model,
        prompts,
        {"closed": closed},
        lambda missing: encode(
            model.tokenizer,
            missing,
            context_length=model.context_length,
            closed=closed,
            name=model.name,
        ),
        partial(_compute, batch_rows=batch_rows),
        use_cache=use_cache,
    )


def distributions(
    model: Model,
    groups: Sequence[Sequence[tuple[str, str]]],
    reduce: Callable[[Any, int], Any],
    *,
    batch_rows: int = 64,
) -> np.ndarray:
    """``reduce`` of the distributions at a blank's first token, float64, shape (group, k).

    A group is one or more pairs (text before the blank, text after it): one for an entropy, two for
    the divergence between two prompts. ``reduce`` takes log-probabilities, a float32 tensor of
    shape (pair, vocabulary) on the model's device, and the number of the group, from 0; it returns a
    tensor of shape (k,). The vocabulary is that of the output layer, sentinels included. No more
    than ``batch_rows`` groups are in memory at a time.

    Raises :class:`BadInput` for a model that is no encoder-decoder, a tokenizer without sentinels, a
    text that is too long or contains a sentinel itself, and for NaN.
    """
    check_kind(model, "seq2seq")
    check_batch_rows(batch_rows)
    sentinel = _id_of(model.tokenizer, SENTINEL)
    pairs = [pair for group in groups for pair in group]
    sources = iter(_sources(model.tokenizer, pairs))
    rows = [tuple(next(sources) for _ in group) for group in groups]
    for (before, after), ids in zip(pairs, (ids for row in rows for ids in row), strict=True):
        _check_source(f"{before!r} ... {after!r}", ids, sentinel, model.context_length)

    def forward(network: Any, batch: list[Ids]) -> Any:
        start = _start(network, sentinel)
        decoder = tensor([start] * len(batch), network)
        ids = tensor(batch, network)
        return network(input_ids=ids, decoder_input_ids=decoder, use_cache=False).logits[:, -1]

    return reduced(model, rows, forward, reduce, batch_rows, beside=2)


def encode(
    tokenizer: Any,
    prompts: Sequence[Prompt],
    *,
    context_length: int | None = None,
    closed: bool = False,
    name: str = "the model",
) -> list[Encoded]:
    """The prompts in token ids; only the tokenizer is needed, so that errors precede the loading of a model.

    An option is tokenised after the sentinel, as in the texts that T5 learned to write. Raises
    :class:`BadInput` for a tokenizer without sentinels, a text with this sentinel in it, a string beyond
    the window, and options without tokens, with unknown tokens or all with equal tokens; ``name`` is the
    model's, for errors.
    """
    unknown = unknown_id(tokenizer)
    sentinel = _id_of(tokenizer, SENTINEL)
    closing = (_id_of(tokenizer, CLOSING),) if closed else ()
    sources = _sources(tokenizer, [(p.context, p.after) for p in prompts])
    targets = iter(ids_of(tokenizer, [SENTINEL + c for p in prompts for c in p.continuations]))
    encoded = []
    for prompt, source in zip(prompts, sources, strict=True):
        options = tuple(next(targets)[1:] for _ in prompt.options)
        _check_source(place(prompt), source, sentinel, context_length)
        if any(mark in option for option in options for mark in (sentinel, *closing)):
            raise BadInput(f"{place(prompt)}: a sentinel stands in an option; leave it out")
        check_options(prompt, [len(ids) for ids in options], options)
        check_known(unknown, prompt, options, name)
        encoded.append(
            Encoded(prompt, source, sentinel, options, closing, unknown=unknown in source)
        )
    return encoded


def _id_of(tokenizer: Any, token: str) -> int:
    if type(tokenizer).__name__.startswith("ByT5"):
        raise BadInput("ByT5 learned other sentinels than its tokenizer names; it cannot be asked")
    found = tokenizer.get_vocab().get(token)
    if found is None:
        raise BadInput(
            f"the tokenizer has no {token}, with which T5 and its kin mark a blank; other "
            "encoder-decoder models cannot be asked"
        )
    return found


def _sources(tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> list[Ids]:
    """The encoder's input: text before the blank, sentinel, text after it, special tokens.

    The parts are joined as ids, as in T5's training. A tokenizer that reads the sentinel in a string
    begins a new word after it, so that a full stop there would get a space in front.
    """
    front, back = template(tokenizer)
    sentinel = _id_of(tokenizer, SENTINEL)
    # The sentinel includes a space before it, like an option that begins with one.
    left = ids_of(tokenizer, [before.rstrip(" ") for before, _ in pairs])
    right = afters_of(tokenizer, [after for _, after in pairs])
    return [
        (*front, *ids, sentinel, *right[after], *back)
        for ids, (_, after) in zip(left, pairs, strict=True)
    ]


def _check_source(where: str, ids: Ids, sentinel: int, context_length: int | None) -> None:
    if ids.count(sentinel) != 1:
        raise BadInput(f"{where}: {SENTINEL} stands in the text, besides the blank")
    check_window(where, len(ids), context_length)


def _start(network: Any, sentinel: int) -> Ids:
    """The tokens before an option in the decoder."""
    start = network.config.decoder_start_token_id
    if start is None:
        raise BadInput("the model's config has no decoder_start_token_id, with which T5 begins")
    return (start, sentinel)


def _wholes(e: Encoded) -> list[Ids]:
    """All tokens that are read after the sentinel, option by option."""
    return [option + e.closing for option in e.options]


def _rows(e: Encoded) -> list[tuple[Ids, int]]:
    """The token rows that the decoder reads, without a last token; a row that begins another is left out.

    Each comes with the length of its shortest beginning that the row before does not have.
    """
    inner = sorted({whole[:n] for whole in _wholes(e) for n in range(len(whole))})
    # In dictionary order a beginning comes right before the rows that it begins.
    rows = [r for r, after in pairwise([*inner, None]) if after is None or after[: len(r)] != r]
    return list(zip(rows, [0, *(common_prefix(two) + 1 for two in pairwise(rows))], strict=True))


def forwarded(e: Encoded) -> int:
    """The number of a prompt's tokens that the networks read: its source and its decoder rows."""
    return len(e.source) + sum(2 + len(row) for row, _ in _rows(e))  # 2: start and sentinel


def _decode(
    network: Any, read: Any, block: Sequence[Encoded], batch_rows: int
) -> tuple[list[dict[Ids, float]], int]:
    """(log-probability of every token after those before it, for each fact; tokens forwarded).

    ``read`` is the encoder's output for the sources of ``block``.
    """
    start = _start(network, block[0].sentinel)
    rows = [(at, row, new) for at, e in enumerate(block) for row, new in _rows(e)]
    follow: list[dict[Ids, set[int]]] = [{} for _ in block]
    for children, e in zip(follow, block, strict=True):
        for whole in _wholes(e):
            for n, token in enumerate(whole):
                children.setdefault(whole[:n], set()).add(token)

    def forward(batch: list[tuple[int, Ids, int]]) -> list[tuple[int, Ids, float]]:
        facts = [at for at, _, _ in batch]
        logits = network(
            # The output keeps its class, since some decoders look for more than the states in it.
            encoder_outputs=type(read)(last_hidden_state=read.last_hidden_state[facts]),
            decoder_input_ids=tensor([start + row for _, row, _ in batch], network),
            use_cache=False,
        ).logits[:, 1:]  # the first predicts the sentinel
        width = logits.shape[1]
        edges = [
            (i * width + n, at, row[:n], token)
            for i, (at, row, new) in enumerate(batch)
            for n in range(new, width)
            for token in follow[at][row[:n]]
        ]
        places, tokens = [edge[0] for edge in edges], [edge[3] for edge in edges]
        values = token_logprobs(logits.flatten(0, 1), places, tokens).tolist()
        return [
            (at, (*path, token), value)
            for (_, at, path, token), value in zip(edges, values, strict=True)
        ]

    found: list[dict[Ids, float]] = [{} for _ in block]
    for _, nodes in in_batches(rows, batch_rows, forward, alike=lambda row: len(row[1])):
        for at, path, value in nodes:
            found[at][path] = value
    return found, sum(len(start) + len(row) for _, row, _ in rows)


def _compute(
    network: Any, encoded: Sequence[Encoded], bar: tqdm, *, batch_rows: int
) -> tuple[list[float], int]:
    import torch

    sums: dict[int, list[float]] = {}
    forwarded = 0

    def forward(block: list[int]) -> Any:
        ids = tensor([encoded[i].source for i in block], network)
        return network.get_encoder()(input_ids=ids)

    with torch.inference_mode():
        facts = range(len(encoded))
        sources = in_batches(facts, batch_rows, forward, lambda i: len(encoded[i].source))
        for block, read in sources:
            found, n = _decode(network, read, [encoded[i] for i in block], batch_rows)
            for i, nodes in zip(block, found, strict=True):
                sums[i] = [
                    sum(nodes[whole[: k + 1]] for k in range(len(whole)))
                    for whole in _wholes(encoded[i])
                ]
            forwarded += n + sum(len(encoded[i].source) for i in block)
            bar.update(len(block))
    return [value for i in facts for value in sums[i]], forwarded
