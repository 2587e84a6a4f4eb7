"""Models: a tokenizer and a network, with all that says which ones they were."""

import functools
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lkecore.rows import BadInput
from lkecore.weights import check_name, files_digest, first_line, locate, quiet_transformers

DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Model:
    """A causal language model: who it is, its tokenizer, and its network (loaded at first use).

    ``digest`` is a SHA-256 over the files of weights, tokenizer and config. ``add_bos`` is the BOS
    policy: whether the tokenizer puts a beginning-of-sequence token in front by default (IC-Q13).
    ``context_length`` is None for models whose position scheme sets no limit.
    """

    name: str
    path: Path
    digest: str
    dtype: str
    device: str
    add_bos: bool
    context_length: int | None
    tokenizer: Any = field(repr=False)  # its own repr fills screens

    @functools.cached_property
    def _loaded(self) -> tuple[Any, float]:
        import torch
        import transformers
        from safetensors import SafetensorError

        started = time.perf_counter()
        try:
            network, info = transformers.AutoModelForCausalLM.from_pretrained(
                self.path,
                dtype=getattr(torch, self.dtype),
                device_map="auto" if self.device == "auto" else None,
                use_safetensors=True,
                local_files_only=True,
                output_loading_info=True,
            )
        except (OSError, ValueError, SafetensorError) as error:
            reason = first_line(error)
            raise BadInput(f"model {self.name}: {self.path} cannot be loaded ({reason})") from error
        # transformers would fill the gap with random numbers, and only warn.
        if missing := sorted(info["missing_keys"]):
            raise BadInput(
                f"model {self.name}: {self.path} lacks {len(missing)} weights, such as {missing[0]}"
            )
        if self.device != "auto":
            network.to(self.device)
        return network.eval(), time.perf_counter() - started

    @property
    def network(self) -> Any:
        """The transformers model, loaded once."""
        return self._loaded[0]

    @property
    def load_seconds(self) -> float:
        """Seconds that loading the weights took; 0 if they were not needed."""
        return self._loaded[1] if "_loaded" in self.__dict__ else 0.0


def open_model(name: str, *, dtype: str = "float32", device: str | None = None) -> Model:
    """Find a model (fetching and converting it the first time) and read its tokenizer and config.

    ``device`` is ``cpu``, ``cuda``, ``cuda:N``, ``mps`` or ``auto`` (spread over all devices by
    accelerate); None takes what the environment variable ``LKE_DEVICE`` says (``lke run`` sets it
    for jobs with several devices), else ``cuda`` where there is one. The weights are loaded only
    when they are needed. Raises :class:`BadInput` for an unknown model, dtype or device, a model
    that is not a causal language model, and one without safetensors or GGUF weights; when they are
    loaded, for weights that cannot be read or are not complete.
    """
    check_name(name)
    if dtype not in DTYPES:
        raise BadInput(f"unknown dtype {dtype!r}: must be one of {', '.join(DTYPES)}")
    device = _device(device or os.environ.get("LKE_DEVICE"))
    path = locate(name)
    quiet_transformers()
    from transformers import AutoConfig, AutoTokenizer

    try:
        config = AutoConfig.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"model {name}: no readable config.json in {path} ({first_line(error)})"
        ) from error
    _check_causal(name, config)
    if not any(path.glob("*.safetensors")):
        raise BadInput(f"model {name}: {path} has no .safetensors weights, and no others are read")
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"model {name}: no readable tokenizer in {path} ({first_line(error)})"
        ) from error
    bos = tokenizer.bos_token_id
    ids = tokenizer("a")["input_ids"]
    return Model(
        name=name,
        path=path,
        digest=files_digest(path),
        dtype=dtype,
        device=device,
        add_bos=bos is not None and ids[:1] == [bos],
        context_length=_context_length(config),
        tokenizer=tokenizer,
    )


def _check_causal(name: str, config: Any) -> None:
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as causal

    kinds = config.architectures or []
    # transformers would load a BERT as a decoder without a word, and every number would be wrong.
    fits = kinds and all(kind.endswith(("ForCausalLM", "LMHeadModel")) for kind in kinds)
    if config.model_type not in causal or config.is_encoder_decoder or not fits:
        raise BadInput(
            f"model {name}: {', '.join(kinds) or config.model_type} is no causal language model; "
            "only those can be asked by now"
        )


def _device(device: str | None) -> str:
    import torch

    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "auto":
        return device
    if device == "meta":
        raise BadInput("device 'meta' holds no numbers")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise BadInput(f"device {device!r} cannot be used here ({first_line(error)})") from error
    return device


def _context_length(config: Any) -> int | None:
    for attribute in ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"):
        value = getattr(config, attribute, None)
        if isinstance(value, int) and value > 0:
            return value
    return None
