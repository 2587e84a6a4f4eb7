"""``lke book``, ``page``, ``results``, ``new`` and ``ipynb``: commands that use runs and notebooks."""

import sys
from pathlib import Path
from typing import Any

import click

from lkecore.cli.runs import MODELS_LOCK, PARAMS, RUNS, carry_out, read_plan_of, use_lock
from lkecore.errors import BadInput, noted, refuse
from lkecore.progress import say
from lkecore.runs import devices, shipping
from lkecore.storage import write_whole


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
        build.collect_pages(plan, target)
        say(build.build(plan.project))


@click.command("page")
@click.argument("name")
@click.option(
    "--params", type=click.Path(path_type=Path), help="default: params/book.yaml, if it has a row"
)
@click.option("--open", "opened", is_flag=True, help="open it in the browser")
@RUNS
def build_page(name: str, params: Path | None, opened: bool, folder: Path | None) -> None:
    """Run the notebook NAME, make its page alone, and print the path of the page.

    Its parameters are those of its row in params/book.yaml or another file, else the notebook's own. NAME may
    also be a page of the book without a notebook, such as ask.
    """
    import webbrowser

    from lkecore.book import fork, single

    project = fork.find_project(Path())
    use_lock((params.absolute().parent.parent if params else project) / MODELS_LOCK)
    if single.is_prose(project, name):
        page = single.render_prose(project, name)
    else:
        plan = single.plan_of(project, name, params)
        target = folder or plan.project / "runs"
        carry_out(plan, target, devices.Settings())
        page = single.render(plan, name, target)
    if opened:
        webbrowser.open(page.as_uri())
    say(page)


@click.command("report")
@click.argument("model")
@click.option("--facts", "fact_set", default="atlas", show_default=True, help="as of lke score")
@click.option("--relation", "relations", multiple=True, help="one or several; default: all")
@click.option("--label", help="what the page calls MODEL; default: of a path the last part")
@click.option("--shots", default=20, show_default=True, help="pairs that are shown")
@click.option("--n-facts", default=100, show_default=True, help="asked of each relation, at most")
@click.option("--compare", "other", help="a second model, asked the same")
@click.option("--title", default="", help="of the page; default: What does this model know?")
@click.option("--out", type=click.Path(path_type=Path), help="default: report.html in this folder")
@RUNS
def report(
    model: str,
    fact_set: str,
    relations: tuple[str, ...],
    label: str | None,
    shots: int,
    n_facts: int,
    other: str | None,
    title: str,
    out: Path | None,
    folder: Path | None,
) -> None:
    """Report what MODEL knows, as one HTML page that needs no other file; first, print how long it takes.

    The page shows, by relation, the accuracy in two formats and in templates, with the best rule without a
    model; how sure the model is where it is right; and what it says where it is wrong.
    """
    from lkecore import facts
    from lkecore.book import fork, single
    from lkecore.models import weights
    from lkecore.runs import design, forecast
    from lkecore.runs.plan import of_defaults

    complaints: list[str] = []
    size = {"n_shots": shots, "n_options": 100, "n_facts": n_facts, "allow_fewer": True}
    models = [model, *([other] if other else [])]
    for each in models:
        with noted(complaints):
            weights.check_name(each)
    if other == model:
        complaints.append(f"--compare {other}: it is the model itself")
    with noted(complaints):  # facts that cannot be drawn are reported before any run
        facts.draw(fact_set, [*relations], **size, seed=0)
    refuse(complaints)
    project = fork.find_project(Path())
    given = {"models": models, "fact_set": fact_set, "relations": [*relations]}
    given |= {"n_shots": shots, "n_facts": n_facts}
    labels = {} if label is None else {model: label}
    plan = of_defaults(project, fork.find_notebook(project, "02_report"), given, labels)
    target = folder or project / "runs"
    [job] = plan.jobs
    if minutes := design.minutes(job, forecast.cost(job, target)):
        say(f"about {minutes:,.0f} minutes on two cores", err=True)
    carry_out(plan, target, devices.Settings())
    page = single.render(plan, "02_report", target)
    write_whole(out := out or Path("report.html"), single.alone(page, title))
    say(out)


@click.command("results")
@PARAMS
@RUNS
@click.option("--compare", is_flag=True, help="write nothing; compare them with what ships there")
@click.option("--add", is_flag=True, help="PARAMS has some models only; what ships of others stays")
def keep_results(params: Path, folder: Path | None, compare: bool, add: bool) -> None:
    """Collect the answers of the finished runs of PARAMS in results/, which ships with the project.

    With --compare the exit code is 1 where a row differs, or where no row is about what ships.
    """
    if compare and add:
        raise BadInput("--compare writes nothing, so there is nothing to --add: give one of them")
    plan = read_plan_of(params)
    target = folder or plan.project / "runs"
    if compare:
        _print_differences(plan, target)
        return
    for path in shipping.ship_results(plan, target, plan.project / "results", add=add):
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
@click.option("--from", "source", help="a notebook to copy, as 10_iclke_relations")
@click.option("--project", type=click.Path(path_type=Path), help="default: here or above")
def new_notebook(name: str, source: str | None, project: Path | None) -> None:
    """Begin a notebook NAME, such as 14_my_separator: a short page to change.

    With --from it is a copy of another one, which has rows in the parameter files and a line in the contents.
    """
    from lkecore.book import fork

    project = project or fork.find_project(Path())
    for path in fork.new(project, name, source):
        say(f"wrote {path.relative_to(project)}")
    rows = " and its rows in params/ (without `sources`, if it asks other questions than these)"
    say(f"next: edit notebooks/{name}.py{rows if source else ''}, then")
    say(f"  lke page {name} --open")


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
