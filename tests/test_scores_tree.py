"""The scorer: ``tree`` = ``plain`` = pencil, at least work, and the cache of its results."""

import dataclasses
import functools
import math
import os

import helpers
import numpy as np
import pandas as pd
import pytest
from helpers import model, nats, prompt
from hypothesis import given, settings
from hypothesis import strategies as st

from lkecore.errors import BadInput
from lkecore.models.weights import cache_folder
from lkecore.scores import attention_paths, passes, tree
from lkecore.scores import expected as counting
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import encode

# Float32, the same sums in another order over 2 layers: about 1e-5. Wrong masks cost whole nats.
NATS = 1e-4

SHOTS = "ItalyRomeFranceParisSpainMadridGermanyBerlin"
# One to six tokens; shared beginnings ("ab", "abc"); "ab" and "abc" also begin other options.
OPTIONS = ("q", "ab", "abc", "abcdef", "abd", "xyzw", "xq", "Z", "efghi")
COMB = "a comb: after each number of shots, questions"
JOBS = {
    "shots": [
        prompt(SHOTS + "K", OPTIONS, fact="f1"),
        prompt(SHOTS + "Portugal", OPTIONS[::-1], fact="f2"),
        prompt(SHOTS + "Austria" * 8, ("a", "ba", "bb"), fact="f3"),
    ],
    "one fact": [prompt(SHOTS + "Kenya", OPTIONS)],
    "options of one token": [prompt(SHOTS + "Kenya", "abc")],
    "a context that begins another, and the same twice": [
        prompt("Guinea", OPTIONS, fact="f1"),
        prompt("GuineaBissau", OPTIONS, fact="f2"),
        prompt("Guinea", ("Bissau", "Bis", "z"), fact="f3"),
    ],
    "two relations": [
        prompt(SHOTS + "Kenya", OPTIONS, fact="f1", relation="capital"),
        prompt(SHOTS + "Chad", OPTIONS, fact="f2", relation="capital"),
        prompt("14March1879", ("Ulm", "Ull", "U"), fact="f3", relation="born"),
    ],
    COMB: [
        prompt(SHOTS[:n] + subject, OPTIONS[:5], fact=f"{n} {subject}")
        for n in (0, 5, 9, 15, 20, 31, len(SHOTS))
        for subject in ("Kenya", "Kuwait")
    ],
}
network = functools.cache(helpers.network)
# A class of each way in which trees are walked. What differs from way to way is asked of these alone.
EACH_WAY = ("Llama", "Gemma2 with a window", "Mistral with a window", "BLOOM", "Mamba")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))


def plain(m, prompts) -> np.ndarray:
    encoded = encode(m.tokenizer, prompts, front=m.front)
    return np.concatenate([option_logprobs_plain(m.network, e) for e in encoded])


def score(m, prompts, **settings):
    return tree.option_logprobs(m, prompts, **{"use_cache": False, **settings})


def assert_equals_plain(m, prompts, **settings):
    found = score(m, prompts, **settings).frame["logprob"].to_numpy()
    np.testing.assert_allclose(found, plain(m, prompts), rtol=0, atol=NATS)


# --- plain, by pencil


def test_plain_is_the_pencil_of_a_bigram_model():
    alphabet = helpers.ALPHABET
    odds = {"y": {"a": 37.0, "b": 1.0}, "a": {"b": 13.0}, "b": {"c": 6.0}}
    bigram = helpers.Bigram(odds)
    # 63 letters, odds of one each unless said otherwise: out of 99, 75 and 68.
    assert len(alphabet) == 63
    [e] = encode(helpers.char_tokenizer(), [prompt("xy", ["a", "ab", "abc", "b"])], front=())
    wanted = [
        nats(37 / 99),
        nats(37 / 99, 13 / 75),
        nats(37 / 99, 13 / 75, 6 / 68),
        nats(1 / 99),
    ]
    np.testing.assert_allclose(option_logprobs_plain(bigram, e), wanted, rtol=0, atol=1e-5)


# --- tree = plain


@pytest.mark.parametrize(
    ("kind", "job"),
    [(k, j) for k in helpers.NETWORKS for j in JOBS if k in EACH_WAY or j in ("shots", COMB)],
)
def test_tree_equals_one_plain_forward_for_each_string(kind, job):
    assert_equals_plain(model(network(kind)), JOBS[job])


