"""Results: answers of longer runs, a Parquet file for each experiment, and a table of what made them.

``results/<experiment>.parquet`` has the answers of all its sources; a source is the params file that asked.
Rows of another kind, such as model outputs, are in ``<experiment>-<kind>.parquet`` in the same folder.
"""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from lkecore import storage, worlds
from lkecore.errors import BadInput, first_line

FOLDER = storage.RESULTS
MADE_BY = "made_by.csv"
# Columns by which an answer can be checked: the digest of its question, and log-probabilities (nats).
CHECKS = ["question", "logprob_gold", "logprob_before", "logprob_after"]
NUMBERS = {"seconds": float, "chunks": int, "chunks_from_cache": int}
VERSIONS = ["python", "torch", "transformers", "numpy", "pandas"]
MADE_OF = [
    "experiment", "source", "model", "digest", "world", "world_digest", "command", "started", *NUMBERS,
    "device", "trained_in", "commit", "code", *VERSIONS, "parameters",
]  # fmt: skip
NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")  # no path
BITS = 14  # of a number that is not whole: four decimal digits, and zeros that compress to nothing
MOST = 2**26  # rows of a page, and bytes: large, since a column's repetitions are far apart
T = TypeVar("T")


class Missing(BadInput):
    """Results that do not exist."""


def results(name: str, folder: Path | None = None) -> pd.DataFrame:
    """The frame that ships as ``results/<name>.parquet``, just as ``pd.read_parquet`` reads it.

    A row is an answer. Its columns are of three kinds:

    - who was asked what: ``source`` (the params file), ``model``, ``estimator``, ``relation``, ``fact``,
      ``draw`` (of the shots, 0 the first), ...;
    - the result: ``correct``, ``confidence`` in [0, 1], ...;
    - values by which an answer can be checked: ``CHECKS``.

    A value is missing where its source has none, or may not publish it. Raises :class:`BadInput` where there
    is no such file, as outside of a checkout of the project, where it is broken, and for answers about a
    world of the lab that has changed since.
    """
    found = read_file(storage.read_frame, path_of(name, folder))
    what_made(name.partition("-")[0], folder=folder)
    return found


def path_of(name: str, folder: Path | None = None) -> Path:
    """The path of some results; :class:`BadInput` for a name that is not plain."""
    check_name("name", name, "results")
    return (folder or FOLDER) / f"{name}.parquet"


def what_made(experiment: str, source: str = "", folder: Path | None = None) -> pd.DataFrame:
    """The rows of ``made_by.csv`` about an experiment, of one source or of all: a row for each model.

    ``seconds``, ``chunks`` and ``chunks_from_cache`` are for all models of the same runs together. Raises
    :class:`BadInput` where there are no rows, and for a world that has changed since.
    """
    every = table(folder)
    found = every[every["experiment"] == experiment]
    found = found[found["source"] == source] if source else found
    if found.empty:
        raise Missing(
            f"no results {experiment}{source and ' of '}{source}; see {folder or FOLDER}/{MADE_BY}"
        )
    for row in found.drop_duplicates(["world", "world_digest"]).itertuples():
        if row.world and row.world_digest != worlds.digest(row.world):
            raise BadInput(
                f"results {row.source} of {experiment} are of another {row.world} than this version makes; "
                f"make them anew with {row.command}"
            )
    return found


def about_of(made: pd.DataFrame) -> dict[str, Any]:
    """A record of what made one source's results, from its rows of ``made_by.csv``, as the book reads it."""
    first, of_runs = made.iloc[0], made.drop_duplicates(["started", *NUMBERS])
    models = {m: d for m, d in zip(made["model"], made["digest"], strict=True) if m}
    given = json.loads(first["parameters"]) | ({"models": list(models)} if models else {})
    return {
        "profile": first["source"],
        "notebook": first["experiment"],
        "command": first["command"],
        "started": made["started"].min(),
        **{name: of_runs[name].sum().item() for name in NUMBERS},
        "commit": _all_of(made["commit"]),
        "source": _all_of(made["code"]),
        "device": _all_of(made["device"]),
        "versions": {name: _all_of(made[name]) for name in VERSIONS},
        "models": models,
        "worlds": {w: d for w, d in zip(made["world"], made["world_digest"], strict=True) if w},
        "parameters": given,
    }


