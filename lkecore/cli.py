"""The ``lke`` command: run notebooks, build the book, score one relation, look at models and facts."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from lkecore import __version__, facts
from lkecore.rows import BadInput, nearest

ESTIMATORS = ("ic-lke",)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lke")
def lke() -> None:
    """What facts does a language model know, and how sure can we be?"""


def main() -> None:
    """Entry point: what the user can mend is one line on standard error and exit code 2."""
    try:
        sys.exit(lke(sys.argv[1:] or ["--help"], standalone_mode=False))
    except (BadInput, click.ClickException) as error:
        message = str(error) if isinstance(error, BadInput) else error.format_message()
        click.echo(f"lke: {' '.join(message.split())}", err=True)
        sys.exit(2)
    except click.Abort:  # Ctrl-C
        sys.exit(130)


def _separator(context: click.Context, option: click.Parameter, value: str) -> str:
    r"""Shells make it hard to type a line break: \n and \t stand for what they stand for in C."""
    return value.replace("\\n", "\n").replace("\\t", "\t")


@lke.command()
@click.option(
    "--facts", "spec", default="atlas", show_default=True, help="atlas, lab:book-1, folder or file"
)
@click.option("--relation", required=True, help="a relation of the fact set (see lke facts)")
@click.option("--model", "name", default="smollm2", show_default=True, help="see lke models")
@click.option("--estimator", default="ic-lke", show_default=True, help=", ".join(ESTIMATORS))
@click.option("--shots", default=50, show_default=True, help="facts shown as examples")
@click.option("--options", "n_options", default=100, show_default=True, help="options of a fact")
@click.option("--seed", default=0, show_default=True, help="draws shots, facts and options")
@click.option("--limit", type=int, help="ask at most so many facts (a random sample)")
@click.option("--pair-separator", default=" ", callback=_separator, help="default: one space")
@click.option("--shot-separator", default=" ", callback=_separator, help=r"default: one space; \n")
@click.option("--dtype", default="float32", show_default=True)
@click.option("--device", help="cpu, cuda, cuda:N or auto; default: cuda where there is one")
@click.option("--memory-gb", type=float, help="bound of working memory in GiB, without weights")
@click.option("--split", default="test", show_default=True, help="the facts that are asked")
@click.option("--no-cache", is_flag=True, help="neither read nor keep computed scores")
@click.option("--out", required=True, help="folder for the result")
def score(
    spec: str,
    relation: str,
    name: str,
    estimator: str,
    shots: int,
    n_options: int,
    seed: int,
    limit: int | None,
    pair_separator: str,
    shot_separator: str,
    dtype: str,
    device: str | None,
    memory_gb: float | None,
    split: str,
    no_cache: bool,
    out: str,
) -> None:
    """Ask one model about one relation.

    Writes OUT/options.parquet (one row for each fact and option) and prints one line of JSON.
    """
    if estimator not in ESTIMATORS:
        raise BadInput(f"unknown estimator {estimator!r}; {nearest(estimator, ESTIMATORS)}")
    if seed < 0:
        raise BadInput(f"seed must be 0 or more, found {seed}")
    from lkecore import prompts, weights

    weights.check_name(name)
    chosen = facts.load(spec, relation)
    train, test = facts.divide(chosen, split)
    shown = facts.draw_shots(train, shots, seed)
    asked = facts.draw_facts(test, limit, seed)
    options = facts.draw_options(asked, chosen.objects, n_options, seed)
    questions = prompts.many_shot(
        shown, asked, options, pair_separator=pair_separator, shot_separator=shot_separator
    )

    from lkecore import intervals, models
    from lkecore.metrics import iclke
    from lkecore.scores.passes import bound_of
    from lkecore.scores.tree import option_logprobs

    bound_of(memory_gb)
    if not out:
        raise BadInput("--out must name a folder")
    folder = Path(out)
    part = folder / "options.parquet.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.touch()
        part.unlink()
    except OSError as error:
        raise BadInput(f"--out {out}: not a folder to write to ({error.strerror})") from error
    if (folder / "options.parquet").is_dir():
        raise BadInput(f"--out {out}: options.parquet is a folder there")
    model = models.open_model(name, dtype=dtype, device=device)
    scored = option_logprobs(model, questions, memory_gb=memory_gb, use_cache=not no_cache)
    arrays = iclke.to_arrays(scored.frame)
    right = iclke.correct(arrays.logprob, arrays.gold)
    interval = intervals.proportion(int(right.sum()), len(right))

    scored.frame.to_parquet(part, index=False)
    os.replace(part, folder / "options.parquet")
    summary = {
        "accuracy": interval.estimate,
        "interval": [interval.low, interval.high],
        "interval_method": f"{interval.method}, {interval.level:.0%}",
        "n_facts": len(asked),
        "seconds": round(scored.seconds, 3),
        "load_seconds": round(model.load_seconds, 3),
        "tokens_forwarded": scored.tokens_forwarded,
        "from_cache": scored.cached,
        "merged_at_border": scored.merged,
        "facts": spec,
        "relation": relation,
        "model": name,
        "estimator": estimator,
        "shots": shots,
        "options": n_options,
        "seed": seed,
        "limit": limit,
        "pair_separator": pair_separator,
        "shot_separator": shot_separator,
        "dtype": dtype,
        "device": model.device,
        "memory_gb": bound_of(memory_gb),
        "split": split,
        "cache": not no_cache,
        "bos": model.add_bos,
        "out": out,
        "rows_repeated": chosen.repeated,
        "model_digest": model.digest,
        "facts_digest": chosen.digest,
        "version": __version__,
    }
    click.echo(json.dumps(summary, ensure_ascii=False))


@lke.command("facts")
@click.argument("spec", default="atlas")
def list_facts(spec: str) -> None:
    """List the relations of a fact set (default: atlas)."""
    loaded = [facts.load(spec, name) for name in facts.relations(spec)]
    width = max(len(r.name) for r in loaded)
    click.echo(f"{'relation':{width}}  facts  objects  repeated rows  T-REx-MC filter")
    for r in loaded:
        passes = "passes" if facts.passes_trex_mc(r) else "-"
        click.echo(
            f"{r.name:{width}}  {len(r.facts):5}  {len(r.objects):7}  {r.repeated:13}  {passes}"
        )


MODELS_LOCK = Path("params", "models.lock")


def _use_lock(path: Path) -> None:
    """Take the revisions of a lock file, for processes that we start as well."""
    if path.is_file():
        os.environ.setdefault("LKE_MODELS_LOCK", str(path.absolute()))


@lke.group("models", invoke_without_command=True)
@click.option("--papers", is_flag=True, help="list the models of the four papers instead")
@click.option("--path", "name", help="print the folder of this model, fetching it if need be")
@click.pass_context
def list_models(context: click.Context, papers: bool, name: str | None) -> None:
    """List the models that can be named (or print the folder of one)."""
    from lkecore import catalogue, lab, weights

    _use_lock(MODELS_LOCK)
    if context.invoked_subcommand:
        if papers or name is not None:
            raise BadInput("lke models: --papers and --path go without a command")
        return
    if papers and name is not None:
        raise BadInput("lke models: --papers or --path, not both")
    if name is not None:
        click.echo(weights.locate(name))
        return
    if papers:
        click.echo("\n".join(catalogue.listing()))
        return
    for key, text in weights.CATALOGUE.items():
        state = "in the cache" if weights.is_ready(key) else "fetched at first use"
        click.echo(f"{key:12} {text} [{state}]")
    click.echo("or: a local folder, a .gguf file, a hub id org/name or org/name@revision,")
    sizes = ", ".join(lab.RECIPES)
    click.echo(f"or: a model of the lab, lab:SIZE-SEED/MODEL, trained at first use; MODEL: {sizes}")


@list_models.command("convert")
@click.argument("name")
def convert_model(name: str) -> None:
    """Turn the .bin weights of NAME (hub id or folder) into safetensors; print their folder."""
    from lkecore import weights

    click.echo(weights.convert(name))


@list_models.command("lock")
@click.argument("params", nargs=-1, type=click.Path(path_type=Path))
@click.option("--update", is_flag=True, help="ask anew for models that have a revision already")
@click.option(
    "--file",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="LKE_MODELS_LOCK",
    default=MODELS_LOCK,
    help="default: $LKE_MODELS_LOCK, or params/models.lock",
)
def lock_models(params: tuple[Path, ...], update: bool, path: Path) -> None:
    """Ask the hub for the newest revision of the papers' models, or of those that PARAMS name."""
    from lkecore import catalogue, hub, runs
    from lkecore.plan import read_plan

    if not path.parent.is_dir():
        raise BadInput(f"models lock {path}: there is no folder {path.parent} (see --file)")
    named = [m for p in params for job in read_plan(p).jobs for m in runs.models_of(job.effective)]
    # One with a revision of its own needs no lock, and a folder may be called as a hub id.
    wanted = [m for m in named if hub.HUB_ID.fullmatch(m) and "@" not in m and not Path(m).exists()]
    changed, failures = hub.lock(path, wanted if params else catalogue.hub_ids(), update=update)
    for repository, row in sorted(changed.items()):
        click.echo(f"{repository} {row.revision[:12]} {row.weights}, gated: {row.gated}")
    click.echo(f"{path}: {len(changed)} new or changed", err=True)
    for failure in failures:
        click.echo(f"lke: failed: {failure}", err=True)
    if failures:
        sys.exit(1)


