"""Cued: how much of an accuracy a rule gets, what is left, and what a format teaches to copy.

The frames are answers beside each other (:func:`lkecore.answers.shipped.beside`) and the cues of their
facts (:func:`lkecore.answers.rules.beside`), both with a column ``source``.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers import rules
from lkecore.answers.tables import accuracy, bounds, groups_of, over_other_relations, paired
from lkecore.errors import BadInput
from lkecore.facts.fact import Relation
from lkecore.metrics import rules as guesses

RULE = "best rule"
LEAST_FACTS = 10  # of a relation with a cue, and without one, for a row of its own
LEAST_THIRD = 5  # short ones of a relation, and long ones, to compare
THIRDS, MIDDLE = ["short", "long"], "middle"


def marks(answers: pd.DataFrame, found: pd.DataFrame, estimator: str) -> pd.DataFrame:
    """The best rule, and each model over all facts and over those without a cue, for each source.

    Columns: ``source``, ``who`` ("best rule", or the model with what it was asked), ``relations``, and
    ``accuracy``, each relation counted alike, with ``low`` and ``high`` over relations; all in [0, 1].
    """
    rows = []
    for source, its in found.groupby("source", sort=False):
        of_rule = rules.as_answers(its, [rules.best(its)]).assign(source=source, who=RULE)
        parts = [of_rule]
        mine = answers[(answers["source"] == source) & (answers["estimator"] == estimator)]
        mine = rules.with_cues(mine, its)
        for model, part in mine.groupby("model", sort=False):
            parts.append(part.assign(who=f"{model}, all facts"))
            parts.append(rules.enough(part[~part["cue"]]).assign(who=f"{model}, no cue"))
        each = over_other_relations(pd.concat(parts), ["source", "who"])
        rows.append(bounds(each, "over_relations", "accuracy"))
    columns = ["source", "who", "relations", "accuracy", "low", "high"]
    return pd.concat(rows, ignore_index=True)[columns]


def by_relation(
    answers: pd.DataFrame, found: pd.DataFrame, model: str, estimator: str, *, seed: int
) -> pd.DataFrame:
    """A model and the best rule of each source, relation by relation.

    Columns: ``source``; ``kind``, the estimator; ``relation``; ``model``, its name or "best rule";
    ``accuracy`` with ``low`` and ``high`` over facts, in [0, 1].
    """
    parts = []
    for source, its in found.groupby("source", sort=False):
        mine = answers[(answers["source"] == source) & (answers["estimator"] == estimator)]
        mine = accuracy(mine[mine["model"] == model], ["relation"]).assign(model=model)
        rule = [
            (name, RULE, intervals.mean_over_facts([part.to_numpy(float)], seed=seed))
            for name, part in its.groupby("relation", sort=False)[rules.best(its)]
        ]
        rule = pd.DataFrame(rule, columns=["relation", "model", "accuracy"])
        both = pd.concat([rule, mine[["relation", "model", "accuracy"]]], ignore_index=True)
        parts.append(both.assign(source=source.removeprefix("shipped: "), kind=estimator))
    frame = bounds(pd.concat(parts, ignore_index=True), "accuracy")
    return frame[["source", "kind", "relation", "model", "accuracy", "low", "high"]]


def alike(answers: pd.DataFrame, found: pd.DataFrame, estimator: str, *, seed: int) -> pd.DataFrame:
    """Pearson's r of each model's accuracies over relations with those of the best rule.

    Columns: ``source``, ``model``, ``relations``; ``r``, an Interval over relations, in [-1, 1]. High: what
    is called well known are the relations in which a rule does well.
    """
    rows = []
    mine = answers[answers["estimator"] == estimator]
    for (source, model), part in groups_of(mine, ["source", "model"]):
        its = found[found["source"] == source]
        if its.empty:
            continue
        both = rules.with_cues(part, its)
        two = ["correct", rules.best(its)]
        groups = [each[two].to_numpy(float).T for _, each in both.groupby("relation", sort=False)]
        r = intervals.correlation_over_relations(groups, seed=seed)
        rows.append((source, model, len(groups), r))
    return pd.DataFrame(rows, columns=["source", "model", "relations", "r"])


def with_and_without(answers: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """The answers of sources with cues, and below them once more those about facts without one.

    A column ``facts`` tells them apart: "all" and "no cue".
    """
    every = rules.with_cues(answers[answers["source"].isin(found["source"])], found)
    parts = [every.assign(facts="all"), every[~every["cue"]].assign(facts="no cue")]
    return pd.concat(parts, ignore_index=True)


def two_models(answers: pd.DataFrame, estimator: str, *, seed: int) -> pd.DataFrame:
    """Pearson's r of the accuracies of two models over relations, for each source and kind of ``facts``.

    ``answers`` as of :func:`with_and_without`; of each source the first two models. Relations with two such
    facts or more. Columns: ``source``, ``facts``, ``models``, ``relations``; ``r``, an Interval over
    relations, in [-1, 1].
    """
    rows = []
    for key, part in groups_of(answers[answers["estimator"] == estimator], ["source", "facts"]):
        models = list(part["model"].unique())[:2]
        wide = rules.enough(part).pivot_table(
            index=["relation", "fact"], columns="model", values="correct", sort=False
        )
        if len(models) == 2:
            both = wide[models].dropna().astype(float)
            groups = [each.to_numpy().T for _, each in both.groupby(level="relation", sort=False)]
            r = intervals.correlation_over_relations(groups, seed=seed)
            rows.append((*key, ", ".join(models), len(groups), r))
    return pd.DataFrame(rows, columns=["source", "facts", "models", "relations", "r"])


def copying(
    answers: pd.DataFrame, found: pd.DataFrame, estimator: str, *, seed: int
) -> pd.DataFrame:
    """What another format gains where the object shares a word with its subject, and where it does not.

    A row for each source, model, other estimator and ``shared``. Relations that have ``LEAST_FACTS`` such
    facts or more. Columns: ``relations``; ``before``, the accuracy by ``estimator``, and ``after``, by the
    other one, in [0, 1]; ``gain``, the difference, an Interval over relations, each counted alike.
    """
    rows = []
    every = rules.with_cues(answers[answers["source"].isin(found["source"])], found)
    for key, part in groups_of(every, ["source", "model"]):
        others = [name for name in part["estimator"].unique() if name != estimator]
        for shared in (True, False):
            some = rules.enough(part[part["cue_word"] == shared], LEAST_FACTS)
            pairs = [(estimator, name) for name in others]
            means = some.groupby(["estimator", "relation"])["correct"].mean()
            means = means.groupby("estimator").mean()
            for row in paired(some, "estimator", pairs, seed=seed).to_dict("records"):
                gain = row["over_relations"] or row["over_facts"]
                shown = means[estimator], means[row["second"]], gain
                rows.append((*key, row["second"], shared, row["relations"], *shown))
    columns = ["source", "model", "estimator", "shared", "relations", "before", "after", "gain"]
    return pd.DataFrame(rows, columns=columns)


def copied(
    answers: pd.DataFrame, found: pd.DataFrame, estimator: str, *, n: int = 6
) -> pd.DataFrame:
    """The ``n`` relations in which copying explains most of what another format gains.

    Of all sources, models and relations with ``LEAST_FACTS`` facts that share a word and as many that
    share none, those with the largest gain on the first minus the gain on the second. Columns:
    ``source``, ``model``, ``relation``, ``estimator``; ``facts_shared``; ``shared`` and ``not_shared``, texts
    such as "0.06 to 0.48": the accuracies by ``estimator`` and by the other one.
    """
    every = rules.with_cues(answers[answers["source"].isin(found["source"])], found)
    rows = []
    for key, part in groups_of(every, ["source", "model", "relation"]):
        sizes = part.groupby("cue_word")["fact"].nunique()
        if len(sizes) < 2 or sizes.min() < LEAST_FACTS:
            continue
        means = part.groupby(["cue_word", "estimator"])["correct"].mean()
        for other in [name for name in part["estimator"].unique() if name != estimator]:
            ends = {s: (means[s, estimator], means[s, other]) for s in (True, False)}
            gains = {s: after - before for s, (before, after) in ends.items()}
            texts = [f"{ends[s][0]:.2f} to {ends[s][1]:.2f}" for s in (True, False)]
            rows.append((*key, other, sizes[True], *texts, gains[True] - gains[False]))
    columns = [
        "source",
        "model",
        "relation",
        "estimator",
        "facts_shared",
        "shared",
        "not_shared",
        "by",
    ]
    table = pd.DataFrame(rows, columns=columns).sort_values("by", ascending=False, kind="stable")
    return table.drop(columns="by").head(n).reset_index(drop=True)


def by_length(answers: pd.DataFrame, found: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Is a fact without a cue answered better if its object is short beside the other options?

    A fact is ``short`` if its gold option stands in the first third of its options by characters, ``long`` if
    it stands in the last. A row for each group of ``by``, columns of the answers: ``relations`` with
    ``LEAST_THIRD`` of either; ``short``, ``middle`` and ``long``, accuracies in [0, 1], that of the middle
    third NaN where it has no fact; ``short_minus_long``, an Interval over relations. All are means over
    relations, each counted alike. A source without cues is left out.
    """
    every = rules.with_cues(answers[answers["source"].isin(found["source"])], found)
    place = (every["length_rank"] - 0.5) / every["n_options"]
    third = np.select([place <= 1 / 3, place >= 2 / 3], THIRDS, MIDDLE)
    every = every.assign(third=third)[~every["cue"]]
    rows = []
    for key, part in groups_of(every, by):
        each = part.groupby(["relation", "third"])["correct"]
        columns = [THIRDS[0], MIDDLE, THIRDS[1]]
        sizes, means = (n.unstack().reindex(columns=columns) for n in (each.size(), each.mean()))
        means = means[sizes[THIRDS].min(axis=1, skipna=False) >= LEAST_THIRD]
        if len(means) > 1:
            gap = intervals.mean_over_relations(
                (means["short"] - means["long"]).to_numpy()[:, None]
            )
            rows.append((*key, len(means), *means.mean(), gap))
    columns = [*by, "relations", "short", MIDDLE, "long", "short_minus_long"]
    return pd.DataFrame(rows, columns=columns)


