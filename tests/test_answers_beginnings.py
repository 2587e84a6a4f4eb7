"""What many texts share: counted by pencil and by sets of strings, scored by plain forward passes."""

import time

import numpy as np
import pandas as pd
import pytest
import torch

from lkecore import models
from lkecore.answers import beginnings
from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.prompts import many_shot
from lkecore.scores.chunks import Scored
from lkecore.scores.tokens import Encoded, encode

SHOTS = [Fact("s1", "r", "Italy", "Rome"), Fact("s2", "r", "Japan", "Tokyo")]
ASKED = [Fact("a1", "r", "France", "Paris"), Fact("a2", "r", "Spain", "Madrid")]
OPTIONS = ["Paris", "Paraguay", "Madrid"]


@pytest.fixture(scope="module")
def toy():
    return models.open_model("toy")


@pytest.fixture(scope="module")
def prompts():
    return many_shot(SHOTS, ASKED, [OPTIONS] * 2)


def texts(*rows, start=2):
    """One prompt whose options are these strings of numbers; the first ``start`` are the context."""
    ids = [tuple(map(int, row)) for row in rows]
    tails = tuple(row[start:] for row in ids)
    return Encoded(None, ids[0][:start], tails, (start,) * len(rows), 0)


def plain_steps(model, ids):
    """The log-probability of each token after the first, from one forward pass of our own."""
    with torch.inference_mode():
        logits = model.network(torch.tensor([ids])).logits[0].double()
    steps = logits.log_softmax(-1)
    return [steps[i - 1, ids[i]].item() for i in range(1, len(ids))]


# --- sizes


def test_sizes_are_facts_with_all_options_then_options_with_these_facts_none_twice():
    found = beginnings.sizes([2, 5], [3, 7], 5)
    assert found == [(2, 7), (5, 7), (5, 3)]


@pytest.mark.parametrize(
    ("facts_tried", "options_tried", "n_facts", "n_plain", "line"),
    [
        ([], [3], 1, 1, "facts_tried []: must be one number or more"),
        ([2], [], 1, 1, "options_tried []: must be one number or more"),
        ([0, 2], [3], 1, 1, "facts_tried [0, 2]: must be one number or more, each 1 or more"),
        ([2, 6], [3], 2, 1, "facts_tried [2, 6]: there are 5 facts to ask"),
        ([2, 4], [3], 5, 1, "n_facts 5: must be 1 to 4"),
        ([2, 4], [3], 0, 1, "n_facts 0: must be 1 to 4"),
        ([2, 4], [3], 4, 5, "n_plain 5: must be 1 to 4"),
        ([2, 4], [3], 4, 0, "n_plain 0: must be 1 to 4"),
    ],
)
def test_sizes_that_cannot_be_asked_are_refused(facts_tried, options_tried, n_facts, n_plain, line):
    with pytest.raises(BadInput) as caught:
        beginnings.check(facts_tried, options_tried, n_facts=n_facts, n_plain=n_plain, has=5)
    assert line in str(caught.value)


def test_all_facts_that_there_are_can_be_asked():
    beginnings.check([1, 5], [1], n_facts=5, n_plain=5, has=5)
    beginnings.check([1, 5], [1], n_facts=1, n_plain=1, has=5)


# --- counts


def test_counts_by_pencil():
    # 1 2 | 3 4 and 1 2 | 3 5: 8 tokens; read from are 1, 2, 3.  The third adds 1 2 6 and no new beginning.
    block = [texts("1234", "1235"), texts("126")]
    [row] = beginnings.counts({(2, 3): block}).to_dict("records")
    assert row == {
        "facts": 2, "options": 3, "texts": 3, "one by one": 11, "distinct": 3, "times": 11 / 3,
    }  # fmt: skip


def test_counts_are_those_of_a_set_of_all_proper_beginnings(toy, prompts):
    block = encode(toy.tokenizer, prompts, front=toy.front)
    whole = [ids for e in block for ids in e.sequences]
    proper = {ids[:n] for ids in whole for n in range(1, len(ids))}
    found = beginnings.counts({(1, 3): block[:1], (2, 3): block})
    assert found["distinct"].iloc[1] == len(proper)
    assert found["one by one"].iloc[1] == sum(len(ids) for ids in whole)
    assert found[["facts", "texts"]].to_numpy().tolist() == [[1, 3], [2, 6]]