def _shard(context: click.Context, option: click.Parameter, value: str) -> tuple[int, int]:
    i, _, n = value.partition("/")
    if not (i.isdecimal() and n.isdecimal() and 1 <= int(i) <= int(n)):
        raise BadInput(f"--shard must be i/n with i from 1 to n, found {value!r}")
    return int(i), int(n)


def _devices(context: click.Context, option: click.Parameter, value: str | None) -> Any:
    return None if value is None else tuple(d for d in value.replace(" ", "").split(",") if d)


RUNS = click.option(
    "--runs", "folder", type=click.Path(path_type=Path), help="default: runs/ beside it"
)
PARAMS = click.argument("params", type=click.Path(path_type=Path))
COUNT = click.IntRange(min=1)


def _read_plan(params: Path) -> Any:
    """The plan of a params file. Its project's models.lock says which revisions its models have."""
    from lkecore.plan import read_plan

    _use_lock(params.parent / "models.lock")
    return read_plan(params)


@lke.command("run")
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
@click.option("--offline", is_flag=True, help="fail at once if a model or facts must be fetched")
@click.option("--dry-run", is_flag=True, help="list jobs, memory and tokens; run nothing")
def run_plan(params: Path, folder: Path | None, dry_run: bool, **given: Any) -> None:
    """Run the notebooks of PARAMS; what is finished is kept."""
    from lkecore import grid

    settings = grid.Settings(**given)
    if settings.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"  # before the hub's client is imported
    plan = _read_plan(params)
    target = folder or plan.project / "runs"
    if dry_run:
        _print_cost(plan, target, settings)
        return
    try:
        outcome = grid.execute(plan, target, settings)
    except KeyboardInterrupt:
        click.echo("lke: stopped; what is finished is kept, the same command goes on", err=True)
        sys.exit(130)
    for label, reason in outcome.failed.items():
        click.echo(f"lke: failed: {label}: {reason}", err=True)
    counts = len(outcome.finished), len(outcome.before), len(outcome.failed)
    click.echo("{} finished, {} finished before, {} failed".format(*counts), err=True)
    if outcome.failed:
        sys.exit(1)


