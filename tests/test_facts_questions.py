"""Questions and statements: ours for every relation, a rich world's own, and tables of others."""

import pytest

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts import questions
from lkecore.facts.fact import Relation
from lkecore.worlds import text as rich_text
from lkecore.worlds import wordings as rich_wordings
from lkecore.worlds import world as rich

GOOD = "relation\tkind\ttext\nr\tquestion\tWhere is [X]?\nr\tstatement\t[X] is in [Y].\n"


def test_a_rich_world_is_asked_and_told_in_words_of_its_own_text():
    relation = facts.load("lab:richsmoke-1", "author")
    found = questions.of([relation])["author"]
    assert found.question == "Who wrote [X]?"
    assert len(found.statements) == 15 and set(found.statements) <= set(relation.templates)
    text = "\n".join(
        str(document) for document in rich_text.documents(rich.world("lab:richsmoke-1"))
    )
    told = [w for w in found.statements if any(_said(w, f) in text for f in relation.facts)]
    assert len(told) > 10
    # A world in other words, or facts of that name from elsewhere, have none of ours.
    assert questions.of([Relation("author", ()), Relation("other", ())]) == {}
    assert set(rich_wordings.relations()).isdisjoint(questions.read())


def _said(words, fact):
    return words.replace("[X]", fact.subject).replace("[Y]", fact.object)


def test_a_table_of_ones_own_stands_for_ours(tmp_path):
    path = tmp_path / "my.tsv"
    path.write_text(GOOD.replace("r\t", "author\t"))
    relation = facts.load("lab:richsmoke-1", "author")
    found = questions.of([relation, Relation("capital", ())], str(path))
    assert found == {"author": questions.Wording("Where is [X]?", ("[X] is in [Y]",))}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("kind", "sort"), "my.tsv: a table with the columns relation, kind, text is wanted"),
        (("\tquestion", "\task"), "line 2: kind 'ask' must be one of question, statement"),
        (("[X]?", "[X] in [Y]?"), r"line 2: question .* has \[Y\] in it, and must not name what"),
        (("in [Y]", "there"), r"line 3: statement '\[X\] is there' has \[X\] 1 times and \[Y\] 0"),
        (("\tstatement", "\tstatement-object-first"), r"line 3: .* names the subject first"),
        (("[Y].\n", "[Y].\ns\tstatement\t[X] IS in [Y]\n"), "line 4: .* says again what .*line 3"),
        (("r\tstatement", "s\tstatement"), "relation r has 1 questions and 0 statements"),
    ],
)
def test_a_wording_that_cannot_ask_or_tell_is_refused_in_one_line(tmp_path, change, says):
    path = tmp_path / "my.tsv"
    path.write_text(GOOD.replace(*change))
    with pytest.raises(BadInput, match=says):
        questions.read(str(path))
