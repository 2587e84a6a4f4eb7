"""Claims and verdicts: what the papers claim, and whether ours bears it out.

Two kinds of verdict. A **number** can be reproduced or differ only where model, data and protocol
are the same. A **claim** can be tested on any model: it holds, fails or stays undecided, and what
decides was written down before the runs (`data/claims.csv`).
"""

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any, Literal

import pandas as pd

from lkecore.errors import BadInput
from lkecore.intervals.interval import Interval
from lkecore.papers.published import read_table
from lkecore.storage import DATA

# What an interval may be taken over, and facts with it.
OVER = "relations", "facts", "draws", "pairs", "subjects", "worlds"
METHODS = "Student's t", "Welch's t", "bootstrap", "Wilson", "Newcombe"
WHOSE = "paper", "ours", "check"
DIRECTIONS = "greater", "less", "equal"
DECIDED = "decided_on", "model", "estimator"  # on which answers a claim has its verdict
TEXTS = "paper", "section", "claim", "statistic", "unit", "least_effect_because"
OVER_ALONE = re.compile(
    rf"over ({'|'.join(OVER)}) alone, not ({'|'.join(OVER)})"
)  # a mark of any claim


def claims(paper: str = "IC") -> pd.DataFrame:
    """The claims of a paper that the book tests ("": of all), one a row, in the order of the chapter.

    Columns: id, paper, section (in the paper), claim (in our words), statistic (what the interval is of),
    direction ("greater", "less" or "equal"), least_effect and its unit (what `claim_verdict` compares
    with), least_effect_because (why that much), over (what the interval is taken over, one of `OVER`),
    interval (its method, one of `METHODS`), marks (which verdicts say nothing of the claim, with "; "
    between; "" if there is no such rule) and marks_since (since when they stand as they do), whose
    ("paper", "ours", or "check" of a thing that was built in), decided_on, model and estimator (the
    answers by which the claim has its one verdict), and holds_if, the bound in words.

    What a claim is decided on follows a rule, which was written down before it was applied. A paper's
    claim: the real model, or pair where two are compared, and the source of its experiment with the most
    relations in which the accuracy, asked in the paper's way, is above that of the best rule there (of both
    models of a pair); ties go to more facts, then to the first name. Answers without an accuracy
    (entropies, places in a sequence) take this count from other answers of the same model to the same
    relations. A model that beats the rule in at most half of the relations is at chance, and decided_on
    says so. Where no real model was asked, and for a claim of the lab: all worlds, one value a world, of
    the largest size that all of them have (of the twins, tuned models or kinds that the claim speaks of).
    Gates change nothing.

    ValueError for a paper without claims; :class:`BadInput` for a claim that leaves one of these empty but
    `marks`, that has another word where some are allowed, no finite least effect, or marks without a date.

    >>> claims("IC").set_index("id")["holds_if"]["IC-separator"]
    'within 0.05 of 0'
    """
    every = read_table(DATA / "claims.csv").fillna({"marks": "", "marks_since": ""})
    words = {"direction": DIRECTIONS, "over": OVER, "interval": METHODS, "whose": WHOSE}
    rules = [
        (column, every[column].isin(allowed), f"be one of {[*allowed]}")
        for column, allowed in words.items()
    ]
    rules += [(column, every[column].notna(), "not be empty") for column in (*TEXTS, *DECIDED)]
    least = pd.to_numeric(every["least_effect"], errors="coerce")
    rules.append(("least_effect", least.map(isfinite), "be a finite number"))
    dated = every["marks_since"].str.fullmatch(r"\d{4}-\d\d-\d\d") | (every["marks"] == "")
    rules.append(("marks_since", dated, "be a date such as 2026-11-26, since there are marks"))
    for column, kept, rule in rules:
        if len(lost := every.loc[~kept.astype(bool), "id"]):
            raise BadInput(f"claims.csv: {column} of {lost.iloc[0]} must {rule}")
    every["holds_if"] = [
        f"within {least:g} of 0" if direction == "equal" else f"{direction} than {least:g}"
        for direction, least in zip(every["direction"], every["least_effect"], strict=True)
    ]
    if not paper:
        return every
    if paper not in set(every["paper"]):
        raise ValueError(
            f"no claims of paper {paper!r}; there are claims of {sorted(set(every['paper']))}"
        )
    return every[every["paper"] == paper].reset_index(drop=True)


def over_of(interval: Interval) -> str:
    """What an interval is taken over, by its method: one of `OVER`.

    >>> over_of(Interval(0.3, 0.2, 0.4, 0.95, "Student's t over relations"))
    'relations'
    """
    _, _, rest = interval.method.partition(" over ")
    return rest.split()[0] if rest else "facts"  # Wilson's and Newcombe's are of facts


