"""Worker: execute one notebook, in a process of its own: ``python -m lkecore.runs.worker ORDER.json``.

The driver (``grid``) writes the order and watches. All files are made in a hidden folder beside the final
one, which is moved there when it is whole: with a manifest if the notebook came to its end, with
``failure.json`` if it did not. Any other end of this process or its driver leaves nothing that counts.

Exit codes: 0 finished, 1 failed, 3 failed in a way that another try cannot mend, 4 somebody else has
finished it meanwhile, 75 somebody else is making it right now.
"""

import json
import logging
import os
import shutil
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lkecore import progress, runs, storage
from lkecore.errors import BadInput
from lkecore.runs import leases

FINISHED, FAILED, HOPELESS, FOUND, BUSY = 0, 1, 3, 4, 75
CHANGED = "the notebook, lkecore, or what it reads was changed meanwhile; run it again"
SAVED_AFTER = 5.0  # seconds, at least, between two writings of a notebook during its execution
PAGE_ONLY = "page-only"  # the tag of cells for readers, such as one that asserts a page's sentence
LOCKS = ".locks"  # in the folder of runs: who is making which


def write_order(path: Path, job: runs.Job, key: str, profile: str, folder: Path) -> None:
    """Write an order for a worker, as plain JSON: papermill's command line would guess at types."""
    order = asdict(job) | {"key": key, "profile": profile, "folder": folder}
    path.write_text(json.dumps(order, default=str), encoding="utf-8")


def main() -> int:
    """Carry out the order whose file is the first argument; returns the exit code."""
    progress.end_with_the_parent()
    return carry_out(Path(sys.argv[1]))


def carry_out(path: Path) -> int:
    """Carry out the order in a file; returns the exit code."""
    order = json.loads(path.read_text(encoding="utf-8"))
    key, profile, folder = order.pop("key"), order.pop("profile"), Path(order.pop("folder"))
    order["notebook"] = Path(order["notebook"])
    order["reads"] = tuple(map(Path, order["reads"]))
    job = runs.Job(**order)
    try:
        with lock_of(folder).acquire(timeout=0), leases.leased(lease_of(folder)) as ours:
            return _carry_out(job, key, profile, folder) if ours else BUSY
    except Timeout:
        return BUSY


def lock_of(folder: Path) -> FileLock:
    """The lock of a run: its maker has it, and the system releases it if that process dies.

    It saves work that would be done twice. Nothing else may depend on it: some disks give it to everybody.
    """
    locks = folder.parent / LOCKS
    locks.mkdir(parents=True, exist_ok=True)
    return FileLock(locks / f"{folder.name}.lock")


def lease_of(folder: Path) -> Path:
    """The lease of a run, a second lock: for disks that give the first to everybody."""
    return folder.parent / LOCKS / f"{folder.name}.lease"


def is_taken(folder: Path) -> bool:
    """Whether somebody is making a run right now, as far as this machine can know."""
    try:
        with lock_of(folder).acquire(timeout=0):
            return leases.is_held(lease_of(folder))
    except Timeout:
        return True


def _carry_out(job: runs.Job, key: str, profile: str, folder: Path) -> int:
    if runs.manifest(folder) is not None:
        return FOUND
    # The failure of an earlier try; this one may end without a message of its own.
    (folder / "failure.json").unlink(missing_ok=True)
    storage.delete_left(folder.parent, stem_of(folder))
    attempt = storage.new_part(folder.parent, stem_of(folder))
    ledger = Path(os.environ["LKE_LEDGER"])
    ledger.unlink(missing_ok=True)
    started, clock = datetime.now(UTC), time.perf_counter()
    # Checked before it, too: a job that waited for hours must not work for hours before it reports this. No
    # other try can mend it, since the order has the key of the old source.
    error, code = (CHANGED, HOPELESS) if runs.run_key(job) != key else _execute(job, attempt)
    if error is None and runs.run_key(job) != key:
        error, code = CHANGED, HOPELESS
    if error is None:
        seconds = time.perf_counter() - clock
        runs.seal(attempt, job, key, profile, started, seconds, ledger)
    else:
        runs.record_failure(attempt, error)
    return code if move(attempt, folder) else FOUND


