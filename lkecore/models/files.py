"""Files: which files hold the weights of a model, and a digest of large ones that is kept."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lkecore.errors import BadInput, first_line
from lkecore.storage import cache_folder, file_digest, write_whole


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


def contents_digest(files: Sequence[Path]) -> str:
    """SHA-256 over names and contents of files.

    Kept in the cache for files of unchanged size and time: hashing a large model takes minutes. A cache that
    may not be written is no error.
    """
    stamp = [[str(p.absolute()), p.stat().st_size, p.stat().st_mtime_ns] for p in files]
    note = hashlib.sha256(json.dumps(stamp).encode()).hexdigest()
    kept = cache_folder() / "digests" / note
    if kept.exists() and len(text := kept.read_text()) == 64:
        return text
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name} {file_digest(file)}\n".encode())
    with suppress(OSError):
        write_whole(kept, digest.hexdigest())
    return digest.hexdigest()
