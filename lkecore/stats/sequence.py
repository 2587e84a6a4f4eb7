"""Long sequences: a row for each pair, from the scores of the pieces.

Paper: Wu et al. 2024 (arXiv 2404.12957, version 1), Section 3 and appendix E, Figures 2 and 9 to 11.
Probabilities are of the whole object given the whole text before it, exp(logprob). They are not divided
by the number of its tokens, and no share among options.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore.prompts.sequences import Probe


def distances(n: int, replaced: Iterable[int]) -> NDArray[np.float64]:
    """The distance of each of ``n`` places after the last replaced one, in pairs.

    It is 0 for a replaced place itself, and NaN if none precedes. ``replaced`` are places from 0;
    ValueError for one that is not among the ``n``.

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
    """A row for each pair of each sequence, from the scores of the pieces.

    ``pieces`` is the frame of :func:`lkecore.scores.tree.piece_logprobs` for the pieces of the
    ``probes`` (:func:`lkecore.prompts.sequences.pair_pieces`), in their order. The columns are:

    - ``kind``, ``arrangement``: those of the probe;
    - ``position``: from 1; ``subject``, ``object``; ``state``: right or replaced;
    - ``distance``: as in :func:`distances`;
    - ``tokens``: the number in the sequence, up to the end of the pair;
    - ``logprob`` of the object, in nats, and its ``probability``.

    ValueError for a frame of other sequences and for an object without a logprob.
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
