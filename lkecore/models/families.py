"""Families: models that differ in one thing, size or tuning, as a notebook's parameters name them."""

from collections.abc import Sequence
from itertools import combinations

from lkecore.errors import BadInput
from lkecore.models import catalogue, lab


def check_families(
    families: Sequence[Sequence[str]], models: Sequence[str], fact_set: str, *, page: bool
) -> None:
    """Raise :class:`BadInput` unless ``families`` and ``models`` fit each other and the facts.

    A family has 2 models or more, from small to large, each once. Every model is of a family. All of a
    family must be among ``models``, unless this is the run of a single one, a part of a page. A model
    of the lab is asked about the world that it has read.
    """
    members = {name for family in families for name in family}
    for family in families:
        if len(family) < 2 or len(set(family)) < len(family):
            raise BadInput(f"family {list(family)}: must be 2 models or more, small to large")
    if strange := [name for name in models if name not in members]:
        raise BadInput(f"models {strange} are in no family of {[list(f) for f in families]}")
    absent = sorted(members - set(models))
    if absent and (page or len(models) > 1):
        raise BadInput(f"families name {absent}; put them into models, too")
    _check_worlds(models, fact_set)


def check_tuned(
    pairs: Sequence[Sequence[str]],
    alone: Sequence[str],
    models: Sequence[str],
    fact_set: str,
    *,
    page: bool,
) -> list[tuple[str, str]]:
    """The (base, tuned) of ``pairs`` whose models are both among ``models``.

    Raises :class:`BadInput` for a pair that is not two models, and where ``pairs``, ``alone`` (models
    without a tuned one, none of them tuned itself) and ``models`` do not fit each other and the facts.
    All of them must be among ``models``, unless this is the run of a single one, a part of a page. A
    model of the lab is asked about the world that it has read.
    """
    for pair in pairs:
        if len(pair) != 2 or pair[0] == pair[1]:
            raise BadInput(f"pair {list(pair)}: must be two models, the base and the tuned one")
    if wrong := [name for name in alone if catalogue.is_tuned(name)]:
        raise BadInput(f"alone names {wrong[0]}, which is tuned: put it into pairs")
    members = dict.fromkeys([*(name for pair in pairs for name in pair), *alone])
    if strange := [name for name in models if name not in members]:
        given = [list(pair) for pair in pairs]
        raise BadInput(f"models {strange}: in no pair of {given}, and not in alone")
    absent = [name for name in members if name not in models]
    if absent and (page or len(models) > 1):
        raise BadInput(f"pairs or alone name {absent}; put them into models, too")
    _check_worlds(models, fact_set)
    return [(base, tuned) for base, tuned in pairs if {base, tuned} <= set(models)]


def _check_worlds(models: Sequence[str], fact_set: str) -> None:
    for name in models:
        if lab.is_name(name) and lab.parse(name).world != fact_set:
            raise BadInput(f"{name} has not read {fact_set}: ask it on its world")


def pairs_of(families: Sequence[Sequence[str]], models: Sequence[str]) -> list[tuple[str, str]]:
    """(smaller, larger) of every two models of a family that are both among ``models``, each once."""
    pairs = [pair for family in families for pair in combinations(family, 2)]
    return [pair for pair in dict.fromkeys(pairs) if set(pair) <= set(models)]


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
