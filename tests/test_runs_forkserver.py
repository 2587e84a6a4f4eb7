"""Warm starts: forked workers and kernels make what fresh ones make, and end when these would."""

import json
import os
import signal
import sys
import time
from collections.abc import Sequence

import helpers
import psutil
import pytest
from projects import alive, code, make, plan, wait_for

from lkecore import progress, runs
from lkecore.models import lab, training
from lkecore.runs import devices, forkserver, grid
from lkecore.train import lab as trainer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fresh processes elsewhere")
# The first to compute are several threads: without a pool made before, one run in two fails there.
SEEN = """
import os, threading, torch, pandas as pd
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
from matplotlib import pyplot as plt
from lkecore import answers, figures
figures.style()
fig, ax = plt.subplots()
ax.plot([1, 2])
figures.glue_figure(fig, "fig-x", pd.DataFrame({"x": [1, 2]}))
answers.save(pd.DataFrame({"name": names, "threads": torch.get_num_threads()}), "answers.parquet")
print("saw", torch.get_num_threads(), os.environ["MY_OWN"], __name__)
"""


def made(folder, monkeypatch, *, fresh: bool, names: Sequence[str] = "xy"):
    """A project with a run for each of ``names`` that keeps a table and a figure; its runs folder."""
    folder.mkdir(exist_ok=True)
    row = {"parameters": {"names": [*names]}, "each": ["names"]}
    project = make(folder, {"a": code(SEEN)}, a=row)
    if fresh:
        monkeypatch.setattr(forkserver, "start", lambda *_: None)
    outcome = grid.execute(plan(project), project / "runs", devices.Settings(jobs=2, threads=2))
    assert not outcome.failed
    return project / "runs"


def outputs(folder):
    cells = json.loads((folder / "notebook.ipynb").read_text())["cells"]
    return [each["data"] for c in cells for each in c.get("outputs", []) if "data" in each]


def test_forked_runs_leave_the_same_files_as_fresh_ones(tmp_path, monkeypatch):
    forks, true = [], forkserver.start
    monkeypatch.setenv("MY_OWN", "here")
    monkeypatch.setattr(forkserver, "start", lambda *given: forks.append(true(*given)) or forks[-1])
    forked = made(tmp_path / "warm", monkeypatch, fresh=False)
    assert [type(each) for each in forks] == [forkserver.Forked] * 3  # two runs and their page
    # Fresh processes take seconds: of the one run that has the same name in both projects.
    fresh = made(tmp_path / "fresh", monkeypatch, fresh=True, names="x")
    logs = [(run / "log.txt").read_text() for run in forked.glob("a-*")]
    assert len(logs) == 3 and all("saw 2 here __main__" in log for log in logs)
    [name] = [p.name for p in fresh.glob("a-*")]
    for file in ("answers.parquet", "fig-x.csv"):
        assert (forked / name / file).read_bytes() == (fresh / name / file).read_bytes()
    figures = [
        [data for data in outputs(top / name) if any("svg" in kind for kind in data)]
        for top in (forked, fresh)
    ]
    assert figures[0] == figures[1] != []


def test_a_forked_worker_that_breaks_off_says_why_and_does_not_wait_for_its_kernel(tmp_path):
    """As on a full disk, where it can make no folder: its kernel has not even begun."""
    output = tmp_path / "output"
    broken = forkserver.start(
        tmp_path / "gone", output, dict(os.environ) | {"CUDA_VISIBLE_DEVICES": ""}
    )
    assert broken.wait(60) == 1
    assert output.read_text().strip().splitlines()[-1].startswith("FileNotFoundError: [Errno 2]")


def test_a_forked_trainer_leaves_the_same_model_as_a_fresh_process(tmp_path, monkeypatch):
    """Byte for byte. pytest's own process began fresh, and trains the other one.

    The network is one of the smoke profile; of a world of next to no text it takes five steps.
    """
    name, env = "lab:tiny-0/0.15m", dict(os.environ) | {"OMP_NUM_THREADS": "1"}
    helpers.tiny_lab(monkeypatch)
    monkeypatch.setattr(forkserver, "_train", helpers.tiny_train)
    forks, true = [], forkserver.trainer
    monkeypatch.setattr(
        forkserver, "trainer", lambda *given: forks.append(true(*given)) or forks[-1]
    )
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "forked"))
    env["LKECORE_CACHE"] = os.environ["LKECORE_CACHE"]
    assert training.train([name], [env], forkserver.trainer) == {}
    forked = lab.folder(name)
    assert [type(each) for each in forks] == [forkserver.Forked] and forked.is_dir()
    assert forks[0].poll() == 0 and not forks[0]._output.exists()
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "fresh"))
    fresh = trainer.make(name)
    files = {path.name for path in fresh.iterdir()}
    assert files == {path.name for path in forked.iterdir()} and fresh != forked
    for file in files - {"README.md"}:  # which says how many seconds it took
        assert (fresh / file).read_bytes() == (forked / file).read_bytes(), file


def test_a_forked_trainer_that_is_killed_is_told_and_one_that_nobody_waits_for_is_ended(
    tmp_path, monkeypatch
):
    name, env = "lab:smoke-1/0.15m", dict(os.environ) | {"LKECORE_CACHE": str(tmp_path)}
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    begun = []

    def killed(*given):
        begun.append(forkserver.trainer(*given))
        os.kill(begun[-1].pid, signal.SIGKILL)
        return begun[-1]

    assert training.train([name], [env], killed) == {
        name: f"model {name} could not be trained (killed by signal 9, out of memory?); it goes on "
        "when started again"
    }

    def stop(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(training.time, "sleep", stop)
        training.train(
            [name], [env], lambda *given: begun.append(forkserver.trainer(*given)) or begun[-1]
        )
    assert [each.returncode for each in begun] == [-signal.SIGKILL] * 2
    assert not any(each._output.exists() or alive(each.pid) for each in begun)


def test_where_forks_are_not_safe_or_the_source_has_changed_a_fresh_one_is_due(
    tmp_path, monkeypatch, capsys
):
    order, output = tmp_path / "order.json", tmp_path / "output"
    env = dict(os.environ)
    with monkeypatch.context() as patch:
        patch.setattr(forkserver, "_source", lambda: pytest.fail("begun"))
        forkserver.begin(env | {"CUDA_VISIBLE_DEVICES": "0"})
    assert forkserver.start(order, output, env | {"CUDA_VISIBLE_DEVICES": "0"}) is None
    assert forkserver.trainer("lab:smoke-1/0.15m", env | {"CUDA_VISIBLE_DEVICES": "0"}) is None
    with monkeypatch.context() as patch:
        patch.setattr(forkserver.sys, "platform", "darwin")
        assert forkserver.start(order, output, env) is None
    forkserver.begin(env)
    before = forkserver._source()
    progress.tell_once.cache_clear()
    assert capsys.readouterr().err == ""
    with monkeypatch.context() as patch:
        patch.setattr(runs, "source_digest", lambda: "another")
        assert forkserver.start(order, output, env) is forkserver.start(order, output, env) is None
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
    started = forkserver.start(order, tmp_path / "output", env)
    wait_for(lambda: place.exists() and place.read_text())
    kernel = int(place.read_text())
    assert psutil.Process(kernel).ppid() == started.pid and started.poll() is None
    started.kill()
    assert started.wait() == -signal.SIGKILL
    end = time.monotonic() + 5
    while alive(kernel) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(kernel)
