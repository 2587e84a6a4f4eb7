"""Figures of boards: what is drawn where, read from the axes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from lkecore import figures

BOARDS = pd.DataFrame({"board": [1, 2], "title": ["First", "Second"], "models": [2, 1]})
DOTS = pd.DataFrame(
    [(1, "a/x", 0.5, 0.4, 0.6, 0.2, 0.8), (1, "b", 0.25, 0.2, 0.3, 0.1, 0.4),
     (2, "a/x", 0.75, 0.7, 0.8, 0.6, 0.9)],
    columns=["board", "model", "accuracy", "low", "high", "wide_low", "wide_high"],
)  # fmt: skip
RATES = pd.DataFrame(
    [(1, "a/x", "a/x", 1.0, 0), (1, "a/x", "b", 0.25, 1), (1, "b", "a/x", 0.5, 1),
     (1, "b", "b", 1.0, 0), (2, "a/x", "a/x", 1.0, 0)],
    columns=["board", "of", "in", "rate", "distance"],
)  # fmt: skip


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_each_board_has_a_panel_with_two_intervals_and_a_dot_for_each_model():
    figure = figures.board_dots(DOTS, BOARDS)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["First", "Second"]
    first = figure.axes[0]
    assert [text.get_text() for text in first.get_yticklabels()] == ["a/x", "b"]
    [dots] = first.lines
    assert dots.get_xydata().tolist() == [[0.5, 0], [0.25, 1]]
    thin, thick = ([s.tolist() for s in found.get_segments()] for found in first.collections)
    assert thin == [[[0.2, 0], [0.8, 0]], [[0.1, 1], [0.4, 1]]]
    assert thick == [[[0.4, 0], [0.6, 0]], [[0.2, 1], [0.3, 1]]]
    assert first.yaxis_inverted()


def test_maps_are_of_boards_with_a_rate_and_name_the_accuracy_of_columns():
    figure = figures.board_matrices(RATES, BOARDS, DOTS)
    [ax] = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert ax.get_title(loc="left") == "First"
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a/\nx\n0.50", "b\n0.25"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a/x", "b"]
    drawn = np.ma.filled(ax.collections[0].get_array().reshape(2, 2), np.nan)
    assert np.isnan(drawn[0, 0]) and drawn[0, 1] == 0.25 and drawn[1, 0] == 0.5
    alone = figures.board_matrices(RATES.assign(rate=np.nan), BOARDS, DOTS)
    assert [ax.get_title(loc="left") for ax in alone.axes if ax.get_title(loc="left")] == ["First"]


def test_a_model_that_stands_twice_and_a_missing_column_are_refused():
    with pytest.raises(ValueError, match="occurs twice"):
        figures.board_dots(pd.concat([DOTS, DOTS]), BOARDS)
    with pytest.raises(ValueError, match="lacks the columns"):
        figures.board_matrices(RATES.drop(columns="distance"), BOARDS, DOTS)
