"""``lke book``, ``results``, ``new`` and ``ipynb``: what is made of runs and notebooks."""

import sys
from pathlib import Path
from typing import Any

import click

from lkecore.cli.runs import PARAMS, RUNS, read_plan_of
from lkecore.errors import BadInput
from lkecore.progress import say
from lkecore.runs import gather


@click.command("book")
@PARAMS
@RUNS
def build_book(params: Path, folder: Path | None) -> None:
    """Build the book from the finished runs of PARAMS and print the path of its first page."""
    from lkecore import runs
    from lkecore.book import build

    plan = read_plan_of(params)
    target = folder or plan.project / "runs"
    runs.check_format(target)
    with build.alone(plan.project):
        build.gather(plan, target)
        say(build.build(plan.project))


@click.command("results")
@PARAMS
@RUNS
@click.option("--compare", is_flag=True, help="write nothing; compare them with what ships there")
@click.option("--add", is_flag=True, help="PARAMS has some models only; what ships of others stays")
def keep_results(params: Path, folder: Path | None, compare: bool, add: bool) -> None:
    """Gather what the finished runs of PARAMS found into results/, which ships with the project.

    With --compare the exit code is 1 where a row differs, or none is about what ships.
    """
    if compare and add:
        raise BadInput("--compare writes nothing, so there is nothing to --add: give one of them")
    plan = read_plan_of(params)
    target = folder or plan.project / "runs"
    if compare:
        _print_differences(plan, target)
        return
    for path in gather.gather(plan, target, plan.project / "results", add=add):
        say(path)


def _print_differences(plan: Any, target: Path) -> None:
    from lkecore.runs.compare import compare

    rows = compare(plan, target, plan.project / "results")
    for row in rows.itertuples():
        also = f", {row.not_there:,} others are about what does not ship" if row.not_there else ""
        say(
            f"{row.file}: {row.differ:,} of {row.rows - row.not_there:,} rows differ, the largest "
            f"difference is {row.largest:.2g}{also}"
        )
    if rows["differ"].any() or (rows["rows"] == rows["not_there"]).all():
        sys.exit(1)


@click.command("new")
@click.argument("name")
@click.option("--from", "source", required=True, help="the notebook to copy, as 10_iclke_relations")
@click.option("--project", type=click.Path(path_type=Path), help="default: here or above")
def new_notebook(name: str, source: str, project: Path | None) -> None:
    """Begin a notebook NAME, such as 14_my_separator, as a copy of another one.

    Adds its rows to the parameter files and its line to the contents, too.
    """
    from lkecore.book import fork

    project = project or fork.find_project(Path())
    for path in fork.new(project, name, source):
        say(f"wrote {path.relative_to(project)}")
    rows = "its rows in params/ (without `results`, if it asks other questions than its source)"
    say(f"next: edit notebooks/{name}.py and {rows}, then")
    for command in ("lke run params/smoke.yaml", "lke run params/book.yaml", "make book"):
        say(f"  {command}")


@click.command("ipynb")
@click.argument("notebook")
@click.option("--out", type=click.Path(path_type=Path), help="default: NAME.ipynb in this folder")
@click.option("--force", is_flag=True, help="replace another file of this name")
def export_notebook(notebook: str, out: Path | None, force: bool) -> None:
    """Write NOTEBOOK, a name such as 00_quickstart or a .py file, as .ipynb without outputs."""
    from lkecore.book import fork

    source = Path(notebook)
    if source.suffix != ".py":
        source = fork.find_notebook(fork.find_project(Path()), notebook)
    say(fork.export(source, out or Path(f"{source.stem}.ipynb"), force=force))
