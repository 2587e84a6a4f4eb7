"""Agreement, looked at twice: the points behind an r, the paper's own numbers, and what r hangs on.

Tables, ``pairs`` and ``reliable`` are of :mod:`lkecore.answers.agreement`.
"""

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers import rules
from lkecore.answers.agreement import Tables, means_of
from lkecore.answers.kept import keep
from lkecore.metrics import agreement


def points(right: Tables, pairs: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The accuracies behind one pair of each kind: that whose weaker model knows most.

    Columns: ``relation`` (by its name in ``names``, if it has one), ``model``, ``correct`` and ``n``
    (facts), ``accuracy``, ``low``, ``high`` (Wilson, 95 %), ``source``, ``kind``. Kinds with and without
    ", tuned" are one; of equals the last without it.
    """
    weaker = [means_of(right[p.source][[p.one, p.other]]).mean().min() for p in pairs.itertuples()]
    plain = [not kind.endswith("tuned") for kind in pairs["kind"]]
    best = pairs.assign(weaker=weaker, plain=plain).sort_values(["weaker", "plain"], kind="stable")
    best = best.groupby(best["kind"].str.removesuffix(", tuned")).tail(1)
    rows = []
    for pair in best.itertuples():
        for relation, part in right[pair.source].groupby("relation", sort=False):
            for model in (pair.one, pair.other):
                n, of = int(part[model].sum()), len(part)
                share = intervals.proportion(n, of)
                ends = share.estimate, share.low, share.high
                called = names.get(relation, relation)
                rows.append((called, model, n, of, *ends, pair.source, pair.kind))
    columns = ["relation", "model", "correct", "n", "accuracy", "low", "high", "source", "kind"]
    return pd.DataFrame(rows, columns=columns)


def with_no_cue(
    known: pd.DataFrame, right: Tables, found: pd.DataFrame, *, seed: int
) -> pd.DataFrame:
    """A table of models with what the best rule gets of their facts, and what models get without cues.

    ``found`` is of :func:`lkecore.answers.rules.beside`; columns as of
    :func:`lkecore.answers.rules.with_no_cue`.
    """
    tidy = pd.concat({source: table.stack() for source, table in right.items()})
    tidy = tidy.rename_axis(["source", "relation", "fact", "model"]).reset_index(name="correct")
    return rules.with_no_cue(known, tidy, found, ["source", "model"], seed=seed)


def judged(
    pairs: pd.DataFrame, families: pd.DataFrame, main: str, paper: str = "iclke-space"
) -> pd.DataFrame:
    """The verdicts on agreement: IC-families-mean of each two families, and IC-families-agree of two models.

    ``pairs`` and ``families`` are of :func:`lkecore.answers.agreement.pairs` and ``families``; inside one
    family there is nothing to judge. In this run ``main`` asked, in shipped ones ``paper``. Rows with a
    negative control test the number and not the claim, so they are marked; those with a tuned model are
    not the paper's way. Columns: ``id``, ``source``, ``models`` (or families), ``kind``, ``ours``,
    ``holds_if``, ``verdict``. Kept as ``verdicts.csv``, with the models of the families.
    """
    claims = papers.claims("IC").set_index("id")
    parts = []
    for key, frame in (("IC-families-mean", families), ("IC-families-agree", pairs)):
        claim = claims.loc[key]
        two_families = ~frame["kind"].str.startswith("one family").astype(bool)  # also without rows
        own = frame[two_families & frame["r"].notna()]
        found = own[["source", "kind"]].assign(
            id=key,
            models=own["one"] + ", " + own["other"],
            asked=own["models"] if "models" in own else own["one"] + ", " + own["other"],
            ours=[r.text() for r in own["r"]],
            interval=[r.method for r in own["r"]],
            holds_if=claim["holds_if"],
            verdict=[papers.claim_verdict(r, claim) for r in own["r"]],
        )
        parts.append(found)
    found = pd.concat(parts, ignore_index=True)
    asked = found["source"].map(lambda source: main if source == "this page" else paper)
    kept = found.assign(
        models=found["asked"],
        estimator=asked + ", " + found["kind"],
        as_paper=[not kind.endswith("tuned") for kind in found["kind"]],
        mark=["negative control" * kind.startswith("negative") for kind in found["kind"]],
    )
    keep(papers.verdicts(kept.drop(columns="asked")), "verdicts.csv")
    return found[["id", "source", "models", "kind", "ours", "holds_if", "verdict"]]


def with_table_8(right: Tables, *, seed: int, n_resamples: int) -> pd.DataFrame:
    """r of each shipped model's accuracies with the paper's Table 8, the means of 35 models.

    Columns: ``source``, ``model``; ``of``: "all" or, where there are some, "without dates", of which the
    paper has full ones; ``relations`` that both have; ``accuracy``, the model's mean over these; ``r``, an
    Interval over relations. No row for fewer than 3 relations, or without spread.
    """
    ids = papers.table("iclke_table3_relations")[["relation", "wikidata_pid_added"]]
    table = papers.table("iclke_table8_relations").merge(ids, on="relation")
    published = table.dropna(subset="wikidata_pid_added").set_index("wikidata_pid_added")
    dates = set(published.index[published["relation"].isin(papers.DATES)])
    published = published["average_accuracy"]
    rows = []
    for source in [source for source in right if source != "this page"]:
        parts = dict(list(right[source].groupby("relation", sort=False)))
        parts = {name: part for name, part in parts.items() if name in published}
        others = {name: part for name, part in parts.items() if name not in dates}
        sorts = {"all": parts} | ({"without dates": others} if len(others) < len(parts) else {})
        for model, (of, some) in product(right[source], sorts.items()):
            both = [
                np.stack([part[model], np.full(len(part), published[name])])
                for name, part in some.items()
            ]
            ours = [pair[0].mean() for pair in both]
            if len(both) >= 3 and np.ptp(ours) > 0:
                r = intervals.correlation_over_relations(both, seed=seed, n_resamples=n_resamples)
                rows.append((source, model, of, len(both), np.mean(ours), r))
    return pd.DataFrame(rows, columns=["source", "model", "of", "relations", "accuracy", "r"])


def of_table_7(n_facts: int = 400) -> pd.DataFrame:
    """The reliability of the paper's own accuracies, at the least, for its 35 pre-trained models.

    The draw of the facts gives an accuracy a variance of a (1 - a) / n_facts on average at most, for a
    mean accuracy a; divided by the printed variance over relations it is the share of noise. Columns:
    ``model``, ``accuracy``, ``std``, ``reliability`` (lowest first).
    """
    table = papers.table_7("no")
    a = table["accuracy"]
    share = 1 - a * (1 - a) / n_facts / table["std"] ** 2
    table = table.assign(model=table["name"], reliability=share).sort_values("reliability")
    return table[["model", "accuracy", "std", "reliability"]].reset_index(drop=True)


def without_one(right: Tables, pairs: pd.DataFrame) -> pd.DataFrame:
    """How much r hangs on a single relation: source, one, other, r, and its ``lowest`` and ``highest``.

    Each relation is left out in turn. Pairs without an r have no row; NaN where too few are left.
    """
    rows = []
    for pair in pairs[pairs["r"].notna()].itertuples():
        table = means_of(right[pair.source])[[pair.one, pair.other]]
        rest = [table.drop(name).to_numpy().T for name in table.index]
        found = [float(agreement.correlation(*two)) for two in rest if len(two[0]) > 2]
        ends = pd.Series(found, dtype=float).agg(["min", "max"])
        rows.append((pair.source, pair.one, pair.other, pair.r.estimate, *ends))
    return pd.DataFrame(rows, columns=["source", "one", "other", "r", "lowest", "highest"])


def facts_needed(right: Tables, reliable: pd.DataFrame, *, least: float = 0.6) -> pd.DataFrame:
    """How many facts of each relation would give a model the reliability ``least``.

    The noise of n facts has (1 - share) / share times the variance of the true differences, and shrinks
    as 1 / n. Columns: ``source``, ``model``; ``asked``, facts of a relation; ``needed``, ``low``, ``high``:
    by the estimate and the ends of its interval, infinite where no number of facts would do.
    """
    rows = []
    for row in reliable[reliable["share"].notna()].itertuples():
        n = right[row.source].groupby("relation").size().mean()
        shares = np.array([row.share.estimate, row.share.high, row.share.low])
        with np.errstate(divide="ignore"):
            needed = n * least * (1 - shares) / ((1 - least) * shares)
        rows.append((row.source, row.model, round(n), *needed))
    return pd.DataFrame(rows, columns=["source", "model", "asked", "needed", "low", "high"])
