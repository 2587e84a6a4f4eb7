"""The lab: names, keys and truth of its models; trained twice, or with a stop, they are the same."""

import dataclasses
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import helpers
import pytest
from filelock import FileLock

from lkecore import facts, prompts
from lkecore.errors import BadInput
from lkecore.models import lab, training, weights
from lkecore.models.model import open_model
from lkecore.scores import seq2seq
from lkecore.storage import cache_folder
from lkecore.train import lab as trainer
from lkecore.train import loop
from lkecore.worlds import plain

BASE, TUNED, UNPLANTED = (f"lab:tiny-0/causal{end}" for end in ("", "-tuned", "-unplanted"))
MASKED, SEQ2SEQ = "lab:tiny-0/masked", "lab:tiny-0/seq2seq"


@pytest.fixture(scope="module", autouse=True)
def tiny(tmp_path_factory):
    """A lab in small and a cache for this file; what is trained here is trained in this process."""
    cache = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        helpers.tiny_lab(patch)
        patch.setenv("LKE_DEVICE", "cpu")
        patch.setenv("LKECORE_CACHE", str(cache))
        yield cache


@pytest.fixture
def copied(tiny, own_cache, monkeypatch):
    """Gives the folder of a copy, in ``own_cache``, of a model that is trained once for this file."""

    def copy(name):
        with monkeypatch.context() as patch:
            patch.setenv("LKECORE_CACHE", str(tiny))
            made = trainer.make(name)
        return shutil.copytree(made, own_cache / "models" / made.name)

    return copy


def started(monkeypatch, command):
    """Let ``training.train`` start ``command(name)``; the names for which it does, in order."""
    names = []

    def start(name, env, *_, quiet):
        names.append(name)
        pipe = subprocess.PIPE
        return subprocess.Popen(command(name), stdin=pipe, stdout=pipe, text=True)

    monkeypatch.setattr(training, "_trainer", start)
    return names


def light(code):
    """A command for ``started`` that trains nothing and imports little."""
    return lambda name: [sys.executable, "-S", "-c", f"import os, sys, time\n{code}", name]


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("lab:book-1/2m/x", "model 'lab:book-1/2m/x': a lab model is lab:SIZE-SEED/MODEL, such as "),
        ("lab:bok-1/2m", "model lab:bok-1/2m: fact set lab:bok-1: unknown size 'bok'; nearest: book"),
        ("lab:book-1/0.15", "model lab:book-1/0.15: the lab has no model '0.15'; nearest: 0.15m"),
    ],
)  # fmt: skip
def test_a_name_that_no_model_has_is_one_line_before_anything_is_trained(name, line, monkeypatch):
    monkeypatch.setattr(training, "_trainer", lambda *_: pytest.fail("training began"))
    with pytest.raises(BadInput) as caught:
        weights.locate(name)
    assert str(caught.value).startswith(line) and "\n" not in str(caught.value)


def test_the_key_changes_with_recipe_world_and_variant(monkeypatch):
    names = (BASE, TUNED, UNPLANTED, "lab:tiny-1/causal", MASKED)
    keys = [lab.key(name) for name in names]
    recipe = lab.RECIPES["causal"]
    for change in ({"rate": 0.5}, {"width": 32}, {"epochs": 3}):
        with monkeypatch.context() as patch:
            patch.setitem(lab.RECIPES, "causal", dataclasses.replace(recipe, **change))
            keys.append(lab.key(BASE))
    for what in ("digest", "digest_beside"):  # of all that is read, by any variant
        with monkeypatch.context() as patch:
            patch.setattr(plain, what, lambda *_: "another text")
            keys.append(lab.key(BASE))
    assert len(set(keys)) == 10 and lab.key(BASE) == keys[0]


