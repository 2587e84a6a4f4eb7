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


# --- prefix_tree and tree_mask

# Shots, then two subjects F and S; F has the options "P", "B l", "B r", and S has "P".
TREE = pd.DataFrame(
    [
        (10, 3, "shots", "context", np.nan),
        (11, 10, "F", "forwarded", np.nan),
        (12, 11, "P", "read", -0.504),
        (13, 11, "B", "forwarded", -2.0),
        (14, 13, "l", "read", -0.001),
        (15, 13, "r", "read", -3.25),
        (16, 10, "S", "forwarded", np.nan),
        (17, 16, "P", "read", -1.0),
    ],
    columns=["node", "parent", "label", "kind", "logprob"],
)


def test_a_tree_has_depth_to_the_right_ends_in_order_and_parents_between_their_children(ax):
    assert figures.prefix_tree(TREE, ax) is ax
    # By hand: the ends P, l, r, P stand in rows 0 to 3; B between 1 and 2, F between 0 and 1.5.
    places = {text.get_text(): text.get_position() for text in ax.texts}
    assert places == {
        "shots": (0, 1.875),
        "F": (1, 0.75),
        "P\n-0.50": (2, 0),
        "B\n-2.00": (2, 1.5),
        "l\n0.00": (3, 1),
        "r\n-3.25": (3, 2),
        "S": (1, 3),
        "P\n-1.00": (2, 3),
    }
    assert ax.yaxis_inverted()


def test_a_line_leads_from_every_node_to_its_parent(ax):
    figures.prefix_tree(TREE, ax)
    lines = sorted((*line.get_xdata(), *line.get_ydata()) for line in ax.lines)
    assert lines == [
        (0, 1, 1.875, 0.75),
        (0, 1, 1.875, 3),
        (1, 2, 0.75, 0),
        (1, 2, 0.75, 1.5),
        (1, 2, 3, 3),
        (2, 3, 1.5, 1),
        (2, 3, 1.5, 2),
    ]


def test_what_is_only_read_is_told_apart_by_its_outline_too(ax):
    figures.prefix_tree(TREE, ax)
    outlines = {t.get_text()[0]: t.get_bbox_patch().get_linestyle() for t in ax.texts}
    assert [outlines[label] for label in "sFBlr"] == ["solid"] * 3 + ["dashed"] * 2
    assert legend(ax) == ["many tokens", "goes through the model", "only read"]


def test_a_tree_of_five_columns_fills_a_small_figure_and_no_two_boxes_overlap(ax):
    last = pd.DataFrame([(18, 14, "Kingdom", "read", -11.25)], columns=TREE.columns)
    tree = pd.concat([TREE, last], ignore_index=True)
    tree.loc[tree["node"] == 14, "kind"] = "forwarded"
    ax.figure.set_size_inches(5, 4)
    figures.prefix_tree(tree.replace({"label": {"l": "United", "P": "Kingdom"}}), ax)
    ax.figure.canvas.draw()
    assert ax.get_position().width > 0.8
    boxes = [text.get_bbox_patch().get_window_extent() for text in ax.texts]
    assert not [(i, k) for i, a in enumerate(boxes) for k in range(i) if a.overlaps(boxes[k])]


def test_a_token_sees_its_ancestors_and_itself_and_nothing_else(ax):
    assert figures.tree_mask(TREE, ax) is ax
    assert [text.get_text() for text in ax.get_xticklabels()] == ["shots", "F", "B", "S"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["F", "B", "S"]
    assert ax.yaxis_inverted()
    [grid] = ax.collections
    np.testing.assert_array_equal(
        np.asarray(grid.get_array()).reshape(3, 4), [[1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 1]]
    )
    assert len(set(map(tuple, grid.get_facecolors()))) == 2


def test_the_mask_of_a_path_is_the_triangle_of_plain_text(ax):
    n = 5
    path = pd.DataFrame({"node": range(n), "parent": range(-1, n - 1), "label": list("abcde")})
    figures.tree_mask(path.assign(kind="forwarded", logprob=np.nan), ax)
    np.testing.assert_array_equal(
        np.asarray(ax.collections[0].get_array()).reshape(n, n), np.tri(n)
    )


@pytest.mark.parametrize("draw", [figures.prefix_tree, figures.tree_mask])
@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (TREE.drop(columns="kind"), r"lacks the columns \['kind'\]"),
        (TREE.iloc[:0], "no rows"),
        (TREE.assign(node=1), "'node': 1} occurs twice"),
        (TREE.iloc[::-1], r"nodes \[17, .* have no parent before them"),
        (TREE.assign(kind="leaf"), r"kinds \['leaf'\]: there are \['context', "),
        (TREE.assign(kind="read"), r"nodes \[10, 11, 13, 16\] are only read, but others hang"),
    ],
)
def test_a_tree_that_is_none_is_refused(ax, draw, frame, message):
    with pytest.raises(ValueError, match=message):
        draw(frame, ax)


