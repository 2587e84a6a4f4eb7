"""Errors: one kind for what a user can mend, hints for mistyped names, and text that is safe to show."""

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# What a terminal obeys, or what breaks or turns a line around: controls, DEL, separators of lines and
# paragraphs, embeddings, overrides and isolates of bidirectional text, and halves of a character.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class BadInput(ValueError):
    """What the user gave cannot be used. The message is one line: the value, and the rule.

    Several arguments are complaints that do not depend on each other, so that all are told at once.
    """

    def __str__(self) -> str:
        return "; ".join(map(str, self.args))


@contextmanager
def noted(complaints: list[str], of: str = "") -> Iterator[None]:
    """A :class:`BadInput` that is raised within is noted, and work goes on; ``of`` is what it begins with."""
    try:
        yield
    except BadInput as error:
        complaints += [said for each in error.args if (said := of + each) not in complaints]


def refuse(complaints: list[str]) -> None:
    """Raise :class:`BadInput` with all that was noted, if anything was."""
    if complaints:
        raise BadInput(*complaints)


def first_line(error: Exception) -> str:
    """The first line of an error's message, 200 characters at most; its kind if it says nothing.

    With the second one, where the first only announces it.

    >>> first_line(ValueError("these fields are wrong:\\n    width\\nand more"))
    'these fields are wrong: width'
    """
    first, *rest = str(error).strip().splitlines() or [type(error).__name__]
    return (f"{first} {rest[0].strip()}" if first.endswith(":") and rest else first)[:200]


def of_file(error: OSError) -> str:
    """Which file the system refused, and why, for one line; of a long name the beginning.

    >>> of_file(OSError(36, "File name too long", "a" * 300))[238:]
    'aa...: File name too long'
    """
    name = os.fsdecode(error.filename2 or error.filename or "a file")
    return f"{name[:240]}{'...' * (len(name) > 240)}: {error.strerror or first_line(error)}"


@contextmanager
def readable() -> Iterator[None]:
    """What the system says within of a file, or of a name that no file can have, is a :class:`BadInput`."""
    try:
        yield
    except OSError as error:
        raise BadInput(of_file(error)) from error


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


def visible(text: object, *, in_json: bool = False) -> str:
    r"""Any text on one line, as a terminal, a log or a progress bar may show it.

    Names come from files, and a control character in one is an order to a terminal. Here it is its
    escape, as text; all other text stays, in any script. ``in_json``: the escapes are JSON's, for a
    line of JSON.

    >>> print(visible("Zürich \x1b[2J\n\u202e"), visible("\x9b", in_json=True))
    Zürich \x1b[2J\x0a\u202e \u009b
    """

    def escape(found: re.Match[str]) -> str:
        code = ord(found[0])
        return f"\\x{code:02x}" if code < 256 and not in_json else f"\\u{code:04x}"

    return UNSEEN.sub(escape, str(text))
