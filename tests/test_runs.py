"""Runs: what is done again and what is not, and that nothing half-done counts."""

import json
import os
import signal
import subprocess
import sys
import time

import nbformat
import pandas as pd
import pytest
import yaml

from lkecore import book, grid, runs
from lkecore.rows import BadInput

NOTEBOOK = """# %% [markdown]
# # Title
#
# Prose.

# %% tags=["parameters"]
n: int = 1  # how many
word: str = "a"
share: float = 0.5
flag: bool = False
names: list[str] = []

# %%
import pandas as pd

from lkecore import runs

frame = pd.DataFrame({"n": [n], "word": [word]})
runs.keep(frame, "figure.csv")
runs.keep(frame, "scores.parquet")
print("n is", n)
"""


@pytest.fixture
def project(tmp_path):
    """A project with one small notebook and a params file."""
    for name in ("notebooks", "params", "book"):
        (tmp_path / name).mkdir()
    (tmp_path / "notebooks" / "a.py").write_text(NOTEBOOK)
    write_params(tmp_path, {"n": 3})
    return tmp_path


def write_params(project, parameters):
    content = {"profile": "trial", "runs": [{"notebook": "a", "parameters": parameters}]}
    (project / "params" / "p.yaml").write_text(yaml.safe_dump(content))


def plan(project):
    return grid.read_plan(project / "params" / "p.yaml")


def run(project):
    """(failures, folder of the run, its manifest or None)."""
    failures = grid.execute(plan(project), project / "runs")
    folder = runs.run_folder(project / "runs", plan(project).jobs[0])
    return failures, folder, runs.manifest(folder)


def edit(project, old, new):
    path = project / "notebooks" / "a.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_run_keeps_notebook_log_frames_and_a_manifest_of_what_made_them(project):
    failures, folder, manifest = run(project)
    assert failures == []
    names = {p.name for p in folder.iterdir()}
    assert names == {"notebook.ipynb", "log.txt", "figure.csv", "scores.parquet", "manifest.json"}
    assert pd.read_csv(folder / "figure.csv").to_dict("list") == {"n": [3], "word": ["a"]}
    assert manifest["parameters"] == {
        "n": 3, "word": "a", "share": 0.5, "flag": False, "names": []
    }  # fmt: skip
    assert set(manifest["files"]) == names - {"manifest.json", "log.txt"}
    assert manifest["profile"] == "trial" and manifest["torch"].count(".") == 2
    assert "n is 3" in (folder / "log.txt").read_text()


def test_a_finished_run_is_not_repeated_until_code_or_parameters_change(project):
    _, first, _ = run(project)
    stamp = (first / "manifest.json").stat().st_mtime_ns
    assert run(project)[1] == first
    edit(project, "# Prose.", "# Better prose.")
    assert run(project)[1] == first
    assert (first / "manifest.json").stat().st_mtime_ns == stamp
    write_params(project, {"n": 4})
    _, second, manifest = run(project)
    assert second != first and manifest["parameters"]["n"] == 4
    edit(project, 'print("n is", n)', 'print("n:", n)')
    assert run(project)[1] not in (first, second)


def test_the_key_depends_on_the_content_of_the_facts(project, tmp_path):
    facts = tmp_path / "capital.tsv"
    facts.write_text("subject\tobject\nFrance\tParis\n")
    edit(project, 'word: str = "a"', 'fact_set: str = "a"')
    write_params(project, {"fact_set": str(facts)})
    before = runs.run_key(plan(project).jobs[0])
    facts.write_text("subject\tobject\nFrance\tLyon\n")
    assert runs.run_key(plan(project).jobs[0]) != before


def test_a_failed_notebook_is_no_run_and_stops_the_book_not_the_others(project):
    (project / "notebooks" / "b.py").write_text(NOTEBOOK)
    (project / "params" / "p.yaml").write_text(
        yaml.safe_dump({"profile": "t", "runs": [{"notebook": "a"}, {"notebook": "b"}]})
    )
    edit(project, 'print("n is", n)', "1 / 0")
    failures = grid.execute(plan(project), project / "runs")
    assert len(failures) == 1 and "a: ZeroDivisionError" in failures[0]
    broken, fine = (runs.run_folder(project / "runs", job) for job in plan(project).jobs)
    assert runs.manifest(broken) is None and runs.manifest(fine) is not None
    assert (broken / "notebook.ipynb").exists()  # to look at
    with pytest.raises(BadInput, match="no finished run of a; first: lke run"):
        book.gather(plan(project), project / "runs")
    edit(project, "1 / 0", 'print("n is", n)')
    assert grid.execute(plan(project), project / "runs") == []
    assert [p.stem for p in book.gather(plan(project), project / "runs")] == ["a", "b"]


