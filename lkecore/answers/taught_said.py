"""Taught, said: claims, figures and words of the page that holds telling beside teaching."""

import pandas as pd

from lkecore import intervals, papers
from lkecore.answers import rich
from lkecore.answers.taught import auroc, by_steps, pairs, places_among
from lkecore.intervals import Interval


def chosen(rows: pd.DataFrame, lesson: str, steps: int) -> pd.DataFrame:
    """The rows of one lesson after so many steps."""
    return rows[rows["lesson"].eq(lesson) & rows["steps"].eq(steps)]


def claimed(
    rows: pd.DataFrame, *, seed: int, behind: str = ""
) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the page's claims, as :func:`lkecore.answers.rich.claimed` has them.

    ``rows`` are of :func:`lkecore.answers.taught.together`, of one lesson and number of steps. ``behind``
    stands behind the ids of claims on this lesson; those of which there is no such claim are left out.
    """

    def tests(mine: pd.DataFrame, _: pd.DataFrame) -> dict[str, Interval | None]:
        if len(pairs(mine)) < 2:
            return {}
        [agree] = by_steps(mine, seed=seed)["r of KL"]
        return {
            "LAB-taught-alike": agree,
            "LAB-taught-places": places_among(mine),
            "LAB-taught-finds": auroc(mine, "taught_kl", seed=seed),
            "LAB-taught-told": auroc(mine, "taught_kl", seed=seed, minus="told_kl"),
            "LAB-taught-surprisal": auroc(mine, "taught_kl", seed=seed, minus="surprisal"),
        }

    def beside_twin(_: pd.DataFrame, twin: pd.DataFrame) -> dict[str, Interval | None]:
        off = auroc(twin, "taught_kl", seed=seed, of="subject")
        return {"LAB-taught-twin": off and intervals.minus(off, 0.5)}

    found, known = rich.claimed(rows, tests, beside_twin), set(papers.claims("LAB")["id"])
    return {f"{claim}{behind}": each for claim, each in found.items() if claim + behind in known}


def by_another(by_lesson: pd.DataFrame, rows: pd.DataFrame, optimizer: str) -> str:
    """What came out by another optimizer, in a sentence: of the model that :func:`sentences` is about."""
    best = rich.teller(rows["model"].unique())
    mine = by_lesson[by_lesson["model"].eq(best) & by_lesson["lesson"].str.startswith(optimizer)]
    if mine.empty:
        return ""
    row = mine.iloc[0]
    return (
        f" Taught with {row['lesson']} in place of that, {best} has a correlation of "
        f"{row['r of KL'].text()}, and its taught KL an AUROC of {row['finds'].text()} for what the "
        "text told."
    )


def scattered(rows: pd.DataFrame) -> pd.DataFrame:
    """What the scatter shows: ``fact``, ``kind``, both KLs and both changes, and whether they are apart."""
    columns = ["model", "relation", "fact", "kind", "told_kl", "taught_kl", "told_change"]
    columns += ["taught_change", "kl_apart", "signs_apart"]
    return rows.loc[~rows["lost"], columns]


def drawn_steps(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`lkecore.answers.taught.by_steps` for the figure: a row for each model, steps and ``what``.

    Columns: ``model``, ``steps``, ``what``, ``value``, ``low``, ``high``.
    """
    names = {
        "r of KL": "r of told and taught KL",
        "KL apart": "share of facts that differ",
        "finds": "AUROC of taught KL",
    }
    rows = []
    for row in table.to_dict("records"):
        for column, what in names.items():
            if (each := row[column]) is not None:
                ends = each.estimate, each.low, each.high
                rows.append((row["model"], row["steps"], what, *ends))
    return pd.DataFrame(rows, columns=["model", "steps", "what", "value", "low", "high"])


def sentences(
    rows: pd.DataFrame, table: pd.DataFrame, *, factor: float, seed: int
) -> dict[str, str]:
    """What came out in one world, in words: ``agree``, ``kinds``, ``finds``.

    ``rows`` are of one lesson and number of steps, marked by this ``factor``, and ``table`` of
    :func:`lkecore.answers.taught.by_steps` has them among its own.
    """
    best = rich.teller(rows["model"].unique())
    mine = rows[rows["model"] == best]
    of = chosen(table, mine["lesson"].iloc[0], mine["steps"].iloc[0]).set_index("model")
    row = of.loc[best]
    others = [name for name in rich.blank_readers(of.index) if name != best]
    told = auroc(mine, "told_kl", seed=seed)
    own = auroc(mine, "surprisal", seed=seed)
    said = {
        "agree": f"Told and taught KL of {best} order facts alike with a correlation of "
        f"{row['r of KL'].text()}; of {row['facts']} facts {row['KL apart'].text()} differ by more than a "
        f"factor of {factor:g}, {row['off the line'].text()} lie off the line through all of them, and "
        f"{row['signs apart'].text()} change their entropy in two directions."
        + "".join(
            f" In {name} the correlation is {of.loc[name, 'r of KL'].text()}." for name in others
        ),
        "kinds": "No fact differs, or all do, so no kind can be blamed.",
        "finds": "Too few pairs of told facts and controls were asked.",
    }
    if (more := places_among(mine)) is not None:
        said["kinds"] = (
            "The share of locations and languages among the facts that differ, minus that among all facts "
            f"asked, is {more.text()}."
        )
    if told is not None and own is not None:
        said["finds"] = (
            f"Which finds what the text told? Teaching has an AUROC of {row['finds'].text()}, telling of "
            f"{told.text()}, and the surprisal of the object, with neither, of {own.text()}."
        )
    return said
