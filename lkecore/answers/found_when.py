"""Found, when: whether a fact is found more often that the text told late, or whose subject it names more.

Facts are compared with others told equally often in the same form, so that neither number of tellings nor
form can make the difference.
"""

import pandas as pd

from lkecore import intervals
from lkecore.answers import rich
from lkecore.answers.found import WAYS
from lkecore.answers.tables import groups_of

TOLD = (2, 32)  # tellings: fewer hardly any is found, of more nearly all
BY = {"later": "last", "named_more": "mentions"}  # what is compared, by the column of the states


def halves(known: pd.DataFrame) -> pd.DataFrame:
    """Upper minus lower half of facts told equally often: the share that one of five ways finds, by model.

    ``known`` is of :func:`lkecore.answers.found.beside_truth`. Facts told ``TOLD`` times, planted as they
    are. Those of one number of tellings and form are parted at their median: by where the text tells them
    last, and by how often it names their subject in all. Who is at the median is in the lower half.
    Columns: ``model``; ``facts``; ``later`` and ``named_more``, Intervals of the difference (Newcombe), in
    [-1, 1].
    """
    asked = known["estimator"].isin(WAYS) & known["state"].eq("planted")
    some = rich.with_states(known[asked & known["occurrences"].between(*TOLD)], list(BY.values()))
    same = ["model", "world", "form", "occurrences"]
    hits = some.groupby([*same, "relation", "fact", *BY.values()])["correct"].any().reset_index()
    rows = []
    for (model,), part in groups_of(hits, ["model"]):
        row = {"model": model, "facts": len(part)}
        for name, column in BY.items():
            upper = part[column] > part.groupby(same)[column].transform("median")
            counts = [
                (int(half["correct"].sum()), len(half)) for half in (part[upper], part[~upper])
            ]
            row[name] = intervals.difference_of_proportions(*counts[0], *counts[1])
        rows.append(row)
    return pd.DataFrame(rows, columns=["model", "facts", *BY])
