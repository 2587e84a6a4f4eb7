"""What is kept of worlds: digests that ship, and states in the cache, are those of worlds made now."""

import json
import sys

import helpers
import pandas as pd

from lkecore import worlds
from lkecore.answers.shipped import table
from lkecore.storage import cache_folder
from lkecore.worlds import text as rich_text

TINY = "lab:richsmoke-1"
WRITTEN_WITH = (3, 11)  # the Python whose keys ship; others write the worlds themselves
RENEW = "a module that makes worlds has changed: python tools/world_digests.py"


def test_digests_that_ship_are_of_this_code_and_those_that_results_were_made_with():
    kept = json.loads(rich_text.SHIPPED.read_text())
    made = table()
    named = set(made["world"]) - {""}
    assert set(kept) == {spec for spec in named if worlds.is_rich(spec)}
    for spec, each in kept.items():
        for what, of in each.items():
            key = rich_text.kept_key(spec, what)
            assert of["key"] == key or sys.version_info[:2] != WRITTEN_WITH, RENEW
        assert worlds.digest(spec) == each["told"]["digest"]
        assert worlds.digest_beside(spec) == each["beside"]["digest"]
    for spec in named:  # of plain worlds, too
        assert set(made.loc[made["world"] == spec, "world_digest"]) == {worlds.digest(spec)}
    assert helpers.tool("world_digests").named() == sorted(kept)


def test_a_digest_that_ships_is_that_of_the_world_that_is_made_now():
    made = helpers.tool("world_digests").made("lab:rich-1")
    kept = json.loads(rich_text.SHIPPED.read_text())["lab:rich-1"]
    assert {what: each["digest"] for what, each in made.items()} == {
        what: each["digest"] for what, each in kept.items()
    }


def test_without_a_checkout_and_for_another_world_digests_are_made(monkeypatch, tmp_path):
    there = rich_text.shipped_digests()
    assert there
    (tmp_path / "damaged.json").write_text("{")
    for path in (tmp_path / "none.json", tmp_path / "damaged.json"):
        monkeypatch.setattr(rich_text, "SHIPPED", path)
        rich_text.shipped_digests.cache_clear()
        assert rich_text.shipped_digests() == {}
    monkeypatch.undo()
    rich_text.shipped_digests.cache_clear()
    assert rich_text.shipped_digests() == there
    assert worlds.digest(TINY) == rich_text._digest(TINY)


def test_states_that_are_kept_are_those_that_are_made_and_a_damaged_file_is_made_anew(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    made = rich_text._made_states(TINY)

    def read() -> pd.DataFrame:
        rich_text._states.cache_clear()
        return rich_text.states(TINY)

    pd.testing.assert_frame_equal(read(), made)
    [kept] = (cache_folder() / "worlds").glob("*.parquet")
    with monkeypatch.context() as patch:
        patch.setattr(rich_text, "_made_states", None)  # nothing is made
        pd.testing.assert_frame_equal(read(), made)
    kept.write_bytes(kept.read_bytes()[:1000])
    pd.testing.assert_frame_equal(read(), made)
    with monkeypatch.context() as patch:  # another size is another world
        patch.setattr(rich_text, "check_spec", lambda spec: (("another size",), 1))
        assert len(read()) and len([*(cache_folder() / "worlds").glob("*.parquet")]) == 2
