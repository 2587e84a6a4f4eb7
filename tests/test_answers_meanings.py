"""Every column of an answers frame has a line that says what it is."""

import re

import pandas as pd

from lkecore.answers import ask, columns
from lkecore.answers.meanings import MEANING
from lkecore.stats.rules import RULES


def test_columns_are_listed_in_their_order_with_the_first_value_and_a_meaning():
    frame = pd.DataFrame({"model": ["toy", "b"], "mine": [0.5, 1], "correct": [True, False]})
    found = columns(frame)
    assert found["column"].tolist() == ["model", "mine", "correct"]
    assert found["example"].tolist() == ["toy", "0.5", "True"]
    assert found["meaning"].tolist() == [MEANING["model"], "this page's own", MEANING["correct"]]


def test_what_the_door_and_the_rules_say_that_they_give_has_a_meaning():
    """The oracle is the door's own list of columns."""
    [listed] = re.findall(r"Columns:\n(.+?)Another ``reading``", ask.__doc__, re.S)
    named = set(re.findall(r"``(\w+)``", listed)) - {"by"}
    assert {"model", "fact", "correct", "confidence_gold", "n_options"} <= named <= set(MEANING)
    assert {"cue_word", "cue_frequent", *RULES} <= set(MEANING)
