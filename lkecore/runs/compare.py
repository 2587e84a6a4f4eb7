"""Compare: whether finished runs give the shipped answers, for readers with facts that we may not publish.

Answers about facts of ours are checked on each page, by a sample that is asked again. A reader with the files
of another fact set can ask the same questions: all of a params file, or, with a copy of it, some of them.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from lkecore.answers.again import MOST_APART
from lkecore.answers.align import aligned
from lkecore.answers.shipped import FOLDER, part, read_file, what_made
from lkecore.errors import BadInput
from lkecore.runs import shipping
from lkecore.runs.plan import Plan
from lkecore.storage import read_table


def compare(plan: Plan, runs_folder: Path, folder: Path = FOLDER) -> pd.DataFrame:
    """A row for each file: how the answers of finished runs compare with shipped ones of the same profile.

    - ``file``;
    - ``rows``: the number of rows of the runs;
    - ``not_there``: the number of these about which no shipped row is, such as another model or relation;
    - ``differ``: the number of rows that differ from the shipped one: a fraction by more than
      ``again.MOST_APART`` and this share of it, or a yes or no;
    - ``largest``: the largest difference of a probability, confidence or other fraction.

    Words and whole numbers say which question a row is about: where one differs, the row is not there.

    A run of fewer models, relations or facts than ship is compared with its part. The number of a fact is its
    place among the facts of its relation, so relations must be whole.

    Raises :class:`BadInput` as :func:`lkecore.runs.shipping.ship_results` does, where nothing ships under
    this profile, and where a model has other files than the one whose answers ship.
    """
    frames, made = shipping.found(plan, runs_folder)
    here = made.set_index(["experiment", "model"])["digest"]
    rows = []
    for name, now in frames.items():
        experiment, _, kind = name.partition("-")
        if not (path := folder / f"{name}.parquet").exists() and kind:
            continue  # results of an earlier version are in fewer files
        there = what_made(experiment, plan.profile, folder)
        for model, digest in zip(there["model"], there["digest"], strict=True):
            if (mine := here.get((experiment, model), digest)) != digest:
                raise BadInput(
                    f"model {model} is not the one whose answers ship in {path}: its files "
                    f"have the digest {mine[:12]}, theirs {digest[:12]}"
                )
        whole = read_file(read_table, path)
        then = part(whole, whole["source"].to_pandas() == plan.profile)
        rows.append({"file": path.name, **_beside(now, then)})
    return pd.DataFrame(rows)


def _beside(now: pd.DataFrame, then: pd.DataFrame) -> dict[str, float]:
    """The counts of `compare` for two frames. Rows are paired by all columns that identify the question."""
    both = [name for name in now.columns if name in then.columns]
    said = [
        name
        for name in both
        if pd.api.types.is_float_dtype(now[name]) or pd.api.types.is_bool_dtype(now[name])
    ]
    asked = [name for name in both if name not in said]

    pairs = aligned(now[both], then[both], asked, how="left")
    is_there = pairs["side"].eq("both").to_numpy()
    differ, largest = np.zeros(len(pairs), dtype=bool), 0.0
    for name in said:
        a, b = (pairs[each].to_numpy(dtype=float, na_value=np.nan) for each in (name, f"{name}|"))
        differ |= ~np.isclose(a, b, rtol=MOST_APART, atol=MOST_APART, equal_nan=True)
        apart = np.abs(a - b)[is_there & np.isfinite(a) & np.isfinite(b)]
        largest = max([largest, *apart])
    return {
        "rows": len(now),
        "not_there": int((~is_there).sum()),
        "differ": int((differ & is_there).sum()),
        "largest": largest,
    }
