"""Labels: what pages show in place of a model or a fact set with a long name.

A label is for display alone: it is in the key of a page, so that a new one makes the page anew, and in the
key of no run. A run shows the last part of a path, or as much of its end as distinguishes it from others.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput, nearest, visible


def check(given: Any, named: Sequence[str]) -> None:
    """Raise :class:`BadInput` unless labels are lines of text for some of the names, and all different."""
    if not isinstance(given, dict):
        raise BadInput(f"labels must be names and what to show for them, found {given!r}")
    for name, label in given.items():
        if name not in named:
            hint = nearest(str(name), dict.fromkeys(named))
            raise BadInput(f"labels: no model or fact set is named {name!r}; {hint}")
        if not isinstance(label, str) or visible(label) != label or not label.strip():
            raise BadInput(f"labels: {name!r} must have a line of text, found {label!r}")
    seen = [given.get(name, name) for name in dict.fromkeys(named)]
    if twice := {label for label in given.values() if seen.count(label) > 1}:
        raise BadInput(
            f"labels: {sorted(twice)[0]!r} would stand for two of {list(dict.fromkeys(named))}"
        )


def shown(names: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """{name: the text in its place}, of names that have a label or are paths of several parts.

    >>> shown(["a", "toy"], {"toy": "mine"})
    {'toy': 'mine'}
    """
    names = [*dict.fromkeys(names)]
    paths = {
        name: _ends(Path(name))
        for name in names
        if name not in given and len(Path(name).parts) > 1 and Path(name).exists()
    }
    # Nobody knows the weights of a served model, and no label hides that.
    marks = {name: " (served)" * name.startswith("served:") for name in names}
    found = {name: given[name] + marks[name] for name in names if name in given}
    taken = [found.get(name, name) for name in names if name not in paths]
    for name, ends in paths.items():
        others = {*taken, *(end for other in paths if other != name for end in paths[other])}
        found[name] = next((end for end in ends if end not in others), name)
    return found


def _ends(path: Path) -> list[str]:
    """The last part of a path (of a file without its suffix), the last two, and so on."""
    path = path if path.is_dir() else path.with_suffix("")
    return ["/".join(path.parts[-n:]) for n in range(1, len(path.parts) + 1)]
