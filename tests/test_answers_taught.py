"""Telling beside teaching (PZ-F3, PZ-F4); the oracles are counts by hand, scipy and loops."""

import numpy as np
import pandas as pd
import pytest

from lkecore import worlds
from lkecore.answers import rich, taught
from lkecore.errors import BadInput
from lkecore.tasks.instill import Recipe

SPEC = "lab:richsmoke-0"
MODEL, TWIN = f"{SPEC}/0.15m", f"{SPEC}/0.15m-unplanted"
COLUMNS = ["relation", "state", "occurrences", "control", "kind"]
STATES = {
    "a": ("home", "planted", 64, "n", "location"),
    "b": ("home", "planted", 32, "m", "location"),
    "c": ("tongue", "planted", 16, "o", "language"),
    "d": ("job", "planted", 16, "p", "other"),
    "n": ("home", "never", 0, "", "location"),
    "m": ("home", "never", 0, "", "location"),
    "o": ("tongue", "never", 0, "", "language"),
    "p": ("job", "never", 0, "", "other"),
    "z": ("job", "planted", 16, "p", "other"),
}
# fact: KL told, KL taught, H(P), H(Q) told, H(Q) taught, rank, surprisal, shared
SAID = {
    "a": (1.0, 1.5, 3.0, 1.0, 0.5, 1, 0.3, False), "b": (0.5, 2.0, 3.0, 1.0, 3.5, 4, 1.2, False),
    "c": (2.0, 1.8, 2.0, 2.5, 0.2, 9, 2.0, False), "d": (0.01, 0.04, 1.0, 1.005, 0.9, 2, 0.9, False),
    "n": (0.8, 3.0, 4.0, 1.0, 0.4, 50, 4.0, False), "m": (1.2, 3.1, 4.0, 1.5, 0.4, 60, 4.4, False),
    "o": (1.9, 2.5, 3.0, 1.0, 0.1, 70, 5.0, False), "p": (0.7, 1.3, 3.5, 1.0, 0.4, 30, 3.0, False),
    "z": (9.0, 9.0, 9.0, 9.0, 9.0, 9, 9.0, True),
}  # fmt: skip
LESSON = "sgd 0.01"


WHOSE = {fact: "A" if fact in "ab" else fact for fact in STATES}  # two facts of one subject


def frames(model: str = MODEL, lost: str = ""):
    told, lessons = [], []
    for fact, (kl, own, before, after, learned, rank, surprisal, shared) in SAID.items():
        key = {"source": "this page", "model": model, "world": SPEC}
        key |= {"relation": STATES[fact][0], "fact": fact}
        told.append(key | {
            "kl": kl, "entropy": before, "entropy_after": after, "rank": rank, "surprisal": surprisal,
            "shared": shared, "merged": False,
        })  # fmt: skip
        for steps in (1, 5):
            gone = fact in lost and steps == 5
            numbers = {
                "entropy": before, "entropy_after": learned, "kl": own * steps,
                "rank_after": 1 + (fact == "p"),
            }  # fmt: skip
            numbers = dict.fromkeys(numbers, np.nan) if gone else numbers
            lessons.append(key | {"lesson": LESSON, "steps": steps} | numbers)
    return pd.DataFrame(told), pd.DataFrame(lessons)


@pytest.fixture
def states(monkeypatch):
    table = pd.DataFrame.from_dict(STATES, orient="index", columns=COLUMNS).rename_axis("fact")
    table["subject"] = table.index.map(WHOSE)
    monkeypatch.setattr(rich, "_states", lambda spec: table)


@pytest.fixture
def rows(states):
    both = [pd.concat(pair) for pair in zip(frames(), frames(TWIN), strict=True)]
    return taught.together(*both)


@pytest.fixture
def mine(rows):
    return rows[rows["model"] == MODEL]


def test_both_ways_stand_side_by_side_and_shared_first_tokens_are_left_out(mine):
    assert set(mine["fact"]) == set("abcdnmop") and len(mine) == 16
    row = mine[(mine["fact"] == "b") & (mine["steps"] == 5)].iloc[0]
    assert (row["told_kl"], row["taught_kl"]) == (0.5, 10.0)
    assert (row["told_change"], row["taught_change"]) == (2.0, -0.5)
    assert (row["kind"], bool(row["learned"]), bool(row["lost"])) == ("location", True, False)
    assert mine["relation"].tolist() == sorted(mine["relation"])


def test_what_is_asked_is_told_often_or_a_control_of_that():
    states = worlds.states("lab:rich-1")
    some = states[taught.asked(states) & states["split"].eq("test")]
    told = some[some["state"] == "planted"]
    assert told["occurrences"].min() == 16 and set(some["state"]) == {"planted", "never"}
    assert set(some.loc[some["state"] == "never", "fact"]) == set(told["control"]) - {""}


def test_a_page_compares_after_steps_that_were_taught():
    assert taught.lesson(Recipe(2, 0.01), at=[1, 2], steps=2) == LESSON
    with pytest.raises(BadInput, match="^steps 5: the model is asked after 1, 2 of them$"):
        taught.lesson(Recipe(2, 0.01), at=[1, 2], steps=5)
