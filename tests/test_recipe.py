"""The tool that chooses how facts are taught: its rule by hand, and a run of it on a model that is random."""

import helpers
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def tool():
    return helpers.tool("recipe")


def test_of_the_rates_that_teach_enough_the_one_that_moves_the_rest_least_is_taken(tool):
    table = pd.DataFrame(
        [
            ("sgd", 0.1, 1, 1.0, 0.5),
            ("sgd", 0.01, 5, 0.96, 0.3),
            ("sgd", 0.001, 20, 0.94, 0.1),  # moves less, and teaches too little
            ("adamw", 0.1, 2, 0.95, 0.7),
        ],
        columns=["optimizer", "rate", "steps", "first", "beside"],
    )
    rows = tool.chosen(table).set_index("optimizer")
    assert rows["rate"].to_dict() == {"sgd": 0.01, "adamw": 0.1}


def test_a_rate_is_tried_by_steps_until_it_teaches_enough(tool, monkeypatch):
    monkeypatch.setattr(tool, "RATES", {"sgd": (1e-6,), "adamw": (3e-3,)})
    monkeypatch.setattr(tool, "STEPS", (1, 5))
    relations = ["city_of_airport", "country_code", "element_symbol", "film_year"]
    table = tool.tried("toy", relations, 1)
    of = {name: rows for name, rows in table.groupby("optimizer")}
    assert of["sgd"]["steps"].tolist() == [1, 5]  # too slow to teach anything: both are tried
    assert (of["sgd"]["first"] == 0).all() and of["sgd"]["beside"].max() < 1e-4
    last = of["adamw"].iloc[-1]
    assert last["first"] == 1 and last["beside"] > of["sgd"]["beside"].max()
    assert of["adamw"]["first"].iloc[:-1].lt(tool.ENOUGH).all()
