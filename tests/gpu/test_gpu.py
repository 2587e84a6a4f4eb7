"""On a GPU: the same numbers as on the CPU, in every dtype, and within the bound on memory.

Skipped where there is no CUDA device; `make test-gpu` says so instead and fails. To see on a machine
without one that the tests themselves work: `LKE_TEST_DEVICE=cpu pytest tests/gpu` runs all of them
on the CPU but for the peak of memory, which only CUDA's allocator counts.
"""

import dataclasses
import os
import warnings

import helpers
import numpy as np
import pandas as pd
import projects
import pytest
import torch
from helpers import prompt

from lkecore import runs
from lkecore.models.model import open_model
from lkecore.prompts.prompt import Prompt
from lkecore.runs import grid
from lkecore.runs.devices import Settings, cuda_devices
from lkecore.scores import attention_paths, masked, passes, seq2seq, tree
from lkecore.scores.generate import generate
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import encode
from lkecore.train import cross_encoder
from lkecore.train.finetune import Recipe

DEVICE = os.environ.get("LKE_TEST_DEVICE", "cuda")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of a driver that is too old, for instance
    THERE = DEVICE == "cpu" or torch.cuda.is_available()
if not THERE:
    if os.environ.get("LKE_REQUIRE_GPU"):
        pytest.fail("no CUDA device here", pytrace=False)
    pytest.skip("no CUDA device here", allow_module_level=True)

# One class for each way to be asked: packed (three kinds of positions), windows, expanded.
KINDS = {
    "Llama": "packed",
    "GPTNeoX": "packed",
    "GPTJ": "packed",
    "Gemma3 with a window": "windows",
    "BLOOM": "expanded",
}
# Float32 on two devices, or in passes of other shapes: about 1e-5. TF32, which a GPU may take in place
# of float32 and which keeps three digits of each product, would not stay below it.
NATS = 1e-3
# Half precision keeps two or three digits, and a toy's logits are whole nats apart. On the CPU these
# strings of up to six tokens move by 0.05 and 0.01 nats on average; a wrong mask moves them by several.
HALF = {"bfloat16": 0.3, "float16": 0.05}
SHOTS = "ItalyRomeFranceParisSpainMadridGermanyBerlin"
OPTIONS = ("q", "ab", "abc", "abcdef", "abd", "xyzw", "xq", "Z", "efghi")
JOB = [
    prompt(SHOTS + "Kenya", OPTIONS, fact="f1"),
    prompt(SHOTS + "Kuwait", OPTIONS[::-1], fact="f2"),
    prompt(SHOTS + "Austria" * 8, ("a", "ba", "bb"), fact="f3"),
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))


def toy(kind: str, dtype: str = "float32", device: str = DEVICE, **changes):
    network = helpers.network(kind, **changes).to(device, getattr(torch, dtype))
    return helpers.model(network, dtype=dtype, device=device)


def plain(m, job) -> np.ndarray:
    rows = encode(m.tokenizer, job, front=m.front)
    return np.concatenate([option_logprobs_plain(m.network, e) for e in rows])


def logprobs(m, job=JOB, **given) -> np.ndarray:
    return tree.option_logprobs(m, job, use_cache=False, **given).frame["logprob"].to_numpy()


# --- the tree


def test_float32_is_float32():
    # PyTorch's default, which nothing in lkecore may change: see NATS.
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize("kind", KINDS)
def test_in_float32_tree_equals_plain_here_and_on_the_cpu(kind):
    m = toy(kind)
    found = logprobs(m)
    assert m.network.device.type == DEVICE
    np.testing.assert_allclose(found, plain(m, JOB), rtol=0, atol=NATS)
    np.testing.assert_allclose(found, plain(toy(kind, device="cpu"), JOB), rtol=0, atol=NATS)


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("kind", KINDS)
def test_in_half_precision_tree_is_as_near_to_plain_as_rounding_lets_it_be(kind, dtype):
    m = toy(kind, dtype)
    found = logprobs(m)
    difference = np.abs(found - plain(m, JOB))
    exact = np.abs(found - plain(toy(kind), JOB))
    print(
        f"{kind} in {dtype}, nats: tree against plain {difference.mean():.4f} on average, "
        f"{difference.max():.4f} at most; against float32 {exact.mean():.4f}, {exact.max():.4f}"
    )
    assert difference.mean() < HALF[dtype] and exact.mean() < HALF[dtype]
    assert {*attention_paths.FOUND[m.network].values()} == {KINDS[kind]}  # as in float32


