"""Plan: from a params file to jobs. Checks everything first, before any model is loaded."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lkecore import facts, hub, runs
from lkecore.answers.shipped import check_name
from lkecore.errors import BadInput, nearest, noted, readable, refuse
from lkecore.models import weights
from lkecore.runs import labels, yamlfile
from lkecore.runs.parameters import Declared, check_value, declared_parameters, unknown

MOST_JOBS = 10_000  # of one row: more are a mistake


@dataclass(frozen=True)
class Row:
    """One experiment of a params file: its runs, and the parameters of the page over all of them."""

    jobs: tuple[runs.Job, ...]
    whole: runs.Job  # all parameters, undivided: the subject of the page
    reads: bool = False  # a page alone: its jobs are those of other rows
    labels: dict[str, str] = field(default_factory=dict)  # of its models and facts, for its page

    @property
    def has_page(self) -> bool:
        """Whether a page reads the runs; otherwise the row has a single run, which is the page itself."""
        return self.reads or len(self.jobs) > 1 or bool(self.labels)


@dataclass(frozen=True)
class Plan:
    """A params file: the profile's name, the project's folder and the experiments."""

    profile: str
    project: Path
    rows: tuple[Row, ...]

    @property
    def jobs(self) -> tuple[runs.Job, ...]:
        """All runs, each once, in the order of the file."""
        return tuple(job for row in self.rows if not row.reads for job in row.jobs)


def read_plan(path: str | Path) -> Plan:
    """The plan in ``params/<profile>.yaml``, checked before anything runs.

    - ``profile``: a name;
    - ``labels``, optional: {model or fact set: what pages show in its place}. They are in the key of a page,
      and of no run;
    - ``runs``: a list of rows.

    A row has

    - ``notebook``: a file of the ``notebooks`` folder beside ``params``, without suffix;
    - ``parameters``;
    - ``each``, optional: names of list parameters that are divided. Every combination of their values becomes
      a run of its own, and one page shows them all;
    - ``reads``, instead of ``each``: notebooks above. The row has no runs, and is a page over theirs.

    Raises :class:`BadInput` for anything else: unknown notebooks, unknown parameters or values of another
    type, with the nearest names; values that people read otherwise than YAML
    (:func:`lkecore.runs.yamlfile.load`), or that are not finite; parameters that have another name now;
    unknown models or facts named by a parameter; an ``each`` over nothing or over more than 10,000 runs; a
    ``reads`` of a notebook that is not above.
    """
    path = Path(path)
    project = path.absolute().parent.parent
    notebooks = {p.stem: p for p in sorted((project / "notebooks").glob("*.py"))}
    try:
        content = yamlfile.read(path, lambda *given: _may_be_yes(*given, notebooks))
    except OSError as error:
        raise BadInput(f"params file {path} cannot be read ({error.strerror})") from error
    if not isinstance(content, dict) or set(content) - {"labels"} != {"profile", "runs"}:
        raise BadInput(f"{path}: expected the keys profile and runs")
    if not isinstance(content["profile"], str) or not isinstance(content["runs"], list):
        raise BadInput(f"{path}: profile must be a name and runs a list")
    check_name("profile", content["profile"], path)
    if not notebooks:
        raise BadInput(f"{path}: must lie in a folder beside notebooks/, and {project} has none")
    rows: list[Row] = []
    complaints: list[str] = []
    for row in content["runs"]:
        if complaints and isinstance(row, dict) and "reads" in row:
            continue  # the row that it reads may be missing because of another complaint
        with noted(complaints):
            rows.append(_row(path, row, notebooks, rows))
    refuse(complaints)
    if not rows:
        raise BadInput(f"{path}: runs is empty")
    given = content.get("labels", {})
    with noted(complaints, f"{path}: "):
        labels.check(given, [name for row in rows for name in _named(row)])
    refuse(complaints)
    return Plan(content["profile"], project, tuple(_with(row, given) for row in rows))


def _named(row: Row) -> list[str]:
    """The models and fact sets of a row's runs."""
    every = [job.effective for job in row.jobs]
    return [name for each in every for name in (*runs.models_of(each), *runs.facts_of(each))]


def _with(row: Row, given: dict[str, str]) -> Row:
    """A row with the labels of its own names."""
    named = _named(row)
    return replace(row, labels={n: label for n, label in given.items() if n in named})


