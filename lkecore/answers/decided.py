"""Verdicts: one verdict for each claim of the papers and of the lab, from the estimates of a page."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from lkecore import papers
from lkecore.answers.kept import save
from lkecore.errors import BadInput, nearest

ALONE = "undecided: there is one, and no interval"
FEW = "undecided: fewer than five relations; the interval is over facts"
DIFFERS = "undecided: differs from 0, not shown to exceed the margin"
# Reasons of a page not to judge a claim, whatever its numbers are.
UNLEARNED = "not tested: the paper's head did not learn the task here"
CHANGED = "undecided: definition changed after the answers"
ONE_DRAW = "undecided: one draw of examples cannot be told from the wording"
SERVED = "undecided: asked of a server, whose weights nobody can name"


def verdicts(tested: Mapping[str, pd.Series | pd.DataFrame]) -> pd.DataFrame:
    """A row for each claim: its words, the answers that decide it, the estimate, and the verdict.

    ``tested`` maps an id of ``claims.csv`` to the estimate of its statistic, in the claim's unit: a row, or a
    frame of one row. An estimate has the numbers ``estimate``, ``low`` and ``high`` (the 95 % interval) and
    may have ``n``, the number of units. Its own ``model``, ``estimator`` or ``decided_on`` replaces the
    claim's, so that a page which asks another model names the right one.

    The ``verdict`` is that of :func:`lkecore.papers.verdict.claim_verdict`, with these exceptions:

    - ``ALONE`` where both ends of the interval are missing;
    - ``DIFFERS`` for an undecided equality whose interval excludes 0;
    - ``FEW`` where :func:`lkecore.stats.estimate` took an interval over facts, since there are few relations:
      no claim is about the facts of a few relations;
    - the reason in ``untested``, if the row has one: ``UNLEARNED``, ``CHANGED`` or ``ONE_DRAW``;
    - ``SERVED`` for a model of a server, whatever the other rules give.

    Columns: id, claim, holds_if, decided_on, model, estimator, estimate, low, high, n, verdict (the first six
    as in :func:`lkecore.papers.verdict.claims`). The frame is kept as ``verdicts.csv``, from which the book
    makes its page of all claims.

    KeyError for an id that no claim has; :class:`BadInput` for an estimate of several rows, for numbers that
    are not finite with low <= high, and for another reason in ``untested``.
    """
    claims, rows = papers.claims("").set_index("id"), []
    for key, found in tested.items():
        if key not in claims.index:
            raise KeyError(f"no claim {key!r}; {nearest(key, claims.index)}")
        if isinstance(found, pd.DataFrame) and len(found) != 1:
            raise BadInput(
                f"{key}: {len(found)} estimates; a claim has one verdict, so give one row"
            )
        row, claim = found.squeeze(axis=0), claims.loc[key]
        numbers = pd.to_numeric(row.reindex(["estimate", "low", "high"]), errors="coerce")
        one = np.isfinite(numbers["estimate"]) and numbers[["low", "high"]].isna().all()
        if not (one or (np.isfinite(numbers).all() and numbers["low"] <= numbers["high"])):
            raise BadInput(f"{key}: {numbers.to_dict()} needs finite numbers with low <= high")
        verdict = ALONE if one else papers.claim_verdict(numbers, claim)
        leaves_out_0 = numbers["low"] > 0 or numbers["high"] < 0
        if verdict == "undecided" and claim["direction"] == "equal" and leaves_out_0:
            verdict = DIFFERS
        verdict = FEW if row.get("over") == "fact" else verdict
        if isinstance(reason := row.get("untested"), str) and reason:
            if reason not in (UNLEARNED, CHANGED, ONE_DRAW):
                raise BadInput(f"{key}: {reason!r} is no reason not to judge a claim")
            verdict = reason
        said = {name: row.get(name, claim[name]) for name in papers.DECIDED}
        verdict = SERVED if "served:" in str(said["model"]) else verdict
        rows.append({"id": key, **claim[["claim", "holds_if"]], **said, **numbers})
        rows[-1] |= {"n": row.get("n"), "verdict": verdict}
    made = pd.DataFrame(rows, columns=papers.ONE_EACH).astype({"n": "Int64"})
    save(made, "verdicts.csv")
    return made
