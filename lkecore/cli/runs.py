"""``lke run``, ``status`` and ``fetch``: carry out a params file."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from lkecore.errors import BadInput, visible
from lkecore.progress import say
from lkecore.runs import devices

MODELS_LOCK = Path("params", "models.lock")


def use_lock(path: Path) -> None:
    """Use the revisions of a lock file, also in processes that we start."""
    if path.is_file():
        os.environ.setdefault("LKE_MODELS_LOCK", str(path.absolute()))


def _shard(context: click.Context, option: click.Parameter, value: str) -> tuple[int, int]:
    i, _, n = value.partition("/")
    if not (i.isdecimal() and n.isdecimal() and 1 <= int(i) <= int(n)):
        raise BadInput(f"--{option.name} must be i/n with i from 1 to n, found {value!r}")
    return int(i), int(n)


def _devices(context: click.Context, option: click.Parameter, value: str | None) -> Any:
    return None if value is None else tuple(d for d in value.replace(" ", "").split(",") if d)


RUNS = click.option(
    "--runs", "folder", type=click.Path(path_type=Path), help="default: runs/ of the project"
)


PARAMS = click.argument("params", type=click.Path(path_type=Path))


COUNT = click.IntRange(min=1)


def read_plan_of(params: Path) -> Any:
    """The plan of a params file. Its project's models.lock decides the revisions of its models."""
    from lkecore.runs.plan import read_plan

    use_lock(params.absolute().parent.parent / MODELS_LOCK)
    return read_plan(params)


@click.command("run")
@PARAMS
@RUNS
@click.option("--jobs", type=COUNT, help="at a time; default: one for each CUDA device, else one")
@click.option("--threads", type=COUNT, help="of each job; default: cores divided by jobs")
@click.option(
    "--devices", callback=_devices, help='CUDA devices, as 0,1,2, or "" for none; default: all'
)
@click.option(
    "--devices-per-job", type=COUNT, default=1, show_default=True, help="for large models"
)
@click.option("--retries", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="seconds for a job")
@click.option("--shard", default="1/1", callback=_shard, help="i/n: the i-th of n parts; no pages")
@click.option(
    "--worker", default="1/1", callback=_shard, help="i/n: begin at the i-th of n places; take all"
)
@click.option("--leave", is_flag=True, help="end when others are at all that is left")
@click.option("--offline", is_flag=True, help="fail at once if a model or facts must be fetched")
@click.option("--only", multiple=True, help="this notebook of PARAMS; may be given again, or a,b")
@click.option("--dry-run", is_flag=True, help="list jobs, memory and tokens; run nothing")
def run_plan(
    params: Path, folder: Path | None, only: tuple[str, ...], dry_run: bool, **given: Any
) -> None:
    """Run the notebooks of PARAMS, a file in params/; what is finished is kept."""
    from lkecore.runs.plan import only as rows_of

    settings = devices.Settings(**given)
    if settings.shard[1] > 1 and settings.worker[1] > 1:
        raise BadInput("--worker takes of all runs and --shard a part of them: give one of the two")
    if settings.leave and dry_run:
        raise BadInput("--leave is for a run, and --dry-run runs nothing: give one of the two")
    if settings.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"  # before the hub's client is imported
    plan = read_plan_of(params)
    if names := [name.strip() for each in only for name in each.split(",") if name.strip()]:
        plan = rows_of(plan, names)
    target = folder or plan.project / "runs"
    if dry_run:
        _print_cost(plan, target, settings)
    else:
        carry_out(plan, target, settings)


def carry_out(plan: Any, target: Path, settings: Any) -> None:
    """Make the runs that are not finished, and print the result; the exit code is 1 if something failed."""
    from lkecore.runs import grid

    _check_servers(plan)
    try:
        outcome = grid.execute(plan, target, settings)
    except KeyboardInterrupt:
        say("lke: stopped; what is finished is kept, the same command goes on", err=True)
        sys.exit(130)
    for label, reason in outcome.failed.items():
        say(f"lke: failed: {label}: {reason}", err=True)
    counts = map(len, (outcome.finished, outcome.others, outcome.before, outcome.failed))
    if outcome.left:
        say(f"{len(outcome.left)} left to others, who are at them", err=True)
    said = "{} made here, {} made by others meanwhile, {} finished before, {} failed"
    say(said.format(*counts), err=True)
    if outcome.failed:
        sys.exit(1)


