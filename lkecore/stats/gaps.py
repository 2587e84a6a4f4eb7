"""The shares of facts that a model knows and uses, knows and does not use, and does not know.

They follow the XTRAEVAL paper (Kazemnejad et al. 2023). ``known`` is its extraction accuracy, a share of
the facts; ``used`` is its downstream accuracy, a share of the known ones.
"""

import math

import pandas as pd

from lkecore.errors import BadInput

LEARNED = 0.05  # of log(m + 1): a run whose last loss is not further below it has learned nothing


def gaps(known: pd.Series, used: pd.Series) -> pd.DataFrame:
    """``identifiable``, ``usable``, ``gap_1`` and ``gap_2``: a row for each pair of shares, by their index.

    - ``identifiable``: known;
    - ``usable``: known x used;
    - ``gap_1``: 1 - known;
    - ``gap_2``: known x (1 - used).

    Usable and the two gaps add up to 1. If ``used`` is NaN, so are usable and gap 2. Raises :class:`BadInput`
    if the two series have different rows, and for a share outside [0, 1].

    >>> gaps(pd.Series([0.5]), pd.Series([0.8])).round(2).to_dict("records")
    [{'identifiable': 0.5, 'usable': 0.4, 'gap_1': 0.5, 'gap_2': 0.1}]
    """
    if not known.index.equals(used.index):
        raise BadInput("gaps: known and used have different rows")
    for name, shares in (("known", known), ("used", used)):
        if len(lost := shares[(shares < 0) | (shares > 1)]):
            raise BadInput(f"gaps: {name} is {lost.iloc[0]}, and a share lies in [0, 1]")
    columns = {"identifiable": known, "usable": known * used, "gap_1": 1 - known}
    return pd.DataFrame(columns | {"gap_2": known * (1 - used)})


def failed(last_loss: float, m: int) -> bool:
    """Whether a training run ended where it began: its last loss is within 5 % of log(m + 1), or above.

    A model that cannot distinguish the gold document from ``m`` others has this loss, in nats.

    >>> failed(2.5, 12), failed(1.9, 12)
    (True, False)
    """
    return not last_loss < (1 - LEARNED) * math.log(m + 1)
