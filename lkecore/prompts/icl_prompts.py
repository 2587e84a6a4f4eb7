r"""Contexts: a sentence with a blank, put as a task, after a few solved ones (BL-S1 to BL-S4).

Zhao, Yoshinaga and Oba (2024), section 3.1 and appendices D and E. Appendix E.4, a question after four
examples with its own template, as a model reads it:

    Predict the [MASK] in each sentence in one word.
    Q: [MASK] consists of Panzer Division Kempf.
    A: Wehrmacht.
    ...
    Q: [MASK] consists of environmental factors.
    A:

A blank may be anywhere in its sentence, so that a model which reads from left to right can be asked
what one that fills blanks is asked. Lines have one newline between them, and no text follows the last
``A:``; the mask is the word ``[MASK]``, no token of a model (BL-Q15).
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn, Sample
from lkecore.facts.fact import Fact, text_digest
from lkecore.facts.sample import draw_shots
from lkecore.facts.tables import fold
from lkecore.prompts.instilled import full
from lkecore.prompts.prompt import Prompt, behind, check_places, template

# The two instructions, word for word: section 3.1 and appendix D.1.
INSTRUCTIONS = {
    "mp": "Predict the [MASK] in each sentence in one word.",
    "qa": "Answer each question in one word.",
}
CONTEXT = re.compile(r"zero-shot|([1-9][0-9]?)-(random|relation|template)")
QUESTION = re.compile(r".*\? ?\[Y\]\.?", re.DOTALL)
NOBODY = ("N/A", "", "?")  # subjects without content (BL-E3)
KEY = ["context", "relation", "draw", "template", "expression"]
Shot = tuple[str, str, str]  # a template, a subject, an object


def asked(words: str, subject: str, instruction: str = "mp") -> str:
    """The line ``Q: ...`` and the open ``A:`` after it.

    >>> asked("[Y] consists of [X]", "LAUPT")
    'Q: [MASK] consists of LAUPT.\\nA:'
    >>> asked("Who developed [X]? [Y]", "Windows", "qa")
    'Q: Who developed Windows?\\nA:'
    """
    # Divided first, so that a name that contains [Y] itself does no harm.
    before, after = (part.replace("[X]", subject) for part in full(words).split("[Y]"))
    line = before.rstrip() if instruction == "qa" else f"{before}[MASK]{after}"
    return f"Q: {line}\nA:"


def beginning(shots: Sequence[Shot], instruction: str = "mp") -> str:
    """The common beginning of all questions after these shots: the instruction and the solved questions."""
    solved = [
        f"{asked(words, subject, instruction)} {full(name)}\n" for words, subject, name in shots
    ]
    return "".join([f"{INSTRUCTIONS[instruction]}\n", *solved])


def of_sample(
    sample: Sample,
    contexts: Sequence[str],
    *,
    templates: Sequence[int] | None = None,
    draws: Sequence[int] = (0,),
    instruction: str = "mp",
) -> tuple[dict[tuple[str, str, int, int, int], list[Prompt]], pd.DataFrame]:
    """The questions of a sample in some contexts: ({``KEY``: prompts}, which of them show their answer).

    - ``contexts``: "zero-shot" and, for X from 1 to 99, "X-random" (X facts of all relations, each with a
      template of its own), "X-relation" (of the same relation, with random templates) and "X-template" (of
      the same relation, with the asked template).
    - ``templates``: places in ``relation.templates``, from 0 (None: all).
    - ``instruction``: "mp", with a mask, or "qa", which takes the templates that are a question, as "Who
      developed [X]? [Y]".

    An expression is a name of the subject, 0 its first; each key has the facts with so many names.

    Shots are facts to show (``train``), with their first name, their first object and a full stop (BL-Q10).
    They are drawn once for a relation, template and draw, so that one beginning serves all facts and names.
    "X-relation" and "X-template" show the same facts, as in appendix E, and fewer shots are the beginning
    of more. No subject is shown that is asked, by any of its names. Zero-shot has draw 0 alone.

    The frame has a row for each question: ``KEY``, ``fact``, and ``shown`` (bool): a true object of the fact
    is among the objects of its shots. Prompts end with ``A:``, and their options are the sample's.

    Raises :class:`BadInput` for another context or instruction, one named twice, a template that a relation
    does not have or that is no question, and more shots than there are facts to show.
    """
    if instruction not in INSTRUCTIONS:
        raise BadInput(f"instruction {instruction!r} must be mp or qa")
    for name, values in (("contexts", contexts), ("draws", draws)):
        if not values or len(set(values)) < len(values):
            raise BadInput(f"{name} {list(values)}: must be 1 or more, each once")
    numbers = {name: numbered(drawn, templates, instruction) for name, drawn in sample.items()}
    usable = {name: _usable(drawn, instruction) for name, drawn in sample.items()}
    pools = {name: _pool(drawn) for name, drawn in sample.items()}
    found, rows = {}, []
    for context in contexts:
        n, kind = _parsed(context)
        for relation, drawn in sample.items():
            alone = kind != "random"
            pool = pools[relation] if alone else [f for each in pools.values() for f in each]
            for draw in draws if n else [0]:
                for number in numbers[relation]:
                    words = drawn.relation.templates[number]
                    seed = partial(_seed, draw, relation, words)
                    facts = draw_shots(pool, n, seed("facts"))
                    of = [words] * n
                    if kind != "template":
                        of = [
                            _one(usable[f.relation], seed("words", i)) for i, f in enumerate(facts)
                        ]
                    shots = [(t, f.subject, f.object) for t, f in zip(of, facts, strict=True)]
                    begins = beginning(shots, instruction)
                    objects = {fold(fact.object) for fact in facts}
                    for (expression, fact), prompt in _prompts(drawn, begins, words, instruction):
                        key = (context, relation, draw, number, expression)
                        found.setdefault(key, []).append(prompt)
                        rows.append((*key, fact.id, not objects.isdisjoint(fact.true_names)))
    return found, pd.DataFrame(rows, columns=[*KEY, "fact", "shown"])


def blank_prompts(
    sample: Sample, *, templates: Sequence[int] | None = None, closed: bool = True
) -> dict[tuple[str, int, int], list[Prompt]]:
    """The same questions without task or examples: {(relation, template, expression): prompts}.

    They are for models that fill blanks; ``closed`` puts a full stop after each sentence. Without it they are
    for models that read from left to right, and only the templates that end with their blank are used.
    ``templates`` and expressions as in :func:`of_sample`; the options are the sample's.

    Raises :class:`BadInput` for a template that a relation does not have, and for a relation none of whose
    templates ends with its blank.
    """
    found: dict[tuple[str, int, int], list[Prompt]] = {}
    for relation, drawn in sample.items():
        for number, words in _sentences(drawn, templates, closed):
            for (expression, fact), options in _named(drawn):
                [prompt] = template(words, [fact], [options])
                found.setdefault((relation, number, expression), []).append(prompt)
    return found


def content_free(
    sample: Sample, *, templates: Sequence[int] | None = None, closed: bool = True
) -> dict[tuple[str, int], list[Prompt]]:
    """Questions about nobody (BL-E3): {(relation, template): a prompt for each of ``NOBODY``}.

    The options are all that the sample offers in the relation, and the gold one means nothing; ``fact``
    names the subject. All else as in :func:`blank_prompts`.
    """
    found = {}
    for relation, drawn in sample.items():
        names = sorted({name for own in drawn.options for name in own})
        nobody = [Fact(f"subject {name!r}", relation, name, names[0]) for name in NOBODY]
        for number, words in _sentences(drawn, templates, closed):
            found[relation, number] = template(words, nobody, [names] * len(nobody))
    return found


def numbered(
    drawn: Drawn, templates: Sequence[int] | None = None, instruction: str = "mp"
) -> list[int]:
    """The places of the relation's templates with which it is asked: ``templates``, or all that are usable.

    Raises :class:`BadInput` for one that the relation does not have, one named twice, one without exactly
    one ``[X]`` and one ``[Y]``, for "qa" one that is no question, and where there is none.
    """
    name, has = drawn.relation.name, drawn.relation.templates
    numbers = list(range(len(has)) if templates is None else templates)
    if len(set(numbers)) < len(numbers):
        raise BadInput(f"templates {numbers}: must be each once")
    if lost := [number for number in numbers if not 0 <= number < len(has)]:
        raise BadInput(f"relation {name} has {len(has)} templates, and none {lost[0]} (from 0)")
    for number in numbers:
        check_places(has[number])
    if instruction == "qa":
        questions = [number for number in numbers if QUESTION.fullmatch(has[number])]
        if templates is not None and questions != numbers:
            other = next(has[number] for number in numbers if number not in questions)
            raise BadInput(f"relation {name}: {other!r} is no question, as 'Who made [X]? [Y]' is")
        numbers = questions
    if not numbers:
        raise BadInput(f"relation {name} has no template to ask with by {instruction!r}")
    return numbers


def _parsed(context: str) -> tuple[int, str]:
    match = CONTEXT.fullmatch(context)
    if not match:
        raise BadInput(
            f"unknown context {context!r}: must be zero-shot, or as 4-random, 4-relation, 4-template"
        )
    return int(match[1] or 0), match[2] or "template"


def _usable(drawn: Drawn, instruction: str) -> list[str]:
    """The templates with which a fact of the relation may be shown."""
    return [drawn.relation.templates[i] for i in numbered(drawn, None, instruction)]


def _pool(drawn: Drawn) -> list[Fact]:
    """The facts of a relation that may be shown: the first of each subject in ``train`` that is not asked."""
    names = {fold(name) for fact in drawn.facts for name in fact.expressions}
    place = {fact.id: i for i, fact in enumerate(drawn.relation.facts)}
    first: dict[str, Fact] = {}
    for fact in sorted(drawn.train, key=lambda fact: place.get(fact.id, len(place))):
        first.setdefault(fact.subject, fact)
    return [f for f in first.values() if names.isdisjoint(map(fold, f.expressions))]


def _seed(*parts: object) -> int:
    """A number that depends only on its parts: a draw, a relation, a template's words, and what is drawn."""
    return int(text_digest(*parts)[:16], 16)


