"""Text match: by hand, and against word lists where that is possible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lkecore.errors import BadInput
from lkecore.stats.match import alike, begins_with, contains, exact, holds, lemmas, one_word


@pytest.mark.parametrize(
    ("output", "answers", "right"),
    [
        (" Paris, the capital of France", ["Paris"], True),
        (" Paris", ["Rome", "Paris"], True),  # any of them
        (" Paris", ["Rome", "Madrid"], False),
        (" Pa ris", ["Paris"], False),
        (" Romeo", ["Rome"], True),  # the paper's rule asks for no border
        (" in New York City", ["New York"], True),
        (" São Paulo", ["São Paulo"], True),
        (" costs 3.50", ["3.50"], True),
        (" costs 3x50", ["3.50"], False),  # a dot is a dot
        ("", ["Paris"], False),
    ],
)
def test_an_answer_matches_where_it_stands_in_the_output(output, answers, right):
    assert contains(output, answers) is right


@pytest.mark.parametrize(
    ("output", "answer", "right"),
    [
        ("Rome", "Rome", True),
        (" Rome.", "Rome", True),
        ("Romeo", "Rome", False),
        ("Jerome, Rome", "ome", False),
        ("Romeo and Rome", "Rome", True),  # a later place counts
        ("Rome's hills", "Rome", True),
        ("Rome-born", "Rome", True),
        ("Rome2", "Rome", False),
        ("Römer", "Röm", False),  # letters of other alphabets are letters
        ("Москва", "Москв", False),
        ("столица Москва.", "Москва", True),
        ("New Yorker", "New York", False),
        ("in New York.", "New York", True),
        ("1867", "186", False),
        ("7 November 1867", "November 1867", True),
        # An answer that begins or ends with a sign has no word border there.
        ("in C++.", "C++", True),
        ("in C++11", "C++", True),
        ("ObjC++", "C++", False),
        ("its domain is.fr", ".fr", True),
        ("its domain is .fra", ".fr", False),
        ("Washington, D.C.", "D.C.", True),
        ("(AD.C.)", "D.C.", False),
        ("costs €5", "€5", True),
        ("costs €50", "€5", False),
        ("", "Rome", False),
    ],
)
def test_whole_words_have_no_letter_or_digit_beside_them(output, answer, right):
    assert contains(output, [answer], whole_words=True) is right


@given(words=st.lists(st.text("abö1", min_size=1, max_size=3)), answer=st.text("abö1", min_size=1))
def test_of_words_between_spaces_whole_words_finds_just_those_that_are_in_the_list(words, answer):
    assert contains(" ".join(words), [answer], whole_words=True) == (answer in words)


@given(
    output=st.text("ab .+ö", max_size=8),
    answers=st.lists(st.text("ab.+ö", min_size=1, max_size=2), min_size=1, max_size=3),
)
def test_what_is_found_as_whole_words_is_found_without_and_every_answer_counts(output, answers):
    anywhere = [contains(output, [answer]) for answer in answers]
    alone = [contains(output, [answer], whole_words=True) for answer in answers]
    assert all(a or not b for a, b in zip(anywhere, alone, strict=True))
    assert contains(output, answers) == any(anywhere)
    assert contains(output, answers, whole_words=True) == any(alone)
    assert all(contains(answer, [answer], whole_words=True) for answer in answers)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["Rome", " "], "^answer ' ' is empty: it would stand in every"),
        ([], r"^answers is \[\], but must be a list of one or more strings$"),
        ("Rome", "^answers is 'Rome', but must be a list of one or more strings$"),
    ],
)
def test_answers_that_match_everything_or_are_no_list_are_refused(answers, message):
    with pytest.raises(BadInput, match=message):
        contains("Rome", answers)


FORMS = [("\u212bre", "A\u030are"), ("Malm\u00f6", "Malmo\u0308")]


@pytest.mark.parametrize("names", [*FORMS, *(pair[::-1] for pair in FORMS)])
def test_an_answer_is_found_in_any_form_of_its_accents(names):
    said, asked = names
    for whole in (False, True):
        assert contains(f" in {said}, which", [asked], whole_words=whole)
        assert not contains(f" in {said}".casefold(), [asked], whole_words=whole)  # case counts
    assert begins_with(f" {said}, which", asked) and not begins_with(f" {said}er", asked)
    assert not contains(f"{said}er", [asked], whole_words=True)


def test_a_letter_is_not_found_in_the_same_one_with_an_accent():
    """Of "Malmo" and a mark behind it, whichever form it has."""
    for said in FORMS[-1]:
        assert not contains(said, ["Malmo"]) and not begins_with(said, "Malmo")


# --- word by word


@pytest.mark.parametrize(
    ("output", "answer", "right"),
    [
        ("a guitar", "guitar", True),  # the paper's own two
        ("guitars", "guitar", True),
        ("guitar", "a guitar", False),  # an article is a word
        ("He plays the electric guitar", "Guitars", True),
        ("New", "New York", False),
        ("York, New", "New York", False),  # one behind the other
        ("New and old York", "New York", False),
        ("New. York", "New York", True),  # punctuation is no word
        ("the United States of America", "United States", True),
        ("United State", "United States", True),  # any inflection
        ("Romeo", "Rome", False),
        ("Rome's hills", "Rome", True),
        ("Washington, D.C.", "D.C.", True),
        ("1867, it says", "1867", True),
        ("11867", "1867", False),
        ("3.50 euros", "50", False),  # a number is one word
        ("in Zu\u0308rich", "Z\u00fcrich", True),
        ("Zurich", "Z\u00fcrich", False),
        ("STRASSE", "straße", True),
        ("C$ 5", "C$", True),  # a sign of money is a word
        ("C 5", "C$", False),
        ("", "Paris", False),
        ("Paris", ",", False),
        ("", "", False),
    ],
)
def test_words_of_an_answer_are_found_one_behind_the_other(output, answer, right):
    assert holds(output, answer) is right


PLAIN = st.lists(st.sampled_from(["red", "iron", "x1", "nova"]), max_size=6)


@given(output=PLAIN, answer=PLAIN)
def test_holds_is_a_search_in_the_list_of_words(output, answer):
    found = any(output[i : i + len(answer)] == answer for i in range(len(output) - len(answer) + 1))
    assert holds(" ".join(output), " ".join(answer)) == (found and bool(answer))
    # ... however they are written.
    assert holds(", ".join(output).upper(), "-".join(answer) + ".") == (found and bool(answer))


def test_alike_takes_either_direction_and_is_not_transitive():
    assert alike("a guitar", "guitars") and alike("guitars", "a guitar")
    assert alike("Paris", "Paris, Texas") and alike("Paris, France", "Paris")
    assert not alike("Paris, Texas", "Paris, France")
    assert not alike("", "") and not alike("", "Paris") and not alike("Paris", "")


@pytest.mark.parametrize(
    ("output", "answer", "right"),
    [
        ("The [MASK] is", "be", False),  # the code of Belarusian, and no word of this echo
        ("The [MASK] is", "is", False),  # nor that of Icelandic
        ("It is in Reykjavik", "IT", False),
        ("Who can tell?", "ca", False),  # Catalan: a plain form may be another word
        ("He", "He", True),
        ("'is'", "is", True),
        ("is", "be", False),  # not this form
        ("are", "is", False),
        ("", "is", False),
        ("to be", "to be", True),  # two words are no single one
        ("He was to be there", "to be", True),
        ("the states", "state", True),  # a noun is found in any inflection
        ("He wrote", "writes", True),
        ("the code is de", "de", True),
    ],
)
def test_an_answer_of_one_function_word_must_be_all_that_is_said(output, answer, right):
    assert holds(output, answer) is right


def test_outputs_are_alike_by_function_words_too_since_neither_is_an_answer():
    assert alike("It", "It is in Rome") and alike("The [MASK] is", "be") and alike("is", "are")


def test_lemma_does_not_depend_on_letter_case():
    assert lemmas("Children of the Cities") == lemmas("CHILD OF THE CITY")
    assert lemmas("CHILD OF THE CITY") == ("child", "of", "the", "city")


def test_exact_is_the_answer_and_no_more():
    assert exact("Paris", "Paris") and exact(" paris. ", "Paris") and exact("D.C.", "D.C.")
    assert exact("Zu\u0308rich", "Z\u00fcrich")
    for other in ("Paris, France", "in Paris", "Pari", "Paris..", "", "."):
        assert not exact(other, "Paris")
    assert not exact("", "") and not exact("guitars", "guitar")


@pytest.mark.parametrize(
    ("output", "one"),
    [("Paris", True), (" Paris. ", True), ("New York", False), ("New-York", True), ("", False),
     ("...", False), ("Paris .", True), ("1867", True), ("[MASK]", True), ("Paris\nFrance", False)],
)  # fmt: skip
def test_one_word_is_what_blanks_part(output, one):
    assert one_word(output) is one
