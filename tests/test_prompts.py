"""Prompts: the strings are the paper's, letter by letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lkecore.facts import Fact
from lkecore.prompts import join_pair, many_shot
from lkecore.rows import BadInput


def born(subject, year):
    return Fact(subject, "birth_year", subject, year)


FEYNMAN, HEISENBERG, EINSTEIN = (
    born("Feynman", "1918"),
    born("Heisenberg", "1901"),
    born("Einstein", "1879"),
)


def test_prompt_is_the_short_example_of_the_paper():
    [prompt] = many_shot([FEYNMAN, HEISENBERG], [EINSTEIN], [("1880", "1879")])
    assert prompt.context == "Feynman 1918 Heisenberg 1901 Einstein"  # IC-S1
    assert prompt.continuations == (" 1880", " 1879")
    assert prompt.options == ("1880", "1879") and prompt.gold == 1
    assert (prompt.fact, prompt.relation, prompt.subject) == ("Einstein", "birth_year", "Einstein")


def test_prompt_is_the_long_example_of_the_paper():
    shots = [
        born("Albert Einstein", "14 March 1879"),
        born("Ernest Rutherford", "30 August 1871"),
        born("J.J. Thomson", "18 December 1856"),
    ]
    asked = born("Max Planck", "23 April 1858")
    [prompt] = many_shot(shots, [asked], [(asked.object,)])
    assert prompt.context == (
        "Albert Einstein 14 March 1879 Ernest Rutherford 30 August 1871 "
        "J.J. Thomson 18 December 1856 Max Planck"
    )
    assert prompt.continuations == (" 23 April 1858",)


@pytest.mark.parametrize(
    ("pair", "shot", "context", "continuation"),
    [
        (" ", "\n", "Feynman 1918\nEinstein", " 1879"),
        (", ", ", ", "Feynman, 1918, Einstein,", " 1879"),
        (": ", "; ", "Feynman: 1918; Einstein:", " 1879"),
        (" was born in ", " ", "Feynman was born in 1918 Einstein was born in", " 1879"),
        ("\n", "\n\n", "Feynman\n1918\n\nEinstein\n", "1879"),
        ("=", ";", "Feynman=1918;Einstein=", "1879"),
        ("  ", " ", "Feynman  1918 Einstein ", " 1879"),
    ],
)
def test_separators_stand_inside_and_between_pairs(pair, shot, context, continuation):
    [prompt] = many_shot(
        [FEYNMAN], [EINSTEIN], [("1879",)], pair_separator=pair, shot_separator=shot
    )
    assert (prompt.context, prompt.continuations) == (context, (continuation,))


def test_without_shots_the_subject_stands_alone():
    [prompt] = many_shot([], [EINSTEIN], [("1879",)])
    assert (prompt.context, prompt.continuations) == ("Einstein", (" 1879",))
    assert many_shot([FEYNMAN], [], []) == []


def test_every_fact_has_its_own_options_and_gold():
    asked = [HEISENBERG, EINSTEIN]
    prompts = many_shot([FEYNMAN], asked, [("1901", "1850", "1879"), ("1901", "1850", "1879")])
    assert [p.gold for p in prompts] == [0, 2]
    assert [p.options[p.gold] for p in prompts] == [f.object for f in asked]
    assert [p.context for p in prompts] == ["Feynman 1918 Heisenberg", "Feynman 1918 Einstein"]


@given(st.text(min_size=1, max_size=5))
def test_joining_the_halves_of_a_separator_gives_it_back(separator):
    left, right = join_pair(separator)
    assert left + right == separator
    assert right == (" " if separator.endswith(" ") else "")


WORDS = st.text("abc ", min_size=1, max_size=4)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=4), WORDS, WORDS, WORDS, WORDS)
def test_context_and_gold_continuation_are_the_pairs_joined(pairs, subject, object_, pair, shot):
    shots = [born(s, o) for s, o in pairs if s != subject]
    [prompt] = many_shot(
        shots, [born(subject, object_)], [(object_,)], pair_separator=pair, shot_separator=shot
    )
    written = [f.subject + pair + f.object for f in [*shots, born(subject, object_)]]
    assert prompt.context + prompt.continuations[0] == shot.join(written)


def test_subject_that_is_shown_is_not_asked():
    shown = born("Einstein", "1880")  # the subject counts, whatever the object
    with pytest.raises(BadInput, match="^'Einstein' is both shown and asked in birth_year$"):
        many_shot([FEYNMAN, shown], [HEISENBERG, EINSTEIN], [("1901",), ("1879",)])


@pytest.mark.parametrize("name", ["pair_separator", "shot_separator"])
def test_empty_separators_are_refused(name):
    with pytest.raises(BadInput, match="separator .* must not be empty"):
        many_shot([FEYNMAN], [EINSTEIN], [("1879",)], **{name: ""})


def test_options_and_facts_come_in_equal_number():
    with pytest.raises(ValueError):
        many_shot([FEYNMAN], [EINSTEIN, HEISENBERG], [("1879",)])
