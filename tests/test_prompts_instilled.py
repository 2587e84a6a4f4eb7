"""Instilled: what is said before a question, letter by letter (PZ-S2, PZ-Q14)."""

import pytest

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.prompts.instilled import INSTILLATIONS, instilled, instilled_of_sample

PAIRS = [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid")]
FACTS = [Fact(str(i), "capital", *pair) for i, pair in enumerate(PAIRS)]
OPTIONS = [("Rome", "Paris", "Madrid")] * 3
WORDS = "The capital of [X] is [Y]"


def test_the_statement_is_the_filled_template_with_its_full_stop_and_one_space():
    [first, *_] = instilled(WORDS, FACTS, OPTIONS)
    assert first.asked.context == "The capital of France is"
    assert first.told.context == "The capital of France is Paris. The capital of France is"
    assert (first.fact, first.instillation) == ("0", "explicit")
    assert first.told.options == first.asked.options and first.told.gold == first.asked.gold == 1
    assert first.asked.after == first.told.after == ""


def test_a_template_with_a_stop_keeps_it_and_a_closed_blank_has_one_behind_it():
    [own, *_] = instilled(WORDS + ".", FACTS, OPTIONS)
    [closed, *_] = instilled(WORDS, FACTS, OPTIONS, closed=True)
    assert own == closed
    assert own.told.context == "The capital of France is Paris. The capital of France is"
    assert own.asked.after == own.told.after == "."
    [question, *_] = instilled("[Y] is the capital of what? [X]", FACTS, OPTIONS)
    assert question.told.context == "Paris is the capital of what? France. "
    assert question.asked.after == " is the capital of what? France"


def statements(kind: str, seed: int = 0) -> list[str]:
    found = instilled(WORDS, FACTS, OPTIONS, instillation=kind, seed=seed)
    return [each.told.context.removesuffix(each.asked.context).strip() for each in found]


def test_controls_change_subject_or_object_and_nothing_else():
    said = {kind: statements(kind) for kind in INSTILLATIONS}
    whole = {f"The capital of {a} is {b}." for a, b in PAIRS}
    for i, (subject, name) in enumerate(PAIRS):
        assert said["explicit"][i] == f"The capital of {subject} is {name}."
        assert said["unrelated"][i] in whole - {said["explicit"][i]}
        assert said["copied"][i].endswith(f" is {name}.") and subject not in said["copied"][i]
        assert f" {subject} is " in said["false"][i] and name not in said["false"][i]


def test_another_true_object_is_never_told_as_a_false_one():
    some = [Fact("0", "r", "A", "x", alternatives=("y",)), Fact("1", "r", "B", "y")]
    with pytest.raises(BadInput, match=r"^fact 0 \('A'\): no fact of another subject and object"):
        instilled("[X] has [Y]", some, [("x",), ("y",)], instillation="false")


def test_a_name_that_looks_like_a_place_does_no_harm():
    odd = [Fact("0", "r", "the [Y] band", "[X] and Y"), Fact("1", "r", "B", "y")]
    [first, _] = instilled("[X] made [Y]", odd, [("[X] and Y",), ("y",)])
    assert first.told.context == "the [Y] band made [X] and Y. the [Y] band made"


def test_a_sample_is_asked_by_template_instillation_and_relation():
    sample = facts.draw(
        "atlas", ["capital"], n_shots=2, n_facts=4, n_options=5, seed=0, min_relations=1
    )
    found = instilled_of_sample(sample, ["template-1", "template-2"], ["explicit", "copied"])
    assert list(found) == [
        (name, kind, "capital")
        for name in ("template-1", "template-2")
        for kind in ("explicit", "copied")
    ]
    assert [len(some) for some in found.values()] == [4] * 4
    with pytest.raises(BadInput, match="instillation 'implicit' must be one of 'explicit', 'unrel"):
        instilled_of_sample(sample, ["template-1"], ["implicit"])


def test_a_true_object_in_another_form_of_its_accents_is_never_told_as_another():
    forms = {"Ann": "Z\u00fcrich", "Ben": "Zu\u0308rich", "Cem": "ZU\u0308RICH", "Dan": "Bern"}
    lives = [Fact(name, "city", name, city) for name, city in forms.items()]
    options = [(fact.object, "Oslo") for fact in lives]
    for seed in range(5):
        found = instilled("[X] lives in [Y]", lives, options, instillation="false", seed=seed)
        told = [each.told.context for each in found[:3]]
        assert all(
            text.startswith(f"{name} lives in Bern.")
            for name, text in zip(list(forms)[:3], told, strict=True)
        )
