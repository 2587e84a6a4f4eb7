"""YAML files of other people: read within bounds, and never in doubt about what they say.

YAML has more than a list of parameters needs. A few lines of nested aliases stand for gigabytes, deep
brackets end the interpreter, and of a key that is there twice the first value is lost without a word.
"""

from pathlib import Path
from typing import Any

import yaml

from lkecore.errors import BadInput

MOST_BYTES = 1_000_000
MOST_DEPTH = 20  # lists and mappings inside each other
MOST_ALIASES = 100  # a short list that several runs share is what they are good for


def read(path: Path) -> Any:
    """The content of a YAML file as plain data: see `load`. OSError if it cannot be read."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)  # of a file without an end, no more
    _check_size(len(content), path)
    try:
        return load(content.decode("utf-8"), path)
    except UnicodeDecodeError as error:
        raise _not_yaml(path, error) from error


def load(text: str, name: object) -> Any:
    """The content of a YAML text as plain data; ``name`` is the file's, for messages.

    Raises :class:`BadInput`, with the file, the line and the rule: for a text that is no YAML, or
    larger than 1 MB; for lists and mappings more than 20 deep; for more than 100 aliases, or one
    inside of what another one may repeat; and for a key that stands twice in a mapping.
    """
    node = compose(text, name)
    try:
        return None if node is None else yaml.SafeLoader("").construct_document(node)
    except (yaml.YAMLError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise _not_yaml(name, error) from error  # such as the date 2026-02-31, a ValueError


def compose(text: str, name: object) -> yaml.Node | None:
    """The nodes of a YAML text, which know their places in it; checked as `load` says."""
    _check_size(len(text.encode("utf-8", "surrogatepass")), name)
    try:
        _check_shape(text, name)
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise _not_yaml(name, error) from error
    _check_keys(node, name)
    return node


def _check_size(size: int, name: object) -> None:
    if size > MOST_BYTES:
        raise BadInput(f"{name}: has more than {MOST_BYTES:,} bytes, the most that is read")


def _check_shape(text: str, name: object) -> None:
    """Depth and aliases, from the stream of events: to make nodes of them would be too late."""
    anchored: list[bool] = []  # of each list and mapping that is open
    n_aliases = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            anchored.append(event.anchor is not None)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchored.pop()
        n_aliases += isinstance(event, yaml.AliasEvent)
        where = f"{name}, line {event.start_mark.line + 1}"
        if len(anchored) > MOST_DEPTH:
            raise BadInput(f"{where}: more than {MOST_DEPTH} lists and mappings deep")
        if n_aliases > MOST_ALIASES:
            raise BadInput(f"{where}: more than {MOST_ALIASES} aliases")
        if isinstance(event, yaml.AliasEvent) and any(anchored):
            raise BadInput(f"{where}: alias {event.anchor[:60]!r} inside of an anchor")


def _check_keys(top: yaml.Node | None, name: object) -> None:
    waiting, done = [top], set()
    while waiting:
        node = waiting.pop()
        if id(node) in done or not isinstance(node, yaml.CollectionNode):
            continue
        done.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
            continue
        seen = set()
        for key, value in node.value:
            waiting += [key, value]
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    line = key.start_mark.line + 1
                    raise BadInput(f"{name}, line {line}: key {key.value[:60]!r} is given twice")
                seen.add((key.tag, key.value))


def _not_yaml(name: object, error: Exception) -> BadInput:
    return BadInput(f"{name}: not YAML ({' '.join(str(error).split())[:300]})")
