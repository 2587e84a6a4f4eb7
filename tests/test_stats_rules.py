"""Rules without a model: by hand on ten facts, and properties that any text must have."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lkecore.errors import BadInput
from lkecore.stats import rules

SHOWN = Counter({"English": 3, "French": 2, "Apple Records": 2})
# (subject, options, gold, what overlap, frequent, both and length give to the gold option), by hand.
TEN = [
    ("Apple Watch", ("Apple", "Nike", "Sony"), 0, (1, 1 / 3, 1, 0)),
    ("Apple Watch", ("Nike", "Apple Records", "Apple"), 1, (0, 1, 0, 0)),  # half of its words
    ("apple watch", ("APPLE", "Sony"), 0, (1, 1 / 2, 1, 0)),  # letter case aside
    (
        "Notre-Dame",
        ("Dame", "Notre Dame", "Rome"),
        1,
        (1 / 2, 1 / 3, 1 / 2, 0),
    ),  # both are all there
    ("Emma", ("English", "French", "Finnish"), 0, (1 / 3, 1, 1, 0)),
    ("Emma", ("Finnish", "French", "Apple Records"), 1, (1 / 3, 1 / 2, 1 / 2, 1)),
    ("Emma", ("Urdu", "Thai", "Finnish"), 0, (1 / 3, 1 / 3, 1 / 3, 1 / 2)),
    ("Emmanuel", ("Emma", "Urdu"), 0, (1 / 2, 1 / 2, 1 / 2, 1 / 2)),  # a part of a word is none
    ("1984", ("1984", "1985"), 0, (1, 1 / 2, 1, 1 / 2)),
    ("!?", ("?", "English"), 0, (1 / 2, 0, 0, 1)),  # no words
]


@pytest.mark.parametrize(("subject", "options", "gold", "expected"), TEN)
def test_what_each_rule_gets_of_ten_facts(subject, options, gold, expected):
    found = [rules.guess(rule, subject, options, SHOWN)[gold] for rule in rules.RULES]
    assert found == pytest.approx(list(expected))


NAMES = st.text(alphabet="aAbB ß-é1", min_size=1, max_size=8)


@given(
    NAMES,
    st.lists(NAMES, min_size=1, max_size=6, unique=True),
    st.dictionaries(NAMES, st.integers(1, 4)),
)
def test_shares_are_those_of_a_guess_that_draws_lots_between_equals(subject, options, shown):
    for rule in rules.RULES:
        shares = rules.guess(rule, subject, options, shown)
        assert shares.sum() == pytest.approx(1) and len(set(shares[shares > 0])) == 1
        turned = rules.guess(rule, subject, options[::-1], shown)
        assert np.array_equal(shares, turned[::-1])  # no place among the options is favoured
    shared = rules.overlap(subject, options).any()
    other = "rule-overlap" if shared else "rule-frequent"
    both, either = (rules.guess(rule, subject, options, shown) for rule in ("rule-both", other))
    assert np.array_equal(both, either)


def test_rank_by_length_is_that_of_scipy():
    from scipy.stats import rankdata

    options = ["Rome", "Bern", "Ur", "Jerusalem", "Oslo", "Ankara"]
    expected = rankdata([len(option) for option in options])
    assert [rules.length_rank(options, i) for i in range(6)] == expected.tolist()


@pytest.mark.parametrize(
    ("rule", "subjects", "options", "message"),
    [
        ("rule-overlap", ["?", "!!"], [("a", "bc")] * 2, "no subject has a word, such as '[?]'"),
        ("rule-overlap", ["a", "b"], [("-", "++")] * 2, "no option has a word, such as '-'"),
        ("rule-length", ["a", "b"], [("1984", "1985"), ("Rome", "Bern")], "equally long, such as '1984'"),
    ],
)  # fmt: skip
def test_a_rule_that_could_only_draw_lots_is_refused_in_one_line(rule, subjects, options, message):
    with pytest.raises(BadInput, match=message) as caught:
        rules.check(rule, subjects, options)
    assert "\n" not in str(caught.value)
    for other in set(rules.RULES) - {rule}:
        rules.check(other, subjects, options)
    with pytest.raises(BadInput, match="unknown rule 'rule-lenght'; nearest: rule-length"):
        rules.guess("rule-lenght", "a", ["b"], {})


COMPOSED, DECOMPOSED = "Z\u00fcrich", "Zu\u0308rich"


@pytest.mark.parametrize("subject", [f"FC {COMPOSED}", f"fc {DECOMPOSED.upper()}"])
@pytest.mark.parametrize("name", [COMPOSED, DECOMPOSED])
def test_rules_see_one_name_in_any_form(subject, name):
    """By hand: the city stands in the club's name, was shown three times, and has six letters."""
    shown = Counter({COMPOSED: 1, DECOMPOSED: 1, name.upper(): 1, "Geneva": 2})
    options = ["Geneva", name, "Lausanne"]
    found = {rule: rules.guess(rule, subject, options, shown).tolist() for rule in rules.RULES}
    assert found == {
        "rule-overlap": [0, 1, 0], "rule-frequent": [0, 1, 0], "rule-both": [0, 1, 0],
        "rule-length": [0.5, 0.5, 0],
    }  # fmt: skip
    assert rules.word_set(name) == {COMPOSED.lower()} and rules.length_rank(options, 1) == 1.5
    with pytest.raises(BadInput, match="all options are equally long"):
        rules.check("rule-length", [subject], [("Geneva", name)])
