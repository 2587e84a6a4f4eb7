"""Encoder-decoder models: against one plain forward pass for each option, with labels, unbatched."""

import math

import helpers
import numpy as np
import pytest
from helpers import PAIRS, divergence, entropy

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.models.model import open_model
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
    import torch

    source = {"input_ids": torch.tensor([source_of(model.tokenizer, prompt.context, prompt.after)])}
    target = f"<extra_id_0>{prompt.continuations[i]} <extra_id_1>"
    labels = model.tokenizer(target, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        logits = model.network(**source, labels=labels).logits[0].double()
    begin, end = (labels[0].tolist().index(sentinel(model, n)) for n in (0, 1))
    at = range(begin + 1, end + 1)
    return logits.log_softmax(-1)[at, labels[0, at]].tolist()


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


def test_the_output_of_a_tied_t5_is_scaled_and_that_of_an_untied_one_is_not(fillers):
    tied, untied = (fillers[kind].network for kind in KINDS)
    assert tied.lm_head.weight is tied.shared.weight
    assert untied.lm_head.weight is not untied.shared.weight
    assert [n.config.scale_decoder_outputs for n in (tied, untied)] == [True, False]


@pytest.mark.parametrize("closed", [False, True])
def test_no_more_is_forwarded_than_each_source_once_and_the_longest_beginnings(fillers, closed):
    model = fillers["T5"]
    total = 0
    for prompt in QUESTIONS:
        total += len(source_of(model.tokenizer, prompt.context, prompt.after))
        inner = set()
        for continuation in prompt.continuations:
            ids = model.tokenizer(continuation, add_special_tokens=False)["input_ids"]
            inner.add(tuple(ids if closed else ids[:-1]))
        longest = [a for a in inner if not any(a != b and b[: len(a)] == a for b in inner)]
        total += sum(2 + len(row) for row in longest)  # start, sentinel, beginning
    assert scores(model, QUESTIONS, closed=closed).tokens_forwarded == total


def test_the_order_of_facts_and_options_and_the_size_of_batches_change_nothing(fillers):
    model = fillers["T5 v1.1"]
    frame = scores(model, QUESTIONS).frame.set_index(["fact", "option"])["logprob"]
    turned = [question(p.context, p.options[::-1], after=p.after, fact=p.fact) for p in QUESTIONS]
    for rows in (1, 3, 64):
        found = scores(model, turned[::-1], batch_rows=rows).frame
        found = found.set_index(["fact", "option"])["logprob"]
        assert np.abs(found - frame.reindex(found.index)).max() < 1e-4


def test_a_network_that_knows_nothing_gives_every_token_the_same_probability():
    network, tokenizer = helpers.blank_filler("T5 v1.1")
    network.lm_head.weight.data.zero_()
    asked = [question("The capital of France is", ("Paris", "New York", "Oslo"))]
    for closed in (False, True):
        frame = scores(filler(network), asked, closed=closed).frame
        lengths = [n + closed for n in (1, 2, 5)]  # Oslo is a space and four letters
        assert np.allclose(frame["logprob"], [-n * math.log(len(tokenizer)) for n in lengths])


@pytest.mark.parametrize("kind", KINDS)
def test_bfloat16_gives_finite_numbers_near_those_of_float32(kind):
    import torch

    network, _ = helpers.blank_filler(kind)
    exact = scores(filler(network), QUESTIONS).frame["logprob"]
    network.to(torch.bfloat16)
    rough = scores(filler(network), QUESTIONS).frame["logprob"]
    assert np.isfinite(rough).all()
    assert np.abs(rough - exact).mean() < 0.5  # eight bits of logits of ten nats, a few tokens


# --- which tokens are the option's


def test_an_option_with_and_without_a_space_in_front_is_the_same():
    tokenizer = helpers.t5_tokenizer()
    asked = [question("The"), question("The "), question("The", space="")]
    encoded = seq2seq.encode(tokenizer, asked)
    assert len({(e.source, e.options) for e in encoded}) == 1
    words = [tokenizer.convert_ids_to_tokens(ids) for ids in encoded[0].options[:3]]
    assert words == [["▁Paris"], ["▁Rome"], ["▁New", "▁York"]]


def test_the_encoder_reads_the_text_with_a_sentinel_and_the_end_of_sequence():
    tokenizer = helpers.t5_tokenizer()
    asked = [question("The capital is", after=after) for after in (" .", ".", "")]
    tokens = [tokenizer.convert_ids_to_tokens(e.source) for e in seq2seq.encode(tokenizer, asked)]
    before = ["▁The", "▁capital", "▁is", "<extra_id_0>"]
    # Nothing comes between the blank and a full stop that stands right behind it.
    assert tokens == [[*before, *after, "</s>"] for after in (["▁", "."], ["."], [])]


# --- what is refused


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (
            question("The", ["Paris", "Zürich"]),
            "option 'Zürich' has a token that toy model does not",
        ),
        (question("The", ["Paris", ""]), "option '' has no token of its own"),
        (question("The", ["Rome", "Rome"]), "all options have the same tokens, as 'Rome' has"),
        (question("The capital " * 31), "64 tokens are more than the model's context of 63"),
        (question("<extra_id_0> is"), "<extra_id_0> stands in the text, besides the blank"),
        (question("The", after=" <extra_id_0>"), "<extra_id_0> stands in the text, besides"),
        (question("The", ["<extra_id_0>"]), "a sentinel stands in an option"),
    ],
)
def test_bad_input_is_refused_in_one_line_before_the_network_is_loaded(prompt, message):
    with pytest.raises(BadInput, match=message) as caught:
        scores(filler(context_length=63), [question("The"), prompt])
    assert "\n" not in str(caught.value) and str(caught.value).startswith("fact f1 ('subject'): ")


