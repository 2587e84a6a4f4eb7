"""Pool: one relation, whose facts are drawn again and again to be shown."""

from lkecore.facts import sets, world
from lkecore.facts.drawn import Drawn
from lkecore.facts.fact import Fact, Relation
from lkecore.facts.sample import divide, draw_facts, draw_options


def draw(
    fact_set: str,
    relation: str,
    *,
    n_pool: int,
    n_facts: int,
    n_options: int,
    seed: int,
    least_lists: int = 0,
) -> Drawn:
    """What is asked and offered of one relation, and in ``train`` the pool that shots come from.

    No shots are drawn here: :func:`lkecore.prompts.draws.of_draws` draws them, in many ways, for the same
    facts and options. The pool has ``n_pool`` facts, at most half of all; ``n_facts`` of the others
    are asked, or as many as there are. Facts that come with splits keep them: then the pool is all of train
    whose subjects are not in test, and test is asked. Of a world of the lab, ``least_lists`` leaves only
    facts that its text tells in lists alone, so often or more. Raises :class:`BadInput` for an unknown
    fact set or relation, no facts that are left to ask, and too few objects for ``n_options``.
    """
    of = sets.load(fact_set, relation)
    train, test = divide(of, n_train=n_pool, n_test=max(400, n_facts))
    if least_lists and world.is_spec(fact_set):
        told = world.told_in_lists(fact_set, least_lists, alone=True)
        test = tuple(fact for fact in test if fact.id in told)
    facts = draw_facts(test, n_facts, seed)
    options = draw_options(facts, of.objects, n_options, seed)
    return Drawn(of, (), facts, tuple(options), train, test)


def known(
    fact_set: str, relation: str, *, least_lists: int = 0
) -> tuple[Relation, tuple[Fact, ...]]:
    """A relation, and those of its facts that a sequence may be made of.

    With ``least_lists`` these are the asked facts of a world of the lab that stand in so many lists of
    its text or more; else they are all, whatever their split. Raises :class:`BadInput` for an unknown
    fact set or relation, and for ``least_lists`` of facts that are no world.
    """
    whole = sets.load(fact_set, relation)
    if not least_lists:
        return whole, whole.facts
    told = world.told_in_lists(fact_set, least_lists)
    return whole, tuple(fact for fact in whole.facts if fact.id in told)
