"""Pairs: the door for long sequences, where every pair is an answer."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from lkecore.answers import check
from lkecore.answers.door import opened
from lkecore.answers.kept import collect, keep
from lkecore.errors import BadInput
from lkecore.metrics import sequence
from lkecore.models.model import Model
from lkecore.prompts.probes import Probes, pieces_of
from lkecore.scores.tree import piece_logprobs

KEY = ["model", "relation", "draw", "estimator"]


def ask_pairs(
    made: Mapping[str, Mapping[str, Probes]],
    estimators: Sequence[str],
    file: str,
    *,
    dtype: str = "float32",
    page: bool = False,
    results: str = "",
    notebook: str = "",
    n_again: int = 1,
) -> pd.DataFrame:
    """Read every model its sequences: a row for each pair, kept as ``file`` (``.parquet``).

    ``made`` has the sequences of each model and relation by draw, as
    :func:`lkecore.prompts.probes.draw_probes` gives them. Columns: ``model``, ``relation``, ``draw``,
    ``estimator``, then those of
    :func:`lkecore.metrics.sequence.answers`. The five sequences of a draw go in together: what they
    share at their beginning is computed once. With ``page``, nothing is read: the answers of the
    runs behind the page are returned. ``results``, ``notebook`` and ``n_again`` as in
    :func:`lkecore.answers.door.ask`: the longer run has the same draws, and of each model and estimator
    ``n_again`` of them are read again. Raises :class:`BadInput` for an estimator without separators, as
    the scorer does, and if nothing is asked.
    """
    if page:
        return check.on_page(collect(file), file, results, notebook)
    texts = {
        (model, relation, draw, name): pieces_of(name, five)
        for model, of_relations in made.items()
        for relation, of_draws in of_relations.items()
        for draw, five in of_draws.items()
        for name in estimators
    }
    if not texts:
        raise BadInput("nothing is asked: there are no models or no estimators")
    lms = {model: opened(model, dtype) for model in made}
    asked = {key: [pieces] for key, pieces in texts.items()}
    if results:
        return check.carry(
            asked,
            KEY,
            lms,
            file,
            results=results,
            notebook=notebook,
            n_again=n_again,
            rescore=lambda some, kept: _differences(_read(lms, some, made), kept),
            find=partial(_of_draws, made=made),
        )
    found = _read(lms, asked, made)
    keep(found, file)
    keep(check.questions(asked, KEY), f"{check.beside(file, check.CHECK)}.parquet")
    return found


def _read(
    lms: Mapping[str, Model],
    asked: Mapping[tuple, Sequence[Sequence[Sequence[str]]]],
    made: Mapping[str, Mapping[str, Probes]],
) -> pd.DataFrame:
    frames = {}
    for (model, relation, draw, name), [pieces] in asked.items():
        scored = piece_logprobs(lms[model], pieces)
        found = sequence.answers(made[model][relation][draw], scored)
        frames[model, relation, draw, name] = found
    return pd.concat(frames, names=KEY).reset_index(KEY).reset_index(drop=True)


def _of_draws(
    kept: pd.DataFrame,
    asked: Mapping[tuple, object],
    columns: Sequence[str],
    results: str,
    about: Mapping[str, Any],
    *,
    made: Mapping[str, Mapping[str, Probes]],
) -> pd.DataFrame:
    """The answers of the draws that are asked here; :class:`BadInput` where one is not whole."""
    parts = dict(list(kept.groupby(columns, sort=False)))
    for model, relation, draw, name in asked:
        n = sum(len(probe.pairs) for probe in made[model][relation][draw])
        there = len(parts.get((model, relation, draw, name), ()))
        if there != n:
            raise BadInput(
                f"results {results} are cut off: {there} of {n} answers are there of {model}, "
                f"{name}, {relation}, draw {draw}. Make them anew: {about['command']}"
            )
    return pd.concat([parts[key] for key in asked], ignore_index=True)


def _differences(now: pd.DataFrame, kept: pd.DataFrame) -> pd.DataFrame:
    """How far sequences that were read again lie from those that ship, a row for each pair.

    Columns as of :func:`lkecore.answers.check.differences`: ``nats`` are infinite where a pair or its number
    is missing; ``same``: what is said of a pair is the same.
    """
    place = [*KEY, "kind", "arrangement", "position"]
    both = now.merge(kept, on=place, suffixes=("", "_kept"), how="left", validate="1:1")
    words = [both[name].astype(str) for name in ("estimator", "kind", "arrangement")]
    same = np.isclose(both["probability"], both["probability_kept"], rtol=0, atol=check.MOST_APART)
    for name in ("state", "distance", "tokens"):
        same &= (
            both[name].eq(both[f"{name}_kept"]) | both[name].isna() & both[f"{name}_kept"].isna()
        )
    return pd.DataFrame(
        {
            "model": both["model"],
            "where": words[0].str.cat(words[1:], ", "),
            "fact": "pair " + both["position"].astype(str) + " of draw " + both["draw"].astype(str),
            "nats": (both["logprob"] - both["logprob_kept"]).abs().fillna(np.inf),
            "same": same,
        }
    )
