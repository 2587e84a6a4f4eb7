"""Runs: what is done again and what is not, and that nothing half-done counts, whatever breaks."""

import contextlib
import fcntl
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import helpers
import nbformat
import numpy as np
import pandas as pd
import projects
import pytest
from projects import edit, execute, folders, page_folder

from lkecore import runs
from lkecore.book import build
from lkecore.cli.main import main
from lkecore.errors import BadInput
from lkecore.runs import devices, forecast, forkserver, grid, leases, record, worker

KEEPING = projects.code(
    """import os

import pandas as pd

from lkecore import runs, storage

lms = []""",
    """if "LKE_PAGE" in os.environ:
    frame = runs.load_runs("scores.parquet")
else:
    given = {k: os.environ.get(k) for k in ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")}
    runs.save(pd.DataFrame([given]), "environment.csv")
    frame = pd.DataFrame({"name": [*names, "rest"], "n": n, "share": 0.1})
    runs.save(frame, "scores.parquet")
runs.save(frame, "figure.csv")
print("n is", n)""",
    "len(lms)",
)


def status(project):
    """The state and the remark of each run and page, by label, as ``lke status`` lists them."""
    rows = forecast.status(projects.plan(project), project / "runs")
    return {label: (state, remark) for label, state, remark in rows}


def refused(project, names):
    """Check that no book can be made."""
    with pytest.raises(BadInput) as caught:
        build.collect_pages(projects.plan(project), project / "runs")
    assert str(caught.value) == f"no finished run of {names}; first: lke run with the same file"
    assert not (project / "book" / "notebooks").exists()


# --- what a run leaves, and what is not done again ------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two runs of a, each on a device of its own, the page over them, and a single run of b."""
    row = {"parameters": {"names": ["y", "x"], "n": 3}, "each": ["names"]}
    notebooks = {"a": KEEPING, "b": KEEPING}
    project = projects.make(tmp_path_factory.mktemp("made"), notebooks, a=row)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("OMP_NUM_THREADS", raising=False)
        patch.setattr(devices, "cores", lambda: 6)
        # No device is in use here, whatever the names say.
        patch.setattr(forkserver, "_safe", lambda _: True)
        outcome = execute(project, devices=("5", "7"))
    assert outcome.failed == {}
    assert sorted(outcome.finished[:3]) == ["a names=x", "a names=y", "b"]
    assert outcome.finished[3:] == ["a page"]
    return project


@pytest.fixture
def project(made, tmp_path):
    """A copy that a test may spoil."""
    return shutil.copytree(made, tmp_path / "project")


def test_a_run_keeps_notebook_log_frames_and_a_manifest_of_what_made_them(made):
    folder = folders(made)[0]
    names = {p.name for p in folder.iterdir()}
    frames = {"figure.csv", "scores.parquet", "environment.csv"}
    assert names == {"notebook.ipynb", "log.txt", "manifest.json"} | frames
    assert pd.read_csv(folder / "figure.csv").to_dict("list") == {
        "name": ["y", "rest"], "n": [3, 3], "share": [0.1, 0.1]
    }  # fmt: skip
    manifest = runs.manifest(folder)
    assert json.loads((folder / "manifest.json").read_text()) == manifest
    assert manifest["parameters"] == {"n": 3, "names": ["y"]}
    assert manifest["part"] == {"names": ["y"]} and manifest["runs"] == {}
    assert set(manifest["files"]) == names - {"manifest.json", "log.txt"}
    assert manifest["profile"] == "trial" and manifest["torch"].count(".") == 2
    assert (manifest["chunks"], manifest["tokens_forwarded"], manifest["models"]) == (0, 0, {})
    assert "n is 3" in (folder / "log.txt").read_text()
    assert str(made) not in (folder / "notebook.ipynb").read_text()  # others may download it


def test_jobs_at_a_time_have_devices_and_threads_of_their_own_and_the_manifest_says_which(made):
    found = []
    for folder in folders(made):
        [seen] = pd.read_csv(folder / "environment.csv", dtype=str).to_dict("records")
        manifest = runs.manifest(folder)
        assert seen["OMP_NUM_THREADS"] == manifest["threads"] == "3"  # six cores, two jobs
        assert seen["CUDA_VISIBLE_DEVICES"] == manifest["devices"]
        found.append(manifest["devices"])
    assert found[:2] == ["5", "7"] and found[2] in ("5", "7")


