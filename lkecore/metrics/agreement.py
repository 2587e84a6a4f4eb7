"""Agreement: do two models do well in the same relations?

Wu et al. 2024 correlate the accuracies of two models over relations. Such an r says two things at once. With
few facts each accuracy is noisy, and noise of its own in each model pulls r towards 0. But two models
that are asked the *same* facts share a part of the noise: a relation that got easy facts by chance looks
easy to both, and that pushes r up. Halves of the facts tell the two apart.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

SPREAD = 1e-9  # accuracies that differ by less are equal: what is left is rounding


def correlation(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """Pearson's r along the last axis (IC-E8), such as of two models' accuracies by relation.

        r = sum (a - mean a)(b - mean b) / sqrt( sum (a - mean a)**2 * sum (b - mean b)**2 )

    `a` and `b` have the axes (..., relation); the result has the others. In [-1, 1]. NaN where a or b
    has no spread: then r is not defined. It takes no notice of how well a model does, only of
    where it does better than it does elsewhere. ValueError for different shapes, fewer than 3
    relations (two points always lie on a line) or values that are not finite.

    >>> float(correlation([0.1, 0.2, 0.6], [0.3, 0.4, 0.8]))
    1.0
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape or a.ndim < 1 or a.shape[-1] < 3:
        raise ValueError(
            f"shapes are {a.shape} and {b.shape}; r needs the same, 3 relations or more"
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("a value is not finite; drop and count its relation first")
    flat = (np.ptp(a, axis=-1) < SPREAD) | (np.ptp(b, axis=-1) < SPREAD)
    a = a - a.mean(axis=-1, keepdims=True)
    b = b - b.mean(axis=-1, keepdims=True)
    size = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    r = np.full(flat.shape, np.nan)
    np.divide((a * b).sum(axis=-1), size, out=r, where=~flat)
    return np.clip(r, -1.0, 1.0)  # rounding can leave 1.0000000000000002


def noise(groups: Sequence[ArrayLike]) -> float:
    """The standard deviation over relations that the drawing of so few facts alone would give.

        noise = sqrt( mean over relations of a (1 - a) / (n - 1) ),   a = accuracy, n = its facts

    `groups[r]` holds the correctness (0 or 1) in relation r, (fact,). The square of each term is,
    without bias, the variance of an accuracy from one draw of n facts to the next. In [0, 0.5]. Hold
    it against the standard deviation over relations: where the two are near each other, relations
    are not seen to differ. Weakness: a relation with all right or all wrong adds 0, which is no
    certainty. ValueError for no relation, fewer than 2 facts in one, or values other than 0 and 1.

    >>> noise([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]])  # 0.4 * 0.6 / 4 = 0.06 in both
    0.2449489742783178
    """
    values = [np.asarray(group, dtype=np.float64) for group in groups]
    if not values or any(v.ndim != 1 or len(v) < 2 for v in values):
        raise ValueError(
            f"shapes are {[v.shape for v in values]}; each needs (fact,), with 2 facts or more"
        )
    if any(((v != 0) & (v != 1)).any() for v in values):
        raise ValueError("a value is neither 0 nor 1; noise is that of right and wrong answers")
    accuracy = np.array([v.mean() for v in values])
    n = np.array([len(v) for v in values])
    return float(np.sqrt((accuracy * (1 - accuracy) / (n - 1)).mean()))


def half_accuracies(
    groups: Sequence[ArrayLike], *, seed: int, n_splits: int = 100
) -> NDArray[np.float64]:
    """Accuracies in random halves of the facts, with the axes (half, split, model, relation).

    `groups[r]` are the values of relation r, (model, fact): the same facts for all models. For each
    split the facts of every relation are dealt into two halves, the same ones for all models (of an odd
    number one fact stays out, another one each time). ValueError for groups of other shapes or
    numbers of models, fewer than 2 facts in one, or values that are not finite.

    >>> half_accuracies([[[1, 1]], [[0, 0]], [[1, 1]]], seed=0, n_splits=1)[:, 0, 0].tolist()
    [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    """
    tables = [np.asarray(group, dtype=np.float64) for group in groups]
    if n_splits < 1 or not tables:
        raise ValueError(f"{n_splits} splits of {len(tables)} relations; both must be 1 or more")
    if any(t.ndim != 2 or len(t) != len(tables[0]) or t.shape[1] < 2 for t in tables):
        shapes = [t.shape for t in tables]
        raise ValueError(f"shapes are {shapes}; each needs (model, fact) and 2 facts or more")
    if not all(np.isfinite(t).all() for t in tables):
        raise ValueError("a value is not finite; drop and count its fact first")
    rng = np.random.default_rng(seed)
    found = np.empty((2, n_splits, len(tables[0]), len(tables)))
    for r, table in enumerate(tables):
        n = table.shape[1]
        order = rng.permuted(np.tile(np.arange(n), (n_splits, 1)), axis=1)
        for half in (0, 1):
            part = order[:, half * (n // 2) : (half + 1) * (n // 2)]
            found[half, :, :, r] = table[:, part].mean(axis=-1).T
    return found


def reliability(halves: ArrayLike) -> float:
    """How much of a model's spread over relations would come again with other facts.

        h = mean over splits of r(first half, second half),   reliability = 2 h / (1 + h)

    `halves` has the axes (half, split, relation), from `half_accuracies`. The last step (Spearman and
    Brown) goes from half of the facts to all. In [0, 1]: the share of the variance over relations
    that is no noise. 0 where the halves do not agree, which is also what noise alone would give;
    a half without spread counts as one that does not agree. Weakness: with few relations it is a
    rough number. ValueError as `correlation`.

    >>> reliability([[[0.1, 0.2, 0.6]], [[0.2, 0.3, 0.7]]])
    1.0
    """
    h = _agree(halves, halves)
    return max(0.0, 2 * h / (1 + h)) if h > 0 else 0.0


def ceiling(halves_a: ArrayLike, halves_b: ArrayLike) -> float:
    """The r that two models would reach, were it for noise alone: sqrt(reliability * reliability).

    It bounds r only where each model is asked facts of its own. On the same facts, which both find
    easy or hard, r may well lie above. In [0, 1], 0 where one of the two has no reliability: then no r
    can be told from 0. Arguments and errors as in `reliability`.

    >>> ceiling([[[0.1, 0.2, 0.6]], [[0.2, 0.3, 0.7]]], [[[0, 0, 1]], [[0, 0, 1]]])
    1.0
    """
    return float(np.sqrt(reliability(halves_a) * reliability(halves_b)))


def on_other_facts(halves_a: ArrayLike, halves_b: ArrayLike) -> float:
    """r of two models if each had been asked other facts of the same relations.

    The first half of one model with the second half of the other, and the other way round, mean over
    splits: no fact counts on both sides, so that no noise is shared. Then it is raised from halves to
    all facts, by 2 / sqrt((1 + h_a) (1 + h_b)) with the h of `reliability`. In [-1, 1]. Where it lies
    well below r on the same facts, the models agree on facts rather than on relations. Divided by
    `ceiling` it is r without any noise. Arguments and errors as in `reliability`; the splits must be
    the same for both models.

    >>> one, two = [[0.1, 0.2, 0.6]], [[0.6, 0.2, 0.1]]  # each half has its own easy relations
    >>> on_other_facts([one, two], [one, two]) < 0
    True
    """
    a, b = np.asarray(halves_a, dtype=np.float64), np.asarray(halves_b, dtype=np.float64)
    across = (_agree(a, b) + _agree(b, a)) / 2
    own = [max(0.0, _agree(x, x)) for x in (a, b)]
    raised = across * 2 / np.sqrt((1 + own[0]) * (1 + own[1]))
    return float(np.clip(raised, -1.0, 1.0))


def _agree(a: ArrayLike, b: ArrayLike) -> float:
    """Mean over splits of r(first half of a, second half of b); without spread it counts as 0."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.ndim != 3 or len(a) != 2 or a.shape != b.shape:
        raise ValueError(f"shapes are {a.shape} and {b.shape}; both need (half, split, relation)")
    return float(np.nan_to_num(correlation(a[0], b[1]), nan=0.0).mean())
