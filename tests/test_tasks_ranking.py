"""Ranking: first places by hand, rules that need no model, and the likelihood by plain passes."""

from dataclasses import replace

import helpers
import numpy as np
import pytest
import torch

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts import questions
from lkecore.models import open_model
from lkecore.stats import rules
from lkecore.tasks import documents, ranking
from lkecore.tasks.documents import Document, Query

QUERY = Query("1", "capital", "New Rome", "Capital of New Rome?", "Oslo", frozenset({"oslo"}))
POOL = [
    Document("New Rome has Oslo.", "hrt", "capital", "New Rome", "Oslo"),
    Document("New Rome has Rome.", "hr-", "capital", "New Rome", "Rome"),
    Document("Bern leads New Rome.", "hr-", "capital", "New Rome", "Bern"),
    Document("Ur has Oslo.", "-rt", "capital", "Ur", "Oslo"),
    Document("Ur speaks Thai.", "true", "tongue", "Ur", "Thai"),
]


def rank(*similarities):
    [row] = ranking.ranked([(QUERY, POOL)], [similarities], model="m", ranker="r").to_dict(
        "records"
    )
    assert [*row] == ranking.FRAME and (row["fact"], row["n_tails"]) == ("1", 2)
    return row["top1"], row["tails"], row["text"]


@pytest.mark.parametrize(
    ("similarities", "expected"),
    [
        ((5, 4, 3, 2, 1), (1, 1, 1)),
        ((3, 4, 5, 2, 1), (0, 0, 1)),
        ((3, 2, 1, 4, 5), (0, 1, 0)),
        ((5, 5, 5, 5, 1), (1 / 4, 1 / 3, 1 / 2)),
        ((-np.inf,) * 5, (1 / 5, 1 / 3, 1 / 3)),
    ],
)
def test_gold_is_first_among_tails_among_text_and_among_both(similarities, expected):
    assert rank(*similarities) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("pool", "similarities", "says"),
    [
        (POOL[1:], (1, 2, 3, 4), "0 gold documents and 2 with another tail"),
        (POOL, (1, np.nan, 3, 4, 5), "5 documents need as many similarities that are numbers"),
    ],
)
def test_a_pool_that_cannot_be_ranked_is_refused_by_name(pool, similarities, says):
    with pytest.raises(BadInput, match=f"^relation capital, fact 1: {says}"):
        ranking.ranked([(QUERY, pool)], [similarities], model="m", ranker="r")


def test_rules_by_hand():
    """Of train's capitals two are Bern, one is Oslo; Rome is a tongue, and a word of New Rome."""
    of = [("capital", "Bern"), ("capital", "bern"), ("capital", "Oslo"), ("tongue", "Rome")]
    train = [facts.Fact(str(i), *pair[:1], "x", pair[1]) for i, pair in enumerate(of)]
    found = ranking.rules(QUERY, POOL, train)
    assert found["rule-frequent"] == [1, 0, 2, -1, -1]
    said = found["rule-word"]
    assert said[1] > 10**6 and [*said[:1], *said[2:]] == [1, 2, -1, -1]  # Rome stands in New Rome
    assert found["rule-overlap"] == pytest.approx([2 / 6, 2 / 5, 2 / 6, 0, 0])
    assert found["rule-read"] == [2, 3, 2, 1, 0]
    half = [replace(POOL[1], tail="Old Rome")]  # one of its words alone
    assert ranking.rules(QUERY, half, train)["rule-word"] == [0]
    assert rank(*found["rule-frequent"]) == (0, 0, 1) == rank(*found["rule-word"])


@pytest.mark.parametrize(
    ("subject", "tails", "train", "wins"),
    [
        ("Bank of New York", ["York", "New York", "Oslo"], ["York", "York", "Oslo"], "New York"),
        ("Bank of New York", ["York", "New", "Oslo"], ["New", "Oslo", "Oslo"], "New"),
        ("York of New England", ["New York", "England", "Oslo"], ["Oslo"], "England"),
        ("Yorkshire", ["York", "Oslo"], ["York", "Oslo", "Oslo"], "Oslo"),
        # Where none stands in the subject, its number of words is nothing to a tail.
        ("Bank of Peru", ["New York", "Oslo"], ["New York", "Oslo", "Oslo"], "Oslo"),
    ],
)
def test_of_nested_tails_the_longest_wins_among_documents_as_it_does_without(
    subject, tails, train, wins
):
    """Written down by hand: most words, then the more frequent; a tail's words stand together."""
    query = Query("1", "seat", subject, f"Seat of {subject}?", tails[0], frozenset())
    pool = [Document(f"{subject} has {tail}.", "hr-", "seat", subject, tail) for tail in tails]
    pool += [replace(pool[0], relation="other"), replace(pool[0], subject="York")]
    facts_ = [facts.Fact(str(i), "seat", "x", tail) for i, tail in enumerate(train)]
    said = ranking.rules(query, pool, facts_)["rule-word"]
    assert [each.tail for each in pool if said[pool.index(each)] == max(said)] == [wins]
    assert max(said) > max(said[len(tails) :]) and sorted(said)[-2] < max(said)
    shown = dict.fromkeys(tails, 0) | {tail: train.count(tail) for tail in train}
    assert rules.by_word(subject, shown) == wins


def test_likelihood_is_that_of_a_plain_pass_over_query_space_and_document():
    model = open_model("toy", device="cpu")
    relations = [facts.load("lab:richsmoke-1", name) for name in ("author", "birthplace")]
    every = [fact for relation in relations for fact in relation.facts]
    known, _ = documents.answerable(every, questions.of(relations))
    query, pool = documents.query(known, every[0]), documents.pool(known, every[0], every, seed=0)
    few = [*pool[:4], pool[2], *pool[-3:]]  # one document twice
    [found] = ranking.likelihood(model, [(query, few)])
    for document, value in zip(few, found, strict=True):
        whole = model.tokenizer(f"{query.text} {document.text}", add_special_tokens=False)[
            "input_ids"
        ]
        start = len(model.tokenizer(query.text, add_special_tokens=False)["input_ids"])
        ids = torch.tensor([[*model.front, *whole]])
        with torch.inference_mode():
            logprobs = model.network(input_ids=ids).logits[0].double().log_softmax(-1)
        places = range(len(model.front) + start, ids.shape[1])
        assert value == pytest.approx(
            sum(float(logprobs[i - 1, ids[0, i]]) for i in places), abs=1e-3
        )
    assert found[2] == found[4]
    with pytest.raises(BadInput, match="masked"):
        ranking.likelihood(helpers.model(kind="masked"), [(query, few)])
