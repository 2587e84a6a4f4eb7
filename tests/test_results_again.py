"""What ships is what would be asked and answered today: each page of the book, up to its last question.

The cells of a page are executed with the parameters of the book. Without any weights, its questions are
compared with those of the long run, to the letter. The models whose weights ship are asked some again.
"""

import copy
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from safetensors import safe_open

from lkecore import answers, runs
from lkecore.answers import lab, pairs, rich, shipped, written
from lkecore.facts import worlds
from lkecore.models import lab as lms
from lkecore.models.model import open_model
from lkecore.runs.plan import read_plan
from lkecore.storage import file_digest

BOOK = Path(__file__).resolve().parent.parent / "params" / "book.yaml"
CARRIED = {job.notebook.stem: job for job in read_plan(BOOK).jobs if job.effective.get("results")}
ASKS = (
    "answers.ask(", "answers.write(", "answers.ask_pairs(", "answers.ask_blanks(", "answers.ask_groups(",
    "answers.ask_taught(", "lab.write(",
)  # fmt: skip
OTHERS = [
    name for name, job in CARRIED.items() if not all(map(lms.is_name, job.effective["models"]))
]
OF_LAB = [name for name, job in CARRIED.items() if any(map(lms.is_name, job.effective["models"]))]
# Questions of each way of asking that make ten in each file; where no number stands, one is enough.
LEAST, EACH = 10, {
    "11_iclke_shots": 3, "15_iclke_agreement": 4, "16_iclke_size": 4, "19_iclke_generation": 2,
    "52_lab_kinds": 10, "53_lab_entropy": 3, "56_lab_fooled": 5,
}  # fmt: skip
MOST_BYTES = 15_000_000  # of all weights that ship


def asked(name, **given) -> dict:
    """The names of a page after the last cell that asks something; its parameters are the book's."""
    job = CARRIED[name]
    cells = runs.read_notebook(job.notebook).cells
    end = [cell.source.startswith("## Try it") for cell in cells].index(True)
    last = max(
        i
        for i in range(end)
        if any(ask in cells[i].source for ask in ASKS) and cells[i].cell_type == "code"
    )
    names: dict = {"__name__": "__main__"}
    for cell in cells[: last + 1]:
        if cell.cell_type == "code":
            exec(compile(cell.source, job.notebook.name, "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= copy.deepcopy(job.parameters | given)
    return names


@pytest.fixture(autouse=True)
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", OTHERS)
def test_the_questions_of_the_book_are_those_of_the_long_run(name, run, monkeypatch):
    about = shipped.read(CARRIED[name].effective["results"], name)[1]

    def opened(model, dtype):
        """A model of the lab; of any other what can be known of it without its weights."""
        if lms.is_name(model):
            return open_model(model, dtype=dtype)
        known = {"digest": about["models"][model], "kind": "causal", "tokenizer": range(49_000)}
        return SimpleNamespace(name=model, device="cpu", dtype=dtype, **known)

    door = answers.ask.__globals__  # the module has the name of its function
    for scope in (door, vars(written), vars(pairs), vars(lab)):
        monkeypatch.setitem(scope, "opened", opened)
    monkeypatch.setitem(door, "_check", lambda *_: None)
    monkeypatch.setattr(written, "_longest", lambda *_: 0)
    asked(name, n_again=0)
    kept = pd.read_parquet(run / "answers.parquet")
    assert set(kept["model"]) == set(CARRIED[name].effective["models"])
    assert not list(run.glob("*again.csv"))


@pytest.mark.parametrize("name", OF_LAB)
def test_models_that_ship_answer_as_they_did(name, run):
    models = [model for model in CARRIED[name].effective["models"] if lms.is_name(model)]
    asked(name, models=models, n_again=EACH.get(name, 1))
    files = list(run.glob("*again.csv"))
    assert files
    for file in files:
        found = pd.read_csv(file)
        assert set(found["model"]) == set(models) and len(found) >= LEAST, file.name


@pytest.mark.parametrize(
    ("source", "relations"),
    [
        ("entropy_lab", ["residence", "profession"]),
        ("entropy_cued", ["headquarters", "parent"]),
    ],
)
def test_facts_are_told_and_taught_as_they_were(source, relations, run):
    """The page compares what it asks with what ships, and stops where they differ."""
    given = {"models": ["lab:rich-1/0.7m", "lab:rich-1/bert"], "relations": relations}
    path = BOOK.parent.parent / "notebooks" / "22_entropy_instilled.py"
    names: dict = {"__name__": "__main__"}
    for cell in runs.read_notebook(path).cells:
        if cell.cell_type == "code" and "statements" not in names:
            exec(compile(cell.source, path.name, "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= given | {"n_facts": 6, "n_taught": 1, "sources": [source]}
    asked = {}
    for file in run.glob("again-*.csv"):
        its = pd.read_csv(file)
        assert set(its["model"]) == set(given["models"])
        asked[file.stem.removeprefix("again-22_entropy_instilled")] = its["asked"].sum()
    # Of two models four facts, and of each relation a lesson, after three numbers of steps.
    assert asked == {"": 2 * 4, "-taught": 2 * 2 * 3}


def test_facts_told_with_several_objects_are_answered_as_they_were(run):
    """Their page is gone; another one stands on the answers."""

    def chosen(states):
        several = states["state"].eq("uncertain")
        times = set(states.loc[several, "occurrences"])
        told = several | states["state"].eq("planted") & states["occurrences"].isin(times)
        return rich.or_controls(states, told)

    models = ["lab:rich-1/0.7m", "lab:rich-1/0.7m-unplanted"]
    samples = rich.samples(models, [], chosen, n_shots=50, seed=0)
    questions = lab.questions(samples, ["iclke-space", "template-1", "template-6"])
    how = {"by": lab.BY, "reading": rich.beside_hints, "results": "lab_rich", "n_again": 4}
    found = answers.ask(models, questions, "answers.parquet", notebook="57_lab_sure", **how)
    ships = answers.results("57_lab_sure")
    assert len(found) == ships["model"].isin(models).sum()
    again = pd.read_csv(run / "answers-again.csv")
    assert set(again["model"]) == set(models) and len(again) >= LEAST


def test_weights_that_ship_are_of_this_trainer_and_whole():
    folders = [path for path in lms.SHIPPED.iterdir() if path.is_dir()]
    assert len(folders) == 9
    for folder in folders:
        name = str(lms.record(folder)["name"])
        assert lms.key(name) == folder.name, (
            "the trainer has changed: make lab ARGS=--ship, and sources/long.yaml anew"
        )
        unpacked = open_model(name).path
        assert lms.folder(name) == unpacked == lms.unpacked(folder)
        lms.checked(unpacked, lms.parse(name).world)
        assert (folder / lms.SUM).read_text().split()[0] == file_digest(unpacked / lms.WEIGHTS)
        with safe_open(unpacked / lms.WEIGHTS, "pt") as tensors:
            kinds = {tensors.get_slice(each).get_dtype() for each in tensors.keys()}
        assert kinds == {"BF16"}
        is_rich = worlds.is_rich(lms.parse(name).world)
        asked_in = ("entropy_lab", "53_lab_entropy") if is_rich else ("long", "50_lab_truth")
        assert shipped.read(*asked_in)[1]["models"][name] == open_model(name).digest
    assert (
        sum(path.stat().st_size for path in lms.SHIPPED.rglob("*") if path.is_file()) <= MOST_BYTES
    )
