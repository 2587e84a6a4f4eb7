"""For all tests: a cache folder of their own, one thread, the same hypothesis examples everywhere."""

import os

import pytest
from hypothesis import settings

# Before torch is imported, and for subprocesses too: toy networks gain nothing from more threads,
# and on a busy machine threads that wait for each other make them several times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile(
    "lkecore", max_examples=50, deadline=None, derandomize=True, database=None
)
settings.load_profile("lkecore")


@pytest.fixture(scope="session", autouse=True)
def lkecore_cache(tmp_path_factory):
    """An empty LKECORE_CACHE for the session; in the environment, so that subprocesses have it."""
    before = os.environ.get("LKECORE_CACHE")
    folder = tmp_path_factory.mktemp("cache")
    os.environ["LKECORE_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["LKECORE_CACHE"]
    else:
        os.environ["LKECORE_CACHE"] = before
