"""Blanks: numbers of whole distributions, against one plain forward a text (PZ-S1, PZ-E1, PZ-E2, PZ-E3)."""

import dataclasses
import math

import helpers
import numpy as np
import pandas as pd
import pytest
import scipy.stats

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.models.model import template
from lkecore.prompts.instilled import instilled
from lkecore.prompts.prompt import template as template_of
from lkecore.scores import blanks, expected

NATS = 1e-4  # float32 logits of whole nats, summed over some 80 tokens
FACTS = [
    Fact(str(i), "r" if i < 3 else "s", subject, name)
    for i, (subject, name) in enumerate(
        [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Oslo"), ("The France", "New York")]
    )
]
OPTIONS = [("Paris", "Rome", "New York", "Parma", "Oslo", "Bern")] * len(FACTS)
KINDS = ["Llama", "BLOOM", "Mamba", *helpers.BLANK_FILLERS]


def filler_of(kind: str):
    """A model around a network in memory."""
    if kind in helpers.NETWORKS:
        # Each letter is a token, but for spaces: words run together, and names differ in length.
        return helpers.model(helpers.network(kind), add_bos=True)
    network, tokenizer = helpers.blank_filler(kind)
    name = "seq2seq" if kind.startswith("T5") else "masked"
    return helpers.model(network, tokenizer=tokenizer, kind=name, context_length=64)


@pytest.fixture(scope="module", params=KINDS)
def filler(request):
    """A model of each class."""
    return filler_of(request.param)


@pytest.fixture(scope="module", params=["Llama", "RoBERTa", "T5"])
def one_of_a_kind(request):
    return filler_of(request.param)


def asked_of(model):
    return instilled("The capital of [X] is [Y]", FACTS, OPTIONS, closed=model.kind != "causal")


def own_tokens(model, text: str) -> list[int]:
    return model.tokenizer(text, add_special_tokens=False)["input_ids"]


def at_blank(model, prompt, n_masks: int = 1) -> np.ndarray:
    """The log-probabilities at the blank's first token, by one plain forward pass."""
    import torch

    tokenizer, context = model.tokenizer, own_tokens(model, prompt.context)
    behind = own_tokens(model, "a" + prompt.after)[len(own_tokens(model, "a")) :]
    if model.kind == "causal":
        return helpers.plain_logprobs(model.network, [tokenizer.bos_token_id, *context])[-1]
    if model.kind == "masked":
        front, back = template(tokenizer)
        ids = [*front, *context, *[tokenizer.mask_token_id] * n_masks, *behind, *back]
        return helpers.plain_logprobs(model.network, ids)[len(front) + len(context)]
    zero = tokenizer.convert_tokens_to_ids("<extra_id_0>")
    start = torch.tensor([[model.network.config.decoder_start_token_id, zero]])
    ids = [*context, zero, *behind, tokenizer.eos_token_id]
    return helpers.plain_logprobs(model.network, ids, decoder_input_ids=start)[-1]


def object_tokens(model, prompt) -> list[int]:
    """The tokens of the gold option behind its context."""
    name = prompt.continuations[prompt.gold]
    if model.kind == "seq2seq":
        return own_tokens(model, "<extra_id_0>" + name)[1:]
    return own_tokens(model, prompt.context + name)[len(own_tokens(model, prompt.context)) :]


def test_every_number_is_that_of_one_plain_forward_a_text(filler):
    asked = asked_of(filler)
    found = blanks.shifts(filler, asked, use_cache=False)
    assert found["fact"].tolist() == [fact.id for fact in FACTS]
    assert found["object"].tolist() == [fact.object for fact in FACTS]
    for row, each in zip(found.itertuples(), asked, strict=True):
        first, n = (tokens := object_tokens(filler, each.asked))[0], len(tokens)
        p, q = at_blank(filler, each.asked, n), at_blank(filler, each.told, n)
        wanted = {
            "entropy": scipy.stats.entropy(np.exp(p)),
            "entropy_after": scipy.stats.entropy(np.exp(q)),
            "kl": scipy.stats.entropy(np.exp(p), np.exp(q)),
            "kl_back": scipy.stats.entropy(np.exp(q), np.exp(p)),
            "rank": 1 + sorted(p, reverse=True).index(p[first]),
            "rank_after": 1 + sorted(q, reverse=True).index(q[first]),
            "surprisal": -p[first],
            "surprisal_after": -q[first],
        }
        for name, value in wanted.items():
            assert math.isclose(getattr(row, name), value, abs_tol=NATS), name
        assert row.n_tokens == n and not row.merged
    assert (found["kl"] > 0.001).all() and found["n_tokens"].nunique() > 1


def test_a_tied_object_has_the_rank_of_the_first_of_its_equals():
    """Pencil: 1 plus the tokens strictly above it, so that equals have the same rank and none is skipped."""
    import torch

    p = [0.3, 0.15, 0.3, 0.15, 0.1]
    q = [0.2, 0.2, 0.2, 0.2, 0.2]
    logprobs = torch.tensor([p, q], dtype=torch.float64).log()
    names = list(blanks.NUMBERS)
    found = [dict(zip(names, blanks.numbers(logprobs, t).tolist(), strict=True)) for t in range(5)]
    assert [each["rank"] for each in found] == [1, 3, 1, 3, 5]
    assert [each["rank_after"] for each in found] == [1] * 5
    assert found[3]["surprisal"] == pytest.approx(-math.log(0.15))


def test_what_has_no_probability_afterwards_is_infinitely_far():
    """Pencil: P = (1/2, 1/2), Q = (1, 0). KL is infinite, KL back is log 2, and token 1 is ruled out."""
    import torch

    logprobs = torch.tensor([[0.5, 0.5], [1.0, 0.0]], dtype=torch.float64).log()
    found = dict(zip(blanks.NUMBERS, blanks.numbers(logprobs, 1).tolist(), strict=True))
    assert found["kl"] == found["surprisal_after"] == math.inf
    assert found["kl_back"] == pytest.approx(math.log(2))
    assert (found["rank"], found["rank_after"]) == (1, 2)
    assert (found["entropy"], found["entropy_after"]) == (pytest.approx(math.log(2)), 0)


def test_the_likeliest_tokens_are_those_of_a_sort(one_of_a_kind):
    each = asked_of(one_of_a_kind)[:1]
    found = blanks.shifts(one_of_a_kind, each, use_cache=False, top=4).iloc[0]
    for prompt, side in ((each[0].asked, ""), (each[0].told, "after_")):
        p = at_blank(one_of_a_kind, prompt, len(object_tokens(one_of_a_kind, prompt)))
        best = np.sort(p)[::-1][:4]
        there = [found[f"logprob_{side}{i}"] for i in range(1, 5)]
        assert np.allclose(there, best, atol=NATS)
        tokens = [int(found[f"token_{side}{i}"]) for i in range(1, 5)]
        assert np.allclose(p[tokens], best, atol=NATS) and len(set(tokens)) == 4


def test_the_forecast_counts_tokens_and_what_is_kept(one_of_a_kind, tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    asked = asked_of(one_of_a_kind)
    total, saved = expected.blank_tokens(one_of_a_kind, asked)
    assert total > 0 and saved == 0
    ledger = tmp_path / "ledger"
    monkeypatch.setenv("LKE_LEDGER", str(ledger))
    blanks.shifts(one_of_a_kind, asked)
    entries = progress.read_ledger(ledger)
    assert sum(entry["tokens_forwarded"] for entry in entries) == total
    assert expected.blank_tokens(one_of_a_kind, asked) == (total, total)
    blanks.shifts(one_of_a_kind, asked)
    assert [e["from_cache"] for e in progress.read_ledger(ledger)] == [False] * 2 + [True] * 2
    equal = expected.equal_shifts(asked, 2)
    assert list(equal) == list(blanks.shifts(one_of_a_kind, asked, top=2))


def test_an_object_that_merges_with_the_text_before_it_is_named():
    tokenizer = helpers.bpe_tokenizer([("s", "P")], bos_token="_")
    network = helpers.network(vocab_size=len(tokenizer) + 1)
    model = helpers.model(network, tokenizer=tokenizer, add_bos=True)
    made = instilled("[X]is[Y]", [Fact("1", "r", "France", "Paris")], [("Paris", "Rome")])
    assert blanks.shifts(model, made, use_cache=False)["merged"].tolist() == [True]


def test_a_list_of_tokens_that_cannot_be_is_refused_at_the_door():
    model = helpers.model(None)  # it has no network
    with pytest.raises(BadInput, match=f"top is -1, but must be 0 to {len(model.tokenizer)}"):
        blanks.shifts(model, [], top=-1)


# --- one side alone, at one mask ------------------------------------------------------------------

SINGLE = ("Paris", "Rome", "Madrid", "York")


def asked_alone(model, relations=("r", "s")):
    """Questions whose options are one token each: words, or letters where each is a token."""
    if model.kind == "causal":
        return [helpers.prompt(f"xy{i}" + "abc"[i], "ABCD"[i:] + "EF", fact=str(i), relation=r)
                for r in relations for i in range(3)]  # fmt: skip
    words = ["The capital of [X] is [Y].", "[Y] is the capital of [X].", "[X] has [Y]"]
    facts = [Fact(str(i), "", "France", "Rome") for i in range(3)]
    found = []
    for r in relations:
        for i, (each, fact) in enumerate(zip(words, facts, strict=True)):
            [made] = template_of(each, [fact], [SINGLE[: 4 - i]])
            found.append(dataclasses.replace(made, relation=r))
    return found


def option_token(model, option: str) -> int:
    """Letters are tokens of a causal toy, and words with their space of all others."""
    return own_tokens(model, option if model.kind == "causal" else f"is {option}")[-1]


def test_the_likeliest_token_and_the_options_are_those_of_one_plain_forward(filler):
    asked = asked_alone(filler)
    found = blanks.tops(filler, asked, use_cache=False)
    wanted = [(p.relation, p.fact, o, i == p.gold) for p in asked for i, o in enumerate(p.options)]
    columns = ["relation", "fact", "option", "gold"]
    assert list(found[columns].itertuples(index=False, name=None)) == wanted
    assert (found["n_tokens"] == 1).all()
    at = 0
    for p in asked:
        row, tokens = at_blank(filler, p), [option_token(filler, o) for o in p.options]
        its = found.iloc[at : (at := at + len(p.options))]
        np.testing.assert_allclose(its["logprob"], row[tokens], atol=NATS)
        np.testing.assert_allclose(its["logprob_top"], row.max(), atol=NATS)
        assert set(its["answer"]) == {filler.tokenizer.decode([row.argmax()]).strip()}
    assert found["logprob_top"].nunique() >= 3


def test_what_is_said_at_one_mask_is_kept_relation_by_relation(monkeypatch, tmp_path):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    network, tokenizer = helpers.blank_filler("BERT")
    model = helpers.model(network, tokenizer=tokenizer, kind="masked", context_length=64)
    first = blanks.tops(model, asked_alone(model, ["r"]))
    calls = []
    monkeypatch.setattr(blanks, "_tops", lambda *given: calls.append(given) or 1 / 0)
    pd.testing.assert_frame_equal(blanks.tops(model, asked_alone(model, ["r"])), first)
    with pytest.raises(ZeroDivisionError):
        blanks.tops(model, [*asked_alone(model, ["r"]), *asked_alone(model, ["s"])[:1]])
    assert [p.relation for _, prompts, _ in calls for p in prompts] == ["s"]


def test_options_with_the_same_token_are_one():
    network, tokenizer = helpers.blank_filler("uncased BERT")
    model = helpers.model(network, tokenizer=tokenizer, kind="masked", context_length=64)
    [made] = template_of(
        "[X] has [Y]", [Fact("0", "r", "France", "PARIS")], [("paris", "PARIS", "rome")]
    )
    found = blanks.tops(model, [made], use_cache=False)
    assert found["option"].tolist() == ["PARIS", "rome"] and found["gold"].tolist() == [True, False]


@pytest.mark.parametrize("kind", ["BERT", "T5"])
def test_an_option_of_several_tokens_is_refused_before_the_weights_are_loaded(kind):
    _, tokenizer = helpers.blank_filler(kind)
    name = "seq2seq" if kind == "T5" else "masked"
    model = helpers.model(tokenizer=tokenizer, kind=name, context_length=64)
    for words in ("[X] has [Y]", "[Y] is the capital of [X]"):
        [made] = template_of(
            words, [Fact("7", "r", "France", "Rome")], [("Rome", "Paris", "New York")]
        )
        line = r"^fact 7 \('France'\): option 'New York' is not one token of toy model where its blank is"
        with pytest.raises(BadInput, match=line):
            blanks.tops(model, [made], use_cache=False)
