"""Runs: what a finished run or page is, how it is made, and what is kept of it."""

from lkecore.answers.kept import collect, keep
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
from lkecore.runs.source import source_digest

__all__ = [
    "Job", "check_format", "collect", "facts_of", "failure", "keep", "labels_of", "manifest",
    "models_of", "read_notebook", "record_failure", "run_folder", "run_key", "seal",
    "source_digest", "versions",
]  # fmt: skip
