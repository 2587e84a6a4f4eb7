"""Convert other formats of weights to a folder of safetensors.

``main`` turns a folder of ``pytorch_model*.bin`` files into one of safetensors. Such files are pickles,
which can contain code. So they are opened in a separate process, with ``weights_only=True``, and nowhere
else in this package.
"""

import functools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput, first_line, in_one_line
from lkecore.models import gguf_keys
from lkecore.models.files import write_sums
from lkecore.progress import tell

# The files of a model besides its weights, for config and tokenizer; never code, never pickles.
SIDE_FILES = ("*.json", "*.model", "*.txt", "*.jinja")
BIN_FILES = "pytorch_model*.bin"
BIN_INDEX = "pytorch_model.bin.index.json"
# The option -m is not used: the package would have imported this module before it is run.
CONVERT = "from lkecore.models.convert import main; main()"


def from_gguf(path: Path, target: Path) -> None:
    """De-quantise a GGUF file to float32 safetensors in the folder ``target``, with its tokenizer.

    Raises :class:`BadInput` for a file that is no GGUF file or cannot be read, and for one that says of its
    model what is not read (:mod:`lkecore.models.gguf_keys`).
    """
    quiet_transformers()
    import gguf
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    with open(path, "rb") as file:
        if file.read(4) != b"GGUF":
            raise BadInput(f"{path}: not a GGUF file (it does not begin with GGUF)")
    where = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    tell(f"converting {path.name} (once)")
    try:
        with _parsed_once():
            reader = gguf.GGUFReader(str(path))
            said = gguf_keys.said_in(reader)
            config = AutoConfig.from_pretrained(**where)
            gguf_keys.check_config(path, said, config)
            tensors = {tensor.name: tensor for tensor in reader.tensors}
            scale = tensors.pop("rope_freqs.weight", None)
            divisors = None if scale is None else scale.data.reshape(-1).tolist()
            rope = gguf_keys.rope_of(path, said, divisors, config)
            source, info = AutoModelForCausalLM.from_pretrained(
                **where, dtype=torch.float32, output_loading_info=True
            )
            tokenizer = AutoTokenizer.from_pretrained(**where)
    except BadInput:
        raise
    except Exception as error:  # a broken file fails in any way, inside transformers' reader
        raise BadInput(
            f"{path}: transformers cannot read this GGUF file, is it whole? ({first_line(error)})"
        ) from error
    if missing := sorted(info["missing_keys"]):  # transformers would fill the gap at random
        raise BadInput(f"{path}: lacks {len(missing)} weights, such as {missing[0]}")
    gguf_keys.check_tensors(path, said["general.architecture"], tensors, source)
    # A model that was read from GGUF refuses to be saved, so a fresh one takes over its weights.
    settings = {k: v for k, v in config.to_dict().items() if k != "quantization_config"}
    settings["architectures"] = [type(source).__name__]
    if rope:
        settings["rope_parameters"] = rope
    plain = type(source)(type(config)(**settings))
    plain.load_state_dict(source.state_dict())
    plain.tie_weights()
    plain.to(torch.float32).save_pretrained(target)
    gguf_keys.adapt_tokenizer(said, tokenizer)
    # Whether the hub may be asked is saved as well; it must not make another digest.
    tokenizer.init_kwargs["local_files_only"] = False
    tokenizer.save_pretrained(target)
    gguf_keys.check_tokenizer(path, said, AutoTokenizer.from_pretrained(target))
    write_sums(target)


@contextmanager
def _parsed_once() -> Iterator[None]:
    """Inside the block, a GGUF file is parsed once.

    transformers parses it for the config, twice for the model, and for the tokenizer. Each time takes two
    seconds, since the names of all tokens are in it one by one. A reader only maps the file.
    """
    import gguf

    reader = gguf.GGUFReader
    once = functools.cache(reader)
    gguf.GGUFReader = lambda path, *mode: once(
        str(path), *mode
    )  # it is given as text and as a Path
    try:
        yield
    finally:
        gguf.GGUFReader = reader


