"""The scorer: ``tree`` = ``plain`` = pencil, at least work, and the cache of its results."""

import functools
import math
import os
import string

import helpers
import numpy as np
import pandas as pd
import pytest
from helpers import model, nats, prompt

from lkecore.rows import BadInput
from lkecore.scores import cache, passes, tree
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import encode
from lkecore.weights import cache_folder

# Float32, the same sums in another order over 2 layers: about 1e-5. Wrong masks cost whole nats.
NATS = 1e-4

SHOTS = "ItalyRomeFranceParisSpainMadridGermanyBerlin"
# One to six tokens; shared beginnings ("ab", "abc"); "ab" and "abc" also begin other options.
OPTIONS = ("q", "ab", "abc", "abcdef", "abd", "xyzw", "xq", "Z", "efghi")
JOBS = {
    "shots": [
        prompt(SHOTS + "K", OPTIONS, fact="f1"),
        prompt(SHOTS + "Portugal", OPTIONS[::-1], fact="f2"),
        prompt(SHOTS + "Austria" * 8, ("a", "ba", "bb"), fact="f3"),
    ],
    "one fact": [prompt(SHOTS + "Kenya", OPTIONS)],
    "options of one token": [prompt(SHOTS + "Kenya", "abc")],
    "one option": [prompt(SHOTS + "Kenya", ("abc",))],
    "no shots": [
        prompt("Kenya", OPTIONS, fact="f1"),
        prompt("A", OPTIONS, fact="f2"),
        prompt("Portugal" * 8, OPTIONS, fact="f3"),
    ],
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
}
network = functools.cache(helpers.network)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Networks this small only wait for each other's threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def plain(m, prompts) -> np.ndarray:
    encoded = encode(m.tokenizer, prompts, add_bos=m.add_bos)
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
    [e] = encode(helpers.char_tokenizer(), [prompt("xy", ["a", "ab", "abc", "b"])], add_bos=False)
    wanted = [
        nats(37 / 99),
        nats(37 / 99, 13 / 75),
        nats(37 / 99, 13 / 75, 6 / 68),
        nats(1 / 99),
    ]
    np.testing.assert_allclose(option_logprobs_plain(bigram, e), wanted, rtol=0, atol=1e-5)


def test_plain_scores_what_merges_across_the_border_with_the_option():
    tokenizer = helpers.bpe_tokenizer([("a", "b")])
    bigram = helpers.Bigram({"x": {"ab": 7.0}, "a": {"c": 3.0}}, [*helpers.ALPHABET, "ab"])
    [e] = encode(tokenizer, [prompt("xa", ["b", "c"])], add_bos=False)
    # x→ab is 7 out of 63 + 7; for c the context stays x, a: a→c is 3 out of 63 + 3.
    np.testing.assert_allclose(
        option_logprobs_plain(bigram, e), [nats(7 / 70), nats(3 / 66)], rtol=0, atol=1e-5
    )


def test_plain_keeps_digits_of_sums_in_float64():
    [e] = encode(helpers.char_tokenizer(), JOBS["one fact"], add_bos=False)
    assert option_logprobs_plain(network(), e).dtype == np.float64


# --- tree = plain


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("kind", helpers.NETWORKS)
def test_tree_equals_one_plain_forward_for_each_string(kind, job):
    assert_equals_plain(model(network(kind)), JOBS[job])


@pytest.mark.parametrize("kind", helpers.NETWORKS)
def test_tree_equals_plain_with_bos_also_when_the_context_is_nothing_else(kind):
    m = model(network(kind), add_bos=True)
    assert_equals_plain(m, [prompt("", OPTIONS, fact="f1"), prompt("Ke", OPTIONS, fact="f2")])
    assert_equals_plain(m, [prompt("", OPTIONS)])
    assert_equals_plain(m, JOBS["shots"])


WAYS = {
    "packed": ("Llama", "GPTNeoX", "OPT", "GPT2", "Qwen2", "Falcon", "Phi"),
    "expanded": ("BLOOM", "MPT", *(kind for kind in helpers.NETWORKS if "window" in kind)),
    "plain": ("Mamba",),
}


@pytest.mark.parametrize(
    ("way", "kind"), [(w, kind) for w, kinds in WAYS.items() for kind in kinds]
)
def test_each_class_takes_the_fastest_way_that_is_right_and_says_when_it_is_slower(
    way, kind, capsys
):
    net = helpers.network(kind)
    score(model(net), JOBS["one fact"])
    assert passes.WAYS_FOUND[net] == way
    said = {
        "packed": "",
        "expanded": f"{type(net).__name__} takes no tree mask: scoring by expanded cache, slower\n",
        "plain": f"{type(net).__name__} shares no cache: scoring string by string, much slower\n",
    }
    assert capsys.readouterr().err == said[way]
    score(model(net), JOBS["one fact"])
    assert capsys.readouterr().err == ""  # once for each network


