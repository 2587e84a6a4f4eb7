"""The contract of all scorers: what is asked decides the numbers, and not how it is asked, computed or kept.

Each number has its oracle in the file of its scorer. Here each scorer is compared with itself.
"""

import functools
import math
from dataclasses import dataclass, field, replace
from typing import Any

import helpers
import numpy as np
import pandas as pd
import pytest
import torch

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.prompts.instilled import Instilled, instilled
from lkecore.prompts.prompt import Prompt
from lkecore.scores import attention_paths, blanks, masked, seq2seq, tree
from lkecore.scores import generate as generation
from lkecore.storage import cache_folder

NATS = 1e-4  # float32, the same sums in another order
LETTERS = [
    helpers.prompt("ItalyRomeKenya", ("q", "ab", "abc", "abcdef", "xq"), fact="f1"),
    helpers.prompt("ItalyRomeChad" * 3, ("abd", "ab", "Z"), fact="f2"),
    helpers.prompt("Peru", ("a", "ba"), fact="f3"),
    helpers.prompt("ItalyRomeKenya", ("efghi", "ab"), fact="f4"),
]
NAMES = ("Paris", "Rome", "New York", "Parma", "Oslo")
SPACED = tuple(f" {name}" for name in NAMES)
WORDS = [
    Prompt("f1", "r", "France", "The capital of France is", NAMES, SPACED, 0),
    Prompt("f2", "r", "Italy", "The capital of Italy is", NAMES[:3], SPACED[:3], 1, "."),
    Prompt("f3", "r", "Spain", "", NAMES[1:], NAMES[1:], 3, " is the capital of Spain."),
    Prompt("f4", "r", "Rome", "The capital of France is", SPACED[1:3], SPACED[1:3], 0),
]
FACTS = [
    Fact(str(i), "r", subject, name)
    for i, (subject, name) in enumerate([("France", "Paris"), ("Italy", "Rome"), ("Spain", "Oslo")])
]
TOLD = instilled("The capital of [X] is [Y]", FACTS, [NAMES] * 3)
TOLD_WITH_STOP = instilled("The capital of [X] is [Y]", FACTS, [NAMES] * 3, closed=True)
TEXTS = ["Italy", "Iran", "FranceParisSpainMadrid" * 2, "IranTehran"]


def options(module):
    return lambda m, asked, **given: module.option_logprobs(m, asked, **given).frame.set_index(
        ["fact", "option"]
    )


def shifts(m, asked, **given):
    return blanks.shifts(m, asked, **given).set_index(["fact", "object"])


def outputs(m, asked, **given):
    given = {"stop": "x", "max_new_tokens": 5, **given}
    return generation.generate(m, asked, **given).set_index(["context", "sample"])


def network_of(kind: str):
    """(network, tokenizer), its way of reading found out; None is the usual tokenizer."""
    if kind not in helpers.NETWORKS:
        return helpers.blank_filler(kind)
    network = helpers.network(kind, vocab_size=len(helpers.ALPHABET) + 1)
    attention_paths.way(network, 100)
    return network, None


shared_network_of = functools.cache(network_of)


@dataclass(frozen=True)
class Scorer:
    """A scorer: how a frame comes from a model and what is asked, and the kind of its network."""

    ask: Any
    kind: str
    asked: list
    given: dict = field(default_factory=dict)

    def model(self, *, network: bool = True, own: bool = False):
        """A model; its network is its own where a test changes it, and not there where none may touch it."""
        net, tokenizer = (network_of if own else shared_network_of)(self.kind)
        net = net if network else None
        if tokenizer is None:
            return helpers.model(net, add_bos=True)
        kind = "seq2seq" if self.kind.startswith("T5") else "masked"
        return helpers.model(net, tokenizer=tokenizer, kind=kind)

    def frame(self, m, asked=None, **given) -> pd.DataFrame:
        asked = self.asked if asked is None else asked
        return self.ask(m, asked, **{"use_cache": False, **self.given, **given})


DRAWN = {"n_samples": 3, "seed": 1}
SCORERS = {
    "tree, packed": Scorer(options(tree), "Llama", LETTERS),
    "tree, expanded": Scorer(options(tree), "BLOOM", LETTERS),
    "tree, string by string": Scorer(options(tree), "Mamba", LETTERS),
    "masked": Scorer(options(masked), "RoBERTa", WORDS),
    "seq2seq": Scorer(options(seq2seq), "T5 v1.1", WORDS),
    "blanks, causal": Scorer(shifts, "Llama", TOLD),
    "blanks, masked": Scorer(shifts, "BERT", TOLD_WITH_STOP),
    "blanks, seq2seq": Scorer(shifts, "T5", TOLD_WITH_STOP),
    "generate, packed": Scorer(outputs, "Llama", TEXTS),
    "generate, expanded": Scorer(outputs, "BLOOM", TEXTS, DRAWN),
    "generate, samples": Scorer(outputs, "Llama", TEXTS, DRAWN),
}


