"""Token ids of strings, and which of the ids are the option's.

Context and continuation are tokenised *together*, since a tokenizer may cut a string differently
from its parts. The option's tokens are those after the longest common prefix with the context's
own tokens (the border rule, IC-Q1):

    context           Italy  Rome  France
    its own tokens    [It][aly][ Rome][ France]
    joint tokens      [It][aly][ Rome][ France][ Par][is]
                                              ^ start: the option's tokens begin here

If a token merges across the border, the common prefix ends earlier and the end of the context
is scored with the option; ``merged`` counts how often.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from lkecore.errors import BadInput
from lkecore.prompts.prompt import Prompt

Ids = tuple[int, ...]
# Characters at the end of a context that are tokenised again with every option: several words.
AGAIN = 48
UNUSED = "\U0010fffd"


@dataclass(frozen=True)
class Encoded:
    """A prompt in token ids.

    Option i is the tokens ``stem + tails[i]``; the tokens from ``starts[i]`` on are the option's own. The
    stem is the part that all options share and no score counts. Its length is the smallest of the starts.
    """

    prompt: Prompt
    stem: Ids
    tails: tuple[Ids, ...]
    starts: Ids
    merged: int  # options whose tokens merge with the context's
    unknown: bool = False  # the context has a token that the model does not know

    @property
    def sequences(self) -> list[Ids]:
        """All tokens of each option's string, from the first."""
        return [self.stem + tail for tail in self.tails]

    @property
    def strings(self) -> tuple[Ids, ...]:
        """The token ids that distinguish the options."""
        return self.tails

    @property
    def n_tokens(self) -> list[int]:
        """The number of tokens of each option."""
        whole = len(self.stem)
        return [whole + len(t) - s for t, s in zip(self.tails, self.starts, strict=True)]


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
    front: Ids,
    context_length: int | None = None,
    separate: bool = False,
    name: str = "the model",
) -> list[Encoded]:
    """The prompts in token ids; only the tokenizer is needed, so that errors precede the loading of a model.

    ``front`` are the tokens that come first in every string (``Model.front``); no other special token is
    added. ``context_length`` is the model's window in tokens. ``separate`` tokenises context and
    continuation apart and joins their ids. ``name`` is the model's, for errors.

    Raises :class:`BadInput` for a prompt beyond the window, an option without tokens of its own or
    with one that is unknown, options that all have the same tokens, an empty context with nothing in
    front (nothing to condition on), and a prompt with text after its blank, which a model that reads
    from left to right would not see.
    """
    unknown = unknown_id(tokenizer)
    for prompt in prompts:
        if prompt.after.strip():
            raise BadInput(
                f"{place(prompt)}: {prompt.after!r} stands after the blank, where a causal model "
                "does not look; take a template that ends with its blank"
            )
    own = ids_of(tokenizer, [p.context for p in prompts])
    if separate:
        kept = [len(row) for row in own]
        rests = ids_of(tokenizer, [c for p in prompts for c in p.continuations])
    else:
        kept, rests = _joint(tokenizer, prompts, own)
    encoded, at = [], 0
    for prompt, row, n_kept in zip(prompts, own, kept, strict=True):
        context, n = front + row, len(front) + n_kept
        ends = rests[at : (at := at + len(prompt.options))]
        starts = tuple(n + common_prefix([context[n:], rest]) for rest in ends)
        where = place(prompt)
        own_tokens = [n + len(rest) - start for rest, start in zip(ends, starts, strict=True)]
        check_options(prompt, own_tokens, ends)
        check_known(unknown, prompt, [r[s - n :] for r, s in zip(ends, starts, strict=True)], name)
        if 0 in starts:
            raise BadInput(
                f"{where}: the context is empty, or merges with option "
                f"{prompt.options[starts.index(0)]!r}, and no token comes in front of it"
            )
        # The last token is read, never forwarded.
        check_window(where, n + max(map(len, ends)) - 1, context_length)
        stem = context[: min(starts)]
        shown = context[:n]  # part of the stem, unless a token merged further back
        tails = tuple((shown + rest)[len(stem) :] for rest in ends)
        merged = sum(start < len(context) for start in starts)
        encoded.append(Encoded(prompt, stem, tails, starts, merged, unknown in row))
    return encoded


@dataclass(frozen=True)
class Pieces:
    """A sequence in token ids, cut into pieces: piece i is ``ids[bounds[i]:bounds[i + 1]]``."""

    ids: Ids
    bounds: Ids


