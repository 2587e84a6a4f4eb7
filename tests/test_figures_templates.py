"""Figures of kinds of prompts and of slots: what is drawn equals the data, read back from the axes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection

from lkecore import figures

DOTS = pd.DataFrame(
    [("m", "pairs", "a", "x", 0.5), ("m", "words", "a", "y", 0.25), ("m", "words", "b", "y", 0.75)],
    columns=["model", "kind", "relation", "estimator", "accuracy"],
)
KINDS = pd.DataFrame(
    [("m", "pairs", 0.5, 0.25, 0.75, np.nan), ("m", "words", 0.5, 0.4, 0.6, 0.35)],
    columns=["model", "kind", "accuracy", "low", "high", "spread"],
)


def test_dots_of_prompts_have_mean_interval_and_spread_of_their_kind():
    figure = figures.prompt_dots(
        DOTS,
        KINDS,
        kinds=["words", "pairs"],
        marks={"m": 0.1},
    )
    [ax] = figure.axes
    drawn = sorted((*map(float, point),) for each in ax.collections for point in each.get_offsets())
    assert [point for point in drawn if point != (0, 0)] == [(0.25, 0), (0.5, 1), (0.75, 0)]
    # words in row 0: interval, and mean minus and plus spread; pairs in row 1 have no spread
    collections = [each for each in ax.collections if isinstance(each, LineCollection)]
    lines = [line.round(9).tolist() for each in collections for line in each.get_segments()]
    assert sorted(lines) == [
        [[0.15, 0.38], [0.85, 0.38]],
        [[0.25, 1.25], [0.75, 1.25]],
        [[0.4, 0.25], [0.6, 0.25]],
    ]
    diamonds = [line.get_xydata()[0].tolist() for line in ax.lines if line.get_marker() == "D"]
    assert sorted(diamonds) == [[0.5, 0.25], [0.5, 1.25]]
    plt.close(figure)


BARS = pd.DataFrame(
    [("capital", "space", 0.5, 0.25, 0.75), ("capital", "colon", 0.6, 0.5, 0.9)],
    columns=["relation", "estimator", "accuracy", "low", "high"],
)


def test_each_model_has_its_panel_of_bars_and_all_one_legend():
    frame = pd.concat([BARS.assign(model=name) for name in ("m", "n", "o")])
    frame.loc[frame["model"] == "n", "accuracy"] = 0.125
    frame = frame[
        (frame["model"] != "m") | (frame["estimator"] == "colon")
    ]  # the first lacks a hue
    marks = {
        name: pd.Series({"capital": at}) for name, at in zip("mno", (0.1, 0.2, 0.3), strict=True)
    }
    figure = figures.bars_by_model(frame, hue="estimator", marks=marks)
    assert [ax.get_xlabel()[-3:] for ax in figure.axes if ax.axison] == [", m", ", n", ", o"]
    widths = {round(float(bar.get_width()), 9) for bar in figure.axes[1].patches} - {0.0}
    assert widths == {0.125}
    [one] = figure.legends
    assert {text.get_text() for text in one.get_texts()} == {"space", "colon", "best rule"}
    dashes = [
        [float(end[0]) for line in ax.collections for end in line.get_segments()[0]]
        for ax in figure.axes[:3]
    ]
    assert [at in found for at, found in zip((0.1, 0.2, 0.3), dashes, strict=True)] == [True] * 3
    colours = [{bar.get_facecolor() for bar in ax.patches if bar.get_width()} for ax in figure.axes]
    assert colours[0] < colours[1] == colours[2]
    assert not any(ax.get_legend() for ax in figure.axes)
    plt.close(figure)


def test_marks_of_slots_tell_right_from_wrong():
    figure, ax = plt.subplots()
    rows = [("a", "1", 1, 0.5, "right"), ("a", "2", 1, -0.5, "wrong"), ("a", "3", 2, 0.25, "right")]
    frame = pd.DataFrame(rows, columns=["relation", "fact", "slot", "gain", "answer"])
    assert figures.slot_marks(frame, ax) is ax
    points = [tuple(map(float, p)) for each in ax.collections for p in each.get_offsets()]
    assert sorted(points) == [(1, -0.5), (1, 0.5), (2, 0.25)]
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["right", "wrong"] and list(ax.get_xticks()) == [1, 2]
    means = ax.lines[0].get_xydata().tolist()
    assert means == [[1, 0], [2, 0.25]]
    with pytest.raises(ValueError, match="occurs twice"):
        figures.slot_marks(pd.concat([frame, frame]), ax)
    plt.close(figure)
