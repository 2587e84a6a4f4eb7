"""``lke compare``: whether two runs differ, after; ``lke power``: what a design can show, before."""

from pathlib import Path
from typing import Any

import click

from lkecore.errors import BadInput
from lkecore.progress import say, say_json

OPTIONS = [
    click.option(
        "--source", multiple=True, help="of results/: once for both sides, or once for each"
    ),
    click.option("--model", multiple=True, help="the same; default: all, in pairs"),
    click.option(
        "--estimator", multiple=True, help="the same; two are two ways of asking one model"
    ),
    click.option(
        "--draw", default=0, show_default=True, help="of the examples, where there are several"
    ),
]


def choosing(command: Any) -> Any:
    """The options that choose answers of two sides."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", default="")
@choosing
@click.option("--json", "as_json", is_flag=True, help="a line of JSON for each pair")
def compare(first: str, second: str, as_json: bool, **given: Any) -> None:
    """Whether A and B differ, on the questions that both were asked.

    A and B are folders of lke score --out, finished runs, names in results/, or files (or folders) of lm_eval
    --log_samples. Without B all models of A are compared with each other.
    """
    from lkecore.answers import paired

    pairs = paired.sides(first, second, **given)
    rows = paired.table(pairs)
    for _, row in rows.iterrows():
        if as_json:
            say_json({k: None if v != v else v for k, v in row.to_dict().items()})
        else:
            for name, text in paired.lines(row, several=len(rows) > 1).items():
                say(f"{name:20}  {text}")
            say(paired.sentence(row))


def _share(context: click.Context, option: click.Parameter, value: float) -> float:
    if not (0 < value < 1 or (value == 1 and option.name == "detect")):
        rule = "above 0 and at most 1" if option.name == "detect" else "between 0 and 1"
        raise BadInput(f"--{option.name} is {value:g}; it must be {rule}")
    return value


@click.command("power")
@click.argument("params", type=click.Path(path_type=Path), required=False)
@click.option(
    "--detect", default=0.05, show_default=True, callback=_share, help="a share of the facts"
)
@click.option("--facts", "fact_set", help="in the place of PARAMS: a fact set, all its relations")
@click.option("--n-facts", default=25, show_default=True, help="of each relation of --facts")
@click.option(
    "--pilot", multiple=True, help="as A (and B) of lke compare; default: two models of results/"
)
@choosing
@click.option("--power", "sure", default=0.8, show_default=True, callback=_share)
@click.option("--alpha", default=0.05, show_default=True, callback=_share)
def power(
    params: Path | None,
    detect: float,
    fact_set: str | None,
    n_facts: int,
    pilot: tuple[str, ...],
    sure: float,
    alpha: float,
    **given: Any,
) -> None:
    """Before a run: how many relations and facts show a difference of --detect between two models.

    From the variance between and within relations in answers that are there already, the pilot; and which
    differences the design of PARAMS, a file in params/, can show.
    """
    from lkecore.book import fork
    from lkecore.cli.runs import read_plan_of
    from lkecore.runs import design, forecast
    from lkecore.runs.plan import of_defaults
    from lkecore.stats import power as planned

    if len(pilot) > 2 or (params and fact_set):
        raise BadInput("give PARAMS or --facts, not both, and --pilot once or twice")
    how = {"alpha": alpha, "power": sure}
    gaps = design.pilots(pilot, **given)
    of = {name: planned.parts(gap) for name, gap in gaps.items()}
    plan = read_plan_of(params) if params else None
    if fact_set:
        project = fork.find_project(Path())
        asked = {"models": design.OWN["model"], "fact_set": fact_set, "n_facts": n_facts}
        plan = of_defaults(project, fork.find_notebook(project, design.PILOT), asked)
    rows = list(design.designs(plan)) if plan else []
    sizes = sorted(
        {5, 10, 20, 40, 80, 160, *(relations for _, relations, _ in rows if relations > 1)}
    )
    for name, found in of.items():
        say(f"pilot: {name}, {found['relations']:.0f} relations, {found['facts']:.0f} facts each")
        below = ", since the moment is below 0" if found["moment"] < 0 else ""
        two = [f"{found[part]:.4f} {part}" for part in ("within", "between")]
        say(f"  variance of a difference: {' and '.join(two)} relations{below}")
        say(
            f"  to show {100 * detect:g} points ({sure:.0%}, alpha {alpha:g}), relations and facts of each:"
        )
        for n in sizes:
            facts = planned.facts_needed(found, n, detect, **how)
            say(f"    {n:4}  {'no number of facts' if facts is None else f'{facts:,}'}")
        few = planned.relations_needed(found, float("inf"), detect, **how)
        say(f"    {few:4}  is the fewest, with as many facts as there may be")
        for row, relations, n in rows:
            if relations < 2:
                continue
            points = planned.detectable(found, relations, n, **how)
            again = planned.resampled(gaps[name], relations, n, **how)
            say(
                f"  {row.whole.notebook.stem}: {relations} relations, {n} facts each: can show "
                f"{100 * points:.1f} points or more; by resampling {100 * again:.1f}"
            )
            if abs(again - points) > points / 5:
                say(
                    "  warning: these two are more than a fifth apart; take the larger one",
                    err=True,
                )
    for row, _, _ in rows:
        costs = [forecast.cost(each, plan.project / "runs") for each in row.jobs]
        tokens = sum((cost["tokens"] or 0) - (cost["from_cache"] or 0) for cost in costs)
        asked = [
            f"{row.whole.effective[k]} {k[2:]}"
            for k in ("n_shots", "n_options")
            if k in row.whole.effective
        ]
        minutes = sum(
            design.minutes(each, cost) for each, cost in zip(row.jobs, costs, strict=True)
        )
        about = f", about {minutes:,.0f} minutes here" if minutes else ""
        say(f"{row.whole.notebook.stem}: {', '.join(asked)}; {tokens:,} tokens to forward{about}")
