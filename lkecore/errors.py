"""Errors: one kind for mistakes that a user can mend, hints for mistyped names, and safe text."""

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# Characters that a terminal obeys, or that break or reverse a line: controls, DEL, separators of lines and
# paragraphs, embeddings, overrides and isolates of bidirectional text, and halves of a character.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class BadInput(ValueError):
    """The user's input cannot be used. The message is one line: the value, and the rule.

    Several arguments are complaints that do not depend on each other, so that all are reported at once.
    """

    def __str__(self) -> str:
        return "; ".join(map(str, self.args))


@contextmanager
def noted(complaints: list[str], of: str = "") -> Iterator[None]:
    """Add each :class:`BadInput` that the block raises to ``complaints``, after ``of``; the work goes on."""
    try:
        yield
    except BadInput as error:
        complaints += [said for each in error.args if (said := of + each) not in complaints]


def refuse(complaints: list[str]) -> None:
    """Raise :class:`BadInput` with all ``complaints``, if there are any."""
    if complaints:
        raise BadInput(*complaints)


def first_line(error: Exception) -> str:
    """The first line of an error's message, 200 characters at most; the error's kind if it has none.

    If the first line only announces the second, the two are joined.

    >>> first_line(ValueError("these fields are wrong:\\n    width\\nand more"))
    'these fields are wrong: width'
    """
    first, *rest = str(error).strip().splitlines() or [type(error).__name__]
    return (f"{first} {rest[0].strip()}" if first.endswith(":") and rest else first)[:200]


def of_file(error: OSError) -> str:
    """The file that the system refused, and why, for one line; of a long name only the beginning.

    >>> of_file(OSError(36, "File name too long", "a" * 300))[238:]
    'aa...: File name too long'
    """
    name = os.fsdecode(error.filename2 or error.filename or "a file")
    return f"{name[:240]}{'...' * (len(name) > 240)}: {error.strerror or first_line(error)}"


@contextmanager
def readable() -> Iterator[None]:
    """Turn the system's errors about a file, or a name that no file can have, into :class:`BadInput`."""
    try:
        yield
    except OSError as error:
        raise BadInput(of_file(error)) from error


@contextmanager
def in_one_line(failed: str) -> Iterator[None]:
    """Turn any error that a library raises in the block into a :class:`BadInput`.

    Its message is ``failed``, and in brackets the kind of the error and the first line of its message. Ctrl-C
    and a lack of memory stay as they are: callers can go on after them.
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

    Names come from files, and a control character in a name is an order to a terminal. It is replaced by
    its escape, as text; all other text stays, in any script. With ``in_json`` the escapes are JSON's, for
    a line of JSON.

    >>> print(visible("Zürich \x1b[2J\n\u202e"), visible("\x9b", in_json=True))
    Zürich \x1b[2J\x0a\u202e \u009b
    """

    def escape(found: re.Match[str]) -> str:
        code = ord(found[0])
        return f"\\x{code:02x}" if code < 256 and not in_json else f"\\u{code:04x}"

    return UNSEEN.sub(escape, str(text))
