"""Models: a tokenizer and a network, with all that says which ones they were."""

import functools
import os
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput, first_line, in_one_line
from lkecore.models.convert import quiet_transformers
from lkecore.models.files import check_sums
from lkecore.models.weights import check_name, files_digest, locate

DTYPES = ("float32", "bfloat16", "float16")
PREFIXES = ("default", "none")
ATTENTIONS = {"eager", "sdpa"}  # those that scorers can give a mask of their own
LOADERS = {
    "causal": "AutoModelForCausalLM",
    "masked": "AutoModelForMaskedLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
}
# They count positions from the one after the padding token's id: the first ones are never used.
COUNT_AFTER_PADDING = {
    "camembert", "data2vec-text", "ibert", "longformer", "luke", "mpnet", "roberta",
    "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod",
}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A language model: who it is, its tokenizer, and its network (loaded at first use).

    ``digest`` is a SHA-256 over the files of weights, tokenizer and config. ``front`` are the ids of
    the tokens that stand in front of every text that a causal model is asked (IC-Q13): those that its
    tokenizer puts there (``<s>``, ``</s>``, ``[gMASK] <sop>``, ``[CLS]``), or none. Models of other
    kinds get all special tokens of their tokenizer's template (``[CLS] ... [SEP]``).
    ``context_length`` counts tokens, special ones too; it is None for models whose position scheme
    sets no limit, T5's among them. ``kind`` is ``causal`` (reads from left to right), ``masked`` (fills
    blanks: BERT) or ``seq2seq`` (an encoder and a decoder: T5).
    """

    name: str
    path: Path
    digest: str
    dtype: str
    device: str
    front: tuple[int, ...]
    context_length: int | None
    tokenizer: Any = field(repr=False)  # its own repr fills screens
    kind: str = "causal"

    @property
    def prefix(self) -> list[str]:
        """The tokens of ``front`` as the vocabulary writes them, such as ``["<s>"]``."""
        return self.tokenizer.convert_ids_to_tokens(list(self.front)) if self.front else []

    @functools.cached_property
    def _loaded(self) -> tuple[Any, float]:
        started = time.perf_counter()
        with in_one_line(f"model {self.name}: {self.path} cannot be loaded"):
            network = _load(self)
        return network.eval(), time.perf_counter() - started

    @property
    def network(self) -> Any:
        """The transformers model, loaded once."""
        return self._loaded[0]

    @property
    def load_seconds(self) -> float:
        """Seconds that loading the weights took; 0 if they were not needed."""
        return self._loaded[1] if "_loaded" in self.__dict__ else 0.0


def _load(model: Model) -> Any:
    """The network of a model, on its device, after a look at all that would make its numbers others."""
    import torch
    import transformers
    from safetensors import SafetensorError

    where = f"model {model.name}: {model.path}"
    check_sums(model.path, weights=True)
    config = transformers.AutoConfig.from_pretrained(model.path, local_files_only=True)
    place: Any = "auto" if model.device == "auto" else None
    if (packed := getattr(config, "quantization_config", None)) is not None:
        _check_packed(where, packed)
        place = place or {"": model.device}  # some must not be moved once they are loaded
    try:
        network, info = getattr(transformers, LOADERS[model.kind]).from_pretrained(
            model.path,
            dtype=getattr(torch, model.dtype),
            device_map=place,
            use_safetensors=True,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # else transformers does not say which
            **_attention(model.name, config),
        )
    except SafetensorError as error:
        hub = model.path.parent.name == "snapshots"  # a folder of links; the files lie beside it
        again = f"; delete the folder {model.path.parent.parent} to fetch it anew" if hub else ""
        raise BadInput(f"{where} cannot be loaded ({first_line(error)}){again}") from error
    _check_weights(model, network, info, named=bool(config.architectures))
    if model.kind == "seq2seq":
        _check_ends(model.name, network, model.path)
    _check_ids(model.name, network, model.tokenizer)
    if place is None:
        network.to(model.device)
    if network.device.type == "cuda" and shares_one_head(network.config):
        network.set_attn_implementation("eager")
    return network


def _check_weights(model: Model, network: Any, info: dict[str, Any], *, named: bool) -> None:
    """Refuse weights that are not those of the network, of which transformers would only warn.

    ``named``: whether config.json says which network it is.
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
    # A classifier's, say, whose embeddings could be taken for an output layer. BERT has a second head anyway.
    if beside and not named and model.kind == "causal":
        raise BadInput(
            f"{where}: config.json names no architecture, and there are weights that a "
            f"{type(network).__name__} has not, such as {beside[0]}"
        )
    known = set(network.state_dict())
    if further := [w for w in beside if re.sub(r"\.\d+\.", ".0.", w, count=1) in known]:
        print(
            f"{where} has {len(further)} weights of layers that its config.json does not count, such as "
            f"{further[0]}; they are left out",
            file=sys.stderr,
        )


