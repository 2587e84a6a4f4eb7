"""Documents: kinds as properties, pools and splits by hand (XTRAEVAL, section 2.2; XT-S2, XT-S3, XT-E1)."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.facts.questions import Wording
from lkecore.tasks import documents
from lkecore.tasks.documents import SAMPLED

WORDINGS = {
    "capital": Wording("Capital of [X]?", ("[X] has [Y]", "[Y] leads [X]")),
    "twin": Wording("Twin of [X]?", ("[X] pairs with [Y]", "[Y] mirrors [X]")),
    "tongue": Wording("Tongue of [X]?", ("[X] speaks [Y]", "[Y] is said in [X]")),
}


def fact(relation, subject, object_, *others):
    return Fact(f"{relation}-{subject}-{object_}", relation, subject, object_, alternatives=others)


# A twin says its pair from both sides; Xa speaks two tongues, and Luz has its own name as capital.
FACTS = [
    fact("capital", "Xa", "Ro"), fact("capital", "Xe", "Be"), fact("capital", "Xi", "Pa"),
    fact("capital", "Luz", "Luz"),
    fact("twin", "Ro", "Be"), fact("twin", "Be", "Ro"), fact("twin", "Pa", "Ro"),
    fact("tongue", "Xa", "uru", "ido"), fact("tongue", "Xa", "ido", "uru"),
    fact("tongue", "Xe", "Uru"), fact("tongue", "Xi", "ede"),
]  # fmt: skip


@pytest.fixture
def known():
    found, left = documents.answerable(FACTS, WORDINGS)
    assert not left and found.facts == tuple(FACTS)
    return found


def said(document):
    """The slots of a document, read off its text alone."""
    words = document.text.removesuffix(".")
    for relation, wording in WORDINGS.items():
        for statement in wording.statements:
            between = statement.replace("[X]", "").replace("[Y]", "")
            if between in words:
                first, last = words.split(between)
                turned = statement.startswith("[Y]")
                return (relation, last, first) if turned else (relation, first, last)
    raise AssertionError(words)


def test_a_document_keeps_what_its_kind_says_and_nothing_else_of_its_fact(known):
    rng = np.random.default_rng(0)
    for each in FACTS:
        for kind in ("hrt", "hr-", *SAMPLED):
            for _ in range(20):
                found = documents.document(known, each, kind, rng)
                relation, subject, tail = said(found)
                assert (relation, subject, tail) == (found.relation, found.subject, found.tail)
                true = {each.object.lower(), *(name.lower() for name in each.alternatives)}
                own = subject == each.subject, relation == each.relation, tail.lower() in true
                assert own == tuple(slot != "-" for slot in kind), (each, found)
                assert tail == each.object or kind[2] == "-"
                # Where a head or a tail is drawn, it is one of its relation.
                like = [f for f in FACTS if f.relation == relation]
                assert kind[0] == "h" or subject in {f.subject for f in like}
                assert kind[2] == "t" or tail in {f.object for f in like}


def test_nothing_but_the_gold_document_says_the_fact_in_either_direction(known):
    """Ro is a twin of Be, so a document that Be is one of Ro would answer the question, too."""
    for each in FACTS:
        true = {each.object.lower(), *(name.lower() for name in each.alternatives)}
        for seed in range(20):
            gold, *others = documents.pool(known, each, FACTS, seed=seed, each=5)
            assert (gold.subject, gold.tail) == (each.subject, each.object)
            for other in others:
                assert other.text != gold.text
                same = other.relation == each.relation and other.subject == each.subject
                assert not (same and other.tail.lower() in true)
                if each.object != each.subject:
                    assert not (other.subject.lower() in true and other.tail == each.subject)


def test_slots_are_drawn_fact_by_fact_so_that_a_frequent_tail_is_drawn_more_often(known):
    rng = np.random.default_rng(0)
    asked = fact("twin", "Xo", "Xu")
    gold = {documents.document(known, asked, "hrt", rng).text for _ in range(60)}
    assert gold == {"Xo pairs with Xu.", "Xu mirrors Xo."}  # in each of its statements
    tails = [documents.document(known, asked, "hr-", rng).tail for _ in range(600)]
    assert Counter(tails)["Ro"] / 600 == pytest.approx(2 / 3, abs=4 * np.sqrt(2 / 9 / 600))
    drawn = [documents.document(known, asked, "h--", rng).relation for _ in range(600)]
    assert set(drawn) == {"capital", "tongue"}
    free = replace(known, alike=False)
    mixed = {documents.document(free, asked, "hr-", rng).tail for _ in range(600)}
    assert mixed == {"Ro", "Be", "Pa", "Luz", "uru", "ido", "Uru", "ede"}


def test_a_pool_has_all_other_tails_so_many_of_six_kinds_and_true_facts_of_others(known):
    def sizes(asked):
        found = documents.pool(known, asked, FACTS, seed=0)
        assert found[0].kind == "hrt"
        return Counter(document.kind for document in found)

    six = dict.fromkeys(SAMPLED, 50)
    # By hand: three other capitals; ten facts of other pairs.
    assert sizes(FACTS[0]) == {"hrt": 1, "hr-": 3, "true": 10, **six}
    # Xa speaks uru and ido, so one other tongue: Uru is no other name. Two facts are of its pair.
    assert sizes(FACTS[7]) == {"hrt": 1, "hr-": 1, "true": 9, **six}
    assert sizes(FACTS[4])["true"] == 9  # a twin's mirror image is no true fact of others
    free = replace(known, alike=False)  # tails: Be Pa Luz Ro uru ido ede, without Ro
    kinds = Counter(d.kind for d in documents.pool(free, FACTS[0], FACTS, seed=0))
    assert kinds["hr-"] == 6


def test_negatives_are_of_three_kinds_anew_each_epoch_and_the_same_for_a_seed(known):
    first = documents.training(known, FACTS[0], seed=1, epoch=0)
    assert [d.kind for d in first] == ["hrt", *["hr-"] * 4, *["-rt"] * 4, *["h-t"] * 4]
    assert first == documents.training(known, FACTS[0], seed=1, epoch=0)
    others = [
        documents.training(known, FACTS[0], seed=2, epoch=0),
        documents.training(known, FACTS[0], seed=1, epoch=1),
        documents.training(known, FACTS[0], seed=1, epoch=2),
    ]
    assert all(first != other for other in others) and others[1] != others[2]
    assert len(documents.training(known, FACTS[0], seed=1, epoch=0, each=10)) == 31


def test_what_cannot_be_asked_is_left_out_by_name():
    more = [fact("capital", "Xa", "Ro"), fact("tongue", "Xa", "uru"), fact("tongue", "Xe", "Uru")]
    more += [fact("twin", "Ro", "Be"), fact("twin", "Ro", "Pa"), fact("food", "Xa", "pie")]
    found, left = documents.answerable([*FACTS[:4], *more[1:], *FACTS[5:7]], WORDINGS)
    assert {f.relation for f in found.facts} == {"capital", "twin"}
    assert left == {
        "tongue": "known heads 2 and tails 1, and a task needs two of each",
        "food": "no question and statements",
    }
    # Of two tails both are true of Xa: without it, the relation has one head.
    bound = [*FACTS[:7], *FACTS[7:9], fact("tongue", "Xe", "uru")]
    _, left = documents.answerable(bound, WORDINGS)
    assert left["tongue, Xa"] == "every known tail of the relation is true of it"
    assert left["tongue"] == "known heads 1 and tails 1, and a task needs two of each"
    with pytest.raises(BadInput, match="^4 known facts, of which 4 can be asked: a task needs two"):
        documents.answerable(FACTS[:4], WORDINGS)


MANY = [fact(f"r{i % 10}", f"s{i}", f"o{i % 7}") for i in range(200)]


def test_a_split_parts_facts_or_whole_relations_and_a_tenth_of_train_validates():
    parts = documents.split(MANY, 0)
    assert [len(parts.train), len(parts.validation), len(parts.test)] == [108, 12, 80]
    ids = [f.id for part in (parts.train, parts.validation, parts.test) for f in part]
    assert sorted(ids) == sorted(f.id for f in MANY)
    assert documents.split(MANY[::-1], 0) == parts != documents.split(MANY, 1)
    apart = documents.split(MANY, 0, by="relation")
    assert [len(apart.train), len(apart.validation), len(apart.test)] == [108, 12, 80]
    asked = {f.relation for f in apart.test}
    assert len(asked) == 4 and asked.isdisjoint(f.relation for f in apart.train + apart.validation)
    with pytest.raises(
        BadInput, match="^4 known facts of 4 relations are too few .* by fact: 2 to "
    ):
        documents.split(MANY[:4], 0)


def test_seen_are_facts_whose_head_and_tail_stand_in_train_facts_at_any_place():
    train = [fact("twin", "Ro", "Be")]
    asked = [fact("r", "be", "Ro"), fact("r", "Be", "Pa"), fact("r", "Pa", "Luz")]
    assert documents.seen(asked, train) == ["seen", "", "unseen"]


def test_subjects_that_differ_in_letter_case_or_form_of_accents_are_one_pair():
    train = [fact("a", "paris", "1"), fact("a", "Zu\u0308RICH", "1"), fact("b", "paris", "1")]
    asked = [fact("a", "Paris", "2"), fact("a", "z\u00fcrich", "2"), fact("a", "Zurich", "2")]
    assert documents.without_asked(train, asked) == (train[2:], 2)
