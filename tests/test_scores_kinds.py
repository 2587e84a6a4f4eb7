"""Kinds: each model is asked by the scorer of its kind, and refused as that scorer would."""

import dataclasses

import helpers
import pandas as pd
import pytest

from lkecore import progress
from lkecore.prompts.prompt import Prompt
from lkecore.scores import blanks, kinds, masked, seq2seq, tree
from lkecore.scores.expected import expected_tokens

KINDS = {"causal": tree, "masked": masked, "seq2seq": seq2seq}


@pytest.mark.parametrize("kind", ["BERT", "T5"])
def test_expected_tokens_are_those_that_are_forwarded_and_then_those_of_the_cache(
    kind, tmp_path, monkeypatch
):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    network, tokenizer = helpers.blank_filler(kind)
    made = "seq2seq" if kind.startswith("T5") else "masked"
    names = ("Paris", "Rome", "New York", "Rome Paris", "Rome Madrid")
    spaced = tuple(f" {n}" for n in names)
    questions = [
        Prompt(f"f{n}", relation, place, f"{place} is {relation}", names, spaced, 0)
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


# --- options that a tokenizer cannot tell apart

# Of each fact: options, which is gold, which have a row. Rome and rome are one name to an uncased model.
ONE_NAME = {
    "gold is the second": (("Rome", "Paris", "rome", "Madrid"), 2, [1, 2, 3]),
    "gold is another": (("Rome", "RÓME", "Paris", "Róme"), 2, [0, 2]),
    "none are alike": (("Rom", "Rome", "Romes"), 1, [0, 1, 2]),
    "two pairs": (("Róme", "Paris", "PARIS", "rome"), 2, [0, 2]),
}
LEFT_OUT = 1 + 2 + 0 + 2


def uncased(kind: str):
    """A model without case and accents, and questions with options that it cannot tell apart."""
    if kind == "causal":
        tokenizer = helpers.folding(helpers.bpe_tokenizer([("r", "o")]))
        network, before = helpers.network(), ""
    else:
        network, tokenizer = helpers.blank_filler({"masked": "uncased BERT", "seq2seq": "T5"}[kind])
        tokenizer, before = helpers.folding(tokenizer), " "
    questions = [
        Prompt(fact, f"r{i // 2}", fact, "Spain", names, tuple(before + n for n in names), gold)
        for i, (fact, (names, gold, _)) in enumerate(ONE_NAME.items())
    ]
    return helpers.model(network, tokenizer=tokenizer, kind=kind), questions


def without(question: Prompt, kept: list[int]) -> Prompt:
    """The question with some of its options, picked by hand."""
    names, texts = (
        tuple(each[i] for i in kept) for each in (question.options, question.continuations)
    )
    return dataclasses.replace(
        question, options=names, continuations=texts, gold=kept.index(question.gold)
    )


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_options_with_the_same_tokens_are_one_option_and_it_is_said(
    kind, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    monkeypatch.setenv("LKE_LEDGER", str(tmp_path / "ledger"))
    model, questions = uncased(kind)
    by_hand = [without(q, ONE_NAME[q.fact][2]) for q in questions]
    wanted = kinds.option_logprobs(model, by_hand, use_cache=False)
    assert wanted.left_out == 0 and capsys.readouterr().err == ""
    (tmp_path / "ledger").unlink()
    for cached in (False, True):  # what is kept says the same
        found = kinds.option_logprobs(model, questions)
        pd.testing.assert_frame_equal(found.frame, wanted.frame, rtol=0, atol=1e-5)
        assert (found.left_out, found.cached) == (LEFT_OUT, cached)
        assert capsys.readouterr().err == (
            "model toy model: options with the same tokens as another one of their fact are left out, "
            "5 of 15, such as 'Rome' of fact gold is the second\n"
        )
    entries = progress.read_ledger(tmp_path / "ledger")
    assert [entry["options_left_out"] for entry in entries] == [1 + 2, 0 + 2] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_which_option_is_left_out_depends_on_the_gold_one_also_where_scores_are_kept(
    kind, tmp_path, monkeypatch
):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    model, questions = uncased(kind)
    first = kinds.option_logprobs(model, questions[:1]).frame
    other = [dataclasses.replace(questions[0], gold=0)]
    again = kinds.option_logprobs(model, other)
    assert again.cached and first["option"].tolist() == ["Paris", "rome", "Madrid"]
    assert again.frame["option"].tolist() == ["Rome", "Paris", "Madrid"]
    assert first["gold"].tolist() == [False, True, False]
    assert again.frame["gold"].tolist() == [True, False, False]


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_another_name_with_the_tokens_of_the_object_does_not_share_its_first_token(kind):
    model, [question, *_] = uncased(kind)
    both = [question, without(question, [0, 1, 2])]
    assert blanks._firsts(model, both)["shared"].tolist() == [False, False]
    names = ("Rome", "Paris", "rome", "Rome Paris".replace(" ", "" if kind == "causal" else " "))
    begins = dataclasses.replace(question, options=names, continuations=names)
    assert blanks._firsts(model, [begins])["shared"].all()
