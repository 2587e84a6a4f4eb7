"""What rules get that see the training facts: by pencil, and what ships."""

import helpers
import pytest
from helpers import tool

from lkecore.errors import BadInput
from lkecore.facts import Fact, Relation

cues = tool("cues")


def fact(i, subject, object, split):
    return Fact(str(i), "r", subject, object, split=split)


def test_rules_that_see_the_training_facts_by_pencil():
    """Red is shown twice of four, blue and Blue Lake once. Three are asked."""
    train = [("a", "red"), ("b", "red"), ("c", "blue"), ("d", "Blue Lake")]
    test = [("big blue", "blue"), ("Blue Lake Inn", "red"), ("e", "red")]
    rows = [fact(i, *pair, "train") for i, pair in enumerate(train)]
    rows += [fact(10 + i, *pair, "test") for i, pair in enumerate(test)]
    found = cues.of_relation(Relation("r", tuple(rows)), n_shots=2)
    assert (found["facts"], found["frequent"]) == (3, 2)
    # blue is all in "big blue"; blue and Blue Lake are in "Blue Lake Inn", and red is asked; e shares none.
    assert found["both"] == 1 + 0 + 1
    assert found["shown"] == pytest.approx((1 - 0.75**2) + 2 * (1 - 0.5**2))
    with pytest.raises(BadInput, match="relation r has no training or no test facts"):
        cues.of_relation(Relation("r", tuple(rows[:4])))


def test_the_share_of_most_frequent_objects_that_ships_is_that_of_a_review():
    """0.178 of LAMA's T-REx test facts, counted apart from this code."""
    its, about = helpers.shipped("training", "18_iclke_rules")
    assert its["relation"].nunique() == 41 and about["models"] == {}
    assert its["frequent"].sum() / its["facts"].sum() == pytest.approx(0.178, abs=5e-4)
    assert (its["both"] <= its["facts"]).all() and (its["shown"] < its["facts"]).all()
