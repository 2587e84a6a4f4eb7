"""Three kinds of reader: what they are asked, and what is read of it; by pencil."""

from itertools import product
from types import SimpleNamespace

import pandas as pd
import pytest

from lkecore.answers import lab, readers
from lkecore.errors import BadInput
from lkecore.models import lab as lab_models
from lkecore.worlds import plain

WORLD = "lab:smoke-1"
MODELS = [f"{WORLD}/0.15m", f"{WORLD}/bert", f"{WORLD}/t5"]


@pytest.fixture(scope="module")
def samples():
    return lab.samples(MODELS, ["author", "birth_year"], n_shots=1, n_options=20, seed=0)


def test_models_and_estimators_that_do_not_fit_are_refused():
    readers.check(MODELS, ["template-1", "template-5"])
    with pytest.raises(BadInput, match="0.15m-unplanted: models without a suffix only"):
        readers.check([*MODELS, f"{WORLD}/0.15m-unplanted"], ["template-1"])
    for wrong in ([], ["template-1", "hgp-1"], ["template-7"]):
        with pytest.raises(BadInput, match="estimators .*: of .*template-1"):
            readers.check(MODELS, wrong)


def test_only_readers_that_see_behind_the_blank_are_shown_the_full_stop(samples):
    made = readers.questions(samples, ["template-1", "template-5"])
    keys = product([WORLD], readers.READERS, ["template-1", "template-5"], samples[WORLD])
    assert set(made) == set(keys)
    for (spec, reader, estimator, name), some in made.items():
        words = samples[spec][name].relation.templates[int(estimator[-1]) - 1]
        for prompt, fact in zip(some, samples[spec][name].facts, strict=True):
            written = words.replace("[X]", fact.subject).replace("[Y]", fact.object)
            text = prompt.context + prompt.continuations[prompt.gold] + prompt.after
            assert text == written + "." * (reader != "causal")


def test_answers_say_how_many_names_are_as_long_and_how_often_the_text_tells(monkeypatch):
    truth = plain.states(WORLD).query("relation == 'author' and split == 'test'").head(2)
    truth = truth.assign(epochs=3, exposures=truth["occurrences"] * 3)
    record = {"world": WORLD, "epochs": 3, "parameters": 7}
    monkeypatch.setattr(lab_models, "record", lambda folder: record)
    monkeypatch.setattr(lab, "_told", lambda folder: truth)
    names = [*truth["object"], "x", "y", "z"]
    lengths = [1, 2, 2, 2, 5]
    rows = [
        (fact, name, name == gold, logprob, n)
        for fact, gold, logprobs in zip(
            truth["fact"], truth["object"], [(0, -1, -1, -1, -1), (-1, -2, -3, -4, 0)], strict=True
        )
        for name, logprob, n in zip(names, logprobs, lengths, strict=True)
    ]
    scores = pd.DataFrame(rows, columns=["fact", "option", "gold", "logprob", "n_tokens"])
    scores = scores.assign(subject="s", relation="author", logprob=scores["logprob"].astype(float))
    # A told object must be an option.
    monkeypatch.setattr(lab, "_told", lambda folder: truth.assign(told=truth["object"]))
    found = readers.beside_tellings(SimpleNamespace(path=None), scores)
    assert found["alike"].tolist() == [1 / 5, 1 / 5]  # on top: the first name, then the last one
    assert found["alike_true"].tolist() == [1 / 5, 3 / 5]
    assert found["tellings"].tolist() == truth["occurrences"].tolist()
    assert set(found["epochs"]) == {3} and set(found["parameters"]) == {7}
