"""Paired: whether two runs differ, on the questions that both were asked."""

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd

from lkecore import stats
from lkecore.answers.align import aligned
from lkecore.answers.columns import ASKED
from lkecore.answers.show import numbered
from lkecore.answers.sides import chosen, read
from lkecore.errors import BadInput, visible
from lkecore.stats import power
from lkecore.stats.estimate import FEWEST
from lkecore.stats.resample import PLACES, ROUNDING

# Of two ways of asking one model, questions are others; and options and digests are checked, not met on.
OF_FACT = ["fact_set", "world", "relation", "fact", "draw"]
NOT_MET_ON = ["source", "model", "reader", "question", "n_options"]
AT_LEAST = 0.5  # of either side must meet


def sides(first: str, second: str = "", *, draw: int = 0, **given: Sequence[str]) -> list[tuple]:
    """The pairs of frames that two names stand for, each of one model asked in one way, and their names.

    Names are those of :func:`lkecore.answers.sides.read`; without ``second`` both are ``first``. ``given``
    has for a source, model or estimator one value for both sides, or one for each. Where a side has several
    models, each is paired with each of the other side; in two ways of asking, with itself.
    """
    for column, values in given.items():
        if len(values) > 2:
            raise BadInput(
                f"--{column} is given {len(values)} times: once for both sides or for each"
            )
    frames = {name: read(name) for name in dict.fromkeys([first, second or first])}
    two = []
    for i, name in enumerate([first, second or first]):
        mine = {column: [*values, *values][i] for column, values in given.items() if values}
        frame = chosen(frames[name], visible(name), draw, **mine)
        two.append({model: part for model, part in frame.groupby("model", sort=False)})
    ways = [{str(way) for of in side.values() for way in of.get("estimator", [""])} for side in two]
    same = {*two[0]} == {*two[1]}
    if same and ways[0] != ways[1]:
        pairs = [(model, model) for model in two[0]]
    elif same and first == (second or first) and len(given.get("source", ())) < 2:
        pairs = [*combinations(two[0], 2)]
        if not pairs:
            raise BadInput(
                f"{visible(first)} has one model, {next(iter(two[0]))}, and one way: nothing to compare"
            )
    else:
        pairs = [*product(*two)]
    x, y = ["" if ways[0] == ways[1] or way == {""} else f", {[*way][0]}" for way in ways]
    return [(two[0][a], two[1][b], f"{a}{x}", f"{b}{y}") for a, b in pairs]