def _print_cost(plan: Any, target: Path, settings: Any) -> None:
    from lkecore import forecast

    i, n = settings.shard
    jobs = list(plan.jobs[i - 1 :: n])
    width = max((len(each.label) for each in jobs), default=3)
    click.echo(f"{'job':{width}}  state     memory      tokens  from cache")
    tokens, failing = 0, False
    for each in jobs:
        row = forecast.cost(each, target)
        memory = "?" if row["model_bytes"] is None else f"{row['model_bytes'] / 2**30:.1f} GiB"
        counted = [("-" if row[k] is None else f"{row[k]:,}") for k in ("tokens", "from_cache")]
        line = f"{each.label:{width}}  {row['state']:8}  {memory:>6}  {counted[0]:>10}  {counted[1]:>10}"
        click.echo(f"{line}  {row['remark']}".rstrip())
        tokens += (row["tokens"] or 0) - (row["from_cache"] or 0)
        failing |= row["remark"].startswith("would fail")
    pages = sum(row.has_page for row in plan.rows) if n == 1 else 0
    click.echo(f"runs: {len(jobs)}, pages over several: {pages}, tokens to forward: {tokens:,}")
    if failing:
        sys.exit(1)


@lke.command("status")
@PARAMS
@RUNS
def show_status(params: Path, folder: Path | None) -> None:
    """List the runs and pages of PARAMS: finished, failed, running or waiting.

    The exit code is 0 when all are finished, else 1.
    """
    from lkecore import forecast, runs

    plan = _read_plan(params)
    target = folder or plan.project / "runs"
    runs.check_format(target)
    rows = forecast.status(plan, target)
    width = max(len(label) for label, _, _ in rows)
    for label, state, remark in rows:
        click.echo(f"{label:{width}}  {state:8}  {remark}".rstrip())
    if any(state != "finished" for _, state, _ in rows):
        sys.exit(1)


