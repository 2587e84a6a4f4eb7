"""Encoder-decoder models: against one plain forward pass for each option, with labels, unbatched."""

import math

import helpers
import numpy as np
import pytest
from helpers import PAIRS, divergence, entropy

from lkecore.errors import BadInput
from lkecore.prompts.prompt import Prompt
from lkecore.scores import seq2seq

KINDS = ["T5", "T5 v1.1"]
OPTIONS = ("Paris", "Rome", "New York", "New Rome", "Parma", "Oslo", "New")


def question(context, options=OPTIONS, *, after="", fact="f1", relation="r", space=" ") -> Prompt:
    continuations = tuple(space + option for option in options)
    return Prompt(fact, relation, "subject", context, tuple(options), continuations, 0, after)


QUESTIONS = [
    question("The capital of France is"),
    question("The capital of Italy is", after=".", fact="f2"),
    question("France has", after=" , the capital of France .", fact="f3"),
    question("", after=" is the capital of Italy.", fact="f4"),
    question("", ("Paris", "Rome", "Oslo"), fact="f5"),
    question("The capital of Spain is", OPTIONS[:3], fact="f6", relation="s"),
]


@pytest.fixture(scope="module")
def fillers():
    """Model by kind, around a network in memory."""
    made = {kind: helpers.blank_filler(kind) for kind in KINDS}
    return {kind: filler(network) for kind, (network, _) in made.items()}


def filler(network=None, *, tokenizer=None, **changes):
    tokenizer = tokenizer or helpers.t5_tokenizer()
    return helpers.model(network, tokenizer=tokenizer, kind="seq2seq", **changes)


def scores(model, prompts, **settings):
    return seq2seq.option_logprobs(model, prompts, use_cache=False, **settings)


def plain(model, prompt, i) -> list[float]:
    """The logits of one forward pass with labels, read at each token of option i and at its end.

    The labels are what T5 was taught to write: sentinel, option, next sentinel.
    """

    source = source_of(model.tokenizer, prompt.context, prompt.after)
    target = f"<extra_id_0>{prompt.continuations[i]} <extra_id_1>"
    labels = model.tokenizer(target, return_tensors="pt")["input_ids"]
    rows = helpers.plain_logprobs(model.network, source, labels=labels)
    begin, end = (labels[0].tolist().index(sentinel(model, n)) for n in (0, 1))
    at = range(begin + 1, end + 1)
    return rows[at, labels[0, at]].tolist()


def source_of(tokenizer, before: str, after: str) -> list[int]:
    """The ids of the text with a name of one token at the blank, exchanged for the sentinel."""
    name = next(name for name in ("Paris", "Rome") if name not in before + after)
    ids = tokenizer(f"{before.rstrip()} {name}{after}")["input_ids"]
    named, blank = tokenizer.convert_tokens_to_ids(["▁" + name, "<extra_id_0>"])
    assert ids.count(named) == 1
    return [blank if n == named else n for n in ids]


def sentinel(model, n: int) -> int:
    return model.tokenizer.convert_tokens_to_ids(f"<extra_id_{n}>")


# --- the numbers


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("closed", [False, True])
def test_an_option_is_scored_as_by_one_plain_forward_with_labels(fillers, kind, closed):
    model = fillers[kind]
    scored = scores(model, QUESTIONS, closed=closed)
    values = [plain(model, p, i) for p in QUESTIONS for i in range(len(p.options))]
    wanted = [sum(v if closed else v[:-1]) for v in values]
    assert np.abs(scored.frame["logprob"] - wanted).max() < 1e-4  # float32 beside another batch
    assert scored.frame["n_tokens"].tolist() == [len(v) - 1 for v in values]
    assert scored.merged == 0


# --- which tokens are the option's


def test_an_option_with_and_without_a_space_in_front_is_the_same():
    tokenizer = helpers.t5_tokenizer()
    asked = [question("The"), question("The "), question("The", space="")]
    encoded = seq2seq.encode(tokenizer, asked)
    assert len({(e.source, e.options) for e in encoded}) == 1
    words = [tokenizer.convert_ids_to_tokens(ids) for ids in encoded[0].options[:3]]
    assert words == [["▁Paris"], ["▁Rome"], ["▁New", "▁York"]]


# --- what is refused


def ask(*given, **more):
    return lambda m: scores(m, [question("The"), question(*given, **more)])


def ask_pair(*pair):
    return lambda m: seq2seq.distributions(m, [(pair,)], entropy)


def of_another_tokenizer(tokenizer):
    return lambda _: scores(filler(tokenizer=tokenizer()), QUESTIONS)


def byt5():
    from transformers import ByT5Tokenizer

    return ByT5Tokenizer()


FACT = r"^fact f1 \('subject'\): [^\n]*"
REFUSED = [
    (ask("The", ["Paris", "Zürich"]), f"{FACT}option 'Zürich' has a token that toy model does not"),
    (ask("The capital " * 31), f"{FACT}64 tokens are more than the model's context of 63"),
    (ask("<extra_id_0> is"), f"{FACT}<extra_id_0> stands in the text, besides the blank"),
    (ask("The", ["<extra_id_0>"]), f"{FACT}a sentinel stands in an option"),
    (ask_pair("The <extra_id_0>", ""), "^'The <extra_id_0>' ... '': <extra_id_0> stands in the te"),
    (ask_pair("The capital " * 31, ""), "64 tokens are more than the model's context of 63"),
    (lambda m: seq2seq.distributions(m, [[("The", "")], []], entropy), "^each group must be a lis"),
    (of_another_tokenizer(helpers.wordpiece_tokenizer), "the tokenizer has no <extra_id_0>, with"),
    (of_another_tokenizer(byt5), "^ByT5 learned other sentinels than its tokenizer names"),
    (
        lambda _: seq2seq.distributions(helpers.model(), [(("The", ""),)], entropy),
        "^model toy model is causal, not seq2seq: ask it with lkecore.scores.tree$",
    ),
    (
        lambda _: scores(
            filler(helpers.blank_filler("T5", decoder_start_token_id=None)[0]), QUESTIONS
        ),
        "the model's config has no decoder_start_token_id",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_asked_is_refused(call, message):
    with pytest.raises(BadInput, match=message):
        call(filler(context_length=63))


# --- distributions


def plain_distribution(model, before, after) -> np.ndarray:
    """The log-probabilities of what comes behind the sentinel, from labels that begin with it."""
    import torch

    labels = torch.tensor([[sentinel(model, 0), 1]])
    source = source_of(model.tokenizer, before, after)
    return helpers.plain_logprobs(model.network, source, labels=labels)[1]


@pytest.mark.parametrize("kind", KINDS)
def test_entropies_and_divergences_are_those_of_plain_forwards(fillers, kind):
    model = fillers[kind]
    for rows in (1, 64):
        found = seq2seq.distributions(model, PAIRS, divergence, batch_rows=rows)
        assert found.shape == (len(PAIRS), 1) and found.dtype == np.float64
        single = seq2seq.distributions(model, [p[:1] for p in PAIRS], entropy, batch_rows=rows)
        for i, pair in enumerate(PAIRS):
            p, q = (plain_distribution(model, *texts) for texts in pair)
            assert math.isclose(found[i, 0], (np.exp(p) * (p - q)).sum(), abs_tol=1e-4)
            assert math.isclose(single[i, 0], -(np.exp(p) * p).sum(), abs_tol=1e-4)
