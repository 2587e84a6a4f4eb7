"""Grid: make the runs and pages of a plan, each in a process of its own, several at a time if asked.

The driver keeps no state but the folder of runs. A finished run there is never made again, so an
interrupted ``lke run`` continues where it stopped, and several of them may work on one folder.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from lkecore import progress, runs, storage
from lkecore.errors import BadInput, visible
from lkecore.runs import forkserver, leases, prepare, worker
from lkecore.runs.devices import Settings, environments_of, share_of
from lkecore.runs.plan import Plan, page_of

FRESH = [sys.executable, "-m", "lkecore.runs.worker"]
WORKER = FRESH
TICK = 0.1  # seconds between two looks at the workers
Process = subprocess.Popen | forkserver.Forked


@dataclass
class Outcome:
    """The labels of jobs, by result."""

    finished: list[str] = field(default_factory=list)  # made here
    before: list[str] = field(default_factory=list)  # finished before this began
    failed: dict[str, str] = field(default_factory=dict)  # why, in one line
    others: list[str] = field(default_factory=list)  # made by others meanwhile
    left: list[str] = field(default_factory=list)  # others were making them when this ended
    known: set[str] = field(default_factory=set)  # folders that had a manifest when this began


@dataclass
class Task:
    """A job in the queue."""

    job: runs.Job
    key: str
    folder: Path
    tries: int = 0
    not_before: float = 0.0  # another driver was making it: look again then


@dataclass
class Worker:
    """A process that makes a task."""

    task: Task
    process: Process
    place: Path  # the folder of its order, sockets, output, bar and ledger
    started: float
    slot: tuple[int, dict[str, str]]  # its line on the screen, and its environment
    bar: tqdm
    renewed: float = 0.0  # when its lease last got a sign of life


def execute(plan: Plan, target: Path, settings: Settings | None = None) -> Outcome:
    """Make the runs of a plan that are not finished, then the pages over them.

    Models and facts are prepared first, each once; those that need a network are fetched while the jobs that
    do without them are made. A job that fails is tried again (``settings.retries``); then its log and
    notebook stay, and the others continue. A page is made when all its runs are finished; a shard makes none.
    With ``settings.leave`` this ends when all jobs that are left are being made by others.

    Raises :class:`BadInput`, before anything runs, for a folder of runs from a newer version and,
    with ``offline``, for models or facts that are not on this machine. Ctrl-C and SIGTERM end all
    workers and raise KeyboardInterrupt; nothing finished is lost.
    """
    settings = settings or Settings()
    runs.check_format(target)
    if settings.offline and (missing := prepare.missing(plan.jobs)):
        raise BadInput(
            f"not on this machine: {', '.join(missing)}; fetch with a network: lke fetch"
        )
    # Before any fetch or training, so that it is known now if nothing can be kept.
    (target / worker.LOCKS).mkdir(parents=True, exist_ok=True)
    mine = share_of(plan.jobs, settings)
    outcome = Outcome(known={path.parent.name for path in target.glob("*/manifest.json")})
    # A kernel may write there for a second after its worker has been ended.
    temporary = tempfile.TemporaryDirectory(prefix="lke-", dir=_short(), ignore_cleanup_errors=True)
    with _stoppable(), temporary as scratch:
        environments = environments_of(settings)

        def prepared_and_made(jobs: list[runs.Job]) -> dict[str, Path]:
            outcome.failed |= prepare.prepare(jobs, environments)
            ready = [each for each in jobs if each.label not in outcome.failed]
            return _make(plan, ready, target, settings, environments, Path(scratch), outcome)

        absent = prepare.absent(mine)
        if absent:  # otherwise all may be finished, and then no server must start
            leases.check_room(target, storage.cache_folder())
            if FRESH == WORKER:
                forkserver.begin(environments[0])
        to_fetch = [thing for thing in absent if not prepare.to_train(*thing)]
        here, rest = [], []
        for each in mine:
            (here if set(to_fetch).isdisjoint(prepare.needs(each)) else rest).append(each)
        made: dict[str, Path] = {}
        if here and rest:
            with prepare.fetching(to_fetch):
                made |= prepared_and_made(here)
            here = []
        made |= prepared_and_made([*here, *rest])
        pages = []
        for row in plan.rows if settings.shard[1] == 1 else ():
            folders = [made[each.label] for each in row.jobs if each.label in made]
            if row.has_page and len(folders) == len(row.jobs):
                pages.append(page_of(row, folders))
            elif row.has_page and {each.label for each in row.jobs} <= {*made, *outcome.left}:
                outcome.left.append(f"{row.whole.label} page")
            elif row.has_page:
                n_absent = len(row.jobs) - len(folders)
                outcome.failed[f"{row.whole.label} page"] = (
                    f"not made, since {n_absent} of the {len(row.jobs)} runs behind it are missing"
                )
        _make(plan, pages, target, settings, environments, Path(scratch), outcome)
    return outcome


# --- make -----------------------------------------------------------------------------------------


def _make(
    plan: Plan,
    jobs: Iterable[runs.Job],
    target: Path,
    settings: Settings,
    environments: list[dict[str, str]],
    scratch: Path,
    outcome: Outcome,
) -> dict[str, Path]:
    """Make jobs, from a queue; {label: folder} of those that are finished in the end."""
    made, queue = {}, deque()
    for each in jobs:
        key = runs.run_key(each)
        task = Task(each, key, runs.run_folder(target, each, key))
        if runs.manifest(task.folder) is None:
            queue.append(task)
        else:
            found = outcome.before if task.folder.name in outcome.known else outcome.others
            found.append(each.label)
            made[each.label] = task.folder
    if not queue:
        return made
    leases.check_room(target, storage.cache_folder())
    free: deque[tuple[int, dict[str, str]]] = deque(enumerate(environments))
    busy: list[Worker] = []
    with tqdm(total=len(queue), unit="job", disable=None) as bar:
        try:
            while queue or busy:
                while free and (task := _next(queue, settings.leave and not busy)) is not None:
                    slot = free.popleft()
                    busy.append(_start(plan.profile, task, scratch, slot))
                if settings.leave and not busy:
                    outcome.left += [task.job.label for task in queue]
                    break
                for running in [w for w in busy if _ended(w, settings.timeout)]:
                    busy.remove(running)
                    free.append(running.slot)
                    again = _settle(running, settings, outcome)
                    if again is not None:
                        queue.append(again)
                        continue
                    bar.update()
                    if running.task.job.label not in outcome.failed:
                        made[running.task.job.label] = running.task.folder
                for running in busy:
                    _show(running)
                    if time.monotonic() - running.renewed > leases.RENEWED:
                        running.renewed = time.monotonic()
                        leases.renew(worker.lease_of(running.task.folder), running.process.pid)
                time.sleep(TICK)
        finally:
            for running in busy:
                _end(running)
    return made


def _next(queue: deque[Task], last: bool) -> Task | None:
    """The first task of the queue that nobody else is making, as far as we know.

    With ``last`` it looks at all at once: two that end together would otherwise leave the page to each other.
    """
    for task in list(queue):
        if task.not_before > time.monotonic() and not last:
            continue
        # Checked here: a worker takes most of a second to start and find it out.
        if worker.is_taken(task.folder):
            task.not_before = time.monotonic() + 1.0
            continue
        queue.remove(task)
        return task
    return None


def _start(profile: str, task: Task, scratch: Path, slot: tuple[int, dict[str, str]]) -> Worker:
    place = Path(tempfile.mkdtemp(dir=scratch))
    worker.write_order(place / "order.json", task.job, task.key, profile, task.folder)
    env = slot[1] | {
        "LKE_PROGRESS": str(place / "progress"),
        "LKE_LEDGER": str(place / "ledger"),
        "JUPYTER_RUNTIME_DIR": str(place),
    }
    task.folder.parent.mkdir(parents=True, exist_ok=True)
    process = _process(place / "order.json", place / "output", env)
    form = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} facts [{elapsed}]"
    bar = tqdm(total=1, position=slot[0] + 1, leave=False, disable=None, bar_format=form)
    bar.set_description(visible(task.job.label))
    task.tries += 1
    return Worker(task, process, place, time.monotonic(), slot, bar)


def _process(order: Path, output: Path, env: dict[str, str]) -> Process:
    """A worker for an order: forked where that is safe, otherwise a fresh process."""
    output.touch()
    if FRESH == WORKER and (forked := forkserver.start(order, output, env)) is not None:
        return forked
    with open(output, "ab") as words:
        return subprocess.Popen(
            [*WORKER, str(order)],
            stdin=subprocess.PIPE,  # its end informs the worker that the driver is gone
            stdout=words,
            stderr=subprocess.STDOUT,
            env=env,
            start_new_session=True,  # Ctrl-C is for the driver, which ends its workers
        )


def _ended(running: Worker, timeout: float | None) -> bool:
    if timeout is not None and time.monotonic() - running.started > timeout:
        _end(running)
    return running.process.poll() is not None


def _end(running: Worker) -> None:
    """End a worker at once; its kernel then ends by itself."""
    if running.process.poll() is None:
        # It may have ended just now; macOS does not let us kill a process that only waits for its parent.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(running.process.pid, signal.SIGKILL)
    running.process.wait()
    leases.drop(worker.lease_of(running.task.folder), running.process.pid)  # of one that was killed
    if running.process.stdin is not None:
        running.process.stdin.close()
    running.bar.close()


def _show(running: Worker) -> None:
    """Draw the bar over facts, which the job itself cannot show."""
    if running.bar.disable or (seen := progress.read_bar(running.place / "progress")) is None:
        return
    what, running.bar.n, running.bar.total = seen
    running.bar.set_description(visible(f"{running.task.job.label}: {what}"))


def _settle(running: Worker, settings: Settings, outcome: Outcome) -> Task | None:
    """Record the result of a task. Returns the task if it is to be tried again."""
    task, code = running.task, running.process.returncode
    _end(running)
    if code == worker.BUSY:
        task.tries -= 1
        task.not_before = time.monotonic() + 1.0
        return task
    reason = "" if code in (worker.FINISHED, worker.FOUND) else _reason(running, settings.timeout)
    done = runs.manifest(task.folder)
    if done is not None:
        ours = code == worker.FINISHED  # or others have made it, whatever the result of this try
        (outcome.finished if ours else outcome.others).append(task.job.label)
        tokens = f", {done['tokens_forwarded']:,} tokens forwarded" if done["chunks"] else ""
        made = f"{done['seconds']:.0f} s{tokens}" if ours else "made by others meanwhile"
        _say(f"{task.job.label}: {made}")
        return None
    reason = reason or _reason(running, settings.timeout)
    if code != worker.HOPELESS and task.tries <= settings.retries:
        _say(f"{task.job.label}: {reason}; trying again")
        return task
    seen = f" (see {task.folder})" if task.folder.is_dir() else ""  # a full disk may lack it
    outcome.failed[task.job.label] = f"{reason}{seen}"
    return None


def _reason(running: Worker, timeout: float | None) -> str:
    """Why a worker ended without a manifest, in one line; the reason is kept with the worker's files.

    On a full disk the reason replaces them, which makes room, or an empty file records the failure.
    """
    task, code = running.task, running.process.returncode
    output = (running.place / "output").read_text(errors="replace").strip()
    told = runs.failure(task.folder) if code in (worker.FAILED, worker.HOPELESS) else None
    if told is not None:
        reason = told["error"]
    elif timeout is not None and time.monotonic() - running.started > timeout:
        reason = f"took longer than {timeout:g} s"
    elif code < 0:
        reason = f"the worker was killed by signal {-code} (out of memory?)"
    else:
        reason = (output.splitlines() or [f"the worker ended with exit code {code}"])[-1]
    kept = told is not None
    stem, pid = worker.stem_of(task.folder), running.process.pid
    for attempt in storage.parts_of(task.folder.parent, stem, pid):
        kept = worker.keep_failed(attempt, task.folder, reason) or kept
    with suppress(OSError):  # a full disk: the reason is shown all the same
        if not kept and runs.manifest(task.folder) is None:
            task.folder.mkdir(exist_ok=True)
            (task.folder / "failure.json").touch()  # an empty one takes no room
            runs.record_failure(task.folder, reason)
        # For example the last words of a kernel that crashed.
        if output and task.folder.is_dir() and runs.manifest(task.folder) is None:
            with open(task.folder / "log.txt", "a", encoding="utf-8") as log:
                log.write(f"{output}\n")
    return reason


# --- what surrounds it ----------------------------------------------------------------------------


@contextmanager
def _stoppable() -> Iterator[None]:
    """Within, SIGTERM, as a cluster sends it before the end, has the effect of Ctrl-C."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _short() -> str | None:
    """A folder with a short path: a socket's path may have 100 characters at most."""
    return "/tmp" if os.path.isdir("/tmp") else None


def _say(line: str) -> None:
    tqdm.write(visible(line), sys.stderr)
