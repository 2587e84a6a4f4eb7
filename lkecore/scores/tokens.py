"""Tokens: from strings to token ids, and which of the ids are the option's.

Context and continuation are tokenised *together*, since a tokenizer may cut a string differently
from its parts. The option's tokens are those after the longest common prefix with the context's
own tokens (the border rule, IC-Q1):

    context           Italy  Rome  France
    its own tokens    [It][aly][ Rome][ France]
    joint tokens      [It][aly][ Rome][ France][ Par][is]
                                              ^ start: the option's tokens begin here

Where a token merges across the border, the common prefix ends earlier and the end of the context
is scored with the option; ``merged`` counts how often.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lkecore.prompts import Prompt
from lkecore.rows import BadInput


@dataclass(frozen=True)
class Encoded:
    """A prompt in token ids: ``sequences[i][starts[i]:]`` are the tokens of option i."""

    prompt: Prompt
    sequences: tuple[tuple[int, ...], ...]
    starts: tuple[int, ...]
    merged: int  # options whose tokens merge with the context's


def common_prefix(sequences: Sequence[Sequence[int]]) -> int:
    """Length of the longest prefix that all sequences share.

    >>> common_prefix([[1, 2, 3], [1, 2, 4, 5], [1, 2]])
    2
    """
    first, last = min(sequences), max(sequences)  # in dictionary order these two differ earliest
    n = 0
    while n < min(len(first), len(last)) and first[n] == last[n]:
        n += 1
    return n


def encode(
    tokenizer: Any,
    prompts: Sequence[Prompt],
    *,
    add_bos: bool,
    context_length: int | None = None,
) -> list[Encoded]:
    """Tokenise prompts; needs the tokenizer only, so that errors come before a model is loaded.

    ``add_bos`` puts the tokenizer's beginning-of-sequence token in front of every string, and no
    other special token is added anywhere. ``context_length`` is the model's window in tokens.

    Raises :class:`BadInput` for a prompt beyond the window, an option without tokens of its own,
    two options with the same tokens, and an empty context without BOS (nothing to condition on).
    """
    bos = (tokenizer.bos_token_id,) if add_bos else ()
    encoded = []
    for prompt in prompts:
        texts = [prompt.context, *(prompt.context + c for c in prompt.continuations)]
        ids = tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        context, *joint = [(*bos, *row) for row in ids]
        starts = tuple(common_prefix([context, row]) for row in joint)
        where = f"fact {prompt.fact} ({prompt.subject!r})"
        for option, row, start in zip(prompt.options, joint, starts, strict=True):
            if start == len(row):
                raise BadInput(f"{where}: option {option!r} has no token of its own")
            if start == 0:
                raise BadInput(f"{where}: the context is empty and the tokenizer adds no BOS token")
        if len(set(joint)) < len(joint):
            twin = next(o for i, o in enumerate(prompt.options) if joint[i] in joint[:i])
            raise BadInput(f"{where}: option {twin!r} has the same tokens as another option")
        longest = max(map(len, joint)) - 1  # the last token is read, never forwarded
        if context_length is not None and longest > context_length:
            raise BadInput(
                f"{where}: {longest} tokens are more than the model's context of {context_length}; "
                "ask for fewer shots"
            )
        merged = sum(start < len(context) for start in starts)
        encoded.append(Encoded(prompt, tuple(joint), starts, merged))
    return encoded
