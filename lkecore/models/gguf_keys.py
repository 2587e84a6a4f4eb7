"""Compare the keys of a GGUF file with the model that transformers makes of it.

transformers silently ignores a key or a tensor that it does not know, and the numbers are those of another
model. So each key must be in the config or the tokenizer, with the file's value, or be known to change no
number. Each tensor must be a weight of the network. Anything else is refused by its name.
"""

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput, visible
from lkecore.models.loading import ropes

# {key, without the architecture in front: its names in a config}. If a config has several of these names,
# all must have the value: Gemma's 27B models divide by another number than the head's width, which no key
# says. A key that is 0 or false may also be unknown to the config, as the heads of a network without
# attention are.
HELD = {
    "attention.head_count": ("num_attention_heads",),
    "attention.head_count_kv": ("num_key_value_heads",),
    "attention.key_length": ("head_dim", "query_pre_attn_scalar"),
    "attention.layer_norm_epsilon": ("layer_norm_epsilon", "layer_norm_eps", "norm_epsilon"),
    "attention.layer_norm_rms_epsilon": ("rms_norm_eps", "norm_eps", "layer_norm_epsilon"),
    "attention.sliding_window": ("sliding_window",),
    "attention.value_length": ("head_dim",),
    "attn_logit_softcapping": ("attn_logit_softcapping",),
    "block_count": ("num_hidden_layers",),
    "context_length": ("max_position_embeddings",),
    "embedding_length": ("hidden_size",),
    "expert_count": ("num_experts", "num_local_experts"),
    "expert_feed_forward_length": ("moe_intermediate_size",),
    "expert_used_count": ("num_experts_per_tok",),
    "feed_forward_length": ("intermediate_size", "ffn_hidden_size", "feed_forward_length"),
    "final_logit_softcapping": ("final_logit_softcapping",),
    "rope.dimension_count": ("rotary dimensions",),  # `_of_config` works these three out
    "rope.freq_base": ("rotary base",),
    "rope.freq_base_swa": ("rotary base of windows",),
    "ssm.conv_kernel": ("conv_kernel",),
    "ssm.inner_size": ("intermediate_size",),
    "ssm.state_size": ("state_size",),
    "ssm.time_step_rank": ("time_step_rank",),
    "use_parallel_residual": ("use_parallel_residual",),
    "vocab_size": ("vocab_size",),
}
# `rope_of` reads these keys. The length of texts before scaling matters only to kinds that it refuses.
SCALING = {
    "rope.scaling.type", "rope.scaling.factor", "rope.scale_linear",
    "rope.scaling.original_context_length", "rope.scaling.finetuned",
}  # fmt: skip
# These keys are read by transformers, checked by `check_tokenizer`, or without effect. The latter are names,
# dates, how the file was made, and tokens that only a chat or an editor puts into a text.
KNOWN = re.compile(
    r"GGUF\..+|general\..+|quantize\..+|split\..+|tokenizer\.chat_templates?(\..+)?"
    r"|\w+\.tensor_data_layout"
    r"|tokenizer\.ggml\.(model|pre|tokens|token_type|scores|merges|add_(bos|eos|sep)_token"
    r"|add_space_prefix|remove_extra_whitespaces|(bos|eos|unknown|padding)_token_id"
    r"|(eot|eom|cls|mask|seperator|separator|prefix|suffix|middle|fim_\w+)_token_id)"
)
# Ways in which a byte-level tokenizer cuts a text into words before it merges: besides those of transformers'
# list, two that it takes for GPT-2's. SmolLM's has each digit by itself and no merge of a digit, so that the
# result is the same.
LIKE_GPT_2 = {"gpt-2", "smollm"}
# In these families a word of the vocabulary is one token, whatever the merges make of it. A text begins with
# the first token unless the file says otherwise: llama.cpp knows it by the family alone.
LIKE_LLAMA_3 = {
    "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
    "jina-v5-nano", "tekken",
}  # fmt: skip
FLAGS = {"tokenizer.ggml.add_sep_token", "tokenizer.ggml.remove_extra_whitespaces"}  # only false


def said_in(reader: Any) -> dict[str, Any]:
    """{key: value} of a ``gguf.GGUFReader``; a long list, such as the vocabulary, is given by its length."""
    return {
        key: field.contents() if len(field.data) <= 256 else len(field.data)
        for key, field in reader.fields.items()
    }


def check_config(path: Path, said: dict[str, Any], config: Any) -> None:
    """Raise :class:`BadInput` for a key that the config of the file's model does not have with its value."""
    front = f"{said['general.architecture']}."
    if said.get("general.type", "model") != "model":
        raise _unread(path, "general.type", said["general.type"])
    for key, value in said.items():
        name = key.removeprefix(front)
        if key.startswith(front) and name in SCALING or KNOWN.fullmatch(key):
            continue
        if not key.startswith(front) or name not in HELD:
            raise _unread(path, key, value)
        held = [found for a in HELD[name] if (found := _of_config(config, a)) is not None]
        if held and not all(_equal(value, found) for found in held) or not held and value:
            raise _unread(path, key, value, held)


