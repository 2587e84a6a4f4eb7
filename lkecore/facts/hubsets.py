"""Hub sets: fact sets of the Hugging Face hub. Only their data files are fetched, never code.

``spec`` is ``hub:org/name``, then ``/path`` for only those files whose path in the repository begins
so, then ``@revision``. Files in the hub's cache on this machine are used as they are, without the network.
Where the main branch has no table of facts, the hub's own Parquet copy (branch
``refs/convert/parquet``) is used. A data set that is malformed, absent, gated, out of reach or
without facts raises :class:`~lkecore.errors.BadInput`.
"""

import re
from pathlib import Path
from typing import Any

from lkecore import hub
from lkecore.errors import BadInput
from lkecore.facts import bear
from lkecore.facts.layouts import (
    Found,
    Table,
    as_row,
    digest_of,
    read_all,
    tables_in,
    unread_in,
)
from lkecore.facts.tables import SUFFIXES

CONVERTED = "refs/convert/parquet"  # the branch in which the hub keeps its own Parquet copy of many data sets


def is_ready(spec: str) -> bool:
    """Whether the data files are in the hub's cache on this machine; asks no network."""
    return bool(_cached(spec))


def relations(spec: str) -> tuple[str, ...]:
    """The names of the relations, sorted."""
    return tuple(sorted(_everything(spec)))


def rows(spec: str, relation: str) -> list[tuple[str, dict[str, Any], str]]:
    """(place, row in our columns, split or "") of every row of a relation; empty if unknown.

    Rows of one fact that differ only in a sentence or a template are one row, and count as repeated.
    """
    found = _everything(spec).get(relation, Found())
    named = ((row[0].path, as_row(*row)) for row in found.rows)
    return [(where, bear.in_space(path, where, row), split) for path, (where, row, split) in named]


def about(spec: str, relation: str) -> tuple[str, tuple[str, ...], tuple[bool, ...], int]:
    """(label or "", templates, which of them people wrote, number of repeated rows) of a relation.

    Templates that people wrote come first; where no row names one (MyriadLAMA's ``is_manual``), the third is
    (). Repeated rows are those that :func:`rows` leaves out.

    MyriadLAMA's table on the hub (``hub:iszhaoxin/MyriadLAMA``) has a row for each fact and template: all
    true objects with their aliases, the template, and whether it is manual. It lacks which of the five manual
    templates another template paraphrases, so there are no groups. It also lacks the other names of subjects.
    """
    found = _everything(spec).get(relation, Found())
    templates = tuple(sorted(found.templates, key=lambda t: not found.templates[t]))
    if not templates and found.rows:
        return found.label, bear.about(found.rows[0][0].path)["templates"], (), found.repeated
    manual = tuple(found.templates[t] for t in templates)
    return found.label, templates, manual if any(manual) else (), found.repeated


def content_digest(spec: str) -> str:
    """SHA-256 over the paths and contents of the files with facts."""
    return digest_of(_tables(spec))


def unread(spec: str) -> tuple[str, ...]:
    """The files on this machine that are no facts, of those whose paths begin as ``spec`` says."""
    used = _tables(spec)
    above = len(Path(used[0].name).parents) - 1  # folders above a file, inside its snapshot
    return unread_in(used[0].path.parents[above], _parts(spec)[1])


def _everything(spec: str) -> dict[str, Found]:
    found = read_all(_tables(spec))
    if not found:
        raise BadInput(f"fact set {spec}: no rows in it")
    return found


# --- the hub --------------------------------------------------------------------------------------


def _parts(spec: str) -> tuple[str, str, str | None]:
    """(org/name, beginning of the paths, revision or None)."""
    name = r"[A-Za-z0-9][\w.-]*"
    form = rf"hub:({name}/{name})((?:/[\w.-]+)*)/?(?:@({hub.REVISION}))?"
    match = re.fullmatch(form, spec, re.ASCII)
    if not match:
        raise BadInput(
            f"fact set {spec!r}: a data set of the hub is named hub:org/name[/path][@revision]"
        )
    return match[1], match[2].removeprefix("/"), match[3]


def _tables(spec: str) -> tuple[Table, ...]:
    """The files with facts, from the hub's cache or else fetched."""
    if cached := _cached(spec):
        return cached
    repository, start, asked = _parts(spec)
    for revision in [asked] if asked else [None, CONVERTED]:
        snapshot = _fetch(spec, revision)
        if snapshot and (tables := tables_in(snapshot, start, repository)):
            return tables
    where = f" whose path begins with {start!r}" if start else ""
    raise BadInput(
        f"fact set {spec}: no {', '.join(SUFFIXES)} file{where} with a subject and an object "
        "column (scripts are not run)"
    )


def _cached(spec: str) -> tuple[Table, ...]:
    """The files with facts in the hub's cache; () where the cache lacks any of them."""
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    repository, start, asked = _parts(spec)
    for revision in [asked] if asked else [None, CONVERTED]:
        try:
            snapshot = _snapshot(repository, start, revision, local_files_only=True)
        except (LocalEntryNotFoundError, HFValidationError):  # the fetch reports it
            continue
        if tables := tables_in(snapshot, start, repository):
            return tables
    return ()


def _snapshot(repository: str, start: str, revision: str | None, **only: bool) -> Path:
    from huggingface_hub import snapshot_download

    # The hub's client distinguishes letter case, and we do not: .jsonl, .JSONL, .jsonl.gz.
    any_case = ["".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in s) for s in SUFFIXES]
    patterns = [f"{start}*{suffix}{packed}" for suffix in any_case for packed in ("", ".[gG][zZ]")]
    return Path(
        snapshot_download(
            repository, repo_type="dataset", revision=revision, allow_patterns=patterns, **only
        )
    )


def _fetch(spec: str, revision: str | None) -> Path | None:
    """The downloaded snapshot; None where the hub made no Parquet copy that nobody asked for by name."""
    from huggingface_hub import errors

    repository, start, asked = _parts(spec)
    try:
        return _snapshot(repository, start, revision)
    except Exception as error:  # the hub client raises a dozen kinds: network, absent, gated
        if isinstance(error, errors.RevisionNotFoundError) and revision == CONVERTED and not asked:
            return None
        reason = hub.why_not(f"datasets/{repository}", error)
        raise BadInput(f"fact set {spec}: {reason}") from error
