"""``lke models`` and ``lke facts``: list the models and facts that can be named."""

import shlex
import sys
from collections import Counter
from pathlib import Path

import click

from lkecore import facts
from lkecore.cli.runs import MODELS_LOCK, use_lock
from lkecore.errors import BadInput, visible
from lkecore.facts import alike
from lkecore.facts.tables import SPLITS
from lkecore.models import embedded
from lkecore.progress import say


@click.command("facts")
@click.argument("spec", default="atlas")
@click.option("--relation", help="with --lm-eval: the relation that is asked")
@click.option(
    "--lm-eval", "task_folder", help="write a task of lm-evaluation-harness into this folder"
)
def list_facts(spec: str, relation: str | None, task_folder: str | None) -> None:
    """List the relations of a fact set (default: atlas), or write one as a task.

    The number of rows read is the sum of facts, repeated rows and rows left out. Objects whose names differ
    in letter case alone are one object. Lines below the table list such names, names that only look alike,
    and files that are no facts.

    With --lm-eval the questions of lke score, with its defaults, become a task of lm-evaluation-harness: 50
    examples in the context, 100 options.
    """
    if relation or task_folder:
        if not (relation and task_folder):
            raise BadInput("lke facts: --relation and --lm-eval go together")
        _write_task(spec, relation, task_folder)
        return
    loaded = [facts.load(spec, name) for name in facts.relations(spec)]
    names = [visible(r.name) for r in loaded]
    width = max(map(len, names))
    columns = "facts  objects  rows read  repeated  left out  T-REx-MC filter  splits"
    say(f"{'relation':{width}}  {columns}")
    for name, r in zip(names, loaded, strict=True):
        passes = "passes" if facts.passes_trex_mc(r) else "-"
        splits = Counter(fact.split for fact in r.facts if fact.split)
        told = ", ".join(f"{splits[name]} {name}" for name in SPLITS if name in splits) or "-"
        say(
            f"{name:{width}}  {len(r.facts):5}  {len(r.objects):7}  {r.read:9}  {r.repeated:8}  "
            f"{r.left_out:8}  {passes:15}  {told}"
        )
    for r in loaded:
        objects = [forms for forms in r.spellings.values() if len(forms) > 1]
        for what, groups in (
            ("counted as one subject", r.subject_forms),
            ("counted as one object", objects),
            ("alike, and not counted as one", alike.near(r)),
        ):
            if groups:
                say(f"{r.name}: {what}: {alike.listed(groups)}")
    if unread := facts.unread(spec):
        say(f"no facts, and not read: {', '.join(unread)}")


def _write_task(spec: str, relation: str, folder: str) -> None:
    """The questions of ``lke score --facts SPEC --relation RELATION`` as a task."""
    from lkecore import prompts
    from lkecore.prompts import harness

    chosen = facts.load(spec, relation)
    train, test = facts.divide(chosen)
    asked = facts.draw_facts(test, None, 0)
    options = facts.draw_options(asked, chosen.objects, 100, 0)
    questions = prompts.many_shot(facts.draw_shots(train, 50, 0), asked, options)
    task = harness.write_task(Path(folder), spec, relation, questions)
    say(f"{visible(folder)}: {len(questions)} questions; ask them by")
    say(
        "python -m lkecore.lmeval --model lke --model_args pretrained=FOLDER-OR-HUB-ID "
        f"--include_path {visible(shlex.quote(folder))} --tasks {task}"
    )


@click.group("models", invoke_without_command=True)
@click.option("--papers", is_flag=True, help="list the models of the four papers instead")
@click.option("--path", "name", help="print the folder of this model, fetching it if need be")
@click.pass_context
def list_models(context: click.Context, papers: bool, name: str | None) -> None:
    """List the models that can be named (or print the folder of one)."""
    from lkecore.models import catalogue, lab, weights

    use_lock(MODELS_LOCK)
    if context.invoked_subcommand:
        if papers or name is not None:
            raise BadInput("lke models: --papers and --path go without a command")
        return
    if papers and name is not None:
        raise BadInput("lke models: --papers or --path, not both")
    if name is not None:
        say(weights.locate(name))
        return
    if papers:
        for line in catalogue.listing():
            say(line)
        return
    for key, text in embedded.CATALOGUE.items():
        state = "in the cache" if weights.is_ready(key) else "fetched at first use"
        say(f"{key:12} {text} [{state}]")
    say("or: a local folder, a .gguf file, a hub id org/name or org/name@revision,")
    say(
        "or: served:NAME, a model behind the server of LKE_SERVER; NAME: its hub id, or such a folder,"
    )
    sizes = ", ".join(lab.RECIPES)
    say(f"or: a model of the lab, lab:SIZE-SEED/MODEL, trained at first use; MODEL: {sizes}")
    say("    MODEL@SEED: of a rich world, as lab:rich-1/0.7m@3: trained with another seed")
    say("    MODEL-tuned: taught to follow instructions; MODEL-unplanted: told of other subjects")


@list_models.command("convert")
@click.argument("name")
def convert_model(name: str) -> None:
    """Turn the .bin weights of NAME (hub id or folder) into safetensors; print their folder."""
    from lkecore.models import weights

    say(weights.convert(name))


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
    from lkecore import hub, runs
    from lkecore.models import catalogue, weights
    from lkecore.runs.plan import read_plan

    if not path.parent.is_dir():
        raise BadInput(f"models lock {path}: there is no folder {path.parent} (see --file)")
    named = [m for p in params for job in read_plan(p).jobs for m in runs.models_of(job.effective)]
    # A model with a revision needs no lock, and a folder may have the name of a hub id.
    wanted = [hub.plain(m) for m in named if weights.kind_of(m).on_hub and "@" not in m]
    changed, failures = hub.lock(path, wanted if params else catalogue.hub_ids(), update=update)
    for repository, row in sorted(changed.items()):
        say(f"{repository} {row.revision[:12]} {row.weights}, gated: {row.gated}")
    say(f"{path}: {len(changed)} new or changed", err=True)
    for failure in failures:
        say(f"lke: failed: {failure}", err=True)
    if failures:
        sys.exit(1)
