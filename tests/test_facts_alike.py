"""Names that look alike: which are one, which are only named, and that ids and texts stay as they were."""

import hashlib
import json

import pytest

from lkecore import facts, progress
from lkecore.facts import alike
from lkecore.facts.fact import from_rows
from lkecore.facts.tables import composed, fold, word_set
from lkecore.stats import rules

# Listed by hand: five characters without a form, and the marks of direction.
UNSEEN = (
    "\u200b\u200e\u00ad\u2060\ufeff\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
TOWNS = ["Bern", "Lima", "Oslo", "Zürich"]


def relation(*pairs, **more):
    rows = [
        (f"line {i}", {"subject": s, "object": o, **more}, "") for i, (s, o) in enumerate(pairs, 1)
    ]
    return from_rows("r", rows)


def bare(name):
    return "".join(c for c in name if c not in UNSEEN)


@pytest.mark.parametrize("c", UNSEEN[::5])
def test_a_character_that_nobody_sees_makes_no_other_object_and_no_other_text(c):
    forms = [form for town in TOWNS for form in (town, town[:2] + c + town[2:], town + c, c + town)]
    pairs = [(f"s{i}", form) for i, form in enumerate(forms)]
    of = relation(*pairs)
    assert of.objects == tuple(TOWNS) and facts.max_options(of) == 4
    assert [fact.object for fact in of.facts] == forms  # what is scored stays as it was given
    ids = [hashlib.sha256(f"r\x1f{s}\x1f{o}".encode()).hexdigest()[:16] for s, o in pairs]
    assert [fact.id for fact in of.facts] == ids
    for fact, options in zip(of.facts, facts.draw_options(of.facts, of.objects, 4, 0), strict=True):
        assert fact.object in options and sorted(map(bare, options)) == TOWNS
    assert {fold(form) for form in forms} == {town.casefold() for town in TOWNS}
    assert {word_set(form) for form in forms} == {frozenset([town.casefold()]) for town in TOWNS}
    assert rules.guess("rule-frequent", "s", TOWNS, {forms[1]: 2}).tolist() == [1, 0, 0, 0]
    assert rules.characters(forms).tolist() == [len(bare(form)) for form in forms]


def test_an_accent_behind_a_character_that_nobody_sees_is_put_together():
    assert composed("Zu\u200b\u0308rich") == "Z\u00fcrich" == composed("Z\u00fc\u200erich")


def test_true_objects_aliases_and_a_choice_are_compared_without_what_nobody_sees():
    of = relation(
        ("Bolivia", "Su\u00adcre"), ("Bolivia", "La Paz"), ("Peru", "Lima"), ("Chile", "Sucre"),
        ("Oz", "La\u200b Paz"), ("Utopia", "Capital of Peru"),
    )  # fmt: skip
    bolivia = of.facts[0]
    assert facts.sample.distractors(bolivia, of.objects) == ["Capital of Peru", "Lima"]
    named = relation(
        ("Peru", "Lima"), ("Oz", "Ciudad\u2060 de los Reyes"), obj_aliases=["Ciudad de los Reyes"]
    )
    assert facts.sample.distractors(named.facts[0], named.objects) == []
    choice = relation(("Peru", "Lima"), options=["Li\u200bma", "Oslo", "Os\ufefflo", "Bern"])
    assert choice.facts[0].options == ("Bern", "Lima", "Oslo")


def test_a_subject_is_one_in_all_splits_and_the_form_without_is_asked():
    given = [
        ("Fr\u200bance", "Paris", "train"),
        ("France", "Lyon", "test"),
        ("Peru", "Lima", "train"),
    ]
    rows = [(s, {"subject": s, "object": o}, split) for s, o, split in given]
    for some in (rows, rows[::-1]):
        of = from_rows("r", some)
        assert of.subject_forms == (("France", "Fr\u200bance"),)
        assert {fact.subject for fact in of.facts} == {"France", "Peru"}
        train, test = facts.divide(of)
        assert [fact.subject for fact in train] == ["Peru"]
        assert test[0].alternatives == ("Paris",)
        key = hashlib.sha256("r\x1fFr\u200bance\x1fParis".encode()).hexdigest()[:16]
        assert key in {fact.id for fact in of.facts}
    said = ["r: counted as one subject, and the first is asked: France, Fr\\u200bance"]
    assert alike.taken(of) == said


def test_what_is_repeated_in_another_form_is_named_too():
    of = relation(("France", "Paris"), ("France", "Par\u00adis"))
    assert (len(of.facts), of.repeated) == (1, 1)
    said = "r: counted as one object, and the first is the wrong option of others: "
    assert alike.taken(of) == [said + "Paris, Par\\u00adis"]
    assert alike.taken(relation(("cobalt", "Co"), ("carbon monoxide", "CO"))) == []  # it is seen


NEAR = [  # two names that stay two, and how the second is shown where it cannot be told by eye
    ("میخواهم", "می\u200cخواهم", "می\\u200cخواهم"),
    ("क्ष", "क्\u200dष", "क्\\u200dष"),
    ("d'Or", "d\u2019Or", "d\\u2019Or"),
    ("Jean-Luc", "Jean\u2010Luc", "Jean\\u2010Luc"),
    ("Jean-Luc", "Jean\u2011Luc", "Jean\\u2011Luc"),
    ("A1", "Ａ１", "Ａ１"),
    ("❤", "❤\ufe0f", "❤\\ufe0f"),
]


@pytest.mark.parametrize(("one", "other", "shown"), NEAR)
def test_names_that_are_hardly_told_apart_stay_two_and_are_named(one, other, shown):
    of = relation(("x", one), ("y", other), (one, "z"), (other, "z"), ("v", "Oslo"))
    assert set(of.objects) == {one, other, "z", "Oslo"} and alike.taken(of) == []
    assert {one, other} < {fact.subject for fact in of.facts}
    assert alike.near(of) == [(one, other)] * 2
    assert alike.listed(alike.near(of)[:1]) == f"{one}, {shown}"


@pytest.mark.parametrize("pair", ["Rose rose", "résumé resume", "co-op coop", "Ur Úr", "x² x3"])
def test_names_that_differ_to_the_eye_are_not_named_as_alike(pair):
    one, other = pair.split()
    assert alike.near(relation((one, "1"), (other, "2"), ("u", one), ("v", other))) == []


def test_relations_of_one_file_are_told_apart_by_what_is_seen(tmp_path, capsys):
    rows = [("a", "x", "capital"), ("b", "y", "cap\u200bital"), ("c", "X\u2060", "capital")]
    path = tmp_path / "f.jsonl"
    lines = (json.dumps(dict(zip(("subject", "object", "relation"), r, strict=True))) for r in rows)
    path.write_text("\n".join(lines), encoding="utf-8")
    progress.tell_once.cache_clear()
    assert facts.relations(str(path)) == ("capital",)
    for name in ("capital", "cap\ufeffital"):
        assert len(facts.load(str(path), name).facts) == 3
    said = (
        "capital: counted as one object, and the first is the wrong option of others: x, X\\u2060\n"
    )
    assert capsys.readouterr().err == said
