"""Questions about rich worlds and the reading of their answers; the oracle is counted by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lkecore import worlds
from lkecore.answers import rich
from lkecore.errors import BadInput
from lkecore.worlds import world as rich_worlds

SPEC = "lab:richsmoke-0"
MODEL = f"{SPEC}/0.15m"


def every(states):
    return pd.Series(True, states.index)


def test_samples_ask_what_is_chosen_among_all_objects():
    def few(states):
        return states["state"].eq("never") & states["fact"].str[-1].isin(list("13579"))

    found = rich.samples([MODEL], ["residence", "parent"], few, n_shots=4, seed=3)
    assert list(found) == [SPEC] and list(found[SPEC]) == ["residence", "parent"]
    states = worlds.states(SPEC)
    for name, drawn in found[SPEC].items():
        own = states[states["relation"] == name]
        wanted = own[own["split"].eq("test") & own["n_objects"].eq(1) & few(own)]
        assert {fact.id for fact in drawn.facts} == set(wanted["fact"]) and len(drawn.shots) == 4
        for options in drawn.options:
            assert sorted(options) == sorted(rich_worlds.world(SPEC).objects[name])
            told = {each for objects in own["told_objects"] for each in objects.split(";")}
            assert set(options) >= (told | set(own["cue_object"]) | set(own["object"])) - {""}


def test_no_fact_with_several_true_objects_is_asked():
    drawn = rich.samples([MODEL], ["instrument", "parent"], every, n_shots=4, seed=0)[SPEC]
    subjects = worlds.states(SPEC).query("relation == 'instrument'")["subject"].value_counts()
    assert {subjects[fact.subject] for fact in drawn["instrument"].facts} == {1}
    assert (subjects > 1).any()


def test_without_relations_all_are_asked_that_have_something_to_ask():
    drawn = rich.samples([MODEL], [], every, n_shots=4, seed=0)[SPEC]
    assert set(drawn) == set(worlds.states(SPEC)["relation"])


STATES = pd.DataFrame(
    [
        ("a", "red;blue", "red", "", "planted"),
        ("b", "green", "blue", "blue", "planted"),
        ("c", "", "green", "green", "never"),
    ],
    columns=["fact", "told_objects", "object", "cue_object", "state"],
)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(rich, "_states", lambda spec: STATES.set_index("fact"))
    monkeypatch.setattr(rich.lab, "record", lambda path: {"world": "w"})
    return SimpleNamespace(path="p")


def scores(**shares):
    """A frame as of the scorer: {fact: (gold, shares of red, green and blue)}."""
    return pd.DataFrame(
        [
            (fact, option, option == gold, np.log(share) - 1.5)
            for fact, (gold, each) in shares.items()
            for option, share in zip(("red", "green", "blue"), each, strict=True)
        ],
        columns=["fact", "option", "gold", "logprob"],
    )


def test_an_answer_stands_beside_all_that_was_told_or_hinted_at(tiny):
    of_three = scores(
        a=("red", (0.2, 0.3, 0.5)), b=("blue", (0.5, 0.1, 0.4)), c=("green", (0.1, 0.8, 0.1))
    )
    found = rich.with_cues(tiny, of_three)
    assert found["fact"].tolist() == ["a", "b", "c"]
    assert found["picked"].tolist() == ["blue", "red", "green"]
    assert found["correct"].tolist() == [False, False, True]
    expected = {
        "confidence": [0.5, 0.5, 0.8],
        "confidence_gold": [0.2, 0.4, 0.8],
        "confidence_cue": [np.nan, 0.4, 0.8],
        "confidence_1": [0.2, 0.1, np.nan],
        "confidence_2": [0.5, np.nan, np.nan],
        "confidence_3": [np.nan] * 3,
    }
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=1e-12)
    by_hand = -sum(p * np.log(p) for p in (0.2, 0.3, 0.5))
    assert found["entropy"][0] == pytest.approx(by_hand)


def test_an_object_that_is_no_option_is_named(tiny):
    few = scores(b=("blue", (0.5, 0.1, 0.4)))
    few = few[few["option"] != "green"]
    with pytest.raises(BadInput, match="'green' is not among the 2 options; ask with all objects"):
        rich.with_cues(tiny, few)
