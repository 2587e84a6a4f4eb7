"""Pool: one relation, whose facts are drawn again and again to be shown."""

from lkecore.errors import noted, refuse
from lkecore.facts import sets
from lkecore.facts.drawn import Drawn
from lkecore.facts.sample import divide, draw_facts, draw_options, max_options


def draw(
    fact_set: str,
    relation: str,
    *,
    n_pool: int,
    n_facts: int,
    n_options: int,
    seed: int,
) -> Drawn:
    """What is asked and offered of one relation, and in ``train`` the pool that shots come from.

    No shots are drawn here: :func:`lkecore.prompts.draws.of_draws` draws them, in many ways, for the same
    facts and options. The pool has ``n_pool`` facts, at most half of all; ``n_facts`` of the others
    are asked, among ``n_options``, or as many as there are. Facts that come with splits keep them: then the
    pool is all of train whose subjects are not in test, and test is asked. Raises :class:`BadInput` for an
    unknown fact set or relation, and no facts that are left to ask.
    """
    of = sets.load(fact_set, relation)
    train, test = divide(of, n_train=n_pool, n_test=max(400, n_facts))
    facts, options, complaints = (), [], []
    with noted(complaints, "n_facts: "):
        facts = draw_facts(test, n_facts, seed)
    with noted(complaints, "n_options: "):
        options = draw_options(facts, of.objects, min(n_options, max_options(of)), seed)
    refuse(complaints)
    return Drawn(of, (), facts, tuple(options), train, test)
