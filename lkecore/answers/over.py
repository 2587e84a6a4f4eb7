"""Over: the same question about several relations, each of which counts alike.

What a model was asked about one relation has an interval over draws and facts, what it was asked about
several one over relations: Student's t on the value of each. A claim is of the one or of the other, so two
rows of ``claims.csv`` have the same statistic.
"""

from collections.abc import Sequence

import pandas as pd

from lkecore import intervals, papers
from lkecore.intervals import Interval

TWIN = "-relations"  # what the claim over relations has behind the name of the one over draws


def each_relation(part: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of each relation, in the order of their names; all where the column is not there.

    Results that ship from before there was more than one relation lack it, or have no value there.
    """
    if "relation" not in part:
        return [part]
    return [its for _, its in part.groupby("relation", dropna=False)]


def over_relations(values: Sequence[float], within: tuple[float, float] | None = None) -> Interval:
    """The mean of a value for each relation, with Student's t interval; ``within`` as the ends of a share.

    ValueError for fewer than two relations, or a value that is not finite.
    """
    return intervals.mean_over_relations([[value] for value in values], within=within)


def claim_of(name: str, found: Interval) -> str:
    """The claim that an interval is about: that of this name, or its twin over relations.

    >>> claim_of("IC-shots-rise", Interval(0.3, 0.2, 0.4, 0.95, "Student's t over relations"))
    'IC-shots-rise-relations'
    """
    return name + TWIN if papers.over_of(found) == "relations" else name


def side_by_side(judged: pd.DataFrame) -> pd.DataFrame:
    """Verdicts with a twin over relations under the words of its claim, to stand in one column or row.

    ``judged`` as :func:`lkecore.answers.verdicts.judge_ways` found it.
    """
    claims = papers.claims().set_index("id")
    own = judged["id"].str.removesuffix(TWIN)
    return judged.assign(
        id=own, claim=own.map(claims["claim"]), holds_if=own.map(claims["holds_if"])
    )
