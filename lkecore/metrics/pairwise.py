"""Pairwise: does a measure order facts by how much of them was taught? (PZ-M1, Table 1 of Pezeshkpour)"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Pairwise(NamedTuple):
    """Shares of the pairs of each group, (group,), in [0, 1]."""

    right: NDArray[np.float64]
    tied: NDArray[np.float64]

    @property
    def half(self) -> NDArray[np.float64]:
        """Right pairs, and half of the tied ones: one half is no order at all."""
        return self.right + self.tied / 2


def pairwise(values: ArrayLike) -> Pairwise:
    """The share of pairs that a measure of ignorance puts in the right order, for each group.

        right = (number of pairs i < j with value_i < value_j) / (number of pairs)

    ``values`` is (group, level): the facts of a group by how much of them was taught, most first, so that
    the first should have the smallest value. A tie is wrong, as we read the paper (PZ-Q5), and counted
    apart; so a measure that gives whole numbers, such as a rank, is right in fewer than one half of the
    pairs even if it knows nothing. ValueError for fewer than two levels and for NaN.

    >>> found = pairwise([[1, 2, 2], [3, 2, 1]])
    >>> found.right.round(3).tolist(), found.tied.round(3).tolist(), found.half.round(3).tolist()
    ([0.667, 0.0], [0.333, 0.0], [0.833, 0.0])
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"values have the shape {table.shape}; they need (group, level), 2 or more"
        )
    if np.isnan(table).any():
        raise ValueError("values hold NaN: a fact that was lost has no place in an order")
    first, second = np.triu_indices(table.shape[1], k=1)
    below, same = table[:, first] < table[:, second], table[:, first] == table[:, second]
    return Pairwise(below.mean(axis=1), same.mean(axis=1))
