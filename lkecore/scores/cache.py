"""Cache: computed log-probabilities, kept under a key that says exactly what made them.

One file for each relation, model and way of asking: ``${LKECORE_CACHE}/scores/ab/abcd….parquet``.
A file is written whole under another name and then renamed, so it is there entirely or not at all.
"""

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from lkecore import models
from lkecore.cache import cache_folder, write_whole
from lkecore.models import Model
from lkecore.scores.tokens import Encoded


def chunk_key(encoded: Sequence[Encoded], model: Model) -> str:
    """SHA-256 over all that makes the numbers.

    Token ids, model digest, dtype, device kind, BOS policy, the source of the scorer and of what
    loads models, and the versions of what they compute with: a run that finds a chunk may then name
    its own versions as the chunk's.
    """
    digest = hashlib.sha256()
    backend = [version(name).split("+")[0] for name in ("torch", "transformers")]
    device = model.device.split(":")[0]
    if device == "auto":  # whatever there is
        import torch

        device = f"auto, {'cuda' if torch.cuda.is_available() else 'cpu'}"
    for part in (model.digest, model.dtype, device, model.add_bos, *backend):
        digest.update(f"{part}\n".encode())
    for path in [*sorted(Path(__file__).parent.glob("*.py")), Path(models.__file__)]:
        digest.update(path.read_bytes())
    for e in encoded:
        for ids, start in zip(e.sequences, e.starts, strict=True):
            digest.update(np.array([len(ids), start, *ids], dtype=np.int64).tobytes())
    return digest.hexdigest()


def _path(key: str) -> Path:
    return cache_folder() / "scores" / key[:2] / f"{key}.parquet"


def read(key: str) -> np.ndarray | None:
    """The kept log-probabilities, or None. A file that cannot be read is as good as absent."""
    path = _path(key)
    if not path.exists():
        return None
    try:
        return pd.read_parquet(path)["logprob"].to_numpy()
    except (OSError, ValueError, KeyError):
        return None


def write(key: str, logprob: np.ndarray) -> None:
    """Keep log-probabilities, in the order of the encoded prompts and options."""
    path = _path(key)
    write_whole(path, pd.DataFrame({"logprob": logprob}).to_parquet())
