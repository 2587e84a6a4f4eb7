"""Figures: what is drawn equals the data, read back from the axes."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex

from lkecore import figures

FOUND = pd.DataFrame(
    [
        ("pairs", "small", "atlas", 0.5, 0.4, 0.7),
        ("human", "small", "atlas", 0.3, 0.1, 0.4),
        ("pairs", "large", "atlas", 0.8, 0.7, 0.9),
        ("human", "large", "KAMEL", 0.2, float("nan"), float("nan")),
    ],
    columns=["kind", "model", "source", "estimate", "low", "high"],
)


@pytest.fixture(autouse=True)
def look():
    with mpl.rc_context():
        figures.style()
        yield
    plt.close("all")


def bars(ax) -> list[list[float]]:
    """Every interval that is drawn, as x0, x1, y0, y1."""
    lines = [c for c in ax.collections if isinstance(c, LineCollection)]
    found = [
        s for c in lines for s in c.get_segments() if len(s) and s[0].tolist() == s[0].tolist()
    ]
    return [[round(float(v), 9) for v in (*s[:, 0], *s[:, 1])] for s in found]


def points(ax) -> list[tuple[float, float]]:
    pairs = [zip(*line.get_data(), strict=True) for line in ax.lines]
    return [(round(float(x), 9), float(y)) for pair in pairs for x, y in pair]


def test_marks_lie_side_by_side_on_their_category_in_their_panel():
    grid = figures.marks(FOUND, x="kind", hue="model", panel="source")
    assert list(grid.axes_dict) == ["atlas", "KAMEL"]
    atlas, kamel = grid.axes.flat
    assert points(atlas) == [(-0.175, 0.5), (0.825, 0.3), (0.175, 0.8)]
    assert bars(atlas) == [
        [-0.175, -0.175, 0.4, 0.7],
        [0.825, 0.825, 0.1, 0.4],
        [0.175, 0.175, 0.7, 0.9],
    ]
    assert (points(kamel), bars(kamel)) == ([(1.175, 0.2)], [])  # a mark without an interval
    assert [t.get_text() for t in atlas.get_xticklabels()] == ["pairs", "human"]
    assert (atlas.get_ylabel(), atlas.get_title()) == (figures.ACCURACY, "atlas")
    (legend,) = grid.figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["small", "large"]
    shown = [(to_hex(h.get_color()), h.get_marker()) for h in legend.legend_handles]
    drawn = [(to_hex(line.get_color()), line.get_marker()) for line in atlas.lines]
    assert shown == drawn and len({c for c, _ in drawn}) == len({m for _, m in drawn}) == 2


def test_marks_across_have_their_categories_in_rows_the_first_on_top():
    grid = figures.marks(FOUND[:3], x="kind", hue="model", across=True, label="share")
    ax = grid.ax
    assert points(ax) == [(0.5, -0.175), (0.3, 0.825), (0.8, 0.175)]
    assert bars(ax)[0] == [0.4, 0.7, -0.175, -0.175]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["pairs", "human"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1] and ax.get_xlabel() == "share"


def test_curve_is_a_line_in_order_with_a_band():
    curve = pd.DataFrame({"shots": [50, 1, 10], "estimate": [0.5, 0.1, 0.3]})
    curve = curve.assign(low=curve["estimate"] - 0.1, high=curve["estimate"] + 0.2)
    ax = figures.marks(curve, x="shots", curve=True).set(xscale="log").ax
    assert points(ax) == [(1, 0.1), (10, 0.3), (50, 0.5)]
    (band,) = [c for c in ax.collections if isinstance(c, PolyCollection)]
    corners = {(round(x), round(y, 9)) for x, y in band.get_paths()[0].vertices}
    assert corners >= {(1, 0.0), (10, 0.2), (50, 0.4), (1, 0.3), (10, 0.5), (50, 0.7)}
    assert not ax.figure.legends  # one line needs none


def test_two_rows_for_one_mark_are_refused():
    with pytest.raises(ValueError, match="'kind': 'pairs'.* occurs twice"):
        figures.marks(FOUND[:3], x="kind")


# --- what a page gets


@pytest.fixture
def glued(monkeypatch):
    """What was handed to the page: {name: (what, whether it was displayed)}."""
    import myst_nb

    found = {}
    note = lambda name, what, display: found.setdefault(name, (what, display))  # noqa: E731
    monkeypatch.setattr(myst_nb, "glue", note)
    return found


@pytest.mark.parametrize("in_run", [True, False])
def test_figures_and_findings_go_to_the_page_and_their_numbers_are_kept(
    in_run, glued, tmp_path, monkeypatch
):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    if not in_run:
        monkeypatch.delenv("LKE_RUN")
    figure = plt.figure()
    data = pd.DataFrame({"x": [1, 2]})
    figures.glue_figure(figure, "the-figure", data)
    assert glued["the-figure"] == (figure, not in_run)  # JupyterLab knows no such place
    assert not plt.fignum_exists(figure.number)
    [note] = figure.axes[0].texts  # an empty figure would be no picture
    assert "nothing" in note.get_text()
    figures.glue_values(first="One, 2.", second="-")
    assert glued["first"] == ("One, 2.", not in_run) and glued["second"] == (" ", not in_run)
    files = {path.name: path for path in tmp_path.iterdir()}
    assert set(files) == ({"the-figure.csv", "findings.csv"} if in_run else set())
    if in_run:
        assert pd.read_csv(files["the-figure.csv"]).equals(data)
        kept = pd.read_csv(files["findings.csv"])
        assert kept.to_dict("list") == {"name": ["first", "second"], "text": ["One, 2.", "-"]}


@pytest.mark.parametrize(
    ("holds", "kept", "printed"),
    [
        ({"more": np.True_, "few": True}, [True, True], None),
        ({"a": np.False_, "b": True, "c": None}, [False, True, False], "a; c"),
        ({"a": np.nan, "b": pd.NA, "c": pd.NaT}, [False] * 3, "a; b; c"),
        ({}, [], "all"),
    ],
)
def test_words_of_a_sentence_never_stop_a_run_and_are_kept(
    holds, kept, printed, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    figures.sentence(holds)
    [file] = tmp_path.iterdir()
    frame = pd.read_csv(file)
    assert file.name == "sentence.csv" and [*frame["words"]] == [*holds]
    assert [*frame["holds"]] == kept and capsys.readouterr().out == ""
    monkeypatch.delenv("LKE_RUN")  # as in JupyterLab
    figures.sentence(holds)
    said = "the sentence is about other runs; here does not hold: {}\n"
    assert capsys.readouterr().out == ("" if printed is None else said.format(printed))
