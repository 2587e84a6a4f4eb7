"""Paired: whether two runs differ, on the questions that both were asked."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lkecore import stats
from lkecore.answers.align import aligned
from lkecore.answers.sides import Pair
from lkecore.errors import BadInput
from lkecore.stats import power
from lkecore.stats.resample import PLACES, ROUNDING

ASKED = ["digest", "world", "fact_set", "relation", "fact", "draw", "template"]  # of two models
OF_WAYS = ["world", "relation", "fact", "draw"]  # of two ways of one model, whose words differ
AT_LEAST = 0.5  # the share of either side that must meet


def met(a: pd.DataFrame, b: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int | str]]:
    """(the questions that both sides have, with ``correct`` and ``correct|``; how many only one side has).

    Rows meet on ``question`` if both sides have it, else on ``text``, else on the columns of ``ASKED`` that
    both have; two ways of one model meet on ``OF_WAYS``. :class:`BadInput` if a question is there twice, if
    less than half of either side meets, and if the same fact has other options on the other side.
    """
    shared = [name for name in a if name in b and a[name].notna().all() and b[name].notna().all()]
    ways = "estimator" in shared and {*a["estimator"]} != {*b["estimator"]}
    key = [name for name in (OF_WAYS if ways else ASKED) if name in shared]
    key = next(([n] for n in ("question", "text") if n in shared and not ways), key)
    by = ", ".join(key)
    found = aligned(a, b, key)
    if n := (found["nth"] > 0).sum():
        raise BadInput(f"{n} questions are there again, by {by}: choose one way of asking")
    both, left, right = (found[found["side"] == s] for s in ("both", "left_only", "right_only"))
    if len(both) < AT_LEAST * max(len(a), len(b)):
        raise BadInput(
            f"{len(both)} of {len(a)} and {len(b)} questions meet, by {by}: less than half of a side. Other "
            "facts, examples, options or words were asked"
        )
    for name in ("options", "n_options"):
        if name in shared and len(other := both[both[name] != both[f"{name}|"]]):
            said = f"{len(other)} of {len(both)} facts have other options on the other side"
            raise BadInput(f"{said}, the first {_first(other)}")
    only = {"only_a": len(left), "first_a": _first(left)}
    return both, only | {"only_b": len(right), "first_b": _first(right, "|")}


def _first(rows: pd.DataFrame, mark: str = "") -> str:
    """Relation and fact of the first of some rows, for people."""
    names = [f"{name}{mark}" if f"{name}{mark}" in rows else name for name in ("relation", "fact")]
    return ", ".join(map(str, rows[names].iloc[0])) if len(rows) else ""


def gaps(both: pd.DataFrame) -> pd.DataFrame:
    """A row for each fact of :func:`met`: the means of ``correct`` and ``correct|``, and their ``gap``."""
    keys = [*(c for c in (*PLACES, "subject") if c in both and both[c].notna().all()), "fact"]
    found = both.groupby(keys, sort=False)[["correct", "correct|"]].mean()
    return found.assign(gap=found["correct"] - found["correct|"]).reset_index()


def beside(a: pd.DataFrame, b: pd.DataFrame, *, seed: int = 0) -> dict[str, float | str]:
    """The accuracy of two sides on the questions that both were asked, and the difference.

    - ``accuracy_a``, ``accuracy_b`` and ``difference`` (a minus b): means over relations of means over facts;
    - ``facts_low``, ``facts_high``: 95 % interval of the difference over facts of these relations, each with
      both answers, or over subjects if these repeat;
    - ``over``: "fact" or "subject", the unit of that interval;
    - ``relations_low``, ``relations_high``, ``p_relations``: Student's t over relations (tasks), NaN for
      fewer than five;
    - ``p_mcnemar``: McNemar's exact test, if there is one right or wrong answer for each fact;
    - ``leads``, ``trails``: the number of relations in which a is above b, and below it;
    - ``relations``, ``facts``: how many there are; ``differ``: the number of facts with a difference;
    - ``least``: the difference that so many relations (or facts, if relations are few) show in 80 % of such
      comparisons, NaN if no difference does;
    - ``only_a``, ``only_b``: the number of questions that one side alone has; ``first_a``, ``first_b``: the
      first of them.

    :class:`BadInput` as :func:`met`.
    """
    from scipy.stats import ttest_1samp
    from statsmodels.stats.contingency_tables import mcnemar

    both, only = met(a, b)
    gap = gaps(both)
    means = gap.groupby("relation", sort=False)[["correct", "correct|", "gap"]].mean()
    units = gap.groupby("subject")["gap"].mean() if "subject" in gap else gap["gap"]
    over = "subject" if len(units) < len(gap) else "fact"
    how = {"value": "gap", "bounds": (-1, 1), "seed": seed}
    several = over == "subject" or gap["relation"].value_counts().min() > 1
    facts = stats.estimate(gap, over=over, **how).iloc[0] if several else {}
    relations = stats.estimate(gap.drop(columns="fact"), **how).iloc[0]
    few = np.isnan(relations["low"])
    of, test = units if few else means["gap"], not few and means["gap"].std() > ROUNDING
    least = power.least(of.var(), len(of)) if gap["gap"].std() > ROUNDING else np.nan
    more, fewer = int((gap["gap"] > 0).sum()), int((gap["gap"] < 0).sum())
    one_each = len(both) == len(gap) and both[["correct", "correct|"]].isin([0, 1]).all(axis=None)
    return {
        **dict(zip(["accuracy_a", "accuracy_b", "difference"], means.mean(), strict=True)),
        **{f"facts_{end}": facts.get(end, np.nan) for end in ("low", "high")},
        **{f"relations_{end}": relations[end] for end in ("low", "high")},
        "p_relations": ttest_1samp(means["gap"], 0).pvalue if test else np.nan,
        "p_mcnemar": mcnemar([[0, more], [fewer, 0]]).pvalue if one_each else np.nan,
        "least": least if least <= 1 else np.nan,
        **{"relations": len(means), "facts": len(gap), "differ": more + fewer, "over": over},
        "leads": int((means["gap"] > 0).sum()),
        "trails": int((means["gap"] < 0).sum()),
        **only,
    }


def table(pairs: Sequence[Pair], *, seed: int = 0) -> pd.DataFrame:
    """A row for each pair: the numbers of :func:`beside`, with ``a`` and ``b``, the names of the two sides.

    ``p_holm`` is the p over relations, or McNemar's if relations are few, adjusted for all pairs (Holm).
    ``in_words`` is the result as text, from :func:`sentence`.
    """
    from statsmodels.stats.multitest import multipletests

    found = pd.DataFrame([{"a": x, "b": y, **beside(a, b, seed=seed)} for a, b, x, y in pairs])
    p = found["p_relations"].fillna(found["p_mcnemar"]).dropna()
    adjusted = multipletests(p, method="holm")[1] if len(p) else p
    found = found.assign(p_holm=pd.Series(adjusted, p.index, dtype=float))
    return found.assign(in_words=[sentence(row) for _, row in found.iterrows()])


def sentence(row: pd.Series) -> str:
    """The result in a row of :func:`table`, in words.

    >>> sentence(pd.Series({"a": "one", "b": "other", "facts": 60, "differ": 0}))
    'one and other have the same answers to all 60 facts: a difference of 0 without any variance.'
    """
    a, b, n = row["a"], row["b"], row["facts"]
    if row["differ"] == 0:
        return f"{a} and {b} have the same answers to all {n} facts: a difference of 0 without any variance."
    few, points = np.isnan(row["relations_low"]), row["difference"] * 100
    low, high = (row[f"{'facts' if few else 'relations'}_{end}"] for end in ("low", "high"))
    ahead, behind = (a, b) if points >= 0 else (b, a)
    shown = (low > 0 or high < 0) and not row["p_holm"] > power.ALPHA
    over, why = "relation", ""
    if few:
        over, why = (
            row["over"],
            f" No interval over relations, of which there are {row['relations']}.",
        )
    return (
        f"{ahead} is right on {abs(points):.1f} points more of the facts than {behind}; a - b over other "
        f"{over}s: {100 * low:.1f} to {100 * high:.1f} points (95 %), {'' if shown else 'no '}evidence of a "
        f"difference. The least that these numbers could have shown is {100 * row['least']:.1f} points.{why}"
    )
