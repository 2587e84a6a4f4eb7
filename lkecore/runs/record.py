"""Runs and pages: what a finished one is, and what made it.

A **run** executes a notebook for one set of parameters. A **page** executes the same notebook over the
folders that ``LKE_PAGE`` names in its environment. There its scores step reads what the runs kept and
computes nothing; all later code is the same. Either is a folder ``runs/<notebook>-<key>/`` with
``notebook.ipynb``, ``log.txt``, the frames that the notebook kept, and ``manifest.json``, which is written
last. Without a manifest it is not finished: a killed notebook, or one that timed out, can look complete.

The key is a digest of all that decides the result: the notebook's code (not its prose), its
parameters, the code and tables of ``lkecore`` except its drivers, and the content of the facts that it
names. For a run it also has the content of the models, for a page that of the runs that it reads. A notebook
that shows shipped results (``lkecore.answers.shipped``) has their content in its key, too.
"""

import copy
import functools
import hashlib
import json
import os
import platform
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lkecore import __version__, facts, hub, progress
from lkecore.answers.kept import read_manifest
from lkecore.answers.shipped import table
from lkecore.errors import BadInput
from lkecore.models import served, weights
from lkecore.runs import labels
from lkecore.runs.code_digest import pages_digest, source_digest
from lkecore.runs.devices import device_names
from lkecore.storage import RESULTS, file_digest, version, write_whole

FORMAT = 1  # of a manifest; raised when an older lkecore can no longer read a newer one


@dataclass(frozen=True)
class Job:
    """One notebook with its parameters, checked: a run, or, with ``reads``, a page."""

    notebook: Path
    parameters: dict[str, Any]  # as given; the notebook has defaults for the rest
    effective: dict[str, Any]  # with the defaults
    part: dict[str, Any] = field(default_factory=dict)  # it differs in these from its row's others
    reads: tuple[Path, ...] = ()  # a page: the folders of its runs
    labels: dict[str, str] = field(
        default_factory=dict
    )  # a page: the labels that it shows in place of names

    @property
    def label(self) -> str:
        """A name for people: ``11_iclke_shots models=smollm2 draws=3``."""
        named = [f"{k}={','.join(map(str, v))}" for k, v in self.part.items()]
        return " ".join([self.notebook.stem, *named, *(["page"] if self.reads else [])])


def models_of(parameters: dict[str, Any]) -> list[str]:
    """The models that a run names: always in the parameters ``model`` and ``models``."""
    return [m for m in [parameters.get("model"), *parameters.get("models", [])] if m]


def facts_of(parameters: dict[str, Any]) -> list[str]:
    return [parameters["fact_set"]] if parameters.get("fact_set") else []


def labels_of(job: Job) -> dict[str, str]:
    """{model or fact set: what a run or page shows in its place}; see :mod:`lkecore.runs.labels`."""
    behind = [read_manifest(folder) for folder in job.reads]
    names = [*models_of(job.effective), *facts_of(job.effective)]
    names += [name for each in behind for name in (*each["models"], *each["facts"])]
    return labels.shown(names, job.labels)


def read_notebook(path: Path) -> Any:
    """A notebook of ours, as a copy that the caller may change."""
    return copy.deepcopy(_parsed(path.read_text(encoding="utf-8")))


@functools.lru_cache(maxsize=100)  # a plan of 500 jobs has few notebooks, and parsing takes longest
def _parsed(text: str) -> Any:
    import jupytext

    return jupytext.reads(text, fmt="py:percent")


