"""Moved, said: claims, figure and words of the page that holds entropy and KL against the truth."""

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers import rich
from lkecore.answers.moved import MAIN, auroc, gaps, of_set, pairs, wrongly
from lkecore.answers.tables import groups_of
from lkecore.intervals import Interval


def claimed(known: pd.DataFrame, *, seed: int) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the page's claims, as :func:`lkecore.answers.rich.claimed` has them."""

    def tests(mine: pd.DataFrame, _: pd.DataFrame) -> dict[str, Interval | None]:
        if len(pairs(of_set(mine))) < 2:
            return {}
        others = ["rank", "change of entropy", "surprisal", "KL, other subject"]
        gap = gaps(mine, seed=seed, metrics=others).set_index("metric")["KL minus it"]
        less = wrongly(mine, seed=seed, metrics=[MAIN, "change of entropy"]).set_index("metric")
        found = {
            "LAB-moved-finds": auroc(pairs(of_set(mine)), MAIN, seed),
            "LAB-moved-rank": gap["rank"],
            "LAB-moved-entropy": gap["change of entropy"],
            "LAB-moved-surprisal": gap["surprisal"],
            "LAB-moved-copied": gap["KL, other subject"],
        }
        if len(less):
            found["LAB-moved-mislearned"] = less.loc[MAIN, "ours"]
            found["LAB-moved-mistaken"] = intervals.minus(
                less.loc["change of entropy", "ours"], 0.5
            )
        return found

    def beside_twin(_: pd.DataFrame, twin: pd.DataFrame) -> dict[str, Interval | None]:
        asked = pairs(of_set(twin))
        off = auroc(asked, MAIN, seed, of="subject") if len(asked) > 1 else None
        return {"LAB-moved-twin": off and intervals.minus(off, 0.5)}

    return rich.claimed(known, tests, beside_twin)


def repeating(known: pd.DataFrame) -> pd.DataFrame:
    """How often a model repeats what it has just been told of a fact that its text never told: by model.

    Columns: ``model``, ``facts``, ``repeated``: the share whose object's first token comes first behind the
    statement, an Interval (Wilson). Facts as in :func:`lkecore.answers.moved.of_set`, in order of the models.
    """
    never = of_set(known)[lambda f: f["state"].eq("never")]
    rows = [
        (model, len(part), intervals.proportion(int(part["repeated"].sum()), len(part)))
        for (model,), part in groups_of(never, ["model"])
    ]
    return pd.DataFrame(rows, columns=["model", "facts", "repeated"])


def follows_tellings(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Spearman's correlation of each metric with how often a fact was told, 1 to 64 times: by model.

    Of rank, surprisal, change of entropy and KL. Columns: ``model``, ``metric``, ``facts``, ``r``, an
    Interval over facts.
    """
    rows = []
    told = of_set(known)[lambda f: f["state"].eq("planted")]
    for (model,), part in groups_of(told, ["model"]):
        for metric in ("rank", "surprisal", "change of entropy", MAIN):
            both = part[metric], part["occurrences"]
            r = intervals.correlation_over_facts(*both, ranks=True, seed=seed)
            rows.append((model, metric, len(part), r))
    return pd.DataFrame(rows, columns=["model", "metric", "facts", "r"])


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


def off_half(found: pd.DataFrame) -> str:
    """Which twins, told nothing, have an AUROC whose interval leaves out one half: a line for each twin.

    ``found`` is of :func:`~lkecore.answers.moved.aurocs`. A last line says of how many intervals in all.
    """
    twins = found[found["model"].str.endswith("-unplanted") & found["alone"].notna()]
    is_off = [each.side(0.5) != 0 for each in twins["alone"]]
    off = twins[np.array(is_off, dtype=bool)]
    lines = [
        f"{model}: " + ", ".join(f"{row.metric} {row.alone.text()}" for row in part.itertuples())
        for (model,), part in groups_of(off, ["model"])
    ]
    return "\n".join([*lines, f"{len(off)} of {len(twins)} intervals of twins leave out 0.5"])


def sentences(
    known: pd.DataFrame, found: pd.DataFrame, less: pd.DataFrame, curve: pd.DataFrame
) -> dict[str, str]:
    """What came out in one world, in words: ``finds``, ``turn``, ``adds``, ``wrong``.

    ``found`` is of :func:`~lkecore.answers.moved.aurocs`, ``less`` of
    :func:`~lkecore.answers.moved.wrongly` and ``curve`` of
    :func:`~lkecore.answers.moved.over_probability`, of the facts ``known``.
    """
    best = rich.teller(known["model"].unique())
    least = known.loc[known["often"], "occurrences"].min()
    own = found[found["model"] == best].set_index("metric")
    of = {name: each.text() for name, each in own["alone"].items() if each is not None}
    wrong = less[less["model"] == best].set_index("metric")["ours"]
    told = found.set_index(["model", "metric"])["alone"]
    asked = found.loc[found["alone"].notna() & found["model"].ne(best), "model"].unique()
    others = "".join(
        f" For {name} these are {told[name, MAIN].text()}, {told[name, 'change of entropy'].text()} and "
        f"{told[name, 'rank'].text()}."
        for name in rich.blank_readers(asked)
    )
    said = {
        "finds": f"Told {least} times and more, or never? KL tells with an AUROC of {of[MAIN]} for "
        f"{best}, the change of entropy with {of['change of entropy']}, and the rank of the object, which "
        f"the paper wants to replace, with {of['rank']}.{others}",
        "adds": "How surprising the object is before anything is told gets, in the same model, "
        f"{of['surprisal']}; KL minus that is {own.loc['surprisal', 'KL minus it'].text()}. Behind a "
        f"statement that tells the same object of another subject, KL gets {of['KL, other subject']}.",
        "turn": f"In {best} {_turn(curve[curve['model'] == best])}",
        "wrong": "No fact told wrongly was asked.",
    }
    if len(wrong):
        said["wrong"] = (
            "Are facts that were told wrongly less known than those told rightly? Of this model KL says so "
            f"with {wrong[MAIN].text()}, the change of entropy with {wrong['change of entropy'].text()}. One "
            "half is no telling apart."
        )
    return said


def _turn(curve: pd.DataFrame) -> str:
    """Where KL is largest, over the probability that the object had before."""
    first, last = curve.iloc[0], curve.iloc[-1]
    most = curve.loc[curve["KL"].map(lambda each: each.estimate).idxmax()]
    return (
        f"KL is {first['KL'].text()} nats where the object had a probability of about "
        f"{_plain(first['probability'])}, {most['KL'].text()} where it had about "
        f"{_plain(most['probability'])}, and {last['KL'].text()} at about {_plain(last['probability'])}."
    )


def _plain(share: float) -> str:
    """One digit that is not 0, without an exponent, such as 0.0004."""
    return np.format_float_positional(share, precision=1, fractional=False, trim="-")
