"""Offers: the same facts among other wrong options. What a choice of options does to models and to rules.

Answers and cues have a column ``offer``, one of those in :mod:`lkecore.facts.offers`; those that ship, or
stand beside, a column ``source``.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from lkecore.answers import rules
from lkecore.answers.kept import keep
from lkecore.answers.shipped import called
from lkecore.answers.tables import bounds, over_other_relations, paired
from lkecore.answers.verdicts import tested
from lkecore.facts.drawn import Sample
from lkecore.intervals import Interval
from lkecore.prompts import Prompt, of_sample
from lkecore.prompts import redrawn as behind_others

BY = ["offer", "estimator", "relation"]
RANDOM = "random"
RULE = "best rule"


def questions(
    samples: Mapping[str, Sample], estimators: Sequence[str]
) -> dict[tuple[str, str, str], list[Prompt]]:
    """The questions about each offer of a sample: {(offer, estimator, relation): prompts}."""
    return {
        (offer, *key): some
        for offer, sample in samples.items()
        for key, some in of_sample(sample, estimators).items()
    }


def redrawn(
    samples: Mapping[str, Sample], estimators: Sequence[str], draws: Sequence[int]
) -> dict[tuple[str, str, str, int], list[Prompt]]:
    """The same behind other shots: {(offer, estimator, relation, draw): prompts}."""
    return {
        (offer, *key): some
        for offer, sample in samples.items()
        for key, some in behind_others(sample, estimators, draws).items()
    }


def cues(samples: Mapping[str, Sample], *, kept: bool = True) -> pd.DataFrame:
    """:func:`lkecore.answers.rules.cues` of each offer, one below the other, told by ``offer``.

    Kept as ``answers-cues.parquet`` unless ``kept`` is false.
    """
    parts = [rules.cues(each, kept=False).assign(offer=name) for name, each in samples.items()]
    found = pd.concat(parts, ignore_index=True)
    if kept:
        keep(found, rules.FILE)
    return found


def shared(samples: Mapping[str, Sample]) -> pd.DataFrame:
    """How many of the wrong options are those of the random offer: a row for each relation and other offer.

    Columns: ``relation``, ``objects`` (of the relation), ``n_options``, and the mean share for each other
    offer, in [0, 1]. Where a relation has hardly more objects than options, offers cannot differ.
    """
    rows = []
    for name, drawn in samples[RANDOM].items():
        row = {"relation": name, "objects": len(drawn.relation.objects)}
        row["n_options"] = len(drawn.options[0])
        for offer, sample in samples.items():
            if offer != RANDOM:
                pairs = zip(drawn.options, sample[name].options, strict=True)
                same = [(len({*a} & {*b}) - 1) / (len(a) - 1) for a, b in pairs]
                row[offer] = sum(same) / len(same)
        rows.append(row)
    return pd.DataFrame(rows)


def beside_rules(
    answers: pd.DataFrame, found: pd.DataFrame, by: Sequence[str], *, seed: int
) -> pd.DataFrame:
    """Each model beside the best rule of each source and offer (:func:`lkecore.answers.rules.above`).

    ``by`` names ``source`` and ``offer``. Columns as there; the best rule may be another one in each offer.
    """
    answers, found = (
        each.assign(of=each["source"], source=each["source"] + "\x1f" + each["offer"])
        for each in (answers, found)
    )
    table = rules.above(answers, found.drop(columns=["of", "offer"]), by, seed=seed)
    return table.assign(source=table["source"].str.partition("\x1f")[0])


def of_rules(found: pd.DataFrame) -> pd.DataFrame:
    """What each rule gets of each source and offer, a mean over relations: expected accuracies in [0, 1]."""
    key = ["source", "offer"]
    each = found.groupby([*key, "relation"], sort=False)[list(rules.RULES)].mean()
    return each.groupby(key, sort=False).mean().reset_index()


def against_random(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """The accuracy in each offer minus that in the random one, on the same facts, with intervals.

    A row for each ``source``, ``model``, ``estimator`` and other offer; columns as of
    :func:`lkecore.answers.tables.paired`, of which ``second`` is the offer. ``p`` is corrected for the
    offers of a model. Over draws of shots the differences are means, while counts and ``p`` are about the
    first.
    """
    by = ["source", "model", "estimator"]
    others = [name for name in answers["offer"].unique() if name != RANDOM]
    pairs = [(RANDOM, name) for name in others]
    return paired(answers, "offer", pairs, by=by, corrected=by, seed=seed)


def for_claims(
    gaps: pd.DataFrame, offers: Sequence[str]
) -> dict[str, dict[str, dict[tuple[str, ...], Interval]]]:
    """What :func:`lkecore.answers.verdicts.judge_ways` takes: under each way, such as "iclke-space, length".

    The claim is that another choice of options leaves the accuracy as it is.
    """
    found = {}
    for (estimator, offer), part in gaps.groupby(["estimator", "second"], sort=False):
        if offer in offers:
            found[f"{estimator}, {offer}"] = {"IC-options-alike": tested(part, "over_relations")}
    return found


def marks(compared: pd.DataFrame, found: pd.DataFrame, estimator: str) -> pd.DataFrame:
    """What the main figure shows: each model and the best rule, by source and offer.

    ``compared`` is of :func:`beside_rules` over all facts. Columns: ``source`` (without "shipped"),
    ``offer``, ``who``, and ``accuracy`` with ``low`` and ``high`` over relations, in [0, 1].
    """
    some = compared[compared["estimator"] == estimator]
    parts = [bounds(some, "accuracy").assign(who=some["model"])]
    for (source, offer), part in found.groupby(["source", "offer"], sort=False):
        guesses = rules.as_answers(part, [rules.best(part)])
        row = bounds(over_other_relations(guesses, []), "over_relations", "accuracy")
        parts.append(row.assign(source=source, offer=offer, who=RULE))
    columns = ["source", "offer", "who", "accuracy", "low", "high"]
    table = pd.concat(parts, ignore_index=True)[columns]
    return table.assign(source=table["source"].str.removeprefix("shipped: "))


def sentences(compared: pd.DataFrame, gaps: pd.DataFrame, estimator: str) -> dict[str, str]:
    """What came out, in words: ``lot``, ``moved``, ``ruled`` and ``left``.

    ``compared`` is of :func:`beside_rules` over all facts, ``gaps`` of :func:`against_random`.
    """
    some = compared[compared["estimator"] == estimator]
    by_lot = some[some["offer"] == RANDOM].to_dict("records")
    lot = "; ".join(
        f"{called(row['model'], row['source'])} {row['accuracy'].text()}" for row in by_lot
    )
    rest = gaps[gaps["estimator"] == estimator].dropna(subset="over_relations")
    far = max(
        rest.to_dict("records"), key=lambda row: abs(row["over_relations"].estimate), default=None
    )
    moved = "No other choice was asked about several relations."
    if far is not None:
        moved = f"What moves it most is a choice by {far['second']}: {far['over_relations'].text()}"
        moved += f" for {called(far['model'], far['source'])}, on the same facts."
    rule = some.groupby("offer", sort=False)["of_rule"].agg(["min", "max"])
    ruled = [f"{_from_to(low, high)} by {name}" for name, low, high in rule.itertuples()]
    above = [
        f"{called(row['model'], row['source'])} {row['above'].text()} by {row['offer']}"
        for _, part in some.groupby(["source", "model"], sort=False)
        for row in [min(part.to_dict("records"), key=lambda row: row["above"].estimate)]
    ]
    return {
        "lot": f"Among options by lot, the right one is found in these shares of the facts: {lot}.",
        "moved": moved,
        "ruled": f"The best rule without a model gets {', '.join(ruled)}.",
        "left": f"Where it comes nearest to the model, this is left above it: {'; '.join(above)}.",
    }


def _from_to(low: float, high: float) -> str:
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