def test_a_page_reads_its_runs_in_the_order_of_the_file_and_names_them(made):
    page, behind = page_folder(made), folders(made)[:2]
    assert pd.read_csv(page / "figure.csv")["name"].tolist() == ["y", "rest", "x", "rest"]
    manifest = runs.manifest(page)
    assert [*manifest["runs"]] == [folder.name for folder in behind]
    for folder in behind:
        digest = hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
        assert manifest["runs"][folder.name] == digest
    assert manifest["parameters"] == {"n": 3, "names": ["y", "x"]}
    assert not (page / "scores.parquet").exists()  # it computes nothing


def test_the_page_in_the_book_has_the_prose_of_the_source_and_the_outputs_of_the_run(project):
    edit(project, "a", "# Prose.", "# Better prose.")
    caption = '# %% mystnb={"figure": {"caption": "New."}}\nlen(lms)'
    edit(project, "a", "# %%\nlen(lms)", caption)
    over, single = build.collect_pages(projects.plan(project), project / "runs")
    for page in (over, single):
        cells = nbformat.read(page, as_version=4).cells
        assert ("Better prose." in cells[0].source) == (page == over)
        about = [c.metadata.get("mystnb", {}) for c in cells]
        captions = [each["figure"] for each in about if "figure" in each]
        assert captions == ([{"caption": "New."}] if page == over else [])
        assert "Made by the profile trial" in cells[1].source
        [defaults] = [c for c in cells if "parameters" in c.metadata.get("tags", [])]
        assert page == single or "hide-input" in defaults.metadata.tags
        above = cells[cells.index(defaults) - 1].metadata.get("tags", [])
        assert page == single or "injected-parameters" in above
        assert any("n is " in str(c.get("outputs")) for c in cells)
        assert f"{{download}}`figure.csv <{page.stem}/figure.csv>`" in cells[-1].source
        assert (page.with_suffix("") / "figure.csv").exists()
        assert str(project) not in page.read_text()
    text = nbformat.read(over, as_version=4).cells[-1].source
    for folder in folders(project)[:2]:
        assert f"a/{folder.name}/scores.parquet" in text


def test_an_edit_of_prose_repeats_nothing_and_one_of_code_repeats_what_has_it(project, monkeypatch):
    everything = ["a names=y", "a names=x", "b", "a page"]
    stamps = {p: p.stat().st_mtime_ns for p in (project / "runs").glob("*/manifest.json")}
    edit(project, "a", "# Prose.", "# Better prose.")
    monkeypatch.setattr(grid, "WORKER", ["false"])
    assert execute(project).before == everything
    assert stamps == {p: p.stat().st_mtime_ns for p in (project / "runs").glob("*/manifest.json")}
    edit(project, "a", 'print("n is", n)', 'print("n:", n)')
    monkeypatch.setattr(grid, "WORKER", projects.idle())
    outcome = execute(project)
    assert (outcome.finished, outcome.before) == (["a names=y", "a names=x", "a page"], ["b"])


def damaged(path, damage):
    whole = path.read_bytes()
    path.write_bytes(whole[:-20] if damage == "truncated" else whole[:-1] + b"x")


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        ("truncated", "scores.parquet"), ("changed", "notebook.ipynb"),
        ("truncated", "manifest.json"),
    ],
)  # fmt: skip
def test_a_damaged_run_does_not_count(project, damage, name):
    folder = folders(project)[1]
    assert status(project)["a page"][0] == "finished"
    damaged(folder / name, damage)
    assert runs.manifest(folder) is None
    assert status(project)["a names=x"][0] == status(project)["a page"][0] == "waiting"
    refused(project, "a")


def test_a_run_from_another_code_is_not_shown(project):
    folder = folders(project)[2]
    executed = nbformat.read(folder / "notebook.ipynb", as_version=4)
    edit(project, "b", 'print("n is", n)', 'print("other", n)')
    source = runs.read_notebook(project / "notebooks" / "b.py")
    with pytest.raises(BadInput, match="other code"):
        build.compose(source, executed, "trial", runs.manifest(folder), {}, "")


