"""Hub: the revision of a repository of the Hugging Face hub that a name means, and how to fetch it.

A name is ``org/name`` or ``org/name@revision``; ``hf:`` in front of it changes nothing. Without a revision
it means the one in the lock file that the environment variable ``LKE_MODELS_LOCK`` names, or else the
newest. A lock file has one line for each repository. ``lke models lock`` writes it, and nobody types
revisions in.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path

from lkecore.errors import BadInput, first_line
from lkecore.storage import write_whole

# A revision must not contain "..": the client looks for it in the folders of its cache.
REVISION = r"(?!\S*\.\.)\w[\w./-]*"
HUB_ID = re.compile(rf"[\w.-]+/[\w.-]+(@{REVISION})?")
SHA = re.compile(r"[0-9a-f]{40}")
WEIGHTS = ("safetensors", "bin", "gguf", "none")
HEADER = (
    "# Revisions of the models on the Hugging Face hub. Written by `lke models lock`, not by hand.\n"
    "# id\trevision\tweights\tgated\tdate\n"
)


@dataclass(frozen=True)
class Found:
    """The hub's answer about a repository on a day."""

    revision: str  # the commit, 40 hexadecimal digits
    weights: str  # the best kind that there is, of WEIGHTS
    gated: str  # yes or no: whether a user must accept terms first
    date: str  # YYYY-MM-DD


def plain(name: str) -> str:
    """A hub id without the ``hf:`` that other programs put in front.

    >>> plain("hf:org/name@v1"), plain("org/name")
    ('org/name@v1', 'org/name')
    """
    return name.removeprefix("hf:")


def pinned(name: str) -> tuple[str, str | None]:
    """(repository, revision) of a hub id; the revision may come from the lock, and None is the newest."""
    repository, _, revision = plain(name).partition("@")
    if not revision and (row := in_force().get(repository)) is not None:
        revision = row.revision
    return repository, revision or None


def in_force() -> dict[str, Found]:
    """The rows of the lock file that ``LKE_MODELS_LOCK`` names; none if it names no file."""
    given = os.environ.get("LKE_MODELS_LOCK")
    return read_lock(Path(given)) if given else {}


def snapshot(name: str) -> Path | None:
    """The folder of a model in the hub's own cache on this machine, named by its commit, or None."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    repository, revision = pinned(name)
    try:
        found = try_to_load_from_cache(repository, "config.json", revision=revision)
    except HFValidationError:  # no repository can have this name
        return None
    return Path(found).parent if isinstance(found, str) else None


def commit(name: str) -> str | None:
    """The commit that a hub id means, as far as this machine knows without asking the network."""
    revision = pinned(name)[1]
    if revision and SHA.fullmatch(revision):
        return revision
    folder = snapshot(name)
    return folder.name if folder else None


def fetch(name: str, files: Sequence[str]) -> Path:
    """Download the files of a repository that match the patterns, and return their folder."""
    from huggingface_hub import snapshot_download

    repository, revision = pinned(name)
    # Folders inside a repository contain the same weights for other programs, and so do files called
    # consolidated.
    leave = ["*/*", "consolidated*"]
    try:
        folder = snapshot_download(
            repository, revision=revision, allow_patterns=list(files), ignore_patterns=leave
        )
    except Exception as error:  # the hub client raises a dozen kinds: network, absent, gated
        raise BadInput(f"model {name}: {why_not(repository, error)}") from error
    return Path(folder)


def ask(repository: str, revision: str | None = None) -> Found:
    """The hub's answer: the commit of a revision (None: the newest) now, and the weights that it has."""
    from huggingface_hub import HfApi

    try:
        info = HfApi().model_info(repository, revision=revision, files_metadata=False)
    except Exception as error:  # a dozen kinds, as in fetch
        raise BadInput(f"model {repository}: {why_not(repository, error)}") from error
    files = [sibling.rfilename for sibling in info.siblings or []]
    kinds = {
        "safetensors": r"model[\w.-]*\.safetensors",
        "bin": r"pytorch_model[\w.-]*\.bin",
        "gguf": r"[\w.-]+\.gguf",
    }
    found = [kind for kind, form in kinds.items() if any(re.fullmatch(form, f) for f in files)]
    return Found(
        revision=str(info.sha),
        weights=[*found, "none"][0],
        gated="yes" if info.gated else "no",
        date=datetime.now(UTC).date().isoformat(),
    )


def why_not(page: str, error: Exception) -> str:
    """The reason why the hub gave nothing, as one line with a remedy; ``page`` is the hub's name for it."""
    from huggingface_hub import constants, errors

    if isinstance(error, errors.GatedRepoError):
        return (
            f"gated: accept its terms on https://huggingface.co/{page}, then set HF_TOKEN "
            "or call hf auth login"
        )
    if isinstance(error, errors.RepositoryNotFoundError):
        return "no such repository on the hub, or a private one (set HF_TOKEN for those)"
    if isinstance(error, errors.RevisionNotFoundError):
        return "the repository has no such revision"
    if isinstance(error, errors.LocalEntryNotFoundError | errors.OfflineModeIsEnabled):
        if constants.HF_HUB_OFFLINE:
            return "not on this machine, and the network is off (HF_HUB_OFFLINE)"
        return "not on this machine, and the hub cannot be reached"
    return f"not from the hub ({type(error).__name__}: {first_line(error)})"


def read_lock(path: Path) -> dict[str, Found]:
    """The rows of a lock file by repository. Raises :class:`BadInput` for a line that is none of ours."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"models lock {path} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"models lock {path} is not UTF-8") from error
    rows: dict[str, Found] = {}
    for n, line in enumerate(lines, start=1):
        if line.startswith("#") or not line.strip():
            continue
        repository, *rest = line.split("\t")
        if len(rest) != 4 or "@" in repository or not HUB_ID.fullmatch(repository):
            raise BadInput(f"models lock {path}, line {n}: expected {HEADER.splitlines()[1][2:]!r}")
        row = Found(*rest)
        if not SHA.fullmatch(row.revision):
            raise BadInput(
                f"models lock {path}, line {n}: a revision has 40 hexadecimal digits, "
                f"found {row.revision!r}"
            )
        if row.weights not in WEIGHTS or row.gated not in ("yes", "no"):
            raise BadInput(
                f"models lock {path}, line {n}: weights must be one of {', '.join(WEIGHTS)} and "
                f"gated yes or no, found {row.weights!r} and {row.gated!r}"
            )
        if repository in rows:
            raise BadInput(f"models lock {path}, line {n}: {repository} is there twice")
        rows[repository] = row
    return rows


def lock(
    path: Path, repositories: Iterable[str], *, update: bool = False
) -> tuple[dict[str, Found], list[str]]:
    """Resolve repositories to commits and keep them in a lock file; a missing file is made.

    A row that is there stays unchanged, unless ``update`` asks for it anew. Returns the rows that are new or
    changed, and one line for each repository that could not be resolved; its old row stays.
    """
    old = read_lock(path) if path.exists() else {}
    new, failures = {}, []
    for repository in dict.fromkeys(repositories):
        if repository in old and not update:
            continue
        try:
            new[repository] = ask(repository)
        except BadInput as error:
            failures.append(str(error))
    rows = sorted((old | new).items())
    lines = ["\t".join([repository, *astuple(row)]) + "\n" for repository, row in rows]
    try:
        write_whole(path, HEADER + "".join(lines))
    except OSError as error:
        raise BadInput(f"models lock {path} cannot be written ({error.strerror})") from error
    return {r: row for r, row in new.items() if row != old.get(r)}, failures