def _check_servers(plan: Any) -> None:
    """Raise :class:`BadInput` where a model's server cannot be asked, or not a notebook's questions."""
    from lkecore import runs
    from lkecore.models import served, weights
    from lkecore.runs import forecast

    jobs: dict[Path, Any] = {}
    for each in plan.jobs:
        for name in filter(weights.is_served, runs.models_of(each.effective)):
            served.who(name)
            jobs.setdefault(each.notebook, each)
    for each in jobs.values():
        if (said := forecast.expected_tokens(each)[2]).startswith(forecast.FAILS):
            raise BadInput(f"{each.label}: {said}")


def _print_cost(plan: Any, target: Path, settings: Any) -> None:
    from lkecore.runs import design, forecast

    i, n = settings.shard
    jobs = list(plan.jobs[i - 1 :: n])
    labels = [visible(each.label) for each in jobs]
    width = max(map(len, labels), default=3)
    say(f"{'job':{width}}  state     memory      tokens  from cache")
    tokens, failing = 0, False
    for label, each in zip(labels, jobs, strict=True):
        row = forecast.cost(each, target)
        memory = "?" if row["model_bytes"] is None else f"{row['model_bytes'] / 2**30:.1f} GiB"
        counted = [("-" if row[k] is None else f"{row[k]:,}") for k in ("tokens", "from_cache")]
        line = f"{label:{width}}  {row['state']:8}  {memory:>6}  {counted[0]:>10}  {counted[1]:>10}"
        say(f"{line}  {row['remark']}".rstrip())
        tokens += (row["tokens"] or 0) - (row["from_cache"] or 0)
        failing |= row["remark"].startswith(forecast.FAILS)
    pages = sum(row.has_page for row in plan.rows) if n == 1 else 0
    for line in design.says(plan):
        say(line)
    say(f"runs: {len(jobs)}, pages over several: {pages}, tokens to forward: {tokens:,}")
    if failing:
        sys.exit(1)


@click.command("status")
@PARAMS
@RUNS
def show_status(params: Path, folder: Path | None) -> None:
    """List the runs and pages of PARAMS: finished, failed, running or waiting.

    The exit code is 0 when all are finished, else 1.
    """
    from lkecore import runs
    from lkecore.runs import forecast

    plan = read_plan_of(params)
    target = folder or plan.project / "runs"
    runs.check_format(target)
    rows = [(visible(label), *rest) for label, *rest in forecast.status(plan, target)]
    width = max(len(label) for label, _, _ in rows)
    for label, state, remark in rows:
        say(f"{label:{width}}  {state:8}  {remark}".rstrip())
    if any(state != "finished" for _, state, _ in rows):
        sys.exit(1)


@click.command("verify")
@click.option(
    "--runs", "folder", type=click.Path(path_type=Path), default=Path("runs"), show_default=True
)
@click.option("--aside", is_flag=True, help="move what is named into .aside/ beside it")
def show_damaged(folder: Path, aside: bool) -> None:
    """Compare finished runs, score files and models of the cache with what was written.

    Each damaged file or folder, and each leftover of a dead process, is one line, and the exit code is 1.
    Nothing is deleted.
    """
    from lkecore.runs import verify

    if not folder.is_dir():
        raise BadInput(f"{folder}: no folder of runs; name one with --runs")
    found = list(verify.damaged(folder))
    for path, why in found:
        say(f"{path}: {why}" + (f"; now {verify.set_aside(path)}" if aside else ""))
    if found:
        sys.exit(1)
    say("all is as it was written")


@click.command("fetch")
@PARAMS
def fetch(params: Path) -> None:
    """Fetch the models and facts of PARAMS, for a later run without a network."""
    from lkecore.runs import prepare

    plan = read_plan_of(params)
    reasons = prepare.prepare(plan.jobs)
    ready = [each for each in plan.jobs if each.label not in reasons]
    for name in dict.fromkeys(name for each in ready for _, name in prepare.needs(each)):
        say(f"{name}: on this machine")
    for reason in dict.fromkeys(reasons.values()):
        say(f"lke: failed: {reason}", err=True)
    if reasons:
        sys.exit(1)
