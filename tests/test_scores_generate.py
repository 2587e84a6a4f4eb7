"""Generation: the model's own words, token by token as transformers and a plain loop say them.

Expected behaviour:

- Greedy: at each step the most probable token. Sampling: at each step, a uniform number from
  ``default_rng([seed, *context ids])`` picks the token in whose share of [0, 1) it falls.
- The token that holds the stop string, or the model's end token, is the output's last: it counts in
  ``n_tokens`` and ``logprob``, and is not in ``text``.
- A prompt, and what several outputs have in common, goes through the network once. The last token of
  an output never does.
"""

import functools
import importlib
import json
import math

import helpers
import numpy as np
import pandas as pd
import pytest
import torch
from helpers import model, nats
from test_scores_tokens import byte_level_bpe, metaspace_bpe

from lkecore.errors import BadInput
from lkecore.models.weights import cache_folder
from lkecore.scores import attention_paths, cache_growth

# The function has the name of its module.
module = importlib.import_module("lkecore.scores.generate")

# Float32, the same sums in another order over 2 layers: about 1e-5. Wrong masks cost whole nats.
NATS = 1e-4
COLUMNS = ["context", "sample", "text", "logprob", "n_tokens", "stopped"]
# They share beginnings, the last is longer than the windows of the toys and the probe.
CONTEXTS = ["Italy", "Iran", "France", "FranceParisSpainMadridGermany" * 2]
KINDS = [
    "Llama", "GPT2", "OPT", "GPTNeoX", "Mixtral", "Gemma2 with a window", "Gemma3 with a window",
    "Mistral with a window", "BLOOM", "GPTNeo with a window", "Mamba",
]  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))


def fused(tokenizer):
    """Texts are the tokens one after another, without spaces between them."""
    from tokenizers import decoders

    tokenizer.backend_tokenizer.decoder = decoders.Fuse()
    return tokenizer


@functools.cache
def letters():
    return fused(helpers.char_tokenizer())


@functools.cache
def network(kind: str = "Llama"):
    """A network whose tokens are just the letters, so that a text tells its tokens."""
    return helpers.network(kind, vocab_size=len(helpers.ALPHABET))


def toy(net=None, **changes):
    return model(net, **{"tokenizer": letters(), **changes})


def ask(m, contexts, **given):
    return module.generate(m, contexts, **{"stop": "x", "use_cache": False, **given})


