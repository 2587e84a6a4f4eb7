"""A reader's own table, twelve facts of one relation: pages of each chapter are made of it."""

import re
import shutil

import pandas as pd
import pytest
import yaml
from own import TOP, notebook

from lkecore import runs
from lkecore.book import fork
from lkecore.runs import devices, grid, plan

# Every object is one token of the toy; the relation is one of those for which the IC-LKE paper has templates.
SUBJECTS = (
    "Avalon Brennia Cordova Drusia Elbonia Freedonia Genovia Hyrkania Illyria Jaland Kra Latveria"
)
FACTS = "subject\tobject\n" + "".join(
    f"{s}\t{o}\n" for s, o in zip(SUBJECTS.split(), "ABCDEFGHIJKL", strict=True)
)
WORDS = """relation\tgroup\ttemplate\tmanual\tquestion
P36\ta\tThe capital of [X] is [Y]\tyes\tno
P36\ta\t[X] has its capital in [Y]\tno\tno
P36\tb\tWhat is the capital of [X]? [Y]\tyes\tyes
"""
# A page of each chapter, and those that ask something of their relations; with what names something in the
# table, they keep their numbers of pairs and options.
MADE = {
    "02_report": {},
    "12_iclke_sequence": {},
    "13_iclke_estimators": {},
    "17_iclke_invented": {"n_draws": 5},
    "20_entropy_rank": {"wordings": ["hgp-1", "hgp-2"]},
    "24_entropy_written": {"n_relations": 1, "template": "hgp-1", "n_tokens": 12},
    "41_belief_contexts": {},
    "43_belief_bias": {"least_objects": 2},
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "P36.tsv").write_text(FACTS, encoding="utf-8")
    (folder / "words.tsv").write_text(WORDS, encoding="utf-8")
    return folder / "P36.tsv"


@pytest.mark.parametrize("name", MADE)
def test_a_page_is_made_of_twelve_facts_of_one_relation(name, table, tmp_path, monkeypatch):
    """In this process: a kernel a page would take longer than the pages. A recount that fails stops it."""
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    values = {"model": "toy", "models": ["toy"], "fact_set": str(table), "relation": "P36"}
    values |= {"relations": ["P36"], "wordings": str(table.with_name("words.tsv"))}
    space = {"__name__": "__main__"}
    for cell in runs.read_notebook(notebook(name)).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, name, "exec"), space)
        if "parameters" in cell.metadata.get("tags", []):
            space |= {key: value for key, value in values.items() if key in space} | MADE[name]
    assert (tmp_path / "findings.csv").is_file()


def test_the_fork_of_lesson_1_runs_as_it_is_written(tmp_path, monkeypatch):
    """A copy of page 10 with another fact_set and nothing else, but for the model."""
    text = (TOP / "book" / "teach.md").read_text("utf-8")
    name, source = re.findall(r"^\$ lke new (\S+) --from (\S+)$", text, re.M)[0]
    [rows] = re.findall(r"^```yaml\n# params/ours.yaml\n(.*?)^```", text, re.M | re.S)
    for folder in ("notebooks", "params"):
        shutil.copytree(TOP / folder, tmp_path / folder)
    (tmp_path / "book").mkdir()
    shutil.copy(TOP / "book" / "_toc.yml", tmp_path / "book")
    fork.new(tmp_path, name, source)
    given = yaml.safe_load(rows)
    [row] = given["runs"]
    assert row["notebook"] == name and [*row["parameters"]] == ["fact_set"]
    monkeypatch.chdir(tmp_path)  # where the command is called
    table = FACTS.replace("\t", ",")
    (tmp_path / row["parameters"]["fact_set"]).write_text(table, encoding="utf-8")
    row["parameters"]["models"] = ["toy"]  # no test fetches SmolLM2
    path = tmp_path / "params" / "ours.yaml"
    path.write_text(yaml.safe_dump(given), encoding="utf-8")
    outcome = grid.execute(plan.read_plan(path), tmp_path / "runs", devices.Settings(threads=1))
    assert outcome.failed == {}
    [folder] = (tmp_path / "runs").glob(f"{name}-*")
    found = pd.read_csv(folder / "over-relations.csv")
    assert set(found["over"]) == {"fact"} and set(found["n"]) == {6}  # six are shown, six asked
    page = (folder / "notebook.ipynb").read_text("utf-8")
    assert "shots in 1 of 1 relations, 6 at least; options in 1 of 1 relations, 12 at least" in page
