"""Cache: computed log-probabilities, kept under a key that says exactly what made them.

One file for each relation, model and way of asking: ``${LKECORE_CACHE}/scores/ab/abcd….parquet``.
A file is written whole under another name and then renamed, so it is there entirely or not at all.
"""

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lkecore import models
from lkecore.cache import cache_folder, write_whole
from lkecore.models import Model


def chunk_key(encoded: Sequence[Any], model: Model) -> str:
    """SHA-256 over all that makes the numbers.

    What is asked in token ids (``key()`` of each), model digest, dtype, device kind, BOS policy, the
    source of the scorer and of what loads models, and the versions of what they compute with: a run
    that finds a chunk may then name its own versions as the chunk's.
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
        asked = np.fromiter(e.key(), dtype=np.int64)
        digest.update(np.int64(len(asked)).tobytes() + asked.tobytes())
    return digest.hexdigest()


def _path(key: str) -> Path:
    return cache_folder() / "scores" / key[:2] / f"{key}.parquet"


def read_frame(key: str) -> pd.DataFrame | None:
    """What is kept under a key, or None. A file that cannot be read is as good as absent."""
    path = _path(key)
    if not path.exists():
        return None
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError):
        return None


def write_frame(key: str, frame: pd.DataFrame) -> None:
    """Keep a frame."""
    write_whole(_path(key), frame.to_parquet())


def read(key: str) -> np.ndarray | None:
    """The kept log-probabilities, or None."""
    frame = read_frame(key)
    return None if frame is None or "logprob" not in frame else frame["logprob"].to_numpy()


def write(key: str, logprob: np.ndarray) -> None:
    """Keep log-probabilities, in the order of the encoded prompts and options."""
    write_frame(key, pd.DataFrame({"logprob": logprob}))
