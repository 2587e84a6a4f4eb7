"""Whether an object's first token says which it is; the oracles are letters counted by hand."""

import dataclasses

import helpers
import pandas as pd
import pytest

from lkecore import answers, facts
from lkecore.answers import asking, first_tokens
from lkecore.facts import Fact, Relation
from lkecore.facts.drawn import Drawn
from lkecore.prompts.prompt import template

PAIRS = [
    ("France", "Paris"),
    ("Italy", "Rome"),
    ("Peru", "Lima"),
    ("Chad", "Palma"),
    ("X", "Paris"),
]


def drawn(options, asked=4, objects=()):
    every = tuple(Fact(str(i), "r", s, o) for i, (s, o) in enumerate(PAIRS))
    others = tuple(Fact(f"n{i}", "r", f"other{i}", name) for i, name in enumerate(objects))
    relation = Relation("r", every + others, templates=("[X]:[Y]",))
    some = every[:asked]
    return Drawn(relation, (), some, tuple((f.object, options) for f in some), (), some)


def of(lm, sample):
    prompts = template("[X]:[Y]", sample.facts, sample.options)
    return first_tokens.shares_first_token(lm, prompts, sample)


def test_all_objects_of_the_relation_count_and_not_the_options_alone():
    lm = helpers.model(add_bos=True)  # a token a letter
    # Paris and Palma begin with P; that Paris is the capital of two says nothing.
    assert of(lm, drawn("Bern")) == [True, False, False, True]
    assert of(lm, drawn("Bern", objects=["Riga"])) == [True, True, False, True]
    # An option that is the object of no fact, as a world of the lab has them.
    assert of(lm, drawn("Lund")) == [True, False, True, True]
    # One without a token, which no question could have, is passed over.
    assert of(lm, drawn("Bern", objects=[""])) == [True, False, False, True]
    assert first_tokens.shares_first_token(lm, [], drawn("Bern")) == []


@pytest.mark.parametrize("kind", ["BERT", "T5"])
def test_models_that_read_blanks_are_read_at_their_own_first_token(kind):
    lm = helpers.model(tokenizer=helpers.blank_filler(kind)[1], kind=kind)
    lm = dataclasses.replace(lm, kind={"BERT": "masked", "T5": "seq2seq"}[kind])
    # Paris is a token of these, and Palma begins with another one.
    sample = drawn("Madrid")
    prompts = template("The capital of [X] is [Y]", sample.facts, sample.options)
    assert first_tokens.shares_first_token(lm, prompts, sample)[0] is False
    # A snowman is not known: nobody could be asked that, and the others still are.
    sample = drawn("Madrid", objects=["\N{SNOWMAN}"])
    prompts = template("The capital of [X] is [Y]", sample.facts, sample.options)
    assert first_tokens.shares_first_token(lm, prompts, sample)[0] is False


def test_sets_by_hand():
    rows = pd.DataFrame(
        [(False, False, 1), (False, False, 2), (True, False, 1), (False, True, 1)],
        columns=["shared", "merged", "n_tokens"],
    )
    found = first_tokens.sets(rows)
    assert found.tolist() == ["one token", "alone", "shared", "shared"]


def test_what_is_kept_says_it_of_all_objects_where_the_sample_is_given():
    sample = facts.draw("atlas", ["capital", "currency"], n_shots=1, n_facts=6, n_options=2, seed=0)
    questions = answers.at_blanks(["toy"], sample, ["template-1"])
    how = {"by": answers.READ_BY, "only": ["rank"]}
    found = answers.ask_blanks(["toy"], questions, "answers.parquet", sample=sample, **how)
    few = answers.ask_blanks(["toy"], questions, "answers.parquet", **how)
    assert found["shared"].sum() > few["shared"].sum()  # two options; the toy reads letters
    begins = asking.opened("toy", "float32").tokenizer
    for name, of in sample.items():
        first = {o: begins.tokenize(f"x {o}")[1:2] for o in of.relation.objects}
        by_hand = [
            any(first[o] == first[f.object] for o in first if o != f.object) for f in of.facts
        ]
        assert found.loc[found["relation"] == name, "shared"].tolist() == by_hand
