"""Facts: what to ask about. The first of the five steps, and the vocabulary of all."""

from lkecore.facts.drawn import Drawn, Sample, check_facts, draw, examples, fewer, overview
from lkecore.facts.fact import Fact, Relation
from lkecore.facts.filters import single_token
from lkecore.facts.sample import (
    divide,
    draw_facts,
    draw_options,
    draw_shots,
    has_splits,
    max_options,
    of_subjects,
    passes_trex_mc,
)
from lkecore.facts.sets import content_digest, is_ours, is_ready, is_remote, load, relations, unread

__all__ = [
    "Drawn", "Fact", "Relation", "Sample", "check_facts", "content_digest", "divide", "draw", "draw_facts",
    "draw_options", "draw_shots", "examples", "fewer", "has_splits", "is_ours", "is_ready", "is_remote",
    "load", "max_options", "of_subjects", "overview", "passes_trex_mc", "relations", "single_token",
    "unread",
]  # fmt: skip
