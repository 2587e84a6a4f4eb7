"""What numbers on formats are over: the facts of a relation, or several relations of real facts.

Of several relations, each asked as many facts, intervals are over relations. Facts of a world of the lab
that were told in lists are more in one relation than in another; they are taken together, over facts.
Tables are those of :func:`lkecore.answers.separators.tables`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers import rules
from lkecore.answers.separators import DRAWN, Tables
from lkecore.intervals import Interval

N_RESAMPLES = 2_000
SPACE = (" ", " ")  # the paper's format


def several(table: pd.DataFrame, main: str) -> bool:
    """Whether numbers are over relations; ``main``: the group of facts that the verdicts are about."""
    return main == DRAWN and table.columns.get_level_values("relation").nunique() > 1


def mean(values: pd.Series, main: str, *, seed: int) -> Interval:
    """The mean of a row, in [0, 1]: over relations (Student's t), or over its facts.

    Over facts it is Wilson's of right and wrong answers, and a bootstrap of means over draws of shots.
    """
    if several(values.to_frame().T, main):
        each = [part for _, part in values.groupby(level="relation")]
        return intervals.mean_over_relations(each, within=intervals.SHARE)
    if not values.isin([0, 1]).all():
        return intervals.mean_over_facts([values.to_numpy(float)], seed=seed)
    return intervals.proportion(int(values.sum()), len(values))


def statistic(
    table: pd.DataFrame, of: Callable[[np.ndarray], float], main: str, *, seed: int
) -> Interval:
    """A number that ``of`` takes from an array (format, fact), with a bootstrap interval.

    Over facts; of several relations, these are drawn again, too, and facts within each. ValueError where
    then one relation has more facts than another.
    """
    values, again = table.to_numpy(), {"seed": seed, "n_resamples": N_RESAMPLES}
    if not several(table, main):
        return intervals.statistic_over_facts(values, of, **again)
    n = table.columns.get_level_values("relation").value_counts()  # a pivot has them side by side
    if n.nunique() > 1:
        raise ValueError(f"relations have {n.min()} to {n.max()} facts; as many of each are needed")
    by_relation = values.reshape(len(values), len(n), -1)
    found = intervals.statistic_over_facts(
        by_relation, lambda v: of(v.reshape(len(v), -1)), redraw=1, nested=True, **again
    )
    return replace(found, method="bootstrap over relations and facts")


def with_words(
    spoken: pd.DataFrame, part: str, kinds: Mapping[str, str], main: str
) -> dict[str, pd.Series]:
    """How facts were answered with words in the place of the sign: {words: a value for each fact, [0, 1]}.

    Of one relation, or of the lab, each template by itself. The templates of several relations have only
    their kind in common: a fact then counts with its mean over those of a kind. Facts of a relation without
    such a template are left out. ``part`` and templates as in the rows of ``spoken``; ``kinds`` of templates.
    """
    own = spoken.xs(part, level="part")
    if several(spoken, main):
        own = own.groupby(own.index.map(kinds), sort=False).mean()
    return {name: values.dropna() for name, values in own.iterrows()}


def by_relation(spreads: pd.DataFrame) -> pd.DataFrame:
    """How far formats lie apart inside each relation: a row for each model that was asked about several.

    ``spreads`` of :func:`lkecore.answers.formats.spreads`. Columns: ``model``, ``relations``; ``spread``
    inside a relation, the mean as an Interval over relations (it errs high); ``if_alike``, the mean of what
    95 % of deals stay below; ``differ``, in how many relations formats differ (p below 0.05, corrected
    by Holm for the relations of the model).
    """
    rows = []
    for model, part in spreads[spreads["relation"] != "all"].groupby("model", sort=False):
        if len(part) > 1:
            each = [[found.estimate] for found in part["spread"]]
            found = intervals.mean_over_relations(each, within=intervals.SHARE)
            differ = int((intervals.holm(part["p"]) < 0.05).sum())
            rows.append((model, len(part), found, part["if_alike"].mean(), differ))
    columns = ["model", "relations", "spread", "if_alike", "differ"]
    return pd.DataFrame(rows, columns=columns)


def with_rules(
    spreads: pd.DataFrame, cues: pd.DataFrame, groups: pd.DataFrame, about: Mapping[str, str]
) -> pd.DataFrame:
    """A table of :func:`lkecore.answers.formats.spreads` with ``rule`` behind ``paper``.

    That is what the best rule without a model gets, in [0, 1]: the best one over the facts of the group,
    each relation counted alike. ``cues`` of :func:`lkecore.answers.rules.of_sets`, ``groups`` of
    :func:`lkecore.answers.separators.draw`.
    """
    asked = groups.merge(cues, on=["fact_set", "relation", "fact"], validate="m:1")
    of = {
        key: rules.by_relation(part)["of_rule"].mean()
        for key, part in asked.groupby(["fact_set", "group"], sort=False)
    }
    found = spreads.copy()
    places = zip(found["model"].map(about), found["group"], strict=True)
    found.insert(found.columns.get_loc("paper") + 1, "rule", [of[place] for place in places])
    return found


def no_cue(right: Tables, cues: pd.DataFrame, about: Mapping[str, str]) -> pd.DataFrame:
    """The accuracy in the paper's format on facts that carry no cue, for each model and group.

    ``cues`` are of :func:`lkecore.answers.rules.of_sets`, ``about`` names the fact set of each model.
    Columns: ``model``, ``group``, ``no_cue``: each relation counts alike, in [0, 1]; NaN without such a fact.
    """
    rows = []
    plain = cues[~cues[rules.CUES].any(axis=1)]
    for (model, group), table in right.items():
        hits = table.loc[SPACE].astype(float).rename("hit").reset_index()
        own = plain[plain["fact_set"] == about[model]]
        both = hits.merge(own[rules.FACT], on=rules.FACT)
        rows.append((model, group, both.groupby("relation")["hit"].mean().mean()))
    return pd.DataFrame(rows, columns=["model", "group", "no_cue"])