# --- one_by_one, with_costs, by_method


def test_one_by_one_gives_the_first_option_of_each_and_the_time_of_a_token(
    toy, prompts, monkeypatch
):
    block = encode(toy.tokenizer, prompts, front=toy.front)
    clock = iter([10.0, 13.0])
    monkeypatch.setattr(beginnings, "perf_counter", lambda: next(clock))
    found, per_token = beginnings.one_by_one(toy, block)
    first = [(e.sequences[0], e.starts[0]) for e in block]
    sums = [sum(plain_steps(toy, list(ids))[start - 1 :]) for ids, start in first]
    assert found == pytest.approx(sums, abs=1e-4)
    assert per_token == pytest.approx(3.0 / sum(len(ids) for ids, _ in first))


def test_the_time_of_one_by_one_is_part_of_what_has_passed(toy, prompts):
    block = encode(toy.tokenizer, prompts, front=toy.front)
    before = time.perf_counter()
    _, per_token = beginnings.one_by_one(toy, block)
    whole = time.perf_counter() - before
    assert 0 < per_token * sum(len(e.sequences[0]) for e in block) < whole


COUNTED = pd.DataFrame(
    [(2, 7, 14, 100, 10, 10.0), (5, 7, 35, 400, 20, 20.0)],
    columns=["facts", "options", "texts", "one by one", "distinct", "times"],
)
SCORED = {
    (2, 7): Scored(pd.DataFrame(), 0.5, 11, 0, False),
    (5, 7): Scored(pd.DataFrame(), 0.75, 22, 0, False),
}


def test_costs_are_measured_for_ours_and_extrapolated_for_one_by_one():
    found = beginnings.with_costs(COUNTED, SCORED, 0.01)
    assert found[list(COUNTED)].equals(COUNTED)
    assert found["ours"].tolist() == [11, 22] and found["ours, seconds"].tolist() == [0.5, 0.75]
    assert found["one by one, seconds"].tolist() == pytest.approx([1.0, 4.0])


def test_a_figure_gets_the_blocks_once_for_each_method():
    costs = beginnings.with_costs(COUNTED, SCORED, 0.01)
    found = beginnings.by_method(costs, {"ours": "tree", "one by one": "plain"})
    assert found.to_numpy().tolist() == [
        ["tree", 2, 7, 11, 0.5], ["tree", 5, 7, 22, 0.75],
        ["plain", 2, 7, 100, 1.0], ["plain", 5, 7, 400, 4.0],
    ]  # fmt: skip
    assert list(found) == ["method", "facts", "options", "tokens", "seconds"]


# --- differences


def test_differences_by_pencil():
    pairs = {"a": ([1.0, 2.0, -3.0], [1.5, 2.0, -5.5]), "b": (np.zeros((2, 2)), np.ones((2, 2)))}
    found = beginnings.differences(pairs)
    assert found.to_numpy().tolist() == [["a", 3, 2.5, 1.0], ["b", 4, 1.0, 1.0]]
    assert list(found) == ["compared", "texts", "largest", "mean"]


def test_differences_of_arrays_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"a: shapes \(1,\) and \(2,\) differ"):
        beginnings.differences({"a": ([1.0], [1.0, 2.0])})


# --- token_logprobs, tree_nodes


def test_every_token_has_what_a_plain_pass_gives_it(toy, prompts):
    found = beginnings.token_logprobs(toy, prompts)
    expected = []
    for prompt, e in zip(prompts, encode(toy.tokenizer, prompts, front=toy.front), strict=True):
        for option, ids, start in zip(prompt.options, e.sequences, e.starts, strict=True):
            steps = plain_steps(toy, list(ids))[start - 1 :]
            expected += [(prompt.subject, option, value) for value in steps]
    assert list(zip(found["subject"], found["option"], strict=True)) == [e[:2] for e in expected]
    assert found["logprob"].tolist() == pytest.approx([e[2] for e in expected], abs=1e-4)
    spelled = found.groupby(["subject", "option"])["token"].agg("".join)
    assert all(text == f" {option}" for (_, option), text in spelled.items())


