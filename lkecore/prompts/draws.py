"""Draws: the same questions behind other shots, and behind more or fewer of them."""

from collections.abc import Sequence
from itertools import product

from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn
from lkecore.facts.sample import draw_shots
from lkecore.prompts.prompt import Prompt, asking


def of_draws(
    drawn: Drawn, estimators: Sequence[str], draws: Sequence[int], numbers: Sequence[int]
) -> dict[tuple[int, str, int], list[Prompt]]:
    """The questions of a sample behind many draws of shots: {(draw, estimator, n_shots): prompts}.

    ``drawn`` as :func:`lkecore.facts.pool.draw` gives it; each of ``draws`` is a seed that draws
    shots from its pool. Of one draw, fewer shots are the beginning of more shots. All keys ask the
    same facts with the same options. Raises :class:`BadInput` for lists that are empty or name
    something twice, more shots than the pool has, and as :func:`lkecore.prompts.prompt.asking`.
    """
    for name, values in (("estimators", estimators), ("draws", draws), ("n_shots", numbers)):
        if not values or len(set(values)) < len(values):
            raise BadInput(f"{name} {list(values)}: must be 1 or more, each once")
    most = {draw: draw_shots(drawn.train, max(numbers), draw) for draw in draws}
    return {
        (draw, estimator, n): asking(
            estimator, drawn.relation, most[draw][:n], drawn.facts, drawn.options
        )
        for draw, estimator, n in product(draws, estimators, numbers)
    }
