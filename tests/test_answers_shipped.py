"""Results are plain files: what pandas reads is what a page gets, and digits are cut where it is said."""

import helpers
import numpy as np
import pandas as pd
import pytest

from lkecore import answers
from lkecore.answers.shipped import FOLDER, rounded
from lkecore.errors import BadInput


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.parquet"))[::30], ids=lambda path: path.stem)
def test_what_ships_is_read_as_pandas_reads_it(path):
    pd.testing.assert_frame_equal(answers.results(path.stem), pd.read_parquet(path))


def test_numbers_keep_four_digits_log_probabilities_four_decimals_and_whole_ones_all():
    rng = np.random.default_rng(0)
    values = np.exp(rng.uniform(-60, 20, 2000)) * rng.choice([-1, 1], 2000)
    special = [0.0, np.nan, np.inf, -np.inf, 236743.0, 2.0**31]
    frame = pd.DataFrame({"share": [*values, *special], "n": 7, "word": "x"})
    frame["logprob_gold"] = rng.uniform(-500, 0, len(frame))
    found = rounded(frame)
    assert np.nanmax(np.abs(found["share"][:2000] / values - 1)) <= 2**-14
    assert np.array_equal(found["share"][2000:], special, equal_nan=True)
    assert (found["logprob_gold"] - frame["logprob_gold"]).abs().max() <= 2**-15
    assert (found["share"] != frame["share"]).sum() > 1900 and frame["share"].iloc[0] == values[0]
    pd.testing.assert_frame_equal(rounded(found), found, check_exact=True)
    pd.testing.assert_frame_equal(found[["n", "word"]], frame[["n", "word"]])


def test_a_source_has_its_own_columns_and_the_whole_file_all(tmp_path):
    mine = pd.DataFrame({"fact": ["f", "g"], "n": [3, 4], "right": [True, False], "share": np.nan})
    helpers.ship(tmp_path, "a", "e", mine, models={"m": "1"})
    helpers.ship(tmp_path, "b", "e", pd.DataFrame({"fact": [1], "share": [0.5], "word": ["x"]}))
    found = answers.results("e", tmp_path)
    assert found["source"].tolist() == ["a", "a", "b"] and found["fact"].tolist() == ["f", "g", "1"]
    assert found["n"].tolist()[:2] == [3, 4] and found.loc[2, ["n", "right"]].isna().all()
    own, _ = helpers.shipped("a", "e", tmp_path)
    pd.testing.assert_frame_equal(own, mine.drop(columns="share"), check_like=True)


def test_a_column_that_no_source_has_is_kept_and_a_missing_kind_or_name_is_one_line(tmp_path):
    helpers.ship(tmp_path, "a", "e", pd.DataFrame({"fact": ["f"], "none": [np.nan]}))
    assert list(helpers.shipped("a", "e", tmp_path)[0]) == ["fact", "none"]
    for name, said in (
        ("e-cues", "no results .*e-cues.parquet; they"),
        ("../e", "name '../e' must"),
    ):
        with pytest.raises(BadInput, match=said):
            answers.results(name, tmp_path)
