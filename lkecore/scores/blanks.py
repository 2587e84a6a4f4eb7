"""The distribution at a blank, and how far it moves when a statement precedes the question.

P is the distribution over the whole output layer at the blank's first token. Q is the same after the
statement (PZ-E1 to PZ-E3). The place of that token depends on the kind of model:

    causal     The capital of France is ____              the next token
    masked     The capital of France is [MASK][MASK].     the first of as many masks as the object has tokens
    seq2seq    The capital of France is <extra_id_0>.     the first token after the sentinel

Entropy and divergence never look at the object, with one exception: a masked model is shown as many
masks as the object has tokens, which gives its length away. Rank and surprisal look at the object's
first token. :func:`tops` reads one side alone, at one mask: the model's likeliest token of the whole
vocabulary, and the log-probabilities of objects that are one token.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.models.model import Model
from lkecore.prompts.instilled import Instilled
from lkecore.prompts.prompt import Prompt
from lkecore.scores import chunks, masked, seq2seq, store, tree
from lkecore.scores.kinds import encode
from lkecore.scores.tokens import alike, place

NUMBERS = (
    "entropy", "entropy_after", "kl", "kl_back", "rank", "rank_after", "surprisal", "surprisal_after",
)  # fmt: skip
TEXTS = ("fact", "subject", "object", "context", "told")
OBJECTS = ("n_tokens", "merged", "shared")
TOPS = ("logprob", "alike", "token", "logprob_top")  # the last two: of the question
TOP = ("token_{}", "logprob_{}", "token_after_{}", "logprob_after_{}")


def shifts(
    model: Model, asked: Sequence[Instilled], *, top: int = 0, use_cache: bool = True
) -> pd.DataFrame:
    """The numbers at the blank of each question, before a statement and after it, by a model of any kind.

    A row for each of ``asked``, in their order:

    - ``fact``, ``subject``, ``object``;
    - ``context`` and ``told``: the texts before the blank, without and with the statement;
    - ``entropy`` H(P) and ``entropy_after`` H(Q) in nats, from 0 to the logarithm of the vocabulary;
    - ``kl`` KL(P‖Q) and ``kl_back`` KL(Q‖P) in nats, 0 or more, infinite where one side is 0 alone;
    - ``rank`` and ``rank_after`` of the object's first token: 1 + the number of tokens strictly above it;
    - ``surprisal`` and ``surprisal_after`` of that token: minus its log-probability in nats;
    - ``n_tokens`` of the object;
    - ``merged`` (bool): the object's tokens merge with those of the text beside the blank, so that the
      object does not begin where these numbers are read;
    - ``shared`` (bool): another option of the question has the same first token.

    With ``top`` there are, besides, that many likeliest tokens of both sides, the likeliest first:
    ``token_1``, ``logprob_1``, ``token_after_1``, ``logprob_after_1`` and so on. A model behind a server
    can give these, too. Numbers are from a float32 log-softmax and float64 sums, with 0 log 0 = 0.
    ``use_cache`` keeps what is computed, relation by relation.

    Raises :class:`BadInput`, before the model is loaded, for ``top`` below 0 or above the vocabulary, and
    as the scorer of the model's kind does.
    """
    if not 0 <= top <= len(model.tokenizer):
        raise BadInput(f"top is {top}, but must be 0 to {len(model.tokenizer)}, the vocabulary")
    firsts = _firsts(model, [each.asked for each in asked])
    columns = columns_of(top)
    parts, at = [], 0
    for _, chunk in groupby(asked, key=lambda each: each.asked.relation):
        some = list(chunk)
        own = firsts.iloc[at : at + len(some)]
        at += len(some)
        key = key_of(model, some, top) if use_cache else ""
        kept = store.read(key, columns) if use_cache else None
        if kept is None:
            kept = pd.DataFrame(_read(model, some, own, top), columns=columns)
            if use_cache:
                store.write(key, kept)
        else:
            relation = some[0].asked.relation
            entry = {"relation": relation, "facts": len(some), "tokens_forwarded": 0}
            progress.record(
                model=model.name, prefix=model.prefix, **entry, from_cache=True, memory_gb=None
            )
        parts.append(kept.to_numpy(dtype=np.float64))
    every = np.concatenate(parts) if parts else np.empty((0, len(columns)))
    return tidy(asked, every, top).join(firsts[list(OBJECTS)])


def tops(model: Model, prompts: Sequence[Prompt], *, use_cache: bool = True) -> pd.DataFrame:
    """The likeliest token at the blank of each question, and the options' log-probabilities there.

    A model of any kind is asked; a masked one is shown one mask (BL-S1), whatever an option has. Returns a
    row for each option, as :func:`lkecore.scores.kinds.option_logprobs` does:

    - ``fact``, ``subject``, ``context``, ``continuation``, ``option``, ``gold``;
    - ``logprob``: of the option's one token, in nats, over the whole vocabulary;
    - ``n_tokens``: 1;
    - ``relation``, the same in all rows of a question, as are the next two;
    - ``answer``: the likeliest token of the whole vocabulary as text, without spaces at its ends;
    - ``logprob_top``: the log-probability of that token, in nats.

    Among options with the same token the gold one has a row, or else the first. An option at the beginning of
    a text counts as it does after a word. ``use_cache`` keeps what is computed, relation by relation.

    Raises :class:`BadInput`, before the weights are loaded, for an option that is not one token, and as the
    scorer of the model's kind does.
    """
    parts = chunks.by_relation(prompts)
    keys, kept, tokens = [], [], []
    for part in parts:
        texts = [[p.context, p.continuations, p.after] for p in part]
        keys.append(store.chunk_key(model, "blanks", ["tops", model.kind, texts]))
        kept.append(store.read(keys[-1], TOPS) if use_cache else None)
        tokens.append(_one_token_each(model, part) if kept[-1] is None else [])
    for i, part in enumerate(parts):
        if kept[i] is None:
            kept[i] = _tops(model, part, tokens[i])
            if use_cache:
                store.write(keys[i], kept[i])
        else:
            entry = {"relation": part[0].relation, "facts": len(part), "tokens_forwarded": 0}
            progress.record(
                model=model.name, prefix=model.prefix, **entry, from_cache=True, memory_gb=None
            )
    if not parts:
        return pd.DataFrame(columns=[*chunks.tidy([], [], []), "relation", "answer", "logprob_top"])
    every = pd.concat(kept, ignore_index=True)
    frame = chunks.tidy(prompts, 1, every["logprob"].tolist())
    frame["relation"] = [p.relation for p in prompts for _ in p.options]
    words = {token: model.tokenizer.decode([token]).strip() for token in every["token"].unique()}
    frame = frame.assign(answer=every["token"].map(words), logprob_top=every["logprob_top"])
    return chunks.without_alike(model, frame, chunks.differing(prompts, every["alike"].tolist()))


def _one_token_each(model: Model, prompts: Sequence[Prompt]) -> list[list[int]]:
    """The token of each option of each question."""
    encode(model, prompts)  # refuses what the model cannot be asked
    # At the beginning of a text many tokenizers cut a name differently than after a space.
    spaced = [
        p
        if p.context
        else replace(p, context="is", continuations=tuple(f" {o}" for o in p.options))
        for p in prompts
    ]
    found = []
    for p, e in zip(prompts, encode(model, spaced), strict=True):
        long = [o for o, n in zip(p.options, e.n_tokens, strict=True) if n > 1]
        if long or e.merged:
            which = f"option {long[0]!r} is not one token" if long else "an option merges"
            raise BadInput(
                f"{place(p)}: {which} of {model.name} where its blank is; ask about objects of one token"
            )
        found.append(first_tokens(model.kind, e))
    return found


def _tops(model: Model, prompts: Sequence[Prompt], tokens: Sequence[Sequence[int]]) -> pd.DataFrame:
    """The columns ``TOPS`` of the given questions, a row for each option."""
    import torch

    width = max(map(len, tokens))

    def reduce(logprobs: Any, number: int) -> Any:
        own, row = tokens[number], logprobs[0].double()
        best = row.argmax()
        padded = [*own, *own[:1] * (width - len(own))]  # equally many for all questions
        return torch.cat([torch.stack([best.double(), row[best]]), row[padded]])

    if model.kind == "causal":
        found = tree.distributions(model, [[p.context] for p in prompts], reduce)
    else:
        ask = {"masked": masked.distributions, "seq2seq": seq2seq.distributions}[model.kind]
        found = ask(model, [[(p.context, p.after)] for p in prompts], reduce)
    sizes = [len(own) for own in tokens]
    logprob = np.concatenate([row[2 : 2 + n] for row, n in zip(found, sizes, strict=True)])
    same = [i for own in tokens for i in alike([(token,) for token in own])]
    both = {"token": found[:, 0].astype(int), "logprob_top": found[:, 1]}
    columns = {name: np.repeat(values, sizes) for name, values in both.items()}
    return pd.DataFrame({"logprob": logprob, "alike": same} | columns)[list(TOPS)]


def columns_of(top: int) -> list[str]:
    """The names of the numbers that are read at each blank."""
    return [*NUMBERS, *(name.format(i) for i in range(1, top + 1) for name in TOP)]


def tidy(asked: Sequence[Instilled], found: np.ndarray, top: int) -> pd.DataFrame:
    """The frame of :func:`shifts`: texts, and the numbers ``found``, shape (question, column)."""
    texts = {
        "fact": [each.fact for each in asked],
        "subject": [each.asked.subject for each in asked],
        "object": [each.asked.options[each.asked.gold] for each in asked],
        "context": [each.asked.context for each in asked],
        "told": [each.told.context for each in asked],
    }
    return pd.DataFrame(texts).join(pd.DataFrame(found, columns=columns_of(top)))


def key_of(model: Model, asked: Sequence[Instilled], top: int) -> str:
    """The key under which the numbers of these questions are kept."""
    texts = [
        [e.asked.context, e.told.context, e.asked.continuations[e.asked.gold], e.asked.after]
        for e in asked
    ]
    return store.chunk_key(model, "blanks", ["shifts", model.kind, top, texts])


def check(model: Model, asked: Sequence[Instilled]) -> None:
    """Raise :class:`BadInput` for questions that the model cannot be asked, without loading weights."""
    encode(model, [each.told for each in asked])
    _firsts(model, [each.asked for each in asked])


def gold_alone(prompt: Prompt) -> Prompt:
    """The same question with its gold option alone."""
    at = prompt.gold
    only = {"options": (prompt.options[at],), "continuations": (prompt.continuations[at],)}
    return replace(prompt, **only, gold=0)


def _firsts(model: Model, prompts: Sequence[Prompt]) -> pd.DataFrame:
    """The ``first`` token of each question's gold option, and the columns ``OBJECTS``."""
    # The gold option is encoded alone, since the merges of other options say nothing of this one.
    alone = [gold_alone(p) for p in prompts]
    whole = encode(model, prompts)
    rows = []
    for p, own, every in zip(prompts, encode(model, alone), whole, strict=True):
        tokens, same = first_tokens(model.kind, every), alike(every.strings)
        first = tokens[p.gold]
        others = [token for token, i in zip(tokens, same, strict=True) if i != same[p.gold]]
        merged = own.merged > 0
        rows.append((first, own.n_tokens[0], merged, first in others))
    return pd.DataFrame(rows, columns=["first", *OBJECTS])