def _code(notebook: Path) -> list[str]:
    """The code cells of a notebook."""
    cells = _parsed(notebook.read_text(encoding="utf-8")).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def run_key(job: Job) -> str:
    """A SHA-256 over all that decides the result of a job. Models and facts must be prepared."""
    code = _code(job.notebook)
    data = {spec: facts.content_digest(spec) for spec in facts_of(job.effective)}
    words = job.effective.get("wordings")
    if isinstance(words, str) and Path(words).is_file():
        data[words] = file_digest(Path(words))
    made_of = (
        {folder.name: file_digest(folder / "manifest.json") for folder in job.reads}
        if job.reads
        else {m: _model_digest(m) for m in models_of(job.effective)}
    )
    parts = [job.notebook.stem, code, job.effective, pages_digest(), data, made_of]
    if job.labels:  # of a page alone: a run is the same whatever label its model has
        parts.append(job.labels)
    if shown := _shipped(code, job.effective):
        parts.append(shown)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _shipped(code: list[str], effective: dict[str, Any]) -> list[list[str]]:
    """The results that a notebook shows, and what made them, by their digests.

    They are those of the experiments that its code names, and of the sources that ``sources`` and
    ``shipped...`` name.
    """
    profiles: set[str] = set()
    for parameter, given in effective.items():
        profiles |= set(given) if parameter.startswith(("shipped", "sources")) else set()
    made = table(RESULTS)
    named = [
        name for name in made["experiment"].unique() if any(f'"{name}' in cell for cell in code)
    ]
    made = made[made["source"].isin(profiles) | made["experiment"].isin(named)]
    files = [
        path for name in made["experiment"].unique() for path in RESULTS.glob(f"{name}*.parquet")
    ]
    return sorted([path.name, file_digest(path)] for path in files) + made.to_numpy().tolist()


def _model_digest(name: str) -> str:
    """Digest of a prepared model; uses no network if the model is here, since keys are computed often.

    Locating it would ask the hub for its newest revision, and ``lke status`` would fetch that.
    """
    if weights.is_served(name):
        return served.who(name)["digest"]
    return weights.files_digest(weights.present(name) or weights.locate(name))


def run_folder(runs: Path, job: Job, key: str | None = None) -> Path:
    """The folder of a job's result, now or later."""
    kind = "page-" if job.reads else ""
    return runs / f"{job.notebook.stem}-{kind}{(key or run_key(job))[:12]}"


def manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a finished run or page whose files are all there and unchanged, otherwise None."""
    try:
        found = read_manifest(folder)
        whole = all(file_digest(folder / n) == d for n, d in found["files"].items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return found if whole else None


def failure(folder: Path) -> dict[str, Any] | None:
    """Why a job failed last time: ``error`` (one line) and ``when``; None if it did not."""
    try:
        return json.loads((folder / "failure.json").read_text(encoding="utf-8"))
    except OSError:
        return None
    except ValueError:
        return {"error": "the disk had no room to say why", "when": ""}


def check_format(runs: Path) -> None:
    """Raise :class:`BadInput` if a newer lkecore has written into this folder of runs."""
    for path in sorted(runs.glob("*/manifest.json")):
        try:
            found = json.loads(path.read_text(encoding="utf-8")).get("format", 1)
        except (OSError, ValueError, AttributeError):
            continue  # damaged: it counts as not finished, and is made again
        if found > FORMAT:
            raise BadInput(
                f"{path.parent}: written by a newer lkecore (format {found}, this one knows up to "
                f"{FORMAT}); update lkecore or name another folder with --runs"
            )


def seal(
    folder: Path, job: Job, key: str, profile: str, started: datetime, seconds: float, ledger: Path
) -> None:
    """Write the manifest, by which the result counts from now on; all files must exist."""
    behind = {run.name: read_manifest(run) for run in job.reads}
    if job.reads:
        models = {m: d for run in behind.values() for m, d in run["models"].items()}
        revisions = {m: r for run in behind.values() for m, r in run["revisions"].items()}
        known = {spec: d for run in behind.values() for spec, d in run["facts"].items()}
        rows = {s: d for run in behind.values() for s, d in run.get("rows", {}).items()}
        dtypes = dict.fromkeys(run["dtype"] for run in behind.values())
        trained = {each for run in behind.values() for each in run.get("trained_in", [])}
        behind_servers = {m: s for run in behind.values() for m, s in run.get("served", {}).items()}
    else:
        known = {spec: facts.content_digest(spec) for spec in facts_of(job.effective)}
        rows = {spec: _rows_of(spec, digest) for spec, digest in known.items()}
        trained, names = set(), models_of(job.effective)
        of_all = [weights.is_served(m) and "as served" for m in names] or [False]
        dtypes = [*dict.fromkeys(d or job.effective.get("dtype", "float32") for d in of_all)]
        said = [entry for entry in progress.read_ledger(ledger) if "served" in entry]
        behind_servers = {entry["model"]: entry["served"] for entry in said}
        models = {m: _model_digest(m) for m in names}
        on_hub = [m for m in names if weights.kind_of(m).on_hub]
        revisions = {m: hub.commit(m) for m in on_hub}
    entries = [entry for entry in progress.read_ledger(ledger) if "served" not in entry]
    record = {
        "format": FORMAT,
        "notebook": job.notebook.stem,
        "profile": profile,
        "parameters": job.effective,
        "part": job.part,
        "labels": labels_of(job),
        "key": key,
        "runs": {run.name: file_digest(run / "manifest.json") for run in job.reads},
        "models": models,
        "revisions": revisions,
        "facts": known,
        "rows": rows,
        "dtype": ", ".join(dtypes),
        "tokens_forwarded": sum(entry["tokens_forwarded"] for entry in entries),
        "chunks": len(entries),
        "chunks_from_cache": sum(entry["from_cache"] for entry in entries),
        # The precision of all training, also of kept models; the cards of lab models state theirs.
        "trained_in": sorted({e["trained_in"] for e in entries if "trained_in" in e} | trained),
        # The tokens in front of every text, and the number of texts with a token unknown to the model.
        "prefixes": {e["model"]: e["prefix"] for e in entries if "prefix" in e},
        "unknown_tokens": {
            m: sum(e.get("unknown", 0) for e in entries if e.get("model") == m) for m in models
        },
        "options_left_out": sum(entry.get("options_left_out", 0) for entry in entries),
        "memory_gb": list(dict.fromkeys(entry["memory_gb"] for entry in entries)),
        "threads": os.environ.get("OMP_NUM_THREADS") or str(os.cpu_count()),
        "devices": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "device_names": device_names(),
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        **versions(),
        "files": {p.name: file_digest(p) for p in sorted(folder.iterdir()) if p.name != "log.txt"},
    }
    if behind_servers:
        record["served"] = behind_servers  # the servers' own statements of who they are, and when
    _write_json(folder / "manifest.json", record)


@functools.lru_cache(maxsize=100)  # all runs of a plan may ask about the same facts
def _rows_of(spec: str, digest: str) -> dict[str, Any]:
    """The numbers of rows of a fact set: read, repeated and left out; and the files that are no facts."""
    loaded = [facts.load(spec, name) for name in facts.relations(spec)]
    return {
        "read": sum(relation.read for relation in loaded),
        "repeated": sum(relation.repeated for relation in loaded),
        "left_out": sum(relation.left_out for relation in loaded),
        "files_unread": list(facts.unread(spec)),
    }


def record_failure(folder: Path, error: str) -> None:
    """Write ``failure.json``: why the folder has no manifest."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    _write_json(folder / "failure.json", {"error": error, "when": now})


def _write_json(path: Path, content: dict[str, Any]) -> None:
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False))


def versions() -> dict[str, str]:
    """Versions and source digest of the software, and the git commit where there is one."""
    found = {"lkecore": __version__, "source": source_digest()[:12], "commit": _commit()}
    found["python"] = platform.python_version()
    for package in ("torch", "transformers", "numpy", "scipy", "pandas"):
        # The local part is left out: 2.13.0+cpu and 2.13.0 are one version.
        found[package] = version(package).split("+")[0]
    return found


def _commit() -> str:
    """The commit of the checkout, marked when it has changes; "none" outside of git."""
    # Many runs share one checkout, and none of them may leave its index locked.
    command = ["git", "--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=12"]
    command.append("--exclude=*")
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return "none"
    return done.stdout.strip() if done.returncode == 0 else "none"
