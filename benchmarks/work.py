"""Work: the questions that all methods are timed on, as plain data, and what any method must do.

W1 is three relations of T-REx with 20 facts each, 100 options and 50 shots: 6,000 strings. Without
T-REx the same sizes are drawn from the atlas.

The model has to read every *inner prefix* of the strings, which is every beginning that has
something after it. Two strings that begin alike share a prefix, so an exact method computes each
distinct one at least once, and it computes a row of the head wherever a scored token is read.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from lkecore import facts, prompts
from lkecore.prompts.prompt import Prompt
from lkecore.scores.tokens import Encoded

TREX = ("P36", "P17", "P19")
ATLAS = ("capital", "country_of_city", "film_director")
N_FACTS, N_OPTIONS, N_SHOTS, SEED = 20, 100, 50, 0


def draw(
    data: str | None = None,
    *,
    names: Sequence[str] | None = None,
    n_facts: int = N_FACTS,
    n_options: int = N_OPTIONS,
) -> list[Prompt]:
    """The prompts of three relations of T-REx in the folder ``data``, or of the atlas without one.

    ``names`` are others than these three.

    Raises :class:`lkecore.errors.BadInput` for data that lack a relation or have too few facts.
    """
    drawn = []
    for name in names or (TREX if data else ATLAS):
        relation = facts.load(data or "atlas", name)
        train, test = facts.divide(relation)
        asked = facts.draw_facts(test, n_facts, SEED)
        drawn += prompts.many_shot(
            facts.draw_shots(train, N_SHOTS, SEED),
            asked,
            facts.draw_options(asked, relation.objects, n_options, SEED),
            pair_separator=" ",
            shot_separator="\n",
        )
    return drawn


def plain_data(drawn: Sequence[Prompt]) -> list[dict[str, Any]]:
    """The prompts as JSON: relation, fact, context and continuations."""
    return [
        {
            "relation": p.relation,
            "fact": p.fact,
            "context": p.context,
            "continuations": list(p.continuations),
        }
        for p in drawn
    ]


def digest(drawn: Sequence[Prompt]) -> str:
    """SHA-256 over all strings: two benchmarks with one digest had the same work."""
    return hashlib.sha256(json.dumps(plain_data(drawn)).encode()).hexdigest()


def count(encoded: Sequence[Encoded]) -> dict[str, int]:
    """What the work holds, counted string by string.

    - ``strings``: options of all facts;
    - ``tokens_one_by_one``: tokens of all strings, which one forward pass per string computes;
    - ``inner_prefixes``: distinct beginnings with something after them, over all strings;
    - ``head_rows``: those of them after which a scored token is read.
    """
    number: dict[tuple[int, int], int] = {}  # (prefix, next token) -> the prefix one longer
    read: set[int] = set()
    strings = tokens = 0
    for each in encoded:
        for sequence, start in zip(each.sequences, each.starts, strict=True):
            strings += 1
            tokens += len(sequence)
            prefix = 0
            for length, token in enumerate(sequence[:-1], start=1):
                prefix = number.setdefault((prefix, token), len(number) + 1)
                if length >= start:
                    read.add(prefix)
    return {
        "strings": strings,
        "tokens_one_by_one": tokens,
        "inner_prefixes": len(number),
        "head_rows": len(read),
    }


def first_facts(drawn: Sequence[Prompt], n_options: int) -> list[tuple[int, int]]:
    """A part of the work: of the first fact of each relation, the first ``n_options`` options.

    Strings are named by (number of the prompt, number of the option) everywhere in the benchmark.
    """
    first = {p.relation: i for i, p in reversed(list(enumerate(drawn)))}
    return [(i, k) for i in sorted(first.values()) for k in range(n_options)]


def whole(drawn: Sequence[Prompt]) -> list[tuple[int, int]]:
    """All strings of the work."""
    return [(i, k) for i, p in enumerate(drawn) for k in range(len(p.options))]


def row_tokens(
    encoded: Sequence[Encoded], part: Sequence[tuple[int, int]], *, grouped: bool = False
) -> int:
    """Tokens of a part of the work where every row goes through the model alone, without padding.

    A row is a whole string. With ``grouped`` it is a string without its last token, and strings of
    a fact that differ in nothing else are one row.
    """
    rows = {i: encoded[i].sequences for i in {i for i, _ in part}}
    if not grouped:
        return sum(len(rows[i][k]) for i, k in part)
    return sum(len(row) for _, row in {(i, rows[i][k][:-1]) for i, k in part})