def method_of(interval: Interval) -> str:
    """The method of an interval, one of `METHODS`; "" for another, such as one made by hand.

    >>> method_of(Interval(0.3, 0.2, 0.4, 0.95, "bootstrap over relations and facts"))
    'bootstrap'
    """
    method = interval.method.partition(" over ")[0]
    return method if method in METHODS else ""


def claim_verdict(
    interval: Interval | pd.Series, claim: Mapping[str, Any] | pd.Series
) -> Literal["holds", "fails", "undecided"]:
    """Whether a claim holds, from `low` and `high` of its statistic. With e = `least_effect`, in its unit:

        direction   holds                     fails                        else
        greater     low > e                   high < e                     undecided
        less        high < e                  low > e                      undecided
        equal       -e < low and high < e     low > e or high < -e         undecided

    An end exactly at e leaves the claim undecided. "Equal" is a test of equivalence: a wide
    interval around 0 is undecided, not equal. `claim`: a row of :func:`claims`, or anything else with
    `direction` and `least_effect`. ValueError for another direction, an e that is not finite, or an e
    of "equal" that is not above 0.

    >>> more = {"direction": "greater", "least_effect": 0.2}
    >>> claim_verdict(Interval(0.30, 0.25, 0.35, 0.95, "by hand"), more)
    'holds'
    >>> claim_verdict(Interval(0.20, 0.18, 0.22, 0.95, "by hand"), more)
    'undecided'
    """
    direction, least_effect = claim["direction"], claim["least_effect"]
    if not isfinite(least_effect):
        raise ValueError(f"least_effect is {least_effect}; it must be a finite number")
    low, high = interval.low, interval.high
    if direction == "greater":
        holds, fails = low > least_effect, high < least_effect
    elif direction == "less":
        holds, fails = high < least_effect, low > least_effect
    elif direction == "equal":
        if least_effect <= 0:
            raise ValueError(f"least_effect is {least_effect}; direction 'equal' needs one above 0")
        holds = -least_effect < low and high < least_effect
        fails = low > least_effect or high < -least_effect
    else:
        raise ValueError(f"direction is {direction!r}; it must be 'greater', 'less' or 'equal'")
    return "holds" if holds else "fails" if fails else "undecided"


ONE_EACH = [
    "id", "claim", "holds_if", *DECIDED, "estimate", "low", "high", "n", "verdict",
]  # fmt: skip
VERDICTS = ["id", "models", "source", "estimator", "as_paper", "ours", "verdict", "mark"]


def verdicts(frame: pd.DataFrame) -> pd.DataFrame:
    """What a page keeps as ``verdicts.csv``, a row for each test of a claim: `VERDICTS`, then the rest.

    `id`: of the claim. `models`: the one that is asked, or those that are compared, with a comma
    between. `source`: where the answers are from, "this page" or "shipped: " and the name of a
    profile, or several with a comma between. `estimator`: what asked, such as "iclke-space"; `as_paper`:
    whether that is the paper's way of asking. `ours`: estimate and interval, as the page prints them.
    `verdict`: "holds", "fails" or "undecided". `mark`: why it says nothing of the claim, such as "at chance";
    "" where it does: one of the marks that the claim's row names, or "over facts alone, not relations" of an
    interval over something else. Other columns stay behind these. ValueError for a missing column, an id
    without a claim, another verdict, an `as_paper` that is neither true nor false, no model, and a mark
    without a rule.

    >>> row = "IC-shots-rise", "toy", "this page", "iclke-space", True, "0.10 [0.05, 0.15]", "holds", ""
    >>> verdicts(pd.DataFrame([row], columns=VERDICTS))["verdict"].tolist()
    ['holds']
    """
    if missing := [column for column in VERDICTS if column not in frame]:
        raise ValueError(f"verdicts lack the columns {missing}")
    rules = read_table(DATA / "claims.csv").fillna({"marks": ""}).set_index("id")["marks"]
    known = rules.index
    verdict = "holds", "fails", "undecided"
    for column, allowed in (("id", known), ("verdict", verdict), ("as_paper", (True, False))):
        if len(unknown := frame.loc[~frame[column].isin(allowed), column]):
            raise ValueError(f"{column} {unknown.iloc[0]!r}: must be one of {[*allowed]}")
    for key, mark in zip(frame["id"], frame["mark"], strict=True):
        if mark and mark not in rules[key].split("; ") and not OVER_ALONE.fullmatch(mark):
            raise ValueError(f"mark {mark!r}: the row of {key} in claims.csv has no such rule")
    if not frame["models"].astype(bool).all():
        raise ValueError("a verdict names no model")
    return frame[[*VERDICTS, *frame.columns.difference(VERDICTS, sort=False)]]
