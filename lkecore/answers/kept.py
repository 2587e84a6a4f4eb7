"""Kept: the frames that a notebook keeps in its run's folder, and that a page reads from its runs."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lkecore.errors import BadInput, first_line, nearest
from lkecore.storage import as_parquet, read_frame


def save(frame: pd.DataFrame, name: str) -> None:
    """Keep a frame in the run's folder as ``name``: ``.parquet`` (scores) or ``.csv`` (figures).

    Outside of ``lke run``, as in JupyterLab, there is no run folder, and no file is written. A page over runs
    keeps figures alone. ValueError for another ending.
    """
    if not name.endswith((".parquet", ".csv")):
        raise ValueError(f"{name!r} must end in .parquet or .csv")
    folder = os.environ.get("LKE_RUN")
    if folder is None or (on_page() and name.endswith(".parquet")):  # the page's runs have kept it
        return
    path = Path(folder) / name
    if name.endswith(".csv"):
        frame.to_csv(path, index=False)
    else:
        path.write_bytes(as_parquet(frame, index=False))


def on_page() -> bool:
    """Whether this is a page over finished runs, which reads what its runs have kept and asks no model."""
    return "LKE_PAGE" in os.environ


def run_folders() -> list[Path]:
    """The folders of the runs that a page is over, in their order; an empty list for a run itself."""
    return [Path(folder) for folder in json.loads(os.environ.get("LKE_PAGE", "[]"))]


def load_runs(name: str, parameters: Sequence[str] | Mapping[str, str] = ()) -> pd.DataFrame:
    """On a page: the frames ``name`` (``.parquet``) of all its runs, one below the other.

    They are in the order of the runs.

    ``parameters`` names parameters that have one value in each run, such as "fact_set". They become columns:
    of the same names, or of other names, by a mapping from column to parameter.

    Raises :class:`BadInput` outside of ``lke run``, since only that command knows the runs; for a run that
    did not keep the frame, or whose frame is damaged; and for a parameter that a run does not have, that is a
    list, or whose column is in the frame already.
    """
    named = parameters if isinstance(parameters, Mapping) else {each: each for each in parameters}
    if not on_page():
        raise BadInput(f"{name} is read by a page over runs, which lke run makes; this is none")
    frames = []
    for folder in run_folders():
        if not (folder / name).exists():
            raise BadInput(f"{folder.name} has kept no {name}, which this page reads of every run")
        try:
            frame = read_frame(folder / name)
        except (OSError, ValueError) as error:
            raise BadInput(f"{folder / name} cannot be read ({first_line(error)})") from error
        known = read_manifest(folder)["parameters"] if named else {}
        for column, each in named.items():
            if each not in known:
                raise BadInput(f"{folder.name} has no parameter {each!r}; {nearest(each, known)}")
            if isinstance(known[each], list) or column in frame:
                raise BadInput(
                    f"{each!r} of {folder.name} is a list, or a column of {name} already"
                )
        frames.append(frame.assign(**{column: known[each] for column, each in named.items()}))
    return pd.concat(frames, ignore_index=True)


def once(make: Callable[[], pd.DataFrame], name: str) -> pd.DataFrame:
    """The frame of ``make()``, kept as ``name`` (``.parquet``); on a page the frames that its runs kept.

    For work that a page does not repeat, such as training: on a page ``make`` is not called.
    """
    if on_page():
        return load_runs(name)
    frame = make()
    save(frame, name)
    return frame


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run; OSError or ValueError where there is no readable one."""
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
