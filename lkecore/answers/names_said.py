"""Names, said: claims and words of the page on second names and second objects."""

import pandas as pd

from lkecore import intervals
from lkecore.answers import names_found
from lkecore.answers.lab import OFTEN
from lkecore.answers.names import BOTH, ONE, PAIRS, RULE, TOLD, TWIN
from lkecore.answers.shipped import sources_of
from lkecore.answers.show import numbered
from lkecore.intervals import Interval

BESIDE_TWIN = ("alias-own", "alias-carried")  # claims on the worlds whose twin was asked


def claimed(
    known: pd.DataFrame, often: int = OFTEN, *, seed: int
) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the claims of the page, {id of the claim: {(source, of what): interval}}.

    ``known`` is of :func:`lkecore.answers.names.beside_truth`. About each size that read the text as it is,
    in all its worlds together. A claim with fewer than two subjects is left out, and one on what was never
    seen: a bootstrap has no width there, and would judge by a handful of facts.
    """
    said: dict[str, dict[tuple[str, str], Interval]] = {}
    for size in (name for name in sizes(known) if TWIN not in name):
        mine = known[known["size"] == size]
        found = _of_several(mine, often, seed) | _of_objects(mine, often, seed)
        found |= _of_subjects(known, size, often, seed)
        pairs = known[known["size"].isin([size, size + TWIN])]
        pairs = pairs[pairs["world"].isin(known.loc[known["size"] == size + TWIN, "world"])]
        for key, interval in found.items():
            if interval is not None and interval.low < interval.high and not _is_all(interval):
                of = pairs if key in BESIDE_TWIN else mine
                under = sources_of(of), called(of, size)
                said.setdefault(f"LAB-names-{key}", {})[under] = interval
    return said


def _is_all(found: Interval) -> bool:
    """Whether none or all of the facts were so, of which :func:`names_found.mean` has Wilson's interval."""
    return found.method.startswith("Wilson")


def sizes(known: pd.DataFrame) -> list[str]:
    """The sizes that read the text as it is, in the order of their names; of twins alone, these."""
    every = [name for name in sorted(known["size"].unique()) if name != RULE]
    return [name for name in every if TWIN not in name] or every


def called(known: pd.DataFrame, size: str) -> str:
    """A size and in how many worlds it was asked, for a reader."""
    n = known.loc[known["size"] == size, "world"].nunique()
    return f"{size}, {numbered(n, 'world')}"


def _of_several(mine: pd.DataFrame, often: int, seed: int) -> dict[str, Interval | None]:
    rows = names_found.by_several(mine, often, seed=seed).set_index("way")
    own = rows.loc[TOLD] if TOLD in rows.index else {}
    return {"hidden": own.get("hidden"), "wrong": own.get("of_wrong")}


def _of_objects(mine: pd.DataFrame, often: int, seed: int) -> dict[str, Interval | None]:
    rows = names_found.by_object_alias(mine, often, seed=seed).set_index(["way", "told"])["gain"]
    return {"sum": rows.get((TOLD, BOTH))}


def _of_subjects(
    known: pd.DataFrame, size: str, often: int, seed: int
) -> dict[str, Interval | None]:
    every = names_found.of_subjects(known, often)
    of = {
        (each, way, told): part
        for (each, way, told), part in every.groupby(["size", "way", "told"])
    }
    none = every.iloc[:0]
    both, one = of.get((size, TOLD, BOTH), none), of.get((size, PAIRS, ONE), none)
    twins = [
        of.get((size + TWIN, *key), none)[["world", "fact", "alias"]]
        for key in ((TOLD, BOTH), (PAIRS, ONE))
    ]
    beyond = [
        mine.merge(twin, on=["world", "fact"], suffixes=("", "_twin"), validate="1:1")
        for mine, twin in zip((both, one), twins, strict=True)
    ]
    gaps = [part["alias"].astype(float) - part["alias_twin"].astype(float) for part in beyond]
    name, alias = both["name"].astype(bool), both["alias"].astype(bool)
    few, many = (both[both["subject_alias_dose"] == dose]["alias"] for dose in (1, 16))
    counts = int(many.sum()), len(many), int(few.sum()), len(few)
    enough = min(len(few), len(many)) > 1
    return {
        "alias": names_found.mean(both, name.astype(float) - alias, seed),
        "alias-lists": names_found.mean(one, one["name"].astype(float) - one["alias"], seed),
        "alias-own": names_found.mean(beyond[0], gaps[0], seed),
        "alias-carried": names_found.mean(beyond[1], gaps[1], seed),
        "alias-dose": intervals.difference_of_proportions(*counts) if enough else None,
        "missed": names_found.mean(both, (alias & ~name).astype(float), seed),
    }


