"""Papers: what they published and claim, and how ours stands beside it."""

from lkecore.papers.order import figure_5_order, figure_13
from lkecore.papers.published import (
    DATES,
    property_names,
    starred,
    table,
    table_1_beside,
    table_5,
    table_7,
)
from lkecore.papers.tuned import table_10_bars, table_10_beside, table_10_verdicts
from lkecore.papers.verdict import (
    DECIDED,
    ONE_EACH,
    VERDICTS,
    claim_verdict,
    claims,
    method_of,
    number_verdict,
    over_of,
    table_1_verdicts,
    verdicts,
)

__all__ = [
    "DATES", "DECIDED", "ONE_EACH", "VERDICTS", "claim_verdict", "claims", "figure_13",
    "figure_5_order", "method_of", "number_verdict", "over_of", "property_names", "starred", "table",
    "table_10_bars", "table_10_beside", "table_10_verdicts", "table_1_beside", "table_1_verdicts", "table_5",
    "table_7", "verdicts",
]  # fmt: skip
