"""Verify: whether files are as they were written: finished runs, old ones too, and the cache."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from lkecore import storage
from lkecore.errors import first_line
from lkecore.models.files import SUMS

ASIDE = ".aside"  # the hidden folder for what is moved away
OF_PROCESS = re.compile(r"(\d+-\d*@.+)\.\w+$")  # the end of names of what is being made


def damaged(runs: Path) -> Iterator[tuple[Path, str]]:
    """(path, why in one line) of all that is damaged, or left over from a dead process of this machine.

    Runs are compared with their manifests, models that were made or converted with the sums beside them, and
    score files with the checksums in them. A failed try is neither damaged nor left over. This reads every
    file, and takes a while.
    """
    cache = storage.cache_folder()
    for manifest in sorted(runs.glob("[!.]*/manifest.json")):
        try:
            yield from _unlike(manifest.parent, json.loads(manifest.read_bytes())["files"])
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            yield manifest.parent, "manifest.json cannot be read"
    for sums in sorted(cache.glob(f"models/*/{SUMS}")):
        lines = sums.read_text(encoding="utf-8", errors="replace").splitlines()
        yield from _unlike(sums.parent, {line[66:]: line[:64] for line in lines})
    for path in sorted(cache.glob("scores/*/*.parquet")):
        try:
            storage.read_table(path)
        except (OSError, ValueError) as error:
            yield path, f"cannot be read ({first_line(error)})"
    for place in (runs, cache / "models"):
        for path in sorted(place.glob("*")):
            by = OF_PROCESS.search(path.name)
            if path.is_dir() and by and storage.is_at_work(by[1]) is False:
                yield path, "begun by a process that is gone"


def set_aside(path: Path) -> Path:
    """Move something into a hidden folder beside it, where no code looks for it; returns its new place."""
    place = path.parent / ASIDE
    place.mkdir(exist_ok=True)
    n, new = 0, place / path.name
    while new.exists():
        n, new = n + 1, place / f"{path.name}.{n + 1}"
    os.replace(path, new)
    return new


def _unlike(folder: Path, digests: dict[str, str]) -> Iterator[tuple[Path, str]]:
    """The folder, if some of its files do not exist or differ from their digests."""
    bad = [
        name
        for name, digest in digests.items()
        if not (folder / name).is_file() or storage.file_digest(folder / name) != digest
    ]
    if bad:
        yield folder, f"not as written: {', '.join(bad)}"
