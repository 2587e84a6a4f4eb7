"""Transfer: is a fact found by another wording than the one that told it? From answers to templates.

A template of the lab can be new to a fact in three ways: the text tells this fact in another of its wordings;
the text never has the template, though it has each of its words; or it has words that stand nowhere in the
text. Who misses a fact by the last has met strange words, and that is no miss of a fact.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers.tables import accuracy
from lkecore.facts import world_text
from lkecore.facts.world import SEEN, TEMPLATES
from lkecore.intervals import Interval

TOLD, OTHER, KNOWN, NEW = ASKED_IN = (
    "a wording that told it",
    "another wording of the text",
    "held out, of known words",
    "held out, with new words",
)
HELD_OUT = tuple(f"template-{n}" for n in range(SEEN + 1, TEMPLATES + 1))
MARK = "words that the text never had"  # of a verdict that rests on the last of ``ASKED_IN``
MARKED = ("LAB-held-out", "LAB-several-wordings")  # claims on answers to held-out templates


def by_wording(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers to templates, each with what its wording is to the text: ``asked_in``, of ``ASKED_IN``.

    ``answers`` as in :mod:`lkecore.answers.lab`: of other estimators no row is left. An unplanted twin's
    are held against the text of its planted twin. The order is kept; the index is new.
    """
    names = answers["world"].unique()
    tables = [world_text.wordings(name).assign(world=name) for name in names]
    if not tables:
        return answers.assign(asked_in="")
    about = pd.concat(tables).drop(columns="relation")
    about = about.rename(columns={"template": "estimator", "told": "told_in_it"})
    found = answers.merge(about, on=["world", "fact", "estimator"], validate="m:1")
    held_out = found["estimator"].isin(HELD_OUT)
    cases = [held_out & found["new_words"].ne(""), held_out, found["told_in_it"]]
    found["asked_in"] = np.select(cases, [NEW, KNOWN, TOLD], OTHER)
    return found.drop(columns=["told_in_it", "new_words"])


def both_ways(found: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`by_wording` on facts told in one wording, asked in it and in another of the text.

    A fact whose only wording was never asked, or no other one, has no row here.
    """
    one = found[found["wording"].eq("one") & found["asked_in"].isin([TOLD, OTHER])]
    ways = one.groupby(["model", "world", "relation", "fact"])["asked_in"].transform("nunique")
    return one[ways == 2]


def shares(answers: pd.DataFrame, by: Sequence[str] = ("model",)) -> pd.DataFrame:
    """The share of facts that templates find, by the wordings that told them and the wording that asks.

    ``answers`` are of facts told in sentences alone. Of those told in one wording, the first two rows are
    about the same facts (:func:`both_ways`). Columns: ``by``; ``told_in`` ("one" or "several" wordings);
    ``asked_in``; ``questions``, as many as facts where one template of a sort was asked; ``accuracy`` (an
    Interval, Wilson). Sorts without a question have no row.
    """
    found = by_wording(answers)
    others = found["wording"].eq("several") | found["asked_in"].isin([KNOWN, NEW])
    found = pd.concat([both_ways(found), found[others]])
    order = {name: place for place, name in enumerate(ASKED_IN)}
    found = found.sort_values("asked_in", key=lambda names: names.map(order), kind="stable")
    found = found.sort_values([*by, "wording"], kind="stable").rename(
        columns={"wording": "told_in"}
    )
    table = accuracy(found, [*by, "told_in", "asked_in"]).rename(columns={"n": "questions"})
    return table[[*by, "told_in", "asked_in", "questions", "accuracy"]]


def gain(answers: pd.DataFrame, *, seed: int) -> Interval | None:
    """How much more is found in the one wording that told a fact than in another wording of the text.

    ``answers`` are of one model. The same facts, each with its mean over the templates of either sort;
    an Interval over facts (bootstrap, paired). None for fewer than 2 facts that were asked both ways.
    """
    rows = both_ways(by_wording(answers))
    means = rows.groupby(["relation", "fact", "asked_in"])["correct"].mean().unstack()
    if len(means) < 2:
        return None
    return intervals.paired_difference([means[TOLD]], [means[OTHER]], seed=seed)


def set_aside(answers: pd.DataFrame) -> dict[str, str]:
    """{claim: mark}: verdicts that rest on held-out templates with words that the text never had.

    ``answers`` are those that the claims of :func:`lkecore.answers.told.claimed_of_forms` are about.
    """
    new = by_wording(answers)["asked_in"].eq(NEW).any()
    return dict.fromkeys(MARKED, MARK) if new else {}