def test_in_a_run_the_slower_way_is_told_to_the_log_and_not_to_the_page(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    (tmp_path / "log.txt").write_text("before\n")
    score(model(helpers.network("BLOOM")), JOBS["one fact"])
    assert capsys.readouterr().err == ""
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert lines[0] == "before" and "scoring by expanded cache" in lines[1] and len(lines) == 2


def test_every_class_is_in_the_list_of_ways():
    assert sorted(sum(WAYS.values(), ())) == sorted(helpers.NETWORKS)


@pytest.mark.parametrize("kind", ["Mistral with a window", "Gemma3 with a window"])
def test_a_window_longer_than_the_probe_is_not_missed(kind):
    m = model(helpers.network(kind, sliding_window=40))
    assert_equals_plain(m, JOBS["shots"])


def test_the_window_of_a_gpt_neo_that_is_longer_than_the_probe_is_not_missed():
    assert_equals_plain(
        model(helpers.network("GPTNeo with a window", window_size=40)), JOBS["shots"]
    )


def test_a_network_that_ignores_its_mask_is_found_out_even_by_options_of_one_token():
    net = helpers.network()
    forward = net.forward
    net.forward = lambda attention_mask=None, **settings: forward(**settings)
    # No mask is needed here, so that these scores would be right in any way ...
    assert_equals_plain(model(net), [prompt(SHOTS + "Kenya", "abc")])
    assert passes.WAYS_FOUND[net] == "expanded"
    # ... and here they would not.
    assert_equals_plain(model(net), JOBS["one fact"])


def test_a_network_that_looks_ahead_is_refused():
    import torch
    import transformers

    config = transformers.BertConfig(
        **helpers.NETWORKS["GPTNeoX"][1], initializer_range=0.3, is_decoder=False
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = transformers.BertLMHeadModel(config).eval()
    message = "BertLMHeadModel looks at tokens that come later: it is no causal model"
    with pytest.raises(BadInput, match=message):
        score(model(net), JOBS["one fact"])


@pytest.mark.parametrize("kind", ["Llama", "GPT2", "OPT", "BLOOM", "Gemma3 with a window"])
@pytest.mark.parametrize("batch_rows", [1, 3])
def test_the_expanded_way_is_right_in_batches_of_any_size_and_keeps_to_it(
    kind, batch_rows, monkeypatch
):
    net = helpers.network(kind)
    passes.way(net)
    monkeypatch.setitem(passes.WAYS_FOUND, net, "expanded")
    rows, forward = [], net.forward

    def counted(input_ids, **settings):
        rows.append(len(input_ids))
        return forward(input_ids=input_ids, **settings)

    net.forward = counted
    found = score(model(net), JOBS["shots"], batch_rows=batch_rows).frame["logprob"]
    assert max(rows) == batch_rows
    np.testing.assert_allclose(found, plain(model(net), JOBS["shots"]), rtol=0, atol=NATS)


def test_the_expanded_way_halves_its_batch_when_memory_runs_out(monkeypatch):
    net = helpers.network("BLOOM")
    passes.way(net)
    rows, forward = [], net.forward

    def small_device(input_ids, **settings):
        rows.append(len(input_ids))
        if len(input_ids) > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return forward(input_ids=input_ids, **settings)

    net.forward = small_device
    found = score(model(net), JOBS["one fact"], batch_rows=3).frame["logprob"]
    assert 3 in rows and rows[-1] <= 2
    np.testing.assert_allclose(found, plain(model(net), JOBS["one fact"]), rtol=0, atol=NATS)


@pytest.mark.parametrize("kind", ["Llama", "BLOOM"])
def test_options_and_facts_in_another_order_get_the_same_scores(kind):
    m, rng = model(network(kind)), np.random.default_rng(0)
    first = score(m, JOBS["no shots"]).frame.set_index(["fact", "option"])["logprob"]
    for _ in range(3):
        prompts = []
        for i in rng.permutation(3):
            p = JOBS["no shots"][i]
            options = [p.options[j] for j in rng.permutation(len(p.options))]
            prompts.append(prompt(p.context, options, fact=p.fact))
        frame = score(m, prompts).frame
        assert frame["fact"].unique().tolist() == [p.fact for p in prompts]
        assert frame["option"].tolist() == [name for p in prompts for name in p.options]
        again = frame.set_index(["fact", "option"])["logprob"].loc[first.index]
        np.testing.assert_allclose(again, first, rtol=0, atol=NATS)


@pytest.mark.parametrize("kind", ["Llama", "BLOOM", "Mamba"])
def test_tokens_that_merge_across_the_border_are_scored_as_in_plain(kind):
    tokenizer = helpers.bpe_tokenizer([("b", "c"), ("a", "bc"), ("a", "e")])
    m = model(network(kind), tokenizer=tokenizer)
    prompts = [
        prompt("XYab", ["c", "d", "cd", "ce", "bbb"], fact="f1"),  # two merge, back to a
        prompt("XYZa", ["e", "ef", "d", "bc"], fact="f2"),
        prompt("XYZ", ["e", "ef", "d"], fact="f3"),
    ]
    encoded = encode(tokenizer, prompts, add_bos=False)
    assert [e.starts for e in encoded] == [(2, 4, 2, 2, 4), (3, 3, 4, 3), (3, 3, 3)]
    assert score(m, prompts).merged == 3 + 3
    assert_equals_plain(m, prompts)


def test_the_probabilities_of_all_strings_of_two_tokens_sum_to_one():
    tokens = [*helpers.ALPHABET, helpers.BOS]
    m = model(helpers.network(vocab_size=len(tokens)))
    one = score(m, [prompt("Kenya", tokens)]).frame["logprob"]
    two = score(m, [prompt("Kenya", [a + b for a in tokens for b in tokens])]).frame["logprob"]
    # Float32 logits: each probability is known to about 1e-6 of itself.
    assert math.fsum(np.exp(one)) == pytest.approx(1, abs=1e-5)
    assert math.fsum(np.exp(two)) == pytest.approx(1, abs=1e-5)
    by_first = np.exp(two).to_numpy().reshape(len(tokens), -1).sum(1)
    np.testing.assert_allclose(by_first, np.exp(one), rtol=1e-4)


def test_bfloat16_scores_without_error_and_its_difference_is_reported():
    exact = score(model(network()), JOBS["shots"]).frame["logprob"]
    half = helpers.network().bfloat16()
    frame = score(model(half, dtype="bfloat16"), JOBS["shots"]).frame
    difference = (frame["logprob"] - exact).abs().max()
    print(f"bfloat16 against float32, largest difference: {difference:.3f} nats")
    assert np.isfinite(frame["logprob"]).all() and difference > 0
    assert frame["logprob"].dtype == np.float64


# --- the frame


def test_the_frame_has_a_row_for_each_option_in_the_order_of_the_prompts():
    p, q = prompt("Ke", ["ab", "c"], fact="f9", gold=1), prompt("Ch", ["c", "abc"], fact="f1")
    scored = score(model(network()), [p, q])
    frame = scored.frame
    assert frame.columns.tolist() == [
        "fact",
        "subject",
        "context",
        "continuation",
        "option",
        "gold",
        "logprob",
        "n_tokens",
    ]
    assert frame["fact"].tolist() == ["f9", "f9", "f1", "f1"]
    assert frame["subject"].tolist() == [f"subject of {f}" for f in frame["fact"]]
    assert frame["context"].tolist() == ["Ke", "Ke", "Ch", "Ch"]
    assert frame["option"].tolist() == frame["continuation"].tolist() == ["ab", "c", "c", "abc"]
    assert frame["gold"].tolist() == [False, True, True, False]
    assert frame["n_tokens"].tolist() == [2, 1, 1, 3]
    assert (frame["logprob"] < 0).all() and not scored.cached and scored.seconds > 0


# --- at least work


@pytest.mark.parametrize("job", ["shots", "one fact", "one option", "no shots", "two relations"])
@pytest.mark.parametrize("add_bos", [True, False])
def test_the_packed_way_forwards_each_prefix_once_and_no_leaf(job, add_bos):
    # The subjects of these jobs differ in their first letter: only the shots are shared.
    m = model(network(), add_bos=add_bos)
    encoded = encode(m.tokenizer, JOBS[job], add_bos=add_bos)
    relations = {e.prompt.relation for e in encoded}
    by_relation = [[e for e in encoded if e.prompt.relation == r] for r in relations]
    wanted = sum(
        helpers.brute_force_tokens(row for e in group for row in e.sequences)
        for group in by_relation
    )
    assert score(m, JOBS[job]).tokens_forwarded == wanted


def test_tokens_forwarded_are_those_that_go_into_the_network():
    net = helpers.network()
    passes.way(net)
    seen, forward = [], net.forward

    def counted(input_ids, **settings):
        seen.append(input_ids.numel())
        return forward(input_ids=input_ids, **settings)

    net.forward = counted
    assert score(model(net), JOBS["shots"]).tokens_forwarded == sum(seen)


def test_options_of_one_token_cost_nothing():
    m = model(network())
    few = score(m, [prompt("Kenya", "a")]).tokens_forwarded
    many = score(m, [prompt("Kenya", string.ascii_letters)]).tokens_forwarded
    assert few == many == len("Kenya")


@pytest.mark.parametrize(("kind", "way"), [("BLOOM", "expanded"), ("Mamba", "plain")])
def test_the_slower_ways_count_no_padding(kind, way):
    m = model(network(kind))
    # Stem Kenya; inner paths a, ab (one row) and xyz: 5 + 2 + 3. Plain: every string whole.
    forwarded = score(m, [prompt("Kenya", ["abc", "ac", "xyzw", "q"])]).tokens_forwarded
    assert forwarded == {"expanded": 5 + 2 + 3, "plain": 8 + 7 + 9 + 6}[way]


# --- what a forecast says

MERGES = [("b", "c"), ("a", "bc"), ("a", "e")]
MERGED = [
    prompt("XYab", ["c", "d", "cd", "ce", "bbb"], fact="f1"),
    prompt("XYZa", ["e", "ef", "d", "bc"], fact="f2"),
]


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("kind", ["Llama", "GPT2"])
@pytest.mark.parametrize("add_bos", [True, False])
def test_expected_tokens_are_those_that_the_packed_way_forwards(kind, job, add_bos):
    expected = tree.expected_tokens(model(add_bos=add_bos), JOBS[job])  # has no network to load
    scored = score(model(network(kind), add_bos=add_bos), JOBS[job])
    assert expected == (scored.tokens_forwarded, 0)


def test_expected_tokens_are_right_where_tokens_merge_across_the_border():
    tokenizer = helpers.bpe_tokenizer(MERGES)
    expected = tree.expected_tokens(model(tokenizer=tokenizer), MERGED)
    scored = score(model(network(), tokenizer=tokenizer), MERGED)
    assert scored.merged > 0 and expected == (scored.tokens_forwarded, 0)


def test_expected_tokens_by_hand():
    # Kenya once, then the inner nodes a, ab and x, xy, xyz; nothing for q.
    found = tree.expected_tokens(model(), [prompt("Kenya", ["abc", "ac", "xyzw", "q"])])
    assert found == (5 + 2 + 3, 0)


@pytest.mark.parametrize("job", JOBS)
def test_the_cache_saves_all_expected_tokens_of_what_is_in_it_already(job):
    m = model(network())
    first = tree.option_logprobs(m, JOBS[job]).tokens_forwarded
    assert tree.expected_tokens(model(), JOBS[job]) == (first, first)
    assert tree.option_logprobs(m, JOBS[job]).tokens_forwarded == 0


def test_the_cache_saves_the_tokens_of_the_one_relation_that_is_in_it():
    capital, born = JOBS["two relations"][:2], JOBS["two relations"][2:]
    tokens = tree.option_logprobs(model(network()), capital).tokens_forwarded
    rest, _ = tree.expected_tokens(model(), born)
    assert tree.expected_tokens(model(), capital + born) == (tokens + rest, tokens)
    # Another dtype has other scores, so that nothing is saved.
    assert tree.expected_tokens(model(dtype="bfloat16"), capital) == (tokens, 0)


@pytest.mark.parametrize("job", JOBS)
def test_equal_scores_are_the_frame_of_the_scorer_but_for_the_numbers(job):
    found = tree.equal_scores(JOBS[job])
    real = score(model(network()), JOBS[job])
    assert found.frame["logprob"].nunique() == 1
    assert np.isfinite(found.frame["logprob"]).all() and (found.frame["logprob"] <= 0).all()
    assert (found.frame["n_tokens"] >= 1).all()  # not counted: that is for expected_tokens
    numbers = {"logprob": 0.0, "n_tokens": 1}
    pd.testing.assert_frame_equal(
        found.frame.assign(**numbers), real.frame.assign(**numbers), check_exact=True
    )
    assert found.frame.dtypes.equals(real.frame.dtypes)
    assert found.tokens_forwarded == 0
    assert not list(cache_folder().rglob("*.parquet"))  # it must never pass for a result


def test_a_forecast_refuses_a_prompt_that_the_scorer_would_refuse():
    long = [prompt("Kenya" * 3, OPTIONS)]
    with pytest.raises(BadInput) as refused:
        score(model(network(), context_length=16), long)
    with pytest.raises(BadInput) as forecast:
        tree.expected_tokens(model(context_length=16), long)
    assert str(forecast.value) == str(refused.value)


# --- numbers that are none


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("kind", ["Llama", "BLOOM"])
def test_logits_that_are_no_numbers_name_model_dtype_and_relation(kind, value):
    net = helpers.network(kind)
    passes.way(net)  # all is well with the probe, and not with the data
    forward = net.forward

    def overflows(**settings):
        output = forward(**settings)
        output.logits[..., 7] = value  # of a token that no option has
        return output

    net.forward = overflows
    m = model(net, name="broken", dtype="float16")
    message = "model broken in float16 gives NaN or infinity in relation capital; try float32"
    with pytest.raises(BadInput, match=message):
        tree.option_logprobs(m, JOBS["two relations"])
    assert not list(cache_folder().rglob("*.parquet"))


# --- the cache


def test_the_same_call_twice_gives_the_same_frame_and_never_loads_the_network():
    first = tree.option_logprobs(model(network()), JOBS["shots"])
    unloaded = model()
    second = tree.option_logprobs(unloaded, JOBS["shots"])
    pd.testing.assert_frame_equal(first.frame, second.frame, check_exact=True)
    assert "_loaded" not in unloaded.__dict__ and unloaded.load_seconds == 0
    assert (first.cached, second.cached) == (False, True)
    assert (first.tokens_forwarded > 0, second.tokens_forwarded) == (True, 0)
    assert first.merged == second.merged


def test_use_cache_false_neither_reads_nor_keeps():
    score(model(network()), JOBS["shots"])
    assert not list(cache_folder().rglob("*.parquet"))
    tree.option_logprobs(model(network()), JOBS["shots"])
    assert score(model(network()), JOBS["shots"]).tokens_forwarded > 0


def test_two_relations_are_two_chunks_and_one_of_them_is_kept_for_another_job():
    m = model(network())
    whole = tree.option_logprobs(m, JOBS["two relations"])
    assert len(list(cache_folder().rglob("*.parquet"))) == 2
    part = tree.option_logprobs(model(), JOBS["two relations"][2:])
    assert part.cached and part.tokens_forwarded == 0
    assert part.frame["logprob"].tolist() == whole.frame["logprob"].tolist()[-3:]
    more = [*JOBS["two relations"][2:], prompt("Kenya", "ab", relation="other")]
    mixed = tree.option_logprobs(m, more)
    assert not mixed.cached and mixed.tokens_forwarded == len("Kenya")


def key(prompts=None, add_bos=False, **changes) -> str:
    m = model(add_bos=add_bos, **changes)
    return cache.chunk_key(encode(m.tokenizer, prompts or JOBS["shots"], add_bos=False), m)


def test_the_key_changes_with_all_that_makes_a_score_and_with_nothing_else():
    changed = [
        key(),
        key(dtype="bfloat16"),
        key(digest="1" * 64),
        key(device="cuda"),
        key(add_bos=True),
        key([prompt("Kenya", ["a"])]),
        key([prompt("Kenyb", ["a"])]),
        key([prompt("Kenya", ["b"])]),
        key([prompt("Keny", ["aa"])]),  # the same tokens, divided elsewhere
        key([prompt("Kenya", ["a", "b"])]),
        key([prompt("Kenya", ["b", "a"])]),
    ]
    assert len(set(changed)) == len(changed)
    assert key() == key(name="another name") == key(device="cpu:0")


def test_the_key_changes_with_the_source_of_the_scorer(tmp_path, monkeypatch):
    before = key()
    (tmp_path / "tree.py").write_text("# another scorer")
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "cache.py"))
    assert key() != before


@pytest.mark.parametrize("left", [0, 0.5, 0.99])
def test_a_truncated_file_is_computed_again_and_replaced(left):
    m = model(network())
    first = tree.option_logprobs(m, JOBS["shots"])
    [path] = cache_folder().rglob("*.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(left * len(whole))])
    again = tree.option_logprobs(m, JOBS["shots"])
    assert not again.cached and again.tokens_forwarded == first.tokens_forwarded
    pd.testing.assert_frame_equal(first.frame, again.frame, check_exact=True)
    assert tree.option_logprobs(model(), JOBS["shots"]).cached


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


def test_a_kept_value_comes_back_to_the_last_bit():
    values = np.array([-1 / 3, -1e-300, -1e300, 0.0])
    cache.write("ab" + "0" * 62, values)
    np.testing.assert_array_equal(cache.read("ab" + "0" * 62), values)
    assert cache.read("cd" + "0" * 62) is None
