"""Warm: processes that begin with everything imported, forked from one that did so once.

A notebook needs two processes, a worker and its kernel, and each spends seconds on imports before its
first line of work. Here the worker is forked by the fork server of the standard library, which the
first run starts, and the kernel by its worker. What they do is the same. It is for Linux without CUDA:
to fork is not safe on macOS, nor where a device may be in use; there each run takes fresh processes,
and so it does, with a line that says so, when lkecore's source has changed since the server began.
"""

import functools
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import traceback
from importlib.metadata import EntryPoint
from multiprocessing import connection, forkserver
from pathlib import Path
from typing import Any

from lkecore import progress, runs

# Without threads of its own for memory or for numbers: a process with several is not forked safely. And
# without a word from the debugger of Jupyter's kernels, which nobody uses here.
ALONE = {
    "OMP_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}
IMPORTED = ["lkecore.runs.preload"]
INLINE = "module://matplotlib_inline.backend_inline"
NAME = "lkecore-forked"  # by which Jupyter's client knows our kernels


class Forked:
    """A process of `multiprocessing`, with what users of `subprocess.Popen` need of it here.

    ``output`` is a file for :meth:`communicate`, into which the process writes; it is deleted there.
    """

    stdin = stdout = stderr = None

    def __init__(self, process: Any, output: Path | None = None) -> None:
        self._process = process  # it holds a pipe whose end tells the process that we are gone
        self._output = output
        process.start()
        self.pid = process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, negative for a signal; None while it is there."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self.returncode

    def communicate(self) -> tuple[str, None]:
        """What it has written, when it has ended."""
        self.wait()
        said = self._output.read_text(encoding="utf-8", errors="replace")
        self._output.unlink()
        return said, None

    def send_signal(self, signum: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def start(order: Path, output: Path, env: dict[str, str]) -> Forked | None:
    """A worker for an order, as ``python -m lkecore.runs.worker`` is; None where a fresh one is due."""
    if not _ready(env):
        return None
    server = multiprocessing.get_context("forkserver")
    return Forked(server.Process(target=_work, args=(str(order), str(output), env)))


def trainer(name: str, env: dict[str, str]) -> Forked | None:
    """A trainer of a lab model, as ``python -m lkecore.train.lab`` is; None where a fresh one is due."""
    if not _ready(env):
        return None
    file, output = tempfile.mkstemp(prefix="lke-")
    os.close(file)
    server = multiprocessing.get_context("forkserver")
    return Forked(server.Process(target=_train, args=(name, output, env)), Path(output))


def begin(env: dict[str, str]) -> None:
    """Start the server where :func:`start` will want it: it imports while the caller does other work."""
    if _safe(env):
        _source()


def _ready(env: dict[str, str]) -> bool:
    """Whether a process can be forked, from a server that has imported today's source."""
    if not _safe(env):
        return False
    if _source() != runs.source_digest():
        progress.tell_once(
            "lkecore has changed since this command began: its runs now take fresh processes"
        )
        return False
    return True


def _safe(env: dict[str, str]) -> bool:
    return sys.platform == "linux" and not env.get("CUDA_VISIBLE_DEVICES")


@functools.cache  # the server begins with it, and stays as long as this process
def _source() -> str:
    """The digest of the source that the server has imported."""
    found = runs.source_digest()
    forkserver.set_forkserver_preload(IMPORTED)
    before = {name: os.environ.get(name) for name in ALONE}
    os.environ.update(ALONE)
    try:
        forkserver.ensure_running()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return found


def _work(order: str, output: str, env: dict[str, str]) -> None:
    """In a forked process: carry out an order, with a kernel that is forked from it."""
    from jupyter_client.provisioning.factory import KernelProvisionerFactory as Factory

    from lkecore.runs import forked_kernel, worker

    os.setsid()
    words = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(words, 1)
    os.dup2(words, 2)
    os.environ.clear()
    os.environ.update(env)
    # Now, while there is one thread.
    inbox, outbox = multiprocessing.Pipe(duplex=False)
    plain = multiprocessing.get_context("fork")
    kernel = Forked(plain.Process(target=_kernel, args=(inbox, outbox)))
    forked_kernel.WAITING.append((kernel, outbox))
    inbox.close()
    _take_threads(env)
    _end_with_the_parent()
    factory = Factory.instance()
    module = forked_kernel.__name__
    factory.provisioners[NAME] = EntryPoint(NAME, f"{module}:ForkedKernel", Factory.GROUP_NAME)
    factory.default_provisioner_name = NAME
    try:
        code = worker.carry_out(Path(order))
    except BaseException:  # else the interpreter would wait for the kernel, and that for its order
        traceback.print_exc()
        code = worker.FAILED
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a kernel that is still there sees it


def _train(name: str, output: str, env: dict[str, str]) -> None:
    """In a forked process: train a model of the lab. Its bar is drawn where that of a fresh one is."""
    from lkecore.train import lab

    os.setsid()
    os.dup2(os.open(output, os.O_WRONLY), 1)
    os.environ.clear()
    os.environ.update(env)
    _take_threads(env)
    _end_with_the_parent()
    sys.argv = ["lab", name]
    sys.exit(lab.main())  # and not at once: bars have a lock that is to be given back


def _kernel(inbox: Any, outbox: Any) -> None:
    """In a process that a worker has forked: wait, and be what ``python -m ipykernel_launcher`` is."""
    import matplotlib
    from ipykernel import kernelapp

    outbox.close()
    try:
        arguments, env, folder = inbox.recv()
    except EOFError:  # the worker had nothing to do
        os._exit(0)
    os.setsid()
    _take_threads(env)
    _end_with_the_parent()
    os.environ.clear()
    os.environ.update(env)
    if folder:
        os.chdir(folder)
    # matplotlib reads the variable when it is imported, which was long ago.
    matplotlib.rcParams["backend"] = env.get("MPLBACKEND", INLINE)
    sys.argv = ["ipykernel_launcher", *arguments]
    kernelapp.launch_new_instance()


def _take_threads(env: dict[str, str]) -> None:
    """Give torch as many threads as an environment says, which it read when it was imported.

    In any case, and while there is one thread: torch makes its pool anew after a fork, and where the first
    two threads that compute do so at once, one of them finds none ("Invalid thread pool!"). Where torch is
    not there yet, it will read the environment itself.
    """
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(int(env.get("OMP_NUM_THREADS", torch.get_num_threads())))


def _end_with_the_parent() -> None:
    """From now on: end at once, with exit code 1, when the process that wanted this one ends."""
    sentinel = multiprocessing.parent_process().sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
