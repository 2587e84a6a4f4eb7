"""Text for training: a tokenizer of a world, rows of tokens, and what is to be predicted in them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 2048
BEGIN, END, MASK, PAD = "<s>", "</s>", "<mask>", "<pad>"
SENTINELS = tuple(f"<extra_id_{i}>" for i in range(100))
HIDDEN = 0.3  # share of the tokens that a masked or encoder-decoder model has to fill in
SPAN = 3  # tokens of a hidden span of an encoder-decoder, on average
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


def batch(
    kind: str, chosen: NDArray[np.int64], tokenizer: Any, rng: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    """What the network is given for some rows: ``input_ids`` and ``labels``, axes (row, token).

    Causal: every token is to be predicted. Masked: ``HIDDEN`` of the tokens are masked, and these
    are. Seq2seq: spans are replaced by sentinels, and the decoder writes them down one after the
    other (T5's span corruption); shorter rows are padded.
    """
    if kind == "causal":
        return {"input_ids": chosen, "labels": chosen}
    if kind == "masked":
        hidden = (rng.random(chosen.shape) < HIDDEN) & ~np.isin(chosen, tokenizer.all_special_ids)
        return {
            "input_ids": np.where(hidden, tokenizer.mask_token_id, chosen),
            "labels": np.where(hidden, chosen, IGNORED),
        }
    pairs = [_spans(row, tokenizer, rng) for row in chosen]
    inputs = _padded([source for source, _ in pairs], tokenizer.pad_token_id)
    return {
        "input_ids": inputs,
        "attention_mask": (inputs != tokenizer.pad_token_id).astype(np.int64),
        "labels": _padded([target for _, target in pairs], IGNORED),
    }


def _spans(
    row: NDArray[np.int64], tokenizer: Any, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """(what the encoder reads, what the decoder writes) of one row, either with its end."""
    sentinels = tokenizer.convert_tokens_to_ids(list(SENTINELS))
    n_spans = min(max(1, round(len(row) * HIDDEN / SPAN)), len(sentinels) - 1)
    n_hidden = min(len(row) - n_spans - 1, n_spans * SPAN)
    # Cut both what is hidden and what stays into pieces at random; they take turns, text first.
    sizes = _cut(n_hidden, n_spans, rng)
    gaps = _cut(len(row) - n_hidden, n_spans + 1, rng)
    source: list[int] = []
    target: list[int] = []
    at = 0
    for i in range(n_spans):
        source += [*row[at : at + gaps[i]], sentinels[i]]
        at += gaps[i]
        target += [sentinels[i], *row[at : at + sizes[i]]]
        at += sizes[i]
    end = tokenizer.eos_token_id
    return [*source, *row[at:], end], [*target, sentinels[n_spans], end]


def _cut(total: int, n: int, rng: np.random.Generator) -> list[int]:
    """``n`` whole numbers of at least 1 that add up to ``total``, all ways equally likely."""
    cuts = np.sort(rng.choice(np.arange(1, total), n - 1, replace=False))
    return np.diff([0, *cuts, total]).tolist()


def _padded(sequences: Sequence[Sequence[int]], filler: int) -> NDArray[np.int64]:
    padded = np.full((len(sequences), max(map(len, sequences))), filler, dtype=np.int64)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded
