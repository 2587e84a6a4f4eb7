"""Extraction: a template's own words as a soft prompt give its answers; known is what is written (XT-S1)."""

import dataclasses
import json

import helpers
import numpy as np
import pytest

from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.prompts.prompt import template
from lkecore.scores import blanks, generate, kinds
from lkecore.tasks import extraction
from lkecore.tasks.extraction import Prompts
from lkecore.train import soft_prompts
from lkecore.train.finetune import Recipe

CAPITAL, HOME = "The capital of [X] is [Y]", "[X] is in [Y]"
PAIRS = [("France", "Paris"), ("Italy", "Rome"), ("Spain", "New York"), ("York", "Madrid")]
FACTS = {
    name: [Fact(f"{name}{i}", name, *pair) for i, pair in enumerate(PAIRS)]
    for name in ("capital", "home of")
}
START = {"capital": CAPITAL, "home of": HOME}
RECIPE = Recipe(rate=0.05, steps=4, batch=3, every=2)
KINDS = ["Llama", "BERT", "RoBERTa"]


@pytest.fixture(params=KINDS)
def model(request):
    return helpers.small_model(request.param)


def as_words(model) -> Prompts:
    """Soft prompts that are the words of templates."""
    templates, ids = extraction.beginning(model, FACTS, START)
    return Prompts(templates, soft_prompts.words(model.network, ids))


def questions(model, templates):
    end = "" if model.kind == "causal" else "."
    options = [[name for _, name in PAIRS]] * len(PAIRS)
    return {r: template(templates[r] + end, some, options) for r, some in FACTS.items()}


def test_the_words_of_a_template_as_a_soft_prompt_give_its_answers_to_every_scorer(model):
    soft = as_words(model)
    plain = {name: kinds.option_logprobs(model, qs) for name, qs in questions(model, START).items()}
    assert extraction.ask(model, soft, FACTS).equals(extraction.ask(model, START, FACTS))
    with extraction.prompted(model, soft) as other:
        assert other.digest != model.digest and other.network is model.network
        less = dataclasses.replace(soft, vectors=soft.vectors / 2)
        assert extraction._with_words(model, less).digest not in (other.digest, model.digest)
        asked = questions(other, soft.templates)
        for name, wanted in plain.items():
            found = kinds.option_logprobs(other, asked[name])
            assert found.frame["logprob"].equals(wanted.frame["logprob"])
            assert found.frame["n_tokens"].equals(wanted.frame["n_tokens"])
        if model.kind == "causal":
            texts, soft_texts = (
                [prompt.context for prompt in qs["capital"]]
                for qs in (questions(model, START), asked)
            )
            columns = ["text", "logprob", "n_tokens"]
            said = generate.generate(other, soft_texts)[columns]
            assert said.equals(generate.generate(model, texts)[columns])
    with pytest.raises((TypeError, AttributeError)):
        kinds.option_logprobs(other, questions(other, soft.templates)["capital"], use_cache=False)


def test_a_fact_is_known_if_the_model_writes_its_object():
    model = helpers.small_model("Llama")
    for start in (START, as_words(model)):
        contexts = [p.context for p in questions(model, START)["capital"]]
        wrote = generate.generate(model, contexts, max_new_tokens=3, stop=None)["text"]
        # Facts whose objects are what is written, and others that differ in the last letter alone.
        some = [
            Fact(str(i), "capital", pair[0], text if i % 2 else f"{text[:-1]}~")
            for i, (pair, text) in enumerate(zip(PAIRS, wrote.str.strip("_"), strict=True))
        ]
        found = extraction.ask(model, start, {"capital": some})
        options = [(fact.object,) for fact in some]
        own = template(CAPITAL, some, options)
        texts = [p.context for p in own]
        says = [
            generate.generate(model, [text], max_new_tokens=n, stop=None)["text"].item()
            for text, n in zip(texts, found["n_tokens"], strict=True)
        ]
        read = [model.tokenizer(p.continuations[0])["input_ids"] for p in own]
        wanted = [
            model.tokenizer.decode(ids).replace(" ", "") == s.replace(" ", "")
            for ids, s in zip(read, says, strict=True)
        ]
        assert found["correct"].tolist() == wanted
        logprobs = kinds.option_logprobs(model, own).frame["logprob"]
        assert found["logprob"].to_numpy() == pytest.approx(logprobs.to_numpy(), abs=1e-4)


def test_an_object_of_one_token_is_known_to_a_masked_model_if_it_is_its_likeliest():
    model = helpers.small_model("BERT")
    one = {"capital": [f for f in FACTS["capital"] if " " not in f.object]}
    found = extraction.ask(model, START, one)
    options = [("Paris", "Rome", "Madrid")] * len(one["capital"])
    tops = blanks.tops(model, template(f"{CAPITAL}.", one["capital"], options))
    tops = tops[tops["gold"].astype(bool)]
    assert found["correct"].tolist() == (tops["answer"] == tops["option"]).tolist()
    assert found["logprob"].to_numpy() == pytest.approx(tops["logprob"].to_numpy(), abs=1e-4)
    assert extraction.ask(model, START, FACTS)["n_tokens"].tolist() == [1, 1, 2, 1] * 2


def test_learning_makes_objects_likelier_keeps_the_network_and_is_kept(model):
    before = helpers.weights_digest(model.network)
    recipe = Recipe(rate=0.1, steps=30, batch=8, every=10)
    soft = extraction.learn(model, FACTS, FACTS, recipe, seed=0)
    assert soft.templates["home of"] == (
        "<home-of:0><home-of:1><home-of:2> [X]<home-of:3><home-of:4><home-of:5> [Y]"
    )
    assert len(soft.words) == len(soft.vectors) == 12 and [s for s, _ in soft.validation][-1] == 30
    assert helpers.weights_digest(model.network) == before
    found, noise = (
        extraction.ask(model, each, FACTS)
        for each in (soft, Prompts(soft.templates, soft_prompts.noise(model.network, 12, seed=0)))
    )
    assert found["logprob"].mean() > noise["logprob"].mean()
    assert max(share for _, share in soft.validation) == found["correct"].mean()
    other = dataclasses.replace(model)  # without weights: what is kept needs none
    again = extraction.learn(other, FACTS, FACTS, recipe, seed=0)
    assert np.array_equal(again.vectors, soft.vectors) and again.validation == soft.validation
    with pytest.raises(BadInput, match="cannot be loaded"):
        extraction.learn(other, FACTS, FACTS, recipe, seed=1)


def test_one_that_starts_from_a_template_has_as_many_words_as_it_and_says_at_first_what_it_says():
    model = helpers.small_model("Llama")  # a letter is a token, and so is a space
    templates, ids = extraction.beginning(model, FACTS, START)
    assert templates["home of"] == "[X]" + "".join(f"<home-of:{i}>" for i in range(6)) + " [Y]"
    letters = CAPITAL.replace(" [X]", "").replace(" [Y]", "") + " is in"
    assert "".join(model.tokenizer.convert_ids_to_tokens(ids)) == letters.replace(" ", "_")
    still = Recipe(rate=1e-12, steps=1, batch=3)
    found = extraction.learn(model, FACTS, FACTS, still, seed=0, start=START)
    assert found.vectors == pytest.approx(as_words(model).vectors, abs=1e-6)


def test_tokens_of_a_forecast_are_those_that_are_forwarded(monkeypatch, tmp_path):
    model = helpers.small_model("Llama")
    ledger = tmp_path / "ledger"
    monkeypatch.setenv("LKE_LEDGER", str(ledger))
    forwarded = []
    own = model.network.forward

    def counted(input_ids, attention_mask=None, **given):
        forwarded.append(int(attention_mask.sum()))
        return own(input_ids=input_ids, attention_mask=attention_mask, **given)

    monkeypatch.setattr(model.network, "forward", counted)
    recipe = dataclasses.replace(RECIPE, batch=8)  # all facts of both in each batch
    without = dataclasses.replace(model)
    expected = extraction.expected_tokens(without, FACTS, FACTS, recipe)
    extraction.learn(model, FACTS, FACTS, recipe, seed=3)
    extraction.learn(model, FACTS, FACTS, recipe, seed=3)
    [first, second] = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert sum(forwarded) == expected == first["tokens_forwarded"]
    assert (second["tokens_forwarded"], second["from_cache"]) == (0, True)
    assert first["trained_in"] == second["trained_in"] == "float32"


def test_facts_are_divided_by_subject():
    twice = [*FACTS["capital"], Fact("again", "capital", "France", "Rome")]
    facts = {"a": twice, "b": FACTS["home of"]}
    train, validation = extraction.divided(facts, share=0.25, seed=0)
    for name, some in facts.items():
        subjects = [{fact.subject for fact in part[name]} for part in (train, validation)]
        assert [len(each) for each in subjects] == [3, 1] and not subjects[0] & subjects[1]
        assert sorted(map(str, train[name] + validation[name])) == sorted(map(str, some))
    assert extraction.divided(facts, share=0.25, seed=0) == (train, validation)
    seeds = [extraction.divided(facts, share=0.25, seed=seed)[1]["a"] for seed in range(9)]
    assert len({some[0].subject for some in seeds}) > 1


def kept(tmp_path, model):
    path = tmp_path / "kept.safetensors"
    extraction.save(path, model, as_words(model))
    return path


WRONG = {
    "a kind that is not asked": (
        lambda m, _: extraction.ask(helpers.small_model("T5"), START, FACTS),
        "toy model is seq2seq: extraction is for causal and masked models",
    ),
    "a relation without a prompt": (
        lambda m, _: extraction.ask(m, {"capital": CAPITAL}, FACTS),
        "relation home of is to be asked, and has no prompt",
    ),
    "no facts to validate": (
        lambda m, _: extraction.learn(m, FACTS, {"capital": []}, RECIPE, seed=0),
        "8 facts to learn from, 0 to validate",
    ),
    "a start with its object first": (
        lambda m, _: extraction.beginning(m, ["r"], {"r": "[Y] is the capital of [X]"}),
        "cannot be the start of a soft prompt",
    ),
    "a subject in both": (
        lambda m, _: extraction.check_apart({"capital": FACTS["capital"][:2]}, FACTS),
        "'France' is both learned from and asked in capital",
    ),
    "prompts of another model": (
        lambda m, path: extraction.load(kept(path, m), dataclasses.replace(m, digest="1"), []),
        "soft prompts of another model: Llama, not 1",
    ),
    "prompts of another tokenizer": (
        lambda m, path: extraction.load(
            kept(path, m), dataclasses.replace(m, tokenizer=helpers.bpe_tokenizer([])), []
        ),
        "soft prompts of another tokenizer",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_is_told_in_one_line(what, tmp_path):
    act, words = WRONG[what]
    with pytest.raises(BadInput) as told:
        act(helpers.small_model("Llama"), tmp_path)
    assert words in str(told.value) and "\n" not in str(told.value)
