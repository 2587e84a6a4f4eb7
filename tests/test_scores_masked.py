"""Masked models: the sum over masks, against one plain forward pass for each option's string."""

import math

import helpers
import numpy as np
import pytest
from helpers import PAIRS, divergence, entropy

from lkecore.errors import BadInput
from lkecore.models.model import template
from lkecore.prompts.prompt import Prompt
from lkecore.scores import batches, masked

KINDS = ["BERT", "uncased BERT", "RoBERTa", "ALBERT", "DistilBERT", "MobileBERT"]
OPTIONS = ("Paris", "Rome", "New York", "Parma", "Oslo", "Bern")


def question(context, options=OPTIONS, *, after="", fact="f1", relation="r") -> Prompt:
    continuations = tuple(" " + option for option in options)
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
    return {
        kind: helpers.model(network, tokenizer=tokenizer, kind="masked", context_length=64)
        for kind, (network, tokenizer) in made.items()
    }


def filler(network=None, *, tokenizer=None, **changes):
    tokenizer = tokenizer or helpers.wordpiece_tokenizer()
    return helpers.model(network, tokenizer=tokenizer, kind="masked", **changes)


def scores(model, prompts, **settings):
    return masked.option_logprobs(model, prompts, use_cache=False, **settings)


def masked_string(tokenizer, prompt, i):
    """(tokens with masks, where they are, what was there), by the characters the tokens stand for."""
    left, option = len(prompt.context), len(prompt.continuations[i])
    found = tokenizer(
        prompt.context + prompt.continuations[i] + prompt.after,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
    )
    ids = found["input_ids"]
    spans = zip(found["offset_mapping"], found["special_tokens_mask"], strict=True)
    at = [
        n
        for n, ((begin, end), special) in enumerate(spans)
        if not special and end > left and begin < left + option
    ]
    blanked = [tokenizer.mask_token_id if n in at else token for n, token in enumerate(ids)]
    return blanked, at, [ids[n] for n in at]


def plain(model, prompt, i) -> float:
    """One forward pass over one string, and the sum over its masks."""
    ids, at, tokens = masked_string(model.tokenizer, prompt, i)
    return helpers.plain_logprobs(model.network, ids)[at, tokens].sum()


def plain_distribution(model, ids) -> np.ndarray:
    """The log-probabilities at the only mask of these tokens."""
    return helpers.plain_logprobs(model.network, ids)[ids.index(model.tokenizer.mask_token_id)]


# --- the numbers


@pytest.mark.parametrize("kind", KINDS)
def test_an_option_is_scored_as_by_one_plain_forward_of_its_masked_string(fillers, kind):
    model = fillers[kind]
    scored = scores(model, QUESTIONS)
    wanted = [plain(model, p, i) for p in QUESTIONS for i in range(len(p.options))]
    counts = [
        len(masked_string(model.tokenizer, p, i)[1])
        for p in QUESTIONS
        for i in range(len(p.options))
    ]
    assert np.abs(scored.frame["logprob"] - wanted).max() < 1e-4  # float32 beside another batch
    assert scored.frame["n_tokens"].tolist() == counts
    assert {1, 2} < set(counts) and scored.merged == 0


# --- which tokens are the option's


def test_what_merges_with_the_text_around_is_scored_with_the_option():
    tokenizer = helpers.wordpiece_tokenizer()
    prompt = Prompt("f", "r", "s", "The Par", ("is", "m"), ("is", "m"), 0, "a.")
    [encoded] = masked.encode(tokenizer, [prompt])
    # "The Par" alone is [The][Par] and "a." behind a word [##a][.]: by pencil, "Parisa" merges in
    # front (Paris is a token of its own), and "Parma" nowhere.
    words = [tokenizer.convert_ids_to_tokens(ids) for ids in encoded.options]
    assert words == [["Paris"], ["##m"]]
    assert encoded.merged == 1


