"""Tables: from answers to accuracies, means over relations and paired differences, with intervals.

All take the frame of answers, a row a question, and group it by columns that you name. Groups keep
the order in which they first come, and so do the facts within them: a bootstrap draws by place, so
the same frame gives the same interval. Frames hold :class:`~lkecore.intervals.interval.Interval` objects;
:func:`texts` turns them into text for a page, :func:`bounds` into numbers for a file.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.errors import BadInput
from lkecore.intervals import Interval


def accuracy(answers: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The share of right answers in each group of ``by``, with Wilson's 95 % interval.

    Columns: ``by``; ``n`` questions; ``accuracy`` (an Interval over facts, in [0, 1]); and
    ``confidence_gold``, the mean confidence in the gold option, where the frame has it.
    """
    rows = []
    for key, part in groups_of(answers, by):
        row = {
            "n": len(part),
            "accuracy": intervals.proportion(int(part["correct"].sum()), len(part)),
        }
        if "confidence_gold" in part:
            row["confidence_gold"] = part["confidence_gold"].mean()
        rows.append({**dict(zip(by, key, strict=True)), **row})
    return pd.DataFrame(rows, columns=None if rows else [*by, "n", "accuracy"])


def share(values: pd.Series) -> Interval:
    """The share of true values, in [0, 1], with Wilson's interval over facts. ValueError for no value."""
    return intervals.proportion(int(values.sum()), len(values))


def over_relations(
    answers: pd.DataFrame,
    by: Sequence[str],
    *,
    value: str = "correct",
    seed: int,
    share: bool = True,
) -> pd.DataFrame:
    """The mean of ``value`` over relations, each counted alike, for each group of ``by``.

    Columns: ``by``; ``relations``, how many; ``over_facts``: the mean with an interval over other
    facts of these relations; ``over_relations``: the same mean with an interval over other relations,
    too, which stays within [0, 1] if ``value`` is a ``share``, and no difference of shares; ``spread``:
    the standard deviation over relations, as an Interval over relations. All are in the unit of
    ``value``. A group of a single relation has None for the last two. ValueError for a
    relation with fewer than 2 facts.
    """
    rows, within = [], intervals.SHARE if share else None
    for key, part in groups_of(answers, by):
        groups = by_relation(part, value)
        several = len(groups) > 1
        row = {
            "relations": len(groups),
            "over_facts": intervals.mean_over_facts(groups, seed=seed),
            "over_relations": intervals.mean_over_relations(groups, within=within)
            if several
            else None,
            "spread": intervals.std_over_relations(groups, seed=seed) if several else None,
        }
        rows.append({**dict(zip(by, key, strict=True)), **row})
    columns = ["relations", "over_facts", "over_relations", "spread"]
    return pd.DataFrame(rows, columns=[*by, *columns])


def paired(
    answers: pd.DataFrame,
    column: str,
    pairs: Sequence[tuple[Any, Any]],
    *,
    by: Sequence[str] = (),
    corrected: Sequence[str] = (),
    seed: int,
) -> pd.DataFrame:
    """The second of each pair minus the first, on the same facts; ``pairs`` are values of ``column``.

    A row for each group of ``by`` and each pair that both stand in it; facts that only one of the
    two was asked are left out, and a pair without any other one has no row. Columns: ``by``,
    ``first``, ``second``; ``relations``, how many; ``over_facts`` and ``over_relations``: the
    difference of their accuracies, each relation counted alike, as in :func:`over_relations`;
    ``only_first`` and ``only_second``: facts that only one has right; ``p``: McNemar's exact test over
    all facts, corrected by Holm for the rows that have the same values of ``corrected`` (default: for
    all rows). Positive: the second is better. ValueError where a fact is asked twice in the same way, and
    for a ``correct`` that is neither right nor wrong.
    """
    rows = []
    for key, part in groups_of(answers, by):
        wide = side_by_side(part, column)
        for first, second in pairs:
            if first not in wide or second not in wide:
                continue
            values = wide[[first, second]].dropna().astype(float)
            if values.empty:
                continue
            both = _right_or_wrong(values)
            a, b = (by_relation(values.reset_index(), name) for name in (first, second))
            gaps = [y - x for x, y in zip(a, b, strict=True)]
            row = {
                "first": first,
                "second": second,
                "relations": len(gaps),
                "over_facts": intervals.paired_difference(b, a, seed=seed),
                "over_relations": (intervals.mean_over_relations(gaps) if len(gaps) > 1 else None),
                "only_first": int((both[first] & ~both[second]).sum()),
                "only_second": int((both[second] & ~both[first]).sum()),
                "p": intervals.mcnemar(both[first].to_numpy(), both[second].to_numpy()),
            }
            rows.append({**dict(zip(by, key, strict=True)), **row})
    columns = [*by, "first", "second", "relations", "over_facts", "over_relations"]
    found = pd.DataFrame(rows, columns=[*columns, "only_first", "only_second", "p"])
    if lacking := [name for name in corrected if name not in found]:
        raise BadInput(f"p values cannot be corrected by {lacking[0]!r}, which is no column here")
    found["p"] = found["p"].astype(float)
    if corrected:
        found["p"] = found.groupby(list(corrected), dropna=False)["p"].transform(intervals.holm)
    else:
        found["p"] = intervals.holm(found["p"])
    return found


