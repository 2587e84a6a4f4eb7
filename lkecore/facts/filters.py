"""Filters: leave out facts that are too easy to guess, or that a kind of model cannot be asked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lkecore.errors import BadInput
from lkecore.facts.fact import Fact, Relation
from lkecore.facts.tables import fold


def single_token(relation: Relation, tokenizers: Sequence[Any]) -> Relation:
    """The facts whose object is one token for each of ``tokenizers`` (LAMA's filter).

    An object counts as it stands inside a text, after a word and a space: a byte-level BPE then
    has the space in the token ("Ġ" and the name), SentencePiece the mark "▁" in its place, and
    WordPiece neither. So what is counted is how many tokens "is" grows by when the object follows.
    The unknown token does not count as one. The options of a fact stay as they are. The others count as
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


def without_string_match(relation: Relation) -> Relation:
    """The facts whose object does not stand in the name of the subject, letter case aside.

    This is the first of the two filters that make LAMA-UHN of LAMA (Poerner et al. 2020): "Apple
    Watch, made by Apple" tells nothing of a model's knowledge. The second one, for person names,
    asks a BERT which names sound like which places; it is not here, so what is left is more than
    LAMA-UHN. The others count as ``left_out``. Raises :class:`BadInput` when no fact is left.
    """
    facts = tuple(f for f in relation.facts if fold(f.object) not in fold(f.subject))
    if not facts:
        raise BadInput(f"relation {relation.name}: every subject holds its object in its name")
    return _only(relation, facts)


def _only(relation: Relation, facts: tuple[Fact, ...]) -> Relation:
    left_out = relation.left_out + len(relation.facts) - len(facts)
    return replace(relation, facts=facts, left_out=left_out)
