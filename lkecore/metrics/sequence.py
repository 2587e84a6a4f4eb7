"""Metrics of long sequences: what a replaced pair does to the pairs behind it.

Paper: Wu et al. 2024 (arXiv 2404.12957, version 1), Section 3 and appendix E, Figures 2 and 9 to 11.
A sequence of right pairs is scored at every object, and again with some of its pairs replaced
(:mod:`lkecore.prompts.sequences`). A pair that is right in both stands at the same place in both, so that it
is compared with itself. All pairs of a draw share one context: a draw is one trial, not many.

Probabilities are of the whole object given all that stands before it, exp(logprob): not divided by
its tokens, and not a share among options. Arrays have the axes (condition, draw, place); each
condition is a sum, so that places may be put together in runs without changing a ratio.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lkecore.prompts.sequences import Probe

AT = ["draw", "position"]
ROW = [*AT, "kind", "arrangement", "state", "distance", "probability"]


def distances(n: int, replaced: Iterable[int]) -> NDArray[np.float64]:
    """How far each of ``n`` places lies behind the last replaced one, in pairs.

    0 for a replaced one itself, NaN where none stands before. ``replaced`` are places from 0;
    ValueError for one that is not among them.

    >>> distances(6, [1, 4]).tolist()
    [nan, 0.0, 1.0, 2.0, 0.0, 1.0]
    """
    found = np.full(n, np.nan)
    for place in sorted(replaced):
        if not 0 <= place < n:
            raise ValueError(f"replaced place {place}; places go from 0 to {n - 1}")
        found[place:] = np.arange(n - place)
    return found


def answers(probes: Sequence[Probe], pieces: pd.DataFrame) -> pd.DataFrame:
    """One row for each pair of each sequence, from what the scorer says of the pieces.

    ``pieces`` is the frame of :func:`lkecore.scores.tree.piece_logprobs` for the pieces of the
    ``probes`` (:func:`lkecore.prompts.sequences.pair_pieces`), in their order. Columns: ``kind``,
    ``arrangement``, ``position`` (from 1), ``subject``, ``object``, ``state`` (right or replaced),
    ``distance`` (as in :func:`distances`), ``tokens`` (of the sequence, up to the end of the pair),
    ``logprob`` of the object (nats) and its ``probability``. ValueError for a frame of other
    sequences and for an object without a logprob.
    """
    frames = []
    parts = [part for _, part in pieces.groupby("sequence")]
    if len(parts) != len(probes):
        raise ValueError(f"{len(parts)} sequences scored, but there are {len(probes)}")
    for probe, part in zip(probes, parts, strict=True):
        objects = part[part["piece"] % 2 == 1]
        texts = [text.strip() for text in objects["text"]]
        if texts != [pair.object for pair in probe.pairs]:
            raise ValueError(
                f"the scored objects are not those of {probe.kind} {probe.arrangement}"
            )
        logprob = objects["logprob"].to_numpy(dtype=np.float64)
        if not np.isfinite(logprob).all():
            raise ValueError(f"an object of {probe.kind} {probe.arrangement} has no logprob")
        n = len(probe.pairs)
        frame = pd.DataFrame(
            {
                "kind": probe.kind,
                "arrangement": probe.arrangement,
                "position": np.arange(1, n + 1),
                "subject": [pair.subject for pair in probe.pairs],
                "object": texts,
                "state": np.where(np.isin(np.arange(n), probe.replaced), "replaced", "right"),
                "distance": distances(n, probe.replaced),
                "tokens": part["n_tokens"].cumsum()[objects.index].to_numpy(),
                "logprob": logprob,
                "probability": np.exp(logprob),
            }
        )
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def beside_clean(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the sequences with replacements, and what stands at that place without them.

    ``rows`` of one model and estimator, as :func:`answers` makes them, with ``draw``. A new column
    ``clean`` is the probability of the right pair at the same draw and position, all right before
    it. ValueError for missing columns, a row that occurs twice, or one without its clean row.
    """
    if missing := [name for name in ROW if name not in rows.columns]:
        raise ValueError(f"the frame lacks the columns {missing}")
    if rows.duplicated([*AT, "kind", "arrangement"]).any():
        raise ValueError("a draw has a position twice; rows must be of one model and estimator")
    clean = rows[rows["kind"] == "clean"].set_index(AT)["probability"].rename("clean")
    changed = rows[rows["kind"] != "clean"].join(clean, on=AT)
    if changed["clean"].isna().any():
        at = changed.loc[changed["clean"].isna(), AT].iloc[0].to_dict()
        raise ValueError(f"no clean sequence at {at}")
    return changed


