"""Instill (PZ-S3): against a loop of ten lines in torch, for each kind; all weights are given back."""

import dataclasses
import math

import helpers
import numpy as np
import pandas as pd
import pytest
import torch

from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.models.model import open_model
from lkecore.prompts.instilled import Instilled, instilled
from lkecore.scores import blanks, kinds, tree
from lkecore.tasks import instill
from lkecore.tasks.instill import Recipe

NATS = 1e-4  # float32, a few steps
FACTS = [
    Fact(str(i), "r" if i < 2 else "s", subject, name)
    for i, (subject, name) in enumerate(
        [("France", "Paris"), ("Italy", "Rome"), ("Spain", "New York")]
    )
]
OPTIONS = [("Paris", "Rome", "New York")] * 3
KINDS = ["Llama", "BERT", "T5"]  # in all tests; every class in those of what all rests on
CLASSES = [*helpers.NETWORKS, *helpers.BLANK_FILLERS]
STEPS, RATE = 3, 0.02


@pytest.fixture(params=KINDS)
def model(request):
    return helpers.small_model(request.param)


def asked_of(model):
    made = instilled("The capital of [X] is [Y]", FACTS, OPTIONS, closed=model.kind != "causal")
    return [each.asked for each in made]


def by_hand(model, prompt, steps: int, rate: float, optimizer=torch.optim.SGD) -> np.ndarray:
    """The log-probabilities at the blank after some steps, in plain torch on a copy of the network."""
    import copy

    network, tokenizer = copy.deepcopy(model.network), model.tokenizer
    text = tokenizer(prompt.context, add_special_tokens=False)["input_ids"]
    name = prompt.continuations[prompt.gold]
    letter, stopped = (tokenizer(s, add_special_tokens=False)["input_ids"] for s in ("a", "a."))
    stop = stopped[len(letter) :]
    if model.kind == "causal":
        gold = tokenizer(prompt.context + name)["input_ids"][len(text) :]
        ids = torch.tensor([[tokenizer.bos_token_id, *text, *gold]])
        ask = lambda: network(input_ids=ids).logits[0, len(text) : -1]  # noqa: E731
    elif model.kind == "masked":
        whole = tokenizer(prompt.context + name + prompt.after)["input_ids"]
        gold = tokenizer(prompt.context + name, add_special_tokens=False)["input_ids"][len(text) :]
        at = slice(1 + len(text), 1 + len(text) + len(gold))
        whole[at] = [tokenizer.mask_token_id] * len(gold)
        ids = torch.tensor([whole])
        ask = lambda: network(input_ids=ids).logits[0, at]  # noqa: E731
    else:
        zero = tokenizer.convert_tokens_to_ids("<extra_id_0>")
        gold = tokenizer("<extra_id_0>" + name, add_special_tokens=False)["input_ids"][1:]
        ids = torch.tensor([[*text, zero, *stop, tokenizer.eos_token_id]])
        start = [network.config.decoder_start_token_id, zero, *gold]
        decoder = torch.tensor([start[:-1]])
        ask = lambda: network(input_ids=ids, decoder_input_ids=decoder).logits[0, 1:]  # noqa: E731
    learner = optimizer(network.parameters(), lr=rate, weight_decay=0)
    for _ in range(steps):
        learner.zero_grad()
        torch.nn.functional.cross_entropy(ask(), torch.tensor(gold)).backward()
        learner.step()
    return ask()[0].detach().double().log_softmax(-1).numpy()


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_a_taught_fact_is_that_of_a_plain_loop(model, optimizer):
    made = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}[optimizer]
    rate = RATE if optimizer == "sgd" else RATE / 10
    prompts = asked_of(model)
    found = instill.shifts(
        model, prompts, Recipe(STEPS, rate, optimizer), at=[1, STEPS], use_cache=False
    )
    assert found["fact"].tolist() == ["0", "0", "1", "1", "2", "2"]
    assert found["steps"].tolist() == [1, STEPS] * 3
    for row in found.itertuples():
        prompt = prompts[int(row.fact)]
        p, q = (by_hand(model, prompt, n, rate, made) for n in (0, int(row.steps)))
        assert math.isclose(row.kl, (np.exp(p) * (p - q)).sum(), abs_tol=NATS)
        assert math.isclose(row.entropy_after, -(np.exp(q) * q).sum(), abs_tol=NATS)
        assert q[int(row.first_after)] == pytest.approx(q.max(), abs=NATS)
    assert (found.loc[found["steps"] == 1, "kl"] > 1e-4).all()
    # The object is likelier the longer it is taught.
    wide = found.pivot(index="fact", columns="steps", values="surprisal_after")
    assert (wide[STEPS] < wide[1]).all() and (wide[1] < found["surprisal"][::2].to_numpy()).all()


