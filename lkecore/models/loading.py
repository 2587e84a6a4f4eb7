"""The network of a model, with checks of everything that would silently change its numbers."""

import re
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput, first_line
from lkecore.models.files import check_sums
from lkecore.progress import tell

ATTENTIONS = {"eager", "sdpa"}  # those to which scorers can give their own mask
LOADERS = {
    "causal": "AutoModelForCausalLM",
    "masked": "AutoModelForMaskedLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
}


def load(model: Any) -> Any:
    """The network of a :class:`lkecore.models.model.Model`, on its device, if its numbers can be right.

    Raises :class:`BadInput`, or errors of the libraries, which the caller turns into one line.
    """
    import torch
    import transformers
    from safetensors import SafetensorError

    where = f"model {model.name}: {model.path}"
    check_sums(model.path, weights=True)
    config = transformers.AutoConfig.from_pretrained(model.path, local_files_only=True)
    place: Any = "auto" if model.device == "auto" else None
    if (packed := getattr(config, "quantization_config", None)) is not None:
        _check_packed(where, packed)
        place = place or {"": model.device}  # some must not be moved after loading
    try:
        network, info = getattr(transformers, LOADERS[model.kind]).from_pretrained(
            model.path,
            dtype=getattr(torch, model.dtype),
            device_map=place,
            use_safetensors=True,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # otherwise transformers does not say which
            **_attention(model.name, config),
        )
    except SafetensorError as error:
        hub = model.path.parent.name == "snapshots"  # a folder of links; the files are beside it
        again = f"; delete the folder {model.path.parent.parent} to fetch it anew" if hub else ""
        raise BadInput(f"{where} cannot be loaded ({first_line(error)}){again}") from error
    _check_weights(model, network, info, named=bool(config.architectures))
    if model.kind != "causal" and alike_up_to(network.config) is not None:
        raise BadInput(
            f"{where} reads long texts by other rotary angles than short ones (dynamic NTK, longrope); of "
            "such models only decoders can be asked"
        )
    if model.kind == "seq2seq":
        _check_ends(model.name, network, model.path)
    _check_ids(model.name, network, model.tokenizer)
    if place is None:
        network.to(model.device)
    if network.device.type == "cuda" and shares_one_head(network.config):
        network.set_attn_implementation("eager")
    return network


def ropes(config: Any) -> list[dict[str, Any]]:
    """All rotary settings of a config and of its parts, one kind of layer after the other.

    Each is as in the config, with the ``max_position_embeddings`` of its part.
    """
    parts, found = [config.to_dict()], []
    for part in parts:  # the list grows by the parts inside
        parts += [inner for inner in part.values() if isinstance(inner, dict)]
        own = [part.get(name) for name in ("rope_parameters", "rope_scaling")]
        for rope in filter(lambda given: isinstance(given, dict), own):
            kinds = [inner for inner in rope.values() if isinstance(inner, dict)]
            beside = {
                name: part[name]
                for name in ("max_position_embeddings", "original_max_position_embeddings")
                if part.get(name)
            }
            found += [beside | kind for kind in (kinds or [rope])]
    return found


def alike_up_to(config: Any) -> int | None:
    """The length in tokens up to which a network reads texts by the same rotary angles; None: any length.

    For a longer text, dynamic NTK and longrope use other angles from its first token on.
    """
    lengths = []
    for rope in ropes(config):
        kinds = [str(rope.get(name)) for name in ("rope_type", "type")]
        short = rope.get("short_factor")
        same = short and short == rope.get("long_factor")  # two equal lists are no matter of length
        longrope = {"longrope", "su"} & {*kinds} and not same
        if longrope or any("dynamic" in kind for kind in kinds):
            names = ("max_position_embeddings", "original_max_position_embeddings")
            lengths.append(min((rope[name] for name in names if rope.get(name)), default=0))
    return min(lengths, default=None)


def check_alike(network: Any, longest: int) -> None:
    """Raise :class:`BadInput` if a network reads texts of ``longest`` tokens by their own rotary angles."""
    most = alike_up_to(network.config)
    if most is not None and longest >= most:
        raise BadInput(
            f"{type(network).__name__} reads a string of {longest + 1} tokens otherwise than one of up to "
            f"{most}, so that none can be shared; ask for fewer shots, or shorten it"
        )