def _row(path: Path, row: Any, notebooks: dict[str, Path], above: list[Row]) -> Row:
    """A row of a params file, checked; ``above`` has the rows before it."""
    keys = {"notebook", "parameters", "each", "reads"}
    if not isinstance(row, dict) or not {"notebook"} <= set(row) <= keys:
        raise BadInput(f"{path}: a run has a notebook, parameters, each or reads, found {row!r}")
    name = row["notebook"]
    if not isinstance(name, str) or name not in notebooks:
        raise BadInput(f"{path}: unknown notebook {name!r}; {nearest(str(name), notebooks)}")
    if any(earlier.whole.notebook == notebooks[name] for earlier in above):
        raise BadInput(f"{path}: notebook {name!r} is named twice")
    given = _without_hf(row.get("parameters") or {})
    declared = declared_parameters(notebooks[name])
    effective = _check_parameters(path, notebooks[name], declared, given)
    whole = runs.Job(notebooks[name], given, effective)
    if "reads" in row:
        jobs = _read_by(f"{path}: {name}", row, whole, above)
    else:
        jobs = _divide(f"{path}: {name}", whole, declared, row.get("each") or [])
    return Row(tuple(jobs), whole, "reads" in row)


def only(whole: Plan, names: Sequence[str]) -> Plan:
    """The rows of some notebooks, and the rows that they read. :class:`BadInput` for one without a row."""
    rows = {row.whole.notebook.stem: row for row in whole.rows}
    if lacking := [name for name in names if name not in rows]:
        hint = nearest(lacking[0], rows)
        raise BadInput(f"profile {whole.profile} has no row of notebook {lacking[0]!r}; {hint}")
    wanted = {*names, *(job.notebook.stem for name in names for job in rows[name].jobs)}
    kept = tuple(row for row in whole.rows if row.whole.notebook.stem in wanted)
    return Plan(whole.profile, whole.project, kept)


def of_defaults(
    project: Path,
    notebook: Path,
    given: dict[str, Any] | None = None,
    called: dict[str, str] | None = None,
) -> Plan:
    """The plan of one notebook with its own defaults except for ``given``, checked as a file's are.

    ``called`` has labels, as in a file.
    """
    declared, given = declared_parameters(notebook), given or {}
    job = runs.Job(notebook, given, _check_parameters(notebook, notebook, declared, given))
    row = Row((job,), job)
    labels.check(called or {}, _named(row))
    return Plan("defaults", project, (_with(row, called or {}),))


def _may_be_yes(content: Any, place: yamlfile.Place, notebooks: dict[str, Path]) -> bool:
    """Whether a value of a params file is that of a parameter that is true or false, or of an unknown one."""
    if len(place) < 4 or place[0] != "runs" or place[2] != "parameters" or place[3] is None:
        return False
    try:
        notebook = notebooks[content["runs"][place[1]]["notebook"]]
        annotation, _ = declared_parameters(notebook)[place[3]]
    except (TypeError, LookupError):
        return True  # the unknown name is reported elsewhere
    return annotation in ("bool", "list[bool]")


def page_of(row: Row, folders: list[Path]) -> runs.Job:
    """The page of a row, given the folders of its finished runs."""
    return replace(row.whole, reads=tuple(folders), labels=row.labels)


def finished(row: Row, folder: Path) -> tuple[runs.Job, Path, Any, dict[Path, Any]]:
    """(whole job, folder shown, its manifest, {run that it is over: manifest}) of a row of a plan.

    A manifest is None where a run or page is not finished.
    """
    made = [runs.run_folder(folder, each) for each in row.jobs]
    behind = {run: runs.manifest(run) for run in made}
    shown, manifest = made[0], behind[made[0]]
    if row.has_page and None not in behind.values():
        shown = runs.run_folder(folder, page_of(row, made))
        manifest = runs.manifest(shown)
    return row.whole, shown, manifest, behind