def test_before_it_is_taught_a_model_says_what_the_blank_reader_says(model):
    pairs = instilled("The capital of [X] is [Y]", FACTS, OPTIONS, closed=model.kind != "causal")
    found = instill.shifts(model, asked_of(model), Recipe(1, RATE), use_cache=False)
    told = blanks.shifts(model, pairs, use_cache=False)
    for name in ("entropy", "rank", "surprisal"):
        assert np.allclose(found[name], told[name], rtol=0, atol=NATS)


@pytest.mark.parametrize("name", CLASSES)
def test_all_weights_are_given_back_bit_by_bit(name):
    model = helpers.small_model(name)
    before = helpers.weights_digest(model.network)
    instill.shifts(model, asked_of(model)[:2], Recipe(2, RATE), use_cache=False)
    assert helpers.weights_digest(model.network) == before
    with instill.instilled_all(model, [asked_of(model)[0]], Recipe(STEPS, RATE), seed=0) as taught:
        assert helpers.weights_digest(taught.network) != before
    assert helpers.weights_digest(model.network) == before
    with pytest.raises(RuntimeError, match="the lesson has been taken back"):
        taught.network(input_ids=None)
    with pytest.raises(KeyboardInterrupt):
        with instill.instilled_all(model, asked_of(model)[:1], Recipe(1, RATE), seed=0):
            raise KeyboardInterrupt
    assert helpers.weights_digest(model.network) == before
    assert all(weight.grad is None for weight in model.network.parameters())


def test_a_fact_that_cannot_be_learned_is_lost_and_the_next_one_is_taught(model):
    before = helpers.weights_digest(model.network)
    found = instill.shifts(model, asked_of(model), Recipe(30, 1e30), at=[1, 30], use_cache=False)
    assert len(found) == 6 and found.loc[found["steps"] == 30, "kl"].isna().all()
    assert helpers.weights_digest(model.network) == before
    fine = instill.shifts(model, asked_of(model), Recipe(1, RATE), use_cache=False)
    assert fine.notna().all().all()
    with pytest.raises(BadInput, match="a step has the loss (nan|inf); try a lower rate"):
        with instill.instilled_all(model, [asked_of(model)[0]], Recipe(30, 1e30), seed=0):
            pass
    assert helpers.weights_digest(model.network) == before


