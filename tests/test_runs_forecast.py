"""Forecast: the tokens that it counts are those that a run forwards, and it loads no weights."""

from dataclasses import replace
from pathlib import Path

import helpers
import pandas as pd
import projects
import pytest
import transformers
import yaml
from own import without_a_look

from lkecore import progress, runs
from lkecore.models import training, weights
from lkecore.runs import devices, forecast, grid, worker

TOP = Path(__file__).resolve().parent.parent
SHOTS = "11_iclke_shots"
FROM_PRETRAINED = transformers.AutoModelForCausalLM.from_pretrained
TINY = {
    "models": ["toy"], "relations": ["country_of_city"], "shots": [1, 3], "draws": [0, 1],
    "estimators": ["iclke-space", "iclke-colon"], "n_facts": 3, "n_options": 5,
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_weights(monkeypatch):
    """Weights are loaded by real runs alone."""
    weights.locate("toy")

    def refuse(*arguments, **options):
        pytest.fail("weights were loaded")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", refuse)


def run_here(folder, name, given, monkeypatch):
    """The tokens that a page forwards which is executed in this process; it keeps its answers in a folder."""
    folder.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", FROM_PRETRAINED)
        patch.setenv("LKE_RUN", str(folder))
        patch.setenv("LKE_LEDGER", str(folder / "ledger"))
        helpers.page(name, **given)
    done = progress.read_ledger(folder / "ledger")
    return sum(entry["tokens_forwarded"] for entry in done)


def plan(tmp_path, name, parameters, **row):
    """A plan of one notebook of the book, without what is about its own models."""
    (tmp_path / "notebooks").mkdir(exist_ok=True)
    text = without_a_look((TOP / "notebooks" / f"{name}.py").read_text(encoding="utf-8"))
    (tmp_path / "notebooks" / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "params").mkdir(exist_ok=True)
    content = {"profile": "t", "runs": [{"notebook": name, "parameters": parameters, **row}]}
    (tmp_path / "params" / "p.yaml").write_text(yaml.safe_dump(content))
    return projects.plan(tmp_path)


def test_the_tokens_of_a_forecast_are_those_of_the_run_and_come_from_the_cache_after_it(tmp_path):
    whole = plan(tmp_path, SHOTS, TINY)
    [each] = whole.jobs
    before = forecast.cost(each, tmp_path / "runs")
    assert before["state"] == "waiting" and before["remark"] == ""
    assert before["from_cache"] == 0 and before["model_bytes"] > 0
    assert not list((tmp_path / "runs").glob("1*"))

    assert grid.execute(whole, tmp_path / "runs").failed == {}
    manifest = runs.manifest(runs.run_folder(tmp_path / "runs", each))
    assert manifest["tokens_forwarded"] == before["tokens"] > 0
    assert manifest["chunks"] == 2 * 2 * 2  # draws, estimators, numbers of shots
    assert manifest["models"] == {"toy": weights.files_digest(weights.locate("toy"))}

    total, saved, remark = forecast.expected_tokens(each)
    assert total == saved == before["tokens"] and remark == ""
    done = forecast.cost(each, tmp_path / "runs")
    assert (done["state"], done["tokens"], done["from_cache"]) == ("finished", 0, 0)
    # One draw of the two: half of the chunks are of another plan, all of them are there.
    total, saved, _ = forecast.expected_tokens(plan(tmp_path, SHOTS, TINY | {"draws": [1]}).jobs[0])
    assert 0 < total == saved < before["tokens"]
    # One more draw: it is all that is left to do.
    total, saved, _ = forecast.expected_tokens(
        plan(tmp_path, SHOTS, TINY | {"draws": [0, 1, 2]}).jobs[0]
    )
    assert saved == before["tokens"] < total


def test_all_complaints_of_a_job_are_told_at_once_and_nothing_that_comes_of_them(tmp_path):
    cells = ["raise BadInput('n: 1')", "made = lacking", "raise BadInput('draws: 2')", "1 / 0"]
    text = projects.code("from lkecore.errors import BadInput", *cells, "made")
    [each] = projects.plan(projects.make(tmp_path, {"a": text})).jobs
    assert forecast.cost(each, tmp_path / "runs")["remark"] == (
        "would fail: BadInput: n: 1; draws: 2"
    )


def test_a_model_that_is_not_here_is_counted_with_the_toy_s_tokenizer_and_it_is_said(tmp_path):
    with_toy, without = plan(
        tmp_path, SHOTS, TINY | {"models": ["toy", "smollm2"]}, each=["models"]
    ).jobs
    assert not weights.is_ready("smollm2")
    row = forecast.cost(without, tmp_path / "runs")
    assert row["state"] == "waiting"
    assert row["remark"] == "smollm2 not here: tokens counted with the toy's tokenizer"
    assert row["from_cache"] == 0  # whatever the cache has of the toy
    assert row["tokens"] == forecast.cost(with_toy, tmp_path / "runs")["tokens"] > 0
    assert not weights.is_ready("smollm2")  # nothing was fetched


def test_what_a_notebook_computes_by_hand_is_not_counted_and_it_is_said(tmp_path, capsys):
    [each] = plan(tmp_path, "00_quickstart", {"model": "toy", "n_shots": 3, "n_facts": 3}).jobs
    row = forecast.cost(each, tmp_path / "runs")
    assert row["remark"] == "only what scores.tree.option_logprobs would compute is counted"
    assert row["state"] == "waiting" and row["tokens"] is not None
    assert capsys.readouterr().out == ""  # what the notebook prints is not for the reader of a plan


NAMES_ITS_MODELS = projects.code(
    """from lkecore import facts, prompts
from lkecore.models import open_model
from lkecore.scores.tree import option_logprobs

family = "org/small < org/large"
""",
    """relation = facts.load("atlas", "capital")
train, test = facts.divide(relation)
options = facts.draw_options(test[:3], relation.objects, 3, 0)
questions = prompts.many_shot(train[:2], test[:3], options)
for name in models:
    assert name in family
    assert open_model(name).name == name
    option_logprobs(open_model(name), questions)""",
).replace("names: list[str] = []", "models: list[str] = []")


def test_models_that_are_not_here_keep_their_names_and_jobs_alike_but_for_them_are_counted_once(
    tmp_path, monkeypatch
):
    row = {"parameters": {"models": ["org/small", "org/large"]}, "each": ["models"]}
    project = projects.make(tmp_path, {"a": NAMES_ITS_MODELS}, a=row)
    small, large = projects.plan(project).jobs
    walked, walk = [], forecast._walk
    monkeypatch.setattr(forecast, "_walk", lambda *a: (walked.append(a[0].label), walk(*a))[1])
    rows = [forecast.cost(each, project / "runs") for each in (small, large)]
    assert walked == [small.label]
    assert rows[0]["tokens"] == rows[1]["tokens"] > 0
    said = "{} not here: tokens counted with the toy's tokenizer"
    assert [row["remark"] for row in rows] == [said.format("org/small"), said.format("org/large")]
    # Both in one job: twice the tokens, and both keep their names.
    project = projects.make(tmp_path, {"a": NAMES_ITS_MODELS}, a={"parameters": row["parameters"]})
    [both] = projects.plan(project).jobs
    assert forecast.cost(both, project / "runs")["tokens"] == 2 * rows[0]["tokens"]


def test_a_notebook_that_asks_the_scorer_of_another_kind_is_found_out(tmp_path):
    for part in helpers.blank_filler("BERT"):
        part.save_pretrained(tmp_path / "bert")
    given = {"models": [str(tmp_path / "bert")]}
    text = NAMES_ITS_MODELS.replace("    assert name in family\n", "")
    project = projects.make(tmp_path, {"a": text}, a={"parameters": given})
    [each] = projects.plan(project).jobs
    total, _, remark = forecast.expected_tokens(each)
    assert total is None
    assert remark.startswith("would fail: BadInput: ") and "is masked, not causal" in remark


WANTS_THE_LAST = projects.code(
    """from lkecore import facts, prompts
from lkecore.models import open_model
from lkecore.scores.tree import option_logprobs

relation = facts.load("atlas", "country_of_city")
train, test = facts.divide(relation)
options = facts.draw_options(test[:60], relation.objects, 3, 0)
questions = prompts.many_shot(train[:1], test[:60], options)
frame = option_logprobs(open_model("toy"), questions).frame.set_index("fact")
frame.loc[[test[PLACE].id]]"""
)


@pytest.mark.parametrize(("place", "fails"), [(0, False), (59, False), (60, True)])
def test_a_notebook_that_needs_the_answer_to_every_fact_is_counted_all_the_same(
    tmp_path, place, fails, monkeypatch
):
    """Of 60 facts the first 50 are answered at first: a mistake behind them is none of the job's."""
    project = projects.make(tmp_path, {"a": WANTS_THE_LAST.replace("PLACE", str(place))})
    [each] = projects.plan(project).jobs
    total, _, remark = forecast.expected_tokens(each)
    if fails:  # the 61st was never asked
        assert total is None and remark.startswith("would fail: KeyError")
    else:
        assert total > 60 and remark == "tokens estimated from 20 facts of each 60"
        monkeypatch.setattr(forecast, "EXACT", 60)
        exact, _, remark = forecast.expected_tokens(each)
        assert not remark and total == pytest.approx(exact, rel=0.15)  # which share more


def test_a_forecast_puts_the_scorer_back_even_after_a_mistake(tmp_path):
    from lkecore import models
    from lkecore.scores import tree

    before = tree.option_logprobs, models.Model.network
    for parameters in (TINY, TINY | {"shots": [5000]}):
        [each] = plan(tmp_path, SHOTS, parameters).jobs
        forecast.expected_tokens(each)
        assert (tree.option_logprobs, models.Model.network) == before


# --- status ---------------------------------------------------------------------------------------


def test_status_tells_what_is_finished_failed_running_and_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr(grid, "WORKER", projects.idle())
    row = {"parameters": {"names": ["x", "y", "z"]}, "each": ["names"]}
    project = projects.make(tmp_path, {"a": projects.code()}, a=row)
    whole, target = projects.plan(project), project / "runs"
    x, y, z = (runs.run_folder(target, each) for each in whole.jobs)
    labels = ["a names=x", "a names=y", "a names=z", "a page"]
    waiting = [(label, "waiting", "") for label in labels[:3]]
    behind = ("a page", "waiting", "for the runs behind it")
    assert forecast.status(whole, target) == [*waiting, behind]

    assert grid.execute(whole, target, devices.Settings(shard=(1, 3))).finished == ["a names=x"]
    y.mkdir()
    runs.record_failure(y, "ValueError: no luck")
    with worker.lock_of(z).acquire(timeout=0):
        assert forecast.status(whole, target) == [
            ("a names=x", "finished", "today, 0 s"),
            ("a names=y", "failed", f"ValueError: no luck (see {y})"),
            ("a names=z", "running", ""),
            behind,
        ]
    lease = worker.lease_of(z)
    lease.write_text("12-34@afar")  # on a disk whose locks do not hold
    assert forecast.status(whole, target)[2] == ("a names=z", "running", "")
    lease.unlink()
    grid.execute(whole, target, devices.Settings(shard=(2, 3)))
    grid.execute(whole, target, devices.Settings(shard=(3, 3)))
    *done, page = forecast.status(whole, target)
    assert [state for _, state, _ in done] == ["finished"] * 3
    assert page == ("a page", "waiting", "")
    grid.execute(whole, target)
    assert forecast.status(whole, target)[-1] == ("a page", "finished", "today, 0 s")


def test_status_looks_at_runs_that_may_only_be_read(tmp_path, monkeypatch):
    def read_only(folder):
        raise PermissionError(f"{folder.parent}/.locks")

    monkeypatch.setattr(worker, "lock_of", read_only)
    whole = plan(tmp_path, SHOTS, TINY)
    assert [state for _, state, _ in forecast.status(whole, tmp_path / "runs")] == ["waiting"]
    assert not (tmp_path / "runs").exists()


# --- models of the lab ----------------------------------------------------------------------------


def test_to_look_at_a_plan_trains_no_model_of_the_lab(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "_trainer", lambda *_: pytest.fail("training began"))
    name = "lab:smoke-1/8m"
    parameters = TINY | {"models": [name]}
    whole = plan(tmp_path, SHOTS, parameters)
    [row] = forecast.status(whole, tmp_path / "runs")
    assert row[1:] == ("waiting", f"{name} to be trained")
    cost = forecast.cost(whole.jobs[0], tmp_path / "runs")
    assert cost["remark"] == f"{name} to be trained first: tokens not counted"
    assert cost["tokens"] is None and cost["from_cache"] is None
    assert weights.present(name) is None


# The toy reads letters, with which many names begin.
BLANKS = {"relations": ["capital", "currency"], "n_facts": 3, "any_object": True}
DOOR = {
    "relations": ["capital", "film_language"], "n_shots": 2, "n_options": 3, "n_facts": 3, "n_choice": 2,
    "estimators": ["iclke-space", "iclke-colon"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given"), [("10_iclke_relations", DOOR), ("20_entropy_rank", BLANKS)]
)
def test_tokens_of_options_and_of_blanks_are_those_of_the_run(tmp_path, monkeypatch, name, given):
    given = {"models": ["toy"], **given}
    [each] = plan(tmp_path, name, given).jobs
    before = forecast.cost(each, tmp_path / "runs")
    assert before["remark"] == "" and before["from_cache"] == 0
    assert run_here(tmp_path / "run", name, given, monkeypatch) == before["tokens"] > 0
    assert forecast.expected_tokens(each) == (before["tokens"], before["tokens"], "")


def test_what_is_asked_again_of_a_longer_run_is_counted_and_not_compared(tmp_path):
    """A forecast has equal scores for all options: nothing would agree with what ships."""
    rows = yaml.safe_load((TOP / "params" / "book.yaml").read_text())["runs"]
    [reads] = [row["parameters"] for row in rows if row["notebook"] == "16_iclke_size"]
    assert reads["sources"]
    whole = plan(tmp_path, "16_iclke_size", reads)
    [each] = whole.jobs
    again, _, remark = forecast.expected_tokens(each)
    assert remark == ""
    every = replace(each, effective=each.effective | {"sources": [], "relations": ["author"]})
    assert 0 < 10 * again < forecast.expected_tokens(every)[0]


def test_what_models_write_is_counted_at_most_and_said_with_samples(tmp_path, monkeypatch):
    """Outputs may end early, so that the run forwards fewer tokens, but no fewer prompts."""
    asked = {"models": ["toy"], "fact_set": "atlas", "relations": ["capital"], "n_samples": 3}
    asked |= {"contexts": ["zero-shot"], "n_facts": 12}
    [each] = plan(tmp_path, "42_belief_sure", asked).jobs
    before = forecast.cost(each, tmp_path / "runs")
    said = "12 prompts to continue, 36 samples, tokens at most, 0.0 hours"
    assert before["remark"].startswith(said)
    least = before["tokens"] - 12 * 4 * 10  # nothing but the prompts, twice
    done = run_here(tmp_path / "run", "42_belief_sure", asked, monkeypatch)
    assert least <= done <= before["tokens"]


def test_a_page_that_reads_one_mask_runs_with_saved_encoders_and_its_tokens_are_counted(
    tmp_path, monkeypatch
):
    """BERT and ALBERT, random, from folders; each object is one token of both."""
    for kind in ("BERT", "ALBERT"):
        for part in helpers.blank_filler(kind):
            part.save_pretrained(tmp_path / kind)
    (tmp_path / "set").mkdir()
    rows = ["France,Paris", "Italy,Rome", "Spain,Madrid"]
    (tmp_path / "set" / "capital.csv").write_text("\n".join(["subject,object", *rows]))
    texts = ["[Y] is the capital of [X]\tyes", "The capital of [X] is [Y]\tno"]
    lines = ["relation\tgroup\ttemplate\tmanual\tquestion\tmade"]
    for text in texts:
        words, manual = text.split("\t")
        lines.append(f"capital\tplain\t{words}\t{manual}\tno\twritten")
    (tmp_path / "words.tsv").write_text("\n".join(lines))
    given = {"models": [str(tmp_path / kind) for kind in ("BERT", "ALBERT")], "choose": False}
    given |= {"fact_set": str(tmp_path / "set"), "wordings": str(tmp_path / "words.tsv")}
    [each] = plan(tmp_path, "40_belief_wording", given).jobs
    before = forecast.cost(each, tmp_path / "runs")
    done = run_here(tmp_path / "run", "40_belief_wording", given, monkeypatch)
    assert before["tokens"] == done > 0
    said = pd.read_parquet(
        tmp_path / "run" / "answers.parquet"
    )  # two pairs, two names, two templates
    assert said.groupby("model").size().tolist() == [8, 8] and said["correct"].notna().all()
