"""Cache: the folder for what is dear to make again, and files that are there whole or not at all."""

import ast
import hashlib
import os
import secrets
from pathlib import Path

from lkecore.rows import BadInput


def cache_folder() -> Path:
    """``$LKECORE_CACHE``, or ``~/.cache/lkecore``: models, computed scores and fetched facts."""
    given = os.environ.get("LKECORE_CACHE")
    folder = Path(given) if given else Path.home() / ".cache" / "lkecore"
    try:
        folder = folder.expanduser()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        raise BadInput(f"cache folder {folder} cannot be made ({error})") from error
    return folder


def file_digest(path: Path) -> str:
    """SHA-256 of a file's content, read piece by piece."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def program_of(path: Path) -> str:
    """A module's code without comments and docstrings.

    What keys are made of, so that a better explanation makes nothing anew.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file under another name of the same folder, then rename it; text becomes UTF-8.

    A reader sees the old file, or none, until the new one is complete, and of two writers the
    last one wins. The folder is made if need be. An error leaves nothing behind.
    """
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile, which makes the file private: a cache may be shared.
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
