"""Small projects that the tests of runs share: a folder of notebooks and one params file."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import psutil
import yaml

from lkecore import runs
from lkecore.runs import devices, forkserver, grid, worker
from lkecore.runs.plan import read_plan

# Its fork server imports nothing in advance: these notebooks need little of what takes it seconds.
DRIVER = """from lkecore.runs import forkserver
forkserver.IMPORTED = []
from lkecore.cli.main import main
main()
"""
LKE = [sys.executable, "-c", DRIVER]
PARAMETERS = """# %% tags=["parameters"]
n: int = 1
names: list[str] = []
"""
# A worker of the standard library alone. It computes nothing, but it takes a while: so the queue,
# the devices and the pages can be watched without a kernel. It notes what it was given.
IDLE = """
import json, os, pathlib, sys, time
order = json.loads(pathlib.Path(sys.argv[1]).read_text())
folder = pathlib.Path(order["folder"])
begun = time.monotonic()
time.sleep(SECONDS)
env = {name: os.environ.get(name) for name in
       ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "LKE_DEVICE", "HF_HUB_OFFLINE")}
seen = {"name": order["notebook"].split("/")[-1][:-3], "part": order["part"], "begun": begun,
        "ended": time.monotonic(), "reads": [r.split("/")[-1] for r in order["reads"]], **env}
with open(folder.parent / "seen.jsonl", "a") as file:
    file.write(json.dumps(seen) + "\\n")
BEFORE
folder.mkdir(exist_ok=True)
manifest = {"files": {}, "models": {}, "chunks": 0, "started": "today", "seconds": 0.0,
            "nonce": os.getpid()}
(folder / "manifest.json").write_text(json.dumps(manifest))
"""


def idle(*, seconds: float = 0.0, before: str = "") -> list[str]:
    """A command for ``grid.WORKER`` that does no work; ``before`` is code before it is finished."""
    code = IDLE.replace("SECONDS", str(seconds)).replace("BEFORE", before)
    return [sys.executable, "-S", "-c", code]


def ends(each, attempt):
    """In the place of a kernel: a notebook that comes to its end at once."""
    (attempt / "notebook.ipynb").write_text("{}")
    (attempt / "log.txt").write_text("it began")
    return None, 0


def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def fork_workers(monkeypatch, execute=ends, before=lambda: None) -> None:
    """From now on workers are forked from here, which saves them their imports.

    They are the true ones, but for the kernel, in the place of which is ``execute(job, attempt)``; each calls
    ``before`` first.
    """
    fork = multiprocessing.get_context("fork")

    def work(order, output, env):
        os.setsid()
        words = os.open(output, os.O_WRONLY | os.O_APPEND)
        os.environ.update(env)
        worker._execute = execute
        code = worker.FAILED
        try:
            before()
            code = worker.carry_out(order)
        except BaseException:
            os.write(words, traceback.format_exc().encode())
        os._exit(code)

    def start(order, output, env):
        output.touch()
        return forkserver.Forked(fork.Process(target=work, args=(order, output, env)))

    monkeypatch.setattr(grid, "_process", start)


def make(top: Path, notebooks: dict[str, str], **rows: dict) -> Path:
    """A project with one params file ``params/p.yaml``; ``rows`` adds to the row of a notebook."""
    for name in ("notebooks", "params", "book"):
        (top / name).mkdir(exist_ok=True)
    for name, text in notebooks.items():
        (top / "notebooks" / f"{name}.py").write_text(text, encoding="utf-8")
    listed = [{"notebook": name} | rows.get(name, {}) for name in notebooks]
    content = {"profile": "trial", "runs": listed}
    (top / "params" / "p.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return top


def code(*cells: str) -> str:
    """A notebook of these code cells, after a heading and the cell of parameters."""
    return "# %% [markdown]\n# # Title\n#\n# Prose.\n\n" + "\n\n# %%\n".join([PARAMETERS, *cells])


def plan(project: Path):
    return read_plan(project / "params" / "p.yaml")


def execute(project: Path, **settings) -> grid.Outcome:
    return grid.execute(plan(project), project / "runs", devices.Settings(**settings))


def folders(project: Path) -> list[Path]:
    return [runs.run_folder(project / "runs", each) for each in plan(project).jobs]


def page_folder(project: Path) -> Path:
    """The folder of the page over the runs of the first row."""
    row = plan(project).rows[0]
    made = [runs.run_folder(project / "runs", each) for each in row.jobs]
    return runs.run_folder(project / "runs", grid.page_of(row, made))


def edit(project: Path, name: str, old: str, new: str) -> None:
    path = project / "notebooks" / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def start(project: Path, *arguments: str, driver: list[str] = LKE) -> subprocess.Popen:
    """``lke run`` in a process of its own."""
    return subprocess.Popen(
        [*driver, "run", str(project / "params" / "p.yaml"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )


def wait_for(true, seconds: float = 60.0) -> None:
    """Wait until ``true()``; a test fails that has to wait longer than even a slow machine needs."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process is there and works; one that has ended may wait for its parent."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
