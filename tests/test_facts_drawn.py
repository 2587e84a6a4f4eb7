"""Drawn samples: what is shown, asked and offered, by the rules of its docstring and by pencil."""

import pandas as pd
import pytest

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts.drawn import overview

GIVEN = {"n_shots": 3, "n_facts": 4, "n_options": 4, "seed": 1}
TWO = ["capital", "film_language"]


def write(folder, **relations):
    """A fact set of files: for each relation and split, pairs."""
    for name, splits in relations.items():
        rows = [(s, o, split) for split, pairs in splits.items() for s, o in pairs]
        folder.mkdir(exist_ok=True)
        frame = pd.DataFrame(rows, columns=["subject", "object", "split"])
        frame.to_csv(folder / f"{name}.csv", index=False)
    return str(folder)


def pairs(letter: str, n: int, objects: int) -> list[tuple[str, str]]:
    return [(f"{letter}{i}", f"object {i % objects}") for i in range(n)]


@pytest.fixture
def spec(tmp_path):
    """Two relations with splits: r has 6 objects, s has 3."""
    r = {"train": pairs("a", 8, 6), "test": pairs("b", 5, 6)}
    s = {"train": pairs("c", 8, 3), "test": pairs("d", 5, 3)}
    return write(tmp_path / "set", r=r, s=s)


def test_shots_and_options_do_not_depend_on_how_many_facts_are_asked():
    few, many = (facts.draw("atlas", TWO, **GIVEN | {"n_facts": n}) for n in (2, 30))
    for name in TWO:
        assert few[name].shots == many[name].shots
        options = dict(zip(many[name].facts, many[name].options, strict=True))
        assert few[name].facts == many[name].facts[:2]
        assert [options[f] for f in few[name].facts] == list(few[name].options)
    alone = facts.draw("atlas", TWO[::-1], **GIVEN | {"n_facts": 2})
    assert alone == few and list(alone) == TWO[::-1]
    other = facts.draw("atlas", TWO, **GIVEN | {"seed": 2})
    assert all(other[n].shots != few[n].shots for n in TWO)
    assert all(other[n].facts[:2] != few[n].facts for n in TWO)


def test_relations_of_one_order_are_asked_about_other_facts_where_they_are_drawn_apart(tmp_path):
    """As in a world of the lab: what has one number is of one kind in all relations."""
    splits = ["train"] * 8 + ["test"] * 30
    rows = [(f"{i:02}", f"x{i}", f"object {i % 6}", split) for i, split in enumerate(splits)]
    for name in "rst":
        frame = pd.DataFrame(rows, columns=["id", "subject", "object", "split"])
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    both = [facts.draw(str(tmp_path), **GIVEN, own_seeds=apart) for apart in (False, True)]
    together, apart = ([tuple(f.id for f in of.facts) for of in s.values()] for s in both)
    assert len(set(together)) == 1 and len(set(apart)) == 3 and apart[0] == together[0]
    for one, other in zip(*(sample.values() for sample in both), strict=True):
        assert one.shots == other.shots


def test_the_choice_is_made_on_training_facts_that_are_not_shown(spec):
    given = {"n_shots": 3, "n_options": 2, "seed": 0, "part": "choice"}
    for n, asked in ((None, 5), (2, 2), (100, 5)):
        for drawn in facts.draw(spec, n_facts=n, **given).values():
            shown = {shot.subject for shot in drawn.shots}
            assert len(drawn.facts) == asked and set(drawn.facts) <= set(drawn.train)
            assert not shown & {fact.subject for fact in drawn.facts}
            assert len({*drawn.shots, *drawn.facts}) == 3 + asked


