"""Leases: who is at a run, where no lock can be trusted. Clocks are those of files, and nothing waits."""

import os
import resource
import subprocess
import sys
import time

import projects
import pytest
from projects import execute, folders

from lkecore import storage
from lkecore.runs import devices, grid, leases, worker
from lkecore.runs.devices import Settings

HERE = os.uname().nodename


@pytest.fixture(scope="module")
def gone():
    """The mark of a process of this machine that has ended."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return f"{ended.pid}-7@{HERE}"


def written(path, by, age=0.0):
    """A lease that somebody has, of some seconds ago by the clock of its disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(by)
    os.utime(path, (path.stat().st_mtime - age,) * 2)


@pytest.mark.parametrize(
    ("by", "age", "held"),
    [
        ("12-34@afar", 0, True),
        ("12-34@afar", 290, True),
        ("12-34@afar", 310, False),  # no sign of life for five minutes
        ("mine", 100_000, True),  # this machine knows better than any clock
        ("of my number", 0, sys.platform != "linux"),  # its number is another's by now
        ("gone", 0, False),
        ("", 5, True),  # about to be written
        ("", 15, False),  # its process was killed before it could
        ("12-", 15, False),  # cut off
        ("\udcff@afar", 290, True),
        ("x@here", 310, False),  # no process: as old as it is
        ("9" * 30 + "-1@here", 0, False),
    ],
)
@pytest.mark.parametrize("clock", [0, -18_000])
def test_a_lease_is_held_by_who_is_alive_whatever_clock_this_machine_has(
    tmp_path, monkeypatch, gone, by, age, held, clock
):
    real, path = time.time, tmp_path / "a.lease"
    monkeypatch.setattr(time, "time", lambda: real() + clock)
    marks = {"gone": gone, "mine": storage.mark(), "of my number": f"{os.getpid()}-1@{HERE}"}
    by = marks.get(by, by).replace("@here", f"@{HERE}")
    written(path, "", age)
    path.write_bytes(os.fsencode(by))
    os.utime(path, (real() - age,) * 2)
    assert leases.is_held(path) is held
    with leases.leased(path) as ours:
        assert ours is not held
        assert os.fsencode(storage.mark() if ours else by) == path.read_bytes()
    assert path.exists() is held and [p for p in tmp_path.iterdir() if p != path] == []


