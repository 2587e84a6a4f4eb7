"""The door to lm-evaluation-harness: its numbers, in fewer tokens.

What it computes is tested against plain forward passes, without lm-eval. That it computes what ``--model hf``
does is tested where lm-eval is installed, as in `make bench`'s environment, and skipped elsewhere.
"""

import dataclasses
import glob
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import helpers
import numpy as np
import pytest
import torch
import yaml
from click.testing import CliRunner
from transformers import LlamaConfig, T5Config

from lkecore import lmeval
from lkecore.cli.main import lke
from lkecore.errors import BadInput
from lkecore.models import weights
from lkecore.prompts import harness

THERE = importlib.util.find_spec("lm_eval") is not None
needs_lm_eval = pytest.mark.skipif(not THERE, reason="lm-eval is not installed (make bench has it)")
# The user's own cache, while it is still that: tests get one of their own.
SMOLLM2 = weights.locate("smollm2") if THERE and weights.is_ready("smollm2") else None
# The toy's tokenizer has neither token that theirs takes for the empty context.
TOY = {"device": "cpu", "dtype": "float32", "prefix_token_id": 0}
NATS = 5e-4  # float32 sums of up to 30 tokens, in passes of other shapes


class Stub(lmeval.TreeLM):
    """What their constructor would leave behind; ``told`` is what its cache was told."""

    model = max_length = rank = mixed_precision_dtype = None  # properties of theirs

    def __init__(self, window=64):
        self.model, self.max_length, self.rank, self.told = helpers.network(), window, 0, []
        self.cache_hook = SimpleNamespace(add_partial=lambda *said: self.told.append(said))


def by_hand(network, window, context, own):
    """One plain forward pass over what fits: the sum, and whether greedy decoding writes ``own``."""
    ids = torch.tensor([(context + own)[-(window + 1) :]])
    with torch.inference_mode():
        rows = network(ids[:, :-1], use_cache=False).logits[0, -len(own) :].double().log_softmax(-1)
    wanted = torch.tensor(own)
    return rows[range(len(own)), wanted].sum().item(), bool((rows.argmax(-1) == wanted).all())


def requests_of(network):
    """Contexts that share beginnings, one beyond the window, equal requests, and one that is greedy."""
    random = np.random.default_rng(0)
    shots = random.integers(50, size=30).tolist()
    found = [
        ((str(i), "x"), shots[: 20 + i % 9] + [i], random.integers(50, size=1 + i % 4).tolist())
        for i in range(20)
    ]
    found += [found[3], (None, shots, [1, 2]), (("long", "x"), shots * 4, [5, 6, 7])]
    found += [(("all its own", "x"), [1], random.integers(50, size=64).tolist())]
    context = shots[:9]
    with torch.inference_mode():
        for _ in range(3):  # the three likeliest tokens, one after the other
            context = [*context, network(torch.tensor([context])).logits[0, -1].argmax().item()]
    return [*found, (("greedy", "x"), context[:-3], context[-3:])]


@pytest.mark.parametrize("nodes", [200_000, 40], ids=["one tree", "many trees"])
def test_each_request_has_the_number_and_the_flag_of_a_plain_pass(nodes, monkeypatch):
    monkeypatch.setattr(lmeval, "NODES", nodes)
    lm = Stub()
    asked = requests_of(lm.model)
    found = lm._loglikelihood_tokens(asked, disable_tqdm=True)
    wanted = [by_hand(lm.model, 64, context, own) for _, context, own in asked]
    np.testing.assert_allclose([x for x, _ in found], [x for x, _ in wanted], rtol=0, atol=NATS)
    assert [flag for _, flag in found] == [flag for _, flag in wanted]
    assert found[-1][1] and not all(flag for _, flag in found)
    # Their cache is told every request that has texts, once, with its own answer.
    assert sorted(lm.told) == sorted(
        ("loglikelihood", a[0], f) for a, f in zip(asked, found, strict=True) if a[0]
    )


