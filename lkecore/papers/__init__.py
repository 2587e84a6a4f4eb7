"""Papers: their published numbers and claims, and how our results compare with them."""

from lkecore.papers.published import (
    property_names,
    table,
    table_5,
)
from lkecore.papers.verdict import (
    DECIDED,
    ONE_EACH,
    claim_verdict,
    claims,
)

__all__ = [
    "DECIDED", "ONE_EACH", "claim_verdict", "claims",
    "property_names", "table",
    "table_5",
]  # fmt: skip
