"""The tool that chooses how facts are taught: its rule by hand."""

import helpers
import pandas as pd


def test_of_the_rates_that_teach_enough_the_one_that_moves_the_rest_least_is_taken():
    table = pd.DataFrame(
        [
            ("sgd", 0.1, 1, 1.0, 0.5),
            ("sgd", 0.01, 5, 0.96, 0.3),
            ("sgd", 0.001, 20, 0.94, 0.1),  # moves less, and teaches too little
            ("adamw", 0.1, 2, 0.95, 0.7),
        ],
        columns=["optimizer", "rate", "steps", "first", "beside"],
    )
    rows = helpers.tool("recipe").chosen(table).set_index("optimizer")
    assert rows["rate"].to_dict() == {"sgd": 0.01, "adamw": 0.1}
