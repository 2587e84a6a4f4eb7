"""Grid: what is made, in which order, on which devices. Most workers here do no work at all."""

import json
import lzma
import os
import signal
import subprocess
import sys
import time

import projects
import pytest
from projects import execute, folders, page_folder

from lkecore import facts, runs
from lkecore.book import build
from lkecore.errors import BadInput
from lkecore.models import lab, weights
from lkecore.runs import devices, forecast, grid, prepare, worker

THREE = {"names": ["x", "y", "z"]}


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch):
    """No devices and no number of threads but those that a test names."""
    for name in ("CUDA_VISIBLE_DEVICES", "LKE_DEVICE", "HF_HUB_OFFLINE", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(devices, "cuda_devices", lambda: ())
    monkeypatch.setattr(grid, "TICK", 0.01)
    monkeypatch.setattr(prepare, "FETCHER", [sys.executable, "-c", "pass"])  # asks no network
    monkeypatch.setattr(grid, "WORKER", projects.idle())


@pytest.fixture
def project(tmp_path):
    """Three runs of notebook a with a page over them, and a single run of notebook b."""
    notebooks = {"a": projects.code(), "b": projects.code("n")}
    return projects.make(tmp_path, notebooks, a={"parameters": THREE, "each": ["names"]})


RUNS = ["a names=x", "a names=y", "a names=z", "b"]


def seen(project):
    """What the workers were given, in the order in which they ended."""
    path = project / "runs" / "seen.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


# --- runs and pages -------------------------------------------------------------------------------


def test_runs_are_made_in_order_then_the_page_over_them_and_nothing_twice(project):
    first = execute(project)
    assert (first.finished, first.before, first.failed) == ([*RUNS, "a page"], [], {})
    *made, page = seen(project)
    assert [(m["name"], m["part"], m["reads"]) for m in made] == [
        ("a", {"names": ["x"]}, []), ("a", {"names": ["y"]}, []), ("a", {"names": ["z"]}, []),
        ("b", {}, []),
    ]  # fmt: skip
    assert page["reads"] == [folder.name for folder in folders(project)[:3]]
    assert page_folder(project).name.startswith("a-page-")
    again = execute(project)
    assert (again.finished, again.before, again.failed) == ([], [*RUNS, "a page"], {})
    assert len(seen(project)) == 5


def test_a_page_is_made_again_when_one_of_its_runs_was_and_only_then(project):
    execute(project)
    old = page_folder(project)
    (folders(project)[1] / "manifest.json").write_text("{")  # y is damaged
    assert execute(project).finished == ["a names=y", "a page"]
    assert page_folder(project) != old
    (folders(project)[3] / "manifest.json").write_text("{")  # b has no page
    assert execute(project).finished == ["b"]


def test_the_parts_of_a_plan_are_disjoint_and_cover_it_and_make_no_page(project):
    parts = [execute(project, shard=(i, 3)).finished for i in (1, 2, 3)]
    assert sorted(sum(parts, [])) == sorted(RUNS) and all(parts)
    assert len(seen(project)) == 4 and not any(s["reads"] for s in seen(project))
    rest = execute(project)
    assert (rest.finished, rest.before) == (["a page"], RUNS)
    assert execute(project, shard=(5, 5)).finished == []  # a part may be empty


def test_a_page_over_a_run_that_failed_is_not_made_and_is_listed(project, monkeypatch):
    fail = 'if order["part"] == {"names": ["y"]}: sys.exit("no luck")'
    monkeypatch.setattr(grid, "WORKER", projects.idle(before=fail))
    outcome = execute(project, retries=0)
    assert outcome.finished == ["a names=x", "a names=z", "b"]
    assert list(outcome.failed) == ["a names=y", "a page"]
    assert outcome.failed["a names=y"] == f"no luck (see {folders(project)[1]})"
    assert runs.failure(folders(project)[1])["error"] == "no luck"  # though it had begun nothing
    assert outcome.failed["a page"] == "not made, since 1 of the 3 runs behind it are missing"
    with pytest.raises(BadInput, match="no finished run of a; first: lke run"):
        build.collect_pages(projects.plan(project), project / "runs")
    monkeypatch.setattr(grid, "WORKER", projects.idle())
    outcome = execute(project)
    assert outcome.finished == ["a names=y", "a page"]


def test_a_page_over_the_runs_of_other_notebooks_is_made_of_them_and_runs_nothing(tmp_path):
    notebooks = {name: projects.code() for name in ("a", "b", "c")}
    rows = {"a": {"parameters": THREE, "each": ["names"]}, "c": {"reads": ["a", "b"]}}
    project = projects.make(tmp_path, notebooks, **rows)
    outcome = execute(project)
    assert outcome.finished == [*RUNS, "a page", "c page"]
    assert [s["name"] for s in seen(project)] == ["a", "a", "a", "b", "a", "c"]
    assert seen(project)[-1]["reads"] == [folder.name for folder in folders(project)]
    assert execute(project).finished == []
    told = forecast.status(projects.plan(project), project / "runs")
    assert [(label, state) for label, state, _ in told] == [
        (label, "finished") for label in [*RUNS[:3], "a page", "b", "c page"]
    ]
    (folders(project)[3] / "manifest.json").write_text("{")  # b is damaged
    assert execute(project).finished == ["b", "c page"]  # the page over a has not changed


# --- tries ----------------------------------------------------------------------------------------


def test_a_job_is_tried_as_often_as_asked(project, monkeypatch):
    fail = 'if order["notebook"].endswith("b.py"): sys.exit(1)'
    monkeypatch.setattr(grid, "WORKER", projects.idle(before=fail))
    assert list(execute(project, retries=2).failed) == ["b"]
    assert [s["name"] for s in seen(project)].count("b") == 3


def test_what_another_try_cannot_mend_is_not_tried_again(project, monkeypatch):
    monkeypatch.setattr(grid, "WORKER", projects.idle(before=f"sys.exit({worker.HOPELESS})"))
    assert len(execute(project, retries=5).failed) == 5  # four runs and the page
    assert len(seen(project)) == 4


def test_a_job_that_another_driver_is_at_waits_and_costs_no_try(project, monkeypatch):
    busy = 'mark = folder.with_suffix(".busy")\nif not mark.exists(): mark.touch(); '
    busy += f"sys.exit({worker.BUSY})"
    monkeypatch.setattr(grid, "WORKER", projects.idle(before=busy))
    outcome = execute(project, retries=0)
    assert sorted(outcome.finished) == sorted([*RUNS, "a page"]) and outcome.failed == {}
    assert len(seen(project)) == 10


def test_exit_code_0_without_a_manifest_is_a_failure(project, monkeypatch):
    monkeypatch.setattr(grid, "WORKER", projects.idle(before="sys.exit(0)"))
    outcome = execute(project, retries=0)
    assert outcome.finished == []
    assert outcome.failed["b"].startswith("the worker ended with exit code 0 (see ")


def test_a_job_that_takes_too_long_is_ended_and_keeps_its_log(project, monkeypatch):
    hang = """if order["notebook"].endswith("b.py"):
    attempt = folder.with_name(f".{folder.name}.{os.getpid()}-1@{os.uname().nodename}.try")
    attempt.mkdir()
    (attempt / "log.txt").write_text("as far as it came")
    (folder.parent / "pid").write_text(str(os.getpid()))
    time.sleep(600)"""
    monkeypatch.setattr(grid, "WORKER", projects.idle(before=hang))
    *_, last = folders(project)
    # Of other drivers, on this machine and on another.
    others = [f".{last.name}.{os.getpid()}-1@{host}.try" for host in (os.uname().nodename, "afar")]
    for name in others:
        (project / "runs" / name).mkdir(parents=True)
    outcome = execute(project, timeout=3, retries=0)
    assert outcome.failed == {"b": f"took longer than 3 s (see {last})"}
    assert (last / "log.txt").read_text() == "as far as it came"
    assert runs.failure(last)["error"] == "took longer than 3 s" and runs.manifest(last) is None
    assert not projects.alive(int((project / "runs" / "pid").read_text()))
    assert all((project / "runs" / name).is_dir() for name in others)
    assert outcome.finished == ["a names=x", "a names=y", "a names=z", "a page"]


# --- devices and threads --------------------------------------------------------------------------


def overlap(one, two):
    return one["begun"] < two["ended"] and two["begun"] < one["ended"]


def test_each_device_has_one_job_at_a_time_and_all_devices_have_work(project, monkeypatch):
    monkeypatch.setattr(grid, "WORKER", projects.idle(seconds=0.5))
    execute(project, devices=("0", "1"))
    *made, page = seen(project)
    assert [m["CUDA_VISIBLE_DEVICES"] for m in made].count("0") == 2
    assert [m["CUDA_VISIBLE_DEVICES"] for m in made].count("1") == 2
    pairs = [(a, b) for i, a in enumerate(made) for b in made[:i] if overlap(a, b)]
    assert pairs  # two at a time
    assert all(a["CUDA_VISIBLE_DEVICES"] != b["CUDA_VISIBLE_DEVICES"] for a, b in pairs)
    assert all(m["LKE_DEVICE"] is None for m in made)
    assert all(m["ended"] <= page["begun"] for m in made)


def test_a_large_model_has_several_devices_and_is_spread_over_them(project):
    execute(project, devices=("0", "1", "2", "3", "4"), devices_per_job=2)
    groups = {(s["CUDA_VISIBLE_DEVICES"], s["LKE_DEVICE"]) for s in seen(project)}
    assert groups == {("0,1", "auto"), ("2,3", "auto")}


def test_more_devices_for_each_job_than_there_are_is_a_mistake(project):
    with pytest.raises(BadInput, match="3 devices for each job asked for, and there are 2"):
        execute(project, devices=("0", "1"), devices_per_job=3)
    assert seen(project) == []


def test_jobs_have_devices_in_turn_and_without_any_run_one_at_a_time():
    of = devices.environments_of
    two = of(devices.Settings(devices=("0", "1"), jobs=4))
    assert [each["CUDA_VISIBLE_DEVICES"] for each in two] == ["0", "1", "0", "1"]
    [alone] = of(devices.Settings())
    assert "CUDA_VISIBLE_DEVICES" not in alone
    [hidden] = of(devices.Settings(devices=()))
    assert hidden["CUDA_VISIBLE_DEVICES"] == ""


@pytest.mark.parametrize(
    ("settings", "given", "expected"),
    [
        ({"jobs": 3}, None, "2"),  # 8 cores, 3 jobs
        ({"jobs": 2}, "7", "7"),  # the user's own stands
        ({"jobs": 2, "threads": 3}, "7", "3"),
    ],
)
def test_jobs_divide_the_cores_unless_the_user_says_otherwise(
    project, monkeypatch, settings, given, expected
):
    monkeypatch.setattr(devices, "cores", lambda: 8)
    if given:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    execute(project, shard=(4, 4), offline=True, **settings)
    assert [(s["OMP_NUM_THREADS"], s["HF_HUB_OFFLINE"]) for s in seen(project)] == [(expected, "1")]


def test_the_devices_of_this_process_are_those_that_it_may_use(monkeypatch):
    monkeypatch.undo()
    for given, expected in {"": (), "-1": (), "0, 3": ("0", "3")}.items():
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
        assert devices.cuda_devices() == expected
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setenv("PATH", "")  # no nvidia-smi
    assert devices.cuda_devices() == ()


def test_the_devices_of_the_machine_are_those_that_nvidia_smi_lists(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    smi = tmp_path / "nvidia-smi"
    told = "case $1 in *index,name) printf '0, Card A\\n1, Card B\\n';; *index) printf '0\\n1\\n';; esac"
    smi.write_text(f"#!/bin/sh\n{told}\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert devices.cuda_devices() == ("0", "1") and devices.device_names() == ["Card A", "Card B"]
    for given, named in (("1", ["Card B"]), ("", []), ("GPU-7a", ["a GPU"])):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
        assert devices.device_names() == named
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    smi.write_text("#!/bin/sh\necho 'no driver'\nexit 9\n")
    assert devices.cuda_devices() == () and devices.device_names() == []


# --- what jobs need -------------------------------------------------------------------------------

ASKS = projects.code("models").replace(
    "n: int = 1", 'models: list[str] = ["toy"]\nfact_set: str = "atlas"\nrelation: str = "capital"'
)


@pytest.fixture
def here(tmp_path):
    """A model that is on this machine."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.safetensors").touch()
    return str(tmp_path / "model")


@pytest.fixture
def asking(tmp_path, here):
    """A run for each of two models: one that is here, and one of the hub that nobody has."""
    row = {"parameters": {"models": [here, "org/gone"]}, "each": ["models"]}
    return projects.make(tmp_path, {"a": ASKS}, a=row)


def test_offline_says_at_once_all_that_is_missing_and_runs_nothing(asking, here, monkeypatch):
    monkeypatch.setattr(weights, "locate", lambda name: pytest.fail(f"{name} was fetched"))
    with pytest.raises(BadInput) as caught:
        execute(asking, offline=True)
    expected = "not on this machine: model org/gone; fetch with a network: lke fetch"
    assert str(caught.value) == expected and seen(asking) == []
    row = {"parameters": {"models": [here, "smollm2"], "fact_set": "hub:org/facts"}}
    projects.make(asking, {"a": ASKS}, a=row)
    absent = ["model smollm2", "facts hub:org/facts"]
    assert prepare.missing(projects.plan(asking).jobs) == absent


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (BadInput("model org/gone: no such"), "model org/gone: no such"),
        (OSError(28, "No space left"), "model org/gone: [Errno 28] No space left"),
    ],
    ids=["bad input", "full disk"],
)
def test_a_model_that_cannot_be_had_costs_only_the_jobs_that_name_it(
    asking, here, monkeypatch, error, line
):
    asked, locate = [], weights.locate

    def without_one(name):
        asked.append(name)
        if name == "org/gone":
            raise error
        return locate(name)

    monkeypatch.setattr(weights, "locate", without_one)
    outcome = execute(asking)
    assert outcome.finished == [f"a models={here}"]
    assert outcome.failed == {
        "a models=org/gone": line,
        "a page": "not made, since 1 of the 2 runs behind it are missing",
    }
    assert asked.count("org/gone") == 1 and len(seen(asking)) == 1


def test_jobs_that_lack_nothing_are_made_while_a_process_fetches_for_the_others(
    asking, here, monkeypatch
):
    """The process here ends when it sees a finished run: it never would if the runs waited for it."""
    script = """
import pathlib, sys, time
folder, deadline = pathlib.Path(sys.argv[1]), time.monotonic() + 60
while time.monotonic() < deadline and not list(folder.glob("runs/*/manifest.json")):
    time.sleep(0.02)
(folder / "fetched").write_text(f"{sys.argv[2]} {len(list(folder.glob('runs/*/manifest.json')))}")
"""
    monkeypatch.setattr(prepare, "FETCHER", [sys.executable, "-c", script, str(asking)])
    locate = weights.locate

    def known(name):
        if name == "org/gone":
            raise BadInput("model org/gone: there is none")
        return locate(name)

    monkeypatch.setattr(weights, "locate", known)
    outcome = execute(asking)
    assert (asking / "fetched").read_text() == '[["model", "org/gone"]] 1'
    assert outcome.finished == [f"a models={here}"]
    assert outcome.failed["a models=org/gone"] == "model org/gone: there is none"


def test_what_fetches_is_told_to_stop_when_the_runs_are(asking, monkeypatch, tmp_path):
    """By the process's own handler: its temporary folder is gone, though Ctrl-C is ignored."""
    script = """
import pathlib, signal, sys, tempfile, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
from lkecore.runs import prepare
def fetch(kind, name):
    with tempfile.TemporaryDirectory(dir=folder):
        pathlib.Path(folder, "began").touch()
        time.sleep(60)
prepare._fetch = fetch
folder, sys.argv = sys.argv[1], ["prepare", *sys.argv[2:]]
prepare.main()
"""
    folder = tmp_path / "of the process"
    folder.mkdir()
    monkeypatch.setattr(prepare, "FETCHER", [sys.executable, "-c", script, str(folder)])

    def stopped(*_):
        while not (folder / "began").exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(grid, "_make", stopped)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        execute(asking)
    assert [path.name for path in folder.iterdir()] == ["began"]
    assert time.monotonic() - began < 50


def test_the_process_that_fetches_takes_all_in_turn_and_ends_with_the_one_that_started_it():
    script = """
import sys, time
from lkecore.runs import prepare
prepare._fetch = lambda kind, name: (print(kind, name, flush=True), time.sleep(60 * (name == "gone")))
prepare.main()
"""
    command = [sys.executable, "-c", script, json.dumps([("model", "toy"), ("facts", "gone")])]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout.readline() == "model toy\n"
        assert process.stdout.readline() == "facts gone\n"
        process.stdin.close()  # as the end of this process would
        assert process.wait(30) == 1


def test_a_relation_that_fetched_facts_lack_is_found_before_anything_runs(
    asking, here, monkeypatch
):
    row = {"parameters": {"models": [here], "fact_set": "hub:org/facts", "relation": "capitol"}}
    projects.make(asking, {"a": ASKS}, a=row)  # not refused: nobody knows the facts yet
    monkeypatch.setattr(facts, "relations", lambda spec: ("capital", "currency"))
    outcome = execute(asking)
    line = "parameter 'relation': unknown relation 'capitol' in hub:org/facts; nearest: capital"
    assert outcome.failed == {"a": line} and seen(asking) == []


# --- what is left behind --------------------------------------------------------------------------


DRIVER = """
import os, signal, sys
from lkecore.cli import main as cli
from lkecore.runs import grid
grid.WORKER = {worker!r}
settle = grid._settle
def killed(*given):
    settle(*given)
    os.kill(os.getpid(), signal.SIGKILL)
grid._settle = killed
cli.main()
"""


def test_a_driver_killed_after_the_manifest_leaves_a_finished_run(project):
    driver = [sys.executable, "-c", DRIVER.format(worker=projects.idle())]
    process = projects.start(project, "--runs", str(project / "runs"), driver=driver)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert [s["part"] for s in seen(project)] == [{"names": ["x"]}]
    outcome = execute(project)
    assert outcome.before == ["a names=x"] and len(outcome.finished) == 4
    assert len(seen(project)) == 5


def test_stopping_ends_the_workers_at_once(project, monkeypatch):
    monkeypatch.setattr(grid, "WORKER", projects.idle(seconds=600))
    processes = []
    start = grid._start

    def noted(*given):
        processes.append(start(*given))
        return processes[-1]

    def interrupt(_):
        if processes:
            raise KeyboardInterrupt

    monkeypatch.setattr(grid, "_start", noted)
    monkeypatch.setattr(grid, "_show", interrupt)
    before = signal.getsignal(signal.SIGTERM)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        execute(project, jobs=3)
    assert time.monotonic() - begun < 60  # not 600
    assert len(processes) == 3
    assert all(w.process.returncode == -signal.SIGKILL for w in processes)
    assert signal.getsignal(signal.SIGTERM) is before
    assert all(w.process.stdin.closed for w in processes)
    assert isinstance(processes[0].process, subprocess.Popen) and seen(project) == []


# --- models of the lab ----------------------------------------------------------------------------


def test_shipped_weights_that_are_cut_off_cost_only_the_jobs_that_name_them(tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "SHIPPED", tmp_path / "weights")
    monkeypatch.setattr(lab, "key", lambda name: "lab-smoke")
    (lab.SHIPPED / "lab-smoke").mkdir(parents=True)
    row = {"parameters": {"models": ["lab:smoke-1/0.15m", "toy"]}, "each": ["models"]}
    ships = projects.make(tmp_path, {"a": ASKS}, a=row)
    cut = lab.SHIPPED / "lab-smoke" / "model.safetensors.xz"
    cut.write_bytes(lzma.compress(b"weights" * 999)[:-40])
    outcome = execute(ships)
    assert outcome.finished == ["a models=toy"]
    line = outcome.failed["a models=lab:smoke-1/0.15m"]
    assert line.startswith(f"{cut} cannot be unpacked (") and line.endswith("; fetch it anew")
    whole = projects.plan(ships)
    cost = forecast.cost(whole.jobs[0], ships / "runs")
    assert cost["remark"] == f"would fail: {line}" and cost["tokens"] is None
    assert forecast.status(whole, ships / "runs")[0][1:] == ("waiting", cost["remark"])
    assert set(outcome.failed) == {"a models=lab:smoke-1/0.15m", "a page"}
