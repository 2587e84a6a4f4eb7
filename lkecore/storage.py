"""Storage: the folder for expensive results, atomic writes, and digests of files and of code."""

import ast
import errno
import functools
import hashlib
import importlib.metadata
import io
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput, first_line

DATA = Path(__file__).parent / "data"  # tables that are part of the package
OS_ERROR = re.compile(r"\(os error (\d+)\)")  # in messages of libraries that are written in Rust
POINTER = "a pointer of Git LFS, not the file itself, which `git lfs pull` fetches"
RESULTS = Path(__file__).parent.parent / "results"  # the shipped results; only a checkout has them


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


def is_pointer(path: Path) -> bool:
    """Whether a file is a pointer of Git LFS to its content, instead of the content."""
    with open(path, "rb") as file:
        return file.read(40).startswith(b"version https://git-lfs.github.com/")


@functools.cache  # each key asks for three versions, and they do not change in a process
def version(package: str) -> str:
    """The version of an installed package."""
    return importlib.metadata.version(package)


def program_of(path: Path) -> str:
    """A module's code without comments, docstrings and imports.

    Keys are made of it, so that a better explanation, or a file that moves, recomputes nothing.
    """
    return _program(path.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=500)  # as many as for `code_of`, for the same reason
def _program(text: str) -> str:
    tree = _undocumented(text)
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            own = [part for part in node.body if not isinstance(part, ast.Import | ast.ImportFrom)]
            node.body = own or [ast.Pass()]
    return ast.unparse(tree)


@functools.lru_cache(maxsize=500)  # few modules of a package change while a process runs
def code_of(text: str) -> str:
    """A module's text without comments, docstrings and the author's line breaks; imports stay.

    A text that is no Python is returned unchanged.
    """
    try:
        return ast.dump(_undocumented(text))
    except (SyntaxError, ValueError):  # a null byte raises one or the other, by version
        return text


def _undocumented(text: str) -> ast.Module:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        documented = isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        )
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return tree


def remembered(kind: str, key: str, make: Callable[[], str]) -> str:
    """A short text of the cache folder, under a key of all that it depends on; made now if it is not there.

    This is for texts that take a process a second to find out, and that every process needs. A cache that may
    not be written is no error. A text that was cut off is made anew: it is kept with its own digest.
    """
    path = cache_folder() / kind / key
    with suppress(OSError, ValueError):
        text, _, digest = path.read_text(encoding="utf-8").rpartition("\n")
        if digest == hashlib.sha256(text.encode()).hexdigest():
            return text
    text = make()
    with suppress(OSError):
        write_whole(path, f"{text}\n{hashlib.sha256(text.encode()).hexdigest()}")
    return text


def remembered_frame(kind: str, key: str, make: Callable[[], Any]) -> Any:
    """A data frame of the cache folder, kept like the texts of :func:`remembered`."""
    path = cache_folder() / kind / f"{key}.parquet"
    with suppress(OSError, ValueError):
        return read_frame(path)
    frame = make()
    with suppress(OSError):
        write_whole(path, as_parquet(frame, index=False))
    return frame


def as_parquet(table: Any, **how: Any) -> bytes:
    """A data frame or an Arrow table as a Parquet file, with a checksum for each page of its numbers.

    ``how`` are arguments of ``DataFrame.to_parquet``, or of ``pyarrow.parquet.write_table``. Every reader of
    Parquet can read the file, which is 0.3 % larger than without checksums.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    if isinstance(table, pa.Table):
        pq.write_table(table, out, write_page_checksum=True, **how)
    else:
        table.to_parquet(out, write_page_checksum=True, **how)
    return out.getvalue()


def read_frame(path: Path) -> Any:
    """A Parquet file as ``pandas.read_parquet`` reads it, with its checksums verified, if it has some.

    Raises OSError if it is not there, and ValueError, in one line, if it is damaged.
    """
    import pandas as pd

    return _verified(pd.read_parquet, path)


def read_table(path: Path) -> Any:
    """A Parquet file as an Arrow table; verifies and raises as :func:`read_frame` does."""
    import pyarrow.parquet as pq

    return _verified(pq.read_table, path)


def _verified(read: Callable[..., Any], path: Path) -> Any:
    # Arrow gets the file's bytes, not its path: it would make columns of folders such as "seed=1".
    data = io.BytesIO(path.read_bytes())
    try:
        return read(data, page_checksum_verification=True)
    except Exception as error:  # a wrong bit in the columns' description: KeyError, TypeError, ...
        raise ValueError(f"{type(error).__name__}: {first_line(error)}") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file under another name of the same folder, then rename it; text becomes UTF-8.

    A reader sees the old file, or none, until the new one is complete. The last of two writers wins. The
    folder is made if need be. An error leaves no file over.
    """
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    # tempfile is not used, since it makes the file private: a cache may be shared.
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _with_room(build: Callable[[Path], None], part: Path) -> None:
    """Build; a full disk raises OSError, also if a library has its own class for it."""
    try:
        build(part)
    except OSError:
        raise
    except Exception as error:
        told = OS_ERROR.search(str(error))
        if told is None:
            raise
        raise OSError(int(told[1]), os.strerror(int(told[1])), str(part.parent)) from error