def _check_weights(model: Any, network: Any, info: dict[str, Any], *, named: bool) -> None:
    """Refuse weights that are not those of the network, of which transformers would only warn.

    ``named`` is whether config.json names the network.
    """
    where = f"model {model.name}: {model.path}"
    if mismatched := sorted(info["mismatched_keys"]):
        weight, there, wanted = mismatched[0]
        raise BadInput(
            f"{where} has {len(mismatched)} weights of another shape than config.json says, such as "
            f"{weight}: {tuple(there)} there, and {tuple(wanted)} by config.json"
        )
    if missing := sorted(info["missing_keys"]):  # it would fill the gap with random numbers
        raise BadInput(f"{where} lacks {len(missing)} weights, such as {missing[0]}")
    beside = sorted(info["unexpected_keys"])
    # The weights may be a classifier's, whose embeddings could be taken for an output layer. BERT has a
    # second head anyway.
    if beside and not named and model.kind == "causal":
        raise BadInput(
            f"{where}: config.json names no architecture, and there are weights that a "
            f"{type(network).__name__} has not, such as {beside[0]}"
        )
    known = set(network.state_dict())
    if further := [w for w in beside if re.sub(r"\.\d+\.", ".0.", w, count=1) in known]:
        tell(
            f"{where} has {len(further)} weights of layers that its config.json does not count, such as "
            f"{further[0]}; they are left out"
        )


def _check_packed(where: str, packed: Any) -> None:
    """Refuse weights of which transformers would only warn, and which it would read without their scales."""
    from transformers.quantizers import AutoHfQuantizer

    settings = packed if isinstance(packed, dict) else packed.to_dict()
    if settings.get("quant_method") and not AutoHfQuantizer.supports_quant_method(settings):
        raise BadInput(
            f"{where} has weights that were quantized by {settings['quant_method']!r}, which "
            "transformers cannot read"
        )


def _attention(name: str, config: Any) -> dict[str, Any]:
    """Arguments to load a network whose config asks for an attention that takes no mask from a scorer."""
    parts = [config, *(getattr(config, part, None) for part in config.sub_configs)]
    asked = {getattr(part, "_attn_implementation", None) for part in parts} - {None, *ATTENTIONS}
    if not asked:
        return {}
    tell(
        f"model {name}: its config.json asks for the attention {', '.join(sorted(map(str, asked)))}; "
        "it is loaded with the default one"
    )
    config._attn_implementation = None
    return {"config": config}


def _check_ids(name: str, network: Any, tokenizer: Any) -> None:
    """Refuse a tokenizer of another network; refuse tokens beyond the network's rows only if they are used.

    A padding token that is added and never embedded is common.
    """
    import torch

    embedding = network.get_input_embeddings()
    rows = getattr(embedding, "num_embeddings", None)
    added = getattr(tokenizer, "added_tokens_decoder", {})
    if rows is None or max(len(tokenizer), max(added, default=-1) + 1) <= rows:
        return  # all vocabularies but one in a thousand, and to list one takes a second

    def refuse(id_: int) -> None:
        raise BadInput(
            f"model {name}: its tokenizer has the token {tokenizer.convert_ids_to_tokens(id_)!r} with the "
            f"id {id_}, and its embedding has {rows} rows; they do not belong together"
        )

    def check(_: Any, given: tuple[Any, ...]) -> None:
        if given and given[0].numel() and (most := int(given[0].max())) >= rows:
            refuse(most)

    if beyond := {id_ for id_ in tokenizer.get_vocab().values() if id_ >= rows} - set(added):
        refuse(max(beyond))
    for module in network.modules():  # an encoder and a decoder may have one each, with one memory
        if isinstance(module, torch.nn.Embedding) and module.weight is embedding.weight:
            module.register_forward_pre_hook(check)


def shares_one_head(config: Any) -> bool:
    """Whether all attention heads share one head of keys and values, as in Gemma 3 270M and 1B.

    If so, transformers gives PyTorch the same memory for all heads. PyTorch's memory-efficient attention on
    CUDA is then silently wrong in passes with a mask over 1, 33, 65, ... columns
    (https://github.com/pytorch/pytorch/issues/191937). On CUDA such networks take the "eager" attention.
    """
    of = config.get_text_config()
    keys = getattr(of, "num_key_value_heads", None)
    if keys is None and getattr(of, "multi_query", False):
        keys = 1
    return keys == 1 and getattr(of, "num_attention_heads", 1) > 1


def _check_ends(name: str, network: Any, path: Path) -> None:
    """Refuse a model whose separate input and output layers transformers would read wrongly.

    For T5 transformers takes the two layers for the same, whatever config.json says.
    """
    from transformers import PreTrainedConfig

    config, _ = PreTrainedConfig.get_config_dict(path, local_files_only=True)
    if config.get("tie_word_embeddings") is not False:
        return
    if network.get_input_embeddings().weight is network.get_output_embeddings().weight:
        raise BadInput(
            f"model {name}: {path} lacks the weights of its input or of its output layer, which are "
            "not the same by its config"
        )
    if config.get("model_type") == "umt5":  # its outputs would be scaled as those of a tied one are
        raise BadInput(f"model {name}: transformers scales an umT5 with two layers wrongly")