def test_the_key_depends_on_the_content_of_the_facts(tmp_path):
    table = tmp_path / "capital.tsv"
    text = KEEPING.replace("n: int = 1", 'n: int = 1\nfact_set: str = ""')
    project = projects.make(tmp_path, {"a": text}, a={"parameters": {"fact_set": str(table)}})
    keys = []
    for city in ("Paris", "Lyon", "Paris"):
        table.write_text(f"subject\tobject\nFrance\t{city}\n")
        keys.append(runs.run_key(projects.plan(project).jobs[0]))
    assert keys[0] == keys[2] != keys[1]


def test_the_manifest_of_a_run_and_of_its_page_says_how_many_rows_were_read(tmp_path, monkeypatch):
    projects.fork_workers(monkeypatch)
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "P1.csv").write_text("subject,object\na,1\na,1\nb,2\n")
    (folder / "names.tsv").write_text("relation\tname\n")
    text = KEEPING.replace("n: int = 1", 'n: int = 1\nfact_set: str = ""')
    row = {"parameters": {"fact_set": str(folder), "names": ["x", "y"]}, "each": ["names"]}
    project = projects.make(tmp_path, {"a": text}, a=row)
    assert execute(project).failed == {}
    expected = {"read": 3, "repeated": 1, "left_out": 0, "files_unread": ["names.tsv"]}
    made = [runs.manifest(each) for each in (project / "runs").glob("a-*")]
    assert [each["rows"] for each in made] == [{str(folder): expected}] * 3  # two runs and the page


def test_results_that_ship_are_in_the_key_of_a_notebook_that_reads_them_and_of_no_other(
    tmp_path, monkeypatch
):
    """a names the source lab as its default, b mine in its parameters, and c reads an experiment."""
    plain = projects.code("names")
    by_default = plain.replace("names: list[str] = []", 'shipped_one: list[str] = ["lab"]')
    by_parameter = plain.replace("names: list[str]", "shipped: list[str]")
    assert plain not in (by_default, by_parameter)
    notebooks = {"a": by_default, "b": by_parameter, "c": projects.code('"24_x"')}
    project = projects.make(tmp_path, notebooks, b={"parameters": {"shipped": ["mine"]}})
    monkeypatch.setattr(record, "RESULTS", tmp_path / "results")
    before = [runs.run_key(each) for each in projects.plan(project).jobs]
    (tmp_path / "results").mkdir()
    for profile, name, changed in [
        ("lab", "21_x", [True, False, False]), ("mine", "22_x-cues", [False, True, False]),
        ("other", "23_x", [False, False, False]), ("other", "24_x", [False, False, True]),
    ]:  # fmt: skip
        for commit in "ab":
            helpers.ship(
                tmp_path / "results", profile, name, pd.DataFrame({"n": [1]}), commit=commit
            )
            after = [runs.run_key(each) for each in projects.plan(project).jobs]
            found = [a != b for a, b in zip(after, before, strict=True)]
            assert found == changed, (profile, commit)
            before = after


def test_outside_of_a_run_nothing_is_kept_or_read_and_other_formats_are_refused(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LKE_RUN", raising=False)
    monkeypatch.delenv("LKE_PAGE", raising=False)
    runs.save(pd.DataFrame({"a": [1]}), "a.csv")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="a.pkl"):
        runs.save(pd.DataFrame(), "a.pkl")
    with pytest.raises(BadInput, match="scores.parquet is read by a page over runs, which lke run"):
        runs.load_runs("scores.parquet")


def test_collect_puts_the_runs_parameters_beside_what_they_kept(tmp_path, monkeypatch):
    for name, spec in (("one", "atlas"), ("two", "data/mine.tsv")):
        (tmp_path / name).mkdir()
        pd.DataFrame({"correct": [True, False]}).to_parquet(tmp_path / name / "answers.parquet")
        parameters = {"fact_set": spec, "n_shots": 5, "names": ["a", "b"], "correct": 1}
        manifest = {"parameters": parameters}
        (tmp_path / name / "manifest.json").write_text(json.dumps(manifest))
    behind = [str(tmp_path / name) for name in ("two", "one")]
    monkeypatch.setenv("LKE_PAGE", json.dumps(behind))
    found = runs.load_runs("answers.parquet", ["fact_set", "n_shots"])
    assert list(found["fact_set"]) == ["data/mine.tsv"] * 2 + ["atlas"] * 2
    assert list(found["n_shots"]) == [5] * 4 and list(found["correct"]) == [True, False] * 2
    named = runs.load_runs("answers.parquet", {"shown": "n_shots", "facts": "fact_set"})
    assert list(named) == ["correct", "shown", "facts"] and list(named["shown"]) == [5] * 4
    for parameter, message in [
        ("fact_sets", "two has no parameter 'fact_sets'; nearest: fact_set"),
        ("correct", "'correct' of two is a list, or a column of answers.parquet already"),
    ]:
        with pytest.raises(BadInput, match=message):
            runs.load_runs("answers.parquet", [parameter])
    with pytest.raises(BadInput, match="two has kept no sizes.parquet, which this page reads"):
        runs.load_runs("sizes.parquet")


