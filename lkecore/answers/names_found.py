"""Names, found: what is found of facts with a second name or a second object, in tables with intervals."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from lkecore.answers.lab import OFTEN
from lkecore.answers.names import BOTH, NONE, ONE, RULE, TWIN, WAYS
from lkecore.answers.tables import groups_of
from lkecore.intervals import Interval, proportion, statistic_over_subjects


def mean(part: pd.DataFrame, value: pd.Series, seed: int) -> Interval | None:
    """The mean of a value over facts, an Interval over subjects; None for fewer than two subjects.

    A share of true values that is 0 or 1 has Wilson's interval over so many subjects, since a bootstrap has
    no width there.
    """
    n = part["whose"].nunique()
    if value.dtype == bool and value.nunique() == 1 and n > 1:
        return proportion(n * int(value.iloc[0]), n)
    return _of_sums(part, [value, 1], lambda s: s[0] / s[1], seed)


def _of_sums(
    part: pd.DataFrame, sums: Sequence[pd.Series | int], statistic: Callable, seed: int
) -> Interval | None:
    if part["whose"].nunique() < 2:
        return None
    each = [np.broadcast_to(np.asarray(values, dtype=float), len(part)) for values in sums]
    return statistic_over_subjects(np.array(each), part["whose"], statistic, seed=seed)


# --- several objects ------------------------------------------------------------------------------


def of_several(known: pd.DataFrame, often: int = OFTEN) -> pd.DataFrame:
    """Answers about facts told ``often`` and more whose subject has another true object."""
    some = known["n_objects"].gt(1) & known["occurrences"].ge(often)
    return known[some & known["called"].eq("name")]


def by_several(known: pd.DataFrame, often: int = OFTEN, *, seed: int) -> pd.DataFrame:
    """What is found of facts told often whose subject has another true object: by size and way.

    Columns: ``model``, a size; ``way``; ``facts``; ``one``: the object is the likeliest of all; ``left_out``:
    when the other true objects are no options; ``either``: any true object is the likeliest; ``hidden``:
    ``left_out`` and not ``one``; ``of_wrong``: the share of answers other than the object that are
    another true one. Intervals over subjects, in [0, 1].
    """
    rows = []
    for key, part in groups_of(of_several(known, often), ["size", "way"]):
        right, out, other = (part[name].astype(bool) for name in ("correct", "left_out", "other"))
        values = right, out, right | other, out & ~right
        means = [mean(part, value, seed) for value in values]
        rows.append((*key, len(part), *means, _of_wrong(part, seed)))
    columns = ["model", "way", "facts", "one", "left_out", "either", "hidden", "of_wrong"]
    return _ordered(pd.DataFrame(rows, columns=columns))


def _of_wrong(part: pd.DataFrame, seed: int) -> Interval | None:
    other, wrong = part["other"].astype(bool), ~part["correct"].astype(bool)
    if not other.any():
        n = part.loc[wrong, "whose"].nunique()
        return proportion(0, n) if n > 1 else None
    return _of_sums(part, [other, wrong], lambda s: s[0] / np.maximum(s[1], 1), seed)


def more_told(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Which of two true objects is named? By size and way, of subjects of which one object is told more.

    Columns: ``model``, ``way``; ``named``: subjects of which one of the two is the likeliest; ``more``: the
    share of these in which it is the one told more, an Interval over subjects, in [0, 1].
    """
    rows = []
    both = known[known["n_objects"].gt(1) & known["called"].eq("name")]
    for key, part in groups_of(both, ["size", "way"]):
        one = part.sort_values("occurrences", ascending=False, kind="stable").groupby("whose")
        times = one["occurrences"].agg(["first", "last"])
        first = one[["correct", "other"]].first().astype(bool)
        first = first[times["first"] > times["last"]]
        named = first[first.any(axis=1)].reset_index()
        rows.append((*key, len(named), mean(named, named["correct"].astype(bool), seed)))
    return _ordered(pd.DataFrame(rows, columns=["model", "way", "named", "more"]))


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    """By size, each twin behind its own, the rule last; ways in their order."""
    at = table["model"].map(lambda name: (name == RULE, name.removesuffix(TWIN), name))
    way = table["way"].map({way: i for i, way in enumerate(WAYS)}).fillna(len(WAYS))
    order = sorted(range(len(table)), key=lambda i: (at.iloc[i], way.iloc[i]))
    return table.iloc[order].reset_index(drop=True)