@pytest.mark.parametrize("kind", EACH_WAY)
def test_tree_equals_plain_with_bos_also_when_the_context_is_nothing_else(kind):
    m = model(network(kind), add_bos=True)
    assert_equals_plain(m, [prompt("", OPTIONS, fact="f1"), prompt("Ke", OPTIONS, fact="f2")])


WAYS = {
    "packed": (
        "Llama", "Mistral", "Mixtral", "GPTNeoX", "GPTJ", "OPT", "GPT2", "Qwen2", "Falcon", "Phi",
        "Gemma3 with a long window",
    ),
    "windows": ("Gemma2 with a window", "Gemma3 with a window"),
    "window": ("Mistral with a window",),
    "expanded": ("BLOOM", "MPT", "GPTNeo with a window"),
    "plain": ("Mamba",),
}  # fmt: skip


def found_ways(net) -> list[str]:
    return [*attention_paths.FOUND[net].values()]


@pytest.mark.parametrize(
    ("way", "kind"), [(w, kind) for w, kinds in WAYS.items() for kind in kinds]
)
def test_each_class_takes_the_fastest_way_that_is_right_and_says_when_it_is_slower(
    way, kind, capsys
):
    net = helpers.network(kind)
    score(model(net), JOBS["one fact"])
    assert found_ways(net) == [way]
    said = {
        "expanded": f"{type(net).__name__} takes no tree mask: scoring by expanded cache, slower\n",
        "plain": f"{type(net).__name__} shares no cache: scoring string by string, much slower\n",
    }
    assert capsys.readouterr().err == said.get(way, "")
    score(model(net), JOBS["one fact"])
    assert capsys.readouterr().err == ""  # once for each network


@pytest.mark.parametrize("window", [2, 31, 32, 101, 102])
@pytest.mark.parametrize("kind", ["Mistral with a window", "Gemma3 with a window"])
def test_a_window_around_the_length_of_the_probe_or_of_the_strings_is_not_missed(kind, window):
    # The shots and Kuwait are 50 tokens long, Austria eight times 100.
    assert_equals_plain(model(helpers.network(kind, sliding_window=window)), JOBS["shots"])


@pytest.mark.parametrize("window", [40, 128])
def test_the_attention_that_shared_heads_take_on_cuda_gives_the_same(window):
    net = helpers.network("Gemma3 with a window", sliding_window=window, num_key_value_heads=1)
    net.set_attn_implementation("eager")
    fast = helpers.network("Gemma3 with a window", sliding_window=window, num_key_value_heads=1)
    found = score(model(net), JOBS["shots"]).frame["logprob"].to_numpy()
    np.testing.assert_allclose(found, plain(model(fast), JOBS["shots"]), rtol=0, atol=NATS)


@pytest.mark.parametrize("window", [1, 101, 110])
def test_the_window_of_a_gpt_neo_which_counts_columns_and_not_positions_is_not_missed(window):
    m = model(helpers.network("GPTNeo with a window", window_size=window))
    assert_equals_plain(m, JOBS["shots"])
    names = [a + b + c for a in "Kenya" for b in "Nairob" for c in "Chad"]
    assert_equals_plain(m, [prompt("Italy" * 9, names)])  # 45 tokens, and 155 beside each other
    assert "packed" not in found_ways(m.network)


def test_strings_within_a_window_are_packed_without_it_and_longer_ones_with_it():
    net = helpers.network("Gemma3 with a window", sliding_window=60)
    assert_equals_plain(model(net), JOBS["one fact"])  # 49 + 5 inner tokens
    assert found_ways(net) == ["packed"]
    assert_equals_plain(model(net), JOBS["shots"])
    assert found_ways(net) == ["packed", "windows"]


def test_a_network_that_ignores_its_mask_is_found_out_even_by_options_of_one_token():
    net = helpers.network()
    forward = net.forward
    net.forward = lambda attention_mask=None, **settings: forward(**settings)
    # No mask is needed here, so that these scores would be right in any way ...
    assert_equals_plain(model(net), [prompt(SHOTS + "Kenya", "abc")])
    assert found_ways(net) == ["expanded"]
    # ... and here they would not.
    assert_equals_plain(model(net), JOBS["one fact"])


