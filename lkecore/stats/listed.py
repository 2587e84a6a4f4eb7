"""Facts that a model may be said to know, with an error rate, from decoys that cannot be known.

A decoy is a question that looks like a fact's and is about nobody (:mod:`lkecore.facts.decoys`). Decoys
show how high a score is without knowledge. *Testing for outliers with conformal p-values* (Bates et al.
2023) shows the consequence. Assume that, within a stratum, the scores of decoys and of *unknown* facts are
exchangeable. Then the share of unknown facts among those with q-values of at most q is at most q times
the share of unknown facts among all, as a mean over draws of decoys. A single list may contain more, so a
fact is *listed*, not certified.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore.errors import BadInput

FEWEST = 40  # facts of a stratum, and decoys of it


def p_values(facts: pd.DataFrame, decoys: pd.DataFrame, by: Sequence[str]) -> pd.Series:
    """For each fact the share of its stratum's decoys, and itself, that score as high; in (0, 1].

        p_i = (1 + number of decoys j of the stratum with score_j >= score_i) / (1 + number of its decoys)

    ``facts`` and ``decoys`` have a row each with ``score`` and the columns ``by``, whose values make strata.
    A tie counts against the fact. A fact whose stratum has no decoy gets 1, since the score of a guess is not
    known there. Raises :class:`BadInput` without any decoy, and for a score that is NaN.

    >>> facts = pd.DataFrame({"score": [0.9, 0.5, 0.1], "relation": "capital"})
    >>> decoys = pd.DataFrame({"score": [0.5, 0.2, 0.1], "relation": "capital"})
    >>> p_values(facts, decoys, ["relation"]).tolist()
    [0.25, 0.5, 1.0]
    """
    if decoys.empty:
        raise BadInput("there are no decoys: how high a guess scores is not known")
    for name, frame in (("facts", facts), ("decoys", decoys)):
        if missing := int(frame["score"].isna().sum()):
            raise BadInput(f"{missing} of {len(frame)} scores of {name} are NaN")
    p = pd.Series(1.0, index=facts.index, name="p")
    own = {key: np.sort(part["score"]) for key, part in decoys.groupby(list(by))}
    for key, part in facts.groupby(list(by)):
        there = own.get(key, np.empty(0))
        above = len(there) - np.searchsorted(there, part["score"], side="left")
        p[part.index] = (1 + above) / (1 + len(there))
    return p


def q_values(p: pd.Series | NDArray[np.float64]) -> NDArray[np.float64]:
    """For each p-value the lowest rate at which Benjamini and Hochberg's step lists it, in (0, 1].

        q_(k) = min over l >= k of n * p_(l) / l, where p_(1) <= ... <= p_(n), and at most 1

    All p-values are taken together. With a list for each of fifteen relations without a known fact, some list
    would have facts at .1 in up to 1 - .9**15 = 79 % of draws. Raises :class:`BadInput` for a value that is
    NaN or outside (0, 1].

    >>> q_values(np.array([0.01, 0.04, 0.03, 1.0])).round(4).tolist()
    [0.04, 0.0533, 0.0533, 1.0]
    """
    p = np.asarray(p, dtype=float)
    if len(wrong := p[~((p > 0) & (p <= 1))]):
        raise BadInput(f"p-value {wrong[0]}: must be above 0 and at most 1")
    order = np.argsort(p, kind="stable")
    steps = p[order] * len(p) / np.arange(1, len(p) + 1)
    found = np.empty(len(p))
    found[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1)
    return found


def listed(
    facts: pd.DataFrame, decoys: pd.DataFrame, q: float, *, by: Sequence[str] = ("relation",)
) -> pd.DataFrame:
    """``facts`` with three columns more.

    - ``p``: as in :func:`p_values`;
    - ``q``: as in :func:`q_values`;
    - ``listed`` (bool): whether q is at most ``q``, the rate that is wanted.

    The score of both frames is ``confidence_gold`` where ``correct``, else -1. So no wrong answer can be
    listed, and facts and decoys are treated alike. Raises :class:`BadInput` for ``q`` outside (0, 1), and as
    :func:`p_values` does.
    """
    if not 0 < q < 1:
        raise BadInput(f"q {q}: must be above 0 and below 1")
    facts, decoys = (
        each.assign(score=each["confidence_gold"].where(each["correct"].astype(bool), -1.0))
        for each in (facts, decoys)
    )
    p = p_values(facts, decoys, by)
    found = facts.assign(p=p, q=q_values(p)).drop(columns="score")
    return found.assign(listed=found["q"] <= q)


NOT_LISTED = [
    "few facts or decoys",
    "decoys do not sound alike",
    "other invented names score higher",
]
UNCHECKED = "not checked: no other names"


def lists(answers: pd.DataFrame, rate: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(each fact with ``p``, ``q``, ``listed`` and ``why``, "" or the reason; a row for each relation).

    ``answers`` are those of one model by one way of asking. They have ``kind`` ("real" or that of a decoy),
    the columns of :func:`lkecore.facts.decoys.beside`, ``correct`` and ``confidence_gold``. Facts whose name
    has a word or a run of letters of the object are in no stratum. A relation is listed only if

    - it has 40 facts and 40 decoys;
    - its decoys are "sounding", or each object has one subject and at most 5 % of decoys are right;
    - at most rate + 2 sqrt(rate (1 - rate) / n) of n other names, halves and villages, have p <= rate.

    The columns for a relation are:

    - ``facts``, ``right``, ``decoys``: numbers; ``by``: the kind of the decoys;
    - ``decoys_right``: the share of decoys that are right;
    - ``others``: the number of other names; ``others_listed``: the share of them with p <= rate;
    - ``listed``: the number of listed facts; ``why``: "" or the reason.

    Raises as :func:`listed` does.
    """
    plain = answers[~answers["hint"].isin(["word", "run"])]
    of_kind = plain.groupby(["relation", "kind"]).size().unstack(fill_value=0)
    of_kind = of_kind.reindex(columns=["sounding", "letters"], fill_value=0)
    by = of_kind["sounding"].ge(FEWEST).map({True: "sounding", False: "letters"})
    real = plain[plain["kind"] == "real"]
    decoys = plain[plain["kind"] == plain["relation"].map(by)]
    other = plain[plain["kind"].isin(["halves", "village"])]
    said, null = listed(real, decoys, rate), listed(other, decoys, rate)
    facts, asked = (each.groupby("relation") for each in (said, decoys))
    null = null["p"].le(rate).groupby(null["relation"]).agg(["size", "mean"])
    found = pd.DataFrame({"facts": facts.size(), "right": facts["correct"].sum(), "by": by})
    found["decoys"], found["decoys_right"] = asked.size(), asked["correct"].mean()
    found[["others", "others_listed"]] = null
    alone = facts["others"].max().eq(0) & found["decoys_right"].le(0.05)
    most = rate + 2 * np.sqrt(rate * (1 - rate) / found["others"])
    reasons = [
        found[["facts", "decoys"]].fillna(0).min(axis=1) < FEWEST,
        found["by"].ne("sounding") & ~alone,
        found["others_listed"] > most,
        found["others"].isna(),
    ]
    found["why"] = np.select(reasons, [*NOT_LISTED, UNCHECKED], "")
    said["why"] = said["relation"].map(found["why"])
    said["listed"] &= ~said["why"].isin(NOT_LISTED)
    found["listed"] = said.groupby("relation")["listed"].sum()
    hinted = answers[answers["kind"].eq("real") & ~answers["fact"].isin(real["fact"])]
    hinted = hinted.assign(listed=False, why="its name hints at the object")
    return pd.concat([said, hinted], ignore_index=True), found.reset_index()
