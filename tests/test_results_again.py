"""What ships is what would be asked and answered today: each page of the book, up to its last question.

The cells of a page are executed with the parameters of the book. Without any weights, all of its questions
are compared with those of the long run, to the letter. The models whose weights ship are asked some again.
"""

import copy
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from safetensors import safe_open

from lkecore import answers, runs, worlds
from lkecore.answers import again, asking, lab, rich
from lkecore.answers.questions import named
from lkecore.answers.shipped import what_made
from lkecore.models import lab as lms
from lkecore.models.model import open_model
from lkecore.runs.plan import read_plan
from lkecore.storage import file_digest

BOOK = Path(__file__).resolve().parent.parent / "params" / "book.yaml"
SAMPLES = "answers.sample(", "answers.agree("  # by which a page says that its questions ship
CARRIED = {
    job.notebook.stem: job
    for job in read_plan(BOOK).jobs
    if job.effective.get("sources") and any(s in job.notebook.read_text() for s in SAMPLES)
}
ASKS = (
    "answers.ask(", "answers.write(", "answers.ask_blanks(",
    "answers.ask_taught(", "lab.write(", "answers.shown(", "answers.agree(",
)  # fmt: skip
READ = {"18_iclke_stands", "41_belief_contexts"}  # these cells go on with what was answered
OTHERS = [
    name
    for name, job in CARRIED.items()
    if not all(map(lms.is_name, job.effective["models"])) and name not in READ
]
OF_LAB = [name for name, job in CARRIED.items() if any(map(lms.is_name, job.effective["models"]))]
LEAST = 4  # questions that a page asks again
MOST_BYTES = 15_000_000  # of all weights that ship


def asked(name, **given) -> dict:
    """The names of a page after the last cell that asks something; its parameters are the book's."""
    job = CARRIED[name]
    cells = runs.read_notebook(job.notebook).cells
    starts = [i for i, cell in enumerate(cells) if cell.source.startswith("## Try it")]
    end = starts[0] if starts else len(cells)
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


def concerned(model, about) -> bool:
    """A model of the lab is asked about its world, any other about what is no world."""
    if lms.is_name(model):
        return about.get("world") in (None, lms.parse(model).world)
    return not about.get("world", "").startswith("lab:")


def listed(models, questions, file, *args, by=("estimator", "relation"), only=None, **_):
    """In the place of a door: no answers, but for each question its key and its digest."""
    columns = ["model", *(name for name in by if name != "model")]
    parts = {
        (model, *key): named(some)
        for model in models
        for key, some in asking.questions_of(questions, model, only, by, "estimator")
        if concerned(model, dict(zip(columns[1:], key, strict=True)))
    }
    return pd.concat(parts, names=columns).reset_index(columns).reset_index(drop=True)


@pytest.mark.parametrize("name", OTHERS)
def test_the_questions_of_the_book_are_those_of_the_long_run(name, run, monkeypatch):
    """All of them, not the few that the page asks again."""
    monkeypatch.setattr(answers, "sample", lambda questions, *_, **__: questions)
    for asks in ("ask", "ask_blanks", "write"):
        monkeypatch.setattr(answers, asks, listed)
    monkeypatch.setattr(again, "_check_weights", lambda *_: None)

    def opened(model, dtype):  # of a model that is none of the lab its kind alone
        if lms.is_name(model):
            return open_model(model, dtype=dtype)
        return SimpleNamespace(name=model, kind="causal")

    monkeypatch.setattr(asking, "opened", opened)
    agree = again.agree

    def by_question(ours, ships, name, **_):
        return agree(ours, ships, name, columns=[])

    monkeypatch.setattr(again, "agree", by_question)
    monkeypatch.setattr(answers, "agree", by_question)
    asked(name)
    kept = [pd.read_csv(path) for path in run.glob("again-*.csv")]
    assert sum(each["asked"].sum() for each in kept) >= LEAST
    assert set(pd.concat(kept)["model"]) <= set(CARRIED[name].effective["models"])


@pytest.mark.parametrize("name", OF_LAB)
def test_models_that_ship_answer_as_they_did(name, run):
    models = [model for model in CARRIED[name].effective["models"] if lms.is_name(model)]
    asked(name, models=models)
    kept = [pd.read_csv(path) for path in run.glob("again-*.csv")]
    assert kept
    for found in kept:
        assert set(found["model"]) == set(models) and found["asked"].sum() >= LEAST
        assert (found["asked"] == found["same"]).all()


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
    questions = answers.sample(questions, ["lab_rich"], 4, by=lab.BY)
    how = {"by": lab.BY, "reading": rich.with_cues}
    found = answers.ask(models, questions, "answers.parquet", **how)
    ships = answers.results("57_lab_sure").query("source == 'lab_rich'")
    assert answers.agree(found, ships, "57_lab_sure") == len(found) >= LEAST
    assert set(found["model"]) == set(models)


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
        made = what_made(asked_in[1], asked_in[0])
        assert set(made.loc[made["model"] == name, "digest"]) == {open_model(name).digest}
    assert (
        sum(path.stat().st_size for path in lms.SHIPPED.rglob("*") if path.is_file()) <= MOST_BYTES
    )
