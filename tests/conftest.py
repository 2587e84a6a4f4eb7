"""For all tests: a cache folder of their own, one thread, the same hypothesis examples everywhere."""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Before torch is imported, and for subprocesses too: toy networks gain nothing from more threads,
# and on a busy machine threads that wait for each other make them several times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Until all is imported and collected, of which nothing is garbage: to look for some took a third of the time.
gc.disable()

settings.register_profile(
    "lkecore", max_examples=50, deadline=None, derandomize=True, database=None
)
settings.load_profile("lkecore")


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> Path:
    """A folder that all processes of a session have in common, where pytest-xdist runs several."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def smoke_runs(shared) -> Path:
    """The runs of the smoke profile, as far as some test of this session has made them.

    Made by ``lke run`` or ``grid.execute``, of which several may work on one folder: who comes second
    finds what is finished and waits for the rest.
    """
    folder = shared / "smoke-runs"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def lkecore_cache(tmp_path_factory, shared):
    """A LKECORE_CACHE for the session; in the environment, so that subprocesses have it.

    It begins empty, but for what another process of the session has made and keeps whole, under a key of
    all that makes it: models, which take most of a minute to train, and digests of worlds.
    """
    before = os.environ.get("LKECORE_CACHE")
    folder = tmp_path_factory.mktemp("cache")
    for kind in ("models", "sources", "worlds"):
        (shared / kind).mkdir(exist_ok=True)
        (folder / kind).symlink_to(shared / kind, target_is_directory=True)
    os.environ["LKECORE_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["LKECORE_CACHE"]
    else:
        os.environ["LKECORE_CACHE"] = before


@pytest.fixture
def own_cache(tmp_path, monkeypatch) -> Path:
    """An empty LKECORE_CACHE for one test."""
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def lke(monkeypatch, capsys):
    """Call the command as the shell does; gives (exit code, standard output, standard error)."""

    from lkecore.cli import main

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["lke", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main.main()
        out, err = capsys.readouterr()
        return caught.value.code or 0, out, err

    return call


def pytest_collection_finish():
    """What is imported by now stays: no collection of garbage looks at it again.

    Libraries of a million objects are most of what a collection takes, and some functions collect each time.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
