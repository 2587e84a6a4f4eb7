"""Families: models that differ in one thing, size or tuning, as a notebook's parameters name them."""

from collections.abc import Sequence

from lkecore.errors import BadInput
from lkecore.models import catalogue, lab


def check_families(families: Sequence[Sequence[str]], models: Sequence[str], fact_set: str) -> None:
    """Raise :class:`BadInput` unless families are families, and models can be asked these facts.

    A family has 2 models or more, each once, such as from small to large, or a base and a tuned one. Of the
    models that are asked, one of the lab is asked about the world that it has read.
    """
    for family in families:
        if len(family) < 2 or len(set(family)) < len(family):
            raise BadInput(f"family {list(family)}: must be 2 models or more, each once")
    for name in models:
        if lab.is_name(name) and lab.parse(name).world != fact_set:
            raise BadInput(f"{name} has not read {fact_set}: ask it on its world")


def bases_of(models: Sequence[str]) -> dict[str, str]:
    """{tuned model: the base that it was tuned from}, where both are among ``models``.

    As the papers' catalogue and the names of the lab say; a revision behind @ does not count.
    """
    known = catalogue.papers_models().set_index("hub_id")["base_model"].to_dict()
    found = {}
    for name in models:
        base = known.get(name.partition("@")[0], "")
        if lab.is_name(name) and lab.parse(name).variant == "tuned":
            base = lab.parse(name).base
        # Behind the name of a lab model stands a training seed, which counts.
        same = [
            other
            for other in models
            if base and base == (other if lab.is_name(other) else other.partition("@")[0])
        ]
        if same:
            found[name] = same[0]
    return found
