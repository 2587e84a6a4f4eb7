"""Sample: which facts are shown, which are asked, and among which options."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lkecore.errors import BadInput, nearest
from lkecore.facts.fact import Fact, Relation, text_digest
from lkecore.facts.tables import SPLITS, composed, fold


def passes_trex_mc(relation: Relation) -> bool:
    """Whether a relation passes T-REx-MC's filter (IC-D2): over 500 facts, at least 100 distinct objects."""
    return len(relation.facts) > 500 and len(relation.objects) >= 100


def has_splits(relation: Relation) -> bool:
    """Whether the facts come with splits. One split that all facts share is none: it divides nothing.

    >>> has_splits(Relation("r", (Fact("1", "r", "a", "x", split="test"),)))
    False
    """
    return len({fact.split for fact in relation.facts}) > 1


def divide(
    relation: Relation, test: str = "test", *, n_train: int = 100, n_test: int = 400, seed: int = 0
) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """(facts to show, facts to ask) of a relation: train and test.

    Where the data come with splits (:func:`lkecore.facts.sample.has_splits`), ``test`` names the split to
    ask, and shots come from the train split (or, when train itself is asked, from dev, else test). No subject
    of an asked fact is shown.

    Where they come without splits, this is T-REx-MC's split (IC-D2) of any fact set: ``n_train`` facts, at
    most half, and up to ``n_test`` others, in an order that depends on ``seed``, subjects and fact ids alone.
    All facts of a subject stay on one side, so no subject is both shown and asked.

    Raises :class:`BadInput` when the asked split is unknown or empty.
    """
    if test not in SPLITS:
        raise BadInput(f"unknown split {test!r}: must be one of {SPLITS}")
    facts = sorted(relation.facts, key=lambda fact: fact.id)  # whatever the order of the rows
    present = {fact.split for fact in facts}
    if has_splits(relation):
        if test not in present:
            raise BadInput(f"relation {relation.name}: no split {test!r}, only {sorted(present)}")
        shown = next(s for s in ("train", "dev", "test", "") if s in present and s != test)
        asked = tuple(f for f in facts if f.split == test)
        subjects = {f.subject for f in asked}
        train = tuple(f for f in facts if f.split == shown and f.subject not in subjects)
        return train, asked
    if test == "dev" and test not in present:
        why = "the facts have no splits"
        if common := "".join(present):
            why = f"all facts are in {common!r}, and a split that all share counts as none"
        raise BadInput(f"relation {relation.name}: no split 'dev', since {why}")
    subjects = sorted({f.subject for f in facts}, key=lambda s: text_digest(seed, s))
    by_subject: dict[str, list[Fact]] = {}
    for fact in facts:
        by_subject.setdefault(fact.subject, []).append(fact)
    ordered = [fact for subject in subjects for fact in by_subject[subject]]
    cut = min(n_train, len(ordered) // 2)
    while 0 < cut < len(ordered) and ordered[cut].subject == ordered[cut - 1].subject:
        cut += 1
    train, asked = tuple(ordered[:cut]), tuple(ordered[cut : cut + n_test])
    if test == "train":
        train, asked = asked, train
    if not asked:
        raise BadInput(f"relation {relation.name}: too few subjects to show some and ask others")
    return train, asked


def of_subjects(relation: Relation, subjects: Sequence[str]) -> tuple[Fact, ...]:
    """The first fact of each of these subjects, in the order in which the subjects are named.

    Raises :class:`BadInput` for a subject of which the relation has no fact.

    >>> of_subjects(Relation("r", (Fact("1", "r", "a", "x"), Fact("2", "r", "a", "y"))), ["a"])[0].object
    'x'
    """
    first: dict[str, Fact] = {}
    for fact in relation.facts:
        first.setdefault(composed(fact.subject), fact)
    if lacking := [name for name in subjects if composed(name) not in first]:
        hint = nearest(lacking[0], first)
        raise BadInput(f"relation {relation.name} has no subject {lacking[0]!r}; {hint}")
    return tuple(first[composed(name)] for name in subjects)


def draw_shots(
    train: Sequence[Fact], n_shots: int, seed: int, *, allow_fewer: bool = False
) -> tuple[Fact, ...]:
    """``n_shots`` facts with distinct subjects, drawn in random order (IC-Q2: once for each relation).

    With one seed, fewer shots are the beginning of more shots: curves over n compare like with
    like. Raises :class:`BadInput` when there are too few subjects; with ``allow_fewer`` all are drawn.
    """
    if n_shots < 0:
        raise BadInput(f"shots must be 0 or more, found {n_shots}")
    shots: dict[str, Fact] = {}
    for i in np.random.default_rng(seed).permutation(len(train)):
        if len(shots) == n_shots:
            break
        shots.setdefault(train[i].subject, train[i])
    if len(shots) < n_shots and not allow_fewer:
        where = f"relation {train[0].relation}" if train else "the relation"
        raise BadInput(f"{n_shots} shots asked for, but {where} has {len(shots)} subjects to show")
    return tuple(shots.values())[:n_shots]


def draw_facts(facts: Sequence[Fact], limit: int | None, seed: int) -> tuple[Fact, ...]:
    """A random sample of at most ``limit`` facts (all of them if None), in random order."""
    if limit is not None and limit < 1:
        raise BadInput(f"limit must be 1 or more facts, found {limit}")
    if not facts:
        raise BadInput("no facts are left to draw from; show fewer")
    order = np.random.default_rng(seed).permutation(len(facts))
    return tuple(facts[i] for i in order[:limit])


def max_options(relation: Relation) -> int:
    """The largest number of options that every fact of the relation can have."""
    times = Counter(map(fold, relation.objects))
    others = (
        len(distractors(fact, ()))
        if fact.options
        else times.total() - sum(times[name] for name in fact.true_names)
        for fact in relation.facts
    )
    return 1 + min(others)


def draw_options(
    facts: Sequence[Fact], objects: Sequence[str], n_options: int | None, seed: int
) -> list[tuple[str, ...]]:
    """The options of each fact (IC-D3): its gold object and ``n_options - 1`` distractors, or all if None.

    Distractors are distinct objects of the same relation (``objects``), never another true object of the
    subject nor an alias (IC-Q4). Where the data give a fact a multiple choice of its own, distractors come
    from that one alone, unchanged: the paper's choices stay the paper's. The options of a fact depend on the
    seed and its id only, not on which other facts are asked. Their order is random, so that a tie, which goes
    to the first, does not favour the gold one (IC-Q11).

    Raises :class:`BadInput` when a fact has too few possible distractors, or, for all of them, none.
    """
    if n_options is not None and n_options < 2:
        raise BadInput(f"options must be 2 or more, found {n_options}")
    drawn, folded = [], list(map(fold, objects))
    for fact in facts:
        pool = distractors(fact, objects, folded)
        n = max(2, len(pool) + 1) if n_options is None else n_options
        if len(pool) < n - 1:
            has = (
                f"the data give {fact.subject!r} of relation {fact.relation} only {len(pool)} others"
                if fact.options
                else f"relation {fact.relation} has only {len(pool)} objects that are not true of "
                f"{fact.subject!r}"
            )
            most = f"(most possible: {len(pool) + 1})"
            raise BadInput(f"{n} options asked for, but {has} {most}")
        rng = np.random.default_rng([seed, int(text_digest(fact.relation, fact.id)[:16], 16)])
        chosen = rng.choice(len(pool), n - 1, replace=False).tolist()
        options = [fact.object, *[pool[i] for i in chosen]]
        drawn.append(tuple([options[i] for i in rng.permutation(n).tolist()]))
    return drawn


def distractors(
    fact: Fact, objects: Sequence[str], folded: Sequence[str] | None = None
) -> list[str]:
    """The possible distractors of a fact: the objects that are not true of its subject.

    Where the data give a fact a multiple choice of its own, these are the other options in it; names are
    equal by :func:`lkecore.facts.tables.composed`. ``folded`` has ``objects`` in the form of
    :func:`lkecore.facts.tables.fold`, for calls about many facts.
    """
    if fact.options:
        gold = composed(fact.object)
        return [name for name in fact.options if composed(name) != gold]
    if folded is None:
        folded = list(map(fold, objects))
    names = fact.true_names
    return [name for name, each in zip(objects, folded, strict=True) if each not in names]
