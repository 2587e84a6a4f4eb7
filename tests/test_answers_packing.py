"""Packed frames are read as they were, and their files hold what other software is told that they hold.

The oracles are frames made by hand, and plain Python over the rows of a file.
"""

import io
import json
import math

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

from lkecore.answers import packing, shipped

FILES = sorted(shipped.FOLDER.glob("*/*.parquet"))


def table_of(frame):
    return pyarrow.parquet.read_table(io.BytesIO(packing.packed(frame)))


def there_and_back(frame):
    """(a frame as its file has it, column by column; as it is read)."""
    table = table_of(frame)
    return table.to_pydict(), packing.unpacked(table)


def test_every_kind_of_column_is_read_as_it_was_packed():
    frame = pd.DataFrame(
        {
            "fact": ["a-1", "a-1", "b-2"],
            "text": ["", None, "ä\n"],
            "kind": pd.Series(["x", "y", "x"], dtype="category"),
            "question": ["0123456789ab", "ffffffffffff", "0123456789ab"],
            "correct": [True, False, True],
            "n_options": [7, -8, 2**40],
            "rank": [1.0, np.nan, 300.0],
            "token_1": [236743.0, 49151.0, 16385.0],
            "none": [np.nan] * 3,
            "share": [0.25, np.nan, -1e-30],
            "endless": [0.0, np.inf, -np.inf],
            "large": [1.0, 2.0**31, 4.0],
        }
    )
    kept, found = there_and_back(frame)
    wanted = frame.astype({"kind": "str"}).assign(share=[0.25, np.nan, found["share"][2]])
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    assert found["share"][2] == pytest.approx(-1e-30, rel=2**-14)
    assert kept["question"] == [bytes.fromhex(text) for text in frame["question"]]
    assert kept["rank"] == [1, None, 300] and isinstance(kept["rank"][0], int)
    assert list(found["n_options"]) == [7, -8, 2**40] and kept["none"] == [None] * 3
    pd.testing.assert_frame_equal(there_and_back(found)[1], found, check_exact=True)
    empty = frame[:0].astype({"kind": "str"})
    assert list(there_and_back(empty)[1]) == list(frame) and len(there_and_back(empty)[1]) == 0


def test_a_number_keeps_four_digits_and_what_kept_them_keeps_all():
    rng = np.random.default_rng(0)
    values = np.exp(rng.uniform(-60, 60, 2000)) * rng.choice([-1, 1], 2000)
    found = there_and_back(pd.DataFrame({"share": values}))[1]["share"].to_numpy()
    assert (np.abs(found / values - 1) <= 2**-14).all() and (found != values).any()
    assert np.array_equal(there_and_back(pd.DataFrame({"share": found}))[1]["share"], found)


def test_a_confidence_is_left_out_where_it_is_the_gold_one_and_a_missing_one_stays_missing():
    gold = [0.5, 0.25, 0.75, 0.125]
    frame = pd.DataFrame(
        {"confidence": [0.5, 0.375, 0.75, 0.625], "confidence_gold": gold, "confidence_1": gold}
    )
    frame.loc[[0, 2], "confidence_1"] = np.nan
    kept, found = there_and_back(frame)
    assert kept["confidence"] == [None, 0.375, None, 0.625]
    assert [value is None for value in kept["confidence_1"]] == [False, True, False, True]
    pd.testing.assert_frame_equal(found, frame, check_exact=True)
    apart = frame.assign(confidence=0.5, confidence_gold=0.625, confidence_1=np.nan)
    kept, found = there_and_back(apart)
    assert kept["confidence"] == [0.5] * 4 and kept["confidence_1"] == [None] * 4
    pd.testing.assert_frame_equal(found, apart, check_exact=True)


def test_what_was_told_and_the_confidence_in_it_are_left_out_where_they_are_the_gold_ones():
    frame = pd.DataFrame(
        {
            "object": ["a", "a", "b", "c"],
            "told": ["a", "b", "", "c"],  # as it is, wrongly, never, as it is
            "confidence_gold": [0.5, 0.25, 0.75, 0.125],
            "confidence_told": [0.5, 0.0625, np.nan, 0.125],
        }
    )
    kept, found = there_and_back(frame)
    assert kept["confidence_told"] == [None, 0.0625, pytest.approx(np.nan, nan_ok=True), None]
    assert kept["told"] == [None, "b", "", None]
    pd.testing.assert_frame_equal(found, frame, check_exact=True)
    other = frame.assign(confidence_told=[0.5, 0.0625, np.nan, np.nan])  # told, and yet missing
    pd.testing.assert_frame_equal(there_and_back(other)[1], other, check_exact=True)
    gap = frame.assign(told=["a", "b", None, "c"])  # null means something else then
    kept, found = there_and_back(gap)
    assert kept["told"] == ["a", "b", None, "c"]
    pd.testing.assert_frame_equal(found, gap, check_exact=True)