def test_a_network_that_looks_ahead_is_refused():
    import transformers

    config = transformers.BertConfig(
        **helpers.NETWORKS["GPTNeoX"][1], initializer_range=0.3, is_decoder=False
    )
    net = transformers.BertLMHeadModel(config).eval()
    message = "BertLMHeadModel looks at tokens that come later: it is no causal model"
    with pytest.raises(BadInput, match=message):
        score(model(net), JOBS["one fact"])


# --- any bound on memory


def watch(net) -> list[tuple[int, int]]:
    """The shapes (rows, tokens) that go into a network from now on."""
    shapes, forward = [], net.forward

    def seen(input_ids, **given):
        shapes.append(tuple(input_ids.shape))
        return forward(input_ids=input_ids, **given)

    net.forward = seen
    return shapes


def allow_at_once(monkeypatch, tokens: int) -> None:
    """Let no pass have more tokens."""
    measured = passes.memory_of
    monkeypatch.setattr(
        tree, "memory_of", lambda *given: dataclasses.replace(measured(*given), most=tokens)
    )


BOUNDED = ("Llama", "Gemma3 with a window", "Mistral with a window", "BLOOM")


@functools.cache
def probed(kind: str):
    net = helpers.network(kind)
    attention_paths.way(net, 100)
    return net


