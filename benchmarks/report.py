"""Report: from what was timed to rows, differences and a table."""

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.methods import Method, Place, Result

# Float32, the same sums in another order: a method that differs by more computes something else.
# On an H200, expanded cache and ours lay up to 0.0001 apart; a wrong mask moves some by whole nats.
NATS = 3e-4


def differences(found: dict[Place, float], wanted: dict[Place, float]) -> tuple[int, float, float]:
    """(strings that both have, largest, mean absolute difference in nats)."""
    both = sorted(found.keys() & wanted.keys())
    gaps = np.array([abs(found[place] - wanted[place]) for place in both])
    return len(both), float(gaps.max()), float(gaps.mean())


def winners(found: dict[Place, float]) -> dict[int, int]:
    """The option with the largest log-probability of each prompt; of equal ones the first."""
    best: dict[int, int] = {}
    for i, k in sorted(found):
        if i not in best or found[i, k] > found[i, best[i]]:
            best[i] = k
    return best


def rows(
    methods: Sequence[Method], results: Sequence[Sequence[Result]], elsewhere: Sequence[Any]
) -> list[dict[str, Any]]:
    """A row for each method, from its results in every round.

    ``seconds`` and ``tokens_forwarded`` are those of the ``n_scored`` strings, as measured;
    ``total_seconds`` and ``total_tokens`` are for the whole work: the median, and the tokens, times
    ``factor``. A float32 row is compared with one pass per string, a bfloat16 row with the same
    method in float32; in both dtypes all are compared with ours. ``elsewhere`` are the cores that
    other programs used meanwhile.
    """
    values = {
        (m.name, m.dtype): dict(zip(m.part, of[-1].logprob, strict=True))
        for m, of in zip(methods, results, strict=True)
    }
    table = []
    for method, of, load in zip(methods, results, elsewhere, strict=True):
        found = values[method.name, method.dtype]
        other = ("one by one" if method.dtype == "float32" else method.name, "float32")
        seconds = [result.seconds for result in of]
        row = {
            "method": method.name,
            "dtype": method.dtype,
            "n_scored": len(method.part),
            "factor": method.factor,
            "seconds": seconds,
            "total_seconds": statistics.median(seconds) * method.factor,
            "tokens_forwarded": of[-1].tokens,
            "total_tokens": round(of[-1].tokens * method.factor),
            "other_programs_cores": list(load),
        }
        if other != (method.name, method.dtype):
            row["compared_with"] = " ".join(other)
            n, largest, mean = differences(found, values[other])
            row |= {"n_compared": n, "max_difference": largest, "mean_difference": mean}
        if method.name != "ours":
            n, largest, _ = differences(found, values["ours", method.dtype])
            row |= {"n_compared_to_ours": n, "max_difference_to_ours": largest}
        if method.name == "ours" and method.dtype == "bfloat16":
            before, now = winners(values["ours", "float32"]), winners(found)
            row["facts"] = len(now)
            row["argmax_changes"] = sum(now[i] != before[i] for i in now)
        if of[-1].versions:
            row["versions"] = of[-1].versions
        table.append(row)
    return table


def relate(table: list[dict[str, Any]], floor: dict[str, Any]) -> None:
    """Add to each row ``times_slower`` than ours in its dtype, and ``times_floor``."""
    ours = {r["dtype"]: r["total_seconds"] for r in table if r["method"] == "ours"}
    for row in table:
        row["times_slower"] = row["total_seconds"] / ours[row["dtype"]]
        row["times_floor"] = row["total_seconds"] / floor[row["dtype"]]["seconds"]


def disagreeing(table: Sequence[dict[str, Any]]) -> list[str]:
    """The float32 methods that differ from one pass per string, or from ours, by over ``NATS``.

    One pass per string is slow, so that it has a part of the strings; ours has them all.
    """
    gaps = ("max_difference", "max_difference_to_ours")
    exact = [r for r in table if r["dtype"] == "float32" and r["method"] != "one by one"]
    return [r["method"] for r in exact if max(r.get(gap, 0.0) for gap in gaps) > NATS]


def lines(table: Sequence[dict[str, Any]], inner_prefixes: int) -> list[str]:
    """The table and the differences as text; ``~`` marks what is extrapolated from a part."""
    text = [
        f"{'method':22} {'dtype':9} {'seconds':>10} {'tokens':>11} {'x ours':>8} {'x floor':>8}"
    ]
    for r in table:
        about = "~" if r["factor"] > 1 else ""
        text.append(
            f"{r['method']:22} {r['dtype']:9} {about + format(r['total_seconds'], ',.2f'):>10} "
            f"{about + format(r['total_tokens'], ','):>11} {r['times_slower']:8,.1f} "
            f"{r['times_floor']:8,.2f}"
        )
    text += ["", f"tokens that ours forwards / {inner_prefixes} distinct inner prefixes:"]
    for r in table:
        if r["method"] == "ours":
            text.append(f"  {r['dtype']:9} {r['tokens_forwarded'] / inner_prefixes:.4f}")
    text += ["", "extrapolated (~) by the tokens that the method forwards:"]
    for r in table:
        if r["factor"] > 1:
            text.append(
                f"  {r['method']}, {r['dtype']}: {r['n_scored']} strings, times {r['factor']:.2f}"
            )
    text += ["", "largest differences in nats:"]
    for r in table:
        parts = []
        if "max_difference" in r:
            parts.append(
                f"{r['max_difference']:.1e} (mean {r['mean_difference']:.1e}) to "
                f"{r['compared_with']}, {r['n_compared']} strings"
            )
        if "max_difference_to_ours" in r:
            parts.append(f"{r['max_difference_to_ours']:.1e} to ours, {r['n_compared_to_ours']}")
        if "argmax_changes" in r:
            parts.append(f"another option wins in {r['argmax_changes']} of {r['facts']} facts")
        text.append(f"  {r['method']}, {r['dtype']}: {'; '.join(parts)}")
    return text
