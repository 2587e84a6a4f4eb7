"""Sure: confidence against planted shares. A text that says A three times and B once is three quarters A.

Of most questions nobody knows how sure a model should be. Of a rich world it is known: its text tells some
facts with one object always, others with two or three in proportions. What a perfect reader would
answer is the share of each.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers import rich
from lkecore.answers.tables import groups_of
from lkecore.facts.drawn import Sample
from lkecore.facts.rich_facts import BETWEEN
from lkecore.intervals import Interval


def asked(states: pd.DataFrame) -> pd.Series:
    """Which facts the page asks, of :func:`lkecore.facts.worlds.states`.

    Those that are told with several objects; those told with one as many times in all; and as many facts
    that are never told, the controls of both.
    """
    uncertain = states["state"].eq("uncertain")
    totals = set(states.loc[uncertain, "occurrences"])
    certain = states["state"].eq("planted") & states["occurrences"].isin(totals)
    told = uncertain | certain
    controls = set(states.loc[told & states["split"].eq("test"), "control"])
    return told | states["fact"].isin(controls)


def counts(samples: Mapping[str, Sample]) -> pd.DataFrame:
    """How many facts are asked, by planted ratio ("none" of never-told ones) and number of tellings."""
    facts = rich.asked_facts(samples).assign(**dict.fromkeys(rich.TOLD, np.nan))
    facts = beside_shares(facts)
    return pd.crosstab(facts["ratio"].replace("", "none"), facts["told"])


def beside_shares(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers of :func:`lkecore.answers.rich.beside_hints` beside what the text says of their facts.

    Columns more: ``told``: how often, of all objects together; ``ratio``: the planted proportions, as in
    "2:1:1", "1" where one object is told and "" where none; ``planted_entropy`` of them in nats (0 for
    one; NaN for none); ``among``: the confidence in all told objects together; ``form`` in which the fact is
    told. Sorted by relation and fact, since bootstraps draw by place.
    """
    found = rich.with_states(answers, ["subject", "told_times", "occurrences", "form"])
    found = found.rename(columns={"occurrences": "told"})
    shares = [_shares(times) for times in found["told_times"]]
    sums = found[rich.TOLD].sum(axis=1, min_count=1)
    found = found.assign(
        ratio=[_ratio(each) for each in shares],
        planted_entropy=[_entropy(each) for each in shares],
        among=sums,
    )
    return found.sort_values(["relation", "fact"], kind="stable", ignore_index=True)


def _shares(times: str) -> np.ndarray:
    """The planted shares of "36;12": 0.75 and 0.25; none of ""."""
    counts = np.array([int(n) for n in times.split(BETWEEN) if n], dtype=float)
    return counts / counts.sum() if len(counts) else counts


def _ratio(shares: np.ndarray) -> str:
    least = shares.min() if len(shares) else 1.0
    return ":".join(str(round(share / least)) for share in shares)


def _entropy(shares: np.ndarray) -> float:
    """In nats; NaN of no shares."""
    return float((shares * np.log(1 / shares)).sum()) if len(shares) else float("nan")


def by_object(answers: pd.DataFrame) -> pd.DataFrame:
    """A row for each told object of each answer of :func:`beside_shares`.

    Columns: those of the answers that name model, world, estimator, relation, fact, ``told``, ``ratio``,
    ``form``; ``planted``, the share of the object in what the text says of the fact; ``confidence`` in it,
    and ``relative``: its part of the confidence in all told objects. All three in [0, 1].
    """
    key = ["model", "world", "estimator", "relation", "fact", "told", "ratio", "form"]
    parts = []
    for i, column in enumerate(rich.TOLD):
        some = answers[answers[column].notna()]
        planted = [_shares(times)[i] for times in some["told_times"]]
        confidence = some[column].to_numpy()
        parts.append(
            some[key].assign(
                planted=planted,
                confidence=confidence,
                relative=confidence / some["among"].to_numpy(),
            )
        )
    return pd.concat(parts, ignore_index=True)


