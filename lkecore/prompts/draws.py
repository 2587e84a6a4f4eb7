"""Draws: the same questions after other shots, and after more or fewer of them."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from lkecore.errors import BadInput, noted, refuse
from lkecore.facts.drawn import Drawn, Sample
from lkecore.facts.sample import draw_shots
from lkecore.prompts.eiclke import Slots, alone_of_sample, slots_of_sample
from lkecore.prompts.prompt import Prompt, asking

DRAW = ", draw "  # between an estimator and the seed of other shots, where a name has both


def of_draws(
    drawn: Drawn, estimators: Sequence[str], draws: Sequence[int], numbers: Sequence[int]
) -> dict[tuple[int, str, int], list[Prompt]]:
    """The questions of a sample after many draws of shots: {(draw, estimator, n_shots): prompts}.

    Each of ``draws`` is a seed that draws shots from the facts of ``drawn.train``. Within one draw, fewer
    shots are the beginning of more shots. All keys ask the same facts with the same options. Raises
    :class:`BadInput` for lists that are empty or name something twice, for more shots than there are to draw,
    and as :func:`lkecore.prompts.prompt.asking` does.
    """
    for name, values in (("estimators", estimators), ("draws", draws), ("n_shots", numbers)):
        if not values or len(set(values)) < len(values):
            raise BadInput(f"{name} {list(values)}: must be 1 or more, each once")
    most, complaints = {}, []
    with noted(complaints, "shots: "):
        most = {draw: draw_shots(drawn.train, max(numbers), draw) for draw in draws}
    refuse(complaints)
    return {
        (draw, estimator, n): asking(
            estimator, drawn.relation, most[draw][:n], drawn.facts, drawn.options
        )
        for draw, estimator, n in product(draws, estimators, numbers)
    }


def redrawn(
    sample: Sample, estimators: Sequence[str], draws: Sequence[int], *, n_facts: int | None = None
) -> dict[tuple[str, str, int], list[Prompt]]:
    """The questions of a whole sample after other shots: {(estimator, relation, draw): prompts}.

    Each of ``draws`` draws as many shots as the sample has, from the facts from which its own were drawn. The
    first ``n_facts`` facts of each relation are asked, or all, with the options that they have. Errors as in
    :func:`of_draws`.
    """
    found = {}
    for name, drawn in sample.items():
        some = replace(drawn, facts=drawn.facts[:n_facts], options=drawn.options[:n_facts])
        asked = of_draws(some, estimators, draws, [len(drawn.shots)])
        found |= {(estimator, name, draw): each for (draw, estimator, _), each in asked.items()}
    return found


def redrawn_slots(
    sample: Sample, draws: Sequence[int], *, n_shots: int, first: int, every: int
) -> dict[tuple[str, str, int], list[Slots] | list[Prompt]]:
    """EIC-LKE's questions, and the same without the other questions, after other shots.

    The result is {(estimator, relation, draw): prompts}, of :func:`lkecore.prompts.eiclke.slots_of_sample`
    and :func:`lkecore.prompts.eiclke.alone_of_sample`. The pairs begin with those of :func:`redrawn` (as long
    as no subject has two objects); all other facts to show follow. Each draw also draws anew which option of
    a fact is in which prompt, since an option is context for the questions after it. Parameters and errors as
    there.
    """
    found: dict[tuple[str, str, int], list[Slots] | list[Prompt]] = {}
    for draw in draws:
        look = {"n_shots": n_shots, "first": first, "every": every, "seed": draw}
        for made in (slots_of_sample(sample, **look), alone_of_sample(sample, **look)):
            found |= {(*key, draw): some for key, some in made.items()}
    return found