def texts(frame: pd.DataFrame, digits: int = 2) -> pd.DataFrame:
    """A frame for a page: intervals as text, p values (``p``, ``p_new``) to 2 digits, floats rounded."""
    shown = frame.copy()
    for name in shown:
        if shown[name].map(lambda x: isinstance(x, Interval)).any():
            shown[name] = [x.text(digits) if isinstance(x, Interval) else "" for x in shown[name]]
        elif str(name) == "p" or str(name).startswith("p_"):
            shown[name] = [f"{p:.2g}" if p == p else "" for p in shown[name]]
        elif pd.api.types.is_float_dtype(shown[name]):
            shown[name] = shown[name].round(digits)
    return shown


def across(
    frame: pd.DataFrame, row: str | Sequence[str], value: str, by: str = "model"
) -> pd.DataFrame:
    """One column of a table side by side by ``by``, for a page: as text, "" where there is none.

    A row for each ``row``, a column or several, and the columns of ``by`` behind, both in the order of the
    frame.
    """
    keys = [row] if isinstance(row, str) else [*row]
    wide = texts(frame[[*keys, by, value]]).pivot(index=keys, columns=by, values=value)
    wide = wide.reindex(columns=frame[by].unique()).astype(object).fillna("")
    wide = wide.rename_axis(columns=None).reset_index()
    return frame[keys].drop_duplicates().merge(wide, on=keys, how="left")


def bounds(frame: pd.DataFrame, column: str, name: str = "") -> pd.DataFrame:
    """A frame for a file or a figure: one column of intervals as numbers, the other ones left out.

    ``column`` becomes ``name`` (default: its own), ``low`` and ``high``, in its place; rows without
    an interval have NaN.
    """
    shown = frame.copy()
    at = shown.columns.get_loc(column)
    found = shown.pop(column)
    for i, (new, field) in enumerate(
        ((name or column, "estimate"), ("low", "low"), ("high", "high"))
    ):
        shown.insert(at + i, new, [getattr(x, field) if x else np.nan for x in found])
    others = [n for n in shown if shown[n].map(lambda x: isinstance(x, Interval)).any()]
    return shown.drop(columns=others)


def by_relation(part: pd.DataFrame, value: str) -> list[np.ndarray]:
    """``value`` of every question, an array for each relation, in the order of the frame."""
    return [group.to_numpy() for _, group in part.groupby("relation", sort=False)[value]]


def groups_of(answers: pd.DataFrame, by: Sequence[str]) -> list[tuple[tuple, pd.DataFrame]]:
    if lacking := [name for name in by if name not in answers]:
        raise BadInput(f"the answers have no column {lacking[0]!r}; they have {', '.join(answers)}")
    # A missing value is a group, too: rows must not get lost without a word.
    return list(answers.groupby(list(by), sort=False, dropna=False)) if by else [((), answers)]


def _right_or_wrong(values: pd.DataFrame) -> pd.DataFrame:
    if not values.isin([0, 1]).all(axis=None):
        raise ValueError("an answer is neither right nor wrong, and its first draw is not there")
    return values.astype(bool)


def side_by_side(part: pd.DataFrame, column: str, value: str = "correct") -> pd.DataFrame:
    """A row for each relation and fact, in the order of the frame; a column for each condition."""
    key = ["relation", "fact"]
    if (twice := part.duplicated([*key, column])).any():
        where = part.loc[twice, [*key, column]].iloc[0].tolist()
        raise ValueError(f"{where} is asked twice; a pair needs one answer of each")
    wide = part.pivot(index=key, columns=column, values=value)
    return wide.loc[pd.MultiIndex.from_frame(part[key].drop_duplicates())]