def best(*rows):
    """Log-probabilities: that of the gold option, and those of the three likeliest."""
    return pd.DataFrame(rows, columns=["logprob_gold", *(f"logprob_{i}" for i in (1, 2, 3))])


def test_the_likeliest_options_are_written_by_steps_and_the_gold_one_by_its_place():
    frame = best(
        (-1.5, -1.5, -2.0, -2.25),  # the first
        (-2.25, -1.5, -2.0, -2.25),  # the last of those that are kept
        (-2.0, -2.0, -2.0, -3.0),  # a tie
        (-3.0001, -0.5, -2.0, -3.0),  # just not among them
        (-9.0, 0.0, -2.0, -3.0),
        (-2.0, -1.0, -2.0, np.nan),  # there are two options
        (np.nan, -1.0, np.nan, np.nan),
    )
    kept, found = there_and_back(frame)
    assert kept["logprob_1"] == [-15000, -15000, -20000, -5000, 0, -10000, -10000]
    assert kept["logprob_2"] == [5000, 5000, 0, 15000, 20000, 10000, None]
    assert kept["logprob_3"] == [2500, 2500, 10000, 10000, 10000, None, None]
    assert kept["logprob_gold"] == [0, 2, 0, 3, 60002, 1, None]
    pd.testing.assert_frame_equal(found, frame, check_exact=True)


@pytest.mark.parametrize(
    "row",
    [
        (-2.9999, -1.0, -2.0, -3.0),  # likelier than one that is kept, and not kept
        (-1.0, np.nan, np.nan, np.nan),  # below nothing
        (-1.0, -1.0, np.nan, -3.0),  # a step that nobody knows
        (-1.0, -1.0, -np.inf, -np.inf),
    ],
)
def test_columns_of_these_names_that_are_something_else_are_kept_as_they_are(row):
    frame = best((-1.0, -1.0, -2.0, -3.0), row)
    kept, found = there_and_back(frame)
    assert kept["logprob_1"][0] in (-10000, -1.0) and kept["logprob_gold"][0] in (-10000, -1.0)
    pd.testing.assert_frame_equal(found, frame, check_exact=True)


def test_likeliest_tokens_without_a_gold_option_are_kept_as_they_are():
    frame = best((-1.0, -1.0, -2.0, -3.0)).drop(columns="logprob_gold")
    kept, found = there_and_back(frame)
    assert [kept[f"logprob_{i}"] for i in (1, 2, 3)] == [[-10000], [-20000], [-30000]]
    pd.testing.assert_frame_equal(found, frame, check_exact=True)


def test_log_probabilities_ship_as_whole_numbers_and_are_read_as_nats(tmp_path):
    values = [-3.16517, -0.00004, -512.25, np.nan, 0.0]
    frame = pd.DataFrame(
        {"fact": list("abcde"), "logprob_gold": values, "logprob_1": [-1.5] * 5, "share": 0.25}
    )
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "n.parquet").write_bytes(packing.packed(frame))
    (folder / "n.json").write_text(json.dumps(dict.fromkeys(shipped.ABOUT, "x") | {"worlds": {}}))
    kept = pyarrow.parquet.read_schema(folder / "n.parquet")
    assert [str(kept.field(name).type) for name in ("logprob_gold", "logprob_1", "share")] == [
        "int32",
        "int32",
        "float",
    ]
    endless = packing.packed(pd.DataFrame({"logprob_1": [-1.5, -np.inf]}))
    assert pd.read_parquet(io.BytesIO(endless))["logprob_1"].tolist() == [-1.5, -np.inf]
    found, _ = shipped.read("p", "n", tmp_path)
    assert found["logprob_gold"].tolist()[:3] == [-3.1652, -0.0, -512.25]
    assert np.isnan(found["logprob_gold"][3]) and found["logprob_gold"][4] == 0
    assert found["logprob_1"].tolist() == [-1.5] * 5 and found["share"].tolist() == [0.25] * 5


