"""Families of models that differ in one thing, size or tuning, as a notebook's parameters name them."""

from collections.abc import Sequence

from lkecore.errors import BadInput
from lkecore.models import lab


def check_families(families: Sequence[Sequence[str]], models: Sequence[str], fact_set: str) -> None:
    """Raise :class:`BadInput` unless families are families, and the models can be asked these facts.

    A family has 2 models or more, each once, such as from small to large, or a base and a tuned one. A model
    of the lab among ``models`` must be asked about the world that it has read.
    """
    for family in families:
        if len(family) < 2 or len(set(family)) < len(family):
            raise BadInput(f"family {list(family)}: must be 2 models or more, each once")
    for name in models:
        if lab.is_name(name) and lab.parse(name).world != fact_set:
            raise BadInput(f"{name} has not read {fact_set}: ask it on its world")
