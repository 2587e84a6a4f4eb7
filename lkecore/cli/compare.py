"""``lke compare``: whether two runs differ; ``lke power``: before a run, what its design can show."""

from pathlib import Path
from typing import Any

import click

from lkecore.errors import BadInput
from lkecore.progress import say, say_json


def choosing(command: Any) -> Any:
    """A command with the options that choose the answers of two sides."""
    for name in ("draw", "estimator", "model", "source"):
        text = "for both sides, or given again for the second"
        command = click.option(f"--{name}", multiple=True, help=text)(command)
    return command


@click.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", default="")
@choosing
@click.option("--json", "as_json", is_flag=True, help="a line of JSON for each pair")
def compare(first: str, second: str, as_json: bool, **given: Any) -> None:
    """Whether A and B differ, on the questions that both were asked.

    A and B are folders of lke score --out, finished runs, names in results/, or files (or folders) of lm_eval
    --log_samples. Without B all models of A are compared with each other, or two ways of asking one model.
    """
    from lkecore.answers import paired, sides

    rows = paired.table(sides.pairs(first, second, **given))
    if as_json:
        for row in rows.to_dict("records"):
            say_json({name: None if value != value else value for name, value in row.items()})
        return
    texts = rows.map(lambda value: f"{value:.4g}" if isinstance(value, float) else str(value))
    shown = texts.drop(columns="in_words").replace("", "-").T.to_string(header=False)
    for line in [*shown.splitlines(), *rows["in_words"]]:
        say(line)


SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command("power")
@click.argument("params", type=click.Path(path_type=Path), required=False)
@click.option("--detect", default=0.05, type=click.FloatRange(0, 1, min_open=True), help="a share")
@click.option("--facts", "fact_set", help="in the place of PARAMS: a fact set, all its relations")
@click.option("--n-facts", default=25, show_default=True, help="of each relation of --facts")
@click.option("--pilot", multiple=True, help="A of lke compare, again for B; default: two models")
@choosing
@click.option("--power", default=0.8, show_default=True, type=SHARE)
@click.option("--alpha", default=0.05, show_default=True, type=SHARE)
def power(
    params: Path | None,
    detect: float,
    fact_set: str | None,
    n_facts: int,
    pilot: tuple[str, ...],
    power: float,
    alpha: float,
    **given: Any,
) -> None:
    """Before a run: how many relations and facts show a difference of --detect between two models.

    The numbers follow from the variance between and within relations in existing answers, the pilot. With
    PARAMS, a file in params/, the command also prints which differences its design can show.
    """
    from lkecore.book import fork
    from lkecore.cli.runs import read_plan_of
    from lkecore.runs import design, forecast
    from lkecore.runs.plan import of_defaults

    if len(pilot) > 2 or (params and fact_set):
        raise BadInput("give PARAMS or --facts, not both, and --pilot once or twice")
    pilots, plan = design.pilots(pilot, **given), read_plan_of(params) if params else None
    if fact_set:
        project, own = fork.find_project(Path()), design.OWN
        asked = {"fact_set": fact_set, "n_facts": n_facts, "models": own["model"]}
        asked |= {"estimators": [*(given["estimator"] or own["estimator"])]}
        plan = of_defaults(project, fork.find_notebook(project, design.PILOT), asked)
    say(f"to show a difference of {100 * detect:g} points ({power:.0%}, alpha {alpha:g}):")
    found = design.table(pilots, plan, detect, alpha=alpha, power=power)
    for line in found.to_string().splitlines():
        say(line)
    for row, _, _ in design.designs(plan) if plan else ():
        costs = [(job, forecast.cost(job, plan.project / "runs")) for job in row.jobs]
        tokens = sum((cost["tokens"] or 0) - (cost["from_cache"] or 0) for _, cost in costs)
        asked, minutes = row.whole.effective, sum(design.minutes(*each) for each in costs)
        shown = [f"{asked[key]} {key[2:]}, " for key in ("n_shots", "n_options") if key in asked]
        said = f"{''.join(shown)}{tokens:,} tokens, about {minutes:,.0f} minutes on two cores"
        say(f"{row.whole.notebook.stem}: {said}")