def sentences(
    known: pd.DataFrame,
    several: pd.DataFrame,
    subjects: pd.DataFrame,
    objects: pd.DataFrame,
    often: int = OFTEN,
) -> dict[str, str]:
    """What came out, in words: ``several``, ``subjects``, ``objects``, of the size with most worlds.

    ``several`` is of :func:`~lkecore.answers.names_found.by_several`, ``subjects`` of
    :func:`~lkecore.answers.names_found.by_subject_alias` and ``objects`` of
    :func:`~lkecore.answers.names_found.by_object_alias`, about facts told ``often``.
    """
    worlds = {name: known.loc[known["size"] == name, "world"].nunique() for name in sizes(known)}
    size = max(worlds, key=lambda name: worlds[name])
    own = several[several["model"] == size].set_index("way").loc[TOLD]
    by_subject, by_object = (
        table.set_index(["model", "way", "told"]) for table in (subjects, objects)
    )
    both, sums = by_subject.loc[size, TOLD, BOTH], by_object.loc[size, TOLD, BOTH]
    said = {
        "several": f"Of facts told {often} times and more of a subject with two true objects "
        f"({called(known, size)}, asked by a sentence that told them), {_text(own['one'])} are found among "
        "all objects, and "
        f"{_text(own['left_out'])} if the other true one is no option. Of the answers counted wrong, "
        f"{_text(own['of_wrong'])} name the other true object.",
        "subjects": "Of facts that sentences told under both names of a subject, its name finds "
        f"{_text(both['name'])} and its alias {_text(both['alias'])}; {_text(both['missed'])} "
        "by the alias alone.",
        "objects": "Adding up the probabilities of both names of an object in place of that of its main name "
        f"changes the share found by {_text(sums['gain'])}.",
    }
    if (size, PAIRS, ONE) in by_subject.index:
        lists = by_subject.loc[size, PAIRS, ONE]
        said["subjects"] += (
            f" Of facts told under the name alone, pairs find {_text(lists['name'])} by the "
            f"name and {_text(lists['alias'])} by the alias."
        )
    if (size + TWIN, TOLD, BOTH) in by_subject.index:
        its = by_subject.loc[size + TWIN, TOLD, BOTH]
        said["subjects"] += (
            f" The alias finds {_text(its['alias'])} of the first facts for twins, which were told none, and "
            f"{_text(its['missed'])} alone."
        )
        gain = by_object.loc[size + TWIN, TOLD, BOTH]["gain"]
        said["objects"] += f" For twins it is {_text(gain)}."
    return said


def _text(found: Interval | None) -> str:
    return found.text() if found else "too few to say"


def doses(known: pd.DataFrame, often: int = OFTEN, *, seed: int) -> pd.DataFrame:
    """What a name and its alias find by the dose of the alias, for the figure: a row a mark.

    Of sizes in most worlds and their twins. Columns: ``panel`` (model and way), ``dose`` (text), ``asked by``
    ("name" or "alias"), ``facts``, ``found``, ``low``, ``high``, over subjects.
    """
    rows = []
    table = names_found.by_subject_alias(known, often, seed=seed, by=["subject_alias_dose"])
    worlds = known.groupby("size")["world"].nunique().drop(RULE)
    most = worlds[worlds == worlds.max()].index
    table = table[table["model"].isin(most) & table["told"].eq(BOTH) & table["way"].eq(TOLD)]
    for row in table.itertuples():
        for column in ("name", "alias"):
            if found := getattr(row, column):
                ends = found.estimate, found.low, found.high
                rows.append((row.model, str(row.subject_alias_dose), column, row.facts, *ends))
    columns = ["panel", "dose", "asked by", "facts", "found", "low", "high"]
    return pd.DataFrame(rows, columns=columns)