def test_while_it_is_taught_a_model_has_another_digest_and_nobody_finds_its_scores(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    model = open_model("toy", device="cpu")
    made = instilled("[X] has the capital [Y]", FACTS[:2], OPTIONS[:2])
    prompts = [each.asked for each in made]
    with instill.instilled_all(model, [prompts[0]], Recipe(5, 0.5), seed=0) as taught:
        assert taught.digest != model.digest and taught.name == model.name
        changed = kinds.option_logprobs(taught, prompts)
        # Who holds the model itself asks the weights of its files, also now.
        own = kinds.option_logprobs(model, prompts)
    assert not changed.cached and not own.cached
    again = kinds.option_logprobs(open_model("toy", device="cpu"), prompts)
    assert again.cached and again.frame.equals(own.frame)
    assert (changed.frame["logprob"] - own.frame["logprob"]).abs().max() > 0.1
    with instill.instilled_all(model, [prompts[0]], Recipe(5, 0.5), seed=0) as taught:
        assert kinds.option_logprobs(taught, prompts).cached  # the same lesson
    with instill.instilled_all(model, [prompts[1]], Recipe(5, 0.5), seed=0) as taught:
        assert not kinds.option_logprobs(taught, prompts).cached


def test_lessons_are_kept_and_any_part_of_a_recipe_is_another_lesson(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    model = helpers.small_model("Llama")
    prompts = asked_of(model)
    first = instill.shifts(model, prompts, Recipe(2, RATE))
    monkeypatch.setattr(instill, "_one", lambda *_: pytest.fail("a fact was taught"))
    assert instill.shifts(model, prompts, Recipe(2, RATE)).equals(first)
    for other in (Recipe(3, RATE), Recipe(2, RATE / 2), Recipe(2, RATE, "adamw")):
        with pytest.raises(pytest.fail.Exception):
            instill.shifts(model, prompts, other)


def test_expected_tokens_are_those_that_the_ledger_has(tmp_path, monkeypatch, model):
    from lkecore import progress

    monkeypatch.setenv("LKE_LEDGER", str(tmp_path / "ledger"))
    instill.shifts(model, asked_of(model), Recipe(3, RATE), at=[1, 3], use_cache=False)
    entries = progress.read_ledger(tmp_path / "ledger")
    counted = instill.expected_tokens(model, asked_of(model), Recipe(3, RATE), 2)
    assert sum(entry["tokens_forwarded"] for entry in entries) == counted > 0


def test_a_taught_causal_model_says_so_to_every_scorer():
    model = helpers.small_model("Llama")
    prompt = asked_of(model)[0]
    own = tree.distributions(model, [[prompt.context]], lambda rows, _: rows[0])
    with instill.instilled_all(model, [prompt], Recipe(3, RATE), seed=0) as taught:
        after = tree.distributions(taught, [[prompt.context]], lambda rows, _: rows[0])
    wanted = by_hand(model, prompt, 3, RATE)
    assert np.allclose(after[0], wanted, atol=1e-3) and not np.allclose(own, after, atol=1e-3)


def test_what_was_taught_together_is_kept(model, monkeypatch):
    prompts = asked_of(model)
    asked = [
        Instilled(p, dataclasses.replace(p, context=f"{p.context} {p.context}"), "explicit")
        for p in prompts
    ]
    recipe = Recipe(2, RATE)
    first = instill.shifts_all(model, prompts[:1], asked, recipe, seed=0)
    with instill.instilled_all(model, prompts[:1], recipe, seed=0) as taught:
        wanted = blanks.shifts(taught, asked, use_cache=False)
    assert np.allclose(first["kl"], wanted["kl"]) and np.allclose(first["rank"], wanted["rank"])
    assert not np.allclose(
        first["surprisal"], blanks.shifts(model, asked, use_cache=False)["surprisal"]
    )
    other = instill.shifts_all(model, prompts[:1], asked, recipe, seed=1)
    more = instill.shifts_all(model, prompts[:1], asked, Recipe(3, RATE), seed=0)
    assert not np.allclose(more["kl"], first["kl"]) and np.allclose(
        other["kl"], first["kl"]
    )  # one fact
    monkeypatch.setattr(
        instill, "instilled_all", lambda *_, **__: pytest.fail("it was taught again")
    )
    pd.testing.assert_frame_equal(
        instill.shifts_all(model, prompts[:1], asked, recipe, seed=0), first
    )


def test_many_facts_are_taught_together_in_an_order_of_their_own(model):
    prompts, found = asked_of(model), []
    for seed in (0, 0, 1):
        with instill.instilled_all(model, prompts, Recipe(3, RATE), seed=seed) as taught:
            found.append((taught.digest, helpers.weights_digest(taught.network)))
    assert found[0] == found[1] and found[0][0] != found[2][0] and found[0][1] != found[2][1]


BARE = helpers.model(None)


@pytest.mark.parametrize(
    ("model", "recipe", "at", "message"),
    [
        (BARE, Recipe(0, 0.1), None, "^0 steps at a rate of 0.1: both must be above 0$"),
        (BARE, Recipe(1, math.nan), None, "both must be above 0"),
        (BARE, Recipe(1, 0.1, "adam"), None, "optimizer 'adam' must be one of sgd, adamw"),
        (BARE, Recipe(3, 0.1), [2, 1, 3], "must rise from 1 or more to the recipe's 3 steps"),
        (BARE, Recipe(3, 0.1), [1, 2], "must rise from 1 or more to the recipe's 3 steps"),
        (
            dataclasses.replace(BARE, dtype="bfloat16"),
            Recipe(1, 0.1),
            None,
            "is in bfloat16: a fact can be taught in float32 alone",
        ),
        (
            dataclasses.replace(BARE, device="auto"),
            Recipe(1, 0.1),
            None,
            "is spread over devices; teach it on one",
        ),
    ],
    ids=["steps", "rate", "optimizer", "falls", "ends before", "half precision", "several devices"],
)
def test_a_lesson_that_cannot_be_taught_is_refused_before_weights_are_loaded(
    model, recipe, at, message
):
    with pytest.raises(BadInput, match=message):
        instill.shifts(model, [], recipe, at=at)
