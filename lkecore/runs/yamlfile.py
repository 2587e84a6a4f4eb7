"""YAML files of other people: read within bounds, and refused where their meaning is in doubt.

YAML has more than a list of parameters needs. A few lines of nested aliases expand to gigabytes, deep
brackets end the interpreter, and of a key that is given twice the first value is lost without a message.
And YAML reads some values otherwise than people do: 010 as 8, 1:30 as 90, no as false, 1e3 as text.
"""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from lkecore.errors import BadInput

MOST_BYTES = 1_000_000
MOST_DEPTH = 20  # lists and mappings inside each other
MOST_ALIASES = 100  # enough for their purpose, a short list that several runs share
TAG = "tag:yaml.org,2002:"
OCTAL = re.compile(r"[-+]?0[0-7_]+")  # as in YAML 1.1
WORDS = {"yes": "true", "on": "true", "no": "false", "off": "false"}
# Numbers to a reader, but text in YAML 1.1 as this module reads it.
NUMBERS = {
    re.compile(r"[-+]?0o[0-7]+"): lambda digits: int(digits, 8),
    re.compile(r"[-+]?[0-9][0-9_]*"): int,  # one that remains here has a leading zero
    re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+"): float,
}
Place = tuple[
    str | int | None, ...
]  # keys and numbers of items from the top; None: the value is a key itself
Word = tuple[Place, str]  # yes, no, on or off: its place, and the message if it is out of place


def read(path: Path, is_bool: Callable[[Any, Place], bool] | None = None) -> Any:
    """The content of a YAML file as plain data, as :func:`load`. OSError if the file cannot be read."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)  # a file without an end is read no further
    _check_size(len(content), path)
    try:
        return load(content.decode("utf-8"), path, is_bool)
    except UnicodeDecodeError as error:
        raise _not_yaml(path, error) from error


def load(text: str, name: object, is_bool: Callable[[Any, Place], bool] | None = None) -> Any:
    """The content of a YAML text as plain data; ``name`` is the file's, for messages.

    Raises :class:`BadInput`, with the file, the line and the rule, for

    - a text that is no YAML, or larger than 1 MB;
    - lists and mappings more than 20 deep;
    - more than 100 aliases, or one inside of what another one may repeat;
    - a key that is twice in a mapping;
    - values without quotes that people read otherwise, with what to write: numbers with a leading zero, with
      colons, or with an exponent that YAML takes for text, and dates;
    - yes, no, on and off, where ``is_bool(content, place)`` says that a value has to be another one than true
      or false (None: nobody knows, and they are allowed).
    """
    _check_size(len(text.encode("utf-8", "surrogatepass")), name)
    try:
        _check_shape(text, name)
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise _not_yaml(name, error) from error
    words = _check_nodes(node, name)
    try:
        content = None if node is None else yaml.SafeLoader("").construct_document(node)
    except (yaml.YAMLError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise _not_yaml(name, error) from error  # as an integer of 5,000 digits, a ValueError
    for place, message in words:
        if is_bool is not None and not is_bool(content, place):
            raise BadInput(message)
    return content


def _check_size(size: int, name: object) -> None:
    if size > MOST_BYTES:
        raise BadInput(f"{name}: has more than {MOST_BYTES:,} bytes, the most that is read")


def _check_shape(text: str, name: object) -> None:
    """Check depth and aliases in the stream of events: after nodes are made it would be too late."""
    anchored: list[bool] = []  # for each open list and mapping
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


def _check_nodes(top: yaml.Node | None, name: object) -> list[Word]:
    """Check keys and values in the order of the text; returns the places of yes, no, on and off."""
    waiting: list[tuple[Place, yaml.Node | None]] = [((), top)]
    done, words = set(), []
    while waiting:
        place, node = waiting.pop()
        meaning, better = _misread(node) if isinstance(node, yaml.ScalarNode) else ("", "")
        if meaning:
            key = next((part for part in reversed(place) if isinstance(part, str)), "")
            what = "key " if place and place[-1] is None else f"{key[:60]}: " if key else ""
            shown = f"{name}, line {node.start_mark.line + 1}: {what}{node.value[:60]} {meaning} in YAML"
            instead = (
                f"{better}, or {node.value[:60]!r} for text" if better else f"{node.value[:60]!r}"
            )
            words.append((place, f"{shown}; write {instead}"))
            if not node.tag.endswith(":bool"):
                raise BadInput(words[-1][1])
        if id(node) in done or not isinstance(node, yaml.CollectionNode):
            continue
        done.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += reversed([((*place, i), each) for i, each in enumerate(node.value)])
            continue
        seen, below = set(), []
        for key, value in node.value:
            named = key.value if isinstance(key, yaml.ScalarNode) else None
            below += [((*place, None), key), ((*place, named), value)]
            if named is not None:
                if (key.tag, named) in seen:
                    line = key.start_mark.line + 1
                    raise BadInput(f"{name}, line {line}: key {named[:60]!r} is given twice")
                seen.add((key.tag, named))
        waiting += reversed(below)
    return words


def _misread(node: yaml.ScalarNode) -> tuple[str, str]:
    """(what YAML takes a value for that a reader reads otherwise, what to write); otherwise ("", "")."""
    kind, written = node.tag.removeprefix(TAG), node.value
    short = len(written) <= 60  # the value of a longer one is not computed
    if kind == "timestamp":
        return "is a date", ""
    if kind == "bool" and written.lower() in WORDS:
        meant = WORDS[written.lower()]
        return f"means {meant}", meant
    if kind in ("int", "float") and ":" in written:
        read = str(yaml.SafeLoader("").construct_object(node)) if short else ""
        return f"means {read}" if short else "counts in sixties", read
    if kind == "int" and OCTAL.fullmatch(written):
        meant = int(written.replace("_", ""), 8)
        return f"means {meant}" if short else "counts in eights", _number(int, written)
    if kind == "str" and node.style is None:
        for pattern, number in NUMBERS.items():
            if pattern.fullmatch(written):
                return "is text", _number(number, written)
    return "", ""


def _number(read: Callable[[str], float], written: str) -> str:
    """A number as YAML needs it, to which 1e-05 is text; "" for a number that nobody means."""
    number = read(written.replace("_", "")) if len(written) <= 60 else math.inf
    return yaml.safe_dump(number).split("\n")[0] if math.isfinite(number) else ""


def _not_yaml(name: object, error: Exception) -> BadInput:
    return BadInput(f"{name}: not YAML ({' '.join(str(error).split())[:300]})")
