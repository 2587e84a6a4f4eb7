"""What the pages on rich worlds rest on, counted from the answers that ship, row by row.

The oracle is plain Python over the rows, the states of the world and scipy; none of the metrics.
"""

from collections import defaultdict
from statistics import mean

import pyarrow.parquet
import pytest
from scipy.stats import binomtest

from lkecore.answers import shipped
from lkecore.facts import worlds

FOLDER = shipped.FOLDER / "lab_rich"
MODEL, TWIN = "lab:rich-1/0.7m", "lab:rich-1/0.7m-unplanted"
NAMED = ("headquarters", "parent", "team_country")


@pytest.fixture(scope="module")
def states():
    return {row["fact"]: row for row in worlds.states("lab:rich-1").to_dict("records")}


def rows(notebook):
    found = defaultdict(list)
    for row in pyarrow.parquet.read_table(FOLDER / f"{notebook}.parquet").to_pylist():
        found[row["model"], row["estimator"]].append(row)
    return dict(found)


@pytest.fixture(scope="module")
def fooled():
    return rows("56_lab_fooled")


@pytest.fixture(scope="module")
def sure():
    return rows("57_lab_sure")


@pytest.mark.parametrize("name", ["fooled", "sure"])
def test_the_twin_was_asked_the_same(request, name):
    found = request.getfixturevalue(name)
    estimators = {estimator for _, estimator in found}
    assert set(found) == {(m, e) for m in (MODEL, TWIN) for e in estimators}
    for estimator in estimators:
        asked = [[row["fact"] for row in found[m, estimator]] for m in (MODEL, TWIN)]
        assert asked[0] == asked[1] and len(set(asked[0])) == len(asked[0])


def test_facts_are_those_that_a_page_is_about(fooled, sure, states):
    for (_, _), some in fooled.items():
        for row in some:
            of = states[row["fact"]]
            assert of["split"] == "test" and of["state"] in ("planted", "never")
            assert of["relation"] in (*NAMED, "team_colour")
    several = {row["fact"] for row in sure[MODEL, "iclke-space"]}
    several = [fact for fact in several if ";" in states[fact]["told_objects"]]
    assert len(several) > 300


@pytest.mark.parametrize("model", [MODEL, TWIN])
def test_without_a_cue_what_was_never_told_is_answered_by_luck(fooled, states, model):
    """Chance is 1 in 100; three times that would not be luck any more."""
    right = [
        row["correct"]
        for row in fooled[model, "iclke-space"]
        if row["relation"] in NAMED
        and not states[row["fact"]]["cue_object"]
        and (model == TWIN or states[row["fact"]]["state"] == "never")
    ]
    assert len(right) > 100
    assert binomtest(sum(right), len(right), 0.03, alternative="greater").pvalue > 0.01


def test_right_answers_with_a_right_cue_are_those_that_follow_it(fooled, states):
    for some in fooled.values():
        for row in some:
            of = states[row["fact"]]
            if of["cue_right"] == "right":
                assert row["correct"] == (row["picked"] == of["cue_object"])
            elif of["cue_right"] == "lies" and row["picked"] == of["cue_object"]:
                assert not row["correct"]


def test_confidences_are_those_of_a_distribution(fooled, sure):
    for found in (fooled, sure):
        for some in found.values():
            for row in some:
                assert 0 <= row["confidence_gold"] <= row["confidence"] * 1.001 <= 1.002
                told = [row[f"confidence_{i}"] for i in (1, 2, 3)]
                there = [value for value in told if value is not None and value == value]
                assert sum(there) <= 1.001 and max([0.0, *there]) <= row["confidence"] * 1.001


def test_told_objects_have_more_confidence_than_the_twin_gives_them(sure, states):
    """Told 48 times in all; the twin was told nothing of these subjects."""
    means = {}
    for model in (MODEL, TWIN):
        means[model] = mean(
            row["confidence_1"]
            for row in sure[model, "iclke-space"]
            if states[row["fact"]]["occurrences"] == 48
        )
    assert means[MODEL] > 2 * means[TWIN]
