"""Prepare: have the models and facts that jobs name on this machine, before any of them runs."""

from collections.abc import Iterable

from lkecore import facts, runs, weights
from lkecore.plan import check_relations
from lkecore.rows import BadInput, first_line


def needs(each: runs.Job) -> list[tuple[str, str]]:
    """What a job names, as ("model", name) and ("facts", fact set)."""
    models, specs = runs.models_of(each.effective), runs.facts_of(each.effective)
    return [*(("model", name) for name in models), *(("facts", spec) for spec in specs)]


def absent(jobs: Iterable[runs.Job]) -> list[tuple[str, str]]:
    """What jobs need and this machine does not have, models first; asks no network."""
    wanted = dict.fromkeys(thing for each in jobs for thing in needs(each))
    ready = {"model": weights.is_ready, "facts": facts.is_ready}
    lacking = [(kind, name) for kind, name in wanted if not ready[kind](name)]
    return sorted(lacking, key=lambda thing: thing[0] != "model")


def missing(jobs: Iterable[runs.Job]) -> list[str]:
    """:func:`absent` for people, as "model X" and "facts Y"."""
    return [f"{kind} {name}" for kind, name in absent(jobs)]


def prepare(jobs: Iterable[runs.Job]) -> dict[str, str]:
    """Fetch and convert what jobs name, each thing once, under a lock of its own.

    Returns {label of a job: why it cannot be run}, for those that lack something or name a relation
    that their facts turn out not to have; the others can go on.
    """
    reasons: dict[str, str] = {}
    tried: dict[tuple[str, str], str | None] = {}
    for each in jobs:
        wanted = needs(each)
        for thing in wanted:
            if thing not in tried:
                tried[thing] = _fetch(*thing)
        why = [tried[thing] for thing in wanted if tried[thing]]
        if not why:
            try:
                check_relations(each.effective)
            except BadInput as error:
                why = [str(error)]
        if why:
            reasons[each.label] = why[0]
    return reasons


def _fetch(kind: str, name: str) -> str | None:
    """Have a model or fact set here; returns why not, or None."""
    try:
        weights.locate(name) if kind == "model" else facts.relations(name)
    except BadInput as error:
        return str(error)
    except OSError as error:  # a full disk: the others may be here already
        return f"{kind} {name}: {first_line(error)}"
    return None
