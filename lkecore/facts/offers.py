"""Offers: other ways to choose the wrong options, for the same facts behind the same shots.

A paper's distractors are drawn by lot from the objects of the relation. Here they are those that are most
like the gold one in some respect, so that this respect gives nothing away.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lkecore.errors import BadInput, nearest
from lkecore.facts import sets
from lkecore.facts.drawn import Drawn, Sample
from lkecore.facts.fact import text_digest
from lkecore.facts.sample import distractors
from lkecore.facts.tables import composed, fold

OFFERS = ("random", "frequency", "length", "use")

Uses = dict[str, frozenset[tuple[str, str]]]  # of a name, folded: (relation, side) where it stands


def check(offers: Sequence[str]) -> None:
    """Raise :class:`BadInput` unless ``offers`` are some of ``OFFERS``, each once, "random" the first."""
    for offer in offers:
        if offer not in OFFERS:
            raise BadInput(f"unknown offer {offer!r}; {nearest(offer, OFFERS)}")
    if offers[:1] != ["random"] or len(set(offers)) < len(offers):
        raise BadInput(f"offers {list(offers)}: random first, and each once")


def uses_of(fact_set: str) -> Uses:
    """Where each name of a fact set stands: in which relations, as a subject or as an object.

    >>> sorted(uses_of("atlas")["france"])[0]
    ('capital', 'subject')
    """
    found: dict[str, set[tuple[str, str]]] = {}
    for name in sets.relations(fact_set):
        for fact in sets.load(fact_set, name).facts:
            found.setdefault(fold(fact.subject), set()).add((name, "subject"))
            found.setdefault(fold(fact.object), set()).add((name, "object"))
    return {name: frozenset(places) for name, places in found.items()}


def offered(sample: Sample, offer: str, *, uses: Uses | None = None, seed: int) -> Sample:
    """The sample with other wrong options, as many of each fact, and all else as it is.

    ``offer`` says which: "random", as they are; those that are the gold one's nearest in "frequency" (of how
    many facts of the relation a name is the object), in "length" (characters), or in "use": most alike in
    where else in the fact set they stand, by the cosine of ``uses`` (:func:`uses_of`). Of options that are
    equally near some are drawn by lot. Another true object of the subject is never offered. The options
    of a fact depend on ``seed``, its id and its relation alone, and so does their order. Raises
    :class:`BadInput` for an unknown offer.
    """
    if offer not in OFFERS:
        raise BadInput(f"unknown offer {offer!r}; {nearest(offer, OFFERS)}")
    if offer == "random":
        return sample
    if offer == "use" and uses is None:
        raise ValueError("the offer 'use' needs the uses of the names in the fact set")
    return {name: _of_relation(drawn, offer, uses or {}, seed) for name, drawn in sample.items()}


def _of_relation(drawn: Drawn, offer: str, uses: Uses, seed: int) -> Drawn:
    objects = drawn.relation.objects
    counts = Counter(fold(fact.object) for fact in drawn.relation.facts)
    options = []
    for fact, old in zip(drawn.facts, drawn.options, strict=True):
        pool = distractors(fact, objects)
        if offer == "use":
            apart = _apart_in_use(fact.object, pool, uses)
        elif offer == "length":
            lengths = np.array([len(composed(name)) for name in pool])
            apart = np.abs(lengths - len(composed(fact.object)))
        else:
            often = np.array([counts[fold(name)] for name in pool])
            apart = np.abs(often - counts[fold(fact.object)])
        digest = text_digest(offer, fact.relation, fact.id)
        rng = np.random.default_rng([seed, int(digest[:16], 16)])
        order = np.lexsort([rng.random(len(pool)), apart])[: len(old) - 1]
        some = [fact.object, *(pool[i] for i in order)]
        options.append(tuple(some[i] for i in rng.permutation(len(some))))
    return replace(drawn, options=tuple(options))


def _apart_in_use(gold: str, pool: Sequence[str], uses: Uses) -> NDArray[np.float64]:
    """1 minus the cosine of where two names stand, taken as sets: (name,), in [0, 1]."""
    own = uses[fold(gold)]
    each = [uses[fold(name)] for name in pool]
    return np.array([1 - len(own & of) / np.sqrt(len(own) * len(of)) for of in each])