def test_heads_that_share_one_head_of_keys_give_the_numbers_of_the_cpu(tmp_path):
    """Shots of many lengths, so that passes have 1, 33, 65, ... columns more than a multiple of 32."""
    network = helpers.network(
        "Gemma3 with a long window", num_key_value_heads=1, head_dim=64, max_position_embeddings=512
    )
    network.save_pretrained(tmp_path)
    helpers.char_tokenizer().save_pretrained(tmp_path)
    m, here = (open_model(str(tmp_path), device=device) for device in (DEVICE, "cpu"))
    assert (m.network.config._attn_implementation == "eager") == (DEVICE == "cuda")
    for length in range(80, 145):
        job = [prompt((SHOTS * 4)[:length] + f"{i}of", OPTIONS, fact=str(i)) for i in range(2)]
        np.testing.assert_allclose(logprobs(m, job), plain(here, job), rtol=0, atol=NATS)


# --- training


@pytest.mark.parametrize("head", cross_encoder.HEADS)
def test_a_fine_tuning_in_float32_has_the_losses_of_the_cpu(head, tmp_path):
    pairs = [("Italy", ["Rome", "Paris", "Oslo"]), ("Kenya has", ["Nairobi", "Rome is"])]
    recipe = Recipe(rate=3e-3, steps=12, batch=2, every=4)
    losses, similar = [], []
    for device in (DEVICE, "cpu"):
        given = toy("Llama", device=device), head, lambda step: pairs, recipe, tmp_path / device
        encoder, result = cross_encoder.train(*given, seed=0, data="toy")
        assert encoder.network.device.type == device
        losses.append(result.losses)
        similar.append(np.concatenate(cross_encoder.rank(encoder, pairs)))
    # The first loss is but for rounding the same; bfloat16 would differ by 1e-3 of it and more. AdamW's steps
    # depend on the sign of gradients that are next to nothing, so that later ones differ by more.
    np.testing.assert_allclose(losses[0][0], losses[1][0], rtol=1e-5)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(similar[0], similar[1], rtol=1e-2, atol=1e-2)


# --- a model that accelerate places


def test_a_model_that_is_spread_over_what_there_is_gives_the_numbers_of_the_cpu(tmp_path):
    folder = tmp_path / "model"
    helpers.network().save_pretrained(folder)
    helpers.char_tokenizer().save_pretrained(folder)
    spread, here = (open_model(str(folder), device=device) for device in ("auto", "cpu"))
    np.testing.assert_allclose(logprobs(spread), plain(here, JOB), rtol=0, atol=NATS)
    assert {p.device.type for p in spread.network.parameters()} == {DEVICE}
    assert_same_outputs(*(generate(m, [SHOTS], use_cache=False) for m in (spread, here)))


# --- memory


@pytest.mark.skipif(DEVICE != "cuda", reason="only CUDA's allocator counts what is in use")
def test_the_peak_of_memory_stays_below_the_bound_for_every_setting_of_it():
    m = toy("Llama", vocab_size=20000, hidden_size=256, max_position_embeddings=2048)
    options = tuple(f"{a}{b}{c}" for a in "abcd" for b in "efgh" for c in "ij")
    job = [prompt(SHOTS * 20 + f"{i}of", options, fact=str(i)) for i in range(100, 160)]
    # Libraries take their working space, and the ways are compared, before anything is counted.
    logprobs(m, job[:1])
    peaks = {}
    for memory_gb in (0.02, 0.05, 1.0):
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        logprobs(m, job, memory_gb=memory_gb)
        peaks[memory_gb] = (torch.cuda.max_memory_allocated() - before) / 2**30
        print(f"memory_gb {memory_gb}: peak {peaks[memory_gb]:.4f} GiB above the weights")
        assert peaks[memory_gb] <= memory_gb
    assert peaks[1.0] > 0.02  # the tightest bound had something to do


