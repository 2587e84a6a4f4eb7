"""Grid: from a params file to finished runs. Checks everything at the door, then executes.

One notebook after the other, in kernels of their own, by papermill.
"""

import ast
import logging
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock
from tqdm import tqdm

from lkecore import facts, runs, weights
from lkecore.models import DTYPES
from lkecore.rows import BadInput, nearest

TYPES = {"int": int, "float": float, "str": str, "bool": bool}


@dataclass(frozen=True)
class Plan:
    """A params file: the profile's name, the project's folder and the jobs."""

    profile: str
    project: Path
    jobs: tuple[runs.Job, ...]


def read_plan(path: str | Path) -> Plan:
    """Read and check ``params/<profile>.yaml``, before anything runs.

    The file holds ``profile`` (a name) and ``runs``, a list of ``notebook`` (a file of the
    ``notebooks`` folder beside ``params``, without suffix) and ``parameters``. Raises
    :class:`BadInput` for anything else: unknown notebooks, unknown parameters or values of another
    type, with the nearest names; unknown models or facts named by a parameter.
    """
    path = Path(path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"params file {path} cannot be read ({error.strerror})") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not YAML ({' '.join(str(error).split())})") from error
    if not isinstance(content, dict) or set(content) != {"profile", "runs"}:
        raise BadInput(f"{path}: expected the keys profile and runs")
    if not isinstance(content["profile"], str) or not isinstance(content["runs"], list):
        raise BadInput(f"{path}: profile must be a name and runs a list")
    project = path.absolute().parent.parent
    notebooks = {p.stem: p for p in sorted((project / "notebooks").glob("*.py"))}
    if not notebooks:
        raise BadInput(f"{path}: must lie in a folder beside notebooks/, and {project} has none")
    jobs: list[runs.Job] = []
    for row in content["runs"]:
        if not isinstance(row, dict) or not {"notebook"} <= set(row) <= {"notebook", "parameters"}:
            raise BadInput(f"{path}: a run has a notebook and parameters, found {row!r}")
        name = row["notebook"]
        if not isinstance(name, str) or name not in notebooks:
            raise BadInput(f"{path}: unknown notebook {name!r}; {nearest(str(name), notebooks)}")
        if any(job.notebook == notebooks[name] for job in jobs):
            raise BadInput(f"{path}: notebook {name!r} is named twice")
        given = row.get("parameters") or {}
        effective = _check_parameters(path, notebooks[name], given)
        jobs.append(runs.Job(notebooks[name], given, effective))
    if not jobs:
        raise BadInput(f"{path}: runs is empty")
    return Plan(content["profile"], project, tuple(jobs))


def declared_parameters(notebook: Path) -> dict[str, tuple[str, Any]]:
    """{name: (annotation, default)} of the cell tagged ``parameters``: annotated literals only."""
    cells = [
        c for c in runs.read_notebook(notebook).cells if "parameters" in c.metadata.get("tags", [])
    ]
    if len(cells) != 1:
        raise BadInput(f"{notebook.name}: {len(cells)} cells tagged parameters, expected one")
    declared = {}
    for node in ast.parse(cells[0].source).body:
        if not isinstance(node, ast.AnnAssign) or node.value is None:
            raise BadInput(f"{notebook.name}: a parameter is not of the form name: type = literal")
        declared[ast.unparse(node.target)] = (
            ast.unparse(node.annotation),
            ast.literal_eval(node.value),
        )
    return declared


