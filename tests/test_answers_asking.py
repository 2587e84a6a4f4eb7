"""The door: what is asked through it is what plain forward passes say, and pages ask nothing."""

import dataclasses
import json
import math

import helpers
import numpy as np
import pandas as pd
import pytest

from lkecore import answers, facts, prompts
from lkecore.answers import kept
from lkecore.answers.asking import opened
from lkecore.errors import BadInput
from lkecore.models import model as models
from lkecore.models import weights
from lkecore.prompts.eiclke import Slots, slots
from lkecore.scores import blanks, masked, seq2seq
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import encode

DRAWN = {"n_shots": 2, "n_facts": 3, "n_options": 4, "seed": 4}
DOOR = answers.ask.__globals__  # the module has the name of its function
COLUMNS = ["model", "estimator", "relation", "fact", "correct", "confidence", "confidence_gold"]

CHECKS = ["question", "logprob_gold", "margin"]  # by which an answer is compared


@pytest.fixture(scope="module")
def sample():
    return facts.draw("atlas", ["capital", "film_year"], **DRAWN)


@pytest.fixture(scope="module")
def questions(sample):
    return prompts.of_sample(sample, ["iclke-space", "iclke-colon"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A run's folder."""
    monkeypatch.setenv("LKE_RUN", str(tmp_path / "run"))
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


@pytest.fixture
def no_weights(monkeypatch):
    """From now on it is an error to load weights or to open anything."""
    network = property(lambda self: pytest.fail(f"{self.name} was loaded"))
    monkeypatch.setattr(models.Model, "network", network)


def by_hand(m, questions) -> dict[tuple, list[float]]:
    """The log-probability of each option, from one plain pass per string."""
    found = {}
    for (estimator, relation), some in questions.items():
        for prompt in some:
            [row] = encode(m.tokenizer, [prompt], front=m.front)
            found[estimator, relation, prompt.fact] = option_logprobs_plain(m.network, row)
    return found


def shares_of(logprobs) -> list[float]:
    odds = [math.exp(x) for x in logprobs]
    return [x / math.fsum(odds) for x in odds]


def test_answers_are_those_of_plain_forward_passes(questions, folder):
    found = answers.ask(["toy"], questions, "answers.parquet", keep_scores=True)
    plain = by_hand(opened("toy", "float32"), questions)
    shares = {key: shares_of(logprobs) for key, logprobs in plain.items()}
    gold = {(*key, p.fact): p.gold for key, some in questions.items() for p in some}
    assert list(found) == [*COLUMNS, "n_options", *CHECKS] and len(found) == len(shares) == 12
    assert list(found[["estimator", "relation", "fact"]].itertuples(index=False)) == list(shares)
    for row in found.itertuples():
        key = row.estimator, row.relation, row.fact
        assert row.confidence == pytest.approx(max(shares[key]), abs=1e-4)
        assert row.confidence_gold == pytest.approx(shares[key][gold[key]], abs=1e-4)
        assert row.correct == (shares[key].index(max(shares[key])) == gold[key])
        assert row.logprob_gold == pytest.approx(plain[key][gold[key]], abs=1e-4)
        second, first = sorted(plain[key])[-2:]
        assert row.margin == pytest.approx(first - second, abs=1e-4)
    assert (found["model"] == "toy").all() and (found["n_options"] == 4).all()
    assert found["question"].is_unique
    assert found["correct"].dtype == bool and 0 < found["correct"].sum() < 12
    pd.testing.assert_frame_equal(pd.read_parquet(folder / "answers.parquet"), found)
    scores = pd.read_parquet(folder / "scores.parquet")
    assert list(scores)[:4] == COLUMNS[:4] and "context" not in scores and len(scores) == 48
    for key, part in scores.groupby(["estimator", "relation", "fact"]):
        assert part["logprob"].tolist() == pytest.approx(plain[key], abs=1e-4)
        assert part["gold"].tolist().index(True) == gold[key]


def test_only_names_who_is_asked_how_and_in_which_order(questions):
    more = {**questions, ("hgp-1", "capital"): questions["iclke-space", "capital"]}
    found = answers.ask(["toy"], more, "a.parquet", only={"toy": ["hgp-1", "iclke-space"]})
    asked = found[["estimator", "relation"]].drop_duplicates().to_numpy().tolist()
    assert asked == [["hgp-1", "capital"], *(["iclke-space", r] for r in ("capital", "film_year"))]
    whole = answers.ask(["toy"], questions, "a.parquet", only={"other": ["hgp-1"]})
    assert whole["estimator"].unique().tolist() == ["iclke-space", "iclke-colon"]


# --- pages


def test_a_page_reads_what_its_runs_kept_and_opens_no_model(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "check_name", pytest.fail)
    folders = []
    for name, right in (("two", [True]), ("one", [False, True])):
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        frame = pd.DataFrame({"model": name, "correct": right})
        frame.to_parquet(folders[-1] / "answers.parquet")
        manifest = {"parameters": {"fact_set": name * 2, "models": [name]}}
        (folders[-1] / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setenv("LKE_PAGE", json.dumps([str(f) for f in folders]))
    found = answers.ask(["gone"], {}, "answers.parquet")
    assert found.to_numpy().tolist() == [["two", True], ["one", False], ["one", True]]
    assert kept.run_folders() == folders
    named = answers.load_runs("answers.parquet", ["fact_set"])
    assert named["fact_set"].tolist() == ["twotwo", "oneone", "oneone"]
    with pytest.raises(BadInput, match="^'models' of two is a list, or a column of answers"):
        answers.load_runs("answers.parquet", ["models"])
    with pytest.raises(BadInput, match="two has kept no scores.parquet, which this page reads"):
        answers.load_runs("scores.parquet")
    file = folders[0] / "answers.parquet"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(BadInput, match=f"^{file} cannot be read"):
        answers.load_runs("answers.parquet")


def test_what_is_made_once_is_read_by_a_page_and_not_made_again(tmp_path, monkeypatch):
    monkeypatch.delenv("LKE_PAGE", raising=False)
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    frame = pd.DataFrame({"a": [1, 2]})
    assert answers.once(lambda: frame, "made.parquet") is frame
    monkeypatch.setenv("LKE_PAGE", json.dumps([str(tmp_path), str(tmp_path)]))
    found = answers.once(lambda: pytest.fail("made again"), "made.parquet")
    assert found["a"].tolist() == [1, 2, 1, 2]
    assert answers.likeliest("gone", [], best=2).columns.tolist() == [
        "subject", "gold", "right", "1", "2"
    ]  # fmt: skip


# --- models of other kinds


def filler(kind: str, name: str) -> models.Model:
    network, tokenizer = helpers.blank_filler(name)
    return helpers.model(network, tokenizer=tokenizer, kind=kind, name=kind, digest=kind.ljust(64))


def short(fact: str) -> prompts.Prompt:
    options = ("Paris", "Rome", "Madrid")
    spaced = tuple(f" {name}" for name in options)
    return prompts.Prompt(fact, "r", "x", "The capital of France is", options, spaced, 1, after=".")


@pytest.mark.parametrize(
    ("kind", "name", "scorer"), [("masked", "BERT", masked), ("seq2seq", "T5", seq2seq)]
)
def test_models_that_fill_blanks_are_asked_by_their_own_scorer(kind, name, scorer, monkeypatch):
    made = filler(kind, name)
    monkeypatch.setattr(weights, "check_name", lambda name: None)
    monkeypatch.setitem(DOOR, "opened", lambda name, dtype: made)
    [row] = answers.ask([kind], {("x", "r"): [short("f")]}, "a.parquet").itertuples()
    odds = np.exp(scorer.option_logprobs(made, [short("f")]).frame["logprob"].to_numpy())
    assert row.confidence_gold == pytest.approx(odds[1] / odds.sum(), abs=1e-6)
    assert row.correct == (odds.argmax() == 1)
    given = {("iclke", "r"): [Slots((), (), (), ())]}
    line = f"^model {kind} is {kind}, and iclke, r has questions inside long prompts, which only a"
    with pytest.raises(BadInput, match=line):
        answers.ask([kind], given, "a.parquet")


# --- refused before anything is asked


def refused(models, questions, **given) -> str:
    with pytest.raises(BadInput) as caught:
        answers.ask(models, questions, "answers.parquet", **given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_nobody_can_be_asked_is_refused_in_one_line(questions, no_weights, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(weights, "locate", lambda name: pytest.fail(f"{name} was fetched"))
        line = refused(["org/model", "smollm3"], questions)
    assert line.startswith("unknown model 'smollm3'") and line.endswith("nearest: smollm2")
    line = "nothing is asked: there are no models or no questions"
    assert refused([], questions) == refused(["toy"], questions, only={"toy": []}) == line
    empty = {**questions, ("iclke-arrow", "capital"): []}
    assert refused(["toy"], empty) == "nothing is asked of toy, iclke-arrow, capital: no questions"
    line = refused(["toy"], questions, only={"toy": ["iclke-colom"]})
    assert (
        line == "nothing is asked with estimator 'iclke-colom'; nearest: iclke-colon, iclke-space"
    )


def test_a_model_that_cannot_be_asked_is_refused_before_the_first_one_is(
    questions, no_weights, monkeypatch
):
    """The second model has a short window, or is asked what stands before a text."""
    toy = opened("toy", "float32")
    narrow = dataclasses.replace(toy, name="narrow", context_length=10)
    known = {"toy": toy, "narrow": narrow, "masked": filler("masked", "BERT")}
    monkeypatch.setattr(weights, "check_name", lambda name: None)
    monkeypatch.setitem(DOOR, "opened", lambda name, dtype: known[name])
    assert "more than the model's context of 10" in refused(["toy", "narrow"], questions)
    # Slots, too: each piece of these has a token of its own at least.
    one = facts.draw("atlas", ["capital", "currency"], **DRAWN | {"n_shots": 6})["capital"]
    groups = slots(one.shots, one.facts, one.options, first=2, every=2)
    line = refused(["narrow"], {("x", "r"): groups})
    assert "the context of model narrow has 10" in line
    assert "masked is masked" in refused(["masked"], {("x", "r"): groups})


# --- at one mask ----------------------------------------------------------------------------------


def capitals() -> dict[tuple[int, int, str], list]:
    """Letters, which the toy knows as tokens, asked by two templates: {(template, expression, relation)}."""
    rows = [facts.Fact(str(i), "r", f"s{i}", name) for i, name in enumerate("ABCD")]
    return {
        (i, 0, "r"): prompts.template(f"{words} [X] is [Y]", rows, ["ABCDE"] * 4)
        for i, words in enumerate(["The letter of", "Of"])
    }


def read_at_one_mask(lm, scores):
    found = scores.drop_duplicates("fact")[["fact", "answer", "logprob_top"]]
    gold = scores.loc[scores["gold"], "option"].to_numpy()
    right = found["answer"].to_numpy() == gold
    return found.assign(correct=right, confidence=np.exp(found["logprob_top"]))


def test_a_page_reads_the_likeliest_token_by_a_scorer_and_a_reading_of_its_own(folder):
    how = {"by": ("template", "expression", "relation"), "score": blanks.tops}
    how |= {"reading": read_at_one_mask, "keep_scores": True}
    found = answers.ask(["toy"], capitals(), "answers.parquet", **how)
    columns = [
        "model",
        *how["by"],
        "fact",
        "answer",
        "logprob_top",
        "correct",
        "confidence",
        *CHECKS,
    ]
    assert found.columns.tolist() == columns and len(found) == 8
    each = [blanks.tops(opened("toy", "float32"), some) for some in capitals().values()]
    alone = [read_at_one_mask(None, one) for one in each]
    assert found["logprob_top"].tolist() == pd.concat(alone)["logprob_top"].tolist()
    kept_scores = pd.read_parquet(folder / "scores.parquet")
    assert kept_scores["logprob"].tolist() == pd.concat(each)["logprob"].tolist()
    golds = pd.concat(each).query("gold")["logprob"]
    assert found["logprob_gold"].tolist() == golds.tolist()
