"""Verdicts: from estimates to verdicts on the claims of the papers and of the lab.

:func:`verdicts` gives each claim one. What follows it serves pages that judge a claim under every source and
model.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lkecore import papers
from lkecore.answers.kept import keep
from lkecore.errors import BadInput, nearest
from lkecore.intervals import Interval

ALONE = "undecided: there is one, and no interval"
DIFFERS = "undecided: differs from 0, not shown to exceed the margin"


def verdicts(tested: Mapping[str, pd.Series | pd.DataFrame]) -> pd.DataFrame:
    """One line a claim: what it says, on which answers it is decided, the estimate, and the verdict.

    ``tested`` has for each id of ``claims.csv`` the estimate of its statistic, in the claim's unit: a row,
    or a frame of one, with numbers ``estimate``, ``low`` and ``high`` (the 95 % interval) and, where there
    is one, ``n``, of how many. A ``model``, ``estimator`` or ``decided_on`` in it comes before the claim's
    own, so that a page which asks another model doesn't say that it was this one. ``verdict`` is that of
    :func:`lkecore.papers.verdict.claim_verdict`; ``DIFFERS`` of an equality that is undecided although its
    interval leaves out 0; ``ALONE`` of an estimate whose ends are both missing, as of a single relation.

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
        said = {name: row.get(name, claim[name]) for name in papers.DECIDED}
        rows.append({"id": key, **claim[["claim", "holds_if"]], **said, **numbers})
        rows[-1] |= {"n": row.get("n"), "verdict": verdict}
    made = pd.DataFrame(rows, columns=papers.ONE_EACH).astype({"n": "Int64"})
    keep(made, "verdicts.csv")
    return made


def judge(
    tested: Mapping[str, Mapping[tuple[str, ...], Interval]],
    *,
    estimator: str,
    as_paper: bool,
    marks: Mapping[tuple[str, str, str], str] | None = None,
    no_cue: Mapping[str, Mapping[tuple[str, ...], Interval]] | None = None,
    paper: str = "IC",
    digits: int = 3,
) -> pd.DataFrame:
    """The verdicts on some claims, a row for each claim, source and model, in the papers' order.

    ``tested`` has, for each id of a claim, the interval of its statistic under (source, models);
    ``estimator`` says how was asked, ``as_paper`` whether that is the paper's way. ``marks`` say of a
    (claim, source, models) why its verdict says nothing of the claim; so does an interval over something else
    than the claim speaks of. Columns: id, claim, holds_if, source, models, ours, interval (its method),
    verdict, mark. They are kept as ``verdicts.csv``, from which the book's
    page of all claims is made. KeyError for an id that no claim has.

    ``no_cue`` has, as ``tested``, intervals of the same statistics on the facts without a cue. They change
    no verdict. With it there are two columns more: ``no_cue``, the interval, and ``without_cues``, what the
    verdict would be by it ("" for both where there is none).

    Keys may name the estimator, too: (source, models, estimator). Then the result is that of
    :func:`judge_ways`, and only ``estimator`` can be the paper's way.
    """
    ways = [*dict.fromkeys(key[2] for of in tested.values() for key in of if len(key) > 2)]
    if ways:
        said = {(*key, way): mark for key, mark in (marks or {}).items() for way in ways}
        own = {"as_paper": [estimator] * as_paper, "marks": said}
        own["no_cue"] = None if no_cue is None else _by_way(no_cue, ways)
        return judge_ways(_by_way(tested, ways), **own, paper=paper, digits=digits)
    found = _judged(tested, marks or {}, paper, digits, no_cue)
    keep(papers.verdicts(found.assign(estimator=estimator, as_paper=as_paper)), "verdicts.csv")
    return found


