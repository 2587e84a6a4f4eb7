"""Wordings: one template against another of the same relation. What a sentence's words decide.

The frames are answers to templates and other estimators on the same facts, as they are for
:mod:`lkecore.answers.templates`.
"""

import numpy as np
import pandas as pd

from lkecore.answers import templates
from lkecore.answers.tables import groups_of, paired
from lkecore.facts import Sample
from lkecore.metrics import formats
from lkecore.prompts import HUMAN, MINED, templates_of


def against(answers: pd.DataFrame, sample: Sample, estimator: str, *, seed: int) -> pd.DataFrame:
    """An estimator beside every single template, relation by relation, on the same facts.

    Columns: ``model``, ``relation``, ``template``, ``words``; ``accuracy`` of the template; ``gain``: the
    accuracy of the estimator minus that, an Interval over facts; ``only_estimator`` and ``only_template``:
    facts that only one has right; ``p``: McNemar's exact test, corrected by Holm for all rows of a model.
    """
    by = ["model", "relation"]
    pairs = [(name, estimator) for name in (*HUMAN, *MINED)]
    found = paired(answers, "estimator", pairs, by=by, corrected=["model"], seed=seed)
    means = templates.by_prompt(answers).set_index([*by, "estimator"])["accuracy"]
    places = list(zip(found["model"], found["relation"], found["first"], strict=True))
    return pd.DataFrame(
        {
            "model": found["model"],
            "relation": found["relation"],
            "template": found["first"],
            "words": [templates_of(sample[name].relation)[key] for _, name, key in places],
            "accuracy": [means[place] for place in places],
            "gain": found["over_facts"],
            "only_estimator": found["only_second"],
            "only_template": found["only_first"],
            "p": found["p"],
        }
    )


def optimism(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """What the best human template of each relation gets, and what it would get on other facts.

    Columns: ``model``, ``relation``, ``mean`` and ``best`` accuracy of the human templates;
    ``as_chosen`` and ``honest`` as :func:`lkecore.metrics.formats.best_of_several` has them, and
    ``too_high``, their difference. All in [0, 1].
    """
    rng, rows = np.random.default_rng(seed), []
    human = answers[answers["estimator"].isin(HUMAN)]
    for key, part in groups_of(human, ["model", "relation"]):
        right = part.pivot(index="estimator", columns="fact", values="correct").to_numpy(float)
        means = right.mean(axis=1)
        chosen, honest = formats.best_of_several(right, seed=rng)
        rows.append((*key, means.mean(), means.max(), chosen, honest, chosen - honest))
    columns = ["model", "relation", "mean", "best", "as_chosen", "honest", "too_high"]
    return pd.DataFrame(rows, columns=columns)


def widest(answers: pd.DataFrame) -> pd.DataFrame:
    """The relation in which the wording matters most, a row for each model and kind of template.

    Columns: ``model``, ``kind``, ``relation``; ``best`` and ``worst``, names of templates;
    ``accuracy_best`` and ``accuracy_worst``. No row where no relation has two templates of a kind.
    """
    each = templates.by_prompt(answers)
    each = each[each["kind"].isin(set(templates.KINDS.values()))]
    rows = []
    for (model, kind, name), part in groups_of(each, ["model", "kind", "relation"]):
        part = part.sort_values("accuracy", kind="stable")
        low, high = part.iloc[0], part.iloc[-1]
        row = high["estimator"], low["estimator"], high["accuracy"], low["accuracy"]
        rows += [(model, kind, name, *row)] if len(part) > 1 else []
    columns = ["best", "worst", "accuracy_best", "accuracy_worst"]
    found = pd.DataFrame(rows, columns=["model", "kind", "relation", *columns])
    gap = (found["accuracy_best"] - found["accuracy_worst"]).round(12)
    order = gap.sort_values(ascending=False, kind="stable").index
    return found.loc[order].drop_duplicates(["model", "kind"]).sort_index().reset_index(drop=True)
