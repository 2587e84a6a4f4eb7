"""Shipped: results beside a run's own answers, as pages take them that do not read whole files yet.

``profile`` is a ``source`` in ``results/<notebook>.parquet`` (:mod:`lkecore.answers.results`).
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lkecore.answers.results import (
    CHECKS,
    Missing,
    about_of,
    check_name,
    part,
    path_of,
    read_file,
    what_made,
)  # fmt: skip
from lkecore.prompts.draws import DRAW
from lkecore.storage import read_table

DRAWS = "draws"  # kept apart by runs; among the answers that ship, with a ``draw`` above 0
NAMED = "19_iclke_generation"  # whose runs have the draw in the name of the estimator


def read(
    profile: str, notebook: str, folder: Path | None = None, *, apart: str = ""
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """(answers, what made them) of a notebook's runs in a longer profile, as these runs kept them.

    With ``apart`` they are those that the runs kept apart under this name. The second has what
    ``made_by.csv`` has, with ``models`` and ``worlds``, digests by name, ``versions`` and ``parameters``.
    Raises as :func:`rows`.
    """
    frame, about = rows(profile, notebook, folder, apart=apart)
    if "relation" in about["parameters"]:  # a single one, which these runs did not say in each row
        frame = frame.drop(columns="relation", errors="ignore")
    return frame.drop(columns=CHECKS, errors="ignore"), about


def rows(
    profile: str, notebook: str, folder: Path | None = None, *, apart: str = ""
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """What :func:`read` gives, with the columns that the answers can be checked by, and each relation.

    Raises :class:`BadInput` where there are none, and as :func:`lkecore.answers.results.results`.
    """
    check_name("profile", profile, "results")
    name = notebook if apart in ("", DRAWS) else f"{notebook}-{apart}"
    whole = read_file(read_table, path := path_of(name, folder))
    about = about_of(what_made(notebook, profile, folder))
    mine = whole["source"].to_pandas() == profile
    redrawn = whole["draw"].to_pandas().gt(0) if "draw" in whole.column_names else mine & False
    is_first = "n_redraws" in about["parameters"] and apart != DRAWS and notebook != NAMED
    if is_first or apart == DRAWS:
        mine &= ~redrawn if is_first else redrawn
    if not mine.any():
        raise Missing(f"no results {path}{apart and f', {apart},'} of {profile}")
    frame = part(whole, mine).drop(columns=["source", *["draw"] * is_first], errors="ignore")
    if "fact" in frame and frame["fact"].str.isdecimal().all():  # of facts that are not ours
        frame["fact"] = frame["fact"].astype(int)
    if notebook == NAMED and "draw" in frame:
        others = frame["estimator"] + DRAW + frame.pop("draw").astype(str)
        frame["estimator"] = frame["estimator"].where(others.str.endswith(f"{DRAW}0"), others)
    if "logprob" in frame:
        frame["probability"] = np.exp(frame["logprob"])
    return frame, about


def line(about: dict[str, Any]) -> str:
    """What made some results, in one line for a page.

    The minutes are those of the runs that ended; the line says how much runs before them had scored. Models
    of the lab are trained before.
    """
    kept, took = about["chunks_from_cache"], f"{about['seconds'] / 60:.0f} min"
    if kept:
        took += f" ({kept} of {about['chunks']} parts scored before)"
    if kept and kept == about["chunks"]:
        took = "scored in earlier runs"  # the minutes are those of reading
    elif about["worlds"]:
        took += " without training"
    made = f"profile {about['profile']}, {about['started'][:10]}, {took}"
    where = "" if about["device"] == "CPU" else f" on {about['device']}"
    return f"{made}{where}, lkecore at {about['commit']}"
