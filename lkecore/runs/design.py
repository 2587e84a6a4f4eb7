"""Design: which differences between two models a plan can show, by a pilot, existing answers of two."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd

from lkecore import facts
from lkecore.answers import paired, sides
from lkecore.errors import BadInput
from lkecore.runs import forecast
from lkecore.runs.plan import Plan, Row
from lkecore.runs.record import Job
from lkecore.stats import power

PILOT = "10_iclke_relations"  # in results/
OWN = {"model": ["smollm2", "gemma3-270m"], "estimator": ["iclke-space"]}
SETS = ["atlas", "trex"]
RELATIONS = [5, 10, 20, 40, 80, 160]  # of a table
SLOW = 1e11  # operations a second of two cores, roughly


def pilots(names: Sequence[str] = (), **given: Sequence[str]) -> dict[str, pd.DataFrame]:
    """{name of a pilot: its gaps (:func:`lkecore.answers.paired.gaps`)}.

    ``names`` and ``given`` are as for :func:`lkecore.answers.sides.pairs`. Without ``names`` the pilots are
    two small models on two sets of facts that ship. BadInput as there, and for more than one pair of models.
    """
    given, found = {column: values for column, values in given.items() if values}, {}
    own = [{}] if names else [{"source": [each]} for each in given.pop("source", SETS)]
    for each in own:
        how = {**({} if names else OWN), **given, **each}
        pairs = sides.pairs(*(names or [PILOT]), **how)
        if len(pairs) > 1:
            raise BadInput(f"a pilot has two models, found {len(pairs)} pairs: choose with --model")
        [(a, b, x, y)] = pairs
        where = f" on {each['source'][0]}" if each else ""
        found[f"{x} and {y}{where}"] = paired.gaps(paired.met(a, b)[0])
    return found


def designs(plan: Plan) -> Iterator[tuple[Row, int, int]]:
    """(row, relations, most facts of each) of the rows of a plan that ask facts of several relations."""
    for row in plan.rows:
        given = row.whole.effective
        fact_set, n = given.get("fact_set"), given.get("n_facts")
        if row.reads or not (fact_set and n) or "relations" not in given or "lab:" in fact_set:
            continue
        with suppress(BadInput):  # the facts are not on this machine: the run reports it
            if (relations := len(given["relations"] or facts.relations(fact_set))) > 1:
                yield row, relations, n


def says(plan: Plan) -> list[str]:
    """A line for each design of a plan: the least difference between two models that it can show.

    Of the default pilots, the one that makes it larger decides; there are no lines if their answers are not
    here.
    """
    lines = []
    with suppress(BadInput):
        of = [power.parts(gap) for gap in pilots().values()]
        for row, relations, n in designs(plan):
            least = max(power.detectable(each, relations, n) for each in of)
            lines.append(
                f"{row.whole.notebook.stem}: {relations} relations, {n} facts each: can show differences "
                f"of {100 * least:.0f} points or more between two models"
            )
    return [*dict.fromkeys(lines)]


def minutes(job: Job, cost: dict[str, Any]) -> float:
    """The minutes that a run takes on two cores (``SLOW``), roughly; 0 if too little is known.

    ``cost`` is the run's :func:`lkecore.runs.forecast.cost`.
    """
    tokens = (cost["tokens"] or 0) - (cost["from_cache"] or 0)
    return forecast.seconds(job, tokens, SLOW) / 60


def table(
    pilots: Mapping[str, pd.DataFrame], plan: Plan | None, detect: float, **how: float
) -> pd.DataFrame:
    """A column for each pilot, a row for each number that it takes to show a difference of ``detect``.

    The rows are the variances, then for numbers of relations the facts of each, and the fewest relations;
    then the points that each design of ``plan`` can show. ``how`` has alpha and power.
    """
    designs_of, columns = [*designs(plan)] if plan else [], {}
    for name, gap in pilots.items():
        of = power.parts(gap)
        below = f" ({of['moment']:.4f} by the method of moments)" * bool(of["moment"] < 0)
        found = {
            "pilot: relations, facts each": f"{of['relations']:.0f}, {of['facts']:.0f}",
            "variance within relations": f"{of['within']:.4f}",
            "variance between relations": f"{of['between']:.4f}{below}",
        }
        for n in sorted({*RELATIONS, *(n for _, n, _ in designs_of)}):
            facts = power.facts_needed(of, n, detect, **how)
            found[f"facts of each of {n} relations"] = facts or "no number of facts"
        found["fewest relations"] = power.relations_needed(of, math.inf, detect, **how)
        for row, n, facts in designs_of:
            points = 100 * power.detectable(of, n, facts, **how)
            again = 100 * power.resampled(gap, n, facts, **how)
            far = ": far apart, take the larger" * (abs(again - points) > points / 5)
            what = f"{row.whole.notebook.stem}: {n} relations, {facts} facts each, points"
            found[what] = f"{points:.1f} (by resampling {again:.1f}{far})"
        columns[name] = found
    return pd.DataFrame(columns)