def beside_table_8(points: pd.DataFrame, worst: pd.DataFrame) -> pd.DataFrame:
    """The relations of the paper's Table 8 in its order, and what rule and model get in those of that name.

    ``points`` as of :func:`by_relation` with the paper's names of relations, ``worst`` has ``mean`` and
    ``least_of_worst`` by relation. A column for each source and for rule and model; missing where a
    source does not have the relation. A star behind a name: the paper has full dates there.
    """
    named = points.assign(who=points["source"] + ", " + points["model"])
    wide = named.pivot_table(index="relation", columns="who", values="accuracy", sort=False)
    found = worst.join(wide).reset_index()
    return found.assign(relation=found["relation"].map(papers.starred))


def sentences(
    shown: pd.DataFrame, gained: pd.DataFrame, worst: pd.DataFrame, estimator: str
) -> dict[str, str]:
    """Texts for the head of the page on rules: ``rule``, ``left``, ``copying`` and ``worst``.

    ``shown`` is of :func:`lkecore.answers.rules.wide`, ``gained`` of :func:`copying`; ``worst`` has ``mean``
    and ``least_of_worst`` by relation.
    """
    rule, left = [], []
    for source, mine in shown[shown["estimator"] == estimator].groupby("source", sort=False):
        name, rows = source.removeprefix("shipped: "), mine.to_dict("records")
        have = ", ".join(f"{row['model']} {row['accuracy'].text()}" for row in rows)
        rule.append(f"{rows[0]['of_rule']:.2f} of {name} ({have})")
        have = ", ".join(f"{row['model']} {row['accuracy_no_cue'].text()}" for row in rows)
        left.append(f"{name} ({have})")
    key = ["source", "model", "estimator"]
    by_cue = gained.set_index([*key, "shared"])["gain"]
    most = max((k for k in by_cue.index if k[-1]), key=lambda k: by_cue[k].estimate, default=None)
    copied = "No set of facts was asked in two formats."
    if most is not None:
        copied = (
            f"A clearer format gains {by_cue[most].text()} where names share a word ({most[1]} on"
        )
        copied += f" {most[0].removeprefix('shipped: ')}) and {by_cue[*most[:3], False].text()} elsewhere."
    first = worst.iloc[0]
    return {
        "rule": f"A rule that knows nothing gets right {', '.join(rule)}.",
        "left": f"Of the facts that carry no cue, models find on {', on '.join(left)}.",
        "copying": copied,
        "worst": f"A mean of {first['mean']:.3f} over the paper's models ({worst.index[0]}) leaves the worst "
        f"of them at least {first['least_of_worst']:.2f}.",
    }


