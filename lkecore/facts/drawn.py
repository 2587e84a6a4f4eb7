"""Drawn: a whole sample at once: for each relation the facts to show, the facts to ask and their options."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from textwrap import shorten

import pandas as pd

from lkecore.errors import BadInput, noted, refuse
from lkecore.facts import sets
from lkecore.facts.fact import Fact, Relation
from lkecore.facts.sample import (
    divide,
    draw_facts,
    draw_options,
    draw_shots,
    max_options,
    passes_trex_mc,
)


@dataclass(frozen=True)
class Drawn:
    """The sample of one relation: shots to show, facts to ask, and the options of each fact.

    Shots are drawn from ``train``, and asked facts from ``test``.
    """

    relation: Relation
    shots: tuple[Fact, ...]
    facts: tuple[Fact, ...]
    options: tuple[tuple[str, ...], ...]
    train: tuple[Fact, ...]
    test: tuple[Fact, ...]


Sample = dict[str, Drawn]  # by relation


def draw(
    fact_set: str,
    relations: Sequence[str] = (),
    *,
    n_shots: int,
    n_facts: int | None,
    n_options: int,
    seed: int,
    part: str = "test",
    allow_fewer: bool = False,
    min_relations: int = 1,
    n_pool: int = 100,
    n_test: int = 400,
    own_seeds: bool = False,
    among: Collection[str] | None = None,
    exactly: bool = False,
    leave_out: bool = False,
) -> Sample:
    """The shots, asked facts and options of each of ``relations`` (default: all of the fact set).

    - ``part``: "test", or "choice" for training facts that are not shown. By these a way of asking can be
      chosen before any test fact is asked.
    - ``n_facts``: how many facts of each relation are drawn, or all if there are fewer (None: all, in their
      own order).
    - ``allow_fewer``: a relation with too few subjects for ``n_shots`` or objects for ``n_options`` gets as
      many as it has, and :func:`fewer` reports it. For "choice", such a relation shows at most half of its
      subjects, so that some are left to ask.
    - ``own_seeds``: each relation draws facts by a seed of its own. A world of the lab has all relations in
      one order, and one seed would draw the same kinds of facts in each.
    - ``among``: ids of facts; no others are asked.
    - ``exactly``: a relation with fewer than ``n_facts`` facts is refused.
    - ``leave_out``: a relation without any fact to ask is left out of the sample. Otherwise it is refused. A
      sample without any relation is always refused.
    - ``n_pool``, ``n_test``: how many facts of a relation without splits are for shots, and for asked facts,
      as in :func:`lkecore.facts.sample.divide`.

    Everything depends on ``seed`` alone, and shots and options do not depend on how many facts are asked.

    Raises :class:`BadInput` for an unknown fact set, relation or part, for fewer relations than
    ``min_relations`` (2 for a page that compares them), for one named twice, and for one with too few facts
    or objects: all complaints at once, each with the parameter that it is about.
    """
    if part not in ("test", "choice"):
        raise BadInput(f"unknown part {part!r}: must be test or choice")
    names = list(relations) or list(sets.relations(fact_set))
    if len(names) < min_relations or len(set(names)) < len(names):
        raise BadInput(f"relations {names}: must be {min_relations} or more, each once")
    sample, loaded, complaints = {}, {}, []
    for name in names:
        with noted(complaints):
            loaded[name] = sets.load(fact_set, name)
    refuse(complaints)
    for i, (name, relation) in enumerate(loaded.items()):
        try:
            train, test = divide(relation, n_train=n_pool, n_test=n_test)
        except BadInput:  # no fact to ask
            if leave_out:
                continue
            raise
        shots = facts = ()
        most, there = n_shots, len({fact.subject for fact in train})
        if allow_fewer and part == "choice" and there <= n_shots:
            most = there // 2  # otherwise none would be left to ask
        with noted(complaints, "n_shots: "):
            shots = draw_shots(train, most, seed, allow_fewer=allow_fewer)
        shown = {shot.subject for shot in shots}
        spare = [fact for fact in train if fact.subject not in shown]
        pool = test if part == "test" else spare
        pool = [fact for fact in pool if among is None or fact.id in among]
        if leave_out and not pool:
            continue
        with noted(complaints, "n_facts: "):
            if exactly and n_facts is not None and len(pool) < n_facts:
                raise BadInput(
                    f"{n_facts} facts of relation {name} are to be asked, and {fact_set} has {len(pool)}"
                )
            some = draw_facts(pool, n_facts, seed + i * own_seeds)  # refuses an empty pool
            facts = tuple(pool) if n_facts is None else some
        n = min(n_options, max(2, max_options(relation))) if allow_fewer else n_options
        with noted(complaints, "n_options: "):
            options = draw_options(facts, relation.objects, n, seed)
            sample[name] = Drawn(relation, shots, facts, tuple(options), train, test)
    refuse(complaints)
    if not sample:
        raise BadInput(f"relations {', '.join(names)} of {fact_set}: none has a fact to ask")
    return sample


def fewer(sample: Sample, *, n_shots: int, n_options: int, n_facts: int | None = None) -> str:
    """A line about what a sample has less of than was asked for: in how many relations, and the least number.

    >>> sample = draw("atlas", ["currency"], n_shots=2, n_facts=3, n_options=999, seed=0, allow_fewer=True)
    >>> fewer(sample, n_shots=2, n_options=999, n_facts=3)
    'As many as there are: options in 1 of 1 relations, 140 at least.'
    """
    parts = []
    for what, asked in (("shots", n_shots), ("options", n_options), ("facts", n_facts)):
        has = [
            len(d.options[0] if what == "options" else getattr(d, what)) for d in sample.values()
        ]
        if few := [n for n in has if asked is not None and n < asked]:
            parts.append(f"{what} in {len(few)} of {len(has)} relations, {min(few)} at least")
    return f"As many as there are: {'; '.join(parts)}." if parts else "As many as asked for."


def check_facts(sample: Sample, n_facts: int, *, allow_fewer: bool = False) -> None:
    """Raise :class:`BadInput` unless every relation of a sample has ``n_facts`` facts to ask, 2 or more.

    With ``allow_fewer``, 2 facts are enough in each relation. ``n_facts`` must still be 2 or more.
    """
    if n_facts < 2:
        raise BadInput(f"n_facts {n_facts}: must be 2 or more, since one fact has no interval")
    least = 2 if allow_fewer else n_facts
    has = {name: len(drawn.facts) for name, drawn in sample.items()}
    refuse([f"n_facts {n_facts}: {name} has {n} to ask" for name, n in has.items() if n < least])


def overview(sample: Sample, *, n_options: int, n_facts: int | None) -> pd.DataFrame:
    """A row for each relation of a sample: what its source has, and what is asked of it.

    - ``relation``;
    - ``facts``, ``objects``: how many the source has, each counted once;
    - ``to_ask``: the number of facts from which asked ones are drawn;
    - ``asked``, ``n_options``: the number of facts and of options that were drawn;
    - ``large``: "yes" if the relation passes T-REx-MC's filter (IC-D2);
    - ``fewer``: what there is less of than ``n_options`` and ``n_facts`` ask for.
    """
    rows = []
    for name, drawn in sample.items():
        n = len(drawn.options[0])
        fewer = ["options"] * (n < n_options)
        fewer += ["facts"] * (n_facts is not None and len(drawn.facts) < n_facts)
        rows.append(
            {
                "relation": name,
                "facts": len(drawn.relation.facts),
                "objects": len(drawn.relation.objects),
                "to_ask": len(drawn.test),
                "asked": len(drawn.facts),
                "n_options": n,
                "large": "yes" if passes_trex_mc(drawn.relation) else "",
                "fewer": ", ".join(fewer),
            }
        )
    return pd.DataFrame(rows)


def examples(sample: Sample, *, n_relations: int = 3, n_facts: int = 2) -> str:
    """Some asked facts with the first of their options, a line for each (the IC-LKE paper's Table 4)."""
    lines = []
    for name, drawn in list(sample.items())[:n_relations]:
        for fact, names in list(zip(drawn.facts, drawn.options, strict=True))[:n_facts]:
            line = f"{name}: {fact.subject} -> {fact.object}, among {', '.join(names[:3])}, ..."
            lines.append(shorten(line, 79, placeholder=" ..."))
    return "\n".join(lines)