def rope_of(
    path: Path, said: dict[str, Any], divisors: list[float] | None, config: Any
) -> dict[str, Any] | None:
    """The ``rope_parameters`` of a file that scales positions, which transformers does not read; or None.

    ``divisors`` are those of the rotary frequencies, from the tensor ``rope_freqs.weight`` (Llama 3.1 and
    3.2). Raises :class:`BadInput` for a kind of scaling, or a config, that these two do not describe.
    """
    front = f"{said['general.architecture']}.rope"
    kind = said.get(f"{front}.scaling.type", "linear")  # llama.cpp has the same default
    key = next(
        (k for k in (f"{front}.scaling.factor", f"{front}.scale_linear") if said.get(k)), None
    )
    if kind not in ("none", "linear"):
        raise _unread(path, f"{front}.scaling.type", kind)
    factor = 1.0 if key is None or kind == "none" else float(said[key])
    kinds = {rope.get("rope_type", "default") for rope in ropes(config)}
    if kinds - {"default"}:
        raise _unread(path, f"{front}.scaling.type", kind, sorted(kinds))
    if factor == 1 and divisors is None:
        return None
    rope = getattr(config, "rope_parameters", None) or {}
    if (
        "rope_theta" not in rope or divisors is not None and factor != 1
    ):  # one for each kind of layer
        raise _unread(path, key or "rope_freqs.weight", factor)
    if divisors is None:
        return {**rope, "rope_type": "linear", "factor": factor}
    if len(divisors) != _of_config(config, "rotary dimensions") // 2:
        raise _unread(path, "rope_freqs.weight", f"{len(divisors)} numbers")
    # transformers has no kind for divisors alone. Longrope has two lists of them, one for long texts; here
    # the two are the same.
    return {
        **rope,
        "rope_type": "longrope",
        "short_factor": divisors,
        "long_factor": divisors,
        "factor": 1.0,
        "attention_factor": 1.0,
        "original_max_position_embeddings": config.max_position_embeddings,
    }


def check_tensors(path: Path, architecture: str, names: Iterable[str], network: Any) -> None:
    """Raise :class:`BadInput` for a tensor of the file that is no weight of the network."""
    from transformers.modeling_gguf_pytorch_utils import (
        TENSOR_PROCESSORS,
        TensorProcessor,
        get_gguf_hf_weights_map,
    )

    processor = TENSOR_PROCESSORS.get(architecture, TensorProcessor)()
    known = get_gguf_hf_weights_map(network, processor)
    for name in names:
        if name not in known and name.removesuffix(".weight") not in known:
            raise BadInput(f"{path}: the tensor {visible(name)} {_RULE}")


def adapt_tokenizer(said: dict[str, Any], tokenizer: Any) -> None:
    """Set the properties of a tokenizer of Llama 3's kind that transformers does not read."""
    if said.get("tokenizer.ggml.pre") in LIKE_LLAMA_3:
        tokenizer.backend_tokenizer.model.ignore_merges = True
        if "tokenizer.ggml.add_bos_token" not in said:
            tokenizer.add_bos_token = True


def check_tokenizer(path: Path, said: dict[str, Any], tokenizer: Any) -> None:
    """Raise :class:`BadInput` for a tokenizer that does not do what the file says; it is tried out."""
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    ggml = "tokenizer.ggml."
    kind, pre = said.get(f"{ggml}model"), said.get(f"{ggml}pre")
    if (
        kind == "gpt2"
        and pre not in LIKE_GPT_2 | {*GGUF_PRE_TOKENIZER_SPLITS}
        or (kind != "gpt2" and pre not in (None, "default", kind))
    ):
        raise _unread(path, f"{ggml}pre", pre)
    for flag in FLAGS:
        if said.get(flag):
            raise _unread(path, flag, said[flag])
    own, ids = (
        tokenizer("a", add_special_tokens=special)["input_ids"] for special in (False, True)
    )
    first = tokenizer.convert_ids_to_tokens(own[0])
    made = {
        "add_bos_token": ids[0] == tokenizer.bos_token_id != own[0],
        "add_eos_token": ids[-1] == tokenizer.eos_token_id != own[-1],
        "add_space_prefix": first[0] in "Ġ▁",
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "unknown_token_id": tokenizer.unk_token_id,
        "padding_token_id": tokenizer.pad_token_id,
    }
    default = {  # the defaults of llama.cpp and transformers
        "add_bos_token": kind == "llama" or pre in LIKE_LLAMA_3,
        "add_eos_token": False,
        "add_space_prefix": kind in ("llama", "t5"),
    }
    for name, found in made.items():
        wanted = said.get(f"{ggml}{name}", default.get(name, found))
        if wanted != found:
            raise _unread(path, f"{ggml}{name}", wanted, [found])


_RULE = (
    "is not read from GGUF files here, and the numbers would be those of another model; take the "
    "model's safetensors"
)


def _unread(path: Path, key: str, value: Any, held: Any = ()) -> BadInput:
    if value is None:  # a file of before May 2024 does not say which one it means
        return BadInput(
            f"{path}: it has no key {key}, so that its texts may be cut otherwise; take "
            "its safetensors"
        )
    is_ = f"the key {visible(key)} = {visible(value)[:80]}"
    if held:
        made = ", ".join(visible(v)[:80] for v in held)
        return BadInput(
            f"{path}: {is_} is taken for {made}, which is another model; take its safetensors"
        )
    return BadInput(f"{path}: {is_} {_RULE}")


def _of_config(config: Any, name: str) -> Any:
    """The value that a config has under this name, or None."""
    rope = getattr(config, "rope_parameters", None) or {}
    if name == "rotary base of windows":
        return rope.get("sliding_attention", {}).get("rope_theta")
    rope = rope.get("full_attention", rope)
    if name == "rotary base":
        return rope.get("rope_theta")
    if name == "rotary dimensions":
        width = (
            getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        )
        return int(width * (rope.get("partial_rotary_factor") or 1))
    return getattr(config, name, None)


def _equal(one: Any, other: Any) -> bool:
    """Whether two values are equal; a file's numbers are float32, a config's float64."""
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6)
    return one == other