# --- scores ---------------------------------------------------------------------------------------

QUESTIONS = """questions = []
for name in facts.relations("atlas")[:12]:
    chosen = facts.load("atlas", name)
    train, test = facts.divide(chosen, n_train=20)
    shown = facts.draw_shots(train, 2, 0)
    asked = facts.draw_facts(test, 2, 0)
    options = facts.draw_options(asked, chosen.objects, 3, 0)
    questions += prompts.many_shot(shown, asked, options)"""
SCORING = projects.code(
    """import os
import signal
from pathlib import Path

from lkecore import facts, prompts, runs
from lkecore.models import open_model
from lkecore.scores import tree

compute, calls, mark = tree._edges, [], Path(PLACE)


def deadly(*given):
    calls.append(given)
    if len(calls) == 7 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return compute(*given)


tree._edges = deadly""",
    QUESTIONS,
    'frame = tree.option_logprobs(open_model("toy"), questions).frame',
    'runs.save(frame, "scores.parquet")\nprint("a figure")',
)


def test_a_kernel_killed_in_relation_7_of_12_costs_one_chunk_and_a_new_figure_costs_none(tmp_path):
    text = SCORING.replace("PLACE", repr(str(tmp_path / "mark")))
    project = projects.make(tmp_path, {"a": text})
    [dead] = folders(project)

    outcome = execute(project, retries=0)
    error = "the kernel died (killed, or out of memory)"
    assert outcome.failed == {"a": f"{error} (see {dead})"} and outcome.finished == []
    assert runs.manifest(dead) is None and runs.failure(dead)["error"] == error
    assert (dead / "log.txt").exists()
    cells = nbformat.read(dead / "notebook.ipynb", as_version=4).cells
    assert len(cells) == 6  # to look at, as far as it came
    refused(project, "a")
    assert status(project) == {"a": ("failed", f"{error} (see {dead})")}

    outcome = execute(project, retries=0)
    assert (outcome.finished, outcome.failed) == (["a"], {})
    manifest = runs.manifest(dead)
    assert (manifest["chunks"], manifest["chunks_from_cache"]) == (12, 6)
    assert manifest["memory_gb"] == [None]  # the scorer's default
    assert manifest["tokens_forwarded"] > 0
    assert status(project)["a"][0] == "finished"

    edit(project, "a", 'print("a figure")', 'print("another figure")')
    assert execute(project).finished == ["a"]
    manifest = runs.manifest(folders(project)[0])
    assert (manifest["chunks"], manifest["chunks_from_cache"]) == (12, 12)
    assert manifest["tokens_forwarded"] == 0

    # What was put together from two tries and the cache is what a plain call computes.
    from lkecore import facts, prompts
    from lkecore.models.model import open_model
    from lkecore.scores import tree

    names = {"facts": facts, "prompts": prompts}
    exec(QUESTIONS, names)
    plain = tree.option_logprobs(open_model("toy"), names["questions"], use_cache=False)
    for folder in (dead, folders(project)[0]):
        kept = pd.read_parquet(folder / "scores.parquet")
        assert kept["option"].tolist() == plain.frame["option"].tolist() and len(kept) == 72
        # float32: the number of threads may change the order of sums.
        np.testing.assert_allclose(kept["logprob"], plain.frame["logprob"], atol=1e-4)


# --- faults ---------------------------------------------------------------------------------------

COUNT = """from pathlib import Path

mark = Path(PLACE)
with mark.open('a') as file:
    print(n, file=file)
"""