def encode_pieces(
    tokenizer: Any,
    sequences: Sequence[Sequence[str]],
    *,
    front: Ids,
    context_length: int | None = None,
    separate: bool = False,
) -> list[Pieces]:
    """The sequences in token ids; they are given in pieces, such as the subjects and objects of many pairs.

    A sequence is tokenised as one string. The border rule says where each piece begins, so that a
    token across a border belongs to the later piece. ``separate`` tokenises every piece apart and joins
    the ids (IC-S2). ``front`` comes before the first piece, and is no part of it.

    Raises :class:`BadInput` for a piece without tokens, and a sequence that is empty or beyond the
    window.
    """
    for number, pieces in enumerate(sequences, 1):
        if not pieces or isinstance(pieces, str):
            raise BadInput(f"sequence {number} must be a list of one piece or more")
    apart = {}
    if separate:  # sequences share most of their pieces
        distinct = list(dict.fromkeys(piece for pieces in sequences for piece in pieces))
        apart = dict(zip(distinct, ids_of(tokenizer, distinct), strict=True))
    found = []
    for number, pieces in enumerate(sequences, 1):
        if separate:
            rows = [apart[piece] for piece in pieces]
            ends = np.cumsum([len(row) for row in rows]).tolist()
            ids = tuple(token for row in rows for token in row)
        else:
            upto = list(accumulate(pieces))
            *rows, ids = ids_of(tokenizer, upto)
            ends = [*(common_prefix([row, ids]) for row in rows), len(ids)]
        bounds = [0, *ends]
        for i, piece in enumerate(pieces):
            if bounds[i] >= bounds[i + 1]:
                raise BadInput(
                    f"sequence {number}: piece {i + 1} {piece!r} has no token of its own"
                )
        longest = len(front) + len(ids) - 1
        check_window(f"sequence {number}", longest, context_length)
        found.append(Pieces(front + ids, tuple(len(front) + n for n in bounds)))
    return found


def encode_texts(
    tokenizer: Any, texts: Sequence[str], *, front: Ids, context_length: int | None = None
) -> list[Ids]:
    """The token ids of whole texts after ``front``; each text goes through the model entirely.

    Raises :class:`BadInput` for a text without tokens and one beyond the window.
    """
    if isinstance(texts, str):
        raise BadInput(f"texts must be a list, found one string: {texts!r}")
    rows = [front + row for row in ids_of(tokenizer, texts)]
    for number, row in enumerate(rows, 1):
        if not row:
            raise BadInput(f"text {number} is empty, and no token comes in front of it")
        check_window(f"text {number}", len(row), context_length)
    return rows


def check_options(prompt: Prompt, n_tokens: Sequence[int], strings: Sequence[Ids]) -> None:
    """Raise :class:`BadInput` for an option without tokens, and for options that are all the same.

    ``n_tokens`` is the number of tokens of each option; ``strings`` are the token ids that it is scored by.
    """
    for option, n in zip(prompt.options, n_tokens, strict=True):
        if not n:
            raise BadInput(f"{place(prompt)}: option {option!r} has no token of its own")
    if len(set(strings)) == 1 < len(strings):
        first, *_, last = prompt.options
        raise BadInput(
            f"{place(prompt)}: all options have the same tokens, as {last!r} has those of {first!r}"
        )


def alike(strings: Sequence[Ids]) -> list[int]:
    """For each option the place of the first option with the same tokens, usually its own place.

    >>> alike([(1,), (2, 3), (1,)])
    [0, 1, 0]
    """
    first: dict[Ids, int] = {}
    return [first.setdefault(ids, i) for i, ids in enumerate(strings)]


def check_known(
    unknown: int | None, prompt: Prompt, own: Sequence[Sequence[int]], name: str
) -> None:
    """Raise :class:`BadInput` for an option with the ``unknown`` token; ``own`` has each option's tokens.

    Its number would be that of every word which the model ``name`` does not know.
    """
    for option, ids in zip(prompt.options, own, strict=True):
        if unknown in ids:
            raise BadInput(
                f"{place(prompt)}: option {option!r} has a token that {name} does not know, so that "
                "it would mean other words too; leave the fact out, or ask another model"
            )


