"""Fork server: processes that begin with everything imported, forked from one that did so once.

A notebook needs two processes, a worker and its kernel, and each spends seconds on imports before its
first line of work. Here the fork server of the standard library, which the first run starts, forks the
worker, and the worker forks its kernel. They do the same as fresh processes. It is for Linux without CUDA:
forking is not safe on macOS, nor where a device may be in use. There each run takes fresh processes. It
also takes them, with a line that says so, when lkecore's source has changed since the server began.
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

# These settings keep memory and numbers from using threads of their own: a process with several is not
# forked safely. They also silence the debugger of Jupyter's kernels, which nobody uses here.
ALONE = {
    "OMP_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}
IMPORTED = ["lkecore.runs.preload"]
INLINE = "module://matplotlib_inline.backend_inline"
NAME = "lkecore-forked"  # the name of our kernels for Jupyter's client


class Forked:
    """A process of `multiprocessing`, with the methods of `subprocess.Popen` that its users need here.

    ``output`` is a file for :meth:`communicate`, into which the process writes; it is deleted there.
    """

    stdin = stdout = stderr = None

    def __init__(self, process: Any, output: Path | None = None) -> None:
        self._process = process  # has a pipe whose end informs the process that we are gone
        self._output = output
        process.start()
        self.pid = process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self.returncode

    def communicate(self) -> tuple[str, None]:
        """The text that the process has written, when it has ended."""
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
    """A worker for an order, as ``python -m lkecore.runs.worker`` is; None where a fresh one is needed."""
    if not _ready(env):
        return None
    server = multiprocessing.get_context("forkserver")
    return Forked(server.Process(target=_work, args=(str(order), str(output), env)))


def trainer(name: str, env: dict[str, str]) -> Forked | None:
    """A trainer of a lab model, as ``python -m lkecore.train.lab`` is; None where a fresh one is needed."""
    if not _ready(env):
        return None
    file, output = tempfile.mkstemp(prefix="lke-")
    os.close(file)
    server = multiprocessing.get_context("forkserver")
    return Forked(server.Process(target=_train, args=(name, output, env)), Path(output))


def begin(env: dict[str, str]) -> None:
    """Start the server where :func:`start` will need it: it imports while the caller does other work."""
    if _safe(env):
        _source()


def _ready(env: dict[str, str]) -> bool:
    """Whether a process can be forked, from a server that has imported the current source."""
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


@functools.cache  # the server begins with it, and runs as long as this process
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
    # The kernel is forked now, while there is one thread.
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
    except BaseException:  # or the interpreter would wait for the kernel, and that for its order
        traceback.print_exc()
        code = worker.FAILED
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a kernel that still runs notices it


def _train(name: str, output: str, env: dict[str, str]) -> None:
    """In a forked process: train a model of the lab. Its bar is drawn where that of a fresh one would be."""
    from lkecore.train import lab

    os.setsid()
    os.dup2(os.open(output, os.O_WRONLY), 1)
    os.environ.clear()
    os.environ.update(env)
    _take_threads(env)
    _end_with_the_parent()
    sys.argv = ["lab", name]
    sys.exit(lab.main())  # not os._exit: bars have a lock that must be released


def _kernel(inbox: Any, outbox: Any) -> None:
    """In a process that a worker has forked: wait, then do what ``python -m ipykernel_launcher`` does."""
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
    # matplotlib reads the variable on import, which was long ago.
    matplotlib.rcParams["backend"] = env.get("MPLBACKEND", INLINE)
    sys.argv = ["ipykernel_launcher", *arguments]
    kernelapp.launch_new_instance()


def _take_threads(env: dict[str, str]) -> None:
    """Give torch the number of threads in an environment, which it read when it was imported.

    This must be done in any case, and while there is one thread. Torch makes its pool anew after a fork;
    where the first two threads that compute do so at once, one of them finds none ("Invalid thread pool!").
    Where torch is not imported yet, it will read the environment itself.
    """
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(int(env.get("OMP_NUM_THREADS", torch.get_num_threads())))


def _end_with_the_parent() -> None:
    """From now on: end at once, with exit code 1, when the parent process ends."""
    sentinel = multiprocessing.parent_process().sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
