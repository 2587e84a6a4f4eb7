"""Prompts: every way to ask a model about a fact. Facts and options in, strings out.

A prompt is one *context* and, for each option, one *continuation*. The question to the model is always the
same: how probable is this continuation after this context?
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from lkecore.errors import BadInput, nearest
from lkecore.facts import sets
from lkecore.facts.drawn import Sample
from lkecore.facts.fact import Fact, Relation
from lkecore.facts.tables import read
from lkecore.storage import DATA

# Estimators by name. IC-LKE has names by the separators inside a pair and between pairs, the paper's first.
# The templates of a relation have numbers. The paper's templates, written by people (HGP) or mined from text
# by a program (MMP), have their numbers in its Table 5.
SEPARATORS = {
    "iclke-space": (" ", " "),
    "iclke-newline": (" ", "\n"),
    "iclke-colon": (": ", "\n"),
    "iclke-arrow": (" -> ", "\n"),
}
TEMPLATES = {f"template-{i + 1}": i for i in range(25)}  # as many as a relation may have
HUMAN, MINED = (tuple(f"{kind}-{i}" for i in (1, 2, 3)) for kind in ("hgp", "mmp"))
ESTIMATORS = (  # the names that `asking` takes; a relation need not have all templates
    *SEPARATORS, *TEMPLATES, *HUMAN, *MINED,
    *(f"iclke-{each}" for each in (*TEMPLATES, *HUMAN, *MINED)),
)  # fmt: skip


@dataclass(frozen=True)
class Prompt:
    """The question about one fact: ``context + continuations[i] + after`` states that option i is true."""

    fact: str  # unique id
    relation: str
    subject: str
    context: str
    options: tuple[str, ...]
    continuations: tuple[str, ...]
    gold: int  # index of the gold option
    after: str = ""  # text after the blank; for masked and encoder-decoder models only


def join_pair(separator: str) -> tuple[str, str]:
    """The separator of a pair, divided between the context and the continuation.

    A trailing space goes to the object, as word-based tokenizers expect (IC-Q1): they have a token
    for " Paris", and a context that ends in a space would cut it in two. All else stays with the
    subject. :class:`BadInput` for an empty separator.

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
    join_pair(pair_separator)  # refuses an empty one
    pair = f"[X]{pair_separator}[Y]"
    return template(pair, facts, options, shots=shots, shot_separator=shot_separator)


def template(
    template: str,
    facts: Sequence[Fact],
    options: Sequence[Sequence[str]],
    *,
    shots: Sequence[Fact] = (),
    shot_separator: str = " ",
) -> list[Prompt]:
    """Questions by a sentence with a blank: ``The capital of [X] is [Y]``. Without shots it is IC-S3.

    ``[X]`` becomes the subject. The text before ``[Y]`` is the context, without a space at its end, which
    goes to the options as in :func:`join_pair`. The text after it is ``after``, for models that fill a blank.
    A causal model needs a template that ends with ``[Y]``, and its scorer refuses others. ``shots`` come
    first, each as the sentence with both names in it and ``shot_separator`` after it: IC-LKE with words in
    place of the space (IC-S4). ``options[i]`` belong to ``facts[i]``. Raises :class:`BadInput` for a template
    without exactly one ``[X]`` and one ``[Y]``, an empty separator, and a fact that is shown and asked.

    >>> asked = Fact("2", "capital", "France", "Paris")
    >>> prompt, = template("The capital of [X] is [Y].", [asked], [("Rome", "Paris")])
    >>> prompt.context, prompt.continuations, prompt.after, prompt.gold
    ('The capital of France is', (' Rome', ' Paris'), '.', 1)
    >>> shot = Fact("1", "capital", "Italy", "Rome")
    >>> template("[X] has [Y]", [asked], [("Rome", "Paris")], shots=[shot])[0].context
    'Italy has Rome France has'
    """
    check_places(template)
    check_between(shot_separator)
    # Divided first, so that a name that contains [Y] itself does no harm.
    before, after = template.split("[Y]")
    left, right = join_pair(before) if before else ("", "")
    shots_text = "".join(
        before.replace("[X]", shot.subject)
        + shot.object
        + after.replace("[X]", shot.subject)
        + shot_separator
        for shot in shots
    )
    shown = {shot.subject for shot in shots}
    prompts = []
    for fact, names in zip(facts, options, strict=True):
        check_not_shown(fact, shown)
        own = tuple(names)
        prompts.append(
            Prompt(
                fact=fact.id,
                relation=fact.relation,
                subject=fact.subject,
                context=shots_text + left.replace("[X]", fact.subject),
                options=own,
                continuations=behind(right, own),
                gold=own.index(fact.object),
                after=after.replace("[X]", fact.subject),
            )
        )
    return prompts