@pytest.mark.parametrize("damage", ["truncated", "missing", "manifest"])
def test_a_damaged_run_is_made_again(project, damage):
    _, folder, _ = run(project)
    name = "manifest.json" if damage == "manifest" else "scores.parquet"
    if damage == "missing":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes((folder / name).read_bytes()[:-20])
    assert runs.manifest(folder) is None
    assert run(project)[2] is not None


def test_a_killed_driver_leaves_nothing_that_counts(project):
    edit(project, 'print("n is", n)', 'open("started", "w").close()\nimport time\ntime.sleep(n)')
    write_params(project, {"n": 600})
    code = (
        "from lkecore import grid; from pathlib import Path;"
        "grid.execute(grid.read_plan('params/p.yaml'), Path('runs'))"
    )
    driver = subprocess.Popen([sys.executable, "-c", code], cwd=project)
    while not (project / "started").exists():
        assert driver.poll() is None
        time.sleep(0.1)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    folder = runs.run_folder(project / "runs", plan(project).jobs[0])
    assert folder.exists() and runs.manifest(folder) is None


def test_the_page_has_the_prose_of_the_source_and_the_outputs_of_the_run(project):
    run(project)
    edit(project, "# Prose.", "# Better prose.")
    [page] = book.gather(plan(project), project / "runs")
    cells = nbformat.read(page, as_version=4).cells
    assert "Better prose." in cells[0].source
    assert "Made by the profile trial" in cells[1].source
    [defaults] = [c for c in cells if "parameters" in c.metadata.get("tags", [])]
    assert "remove-input" in defaults.metadata.tags
    [taken] = [c for c in cells if "injected-parameters" in c.metadata.get("tags", [])]
    assert "n = 3" in taken.source
    assert any("n is 3" in str(c.get("outputs")) for c in cells)
    assert "{download}`figure.csv <a/figure.csv>`" in cells[-1].source
    assert (project / "book" / "notebooks" / "a" / "figure.csv").exists()
    assert str(project) not in page.read_text()


def test_keep_writes_nothing_outside_of_a_run_and_refuses_other_formats(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LKE_RUN", raising=False)
    runs.keep(pd.DataFrame({"a": [1]}), "a.csv")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="a.pkl"):
        runs.keep(pd.DataFrame(), "a.pkl")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"wort": 1}, "parameter 'wort' is unknown; nearest: word"),
        ({"n": "3"}, "parameter 'n' must be int, found '3'"),
        ({"n": True}, "parameter 'n' must be int, found True"),
        ({"n": 1.0}, "parameter 'n' must be int, found 1.0"),
        ({"share": "x"}, "parameter 'share' must be float, found 'x'"),
        ({"names": "x"}, r"parameter 'names' must be list\[str\], found 'x'"),
        ({"names": [1]}, r"parameter 'names' must be list\[str\], found \[1\]"),
        ({"flag": 0}, "parameter 'flag' must be bool, found 0"),
        ({"names": ["x", "x"]}, "parameter 'names' names something twice"),
    ],
)
def test_a_parameter_that_the_notebook_lacks_or_of_another_type_is_refused(
    project, parameters, message
):
    write_params(project, parameters)
    with pytest.raises(BadInput, match=message):
        plan(project)


def test_a_whole_number_is_a_float_too(project):
    write_params(project, {"share": 1})
    assert plan(project).jobs[0].effective["share"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("profile: x\nruns: []", "runs is empty"),
        ("profile: x", "expected the keys profile and runs"),
        ("profile: x\nruns: [{notebook: aa}]", "unknown notebook 'aa'; nearest: a"),
        ("profile: x\nruns: [{notebook: [a]}]", r"unknown notebook \['a'\]"),
        ("profile: x\nruns: [{notebook: a}, {notebook: a}]", "'a' is named twice"),
        ("profile: x\nruns: [{notebook: a, parameter: {}}]", "a run has a notebook and parameters"),
        ("profile: [\nruns", "not YAML"),
    ],
)
def test_a_params_file_of_another_form_is_refused(project, content, message):
    (project / "params" / "p.yaml").write_text(content)
    with pytest.raises(BadInput, match=message):
        plan(project)


