"""The doors for blanks and lessons: what they read and keep, and what they refuse first."""

import dataclasses
from types import SimpleNamespace

import helpers
import numpy as np
import pytest

from lkecore import answers, facts, prompts
from lkecore.answers import blanks
from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.scores import kinds


def test_whole_names_at_blanks_are_read_where_facts_have_different_numbers_of_options():
    """An uncased model cannot tell Rome from ROME. The oracle: each fact by itself, in plain Python."""
    network, tokenizer = helpers.blank_filler("uncased BERT")
    model = helpers.model(network, tokenizer=tokenizer, kind="masked")
    names = [("Rome", "Paris", "Madrid"), ("Rome", "Paris", "ROME"), ("Paris", "ROME", "York")]
    asked = [
        prompts.Prompt(f"f{i}", "r", "s", f"{'The ' * i}has", its, tuple(f" {n}" for n in its), 0)
        for i, its in enumerate(names)
    ]
    some = [
        prompts.Instilled(p, dataclasses.replace(p, context=f"Spain is. {p.context}"), "explicit")
        for p in asked
    ]
    found = blanks._whole_names(model, some)
    assert len(found) == 3 and "fact" not in found
    for each, row in zip(some, found.itertuples(), strict=True):
        sides = []
        for prompt in (each.asked, each.told):
            odds = np.exp(kinds.option_logprobs(model, [prompt], use_cache=False).frame["logprob"])
            sides.append(odds / odds.sum())
        p, q = sides
        assert len(p) == (2 if each.fact == "f1" else 3)
        assert row.confidence_gold == pytest.approx(p[0], abs=1e-5)
        assert row.options_entropy == pytest.approx(-(p * np.log(p)).sum(), abs=1e-4)
        assert row.options_kl == pytest.approx((p * np.log(p / q)).sum(), abs=1e-4)


def test_a_full_stop_follows_the_blank_for_every_kind_of_model_that_sees_it(monkeypatch):
    monkeypatch.setattr(blanks.asking, "opened", lambda name, dtype: SimpleNamespace(kind=name))
    sample = facts.draw("atlas", ["capital"], n_shots=2, n_facts=6, n_options=5, seed=0)
    found = answers.at_blanks(["causal", "masked", "seq2seq"], sample, ["template-1"])
    after = {reader: {e.asked.after for e in some} for (reader, *_), some in found.items()}
    assert after == {"causal": {""}, "masked": {"."}, "seq2seq": {"."}}


def test_questions_at_blanks_are_checked_at_the_door(monkeypatch):
    monkeypatch.setattr(blanks.blanks, "shifts", lambda *_, **__: pytest.fail("a model was asked"))
    behind = prompts.instilled("[Y] is what [X] is", [Fact("1", "r", "a", "c")], [("c", "d")])
    with pytest.raises(
        BadInput, match="stands after the blank, where a causal model does not look"
    ):
        answers.ask_blanks(["toy"], {("e", "explicit", "r"): behind}, "answers.parquet")


# --- lessons --------------------------------------------------------------------------------------
