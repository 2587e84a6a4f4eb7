"""The benchmark counts right, extrapolates right, and fails when methods disagree. Nothing is timed."""

import dataclasses
import json
import re
import sys
from pathlib import Path

import helpers
import numpy as np
import pytest
from helpers import model, prompt

import lkecore
from benchmarks import floor, growth, memory, methods, report, scorer, work
from benchmarks.expanded import option_logprobs_expanded
from lkecore.scores.tokens import encode

# One token for each letter. Facts of r share K; the options b and bc share b.
SMALL = [
    prompt("Ka", ("b", "bc", "de"), fact="f1"),
    prompt("Kx", ("b", "q"), fact="f2"),
    prompt("Lab", ("cd", "ce"), fact="f3", relation="s"),
]


def encoded(prompts, **more):
    return encode(helpers.char_tokenizer(), prompts, front=(), **more)


def test_counts_are_those_of_a_small_work_by_hand():
    # Inner prefixes: K Ka Kab Kad Kx, L La Lab Labc. Read: Ka Kab Kad Kx, Lab Labc.
    assert work.count(encoded(SMALL)) == {
        "strings": 7,
        "tokens_one_by_one": (3 + 4 + 4) + (3 + 3) + (5 + 5),
        "inner_prefixes": 9,
        "head_rows": 6,
    }


def test_parameters_of_small_networks_are_those_counted_by_hand():
    # Llama, 2 layers of width 32, 4 heads of 8, 2 of them for keys and values, inner width 64.
    layer = 32 * 32 + 2 * 32 * 16 + 32 * 32 + 3 * 32 * 64
    assert floor.parameters(helpers.network("Llama")) == (2 * layer, 80 * 32)
    # GPT-2 keeps its layers as Conv1D and ties the head to the input embedding.
    layer = 32 * 96 + 32 * 32 + 32 * 128 + 128 * 32
    assert floor.parameters(helpers.network("GPT2")) == (2 * layer, 80 * 32)


def test_a_factor_is_the_ratio_of_the_tokens_that_a_method_forwards(monkeypatch):
    monkeypatch.setattr(methods, "PLAIN_OPTIONS", 2)
    monkeypatch.setattr(methods, "MINICONS_OPTIONS", 1)
    same = [
        dataclasses.replace(p, options=o, continuations=o)
        for p, o in zip(SMALL, [("b", "bc"), ("b", "q"), ("cd", "ce")], strict=True)
    ]
    made = methods.all_methods(
        model(), model(dtype="bfloat16"), same, encoded(same), sys.executable
    )
    factors = {(m.name, m.dtype): m.factor for m in made}
    tokens = (3 + 4) + (3 + 3) + (5 + 5)
    assert factors == {
        ("ours", "float32"): 1,
        ("expanded cache", "float32"): 1,
        ("ours", "bfloat16"): 1,
        ("one by one", "float32"): tokens / (3 + 4 + 5 + 5),
        ("one by one", "bfloat16"): tokens / (3 + 4 + 5 + 5),
        ("minicons", "float32"): tokens / (3 + 5),
        # Rows Ka, Kab, Kx and Labc, of which the first facts have all but Kx.
        ("lm-evaluation-harness", "float32"): (2 + 3 + 2 + 4) / (2 + 3 + 4),
    }


def three_methods(off: float = 0.0, half: tuple[float, ...] = (-1.0, -2.0, -3.0, -2.5)):
    """Rows of a made-up benchmark with four strings of two facts; one by one saw the first two."""
    places = [(0, 0), (0, 1), (1, 0), (1, 1)]
    full, few = [-1.0, -2.0, -3.0, -2.5], [-1.0, -2.0 + off]

    def method(name, dtype, part, factor):
        return methods.Method(name, dtype, part, factor, run=lambda: None)

    listed = [
        method("ours", "float32", places, 1.0),
        method("one by one", "float32", places[:2], 3.0),
        method("ours", "bfloat16", places, 1.0),
    ]
    results = [
        [methods.Result(full, s, 10) for s in (4.0, 1.0, 2.0)],
        [methods.Result(few, s, 20) for s in (5.0, 50.0, 6.0)],
        [methods.Result(list(half), s, 10) for s in (1.0, 1.0, 1.0)],
    ]
    table = report.rows(listed, results, [[0.0]] * 3)
    report.relate(table, {"float32": {"seconds": 0.5}, "bfloat16": {"seconds": 0.25}})
    return table


