"""Figures of confidence: the oracle is what an axes holds."""

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from lkecore import figures

ROWS = pd.DataFrame(
    [("a", 0, 0.1, 0.3, 0.2, 0.4), ("a", 1, 0.6, 0.5, 0.4, 0.7), ("b", 0, 0.2, 0.1, 0.0, 0.3)],
    columns=["estimator", "place", "confidence", "accuracy", "low", "high"],
)


@pytest.fixture
def ax():
    fig, ax = plt.subplots()
    yield ax
    plt.close(fig)


def points(ax) -> dict[str, list[tuple[float, float]]]:
    lines = [line for line in ax.lines if line.get_marker() != "None"]
    return {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in lines}


def bars(ax) -> set[tuple[float, float, float]]:
    found = [segment for part in ax.collections for segment in part.get_segments()]
    return {(float(x), float(low), float(high)) for (x, low), (_, high) in found}


def test_kept_lines_have_a_point_for_each_threshold(ax):
    frame = ROWS.rename(columns={"confidence": "threshold", "accuracy": "kept"})
    assert points(figures.kept_lines(frame, ax)) == {
        "a": [(0.1, 0.3), (0.6, 0.5)],
        "b": [(0.2, 0.1)],
    }
    assert bars(ax) == set()


def test_reliability_draws_share_over_confidence_with_intervals_and_the_diagonal(ax):
    figures.reliability(ROWS.rename(columns={"place": "group"}), ax)
    assert points(ax) == {"a": [(0.1, 0.3), (0.6, 0.5)], "b": [(0.2, 0.1)]}
    assert bars(ax) == {(0.1, 0.2, 0.4), (0.6, 0.4, 0.7), (0.2, 0.0, 0.3)}
    [diagonal] = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert diagonal.get_slope() == 1


def test_means_over_options_stand_at_their_numbers(ax):
    frame = ROWS.assign(n_options=[10, 100, 10]).rename(columns={"accuracy": "mean"})
    figures.over_options(frame.rename(columns={"estimator": "value"}), ax)
    assert points(ax) == {"a": [(10, 0.3), (100, 0.5)], "b": [(10, 0.1)]}
    assert bars(ax) == {(10, 0.2, 0.4), (100, 0.4, 0.7), (10, 0.0, 0.3)}
    assert [t.get_text() for t in ax.get_xticklabels()] == ["10", "100"]
    assert ax.get_xscale() == "log"


def test_panels_have_the_rows_of_one_value_each_and_share_their_scale():
    fig = figures.panels(ROWS.rename(columns={"place": "group"}), "estimator", figures.reliability)
    first, second = fig.axes
    assert [ax.get_title() for ax in fig.axes] == ["a", "b"]
    assert points(first) == {"a": [(0.1, 0.3), (0.6, 0.5)]} and points(second) == {
        "b": [(0.2, 0.1)]
    }
    assert first.get_ylabel() and not second.get_ylabel()
    plt.close(fig)


def test_a_row_that_stands_twice_is_refused(ax):
    twice = pd.concat([ROWS, ROWS]).rename(columns={"place": "group"})
    with pytest.raises(ValueError, match="occurs twice"):
        figures.reliability(twice, ax)