# --- the look


@pytest.mark.parametrize("name", ["tree", "mask"])
def test_no_label_is_cut_off_at_the_edge_of_the_figure(ax, name):
    if name == "tree":
        figures.prefix_tree(TREE, ax)
    else:
        figures.tree_mask(TREE, ax)
    ax.figure.canvas.draw()
    whole, drawn = ax.figure.bbox, ax.get_tightbbox()
    assert whole.x0 <= drawn.x0 and drawn.x1 <= whole.x1 + 1  # pixels
    assert whole.y0 <= drawn.y0 and drawn.y1 <= whole.y1 + 1


def test_style_is_white_and_colour_blind_safe_and_draws_the_same_bytes_each_time():
    with mpl.rc_context():
        figures.style()
        assert mpl.rcParams["figure.facecolor"] == mpl.rcParams["savefig.facecolor"] == "white"
        first_colour = mpl.rcParams["axes.prop_cycle"].by_key()["color"][0]
        assert to_hex(first_colour) == "#0173b2"  # the first of seaborn's "colorblind"
        images = []
        for _ in range(2):
            figure, image = Figure(), io.BytesIO()
            figures.prefix_tree(TREE, figure.subplots())
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


# --- dose_lines


DOSES = pd.DataFrame(
    [
        ("masked", "w1", 0, 0.01, 0.0, 0.02),
        ("masked", "w1", 6, 0.5, 0.4, 0.6),
        ("masked", "w1", 3, 0.25, 0.2, 0.3),
        ("causal", "w1", 1, 0.1, 0.05, 0.2),
        ("causal", "w1", 2, 0.3, 0.2, 0.4),
        ("causal", "w2", 1, 0.2, 0.1, 0.3),
        ("causal", "w2", 2, 0.4, 0.3, 0.5),
    ],
    columns=["reader", "world", "exposures", "accuracy", "low", "high"],
)
OF_DOSES = {"hue": "reader", "unit": "world", "chance": 0.05, "most": 8}


def test_lines_over_exposures_run_through_the_told_facts_and_leave_the_never_told_ones_apart(ax):
    order = ["causal", "masked"]
    assert figures.dose_lines(DOSES, ax, hue_order=order, **OF_DOSES) is ax
    drawn = [line for line in ax.lines if len(line.get_xdata()) and line.get_linewidth()]
    [masked] = [line for line in drawn if line.get_label() == "masked"]
    assert masked.get_xydata().tolist() == [[3, 0.25], [6, 0.5]]
    causal = [line.get_xydata().tolist() for line in drawn if len(line.get_xdata()) == 2]
    assert [[1, 0.1], [2, 0.3]] in causal and [[1, 0.2], [2, 0.4]] in causal
    alone = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert [line.get_xydata().tolist() for line in alone] == [[[0.5, 0.01]]]
    assert (0.5, 0.5, 0.0, 0.02) in segments(ax) and (2, 2, 0.3, 0.5) in segments(ax)
    assert len(segments(ax)) == len(DOSES)
    ticks = dict(zip(ax.get_xticks(), (t.get_text() for t in ax.get_xticklabels()), strict=True))
    assert ticks == {0.5: "0", 1: "1", 2: "2", 4: "4", 8: "8"}
    [chance] = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert set(chance.get_ydata()) == {0.05}