def paired(
    beside: pd.DataFrame, kind: str, arrangement: str, within: Sequence[int]
) -> NDArray[np.float64]:
    """Probabilities with and without replacement at certain distances: (2, draw, place).

    ``beside`` as from :func:`beside_clean`; ``within`` are distances behind a replaced pair: [0] for
    the replaced ones themselves, [1] for those directly behind, range(1, 11) for ten behind a block.
    ValueError where there are none, or draws have different numbers of them.
    """
    of = beside[(beside["kind"] == kind) & (beside["arrangement"] == arrangement)]
    here = of[of["distance"].isin(list(within))].sort_values(AT)
    counts = here.groupby("draw").size().reindex(of["draw"].unique(), fill_value=0)
    if counts.nunique() != 1 or not counts.iloc[0]:
        raise ValueError(
            f"{kind} {arrangement}: draws have {counts.tolist()} pairs at distances {list(within)}; "
            "all need the same number, 1 or more"
        )
    shape = len(counts), int(counts.iloc[0])
    return np.stack([here[name].to_numpy().reshape(shape) for name in ("probability", "clean")])


def contrast(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """Two arrays (2, draw, place) as one (4, draw, run), for :func:`difference`.

    The one with more places has neighbouring places put together in runs, as even as can be, so
    that both have as many: a bootstrap can then draw either's places again at once. ValueError for
    other shapes.

    >>> contrast(np.ones((2, 1, 5)), np.ones((2, 1, 2)))[:, 0].tolist()
    [[3.0, 2.0], [3.0, 2.0], [1.0, 1.0], [1.0, 1.0]]
    """
    parts = [np.asarray(part, dtype=np.float64) for part in (a, b)]
    for part in parts:
        if part.ndim != 3 or len(part) != 2 or part.shape[1] != parts[0].shape[1] or not part.size:
            raise ValueError(
                f"shapes are {[p.shape for p in parts]}; both need (2, draw, place), as many draws"
            )
    n = min(part.shape[2] for part in parts)
    return np.concatenate([_runs(part, n) for part in parts])


def _runs(part: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    groups = np.array_split(np.arange(part.shape[2]), n)
    return np.stack([part[..., group].sum(axis=-1) for group in groups], axis=-1)


def rise(clean: ArrayLike, n_first: int = 10) -> NDArray[np.float64]:
    """The last quarter of sequences beside their first pairs, for :func:`difference`.

    ``clean`` is (draw, position), probabilities. The difference is the mean over the last quarter
    (whole pairs, rounded down) minus the mean over the ``n_first``. ValueError where these overlap
    or nothing is in one.
    """
    values = _positions(clean)
    quarter = values.shape[1] // 4
    if not 1 <= n_first <= values.shape[1] - quarter or not quarter:
        raise ValueError(f"{values.shape[1]} pairs have no last quarter behind the first {n_first}")
    return contrast(_counted(values[:, -quarter:]), _counted(values[:, :n_first]))


def settling(clean: ArrayLike) -> NDArray[np.float64]:
    """The last quarter of sequences beside the third, for :func:`difference`; as in :func:`rise`."""
    values = _positions(clean)
    quarter = values.shape[1] // 4
    if not quarter:
        raise ValueError(f"{values.shape[1]} pairs have no quarters")
    third = values[:, -2 * quarter : -quarter]
    return contrast(_counted(values[:, -quarter:]), _counted(third))


def _positions(clean: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(clean, dtype=np.float64)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError(f"probabilities {values.shape} need axes (draw, position), none missing")
    return values


def _counted(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A mean as a ratio of sums: the values, and a one for each."""
    return np.stack([values, np.ones_like(values)])


def ratio(values: NDArray[np.float64]) -> float:
    """Mean probability in the first condition divided by that in the second: (2, draw, place).

    With replacement and without: 1 is no change, 0 nothing left. A ratio of means, so that pairs
    which the model knows count more than those of which it says nearly nothing.

    >>> ratio(np.array([[[0.2, 0.1]], [[0.4, 0.2]]]))  # 0.15 / 0.3
    0.5
    """
    return float(values[0].sum() / values[1].sum())


def change(values: NDArray[np.float64]) -> float:
    """:func:`ratio` minus 1: -0.1 says that a tenth is lost."""
    return ratio(values) - 1


def difference(values: NDArray[np.float64]) -> float:
    """Ratio of the first two conditions minus that of the others; see :func:`contrast`.

    >>> float(round(difference(np.array([[[0.8, 0.6]], [[1, 1]], [[0.2, 0.2]], [[1, 1]]])), 6))
    0.5
    """
    return ratio(values[:2]) - ratio(values[2:])
