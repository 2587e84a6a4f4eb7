"""Rows meet by what was asked, whatever their order, and each partner once."""

import pandas as pd

from lkecore.answers.align import aligned

ONE = pd.DataFrame(
    {"relation": list("aabb"), "fact": [1.0, 2.0, 2.0, None], "correct": [1, 0, 1, 0]}
)
TWO = pd.DataFrame(
    {"relation": list("bbaa"), "fact": ["2", "3", "2", "2"], "correct": [5, 6, 7, 8]}
)
KEY = ["relation", "fact"]


def seen(frame):
    columns = [*KEY, "nth", "correct", "correct|", "side"]
    return [tuple(row) for row in frame[columns].fillna(-1).to_numpy(object)]


def test_rows_that_meet_those_of_one_frame_and_those_that_are_there_twice():
    assert seen(aligned(ONE, TWO, KEY)) == [
        ("a", "1", 0, 1, -1, "left_only"),
        ("a", "2", 0, 0, 7, "both"),
        ("a", "2", 1, -1, 8, "right_only"),
        ("b", "", 0, 0, -1, "left_only"),
        ("b", "2", 0, 1, 5, "both"),
        ("b", "3", 0, -1, 6, "right_only"),
    ]


def test_rows_of_the_first_frame_keep_their_order_and_all_meet_the_same_one():
    twice = pd.concat([ONE.iloc[::-1], ONE.iloc[[1]]])
    found = seen(aligned(twice, TWO, KEY, how="left", numbered=False))
    assert [row[4] for row in found] == [-1, 5, 7, -1, 7]
    assert [row[3] for row in found] == [0, 1, 0, 1, 0]
