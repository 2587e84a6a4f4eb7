"""Labels: what a page shows in the place of a name, and that no number and no run depends on it."""

import json
from io import BytesIO

import pandas as pd
import projects
import pytest
import yaml
from matplotlib.figure import Figure

from lkecore import answers, figures, runs
from lkecore.errors import BadInput
from lkecore.figures import letters
from lkecore.models import weights
from lkecore.runs import labels, plan


def test_a_path_is_shown_by_as_much_of_its_end_as_tells_it_from_the_others(tmp_path):
    names = ["one/gpt.v2", "two/gpt.v2", "one/mine", "two/rows.v2.csv", "sub/toy"]
    for name in names:
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "two/rows.v2.csv").rmdir()
    (tmp_path / "two/rows.v2.csv").write_text("")
    paths = [str(tmp_path / name) for name in names]
    found = labels.shown([*paths, "toy", "org/name", paths[0]], {paths[2]: "My model"})
    ends = ["one/gpt.v2", "two/gpt.v2", "My model", "rows.v2", "sub/toy"]
    assert found == dict(zip(paths, ends, strict=True))


def labelled(tmp_path, given, model="toy"):
    text = projects.code("n").replace("names: list[str] = []", 'models: list[str] = ["toy"]')
    (project := tmp_path / "p").mkdir(exist_ok=True)
    project = projects.make(project, {"a": text}) if not list(project.iterdir()) else project
    rows = [{"notebook": "a", "parameters": {"models": [model]}}]
    content = {"profile": "p", "runs": rows} | ({"labels": given} if given is not None else {})
    (project / "params" / "p.yaml").write_text(yaml.safe_dump(content))
    return projects.plan(project)


def test_a_label_is_in_the_key_of_a_page_and_of_no_run(tmp_path):
    weights.locate("toy")
    keys = {}
    for label in (None, "one", "two"):
        [row] = labelled(tmp_path, {"toy": label} if label else None).rows
        assert row.has_page == bool(label)
        (tmp_path / "run").mkdir(exist_ok=True)
        (tmp_path / "run" / "manifest.json").write_text('{"models": {"toy": ""}, "facts": {}}')
        page = plan.page_of(row, [tmp_path / "run"])
        keys[label] = runs.run_key(row.jobs[0]), runs.run_key(page)
        assert runs.labels_of(page) == ({"toy": label} if label else {})
        assert runs.labels_of(row.jobs[0]) == {}
    run_keys, page_keys = zip(*keys.values(), strict=True)
    assert len(set(run_keys)) == 1 and len(set(page_keys)) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tyo": "mine"}, "labels: no model or fact set is named 'tyo'; nearest: toy"),
        ({"toy": "a\nb"}, "labels: 'toy' must have a line of text"),
        ([], "labels must be names and what to show for them, found []"),
    ],
)
def test_labels_that_nobody_could_show_are_refused(tmp_path, given, message):
    with pytest.raises(BadInput) as caught:
        labelled(tmp_path, given)
    assert f"p.yaml: {message}" in str(caught.value)


def test_two_names_do_not_share_a_label():
    for given in ({"a": "x", "b": "x"}, {"a": "b"}):
        with pytest.raises(BadInput, match="would stand for two of"):
            labels.check(given, ["a", "b"])
    labels.check({"a": "b", "b": "a"}, ["a", "b", "a"])


def test_names_sentences_tables_and_figures_show_labels_and_data_keep_names(tmp_path, monkeypatch):
    import myst_nb

    monkeypatch.setattr(myst_nb, "glue", lambda *_, **__: None)
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    path, label = "/a/my (model)", r"<My> \1"
    monkeypatch.setenv("LKE_LABELS", json.dumps({path: label, "toy": "Toy"}))
    assert (figures.display_name(path), figures.display_name("toy")) == (label, "Toy")
    frame = pd.DataFrame(
        {"model": [path, f"{path}/x", "toys"], path: [1, 2, 3]}, index=["toy", "b", "c"]
    )
    html = answers.html_table(frame, index=True).to_html().replace("<wbr>", "")
    assert (
        html.count("&lt;My&gt;") == 2 and "Toy<" in html and "toys" in html and f"{path}/" in html
    )
    figure = Figure()
    ax = figure.subplots()
    ax.set_yticks([0, 1], [path, "toys"])
    ax.set_title(f"{path}, colon")
    figures.glue_figure(figure, "fig", frame)
    figure.savefig(BytesIO(), format="svg")
    assert [t.get_text() for t in ax.get_yticklabels()] == [label, "toys"]
    assert ax.get_title() == f"{label}, colon"
    assert pd.read_csv(tmp_path / "fig.csv")["model"].tolist() == [*frame["model"]]
    assert letters.labelled("toy, toy-2 and /x/toy") == "Toy, toy-2 and /x/toy"
