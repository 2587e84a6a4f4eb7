"""Sequence: from long sequences of pairs to levels, changes of neighbours and tests of claims.

The door is :func:`lkecore.answers.pairs.ask_pairs`; it gives a row for each pair of each sequence. All
functions here take that frame (:func:`lkecore.metrics.sequence.answers` with the columns of the
door), and group it by columns that you name. A group is one model asked in one way, about one relation or
several: then each counts alike, and intervals are over relations (:mod:`lkecore.answers.over`).
Probabilities are of whole objects, and arrays have the axes of :mod:`lkecore.metrics.sequence`.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers import over
from lkecore.answers.tables import groups_of
from lkecore.metrics import sequence

KINDS = ("unknown", "incorrect")
DISTURBED = {"unknown": "IC-unknown-calm", "incorrect": "IC-incorrect-drop"}  # claims
TOGETHER = 5  # distances behind a block that are put together: each has one pair a draw
FEWEST = 10  # pairs of a distance: fewer get no interval


def levels(answers: pd.DataFrame, by: Sequence[str], *, n_first: int) -> pd.DataFrame:
    """How probable the right objects of the clean sequences are, stretch by stretch, mean over draws.

    Columns: ``by``, ``draws``, ``pairs``; ``first N``, the mean over the ``n_first`` pairs; ``1st
    quarter`` to ``last``, over quarters of whole pairs counted from the end; ``share above 0.5``.
    """
    rows = []
    for key, part in groups_of(answers, by):
        each = [clean_of(its) for its in over.each_relation(part)]
        n, q = each[0].shape[1], each[0].shape[1] // 4
        ends = [(0, n_first), *((n - i * q, n - i * q + q) for i in (4, 3, 2, 1))]
        means = [np.mean([clean[:, a:b].mean() for clean in each]) for a, b in ends]
        above = np.mean([(clean > 0.5).mean() for clean in each])
        rows.append((*key, sum(map(len, each)), n, *means, above))
    columns = [*by, "draws", "pairs", f"first {n_first}", "1st quarter", "2nd", "3rd", "last"]
    return pd.DataFrame(rows, columns=[*columns, "share above 0.5"])


def changes(answers: pd.DataFrame, by: Sequence[str], *, n_behind: int, seed: int) -> pd.DataFrame:
    """What replaced pairs do to their neighbours, each compared with itself without them.

    Neighbours are the pairs directly behind distributed ones, and the first ``n_behind`` behind a
    block. A row for each group, kind and arrangement. Columns: ``by``, ``kind``, ``arrangement``;
    ``pairs``; ``without`` and ``with``, the mean probability of the neighbours; ``change``, the ratio of
    these minus 1, with an interval that draws draws again and within each its own places; ``least``
    and ``most``, the lowest and the highest change of a single draw. Of several relations ``change`` is the
    mean of theirs, and ``least`` and ``most`` are of a single relation.
    """
    rows = []
    for key, part in groups_of(answers, by):
        for at, each in _near(part, _neighbours(n_behind)).items():
            found = _found(each, sequence.change, seed)
            units = each if len(each) > 1 else each[0].swapaxes(0, 1)[:, :, None]
            single = [sequence.change(one) for one in units]
            without, with_ = np.mean(
                [(values[1].mean(), values[0].mean()) for values in each], axis=0
            )
            n = sum(values[0].size for values in each)
            rows.append((*key, *at, n, without, with_, found, min(single), max(single)))
    columns = ["kind", "arrangement", "pairs", "without", "with", "change", "least", "most"]
    return pd.DataFrame(rows, columns=[*by, *columns])


def behind_block(changes: pd.DataFrame, group: Mapping[str, str]) -> str:
    """A sentence on what a block does to the pairs behind it, for one group of :func:`changes`.

    ``group`` has the value of some columns, such as source, model and estimator.
    """
    of = (changes[list(group)] == pd.Series(group)).all(axis=1)
    block = changes[of & (changes["arrangement"] == "block")].set_index("kind")["change"]
    told = (
        f"Behind a block of invented subjects the right objects change by {block['unknown'].text()}"
    )
    told += " (a share, 95 % interval), behind a block of wrong pairs by"
    return f"{told} {block['incorrect'].text()}."


def longer_run(levels: pd.DataFrame, changes: pd.DataFrame, by: Sequence[str]) -> str:
    """A sentence on the shipped model with most to lose, as :func:`behind_block`; a dash if none ships.

    ``levels`` and ``changes`` are by ``by``, which names ``source``, ``model`` and ``estimator``.
    """
    others = levels[levels["source"] != "this page"].reset_index(drop=True)
    if others.empty:
        return "-"
    most = others.loc[others["last"].idxmax()]
    name = named(others)[others["last"].idxmax()]
    told = f"In longer runs {name} has most to lose ({most['last']:.2f}, {most['estimator']})."
    return f"{told} {behind_block(changes, most[list(by)].to_dict())}"


def replaced(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """The replaced pairs themselves: how probable is what stands there, beside the right objects?

    Columns: ``by``, ``kind``, ``arrangement``, ``pairs``; ``right`` and ``replaced``, the mean
    probability of the right objects of these places and of those that stand there instead;
    ``share``, the second divided by the first, with an interval as in :func:`changes`.
    """
    rows = []
    for key, part in groups_of(answers, by):
        for at, each in _near(part, {"distributed": [0], "block": [0]}).items():
            found = _found(each, sequence.ratio, seed)
            right, gone = np.mean([(values[1].mean(), values[0].mean()) for values in each], axis=0)
            rows.append((*key, *at, sum(values[0].size for values in each), right, gone, found))
    columns = ["kind", "arrangement", "pairs", "right", "replaced", "share"]
    return pd.DataFrame(rows, columns=[*by, *columns])


def reach(answers: pd.DataFrame, by: Sequence[str], *, n_behind: int, seed: int) -> pd.DataFrame:
    """The change at each distance behind the last replaced pair, up to ``n_behind``.

    Columns: ``by``, ``kind``; ``at``: the distance, or "block 1–5" where five behind a block are put
    together; ``pairs``; ``change``, with an interval over the pairs of all draws, as if each stood in
    a text of its own, or over relations. Places with fewer than 10 pairs are left out.
    """
    rows = []
    for key, part in groups_of(answers, by):
        beside = _beside_clean(part)
        near = beside[beside["distance"].between(1, n_behind)]
        apart = near["distance"].astype(int)
        low = (apart - 1) // TOGETHER * TOGETHER + 1
        high = np.minimum(low + TOGETHER - 1, n_behind)
        name = "block " + low.astype(str) + "–" + high.astype(str)
        near = near.assign(at=apart.astype(str).mask(near["arrangement"] == "block", name))
        for at, some in near.groupby(["kind", "at"], sort=False):
            if len(some) >= FEWEST:
                rows.append((*key, *at, len(some), _over_pairs(some, seed)))
    return pd.DataFrame(rows, columns=[*by, "kind", "at", "pairs", "change"])


def of_the_sure(
    answers: pd.DataFrame, by: Sequence[str], *, n_behind: int, least: float, seed: int
) -> pd.DataFrame:
    """:func:`changes` of the neighbours whose probability without replacement is ``least`` or more.

    Columns: ``by``, ``kind``, ``arrangement``, ``pairs``; ``change``, with an interval over pairs, or of
    several relations that have such pairs over these, or None for a single pair. Groups without such pairs
    have no row.
    """
    rows = []
    for key, part in groups_of(answers, by):
        beside = _beside_clean(part)
        sure = beside[_is_neighbour(beside, n_behind) & (beside["clean"] >= least)]
        for at, some in sure.groupby(["kind", "arrangement"], sort=False):
            found = _over_pairs(some, seed) if len(some) > 1 else None
            rows.append((*key, *at, len(some), found))
    return pd.DataFrame(rows, columns=[*by, "kind", "arrangement", "pairs", "change"])


def roles(answers: pd.DataFrame, *, n_behind: int) -> pd.DataFrame:
    """One draw of each source and model in one way, the first of each, with a ``role`` for each pair.

    ``role`` is "replaced", "behind" (a neighbour, as in :func:`changes`) or "right". Of several relations,
    whose draws have the same places, ``probability`` is the mean at each.
    """
    one = ["draw", "estimator"]
    first = answers.groupby(["source", "model"])[one].transform("first")
    drawn = answers[(answers[one] == first).all(axis=1)]
    role = np.where(_is_neighbour(drawn, n_behind), "behind", "right")
    drawn = drawn.assign(role=np.where(drawn["state"] == "replaced", "replaced", role))
    place = [
        "source",
        "model",
        *one,
        "kind",
        "arrangement",
        "position",
        "state",
        "distance",
        "role",
    ]
    means = drawn.groupby(place, sort=False, dropna=False)["probability"].mean()
    return means.reset_index()


# --- claims


def tests(
    answers: pd.DataFrame, by: Sequence[str], *, n_first: int, n_behind: int, seed: int
) -> pd.DataFrame:
    """The statistics of the claims that need more than one table, a row for each group and claim.

    Columns: ``by``; ``id`` of the claim; ``arrangement``, what is compared, or ""; ``found``, an
    Interval as in :func:`changes`; ``level``, the mean probability that can be lost or settle: of the
    last quarter of the clean sequences, of their second half, or the lower of the two levels of
    neighbours of incorrect pairs.
    """
    rows = []
    for key, part in groups_of(answers, by):
        cleans = [clean_of(its) for its in over.each_relation(part)]
        near = _near(part, _neighbours(n_behind))
        quarter = cleans[0].shape[1] // 4
        wrong = [near["incorrect", where] for where in ("block", "distributed")]
        cases = [
            (
                "IC-sequence-rise",
                "",
                [sequence.rise(clean, n_first) for clean in cleans],
                np.mean([clean[:, -quarter:].mean() for clean in cleans]),
            ),
            (
                "IC-sequence-settles",
                "",
                [sequence.settling(clean) for clean in cleans],
                np.mean([clean[:, -2 * quarter :].mean() for clean in cleans]),
            ),
            (
                "IC-incorrect-block",
                "block – distributed",
                [sequence.contrast(*two) for two in zip(*wrong, strict=True)],
                min(np.mean([values[1].mean() for values in each]) for each in wrong),
            ),
        ]
        for claim, where, both, level in cases:
            rows.append((*key, claim, where, _found(both, sequence.difference, seed), level))
    return pd.DataFrame(rows, columns=[*by, "id", "arrangement", "found", "level"])


def every_test(tests: pd.DataFrame, changes: pd.DataFrame, replaced: pd.DataFrame) -> pd.DataFrame:
    """All that the claims are judged by: :func:`tests`, with the rows of the two tables below.

    :func:`changes` test whether unknown pairs hardly disturb and incorrect ones do, :func:`replaced`
    whether objects of invented subjects are improbable. Columns as :func:`tests`; ``level`` of these
    is that of the right pairs at the same places, without replacement.
    """
    moved = changes.assign(id=changes["kind"].map(DISTURBED), level=changes["without"])
    unknown = replaced[replaced["kind"] == "unknown"]
    near_zero = unknown.assign(id="IC-unknown-near-zero", level=unknown["right"])
    parts = [tests, moved.rename(columns={"change": "found"})]
    parts.append(near_zero.rename(columns={"share": "found"}))
    return pd.concat([part[list(tests)] for part in parts], ignore_index=True)


def judged_by(
    every: pd.DataFrame, *, little: float
) -> tuple[dict[str, dict[str, dict[tuple[str, str], intervals.Interval]]], dict[tuple, str]]:
    """(tested, marks) for :func:`lkecore.answers.verdicts.judge_ways`, from :func:`every_test`.

    A way is the estimator and, behind a comma, the arrangement. What is over relations is of the claim over
    them. Where the level lies below ``little``, the verdict is marked "little to lose".
    """
    tested: dict[str, dict[str, dict[tuple[str, str], intervals.Interval]]] = {}
    marks = {}
    for row in every.itertuples():
        way, claim = way_of(row.estimator, row.arrangement), over.claim_of(row.id, row.found)
        tested.setdefault(way, {}).setdefault(claim, {})[row.source, row.model] = row.found
        if row.level < little:
            marks[claim, row.source, row.model, way] = "little to lose"
    return tested, marks


def way_of(estimator: str, arrangement: str) -> str:
    """How a way is called in the verdicts, such as "iclke-space, block"."""
    return f"{estimator}, {arrangement}" if arrangement else estimator


def verdicts_by_model(judged: pd.DataFrame) -> pd.DataFrame:
    """Verdicts, a row for each claim and way, and a column for each model.

    ``judged`` as :func:`lkecore.answers.verdicts.judge_ways` found it.

    A cell has the verdict and, in brackets, its mark; a model of another source has that behind its
    name. The claim stands in the first of its rows alone, and the one over relations in the same rows.
    """
    judged = over.side_by_side(judged)
    marks = judged["mark"].map(lambda mark: mark and f" ({mark})")
    told = judged.assign(cell=judged["verdict"] + marks, model=named(judged, "models"))
    told["claim"] += " Holds if " + told["holds_if"] + "."
    index = ["claim", "estimator"]
    rank = {key: i for i, key in enumerate(papers.claims()["id"])}
    order = told.sort_values("id", key=lambda ids: ids.map(rank), kind="stable")[index]
    models = told.sort_values("source", key=lambda name: name != "this page", kind="stable")[
        "model"
    ]
    wide = told.pivot(index=index, columns="model", values="cell")[models.unique()]
    found = wide.loc[pd.MultiIndex.from_frame(order.drop_duplicates())].fillna("")
    found = found.rename_axis(columns=None).reset_index()
    return found.assign(claim=found["claim"].mask(found["claim"].duplicated(), ""))


def named(frame: pd.DataFrame, column: str = "model") -> pd.Series:
    """The name of each model as figures and tables have it: "smollm2", or "smollm2 (kamel)" if shipped."""
    profile = frame["source"].map(
        lambda source: "" if source == "this page" else f" ({source.removeprefix('shipped: ')})"
    )
    return frame[column] + profile


# --- inside


def clean_of(part: pd.DataFrame) -> np.ndarray:
    """(draw, position): the probabilities of the clean sequences about one relation."""
    right = part[part["kind"] == "clean"]
    return right.pivot(index="draw", columns="position", values="probability").to_numpy()


def _near(
    part: pd.DataFrame, within: Mapping[str, Sequence[int]]
) -> dict[tuple[str, str], list[np.ndarray]]:
    """{(kind, arrangement): (2, draw, place) of each relation} at the distances of each arrangement."""
    each = [sequence.beside_clean(its) for its in over.each_relation(part)]
    return {
        (kind, where): [sequence.paired(beside, kind, where, distances) for beside in each]
        for kind in KINDS
        for where, distances in within.items()
    }


def _neighbours(n_behind: int) -> dict[str, list[int]]:
    return {"distributed": [1], "block": list(range(1, n_behind + 1))}


def _is_neighbour(rows: pd.DataFrame, n_behind: int) -> pd.Series:
    furthest = rows["arrangement"].map({name: max(d) for name, d in _neighbours(n_behind).items()})
    return (rows["distance"] >= 1) & (rows["distance"] <= furthest)


def _beside_clean(part: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([sequence.beside_clean(its) for its in over.each_relation(part)])


def _found(
    each: Sequence[np.ndarray], statistic: Callable[[np.ndarray], float], seed: int
) -> intervals.Interval:
    """Of one relation: draws are drawn again, and within each its own places. Else over relations."""
    if len(each) > 1:
        return over.over_relations([statistic(values) for values in each])
    how = {"seed": seed, "redraw": 1, "nested": True, "n_resamples": 2_000}
    return intervals.statistic_over_facts(each[0], statistic, **how)


def _over_pairs(rows: pd.DataFrame, seed: int) -> intervals.Interval:
    each = [its[["probability", "clean"]].to_numpy().T for its in over.each_relation(rows)]
    if len(each) > 1:
        return over.over_relations([sequence.change(both) for both in each])
    [both] = each
    return intervals.statistic_over_facts(both, sequence.change, seed=seed, n_resamples=1_000)
