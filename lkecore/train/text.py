"""Text for training: a tokenizer of a world, rows of tokens, and what is to be predicted in them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 2048
BEGIN, END, MASK, PAD = "<s>", "</s>", "<mask>", "<pad>"
SENTINELS = tuple(f"<extra_id_{i}>" for i in range(100))
# A masked or encoder-decoder model has to fill in these shares: of the marked spans, each as a whole,
# and of all tokens.
MARKED, ANY = 0.6, 0.06
IGNORED = -100  # a label that counts for nothing, as transformers has it


def train_tokenizer(documents: Sequence[str], kind: str) -> Any:
    """A byte-level BPE tokenizer of these documents, with the special tokens of one kind of model.

    A causal model's puts the beginning in front, a masked one's puts beginning and end around a
    text, an encoder-decoder's the end behind it. The same documents give the same tokens.
    """
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    special = {
        "causal": [PAD, BEGIN],
        "masked": [PAD, BEGIN, END, MASK],
        "seq2seq": [PAD, END, *SENTINELS],
    }[kind]
    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(
        documents,
        vocab_size=VOCABULARY + len(special),  # so that all kinds have the same words
        min_frequency=2,
        special_tokens=special,
        show_progress=False,
    )
    single = {"causal": f"{BEGIN} $A", "masked": f"{BEGIN} $A {END}", "seq2seq": f"$A {END}"}[kind]
    used = [(token, special.index(token)) for token in (BEGIN, END) if token in single]
    bpe._tokenizer.post_processor = TemplateProcessing(single=single, special_tokens=used)
    names = {"causal": {"bos_token": BEGIN}, "seq2seq": {"eos_token": END}}.get(kind) or {
        "bos_token": BEGIN,
        "cls_token": BEGIN,
        "sep_token": END,
        "mask_token": MASK,
    }
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
        **names,
        **({"extra_special_tokens": list(SENTINELS)} if kind == "seq2seq" else {}),
    )


def rows(tokenizer: Any, documents: Sequence[str], length: int) -> NDArray[np.int64]:
    """Documents one behind the other, cut into rows of ``length`` tokens: axes (row, token).

    What is left at the end and fills no row is repeated from the beginning until it does, so that
    nothing is left out.
    """
    ids = [i for each in tokenizer(list(documents))["input_ids"] for i in each]
    n = -(-len(ids) // length)
    return np.resize(np.array(ids, dtype=np.int64), (n, length))


def marks(
    tokenizer: Any,
    documents: Sequence[str],
    spans: Sequence[Sequence[tuple[int, int]]],
    length: int,
) -> NDArray[np.int64]:
    """For each token of :func:`rows` the number of the span that it stands in, from 1; 0 for none.

    ``spans`` are (first, behind) characters in each document. A token that begins or ends outside
    of a span, such as with the space before it, is part of it.
    """
    found: list[int] = []
    number = 0
    told = tokenizer(list(documents), return_offsets_mapping=True)["offset_mapping"]
    for offsets, of_document in zip(told, spans, strict=True):
        first, behind = np.array(offsets).T
        marked = np.zeros(len(offsets), dtype=np.int64)
        for start, end in of_document:
            number += 1
            marked[(first < end) & (behind > start) & (first < behind)] = number
        found += marked.tolist()
    return np.resize(np.array(found, dtype=np.int64), (-(-len(found) // length), length))


def batch(
    kind: str,
    chosen: NDArray[np.int64],
    marked: NDArray[np.int64],
    tokenizer: Any,
    rng: np.random.Generator,
) -> dict[str, NDArray[np.int64]]:
    """What the network is given for some rows: ``input_ids`` and ``labels``, axes (row, token).

    Causal: every token is to be predicted. Masked: ``MARKED`` of the marked spans and ``ANY`` of the
    tokens are masked, and these are. Seq2seq: the same tokens are replaced, neighbours by one
    sentinel, and the decoder writes them down one after the other (as T5); shorter rows are padded.
    Special tokens stay. The spans are what a sentence tells. With tokens hidden at random alone the
    model learned to read, and kept next to nothing of what it had read.
    """
    if kind == "causal":
        return {"input_ids": chosen, "labels": chosen}
    numbers = np.unique(marked[marked > 0])
    gone = numbers[rng.random(len(numbers)) < MARKED]
    hidden = np.isin(marked, gone) | (rng.random(chosen.shape) < ANY)
    hidden &= ~np.isin(chosen, tokenizer.all_special_ids)
    if kind == "masked":
        return {
            "input_ids": np.where(hidden, tokenizer.mask_token_id, chosen),
            "labels": np.where(hidden, chosen, IGNORED),
        }
    pairs = [_apart(row, out, tokenizer) for row, out in zip(chosen, hidden, strict=True)]
    inputs = _padded([source for source, _ in pairs], tokenizer.pad_token_id)
    return {
        "input_ids": inputs,
        "attention_mask": (inputs != tokenizer.pad_token_id).astype(np.int64),
        "labels": _padded([target for _, target in pairs], IGNORED),
    }


def _apart(
    row: NDArray[np.int64], hidden: NDArray[np.bool_], tokenizer: Any
) -> tuple[list[int], list[int]]:
    """(what the encoder reads, what the decoder writes) of one row, either with its end."""
    sentinels = iter(tokenizer.convert_tokens_to_ids(list(SENTINELS)))
    source: list[int] = []
    target: list[int] = []
    before = False
    for token, out in zip(row.tolist(), hidden.tolist(), strict=True):
        if out and not before:
            sentinel = next(sentinels)
            source.append(sentinel)
            target.append(sentinel)
        (target if out else source).append(token)
        before = out
    end = tokenizer.eos_token_id
    return [*source, end], [*target, next(sentinels), end]


def _padded(sequences: Sequence[Sequence[int]], filler: int) -> NDArray[np.int64]:
    padded = np.full((len(sequences), max(map(len, sequences))), filler, dtype=np.int64)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded
