"""What models write: outputs that a stand-in says, counts by pencil, the toy's own by the scorer."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import helpers
import numpy as np
import pandas as pd
import pytest

from lkecore import answers, papers
from lkecore.answers import written
from lkecore.errors import BadInput
from lkecore.facts import draw
from lkecore.models import open_model
from lkecore.prompts import Prompt, of_sample
from lkecore.scores.generate import generate

TABLES = Path(papers.__file__).parent.parent / "data" / "papers"
BY = ["kind", "estimator", "relation"]


def prompt(relation, subject, gold, context=None):
    options = (gold, "other")
    return Prompt(
        f"{relation}-{subject}", relation, subject, context or subject, options, options, 0
    )


# Two estimators about two relations, by (kind, estimator, relation).
ASKED = {
    ("k", f"e{e}", relation): [prompt(relation, s, gold, f"e{e} {s}") for s, gold in facts]
    for e in (1, 2)
    for relation, facts in {
        "r": [("Italy", "Rome"), ("France", "Paris"), ("Niger", "Niamey")],
        "s": [("Rome", "Tiber"), ("Paris", "Seine")],
    }.items()
}
SAYS = {
    "e1 Italy": " Rome and Paris", "e1 France": " the city of Paris", "e1 Niger": " Romeo",
    "e1 Rome": " Tibers", "e1 Paris": "\nSeine", "e2 Italy": "", "e2 France": " Parisian",
    "e2 Niger": " Niamey", "e2 Rome": " Tiber", "e2 Paris": " Tiber",
}  # fmt: skip


@pytest.fixture
def stand_in(monkeypatch):
    """Outputs by SAYS, and the contexts of each call."""
    calls = []

    def says(model, contexts, *, max_new_tokens, stop):
        calls.append((model.name, list(contexts), max_new_tokens, stop))
        texts = [SAYS[each] for each in contexts]
        return pd.DataFrame({"text": texts, "logprob": -1.0, "n_tokens": 3})

    monkeypatch.setattr(written, "generate", says)
    return calls


def test_a_model_in_a_key_is_asked_its_own_prompts_alone(stand_in):
    mine = {("toy", *key): some for key, some in ASKED.items() if key[1] == "e2"}
    asked = mine | {("smollm2", *key): some for key, some in ASKED.items() if key[1] == "e1"}
    by = ["model", *BY]
    found = answers.write(["toy"], asked, "written.parquet", max_new_tokens=7, by=by)
    assert [*found.columns[:4]] == by and set(found["model"]) == {"toy"}
    assert found["text"].tolist() == [SAYS[p.context] for some in mine.values() for p in some]


def test_rules_and_stray_hits_by_pencil(stand_in):
    found = answers.write(["toy"], ASKED, "written.parquet", max_new_tokens=7, by=BY)
    first = found[found["estimator"] == "e1"]
    assert first["anywhere"].tolist() == [True, True, False, True, True]
    assert first["whole_words"].tolist() == [True, True, False, False, True]
    assert first["at_the_start"].tolist() == [True, False, False, False, True]
    # " Rome and Paris" holds one of the two other objects, " Romeo" another one's, in a longer word.
    assert first["stray"].tolist() == [1 / 2, 0, 1 / 2, 0, 0]
    second = found[found["estimator"] == "e2"]
    assert second["anywhere"].tolist() == [False, True, True, True, False]
    assert second["stray"].tolist() == [0, 0, 0, 0, 1]
    one = {("k", "e1", "r"): ASKED["k", "e1", "r"][:1]}  # a single fact has no others
    found = answers.write(["toy"], one, "written.parquet", max_new_tokens=7, by=BY)
    assert found["stray"].isna().all() and found["anywhere"].all()


def test_models_write_after_their_own_questions_only(stand_in):
    only = {"toy": ["s"]}
    how = {"max_new_tokens": 7, "by": BY, "only_by": "relation"}
    found = answers.write(["toy"], ASKED, "written.parquet", only=only, **how)
    assert set(found["relation"]) == {"s"} and len(found) == 4


def test_a_prompt_without_room_for_the_output_is_refused(stand_in):
    lm = open_model("toy")
    longest = max(len(lm.tokenizer(f"e1 {s}")["input_ids"]) for s in ("Italy", "France", "Niger"))
    longest += len(lm.front) - len(lm.tokenizer("")["input_ids"])
    how = {"max_new_tokens": 7, "by": BY}
    one = {("k", "e1", "r"): ASKED["k", "e1", "r"]}
    fits = answers.write(["toy"], one, "w.parquet", windows={"toy": longest + 7}, **how)
    assert fits["prompt_tokens"].tolist() == [longest] * 3
    line = f"toy, k, e1, r: {longest} tokens and 7 new ones are more than {longest + 6}; show fewer pairs"
    with pytest.raises(BadInput, match=re.escape(line)):
        answers.write(["toy"], one, "w.parquet", windows={"toy": longest + 6}, **how)
    with pytest.raises(BadInput, match=f"are more than {lm.context_length}"):
        answers.write(["toy"], one, "w.parquet", max_new_tokens=lm.context_length, by=BY)


def test_a_masked_model_does_not_write(stand_in, monkeypatch):
    masked = replace(open_model("toy"), kind="masked")
    monkeypatch.setattr(written, "opened", lambda *_: masked)
    with pytest.raises(BadInput, match="model toy is masked, and only a causal model goes on"):
        answers.write(["toy"], ASKED, "written.parquet", max_new_tokens=7, by=BY)


def test_the_toy_writes_what_the_scorer_gives_for_each_prompt_alone():
    sample = draw(
        "atlas", ["capital", "official_language"], n_shots=2, n_facts=2, n_options=3, seed=0
    )
    questions = of_sample(sample, ["iclke-space", "template-1"])
    found = answers.write(["toy"], questions, "written.parquet", max_new_tokens=4)
    alone = [
        generate(open_model("toy"), [p.context], max_new_tokens=4, stop=None)["text"].item()
        for some in questions.values()
        for p in some
    ]
    assert found["text"].tolist() == alone


# --- what the page asks, and its figure


def test_templates_of_a_kind_are_those_of_table_5():
    given = {"relations": ["capital", "official_language"]}
    given |= dict.fromkeys(["n_shots", "n_facts", "n_written"], 2)
    kinds = ["iclke-space", "mmp", "template-2"]
    page = helpers.page("19_iclke_generation", until="## Scores", kinds=kinds, **given)
    found = {key[1:]: some for key, some in page["questions"].items()}
    with open(TABLES / "iclke_table5_templates.csv", encoding="utf-8") as file:
        rows = [
            r for r in csv.DictReader(file) if r["kind"] == "MMP" and r["relation"] == "capital"
        ]
    assert [e for kind, e, name in found if (kind, name) == ("mmp", "capital")] == [
        f"mmp-{row['index']}" for row in rows
    ]
    subject = page["sample"]["capital"].facts[0].subject
    words = rows[0]["template"].replace("{subject}", subject)
    assert found["mmp", "mmp-1", "capital"][0].context == words
    assert [key[1] for key in found if key[0] != "mmp"] == ["iclke-space"] * 2 + ["template-2"] * 2


def test_confidence_is_the_share_of_samples_that_say_the_same(monkeypatch):
    says = {
        "e1 Rome": ["guitar", "a guitar", "Guitar music", "guitars", "piano"],
        "e1 Paris": [""] * 5,
    }
    some = {("k", "e1", "s"): ASKED["k", "e1", "s"]}
    calls = []

    def generate(model, contexts, *, max_new_tokens, stop, n_samples=None, seed=0):
        calls.append((n_samples, seed, stop))
        texts = [t for c in contexts for t in (says[c] if n_samples else says[c][:1])]
        return pd.DataFrame({"text": texts, "logprob": -1.0, "n_tokens": 3})

    monkeypatch.setattr(written, "generate", generate)
    how = {"max_new_tokens": 7, "by": BY, "stop": "\n", "n_samples": 5, "seed": 4}
    found = answers.write(["toy"], some, "written.parquet", **how)
    # An article, a word more and a plural are the same; an empty output matches nothing.
    assert found["confidence"].tolist() == [4 / 5, 0.0]
    assert calls == [(None, 0, "\n"), (5, 4, "\n")]
    exact = answers.write(["toy"], some, "w.parquet", same=str.__eq__, **how)
    assert exact["confidence"].tolist() == [1 / 5, 1.0]


def test_the_toy_s_confidence_is_that_of_its_samples():
    some = {("k", "e1", "r"): ASKED["k", "e1", "r"]}
    how = {"max_new_tokens": 3, "by": BY, "n_samples": 8, "same": lambda a, b: a[:2] == b[:2]}
    found = answers.write(["toy"], some, "written.parquet", **how)
    lm = open_model("toy")
    for row, each in zip(found.itertuples(), some["k", "e1", "r"], strict=True):
        samples = generate(lm, [each.context], n_samples=8, max_new_tokens=3, stop=None)
        assert row.confidence == np.mean(samples["text"].str[:2] == row.text[:2])