def test_each_failure_is_one_line_and_the_others_go_on(tmp_path, monkeypatch, capsys):
    def noted(name, *cells):
        return projects.code(COUNT.replace("PLACE", repr(str(tmp_path / name))), *cells)

    once = "import os\nif len(mark.read_text()) == 2:\n    os.kill(os.getpid(), 9)"
    wrong = "from lkecore.facts.tables import BadInput\nraise BadInput('no such thing')"
    notebooks = {
        "broken": noted("broken", "print('so far')", "1 / 0"),
        "once": noted("once", once),
        "wrong": noted("wrong", wrong),
        "fine": noted("fine"),
    }
    project = projects.make(tmp_path, notebooks)
    file = str(project / "params" / "p.yaml")
    monkeypatch.setattr(sys, "argv", ["lke", "run", file, "--jobs", "2"])
    with pytest.raises(SystemExit) as done:
        main()
    broken, once, wrong, fine = folders(project)
    out, err = capsys.readouterr()
    assert (done.value.code, out) == (1, "")
    lines = err.splitlines()
    assert lines[-1] == "2 made here, 0 made by others meanwhile, 0 finished before, 2 failed"
    assert sorted(lines[-3:-1]) == [
        f"lke: failed: broken: ZeroDivisionError: division by zero (see {broken})",
        f"lke: failed: wrong: BadInput: no such thing (see {wrong})",
    ]
    tries = {name: len((tmp_path / name).read_text().split()) for name in notebooks}
    assert tries == {"broken": 2, "once": 2, "wrong": 1, "fine": 1}
    assert [runs.manifest(f) is not None for f in folders(project)] == [False, True, False, True]
    assert "so far" in (broken / "log.txt").read_text()
    assert "ZeroDivisionError" in (broken / "notebook.ipynb").read_text()
    refused(project, "broken, wrong")
    # The next time what is finished stays, and what was mended is made.
    edit(project, "broken", "1 / 0", "1 / 1")
    edit(project, "wrong", "raise ", "")
    monkeypatch.setattr(grid, "WORKER", projects.idle())
    outcome = execute(project)
    assert (outcome.finished, outcome.before) == (["broken", "wrong"], ["once", "fine"])


@pytest.fixture
def plain(tmp_path):
    return projects.make(tmp_path, {"a": KEEPING})


@pytest.mark.parametrize("step", [(runs, "seal"), (worker, "move")])
def test_a_worker_killed_beside_the_manifest_leaves_nothing_that_counts(plain, monkeypatch, step):
    projects.fork_workers(monkeypatch, before=lambda: setattr(*step, projects.kill))
    [folder] = folders(plain)
    outcome = execute(plain, retries=0)
    error = "the worker was killed by signal 9 (out of memory?)"
    assert outcome.failed == {"a": f"{error} (see {folder})"}
    assert runs.failure(folder)["error"] == error and (folder / "log.txt").exists()
    assert status(plain) == {"a": ("failed", f"{error} (see {folder})")}
    refused(plain, "a")
    projects.fork_workers(monkeypatch)
    assert execute(plain).finished == ["a"]
    left = {p.name for p in (plain / "runs").iterdir()}
    assert left == {folder.name, ".locks"} and runs.failure(folder) is None


def no_room(each, attempt):
    (attempt / "notebook.ipynb").write_text("")
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("room", ["none", "for an empty file", "once the try is deleted"])
def test_a_disk_without_room_is_told_leaves_nothing_half_made_and_no_name_of_what_is_not_there(
    plain, monkeypatch, room
):
    """Empty files and folders may take no room, and a try that is deleted makes some."""
    [folder] = folders(plain)
    record, mkdir = runs.record_failure, Path.mkdir

    def recorded(where, reason):
        if room != "once the try is deleted" or where != folder or list(where.parent.glob(".a*")):
            raise OSError(28, "No space left on device")
        record(where, reason)

    def made(path, *given, **named):
        if room == "none" and path == folder:
            raise OSError(28, "No space left on device")
        mkdir(path, *given, **named)

    monkeypatch.setattr(runs, "record_failure", recorded)
    monkeypatch.setattr(Path, "mkdir", made)
    projects.fork_workers(monkeypatch, no_room)
    outcome = execute(plain, retries=0)
    line, see = "OSError: [Errno 28] No space left on device", f" (see {folder})"
    left = {path.name for path in (plain / "runs").iterdir()}
    if room == "none":
        assert outcome.failed == {"a": line} and left == {".locks"}
        return
    assert outcome.failed == {"a": line + see} and left == {".locks", folder.name}
    told = "the disk had no room to say why" if room == "for an empty file" else line
    assert status(plain) == {"a": ("failed", told + see)}
    projects.fork_workers(monkeypatch)
    assert execute(plain).finished == ["a"]