@pytest.mark.parametrize(
    ("context", "own", "said"),
    [
        ([], [1], "0 tokens in front and 1 of its own"),
        ([1], [], "1 tokens in front and 0 of its own"),
        ([1], [2] * 65, "at most 64 of its own"),
    ],
)
def test_a_request_that_cannot_be_scored_is_refused_by_its_number(context, own, said):
    lm = Stub()
    with pytest.raises(BadInput, match=f"request 1 .*Berlin.*{said}"):
        lm._loglikelihood_tokens([(("a", "b"), [1], [2]), (("Germany", "Berlin"), context, own)])


def test_a_request_of_a_length_that_is_read_otherwise_is_refused_before_any_is_scored():
    """Also where all are left to theirs, which pads a short text to the length of a long one."""
    lm = Stub()
    rope = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1e4}
    lm.model = helpers.network(rope_parameters=rope, max_position_embeddings=20)
    lm.mixed_precision_dtype = torch.bfloat16
    asked = [(("a", "b"), [1, 2], [3]), (("c", "d"), list(range(19)), [4, 5])]
    with pytest.raises(BadInput, match="LlamaForCausalLM reads a string of 21 tokens otherwise"):
        lm._loglikelihood_tokens(asked)
    assert not lm.told


def test_what_is_no_number_never_becomes_one():
    lm = Stub()
    with torch.no_grad():
        lm.model.get_output_embeddings().weight[7] = float("nan")
    with pytest.raises(BadInput, match="no numbers|NaN"):
        lm._loglikelihood_tokens([(("a", "b"), [1, 2], [3])])
    assert not lm.told


def test_a_model_with_an_encoder_is_refused_before_its_weights_are_loaded():
    class Theirs:
        AUTO_MODEL_CLASS = None

        def _get_backend(self, config):
            self.backend = "seq2seq" if config.is_encoder_decoder else "causal"

    class Both(lmeval.TreeLM, *([] if THERE else [Theirs])):
        pass

    lm = Both.__new__(Both)
    lm._get_backend(config=LlamaConfig())
    with pytest.raises(BadInput, match="take --model hf"):
        lm._get_backend(config=T5Config())


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "not installed: pip install 'lkecore[lmeval]'"),
        ("0.5.0", "lm-eval 0.5.0 is installed, and only 0.4.13"),
    ],
)
def test_without_the_lm_eval_that_was_tried_there_is_one_line(found, said, monkeypatch, capsys):
    def version(name):
        if found is None:
            raise PackageNotFoundError(name)
        return found

    monkeypatch.setattr(lmeval, "version", version)
    with pytest.raises(SystemExit) as stopped:
        lmeval.main()
    error = capsys.readouterr().err
    assert stopped.value.code == 2 and said in error and error.count("\n") == 1


def test_a_task_holds_the_questions_as_they_were(tmp_path):
    asked = [
        helpers.prompt("Italy Rome France", ("Paris", "Lyon"), fact="f1"),
        helpers.prompt("Spain", ("a", "b")),
    ]
    name = harness.write_task(tmp_path / "new", "atlas", "x_y", asked)
    assert name == "lke_atlas_x_y"
    says = yaml.safe_load((tmp_path / "new" / f"{name}.yaml").read_text(encoding="utf-8"))
    file = Path(says["dataset_kwargs"]["data_files"]["test"])
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert says["task"] == name and says["target_delimiter"] == "" and says["num_fewshot"] == 0
    for row, p in zip(rows, asked, strict=True):
        assert row[says["doc_to_text"]] == p.context
        assert tuple(row[says["doc_to_choice"]]) == p.continuations
        assert row[says["doc_to_target"]] == p.gold


def test_each_relation_has_a_task_of_its_own_in_plain_small_letters(tmp_path):
    one = [helpers.prompt("Italy", ("Rome", "Lyon"))]
    relations = ["столица", "город", "P36", "p36", "p-36", "p_36", "p 36", "a" * 300, "a" * 299, ""]
    names = [harness.write_task(tmp_path, "uni", relation, one) for relation in relations]
    names.append(harness.write_task(tmp_path, "uni_p", "36", one))  # the words run together
    assert len(set(names)) == len(names) and all(re.fullmatch("[a-z0-9_]+", n) for n in names)
    assert len(list(tmp_path.iterdir())) == 2 * len(names)