def judge_ways(
    tested: Mapping[str, Mapping[str, Mapping[tuple[str, str], Interval]]],
    *,
    as_paper: Sequence[str],
    marks: Mapping[tuple[str, str, str, str], str] | None = None,
    no_cue: Mapping[str, Mapping[str, Mapping[tuple[str, str], Interval]]] | None = None,
    paper: str = "IC",
    digits: int = 3,
) -> pd.DataFrame:
    """:func:`judge` for several ways of asking; ``tested`` has under each what that takes, and so ``no_cue``.

    ``as_paper`` names the ways that are the paper's; ``marks`` are of a (claim, source, models, way). A
    column ``estimator`` has the way; the rows of each stand together, in their order. Kept as there.
    """
    nothing = None if no_cue is None else {}
    parts = [_judged({}, {}, paper, digits, nothing).assign(estimator="")]
    for way, of_way in tested.items():
        said = {key[:3]: mark for key, mark in (marks or {}).items() if key[3] == way}
        bare = no_cue and no_cue.get(way, {})
        parts.append(_judged(of_way, said, paper, digits, bare).assign(estimator=way))
    found = pd.concat(parts, ignore_index=True)
    keep(papers.verdicts(found.assign(as_paper=found["estimator"].isin(as_paper))), "verdicts.csv")
    return found


def _by_way(
    tested: Mapping[str, Mapping[tuple[str, ...], Interval]], ways: Sequence[str]
) -> dict[str, dict[str, dict[tuple[str, ...], Interval]]]:
    """Intervals under (source, models, way), the ways apart."""
    return {
        way: {
            claim: {key[:2]: interval for key, interval in of.items() if key[2] == way}
            for claim, of in tested.items()
        }
        for way in ways
    }


def _judged(
    tested: Mapping[str, Mapping[tuple[str, str], Interval]],
    marks: Mapping[tuple[str, str, str], str],
    paper: str,
    digits: int,
    no_cue: Mapping[str, Mapping[tuple[str, str], Interval]] | None,
) -> pd.DataFrame:
    claims = papers.claims(paper).set_index("id")
    rows = []
    for key in [key for key in claims.index if key in tested]:
        claim = claims.loc[key]
        for (source, models), interval in tested[key].items():
            bare = (no_cue or {}).get(key, {}).get((source, models))
            rows.append(
                {
                    "id": key,
                    "claim": claim["claim"],
                    "holds_if": claim["holds_if"],
                    "source": source,
                    "models": models,
                    "ours": interval.text(digits),
                    "interval": interval.method,
                    "verdict": papers.claim_verdict(interval, claim),
                    "mark": marks.get((key, source, models), "") or over_alone(interval, claim),
                    "no_cue": bare.text(digits) if bare else "",
                    "without_cues": papers.claim_verdict(bare, claim) if bare else "",
                }
            )
    if unknown := [key for key in tested if key not in claims.index]:
        raise KeyError(f"no claim {unknown[0]!r} of paper {paper}")
    columns = ["id", "claim", "holds_if", "source", "models", "ours", "interval", "verdict", "mark"]
    more = [] if no_cue is None else ["no_cue", "without_cues"]
    return pd.DataFrame(rows, columns=[*columns, *more])


def over_alone(interval: Interval, claim: Mapping[str, Any] | pd.Series) -> str:
    """The mark of a verdict whose interval is not over what its claim speaks of, else "".

    That is so where one relation was asked, and the claim is about relations. ValueError for an interval that
    is over the right things by another method than the claim's row says.
    """
    over, method = papers.over_of(interval), papers.method_of(interval)
    if over != claim["over"]:
        return f"over {over} alone, not {claim['over']}"
    if method and method != claim["interval"]:
        raise ValueError(f"{claim['claim']!r}: interval by {method}, not by {claim['interval']}")
    return ""


def of_this_page(
    found: Mapping[str, Mapping[str, Interval]],
) -> dict[str, dict[tuple[str, str], Interval]]:
    """What :func:`judge` takes, of intervals by what they are of, where all answers are this page's own."""
    return {
        key: {("this page", of): interval for of, interval in each.items()}
        for key, each in found.items()
    }


def tested(
    frame: pd.DataFrame, column: str, key: Sequence[str] = ("source", "model")
) -> dict[tuple[str, ...], Interval]:
    """What :func:`judge` takes: the intervals of a column under ``key``, where there are any."""
    rows = zip(*(frame[name] for name in key), frame[column], strict=True)
    return {tuple(names): found for *names, found in rows if found is not None}
