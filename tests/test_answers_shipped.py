"""Shipped answers beside a run's own: from results of a folder made by hand."""

import helpers
import pandas as pd
import pytest

from lkecore import answers
from lkecore.answers import shipped
from lkecore.errors import BadInput

LAB = "50_lab_truth"
ROW = ["model", "estimator", "world", "relation", "fact", "correct"]


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Put results into a folder that is read in the place of the project's."""
    monkeypatch.setitem(answers.results.__globals__, "FOLDER", tmp_path)

    def put(profile, notebook, rows, columns, **parameters):
        frame = pd.DataFrame(rows, columns=columns)
        models = dict.fromkeys(parameters.pop("models", []), "d")
        helpers.ship(tmp_path, profile, notebook, frame, models=models, parameters=parameters)

    return put


def test_beside_has_ours_first_and_what_ships_by_its_name(put):
    columns = ["model", "estimator", "relation", "fact", "correct", "n_options"]
    put("one", "n", [("b", "x", "r", 2, True, 4), ("b", "x", "r", 1, False, 4)], columns, seed=0)
    put("two", "n", [("b", "y", "r", 1, True, 4)], columns, seed=0, models=["b"])
    put("far", "n", [("c", "x", "q", 1, True, 9)], columns, seed=1)
    ours = pd.DataFrame({"model": ["a"], "fact": ["f"], "correct": [True], "confidence": [0.5]})
    found = answers.beside(ours, ["one", "far", "two"], "n")
    assert found[["source", "model", "fact", "correct"]].to_numpy().tolist() == [
        ["this page", "a", "f", True],
        ["shipped: one", "b", 2, True],
        ["shipped: one", "b", 1, False],
        ["shipped: one", "b", 1, True],  # other ways to ask the same facts are one source
        ["shipped: far", "c", 1, True],
    ]
    assert found["confidence"].isna().tolist() == [False] + [True] * 4
    assert found.index.tolist() == [0, 1, 2, 3, 4] and "source" not in ours
    assert answers.beside(ours, [], "n")["source"].tolist() == ["this page"]


def test_of_the_profile_that_carries_a_page_only_other_models_stand_beside(put):
    columns = ["model", "estimator", "relation", "fact", "correct", "n_options"]
    put("one", "n", [("a", "x", "r", 1, True, 4), ("b", "x", "r", 1, False, 4)], columns, seed=0)
    put("two", "n", [("a", "x", "q", 1, True, 4)], columns, seed=1)
    ours = pd.DataFrame({"model": ["a"], "fact": [1], "correct": [True]})
    for beside in (answers.beside(ours, ["one", "two"], "n", carried="one"),):
        assert list(zip(beside["source"], beside["model"], strict=True)) == [
            ("this page", "a"),
            ("shipped: one", "b"),
            ("shipped: two", "a"),
        ]
    assert len(answers.beside(ours, ["two"], "n", carried="one")) == 2


def test_beside_models_has_each_model_once_as_the_first_has_it(put):
    columns = ["model", "world", "fact"]
    put("one", "n", [("a", "w", "x"), ("b", "w", "x"), ("b", "w", "y")], columns, seed=1)
    put("two", "n", [("b", "v", "z"), ("c", "v", "z")], columns, seed=2)
    ours = pd.DataFrame([("a", "w", "mine")], columns=columns)
    found = answers.beside_models(ours, ["one", "two"], "n")
    assert found["model"].tolist() == ["a", "b", "b", "c"]
    assert found["fact"].tolist() == ["mine", "x", "y", "z"]
    assert found.index.tolist() == [0, 1, 2, 3]
    ships = ["shipped: one", "shipped: one", "shipped: two"]
    assert found["source"].tolist() == ["this page", *ships]
    assert answers.beside_models(ours, [], "n").equals(ours.assign(source="this page"))


def test_beside_refuses_what_contradicts_or_is_not_there(put):
    columns = ["model", "estimator", "relation", "fact", "correct", "n_options"]
    put("one", "n", [("b", "x", "r", 1, True, 4)], columns, seed=0)
    put("two", "n", [("b", "x", "r", 1, False, 4)], columns, seed=0)
    with pytest.raises(BadInput, match="results one, two: of the same facts, but they contradict"):
        answers.beside(pd.DataFrame(), ["one", "two"], "n")
    with pytest.raises(BadInput, match="no results n of three; see .*made_by.csv"):
        answers.beside(pd.DataFrame(), ["three"], "n")
    with pytest.raises(BadInput, match=r"results: profile '\.\./x' must be 1 to 60 letters"):
        answers.beside(pd.DataFrame(), ["../x"], "n")


def test_an_option_that_one_model_left_out_is_no_contradiction_and_other_options_are(put):
    columns = ["model", "estimator", "relation", "fact", "correct", "n_options"]
    put("one", "n", [("a", "x", "r", fact, True, 4) for fact in (1, 2)], columns, seed=0)
    put("two", "n", [("b", "x", "r", 1, True, 3), ("b", "x", "r", 2, True, 4)], columns, seed=0)
    assert answers.beside(pd.DataFrame(), ["one", "two"], "n")["n_options"].tolist() == [4, 4, 3, 4]
    put("two", "n", [("b", "x", "r", fact, True, 3) for fact in (1, 2)], columns, seed=0)
    with pytest.raises(BadInput, match="results one, two: of the same facts, but they contradict"):
        answers.beside(pd.DataFrame(), ["one", "two"], "n")


def test_made_by_says_what_and_how_to_make_it_again(put):
    put("one", "n", [(1,)], ["fact"])
    put("two", "n", [(1,)], ["fact"])
    first, second = answers.made_by(["one", "two"], "n")
    assert first.replace("\n  ", " ") == (
        "shipped: profile one, 2026-11-01, 10 min, lkecore at abc; to make it again: lke run it"
    )
    assert max(map(len, first.split("\n"))) <= 79 and "profile two" in second
    assert answers.made_by([], "n") == []


def test_models_that_ship_with_other_weights_by_now_are_named():
    """The results of `long` were made with the weights that ship; those of `lab` and `kinds` before them."""
    today = shipped.read("long", LAB)[1]["models"]
    for profile, notebook in (("lab", LAB), ("kinds", "52_lab_kinds"), ("long", LAB)):
        then = shipped.read(profile, notebook)[1]["models"]
        others = [name for name in then if name in today and then[name] != today[name]]
        assert len(others) == {"lab": 5, "kinds": 1, "long": 0}[profile]
        [text] = answers.made_by([profile], notebook)
        _, _, said = text.replace("\n ", "").partition(
            ". With other weights than those that ship: "
        )
        assert said == ", ".join(others)
