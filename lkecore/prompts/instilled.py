"""Instilled: a question, and the same question after a statement of the fact (PZ-S2).

    The capital of France is ____
    The capital of France is Paris. The capital of France is ____

The paper takes the change of the answer for ignorance. Three other statements are controls: a change after
one of them has another cause than the statement of this fact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.facts.fact import Fact
from lkecore.facts.tables import fold
from lkecore.prompts.prompt import Prompt, template, templates_of

# The statement before the question: of the fact; of another one of the relation; of the same object for
# another subject, which may be copied without knowledge; and of another object for the same subject.
INSTILLATIONS = ("explicit", "unrelated", "copied", "false")
ENDS = (".", "!", "?")


@dataclass(frozen=True)
class Instilled:
    """A question by itself (``asked``), and after a statement (``told``); gold and options are the same."""

    asked: Prompt
    told: Prompt
    instillation: str

    @property
    def fact(self) -> str:
        """The id of the fact that is asked."""
        return self.asked.fact


def instilled(
    words: str,
    facts: Sequence[Fact],
    options: Sequence[Sequence[str]],
    *,
    instillation: str = "explicit",
    closed: bool = False,
    seed: int = 0,
) -> list[Instilled]:
    """The questions of a template about some facts, each by itself and after a statement.

    ``words`` is the template. The statement is the template with both names in it and a full stop, if it
    does not end with one; then comes one space, then the template with its blank (PZ-Q14).
    ``instillation`` is one of ``INSTILLATIONS``. For all but "explicit" the other subject or object is
    that of another one of ``facts``, drawn by ``seed``, with another subject and none of this fact's true
    objects. ``closed`` puts a full stop after a blank that ends its template, for models that see the text
    after it. ``options`` as in :func:`lkecore.prompts.prompt.template`. Raises :class:`BadInput` for
    another instillation, as that function does, and where no other fact is left.

    >>> fact = Fact("1", "capital", "France", "Paris")
    >>> [found] = instilled("The capital of [X] is [Y]", [fact], [("Paris", "Rome")])
    >>> found.asked.context, found.told.context
    ('The capital of France is', 'The capital of France is Paris. The capital of France is')
    """
    if instillation not in INSTILLATIONS:
        raise BadInput(
            f"instillation {instillation!r} must be one of {', '.join(map(repr, INSTILLATIONS))}"
        )
    said = full(words)
    asked = template(said if closed else words, facts, options)
    rng = np.random.default_rng(seed)
    found = []
    for fact, prompt in zip(facts, asked, strict=True):
        subject, name = fact.subject, fact.object
        if instillation != "explicit":
            other = _another(fact, facts, rng)
            subject = subject if instillation == "false" else other.subject
            name = name if instillation == "copied" else other.object
        # Replaced part by part from the left, so that a name that contains [Y] itself does no harm.
        statement = name.join(part.replace("[X]", subject) for part in said.split("[Y]"))
        told = replace(prompt, context=f"{statement} {prompt.context}")
        found.append(Instilled(prompt, told, instillation))
    return found


def full(words: str) -> str:
    """A template with a full stop at its end, if it has none."""
    return words if words.endswith(ENDS) else f"{words}."


def _another(fact: Fact, facts: Sequence[Fact], rng: np.random.Generator) -> Fact:
    """Another fact, drawn by lot."""
    for i in rng.permutation(len(facts)):
        other = facts[i]
        if other.subject != fact.subject and fold(other.object) not in fact.true_names:
            return other
    raise BadInput(
        f"fact {fact.id} ({fact.subject!r}): no fact of another subject and object is asked, which "
        "could be told in its place"
    )


def instilled_of_sample(
    sample: Sample,
    templates: Sequence[str],
    instillations: Sequence[str] = ("explicit",),
    *,
    closed: bool = False,
    seed: int = 0,
) -> dict[tuple[str, str, str], list[Instilled]]:
    """The questions about a sample: {(template, instillation, relation): instilled questions}.

    ``templates`` are names, as of :func:`lkecore.prompts.prompt.templates_of`. Raises :class:`BadInput`
    for one that a relation does not have, and as :func:`instilled`.
    """
    found = {}
    for name in templates:
        for instillation in instillations:
            for relation, drawn in sample.items():
                has = templates_of(drawn.relation)
                if name not in has:
                    there = ", ".join(has) or "no templates"
                    raise BadInput(f"{name}: relation {relation} has {there}")
                found[name, instillation, relation] = instilled(
                    has[name],
                    drawn.facts,
                    drawn.options,
                    instillation=instillation,
                    closed=closed,
                    seed=seed,
                )
    return found
