"""Base: what both families of worlds are made with: a name, a table of relations, random numbers."""

import csv
import hashlib
import re
from pathlib import Path

import numpy as np

NAME = re.compile(r"lab:([a-z]+)-(0|[1-9][0-9]{0,8})")


def table(path: Path) -> list[dict[str, str]]:
    """The rows of one of our own tables, whose cells are divided by tabs and never quoted."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def rng_of(what: str, seed: int, *more: str) -> np.random.Generator:
    """Random numbers for one purpose, so that a change of one does not move the others."""
    name = "\x1f".join([what, *more])
    return np.random.default_rng([seed, int(hashlib.sha256(name.encode()).hexdigest()[:16], 16)])
