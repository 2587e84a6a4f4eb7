"""The ``lke`` command: run notebooks, build the book, score one relation, look at models and facts."""

import json
import os
import sys
from pathlib import Path

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
@click.option("--facts", "spec", default="atlas", show_default=True, help="atlas, folder or file")
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
    from lkecore.scores.tree import option_logprobs

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
    scored = option_logprobs(model, questions, use_cache=not no_cache)
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


@lke.command("models")
@click.option("--path", "name", help="print the folder of this model, fetching it if need be")
def list_models(name: str | None) -> None:
    """List the models that can be named (or print the folder of one)."""
    from lkecore import weights

    if name:
        click.echo(weights.locate(name))
        return
    for key, text in weights.CATALOGUE.items():
        state = "in the cache" if weights.is_ready(key) else "fetched at first use"
        click.echo(f"{key:12} {text} [{state}]")
    click.echo("or: a local folder, a .gguf file, a hub id org/name or org/name@revision")


@lke.command("run")
@click.argument("params", type=click.Path(path_type=Path))
@click.option("--runs", "folder", type=click.Path(path_type=Path), help="default: runs/ beside it")
def run_plan(params: Path, folder: Path | None) -> None:
    """Execute the notebooks of PARAMS; finished runs are kept."""
    from lkecore import grid

    plan = grid.read_plan(params)
    failures = grid.execute(plan, folder or plan.project / "runs")
    for failure in failures:
        click.echo(f"lke: failed: {failure}", err=True)
    if failures:
        sys.exit(1)


@lke.command("book")
@click.argument("params", type=click.Path(path_type=Path))
@click.option("--runs", "folder", type=click.Path(path_type=Path), help="default: runs/ beside it")
def build_book(params: Path, folder: Path | None) -> None:
    """Build the book from the finished runs of PARAMS and print the path of its first page."""
    from lkecore import book, grid

    plan = grid.read_plan(params)
    book.gather(plan, folder or plan.project / "runs")
    click.echo(book.build(plan.project))
