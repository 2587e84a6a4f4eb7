"""Computed log-probabilities, kept under a key of everything that makes them.

There is one file for each relation, model and way of asking:
``${LKECORE_CACHE}/scores/ab/abcd….parquet``. A file is written whole under another name and then
renamed, so it is there entirely or not at all. The key of options is made of texts, not of their
tokens: a look-up takes milliseconds, and tokenising the question would take seconds.
"""

import ast
import functools
import hashlib
import json
import operator
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lkecore.models import loading
from lkecore.models import model as model_module
from lkecore.models.model import Model

# This name must stay: the code below uses it and is in the keys of all kept files; import lines are not.
from lkecore.progress import keep as write_whole
from lkecore.storage import as_parquet, cache_folder, program_of, read_frame, version

ROOM = "lkecore.scores"
LOADING = [Path(module.__file__) for module in (model_module, loading)]


def chunk_key(model: Model, scorer: str, asked: Sequence[Any]) -> str:
    """SHA-256 over everything that makes the numbers.

    ``scorer`` names the module of this room that computes them. ``asked`` is the question and how it is
    asked, in nested lists of texts and numbers. The key also covers:

    - the model's digest (weights, config and the tokenizer's files), dtype and device kind;
    - the tokens in front of a text;
    - the code of the scorer and of the modules that load models;
    - the versions of the packages that tokenise and compute.

    So a run that finds a chunk may name its own versions as the chunk's.
    """
    digest = hashlib.sha256()
    packages = ["torch", "transformers", "tokenizers"]
    if not model.tokenizer.is_fast:  # some of these cut texts by this library
        packages.append("sentencepiece")
    backend = [version(name).split("+")[0] for name in packages]
    device = model.device.split(":")[0]
    if device == "auto":  # whatever there is
        import torch

        device = f"auto, {'cuda' if torch.cuda.is_available() else 'cpu'}"
    for part in (model.digest, model.dtype, device, model.front, *backend):
        digest.update(f"{part}\n".encode())
    digest.update(programs(scorer).encode())
    # JSON, in which no two questions look alike; numpy's whole numbers are written as Python's.
    digest.update(json.dumps(asked, default=operator.index).encode())
    return digest.hexdigest()


@functools.cache  # a run does not count if a module changes while it runs
def programs(scorer: str) -> str:
    """The code of a scorer, of the modules of this room that it uses, and of the modules that load models.

    It contains no comments, docstrings or import lines, and no names of files. A scorer that does not use
    a module keeps its numbers when that module changes.
    """
    behind: dict[Path, str] = {}
    waiting = [Path(__file__).with_name(f"{scorer}.py")]
    while waiting:
        path = waiting.pop()
        if path not in behind:
            behind[path] = program_of(path)
            waiting += _siblings(path)
    return "\n".join([*sorted(behind.values()), *map(program_of, LOADING)])


@functools.cache
def program() -> str:
    """The code of all scorers and of the modules that load models: while it stays, so do their numbers."""
    room = sorted(Path(__file__).parent.glob("*.py"))
    return "\n".join(program_of(path) for path in [*room, *LOADING])


def _siblings(path: Path) -> list[Path]:
    """The modules of this room that a module imports, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        if module == ROOM:
            names |= {alias.name for alias in node.names}
        elif module.startswith(f"{ROOM}."):
            names.add(module.removeprefix(f"{ROOM}."))
    return [path.with_name(f"{name}.py") for name in sorted(names)]


def _path(key: str) -> Path:
    return cache_folder() / "scores" / key[:2] / f"{key}.parquet"


def read(key: str, columns: Sequence[str]) -> pd.DataFrame | None:
    """The given columns of the frame that is kept under a key, or None.

    A file that cannot be read, fails its checksums or lacks one of the columns counts as absent.
    """
    path = _path(key)
    if not path.exists():
        return None
    try:
        frame = read_frame(path)
    except (OSError, ValueError):
        return None
    return frame[list(columns)] if set(columns) <= set(frame) else None


def write(key: str, frame: pd.DataFrame) -> None:
    """Keep a frame; if that fails, report it once and go on."""
    write_whole(_path(key), as_parquet(frame))
