"""Models: a tokenizer and a network, with a record of which ones they were."""

import functools
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput, first_line, in_one_line
from lkecore.models.convert import quiet_transformers
from lkecore.models.files import check_sums
from lkecore.models.loading import load
from lkecore.models.weights import check_name, files_digest, locate
from lkecore.progress import tell

DTYPES = ("float32", "bfloat16", "float16")
PREFIXES = ("default", "none")
# These types count positions from the one after the padding token's id: the first ones are never used.
COUNT_AFTER_PADDING = {
    "camembert", "data2vec-text", "ibert", "longformer", "luke", "mpnet", "roberta",
    "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod",
}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A language model: its identity, its tokenizer, and its network (loaded at first use).

    - ``digest``: a SHA-256 over the files of weights, tokenizer and config.
    - ``front``: the ids of the tokens in front of every text that a causal model is asked (IC-Q13). They
      are those that its tokenizer puts there (``<s>``, ``</s>``, ``[gMASK] <sop>``, ``[CLS]``), or none.
      Models of other kinds get all special tokens of their tokenizer's template (``[CLS] ... [SEP]``).
    - ``context_length``: a number of tokens, special ones too; None for models whose position scheme sets no
      limit, T5's among them.
    - ``kind``: ``causal`` (reads from left to right), ``masked`` (fills blanks: BERT) or ``seq2seq`` (an
      encoder and a decoder: T5).
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
            network = load(self)
        return network.eval(), time.perf_counter() - started

    @property
    def network(self) -> Any:
        """The transformers model, loaded once."""
        return self._loaded[0]

    @property
    def load_seconds(self) -> float:
        """The seconds that loading the weights took; 0 if they were not needed."""
        return self._loaded[1] if "_loaded" in self.__dict__ else 0.0


def open_model(
    name: str, *, dtype: str = "float32", device: str | None = None, prefix: str = "default"
) -> Model:
    """Find a model (fetching and converting it the first time) and read its tokenizer and config.

    ``device`` is ``cpu``, ``cuda``, ``cuda:N``, ``mps`` or ``auto`` (spread over all devices by accelerate).
    None takes the value of the environment variable ``LKE_DEVICE`` (``lke run`` sets it for jobs with several
    devices), or else ``cuda`` if there is one. ``prefix`` determines the tokens in front of every text that a
    causal model is asked: ``default``, those that its tokenizer puts there, or ``none``. Tokens that a
    tokenizer puts after a text (``</s>``, ``[SEP]``) are left out, since texts go on. The weights are loaded
    only when they are needed.

    Raises :class:`BadInput` for an unknown model, dtype, device or prefix, a model that is no language
    model of one of the three kinds, and one without safetensors or GGUF weights.

    When weights are loaded, raises it for weights that cannot be read, are not complete, or have another
    shape than the config says. Raises it then also for a tokenizer of another model, and for files of the
    cache that were cut or changed.
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
        front, _ = template(tokenizer)  # some tokenizers fail only here
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
    """The ids of the special tokens that a tokenizer puts before and after a text.

    They are read from the tokenizer's output for texts: no attribute lists them all (the ``bos_token`` of
    XGLM is not what it puts in front). Raises :class:`BadInput` if they are not the same around two texts.
    """
    around = []
    for text in ("a", "b, 1"):  # two: the front may be in a text too, as the unknown token
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


def _kind(name: str, config: Any) -> str:
    """The kind by the config's architectures, if transformers also has a class for it."""
    from transformers.models.auto import modeling_auto as auto

    given = config.architectures
    names = [given] if isinstance(given, str) else given or _by_type(config)

    def are(*ends: str) -> bool:
        return bool(names) and all(name.endswith(ends) for name in names)

    # The names decide, and not which class loads: transformers would silently load a BERT as a decoder, or an
    # encoder with a classification head as a masked model, and every number would be wrong.
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
        tell(f"{unnamed}; by its model_type it is taken for a {names[0]}")
    return kind


def _by_type(config: Any) -> list[str]:
    """The class that a config without architectures means by its model_type, if transformers has one.

    If a type has several classes, an encoder is a masked model unless it is_decoder, and T5's kin are
    encoder-decoders. Missing and further weights are found when the weights are loaded.
    """
    from transformers.models.auto import modeling_auto as auto

    if config.is_encoder_decoder:
        known = auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    elif getattr(config, "is_decoder", False):
        known = auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    else:
        known = auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES | auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    return [known[config.model_type]] if config.model_type in known else []


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
        # PyTorch's message would list every kind of device that exists.
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