@functools.lru_cache(maxsize=2_000)  # the options of a fact are the same in many ways of asking
def behind(right: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Each name with ``right`` in front of it: the continuations of a question."""
    return tuple([right + name for name in names])


def check_places(template: str) -> None:
    """Raise :class:`BadInput` for a template without exactly one ``[X]`` and one ``[Y]``."""
    for place in ("[X]", "[Y]"):
        if template.count(place) != 1:
            raise BadInput(
                f"template {template!r} has {place} {template.count(place)} times, and needs it once"
            )


def check_between(shot_separator: str) -> None:
    """Raise :class:`BadInput` for an empty separator: a pair must end somewhere."""
    if not shot_separator:
        raise BadInput("the separator between shots must not be empty")


def check_not_shown(fact: Fact, shown: set[str]) -> None:
    """Raise :class:`BadInput` for a fact whose subject is among those that the prompt shows."""
    if fact.subject in shown:
        raise BadInput(f"{fact.subject!r} is both shown and asked in {fact.relation}")


@functools.cache
def _table_5() -> dict[str, dict[str, str]]:
    """The paper's templates: relation -> ("hgp-1" ... "mmp-3") -> template."""
    found: dict[str, dict[str, str]] = {}
    for _, row in read(DATA / "papers" / "iclke_table5_templates.csv"):
        name = f"{row['kind'].lower()}-{row['index']}"
        words = row["template"].replace("{subject}", "[X]")
        found.setdefault(row["relation"], {})[name] = f"{words} [Y]"
    return found


def templates_of(relation: Relation) -> dict[str, str]:
    """The templates of a relation by name: ``template-1`` and so on, and the paper's.

    ``hgp-1`` to ``hgp-3`` were written by people, ``mmp-1`` to ``mmp-3`` mined from text; the paper
    prints them for 12 relations (IC-D4, its Table 5), and fewer than six for two of these. They are
    a relation's if its ``paper_relation`` is one of the 12.

    >>> templates_of(Relation("P36", (), paper_relation="capital"))["mmp-1"]
    '[X] united states embassy in [Y]'
    """
    own = dict(zip(TEMPLATES, relation.templates, strict=False))
    return own | _table_5().get(relation.paper_relation, {})


def with_templates(fact_set: str, relations: Sequence[str] = ()) -> list[str]:
    """The relations of a fact set for which the paper prints templates: all, or those of ``relations``.

    Raises :class:`BadInput`, which names them, for relations without, and where there are none with.
    """
    names = sets.relations(fact_set)
    have = [name for name in names if HUMAN[0] in templates_of(sets.load(fact_set, name))]
    without = [name for name in relations if name not in have]
    if without or not have:
        raise BadInput(
            f"{', '.join(without) or 'relations'} of {fact_set}: no templates in the paper's Table 5; "
            f"these have some: {', '.join(have) or 'none'}"
        )
    return list(relations) or have


def asking(
    estimator: str,
    relation: Relation,
    shots: Sequence[Fact],
    facts: Sequence[Fact],
    options: Sequence[Sequence[str]],
) -> list[Prompt]:
    """The prompts of an estimator by its name.

    The name is one of ``SEPARATORS``; or the name of a template (:func:`templates_of`), which leaves the
    shots out; or such a name after ``iclke-``, as in ``iclke-hgp-1``: the shots as sentences of this
    template, with a space between them (IC-S4). Raises :class:`BadInput` for another name, for a template
    that the relation does not have, and as :func:`many_shot` and :func:`template` do.
    """
    if estimator in SEPARATORS:
        inside, between = SEPARATORS[estimator]
        return many_shot(shots, facts, options, pair_separator=inside, shot_separator=between)
    if estimator not in ESTIMATORS:
        raise BadInput(f"unknown estimator {estimator!r}; {nearest(estimator, ESTIMATORS)}")
    name = estimator.removeprefix("iclke-")
    has = templates_of(relation)
    if name not in has:
        raise BadInput(
            f"{estimator}: relation {relation.name} has {', '.join(has) or 'no templates'}"
        )
    return template(has[name], facts, options, shots=shots if name != estimator else ())


def pairs_shown(estimators: Sequence[str], n_shots: int) -> int:
    """The number of pairs that some estimators show: ``n_shots``, or 0 where all are templates alone.

    >>> pairs_shown(["template-1", "hgp-1"], 50), pairs_shown(["template-1", "iclke-hgp-1"], 50)
    (0, 50)
    """
    return 0 if {*TEMPLATES, *HUMAN, *MINED}.issuperset(estimators) else n_shots


def of_sample(sample: Sample, estimators: Sequence[str]) -> dict[tuple[str, str], list[Prompt]]:
    """The questions of some estimators about a sample: {(estimator, relation): prompts}.

    ``sample`` comes from :func:`lkecore.facts.drawn.draw`; estimators and errors as in :func:`asking`.
    """
    if len(set(estimators)) < len(estimators) or not estimators:
        raise BadInput(f"estimators {list(estimators)}: must be 1 or more, each once")
    return {
        (estimator, name): asking(
            estimator, drawn.relation, drawn.shots, drawn.facts, drawn.options
        )
        for estimator in estimators
        for name, drawn in sample.items()
    }


def beside_templates(
    sample: Sample, estimators: Sequence[str], *, words: bool = False
) -> dict[tuple[str, str], list[Prompt]]:
    """The questions of some estimators and of all the paper's templates, keyed as in :func:`of_sample`.

    They come relation by relation: ``estimators`` first, then ``hgp-1`` to ``mmp-3``, as far as a relation
    has them. With ``words``, ``iclke-hgp-1`` to ``iclke-mmp-3`` follow: pairs with the words of the template
    inside.
    """
    found = {}
    for name, drawn in sample.items():
        own = [key for key in templates_of(drawn.relation) if key in HUMAN + MINED]
        inside = [f"iclke-{key}" for key in own] if words else []
        found |= of_sample({name: drawn}, [*estimators, *own, *inside])
    return found


def example(estimator: str, sample: Sample, *, n_shots: int = 2) -> str:
    """An estimator's first question as text, with ``n_shots`` shots and ``____`` at the gap."""
    drawn = next(iter(sample.values()))
    one = drawn.shots[:n_shots], drawn.facts[:1], drawn.options[:1]
    prompt = asking(estimator, drawn.relation, *one)[0]
    gap = prompt.continuations[prompt.gold].removesuffix(prompt.options[prompt.gold])
    return f"{prompt.context}{gap}____{prompt.after}"
