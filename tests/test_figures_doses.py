"""Figures of sizes and of readings: what is drawn where, read from the axes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from lkecore import figures

SIZES = pd.DataFrame(
    [
        ("this page, w1", "2m", 0.9, 0.8, 0.95, 4.0, 64),
        ("this page, w1", "0.7m", 0.5, 0.4, 0.6, np.inf, 64),
        ("shipped, w2", "2m", 0.8, 0.7, 0.9, 8.0, 64),
    ],
    columns=["made_by", "kind_of_model", "accuracy", "low", "high", "needed", "most"],
)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return plt.subplots(figsize=(8, 4), layout="constrained")[1]


def test_sizes_have_a_line_for_each_world_and_one_half_that_is_not_reached_is_on_top():
    left, right = figures.size_summaries(SIZES, sizes=["0.7m", "2m"], often=16).axes
    lines = {line.get_label(): line for line in left.lines}
    first = lines["this page, w1"]
    assert [round(x) for x in first.get_xdata()] == [0, 1] and list(first.get_ydata()) == [0.5, 0.9]
    assert list(lines["shipped, w2"].get_ydata()) == [0.8]
    assert [list(line.get_ydata()) for line in right.lines] == [[128, 4], [8]]
    assert [text.get_text() for text in right.get_yticklabels()][-2:] == ["64", "more"]
    assert [text.get_text() for text in left.get_xticklabels()] == ["0.7m", "2m"]
    assert left.get_ylabel() == "accuracy, told 16 times or more"
    ends = [tuple(s[:, 1]) for lines in left.collections for s in lines.get_segments()]
    assert sorted(ends) == [(0.4, 0.6), (0.7, 0.9), (0.8, 0.95)]


def test_sizes_that_cannot_be_drawn_are_refused():
    with pytest.raises(ValueError, match=r"sizes \['0.7m'\] have no place among \['2m'\]"):
        figures.size_summaries(SIZES, sizes=["2m"], often=16)
    many = pd.concat(SIZES.head(1).assign(made_by=str(i)) for i in range(10))
    with pytest.raises(ValueError, match="10 worlds; there are colours for 9"):
        figures.size_summaries(many, sizes=["2m"], often=16)
    with pytest.raises(ValueError, match="occurs twice"):
        figures.size_summaries(pd.concat([SIZES, SIZES]), sizes=["0.7m", "2m"], often=16)
