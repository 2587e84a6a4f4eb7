"""One question, several scores: against plain forward passes, and tables by pencil."""

import helpers
import numpy as np
import pandas as pd
import pytest

from lkecore import answers, facts, prompts
from lkecore.answers import cued, lengths
from lkecore.models.model import open_model
from lkecore.prompts import Prompt
from lkecore.scores import kinds
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import encode

ESTIMATORS = ["iclke-space", "iclke-colon"]


@pytest.fixture(scope="module")
def sample():
    names = ["capital", "country_of_city"]
    return facts.draw("atlas", names, n_shots=3, n_facts=4, n_options=6, seed=1)


@pytest.fixture(scope="module")
def asked(sample):
    questions = prompts.of_sample(sample, ESTIMATORS)
    reading = lengths.reading(["", "N/A"])
    return answers.ask(["toy"], questions, "answers.parquet", reading=reading)


def plainly(model, context, prompt):
    """Log-probability and tokens of each option after a context, a plain forward pass each."""
    bare = Prompt("f", "r", "s", context, prompt.options, prompt.continuations, prompt.gold)
    [encoded] = encode(model.tokenizer, [bare], front=model.front)
    return np.array(option_logprobs_plain(model.network, encoded)), [len(t) for t in encoded.tails]


def test_every_score_is_that_of_plain_forward_passes(sample, asked):
    model = open_model("toy")
    rows = asked.set_index(["estimator", "relation", "fact", "score"])
    for (estimator, name), some in prompts.of_sample(sample, ESTIMATORS).items():
        shots = some[0].context[: -len(some[0].subject) - (estimator == "iclke-colon")]
        behind = ":" if estimator == "iclke-colon" else ""
        bare = {"": f"{shots}{behind}", "N/A": f"{shots}N/A{behind}"}
        if estimator == "iclke-space":
            bare[""] = shots.removesuffix(" ")
        for prompt in some:
            logprob, n_tokens = plainly(model, prompt.context, prompt)
            size = np.array([len(text) for text in prompt.options])
            expected = {
                "sum": logprob,
                "per token": logprob / n_tokens,
                "per character": logprob / size,
                "minus without subject": logprob - plainly(model, bare[""], prompt)[0],
                "minus with N/A": logprob - plainly(model, bare["N/A"], prompt)[0],
            }
            for score, values in expected.items():
                row = rows.loc[estimator, name, prompt.fact, score]
                first, second = np.sort(values)[::-1][:2]
                assert first - second > 1e-4, "a tie that rounding would decide: take another seed"
                best = int(values.argmax())
                assert row["correct"] == (best == prompt.gold)
                shorter, alike = (size < size[best]).sum(), (size == size[best]).sum()
                assert row["chosen_place"] == pytest.approx((shorter + alike / 2) / len(size))


def test_the_sum_is_what_all_other_pages_ask(sample, asked):
    other = answers.ask(["toy"], prompts.of_sample(sample, ESTIMATORS), "answers.parquet")
    mine = asked[asked["score"] == lengths.SUM].reset_index(drop=True)
    assert mine["correct"].tolist() == other["correct"].tolist()
    assert mine["fact"].tolist() == other["fact"].tolist()


def test_a_name_that_is_left_out_of_one_fact_counts_in_another_and_alone():
    """An uncased model cannot tell Rome from ROME: of the facts one has the one, one the other."""
    network, tokenizer = helpers.blank_filler("uncased BERT")
    model = helpers.model(network, tokenizer=tokenizer, kind="masked")
    questions = [
        Prompt(fact, "r", fact, f"{fact} has", names, tuple(f" {n}" for n in names), gold)
        for fact, names, gold in (
            ("Spain", ("Rome", "Paris", "ROME", "Italy"), 0),
            ("France", ("Rome", "Paris", "ROME", "Italy"), 2),
            ("Italy", ("Paris", "ROME", "York", "Madrid"), 3),
        )
    ]
    frame = kinds.option_logprobs(model, questions, use_cache=False).frame
    assert frame.groupby("fact", sort=False).size().tolist() == [3, 3, 4]
    found = lengths.reading(["", "N/A"])(model, frame).set_index(["fact", "score"])
    assert found["n_options"].groupby("fact", sort=False).first().tolist() == [3, 3, 4]
    for prompt in questions:
        names = frame.loc[frame["fact"] == prompt.fact, "option"].tolist()
        for score, instead in ((lengths.WITHOUT, ""), ("minus with N/A", "N/A")):
            bare = f"{instead} has".lstrip() if instead else " has"
            values = [
                alone(model, f"{prompt.fact} has", name) - alone(model, bare, name)
                for name in names
            ]
            row = found.loc[prompt.fact, score]
            assert row["correct"] == (names[int(np.argmax(values))] == prompt.options[prompt.gold])


