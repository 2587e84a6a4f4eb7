"""EIC-LKE beside the same questions alone, and what it costs: by hand and by brute force."""

import json
import shutil

import pandas as pd
import pytest

from lkecore import answers, facts, prompts
from lkecore.answers import costs, slots
from lkecore.errors import BadInput
from lkecore.models import weights
from lkecore.models.model import open_model
from lkecore.prompts.eiclke import Slots
from lkecore.prompts.prompt import Prompt
from lkecore.scores import kinds

LONG = {"n_shots": 9, "first": 3, "every": 2, "seed": 0}


@pytest.fixture(scope="module")
def sample():
    few = {"n_shots": 3, "n_facts": 5, "n_options": 3, "seed": 0}
    return facts.draw("atlas", ["capital"], least=1, **few)


# --- what stands in the slots


def asked(*names):
    made = [Prompt(name, "r", name, name, ("a", "b"), ("a", "b"), 0) for name in names]
    return Slots((("",),), (0,), ((0,),), tuple(made))


ANSWERS = pd.DataFrame(
    [
        # fact, right and sure together, right and sure alone
        ("c", True, 0.9, False, 0.4), ("a", False, 0.2, False, 0.3),
        ("b", True, 0.6, True, 0.5), ("d", False, 0.1, True, 0.8),
    ],
    columns=["fact", "t", "ts", "a", "as"],
)  # fmt: skip


def both():
    parts = [
        ANSWERS.assign(estimator=name, correct=ANSWERS[x], confidence_gold=ANSWERS[x + "s"])
        for name, x in (("eiclke", "t"), ("iclke-comma", "a"), ("iclke-space", "a"))
    ]
    return pd.concat(parts).assign(model="m", relation="r")


def test_facts_by_slot():
    questions = {("eiclke", "r"): [asked("a", "b"), asked("c", "d")]}
    found = slots.in_slots(both(), questions)
    assert found.columns.tolist() == [
        "model", "relation", "fact", "eiclke", "iclke-comma", "gain", "slot",
    ]  # fmt: skip
    rows = found.set_index("fact")
    assert rows["slot"].to_dict() == {"a": 1, "b": 2, "c": 1, "d": 2}
    assert rows["gain"].round(12).to_dict() == {"a": -0.1, "b": 0.1, "c": 0.5, "d": -0.7}
    assert rows.loc["c", ["eiclke", "iclke-comma"]].tolist() == [True, False]
    table = slots.by_slot(found, seed=0).set_index("slot")
    assert table.index.tolist() == [1, 2, "first half", "second half", "all"]
    assert table["facts"].tolist() == [2, 2, 2, 2, 4]
    assert table["gain"].map(lambda i: round(i.estimate, 12)).tolist() == [
        0.2,
        -0.3,
        0.2,
        -0.3,
        -0.05,
    ]
    assert table.loc["second half", ["eiclke", "iclke-comma"]].tolist() == [0.5, 1.0]


def test_a_slot_with_one_fact_has_no_row():
    questions = {("eiclke", "r"): [asked("a", "b", "c"), asked("d")]}
    table = slots.by_slot(slots.in_slots(both(), questions), seed=0)
    # The prompt has 3 slots, so its first half ends at 1.5.
    assert table["slot"].tolist() == [1, "first half", "second half", "all"]
    assert table["facts"].tolist() == [2, 2, 2, 4]


# --- the questions


def test_a_question_alone_is_its_long_prompt_without_the_others(sample):
    [(_, groups)] = prompts.slots_of_sample(sample, **LONG).items()
    [(_, alone)] = prompts.alone_of_sample(sample, **LONG).items()
    in_slots = [(group, j) for group in groups for j in range(len(group.asked))]
    assert [len(group.asked) for group in groups] == [3, 2]
    for (group, j), prompt in zip(in_slots, alone, strict=True):
        others = {i for place in group.places[:j] for i in (place - 1, place)}
        pieces = group.texts[0][: group.places[j]]
        kept = [piece for i, piece in enumerate(pieces) if i not in others]
        assert prompt.context == "".join(kept)
        assert prompt.options == group.asked[j].options


def test_the_example_begins_before_the_first_slot(sample):
    group = prompts.slots_of_sample(sample, **LONG)["eiclke", "capital"][0]
    text = prompts.example_of_slots(group, n_pieces=8)
    place = group.places[0]
    before, question = "".join(group.texts[0][place - 5 : place]), group.texts[0][place].strip()
    assert text.startswith(f"...{before} [{question}]") and text.endswith("...")


