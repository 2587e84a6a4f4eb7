"""Options scored by the scorer that a model's kind needs."""

from collections.abc import Sequence
from typing import Any

from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores import masked, seq2seq, tree
from lkecore.scores.chunks import Scored


def option_logprobs(model: Model, prompts: Sequence[Prompt], *, use_cache: bool = True) -> Scored:
    """Log-probabilities of all options of all prompts, by a model of any kind.

    The scorer is :mod:`~lkecore.scores.tree` for a causal model, :mod:`~lkecore.scores.masked` for one
    that fills blanks, and :mod:`~lkecore.scores.seq2seq` for an encoder with a decoder. Each is called
    with its defaults and raises its own errors. ``use_cache`` reads and keeps results.

    Numbers of different kinds are not directly comparable: each is the log-probability of an option's own
    tokens, and the kinds cut texts into different tokens.
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
    """The questions in tokens, by the scorer of the model's kind, which may raise :class:`BadInput`."""
    if model.kind == "causal":
        return tree.encoded_prompts(model, prompts, separate=False)
    own = {"masked": masked.encode, "seq2seq": seq2seq.encode}[model.kind]
    return own(model.tokenizer, prompts, context_length=model.context_length, name=model.name)
