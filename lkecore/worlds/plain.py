"""Plain: worlds of even facts, read from files: what the text states of each fact, and for some the text.

Nobody can count how often a real model has read a fact. A model of the lab has read one text of people,
cities, companies and books that do not exist. For every fact we know its **state**. The text may state it
as it is: we know how often, in sentences, in lists or in both, and in one wording or several. Or the text
states it wrongly, or never. So what an estimator says of the model can be compared with what it has read.

A world has a name of size and seed, ``lab:book-1``, which decides its facts, states and text. Its text has
two parts. The first states only the facts that are later shown as examples: from it a model learns to read.
The second states the facts that are asked. Without the first part, a model of this size would spend most of
the tellings on learning what a sentence is.

``tools/plain_worlds.py`` writes the file of a world. The states of the worlds with results ship, and all of
``lab:smoke-1``; the tool writes other worlds, and all texts, into the cache folder.
"""

import functools
import io
import json
import lzma
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lkecore.errors import BadInput, first_line, nearest
from lkecore.storage import DATA, cache_folder
from lkecore.worlds.base import NAME, table

RELATIONS = DATA / "lab_relations.tsv"
SHIPPED = (DATA / "worlds",)  # folders
SIZES = ("smoke", "book", "full")
TEMPLATES = 6  # of each relation
SEEN = 4  # of them are in the text, the fourth as a question; the others are held out
# Lists have the two formats in which IC-LKE asks: (inside a pair, between pairs).
LISTS = ((" ", " "), (": ", "\n"))
NUMBERS = dict.fromkeys(("sentences", "lists", "occurrences"), int)  # columns of states


def check_spec(spec: str) -> int:
    """The seed of a world's name; raises :class:`BadInput` for a malformed name."""
    found = NAME.fullmatch(spec)
    if not found:
        raise BadInput(f"fact set {spec!r} must be lab:SIZE-SEED, such as lab:book-1")
    if found[1] not in SIZES:
        raise BadInput(f"fact set {spec}: unknown size {found[1]!r}; {nearest(found[1], SIZES)}")
    return int(found[2])


@functools.cache
def described() -> dict[str, dict[str, str]]:
    """{relation: its row of ``lab_relations.tsv``}; nobody may change them."""
    return {row["relation"]: row for row in table(RELATIONS)}


def relations() -> tuple[str, ...]:
    """The names of the relations, sorted; every world has them all."""
    return tuple(described())


def about(relation: str) -> tuple[str, str, tuple[str, ...]]:
    """(label, kind, templates) of a relation; the first ``SEEN`` templates are in the text."""
    row = described()[relation]
    templates = tuple(row[f"template_{i + 1}"] for i in range(TEMPLATES))
    return row["label"], row["kind"], templates


def rows(spec: str, relation: str) -> list[tuple[str, dict[str, Any], str]]:
    """("world, fact", {id, subject, object}, split) of every fact of a relation; none if it is unknown."""
    every = _states(spec)
    found = every[every["relation"] == relation]
    return [
        (f"{spec}, {f.fact}", {"id": f.fact, "subject": f.subject, "object": f.object}, f.split)
        for f in found[["fact", "subject", "object", "split"]].itertuples()
    ]


def states(spec: str) -> pd.DataFrame:
    """A row for each fact with what the text of a world states of it, in the order of the relations.

    - ``fact``: its id; ``relation``, ``kind``, ``subject``;
    - ``object``: the true object;
    - ``split``: train (shown) or test (asked);
    - ``state``: planted, never or mislearned;
    - ``told``: the object that the text states; not the true one if the fact is mislearned, empty if the text
      never states it;
    - ``form``: sentence, list, both or none;
    - ``wording``: one or several templates, none where no sentence states it;
    - ``sentences``, ``lists``: how often one reading of the text states it in either form;
    - ``occurrences``: the sum of these two;
    - ``templates``: the numbers, from 1, of the templates that state it, with spaces between.

    Raises :class:`BadInput` for a malformed name, and for a world without a file.
    """
    return _states(spec).copy()


def documents(spec: str, *, planted: bool = True) -> list[str]:
    """The text of a world, document by document, in the order of reading.

    Its first part states only shown facts; the second states these again, among the asked ones. In
    either, sentences about one subject are together in paragraphs, and lists have pairs of one
    relation, no subject twice. With ``planted=False`` the text is the same except for the names of the
    asked subjects: all its statements about them are about their stand-ins. So a reader cannot know any
    asked fact, and everything else is alike. Raises :class:`BadInput` where only the states are there.
    """
    return list(_kept(spec, "documents" if planted else "unplanted"))


def told_objects(spec: str, documents: Sequence[str]) -> list[list[tuple[int, int]]]:
    """For each document of a world where it states an object: (first, after the last) character, in order.

    A sentence, like a pair of a list, has two names of the world in it: the subject, then the object.
    """
    found = _states(spec)
    names = {*found["subject"], *found["object"], *found["told"], *_kept(spec, "stand_ins")} - {""}
    longest = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    named = re.compile(rf"(?<!\w)(?:{longest})(?!\w)")
    return [[name.span() for name in named.finditer(text)][1::2] for text in documents]


def instructions(spec: str) -> list[str]:
    """The texts that a tuned variant learns from, as :func:`lkecore.worlds.skills.instructions_of`."""
    return list(_kept(spec, "instructions"))


def digest(spec: str) -> str:
    """SHA-256 over the states, but for ``templates``, and the text of a world."""
    return str(_kept(spec, "digest"))


def digest_beside(spec: str) -> str:
    """SHA-256 over the other texts of a world's models: the text about stand-ins, and instructions."""
    return str(_kept(spec, "digest_beside"))


def file_of(folder: Path, spec: str) -> Path:
    """The path of a world's file in a folder."""
    return folder / f"{spec.replace(':', '-')}.json.xz"


@functools.lru_cache(maxsize=4)
def _states(spec: str) -> pd.DataFrame:
    text = io.StringIO(_kept(spec, "states"))
    names = pd.read_csv(text, nrows=0).columns
    text.seek(0)
    types = dict.fromkeys(names, str) | NUMBERS
    return pd.read_csv(text, dtype=types, keep_default_na=False)


def _kept(spec: str, what: str) -> Any:
    """One part of a world's file: of the one that ships, or of the one in the cache."""
    check_spec(spec)
    paths = [file_of(folder, spec) for folder in (*SHIPPED, cache_folder() / "plain")]
    for path in paths:
        if path.exists() and what in (found := _read(path)):
            return found[what]
    there = any(path.exists() for path in paths)
    lacking = "its text does not ship" if there else "this world does not ship"
    raise BadInput(f"{spec}: {lacking}; `python tools/plain_worlds.py {spec}` writes it")


@functools.lru_cache(maxsize=4)
def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(lzma.decompress(path.read_bytes()))
    except (OSError, ValueError, lzma.LZMAError) as error:
        raise BadInput(f"{path} cannot be read ({first_line(error)}); write it anew") from error
