"""Verdicts: from estimates to verdicts on the claims of the papers and of the lab, one each."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from lkecore import papers
from lkecore.answers.kept import save
from lkecore.errors import BadInput, nearest

ALONE = "undecided: there is one, and no interval"
FEW = "undecided: fewer than five relations; the interval is over facts"
DIFFERS = "undecided: differs from 0, not shown to exceed the margin"
# Reasons of a page not to judge, whatever the numbers beside them say.
UNLEARNED = "not tested: the paper's head did not learn the task here"
CHANGED = "undecided: definition changed after the answers"
ONE_DRAW = "undecided: one draw of examples cannot be told from the wording"
SERVED = "undecided: asked of a server, whose weights nobody can name"


def verdicts(tested: Mapping[str, pd.Series | pd.DataFrame]) -> pd.DataFrame:
    """One line a claim: what it says, on which answers it is decided, the estimate, and the verdict.

    ``tested`` has for each id of ``claims.csv`` the estimate of its statistic, in the claim's unit: a row,
    or a frame of one, with numbers ``estimate``, ``low`` and ``high`` (the 95 % interval) and, where there
    is one, ``n``, of how many. A ``model``, ``estimator`` or ``decided_on`` in it comes before the claim's
    own, so that a page which asks another model doesn't say that it was this one. ``verdict`` is that of
    :func:`lkecore.papers.verdict.claim_verdict`; ``DIFFERS`` of an equality that is undecided although its
    interval leaves out 0; ``FEW`` where :func:`lkecore.stats.estimate` took facts in the place of few
    relations, since no claim is about the facts of some; ``ALONE`` where both ends are missing; ``SERVED``
    whatever else is said of a model behind a server. Where a
    row has a reason not to judge in ``untested``, ``UNLEARNED``, ``CHANGED`` or ``ONE_DRAW``, that is the
    verdict.

    Columns: id, claim, holds_if, decided_on, model, estimator, estimate, low, high, n, verdict. They are
    kept as ``verdicts.csv``, from which the book's page of all claims is made. KeyError for an id that no
    claim has; :class:`BadInput` for several rows, or numbers that are
    not finite with low <= high.
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
