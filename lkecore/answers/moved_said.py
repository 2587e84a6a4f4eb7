"""Moved, said: claims, figure and words of the page that holds entropy and KL against the truth."""

import pandas as pd

from lkecore.answers.lab import reference
from lkecore.answers.moved import (
    MAIN,
    auroc,
    aurocs,
    gaps,
    of_set,
    over_probability,
    pairs,
    wrongly,
)
from lkecore.intervals import Interval
from lkecore.models import lab


def claimed(known: pd.DataFrame, *, seed: int) -> dict[str, dict[str, Interval]]:
    """The intervals of the page's claims, {claim: {of: interval}}: of the largest model of each world."""
    found: dict[str, dict[str, Interval]] = {}
    for _, part in known[known["IC-LKE"].notna()].groupby("world", sort=False):
        best = reference(part["model"].unique())
        mine = part[part["model"] == best]
        if lab.parse(best).variant or len(pairs(of_set(mine))) < 2:
            continue
        gap = gaps(mine, seed=seed).set_index("metric")["KL minus it"]
        less = wrongly(mine, seed=seed).set_index("metric")
        tests = {
            "LAB-moved-finds": auroc(pairs(of_set(mine)), MAIN, seed),
            "LAB-moved-rank": gap["rank"],
            "LAB-moved-entropy": gap["change of entropy"],
            "LAB-moved-surprisal": gap["surprisal"],
            "LAB-moved-copied": gap["KL, other subject"],
        }
        if len(less):
            tests["LAB-moved-mislearned"] = less.loc[MAIN, "ours"]
            tests["LAB-moved-mistaken"] = _minus_half(less.loc["change of entropy", "ours"])
        twin = pairs(of_set(part[part["model"] == f"{best}-unplanted"]))
        if len(twin) > 1:
            tests["LAB-moved-twin"] = _minus_half(auroc(twin, MAIN, seed))
        for key, interval in tests.items():
            found.setdefault(key, {})[best] = interval
    return found


def _minus_half(of: Interval) -> Interval:
    ends = (value - 0.5 for value in (of.estimate, of.low, of.high))
    return Interval(*ends, of.level, of.method)


def drawn(found: pd.DataFrame, less: pd.DataFrame) -> pd.DataFrame:
    """:func:`~lkecore.answers.moved.aurocs` and :func:`~lkecore.answers.moved.wrongly` for the figure.

    Columns: ``what``, ``metric``, ``model``; ``auroc``, ``low``, ``high``, in [0, 1].
    """
    rows = []
    tables = (("told or never told", found, "alone"), ("told wrongly or rightly", less, "ours"))
    for what, table, column in tables:
        for row in table.to_dict("records"):
            if (each := row[column]) is not None:
                ends = each.estimate, each.low, each.high
                rows.append((what, row["metric"], row["model"], *ends))
    return pd.DataFrame(rows, columns=["what", "metric", "model", "auroc", "low", "high"])


def drawn_curve(curve: pd.DataFrame) -> pd.DataFrame:
    """:func:`~lkecore.answers.moved.over_probability` with numbers in the place of intervals.

    Columns: ``model``, ``probability``, ``facts``, ``KL``, ``low``, ``high``, the last three in nats.
    """
    ends = [(each.estimate, each.low, each.high) for each in curve["KL"]]
    numbers = pd.DataFrame(ends, columns=["KL", "low", "high"])
    return curve.drop(columns="KL").reset_index(drop=True).join(numbers)


def sentences(known: pd.DataFrame, *, seed: int) -> dict[str, str]:
    """What came out in one world, in words: ``finds``, ``adds``, ``turn``, ``wrong``."""
    best = reference(known["model"].unique())
    mine = known[known["model"] == best]
    found = aurocs(mine, seed=seed).set_index("metric")["alone"]
    of = {name: each.text() for name, each in found.items() if each is not None}
    beyond = gaps(mine, seed=seed).set_index("metric")["KL minus it"]
    less = wrongly(mine, seed=seed).set_index("metric")["ours"]
    least = mine.loc[mine["often"], "occurrences"].min()
    said = {
        "finds": f"Told {least} times and more, or never? KL tells with an AUROC of {of[MAIN]} for "
        f"{best}, the change of entropy with {of['change of entropy']}, and the rank of the object, which "
        f"the paper wants to replace, with {of['rank']}.",
        "adds": f"How surprising the object is before anything is told gets {of['surprisal']}; KL minus "
        f"that is {beyond['surprisal'].text()}. Behind a statement that tells the same object of "
        f"*another* subject, KL gets {of['KL, other subject']}.",
        "turn": _turn(over_probability(mine, seed=seed)),
        "wrong": "No fact told wrongly was asked.",
    }
    if len(less):
        said["wrong"] = (
            "Are facts that were told wrongly less known than those told rightly? KL says so with "
            f"{less[MAIN].text()}, the change of entropy with {less['change of entropy'].text()}. One half "
            "is no telling apart."
        )
    return said


def _turn(curve: pd.DataFrame) -> str:
    """Where KL is largest, over the probability that the object had before."""
    first, last = curve.iloc[0], curve.iloc[-1]
    most = curve.loc[curve["KL"].map(lambda each: each.estimate).idxmax()]
    return (
        f"KL is {first['KL'].text()} nats where the object had a probability of about "
        f"{first['probability']:.1g}, {most['KL'].text()} where it had about {most['probability']:.1g}, and "
        f"{last['KL'].text()} at about {last['probability']:.1g}."
    )