@pytest.mark.parametrize("ask", ["option_logprobs", "distributions"])
def test_a_model_of_another_kind_is_sent_to_its_own_module(ask):
    arguments = ([question("The")],) if ask == "option_logprobs" else ([(("The", ""),)], None)
    for kind, module in (("causal", "tree"), ("masked", "masked")):
        model = helpers.model(kind=kind)
        message = f"model toy model is {kind}, not seq2seq: ask it with lkecore.scores.{module}$"
        with pytest.raises(BadInput, match=message):
            getattr(seq2seq, ask)(model, *arguments)


@pytest.mark.parametrize("ask", ["option_logprobs", "distributions"])
def test_a_tokenizer_without_sentinels_is_refused(ask):
    arguments = ([question("The")],) if ask == "option_logprobs" else ([(("The", ""),)], None)
    model = filler(tokenizer=helpers.wordpiece_tokenizer())
    with pytest.raises(BadInput, match="the tokenizer has no <extra_id_0>, with which T5"):
        getattr(seq2seq, ask)(model, *arguments)


def test_a_network_that_overflows_is_refused():
    network, _ = helpers.blank_filler("T5 v1.1")
    network.lm_head.weight.data[7] = float("inf")
    with pytest.raises(BadInput, match="gives NaN or infinity in relation r, fact f1 .*, option "):
        scores(filler(network), QUESTIONS)
    with pytest.raises(BadInput, match="model toy model in float32 gives NaN"):
        seq2seq.distributions(filler(network), [(("The", ""),)], lambda p, _: p[0, :1])


def test_a_config_that_does_not_say_how_the_decoder_begins_is_refused():
    network, _ = helpers.blank_filler("T5", decoder_start_token_id=None)
    with pytest.raises(BadInput, match="the model's config has no decoder_start_token_id"):
        scores(filler(network), QUESTIONS)


# --- memory and the cache


