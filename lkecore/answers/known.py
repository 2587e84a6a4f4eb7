"""Known: the facts of a sample that a model gives back, and the task that is made of those it has learned."""

from collections.abc import Mapping, Sequence

import pandas as pd

from lkecore.answers import rules
from lkecore.answers.rich import guesses
from lkecore.facts.drawn import Sample
from lkecore.facts.questions import Wording
from lkecore.models.model import Model
from lkecore.tasks import extraction, use
from lkecore.tasks.documents import KnownFacts
from lkecore.train.finetune import Recipe


def known_task(
    lm: Model,
    sample: Sample,
    wordings: Mapping[str, Wording],
    recipe: Recipe,
    *,
    fact_set: str,
    seeds: Sequence[int],
    templates: Sequence[int],
    seed: int = 0,
) -> tuple[pd.DataFrame, KnownFacts, dict[str, str]]:
    """(the facts that a model gives back, the task made of those that it knows, {what is left out: why}).

    The first is a frame with a row for each asked fact. Its columns are those of
    :func:`lkecore.tasks.extraction.known`, which takes ``recipe``, ``seeds``, ``templates`` and ``seed``, and
    ``rule``: whether `rule-word` gives the fact back too.

    The task (:func:`lkecore.tasks.use.task_from_known`) has the known facts without the guesses of a model
    that was trained on ``fact_set`` (:func:`lkecore.answers.rich.guesses`). Raises :class:`BadInput` as these
    functions do.
    """
    found = extraction.known(lm, sample, recipe, seeds=seeds, templates=templates, seed=seed)
    found["rule"] = rules.by_word(sample, found)
    task, out = use.task_from_known(sample, found[~guesses(found, fact_set)], wordings)
    return found, task, out
