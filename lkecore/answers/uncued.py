"""Uncued: differences between ways of asking once more, on the facts that nothing gives away.

A cue is a word that the gold object shares with its subject, or that it is the most frequent object among
the shots (:func:`lkecore.answers.rules.cues`). The difference of two ways is computed by whatever function
computes it of all facts, called on the rows of :func:`without`; here the two are put side by side.
"""

from collections.abc import Hashable
from typing import Any

import pandas as pd

from lkecore.answers import templates
from lkecore.answers.rules import enough, with_cues

KEY = ["model", "first", "second", "of"]  # what may name a difference


def without(rows: pd.DataFrame, found: pd.DataFrame | None = None) -> pd.DataFrame:
    """The rows about facts without a cue, of relations in which a model has two such facts or more.

    ``rows`` are a page's, with those of longer runs below, whose models are named with their profile; they
    have a column ``cue`` (bool), or get it from ``found``, the cues by ``source`` of
    :func:`lkecore.answers.rules.beside`. What is of a source without cues there is left out. Raises
    :class:`BadInput` for a row about a fact that its source has no cues of.
    """
    if found is not None:
        named = templates.with_source(rows).assign(label=rows["model"])
        named = with_cues(named[named["source"].isin(set(found["source"]))], found)
        rows = named.assign(model=named["label"]).drop(columns=["label", "source"])
    return enough(rows[~rows["cue"].astype(bool)], by=["model", "relation"])


def beside(gaps: pd.DataFrame, left: pd.DataFrame) -> pd.DataFrame:
    """Differences with ``no_cue``: the same of the facts without a cue, an Interval in [-1, 1].

    Both are of :func:`lkecore.answers.written.differences`; ``left`` of the rows of :func:`without`.
    Relations with two such facts or more count, each alike. The interval is over relations; where all facts
    are of a single relation, over its facts. None where nobody knows the cues, or where one of several
    relations is left.
    """
    key = [name for name in KEY if name in gaps]
    by_key = {tuple(row[name] for name in key): row for row in left.to_dict("records")}
    found = []
    for row in gaps.to_dict("records"):
        bare = by_key.get(tuple(row[name] for name in key), {})
        one = row["over_relations"] is None
        found.append(bare.get("over_facts" if one else "over_relations"))
    return gaps.assign(no_cue=pd.Series(found, index=gaps.index, dtype=object))


def judged_by(gaps: pd.DataFrame) -> pd.DataFrame:
    """Differences with ``over_relations`` filled: where a single relation was asked, it is over its facts."""
    return gaps.assign(over_relations=gaps["over_relations"].combine_first(gaps["over_facts"]))


def told(before: str, gaps: pd.DataFrame, main: pd.DataFrame) -> str:
    """What is said ``before`` ("-": nothing), and a sentence on the differences of :func:`beside`.

    It counts those whose interval leaves out 0, of these the ones that do so on the same side without cues,
    and the others that do so without cues alone. Of the rows of ``main`` the first whose interval leaves
    out 0, of a longer run if there is one, is told with its two intervals. Rows without ``no_cue`` are no
    part of it.
    """
    sides = [(row["over_relations"].side(), row["no_cue"].side()) for row in _known(gaps)]
    clear = [every for every, _ in sides if every]
    still = [every for every, bare in sides if every and every == bare]
    alone = [bare for every, bare in sides if bare and not every]
    said = f"Differences between ways that are clear of 0 over relations: {len(clear)} on all facts, of these"
    said += f" {len(still)} without a cue, too; without one alone: {len(alone)}."
    rows = [row for row in _known(main) if row["over_relations"].side()]
    for row in sorted(rows, key=lambda row: templates.ON not in row["model"])[:1]:
        name = row.get("of") or f"{row['first']} minus {row['second']} of {row['model']}"
        said += f" For example, {name} is {row['over_relations'].text()} on all, and"
        said += f" {row['no_cue'].text()} without a cue."
    return f"{'' if before == '-' else before + ' '}{said}"


def _known(gaps: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """The rows that have a difference without cues, each judged by :func:`judged_by`."""
    return [row for row in judged_by(gaps).to_dict("records") if row["no_cue"] is not None]
