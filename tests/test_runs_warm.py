"""Warm starts: forked workers and kernels make what fresh ones make, and end when these would."""

import json
import os
import signal
import sys
import time

import psutil
import pytest
from projects import alive, code, make, plan, wait_for

from lkecore import progress, runs
from lkecore.runs import devices, grid, warm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fresh processes elsewhere")
SEEN = """
import os, threading, torch, pandas as pd
from matplotlib import pyplot as plt
from lkecore import answers, figures
figures.style()
fig, ax = plt.subplots()
ax.plot([1, 2])
figures.place(fig, "fig-x", pd.DataFrame({"x": [1, 2]}))
answers.keep(pd.DataFrame({"name": names, "threads": torch.get_num_threads()}), "answers.parquet")
print(os.getpid(), os.environ["LKE_RUN"][-3:] != "", torch.get_num_threads())
"""


def made(folder, monkeypatch, *, fresh: bool, cell: str = SEEN):
    """A project with two runs that keep a table and a figure; its runs folder."""
    folder.mkdir(exist_ok=True)
    project = make(
        folder, {"a": code(cell)}, a={"parameters": {"names": ["x", "y"]}, "each": ["names"]}
    )
    if fresh:
        monkeypatch.setattr(warm, "start", lambda *_: None)
    outcome = grid.execute(plan(project), project / "runs", devices.Settings(jobs=2, threads=2))
    assert not outcome.failed
    return project / "runs"


def outputs(folder):
    cells = json.loads((folder / "notebook.ipynb").read_text())["cells"]
    return [each["data"] for c in cells for each in c.get("outputs", []) if "data" in each]


def test_forked_runs_leave_the_same_files_as_fresh_ones(tmp_path, monkeypatch):
    forks, true = [], warm.start
    monkeypatch.setattr(warm, "start", lambda *given: forks.append(true(*given)) or forks[-1])
    forked = made(tmp_path / "warm", monkeypatch, fresh=False)
    assert [type(each) for each in forks] == [warm.Forked] * 3  # two runs and their page
    fresh = made(tmp_path / "fresh", monkeypatch, fresh=True)
    some = {p.name for p in forked.glob("a-*")}
    assert len(some) == 3
    same_runs = [name for name in some if not name.startswith("a-page")]
    for name in same_runs:
        for file in ("answers.parquet", "fig-x.csv"):
            assert (forked / name / file).read_bytes() == (fresh / name / file).read_bytes()
        figures = [
            [data for data in outputs(top / name) if any("svg" in kind for kind in data)]
            for top in (forked, fresh)
        ]
        assert figures[0] == figures[1] != []


def test_a_forked_kernel_has_the_threads_and_the_environment_of_its_run(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_OWN", "here")
    cell = "import os, torch\nprint('saw', torch.get_num_threads(), os.environ['MY_OWN'], __name__)"
    monkeypatch.setattr(warm, "start", warm.start)
    folder = made(tmp_path, monkeypatch, fresh=False, cell=cell)
    for run in folder.glob("a-*"):
        assert "saw 2 here __main__" in (run / "log.txt").read_text()


TOGETHER = """
import threading, torch
numbers, barrier, wrong = torch.ones(200_000, dtype=torch.bfloat16), threading.Barrier(4), []
def convert():
    barrier.wait()
    try:
        numbers.to(torch.float32)
    except RuntimeError as error:
        wrong.append(error)
threads = [threading.Thread(target=convert) for _ in range(4)]
for each in threads: each.start()
for each in threads: each.join()
assert not wrong, wrong
"""


def test_the_first_to_compute_in_a_forked_kernel_may_be_several_threads(tmp_path, monkeypatch):
    """Without a pool made before, one run in two fails here: so weights are loaded."""
    made(tmp_path, monkeypatch, fresh=False, cell=TOGETHER)


def test_where_forks_are_not_safe_or_the_source_has_changed_a_fresh_one_is_due(
    tmp_path, monkeypatch, capsys
):
    order, output = tmp_path / "order.json", tmp_path / "output"
    env = dict(os.environ)
    with monkeypatch.context() as patch:
        patch.setattr(warm, "_source", lambda: pytest.fail("begun"))
        warm.begin(env | {"CUDA_VISIBLE_DEVICES": "0"})
    assert warm.start(order, output, env | {"CUDA_VISIBLE_DEVICES": "0"}) is None
    with monkeypatch.context() as patch:
        patch.setattr(warm.sys, "platform", "darwin")
        assert warm.start(order, output, env) is None
    warm.begin(env)
    before = warm._source()
    progress.tell_once.cache_clear()
    assert capsys.readouterr().err == ""
    with monkeypatch.context() as patch:
        patch.setattr(runs, "source_digest", lambda: "another")
        assert warm.start(order, output, env) is warm.start(order, output, env) is None
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1 and "has changed" in told[0] and "fresh processes" in told[0]
    assert runs.source_digest() == before


def test_worker_and_kernel_end_when_the_worker_is_killed(tmp_path):
    cell = "import os, time, pathlib\npathlib.Path(r'{place}').write_text(str(os.getpid()))\ntime.sleep(600)"
    place = tmp_path / "pid"
    project = make(tmp_path, {"a": code(cell.format(place=place))})
    job = plan(project).jobs[0]
    from lkecore.runs import worker

    key = runs.run_key(job)
    order = tmp_path / "order.json"
    worker.write_order(order, job, key, "p", runs.run_folder(project / "runs", job, key))
    (project / "runs").mkdir()
    (tmp_path / "jupyter").mkdir()
    env = dict(os.environ) | {
        "LKE_LEDGER": str(tmp_path / "ledger"), "LKE_PROGRESS": str(tmp_path / "bar"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "jupyter"),
    }  # fmt: skip
    started = warm.start(order, tmp_path / "output", env)
    wait_for(lambda: place.exists() and place.read_text())
    kernel = int(place.read_text())
    assert psutil.Process(kernel).ppid() == started.pid and started.poll() is None
    started.kill()
    assert started.wait() == -signal.SIGKILL
    end = time.monotonic() + 5
    while alive(kernel) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(kernel)
