"""Packing: a frame of answers as a small Parquet file, and the frame that such a file holds.

Results are part of every clone, so a file says nothing twice. What other columns give is left out, and each
column is written in the way that takes the fewest bytes. The metadata of a file say what was left out; the
types of its columns say the rest. What is read is what was packed, but for digits that nobody keeps.
"""

import io
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

# Log-probabilities ship as whole numbers of 1e-4 nats, which take two thirds of the room.
DIGITS = 1e4
# A column, and one that often says the same of an answer.
SAME = {
    "confidence": "confidence_gold",  # of a right answer
    "confidence_told": "confidence_gold",  # of a fact that was told as it is
    "confidence_1": "confidence_gold",  # where the object that was told most is the true one
    "confidence_cue": "confidence_gold",  # where the cue leads to the true one
    "told": "object",
}
GOLD = "logprob_gold"
LEFT_OUT = "left_out"  # the name of the metadata
DICTIONARY = "DICTIONARY"
# The ways to write a column that are tried, by what is in it; a dictionary is another.
OF_WORDS = "PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"
OF_NUMBERS = "PLAIN", "BYTE_STREAM_SPLIT"
# Rows of a page, and bytes: a column is packed as a whole, since it repeats itself from afar.
MOST = 2**26


def packed(frame: pd.DataFrame) -> bytes:
    """A frame as a small Parquet file.

    Log-probabilities keep four decimals, as whole numbers (``DIGITS``), all other numbers that are not whole
    four significant digits. Digests of questions are bytes. Left out is a probability that its logprob
    gives, and what other columns give (``SAME``, and the order of the likeliest options). The file
    says the types of its columns alone: what pandas and Arrow would add to say them again takes a fifteenth
    of all results.
    """
    if {"logprob", "probability"} <= set(frame):
        gap = np.exp(frame["logprob"]) - frame["probability"]
        if gap.abs().max() < 1 / DIGITS:
            frame = frame.drop(columns="probability")
    columns = {name: _column(name, frame[name]) for name in frame}
    left_out = {"same": _leave_same(columns), "ranked": _leave_order(columns)}
    ways = {name: _smallest(name, column) for name, column in columns.items()}
    return _written(pa.table(columns), ways, {key: how for key, how in left_out.items() if how})


def unpacked(table: pa.Table) -> pd.DataFrame:
    """What a file of :func:`packed` has, in the units of the project: log-probabilities in nats."""
    columns = dict(zip(table.column_names, table.columns, strict=True))
    left_out = json.loads((table.schema.metadata or {}).get(LEFT_OUT.encode(), b"{}"))
    for name, other in left_out.get("same", {}).items():
        columns[name] = pc.coalesce(columns[name], columns[other])
    if names := left_out.get("ranked"):
        steps = np.array([_floats(columns[name]) for name in names])
        best, gold = _in_order(steps, _floats(columns[GOLD]))
        columns |= {name: _whole(its) for name, its in zip(names, best, strict=True)}
        columns[GOLD] = _whole(gold)
    for name, column in columns.items():
        if pa.types.is_fixed_size_binary(column.type):
            digits = [each.hex() for each in column.to_pylist()]
            columns[name] = pa.array(digits, type=pa.string())
        elif pa.types.is_int32(column.type):
            numbers = column.cast(pa.float64())
            columns[name] = pc.divide(numbers, DIGITS) if name.startswith("logprob") else numbers
        elif pa.types.is_float32(column.type):  # means of these would be of few digits
            columns[name] = column.cast(pa.float64())
    frame = pa.table(columns).to_pandas()
    if "logprob" in frame and "probability" not in frame:
        frame["probability"] = np.exp(frame["logprob"])
    return frame


def _column(name: str, values: pd.Series) -> pa.Array:
    """A column in the type that holds it in the fewest bytes: whole numbers in 32 bits were floats."""
    if not pd.api.types.is_numeric_dtype(values):
        return _words(values)
    if not pd.api.types.is_float_dtype(values):
        return pa.array(values)
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    if name.startswith("logprob") and not np.isinf(numbers).any():
        return _whole(np.round(numbers * DIGITS))
    there = numbers[~np.isnan(numbers)]
    # Of an id of a token every digit counts.
    if ((there == np.round(there)) & (np.abs(there) < 2**31)).all():
        return _whole(numbers)
    return pa.array(_four_digits(numbers).astype(np.float32), from_pandas=True)


