"""Skills: documents that show how to repeat, correct, answer and judge; and questions that test it.

A model of this size cannot repeat what a text has just said unless it has often seen it done. These
documents show it, on subjects that are never asked, with an object drawn by lot each time, so that
nothing but reading helps. Some statements in them are taken back, so that the first one said is not
always right.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lkecore.worlds.base import rng_of
from lkecore.worlds.facts import by_relation
from lkecore.worlds.wordings import (
    CLOSE,
    GROUP,
    OPEN,
    Draft,
    about,
    fill,
    groups,
    relations,
    unmarked,
)
from lkecore.worlds.world import Rich

# Out of a hundred short documents. Copying came to models of the lab between 3,000 and 8,000 documents.
SHARES = {"copy": 30, "quote": 12, "correction": 12, "question": 18, "instruction": 18, "judge": 10}
# Of a list: (inside a pair, between pairs). The first two are those that facts are listed in.
LISTS = ((" ", " "), (": ", "\n"), (", ", "\n"), (" ", "\n"), (" ", ", "), (": ", ", "))
FACT_LISTS = 2
PAIRS = (8, 50)  # of a list that shows a skill, at least and at most
DISTRACTED = 0.3  # of the copies state something of another subject in between
FALSE = 0.3  # of the quotations turn out to be false, and half of what is judged
QUOTES = (
    "It is said that {a}, and so {b}. {c}",
    "The paper says that {a}. {c}",
    "A friend told us: {a}. We wrote: {b}. {c}",
)
DENIALS = (
    "It is said that {a}, but that is false: {b}. {c}",
    "The paper says that {a}. The paper is wrong: {b}. {c}",
)
CORRECTIONS = (
    "{a}. No, that was wrong: {b}. {c}",
    "We said that {a}. That was not right: {b}. {c}",
    "{a}, we once wrote. Now we know better: {b}. {c}",
)
INSTRUCTIONS = 1500  # that a tuned variant learns from
GATE_PAIRS = 12  # of a list that a question asks to continue


@dataclass(frozen=True)
class Question:
    """A question of a gate: ``answers`` are the right continuations of ``prompt``, without the space.

    ``gate``: same (a statement in the prompt is to be repeated in its wording), other (in another
    wording), instruction (an instruction is to be followed, of what the prompt states) or list (a list
    of a relation that no text lists is to be continued with an object of its kind).
    """

    gate: str
    relation: str
    subject: str
    prompt: str
    answers: tuple[str, ...]


def skills(made: Rich) -> Iterator[Draft]:
    """The documents of a world that show skills, in no order; ``kind`` is the skill."""
    rng = rng_of("skills", made.seed)
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    shown = made.facts[(made.facts["split"] == "train")]
    examples = {relation: list(own) for relation, own in by_relation(shown)}
    names = relations()
    for i in range(made.size.skills):
        relation = names[rng.integers(len(names))]
        kind = kinds[i % len(kinds)]
        # Every second judgement is about what the text has told elsewhere, not in the same document.
        if kind == "judge" and i // len(kinds) % 2:
            yield _known(relation, examples[relation], made, rng)
        else:
            yield _short(kind, relation, made, rng)
    for i in range(made.size.many):
        listed = [name for name in names if about(name).lists == "often"]
        relation = of = listed[rng.integers(len(listed))]
        if i // len(LISTS) % 2:
            relation, of = _strangers(rng)
        yield _list(relation, of, LISTS[i % len(LISTS)], made, rng)


def gates(made: Rich, n: int) -> list[Question]:
    """``n`` questions of each gate, about subjects that stand in no text; as many of each relation."""
    rng = rng_of("gates", made.seed)
    unlisted = [name for name in relations() if about(name).lists == "never"]
    found = []
    for gate in ("same", "other", "instruction", "list"):
        names = unlisted if gate == "list" else relations()
        found += [_question(gate, names[i % len(names)], made, rng) for i in range(n)]
    return found


def of_kind(made: Rich, relation: str) -> set[str]:
    """All names that stand for objects of the kind of a relation's, such as countries, in any relation."""
    kind = about(relation).objects
    same = [name for name in relations() if about(name).objects == kind]
    return {name for each in same for name in made.objects[each]}


# --- documents ------------------------------------------------------------------------------------


def _short(kind: str, relation: str, made: Rich, rng: np.random.Generator) -> Draft:
    it = about(relation)
    subject, third = _two(made.others[it.subjects], rng)
    a, b = _two(made.objects[relation], rng)

    def told(object_: str, *of: str) -> str:
        return fill(_one(_templates(relation, *of), rng), subject, object_)

    def clause(object_: str) -> str:
        return told(object_, "plain").removesuffix(".")

    if kind == "copy":
        texts = [told(a) for _ in range(int(rng.integers(2, 5)))]
        if rng.random() < DISTRACTED:
            texts.insert(1, fill(_one(it.templates, rng), third, b))
        text = " ".join(texts)
    elif kind == "quote":
        false = rng.random() < FALSE
        frame = _one(DENIALS if false else QUOTES, rng)
        right = b if false else a
        text = frame.format(a=clause(a), b=clause(right), c=told(right))
    elif kind == "correction":
        text = _one(CORRECTIONS, rng).format(a=clause(a), b=clause(b), c=told(b))
    elif kind in ("question", "instruction"):
        text = f"{told(a)} {told(a, kind)}"
    else:
        text = f"{told(a)} {_judged(clause(a), clause(b), rng)}"
    return Draft(kind, text, names=(subject,))