def test_seconds_are_the_median_of_the_rounds_times_the_factor():
    ours, plain, half = three_methods()
    assert (ours["total_seconds"], ours["times_slower"], ours["times_floor"]) == (2.0, 1.0, 4.0)
    assert (plain["total_seconds"], plain["total_tokens"]) == (6.0 * 3, 60)
    assert (plain["times_slower"], plain["times_floor"]) == (9.0, 36.0)
    assert (half["times_slower"], half["times_floor"]) == (1.0, 4.0)
    shown = report.lines([ours, plain, half], inner_prefixes=8)
    assert "~18.00" in shown[2] and "~60" in shown[2] and "~" not in shown[1]


def test_a_float32_method_that_is_off_by_more_than_the_tolerance_is_named():
    assert report.disagreeing(three_methods(off=2.5e-4)) == []
    table = three_methods(off=4e-4)
    assert report.disagreeing(table) == ["ours"]
    assert table[0]["n_compared"] == 2
    assert table[0]["max_difference"] == pytest.approx(4e-4)
    assert table[0]["mean_difference"] == pytest.approx(2e-4)
    assert "max_difference" not in table[1]  # one by one is what the others are compared with


def test_bfloat16_is_compared_with_float32_and_facts_with_another_winner_are_counted():
    row = three_methods(half=(-1.0, -2.0, -2.25, -2.75))[2]
    assert (row["n_compared"], row["max_difference"], row["mean_difference"]) == (4, 0.75, 0.25)
    assert (row["facts"], row["argmax_changes"]) == (2, 1)


@pytest.fixture
def tiny(monkeypatch):
    """A benchmark of seconds: a fact a relation, ten options, no large matrices."""
    draw = work.draw
    monkeypatch.setattr(work, "draw", lambda data: draw(data, n_facts=1, n_options=10))
    points = [("facts", 1, 3, draw(n_facts=1, n_options=3))]
    monkeypatch.setattr(growth, "draw_all", lambda data: points)
    monkeypatch.setattr(floor, "matrix_rate", lambda dtype, device, size=0: 1e9)


def test_the_whole_benchmark_agrees_on_a_toy_and_writes_what_it_measured(tiny, tmp_path, capsys):
    out = tmp_path / "bench.json"
    assert scorer.bench("toy", None, 1, "", out) == 0
    assert "peers are left out: make bench" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert list(found) == ["meta", "methods", "floor", "growth"]
    assert [(m["method"], m["dtype"], m["n_scored"]) for m in found["methods"]] == [
        ("ours", "float32", 30),
        ("one by one", "float32", 24),
        ("expanded cache", "float32", 30),
        ("ours", "bfloat16", 30),
        ("one by one", "bfloat16", 24),
    ]
    assert found["meta"]["work"]["strings"] == 30
    assert found["growth"][0]["strings"] == 9
    assert found["growth"][0]["one_by_one_seconds"] > 0
    assert {p.name for p in tmp_path.iterdir()} == {"bench.json"}


def test_the_benchmark_fails_and_names_the_method_whose_numbers_are_off(
    tiny, monkeypatch, tmp_path, capsys
):
    def off(*args, **kwargs):
        values, tokens = option_logprobs_expanded(*args, **kwargs)
        return [v + 0.001 for v in values], tokens

    monkeypatch.setattr(methods, "option_logprobs_expanded", off)
    assert scorer.bench("toy", None, 1, "", tmp_path / "bench.json") == 1
    assert "benchmark: expanded cache: more than 0.0003 nats" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux only")
def test_growth_of_the_peak_is_what_was_taken_even_if_it_was_given_back():
    def take_and_give_back():
        np.ones(100 * 2**20, dtype=np.uint8)

    np.ones(200 * 2**20, dtype=np.uint8)  # an earlier, higher peak must not count
    grown = memory.growth_of_peak(take_and_give_back, "cpu")
    assert 95 * 2**20 < grown < 130 * 2**20


def test_the_shipped_record_names_its_commit_and_has_medians_of_three_rounds():
    record = json.loads((Path(lkecore.__file__).parent / "data" / "benchmark.json").read_text())
    assert re.fullmatch(r"[0-9a-f]{7,40}", record["meta"]["versions"]["commit"])
    assert record["meta"]["rounds"] >= 3
    assert {len(row["seconds"]) for row in record["methods"]} == {record["meta"]["rounds"]}
    assert {row["method"] for row in record["methods"]} >= {"lm-evaluation-harness", "minicons"}
    assert report.disagreeing(record["methods"]) == []
