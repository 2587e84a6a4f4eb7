"""Gates: whether a model of a rich world can do what is later taken for granted of it.

An estimator that states a fact in the prompt says nothing of a model that cannot repeat what it has just
read, and one that asks in sentences says nothing of a model that reads none. So each model is asked
first what it can do. The least shares were set on the development world.
"""

import functools
from collections.abc import Sequence
from textwrap import fill

import numpy as np
import pandas as pd

from lkecore.answers import repeats
from lkecore.answers.results import results
from lkecore.intervals import proportion
from lkecore.models import lab as models_of_lab

COUNTS = "59_lab_gates-gates"  # what each model was asked, and how often it was right
# What is asked, and the least share of right answers; what a model reads must be above it.
LEAST = {"same": 0.9, "other": 0.8, "instruction": 0.9, "list": 0.95}
READS = 0.5
SAYS = {
    "same": "repeats a statement",
    "other": "in other words",
    "instruction": "follows an instruction",
    "list": "goes on with a list",
}


def rated(counts: pd.DataFrame) -> pd.DataFrame:
    """Which gates are passed: a row a ``model`` and ``gate`` with ``share``, ``least`` and ``passed``.

    ``counts`` have how many of ``n`` questions were answered ``right``: an output begins with a right answer.
    ``share`` of right answers is an Interval (Wilson; questions count as independent), ``least`` the least
    share. A gate is ``passed`` by the share itself, not by its interval, and of what is read only by a
    share above the least.
    """
    pairs = zip(counts["right"], counts["n"], strict=True)
    found = counts.assign(
        share=[proportion(int(right), int(n)) for right, n in pairs],
        least=[LEAST.get(gate, READS) for gate in counts["gate"]],
    )
    share, skills = counts["right"] / counts["n"], counts["gate"].isin(list(LEAST))
    return found.assign(passed=np.where(skills, share >= found["least"], share > found["least"]))


def at_blanks(specs: Sequence[str]) -> pd.DataFrame:
    """The gate of repeating as models that fill blanks pass it or miss it, as :func:`rated`: a row a model.

    Of all models of some worlds whose answers at blanks ship (:func:`lkecore.answers.repeats.at_blanks`),
    decoders too, whose gate is what they write. The least share is the same.
    """
    return rated(repeats.at_blanks(specs).assign(gate="same"))


def missed(models: Sequence[str]) -> str:
    """Which gates models miss, a paragraph each, by the answers that ship; for pages that rest on them.

    Twins and models that were not measured are left out. Models that fill blanks have one gate.
    """
    lines = []
    for model in dict.fromkeys(models):
        own = _own(model)
        if own.empty or model.endswith("-unplanted"):
            continue
        lacks = [
            f"{SAYS.get(row.gate, row.gate)} {row.share.estimate:.2f} (least {row.least:g})"
            for row in own[~own["passed"]].itertuples()
        ]
        line = f"gates that {model} misses: {', '.join(lacks) or 'none'}"
        lines.append(fill(line, 72, subsequent_indent="  "))
    return "\n".join(lines)


def misses(model: str, gate: str) -> bool:
    """Whether a model misses a gate, by the answers that ship; False of one that was not measured at it."""
    rows = _own(model)
    return bool((rows["gate"].eq(gate) & ~rows["passed"]).any())


def _own(model: str) -> pd.DataFrame:
    """The gates of one model by the answers that ship: of what it writes, or of a blank that it fills."""
    rows = _that_ship()
    if models_of_lab.is_name(model) and models_of_lab.recipe(model).kind != "causal":
        rows = at_blanks([models_of_lab.parse(model).world])
    return rows[rows["model"] == model]


@functools.lru_cache(maxsize=1)
def _that_ship() -> pd.DataFrame:
    """The gates of all models that were measured (:func:`rated`), for those who change none of it."""
    return rated(results(COUNTS))


def able(models: Sequence[str], gates: Sequence[str]) -> list[str]:
    """The models that miss none of some gates (:func:`misses`)."""
    return [name for name in models if not any(misses(name, gate) for gate in gates)]
