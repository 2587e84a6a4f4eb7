"""Lines: how many lines execute in each room of the package, in the tests and in the notebooks.

.venv/bin/python tools/lines.py
"""

import ast
import io
import tokenize as t
from collections import Counter
from pathlib import Path

SILENT = {t.COMMENT, t.NL, t.NEWLINE, t.INDENT, t.DEDENT, t.ENDMARKER}
OWNERS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def executing(text: str) -> int:
    """How many lines of a Python file are neither docstring, comment nor blank."""
    owners = [node for node in ast.walk(ast.parse(text)) if isinstance(node, OWNERS)]
    first = [node.body[0] for node in owners if ast.get_docstring(node) is not None]
    said = {n for node in first for n in range(node.lineno, node.end_lineno + 1)}
    blank = {n for n, line in enumerate(text.split("\n"), start=1) if not line.strip()}
    tokens = [k for k in t.generate_tokens(io.StringIO(text).readline) if k.type not in SILENT]
    return len({n for k in tokens for n in range(k.start[0], k.end[0] + 1)} - said - blank)


def rooms(top: Path) -> Counter[str]:
    """{room: executing lines}; rooms of the package are what lies in ``lkecore``."""
    found: Counter[str] = Counter()
    for folder in ("lkecore", "tests", "notebooks"):
        for path in sorted((top / folder).rglob("*.py")):
            parts = path.relative_to(top).with_suffix("").parts
            room = "/".join(parts[: 1 + (folder == "lkecore")])
            found[room] += executing(path.read_text("utf-8"))
    return found


if __name__ == "__main__":
    found = rooms(Path(__file__).resolve().parent.parent)
    found["lkecore"] = sum(n for name, n in found.items() if name.startswith("lkecore/"))
    print("\n".join(f"{name:20}{n:7,}" for name, n in found.items()))
