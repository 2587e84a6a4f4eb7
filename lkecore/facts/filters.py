"""Filters: leave out facts that are too easy to guess, or that some kind of model cannot be asked."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.facts.fact import Fact, Relation
from lkecore.facts.sample import distractors
from lkecore.facts.tables import fold


def single_token(relation: Relation, tokenizers: Sequence[Any]) -> Relation:
    """The facts whose object is one token for each of ``tokenizers`` (LAMA's filter).

    An object counts in the form that it has inside a text, after a word and a space. There a byte-level BPE
    has the space in the token ("Ġ" and the name), SentencePiece has the mark "▁" in its place, and WordPiece
    has neither. So the number of tokens is the number by which "is" grows when the object follows. The
    unknown token does not count as one. The options of a fact stay as they are. The other facts count as
    ``left_out``.

    Raises :class:`BadInput` when no fact is left.
    """

    def fits(name: str, tokenizer: Any) -> bool:
        before, after = (
            tokenizer.encode(t, add_special_tokens=False) for t in ("is", f"is {name}")
        )
        return after[:-1] == before and after[-1] != tokenizer.unk_token_id

    names = {fact.object for fact in relation.facts}
    kept = {name for name in names if all(fits(name, tokenizer) for tokenizer in tokenizers)}
    facts = tuple(fact for fact in relation.facts if fact.object in kept)
    if not facts:
        raise BadInput(f"relation {relation.name}: no object is one token for every tokenizer")
    return _only(relation, facts)


def one_token(sample: Sample, tokenizers: Sequence[Any]) -> tuple[Sample, dict[str, int]]:
    """(the facts of a sample that one mask can answer, among such objects; {relation: number left out}).

    The facts are those whose object is one token for each of ``tokenizers``, by :func:`single_token`. Their
    options are all objects of the relation with one token, without others that are true of the subject. The
    facts to show stay. A relation without such a fact is left out of the sample, and counted like every
    other. Raises :class:`BadInput` when no fact is left.
    """
    found, others = {}, {}
    for name, drawn in sample.items():
        try:
            kept = single_token(drawn.relation, tokenizers)
        except BadInput:
            kept = replace(drawn.relation, facts=())
        ids, objects = {fact.id for fact in kept.facts}, kept.objects
        facts = tuple(fact for fact in drawn.facts if fact.id in ids)
        others[name] = len(drawn.facts) - len(facts)
        if facts:
            wrong = [set(distractors(fact, objects)).intersection(objects) for fact in facts]
            options = [
                tuple(sorted({f.object, *names})) for f, names in zip(facts, wrong, strict=True)
            ]
            found[name] = replace(drawn, facts=facts, options=tuple(options))
    if not found:
        raise BadInput(
            f"relations {', '.join(sample)}: no asked object is one token for every tokenizer"
        )
    return found, others


def stands_in(name: str, text: str) -> bool:
    """Whether a text has the words of a name, one after the other, in any letter case and form of accents.

    >>> stands_in("new york", "Parliament of New York"), stands_in("York", "Yorkshire")
    (True, False)
    """
    its, where = (" ".join(re.findall(r"\w+", fold(each))) for each in (name, text))
    return bool(its) and f" {its} " in f" {where} "


def echoes(fact: Fact) -> bool:
    """Whether the subject's name gives an answer away: a true object's name is in it (:func:`stands_in`)."""
    return any(stands_in(name, fact.subject) for name in fact.true_names)


def without_echo(relation: Relation) -> Relation:
    """The facts whose subject's name does not have a true object's name in it (:func:`echoes`).

    This is the first step of LAMA-UHN, the base of BELIEF's facts. Its second step, which asks a model which
    people's names hint at a country, is not done here. The other facts count as ``left_out``. Raises
    :class:`BadInput` when no fact is left.
    """
    facts = tuple(fact for fact in relation.facts if not echoes(fact))
    if not facts:
        raise BadInput(f"relation {relation.name}: every subject's name has a true object in it")
    return _only(relation, facts)


def _only(relation: Relation, facts: tuple[Fact, ...]) -> Relation:
    left_out = relation.left_out + len(relation.facts) - len(facts)
    return replace(relation, facts=facts, left_out=left_out)