# A disk that several machines share may grant all of them the same lock. So a lock only saves work. Without
# one this is true: a process that makes a folder works in its own part, which has the process in its name.


def mark() -> str:
    """The identity of this process: ``PID-TICKS@MACHINE``, with the time at which it began."""
    return f"{os.getpid()}-{_began(os.getpid())}@{os.uname().nodename}"


def is_at_work(marked: str) -> bool | None:
    """Whether the process of a :func:`mark` is running; None if nobody can know, as on another machine."""
    owner, _, host = marked.partition("@")
    pid, _, began = owner.partition("-")
    if host != os.uname().nodename or not pid.isdecimal():
        return None
    with suppress(PermissionError):  # the process is there, and somebody else's
        try:
            os.kill(int(pid), 0)
        except (ProcessLookupError, OverflowError):
            return False
    return _began(int(pid)) in (began, "")  # otherwise another process has its number by now


def new_part(parent: Path, stem: str) -> Path:
    """A new folder for this process to work in; its name is ``stem``, then the mark of the process."""
    part = Path(tempfile.mkdtemp(prefix=f"{stem}{mark()}.", dir=parent))
    part.chmod(0o755)  # mkdtemp made it private, and a cache or a folder of runs may be shared
    return part


def parts_of(parent: Path, stem: str, pid: int) -> list[Path]:
    """The parts of one process of this machine."""
    here = f"@{os.uname().nodename}"
    own = [part for part, by in _parts(parent, stem) if by.endswith(here)]
    return [part for part in own if part.name.startswith(f"{stem}{pid}-")]


def delete_left(parent: Path, stem: str) -> None:
    """Delete the parts of this machine's processes that have ended; of others nobody can know it here."""
    for part, by in _parts(parent, stem):
        if is_at_work(by) is False:
            shutil.rmtree(part, ignore_errors=True)


def _parts(parent: Path, stem: str) -> list[tuple[Path, str]]:
    """The parts of all processes, each with the mark, from its name, of the process that made it."""
    found = [path for path in parent.iterdir() if path.name.startswith(stem)]
    return [(path, path.name.removeprefix(stem).rpartition(".")[0]) for path in found]


def _began(pid: int) -> str:
    """The time at which a process began, in ticks since its machine did; "" if the system does not say."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    return ""


def came_second(error: OSError) -> bool:
    """Whether a folder could not be moved to its place because another, not empty, is there."""
    return error.errno in (errno.ENOTEMPTY, errno.EEXIST)


def build_once(folder: str, build: Callable[[Path], None]) -> Path:
    """Build a folder of the cache under a lock, unless it is there; it appears whole or not at all.

    If locks do not work, several processes may build it, and the first folder is taken.
    """
    from filelock import FileLock

    final = cache_folder() / "models" / folder
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(final.with_name(f"{folder}.lock")):
        if not final.is_dir():  # another process may have built it while this one waited
            delete_left(final.parent, f"{folder}.part-")
            part = new_part(final.parent, f"{folder}.part-")
            try:
                _with_room(build, part)
                # safetensors makes its files private, and a cache may be shared.
                for each in part.rglob("*"):
                    each.chmod(0o755 if each.is_dir() else 0o644)
                os.replace(part, final)
            except OSError as error:
                if not (came_second(error) and final.is_dir()):
                    raise
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return final
