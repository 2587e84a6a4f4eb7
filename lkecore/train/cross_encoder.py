"""Cross-encoders: a language model is trained to find the document that answers a query (XTRAEVAL).

A query and a document are read together, and the network returns one number, their similarity (XT-S6).
With the head ``value`` it is a linear function, fresh at first, of the state at ``[CLS]`` or, in a
decoder, at the last token. With ``likelihood``, which the paper does not have, it is the log-probability
of the document after the query, so that nothing is fresh. A copy of the model is trained, and the model
itself does not change.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.models.model import Model, template
from lkecore.train import finetune

HEADS = ("value", "likelihood")
# The rows of one pass. On a CPU padding is expensive: with 112 rows, it was four tenths of the tokens.
TOGETHER, ON_GPU = 32, 512
Pairs = Sequence[tuple[str, Sequence[str]]]  # queries, each with its documents, the gold one first


@dataclass(frozen=True)
class Encoder:
    """A copy of a model's network, without its output layer if a linear ``head`` replaces it."""

    model: Model
    network: Any
    head: Any | None

    def parameters(self) -> dict[str, Any]:
        """All parameters that learn, by name."""
        own = dict(self.network.named_parameters())
        return own | {
            f"head.{n}": p for n, p in (self.head.named_parameters() if self.head else ())
        }


@dataclass(frozen=True)
class Row:
    """A query and a document in tokens; the token types, or none; the place where the document begins."""

    ids: list[int]
    types: list[int]
    start: int


def check(model: Model, head: str) -> None:
    """Raise :class:`BadInput` for a model that cannot be trained with a head; no weights are loaded."""
    if head not in HEADS:
        raise BadInput(f"head {head!r} must be one of {', '.join(HEADS)}")
    if model.kind == "seq2seq" or (model.kind, head) == ("masked", "likelihood"):
        able = "decoders" if head == "likelihood" else "decoders and masked models"
        raise BadInput(f"model {model.name} is {model.kind}: the head {head} is for {able} alone")
    if model.dtype != "float32" or model.device == "auto":
        raise BadInput(
            f"model {model.name} is in {model.dtype} on {model.device}: it is trained in float32 alone, "
            "in which a small step is not rounded away, and on one device"
        )


def fresh(model: Model, head: str, seed: int) -> Encoder:
    """An encoder before any training; ``seed`` determines a linear head. Raises as :func:`check` does."""
    import torch

    check(model, head)
    if head == "likelihood":
        return Encoder(model, copy.deepcopy(model.network), None)
    network = copy.deepcopy(model.network.base_model)
    with torch.no_grad():  # configs have several names for the width, and layers may change it
        width = network(torch.tensor([[0]], device=network.device)).last_hidden_state.shape[-1]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        linear = torch.nn.Linear(width, 1)
    return Encoder(model, network, linear.to(network.device))


def encode(model: Model, pairs: Pairs) -> list[Row]:
    """The rows of all documents, query after query.

    For a masked model a query and a document are a pair of its tokenizer, ``[CLS] q [SEP] d [SEP]``. For a
    decoder they are the text "q d", after the tokens in front of every text (XT-Q10). Raises
    :class:`BadInput` for a query without documents, an empty document, and a pair that is longer than the
    model's window.
    """
    queries = [query for query, documents in pairs for _ in documents]
    documents = [document for _, documents in pairs for document in documents]
    if bare := [query for query, own in pairs if not own or not all(d.strip() for d in own)]:
        raise BadInput(f"query {bare[0]!r} has no documents, or an empty one")
    if not documents:
        return []
    rows = (_masked if model.kind == "masked" else _causal)(model, queries, documents)
    for query, document, row in zip(queries, documents, rows, strict=True):
        if model.context_length is not None and len(row.ids) > model.context_length:
            raise BadInput(
                f"query {query!r} and document {document!r}: {len(row.ids)} tokens are more than the "
                f"context of {model.name}, {model.context_length}"
            )
    return rows


def _masked(model: Model, queries: list[str], documents: list[str]) -> list[Row]:
    front, end = template(model.tokenizer)
    joint = model.tokenizer(queries, documents, verbose=False)
    types = joint.get("token_type_ids", [[]] * len(queries))
    if tuple(joint["input_ids"][0][: len(front)]) == front:
        return [Row(*each, 0) for each in zip(joint["input_ids"], types, strict=True)]
    # A tokenizer without a template for pairs puts nothing around them.
    ids = zip(_ids(model, queries), _ids(model, documents), strict=True)
    return [Row([*front, *q, *end, *d, *end], [], 0) for q, d in ids]


def _causal(model: Model, queries: list[str], documents: list[str]) -> list[Row]:
    """The rows of a decoder.

    The document begins where the tokens of "q d" first differ from those of "q", as in the scorers.
    """
    texts = [f"{query} {document}" for query, document in zip(queries, documents, strict=True)]
    alone, rows = dict(zip(queries, _ids(model, queries), strict=True)), []
    for query, ids in zip(queries, _ids(model, texts), strict=True):
        own = alone[query]
        same = next((i for i, (a, b) in enumerate(zip(own, ids, strict=False)) if a != b), len(own))
        rows.append(Row([*model.front, *ids], [], len(model.front) + same))
    return rows


def _ids(model: Model, texts: list[str]) -> list[list[int]]:
    return model.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]


