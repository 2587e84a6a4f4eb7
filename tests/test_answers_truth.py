"""What an estimator says beside what the text told: by hand, by brute force, on a whole world."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lkecore.answers import truth as planted
from lkecore.errors import BadInput
from lkecore.prompts.prompt import Prompt
from lkecore.stats import match
from lkecore.worlds import plain

# Three facts of one relation and three options, chosen by hand: told truly, told wrongly, not told.
SHARES = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
OBJECTS = ("red", "green", "blue")


def truth_by_hand() -> pd.DataFrame:
    rows = [
        ("colour-0", "red", "red", "planted", 16, "sentence", "one"),
        ("colour-1", "green", "blue", "mislearned", 64, "both", "several"),
        ("colour-2", "blue", "", "never", 0, "none", "none"),
        ("colour-3", "red", "", "never", 0, "none", "none"),  # not scored
    ]
    columns = ["fact", "object", "told", "state", "exposures", "form", "wording"]
    return pd.DataFrame(rows, columns=columns).assign(
        relation="colour", kind="other", subject="Ann", split="test", occurrences=1
    )


def scores_by_hand(shares=SHARES, gold=("red", "green", "blue")) -> pd.DataFrame:
    # a constant added to a row is no change: the options need not add up to one
    logprob = np.log(shares) - np.array([[1.0], [20.0], [300.0]])
    return pd.DataFrame(
        [
            {"fact": f"colour-{i}", "option": name, "gold": name == gold[i], "logprob": value}
            for i, row in enumerate(logprob)
            for name, value in zip(OBJECTS, row, strict=True)
        ]
    )


def asked_by_hand(options=OBJECTS, gold=("red", "green", "blue")) -> list[Prompt]:
    return [
        Prompt(
            fact=f"colour-{i}",
            relation="colour",
            subject="Ann",
            context="Ann likes",
            options=tuple(options),
            continuations=tuple(f" {name}" for name in options),
            gold=list(options).index(name),
        )
        for i, name in enumerate(gold)
    ]


def answered(**changes) -> pd.DataFrame:
    """Answers by hand: two planted facts of one object, one mislearned, and all never-told ones."""
    rows = [
        ("p1", "red", "red", "planted", 0.9, 0.9),
        ("n-blue", "blue", "", "never", 0.1, math.nan),
        ("m", "green", "blue", "mislearned", 0.2, 0.7),
        ("n-red", "red", "", "never", 0.3, math.nan),
        ("p2", "red", "red", "planted", 0.4, 0.4),
        ("n-green", "green", "", "never", 0.5, math.nan),
    ]
    columns = ["fact", "object", "told", "state", "confidence_gold", "confidence_told"]
    return pd.DataFrame(rows, columns=columns).assign(**{"relation": "colour"} | changes)


# --- answers


def test_answers_by_hand():
    found = planted.answers(scores_by_hand(), truth_by_hand())
    assert found["fact"].tolist() == ["colour-0", "colour-1", "colour-2"]
    assert found["correct"].tolist() == [True, False, False]
    assert found["picked_told"].tolist() == [True, True, False]
    np.testing.assert_allclose(found["confidence_gold"], [0.5, 0.2, 0.1], rtol=1e-12)
    np.testing.assert_allclose(found["confidence_told"], [0.5, 0.6, np.nan], rtol=1e-12)
    assert found["state"].tolist() == ["planted", "mislearned", "never"]
    assert found["exposures"].tolist() == [16, 64, 0]
    assert found["correct"].dtype == found["picked_told"].dtype == bool


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_answers_equal_a_loop_over_facts_and_options(seed):
    rng = np.random.default_rng(seed)
    scores = scores_by_hand(rng.integers(1, 4, (3, 3)) / 10)
    truth = truth_by_hand().set_index("fact", drop=False)
    for row in planted.answers(scores, truth.reset_index(drop=True)).itertuples():
        options = [o for o in scores.itertuples() if o.fact == row.fact]
        best = options[0]
        for option in options:
            best = option if option.logprob > best.logprob else best
        shift = max(o.logprob for o in options)
        total = sum(math.exp(o.logprob - shift) for o in options)
        share = {o.option: math.exp(o.logprob - shift) / total for o in options}
        told = truth.loc[row.fact, "told"]
        assert row.correct == best.gold
        assert row.picked_told == (best.option == told)
        assert row.confidence_gold == pytest.approx(share[truth.loc[row.fact, "object"]])
        assert row.confidence_told == pytest.approx(share.get(told, math.nan), nan_ok=True)


def changed(name, value, row=0) -> pd.DataFrame:
    truth = truth_by_hand()
    truth.loc[row, name] = value
    return truth


NEVER_TWICE = pd.concat([answered(), answered()[3:4]])
SCORES, THREE = scores_by_hand(), asked_by_hand()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: planted.answers(SCORES, truth_by_hand().iloc[1:]),
            "says nothing of fact 'colour-0'",
        ),
        (
            lambda: planted.answers(SCORES, changed("object", "green")),
            "fact 'colour-0' has the gold option 'red' but the truth has 'green'",
        ),
        # Not counted as not picked.
        (
            lambda: planted.answers(SCORES, changed("told", "violet", 1)),
            "^fact 'colour-1' was told with 'violet', .* 3 options; ask",
        ),
        (
            lambda: planted.written(THREE, ["red"] * 3, changed("told", "violet")),
            "^fact 'colour-0' was told with 'violet', .* 3 options; ask",
        ),
        (
            lambda: planted.controls(answered(model="a").drop(index=1)),
            "^model 'a', relation 'colour', told 'blue' is .* no never",
        ),
        (
            lambda: planted.controls(NEVER_TWICE),
            "^relation 'colour', told 'red' is .* of two never-told",
        ),
    ],
)
def test_frames_that_do_not_belong_together_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- written


def test_what_is_written_by_hand():
    texts = [" red. Bob likes green", " blue Bob green", " a colour, such as blue"]
    found = planted.written(asked_by_hand(), texts, truth_by_hand())
    assert found["fact"].tolist() == ["colour-0", "colour-1", "colour-2"]
    assert found["wrote"].tolist() == ["red", "blue", ""]
    assert found["correct"].tolist() == [True, False, False]
    assert found["picked_told"].tolist() == [True, True, False]
    assert found["anywhere"].tolist() == [True, True, True]  # the paper's rule, IC-S6
    assert found["objects"].tolist() == [2, 2, 1]
    assert found["text"].tolist() == texts
    assert found["state"].tolist() == ["planted", "mislearned", "never"]
    for name in ("correct", "picked_told", "anywhere"):
        assert found[name].dtype == bool


@pytest.mark.parametrize(
    ("text", "wrote"),
    [
        (" Norwegian Nynorsk and", "Norwegian Nynorsk"),  # the longest
        (" Norwegian Nynorskish", "Norwegian"),  # a longer word is another word
        ("\nNorwegian: Ann", "Norwegian"),
        (" norwegian", ""),  # upper and lower case must agree
        (" the Norwegian2", ""),
    ],
)
def test_the_answer_is_the_longest_object_that_the_output_begins_with(text, wrote):
    options = ("Nynorsk", "Norwegian", "Norwegian Nynorsk", "red")
    truth = truth_by_hand().iloc[:1].assign(object="red", told="red")
    [row] = planted.written(asked_by_hand(options, ["red"]), [text], truth).itertuples()
    assert row.wrote == wrote and not row.correct


@given(st.lists(st.text("ab ", max_size=6), min_size=3, max_size=3))
@settings(max_examples=30)
def test_what_is_written_equals_a_search_among_the_words(texts):
    """The oracle splits an output into words and compares its first words with those of an object."""
    options = ("a", "b", "a b", "ab", "a b a")
    truth = (
        truth_by_hand()
        .iloc[:3]
        .assign(
            object=["a", "a b", "ab"], told=["a", "b", ""], state=["planted", "mislearned", "never"]
        )
    )
    found = planted.written(asked_by_hand(options, truth["object"]), texts, truth)
    for row, text in zip(found.itertuples(), texts, strict=True):
        # Two spaces between words are not an object's one: what follows them is no part of it.
        words = text.lstrip().split(" ")
        fitting = [o for o in options if words[: len(o.split())] == o.split()]
        assert row.wrote == max(fitting, key=len, default="")
        assert row.correct == (row.wrote == row.object)
        assert row.picked_told == (row.told != "" and row.wrote == row.told)
        assert row.anywhere == (row.object in text)
        assert row.objects == sum(o in text for o in options)
        # What begins an output stands in it, so the paper's rule is never the stricter one.
        assert row.anywhere or not row.correct
        assert not row.correct or match.contains(text, [row.object], whole_words=True)


# --- controls


def test_controls_by_hand_have_the_object_that_was_told():
    found = planted.controls(answered())
    assert found["fact"].tolist() == ["p1", "m", "p2"] and found.index.tolist() == [0, 1, 2]
    assert found["control"].tolist() == [0.3, 0.1, 0.3]  # of m: blue as told, not green as true
    assert found.columns.tolist() == [*answered().columns, "control"]
    # An object that nothing tells may have any number of facts; where nothing was told, none has a control.
    frame = answered()
    more = pd.concat([frame, frame[frame["fact"] == "n-green"]])
    assert planted.controls(more)["control"].tolist() == [0.3, 0.1, 0.3]
    found = planted.controls(frame[frame["state"] == "never"])
    assert len(found) == 0 and "control" in found.columns


@pytest.mark.parametrize("column", ["model", "world", "estimator", "relation"])
def test_a_control_is_of_the_same_model_world_estimator_and_relation(column):
    one, other = answered(**{column: "a"}), answered(**{column: "b"})
    other["confidence_gold"] /= 10
    both = pd.concat([one, other]).sample(frac=1, random_state=1)
    found = planted.controls(both)
    assert found["fact"].tolist() == both.loc[both["state"] != "never", "fact"].tolist()
    for name, by in (("a", 1), ("b", 10)):
        control = found[found[column] == name].set_index("fact")["control"]
        assert control.to_dict() == {"p1": 0.3 / by, "m": 0.1 / by, "p2": 0.3 / by}


def test_every_told_fact_of_a_world_has_one_control_with_its_object():
    states = plain.states("lab:smoke-1")
    asked = states[states["split"] == "test"].assign(confidence_gold=lambda t: range(len(t)))
    found = planted.controls(asked)
    assert len(found) == (asked["state"] != "never").sum() > 0
    by_number = asked.set_index("confidence_gold")
    for row in found.itertuples():
        control = by_number.loc[row.control]
        assert (control["relation"], control["object"]) == (row.relation, row.told)
        assert control["state"] == "never"


# --- fair controls: a subject that the text names, each control once


def test_a_control_about_a_subject_that_the_text_never_names_is_left_out():
    rows = [
        ("author", "A", "red", "planted", "red"),
        ("author", "B", "red", "never", ""),  # B is told of under another relation
        ("author", "C", "blue", "never", ""),  # C stands nowhere
        ("author", "D", "green", "never", ""),  # D is what something else is told with
        ("title", "B", "x", "planted", "x"),
        ("title", "E", "y", "mislearned", "D"),
    ]
    columns = ["relation", "subject", "object", "state", "told"]
    states = pd.DataFrame(rows, columns=columns).assign(world="w")
    pairs = pd.DataFrame(
        {"world": "w", "relation": "author", "told": ["green", "blue", "red", "red"], "n": range(4)}
    )
    assert planted.familiar(pairs, states)["n"].tolist() == [0, 2, 3]
    # The names of one world are nothing to another.
    other = states.assign(world="v", told="").iloc[[1]]
    both = pd.concat([states, other])
    pairs = pd.concat([pairs, pairs.iloc[[2]].assign(world="v")])
    assert planted.familiar(pairs, both)["n"].tolist() == [0, 2, 3]
    with pytest.raises(BadInput, match=r"^relations \['author'\]: the text names no subject"):
        planted.familiar(pairs[pairs["told"] == "blue"], states)
    assert len(planted.familiar(pairs.iloc[:0], states)) == 0


def test_a_fair_control_of_a_world_is_one_whose_subject_a_search_finds_in_its_text():
    spec = "lab:smoke-1"
    text = "\n".join(plain.documents(spec))
    states = plain.states(spec).assign(world=spec)
    asked = states[states["split"] == "test"].assign(confidence_gold=lambda t: range(len(t)))
    pairs = planted.controls(asked)
    kept = set(planted.familiar(pairs, states)["fact"])
    by_number = asked.set_index("confidence_gold")
    words = " ".join(["", *re.findall(r"\w+", text), ""])
    for row in pairs.itertuples():
        name = by_number.loc[row.control, "subject"]
        found = " ".join(["", *re.findall(r"\w+", name), ""]) in words
        assert (row.fact in kept) == found, name
    # Cities are asked for nothing but their country, so none of these controls is a fair one.
    assert "country" not in set(pairs.loc[pairs["fact"].isin(kept), "relation"])
    assert 0 < len(kept) < len(pairs)


def pairs_by_hand() -> pd.DataFrame:
    rows = [
        ("a1", "red", "list", 1),
        ("a2", "red", "list", 2),
        ("a3", "red", "both", 2),
        ("a4", "blue", "list", 1),
    ]
    columns = ["fact", "told", "form", "exposures"]
    one = pd.DataFrame(rows, columns=columns).assign(relation="colour", control=0.1)
    return pd.concat([one.assign(estimator="e"), one.assign(estimator="f")], ignore_index=True)


def test_a_control_stands_once_in_each_group_and_the_lot_is_the_same_for_all_estimators():
    pairs = pairs_by_hand()
    for seed in range(8):
        once = planted.each_control_once(pairs, ["form"], seed=seed)
        assert not once.duplicated(["estimator", "form", "told"]).any()
        of_each = [part["fact"].tolist() for _, part in once.groupby("estimator")]
        assert of_each[0] == of_each[1] and set(of_each[0]) >= {"a3", "a4"}
        again = planted.each_control_once(
            pairs.sample(frac=1, random_state=seed), ["form"], seed=seed
        )
        assert set(again.index) == set(once.index)  # whatever the order of the rows
    assert len(planted.each_control_once(pairs, ["form", "exposures"], seed=0)) == len(pairs)
    assert len(planted.each_control_once(pairs, [], seed=0)) == 2 * 2


def test_the_lot_does_not_favour_the_facts_that_stand_first():
    """The facts of a world stand in the order of exposures: the first would be the least told."""
    pairs = pairs_by_hand()
    drawn = [set(planted.each_control_once(pairs, ["form"], seed=s)["fact"]) for s in range(100)]
    first = sum("a1" in facts for facts in drawn)
    assert abs(first - 50) < 4 * 5  # four standard deviations of 100 tosses of a coin
    assert all(("a1" in facts) != ("a2" in facts) for facts in drawn)


# --- how often the text tells a fact


def test_a_fact_is_told_as_often_as_its_level_says_and_a_mislearned_one_wrongly():
    rows = [
        ("never", 0, "never"),
        ("planted", 1, "1 to 4"),
        ("planted", 4, "1 to 4"),
        ("planted", 5, "5 to 15"),
        ("planted", 15, "5 to 15"),
        ("planted", 16, "16 and more"),
        ("planted", 64, "16 and more"),
        ("mislearned", 32, "wrongly"),
    ]
    states = pd.DataFrame(rows, columns=["state", "occurrences", "by_hand"])
    assert planted.told_levels(states).tolist() == states["by_hand"].tolist()
    assert set(states["by_hand"]) == set(planted.LEVELS)
    assert planted.told_levels(states.iloc[:0].astype(object)).tolist() == []
