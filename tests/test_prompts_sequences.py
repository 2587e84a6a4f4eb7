"""Sequences: what stands where in a long prompt, against the paper's example and by counting."""

import re
from collections import Counter
from itertools import combinations, permutations

import pytest
from faker.providers.lorem import en_US
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency, chisquare

from lkecore.errors import BadInput
from lkecore.facts import sets
from lkecore.facts.fact import Fact
from lkecore.prompts.eiclke import slots
from lkecore.prompts.prompt import many_shot
from lkecore.prompts.sequences import (
    KINDS,
    incorrect_pairs,
    invented,
    pair_pieces,
    places,
    probes,
    unknown_pairs,
)

BORN = {
    "Feynman": "1918",
    "Heisenberg": "1901",
    "Einstein": "1879",
    "Louis": "1892",
    "Curie": "1867",
}
FEYNMAN, HEISENBERG, EINSTEIN, LOUIS, CURIE = (
    Fact(name, "birth_year", name, year) for name, year in BORN.items()
)

# --- EIC-LKE (IC-S2)


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


def test_a_space_token_is_a_piece_of_its_own_and_all_else_stays():
    shots, asked = numbered(9), numbered(5, start=500)
    options = [(f.object, "a", "b") for f in asked]
    how = {"first": 3, "every": 2, "seed": 4}
    for glued, apart in zip(
        slots(shots, asked, options, **how),
        slots(shots, asked, options, **how, space_token=True),
        strict=True,
    ):
        assert ["".join(text) for text in apart.texts] == ["".join(text) for text in glued.texts]
        assert apart.orders == glued.orders
        for k, text in enumerate(apart.texts):
            assert set(text[1::3]) == {" "} and " " not in "".join(text[2::3])
            for place, order, prompt in zip(apart.places, apart.orders, apart.asked, strict=True):
                assert text[place] == prompt.options[order[k]] == prompt.continuations[order[k]]
                assert text[place - 2].endswith(prompt.subject)
    with pytest.raises(BadInput, match="pair separator ':' must be ' ' to be a token of its own"):
        slots(shots, asked, options, **how, pair_separator=":", space_token=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first": 3}, "stands behind shot 3, which needs 4 shots; there are 3"),
        ({"options": [("o500",), ("o501", "b")]}, r"facts have \[1, 2\] options"),
    ],
)
def test_slots_that_cannot_be_made_are_refused(change, message):
    given_ = {"options": [("o500", "b"), ("o501", "b")], "first": 1} | change
    with pytest.raises(BadInput, match=message):
        slots(numbered(3), numbered(2, start=500), **given_)


# --- one long sequence (IC-S5) with unknown (IC-D5) and incorrect pairs (IC-D6)