def _check_packed(where: str, packed: Any) -> None:
    """Refuse what transformers would only warn of, and then read the weights without their scales."""
    from transformers.quantizers import AutoHfQuantizer

    settings = packed if isinstance(packed, dict) else packed.to_dict()
    if settings.get("quant_method") and not AutoHfQuantizer.supports_quant_method(settings):
        raise BadInput(
            f"{where} has weights that were quantized by {settings['quant_method']!r}, which "
            "transformers cannot read"
        )


def _attention(name: str, config: Any) -> dict[str, Any]:
    """What to load a network with whose config asks for an attention that a scorer cannot give masks."""
    parts = [config, *(getattr(config, part, None) for part in config.sub_configs)]
    asked = {getattr(part, "_attn_implementation", None) for part in parts} - {None, *ATTENTIONS}
    if not asked:
        return {}
    print(
        f"model {name}: its config.json asks for the attention {', '.join(sorted(map(str, asked)))}; "
        "it is loaded with the default one",
        file=sys.stderr,
    )
    config._attn_implementation = None
    return {"config": config}


def _check_ids(name: str, network: Any, tokenizer: Any) -> None:
    """Refuse a tokenizer of another network; what was added to it beyond the network, where it is used.

    To add a padding token that nobody ever embeds is common.
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


def open_model(
    name: str, *, dtype: str = "float32", device: str | None = None, prefix: str = "default"
) -> Model:
    """Find a model (fetching and converting it the first time) and read its tokenizer and config.

    ``device`` is ``cpu``, ``cuda``, ``cuda:N``, ``mps`` or ``auto`` (spread over all devices by
    accelerate); None takes what the environment variable ``LKE_DEVICE`` says (``lke run`` sets it
    for jobs with several devices), else ``cuda`` where there is one. ``prefix`` says what stands in
    front of every text that a causal model is asked: ``default``, the tokens that its tokenizer puts
    there, or ``none``. What a tokenizer puts behind a text (``</s>``, ``[SEP]``) is left out, since
    texts go on. The weights are loaded only when they are needed.

    Raises :class:`BadInput` for an unknown model, dtype, device or prefix, a model that is no language
    model of one of the three kinds, and one without safetensors or GGUF weights; when they are loaded,
    for weights that cannot be read, are not complete, or are of another shape than the config says, for
    a tokenizer of another model, and for files of the cache that were cut or changed.
    """
    check_name(name)
    if dtype not in DTYPES:
        raise BadInput(f"unknown dtype {dtype!r}: must be one of {', '.join(DTYPES)}")
    if prefix not in PREFIXES:
        raise BadInput(f"unknown prefix {prefix!r}: must be one of {', '.join(PREFIXES)}")
    device = _device(device or os.environ.get("LKE_DEVICE"))
    path = locate(name)
    quiet_transformers()
    from transformers import AutoConfig, AutoTokenizer

    with in_one_line(f"model {name}: {path} cannot be read"):
        check_sums(path, weights=False)
    with in_one_line(f"model {name}: no readable config.json in {path}"):
        config = AutoConfig.from_pretrained(path, local_files_only=True)
        kind = _kind(name, config)
    if not any(path.glob("*.safetensors")):
        raise BadInput(f"model {name}: {path} has no .safetensors weights, and no others are read")
    with in_one_line(f"model {name}: no readable tokenizer in {path}"):
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
        front, _ = template(tokenizer)  # some tell only now what they lack
    if prefix == "none":
        if kind != "causal":
            raise BadInput(f"model {name} is {kind}; prefix 'none' is for causal models")
        front = ()
    return Model(
        name=name,
        path=path,
        digest=files_digest(path),
        dtype=dtype,
        device=device,
        front=front,
        context_length=_context_length(config, kind),
        tokenizer=tokenizer,
        kind=kind,
    )


def template(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids of the special tokens that a tokenizer puts before and behind a text.

    Found where they are seen, in what the tokenizer makes of texts: no attribute tells them all (the
    ``bos_token`` of XGLM is not what it puts in front). Raises :class:`BadInput` where they are not the
    same around two texts.
    """
    around = []
    for text in ("a", "b, 1"):  # two: what is in front may be in a text too, as the unknown token
        own, whole = (
            tuple(tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"])
            for special in (False, True)
        )
        starts = range(len(whole) - len(own) + 1)
        at = [i for i in starts if whole[i : i + len(own)] == own]
        around.append({(whole[:i], whole[i + len(own) :]) for i in at})
    found = around[0] & around[1]
    if len(found) != 1:
        raise BadInput(
            f"the tokenizer in {tokenizer.name_or_path} does not put the same tokens around every "
            "text, so that nothing says what belongs in front"
        )
    return found.pop()


def shares_one_head(config: Any) -> bool:
    """Whether all attention heads look at one head of keys and values, as in Gemma 3 270M and 1B.

    Then transformers hands PyTorch one and the same memory for all heads, and PyTorch's memory-efficient
    attention on CUDA is wrong, without a word, in passes with a mask over 1, 33, 65, ... columns
    (https://github.com/pytorch/pytorch/issues/191937). On CUDA such networks take the "eager" attention.
    """
    of = config.get_text_config()
    keys = getattr(of, "num_key_value_heads", None)
    if keys is None and getattr(of, "multi_query", False):
        keys = 1
    return keys == 1 and getattr(of, "num_attention_heads", 1) > 1


def _kind(name: str, config: Any) -> str:
    """What the config's architectures say, where transformers' class for this kind exists too."""
    from transformers.models.auto import modeling_auto as auto

    given = config.architectures
    names = [given] if isinstance(given, str) else given or _by_type(config)

    def are(*ends: str) -> bool:
        return bool(names) and all(name.endswith(ends) for name in names)

    # By the names and not by what loads: transformers would load a BERT as a decoder, or an encoder
    # with a classification head as a masked model, without a word, and every number would be wrong.
    if config.is_encoder_decoder:
        known, kind = auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, "seq2seq"
        fits = are("ForConditionalGeneration")
    elif are("ForMaskedLM", "BertForPreTraining", "AlbertForPreTraining"):
        known, kind = auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, "masked"
        fits = not getattr(config, "is_decoder", False)  # then it sees no token to the right
    else:
        known, kind = auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, "causal"
        fits = are("ForCausalLM", "LMHeadModel")
    unnamed = "" if given else f"model {name}: config.json names no architecture"
    if config.model_type not in known or not fits:
        what = f"model {name}: {', '.join(names)}"
        what = f"{unnamed}, and its model_type {config.model_type}" if unnamed else what
        raise BadInput(
            f"{what} is no causal, masked or encoder-decoder language model; only those can be asked"
        )
    if unnamed:
        print(f"{unnamed}; by its model_type it is taken for a {names[0]}", file=sys.stderr)
    return kind


def _by_type(config: Any) -> list[str]:
    """The class that a config without architectures means by its model_type, if transformers has one.

    Of the types that have several, an encoder is a masked model unless it is_decoder, and T5's kin are
    encoder-decoders. What the weights lack, or have beside it, is found when they are loaded.
    """
    from transformers.models.auto import modeling_auto as auto

    if config.is_encoder_decoder:
        known = auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    elif getattr(config, "is_decoder", False):
        known = auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    else:
        known = auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES | auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    return [known[config.model_type]] if config.model_type in known else []


def _check_ends(name: str, network: Any, path: Path) -> None:
    """For T5 transformers takes input and output layer for the same, whatever config.json says."""
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
        # PyTorch would list all kinds of devices that somebody makes.
        known = device.partition(":")[0] in ("cpu", "cuda", "mps")
        reason = first_line(error) if known else "it is cuda or cpu, or cuda:N, mps or auto"
        raise BadInput(f"device {device!r} cannot be used here ({reason})") from error
    return device


def _context_length(config: Any, kind: str) -> int | None:
    limits = ["max_position_embeddings"]
    if kind != "seq2seq":  # T5's n_positions is what it was trained on; its positions are relative
        limits += ["n_positions", "max_seq_len", "seq_length"]
    for attribute in limits:
        value = getattr(config, attribute, None)
        if isinstance(value, int) and value > 0:
            after_padding = config.model_type in COUNT_AFTER_PADDING
            return value - config.pad_token_id - 1 if after_padding else value
    return None
