"""Again: the answers that a page shows, and a few of its questions asked again beside those that ship.

The numbers of most pages come from longer runs whose answers ship in ``results/``. While the page is made,
it asks a few of the same questions (:func:`lkecore.answers.questions.sample`): a scorer, model or set of
facts that has changed since gives other answers, and is noticed.
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
LEAST = 1e-37  # of a confidence: what ships has passed through float32, which keeps no smaller one whole
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
    """(the answers that a page shows, with ``source``; which of their sources decides).

    Without ``sources`` these are ``ours``, of a source that is called "this run". With ``sources`` they are
    the rows of ``results/<name>.parquet`` from these sources; the first that has some decides. ``ours`` are
    then a few of its questions, of these sources or of others, asked again: :func:`agree` compares them, and
    takes ``dtype``, ``columns`` and ``least``. A frame without ``model``, which is about the facts alone, is
    not compared. Raises :class:`BadInput` as :func:`lkecore.answers.shipped.results`, for a source that no
    results have, and where the two differ.
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
    """How many answers of a run are among those that ship; they must say the same.

    Rows meet on the columns that both have of those that say what was asked (``columns.ASKED``, with
    ``question``, the digest of its words); ``columns`` (None: all others that both have) are compared. The
    same are: log-probabilities within ``MOST_NATS``; confidences that are apart by a share of
    ``MOST_APART`` at most; other fractions within ``MOST_APART`` or a thousandth of themselves; ranks within
    1 or a thousandth; everything else if equal. An answer of ours whose ``margin``, the nats between its two
    likeliest options, is below ``MOST_NATS`` may be right or wrong.

    The share ``least`` of the answers must be the same where ``dtype`` is "float32"; in half precision none
    has to. A model that does not ship is not compared, and is counted with 0. The counts are kept as
    ``again-<name>.csv`` (model, asked, same, nats: the largest difference of a log-probability), from which
    the book says below the page what agrees.

    Raises :class:`BadInput` where more answers differ, for a question of a model that ships which does not
    ship itself, and for a model whose weights are others than those of ``results/made_by.csv``.
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
    """Of each pair of values whether they say the same, as :func:`agree` has it."""
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
    """Raise :class:`BadInput` unless models have the weights of those whose answers ship."""
    made = what_made(experiment.partition("-")[0])
    for name in names:
        digests = set(made.loc[made["model"] == name, "digest"])
        if digests and (mine := opened(name, dtype).digest) not in digests:
            raise BadInput(
                f"model {name} is not the one whose answers ship in results/{experiment}.parquet: its "
                f"files have the digest {mine[:12]}, theirs {', '.join(d[:12] for d in digests)}"
            )