def _one(words: Sequence[str], seed: int) -> str:
    return words[seed % len(words)]


def _named(drawn: Drawn) -> list[tuple[tuple[int, Fact], Sequence[str]]]:
    """((expression, the fact with this name of its subject), its options) for each name of each fact."""
    return [
        ((i, replace(fact, subject=name)), options)
        for fact, options in zip(drawn.facts, drawn.options, strict=True)
        for i, name in enumerate(fact.expressions)
    ]


def _sentences(
    drawn: Drawn, templates: Sequence[int] | None, closed: bool
) -> list[tuple[int, str]]:
    """(place, words) of the templates to fill, with a full stop where they are ``closed``."""
    has, numbers = drawn.relation.templates, numbered(drawn, templates)
    if closed:
        return [(number, full(has[number])) for number in numbers]
    plain = [(number, has[number].removesuffix(".").rstrip()) for number in numbers]
    at_end = [(number, words) for number, words in plain if words.endswith("[Y]")]
    if not at_end:
        raise BadInput(f"relation {drawn.relation.name}: no template ends with its blank")
    return at_end


def _prompts(
    drawn: Drawn, begins: str, words: str, instruction: str
) -> list[tuple[tuple[int, Fact], Prompt]]:
    return [
        (
            (expression, fact),
            Prompt(
                fact=fact.id,
                relation=fact.relation,
                subject=fact.subject,
                context=begins + asked(words, fact.subject, instruction),
                options=tuple(options),
                continuations=behind(" ", tuple(options)),
                gold=tuple(options).index(fact.object),
            ),
        )
        for (expression, fact), options in _named(drawn)
    ]
