"""Moved: questions at blanks about what a rich world's text told, by themselves and behind a statement."""

from collections.abc import Mapping, Sequence

from lkecore.answers.blanks import at_blanks
from lkecore.facts.drawn import Sample
from lkecore.prompts.instilled import Instilled

KEY = ["world", "reader", "estimator", "instillation", "relation"]  # of the questions
FACT = ["model", "world", "relation", "fact"]


def questions(
    samples: Mapping[str, Sample],
    models: Sequence[str],
    template: str,
    *,
    behind: Sequence[str] = ("explicit", "copied"),
    dtype: str,
    seed: int,
) -> dict[tuple[str, ...], list[Instilled]]:
    """The questions about some worlds by ``KEY``: behind the fact, and behind another subject's.

    ``behind`` names the instillations, as :func:`lkecore.answers.blanks.at_blanks`. For readers that see
    what follows a blank a full stop stands there, as in the text.
    """
    how = {"dtype": dtype, "seed": seed}
    return {
        (world, *key): some
        for world, sample in samples.items()
        for key, some in at_blanks(models, sample, [template], behind, **how).items()
    }
