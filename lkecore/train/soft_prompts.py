"""Soft prompts: vectors in place of words, trained while the network does not change (XT-S1).

They are looked up beside the network's own embeddings, by ids above its vocabulary. So a text with such
ids goes through the network like any other, and its output layer never has them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lkecore.errors import BadInput, first_line
from lkecore.storage import write_whole
from lkecore.train import finetune


class Row(NamedTuple):
    """A text in token ids, and its answer: ``tokens[i]`` is wanted at ``places[i]`` of the output."""

    ids: tuple[int, ...]
    places: tuple[int, ...]
    tokens: tuple[int, ...]


@contextmanager
def looked_up(network: Any, vectors: Any, first: int) -> Iterator[None]:
    """Inside the block the id ``first + i`` has the embedding ``vectors[i]``; all others have their own.

    A network takes one set of vectors at a time: raises RuntimeError if it has others already.
    """
    import torch

    embedding = network.get_input_embeddings()
    own, vectors = embedding.forward, torch.as_tensor(vectors, device=network.device)
    if hasattr(own, "vectors"):
        raise RuntimeError("the network looks up other vectors already")

    def forward(ids: Any) -> Any:
        soft = (ids >= first) & (ids < first + len(vectors))
        found = own(ids.masked_fill(soft, 0))
        beside = vectors[(ids - first).clamp(0, len(vectors) - 1)].to(found.dtype)
        return torch.where(soft[..., None], beside, found)

    forward.vectors = vectors
    replaced = embedding.__dict__.get("forward")  # libraries that spread a network set it
    embedding.forward = forward
    try:
        yield
    finally:
        if replaced is None:
            del embedding.forward
        else:
            embedding.forward = replaced


def words(network: Any, ids: Sequence[int]) -> np.ndarray:
    """The network's own embeddings of the given ids, float32, (id, width)."""
    import torch

    with torch.no_grad():
        found = network.get_input_embeddings()(torch.tensor(ids, device=network.device))
    return found.float().cpu().numpy()


def noise(network: Any, n: int, seed: int) -> np.ndarray:
    """``n`` vectors, float32, from a normal distribution with mean and spread of the network's embeddings."""
    rng = np.random.default_rng(seed)
    own = words(network, rng.integers(network.config.get_text_config().vocab_size, size=1000))
    return rng.normal(own.mean(), own.std(), (n, own.shape[1])).astype(np.float32)


def learn(
    network: Any,
    start: np.ndarray,
    first: int,
    rows: Sequence[Row],
    validation: Sequence[Row],
    recipe: finetune.Recipe,
    folder: Path,
    *,
    seed: int,
    what: str,
) -> tuple[np.ndarray, finetune.Result]:
    """Train vectors from ``start`` on, with frozen network weights; return them, and the result.

    The loss is minus the mean log-probability of the answers' tokens, in nats. A step takes
    ``recipe.batch`` rows, of any relation. Each pass over all rows has its own order, drawn by ``seed``. The
    vectors are those of the step at which most rows of ``validation`` are answered rightly. ``folder``,
    ``what`` and errors are those of :func:`lkecore.train.finetune.finetune`.
    """
    import torch

    vectors = torch.nn.Parameter(torch.tensor(start, device=network.device))

    def loss_of(step: int) -> Any:
        places = range(step * recipe.batch, (step + 1) * recipe.batch)
        orders = {
            n: np.random.default_rng([seed, n]).permutation(len(rows))
            for n in {place // len(rows) for place in places}
        }
        batch = [rows[orders[place // len(rows)][place % len(rows)]] for place in places]
        logits, tokens = _predicted(network, batch)
        return torch.nn.functional.cross_entropy(logits.float(), tokens)

    def share() -> float:
        return float(said(network, validation)[:, 0].mean())

    with looked_up(network, vectors, first):
        its = {"vectors": vectors}
        result = finetune.finetune(its, loss_of, recipe, folder, validate=share, what=what)
    return vectors.detach().cpu().numpy(), result


def said(network: Any, rows: Sequence[Row], *, batch: int = 64) -> np.ndarray:
    """(row, 2), float64: 1 if each token is the likeliest at its place, else 0, and their log-probability.

    The log-probability is the sum over the tokens, in nats. Raises :class:`BadInput` for NaN or infinity.
    """
    import torch

    found = np.zeros((len(rows), 2))
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].ids))  # little padding
    with torch.inference_mode():
        for at in range(0, len(rows), batch):
            some = order[at : at + batch]
            logits, tokens = _predicted(network, [rows[i] for i in some])
            logprobs = logits.float().log_softmax(-1)
            own = logprobs.gather(-1, tokens[:, None])[:, 0].double().cpu().numpy()
            first = (logprobs.argmax(-1) == tokens).cpu().numpy()
            sizes = [len(rows[i].tokens) for i in some]
            starts = np.cumsum([0, *sizes[:-1]])
            found[some, 0] = np.logical_and.reduceat(first, starts)
            found[some, 1] = np.add.reduceat(own, starts)
    if not np.isfinite(found).all():
        raise BadInput("the network gives log-probabilities that are no numbers; try float32")
    return found


def _predicted(network: Any, rows: Sequence[Row]) -> tuple[Any, Any]:
    """(logits at all places of the rows, one row after the other; the answers' tokens there)."""
    import torch

    width = max(len(row.ids) for row in rows)
    padding = network.config.get_text_config().pad_token_id or 0
    ids = torch.tensor([[*row.ids, *[padding] * (width - len(row.ids))] for row in rows])
    there = torch.tensor([[i < len(row.ids) for i in range(width)] for row in rows])
    at = torch.tensor([[i in row.places for i in range(width)] for row in rows])
    ids, there, at = (each.to(network.device) for each in (ids, there, at))
    # The output layer gets the hidden states at these places only: its logits are most of the memory.
    hook = network.get_output_embeddings().register_forward_pre_hook(
        lambda _, inputs: (inputs[0][at.to(inputs[0].device)],)
    )
    try:
        logits = network(input_ids=ids, attention_mask=there.long()).logits
    finally:
        hook.remove()
    logits = logits if logits.ndim == 2 else logits[at]  # some networks never call that layer
    tokens = [token for row in rows for token in row.tokens]
    return logits, torch.tensor(tokens, device=logits.device)


def save(path: Path, vectors: np.ndarray, about: Mapping[str, str]) -> None:
    """Keep vectors as one safetensors file, with ``about`` in its header."""
    from safetensors.numpy import save as to_bytes

    write_whole(path, to_bytes({"vectors": vectors}, {"about": json.dumps(dict(about))}))


def load(path: Path, about: Mapping[str, str]) -> tuple[np.ndarray, dict[str, str]]:
    """Kept vectors, and the ``about`` of their file, which must agree with each entry of ``about`` here.

    Raises :class:`BadInput` for a file that cannot be read, and for one about another model or the like.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            kept = json.loads(file.metadata()["about"])
            vectors = file.get_tensor("vectors")
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path}: no soft prompts ({first_line(error)})") from error
    for name, value in about.items():
        if kept.get(name) != value:
            raise BadInput(f"{path}: soft prompts of another {name}: {kept.get(name)}, not {value}")
    return vectors, kept
