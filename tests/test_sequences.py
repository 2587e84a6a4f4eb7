"""Sequences: what stands where in a long prompt, against the paper's example and by counting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lkecore.facts import Fact
from lkecore.rows import BadInput
from lkecore.sequences import slots

FEYNMAN, HEISENBERG, EINSTEIN, LOUIS, CURIE = (
    Fact(name, "birth_year", name, year)
    for name, year in [
        ("Feynman", "1918"),
        ("Heisenberg", "1901"),
        ("Einstein", "1879"),
        ("Louis", "1892"),
        ("Curie", "1867"),
    ]
)

# --- EIC-LKE


def numbered(n, start=0):
    return [Fact(str(i), "r", f"s{i}", f"o{i}") for i in range(start, start + n)]


def test_the_two_prompts_of_the_papers_example_do_the_work_of_four():
    [made] = slots(
        [FEYNMAN, HEISENBERG, CURIE],
        [EINSTEIN, LOUIS],
        [("1879", "1880"), ("1850", "1892")],
        first=1,
        every=1,
        shot_separator=" ",
    )
    starts = {"".join(text).removesuffix(" Curie 1867") for text in made.texts}
    papers = {
        "Feynman 1918 Einstein 1879 Heisenberg 1901 Louis 1850",
        "Feynman 1918 Einstein 1880 Heisenberg 1901 Louis 1892",
    }
    others = {
        "Feynman 1918 Einstein 1879 Heisenberg 1901 Louis 1892",
        "Feynman 1918 Einstein 1880 Heisenberg 1901 Louis 1850",
    }
    assert starts in (papers, others)  # which years meet is a matter of the seed


def test_the_papers_hundred_shots_have_ten_slots_every_five_pairs_from_the_fiftieth():
    shots, asked = numbered(100), numbered(23, start=500)
    options = [(f.object, "a", "b") for f in asked]
    made = slots(shots, asked, options)
    assert [len(group.places) for group in made] == [10, 10, 3]
    text = "".join(made[0].texts[0])
    pairs = text.split(", ")
    assert len(pairs) == 110
    where = [i for i, pair in enumerate(pairs) if int(pair.split()[0][1:]) >= 500]
    # Behind 50 shots, then behind five more each: a question adds one to what is before it.
    assert where == [50 + 6 * j for j in range(10)]
    assert [pair for i, pair in enumerate(pairs) if i not in where] == [
        f"{f.subject} {f.object}" for f in shots
    ]


@given(
    st.integers(1, 7), st.integers(1, 4), st.integers(1, 3), st.integers(2, 5), st.integers(0, 9)
)
def test_every_option_of_every_fact_is_asked_in_exactly_one_prompt(facts_, first, every, n, seed):
    shots, asked = numbered(first + 5), numbered(facts_, start=500)
    options = [tuple(f"{f.object}-{i}" for i in range(n - 1)) + (f.object,) for f in asked]
    seen = []
    for group in slots(shots, asked, options, first=first, every=every, seed=seed):
        for k, text in enumerate(group.texts):
            for place, order, prompt in zip(group.places, group.orders, group.asked, strict=True):
                assert text[place - 1].endswith(prompt.subject)
                assert text[place] == " " + prompt.options[order[k]]
                seen.append((prompt.fact, text[place].strip()))
    wanted = [(f.id, name) for f, names in zip(asked, options, strict=True) for name in names]
    assert sorted(seen) == sorted(wanted)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first": 3}, "stands behind shot 3, which needs 4 shots; there are 3"),
        ({"first": 0}, "first is 0 and every 5"),
        ({"every": 0, "first": 1}, "every 0, but both must be 1 or more"),
        ({"options": [("o500",), ("o501", "b")]}, r"facts have \[1, 2\] options"),
        ({"facts": numbered(2)}, "'s0' is both shown and asked"),
        ({"shot_separator": ""}, "separator between shots must not be empty"),
    ],
)
def test_slots_that_cannot_be_made_are_refused(change, message):
    facts_ = change.get("facts", numbered(2, start=500))
    given_ = {
        "shots": numbered(3),
        "facts": facts_,
        "options": [(f.object, "b") for f in facts_],
        "first": 1,
    } | change
    with pytest.raises(BadInput, match=message):
        slots(given_.pop("shots"), given_.pop("facts"), given_.pop("options"), **given_)
