"""Worlds: invented facts, and texts of which we know how often and in which form they state each fact.

A plain world, ``lab:book-1``, is read from a file; a rich one, ``lab:rich-1``, is made. The functions here
take the name of either.
"""

from lkecore.worlds.either import (
    about,
    check,
    digest,
    digest_beside,
    documents,
    instructions,
    is_rich,
    is_spec,
    relations,
    rows,
    states,
    told_objects,
)

__all__ = [
    "about", "check", "digest", "digest_beside", "documents", "instructions", "is_rich", "is_spec",
    "relations", "rows", "states", "told_objects",
]  # fmt: skip
