"""Readers: models of three kinds that have read one text, which states each fact a known number of times.

A *telling* belongs to the text and is the same for all models. An exposure belongs to a model: one that has
read the text three times has met each telling three times.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from lkecore import prompts
from lkecore.answers.lab import with_truth
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.models import lab
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.worlds import plain as world_of_lab

BY = ("world", "reader", "estimator", "relation")  # names in the keys of questions, for answers.ask
READERS = ("causal", "masked", "seq2seq")


def check(models: Sequence[str], estimators: Sequence[str]) -> None:
    """Raise :class:`BadInput` for a model with a suffix, no estimators, and one that is no template."""
    for model in models:
        if lab.parse(model).variant:
            raise BadInput(f"{model}: models without a suffix only")
    has = list(prompts.TEMPLATES)[: world_of_lab.TEMPLATES]
    if not estimators or not set(estimators) <= set(has):
        raise BadInput(f"estimators {list(estimators)}: of {has}")


def questions(
    samples: Mapping[str, Sample], estimators: Sequence[str]
) -> dict[tuple[str, str, str, str], list[Prompt]]:
    """The questions of templates about some worlds: {(world, reader, estimator, relation): prompts}.

    All templates end with the blank. For readers that see the text after a blank, a full stop follows it, as
    in the text that they read. A causal model cannot see it, and is asked without.
    """
    made = {}
    for world, sample in samples.items():
        for name, drawn in sample.items():
            for estimator in estimators:
                words = drawn.relation.templates[prompts.TEMPLATES[estimator]]
                for reader in READERS:
                    text = words if reader == "causal" else f"{words}."
                    some = prompts.template(text, drawn.facts, drawn.options)
                    made[world, reader, estimator, name] = some
    return made


def beside_tellings(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """The ``reading`` of these models: answers with the truth, and the lengths of names.

    A row for each fact with the columns of :func:`lkecore.answers.lab.with_truth`, and:

    - ``alike``: the share of a fact's options that have as many tokens as the likeliest one, in (0, 1];
    - ``alike_true``: the share that have as many tokens as the gold option, in (0, 1];
    - ``tellings``: how often the text states the fact;
    - ``epochs``: how often the model has read the text;
    - ``parameters``: the number of the model's parameters.
    """
    found = with_truth(lm, scores)
    alike = scores.groupby(["fact", "n_tokens"])["option"].transform("size")
    alike = alike / scores.groupby("fact")["option"].transform("size")
    on_top = scores.groupby("fact")["logprob"].idxmax()
    about = lab.record(lm.path)
    epochs = int(about["epochs"])
    return found.assign(
        alike=found["fact"].map(pd.Series(alike[on_top].to_numpy(), scores["fact"][on_top])),
        alike_true=found["fact"].map(
            pd.Series(alike[scores["gold"]].to_numpy(), scores.loc[scores["gold"], "fact"])
        ),
        tellings=found["exposures"] // epochs,
        epochs=epochs,
        parameters=about["parameters"],
    )
