"""Models added to results that ship: parts give the same bytes as the whole."""

from pathlib import Path
from types import SimpleNamespace

import helpers
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from lkecore import runs, worlds
from lkecore.cli.main import lke
from lkecore.errors import BadInput
from lkecore.runs import shipping

MODELS = ["smollm2", "lab:book-1/0.7m", "lab:book-2/0.7m"]
MANIFEST = {
    **dict.fromkeys(("python", "torch", "transformers", "numpy", "pandas"), "1"),
    "commit": "c", "source": "s", "chunks": 2, "chunks_from_cache": 1,
}  # fmt: skip


@pytest.fixture
def gathered(tmp_path, monkeypatch):
    """gathered(models, folder, add=False, **parameters): results of their finished runs, a file by name."""
    rng = np.random.default_rng(0)
    for i, model in enumerate(MODELS):
        folder = tmp_path / model.replace("/", "-")
        folder.mkdir()
        answers = pd.DataFrame({"model": model, "relation": "r", "fact": ["f", "g", "h"]})
        answers = answers.assign(correct=[True, False, i == 0], confidence_gold=rng.random(3))
        first = answers.assign(logprob=np.log(rng.random(3)), question="q", logprob_gold=-0.5)
        first.to_parquet(folder / "answers.parquet")
        others = answers.iloc[:2].assign(draw=1)
        others.to_parquet(folder / "answers-draws.parquet")
        cues = answers[["relation", "fact"]].assign(cue_word=[True, False, True])
        cues.to_parquet(folder / "answers-cues.parquet")
    changed = {}

    def run_folder(_, model):
        return tmp_path / model.replace("/", "-")

    monkeypatch.setattr(shipping.runs, "run_folder", run_folder)
    monkeypatch.setattr(shipping, "digest_of_world", lambda world: f"digest of {world}")
    monkeypatch.setattr(worlds, "digest", lambda world: f"digest of {world}")

    def manifest(folder):
        [name] = pd.read_parquet(folder / "answers.parquet")["model"].unique()
        n = 1 + MODELS.index(name)
        own = {"models": {name: "d"}, "seconds": float(n), "started": f"2026-01-0{n}"}
        return MANIFEST | changed | own

    monkeypatch.setattr(shipping.runs, "manifest", manifest)

    def call(models, folder, *, add=False, made=(), **parameters):
        changed.clear()
        changed.update(made)
        effective = {"fact_set": "", "models": models, "seed": 0} | parameters
        row = SimpleNamespace(reads=[], jobs=models, whole=runs.Job(Path("n.py"), {}, effective))
        plan = SimpleNamespace(profile="p", rows=[row])
        shipping.ship_results(plan, tmp_path, folder, add=add)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    return call


def test_parts_that_are_added_are_the_whole_to_the_last_byte(gathered, tmp_path):
    whole = gathered(MODELS, tmp_path / "whole")
    assert set(whole) == {"made_by.csv", "n.parquet", "n-cues.parquet"}
    gathered(MODELS[:1], tmp_path / "parts")
    parts = gathered(MODELS[1:], tmp_path / "parts", add=True)
    # Rows of a model stand together, the others' draws behind all first ones.
    assert {name: parts[name] for name in whole if name != "made_by.csv"} == {
        name: whole[name] for name in whole if name != "made_by.csv"
    }
    found = pd.read_csv(tmp_path / "parts" / "made_by.csv")
    assert found["model"].tolist() == MODELS
    assert found["seconds"].tolist() == [1, 5, 5]
    found = pd.read_parquet(tmp_path / "parts" / "n.parquet")
    assert found["draw"].tolist() == [0] * 9 + [1] * 6
    assert found["question"].notna().groupby(found["model"]).any().to_dict() == {
        model: model == MODELS[0] for model in MODELS
    }  # no weights ship of worlds with these digests


def test_what_was_there_of_a_model_is_replaced_in_its_place(gathered, tmp_path):
    whole = gathered(MODELS, tmp_path / "whole")
    then = helpers.shipped("p", "n", tmp_path / "whole")[1]
    made = {"commit": "later", "chunks_from_cache": 0}
    again = gathered(MODELS[1:2], tmp_path / "whole", add=True, made=made)
    assert again["n.parquet"] == whole["n.parquet"]
    now = helpers.shipped("p", "n", tmp_path / "whole")[1]
    assert now["commit"] == "c, later" and now["source"] == "s"
    assert now["parameters"] == then["parameters"] and now["models"] == then["models"]
    assert list(now["models"]) == MODELS
    # The work of both counts.
    assert now["seconds"] == then["seconds"] + 2 and now["started"] == then["started"]
    assert (now["chunks"], now["chunks_from_cache"]) == (8, 3)


def test_what_does_not_fit_is_one_line_and_changes_nothing(gathered, tmp_path):
    with pytest.raises(BadInput, match="no results n of p, to which models could be added"):
        gathered(MODELS[:1], tmp_path / "none", add=True)
    before = gathered(MODELS[:2], tmp_path / "r")
    reason = "results p of n have seed = 0, and these runs have 1: only models can be added"
    with pytest.raises(BadInput, match=reason):
        gathered(MODELS[2:], tmp_path / "r", add=True, seed=1)
    for kept, column, reason in (
        ("answers", "another", "n.parquet has other columns than these runs; make all of p anew"),
        ("answers-cues", "cue_word", "n-cues.parquet is about other facts than these runs asked"),
    ):
        path = tmp_path / MODELS[2].replace("/", "-") / f"{kept}.parquet"
        frame = pd.read_parquet(path)
        frame.assign(**{column: False}).to_parquet(path)
        with pytest.raises(BadInput, match=reason):
            gathered(MODELS[2:], tmp_path / "r", add=True)
        frame.to_parquet(path)
    apart = tmp_path / MODELS[2].replace("/", "-") / "answers-apart.parquet"
    pd.read_parquet(path.parent / "answers.parquet").to_parquet(apart)
    with pytest.raises(
        BadInput, match="n-apart.parquet: p has of other models nothing of the kind"
    ):
        gathered(MODELS[2:], tmp_path / "r", add=True)
    apart.unlink()
    path.unlink()
    with pytest.raises(BadInput, match="n-cues.parquet: these runs keep nothing of the kind"):
        gathered(MODELS[2:], tmp_path / "r", add=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "r").iterdir()} == before


def test_nothing_can_be_compared_and_added_at_once(tmp_path):
    (tmp_path / "p.yaml").write_text("profile: p\nruns: []\n")
    done = CliRunner().invoke(lke, ["results", str(tmp_path / "p.yaml"), "--compare", "--add"])
    assert done.exit_code and "--compare writes nothing" in str(done.exception or done.output)
