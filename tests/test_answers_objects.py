"""What is asked again of rows that are one object each, as on page 43: met by object, p as a share."""

import pandas as pd
import pytest

from lkecore import answers
from lkecore.errors import BadInput

SHIPS = pd.DataFrame(
    {
        "source": "lab", "model": "toy", "relation": "r", "template": [0, 0, 1, 1],
        "option": ["a", "b"] * 2, "p": [0.9996, 0.0004, 0.25, 0.75],
    }
)  # fmt: skip
OURS = SHIPS.drop(columns="source")[2:].reset_index(drop=True)


@pytest.fixture(autouse=True)
def page(monkeypatch):
    monkeypatch.setenv("LKE_PAGE", "[]")  # there no weights are compared


def test_objects_in_any_order_meet_the_same_objects():
    assert answers.agree(OURS[::-1], SHIPS, "43_belief_bias") == 2
    assert answers.agree(OURS.assign(p=OURS["p"] * 1.001), SHIPS, "43_belief_bias") == 2


@pytest.mark.parametrize(
    ("ours", "message"),
    [
        (OURS.assign(p=[0.75, 0.25]), "p is 0.75, and was 0.25"),
        # A difference that a limit in parts of 1 would not see.
        (SHIPS[1:2].drop(columns="source").assign(p=0.0006), "1 of 1 answers"),
        (OURS.assign(option=["a", "c"]), "1 of 2 questions .* toy, r, 1, c"),
    ],
)
def test_another_share_or_object_is_refused(ours, message):
    with pytest.raises(BadInput, match=message):
        answers.agree(ours, SHIPS, "43_belief_bias")
