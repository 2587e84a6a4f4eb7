"""BEAR: the file about the relations of lm-pub-quiz's data sets, with their templates and answer spaces."""

import functools
import json
import os
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput
from lkecore.facts.json_text import parsed
from lkecore.facts.tables import check, composed, fold, stem_of

BESIDE = "metadata_relations.json"


def beside(table: Path) -> Path | None:
    """The file about the relations in a table's folder; None if there is none."""
    file = table.with_name(BESIDE)
    if not os.path.lexists(file):
        return None
    check(file)
    return file


def about(table: Path) -> dict[str, Any]:
    """``templates`` of the relation in a table, and ``space``, its answer space; () where no file has them.

    Raises :class:`BadInput` for a file that lm-pub-quiz would not write so, and for one that names the
    relation in another letter case.
    """
    file, name = beside(table), composed(stem_of(table))
    every = _read(file, file.stat().st_mtime_ns) if file else {}
    said = every.get(name, {})
    if name not in every and (other := next((n for n in every if fold(n) == fold(name)), None)):
        raise BadInput(
            f"{file}, line {_line(file, other)}: the relation is {other!r} here, and the table is "
            f"{table.name!r}; both must have one letter case"
        )
    found = {"templates": said.get("templates", ()), "space": said.get("answer_space_labels", ())}
    for name, texts in found.items():
        if not isinstance(texts, list | tuple) or not all(isinstance(t, str) and t for t in texts):
            raise BadInput(f"{file}: the {name} of {stem_of(table)} must be a list of texts")
    return {name: tuple(texts) for name, texts in found.items()}


def in_space(table: Path, where: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row with the answer space of its relation as ``options``, unless it has options of its own.

    Raises :class:`BadInput` for an object that is not in the answer space: facts would have different
    options.
    """
    space = about(table)["space"]
    if not space or row.get("options"):
        return row
    object_ = row.get("object", row.get("obj_label"))
    if composed(str(object_)) not in map(composed, space):
        raise BadInput(
            f"{where}: {object_!r} is not in the answer space of {stem_of(table)} in {BESIDE}"
        )
    return row | {"options": list(space)}


@functools.lru_cache(maxsize=4)
def _read(file: Path, _: int) -> dict[str, Any]:
    try:
        said = parsed(file.read_text(encoding="utf-8-sig"), file)
    except BadInput:
        raise
    except (OSError, ValueError) as error:
        raise BadInput(f"{file}: no readable JSON ({error})") from error
    if not isinstance(said, dict) or not all(isinstance(of, dict) for of in said.values()):
        raise BadInput(
            f"{file}: must have an object of templates and answer space for each relation"
        )
    return {composed(name): of for name, of in said.items()}


def _line(file: Path, relation: str) -> int:
    """The line that names a relation; 1 where its name is written in another way there."""
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    return next((n for n, line in enumerate(lines, 1) if json.dumps(relation) in line), 1)