def stem_of(folder: Path) -> str:
    """The beginning of the names of the hidden folders of all tries at a run, beside its own folder."""
    return f".{folder.name}."


def move(attempt: Path, folder: Path) -> bool:
    """Replace the files of an earlier try by those of this one; False if somebody has finished meanwhile.

    A finished result stays, with or without a lock: a folder takes its place in one step, and only where
    there is none. A folder in its way is moved to where nobody else is, and checked once more there.
    """
    while True:
        try:
            os.replace(attempt, folder)
            return True
        except OSError as error:
            if not storage.came_second(error):
                raise
        if runs.manifest(folder) is not None:
            shutil.rmtree(attempt, ignore_errors=True)
            return False
        aside = storage.new_part(folder.parent, stem_of(folder))
        try:
            os.replace(folder, aside)
            if runs.manifest(aside) is not None:
                os.replace(aside, folder)
        except OSError as error:  # others move it, too
            if not (storage.came_second(error) or isinstance(error, FileNotFoundError)):
                raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def keep_failed(attempt: Path, folder: Path, reason: str) -> bool:
    """Keep the files of a try, with why it failed; False, without the files, where there is no room."""
    try:
        (attempt / "manifest.json").unlink(missing_ok=True)  # killed on the last step
        runs.record_failure(attempt, reason)
        move(attempt, folder)
    except OSError:
        shutil.rmtree(attempt, ignore_errors=True)
        return False
    return True


def _execute(job: runs.Job, attempt: Path) -> tuple[str | None, int]:
    """Execute the notebook into ``attempt``; (None, 0), or (why not, in one line; the exit code)."""
    import nbformat
    import papermill
    from nbclient.exceptions import DeadKernelError
    from traitlets.config import Config

    _save_seldom()
    sockets = os.path.join(os.environ["JUPYTER_RUNTIME_DIR"], "socket")
    os.environ["LKE_RUN"] = str(attempt.resolve())
    os.environ["LKE_LABELS"] = json.dumps(runs.labels_of(job))
    if job.reads:
        os.environ["LKE_PAGE"] = json.dumps([str(folder.resolve()) for folder in job.reads])
    log = logging.getLogger("papermill")
    log.addHandler(logging.FileHandler(attempt / "log.txt"))
    log.setLevel(logging.INFO)
    log.propagate = False
    notebook = runs.read_notebook(job.notebook)
    if job.part:  # the author's sentence is about all parts together, and may be wrong about one
        notebook.cells = [c for c in notebook.cells if PAGE_ONLY not in c.metadata.get("tags", [])]
    try:
        executed = papermill.execute_notebook(
            notebook,
            str(attempt / "notebook.ipynb"),
            parameters=job.parameters,
            kernel_name="python3",
            language="python",
            progress_bar=False,
            log_output=True,
            autosave_cell_every=SAVED_AFTER,
            start_timeout=300,  # a loaded node, a slow file system
            # Local sockets instead of TCP: no port to race for, none on which others can listen.
            # They have a folder of their own, or kernels that start together would share them.
            config=Config({"KernelManager": {"transport": "ipc", "ip": sockets}}),
        )
    except papermill.PapermillExecutionError as failed:
        line = f"{failed.ename}: {' '.join(str(failed.evalue).split())}"
        # A mistake that the user has to mend is the same at every try.
        return line, HOPELESS if failed.ename == BadInput.__name__ else FAILED
    except DeadKernelError:
        return "the kernel died (killed, or out of memory)", FAILED
    # It has the source once more, and the paths of one machine; the book publishes this file.
    executed.metadata.pop("papermill", None)
    nbformat.write(executed, attempt / "notebook.ipynb")
    return None, FINISHED


def _save_seldom() -> None:
    """From now on papermill writes a notebook at its start, seldom during its execution, and at its end.

    Otherwise papermill writes all of it before and after every cell, which is most of a worker's time.
    """
    from papermill.engines import NotebookExecutionManager as Manager

    save = Manager.save

    def seldom(manager: Any, **given: Any) -> None:
        since = (manager.now() - manager.last_save_time).total_seconds()
        begun = os.path.exists(manager.output_path)
        if not begun or manager.end_time is not None or since >= SAVED_AFTER:
            save(manager, **given)

    Manager.save = seldom


if __name__ == "__main__":
    sys.exit(main())