def _check_parameters(path: Path, notebook: Path, given: Any) -> dict[str, Any]:
    declared = declared_parameters(notebook)
    if not isinstance(given, dict):
        raise BadInput(f"{path}: parameters of {notebook.stem} must be names and values")
    for name, value in given.items():
        where = f"{path}: {notebook.stem}: parameter {name!r}"
        if name not in declared:
            raise BadInput(f"{where} is unknown; {nearest(str(name), declared)}")
        annotation = declared[name][0]
        if not fits(value, annotation):
            raise BadInput(f"{where} must be {annotation}, found {value!r}")
        if isinstance(value, list) and len(set(value)) < len(value):
            raise BadInput(f"{where} names something twice: {value}")
        least = 1 if name.startswith("n_") and name != "n_shots" else 0
        if type(value) is int and (name.startswith("n_") or name == "seed") and value < least:
            raise BadInput(f"{where} must be {least} or more, found {value}")
        if name == "dtype" and value not in DTYPES:
            raise BadInput(f"{where} must be one of {', '.join(DTYPES)}, found {value!r}")
        if name in ("model", "models", "fact_set") and not value:
            raise BadInput(f"{where} must not be empty")
    effective = {name: default for name, (_, default) in declared.items()} | given
    try:
        for model in runs.models_of(effective):
            weights.check_name(model)
        for spec in runs.facts_of(effective):
            known = facts.relations(spec)
            one, many = effective.get("relation"), effective.get("relations") or []
            for relation in [*([one] if one else []), *many]:
                if relation not in known:
                    raise BadInput(
                        f"unknown relation {relation!r} in {spec}; {nearest(relation, known)}"
                    )
    except BadInput as error:
        raise BadInput(f"{path}: {notebook.stem}: {error}") from error
    return effective


def fits(value: Any, annotation: str) -> bool:
    if annotation.startswith("list["):
        inner = annotation.removeprefix("list[").removesuffix("]")
        return isinstance(value, list) and all(fits(item, inner) for item in value)
    if annotation == "float" and type(value) is int:
        return True
    return type(value) is TYPES.get(annotation)  # a bool is no int here


def execute(plan: Plan, target: Path) -> list[str]:
    """Run the jobs that have no finished run yet, one after another; return what failed, a line each.

    Models are prepared (fetched, converted) first. A job that fails does not stop the others; its
    notebook and log stay in its folder, without a manifest.
    """
    for name in dict.fromkeys(m for job in plan.jobs for m in runs.models_of(job.effective)):
        weights.locate(name)
    failures = []
    with tqdm(plan.jobs, unit="notebook", disable=None) as bar:
        for job in bar:
            bar.set_description(job.notebook.stem)
            key = runs.run_key(job)
            folder = runs.run_folder(target, job, key)
            target.mkdir(parents=True, exist_ok=True)
            with FileLock(folder.with_suffix(".lock")):  # another lke may be at the same job
                if (done := runs.manifest(folder)) is not None:
                    started = done["started"]
                    tqdm.write(f"{job.notebook.stem}: finished before, {started}", sys.stderr)
                    continue
                failure = _execute(job, key, plan.profile, folder)
            failures += [failure] if failure else []
            if done := runs.manifest(folder):
                tqdm.write(f"{job.notebook.stem}: {done['seconds']:.0f} s", sys.stderr)
    return failures


def _execute(job: runs.Job, key: str, profile: str, folder: Path) -> str | None:
    """Execute one notebook into its folder; the manifest last. Returns the failure as one line."""
    import papermill
    from traitlets.config import Config

    shutil.rmtree(folder, ignore_errors=True)  # an unfinished run is no run
    folder.mkdir(parents=True)
    node = runs.read_notebook(job.notebook)
    started, clock = datetime.now(UTC), time.perf_counter()
    # A socket's path may have 100 characters at most, so it must not lie deep in somebody's home.
    sockets = tempfile.mkdtemp(prefix="lke-", dir="/tmp" if os.path.isdir("/tmp") else None)
    before = dict(os.environ)
    os.environ |= {"LKE_RUN": str(folder.resolve()), "JUPYTER_RUNTIME_DIR": sockets}
    log, handler = logging.getLogger("papermill"), logging.FileHandler(folder / "log.txt")
    level, propagate = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        papermill.execute_notebook(
            node,
            str(folder / "notebook.ipynb"),
            parameters=job.parameters,
            kernel_name="python3",
            language="python",
            progress_bar=sys.stderr.isatty(),
            log_output=True,
            # Local sockets instead of TCP: no port to race for, nothing for others to listen to.
            config=Config({"KernelManager": {"transport": "ipc"}}),
        )
    except papermill.PapermillExecutionError as error:
        return f"{job.notebook.stem}: {error.ename}: {error.evalue} (see {folder}/notebook.ipynb)"
    finally:
        log.removeHandler(handler)
        handler.close()
        log.setLevel(level)
        log.propagate = propagate
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(sockets, ignore_errors=True)
    runs.seal(folder, job, key, profile, started, time.perf_counter() - clock)
    return None
