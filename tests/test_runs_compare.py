"""What finished runs found beside what ships: rows that agree, that differ, and that nobody shipped."""

import pandas as pd
import pytest
from click.testing import CliRunner
from projects import plan
from test_runs_shipping import make_runs, new_project

from lkecore.cli.main import lke
from lkecore.runs import shipping
from lkecore.runs.compare import compare

FILE = "trial_notebook.parquet"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Three runs that found a row each, for the models b, a and c; the tests only read it."""
    project = new_project(tmp_path_factory.mktemp("project"))
    make_runs(project, "answers.parquet")
    return project


@pytest.fixture
def results(project, tmp_path):
    """What ships of them, in a folder of the test's own."""
    shipping.ship_results(plan(project), project / "runs", tmp_path)
    return tmp_path


def counts(project, results):
    [row] = compare(plan(project), project / "runs", results).to_dict("records")
    return row


def change(results, **columns):
    path = results / FILE
    pd.read_parquet(path).assign(**columns).to_parquet(path)


@pytest.mark.parametrize(
    ("columns", "differ", "largest"),
    [
        ({"confidence_gold": [0.1235, 0.1235, 0.2235]}, 1, 0.1),
        ({"confidence_gold": [0.1235, 0.1245, 0.1235]}, 0, 0.001),  # of which four digits ship
        ({"confidence_gold": [0.1235, None, 0.1235]}, 1, 0),  # missing there, and here a number
    ],
)
def test_rows_that_say_something_else_are_counted_once(project, results, columns, differ, largest):
    change(results, **columns)
    found = counts(project, results)
    assert (found["differ"], found["not_there"]) == (differ, 0)
    assert found["largest"] == pytest.approx(largest, abs=2e-4)


def test_rows_are_paired_by_what_was_asked_not_by_their_order(project, results):
    path = results / FILE
    change(results, confidence_gold=[0.1235, 0.1235, 0.9])  # of model c
    pd.read_parquet(path).iloc[[2, 0]].to_parquet(path)  # and of model a none ships
    found = counts(project, results)
    assert (found["rows"], found["not_there"], found["differ"]) == (3, 1, 1)


def test_a_row_that_is_there_twice_meets_each_of_its_like_once(project, results, monkeypatch):
    found = shipping.found

    def twice(*given):
        frame = pd.DataFrame({"model": ["a", "a", "a"], "confidence_gold": [0.1, 0.2, 0.3]})
        return {"trial_notebook": frame}, found(*given)[1]

    monkeypatch.setattr(shipping, "found", twice)
    there = pd.DataFrame({"source": "trial", "model": ["a", "a"], "confidence_gold": [0.1, 0.4]})
    there.to_parquet(results / FILE)
    row = counts(project, results)
    assert (row["rows"], row["not_there"], row["differ"]) == (3, 1, 1)


def test_the_command_says_what_differs_and_fails_then(project, results, monkeypatch):
    (project / "results").symlink_to(results)
    command = ["results", str(project / "params" / "p.yaml"), "--compare"]
    done = CliRunner().invoke(lke, command)
    assert done.exit_code == 0
    assert done.output == f"{FILE}: 0 of 3 rows differ, the largest difference is 0\n"
    change(results, confidence_gold=[0.1235, 0.1235, 0.2235])
    done = CliRunner().invoke(lke, command)
    assert done.exit_code == 1
    assert done.output == f"{FILE}: 1 of 3 rows differ, the largest difference is 0.1\n"
    change(results, model=["x", "y", "z"])
    done = CliRunner().invoke(lke, command)
    assert done.exit_code == 1 and "3 others are about what does not ship" in done.output
    made_by = pd.read_csv(results / "made_by.csv").assign(model="b", digest="1" * 64)
    made_by.to_csv(results / "made_by.csv", index=False)
    made = shipping._made
    mine = {"model": "b", "digest": "0" * 64}
    monkeypatch.setattr(shipping, "_made", lambda *given: [row | mine for row in made(*given)])
    done = CliRunner().invoke(lke, command)
    assert done.exit_code == 1
    assert f"model b is not the one whose answers ship in {project / 'results' / FILE}" in str(
        done.exception
    )