def alone(model, context: str, name: str) -> float:
    """The log-probability of a name that is the only option."""
    one = Prompt("f", "r", "s", context, (name,), (f" {name}",), 0)
    return kinds.option_logprobs(model, [one], use_cache=False).frame["logprob"].item()


@pytest.mark.parametrize(
    ("context", "subject", "placeholder", "expected"),
    [
        ("a b France", "France", "", "a b"),
        ("a b\nFrance:", "France", "", "a b\n:"),
        ("New York x New", "New", "N/A", "New York x N/A"),  # the last one, not the first
        ("France", "France", "", ""),
        ("a b  France", "France", "", "a b "),  # one space belongs to the subject, not two
    ],
)
def test_the_subject_that_is_asked_is_taken_out(context, subject, placeholder, expected):
    assert lengths.without_subject(context, subject, placeholder) == expected


def by_score(**right):
    """Answers of one model to facts of two relations: for each score a string of 0 and 1."""
    rows = [
        ("this page", "m", "iclke-space", score, f"r{i % 2}", f"f{i}", digit == "1", 0.5, place)
        for score, (digits, places) in right.items()
        for i, (digit, place) in enumerate(zip(digits, places, strict=True))
    ]
    columns = [*lengths.BY, "relation", "fact", "correct", "gold_place", "chosen_place"]
    return pd.DataFrame(rows, columns=columns).assign(chosen_tokens=0.25)


def test_gains_over_the_sum_by_pencil():
    places = [0.5] * 8
    table = by_score(**{"sum": ("11110000", places), "per token": ("11111010", places)})
    found = lengths.accuracies(table, seed=0).set_index("score")
    # r0 has facts 0, 2, 4, 6 and r1 the others: 2 of 4 each by the sum; 4 of 4 and 2 of 4 per token
    assert found.loc["sum", "accuracy"].estimate == 0.5
    assert found.loc["per token", "accuracy"].estimate == 0.75
    assert found.loc["per token", "gain"].estimate == 0.25
    assert found["gain"].isna().tolist() == [True, False]
    assert found.loc["per token", "p"] == 0.5  # two facts, both gained: 2 * 0.5 ** 2


def test_only_wrong_answers_say_which_length_wins():
    places = [0.1, 0.1, 0.2, 0.3, 0.9, 0.9, 0.9, 0.9]
    table = by_score(sum=("00001111", places))
    [row] = lengths.preference(table).to_dict("records")
    # wrong are facts 0 to 3: r0 has places 0.1 and 0.2, r1 has 0.1 and 0.3
    assert row["by_characters"].estimate == pytest.approx((0.15 + 0.2) / 2 - 0.5)
    assert row["by_tokens"].estimate == -0.25 and row["relations"] == 2


def test_sentences_name_the_best_and_the_worst_score():
    places = [0.3] * 8
    scores = {"sum": "11110000", "per token": "11111010", "per character": "10100000"}
    table = by_score(**{name: (digits, places) for name, digits in scores.items()})
    cues = table.drop_duplicates(["relation", "fact"])[["source", "relation", "fact"]]
    cues = cues.assign(cue_word=False, cue_frequent=False, length_rank=1.0, n_options=10)
    gaps = cued.by_length(table, cues, lengths.BY)
    assert gaps.empty  # no relation has long ones
    told = lengths.sentences(
        lengths.accuracies(table, seed=0), gaps, lengths.preference(table), "iclke-space"
    )
    assert told["short"].startswith("No relation") and told["others"] == "-"
    assert "0.25" in told["accuracy"] and "(per token, m)" in told["accuracy"]
    assert "(per character, m)" in told["accuracy"]
    assert "0.30 to 0.30 by sum" in told["chosen"]