def from_bin(source: Path, target: Path) -> None:
    """Turn a folder's ``pytorch_model*.bin`` files into safetensors, one shard after the other.

    Numbers and dtypes stay as they are; the config and the tokenizer are copied. Memory: one shard.
    Raises :class:`BadInput` for a folder without such files, one whose config transformers does
    not know, and a file that holds anything but tensors.
    """
    quiet_transformers()
    from safetensors.torch import save_file
    from transformers import AutoConfig

    shards = _shards(source)
    with in_one_line(f"{source}: no config.json that can be read"):
        config = AutoConfig.from_pretrained(source, local_files_only=True)
    tied = bool(getattr(config, "tie_word_embeddings", False))
    weight_map: dict[str, str] = {}
    total = 0
    for n, shard in enumerate(shards, start=1):
        tensors = bin_tensors(shard, tied)
        name = f"model-{n:05}-of-{len(shards):05}.safetensors"
        name = name if len(shards) > 1 else "model.safetensors"
        save_file(tensors, target / name, metadata={"format": "pt"})
        weight_map |= dict.fromkeys(tensors, name)
        total += sum(t.numel() * t.element_size() for t in tensors.values())
    if len(shards) > 1:
        index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))}
        text = json.dumps(index, indent=2) + "\n"
        (target / "model.safetensors.index.json").write_text(text, encoding="utf-8")
    for pattern in SIDE_FILES:
        for file in source.glob(pattern):
            # The indices of the source list its files and not ours; some repositories have two.
            if not file.name.endswith(".index.json"):
                shutil.copyfile(file, target / file.name)
    write_sums(target)


def _shards(source: Path) -> list[Path]:
    """The .bin files that belong together: those of the index, or the one file."""
    if (source / BIN_INDEX).is_file():
        try:
            index = json.loads((source / BIN_INDEX).read_text(encoding="utf-8"))
            names = sorted(set(index["weight_map"].values()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{source / BIN_INDEX}: not the index of a model's shards") from error
    else:
        names = ["pytorch_model.bin"]
    for name in names:
        # The name is from a stranger's file and must not lead out of the folder.
        if not (re.fullmatch(r"pytorch_model[\w.-]*\.bin", name) and (source / name).is_file()):
            raise BadInput(f"{source}: {name} is missing, or no file of a model")
    return [source / name for name in names]


def bin_tensors(shard: Path, tied: bool) -> dict[str, Any]:
    """The tensors of one .bin file, each with memory of its own, as safetensors demands it."""
    import torch

    try:
        state = torch.load(shard, weights_only=True, map_location="cpu")
    except Exception as error:  # a broken file fails in any way
        raise BadInput(
            f"{shard.name}: refused, it is broken or holds more than weights ({first_line(error)})"
        ) from error
    if not isinstance(state, dict) or not all(
        isinstance(name, str) and isinstance(value, torch.Tensor) for name, value in state.items()
    ):
        raise BadInput(f"{shard.name}: not a table of names and tensors")
    tensors: dict[str, Any] = {}
    first: dict[int, Any] = {}  # by its memory
    # The head comes last, so that it is the copy, whatever the order in the file.
    for name, value in sorted(state.items(), key=lambda item: item[0] == "lm_head.weight"):
        value = value.detach()
        other = first.setdefault(value.untyped_storage().data_ptr(), value)
        if tied and name == "lm_head.weight" and other is not value and other.is_set_to(value):
            continue  # transformers ties it to the embeddings again, as the config says
        # Other tensors that share memory are written twice: to drop one is safe only if the
        # network ties it again.
        tensors[name] = value.contiguous() if other is value else value.clone().contiguous()
    return tensors


def quiet_transformers() -> None:
    """Silence bars, advice and questions: standard error is for our progress, and no model code runs."""
    import warnings

    # tqdm warns of this in a kernel without widgets, when transformers imports it.
    warnings.filterwarnings("ignore", message="IProgress not found")
    from transformers import dynamic_module_utils
    from transformers.utils import logging

    # Otherwise transformers asks at the terminal whether the code of a model may be run.
    dynamic_module_utils.TIME_OUT_REMOTE_CODE = 0
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def convert_bin(source: Path, target: Path) -> None:
    """Convert .bin weights in a separate process, which reads them and does nothing else."""
    tell(f"converting the weights in {source} (once)")
    command = [sys.executable, "-c", CONVERT, str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise BadInput(f"could not convert {source}: {last}")


def main() -> None:
    """Convert the folder of the first argument into that of the second, which must exist."""
    try:
        from_bin(Path(sys.argv[1]), Path(sys.argv[2]))
    except BadInput as error:
        sys.exit(str(error))
