"""Templates from which words are taken away (PZ-D5)."""

import pytest

from lkecore.errors import BadInput
from lkecore.prompts.shortened import LEVELS, shortened


def test_the_papers_example_loses_its_words_from_the_left():
    """(1) John is married to [Niki] ... (4) William [Sophia], with two words at the third level."""
    found = [shortened("[X] is married to [Y]", share) for share in LEVELS]
    assert found == [
        "[X] is married to [Y]", "[X] married to [Y]", "[X] to [Y]", "[X] [Y]",
    ]  # fmt: skip


def test_words_before_the_subject_go_too_and_stops_stay_with_their_names():
    found = [shortened("The birthplace of [X] is [Y].", share) for share in LEVELS]
    assert found == [
        "The birthplace of [X] is [Y].", "birthplace of [X] is [Y].", "[X] is [Y].", "[X] [Y].",
    ]  # fmt: skip


@pytest.mark.parametrize("words", ["[X] a b c [Y]", "a [X] b c d e [Y]", "[X] a b c d e f g [Y]"])
def test_each_level_has_fewer_words_than_the_one_before(words):
    lengths = [len(shortened(words, share).split()) for share in LEVELS]
    assert lengths == sorted(set(lengths), reverse=True) and lengths[-1] == 2


def test_a_template_with_nothing_to_take_away_is_named():
    with pytest.raises(BadInput, match=r"^template '\[X\] lives in \[Y\]' has 2 words beside"):
        shortened("[X] lives in [Y]", 0.5)
    with pytest.raises(BadInput, match="share 2 of words must be between 0 and 1"):
        shortened("[X] is married to [Y]", 2)