def curve(objects: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """The mean confidence in objects over their planted share, by groups of :func:`by_object`.

    Columns: ``by``, ``planted``; ``facts``; ``confidence`` and ``relative``, Intervals over facts. Where all
    objects of a fact have one share the fact counts with their mean.
    """
    rows = []
    for key, part in groups_of(
        objects.assign(planted=objects["planted"].round(4)), [*by, "planted"]
    ):
        means = part.groupby(["world", "relation", "fact"], sort=False)[["confidence", "relative"]]
        values = means.mean()
        if len(values) < 2:
            continue
        each = [intervals.mean_over_facts([values[name]], seed=seed) for name in values]
        rows.append((*key, len(values), *each))
    found = pd.DataFrame(rows, columns=[*by, "planted", "facts", "confidence", "relative"])
    return found.sort_values([*by, "planted"], ignore_index=True)


def by_ratio(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """How sure an estimator is of its answer, by what the text says: by groups and planted ratio.

    Columns: ``by``, ``ratio`` ("none" of never-told facts); ``facts``; ``planted_entropy`` (nats);
    ``entropy`` of the options (nats, 0 to their number's logarithm), ``confidence`` in the answer and
    ``among``, in all told objects, in [0, 1]: Intervals over facts, ``among`` None where none is told.
    """
    rows = []
    named = answers.assign(ratio=answers["ratio"].replace("", "none"))
    for key, part in groups_of(named, [*by, "ratio"]):
        if len(part) < 2:
            continue
        columns = ["entropy", "confidence", "among"]
        found = [
            None if part[name].isna().all() else intervals.mean_over_facts([part[name]], seed=seed)
            for name in columns
        ]
        rows.append((*key, len(part), part["planted_entropy"].iloc[0], *found))
    columns = [*by, "ratio", "facts", "planted_entropy", "entropy", "confidence", "among"]
    table = pd.DataFrame(rows, columns=columns)
    at = table["planted_entropy"].fillna(np.inf)
    return table.assign(_at=at).sort_values([*by, "_at"], kind="stable").drop(columns="_at")


def first_of_two(answers: pd.DataFrame) -> Interval:
    """Of facts told with two objects of unequal shares: how often the one told more has more confidence.

    In [0, 1], by Wilson; a half is no telling apart.
    """
    some = answers[answers["ratio"].isin(["3:1", "2:1"])]
    more = some["confidence_1"] > some["confidence_2"]
    return intervals.proportion(int(more.sum()), len(some))


def follows_shares(objects: pd.DataFrame, *, seed: int) -> Interval:
    """Pearson's r of ``relative`` with ``planted`` share, over the objects of facts told with several.

    An Interval over facts, whose objects stay together; in [-1, 1].
    """
    sums = np.array([_sums(pairs) for _, pairs in _several(objects)]).T  # (sum, fact)
    return intervals.statistic_over_facts(
        sums, lambda many: _r(many.sum(axis=-1).T), seed=seed, vectorized=True
    )


def _several(objects: pd.DataFrame) -> Iterator[tuple[tuple, np.ndarray]]:
    """(world and fact, planted and relative share of each object) of each fact told with several."""
    for fact, part in objects[objects["ratio"].ne("1")].groupby(["world", "fact"]):
        yield fact, part[["planted", "relative"]].to_numpy()


def _sums(pairs: np.ndarray) -> np.ndarray:
    """What a correlation needs of the pairs of one fact: their number, sums, squares and products."""
    x, y = pairs.T
    return np.array([len(x), x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum()])


def _r(sums: np.ndarray) -> np.ndarray:
    """Pearson's r of each resample, from sums over its facts: (sum, resample)."""
    n, x, y, xx, yy, xy = sums
    spread = (xx - x * x / n) * (yy - y * y / n)
    return (xy - x * y / n) / np.sqrt(np.maximum(spread, 1e-300))


def by_way(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Do confidences follow the shares? By model and estimator, of answers of :func:`beside_shares`.

    Columns: ``model``, ``estimator``; ``facts`` with several objects; ``first``, of :func:`first_of_two`, and
    ``r``, of :func:`follows_shares`, Intervals over facts.
    """
    rows = []
    for key, part in groups_of(answers, ["model", "estimator"]):
        several = part["ratio"].str.contains(":")
        r = follows_shares(by_object(part), seed=seed)
        rows.append((*key, int(several.sum()), first_of_two(part), r))
    return pd.DataFrame(rows, columns=["model", "estimator", "facts", "first", "r"])


def surer_of_one(answers: pd.DataFrame, *, seed: int) -> Interval:
    """The mean entropy of facts told with two objects equally often minus that of facts told with one (nats).

    An Interval over facts, each kind drawn by itself. Above 0: the model is less sure of what the text leaves
    open.
    """
    two, one = (answers.loc[answers["ratio"] == ratio, "entropy"] for ratio in ("1:1", "1"))
    return _apart(two, one, seed)


def surer_of_told(answers: pd.DataFrame, *, seed: int) -> Interval:
    """The mean entropy of never-told facts minus that of facts told with one object (nats)."""
    none, one = (answers.loc[answers["ratio"] == ratio, "entropy"] for ratio in ("", "1"))
    return _apart(none, one, seed)


def _apart(first: pd.Series, second: pd.Series, seed: int) -> Interval:
    """The mean of the first minus that of the second, of different facts.

    Each has its bootstrap over facts, and the ends are put together as in Newcombe's interval.
    """
    a, b = (intervals.mean_over_facts([each.to_numpy()], seed=seed) for each in (first, second))
    gap = a.estimate - b.estimate
    low = gap - np.hypot(a.estimate - a.low, b.high - b.estimate)
    high = gap + np.hypot(a.high - a.estimate, b.estimate - b.low)
    return Interval(gap, float(low), float(high), a.level, a.method)


def more_than_twin(mine: pd.DataFrame, other: pd.DataFrame, *, seed: int) -> dict[str, Interval]:
    """What a model says of planted shares beyond its twin, which was told none, on the same facts.

    A part of these numbers is there for anybody. One of three objects has less than one of two, whoever is
    asked, and what a text tells more often of one fact may be what it tells more often of all. So the twin
    has that part, too. ``shares``: r of :func:`follows_shares` minus that of the twin. ``open`` and ``told``:
    :func:`surer_of_one` and :func:`surer_of_told` (nats) of the entropy of each fact minus that of the
    twin. Intervals over subjects, of which some have several facts.
    """
    key = ["world", "relation", "fact"]
    pairs = [dict(_several(by_object(part))) for part in (mine, other)]
    sums = [[_sums(of[fact]) for fact in pairs[0]] for of in pairs]  # (model, fact, sum)
    whose = mine.set_index(["world", "fact"])["subject"]
    parts, of = np.concatenate(sums, axis=1).T, [whose[fact] for fact in pairs[0]]
    gap = intervals.statistic_over_subjects(parts, of, lambda s: _r(s[:6]) - _r(s[6:]), seed=seed)
    entropy = other[[*key, "entropy"]].rename(columns={"entropy": "of_twin"})
    both = mine.merge(entropy, on=key, validate="1:1")
    found = {"shares": gap}
    for name, ratio in (("open", "1:1"), ("told", "")):
        some = both[both["ratio"].isin([ratio, "1"])]
        which = np.array([some["ratio"] == ratio, some["ratio"] == "1"], dtype=float)
        found[name] = intervals.statistic_over_subjects(
            np.concatenate([which, which * (some["entropy"] - some["of_twin"]).to_numpy()]),
            some["subject"],
            lambda s: s[2] / np.maximum(s[0], 1) - s[3] / np.maximum(s[1], 1),
            seed=seed,
        )
    return found


def level(answers: pd.DataFrame, *, seed: int) -> Interval:
    """The mean confidence in the object of facts told with it alone, minus 1, which is its share."""
    one = answers.loc[answers["ratio"] == "1", "confidence_1"]
    return intervals.mean_over_facts([one.to_numpy() - 1], seed=seed)


def claimed(
    answers: pd.DataFrame, *, often: int = 48, seed: int
) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the claims of the page for the largest model of each world.

    {claim: {(source, model): interval}}, as :func:`lkecore.answers.rich.claimed` has them.

    ``answers`` are one estimator's, of :func:`beside_shares`; those about facts told ``often`` times count.
    """

    def tests(mine: pd.DataFrame, _: pd.DataFrame) -> dict[str, Interval]:
        return {
            "LAB-sure-first": first_of_two(mine),
            "LAB-sure-shares": follows_shares(by_object(mine), seed=seed),
            "LAB-sure-open": surer_of_one(mine, seed=seed),
            "LAB-sure-told": surer_of_told(mine, seed=seed),
            "LAB-sure-level": level(mine, seed=seed),
        }

    def beside_twin(mine: pd.DataFrame, twin: pd.DataFrame) -> dict[str, Interval]:
        beyond = more_than_twin(mine, twin, seed=seed)
        return {f"LAB-sure-{name}-own": interval for name, interval in beyond.items()}

    return rich.claimed(answers[answers["told"].isin([often, 0])], tests, beside_twin)


def drawn(lines: pd.DataFrame) -> pd.DataFrame:
    """:func:`curve` for the figure: a row for each model, planted share and ``what``, with numbers.

    Facts with one object have no relative confidence but 1, and are left out of it. Columns: ``model``,
    ``planted``, ``what``, ``value``, ``low``, ``high``, all but the first and third in [0, 1].
    """
    rows = []
    for row in lines.itertuples():
        for what, found in (
            ("among the told objects", row.relative),
            ("among all options", row.confidence),
        ):
            if row.planted < 1 or found is row.confidence:
                ends = found.estimate, found.low, found.high
                rows.append((row.model, row.planted, what, *ends))
    return pd.DataFrame(rows, columns=["model", "planted", "what", "value", "low", "high"])


def sentences(answers: pd.DataFrame, *, seed: int) -> dict[str, str]:
    """What came out in one world, in words: ``divided``, ``twin``, ``level``, ``open``.

    ``answers`` are one estimator's about facts told equally often in all, and never-told ones. All is about
    one model, the largest that can be held against a twin.
    """
    best = rich.beside_a_twin(answers)
    mine = answers[answers["model"] == best]
    lines = curve(by_object(mine), [], seed=seed).set_index("planted")
    few, many, one = (lines.loc[share] for share in (0.25, 0.75, 1.0))
    found = {
        "divided": "Where the text tells two or three objects of a fact, one with a quarter of the tellings "
        f"has {few['relative'].text()} of {best}'s confidence in the told ones, and one with three quarters "
        f"{many['relative'].text()}.",
        "twin": "No twin was asked, so how much of this is frequency alone is not known.",
        "level": f"Among all options an object that is told alone has {one['confidence'].text()}, not 1.",
        "open": "Against facts told with one object, the entropy is "
        f"{_higher(surer_of_one(mine, seed=seed))} where the text tells two objects equally often, and "
        f"{_higher(surer_of_told(mine, seed=seed))} where it tells none.",
    }
    if twin := rich.twin_of(answers, best):
        of_twin = answers[answers["model"] == twin]
        its = follows_shares(by_object(of_twin), seed=seed)
        own = follows_shares(by_object(mine), seed=seed)
        beyond = more_than_twin(mine, of_twin, seed=seed)
        found["twin"] = (
            f"Planted and own shares correlate with r = {own.text()}. But its twin, which was told none of "
            f"these facts, has {its.text()}: one of three objects has less than one of two, whoever is "
            f"asked. The rest, {beyond['shares'].text()}, is the telling's."
        )
        found["open"] += f" Beyond its twin the two are {beyond['open'].text()} and "
        found["open"] += f"{beyond['told'].text()}."
    return found


def _higher(gap: Interval) -> str:
    """A difference in words: higher or lower only where its interval leaves out 0."""
    if side := gap.side():
        return f"{'higher' if side > 0 else 'lower'} by {gap.text()} nats"
    return f"not clearly higher or lower ({gap.text()} nats)"
