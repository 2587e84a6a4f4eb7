"""Repeats: how often a model gives back at a blank what its prompt has just stated, by answers that ship.

Models that fill blanks do not write, so that nobody can see what they would write behind a statement. But the
page on entropy and KL states facts to them, too, and asks for the object at a blank.
"""

import functools
from collections.abc import Sequence

import pandas as pd

from lkecore.answers import firsts
from lkecore.answers.shipped import read
from lkecore.facts import worlds

# Whose answers at blanks these are: the page, and the profiles in which its models ship.
PAGE, PROFILES = "53_lab_entropy", ("entropy_lab", "entropy_blanks")


def at_blanks(specs: Sequence[str]) -> pd.DataFrame:
    """How often the models that ship repeat a statement at a blank: a row for each model of some worlds.

    Asked are facts that no text told, of subjects that stand in no text, and whose object's first token is
    that of no other object. Columns: ``model``; ``n`` facts; ``right``: of how many the first token of the
    object is the likeliest of all tokens at the blank of a template, behind the same template with the object
    in it. Without rows where no model of these worlds ships.
    """
    every = _answers()
    parts = [_of_world(spec) for spec in dict.fromkeys(specs) if every["world"].eq(spec).any()]
    none = pd.DataFrame(columns=["model", "n", "right"])
    return pd.concat(parts, ignore_index=True) if parts else none


@functools.lru_cache(maxsize=1)
def _answers() -> pd.DataFrame:
    every = pd.concat([read(name, PAGE)[0] for name in PROFILES], ignore_index=True)
    return every[every["instillation"].eq("explicit") & (firsts.sets(every) != "shared")]


@functools.lru_cache(maxsize=8)
def _of_world(spec: str) -> pd.DataFrame:
    states = worlds.states(spec)
    strangers = states.loc[states["state"].eq("never") & states["mentions"].eq(0), "fact"]
    rows = _answers()[lambda f: f["world"].eq(spec) & f["fact"].isin(strangers)]
    hits = rows["rank_after"].eq(1).groupby(rows["model"], sort=False)
    return hits.agg(n="size", right="sum").reset_index()
