"""Figures: what is drawn equals the data, read back from the axes."""

import io

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from lkecore import figures


def test_what_is_drawn_has_the_same_bytes_each_time():
    with mpl.rc_context():
        figures.style()
        images = []
        for _ in range(2):
            figure, image = Figure(), io.BytesIO()
            figure.subplots().plot([0, 1], [0, 1])
            figure.savefig(image, format="svg", metadata={"Date": None})
            images.append(image.getvalue())
    assert images[0] == images[1]
    assert b"<text" not in images[0]  # letters are paths


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