def test_models_and_facts_that_parameters_name_are_checked_before_anything_runs(project):
    edit(project, 'word: str = "a"', 'model: str = "toy"\nfact_set: str = "atlas"')
    write_params(project, {"model": "smollm3"})
    with pytest.raises(BadInput, match="unknown model 'smollm3'.*nearest: smollm2"):
        plan(project)
    write_params(project, {"fact_set": "nowhere"})
    with pytest.raises(BadInput, match="unknown fact set 'nowhere'"):
        plan(project)


def test_relations_that_parameters_name_are_checked_before_anything_runs(project):
    declared = 'relation: str = "capital"\nrelations: list[str] = []\nfact_set: str = "atlas"'
    edit(project, 'word: str = "a"', declared)
    for given in ({"relation": "capitol"}, {"relations": ["currency", "capitol"]}):
        write_params(project, given)
        with pytest.raises(BadInput, match="unknown relation 'capitol' in atlas; nearest: capital"):
            plan(project)


def test_parameters_must_be_annotated_literals_in_one_cell(project):
    edit(project, "n: int = 1", "n = 1")
    with pytest.raises(BadInput, match="name: type = literal"):
        plan(project)


def test_a_run_from_another_code_is_not_shown(project):
    _, folder, manifest = run(project)
    executed = nbformat.read(folder / "notebook.ipynb", as_version=4)
    edit(project, 'print("n is", n)', 'print("other", n)')
    source = runs.read_notebook(project / "notebooks" / "a.py")
    with pytest.raises(BadInput, match="other code"):
        book.compose(source, executed, "trial", manifest, [])


def test_the_manifest_is_valid_json_with_plain_values(project):
    _, folder, manifest = run(project)
    assert json.loads((folder / "manifest.json").read_text()) == manifest


@pytest.mark.parametrize(
    ("declared", "given", "message"),
    [
        ("n_facts: int = 3", {"n_facts": 0}, "'n_facts' must be 1 or more, found 0"),
        ("n_shots: int = 3", {"n_shots": -1}, "'n_shots' must be 0 or more, found -1"),
        ("seed: int = 0", {"seed": -1}, "'seed' must be 0 or more, found -1"),
        ('dtype: str = "float32"', {"dtype": "float99"}, "'dtype' must be one of float32"),
        ('models: list[str] = ["toy"]', {"models": []}, "'models' must not be empty"),
        ('fact_set: str = "atlas"', {"fact_set": ""}, "'fact_set' must not be empty"),
    ],
)
def test_values_that_make_no_sense_are_refused_before_anything_runs(
    project, declared, given, message
):
    edit(project, 'word: str = "a"', declared)
    write_params(project, given)
    with pytest.raises(BadInput, match=message):
        plan(project)


def test_a_params_file_must_lie_beside_the_notebooks_and_be_a_file(project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "p.yaml"
    elsewhere.write_text((project / "params" / "p.yaml").read_text())
    with pytest.raises(BadInput, match="must lie in a folder beside notebooks/"):
        grid.read_plan(elsewhere)
    with pytest.raises(BadInput, match="cannot be read"):
        grid.read_plan(project / "params")
    with pytest.raises(BadInput, match="cannot be read"):
        grid.read_plan(project / "params" / "q.yaml")


def test_two_drivers_at_once_make_one_run(project):
    edit(project, 'print("n is", n)', 'open("done", "a").write("once\\n")')
    code = (
        "from lkecore import grid; from pathlib import Path;"
        "grid.execute(grid.read_plan('params/p.yaml'), Path('runs'))"
    )
    drivers = [subprocess.Popen([sys.executable, "-c", code], cwd=project) for _ in range(2)]
    assert [driver.wait() for driver in drivers] == [0, 0]
    assert (project / "done").read_text() == "once\n"
    assert run(project)[2] is not None
