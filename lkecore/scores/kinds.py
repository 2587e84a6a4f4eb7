"""Kinds: options scored by whichever scorer a model needs."""

from collections.abc import Sequence
from typing import Any

from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores import masked, seq2seq, tree
from lkecore.scores.chunks import Scored


def option_logprobs(model: Model, prompts: Sequence[Prompt], *, use_cache: bool = True) -> Scored:
    """Log-probabilities of all options of all prompts, by a model of any kind.

    The scorer is :mod:`~lkecore.scores.tree` for a causal model, :mod:`~lkecore.scores.masked` for one
    that fills blanks, :mod:`~lkecore.scores.seq2seq` for an encoder with a decoder, each as it is by
    default; errors are theirs. ``use_cache`` reads and keeps results. Numbers of different kinds are not
    comparable as they stand: each is the log-probability of an option's own tokens, and the kinds
    cut texts into other tokens.
    """
    score = {
        "causal": tree.option_logprobs,
        "masked": masked.option_logprobs,
        "seq2seq": seq2seq.option_logprobs,
    }[model.kind]
    return score(model, prompts, use_cache=use_cache)


def check(model: Model, prompts: Sequence[Prompt]) -> None:
    """Raise :class:`BadInput`, as :func:`option_logprobs` does before it loads the model's weights."""
    encode(model, prompts)


def encode(model: Model, prompts: Sequence[Prompt]) -> Sequence[Any]:
    """Questions in tokens, by the scorer of the model's kind; :class:`BadInput` as it says."""
    if model.kind == "causal":
        return tree.encoded_prompts(model, prompts, separate=False)
    own = {"masked": masked.encode, "seq2seq": seq2seq.encode}[model.kind]
    return own(model.tokenizer, prompts, context_length=model.context_length, name=model.name)
