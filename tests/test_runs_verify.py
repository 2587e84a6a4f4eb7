"""Verify: what is damaged or left is named, the rest is not, and nothing is deleted."""

import hashlib
import json
import os
import subprocess
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

from lkecore import storage
from lkecore.cli.main import lke


def flip(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A run, a try that failed, a model, a score file, and what a living process is at."""
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    run, failed = tmp_path / "runs" / "a-0123456789ab", tmp_path / "runs" / "b-0123456789ab"
    model, scores = tmp_path / "cache" / "models" / "toy-1", tmp_path / "cache" / "scores" / "ab"
    for folder in (run, failed, model, scores):
        folder.mkdir(parents=True)
    digest = hashlib.sha256(b"{}").hexdigest()
    for folder in (run, model):
        (folder / "one, two.json").write_text("{}")
    (run / "manifest.json").write_text(json.dumps({"files": {"one, two.json": digest}}))
    (run / "log.txt").write_text("of no digest")
    (failed / "failure.json").write_text("")
    (model / "SHA256SUMS").write_text(f"{digest}  one, two.json\n")
    frame = pd.DataFrame({"logprob": [-0.1 * i for i in range(2000)]})
    (scores / "abcd.parquet").write_bytes(frame.to_parquet(write_page_checksum=True))
    for place, stem in ((run.parent, ".a-0123456789ab."), (model.parent, "toy-1.part-")):
        storage.new_part(place, stem)
    return tmp_path


def verify(*arguments):
    done = CliRunner().invoke(lke, ["verify", *arguments])
    return done.exit_code, done.stdout.splitlines()


@pytest.mark.parametrize(
    ("name", "damage", "folder", "why"),
    [
        ("runs/a-0123456789ab/one, two.json", lambda p: flip(p, 0), True, "not as written: one, t"),
        ("runs/a-0123456789ab/one, two.json", os.unlink, True, "not as written: one, two.json"),
        ("runs/a-0123456789ab/manifest.json", lambda p: os.truncate(p, 9), True, "manifest.json c"),
        ("cache/models/toy-1/one, two.json", lambda p: flip(p, 1), True, "not as written: one, tw"),
        ("cache/scores/ab/abcd.parquet", lambda p: flip(p, 500), False, "cannot be read ("),
    ],
)
def test_what_is_damaged_is_named_and_moved_away_only_where_asked(kept, name, damage, folder, why):
    assert verify() == (0, ["all is as it was written"])
    path = kept / name
    damage(path)
    whole = path.parent if folder else path
    shown = whole.relative_to(kept) if name.startswith("runs") else whole
    code, [line] = verify()
    assert code == 1 and line.startswith(f"{shown}: {why}") and whole.exists()
    code, [line] = verify("--aside")
    assert code == 1 and line.endswith(f"; now {shown.parent / '.aside' / shown.name}")
    assert not whole.exists() and (whole.parent / ".aside" / whole.name).exists()
    assert verify() == (0, ["all is as it was written"])


def test_what_a_dead_process_began_is_named_and_what_another_machine_is_at_is_not(kept):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here = os.uname().nodename
    left = [f"runs/.a-0123456789ab.{ended.pid}-7@{here}.abc_d12"]
    left += [f"cache/models/toy-1.part-{ended.pid}-7@{here}.abc_d12"]
    for name in [*left, f"runs/.a-0123456789ab.{ended.pid}-7@of.{here}.abc_d12"]:
        (kept / name).mkdir()
    code, lines = verify()
    assert code == 1
    assert lines == [f"{at}: begun by a process that is gone" for at in (left[0], kept / left[1])]


def test_a_folder_that_is_not_there_is_a_mistake(kept):
    done = CliRunner().invoke(lke, ["verify", "--runs", "rums"])
    assert str(done.exception) == "rums: no folder of runs; name one with --runs"
