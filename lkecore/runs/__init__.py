"""Runs: what a finished run or page is, how it is made, and what it keeps."""

from lkecore.answers.kept import load_runs, save
from lkecore.runs.code_digest import source_digest
from lkecore.runs.record import (
    Job,
    check_format,
    facts_of,
    failure,
    labels_of,
    manifest,
    models_of,
    read_notebook,
    record_failure,
    run_folder,
    run_key,
    seal,
    versions,
)

__all__ = [
    "Job", "check_format", "load_runs", "facts_of", "failure", "save", "labels_of", "manifest",
    "models_of", "read_notebook", "record_failure", "run_folder", "run_key", "seal",
    "source_digest", "versions",
]  # fmt: skip