def test_a_tight_bound_means_shorter_passes_and_the_same_numbers():
    m = toy("Llama")
    few, many = (passes.memory_of(m.network, bound).tokens(120) for bound in (2e-4, None))
    assert few < many
    np.testing.assert_allclose(logprobs(m, memory_gb=2e-4), plain(m, JOB), rtol=0, atol=NATS)


# --- models that fill blanks


def blank(context: str, after: str, fact: str) -> Prompt:
    options = ("Paris", "Rome", "New York", "Parma")
    ends = tuple(" " + option for option in options)
    return Prompt(fact, "capital", fact, context, options, ends, 0, after)


@pytest.mark.parametrize("kind", helpers.BLANK_FILLERS)
def test_a_model_that_fills_blanks_gives_the_numbers_of_the_cpu(kind):
    scorer, name = (seq2seq, "seq2seq") if kind.startswith("T5") else (masked, "masked")
    job = [
        blank("The capital of France is", "", "f1"),
        blank("", " is the capital of Italy.", "f2"),
        blank("France has", " , the capital of France .", "f3"),
    ]
    network, tokenizer = helpers.blank_filler(kind)
    m = helpers.model(network, tokenizer=tokenizer, kind=name)
    wanted = scorer.option_logprobs(m, job, use_cache=False).frame
    there = dataclasses.replace(m, device=DEVICE)
    there.__dict__["_loaded"] = (network.to(DEVICE), 0.0)
    found = scorer.option_logprobs(there, job, use_cache=False).frame
    np.testing.assert_allclose(found["logprob"], wanted["logprob"], rtol=0, atol=NATS)


# --- generation


def assert_same_outputs(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found.drop(columns="logprob"), wanted.drop(columns="logprob"))
    np.testing.assert_allclose(found["logprob"], wanted["logprob"], rtol=0, atol=NATS)


@pytest.mark.parametrize("given", [{}, {"n_samples": 8, "seed": 2}], ids=["greedy", "samples"])
@pytest.mark.parametrize("kind", [*KINDS, "Mamba"])
def test_outputs_are_those_of_the_cpu(kind, given):
    contexts = [SHOTS, SHOTS + "Kenya", "Italy"]
    found, wanted = (
        generate(toy(kind, device=device), contexts, use_cache=False, **given)
        for device in (DEVICE, "cpu")
    )
    assert_same_outputs(found, wanted)


@pytest.mark.parametrize("dtype", HALF)
def test_outputs_in_half_precision_have_log_probabilities_that_are_numbers(dtype):
    frame = generate(toy("Llama", dtype), [SHOTS, "Italy"], n_samples=20, use_cache=False)
    assert (
        len(frame) == 40 and np.isfinite(frame["logprob"]).all() and (frame["logprob"] <= 0).all()
    )


# --- a grid


ASK = """from lkecore import models, prompts, runs
from lkecore.scores import tree

options = ("Paris", "Rome", "Oslo")
asked = prompts.Prompt("f", "r", "France", "Italy Rome\\nFrance", options, (" Paris", " Rome", " Oslo"), 0)
lm = models.open_model("toy")
scored = tree.option_logprobs(lm, [asked], use_cache=False)
runs.save(scored.frame.assign(device=str(lm.network.device)), "scores.parquet")"""


def test_a_grid_of_two_notebooks_runs_on_the_device_and_gives_the_numbers_of_the_cpu(
    tmp_path, monkeypatch
):
    project = projects.make(tmp_path, {"a": projects.code(ASK), "b": projects.code(ASK, "n")})
    plan = projects.plan(project)
    found = {}
    for where, device in ((project / "here", DEVICE), (project / "cpu", "cpu")):
        monkeypatch.setenv("LKE_DEVICE", device)
        devices = cuda_devices()[:1] if device == "cuda" else ()
        outcome = grid.execute(plan, where, Settings(devices=devices, threads=1))
        assert outcome.failed == {} and outcome.finished == ["a", "b"], outcome
        folders = [runs.run_folder(where, each) for each in plan.jobs]
        frames = [pd.read_parquet(folder / "scores.parquet") for folder in folders]
        assert {frame["device"][0].split(":")[0] for frame in frames} == {device}
        found[where.name] = [frame["logprob"] for frame in frames]
    np.testing.assert_allclose(found["here"], found["cpu"], rtol=0, atol=NATS)
