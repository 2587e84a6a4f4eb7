"""Errors: one kind for what a user can mend, and hints for mistyped names."""

import difflib
from collections.abc import Iterable


class BadInput(ValueError):
    """What the user gave cannot be used. The message is one line: the value, and the rule."""


def first_line(error: Exception) -> str:
    """The first line of an error's message, 200 characters at most; its kind if it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint for a mistyped name: the closest of ``names``, or the first few of them.

    >>> nearest("capitol", ["capital", "currency"])
    'nearest: capital'
    """
    names = list(names)
    close = difflib.get_close_matches(name, names, n=3)
    if close:
        return "nearest: " + ", ".join(close)
    return "there are: " + ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
