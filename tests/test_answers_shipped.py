"""Shipped answers beside a run's own: from results of a folder made by hand."""

import helpers
import pandas as pd
import pytest

from lkecore import answers

LAB = "50_lab_truth"
ROW = ["model", "estimator", "world", "relation", "fact", "correct"]


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Put results into a folder that is read in the place of the project's."""
    monkeypatch.setitem(answers.results.__globals__, "FOLDER", tmp_path)

    def put(profile, notebook, rows, columns, **parameters):
        frame = pd.DataFrame(rows, columns=columns)
        models = dict.fromkeys(parameters.pop("models", []), "d")
        helpers.ship(tmp_path, profile, notebook, frame, models=models, parameters=parameters)

    return put
