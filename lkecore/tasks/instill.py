"""Teach a loaded model one fact, ask it, and undo the lesson (implicit instillation, PZ-S3).

The model is fine-tuned on the question with its object in the blank, and on nothing else. The ids are
the scorer's own. The loss is the mean over the object's tokens of minus their log-probability. Nothing is
left to chance: there is no dropout, and each fact has a fresh optimizer. Afterwards every weight is what
it was, bit by bit, whatever happened in between.

While a model's weights are changed the model has another digest. So no code that reads or keeps scores
takes one of its scores for one of the untaught model.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.models.model import Model
from lkecore.prompts.instilled import Instilled
from lkecore.prompts.prompt import Prompt
from lkecore.scores import blanks, chunks, store
from lkecore.scores.passes import tensor
from lkecore.storage import program_of

OPTIMIZERS = ("sgd", "adamw")
# The numbers that are read from P and Q; "first_after" is the likeliest token of Q.
NUMBERS = (*blanks.NUMBERS, "first_after")
EVERY = ["steps", *NUMBERS]


@dataclass(frozen=True)
class Recipe:
    """How a fact is taught: the number of ``steps``, the learning ``rate`` and the ``optimizer``.

    Plain SGD moves a weight by the rate times its gradient, so that a known fact moves it little. AdamW's
    first step moves every weight by the rate, however small the gradient.
    """

    steps: int
    rate: float
    optimizer: str = "sgd"


def check(model: Model, recipe: Recipe) -> None:
    """Raise :class:`BadInput` for a recipe or a model with which no fact can be taught.

    The model must be in float32, in which a small step is not rounded away, and on one device. No weights
    are loaded.
    """
    if recipe.optimizer not in OPTIMIZERS:
        raise BadInput(f"optimizer {recipe.optimizer!r} must be one of {', '.join(OPTIMIZERS)}")
    if recipe.steps < 1 or not recipe.rate > 0:
        raise BadInput(f"{recipe.steps} steps at a rate of {recipe.rate}: both must be above 0")
    if model.dtype != "float32":
        raise BadInput(
            f"model {model.name} is in {model.dtype}: a fact can be taught in float32 alone, since a "
            "small step is rounded away in half precision"
        )
    if model.device == "auto":
        raise BadInput(f"model {model.name} is spread over devices; teach it on one")


class _Gone:
    """The network of a model whose lesson has been taken back."""

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise RuntimeError("the lesson has been taken back; this model cannot be asked any more")

    def __getattr__(self, name: str) -> Any:
        return self()


@contextmanager
def changed(model: Model, what: str) -> Iterator[Model]:
    """Yield the model under another digest, whose weights may be changed; restore the weights in the end.

    ``what`` describes the change, and is a part of the digest. Inside the block ``model`` itself has no
    weights in memory: a call that asks it loads them anew, from its files, and gets the untaught scores.
    """
    import torch

    network, loaded = model.network, model.__dict__["_loaded"]
    digest = hashlib.sha256(f"{model.digest}\n{what}".encode()).hexdigest()
    other = replace(model, digest=digest)
    other.__dict__["_loaded"] = loaded
    kept = [weight.detach().clone() for weight in _weights(network)]
    learns = [weight.requires_grad for weight in _weights(network)]
    del model.__dict__["_loaded"]
    try:
        yield other
    finally:
        with torch.no_grad():
            for weight, was, wanted in zip(_weights(network), kept, learns, strict=True):
                weight.copy_(was)
                weight.grad = None
                weight.requires_grad_(wanted)
        model.__dict__["_loaded"] = loaded
        # The taught model must not be asked any more: its weights are untaught by now.
        other.__dict__["_loaded"] = (_Gone(), 0.0)


@contextmanager
def instilled_all(
    model: Model, prompts: Sequence[Prompt], recipe: Recipe, *, seed: int
) -> Iterator[Model]:
    """Yield a model that has been taught the gold options of all questions together; undo it in the end.

    A step teaches one question. The recipe's steps are passes over all questions, each in an order drawn by
    ``seed``, with one optimizer for all. Raises :class:`BadInput` as :func:`check` and the scorer do, and for
    a loss that is NaN or infinite.
    """
    check(model, recipe)
    encoded = _encoded(model, prompts)
    what = json.dumps([seed, *(_lesson(prompt, recipe) for prompt in prompts)])
    with changed(model, what) as taught:
        rng = np.random.default_rng(seed)
        order = [i for _ in range(recipe.steps) for i in rng.permutation(len(encoded))]
        with progress.bar(len(order), "step") as bar:
            for _ in _lessons(taught, (encoded[i] for i in order), recipe):
                bar.update()
        tokens = sum(_length(model, encoded[i]) for i in order)
        entry = {"tokens_forwarded": tokens, "from_cache": False, "memory_gb": None}
        progress.record(model=model.name, **entry, trained_in=model.dtype)
        yield taught


def shifts_all(
    model: Model,
    prompts: Sequence[Prompt],
    asked: Sequence[Instilled],
    recipe: Recipe,
    *,
    seed: int,
) -> pd.DataFrame:
    """A model's numbers at the blanks of some questions after it has been taught other questions together.

    ``prompts`` are taught, as in :func:`instilled_all`. Returns a row for each of ``asked``, as
    :func:`lkecore.scores.blanks.shifts` does. The result is kept. Raises :class:`BadInput` as these two do.
    """
    texts = [[e.asked.context, e.told.context, e.asked.after, e.asked.options] for e in asked]
    lessons = [_lesson(prompt, recipe) for prompt in prompts]
    of = ["taught together", model.kind, seed, lessons, texts, program_of(Path(__file__))]
    key, numbers = store.chunk_key(model, "blanks", of), list(blanks.NUMBERS)
    kept = store.read(key, numbers)
    if kept is not None:
        entry = {"facts": len(asked), "tokens_forwarded": 0, "memory_gb": None}
        progress.record(model=model.name, **entry, from_cache=True, trained_in=model.dtype)
        return blanks.tidy(asked, kept.to_numpy(dtype=np.float64), 0)
    with instilled_all(model, prompts, recipe, seed=seed) as taught:
        found = blanks.shifts(taught, asked, use_cache=False)
    store.write(key, found[numbers])
    return found[[*blanks.TEXTS, *numbers]]


def shifts(
    model: Model,
    prompts: Sequence[Prompt],
    recipe: Recipe,
    *,
    at: Sequence[int] = (),
    use_cache: bool = True,
) -> pd.DataFrame:
    """A model's numbers at the blank before and after it is taught a fact: a row for each question and step.

    - ``fact``, ``steps``: the latter are those of ``at`` (empty: the recipe's alone);
    - the numbers of :func:`lkecore.scores.blanks.shifts`, with Q after that many steps;
    - ``first_after``: the id of the likeliest token of Q.

    From a step on whose loss is no number the rows are NaN: the fact is lost, and the next one is taught.
    ``use_cache`` keeps the results, relation by relation.

    Raises :class:`BadInput`, before the model is loaded, as :func:`check` and the scorer do, and if ``at``
    does not rise and end with the recipe's steps.
    """
    check(model, recipe)
    at = list(at) or [recipe.steps]
    if at != sorted(set(at)) or at[0] < 1 or at[-1] != recipe.steps:
        raise BadInput(f"at {at} must rise from 1 or more to the recipe's {recipe.steps} steps")
    encoded = _encoded(model, prompts)
    parts, start = [], 0
    with progress.bar(len(prompts), "fact") as bar:
        for chunk in chunks.by_relation(prompts):
            own = encoded[start : start + len(chunk)]
            start += len(chunk)
            key = store.chunk_key(model, "blanks", _key(chunk, recipe, at)) if use_cache else ""
            kept = store.read(key, EVERY) if use_cache else None
            from_cache, tokens = kept is not None, 0
            if kept is None:
                rows = []
                for prompt, each in zip(chunk, own, strict=True):
                    rows += _one(model, prompt, each, recipe, at)
                    tokens += (recipe.steps + len(at) + 1) * _length(model, each)
                    bar.update()
                kept = pd.DataFrame(rows, columns=EVERY)
                if use_cache:
                    store.write(key, kept)
            else:
                bar.update(len(chunk))
            entry = {"relation": chunk[0].relation, "facts": len(chunk), "memory_gb": None}
            entry |= {"tokens_forwarded": tokens, "from_cache": from_cache}
            progress.record(model=model.name, **entry, trained_in=model.dtype)
            facts = [prompt.fact for prompt in chunk for _ in at]
            parts.append(kept.assign(fact=facts))
    columns = ["fact", *EVERY]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def expected_tokens(model: Model, prompts: Sequence[Prompt], recipe: Recipe, n_at: int) -> int:
    """The tokens that :func:`shifts` would forward; a step's two passes count once; no weights are loaded."""
    passes = recipe.steps + n_at + 1
    return passes * sum(_length(model, each) for each in _encoded(model, prompts))


def nothing_learned(prompts: Sequence[Prompt], at: Sequence[int]) -> pd.DataFrame:
    """A frame of the right shape in which nothing moves: for a forecast, not a result."""
    rows = [(p.fact, step, *[1.0] * len(NUMBERS)) for p in prompts for step in at]
    return pd.DataFrame(rows, columns=["fact", *EVERY])


# --- one fact -------------------------------------------------------------------------------------


def _one(
    model: Model, prompt: Prompt, encoded: Any, recipe: Recipe, at: Sequence[int]
) -> list[list[float]]:
    """The rows of one fact, one for each number of steps."""
    import torch

    token = blanks.first_tokens(model.kind, encoded)[0]
    before = _at_blank(model.network, model.kind, encoded)
    found = []
    with changed(model, _lesson(prompt, recipe)) as taught:
        lesson = _teach(taught, encoded, recipe)
        for step in range(1, recipe.steps + 1):
            try:
                next(lesson)
            except BadInput:
                break
            if step in at:
                after = _at_blank(taught.network, model.kind, encoded)
                if not torch.isfinite(after.max()):
                    break
                numbers = blanks.numbers(torch.stack([before, after]), token)
                found.append([step, *numbers.tolist(), float(after.argmax())])
    lost = [[step, *[np.nan] * len(NUMBERS)] for step in at[len(found) :]]
    return found + lost


def _teach(model: Model, encoded: Any, recipe: Recipe) -> Iterator[float]:
    """The losses of one question, taught for all steps of a recipe."""
    return _lessons(model, repeat(encoded, recipe.steps), recipe)


def _lessons(model: Model, encoded: Iterable[Any], recipe: Recipe) -> Iterator[float]:
    """Teach one step for each question, in the order given; yield the loss before it, in nats a token."""
    import torch

    network = model.network
    weights = [weight.requires_grad_(True) for weight in network.parameters()]
    made = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}[recipe.optimizer]
    optimizer = made(weights, lr=recipe.rate, weight_decay=0.0)
    for each in encoded:
        with torch.enable_grad():
            logits, tokens = _predicted(network, model.kind, each)
            loss = torch.nn.functional.cross_entropy(logits.float(), tokens)
            optimizer.zero_grad()
            loss.backward()
        value = float(loss.detach())
        if not np.isfinite(value):
            raise BadInput(f"model {model.name}: a step has the loss {value}; try a lower rate")
        optimizer.step()
        yield value