@pytest.fixture(params=SCORERS)
def scorer(request, tmp_path, monkeypatch) -> Scorer:
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    return SCORERS[request.param]


def kept() -> int:
    return len(list(cache_folder().rglob("*.parquet")))


def rows_of(scorer: Scorer, asked) -> list[tuple]:
    """Which rows are wanted, in which order."""
    if isinstance(asked[0], str):
        return [(text, i) for text in asked for i in range(scorer.given.get("n_samples", 1))]
    if isinstance(asked[0], Instilled):
        return [(each.fact, each.asked.options[each.asked.gold]) for each in asked]
    return [(each.fact, option) for each in asked for option in each.options]


def assert_same(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    """Equal but for rounding."""
    numbers = wanted.select_dtypes("number").columns
    np.testing.assert_allclose(found[numbers], wanted[numbers], rtol=0, atol=NATS)
    pd.testing.assert_frame_equal(found.drop(columns=numbers), wanted.drop(columns=numbers))


def turned(each):
    """The same with its options in another order."""
    if not isinstance(each, Prompt):
        return each
    last = len(each.options) - 1
    texts = {"options": each.options[::-1], "continuations": each.continuations[::-1]}
    return replace(each, **texts, gold=last - each.gold)


def apart(each):
    """The same in a relation of its own, which is a chunk."""
    if isinstance(each, str):
        return each
    if isinstance(each, Instilled):
        return replace(each, asked=replace(each.asked, relation=each.fact))
    return replace(each, relation=each.fact)


def watched(network, limit: int | None = None) -> list[tuple[int, int]]:
    """How many (rows, tokens of each) come in together from now on; above ``limit`` there is no memory.

    Not counted are the two tokens by which memory is measured.
    """
    sizes = []

    def see(_, args, given):
        ids = args[0] if args else given["input"]
        if ids.tolist() == [[0, 0]]:
            return
        if limit is not None and ids.numel() > limit:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        sizes.append(tuple(ids.shape))

    weight = network.get_input_embeddings().weight
    for module in network.modules():  # T5 has a module for each side
        if getattr(module, "weight", None) is weight and isinstance(module, torch.nn.Embedding):
            module.register_forward_pre_hook(see, with_kwargs=True)
    return sizes


# --- order and chunks


def test_rows_stand_as_they_are_asked_and_numbers_do_not_depend_on_what_else_is(scorer):
    m = scorer.model()
    whole = scorer.frame(m)
    assert list(whole.index) == rows_of(scorer, scorer.asked)
    for some in (scorer.asked[::-1], scorer.asked[1:2], [turned(each) for each in scorer.asked]):
        found = scorer.frame(m, some)
        assert list(found.index) == rows_of(scorer, some)
        assert_same(found, whole.loc[found.index])


def test_one_chunk_or_many_give_the_same_numbers(scorer, monkeypatch):
    m = scorer.model()
    one = scorer.frame(m)
    monkeypatch.setattr(generation, "CHUNK", 1)
    assert_same(scorer.frame(m, [apart(each) for each in scorer.asked]), one)


def test_nothing_asked_is_no_row_and_loads_no_network(scorer):
    frame = scorer.frame(scorer.model(network=False), [], use_cache=True)
    assert len(frame) == 0 and {"fact", "context"} & {*frame.columns, *frame.index.names}


# --- memory


def test_a_tighter_bound_means_smaller_passes_and_the_same_numbers(scorer, monkeypatch):
    m = scorer.model(own=True)
    sizes = watched(m.network)
    whole, before = scorer.frame(m), max(map(math.prod, sizes))
    sizes.clear()
    monkeypatch.setenv("LKE_MEMORY_GB", "1e-4")
    given = {"batch_rows": 1} if scorer.ask not in (shifts, outputs) and m.kind != "causal" else {}
    assert_same(scorer.frame(m, **given), whole)
    after = max(map(math.prod, sizes))
    smaller = given or m.kind == "causal" and scorer.kind != "Mamba"
    assert after < before if smaller else after <= before
    assert not given or {rows for rows, _ in sizes} == {1}


def test_passes_are_halved_where_memory_runs_out_and_the_numbers_stay(scorer):
    wanted = scorer.frame(scorer.model())
    m = scorer.model(own=True)
    limit = 25 if m.kind == "causal" else 40
    if scorer.kind == "Mamba":
        limit = 60  # a string is no less than a string
    sizes = watched(m.network, limit)
    assert_same(scorer.frame(m), wanted)
    assert 0 < max(map(math.prod, sizes)) <= limit


def test_where_not_even_the_least_fits_it_is_said_in_one_line_and_nothing_is_kept(scorer):
    m = scorer.model(own=True)
    watched(m.network, 0)
    with pytest.raises(BadInput, match=r"^out of memory[^\n]*$"):
        scorer.frame(m, use_cache=True)
    assert kept() == 0


# --- the cache


def test_a_second_call_computes_nothing_and_gives_the_same_bytes(scorer, tmp_path, monkeypatch):
    ledgers = [tmp_path / "first", tmp_path / "second"]
    monkeypatch.setenv("LKE_LEDGER", str(ledgers[0]))
    first = scorer.frame(scorer.model(), use_cache=True)
    monkeypatch.setenv("LKE_LEDGER", str(ledgers[1]))
    unloaded = scorer.model(network=False)
    second = scorer.frame(unloaded, use_cache=True)
    pd.testing.assert_frame_equal(first, second, check_exact=True)
    assert "_loaded" not in unloaded.__dict__ and unloaded.load_seconds == 0
    before, after = (progress.read_ledger(ledger) for ledger in ledgers)
    assert sum(entry["tokens_forwarded"] for entry in before) > 0
    assert {entry["tokens_forwarded"] for entry in after} == {0}
    assert [{e["from_cache"] for e in entries} for entries in (before, after)] == [{False}, {True}]


def test_without_the_cache_nothing_is_read_and_nothing_is_kept(scorer):
    m = scorer.model(own=True)
    scorer.frame(m)
    assert kept() == 0
    scorer.frame(m, use_cache=True)
    sizes = watched(m.network)
    scorer.frame(m)
    assert sizes


def test_another_model_and_another_dtype_have_entries_of_their_own(scorer):
    m = scorer.model()
    scorer.frame(m, use_cache=True)
    n = kept()
    for times, other in enumerate((replace(m, dtype="bfloat16"), replace(m, digest="1" * 64)), 2):
        other.__dict__["_loaded"] = (m.network, 0.0)
        scorer.frame(other, use_cache=True)
        assert kept() == times * n > 0


# --- settings


def test_a_network_whose_numbers_are_none_is_refused_with_its_dtype_and_nothing_is_kept(scorer):
    m = scorer.model(own=True)
    m.network.get_output_embeddings().weight.data[7] = torch.nan
    with pytest.raises(BadInput, match="^model toy model in float32 gives NaN"):
        scorer.frame(m, use_cache=True)
    assert kept() == 0


# Not of outputs: with other numbers come other words.
@pytest.mark.parametrize(
    "scorer", [name for name, each in SCORERS.items() if each.ask is not outputs], indirect=True
)
def test_bfloat16_gives_finite_numbers_near_those_of_float32(scorer):
    m = scorer.model(own=True)
    name = "entropy" if scorer.ask is shifts else "logprob"
    exact = scorer.frame(m)[name]
    m.network.to(torch.bfloat16)
    attention_paths.FOUND.pop(m.network, None)
    rough = scorer.frame(m)[name]
    assert rough.dtype == np.float64 and np.isfinite(rough).all()
    assert 0 < (rough - exact).abs().mean() < 0.5  # eight bits of logits of ten nats


NO = {
    "tree": (tree.option_logprobs, LETTERS, "memory_gb", (0, -1, np.nan, np.inf)),
    "masked": (masked.option_logprobs, WORDS, "batch_rows", (0, -1)),
    "seq2seq": (seq2seq.option_logprobs, WORDS, "batch_rows", (0, -1)),
    "generate": (generation.generate, TEXTS, "memory_gb", (0,)),
}


@pytest.mark.parametrize("name", NO)
def test_bounds_without_meaning_and_models_of_another_kind_are_refused_before_the_network(name):
    ask, asked, bound, refused = NO[name]
    own = name if name in ("masked", "seq2seq") else "causal"
    for value in refused:
        with pytest.raises(BadInput, match=f"^{bound} is {value}, but must be [^\n]*$"):
            ask(helpers.model(kind=own), asked, **{bound: value})
    for kind, module in (("causal", "tree"), ("masked", "masked"), ("seq2seq", "seq2seq")):
        if kind != own:
            line = f"^model toy model is {kind}, not {own}: ask it with lkecore.scores.{module}$"
            with pytest.raises(BadInput, match=line):
                ask(helpers.model(kind=kind), asked)


def test_the_bar_of_who_waits_ends_with_all_that_is_asked(scorer, tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_PROGRESS", str(tmp_path / "bar"))
    scorer.frame(scorer.model())
    _, done, total = progress.read_bar(tmp_path / "bar")
    assert done == total == len(scorer.asked)
