"""Figures of what stands at a blank: what is drawn is what stands in the frame."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from lkecore import figures

matplotlib.use("agg")


@pytest.fixture
def grid():
    fig, axes = plt.subplots(1, 3)
    yield axes
    plt.close(fig)


def lines_of(ax) -> dict[str, tuple[list, list]]:
    return {
        line.get_label(): (list(line.get_xdata()), list(line.get_ydata()))
        for line in ax.lines
        if not line.get_label().startswith("_")
    }


def test_moves_are_drawn_over_probability_a_line_for_each_model(grid):
    rows = [(m, p, i + 1.0) for m in ("m", "n") for i, p in enumerate((0.1, 0.001))]
    frame = pd.DataFrame(rows, columns=["model", "probability", "KL"])
    frame = frame.assign(low=frame["KL"] - 0.5, high=frame["KL"] + 0.5)
    ax = figures.move_lines(frame, grid[0])
    found = lines_of(ax)
    assert found["m"][1] == found["n"][1] == [2.0, 1.0]  # from the left to the right
    assert found["m"][0] == pytest.approx([0.00097, 0.097])
    assert ax.get_xscale() == "log" and ax.get_ylim()[0] == 0
    with pytest.raises(ValueError, match="occurs twice"):
        figures.move_lines(pd.concat([frame, frame]), grid[0])


def test_ranks_stand_on_both_sides_and_on_the_diagonal_where_they_are_the_same(grid):
    wordings = pd.DataFrame({"fact": ["a", "b"], "first": [1.0, 20.0], "second": [1.0, 300.0]})
    frame = pd.DataFrame(
        [("a", "one", 1.0, 0.2), ("a", "two", 1.0, 0.3), ("b", "one", 20.0, 2.0), ("b", "two", 300.0, 1.0)],
        columns=["fact", "wording", "rank", "KL"],
    )  # fmt: skip
    figures.rank_panels(frame, wordings, grid[:2])
    left, right = grid[:2]
    assert list(left.lines[0].get_xdata()) == list(left.lines[0].get_ydata())
    assert (list(left.lines[1].get_xdata()), list(left.lines[1].get_ydata())) == ([1, 20], [1, 300])
    assert lines_of(right) == {"one": ([1, 20], [0.2, 2.0]), "two": ([1, 300], [0.3, 1.0])}
    assert left.get_xlim() == left.get_ylim()
    with pytest.raises(ValueError, match="missing value"):
        figures.rank_panels(frame, wordings.assign(first=np.nan), grid[:2])
