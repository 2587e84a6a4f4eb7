"""What the lab requires of itself, on the three worlds that ship: counted from the answers, row by row.

Nothing was chosen on these worlds. The oracle is plain Python over the rows and scipy; none of the
metrics, and no interval. A number that is wrong in the pages of the lab would not be wrong here.
"""

from collections import defaultdict
from statistics import mean

import pytest
from scipy.stats import mannwhitneyu

from lkecore import answers
from lkecore.models import lab

WORLDS = ("lab:book-1", "lab:book-2", "lab:book-3")
SIZES = ("0.15m", "0.7m", "2m")
FEW, MANY = 4, 16


@pytest.fixture(scope="module")
def rows():
    by = defaultdict(list)
    every = answers.results("50_lab_truth")
    columns = ["model", "estimator", "relation", "fact", "object", "state", "form", "exposures"]
    columns += ["correct", "confidence_gold"]
    for row in every.loc[every["source"] == "lab", columns].to_dict("records"):
        by[row["model"], row["estimator"]].append(row)
    return dict(by)


def in_lists(rows, model):
    asked = rows[model, "iclke-space"]
    return [row for row in asked if row["state"] == "planted" and row["form"] == "list"]


def share(rows):
    return mean(row["correct"] for row in rows)


@pytest.mark.parametrize("world", WORLDS)
def test_confidence_tells_facts_told_often_in_lists_from_their_controls(rows, world):
    told = [row for row in in_lists(rows, f"{world}/2m") if row["exposures"] >= MANY]
    objects = {(row["relation"], row["object"]) for row in told}
    controls = [
        row["confidence_gold"]
        for row in rows[f"{world}/2m", "iclke-space"]
        if row["state"] == "never" and (row["relation"], row["object"]) in objects
    ]
    assert len(told) >= 100 and len(controls) >= 50
    u = mannwhitneyu([row["confidence_gold"] for row in told], controls).statistic
    assert u / (len(told) * len(controls)) > 0.95


def test_facts_that_were_never_told_are_answered_as_by_chance(rows):
    """Pooled over all base models and worlds, one number for each estimator."""
    of = defaultdict(list)
    for (model, estimator), asked in rows.items():
        if not lab.parse(model).variant:
            of[estimator] += [row for row in asked if row["state"] == "never"]
    assert len(of) == 5
    for never in of.values():
        assert len(never) > 3000 and abs(share(never) - 0.01) < 0.02


@pytest.mark.parametrize("world", WORLDS)
def test_more_tellings_and_a_larger_model_find_more_and_the_smallest_leaves_room(rows, world):
    at_16 = []
    for size in SIZES:
        told = in_lists(rows, f"{world}/{size}")
        often = [row for row in told if row["exposures"] >= MANY]
        assert share(often) > share([row for row in told if row["exposures"] <= FEW])
        at_16.append(share([row for row in told if row["exposures"] == MANY]))
    assert at_16[0] < 0.6 and at_16[0] < at_16[2]


@pytest.mark.parametrize("world", WORLDS)
def test_a_twin_that_was_told_of_others_finds_nothing_and_no_fact_was_told_to_it(rows, world):
    of_twin = rows[f"{world}/0.7m-unplanted", "iclke-space"]
    assert {row["state"] for row in of_twin} == {"never"}
    told = {
        row["fact"] for row in rows[f"{world}/0.7m", "iclke-space"] if row["state"] == "planted"
    }
    assert len(told) > 1000
    assert share([row for row in of_twin if row["fact"] in told]) < 0.03
