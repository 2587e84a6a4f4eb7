"""Probes: what a long sequence asks, drawn several times, and how estimators write it."""

from collections.abc import Mapping, Sequence

from lkecore.errors import BadInput, nearest
from lkecore.facts.fact import Fact
from lkecore.facts.sample import draw_shots
from lkecore.prompts.prompt import SEPARATORS
from lkecore.prompts.sequences import Probe, pair_pieces, probes

Probes = Mapping[int, Sequence[Probe]]  # the five sequences of each draw


def draw_probes(
    known: Sequence[Fact],
    relation: Sequence[Fact],
    kind: str,
    *,
    n_pairs: int,
    n_draws: int,
    share_replaced: float,
    n_first: int,
    n_behind: int,
    seed: int,
) -> dict[int, list[Probe]]:
    """Five sequences for each of ``n_draws`` draws: {draw: sequences}.

    They are made by :func:`lkecore.prompts.sequences.probes`.

    ``seed`` is the first draw, each draws ``n_pairs`` of ``known``, their order and which of them are
    replaced. Other objects come from ``relation``, invented subjects are of ``kind``. Raises
    :class:`BadInput` where the ``n_first`` pairs, the beginning that a rise is measured from, are
    more than half of all, for no draw, and as :func:`lkecore.prompts.sequences.probes` and
    :func:`lkecore.facts.sample.draw_shots`.
    """
    if n_first > n_pairs // 2:
        raise BadInput(f"n_first is {n_first}: at most half of {n_pairs} pairs")
    if n_draws < 1:
        raise BadInput(f"n_draws is {n_draws}: must be 1 or more")
    n = round(share_replaced * n_pairs)
    return {
        draw: probes(
            draw_shots(known, n_pairs, draw), relation, n, kind, n_behind=n_behind, seed=draw
        )
        for draw in range(seed, seed + n_draws)
    }


def pieces_of(estimator: str, five: Sequence[Probe]) -> list[tuple[str, ...]]:
    """Sequences as pieces for a scorer, written with the separators of an estimator.

    :class:`BadInput` for one that is not among ``SEPARATORS``.
    """
    if estimator not in SEPARATORS:
        raise BadInput(
            f"estimators: {estimator!r} writes no sequence; {nearest(estimator, SEPARATORS)}"
        )
    inside, between = SEPARATORS[estimator]
    how = {"pair_separator": inside, "shot_separator": between}
    return [pair_pieces(probe.pairs, **how) for probe in five]