@given(st.integers(2, 60), st.data())
def test_distributed_places_never_touch_and_have_a_right_pair_behind_each(n, data):
    k = data.draw(st.integers(1, n // 2))
    found = places(n, k, "distributed", seed=data.draw(st.integers(0, 99)))
    assert len(set(found)) == k and sorted(found) == list(found)
    assert all(0 <= place and place + 1 < n and place + 1 not in found for place in found)


def test_distributed_places_are_drawn_evenly_from_all_that_obey_the_rule():
    """The oracle lists every set of 2 of 6 places by brute force: 0 to 4, none side by side."""
    legal = [c for c in combinations(range(5), 2) if c[1] - c[0] > 1]
    counts = Counter(places(6, 2, "distributed", seed=seed) for seed in range(3000))
    assert set(counts) == set(legal)
    assert chisquare(list(counts.values())).pvalue > 1e-4  # 1 in 10,000 seeds would fail by chance


@given(st.integers(4, 100), st.data())
def test_a_block_is_one_run_in_the_second_half_with_room_behind(n, data):
    k = data.draw(st.integers(1, n - n // 2 - 1))
    behind = data.draw(st.integers(1, n - n // 2 - k))
    found = places(n, k, "block", n_behind=behind, seed=data.draw(st.integers(0, 99)))
    assert list(found) == list(range(found[0], found[0] + k))
    assert found[0] >= n // 2 and n - 1 - found[-1] >= behind


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: places(10, 3, "blok"), "unknown arrangement 'blok'; nearest: block"),
        (lambda: places(9, 5, "distributed"), "5 of 9 pairs .* 4 is the most"),
        (lambda: places(20, 4, "block", n_behind=7), "second half of 20 pairs"),
        (lambda: incorrect_pairs([CURIE], [CURIE]), "no wrong object for 'Curie'"),
        (lambda: pair_pieces([CURIE], pair_separator=""), "separator of a pair must not be empty"),
    ],
)
def test_replacements_that_cannot_be_made_are_refused(call, message):
    with pytest.raises(BadInput, match=message):
        call()


def test_more_names_than_there_are_are_refused():
    with pytest.raises(BadInput, match="1 invented names of kind word asked for, and there are 0"):
        invented("word", 1, [*"bdgkmpvz"], 0)  # each begins with a name that is taken


def test_words_have_their_shape_and_are_no_word_of_the_facts_nor_of_english():
    """The oracle knows the shape as a pattern, and all beginnings of every name and every word."""
    facts = [fact for name in sets.relations("atlas") for fact in sets.load("atlas", name).facts]
    names = {name for fact in facts for name in (fact.subject, fact.object)}
    found = invented("word", 300, names, seed=2)
    shape = re.compile("[BDGKMPVZ][aeiou][bdfgmpvz]([bdgkmpvz][aeiou]){2}[bdfgmpvz]")
    assert all(shape.fullmatch(name) for name in found)
    low = [name.casefold() for name in found]
    assert not [pair for pair in permutations(low, 2) if pair[1].startswith(pair[0])]
    of_facts = {name.casefold() for name in names}
    begun_by_facts, begun_by_words = (
        {name[: i + 1] for name in some for i in range(len(name))} for some in (of_facts, low)
    )
    assert not set(low) & begun_by_facts and not of_facts & begun_by_words
    real = {word for name in names for word in re.findall(r"\w+", name.casefold())}
    english = {word for words in en_US.Provider.parts_of_speech.values() for word in words}
    assert not set(low) & (real | english)


def test_no_syllable_of_a_word_goes_with_the_object_that_stands_behind_it():
    """A test of independence by scipy: whether a word's first letter tells which of two objects follows."""
    relation = [Fact(str(i), "r", f"s{i}", f"o{i % 2}") for i in range(800)]
    counts = Counter(
        (pair.subject[0], pair.object) for pair in unknown_pairs(relation, relation, "word", seed=4)
    )
    table = [[counts[letter, name] for letter in "BDGKMPVZ"] for name in ("o0", "o1")]
    assert sum(map(sum, table)) == 800
    assert chi2_contingency(table).pvalue > 1e-4  # 1 in 10,000 seeds would fail by chance


@pytest.mark.parametrize("kind", KINDS)
def test_invented_names_differ_from_each_other_and_from_all_that_are_taken(kind):
    first = invented(kind, 30, [], seed=3)
    taken = {name.upper() for name in first[:10]}
    found = invented(kind, 30, taken, seed=3)
    assert len({name.casefold() for name in found}) == 30
    assert not {name.casefold() for name in found} & {name.casefold() for name in taken}
    assert found[:20] == first[10:]  # the same names in their order, without the taken ones
    assert found != invented(kind, 30, taken, seed=4)


def test_unknown_pairs_have_new_subjects_and_objects_as_frequent_as_the_relations():
    relation = numbered(400)
    common = [Fact(str(i), "r", f"s{i}", "often") for i in range(400, 1000)]
    found = unknown_pairs(numbered(300), [*relation, *common], "person", seed=1)
    assert not {f.subject for f in found} & {f.subject for f in [*relation, *common]}
    assert len({f.subject for f in found}) == 300
    often = sum(f.object == "often" for f in found)
    assert binomtest(often, 300, 0.6).pvalue > 1e-4  # 600 of the 1000 facts have it


@given(st.integers(0, 200))
def test_an_incorrect_pair_keeps_its_subject_and_no_true_name(seed):
    chad = Fact("1", "language", "Chad", "French", alternatives=("Arabic",), aliases=("français",))
    relation = [
        chad,
        *(Fact(n, "language", n, n) for n in ("ARABIC", "Français", "Thai", "Lao")),
    ]
    [found] = incorrect_pairs([chad], relation, seed=seed)
    assert found.subject == "Chad" and found.object in {"Thai", "Lao"}


def test_the_five_sequences_are_the_papers_and_differ_at_the_replaced_places_alone():
    pairs = numbered(40)
    made = probes(pairs, pairs, 8, "person", n_behind=5, seed=7)
    assert [(p.kind, p.arrangement) for p in made] == [
        ("clean", "none"),
        ("unknown", "distributed"),
        ("unknown", "block"),
        ("incorrect", "distributed"),
        ("incorrect", "block"),
    ]
    clean, *others = made
    assert clean.pairs == tuple(pairs) and clean.replaced == ()
    for probe in others:
        assert len(probe.replaced) == 8
        assert probe.replaced == made[1 if probe.arrangement == "distributed" else 2].replaced
        for i, (now, before) in enumerate(zip(probe.pairs, pairs, strict=True)):
            if i not in probe.replaced:
                assert now == before
            elif probe.kind == "incorrect":
                assert now.subject == before.subject and now.object != before.object
            else:
                assert now.subject not in {pair.subject for pair in pairs}
    assert made == probes(pairs, pairs, 8, "person", n_behind=5, seed=7)
    assert made != probes(pairs, pairs, 8, "person", n_behind=5, seed=8)


@pytest.mark.parametrize(("inside", "between"), [(" ", " "), (": ", "\n"), ("\n", "\n\n")])
def test_the_pieces_of_a_sequence_join_to_the_very_text_of_many_shots(inside, between):
    shots, asked = [FEYNMAN, HEISENBERG, CURIE], LOUIS
    [prompt] = many_shot(
        shots, [asked], [("1850", "1892")], pair_separator=inside, shot_separator=between
    )
    pieces = pair_pieces([*shots, asked], pair_separator=inside, shot_separator=between)
    assert "".join(pieces[:-1]) == prompt.context
    assert pieces[-1] == prompt.continuations[1]
    assert len(pieces) == 8 and [p.strip() for p in pieces[1::2]][0].endswith("1918")


def test_a_true_object_in_another_form_of_its_accents_is_no_wrong_one():
    forms = {"Ann": "Z\u00fcrich", "Ben": "Zu\u0308rich", "Cem": "ZU\u0308RICH", "Dan": "Bern"}
    lives = [Fact(name, "city", name, city) for name, city in forms.items()]
    for seed in range(5):
        assert {wrong.object for wrong in incorrect_pairs(lives[:3], lives, seed=seed)} == {"Bern"}
