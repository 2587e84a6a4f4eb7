"""Boards: who is compared with whom, by pencil and by brute force over rows; none of our metrics."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from lkecore import papers
from lkecore.answers import board, rules
from lkecore.errors import BadInput
from lkecore.intervals import Interval

HOW = {"seed": 0, "n_resamples": 200}
HITS = {  # four facts of each of two relations, by model
    "a": {"r": "1111", "s": "1110"},
    "b": {"r": "1100", "s": "0011"},
    "c": {"r": "0000", "s": "1000"},
}


def answers_of(hits=HITS, **more):
    """Answers of some models in the same way; ``more`` are other settings."""
    rows = [
        {
            "source": "this page", "fact_set": "atlas", "n_shots": 3, "most_options": 4, "n_facts": 4,
            "seed": 0, "dtype": "float32", "estimator": "iclke-space", "model": model,
            "relation": relation, "fact": f"{relation}{n}", "correct": hit == "1",
            "confidence_gold": 0.25 + 0.5 * (hit == "1"), "n_options": 4 if relation == "r" else 2,
        }
        for model, of in hits.items()
        for relation, text in of.items()
        for n, hit in enumerate(text)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**more)


@pytest.fixture
def one():
    """(answers with their board, the boards) of the three models above."""
    return board.boards_of(board.once(answers_of(), ["iclke-space"]), ["iclke-space"])


# --- what is collected


def test_runs_and_shipped_results_stand_together_with_what_was_asked():
    found, lines = board.collected(answers_of(), ["kamel", "trex"])
    assert list(found) == [*board.ASKS, *board.FOUND] and found["correct"].dtype == bool
    assert found["source"].unique().tolist() == ["this page", "shipped: kamel", "shipped: trex"]
    assert [line.partition(":")[0] for line in lines] == ["shipped kamel", "shipped trex"]
    assert (found.loc[found["source"] != "this page", "most_options"] == 100).all()
    every = ["atlas", "kamel", "kamel_formats", "sizes", "sizes_kamel", "trex"]
    assert board.all_shipped() == every


def test_what_cannot_be_compared_is_refused(monkeypatch):
    with pytest.raises(BadInput, match="no answers: shipped names no profile, and no run is read"):
        board.collected(None, [])
    with pytest.raises(BadInput, match="there are answers without n_shots"):
        board.collected(answers_of().drop(columns="n_shots"), [])
    some = pd.concat([answers_of(), answers_of().head(1).assign(dtype=None)])
    with pytest.raises(BadInput, match="there are answers without dtype"):
        board.collected(some, [])
    monkeypatch.setattr(board, "read", lambda *_: (answers_of(), {"parameters": {}}))
    with pytest.raises(BadInput, match="old does not say what was asked; make it again"):
        board.collected(None, ["old"])


def test_an_answer_given_twice_counts_once_and_two_different_ones_are_refused():
    every = pd.concat([answers_of(), answers_of().head(5)])
    assert len(board.once(every, ["iclke-space"])) == 3 * 8
    near = answers_of().head(5).assign(confidence_gold=lambda f: f["confidence_gold"] + 0.0009)
    assert len(board.once(pd.concat([answers_of(), near]), ["iclke-space"])) == 3 * 8
    far = near.assign(confidence_gold=near["confidence_gold"] + 0.001)
    turned = answers_of().head(1).assign(correct=False)
    for other in (far, turned):
        with pytest.raises(BadInput, match=r"a answers r0 \(r, iclke-space\) in two ways"):
            board.once(pd.concat([answers_of(), other]), ["iclke-space"])
    with pytest.raises(BadInput, match="no answers; there are .'iclke-space'"):
        board.once(answers_of(), ["iclke-colon"])


# --- boards


def test_a_board_is_made_of_models_with_the_same_facts_asked_in_the_same_way():
    parts = [
        answers_of({"alone": HITS["a"]}, estimator="iclke-colon"),
        answers_of(),
        answers_of(estimator="iclke-colon"),
        answers_of({"d": {"r": "111", "s": "111"}, "e": {"r": "101", "s": "100"}}),
        answers_of(n_shots=5),
        answers_of(source="shipped: x"),
    ]
    parts[0]["fact"] += "x"  # other facts, as many
    ways = ["iclke-colon", "iclke-space"]
    found, boards = board.boards_of(board.once(pd.concat(parts), ways), ways)
    key = ["estimator", "n_shots", "source", "models", "facts"]
    assert boards[key].to_numpy().tolist() == [
        ["iclke-colon", 3, "this page", 3, 8],
        ["iclke-space", 3, "this page", 3, 8],
        ["iclke-space", 3, "this page", 2, 6],
        ["iclke-space", 5, "this page", 3, 8],
        ["iclke-space", 3, "shipped: x", 3, 8],
        ["iclke-colon", 3, "this page", 1, 8],
    ]
    assert boards["board"].tolist() == [1, 2, 3, 4, 5, 6] and set(boards["n_options"]) == {4}
    assert boards["chance"].tolist() == [(1 / 4 + 1 / 2) / 2] * 6
    assert boards["title"][4] == "Board 5: atlas, iclke-space, shipped: x, 8 facts"
    assert boards["title"][0] == "Board 1: atlas, iclke-colon, 8 facts"
    assert len(found) == sum(len(part) for part in parts)
    assert found.loc[found["model"].eq("alone"), "board"].unique().tolist() == [6]
    assert set(found.loc[found["board"].eq(3), "model"]) == {"d", "e"}


def test_who_stands_on_a_board():
    models = ["lab:smoke-1/0.15m-unplanted", "meta-llama/Llama-2-7b-hf", "no/such"]
    models += ["Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF"]
    found = board.about(models).set_index("model")
    assert found["what_it_is"]["lab:smoke-1/0.15m-unplanted"] == "lab, unplanted"
    assert found["parameters"]["no/such"] == found["what_it_is"]["no/such"] == ""
    assert found["tuned"]["meta-llama/Llama-2-7b-hf"] == "no"
    assert found["what_it_is"]["meta-llama/Llama-2-7b-hf"].endswith(", base")
    assert int(found["parameters"]["meta-llama/Llama-2-7b-hf"].replace(",", "")) > 6e9
    assert found["what_it_is"][models[-1]].startswith("coder, instruction-tuned, 4 bits")
    assert found["tuned"][models[-1]] == "yes"


# --- numbers


def shares_right(model):
    return [np.mean([hit == "1" for hit in text]) for text in HITS[model].values()]


def test_standings_are_means_of_relations_the_best_first(one):
    table = board.standings(one[0], **HOW)
    assert table["model"].tolist() == ["a", "b", "c"]
    for row in table.itertuples():
        by_relation = shares_right(row.model)
        assert row.accuracy.estimate == pytest.approx(np.mean(by_relation))
        assert row.over_relations.estimate == pytest.approx(np.mean(by_relation))
        assert "relations" in row.over_relations.method != row.accuracy.method
        assert row.std.estimate == pytest.approx(np.std(by_relation, ddof=1))
        assert row.gold_confidence.estimate == pytest.approx(0.25 + 0.5 * np.mean(by_relation))
    kept = board.numbers(table, "accuracy")
    for ours, row in zip(table.itertuples(), kept.itertuples(), strict=True):
        ends = ours.accuracy, ours.over_relations
        assert (row.accuracy, row.low, row.high) == (ends[0].estimate, ends[0].low, ends[0].high)
        assert (row.wide_low, row.wide_high) == (ends[1].low, ends[1].high)
        assert (row.std, row.gold_confidence) == (ours.std.estimate, ours.gold_confidence.estimate)
        assert (row.std_low, row.std_high) == (ours.std.low, ours.std.high)
        ends = ours.gold_confidence.low, ours.gold_confidence.high
        assert (row.gold_confidence_low, row.gold_confidence_high) == ends


def test_standings_without_cues_leave_out_the_facts_that_carry_one(one):
    """Cues: the first fact of each relation. Of the others a has 3 of 3 and 2 of 3, b 1 of 3 and 2 of 3."""
    answers, _ = one
    facts = answers.drop_duplicates(["relation", "fact"])[["relation", "fact"]]
    first = facts["fact"].str.endswith("0")
    cues = facts.assign(source="this page", cue_word=first, cue_frequent=False, n_options=4)
    cues = rules.of_boards(
        answers, cues.assign(length_rank=1.0, **dict.fromkeys(rules.RULES, 0.25))
    )
    ruled = rules.on_boards(cues)
    listed = board.standings(pd.concat([answers, ruled]), **HOW)
    found = board.with_no_cue(listed, answers, cues, seed=0)
    assert found["model"].tolist() == listed["model"].tolist() and len(found) == 3 + 4
    left = found.set_index("model")["no_cue"]
    assert left["a"].estimate == pytest.approx((1 + 2 / 3) / 2)
    assert left["b"].estimate == pytest.approx((1 / 3 + 2 / 3) / 2)
    assert left["no model, rule-both"] is None
    numbers = board.numbers(found, "accuracy").set_index("model")["no_cue"]
    assert numbers["a"] == left["a"].estimate and np.isnan(numbers["no model, rule-both"])
    assert board.with_no_cue(listed, answers, cues[:0], seed=0)["no_cue"].isna().all()


def test_neighbours_are_compared_fact_by_fact(one):
    two = board.neighbours(one[0], board.standings(one[0], **HOW), **HOW)
    assert two[["upper", "lower"]].to_numpy().tolist() == [["a", "b"], ["b", "c"]]
    flat = {
        model: [hit == "1" for text in of.values() for hit in text] for model, of in HITS.items()
    }
    p = []
    for row in two.itertuples():
        pairs = list(zip(flat[row.upper], flat[row.lower], strict=True))
        assert row.upper_only == pairs.count((True, False)) and row.facts == 8
        assert row.lower_only == pairs.count((False, True))
        n = row.upper_only + row.lower_only
        p.append(binomtest(row.upper_only, n, 0.5).pvalue)
        gap = np.mean(shares_right(row.upper)) - np.mean(shares_right(row.lower))
        assert row.difference.estimate == row.over_relations.estimate == pytest.approx(gap)
    first, second = sorted(p)  # Holm: the smaller twice, the larger once, and not below that
    holm = sorted([min(1, 2 * first), min(1, max(2 * first, second))])
    assert sorted(two["p"]) == pytest.approx(holm)
    assert set(two["order"]) == {"none"}  # so few facts


def test_an_order_needs_an_interval_above_0_and_a_small_p():
    hits = {"a": {"r": "1" * 20, "s": "1" * 20}, "b": {"r": "0" * 20, "s": "0" * 19 + "1"}}
    found, _ = board.boards_of(board.once(answers_of(hits), ["iclke-space"]), ["iclke-space"])
    [row] = board.neighbours(found, board.standings(found, **HOW), **HOW).itertuples()
    assert row.order == "upper first" and row.p < 1e-6 and row.difference.low > 0


def test_shares_count_relations_with_two_right_facts_or_more(one):
    matrix = board.shares(one[0], board.standings(one[0], **HOW), **HOW)
    found = matrix.set_index(["of", "in"])
    assert len(matrix) == 9
    for of, other in product("ab", "abc"):
        rates, alone = [], []
        for relation in "rs":
            pairs = list(zip(HITS[of][relation], HITS[other][relation], strict=True))
            right = [y for x, y in pairs if x == "1"]
            assert len(right) >= 2
            rates.append(right.count("1") / len(right))
            alone.append(HITS[other][relation].count("1") / 4)
        row = found.loc[(of, other)]
        assert row["rate"] == pytest.approx(np.mean(rates)) and row["left_out"] == 0
        assert row["independent"] == pytest.approx(np.mean(alone))
        assert row["low"] <= row["rate"] <= row["high"]
        assert row["distance"] == abs("abc".index(of) - "abc".index(other))
    assert found.loc["c"]["rate"].isna().all() and set(found.loc["c"]["left_out"]) == {2}


# --- beside what is published


def test_ours_stand_beside_the_smallest_published_models_and_only_the_same_can_be_reproduced():
    theirs = papers.table("iclke_table7_models").merge(
        papers.table("iclke_table6_model_names")[["model", "hf_id", "params_b"]], on="model"
    )
    twin = theirs.dropna(subset="hf_id").iloc[0]
    near = Interval(twin["average_accuracy"], 0.0, 1.0, 0.95, "by hand")
    table = pd.DataFrame(
        [(1, twin["hf_id"], near), (2, twin["hf_id"], near), (3, "toy", near), (4, "toy", near)],
        columns=["board", "model", "accuracy"],
    )
    full = {"estimator": "iclke-space", "n_shots": 50, "n_options": 100, "relations": 50,
            "facts": 20_000, "fact_set": "hub:QinyuanWu/T-Rex-MC", "source": "this page"}  # fmt: skip
    boards = pd.DataFrame([full, full | {"n_shots": 49}, full, full | {"estimator": "iclke-colon"}])
    boards = boards.assign(board=[1, 2, 3, 4])
    who = pd.DataFrame({"model": [twin["hf_id"], "toy"], "parameters": ["7,000,000", ""]})
    found = board.beside_published(table, boards, who, n_smallest=3)
    ours = found[found["source"] == "ours, this page"]
    assert ours["verdict"].tolist() == ["reproduced", "not comparable", "not comparable"]
    assert ours["billions"].tolist()[:2] == [0.007, 0.007] and np.isnan(ours["billions"].iloc[2])
    published = found[found["source"] == "published"]
    assert published["billions"].tolist() == sorted(theirs["params_b"])[:3]
    assert len(board.published()) == len(papers.table("iclke_table7_models")) == 49


def test_facts_needed_grow_with_the_square_of_the_width():
    two = pd.DataFrame(
        {
            "board": 1, "upper": ["a", "b", "c"], "lower": ["b", "c", "d"], "facts": 100,
            "difference": [
                Interval(0.1, -0.1, 0.3, 0.95, ""), Interval(0.1, 0.05, 0.2, 0.95, ""),
                Interval(0.0, -0.1, 0.1, 0.95, ""),
            ],
        }
    )  # fmt: skip
    found = board.facts_needed(two)
    assert found["upper"].tolist() == ["a", "c"]  # the second leaves 0 out already
    assert found["needed"].iloc[0] == 400 and np.isnan(found["needed"].iloc[1])


def test_what_came_out_is_said_of_the_board_with_most_models(one):
    table = board.standings(one[0], **HOW)
    two = board.neighbours(one[0], table, **HOW)
    said = board.sentences(one[1], table, two)
    assert said["first"].startswith(
        "On the board with the most models (atlas, iclke-space, 8 facts) accuracies go"
    )
    assert " from 0.12 [" in said["first"] and "] (c) to 0.88 [" in said["first"]
    assert said["first"].endswith("] (a).")
    assert said["sure"].startswith("Of 2 pairs of neighbours 0 have")
    assert said["boards"].startswith("1 board holds 3 models")
    small = one[1].assign(board=2, models=1, facts=900)
    assert board.sentences(pd.concat([small, one[1]]), table, two)["first"] == said["first"]
    some = board.sentences(one[1], table.head(1), two.assign(order="upper first"))
    assert "the accuracy is 0.88 [" in some["first"]
    assert some["sure"].startswith("Of 2 pairs of neighbours 2 have")
