"""The files with a model's weights, digests of large files that are kept, and sums of made files."""

import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lkecore.errors import BadInput, first_line
from lkecore.storage import POINTER, cache_folder, file_digest, is_pointer, write_whole

# This file in the folder of a model that was made or converted here has the digests of the other files, as
# sha256sum writes them. The digests are not in the package, since other versions of NumPy and PyTorch write
# other last digits. They are no part of a model's own digest.
SUMS = "SHA256SUMS"
INDEX = "model.safetensors.index.json"
HOLDING = (".safetensors", ".gguf", ".bin", ".json", ".model", ".txt")
# The form of a large file's name in the hub's own cache, to which links lead.
SHA256 = re.compile(r"[0-9a-f]{64}")


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a model, or none if one of its shards is missing."""
    single, index = folder / "model.safetensors", folder / INDEX
    if single.is_file():
        return [single]
    if not index.is_file():  # a download may have been stopped before the index came
        return sorted(p for p in folder.glob("*.safetensors") if "-of-" not in p.name)
    try:
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        files = [folder / name for name in sorted(names)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{index}: no list of shards ({first_line(error)})") from error
    return files if all(file.is_file() for file in files) else []


def check_content(folder: Path) -> None:
    """Raise :class:`BadInput` for a folder with links to nowhere, pointers, or two sets of weights.

    Libraries say of such a link that the file was never there, and would silently read one of two sets.
    ``.bin`` weights beside safetensors are no second set, nor is ``consolidated.safetensors``: many
    repositories have both, of the same numbers.
    """
    for file in sorted(p for p in folder.iterdir() if p.suffix in HOLDING):
        if file.is_symlink() and not file.exists():
            to = file.readlink()
            raise BadInput(f"model {folder}: {file.name} is a link to {to}, which is not there")
        if file.is_file():
            check_pointer(file)
    read = weight_files(folder)
    others = [p for kind in ("safetensors", "gguf") for p in sorted(folder.glob(f"*.{kind}"))]
    others = [p for p in others if p not in read[:1] and (p not in read or not _has_index(folder))]
    others = [p for p in others if not p.name.startswith("consolidated")]
    if read and others:
        raise BadInput(
            f"model {folder}: two sets of weights are there, {read[0].name} and {others[0].name}; leave one "
            "of them in the folder"
        )


def check_pointer(file: Path) -> None:
    """Raise :class:`BadInput` for a file of a model that is a pointer of Git LFS."""
    if is_pointer(file):
        raise BadInput(f"{file}: {POINTER}")


def _has_index(folder: Path) -> bool:
    return (folder / INDEX).is_file() and not (folder / "model.safetensors").is_file()


def contents_digest(files: Sequence[Path]) -> str:
    """SHA-256 over names and contents of files.

    The digest is kept in the cache for files of unchanged size and time, since hashing a large model takes
    minutes. A cache that may not be written is no error. Raises :class:`BadInput` for a file of the hub's
    cache whose contents differ from the hub's, by its name there.
    """
    stamp = [[str(p.absolute()), p.stat().st_size, p.stat().st_mtime_ns] for p in files]
    note = hashlib.sha256(json.dumps(stamp).encode()).hexdigest()
    kept = cache_folder() / "digests" / note
    if kept.exists() and len(text := kept.read_text()) == 64:
        return text
    digest = hashlib.sha256()
    for file in files:
        found, blob = file_digest(file), file.resolve()
        if SHA256.fullmatch(blob.name) and blob.name != found:
            raise BadInput(
                f"{file} is not as the hub has it: its SHA-256 is {found[:16]}, and should be "
                f"{blob.name[:16]}; delete the folder {blob.parent.parent} to fetch it anew"
            )
        digest.update(f"{file.name} {found}\n".encode())
    with suppress(OSError):
        write_whole(kept, digest.hexdigest())
    return digest.hexdigest()


def write_sums(folder: Path) -> None:
    """Write down the digest of each file of a model that was just made."""
    lines = [f"{file_digest(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def check_sums(folder: Path, *, weights: bool) -> None:
    """Raise :class:`BadInput` for a file of a model of the cache that has changed since it was written here.

    ``weights`` is whether to read the weights, a second for two gigabytes, or all the other files. They are
    read each time, since a disk that flips a byte changes neither size nor time. A copy elsewhere may be
    changed.
    """
    cached = folder.resolve().parent == (cache_folder() / "models").resolve()
    if not cached or not (folder / SUMS).is_file():
        return
    for line in (folder / SUMS).read_text(encoding="utf-8").splitlines():
        written, _, name = line.partition("  ")
        file = folder / name
        if file.is_file() and (file.suffix == ".safetensors") != weights:
            continue
        found = file_digest(file) if file.is_file() else "none: it is gone"
        if found != written:
            raise BadInput(
                f"{file} is not as it was written here: its SHA-256 is {found[:16]}, and {SUMS} says "
                f"{written[:16]}; delete the folder {folder} to make the model anew"
            )