ASK = {
    "options": lambda m, gb=None: tree.option_logprobs(m, JOBS["one fact"], memory_gb=gb),
    "pieces": lambda m, gb=None: tree.piece_logprobs(m, [["Kenya", "Nairobi"]], memory_gb=gb),
    "distributions": lambda m, gb=None: tree.distributions(
        m, [["Kenya"]], lambda rows, _: rows.sum(), memory_gb=gb
    ),
}
REFUSED = [
    (lambda m: tree.piece_logprobs(m, [["K"]], memory_gb=0), "^memory_gb is 0, but must be a"),
    (lambda m: tree.distributions(m, [["K"]], sum, memory_gb=0), "^memory_gb is 0, but must be a"),
    (lambda m: tree.distributions(m, [[""]], sum), "^text 1 is empty, and no token comes in front"),
    (lambda m: tree.distributions(m, [["K"], []], sum), "^each group must be a list of one conte"),
    (lambda m: tree.piece_logprobs(m, [["K"], "Ke"]), "^sequence 2 must be a list of one piece or"),
    *(
        (
            lambda m, ask=ask: ask(dataclasses.replace(m, kind="masked")),
            "is masked, not causal: ask it",
        )
        for ask in (ASK["pieces"], ASK["distributions"])
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_asked_is_refused_before_the_network_is_loaded(call, message):
    with pytest.raises(BadInput, match=message):
        call(model())


@pytest.mark.parametrize(("ask", "token"), [("options", 49), ("pieces", 5), ("distributions", 5)])
def test_numbers_that_are_none_are_refused_with_the_position_of_their_token(ask, token):
    net = helpers.network()
    attention_paths.way(net, 10)  # all is well with the probe, and not with the data
    net.model.norm.weight.data[3] = math.nan
    message = f"model toy model in float32 gives NaN or infinity at token {token} of a string; try"
    with pytest.raises(BadInput, match=message):
        ASK[ask](model(net))
    assert not list(cache_folder().rglob("*.parquet"))


# --- random trees

# Few letters, so that most prefixes are shared, and one string lies on the way to another.
LETTERS = st.text("abcd", min_size=1, max_size=7)
QUESTIONS = st.lists(
    st.tuples(LETTERS, st.lists(LETTERS, min_size=1, max_size=6, unique=True)),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize("kind", BOUNDED)
@given(questions=QUESTIONS, most=st.integers(1, 12))
@settings(max_examples=10)
def test_random_trees_under_random_bounds_equal_plain(kind, questions, most):
    job = [prompt(context, options, fact=str(i)) for i, (context, options) in enumerate(questions)]
    m = model(probed(kind))
    with pytest.MonkeyPatch.context() as patch:
        allow_at_once(patch, most)
        shapes = watch(m.network)
        scored = score(m, job)
        del m.network.forward
    assert max(map(math.prod, shapes)) <= max(most, 2)  # memory is measured with two
    np.testing.assert_allclose(scored.frame["logprob"], plain(m, job), rtol=0, atol=NATS)
    if kind != "BLOOM":
        assert scored.tokens_forwarded == distinct_inner_prefixes(m, job)


# --- parts whose tokens are joined


def by_hand(net, ids, start: int) -> float:
    """Log-probability of the tokens from ``start`` on, by one plain forward pass."""
    rows = helpers.plain_logprobs(net, ids)
    return math.fsum(rows[i - 1, ids[i]] for i in range(start, len(ids)))


def test_tokens_that_merge_across_the_border_are_scored_as_in_plain():
    tokenizer = helpers.bpe_tokenizer([("b", "c"), ("a", "bc"), ("a", "e")])
    m = model(network(), tokenizer=tokenizer)
    prompts = [
        prompt("XYab", ["c", "d", "cd", "ce", "bbb"], fact="f1"),  # two merge, back to a
        prompt("XYZa", ["e", "ef", "d", "bc"], fact="f2"),
    ]
    assert score(m, prompts).merged == 3 + 3
    assert_equals_plain(m, prompts)


# --- the pieces of long sequences

PAIRS = ["Italy", "Rome", "France", "Paris", "Spain", "Madrid"]


def ask_pieces(m, sequences, **given):
    return tree.piece_logprobs(m, sequences, **{"use_cache": False, **given})


@pytest.mark.parametrize(
    ("kind", "add_bos"), [("Llama", True), *((kind, False) for kind in EACH_WAY)]
)
def test_each_piece_is_scored_after_all_that_stands_before_it(kind, add_bos):
    m = model(network(kind), add_bos=add_bos)
    frame = ask_pieces(m, [PAIRS, PAIRS[:3], ["Italy", "Ro", "tterdam"]])
    assert frame.columns.tolist() == ["sequence", "piece", "text", "logprob", "n_tokens"]
    assert frame["sequence"].tolist() == [0] * 6 + [1] * 3 + [2] * 3
    assert frame["piece"].tolist() == [*range(6), *range(3), *range(3)]
    assert frame["n_tokens"].tolist() == [len(text) for text in frame["text"]]
    bos = [m.tokenizer.bos_token_id] if add_bos else []
    for _, rows in frame.groupby("sequence"):
        before = ""
        for text, found in zip(rows["text"], rows["logprob"], strict=True):
            ids = [*bos, *m.tokenizer(before + text)["input_ids"]]
            start = len(bos) + len(before)
            if start == 0:  # nothing stands before the first letter
                assert math.isnan(found)
            else:
                assert found == pytest.approx(by_hand(m.network, ids, start), abs=NATS)
            before += text


def test_a_token_across_two_pieces_belongs_to_the_later_one_and_separate_pieces_have_none():
    tokenizer = helpers.bpe_tokenizer([("a", "b")])
    m = model(network(), tokenizer=tokenizer)
    x, a, b, ab = tokenizer.convert_tokens_to_ids(["x", "a", "b", "ab"])
    pieces = [["xa", "b", "x"]]
    joint = ask_pieces(m, pieces)  # x, ab, x
    apart = ask_pieces(m, pieces, separate=True)
    assert joint["n_tokens"].tolist() == [1, 1, 1] and apart["n_tokens"].tolist() == [2, 1, 1]
    wanted = [by_hand(m.network, [x, ab], 1), by_hand(m.network, [x, ab, x], 2)]
    np.testing.assert_allclose(joint["logprob"][1:], wanted, rtol=0, atol=NATS)
    wanted = [by_hand(m.network, [x, a, b], 2), by_hand(m.network, [x, a, b, x], 3)]
    np.testing.assert_allclose(apart["logprob"][1:], wanted, rtol=0, atol=NATS)
    # Without BOS the first token of a first piece is not known, and so the piece is not.
    assert (
        joint["logprob"].isna().tolist() == apart["logprob"].isna().tolist() == [True, False, False]
    )


def test_a_sequence_of_which_nothing_can_be_known_is_nan_and_no_sequences_are_no_rows():
    m = model(network())
    assert ask_pieces(m, [["I"]])["logprob"].isna().tolist() == [True]
    assert len(ask_pieces(m, [])) == 0


def test_pieces_come_from_the_cache_the_second_time_to_the_last_bit():
    first = tree.piece_logprobs(model(network()), [PAIRS, ["I", "taly"]])
    unloaded = model()
    again = tree.piece_logprobs(unloaded, [PAIRS, ["I", "taly"]])
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    assert "_loaded" not in unloaded.__dict__
    # The same ids, divided elsewhere, are another question.
    other = tree.piece_logprobs(model(network()), [PAIRS, ["It", "aly"]])
    assert other["logprob"][7] != first["logprob"][7]


# --- distributions


def next_logprobs(m, text: str) -> np.ndarray:
    """Of all tokens after a text."""
    return helpers.plain_logprobs(m.network, [*m.front, *m.tokenizer(text)["input_ids"]])[-1]


def entropy_and_divergences(rows, _):
    """The entropy of the first row, and the divergences of all from it."""
    import torch

    entropy = -(rows[0].exp() * rows[0]).sum()
    return torch.stack([entropy, *((rows[0].exp() * (rows[0] - row)).sum() for row in rows)])


def by_numpy(m, texts) -> list[float]:
    rows = [next_logprobs(m, text) for text in texts]
    p = np.exp(rows[0])
    return [-np.sum(p * rows[0]), *(np.sum(p * (rows[0] - row)) for row in rows)]


CONTEXTS = [SHOTS + "Kenya", SHOTS + "Ken", SHOTS, "Kenya", "I", SHOTS + "Chad"]


@pytest.mark.parametrize(
    ("kind", "n"),
    [*((kind, 2) for kind in EACH_WAY), ("Llama", 1), ("Llama", 3)],
)
def test_entropy_and_divergence_are_those_of_plain_forwards(kind, n):
    m = model(network(kind), add_bos=n == 2)
    groups = [CONTEXTS[i:] + CONTEXTS[:i] for i in range(len(CONTEXTS))]
    groups = [group[:n] for group in groups]
    found = tree.distributions(m, groups, entropy_and_divergences)
    assert found.shape == (6, n + 1) and found.dtype == np.float64
    # Float32 sums over 80 tokens.
    np.testing.assert_allclose(found, [by_numpy(m, group) for group in groups], rtol=0, atol=NATS)


def test_many_groups_are_held_a_block_at_a_time_and_come_out_in_their_order(monkeypatch):
    m = model(network())
    attention_paths.way(m.network, 20)
    blocks, reduced = [], tree._reduced

    def counted(model, network, block, *given):
        blocks.append(sum(map(len, block)))
        return reduced(model, network, block, *given)

    monkeypatch.setattr(tree, "_reduced", counted)
    groups = [[a + b + "land", "Ken"] for a in "Kenya" for b in "Nairob"]
    found = tree.distributions(m, groups, entropy_and_divergences, memory_gb=2.5e-5)
    assert len(blocks) > 2 and sum(blocks) == 60
    np.testing.assert_allclose(found, [by_numpy(m, group) for group in groups], rtol=0, atol=NATS)
    # Each is reduced under its own number, which is not that of its place in a block.
    numbered = tree.distributions(m, groups, lambda rows, i: rows.new_tensor([i]), memory_gb=2.5e-5)
    assert numbered[:, 0].tolist() == [*range(30)]


# --- the frame


# --- at least work


def distinct_inner_prefixes(m, prompts) -> int:
    """Of all strings of a relation together, by brute force."""
    encoded = encode(m.tokenizer, prompts, front=m.front)
    relations = {e.prompt.relation for e in encoded}
    return sum(
        helpers.brute_force_tokens(
            row for e in encoded if e.prompt.relation == relation for row in e.sequences
        )
        for relation in relations
    )


@pytest.mark.parametrize("job", JOBS)
def test_packed_ways_forward_each_prefix_once_and_no_leaf(job):
    net = helpers.network()
    attention_paths.way(net, 100)
    passes_seen = watch(net)
    m = model(net, add_bos=True)
    tokens = score(m, JOBS[job]).tokens_forwarded
    assert tokens == distinct_inner_prefixes(m, JOBS[job])
    assert sum(map(math.prod, passes_seen)) == tokens + 2  # by which memory is measured


@pytest.mark.parametrize(("kind", "way"), [("BLOOM", "expanded"), ("Mamba", "plain")])
def test_the_slower_ways_count_no_padding(kind, way):
    m = model(network(kind))
    # Stem Kenya; inner paths ab and xyz: 5 + 2 + 3. Plain: Kenyaab and Kenyaxyz.
    forwarded = score(m, [prompt("Kenya", ["abc", "ac", "xyzw", "q"])]).tokens_forwarded
    assert forwarded == {"expanded": 5 + 2 + 3, "plain": 7 + 8}[way]


# --- what a forecast says


@pytest.mark.parametrize("job", JOBS)
def test_expected_tokens_are_those_that_the_packed_way_forwards(job):
    expected = counting.expected_tokens(model(add_bos=True), JOBS[job])  # has no network to load
    scored = score(model(network(), add_bos=True), JOBS[job])
    assert expected == (scored.tokens_forwarded, 0)


# --- the cache


def test_a_kill_before_the_rename_leaves_nothing_that_counts(monkeypatch):
    m = model(network())

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            tree.option_logprobs(m, JOBS["shots"])
    assert not list(cache_folder().rglob("*.parquet"))
    assert not tree.option_logprobs(m, JOBS["shots"]).cached
    assert tree.option_logprobs(m, JOBS["shots"]).cached


# --- memory


@pytest.mark.parametrize("kind", ["Llama", "BLOOM"])
def test_the_peak_of_memory_stays_below_the_bound(kind):
    net = helpers.network(kind, vocab_size=2000)
    m = model(net)
    prompts = JOBS["shots"] * 4
    prompts = [dataclasses.replace(p, fact=f"f{i}") for i, p in enumerate(prompts)]
    score(m, prompts)  # what is found out once is not counted
    peaks = {}
    for memory_gb in (5e-4, 1.0):
        with helpers.counted_bytes(net) as counted:
            found = score(m, prompts, memory_gb=memory_gb).frame["logprob"]
        peaks[memory_gb] = counted.peak / 2**30
        assert peaks[memory_gb] <= memory_gb
        np.testing.assert_allclose(found, plain(m, prompts), rtol=0, atol=NATS)
    assert peaks[5e-4] < peaks[1.0]  # the bound had something to do


@pytest.mark.parametrize(
    ("kind", "ask"), [*(("Llama", ask) for ask in ASK), ("BLOOM", "options"), ("Mamba", "options")]
)
def test_the_bound_that_a_refusal_names_is_enough(kind, ask):
    m = model(helpers.network(kind))
    attention_paths.way(m.network, 100)
    shapes = watch(m.network)
    with pytest.raises(
        BadInput, match=r"^memory_gb \S+ is too little: strings of \d+ tokens"
    ) as refused:
        ASK[ask](m, 1e-7)
    assert shapes == [(1, 2)]  # by which memory is measured
    named = str(refused.value).rpartition(" need ")[2]
    with pytest.raises(BadInput, match="is too little"):
        ASK[ask](m, float(named) * 0.9)
    ASK[ask](m, float(named))


def test_a_model_that_is_out_of_memory_when_it_is_tried_out_is_not_taken_for_another_kind(capsys):
    net = helpers.network()
    forward = net.forward

    def small_device(**settings):
        if settings.get("attention_mask") is not None:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return forward(**settings)

    net.forward = small_device
    with pytest.raises(BadInput, match="^out of memory, even with one token at a time"):
        score(model(net), JOBS["one fact"])
    assert capsys.readouterr().err == ""
    net.forward = forward
    assert_equals_plain(model(net), JOBS["one fact"])
    assert found_ways(net) == ["packed"]


LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [4.0] * 4}
DYNAMIC = {"rope_type": "dynamic", "factor": 4.0}


@pytest.mark.parametrize("rope", [LONGROPE, DYNAMIC], ids=["longrope", "dynamic"])
def test_strings_that_a_model_reads_otherwise_than_short_ones_are_refused(rope):
    def limited(most):
        own = {"original_max_position_embeddings": most} if rope == LONGROPE else {}
        wide = 4096 if own else most
        settings = rope | {"rope_theta": 1e4} | own
        return model(helpers.network(rope_parameters=settings, max_position_embeddings=wide))

    assert_equals_plain(limited(55), JOBS["one fact"])  # its longest string has 55 letters
    for most, job, length in ((54, "one fact", 55), (60, "shots", 102)):
        message = f"LlamaForCausalLM reads a string of {length} tokens otherwise than one of up to {most},"
        with pytest.raises(BadInput, match=message):
            score(limited(most), JOBS[job])