def test_a_source_that_changes_while_it_runs_is_no_result(plain, monkeypatch):
    def changing(each, attempt):
        with open(each.notebook, "a") as file:
            file.write("\n# %%\nprint('more')\n")
        return projects.ends(each, attempt)

    projects.fork_workers(monkeypatch, changing)
    [folder] = folders(plain)
    outcome = execute(plain, retries=3)
    line = "the notebook, lkecore, or what it reads was changed meanwhile; run it again"
    assert outcome.failed == {"a": f"{line} (see {folder})"}
    assert runs.failure(folder)["error"] == line
    text = (plain / "notebooks" / "a.py").read_text()
    assert text.count("more") == 1  # no other try can mend it
    refused(plain, "a")
    projects.fork_workers(monkeypatch)
    assert execute(plain).finished == ["a"]


def test_a_source_that_changed_while_the_job_waited_is_told_before_it_is_run(plain, monkeypatch):
    def edited():
        with open(plain / "notebooks" / "a.py", "a") as file:
            file.write("\n# %%\nprint(1)\n")

    def never(*_):
        raise SystemExit("it was executed")

    projects.fork_workers(monkeypatch, never, edited)
    [folder] = folders(plain)
    line = "the notebook, lkecore, or what it reads was changed meanwhile; run it again"
    assert execute(plain).failed == {"a": f"{line} (see {folder})"}


SLEEPING = projects.code(
    """import os
import time
from pathlib import Path

pids = Path(PLACE)
if not pids.with_suffix(".go").exists():
    pids.with_suffix(".part").write_text(f"{os.getpid()} {os.getppid()}")
    pids.with_suffix(".part").rename(pids)
    time.sleep(600)"""
)


def test_a_stopped_or_killed_driver_leaves_no_process_and_nothing_that_counts(tmp_path):
    pids = tmp_path / "pids"
    project = projects.make(tmp_path, {"a": SLEEPING.replace("PLACE", repr(str(pids)))})
    [folder] = folders(project)
    for number in (signal.SIGTERM, signal.SIGKILL):
        driver = projects.start(project)
        projects.wait_for(lambda: pids.exists() or driver.poll() is not None)  # noqa: B023
        assert status(project) == {"a": ("running", "")}
        kernel, worker = map(int, pids.read_text().split())
        assert projects.alive(kernel) and projects.alive(worker)
        driver.send_signal(number)
        out, err = driver.communicate(timeout=60)
        if number == signal.SIGKILL:
            assert driver.returncode == -number
        else:
            assert driver.returncode == 130
            line = "lke: stopped; what is finished is kept, the same command goes on\n"
            assert (out, err) == ("", line)
        projects.wait_for(lambda: not projects.alive(worker), 20)  # noqa: B023
        projects.wait_for(lambda: not projects.alive(kernel), 20)  # noqa: B023
        assert runs.manifest(folder) is None
        assert status(project) == {"a": ("waiting", "")}
        refused(project, "a")
        pids.unlink()
    pids.with_suffix(".go").touch()
    assert execute(project).finished == ["a"]
    assert {p.name for p in (project / "runs").iterdir()} == {folder.name, ".locks"}


def drivers_at_once(n, project, monkeypatch, execute_one):
    """What drivers that start together tell, and {label of a run: how often it was made}.

    They are forked from here, too. In the place of a kernel is ``execute_one(each, attempt)``.
    """
    fork = multiprocessing.get_context("fork")
    lines = project / "lines"

    def noted(each, attempt):
        with lines.open("a") as file:
            print(each.label, file=file)
        return execute_one(each, attempt)

    def drive(outbox):
        outbox.put(execute(project))

    projects.fork_workers(monkeypatch, noted)
    outbox = fork.SimpleQueue()
    drivers = [fork.Process(target=drive, args=(outbox,)) for _ in range(n)]
    for driver in drivers:
        driver.start()
    for driver in drivers:
        driver.join()
    assert [driver.exitcode for driver in drivers] == [0] * n
    outcomes = [outbox.get() for _ in drivers]
    return outcomes, Counter(lines.read_text().splitlines())