def test_text_after_the_blank_that_would_merge_with_any_word_is_taken_as_it_is():
    tokenizer = helpers.bpe_tokenizer([("a", "b")], mask_token="M")
    prompt = Prompt("f", "r", "s", "x", ("y", "za"), ("y", "za"), 0, "bc")
    [encoded] = masked.encode(tokenizer, [prompt])
    words = [tokenizer.convert_ids_to_tokens(ids) for ids in encoded.options]
    assert (words, encoded.merged) == ([["y"], ["z", "ab"]], 1)


# --- what is refused


def ask(*given, **more):
    return lambda m: scores(m, [question("The"), question(*given, **more)])


def ask_pair(*pair):
    return lambda m: masked.distributions(m, [(pair,)], entropy)


FACT = r"^fact f1 \('subject'\): [^\n]*"
REFUSED = [
    (ask("The", ["Paris", "Zürich"]), f"{FACT}option 'Zürich' has a token that toy model does not"),
    (ask("The capital " * 31), f"{FACT}68 tokens are more than the model's context of 64"),
    (ask("[MASK] is"), f"{FACT}a mask stands in the text"),
    (ask_pair("The [MASK]", ""), r"^'The \[MASK\]' ... '': a mask stands in the text"),
    (ask_pair("The capital " * 31, ""), "65 tokens are more than the model's context of 64"),
    (lambda m: masked.distributions(m, [[("The", "")], []], entropy), "^each group must be a list"),
    (
        lambda _: scores(filler(tokenizer=helpers.char_tokenizer()), QUESTIONS),
        "the tokenizer has no mask token",
    ),
    (
        lambda _: masked.distributions(helpers.model(), [(("The", ""),)], entropy),
        "^model toy model is causal, not masked: ask it with lkecore.scores.tree$",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_asked_is_refused_before_the_network_is_loaded(call, message):
    with pytest.raises(BadInput, match=message):
        call(filler(context_length=64))


# --- batches, memory and the cache


def test_an_error_that_is_not_about_memory_is_not_swallowed():
    def broken(batch):
        raise RuntimeError("shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        list(batches.in_batches([(1, 2)], 8, broken, len))


def test_the_output_layer_is_as_before_after_a_score():
    network, _ = helpers.blank_filler()
    scores(filler(network), QUESTIONS[:1])
    assert not network.get_output_embeddings()._forward_pre_hooks


# --- distributions


@pytest.mark.parametrize("kind", KINDS)
def test_entropies_and_divergences_are_those_of_plain_forwards(fillers, kind):
    model = fillers[kind]
    found = masked.distributions(model, PAIRS, divergence)
    assert found.shape == (len(PAIRS), 1) and found.dtype == np.float64
    single = masked.distributions(model, [pair[:1] for pair in PAIRS], entropy)
    front, back = template(model.tokenizer)
    mask = model.tokenizer.mask_token_id

    def own(text):
        return model.tokenizer(text, add_special_tokens=False)["input_ids"]

    def behind(text):  # a letter, since a full stop begins no text
        return own("a" + text)[len(own("a")) :]

    for i, pair in enumerate(PAIRS):
        p, q = (
            plain_distribution(model, [*front, *own(before), mask, *behind(after), *back])
            for before, after in pair
        )
        assert math.isclose(found[i, 0], (np.exp(p) * (p - q)).sum(), abs_tol=1e-4)
        assert math.isclose(single[i, 0], -(np.exp(p) * p).sum(), abs_tol=1e-4)


@pytest.mark.parametrize("kind", ["BERT", "RoBERTa"])
def test_a_space_before_the_blank_changes_nothing(fillers, kind):
    """A mask stands for a word with the space before it, as RoBERTa learned it."""
    groups = [((f"The capital is{space}", "."),) for space in ("", " ")]
    tight, loose = masked.distributions(fillers[kind], groups, lambda logprobs, _: logprobs[0])
    assert np.abs(tight - loose).max() < 1e-4