def assert_same(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    """Equal but for the rounding of the log-probabilities."""
    found, wanted = found.reset_index(drop=True), wanted.reset_index(drop=True)
    pd.testing.assert_frame_equal(found.drop(columns="logprob"), wanted.drop(columns="logprob"))
    np.testing.assert_allclose(found["logprob"], wanted["logprob"], rtol=0, atol=NATS)


def watch(net) -> list[int]:
    """The number of tokens of each pass from now on, but for those two by which memory is measured."""
    sizes, forward = [], net.forward

    def counted(input_ids, **given):
        if input_ids.tolist() != [[0, 0]]:
            sizes.append(input_ids.numel())
        return forward(input_ids=input_ids, **given)

    net.forward = counted
    return sizes


def own_network(kind: str = "Llama", vocab_size: int = len(helpers.ALPHABET)):
    """A network for a test that changes it, its way already found."""
    net = helpers.network(kind, vocab_size=vocab_size)
    attention_paths.way(net, 100)
    return net


# --- oracles


def by_hand(net, context: str, *, draws=None, temperature=1.0, steps=10, stop="x") -> dict:
    """One output by a loop of plain forward passes over the whole string."""
    ids, said, total = letters()(context)["input_ids"], "", 0.0
    for step in range(steps):
        row = helpers.plain_logprobs(net, ids)[-1]
        token = int(row.argmax())
        if draws is not None:
            weights = np.exp((row - row.max()) / temperature)
            borders = np.cumsum(weights)
            token = int(np.searchsorted(borders, draws[step] * borders[-1], side="right"))
        total += row[token]
        ids = [*ids, token]
        said += helpers.ALPHABET[token]
        if said.endswith(stop):
            break
    stopped = said.endswith(stop)
    text = said.removesuffix(stop)
    return {"text": text, "logprob": total, "n_tokens": len(said), "stopped": stopped}


def bigram(tokenizer, odds: dict[int, dict[int, float]]):
    """A Llama by pencil: the next token depends on the last one alone, by a table of odds.

    Its layers add nothing, each token's embedding is a direction of its own, and the output layer is
    the table. A missing pair has odds of one.
    """
    size = len(tokenizer)
    width = size + 2 + size % 2
    net = helpers.network(
        vocab_size=size, hidden_size=width, num_attention_heads=1, num_key_value_heads=1,
        rms_norm_eps=1e-12,
    )  # fmt: skip
    table = torch.ones(size, width)
    for last, following in odds.items():
        for token, number in following.items():
            table[token, last] = number
    with torch.no_grad():
        for layer in net.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        net.model.embed_tokens.weight.copy_(torch.eye(size, width))
        # The last normalisation makes each direction this long.
        net.lm_head.weight.copy_(table.log() / math.sqrt(width))
    return net


def chain(tokenizer, ids, odds: float = 1e6):
    """A network in which each of these tokens is followed by the next one."""
    assert len(set(ids[:-1])) == len(ids) - 1
    return bigram(tokenizer, {a: {b: odds} for a, b in zip(ids, ids[1:], strict=False)})


def ids_of(text: str) -> list[int]:
    return letters()(text)["input_ids"]


# --- greedy


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_outputs_are_those_of_transformers_and_of_a_loop_of_plain_passes(kind):
    net, steps = network(kind), 12
    frame = ask(toy(net), CONTEXTS, max_new_tokens=steps)
    assert frame.columns.tolist() == COLUMNS
    assert frame["context"].tolist() == CONTEXTS and frame["sample"].tolist() == [0] * 4
    for row in frame.itertuples():
        ids = torch.tensor([ids_of(row.context)])
        given = {"attention_mask": torch.ones_like(ids), "do_sample": False}
        whole = net.generate(ids, max_new_tokens=steps, **given)
        said = "".join(helpers.ALPHABET[i] for i in whole[0, ids.shape[1] :])
        assert row.text == said.partition("x")[0] and row.stopped == ("x" in said)
    assert frame["text"].nunique() > 2  # they do not all say the same
    wanted = pd.DataFrame([by_hand(net, context, steps=steps) for context in CONTEXTS])
    assert_same(frame[wanted.columns], wanted)


# --- samples


@pytest.mark.parametrize(
    ("kind", "temperature"),
    [
        ("Llama", 1.0),
        ("Llama", 3.0),
        ("Mistral with a window", 0.5),
        ("BLOOM", 0.5),
        ("Mamba", 0.5),
    ],
)
def test_samples_are_those_of_a_loop_of_plain_passes_with_the_same_random_numbers(
    kind, temperature
):
    net, contexts = network(kind), CONTEXTS[1:]
    frame = ask(toy(net), contexts, n_samples=4, temperature=temperature, seed=7, max_new_tokens=5)
    wanted = []
    for context in contexts:
        draws = np.random.default_rng([7, *ids_of(context)]).random((4, 5))
        for sample, row in enumerate(draws):
            output = by_hand(net, context, draws=row, temperature=temperature, steps=5)
            wanted.append({"context": context, "sample": sample, **output})
    assert_same(frame, pd.DataFrame(wanted))


def test_at_a_low_temperature_samples_are_the_greedy_output():
    m = toy(network())
    greedy = ask(m, CONTEXTS)
    for temperature in (1e-6, 1e-320):
        cold = ask(m, CONTEXTS, n_samples=3, temperature=temperature)
        for sample in range(3):
            assert_same(cold[cold["sample"] == sample].assign(sample=0), greedy)


# --- what ends an output, by pencil


@pytest.mark.parametrize(
    ("context", "given", "wanted"),
    [
        ("a", {}, ("bcd", 4, True)),  # the stop is its last token, and not in the text
        ("d", {}, ("", 1, True)),
        ("a", {"max_new_tokens": 3}, ("bcd", 3, False)),  # cut off
        ("a", {"max_new_tokens": 5, "stop": None}, ("bcdxy", 5, False)),
        ("c", {"stop": "xy"}, ("d", 3, True)),  # across tokens
        ("x", {"stop": "xy", "max_new_tokens": 1}, ("y", 1, False)),  # the context is no part of it
    ],
)
def test_an_output_ends_with_its_stop_or_its_length(context, given, wanted):
    net = chain(letters(), ids_of("abcdxyz"))
    [row] = ask(toy(net), [context], **given).itertuples()
    assert (row.text, row.n_tokens, row.stopped) == wanted
    # Odds of a million to 63 others of one each.
    assert row.logprob == pytest.approx(row.n_tokens * nats(1e6 / (1e6 + 63)), abs=1e-5)


def test_a_stop_inside_a_token_ends_the_output_and_what_stands_before_it_is_text():
    tokenizer = fused(helpers.bpe_tokenizer([("b", "x"), ("bx", "c")]))
    a, d, bxc = tokenizer.convert_tokens_to_ids(["a", "d", "bxc"])
    net = chain(tokenizer, [a, d, bxc], odds=5.0)
    [row] = ask(model(net, tokenizer=tokenizer), ["a"]).itertuples()
    assert (row.text, row.n_tokens, row.stopped) == ("db", 2, True)
    # 65 tokens; the last one counts with all of it.
    assert row.logprob == pytest.approx(nats(5 / 69, 5 / 69), abs=1e-5)


@pytest.mark.parametrize("place", ["tokenizer", "generation config", "a list of them"])
def test_the_model_s_end_token_ends_an_output(place):
    tokenizer = fused(helpers.char_tokenizer())
    net = chain(tokenizer, ids_of("abcde"))
    end = tokenizer.convert_tokens_to_ids("e")
    if place == "tokenizer":
        tokenizer.eos_token = "e"
    else:
        net.generation_config.eos_token_id = end if place == "generation config" else [0, end]
    [row] = ask(model(net, tokenizer=tokenizer), ["a"]).itertuples()
    assert (row.text, row.n_tokens, row.stopped) == ("bcd", 4, True)
    assert row.logprob == pytest.approx(4 * nats(1e6 / (1e6 + 63)), abs=1e-5)


def test_a_special_token_that_stop_names_ends_an_output_and_no_other_does():
    """The token in front of a text, with which a model without an end token begins the next one."""
    tokenizer = fused(helpers.char_tokenizer())
    net = chain(tokenizer, ids_of("abcdef"))
    tokenizer.add_special_tokens({"bos_token": "d"})  # from now on it is in no text
    lm = model(net, tokenizer=tokenizer)
    [row] = ask(lm, ["a"], stop="d", max_new_tokens=5).itertuples()
    assert (row.text, row.n_tokens, row.stopped) == ("bc", 3, True)
    for stop in (None, "\n"):
        [row] = ask(lm, ["a"], stop=stop, max_new_tokens=5).itertuples()
        assert (row.text, row.n_tokens, row.stopped) == ("bcef", 5, False)


@pytest.mark.parametrize("make", [byte_level_bpe, metaspace_bpe])
@pytest.mark.parametrize(
    ("context", "answer"),
    [("Spain", " Madrid"), ("Spain ", "Madrid"), ("Marie", "nd")],
)
def test_a_text_keeps_its_leading_space_and_has_none_that_was_not_said(make, context, answer):
    tokenizer = make()
    ids = tokenizer(context)["input_ids"]
    whole = tokenizer(context + answer)["input_ids"]
    if whole[: len(ids)] != ids:  # the model then says the answer in other tokens
        whole = [*ids, *(tokenizer.convert_tokens_to_ids(letter) for letter in answer)]
    said = whole[len(ids) :]
    assert said and tokenizer.unk_token_id not in said
    net = chain(tokenizer, [ids[-1], *said])
    frame = ask(model(net, tokenizer=tokenizer), [context], max_new_tokens=len(said), stop="\n")
    assert frame["text"].tolist() == [answer]


def test_a_letter_of_several_tokens_is_whole_in_the_text():
    tokenizer = byte_level_bpe()
    ids = tokenizer("aé€")["input_ids"]
    assert len(ids) == 1 + 2 + 3  # bytes that no merge has joined
    net = chain(tokenizer, ids)
    frame = ask(model(net, tokenizer=tokenizer), ["a"], max_new_tokens=5)
    assert frame["text"].tolist() == ["é€"]


# --- nothing depends on how it is computed


@pytest.mark.parametrize(("kind", "n_samples"), [("Llama", None), ("BLOOM", 4)])
def test_a_context_that_is_asked_twice_gets_the_same_outputs(kind, n_samples):
    m, n = toy(network(kind)), n_samples or 1
    frame = ask(m, ["Italy", "Iran", "Italy"], n_samples=n_samples)
    assert frame["context"].tolist() == ["Italy"] * n + ["Iran"] * n + ["Italy"] * n
    assert_same(frame[:n], frame[2 * n :])
    assert_same(frame[: 2 * n], ask(m, ["Italy", "Iran"], n_samples=n_samples))


@pytest.mark.parametrize(("kind", "given"), [("Llama", {"n_samples": 5}), ("BLOOM", {})])
def test_contexts_that_begin_other_contexts_or_outputs_keep_their_own_outputs(kind, given):
    net = network(kind)
    said = by_hand(net, "Guinea", stop="nothing")["text"]
    # After some of its letters, what the first context says is another context.
    contexts = ["Guinea" + said[:n] for n in (0, 1, 2, 5)] + ["Gui", "GuineaBissau", "G"]
    frame = ask(toy(net), contexts, max_new_tokens=6, **given)
    alone = [ask(toy(net), [context], max_new_tokens=6, **given) for context in contexts]
    assert_same(frame, pd.concat(alone))


# --- at least work


def inner_nodes(frame: pd.DataFrame) -> set[str]:
    """The distinct prefixes of contexts and outputs that something was read after."""
    nodes = set()
    for row in frame.itertuples():
        whole = row.context + row.text[: row.n_tokens - 1]
        nodes |= {whole[:n] for n in range(1, len(whole) + 1)}
    return nodes


@pytest.mark.parametrize("kind", ["Llama", "BLOOM"])
def test_a_hundred_samples_forward_their_prompt_once_and_each_distinct_output_once(
    kind, tmp_path, monkeypatch
):
    monkeypatch.setenv("LKE_LEDGER", str(tmp_path / "ledger"))
    net = own_network(kind)
    sizes = watch(net)
    frame = ask(toy(net), [CONTEXTS[3]], n_samples=100, max_new_tokens=6, temperature=0.5)
    wanted = len(inner_nodes(frame))
    assert len(CONTEXTS[3]) < wanted < len(CONTEXTS[3]) + 100 * 5
    assert sum(sizes) == wanted
    [entry] = map(json.loads, (tmp_path / "ledger").read_text().splitlines())
    assert entry["tokens_forwarded"] == wanted and entry["from_cache"] is False
    assert (entry["prompts"], entry["model"]) == (1, "toy model")


# --- the cache


def kept() -> int:
    return len(list(cache_folder().rglob("*.parquet")))


SAMPLED = {"n_samples": 2, "seed": 0, "temperature": 1.0, "max_new_tokens": 3, "stop": "x"}
GREEDY = {"max_new_tokens": 3, "stop": "x"}


@pytest.mark.parametrize(
    ("given", "change", "again"),
    [
        (SAMPLED, {"n_samples": 3}, True),
        (SAMPLED, {"seed": 1}, True),
        (SAMPLED, {"temperature": 1.0000001}, True),
        (SAMPLED, {"max_new_tokens": 4}, True),
        (SAMPLED, {"stop": "xy"}, True),
        (SAMPLED, {"memory_gb": 0.5}, False),
        (GREEDY, {"seed": 1, "temperature": 0.3}, False),
    ],
)
def test_each_setting_that_changes_an_output_has_an_entry_of_its_own(given, change, again):
    m = toy(network())
    ask(m, ["Italy"], use_cache=True, **given)
    changed = ask(m, ["Italy"], use_cache=True, **given | change)
    assert kept() == 1 + again
    assert_same(changed, ask(m, ["Italy"], **given | change))


def test_samples_of_some_prompts_are_found_among_those_of_all(monkeypatch):
    whole = ask(toy(network()), CONTEXTS, use_cache=True, **SAMPLED)
    assert_same(whole, ask(toy(network()), CONTEXTS, **SAMPLED))  # as they come without the cache
    some = [CONTEXTS[2], CONTEXTS[0]]
    wanted = pd.concat([whole[whole["context"] == each] for each in some], ignore_index=True)
    # Touching the network is an error.
    pd.testing.assert_frame_equal(ask(toy(), some, use_cache=True, **SAMPLED), wanted)
    net, calls = network(), []
    outputs = module._outputs
    monkeypatch.setattr(
        module, "_outputs", lambda *given: calls.append(given[1].rows) or outputs(*given)
    )
    more = ask(toy(net), [some[0], "Peru", some[1]], use_cache=True, **SAMPLED)
    assert [len(rows) for rows in calls] == [1]
    assert more["context"].tolist() == [c for c in (some[0], "Peru", some[1]) for _ in range(2)]
    assert_same(more[more["context"] == "Peru"], ask(toy(net), ["Peru"], **SAMPLED))
    assert_same(more[more["context"] != "Peru"], wanted)


def test_an_interrupted_call_loses_no_more_than_the_chunk_it_was_at(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 2)
    net = own_network()
    forward = net.forward

    def interrupted(input_ids, **given):
        if ids_of("Q")[0] in input_ids[0].tolist():
            raise KeyboardInterrupt
        return forward(input_ids=input_ids, **given)

    contexts = ["Italy", "Iran", "Qatar", "Kenya", "Japan"]
    net.forward = interrupted
    with pytest.raises(KeyboardInterrupt):
        ask(toy(net), contexts, use_cache=True)
    assert kept() == 1
    net.forward = forward
    sizes = watch(net)
    frame = ask(toy(net), contexts, use_cache=True)
    assert sum(sizes) == len(inner_nodes(frame[2:]))
    assert_same(frame, ask(toy(network()), contexts))


# --- memory


def small_device(net, limit: int) -> list[int]:
    """A pass of more than ``limit`` tokens runs out of memory half-way; returns all that are tried."""
    sizes = watch(net)

    def exhausted(*_):
        if sizes and sizes[-1] > limit:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")

    layers = getattr(net, "model", None) or net.transformer
    (getattr(layers, "layers", None) or layers.h)[1].register_forward_pre_hook(exhausted)
    return sizes


@pytest.mark.parametrize(("kind", "limit"), [("Llama", 20), ("BLOOM", 2)])
def test_where_memory_runs_out_passes_are_halved_and_the_outputs_stay_the_same(kind, limit):
    wanted = ask(toy(network(kind)), CONTEXTS, n_samples=6)
    net = own_network(kind)
    sizes = small_device(net, limit)
    assert_same(ask(toy(net), CONTEXTS, n_samples=6), wanted)
    assert max(sizes) > limit


@pytest.mark.parametrize("kind", ["Llama", "BLOOM"])
def test_the_peak_of_memory_stays_below_the_bound(kind):
    net = own_network(kind, vocab_size=2000)
    peaks = {}
    for memory_gb in (5e-4, 1.0):
        with helpers.counted_bytes(net) as counted:
            ask(toy(net), CONTEXTS[:3], n_samples=60, max_new_tokens=4, memory_gb=memory_gb)
        peaks[memory_gb] = counted.peak / 2**30
        assert peaks[memory_gb] <= memory_gb
    assert peaks[1.0] > 5e-4  # the bounds had something to do


# --- bad input, all of it before the network is loaded


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_samples": 0}, "n_samples is 0, but must be 1 or more"),
        ({"n_samples": 1, "temperature": 0.0}, "temperature is 0.0, but must be above 0"),
        ({"stop": ""}, "stop"),
        ({"n_samples": 1, "seed": 2**63}, "seed is 9223372036854775808, but must be"),
    ],
)
def test_settings_without_meaning_are_refused_before_the_network_is_loaded(given, message):
    with pytest.raises(BadInput, match=message):
        ask(toy(), ["Italy"], **given)