@pytest.mark.parametrize("part", ["encoder", "decoder"])
def test_a_batch_halves_where_memory_runs_out_and_the_numbers_stay(part):
    network, _ = helpers.blank_filler("T5")
    wanted = scores(filler(network), QUESTIONS)
    usual, most, sizes = getattr(network, part).forward, [2], []

    def crowded(input_ids, **settings):
        if len(input_ids) > most[0]:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        sizes.append(len(input_ids))
        return usual(input_ids=input_ids, **settings)

    getattr(network, part).forward = crowded
    found = scores(filler(network), QUESTIONS)
    assert max(sizes) <= 2
    assert np.abs(found.frame["logprob"] - wanted.frame["logprob"]).max() < 1e-4
    assert found.tokens_forwarded == wanted.tokens_forwarded
    most[0] = 0
    with pytest.raises(BadInput, match=r"^out of memory with a single row \(CUDA out of[^\n]*$"):
        scores(filler(network), QUESTIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_is_opened_scored_and_read_from_the_cache(tmp_path, kind):
    network, tokenizer = helpers.blank_filler(kind)
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = open_model(str(tmp_path), device="cpu")
    assert (model.kind, model.context_length) == ("seq2seq", None)
    first = seq2seq.option_logprobs(model, QUESTIONS)
    wanted = scores(filler(network), QUESTIONS).frame
    assert np.abs(first.frame["logprob"] - wanted["logprob"]).max() < 1e-4
    again = open_model(str(tmp_path), device="cpu")
    second = seq2seq.option_logprobs(again, QUESTIONS)
    assert (first.cached, second.cached, second.tokens_forwarded) == (False, True, 0)
    assert second.frame.equals(first.frame)
    assert "_loaded" not in again.__dict__
    # Whether the blank ends is another question.
    assert not seq2seq.option_logprobs(again, QUESTIONS, closed=True).cached


def test_the_bar_of_who_waits_ends_with_all_facts(fillers, tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_PROGRESS", str(tmp_path / "bar"))
    scores(fillers["T5"], QUESTIONS, batch_rows=1)
    _, done, total = progress.read_bar(tmp_path / "bar")
    assert done == total == len(QUESTIONS)


# --- distributions


def plain_distribution(model, before, after) -> np.ndarray:
    """The log-probabilities of what comes behind the sentinel, from labels that begin with it."""
    import torch

    source = {"input_ids": torch.tensor([source_of(model.tokenizer, before, after)])}
    labels = torch.tensor([[sentinel(model, 0), 1]])
    with torch.inference_mode():
        logits = model.network(**source, labels=labels).logits[0, 1].double()
    return logits.log_softmax(-1).numpy()


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


def test_the_divergence_of_a_prompt_from_itself_is_zero(fillers):
    same = [(pair[0], pair[0]) for pair in PAIRS]
    assert np.abs(seq2seq.distributions(fillers["T5"], same, divergence)).max() < 1e-6


def test_the_entropy_of_a_network_that_knows_nothing_is_the_logarithm_of_its_vocabulary():
    network, tokenizer = helpers.blank_filler("T5 v1.1")
    network.lm_head.weight.data.zero_()
    found = seq2seq.distributions(filler(network), [(pair[0],) for pair in PAIRS], entropy)
    assert np.allclose(found, math.log(len(tokenizer)), atol=1e-5)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("The <extra_id_0>", ""), "^'The <extra_id_0>' ... '': <extra_id_0> stands in the text"),
        (("The capital " * 31, ""), "64 tokens are more than the model's context of 63"),
    ],
)
def test_a_bad_pair_is_refused_before_the_network_is_loaded(pair, message):
    with pytest.raises(BadInput, match=message):
        seq2seq.distributions(filler(context_length=63), [(pair,)], entropy)


@pytest.mark.parametrize("batch_rows", [0, -1])
def test_batches_without_rows_and_empty_groups_are_refused_at_the_door(batch_rows):
    model = filler(tokenizer=helpers.t5_tokenizer())  # it has no network
    message = f"^batch_rows is {batch_rows}, but must be 1 or more$"
    with pytest.raises(BadInput, match=message):
        seq2seq.option_logprobs(model, QUESTIONS, batch_rows=batch_rows)
    with pytest.raises(BadInput, match=message):
        seq2seq.distributions(model, [[("The", "")]], divergence, batch_rows=batch_rows)
    with pytest.raises(BadInput, match="^each group must be a list of one text or more$"):
        seq2seq.distributions(model, [[("The", "")], []], divergence)


def test_byt5_is_refused_since_its_sentinels_are_not_those_that_its_tokenizer_names():
    from transformers import ByT5Tokenizer

    with pytest.raises(BadInput, match="^ByT5 learned other sentinels than its tokenizer names"):
        scores(filler(tokenizer=ByT5Tokenizer()), QUESTIONS)