def test_slots_beyond_the_window_are_refused_before_anything_is_asked(
    sample, tmp_path, monkeypatch
):
    shutil.copytree(weights.locate("toy"), tmp_path / "short")
    config = json.loads((tmp_path / "short" / "config.json").read_text())
    config["max_position_embeddings"] = 60
    (tmp_path / "short" / "config.json").write_text(json.dumps(config))
    calls = []
    monkeypatch.setattr(kinds, "option_logprobs", lambda *given: calls.append(given))
    questions = prompts.of_sample(sample, ["iclke-space"]) | prompts.slots_of_sample(sample, **LONG)
    with pytest.raises(BadInput, match="slots fit; take fewer shots"):
        answers.ask([str(tmp_path / "short")], questions, "answers.parquet")
    assert calls == []


# --- costs


def prefixes(strings):
    """How many tokens go through a model once each: all beginnings but for whole strings that end."""
    every = {tuple(ids[:n]) for ids in strings for n in range(1, len(ids) + 1)}
    longer = {p[:-1] for p in every}
    return len(every & longer)


def test_costs_are_those_of_all_strings_by_brute_force(sample):
    lm = open_model("toy")
    questions = prompts.of_sample(sample, ["iclke-space"]) | prompts.slots_of_sample(sample, **LONG)
    one, eic = costs.measure(["toy"], questions, "costs.parquet").to_dict("records")
    bos = list(lm.front)

    def cut(text):
        return lm.tokenizer(text, add_special_tokens=False)["input_ids"]

    strings = [
        bos + cut(prompt.context + each)
        for prompt in questions["iclke-space", "capital"]
        for each in prompt.continuations
    ]
    assert (one["facts"], one["strings"], one["groups"]) == (5, 15, 1)
    assert (one["one_by_one"], one["ours"]) == (sum(map(len, strings)), prefixes(strings))
    total = ours = 0
    groups = questions["eiclke", "capital"]
    for group in groups:
        texts = [
            bos + [token for piece in text[: group.places[-1] + 1] for token in cut(piece)]
            for text in group.texts
        ]
        total, ours = total + sum(map(len, texts)), ours + prefixes(texts)
    assert (eic["facts"], eic["strings"], eic["groups"]) == (5, 6, 2)
    assert (eic["one_by_one"], eic["ours"]) == (total, ours)
    shared = 0
    while len({tuple(text[: shared + 1]) for text in texts}) == 1:
        shared += 1
    assert eic["shared"] == shared
    assert one["timed_facts"] == eic["timed_facts"] == 3
    assert 0 < eic["apart"] < 1e-4  # float32, the same sums in another order
    assert (one["estimator"], eic["estimator"]) == ("iclke-space", "eiclke")


def test_cost_at_another_scale_is_worked_out_from_lengths():
    columns = ["model", "relation", "estimator", "facts", "strings"]
    columns += ["one_by_one", "ours", "groups", "shared"]
    rows = [
        ("m", "r", "iclke-space", 20, 200, 45_000, 600, 1, 200),
        ("m", "r", "eiclke", 20, 20, 11_000, 6_400, 2, 200),
        ("m", "few", "iclke-space", 20, 100, 22_500, 600, 1, 200),  # half the options
        ("m", "few", "eiclke", 20, 10, 5_500, 3_400, 2, 200),
    ]
    frame = pd.DataFrame(rows, columns=columns)
    row, few = costs.at_scale(frame).to_dict("records")
    # 20 times the facts and 10 times the options: 200 strings for one here.
    assert row["iclke-space, one_by_one"] == pytest.approx(9.0)
    assert row["eiclke, one_by_one"] == pytest.approx(2.2)
    assert row["iclke-space, ours"] == pytest.approx((200 + 400 * 200) / 1e6)  # its pairs once
    assert row["eiclke, ours"] == pytest.approx((40 * 200 + 6_000 * 200) / 1e6)  # in 40 groups
    assert row["times_one_by_one"] == pytest.approx(2.2 / 9)
    assert row["times_ours"] == pytest.approx(1_208_000 / 80_200)
    # 5 options instead of 10, and strings of the same lengths: the same at the paper's 100.
    assert few["iclke-space, one_by_one"] == pytest.approx(9.0)
    assert few["eiclke, one_by_one"] == pytest.approx(2.2)
    assert few["eiclke, ours"] == pytest.approx((40 * 200 + 3_000 * 400) / 1e6)
