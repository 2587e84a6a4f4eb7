"""Pairs: the door for long sequences, where every pair is an answer."""

from collections.abc import Mapping, Sequence

import pandas as pd

from lkecore.answers.door import opened
from lkecore.answers.kept import collect, keep, on_page
from lkecore.answers.questions import digests
from lkecore.errors import BadInput
from lkecore.prompts.probes import Probes, pieces_of
from lkecore.scores.tree import piece_logprobs
from lkecore.stats import sequence

KEY = ["model", "relation", "draw", "estimator"]


def ask_pairs(
    made: Mapping[str, Mapping[str, Probes]],
    estimators: Sequence[str],
    file: str,
    *,
    dtype: str = "float32",
) -> pd.DataFrame:
    """Read every model its sequences: a row for each pair, kept as ``file`` (``.parquet``).

    ``made`` has the sequences of each model and relation by draw, as
    :func:`lkecore.prompts.probes.draw_probes` gives them. Columns: ``model``, ``relation``, ``draw``,
    ``estimator``, then those of :func:`lkecore.stats.sequence.answers`, and ``question``, a digest of the
    draw's sequences. The five sequences of a draw go in together: what they share at their beginning is
    computed once. On a page over runs nothing is read, as in :func:`lkecore.answers.door.ask`. Raises
    :class:`BadInput` for an estimator without separators, as the scorer does, and if nothing is asked.
    """
    if on_page():
        return collect(file)
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
    frames = {}
    for (model, relation, draw, name), pieces in texts.items():
        found = sequence.answers(made[model][relation][draw], piece_logprobs(lms[model], pieces))
        [digest] = digests(pieces)
        frames[model, relation, draw, name] = found.assign(question=digest)
    found = pd.concat(frames, names=KEY).reset_index(KEY).reset_index(drop=True)
    keep(found, file)
    return found
