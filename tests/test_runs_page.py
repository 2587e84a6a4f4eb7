"""Provenance: a run names the models that it asked, a page those of its runs."""

import json

import pytest
from helpers import BOS, model

from lkecore import runs
from lkecore.answers.door import opened
from lkecore.models import weights


def test_a_run_names_models_by_name_or_as_they_are(monkeypatch):
    monkeypatch.delenv("LKE_PAGE", raising=False)
    mine = model(name="mine", digest="ab" * 32, add_bos=True, device="cpu")
    shown = runs.provenance("toy", mine, dtype="bfloat16")["which"]
    toy = opened("toy", "bfloat16")
    digest = weights.files_digest(weights.locate("toy"))
    assert (
        shown["model toy"] == f"{digest[:12]}, bfloat16, {toy.device}, nothing in front of a text"
    )
    assert shown["model mine"] == f"abababababab, float32, cpu, {BOS} in front of a text"
    assert "runs" not in shown and shown.to_dict().items() > runs.versions().items()
    assert shown.index.name == "what"


def test_a_page_opens_none_of_the_models_that_it_names(tmp_path, monkeypatch):
    manifest = runs.versions() | {"models": {"toy": "c" * 64}, "dtype": "float16"}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setenv("LKE_PAGE", json.dumps([str(tmp_path)]))
    monkeypatch.setattr(weights, "check_name", lambda name: pytest.fail(f"{name} was opened"))
    shown = runs.provenance("toy", "gone")["which"]
    assert shown["model toy"] == "cccccccccccc, float16" and "model gone" not in shown
    assert shown["runs"] == "1 behind this page"