def test_a_lease_that_cannot_be_written_keeps_nobody_away(tmp_path):
    path, before = tmp_path / "a.lease", resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # as a full disk: no byte more
        with pytest.raises(OSError, match="File too large"), leases.leased(path):
            pass
        with pytest.raises(OSError, match="File too large") as caught:
            leases.check_room(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.filename == str(tmp_path) and list(tmp_path.iterdir()) == []


def test_only_its_owner_renews_a_lease_and_gives_it_back(tmp_path):
    path, other = tmp_path / "a.lease", tmp_path / "b.lease"
    for each, by in ((path, storage.mark()), (other, f"{os.getpid()}-7@afar")):
        written(each, by, 1000)
        begun = each.stat().st_mtime
        leases.renew(each, os.getpid())
        assert (each.stat().st_mtime > begun + 900) is (each == path)
        leases.renew(each, os.getpid() + 1)
        leases.drop(each, os.getpid() + 1)
        assert each.exists()
        leases.drop(each, os.getpid())
    assert [p.name for p in tmp_path.iterdir()] == ["b.lease"]
    with leases.leased(path) as ours:
        assert ours
        written(path, "1-2@afar")  # taken over, after a stop of five minutes
    assert path.read_text() == "1-2@afar"


def test_a_lease_that_is_taken_just_as_a_void_one_is_taken_away_comes_back(tmp_path, monkeypatch):
    path, rename = tmp_path / "a.lease", os.rename
    written(path, "1-2@afar", 400)

    def second(one, other):
        written(path, "3-4@afar")  # by somebody who saw the same
        rename(one, other)

    monkeypatch.setattr(os, "rename", second)
    with leases.leased(path) as ours:
        assert not ours
    assert path.read_text() == "3-4@afar" and list(tmp_path.iterdir()) == [path]


# --- workers of one queue -------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(devices, "cuda_devices", lambda: ())
    monkeypatch.setattr(grid, "TICK", 0.01)
    monkeypatch.setattr(grid, "WORKER", projects.idle())
    row = {"parameters": {"names": ["x", "y", "z"]}, "each": ["names"]}
    return projects.make(tmp_path, {"a": projects.code(), "b": projects.code("n")}, a=row)


X, Y, Z, B, PAGE = "a names=x", "a names=y", "a names=z", "b", "a page"


def test_a_worker_leaves_what_others_are_at_and_pages_over_that_and_makes_all_else(project):
    x, *_ = folders(project)
    written(worker.lease_of(x), "1-2@afar")
    outcome = execute(project, leave=True)
    assert (outcome.finished, outcome.left) == ([Y, Z, B], [X, PAGE]) and outcome.failed == {}
    written(worker.lease_of(x), "1-2@afar", 400)  # that machine is gone
    outcome = execute(project, leave=True)
    assert (outcome.finished, outcome.left) == ([X, PAGE], [])


def test_a_page_over_a_run_that_failed_is_not_left_to_others(project, monkeypatch):
    fail = 'if order["part"] == {"names": ["y"]}: sys.exit(1)'
    monkeypatch.setattr(grid, "WORKER", projects.idle(before=fail))
    written(worker.lease_of(folders(project)[0]), "1-2@afar")
    outcome = execute(project, leave=True, retries=0)
    assert outcome.left == [X] and list(outcome.failed) == [Y, PAGE]
    assert outcome.failed[PAGE].endswith("2 of the 3 runs behind it are missing")


@pytest.mark.parametrize("how", ["lock", "lease"])
def test_before_it_leaves_a_worker_looks_once_more_at_every_run_without_patience(
    project, monkeypatch, how
):
    """Somebody is at x, and done with it just before our last run ends: who makes the page?"""
    x, *_ = folders(project)
    lock, lease, settle = worker.lock_of(x), worker.lease_of(x), grid._settle
    lock.acquire(timeout=0) if how == "lock" else written(lease, "1-2@afar")

    def settled(running, *given):
        if running.task.job.label == B:
            lock.release() if how == "lock" else lease.unlink()
        return settle(running, *given)

    monkeypatch.setattr(grid, "_settle", settled)
    # A worker's patience is longer than this test: it is not waited for.
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    outcome = execute(project, leave=True)
    assert (outcome.finished, outcome.left) == ([Y, Z, B, X, PAGE], [])


@pytest.mark.parametrize("how", ["lock", "lease"])
def test_without_leave_a_worker_stays_until_all_is_finished(project, monkeypatch, how):
    x, *_ = folders(project)
    lock, lease = worker.lock_of(x), worker.lease_of(x)
    lock.acquire(timeout=0) if how == "lock" else written(lease, "1-2@afar")
    looks, seen = worker.is_taken, []

    def taken(folder):
        seen.append(folder)
        if folder == x and seen.count(x) == 2:
            lock.release() if how == "lock" else lease.unlink()
        return looks(folder)

    monkeypatch.setattr(worker, "is_taken", taken)
    outcome = execute(project)
    assert (outcome.finished, outcome.left) == ([Y, Z, B, X, PAGE], [])


@pytest.mark.parametrize(
    ("at", "order"),
    [((1, 1), "xyzb"), ((1, 4), "xyzb"), ((2, 4), "yzbx"), ((2, 2), "zbxy"), ((4, 4), "bxyz"),
     ((9, 9), "bxyz")],
)  # fmt: skip
def test_workers_begin_at_places_of_their_own_and_take_all(at, order):
    assert devices.share_of(list("xyzb"), Settings(worker=at)) == list(order)
    assert devices.share_of([], Settings(worker=at)) == []


def test_the_lease_of_a_killed_worker_is_given_back_by_its_driver_and_renewed_until_then(
    project, monkeypatch
):
    """The worker has a lease, and dies; no other machine is to wait five minutes for what nobody is at."""
    signs, lease = [], 'folder.parent / ".locks" / (folder.name + ".lease")'
    dies = f"""if order["notebook"].endswith("b.py"):
    mark = f"{{os.getpid()}}-1@{{os.uname().nodename}}"
    ({lease}).write_text(mark)
    end = time.monotonic() + 20
    while ({lease}).stat().st_mtime > 0 and time.monotonic() < end: time.sleep(0.01)
    os.kill(os.getpid(), 9)"""
    monkeypatch.setattr(grid, "WORKER", projects.idle(before=dies))
    monkeypatch.setattr(leases, "RENEWED", -1.0)  # at every look
    *_, b = folders(project)

    def sign(path, *given, utime=os.utime):
        if path == worker.lease_of(b):
            signs.append(path)
            utime(path, (0, 0))

    monkeypatch.setattr(os, "utime", sign)
    outcome = execute(project, retries=0)
    assert list(outcome.failed) == ["b"] and "killed by signal 9" in outcome.failed["b"]
    assert signs and not worker.lease_of(b).exists()
