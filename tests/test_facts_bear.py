"""BEAR's folders: templates and answer spaces from the file beside the relations. No row of BEAR is here."""

import json

import pytest

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts import bear

ROWS = [("Oz", "Emerald City"), ("Nowhere", "Nil"), ("Utopia", "Amaurot")]
SPACE = ["Emerald City", "Nil", "Amaurot", "Laputa"]
SAYS = {"templates": ["[X] has [Y].", "[Y] is of [X]."], "answer_space_labels": SPACE}


@pytest.fixture
def folder(tmp_path):
    lines = [
        json.dumps({"sub_label": a, "obj_label": b, "answer_idx": SPACE.index(b)}) for a, b in ROWS
    ]
    (tmp_path / "P1.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / bear.BESIDE).write_text(json.dumps({"P1": SAYS}), encoding="utf-8")
    return tmp_path


def test_a_relation_has_the_templates_and_every_fact_the_whole_answer_space(folder):
    relation = facts.load(str(folder), "P1")
    assert relation.templates == tuple(SAYS["templates"])
    assert [f.options for f in relation.facts] == [tuple(sorted(SPACE))] * 3
    assert facts.load(str(folder / "P1.jsonl"), "P1").facts == relation.facts
    assert facts.unread(str(folder)) == ()


def test_the_digest_of_a_folder_is_another_where_its_templates_are(folder):
    before = facts.content_digest(str(folder))
    (folder / bear.BESIDE).write_text(json.dumps({"P1": SAYS | {"templates": ["[X]: [Y]"]}}))
    assert facts.content_digest(str(folder)) != before
    assert facts.load(str(folder), "P1").templates == ("[X]: [Y]",)


@pytest.mark.parametrize(
    ("says", "said"),
    [
        ({"P1": SAYS | {"answer_space_labels": ["Nil", "Laputa"]}}, "line 1: 'Emerald City' is not in the"),
        ({"P1": SAYS | {"templates": "[X] has [Y]."}}, "the templates of P1 must be a list of texts"),
        ({"P1": ["[X]"]}, "must have an object"),
        ("{", "JSON"),
        ('{\n"p1": {}}', "line 2: the relation is 'p1' here, and the table is 'P1.jsonl'"),
        ('{"P1": {},\n"P1": {}}', "line 2: the key 'P1' stands twice"),
    ],
)  # fmt: skip
def test_a_file_that_is_another_than_lm_pub_quiz_writes_is_refused(folder, says, said):
    text = says if isinstance(says, str) else json.dumps(says)
    (folder / bear.BESIDE).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        facts.load(str(folder), "P1")


def test_a_link_to_nowhere_in_the_place_of_the_file_beside_is_named(folder):
    """Beside a table that is the whole fact set, too: without the file it would have other options."""
    (folder / bear.BESIDE).unlink()
    (folder / bear.BESIDE).symlink_to("gone")
    for spec in (folder, folder / "P1.jsonl"):
        with pytest.raises(BadInput, match=f"{bear.BESIDE}: a link that leads nowhere, to gone"):
            facts.load(str(spec), "P1")
