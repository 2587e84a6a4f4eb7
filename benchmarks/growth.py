"""Growth: how time and tokens of the scorer grow with facts and with options."""

import statistics
from typing import Any

from benchmarks.methods import ours
from benchmarks.work import N_FACTS, N_OPTIONS, count, draw
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores.tokens import encode

FACTS, OPTIONS = (5, 10, 20, 40), (10, 25, 50, 100)


def draw_all(data: str | None) -> list[tuple[str, int, int, list[Prompt]]]:
    """(what varies, facts of a relation, options of a fact, prompts) of every point."""
    sizes = [("facts", n, N_OPTIONS) for n in FACTS] + [("options", N_FACTS, n) for n in OPTIONS]
    return [(vary, f, o, draw(data, n_facts=f, n_options=o)) for vary, f, o in sizes]


def measure(
    model: Model, points: list[tuple[str, int, int, list[Prompt]]], rounds: int, per_token: float
) -> list[dict[str, Any]]:
    """A row for each point. ``per_token`` is the seconds of one pass per string, for each token."""
    rows = []
    for vary, n_facts, n_options, prompts in points:
        encoded = encode(
            model.tokenizer, prompts, front=model.front, context_length=model.context_length
        )
        counts = count(encoded)
        results = [ours(model, prompts) for _ in range(rounds)]
        rows.append(
            {
                "vary": vary,
                "facts": n_facts,
                "options": n_options,
                **counts,
                "seconds": [r.seconds for r in results],
                "tokens_forwarded": results[-1].tokens,
                "one_by_one_seconds": counts["tokens_one_by_one"] * per_token,
            }
        )
        row = rows[-1]
        print(
            f"growth: {n_facts:2} facts a relation, {n_options:3} options: "
            f"{statistics.median(row['seconds']):6.2f} s, {row['tokens_forwarded']:5} tokens; "
            f"one by one about {row['one_by_one_seconds']:,.0f} s",
            flush=True,
        )
    return rows