def met(a: pd.DataFrame, b: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """(questions that both sides have, with ``correct`` and ``correct|``; how many only one has).

    They meet on ``question`` if both have it, else on ``text``, else on all columns that both have of those
    that say what was asked; two ways of one model on relation, fact and draw. BadInput if a question is
    there twice, if less than half of either side meets, and for other options under one fact.
    """
    two_ways = "estimator" in a and "estimator" in b and {*a["estimator"]} != {*b["estimator"]}
    of_fact = [c for c in (OF_FACT if two_ways else ASKED) if c not in NOT_MET_ON]
    key = [c for c in of_fact if c in a and c in b and not (a[c].isna().any() or b[c].isna().any())]
    for digest in ("text", "question") if not two_ways else ():
        if all(digest in side and side[digest].notna().all() for side in (a, b)):
            key = [digest]
    for side, name in ((a, "the first"), (b, "the second")):
        if (twice := side.duplicated(key, keep=False)).any():
            one = side[twice].groupby(key, sort=False).head(2)
            differ = [
                c for c in one if c not in ("correct", *key) and one[c].astype(str).nunique() > 1
            ]
            raise BadInput(
                f"{twice.sum()} rows of {name} side are about questions that it has twice, by "
                f"{', '.join(key)}; they differ in {', '.join(differ) or 'nothing'}"
            )
    found = aligned(a, b, key)
    both, counts = found[found["side"] == "both"], found["side"].value_counts()
    if len(both) < AT_LEAST * max(len(a), len(b)):
        raise BadInput(
            f"{len(both)} of {len(a)} and {len(b)} questions meet, by {', '.join(key)}: less than half of a "
            "side. They were asked other facts, examples or options, or in other words"
        )
    for name, what in (
        ("options", "other options"),
        ("n_options", "another number of options"),
        ("document", "another document"),
    ):
        if f"{name}|" in both and (other := both[name].ne(both[f"{name}|"])).any():
            first = _first(both[other], [*key, "fact"] if "fact" not in key else key, "")
            raise BadInput(
                f"{other.sum()} of {len(both)} facts have {what} on the other side, the first {first}"
            )
    shared = [c for c in (*PLACES, "fact", "subject") if c in a and c not in key]
    first = {
        f"only_{name}": _first(found[found["side"] == side], [*key, *shared], mark)
        for name, side, mark in (("a", "left_only", ""), ("b", "right_only", "|"))
    }
    alone = {"n_a": int(counts["left_only"]), "n_b": int(counts["right_only"])}
    return both, pd.Series(alone | first)


def _first(rows: pd.DataFrame, names: Sequence[str], mark: str) -> str:
    """What tells the first of some rows from others, for a person."""
    if rows.empty:
        return ""
    row = rows.iloc[0]
    values = [
        row.get(f"{name}{mark}", row.get(name))
        for name in names
        if name not in ("question", "text")
    ]
    return ", ".join(str(value) for value in values if pd.notna(value) and value != "")


def gaps(both: pd.DataFrame) -> pd.DataFrame:
    """A row a fact of what :func:`met`: ``correct`` and ``correct|``, means over its rows, and ``gap``."""
    of = both.groupby([*(c for c in PLACES if c in both), "fact"], sort=False)
    gap = of[["correct", "correct|"]].mean()
    if "subject" in both and both["subject"].notna().all():
        gap["subject"] = of["subject"].first()
    return gap.assign(gap=gap["correct"] - gap["correct|"]).reset_index()


def beside(a: pd.DataFrame, b: pd.DataFrame, *, seed: int = 0) -> pd.Series:
    """How often two sides are right on the questions that both were asked, and the difference.

    ``accuracy_a``, ``accuracy_b`` and ``difference``, a minus b: means over relations of means over facts, as
    :func:`lkecore.stats.estimate`. ``facts_low`` and ``facts_high``: 95 % over facts of these relations,
    each with both answers, or over subjects if these repeat (``over``); ``relations_low``,
    ``relations_high`` and ``p_relations`` by Student's t over relations, NaN for fewer than five.
    ``p_mcnemar``: McNemar's exact test, of answers that are right or wrong, one a fact. In ``leads`` of
    ``relations`` a is ahead, in ``trails`` behind; ``differ``: facts with a difference. ``least``: the
    difference that these relations (facts, if relations are few) show in 80 % of such comparisons, NaN if not
    even one of 1 would. Besides ``facts`` and the counts of :func:`met`. BadInput as there.
    """
    from scipy import stats as tests
    from statsmodels.stats.contingency_tables import mcnemar

    both, row = met(a, b)
    gap = gaps(both)
    places = [c for c in PLACES if c in gap]
    over = "subject" if "subject" in gap and gap["subject"].nunique() < len(gap) else "fact"
    of_relations = gap.groupby("relation", sort=False)["gap"].mean()
    few = len(of_relations) < FEWEST
    for name, column in (("a", "correct"), ("b", "correct|")):
        row[f"accuracy_{name}"] = gap.groupby("relation", sort=False)[column].mean().mean()
    row["difference"] = of_relations.mean()
    row["relations"], row["facts"], row["over"] = len(of_relations), len(gap), over
    how = {"value": "gap", "bounds": (-1, 1), "seed": seed}
    alone = gap.groupby(places)["fact"].nunique().min() < 2
    ends = [np.nan] * 2 if alone else stats.estimate(gap, over=over, **how).loc[0, ["low", "high"]]
    row["facts_low"], row["facts_high"] = ends
    found = stats.estimate(gap.drop(columns="fact"), **how).iloc[0]
    row["relations_low"], row["relations_high"] = found["low"], found["high"]
    varies = of_relations.std() > ROUNDING
    row["p_relations"] = tests.ttest_1samp(of_relations, 0).pvalue if varies and not few else np.nan
    row["differ"] = int(gap["gap"].ne(0).sum())
    row["leads"], row["trails"] = int((of_relations > 0).sum()), int((of_relations < 0).sum())
    one_each = len(gap) == len(both) and gap[["correct", "correct|"]].isin([0, 1]).all(axis=None)
    row["p_mcnemar"] = np.nan
    if one_each:
        table = pd.crosstab(gap["correct"], gap["correct|"]).reindex(
            index=[0, 1], columns=[0, 1], fill_value=0
        )
        row["p_mcnemar"] = mcnemar(table, exact=True).pvalue
    values = gap["gap"] if few else of_relations
    least = power.least(values.var(), len(values)) if gap["gap"].std() > 0 else np.nan
    row["least"] = least if least <= 1 else np.nan
    return row


def table(pairs: Sequence[tuple], *, seed: int = 0) -> pd.DataFrame:
    """:func:`beside` of each of the pairs of :func:`sides`, a row each, with ``a`` and ``b``, their names.

    ``p_holm`` is the p over relations, or McNemar's if they are few, adjusted for several pairs (Holm).
    """
    from statsmodels.stats.multitest import multipletests

    rows = [pd.Series({"a": x, "b": y}) for *_, x, y in pairs]
    found = [
        pd.concat([row, beside(a, b, seed=seed)])
        for row, (a, b, *_) in zip(rows, pairs, strict=True)
    ]
    found = pd.DataFrame(found).infer_objects()
    p = found["p_relations"].fillna(found["p_mcnemar"]).astype(float)
    found["p_holm"] = np.nan
    if p.notna().any():
        found.loc[p.notna(), "p_holm"] = multipletests(p.dropna(), method="holm")[1]
    return found


def sentence(row: pd.Series) -> str:
    """A row of :func:`table` in words.

    >>> sentence(pd.Series({"a": "one", "b": "other", "facts": 60, "differ": 0}))[:44]
    'one and other have the same answers to all 6'
    """
    if row["differ"] == 0:
        return (
            f"{row['a']} and {row['b']} have the same answers to all {row['facts']}: a difference of 0, and "
            "no variance to say what others would have."
        )
    of = "facts" if row["relations"] < FEWEST else "relations"
    ahead, behind = ("a", "b") if row["difference"] >= 0 else ("b", "a")
    ends = 100 * row[[f"{of}_low", f"{of}_high"]].astype(float)
    low, high = sorted(ends if ahead == "a" else -ends)
    between = f"over other {of} it would be {low:.1f} to {high:.1f} (95 %)"
    said = (
        f"{row[ahead]} is right on {100 * abs(row['difference']):.1f} points more of the facts than "
        f"{row[behind]}"
    )
    if low > 0 and not row["p_holm"] > power.ALPHA:
        return f"{said}; {between}."
    least = (
        "no difference"
        if np.isnan(row["least"])
        else f"a difference of {100 * row['least']:.1f} points"
    )
    return (
        f"{said}, which is no evidence of a difference: {between}; {least} would have shown, in four of five "
        "such comparisons."
    )


def lines(row: pd.Series, several: bool = False) -> dict[str, str]:
    """A row of :func:`table` for people: {what it is: a text}; with ``several`` pairs also Holm's p."""

    def points(*names: str) -> str:
        return " to ".join(f"{100 * row[name]:.2f}" for name in names)

    few, n = np.isnan(row["relations_low"]), row["relations"]
    why = "one relation" if n == 1 else f"{n} relations are fewer than five"
    each = {
        "A": f"{row['a']}: {points('accuracy_a')} % of {row['facts']} facts, {numbered(n, 'relation')}",
        "B": f"{row['b']}: {points('accuracy_b')} %",
        "A - B, points": points("difference"),
        f"95 % over {row['over']}s": points("facts_low", "facts_high"),
        "95 % over relations": f"none: {why}" if few else points("relations_low", "relations_high"),
        "p over relations": "none"
        if few
        else f"{row['p_relations']:.3g} (t, {n - 1} degrees of freedom)",
        "p by McNemar": f"{row['p_mcnemar']:.3g} (exact)",
        "p by Holm": f"{row['p_holm']:.3g}" if several else "",
        "A leads": f"in {numbered(row['leads'], 'relation')}, B in {row['trails']}",
        "least to be shown": f"{points('least')} points (80 %, over {'facts' if few else 'relations'})",
        "only in A": f"{row['n_a']} questions, the first {row['only_a']}" if row["n_a"] else "",
        "only in B": f"{row['n_b']} questions, the first {row['only_b']}" if row["n_b"] else "",
    }
    return {
        name: text.replace("nan to nan", "none").replace("nan points", "no difference")
        for name, text in each.items()
        if text
    }
