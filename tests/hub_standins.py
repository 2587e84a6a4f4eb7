"""A stand-in for the Hugging Face hub: a dictionary that answers as the hub's client does."""

import hashlib
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import transformers.utils.hub  # noqa: F401 (so that it takes the true client before a test hides it)
from huggingface_hub import constants, errors
from huggingface_hub.hf_api import ModelInfo
from huggingface_hub.utils import filter_repo_objects


def http(kind: type[Exception], message: str = "401 Client Error") -> Exception:
    """One of the client's own errors, as it is raised for an answer of the hub."""
    return kind(message, response=SimpleNamespace(headers={}, request=None, status_code=401))


class Hub:
    """Repositories in memory. Downloads fill ``cache`` as the client's own cache is filled."""

    def __init__(self, cache: Path):
        self.cache = cache
        self.files: dict[str, dict[str, bytes]] = {}
        self.errors: dict[str, Exception] = {}  # of downloads; the page of a gated one is public
        self.gated: set[str] = set()
        self.asked: list[tuple[str, str | None]] = []

    def add(self, repository: str, files: dict[str, bytes], *, gated: bool = False) -> str:
        """A repository, or its next commit; returns the commit."""
        self.files[repository] = files
        if gated:
            self.gated.add(repository)
            self.errors[repository] = http(errors.GatedRepoError)
        return self.commit(repository)

    def commit(self, repository: str) -> str:
        return hashlib.sha1(repr((repository, self.files[repository])).encode()).hexdigest()

    def model_info(self, repository, *, revision=None, files_metadata=False):
        self.asked.append((repository, revision))
        if repository not in self.files:
            raise http(errors.RepositoryNotFoundError)
        if revision not in (None, "main", self.commit(repository)):
            raise http(errors.RevisionNotFoundError)
        return ModelInfo(
            id=repository,
            sha=self.commit(repository),
            gated="manual" if repository in self.gated else False,
            siblings=[{"rfilename": name} for name in self.files[repository]],
        )

    def snapshot_download(self, repository, *, revision, allow_patterns, ignore_patterns):
        self.asked.append((repository, revision))
        if repository in self.errors:
            raise self.errors[repository]
        commit = self.model_info(repository, revision=revision).sha
        top = self.cache / f"models--{repository.replace('/', '--')}"
        folder = top / "snapshots" / commit
        folder.mkdir(parents=True, exist_ok=True)
        if revision != commit:
            (top / "refs").mkdir(exist_ok=True)
            (top / "refs" / (revision or "main")).write_text(commit)
        names = filter_repo_objects(
            self.files[repository], allow_patterns=allow_patterns, ignore_patterns=ignore_patterns
        )
        for name in names:
            (folder / name).write_bytes(self.files[repository][name])
        return str(folder)


def install(monkeypatch, cache: Path) -> Hub:
    """Put a stand-in where lkecore looks for the hub and its cache; no lock file is in force."""
    hub = Hub(cache)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub.snapshot_download)
    api = type("HfApi", (), {"model_info": staticmethod(hub.model_info)})
    monkeypatch.setattr(huggingface_hub, "HfApi", api)
    monkeypatch.delenv("LKE_MODELS_LOCK", raising=False)
    return hub