def by_training_facts(relation: Relation, n_shots: int = 4) -> dict[str, float]:
    """What rules get of a relation's test facts that see its training facts and choose among all objects.

    ``facts``, how many are asked; the expected number of these that are right: ``frequent``, naming the
    most frequent training object; ``both``, naming the object that shares the largest part of its words
    with the subject, if one does, else that; ``shown``: the expected number whose object is among
    ``n_shots`` training facts drawn by lot. Raises :class:`BadInput` for a relation without splits.
    """
    train = [fact for fact in relation.facts if fact.split == "train"]
    test = [fact for fact in relation.facts if fact.split == "test"]
    if not train or not test:
        raise BadInput(f"relation {relation.name} has no training or no test facts")
    counts = Counter(fact.object for fact in train)
    options = sorted({*counts, *(fact.object for fact in test)})
    places = {name: i for i, name in enumerate(options)}
    right = {"frequent": 0.0, "both": 0.0, "shown": 0.0}
    often = guesses.guess("rule-frequent", "", options, counts)
    for fact in test:
        at = places[fact.object]
        right["frequent"] += often[at]
        right["both"] += guesses.guess("rule-both", fact.subject, options, counts)[at]
        right["shown"] += 1 - (1 - counts[fact.object] / len(train)) ** n_shots
    return {"facts": len(test), **right}


def least_of_worst(means: Sequence[float] | pd.Series, n: int) -> np.ndarray:
    """The least value that the worst of ``n`` models can have, from the mean of all: arithmetic.

    If all the others had 1, the worst would have n * mean - (n - 1), and it cannot have less. In [0, 1].

    >>> least_of_worst([0.99, 0.5], 10).round(2).tolist()
    [0.9, 0.0]
    """
    return np.clip(n * np.asarray(means, dtype=float) - (n - 1), 0, 1)