def test_a_task_is_written_over_its_own_and_over_no_other(tmp_path):
    one = [helpers.prompt("Italy", ("Rome", "Lyon"))]
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "f.jsonl").touch()
    name = harness.write_task(tmp_path / "t", str(tmp_path / "x" / "f.jsonl"), "f", one)
    before = {file: file.read_bytes() for file in (tmp_path / "t").iterdir()}
    with pytest.raises(
        BadInput, match=rf"{name}.yaml is the task of {tmp_path}/x/f.jsonl, relation f;"
    ):
        harness.write_task(tmp_path / "t", str(tmp_path / "y" / "f.jsonl"), "f", one * 2)
    assert before == {file: file.read_bytes() for file in (tmp_path / "t").iterdir()}
    assert harness.write_task(tmp_path / "t", str(tmp_path / "x" / "f.jsonl"), "f", one * 2) == name
    (tmp_path / "t" / f"{name}.yaml").write_text("mine: 1")
    with pytest.raises(BadInput, match="is the task of something else"):
        harness.write_task(tmp_path / "t", str(tmp_path / "x" / "f.jsonl"), "f", one)


def test_a_folder_of_any_name_is_no_pattern_for_files_and_no_word_for_a_shell(tmp_path):
    folder = tmp_path / "tasks [v2] *?"
    given = ["facts", "atlas", "--relation", "element_symbol", "--lm-eval", str(folder)]
    done = CliRunner().invoke(lke, given)
    words = shlex.split(done.output.splitlines()[-1])
    assert words[words.index("--include_path") + 1] == str(folder)
    says = yaml.safe_load((folder / "lke_atlas_element_symbol.yaml").read_text(encoding="utf-8"))
    found = glob.glob(says["dataset_kwargs"]["data_files"]["test"])
    assert found == [str(folder / "lke_atlas_element_symbol.jsonl")]


def test_the_command_writes_a_task_and_wants_both_of_its_options(tmp_path):
    given = ["facts", "atlas", "--relation", "element_symbol"]
    done = CliRunner().invoke(lke, [*given, "--lm-eval", str(tmp_path)])
    rows = (tmp_path / "lke_atlas_element_symbol.jsonl").read_text(encoding="utf-8").splitlines()
    assert done.output.startswith(f"{tmp_path}: {len(rows)} questions")
    assert len(rows) == 59 and {len(json.loads(row)["choices"]) for row in rows} == {100}
    for half in (given, ["facts", "--lm-eval", str(tmp_path)]):
        assert "go together" in str(CliRunner().invoke(lke, half).exception)


def test_a_task_of_blanks_inside_a_text_is_refused(tmp_path):
    asked = dataclasses.replace(helpers.prompt("a", ("b", "c")), after=" is it.")
    with pytest.raises(BadInput, match="stands behind the blank"):
        harness.write_task(tmp_path, "x", "y", [asked])


# --- beside their own model


def write_task(folder, name, rows, **more):
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    says = {
        "task": name, "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(file)}},
        "test_split": "test", "output_type": "multiple_choice", "doc_to_text": "context",
        "doc_to_choice": "choices", "doc_to_target": "gold", "target_delimiter": " ", "num_fewshot": 0,
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
    }  # fmt: skip
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(says | more), encoding="utf-8")


WORDS = "Paris Rome Oslo Madrid Berlin Vienna Lisbon Athens Warsaw Dublin Prague Cairo".split()


def three_tasks(folder):
    """Letters behind the same shots, names behind the same, long endings."""
    random = np.random.default_rng(0)
    shots = "".join(
        f"Question {i}: which? A. {a} B. {b}\nAnswer: A\n"
        for i, (a, b) in enumerate(pairwise(WORDS))
    )
    four = [random.choice(WORDS, 4, replace=False).tolist() for _ in range(8)]
    write_task(folder, "letters", [
        {"context": f"{shots}Question: {' '.join(names)}?\nAnswer:", "choices": list("ABCD"), "gold": i % 4}
        for i, names in enumerate(four)
    ])  # fmt: skip
    write_task(folder, "names", [
        {"context": f"{shots}Name {i} is", "choices": names, "gold": i % 4} for i, names in enumerate(four)
    ])  # fmt: skip
    long = [[" ".join(random.choice(WORDS, 15)) for _ in range(3)] for _ in range(4)]
    write_task(folder, "endings", [
        {"context": "He says that" if i else "", "choices": ends, "gold": 0} for i, ends in enumerate(long)
    ])  # fmt: skip
    return ["letters", "names", "endings"]


