"""The task made of known facts: a question, and statements of which one answers it.

It follows the XTRAEVAL paper (Kazemnejad et al. 2023, section 2.2). A fact has a head h (subject), a
relation r and a tail t (object). It becomes a query, the question without its tail, and documents. A
document is a statement that keeps some of the three and draws the others from the known facts, in random
words. The kept slots are a document's *kind*, as in Table 1 of the paper: "hrt" answers the query, "hr-"
has another tail, "---" keeps nothing. Only the choice between "hrt" and "hr-" needs knowledge. All other
kinds differ from the gold document in words that the question contains.

A drawn slot never has the query's own content: it has another relation, another head, or a tail that is
not true of the fact. So no document but the gold one says a true tail of the query's pair. Documents need
not be true.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.facts.questions import Wording
from lkecore.facts.tables import fold
from lkecore.worlds.base import rng_of

GOLD, TAILS, TRUE = "hrt", "hr-", "true"
HARD = ("hr-", "-rt", "h-t")  # the kinds for training: they differ in one slot from the gold one
SAMPLED = ("-rt", "h-t", "--t", "-r-", "h--", "---")  # the kinds that are sampled for a pool
TRIES = 1_000  # relations that are tried for a document; some have only true tails


@dataclass(frozen=True)
class Query:
    """The question about a fact; ``tails`` are all names of all objects that are true of it, folded."""

    fact: str
    relation: str
    subject: str
    text: str
    tail: str
    tails: frozenset[str]


@dataclass(frozen=True)
class Document:
    """A statement.

    ``kind`` says which slots of the query's fact it keeps, "hrt" to "---"; "true" marks another true fact.
    """

    text: str
    kind: str
    relation: str
    subject: str
    tail: str


@dataclass(frozen=True)
class KnownFacts:
    """The known facts of which a task is made, and their wordings; :func:`answerable` makes it.

    With ``alike``, a missing head or tail is drawn from facts of the document's own relation, so that its
    kind reveals nothing. Otherwise it is drawn from all facts, as the paper's text may mean.
    """

    facts: tuple[Fact, ...]
    wordings: Mapping[str, Wording]
    alike: bool = True

    @cached_property
    def by_relation(self) -> dict[str, list[Fact]]:
        """The facts of each relation."""
        found: dict[str, list[Fact]] = {}
        for fact in self.facts:
            found.setdefault(fact.relation, []).append(fact)
        return found

    def like(self, relation: str) -> Sequence[Fact]:
        """The facts from which heads and tails of a document of this relation are drawn."""
        return self.by_relation[relation] if self.alike else self.facts


# --- facts ----------------------------------------------------------------------------------------


def answerable(
    facts: Sequence[Fact], wordings: Mapping[str, Wording], *, alike: bool = True
) -> tuple[KnownFacts, dict[str, str]]:
    """(the facts of which a task can be made, {relation, or relation and head: why it is left out}).

    A relation needs a wording, two heads and two tails. A fact needs a tail in its relation that is not true
    of it. Raises :class:`BadInput` if fewer than two relations are left: no relation could be replaced.
    """
    left: dict[str, str] = {}
    kept, before = list(facts), -1
    while len(kept) != before:  # a fact that goes may have been another one's only other tail
        before = len(kept)
        heads: dict[str, set[str]] = {}
        tails: dict[str, set[str]] = {}
        for fact in kept:
            heads.setdefault(fact.relation, set()).add(fold(fact.subject))
            tails.setdefault(fact.relation, set()).add(fold(fact.object))
        for fact in kept:
            name = fact.relation
            n = len(heads[name]), len(tails[name])
            if name not in wordings:
                left[name] = "no question and statements"
            elif min(n) < 2:
                left[name] = f"known heads {n[0]} and tails {n[1]}, and a task needs two of each"
            elif not tails[name] - fact.true_names:
                left[f"{name}, {fact.subject}"] = "every known tail of the relation is true of it"
        kept = [f for f in kept if not {f.relation, f"{f.relation}, {f.subject}"} & {*left}]
    if len({fact.relation for fact in kept}) < 2:
        raise BadInput(
            f"{len(facts)} known facts, of which {len(kept)} can be asked: a task needs two relations"
        )
    return KnownFacts(tuple(kept), wordings, alike), left


def without_asked(train: Iterable[Fact], asked: Iterable[Fact]) -> tuple[list[Fact], int]:
    """(the train facts whose pair (relation, subject) is not asked, how many such pairs were left out).

    Subjects that differ in letter case alone count as one, as everywhere in the task.
    """
    pairs = {(fact.relation, fold(fact.subject)) for fact in asked}
    train = list(train)
    both = {(fact.relation, fold(fact.subject)) for fact in train} & pairs
    return [f for f in train if (f.relation, fold(f.subject)) not in both], len(both)


@dataclass(frozen=True)
class Split:
    """The facts for training, for the choice of the best step, and for the test."""

    train: tuple[Fact, ...]
    validation: tuple[Fact, ...]
    test: tuple[Fact, ...]


def split(facts: Sequence[Fact], seed: int, *, by: str = "fact", share: float = 0.6) -> Split:
    """A split: ``share`` of the facts ("fact"), or of the relations with their facts ("relation"), trains.

    A tenth of these facts validates instead; all other facts are the test. Raises :class:`BadInput` if a
    part would be empty.
    """
    if by not in ("fact", "relation"):
        raise BadInput(f"a split by {by!r}: must be by fact or by relation")
    rng = rng_of("split", seed, by)
    facts = _sorted(facts)
    units = [f"{f.relation}/{f.id}" if by == "fact" else f.relation for f in facts]
    names = sorted(set(units))
    first = {names[i] for i in rng.permutation(len(names))[: round(share * len(names))]}
    train = [fact for fact, unit in zip(facts, units, strict=True) if unit in first]
    test = tuple(fact for fact, unit in zip(facts, units, strict=True) if unit not in first)
    order = rng.permutation(len(train))
    held = {*order[: round(len(train) / 10)].tolist()}
    found = Split(
        tuple(f for i, f in enumerate(train) if i not in held),
        tuple(f for i, f in enumerate(train) if i in held),
        test,
    )
    if not (found.train and found.validation and found.test):
        raise BadInput(
            f"{len(facts)} known facts of {len({f.relation for f in facts})} relations are too few for a "
            f"split by {by}: {len(found.train)} to train, {len(found.validation)} to validate and "
            f"{len(test)} to ask"
        )
    return found


def fraction(facts: Sequence[Fact], share: float, seed: int) -> tuple[Fact, ...]:
    """A share of facts; a larger share with the same seed contains every smaller one."""
    facts = _sorted(facts)
    order = rng_of("fraction", seed).permutation(len(facts))
    return tuple(facts[i] for i in sorted(order[: round(share * len(facts))]))


def seen(facts: Iterable[Fact], train: Iterable[Fact]) -> list[str]:
    """For each fact: "seen" if train facts contain both head and tail, "unseen" if neither, else ""."""
    names = {fold(name) for each in train for name in (each.subject, each.object)}
    there = ((fold(f.subject) in names) + (fold(f.object) in names) for f in facts)
    return [("unseen", "", "seen")[n] for n in there]


def _sorted(facts: Iterable[Fact]) -> list[Fact]:
    """The facts sorted by relation and id, so that no draw depends on the order in which they were found."""
    return sorted(facts, key=lambda fact: (fact.relation, fact.id))


# --- queries and documents ------------------------------------------------------------------------


def query(known: KnownFacts, fact: Fact, *, readable: bool = False) -> Query:
    """The question about a fact. ``readable`` appends its tail, so that no knowledge is needed."""
    text = known.wordings[fact.relation].question.replace("[X]", fact.subject)
    text += f" {fact.object}." if readable else ""
    return Query(fact.id, fact.relation, fact.subject, text, fact.object, fact.true_names)


def document(known: KnownFacts, fact: Fact, kind: str, rng: np.random.Generator) -> Document:
    """A document that keeps the slots of a fact that ``kind`` names, and draws the others (equation 1).

    The draws are fact by fact. Raises :class:`BadInput` if no relation has a head and a tail that are not
    the fact's own.
    """
    h, r, t = (slot != "-" for slot in kind)

    def free(head: str, tail: str) -> bool:  # the document must not say the fact reversed
        return not _is(fact, tail) and not (_is(fact, head) and tail == fact.subject)

    for _ in range(TRIES):
        other = fact if r else _one(known.facts, lambda f: f.relation != fact.relation, rng)
        near = known.like(other.relation) if other else ()
        first = fact if h else _one(near, lambda f: fold(f.subject) != fold(fact.subject), rng)
        if not (other and first):
            continue
        head = first.subject
        last = fact if t else _one(near, lambda f, head=head: free(head, f.object), rng)
        if last:
            return _said(known, kind, other.relation, head, last.object, rng)
    raise BadInput(
        f"relation {fact.relation}, {fact.subject!r}: {len(known.facts)} known facts give no document of "
        f"kind {kind}"
    )


def training(
    known: KnownFacts,
    fact: Fact,
    *,
    seed: int,
    epoch: int,
    each: int = 4,
    kinds: Sequence[str] = HARD,
) -> list[Document]:
    """The gold document, then ``each`` negatives of every kind, drawn anew for each epoch."""
    rng = rng_of("training", seed, str(epoch), fact.relation, fact.id)
    return [
        document(known, fact, kind, rng)
        for kind in [GOLD, *(k for k in kinds for _ in range(each))]
    ]


def pool(
    known: KnownFacts, fact: Fact, asked: Sequence[Fact], *, seed: int, each: int = 50
) -> list[Document]:
    """All documents among which a fact's gold document is ranked, the gold one first.

    After it come:

    - one document for each other known tail of the relation, or of all relations if the known facts are not
      drawn ``alike`` (names that differ in letter case alone count as one);
    - ``each`` documents of each of the six other kinds;
    - up to ``each`` true facts of ``asked``, about other pairs than the query's.
    """
    rng = rng_of("pool", seed, fact.relation, fact.id)
    tails = {fold(f.object): f.object for f in reversed(known.like(fact.relation))}
    others = sorted(name for key, name in tails.items() if key not in fact.true_names)
    found = [document(known, fact, GOLD, rng)]
    pair = fact.relation, fact.subject
    found += [_said(known, TAILS, *pair, tail, rng) for tail in others]
    found += [document(known, fact, kind, rng) for kind in SAMPLED for _ in range(each)]
    order = (asked[i] for i in rng.permutation(len(asked)))
    true = (
        f
        for f in order
        if (f.relation, fold(f.subject)) != (fact.relation, fold(fact.subject))
        and not (_is(fact, f.subject) and f.object == fact.subject)  # says the fact reversed
    )
    for f in islice(true, each):
        found.append(_said(known, TRUE, f.relation, f.subject, f.object, rng))
    return found


def _one(
    facts: Sequence[Fact], fits: Callable[[Fact], bool], rng: np.random.Generator
) -> Fact | None:
    """A random fact of those that fit, or None."""
    for _ in range(20):  # most facts fit; a list of all, for each document, would take minutes
        fact = facts[rng.integers(len(facts))] if facts else None
        if fact and fits(fact):
            return fact
    those = [fact for fact in facts if fits(fact)]
    return those[rng.integers(len(those))] if those else None


def _is(fact: Fact, name: str) -> bool:
    """Whether a name is one of an object that is true of a fact's pair."""
    return fold(name) in fact.true_names


def _said(
    known: KnownFacts, kind: str, relation: str, subject: str, tail: str, rng: np.random.Generator
) -> Document:
    statements = known.wordings[relation].statements
    words = statements[rng.integers(len(statements))]
    before, _, after = words.partition("[X]")
    text = f"{before.replace('[Y]', tail)}{subject}{after.replace('[Y]', tail)}."
    return Document(text, kind, relation, subject, tail)
