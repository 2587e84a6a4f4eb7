"""Grid: make the runs and pages of a plan, each in a process of its own, several at a time if asked.

The driver keeps no state but the folder of runs. What is finished there is never made again, so an
interrupted ``lke run`` goes on where it stopped, and several of them may work on one folder.
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

from filelock import Timeout
from tqdm import tqdm

from lkecore import job, prepare, progress, runs
from lkecore.plan import Plan, page_of
from lkecore.rows import BadInput

WORKER = [sys.executable, "-m", "lkecore.job"]
TICK = 0.1  # seconds between two looks at the workers


@dataclass(frozen=True)
class Settings:
    """How a plan is run. Nothing here is part of a run's key."""

    jobs: int | None = None  # at a time; None: one, or one for each group of devices
    threads: int | None = None  # of each job; None: cores divided by jobs
    devices: tuple[str, ...] | None = None  # CUDA ids; None: those that there are
    devices_per_job: int = 1
    retries: int = 1  # of a job that failed
    timeout: float | None = None  # seconds that a job may take
    shard: tuple[int, int] = (1, 1)  # the i-th of n parts of the plan, for job arrays
    offline: bool = False


@dataclass
class Outcome:
    """What became of each job, by label."""

    finished: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)  # found finished
    failed: dict[str, str] = field(default_factory=dict)  # why, in one line


@dataclass
class Task:
    """A job in the queue."""

    job: runs.Job
    key: str
    folder: Path
    tries: int = 0
    not_before: float = 0.0  # another driver was at it: look again then


@dataclass
class Worker:
    """A process that makes a task."""

    task: Task
    process: subprocess.Popen
    place: Path  # its order, sockets, output, bar and ledger
    started: float
    slot: tuple[int, dict[str, str]]  # its line on the screen, and what it may use
    bar: tqdm