def test_the_nodes_of_a_tree_spell_every_text_and_carry_its_log_probability(toy, prompts):
    tokens = beginnings.token_logprobs(toy, prompts)
    frame = beginnings.tree_nodes(toy, prompts, tokens, context="2 pairs")
    encoded = encode(toy.tokenizer, prompts, front=toy.front)
    whole = [ids for e in encoded for ids in e.sequences]
    shared = 0
    while len({ids[: shared + 1] for ids in whole}) == 1:
        shared += 1
    assert frame["label"].iloc[0] == f"2 pairs\n{shared} tokens"
    assert frame["kind"].iloc[0] == "context" and np.isnan(frame["logprob"].iloc[0])
    # One row for each different beginning behind the shared one.
    behind = {ids[:n] for ids in whole for n in range(shared + 1, len(ids) + 1)}
    assert len(frame) == 1 + len(behind)
    # Read and never forwarded are the beginnings that nothing follows.
    ends = behind - {ids[:n] for ids in whole for n in range(1, len(ids))}
    assert (frame["kind"] == "read").sum() == len(ends)
    # From each end of the tree to the root: the text, and the log-probability of an option.
    row = frame.set_index("node")
    spelled = {}
    for node in set(frame["node"]) - set(frame["parent"]):
        at, text, total = node, "", 0.0
        while at != frame["node"].iloc[0]:
            text = row.loc[at, "label"] + text
            total += np.nan_to_num(row.loc[at, "logprob"])
            at = row.loc[at, "parent"]
        spelled[text] = total
    sums = tokens.groupby(["subject", "option"])["logprob"].sum()
    for (subject, option), value in sums.items():
        ending = [
            t for t in spelled if t.endswith(f"␣{option}") and t.strip("␣").startswith(subject)
        ]
        [text] = ending or [t for t in spelled if t.endswith(f"{subject[-2:]}␣{option}")]
        assert spelled[text] == pytest.approx(value, abs=1e-9)


# --- what `make bench` wrote

BENCH = {
    "meta": {
        "model": "small", "device": "cpu", "cpu": "a chip", "cores": 4, "threads": 2, "rounds": 3,
        "date": "2026-01-02T03:04:05", "command": "python -m it",
        "versions": {"torch": "2.0", "commit": "abc", "source": "def"},
        "work": {"strings": 6000, "relations": ["P1", "P2"], "facts": "trex", "shots": 50},
    },
    "methods": [
        {
            "method": "ours", "dtype": "float32", "factor": 1.0, "total_seconds": 8.25,
            "total_tokens": 3372, "times_slower": 1.0, "times_floor": 2.5,
            "max_difference": 0.000016, "other_programs_cores": [0.0, 0.25],
        },
        {
            "method": "peer", "dtype": "float32", "factor": 4.0, "total_seconds": 1234.5,
            "total_tokens": 1000000, "times_slower": 149.6, "times_floor": 374.1,
            "other_programs_cores": [1.5], "versions": {"peer": "9", "source": "ghi"},
        },
    ],
}  # fmt: skip


def test_what_the_benchmark_was_measured_on():
    assert beginnings.about_benchmark(BENCH) == {
        "model": "small on cpu",
        "work": "6,000 texts of P1, P2 (trex), 50 examples",
        "machine": "a chip, 4 cores, 2 threads",
        "meanwhile": "other programs used up to 1.5 cores",
        "rounds": "3, of which the table has medians",
        "date": "2026-01-02",
        "commit": "abc",
        "versions": "torch 2.0, peer 9",
        "command": "python -m it",
    }
    with_gpu = BENCH | {"meta": BENCH["meta"] | {"gpu": "a card"}}
    assert beginnings.about_benchmark(with_gpu)["model"] == "small on a card"


def test_the_table_of_the_benchmark_marks_what_is_extrapolated():
    found = beginnings.benchmark_table(BENCH)
    assert found.to_numpy().tolist() == [
        ["ours", "float32", "8.2", "3,372", "1.0", "2.5", "2e-05"],
        ["peer", "float32", "~1,234.5", "~1,000,000", "149.6", "374.1", ""],
    ]


def test_the_benchmark_that_ships_can_be_shown():
    bench = beginnings.benchmark()
    found = beginnings.benchmark_table(bench)
    assert len(found) == len(bench["methods"]) and {"ours", "one by one"} <= set(found["method"])
    assert beginnings.about_benchmark(bench)["date"][:2] == "20"
