"""A model behind a server: the numbers of one plain pass a string, and those of a server that fails."""

import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path

import helpers
import numpy as np
import pandas as pd
import projects
import pytest
import servers
from helpers import prompt
from test_scores_tree import JOBS

from lkecore import answers, runs
from lkecore.errors import BadInput
from lkecore.models import open_model, served
from lkecore.runs import labels
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import encode
from lkecore.tasks import served as asking

NATS = 1e-5  # JSON keeps all digits of what a pass of its own gives for each prefix
KEY = "sk-a-key-that-nobody-may-read"
NETWORK, TOKENIZER = helpers.network(), helpers.char_tokenizer()
RECORDED = json.loads((Path(__file__).parent / "data" / "vllm.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("served") / "small-model"
    NETWORK.save_pretrained(found)
    TOKENIZER.save_pretrained(found)
    return found


@pytest.fixture
def server(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(served, "NODES", 6)
    served._who.cache_clear()
    with servers.serving(NETWORK, TOKENIZER, folder.name) as running:
        monkeypatch.setenv("LKE_SERVER", running.address)
        yield running


@pytest.fixture(scope="module")
def model(folder):
    """What a server says of itself, asked once for all tests that are about other questions."""
    with (
        servers.serving(NETWORK, TOKENIZER, folder.name) as first,
        pytest.MonkeyPatch.context() as at,
    ):
        at.setenv("LKE_SERVER", first.address)
        return open_model(f"served:{folder}")


def opened(folder):
    served._who.cache_clear()
    return open_model(f"served:{folder}")


def plain(prompts, network=NETWORK, **how):
    encoded = encode(TOKENIZER, prompts, front=(), **how)
    return np.concatenate([option_logprobs_plain(network, e) for e in encoded])


def questions(server):
    """The questions about options, but for the one that looks whether it can be asked."""
    bodies = [body for _, body in server.asked if body]
    return [b for b in bodies if "logprob_token_ids" in b or "echo" in b][1:]


# --- numbers


TWICE = "a context that begins another, and the same twice"
CASES = [(job, "names", False) for job in ("shots", "options of one token", TWICE)]
CASES += [("shots", "names", True), ("two relations", "echo", True), ("one fact", "echo", False)]


@pytest.mark.parametrize("job, way, separate", CASES)
def test_a_server_says_what_one_plain_pass_for_each_string_says(job, way, separate, model, server):
    model = replace(model, said=model.said | {"names_tokens": way == "names"})
    found = asking.option_logprobs(model, JOBS[job], separate=separate)
    wanted = plain(JOBS[job], separate=separate)
    np.testing.assert_allclose(found.frame["logprob"], wanted, rtol=0, atol=NATS)
    strings = [
        (e.prompt.relation, row, start)
        for e in encode(TOKENIZER, JOBS[job], front=(), separate=separate)
        for row, start in zip(e.sequences, e.starts, strict=True)
    ]
    prefixes = {(r, row[:n]) for r, row, start in strings for n in range(start, len(row))}
    assert len(server.asked) == len(prefixes if way == "names" else strings)
    if way == "names":
        assert found.tokens_forwarded == sum(len(row) for _, row in prefixes)


def test_more_tokens_than_a_question_may_name_are_several_questions(model, server, monkeypatch):
    monkeypatch.setattr(served, "MOST", 3)
    some = [prompt("Kenya", "abcdefgh")]
    found = asking.option_logprobs(model, some).frame["logprob"]
    np.testing.assert_allclose(found, plain(some), rtol=0, atol=NATS)
    assert sorted(len(body["logprob_token_ids"]) for _, body in server.asked) == [2, 3, 3]


def test_what_is_kept_is_asked_once_and_another_model_of_the_same_name_is_asked_all(folder, server):
    job = JOBS["two relations"]
    first = asking.option_logprobs(opened(folder), job)
    n = len(questions(server))
    again = asking.option_logprobs(opened(folder), job)
    assert again.cached and not again.tokens_forwarded
    pd.testing.assert_frame_equal(first.frame, again.frame, check_exact=True)
    before = opened(folder).digest
    server.asked.clear()
    server.network = helpers.network(seed=1)
    other = opened(folder)
    assert other.digest != before and other.said["id"] == folder.name
    swapped = asking.option_logprobs(other, job)
    assert not swapped.cached and len(questions(server)) == n
    wanted = plain(job, server.network)
    np.testing.assert_allclose(swapped.frame["logprob"], wanted, rtol=0, atol=NATS)


@pytest.mark.parametrize("changes", [{"version": "0.33.0"}, {}])
def test_a_server_that_starts_again_is_the_same_unless_it_says_otherwise(changes, folder, server):
    before = opened(folder).digest
    with servers.serving(NETWORK, TOKENIZER, folder.name) as second:
        vars(second).update(changes)
        os.environ["LKE_SERVER"] = second.address + "/v1/"
        assert (opened(folder).digest == before) == (not changes)


def test_noise_that_is_small_changes_no_name_and_is_told(folder, server):
    before = opened(folder)
    assert before.said["moved"] == 0
    server.off = 0.015
    noisy = opened(folder)
    assert noisy.digest == before.digest and 0.014 < noisy.said["moved"] < 0.016


# --- the shape of what a real one has answered


def shape(answer):
    """The keys of an answer, at any depth, with what kind of value they have; of a list the last one's."""
    if isinstance(answer, dict):
        return {re.sub(r":\d+", ":N", key): shape(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [shape(answer[-1])] if answer else []
    number = isinstance(answer, int | float) and answer is not True
    return "number" if number else type(answer).__name__


def compare(wanted, found, place):
    """An answer has nothing that a recorded one has not, and each of it is of the same kind."""
    if isinstance(found, dict):
        assert isinstance(wanted, dict) and set(found) <= set(wanted), place
        for key in found:
            compare(wanted[key], found[key], f"{place}: {key}")
    elif isinstance(found, list) and found and wanted:
        compare(wanted[0], found[0], place)
    else:
        assert found == wanted, place


@pytest.mark.parametrize("recorded", RECORDED["answers"], ids=lambda each: each["about"])
def test_the_server_of_these_tests_answers_as_the_real_one_did(recorded, server):
    body = dict(recorded["body"] or {})
    for key in {"prompt", "logprob_token_ids"} & set(body):
        if isinstance(body[key], list):  # ids of another vocabulary
            body[key] = [i % 60 for i in body[key]]
    status, answer = server.answer(recorded["path"], body)
    assert status == recorded["status"]
    compare(shape(recorded["answer"]), shape(answer), recorded["about"])


# --- a server that fails


def value_of(ids, value):
    """A fault: the token of ``ids`` has this value, or with ``...`` none at all."""

    def changed(status, content):
        [top] = content["choices"][0]["logprobs"]["top_logprobs"]
        if value is ...:
            del top[f"token_id:{ids}"]
        else:
            top[f"token_id:{ids}"] = value
        return status, content

    return changed


@pytest.mark.parametrize("status", [503, None])
def test_a_server_that_is_busy_or_cuts_the_line_is_asked_again(status, model, server):
    server.faults = [lambda *_: status and (status, {})] * 2
    found = asking.option_logprobs(model, JOBS["one fact"]).frame["logprob"]
    np.testing.assert_allclose(found, plain(JOBS["one fact"]), rtol=0, atol=NATS)


@pytest.mark.parametrize("value", [..., math.nan, -9999.0, "-1.0"])
def test_a_number_that_is_none_names_the_option_and_is_never_0(value, model, server):
    server.faults = [value_of(TOKENIZER("b")["input_ids"][0], value)]
    with pytest.raises(BadInput, match="^model .* no log-probability of option 'b', fact f1 "):
        asking.option_logprobs(model, JOBS["options of one token"])
    again = asking.option_logprobs(model, JOBS["options of one token"])
    assert not again.cached  # nothing was kept


BERT = helpers.blank_filler("BERT")
OTHER = helpers.bpe_tokenizer([("i", "s"), ("t", "h")])
# {what is wrong: (what a server is then, what is in the environment, more of the command, what is said)}
WRONG = {
    "no address": ({}, {"LKE_SERVER": ""}, (), "LKE_SERVER must be a server's address"),
    "nobody": ({}, {"LKE_SERVER": "http://127.0.0.1:9"}, (), "LKE_SERVER does not answer (Conn"),
    "no such model": ({"name": "m"}, {}, (), "the server has no model "),
    "less": ({"lacks": {"names", "echo"}}, {}, (), "the server says less than it is asked for"),
    "chat": ({"lacks": {"/v1/completions"}}, {}, (), "has no /v1/completions: it is for chat alone"),
    "other tokens": ({"tokenizer": OTHER}, {}, (), "its server has another tokenizer, by "),
    "echoes other tokens": (
        {"tokenizer": OTHER, "lacks": {"/tokenize"}}, {}, (), "its server has another tokenizer, by ",
    ),
    "another key": ({"key": "k"}, {"LKE_SERVER_KEY": KEY}, (), "the server refuses: HTTP 401"),
    "noise": ({"off": 0.03}, {}, (), "the server's numbers move by 0.03 nats, and 0.02 is the most"),
    "window": ({"window": 30}, {}, (), "tokens are more than the model's context of 28"),
    "masked": ({}, {}, ("--model", "served:BERT"), "is masked; behind a server only causal"),
    "name": ({}, {}, ("--model", "served:"), "behind served: must be a hub id org/name, or a folder"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_asked_is_one_line_before_anything_is(
    wrong, folder, server, lke, tmp_path, monkeypatch
):
    is_then, environment, more, said = WRONG[wrong]
    monkeypatch.chdir(tmp_path)
    for part in BERT if wrong == "masked" else ():
        part.save_pretrained(tmp_path / "BERT")
    vars(server).update(is_then)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    how = ["--relation", "capital", "--model", f"served:{folder}", "--shots", 9, "--limit", 2]
    code, out, err = lke("-v", "score", *how, "--options", 3, "--out", tmp_path / "out", *more)
    assert (code, out) == (2, "")
    assert said in err.splitlines()[-1] and err.splitlines()[-1].startswith("lke: ")
    assert KEY not in err and server.address not in err and "port=" not in err
    assert not [b for b in questions(server) if "logprob_token_ids" in b]


# --- runs

CELLS = """from lkecore import answers
from lkecore.facts import drawn
from lkecore.prompts.prompt import of_sample

sample = drawn.draw("atlas", ["capital"], n_shots=2, n_facts=3, n_options=4, seed=0)
found = answers.ask(models, of_sample(sample, ["iclke-space"]), "answers.parquet")"""
WEIGHTS = "from lkecore.models import open_model\nprint(open_model(models[0]).network)"


def cells(job, attempt):
    """In the place of a kernel: the notebook's code, in this process."""
    os.environ["LKE_RUN"] = str(attempt)
    found = {}
    for cell in runs.read_notebook(job.notebook).cells:
        if cell.cell_type == "code":
            exec(cell.source, found)
            found |= job.effective
    (attempt / "notebook.ipynb").write_text("{}")
    return None, 0


def project(tmp_path, folder, *cells_of):
    text = projects.code(*cells_of).replace("names:", "models:")
    row = {"parameters": {"models": [f"served:{folder}"]}}
    return projects.make(tmp_path, {"a": text}, a=row) / "params" / "p.yaml"


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_run_is_made_anew_for_another_model_and_nothing_has_the_key(
    folder, server, lke, tmp_path, monkeypatch
):
    projects.fork_workers(monkeypatch, cells)
    monkeypatch.setenv("LKE_SERVER_KEY", KEY)
    server.key = KEY
    params, name = project(tmp_path, folder, CELLS), f"served:{folder}"
    code, out, err = lke("run", params, "--dry-run")
    counted = int(re.search(r"(\d+) requests to a server", out)[1])
    told = out + err
    for network, n_runs in ((NETWORK, 1), (NETWORK, 1), (helpers.network(seed=1), 2)):
        served._who.cache_clear()
        server.network = network
        server.asked.clear()
        code, out, err = lke("run", params)
        assert code == 0, err
        told += out + err
        new = n_runs - len([*tmp_path.glob("runs/a-*/manifest.json")]) == 0 and "1 made here" in err
        named = [b for _, b in server.asked if b and "logprob_token_ids" in b]
        # Of the driver, and of the worker and its notebook, which are one process.
        looks = 1 + 2 * new
        assert len([*tmp_path.glob("runs/a-*/manifest.json")]) == n_runs
        assert 1 <= len(named) - counted * new <= looks
    manifests = [json.loads(p.read_text()) for p in sorted(tmp_path.glob("runs/a-*/manifest.json"))]
    for manifest in manifests:
        said = manifest["served"][name]
        assert manifest["dtype"] == "as served" and manifest["models"] == {name: said["digest"]}
        assert said["id"] == folder.name and said["version"] == "0.32.0" and said["window"] == 512
        assert len(said["fingerprint"]) == 16 and said["date"] and said["moved"] == 0
    assert len({manifest["models"][name] for manifest in manifests}) == 2
    server.key = "another"  # what is kept of a failure, too
    served._who.cache_clear()
    code, out, err = lke("-v", "run", params)
    assert code == 2 and "HTTP 401" in err
    port = server.address.rpartition(":")[2]
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    for text in [(told + out + err).encode(), *kept]:
        assert KEY.encode() not in text and f":{port}".encode() not in text


def test_a_notebook_that_needs_the_weights_is_refused_before_anything_is_asked(
    folder, server, lke, tmp_path
):
    params = project(tmp_path, folder, CELLS, WEIGHTS)
    code, out, err = lke("run", params)
    assert code == 2 and re.fullmatch(r"lke: a: would fail: .* its weights are needed here\n", err)
    assert len(questions(server)) == 0 and not [*tmp_path.glob("runs/*")]


def test_a_dry_run_and_a_look_at_the_runs_need_no_server(folder, lke, tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_SERVER", "http://127.0.0.1:9")
    served._who.cache_clear()
    params = project(tmp_path, folder, CELLS)
    code, out, _ = lke("run", params, "--dry-run")
    assert code == 0 and re.search(r"\? +[\d,]+ +0 +\d+ requests to a server; .* not answer", out)
    code, out, _ = lke("status", params)
    assert code == 1 and re.search("^a +waiting +the server of LKE_SERVER does not answer", out)


def test_a_verdict_is_not_decided_on_a_served_model_and_a_label_does_not_hide_it():
    row = pd.Series({"estimate": 0.5, "low": 0.4, "high": 0.6, "model": "served:org/large"})
    [verdict] = answers.verdicts({"IC-relations-differ": row})["verdict"]
    assert verdict == "undecided: asked of a server, whose weights nobody can name"
    shown = labels.shown(["served:org/large", "toy"], {"served:org/large": "Large", "toy": "Toy"})
    assert shown == {"served:org/large": "Large (served)", "toy": "Toy"}
