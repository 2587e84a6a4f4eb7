"""Curves: the rise of accuracy in two parts, against pandas and by what must hold."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lkecore.metrics import curves

ANSWERS = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.sampled_from("abc")), min_size=1, max_size=40
)


def answers(seed: int = 0, n: int = 200) -> pd.DataFrame:
    """Answers of three relations, of which the easy ones are kept more often."""
    rng = np.random.default_rng(seed)
    relation = rng.integers(3, size=n)
    right = rng.random(n) < np.array([0.2, 0.5, 0.9])[relation]
    kept = rng.random(n) < 0.2 + 0.2 * relation + 0.2 * right
    return pd.DataFrame({"kept": kept, "right": right, "relation": relation})


def test_parts_of_a_rise_are_those_of_pandas():
    frame = answers()
    usual = frame.groupby("relation")["right"].transform("mean")
    between = usual[frame["kept"]].mean() - frame["right"].mean()
    within = (frame["right"] - usual)[frame["kept"]].mean()
    columns = frame["kept"], frame["right"], frame["relation"]
    assert curves.rise_between(*columns) == pytest.approx(between, abs=1e-12)
    assert curves.rise_within(*columns) == pytest.approx(within, abs=1e-12)
    assert between > 0.05 and within > 0.05


@settings(deadline=None)  # no test asserts seconds
@given(ANSWERS)
def test_parts_add_up_to_the_rise(rows):
    kept, right, relation = zip(*rows, strict=True)
    parts = [f(kept, right, relation) for f in (curves.rise_between, curves.rise_within)]
    at = curves.accuracy_at(np.array(kept) * 1.0, np.array(right), [0.5])["accuracy"][0]
    if any(kept):
        assert sum(parts) == pytest.approx(at - np.mean(right), abs=1e-12)
    else:
        assert all(math.isnan(part) for part in parts)


def test_rise_of_one_relation_is_all_within():
    kept, right = [1, 1, 0, 0], [1, 1, 0, 1]
    assert curves.rise_between(kept, right, ["r"] * 4) == 0
    assert curves.rise_within(kept, right, ["r"] * 4) == 0.25


def test_rise_of_relations_that_are_kept_whole_is_all_between():
    kept, right = [1, 1, 0, 0], [1, 0, 0, 0]
    assert curves.rise_between(kept, right, [7, 7, 3, 3]) == 0.25
    assert curves.rise_within(kept, right, [7, 7, 3, 3]) == 0


def test_names_of_relations_and_order_of_answers_do_not_matter():
    frame, order = answers(), np.random.default_rng(1).permutation(200)
    columns = [frame[name].to_numpy() for name in frame]
    other = [column[order] for column in columns]
    other[2] = np.array(["z", "k", "a"])[other[2]]
    for part in (curves.rise_between, curves.rise_within):
        assert part(*other) == pytest.approx(part(*columns), abs=1e-12)


@pytest.mark.parametrize("part", [curves.rise_between, curves.rise_within])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([1, 0], [1, 0], ["a"]), r"relation \(1,\) must be lists of one length"),
        (([], [], []), "1 or more"),
        (([0.6, 1], [1, 0], ["a", "b"]), "kept must hold bool, or 0 and 1"),
        (([1, 1], [1, math.nan], ["a", "b"]), "correct must hold bool"),
    ],
)
def test_parts_of_a_rise_refuse_what_is_no_answer(part, columns, message):
    with pytest.raises(ValueError, match=message):
        part(*columns)
