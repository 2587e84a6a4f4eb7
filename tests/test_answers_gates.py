"""Gates: questions to a made-up answerer, shares by hand, and one real model from door to frame."""

import re
from types import SimpleNamespace

import helpers
import pandas as pd
import pytest

from lkecore.answers import gates
from lkecore.errors import BadInput
from lkecore.facts import rich, rich_text
from lkecore.models import lab
from lkecore.models.model import open_model
from lkecore.train import lab as trainer

WORLD = "lab:richtiny-0"


@pytest.fixture(scope="module", autouse=True)
def small(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        helpers.tiny_rich(patch)
        patch.setattr(gates, "OFTEN", (4, 1))  # more than that its text tells nothing
        patch.setenv("LKE_DEVICE", "cpu")
        patch.setenv("LKECORE_CACHE", str(tmp_path_factory.mktemp("gates")))
        yield


@pytest.fixture(scope="module")
def asked(small):
    return gates.questions(WORLD, rich_text.states(WORLD), 40, seed=0)


# --- questions ------------------------------------------------------------------------------------


def test_of_each_gate_as_many_questions_are_asked_and_of_facts_those_that_are_told_often(asked):
    counts = asked.groupby(["gate", "of"]).size()
    for gate in ("same", "other", "instruction", "list"):
        assert counts[gate, ""] == 40
    states = rich_text.states(WORLD)
    told = states[(states["split"] == "test") & (states["state"] == "planted")]
    text = "\n".join(rich_text.documents(rich.world(WORLD)))
    read = asked[asked["gate"] == "reads"]
    assert set(read["of"]) == {
        f"{n} times and more, {t}" for n in (4, 1) for t in ("template-1", "a told template")
    }
    for row in read.itertuples():
        least = int(row.of.split()[0])
        [fact] = told[
            (told["relation"] == row.relation)
            & (told["subject"] == row.subject)
            & (told["object"] == row.answers[0])
        ].itertuples()
        assert fact.form == "sentence" and fact.sentences >= least and fact.n_objects == 1
        # The text itself says what is asked, and how it goes on.
        if row.of.endswith("a told template"):
            called = filter(None, (row.subject, fact.subject_alias))
            prompts = [row.prompt.replace(row.subject, name) for name in called]
            assert any(f"{one} {name}" in text for one in prompts for name in row.answers)
    once = read.drop_duplicates(["of", "relation", "subject"])
    assert len(once) == len(read)


def test_other_facts_are_drawn_by_another_seed_and_none_are_asked_of_an_unplanted_twin(asked):
    states = rich_text.states(WORLD)
    again, other = (gates.questions(WORLD, states, 10, seed=seed) for seed in (0, 1))
    assert again.equals(gates.questions(WORLD, states, 10, seed=0)) and not again.equals(other)
    shown = [every[every["gate"] != "reads"] for every in (again, other)]
    assert shown[0].equals(shown[1])  # their questions are the world's
    none = gates.questions(WORLD, rich_text.untold(states), 10, seed=0)
    assert set(none["gate"]) == {"same", "other", "instruction", "list"}


# --- answers --------------------------------------------------------------------------------------


def oracle(asked):
    """What an attentive reader says, found in the prompts and the text and not in ``answers``."""
    made, states = rich.world(WORLD), rich_text.states(WORLD)
    texts = []
    for row in asked.itertuples():
        if row.gate == "reads":
            own = states[(states["relation"] == row.relation) & (states["subject"] == row.subject)]
            said = own["told"].iloc[0]
        else:
            names = [
                name
                for name in made.objects[row.relation]
                if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", row.prompt)
            ]
            said = max(names, key=len)  # of a list the longest: of the right kind is any of them
        texts.append(f" {said}. And more.")
    return texts


def test_an_attentive_reader_passes_all_gates_and_one_that_says_nothing_passes_none(asked):
    found = gates.rated(asked.assign(text=oracle(asked)))
    assert found["passed"].all() and (found["right"] == 1).all()
    assert list(found["gate"][:4]) == ["same", "other", "instruction", "list"] and len(found) == 8
    silent = gates.rated(asked.assign(text=""))
    assert not silent["passed"].any() and (silent["right"] == 0).all()
    assert silent[["gate", "of", "n"]].equals(found[["gate", "of", "n"]])


def frame(gate, right, n):
    texts = ["Kelmo Bay."] * right + ["Kelmo Bayou."] * (n - right)
    return pd.DataFrame(
        {"gate": gate, "of": "", "answers": [("Kelmo Bay", "Ro")] * n, "text": texts}
    )


@pytest.mark.parametrize(
    ("gate", "right", "n", "passed"),
    [
        ("same", 9, 10, True), ("same", 89, 100, False),
        ("other", 8, 10, True), ("other", 79, 100, False),
        ("instruction", 9, 10, True), ("instruction", 89, 100, False),
        ("list", 19, 20, True), ("list", 94, 100, False),
        ("reads", 5, 10, False), ("reads", 51, 100, True),
    ],
)  # fmt: skip
def test_a_share_at_the_threshold_passes_and_of_what_is_read_one_above_it(gate, right, n, passed):
    [row] = gates.rated(frame(gate, right, n)).itertuples()
    assert (row.gate, row.n, row.right, row.passed) == (gate, n, right / n, passed)
    # Wilson, by its formula.
    z, p = 1.959964, right / n
    centre, half = p + z * z / (2 * n), z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    ends = [(centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)]
    assert [row.low, row.high] == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (" Kelmo Bay. Next", True), ("Kelmo Bay", True), ("Kelmo Bay\n", True), ("Kelmo Bay,", True),
        ("Kelmo Bays", False), ("Kelmo", False), ("The Kelmo Bay", False), ("kelmo bay", False),
        (" Ro, Kelmo", True), ("Rom", False), ("", False), (" ", False),
    ],
)  # fmt: skip
def test_an_answer_begins_with_the_object_as_a_whole_word(text, right):
    assert gates.begins(text, ("Kelmo Bay", "Ro")) is right


# --- models ---------------------------------------------------------------------------------------


def test_a_model_is_asked_greedily_with_room_for_the_longest_object(monkeypatch):
    trainer.make(f"{WORLD}/causal")
    model = open_model(f"{WORLD}/causal")
    measured = gates.measure(model, 5)
    assert len(measured) == 8 and set(measured["n"][:4]) == {5}
    assert measured["right"].between(0, 1).all()

    def answers(asked_model, contexts, *, max_new_tokens):
        assert asked_model is model
        longest = max(rich_text.states(WORLD)["object"], key=len)
        ids = model.tokenizer(f" {longest}", add_special_tokens=False)["input_ids"]
        assert max_new_tokens > len(ids)
        return pd.DataFrame({"text": oracle(made.assign(prompt=contexts))})

    made = gates.questions(WORLD, rich_text.states(WORLD), 5, 0)
    monkeypatch.setattr(gates, "generate", answers)
    assert gates.measure(model, 5)["passed"].all()


def test_a_model_that_is_no_decoder_or_of_no_rich_world_is_refused_in_one_line(monkeypatch):
    masked = SimpleNamespace(name="lab:richtiny-0/masked", kind="masked", path=None)
    with pytest.raises(BadInput, match="is masked, not causal"):
        gates.measure(masked)
    first = SimpleNamespace(name="lab:tiny-0/causal", kind="causal", path=None)
    monkeypatch.setattr(lab, "record", lambda path: {"world": "lab:tiny-0"})
    with pytest.raises(BadInput, match="has read lab:tiny-0; gates are measured on rich worlds"):
        gates.measure(first)