ALL_THREE = ["a names=x", "a names=y", "a page"]


@pytest.fixture
def two_and_a_page(tmp_path):
    row = {"parameters": {"names": ["x", "y"]}, "each": ["names"]}
    return projects.make(tmp_path, {"a": projects.code()}, a=row)


def agree(outcomes, project):
    """Each run was made by one of them, as it counts, and by others for the rest; and is there once."""
    assert sorted(label for each in outcomes for label in each.finished) == ALL_THREE
    for each in outcomes:
        assert sorted(each.finished + each.others) == ALL_THREE
        assert each.before == [] and each.failed == {}
    again = execute(project)
    assert (again.before, again.finished, again.others) == (ALL_THREE, [], [])
    left = {p.name for p in (project / "runs").iterdir()}
    assert len(left) == 4 and [name for name in left if name.startswith(".")] == [".locks"]


def test_two_drivers_at_once_make_each_run_once_and_neither_fails(two_and_a_page, monkeypatch):
    outcomes, made = drivers_at_once(2, two_and_a_page, monkeypatch, projects.ends)
    assert made == Counter(ALL_THREE)
    agree(outcomes, two_and_a_page)


def test_drivers_on_a_disk_whose_locks_do_not_hold_work_twice_and_lose_nothing(
    two_and_a_page, monkeypatch, capfd
):
    """Each is told that it holds the lock, as on several machines, and the lease. All begin a run before one
    ends it, and then end it together; what failed long ago is in their way."""
    n, project = 3, two_and_a_page
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    monkeypatch.setattr(leases, "leased", lambda _: contextlib.nullcontext(True))
    monkeypatch.setattr(leases, "is_held", lambda _: False)
    for folder in folders(project):
        folder.mkdir(parents=True)
        runs.record_failure(folder, "what went wrong long ago")

    def together(each, attempt):
        end = time.monotonic() + 100
        while (project / "lines").read_text().splitlines().count(each.label) < n:
            assert time.monotonic() < end
            time.sleep(0.001)
        return projects.ends(each, attempt)

    outcomes, made = drivers_at_once(n, project, monkeypatch, together)
    assert made == Counter(ALL_THREE * n)  # no more, and so no first try has failed
    agree(outcomes, project)
    assert "trying again" not in capfd.readouterr().err


def test_drivers_on_a_disk_whose_locks_do_not_hold_make_each_run_once_by_its_lease(
    two_and_a_page, monkeypatch
):
    """The first of each run waits until another driver has looked at it, and found it taken."""
    looks = two_and_a_page / "looks"
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    held = leases.is_held

    def looked(path):
        found = held(path)
        if found:
            with looks.open("a") as file:
                file.write(f"{path.stem}\n")
        return found

    def waiting(each, attempt):
        run = attempt.name[1:].partition(".")[0]
        projects.wait_for(lambda: looks.exists() and run in looks.read_text().split(), 20)
        return projects.ends(each, attempt)

    monkeypatch.setattr(leases, "is_held", looked)
    outcomes, made = drivers_at_once(2, two_and_a_page, monkeypatch, waiting)
    assert made == Counter(ALL_THREE)
    agree(outcomes, two_and_a_page)


def test_a_lock_says_who_is_at_it_and_is_free_when_that_process_is_gone(tmp_path):
    folder = tmp_path / "runs" / "a-0123"
    code = (
        "import sys, time; from pathlib import Path; from lkecore.runs import worker\n"
        f"held = worker.lock_of(Path({str(folder)!r})).acquire()\n"
        "print('held', flush=True)\ntime.sleep(600)"
    )
    holder = subprocess.Popen([grid.WORKER[0], "-c", code], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(worker.Timeout):
        worker.lock_of(folder).acquire(timeout=0)
    holder.kill()
    holder.communicate()
    with worker.lock_of(folder).acquire(timeout=0):
        assert os.listdir(tmp_path / "runs") == [".locks"]
