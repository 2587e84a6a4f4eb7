"""Kinds: all templates of one kind that a relation has, beside estimators by their own names."""

from collections.abc import Sequence

from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.prompts.draws import DRAW, redrawn
from lkecore.prompts.prompt import Prompt, asking, templates_of

KINDS = ("hgp", "mmp")  # templates that people wrote, and mined ones (the paper's Table 5)


def of_kinds(
    sample: Sample, kinds: Sequence[str], *, draws: Sequence[int] = ()
) -> dict[tuple[str, str, str], list[Prompt]]:
    """The questions of some kinds about a sample: {(kind, estimator, relation): prompts}.

    A kind is "hgp" or "mmp", which stand for all templates of Table 5 that a relation has of it, or
    an estimator, which stands for itself. If that shows pairs, it comes once more for each of
    ``draws``, seeds of other pairs, under its name with the seed, as in "iclke-space, draw 1". Raises
    :class:`BadInput` for a relation without templates of a kind, and as
    :func:`lkecore.prompts.prompt.asking` and :func:`lkecore.prompts.draws.of_draws`.
    """
    made = {}
    for kind in kinds:
        for name, drawn in sample.items():
            have = templates_of(drawn.relation)
            found = [each for each in have if kind in KINDS and each.startswith(f"{kind}-")]
            if kind in KINDS and not found:
                raise BadInput(f"relation {name} has no {kind} in Table 5 of the paper")
            for estimator in found or [kind]:
                of_relation = drawn.relation, drawn.shots, drawn.facts, drawn.options
                made[kind, estimator, name] = asking(estimator, *of_relation)
        if draws and kind.startswith("iclke-"):
            again = redrawn(sample, [kind], draws)
            made |= {
                (kind, f"{k}{DRAW}{draw}", name): some for (k, name, draw), some in again.items()
            }
    return made