def check_pieces(
    tokenizer: Any, sequences: Sequence[Sequence[str]], encoded: Sequence[Pieces], name: str
) -> None:
    """Raise :class:`BadInput` for a piece with a token that the model ``name`` does not know."""
    unknown = unknown_id(tokenizer)
    for e, pieces in zip(encoded, sequences, strict=True):
        for piece, (begin, end) in zip(pieces, pairwise(e.bounds), strict=True):
            if unknown in e.ids[begin:end]:
                raise BadInput(
                    f"piece {piece!r} has a token that {name} does not know, so that it would mean "
                    "other words too; leave it out, or ask another model"
                )


def unknown_id(tokenizer: Any) -> int | None:
    """The id of the token that replaces text which a tokenizer does not know, or None.

    Many tokenizers cut everything, into bytes if need be, and have no such token.
    """
    if tokenizer.unk_token_id is not None or not tokenizer.is_fast:
        return tokenizer.unk_token_id
    # The tokenizer's inner model may still have one: it is asked about a character that nobody uses.
    inside, found = tokenizer.backend_tokenizer.model, []
    with suppress(Exception):  # some have no such token and refuse an unknown character
        found = inside.tokenize(UNUSED)
    return found[0].id if len(found) == 1 and inside.token_to_id(UNUSED) is None else None


def check_window(where: str, n_tokens: int, context_length: int | None) -> None:
    """Raise :class:`BadInput` for more tokens than the model's window; the message begins with ``where``."""
    if context_length is not None and n_tokens > context_length:
        raise BadInput(
            f"{where}: {n_tokens} tokens are more than the model's context of {context_length}; "
            "ask for fewer shots, or shorten it"
        )


def place(prompt: Prompt) -> str:
    """The name of a prompt in an error."""
    return f"fact {prompt.fact} ({prompt.subject!r})"


def ids_of(tokenizer: Any, texts: Sequence[str]) -> list[Ids]:
    """The token ids of each text, without special tokens."""
    if not texts:
        return []
    ids = tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
    return [tuple(row) for row in ids]


def _joint(
    tokenizer: Any, prompts: Sequence[Prompt], own: Sequence[Ids]
) -> tuple[list[int], list[Ids]]:
    """Tokens of context + continuation, without tokenising a long context once for each option.

    ``own`` are the contexts' own tokens. Returns how many of these are kept, for each prompt, and the
    tokens that follow them, for each option. Tokenizers cut at spaces before all else, so that an option
    moves no token further back than a word or two. So only the last words of a context are tokenised with
    every option. This is checked for each prompt: the whole string of one option, another one for each
    prompt, must come out the same, and no option may move more than half of these words' tokens. If a
    prompt fails the check, all its strings are tokenised whole.
    """
    kept, tails = [0] * len(prompts), [p.context for p in prompts]
    long = [i for i, p in enumerate(prompts) if _last_space(p.context) and len(p.options) > 2]
    if tokenizer.is_fast and long:
        contexts = [prompts[i].context for i in long]
        asked = [prompts[i].continuations[i % len(prompts[i].options)] for i in long]
        whole = ids_of(tokenizer, [c + a for c, a in zip(contexts, asked, strict=True)])
        spans = tokenizer(
            contexts, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )["offset_mapping"]
        # Most tokenizers keep a space in the word after it; some put one in front of every text.
        for after in (0, 1):
            cuts = [_last_space(c) + after for c in contexts]
            ends = ids_of(
                tokenizer, [c[at:] + a for c, a, at in zip(contexts, asked, cuts, strict=True)]
            )
            for i, at, row, end, span in zip(long, cuts, whole, ends, spans, strict=True):
                n = sum(begin < at for begin, _ in span)
                if not kept[i] and own[i][:n] + end == row:
                    kept[i], tails[i] = n, prompts[i].context[at:]
    texts = [t + c for t, p in zip(tails, prompts, strict=True) for c in p.continuations]
    rests, end = ids_of(tokenizer, texts), 0
    for i, p in enumerate(prompts):
        begin, end = end, end + len(p.options)
        last = own[i][kept[i] :]
        held = (common_prefix([last, rest]) for rest in rests[begin:end])
        if kept[i] and 2 * min(held) <= len(last):
            kept[i] = 0
            rests[begin:end] = ids_of(tokenizer, [p.context + c for c in p.continuations])
    return kept, rests


def _last_space(context: str) -> int:
    """The place of the space before the last words of a long context; 0 for a short one."""
    end = max(len(context) - AGAIN, 0)
    return max(0, *(context.rfind(space, 0, end) for space in " \n\t"))
