"""Leases: who is making a run, on disks that give a lock to everybody (Lustre, GPFS, some NFS).

A lease is a small file that only one process can create. It names its owner, and its age shows whether
that process still runs, by the clock of the disk, which all machines share. A lease only saves work:
where one is taken wrongly a run is made twice, and the first result counts.
"""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lkecore import storage

RENEWED = 30.0  # seconds from one sign of life to the next
STALE = 300.0  # seconds without one, after which a process of another machine counts as gone
NAMELESS = 10.0  # seconds after which a lease without a name is nobody's: a name is written at once


@contextmanager
def leased(path: Path) -> Iterator[bool]:
    """Take a lease until the end; False if somebody else has it. OSError where it cannot be written."""
    mine = _take(path)
    try:
        yield mine
    finally:
        if mine:
            drop(path, os.getpid())


def is_held(path: Path) -> bool:
    """Whether somebody who may be alive has a lease."""
    try:
        by, since = path.read_text(encoding="utf-8", errors="replace"), path.stat().st_mtime
        at_work = storage.is_at_work(by)
        if at_work is not None:
            return at_work
        return _now(path) - since < (STALE if "@" in by else NAMELESS)
    except FileNotFoundError:
        return False


def renew(path: Path, pid: int) -> None:
    """Renew a lease of a process of this machine; no effect where it has no such lease."""
    with suppress(OSError):
        if _is_of(path, pid):
            os.utime(path)  # without a time: the clock of the disk counts


def drop(path: Path, pid: int) -> None:
    """Give back the lease of a process of this machine, alive or killed; a lease of others stays."""
    with suppress(OSError):
        if _is_of(path, pid):
            path.unlink()


def check_room(*folders: Path) -> None:
    """Raise OSError, with the folder's name, where no file of 4 KB can be written."""
    for folder in folders:
        try:
            with tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
                probe.write(bytes(4096))
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder)) from error


def _take(path: Path) -> bool:
    for _ in range(2):
        try:
            with open(path, "x", encoding="utf-8") as file:  # only one of several creates it
                file.write(storage.mark())
            return True
        except FileExistsError:
            pass
        except OSError:  # a full disk: an empty lease would keep everybody away
            path.unlink(missing_ok=True)
            raise
        if is_held(path):
            return False
        aside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        with suppress(FileNotFoundError):  # only one of several takes it away
            os.rename(path, aside)
            if is_held(aside):  # a newer lease than the one that was checked: it goes back
                with suppress(OSError):
                    os.link(aside, path)
            aside.unlink()
    return False


def _is_of(path: Path, pid: int) -> bool:
    owner, _, host = path.read_text(encoding="utf-8", errors="replace").partition("@")
    return owner.startswith(f"{pid}-") and host == os.uname().nodename


def _now(path: Path) -> float:
    """The time by the clock of the disk on which a file is: that of a new file."""
    with tempfile.TemporaryFile(dir=path.parent) as probe:
        return os.fstat(probe.fileno()).st_mtime