def execute(plan: Plan, target: Path, settings: Settings | None = None) -> Outcome:
    """Make the runs of a plan that are not finished, then the pages over them.

    Models and facts are prepared first, each once. A job that fails is tried again
    (``settings.retries``); then it stays, with its log and its notebook, and the others go on. A
    page is made when all runs behind it are finished; a shard makes none.

    Raises :class:`BadInput`, before anything runs, for a folder of runs from a newer version and,
    with ``offline``, for models or facts that are not on this machine. Ctrl-C and SIGTERM end all
    workers and raise KeyboardInterrupt; nothing finished is lost.
    """
    settings = settings or Settings()
    runs.check_format(target)
    if settings.offline and (absent := prepare.missing(plan.jobs)):
        raise BadInput(f"not on this machine: {', '.join(absent)}; fetch with a network: lke fetch")
    i, n = settings.shard
    mine = plan.jobs[i - 1 :: n]
    outcome = Outcome()
    # A kernel may write there for a second after its worker was ended.
    temporary = tempfile.TemporaryDirectory(prefix="lke-", dir=_short(), ignore_cleanup_errors=True)
    with _stoppable(), temporary as scratch:
        environments = _environments(settings)
        outcome.failed |= prepare.prepare(mine, environments)
        ready = [each for each in mine if each.label not in outcome.failed]
        made = _make(plan, ready, target, settings, environments, Path(scratch), outcome)
        pages = []
        for row in plan.rows if n == 1 else ():
            folders = [made[each.label] for each in row.jobs if each.label in made]
            if row.has_page and len(folders) == len(row.jobs):
                pages.append(page_of(row, folders))
            elif row.has_page:
                absent = len(row.jobs) - len(folders)
                outcome.failed[f"{row.whole.label} page"] = (
                    f"not made, since {absent} of the {len(row.jobs)} runs behind it are missing"
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
            outcome.before.append(each.label)
            made[each.label] = task.folder
    if not queue:
        return made
    free: deque[tuple[int, dict[str, str]]] = deque(enumerate(environments))
    busy: list[Worker] = []
    with tqdm(total=len(queue), unit="job", disable=None) as bar:
        try:
            while queue or busy:
                while free and (task := _next(queue)) is not None:
                    slot = free.popleft()
                    busy.append(_start(plan.profile, task, scratch, slot))
                for worker in [w for w in busy if _ended(w, settings.timeout)]:
                    busy.remove(worker)
                    free.append(worker.slot)
                    again = _settle(worker, settings, outcome)
                    if again is not None:
                        queue.append(again)
                        continue
                    bar.update()
                    if worker.task.job.label not in outcome.failed:
                        made[worker.task.job.label] = worker.task.folder
                for worker in busy:
                    _show(worker)
                time.sleep(TICK)
        finally:
            for worker in busy:
                _end(worker)
    return made


def _next(queue: deque[Task]) -> Task | None:
    """The first task of the queue that nobody else is at, as far as we know."""
    for task in list(queue):
        if task.not_before > time.monotonic():
            continue
        try:  # asked here: a worker takes most of a second to start and find it out
            with job.lock_of(task.folder).acquire(timeout=0):
                pass
        except Timeout:
            task.not_before = time.monotonic() + 1.0
            continue
        queue.remove(task)
        return task
    return None


def _groups(settings: Settings) -> list[str | None]:
    """What each job at a time may use: "0", "1", ... or "0,1", "2,3", ...; "" hides all devices.

    None leaves the environment as it is, on a machine that has no devices.
    """
    devices = settings.devices if settings.devices is not None else cuda_devices()
    size = settings.devices_per_job
    if settings.devices_per_job > max(1, len(devices)):
        raise BadInput(f"{size} devices for each job asked for, and there are {len(devices)}")
    groups: list[str | None] = [
        ",".join(devices[i : i + size]) for i in range(0, len(devices) - size + 1, size)
    ] or [None if settings.devices is None else ""]
    # More jobs than groups share them in turn: small models leave a large device idle.
    return [groups[i % len(groups)] for i in range(settings.jobs or len(groups))]


def cores() -> int:
    """Processor cores that this process may use: on a cluster, fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cuda_devices() -> tuple[str, ...]:
    """Ids of the CUDA devices that this process may use, without loading PyTorch."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return tuple(d.strip() for d in given.split(",") if d.strip() not in ("", "-1"))
    command = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(done.stdout.split()) if done.returncode == 0 else ()


def _environments(settings: Settings) -> list[dict[str, str]]:
    """What each process at a time may use, be it a trainer or a worker."""
    groups = _groups(settings)
    threads = settings.threads or max(1, cores() // len(groups))
    return [_environment(settings, group, threads) for group in groups]


def _environment(settings: Settings, devices: str | None, threads: int) -> dict[str, str]:
    env = dict(os.environ)
    # The user's own OMP_NUM_THREADS stands unless --threads says otherwise.
    if settings.threads or "OMP_NUM_THREADS" not in env:
        env["OMP_NUM_THREADS"] = str(threads)
    if devices is not None:
        env["CUDA_VISIBLE_DEVICES"] = devices
        if "," in devices:
            env.setdefault("LKE_DEVICE", "auto")  # spread a model over all of its devices
    if settings.offline:
        env["HF_HUB_OFFLINE"] = "1"
    return env


def _start(profile: str, task: Task, scratch: Path, slot: tuple[int, dict[str, str]]) -> Worker:
    place = Path(tempfile.mkdtemp(dir=scratch))
    job.write_order(place / "order.json", task.job, task.key, profile, task.folder)
    env = slot[1] | {
        "LKE_PROGRESS": str(place / "progress"),
        "LKE_LEDGER": str(place / "ledger"),
        "JUPYTER_RUNTIME_DIR": str(place),
    }
    task.folder.parent.mkdir(parents=True, exist_ok=True)
    with open(place / "output", "wb") as output:
        process = subprocess.Popen(
            [*WORKER, str(place / "order.json")],
            stdin=subprocess.PIPE,  # its end tells the worker that the driver is gone
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            start_new_session=True,  # Ctrl-C is for the driver, which ends its workers
        )
    form = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} facts [{elapsed}]"
    bar = tqdm(total=1, position=slot[0] + 1, leave=False, disable=None, bar_format=form)
    bar.set_description(task.job.label)
    task.tries += 1
    return Worker(task, process, place, time.monotonic(), slot, bar)


def _ended(worker: Worker, timeout: float | None) -> bool:
    if timeout is not None and time.monotonic() - worker.started > timeout:
        _end(worker)
    return worker.process.poll() is not None


def _end(worker: Worker) -> None:
    """End a worker at once; its kernel ends by itself when it is gone."""
    if worker.process.poll() is None:
        # It may have ended just now; macOS does not let us kill what only waits for its parent.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.wait()
    worker.process.stdin.close()
    worker.bar.close()


def _show(worker: Worker) -> None:
    """Draw the bar over facts that the job itself cannot show."""
    if worker.bar.disable or (seen := progress.read_bar(worker.place / "progress")) is None:
        return
    what, worker.bar.n, worker.bar.total = seen
    worker.bar.set_description(f"{worker.task.job.label}: {what}")


def _settle(worker: Worker, settings: Settings, outcome: Outcome) -> Task | None:
    """Note how a task went. Returns it if it is to be tried again."""
    task, code = worker.task, worker.process.returncode
    _end(worker)
    if code == job.BUSY:
        task.tries -= 1
        task.not_before = time.monotonic() + 1.0
        return task
    if code == job.FINISHED and (done := runs.manifest(task.folder)) is not None:
        outcome.finished.append(task.job.label)
        tokens = f", {done['tokens_forwarded']:,} tokens forwarded" if done["chunks"] else ""
        _say(f"{task.job.label}: {done['seconds']:.0f} s{tokens}")
        return None
    reason = _reason(worker, settings.timeout)
    if code != job.HOPELESS and task.tries <= settings.retries:
        _say(f"{task.job.label}: {reason}; trying again")
        return task
    outcome.failed[task.job.label] = f"{reason} (see {task.folder})"
    return None


def _reason(worker: Worker, timeout: float | None) -> str:
    """Why a worker ended without a manifest, in one line; it is kept with what the worker left."""
    task, code = worker.task, worker.process.returncode
    output = (worker.place / "output").read_text(errors="replace").strip()
    told = runs.failure(task.folder) if code in (job.FAILED, job.HOPELESS) else None
    if told is not None:
        reason = told["error"]
    elif timeout is not None and time.monotonic() - worker.started > timeout:
        reason = f"took longer than {timeout:g} s"
    elif code < 0:
        reason = f"the worker was killed by signal {-code} (out of memory?)"
    else:
        reason = (output.splitlines() or [f"the worker ended with exit code {code}"])[-1]
    try:
        with job.lock_of(task.folder).acquire(timeout=0):
            for attempt in task.folder.parent.glob(f".{task.folder.name}.*"):
                (attempt / "manifest.json").unlink(missing_ok=True)  # killed on the last step
                runs.record_failure(attempt, reason)
                job.move(attempt, task.folder)
            if output and task.folder.is_dir():  # such as the last words of a kernel that crashed
                with open(task.folder / "log.txt", "a", encoding="utf-8") as log:
                    log.write(f"{output}\n")
    except (OSError, Timeout):
        pass  # a full disk, or another driver is at it by now: the reason is shown all the same
    return reason


# --- what surrounds it ----------------------------------------------------------------------------


@contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM, as a cluster sends it before the end, is as good as Ctrl-C."""

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
    tqdm.write(line, sys.stderr)