def test_a_probability_ships_only_where_its_logprob_does_not_give_it():
    logprob = np.array([-0.1, -2.5, -30.0, 0.0])
    given = [0.904837, 0.082085, 9.3576e-14, 1.0]  # by a table of exponentials
    frame = pd.DataFrame({"tokens": range(4), "logprob": logprob, "probability": given})
    kept, found = there_and_back(frame)
    assert list(kept) == ["tokens", "logprob"] and list(found) == list(frame)
    assert found["probability"].tolist() == pytest.approx(given, rel=1e-4)
    kept, found = there_and_back(frame.assign(probability=[0.9, 0.1, 0.5, 1.0]))
    assert list(kept) == list(frame)
    assert found["probability"].tolist() == pytest.approx([0.9, 0.1, 0.5, 1.0], rel=1e-4)


def test_steps_of_the_likeliest_may_rise_and_the_gold_one_be_likelier_all_the_same():
    frame = best((-3.0, -2.0, -1.0, -3.0), (-7.0, -2.0, -1.0, -3.0), (-2.5, -1.0, -2.0, -3.0))
    pd.testing.assert_frame_equal(there_and_back(frame)[1], frame, check_exact=True)


def test_what_repeats_itself_from_afar_takes_no_room():
    """Two hundred thousand rows of the same thousand random numbers: more than a page has by itself."""
    once = pd.DataFrame({"share": np.random.default_rng(1).random(1000)})
    often = pd.concat([once] * 200, ignore_index=True)
    assert len(packing.packed(often)) < 1.2 * len(packing.packed(once))
    pd.testing.assert_frame_equal(
        there_and_back(often)[1][-1000:].reset_index(drop=True), there_and_back(once)[1]
    )


def by_hand(path):
    """The columns of a file as lists, by what `results/README.md` says, one number after the other."""
    table = pyarrow.parquet.read_table(path)
    left_out = json.loads((table.schema.metadata or {}).get(b"left_out", b"{}"))
    columns = table.to_pydict()
    for name, other in left_out.get("same", {}).items():
        pairs = zip(columns[name], columns[other], strict=True)
        columns[name] = [there if own is None else own for own, there in pairs]
    if names := left_out.get("ranked", []):
        for before, name in zip(names, names[1:], strict=False):
            pairs = zip(columns[before], columns[name], strict=True)
            columns[name] = [None if step is None else above - step for above, step in pairs]
        golds, n = [], len(names)
        for place, *row in zip(columns["logprob_gold"], *map(columns.get, names), strict=True):
            last = [logprob for logprob in row if logprob is not None][-1]
            golds.append(row[place] if place < n else last - (place - n + 1))
        columns["logprob_gold"] = golds
    for field in table.schema:
        name, kind, values = field.name, str(field.type), columns[field.name]
        if kind.startswith("fixed_size_binary"):
            columns[name] = [each.hex() for each in values]
        elif kind in ("int32", "float"):
            unit = 1e4 if kind == "int32" and name.startswith("logprob") else 1
            columns[name] = [math.nan if each is None else each / unit for each in values]
    if "logprob" in columns and "probability" not in columns:
        columns["probability"] = [math.exp(each) for each in columns["logprob"]]
    return columns


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_ships_is_read_as_the_folder_says(path):
    name, _, apart = path.stem.partition("-")
    found, _ = shipped.read(path.parent.name, name, apart=apart)
    wanted = by_hand(path)
    assert list(found) == list(wanted)
    for column, values in wanted.items():
        if column == "probability":
            assert found[column].to_numpy() == pytest.approx(np.array(values), rel=1e-12)
        elif isinstance(values[0], float):
            assert np.array_equal(found[column], values, equal_nan=True), column
        else:
            assert found[column].tolist() == values, column


def of_all_kinds():
    """Files that have among them each column in each type, and all that is left out in some file."""
    found, seen = [], set()
    for path in FILES:
        schema = pyarrow.parquet.read_schema(path)
        has = {(field.name, str(field.type)) for field in schema} | {str(schema.metadata)}
        if has - seen:
            found.append(path)
        seen |= has
    return found


@pytest.mark.parametrize("path", of_all_kinds(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_is_read_can_be_packed_again(path):
    name, _, apart = path.stem.partition("-")
    some = shipped.read(path.parent.name, name, apart=apart)[0][:200]  # packing takes a while
    pd.testing.assert_frame_equal(there_and_back(some)[1], some, check_exact=True)