def _predicted(network: Any, kind: str, encoded: Any) -> tuple[Any, Any]:
    """(logits at the object's tokens, the tokens themselves): (token, vocabulary) and (token,)."""
    if kind == "causal":
        [ids], [start] = encoded.sequences, encoded.starts
        logits = network(input_ids=tensor([ids], network)).logits[0, start - 1 : -1]
        own = ids[start:]
    elif kind == "masked":
        [ids], [start], [end] = encoded.masked, encoded.starts, encoded.ends
        logits = network(input_ids=tensor([ids], network)).logits[0, start:end]
        [own] = encoded.options
    else:
        [own] = encoded.options
        begin = (network.config.decoder_start_token_id, encoded.sentinel)
        logits = network(
            input_ids=tensor([encoded.source], network),
            decoder_input_ids=tensor([begin + own[:-1]], network),
            use_cache=False,
        ).logits[0, 1:]
    return logits, tensor([own], network)[0]


def _at_blank(network: Any, kind: str, encoded: Any) -> Any:
    """The log-probabilities at the blank's first token, shape (vocabulary,), with no object in the text."""
    import torch

    with torch.inference_mode():
        if kind == "causal":
            [ids], [start] = encoded.sequences, encoded.starts
            logits = network(input_ids=tensor([ids[:start]], network)).logits[0, -1]
        elif kind == "masked":
            [ids], [start] = encoded.masked, encoded.starts
            logits = network(input_ids=tensor([ids], network)).logits[0, start]
        else:
            begin = (network.config.decoder_start_token_id, encoded.sentinel)
            logits = network(
                input_ids=tensor([encoded.source], network),
                decoder_input_ids=tensor([begin], network),
                use_cache=False,
            ).logits[0, -1]
        return logits.float().log_softmax(-1)


def _encoded(model: Model, prompts: Sequence[Prompt]) -> list[Any]:
    """Each question with its gold option alone, in tokens."""
    return list(blanks.encode(model, [blanks.gold_alone(prompt) for prompt in prompts]))


def _length(model: Model, encoded: Any) -> int:
    if model.kind == "causal":
        return len(encoded.sequences[0])
    if model.kind == "masked":
        return len(encoded.masked[0])
    return len(encoded.source) + 1 + len(encoded.options[0])


def _weights(network: Any) -> list[Any]:
    """All parameters and buffers, each once: shared weights are the same object."""
    return list(dict.fromkeys([*network.parameters(), *network.buffers()]))


def _lesson(prompt: Prompt, recipe: Recipe) -> str:
    said = [prompt.context, prompt.continuations[prompt.gold], prompt.after]
    return json.dumps(["taught", said, asdict(recipe)])


def _key(chunk: Sequence[Prompt], recipe: Recipe, at: Sequence[int]) -> list[Any]:
    lessons = [_lesson(prompt, recipe) for prompt in chunk]
    return ["taught", lessons, list(at), program_of(Path(__file__))]
