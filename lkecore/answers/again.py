"""Again: the answers that a page shows, and a check that asks a few of its questions again.

The numbers of most pages come from longer runs, whose answers ship in ``results/``. While the page is
made, it asks a few of the same questions (:func:`lkecore.answers.questions.sample`). If a scorer, a model
or a set of facts has changed since, the new answers differ from the shipped ones, and the check notices.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lkecore.answers.align import aligned
from lkecore.answers.asking import opened
from lkecore.answers.kept import on_page, save
from lkecore.answers.meanings import ASKED
from lkecore.answers.shipped import results, table, what_made
from lkecore.errors import BadInput, nearest

MOST_NATS = 1e-3  # a CPU's float32 moves a log-probability by about a tenth of this
MOST_APART = 2e-3  # and a share, of which four digits ship, by less than this
LEAST = 1e-37  # of a confidence: shipped values have passed through float32, which loses precision below this
OWN = "this run"  # the source of answers that do not ship


def shown(
    name: str,
    ours: pd.DataFrame,
    sources: Sequence[str],
    *,
    dtype: str = "float32",
    columns: Sequence[str] | None = None,
    least: float = 1.0,
) -> tuple[pd.DataFrame, str]:
    """(the answers that a page shows, with a column ``source``; the name of the source that decides).

    Without ``sources`` the answers are ``ours``, and their source is "this run". With ``sources`` they are
    the rows of ``results/<name>.parquet`` from these sources; the first source that has any rows decides.
    Then ``ours`` are a few of the same questions, of these sources or of others, asked again. :func:`agree`
    compares them with the shipped answers, and takes ``dtype``, ``columns`` and ``least``. A frame without
    ``model``, which is about the facts alone, is not compared.

    Raises :class:`BadInput` as :func:`lkecore.answers.shipped.results` does, for a source that no results
    have, and where the two differ.
    """
    if not sources:
        return ours.assign(source=OWN), OWN
    known = sorted(set(table()["source"]))
    if unknown := [each for each in sources if each not in known]:
        raise BadInput(f"sources: no results are of {unknown[0]!r}; {nearest(unknown[0], known)}")
    ships = results(name)
    found = ships[ships["source"].isin(sources)]
    if found.empty:
        raise BadInput(f"sources: results/{name}.parquet has none of {', '.join(sources)}")
    if "model" in ours:  # what is asked again may ship of another source
        agree(ours, ships, name, dtype=dtype, columns=columns, least=least)
    return found, next(each for each in sources if each in set(found["source"]))


def agree(
    ours: pd.DataFrame,
    ships: pd.DataFrame,
    name: str,
    *,
    dtype: str = "float32",
    columns: Sequence[str] | None = None,
    least: float = 1.0,
) -> int:
    """The number of answers of a run that were compared with those that ship. The two must be the same.

    Rows meet on the columns of ``ASKED`` that both frames have: these say what was asked, and ``question`` is
    the digest of its words. ``columns`` are compared (None: all other columns that both have). Two values are
    the same under these rules:

    - log-probabilities: a difference of at most ``MOST_NATS``;
    - confidences: a relative difference of at most ``MOST_APART``;
    - other fractions: a difference of at most ``MOST_APART``, or a relative one of a thousandth;
    - ranks: a difference of at most 1, or a relative one of a thousandth;
    - all else: equal values.

    ``margin`` is the difference in nats between the two likeliest options. Where it is at most ``MOST_NATS``,
    ``correct`` and ``picked`` may differ.

    If ``dtype`` is "float32", at least the share ``least`` of the answers must be the same; in half precision
    none has to be. A model that does not ship is not compared, and has a count of 0. The counts are kept as
    ``again-<name>.csv``, from which the book states below the page what agrees:

    - ``model``;
    - ``asked``: the number of answers that were compared;
    - ``same``: the number of answers that are the same;
    - ``nats``: the largest difference of a log-probability.

    Raises :class:`BadInput` where more answers differ, for a question that does not ship although its model
    does, and for a model whose weights differ from those in ``results/made_by.csv``.
    """
    known = set(ships["model"])
    if not on_page():
        _check_weights(sorted(known & set(ours["model"])), name, dtype)
    key = [each for each in ASKED if each in ours and each in ships and each != "source"]
    others = [each for each in ours["model"].unique() if each not in known]
    ours = ours[ours["model"].isin(known)].drop(columns="source", errors="ignore")
    both = aligned(ours, ships, key, how="left", numbered=False)
    there = both["side"].eq("both")
    if not there.all():
        first = both.loc[~there, key].iloc[0].drop("question", errors="ignore")
        raise BadInput(
            f"{(~there).sum()} of {len(both)} questions that were asked again are not among those of "
            f"results/{name}.parquet, first {', '.join(map(str, first))}: facts, shots, options and words "
            "must be as they were then. Ask as the file in sources/ does, or leave `sources` empty"
        )
    if columns is None:  # a column may ship of other sources alone
        columns = [each for each in ours if each not in key and f"{each}|" in both]
        columns = [each for each in columns if both[f"{each}|"].notna().any()]
        if len(both) and not columns:
            raise BadInput(f"results/{name}.parquet: it has no answers to compare with")
    close = both["margin"].le(MOST_NATS) if "margin" in both else np.zeros(len(both), dtype=bool)
    differs = pd.DataFrame(
        {each: ~_same(each, both[each], both[f"{each}|"]) for each in columns},
        index=both.index,
    )
    for each in ("correct", "picked"):
        if each in differs:
            differs[each] &= ~close
    nats = [(both[each] - both[f"{each}|"]).abs() for each in columns if "logprob" in each]
    most = pd.concat(nats, axis=1).max(axis=1) if nats else pd.Series(np.nan, index=both.index)
    same = ~differs.any(axis=1)
    counts = pd.DataFrame({"model": both["model"], "same": same, "nats": most}).groupby(
        "model", sort=False
    )
    kept = counts.agg(asked=("same", "size"), same=("same", "sum"), nats=("nats", "max"))
    kept = kept.reset_index()
    none = pd.DataFrame({"model": others, "asked": 0, "same": 0, "nats": np.nan})
    save(pd.concat([kept, none]) if others else kept, f"again-{name}.csv")
    if dtype == "float32" and len(both) and same.mean() < least:
        at = both.index[~same][0]
        where = ", ".join(map(str, both.loc[at, key].drop("question", errors="ignore")))
        what = differs.columns[differs.loc[at]][0]
        values = both.loc[at, what], both.loc[at, f"{what}|"]
        raise BadInput(
            f"{(~same).sum()} of {len(both)} answers that were asked again differ from "
            f"results/{name}.parquet; the first is of {where}: {what} is {values[0]}, and was {values[1]}. "
            "The scorer, the model or the facts have changed, or the file was"
        )
    return len(both)


def _same(name: str, ours: pd.Series, ships: pd.Series) -> pd.Series:
    """For each pair of values whether the two are the same, by the rules of :func:`agree`."""
    missing = ours.isna() & ships.isna()
    if not pd.api.types.is_float_dtype(ours) and not name.startswith("rank"):
        return ours.eq(ships).fillna(False).astype(bool) | missing
    a, b = (each.to_numpy(dtype=float, na_value=np.nan) for each in (ours, ships))
    if name == "p" or name.startswith("confidence"):
        limits = {"rtol": MOST_APART, "atol": LEAST}
    elif name.startswith(("logprob", "surprisal")):
        limits = {"rtol": 1e-4 * name.startswith("surprisal"), "atol": MOST_NATS}
    elif name.startswith(("token", "first_after")):  # ids: the next number is another token
        limits = {"rtol": 0.0, "atol": 0.0}
    else:
        limits = {"rtol": 1e-3, "atol": 1.0 if name.startswith("rank") else MOST_APART}
    return pd.Series(np.isclose(a, b, **limits), index=ours.index) | missing


def _check_weights(names: Sequence[str], experiment: str, dtype: str) -> None:
    """Raise :class:`BadInput` unless the models have the weights that made the shipped answers."""
    made = what_made(experiment.partition("-")[0])
    for name in names:
        digests = set(made.loc[made["model"] == name, "digest"])
        if digests and (mine := opened(name, dtype).digest) not in digests:
            raise BadInput(
                f"model {name} is not the one whose answers ship in results/{experiment}.parquet: its "
                f"files have the digest {mine[:12]}, theirs {', '.join(d[:12] for d in digests)}"
            )
