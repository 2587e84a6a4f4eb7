"""Runs: what a finished run is, and what made it.

A run is a folder ``runs/<notebook>-<key>/`` with ``notebook.ipynb``, ``log.txt``, the frames that
the notebook kept, and ``manifest.json``, which is written last. Without a manifest there is no run:
a killed notebook, or one that timed out, can look complete.

The key is a digest of all that decides the result: the notebook's code (not its prose), its
parameters, the source of ``lkecore``, and the content of the models and facts that it names.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from lkecore import __version__, facts, weights


@dataclass(frozen=True)
class Job:
    """One notebook with its parameters, checked."""

    notebook: Path
    parameters: dict[str, Any]  # as given; the notebook has defaults for the rest
    effective: dict[str, Any]  # with the defaults


def models_of(parameters: dict[str, Any]) -> list[str]:
    """The models that a run names: the parameters ``model`` and ``models`` mean just that."""
    return [m for m in [parameters.get("model"), *parameters.get("models", [])] if m]


def facts_of(parameters: dict[str, Any]) -> list[str]:
    return [parameters["fact_set"]] if parameters.get("fact_set") else []


def read_notebook(path: Path) -> Any:
    import jupytext

    return jupytext.read(path, fmt="py:percent")


def source_digest() -> str:
    """SHA-256 over every source and data file of the package: what a version number cannot say."""
    digest = hashlib.sha256()
    top = Path(__file__).parent
    for path in sorted(top.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(top).as_posix()}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def run_key(job: Job) -> str:
    """What decides the result of a job, as a SHA-256. Models must be prepared."""
    code = [c.source for c in read_notebook(job.notebook).cells if c.cell_type == "code"]
    models = {name: weights.files_digest(weights.locate(name)) for name in models_of(job.effective)}
    data = {spec: facts.content_digest(spec) for spec in facts_of(job.effective)}
    parts = [job.notebook.stem, code, job.effective, source_digest(), models, data]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def run_folder(runs: Path, job: Job, key: str | None = None) -> Path:
    """Where the run of a job is, or will be."""
    return runs / f"{job.notebook.stem}-{(key or run_key(job))[:12]}"


def manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a finished run whose files are all there and unchanged, else None."""
    try:
        found = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        whole = all(_file_digest(folder / n) == d for n, d in found["files"].items())
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    return found if whole else None


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def seal(folder: Path, job: Job, key: str, profile: str, started: datetime, seconds: float) -> None:
    """Write the manifest, by which the run counts from now on; all files must be there."""
    record = {
        "notebook": job.notebook.stem,
        "profile": profile,
        "parameters": job.effective,
        "key": key,
        "models": {m: weights.files_digest(weights.locate(m)) for m in models_of(job.effective)},
        "dtype": job.effective.get("dtype", "float32"),
        "threads": os.environ.get("OMP_NUM_THREADS") or str(os.cpu_count()),
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        **versions(),
        "files": {p.name: _file_digest(p) for p in sorted(folder.iterdir()) if p.name != "log.txt"},
    }
    part = folder / "manifest.json.part"
    part.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
    os.replace(part, folder / "manifest.json")


def keep(frame: pd.DataFrame, name: str) -> None:
    """Keep a frame in the run's folder as ``name``: ``.parquet`` (scores) or ``.csv`` (figures).

    Outside of ``lke run``, as in JupyterLab, there is no run folder, and nothing is written.
    """
    if not name.endswith((".parquet", ".csv")):
        raise ValueError(f"{name!r} must end in .parquet or .csv")
    folder = os.environ.get("LKE_RUN")
    if folder is None:
        return
    path = Path(folder) / name
    if name.endswith(".csv"):
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)


def versions() -> dict[str, str]:
    """Versions and source digest of what computes, and the git commit where there is one."""
    found = {"lkecore": __version__, "source": source_digest()[:12], "commit": _commit()}
    found["python"] = platform.python_version()
    for package in ("torch", "transformers", "numpy", "scipy", "pandas"):
        # Without a local part: 2.13.0+cpu and 2.13.0 are one version.
        found[package] = importlib.metadata.version(package).split("+")[0]
    return found


def provenance(*models: Any) -> pd.DataFrame:
    """What made this page's numbers: a table of models (digest, dtype, device) and versions."""
    rows = {
        f"model {m.name}": f"{m.digest[:12]}, {m.dtype}, {m.device}, "
        f"{'with' if m.add_bos else 'no'} BOS"
        for m in models
    } | versions()
    return pd.DataFrame({"which": rows.values()}, index=pd.Index(rows, name="what"))


def _commit() -> str:
    """The commit of the checkout, marked when it has changes; "none" outside of git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return "none"
    return done.stdout.strip() if done.returncode == 0 else "none"
