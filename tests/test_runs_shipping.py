"""Results that ship: gathered from finished runs as they stand, read back as they were gathered."""

import hashlib
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import helpers
import pandas as pd
import pytest
from projects import code, make, plan

from lkecore import runs
from lkecore.answers import results
from lkecore.answers.shipped import FOLDER, about_of, table
from lkecore.cli.main import lke
from lkecore.errors import BadInput
from lkecore.models import embedded
from lkecore.runs import shipping
from lkecore.worlds import plain

RECORD = {
    **dict.fromkeys(("commit", "source", "started", "python", "torch", "transformers"), "x"),
    **dict.fromkeys(("numpy", "pandas"), "x"), "seconds": 1.0, "models": {},
    "chunks": 3, "chunks_from_cache": 2,
}  # fmt: skip


def new_project(folder):
    rows = {"parameters": {"names": ["b", "a", "c"]}, "each": ["names"]}
    return make(folder, {"trial_notebook": code("print(names)")}, trial_notebook=rows)


def make_runs(project, answers=None):
    """Finished runs without their kernels; each keeps one row for the name that it was given."""
    for job in plan(project).jobs:
        key = runs.run_key(job)
        folder = runs.run_folder(project / "runs", job, key)
        folder.mkdir(parents=True)
        (folder / "notebook.ipynb").write_text("{}")
        if answers:
            frame = pd.DataFrame({"model": job.effective["names"]})
            frame = frame.assign(correct=True, confidence_gold=0.123456789012)
            frame.to_parquet(folder / answers)
        runs.seal(folder, job, key, "trial", datetime.now(UTC), 0.1, folder / "ledger")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A project after its runs; the tests only read it."""
    project = new_project(tmp_path_factory.mktemp("run"))
    make_runs(project, "answers.parquet")
    return project


def test_the_answers_of_all_runs_stand_below_each_other_in_the_order_of_the_plan(run, tmp_path):
    [path] = shipping.ship_results(plan(run), run / "runs", tmp_path / "results")
    assert path == tmp_path / "results" / "trial_notebook.parquet"
    every = pd.read_parquet(path)
    assert list(every) == ["source", "model", "correct", "confidence_gold"]
    assert set(every["source"]) == {"trial"} and every.equals(
        results("trial_notebook", path.parent)
    )
    frame, about = helpers.shipped("trial", "trial_notebook", tmp_path / "results")
    assert list(frame["model"]) == ["b", "a", "c"] and frame["correct"].all()
    assert frame["model"].dtype == pd.Series(["b"]).dtype  # words are words again
    assert frame["confidence_gold"].tolist() == pytest.approx([0.123456789012] * 3, rel=5e-5)
    assert about["notebook"] == "trial_notebook" and about["profile"] == "trial"
    assert about["parameters"] == {"n": 1, "names": ["b", "a", "c"]}
    manifests = [json.loads(p.read_text()) for p in (run / "runs").glob("*/manifest.json")]
    of_runs = [m for m in manifests if not m["runs"]]
    assert about["started"] == min(m["started"] for m in of_runs) and len(of_runs) == 3
    assert about["commit"] == of_runs[0]["commit"]


def made(manifests, source="x", **parameters):
    """What made some runs, as pages say it."""
    rows = shipping._made(source, runs.Job(Path("n.py"), {}, parameters), manifests)
    return about_of(pd.DataFrame(rows))


def test_a_page_over_the_runs_of_others_adds_nothing_to_the_results(run, tmp_path):
    texts = {path.stem: path.read_text() for path in (run / "notebooks").glob("*.py")}
    rows = {"parameters": {"names": ["b", "a", "c"]}, "each": ["names"]}
    project = make(
        tmp_path, texts | {"z": code()}, trial_notebook=rows, z={"reads": ["trial_notebook"]}
    )
    whole = plan(project)
    shutil.copytree(run / "runs", project / "runs")
    found = shipping.ship_results(whole, project / "runs", tmp_path / "results")
    assert [path.stem for path in found] == ["trial_notebook"]


def test_facts_of_sets_that_are_not_ours_are_numbers_the_same_in_all_runs():
    frame = pd.DataFrame(
        {
            "model": ["a"] * 4 + ["b"] * 3,
            "relation": ["r", "r", "s", "r", "r", "s", "r"],
            "fact": ["c1", "0f", "77", "c1", "0f", "77", "a2"],  # ids are digests of names
        }
    )
    # In r: 0f, a2, c1. In s: 77 alone.
    assert shipping._numbered(frame)["fact"].tolist() == [3, 1, 1, 3, 1, 1, 2]
    without = frame.drop(columns="relation")  # 0f, 77, a2, c1
    assert shipping._numbered(without)["fact"].tolist() == [4, 1, 2, 4, 1, 2, 3]


def test_no_name_of_a_fact_that_is_not_ours_is_left_with_its_number_or_without():
    frame = pd.DataFrame({"model": ["toy"], "kind": ["clean"], "fact": ["c1"], "correct": [True]})
    named = frame.assign(subject="Bohr", object="1885", text=" 1885, as Bohr was", position=3)
    for columns in (["fact"], []):  # sequences have no fact, only names
        given = named.drop(columns=["fact"] if not columns else [])
        found = shipping._numbered(given)
        assert set(found) == {"model", "kind", "correct", "position", *columns}
        assert "Bohr" not in found.to_csv() and "1885" not in found.to_csv()


def test_only_the_projects_own_facts_keep_their_ids(run, tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr(shipping, "_numbered", lambda frame, _: called.append(1) or frame)
    whole = plan(run)
    shipping.ship_results(whole, run / "runs", tmp_path / "results")
    assert called == []
    for row in whole.rows:  # the same runs, of a notebook with facts from elsewhere
        monkeypatch.setitem(row.whole.effective, "fact_set", "data/kamel")
    shipping.ship_results(whole, run / "runs", tmp_path / "results")
    assert called == [1]


def test_what_runs_keep_apart_from_their_answers_has_a_file_of_its_own(run, tmp_path):
    kept = tmp_path / "runs"
    shutil.copytree(run / "runs", kept)
    folders = [runs.run_folder(kept, job) for job in plan(run).jobs]
    for n, folder in enumerate(folders[:2]):
        pd.DataFrame({"model": ["x"], "n": [n]}).to_parquet(folder / "answers-eic.parquet")
        (folder / "other.parquet").write_bytes(b"no result")
    some = shipping.ship_results(plan(run), kept, tmp_path / "some")
    assert len(some) == 1  # not all runs have it
    pd.DataFrame({"model": ["x"], "n": [2]}).to_parquet(folders[2] / "answers-eic.parquet")
    paths = shipping.ship_results(plan(run), kept, tmp_path / "all")
    assert [p.name for p in paths] == ["trial_notebook-eic.parquet", "trial_notebook.parquet"]
    frame, about = helpers.shipped("trial", "trial_notebook", tmp_path / "all", apart="eic")
    answers, of_answers = helpers.shipped("trial", "trial_notebook", tmp_path / "all")
    assert frame["n"].tolist() == [0, 1, 2] and about == of_answers and "n" not in answers
    shipping.ship_results(plan(run), run / "runs", tmp_path / "all")  # other runs, without it
    left = {p.name for p in (tmp_path / "all").iterdir()}
    assert left == {"trial_notebook.parquet", "made_by.csv"}


def test_rows_of_other_sources_stay_as_they_are(run, tmp_path):
    """The numbers of another source that would be floats, were pandas to write them anew."""
    other = pd.DataFrame(
        {"model": ["m", "n"], "fact": ["f", "g"], "n": [1, 2], "right": [True, False]}
    )
    helpers.ship(tmp_path, "other", "trial_notebook", other, models={"m": "1", "n": "2"})
    helpers.ship(tmp_path, "last", "trial_notebook", other[:1], models={"m": "1"})
    for _ in range(2):
        shipping.ship_results(plan(run), run / "runs", tmp_path)
        every = results("trial_notebook", tmp_path)
        assert every["source"].tolist() == ["other"] * 2 + ["last"] + ["trial"] * 3
        found, about = helpers.shipped("other", "trial_notebook", tmp_path)
        pd.testing.assert_frame_equal(found, other, check_like=True)
        assert about["models"] == {"m": "1", "n": "2"}
    made_by = pd.read_csv(tmp_path / "made_by.csv")
    assert made_by["source"].tolist() == ["last", "other", "other", "trial"]


def test_a_missing_run_or_one_without_answers_is_named_and_nothing_is_written(tmp_path):
    project = new_project(tmp_path)
    with pytest.raises(BadInput, match="3 of 3 runs of trial_notebook are missing; first: lke run"):
        shipping.ship_results(plan(project), project / "runs", tmp_path / "results")
    make_runs(project)
    with pytest.raises(BadInput, match="no notebook of profile trial keeps answers.parquet"):
        shipping.ship_results(plan(project), project / "runs", tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_all_results_together_have_a_limit(run, tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    other = tmp_path / "results" / "x.parquet"
    other.write_bytes(b"x" * 5900)
    monkeypatch.setattr(shipping, "MOST_BYTES", 6000)
    with pytest.raises(BadInput, match=r"would be [0-9,]+ bytes, and 6,000 are the most"):
        shipping.ship_results(plan(run), run / "runs", tmp_path / "results")
    other.unlink()
    for _ in range(2):  # what is there already is replaced, and does not count twice
        shipping.ship_results(plan(run), run / "runs", tmp_path / "results")


def test_results_that_are_not_there_or_damaged_are_one_line(run, tmp_path):
    with pytest.raises(BadInput, match="no results .*; they ship with a checkout"):
        helpers.shipped("trial", "trial_notebook", tmp_path / "results")
    [path] = shipping.ship_results(plan(run), run / "runs", tmp_path / "results")
    kept = path.read_bytes()
    flipped = bytes([*kept[:80], kept[80] ^ 1, *kept[81:]])  # among the texts of the first column
    for spoilt in (kept[:100], flipped):
        path.write_bytes(spoilt)
        for read in (
            lambda: results("trial_notebook", tmp_path / "results"),
            lambda: shipping.ship_results(plan(run), run / "runs", tmp_path / "results"),
        ):
            with pytest.raises(BadInput, match=f"^results {path} cannot be read"):
                read()
        assert path.read_bytes() == spoilt


def test_facts_at_a_path_of_this_machine_cannot_ship_and_those_of_the_project_can(tmp_path):
    assert made([RECORD], fact_set="data/f.tsv")["parameters"]["fact_set"] == "data/f.tsv"
    with pytest.raises(BadInput, match="f.tsv is a path of this machine and cannot ship"):
        made([RECORD], fact_set=str(tmp_path / "f.tsv"))


def test_a_file_that_the_catalogue_knows_ships_under_the_name_that_it_has_there(
    run, tmp_path, monkeypatch
):
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF")
    known = {"org/toy-GGUF": ("toy-q4.gguf", hashlib.sha256(b"GGUF").hexdigest())}
    monkeypatch.setattr(embedded, "gguf_files", lambda: known)
    whole = shipping.runs.manifest
    here = {"models": {str(file): "digest"}}
    monkeypatch.setattr(shipping.runs, "manifest", lambda folder: whole(folder) | here)
    read, swap = pd.read_parquet, {"a": str(file)}
    monkeypatch.setattr(shipping, "read_frame", lambda path: read(path).replace({"model": swap}))
    shipping.ship_results(plan(run), run / "runs", tmp_path / "results")
    monkeypatch.undo()
    found, about = helpers.shipped("trial", "trial_notebook", tmp_path / "results")
    assert (found["model"] == "org/toy-GGUF").sum() == 1 and str(file) not in set(found["model"])
    assert about["models"] == {"org/toy-GGUF": "digest"}
    monkeypatch.setattr(embedded, "gguf_files", lambda: known)
    about = made([RECORD], families=[[str(file), "toy"]], n=1)
    assert about["parameters"] == {"families": [["org/toy-GGUF", "toy"]], "n": 1}


def test_a_model_that_is_a_path_of_this_machine_cannot_ship(run, tmp_path, monkeypatch):
    here = {str(tmp_path): "digest"}
    whole = shipping.runs.manifest
    monkeypatch.setattr(shipping.runs, "manifest", lambda folder: whole(folder) | {"models": here})
    with pytest.raises(BadInput, match=f"{tmp_path} is a path of this machine and cannot ship"):
        shipping.ship_results(plan(run), run / "runs", tmp_path / "results")


def test_the_worlds_behind_results_stand_beside_them_by_digest(run, tmp_path, monkeypatch):
    named = {"toy": "c", "lab:smoke-1/0.15m": "a", "lab:smoke-1/0.15m-unplanted": "b"}
    whole = shipping.runs.manifest
    monkeypatch.setattr(shipping.runs, "manifest", lambda folder: whole(folder) | {"models": named})
    shipping.ship_results(plan(run), run / "runs", tmp_path / "results")
    _, about = helpers.shipped("trial", "trial_notebook", tmp_path / "results")
    assert about["models"] == named
    assert about["worlds"] == {"lab:smoke-1": plain.digest("lab:smoke-1")}
    monkeypatch.setattr(plain, "digest", lambda spec: "0" * 64)  # as another version would make it
    with pytest.raises(BadInput, match="are of another lab:smoke-1 than this version makes; make"):
        helpers.shipped("trial", "trial_notebook", tmp_path / "results")


def test_the_command_writes_into_the_project_and_says_where(run):
    from click.testing import CliRunner

    done = CliRunner().invoke(lke, ["results", str(run / "params" / "p.yaml")])
    assert done.exit_code == 0
    path = run / "results" / "trial_notebook.parquet"
    assert done.output.strip() == str(path)
    assert len(pd.read_parquet(path)) == 3


@pytest.fixture(scope="module")
def shipping_now():
    """All that ships, by the name of its file."""
    return {path.stem: results(path.stem) for path in FOLDER.glob("*.parquet")}


def test_what_ships_is_small_and_each_row_has_what_made_it(shipping_now):
    files = [*FOLDER.glob("*.parquet"), FOLDER / "made_by.csv"]
    assert sum(path.stat().st_size for path in files) <= shipping.MOST_BYTES
    made_by = table()
    assert not made_by.duplicated(["experiment", "source", "model"]).any()
    assert not made_by["commit"].str.contains("dirty").any(), (
        "made from a source that no commit has"
    )
    for name, every in shipping_now.items():
        experiment, _, kind = name.partition("-")
        of = made_by[made_by["experiment"] == experiment]
        assert set(every["source"]) <= set(of["source"]) and every["source"].notna().all()
        if kind in ("cues", "rules"):  # these are said of the facts
            apart = {"offer", "fact_set", "draw", "n_shots"} & set(every)
            key = ["source", "relation", "fact", *apart]
            assert not every.duplicated(key).any() and "model" not in every
        elif "model" in every:
            made = set(of[["source", "model"]].itertuples(index=False, name=None))
            there = set(
                every[["source", "model"]].drop_duplicates().itertuples(index=False, name=None)
            )
            # Readers did not answer: how they were trained ships alone.
            assert there <= made if name != "59_lab_gates-losses" else made <= there
            assert not every["model"].str.contains(" on ").any()
        if "estimator" in every:
            assert not every["estimator"].str.contains(", draw ").any()


def contradictions(answers):
    """Questions to choose by whose answer is right, and the gold option is not the likeliest, or the other
    way round: its confidence is less than that of the prediction."""
    rows = answers.dropna(subset=["question", "confidence"])
    gap = rows["confidence"] - rows["confidence_gold"]
    likeliest = gap <= 1e-3 * rows["confidence"]  # up to the digits that ship
    return rows.index[
        rows["correct"].astype(bool) & ~likeliest | ~rows["correct"].astype(bool) & (gap < 0)
    ]


def test_an_answer_that_ships_is_right_where_no_other_option_has_more_confidence(shipping_now):
    """Without a model. Each question of what can be checked has a digest and a gold option of its own."""
    n = 0
    for name, every in shipping_now.items():
        if {"question", "confidence", "confidence_gold"} <= set(every):
            assert not len(contradictions(every)), name
            n += every["question"].notna().sum()
    assert n >= 90_000


def shipped_of(folders, target, monkeypatch, fact_set):
    """Ship what finished runs, one of each of these folders, have kept of a notebook n."""
    whole = runs.Job(Path("n.py"), {}, {"fact_set": fact_set})
    row = SimpleNamespace(reads=[], jobs=folders, whole=whole)
    monkeypatch.setattr(shipping.runs, "run_folder", lambda _, job: job)
    monkeypatch.setattr(shipping.runs, "manifest", lambda _: RECORD)
    plan = SimpleNamespace(profile="p", rows=[row])
    return {path.name for path in shipping.ship_results(plan, target, target)}


def test_checks_ship_of_models_that_everybody_has(tmp_path, monkeypatch):
    """Weights of lab:book-1/0.7m ship, and those of another world are trained where they are asked."""
    names = ["smollm2", "lab:book-1/0.7m", "lab:book-2/0.7m"]
    answers = pd.DataFrame({"model": names, "relation": "r", "fact": "f", "correct": True})
    answers = answers.assign(question="q", logprob_gold=-1.0, margin=0.5)
    answers.to_parquet(tmp_path / "answers.parquet")
    shipped_of([tmp_path], tmp_path / "results", monkeypatch, "atlas")
    found = pd.read_parquet(tmp_path / "results" / "n.parquet")
    assert found["model"].tolist() == names
    assert found["question"].notna().tolist() == [True, True, False]
    assert found["logprob_gold"].notna().tolist() == [True, True, False]
    assert "margin" not in found


@pytest.mark.parametrize(("fact_set", "checked"), [("", True), ("data/x", False)])
def test_cues_ship_once_and_checks_only_with_facts_that_are_ours(
    tmp_path, monkeypatch, fact_set, checked
):
    """Two runs, one for each model, about the same two facts."""
    facts = pd.DataFrame({"relation": "r", "fact": ["f", "g"]})
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        answers = facts.assign(model=folder.name, correct=True, question="q")
        answers.to_parquet(folder / "answers.parquet")
        facts.assign(cue_word=[True, False]).to_parquet(folder / "answers-cues.parquet")
    paths = shipped_of(folders, tmp_path / "results", monkeypatch, fact_set)
    assert paths == {"n.parquet", "n-cues.parquet"}
    answers, cues = (results(name, tmp_path / "results") for name in ("n", "n-cues"))
    assert cues["fact"].tolist() == (["f", "g"] if checked else ["1", "2"])
    assert len(answers) == 4 and ("question" in answers) == checked


def test_a_fact_has_one_number_in_all_that_a_run_keeps_unless_others_were_asked(
    tmp_path, monkeypatch
):
    """Four facts, and two of them behind other shots; what was chosen by is about facts of its own."""
    folder = tmp_path / "run"
    folder.mkdir()
    asked = {"model": "m", "correct": True, "n_options": 3}
    asked |= {"confidence": 0.5, "confidence_gold": 0.5}
    every = pd.DataFrame({"relation": list("rrrs"), "fact": list("dbca"), **asked})
    every.to_parquet(folder / "answers.parquet")
    some = pd.DataFrame({"relation": ["s", "r", "r"], "fact": ["a", "d", "c"], **asked, "draw": 1})
    some.to_parquet(folder / "answers-draws.parquet")
    others = pd.DataFrame({"relation": "r", "fact": ["x", "d"], **asked})
    others.to_parquet(folder / "answers-choice.parquet")
    shipped_of([folder], tmp_path / "results", monkeypatch, "data/x")
    first, others = results("n", tmp_path / "results"), results("n-choice", tmp_path / "results")
    assert first["fact"].tolist() == ["3", "1", "2", "1", "1", "3", "2"]
    assert others["fact"].tolist() == ["2", "1"]
    assert first["draw"].tolist() == [0] * 4 + [1] * 3
    # Of the draws pages count the right answers.
    sure = first[["confidence", "confidence_gold"]].notna().all(axis=1)
    assert sure.tolist() == [True] * 4 + [False] * 3
    assert set(others) == {"source", "relation", "fact", *asked}


def test_a_source_behind_one_draw_has_it_in_its_rows_once_another_has_several(tmp_path):
    path = tmp_path / "e.parquet"
    one = pd.DataFrame({"model": ["m", "m"], "fact": ["a", "b"]})
    path.write_bytes(shipping.among(path, one, "one"))
    several = pd.DataFrame({"model": ["m", "m"], "fact": ["a", "a"], "draw": [0, 1]})
    path.write_bytes(shipping.among(path, several, "several"))
    found = pd.read_parquet(path)
    assert found.groupby("source")["draw"].agg(list).to_dict() == {"one": [0, 0], "several": [0, 1]}