def test_a_relation_without_a_fact_to_ask_is_left_out_if_it_may(spec, tmp_path):
    given = {"n_shots": 1, "n_facts": 2, "n_options": 2, "seed": 0}
    whole = facts.draw(spec, **given)
    some = {fact.id for fact in whole["s"].facts}
    found = facts.draw(spec, among=some, leave_out=True, **given)
    assert list(found) == ["s"] and {fact.id for fact in found["s"].facts} == some
    with pytest.raises(BadInput, match="^n_facts: no facts are left to draw from"):
        facts.draw(spec, among=some, **given)
    with pytest.raises(BadInput, match="^relations r, s of .*: none has a fact to ask$"):
        facts.draw(spec, among=(), leave_out=True, **given)
    # One subject: it cannot be shown and asked.
    rows = [
        "relation\tsubject\tobject",
        *(f"r\tx{i}\ty{i}" for i in range(6)),
        "one\tx\ty\none\tx\tz",
    ]
    (tmp_path / "few.tsv").write_text("\n".join(rows))
    few = facts.draw(str(tmp_path / "few.tsv"), leave_out=True, **given)
    assert list(few) == ["r"]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"part": "train"}, "unknown part 'train': must be test or choice"),
        ({"relations": ["r", "r"]}, r"relations \['r', 'r'\]: must be 1 or more, each once"),
        # All complaints at once.
        ({"n_shots": 9, "n_options": 7},
         r"n_shots: 9 shots asked for, but relation r has 8 subjects to show; n_options: 7 options .*; "
         "n_shots: 9 shots asked for, but relation s has 8 .*; n_options: 7 options .* relation s"),
        ({"n_shots": 8, "part": "choice"}, "n_facts: no facts are left to draw from; show fewer"),
        ({"n_facts": 0}, "n_facts: limit must be 1 or more facts, found 0"),
        ({"n_options": 1}, "n_options: options must be 2 or more, found 1"),
    ],
)  # fmt: skip
def test_samples_that_cannot_be_drawn_are_refused_in_one_line(spec, changes, line):
    given = {"relations": ["r", "s"], "n_shots": 1, "n_facts": 2, "n_options": 2, "seed": 0}
    with pytest.raises(BadInput, match=f"^{line}"):
        facts.draw(spec, **given | changes)


def test_a_set_of_one_relation_is_a_sample_unless_relations_are_compared(tmp_path):
    alone = write(tmp_path / "one", r={"train": pairs("a", 4, 3), "test": pairs("b", 4, 3)})
    given = GIVEN | {"n_shots": 9, "n_options": 9, "n_facts": 9}
    sample = facts.draw(alone, **given, allow_fewer=True)
    of = sample["r"]  # 4 to show, 4 to ask, among the 3 objects
    assert (len(of.shots), len(of.facts), len(of.options[0])) == (4, 4, 3)
    said = facts.fewer(sample, n_shots=9, n_options=9, n_facts=9)
    least = ("shots", 4), ("options", 3), ("facts", 4)
    each = [f"{what} in 1 of 1 relations, {n} at least" for what, n in least]
    assert said == f"As many as there are: {'; '.join(each)}."
    assert facts.fewer(sample, n_shots=4, n_options=3) == "As many as asked for."
    same = write(tmp_path / "same", r={"train": pairs("a", 4, 1), "test": pairs("b", 4, 1)})
    with pytest.raises(BadInput, match="2 options asked for, but relation r has only 0 objects"):
        facts.draw(same, **given, allow_fewer=True)
    choice = facts.draw(alone, **given, allow_fewer=True, part="choice")["r"]  # half are left
    assert choice.shots == of.shots[:2] and {*choice.facts}.isdisjoint(choice.shots)
    assert len(choice.facts) == 2


# --- tables of a sample


def test_overview_says_what_there_is_and_what_is_fewer(spec):
    sample = facts.draw(spec, n_shots=1, n_facts=9, n_options=5, seed=0, allow_fewer=True)
    rows = overview(sample, n_options=5, n_facts=9).to_dict("records")
    both = {"facts": 13, "to_ask": 5, "asked": 5, "large": ""}
    assert rows == [
        {"relation": "r", "objects": 6, "n_options": 5, "fewer": "facts", **both},
        {"relation": "s", "objects": 3, "n_options": 3, "fewer": "options, facts", **both},
    ]
    for n in (5, None):
        assert overview(sample, n_options=3, n_facts=n)["fewer"].tolist() == ["", ""]


def test_fewer_facts_than_wanted_are_refused_unless_fewer_may_be_taken(spec):
    sample = facts.draw(spec, n_shots=1, n_facts=9, n_options=3, seed=0)
    facts.check_facts(sample, 5)
    facts.check_facts(sample, 9, allow_fewer=True)
    with pytest.raises(BadInput, match="n_facts 9: r has 5 to ask"):
        facts.check_facts(sample, 9)
    for few in (False, True):
        with pytest.raises(BadInput, match="n_facts 1: must be 2 or more"):
            facts.check_facts(sample, 1, allow_fewer=few)
