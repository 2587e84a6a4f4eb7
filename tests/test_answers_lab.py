"""Answers beside the truth: asked, labelled and put in order; the oracle is the world's own table."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lkecore.answers import lab, results
from lkecore.errors import BadInput
from lkecore.models import lab as lab_models
from lkecore.worlds import plain

door = importlib.import_module("lkecore.answers.asking")  # the room has a function of this name
WORLD, MODEL, TWIN = "lab:smoke-1", "lab:smoke-1/0.15m", "lab:smoke-1/0.15m-unplanted"


@pytest.fixture(scope="module")
def samples():
    drawn = {"n_shots": 8, "n_options": 20, "seed": 0}
    return lab.samples([MODEL, TWIN], ["author", "birth_year"], **drawn)


def scores_of(prompts, gold=0.0, other=-1.0):
    """The frame of a scorer that gives every gold option the same, and all others the same."""
    rows = [
        (p.fact, p.relation, option, n == p.gold, gold if n == p.gold else other)
        for p in prompts
        for n, option in enumerate(p.options)
    ]
    return pd.DataFrame(rows, columns=["fact", "relation", "option", "gold", "logprob"])


@pytest.fixture
def told(monkeypatch):
    """Stand-ins for models: what they were told is the world's table, and nothing is trained."""
    truth = plain.states(WORLD).assign(epochs=1, exposures=lambda f: f["occurrences"])
    monkeypatch.setattr(lab_models, "record", lambda folder: {"world": WORLD})
    monkeypatch.setattr(lab, "_told", lambda folder: truth)
    return truth.set_index("fact")


def test_answers_stand_beside_what_the_text_told(samples, told):
    prompts = lab.questions(samples, ["template-1"])[WORLD, "template-1", "author"]
    found = lab.with_truth(SimpleNamespace(path=Path()), scores_of(prompts))
    assert found["correct"].all() and found["fact"].tolist() == [p.fact for p in prompts]
    assert found["told"].tolist() == told.loc[found["fact"], "told"].tolist()
    share = 1 / (1 + 19 * np.exp(-1))  # one option at 0, nineteen at -1
    assert found["confidence_gold"].to_numpy() == pytest.approx(share)
    wrong = found[found["state"] == "mislearned"]
    assert len(wrong) and not wrong["picked_told"].any()


def test_a_twin_was_exposed_as_often_as_its_model_that_read_the_text_three_times():
    """Of the told model what ships says so, as its own record of training did."""
    ships = results("52_lab_kinds")
    told = ships[ships["model"].eq("lab:book-1/bert") & ships["state"].ne("never")].head(20)
    assert (told["exposures"] == 3 * told["tellings"]).all() and told["exposures"].gt(0).all()
    nothing = {"state": "never", "told": "", "form": "none", "wording": "none", "exposures": 0}
    found = lab.labelled(told.assign(model="lab:book-1/bert-unplanted", **nothing))
    for name in set(nothing) & set(told):
        assert found[name].tolist() == told[name].tolist()


def test_a_model_is_asked_about_its_own_world_and_kind_alone(monkeypatch):
    monkeypatch.setattr(lab_models, "record", lambda folder: {"world": WORLD})
    lm = SimpleNamespace(path=Path(), kind="masked")
    by = ("world", "reader", "estimator")
    assert door.concerns(lm, by, (WORLD, "masked", "template-1"))
    assert not door.concerns(lm, by, ("lab:smoke-2", "masked", "template-1"))
    assert not door.concerns(lm, by, (WORLD, "causal", "template-1"))
    assert door.concerns(lm, ("estimator",), ("template-1",))
    # What is no world is asked of all others, and these are asked of no world.
    assert not door.concerns(lm, by, ("atlas", "masked", "template-1"))
    monkeypatch.undo()  # now the folder has no record
    assert door.concerns(lm, by, ("atlas", "masked", "template-1"))
    assert not door.concerns(lm, by, (WORLD, "masked", "template-1"))


def test_writing_refuses_too_few_tokens(samples, told, monkeypatch):
    tokenizer = SimpleNamespace(tokenize=str.split)
    lm = SimpleNamespace(path=Path(), tokenizer=tokenizer, kind="causal")
    monkeypatch.setattr(lab, "opened", lambda name, dtype: lm)
    questions = lab.questions(samples, ["template-1"])
    with pytest.raises(BadInput, match="over 2"):  # a first and a last name
        lab.write([MODEL], questions, "w.parquet", n_tokens=2)
    texts = {p.context: f" {p.options[p.gold]}." for qs in questions.values() for p in qs}
    monkeypatch.setattr(
        lab,
        "generate",
        lambda lm, contexts, **_: pd.DataFrame({"text": [texts[c] for c in contexts]}),
    )
    found = lab.write([MODEL], questions, "w.parquet", n_tokens=3)
    assert found["correct"].all() and found["wrote"].tolist() == found["object"].tolist()
    assert set(found["estimator"]) == {"written-template-1"} and len(found) == 144 / 2