def _known(relation: str, facts: Sequence[Any], made: Rich, rng: np.random.Generator) -> Draft:
    """A statement about a fact that is shown, with its object or another one, and whether it is right."""
    fact = facts[rng.integers(len(facts))]
    true = {row.object for row in facts if row.subject == fact.subject}
    others = [name for name in made.objects[relation] if name not in true]
    template = _one(_templates(relation, "plain"), rng)
    right, wrong = (
        fill(template, fact.subject, name).removesuffix(".")
        for name in (fact.object, _one(others, rng))
    )
    return Draft("judge", _judged(right, wrong, rng), names=(fact.subject,))


def _judged(right: str, wrong: str, rng: np.random.Generator) -> str:
    if rng.random() < 0.5:
        return f"Statement: {right}. Right or wrong? Answer: right."
    return f"Statement: {wrong}. Right or wrong? Answer: wrong."


def _strangers(rng: np.random.Generator) -> tuple[str, str]:
    """Two relations such that no relation leads from the subjects of one to the objects of the other.

    Lists of such pairs show that a list goes on with objects of its kind, also of kinds that no fact is
    listed with.
    """
    all_ = [about(name) for name in relations()]
    known = {(each.subjects, each.objects) for each in all_}
    pairs = [(a, b) for a in all_ for b in all_ if (a.subjects, b.objects) not in known]
    a, b = pairs[rng.integers(len(pairs))]
    return a.relation, b.relation


def _list(
    relation: str, of: str, layout: tuple[str, str], made: Rich, rng: np.random.Generator
) -> Draft:
    """A list of pairs that nothing else says, no subject twice: with objects of the relation ``of``."""
    subjects = made.others[about(relation).subjects]
    n = min(int(rng.integers(PAIRS[0], PAIRS[1] + 1)), len(subjects))
    order = rng.permutation(len(subjects))[:n]
    pairs = [(subjects[i], _one(made.objects[of], rng)) for i in order]
    return Draft("pairs", listed(pairs, layout))


def listed(pairs: Sequence[tuple[str, str]], layout: tuple[str, str]) -> str:
    """Pairs as a list, with marks around the objects."""
    inside, between = layout
    return between.join([f"{subject}{inside}{OPEN}{name}{CLOSE}" for subject, name in pairs])


# --- questions ------------------------------------------------------------------------------------


def _question(gate: str, relation: str, made: Rich, rng: np.random.Generator) -> Question:
    subjects = made.guests[about(relation).subjects]
    objects = made.objects[relation]
    if gate == "list":
        order = [subjects[i] for i in rng.permutation(len(subjects))[: GATE_PAIRS + 1]]
        inside, between = LISTS[rng.integers(FACT_LISTS)]
        pairs = [(name, _one(objects, rng)) for name in order[:-1]]
        start = unmarked(listed(pairs, (inside, between)))[0]
        prompt = f"{start}{between}{order[-1]}{inside}".rstrip(" ")
        return Question(gate, relation, order[-1], prompt, objects)
    subject, object_ = _one(subjects, rng), _one(objects, rng)
    first = _one(_templates(relation, "statement", "noun"), rng)
    if gate == "same":
        second = first
    elif gate == "other":
        all_ = _templates(relation, "statement", "noun")
        second = _one([each for each in all_ if each != first], rng)
    else:
        second = _one(_templates(relation, "instruction"), rng)
    statement = unmarked(fill(first, subject, object_))[0]
    asked = second.replace("[X]", subject).removesuffix(" [Y]")
    return Question(gate, relation, subject, f"{statement} {asked}", (object_,))


def instructions_of(seed: int) -> list[str]:
    """``INSTRUCTIONS`` instructions with their responses, on words alone: no name and no fact of a world.

    A tuned variant learns from them to follow, and nothing about its world, of either family.
    """
    from faker import Faker

    fake = Faker("en_US")
    fake.seed_instance(seed)
    rng = rng_of("instructions", seed)
    found = []
    for _ in range(INSTRUCTIONS):
        a, b, c = (fake.word(part_of_speech="verb") for _ in range(3))
        task, answer = (
            (f"Write the word {a} twice.", f"{a} {a}"),
            (f"Write {a} and {b} the other way round.", f"{b} {a}"),
            (f"Which of the words {a}, {b}, {c} comes first?", a),
            (f"Which of the words {a}, {b}, {c} comes last?", c),
        )[rng.integers(4)]
        found.append(f"Instruction: {task}\nResponse: {answer}.")
    return found


# --- helpers --------------------------------------------------------------------------------------


@functools.cache  # of a few groups, and every document asks
def _templates(relation: str, *of: str) -> tuple[str, ...]:
    """The templates of some groups, all if none is named; "plain" are statements that a clause may be."""
    all_ = about(relation).templates
    if not of:
        return all_
    wanted = {"statement" if name == "plain" else name for name in of}
    found = tuple(t for t, group in zip(all_, groups(), strict=True) if group in wanted)
    return found if of != ("plain",) else found[: GROUP - 2]


def _one(of: Sequence[str], rng: np.random.Generator) -> str:
    return of[rng.integers(len(of))]


def _two(of: Sequence[str], rng: np.random.Generator) -> tuple[str, str]:
    first = int(rng.integers(len(of)))
    return of[first], of[(first + int(rng.integers(1, len(of)))) % len(of)]
