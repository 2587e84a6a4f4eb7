"""Papers: what they published and claim, and how ours stands beside it."""

from lkecore.papers.published import (
    property_names,
    table,
    table_5,
)
from lkecore.papers.verdict import (
    DECIDED,
    ONE_EACH,
    VERDICTS,
    claim_verdict,
    claims,
    method_of,
    over_of,
    verdicts,
)

__all__ = [
    "DECIDED", "ONE_EACH", "VERDICTS", "claim_verdict", "claims",
    "method_of", "over_of", "property_names", "table",
    "table_5", "verdicts",
]  # fmt: skip
