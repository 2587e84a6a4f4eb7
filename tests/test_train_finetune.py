"""Fine-tuning: a plain torch loop and transformers' schedule are the witnesses."""

import dataclasses
import math

import pytest
import torch
import transformers

from lkecore.errors import BadInput
from lkecore.train.finetune import Recipe, finetune
from lkecore.train.loop import CHECKPOINT

RECIPE = Recipe(rate=0.05, steps=11, batch=8, warm=0.2, every=3)
WHAT = "model abc, data def, seed 3"


def made(seed=0, width=4):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return {
            "matrix": torch.randn(width, 3, requires_grad=True),
            "bias": torch.randn(3, requires_grad=True),
        }


def loss_with(parameters, frozen=None):
    """A regression on rows that the step alone decides; ``frozen``: a factor that must not learn."""

    def loss_of(step):
        rng = torch.Generator().manual_seed(step)
        x = torch.randn(8, len(parameters["matrix"]), generator=rng)
        y = x[:, :3] * 2
        said = torch.tanh(x @ parameters["matrix"]) + parameters["bias"]
        return ((said * (1 if frozen is None else frozen) - y) ** 2).mean()

    return loss_of


def scripted(values):
    """Validations that say these values in turn."""
    said = iter(values)
    return lambda: next(said)


def held_out(parameters):
    """A validation that falls from step to step, so that the first is the best."""
    start = made()["bias"].detach()
    return lambda: -float((parameters["bias"].detach() - start).abs().sum())


def same(one, two):
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


def on_both_processors(train, folder, monkeypatch):
    """What ``train(folder)`` gives: the same numbers with and without instructions for bfloat16."""
    found = []
    for name in ("bfloat16", "none"):
        able = dict.fromkeys(("amx_bf16", "avx512_bf16", "bf16"), name == "bfloat16")
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda able=able: able, raising=False)
        found.append(train(folder / name))
    torch.testing.assert_close(*found, rtol=0, atol=0)
    return found[0]


def test_fine_tuning_is_a_plain_loop_of_torch_and_transformers(tmp_path, monkeypatch):
    plain, losses = made(), []
    optimizer = torch.optim.AdamW(plain.values(), lr=0.05, weight_decay=0.0)
    schedule = transformers.get_polynomial_decay_schedule_with_warmup(optimizer, 3, 11, lr_end=0.0)
    for step in range(11):
        loss = loss_with(plain)(step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())

    def train(folder, recipe=RECIPE):
        ours = made()
        result = finetune(ours, loss_with(ours), recipe, folder, what=WHAT)
        assert result.validation == [] and result.best == 11
        return ours, result.losses

    ours, found = on_both_processors(train, tmp_path, monkeypatch)
    assert found == pytest.approx(losses, rel=1e-6) and losses[-1] < losses[0] / 1.2
    for name, parameter in ours.items():
        torch.testing.assert_close(parameter, plain[name], rtol=1e-6, atol=1e-7)
    # Bfloat16 has eight bits: asked for, it is near, and not the same.
    asked = dataclasses.replace(RECIPE, precision="bf16")
    _, rough = on_both_processors(
        lambda folder: train(folder / "bf16", asked), tmp_path, monkeypatch
    )
    assert rough == pytest.approx(losses, rel=2**-5) and rough[0] != pytest.approx(losses[0], 1e-6)


@pytest.mark.parametrize(
    ("values", "best"), [([0.2, 0.5, 0.5, 0.1], 6), ([0.1, 0.2, 0.3, 0.4], 11), ([0, 0, 0, 0], 3)]
)
def test_the_first_of_the_best_validations_decides_which_parameters_stay(values, best, tmp_path):
    ours, at_best = made(), {}
    loss_of = loss_with(ours)

    def watched(step):
        if step == best:
            at_best.update({name: p.detach().clone() for name, p in ours.items()})
        return loss_of(step)

    result = finetune(ours, watched, RECIPE, tmp_path, validate=scripted(values), what=WHAT)
    assert result.validation == list(zip([3, 6, 9, 11], values, strict=True))
    assert result.best == best
    last = made()
    finetune(last, loss_with(last), RECIPE, tmp_path / "last", what=WHAT)
    assert same(ours, at_best if best < 11 else last) and same(ours, last) == (best == 11)


