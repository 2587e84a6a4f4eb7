"""The training loop: steps of a network over batches that depend on nothing but the step.

A stop costs what came after the last checkpoint and changes nothing: the same steps give the same
weights, in one go or in several.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lkecore import progress
from lkecore.errors import BadInput, first_line
from lkecore.storage import write_whole

WARM = 50  # steps until the learning rate is whole
FALL = 0.5  # the last part of all steps, in which it falls to zero
LARGEST_NORM = 1.0  # of a gradient
CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True)
class Rates:
    """Learning rates: ``muon`` for the matrices, ``adam`` for embeddings and norms."""

    adam: float
    muon: float


def fit(
    network: Any,
    batches: Callable[[int], dict[str, np.ndarray]],
    n_steps: int,
    rates: Rates,
    folder: Path,
    *,
    every: int = 200,
    float32: bool = False,
) -> list[float]:
    """Train a network in place; returns the loss of each step, nats a predicted token.

    ``batches(step)`` gives the batch of a step: arrays with the axis row first. ``folder`` keeps a
    checkpoint after every ``every`` steps: weights, optimizers and losses, whole or not at all. If
    it holds one already, training goes on there. Runs on the device that accelerate chooses, or on
    the CPU where ``LKE_DEVICE=cpu``, in the numbers that :func:`precision` names; with ``float32`` Muon
    works in these alone (:class:`lkecore.train.muon.Muon`), else in bfloat16. Started by
    ``accelerate launch`` on several devices, each process takes its share of the rows of a batch:
    the same steps but for the rounding of sums, so that weights differ in the last digits from those
    of one process.

    Raises :class:`BadInput` for a checkpoint that cannot be read or is of another network, rows
    that the processes cannot share evenly, a loss that is no number, and a disk that is full; the
    last checkpoint stays.
    """
    from accelerate import Accelerator

    accelerator = Accelerator(mixed_precision=precision(), cpu=_on_cpu())
    bare = network
    optimizers = _optimizers(bare, rates, float32)
    network, *optimizers = accelerator.prepare(network, *optimizers)
    scheduled = [(o, [group["lr"] for group in o.param_groups]) for o in optimizers]
    losses = _resume(folder, bare, optimizers)
    network.train()
    with progress.bar(n_steps, "step") as bar:
        bar.update(len(losses))
        for step in range(len(losses), n_steps):
            for optimizer, full in scheduled:
                for group, rate in zip(optimizer.param_groups, full, strict=True):
                    group["lr"] = rate * schedule(step, n_steps)
            share = _share(batches(step), accelerator)
            with accelerator.autocast():
                loss = network(**share).loss
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(network.parameters(), LARGEST_NORM)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            losses.append(float(accelerator.reduce(loss.detach().float(), "mean")))
            if not np.isfinite(losses[-1]):
                raise BadInput(f"the loss is {losses[-1]} at step {step}: lower the learning rates")
            bar.update(1)
            done = step + 1
            if done % every == 0 and done < n_steps and accelerator.is_main_process:
                save(folder, bare, optimizers, losses)
    return losses


def precision() -> str:
    """In which numbers :func:`fit` multiplies matrices: ``bf16``, or ``no`` for float32, as accelerate says.

    It is for the lab's models alone, which each machine makes anew and whose card names the numbers; all
    else is trained in float32 (:class:`lkecore.train.finetune.Recipe`).

    A CPU without bfloat16 works it out in other ways: one that has AVX2 alone took eight times as
    long for a step as in float32.
    """
    import torch

    if not _on_cpu() and torch.accelerator.is_available():
        return "bf16"
    able = getattr(torch.cpu, "get_capabilities", dict)()  # before torch 2.13 none can be told
    return "bf16" if any(able.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16")) else "no"


def _on_cpu() -> bool:
    return os.environ.get("LKE_DEVICE") == "cpu"


def schedule(step: int, n_steps: int) -> float:
    """The share of the learning rate at a step: up at the start, whole, then down to zero.

    >>> [schedule(step, 1000) for step in (0, 49, 400, 500, 750, 999)]
    [0.02, 1.0, 1.0, 1.0, 0.5, 0.002]
    """
    return min(1.0, (step + 1) / WARM, (n_steps - step) / (FALL * n_steps))


def _optimizers(network: Any, rates: Rates, float32: bool) -> list[Any]:
    """Muon for the matrices inside, AdamW for all else.

    A fact is told a few times only, so that what counts is how much sticks of each telling. After as
    many steps on a first draft of the development world, Muon had 0.70 of the facts told 16 times or
    more in lists, AdamW 0.49 to 0.59 at three rates.
    """
    import torch

    from lkecore.train import muon

    outside = {
        p
        for part in network.modules()
        if isinstance(part, torch.nn.Embedding)
        for p in part.parameters()
    }
    outside |= set(network.get_output_embeddings().parameters())
    inside = [p for p in network.parameters() if p.ndim == 2 and p not in outside]
    rest = [p for p in network.parameters() if p.ndim != 2 or p in outside]
    kind = muon.Muon if float32 else torch.optim.Muon
    return [
        kind(inside, lr=rates.muon, weight_decay=0.1, momentum=0.95),
        torch.optim.AdamW(rest, lr=rates.adam, weight_decay=0.0, betas=(0.9, 0.98)),
    ]


def _share(batch: dict[str, np.ndarray], accelerator: Any) -> dict[str, Any]:
    import torch

    n, i = accelerator.num_processes, accelerator.process_index
    rows = len(batch["input_ids"])
    if rows % n:
        raise BadInput(f"{n} processes cannot share {rows} rows of a batch evenly")
    return {
        name: torch.from_numpy(np.ascontiguousarray(values[i::n])).to(accelerator.device)
        for name, values in batch.items()
    }


# --- checkpoints ----------------------------------------------------------------------------------


def save(folder: Path, network: Any, optimizers: list[Any], losses: list[float]) -> None:
    """Write a checkpoint: one file of tensors, with the losses in its header."""
    from safetensors.torch import save as to_bytes

    tensors = {f"weight.{name}": p.detach() for name, p in network.named_parameters()}
    for i, optimizer in enumerate(optimizers):
        for j, values in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{i}.{j}.{name}": value for name, value in values.items()}
    contiguous = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    try:
        write_whole(folder / CHECKPOINT, to_bytes(contiguous, {"losses": json.dumps(losses)}))
    except OSError as error:
        raise BadInput(
            f"{folder / CHECKPOINT} cannot be written ({first_line(error)}); the checkpoint before "
            "it is kept, and training goes on from there when it is started again"
        ) from error


def _resume(folder: Path, network: Any, optimizers: list[Any]) -> list[float]:
    """Load the checkpoint of a folder into network and optimizers; the losses so far, or none."""
    import torch
    from safetensors import SafetensorError, safe_open

    path = folder / CHECKPOINT
    if not path.exists():
        return []
    try:
        with safe_open(path, "pt") as file:
            losses = json.loads(file.metadata()["losses"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        weights = {f"weight.{name}": p for name, p in network.named_parameters()}
        if weights.keys() != {name for name in tensors if name.startswith("weight.")}:
            raise ValueError("it has other weights")
        with torch.no_grad():
            for name, parameter in weights.items():
                parameter.copy_(tensors[name])
        for i, optimizer in enumerate(optimizers):
            whole = optimizer.state_dict()
            states: dict[int, dict[str, Any]] = {}
            for name, tensor in tensors.items():
                which, *rest = name.split(".")
                if which == "optimizer" and int(rest[0]) == i:
                    states.setdefault(int(rest[1]), {})[rest[2]] = tensor
            optimizer.load_state_dict(whole | {"state": states})
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise BadInput(
            f"{path}: no checkpoint of this network ({first_line(error)}); delete it to begin anew"
        ) from error
    return losses
