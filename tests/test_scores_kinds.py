"""Kinds: each model is asked by the scorer of its kind, and refused as that scorer would."""

import dataclasses

import helpers
import pytest

from lkecore.errors import BadInput
from lkecore.prompts.prompt import Prompt
from lkecore.scores import kinds, masked, seq2seq, tree
from lkecore.scores.expected import expected_tokens

KINDS = {"causal": tree, "masked": masked, "seq2seq": seq2seq}


def test_each_kind_has_its_scorer(monkeypatch):
    """A stub in the place of each scorer says which one it is."""
    for kind, module in KINDS.items():
        monkeypatch.setattr(
            module,
            "option_logprobs",
            lambda model, given, kind=kind, use_cache=True: (kind, model.kind, given),
        )
    for kind in KINDS:
        found = kinds.option_logprobs(helpers.model(kind=kind), ["prompts"])
        assert found == (kind, kind, ["prompts"])


def toy(kind: str):
    """A model whose network must not be touched."""
    name = {"masked": "BERT", "seq2seq": "T5"}.get(kind)
    tokenizer = helpers.blank_filler(name)[1] if name else None
    return helpers.model(tokenizer=tokenizer, kind=kind)


PROMPT = Prompt("f", "r", "s", "Spain", ("Paris", "Rome"), (" Paris", " Rome"), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_check_refuses_as_the_scorer_does_without_the_network(kind):
    made = toy(kind)
    asked = dataclasses.replace(PROMPT, continuations=("_Paris", "_Rome"))
    fine = asked if kind == "causal" else PROMPT
    kinds.check(made, [fine])
    narrow = dataclasses.replace(made, context_length=2)
    twice = dataclasses.replace(fine, continuations=(fine.continuations[0],) * 2)
    for model, prompt in ((narrow, fine), (made, twice)):
        lines = []
        for ask in (kinds.check, kinds.option_logprobs):
            with pytest.raises(BadInput) as caught:
                ask(model, [prompt])
            lines.append(str(caught.value))
        assert lines[0] == lines[1]


@pytest.mark.parametrize("kind", ["BERT", "RoBERTa", "T5", "T5 v1.1"])
def test_expected_tokens_are_those_that_are_forwarded_and_then_those_of_the_cache(
    kind, tmp_path, monkeypatch
):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    network, tokenizer = helpers.blank_filler(kind)
    made = "seq2seq" if kind.startswith("T5") else "masked"
    names = ("Paris", "Rome", "New York", "Rome Paris", "Rome Madrid")
    questions = [
        Prompt(
            f"f{n}",
            relation,
            place,
            f"{place} is {relation}",
            names,
            tuple(f" {n}" for n in names),
            0,
        )
        for relation in ("r", "s")
        for n, place in enumerate(["Spain", "Italy is", "Spain is Italy"])
    ]
    without = helpers.model(tokenizer=tokenizer, kind=made)
    with_it = helpers.model(network, tokenizer=tokenizer, kind=made)
    total, saved = expected_tokens(without, questions)
    scored = kinds.option_logprobs(with_it, questions[:3])
    assert 0 < scored.tokens_forwarded < total and saved == 0
    assert expected_tokens(without, questions) == (total, scored.tokens_forwarded)
    rest = kinds.option_logprobs(with_it, questions[3:]).tokens_forwarded
    assert total == rest + scored.tokens_forwarded