def test_panels_over_exposures_have_a_row_for_each_template_and_a_column_for_each_form():
    grid = pd.concat(
        DOSES.assign(asked=asked, form=form) for asked in ("a", "b") for form in ("x", "y", "z")
    )
    grid = grid[(grid["asked"] != "b") | (grid["form"] != "y")]  # nothing was told so
    look = OF_DOSES | {"rows": "asked", "columns": "form", "panels": ["y", "x", "z"]}
    look.pop("most")
    figure = figures.dose_panels(grid, hue_order=["causal", "masked"], **look)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == [f"told in: {form}, asked by {way}" for way in "ab" for form in "yxz"]
    assert [len(segments(ax)) for ax in figure.axes] == [len(DOSES)] * 3 + [0] + [len(DOSES)] * 2
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["causal", "masked"]
    assert figures.dose_panels(grid.head(0), hue_order=[], **look).axes == []
    plt.close("all")


def test_lines_over_exposures_have_one_colour_and_one_name_for_all_worlds_of_a_reader(ax):
    figures.dose_lines(DOSES, ax, hue_order=["masked", "causal"], **OF_DOSES)
    _, labels = ax.get_legend_handles_labels()
    assert labels == ["masked", "causal"]
    lines = [line for line in ax.lines if line.get_marker() in figures.MARKERS]
    colours = {}
    for line in lines:
        for at, accuracy in line.get_xydata().tolist():
            row = DOSES[
                (DOSES["exposures"].replace(0, 0.5) == at) & (DOSES["accuracy"] == accuracy)
            ]
            colours.setdefault(row["reader"].item(), set()).add(to_hex(line.get_color()))
    assert {len(found) for found in colours.values()} == {1}
    assert colours["masked"] != colours["causal"]


def test_lines_over_exposures_refuse_what_they_cannot_draw(ax):
    with pytest.raises(ValueError, match="causal"):
        figures.dose_lines(DOSES, ax, hue_order=["masked"], **OF_DOSES)
    with pytest.raises(ValueError, match="6 stand above most, 4"):
        figures.dose_lines(DOSES, ax, hue_order=["masked", "causal"], **OF_DOSES | {"most": 4})
    with pytest.raises(ValueError, match="occurs twice"):
        twice = pd.concat([DOSES, DOSES])
        figures.dose_lines(twice, ax, hue_order=["masked", "causal"], **OF_DOSES)


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


# --- told_lines and told_or_true

TOLD = pd.DataFrame(
    [
        ("m", "list", "a", 4, 0.5),
        ("m", "list", "a", 16, 0.9),
        ("m", "list", "written-a", 16, 0.7),
        ("m", "list", "b", 4, 0.2),
        ("m", "none", "a", 0, 0.1),
        ("m", "both", "a", 4, 0.6),
    ],
    columns=["model", "form", "estimator", "exposures", "accuracy"],
).assign(low=lambda f: f["accuracy"] - 0.1, high=lambda f: f["accuracy"] + 0.1)


@pytest.fixture
def grid():
    figure = FigureCanvasAgg(Figure(figsize=(7, 5), layout="constrained")).figure
    return figure.subplots(1, 2, squeeze=False)


def drawn_lines(ax) -> dict[str, tuple[list, list, str]]:
    return {
        line.get_label(): (list(line.get_xdata()), list(line.get_ydata()), line.get_linestyle())
        for line in ax.lines
        if not line.get_label().startswith("_")
    }


def test_told_lines_stand_over_even_steps_and_never_told_facts_in_every_panel(grid):
    look = {"forms": ["list", "both"], "estimators": ["a", "b"], "dotted": 0.01}
    figures.told_lines(TOLD, grid, **look)
    left, right = grid[0]
    assert drawn_lines(left)["a"] == ([0, 1, 2], [0.1, 0.5, 0.9], "-")
    assert drawn_lines(left)["written-a"] == ([2], [0.7], "--")
    assert drawn_lines(right)["a"] == ([0, 1], [0.1, 0.6], "-")
    assert (1, 1, 0.4, 0.6) in [tuple(round(x, 9) for x in each) for each in segments(left)]
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["0", "4", "16"]
    assert [list(line.get_ydata()) for line in left.lines][-1] == [0.01, 0.01]


