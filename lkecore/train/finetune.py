"""Fine-tuning: AdamW on any parameters, with validation; in the end they are the best ones found.

One loop serves soft prompts and cross-encoders. It handles parameters and a loss, no networks and no
questions. A stop costs only the work after the last checkpoint and changes nothing, as in
:mod:`lkecore.train.loop`.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lkecore import progress
from lkecore.errors import BadInput, first_line
from lkecore.storage import write_whole
from lkecore.train import loop

PRECISIONS = ("float32", "bf16")
STATE = ("step", "exp_avg", "exp_avg_sq")  # AdamW's state of a parameter


@dataclass(frozen=True)
class Recipe:
    """How parameters are trained: AdamW's highest learning ``rate``, and ``steps`` of ``batch`` items each.

    The rate rises over the share ``warm`` of all steps, then falls to 0 in a straight line. After ``every``
    steps, and at the end, there is a validation and a checkpoint. ``precision`` is that of the loss and its
    gradients: float32, the same on every processor, or with ``bf16`` torch's mixed precision, in which
    matrices are multiplied in bfloat16.
    """

    rate: float
    steps: int
    batch: int = 32
    warm: float = 0.06
    every: int = 50
    precision: str = "float32"

    def check(self) -> None:
        """Raise :class:`BadInput` for a recipe by which nothing can be trained."""
        whole = min(self.steps, self.batch, self.every)
        if whole < 1 or not (0 < self.rate < math.inf and 0 <= self.warm <= 1):
            raise BadInput(
                f"{self}: rate must be above 0, steps, batch and every 1 or more, and warm from 0 to 1"
            )
        if self.precision not in PRECISIONS:
            raise BadInput(f"precision {self.precision!r} must be one of {', '.join(PRECISIONS)}")


@dataclass
class Result:
    """The loss of each step; (steps done, value) of each validation; the number of steps at the best."""

    losses: list[float] = field(default_factory=list)
    validation: list[tuple[int, float]] = field(default_factory=list)

    @property
    def best(self) -> int:
        """The number of steps at the first of the best validations; without validation the last step."""
        if not self.validation:
            return len(self.losses)
        return max(self.validation, key=lambda at: (at[1], -at[0]))[0]


def share(step: int, recipe: Recipe) -> float:
    """The share of the learning rate at a step, as in transformers' polynomial schedule of power 1.

    >>> [share(step, Recipe(rate=1, steps=10, warm=0.2)) for step in (0, 1, 2, 6, 9)]
    [0.0, 0.5, 1.0, 0.5, 0.125]
    """
    rising = math.ceil(recipe.warm * recipe.steps)
    return step / rising if step < rising else (recipe.steps - step) / (recipe.steps - rising)


def finetune(
    parameters: Mapping[str, Any],
    loss_of: Callable[[int], Any],
    recipe: Recipe,
    folder: Path,
    *,
    validate: Callable[[], float] | None = None,
    what: str,
) -> Result:
    """Train parameters, given as tensors by name, in place; in the end they are those of the best step.

    ``loss_of(step)`` gives a scalar loss, of a batch that depends only on the step. Only ``parameters`` get
    gradients: everything else that the loss comes from stays frozen. No gradient is clipped, and no weight
    decays. ``validate()`` gives a number, more is better; without it the last step counts as the best. The
    loss is computed in the recipe's precision, on any processor, and a validation in the parameters' own.

    ``folder`` keeps a checkpoint: parameters, AdamW's state, the best so far, losses and validations, whole
    or not at all. Training goes on from there, and a finished training is only read. ``what`` identifies the
    training: the digests of model and data, and the seed.

    Raises :class:`BadInput` for a bad recipe, for a checkpoint that cannot be read or is of other parameters,
    another recipe or another ``what``, for a loss or validation that is NaN or infinite, and for a full disk;
    the last checkpoint stays.
    """
    import torch

    recipe.check()
    weights = list(parameters.values())
    # torch's mixed precision, since accelerate's depends on the environment and is one for a whole process.
    mixed = {"dtype": torch.bfloat16, "enabled": recipe.precision == "bf16"}
    optimizer = torch.optim.AdamW(weights, lr=recipe.rate, weight_decay=0.0)
    about = {"what": what, **asdict(recipe), "validated": validate is not None}
    path = folder / loop.CHECKPOINT
    result, best = _resume(path, parameters, optimizer, about) if path.exists() else (Result(), {})
    with progress.bar(recipe.steps, "step") as bar:
        bar.update(len(result.losses))
        for step in range(len(result.losses), recipe.steps):
            with torch.autocast(weights[0].device.type, **mixed):
                loss = loss_of(step)
            result.losses.append(_number(loss.detach(), "loss", step, what))
            # A weight on which the loss does not depend gets zeros, such as a layer that no document passes.
            gradients = torch.autograd.grad(loss, weights, materialize_grads=True)
            for weight, gradient in zip(weights, gradients, strict=True):
                weight.grad = gradient
            optimizer.param_groups[0]["lr"] = recipe.rate * share(step, recipe)
            optimizer.step()
            optimizer.zero_grad()
            bar.update(1)
            done = step + 1
            if done % recipe.every and done < recipe.steps:
                continue
            if validate is not None:
                with torch.no_grad():
                    value = _number(validate(), "validation", step, what)
                result.validation.append((done, value))
                if result.best == done:
                    best = {name: p.detach().clone() for name, p in parameters.items()}
            _save(path, parameters, optimizer, best, about, result)
    with torch.no_grad():
        for name, kept in best.items():
            parameters[name].copy_(kept)
    return result


def _number(value: Any, of: str, step: int, what: str) -> float:
    if not math.isfinite(value := float(value)):
        raise BadInput(f"{what}: the {of} is {value} at step {step}; lower the learning rate")
    return value


def _save(
    path: Path,
    parameters: Mapping[str, Any],
    optimizer: Any,
    best: Mapping[str, Any],
    about: Mapping[str, Any],
    result: Result,
) -> None:
    from safetensors.torch import save as to_bytes

    tensors = {f"weight.{name}": p.detach() for name, p in parameters.items()}
    tensors |= {f"best.{name}": p for name, p in best.items()}
    states = optimizer.state_dict()["state"]
    for i, name in enumerate(parameters):
        tensors |= {f"{key}.{name}": states[i][key] for key in STATE}
    contiguous = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    header = {"about": json.dumps(about), "result": json.dumps(asdict(result))}
    try:
        write_whole(path, to_bytes(contiguous, header))
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written ({first_line(error)}); the checkpoint before it is kept, and "
            "training goes on from there when it is started again"
        ) from error


def _resume(
    path: Path, parameters: Mapping[str, Any], optimizer: Any, about: Mapping[str, Any]
) -> tuple[Result, dict[str, Any]]:
    """Load a checkpoint into parameters and optimizer; return the result so far, and the best parameters."""
    import torch
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        of, found = json.loads(header["about"]), json.loads(header["result"])
        for name in about:
            if of[name] != about[name]:
                raise ValueError(f"its {name} is {of[name]}, not {about[name]}")
        result = Result(found["losses"], [(step, value) for step, value in found["validation"]])
        kinds = ("weight", *STATE, *(["best"] if result.validation else []))
        shapes = {
            f"{kind}.{name}": () if kind == "step" else tuple(parameter.shape)
            for kind in kinds
            for name, parameter in parameters.items()
        }
        if shapes != {name: tuple(tensor.shape) for name, tensor in tensors.items()}:
            raise ValueError("it has other parameters")
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"{path}: no checkpoint of this training ({first_line(error)}); delete it to begin anew"
        ) from error
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(tensors[f"weight.{name}"])
    states = {
        i: {key: tensors[f"{key}.{name}"] for key in STATE} for i, name in enumerate(parameters)
    }
    optimizer.load_state_dict(optimizer.state_dict() | {"state": states})
    return result, {name: tensors[f"best.{name}"] for name in parameters if result.validation}
