"""Design: which differences of two models a plan can show, by a pilot, answers of two that are there."""

import functools
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd

from lkecore import facts
from lkecore.answers import paired
from lkecore.errors import BadInput
from lkecore.models import catalogue
from lkecore.runs.plan import Plan, Row
from lkecore.runs.record import Job, models_of
from lkecore.stats import power

PILOT = "10_iclke_relations"  # in results/
OWN = {"model": ["smollm2", "gemma3-270m"], "estimator": ["iclke-space"]}
SETS = ("atlas", "trex")
USED = 0.5  # of the speed at which a machine multiplies matrices, what a forward pass has: about


def pilots(names: Sequence[str] = (), **given: Sequence[str]) -> dict[str, pd.DataFrame]:
    """{what a pilot is called: its gaps (:func:`lkecore.answers.paired.gaps`)}.

    ``names`` and ``given`` as for :func:`lkecore.answers.paired.sides`; without ``names``, two small models
    on two sets of facts that ship. BadInput as there, and for more than one pair of models.
    """
    found = {}
    for each in [None] if names or given.get("source") else SETS:
        its = (
            {k: v for k, v in given.items() if v}
            if names
            else OWN | {k: v for k, v in given.items() if v}
        )
        its |= {"source": [each]} if each else {}
        pairs = paired.sides(*(names or [PILOT]), **its)
        if len(pairs) > 1:
            raise BadInput(f"a pilot has two models, found {len(pairs)} pairs: choose with --model")
        [(a, b, x, y)] = pairs
        found[f"{x} and {y}" + (f" on {each}" if each else "")] = paired.gaps(paired.met(a, b)[0])
    return found


def designs(plan: Plan) -> Iterator[tuple[Row, int, int]]:
    """(row, relations, facts of each at most) of the rows of a plan that ask real facts of relations."""
    for row in plan.rows:
        given = row.whole.effective
        if not row.reads and {"fact_set", "relations", "n_facts"} <= {*given} and given["n_facts"]:
            if given["fact_set"] and not given["fact_set"].startswith("lab:"):
                with suppress(BadInput):  # facts that are not here: the run says so
                    names = given["relations"] or facts.relations(given["fact_set"])
                    yield row, len(names), given["n_facts"]


def says(plan: Plan) -> list[str]:
    """For each design of a plan a line on the least difference between two models that it can show.

    By the default pilots, the one that makes it larger; no lines if their answers are not here.
    """
    lines = []
    with suppress(BadInput):
        of = [power.parts(gap) for gap in pilots().values()]
        for row, relations, n in designs(plan):
            if relations > 1:
                points = 100 * max(power.detectable(each, relations, n) for each in of)
                lines.append(
                    f"{row.whole.notebook.stem}: {relations} relations, {n} facts each: can show differences "
                    f"of {points:.0f} points or more between two models"
                )
    return [*dict.fromkeys(lines)]


def minutes(job: Job, cost: dict[str, Any]) -> float:
    """About how long a run takes on this machine, as busy as it is now; 0 if too little is known.

    ``cost`` is what :func:`lkecore.runs.forecast.cost` says of it.
    """
    sizes = [catalogue.n_parameters(name) for name in models_of(job.effective)]
    if not cost["tokens"] or not sizes or None in sizes:
        return 0.0
    tokens = cost["tokens"] - (cost["from_cache"] or 0)
    return 2 * sum(sizes) / len(sizes) * tokens / (USED * speed()) / 60


@functools.cache
def speed() -> float:
    """Operations a second of this machine, by the quickest of some products of matrices."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    a, b = torch.rand(512, 1024, device=device), torch.rand(1024, 4096, device=device)
    best = float("inf")
    for _ in range(6):  # the first of them wakes the machine up
        start = time.perf_counter()
        (a @ b)[0, 0].item()
        best = min(best, time.perf_counter() - start)
    return 2 * 512 * 1024 * 4096 / best