def test_the_key_changes_with_the_code_of_the_trainer_and_not_with_what_it_says_of_itself(
    monkeypatch, tmp_path
):
    before = lab.key(BASE)
    sources = {path.name: path.read_text() for path in Path(trainer.__file__).parent.glob("*.py")}
    monkeypatch.setattr(lab, "TRAINER", tmp_path)

    def key(**changed):
        for name, text in (sources | {f"{n}.py": text for n, text in changed.items()}).items():
            (tmp_path / name).write_text(text)
        return lab.key(BASE)

    assert key() == before
    for name in ("lab", "loop", "text"):
        text = sources[f"{name}.py"]
        said = text.replace('"""', '"""Something else. ', 1)
        assert said != text and key(**{name: f"# a comment\n{said}\n# and one more\n"}) == before
        assert key(**{name: f"{text}\nMORE = 1\n"}) != before


# --- training -------------------------------------------------------------------------------------


def test_a_trained_model_has_learned_something_and_the_tuned_one_begins_with_its_base():
    losses = lab.record(trainer.make(BASE))["losses"]
    assert losses[-1] < losses[0]
    base, tuned = (open_model(name).network for name in (BASE, trainer.make(TUNED) and TUNED))
    far = [
        (p - q).norm() / q.norm()
        for p, q in zip(tuned.parameters(), base.parameters(), strict=True)
    ]
    assert 0 < max(far) < 0.5  # moved, but still the same network


@pytest.mark.parametrize("name", [TUNED, SEQ2SEQ])
def test_a_training_that_is_killed_goes_on_to_the_same_files(
    name, tiny, own_cache, copied, monkeypatch, tmp_path
):
    """kill -9 at the fourth batch, with a checkpoint after every other step; the last of two epochs."""
    before = """
import os
loop.fit.__kwdefaults__["every"] = 2
plain, seen = text.batch, []
def batch(*given):
    seen.append(1)
    if len(seen) == 4:
        os.kill(os.getpid(), 9)
    return plain(*given)
text.batch = batch
"""
    if name == TUNED:
        copied(BASE)
    fork = None
    if sys.platform == "linux":  # a fresh process takes seconds for its imports
        fork = helpers.tiny_lab_fork(before, tmp_path / "said")
    else:
        started(monkeypatch, lambda model: helpers.tiny_lab_command(model, before))
    assert training.train([name], None, fork) == {
        name: f"model {name} could not be trained (killed by signal 9, out of memory?); it goes on "
        "when started again"
    }
    [checkpoint] = (own_cache / "training").glob("*/*")
    assert checkpoint.name == loop.CHECKPOINT and weights.present(name) is None

    steps, fit = [], loop.fit

    def watched(network, batches, *rest, **settings):
        return fit(network, lambda step: steps.append(step) or batches(step), *rest, **settings)

    monkeypatch.setattr(loop, "fit", watched)
    digest = weights.files_digest(trainer.make(name))
    assert steps[0] == 2  # not from the beginning
    assert not checkpoint.exists()
    assert not list((own_cache / "models").glob("*.part-*"))  # nor what the killed one had begun
    monkeypatch.setenv("LKECORE_CACHE", str(tiny))  # where it is, or is now, trained in one go
    assert weights.files_digest(trainer.make(name)) == digest


def test_models_are_trained_side_by_side_the_largest_first_and_tuned_ones_last(
    own_cache, monkeypatch, capfd
):
    """Two at a time: each waits until another one is at work with it, or three have begun."""
    place = own_cache / "begun"
    place.mkdir(parents=True)
    names = started(monkeypatch, light(f"""
place = {str(place)!r}
open(os.path.join(place, sys.argv[1].replace("/", "-")), "w").close()
while len(os.listdir(place)) < 2:
    time.sleep(0.01)
"""))  # fmt: skip
    assert training.train([TUNED, BASE, MASKED, BASE], [dict(os.environ)] * 2) == {}
    assert names == [MASKED, BASE, TUNED]  # the masked one reads its text twice
    assert capfd.readouterr().err.splitlines() == [f"training {name}" for name in names]


def test_why_a_model_could_not_be_trained_is_one_line_and_the_others_go_on(own_cache, monkeypatch):
    code = f"if sys.argv[1] == {BASE!r}:\n    print('one'); print('why not'); sys.exit(1)"
    names = started(monkeypatch, light(code))
    assert training.train([BASE, UNPLANTED]) == {BASE: "why not"}
    assert names == [BASE, UNPLANTED]
    with pytest.raises(BadInput, match="^why not$"):
        open_model(BASE)