def _divide(where: str, whole: runs.Job, declared: Declared, each: Any) -> list[runs.Job]:
    """One job for every combination of single values of the list parameters ``each``."""
    if not each:
        return [whole]
    if not isinstance(each, list) or not all(isinstance(name, str) for name in each):
        raise BadInput(f"{where}: each must be a list of parameters, found {each!r}")
    if len(set(each)) < len(each):
        raise BadInput(f"{where}: each names something twice: {each}")
    for name in each:
        if name not in declared:
            raise BadInput(f"{where}: each: {name!r} {unknown(name, declared)}")
        if not declared[name][0].startswith("list["):
            raise BadInput(f"{where}: each: {name!r} is {declared[name][0]}, not a list to divide")
        if not whole.effective[name]:
            raise BadInput(f"{where}: each: {name} is empty, so that there is nothing to run")
    n = math.prod(len(whole.effective[name]) for name in each)
    if n > MOST_JOBS:
        raise BadInput(f"{where}: each makes {n:,} runs, and {MOST_JOBS:,} is the most")
    parts = [
        dict(zip(each, ([value] for value in values), strict=True))
        for values in itertools.product(*(whole.effective[name] for name in each))
    ]
    return [
        runs.Job(whole.notebook, whole.parameters | part, whole.effective | part, part)
        for part in parts
    ]


def _read_by(where: str, row: dict[str, Any], whole: runs.Job, above: list[Row]) -> list[runs.Job]:
    """The runs of the rows that this one reads."""
    if "each" in row:
        raise BadInput(f"{where}: each makes runs, and reads is for a page that has none: take one")
    if runs.models_of(whole.effective) or runs.facts_of(whole.effective):
        raise BadInput(f"{where}: reads is for a notebook without models or a fact set of its own")
    named, known = row["reads"], {r.whole.notebook.stem: r for r in above if not r.reads}
    if not isinstance(named, list) or not named or not all(isinstance(n, str) for n in named):
        raise BadInput(f"{where}: reads must be a list of notebooks, found {named!r}")
    for name in named:
        if name not in known:
            hint = nearest(name, known) if known else "there is none"
            raise BadInput(f"{where}: reads: {name!r} has no runs in a row above; {hint}")
    if len(set(named)) < len(named):
        raise BadInput(f"{where}: reads names something twice: {named}")
    return [job for name in named for job in known[name].jobs]


def _check_parameters(path: Path, notebook: Path, declared: Declared, given: Any) -> dict[str, Any]:
    """All parameters, with the defaults; :class:`BadInput` has a complaint for each wrong one."""
    if not isinstance(given, dict):
        raise BadInput(f"{path}: parameters of {notebook.stem} must be names and values")
    complaints: list[str] = []
    where = f"{path}: {notebook.stem}: parameter "
    for name, value in given.items():
        with noted(complaints, f"{where}{name!r} "):
            check_value(name, value, declared)
        if name in ("shipped", "shipped_one", "sources") and value:
            for profile in value:
                with noted(complaints):
                    check_name(f"{notebook.stem}: parameter {name!r}: profile", profile, path)
    refuse(complaints)
    effective = {name: default for name, (_, default) in declared.items()} | given
    for model in runs.models_of(effective):
        parameter = "model" if model == effective.get("model") else "models"
        with noted(complaints, f"{where}{parameter!r}: "), readable():
            weights.check_name(model)
    with noted(complaints, f"{path}: {notebook.stem}: "):
        if not any(_to_fetch(spec) for spec in runs.facts_of(effective)):
            check_relations(effective)  # for others after they have been fetched
    refuse(complaints)
    return effective


def _without_hf(given: Any) -> Any:
    """Parameters with one name for each model of the hub: pages look for other results with the same name."""

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(each) for each in value]
        return hub.plain(value) if isinstance(value, str) else value

    if not isinstance(given, dict):
        return given  # the check of parameters refuses it
    names = ("model", "models", "families", "pairs", "alone")
    return {name: plain(value) if name in names else value for name, value in given.items()}


def _to_fetch(spec: str) -> bool:
    return facts.is_remote(spec) and not facts.is_ready(spec)


def check_relations(effective: dict[str, Any]) -> None:
    """Raise :class:`BadInput` if a job names facts that do not exist, or relations that they do not have.

    Each complaint begins with its parameter.
    """
    complaints: list[str] = []
    for spec in runs.facts_of(effective):
        with noted(complaints, "parameter 'fact_set': "), readable():
            known = facts.relations(spec)
            one, many = effective.get("relation"), effective.get("relations") or []
            for parameter, names in {"relation": [one] if one else [], "relations": many}.items():
                for name in [name for name in names if name not in known]:
                    hint = nearest(name, known)
                    said = f"unknown relation {name!r} in {spec}; {hint}"
                    complaints.append(f"parameter {parameter!r}: {said}")
    refuse(complaints)