def _all_of(texts: pd.Series) -> str:
    """Texts with commas as one text, in which each part appears once."""
    return ", ".join(dict.fromkeys(each for text in texts.unique() for each in text.split(", ")))


def table(folder: Path | None = None) -> pd.DataFrame:
    """``made_by.csv``: counts and seconds as numbers, all else as text; no rows where there is no file.

    ``trained_in`` is the precision in which the runs trained. It is "none" where they did not train, and
    "unknown" for answers from before this column was written. Models of the lab are trained before the runs,
    and their cards state the precision.
    """
    path = (folder or FOLDER) / MADE_BY
    if not path.exists():
        return pd.DataFrame(columns=MADE_OF)
    types = dict.fromkeys(MADE_OF, str) | NUMBERS

    def read(path: Path) -> pd.DataFrame:
        found = pd.read_csv(path, dtype=types, keep_default_na=False)
        return found.assign(trained_in=found.get("trained_in", "unknown"))[MADE_OF]

    return read_file(read, path)


def read_file(read: Callable[[Path], T], path: Path) -> T:
    try:
        return read(path)
    except FileNotFoundError as error:
        raise Missing(f"no results {path}; they ship with a checkout of the project") from error
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"results {path} cannot be read ({first_line(error)})") from error


def check_name(what: str, name: str, where: object) -> None:
    """Raise :class:`BadInput` unless ``name`` is plain: it becomes part of a path, and of pages."""
    if not NAME.fullmatch(name):
        raise BadInput(f"{where}: {what} {name[:80]!r} must be 1 to 60 letters, digits, _ or -")


def rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with the digits that ship: four decimal ones (``BITS``), log-probabilities by 6e-5 nats.

    Whole numbers stay as they are.
    """
    found = frame.copy()
    for name in frame.select_dtypes("float"):
        values = frame[name].to_numpy(dtype=np.float64)
        if name.startswith("logprob"):
            found[name] = np.round(values * 2**BITS) / 2**BITS
        else:
            mantissa, exponent = np.frexp(values)
            fewer = np.ldexp(np.round(mantissa * 2**BITS), exponent - BITS)
            found[name] = np.where(values == np.round(values), values, fewer)
    return found


def part(whole: pa.Table, rows: Sequence[bool]) -> pd.DataFrame:
    """Some rows of a table, without the columns that only other rows fill; whole numbers stay whole."""
    its = whole.filter(pa.array(rows))
    empty = [name for name in its.column_names if its[name].null_count == len(its)]
    return its.drop_columns([n for n in empty if whole[n].null_count < len(whole)]).to_pandas()


def joined(parts: Sequence[pd.DataFrame | pa.Table]) -> pa.Table:
    """Frames and tables, one below the other; a column that a part lacks is missing there."""
    tables = [
        each if isinstance(each, pa.Table) else pa.Table.from_pandas(each, preserve_index=False)
        for each in parts
    ]
    plain = [each.replace_schema_metadata(None) for each in tables]
    return pa.concat_tables(plain, promote_options="permissive")


def packed(whole: pa.Table) -> bytes:
    """A table as the Parquet file that ships."""
    floats = [each.name for each in whole.schema if pa.types.is_floating(each.type)]
    return storage.as_parquet(
        whole,
        compression="zstd",
        compression_level=19,
        use_dictionary=[name for name in whole.column_names if name not in [*floats, "question"]],
        column_encoding=dict.fromkeys(floats, "BYTE_STREAM_SPLIT"),
        store_schema=False,
        max_rows_per_page=MOST,
        data_page_size=MOST,
    )