def test_told_lines_move_estimators_aside_and_have_a_row_for_each_model(grid):
    look = {"forms": ["list", "both"], "estimators": ["a", "b"], "dotted": 0.5}
    other = pd.concat([TOLD, TOLD.assign(model="other", accuracy=0.3)])
    figures.told_lines(other, grid, **look, rows=["m"], aside=0.2, dashed=0.95)
    found = drawn_lines(grid[0, 0])
    assert found["a"][0] == pytest.approx([-0.1, 0.9, 1.9]) and found["a"][1] == [0.1, 0.5, 0.9]
    assert found["b"][0] == pytest.approx([1.1])
    with pytest.raises(ValueError, match="occurs twice"):
        figures.told_lines(other, grid, **look)
    with pytest.raises(ValueError, match="no place"):
        figures.told_lines(TOLD, grid, forms=["list", "both"], estimators=["a"], dotted=0)


def test_told_or_true_has_two_bars_for_each_estimator_and_leaves_axes_empty(grid):
    rows = [("m", "a", "told", 0.8), ("m", "a", "true", 0.1), ("m", "b", "told", 0.4)]
    frame = pd.DataFrame(rows, columns=["model", "estimator", "answer", "share"])
    frame = frame.assign(low=frame["share"] - 0.1, high=frame["share"] + 0.1)
    figures.told_or_true(frame, grid[0], chance=0.01)
    left, right = grid[0]
    bars = [(round(bar.get_width(), 9), round(bar.get_y() + bar.get_height() / 2, 9))
            for bar in left.patches]  # fmt: skip
    assert bars == [(0.8, -0.2), (0.4, 0.8), (0.1, 0.2)]
    assert legend(left) == ["told", "true"] and left.axison and not right.axison
    with pytest.raises(ValueError, match="2 models and 1 axes"):
        figures.told_or_true(pd.concat([frame, frame.assign(model="n")]), grid[0][:1], chance=0)


# --- cost_lines


def test_costs_are_drawn_over_facts_with_all_options_and_over_options_with_these_facts():
    costs = pd.DataFrame(
        [
            ("tree", 2, 9, 10, 0.1), ("tree", 5, 9, 20, 0.2), ("tree", 5, 3, 15, 0.15),
            ("plain", 2, 9, 1000, 2.0), ("plain", 5, 9, 2500, 5.0), ("plain", 5, 3, 800, 1.5),
        ],
        columns=["method", "facts", "options", "tokens", "seconds"],
    )  # fmt: skip
    figure = FigureCanvasAgg(Figure(figsize=(7, 6), layout="constrained")).figure
    axes = figure.subplots(2, 2, sharex="col", sharey="row")
    assert figures.cost_lines(costs, axes, facts=5, options=9) is axes
    drawn = [
        [
            sorted(tuple(point) for point in np.round(line.get_xydata(), 9).tolist())
            for line in ax.lines
            if len(line.get_xdata())
        ]
        for ax in axes.flat
    ]
    assert drawn == [
        [[(2, 10), (5, 20)], [(2, 1000), (5, 2500)]],
        [[(3, 15), (9, 20)], [(3, 800), (9, 2500)]],
        [[(2, 0.1), (5, 0.2)], [(2, 2.0), (5, 5.0)]],
        [[(3, 0.15), (9, 0.2)], [(3, 1.5), (9, 5.0)]],
    ]
    assert [ax.get_xscale() + ax.get_yscale() for ax in axes.flat] == ["loglog"] * 4
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["tree", "plain"]
    assert [ax.get_legend() for ax in axes.flat] == [None] * 4
    assert [label.get_text() for label in axes[1, 1].get_xticklabels()] == ["3", "9"]
    with pytest.raises(ValueError, match="occurs twice"):
        figures.cost_lines(pd.concat([costs, costs]), axes, facts=5, options=9)