def similarities(encoder: Encoder, rows: Sequence[Row]) -> Any:
    """The similarity of each row, a tensor in float32, with gradients where they are wanted.

    Rows of similar length share a pass, padded to the longest of them.
    """
    import torch

    order = sorted(range(len(rows)), key=lambda i: len(rows[i].ids))
    n = TOGETHER if encoder.network.device.type == "cpu" else ON_GPU
    parts = [order[i : i + n] for i in range(0, len(rows), n)]
    found = torch.cat([_pass(encoder, [rows[i] for i in part]) for part in parts])
    return found[np.argsort(order)]


def _pass(encoder: Encoder, rows: Sequence[Row]) -> Any:
    import torch

    masked = encoder.model.kind == "masked"
    lengths = torch.tensor([len(row.ids) for row in rows])
    places = torch.arange(int(lengths.max()))
    device = encoder.network.device

    def padded(values: list[list[int]], pad: int) -> Any:
        return torch.tensor([v + [pad] * (len(places) - len(v)) for v in values], device=device)

    ids = padded([row.ids for row in rows], encoder.model.tokenizer.pad_token_id or 0)
    given = {"attention_mask": (places < lengths[:, None]).long().to(device)}
    given |= {} if masked else {"use_cache": False}
    given |= {"token_type_ids": padded([row.types for row in rows], 0)} if rows[0].types else {}
    out = encoder.network(input_ids=ids, **given)
    if encoder.head is not None:
        last = lengths * 0 if masked else lengths - 1
        return encoder.head(out.last_hidden_state[range(len(rows)), last])[:, 0].float()
    logprobs = out.logits[:, :-1].float().log_softmax(-1).gather(2, ids[:, 1:, None])[:, :, 0]
    starts = torch.tensor([row.start for row in rows])[:, None]
    own = (places[1:] >= starts) & (places[1:] < lengths[:, None])
    return logprobs.where(own.to(device), 0).sum(1)


def infonce(values: Any, sizes: Sequence[int]) -> Any:
    """InfoNCE (XT-E2), in nats: the mean over queries of minus log of the gold document's softmax.

    ``values`` are the similarities of all documents, query after query; ``sizes`` are the numbers of
    documents of each query. The softmax is over a query's own documents, not those of others (XT-Q11), and
    without a temperature.

    >>> import torch
    >>> float(infonce(torch.tensor([0.0, 0.0, 1.0, 1.0, 1.0, 1.0]), [2, 4]).exp())  # root of 2 times 4
    2.8284270763397217
    """
    import torch

    return torch.stack([own.logsumexp(0) - own[0] for own in values.split(list(sizes))]).mean()


def train(
    model: Model,
    head: str,
    batches: Callable[[int], Pairs],
    recipe: finetune.Recipe,
    folder: Path,
    *,
    seed: int,
    data: str,
    validate: Callable[[Encoder], float] | None = None,
) -> tuple[Encoder, finetune.Result]:
    """Train a copy of a model by InfoNCE; return the encoder of the best step, and the result.

    ``batches(step)`` gives the pairs of a step, which depend only on ``seed`` and the step; ``data``
    identifies their source, such as by a digest. ``folder``, the rest and its errors are those of
    :func:`lkecore.train.finetune.finetune`. Raises :class:`BadInput` as :func:`check` and :func:`encode` do.
    """
    encoder, tokens = fresh(model, head, seed), []

    def loss_of(step: int) -> Any:
        rows = encode(model, pairs := batches(step))
        tokens.append(sum(len(row.ids) for row in rows))
        return infonce(similarities(encoder, rows), [len(documents) for _, documents in pairs])

    result = finetune.finetune(
        encoder.parameters(),
        loss_of,
        recipe,
        folder,
        validate=(lambda: validate(encoder)) if validate else None,
        what=f"model {model.name} {model.digest[:12]}, head {head}, seed {seed}, data {data}",
    )
    _record(model, sum(tokens), trained_in=recipe.precision)
    return encoder, result


def rank(encoder: Encoder, pairs: Pairs) -> list[np.ndarray]:
    """The similarity of each query's documents, float64 (document,), without gradients.

    Raises :class:`BadInput` as :func:`encode` does, and for NaN or infinity. It shows no bar, since training
    has one already.
    """
    import torch

    if not (rows := encode(encoder.model, pairs)):
        return []
    with torch.no_grad():
        found = similarities(encoder, rows).cpu().numpy().astype(np.float64)
    if not np.isfinite(found).all():
        raise BadInput(
            f"model {encoder.model.name}: similarities of {len(rows)} pairs hold no number"
        )
    _record(encoder.model, sum(len(row.ids) for row in rows))
    ends = np.cumsum([len(documents) for _, documents in pairs])
    return np.split(found, ends[:-1])


def _record(model: Model, tokens: int, **more: str) -> None:
    entry = {"tokens_forwarded": tokens, "from_cache": False, "memory_gb": None}
    progress.record(model=model.name, **entry, **more)


def memory(n_parameters: int) -> int:
    """The least number of bytes that training takes on the device: six times all parameters, in float32.

    These are the model's own, the copy, its gradients, AdamW's two moments, and the best so far. The states
    of a batch in the network come in addition. Writing a checkpoint takes four times all in main memory.
    """
    return 6 * 4 * n_parameters
