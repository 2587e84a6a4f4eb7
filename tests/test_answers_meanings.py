"""Every column of an answers frame has a line that says what it is."""

import re

from lkecore.answers import ask
from lkecore.answers.meanings import MEANING
from lkecore.stats.rules import RULES


def test_what_the_door_and_the_rules_say_that_they_give_has_a_meaning():
    """The oracle is the door's own list of columns."""
    [listed] = re.findall(r"Columns:\n(.+?)Another ``reading``", ask.__doc__, re.S)
    named = set(re.findall(r"``(\w+)``", listed)) - {"by"}
    assert {"model", "fact", "correct", "confidence_gold", "n_options"} <= named <= set(MEANING)
    assert {"cue_word", "cue_frequent", *RULES} <= set(MEANING)