def first_tokens(kind: str, encoded: Any) -> list[int]:
    """The first token of each option."""
    if kind == "causal":
        pairs = zip(encoded.sequences, encoded.starts, strict=True)
        return [ids[start] for ids, start in pairs]
    return [option[0] for option in encoded.options]


def _read(model: Model, asked: Sequence[Instilled], firsts: pd.DataFrame, top: int) -> np.ndarray:
    """The numbers of these questions, shape (question, column)."""
    tokens = firsts["first"].tolist()

    def reduce(logprobs: Any, number: int) -> Any:
        return numbers(logprobs, tokens[number], top)

    if model.kind == "causal":
        texts = [[each.asked.context, each.told.context] for each in asked]
        return tree.distributions(model, texts, reduce)
    pairs = [[(p.context, p.after) for p in (each.asked, each.told)] for each in asked]
    if model.kind == "masked":
        masks = firsts["n_tokens"].tolist()
        return masked.distributions(model, pairs, reduce, masks=masks)
    return seq2seq.distributions(model, pairs, reduce)


def numbers(logprobs: Any, token: int, top: int = 0) -> Any:
    """``NUMBERS`` and the likeliest tokens, from two distributions, shape (2, vocabulary), in nats."""
    import torch

    rows = logprobs.double()
    p, q = rows
    found = [_mean(p, -p), _mean(q, -q), _mean(p, p - q), _mean(q, q - p)]
    found += [(row > row[token]).sum() + 1 for row in rows]
    found += [-row[token] for row in rows]
    # Rounding may lift a log-probability above 0, or bring a divergence below it.
    own = torch.stack([value.double().clamp(min=0) for value in found])
    if not top:
        return own
    values, places = rows.topk(top, dim=-1)
    both = torch.stack([places[0].double(), values[0], places[1].double(), values[1]], dim=1)
    return torch.cat([own, both.reshape(-1)])


def _mean(logprobs: Any, values: Any) -> Any:
    """The mean of ``values`` under a distribution; a token without probability counts nothing."""
    return values.where(logprobs.exp() > 0, 0).mul(logprobs.exp()).sum()
