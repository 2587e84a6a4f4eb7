"""Curves: accuracy above a confidence, and where its rise comes from."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray


def accuracy_at(confidence: ArrayLike, correct: ArrayLike, thresholds: ArrayLike) -> pd.DataFrame:
    """Accuracy among the answers that the model is surer of than a threshold (IC-E7, Accuracy@K).

        accuracy(K) = share of right answers among those with confidence > K

    Appendix D and Figure 8 of Wu et al. 2024. `confidence` is that in the prediction, `correct` (bool)
    says whether it is right; both (fact,). A row for each of `thresholds`, in their order: `threshold`;
    `n`, the answers strictly above it; `right`, how many of these are right; `kept`, `n` as a share
    of all; `accuracy`, NaN where no answer is above, since the mean of nothing is no number. From
    threshold to threshold the answers are others: with few left, a curve jumps. ValueError for
    different lengths, no answers, dtypes other than bool, and numbers outside [0, 1].

    >>> accuracy_at([0.9, 0.6, 0.3], [True, False, True], [0.0, 0.6, 0.9])["accuracy"].tolist()
    [0.6666666666666666, 1.0, nan]
    """
    sure, right = np.asarray(confidence, dtype=np.float64), np.asarray(correct)
    at = np.asarray(thresholds, dtype=np.float64)
    if sure.ndim != 1 or sure.shape != right.shape or not len(sure):
        raise ValueError(
            f"confidence {sure.shape} and correct {right.shape} must be lists of one length, 1 or more"
        )
    if right.dtype != bool:
        raise ValueError(f"correct has dtype {right.dtype}; it must be bool")
    for name, values in (("confidence", sure), ("thresholds", at)):
        strange = values[~((values >= 0) & (values <= 1))]
        if values.ndim != 1 or len(strange):
            found = strange[:3].tolist() if len(strange) else f"the shape {values.shape}"
            raise ValueError(f"{name} must be a list of numbers in [0, 1], found {found}")
    above = sure > at[:, None]  # (threshold, fact)
    n, n_right = above.sum(axis=1), (above & right).sum(axis=1)
    accuracy = np.full(len(at), np.nan)
    np.divide(n_right, n, out=accuracy, where=n > 0)
    columns = {"threshold": at, "n": n, "right": n_right, "kept": n / len(sure)}
    return pd.DataFrame({**columns, "accuracy": accuracy})


def rise_between(kept: ArrayLike, correct: ArrayLike, relation: ArrayLike) -> float:
    """The part of a rise in accuracy that comes from which relations the kept answers belong to.

        between = mean over kept answers of (accuracy of the answer's relation) - accuracy of all

    Keep the answers above a threshold, and accuracy rises (or falls) by this plus `rise_within`. It
    is what would be gained if each kept answer were as good as the average of its relation. `kept` and
    `correct` (bool, or 0 and 1) and `relation` (names or numbers) are (fact,). In [-1, 1], in the
    unit of the accuracy; 0 with a single relation. NaN where nothing is kept. ValueError for other
    shapes, no answers, or other values of `kept` and `correct`.

    >>> kept, right = [1, 1, 0, 0, 1, 0, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0]
    >>> relation = ["easy"] * 4 + ["hard"] * 4  # accuracies 0.75 and 0.25, 0.5 in all
    >>> round(rise_between(kept, right, relation), 6)  # (0.75 + 0.75 + 0.25) / 3 - 0.5
    0.083333
    """
    some, right, usual = _with_usual(kept, correct, relation)
    return float(usual[some].mean() - right.mean()) if some.any() else float("nan")


def rise_within(kept: ArrayLike, correct: ArrayLike, relation: ArrayLike) -> float:
    """The part of a rise in accuracy that comes from which answers are kept of each relation.

        within = mean over kept answers of (correct - accuracy of the answer's relation)

    What the kept answers are better than the average of their relations; 0 where the confidence
    says nothing inside a relation. With `rise_between` it adds up to the rise. Arguments, range
    and errors as there.

    >>> kept, right = [1, 1, 0, 0, 1, 0, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0]
    >>> relation = ["easy"] * 4 + ["hard"] * 4
    >>> round(rise_within(kept, right, relation), 6)  # (0.25 + 0.25 + 0.75) / 3
    0.416667
    """
    some, right, usual = _with_usual(kept, correct, relation)
    return float((right - usual)[some].mean()) if some.any() else float("nan")


def _with_usual(
    kept: ArrayLike, correct: ArrayLike, relation: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Which answers are kept, which are right, and the accuracy of each one's relation."""
    some, right = (np.asarray(values, dtype=np.float64) for values in (kept, correct))
    relation = np.asarray(relation)
    if some.ndim != 1 or not len(some) or not some.shape == right.shape == relation.shape:
        raise ValueError(
            f"kept {some.shape}, correct {right.shape} and relation {relation.shape} must be lists "
            "of one length, 1 or more"
        )
    for name, values in (("kept", some), ("correct", right)):
        if ((values != 0) & (values != 1)).any():
            raise ValueError(f"{name} must hold bool, or 0 and 1")
    _, code = np.unique(relation, return_inverse=True)
    accuracy = np.bincount(code, weights=right) / np.bincount(code)
    return some == 1, right, accuracy[code]