@lke.command("fetch")
@PARAMS
def fetch(params: Path) -> None:
    """Fetch the models and facts of PARAMS, for a later run without a network."""
    from lkecore import prepare

    plan = _read_plan(params)
    reasons = prepare.prepare(plan.jobs)
    ready = [each for each in plan.jobs if each.label not in reasons]
    for name in dict.fromkeys(name for each in ready for _, name in prepare.needs(each)):
        click.echo(f"{name}: on this machine")
    for reason in dict.fromkeys(reasons.values()):
        click.echo(f"lke: failed: {reason}", err=True)
    if reasons:
        sys.exit(1)


@lke.command("book")
@PARAMS
@RUNS
def build_book(params: Path, folder: Path | None) -> None:
    """Build the book from the finished runs of PARAMS and print the path of its first page."""
    from lkecore import book, runs

    plan = _read_plan(params)
    target = folder or plan.project / "runs"
    runs.check_format(target)
    book.gather(plan, target)
    click.echo(book.build(plan.project))


@lke.command("results")
@PARAMS
@RUNS
def keep_results(params: Path, folder: Path | None) -> None:
    """Gather what the finished runs of PARAMS found into results/, which ships with the project."""
    from lkecore import results

    plan = _read_plan(params)
    target = folder or plan.project / "runs"
    for path in results.gather(plan, target, plan.project / "results"):
        click.echo(path)


@lke.command("new")
@click.argument("name")
@click.option("--from", "source", required=True, help="the notebook to copy, as 10_iclke_relations")
@click.option("--project", type=click.Path(path_type=Path), help="default: here or above")
def new_notebook(name: str, source: str, project: Path | None) -> None:
    """Begin a notebook NAME, such as 14_my_separator, as a copy of another one.

    Adds its rows to the parameter files and its line to the contents, too.
    """
    from lkecore import fork

    project = project or fork.find_project(Path())
    for path in fork.new(project, name, source):
        click.echo(f"wrote {path.relative_to(project)}")
    click.echo(f"next: edit notebooks/{name}.py, then\n  lke run params/book.yaml\n  make book")


@lke.command("ipynb")
@click.argument("notebook")
@click.option("--out", type=click.Path(path_type=Path), help="default: NAME.ipynb in this folder")
@click.option("--force", is_flag=True, help="replace another file of this name")
def export_notebook(notebook: str, out: Path | None, force: bool) -> None:
    """Write NOTEBOOK, a name such as 00_quickstart or a .py file, as .ipynb without outputs."""
    from lkecore import fork

    source = Path(notebook)
    if source.suffix != ".py":
        source = fork.find_notebook(fork.find_project(Path()), notebook)
    click.echo(fork.export(source, out or Path(f"{source.stem}.ipynb"), force=force))
