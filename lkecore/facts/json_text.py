"""JSON text: a reader that skips no part of a text and names the line of a fault."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput

BRACES = re.compile(r'"(?:[^"\\]|\\.)*"|\}')  # a text, or the end of an object


def parsed(content: str, path: Path, line: int = 1) -> Any:
    """The value of JSON that begins at ``line`` of a file.

    Raises ``json.JSONDecodeError`` for a text that is no JSON. Raises :class:`BadInput` for JSON that cannot
    be read, and for an object with a key twice, of which Python would take the last.
    """
    ended = 0

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal ended
        ended += 1
        if len(found := dict(pairs)) == len(pairs):
            return found
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        # Objects are made in the order of their ends, which are the braces outside of texts.
        braces = (at for at in BRACES.finditer(content) if at[0] == "}")
        end = next(itertools.islice(braces, ended - 1, None)).start()
        at = line + content.count("\n", 0, end)
        raise BadInput(f"{path}, line {at}: the key {twice!r} stands twice in one JSON object")

    try:
        return json.loads(content, object_pairs_hook=once)
    except (BadInput, json.JSONDecodeError):
        raise
    except (RecursionError, ValueError) as error:  # nested too deep, or a number without end
        raise BadInput(f"{path}, line {line}: JSON beyond what can be read ({error})") from error
