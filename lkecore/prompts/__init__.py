"""Prompts: every way to ask."""

from lkecore.prompts.draws import of_draws, redrawn, redrawn_slots
from lkecore.prompts.eiclke import (
    SPACE_TOKEN,
    Slots,
    alone_of_sample,
    example_of_slots,
    slots,
    slots_of_sample,
)
from lkecore.prompts.given import with_templates_of
from lkecore.prompts.instilled import INSTILLATIONS, Instilled, instilled, instilled_of_sample
from lkecore.prompts.prompt import (
    HUMAN,
    MINED,
    SEPARATORS,
    TEMPLATES,
    Prompt,
    asking,
    beside_templates,
    example,
    join_pair,
    many_shot,
    of_sample,
    pairs_shown,
    template,
    templates_of,
    with_templates,
)
from lkecore.prompts.sequences import (
    Probe,
    incorrect_pairs,
    invented,
    pair_pieces,
    places,
    probes,
    unknown_pairs,
)

__all__ = [
    "HUMAN", "INSTILLATIONS", "Instilled", "MINED", "Probe", "Prompt", "SEPARATORS", "SPACE_TOKEN",
    "Slots", "TEMPLATES", "alone_of_sample", "asking", "beside_templates", "example",
    "example_of_slots", "incorrect_pairs", "instilled", "instilled_of_sample", "invented",
    "join_pair", "many_shot", "of_draws", "of_sample", "pair_pieces",
    "pairs_shown", "places", "probes", "redrawn", "redrawn_slots", "slots", "slots_of_sample",
    "template", "templates_of", "unknown_pairs", "with_templates", "with_templates_of",
]  # fmt: skip