def _words(values: pd.Series) -> pa.Array:
    words = pa.array(values.astype(object), from_pandas=True)
    if pa.types.is_null(words.type):
        return words.cast(pa.string())
    is_text = pa.types.is_string(words.type)
    if is_text and values.str.fullmatch("[0-9a-f]{12}").eq(True).all():  # digests
        return pa.array(map(bytes.fromhex, values), type=pa.binary(6))
    return words


def _whole(numbers: NDArray[np.float64]) -> pa.Array:
    """Whole numbers as such, with gaps where they are missing."""
    gaps = np.isnan(numbers)
    return pa.array(np.where(gaps, 0, numbers).astype(np.int32), mask=gaps)


def _floats(column: pa.Array | pa.ChunkedArray) -> NDArray[np.float64]:
    return column.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _four_digits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values with 14 binary digits, which hold four decimal ones: the others are 0, and pack well."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2**14), exponent - 14)


def _leave_same(columns: dict[str, pa.Array]) -> dict[str, str]:
    """Leave out, in place, what another column says of the same row; {column: that other one}.

    A null then means the same as there, and a missing value is a NaN; other types must not miss any.
    """
    found = {}
    for name, other in SAME.items():
        if not {name, other} <= set(columns) or columns[name].type != columns[other].type:
            continue
        its = columns[name]
        if pa.types.is_floating(its.type):
            its = its.fill_null(np.nan)
        same = pc.equal(its, columns[other]).fill_null(False)
        if not its.null_count and pc.any(same).as_py():
            columns[name] = pc.if_else(same, pa.scalar(None, its.type), its)
            found[name] = other
    return found


def _leave_order(columns: dict[str, pa.Array]) -> list[str]:
    """Write, in place, each log-probability of the likeliest options as how far it lies below the one before.

    ``logprob_gold`` becomes the place of the gold option among them, from 0; where it is not among them, how
    far it lies below the last, and with five of them 4 more. Returns their names, the likeliest first; none
    if a frame has no such columns, or columns of these names that this does not fit.
    """
    names = [name for name in columns if re.fullmatch(r"logprob_\d+", name)]
    every = [columns[name] for name in [*names, GOLD] if name in columns]
    fits = GOLD in columns and len(every) > 2
    if not fits or not all(pa.types.is_int32(column.type) for column in every):
        return []
    best, gold = np.array([_floats(columns[name]) for name in names]), _floats(columns[GOLD])
    is_gold = best == gold
    below = np.fmin.reduce(best) - gold + len(names) - 1
    place = np.where(is_gold.any(axis=0), is_gold.argmax(axis=0), below)
    steps = np.vstack([best[:1], best[:-1] - best[1:]])
    again = zip(_in_order(steps, place), (best, gold), strict=True)
    if not all(np.array_equal(a, b, equal_nan=True) for a, b in again):
        return []
    columns |= {name: _whole(step) for name, step in zip(names, steps, strict=True)}
    columns[GOLD] = _whole(place)
    return names


def _in_order(
    steps: NDArray[np.float64], place: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(those of the likeliest options, that of the gold one): what :func:`_leave_order` started from."""
    best = np.subtract.accumulate(steps)
    is_among = (place >= 0) & (place < len(best))
    among = best[np.where(is_among, place, 0).astype(int), np.arange(len(place))]
    return best, np.where(is_among, among, np.fmin.reduce(best) - place + len(best) - 1)


def _smallest(name: str, column: pa.Array) -> str:
    """The way to write a column that takes the fewest bytes."""
    if pa.types.is_boolean(column.type):
        return "PLAIN"
    ways = OF_WORDS if pa.types.is_string(column.type) else OF_NUMBERS
    table = pa.table({name: column})
    return min((DICTIONARY, *ways), key=lambda way: len(_written(table, {name: way}, {})))


def _written(table: pa.Table, ways: Mapping[str, str], left_out: Mapping[str, Any]) -> bytes:
    """A table as Parquet, each column written in its way."""
    out = io.BytesIO()
    with pq.ParquetWriter(
        out,
        table.schema,
        compression="brotli",  # a twentieth less than zstd, and read as fast
        compression_level=11,
        use_dictionary=[name for name, way in ways.items() if way == DICTIONARY],
        column_encoding={name: way for name, way in ways.items() if way != DICTIONARY},
        max_rows_per_page=MOST,
        data_page_size=MOST,
        dictionary_pagesize_limit=MOST,
        store_schema=False,
        write_statistics=False,
    ) as writer:
        writer.write_table(table, row_group_size=MOST)
        if left_out:
            writer.add_key_value_metadata({LEFT_OUT: json.dumps(left_out)})
    return out.getvalue()
