"""Peak memory of the scorer under its bound: python -m benchmarks.memory [MODEL] [--data FOLDER].

``memory_gb`` bounds what scoring takes beside the model. For each bound a fresh process loads the
model, scores one fact, and then measures how far the peak of its memory grows over one scoring
call. On Linux the peak is the kernel's own, set back before the call; on other systems it cannot be
set back, and what loading took may hide growth; on CUDA it is the allocator's.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click

from benchmarks import work
from lkecore import models
from lkecore.errors import BadInput
from lkecore.scores.tree import option_logprobs

BOUNDS = (0.25, 1.0)
GIB = 2**30


def status(field: str) -> int:
    """Bytes that Linux gives for this process: VmRSS is memory in use, VmHWM its peak."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def growth_of_peak(call: Callable[[], object], device: str) -> int:
    """Bytes by which the peak of memory during ``call`` exceeds what was in use before."""
    if device.startswith("cuda"):
        import torch

        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        call()
        return torch.cuda.max_memory_allocated(device) - before
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak starts anew
        before = status("VmRSS")
        call()
        return status("VmHWM") - before
    import resource  # not on every system

    unit = 1 if sys.platform == "darwin" else 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit


def measure(name: str, data: str | None, bound: float) -> dict[str, float]:
    """In this process: load, then score all of the work under a bound of ``bound`` GiB."""
    prompts = work.draw(data)
    model = models.open_model(name)
    # Weights come into memory when they are first read, and libraries when they are first used: a
    # first fact takes what is not working memory.
    option_logprobs(model, prompts[:1], use_cache=False, memory_gb=bound)
    scored = []
    grown = growth_of_peak(
        lambda: scored.append(option_logprobs(model, prompts, use_cache=False, memory_gb=bound)),
        model.device,
    )
    return {"bound_gib": bound, "peak_gib": grown / GIB, "seconds": scored[0].seconds}


@click.command()
@click.argument("model", default="smollm2")
@click.option("--data", help="folder of T-REx, with P36, P17 and P19; default: the atlas")
@click.option("--bound", type=float, hidden=True)
def main(model: str, data: str | None, bound: float | None) -> None:
    """Measure the scorer's peak memory; exit code 1 if it is beyond a bound."""
    try:
        if bound is not None:
            print(json.dumps(measure(model, data, bound)))
            return
        work.draw(data)  # bad input is one line here, before anything is loaded
        models.open_model(model)
    except BadInput as error:
        print(f"benchmark: {error}", file=sys.stderr)
        sys.exit(2)
    beyond = False
    for each in BOUNDS:
        command = [sys.executable, "-m", "benchmarks.memory", model, "--bound", str(each)]
        done = subprocess.run(
            command + (["--data", data] if data else []), stdout=subprocess.PIPE, text=True
        )
        if done.returncode:
            sys.exit(done.returncode)
        found = json.loads(done.stdout.splitlines()[-1])
        beyond |= found["peak_gib"] > each
        print(
            f"bound {each:.2f} GiB: peak {found['peak_gib']:.2f} GiB beside the model, "
            f"{found['seconds']:.1f} s{' BEYOND' if found['peak_gib'] > each else ''}",
            flush=True,
        )
    sys.exit(1 if beyond else 0)


if __name__ == "__main__":
    main()
