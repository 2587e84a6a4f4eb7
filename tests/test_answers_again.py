"""Answers that were asked again must be those that ship: each planted fault is refused, and a tie is none."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lkecore import answers
from lkecore.answers import again
from lkecore.errors import BadInput

OURS = pd.DataFrame(
    {
        "model": "small",
        "estimator": "iclke-space",
        "relation": "capital",
        "fact": ["Q1", "Q2", "Q3", "Q4"],
        "correct": [True, False, True, True],
        "confidence_gold": [0.8, 0.25, 0.5, 1e-6],
        "question": ["aa", "bb", "cc", "dd"],
        "logprob_gold": [-1.5, -4.0, -2.25, -20.0],
        "margin": [2.0, 1.0, 0.0005, 3.0],  # of the third the two likeliest are as good as tied
    }
)
SHIPS = OURS.drop(columns="margin").assign(source="long", draw=0)


def agree(ships: pd.DataFrame, **given) -> int:
    return answers.agree(OURS, ships, "10_iclke_relations", **given)


def with_value(column: str, row: int, value) -> pd.DataFrame:
    ships = SHIPS.copy()
    ships.loc[row, column] = value
    return ships


@pytest.fixture(autouse=True)
def on_a_page(monkeypatch, tmp_path):
    """No model is opened there; what is kept goes into the folder of the run."""
    monkeypatch.setenv("LKE_PAGE", "[]")
    monkeypatch.setenv("LKE_RUN", str(tmp_path))


def test_the_same_answers_agree_and_are_counted(tmp_path):
    assert agree(SHIPS.iloc[::-1]) == 4
    kept = pd.read_csv(tmp_path / "again-10_iclke_relations.csv")
    assert kept.to_dict("records") == [{"model": "small", "asked": 4, "same": 4, "nats": 0.0}]


@pytest.mark.parametrize(
    ("column", "row", "value"),
    [
        ("logprob_gold", 3, -20.0 + 0.002),
        ("correct", 1, True),
        ("confidence_gold", 3, 1e-6 * 1.01),  # a share of it, however small it is
        ("logprob_gold", 1, float("nan")),  # missing on one side is no agreement
    ],
)
def test_an_answer_that_differs_is_refused(column, row, value, tmp_path):
    with pytest.raises(BadInput, match=rf"^1 of 4 answers .* Q{row + 1}, iclke-space: {column} is"):
        agree(with_value(column, row, value))
    assert pd.read_csv(tmp_path / "again-10_iclke_relations.csv")["same"].tolist() == [3]


def test_a_question_that_does_not_ship_is_refused():
    with pytest.raises(BadInput, match="^1 of 4 questions .* are not among those"):
        agree(with_value("question", 2, "ee"))


def test_a_tie_may_be_right_or_wrong_but_its_numbers_may_not_move():
    assert agree(with_value("correct", 2, False)) == 4
    with pytest.raises(BadInput, match="logprob_gold"):
        agree(with_value("logprob_gold", 2, -2.25 - 0.002))


def test_what_a_float32_moves_is_no_difference():
    moved = with_value("logprob_gold", 0, -1.5001)
    moved.loc[1, "confidence_gold"] = 0.25025
    assert agree(moved) == 4


def test_some_may_differ_where_a_page_says_so_and_all_in_half_precision():
    flipped = with_value("correct", 1, True)
    assert agree(flipped, least=0.75) == 4
    assert agree(flipped, dtype="bfloat16") == 4
    assert agree(flipped, columns=["confidence_gold"]) == 4


def test_other_weights_are_refused(monkeypatch):
    monkeypatch.delenv("LKE_PAGE")
    made = pd.DataFrame({"model": ["small"], "digest": ["0" * 64]})
    monkeypatch.setattr(again, "what_made", lambda _: made)
    for digest, right in (("0" * 64, True), ("1" * 64, False)):
        lm = SimpleNamespace(digest=digest)
        monkeypatch.setattr(again, "opened", lambda *_, lm=lm: lm)
        if right:
            assert agree(SHIPS) == 4
        else:
            with pytest.raises(BadInput, match="model small is not the one whose answers ship"):
                agree(SHIPS)


# --- rows that are one object each, as on page 43: met by object, p as a share

OBJECTS = pd.DataFrame(
    {
        "source": "lab", "model": "toy", "relation": "r", "template": [0, 0, 1, 1],
        "option": ["a", "b"] * 2, "p": [0.9996, 0.0004, 0.25, 0.75],
    }
)  # fmt: skip
MINE = OBJECTS.drop(columns="source")[2:].reset_index(drop=True)


def test_objects_in_any_order_meet_the_same_objects():
    assert answers.agree(MINE[::-1], OBJECTS, "43_belief_bias") == 2
    assert answers.agree(MINE.assign(p=MINE["p"] * 1.001), OBJECTS, "43_belief_bias") == 2


@pytest.mark.parametrize(
    ("ours", "message"),
    [
        (MINE.assign(p=[0.75, 0.25]), "p is 0.75, and was 0.25"),
        # A difference that a limit in parts of 1 would not see.
        (OBJECTS[1:2].drop(columns="source").assign(p=0.0006), "1 of 1 answers"),
        (MINE.assign(option=["a", "c"]), "1 of 2 questions .* toy, r, 1, c"),
    ],
)
def test_another_share_or_object_is_refused(ours, message):
    with pytest.raises(BadInput, match=message):
        answers.agree(ours, OBJECTS, "43_belief_bias")
