"""Overlap: does one model have right what another one has right? From answers to rates of pairs.

Every function takes the frame of answers and ``pairs`` of models, the smaller (or tuned) one first,
and gives a row for each group of ``by`` and each pair that both stand in it, on the facts that both
were asked, if there are any.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers.tables import by_relation, groups_of, side_by_side
from lkecore.facts.world import is_spec as is_world
from lkecore.facts.world import states
from lkecore.intervals import Interval
from lkecore.metrics import overlap, planted

Pairs = Sequence[tuple[str, str]]


def by_relations(answers: pd.DataFrame, pairs: Pairs, *, by: Sequence[str] = ()) -> pd.DataFrame:
    """The subsumption rate of each relation (IC-E6): which share of the small one's facts is the large one's?

    Columns: ``by``, ``small``, ``large``, ``relation``, ``small_right`` and ``both`` (facts), ``eta``
    (NaN where the small one is never right) and ``large_accuracy``, in [0, 1].
    """
    rows = []
    for key, small, large, parts in _pairs(answers, pairs, by):
        for name, a, b, _ in parts:
            row = a.sum(), (a & b).sum(), overlap.subsumption(a, b), b.mean()
            rows.append((*key, small, large, name, *row))
    columns = [*by, "small", "large", "relation", "small_right", "both", "eta", "large_accuracy"]
    return pd.DataFrame(rows, columns=columns)


def rates(
    answers: pd.DataFrame, pairs: Pairs, *, by: Sequence[str] = (), seed: int
) -> pd.DataFrame:
    """The subsumption rate as the mean over relations, with its two yardsticks.

    Relations in which the small model is right fewer than 2 times are left out: of none there is no
    rate, of one no interval. Columns: ``by``, ``small``, ``large``; ``over_facts`` and
    ``over_relations``, the rate with an interval that draws again from the facts that the small model has
    right, and one over other relations (Student's t); ``independent``: the rate if the two were right
    independently of each other, the mean accuracy of the large one; ``luck``: which share of the small
    one's right answers blind guesses would give (:func:`lkecore.metrics.overlap.luck`); ``counted``:
    relations.
    A pair with fewer than 2 relations that count has no row.
    """
    rows = []
    for key, small, large, parts in _pairs(answers, pairs, by):
        parts = [(a, b, n) for _, a, b, n in parts if a.sum() >= 2]
        if len(parts) < 2:
            continue
        shares = [b[a] for a, b, _ in parts]
        alike = np.mean([b.mean() for _, b, _ in parts])
        right = np.mean([a.mean() for a, _, _ in parts])
        guesses = float(overlap.luck(right, 1 / _options(parts)))
        over = (
            intervals.mean_over_facts(shares, seed=seed),
            intervals.mean_over_relations(shares, within=intervals.SHARE),
        )
        rows.append((*key, small, large, *over, alike, guesses, len(parts)))
    columns = ["over_facts", "over_relations", "independent", "luck", "counted"]
    return pd.DataFrame(rows, columns=[*by, "small", "large", *columns])


def own_facts(answers: pd.DataFrame, pairs: Pairs, *, by: Sequence[str] = ()) -> pd.DataFrame:
    """Is the small model right where the large one is wrong, and oftener than a guess would be?

    Columns: ``by``, ``small``, ``large``; ``missed``, facts that the large one misses; ``small_right``
    of them; ``by_guessing``, how many blind guesses would get; ``share``, an Interval (Wilson); ``p``
    of an exact binomial test against guessing, one-sided, corrected by Holm for all rows. A small p
    says that the small model knows some of them, or guesses well. A pair without missed facts has no
    row.
    """
    rows = []
    for key, small, large, parts in _pairs(answers, pairs, by):
        a, b = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        missed, right = int((~b).sum()), int((a & ~b).sum())
        if not missed:
            continue
        chance = 1 / _options([part[1:] for part in parts])
        counts = missed, right, round(missed * chance, 1)
        share = intervals.proportion(right, missed)
        p = intervals.guess_p(right, missed, chance)
        rows.append((*key, small, large, *counts, share, p))
    columns = ["small", "large", "missed", "small_right", "by_guessing", "share", "p"]
    found = pd.DataFrame(rows, columns=[*by, *columns])
    return found.assign(p=intervals.holm(found["p"].astype(float)))


def rates_without_luck(
    answers: pd.DataFrame, pairs: Pairs, *, by: Sequence[str] = (), seed: int
) -> pd.DataFrame:
    """The subsumption rate of what the small model knows, with its lucky guesses taken off.

    As multiple-choice tests are marked (:func:`lkecore.metrics.overlap.without_luck`), over all
    relations together, since one alone is too noisy. Columns: ``by``, ``small``, ``large``; ``knows``:
    the share of facts that the small model then still has; ``without_luck``: the share of these that
    the large one answers, too, or None if nothing is left. Both are Intervals over relations.
    """
    rows = []
    for key, small, large, parts in _pairs(answers, pairs, by):
        n = _options([part[1:] for part in parts])
        groups = [[part[i] for part in parts] for i in (1, 2)]
        knows = intervals.share_known(groups[0], n)
        found = intervals.rate_without_luck(*groups, n, seed=seed)
        rows.append((*key, small, large, knows, found))
    return pd.DataFrame(rows, columns=[*by, "small", "large", "knows", "without_luck"])


def steadiness(
    answers: pd.DataFrame, pairs: Pairs, estimator: str, again: Sequence[str], *, sure: float
) -> pd.DataFrame:
    """Does the large model have what the small one is sure of, and the small one have it again?

    ``answers`` hold ``estimator`` and, for the second part, the first of ``again``, of the same facts.
    A row for each pair whose models are both there: ``small``, ``large``; ``right``, the facts that the
    small one has right by ``estimator``; ``sure``, those of them with a confidence above ``sure``;
    ``of_all`` and ``of_the_sure``, the shares of them that the large one has, too; ``itself``, the
    share of all that the small one has right again by the second estimator. Shares are Intervals
    (Wilson, over all relations together), or None of nothing.
    """
    parts = dict(list(answers.groupby("estimator", sort=False)))
    right = {name: side_by_side(parts[name], "model") for name in [estimator, *again[:1]]}
    confidence = parts[estimator].set_index(["relation", "fact", "model"])["confidence"].unstack()
    rows = []
    for small, large in pairs:
        if small not in confidence or large not in confidence:
            continue
        both = right[estimator][[small, large]].dropna().astype(bool)
        known, other = both[small], both[large]
        certain = known & (confidence.loc[both.index, small] > sure)
        shares = [_share(known, other), _share(certain, other)]
        for name in again[:1]:
            once_more = right[name][small].dropna().astype(bool)
            same = known.index.intersection(once_more.index)
            shares.append(_share(known[same], once_more[same]))
        rows.append(
            (small, large, known.sum(), certain.sum(), *shares, *[None] * (3 - len(shares)))
        )
    columns = ["small", "large", "right", "sure", "of_all", "of_the_sure", "itself"]
    return pd.DataFrame(rows, columns=columns)


def by_told(answers: pd.DataFrame, pairs: Pairs, world: str) -> pd.DataFrame:
    """The subsumption rate by how often a world's text tells a fact; no rows for other facts.

    Columns: ``small``, ``large``, ``told`` (one of ``lkecore.metrics.planted.LEVELS``, in their
    order), ``facts``; ``accuracy_small``, ``accuracy_large``; ``small_right``, facts; ``eta``: the share
    of these that the large one has, too, an Interval (Wilson), or None of nothing.
    """
    columns = ["small", "large", "told", "facts", "accuracy_small", "accuracy_large"]
    rows = []
    if is_world(world):
        truth = states(world)
        told = truth.assign(told=planted.told_levels(truth)).set_index("fact")["told"]
        for _, small, large, _ in _pairs(answers, pairs, []):
            hits = side_by_side(answers, "model")[[small, large]].dropna().astype(bool)
            hits = hits.reset_index().assign(told=lambda frame: frame["fact"].map(told))
            for level in [name for name in planted.LEVELS if name in set(hits["told"])]:
                part = hits[hits["told"] == level]
                means = part[small].mean(), part[large].mean()
                share = _share(part[small], part[large])
                rows.append((small, large, level, len(part), *means, part[small].sum(), share))
    return pd.DataFrame(rows, columns=[*columns, "small_right", "eta"])


def _share(of: pd.Series, also: pd.Series) -> Interval | None:
    n, both = int(of.sum()), int((of & also).sum())
    return intervals.proportion(both, n) if n else None


def read_as(
    tested: Mapping[tuple[str, str], Interval], without_luck: pd.DataFrame, claim: pd.Series
) -> dict[tuple[str, str, str], str]:
    """What :func:`lkecore.answers.verdicts.judge` marks of a claim on rates that luck alone can make hold.

    ``tested`` has the rate under (source, "small, large"), ``without_luck`` is of
    :func:`rates_without_luck` by source. Where the claim holds by the rate, it is marked "may be luck"
    if the rate without luck may be 1, or is nothing: then nothing need be missing that the small model
    knows. Else the mark is the verdict that the rate without luck gives, where it is another one, such as
    "undecided without luck".
    """
    left = {
        (row.source, f"{row.small}, {row.large}"): row.without_luck
        for row in without_luck.itertuples()
    }
    marks = {}
    for (source, models), interval in tested.items():
        if papers.claim_verdict(interval, claim) == "holds":
            found = left[source, models]
            sure = found is not None and found.high < 1
            reading = papers.claim_verdict(found, claim) if sure else ""
            if reading != "holds":
                mark = f"{reading} without luck" if reading else "may be luck"
                marks[claim.name, source, models] = mark
    return marks


def _pairs(
    answers: pd.DataFrame, pairs: Pairs, by: Sequence[str]
) -> Iterator[tuple[tuple, str, str, list[tuple]]]:
    """(group, small, large, [(relation, small right, large right, n_options)]) of every row."""
    for key, part in groups_of(answers, by):
        wide = side_by_side(part, "model")
        n_options = part.groupby("relation")["n_options"].max()
        for small, large in pairs:
            if small in wide and large in wide:
                both = wide[[small, large]].dropna().astype(bool).reset_index()
                if both.empty:
                    continue
                names = both["relation"].unique()
                parts = zip(names, by_relation(both, small), by_relation(both, large), strict=True)
                yield key, small, large, [(n, a, b, int(n_options[n])) for n, a, b in parts]


def _options(parts: Sequence[tuple]) -> int:
    """The number of options, which a share of luck needs to be one and the same."""
    numbers = {part[-1] for part in parts}
    if len(numbers) > 1:
        raise ValueError(f"relations have {sorted(numbers)} options; luck needs one number")
    return numbers.pop()
