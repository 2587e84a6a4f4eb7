"""Which revision is meant, what the hub's mistakes read like, and a lock file that is never half."""

import os
from pathlib import Path

import helpers
import hub_standins
import pytest
from huggingface_hub import constants, errors

from lkecore import hub
from lkecore.errors import BadInput

A = "a" * 40
ROW = f"org/name\t{A}\tsafetensors\tno\t2026-01-31\n"


@pytest.fixture
def standin(tmp_path, monkeypatch):
    return hub_standins.install(monkeypatch, tmp_path / "hub")


@pytest.fixture
def lock(tmp_path, monkeypatch, standin):
    """Writes a lock file and puts it in force."""

    def write(text: str) -> Path:
        path = tmp_path / "models.lock"
        path.write_text(text)
        monkeypatch.setenv("LKE_MODELS_LOCK", str(path))
        return path

    return write


# --- which revision


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("org/name abc\n", "line 1: expected 'id\\\\trevision"),
        (ROW + ROW, "line 2: org/name is there twice"),
        (ROW.replace(A, A[:12]), "a revision has 40 hexadecimal digits, found 'aaaaaaaaaaaa'"),
    ],
)
def test_a_lock_with_a_line_that_is_none_is_refused(lock, text, message):
    lock(text)
    with pytest.raises(BadInput, match=message):
        hub.pinned("org/name")


def test_a_lock_that_cannot_be_read_is_refused(lock, tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_MODELS_LOCK", str(tmp_path / "absent"))
    with pytest.raises(BadInput, match="models lock .*absent cannot be read"):
        hub.pinned("org/name")
    lock("").write_bytes(b"\xff")
    with pytest.raises(BadInput, match="is not UTF-8"):
        hub.pinned("org/name")


def test_the_commit_of_a_branch_is_known_where_the_hub_s_cache_has_it(standin):
    assert hub.commit("org/name") is None and hub.snapshot("org/name") is None
    assert hub.commit(f"org/name@{A}") == A  # a commit needs no cache
    commit = standin.add("org/name", {"config.json": b"{}"})
    folder = hub.fetch("org/name", ["*.json"])
    assert hub.commit("org/name") == hub.commit("org/name@main") == commit
    assert hub.snapshot("org/name") == hub.snapshot(f"org/name@{commit}") == folder
    assert hub.commit("org/name@v1") is None


# --- fetch


def test_files_are_fetched_at_the_revision_of_the_lock(lock, standin):
    commit = standin.add("org/name", {"config.json": b"{}", "x.bin": b"", "sub/y.json": b""})
    lock(f"# a comment\n\n{ROW}".replace(A, commit))
    assert hub.pinned("org/name@v1") == ("org/name", "v1")  # the name has its own
    folder = hub.fetch("org/name", ["*.json"])
    assert standin.asked[0] == ("org/name", commit)
    assert [p.name for p in folder.iterdir()] == ["config.json"]


NOT_HERE = "not on this machine, and the "
OFF = "network is off (HF_HUB_OFFLINE)"


@pytest.mark.parametrize(
    ("error", "offline", "reason"),
    [
        (hub_standins.http(errors.GatedRepoError), False, "gated: accept its terms on "
         "https://huggingface.co/org/name, then set HF_TOKEN or call hf auth login"),
        (hub_standins.http(errors.RepositoryNotFoundError), False,
         "no such repository on the hub, or a private one (set HF_TOKEN for those)"),
        (errors.LocalEntryNotFoundError("Got: Error\nand more"), False, f"{NOT_HERE}hub cannot be reached"),
        (errors.LocalEntryNotFoundError("outgoing traffic has been disabled"), True, NOT_HERE + OFF),
        (OSError("disk full\nand more"), False, "not from the hub (OSError: disk full)"),
    ],
)  # fmt: skip
def test_what_the_hub_refuses_is_one_line_that_says_what_to_do(
    standin, monkeypatch, error, offline, reason
):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    standin.errors["org/name"] = error
    said = helpers.refusal(hub.fetch, "org/name@v1", ["*.json"])
    assert said == f"model org/name@v1: {reason}"


# --- ask and lock


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        (["model.safetensors", "pytorch_model.bin"], "safetensors"),
        (["pytorch_model-00001-of-00002.bin", "training_args.bin"], "bin"),
        (["m.Q4_0.gguf", "README.md"], "gguf"),
        (["training_args.bin", "sub/model.safetensors", "consolidated.safetensors"], "none"),
    ],
)
def test_the_kind_of_weights_is_the_best_one_that_transformers_would_read(standin, files, kind):
    commit = standin.add("org/name", dict.fromkeys(files, b""))
    found = hub.ask("org/name")
    assert (found.weights, found.revision, found.gated) == (kind, commit, "no")


def test_a_row_is_changed_only_on_demand_and_a_failure_keeps_it(standin, lock):
    path = lock(ROW)
    new = standin.add("org/name", {"model.safetensors": b"new"})
    assert hub.lock(path, ["org/name"]) == ({}, [])
    assert hub.read_lock(path)["org/name"].revision == A and standin.asked == []

    changed, _ = hub.lock(path, ["org/name"], update=True)
    assert hub.read_lock(path)["org/name"].revision == changed["org/name"].revision == new

    del standin.files["org/name"]
    other = standin.add("org/other", {})
    changed, failures = hub.lock(path, ["org/name", "org/other", "org/gone"], update=True)
    assert [f.partition(": no such repository")[0] for f in failures] == [
        "model org/name",
        "model org/gone",
    ]
    assert set(changed) == {"org/other"}
    kept = hub.read_lock(path)
    assert {k: v.revision for k, v in kept.items()} == {"org/name": new, "org/other": other}


def test_a_lock_that_is_interrupted_or_broken_is_left_as_it_was(standin, lock, monkeypatch):
    path = lock(ROW)
    standin.add("org/other", {})

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            hub.lock(path, ["org/other"])
    assert path.read_text() == ROW
    path.write_text(ROW + "broken\n")
    with pytest.raises(BadInput, match="line 2"):
        hub.lock(path, ["org/other"])
    assert path.read_text() == ROW + "broken\n"