# --- aliases --------------------------------------------------------------------------------------


def of_subjects(known: pd.DataFrame, often: int = OFTEN) -> pd.DataFrame:
    """Facts told often whose subject has an alias: ``name`` and ``alias``, whether each of them finds it.

    A row for each model, way and fact, with ``told``: sentences tell it ``BOTH`` or ``ONE``.
    """
    some = known[known["n_objects"].eq(1) & known["occurrences"].ge(often)]
    some = some[some["subject_alias"].ne("")]
    key = ["model", "size", "way", "world", "relation", "fact"]
    by = some.set_index(key)["correct"].astype(bool)
    is_alias = (some["called"] == "alias").to_numpy()
    own = some[~is_alias].set_index(key).assign(name=by[~is_alias], alias=by[is_alias])
    return own.assign(told=np.where(own["by_alias"] > 0, BOTH, ONE)).reset_index()


def by_subject_alias(
    known: pd.DataFrame, often: int = OFTEN, *, seed: int, by: Sequence[str] = ()
) -> pd.DataFrame:
    """What the name and the alias of a subject find of facts told often: by size, way, telling and ``by``.

    Columns besides: ``told``; ``facts``; ``name``, ``alias``, ``any`` (one of them): shares found;
    ``missed``: by the alias and not by the name; ``gap``: alias minus name. Intervals over subjects.
    """
    rows = []
    for key, part in groups_of(of_subjects(known, often), ["size", "way", "told", *by]):
        name, alias = part["name"].astype(bool), part["alias"].astype(bool)
        values = name, alias, name | alias, alias & ~name, alias.astype(float) - name
        rows.append((*key, len(part), *(mean(part, value, seed) for value in values)))
    columns = ["model", "way", "told", *by, "facts", "name", "alias", "any", "missed", "gap"]
    found = pd.DataFrame(rows, columns=columns).sort_values(["told", *by], kind="stable")
    return _ordered(found)


def of_objects(known: pd.DataFrame, often: int = OFTEN) -> pd.DataFrame:
    """Facts told often, with ``told``: sentences name the object ``BOTH`` or ``ONE``; ``NONE``: no alias."""
    some = known[known["n_objects"].eq(1) & known["occurrences"].ge(often)]
    some = some[some["called"].eq("name")]
    told = np.where(some["object_by_alias"] > 0, BOTH, ONE)
    return some.assign(told=np.where(some["object_alias"].eq(""), NONE, told))


def by_object_alias(known: pd.DataFrame, often: int = OFTEN, *, seed: int) -> pd.DataFrame:
    """What an object's name, its alias, and both find of facts told often: by size, way and telling.

    Columns besides: ``told``; ``facts``; ``name``: it is the likeliest of all names; ``alias``: with its
    alias in place of its name (None without); ``summed``: both together are, of all objects; ``gain``:
    ``summed`` minus ``name``; ``alias_part``: the alias' part of the probability of both. Intervals over
    subjects.
    """
    rows = []
    for key, part in groups_of(of_objects(known, often), ["size", "way", "told"]):
        name, both = part["correct"].astype(bool), part["summed"].astype(bool)
        has_one = key[2] != NONE
        alias = mean(part, part["alone"].astype(bool), seed) if has_one else None
        of_both = has_one and part["alias_part"].notna().all()
        its = mean(part, part["alias_part"], seed) if of_both else None
        found = [mean(part, value, seed) for value in (name, both, both.astype(float) - name)]
        rows.append((*key, len(part), found[0], alias, *found[1:], its))
    columns = ["model", "way", "told", "facts", "name", "alias", "summed", "gain", "alias_part"]
    found = pd.DataFrame(rows, columns=columns).sort_values("told", kind="stable")
    return _ordered(found)
