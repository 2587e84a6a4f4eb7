"""Errors: one kind for what a user can mend, and hints for mistyped names."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class BadInput(ValueError):
    """What the user gave cannot be used. The message is one line: the value, and the rule."""


def first_line(error: Exception) -> str:
    """The first line of an error's message, 200 characters at most; its kind if it says nothing.

    With the second one, where the first only announces it.

    >>> first_line(ValueError("these fields are wrong:\\n    width\\nand more"))
    'these fields are wrong: width'
    """
    first, *rest = str(error).strip().splitlines() or [type(error).__name__]
    return (f"{first} {rest[0].strip()}" if first.endswith(":") and rest else first)[:200]


@contextmanager
def in_one_line(failed: str) -> Iterator[None]:
    """What a library raises within, whatever it is, becomes a :class:`BadInput`.

    Its message: ``failed``, and in brackets the kind of the error and the first line of what it says. Ctrl-C
    and a lack of memory stay what they are: others have ways to go on from them.
    """
    try:
        yield
    except BadInput:
        raise
    except Exception as error:
        if _out_of_memory(error):
            raise
        raise BadInput(f"{failed} ({type(error).__name__}: {first_line(error)})") from error


def _out_of_memory(error: Exception) -> bool:
    from accelerate.utils.memory import should_reduce_batch_size

    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and should_reduce_batch_size(error)
    )


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
