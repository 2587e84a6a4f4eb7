"""Failing: facts that a model does not repeat although it was just told them (PZ-X1).

Telling fails where the object's first token is not among the five likeliest behind the fact.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers import shipped
from lkecore.answers.firsts import SETS, sets
from lkecore.answers.moved import of_set
from lkecore.answers.tables import groups_of, mean_of_finite
from lkecore.answers.taught import PLACES
from lkecore.facts.drawn import Sample
from lkecore.intervals import Interval
from lkecore.prompts.given import kinds, kinds_of

TOP = 5
FEW = 10  # failures of one model; of fewer no share is judged or said in words
NUMBERS = ("rank", "rank_after", "kl", "surprisal_after")
FACT = ["source", "model", "relation", "fact"]


def with_kinds(found: pd.DataFrame, sample: Sample) -> pd.DataFrame:
    """Answers with the ``kind`` of their relation."""
    # A page of several models may have fewer relations in its sample than its runs had.
    kind = found["relation"].map(kinds_of(sample))
    return found.assign(kind=kind.fillna("other"))


def beside(ours: pd.DataFrame, profiles: Sequence[str], notebook: str) -> pd.DataFrame:
    """The answers of this run and, below them, those of longer runs about LAMA's relations, by ``source``.

    ``set`` is as of :func:`lkecore.answers.firsts.sets`. ``failed``, ``first`` and ``known`` (bool): the
    object is not among the five likeliest behind the statement, is the first there, is among them before it.
    """
    parts = [ours.assign(source="this page")]
    for name in profiles:
        frame, _ = shipped.read(name, notebook)
        kind = frame["relation"].map(kinds())
        parts.append(frame.assign(kind=kind.fillna("other"), source=f"shipped: {name}"))
    every = pd.concat(parts, ignore_index=True)
    failed, first = every["rank_after"].gt(TOP), every["rank_after"].eq(1)
    known = every["rank"].le(TOP)
    found = every.assign(failed=failed, first=first, known=known, set=sets(every))
    return found.sort_values([*FACT, "instillation"], kind="stable", ignore_index=True)


def by_kind(rows: pd.DataFrame) -> pd.DataFrame:
    """Where telling fails, by source, model and kind of object.

    Columns: ``facts``, and their share of ``all``; ``known``: the share among the five likeliest before;
    ``fails``: the share that is not among them behind the fact, Intervals (Wilson); and the kind's share
    ``of failures``, to be held against that of ``all``.
    """
    found = []
    told = rows[rows["instillation"] == "explicit"]
    for key, part in groups_of(told, ["source", "model"]):
        total = int(part["failed"].sum()) or np.nan  # of no failure no kind has a share
        for kind, some in part.groupby("kind"):
            shares = [
                intervals.proportion(int(some[c].sum()), len(some)) for c in ("known", "failed")
            ]
            of = float(some["failed"].sum()) / total
            found.append((*key, kind, len(some), len(some) / len(part), *shares, of))
    columns = ["source", "model", "kind", "facts", "all", "known", "fails", "of failures"]
    return pd.DataFrame(found, columns=columns)


def by_set(rows: pd.DataFrame) -> pd.DataFrame:
    """How many facts telling fails for in each set: by source, model and ``set`` of ``SETS``.

    Columns: ``facts``, and ``fails``, the share of them, an Interval (Wilson).
    """
    found = []
    told = rows[rows["instillation"] == "explicit"]
    for key, part in groups_of(told, ["source", "model"]):
        for name in SETS:
            some = of_set(part, name)
            if len(some):
                fails = intervals.proportion(int(some["failed"].sum()), len(some))
                found.append((*key, name, len(some), fails))
    return pd.DataFrame(found, columns=["source", "model", "set", "facts", "fails"])


def by_statement(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """What each statement does: by source, model and instillation.

    Columns: ``facts``; ``first``: the share whose true object comes first behind the statement, an Interval
    (Wilson); ``KL`` and ``surprisal`` behind it, means in nats, Intervals over facts.
    """
    found = []
    for key, part in groups_of(rows, ["source", "model", "instillation"]):
        first = intervals.proportion(int(part["first"].sum()), len(part))
        means = [mean_of_finite(part[c], seed=seed) for c in ("kl", "surprisal_after")]
        found.append((*key, len(part), first, *means))
    columns = ["source", "model", "statement", "facts", "first", "KL", "surprisal"]
    return pd.DataFrame(found, columns=columns)


def places_among(rows: pd.DataFrame, chosen: pd.Series, *, seed: int) -> Interval | None:
    """The share of locations and languages among some facts minus that among all, over relations.

    ``rows`` are of one model, a row a fact; ``chosen`` (bool) says which. Kinds are of relations, not of
    facts, so relations are drawn again. None for fewer than ``FEW`` such facts, or if all are, and for one
    relation.
    """
    some = chosen.astype(bool)
    if some.sum() < FEW or rows["relation"].nunique() < 2:
        return None
    each = rows.assign(place=rows["kind"].isin(PLACES), some=some).groupby("relation", sort=False)
    flags, parts = ([part[c].to_numpy() for _, part in each] for c in ("place", "some"))
    return intervals.share_above_whole_over_relations(flags, parts, seed=seed)


def first_minus_copied(rows: pd.DataFrame, *, seed: int) -> Interval:
    """How much more often the object comes first behind the fact than behind another subject's.

    Over facts that were asked both ways, of one model.
    """
    wide = rows.pivot(index=["relation", "fact"], columns="instillation", values="first")
    both = wide[["explicit", "copied"]].dropna().astype(float)
    gap = (both["explicit"] - both["copied"]).to_numpy()
    return intervals.mean_over_facts([gap], seed=seed)


def claimed(rows: pd.DataFrame, *, seed: int) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the page's claims: {claim: {(source, model): interval}}."""
    found: dict[str, dict[tuple[str, str], Interval]] = {}
    for key, part in groups_of(rows, ["source", "model"]):
        told = part[part["instillation"] == "explicit"]
        tests = {
            "PZ-fails-places": places_among(told, told["failed"], seed=seed),
            "PZ-fails-copied": first_minus_copied(part, seed=seed),
        }
        for claim, interval in tests.items():
            if interval is not None:
                found.setdefault(claim, {})[key] = interval
    return found


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`by_kind` for the figure: ``who``, ``kind``, ``fails`` and its bounds, in [0, 1]."""
    rows = []
    for row in table.to_dict("records"):
        of = row["fails"]
        who = shipped.called(row["model"], row["source"])
        rows.append((who, row["kind"], of.estimate, of.low, of.high))
    return pd.DataFrame(rows, columns=["who", "kind", "fails", "low", "high"])


def sentences(rows: pd.DataFrame, *, seed: int) -> dict[str, str]:
    """What came out, in words: ``fails``, ``kinds``, ``copied``; of each source and model."""
    said: dict[str, list[str]] = {"fails": [], "kinds": [], "copied": []}
    for (source, model), part in groups_of(rows, ["source", "model"]):
        who = shipped.called(model, source)
        told = part[part["instillation"] == "explicit"]
        fails = intervals.proportion(int(told["failed"].sum()), len(told))
        said["fails"].append(f"{who} {fails.text()}")
        place = told["kind"].isin(PLACES)
        more = places_among(told, told["failed"], seed=seed)
        if more is not None:
            said["kinds"].append(
                f"{who} {place[told['failed']].mean():.2f} of failures and {place.mean():.2f} of all facts, "
                f"a difference of {more.text()} over relations"
            )
        gap = first_minus_copied(part, seed=seed)
        said["copied"].append(f"{who} {gap.text()}")
    return {
        "fails": "Told a fact and asked for it, these have not its object among their five likeliest tokens: "
        f"{'; '.join(said['fails'])}.",
        "kinds": "Places and languages are, for "
        f"{'; for '.join(said['kinds']) or 'none, too few fail'}.",
        "copied": "How much more often the object comes first behind the fact than behind a statement that "
        f"tells it of another subject: {'; '.join(said['copied'])}.",
    }