class Stop(Exception):
    pass


def stopping(call, at):
    """The same function, which stops when it is called for the ``at``th time, counted from 0."""
    calls = []

    def stopped(*given):
        calls.append(given)
        if len(calls) == at + 1:
            raise Stop
        return call(*given)

    return stopped, calls


@pytest.mark.parametrize("validated", [True, False])
@pytest.mark.parametrize("at", [1, 3, 8])
def test_a_fine_tuning_that_was_killed_and_goes_on_is_one_that_was_not_to_the_bit(
    at, validated, tmp_path
):
    def run(parameters, folder, loss_of=None, validate=None):
        validate = validate or held_out(parameters)
        loss_of = loss_of or loss_with(parameters)
        return finetune(
            parameters, loss_of, RECIPE, folder, validate=validate if validated else None, what=WHAT
        )

    whole = made()
    result = run(whole, tmp_path / "whole")
    assert result.best == (3 if validated else 11)
    first = made()
    with pytest.raises(Stop):
        run(first, tmp_path, loss_of=stopping(loss_with(first), at)[0])
    # All that matters is in the checkpoint, if there is one.
    again = made(seed=1 if at >= 3 else 0)
    give, calls = stopping(loss_with(again), 99)
    if validated and at >= 3:
        with pytest.raises(Stop):  # and killed once more, in a validation
            run(again, tmp_path, validate=stopping(held_out(again), 0)[0])
        again = made(seed=2)
        give, calls = stopping(loss_with(again), 99)
    assert run(again, tmp_path, loss_of=give) == result
    assert calls[0] == (at // 3 * 3,) and same(again, whole)
    ended = made(seed=3)
    assert run(ended, tmp_path, loss_of=stopping(print, 0)[0]) == result and same(ended, whole)


def checkpoint(folder):
    """A finished training's folder."""
    ours = made()
    finetune(ours, loss_with(ours), RECIPE, folder, what=WHAT)
    return folder / CHECKPOINT


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"what": "seed 4"}, "its what is model abc, data def, seed 3, not seed 4"),
        ({"recipe": Recipe(0.05, 12, 8, 0.2, 3)}, "its steps is 11, not 12"),
        ({"validate": float}, "its validated is False, not True"),
        ({"parameters": {"matrix": made()["matrix"]}}, "it has other parameters"),
    ],
)
def test_a_checkpoint_of_another_training_is_one_line(change, why, tmp_path):
    file, given = checkpoint(tmp_path), {"parameters": made(), "recipe": RECIPE, "what": WHAT}
    before, given = file.read_bytes(), given | change
    start = {name: p.detach().clone() for name, p in given["parameters"].items()}
    with pytest.raises(BadInput) as caught:
        finetune(loss_of=print, folder=tmp_path, **given)
    said = str(caught.value)
    assert said == f"{file}: no checkpoint of this training ({why}); delete it to begin anew"
    assert file.read_bytes() == before and same(given["parameters"], start)


def test_a_loss_or_a_validation_that_is_no_number_names_seed_and_step(tmp_path):
    ours = made()
    loss_of = loss_with(ours)

    def broken(step):
        return loss_of(step) * (math.nan if step == 5 else 1)

    with pytest.raises(
        BadInput, match="seed 3: the loss is nan at step 5; lower the learning rate"
    ):
        finetune(ours, broken, RECIPE, tmp_path, what=WHAT)
    with pytest.raises(BadInput, match="seed 3: the validation is nan at step 2"):
        finetune(
            ours, loss_with(ours), RECIPE, tmp_path / "v", validate=scripted([math.nan]), what=WHAT
        )


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"rate": math.nan}, "rate=nan.*: rate must be above 0, steps, batch"),
        ({"precision": "bfloat16"}, "precision 'bfloat16' must be one of float32, bf16"),
    ],
)
def test_a_recipe_by_which_nothing_can_be_trained_is_one_line(change, line, tmp_path):
    recipe = Recipe(**({"rate": 1.0, "steps": 5} | change))
    with pytest.raises(BadInput, match=line):
        finetune(made(), print, recipe, tmp_path, what=WHAT)
