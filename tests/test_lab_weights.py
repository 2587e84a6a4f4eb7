"""The tool behind `make lab`: a tiny model is trained, shipped, trained anew, compared and replaced."""

import shutil
import sys

import helpers
import pytest
from safetensors.torch import load_file, save_file

from lkecore.errors import BadInput
from lkecore.models import lab, weights
from lkecore.storage import cache_folder

NAME = "lab:tiny-0/causal"


@pytest.fixture(scope="module")
def tool():
    return helpers.tool("lab_weights")


@pytest.fixture
def run(tool, tmp_path, monkeypatch, capsys):
    """Calls the tool, with nothing shipped at first; gives (exit code, what it printed)."""
    helpers.tiny_lab(monkeypatch)
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(lab, "SHIPPED", tmp_path / "weights")
    few = {"n_shots": 2, "n_facts": 40, "n_options": 2, "n_test": 40, "min_relations": 1}
    monkeypatch.setattr(tool, "ASKED", few | {"seed": 0, "allow_fewer": True})

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["lab_weights.py", *arguments])
        code = tool.main()
        return code, capsys.readouterr().out

    return call


def changed(there, by: float, folder) -> None:
    """Other weights in a folder that ships, by way of another ``folder``."""
    shutil.copytree(lab.unpacked(there), folder)
    path = folder / lab.WEIGHTS
    tensors = {name: tensor + by for name, tensor in load_file(path).items()}
    save_file(tensors, path, metadata={"format": "pt"})
    lab.write_sum(folder)
    shutil.rmtree(there)
    lab.pack(folder, there)


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_model_is_trained_shipped_found_and_the_same_again(run, tool, monkeypatch, tmp_path):
    assert run() == (0, "")  # nothing ships
    assert run("--ship", NAME) == (0, f"{NAME}: ships\n")
    there = lab.SHIPPED / lab.key(NAME)
    assert tool.shipped() == {NAME: there}
    made, found = cache_folder() / "models" / lab.key(NAME), weights.locate(NAME)
    assert found != made  # so that it can be trained anew
    assert contents(found) == contents(made) and weights.locate(NAME) == found
    assert len(contents(there)) == len(contents(made)) and contents(there) != contents(made)
    assert run() == (0, f"{NAME}: the same to the last byte\n")

    changed(there, 0.25, tmp_path / "changed")  # what ships is not what is trained here
    assert weights.locate(NAME) != found
    code, said = run()
    assert said.startswith(f"{NAME}: weights lie up to 0.25 apart; share of right answers ")
    assert code == (float(said.rsplit("p = ")[1]) < 0.05)
    assert run("--ship")[0] == 0 and run() == (0, f"{NAME}: the same to the last byte\n")

    monkeypatch.setattr(tool, "MOST_BYTES", 1000)
    code, said = run("--ship")
    assert code == 1 and "bytes would ship, and 1,000 is the most" in said and there.is_dir()


def test_a_shipped_file_that_is_cut_off_and_another_shape_are_one_line(run, tool):
    run("--ship", NAME)
    packed = lab.SHIPPED / lab.key(NAME) / f"{lab.WEIGHTS}{lab.PACKED}"
    whole = packed.read_bytes()
    packed.write_bytes(whole[:-40])
    before = {path.name for path in (cache_folder() / "models").iterdir() if path.is_dir()}
    with pytest.raises(BadInput, match="model.safetensors.xz cannot be unpacked .*; fetch it anew"):
        weights.locate(NAME)
    assert {path.name for path in (cache_folder() / "models").iterdir() if path.is_dir()} == before
    packed.write_bytes(whole)
    path = cache_folder() / "models" / lab.key(NAME) / lab.WEIGHTS
    name, tensor = next(iter(load_file(path).items()))
    save_file({name: tensor}, path, metadata={"format": "pt"})
    code, said = run()
    assert code == 1 and "is a network of another shape than" in said and said.count("\n") == 1
