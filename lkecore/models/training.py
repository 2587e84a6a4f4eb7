"""Training of lab models: each in its own process, as many side by side as there is room for."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lkecore.errors import BadInput
from lkecore.models import lab
from lkecore.progress import tell

# A function of a model's name and an environment; it returns a process like subprocess.Popen's, or None.
Fork = Callable[[str, dict[str, str]], Any]


def train(
    names: Iterable[str],
    environments: Sequence[dict[str, str]] | None = None,
    fork: Fork | None = None,
) -> dict[str, str]:
    """Train those models of the lab that are not here, each in its own process.

    As many run side by side as there are ``environments``, which say what each may use (None: one, with the
    environment of this process). ``fork(name, environment)`` may start a trainer that has imported everything
    (:func:`lkecore.runs.forkserver.trainer`); if it returns None, a fresh one begins.

    Returns {name: why not} of those that could not be trained, or unpacked if they ship. The work before a
    stop is kept, and the next call goes on from there.
    """
    waiting: list[str] = []
    failed: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            waiting += [] if lab.folder(name).is_dir() else [name]
        except BadInput as error:
            failed[name] = str(error)
    # The largest models come first, so that none is left alone at the end. Tuned ones wait for their base.
    waiting.sort(key=lambda name: (name.endswith("-tuned"), -lab.size(name)))
    free = list(environments or [dict(os.environ)])
    running: dict[str, tuple[Any, dict[str, str]]] = {}
    try:
        while waiting or running:
            while waiting and free:
                name, env = waiting.pop(0), free.pop(0)
                tell(f"training {name}")
                # Bars side by side would write over each other.
                running[name] = _trainer(name, env, fork, quiet=bool(environments)), env
            for name in [name for name, (each, _) in running.items() if each.poll() is not None]:
                process, env = running.pop(name)
                free.append(env)
                said = process.communicate()[0].strip().splitlines()
                if process.returncode:
                    failed[name] = said[-1] if said else _ended(name, process.returncode)
            time.sleep(0.1)
    finally:
        for process, _ in running.values():
            process.kill()
            process.communicate()
    return failed


def _ended(name: str, code: int) -> str:
    how = f"exit code {code}"
    if code < 0:
        how = f"killed by signal {-code}, out of memory?"
    return f"model {name} could not be trained ({how}); it goes on when started again"


def _trainer(name: str, env: dict[str, str], fork: Fork | None = None, *, quiet: bool) -> Any:
    """A process that trains, and ends when this one does: a fresh one's input is a pipe from here."""
    # The trainer is none of the processes of an accelerate launch that may have started this one.
    own = {
        key: value
        for key, value in env.items()
        if not key.endswith(("RANK", "WORLD_SIZE")) and not key.startswith("MASTER_")
    }
    if sys.platform == "darwin":
        own.setdefault("LKE_DEVICE", "cpu")  # models are asked there as well, by default
    if own.get("LKE_DEVICE", "").startswith("cuda:"):
        own["ACCELERATE_TORCH_DEVICE"] = own["LKE_DEVICE"]
    if quiet:
        own["LKE_PROGRESS"] = os.devnull
    if fork is not None and (forked := fork(name, own)) is not None:
        return forked
    return subprocess.Popen(
        [sys.executable, "-m", "lkecore.train.lab", name, "--end-with-parent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=own,
        start_new_session=True,  # Ctrl-C is for this process, which ends the others
    )


def trained(name: str) -> Path:
    if reason := train([name]).get(name):
        raise BadInput(reason)
    folder = lab.folder(name)
    if not folder.is_dir():  # the trainer read newer source than this process has
        raise BadInput(f"model {name}: lkecore was changed meanwhile; start this process again")
    lab.checked(folder, lab.parse(name).world)
    return folder
