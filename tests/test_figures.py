"""Figures: what is drawn equals the data, read back from the axes."""

import io
import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lkecore import figures


@pytest.fixture
def ax():
    # Without pyplot: no window system, and nothing to close.
    return FigureCanvasAgg(Figure(figsize=(7, 5), layout="constrained")).figure.subplots()


def segments(ax) -> list[tuple[float, float, float, float]]:
    """Every line of every collection as x0, x1, y0, y1."""
    return [
        (*line[:, 0], *line[:, 1])
        for collection in ax.collections
        if isinstance(collection, LineCollection)
        for line in collection.get_segments()
        if len(line)  # a line with a NaN end has no points
    ]


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


# --- the look


def test_style_is_white_and_colour_blind_safe_and_draws_the_same_bytes_each_time():
    with mpl.rc_context():
        figures.style()
        assert mpl.rcParams["figure.facecolor"] == mpl.rcParams["savefig.facecolor"] == "white"
        first_colour = mpl.rcParams["axes.prop_cycle"].by_key()["color"][0]
        assert to_hex(first_colour) == "#0173b2"  # the first of seaborn's "colorblind"
        images = []
        for _ in range(2):
            figure, image = Figure(), io.BytesIO()
            figure.subplots().plot([0, 1], [0, 1])
            figure.savefig(image, format="svg", metadata={"Date": None})
            images.append(image.getvalue())
    assert images[0] == images[1]
    assert b"<text" not in images[0]  # letters are paths


def test_style_makes_svg_the_inline_format_inside_ipython_only(monkeypatch):
    import matplotlib_inline.backend_inline as inline

    calls = []
    monkeypatch.setattr(inline, "set_matplotlib_formats", lambda *a, **k: calls.append((a, k)))
    for shell in (None, object()):
        ipython = SimpleNamespace(get_ipython=lambda shell=shell: shell)
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        with mpl.rc_context():
            figures.style()
    assert calls == [(("svg",), {"metadata": {"Date": None}})]


# --- separator_bars

# --- interval_marks

FORMATS = pd.DataFrame(
    [
        ("space", "space", 0.5, 0.4, 0.6, True),
        ("space", "line", 0.7, 0.6, 0.8, False),
        ("colon", "space", 0.3, 0.2, 0.4, False),
        ("colon", "line", 0.9, 0.8, 1.0, True),
    ],
    columns=["inside", "between", "accuracy", "low", "high", "ringed"],
)
PLACES = {"x": "inside", "hue": "between", "y": "accuracy"}


def test_interval_marks_stand_at_their_value_nearest_to_their_own_tick(ax):
    order = ["space", "comma", "line"]
    assert figures.interval_marks(FORMATS, ax, hue_order=order, **PLACES) is ax
    assert [text.get_text() for text in ax.get_xticklabels()] == ["space", "colon"]
    marks = {line.get_label(): line for line in ax.lines if line.get_label() in order}
    assert list(marks) == ["space", "line"]
    for between, line in marks.items():
        part = FORMATS[FORMATS["between"] == between]
        assert line.get_ydata() == pytest.approx(part["accuracy"])
        assert np.round(line.get_xdata()).tolist() == [0, 1]
    drawn = sorted((y0, y1) for x0, x1, y0, y1 in segments(ax) if x0 == x1)
    expected = sorted(zip(FORMATS["low"], FORMATS["high"], strict=True))
    assert np.array(drawn) == pytest.approx(np.array(expected))


def test_a_hue_has_one_colour_in_all_axes_whichever_others_are_there(ax):
    order = ["space", "comma", "line"]
    figures.interval_marks(FORMATS, ax, hue_order=order, **PLACES)
    other = FigureCanvasAgg(Figure()).figure.subplots()
    only = FORMATS[FORMATS["between"] == "line"]
    figures.interval_marks(only, other, hue_order=order, **PLACES)
    colours = [
        {line.get_color() for line in each.lines if line.get_label() == "line"}
        for each in (ax, other)
    ]
    assert colours[0] == colours[1] and len(colours[0]) == 1


def test_interval_marks_ring_what_is_to_be_ringed(ax):
    figures.interval_marks(FORMATS, ax, hue_order=["space", "line"], **PLACES)
    rings = [line for line in ax.lines if line.get_markersize() == 14]
    assert sorted(float(y) for line in rings for y in line.get_ydata()) == [0.5, 0.9]


def test_interval_marks_refuse_what_occurs_twice_and_a_hue_without_a_place(ax):
    twice = pd.concat([FORMATS, FORMATS])
    with pytest.raises(ValueError, match="occurs twice"):
        figures.interval_marks(twice, ax, hue_order=["space", "line"], **PLACES)
    with pytest.raises(ValueError, match="'line'. is not in hue_order"):
        figures.interval_marks(FORMATS, ax, hue_order=["space"], **PLACES)


def test_interval_panels_have_one_scale_and_one_legend_and_say_where_there_is_nothing():
    both = pd.concat([FORMATS.assign(set="a"), FORMATS.assign(set="b")])
    fig = figures.interval_panels(both, panel="set", **PLACES, label="share", line=0.5)
    assert [ax.get_title() for ax in fig.axes] == ["a", "b"]
    assert fig.axes[0].get_ylim() == fig.axes[1].get_ylim()
    assert fig.axes[0].get_ylabel() == "share" and len(fig.legends) == 1
    assert all(0.5 in line.get_ydata() for ax in fig.axes for line in ax.lines[-1:])
    words = both.replace({"inside": {"colon": "minus without subject"}})
    [ax, _] = figures.interval_panels(words, panel="set", **PLACES, label="share").axes
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert ticks == ["space", "minus\nwithout\nsubject"]
    many = [FORMATS.assign(set=s, between=f"lab:rich-1/model-{i}") for s in "ab" for i in range(9)]
    many = pd.concat(many).drop_duplicates(["set", "inside", "between"])
    fig = figures.interval_panels(many, panel="set", **PLACES, label="share")
    fig.canvas.draw()
    assert fig.legends[0].get_window_extent().width < fig.bbox.width
    empty = figures.interval_panels(both[:0], panel="set", **PLACES, label="share")
    assert not empty.axes and "nothing to show" in empty.texts[0].get_text()


# --- page


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
    figures.place(figure, "the-figure", data)
    assert glued["the-figure"] == (figure, not in_run)  # JupyterLab knows no such place
    assert not plt.fignum_exists(figure.number)
    [note] = figure.axes[0].texts  # an empty figure would be no picture
    assert "nothing" in note.get_text()
    figures.findings(first="One, 2.", second="-")
    assert glued["first"] == ("One, 2.", not in_run) and glued["second"] == (" ", not in_run)
    files = {path.name: path for path in tmp_path.iterdir()}
    assert set(files) == ({"the-figure.csv", "findings.csv"} if in_run else set())
    if in_run:
        assert pd.read_csv(files["the-figure.csv"]).equals(data)
        kept = pd.read_csv(files["findings.csv"])
        assert kept.to_dict("list") == {"name": ["first", "second"], "text": ["One, 2.", "-"]}
