"""Gates: shares by hand, and what ships."""

import pandas as pd
import pytest

from lkecore import answers
from lkecore.answers import gates


def made_up(gate, right, n, model="reader"):
    return pd.DataFrame([{"model": model, "gate": gate, "n": n, "right": right}])


@pytest.mark.parametrize(
    ("gate", "right", "n", "passed"),
    [
        ("same", 9, 10, True), ("same", 89, 100, False),
        ("other", 8, 10, True), ("other", 79, 100, False),
        ("instruction", 9, 10, True), ("instruction", 89, 100, False),
        ("list", 19, 20, True), ("list", 94, 100, False),
        ("as told (64)", 5, 10, False), ("template-1 (16)", 51, 100, True),
    ],
)  # fmt: skip
def test_a_share_at_the_threshold_passes_and_of_what_is_read_one_above_it(gate, right, n, passed):
    [row] = gates.rated(made_up(gate, right, n)).itertuples()
    assert (row.gate, row.n, row.right, row.passed) == (gate, n, right, passed)
    # Wilson, by its formula.
    z, p = 1.959964, right / n
    centre, half = p + z * z / (2 * n), z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    ends = [(centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)]
    assert [row.share.low, row.share.high] == pytest.approx(ends, abs=1e-6)


def test_what_ships_says_which_gates_are_missed_and_leaves_out_who_was_not_measured():
    rows = answers.results("59_lab_gates-gates")
    said = gates.missed(["lab:rich-1/2m", "lab:rich-1/2m-unplanted", "lab:richsmoke-1/bert"])
    line = said.replace("\n  ", " ")
    assert "\n" not in line
    own = rows[rows["model"] == "lab:rich-1/2m"]
    least = [
        {"same": 0.9, "other": 0.8, "instruction": 0.9, "list": 0.95}.get(g, 0.5)
        for g in own["gate"]
    ]
    misses = own[own["right"] / own["n"] < least]["gate"].astype(str).replace(gates.SAYS)
    assert line.startswith("gates that lab:rich-1/2m misses: ")
    assert [
        gate for gate in own["gate"].astype(str).replace(gates.SAYS) if f"{gate} 0." in line
    ] == misses.tolist()
