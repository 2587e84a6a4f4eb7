"""Answers: one row a question, from the door that asks to tables, tests and verdicts."""

from lkecore.answers.blanks import READ_BY, any_causal, ask_blanks, ask_taught, at_blanks
from lkecore.answers.columns import columns
from lkecore.answers.door import ask, carried, likeliest, opened
from lkecore.answers.groups import ask_groups
from lkecore.answers.kept import collect, keep
from lkecore.answers.lab import beside_truth
from lkecore.answers.pairs import ask_pairs
from lkecore.answers.results import agree, results
from lkecore.answers.shipped import (
    alone,
    beside,
    beside_models,
    made_by,
)
from lkecore.answers.show import words
from lkecore.answers.tables import (
    accuracy,
    across,
    bounds,
    over_relations,
    paired,
    texts,
)
from lkecore.answers.verdicts import (
    judge,
    judge_ways,
    of_this_page,
    tested,
    verdicts,
)
from lkecore.answers.written import write

__all__ = [
    "READ_BY", "accuracy", "across", "agree", "alone", "any_causal", "ask", "ask_blanks",
    "ask_groups", "ask_pairs", "ask_taught", "at_blanks", "beside", "beside_models",
    "beside_truth", "bounds", "carried", "collect", "columns",
    "judge", "judge_ways", "keep", "likeliest", "made_by",
    "of_this_page", "opened", "over_relations", "paired", "results",
    "tested", "texts", "verdicts", "words", "write",
]  # fmt: skip
