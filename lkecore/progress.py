"""Progress: messages of a long computation while it works, and a record of what it did.

A user who waits in a terminal or a notebook sees a bar. Nobody watches a run of ``lke run``, and a page of
the book shows no bars. There the lines go to the run's log, and the bar goes to a small file that the
driver reads. The record of the computation goes to a ledger that becomes part of the manifest.
"""

import functools
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lkecore.errors import visible
from lkecore.storage import write_whole


def say(line: object, *, err: bool = False) -> None:
    """Print one line of a command's answer, or with ``err`` of its report; see ``visible``."""
    print(visible(line), file=sys.stderr if err else sys.stdout, flush=True)


def say_json(content: dict[str, Any]) -> None:
    """Print one line of JSON, in its own letters, or with JSON's escapes if standard output lacks some."""
    line = visible(json.dumps(content, ensure_ascii=False), in_json=True)
    try:
        line.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        line = json.dumps(content)
    print(line, flush=True)


def tell(line: str) -> None:
    """Print one line for the user who waits; in a run write it to the log, since a page shows no stderr."""
    run, line = os.environ.get("LKE_RUN"), visible(line)
    if run is None:
        print(line, file=sys.stderr)
    else:
        with open(os.path.join(run, "log.txt"), "a", encoding="utf-8") as log:
            log.write(line + "\n")


@functools.cache
def tell_once(line: str) -> None:
    """:func:`tell`, but the same line only once in a process, and so in a run."""
    tell(line)


def keep(path: Path, content: str | bytes) -> None:
    """Write a file of the cache; if that fails, report it once and go on.

    The content has been computed, and is lost only to other runs: a cache that is full, or may only be read,
    ends no run.
    """
    try:
        write_whole(path, content)
    except OSError as error:
        tell_once(
            f"{path.parents[1]} keeps nothing more ({error.strerror or error}): the work goes on, and "
            "another run has to compute anew"
        )


@contextmanager
def bar(total: int, unit: str) -> Iterator[tqdm]:
    """Yield a progress bar for a user who waits; in a run it goes where :func:`read_bar` finds it."""
    place = os.environ.get("LKE_PROGRESS")
    if place is not None:
        with open(place, "w", encoding="utf-8") as file:
            form = "{desc}\t{n}\t{total}\n"
            with tqdm(total=total, file=file, mininterval=0.5, bar_format=form) as shown:
                yield shown
        return
    ipython = sys.modules.get("IPython")
    in_jupyter = ipython is not None and hasattr(ipython.get_ipython(), "kernel")
    hidden = "LKE_RUN" in os.environ or not (in_jupyter or sys.stderr.isatty())
    with tqdm(total=total, unit=unit, leave=False, disable=hidden) as shown:
        yield shown


def read_bar(place: Path) -> tuple[str, int, int] | None:
    """(what, done, of how many) of the bar that another process draws at ``place``, or None."""
    try:
        lines = place.read_text(encoding="utf-8").replace("\r", "\n").split("\n")
        what, done, total = [line for line in lines if line.count("\t") == 2][-1].split("\t")
        return what.strip(" :"), int(done), int(total)
    except (OSError, ValueError, IndexError):  # not begun, or read in the middle of a line
        return None


def record(**entry: Any) -> None:
    """Add an entry to the run's ledger, of work that was computed or came from the cache."""
    place = os.environ.get("LKE_LEDGER")
    if place is not None:
        with open(place, "a", encoding="utf-8") as ledger:
            ledger.write(json.dumps(entry) + "\n")


def read_ledger(place: Path) -> list[dict[str, Any]]:
    """All entries of a run's ledger, in order; none if nothing was computed."""
    if not place.exists():
        return []
    return [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]


def end_with_the_parent() -> None:
    """End this process at once, with exit code 1, when the process that started it ends.

    Standard input must be a pipe from the parent to which nothing is written; it ends when the parent does.
    """

    def watch() -> None:
        while os.read(0, 1024):  # not sys.stdin, whose lock would abort an interpreter that ends
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