def evaluated(lm, folder, names):
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    return simple_evaluate(
        lm,
        tasks=names,
        task_manager=TaskManager(include_path=str(folder)),
        bootstrap_iters=0,
        verbosity="ERROR",
    )


@needs_lm_eval
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["toy", "smollm2"])
def test_every_request_and_metric_is_that_of_their_own_model(name, tmp_path):
    from lm_eval.models.huggingface import HFLM

    if name == "smollm2" and not SMOLLM2:
        pytest.skip("the embedded model is not on this machine, and no test fetches one")
    given = {**TOY, "pretrained": str(SMOLLM2 if name == "smollm2" else weights.locate(name))}
    names = three_tasks(tmp_path)
    theirs, ours = (
        evaluated(kind(**given, batch_size=4), tmp_path, names) for kind in (HFLM, lmeval.TreeLM)
    )
    assert ours["results"] == theirs["results"]
    for task in names:
        for a, b in zip(ours["samples"][task], theirs["samples"][task], strict=True):
            assert [flag for ((_, flag),) in a["resps"]] == [flag for ((_, flag),) in b["resps"]]
            sums = [[float(value) for ((value, _),) in x["resps"]] for x in (a, b)]
            np.testing.assert_allclose(*sums, rtol=0, atol=NATS)


@needs_lm_eval
@pytest.mark.filterwarnings("ignore")
def test_cut_contexts_and_rolling_sums_are_theirs_and_so_is_what_is_left_to_them(tmp_path, capsys):
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    given = {**TOY, "pretrained": str(weights.locate("toy")), "max_length": 24}
    theirs, ours = HFLM(**given), lmeval.TreeLM(**given)
    pairs = [(" ".join(WORDS * 3), " Paris"), ("", "Rome"), *[("Italy is", " Rome")] * 2]
    asked = [Instance("loglikelihood", {}, pair, i) for i, pair in enumerate(pairs)]
    rolling = [Instance("loglikelihood_rolling", {}, (" ".join(WORDS * 3),), 0)]
    for call, what in (("loglikelihood", asked), ("loglikelihood_rolling", rolling)):
        a, b = (
            np.array(getattr(lm, call)(what, disable_tqdm=True), dtype=float)
            for lm in (ours, theirs)
        )
        np.testing.assert_allclose(a, b, rtol=0, atol=NATS)
    ours.mixed_precision_dtype = theirs.mixed_precision_dtype = torch.bfloat16
    a, b = (
        np.array(lm.loglikelihood(asked, disable_tqdm=True), dtype=float) for lm in (ours, theirs)
    )
    np.testing.assert_array_equal(a, b)
    assert "mixed precision: requests are scored as by --model hf" in capsys.readouterr().err


@needs_lm_eval
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "launch", [[], ["-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2"]]
)
def test_our_facts_as_their_task_have_the_accuracy_of_lke_score(launch, tmp_path):
    """By both commands, as a user gives them; also where accelerate starts two processes."""
    tasks = tmp_path / "tasks [v2]"
    facts = CliRunner().invoke(
        lke, ["facts", "--relation", "element_symbol", "--lm-eval", str(tasks)]
    )
    name = facts.output.split()[-1]
    score = ["score", *"--model toy --relation element_symbol --out".split(), str(tmp_path / "out")]
    wanted = json.loads(CliRunner().invoke(lke, score).output.splitlines()[-1])["accuracy"]
    given = f"pretrained={weights.locate('toy')},dtype=float32,prefix_token_id=0"
    ask = ["-m", "lkecore.lmeval", "--model", "lke", "--model_args", given, "--device", "cpu"]
    ask += ["--include_path", str(tasks), "--tasks", name, "--output_path", str(tmp_path / "found")]
    offline = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, *launch, *ask], env=offline, capture_output=True, text=True
    )
    assert not done.returncode, done.stderr
    [file, *_] = (tmp_path / "found").rglob("results*.json")
    assert json.loads(file.read_text())["results"][name]["acc,none"] == pytest.approx(wanted)
