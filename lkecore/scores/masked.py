"""Log-probabilities from models that fill blanks, such as BERT, RoBERTa and ALBERT.

The whole string, context + option + text after it, is tokenised together, and then the option's
tokens are replaced by as many masks:

    [CLS] [It] [##aly] [has] [the] [capital] [Ro] [##me] [.] [SEP]
    [CLS] [It] [##aly] [has] [the] [capital] [MASK] [MASK] [.] [SEP]

The score is the sum of the log-probabilities of the option's tokens, each at its own mask. All
masks are empty at once, so that the tokens of an option are scored as if they were independent. The
sum is therefore no probability of the whole name, and names of different numbers of tokens come from
different strings. The comparison is clean only among options with equally many tokens.

The masks replace token ids, so that a space that the tokenizer keeps inside a token is not lost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
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


@dataclass(frozen=True)
class Encoded:
    """A prompt in token ids: option i is ``sequences[i][starts[i]:ends[i]]``, the rest surrounds it.

    ``mask`` is the id that takes the place of an option's tokens.
    """

    prompt: Prompt
    sequences: tuple[Ids, ...]  # special tokens included
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    mask: int
    merged: int  # options whose tokens merge with those before or after
    unknown: bool  # the text around the option has a token that the model does not know

    @property
    def strings(self) -> tuple[Ids, ...]:
        """The token ids that distinguish the options."""
        return self.sequences

    @property
    def options(self) -> list[Ids]:
        """The tokens of each option."""
        spans = zip(self.sequences, self.starts, self.ends, strict=True)
        return [ids[start:end] for ids, start, end in spans]

    @property
    def masked(self) -> list[Ids]:
        """The string of each option with masks in place of the option."""
        spans = zip(self.sequences, self.starts, self.ends, strict=True)
        return [ids[:s] + (self.mask,) * (e - s) + ids[e:] for ids, s, e in spans]

    @property
    def n_tokens(self) -> list[int]:
        """The number of tokens of each option."""
        return [end - start for start, end in zip(self.starts, self.ends, strict=True)]


def option_logprobs(
    model: Model, prompts: Sequence[Prompt], *, batch_rows: int = 64, use_cache: bool = True
) -> chunks.Scored:
    """The log-probability of every option of every prompt: the sum over its masks, in nats.

    There is no length normalisation. Each distinct masked string of a relation is forwarded once: all
    options of a fact with equally many tokens share one. ``batch_rows`` bounds how many strings go
    together, and is halved automatically if memory runs out. ``use_cache`` reads and keeps results.

    Raises :class:`BadInput`, before the model is loaded, for a model that is not a masked one and as
    :func:`encode` does; after that for NaN or infinity and for a string that does not fit into memory.
    """
    check_kind(model, "masked")
    check_batch_rows(batch_rows)
    return chunks.score(
        model,
        prompts,
        {},
        lambda missing: encode(
            model.tokenizer, missing, context_length=model.context_length, name=model.name
        ),
        partial(_compute, batch_rows=batch_rows),
        use_cache=use_cache,
    )


def distributions(
    model: Model,
    groups: Sequence[Sequence[tuple[str, str]]],
    reduce: Callable[[Any, int], Any],
    *,
    masks: Sequence[int] | None = None,
    batch_rows: int = 64,
) -> np.ndarray:
    """``reduce`` of the distributions at a blank's first mask, float64, shape (group, k).

    A group is one or more pairs (text before the blank, text after it): one for an entropy, two for
    the divergence between two prompts. ``masks`` is the number of masks at a blank, one for each group
    (None: 1). ``reduce`` takes log-probabilities, a float32 tensor of shape (pair, vocabulary) on the
    model's device, and the number of the group, from 0; it returns a tensor of shape (k,). No more
    than ``batch_rows`` groups are in memory at a time.

    Raises :class:`BadInput` for a model that is not a masked one, for a text that is too long or contains
    a mask itself, and for NaN.
    """
    check_kind(model, "masked")
    check_batch_rows(batch_rows)
    tokenizer = model.tokenizer
    mask = _mask_of(tokenizer)
    front, back = template(tokenizer)
    # The mask is tokenised with the text before it: some tokenizers take its space into the mask.
    befores = sorted({before for group in groups for before, _ in group})
    texts = [before + tokenizer.mask_token for before in befores]
    left = dict(zip(befores, ids_of(tokenizer, texts), strict=True))
    right = afters_of(tokenizer, [after for group in groups for _, after in group])
    rows = []
    for group, n in zip(groups, masks or [1] * len(groups), strict=True):
        more = (mask,) * (n - 1)
        row = tuple((*front, *left[before], *more, *right[after], *back) for before, after in group)
        for ids, (before, after) in zip(row, group, strict=True):
            where = f"{before!r} ... {after!r}"
            if ids.count(mask) != n:
                raise BadInput(f"{where}: a mask stands in the text, besides the blank")
            check_window(where, len(ids), model.context_length)
        rows.append(row)

    def forward(network: Any, batch: list[Ids]) -> Any:
        ends = list(accumulate(row.count(mask) for row in batch))
        return _at_blanks(network, batch, mask)[[0, *ends[:-1]]]

    return reduced(model, rows, forward, reduce, batch_rows)


def encode(
    tokenizer: Any,
    prompts: Sequence[Prompt],
    *,
    context_length: int | None = None,
    name: str = "the model",
) -> list[Encoded]:
    """The prompts in token ids; only the tokenizer is needed, so that errors precede the loading of a model.

    The option's tokens are those between the longest common prefix with the context's own tokens and the
    longest common suffix with the tokens that the text after it has after a word.

    Raises :class:`BadInput` for a tokenizer without a mask, a text with a mask in it, a string beyond the
    window, and options without tokens of their own, with unknown tokens or all with equal tokens;
    ``name`` is the model's, for errors.
    """
    unknown = unknown_id(tokenizer)
    mask = _mask_of(tokenizer)
    front, back = template(tokenizer)
    contexts = ids_of(tokenizer, [p.context for p in prompts])
    afters = afters_of(tokenizer, [p.after for p in prompts])
    texts = [p.context + c + p.after for p in prompts for c in p.continuations]
    joint = iter(ids_of(tokenizer, texts))
    encoded = []
    for prompt, context in zip(prompts, contexts, strict=True):
        after = afters[prompt.after]
        sequences, starts, ends, merged = [], [], [], 0
        for _ in prompt.options:
            ids = next(joint)
            start = common_prefix([context, ids])
            shared = common_prefix([after[::-1], ids[::-1]])
            if mask in ids:
                raise BadInput(f"{place(prompt)}: a mask stands in the text; leave it out")
            merged += start < len(context) or shared < len(after)
            sequences.append((*front, *ids, *back))
            starts.append(len(front) + start)
            ends.append(len(front) + len(ids) - shared)
        check_window(place(prompt), max(map(len, sequences)), context_length)
        around = unknown in context or unknown in after
        e = Encoded(prompt, tuple(sequences), tuple(starts), tuple(ends), mask, merged, around)
        check_options(prompt, e.n_tokens, sequences)
        check_known(unknown, prompt, e.options, name)
        encoded.append(e)
    return encoded


def _mask_of(tokenizer: Any) -> int:
    if tokenizer.mask_token_id is None:
        raise BadInput("the tokenizer has no mask token, so that no blank can be asked")
    return tokenizer.mask_token_id


def _at_blanks(network: Any, rows: Sequence[Ids], mask: int) -> Any:
    """The logits at all masks of the rows, one row after the other: (mask, vocabulary)."""
    import torch

    ids = torch.tensor(rows, device=network.device)
    blank = ids == mask
    # The output layer gets the hidden states at the masks only, since it takes a quarter of a small
    # BERT's time, and its logits take most of the memory.
    hook = network.get_output_embeddings().register_forward_pre_hook(
        lambda _, inputs: (inputs[0][blank.to(inputs[0].device)],)
    )
    try:
        logits = network(input_ids=ids).logits
    finally:
        hook.remove()
    # Some networks multiply by the layer's weights without a call of the layer.
    return logits if logits.ndim == 2 else logits[blank.to(logits.device)]


def _compute(
    network: Any, encoded: Sequence[Encoded], bar: tqdm, *, batch_rows: int
) -> tuple[np.ndarray, int]:
    import torch

    # For each masked string: the number of each option that is asked there, and its tokens.
    asked: dict[Ids, list[tuple[int, Ids]]] = {}
    n = 0
    for e in encoded:
        for masked, option in zip(e.masked, e.options, strict=True):
            asked.setdefault(masked, []).append((n, option))
            n += 1
    mask = encoded[0].mask
    sums = np.zeros(n)

    def forward(batch: list[Ids]) -> None:
        logits = _at_blanks(network, batch, mask)
        owners, rows, tokens, blanks = [], [], [], 0
        for masked in batch:
            for owner, option in asked[masked]:
                owners += [owner] * len(option)
                rows += range(blanks, blanks + len(option))
                tokens += option
            blanks += masked.count(mask)
        # Only the last argument can run out of memory, before anything is added: nothing is added twice.
        np.add.at(sums, owners, token_logprobs(logits, rows, tokens))

    done, shown = 0, 0
    with torch.inference_mode():
        for batch, _ in in_batches(list(asked), batch_rows, forward, alike=len):
            done += len(batch)
            facts = len(encoded) * done // len(asked)  # strings are shared: facts end in no order
            bar.update(facts - shown)
            shown = facts
    return sums, sum(map(len, asked))