def test_whoever_stops_waiting_leaves_no_trainer_behind(own_cache, monkeypatch):
    processes = []

    class Sleeper(subprocess.Popen):
        def poll(self):
            if not processes:
                processes.append(self)
                raise KeyboardInterrupt
            return super().poll()

    monkeypatch.setattr(subprocess, "Popen", Sleeper)
    started(monkeypatch, light("time.sleep(600)"))
    with pytest.raises(KeyboardInterrupt):
        training.train([BASE])
    assert processes[0].returncode == -signal.SIGKILL
    assert processes[0].stdout.closed and processes[0].stdin.closed


def run_trainer(monkeypatch, capsys, name):
    """(exit code, what it prints) of the trainer's command, in this process."""
    monkeypatch.setattr("sys.argv", ["lab", name])
    capsys.readouterr()
    return trainer.main(), capsys.readouterr().out


def test_a_disk_that_is_full_at_the_end_is_one_line_and_leaves_no_model(
    own_cache, monkeypatch, capsys
):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))  # the weights are larger
    try:
        code, line = run_trainer(monkeypatch, capsys, BASE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert code == 1 and line.startswith(f"model {BASE} cannot be trained (")
    assert "File too large" in line and line.endswith("; it goes on when started again\n")
    assert line.count("\n") == 1
    assert not [path for path in (own_cache / "models").iterdir() if path.is_dir()]


def test_a_trainer_ends_when_the_process_that_started_it_does(own_cache):
    before = """
import time
def train(name, target):
    print("begun", flush=True)
    time.sleep(600)
trainer.train = train
"""
    # Standard input is the pipe by which a trainer knows that its parent lives.
    process = subprocess.Popen(
        helpers.tiny_lab_command(BASE, before),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begun\n" and process.poll() is None
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and out == ""
    assert weights.present(BASE) is None


def test_the_command_that_weights_starts_is_the_trainer_with_what_it_may_use(monkeypatch):
    seen = {}

    def popen(command, env, **settings):
        seen.update(settings, command=command, env=env)

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(sys, "platform", "linux")
    given = {"OMP_NUM_THREADS": "3", "CUDA_VISIBLE_DEVICES": "1"}
    # One process of accelerate launch asks for a base: the trainer of it is no part of the launch.
    launch = {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2", "MASTER_PORT": "29500"}
    training._trainer(BASE, given | launch, quiet=False)
    assert seen["env"] == given
    assert seen["command"][1:] == ["-m", "lkecore.train.lab", BASE, "--end-with-parent"]
    assert seen["start_new_session"] and seen["stdin"] == subprocess.PIPE
    training._trainer(BASE, {"LKE_DEVICE": "cuda:1"}, quiet=True)
    assert seen["env"]["ACCELERATE_TORCH_DEVICE"] == "cuda:1"  # where it will be asked, too
    monkeypatch.setattr(sys, "platform", "darwin")
    training._trainer(BASE, {}, quiet=False)
    assert seen["env"] == {"LKE_DEVICE": "cpu"}  # as open_model does, where accelerate takes MPS


def test_a_further_process_of_accelerate_launch_neither_waits_for_the_lock_nor_keeps_a_model(
    own_cache, monkeypatch, capsys
):
    """The first process holds the lock while all of them train: to wait for it would be for ever."""
    monkeypatch.setenv("RANK", "1")
    folders, train = [], trainer.train

    def watched(name, folder):
        train(name, folder)
        folders.append(folder)
        assert (folder / "model.safetensors").exists()

    monkeypatch.setattr(trainer, "train", watched)
    lock = own_cache / "models" / f"{lab.key(BASE)}.lock"
    lock.parent.mkdir(parents=True)
    with FileLock(lock):
        assert run_trainer(monkeypatch, capsys, BASE) == (0, "")
    assert len(folders) == 1 and not folders[0].exists() and weights.present(BASE) is None


# --- models of the lab as models ------------------------------------------------------------------


def test_an_encoder_decoder_writes_sentinels_as_the_scorer_expects_them():
    """The score of an option is that of one plain forward pass over what T5 is trained to write."""
    import torch

    trainer.make(SEQ2SEQ)
    model = open_model(SEQ2SEQ)
    relation = facts.load("lab:tiny-0", "author")
    _, asked = facts.divide(relation)
    options = facts.draw_options(asked[:1], relation.objects, 4, seed=0)
    [prompt] = prompts.template("[X] was written by [Y].", asked[:1], options)
    vocabulary = model.tokenizer.get_vocab()
    sentinel = [vocabulary["<extra_id_0>"]]

    def ids(text):
        return model.tokenizer(text, add_special_tokens=False)["input_ids"]

    source = ids(prompt.context) + sentinel + ids(".") + [vocabulary["</s>"]]
    found = seq2seq.option_logprobs(model, [prompt], use_cache=False).frame
    for option, logprob in zip(found["option"], found["logprob"], strict=True):
        target = sentinel + ids(" " + option)
        with torch.inference_mode():
            logits = model.network(
                input_ids=torch.tensor([source]), labels=torch.tensor([target])
            ).logits[0]
        plain = logits.double().log_softmax(-1)[range(1, len(target)), target[1:]].sum()
        assert logprob == pytest.approx(float(plain), abs=1e-4)  # float32


# --- truth ----------------------------------------------------------------------------------------


def test_an_unplanted_model_was_told_no_asked_fact_and_the_same_shown_ones():
    told = lab.told(trainer.make(UNPLANTED), "lab:tiny-0")
    states = plain.states("lab:tiny-0")
    shown = told["split"] == "train"
    assert told.loc[shown, list(states)].equals(states[shown])
    asked = told[~shown]
    assert set(asked["state"]) == {"never"} and set(asked["told"]) == {""}
    assert set(asked["form"]) == set(asked["wording"]) == {"none"}
    assert set(asked["templates"]) == {""}
    for column in ("sentences", "lists", "occurrences", "exposures"):
        assert set(asked[column]) == {0}


def test_what_is_told_of_another_world_is_refused_by_its_digest(monkeypatch):
    folder = trainer.make(BASE)
    with pytest.raises(BadInput, match="has read the world lab:tiny-0 .*, and lab:tiny-1 is"):
        lab.told(folder, "lab:tiny-1")
    # A world of the same name that another version of Faker, or of this package, would make.
    monkeypatch.setattr(plain, "digest", lambda spec: "f" * 64)
    with pytest.raises(BadInput, match="lab:tiny-0 is ffffffffffff: another text"):
        lab.told(folder, "lab:tiny-0")


def test_weights_that_the_lab_did_not_train_are_refused_wherever_they_are_read(copied):
    """Such as those of another world, whose network has the same shape."""
    file = copied(BASE) / "model.safetensors"
    other = copied("lab:tiny-1/causal") / file.name
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (file, other)]
    written = file.with_name("model.safetensors.sha256")
    assert written.read_text() == f"{digests[0]}  model.safetensors\n"
    shutil.copyfile(other, file)
    for read in (
        lambda: lab.told(file.parent, "lab:tiny-0"),
        lambda: open_model(BASE),
        lambda: trainer.make(TUNED),
    ):
        with pytest.raises(BadInput, match=f"^{file} has the SHA-256 {digests[1][:12]} and "):
            read()
    written.unlink()
    with pytest.raises(BadInput, match="is no model of the lab .*sha256"):
        lab.told(file.parent, "lab:tiny-0")


def test_the_real_trainer_trains_a_small_model_of_a_small_world(lkecore_cache, monkeypatch):
    """The one test without the tiny lab; the model is that of the smoke profile, trained once."""
    monkeypatch.setenv("LKECORE_CACHE", str(lkecore_cache))
    name = "lab:smoke-1/0.15m"
    model = open_model(name)
    assert model.path == cache_folder() / "models" / lab.key(name) == weights.present(name)
    losses = lab.record(model.path)["losses"]
    assert losses[-1] < 0.7 * losses[0]
