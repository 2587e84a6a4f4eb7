"""Prompts: every way to ask a model about a fact. Facts and options in, strings out.

A prompt is one *context* and, for each option, one *continuation*. What the model is asked is
always the same: how probable is this continuation after this context?
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lkecore.facts import Fact, Relation
from lkecore.rows import BadInput, nearest

# The ways to ask that pages of the lab compare, by name. IC-LKE by what stands inside a pair and
# between pairs, templates by their place among those of the relation.
SEPARATORS = {"iclke-space": (" ", " "), "iclke-colon": (": ", "\n")}
TEMPLATES = {f"template-{i + 1}": i for i in range(6)}


@dataclass(frozen=True)
class Prompt:
    """The question about one fact: ``context + continuations[i] + after`` says option i is true."""

    fact: str  # unique id
    relation: str
    subject: str
    context: str
    options: tuple[str, ...]
    continuations: tuple[str, ...]
    gold: int  # index of the gold option
    after: str = ""  # text after the blank; for masked and encoder-decoder models only


def join_pair(separator: str) -> tuple[str, str]:
    """Divide the separator of a pair between the context and the continuation.

    A trailing space goes to the object, as word-based tokenizers expect (IC-Q1): they have a token
    for " Paris", and a context that ends in a space would cut it in two. All else stays with the
    subject.

    >>> join_pair(" "), join_pair(": "), join_pair(" = "), join_pair("\\n")
    (('', ' '), (':', ' '), (' =', ' '), ('\\n', ''))
    """
    if not separator:
        raise BadInput("the separator of a pair must not be empty")
    return (separator[:-1], " ") if separator.endswith(" ") else (separator, "")


def many_shot(
    shots: Sequence[Fact],
    facts: Sequence[Fact],
    options: Sequence[Sequence[str]],
    *,
    pair_separator: str = " ",
    shot_separator: str = " ",
) -> list[Prompt]:
    r"""IC-LKE (IC-S1, IC-E1): the shots, then the subject, and no word of instruction.

    ``x1 y1 x2 y2 ... xn yn x``, with ``pair_separator`` inside a pair and ``shot_separator``
    between pairs: the paper has one space for both. ``options[i]`` belong to ``facts[i]``.
    Raises :class:`BadInput` for an empty separator, and for a fact that is shown and asked.

    >>> shot = Fact("1", "capital", "Italy", "Rome")
    >>> asked = Fact("2", "capital", "France", "Paris")
    >>> prompt, = many_shot([shot], [asked], [("Rome", "Paris")])
    >>> prompt.context, prompt.continuations, prompt.gold
    ('Italy Rome France', (' Rome', ' Paris'), 1)
    >>> many_shot([shot], [asked], [("Rome", "Paris")], shot_separator="\n")[0].context
    'Italy Rome\nFrance'
    """
    left, right = join_pair(pair_separator)
    if not shot_separator:
        raise BadInput("the separator between shots must not be empty")
    shown = {shot.subject for shot in shots}
    shots_text = "".join(
        f"{shot.subject}{pair_separator}{shot.object}{shot_separator}" for shot in shots
    )
    prompts = []
    for fact, names in zip(facts, options, strict=True):
        if fact.subject in shown:
            raise BadInput(f"{fact.subject!r} is both shown and asked in {fact.relation}")
        prompts.append(
            Prompt(
                fact=fact.id,
                relation=fact.relation,
                subject=fact.subject,
                context=f"{shots_text}{fact.subject}{left}",
                options=tuple(names),
                continuations=tuple(right + name for name in names),
                gold=list(names).index(fact.object),
            )
        )
    return prompts


def template(
    template: str, facts: Sequence[Fact], options: Sequence[Sequence[str]]
) -> list[Prompt]:
    """A sentence with a blank, and no example (IC-S3): ``The capital of [X] is [Y]``.

    ``[X]`` becomes the subject. What stands before ``[Y]`` is the context, but for a space at its
    end, which goes to the options as in :func:`join_pair`; what stands behind it is ``after``, for
    models that fill a blank. A causal model needs a template that ends with ``[Y]``, and its scorer
    refuses others. ``options[i]`` belong to ``facts[i]``. Raises :class:`BadInput` for a template
    that has not exactly one ``[X]`` and one ``[Y]``.

    >>> asked = Fact("2", "capital", "France", "Paris")
    >>> prompt, = template("The capital of [X] is [Y].", [asked], [("Rome", "Paris")])
    >>> prompt.context, prompt.continuations, prompt.after, prompt.gold
    ('The capital of France is', (' Rome', ' Paris'), '.', 1)
    """
    for place in ("[X]", "[Y]"):
        if template.count(place) != 1:
            raise BadInput(
                f"template {template!r} has {place} {template.count(place)} times, and needs it once"
            )
    # Divided first, so that a name that holds [Y] itself does no harm.
    before, after = template.split("[Y]")
    left, right = join_pair(before) if before else ("", "")
    return [
        Prompt(
            fact=fact.id,
            relation=fact.relation,
            subject=fact.subject,
            context=left.replace("[X]", fact.subject),
            options=tuple(names),
            continuations=tuple(right + name for name in names),
            gold=list(names).index(fact.object),
            after=after.replace("[X]", fact.subject),
        )
        for fact, names in zip(facts, options, strict=True)
    ]


def asking(
    estimator: str,
    relation: Relation,
    shots: Sequence[Fact],
    facts: Sequence[Fact],
    options: Sequence[Sequence[str]],
) -> list[Prompt]:
    """The prompts of an estimator by its name, one of ``SEPARATORS`` or ``TEMPLATES``.

    Templates leave the shots out. Raises :class:`BadInput` for another name, for a template that
    the relation does not have, and as :func:`many_shot` and :func:`template`.
    """
    if estimator in SEPARATORS:
        inside, between = SEPARATORS[estimator]
        return many_shot(shots, facts, options, pair_separator=inside, shot_separator=between)
    if estimator not in TEMPLATES:
        known = [*SEPARATORS, *TEMPLATES]
        raise BadInput(f"unknown estimator {estimator!r}; {nearest(estimator, known)}")
    if TEMPLATES[estimator] >= len(relation.templates):
        raise BadInput(
            f"{estimator}: relation {relation.name} has {len(relation.templates)} templates"
        )
    return template(relation.templates[TEMPLATES[estimator]], facts, options)
