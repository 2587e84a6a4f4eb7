"""Time the scorer against its peers: python -m benchmarks.scorer [MODEL] [--data FOLDER] ...

All methods score the same strings (benchmarks/work.py). They take turns in rounds, and medians are
compared. Slow ones score a part of the work, and the table marks what is extrapolated. The table
also says how far each method is from the floor, the time that this machine needs for the
multiplications alone. The benchmark fails if two methods do not agree about the numbers.
"""

import json
import math
import os
import platform
import shutil
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from benchmarks import floor, growth, report, work
from benchmarks.methods import Method, Result, all_methods, seconds_elsewhere
from lkecore import models, runs
from lkecore.errors import BadInput
from lkecore.models.model import Model
from lkecore.scores.tokens import encode
from lkecore.storage import write_whole


def cpu_name() -> str:
    """The processor's name as the system gives it."""
    info = Path("/proc/cpuinfo")
    names = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    named = [line.split(":", 1)[1].strip() for line in names if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def take_turns(
    methods: list[Method], model: Model, rounds: int
) -> tuple[list[list[Result]], list[list[float]], dict[str, list[float]]]:
    """(results, cores that others used) of each method in every round; matrix rates by dtype.

    Raises :class:`BadInput` for a log-probability that is no finite number.
    """
    import torch

    results: list[list[Result]] = [[] for _ in methods]
    elsewhere: list[list[float]] = [[] for _ in methods]
    rates: dict[str, list[float]] = {method.dtype: [] for method in methods}
    for turn in range(1, rounds + 1):
        for method, of, load in zip(methods, results, elsewhere, strict=True):
            if method.name == "ours":  # side by side, since a machine has slow and fast minutes
                dtype = getattr(torch, method.dtype)
                rates[method.dtype].append(floor.matrix_rate(dtype, model.network.device))
            before, start = seconds_elsewhere(), time.perf_counter()
            result = method.run()
            others = seconds_elsewhere() - before
            load.append(round(max(0.0, others) / (time.perf_counter() - start), 2))
            if not all(map(math.isfinite, result.logprob)):
                raise BadInput(f"{method.name} in {method.dtype} gives NaN or infinity")
            of.append(result)
            print(
                f"round {turn} of {rounds}: {method.name}, {method.dtype}: {result.seconds:.2f} s "
                f"for {len(method.part)} strings (other programs: {load[-1]:.1f} cores)",
                flush=True,
            )
    return results, elsewhere, rates


def times_slower(dtype: str, device: str) -> float:
    """How many times longer a product takes in a dtype than in float32, by a small one.

    A processor without instructions for bfloat16 takes fifty times longer, and then a round takes hours.
    """
    import torch

    rates = [
        floor.matrix_rate(getattr(torch, each), device, size=512) for each in ("float32", dtype)
    ]
    return rates[0] / rates[1]


def floors(rates: dict[str, list[float]], counts: dict[str, int], network: Any) -> dict[str, Any]:
    """The floor in seconds for each dtype, from the median rate of the rounds, and what it is made of."""
    body, head = floor.parameters(network)
    products = floor.multiply_adds(counts, body, head)
    of = {
        dtype: {
            "multiply_adds_per_second": statistics.median(found),
            "of_each_round": found,
            "seconds": products / statistics.median(found),
        }
        for dtype, found in rates.items()
    }
    return {"multiply_adds": products, "body_parameters": body, "head_parameters": head, **of}


def about(model: Model, name: str, data: str | None, rounds: int, peers: str) -> dict[str, Any]:
    """What was timed, when, on which machine and with which versions."""
    import torch

    # Folders by their last name only: a path says nothing on another machine.
    command = f"python -m benchmarks.scorer {Path(name).name} --rounds {rounds}"
    command += (f" --data {Path(data).name}" if data else "") + (" --peers PYTHON" if peers else "")
    meta = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "model": Path(name).name,
        "model_digest": model.digest,
        "add_bos": bool(model.front),
        "device": model.device,
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "rounds": rounds,
        "versions": runs.versions(),
        "work": {
            "facts": Path(data).name if data else "atlas",
            "relations": list(work.TREX if data else work.ATLAS),
            "shots": work.N_SHOTS,
        },
    }
    if model.device.startswith("cuda"):
        meta["gpu"] = torch.cuda.get_device_name(model.device)
    return meta


def bench(name: str, data: str | None, rounds: int, peers: str, out: Path | None) -> int:
    """Time, print, write ``out``; or write nothing and return 1 if a method's numbers are off.

    Raises :class:`BadInput` for what is named wrongly, before anything is loaded.
    """
    if peers and not shutil.which(peers):
        raise BadInput(f"--peers {peers}: no such program; make bench makes the environment")
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise BadInput(f"--out {out}: must name a file in a folder that there is")
    prompts, points = work.draw(data), growth.draw_all(data)
    model = models.open_model(name)
    slower = times_slower("bfloat16", model.device)
    half = models.open_model(name, dtype="bfloat16") if slower < 4 else None
    encoded = encode(
        model.tokenizer, prompts, front=model.front, context_length=model.context_length
    )
    counts = work.count(encoded)
    methods = all_methods(model, half, prompts, encoded, peers)
    meta = about(model, name, data, rounds, peers)
    meta["work"] |= {"digest": work.digest(prompts), **counts}
    print(
        f"{meta['model']}, {model.device}, {meta['cpu']}, {meta['threads']} threads; "
        f"{counts['strings']} strings of {len(prompts)} facts, {work.N_SHOTS} shots, "
        f"{counts['inner_prefixes']} distinct inner prefixes",
        flush=True,
    )
    if not peers:
        print("peers are left out: make bench installs and times them (--peers PYTHON)")
    if half is None:
        print(f"bfloat16 is left out: a product takes {slower:.0f} times as long in it here")
    for method in methods:
        if method.name == "ours":
            method.run()  # loads the weights and finds the way that fits this architecture
    results, elsewhere, rates = take_turns(methods, model, rounds)
    table = report.rows(methods, results, elsewhere)
    least = floors(rates, counts, model.network)
    report.relate(table, least)
    slow = next(r for r in table if r["method"] == "one by one")
    per_token = statistics.median(slow["seconds"]) / slow["tokens_forwarded"]
    grown = growth.measure(model, points, rounds, per_token)
    print()
    for dtype in rates:
        rate = least[dtype]["multiply_adds_per_second"]
        print(
            f"floor in {dtype}: {least['multiply_adds'] / 1e9:,.0f} x 10^9 multiply-adds at "
            f"{rate / 1e9:,.0f} x 10^9 a second: {least[dtype]['seconds']:.2f} s"
        )
    print("", *report.lines(table, counts["inner_prefixes"]), sep="\n")
    wrong = report.disagreeing(table)
    if wrong:
        print(
            f"benchmark: {', '.join(wrong)}: more than {report.NATS} nats from one pass per string, "
            "or from ours",
            file=sys.stderr,
        )
        return 1
    if out is not None:
        content = {"meta": meta, "methods": table, "floor": least, "growth": grown}
        write_whole(out, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return 0


@click.command()
@click.argument("model", default="smollm2")
@click.option("--data", help="folder of T-REx, with P36, P17 and P19; default: the atlas")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1))
@click.option("--peers", default="", help="Python of an environment with the peers")
@click.option("--out", type=click.Path(path_type=Path), help="JSON file to write")
def main(model: str, data: str | None, rounds: int, peers: str, out: Path | None) -> None:
    """Time the scorer against its peers."""
    try:
        sys.exit(bench(model, data, rounds, peers, out))
    except BadInput as error:
        print(f"benchmark: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