def test_a_string_is_no_list_of_its_letters():
    with pytest.raises(BadInput, match="^texts must be a list, found one string: 'Italy'$"):
        ask(toy(), "Italy")


def test_a_context_that_leaves_no_room_is_refused_and_one_that_just_fits_is_not():
    # Five letters and four of the five tokens after them: the last one never goes in.
    ask(toy(network(), context_length=9), ["Italy"], max_new_tokens=5)
    message = "^text 1: its 5 tokens and 5 new ones are more than the model's context of 8; "
    with pytest.raises(BadInput, match=message):
        ask(toy(context_length=8), ["Italy"], max_new_tokens=5)


def test_samples_stay_within_the_columns_for_which_a_window_is_known_not_to_matter(monkeypatch):
    # GPT-Neo counts its window in columns of the cache: it is packed where all that may be fit.
    columns = 128
    for each in (module, cache_growth, attention_paths):
        monkeypatch.setattr(each, "COLUMNS", columns)
    window = 8 + columns
    net = helpers.network(
        "GPTNeo with a window",
        window_size=window,
        max_position_embeddings=2 * window,
        vocab_size=len(helpers.ALPHABET),
    )
    drawn = ask(toy(net), ["Ab"], n_samples=100, max_new_tokens=4)
    assert attention_paths.FOUND[net] == {0: "packed"}
    attention_paths.FOUND[net] = dict.fromkeys(range(3), "plain")
    few = ask(toy(net), ["Ab"], n_samples=100, max_new_tokens=4)
    assert drawn["text"].tolist() == few["text"].tolist()
    np.testing.assert_allclose(drawn["logprob"], few["logprob"], rtol=0, atol=1e-4)
