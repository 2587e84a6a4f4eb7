"""Claims of the papers, and verdicts: whether our results support them.

There are two kinds of verdict. A **number** can be reproduced or differ only if model, data and protocol
are the same. A **claim** can be tested on any model: it holds, fails or stays undecided. The rule of the
decision was written down before the runs (`data/claims.csv`).
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Literal

import pandas as pd

from lkecore.errors import BadInput
from lkecore.papers.published import read_table
from lkecore.storage import DATA

# The units over which an interval may be taken, and facts with them.
OVER = "relations", "facts", "draws", "pairs", "subjects", "worlds"
METHODS = "Student's t", "Welch's t", "bootstrap", "Wilson", "Newcombe"
WHOSE = "paper", "ours", "check"
DIRECTIONS = "greater", "less", "equal"
DECIDED = "decided_on", "model", "estimator"  # columns that name the answers that decide a claim
TEXTS = "paper", "section", "claim", "statistic", "unit", "least_effect_because"


def claims(paper: str = "IC") -> pd.DataFrame:
    """The claims of a paper that the book tests ("": of all), a row for each, in the order of the chapter.

    - ``id``, ``paper``, ``section`` (in the paper), ``claim`` (in our words);
    - ``statistic``: the quantity that the interval is of;
    - ``direction``: "greater", "less" or "equal";
    - ``least_effect`` and its ``unit``: the value that `claim_verdict` compares with;
    - ``least_effect_because``: the reason for this value;
    - ``over``: the units of the interval, one of `OVER`; ``interval``: its method, one of `METHODS`;
    - ``whose``: "paper", "ours", or "check" of a thing that was built in;
    - ``decided_on``, ``model``, ``estimator``: the answers by which the claim has its one verdict;
    - ``holds_if``: the bound in words.

    The answers that decide a claim follow a rule, which was written down before it was applied:

    - A claim of a paper is decided on a real model, or pair if two are compared, and a source of its
      experiment. They are those with the most relations in which the accuracy is above the best rule's.
      The accuracy is that of the paper's way of asking; of a pair both must be above. Ties go to more
      facts, then to the first name.
    - Answers without an accuracy (entropies, places in a sequence) take this count from other answers of the
      same model to the same relations.
    - A model that beats the rule in at most half of the relations is at chance, and decided_on says so.
    - If no real model was asked, and for a claim of the lab, all worlds decide, with one value for each. The
      models are of the largest size that all worlds have (of the twins, tuned models or kinds of the claim).

    Gates change nothing.

    ValueError for a paper without claims. :class:`BadInput` for a claim that leaves one of these empty, that
    has another word where only some are allowed, or no finite least effect.

    >>> claims("IC").set_index("id")["holds_if"]["IC-separator"]
    'within 0.05 of 0'
    """
    every = read_table(DATA / "claims.csv")
    words = {"direction": DIRECTIONS, "over": OVER, "interval": METHODS, "whose": WHOSE}
    rules = [
        (column, every[column].isin(allowed), f"be one of {[*allowed]}")
        for column, allowed in words.items()
    ]
    rules += [(column, every[column].notna(), "not be empty") for column in (*TEXTS, *DECIDED)]
    least = pd.to_numeric(every["least_effect"], errors="coerce")
    rules.append(("least_effect", least.map(isfinite), "be a finite number"))
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


def claim_verdict(
    interval: pd.Series, claim: Mapping[str, Any] | pd.Series
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
    >>> claim_verdict(pd.Series({"low": 0.25, "high": 0.35}), more)
    'holds'
    >>> claim_verdict(pd.Series({"low": 0.18, "high": 0.22}), more)
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
